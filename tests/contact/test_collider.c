/* Colliders: their surfaces are closed, face outward and enclose the right volume. Their motion is exact at keys and
 * straight between them. Messages about a wrong one have its name and numbers. */
#include "contact/collider.h"
#include "support/testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

/* ---- Geometry of a surface ---- */

typedef struct mesh {
    int32_t vertices, triangles;
    const int32_t *triangle;
    double *x;
} mesh;

static double volume_of(const mesh *m) {
    double sum = 0;
    for (int32_t t = 0; t < m->triangles; t++) {
        const double *a = m->x + 3 * m->triangle[3 * t], *b = m->x + 3 * m->triangle[3 * t + 1],
                     *c = m->x + 3 * m->triangle[3 * t + 2];
        sum += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
               a[2] * (b[0] * c[1] - b[1] * c[0]);
    }
    return sum / 6;
}

static double triangle_area(const mesh *m, int32_t t) {
    const double *a = m->x + 3 * m->triangle[3 * t], *b = m->x + 3 * m->triangle[3 * t + 1],
                 *c = m->x + 3 * m->triangle[3 * t + 2];
    double u[3], v[3];
    for (int32_t k = 0; k < 3; k++) u[k] = b[k] - a[k], v[k] = c[k] - a[k];
    double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
    return 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
}

/* Every directed edge is there once, and its reverse is too: closed, manifold and facing one way. */
static void assert_closed(const mesh *m) {
    for (int32_t i = 0; i < 3 * m->triangles; i++) {
        int32_t a = m->triangle[i], b = m->triangle[i % 3 == 2 ? i - 2 : i + 1], same = 0, reverse = 0;
        for (int32_t j = 0; j < 3 * m->triangles; j++) {
            int32_t c = m->triangle[j], d = m->triangle[j % 3 == 2 ? j - 2 : j + 1];
            same += a == c && b == d;
            reverse += a == d && b == c;
        }
        assert_int_equal(same, 1);
        assert_int_equal(reverse, 1);
    }
}

static drape_collider_surface *surface(drape_context *ctx, const drape_collider *c, double time, mesh *m) {
    drape_collider_surface *s;
    ASSERT_OK(ctx, drape_collider_surface_create(ctx, c, 0, &s));
    *m = (mesh){drape_collider_surface_vertices(s), drape_collider_surface_triangles(s),
                drape_collider_surface_triangle(s), NULL};
    m->x = calloc((size_t)m->vertices * 3, sizeof *m->x);
    assert_non_null(m->x);
    ASSERT_OK(ctx, drape_collider_surface_at(s, time, m->x));
    return s;
}

static void solids_are_closed_outward_and_of_their_volume(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    const struct {
        drape_collider c;
        double volume, least; /* exact; the part of it that an inscribed surface has at least */
        int32_t most;         /* triangles */
    } solids[] = {
        {{.shape = DRAPE_COLLIDER_BOX, .size = {1, 2, 3}}, 6, 1 - 1e-12, 12},
        {{.shape = DRAPE_COLLIDER_BOX_WITH_HOLE, .size = {1, 2, 3}, .hole = {0.5, 1.5}}, 6 - 2.25, 1 - 1e-12, 32},
        {{.shape = DRAPE_COLLIDER_SPHERE, .radius = 0.3}, 4 * PI / 3 * 0.027, 0.98, 2500},
        {{.shape = DRAPE_COLLIDER_CAPSULE, .radius = 0.3, .length = 2}, 4 * PI / 3 * 0.027 + PI * 0.18, 0.97, 600},
        {{.shape = DRAPE_COLLIDER_CYLINDER, .radius = 0.5, .length = 0.03}, PI * 0.25 * 0.03, 0.998, 1000},
        {{.shape = DRAPE_COLLIDER_CYLINDER, .radius = 0.1, .length = 2}, PI * 0.01 * 2, 0.998, 10000},
        {{.shape = DRAPE_COLLIDER_CYLINDER, .radius = 1, .length = 1, .sides = 3}, PI, 0.41, 20},
        {{.shape = DRAPE_COLLIDER_CYLINDER, .radius = 1, .length = 1, .sides = 13}, PI, 0.96, 100},
        {{.shape = DRAPE_COLLIDER_CYLINDER, .radius = 1, .length = 1, .sides = 200}, PI, 0.999, 10000},
    };
    for (size_t i = 0; i < sizeof solids / sizeof *solids; i++) {
        mesh m;
        drape_collider_surface *s = surface(ctx, &solids[i].c, 0, &m);
        assert_closed(&m);
        double share = volume_of(&m) / solids[i].volume;
        if (!(share >= solids[i].least && share <= 1 + 1e-12)) fail_msg("solid %zu has %g of its volume", i, share);
        assert_true(m.triangles <= solids[i].most);
        for (int32_t t = 0; t < m.triangles; t++) assert_true(triangle_area(&m, t) > 0);
        drape_collider_surface_destroy(s);
        free(m.x);
    }
    drape_context_destroy(ctx);
}

