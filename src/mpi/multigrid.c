/* multigrid.c: smoothed aggregation over all processes. Each makes drape's own hierarchy for its diagonal block. The
 * interpolations, side by side, are those of PETSc's multigrid (PCMG), which smooths, restricts and corrects across
 * the borders as everywhere else. PETSc makes the Galerkin products P'A P of the whole matrix.
 *
 * What a vertex is coupled with on other processes is not in the diagonal block. Without them it would look as if
 * those vertices were held, and interpolations would fade towards the borders. So these blocks are added to the
 * vertex' own diagonal block, as if all of them moved along (for strips at 16 subdomains that is 36 iterations
 * against 53). Copies are in the matrix, and held in all directions: nothing of them is in P, and no matrix of the
 * own rows alone is needed. The diagonal blocks are changed in place and put back.
 *
 * Smoothing is Chebyshev's polynomial of degree 2 over the diagonal blocks, which does not depend on the borders as
 * Gauss and Seidel's would. Processes whose hierarchy ends early hand their last level down unchanged, so the
 * coarsest level has at most some 150 unknowns per process, and is solved directly, by each for itself. Near-kernels
 * of six modes are not used: aggregates of few vertices leave columns of zeros in P. The few that three modes leave
 * get a one on the diagonal. */
#include "mpi/mpi.h"

#include <string.h>

enum { MODES = 3, SMOOTHING = 2 };
static const double LOWEST = 0.1, HIGHEST = 1.1; /* of the largest eigenvalue as estimated: what is smoothed */

/* ---- The diagonal block ---- */

/* Diagonal blocks that were changed, as they were. */
typedef struct lumping {
    int32_t count;
    int64_t *where; /* offsets of blocks */
    double *block;
} lumping;

static bool is_own(const drape_petsc_part *p, int32_t vertex) {
    int32_t first = p->number[p->own[0]];
    return p->number[vertex] >= first && p->number[vertex] < first + p->own_count;
}

/* Adds the symmetric parts of the blocks of copies that are free to the diagonal block; true where there are any. */
static bool lump_row(const drape_petsc_part *p, const drape_bsr3 *A, const drape_constraints *set, int32_t row,
                     const bool *held, double sum[9], int64_t *diagonal) {
    bool any = false;
    (void)set;
    memset(sum, 0, 9 * sizeof *sum);
    for (int64_t k = A->rowptr[row]; k < A->rowptr[row + 1]; k++) {
        const double *B = A->val + 9 * k;
        if (A->col[k] == row) *diagonal = k;
        if (is_own(p, A->col[k]) || held[A->col[k]]) continue;
        for (int32_t m = 0; m < 9; m++) sum[m] += 0.5 * (B[m] + B[m % 3 * 3 + m / 3]);
        any = true;
    }
    return any;
}

static drape_status lump(drape_i_multigrid *mg, const drape_bsr3 *A, const bool *held, lumping *out) {
    double sum[9];
    int64_t diagonal = 0;
    int32_t count = 0;
    for (int32_t i = 0; i < mg->part.own_count; i++)
        count += lump_row(&mg->part, A, mg->set, mg->part.own[i], held, sum, &diagonal);
    *out = (lumping){.count = count};
    if (!DRAPE_NEW(mg->ctx, out->where, count) || !DRAPE_NEW(mg->ctx, out->block, 9 * (int64_t)count))
        return DRAPE_ERROR_MEMORY;
    count = 0;
    for (int32_t i = 0; i < mg->part.own_count; i++) {
        if (!lump_row(&mg->part, A, mg->set, mg->part.own[i], held, sum, &diagonal)) continue;
        double *D = A->val + 9 * diagonal;
        out->where[count] = diagonal;
        memcpy(out->block + 9 * (int64_t)count++, D, sizeof sum);
        for (int32_t m = 0; m < 9; m++) D[m] += sum[m];
    }
    return DRAPE_OK;
}

static void restore(drape_i_multigrid *mg, const drape_bsr3 *A, lumping *l) {
    for (int32_t i = 0; l->block && i < l->count; i++)
        memcpy(A->val + 9 * l->where[i], l->block + 9 * (int64_t)i, 9 * sizeof *l->block);
    DRAPE_FREE(mg->ctx, l->where, l->count);
    DRAPE_FREE(mg->ctx, l->block, 9 * (int64_t)l->count);
}

