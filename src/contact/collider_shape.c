/* collider_shape.c: the shapes of colliders in their own coordinates.
 *
 * Boxes have as few triangles as possible. Walls of cylinders are divided into rows. Their caps are divided into
 * rings, and each ring has half as many corners as the one around it, so triangles are not much longer than wide. In
 * a fan of 64 triangles around one point, cloth at that point would touch all of them at once. Round shapes are
 * inscribed: their corners lie on the true surface. */
#include "base/elementary.h"
#include "contact/collider.h"

#include <math.h>
#include <string.h>

static const double TWO_PI = 6.28318530717958647692;

enum {
    DEFAULT_SIDES = 64, /* of a cylinder */
    MOST_ROWS = 64,     /* of a cylinder's wall */
    LONGEST_CELL = 4,   /* a cell of the wall is at most this many times as long as wide */
    FEWEST_AROUND = 6,  /* corners of the innermost ring of a cap */
    MOST_RINGS = 16,    /* 1024 sides have 9 */
    SPHERE_SIDES = 48,  /* of the surface of a sphere, around z */
    CAPSULE_SIDES = 24, /* likewise; from pole to pole there are half as many stacks, an even number */
    SQUARE_METRES = 10  /* of a plane's surface, by default */
};

/* ---- A shape that grows ---- */

typedef struct maker {
    drape_i_collider_form *shape;
    int32_t points, triangles; /* so far */
} maker;

static drape_status shape_new(drape_context *ctx, int32_t points, int32_t triangles, drape_i_collider_form *out,
                              maker *m) {
    *out = (drape_i_collider_form){.points = points, .triangles = triangles};
    *m = (maker){.shape = out};
    if (DRAPE_NEW(ctx, out->point, 3 * (int64_t)points) && DRAPE_NEW(ctx, out->triangle, triangles)) return DRAPE_OK;
    drape_i_form_free(ctx, out);
    return DRAPE_ERROR_MEMORY;
}

void drape_i_form_free(drape_context *ctx, drape_i_collider_form *shape) {
    DRAPE_FREE(ctx, shape->point, 3 * (int64_t)shape->points);
    DRAPE_FREE(ctx, shape->triangle, shape->triangles);
    *shape = (drape_i_collider_form){0};
}

static int32_t add_point(maker *m, double x, double y, double z) {
    DRAPE_ASSERT(m->points < m->shape->points);
    double *p = m->shape->point + 3 * (int64_t)m->points;
    p[0] = x, p[1] = y, p[2] = z;
    return m->points++;
}

static void add_triangle(maker *m, int32_t a, int32_t b, int32_t c) {
    DRAPE_ASSERT(m->triangles < m->shape->triangles);
    int32_t *t = m->shape->triangle[m->triangles++];
    t[0] = a, t[1] = b, t[2] = c;
}

static void add_quad(maker *m, int32_t a, int32_t b, int32_t c, int32_t d) {
    add_triangle(m, a, b, c);
    add_triangle(m, a, c, d);
}

/* ---- Boxes and planes ---- */

/* Four corners of a rectangle at height z, counter-clockwise seen from above. */
static int32_t add_rectangle(maker *m, double width, double depth, double z) {
    int32_t first = add_point(m, -0.5 * width, -0.5 * depth, z);
    add_point(m, 0.5 * width, -0.5 * depth, z);
    add_point(m, 0.5 * width, 0.5 * depth, z);
    add_point(m, -0.5 * width, 0.5 * depth, z);
    return first;
}

/* The four quads between two rectangles: their outside is on the right of who walks along the first one. */
static void add_band(maker *m, int32_t first, int32_t second) {
    for (int32_t i = 0; i < 4; i++) {
        int32_t j = (i + 1) % 4;
        add_quad(m, first + i, first + j, second + j, second + i);
    }
}

static void add_box(maker *m, const double size[3]) {
    int32_t low = add_rectangle(m, size[0], size[1], -0.5 * size[2]);
    int32_t high = add_rectangle(m, size[0], size[1], 0.5 * size[2]);
    add_band(m, low, high);
    add_quad(m, high, high + 1, high + 2, high + 3);
    add_quad(m, low + 3, low + 2, low + 1, low);
}

