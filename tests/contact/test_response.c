/* The response to contacts: what it keeps is free of contacts, by brute force; and it keeps what it should.
 * Under sanitizers in a quarter of the random cases. */
#include "contact/response_parts.h"
#include "sparse/counting_allocator.h"
#include "support/soups.h"

#include <stdlib.h>
#include <string.h>

static bool run(soup *s) {
    const drape_i_response_request q = {.world = s->world, .inverse_mass = s->inverse_mass};
    bool kept;
    ASSERT_OK(s->ctx, drape_i_response_run(s->response, &q, NULL, &kept));
    return kept;
}

/* ---- Soups ---- */

typedef struct tally {
    int32_t runs, kept, hit, passes, rounds, truncated, refused_by_trouble;
    int64_t hits;
} tally;

/* Pairs that were found before, some of them for nothing. */
static void search_here(soup *s, drape_i_response_request *q) {
    q->found = true, q->margin = 0.01;
    ASSERT_OK(s->ctx, drape_i_world_find(s->world, q->margin, 0));
}

/* The same for other ends of the cloth, each coordinate by so much away, up or down; to be freed. */
static double *search_elsewhere(soup *s, drape_i_response_request *q, double away) {
    double *ends = malloc(3 * (size_t)s->vertices * sizeof *ends);
    assert_non_null(ends);
    for (int32_t i = 0; i < 3 * s->vertices; i++) ends[i] = s->x1[i] + (i % 2 ? away : -away) / 2;
    drape_i_world_set_motion(s->world, s->x0, 0, ends, 1);
    search_here(s, q);
    start_soup(s);
    q->searched = ends;
    return ends;
}

static void run_soup(soup *s, const drape_i_response_request *how, tally *t) {
    drape_i_response_request q = *how;
    drape_i_response_counts counts;
    bool kept;
    q.world = s->world;
    q.inverse_mass = s->inverse_mass;
    double *other = NULL;
    if (t->runs % 4 == 3) other = search_elsewhere(s, &q, t->runs % 8 == 3 ? 0.004 : 0.2);
    else if (t->runs % 2) search_here(s, &q);
    ASSERT_OK(s->ctx, drape_i_response_run(s->response, &q, &counts, &kept));
    assert_true(!q.found || counts.searches == 0 || counts.moved > 0 || t->runs % 8 == 7);
    assert_true(t->runs % 8 != 7 || counts.searches > 0); /* too far away to be of use */
    free(other);
    t->runs++, t->kept += kept, t->hit += counts.hits > 0, t->hits += counts.hits;
    t->passes += counts.passes, t->rounds += counts.zone_rounds, t->truncated += counts.truncated > 0;
    const drape_i_trouble *trouble = drape_i_response_trouble_of(s->response);
    assert_true(kept == (trouble->kind == DRAPE_I_TROUBLE_NONE));
    for (int32_t i = 0; i < s->world->vertices; i++) {
        double given[3];
        if (i < s->vertices) memcpy(given, s->x1 + 3 * i, sizeof given);
        else memcpy(given, s->world->end + 3 * i, sizeof given);
        bool moved = memcmp(given, s->world->end + 3 * i, sizeof given) != 0;
        assert_int_equal(moved, drape_i_response_moved(s->response)[i] != 0);
        assert_true(!moved || s->inverse_mass[i] > 0);
    }
    if (!kept) return;
    assert_int_equal(soup_violations(s, s->world->start, s->world->end, 1), 0);
    assert_int_equal(soup_crossings(s, s->world->end), 0);
}

static void throw_soups(const char *what, int32_t runs, const soup_recipe *recipe,
                        const drape_i_response_request *how, tally *t) {
    test_random r = {11};
    drape_context *ctx = test_context(1);
    *t = (tally){0};
    for (int32_t i = 0; i < runs; i++) {
        soup s = make_soup(ctx, &r, recipe);
        run_soup(&s, how, t);
        free_soup(&s);
    }
    print_message("%s: %d runs, %d with hits (%lld), %d kept; %d passes, %d rounds, truncated in %d\n", what, t->runs,
                  t->hit, (long long)t->hits, t->kept, t->passes, t->rounds, t->truncated);
    assert_true(2 * t->hit > runs);
    drape_context_destroy(ctx);
}

