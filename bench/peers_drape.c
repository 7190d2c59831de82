/* peers_drape.c: see peers.h. drape's own multigrid, a new solver every time: its memory is part of the time. */
#include "peers.h"

static const char *const members[] = {"drape amg", "drape amg, 6 modes", NULL};
static const int32_t modes[] = {0 /* the default */, 6};

static void *create(const peer_problem *problem) { return (void *)problem; }

static bool run(void *state, int32_t member, int32_t workers, double *x, peer_result *result) {
    (void)workers; /* the context has them */
    const peer_problem *p = state;
    drape_context *ctx = p->system->ctx;
    drape_solve_settings settings = drape_solve_defaults();
    drape_solve_result found;
    drape_solver *solver;
    settings.precond = "amg";
    settings.amg.modes = modes[member];
    settings.tol = p->tol;
    double begin = bench_seconds();
    bench_check(ctx, drape_solver_create(ctx, &settings, &solver));
    bench_check(ctx, drape_solver_solve(solver, &p->system->problem, x, &found));
    result->setup = found.setup_seconds;
    result->solve = bench_seconds() - begin - result->setup;
    result->iterations = found.iterations;
    result->converged = found.reason == DRAPE_CONVERGED;
    drape_solver_destroy(solver);
    return true;
}

static void destroy(void *state) { (void)state; }

const peer_library bench_peers_drape = {"drape", 0, members, NULL, NULL, create, run, destroy};
