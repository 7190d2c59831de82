/* Smoothed aggregation as a preconditioner: the cycle as an operator, iterations on cloth, bad matrices, and what is
 * kept from solve to solve. Its parts have tests of their own, test_amg_parts.c. */
#include "drape/io.h"
#include "linear/constraints.h"
#include "linear/precond.h"
#include "sparse/counting_allocator.h"
#include "support/cloth_systems.h"
#include "support/dense.h"
#include "support/random_systems.h"
#include "support/sheets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const drape_i_precond drape_i_precond_amg;

static double *numbers(int64_t count) {
    double *x = calloc((size_t)count + 1, sizeof *x);
    assert_non_null(x);
    return x;
}

static double dot(int64_t n, const double *x, const double *y) {
    long double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (long double)x[i] * y[i];
    return (double)sum;
}

static drape_solve_settings settings_of(const char *precond, int32_t modes) {
    drape_solve_settings s = drape_solve_defaults();
    s.precond = precond;
    s.stop = DRAPE_STOP_RESIDUAL;
    s.amg.modes = modes;
    return s;
}

/* ---- Systems of a simulation ---- */

static drape_problem problem_of(const cloth *c, bool positions) {
    return (drape_problem){
        .A = &c->system.A, .b = c->system.b, .constraints = c->set, .positions = positions ? c->system.cur : NULL};
}

/* The systems of so many steps in a row, after some others. */
static void clothes_from(drape_context *ctx, const char *name, const drape_scene_options *options, int32_t before,
                         int32_t count, cloth *out) {
    drape_loaded_scene *loaded;
    ASSERT_OK(ctx, drape_scene_load(ctx, name, options, &loaded));
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    clothes_of(ctx, scene, before, count, out);
    drape_loaded_scene_destroy(loaded);
}

static cloth cloth_at(drape_context *ctx, const char *name, int32_t resolution, const char *set) {
    cloth c;
    drape_scene_options options = {.resolution = resolution, .set = &set, .set_count = set ? 1 : 0};
    clothes_from(ctx, name, &options, 2, 1, &c);
    return c;
}

/* ---- The cycle ---- */

typedef struct cycle_op {
    drape_context *ctx;
    const drape_problem *problem;
    void *state;
    int64_t n;
} cycle_op;

static cycle_op operator_of(drape_context *ctx, const drape_problem *problem, int32_t modes) {
    cycle_op M = {ctx, problem, NULL, 3 * (int64_t)problem->A->rows};
    drape_solve_settings settings = settings_of("amg", modes);
    double shift = 0;
    ASSERT_OK(ctx, drape_i_precond_amg.create(ctx, problem->A, &settings, &M.state));
    ASSERT_OK(ctx, drape_i_precond_amg.refresh(ctx, M.state, problem, problem->constraints, NULL, &shift));
    return M;
}

/* A random vector of free directions. */
static double *random_free(const cycle_op *M, test_random *r) {
    double *v = numbers(M->n);
    for (int64_t i = 0; i < M->n; i++) v[i] = test_random_between(r, -1, 1);
    drape_i_filter(M->problem->constraints, v);
    return v;
}

static void check_symmetric(const cycle_op *M) {
    test_random r = {3};
    double worst = 0;
    for (int k = 0; k < 4; k++) {
        double *u = random_free(M, &r), *v = random_free(M, &r), *Mu = numbers(M->n), *Mv = numbers(M->n);
        double uu = drape_i_precond_amg.apply(M->ctx, M->state, u, Mu);
        double vv = drape_i_precond_amg.apply(M->ctx, M->state, v, Mv);
        assert_true(uu > 0 && vv > 0);
        ASSERT_NEAR(uu, dot(M->n, u, Mu), 1e-12 * uu);
        worst = fmax(worst, fabs(dot(M->n, u, Mv) - dot(M->n, v, Mu)) / sqrt(uu * vv));
        free(u), free(v), free(Mu), free(Mv);
    }
    if (worst > 1e-6) print_message("asymmetry %.1e\n", worst);
    assert_true(worst <= 1e-5);
}

typedef struct spectrum {
    double low, high;
} spectrum;

/* Extreme Ritz values of M A, from the coefficients of CG. */
static spectrum spectrum_of(const cycle_op *M) {
    enum { STEPS = 40 };
    test_random random = {8};
    double *r = random_free(M, &random), *p = numbers(M->n), *h = numbers(M->n), *Ap = numbers(M->n);
    double T[STEPS * STEPS] = {0}, values[STEPS], rho = 0, alpha = 1, start = 0;
    int32_t n = 0;
    for (; n < STEPS; n++) {
        double next = drape_i_precond_amg.apply(M->ctx, M->state, r, h), beta = n > 0 ? next / rho : 0;
        assert_true(next > 0);
        if (n == 0) start = next;
        if (next < 1e-14 * start) break;
        for (int64_t i = 0; i < M->n; i++) p[i] = h[i] + beta * p[i];
        ASSERT_OK(M->ctx, drape_multiply(M->ctx, M->problem->A, p, Ap));
        drape_i_filter(M->problem->constraints, Ap);
        double before = alpha;
        alpha = next / dot(M->n, p, Ap);
        T[n * STEPS + n] = 1 / alpha + beta / before;
        if (n > 0) T[n * STEPS + n - 1] = T[(n - 1) * STEPS + n] = sqrt(beta) / before;
        for (int64_t i = 0; i < M->n; i++) r[i] -= alpha * Ap[i];
        rho = next;
    }
    double *packed = dense_new((int64_t)n * n);
    for (int32_t i = 0; i < n * n; i++) packed[i] = T[i / n * STEPS + i % n];
    dense_eigen(n, packed, values, NULL);
    free(packed), free(r), free(p), free(h), free(Ap);
    return (spectrum){values[0], values[n - 1]};
}