/* No triangle of a cylinder is much thinner than long: the height over the longest side. */
static void cylinders_have_no_needles(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    const double lengths[] = {0.05, 1, 4};
    for (int32_t i = 0; i < 3; i++) {
        mesh m;
        drape_collider c = {.shape = DRAPE_COLLIDER_CYLINDER, .radius = 0.5, .length = lengths[i]};
        drape_collider_surface *s = surface(ctx, &c, 0, &m);
        for (int32_t t = 0; t < m.triangles; t++) {
            double longest = 0;
            for (int32_t k = 0; k < 3; k++) {
                const double *a = m.x + 3 * m.triangle[3 * t + k], *b = m.x + 3 * m.triangle[3 * t + (k + 1) % 3];
                longest = fmax(longest, hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]));
            }
            assert_true(2 * triangle_area(&m, t) / longest > 0.15 * longest);
        }
        drape_collider_surface_destroy(s);
        free(m.x);
    }
    drape_context_destroy(ctx);
}

static void round_surfaces_lie_on_their_shape(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    mesh m;
    drape_collider c = {.shape = DRAPE_COLLIDER_CAPSULE, .radius = 0.3, .length = 2};
    drape_collider_surface *s = surface(ctx, &c, 0, &m);
    for (int32_t v = 0; v < m.vertices; v++) {
        const double *p = m.x + 3 * v;
        double z = fmax(fabs(p[2]) - 1, 0);
        ASSERT_NEAR(sqrt(p[0] * p[0] + p[1] * p[1] + z * z), 0.3, 1e-15);
    }
    drape_collider_surface_destroy(s);
    free(m.x);
    drape_context_destroy(ctx);
}

static void plane_is_a_square_that_faces_up(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    mesh m;
    drape_collider c = {.shape = DRAPE_COLLIDER_PLANE};
    drape_collider_surface *s = surface(ctx, &c, 0, &m);
    assert_int_equal(m.triangles, 2);
    ASSERT_NEAR(triangle_area(&m, 0) + triangle_area(&m, 1), 100, 1e-12);
    for (int32_t t = 0; t < 2; t++) {
        const double *a = m.x + 3 * m.triangle[3 * t], *b = m.x + 3 * m.triangle[3 * t + 1],
                     *d = m.x + 3 * m.triangle[3 * t + 2];
        assert_true((b[0] - a[0]) * (d[1] - a[1]) - (b[1] - a[1]) * (d[0] - a[0]) > 0);
    }
    assert_false(drape_collider_surface_moves(s));
    drape_collider_surface_destroy(s);
    free(m.x);
    drape_context_destroy(ctx);
}

/* ---- Motion ---- */

static const drape_collider_key KEYS[] = {
    {.time = 1, .position = {1, 2, 3}},
    {.time = 2, .position = {1, 0.1, 3}, .rotation = {0, 0, 1.5707963267948966}},
    {.time = 4, .position = {-5, 0.1, 3}, .rotation = {2, -1, 1.5707963267948966}},
};

