/* Irregular triangulations: of the same domain, Delaunay, without small angles, without order, the same bits for the
 * same seed. */
#include "base/arena.h"
#include "cloth/grid.h"
#include "cloth/rest.h"
#include "sparse/counting_allocator.h"

#include <math.h>
#include <string.h>

#define DEGREES (180 / 3.141592653589793)

typedef struct patch {
    drape_context *ctx;
    drape_i_arena arena;
    drape_i_grid grid; /* made irregular in place */
    drape_i_grid before;
} patch;

/* nx x ny vertices, cells of the given width and of height 1; with cut < 1 an L. */
static void patch_make(patch *p, drape_context *ctx, int32_t nx, int32_t ny, double aspect, double cut) {
    int32_t cut_x = (int32_t)(cut * (nx - 1)), cut_y = (int32_t)(cut * (ny - 1));
    *p = (patch){.ctx = ctx};
    p->grid = (drape_i_grid){.nx = nx,
                             .ny = ny,
                             .cut_x = cut_x > 0 ? cut_x : 1,
                             .cut_y = cut_y > 0 ? cut_y : 1,
                             .width = aspect * (nx - 1),
                             .height = ny - 1};
    p->before = p->grid;
    ASSERT_OK(ctx, drape_i_grid_make(ctx, &p->arena, &p->grid));
    ASSERT_OK(ctx, drape_i_grid_make(ctx, &p->arena, &p->before));
}

static drape_status shuffle(patch *p, uint64_t seed) {
    drape_i_grid *g = &p->grid;
    return drape_i_irregular(p->ctx, seed, g->vertices, g->uv, g->triangles, g->triangle);
}

static void patch_clear(patch *p) { drape_i_arena_free(p->ctx, &p->arena); }

/* ---- Measures ---- */

typedef struct difference {
    double u, v;
} difference;

static difference between(const drape_i_grid *g, int32_t a, int32_t b) {
    return (difference){g->uv[2 * (int64_t)b] - g->uv[2 * (int64_t)a],
                        g->uv[2 * (int64_t)b + 1] - g->uv[2 * (int64_t)a + 1]};
}

static double cross(difference a, difference b) { return a.u * b.v - a.v * b.u; }
static double dot(difference a, difference b) { return a.u * b.u + a.v * b.v; }

/* At a, from b to c, degrees. */
static double angle(const drape_i_grid *g, int32_t a, int32_t b, int32_t c) {
    difference x = between(g, a, b), y = between(g, a, c);
    return atan2(cross(x, y), dot(x, y)) * DEGREES;
}

static double smallest_angle(const drape_i_grid *g) {
    double least = 180;
    for (int32_t t = 0; t < g->triangles; t++)
        for (int32_t k = 0; k < 3; k++)
            least =
                fmin(least, angle(g, g->triangle[t][k], g->triangle[t][(k + 1) % 3], g->triangle[t][(k + 2) % 3]));
    return least;
}

/* Edges with one triangle: next[a] = b, -1 for inner vertices; returns how many there are. */
static int32_t find_boundary(const drape_i_grid *g, const drape_i_hinges *h, int32_t *next) {
    int32_t count = 0;
    int32_t(*edge)[3] = calloc((size_t)g->triangles, sizeof *edge); /* edge k has a triangle on its other side */
    assert_non_null(edge);
    for (int32_t i = 0; i < h->count; i++)
        for (int32_t s = 0; s < 2; s++)
            for (int32_t k = 0; k < 3; k++)
                if (g->triangle[h->triangle[i][s]][k] == h->node[i][2 + s]) edge[h->triangle[i][s]][(k + 1) % 3] = 1;
    for (int32_t v = 0; v < g->vertices; v++) next[v] = -1;
    for (int32_t t = 0; t < g->triangles; t++)
        for (int32_t k = 0; k < 3; k++)
            if (!edge[t][k]) {
                assert_int_equal(next[g->triangle[t][k]], -1);
                next[g->triangle[t][k]] = g->triangle[t][(k + 1) % 3];
                count++;
            }
    free(edge);
    return count;
}

