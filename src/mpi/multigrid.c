/* multigrid.c: smoothed aggregation over all processes. Each makes drape's own hierarchy for its diagonal block. The
 * interpolations, side by side, are those of PETSc's multigrid (PCMG), which smooths, restricts and corrects across
 * the borders as everywhere else. The Galerkin products P'A P are those of the whole matrix (product.c). PETSc has
 * matrices of its own form on the coarsest level alone.
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

/* Adds the symmetric parts of the blocks of copies that are free to the diagonal block; true where there are any. */
static bool lump_row(const drape_petsc_part *p, const drape_bsr3 *A, int32_t row, const bool *held, double sum[9],
                     int64_t *diagonal) {
    bool any = false;
    memset(sum, 0, 9 * sizeof *sum);
    for (int64_t k = A->rowptr[row]; k < A->rowptr[row + 1]; k++) {
        const double *B = A->val + 9 * k;
        if (A->col[k] == row) *diagonal = k;
        if (drape_i_is_own(p, A->col[k]) || held[A->col[k]]) continue;
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
        count += lump_row(&mg->part, A, mg->part.own[i], held, sum, &diagonal);
    *out = (lumping){.count = count};
    if (!DRAPE_NEW(mg->ctx, out->where, count) || !DRAPE_NEW(mg->ctx, out->block, 9 * (int64_t)count))
        return DRAPE_ERROR_MEMORY;
    count = 0;
    for (int32_t i = 0; i < mg->part.own_count; i++) {
        if (!lump_row(&mg->part, A, mg->part.own[i], held, sum, &diagonal)) continue;
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

/* set: own vertices as the filter has them, copies held. It is created for every use: kept, it would be 200 bytes
 * per vertex at the moment when most memory is in use. */
static drape_status hold_copies(drape_i_multigrid *mg, const drape_i_filter *f, drape_constraints **set) {
    const int64_t n = mg->part.vertices;
    double *S;
    drape_status status = drape_constraints_create(mg->ctx, mg->part.vertices, set);
    if (status) return status;
    if (!DRAPE_NEW(mg->ctx, S, 9 * n)) return DRAPE_ERROR_MEMORY;
    for (int32_t i = 0; i < mg->part.own_count; i++) {
        int64_t at = 9 * (int64_t)mg->part.own[i];
        memcpy(S + at, f->S + at, 9 * sizeof *S);
    }
    status = drape_constraints_set_filter(*set, S, f->z);
    DRAPE_FREE(mg->ctx, S, 9 * n);
    return status;
}

/* The problem of the diagonal block, with its lumped couplings, until it ends. */
typedef struct block_problem {
    drape_problem problem;
    drape_constraints *set;
    lumping lumped;
} block_problem;

static drape_status begin_block(drape_i_multigrid *mg, const drape_problem *given, const drape_i_filter *f,
                                block_problem *block) {
    *block = (block_problem){.problem = {.A = given->A}};
    drape_status status = lump(mg, given->A, f->held, &block->lumped);
    if (!status) status = hold_copies(mg, f, &block->set);
    block->problem.constraints = block->set;
    return status;
}

static void end_block(drape_i_multigrid *mg, block_problem *block) {
    restore(mg, block->problem.A, &block->lumped);
    drape_constraints_destroy(block->set);
}

drape_status drape_i_multigrid_due(drape_i_multigrid *mg, const drape_problem *problem, const drape_i_filter *f,
                                   drape_precond_work *out) {
    block_problem block;
    drape_precond_work mine = DRAPE_PRECOND_REBUILD;
    int most;
    drape_status status = begin_block(mg, problem, f, &block);
    if (!status && mg->precond && mg->levels > 0) status = drape_precond_due(mg->precond, &block.problem, &mine);
    end_block(mg, &block);
    status = drape_petsc_agree(mg->ctx, mg->comm, status);
    if (status) return status;
    MPI_Allreduce(&(int){(int)mine}, &most, 1, MPI_INT, MPI_MAX, mg->comm);
    *out = (drape_precond_work)most;
    return DRAPE_OK;
}

/* ---- Interpolations ---- */

static void free_levels(drape_i_multigrid *mg) {
    for (int32_t l = 0; l < DRAPE_I_MG_LEVELS; l++) {
        MatDestroy(&mg->to_fine[l]);
        if (l > 0) MatDestroy(&mg->A[l]);
        mg->A[l] = NULL;
        drape_i_prolongation_free(mg->ctx, &mg->P[l]);
        drape_i_product_free(&mg->product[l]);
        drape_i_own_rows_free(&mg->coarse[l]);
    }
    MatDestroy(&mg->coarsest);
    mg->levels = 0;
}

void drape_i_multigrid_free(drape_i_multigrid *mg) {
    free_levels(mg);
    drape_precond_destroy(mg->precond);
    mg->precond = NULL;
}

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

/* The rows of own vertices, which `row` lists; NULL: all. */
static drape_status keep_own(drape_i_multigrid *mg, const drape_interpolation *from, const int32_t *row,
                             drape_i_prolongation *P) {
    drape_status status = DRAPE_OK;
    P->columns = from->columns;
    if (!P->rowptr) {
        P->blocks = from->blocks; /* copies are held and have none */
        status = drape_i_prolongation_allocate(mg->ctx, P);
    }
    for (int32_t i = 0; i < P->rows && !status; i++) {
        const int32_t at = row ? row[i] : i;
        const int64_t count = from->rowptr[at + 1] - from->rowptr[at], to = P->rowptr[i], begin = from->rowptr[at];
        P->rowptr[i + 1] = to + count;
        memcpy(P->col + to, from->col + begin, (size_t)count * sizeof *P->col);
        for (int64_t k = 0; k < 9 * count; k++) P->val[9 * to + k] = (float)from->val[9 * begin + k];
    }
    return status;
}

static drape_status make_identity(drape_i_multigrid *mg, drape_i_prolongation *P) {
    P->columns = P->rows;
    P->blocks = P->rows;
    if (P->rowptr) return DRAPE_OK;
    drape_status status = drape_i_prolongation_allocate(mg->ctx, P);
    for (int32_t i = 0; i < P->rows && !status; i++) {
        P->rowptr[i + 1] = i + 1;
        P->col[i] = i;
        for (int32_t m = 0; m < MODES * MODES; m++) P->val[9 * (int64_t)i + m] = m % 4 == 0;
    }
    return status;
}

/* Of a level that this process' hierarchy has, or the identity where it ended before. rows: of the level. */
static drape_status take_interpolation(drape_i_multigrid *mg, int32_t level, int32_t rows) {
    drape_interpolation P = {0};
    mg->P[level].rows = rows;
    if (level + 1 >= drape_precond_levels(mg->precond)) return make_identity(mg, &mg->P[level]);
    drape_status status = drape_precond_interpolation(mg->precond, level, &P);
    if (!status) status = allocate(mg->ctx, &P);
    if (!status) status = drape_precond_interpolation(mg->precond, level, &P);
    if (!status) status = keep_own(mg, &P, level == 0 ? mg->part.own : NULL, &mg->P[level]);
    release(mg->ctx, &P);
    return status;
}

static drape_status take_interpolations(drape_i_multigrid *mg) {
    int32_t rows = mg->part.own_count;
    drape_status status = DRAPE_OK;
    for (int32_t l = 0; l + 1 < mg->levels && !status; l++) {
        status = take_interpolation(mg, l, rows);
        rows = mg->P[l].columns;
    }
    return drape_petsc_agree(mg->ctx, mg->comm, status);
}

/* ---- Products ---- */

static drape_status make_product(drape_i_multigrid *mg, int32_t l) {
    const drape_i_own_rows *fine = l == 1 ? mg->finest : &mg->coarse[l - 1];
    drape_status status = DRAPE_OK;
    if (!mg->product[l].ctx) status = drape_i_product_pattern(fine, &mg->P[l - 1], &mg->coarse[l], &mg->product[l]);
    return status ? status : drape_i_product_values(fine, &mg->P[l - 1], &mg->product[l], &mg->coarse[l]);
}

static drape_status make_products(drape_i_multigrid *mg) {
    drape_status status = DRAPE_OK;
    for (int32_t l = 1; l < mg->levels && !status; l++) status = make_product(mg, l);
    return status;
}

/* ---- As matrices of PETSc ---- */

static PetscErrorCode create_coarsest(const drape_i_own_rows *m, Mat *out) {
    PetscInt *here, *away;
    PetscFunctionBeginUser;
    PetscCall(PetscMalloc2(m->own, &here, m->own, &away));
    for (int32_t i = 0; i < m->own; i++) {
        here[i] = 0;
        for (int64_t k = m->rowptr[i]; k < m->rowptr[i + 1]; k++) here[i] += m->col[k] < m->own;
        away[i] = (PetscInt)(m->rowptr[i + 1] - m->rowptr[i]) - here[i];
    }
    PetscCall(drape_i_matrix_allocate(m->comm, m->own, here, away, out));
    PetscCall(PetscFree2(here, away));
    PetscFunctionReturn(0);
}

static PetscErrorCode fill_coarsest(const drape_i_own_rows *m, Mat out) {
    PetscFunctionBeginUser;
    for (int32_t i = 0; i < m->own; i++)
        for (int64_t k = m->rowptr[i]; k < m->rowptr[i + 1]; k++) {
            const PetscInt row = m->first + i;
            const PetscInt to = m->col[k] < m->own ? m->first + m->col[k] : m->ghost[m->col[k] - m->own];
            PetscCall(MatSetValuesBlocked(out, 1, &row, 1, &to, m->val + 9 * k, INSERT_VALUES));
        }
    PetscCall(MatAssemblyBegin(out, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(out, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(0);
}

/* The coarsest one is factored, which PETSc does with its own form alone. */
static PetscErrorCode make_coarsest(drape_i_multigrid *mg, const drape_bsr3 *A, const drape_i_filter *f) {
    const int32_t top = mg->levels - 1;
    PetscFunctionBeginUser;
    if (top == 0) {
        if (!mg->coarsest) PetscCall(drape_i_matrix_create(mg->comm, &mg->part, A, &mg->coarsest));
        PetscCall(drape_i_matrix_fill(&mg->part, A, f, mg->coarsest));
    } else {
        if (!mg->coarsest) PetscCall(create_coarsest(&mg->coarse[top], &mg->coarsest));
        PetscCall(fill_coarsest(&mg->coarse[top], mg->coarsest));
    }
    PetscFunctionReturn(0);
}

static PetscErrorCode make_matrices(drape_i_multigrid *mg, const drape_bsr3 *A, const drape_i_filter *f) {
    PetscInt rows;
    PetscFunctionBeginUser;
    for (int32_t l = 0; l + 1 < mg->levels; l++) {
        if (!mg->to_fine[l]) PetscCall(drape_i_prolongation_matrix(mg->comm, &mg->P[l], &mg->to_fine[l]));
        if (l > 0 && !mg->A[l]) PetscCall(drape_i_own_rows_matrix(&mg->coarse[l], &mg->A[l]));
        PetscCall(drape_i_own_rows_changed(mg->A[l]));
        PetscCall(MatGetSize(mg->A[l], &rows, NULL));
        mg->rows[l] = rows;
    }
    PetscCall(make_coarsest(mg, A, f));
    PetscCall(MatGetSize(mg->coarsest, &rows, NULL));
    mg->rows[mg->levels - 1] = rows;
    PetscFunctionReturn(0);
}

/* ---- All of it ---- */

static drape_status refresh_hierarchy(drape_i_multigrid *mg, const drape_problem *problem, const drape_i_filter *f,
                                      bool rebuild) {
    block_problem block;
    if (rebuild) {
        drape_precond_destroy(mg->precond);
        mg->precond = NULL;
    }
    drape_status status = begin_block(mg, problem, f, &block);
    if (!status && !mg->precond)
        status = drape_precond_create(mg->ctx, "amg", problem->A, &mg->settings, &mg->precond);
    if (!status) status = drape_precond_refresh(mg->precond, &block.problem);
    end_block(mg, &block);
    return status;
}

drape_status drape_i_multigrid_refresh(drape_i_multigrid *mg, const drape_problem *problem, const drape_i_filter *f,
                                       bool rebuild, drape_i_own_rows *finest, Mat A) {
    int32_t mine;
    if (rebuild) free_levels(mg);
    drape_status status = refresh_hierarchy(mg, problem, f, rebuild);
    status = drape_petsc_agree(mg->ctx, mg->comm, status);
    if (status) return status;
    mine = drape_precond_levels(mg->precond);
    MPI_Allreduce(&mine, &mg->levels, 1, MPI_INT32_T, MPI_MAX, mg->comm);
    mg->A[0] = A;
    mg->finest = finest;
    status = take_interpolations(mg);
    if (!status) status = make_products(mg);
    return status ? status : drape_i_petsc_status(mg->ctx, make_matrices(mg, problem->A, f));
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
        PetscCall(PCMGSetInterpolation(pc, top - l, mg->to_fine[l]));
        PetscCall(PCMGGetSmoother(pc, top - l, &level));
        PetscCall(set_smoother(level, mg->A[l]));
    }
    PetscCall(PCMGGetCoarseSolve(pc, &level));
    PetscCall(KSPSetOperators(level, mg->coarsest, mg->coarsest));
    PetscFunctionReturn(0);
}
