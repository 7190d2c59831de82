/* contact_friction.c: friction in the solve, with a state.
 *
 * Friction is a spring across the normal that holds up to Coulomb's limit, and is dragged along beyond it. Let s be
 * the distance that the parts have slid on each other since the spring was relaxed. Then
 *
 *   f = -k s           where k |s| <= mu load,
 *   f = -mu load s/|s| else,
 *
 * so its potential within a step, k |s|^2/2 and then mu load (|s| - mu load/(2k)), is convex and smooth. After the
 * step the part of s beyond the limit is dropped, so that k |s| = mu load again. The load of a vertex is that of the
 * step before. That of a pair is what its spring will carry at the end of this one, as it moves now.
 *
 * So parts that do not slide do not creep, however often their loads change. Friction that depends on velocities
 * does not achieve this. Neither does friction that either holds or slides in a step, with nothing in between. With
 * it, stiff cloth passes the load of a sliding vertex on to its neighbours. Hundreds of vertices come loose together
 * and are held again in the next step. A sheet on a slope at 0.95 of the friction angle moved downhill by 5 mm/s.
 *
 * k = m/h^2 stops a vertex on its own within a step; and friction reaches its limit within MOST_STRETCH. */
#include "contact/closest.h"
#include "sim/contact.h"

#include <math.h>
#include <string.h>

static const double MOST_STRETCH = 5e-5; /* m */

/* A linearised step takes friction that slides as a force of its own where it has grown by no more than this factor.
 * The load of an impact may be large enough to throw the vertices back: then it brakes, but turns no motion round. */
static const double GROWN = 1.5;

/* ---- Setting it up ---- */

/* Two unit vectors across n. */
static void find_across(const double n[3], double t[2][3]) {
    int32_t least = fabs(n[0]) <= fabs(n[1]) && fabs(n[0]) <= fabs(n[2]) ? 0 : fabs(n[1]) <= fabs(n[2]) ? 1 : 2;
    double length = 0;
    for (int32_t k = 0; k < 3; k++) t[0][k] = (k == least) - n[least] * n[k];
    length = sqrt(drape_i_dot3(t[0], t[0]));
    for (int32_t k = 0; k < 3; k++) t[0][k] /= length;
    for (int32_t k = 0; k < 3; k++) t[1][k] = n[(k + 1) % 3] * t[0][(k + 2) % 3] - n[(k + 2) % 3] * t[0][(k + 1) % 3];
}

void drape_i_contact_set_friction(const drape_sim *sim, drape_i_contact_spring *s, double limit, const double v[3],
                                  const double *force) {
    double h = sim->contact->end - sim->contact->start;
    s->limit = limit > 0 ? limit : 0;
    if (s->limit == 0) return;
    s->stiff = fmax(1 / (drape_i_contact_inverse_mass(sim, s) * h * h), limit / MOST_STRETCH);
    find_across(s->n, s->t);
    for (int32_t d = 0; d < 2; d++) {
        s->with[d] = drape_i_dot3(s->t[d], v);
        s->slid[d] = force ? -drape_i_dot3(s->t[d], force) / s->stiff : 0;
    }
    s->steady = force && GROWN * sqrt(drape_i_dot3(force, force)) > s->limit;
}

drape_status drape_i_contact_add_rub(drape_sim *sim, drape_i_touch *touch, double limit, const double force[3]) {
    drape_i_contact *c = sim->contact;
    drape_i_contact_spring s = {.count = 1, .vertex = {touch->vertex}, .w = {1}, .pair = {-1}, .in_element = true};
    double v[3];
    touch->spring = -1;
    if (!(limit > 0)) return DRAPE_OK;
    memcpy(s.n, touch->n, sizeof s.n);
    drape_i_touch_velocity(c, touch, v);
    drape_i_contact_set_friction(sim, &s, limit, v, force);
    drape_status status = drape_i_contact_add_spring(c, &s);
    if (!status) touch->spring = c->springs - 1;
    return status;
}

/* ---- What it does ---- */

/* m: the way slid at x and t, along both t; its length. */
static double way(const drape_i_contact *c, const drape_i_contact_spring *s, double t, const double *x,
                  double slid[2]) {
    for (int32_t d = 0; d < 2; d++) {
        slid[d] = s->slid[d] - s->with[d] * (t - c->start);
        for (int32_t i = 0; i < s->count; i++)
            for (int32_t k = 0; k < 3; k++) {
                int64_t at = 3 * (int64_t)s->vertex[i] + k;
                slid[d] += s->w[i] * (s->t[d][k] * (x[at] - c->x0[at]));
            }
    }
    return sqrt(slid[0] * slid[0] + slid[1] * slid[1]);
}

/* A combination of both t. */
static void combine(const drape_i_contact_spring *s, double a, double b, double out[3]) {
    for (int32_t k = 0; k < 3; k++) out[k] = a * s->t[0][k] + b * s->t[1][k];
}

/* What slides has no stiffness along its way. Newton's iteration takes as much of it there as across: a bound of the
 * Jacobian, with which every correction goes down. With less it stalled where cloth is pulled off a table at 4 m/s.
 */
