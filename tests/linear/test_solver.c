/* The solver around the methods: its memory, its messages, and the bits of x. */
#include "linear/solver.h"
#include "sparse/counting_allocator.h"
#include "support/pairs.h"
#include "support/random_systems.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static random_system small_system(drape_context *ctx, int32_t rows, uint64_t seed) {
    random_settings make = {rows, 50, 0.3, RANDOM_DIRECTIONS, true, 0, seed};
    return random_system_create(ctx, &make);
}

static drape_problem problem_of(const random_system *s) {
    return (drape_problem){.A = &s->A, .b = s->b, .constraints = s->set};
}

/* ---- Memory ---- */

/* One solver for several sizes, to and fro: each answer is the one of a fresh solver, to the bit. */
static void check_sizes(drape_context *ctx, const drape_solve_settings *settings) {
    static const int32_t sizes[] = {20, 5, 0, 20, 40, 1, 40};
    drape_solver *solver;
    ASSERT_OK(ctx, drape_solver_create(ctx, settings, &solver));
    for (int k = 0; k < 7; k++) {
        random_system s = small_system(ctx, sizes[k], (uint64_t)k);
        double x[120] = {0}, fresh[120] = {0};
        drape_problem problem = problem_of(&s);
        drape_solve_result a, b;
        ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, &a));
        ASSERT_OK(ctx, drape_solve(ctx, &problem, settings, fresh, &b));
        PAIR_REASON(settings, a.reason, DRAPE_CONVERGED);
        PAIR_TRUE(settings, a.iterations == b.iterations);
        assert_memory_equal(x, fresh, sizeof x);
        random_system_destroy(&s);
    }
    drape_solver_destroy(solver);
}

static void other_sizes(void **state) {
    (void)state;
    for_every_pair(check_sizes);
}

/* Other numbers in the same pattern, other constraints too. */
static void change_values(drape_context *ctx, random_system *s, test_random *r) {
    double factor = test_random_between(r, 0.5, 2);
    for (int64_t k = 0; k < 9 * s->A.rowptr[s->rows]; k++) s->A.val[k] *= factor;
    for (int32_t i = 0; i < 3 * s->rows; i++) s->b[i] = test_random_between(r, -1, 1);
    for (int32_t k = 0; k < s->held; k++) {
        s->list[k].directions = (s->list[k].directions + 1) % 4;
        for (int c = 0; c < 3; c++) s->list[k].z[c] = test_random_between(r, -1, 1);
    }
    random_system_hold(ctx, s);
}

static void check_reference(const drape_solve_settings *settings, const random_system *s, const double *x) {
    double want[90];
    random_reference(s, want);
    PAIR_NEAR(settings, distance_of(90, x, want), 0, 1e-9 * norm_of(90, want));
}

/* The same pattern again and again: nothing is allocated. Another one may be, and is solved as well. */
/* A solver that has forgotten is a new one, whatever it solved before; also one that never solved. */
static void check_forgets(drape_context *ctx, const drape_solve_settings *settings) {
    test_random r = {3};
    random_system s = small_system(ctx, 30, 5);
    drape_solver *solver;
    ASSERT_OK(ctx, drape_solver_create(ctx, settings, &solver));
    drape_solver_forget(solver);
    for (int k = 0; k < 4; k++) {
        double x[90] = {0}, fresh[90] = {0};
        drape_problem problem = problem_of(&s);
        drape_solve_result a, b;
        ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, &a)); /* something to forget */
        change_values(ctx, &s, &r);
        drape_solver_forget(solver);
        ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, &a));
        ASSERT_OK(ctx, drape_solve(ctx, &problem, settings, fresh, &b));
        PAIR_TRUE(settings, a.iterations == b.iterations && a.bytes == b.bytes);
        assert_memory_equal(x, fresh, sizeof x);
    }
    drape_solver_destroy(solver);
    random_system_destroy(&s);
}

static void forgetting_makes_it_new(void **state) {
    (void)state;
    for_every_pair(check_forgets);
}

/* ---- The same matrix again ---- */

static void other_right_side(random_system *s, test_random *r) {
    for (int32_t i = 0; i < 3 * s->rows; i++) s->b[i] = test_random_between(r, -1, 1);
}

/* What is kept gives the same bits as recomputing it, and moves fewer bytes. Setting up costs something with all
 * preconditioners except "none", and with a direct solver, which counts only its factor. */
