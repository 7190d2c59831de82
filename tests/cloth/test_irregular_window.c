/* Windows of irregular grids are the same bits as if they were cut out of the whole, and take less memory. */
#include "base/arena.h"
#include "cloth/grid.h"
#include "sparse/counting_allocator.h"

#include <string.h>

typedef struct shape {
    int32_t nx, ny;
    double aspect; /* width of a cell, of its height */
    double cut;    /* 1: a rectangle */
    bool alternating, tube;
} shape;

static drape_i_grid describe(const shape *s) {
    const int32_t cut_x = (int32_t)(s->cut * (s->nx - 1)), cut_y = (int32_t)(s->cut * (s->ny - 1));
    return (drape_i_grid){.nx = s->nx,
                          .ny = s->ny,
                          .cut_x = cut_x > 0 ? cut_x : 1,
                          .cut_y = cut_y > 0 ? cut_y : 1,
                          .width = s->aspect * (s->nx - 1),
                          .height = s->ny - 1,
                          .alternating = s->alternating};
}

static void make_whole(drape_context *ctx, drape_i_arena *arena, const shape *s, uint64_t seed, drape_i_grid *g) {
    *g = describe(s);
    ASSERT_OK(ctx, drape_i_grid_make(ctx, arena, g));
    if (s->tube) ASSERT_OK(ctx, drape_i_irregular_tube(ctx, seed, g));
    else ASSERT_OK(ctx, drape_i_irregular(ctx, seed, g->vertices, g->uv, g->triangles, g->triangle));
}

static drape_status make_window(drape_context *ctx, drape_i_arena *arena, const shape *s, uint64_t seed,
                                const drape_i_window *window, drape_i_irregular_plan *plan, drape_i_grid *g) {
    *g = describe(s);
    g->partly = g->loose = true;
    g->window = *window;
    drape_status status = drape_i_grid_make(ctx, arena, g);
    return status ? status : drape_i_irregular_window(ctx, seed, s->tube, plan, g);
}

/* Vertices and triangles of the window as the whole has them, in its order. */
static void assert_is_cut(const drape_i_grid *part, const drape_i_grid *whole) {
    const drape_i_window *w = &part->window;
    int32_t at = 0;
    int32_t *number = malloc((size_t)whole->vertices * sizeof *number); /* in the window */
    assert_non_null(number);
    for (int32_t v = 0; v < whole->vertices; v++) number[v] = -1;
    for (int32_t j = w->from[1]; j < w->to[1]; j++)
        for (int32_t i = w->from[0]; i < w->to[0]; i++) {
            const int32_t v = drape_i_grid_vertex(whole, i, j), n = drape_i_grid_vertex(part, i, j);
            assert_int_equal(v < 0, n < 0);
            if (v < 0) continue;
            number[v] = n;
            assert_memory_equal(part->uv + 2 * (int64_t)n, whole->uv + 2 * (int64_t)v, 2 * sizeof(double));
        }
    for (int32_t t = 0; t < whole->triangles; t++) {
        const int32_t *c = whole->triangle[t];
        const int32_t wanted[3] = {number[c[0]], number[c[1]], number[c[2]]};
        if (wanted[0] < 0 || wanted[1] < 0 || wanted[2] < 0) continue;
        assert_true(at < part->triangles);
        assert_memory_equal(part->triangle[at++], wanted, sizeof wanted);
    }
    assert_int_equal(at, part->triangles);
    free(number);
}

/* Some windows, the first of which finds the plan; all of the grid is one of them. */
static void try_one(drape_context *ctx, const shape *s, uint64_t seed) {
    const int32_t nx = s->nx, ny = s->ny, left = s->tube ? 0 : nx / 3, right = s->tube ? nx : nx - nx / 4;
    const drape_i_window windows[] = {{{left, ny / 4}, {right, ny / 2}},
                                      {{0, 0}, {nx, ny}},
                                      {{left, ny - ny / 3}, {nx, ny}},
                                      {{0, 0}, {right, 1}},
                                      {{0, ny}, {nx, ny}}};
    drape_i_irregular_plan plan = {0};
    drape_i_arena arena = {0};
    drape_i_grid whole;
    make_whole(ctx, &arena, s, seed, &whole);
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        drape_i_arena scratch = {0};
        drape_i_grid part;
        ASSERT_OK(ctx, make_window(ctx, &scratch, s, seed, &windows[i], &plan, &part));
        assert_true(plan.known);
        assert_is_cut(&part, &whole);
        drape_i_arena_free(ctx, &scratch);
    }
    drape_i_arena_free(ctx, &arena);
}

