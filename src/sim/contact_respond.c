/* contact_respond.c: creating what contact needs, and the response after the solve.
 *
 * The linear solve holds what it knows of. What meets all the same on the straight way from the state before to the
 * one after is kept apart by the response (src/contact/response.c), which moves vertices; and a step that leaves no
 * room has failed, and is done again in two halves.
 *
 * Where a vertex was moved, or has only begun to be held, its velocity has jumped. A multistep method that knows the
 * states before the jump would let it bounce off: BDF2 goes on with (4 v_1 - v_0)/3. So for these vertices, in the
 * directions of the jump, the past is replaced by a straight motion at the new velocity. */
#include "sim/contact.h"

#include "base/timer.h"

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

static void name_side(const drape_i_contact *c, const int32_t *vertex, int32_t count, char *out, size_t size) {
    const drape_i_world *w = c->world;
    size_t used = 0;
    bool object = vertex[0] >= w->cloth_vertices;
    static const char *const kind[] = {"", "vertex", "the edge of vertices", "the triangle of vertices"};
    if (object) {
        int32_t owner = w->colliders->point_owner[vertex[0] - w->cloth_vertices];
        int32_t first = w->colliders->item[owner].first_point;
        used =
            (size_t)snprintf(out, size, "%s of collider %d (%s)", kind[count], owner, w->colliders->item[owner].name);
        for (int32_t i = 0; i < count && used < size; i++)
            used += (size_t)snprintf(out + used, size - used, "%s%d", i == 0 ? ": " : ", ",
                                     vertex[i] - w->cloth_vertices - first);
        return;
    }
    used = (size_t)snprintf(out, size, "%s", kind[count]);
    for (int32_t i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%d", i == 0 ? " " : ", ", vertex[i]);
    if (used < size) snprintf(out + used, size - used, " of the cloth");
}

/* What stood in the way, in words. */
static void explain(const drape_i_contact *c, char *out, size_t size) {
    const drape_i_trouble *t = drape_i_response_trouble_of(c->response);
    char first[200], second[200];
    if (t->kind == DRAPE_I_TROUBLE_PAIR) {
        int32_t split = t->pair == DRAPE_CCD_VERTEX_FACE ? 1 : 2;
        name_side(c, t->vertex, split, first, sizeof first);
        name_side(c, t->vertex + split, 4 - split, second, sizeof second);
        snprintf(out, size, "%s and %s", first, second);
    } else if (t->kind == DRAPE_I_TROUBLE_PLANE) {
        snprintf(out, size, "vertex %d of the cloth and the plane %d (%s)", t->vertex[0], t->collider,
                 c->world->colliders->item[t->collider].name);
    } else {
        snprintf(out, size, "vertex %d", t->vertex[0]);
    }
}

/* What starts nearer than the floor, or crosses. */
static drape_status check_start(drape_sim *sim) {
    drape_i_contact *c = sim->contact;
    char what[480];
    bool kept;
    drape_i_world_set_motion(c->world, sim->x, 0, sim->x, 0);
    drape_status status = drape_i_response_gate(c->response, c->world, &kept);
    if (status || kept) return status;
    explain(c, what, sizeof what);
    return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT,
                        "contact: %s cross or touch at the start; move them apart (`drape check` lists all)", what);
}

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
    return status ? status : check_start(sim);
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

/* ---- The step as a whole ---- */

void drape_i_contact_start(drape_sim *sim) {
    sim->contact->did = (drape_certificate_contact){0};
    sim->contact->cuts = 0;
    sim->contact->no_room = false;
}

bool drape_i_contact_take_back(drape_sim *sim) {
    const drape_i_contact *c = sim->contact;
    size_t bytes = (size_t)drape_i_sim_numbers(sim) * sizeof *sim->x;
    if (!c->no_room) return false;
    memcpy(sim->x, c->x0, bytes);
    memcpy(sim->v, c->v0, bytes);
    return true;
}

/* ---- The past of what jumped ---- */