static void add_box_with_hole(maker *m, const double size[3], const double hole[2]) {
    int32_t low = add_rectangle(m, size[0], size[1], -0.5 * size[2]);
    int32_t high = add_rectangle(m, size[0], size[1], 0.5 * size[2]);
    int32_t low_hole = add_rectangle(m, hole[0], hole[1], -0.5 * size[2]);
    int32_t high_hole = add_rectangle(m, hole[0], hole[1], 0.5 * size[2]);
    add_band(m, low, high);
    add_band(m, high, high_hole);
    add_band(m, high_hole, low_hole);
    add_band(m, low_hole, low);
}

/* ---- Round shapes ---- */

/* `count` points around z, the first in the direction of x. */
static int32_t add_ring(maker *m, int32_t count, double radius, double z) {
    for (int32_t i = 0; i < count; i++) {
        double angle = TWO_PI * i / count;
        add_point(m, radius * drape_i_cos(angle), radius * drape_i_sin(angle), z);
    }
    return m->points - count;
}

/* Triangles between two rings of any numbers of points (1: a point on the axis); outside as in add_band. */
static void add_strip(maker *m, int32_t first, int32_t n, int32_t second, int32_t k) {
    int32_t i = 0, j = 0;
    while (i < (n > 1 ? n : 0) || j < (k > 1 ? k : 0)) {
        /* Step on where the next point comes sooner on the way around. */
        bool on_first = k == 1 || (n > 1 && j == k) || (n > 1 && i < n && (i + 1) * k <= (j + 1) * n);
        if (on_first) {
            add_triangle(m, first + i, first + (i + 1) % n, second + j % k);
            i++;
        } else {
            add_triangle(m, first + i % n, second + (j + 1) % k, second + j);
            j++;
        }
    }
}

/* How many corners the rings of a cap have, from the rim to the point in the middle; returns how many rings. */
static int32_t cap_rings(int32_t sides, int32_t count[MOST_RINGS]) {
    int32_t rings = 0;
    count[rings++] = sides;
    for (int32_t next = sides / 2; next >= FEWEST_AROUND; next /= 2) count[rings++] = next;
    count[rings++] = 1;
    DRAPE_ASSERT(rings <= MOST_RINGS);
    return rings;
}

/* Rings inward of the rim that is there already. */
static void add_cap(maker *m, int32_t rim, int32_t rings, const int32_t *count, double radius, double z, bool up) {
    for (int32_t r = 1, outer = rim; r < rings; r++) {
        double share = (double)(rings - 1 - r) / (rings - 1);
        int32_t inner = add_ring(m, count[r], share * radius, z);
        if (up) add_strip(m, outer, count[r - 1], inner, count[r]);
        else add_strip(m, inner, count[r], outer, count[r - 1]);
        outer = inner;
    }
}

static int32_t wall_rows(int32_t sides, double radius, double length) {
    double rows = ceil(length / (LONGEST_CELL * (TWO_PI * radius / sides)));
    return rows < 1 ? 1 : rows > MOST_ROWS ? MOST_ROWS : (int32_t)rows;
}

static drape_status make_cylinder(drape_context *ctx, const drape_collider *c, drape_i_collider_form *out) {
    int32_t sides = c->sides ? c->sides : DEFAULT_SIDES, count[MOST_RINGS];
    int32_t rings = cap_rings(sides, count), rows = wall_rows(sides, c->radius, c->length);
    int32_t cap_points = 0, cap_triangles = 0;
    for (int32_t r = 1; r < rings; r++) {
        cap_points += count[r];
        cap_triangles += count[r - 1] + (count[r] > 1 ? count[r] : 0);
    }
    maker m;
    drape_status status =
        shape_new(ctx, sides * (rows + 1) + 2 * cap_points, 2 * sides * rows + 2 * cap_triangles, out, &m);
    if (status) return status;
    int32_t low = 0, ring = 0;
    for (int32_t r = 0; r <= rows; r++) {
        int32_t next = add_ring(&m, sides, c->radius, c->length * ((double)r / rows - 0.5));
        if (r == 0) low = next;
        else add_strip(&m, ring, sides, next, sides);
        ring = next;
    }
    add_cap(&m, ring, rings, count, c->radius, 0.5 * c->length, true);
    add_cap(&m, low, rings, count, c->radius, -0.5 * c->length, false);
    DRAPE_ASSERT(m.points == out->points && m.triangles == out->triangles);
    return DRAPE_OK;
}