static void check_cycle_op(drape_context *ctx, const char *name, const drape_problem *problem, int32_t modes) {
    cycle_op M = operator_of(ctx, problem, modes);
    check_symmetric(&M);
    spectrum s = spectrum_of(&M);
    print_message("%-24s %6d vertices, %d modes: M A within %.4f .. %.4f\n", name, problem->A->rows, modes, s.low,
                  s.high);
    assert_true(s.low > 0 && s.high < 1.01);
    drape_i_precond_amg.destroy(ctx, M.state);
}

static void cycle_is_symmetric_positive_definite(void **state) {
    drape_context *ctx = test_context(2);
    (void)state;
    for (int32_t directions = RANDOM_DIRECTIONS; directions <= 3; directions++) {
        random_settings want = {.condition = 1e4, .directions = directions, .seed = 11};
        want.rows = directions == 2 ? 3000 : 500 + 150 * directions;
        want.held = directions == 0 ? 0 : 0.2;
        random_system s = random_system_create(ctx, &want);
        char name[32];
        snprintf(name, sizeof name, "random, %d held", directions);
        check_cycle_op(ctx, name, &(drape_problem){.A = &s.A, .b = s.b, .constraints = s.set}, 3);
        random_system_destroy(&s);
    }
    const char *names[] = {"drooping", "reentrant", "flag"};
    for (int k = 0; k < 3; k++) {
        cloth c = cloth_at(ctx, names[k], 45, NULL);
        drape_problem problem = problem_of(&c, true);
        check_cycle_op(ctx, names[k], &problem, 3);
        check_cycle_op(ctx, names[k], &problem, 6);
        cloth_clear(ctx, &c);
    }
    sheet s = sheet_create(ctx, &(sheet_settings){.nx = 40, .ny = 50, .mass = 1e-4, .seed = 3});
    sheet_hold_some(ctx, &s, 0.05);
    drape_problem problem = {.A = &s.A, .b = s.b, .constraints = s.set, .positions = s.x};
    check_cycle_op(ctx, "sheet", &problem, 3);
    check_cycle_op(ctx, "sheet", &problem, 6);
    sheet_destroy(&s);
    drape_context_destroy(ctx);
}

/* ---- Iterations on cloth ---- */

static int32_t iterations_on(drape_context *ctx, const cloth *c, const char *precond, int32_t modes) {
    double *x = numbers(3 * (int64_t)c->system.A.rows);
    drape_problem problem = problem_of(c, modes == 6);
    drape_solve_settings settings = settings_of(precond, modes);
    drape_solve_result result;
    ASSERT_OK(ctx, drape_solve(ctx, &problem, &settings, x, &result));
    assert_int_equal(result.reason, DRAPE_CONVERGED);
    assert_true(result.true_residual <= 2 * settings.tol);
    free(x);
    return result.iterations;
}

static void few_iterations_at_any_size(void **state) {
    const char *names[] = {"drooping", "pinned", "reentrant", "four-corners", "flag"};
    const int32_t sizes[] = {33, 65, 129};
    const double growth[] = {2.1, 1.6}; /* from size to size, with three modes and with six */
    drape_context *ctx = test_context(2);
    (void)state;
    print_message("%-14s %6s  amg 3  amg 6  block_diagonal\n", "scene", "size");
    for (int k = 0; k < 5; k++)
        for (int m = 0, before[2] = {0}; m < 3; m++) {
            cloth c = cloth_at(ctx, names[k], sizes[m], NULL);
            int now[2] = {iterations_on(ctx, &c, "amg", 3), iterations_on(ctx, &c, "amg", 6)};
            int plain = iterations_on(ctx, &c, "block_diagonal", 3);
            print_message("%-14s %6d %6d %6d %15d\n", names[k], sizes[m], now[0], now[1], plain);
            for (int i = 0; i < 2; i++) {
                if (m > 0) assert_true(now[i] <= growth[i] * before[i] + 2);
                assert_true(2 * now[i] <= plain);
                before[i] = now[i];
            }
            cloth_clear(ctx, &c);
        }
    drape_context_destroy(ctx);
}

/* ---- Bad matrices ---- */

static void check_finite(int64_t n, const double *x) {
    for (int64_t i = 0; i < n; i++) assert_true(isfinite(x[i]));
}

