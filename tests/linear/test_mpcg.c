/* What is particular to MPCG and related methods. It is PCG on U'A U with P~^-1 = U'P^-1 U (Ascher and Boxerman 2003,
 * section 3). So are filtered CG and, with the preconditioner of the prefiltered matrix, PCG and PPCG. Also what the
 * older forms of MPCG compare with, and the direct form of Chen (2009, eq. 45). */
#include "support/dense.h"
#include "support/pairs.h"
#include "support/random_systems.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const CORRECTED = "mpcg", *const ORIGINAL = "mpcg-original", *const PRINTED = "mpcg-printed";

static double *numbers(int64_t count) {
    double *x = calloc((size_t)count + 1, sizeof *x);
    assert_non_null(x);
    return x;
}

static long double *long_numbers(int64_t count) {
    long double *x = calloc((size_t)count + 1, sizeof *x);
    assert_non_null(x);
    return x;
}

static drape_problem problem_of(const random_system *s, const double *guess) {
    return (drape_problem){.A = &s->A, .b = s->b, .constraints = s->set, .guess = guess};
}

static drape_solve_result solve(drape_context *ctx, const drape_problem *problem,
                                const drape_solve_settings *settings, double *x) {
    drape_solve_result result;
    ASSERT_OK(ctx, drape_solve(ctx, problem, settings, x, &result));
    return result;
}

