/* collider.c: colliders as moving points, and their surfaces.
 *
 * A point p in a collider's own coordinates is at position + R(rotation) p in the world, where R is given by
 * Rodrigues' formula
 *
 *   R p = cos a p + sin a (u x p) + (1 - cos a) (u.p) u,   a = |rotation|, u = rotation / a,
 *
 * with drape's own sine and cosine, so that bits do not depend on the machine. Position and rotation change linearly
 * from key to key, and at a key they are exactly its numbers. */
#include "contact/collider.h"
#include "base/elementary.h"
#include "contact/pose.h"

#include <math.h>
#include <string.h>

static const double TWO_PI = 6.28318530717958647692;

const char *drape_collider_shape_name(drape_collider_shape shape) {
    static const char *const names[] = {"plane", "sphere", "capsule", "box", "cylinder", "box_with_hole", "mesh"};
    return (int)shape >= 0 && (size_t)shape < sizeof names / sizeof *names ? names[shape] : NULL;
}

/* ---- Motion ---- */

typedef struct drape_i_collider_motion {
    int32_t points;
    double *local; /* m, 3 doubles per point: where they are without keys */
    vec3 up;       /* the z axis of the shape likewise */
    int32_t key_count;
    drape_collider_key *key;
    int32_t frames; /* 0: `local` at all times */
    double *frame_time, *frame;
} motion;

/* Position and turn at a time. */
typedef struct placement {
    vec3 position;
    drape_i_turn turn;
} placement;

static drape_collider_key key_at(const motion *m, double t) {
    int32_t i;
    double share = drape_i_find_time(&m->key->time, sizeof *m->key / sizeof(double), m->key_count, t, &i);
    drape_collider_key at = m->key[i];
    if (share > 0)
        for (int32_t d = 0; d < 3; d++) {
            at.position[d] = drape_i_between_keys(at.position[d], m->key[i + 1].position[d], share);
            at.rotation[d] = drape_i_between_keys(at.rotation[d], m->key[i + 1].rotation[d], share);
        }
    return at;
}

static placement place_at(const motion *m, double t) {
    if (m->key_count == 0) return (placement){.turn = {.cosine = 1}};
    drape_collider_key key = key_at(m, t);
    return (placement){vec3_at(key.position), drape_i_turn_of(vec3_at(key.rotation))};
}

static void put(const placement *at, vec3 p, double *x) {
    vec3 turned = drape_i_turn_point(&at->turn, 1, p);
    x[0] = at->position.x + turned.x;
    x[1] = at->position.y + turned.y;
    x[2] = at->position.z + turned.z;
}

static void points_at(const motion *m, double t, double *x) {
    placement at = place_at(m, t);
    int64_t n = 3 * (int64_t)m->points;
    const double *from = m->local, *to = NULL;
    double share = 0;
    if (m->frames > 0) {
        int32_t f;
        share = drape_i_find_time(m->frame_time, 1, m->frames, t, &f);
        from = m->frame + n * f;
        if (share > 0) to = from + n;
    }
    for (int64_t i = 0; i < n; i += 3) {
        vec3 p = vec3_at(from + i);
        if (to)
            p = (vec3){drape_i_between_keys(p.x, to[i], share), drape_i_between_keys(p.y, to[i + 1], share),
                       drape_i_between_keys(p.z, to[i + 2], share)};
        put(&at, p, x + i);
    }
}

static bool deforms(const drape_collider *c) {
    size_t size = 3 * (size_t)c->vertices * sizeof *c->frame;
    for (int32_t f = 1; f < c->frames; f++)
        if (memcmp(c->frame, c->frame + 3 * (int64_t)f * c->vertices, size) != 0) return true;
    return false;
}

static bool moves(const drape_collider *c) {
    for (int32_t i = 1; i < c->key_count; i++)
        for (int32_t d = 0; d < 3; d++)
            if (c->key[i].position[d] != c->key[0].position[d] || c->key[i].rotation[d] != c->key[0].rotation[d])
                return true;
    return deforms(c);
}

/* ---- One collider and its shape ---- */

