/* contact.c: sets up contact, checks that nothing touches at the start, and saves its state in checkpoints. */
#include "sim/contact.h"
#include "sim/stitches.h"

#include "base/timer.h"
#include "drape/crossings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double USUAL_DISTANCE = 1e-3; /* m, and at most this share of the shortest edge: */
static const double SHARE_OF_EDGE = 0.2;
static const int32_t MOST_PARTS = 8; /* of a step in which cloth slides over rims */

const char *drape_pinch_name(drape_pinch pinch) {
    static const char *const name[] = {"fail", "yield"};
    return (unsigned)pinch <= DRAPE_PINCH_YIELD ? name[pinch] : NULL;
}

const char *drape_contact_preset_name(drape_contact_preset preset) {
    static const char *const name[] = {"robust", "paper"};
    return (unsigned)preset <= DRAPE_CONTACT_PAPER ? name[preset] : NULL;
}

const char *drape_contact_law_name(drape_contact_law law) {
    static const char *const name[] = {"secant", "linear"};
    return (unsigned)law <= DRAPE_CONTACT_LINEAR ? name[law] : NULL;
}

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

static drape_status check_pairs(drape_sim *sim, const drape_scene *scene, const drape_contact_settings *s) {
    if (s->pair_count < 0 || (s->pair_count > 0 && !s->pairs))
        return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT, "contact: no list of %d pairs of pieces", s->pair_count);
    for (int32_t i = 0; i < s->pair_count; i++) {
        const drape_contact_pair *p = &s->pairs[i];
        drape_status status = drape_i_check_reserved(sim->ctx, "drape_contact_pair", p->reserved, 2);
        if (status) return status;
        for (int32_t k = 0; k < 2; k++)
            if (p->piece[k] < 0 || p->piece[k] >= scene->piece_count)
                return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT, "contact: pair %d names piece %d of %d", i,
                                    p->piece[k], scene->piece_count);
        if (!isfinite(p->thickness) || !isfinite(p->friction))
            return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT,
                                "contact: pair %d has thickness %g m and friction %g; they must be finite", i,
                                p->thickness, p->friction);
    }
    return DRAPE_OK;
}

/* What is said of pairs of pieces, both ways round. */
static drape_status take_pairs(drape_sim *sim, const drape_scene *scene, const drape_contact_settings *s) {
    drape_i_contact *c = sim->contact;
    int64_t n = scene->piece_count;
    if (s->pair_count == 0) return DRAPE_OK;
    c->pieces = scene->piece_count;
    if (!DRAPE_NEW(sim->ctx, c->pair_thickness, n * n) || !DRAPE_NEW(sim->ctx, c->pair_friction, n * n))
        return DRAPE_ERROR_MEMORY;
    for (int64_t i = 0; i < n * n; i++) c->pair_thickness[i] = c->pair_friction[i] = -1;
    for (int32_t i = 0; i < s->pair_count; i++) {
        int64_t a = s->pairs[i].piece[0], b = s->pairs[i].piece[1];
        c->pair_thickness[a * n + b] = c->pair_thickness[b * n + a] = s->pairs[i].thickness;
        c->pair_friction[a * n + b] = c->pair_friction[b * n + a] = s->pairs[i].friction;
    }
    return DRAPE_OK;
}

/* Pieces may keep farther from each other than their edges are long, but not from themselves. */
static double thickest_alone(const drape_i_contact *c) {
    double most = 0;
    for (int32_t v = 0; v < c->world->cloth_vertices; v++) most = fmax(most, c->thickness[v]);
    for (int64_t p = 0; c->pair_thickness && p < c->pieces; p++)
        most = fmax(most, c->pair_thickness[p * c->pieces + p]);
    return most;
}

static drape_status check_thickness(drape_sim *sim, double edge) {
    const drape_i_contact *c = sim->contact;
    double thickest = thickest_alone(c);
    if (!(thickest > edge)) return DRAPE_OK;
    return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT,
                        "contact: the cloth is %g m thick, but its shortest edge is only %g m long; make it thinner, "
                        "or the mesh coarser",
                        thickest, edge);
}

