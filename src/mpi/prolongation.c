/* prolongation.c: the interpolation from the next coarser level as a matrix of PETSc that is never copied (shell.c).
 * It leads from own aggregates to own vertices alone, so its products need no other process. Its blocks are in single
 * precision: 40 bytes where PETSc's rows take 108. The product P'A P is formed from the same numbers, so the rounding
 * only gives a slightly different interpolation, which is as good. */
#include "mpi/mpi.h"

drape_status drape_i_prolongation_allocate(drape_context *ctx, drape_i_prolongation *P) {
    if (DRAPE_NEW(ctx, P->rowptr, (int64_t)P->rows + 1) && DRAPE_NEW_RAW(ctx, P->col, P->blocks) &&
        DRAPE_NEW_RAW(ctx, P->val, 9 * P->blocks))
        return DRAPE_OK;
    return DRAPE_ERROR_MEMORY;
}

void drape_i_prolongation_free(drape_context *ctx, drape_i_prolongation *P) {
    DRAPE_FREE(ctx, P->rowptr, (int64_t)P->rows + 1);
    DRAPE_FREE(ctx, P->col, P->blocks);
    DRAPE_FREE(ctx, P->val, 9 * P->blocks);
    *P = (drape_i_prolongation){0};
}

/* y += P x */
static PetscErrorCode add(const void *over, const PetscScalar *x, PetscScalar *y) {
    const drape_i_prolongation *P = over;
    PetscFunctionBeginUser;
    for (int64_t i = 0; i < P->rows; i++)
        for (int64_t k = P->rowptr[i]; k < P->rowptr[i + 1]; k++) {
            const float *B = P->val + 9 * k;
            const double *xj = x + 3 * (int64_t)P->col[k];
            for (int32_t m = 0; m < 3; m++)
                y[3 * i + m] += (B[3 * m] * xj[0] + B[3 * m + 1] * xj[1]) + B[3 * m + 2] * xj[2];
        }
    PetscCall(PetscLogFlops(18.0 * (double)P->blocks));
    PetscFunctionReturn(0);
}

static PetscErrorCode multiply(Mat A, Vec x, Vec y) {
    PetscFunctionBeginUser;
    PetscCall(VecSet(y, 0));
    PetscCall(drape_i_shell_apply(A, x, y, add));
    PetscFunctionReturn(0);
}

/* z = y + P x; y and z may be the same. */
static PetscErrorCode multiply_add(Mat A, Vec x, Vec y, Vec z) {
    PetscFunctionBeginUser;
    if (y != z) PetscCall(VecCopy(y, z));
    PetscCall(drape_i_shell_apply(A, x, z, add));
    PetscFunctionReturn(0);
}

/* y += P' x */
static PetscErrorCode add_transposed(const void *over, const PetscScalar *x, PetscScalar *y) {
    const drape_i_prolongation *P = over;
    PetscFunctionBeginUser;
    for (int64_t i = 0; i < P->rows; i++)
        for (int64_t k = P->rowptr[i]; k < P->rowptr[i + 1]; k++) {
            const float *B = P->val + 9 * k;
            const double *xi = x + 3 * i;
            double *yj = y + 3 * (int64_t)P->col[k];
            for (int32_t m = 0; m < 3; m++) yj[m] += (B[m] * xi[0] + B[3 + m] * xi[1]) + B[6 + m] * xi[2];
        }
    PetscCall(PetscLogFlops(18.0 * (double)P->blocks));
    PetscFunctionReturn(0);
}

static PetscErrorCode multiply_transposed(Mat A, Vec x, Vec y) {
    PetscFunctionBeginUser;
    PetscCall(VecSet(y, 0));
    PetscCall(drape_i_shell_apply(A, x, y, add_transposed));
    PetscFunctionReturn(0);
}

PetscErrorCode drape_i_prolongation_matrix(MPI_Comm comm, drape_i_prolongation *P, Mat *out) {
    PetscFunctionBeginUser;
    PetscCall(drape_i_shell_create(comm, P->rows, P->columns, P, out));
    PetscCall(MatShellSetOperation(*out, MATOP_MULT, (void (*)(void))multiply));
    PetscCall(MatShellSetOperation(*out, MATOP_MULT_ADD, (void (*)(void))multiply_add));
    PetscCall(MatShellSetOperation(*out, MATOP_MULT_TRANSPOSE, (void (*)(void))multiply_transposed));
    PetscFunctionReturn(0);
}