enum { RUNS = TEST_CASES(20), ALL_RUNS = 20 }; /* all where some must fail and some not */
static int scale = 1;                          /* how many times as many soups as usual */

/* Nothing but cloth moves: every step is possible. */
static void test_static_soups(void **state) {
    (void)state;
    static const double thickness[] = {0, 1e-3, 0.03};
    for (int k = 0; k < 3; k++)
        for (uint32_t objects = 0; objects <= SOUP_ALL; objects += objects ? 14 : 1) {
            soup_recipe recipe = {
                .patches = 4, .objects = objects, .thickness = thickness[k], .speed = 0.5, .friction = 0.3};
            tally t;
            throw_soups("static", RUNS * scale, &recipe, &(drape_i_response_request){0}, &t);
            assert_int_equal(t.kept, t.runs);
        }
}

static void test_truncation_alone(void **state) {
    (void)state;
    const drape_i_response_request how = {.no_impulses = true, .no_zones = true};
    for (uint32_t objects = 0; objects <= SOUP_ALL; objects += objects ? 14 : 1) {
        soup_recipe recipe = {.patches = 4, .objects = objects, .thickness = 1e-3, .speed = 0.5};
        tally t;
        throw_soups("truncation alone", RUNS * scale, &recipe, &how, &t);
        assert_int_equal(t.kept, t.runs);
        assert_int_equal(t.truncated, t.hit);
    }
}

static void test_zones_alone(void **state) {
    (void)state;
    const drape_i_response_request how = {.no_impulses = true, .paper = true};
    soup_recipe recipe = {.patches = 4, .objects = SOUP_ALL, .thickness = 1e-3, .speed = 0.5};
    tally t;
    throw_soups("zones alone", ALL_RUNS * scale, &recipe, &how, &t);
    assert_true(10 * t.kept > 9 * t.runs);
    assert_int_equal(t.truncated, 0);
}

static void test_moving_soups(void **state) {
    (void)state;
    soup_recipe recipe = {
        .patches = 4, .objects = SOUP_ALL, .thickness = 1e-3, .speed = 0.5, .moving = true, .pinned = 0.1};
    tally t;
    throw_soups("moving", ALL_RUNS * scale, &recipe, &(drape_i_response_request){0}, &t);
    assert_true(t.kept < t.runs && t.kept > t.runs / 10);
    recipe.pinned = 0;
    throw_soups("moving, no pins", ALL_RUNS * scale, &recipe, &(drape_i_response_request){0}, &t);
    assert_true(t.kept > t.runs / 2);
    throw_soups("moving, no pins, paper", RUNS * scale, &recipe, &(drape_i_response_request){.paper = true}, &t);
}

/* ---- Step after step ---- */

/* All patches fall into the middle, again and again: each step begins where the last one ended. No elasticity keeps
 * them in shape, so triangles become slivers; every step has to be possible all the same. */
static void press(soup *s, test_random *r, const drape_i_response_request *how, int steps, tally *t) {
    for (int step = 0; step < steps; step++) {
        start_soup(s);
        run_soup(s, how, t);
        assert_int_equal(t->kept, t->runs);
        for (int32_t i = 0; i < 3 * s->vertices; i++) {
            s->x0[i] = s->world->end[i];
            s->x1[i] = s->x0[i] * 0.9 + test_random_between(r, -0.02, 0.02);
        }
    }
}

static void test_many_steps(void **state) {
    (void)state;
    static const drape_i_response_request how[] = {{0}, {.no_impulses = true, .no_zones = true}};
    static const double thickness[] = {0, 2e-3};
    drape_context *ctx = test_context(2);
    for (int k = 0; k < 8 * scale; k++) {
        test_random r = {20 + (uint64_t)k};
        soup_recipe recipe = {.patches = 5,
                              .objects = k % 2 ? SOUP_ALL : SOUP_NONE,
                              .thickness = thickness[k / 2 % 2],
                              .speed = 0.2,
                              .friction = 0.5};
        soup s = make_soup(ctx, &r, &recipe);
        tally t = {0};
        press(&s, &r, &how[k / 4 % 2], 30, &t);
        print_message("thickness %g: %lld hits, %d passes, %d rounds, truncated in %d steps\n", recipe.thickness,
                      (long long)t.hits, t.passes, t.rounds, t.truncated);
        assert_true(t.hits > 30);
        free_soup(&s);
    }
    drape_context_destroy(ctx);
}