static void check_same_matrix(drape_context *ctx, const drape_solve_settings *settings) {
    test_random r = {4};
    random_system s = small_system(ctx, 30, 6);
    bool costs = strcmp(settings->precond, "none") != 0 && !pair_is_direct(settings);
    drape_solver *told, *untold;
    ASSERT_OK(ctx, drape_solver_create(ctx, settings, &told));
    ASSERT_OK(ctx, drape_solver_create(ctx, settings, &untold));
    for (int k = 0; k < 6; k++) {
        double x[90] = {0}, again[90] = {0};
        drape_problem problem = problem_of(&s), same = problem;
        drape_solve_result a, b;
        same.same_matrix = k != 3; /* also in the first solve, where it is too early */
        ASSERT_OK(ctx, drape_solver_solve(told, &same, x, &a));
        ASSERT_OK(ctx, drape_solver_solve(untold, &problem, again, &b));
        assert_memory_equal(x, again, sizeof x);
        PAIR_TRUE(settings, a.iterations == b.iterations && a.shift == b.shift);
        PAIR_TRUE(settings, k % 3 != 0 && costs ? a.bytes_moved < b.bytes_moved : a.bytes_moved == b.bytes_moved);
        other_right_side(&s, &r);
        if (k == 2) change_values(ctx, &s, &r);
    }
    drape_solver_destroy(told);
    drape_solver_destroy(untold);
    random_system_destroy(&s);
}

static void same_matrix_is_kept(void **state) {
    (void)state;
    for_every_pair(check_same_matrix);
}

/* A solve that was refused leaves nothing to keep: its matrix was not that of the last answer. */
static void check_refused_between(drape_context *ctx, const drape_solve_settings *settings) {
    test_random r = {5};
    random_system s = small_system(ctx, 30, 7);
    double x[90] = {0}, untold[90] = {0};
    drape_problem problem = problem_of(&s), refused = problem, same = problem;
    drape_solver *solver, *other;
    refused.tol = 2;
    same.same_matrix = 1;
    ASSERT_OK(ctx, drape_solver_create(ctx, settings, &solver));
    ASSERT_OK(ctx, drape_solver_create(ctx, settings, &other));
    ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, NULL));
    ASSERT_OK(ctx, drape_solver_solve(other, &problem, untold, NULL));
    change_values(ctx, &s, &r);
    assert_int_equal(drape_solver_solve(solver, &refused, x, NULL), DRAPE_ERROR_ARGUMENT);
    ASSERT_OK(ctx, drape_solver_solve(solver, &same, x, NULL));
    ASSERT_OK(ctx, drape_solver_solve(other, &problem, untold, NULL));
    assert_memory_equal(x, untold, sizeof x);
    drape_solver_destroy(solver);
    drape_solver_destroy(other);
    random_system_destroy(&s);
}

static void refused_solves_are_not_kept(void **state) {
    (void)state;
    for_every_pair(check_refused_between);
}

/* A factor that is kept is that of the old matrix, also where the caller was wrong about it. */
static void direct_factor_is_kept(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_solve_settings settings = drape_solve_defaults();
    random_system s = small_system(ctx, 30, 8);
    double old[90], x[90];
    drape_problem problem = problem_of(&s);
    drape_solver *solver;
    settings.method = "direct";
    settings.direct = &dense_direct;
    problem.constraints = NULL;
    ASSERT_OK(ctx, drape_solver_create(ctx, &settings, &solver));
    ASSERT_OK(ctx, drape_solver_solve(solver, &problem, old, NULL));
    for (int64_t k = 0; k < 9 * s.A.rowptr[s.rows]; k++) s.A.val[k] *= 2;
    problem.same_matrix = 1;
    ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, NULL));
    assert_memory_equal(x, old, sizeof x);
    problem.same_matrix = 0;
    ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, NULL));
    for (int i = 0; i < 90; i++) ASSERT_NEAR(x[i], old[i] / 2, 1e-9 * norm_of(90, old));
    drape_solver_destroy(solver);
    random_system_destroy(&s);
    drape_context_destroy(ctx);
}