static drape_solve_result try_problem(drape_context *ctx, const char *name, const drape_problem *problem,
                                      int32_t modes) {
    int64_t n = 3 * (int64_t)problem->A->rows;
    double *x = numbers(n);
    drape_solve_settings settings = settings_of("amg", modes), plain = settings_of("block_diagonal", 3);
    drape_solve_result result, other;
    settings.max_iterations = plain.max_iterations = 1500;
    ASSERT_OK(ctx, drape_solve(ctx, problem, &plain, x, &other));
    ASSERT_OK(ctx, drape_solve(ctx, problem, &settings, x, &result));
    print_message("%-34s %d modes: %-16s %4d, residual %.1e; block_diagonal: %-16s %4d\n", name, modes,
                  drape_reason_name(result.reason), result.iterations, result.true_residual,
                  drape_reason_name(other.reason), other.iterations);
    check_finite(n, x);
    if (result.reason == DRAPE_CONVERGED) assert_true(result.true_residual <= 10 * settings.tol);
    free(x);
    return result;
}

static void check_sheet(drape_context *ctx, const char *name, const sheet_settings *want, double held) {
    sheet s = sheet_create(ctx, want);
    if (held > 0) sheet_hold_some(ctx, &s, held);
    drape_problem problem = {.A = &s.A, .b = s.b, .constraints = s.set, .positions = s.x};
    assert_int_equal(try_problem(ctx, name, &problem, 3).reason, DRAPE_CONVERGED);
    assert_int_equal(try_problem(ctx, name, &problem, 6).reason, DRAPE_CONVERGED);
    sheet_destroy(&s);
}

static void bad_sheets_converge(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
#define SHEET(...) &(sheet_settings){.nx = 40, .ny = 40, .seed = 4, __VA_ARGS__}
    check_sheet(ctx, "aspect 100", SHEET(.mass = 1e-4, .aspect = 100), 0);
    check_sheet(ctx, "aspect 0.01, held", SHEET(.mass = 1e-4, .aspect = 0.01), 0.02);
    check_sheet(ctx, "contrast 1e6", SHEET(.mass = 1e-3, .contrast = 1e6), 0);
    check_sheet(ctx, "contrast 1e-6, held", SHEET(.mass = 1e-9, .contrast = 1e-6), 0.02);
    check_sheet(ctx, "mass only", SHEET(.mass = 1e8), 0);
    check_sheet(ctx, "isolated", SHEET(.mass = 1e-4, .isolated = 200), 0.02);
    check_sheet(ctx, "two sheets", SHEET(.mass = 1e-4, .two = true), 0);
    check_sheet(ctx, "far springs", SHEET(.mass = 1e-4, .springs = 300), 0);
    check_sheet(ctx, "hubs", SHEET(.mass = 1e-4, .springs = 800, .hubs = true), 0);
    check_sheet(ctx, "shuffled", SHEET(.mass = 1e-4, .shuffled = true), 0.02);
    check_sheet(ctx, "all held but few", SHEET(.mass = 1e-4), 0.97);
    check_sheet(ctx, "nearly singular", SHEET(.mass = 1e-8), 0);
    check_sheet(ctx, "flat, oblique", SHEET(.mass = 1e-5, .tension = 1e-5, .flat = true), 0);
    check_sheet(ctx, "flat, oblique, limp", SHEET(.mass = 1e-7, .tension = 1e-7, .flat = true), 0.02);
    drape_context_destroy(ctx);
}

/* Mass against stiffness from one end to the other, on cloth. */
static void any_time_step_converges(void **state) {
    const char *steps[] = {"time.step=1e-6 s", "time.step=0.1 ms", "time.step=20 ms", "time.step=0.2 s",
                           "time.step=5 s"};
    drape_context *ctx = test_context(1);
    (void)state;
    for (int k = 0; k < 5; k++) {
        cloth c = cloth_at(ctx, "pinned", 41, steps[k]);
        drape_problem problem = problem_of(&c, true);
        assert_int_equal(try_problem(ctx, steps[k], &problem, 3).reason, DRAPE_CONVERGED);
        assert_int_equal(try_problem(ctx, steps[k], &problem, 6).reason, DRAPE_CONVERGED);
        cloth_clear(ctx, &c);
    }
    drape_context_destroy(ctx);
}

/* All held in one, two or three directions. */
static void held_everywhere(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    for (int32_t directions = 1; directions <= 3; directions++) {
        sheet s = sheet_create(ctx, SHEET(.mass = 1e-4));
        sheet_hold_all(ctx, &s, directions);
        drape_problem problem = {.A = &s.A, .b = s.b, .constraints = s.set, .positions = s.x};
        assert_int_equal(try_problem(ctx, "all held", &problem, 3).reason, DRAPE_CONVERGED);
        assert_int_equal(try_problem(ctx, "all held", &problem, 6).reason, DRAPE_CONVERGED);
        sheet_destroy(&s);
    }
    drape_context_destroy(ctx);
}

/* Powers of two change no iteration, and x by that power. */
static void scale_does_not_matter(void **state) {
    drape_context *ctx = test_context(1);
    const int powers[] = {0, 200, -200, 400, -400};
    int32_t iterations = 0;
    (void)state;
    for (int k = 0; k < 5; k++) {
        sheet s = sheet_create(ctx, SHEET(.mass = 1e-4));
        sheet_hold_some(ctx, &s, 0.02);
        for (int64_t i = 0; i < 9 * s.A.rowptr[s.A.rows]; i++) s.A.val[i] = ldexp(s.A.val[i], powers[k]);
        drape_problem problem = {.A = &s.A, .b = s.b, .constraints = s.set, .positions = s.x};
        drape_solve_result result = try_problem(ctx, "scaled", &problem, 6);
        assert_int_equal(result.reason, DRAPE_CONVERGED);
        if (k == 0) iterations = result.iterations;
        assert_int_equal(result.iterations, iterations);
        sheet_destroy(&s);
    }
    drape_context_destroy(ctx);
}