/* ---- Momentum ---- */

/* sum m d and sum m x0 x d, and the same with absolute values */
static void momenta(const soup *s, const double *end, double P[3], double L[3], double size[2]) {
    memset(P, 0, 3 * sizeof *P), memset(L, 0, 3 * sizeof *L);
    size[0] = size[1] = 0;
    for (int32_t i = 0; i < s->vertices; i++) {
        const double *x = s->x0 + 3 * i, m = 1 / s->inverse_mass[i];
        for (int k = 0; k < 3; k++) {
            int a = (k + 1) % 3, b = (k + 2) % 3;
            double da = end[3 * i + a] - x[a], db = end[3 * i + b] - x[b];
            P[k] += m * (end[3 * i + k] - x[k]);
            L[k] += m * (x[a] * db - x[b] * da);
            size[0] += m * fabs(end[3 * i + k] - x[k]);
            size[1] += m * (fabs(x[a] * db) + fabs(x[b] * da));
        }
    }
}

static void test_momentum(void **state) {
    (void)state;
    static const drape_i_response_request how[] = {
        {.no_zones = true, .paper = true}, {.no_impulses = true, .paper = true}, {.paper = true}};
    drape_context *ctx = test_context(1);
    for (int h = 0; h < 3; h++)
        for (int i = 0; i < TEST_CASES(60); i++) {
            test_random r = {100 + (uint64_t)i};
            soup_recipe recipe = {.patches = 4, .thickness = 1e-3 * (i % 3), .speed = 0.4, .friction = 0.3 * (i % 2)};
            soup s = make_soup(ctx, &r, &recipe);
            drape_i_response_request q = how[h];
            drape_i_response_counts counts;
            double P[2][3], L[2][3], size[2];
            bool kept;
            q.world = s.world, q.inverse_mass = s.inverse_mass;
            momenta(&s, s.world->end, P[0], L[0], size);
            ASSERT_OK(ctx, drape_i_response_run(s.response, &q, &counts, &kept));
            momenta(&s, s.world->end, P[1], L[1], size);
            for (int k = 0; k < 3; k++) {
                ASSERT_NEAR(P[1][k], P[0][k], 1e-12 * size[0]);
                ASSERT_NEAR(L[1][k], L[0][k], 1e-12 * size[1]);
            }
            assert_true(counts.hits == 0 || counts.moved > 0);
            free_soup(&s);
        }
    drape_context_destroy(ctx);
}

/* ---- Friction ---- */

static const int32_t one_triangle[3] = {0, 1, 2};
static const double floor_corner[9] = {-10, -10, 0, 10, -10, 0, 0, 10, 0};

static drape_collider floor_triangle(double thickness) {
    return (drape_collider){.shape = DRAPE_COLLIDER_MESH,
                            .vertices = 3,
                            .positions = floor_corner,
                            .triangles = 1,
                            .triangle = one_triangle,
                            .thickness = thickness};
}

/* m: a quarter of the way from the floor, a hundredth of half the thickness, to that half. */
static const double ENDS_AT = 1e-5 + 0.25 * (1e-3 - 1e-5);

