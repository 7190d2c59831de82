/* attach.c: cloth that is held to colliders.
 *
 * An attached vertex keeps the barycentric coordinates w of the point of the collider's surface that is nearest to it
 * at the start. It also keeps its offset from there in the frame of the triangle, e1 along its first edge, n its
 * normal:
 *
 *     p(t) = sum w_i x_i(t) + o_1 e1(t) + o_2 (n x e1)(t) + o_3 n(t).
 *
 * So it follows surfaces that move, turn and deform. It is a pin whose motion is p(t) - p(0), with a spring instead
 * of the constraint if the weight is below 1. Surfaces are those of files and pictures, where round shapes are
 * inscribed meshes. All vertices of a surface are computed at once, and kept for repeated queries of the
 * same times. */
#include "sim/attach.h"

#include "contact/closest.h"
#include "drape/contact.h"

#include <math.h>
#include <string.h>

static const double USUAL_STIFFNESS = 10; /* N/m */
enum { TIMES = 2 };                       /* that are kept: the two ends of a step */

/* A surface and where it was at the last times. */
typedef struct surface {
    drape_collider_surface *is;
    int32_t vertices;
    double *x[TIMES], time[TIMES];
    int32_t next; /* to be used for another time */
} surface;

typedef struct attached {
    surface *on;
    int32_t corner[3];
    double w[3], offset[3], at_start[3];
} attached;

struct drape_i_attachments {
    drape_context *ctx;
    int32_t surfaces, count, pins;
    surface *surface; /* one per collider; only those that are used are there */
    attached *item;
    int32_t *vertex;
    drape_pin *pin; /* the scene's, and one per item */
};

void drape_i_attachments_destroy(drape_i_attachments *a) {
    if (!a) return;
    drape_context *ctx = a->ctx;
    for (int32_t i = 0; a->surface && i < a->surfaces; i++) {
        for (int32_t k = 0; k < TIMES; k++) DRAPE_FREE(ctx, a->surface[i].x[k], 3 * (int64_t)a->surface[i].vertices);
        drape_collider_surface_destroy(a->surface[i].is);
    }
    DRAPE_FREE(ctx, a->surface, a->surfaces);
    DRAPE_FREE(ctx, a->item, a->count);
    DRAPE_FREE(ctx, a->vertex, a->count);
    DRAPE_FREE(ctx, a->pin, a->pins);
    DRAPE_FREE(ctx, a, 1);
}

/* ---- Where a point of a surface is ---- */

static const double *surface_at(surface *s, double t) {
    for (int32_t k = 0; k < TIMES; k++)
        if (s->time[k] == t) return s->x[k];
    const int32_t k = s->next;
    s->next = (k + 1) % TIMES;
    s->time[k] = t;
    drape_collider_surface_at(s->is, t, s->x[k]);
    return s->x[k];
}