/* What single precision cannot hold, whether it is the stiffness across a flat sheet or that of soft parts: perhaps
 * no answer, but never a number that is none. */
static void beyond_single_precision(void **state) {
    const double contrasts[] = {1e12, 1e25, 1e38, 1e50, 1e-12, 1e-38};
    drape_context *ctx = test_context(1);
    (void)state;
    for (int k = 0; k < 6; k++) {
        sheet s = sheet_create(ctx, SHEET(.mass = 1e-4 * fmin(contrasts[k], 1), .contrast = contrasts[k]));
        drape_problem problem = {.A = &s.A, .b = s.b, .constraints = s.set, .positions = s.x};
        char name[32];
        snprintf(name, sizeof name, "contrast %g", contrasts[k]);
        try_problem(ctx, name, &problem, 3);
        try_problem(ctx, name, &problem, 6);
        sheet_destroy(&s);
    }
    sheet s = sheet_create(ctx, SHEET(.mass = 1e-8, .tension = 1e-9, .flat = true));
    drape_problem problem = {.A = &s.A, .b = s.b, .constraints = s.set, .positions = s.x};
    try_problem(ctx, "flat, oblique, hardly across", &problem, 3);
    try_problem(ctx, "flat, oblique, hardly across", &problem, 6);
    sheet_destroy(&s);
    drape_context_destroy(ctx);
}

/* No answer, but a reason. */
static void wrong_matrices_get_a_reason(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    for (int kind = 0; kind < 5; kind++) {
        const char *names[] = {"negative", "zero", "one bad vertex", "infinite", "not a number"};
        sheet s = sheet_create(ctx, SHEET(.mass = 1e-2));
        int64_t count = 9 * s.A.rowptr[s.A.rows], middle = 9 * s.A.rowptr[700];
        for (int64_t i = 0; i < count && kind < 2; i++) s.A.val[i] *= kind == 0 ? -1 : 0;
        if (kind == 2) /* its diagonal block and all others of its row; not symmetric any more either */
            for (int64_t i = middle; i < 9 * s.A.rowptr[701]; i++) s.A.val[i] *= -1;
        if (kind == 3) s.A.val[middle] = INFINITY;
        if (kind == 4) s.A.val[middle] = NAN;
        drape_problem problem = {.A = &s.A, .b = s.b, .positions = s.x};
        double *x = numbers(3 * (int64_t)s.A.rows);
        for (int32_t modes = 3; modes <= 6; modes += 3) {
            drape_solve_settings settings = settings_of("amg", modes);
            drape_solve_result result;
            settings.max_iterations = 500;
            ASSERT_OK(ctx, drape_solve(ctx, &problem, &settings, x, &result));
            print_message("%s: %s after %d\n", names[kind], drape_reason_name(result.reason), result.iterations);
            if (result.reason == DRAPE_CONVERGED) assert_true(result.true_residual <= 10 * settings.tol);
            if (kind < 2) assert_int_equal(result.reason, DRAPE_INDEFINITE);
            if (kind != 2) assert_true(result.reason != DRAPE_CONVERGED);
            check_finite(3 * (int64_t)s.A.rows, x);
        }
        free(x);
        sheet_destroy(&s);
    }
    drape_context_destroy(ctx);
}

/* Rows without a diagonal block: held ones are fine; free ones have no answer. */
static void rows_without_diagonal_block(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    for (int held = 0; held < 2; held++) {
        sheet s = sheet_create(ctx, SHEET(.mass = 1e-2));
        int64_t blocks = s.A.rowptr[s.A.rows], kept = 0;
        int64_t *rowptr = calloc((size_t)s.A.rows + 1, sizeof *rowptr);
        int32_t *col = calloc((size_t)blocks, sizeof *col);
        double *val = numbers(9 * blocks);
        drape_constraint *list = calloc((size_t)s.A.rows, sizeof *list);
        int32_t count = 0;
        for (int32_t i = 0; i < s.A.rows; i++) {
            bool without = i % 97 == 5;
            if (without) list[count++] = (drape_constraint){.vertex = i, .directions = 3};
            for (int64_t k = s.A.rowptr[i]; k < s.A.rowptr[i + 1]; k++) {
                if (without && s.A.col[k] == i) continue;
                memcpy(val + 9 * kept, s.A.val + 9 * k, 9 * sizeof *val);
                col[kept++] = s.A.col[k];
            }
            rowptr[i + 1] = kept;
        }
        if (held) ASSERT_OK(ctx, drape_constraints_set(s.set, list, count));
        drape_bsr3 A = {s.A.rows, rowptr, col, val};
        drape_problem problem = {.A = &A, .b = s.b, .constraints = s.set, .positions = s.x};
        drape_reason reason = try_problem(ctx, "no diagonal block", &problem, 6).reason;
        if (held) assert_int_equal(reason, DRAPE_CONVERGED);
        else assert_true(reason != DRAPE_CONVERGED);
        free(rowptr), free(col), free(val), free(list);
        sheet_destroy(&s);
    }
    drape_context_destroy(ctx);
}