static void free_motion(drape_context *ctx, motion *m) {
    DRAPE_FREE(ctx, m->local, 3 * (int64_t)m->points);
    DRAPE_FREE(ctx, m->key, m->key_count);
    DRAPE_FREE(ctx, m->frame_time, m->frames);
    DRAPE_FREE(ctx, m->frame, 3 * (int64_t)m->points * m->frames);
    *m = (motion){0};
}

static void turn_points(const placement *at, int64_t count, double *x) {
    for (int64_t i = 0; at->turn.turned && i < count; i++) put(at, vec3_at(x + 3 * i), x + 3 * i);
}

/* Takes the points of the shape over. */
static drape_status take_motion(drape_context *ctx, const drape_collider *c, drape_i_collider_form *shape,
                                motion *m) {
    *m = (motion){.points = shape->points, .local = shape->point, .key_count = c->key_count};
    shape->point = NULL;
    if (c->shape == DRAPE_COLLIDER_MESH && deforms(c)) m->frames = c->frames;
    int64_t numbers = 3 * (int64_t)m->points * m->frames;
    if (!DRAPE_NEW(ctx, m->key, m->key_count) || !DRAPE_NEW(ctx, m->frame_time, m->frames) ||
        !DRAPE_NEW(ctx, m->frame, numbers)) {
        free_motion(ctx, m);
        return DRAPE_ERROR_MEMORY;
    }
    if (m->key_count > 0) memcpy(m->key, c->key, (size_t)m->key_count * sizeof *m->key);
    if (m->frames > 0) {
        memcpy(m->frame_time, c->frame_time, (size_t)m->frames * sizeof *m->frame_time);
        memcpy(m->frame, c->frame, (size_t)numbers * sizeof *m->frame);
    }
    placement at = {.turn = drape_i_turn_of(vec3_at(c->rotation))};
    turn_points(&at, m->points, m->local);
    turn_points(&at, (int64_t)m->points * m->frames, m->frame);
    m->up = drape_i_turn_point(&at.turn, 1, (vec3){0, 0, 1});
    return DRAPE_OK;
}

static const char *name_of(const drape_collider *c) { return c->name ? c->name : "collider"; }

static drape_status take_collider(drape_i_colliders *all, const drape_collider *c, drape_i_collider_form *shape) {
    drape_context *ctx = all->ctx;
    int32_t k = all->count++;
    drape_i_collider *item = all->item + k;
    size_t length = strlen(name_of(c)) + 1;
    char *name;
    *item = (drape_i_collider){.shape = c->shape,
                               .first_point = all->points,
                               .points = shape->points,
                               .first_triangle = all->triangles,
                               .triangles = shape->triangles,
                               .thickness = c->thickness,
                               .friction = c->friction,
                               .moves = moves(c),
                               .deforms = c->shape == DRAPE_COLLIDER_MESH && deforms(c)};
    if (c->shape == DRAPE_COLLIDER_SPHERE || c->shape == DRAPE_COLLIDER_CAPSULE) item->radius = c->radius;
    if (!DRAPE_NEW(ctx, name, (int64_t)length)) return DRAPE_ERROR_MEMORY;
    memcpy(name, name_of(c), length);
    item->name = name;
    all->points += shape->points;
    all->triangles += shape->triangles;
    return take_motion(ctx, c, shape, &all->motion[k]);
}

/* ---- All colliders of a scene ---- */

static drape_status number_elements(drape_i_colliders *all, const drape_i_collider_form *shapes) {
    drape_context *ctx = all->ctx;
    if (!DRAPE_NEW(ctx, all->triangle, all->triangles) || !DRAPE_NEW(ctx, all->triangle_owner, all->triangles) ||
        !DRAPE_NEW(ctx, all->point_owner, all->points))
        return DRAPE_ERROR_MEMORY;
    for (int32_t k = 0; k < all->count; k++) {
        const drape_i_collider *item = all->item + k;
        for (int32_t i = 0; i < item->points; i++) all->point_owner[item->first_point + i] = k;
        for (int32_t t = 0; t < item->triangles; t++) {
            all->triangle_owner[item->first_triangle + t] = k;
            for (int32_t i = 0; i < 3; i++)
                all->triangle[item->first_triangle + t][i] = item->first_point + shapes[k].triangle[t][i];
        }
    }
    return DRAPE_OK;
}