static void cross(const double a[3], const double b[3], double out[3]) {
    for (int32_t k = 0; k < 3; k++) out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static bool normalise(double a[3]) {
    const double length = sqrt(drape_i_dot3(a, a));
    for (int32_t k = 0; k < 3 && length > 0; k++) a[k] /= length;
    return length > 0;
}

/* e1, n x e1, n; the axes where the triangle has no area. */
static void frame_of(const double *x, const int32_t corner[3], double e[3][3]) {
    double to[3];
    for (int32_t k = 0; k < 3; k++) {
        e[0][k] = x[3 * (int64_t)corner[1] + k] - x[3 * (int64_t)corner[0] + k];
        to[k] = x[3 * (int64_t)corner[2] + k] - x[3 * (int64_t)corner[0] + k];
    }
    cross(e[0], to, e[2]);
    if (normalise(e[0]) && normalise(e[2])) cross(e[2], e[0], e[1]);
    else memcpy(e, (double[3][3]){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, 9 * sizeof(double));
}

static void point_of(const attached *a, const double *x, double out[3]) {
    for (int32_t k = 0; k < 3; k++) {
        out[k] = 0;
        for (int32_t i = 0; i < 3; i++) out[k] += a->w[i] * x[3 * (int64_t)a->corner[i] + k];
    }
}

static void place_of(const attached *a, const double *x, double out[3]) {
    double e[3][3];
    point_of(a, x, out);
    frame_of(x, a->corner, e);
    for (int32_t k = 0; k < 3; k++)
        out[k] += (a->offset[0] * e[0][k] + a->offset[1] * e[1][k]) + a->offset[2] * e[2][k];
}

static void displacement(void *user, int32_t vertex, double time, const double start[3], double out[3]) {
    attached *a = user;
    (void)vertex, (void)start;
    place_of(a, surface_at(a->on, time), out);
    for (int32_t k = 0; k < 3; k++) out[k] -= a->at_start[k];
}

/* ---- The nearest point ---- */

/* m^2: from p to the box around a triangle. */
static double box_distance2(const double *x, const int32_t corner[3], const double p[3]) {
    double sum = 0;
    for (int32_t k = 0; k < 3; k++) {
        double a = x[3 * (int64_t)corner[0] + k], b = x[3 * (int64_t)corner[1] + k],
               c = x[3 * (int64_t)corner[2] + k];
        double off = fmax(fmax(fmin(a, fmin(b, c)) - p[k], p[k] - fmax(a, fmax(b, c))), 0);
        sum += off * off;
    }
    return sum;
}

double drape_i_nearest_on(const double *x, int32_t triangles, const int32_t *triangle, const double p[3],
                          int32_t corner[3], double w[3]) {
    double least = INFINITY;
    for (int32_t t = 0; t < triangles; t++) {
        static const int32_t all[4] = {0, 1, 2, 3};
        double four[12], weight[4], e[3];
        if (!(box_distance2(x, triangle + 3 * (int64_t)t, p) < least)) continue;
        memcpy(four, p, 3 * sizeof *p);
        for (int32_t i = 0; i < 3; i++)
            memcpy(four + 3 + 3 * i, x + 3 * (int64_t)triangle[3 * (int64_t)t + i], 3 * sizeof *p);
        drape_i_closest(DRAPE_CCD_VERTEX_FACE, four, all, weight);
        drape_i_between(four, all, weight, e);
        if (!(drape_i_dot3(e, e) < least)) continue;
        least = drape_i_dot3(e, e);
        memcpy(corner, triangle + 3 * (int64_t)t, 3 * sizeof *corner);
        for (int32_t i = 0; i < 3; i++) w[i] = -weight[1 + i];
    }
    return sqrt(least);
}

/* ---- From the scene ---- */

static const char *name_of(const drape_collider *c) { return c->name ? c->name : "collider"; }

static drape_status check(drape_context *ctx, const drape_scene *scene, int32_t number, int32_t vertices) {
    const drape_attachment *a = &scene->attachments[number];
    drape_status status = drape_i_check_reserved(ctx, "drape_attachment", a->reserved, 4);
    if (status) return status;
    if (a->collider < 0 || a->collider >= scene->collider_count)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "attachment %d: there is no collider %d; there are %d", number,
                            a->collider, scene->collider_count);
    if (scene->colliders[a->collider].shape == DRAPE_COLLIDER_PLANE)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "attachment %d: collider %d (%s) is a plane, which has no triangles; use a pin", number,
                            a->collider, name_of(&scene->colliders[a->collider]));
    if (a->count < 0 || (a->count > 0 && !a->vertices))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "attachment %d: no list of %d vertices", number, a->count);
    if (!isfinite(a->stiffness) || a->stiffness < 0 || !isfinite(a->reach) || a->reach < 0)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "attachment %d: its stiffness is %g N/m and its reach %g m; both must be 0 or more",
                            number, a->stiffness, a->reach);
    for (int32_t i = 0; i < a->count; i++) {
        if (a->vertices[i] < 0 || a->vertices[i] >= vertices)
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "attachment %d names vertex %d; there are %d", number,
                                a->vertices[i], vertices);
        if (a->weight && !(a->weight[i] > 0 && a->weight[i] <= 1))
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                                "attachment %d: the weight of vertex %d is %g; it must be above 0, and at most 1",
                                number, a->vertices[i], a->weight[i]);
    }
    return DRAPE_OK;
}

static drape_status prepare_surface(drape_i_attachments *all, const drape_collider *from, surface *s) {
    if (s->is) return DRAPE_OK;
    drape_status status = drape_collider_surface_create(all->ctx, from, 0, &s->is);
    if (status) return status;
    s->vertices = drape_collider_surface_vertices(s->is);
    for (int32_t k = 0; k < TIMES; k++) {
        if (!DRAPE_NEW(all->ctx, s->x[k], 3 * (int64_t)s->vertices)) return DRAPE_ERROR_MEMORY;
        s->time[k] = NAN;
    }
    return DRAPE_OK;
}