static void try_all(const shape *shapes, size_t count, uint64_t seeds) {
    drape_context *ctx = test_context(1);
    for (size_t i = 0; i < count; i++)
        for (uint64_t seed = 0; seed < seeds; seed++) try_one(ctx, &shapes[i], seed);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

static void small_ones(void **state) {
    (void)state;
    for (int32_t nx = 2; nx <= 9; nx++)
        for (int32_t ny = 2; ny <= 9; ny++) {
            const shape s[] = {{nx, ny, 1, 1, false, false},
                               {nx, ny, 1, 0.5, true, false},
                               {nx > 3 ? nx : 4, ny, 1, 1, false, true}};
            try_all(s, 3, 3);
        }
}

/* With so many rows that most have left before the last one comes. */
static void long_ones(void **state) {
    (void)state;
    static const shape shapes[] = {{7, 1200, 1, 1, false, false},   {40, 300, 1, 1, true, false},
                                   {101, 400, 1, 1, false, false},  {2, 900, 1, 1, false, false},
                                   {50, 350, 1, 0.6, false, false}, {30, 500, 1, 0.3, true, false},
                                   {31, 400, 1, 1, false, true},    {4, 600, 1, 1, false, true}};
    try_all(shapes, sizeof shapes / sizeof *shapes, 2);
}

/* Flat cells need larger lags, some of which are found by trying. They also take all attempts and many rounds. */
static void flat_and_tall_cells(void **state) {
    (void)state;
    static const double aspects[] = {0.05, 0.3, 0.6, 1.3, 1.7, 2.5, 4, 10};
    for (size_t i = 0; i < sizeof aspects / sizeof *aspects; i++) {
        const shape s[] = {{25, 400, aspects[i], 1, false, false},
                           {40, 41, aspects[i], 0.7, false, false},
                           {20, 300, aspects[i], 1, false, true}};
        try_all(s, 3, 1);
    }
}

/* A hundred rows and their pass times 80 bytes, not 2,000 rows. */
static void a_window_takes_little_memory(void **state) {
    (void)state;
    const shape s = {20, 2000, 1, 1, false, false};
    const drape_i_window window = {{0, 500}, {20, 520}};
    counting_allocator memory = {.left = INT64_MAX};
    drape_context *ctx = counting_context(&memory);
    drape_i_irregular_plan plan = {0};
    drape_i_arena arena = {0};
    drape_i_grid part;
    ASSERT_OK(ctx, make_window(ctx, &arena, &s, 1, &window, &plan, &part));
    assert_true(memory.peak < (int64_t)20 * 150 * 100);
    drape_i_arena_free(ctx, &arena);
    drape_context_destroy(ctx);
}

static void grids_of_no_area_are_refused(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_i_arena arena = {0};
    drape_i_irregular_plan plan = {0};
    drape_i_grid g = {.nx = 5, .ny = 4, .cut_x = 4, .cut_y = 3, .width = 1e-200, .height = 1e-200};
    g.partly = g.loose = true;
    g.window = (drape_i_window){{0, 0}, {5, 4}};
    ASSERT_OK(ctx, drape_i_grid_make(ctx, &arena, &g));
    assert_int_equal(drape_i_irregular_window(ctx, 1, false, &plan, &g), DRAPE_ERROR_ARGUMENT);
    assert_string_equal(drape_message(ctx), "triangle 0 is clockwise or has no area");
    drape_i_arena_free(ctx, &arena);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

static void a_failing_allocation_leaves_nothing(void **state) {
    (void)state;
    const shape s = {20, 200, 1, 1, false, true};
    const drape_i_window window = {{0, 50}, {20, 90}};
    bool failed = true;
    int64_t n = 0;
    for (; failed; n++) {
        counting_allocator memory = {.left = n};
        drape_context *ctx = counting_context(&memory);
        drape_i_irregular_plan plan = {0};
        drape_i_arena arena = {0};
        drape_i_grid part;
        drape_status status = make_window(ctx, &arena, &s, 1, &window, &plan, &part);
        failed = memory.failed;
        assert_int_equal(status, failed ? DRAPE_ERROR_MEMORY : DRAPE_OK);
        drape_i_arena_free(ctx, &arena);
        drape_context_destroy(ctx);
        assert_int_equal(memory.live, 0);
    }
    assert_true(n > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_ones),
        cmocka_unit_test(long_ones),
        cmocka_unit_test(flat_and_tall_cells),
        cmocka_unit_test(a_window_takes_little_memory),
        cmocka_unit_test(grids_of_no_area_are_refused),
        cmocka_unit_test(a_failing_allocation_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