static drape_status allocate(drape_sim *sim, const drape_scene *scene) {
    drape_i_contact *c = sim->contact;
    int64_t n = sim->vertices;
    if (!DRAPE_NEW(sim->ctx, c->thickness, n) || !DRAPE_NEW(sim->ctx, c->friction, n) ||
        !DRAPE_NEW(sim->ctx, c->piece, n) || !DRAPE_NEW(sim->ctx, c->standing, n) ||
        !DRAPE_NEW(sim->ctx, c->first, n) || !DRAPE_NEW(sim->ctx, c->stamp, n) ||
        !DRAPE_NEW(sim->ctx, c->x0, 3 * n) || !DRAPE_NEW(sim->ctx, c->v0, 3 * n) ||
        !DRAPE_NEW(sim->ctx, c->ahead, 3 * n) || !DRAPE_NEW_RAW(sim->ctx, c->impulse, 3 * n))
        return DRAPE_ERROR_MEMORY;
    c->touch_room = sim->vertices / 8 + 64; /* more take memory when they come */
    if (!DRAPE_NEW_RAW(sim->ctx, c->touch, c->touch_room)) return DRAPE_ERROR_MEMORY;
    for (int32_t p = 0, v = 0; p < scene->piece_count; p++)
        for (int32_t i = 0; i < scene->pieces[p].vertices; i++, v++) {
            c->thickness[v] = scene->pieces[p].thickness;
            c->friction[v] = scene->pieces[p].friction;
            c->piece[v] = p;
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
                                .piece = c->pair_thickness ? c->piece : NULL,
                                .pieces = c->pieces,
                                .pair_thickness = c->pair_thickness,
                                .pair_friction = c->pair_friction,
                                .colliders = scene->colliders,
                                .collider_count = scene->collider_count,
                                .self = c->settings.self};
    drape_status status = drape_i_world_create(sim->ctx, &s, &c->world);
    if (!status && sim->stitches) {
        c->world->joined_first = sim->stitches->joined_first;
        c->world->joined = sim->stitches->joined;
        c->world->same = sim->stitches->same;
    }
    if (!status) status = drape_i_response_create(sim->ctx, c->world->vertices, &c->response);
    if (!status && !DRAPE_NEW(sim->ctx, c->inverse_mass, c->world->vertices)) status = DRAPE_ERROR_MEMORY;
    return status;
}

/* ---- The start ---- */

/* What crosses is found with surfaces of the colliders, by a search of its own (drape/crossings.h). */
typedef struct drape_i_start {
    drape_context *ctx;
    int32_t count; /* of colliders */
    drape_collider_surface **surface;
    double **positions;
    drape_crossings_mesh *mesh;
    bool *plane; /* whose square says nothing about what is below it */
    drape_crossings *search;
    drape_crossings_result found;
    uint8_t *exempt; /* of the world */
    int32_t vertices;
} drape_i_start;

static void free_start(drape_i_start *s) {
    if (!s) return;
    drape_context *ctx = s->ctx;
    drape_crossings_destroy(s->search);
    for (int32_t i = 0; i < s->count && s->surface; i++) {
        if (s->positions)
            DRAPE_FREE(ctx, s->positions[i], 3 * (int64_t)drape_collider_surface_vertices(s->surface[i]));
        drape_collider_surface_destroy(s->surface[i]);
    }
    DRAPE_FREE(ctx, s->surface, s->count);
    DRAPE_FREE(ctx, s->positions, s->count);
    DRAPE_FREE(ctx, s->mesh, s->count);
    DRAPE_FREE(ctx, s->plane, s->count);
    DRAPE_FREE(ctx, s->exempt, s->vertices);
    DRAPE_FREE(ctx, s, 1);
}

