/* The record of an iteration against what runs of 1, 2, 3, ... iterations and dense solutions say; when each
 * criterion stops; the fields of a result. */
#include "support/pairs.h"
#include "support/random_systems.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 25, UNKNOWNS = 3 * ROWS, ENOUGH = 400 };

static long double *numbers(int64_t count) {
    long double *x = calloc((size_t)count + 1, sizeof *x);
    assert_non_null(x);
    return x;
}

/* z = 0, so that the older forms of MPCG compare with the same as the others. */
static random_system system_of(drape_context *ctx, uint64_t seed) {
    random_settings make = {ROWS, 100, 0.3, RANDOM_DIRECTIONS, false, 0, seed};
    return random_system_create(ctx, &make);
}

static void random_guess(double *guess) {
    test_random r = {3};
    for (int i = 0; i < UNKNOWNS; i++) guess[i] = test_random_between(&r, -1, 1);
}

/* A solve and a copy of its record. */
typedef struct run {
    drape_solve_result result;
    double x[UNKNOWNS];
    drape_iteration history[ENOUGH];
} run;

static void go(drape_context *ctx, const random_system *s, const drape_solve_settings *settings, const double *guess,
               run *out) {
    drape_problem problem = {.A = &s->A, .b = s->b, .constraints = s->set, .guess = guess};
    drape_solver *solver;
    ASSERT_OK(ctx, drape_solver_create(ctx, settings, &solver));
    ASSERT_OK(ctx, drape_solver_solve(solver, &problem, out->x, &out->result));
    PAIR_TRUE(settings, out->result.history_count <= ENOUGH);
    memcpy(out->history, out->result.history, (size_t)out->result.history_count * sizeof *out->history);
    drape_solver_destroy(solver);
}

/* ---- What the norms are ---- */

/* The reduced system with which norms are computed afresh. */
typedef struct measures {
    const random_system *s;
    int32_t n;
    long double *A, *P, *rhs, *solution;
    long double rhs_norm2, rhs_delta, energy2; /* of b^, and of the solution */
} measures;