/* What is around a point with radius 0. */
static void assert_point(const double *x, double a, double b, double c, double tolerance) {
    ASSERT_NEAR(x[0], a, tolerance);
    ASSERT_NEAR(x[1], b, tolerance);
    ASSERT_NEAR(x[2], c, tolerance);
}

static void motion_is_exact_at_keys_and_straight_between(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_collider list[] = {
        {.name = "ball", .shape = DRAPE_COLLIDER_SPHERE, .radius = 1, .key_count = 3, .key = KEYS},
        {.name = "stick", .shape = DRAPE_COLLIDER_CAPSULE, .radius = 1, .length = 2, .key_count = 3, .key = KEYS},
        {.name = "still", .shape = DRAPE_COLLIDER_CAPSULE, .radius = 1, .length = 2},
        {.name = "box", .shape = DRAPE_COLLIDER_BOX, .size = {2, 4, 6}, .key_count = 3, .key = KEYS},
    };
    drape_i_colliders *all;
    ASSERT_OK(ctx, drape_i_colliders_create(ctx, list, 4, &all));
    assert_int_equal(all->points, 1 + 2 + 2 + 8);
    assert_int_equal(all->triangles, 12);
    assert_int_equal(all->item[3].first_point, 5);
    assert_string_equal(all->item[1].name, "stick");
    assert_true(all->item[0].moves && all->item[3].moves && !all->item[2].moves && !all->item[0].deforms);
    assert_true(all->item[0].radius == 1 && all->item[3].radius == 0);
    for (int32_t t = 0; t < 12; t++) {
        assert_int_equal(all->triangle_owner[t], 3);
        for (int32_t k = 0; k < 3; k++) assert_true(all->triangle[t][k] >= 5 && all->triangle[t][k] < 13);
    }
    assert_int_equal(all->point_owner[4], 2);

    double x[39];
    const double before[] = {-1e9, 0, 1};
    for (int32_t i = 0; i < 3; i++) {
        drape_i_colliders_at(all, before[i], x);
        assert_point(x, 1, 2, 3, 0);
        assert_point(x + 6, 1, 2, 4, 0);
    }
    for (int32_t i = 0; i < 3; i++) {
        drape_i_colliders_at(all, KEYS[i].time, x);
        assert_point(x, KEYS[i].position[0], KEYS[i].position[1], KEYS[i].position[2], 0);
    }
    drape_i_colliders_at(all, 99, x);
    assert_point(x, -5, 0.1, 3, 0);
    drape_i_colliders_at(all, 2.5, x);
    assert_point(x, -0.5, 0.1, 3, 1e-15);
    assert_point(x + 9, 0, 0, -1, 0);
    assert_point(x + 12, 0, 0, 1, 0);
    drape_i_colliders_at(all, 2, x); /* a quarter turn about z: the box's corner (-1, -2, -3) goes to (2, -1, -3) */
    assert_point(x + 15, 3, -0.9, 0, 1e-15);
    drape_i_colliders_at(all, 1.5, x); /* half of it */
    assert_point(x + 15, 1 + sqrt(0.5), 1.05 - 3 * sqrt(0.5), 0, 1e-14);
    drape_i_colliders_destroy(all);
    drape_context_destroy(ctx);
}

/* Rotations against the series of the exponential, which shares nothing with Rodrigues' formula. */
static void rotation_is_the_exponential(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    test_random r = {1};
    for (int32_t round = 0; round < 50; round++) {
        drape_collider_key key = {0};
        double p[3], term[3], want[3], x[3];
        for (int32_t k = 0; k < 3; k++) key.rotation[k] = test_random_between(&r, -3, 3);
        for (int32_t k = 0; k < 3; k++) want[k] = term[k] = p[k] = k == 2;
        for (int32_t n = 1; n < 60; n++) {
            const double *w = key.rotation;
            double next[3] = {w[1] * term[2] - w[2] * term[1], w[2] * term[0] - w[0] * term[2],
                              w[0] * term[1] - w[1] * term[0]};
            for (int32_t k = 0; k < 3; k++) want[k] += term[k] = next[k] / n;
        }
        drape_collider c = {.shape = DRAPE_COLLIDER_PLANE, .key_count = 1, .key = &key};
        drape_i_colliders *all;
        ASSERT_OK(ctx, drape_i_colliders_create(ctx, &c, 1, &all));
        drape_i_collider_normal(all, 0, 7, x);
        assert_point(x, want[0], want[1], want[2], 1e-13);
        ASSERT_NEAR(x[0] * x[0] + x[1] * x[1] + x[2] * x[2], 1, 4e-15);
        drape_i_colliders_destroy(all);
    }
    drape_context_destroy(ctx);
}