static drape_status fill(drape_i_colliders *all, const drape_collider *colliders, int32_t count,
                         drape_i_collider_form *shapes) {
    drape_status status = DRAPE_OK;
    for (int32_t k = 0; !status && k < count; k++) {
        status = drape_i_collider_check(all->ctx, colliders + k, k);
        if (!status) status = drape_i_form_solid(all->ctx, colliders + k, shapes + k);
        if (!status &&
            (shapes[k].points > INT32_MAX / 4 - all->points || shapes[k].triangles > INT32_MAX / 4 - all->triangles))
            status = drape_i_fail(all->ctx, DRAPE_ERROR_ARGUMENT,
                                  "the colliders have more than %d vertices or triangles together", INT32_MAX / 4);
        if (!status) status = take_collider(all, colliders + k, shapes + k);
    }
    return status ? status : number_elements(all, shapes);
}

drape_status drape_i_colliders_create(drape_context *ctx, const drape_collider *colliders, int32_t count,
                                      drape_i_colliders **out) {
    *out = NULL;
    if (count < 0 || (count > 0 && !colliders))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "no list of %d colliders", count);
    drape_i_colliders *all;
    drape_i_collider_form *shapes = NULL;
    if (!DRAPE_NEW(ctx, all, 1)) return DRAPE_ERROR_MEMORY;
    *all = (drape_i_colliders){.ctx = ctx, .listed = count};
    drape_status status = DRAPE_ERROR_MEMORY;
    if (DRAPE_NEW(ctx, all->item, count) && DRAPE_NEW(ctx, all->motion, count) && DRAPE_NEW(ctx, shapes, count))
        status = fill(all, colliders, count, shapes);
    for (int32_t k = 0; shapes && k < count; k++) drape_i_form_free(ctx, shapes + k);
    DRAPE_FREE(ctx, shapes, count);
    if (status) drape_i_colliders_destroy(all);
    else *out = all;
    return status;
}

void drape_i_colliders_destroy(drape_i_colliders *all) {
    if (!all) return;
    drape_context *ctx = all->ctx;
    for (int32_t k = 0; k < all->count; k++) {
        const char *name = all->item[k].name;
        if (name) drape_i_free(ctx, (void *)(uintptr_t)name, (int64_t)strlen(name) + 1, 1);
        free_motion(ctx, all->motion + k);
    }
    DRAPE_FREE(ctx, all->item, all->listed);
    DRAPE_FREE(ctx, all->motion, all->listed);
    DRAPE_FREE(ctx, all->triangle, all->triangles);
    DRAPE_FREE(ctx, all->triangle_owner, all->triangles);
    DRAPE_FREE(ctx, all->point_owner, all->points);
    DRAPE_FREE(ctx, all, 1);
}

void drape_i_colliders_at(const drape_i_colliders *all, double time, double *x) {
    for (int32_t k = 0; k < all->count; k++)
        points_at(all->motion + k, time, x + 3 * (int64_t)all->item[k].first_point);
}

void drape_i_collider_normal(const drape_i_colliders *all, int32_t collider, double time, double normal[3]) {
    DRAPE_ASSERT(collider >= 0 && collider < all->count);
    placement at = place_at(all->motion + collider, time);
    vec3 n = drape_i_turn_point(&at.turn, 1, all->motion[collider].up);
    normal[0] = n.x, normal[1] = n.y, normal[2] = n.z;
}

void drape_i_collider_carry(const drape_i_colliders *all, int32_t collider, double t0, double t1,
                            const double from[3], double to[3]) {
    DRAPE_ASSERT(collider >= 0 && collider < all->count && !all->item[collider].deforms);
    if (!all->item[collider].moves || t0 == t1) {
        memcpy(to, from, 3 * sizeof *to);
        return;
    }
    placement before = place_at(all->motion + collider, t0), after = place_at(all->motion + collider, t1);
    put(&after, drape_i_turn_point(&before.turn, -1, vec3_sub(vec3_at(from), before.position)), to);
}