/* A flat triangle that falls by 5 cm from 1 cm above and slides by 10 cm meanwhile, onto a triangle or a plane. */
static double slide(drape_collider under, double friction, double carried, bool zones) {
    static const double corner[9] = {0, 0, 0, 0.1, 0, 0, 0, 0.1, 0};
    const drape_collider_key key[2] = {{.time = 0}, {.time = 1, .position = {carried, 0, 0}}};
    under.key = key, under.key_count = 2, under.friction = 0.25 * friction;
    drape_context *ctx = test_context(1);
    soup s = soup_of(ctx, &(soup_parts){3, 1, one_triangle, 2e-3, 4 * friction, &under, 1});
    for (int i = 0; i < 9; i++) {
        s.x0[i] = corner[i] + (i % 3 == 2 ? 0.01 : 0);
        s.x1[i] = s.x0[i] + (i % 3 == 2 ? -0.05 : i % 3 == 0 ? 0.1 : 0);
    }
    drape_i_response_request q = {.world = s.world, .inverse_mass = s.inverse_mass, .no_impulses = zones};
    drape_i_response_counts counts;
    bool kept;
    start_soup(&s);
    ASSERT_OK(ctx, drape_i_response_run(s.response, &q, &counts, &kept));
    assert_true(kept && counts.truncated == 0);
    double slid = s.world->end[0] - s.x0[0];
    for (int i = 0; i < 3; i++) {
        ASSERT_NEAR(s.world->end[3 * i] - s.x0[3 * i], slid, 1e-9);
        ASSERT_NEAR(s.world->end[3 * i + 1] - s.x0[3 * i + 1], 0, 1e-9);
        ASSERT_NEAR(s.world->end[3 * i + 2], ENDS_AT, 1e-9);
    }
    free_soup(&s);
    drape_context_destroy(ctx);
    return slid;
}

static void test_friction(void **state) {
    (void)state;
    const drape_collider under[2] = {floor_triangle(0), {.shape = DRAPE_COLLIDER_PLANE}};
    const double stopped = 0.04 + ENDS_AT; /* what the fall was shortened by */
    for (int i = 0; i < 4; i++) {
        bool zones = i / 2;
        ASSERT_NEAR(slide(under[i % 2], 0, 0, zones), 0.1, 1e-9);
        ASSERT_NEAR(slide(under[i % 2], 0.5, 0, zones), 0.1 - 0.5 * stopped, 1e-9);
        ASSERT_NEAR(slide(under[i % 2], 5, 0, zones), 0, 1e-9);
        ASSERT_NEAR(slide(under[i % 2], 5, 0.07, zones), 0.07, 1e-9);
        ASSERT_NEAR(slide(under[i % 2], 0.5, 0.3, zones), 0.1 + 0.5 * stopped, 1e-9);
    }
}

/* ---- Layers ---- */

/* Sheets of one square each, in a pile, fall on each other: each one farther than the one below it. */
static int32_t drop_layers(drape_context *ctx, const drape_collider *under) {
    enum { LAYERS = 12 };
    int32_t triangle[2 * LAYERS][3], truncated = 0;
    for (int i = 0; i < LAYERS; i++)
        memcpy(triangle[2 * i], (int32_t[2][3]){{4 * i, 4 * i + 1, 4 * i + 2}, {4 * i + 1, 4 * i + 3, 4 * i + 2}},
               sizeof *triangle * 2);
    soup s = soup_of(ctx, &(soup_parts){4 * LAYERS, 2 * LAYERS, triangle[0], 1e-3, 0.3, under, 1});
    test_random r = {3};
    for (int32_t i = 0; i < 4 * LAYERS; i++) {
        double *x = s.x0 + 3 * i;
        x[0] = i % 2, x[1] = i / 2 % 2, x[2] = 0.004 * (i / 4 + 1);
        for (int k = 0; k < 2; k++) x[k] += test_random_between(&r, -0.2, 0.2);
    }
    for (int step = 0; step < 40; step++) {
        drape_i_response_counts counts;
        bool kept;
        for (int32_t i = 0; i < 12 * LAYERS; i++) s.x1[i] = s.x0[i] + (i % 3 == 2 ? -1e-3 * (i / 12 + 1) : 0);
        start_soup(&s);
        drape_i_response_request q = {.world = s.world, .inverse_mass = s.inverse_mass};
        ASSERT_OK(ctx, drape_i_response_run(s.response, &q, &counts, &kept));
        assert_true(kept);
        assert_int_equal(soup_violations(&s, s.world->start, s.world->end, 1), 0);
        assert_int_equal(soup_crossings(&s, s.world->end), 0);
        truncated += counts.truncated;
        memcpy(s.x0, s.world->end, 12 * LAYERS * sizeof *s.x0);
    }
    for (int32_t i = 0; i < 4 * LAYERS; i++) assert_true(s.x0[3 * i + 2] > 0);
    free_soup(&s);
    return truncated;
}

