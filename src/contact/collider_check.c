/* collider_check.c: checks a collider, and says in words what is wrong with it. */
#include "contact/collider.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_POINTS = 1 << 26, LABEL_SIZE = 128, MOST_SIDES = 1024, FEWEST_SIDES = 3 };

static const double LONGEST_ROTATION = 1e9; /* rad: beyond it the angle is resolved no better than 1e-7 rad */

/* "collider 'ball'", or "collider 3" where it has no name. */
static void label_of(const drape_collider *c, int32_t number, char label[LABEL_SIZE]) {
    if (c->name) snprintf(label, LABEL_SIZE, "collider '%s'", c->name);
    else if (number >= 0) snprintf(label, LABEL_SIZE, "collider %d", number);
    else snprintf(label, LABEL_SIZE, "collider");
}

typedef struct checker {
    drape_context *ctx;
    const drape_collider *c;
    char label[LABEL_SIZE];
    bool in_scene; /* one of a list: what is odd goes to the log; else the caller who made the list has been told */
} checker;

static drape_status refuse(const checker *k, const char *format, ...) DRAPE_PRINTF(2, 3);
static drape_status refuse(const checker *k, const char *format, ...) {
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return drape_i_fail(k->ctx, DRAPE_ERROR_ARGUMENT, "%s: %s", k->label, what);
}

/* ---- Sizes ---- */

static drape_status positive(const checker *k, const char *what, double value) {
    if (value > 0 && isfinite(value)) return DRAPE_OK;
    return refuse(k, "its %s is %g m; it must be finite and above 0", what, value);
}

static drape_status check_sizes(const checker *k) {
    const drape_collider *c = k->c;
    const char *const axis[3] = {"size along x", "size along y", "size along z"};
    drape_status status = DRAPE_OK;
    bool box = c->shape == DRAPE_COLLIDER_BOX || c->shape == DRAPE_COLLIDER_BOX_WITH_HOLE;
    bool cylinder = c->shape == DRAPE_COLLIDER_CYLINDER;
    bool capsule = c->shape == DRAPE_COLLIDER_CAPSULE;
    if (c->shape == DRAPE_COLLIDER_SPHERE || capsule || cylinder) status = positive(k, "radius", c->radius);
    if (!status && (capsule || cylinder)) status = positive(k, "length", c->length);
    for (int32_t i = 0; !status && box && i < 3; i++) status = positive(k, axis[i], c->size[i]);
    if (!status && cylinder && c->sides != 0 && (c->sides < FEWEST_SIDES || c->sides > MOST_SIDES))
        status = refuse(k, "it has %d sides; a cylinder has %d..%d, or 0 for the default", c->sides, FEWEST_SIDES,
                        MOST_SIDES);
    for (int32_t i = 0; !status && c->shape == DRAPE_COLLIDER_BOX_WITH_HOLE && i < 2; i++)
        if (!(c->hole[i] > 0 && c->hole[i] < c->size[i]))
            status = refuse(k, "its hole is %g m along %c; it must be above 0 and below the box's %g m", c->hole[i],
                            "xy"[i], c -> size[i]);
    return status;
}

static drape_status check_numbers(const checker *k) {
    const drape_collider *c = k->c;
    if (!(c->thickness >= 0 && isfinite(c->thickness)))
        return refuse(k, "its thickness is %g m; it must be finite and not below 0", c->thickness);
    if (!(c->friction >= 0 && isfinite(c->friction)))
        return refuse(k, "its friction is %g; it must be finite and not below 0", c->friction);
    return DRAPE_OK;
}

/* ---- Motion ---- */

/* Times of keys or frames rise, by a difference that can be divided by. */
static drape_status check_time(const checker *k, const char *what, int32_t i, double before, double time) {
    if (!isfinite(time)) return refuse(k, "the time of %s %d is %g s; it must be finite", what, i, time);
    if (i > 0 && !(time > before && isfinite(time - before)))
        return refuse(k, "the time of %s %d, %g s, is not after that of the one before, %g s", what, i, time, before);
    return DRAPE_OK;
}

static drape_status check_keys(const checker *k) {
    const drape_collider *c = k->c;
    for (int32_t d = 0; d < 3; d++)
        if (!(fabs(c->rotation[d]) <= LONGEST_ROTATION))
            return refuse(k, "its rotation is %g rad about %c; it must be within %g", c->rotation[d], "xyz"[d],
                          LONGEST_ROTATION);
    if (c->key_count < 0 || (c->key_count > 0 && !c->key))
        return refuse(k, "no list of its %d keys of motion", c->key_count);
    for (int32_t i = 0; i < c->key_count; i++) {
        const drape_collider_key *key = c->key + i;
        drape_status status = check_time(k, "key", i, i ? key[-1].time : 0, key->time);
        if (status) return status;
        for (int32_t d = 0; d < 3; d++) {
            if (!isfinite(key->position[d]))
                return refuse(k, "the position of key %d (t = %g s) is not finite", i, key->time);
            if (!(fabs(key->rotation[d]) <= LONGEST_ROTATION))
                return refuse(k, "the rotation of key %d (t = %g s) is %g rad about %c; it must be within %g", i,
                              key->time, key->rotation[d], "xyz"[d], LONGEST_ROTATION);
        }
    }
    return DRAPE_OK;
}

/* ---- Meshes ---- */