/* Half a turn about x, then a quarter about z by a key: (0, 1, 2) -> (0, -1, -2) -> (1, 0, -2). */
static void shape_is_turned_before_its_keys_move_it(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    const double x[] = {0, 1, 2, 1, 0, 0, 0, 0, 1};
    const int32_t triangle[] = {0, 1, 2};
    const drape_collider_key key = {.position = {5, 6, 7}, .rotation = {0, 0, PI / 2}};
    const drape_collider list[] = {
        {.shape = DRAPE_COLLIDER_MESH,
         .vertices = 3,
         .positions = x,
         .triangles = 1,
         .triangle = triangle,
         .rotation = {PI},
         .key_count = 1,
         .key = &key},
        {.shape = DRAPE_COLLIDER_PLANE, .rotation = {0, PI / 2, 0}, .key_count = 1, .key = &key}};
    drape_i_colliders *all;
    ASSERT_OK(ctx, drape_i_colliders_create(ctx, list, 2, &all));
    double at[12], normal[3];
    drape_i_colliders_at(all, 0, at);
    assert_point(at, 5 + 1, 6, 7 - 2, 1e-14);
    assert_point(at + 9, 5, 6, 7, 0);
    drape_i_collider_normal(all, 1, 0, normal); /* z -> x -> y */
    assert_point(normal, 0, 1, 0, 1e-15);
    drape_i_colliders_destroy(all);
    drape_context_destroy(ctx);
}

static void carry_follows_the_points(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_collider list[] = {{.shape = DRAPE_COLLIDER_BOX, .size = {2, 4, 6}, .key_count = 3, .key = KEYS},
                             {.shape = DRAPE_COLLIDER_BOX, .size = {2, 4, 6}, .key_count = 1, .key = KEYS + 2}};
    drape_i_colliders *all;
    ASSERT_OK(ctx, drape_i_colliders_create(ctx, list, 2, &all));
    test_random r = {3};
    for (int32_t round = 0; round < 100; round++) {
        double t0 = test_random_between(&r, 0, 5), t1 = test_random_between(&r, 0, 5), x0[48], x1[48], to[3];
        drape_i_colliders_at(all, t0, x0);
        drape_i_colliders_at(all, t1, x1);
        for (int32_t i = 0; i < 8; i++) {
            drape_i_collider_carry(all, 0, t0, t1, x0 + 3 * i, to);
            assert_point(to, x1[3 * i], x1[3 * i + 1], x1[3 * i + 2], 1e-14);
            drape_i_collider_carry(all, 1, t0, t1, x0 + 3 * i, to); /* at rest: not a bit changes */
            assert_memory_equal(to, x0 + 3 * i, sizeof to);
        }
    }
    drape_i_colliders_destroy(all);
    drape_context_destroy(ctx);
}