static void check_warm(const drape_solve_settings *settings) {
    counting_allocator memory = {.left = -1};
    drape_context *ctx = counting_context(&memory);
    drape_solve_settings tight = *settings;
    drape_solver *solver;
    random_system first = small_system(ctx, 30, 1), second = small_system(ctx, 30, 2);
    drape_problem problem = problem_of(&first), other = problem_of(&second);
    double x[90];
    test_random r = {1};
    tight.tol = 1e-12;
    tight.history = 50;
    ASSERT_OK(ctx, drape_solver_create(ctx, &tight, &solver));
    ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, NULL));
    for (int k = 1; k <= 6; k++) {
        change_values(ctx, &first, &r);
        int64_t bytes = drape_context_bytes(ctx);
        memory.left = 0; /* the next request fails */
        ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, NULL));
        memory.left = -1;
        assert_false(memory.failed);
        PAIR_TRUE(settings, drape_context_bytes(ctx) == bytes);
        check_reference(settings, &first, x);
    }
    ASSERT_OK(ctx, drape_solver_solve(solver, &other, x, NULL));
    check_reference(settings, &second, x);
    drape_solver_destroy(solver);
    random_system_destroy(&first);
    random_system_destroy(&second);
    drape_context_destroy(ctx);
    PAIR_TRUE(settings, memory.live == 0);
}

static void warm_solves_allocate_nothing(void **state) {
    (void)state;
    drape_solve_settings settings;
    for (int32_t k = 0; pair_at(k, &settings); k++) check_warm(&settings);
}

/* Another pattern of as many blocks in the same arrays: what was made for the old one is not taken for it. One change
 * moves blocks between rows, one changes nothing but columns. */
static void check_changed_in_place(drape_context *ctx, const drape_solve_settings *settings) {
    enum { VERTICES = 4, BLOCKS = 8 };
    static const int64_t rows[3][VERTICES + 1] = {{0, 2, 4, 6, 8}, {0, 3, 5, 7, 8}, {0, 2, 4, 6, 8}};
    static const int32_t cols[3][BLOCKS] = {
        {0, 1, 0, 1, 2, 3, 2, 3}, {0, 1, 2, 0, 1, 0, 2, 3}, {0, 3, 1, 2, 1, 2, 0, 3}};
    int64_t rowptr[VERTICES + 1];
    int32_t col[BLOCKS];
    double val[9 * BLOCKS], b[3 * VERTICES], x[3 * VERTICES], fresh[3 * VERTICES];
    drape_bsr3 A = {VERTICES, rowptr, col, val};
    drape_problem problem = {.A = &A, .b = b};
    drape_solver *solver;
    drape_solve_result result;
    ASSERT_OK(ctx, drape_solver_create(ctx, settings, &solver));
    for (int k = 0; k < 9; k++) {
        memcpy(rowptr, rows[k % 3], sizeof rowptr);
        memcpy(col, cols[k % 3], sizeof col);
        memset(val, 0, sizeof val);
        for (int32_t i = 0; i < VERTICES; i++)
            for (int64_t n = rowptr[i]; n < rowptr[i + 1]; n++)
                for (int d = 0; d < 3; d++) val[9 * n + 4 * d] = col[n] == i ? 4 + i : -1;
        for (int i = 0; i < 3 * VERTICES; i++) b[i] = i - 5 + k;
        ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, &result));
        PAIR_REASON(settings, result.reason, DRAPE_CONVERGED);
        ASSERT_OK(ctx, drape_solve(ctx, &problem, settings, fresh, NULL));
        assert_memory_equal(x, fresh, sizeof x);
    }
    drape_solver_destroy(solver);
}

static void pattern_changed_in_place(void **state) {
    (void)state;
    for_every_pair(check_changed_in_place);
}

/* ---- What is kept how long ---- */

/* Memory that refuses requests beyond a size. */
static void *limited_alloc(void *user, size_t bytes) {
    const size_t *most = user;
    return bytes > *most ? NULL : aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void limited_free(void *user, void *block, size_t bytes) {
    (void)user, (void)bytes;
    free(block);
}

/* Another pattern of as many rows: vectors stay, so that nothing as large as one is allocated. */
static void vectors_belong_to_the_rows(void **state) {
    enum { ROWS = 1000 };
    (void)state;
    size_t most = SIZE_MAX;
    drape_context_settings wanted = drape_context_defaults();
    drape_context *ctx, *other = test_context(1);
    wanted.threads = 1;
    wanted.allocator = (drape_allocator){limited_alloc, limited_free, &most};
    assert_int_equal(drape_context_create(&wanted, &ctx), DRAPE_OK);
    random_system first = small_system(other, ROWS, 1), second = small_system(other, ROWS, 2);
    drape_solve_settings settings = drape_solve_defaults();
    drape_problem problem = {.A = &first.A, .b = first.b}, changed = {.A = &second.A, .b = second.b};
    drape_solver *solver;
    double *x = calloc(3 * ROWS, sizeof *x);
    settings.method = "cg";
    ASSERT_OK(ctx, drape_solver_create(ctx, &settings, &solver));
    ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, NULL));
    most = 3 * ROWS * sizeof *x - 1;
    ASSERT_OK(ctx, drape_solver_solve(solver, &changed, x, NULL));
    ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, NULL));
    random_system_destroy(&second);
    second = small_system(other, ROWS + 1, 2);
    x = realloc(x, 3 * (ROWS + 1) * sizeof *x);
    changed = (drape_problem){.A = &second.A, .b = second.b};
    assert_int_equal(drape_solver_solve(solver, &changed, x, NULL), DRAPE_ERROR_MEMORY);
    drape_solver_destroy(solver);
    assert_int_equal(drape_context_bytes(ctx), 0);
    random_system_destroy(&first);
    random_system_destroy(&second);
    free(x);
    drape_context_destroy(ctx);
    drape_context_destroy(other);
}

