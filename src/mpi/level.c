/* level.c: the matrix of a level as a matrix of PETSc that is never copied (shell.c). Each process has the rows of
 * its own vertices, or aggregates, as drape's block rows. A product fetches the unknowns of copies from their owners,
 * and multiplies by the kernel of sparse/multiply_simd.c: 76 bytes per block, where PETSc's compressed scalar rows
 * have 108 beside drape's own matrix.
 *
 * The finest level is the caller's matrix A with the filter of matrix.c: y = S A S x + C (I-S) x. Only vertices that
 * are held are treated otherwise than in A x. */
#include "mpi/mpi.h"

#include "sparse/multiply.h"

#include <math.h>
#include <string.h>

/* ---- Products ---- */

/* Own ones whose rows follow each other in A: the end of the run that begins with i. */
static int32_t run_end(const drape_i_own_rows *m, int32_t i) {
    return m->row ? drape_i_run_end(m->row, m->own, i) : m->own;
}

static int32_t row_of(const drape_i_own_rows *m, int32_t i) { return m->row ? m->row[i] : i; }

static const double *diagonal_block(const drape_i_own_rows *m, int32_t row) {
    int64_t k = m->A.rowptr[row];
    while (k < m->A.rowptr[row + 1] && m->A.col[k] != row) k++;
    return k < m->A.rowptr[row + 1] ? m->A.val + 9 * k : NULL;
}

/* What is held of own ones: y = S y + C (x - S x) */
static void filter_rows(const drape_i_own_rows *m, const double *x, double *y) {
    for (int32_t i = 0; i < m->own; i++) {
        const int64_t row = row_of(m, i);
        const double *S = m->filter->S + 9 * row, *xi = x + 3 * (int64_t)i, *B;
        double *yi = y + 3 * (int64_t)i, free[3], C;
        if (!m->filter->held[row]) continue;
        B = diagonal_block(m, (int32_t)row);
        C = B ? drape_i_held_scale(B) : 0;
        drape_i_filter_vector(S, xi, free);
        drape_i_filter_vector(S, yi, yi);
        for (int32_t k = 0; k < 3; k++) yi[k] += C * (xi[k] - free[k]);
    }
}

static void filter_columns(const drape_i_own_rows *m) {
    for (int64_t c = 0; c < m->columns; c++)
        if (m->filter->held[c]) drape_i_filter_vector(m->filter->S + 9 * c, m->x + 3 * c, m->x + 3 * c);
}

static void multiply_own(const drape_i_own_rows *m, double *y) {
    for (int32_t i = 0, next; i < m->own; i = next) {
        const int32_t row = row_of(m, i);
        drape_bsr3 run = m->A;
        next = run_end(m, i);
        run.rows = next - i;
        run.rowptr += row;
        drape_i_multiply_rows_at[m->ctx->simd](&run, m->x, y + 3 * (int64_t)i, 0, run.rows);
    }
}

static PetscErrorCode gather(const drape_i_own_rows *m, const PetscScalar *x) {
    PetscFunctionBeginUser;
    PetscCall(PetscSFBcastBegin(m->sf, m->triple, x, m->x, MPI_REPLACE));
    for (int32_t i = 0, next; i < m->own; i = next) {
        next = run_end(m, i);
        memcpy(m->x + 3 * (int64_t)row_of(m, i), x + 3 * (int64_t)i, 3 * (size_t)(next - i) * sizeof *x);
    }
    PetscCall(PetscSFBcastEnd(m->sf, m->triple, x, m->x, MPI_REPLACE));
    PetscFunctionReturn(0);
}

/* y = A x */
static PetscErrorCode apply(const void *over, const PetscScalar *x, PetscScalar *y) {
    const drape_i_own_rows *m = over;
    PetscFunctionBeginUser;
    PetscCall(gather(m, x));
    if (m->filter) filter_columns(m);
    multiply_own(m, y);
    if (m->filter) filter_rows(m, x, y);
    PetscCall(PetscLogFlops(18.0 * (double)m->blocks));
    PetscFunctionReturn(0);
}