void drape_i_contact_friction_at(const drape_sim *sim, const drape_i_contact_spring *s, double t, const double *x,
                                 drape_i_friction_force *g) {
    const drape_i_contact *c = sim->contact;
    double slid[2], at[2];
    bool linearised = !sim->integrator;
    double length = way(c, s, t, linearised ? c->ahead : x, slid);
    if (linearised) way(c, s, c->start, x, at);
    else memcpy(at, slid, sizeof at);
    if (!(s->limit < s->stiff * length)) {
        *g = (drape_i_friction_force){.directions = 2, .k = s->stiff};
        memcpy(g->n, s->t, sizeof g->n);
        combine(s, -s->stiff * at[0], -s->stiff * at[1], g->force);
        return;
    }
    double cosine = slid[0] / length, sine = slid[1] / length, k = s->limit / length;
    bool free = linearised && s->steady;
    *g = (drape_i_friction_force){.directions = free ? 1 : 2, .k = k};
    combine(s, -sine, cosine, g->n[0]);
    combine(s, cosine, sine, g->n[1]);
    double side = k * (at[1] * cosine - at[0] * sine);
    double along = linearised && !free ? k * (at[0] * cosine + at[1] * sine) : s->limit;
    combine(s, -along * cosine + side * sine, -along * sine - side * cosine, g->force);
}

double drape_i_contact_friction_potential(const drape_sim *sim, const drape_i_contact_spring *s, double t,
                                          const double *x) {
    double slid[2], length = way(sim->contact, s, t, x, slid);
    return s->stiff * length > s->limit ? s->limit * (length - 0.5 * s->limit / s->stiff)
                                        : 0.5 * s->stiff * length * length;
}

double drape_i_contact_friction(const drape_sim *sim, const drape_i_contact_spring *s, double t, const double *x,
                                double force[3]) {
    double slid[2], length = way(sim->contact, s, t, x, slid);
    double k = s->stiff * length > s->limit ? s->limit / length : s->stiff;
    combine(s, -k * slid[0], -k * slid[1], force);
    return k * length / s->limit;
}

/* ---- The memory of pairs ---- */

static uint64_t hash_of(int32_t kind, const int32_t vertex[4]) {
    uint64_t hash = (uint64_t)kind + 1;
    for (int32_t k = 0; k < 4; k++) hash = (hash ^ (uint64_t)vertex[k]) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 32);
}

drape_status drape_i_contact_grow_rubs(drape_i_contact *c, int32_t count) {
    drape_context *ctx = c->world->ctx;
    int32_t slots = 64, room = count + count / 2, *slot;
    drape_i_rub *rub;
    if (count <= c->rub_room) return DRAPE_OK;
    while (slots < 2 * (int64_t)room) slots *= 2;
    if (!DRAPE_NEW(ctx, slot, slots)) return DRAPE_ERROR_MEMORY;
    if (!DRAPE_NEW_RAW(ctx, rub, room)) {
        DRAPE_FREE(ctx, slot, slots);
        return DRAPE_ERROR_MEMORY;
    }
    if (c->rubs > 0) memcpy(rub, c->rub, (size_t)c->rubs * sizeof *rub);
    DRAPE_FREE(ctx, c->rub, c->rub_room);
    DRAPE_FREE(ctx, c->slot, c->slot_count);
    c->rub = rub;
    c->rub_room = room;
    c->slot = slot;
    c->slot_count = slots;
    return DRAPE_OK;
}

void drape_i_contact_index_rubs(drape_i_contact *c) {
    for (int32_t i = 0; i < c->slot_count; i++) c->slot[i] = -1;
    for (int32_t i = 0; i < c->rubs; i++) {
        int32_t vertex[4];
        for (int32_t k = 0; k < 4; k++) vertex[k] = (int32_t)c->rub[i].vertex[k];
        uint64_t at = hash_of((int32_t)c->rub[i].kind, vertex) & (uint64_t)(c->slot_count - 1);
        while (c->slot[at] >= 0) at = (at + 1) & (uint64_t)(c->slot_count - 1);
        c->slot[at] = i;
    }
}

const drape_i_rub *drape_i_contact_recall(const drape_i_contact *c, int32_t kind, const int32_t vertex[4]) {
    if (c->rubs == 0) return NULL;
    uint64_t at = hash_of(kind, vertex) & (uint64_t)(c->slot_count - 1);
    for (; c->slot[at] >= 0; at = (at + 1) & (uint64_t)(c->slot_count - 1)) {
        const drape_i_rub *r = &c->rub[c->slot[at]];
        if (r->kind == kind && r->vertex[0] == vertex[0] && r->vertex[1] == vertex[1] && r->vertex[2] == vertex[2] &&
            r->vertex[3] == vertex[3])
            return r;
    }
    return NULL;
}

void drape_i_contact_remember(drape_sim *sim) {
    drape_i_contact *c = sim->contact;
    c->rubs = 0;
    for (int32_t i = 0; i < c->springs; i++) {
        const drape_i_contact_spring *s = &c->spring[i];
        if (s->pair[0] < 0) continue;
        drape_i_rub *r = &c->rub[c->rubs++];
        *r = (drape_i_rub){.kind = s->kind, .firm = drape_i_contact_firmness(sim, s)};
        for (int32_t k = 0; k < 4; k++) r->vertex[k] = s->pair[k];
        if (s->limit > 0) drape_i_contact_friction(sim, s, c->end, sim->x, r->force);
    }
}