/* What "auto" has learnt stays with another pattern of as many rows, but not with other rows, nor when it forgets. */
static void history_belongs_to_the_kind(void **state) {
    enum { ROWS = 100 };
    (void)state;
    drape_context *ctx = test_context(1);
    random_system first = small_system(ctx, ROWS, 1), second = small_system(ctx, ROWS, 2),
                  more = small_system(ctx, ROWS + 1, 1);
    drape_problem problem = problem_of(&first), changed = problem_of(&second), larger = problem_of(&more);
    drape_solver *solver;
    double x[3 * (ROWS + 1)];
    ASSERT_OK(ctx, drape_solver_create(ctx, NULL, &solver));
    assert_true(solver->choice.hardness == 0);
    ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, NULL));
    double learnt = solver->choice.hardness;
    assert_true(learnt > 0);
    drape_i_choice_dismiss(&solver->choice, solver->choice.now);
    changed.tol = 0.999; /* so near that no iteration is needed */
    memset(second.b, 0, 3 * ROWS * sizeof *second.b);
    changed.constraints = NULL;
    ASSERT_OK(ctx, drape_solver_solve(solver, &changed, x, NULL));
    assert_true(solver->choice.hardness == learnt);
    for (int32_t k = 0; k < solver->choice.count; k++) assert_true(solver->choice.relation[k] < 1e9);
    drape_solver_forget(solver);
    assert_true(solver->choice.hardness == 0);
    ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, NULL));
    assert_true(solver->choice.hardness > 0);
    memset(more.b, 0, 3 * (ROWS + 1) * sizeof *more.b);
    larger.constraints = NULL;
    ASSERT_OK(ctx, drape_solver_solve(solver, &larger, x, NULL));
    assert_true(solver->choice.hardness == 0);
    drape_solver_destroy(solver);
    random_system_destroy(&first);
    random_system_destroy(&second);
    random_system_destroy(&more);
    drape_context_destroy(ctx);
}

/* A solver that was told to forget has no matrix that the next could be the same as. */
static void check_forgets_the_matrix(drape_context *ctx, const drape_solve_settings *settings) {
    test_random r = {6};
    random_system s = small_system(ctx, 30, 9);
    double x[90], want[90];
    drape_problem problem = problem_of(&s), same = problem;
    drape_solver *solver;
    same.same_matrix = 1;
    ASSERT_OK(ctx, drape_solver_create(ctx, settings, &solver));
    ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, NULL));
    change_values(ctx, &s, &r);
    drape_solver_forget(solver);
    ASSERT_OK(ctx, drape_solver_solve(solver, &same, x, NULL));
    ASSERT_OK(ctx, drape_solve(ctx, &problem, settings, want, NULL));
    assert_memory_equal(x, want, sizeof x);
    drape_solver_destroy(solver);
    random_system_destroy(&s);
}

static void forgetting_forgets_the_matrix(void **state) {
    (void)state;
    for_every_pair(check_forgets_the_matrix);
}

/* Creates a solver, solves with one size, then with another. */
static drape_status create_and_solve(drape_context *ctx, const random_system *s, const random_system *other,
                                     const drape_solve_settings *settings) {
    drape_solver *solver;
    double x[60];
    drape_problem problem = problem_of(s), second = problem_of(other);
    drape_status status = drape_solver_create(ctx, settings, &solver);
    if (status) {
        assert_null(solver);
        return status;
    }
    status = drape_solver_solve(solver, &problem, x, NULL);
    if (!status) status = drape_solver_solve(solver, &second, x, NULL);
    drape_solver_destroy(solver);
    return status;
}

