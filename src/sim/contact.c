/* contact.c: creating what contact needs, what may not touch at the start, and checkpoints. */
#include "sim/contact.h"

#include "drape/crossings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double USUAL_DISTANCE = 1e-3; /* m, and at most this share of the shortest edge: */
static const double SHARE_OF_EDGE = 0.2;

/* ---- Creating ---- */

static double shortest_edge(const drape_sim *sim) {
    const int32_t *triangle = drape_cloth_triangle(sim->cloth);
    double least = INFINITY;
    for (int64_t t = 0; t < 3 * (int64_t)drape_cloth_triangles(sim->cloth); t++) {
        const double *a = sim->start + 3 * (int64_t)triangle[t];
        const double *b = sim->start + 3 * (int64_t)triangle[t % 3 == 2 ? t - 2 : t + 1];
        double square = 0;
        for (int32_t k = 0; k < 3; k++) square += (a[k] - b[k]) * (a[k] - b[k]);
        least = fmin(least, square);
    }
    return sqrt(least);
}

static drape_status check_pieces(drape_sim *sim, const drape_scene *scene) {
    for (int32_t p = 0; p < scene->piece_count; p++) {
        const drape_piece *piece = &scene->pieces[p];
        const char *name = piece->name ? piece->name : "cloth";
        if (!isfinite(piece->thickness) || piece->thickness < 0)
            return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT,
                                "piece %d (%s): its thickness is %g m; it must be at least 0, and finite", p, name,
                                piece->thickness);
        if (!isfinite(piece->friction) || piece->friction < 0)
            return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT,
                                "piece %d (%s): its friction is %g; it must be at least 0, and finite", p, name,
                                piece->friction);
    }
    return DRAPE_OK;
}

static drape_status check_thickness(drape_sim *sim, double edge) {
    const drape_i_contact *c = sim->contact;
    if (!(c->world->thickest > edge)) return DRAPE_OK;
    return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT,
                        "contact: the cloth is %g m thick, but its shortest edge is only %g m long; make it thinner, "
                        "or the mesh coarser",
                        c->world->thickest, edge);
}

static drape_status allocate(drape_sim *sim, const drape_scene *scene) {
    drape_i_contact *c = sim->contact;
    int64_t n = sim->vertices;
    if (!DRAPE_NEW(sim->ctx, c->thickness, n) || !DRAPE_NEW(sim->ctx, c->friction, n) ||
        !DRAPE_NEW(sim->ctx, c->standing, n) || !DRAPE_NEW(sim->ctx, c->first, n) ||
        !DRAPE_NEW(sim->ctx, c->stamp, n) || !DRAPE_NEW(sim->ctx, c->x0, 3 * n) ||
        !DRAPE_NEW(sim->ctx, c->v0, 3 * n) || !DRAPE_NEW(sim->ctx, c->ahead, 3 * n) ||
        !DRAPE_NEW(sim->ctx, c->friction_force, 3 * n))
        return DRAPE_ERROR_MEMORY;
    if (!DRAPE_NEW(sim->ctx, c->touch, n)) return DRAPE_ERROR_MEMORY;
    c->touch_room = sim->vertices;
    for (int32_t p = 0, v = 0; p < scene->piece_count; p++)
        for (int32_t i = 0; i < scene->pieces[p].vertices; i++, v++) {
            c->thickness[v] = scene->pieces[p].thickness;
            c->friction[v] = scene->pieces[p].friction;
        }
    return DRAPE_OK;
}

static drape_status create_world(drape_sim *sim, const drape_scene *scene) {
    drape_i_contact *c = sim->contact;
    drape_i_world_settings s = {.vertices = sim->vertices,
                                .triangles = drape_cloth_triangles(sim->cloth),
                                .triangle = drape_cloth_triangle(sim->cloth),
                                .thickness = c->thickness,
                                .friction = c->friction,
                                .colliders = scene->colliders,
                                .collider_count = scene->collider_count,
                                .self = c->settings.self};
    drape_status status = drape_i_world_create(sim->ctx, &s, &c->world);
    if (!status) status = drape_i_response_create(sim->ctx, c->world->vertices, &c->response);
    if (!status && !DRAPE_NEW(sim->ctx, c->inverse_mass, c->world->vertices)) status = DRAPE_ERROR_MEMORY;
    return status;
}

/* ---- The start ---- */