static drape_status create_surface(drape_i_start *s, const drape_collider *collider, int32_t i) {
    drape_status status = drape_collider_surface_create(s->ctx, collider, 0, &s->surface[i]);
    if (status) return status;
    const drape_collider_surface *surface = s->surface[i];
    int32_t vertices = drape_collider_surface_vertices(surface);
    s->plane[i] = collider->shape == DRAPE_COLLIDER_PLANE;
    s->mesh[i] = (drape_crossings_mesh){.vertices = vertices,
                                        .triangles = drape_collider_surface_triangles(surface),
                                        .triangle = drape_collider_surface_triangle(surface)};
    return DRAPE_NEW(s->ctx, s->positions[i], 3 * (int64_t)vertices) ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

static drape_status create_start(drape_sim *sim, const drape_scene *scene, drape_i_start *s) {
    drape_crossings_bodies bodies = {.cloth = {.vertices = sim->vertices,
                                               .triangles = drape_cloth_triangles(sim->cloth),
                                               .triangle = drape_cloth_triangle(sim->cloth)}};
    s->ctx = sim->ctx;
    s->count = scene->collider_count;
    s->vertices = sim->contact->world->vertices;
    if (!DRAPE_NEW(s->ctx, s->surface, s->count) || !DRAPE_NEW(s->ctx, s->positions, s->count) ||
        !DRAPE_NEW(s->ctx, s->mesh, s->count) || !DRAPE_NEW(s->ctx, s->plane, s->count) ||
        !DRAPE_NEW(s->ctx, s->exempt, s->vertices))
        return DRAPE_ERROR_MEMORY;
    drape_status status = DRAPE_OK;
    for (int32_t i = 0; i < s->count && !status; i++) status = create_surface(s, &scene->colliders[i], i);
    bodies.others = s->mesh;
    bodies.other_count = s->count;
    return status ? status : drape_crossings_create(s->ctx, &bodies, &s->search);
}

static drape_status find_crossings(drape_sim *sim, drape_i_start *s, double t) {
    drape_status status = DRAPE_OK;
    for (int32_t i = 0; i < s->count && !status; i++)
        status = drape_collider_surface_at(s->surface[i], t, s->positions[i]);
    return status ? status : drape_crossings_count(s->search, sim->x, (const double *const *)s->positions, &s->found);
}

/* Whether it is for contact to keep these apart. */
static bool counts(const drape_sim *sim, const drape_i_start *s, const drape_crossing *c) {
    int32_t other = c->body[0] > 0 ? c->body[0] : c->body[1];
    if (c->kind == DRAPE_CROSSING_TOUCH) return false;
    if (other == 0 && drape_i_stitches_join(sim, c->triangle[0], c->triangle[1])) return false;
    return other > 0 ? !s->plane[other - 1] : sim->contact->settings.self;
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
    return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT,
                        "contact: at the start %s and %s cross (%lld crossings in total); move them apart, or let "
                        "the simulation separate them (allow_crossings)",
                        side[0], side[1], (long long)count);
}

/* ---- Until they are apart ---- */

static void mark(drape_sim *sim, drape_i_start *s, const drape_crossing *c) {
    const int32_t *cloth = drape_cloth_triangle(sim->cloth);
    const drape_i_world *w = sim->contact->world;
    for (int32_t k = 0; k < 2; k++) {
        const int32_t *corner = cloth + 3 * (int64_t)c->triangle[k];
        const drape_i_collider *item = c->body[k] > 0 ? &w->colliders->item[c->body[k] - 1] : NULL;
        /* The points of a collider are not always the vertices of its surface; and what crosses it is near it. */
        for (int32_t i = 0; item && i < item->points; i++) s->exempt[w->cloth_vertices + item->first_point + i] = 1;
        for (int32_t i = 0; !item && i < 3; i++) s->exempt[corner[i]] = 1;
    }
}