static void check_failing_allocations(const drape_solve_settings *settings) {
    counting_allocator memory = {.left = -1};
    drape_context *ctx = counting_context(&memory);
    drape_solve_settings kept = *settings;
    random_system s = small_system(ctx, 10, 1), other = small_system(ctx, 20, 1);
    int64_t bytes = drape_context_bytes(ctx), live = memory.live;
    kept.history = 20;
    for (int64_t n = 0;; n++) {
        memory.left = n;
        memory.failed = false;
        drape_status status = create_and_solve(ctx, &s, &other, &kept);
        PAIR_TRUE(settings, status == (memory.failed ? DRAPE_ERROR_MEMORY : DRAPE_OK));
        PAIR_TRUE(settings, drape_context_bytes(ctx) == bytes);
        PAIR_TRUE(settings, memory.live == live);
        if (memory.failed) continue;
        PAIR_TRUE(settings, n > 5);
        break;
    }
    memory.left = -1;
    random_system_destroy(&s);
    random_system_destroy(&other);
    drape_context_destroy(ctx);
    PAIR_TRUE(settings, memory.live == 0);
}

static void failing_allocations(void **state) {
    (void)state;
    drape_solve_settings settings;
    for (int32_t k = 0; pair_at(k, &settings); k++) check_failing_allocations(&settings);
}

/* A solver that ran out of memory works again when there is some. */
static void memory_comes_back(void **state) {
    (void)state;
    counting_allocator memory = {.left = -1};
    drape_context *ctx = counting_context(&memory);
    random_system s = small_system(ctx, 10, 1);
    drape_solver *solver;
    double x[30], want[30];
    drape_problem problem = problem_of(&s);
    ASSERT_OK(ctx, drape_solver_create(ctx, NULL, &solver));
    memory.left = 3;
    assert_int_equal(drape_solver_solve(solver, &problem, x, NULL), DRAPE_ERROR_MEMORY);
    memory.left = -1;
    ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, NULL));
    random_reference(&s, want);
    ASSERT_NEAR(distance_of(30, x, want), 0, 1e-3 * norm_of(30, want));
    drape_solver_destroy(solver);
    random_system_destroy(&s);
    drape_context_destroy(ctx);
}

/* ---- Messages ---- */

static void expect_refusal(drape_context *ctx, drape_status status, const char *fragment) {
    assert_int_equal(status, DRAPE_ERROR_ARGUMENT);
    if (!strstr(drape_message(ctx), fragment)) fail_msg("'%s' lacks '%s'", drape_message(ctx), fragment);
}