static PetscErrorCode multiply(Mat A, Vec x, Vec y) { return drape_i_shell_apply(A, x, y, apply); }

/* ---- Diagonals, for smoothers ---- */

void drape_i_own_rows_block(const drape_i_own_rows *m, int32_t row, int64_t k, double out[9]) {
    const int32_t col = m->A.col[k];
    const drape_i_filter *f = m->filter;
    if (f && (f->held[row] || f->held[col]))
        drape_i_filter_block(f->S + 9 * (int64_t)row, f->S + 9 * (int64_t)col, m->A.val + 9 * k, row == col, out);
    else memcpy(out, m->A.val + 9 * k, 9 * sizeof *out);
}

static void filtered_diagonal(const drape_i_own_rows *m, int32_t i, double D[9]) {
    const int32_t row = row_of(m, i);
    const double *B = diagonal_block(m, row);
    memset(D, 0, 9 * sizeof *D);
    if (B) drape_i_own_rows_block(m, row, (B - m->A.val) / 9, D);
}

/* out = D^-1, column by column as PETSc has it. What is singular becomes infinite, which ends the iteration. */
static void invert(const double D[9], double *out) {
    double cofactor[9], determinant = 0;
    for (int32_t i = 0; i < 3; i++)
        for (int32_t j = 0; j < 3; j++) {
            const int32_t a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
            cofactor[3 * i + j] = D[3 * a + c] * D[3 * b + d] - D[3 * a + d] * D[3 * b + c];
        }
    for (int32_t j = 0; j < 3; j++) determinant += D[j] * cofactor[j];
    for (int32_t m = 0; m < 9; m++) out[m] = cofactor[m] / determinant; /* of the transpose, row by row */
}

static PetscErrorCode invert_diagonal(Mat A, const PetscScalar **out) {
    drape_i_own_rows *m;
    double D[9];
    PetscFunctionBeginUser;
    PetscCall(MatShellGetContext(A, &m));
    for (int32_t i = 0; i < m->own; i++) {
        filtered_diagonal(m, i, D);
        invert(D, m->inverse + 9 * (int64_t)i);
    }
    *out = m->inverse;
    PetscFunctionReturn(0);
}

static PetscErrorCode get_diagonal(Mat A, Vec out) {
    drape_i_own_rows *m;
    PetscScalar *to;
    double D[9];
    PetscFunctionBeginUser;
    PetscCall(MatShellGetContext(A, &m));
    PetscCall(VecGetArray(out, &to));
    for (int32_t i = 0; i < m->own; i++) {
        filtered_diagonal(m, i, D);
        for (int32_t k = 0; k < 3; k++) to[3 * (int64_t)i + k] = D[4 * k];
    }
    PetscCall(VecRestoreArray(out, &to));
    PetscFunctionReturn(0);
}

/* ---- Making ---- */

PetscErrorCode drape_i_own_rows_connect(drape_i_own_rows *m) {
    PetscLayout layout;
    PetscFunctionBeginUser;
    PetscCallMPI(MPI_Type_contiguous(3, MPI_DOUBLE, &m->triple));
    PetscCallMPI(MPI_Type_commit(&m->triple));
    PetscCall(PetscLayoutCreate(m->comm, &layout));
    PetscCall(PetscLayoutSetLocalSize(layout, m->own));
    PetscCall(PetscLayoutSetUp(layout));
    PetscCall(PetscSFCreate(m->comm, &m->sf));
    PetscCall(PetscSFSetGraphLayout(m->sf, layout, m->ghosts, m->ghost_column, PETSC_COPY_VALUES, m->ghost));
    PetscCall(PetscSFSetUp(m->sf));
    PetscCall(PetscLayoutDestroy(&layout));
    PetscFunctionReturn(0);
}