/* The surface of each collider at time 0, to be looked at together with the cloth. */
typedef struct surfaces {
    drape_context *ctx;
    int32_t count;
    drape_collider_surface **surface;
    double **positions;
    drape_crossings_mesh *mesh;
    drape_crossings *search;
} surfaces;

static void free_surfaces(surfaces *s) {
    drape_crossings_destroy(s->search);
    for (int32_t i = 0; i < s->count; i++) {
        if (s->positions && s->surface)
            DRAPE_FREE(s->ctx, s->positions[i], 3 * (int64_t)drape_collider_surface_vertices(s->surface[i]));
        if (s->surface) drape_collider_surface_destroy(s->surface[i]);
    }
    DRAPE_FREE(s->ctx, s->surface, s->count);
    DRAPE_FREE(s->ctx, s->positions, s->count);
    DRAPE_FREE(s->ctx, s->mesh, s->count);
}

static drape_status place_surface(surfaces *s, const drape_collider *collider, int32_t i) {
    drape_status status = drape_collider_surface_create(s->ctx, collider, 0, &s->surface[i]);
    if (status) return status;
    const drape_collider_surface *surface = s->surface[i];
    int32_t vertices = drape_collider_surface_vertices(surface);
    s->mesh[i] = (drape_crossings_mesh){.vertices = vertices,
                                        .triangles = drape_collider_surface_triangles(surface),
                                        .triangle = drape_collider_surface_triangle(surface)};
    if (!DRAPE_NEW(s->ctx, s->positions[i], 3 * (int64_t)vertices)) return DRAPE_ERROR_MEMORY;
    return drape_collider_surface_at(surface, 0, s->positions[i]);
}

static drape_status find_crossings(drape_sim *sim, const drape_scene *scene, surfaces *s,
                                   drape_crossings_result *out) {
    drape_crossings_bodies bodies = {.cloth = {.vertices = sim->vertices,
                                               .triangles = drape_cloth_triangles(sim->cloth),
                                               .triangle = drape_cloth_triangle(sim->cloth)}};
    *s = (surfaces){.ctx = sim->ctx, .count = scene->collider_count};
    if (!DRAPE_NEW(s->ctx, s->surface, s->count) || !DRAPE_NEW(s->ctx, s->positions, s->count) ||
        !DRAPE_NEW(s->ctx, s->mesh, s->count))
        return DRAPE_ERROR_MEMORY;
    drape_status status = DRAPE_OK;
    for (int32_t i = 0; i < s->count && !status; i++) status = place_surface(s, &scene->colliders[i], i);
    bodies.others = s->mesh;
    bodies.other_count = s->count;
    if (!status) status = drape_crossings_create(s->ctx, &bodies, &s->search);
    if (!status) status = drape_crossings_count(s->search, sim->x, (const double *const *)s->positions, out);
    return status;
}

static drape_status refuse_crossing(drape_sim *sim, const drape_crossing *c, int64_t count) {
    const drape_i_colliders *colliders = sim->contact->world->colliders;
    char side[2][160];
    for (int32_t k = 0; k < 2; k++) {
        char what[80];
        if (k == 0 && c->kind == DRAPE_CROSSING_EDGE)
            snprintf(what, sizeof what, "the edge of vertices %d, %d", c->edge[0], c->edge[1]);
        else snprintf(what, sizeof what, "triangle %d", c->triangle[k]);
        if (c->body[k] == 0) snprintf(side[k], sizeof side[k], "%s of the cloth", what);
        else
            snprintf(side[k], sizeof side[k], "%s of collider %d (%s)", what, c->body[k] - 1,
                     colliders->item[c->body[k] - 1].name);
    }
    return drape_i_fail(
        sim->ctx, DRAPE_ERROR_ARGUMENT,
        "contact: at the start %s and %s cross (%lld crossings in all); move them apart (`drape check` "
        "lists all)",
        side[0], side[1], (long long)count);
}

/* What crosses already; planes are left to the gate. */
static drape_status check_crossings(drape_sim *sim, const drape_scene *scene) {
    drape_crossings_result found;
    surfaces s = {0};
    drape_status status = find_crossings(sim, scene, &s, &found);
    const drape_crossing *first = NULL;
    int64_t count = 0;
    for (int64_t i = 0; !status && i < found.count; i++) {
        const drape_crossing *c = &found.crossings[i];
        int32_t other = c->body[0] > 0 ? c->body[0] : c->body[1];
        bool plane = other > 0 && scene->colliders[other - 1].shape == DRAPE_COLLIDER_PLANE;
        if (c->kind == DRAPE_CROSSING_TOUCH || plane || (other == 0 && !sim->contact->settings.self)) continue;
        if (count++ == 0) first = c;
    }
    if (first) status = refuse_crossing(sim, first, count);
    free_surfaces(&s);
    return status;
}

