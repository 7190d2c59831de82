/* solver.c: S A x = S b, (I-S) x = (I-S) z over all processes: PETSc's conjugate gradients on the prefiltered system,
 * with the multigrid of multigrid.c.
 *
 * The stopping rule is drape's own: sqrt(r'P^-1 r) <= tol sqrt(b^'P^-1 b^), which PETSc calls the natural norm. */
#include "mpi/mpi.h"

#include "sparse/system_file.h"

#include <math.h>
#include <string.h>

struct drape_petsc_solver {
    drape_context *ctx;
    MPI_Comm comm;
    drape_petsc_part part;
    int32_t *own, *number; /* the part's */
    drape_solve_settings settings;
    bool foreign; /* PETSc's options ask for another preconditioner */
    drape_i_filter filter;
    drape_i_multigrid mg;
    drape_i_own_rows rows; /* of the matrix; with a foreign preconditioner PETSc has one of its own form */
    Mat A;
    Vec b, y, r, z;
    KSP ksp; /* NULL: to be made */
    VecScatter to_copies;
    Vec local; /* 3 numbers per vertex of the part, over their arrays */
    double *force;
    drape_iteration *history;
    int32_t history_count;
    double unit_natural, unit_residual; /* norms of b^ */
};

/* ---- Creating ---- */

static drape_status check_part(drape_context *ctx, const drape_petsc_part *p) {
    drape_status status = drape_i_check_reserved(ctx, "drape_petsc_part", p->reserved, 4);
    if (status) return status;
    if (p->own_count < 1 || p->own_count > p->vertices || !p->own || !p->number)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "petsc: a part of %d vertices, %d of them own ones",
                            p->vertices, p->own_count);
    for (int32_t i = 0; i < p->own_count; i++) {
        bool there = p->own[i] >= 0 && p->own[i] < p->vertices && (i == 0 || p->own[i] > p->own[i - 1]);
        if (!there || p->number[p->own[i]] != p->number[p->own[0]] + i)
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                                "petsc: own vertex %d of the part is out of order, or its number is", i);
    }
    return DRAPE_OK;
}

/* PETSc of 32-bit indices counts scalar rows. */
static drape_status check_size(drape_context *ctx, MPI_Comm comm, const drape_petsc_part *p) {
    int64_t mine = p->own_count, all;
    MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, comm);
    return drape_i_petsc_indices(ctx, "petsc", all);
}

static drape_status check_settings(drape_context *ctx, const drape_solve_settings *s) {
    if (s->stop == DRAPE_STOP_ENERGY)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "petsc: stopping by the energy is not there; use another norm");
    if (s->amg.modes == 6) return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "petsc: amg.modes 6 is not there; 3 is");
    return DRAPE_OK;
}

static drape_status allocate(drape_petsc_solver *s) {
    const int64_t n = s->part.vertices;
    if (DRAPE_NEW(s->ctx, s->own, s->part.own_count) && DRAPE_NEW(s->ctx, s->number, n) &&
        DRAPE_NEW(s->ctx, s->filter.S, 9 * n) && DRAPE_NEW(s->ctx, s->filter.z, 3 * n) &&
        DRAPE_NEW(s->ctx, s->filter.held, n) && DRAPE_NEW(s->ctx, s->force, 3 * n) &&
        DRAPE_NEW(s->ctx, s->history, s->settings.history))
        return DRAPE_OK;
    return DRAPE_ERROR_MEMORY;
}

static PetscErrorCode create_vectors(drape_petsc_solver *s) {
    IS from;
    char type[32] = "mg";
    PetscFunctionBeginUser;
    PetscCall(VecCreateMPI(s->comm, 3 * s->part.own_count, PETSC_DETERMINE, &s->y));
    PetscCall(VecSetBlockSize(s->y, 3));
    PetscCall(VecDuplicate(s->y, &s->b));
    PetscCall(VecDuplicate(s->y, &s->r));
    PetscCall(VecDuplicate(s->y, &s->z));
    PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 3, 3 * s->part.vertices, NULL, &s->local));
    PetscCall(ISCreateBlock(s->comm, 3, s->part.vertices, s->number, PETSC_COPY_VALUES, &from));
    PetscCall(VecScatterCreate(s->y, from, s->local, NULL, &s->to_copies));
    PetscCall(ISDestroy(&from));
    PetscCall(PetscOptionsGetString(NULL, NULL, "-pc_type", type, sizeof type, NULL));
    s->foreign = strcmp(type, "mg") != 0;
    PetscFunctionReturn(0);
}

