/* matrix.c: A^ = S A S + C (I-S) (Tamstorf, Jones and McCormick 2015, eq. 7) as a matrix of PETSc, each process
 * giving its own rows, and b^ = S (b - A (I-S) z). C is as in drape_prefilter: the mean of |the diagonal of A_ii|.
 *
 * Only blocks of vertices that are held differ from A's, so A is never copied as a whole. The form is AIJ, compressed
 * scalar rows, because PETSc 3.18 makes P'A P of nothing else: 108 bytes per block, where A itself has 76. */
#include "mpi/mpi.h"

#include <math.h>
#include <string.h>

PetscErrorCode drape_i_matrix_allocate(MPI_Comm comm, PetscInt own, const PetscInt *here, const PetscInt *away,
                                       Mat *out) {
    PetscFunctionBeginUser;
    PetscCall(MatCreate(comm, out));
    PetscCall(MatSetSizes(*out, 3 * own, 3 * own, PETSC_DETERMINE, PETSC_DETERMINE));
    PetscCall(MatSetType(*out, MATAIJ));
    PetscCall(MatXAIJSetPreallocation(*out, 3, here, away, NULL, NULL));
    PetscCall(MatSetOption(*out, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
    PetscCall(MatSetOption(*out, MAT_SPD, PETSC_TRUE));
    PetscFunctionReturn(0);
}

PetscErrorCode drape_i_matrix_create(MPI_Comm comm, const drape_petsc_part *p, const drape_bsr3 *A, Mat *out) {
    PetscInt *here, *away;
    PetscFunctionBeginUser;
    PetscCall(PetscMalloc2(p->own_count, &here, p->own_count, &away));
    for (PetscInt i = 0; i < p->own_count; i++) {
        const int32_t row = p->own[i];
        here[i] = 0;
        for (int64_t k = A->rowptr[row]; k < A->rowptr[row + 1]; k++) here[i] += drape_i_is_own(p, A->col[k]);
        away[i] = (PetscInt)(A->rowptr[row + 1] - A->rowptr[row]) - here[i];
    }
    PetscCall(drape_i_matrix_allocate(comm, p->own_count, here, away, out));
    PetscCall(PetscFree2(here, away));
    PetscFunctionReturn(0);
}

double drape_i_held_scale(const double *B) { return ((fabs(B[0]) + fabs(B[4])) + fabs(B[8])) / 3; }

void drape_i_filter_block(const double *Si, const double *Sj, const double *B, bool diagonal, double *out) {
    double BS[9];
    for (int32_t m = 0; m < 9; m++)
        BS[m] = (B[m / 3 * 3] * Sj[m % 3] + B[m / 3 * 3 + 1] * Sj[3 + m % 3]) + B[m / 3 * 3 + 2] * Sj[6 + m % 3];
    for (int32_t m = 0; m < 9; m++)
        out[m] = (Si[m / 3 * 3] * BS[m % 3] + Si[m / 3 * 3 + 1] * BS[3 + m % 3]) + Si[m / 3 * 3 + 2] * BS[6 + m % 3];
    if (!diagonal) return;
    double C = drape_i_held_scale(B);
    for (int32_t m = 0; m < 9; m++) out[m] += C * ((m % 4 == 0) - Si[m]);
}

PetscErrorCode drape_i_matrix_fill(const drape_petsc_part *p, const drape_bsr3 *A, const drape_i_filter *f, Mat out) {
    double block[9];
    PetscFunctionBeginUser;
    for (PetscInt i = 0; i < p->own_count; i++) {
        PetscInt row = p->own[i], at = p->number[row];
        for (int64_t k = A->rowptr[row]; k < A->rowptr[row + 1]; k++) {
            const int32_t col = A->col[k];
            const PetscInt to = p->number[col];
            const double *value = A->val + 9 * k;
            if (f->held[row] || f->held[col]) {
                drape_i_filter_block(f->S + 9 * (int64_t)row, f->S + 9 * (int64_t)col, value, row == col, block);
                value = block;
            }
            PetscCall(MatSetValuesBlocked(out, 1, &at, 1, &to, value, INSERT_VALUES));
        }
    }
    PetscCall(MatAssemblyBegin(out, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(out, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(0);
}

void drape_i_filter_vector(const double *S, const double *x, double *out) {
    double y[3];
    for (int32_t k = 0; k < 3; k++) y[k] = (S[3 * k] * x[0] + S[3 * k + 1] * x[1]) + S[3 * k + 2] * x[2];
    memcpy(out, y, sizeof y);
}

static void subtract_prescribed(const drape_bsr3 *A, const drape_i_filter *f, int32_t row, double *b) {
    for (int64_t k = A->rowptr[row]; k < A->rowptr[row + 1]; k++) {
        const int32_t col = A->col[k];
        const double *z = f->z + 3 * (int64_t)col, *B = A->val + 9 * k;
        double free[3];
        if (!f->held[col]) continue;
        drape_i_filter_vector(f->S + 9 * (int64_t)col, z, free);
        for (int32_t m = 0; m < 9; m++) b[m / 3] -= B[m] * (z[m % 3] - free[m % 3]);
    }
}

PetscErrorCode drape_i_matrix_vectors(const drape_petsc_part *p, const drape_problem *problem,
                                      const drape_i_filter *f, Vec b, Vec y) {
    PetscScalar *to, *guess;
    PetscFunctionBeginUser;
    PetscCall(VecGetArray(b, &to));
    PetscCall(VecGetArray(y, &guess));
    for (int64_t i = 0; i < p->own_count; i++) {
        const int32_t row = p->own[i];
        memcpy(to + 3 * i, problem->b + 3 * (int64_t)row, 3 * sizeof *to);
        subtract_prescribed(problem->A, f, row, to + 3 * i);
        if (f->held[row]) drape_i_filter_vector(f->S + 9 * (int64_t)row, to + 3 * i, to + 3 * i);
        if (!problem->guess) memset(guess + 3 * i, 0, 3 * sizeof *guess);
        else memcpy(guess + 3 * i, problem->guess + 3 * (int64_t)row, 3 * sizeof *guess);
        if (f->held[row]) drape_i_filter_vector(f->S + 9 * (int64_t)row, guess + 3 * i, guess + 3 * i);
    }
    PetscCall(VecRestoreArray(y, &guess));
    PetscCall(VecRestoreArray(b, &to));
    PetscFunctionReturn(0);
}
