/* against_eigen.c: our PPCG and Eigen's conjugate gradients on the same prefiltered system, from zero to the same
 * 2-norm of the residual, which is computed afresh for both. Times are of the set-up with values and the solve; what
 * either makes of the pattern alone is left out, and so is Eigen's copy of the matrix. We get two threads; Eigen gets
 * two and one, and the faster counts: on a busy machine OpenMP's threads mostly wait for each other. */
#include "bench.h"
#include "eigen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef BENCH_HAS_EIGEN

enum { EIGEN_REPEATS = 7, FEWEST = 3, PATIENCE = 60 /* s */ };

/* One that solves: ours or Eigen's. */
typedef struct rival {
    const char *name;
    const char *precond;   /* ours */
    bench_eigen_kind kind; /* theirs */
    int32_t threads;       /* theirs */
    drape_solver *solver;  /* one of these two */
    bench_eigen *eigen;
    double seconds[EIGEN_REPEATS], setup, residual;
    int32_t iterations;
    int converged;
} rival;

/* The prefiltered system, and where to put its solution. */
typedef struct arena {
    bench_system *system;
    drape_bsr3 A;
    double *rhs, *x, *Ax, tol;
} arena;

static void enter(arena *a, rival *r) {
    if (!r->precond) {
        r->eigen = bench_eigen_create(&a->A, r->kind, r->threads);
        return;
    }
    drape_solve_settings settings = drape_solve_defaults();
    settings.precond = r->precond;
    settings.stop = DRAPE_STOP_RESIDUAL;
    settings.tol = a->tol;
    settings.max_iterations = 100000;
    bench_check(a->system->ctx, drape_solver_create(a->system->ctx, &settings, &r->solver));
}

/* |b^ - A^ x| / |b^| of the prefiltered system. Our x is that system's too: where vertices are held both are zero. */
static double residual_of(arena *a) {
    double rr = 0, bb = 0;
    bench_check(a->system->ctx, drape_multiply(a->system->ctx, &a->A, a->x, a->Ax));
    for (int64_t i = 0; i < 3 * (int64_t)a->A.rows; i++) {
        rr += (a->rhs[i] - a->Ax[i]) * (a->rhs[i] - a->Ax[i]);
        bb += a->rhs[i] * a->rhs[i];
    }
    return sqrt(rr / bb);
}

static void solve_ours(arena *a, rival *r) {
    drape_solve_result result;
    bench_check(a->system->ctx, drape_solver_solve(r->solver, &a->system->problem, a->x, &result));
    r->iterations = result.iterations;
    r->setup = result.setup_seconds;
    r->converged = result.reason == DRAPE_CONVERGED;
}

static void solve_theirs(arena *a, rival *r) {
    bench_eigen_result result;
    r->converged = bench_eigen_solve(r->eigen, a->rhs, a->tol, a->x, &result);
    r->iterations = result.iterations;
    r->setup = result.setup_seconds;
}

static void compete(arena *a, rival *r, int repeat) {
    bench_rest();
    double begin = bench_seconds();
    if (r->precond) solve_ours(a, r);
    else solve_theirs(a, r);
    r->seconds[repeat] = bench_seconds() - begin;
    r->residual = residual_of(a);
}

static void print_rival(rival *r, int repeats) {
    double median = bench_median(r->seconds, repeats);
    bench_row();
    bench_text("solver", "  %-48s", r->name);
    bench_count("iterations", " %10d", r->iterations);
    bench_number("set-up", "ms", " %9.1f", 1e3 * r->setup);
    bench_number("in all", "ms", " %9.1f", 1e3 * median);
    bench_number("in all, least", "ms", " %9.1f", 1e3 * r->seconds[0]);
    bench_number("true residual", "", " %14.2e", r->residual);
    bench_text("remark", "  %s", r->converged ? "" : "did not converge");
    bench_end("\n");
}

static double median_of(const rival *r, int repeats) {
    double sorted[EIGEN_REPEATS];
    memcpy(sorted, r->seconds, sizeof sorted);
    return bench_median(sorted, repeats);
}

