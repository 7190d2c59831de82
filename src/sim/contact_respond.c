/* contact_respond.c: the response after the solve.
 *
 * The linear solve holds the contacts that are known before it. Pairs that would still meet on the straight path of
 * the step are kept apart by the response (src/contact/response.c), which moves vertices. If the response fails, the
 * step fails, too, and is repeated in two halves.
 *
 * If a vertex was moved, or has just begun to be held, its velocity has jumped. A multistep method that uses the
 * states before the jump would make it bounce off: BDF2 continues with (4 v_1 - v_0)/3. So for these vertices, in the
 * directions of the jump, earlier states are replaced by a straight motion at the new velocity. */
#include "sim/contact.h"
#include "sim/stitches.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double SAME_TIME = 1e-9; /* of a step: times that differ by rounding */

/* ---- What stood in the way, in words ---- */

static void name_side(const drape_i_contact *c, const int32_t *vertex, int32_t count, char *out, size_t size) {
    const drape_i_world *w = c->world;
    size_t used = 0;
    bool object = vertex[0] >= w->cloth_vertices;
    static const char *const kind[] = {"", "vertex", "the edge of vertices", "the triangle of vertices"};
    if (object) {
        int32_t owner = w->colliders->point_owner[vertex[0] - w->cloth_vertices];
        int32_t first = w->colliders->item[owner].first_point;
        if (w->colliders->item[owner].radius > 0) {
            snprintf(out, size, "collider %d (%s)", owner, w->colliders->item[owner].name);
            return;
        }
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

void drape_i_contact_explain(const drape_i_contact *c, char *out, size_t size) {
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

/* What the response found no room between; cloth that is caught has a collider on either side. */
static void explain_stuck(drape_i_contact *c) {
    int32_t other = drape_i_pinch_other(c);
    drape_i_contact_explain(c, c->stuck, sizeof c->stuck);
    size_t used = strlen(c->stuck);
    if (other >= 0)
        snprintf(c->stuck + used, sizeof c->stuck - used, ", with collider %d (%s) on the other side", other,
                 c->world->colliders->item[other].name);
}

/* ---- The step as a whole ---- */

void drape_i_contact_start(drape_sim *sim) {
    drape_i_pinch_start(sim);
    sim->contact->did = (drape_certificate_contact){0};
    sim->contact->cuts = 0;
    sim->contact->no_room = false;
    sim->contact->stuck[0] = 0;
}

const char *drape_sim_stuck(const drape_sim *sim) {
    return sim && sim->contact && sim->contact->cuts > 0 && sim->contact->stuck[0] ? sim->contact->stuck : NULL;
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
static void resolve_touches(drape_sim *sim, double t, const double *x, double *v, drape_ode_projection *past) {
    const drape_i_contact *c = sim->contact;
    for (int32_t i = 0; i < c->touches; i++) {
        const drape_i_touch *touch = &c->touch[i];
        double velocity[3];
        if (!touch->chosen || touch->released || !(touch->new_mode || touch->gap < 0)) continue;
        drape_i_touch_velocity(c, touch, velocity);
        straighten(touch->vertex, velocity, touch->mode == DRAPE_I_STICKS ? NULL : touch->n, t, x, v, past);
    }
    for (int32_t i = 0; i < sim->vertices; i++) {
        const double *velocity, *n = drape_i_pinch_jumps(c, i, &velocity);
        if (n) straighten(i, velocity, n, t, x, v, past);
    }
}

static void resolve_moved(drape_sim *sim, double t, double h, const double *x0, const double *x, double *v,
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
    did->gate += n->seconds_gate;
}

/* Whether the pairs that were found at the beginning are of a motion from here, over the same time. Then they serve
 * the response, too, as long as the solve has not led far from where the cloth was going. */
static bool began_here(const drape_i_contact *c, double t, double h, const double *x0, size_t bytes) {
    return c->searched && t == c->end && fabs(t - h - c->start) <= SAME_TIME * h && memcmp(x0, c->x0, bytes) == 0;
}

/* Stitches, at the end of the step. */
typedef struct sewn {
    const drape_sim *sim;
    double t;
} sewn;

static void project(void *user, double *x) {
    const sewn *s = user;
    drape_i_stitches_project(s->sim, s->t, s->sim->contact->inverse_mass, x);
}

static void add_groups(const drape_sim *sim, sewn *s, drape_i_response_request *request) {
    const drape_i_stitches *t = sim->stitches;
    if (!t || t->exact == 0) return;
    request->group = t->tight;
    request->group_first = t->first;
    request->member = t->member;
    request->groups = t->groups;
    request->project = project;
    request->user = s;
}

drape_status drape_i_contact_respond(drape_sim *sim, double t, double h, const double *x0, double *x, double *v,
                                     drape_ode_projection *past) {
    drape_i_contact *c = sim->contact;
    size_t bytes = (size_t)drape_i_sim_numbers(sim) * sizeof *x;
    bool kept, known = began_here(c, t, h, x0, bytes);
    drape_i_response_request request = {.world = c->world,
                                        .inverse_mass = c->inverse_mass,
                                        .paper = c->settings.preset == DRAPE_CONTACT_PAPER,
                                        .found = known,
                                        .margin = c->settings.distance,
                                        .searched = c->ahead};
    drape_i_response_counts counts = {0};
    sewn stitches = {sim, t};
    add_groups(sim, &stitches, &request);
    c->no_room = false;
    drape_i_stitches_weld(sim, x0, t);
    drape_i_world_set_motion(c->world, x0, known ? c->start : t - h, x, t);
    c->searched = false; /* another search may follow */
    drape_status status = drape_i_response_run(c->response, &request, &counts, &kept);
    if (status) return status;
    count(&c->did, &counts);
    if (!kept) {
        c->no_room = true;
        explain_stuck(c);
        return DRAPE_ERROR_NUMBER; /* the step says why, if it fails in the end */
    }
    resolve_touches(sim, t, x, v, past);
    if (counts.moved > 0) {
        memcpy(x, c->world->end, bytes);
        resolve_moved(sim, t, h, x0, x, v, past);
    }
    return DRAPE_OK;
}
