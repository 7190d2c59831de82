/* peers_eigen.c: see peers.h. Eigen's conjugate gradients with IncompleteCholesky in natural order, which beats its
 * default order here (bench/against_eigen.c has both, and the diagonal). Its only rule to stop is |r| <= tol |b|;
 * with ten times the tolerance it leaves about the energy error that the preconditioned residual leaves the others.
 * The factor and the sweeps are serial; threads share the products only, and on a busy machine wait for each other.
 */
#include "peers.h"

#ifdef BENCH_HAS_EIGEN
#include "eigen.h"

#include <stdlib.h>

static const char *const members[] = {"Eigen CG, ichol", NULL};
static const double LOOSER = 10;

typedef struct state {
    const peer_problem *problem;
    bench_eigen *alone, *together; /* NULL: has not run yet */
} state;

static void *create(const peer_problem *problem) {
    state *s = calloc(1, sizeof *s);
    if (!s) abort();
    s->problem = problem;
    return s;
}

static bool run(void *of, int32_t member, int32_t workers, double *x, peer_result *result) {
    state *s = of;
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

static void destroy(void *of) {
    state *s = of;
    if (s->alone) bench_eigen_destroy(s->alone);
    if (s->together) bench_eigen_destroy(s->together);
    free(s);
}

const peer_library bench_peers_eigen = {"Eigen", BENCH_EIGEN, members, "thread", "threads", create, run, destroy};
#else
const peer_library bench_peers_eigen = {.name = "Eigen (Debian: libeigen3-dev, g++)"};
#endif