/* Vertices below planes; how many. */
static int32_t mark_below(drape_sim *sim, drape_i_start *s, double t) {
    const drape_i_world *w = sim->contact->world;
    int32_t below = 0;
    for (int32_t k = 0; k < w->plane_count; k++) {
        const drape_i_collider *item = &w->colliders->item[w->plane[k]];
        const double *p = w->start + 3 * ((int64_t)w->cloth_vertices + item->first_point);
        double n[3];
        drape_i_collider_normal(w->colliders, w->plane[k], t, n);
        for (int32_t i = 0; i < sim->vertices; i++) {
            const double *x = sim->x + 3 * (int64_t)i;
            double height = (n[0] * (x[0] - p[0]) + n[1] * (x[1] - p[1])) + n[2] * (x[2] - p[2]);
            if (height >= drape_i_world_floor(w, item->thickness + 0.5 * w->thickness[i], 0)) continue;
            s->exempt[i] = 1;
            below++;
        }
    }
    return below;
}

drape_status drape_i_contact_exempt(drape_sim *sim, double t) {
    drape_i_contact *c = sim->contact;
    drape_i_start *s = c->starting;
    if (!s || c->apart) return DRAPE_OK;
    drape_status status = find_crossings(sim, s, t);
    if (status) return status;
    memset(s->exempt, 0, (size_t)s->vertices);
    int64_t left = mark_below(sim, s, t);
    for (int64_t i = 0; i < s->found.count; i++)
        if (counts(sim, s, &s->found.crossings[i])) {
            mark(sim, s, &s->found.crossings[i]);
            left++;
        }
    c->apart = left == 0;
    c->world->exempt = c->apart ? NULL : s->exempt;
    return DRAPE_OK;
}

/* ---- The first look ---- */

/* What crosses already; planes are left to the gate. */
static drape_status check_crossings(drape_sim *sim, drape_i_start *s) {
    const drape_crossing *first = NULL;
    int64_t count = 0;
    drape_status status = find_crossings(sim, s, 0);
    for (int64_t i = 0; !status && i < s->found.count; i++)
        if (counts(sim, s, &s->found.crossings[i]) && count++ == 0) first = &s->found.crossings[i];
    return first ? refuse_crossing(sim, first, count) : status;
}

static int32_t root(int32_t *part, int32_t v) {
    while (part[v] != v) v = part[v] = part[part[v]];
    return v;
}

void drape_i_find_parts(int32_t vertices, int64_t triangles, const int32_t *triangle, int32_t *part) {
    for (int32_t v = 0; v < vertices; v++) part[v] = v;
    for (int64_t t = 0; t < triangles; t++)
        for (int32_t k = 1; k < 3; k++) {
            int32_t a = root(part, triangle[3 * t]), b = root(part, triangle[3 * t + k]);
            if (a < b) part[b] = a;
            else part[a] = b;
        }
    for (int32_t v = 0; v < vertices; v++) part[v] = root(part, v);
}

/* Nothing crosses: so a part of the cloth that is connected is inside a mesh as a whole, or outside. */
static drape_status check_inside(drape_sim *sim) {
    const drape_i_contact *c = sim->contact;
    const drape_i_colliders *all = c->world->colliders;
    int32_t *part = c->stamp; /* is free at this time */
    if (!all || all->triangles == 0) return DRAPE_OK;
    drape_i_find_parts(sim->vertices, drape_cloth_triangles(sim->cloth), drape_cloth_triangle(sim->cloth), part);
    int32_t vertex = -1, collider = -1;
    for (int32_t k = 0; k < all->count && vertex < 0; k++)
        for (int32_t v = 0; v < sim->vertices && all->item[k].triangles > 0 && vertex < 0; v++) {
            if (part[v] != v) continue;
            if (drape_i_collider_encloses(all, k, c->world->start + 3 * (int64_t)sim->vertices,
                                          sim->x + 3 * (int64_t)v))
                vertex = v, collider = k;
        }
    memset(part, 0, (size_t)sim->vertices * sizeof *part);
    if (vertex < 0) return DRAPE_OK;
    return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT,
                        "contact: vertex %d of the cloth and everything connected with it start inside collider %d "
                        "(%s); move them out, or allow it (allow_crossings)",
                        vertex, collider, all->item[collider].name);
}