/* A square that is stretched along x, then stays, and is carried by keys besides. */
static void meshes_deform_and_move(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    const double frame[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 3, 0, 0, 3, 1, 0, 0, 1, 0};
    const double time[] = {1, 2};
    const int32_t triangle[] = {0, 1, 2, 0, 2, 3};
    const drape_collider_key keys[] = {{.time = 0}, {.time = 10, .position = {0, 0, 10}}};
    drape_collider c = {.shape = DRAPE_COLLIDER_MESH,
                        .vertices = 4,
                        .triangles = 2,
                        .triangle = triangle,
                        .frames = 2,
                        .frame_time = time,
                        .frame = frame,
                        .key_count = 2,
                        .key = keys};
    drape_i_colliders *all;
    ASSERT_OK(ctx, drape_i_colliders_create(ctx, &c, 1, &all));
    assert_true(all->item[0].moves && all->item[0].deforms);
    double x[12];
    drape_i_colliders_at(all, 0.5, x);
    assert_point(x + 6, 1, 1, 0.5, 1e-15);
    drape_i_colliders_at(all, 1.25, x);
    assert_point(x + 6, 1.5, 1, 1.25, 1e-15);
    drape_i_colliders_at(all, 2, x);
    assert_point(x + 6, 3, 1, 2, 0);
    drape_i_colliders_at(all, 9, x);
    assert_point(x + 6, 3, 1, 9, 1e-15);
    drape_i_colliders_destroy(all);

    c.frames = 1; /* one frame: a mesh at rest */
    c.key_count = 0;
    mesh m;
    drape_collider_surface *s = surface(ctx, &c, 5, &m);
    assert_false(drape_collider_surface_moves(s));
    assert_memory_equal(m.x, frame, 12 * sizeof *frame);
    drape_collider_surface_destroy(s);
    free(m.x);
    drape_context_destroy(ctx);
}

/* ---- Bad input ---- */

static void assert_refused(drape_context *ctx, const drape_collider *c, const char *why) {
    drape_collider list[2] = {{.shape = DRAPE_COLLIDER_PLANE}, *c};
    drape_i_colliders *all;
    drape_collider_surface *s;
    assert_int_equal(drape_i_colliders_create(ctx, list, 2, &all), DRAPE_ERROR_ARGUMENT);
    assert_null(all);
    if (!strstr(drape_message(ctx), why)) fail_msg("\"%s\" does not say \"%s\"", drape_message(ctx), why);
    const char *name = c->name ? "collider 'thing'" : "collider 1";
    assert_int_equal(strncmp(drape_message(ctx), name, strlen(name)), 0);
    assert_int_equal(drape_collider_surface_create(ctx, c, 0, &s), DRAPE_ERROR_ARGUMENT);
    assert_null(s);
}

