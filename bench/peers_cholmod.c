/* peers_cholmod.c: see peers.h. CHOLMOD by way of drape's method "direct", which hands it the prefiltered system in
 * lower scalar columns. Its factorisation lives on the BLAS: with Debian's reference BLAS it is several times slower
 * than with OpenBLAS, which scripts/setup --bench installs.
 *
 * "analysed before": ordering and symbolic factorisation were made by an earlier solve and are no part of the time.
 */
#include "peers.h"

#ifdef DRAPE_HAS_CHOLMOD
#include "drape/cholmod.h"

#include <stdlib.h>

static const char *const members[] = {"CHOLMOD", "CHOLMOD, analysed before", NULL};
enum { AFRESH, ANALYSED };

typedef struct state {
    const peer_problem *problem;
    drape_solver *kept;
} state;

static drape_solver *make_solver(drape_context *ctx) {
    drape_solve_settings settings = drape_solve_defaults();
    drape_solver *solver;
    settings.method = "direct";
    settings.direct = drape_cholmod();
    bench_check(ctx, drape_solver_create(ctx, &settings, &solver));
    return solver;
}

static void *create(const peer_problem *problem) {
    state *s = calloc(1, sizeof *s);
    if (!s) abort();
    s->problem = problem;
    return s;
}

static void run_with(const peer_problem *p, drape_solver *solver, double *x, peer_result *result) {
    drape_solve_result found;
    double begin = bench_seconds();
    bench_check(p->system->ctx, drape_solver_solve(solver, &p->system->problem, x, &found));
    result->setup = found.setup_seconds;
    result->solve = bench_seconds() - begin - result->setup;
    result->iterations = 0;
    result->converged = found.reason == DRAPE_CONVERGED;
}

static bool run(void *of, int32_t member, int32_t workers, double *x, peer_result *result) {
    (void)workers; /* the BLAS has its own idea */
    state *s = of;
    if (member == ANALYSED) {
        if (!s->kept) run_with(s->problem, s->kept = make_solver(s->problem->system->ctx), x, result);
        run_with(s->problem, s->kept, x, result);
        return true;
    }
    drape_solver *solver = make_solver(s->problem->system->ctx);
    run_with(s->problem, solver, x, result);
    drape_solver_destroy(solver);
    return true;
}

static void destroy(void *of) {
    state *s = of;
    drape_solver_destroy(s->kept);
    free(s);
}

const peer_library bench_peers_cholmod = {"CHOLMOD", BENCH_CHOLMOD, members, NULL, NULL, create, run, destroy};
#else
const peer_library bench_peers_cholmod = {.name = "CHOLMOD (Debian: libsuitesparse-dev)"};
#endif