static drape_status create(drape_petsc_solver *s, const drape_petsc_part *part) {
    drape_status status = drape_petsc_agree(s->ctx, s->comm, allocate(s));
    if (status) return status;
    memcpy(s->own, part->own, (size_t)part->own_count * sizeof *s->own);
    memcpy(s->number, part->number, (size_t)part->vertices * sizeof *s->number);
    s->part.own = s->own;
    s->part.number = s->number;
    s->mg = (drape_i_multigrid){.ctx = s->ctx, .comm = s->comm, .part = s->part, .settings = s->settings};
    s->mg.settings.amg.modes = 3;
    return drape_i_petsc_status(s->ctx, create_vectors(s));
}

drape_status drape_petsc_solver_create(drape_context *ctx, MPI_Comm comm, const drape_petsc_part *part,
                                       const drape_solve_settings *settings, drape_petsc_solver **out) {
    drape_petsc_solver *s = NULL;
    if (out) *out = NULL;
    if (!ctx || !part || !out) return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "petsc: part or out is NULL");
    drape_solve_settings given = settings ? *settings : drape_solve_defaults();
    const drape_solve_settings usual = drape_solve_defaults();
    if (given.tol == 0) given.tol = usual.tol;
    if (given.max_iterations == 0) given.max_iterations = usual.max_iterations;
    drape_status status = check_part(ctx, part);
    if (!status) status = check_settings(ctx, &given);
    if (!status && !DRAPE_NEW(ctx, s, 1)) status = DRAPE_ERROR_MEMORY;
    status = drape_petsc_agree(ctx, comm, status);
    if (!status) status = check_size(ctx, comm, part);
    if (!status) {
        s->ctx = ctx;
        s->comm = comm;
        s->part = *part;
        s->settings = given;
        status = create(s, part);
    }
    if (status) drape_petsc_solver_destroy(s);
    else *out = s;
    return status;
}

void drape_petsc_solver_forget(drape_petsc_solver *s) {
    if (!s) return;
    KSPDestroy(&s->ksp);
    drape_i_multigrid_free(&s->mg);
}

void drape_petsc_solver_destroy(drape_petsc_solver *s) {
    if (!s) return;
    const int64_t n = s->part.vertices;
    drape_petsc_solver_forget(s);
    MatDestroy(&s->A);
    drape_i_own_rows_free(&s->rows);
    VecDestroy(&s->b);
    VecDestroy(&s->y);
    VecDestroy(&s->r);
    VecDestroy(&s->z);
    VecDestroy(&s->local);
    VecScatterDestroy(&s->to_copies);
    DRAPE_FREE(s->ctx, s->own, s->part.own_count);
    DRAPE_FREE(s->ctx, s->number, n);
    DRAPE_FREE(s->ctx, s->filter.S, 9 * n);
    DRAPE_FREE(s->ctx, s->filter.z, 3 * n);
    DRAPE_FREE(s->ctx, s->filter.held, n);
    DRAPE_FREE(s->ctx, s->force, 3 * n);
    DRAPE_FREE(s->ctx, s->history, s->settings.history);
    DRAPE_FREE(s->ctx, s, 1);
}

int32_t drape_petsc_solver_levels(const drape_petsc_solver *s) { return s ? s->mg.levels : 0; }

int64_t drape_petsc_solver_level_rows(const drape_petsc_solver *s, int32_t level) {
    return s && level >= 0 && level < s->mg.levels ? s->mg.rows[level] : 0;
}

/* ---- The system ---- */

static void take_filter(drape_petsc_solver *s, const drape_constraints *set) {
    drape_i_filter *f = &s->filter;
    const int64_t n = s->part.vertices;
    if (set) {
        drape_constraints_filter(set, f->S, f->z);
    } else {
        memset(f->z, 0, 3 * (size_t)n * sizeof *f->z);
        for (int64_t k = 0; k < 9 * n; k++) f->S[k] = k % 9 % 4 == 0;
    }
    for (int64_t i = 0; i < n; i++) f->held[i] = !drape_i_is_identity(f->S + 9 * i);
}