static void bad_numbers_are_refused(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    const drape_collider_key late[] = {{.time = 1}, {.time = 1}}, never = {.time = NAN},
                             nowhere = {.position = {0, INFINITY, 0}}, whirl = {.rotation = {0, 0, 1e10}};
    const struct {
        drape_collider c;
        const char *why;
    } bad[] = {
        {{.name = "thing", .shape = 7}, "unknown shape 7"},
        {{.name = "thing", .shape = DRAPE_COLLIDER_SPHERE}, "radius is 0 m"},
        {{.shape = DRAPE_COLLIDER_SPHERE, .radius = -1}, "radius is -1 m"},
        {{.name = "thing", .shape = DRAPE_COLLIDER_CYLINDER, .radius = 1}, "length is 0 m"},
        {{.name = "thing", .shape = DRAPE_COLLIDER_CAPSULE, .radius = 1, .length = INFINITY}, "length is inf m"},
        {{.name = "thing", .shape = DRAPE_COLLIDER_BOX, .size = {1, NAN, 1}}, "size along y is nan m"},
        {{.name = "thing", .shape = DRAPE_COLLIDER_BOX_WITH_HOLE, .size = {1, 1, 1}, .hole = {0.5, 1}},
         "hole is 1 m along y"},
        {{.name = "thing", .shape = DRAPE_COLLIDER_CYLINDER, .radius = 1, .length = 1, .sides = 2}, "2 sides"},
        {{.name = "thing", .thickness = -1e-3}, "thickness is -0.001 m"},
        {{.name = "thing", .friction = -0.5}, "friction is -0.5"},
        {{.name = "thing", .friction = NAN}, "friction is nan"},
        {{.name = "thing", .rotation = {0, NAN, 0}}, "rotation is nan rad about y"},
        {{.name = "thing", .key_count = 2}, "no list of its 2 keys"},
        {{.name = "thing", .key_count = 2, .key = late}, "key 1, 1 s, is not after"},
        {{.name = "thing", .key_count = 1, .key = &never}, "time of key 0 is nan"},
        {{.name = "thing", .key_count = 1, .key = &nowhere}, "position of key 0 (t = 0 s) is not finite"},
        {{.name = "thing", .key_count = 1, .key = &whirl}, "1e+10 rad about z"},
        {{.name = "thing", .frames = 2}, "only a mesh can deform"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_refused(ctx, &bad[i].c, bad[i].why);
    drape_collider newer = {.reserved = {1}};
    drape_collider_surface *s;
    assert_int_equal(drape_collider_surface_create(ctx, &newer, 0, &s), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "drape_collider"));
    drape_context_destroy(ctx);
}

static void bad_meshes_are_refused(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    const double x[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, -1, 0}, broken[] = {0, 0, 0, 1, 0, 0, 0, 1, INFINITY};
    double frame[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, NAN, 0};
    const double rising[] = {0, 1}, falling[] = {1, 0};
    const int32_t fan[] = {0, 1, 2, 0, 1, 3, 1, 0, 4}, outside[] = {0, 1, 5}, twice[] = {0, 2, 2}, one[] = {0, 1, 2};
    drape_collider m = {.name = "thing", .shape = DRAPE_COLLIDER_MESH, .vertices = 5, .positions = x};
    assert_refused(ctx, &m, "5 vertices and 0 triangles");
    m.triangles = 1;
    assert_refused(ctx, &m, "no list of its 1 triangles");
    m.triangle = outside;
    assert_refused(ctx, &m, "triangle 0 names vertex 5");
    m.triangle = twice;
    assert_refused(ctx, &m, "triangle 0 has vertex 2 twice");
    m.triangle = fan, m.triangles = 3;
    assert_refused(ctx, &m, "between vertices 0 and 1 belongs to more than two triangles (0, 1 and 2)");
    m.triangle = one, m.triangles = 1, m.vertices = 3, m.positions = NULL;
    assert_refused(ctx, &m, "no positions");
    m.positions = broken;
    assert_refused(ctx, &m, "vertex 2 has a coordinate that is not finite");
    m.frames = 2, m.frame = frame;
    assert_refused(ctx, &m, "no times or no positions");
    m.frame_time = rising;
    assert_refused(ctx, &m, "vertex 2 has a coordinate that is not finite in frame 1 (t = 1 s)");
    m.frame_time = falling;
    assert_refused(ctx, &m, "frame 1, 0 s, is not after");
    drape_context_destroy(ctx);
}

static void count_warnings(void *user, drape_log_level level, const char *message) {
    if (level == DRAPE_LOG_WARNING && strstr(message, "inside out")) ++*(int *)user;
}

static void mixed_sides_are_told_and_taken(void **state) {
    (void)state;
    int warnings = 0;
    drape_context *ctx;
    drape_context_settings settings = drape_context_defaults();
    settings.log = count_warnings;
    settings.log_user = &warnings;
    assert_int_equal(drape_context_create(&settings, &ctx), DRAPE_OK);
    const double x[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0};
    const int32_t same[] = {0, 1, 2, 1, 2, 3}, right[] = {0, 1, 2, 2, 1, 3};
    drape_collider m = {
        .shape = DRAPE_COLLIDER_MESH, .vertices = 4, .positions = x, .triangles = 2, .triangle = right};
    drape_i_colliders *all;
    ASSERT_OK(ctx, drape_i_colliders_create(ctx, &m, 1, &all));
    drape_i_colliders_destroy(all);
    assert_int_equal(warnings, 0);
    m.triangle = same;
    ASSERT_OK(ctx, drape_i_colliders_create(ctx, &m, 1, &all));
    assert_string_equal(all->item[0].name, "collider");
    drape_i_colliders_destroy(all);
    assert_int_equal(warnings, 1);
    drape_context_destroy(ctx);
}

static void null_is_an_error_not_a_crash(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_collider c = {.shape = DRAPE_COLLIDER_PLANE};
    drape_collider_surface *s;
    double x[12];
    assert_int_equal(drape_collider_surface_create(NULL, &c, 0, &s), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_collider_surface_create(ctx, NULL, 0, &s), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_collider_surface_create(ctx, &c, 0, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_collider_surface_create(ctx, &c, NAN, &s), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_collider_surface_at(NULL, 0, x), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_collider_surface_vertices(NULL), 0);
    assert_int_equal(drape_collider_surface_triangles(NULL), 0);
    assert_null(drape_collider_surface_triangle(NULL));
    assert_false(drape_collider_surface_moves(NULL));
    drape_collider_surface_destroy(NULL);
    drape_i_colliders_destroy(NULL);
    ASSERT_OK(ctx, drape_collider_surface_create(ctx, &c, 2, &s));
    assert_int_equal(drape_collider_surface_at(s, 0, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_collider_surface_at(s, NAN, x), DRAPE_ERROR_ARGUMENT);
    drape_collider_surface_destroy(s);
    assert_string_equal(drape_collider_shape_name(DRAPE_COLLIDER_BOX_WITH_HOLE), "box_with_hole");
    assert_null(drape_collider_shape_name((drape_collider_shape)7));
    drape_context_destroy(ctx);
}

/* Every single request for memory fails once: nothing leaks and nothing crashes. */
typedef struct failing {
    int64_t left, held;
} failing;
static void *allocate(void *user, size_t bytes) {
    failing *f = user;
    if (f->left-- <= 0) return NULL;
    f->held++;
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}
static void release(void *user, void *memory, size_t bytes) {
    (void)bytes;
    if (memory) ((failing *)user)->held--;
    free(memory);
}

static void failing_memory_leaves_nothing(void **state) {
    (void)state;
    const drape_collider list[] = {
        {.shape = DRAPE_COLLIDER_CAPSULE, .radius = 1, .length = 1, .key_count = 3, .key = KEYS},
        {.shape = DRAPE_COLLIDER_CYLINDER, .radius = 1, .length = 1}};
    int32_t failures = 0;
    for (int64_t allowed = 0;; allowed++) {
        failing memory = {.left = 1 << 20};
        drape_context_settings settings = {.threads = 1,
                                           .allocator = {.alloc = allocate, .free = release, .user = &memory}};
        drape_context *ctx;
        assert_int_equal(drape_context_create(&settings, &ctx), DRAPE_OK);
        int64_t held = memory.held;
        drape_i_colliders *all;
        drape_collider_surface *s = NULL;
        memory.left = allowed;
        drape_status first = drape_i_colliders_create(ctx, list, 2, &all);
        drape_status second = first ? first : drape_collider_surface_create(ctx, list, 0, &s);
        drape_i_colliders_destroy(all);
        drape_collider_surface_destroy(s);
        assert_int_equal(memory.held, held);
        drape_context_destroy(ctx);
        if (second == DRAPE_OK) break;
        assert_int_equal(second, DRAPE_ERROR_MEMORY);
        failures++;
    }
    assert_true(failures > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solids_are_closed_outward_and_of_their_volume),
        cmocka_unit_test(cylinders_have_no_needles),
        cmocka_unit_test(round_surfaces_lie_on_their_shape),
        cmocka_unit_test(plane_is_a_square_that_faces_up),
        cmocka_unit_test(motion_is_exact_at_keys_and_straight_between),
        cmocka_unit_test(rotation_is_the_exponential),
        cmocka_unit_test(shape_is_turned_before_its_keys_move_it),
        cmocka_unit_test(carry_follows_the_points),
        cmocka_unit_test(meshes_deform_and_move),
        cmocka_unit_test(bad_numbers_are_refused),
        cmocka_unit_test(bad_meshes_are_refused),
        cmocka_unit_test(mixed_sides_are_told_and_taken),
        cmocka_unit_test(null_is_an_error_not_a_crash),
        cmocka_unit_test(failing_memory_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
