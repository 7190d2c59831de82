/* peers_linked.c: see peers.h. The libraries that are linked into this program: drape itself, CHOLMOD and Eigen.
 * PETSc, which runs in a program of its own, is in peers_petsc.c. */
#include "peers.h"

#include <stdlib.h>

/* ---- drape: its own multigrid, a new solver every time: its memory is part of the time ---- */

static const char *const drape_members[] = {"drape amg", "drape amg, 6 modes", NULL};
static const char *const drape_steppers[] = {"drape amg", "drape amg, 6 modes", "drape auto", NULL};
enum { DRAPE_MEMBERS = 3, DRAPE_AUTO = 2 };
static const int32_t drape_modes[DRAPE_MEMBERS] = {0 /* the default */, 6, 0};

typedef struct drape_state {
    const peer_problem *problem;
    drape_solver *kept[DRAPE_MEMBERS];
} drape_state;

static void *drape_create(const peer_problem *problem) {
    drape_state *s = calloc(1, sizeof *s);
    if (!s) abort();
    s->problem = problem;
    return s;
}

static void drape_make(const peer_problem *p, int32_t member, drape_solver **solver) {
    drape_solve_settings settings = drape_solve_defaults();
    if (member != DRAPE_AUTO) settings.precond = "amg";
    settings.amg.modes = drape_modes[member];
    settings.tol = p->tol;
    bench_check(p->system->ctx, drape_solver_create(p->system->ctx, &settings, solver));
}

/* In a solver that is made if there is none. */
static bool drape_solve_in(const peer_problem *p, int32_t member, drape_solver **solver, double *x,
                           peer_result *result) {
    drape_solve_result found;
    double begin = bench_work_seconds(p->threads);
    if (!*solver) drape_make(p, member, solver);
    bench_check(p->system->ctx, drape_solver_solve(*solver, &p->system->problem, x, &found));
    /* The solver's own clock is not that of the processor: its share of both parts is taken. */
    double all = bench_work_seconds(p->threads) - begin;
    result->setup = all * found.setup_seconds / (found.setup_seconds + found.solve_seconds);
    result->solve = all - result->setup;
    result->iterations = found.iterations;
    result->converged = found.reason == DRAPE_CONVERGED;
    return true;
}

static bool drape_run(void *of, int32_t member, int32_t workers, double *x, peer_result *result) {
    const drape_state *s = of;
    drape_solver *solver = NULL;
    (void)workers; /* the context has them */
    drape_solve_in(s->problem, member, &solver, x, result);
    drape_solver_destroy(solver);
    return true;
}

static bool drape_step(void *of, int32_t member, int32_t workers, int32_t number, double *x, peer_result *result) {
    drape_state *s = of;
    (void)workers;
    if (number == 0) {
        drape_solver_destroy(s->kept[member]);
        s->kept[member] = NULL;
    }
    return drape_solve_in(s->problem, member, &s->kept[member], x, result);
}

static void drape_destroy(void *of) {
    drape_state *s = of;
    for (int32_t i = 0; i < DRAPE_MEMBERS; i++) drape_solver_destroy(s->kept[i]);
    free(s);
}

const peer_library bench_peers_drape = {.name = "drape",
                                        .members = drape_members,
                                        .create = drape_create,
                                        .run = drape_run,
                                        .destroy = drape_destroy,
                                        .steppers = drape_steppers,
                                        .step = drape_step};

/* ---- CHOLMOD ----
 *
 * CHOLMOD by way of drape's method "direct", which hands it the prefiltered system in lower scalar columns. Its
 * factorisation lives on the BLAS: with Debian's reference BLAS it is several times slower than with OpenBLAS, which
 * scripts/setup --bench installs.
 *
 * "analysed before": ordering and symbolic factorisation were made by an earlier solve and are no part of the time.
 */

#ifdef DRAPE_HAS_CHOLMOD
#include "drape/cholmod.h"

static const char *const cholmod_members[] = {"CHOLMOD", "CHOLMOD, analysed before", NULL};
enum { AFRESH, ANALYSED };

typedef struct cholmod_state {
    const peer_problem *problem;
    drape_solver *kept;
} cholmod_state;