/* A matrix of PETSc's own form for its own preconditioners, or one over the caller's arrays. */
static PetscErrorCode make_matrix(drape_petsc_solver *s, const drape_bsr3 *A) {
    PetscFunctionBeginUser;
    if (s->foreign) {
        if (!s->A) PetscCall(drape_i_matrix_create(s->comm, &s->part, A, &s->A));
        PetscCall(drape_i_matrix_fill(&s->part, A, &s->filter, s->A));
        PetscFunctionReturn(0);
    }
    s->rows.A = *A;
    if (!s->A) {
        PetscCall(drape_i_own_rows_connect(&s->rows));
        PetscCall(drape_i_own_rows_matrix(&s->rows, &s->A));
    }
    PetscCall(drape_i_own_rows_changed(s->A));
    PetscFunctionReturn(0);
}

static drape_status make_system(drape_petsc_solver *s, const drape_problem *problem) {
    drape_status status = DRAPE_OK;
    if (!s->A && !s->foreign)
        status = drape_petsc_agree(
            s->ctx, s->comm, drape_i_own_rows_finest(s->ctx, s->comm, &s->part, problem->A, &s->filter, &s->rows));
    if (!status) status = drape_i_petsc_status(s->ctx, make_matrix(s, problem->A));
    if (status) return status;
    return drape_i_petsc_status(s->ctx, drape_i_matrix_vectors(&s->part, problem, &s->filter, s->b, s->y));
}

/* ---- The preconditioner ---- */

static PetscErrorCode monitor(KSP ksp, PetscInt iteration, PetscReal norm, void *user) {
    drape_petsc_solver *s = user;
    Vec r;
    PetscReal residual;
    PetscFunctionBeginUser;
    if (iteration >= s->settings.history) PetscFunctionReturn(0);
    PetscCall(KSPBuildResidual(ksp, NULL, NULL, &r));
    PetscCall(VecNorm(r, NORM_2, &residual));
    PetscCall(VecDestroy(&r));
    s->history[iteration] = (drape_iteration){.preconditioned = norm, .residual = residual, .energy = -1};
    s->history_count = iteration + 1;
    PetscFunctionReturn(0);
}

static PetscErrorCode create_ksp(drape_petsc_solver *s) {
    PC pc;
    bool natural = s->settings.stop == DRAPE_STOP_PRECONDITIONED;
    PetscFunctionBeginUser;
    PetscCall(KSPDestroy(&s->ksp));
    PetscCall(KSPCreate(s->comm, &s->ksp));
    PetscCall(KSPSetType(s->ksp, KSPCG));
    PetscCall(KSPSetNormType(s->ksp, natural ? KSP_NORM_NATURAL : KSP_NORM_UNPRECONDITIONED));
    PetscCall(KSPSetInitialGuessNonzero(s->ksp, PETSC_TRUE));
    PetscCall(KSPSetOperators(s->ksp, s->A, s->A));
    PetscCall(KSPGetPC(s->ksp, &pc));
    if (!s->foreign) PetscCall(drape_i_multigrid_attach(&s->mg, pc));
    if (s->settings.history > 0) PetscCall(KSPMonitorSet(s->ksp, monitor, s, NULL));
    PetscCall(
        KSPSetTolerances(s->ksp, s->settings.tol, s->settings.floor, PETSC_DEFAULT, s->settings.max_iterations));
    PetscCall(KSPSetFromOptions(s->ksp));
    PetscFunctionReturn(0);
}

/* Keeps, refreshes or rebuilds what is there, by drape's own rule. */
static drape_status precondition(drape_petsc_solver *s, const drape_problem *problem) {
    drape_precond_work due = DRAPE_PRECOND_REFRESH;
    drape_status status = DRAPE_OK;
    PetscErrorCode code = 0;
    if (!s->foreign) status = drape_i_multigrid_due(&s->mg, problem, &s->filter, &due);
    if (problem->same_matrix && due == DRAPE_PRECOND_REFRESH) due = DRAPE_PRECOND_KEEP;
    if (!status && !s->foreign && due != DRAPE_PRECOND_KEEP)
        status = drape_i_multigrid_refresh(&s->mg, problem, &s->filter, due == DRAPE_PRECOND_REBUILD, &s->rows, s->A);
    if (status) return status;
    if (!s->ksp || due == DRAPE_PRECOND_REBUILD) code = create_ksp(s);
    if (!code) code = KSPSetReusePreconditioner(s->ksp, due == DRAPE_PRECOND_KEEP);
    if (!code) code = KSPSetOperators(s->ksp, s->A, s->A);
    if (!code) code = KSPSetUp(s->ksp);
    if (!code) code = KSPSetUpOnBlocks(s->ksp);
    return drape_i_petsc_status(s->ctx, code);
}