drape_status drape_i_own_rows_finest(drape_context *ctx, MPI_Comm comm, const drape_petsc_part *p,
                                     const drape_bsr3 *A, const drape_i_filter *filter, drape_i_own_rows *out) {
    const int32_t first = p->number[p->own[0]];
    drape_i_own_rows *m = out;
    *m = (drape_i_own_rows){.ctx = ctx,
                            .comm = comm,
                            .own = p->own_count,
                            .first = first,
                            .columns = p->vertices,
                            .row = p->own,
                            .filter = filter,
                            .A = *A};
    if (!DRAPE_NEW(ctx, m->place, m->columns)) return DRAPE_ERROR_MEMORY;
    for (int32_t i = 0; i < m->own; i++) {
        const int32_t row = p->own[i];
        m->blocks += A->rowptr[row + 1] - A->rowptr[row];
        for (int64_t k = A->rowptr[row]; k < A->rowptr[row + 1]; k++) m->place[A->col[k]] = 1;
    }
    for (int32_t c = 0; c < m->columns; c++) {
        const bool own = drape_i_is_own(p, c);
        if (!own && m->place[c]) m->ghosts++;
        else if (!own) m->place[c] = -1;
    }
    if (!DRAPE_NEW(ctx, m->ghost, m->ghosts) || !DRAPE_NEW(ctx, m->ghost_column, m->ghosts))
        return DRAPE_ERROR_MEMORY;
    for (int32_t c = 0, ghost = 0; c < m->columns; c++) {
        const bool own = drape_i_is_own(p, c);
        if (own) m->place[c] = p->number[c] - first;
        if (own || m->place[c] < 0) continue;
        m->ghost[ghost] = p->number[c];
        m->ghost_column[ghost] = c;
        m->place[c] = m->own + ghost++;
    }
    return drape_i_own_rows_allocate(m);
}

drape_status drape_i_own_rows_allocate(drape_i_own_rows *m) {
    if (DRAPE_NEW(m->ctx, m->x, 3 * (int64_t)m->columns) && DRAPE_NEW(m->ctx, m->inverse, 9 * (int64_t)m->own))
        return DRAPE_OK;
    return DRAPE_ERROR_MEMORY;
}

PetscErrorCode drape_i_own_rows_matrix(drape_i_own_rows *m, Mat *out) {
    PetscFunctionBeginUser;
    PetscCall(drape_i_shell_create(m->comm, m->own, m->own, m, out));
    PetscCall(MatShellSetOperation(*out, MATOP_MULT, (void (*)(void))multiply));
    PetscCall(MatShellSetOperation(*out, MATOP_MULT_TRANSPOSE, (void (*)(void))multiply));
    PetscCall(MatShellSetOperation(*out, MATOP_GET_DIAGONAL, (void (*)(void))get_diagonal));
    PetscCall(MatShellSetOperation(*out, MATOP_INVERT_BLOCK_DIAGONAL, (void (*)(void))invert_diagonal));
    PetscCall(MatSetOption(*out, MAT_SPD, PETSC_TRUE));
    PetscCall(MatSetOption(*out, MAT_SPD_ETERNAL, PETSC_TRUE));
    PetscFunctionReturn(0);
}

PetscErrorCode drape_i_own_rows_changed(Mat matrix) {
    PetscFunctionBeginUser;
    PetscCall(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(0);
}

void drape_i_own_rows_free(drape_i_own_rows *m) {
    if (!m->ctx) return;
    PetscSFDestroy(&m->sf);
    if (m->triple != MPI_DATATYPE_NULL && m->triple) MPI_Type_free(&m->triple);
    DRAPE_FREE(m->ctx, m->place, m->columns);
    DRAPE_FREE(m->ctx, m->ghost, m->ghosts);
    DRAPE_FREE(m->ctx, m->ghost_column, m->ghosts);
    DRAPE_FREE(m->ctx, m->x, 3 * (int64_t)m->columns);
    DRAPE_FREE(m->ctx, m->inverse, 9 * (int64_t)m->own);
    DRAPE_FREE(m->ctx, m->rowptr, (int64_t)m->own + 1);
    DRAPE_FREE(m->ctx, m->col, m->blocks);
    DRAPE_FREE(m->ctx, m->val, 9 * m->blocks);
    *m = (drape_i_own_rows){0};
}