static long double dot(int32_t n, const long double *a, const long double *b) {
    long double sum = 0;
    for (int32_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static void multiply(int32_t n, const long double *A, const long double *x, long double *y) {
    for (int32_t i = 0; i < n; i++) y[i] = dot(n, A + (int64_t)i * n, x);
}

/* v'M v */
static long double square(int32_t n, const long double *M, const long double *v) {
    long double *Mv = long_numbers(n);
    multiply(n, M, v, Mv);
    long double out = dot(n, v, Mv);
    free(Mv);
    return out;
}

/* ---- The preconditioners of one block per vertex are what they say ---- */

static const double *diagonal_block(const drape_bsr3 *A, int32_t i) {
    for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
        if (A->col[k] == i) return A->val + 9 * k;
    fail_msg("no diagonal block in row %d", i);
    return NULL;
}

/* S of a vertex from its free directions. */
static void filter_of(const random_basis *u, long double S[9]) {
    for (int k = 0; k < 9; k++) {
        S[k] = 0;
        for (int32_t a = 0; a < u->count; a++) S[k] += u->u[a][k / 3] * u->u[a][k % 3];
    }
}

static void multiply3(const long double *a, const long double *b, long double *out) {
    for (int k = 0; k < 9; k++) {
        out[k] = 0;
        for (int m = 0; m < 3; m++) out[k] += a[3 * (k / 3) + m] * b[3 * m + k % 3];
    }
}

/* P_i: of A_ii, or of S A_ii S + C (I-S) with C the mean of A_ii's diagonal; its diagonal, or one. */
static void block_of(const random_system *s, const char *precond, bool prefiltered, int32_t i, long double P[9]) {
    const double *a = diagonal_block(&s->A, i);
    long double S[9], SA[9], A[9], C = ((long double)fabs(a[0]) + fabs(a[4]) + fabs(a[8])) / 3;
    for (int k = 0; k < 9; k++) P[k] = A[k] = a[k];
    if (prefiltered) {
        filter_of(&s->basis[i], S);
        multiply3(S, A, SA);
        multiply3(SA, S, P);
        for (int k = 0; k < 9; k++) P[k] += C * ((k % 4 == 0) - S[k]);
    }
    for (int k = 0; k < 9; k++) {
        if (strcmp(precond, "none") == 0) P[k] = k % 4 == 0;
        if (strcmp(precond, "diagonal") == 0 && k % 4) P[k] = 0;
    }
}

/* u'P_i^-1 v */
static long double inverse_product(const long double P[9], const long double *u, const long double *v) {
    long double copy[9], w[3] = {v[0], v[1], v[2]};
    memcpy(copy, P, sizeof copy);
    long_double_solve(3, copy, w);
    return dot(3, u, w);
}

static void compare_blocks(const random_system *s, const char *precond, bool prefiltered, const long double *got) {
    for (int32_t i = 0; i < s->rows; i++) {
        const random_basis *u = &s->basis[i];
        long double P[9];
        block_of(s, precond, prefiltered, i, P);
        for (int32_t a = 0; a < u->count; a++)
            for (int32_t b = 0; b < u->count; b++) {
                long double want = inverse_product(P, u->u[a], u->u[b]);
                ASSERT_NEAR((double)got[(int64_t)(u->first + a) * s->free + u->first + b], (double)want, 1e-11);
            }
    }
}

static void blocks_are_right(void **state) {
    (void)state;
    static const char *const names[] = {"none", "diagonal", "block_diagonal"};
    drape_context *ctx = test_context(1);
    for (int32_t directions = 0; directions <= 3; directions++)
        for (int p = 0; p < 6; p++) {
            random_settings make = {10, 100, 0.5, directions, true, 0, (uint64_t)p};
            random_system s = random_system_create(ctx, &make);
            long double *got = random_reduced_precond(ctx, &s, names[p / 2], p % 2);
            compare_blocks(&s, names[p / 2], p % 2, got);
            free(got);
            random_system_destroy(&s);
        }
    drape_context_destroy(ctx);
}

/* Whatever goes with CG-like methods is symmetric and positive definite, filtered or not. */
static void check_definite(drape_context *ctx, const random_system *s, const char *precond, bool prefiltered) {
    int64_t n = s->free;
    double rounding = pair_is_single(&(drape_solve_settings){.precond = precond}) ? 1e-5 : 1e-13;
    long double *P = random_reduced_precond(ctx, s, precond, prefiltered), *zero = long_numbers(n), size = 0;
    for (int64_t i = 0; i < n * n; i++) size = fmaxl(size, fabsl(P[i]));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            ASSERT_NEAR((double)(P[i * n + j] - P[j * n + i]), 0, (double)size * rounding);
    long_double_solve((int32_t)n, P, zero); /* fails where it is not */
    free(P);
    free(zero);
}

static void preconditioners_are_definite(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    for (int32_t p = 0; drape_precond_name(p); p++)
        for (uint64_t seed = 1; seed <= 10; seed++) {
            if (!drape_method_takes(CORRECTED, drape_precond_name(p))) continue;
            random_settings make = {15, 1000, 0.4, RANDOM_DIRECTIONS, true, 0.1, seed};
            random_system s = random_system_create(ctx, &make);
            for (int prefiltered = 0; prefiltered < 2; prefiltered++)
                check_definite(ctx, &s, drape_precond_name(p), prefiltered);
            random_system_destroy(&s);
        }
    drape_context_destroy(ctx);
}

/* ---- The theorem ---- */

/* PCG on the reduced system, in long double. */
typedef struct reduced_pcg {
    int32_t n;
    long double *A, *P, *x, *r, *h, *p, *q; /* P is P~^-1 */
    long double delta;
} reduced_pcg;

/* A guess that is worse than zero becomes the combination of it and P^-1 b that is nearest in the energy norm. */
static void reduced_improve(reduced_pcg *c) {
    const long double xb = dot(c->n, c->x, c->r) + dot(c->n, c->x, c->q), xAx = dot(c->n, c->x, c->q);
    if (2 * xb - xAx >= 0) return;
    long double *b = long_numbers(c->n), *h = long_numbers(c->n), *Ah = long_numbers(c->n);
    for (int32_t i = 0; i < c->n; i++) b[i] = c->r[i] + c->q[i];
    multiply(c->n, c->P, b, h);
    multiply(c->n, c->A, h, Ah);
    const long double hb = dot(c->n, h, b), hAh = dot(c->n, h, Ah), xAh = dot(c->n, c->x, Ah);
    const long double all = xAx * hAh - xAh * xAh;
    const long double y = (xb * hAh - hb * xAh) / all, z = (hb * xAx - xb * xAh) / all;
    for (int32_t i = 0; i < c->n; i++) {
        c->x[i] = y * c->x[i] + z * h[i];
        c->r[i] = b[i] - y * c->q[i] - z * Ah[i];
    }
    free(b), free(h), free(Ah);
}

static void reduced_start(reduced_pcg *c, const random_system *s, long double *P, const double *guess, bool improve) {
    *c = (reduced_pcg){.n = s->free, .A = random_reduced_matrix(s), .P = P, .r = random_reduced_rhs(s)};
    long double **vectors[] = {&c->x, &c->h, &c->p, &c->q};
    for (int k = 0; k < 4; k++) *vectors[k] = long_numbers(c->n);
    random_reduce(s, guess, c->x);
    multiply(c->n, c->A, c->x, c->q);
    for (int32_t i = 0; i < c->n; i++) c->r[i] -= c->q[i];
    if (improve) reduced_improve(c);
    multiply(c->n, c->P, c->r, c->h);
    memcpy(c->p, c->h, (size_t)c->n * sizeof *c->p);
    c->delta = dot(c->n, c->r, c->h);
}

static void reduced_step(reduced_pcg *c) {
    multiply(c->n, c->A, c->p, c->q);
    long double alpha = c->delta / dot(c->n, c->p, c->q), before = c->delta;
    for (int32_t i = 0; i < c->n; i++) {
        c->x[i] += alpha * c->p[i];
        c->r[i] -= alpha * c->q[i];
    }
    multiply(c->n, c->P, c->r, c->h);
    c->delta = dot(c->n, c->r, c->h);
    for (int32_t i = 0; i < c->n; i++) c->p[i] = c->h[i] + c->delta / before * c->p[i];
}

static void reduced_free(reduced_pcg *c) {
    free(c->A);
    free(c->P);
    free(c->x);
    free(c->r);
    free(c->h);
    free(c->p);
    free(c->q);
}

static bool is_prefiltered(const char *method) { return strcmp(method, "pcg") == 0 || strcmp(method, "ppcg") == 0; }

/* Iterate k is where a solve of at most k iterations ends. A very good preconditioner may get there before the
 * tenth. */
static void compare_iterates(drape_context *ctx, const random_system *s, const drape_solve_settings *settings,
                             double condition) {
    enum { ITERATES = 10 };
    int64_t n = 3 * (int64_t)s->rows;
    double *guess = numbers(n), *x = numbers(n), *want = numbers(n);
    drape_solve_settings few = *settings;
    reduced_pcg pcg;
    test_random r = {5};
    few.tol = 1e-16;
    for (int64_t i = 0; i < n; i++) guess[i] = test_random_between(&r, -1, 1);
    reduced_start(&pcg, s, random_reduced_precond(ctx, s, few.precond, is_prefiltered(few.method)), guess,
                  pair_improves_guess(&few));
    for (few.max_iterations = 1; few.max_iterations <= ITERATES; few.max_iterations++) {
        drape_problem problem = problem_of(s, guess);
        drape_solve_result result = solve(ctx, &problem, &few, x);
        if (!pair_is_blockwise(&few) && result.reason == DRAPE_CONVERGED) break;
        reduced_step(&pcg);
        random_expand(s, pcg.x, want);
        PAIR_REASON(&few, result.reason, DRAPE_ITERATION_LIMIT);
        PAIR_TRUE(&few, result.iterations == few.max_iterations);
        double off = distance_of(n, x, want) / norm_of(n, want);
        if (!(off <= 1e-12))
            fail_msg("%s, %s, condition %g, %d free: iterate %d is off by %.3g", few.method, few.precond, condition,
                     s->free, few.max_iterations, off);
    }
    reduced_free(&pcg);
    free(guess);
    free(x);
    free(want);
}

/* Unlucky matrices exist, on which CG itself magnifies rounding within ten iterations, so the seeds are fixed. */
static void compare_cases(drape_context *ctx, const drape_solve_settings *settings) {
    static const double conditions[] = {3, 10, 30, 100};
    for (int c = 0; c < 4; c++)
        for (int32_t directions = RANDOM_DIRECTIONS; directions <= 3; directions++) {
            random_settings make = {40, conditions[c], 0.4, directions, true, 0, (uint64_t)(directions + 5 * c)};
            random_system s = random_system_create(ctx, &make);
            compare_iterates(ctx, &s, settings, conditions[c]);
            random_system_destroy(&s);
        }
}

static void iterates_are_those_of_reduced_pcg(void **state) {
    (void)state;
    static const char *const methods[] = {"mpcg", "filtered-cg", "pcg", "ppcg", "cg"};
    drape_context *ctx = test_context(1);
    for (int m = 0; m < 5; m++)
        for (int32_t p = 0; drape_precond_name(p); p++) {
            drape_solve_settings settings = drape_solve_defaults();
            settings.method = methods[m];
            settings.precond = drape_precond_name(p);
            if (drape_method_takes(methods[m], settings.precond) && !pair_is_single(&settings))
                compare_cases(ctx, &settings);
        }
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

static void filtered_cg_is_mpcg(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    for (int32_t p = 0; drape_precond_name(p); p++) {
        random_settings make = {40, 30, 0.4, RANDOM_DIRECTIONS, true, 0, 3};
        random_system s = random_system_create(ctx, &make);
        double x[120], y[120];
        drape_problem problem = problem_of(&s, NULL);
        drape_solve_settings a = drape_solve_defaults(), b;
        a.method = CORRECTED, a.precond = drape_precond_name(p), a.tol = 1e-12;
        for (a.max_iterations = 1; a.max_iterations <= 20; a.max_iterations++) {
            if (!drape_method_takes(CORRECTED, a.precond)) continue;
            b = a;
            b.method = "filtered-cg";
            drape_solve_result first = solve(ctx, &problem, &a, x), second = solve(ctx, &problem, &b, y);
            PAIR_TRUE(&b, first.iterations == second.iterations);
            PAIR_NEAR(&b, distance_of(120, x, y), 0, 1e-12 * norm_of(120, x));
        }
        random_system_destroy(&s);
    }
    drape_context_destroy(ctx);
}

/* ---- The older forms ---- */

/* (Sb)'P (Sb) of a blockwise P of A. */
static long double printed_norm(const random_system *s, const char *precond) {
    long double sum = 0;
    for (int32_t i = 0; i < s->rows; i++) {
        long double P[9], S[9], Sb[3], b[3] = {s->b[3 * i], s->b[3 * i + 1], s->b[3 * i + 2]};
        block_of(s, precond, false, i, P);
        filter_of(&s->basis[i], S);
        multiply(3, S, b, Sb);
        sum += square(3, P, Sb);
    }
    return sum;
}

/* What the residual is relative to: (Sb)'P^-1 (Sb), or printed (Sb)'P (Sb). */
static void check_norm(drape_context *ctx, const random_system *s, const drape_solve_settings *settings) {
    long double *P = random_reduced_precond(ctx, s, settings->precond, false), *full = long_numbers(3 * s->rows),
                *r = long_numbers(s->free), *Sb = long_numbers(s->free);
    double *x = numbers(3 * s->rows), *guess = numbers(3 * s->rows), *same = numbers(3 * s->rows);
    drape_problem problem = problem_of(s, NULL), guessed = problem_of(s, guess);
    drape_solve_result result = solve(ctx, &problem, settings, x);
    random_defect(s, x, full);
    for (int32_t i = 0; i < 3 * s->rows; i++) guess[i] = (double)full[i];
    random_reduce(s, guess, r);
    random_reduce(s, s->b, Sb);
    long double scale =
        strcmp(settings->method, PRINTED) == 0 ? printed_norm(s, settings->precond) : square(s->free, P, Sb);
    double want = (double)sqrtl(square(s->free, P, r) / scale);
    PAIR_NEAR(settings, result.residual, want, 1e-11 * want);
    solve(ctx, &guessed, settings, same); /* a guess is ignored */
    assert_memory_equal(x, same, 3 * (size_t)s->rows * sizeof *x);
    free(P);
    free(full);
    free(r);
    free(Sb);
    free(x);
    free(guess);
    free(same);
}

static void norms_of_the_older_forms(void **state) {
    (void)state;
    static const char *const names[] = {"none", "diagonal", "block_diagonal"};
    drape_context *ctx = test_context(1);
    for (int k = 0; k < 6; k++)
        for (uint64_t seed = 1; seed <= 5; seed++) {
            random_settings make = {20, 100, 0.4, RANDOM_DIRECTIONS, true, 0, seed};
            random_system s = random_system_create(ctx, &make);
            drape_solve_settings few = drape_solve_defaults();
            few.method = k % 2 ? PRINTED : ORIGINAL, few.precond = names[k / 2], few.max_iterations = 4;
            few.tol = 1e-9;
            check_norm(ctx, &s, &few);
            random_system_destroy(&s);
        }
    drape_context_destroy(ctx);
}

static int32_t iterations_at_scale(drape_context *ctx, const drape_solve_settings *settings, double scale) {
    random_settings make = {40, 30, 0.3, RANDOM_DIRECTIONS, true, 0, 6};
    random_system s = random_system_create(ctx, &make);
    double x[120];
    drape_problem problem = problem_of(&s, NULL);
    for (int64_t k = 0; k < 9 * s.A.rowptr[s.rows]; k++) s.A.val[k] *= scale;
    for (int32_t i = 0; i < 120; i++) s.b[i] *= scale;
    drape_solve_result result = solve(ctx, &problem, settings, x);
    PAIR_REASON(settings, result.reason, DRAPE_CONVERGED);
    random_system_destroy(&s);
    return result.iterations;
}

/* (Sb)'P (Sb) grows with the third power of the unit of force, r'P^-1 r with the first. So the unit, which does not
 * matter to the corrected form (test_contract.c), makes the printed one quick or slow. */
static void printed_form_depends_on_units(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    for (int32_t p = 0; drape_precond_name(p); p++) {
        drape_solve_settings settings = drape_solve_defaults();
        settings.method = PRINTED, settings.precond = drape_precond_name(p);
        if (!drape_method_takes(PRINTED, settings.precond) || !pair_is_blockwise(&settings) || p == 0) continue;
        int32_t small = iterations_at_scale(ctx, &settings, 1e-3), large = iterations_at_scale(ctx, &settings, 1e3);
        int32_t middle = iterations_at_scale(ctx, &settings, 1);
        print_message("%s: %d, %d, %d iterations\n", settings.precond, small, middle, large);
        PAIR_TRUE(&settings, small > middle && middle > large);
    }
    drape_context_destroy(ctx);
}

/* ---- Chen's direct form ---- */

/* A step with masses m, stiffness K and damping D = 0.3 K. K in the system's matrix is replaced by A = M + h D + h^2
 * K, and b becomes h (f - h K v). K is kept dense. */
typedef struct cloth_step {
    double h, *K, *mass;
} cloth_step;

static cloth_step make_step(random_system *s, test_random *r) {
    int32_t n = 3 * s->rows;
    cloth_step t = {0.1, numbers((int64_t)n * n), numbers(s->rows)};
    double *v = numbers(n), *Kv = numbers(n);
    dense_from_bsr3(&s->A, t.K);
    for (int32_t i = 0; i < n; i++) v[i] = test_random_between(r, -1, 1);
    dense_multiply(n, n, 1, t.K, v, Kv);
    for (int32_t i = 0; i < n; i++) s->b[i] = t.h * (s->b[i] - t.h * Kv[i]);
    for (int64_t k = 0; k < 9 * s->A.rowptr[s->rows]; k++) s->A.val[k] *= 0.3 * t.h + t.h * t.h;
    for (int32_t i = 0; i < s->rows; i++) {
        double *block = (double *)diagonal_block(&s->A, i);
        t.mass[i] = test_random_between(r, 0.01, 1);
        for (int k = 0; k < 9; k += 4) block[k] += t.mass[i];
    }
    free(v);
    free(Kv);
    return t;
}

/* (I - h W df/dv - h^2 W df/dx) dv = h W (f + h df/dx v) + z with W = diag(S_i / m_i), or as printed diag(S_i). */
static void solve_45(const random_system *s, const cloth_step *t, bool printed, double *x) {
    int32_t n = 3 * s->rows;
    double *W = numbers((int64_t)n * n), *N = numbers((int64_t)n * n);
    for (int32_t i = 0; i < s->rows; i++) {
        long double S[9];
        filter_of(&s->basis[i], S);
        for (int k = 0; k < 9; k++)
            W[(3 * i + k / 3) * (int64_t)n + 3 * i + k % 3] = (double)S[k] / (printed ? 1 : t->mass[i]);
    }
    dense_multiply(n, n, n, W, t->K, N);
    for (int64_t i = 0; i < (int64_t)n * n; i++) N[i] = (0.3 * t->h + t->h * t->h) * N[i] + (i % (n + 1) == 0);
    dense_multiply(n, n, 1, W, s->b, x);
    for (int32_t i = 0; i < n; i++) x[i] += (double)s->fixed[i];
    assert_true(dense_solve(n, N, 1, x));
    free(W);
    free(N);
}

static void direct_form_agrees(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    for (int32_t directions = RANDOM_DIRECTIONS; directions <= 3; directions++)
        for (uint64_t seed = 1; seed <= 4; seed++) {
            random_settings make = {25, 1000, 0.4, directions, seed % 2, 0, seed};
            random_system s = random_system_create(ctx, &make);
            test_random r = {seed};
            cloth_step t = make_step(&s, &r);
            double x[75], want[75], wrong[75];
            drape_solve_settings settings = {.method = CORRECTED, .tol = 1e-14, .max_iterations = 1000};
            drape_problem problem = problem_of(&s, NULL);
            drape_solve_result result = solve(ctx, &problem, &settings, x);
            solve_45(&s, &t, false, want);
            solve_45(&s, &t, true, wrong);
            assert_int_equal(result.reason, DRAPE_CONVERGED);
            ASSERT_NEAR(distance_of(75, x, want), 0, 1e-10 * norm_of(75, want));
            assert_true(distance_of(75, wrong, want) > 1e-2 * norm_of(75, want));
            free(t.K);
            free(t.mass);
            random_system_destroy(&s);
        }
    drape_context_destroy(ctx);
}

/* ---- Why one corrects it ---- */

/* One step of a sequence: A and b change slowly, the held vertices move to and fro. */
static void change(drape_context *ctx, random_system *s, int32_t step) {
    double t = 0.05 * step;
    for (int32_t i = 0; i < 3 * s->rows; i++) s->b[i] += 0.02 * sin(t + i);
    for (int32_t i = 0; i < s->rows; i++)
        for (int64_t k = s->A.rowptr[i]; k < s->A.rowptr[i + 1]; k++)
            if (s->A.col[k] == i)
                for (int r = 0; r < 3; r++) s->A.val[9 * k + 4 * r] += 1e-4 * (1 + sin(t + i));
    for (int32_t k = 0; k < s->held; k++)
        for (int c = 0; c < 3; c++) s->list[k].z[c] = cos(t + k) * (c + 1);
    random_system_hold(ctx, s);
}

static int64_t iterations_of_sequence(drape_context *ctx, const drape_solve_settings *settings, uint64_t seed) {
    enum { STEPS = 20 };
    random_settings make = {40, 1000, 0.1, 1, true, 0, seed};
    random_system s = random_system_create(ctx, &make);
    double x[120] = {0};
    int64_t total = 0;
    for (int32_t step = 0; step < STEPS; step++) {
        change(ctx, &s, step);
        drape_problem problem = problem_of(&s, x);
        drape_solve_result result = solve(ctx, &problem, settings, x);
        assert_int_equal(result.reason, DRAPE_CONVERGED);
        total += result.iterations;
    }
    random_system_destroy(&s);
    return total;
}

static void corrected_form_is_quicker_in_sequences(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    for (int32_t p = 0; drape_precond_name(p); p++)
        for (uint64_t seed = 1; seed <= 4 && drape_method_takes(CORRECTED, drape_precond_name(p)); seed++) {
            drape_solve_settings corrected = {.method = CORRECTED,
                                              .precond = drape_precond_name(p),
                                              .tol = 1e-2,
                                              .max_iterations = 10000},
                                 original = corrected;
            original.method = ORIGINAL;
            int64_t few = iterations_of_sequence(ctx, &corrected, seed);
            int64_t many = iterations_of_sequence(ctx, &original, seed);
            print_message("%s: %lld iterations corrected, %lld original\n", drape_precond_name(p), (long long)few,
                          (long long)many);
            PAIR_TRUE(&corrected, few < many || (few == many && !pair_is_blockwise(&corrected)));
        }
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_right),
        cmocka_unit_test(preconditioners_are_definite),
        cmocka_unit_test(iterates_are_those_of_reduced_pcg),
        cmocka_unit_test(filtered_cg_is_mpcg),
        cmocka_unit_test(norms_of_the_older_forms),
        cmocka_unit_test(printed_form_depends_on_units),
        cmocka_unit_test(direct_form_agrees),
        cmocka_unit_test(corrected_form_is_quicker_in_sequences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