/* mg->set: own vertices as the filter has them, copies held. */
static drape_status hold_copies(drape_i_multigrid *mg, const drape_i_filter *f) {
    const int64_t n = mg->part.vertices;
    double *S;
    drape_status status = DRAPE_OK;
    if (!mg->set) status = drape_constraints_create(mg->ctx, mg->part.vertices, &mg->set);
    if (status) return status;
    if (!DRAPE_NEW(mg->ctx, S, 9 * n)) return DRAPE_ERROR_MEMORY;
    for (int32_t i = 0; i < mg->part.own_count; i++) {
        int64_t at = 9 * (int64_t)mg->part.own[i];
        memcpy(S + at, f->S + at, 9 * sizeof *S);
    }
    status = drape_constraints_set_filter(mg->set, S, f->z);
    DRAPE_FREE(mg->ctx, S, 9 * n);
    return status;
}

/* The problem of the diagonal block, with its lumped couplings. */
static drape_status begin_block(drape_i_multigrid *mg, const drape_problem *given, const drape_i_filter *f,
                                drape_problem *block, lumping *l) {
    *block = (drape_problem){.A = given->A, .constraints = mg->set};
    drape_status status = lump(mg, given->A, f->held, l);
    if (!status) status = hold_copies(mg, f);
    block->constraints = mg->set;
    return status;
}

drape_status drape_i_multigrid_due(drape_i_multigrid *mg, const drape_problem *problem, const drape_i_filter *f,
                                   drape_precond_work *out) {
    drape_problem block;
    lumping l = {0};
    drape_precond_work mine = DRAPE_PRECOND_REBUILD;
    int most;
    drape_status status = begin_block(mg, problem, f, &block, &l);
    if (!status && mg->precond && mg->levels > 0) status = drape_precond_due(mg->precond, &block, &mine);
    restore(mg, problem->A, &l);
    status = drape_petsc_agree(mg->ctx, mg->comm, status);
    if (status) return status;
    MPI_Allreduce(&(int){(int)mine}, &most, 1, MPI_INT, MPI_MAX, mg->comm);
    *out = (drape_precond_work)most;
    return DRAPE_OK;
}

/* ---- Interpolations ---- */

static void free_levels(drape_i_multigrid *mg) {
    for (int32_t l = 0; l < DRAPE_I_MG_LEVELS; l++) {
        MatDestroy(&mg->P[l]);
        if (l > 0) MatDestroy(&mg->A[l]);
        mg->A[l] = NULL;
    }
    mg->levels = 0;
}

void drape_i_multigrid_free(drape_i_multigrid *mg) {
    free_levels(mg);
    drape_precond_destroy(mg->precond);
    drape_constraints_destroy(mg->set);
    mg->precond = NULL;
    mg->set = NULL;
}

/* P of a level that this process' hierarchy has, or the identity where it ended before. */
typedef struct local_interpolation {
    drape_interpolation P;
    const int32_t *row; /* of P, for each own row; NULL: the same */
    int32_t rows;       /* own ones, in blocks */
} local_interpolation;

static drape_status allocate(drape_context *ctx, drape_interpolation *P) {
    if (DRAPE_NEW(ctx, P->rowptr, (int64_t)P->rows + 1) && DRAPE_NEW_RAW(ctx, P->col, P->blocks) &&
        DRAPE_NEW_RAW(ctx, P->val, P->blocks * P->row_size * P->column_size))
        return DRAPE_OK;
    return DRAPE_ERROR_MEMORY;
}

static void release(drape_context *ctx, drape_interpolation *P) {
    DRAPE_FREE(ctx, P->rowptr, (int64_t)P->rows + 1);
    DRAPE_FREE(ctx, P->col, P->blocks);
    DRAPE_FREE(ctx, P->val, P->blocks * P->row_size * P->column_size);
}

static void make_identity(drape_interpolation *P) {
    for (int32_t i = 0; i < P->rows; i++) {
        P->rowptr[i + 1] = i + 1;
        P->col[i] = i;
        for (int32_t m = 0; m < MODES * MODES; m++) P->val[9 * (int64_t)i + m] = m % 4 == 0;
    }
}