/* ---- What must hold of every result ---- */

static void assert_same_domain(const drape_i_grid *g, const drape_i_grid *before) {
    double area = 0, area_before = 0;
    for (int32_t t = 0; t < g->triangles; t++) {
        const int32_t *c = g->triangle[t], *b = before->triangle[t];
        double one = 0.5 * cross(between(g, c[0], c[1]), between(g, c[0], c[2]));
        assert_true(one > 0);
        area += one;
        area_before += 0.5 * cross(between(before, b[0], b[1]), between(before, b[0], b[2]));
    }
    assert_near(area, area_before, 1e-12 * area_before, "area");
}

static void assert_same_boundary(const drape_i_grid *g, const int32_t *next, const drape_i_grid *before,
                                 const int32_t *next_before) {
    assert_memory_equal(next, next_before, (size_t)g->vertices * sizeof *next);
    for (int32_t v = 0; v < g->vertices; v++) {
        if (next[v] < 0) continue;
        difference moved = {g->uv[2 * v] - before->uv[2 * v], g->uv[2 * v + 1] - before->uv[2 * v + 1]};
        difference edge = between(before, v, next[v]);
        int32_t previous = 0;
        while (next[previous] != v) previous++;
        difference edge_before = between(before, previous, v);
        assert_true(cross(edge, moved) == 0 || cross(edge_before, moved) == 0);
        if (cross(edge_before, edge) != 0) assert_true(moved.u == 0 && moved.v == 0);
    }
}

/* The two angles that look at an inner edge sum up to 180 degrees at most, except for rounding. */
static void assert_delaunay(const drape_i_grid *g, const drape_i_hinges *h) {
    for (int32_t i = 0; i < h->count; i++) {
        const int32_t *n = h->node[i];
        double sum = fabs(angle(g, n[2], n[0], n[1])) + fabs(angle(g, n[3], n[0], n[1]));
        if (!(sum <= 180 + 1e-6)) fail_msg("edge %d %d is seen under %.9g degrees", n[0], n[1], sum);
    }
}

static void assert_ordered(const drape_i_grid *g) {
    for (int32_t t = 0; t < g->triangles; t++) {
        assert_true(g->triangle[t][0] < g->triangle[t][1] && g->triangle[t][0] < g->triangle[t][2]);
        assert_true(t == 0 || g->triangle[t - 1][0] <= g->triangle[t][0]);
    }
}

static void assert_good(const patch *p) {
    const drape_i_grid *g = &p->grid;
    drape_i_hinges hinges, hinges_before;
    int32_t *next = malloc(2 * (size_t)g->vertices * sizeof *next), *next_before = next + g->vertices;
    assert_non_null(next);
    ASSERT_OK(p->ctx, drape_i_hinges_find(p->ctx, g->triangles, (const int32_t(*)[3])g->triangle, &hinges));
    ASSERT_OK(p->ctx,
              drape_i_hinges_find(p->ctx, g->triangles, (const int32_t(*)[3])p->before.triangle, &hinges_before));
    int32_t boundary = find_boundary(g, &hinges, next);
    find_boundary(&p->before, &hinges_before, next_before);
    assert_int_equal(g->vertices - (hinges.count + boundary) + g->triangles, 1); /* Euler: a disc */
    assert_same_domain(g, &p->before);
    if (g->vertices < 5000) assert_same_boundary(g, next, &p->before, next_before);
    assert_delaunay(g, &hinges);
    assert_ordered(g);
    double angle_before = smallest_angle(&p->before), angle_after = smallest_angle(g);
    if (!(angle_after > fmin(20, angle_before - 1e-9)))
        fail_msg("%d x %d: smallest angle %.4f, before %.4f", g->nx, g->ny, angle_after, angle_before);
    drape_i_hinges_clear(p->ctx, &hinges);
    drape_i_hinges_clear(p->ctx, &hinges_before);
    free(next);
}