/* Against the faster of two of theirs. */
static void claim(const char *what, const rival *ours, const rival theirs[2], int repeats, double required) {
    double medians = fmin(median_of(&theirs[0], repeats), median_of(&theirs[1], repeats));
    double minima = fmin(theirs[0].seconds[0], theirs[1].seconds[0]);
    bench_claim(what, medians / median_of(ours, repeats), minima / ours->seconds[0], 1, required);
}

static arena make_arena(bench_system *s, double tol) {
    int64_t n = bench_system_length(s);
    arena a = {s, s->A, bench_vector(n), bench_vector(n), bench_vector(n), tol};
    a.A.val = bench_vector(9 * s->A.rowptr[s->A.rows]);
    bench_check(s->ctx, drape_prefilter(s->ctx, &s->problem, a.A.val, a.rhs));
    return a;
}

enum { OURS, CG, CG_ALONE, OUR_ICHOL, ICHOL, ICHOL_ALONE, NATURAL, NATURAL_ALONE, RIVALS };

static void print_results(rival *rivals, int count, int repeats) {
    bench_table("against Eigen");
    printf("  %-48s %10s %9s %9s %9s %14s\n", "to the same residual", "iterations", "set-up ms", "in all ms", "least",
           "true residual");
    for (int i = 0; i < count; i++) print_rival(&rivals[i], repeats);
    claim("Eigen CG / ppcg", &rivals[OURS], &rivals[CG], repeats, 1.5);
    if (count < RIVALS) return;
    claim("Eigen IncompleteCholesky / ppcg ichol", &rivals[OUR_ICHOL], &rivals[ICHOL], repeats, 3);
    claim("Eigen IncompleteCholesky, natural / ppcg ichol", &rivals[OUR_ICHOL], &rivals[NATURAL], repeats, 3);
    claim("Eigen IncompleteCholesky, natural / ppcg", &rivals[OURS], &rivals[NATURAL], repeats, 3);
}

static void leave(rival *r) {
    drape_solver_destroy(r->solver);
    if (r->eigen) bench_eigen_destroy(r->eigen);
}

void bench_against_eigen(bench_system *s, double tol, int ichol) {
    rival rivals[RIVALS] = {
        [OURS] = {.name = "drape ppcg, block_diagonal", .precond = "block_diagonal"},
        [CG] = {.name = "Eigen CG, diagonal", .kind = BENCH_EIGEN_DIAGONAL, .threads = 2},
        [CG_ALONE] = {.name = "the same, one thread", .kind = BENCH_EIGEN_DIAGONAL, .threads = 1},
        [OUR_ICHOL] = {.name = "drape ppcg, ichol", .precond = "ichol"},
        [ICHOL] = {.name = "Eigen CG, IncompleteCholesky", .kind = BENCH_EIGEN_ICHOL, .threads = 2},
        [ICHOL_ALONE] = {.name = "the same, one thread", .kind = BENCH_EIGEN_ICHOL, .threads = 1},
        [NATURAL] = {.name = "Eigen CG, IncompleteCholesky, natural order",
                     .kind = BENCH_EIGEN_ICHOL_NATURAL,
                     .threads = 2},
        [NATURAL_ALONE] = {.name = "the same, one thread", .kind = BENCH_EIGEN_ICHOL_NATURAL, .threads = 1}};
    int count = ichol ? RIVALS : OUR_ICHOL, repeats = 0;
    double begin = bench_seconds();
    arena a = make_arena(s, tol);
    for (int i = 0; i < count; i++) {
        enter(&a, &rivals[i]);
        compete(&a, &rivals[i], 0); /* not counted: the first one allocates */
    }
    for (; repeats < EIGEN_REPEATS && (repeats < FEWEST || bench_seconds() - begin < PATIENCE); repeats++)
        for (int i = 0; i < count; i++) compete(&a, &rivals[i], repeats);
    print_results(rivals, count, repeats);
    for (int i = 0; i < count; i++) leave(&rivals[i]);
    free(a.A.val), free(a.rhs), free(a.x), free(a.Ax);
}

#else

void bench_against_eigen(bench_system *s, double tol, int ichol) {
    (void)s, (void)tol, (void)ichol;
    printf("  Eigen was not there when this was built: nothing to compare with\n");
}

#endif