/* The solid angle under which p sees the triangles (van Oosterom and Strackee 1983) is 4 pi or -4 pi inside a closed
 * mesh, and 0 outside. For an open one it is anything between. */
bool drape_i_collider_encloses(const drape_i_colliders *all, int32_t collider, const double *points,
                               const double p[3]) {
    const drape_i_collider *c = &all->item[collider];
    double halves = 0;
    for (int32_t t = c->first_triangle; t < c->first_triangle + c->triangles; t++) {
        vec3 r[3];
        double length[3];
        for (int32_t k = 0; k < 3; k++) {
            r[k] = vec3_sub(vec3_at(points + 3 * (int64_t)all->triangle[t][k]), vec3_at(p));
            length[k] = vec3_length(r[k]);
        }
        double volume = vec3_dot(r[0], vec3_cross(r[1], r[2]));
        double rest = length[0] * length[1] * length[2];
        for (int32_t k = 0; k < 3; k++) rest += vec3_dot(r[k], r[(k + 1) % 3]) * length[(k + 2) % 3];
        halves += drape_i_atan2(volume, rest);
    }
    return fabs(halves) > 0.9 * TWO_PI;
}

/* ---- Surfaces ---- */

struct drape_collider_surface {
    drape_context *ctx;
    motion motion;
    int32_t triangles;
    int32_t (*triangle)[3];
    bool moves;
};

drape_status drape_collider_surface_create(drape_context *ctx, const drape_collider *collider, double extent,
                                           drape_collider_surface **out) {
    if (!ctx) return DRAPE_ERROR_ARGUMENT;
    if (!out) return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "drape_collider_surface_create: out is NULL");
    *out = NULL;
    if (!collider) return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "a surface needs a collider, not NULL");
    if (!isfinite(extent))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "the extent of a surface is %g m; it must be finite", extent);
    drape_i_collider_form shape = {0};
    drape_collider_surface *s;
    drape_status status = drape_i_collider_check(ctx, collider, -1);
    if (!status) status = drape_i_form_surface(ctx, collider, extent, &shape);
    if (status) return status;
    if (!DRAPE_NEW(ctx, s, 1)) {
        drape_i_form_free(ctx, &shape);
        return DRAPE_ERROR_MEMORY;
    }
    *s = (drape_collider_surface){
        .ctx = ctx, .triangles = shape.triangles, .triangle = shape.triangle, .moves = moves(collider)};
    status = take_motion(ctx, collider, &shape, &s->motion);
    if (status) drape_collider_surface_destroy(s);
    else *out = s;
    return status;
}

void drape_collider_surface_destroy(drape_collider_surface *s) {
    if (!s) return;
    drape_context *ctx = s->ctx;
    free_motion(ctx, &s->motion);
    DRAPE_FREE(ctx, s->triangle, s->triangles);
    DRAPE_FREE(ctx, s, 1);
}

int32_t drape_collider_surface_vertices(const drape_collider_surface *s) { return s ? s->motion.points : 0; }
int32_t drape_collider_surface_triangles(const drape_collider_surface *s) { return s ? s->triangles : 0; }
const int32_t *drape_collider_surface_triangle(const drape_collider_surface *s) { return s ? s->triangle[0] : NULL; }
bool drape_collider_surface_moves(const drape_collider_surface *s) { return s && s->moves; }

drape_status drape_collider_surface_at(const drape_collider_surface *s, double time, double *positions) {
    if (!s) return DRAPE_ERROR_ARGUMENT;
    if (!positions) return drape_i_fail(s->ctx, DRAPE_ERROR_ARGUMENT, "drape_collider_surface_at: positions is NULL");
    if (!isfinite(time))
        return drape_i_fail(s->ctx, DRAPE_ERROR_ARGUMENT, "a surface at the time %g s; it must be finite", time);
    points_at(&s->motion, time, positions);
    return DRAPE_OK;
}