/* Lets the state and the states before it move at `velocity` along n; n NULL: in all directions. */
static void straighten(int32_t vertex, const double velocity[3], const double *n, double t, const double *x,
                       double *v, drape_ode_projection *past) {
    int64_t at = 3 * (int64_t)vertex;
    int32_t count = past ? past->past_count : 0;
    for (int32_t j = -1; j < count; j++) {
        double *xj = j < 0 ? NULL : past->past_x[j] + at, *vj = j < 0 ? v + at : past->past_v[j] + at;
        double back = j < 0 ? 0 : t - past->past_time[j], dx[3], dv[3];
        for (int32_t k = 0; k < 3; k++) {
            dv[k] = velocity[k] - vj[k];
            dx[k] = xj ? (x[at + k] - back * velocity[k]) - xj[k] : 0;
        }
        double sx = n ? (n[0] * dx[0] + n[1] * dx[1]) + n[2] * dx[2] : 0;
        double sv = n ? (n[0] * dv[0] + n[1] * dv[1]) + n[2] * dv[2] : 0;
        for (int32_t k = 0; k < 3; k++) {
            vj[k] += n ? sv * n[k] : dv[k];
            if (xj) xj[k] += n ? sx * n[k] : dx[k];
        }
    }
    if (past) past->past_changed = true;
}

/* Those that have begun to be held, or were pushed out. */
static void settle_touches(drape_sim *sim, double t, const double *x, double *v, drape_ode_projection *past) {
    const drape_i_contact *c = sim->contact;
    for (int32_t i = 0; i < c->touches; i++) {
        const drape_i_touch *touch = &c->touch[i];
        double velocity[3];
        if (!touch->chosen || touch->released || !(touch->new_mode || touch->gap < 0)) continue;
        drape_i_touch_velocity(c, touch, velocity);
        straighten(touch->vertex, velocity, touch->mode == DRAPE_I_STICKS ? NULL : touch->n, t, x, v, past);
    }
}

static void settle_moved(drape_sim *sim, double t, double h, const double *x0, const double *x, double *v,
                         drape_ode_projection *past) {
    const uint8_t *moved = drape_i_response_moved(sim->contact->response);
    for (int32_t i = 0; i < sim->vertices; i++) {
        double velocity[3];
        if (!moved[i]) continue;
        for (int32_t k = 0; k < 3; k++) velocity[k] = (x[3 * (int64_t)i + k] - x0[3 * (int64_t)i + k]) / h;
        straighten(i, velocity, NULL, t, x, v, past);
    }
}

/* ---- The response ---- */

static void count(drape_certificate_contact *did, const drape_i_response_counts *n) {
    did->pairs += n->pairs;
    did->hits += n->hits;
    did->passes += n->passes;
    did->zones += n->zones;
    did->moved += n->moved;
    did->truncated += n->truncated;
    did->broad += n->seconds_find;
    did->narrow += n->seconds_narrow;
    did->response += n->seconds_response;
}

drape_status drape_i_contact_respond(drape_sim *sim, double t, double h, const double *x0, double *x, double *v,
                                     drape_ode_projection *past) {
    drape_i_contact *c = sim->contact;
    size_t bytes = (size_t)drape_i_sim_numbers(sim) * sizeof *x;
    drape_i_response_request request = {.world = c->world, .inverse_mass = c->inverse_mass};
    drape_i_response_counts counts = {0};
    bool kept;
    drape_i_world_set_motion(c->world, x0, t - h, x, t);
    drape_status status = drape_i_response_run(c->response, &request, &counts, &kept);
    if (status) return status;
    count(&c->did, &counts);
    if (!kept) {
        c->no_room = true;
        explain(c, c->stuck, sizeof c->stuck);
        return drape_i_fail(sim->ctx, DRAPE_ERROR_NUMBER, "contact: there is no room between %s", c->stuck);
    }
    settle_touches(sim, t, x, v, past);
    if (counts.moved > 0) {
        memcpy(x, c->world->end, bytes);
        settle_moved(sim, t, h, x0, x, v, past);
    }
    return DRAPE_OK;
}