static void refused_settings(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_solver *solver;
    const struct {
        drape_solve_settings settings;
        const char *fragment;
    } bad[] = {
        {{.method = "gauss", .tol = 1e-5, .max_iterations = 1}, "\"gauss\""},
        {{.method = "", .tol = 1e-5, .max_iterations = 1}, "method"},
        {{.method = "mpcg", .precond = "amgx", .tol = 1e-5, .max_iterations = 1}, "\"amgx\""},
        {{.method = "mpcg", .precond = "", .tol = 1e-5, .max_iterations = 1}, "preconditioner"},
        {{.method = "cg", .precond = "diagonal", .tol = 1e-5, .max_iterations = 1}, "cannot be used with"},
        {{.method = "mpcg", .tol = 1, .max_iterations = 1}, "tol is 1"},
        {{.method = "mpcg", .tol = -1e-5, .max_iterations = 1}, "tol is -1e-05"},
        {{.method = "mpcg", .tol = NAN, .max_iterations = 1}, "tol"},
        {{.method = "mpcg", .tol = 1e-5, .max_iterations = -7}, "max_iterations is -7"},
        {{.method = "mpcg", .tol = 1e-5, .max_iterations = 1, .stop = (drape_stop)3}, "stop is 3"},
        {{.method = "mpcg", .tol = 1e-5, .max_iterations = 1, .floor = -1}, "floor is -1"},
        {{.method = "mpcg", .tol = 1e-5, .max_iterations = 1, .floor = INFINITY}, "floor is inf"},
        {{.method = "mpcg", .tol = 1e-5, .max_iterations = 1, .omega = 2}, "omega is 2"},
        {{.method = "mpcg", .tol = 1e-5, .max_iterations = 1, .omega = -0.5}, "omega is -0.5"},
        {{.method = "mpcg", .tol = 1e-5, .max_iterations = 1, .history = -1}, "history is -1"},
        {{.method = "direct", .tol = 1e-5, .max_iterations = 1}, "needs a direct solver"},
        {{.method = "mpcg", .tol = 1e-5, .max_iterations = 1, .amg = {.theta = 1}}, "amg.theta is 1"},
        {{.method = "mpcg", .tol = 1e-5, .max_iterations = 1, .amg = {.theta = NAN}}, "amg.theta"},
        {{.method = "mpcg", .tol = 1e-5, .max_iterations = 1, .amg = {.modes = 4}}, "amg.modes is 4"},
        {{.method = "mpcg", .tol = 1e-5, .max_iterations = 1, .amg = {.levels = 17}}, "amg.levels is 17"},
        {{.method = "mpcg", .tol = 1e-5, .max_iterations = 1, .amg = {.levels = -1}}, "amg.levels is -1"},
        {{.method = "mpcg", .tol = 1e-5, .max_iterations = 1, .amg = {.reuse = (drape_reuse)3}}, "amg.reuse is 3"},
        {{.method = "mpcg", .tol = 1e-5, .max_iterations = 1, .amg = {.degree = 9}}, "amg.degree is 9"},
        {{.method = "mpcg", .tol = 1e-5, .max_iterations = 1, .amg = {.degree = -1}}, "amg.degree is -1"},
        {{.method = "mpcg", .tol = 1e-5, .max_iterations = 1, .amg = {.cycle = (drape_cycle)2}}, "amg.cycle is 2"},
        {{.method = "mpcg", .tol = 1e-5, .max_iterations = 1, .amg = {.smoother = (drape_smoother)2}},
         "amg.smoother is 2"},
        {{.reserved = {[6] = 1}}, "drape_solve_settings.reserved"},
        {{.amg = {.reserved = {[0] = 1}}}, "drape_amg_settings.reserved"},
    };
    for (int k = 0; k < (int)(sizeof bad / sizeof *bad); k++) {
        expect_refusal(ctx, drape_solver_create(ctx, &bad[k].settings, &solver), bad[k].fragment);
        assert_null(solver);
    }
    assert_int_equal(drape_context_bytes(ctx), 0);
    ASSERT_OK(ctx, drape_solver_create(ctx, NULL, &solver));
    drape_solver_destroy(solver);
    drape_solver_destroy(NULL);
    drape_context_destroy(ctx);
}