/* What starts nearer than the floor, or crosses. */
static drape_status check_start(drape_sim *sim, const drape_scene *scene) {
    drape_i_contact *c = sim->contact;
    char what[480];
    bool kept;
    drape_status status = check_crossings(sim, scene);
    if (status) return status;
    drape_i_world_set_motion(c->world, sim->x, 0, sim->x, 0);
    status = drape_i_response_gate(c->response, c->world, &kept);
    if (status || kept) return status;
    drape_i_contact_explain(c, what, sizeof what);
    return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT,
                        "contact: %s touch at the start; move them apart", what);
}

/* ---- Creating and destroying ---- */

bool drape_i_contact_acts(const drape_scene *scene) {
    return scene->collider_count > 0 || (scene->contact && scene->contact->self);
}

drape_status drape_i_contact_create(drape_sim *sim, const drape_scene *scene) {
    const drape_contact_settings usual = {0}, *s = scene->contact ? scene->contact : &usual;
    drape_status status = drape_i_check_reserved(sim->ctx, "drape_contact_settings", s->reserved, 8);
    if (status || !drape_i_contact_acts(scene)) return status;
    if (scene->collider_count < 0 || (scene->collider_count > 0 && !scene->colliders))
        return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT, "no list of %d colliders", scene->collider_count);
    if (!isfinite(s->distance) || s->distance < 0)
        return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT,
                            "contact: the distance is %g m; it must be at least 0, and finite", s->distance);
    if (!DRAPE_NEW(sim->ctx, sim->contact, 1)) return DRAPE_ERROR_MEMORY;
    drape_i_contact *c = sim->contact;
    c->settings = *s;
    double edge = shortest_edge(sim);
    if (s->distance == 0) c->settings.distance = fmin(USUAL_DISTANCE, SHARE_OF_EDGE * edge);
    status = check_pieces(sim, scene);
    if (!status) status = allocate(sim, scene);
    if (!status) status = create_world(sim, scene);
    if (!status) status = check_thickness(sim, edge);
    return status ? status : check_start(sim, scene);
}

void drape_i_contact_destroy(drape_sim *sim) {
    drape_i_contact *c = sim->contact;
    int64_t n = sim->vertices;
    if (!c) return;
    if (c->world) DRAPE_FREE(sim->ctx, c->inverse_mass, c->world->vertices);
    drape_i_response_destroy(c->response);
    drape_i_world_destroy(c->world);
    DRAPE_FREE(sim->ctx, c->thickness, n);
    DRAPE_FREE(sim->ctx, c->friction, n);
    DRAPE_FREE(sim->ctx, c->standing, n);
    DRAPE_FREE(sim->ctx, c->first, n);
    DRAPE_FREE(sim->ctx, c->stamp, n);
    DRAPE_FREE(sim->ctx, c->x0, 3 * n);
    DRAPE_FREE(sim->ctx, c->v0, 3 * n);
    DRAPE_FREE(sim->ctx, c->ahead, 3 * n);
    DRAPE_FREE(sim->ctx, c->friction_force, 3 * n);
    DRAPE_FREE(sim->ctx, c->near, c->near_room);
    DRAPE_FREE(sim->ctx, c->touch, c->touch_room);
    DRAPE_FREE(sim->ctx, c->spring, c->spring_room);
    DRAPE_FREE(sim->ctx, c->coupling, 3 * (int64_t)c->spring_room);
    DRAPE_FREE(sim->ctx, sim->contact, 1);
}

/* ---- Checkpoints ---- */

void drape_i_contact_forget(drape_i_contact *c) {
    drape_i_world_forget(c->world);
    c->matrix_known = false;
}

bool drape_i_contact_are_standings(const char *bytes, int32_t vertices) {
    drape_i_standing s;
    for (int32_t i = 0; i < vertices; i++) {
        memcpy(&s, bytes + (size_t)i * sizeof s, sizeof s);
        if (s.mode != DRAPE_I_FREE && s.mode != DRAPE_I_SLIDES && s.mode != DRAPE_I_STICKS) return false;
    }
    return true;
}