/* A symmetric matrix whose pattern is not: blocks of zeros that lead from one of two sheets to the other, and not
 * back. */
static void pattern_need_not_be_symmetric(void **state) {
    enum { ROWS = 3600 };
    drape_context *ctx = test_context(1);
    test_random r = {5};
    (void)state;
    for (int forth = 0; forth < 2; forth++) {
        sheet s = sheet_create(ctx, &(sheet_settings){.nx = 60, .ny = 60, .mass = 1e-2, .two = true, .seed = 2});
        drape_builder *builder;
        drape_matrix *matrix;
        ASSERT_OK(ctx, drape_builder_create(ctx, 3 * ROWS, &builder));
        for (int32_t i = 0; i < ROWS; i++) {
            for (int64_t k = s.A.rowptr[i]; k < s.A.rowptr[i + 1]; k++)
                for (int m = 0; m < 9; m++)
                    ASSERT_OK(ctx, drape_builder_add(builder, 3 * (int64_t)i + m / 3, 3 * (int64_t)s.A.col[k] + m % 3,
                                                     s.A.val[9 * k + m]));
            int64_t other = test_random_below(&r, ROWS / 2) + (i < ROWS / 2 ? ROWS / 2 : 0);
            if (i % 7 == 0 && (i < ROWS / 2) == forth)
                ASSERT_OK(ctx, drape_builder_add(builder, 3 * (int64_t)i, 3 * other, 0));
        }
        ASSERT_OK(ctx, drape_builder_finish(builder, &matrix));
        drape_bsr3 A = drape_matrix_view(matrix);
        drape_problem problem = {.A = &A, .b = s.b, .positions = s.x};
        assert_int_equal(try_problem(ctx, "unsymmetric pattern", &problem, 6).reason, DRAPE_CONVERGED);
        drape_matrix_destroy(matrix);
        drape_builder_destroy(builder);
        sheet_destroy(&s);
    }
    drape_context_destroy(ctx);
}

static void hardly_any_rows(void **state) {
    drape_context *ctx = test_context(1);
    int64_t rowptr[] = {0, 1, 2};
    int32_t col[] = {0, 1};
    double val[18] = {2, 0, 0, 0, 3, 0, 0, 0, 4, 4, 0, 0, 0, 3, 0, 0, 0, 2}, b[6] = {2, 3, 4, 4, 3, 2}, x[6];
    (void)state;
    for (int32_t rows = 0; rows <= 2; rows++)
        for (int32_t modes = 3; modes <= 6; modes += 3) {
            drape_bsr3 A = {rows, rowptr, col, val};
            drape_solve_settings settings = settings_of("amg", modes);
            drape_solve_result result;
            drape_problem problem = {.A = &A, .b = b, .positions = b};
            ASSERT_OK(ctx, drape_solve(ctx, &problem, &settings, x, &result));
            assert_int_equal(result.reason, DRAPE_CONVERGED);
            for (int32_t i = 0; i < 3 * rows; i++) ASSERT_NEAR(x[i], 1, 1e-5);
        }
    drape_context_destroy(ctx);
}

/* ---- From solve to solve ---- */

enum { STEPS = 20 };

static void steps_of(drape_context *ctx, int32_t resolution, cloth *out) {
    clothes_from(ctx, "flag", &(drape_scene_options){.resolution = resolution}, 10, STEPS, out);
}

static void clear_steps(drape_context *ctx, cloth *steps) {
    for (int k = 0; k < STEPS; k++) cloth_clear(ctx, &steps[k]);
}

/* Other vertices are held in every third step: those whose number ends in k. */
static void hold_others(drape_context *ctx, cloth *c, int32_t k) {
    drape_constraint *list = calloc((size_t)c->system.A.rows, sizeof *list);
    int32_t count = 0;
    for (int32_t i = k % 50; i < c->system.A.rows; i += 50)
        list[count++] = (drape_constraint){.vertex = i, .directions = 1 + k % 3, .direction = {{1, 1, 0}, {0, 1, 1}}};
    ASSERT_OK(ctx, drape_constraints_set(c->set, list, count));
    free(list);
}

static void solve_step(drape_context *ctx, drape_solver *solver, const drape_problem *problem, double *x,
                       drape_solve_result *result) {
    ASSERT_OK(ctx, drape_solver_solve(solver, problem, x, result));
    assert_int_equal(result->reason, DRAPE_CONVERGED);
    assert_true(result->true_residual <= 2e-5);
}

enum { MOST_REBUILDS = 4, REBUILD_REQUESTS = 80, PLENTY = 1000000 };

/* Good answers with all ways of keeping, while values change and constraints come and go. Memory is asked for in the
 * first solve, and where aggregates that were made for other constraints serve so badly that new ones are made. */