static drape_solver *make_direct(drape_context *ctx) {
    drape_solve_settings settings = drape_solve_defaults();
    drape_solver *solver;
    settings.method = "direct";
    settings.direct = drape_cholmod();
    bench_check(ctx, drape_solver_create(ctx, &settings, &solver));
    return solver;
}

static void *cholmod_create(const peer_problem *problem) {
    cholmod_state *s = calloc(1, sizeof *s);
    if (!s) abort();
    s->problem = problem;
    return s;
}

static void run_direct(const peer_problem *p, drape_solver *solver, double *x, peer_result *result) {
    drape_solve_result found;
    double begin = bench_work_seconds(p->threads);
    bench_check(p->system->ctx, drape_solver_solve(solver, &p->system->problem, x, &found));
    result->setup = found.setup_seconds;
    result->solve = bench_work_seconds(p->threads) - begin - result->setup;
    result->iterations = 0;
    result->converged = found.reason == DRAPE_CONVERGED;
}

static bool cholmod_run(void *of, int32_t member, int32_t workers, double *x, peer_result *result) {
    (void)workers; /* the BLAS has its own idea */
    cholmod_state *s = of;
    if (member == ANALYSED) {
        if (!s->kept) run_direct(s->problem, s->kept = make_direct(s->problem->system->ctx), x, result);
        run_direct(s->problem, s->kept, x, result);
        return true;
    }
    drape_solver *solver = make_direct(s->problem->system->ctx);
    run_direct(s->problem, solver, x, result);
    drape_solver_destroy(solver);
    return true;
}

static void cholmod_destroy(void *of) {
    cholmod_state *s = of;
    drape_solver_destroy(s->kept);
    free(s);
}

const peer_library bench_peers_cholmod = {.name = "CHOLMOD",
                                          .bit = BENCH_CHOLMOD,
                                          .members = cholmod_members,
                                          .create = cholmod_create,
                                          .run = cholmod_run,
                                          .destroy = cholmod_destroy};
#else
const peer_library bench_peers_cholmod = {.name = "CHOLMOD (Debian: libsuitesparse-dev)"};
#endif

/* ---- Eigen ----
 *
 * Eigen's conjugate gradients with IncompleteCholesky in natural order, which beats its
 * default order here (bench/against_eigen.c has both, and the diagonal). Its only rule to stop is |r| <= tol |b|;
 * with ten times the tolerance it leaves about the energy error that the preconditioned residual leaves the others.
 * The factor and the sweeps are serial; threads share the products only, and on a busy machine wait for each other.
 */

#ifdef BENCH_HAS_EIGEN
#include "eigen.h"

static const char *const eigen_members[] = {"Eigen CG, ichol", NULL};
static const double LOOSER = 10;

typedef struct eigen_state {
    const peer_problem *problem;
    bench_eigen *alone, *together; /* NULL: has not eigen_run yet */
} eigen_state;

static void *eigen_create(const peer_problem *problem) {
    eigen_state *s = calloc(1, sizeof *s);
    if (!s) abort();
    s->problem = problem;
    return s;
}

static bool eigen_run(void *of, int32_t member, int32_t workers, double *x, peer_result *result) {
    eigen_state *s = of;
    const peer_problem *p = s->problem;
    bench_eigen_result found;
    (void)member; /* there is one */
    bench_eigen **solver = workers > 1 ? &s->together : &s->alone;
    if (!*solver) *solver = bench_eigen_create(&p->A, BENCH_EIGEN_ICHOL_NATURAL, workers);
    result->converged = bench_eigen_solve(*solver, p->rhs, LOOSER * p->tol, x, &found);
    result->setup = found.setup_seconds;
    result->solve = found.solve_seconds;
    result->iterations = found.iterations;
    return true;
}

static void eigen_destroy(void *of) {
    eigen_state *s = of;
    if (s->alone) bench_eigen_destroy(s->alone);
    if (s->together) bench_eigen_destroy(s->together);
    free(s);
}

const peer_library bench_peers_eigen = {.name = "Eigen",
                                        .bit = BENCH_EIGEN,
                                        .members = eigen_members,
                                        .worker = "thread",
                                        .workers = "threads",
                                        .create = eigen_create,
                                        .run = eigen_run,
                                        .destroy = eigen_destroy};
#else
const peer_library bench_peers_eigen = {.name = "Eigen (Debian: libeigen3-dev, g++)"};
#endif