static void refused_problems(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    random_system s = small_system(ctx, 4, 1), other = small_system(ctx, 5, 1);
    drape_solver *solver;
    double x[12], want[12];
    const drape_problem good = problem_of(&s);
    drape_problem p = good;
    drape_bsr3 A = s.A;
    int64_t rowptr[5] = {0, 1, 2, 3, 4};
    int32_t col[4] = {0, 1, 4, 3};
    ASSERT_OK(ctx, drape_solver_create(ctx, NULL, &solver));
    ASSERT_OK(ctx, drape_solver_solve(solver, &good, want, NULL));
    expect_refusal(ctx, drape_solver_solve(solver, &good, NULL, NULL), "missing");
    p.A = NULL;
    expect_refusal(ctx, drape_solver_solve(solver, &p, x, NULL), "missing");
    p = good;
    p.b = NULL;
    expect_refusal(ctx, drape_solver_solve(solver, &p, x, NULL), "missing");
    p = good;
    p.constraints = other.set;
    expect_refusal(ctx, drape_solver_solve(solver, &p, x, NULL), "constraints for 5 vertices, matrix of 4");
    p = good;
    p.A = &A;
    p.constraints = NULL;
    A.val = NULL;
    expect_refusal(ctx, drape_solver_solve(solver, &p, x, NULL), "missing");
    A = s.A;
    A.rowptr = NULL;
    expect_refusal(ctx, drape_solver_solve(solver, &p, x, NULL), "missing");
    A = s.A;
    A.col = NULL;
    assert_int_equal(drape_solver_solve(solver, &p, x, NULL), DRAPE_ERROR_ARGUMENT);
    A = s.A;
    A.rows = -1;
    expect_refusal(ctx, drape_solver_solve(solver, &p, x, NULL), "-1 rows");
    expect_refusal(ctx, drape_solve(ctx, &p, NULL, x, NULL), "-1 rows");
    A = (drape_bsr3){4, rowptr, col, s.A.val};
    expect_refusal(ctx, drape_solve(ctx, &p, NULL, x, NULL), "row 2");
    ASSERT_OK(ctx, drape_solver_solve(solver, &good, x, NULL)); /* none of this spoiled it */
    assert_memory_equal(x, want, sizeof x);
    drape_solver_destroy(solver);
    random_system_destroy(&s);
    random_system_destroy(&other);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

/* ---- Once, without keeping anything ---- */

static void one_shot(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    random_system s = small_system(ctx, 15, 3);
    drape_problem problem = problem_of(&s), plain = {.A = &s.A, .b = s.b};
    drape_solve_result result;
    double x[45], y[45], want[45];
    int64_t bytes = drape_context_bytes(ctx);
    random_reference(&s, want);
    ASSERT_OK(ctx, drape_solve(ctx, &problem, NULL, x, &result));
    assert_int_equal(result.reason, DRAPE_CONVERGED);
    assert_null(result.constraint_force);
    assert_null(result.history);
    assert_true(result.setup_seconds >= 0 && result.solve_seconds >= 0);
    ASSERT_NEAR(distance_of(45, x, want), 0, 1e-3 * norm_of(45, want));
    ASSERT_OK(ctx, drape_solve(ctx, &plain, NULL, x, NULL));
    ASSERT_OK(ctx, drape_multiply(ctx, &s.A, x, y));
    ASSERT_NEAR(distance_of(45, y, s.b), 0, 1e-3 * norm_of(45, s.b));
    assert_int_equal(drape_context_bytes(ctx), bytes);
    random_system_destroy(&s);
    drape_context_destroy(ctx);
}

static void names(void **state) {
    (void)state;
    drape_solve_settings settings = drape_solve_defaults();
    for (int32_t k = 0; drape_method_name(k); k++) assert_true(strlen(drape_method_about(k)) > 5);
    for (int32_t k = 0; drape_precond_name(k); k++) assert_true(strlen(drape_precond_about(k)) > 5);
    assert_string_equal(settings.method, "auto");
    assert_string_equal(settings.precond, "auto");
    assert_null(drape_method_about(-1));
    assert_null(drape_precond_about(INT32_MAX));
    assert_null(drape_stop_name((drape_stop)-1));
    assert_null(drape_stop_name(DRAPE_STOP_ENERGY + 1));
    assert_string_equal(drape_smoother_name(DRAPE_SMOOTHER_GAUSS_SEIDEL), "gauss-seidel");
    assert_string_equal(drape_smoother_name(DRAPE_SMOOTHER_CHEBYSHEV), "chebyshev");
    assert_string_equal(drape_cycle_name(DRAPE_CYCLE_V), "v");
    assert_string_equal(drape_cycle_name(DRAPE_CYCLE_W), "w");
    for (int32_t k = 2; k > -2; k -= 3) { /* past the end, before the start */
        assert_null(drape_smoother_name((drape_smoother)k));
        assert_null(drape_cycle_name((drape_cycle)k));
    }
    assert_string_equal(drape_reuse_name(DRAPE_REUSE_EVERYTHING), "everything");
    assert_null(drape_reuse_name((drape_reuse)3));
    assert_null(drape_reason_name((drape_reason)-1));
    assert_null(drape_method_name(-1));
    assert_null(drape_precond_name(-1));
    assert_null(drape_method_name(INT32_MAX));
    for (int reason = DRAPE_CONVERGED; reason <= DRAPE_INACCURATE; reason++)
        for (int other = reason + 1; other <= DRAPE_INACCURATE; other++)
            assert_string_not_equal(drape_reason_name((drape_reason)reason), drape_reason_name((drape_reason)other));
}

/* Settings of zeros solve as the defaults do, bit for bit. */
static void zeros_are_the_defaults(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    random_system s = small_system(ctx, 40, 3);
    const drape_problem problem = problem_of(&s);
    const char *const preconds[] = {NULL, "ssor", "amg"};
    double x[2][120];
    for (int k = 0; k < 3; k++) {
        drape_solve_settings usual = drape_solve_defaults(), zeros = {.precond = preconds[k]};
        drape_solve_result a, b;
        if (preconds[k]) usual.precond = preconds[k];
        zeros.amg.smoother = usual.amg.smoother = DRAPE_SMOOTHER_CHEBYSHEV;
        ASSERT_OK(ctx, drape_solve(ctx, &problem, &usual, x[0], &a));
        ASSERT_OK(ctx, drape_solve(ctx, &problem, &zeros, x[1], &b));
        assert_true(a.iterations == b.iterations && a.reason == DRAPE_CONVERGED && b.reason == DRAPE_CONVERGED);
        assert_memory_equal(x[0], x[1], sizeof x[0]);
    }
    random_system_destroy(&s);
    drape_context_destroy(ctx);
}

/* ---- Bits ---- */

/* A context of so many threads and this level, or NULL where the processor lacks it. */
static drape_context *context_at(int32_t threads, drape_simd simd) {
    drape_context_settings settings = drape_context_defaults();
    drape_context *ctx;
    settings.threads = threads;
    settings.simd = simd;
    return drape_context_create(&settings, &ctx) == DRAPE_OK ? ctx : NULL;
}

enum { MANY = 3001 };

static void solve_in(drape_context *ctx, const random_system *s, const drape_solve_settings *settings, double *x,
                     double *force, drape_solve_result *result) {
    drape_solver *solver;
    drape_constraints *set; /* of this context */
    drape_problem problem = problem_of(s);
    ASSERT_OK(ctx, drape_constraints_create(ctx, s->rows, &set));
    ASSERT_OK(ctx, drape_constraints_set(set, s->list, s->held));
    problem.constraints = set;
    ASSERT_OK(ctx, drape_solver_create(ctx, settings, &solver));
    ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, result));
    memcpy(force, result->constraint_force, 3 * MANY * sizeof *force);
    drape_solver_destroy(solver);
    drape_constraints_destroy(set);
}