static void run_animation(const cloth *steps, drape_reuse reuse, int32_t modes, int64_t most_requests) {
    counting_allocator memory = {.left = -1};
    drape_context *ctx = counting_context(&memory);
    drape_solve_settings settings = settings_of("amg", modes);
    drape_solver *solver;
    double *x = numbers(3 * (int64_t)steps[0].system.A.rows);
    int32_t total = 0, most = 0;
    settings.amg.reuse = reuse;
    ASSERT_OK(ctx, drape_solver_create(ctx, &settings, &solver));
    for (int k = 0; k < STEPS; k++) {
        drape_problem problem = problem_of(&steps[k], true);
        drape_solve_result result;
        if (k == 1) memory.left = PLENTY;
        solve_step(ctx, solver, &problem, x, &result);
        total += result.iterations;
        if (result.iterations > most) most = result.iterations;
    }
    print_message("reuse %d, %d modes: %d iterations in all, %d at most; %d requests for memory\n", reuse, modes,
                  total, most, (int)(PLENTY - memory.left));
    assert_true(PLENTY - memory.left <= most_requests);
    drape_solver_destroy(solver);
    drape_context_destroy(ctx);
    assert_int_equal(memory.live, 0);
    free(x);
}

static void animation_keeps_its_hierarchy(void **state) {
    cloth steps[STEPS];
    drape_context *ctx = test_context(1);
    (void)state;
    steps_of(ctx, 33, steps);
    for (int32_t modes = 3; modes <= 6; modes += 3)
        for (int32_t k = 0; drape_reuse_name((drape_reuse)k); k++)
            run_animation(steps, (drape_reuse)k, modes, k == DRAPE_REUSE_NOTHING ? PLENTY : 0);
    print_message("others are held in every third step:\n");
    for (int k = 2; k < STEPS; k += 3) hold_others(ctx, &steps[k], k);
    for (int32_t modes = 3; modes <= 6; modes += 3)
        for (int32_t k = 0; drape_reuse_name((drape_reuse)k); k++)
            run_animation(steps, (drape_reuse)k, modes,
                          k == DRAPE_REUSE_NOTHING ? PLENTY : MOST_REBUILDS * REBUILD_REQUESTS);
    clear_steps(ctx, steps);
    drape_context_destroy(ctx);
}

/* Two sequences on different threads and instructions: the same bits. */
static void sequences_give_the_same_bits(void **state) {
    cloth steps[STEPS];
    drape_context *ctx = test_context(1);
    (void)state;
    steps_of(ctx, 51, steps);
    int64_t n = 3 * (int64_t)steps[0].system.A.rows;
    double *want = numbers(n * STEPS), *x = numbers(n);
    for (int run = 0; run < 7; run++) {
        const int32_t threads[] = {1, 1, 2, 3, 2, 2, 2};
        const drape_simd simd[] = {DRAPE_SIMD_BEST,     DRAPE_SIMD_BEST, DRAPE_SIMD_BEST,  DRAPE_SIMD_BEST,
                                   DRAPE_SIMD_BASELINE, DRAPE_SIMD_AVX2, DRAPE_SIMD_AVX512};
        drape_context_settings make = drape_context_defaults();
        drape_context *other;
        drape_solver *solver;
        make.threads = threads[run];
        make.simd = simd[run];
        if (drape_context_create(&make, &other) != DRAPE_OK) continue;
        drape_solve_settings settings = settings_of("amg", 6);
        ASSERT_OK(other, drape_solver_create(other, &settings, &solver));
        for (int k = 0; k < STEPS; k += 2) {
            drape_problem problem = problem_of(&steps[k], true);
            drape_solve_result result;
            solve_step(other, solver, &problem, x, &result);
            if (run == 0) memcpy(want + n * k, x, (size_t)n * sizeof *x);
            assert_memory_equal(x, want + n * k, (size_t)n * sizeof *x);
        }
        drape_solver_destroy(solver);
        drape_context_destroy(other);
    }
    free(want), free(x);
    clear_steps(ctx, steps);
    drape_context_destroy(ctx);
}

/* The same pattern in other memory, the old one freed: what is kept may not point there. */
static void pattern_may_move(void **state) {
    drape_context *ctx = test_context(1);
    sheet s = sheet_create(ctx, SHEET(.mass = 1e-4));
    drape_solve_settings settings = settings_of("amg", 3);
    drape_solver *solver;
    double *x = numbers(3 * (int64_t)s.A.rows);
    (void)state;
    ASSERT_OK(ctx, drape_solver_create(ctx, &settings, &solver));
    for (int k = 0; k < 3; k++) {
        drape_matrix *copy;
        drape_solve_result result;
        ASSERT_OK(ctx, drape_matrix_copy(ctx, &s.A, &copy));
        drape_bsr3 A = drape_matrix_view(copy);
        drape_problem problem = {.A = &A, .b = s.b};
        solve_step(ctx, solver, &problem, x, &result);
        memset((void *)A.col, 0x55, (size_t)A.rowptr[A.rows] * sizeof *A.col);
        drape_matrix_destroy(copy);
    }
    drape_solver_destroy(solver);
    free(x);
    sheet_destroy(&s);
    drape_context_destroy(ctx);
}

/* Positions may be there in one solve and not in the next. */
static void positions_come_and_go(void **state) {
    drape_context *ctx = test_context(1);
    sheet s = sheet_create(ctx, SHEET(.mass = 1e-4));
    double *x = numbers(3 * (int64_t)s.A.rows);
    (void)state;
    for (int32_t first = 0; first < 2; first++) {
        drape_solve_settings settings = settings_of("amg", 6);
        drape_solver *solver;
        ASSERT_OK(ctx, drape_solver_create(ctx, &settings, &solver));
        for (int k = 0; k < 6; k++) {
            drape_solve_result result;
            drape_problem problem = {.A = &s.A, .b = s.b, .positions = k % 2 == first ? s.x : NULL};
            solve_step(ctx, solver, &problem, x, &result);
            for (int64_t i = 0; i < 9 * s.A.rowptr[s.A.rows]; i++) s.A.val[i] *= 1.5; /* too much to keep */
        }
        drape_solver_destroy(solver);
    }
    free(x);
    sheet_destroy(&s);
    drape_context_destroy(ctx);
}

