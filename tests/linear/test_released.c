/* drape_problem.released: solves after constraints and couplings were taken away, as where contacts are let go. */
#include "drape/solve.h"
#include "support/pairs.h"
#include "support/random_systems.h"
#include "support/sheets.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 40, N = 3 * ROWS, COUPLINGS = 12 };

/* Springs between vertices i and i + 7. */
static void make_couplings(drape_coupling list[COUPLINGS]) {
    for (int32_t i = 0; i < COUPLINGS; i++)
        list[i] = (drape_coupling){2, {3 * i % ROWS, (3 * i + 7) % ROWS}, 1.0 + i, {1, -1}, {0.6, 0, 0.8}, NULL};
}

static drape_problem problem_of(const random_system *s, const drape_coupling *list, int32_t count) {
    return (drape_problem){.A = &s->A, .b = s->b, .constraints = s->set, .couplings = {.count = count, .list = list}};
}

/* Every second held vertex is free, and of the others one direction less is held; never a new one. */
static void let_go(drape_context *ctx, random_system *s) {
    for (int32_t k = 0; k < s->held; k++) {
        int32_t now = s->list[k].directions;
        s->list[k].directions = k % 2 || now == 0 ? 0 : now - 1;
        if (s->list[k].directions == 0) memset(s->list[k].z, 0, sizeof s->list[k].z);
    }
    random_system_hold(ctx, s);
}

/* Solutions are those of a solver that is told nothing. */
static void check_pair(drape_context *ctx, const drape_solve_settings *given) {
    random_settings make = {ROWS, 20, 0.4, RANDOM_DIRECTIONS, true, 0, 8};
    random_system s = random_system_create(ctx, &make);
    drape_solve_settings settings = *given;
    drape_coupling list[COUPLINGS];
    drape_solver *told;
    settings.tol = 1e-12;
    make_couplings(list);
    ASSERT_OK(ctx, drape_solver_create(ctx, &settings, &told));
    for (int32_t k = 0; k < 3; k++) {
        double x[N] = {0}, want[N] = {0};
        drape_problem problem = problem_of(&s, list, COUPLINGS - 4 * k);
        drape_solve_result result;
        ASSERT_OK(ctx, drape_solve(ctx, &problem, &settings, want, NULL));
        problem.released = k > 0;
        ASSERT_OK(ctx, drape_solver_solve(told, &problem, x, &result));
        PAIR_TRUE(&settings, result.reason == DRAPE_CONVERGED);
        for (int32_t i = 0; i < N; i++) PAIR_NEAR(&settings, x[i], want[i], 1e-8);
        let_go(ctx, &s);
    }
    drape_solver_destroy(told);
    random_system_destroy(&s);
}

static void solutions_are_the_same(void **state) {
    (void)state;
    for_every_pair(check_pair);
}

/* ---- Multigrid ---- */

enum { SIDE = 60 };

/* A third of the vertices slides on a plane; then every tenth of these is free. */
static void hold(drape_context *ctx, sheet *s, bool released) {
    drape_constraint *list = calloc((size_t)SIDE * SIDE, sizeof *list);
    int32_t count = 0;
    for (int32_t i = 0; i < SIDE * SIDE / 3; i++)
        if (!released || i % 10)
            list[count++] = (drape_constraint){.vertex = i, .directions = 1, .direction = {{0.36, 0.48, 0.8}}};
    ASSERT_OK(ctx, drape_constraints_set(s->set, list, count));
    free(list);
}

typedef struct answer {
    int32_t iterations;
    int64_t bytes_moved, more; /* more: what the second solve allocated */
    double *x;
} answer;

/* The second of two solves, from zero. */
static answer solve_second(drape_context *ctx, sheet *s, const drape_couplings *couplings, int32_t left,
                           int32_t modes, bool told) {
    drape_solve_settings settings = drape_solve_defaults();
    drape_problem problem = {
        .A = &s->A, .b = s->b, .constraints = s->set, .positions = s->x, .couplings = *couplings};
    drape_solve_result result;
    drape_solver *solver;
    answer out = {.x = calloc(3 * (size_t)SIDE * SIDE, sizeof *out.x)};
    settings.precond = "amg";
    settings.amg.modes = modes;
    ASSERT_OK(ctx, drape_solver_create(ctx, &settings, &solver));
    hold(ctx, s, false);
    ASSERT_OK(ctx, drape_solver_solve(solver, &problem, out.x, NULL));
    hold(ctx, s, true);
    problem.released = told;
    problem.couplings.count = left;
    int64_t bytes = drape_context_bytes(ctx);
    ASSERT_OK(ctx, drape_solver_solve(solver, &problem, out.x, &result));
    out.more = drape_context_bytes(ctx) - bytes;
    assert_int_equal(result.reason, DRAPE_CONVERGED);
    assert_true(result.true_residual < 1e-3);
    out.iterations = result.iterations;
    out.bytes_moved = result.bytes_moved;
    drape_solver_destroy(solver);
    return out;
}

/* Few more iterations, without setting up again; and nothing is allocated. */
static void coarse_levels_serve_on(void **state) {
    (void)state;
    drape_context *ctx = test_context(2), *one = test_context(1);
    static drape_coupling list[SIDE];
    for (int32_t i = 0; i < SIDE; i++)
        list[i] = (drape_coupling){2, {SIDE * i, SIDE * i + SIDE - 1}, 1, {1, -1}, {0.6, 0, 0.8}, NULL};
    static const int32_t count[] = {0, SIDE, SIDE}, left[] = {0, SIDE - SIDE / 20, SIDE / 2};
    for (int32_t kind = 0; kind < 6; kind++) {
        sheet s = sheet_create(ctx, &(sheet_settings){.nx = SIDE, .ny = SIDE, .mass = 1e-3, .seed = 3});
        const drape_couplings couplings = {.count = count[kind % 3], .list = list};
        const int32_t modes = kind < 3 ? 3 : 6, then = left[kind % 3];
        answer fresh = solve_second(ctx, &s, &couplings, then, modes, false),
               told = solve_second(ctx, &s, &couplings, then, modes, true),
               alone = solve_second(one, &s, &couplings, then, modes, true);
        print_message("%d modes, %d of %d couplings: %d iterations, told %d; %.1f MB, told %.1f\n", modes, then,
                      couplings.count, fresh.iterations, told.iterations, 1e-6 * (double)fresh.bytes_moved,
                      1e-6 * (double)told.bytes_moved);
        assert_true(told.iterations <= 1.3 * fresh.iterations + 1);
        assert_true(told.bytes_moved < fresh.bytes_moved);
        assert_true(told.more <= 0);
        assert_memory_equal(told.x, alone.x, 3 * sizeof *told.x * SIDE * SIDE);
        free(fresh.x), free(told.x), free(alone.x);
        sheet_destroy(&s);
    }
    drape_context_destroy(one);
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solutions_are_the_same),
        cmocka_unit_test(coarse_levels_serve_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