/* rows: of the level, in blocks. */
static drape_status take_interpolation(drape_i_multigrid *mg, int32_t level, int32_t rows, local_interpolation *out) {
    const bool there = level + 1 < drape_precond_levels(mg->precond);
    *out = (local_interpolation){.rows = rows, .row = level == 0 ? mg->part.own : NULL};
    drape_interpolation *P = &out->P;
    *P =
        (drape_interpolation){.rows = rows, .columns = rows, .row_size = MODES, .column_size = MODES, .blocks = rows};
    drape_status status = there ? drape_precond_interpolation(mg->precond, level, P) : DRAPE_OK;
    if (!there) out->row = NULL;
    if (!status) status = allocate(mg->ctx, P);
    if (status) return status;
    if (there) return drape_precond_interpolation(mg->precond, level, P);
    make_identity(P);
    return DRAPE_OK;
}

static PetscErrorCode create_interpolation(MPI_Comm comm, const local_interpolation *from, Mat *out) {
    const PetscInt rows = MODES * from->rows, columns = MODES * from->P.columns;
    PetscInt *count;
    PetscFunctionBeginUser;
    PetscCall(PetscMalloc1(rows + 1, &count));
    for (PetscInt i = 0; i < rows; i++) {
        int32_t row = from->row ? from->row[i / MODES] : i / MODES;
        count[i] = MODES * (PetscInt)(from->P.rowptr[row + 1] - from->P.rowptr[row]);
    }
    PetscCall(MatCreate(comm, out));
    PetscCall(MatSetSizes(*out, rows, columns, PETSC_DETERMINE, PETSC_DETERMINE));
    PetscCall(MatSetBlockSizes(*out, MODES, MODES));
    PetscCall(MatSetType(*out, MATAIJ));
    PetscCall(MatSeqAIJSetPreallocation(*out, 0, count));
    PetscCall(MatMPIAIJSetPreallocation(*out, 0, count, 0, NULL));
    PetscCall(MatSetOption(*out, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
    PetscCall(PetscFree(count));
    PetscFunctionReturn(0);
}

static PetscErrorCode fill_interpolation(const local_interpolation *from, Mat out) {
    PetscInt row, column;
    PetscFunctionBeginUser;
    PetscCall(MatGetOwnershipRange(out, &row, NULL));
    PetscCall(MatGetOwnershipRangeColumn(out, &column, NULL));
    row /= MODES;
    column /= MODES;
    for (PetscInt i = 0; i < from->rows; i++, row++) {
        const int32_t at = from->row ? from->row[i] : i;
        for (int64_t k = from->P.rowptr[at]; k < from->P.rowptr[at + 1]; k++) {
            PetscInt to = column + from->P.col[k];
            PetscCall(MatSetValuesBlocked(out, 1, &row, 1, &to, from->P.val + MODES * MODES * k, INSERT_VALUES));
        }
    }
    PetscCall(MatAssemblyBegin(out, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(out, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(0);
}

/* Unknowns that no vertex depends on. */
static PetscErrorCode fix_diagonal(Mat A) {
    Vec diagonal;
    PetscInt from, count, any = 0, all;
    const PetscScalar *d;
    PetscFunctionBeginUser;
    PetscCall(MatCreateVecs(A, &diagonal, NULL));
    PetscCall(MatGetDiagonal(A, diagonal));
    PetscCall(MatGetOwnershipRange(A, &from, NULL));
    PetscCall(VecGetLocalSize(diagonal, &count));
    PetscCall(VecGetArrayRead(diagonal, &d));
    for (PetscInt i = 0; i < count; i++) any |= d[i] == 0;
    PetscCallMPI(MPI_Allreduce(&any, &all, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)A)));
    for (PetscInt i = 0; all && i < count; i++)
        if (d[i] == 0) PetscCall(MatSetValue(A, from + i, from + i, 1, INSERT_VALUES));
    PetscCall(VecRestoreArrayRead(diagonal, &d));
    PetscCall(VecDestroy(&diagonal));
    if (all) {
        PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
        PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    }
    PetscFunctionReturn(0);
}

static PetscErrorCode make_product(drape_i_multigrid *mg, int32_t level) {
    PetscInt rows;
    PetscFunctionBeginUser;
    PetscCall(MatPtAP(mg->A[level], mg->P[level], mg->A[level + 1] ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX,
                      PETSC_DEFAULT, &mg->A[level + 1]));
    PetscCall(fix_diagonal(mg->A[level + 1]));
    PetscCall(MatSetOption(mg->A[level + 1], MAT_SPD, PETSC_TRUE));
    PetscCall(MatGetSize(mg->A[level + 1], &rows, NULL));
    mg->rows[level + 1] = rows;
    PetscFunctionReturn(0);
}

static PetscErrorCode put_interpolation(drape_i_multigrid *mg, int32_t level, const local_interpolation *from) {
    PetscFunctionBeginUser;
    if (!mg->P[level]) PetscCall(create_interpolation(mg->comm, from, &mg->P[level]));
    PetscCall(fill_interpolation(from, mg->P[level]));
    PetscFunctionReturn(0);
}

/* All interpolations. The products come later: until then the memory of the hierarchy is what counts. */
static drape_status put_interpolations(drape_i_multigrid *mg) {
    int32_t rows = mg->part.own_count;
    drape_status status = DRAPE_OK;
    for (int32_t l = 0; l + 1 < mg->levels && !status; l++) {
        local_interpolation P;
        status = drape_petsc_agree(mg->ctx, mg->comm, take_interpolation(mg, l, rows, &P));
        if (!status) status = drape_i_petsc_status(mg->ctx, put_interpolation(mg, l, &P));
        rows = P.P.columns;
        release(mg->ctx, &P.P);
    }
    return status;
}

static PetscErrorCode make_products(drape_i_multigrid *mg) {
    PetscInt rows;
    PetscFunctionBeginUser;
    PetscCall(MatGetSize(mg->A[0], &rows, NULL));
    mg->rows[0] = rows;
    for (int32_t l = 0; l + 1 < mg->levels; l++) PetscCall(make_product(mg, l));
    PetscFunctionReturn(0);
}

/* ---- All of it ---- */

static drape_status refresh_hierarchy(drape_i_multigrid *mg, const drape_problem *problem, const drape_i_filter *f,
                                      bool rebuild) {
    drape_problem block;
    lumping l = {0};
    if (rebuild) {
        drape_precond_destroy(mg->precond);
        mg->precond = NULL;
    }
    drape_status status = begin_block(mg, problem, f, &block, &l);
    if (!status && !mg->precond)
        status = drape_precond_create(mg->ctx, "amg", problem->A, &mg->settings, &mg->precond);
    if (!status) status = drape_precond_refresh(mg->precond, &block);
    restore(mg, problem->A, &l);
    return status;
}

drape_status drape_i_multigrid_refresh(drape_i_multigrid *mg, const drape_problem *problem, const drape_i_filter *f,
                                       bool rebuild, Mat A) {
    int32_t mine;
    if (rebuild) free_levels(mg);
    drape_status status = refresh_hierarchy(mg, problem, f, rebuild);
    status = drape_petsc_agree(mg->ctx, mg->comm, status);
    if (status) return status;
    mine = drape_precond_levels(mg->precond);
    MPI_Allreduce(&mine, &mg->levels, 1, MPI_INT32_T, MPI_MAX, mg->comm);
    mg->A[0] = A;
    status = put_interpolations(mg);
    if (!status) status = drape_i_petsc_status(mg->ctx, make_products(mg));
    return status;
}

static PetscErrorCode set_smoother(KSP smoother, Mat A) {
    PC pc;
    PetscFunctionBeginUser;
    PetscCall(KSPSetOperators(smoother, A, A));
    PetscCall(KSPSetType(smoother, KSPCHEBYSHEV));
    PetscCall(KSPChebyshevEstEigSet(smoother, 0, LOWEST, 0, HIGHEST));
    PetscCall(KSPSetTolerances(smoother, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, SMOOTHING));
    PetscCall(KSPSetNormType(smoother, KSP_NORM_NONE));
    PetscCall(KSPGetPC(smoother, &pc));
    PetscCall(PCSetType(pc, PCPBJACOBI));
    PetscFunctionReturn(0);
}

PetscErrorCode drape_i_multigrid_attach(const drape_i_multigrid *mg, PC pc) {
    const int32_t top = mg->levels - 1; /* PETSc counts from the coarsest */
    KSP level;
    PetscFunctionBeginUser;
    PetscCall(PCSetType(pc, PCMG));
    PetscCall(PCMGSetLevels(pc, mg->levels, NULL));
    PetscCall(PCMGSetGalerkin(pc, PC_MG_GALERKIN_NONE));
    for (int32_t l = 0; l < top; l++) {
        PetscCall(PCMGSetInterpolation(pc, top - l, mg->P[l]));
        PetscCall(PCMGGetSmoother(pc, top - l, &level));
        PetscCall(set_smoother(level, mg->A[l]));
    }
    PetscCall(PCMGGetCoarseSolve(pc, &level));
    PetscCall(KSPSetOperators(level, mg->A[top], mg->A[top]));
    PetscFunctionReturn(0);
}