static void test_layers(void **state) {
    (void)state;
    const drape_collider under[2] = {floor_triangle(0), {.shape = DRAPE_COLLIDER_PLANE}};
    drape_context *ctx = test_context(1);
    for (int i = 0; i < 2; i++) {
        int32_t truncated = drop_layers(ctx, &under[i]);
        print_message("12 layers in 40 steps: %d vertices truncated\n", truncated);
        assert_true(truncated < 12 * 4 * 40 / 20);
    }
    drape_context_destroy(ctx);
}

/* ---- Floors that rise ---- */

/* Two triangles almost as near as their floor, pressed together, while a third one far away makes the largest
 * coordinate, and with it the floor, three times as large. */
static void test_rising_floor(void **state) {
    (void)state;
    static const int32_t triangle[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    drape_context *ctx = test_context(1);
    soup s = soup_of(ctx, &(soup_parts){9, 3, triangle, 0, 0, NULL, 0});
    for (int i = 0; i < 27; i++) {
        int v = i / 3, k = i % 3;
        double far = v < 6 ? 0 : 0.5, height = v / 3 == 1 ? 1.1e-6 : 0;
        s.x0[i] = k == 2 ? height + far : far + (v % 3 == k + 1 ? 0.5 : 0);
        s.x1[i] = s.x0[i] + (v >= 6 ? 2 : k == 2 && v >= 3 ? -1e-3 : 0);
    }
    drape_i_world_set_motion(s.world, s.x0, 0, s.x0, 1);
    double before = drape_i_world_floor(s.world, 0, 0);
    assert_int_equal(soup_violations(&s, s.world->start, s.world->end, 1), 0);
    for (int truncate = 0; truncate < 2; truncate++) {
        drape_i_response_request q = {
            .world = s.world, .inverse_mass = s.inverse_mass, .no_impulses = truncate, .no_zones = truncate};
        drape_i_response_counts counts;
        bool kept;
        start_soup(&s);
        assert_true(drape_i_world_floor(s.world, 0, 0) > 2 * before);
        ASSERT_OK(ctx, drape_i_response_run(s.response, &q, &counts, &kept));
        assert_true(kept);
        assert_true(counts.lowered > 0);
        assert_int_equal(
            soup_violations(&s, s.world->start, s.world->end, 0.9 * before / drape_i_world_floor(s.world, 0, 0)), 0);
    }
    free_soup(&s);
    drape_context_destroy(ctx);
}

/* ---- No room ---- */

/* Cloth at rest at height 0 between a collider that comes down from 1 cm and one that comes up from -1 cm. */
typedef struct squeeze {
    double down, up; /* m */
    int32_t pin;     /* vertex that cannot be moved; -1: none */
    bool kept;
} squeeze;

static drape_i_trouble squeezed(const drape_collider shape[2], const squeeze *q) {
    static const double corner[9] = {0, 0, 0, 0.1, 0, 0, 0, 0.1, 0};
    const drape_collider_key key[2][2] = {
        {{.time = 0, .position = {0, 0, 0.01}}, {.time = 1, .position = {0, 0, 0.01 - q->down}}},
        {{.time = 0, .position = {0, 0, -0.01}}, {.time = 1, .position = {0, 0, -0.01 + q->up}}}};
    drape_collider collider[2] = {shape[0], shape[1]};
    drape_context *ctx = test_context(1);
    for (int i = 0; i < 2; i++) collider[i].key = key[i], collider[i].key_count = 2;
    soup s = soup_of(ctx, &(soup_parts){3, 1, one_triangle, 2e-3, 0, collider, 2});
    memcpy(s.x0, corner, sizeof corner), memcpy(s.x1, corner, sizeof corner);
    if (q->pin >= 0) s.inverse_mass[q->pin] = 0;
    start_soup(&s);
    assert_int_equal(run(&s), q->kept);
    if (q->kept) assert_int_equal(soup_violations(&s, s.world->start, s.world->end, 1), 0);
    drape_i_trouble trouble = *drape_i_response_trouble_of(s.response);
    free_soup(&s);
    drape_context_destroy(ctx);
    return trouble;
}

static void test_no_room(void **state) {
    (void)state;
    const drape_collider plates[2] = {floor_triangle(0), floor_triangle(0)};
    drape_i_trouble t = squeezed(plates, &(squeeze){.down = 0.015, .pin = -1, .kept = true});
    assert_int_equal(t.kind, DRAPE_I_TROUBLE_NONE);
    t = squeezed(plates, &(squeeze){.down = 0.015, .pin = 1});
    assert_int_equal(t.kind, DRAPE_I_TROUBLE_PAIR);
    assert_int_equal(t.pair, DRAPE_CCD_VERTEX_FACE);
    assert_int_equal(t.vertex[0], 1);
    assert_int_equal(t.vertex[1], 3);
    assert_int_equal(t.collider, 0);
    t = squeezed(plates, &(squeeze){.up = 0.015, .pin = 2});
    assert_int_equal(t.vertex[0], 2);
    assert_int_equal(t.vertex[1], 6);
    assert_int_equal(t.collider, 1);
    squeezed(plates, &(squeeze){.down = 0.015, .up = 0.002, .pin = -1, .kept = true});
    t = squeezed(plates, &(squeeze){.down = 0.015, .up = 0.006, .pin = -1}); /* both pass through each other */
    assert_int_equal(t.kind, DRAPE_I_TROUBLE_PAIR);
    assert_true(t.collider >= 0);
    const drape_collider planes[2] = {floor_triangle(0), {.shape = DRAPE_COLLIDER_PLANE}};
    squeezed(planes, &(squeeze){.up = 0.015, .pin = -1, .kept = true});
    t = squeezed(planes, &(squeeze){.up = 0.015, .pin = 2});
    assert_int_equal(t.kind, DRAPE_I_TROUBLE_PLANE);
    assert_int_equal(t.vertex[0], 2);
    assert_int_equal(t.collider, 1);
    t = squeezed(planes, &(squeeze){.up = 0.015, .down = 0.006, .pin = -1});
    assert_true(t.kind == DRAPE_I_TROUBLE_PLANE || t.kind == DRAPE_I_TROUBLE_PAIR);
}

/* ---- The gate ---- */

static void test_gate(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    int32_t refused = 0, let_through = 0;
    for (int i = 0; i < TEST_CASES(200); i++) {
        test_random r = {500 + (uint64_t)i};
        soup_recipe recipe = {
            .patches = 4, .objects = i % 2 ? SOUP_ALL : SOUP_NONE, .thickness = 1e-3, .speed = 0.15};
        soup s = make_soup(ctx, &r, &recipe);
        bool kept, right = soup_violations(&s, s.world->start, s.world->end, 1) == 0;
        ASSERT_OK(ctx, drape_i_response_gate(s.response, s.world, &kept));
        assert_int_equal(kept, right);
        refused += !kept, let_through += kept;
        /* A vertex of a good step is put onto another triangle, and to where nothing is. */
        kept = run(&s);
        assert_true(kept);
        int32_t v = test_random_below(&r, 9);
        double *x = s.world->end + 3 * v, good[3];
        memcpy(good, x, sizeof good);
        for (int k = 0; k < 3; k++)
            x[k] = (s.world->end[3 * 10 + k] + s.world->end[3 * 13 + k] + s.world->end[3 * 14 + k]) / 3;
        ASSERT_OK(ctx, drape_i_response_gate(s.response, s.world, &kept));
        assert_false(kept);
        memcpy(x, good, sizeof good);
        x[i % 3] = i % 2 ? NAN : INFINITY;
        ASSERT_OK(ctx, drape_i_response_gate(s.response, s.world, &kept));
        assert_false(kept);
        assert_int_equal(drape_i_response_trouble_of(s.response)->kind, DRAPE_I_TROUBLE_NOT_FINITE);
        assert_int_equal(drape_i_response_trouble_of(s.response)->vertex[0], v);
        kept = run(&s);
        assert_false(kept);
        free_soup(&s);
    }
    assert_true(refused > 20 && let_through > 20);
    drape_context_destroy(ctx);
}

/* ---- Bits and memory ---- */

static void test_bits_and_memory(void **state) {
    (void)state;
    double *want = NULL;
    for (int32_t threads = 1; threads <= 3; threads++)
        for (int simd = DRAPE_SIMD_BASELINE; drape_simd_name((drape_simd)simd); simd++) {
            drape_context_settings how = drape_context_defaults();
            drape_context *ctx;
            how.threads = threads, how.simd = (drape_simd)simd;
            if (drape_context_create(&how, &ctx)) continue; /* this processor has no such vectors */
            test_random r = {77};
            soup_recipe recipe = {
                .patches = 12, .objects = SOUP_ALL, .thickness = 1e-3, .speed = 0.7, .friction = 0.2};
            soup s = make_soup(ctx, &r, &recipe);
            size_t bytes = 3 * (size_t)s.vertices * sizeof *want;
            int64_t warm = 0;
            for (int repeat = 0; repeat < 3; repeat++) {
                bool kept;
                start_soup(&s);
                kept = run(&s);
                assert_true(kept);
                if (repeat == 0) warm = drape_context_bytes(ctx);
                assert_int_equal(drape_context_bytes(ctx), warm);
            }
            if (!want) want = memcpy(malloc(bytes), s.world->end, bytes);
            assert_memory_equal(want, s.world->end, bytes);
            free_soup(&s);
            drape_context_destroy(ctx);
        }
    free(want);
}

#if defined(__SANITIZE_THREAD__)
enum { REQUESTS_APART = 8 }; /* one thread: nothing that this sanitizer could see */
#else
enum { REQUESTS_APART = 1 };
#endif

/* Each request for memory fails in turn; afterwards the same run succeeds. */
static void test_no_memory(void **state) {
    (void)state;
    const soup_recipe recipe = {.patches = 8, .objects = SOUP_ALL, .thickness = 1e-3, .speed = 0.7, .friction = 0.2};
    bool failed = true;
    int64_t n = 0;
    for (; failed; n += REQUESTS_APART) {
        counting_allocator memory = {.left = -1};
        drape_context *ctx = counting_context(&memory);
        test_random r = {78};
        soup s = make_soup(ctx, &r, &recipe);
        drape_i_response_request q = {.world = s.world, .inverse_mass = s.inverse_mass, .no_impulses = true};
        bool kept = false;
        drape_i_response_destroy(s.response);
        memory.left = n;
        drape_status status = drape_i_response_create(ctx, s.world->vertices, &s.response);
        if (!status) status = drape_i_response_run(s.response, &q, NULL, &kept);
        failed = memory.failed;
        memory.left = -1;
        assert_int_equal(status, failed ? DRAPE_ERROR_MEMORY : DRAPE_OK);
        assert_int_equal(kept, !failed);
        if (!s.response) ASSERT_OK(ctx, drape_i_response_create(ctx, s.world->vertices, &s.response));
        start_soup(&s);
        assert_true(run(&s));
        free_soup(&s);
        drape_context_destroy(ctx);
        assert_int_equal(memory.live, 0);
    }
    print_message("%lld requests for memory\n", (long long)n - REQUESTS_APART);
    assert_true(n > 20);
}

/* The first argument: scale. */
int main(int argc, char **argv) {
    if (argc > 1) scale = atoi(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_static_soups), cmocka_unit_test(test_truncation_alone),
        cmocka_unit_test(test_zones_alone),  cmocka_unit_test(test_moving_soups),
        cmocka_unit_test(test_many_steps),   cmocka_unit_test(test_momentum),
        cmocka_unit_test(test_friction),     cmocka_unit_test(test_layers),
        cmocka_unit_test(test_rising_floor), cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_gate),         cmocka_unit_test(test_bits_and_memory),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