/* Another matrix with the same number of rows, then one of another size. */
static void another_pattern_is_noticed(void **state) {
    drape_context *ctx = test_context(1);
    drape_solve_settings settings = settings_of("amg", 6);
    drape_solver *solver;
    (void)state;
    ASSERT_OK(ctx, drape_solver_create(ctx, &settings, &solver));
    for (int k = 0; k < 4; k++) {
        sheet s = sheet_create(
            ctx, &(sheet_settings){.nx = k == 2 ? 30 : 40, .ny = 40, .mass = 1e-4, .shuffled = k == 1, .seed = 3});
        double *x = numbers(3 * (int64_t)s.A.rows);
        drape_problem problem = {.A = &s.A, .b = s.b, .positions = s.x};
        drape_solve_result result;
        solve_step(ctx, solver, &problem, x, &result);
        free(x);
        sheet_destroy(&s);
    }
    drape_solver_destroy(solver);
    drape_context_destroy(ctx);
}

/* A first matrix that is no matrix, or has all held, or no right-hand side: the next solves are as good as ever. */
static void bad_start_is_forgotten(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        const char *names[] = {"not a number", "all held", "b = 0", "mass only"};
        sheet s = sheet_create(ctx, SHEET(.mass = 1e-4));
        int64_t count = 9 * s.A.rowptr[s.A.rows];
        double *x = numbers(3 * (int64_t)s.A.rows), *zero = numbers(3 * (int64_t)s.A.rows), *good = numbers(count);
        drape_solve_settings settings = settings_of("amg", 3);
        drape_solver *solver;
        drape_solve_result result, fresh;
        drape_problem problem = {.A = &s.A, .b = kind == 2 ? zero : s.b, .constraints = s.set};
        ASSERT_OK(ctx, drape_solver_create(ctx, &settings, &solver));
        memcpy(good, s.A.val, (size_t)count * sizeof *good);
        if (kind == 0) s.A.val[0] = NAN;
        if (kind == 1) sheet_hold_all(ctx, &s, 3);
        for (int32_t i = 0; i < s.A.rows && kind == 3; i++)
            for (int64_t k = s.A.rowptr[i]; k < s.A.rowptr[i + 1]; k++)
                for (int m = 0; m < 9; m++) s.A.val[9 * k + m] = s.A.col[k] == i && m % 4 == 0;
        ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, &result));
        memcpy(s.A.val, good, (size_t)count * sizeof *good);
        ASSERT_OK(ctx, drape_constraints_set(s.set, NULL, 0));
        problem.b = s.b;
        ASSERT_OK(ctx, drape_solve(ctx, &problem, &settings, x, &fresh));
        int32_t each[6];
        for (int k = 0; k < 6; k++) {
            solve_step(ctx, solver, &problem, x, &result);
            each[k] = result.iterations;
        }
        print_message("%s: afterwards %d %d %d %d %d %d iterations, afresh %d\n", names[kind], each[0], each[1],
                      each[2], each[3], each[4], each[5], fresh.iterations);
        assert_true(each[5] <= 1.5 * fresh.iterations + 2);
        drape_solver_destroy(solver);
        free(x), free(zero), free(good);
        sheet_destroy(&s);
    }
    drape_context_destroy(ctx);
}

/* Each request for memory refused in turn: an error, nothing lost, and the next solve is good. */
static void refused_memory_is_an_error(void **state) {
    drape_context *plain = test_context(1);
    sheet s = sheet_create(plain, &(sheet_settings){.nx = 24, .ny = 24, .mass = 1e-4, .seed = 3});
    double *x = numbers(3 * (int64_t)s.A.rows);
    drape_problem problem = {.A = &s.A, .b = s.b, .positions = s.x};
    drape_solve_settings settings = settings_of("amg", 6);
    bool failed = true;
    (void)state;
    for (int64_t left = 0; failed; left++) {
        counting_allocator memory = {.left = -1};
        drape_context *ctx = counting_context(&memory);
        drape_solver *solver = NULL;
        drape_solve_result result;
        ASSERT_OK(ctx, drape_solver_create(ctx, &settings, &solver));
        memory.left = left;
        drape_status status = drape_solver_solve(solver, &problem, x, &result);
        failed = memory.failed;
        memory.left = -1;
        assert_int_equal(status, failed ? DRAPE_ERROR_MEMORY : DRAPE_OK);
        solve_step(ctx, solver, &problem, x, &result);
        drape_solver_destroy(solver);
        drape_context_destroy(ctx);
        assert_int_equal(memory.live, 0);
    }
    free(x);
    sheet_destroy(&s);
    drape_context_destroy(plain);
}

/* ---- What it costs ---- */