/* ---- Solving ---- */

static drape_reason reason_of(KSPConvergedReason reason) {
    if (reason > 0) return DRAPE_CONVERGED;
    switch (reason) {
    case KSP_DIVERGED_ITS: return DRAPE_ITERATION_LIMIT;
    case KSP_DIVERGED_INDEFINITE_MAT:
    case KSP_DIVERGED_INDEFINITE_PC: return DRAPE_INDEFINITE;
    case KSP_DIVERGED_BREAKDOWN:
    case KSP_DIVERGED_BREAKDOWN_BICG: return DRAPE_BREAKDOWN;
    case KSP_DIVERGED_NONSYMMETRIC: return DRAPE_UNSYMMETRIC;
    default: return DRAPE_NOT_FINITE;
    }
}

/* The norms of b^, for relative numbers. */
static PetscErrorCode measure_rhs(drape_petsc_solver *s) {
    PC pc;
    PetscScalar dot;
    PetscReal norm;
    PetscFunctionBeginUser;
    PetscCall(KSPGetPC(s->ksp, &pc));
    PetscCall(VecNorm(s->b, NORM_2, &norm));
    s->unit_residual = norm;
    PetscCall(PCApply(pc, s->b, s->z));
    PetscCall(VecDot(s->b, s->z, &dot));
    s->unit_natural = sqrt(fabs(PetscRealPart(dot)));
    PetscFunctionReturn(0);
}

static double ratio(double a, double unit) { return a == 0 ? 0 : unit > 0 ? a / unit : INFINITY; }

static PetscErrorCode measure_result(drape_petsc_solver *s, drape_solve_result *result) {
    PetscReal norm;
    PetscInt iterations;
    KSPConvergedReason reason;
    KSPType type;
    PCType kind;
    PC pc;
    PetscFunctionBeginUser;
    PetscCall(KSPGetIterationNumber(s->ksp, &iterations));
    PetscCall(KSPGetConvergedReason(s->ksp, &reason));
    PetscCall(KSPGetResidualNorm(s->ksp, &norm));
    PetscCall(KSPGetType(s->ksp, &type));
    PetscCall(KSPGetPC(s->ksp, &pc));
    PetscCall(PCGetType(pc, &kind));
    result->reason = reason_of(reason);
    result->iterations = iterations;
    result->residual =
        ratio(norm, s->settings.stop == DRAPE_STOP_PRECONDITIONED ? s->unit_natural : s->unit_residual);
    result->method = type;
    result->precond = s->foreign ? kind : "amg";
    result->modes = s->foreign ? 0 : 3;
    PetscCall(MatMult(s->A, s->y, s->r));
    PetscCall(VecAYPX(s->r, -1, s->b));
    PetscCall(VecNorm(s->r, NORM_2, &norm));
    result->true_residual = ratio(norm, s->unit_residual);
    PetscFunctionReturn(0);
}

static void finish_history(drape_petsc_solver *s, drape_solve_result *result) {
    for (int32_t i = 0; i < s->history_count; i++) {
        drape_iteration *h = &s->history[i];
        h->preconditioned = ratio(h->preconditioned,
                                  s->settings.stop == DRAPE_STOP_PRECONDITIONED ? s->unit_natural : s->unit_residual);
        h->residual = ratio(h->residual, s->unit_residual);
    }
    result->history = s->history;
    result->history_count = s->history_count;
}