static void try_one(drape_context *ctx, int32_t nx, int32_t ny, double aspect, double cut, uint64_t seed) {
    patch p;
    patch_make(&p, ctx, nx, ny, aspect, cut);
    ASSERT_OK(ctx, shuffle(&p, seed));
    assert_good(&p);
    patch_clear(&p);
}

/* ---- Tests ---- */

static void all_sizes_are_good(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    for (int32_t nx = 2; nx <= 12; nx++)
        for (int32_t ny = 2; ny <= 12; ny++)
            for (uint64_t seed = 0; seed < 3; seed++) try_one(ctx, nx, ny, 1, 1, seed);
    static const int32_t sizes[][2] = {{2, 150}, {3, 80}, {150, 2}, {25, 60}, {51, 51}, {100, 37}, {150, 150}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (uint64_t seed = 0; seed < 3; seed++) try_one(ctx, sizes[i][0], sizes[i][1], 1, 1, seed);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

static void all_shapes_are_good(void **state) {
    (void)state;
    static const double aspects[] = {0.05, 0.1, 0.3, 0.45, 0.6, 0.8, 1.3, 1.7, 2.5, 4, 10};
    drape_context *ctx = test_context(1);
    for (size_t i = 0; i < sizeof aspects / sizeof *aspects; i++)
        for (uint64_t seed = 0; seed < 4; seed++) {
            try_one(ctx, 5, 4, aspects[i], 1, seed);
            try_one(ctx, 2, 9, aspects[i], 1, seed);
            try_one(ctx, 30, 41, aspects[i], 1, seed);
            try_one(ctx, 3, 3, aspects[i], 0.5, seed);
            try_one(ctx, 8, 9, aspects[i], 0.5, seed);
            try_one(ctx, 40, 30, aspects[i], 0.3, seed);
            try_one(ctx, 33, 50, aspects[i], 0.9, seed);
        }
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

static bool same_bits(const drape_i_grid *a, const drape_i_grid *b) {
    return memcmp(a->uv, b->uv, 16 * (size_t)a->vertices) == 0 &&
           memcmp(a->triangle, b->triangle, 12 * (size_t)a->triangles) == 0;
}

static void the_seed_decides(void **state) {
    (void)state;
    drape_context *ctx = test_context(1), *other = test_context(4);
    patch a, b, c;
    patch_make(&a, ctx, 40, 30, 1.2, 0.6);
    patch_make(&b, other, 40, 30, 1.2, 0.6);
    patch_make(&c, ctx, 40, 30, 1.2, 0.6);
    ASSERT_OK(ctx, shuffle(&a, 7));
    ASSERT_OK(other, shuffle(&b, 7));
    ASSERT_OK(ctx, shuffle(&c, 8));
    assert_true(same_bits(&a.grid, &b.grid));
    assert_false(same_bits(&a.grid, &c.grid));
    assert_true(memcmp(a.grid.triangle, c.grid.triangle, 12 * (size_t)a.grid.triangles) != 0);
    patch_clear(&a);
    patch_clear(&b);
    patch_clear(&c);
    drape_context_destroy(ctx);
    drape_context_destroy(other);
}

/* The same on every compiler and processor; another number means that the way of working has changed. */
static void the_bits_are_known(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    uint64_t hash = 0xcbf29ce484222325u;
    patch p;
    patch_make(&p, ctx, 60, 45, 1.1, 0.7);
    ASSERT_OK(ctx, shuffle(&p, 42));
    const unsigned char *bytes = (const unsigned char *)p.grid.uv;
    for (size_t i = 0; i < 16 * (size_t)p.grid.vertices; i++) hash = (hash ^ bytes[i]) * 0x100000001b3u;
    for (int32_t t = 0; t < p.grid.triangles; t++)
        for (int32_t k = 0; k < 3; k++) hash = (hash ^ (uint64_t)p.grid.triangle[t][k]) * 0x100000001b3u;
    assert_int_equal(hash, UINT64_C(0x232cd91be0c69d03));
    patch_clear(&p);
    drape_context_destroy(ctx);
}

enum { VALENCES = 16 };

/* share[n]: of the inner vertices, those of n triangles. */
static void valence_shares(const drape_i_grid *g, double share[VALENCES]) {
    int32_t *valence = calloc((size_t)g->vertices, sizeof *valence), inner = 0;
    assert_non_null(valence);
    for (int32_t t = 0; t < g->triangles; t++)
        for (int32_t k = 0; k < 3; k++) valence[g->triangle[t][k]]++;
    for (int32_t n = 0; n < VALENCES; n++) share[n] = 0;
    for (int32_t j = 1; j + 1 < g->ny; j++)
        for (int32_t i = 1; i + 1 < g->nx; i++, inner++) {
            int32_t n = valence[g->number[i + g->nx * j]];
            assert_true(n >= 3 && n < VALENCES);
            share[n]++;
        }
    for (int32_t n = 0; n < VALENCES; n++) share[n] /= inner;
    free(valence);
}

static void valences_vary(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    for (uint64_t seed = 0; seed < 4; seed++) {
        double share[VALENCES], usual = 0;
        patch p;
        patch_make(&p, ctx, 120, 120, 1, 1);
        ASSERT_OK(ctx, shuffle(&p, seed));
        valence_shares(&p.grid, share);
        for (int32_t n = 4; n <= 8; n++) usual += share[n];
        assert_true(share[6] < 0.6 && share[6] > 0.3);
        assert_true(share[4] > 0.01 && share[5] > 0.15 && share[7] > 0.15 && share[8] > 0.01);
        assert_true(usual > 0.999);
        patch_clear(&p);
    }
    drape_context_destroy(ctx);
}

/* Every twelfth of a half turn has its share of the edges. */
static void edges_point_everywhere(void **state) {
    (void)state;
    enum { BINS = 12 };
    drape_context *ctx = test_context(1);
    for (uint64_t seed = 0; seed < 4; seed++) {
        int32_t bin[BINS] = {0};
        patch p;
        patch_make(&p, ctx, 150, 150, 1, 1);
        ASSERT_OK(ctx, shuffle(&p, seed));
        for (int32_t t = 0; t < p.grid.triangles; t++)
            for (int32_t k = 0; k < 3; k++) {
                difference e = between(&p.grid, p.grid.triangle[t][k], p.grid.triangle[t][(k + 1) % 3]);
                double turn = atan2(e.v, e.u) * DEGREES / 180 + 1;
                bin[(int32_t)(turn * BINS) % BINS]++;
            }
        for (int32_t i = 0; i < BINS; i++)
            assert_near((double)BINS * bin[i] / (3.0 * p.grid.triangles), 1, 0.1, "share of a direction");
        patch_clear(&p);
    }
    drape_context_destroy(ctx);
}

/* Vertices stay near where they were, so that what runs through them in order runs through memory in order. */
static void vertices_stay_near(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    patch p;
    double most = 0, sum = 0;
    patch_make(&p, ctx, 100, 100, 1, 1);
    ASSERT_OK(ctx, shuffle(&p, 5));
    for (int32_t v = 0; v < p.grid.vertices; v++) {
        double moved = hypot(p.grid.uv[2 * v] - p.before.uv[2 * v], p.grid.uv[2 * v + 1] - p.before.uv[2 * v + 1]);
        most = fmax(most, moved);
        sum += moved;
    }
    assert_true(sum / p.grid.vertices > 0.2 && sum / p.grid.vertices < 1);
    assert_true(most < 4);
    patch_clear(&p);
    drape_context_destroy(ctx);
}

typedef struct refusal {
    int32_t vertices, triangles, triangle[2][3];
    const char *message;
} refusal;

static void meshes_that_are_none_are_refused(void **state) {
    (void)state;
    static const refusal cases[] = {
        {4, 1, {{0, 2, 1}}, "triangle 0 is clockwise or has no area"},
        {4, 1, {{0, 1, 1}}, "triangle 0 is clockwise or has no area"},
        {4, 2, {{0, 1, 2}, {0, 2, 4}}, "triangle 1 names vertex 4 of 4"},
        {4, 1, {{-1, 1, 2}}, "triangle 0 names vertex -1 of 4"},
        {4,
         2,
         {{0, 1, 2}, {0, 1, 3}},
         "triangles 0 and 1 run in the same direction along the edge from vertex 0 to 1"},
        {4, -1, {{0}}, "4 vertices and -1 triangles"},
    };
    drape_context *ctx = test_context(1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double uv[8] = {0, 0, 1, 0, 1, 1, 0, 1};
        refusal c = cases[i];
        assert_int_equal(drape_i_irregular(ctx, 0, c.vertices, uv, c.triangles, c.triangle), DRAPE_ERROR_ARGUMENT);
        assert_string_equal(drape_message(ctx), c.message);
    }
    double nothing[8] = {0, 0, NAN, 0, 1, 1, 0, 1};
    int32_t corners[1][3] = {{0, 1, 2}};
    assert_int_equal(drape_i_irregular(ctx, 0, 4, nothing, 1, corners), DRAPE_ERROR_ARGUMENT);
    ASSERT_OK(ctx, drape_i_irregular(ctx, 0, 0, nothing, 0, corners));
    ASSERT_OK(ctx, drape_i_irregular(ctx, 0, 4, nothing, 0, corners));
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

/* A wheel whose hub has more triangles than are ever looked at, and a vertex of no triangle. */
static void odd_meshes_pass(void **state) {
    (void)state;
    enum { SPOKES = 100 };
    static double uv[2 * (SPOKES + 2)];
    static int32_t triangle[SPOKES][3];
    drape_context *ctx = test_context(1);
    for (int32_t i = 0; i < SPOKES; i++) {
        uv[2 * i] = cos(2 * 3.141592653589793 * i / SPOKES);
        uv[2 * i + 1] = sin(2 * 3.141592653589793 * i / SPOKES);
        triangle[i][0] = SPOKES, triangle[i][1] = i, triangle[i][2] = (i + 1) % SPOKES;
    }
    ASSERT_OK(ctx, drape_i_irregular(ctx, 1, SPOKES + 2, uv, SPOKES, triangle));
    assert_true(uv[2 * SPOKES] == 0 && uv[2 * SPOKES + 2] == 0);
    drape_context_destroy(ctx);
}

static void a_failing_allocation_leaves_nothing(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    bool failed = true;
    int64_t n = 0;
    for (; failed; n++) {
        patch p;
        patch_make(&p, ctx, 60, 60, 1, 1);
        counting_allocator memory = {.left = n};
        p.ctx = counting_context(&memory);
        drape_status status = shuffle(&p, 1);
        failed = memory.failed;
        assert_int_equal(status, failed ? DRAPE_ERROR_MEMORY : DRAPE_OK);
        assert_true(failed == same_bits(&p.grid, &p.before));
        drape_context_destroy(p.ctx);
        assert_int_equal(memory.live, 0);
        p.ctx = ctx;
        patch_clear(&p);
    }
    assert_true(n > 1);
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_sizes_are_good), cmocka_unit_test(all_shapes_are_good),
        cmocka_unit_test(the_seed_decides),   cmocka_unit_test(the_bits_are_known),
        cmocka_unit_test(valences_vary),      cmocka_unit_test(edges_point_everywhere),
        cmocka_unit_test(vertices_stay_near), cmocka_unit_test(meshes_that_are_none_are_refused),
        cmocka_unit_test(odd_meshes_pass),    cmocka_unit_test(a_failing_allocation_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