static void parts_have_names(void **state) {
    (void)state;
    for (int32_t part = 0; part < DRAPE_AMG_PARTS; part++) {
        assert_non_null(drape_amg_part_name(part));
        assert_true(strlen(drape_amg_part_name(part)) > 0);
        for (int32_t other = 0; other < part; other++)
            assert_string_not_equal(drape_amg_part_name(part), drape_amg_part_name(other));
    }
    assert_null(drape_amg_part_name(DRAPE_AMG_PARTS));
    assert_null(drape_amg_part_name(-1));
}

/* Parts of a set-up count no bytes; on the coarsest level a cycle has its first part alone. Patterns take their time
 * in a build, none in a refresh. */
static void check_costs(const drape_solver *solver, bool refreshed) {
    const int32_t levels = drape_solver_levels(solver);
    drape_amg_level l;
    assert_true(levels > 2);
    for (int32_t n = 0; n < levels; n++) {
        bool coarsest = n + 1 == levels;
        assert_int_equal(drape_solver_level(solver, n, &l), DRAPE_OK);
        assert_int_equal(l.factored, coarsest);
        for (int32_t part = 0; part < DRAPE_AMG_PARTS; part++) {
            bool cycle = part == DRAPE_AMG_FIRST || (part > DRAPE_AMG_FIRST && !coarsest);
            bool once = part == DRAPE_AMG_AGGREGATE || part == DRAPE_AMG_PATTERN || part == DRAPE_AMG_LANCZOS;
            assert_true(isfinite(l.cost[part].seconds) && l.cost[part].seconds >= 0);
            if (cycle) assert_true(l.cost[part].bytes > 0);
            else if (part < DRAPE_AMG_FIRST) assert_int_equal(l.cost[part].bytes, 0);
            if (once && (refreshed || coarsest)) assert_true(l.cost[part].seconds == 0);
            else if (cycle || (n == 0 && part < DRAPE_AMG_FIRST)) assert_true(l.cost[part].seconds > 0);
        }
    }
    assert_int_equal(drape_solver_level(solver, levels, &l), DRAPE_ERROR_ARGUMENT);
}

static void costs_are_counted(void **state) {
    drape_context *ctx = test_context(1);
    sheet s = sheet_create(ctx, &(sheet_settings){.nx = 60, .ny = 60, .mass = 1e-4, .seed = 4});
    double *x = numbers(3 * (int64_t)s.A.rows);
    drape_problem problem = {.A = &s.A, .b = s.b, .positions = s.x};
    (void)state;
    for (int32_t k = 0; k < 4; k++) {
        drape_solve_settings settings = settings_of("amg", k % 2 ? 6 : 3);
        drape_solver *solver;
        drape_solve_result result;
        settings.amg.reuse = DRAPE_REUSE_PATTERNS;
        settings.amg.smoother = k / 2 ? DRAPE_SMOOTHER_CHEBYSHEV : settings.amg.smoother;
        ASSERT_OK(ctx, drape_solver_create(ctx, &settings, &solver));
        for (int32_t step = 0; step < 3; step++) {
            solve_step(ctx, solver, &problem, x, &result);
            check_costs(solver, step > 0);
        }
        drape_solver_destroy(solver);
    }
    free(x);
    sheet_destroy(&s);
    drape_context_destroy(ctx);
}

/* What those bytes are compared with. */
static void bandwidth_is_measured(void **state) {
    counting_allocator memory = {.left = -1};
    (void)state;
    for (int32_t threads = 1; threads <= 2; threads++) {
        drape_context *ctx = test_context(threads);
        const int64_t before = drape_context_bytes(ctx);
        assert_true(drape_read_bandwidth(ctx, 1 << 20) > 0);
        assert_true(drape_read_bandwidth(ctx, 0) == 0 && drape_read_bandwidth(ctx, -8) == 0);
        assert_int_equal(drape_context_bytes(ctx), before);
        drape_context_destroy(ctx);
    }
    drape_context *poor = counting_context(&memory);
    memory.left = 0;
    assert_true(drape_read_bandwidth(poor, 1 << 20) == 0 && memory.failed);
    memory.left = -1;
    drape_context_destroy(poor);
    assert_int_equal(memory.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cycle_is_symmetric_positive_definite),
        cmocka_unit_test(few_iterations_at_any_size),
        cmocka_unit_test(bad_sheets_converge),
        cmocka_unit_test(any_time_step_converges),
        cmocka_unit_test(held_everywhere),
        cmocka_unit_test(scale_does_not_matter),
        cmocka_unit_test(beyond_single_precision),
        cmocka_unit_test(wrong_matrices_get_a_reason),
        cmocka_unit_test(rows_without_diagonal_block),
        cmocka_unit_test(pattern_need_not_be_symmetric),
        cmocka_unit_test(hardly_any_rows),
        cmocka_unit_test(animation_keeps_its_hierarchy),
        cmocka_unit_test(sequences_give_the_same_bits),
        cmocka_unit_test(pattern_may_move),
        cmocka_unit_test(positions_come_and_go),
        cmocka_unit_test(another_pattern_is_noticed),
        cmocka_unit_test(bad_start_is_forgotten),
        cmocka_unit_test(refused_memory_is_an_error),
        cmocka_unit_test(parts_have_names),
        cmocka_unit_test(costs_are_counted),
        cmocka_unit_test(bandwidth_is_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