static drape_status check_positions(const checker *k, const double *x, int32_t frame) {
    for (int64_t i = 0; i < 3 * (int64_t)k->c->vertices; i++) {
        if (isfinite(x[i])) continue;
        if (frame < 0) return refuse(k, "vertex %lld has a coordinate that is not finite", (long long)(i / 3));
        return refuse(k, "vertex %lld has a coordinate that is not finite in frame %d (t = %g s)", (long long)(i / 3),
                      frame, k->c->frame_time[frame]);
    }
    return DRAPE_OK;
}

static drape_status check_frames(const checker *k) {
    const drape_collider *c = k->c;
    if (c->frames < 0 || (c->frames > 0 && (!c->frame || !c->frame_time)))
        return refuse(k, "no times or no positions for its %d frames", c->frames);
    if (c->frames == 0) {
        if (!c->positions) return refuse(k, "it has no positions for its %d vertices", c->vertices);
        return check_positions(k, c->positions, -1);
    }
    drape_status status = DRAPE_OK;
    for (int32_t f = 0; !status && f < c->frames; f++) {
        status = check_time(k, "frame", f, f ? c->frame_time[f - 1] : 0, c->frame_time[f]);
        if (!status) status = check_positions(k, c->frame + 3 * (int64_t)f * c->vertices, f);
    }
    return status;
}

static drape_status check_triangles(const checker *k) {
    const drape_collider *c = k->c;
    for (int32_t t = 0; t < c->triangles; t++) {
        const int32_t *v = c->triangle + 3 * (int64_t)t;
        for (int32_t i = 0; i < 3; i++)
            if (v[i] < 0 || v[i] >= c->vertices)
                return refuse(k, "triangle %d names vertex %d, but its mesh has %d vertices", t, v[i], c->vertices);
        if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0])
            return refuse(k, "triangle %d has vertex %d twice", t, v[0] == v[1] ? v[0] : v[2]);
    }
    return DRAPE_OK;
}

/* An edge of a triangle, its lower end first. */
typedef struct side {
    int32_t low, high, triangle;
    bool downward; /* runs from high to low in its triangle */
} side;

static int compare_sides(const void *a, const void *b) {
    const side *p = a, *q = b;
    if (p->low != q->low) return p->low < q->low ? -1 : 1;
    if (p->high != q->high) return p->high < q->high ? -1 : 1;
    return (p->triangle > q->triangle) - (p->triangle < q->triangle);
}

/* No edge belongs to more than two triangles. That neighbours run the same way along their edge, so that one of them
 * is inside out, is only told: cloth meets both sides. */
static drape_status check_sides(const checker *k, const side *sides, int64_t count) {
    bool told = false;
    for (int64_t i = 0; i + 1 < count; i++) {
        const side *a = sides + i, *b = sides + i + 1;
        if (a->low != b->low || a->high != b->high) continue;
        if (i + 2 < count && a->low == b[1].low && a->high == b[1].high)
            return refuse(k,
                          "the edge between vertices %d and %d belongs to more than two triangles (%d, %d and %d); "
                          "split the mesh there",
                          a->low, a->high, a->triangle, b->triangle, b[1].triangle);
        if (a->downward == b->downward && !told && k->in_scene) {
            drape_i_log(k->ctx, DRAPE_LOG_WARNING,
                        "%s: triangles %d and %d run in the same direction along the edge between vertices %d and "
                        "%d, so one of them is inside out; contact works on both sides regardless",
                        k->label, a->triangle, b->triangle, a->low, a->high);
            told = true;
        }
    }
    return DRAPE_OK;
}

static drape_status check_manifold(const checker *k) {
    const drape_collider *c = k->c;
    int64_t count = 3 * (int64_t)c->triangles;
    side *sides;
    if (!DRAPE_NEW(k->ctx, sides, count)) return DRAPE_ERROR_MEMORY;
    for (int64_t i = 0; i < count; i++) {
        int32_t a = c->triangle[i], b = c->triangle[i % 3 == 2 ? i - 2 : i + 1];
        sides[i] = (side){a < b ? a : b, a < b ? b : a, (int32_t)(i / 3), a > b};
    }
    qsort(sides, (size_t)count, sizeof *sides, compare_sides);
    drape_status status = check_sides(k, sides, count);
    DRAPE_FREE(k->ctx, sides, count);
    return status;
}

static drape_status check_mesh(const checker *k) {
    const drape_collider *c = k->c;
    if (c->vertices < 3 || c->triangles < 1 || c->vertices > MOST_POINTS || c->triangles > MOST_POINTS)
        return refuse(k, "a mesh of %d vertices and %d triangles; it needs 3 and 1 at least, and %d of each at most",
                      c->vertices, c->triangles, MOST_POINTS);
    if (!c->triangle) return refuse(k, "it has no list of its %d triangles", c->triangles);
    drape_status status = check_triangles(k);
    if (!status) status = check_frames(k);
    return status ? status : check_manifold(k);
}

drape_status drape_i_collider_check(drape_context *ctx, const drape_collider *c, int32_t number) {
    checker k = {.ctx = ctx, .c = c, .in_scene = number >= 0};
    label_of(c, number, k.label);
    if (!drape_collider_shape_name(c->shape)) return refuse(&k, "unknown shape %d", (int)c->shape);
    drape_status status = drape_i_check_reserved(ctx, "drape_collider", c->reserved, 4);
    if (!status) status = check_sizes(&k);
    if (!status) status = check_numbers(&k);
    if (!status) status = check_keys(&k);
    if (!status && c->shape == DRAPE_COLLIDER_MESH) return check_mesh(&k);
    if (!status && c->frames != 0)
        return refuse(&k, "it has %d frames, but only a mesh can deform; use keys to move it", c->frames);
    return status;
}