static long double dot(int32_t n, const long double *a, const long double *b) {
    long double sum = 0;
    for (int32_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* v'M v */
static long double square(int32_t n, const long double *M, const long double *v) {
    long double sum = 0;
    for (int32_t i = 0; i < n; i++) sum += v[i] * dot(n, M + (int64_t)i * n, v);
    return sum;
}

static measures measures_of(drape_context *ctx, const random_system *s, const drape_solve_settings *settings) {
    bool prefiltered = pair_uses(settings, "pcg") || pair_uses(settings, "ppcg");
    measures m = {.s = s, .n = s->free, .A = random_reduced_matrix(s), .rhs = random_reduced_rhs(s)};
    long double *copy = random_reduced_matrix(s);
    m.P = random_reduced_precond(ctx, s, settings->precond, prefiltered);
    m.solution = random_reduced_rhs(s);
    long_double_solve(m.n, copy, m.solution);
    m.rhs_norm2 = dot(m.n, m.rhs, m.rhs);
    m.rhs_delta = square(m.n, m.P, m.rhs);
    m.energy2 = square(m.n, m.A, m.solution);
    free(copy);
    return m;
}

static void forget(measures *m) {
    free(m->A);
    free(m->P);
    free(m->rhs);
    free(m->solution);
}

/* All three of x. */
static drape_iteration measure(const measures *m, const double *x) {
    long double *y = numbers(m->n), *r = numbers(m->n), *e = numbers(m->n);
    random_reduce(m->s, x, y);
    for (int32_t i = 0; i < m->n; i++) {
        r[i] = m->rhs[i] - dot(m->n, m->A + (int64_t)i * m->n, y);
        e[i] = m->solution[i] - y[i];
    }
    drape_iteration out = {.preconditioned = (double)sqrtl(square(m->n, m->P, r) / m->rhs_delta),
                           .residual = (double)sqrtl(dot(m->n, r, r) / m->rhs_norm2),
                           .energy = (double)sqrtl(square(m->n, m->A, e) / m->energy2)};
    free(y);
    free(r);
    free(e);
    return out;
}

static bool is_kept(const drape_solve_settings *settings) { return !pair_is_direct(settings); }

/* How the record of iteration k differs from what is found in x. BiCGStab has one norm only; the printed MPCG a norm
 * of its own. */
static void compare(const drape_solve_settings *settings, const drape_iteration *got, const drape_iteration *want) {
    bool one_norm = !pair_is_symmetric(settings);
    double rounding = pair_is_single(settings) ? 1e-5 : 1e-9;
    PAIR_NEAR(settings, got->residual, want->residual, 1e-9 * want->residual + 1e-12);
    if (one_norm) PAIR_TRUE(settings, got->preconditioned == got->residual);
    else if (!pair_uses(settings, "mpcg-printed"))
        PAIR_NEAR(settings, got->preconditioned, want->preconditioned, rounding * want->preconditioned + 1e-12);
    if (one_norm) PAIR_TRUE(settings, got->energy == -1);
    else PAIR_NEAR(settings, got->energy, want->energy, 1e-6 * want->energy);
}

/* The first iterations of a long run: the energy is known by what was taken off it later. */
static void check_record(drape_context *ctx, const drape_solve_settings *settings) {
    if (!is_kept(settings)) return;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        random_system s = system_of(ctx, seed);
        measures m = measures_of(ctx, &s, settings);
        drape_solve_settings long_run = *settings;
        double guess[UNKNOWNS];
        static run whole, part;
        random_guess(guess);
        long_run.history = ENOUGH;
        long_run.max_iterations = pair_uses(settings, "sd") ? 5000 : 1000; /* sd: beyond the record */
        long_run.tol = 1e-11;
        go(ctx, &s, &long_run, guess, &whole);
        PAIR_REASON(settings, whole.result.reason, DRAPE_CONVERGED);
        for (int32_t k = 1; k <= 6 && k + 4 < whole.result.iterations; k++) {
            long_run.max_iterations = k;
            go(ctx, &s, &long_run, guess, &part);
            drape_iteration want = measure(&m, part.x);
            compare(settings, &whole.history[k], &want);
            PAIR_TRUE(settings, part.result.history_count == k + 1);
            PAIR_TRUE(settings, part.history[k].residual == whole.history[k].residual);
        }
        if (pair_takes_guess(settings)) {
            drape_iteration want = measure(&m, guess); /* S y + (I-S) z, z = 0 */
            if (pair_improves_guess(settings)) PAIR_TRUE(settings, whole.history[0].energy <= want.energy);
            else compare(settings, &whole.history[0], &want);
        }
        forget(&m);
        random_system_destroy(&s);
    }
}

static void record_is_right(void **state) {
    (void)state;
    for_every_pair(check_record);
}

/* The estimate of the error at the end of a short run: of the right order, and not much too low. */
static void check_estimate(drape_context *ctx, const drape_solve_settings *settings) {
    if (!is_kept(settings) || !pair_is_symmetric(settings)) return;
    for (uint64_t seed = 1; seed <= 5; seed++)
        for (int digits = 1; digits <= 8; digits++) {
            random_system s = system_of(ctx, seed);
            measures m = measures_of(ctx, &s, settings);
            drape_solve_settings loose = *settings;
            static run r;
            loose.tol = pow(10, -digits);
            loose.history = ENOUGH;
            go(ctx, &s, &loose, NULL, &r);
            double want = measure(&m, r.x).energy, got = r.result.energy_error;
            PAIR_TRUE(settings, r.result.iterations == 0 || (got > 0.2 * want && got < 30 * want));
            if (r.result.history_count == r.result.iterations + 1 && r.result.iterations > 0)
                PAIR_NEAR(settings, r.history[r.result.iterations].energy, got, 1e-12 * got);
            forget(&m);
            random_system_destroy(&s);
        }
}

static void energy_estimate(void **state) {
    (void)state;
    for_every_pair(check_estimate);
}

/* Less room than iterations: the same first entries, and the same energies in them. */
static void check_capacity(drape_context *ctx, const drape_solve_settings *settings) {
    static run whole, part;
    random_system s = system_of(ctx, 4);
    drape_solve_settings kept = *settings;
    kept.history = ENOUGH;
    kept.max_iterations = ENOUGH - 1;
    go(ctx, &s, &kept, NULL, &whole);
    for (kept.history = 0; kept.history < 5; kept.history++) {
        go(ctx, &s, &kept, NULL, &part);
        PAIR_TRUE(settings, part.result.iterations == whole.result.iterations);
        if (!is_kept(settings)) continue;
        int32_t count = kept.history < whole.result.history_count ? kept.history : whole.result.history_count;
        PAIR_TRUE(settings, part.result.history_count == count);
        for (int32_t k = 0; k < part.result.history_count; k++) {
            PAIR_TRUE(settings, part.history[k].residual == whole.history[k].residual);
            PAIR_TRUE(settings, part.history[k].preconditioned == whole.history[k].preconditioned);
            PAIR_NEAR(settings, part.history[k].energy, whole.history[k].energy,
                      1e-12 * fabs(whole.history[k].energy));
        }
    }
    random_system_destroy(&s);
}

static void little_room(void **state) {
    (void)state;
    for_every_pair(check_capacity);
}

/* A start that needs no iteration says nothing about the energy. */
static void no_iteration_no_energy(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    random_system s = system_of(ctx, 2);
    drape_solve_settings settings = drape_solve_defaults();
    double want[UNKNOWNS];
    static run r;
    random_reference(&s, want);
    settings.history = 10;
    settings.tol = 1e-8;
    settings.precond = "none";
    go(ctx, &s, &settings, want, &r);
    assert_int_equal(r.result.iterations, 0);
    assert_int_equal(r.result.history_count, 1);
    assert_true(r.history[0].energy == -1 && r.result.energy_error == -1);
    random_system_destroy(&s);
    drape_context_destroy(ctx);
}

/* ---- When it stops ---- */

static double norm_at(const drape_iteration *i, drape_stop stop) {
    return stop == DRAPE_STOP_RESIDUAL ? i->residual : i->preconditioned;
}

/* At the first iteration that satisfies the criterion, and at no other. */
static void check_first(drape_context *ctx, const drape_solve_settings *settings) {
    static run r;
    if (!is_kept(settings)) return;
    for (int stop = DRAPE_STOP_PRECONDITIONED; stop <= DRAPE_STOP_RESIDUAL; stop++)
        for (int digits = 1; digits <= 6; digits++) {
            random_system s = system_of(ctx, (uint64_t)digits);
            drape_solve_settings how = *settings;
            how.stop = (drape_stop)stop;
            how.tol = pow(10, -digits);
            how.history = how.max_iterations = ENOUGH - 1;
            go(ctx, &s, &how, NULL, &r);
            int32_t last = r.result.history_count - 1;
            PAIR_TRUE(settings, r.result.iterations == last);
            PAIR_REASON(settings, r.result.reason, last < ENOUGH - 2 ? DRAPE_CONVERGED : r.result.reason);
            for (int32_t k = 0; k < last; k++) PAIR_TRUE(settings, norm_at(&r.history[k], how.stop) > how.tol);
            if (r.result.reason == DRAPE_CONVERGED)
                PAIR_TRUE(settings, norm_at(&r.history[last], how.stop) <= how.tol);
            PAIR_NEAR(settings, r.result.residual, norm_at(&r.history[last], how.stop), 1e-14 * r.result.residual);
            random_system_destroy(&s);
        }
}

/* By energy: at the first iteration whose estimate is small enough, and the error is of that order. */
static void check_energy_stop(drape_context *ctx, const drape_solve_settings *settings) {
    static run r, shorter;
    if (!is_kept(settings) || !pair_is_symmetric(settings)) return;
    for (int digits = 1; digits <= 6; digits++) {
        random_system s = system_of(ctx, (uint64_t)digits);
        measures m = measures_of(ctx, &s, settings);
        drape_solve_settings how = *settings;
        how.stop = DRAPE_STOP_ENERGY;
        how.tol = pow(10, -digits);
        go(ctx, &s, &how, NULL, &r);
        PAIR_REASON(settings, r.result.reason, DRAPE_CONVERGED);
        PAIR_TRUE(settings, r.result.residual <= how.tol);
        PAIR_TRUE(settings, r.result.residual == r.result.energy_error || r.result.iterations == 0);
        PAIR_TRUE(settings, measure(&m, r.x).energy <= 5 * how.tol);
        for (how.max_iterations = 1; how.max_iterations < r.result.iterations && how.max_iterations < 40;
             how.max_iterations++) {
            go(ctx, &s, &how, NULL, &shorter);
            PAIR_REASON(settings, shorter.result.reason, DRAPE_ITERATION_LIMIT);
            PAIR_TRUE(settings, shorter.result.residual > how.tol);
        }
        forget(&m);
        random_system_destroy(&s);
    }
}

/* The floor is in the norm itself: met before tol is, and where b is small at once. */
static void check_floor(drape_context *ctx, const drape_solve_settings *settings) {
    static run whole, r;
    if (!is_kept(settings) || pair_uses(settings, "mpcg-printed")) return;
    random_system s = system_of(ctx, 5);
    measures m = measures_of(ctx, &s, settings);
    drape_solve_settings how = *settings;
    how.history = how.max_iterations = ENOUGH - 1;
    for (int stop = DRAPE_STOP_PRECONDITIONED; stop <= DRAPE_STOP_RESIDUAL; stop++) {
        bool two_norm = stop == DRAPE_STOP_RESIDUAL || !pair_is_symmetric(settings);
        double scale = (double)sqrtl(two_norm ? m.rhs_norm2 : m.rhs_delta);
        how.stop = (drape_stop)stop;
        how.tol = 1e-10;
        how.floor = 0;
        go(ctx, &s, &how, NULL, &whole);
        int32_t middle = whole.result.iterations / 2, first = 0;
        how.floor = norm_at(&whole.history[middle], how.stop) * scale * (1 + 1e-6); /* single precision rounds */
        while (norm_at(&whole.history[first], how.stop) * scale > how.floor) first++;
        go(ctx, &s, &how, NULL, &r);
        PAIR_REASON(settings, r.result.reason, DRAPE_CONVERGED);
        PAIR_TRUE(settings, r.result.iterations == first);
        how.floor = 1.001 * scale;
        go(ctx, &s, &how, NULL, &r);
        PAIR_REASON(settings, r.result.reason, DRAPE_CONVERGED);
        PAIR_TRUE(settings, r.result.iterations == 0);
    }
    forget(&m);
    random_system_destroy(&s);
}

static void stops_at_the_first(void **state) {
    (void)state;
    for_every_pair(check_first);
    for_every_pair(check_energy_stop);
    for_every_pair(check_floor);
}

static void energy_refused(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_solve_settings settings;
    drape_solver *solver;
    for (int32_t k = 0; pair_at(k, &settings); k++) {
        settings.stop = DRAPE_STOP_ENERGY;
        drape_status status = drape_solver_create(ctx, &settings, &solver);
        PAIR_TRUE(&settings, status == (pair_is_symmetric(&settings) ? DRAPE_OK : DRAPE_ERROR_ARGUMENT));
        if (status) PAIR_TRUE(&settings, strstr(drape_message(ctx), "energy"));
        drape_solver_destroy(solver);
    }
    drape_context_destroy(ctx);
}

/* ---- The result ---- */

static int64_t moved_in(drape_context *ctx, const random_system *s, const drape_solve_settings *settings,
                        int32_t iterations) {
    static run r;
    drape_solve_settings few = *settings;
    few.tol = 1e-15;
    few.max_iterations = iterations;
    go(ctx, s, &few, NULL, &r);
    PAIR_TRUE(settings, r.result.iterations == iterations || r.result.reason != DRAPE_ITERATION_LIMIT);
    return r.result.iterations == iterations ? r.result.bytes_moved : -1;
}

/* Every iteration moves the same: the matrix once or twice, some vectors, and what P needs, which may be two matrices
 * an application. */
static void check_traffic(drape_context *ctx, const drape_solve_settings *settings) {
    if (!is_kept(settings)) return;
    random_system s = system_of(ctx, 1);
    int64_t two = moved_in(ctx, &s, settings, 2), four = moved_in(ctx, &s, settings, 4),
            six = moved_in(ctx, &s, settings, 6);
    int64_t multiply = 76 * s.A.rowptr[s.rows], vector = 24 * s.rows, times = pair_is_symmetric(settings) ? 1 : 2;
    if (six > 0) {
        PAIR_TRUE(settings, six - four == four - two);
        PAIR_TRUE(settings, (six - four) / 2 >= times * (multiply + 8 * vector));
        int64_t P = pair_is_blockwise(settings) ? 0 : 2 * multiply + 8 * vector;
        PAIR_TRUE(settings, (six - four) / 2 <= times * (multiply + 25 * vector + P));
    }
    random_system_destroy(&s);
}

static void check_fields(drape_context *ctx, const drape_solve_settings *settings) {
    static run r;
    random_system s = system_of(ctx, 1);
    go(ctx, &s, settings, NULL, &r);
    const drape_solve_result *result = &r.result;
    PAIR_TRUE(settings, strcmp(result->method, settings->method) == 0);
    PAIR_TRUE(settings, strcmp(result->precond, settings->precond) == 0);
    PAIR_TRUE(settings, result->bytes >= 4 * 24 * ROWS && result->bytes < 1000000);
    PAIR_TRUE(settings, result->bytes_moved > 0);
    PAIR_TRUE(settings, result->setup_seconds >= 0 && result->solve_seconds >= 0);
    PAIR_TRUE(settings, result->history_count == 0);
    bool shifts = strcmp(settings->precond, "ichol") == 0 || strcmp(settings->precond, "ilu") == 0;
    PAIR_TRUE(settings, shifts ? result->shift >= 0 : result->shift == 0);
    if (!pair_is_symmetric(settings) || pair_is_direct(settings)) PAIR_TRUE(settings, result->energy_error == -1);
    random_system_destroy(&s);
}

static void fields(void **state) {
    (void)state;
    for_every_pair(check_fields);
    for_every_pair(check_traffic);
}

/* No preconditioner named: the blocks of the diagonal, or none for a method that takes none. */
static void default_preconditioner(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    random_system s = system_of(ctx, 1);
    static run r;
    for (int32_t m = 0; drape_method_name(m); m++) {
        drape_solve_settings settings = {
            .method = drape_method_name(m), .tol = 1e-5, .max_iterations = 10000, .direct = &dense_direct};
        go(ctx, &s, &settings, NULL, &r);
        bool takes = drape_method_takes(settings.method, "block_diagonal");
        assert_string_equal(r.result.precond, takes ? "block_diagonal" : "none");
        assert_int_equal(r.result.reason, DRAPE_CONVERGED);
    }
    random_system_destroy(&s);
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(record_is_right),
        cmocka_unit_test(energy_estimate),
        cmocka_unit_test(little_room),
        cmocka_unit_test(no_iteration_no_energy),
        cmocka_unit_test(stops_at_the_first),
        cmocka_unit_test(energy_refused),
        cmocka_unit_test(fields),
        cmocka_unit_test(default_preconditioner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