/* What is nearer than the floor. */
static drape_status check_gate(drape_sim *sim) {
    drape_i_contact *c = sim->contact;
    char what[480];
    bool kept;
    drape_status status = drape_i_response_gate(c->response, c->world, &kept);
    if (status || kept) return status;
    drape_i_contact_explain(c, what, sizeof what);
    return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT, "contact: %s touch at the start; move them apart", what);
}

/* Refuses what crosses or is too near, or lets it be until it is apart. */
static drape_status check_start(drape_sim *sim, const drape_scene *scene) {
    drape_i_contact *c = sim->contact;
    drape_i_start *s;
    if (!DRAPE_NEW(sim->ctx, s, 1)) return DRAPE_ERROR_MEMORY;
    drape_i_stitches_weld(sim, sim->x, 0);
    drape_i_world_set_motion(c->world, sim->x, 0, sim->x, 0);
    drape_status status = create_start(sim, scene, s);
    if (!status && c->settings.allow_crossings) {
        c->starting = s;
        return drape_i_contact_exempt(sim, 0);
    }
    if (!status) status = check_crossings(sim, s);
    free_start(s);
    if (!status) status = check_gate(sim);
    return status ? status : check_inside(sim);
}

/* ---- Creating and destroying ---- */

bool drape_i_contact_acts(const drape_scene *scene) {
    return scene->collider_count > 0 || (scene->contact && scene->contact->self);
}

drape_status drape_i_contact_create(drape_sim *sim, const drape_scene *scene) {
    const drape_contact_settings usual = {0}, *s = scene->contact ? scene->contact : &usual;
    drape_status status = drape_i_check_reserved(sim->ctx, "drape_contact_settings", s->reserved, 4);
    if (status || !drape_i_contact_acts(scene)) return status;
    if (!isfinite(s->distance) || s->distance < 0)
        return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT,
                            "contact: the distance is %g m; it must be at least 0, and finite", s->distance);
    if (!drape_pinch_name(s->pinch) || !drape_contact_preset_name(s->preset) || !drape_contact_law_name(s->law))
        return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT,
                            "contact: pinch is %d, preset is %d and law is %d; each must be 0 or 1", (int)s->pinch,
                            (int)s->preset, (int)s->law);
    if (!DRAPE_NEW(sim->ctx, sim->contact, 1)) return DRAPE_ERROR_MEMORY;
    drape_i_contact *c = sim->contact;
    c->settings = *s;
    double edge = shortest_edge(sim);
    if (s->distance == 0) c->settings.distance = fmin(USUAL_DISTANCE, SHARE_OF_EDGE * edge);
    status = check_pieces(sim, scene);
    if (!status) status = check_pairs(sim, scene, s);
    if (!status) status = allocate(sim, scene);
    if (!status) status = take_pairs(sim, scene, s);
    if (!status) status = create_world(sim, scene);
    if (!status) status = check_thickness(sim, edge);
    if (!status) status = check_start(sim, scene);
    if (!status) status = drape_i_refuse_motions(sim->ctx, scene);
    return status ? status : drape_i_pinch_create(sim);
}

drape_status drape_i_contact_look(drape_sim *sim, double t0, double t1) {
    drape_certificate_contact *did = &sim->contact->did;
    bool known = sim->contact->planned && sim->contact->start == t0 && sim->contact->end == t1;
    sim->contact->planned = false;
    if (known) return DRAPE_OK;
    double began = drape_i_seconds(), broad = did->broad;
    drape_status status = drape_i_contact_begin(sim, t0, t1);
    did->touch += drape_i_seconds() - began - (did->broad - broad);
    return status;
}

drape_status drape_i_contact_plan(drape_sim *sim) {
    drape_i_contact *c = sim->contact;
    c->planned = false;
    drape_status status = drape_i_contact_look(sim, drape_sim_time(sim), (double)(sim->steps + 1) * sim->h);
    if (status) return status;
    c->planned = true;
    sim->parts = (int32_t)fmin(fmax(ceil(c->slide), 1), MOST_PARTS) * sim->divide;
    return DRAPE_OK;
}