/* Where a vertex of the scene starts. */
static const double *start_of(const drape_scene *scene, int32_t vertex) {
    if (scene->start) return scene->start + 3 * (int64_t)vertex;
    int32_t p = 0;
    while (vertex >= scene->pieces[p].vertices) vertex -= scene->pieces[p++].vertices;
    return scene->pieces[p].rest + 3 * (int64_t)vertex;
}

static drape_status attach(drape_i_attachments *all, const drape_scene *scene, int32_t number, int32_t i,
                           attached *to) {
    const drape_attachment *a = &scene->attachments[number];
    const double *p = start_of(scene, a->vertices[i]);
    const double *x = surface_at(to->on, 0);
    double away = drape_i_nearest_on(x, drape_collider_surface_triangles(to->on->is),
                                     drape_collider_surface_triangle(to->on->is), p, to->corner, to->w);
    double e[3][3], on[3], off[3];
    if (!isfinite(away) || (a->reach > 0 && away > a->reach))
        return drape_i_fail(all->ctx, DRAPE_ERROR_ARGUMENT,
                            "attachment %d: vertex %d is %g m away from collider %d (%s), but its reach is %g m; "
                            "move the cloth to the collider, or increase reach",
                            number, a->vertices[i], away, a->collider, name_of(&scene->colliders[a->collider]),
                            a->reach);
    point_of(to, x, on);
    frame_of(x, to->corner, e);
    for (int32_t k = 0; k < 3; k++) off[k] = p[k] - on[k];
    for (int32_t k = 0; k < 3; k++) to->offset[k] = drape_i_dot3(e[k], off);
    place_of(to, x, to->at_start);
    return DRAPE_OK;
}

static drape_pin pin_of(const drape_attachment *a, int32_t i, const int32_t *vertex, attached *item) {
    const double w = a->weight ? a->weight[i] : 1, k = a->stiffness > 0 ? a->stiffness : USUAL_STIFFNESS;
    return (drape_pin){.count = 1,
                       .vertices = vertex,
                       .directions = 3,
                       .motion = {.kind = DRAPE_MOTION_CALLBACK, .function = displacement, .user = item},
                       .stiffness = w < 1 ? k * w / (1 - w) : 0};
}

static drape_status fill(drape_i_attachments *all, const drape_scene *scene, int32_t vertices) {
    drape_status status = DRAPE_OK;
    int32_t at = 0;
    for (int32_t n = 0; n < scene->attachment_count && !status; n++) {
        const drape_attachment *a = &scene->attachments[n];
        status = check(all->ctx, scene, n, vertices);
        if (!status) status = prepare_surface(all, &scene->colliders[a->collider], &all->surface[a->collider]);
        for (int32_t i = 0; i < a->count && !status; i++, at++) {
            all->item[at].on = &all->surface[a->collider];
            all->vertex[at] = a->vertices[i];
            status = attach(all, scene, n, i, &all->item[at]);
            all->pin[scene->pin_count + at] = pin_of(a, i, &all->vertex[at], &all->item[at]);
        }
    }
    return status;
}

drape_status drape_i_attachments_create(drape_context *ctx, const drape_scene *scene, int32_t vertices,
                                        drape_scene *with, drape_i_attachments **out) {
    drape_i_attachments *all;
    int64_t count = 0;
    *out = NULL;
    *with = *scene;
    if (scene->attachment_count < 0 || (scene->attachment_count > 0 && !scene->attachments))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "no list of %d attachments", scene->attachment_count);
    if (scene->attachment_count == 0) return DRAPE_OK;
    for (int32_t n = 0; n < scene->attachment_count; n++)
        count += scene->attachments[n].count > 0 ? scene->attachments[n].count : 0;
    if (count + scene->pin_count > INT32_MAX)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "more than %d attached vertices", INT32_MAX);
    if (!DRAPE_NEW(ctx, all, 1)) return DRAPE_ERROR_MEMORY;
    *out = all;
    all->ctx = ctx;
    all->count = (int32_t)count;
    all->pins = scene->pin_count + all->count;
    all->surfaces = scene->collider_count;
    if (!DRAPE_NEW(ctx, all->surface, all->surfaces) || !DRAPE_NEW(ctx, all->item, all->count) ||
        !DRAPE_NEW(ctx, all->vertex, all->count) || !DRAPE_NEW(ctx, all->pin, all->pins))
        return DRAPE_ERROR_MEMORY;
    if (scene->pin_count > 0) memcpy(all->pin, scene->pins, (size_t)scene->pin_count * sizeof *all->pin);
    drape_status status = fill(all, scene, vertices);
    with->pins = all->pin;
    with->pin_count = all->pins;
    return status;
}
