/* collider_meshes.c: the colliders of a scene as meshes beside the cloth, where they are at a time. */
#include "base/context.h"
#include "drape/io.h"

#include <math.h>
#include <string.h>

struct drape_collider_meshes {
    drape_context *ctx;
    int32_t count;
    drape_collider_surface **surface;    /* count */
    drape_frame_mesh *mesh;              /* count; what callers see */
    double **positions;                  /* count: where those of `mesh` point */
    drape_appearance *own_appearance;    /* count: what those of `appearance` point to */
    const drape_appearance **appearance; /* count; NULL entries: nothing is said */
    bool placed;                         /* at some time; those that rest stay there */
};

static const double LEAST_EXTENT = 1; /* m, of a plane */

/* A square about the plane's origin that reaches twice as far as the cloth does from there. */
static double extent_of(const drape_scene *scene, const drape_collider *c) {
    double farthest = 0, origin[3] = {0};
    if (c->key_count > 0) memcpy(origin, c->key[0].position, sizeof origin);
    for (int32_t p = 0; p < scene->piece_count; p++)
        for (int64_t v = 0; v < scene->pieces[p].vertices; v++) {
            double squares = 0;
            for (int32_t k = 0; k < 3; k++) {
                double d = scene->pieces[p].rest[3 * v + k] - origin[k];
                squares += d * d;
            }
            farthest = fmax(farthest, squares);
        }
    double extent = 4 * sqrt(farthest);
    return isfinite(extent) ? fmax(extent, LEAST_EXTENT) : LEAST_EXTENT;
}

static drape_status add_mesh(drape_collider_meshes *m, const drape_scene *scene, int32_t i) {
    const drape_collider *c = &scene->colliders[i];
    double extent = c->shape == DRAPE_COLLIDER_PLANE ? extent_of(scene, c) : 0;
    drape_status status = drape_collider_surface_create(m->ctx, c, extent, &m->surface[i]);
    if (status) return status;
    const drape_collider_surface *s = m->surface[i];
    const char *name = c->name ? c->name : "collider";
    int64_t length = (int64_t)strlen(name) + 1;
    char *copy;
    m->mesh[i] = (drape_frame_mesh){.vertices = drape_collider_surface_vertices(s),
                                    .triangles = drape_collider_surface_triangles(s),
                                    .triangle = drape_collider_surface_triangle(s)};
    if (!DRAPE_NEW(m->ctx, copy, length)) return DRAPE_ERROR_MEMORY;
    m->mesh[i].name = memcpy(copy, name, (size_t)length);
    if (!DRAPE_NEW(m->ctx, m->positions[i], 3 * (int64_t)m->mesh[i].vertices)) return DRAPE_ERROR_MEMORY;
    m->mesh[i].positions = m->positions[i];
    if (!c->appearance) return DRAPE_OK;
    m->own_appearance[i].colored = c->appearance->colored;
    memcpy(m->own_appearance[i].color, c->appearance->color, sizeof c->appearance->color);
    m->appearance[i] = &m->own_appearance[i];
    return DRAPE_OK;
}

drape_status drape_collider_meshes_create(drape_context *ctx, const drape_scene *scene, drape_collider_meshes **out) {
    drape_collider_meshes *m;
    if (out) *out = NULL;
    if (!ctx || !scene || !out)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "drape_collider_meshes_create: scene or out is NULL");
    if (scene->collider_count < 0 || (scene->collider_count > 0 && !scene->colliders))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "no list of %d colliders", scene->collider_count);
    if (!DRAPE_NEW(ctx, m, 1)) return DRAPE_ERROR_MEMORY;
    *m = (drape_collider_meshes){.ctx = ctx, .count = scene->collider_count};
    drape_status status = DRAPE_ERROR_MEMORY;
    if (DRAPE_NEW(ctx, m->surface, m->count) && DRAPE_NEW(ctx, m->mesh, m->count) &&
        DRAPE_NEW(ctx, m->positions, m->count) && DRAPE_NEW(ctx, m->own_appearance, m->count) &&
        DRAPE_NEW(ctx, m->appearance, m->count))
        status = DRAPE_OK;
    for (int32_t i = 0; i < m->count && !status; i++) status = add_mesh(m, scene, i);
    if (status) drape_collider_meshes_destroy(m);
    else *out = m;
    return status;
}

void drape_collider_meshes_destroy(drape_collider_meshes *m) {
    if (!m) return;
    drape_context *ctx = m->ctx;
    for (int32_t i = 0; i < m->count && m->surface && m->mesh && m->positions; i++) {
        const char *name = m->mesh[i].name;
        if (name) drape_i_free(ctx, (void *)(uintptr_t)name, (int64_t)strlen(name) + 1, 1);
        DRAPE_FREE(ctx, m->positions[i], 3 * (int64_t)m->mesh[i].vertices);
        drape_collider_surface_destroy(m->surface[i]);
    }
    DRAPE_FREE(ctx, m->surface, m->count);
    DRAPE_FREE(ctx, m->mesh, m->count);
    DRAPE_FREE(ctx, m->positions, m->count);
    DRAPE_FREE(ctx, m->own_appearance, m->count);
    DRAPE_FREE(ctx, m->appearance, m->count);
    DRAPE_FREE(ctx, m, 1);
}

int32_t drape_collider_meshes_count(const drape_collider_meshes *m) { return m ? m->count : 0; }

const drape_appearance *const *drape_collider_meshes_appearance(const drape_collider_meshes *m) {
    return m ? m->appearance : NULL;
}

const drape_frame_mesh *drape_collider_meshes_at(drape_collider_meshes *m, double time) {
    if (!m || !isfinite(time)) return NULL;
    for (int32_t i = 0; i < m->count; i++)
        if (!m->placed || drape_collider_surface_moves(m->surface[i]))
            drape_collider_surface_at(m->surface[i], time, m->positions[i]); /* fails for bad arguments only */
    m->placed = true;
    return m->mesh;
}