/* A sphere, or with a length above 0 a capsule, whose equator is there twice. */
static drape_status make_round_surface(drape_context *ctx, int32_t sides, double radius, double length,
                                       drape_i_collider_form *out) {
    const int32_t stacks = sides / 2, rings = stacks - 1 + (length > 0);
    maker m;
    drape_status status = shape_new(ctx, 2 + rings * sides, 2 * rings * sides, out, &m);
    if (status) return status;
    int32_t below = add_point(&m, 0, 0, -radius - 0.5 * length), n = 1;
    for (int32_t r = 0, stack = 1; r < rings; r++) {
        double angle = TWO_PI * stack / (2 * stacks);
        bool low = r < stacks / 2;
        double z = (low ? -0.5 : 0.5) * length - radius * drape_i_cos(angle);
        int32_t ring = add_ring(&m, sides, radius * drape_i_sin(angle), z);
        add_strip(&m, below, n, ring, sides);
        below = ring, n = sides;
        if (length <= 0 || r != stacks / 2 - 1) stack++; /* else: the equator again */
    }
    add_strip(&m, below, n, add_point(&m, 0, 0, radius + 0.5 * length), 1);
    DRAPE_ASSERT(m.points == out->points && m.triangles == out->triangles);
    return DRAPE_OK;
}

/* ---- All of them ---- */

static drape_status make_mesh(drape_context *ctx, const drape_collider *c, drape_i_collider_form *out) {
    maker m;
    drape_status status = shape_new(ctx, c->vertices, c->triangles, out, &m);
    if (status) return status;
    const double *at = c->frames > 0 ? c->frame : c->positions;
    memcpy(out->point, at, 3 * (size_t)c->vertices * sizeof *at);
    memcpy(out->triangle, c->triangle, 3 * (size_t)c->triangles * sizeof *c->triangle);
    return DRAPE_OK;
}

drape_status drape_i_form_solid(drape_context *ctx, const drape_collider *c, drape_i_collider_form *out) {
    maker m;
    drape_status status;
    switch (c->shape) {
    case DRAPE_COLLIDER_PLANE:
    case DRAPE_COLLIDER_SPHERE: return shape_new(ctx, 1, 0, out, &m);
    case DRAPE_COLLIDER_CAPSULE:
        status = shape_new(ctx, 2, 0, out, &m);
        if (status) return status;
        add_point(&m, 0, 0, -0.5 * c->length);
        add_point(&m, 0, 0, 0.5 * c->length);
        return DRAPE_OK;
    case DRAPE_COLLIDER_BOX:
        status = shape_new(ctx, 8, 12, out, &m);
        if (status == DRAPE_OK) add_box(&m, c->size);
        return status;
    case DRAPE_COLLIDER_BOX_WITH_HOLE:
        status = shape_new(ctx, 16, 32, out, &m);
        if (status == DRAPE_OK) add_box_with_hole(&m, c->size, c->hole);
        return status;
    case DRAPE_COLLIDER_CYLINDER: return make_cylinder(ctx, c, out);
    case DRAPE_COLLIDER_MESH: return make_mesh(ctx, c, out);
    }
    DRAPE_ASSERT(false);
    return DRAPE_ERROR_ARGUMENT;
}

drape_status drape_i_form_surface(drape_context *ctx, const drape_collider *c, double extent,
                                  drape_i_collider_form *out) {
    maker m;
    drape_status status;
    switch (c->shape) {
    case DRAPE_COLLIDER_PLANE:
        if (!(extent > 0)) extent = SQUARE_METRES;
        status = shape_new(ctx, 4, 2, out, &m);
        if (status) return status;
        int32_t first = add_rectangle(&m, extent, extent, 0);
        add_quad(&m, first, first + 1, first + 2, first + 3);
        return DRAPE_OK;
    case DRAPE_COLLIDER_SPHERE: return make_round_surface(ctx, SPHERE_SIDES, c->radius, 0, out);
    case DRAPE_COLLIDER_CAPSULE: return make_round_surface(ctx, CAPSULE_SIDES, c->radius, c->length, out);
    default: return drape_i_form_solid(ctx, c, out);
    }
}