bool drape_i_contact_acted(const drape_i_contact *c) { return c->did.count > 0 || c->springs > 0 || c->did.hits > 0; }

void drape_i_contact_sum_impulse(drape_sim *sim, bool first) {
    double *sum = sim->contact->impulse;
    for (int64_t i = 0; i < drape_i_sim_numbers(sim); i++) sum[i] = (first ? 0 : sum[i]) + sim->constraint_force[i];
    if (!first) sim->constraint_force = sum;
}

void drape_i_contact_destroy(drape_sim *sim) {
    drape_i_contact *c = sim->contact;
    int64_t n = sim->vertices;
    if (!c) return;
    if (c->world) DRAPE_FREE(sim->ctx, c->inverse_mass, c->world->vertices);
    free_start(c->starting);
    drape_i_pinch_destroy(sim);
    drape_i_response_destroy(c->response);
    drape_i_world_destroy(c->world);
    DRAPE_FREE(sim->ctx, c->thickness, n);
    DRAPE_FREE(sim->ctx, c->friction, n);
    DRAPE_FREE(sim->ctx, c->pair_thickness, (int64_t)c->pieces * c->pieces);
    DRAPE_FREE(sim->ctx, c->pair_friction, (int64_t)c->pieces * c->pieces);
    DRAPE_FREE(sim->ctx, c->piece, n);
    DRAPE_FREE(sim->ctx, c->standing, n);
    DRAPE_FREE(sim->ctx, c->first, n);
    DRAPE_FREE(sim->ctx, c->stamp, n);
    DRAPE_FREE(sim->ctx, c->x0, 3 * n);
    DRAPE_FREE(sim->ctx, c->v0, 3 * n);
    DRAPE_FREE(sim->ctx, c->ahead, 3 * n);
    DRAPE_FREE(sim->ctx, c->impulse, 3 * n);
    DRAPE_FREE(sim->ctx, c->near, c->near_room);
    DRAPE_FREE(sim->ctx, c->listed, c->listed_room);
    DRAPE_FREE(sim->ctx, c->touch, c->touch_room);
    DRAPE_FREE(sim->ctx, c->spring, c->spring_room);
    DRAPE_FREE(sim->ctx, c->own, c->own_room);
    DRAPE_FREE(sim->ctx, c->rub, c->rub_room);
    DRAPE_FREE(sim->ctx, c->slot, c->slot_count);
    DRAPE_FREE(sim->ctx, c->coupling, c->coupling_room);
    DRAPE_FREE(sim->ctx, sim->contact, 1);
}

/* ---- Checkpoints ---- */

void drape_i_contact_forget(drape_i_contact *c) {
    drape_i_world_forget(c->world);
    c->matrix_known = false;
    c->apart = false;
}

bool drape_i_contact_are_standings(const char *bytes, int32_t vertices) {
    drape_i_standing s;
    for (int32_t i = 0; i < vertices; i++) {
        memcpy(&s, bytes + (size_t)i * sizeof s, sizeof s);
        if (s.mode != DRAPE_I_FREE && s.mode != DRAPE_I_RUBS && s.mode != DRAPE_I_STICKS) return false;
    }
    return true;
}

bool drape_i_contact_are_rubs(const drape_i_contact *c, const char *bytes, int64_t count) {
    drape_i_rub r;
    for (int64_t i = 0; i < count; i++) {
        memcpy(&r, bytes + (size_t)i * sizeof r, sizeof r);
        if (r.kind != DRAPE_CCD_VERTEX_FACE && r.kind != DRAPE_CCD_EDGE_EDGE) return false;
        if (!(r.firm >= 0 && r.firm <= DRAPE_I_MOST_FIRM)) return false;
        for (int32_t k = 0; k < 4; k++)
            if (!(r.vertex[k] >= 0 && r.vertex[k] < c->world->vertices) || r.vertex[k] != floor(r.vertex[k]))
                return false;
    }
    return true;
}