/* x = y + (I-S) z, of own vertices and copies */
static PetscErrorCode take_solution(drape_petsc_solver *s, double *x) {
    PetscFunctionBeginUser;
    PetscCall(VecPlaceArray(s->local, x));
    PetscCall(VecScatterBegin(s->to_copies, s->y, s->local, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(s->to_copies, s->y, s->local, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecResetArray(s->local));
    for (int64_t i = 0; i < s->part.vertices; i++) {
        const double *S = s->filter.S + 9 * i, *z = s->filter.z + 3 * i;
        double *at = x + 3 * i, kept[3];
        if (!s->filter.held[i]) continue;
        drape_i_filter_vector(S, at, at);
        drape_i_filter_vector(S, z, kept);
        for (int32_t k = 0; k < 3; k++) at[k] += z[k] - kept[k];
    }
    PetscFunctionReturn(0);
}

/* (I-S) (A x - b) of the own vertices */
static void find_force(drape_petsc_solver *s, const drape_problem *problem, const double *x) {
    const drape_bsr3 *A = problem->A;
    memset(s->force, 0, 3 * (size_t)s->part.vertices * sizeof *s->force);
    for (int32_t i = 0; i < s->part.own_count; i++) {
        const int64_t row = s->own[i];
        const double *S = s->filter.S + 9 * row;
        double f[3] = {-problem->b[3 * row], -problem->b[3 * row + 1], -problem->b[3 * row + 2]}, free[3];
        if (!s->filter.held[row]) continue;
        for (int64_t k = A->rowptr[row]; k < A->rowptr[row + 1]; k++)
            for (int32_t m = 0; m < 9; m++) f[m / 3] += A->val[9 * k + m] * x[3 * (int64_t)A->col[k] + m % 3];
        drape_i_filter_vector(S, f, free);
        for (int32_t k = 0; k < 3; k++) s->force[3 * row + k] = f[k] - free[k];
    }
}

static int64_t bytes_of(const drape_petsc_solver *s) {
    drape_amg_level level;
    int64_t bytes = 0;
    for (int32_t i = 0; i < drape_precond_levels(s->mg.precond); i++)
        if (!drape_precond_level(s->mg.precond, i, &level)) bytes += level.bytes;
    return bytes;
}

static PetscErrorCode iterate(drape_petsc_solver *s, const drape_problem *problem, double *x,
                              drape_solve_result *result) {
    PetscFunctionBeginUser;
    s->history_count = 0;
    PetscCall(KSPSetTolerances(s->ksp, problem->tol > 0 ? problem->tol : PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT,
                               PETSC_DEFAULT));
    PetscCall(measure_rhs(s));
    double began = MPI_Wtime();
    PetscCall(KSPSolve(s->ksp, s->b, s->y));
    result->solve_seconds = MPI_Wtime() - began;
    PetscCall(measure_result(s, result));
    PetscCall(take_solution(s, x));
    PetscFunctionReturn(0);
}

static drape_status check_problem(drape_petsc_solver *s, const drape_problem *p, const double *x) {
    if (!p->A || !p->b || !x) return drape_i_fail(s->ctx, DRAPE_ERROR_ARGUMENT, "petsc: A, b or x is NULL");
    if (p->A->rows != s->part.vertices)
        return drape_i_fail(s->ctx, DRAPE_ERROR_ARGUMENT, "petsc: %d rows for a part of %d vertices", p->A->rows,
                            s->part.vertices);
    if (p->couplings.count > 0 || p->op || p->near_kernel)
        return drape_i_fail(s->ctx, DRAPE_ERROR_ARGUMENT,
                            "petsc: couplings, operators and vectors of the near-kernel are not supported");
    if (drape_constraints_coupled(p->constraints) > 0)
        return drape_i_fail(s->ctx, DRAPE_ERROR_ARGUMENT, "petsc: equalities between vertices are not supported");
    return DRAPE_OK;
}

drape_status drape_petsc_solver_solve(drape_petsc_solver *s, const drape_problem *problem, double *x,
                                      drape_solve_result *result) {
    drape_solve_result mine = {0};
    if (!s || !problem) return DRAPE_ERROR_ARGUMENT;
    drape_status status = drape_petsc_agree(s->ctx, s->comm, check_problem(s, problem, x));
    double began = MPI_Wtime();
    if (status) return status;
    take_filter(s, problem->constraints);
    status = make_system(s, problem);
    if (!status) status = precondition(s, problem);
    mine.setup_seconds = MPI_Wtime() - began;
    mine.energy_error = -1;
    if (!status) status = drape_i_petsc_status(s->ctx, iterate(s, problem, x, &mine));
    if (status) return status;
    if (mine.reason == DRAPE_CONVERGED) drape_precond_learn(s->mg.precond, mine.iterations);
    find_force(s, problem, x);
    finish_history(s, &mine);
    mine.constraint_force = s->force;
    mine.bytes = bytes_of(s);
    if (result) *result = mine;
    return DRAPE_OK;
}