static void same_bits(const random_system *s, const drape_solve_settings *settings) {
    static const int32_t threads[] = {1, 2, 3, 7};
    double *want = calloc(12 * MANY, sizeof *want), *want_force = want + 3 * MANY, *x = want + 6 * MANY,
           *force = want + 9 * MANY;
    drape_solve_result expected, result;
    drape_context *first = context_at(1, DRAPE_SIMD_BASELINE);
    solve_in(first, s, settings, want, want_force, &expected);
    drape_context_destroy(first);
    for (int simd = DRAPE_SIMD_BASELINE; simd <= DRAPE_SIMD_AVX512; simd++)
        for (int k = 0; k < 4; k++) {
            drape_context *ctx = context_at(threads[k], (drape_simd)simd);
            if (!ctx) continue; /* not on this processor */
            solve_in(ctx, s, settings, x, force, &result);
            assert_int_equal(result.iterations, expected.iterations);
            assert_int_equal(result.reason, expected.reason);
            assert_memory_equal(&result.residual, &expected.residual, sizeof(double));
            assert_memory_equal(&result.true_residual, &expected.true_residual, sizeof(double));
            assert_memory_equal(x, want, 3 * MANY * sizeof *x);
            assert_memory_equal(force, want_force, 3 * MANY * sizeof *x);
            drape_context_destroy(ctx);
        }
    free(want);
}

/* All but "direct", whose arithmetic is its own. */
static void threads_and_levels_change_no_bit(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    random_settings make = {MANY, 1e4, 0.1, RANDOM_DIRECTIONS, true, 0.01, 11};
    random_system s = random_system_create(ctx, &make);
    drape_solve_settings settings;
    for (int32_t k = 0; pair_at(k, &settings); k++) {
        settings.max_iterations = 15;
        settings.history = 16; /* which has the norms computed that not every method needs */
        if (!pair_is_direct(&settings)) same_bits(&s, &settings);
    }
    random_system_destroy(&s);
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_sizes),
        cmocka_unit_test(forgetting_makes_it_new),
        cmocka_unit_test(same_matrix_is_kept),
        cmocka_unit_test(zeros_are_the_defaults),
        cmocka_unit_test(refused_solves_are_not_kept),
        cmocka_unit_test(direct_factor_is_kept),
        cmocka_unit_test(warm_solves_allocate_nothing),
        cmocka_unit_test(pattern_changed_in_place),
        cmocka_unit_test(vectors_belong_to_the_rows),
        cmocka_unit_test(history_belongs_to_the_kind),
        cmocka_unit_test(forgetting_forgets_the_matrix),
        cmocka_unit_test(failing_allocations),
        cmocka_unit_test(memory_comes_back),
        cmocka_unit_test(refused_settings),
        cmocka_unit_test(refused_problems),
        cmocka_unit_test(one_shot),
        cmocka_unit_test(names),
        cmocka_unit_test(threads_and_levels_change_no_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
