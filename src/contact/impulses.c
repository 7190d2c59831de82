/* impulses.c: contacts as linear inequalities, and impulses with friction (Bridson, Fedkiw, Anderson 2002, section
 * 7).
 *
 * A hit at time t has closest points at that time, with weights w (1, -b or 1-s, s, -(1-t), -t). It has the direction
 * n of e = sum w_i x_i(t), whose length is about the separation, never zero. With these fixed, the gap at the end is
 * linear in the ends,  g = n.sum w_i x_i,  and must be at least `target`. An impulse p between the closest
 * points changes ends by w_i p / m_i; velocities are (end - start)/h, so nothing here needs h. Friction then takes
 * from d_T, the motion across n, at most mu times the change of the gap by p.
 *
 * The paper stops the approach, so that parts keep the gap that they had at the start. Here they may approach until
 * they are `distance` apart. If the gap was smaller at the start, they keep it, and get a small part of what is
 * missing.
 *
 * Momentum. The weights sum up to zero, so an impulse keeps the momentum. The angular momentum of the step,
 *     L = sum m_i start_i x (end_i - start_i) / h,
 * changes by a x p, where a = sum w_i start_i: n is the direction at the time of the contact, and p is not parallel
 * to a. So the four vertices also turn as a rigid body, by -I^-1 (a x p), for their tensor of inertia I at the start;
 * then L stays. That is the impulse projected on what keeps L. It changes the gap, so that for an impulse p = lambda
 * n change of g = lambda (sum w_i^2/m_i - b.I^-1 b),   b = a x n. If a vertex of the pair cannot be moved,
 * whatever holds it takes up both momenta, and there is no such rotation. */
#include "contact/response_parts.h"

#include "contact/closest.h"

#include <string.h>

enum {
    LEAST_PASSES = 2,
    ENOUGH = 2 /* a pass that leaves more than one of this number of hits is the last: zones do better */
};

static const double PUSH = 0.02;     /* of what lacks to the distance, in a pass: more shakes what rests */
static const double MOST_PULL = 16;  /* no vertex moves farther than this times what lacks */
static const double THINNEST = 1e-9; /* of inertia: a body whose tensor is nearer to singular does not turn */

/* ---- Contacts ---- */

double drape_i_response_target(double gap, double separation, double reach) {
    if (gap >= reach) return reach;
    gap = fmax(gap, separation);
    return gap + PUSH * (reach - gap);
}

static double friction_of_part(const drape_i_world *world, const int32_t *vertex, int32_t count, int32_t collider) {
    double sum = 0;
    if (vertex[0] >= world->cloth_vertices) return world->colliders->item[collider].friction;
    for (int32_t i = 0; i < count; i++) sum += world->friction[vertex[i]];
    return sum / count;
}

static double friction_of(const drape_i_world *world, drape_ccd_kind kind, const int32_t vertex[4],
                          int32_t collider) {
    int32_t first = kind == DRAPE_CCD_VERTEX_FACE ? 1 : 2, n = world->cloth_vertices;
    double given =
        vertex[0] < n && vertex[first] < n ? drape_i_world_pair_friction(world, vertex[0], vertex[first]) : -1;
    if (given >= 0) return given;
    return sqrt(friction_of_part(world, vertex, first, collider) *
                friction_of_part(world, vertex + first, 4 - first, collider));
}

static vec3 weighted(const double *x, const int32_t vertex[4], const double w[4]) {
    double e[3];
    drape_i_between(x, vertex, w, e);
    return vec3_at(e);
}

/* Weights of the closest points at a time, and the vector between them. */
static vec3 closest_at(const drape_i_world *world, drape_ccd_kind kind, const int32_t vertex[4], double time,
                       double w[4]) {
    static const int32_t all[4] = {0, 1, 2, 3};
    double x[12];
    for (int32_t i = 0; i < 12; i++) {
        int64_t k = 3 * (int64_t)vertex[i / 3] + i % 3;
        x[i] = (1 - time) * world->start[k] + time * world->end[k];
    }
    drape_i_closest(kind, x, all, w);
    return weighted(x, all, w);
}

/* The contact of a hit. False where nothing can be done about it. */
static bool contact_of(const drape_i_response *r, const drape_i_hit *hit, drape_i_impact *c) {
    const drape_i_world *world = r->world;
    const drape_i_pairs *p = &world->pairs[hit->kind];
    const drape_i_verdicts *v = &r->verdicts[hit->kind];
    const double *m = r->request->inverse_mass, distance = p->distance[hit->pair], round = p->round[hit->pair];
    *c = (drape_i_impact){.free = true};
    memcpy(c->vertex, p->vertex[hit->pair], sizeof c->vertex);
    vec3 e = closest_at(world, hit->kind, c->vertex, hit->time, c->w);
    double length = vec3_length(e), give = 0;
    for (int32_t i = 0; i < 4; i++) {
        give += c->w[i] * c->w[i] * m[c->vertex[i]];
        c->free &= m[c->vertex[i]] > 0;
    }
    if (!(length > 0) || !(give > 0)) return false;
    c->n = vec3_scale(1 / length, e);
    c->arm = c->anchor = weighted(world->start, c->vertex, c->w);
    c->target =
        drape_i_response_target(vec3_dot(c->n, c->arm), v->separation[hit->pair],
                                drape_i_response_reach(drape_i_world_floor(world, distance, round), distance, round));
    c->slack = c->target - v->separation[hit->pair];
    c->friction = friction_of(world, hit->kind, c->vertex, p->collider[hit->pair]);
    return true;
}

/* ---- Rigid bodies ---- */

void drape_i_body_add(drape_i_body *b, double mass, vec3 x) {
    b->mass += mass;
    b->centre = vec3_plus(b->centre, mass / b->mass, vec3_sub(x, b->centre));
}

void drape_i_body_inertia(const drape_i_body *b, double mass, vec3 x, double I[6]) {
    vec3 d = vec3_sub(x, b->centre);
    I[0] += mass * (d.y * d.y + d.z * d.z);
    I[1] -= mass * d.x * d.y;
    I[2] -= mass * d.x * d.z;
    I[3] += mass * (d.x * d.x + d.z * d.z);
    I[4] -= mass * d.y * d.z;
    I[5] += mass * (d.x * d.x + d.y * d.y);
}

void drape_i_body_invert(drape_i_body *b, double I[6]) {
    double cofactor[6] = {I[3] * I[5] - I[4] * I[4], I[2] * I[4] - I[1] * I[5], I[1] * I[4] - I[2] * I[3],
                          I[0] * I[5] - I[2] * I[2], I[1] * I[2] - I[0] * I[4], I[0] * I[3] - I[1] * I[1]};
    double determinant = I[0] * cofactor[0] + I[1] * cofactor[1] + I[2] * cofactor[2], trace = I[0] + I[3] + I[5];
    bool thin = !(determinant > THINNEST * trace * trace * trace);
    for (int32_t k = 0; k < 6; k++) b->inverse[k] = thin ? 0 : cofactor[k] / determinant;
}

vec3 drape_i_body_turn(const drape_i_body *b, vec3 l) {
    const double *J = b->inverse;
    return (vec3){J[0] * l.x + J[1] * l.y + J[2] * l.z, J[1] * l.x + J[3] * l.y + J[4] * l.z,
                  J[2] * l.x + J[4] * l.y + J[5] * l.z};
}

static drape_i_body body_of(const drape_i_response *r, const drape_i_impact *c) {
    drape_i_body body = {0};
    double tensor[6] = {0};
    const double *start = r->world->start, *m = r->request->inverse_mass;
    if (!c->free) return body;
    for (int32_t i = 0; i < 4; i++)
        drape_i_body_add(&body, 1 / m[c->vertex[i]], vec3_at(start + 3 * (int64_t)c->vertex[i]));
    for (int32_t i = 0; i < 4; i++)
        drape_i_body_inertia(&body, 1 / m[c->vertex[i]], vec3_at(start + 3 * (int64_t)c->vertex[i]), tensor);
    drape_i_body_invert(&body, tensor);
    return body;
}

/* ---- Impulses ---- */

/* What an impulse of one along a unit direction changes sum w_i x_i by, along that direction. */
static double give_along(const drape_i_response *r, const drape_i_impact *c, const drape_i_body *body, vec3 along) {
    double give = 0;
    vec3 b = vec3_cross(c->arm, along);
    for (int32_t i = 0; i < 4; i++) give += c->w[i] * c->w[i] * r->request->inverse_mass[c->vertex[i]];
    return fmax(give - vec3_dot(b, drape_i_body_turn(body, b)), 1e-3 * give);
}

static void push(drape_i_response *r, const drape_i_impact *c, const drape_i_body *body, vec3 impulse) {
    const drape_i_world *world = r->world;
    vec3 turn = drape_i_body_turn(body, vec3_cross(c->arm, impulse));
    for (int32_t i = 0; i < 4; i++) {
        int32_t vertex = c->vertex[i];
        double m = r->request->inverse_mass[vertex];
        if (m == 0) continue;
        vec3 arm = vec3_sub(vec3_at(world->start + 3 * (int64_t)vertex), body->centre);
        vec3 to = vec3_plus(vec3_at(world->end + 3 * (int64_t)vertex), c->w[i] * m, impulse);
        drape_i_response_move(r, vertex, vec3_sub(to, vec3_cross(turn, arm)));
    }
}

/* Near a corner that cannot be moved an impulse would move the others far. */
static double limited(const drape_i_response *r, const drape_i_impact *c, double impulse, double most) {
    double farthest = 0;
    for (int32_t i = 0; i < 4; i++) farthest = fmax(farthest, fabs(c->w[i]) * r->request->inverse_mass[c->vertex[i]]);
    return impulse * farthest > most ? most / farthest : impulse;
}

static void brake(drape_i_response *r, const drape_i_impact *c, const drape_i_body *body, double changed) {
    const drape_i_world *world = r->world;
    vec3 slid = vec3_sub(weighted(world->end, c->vertex, c->w), c->arm);
    slid = vec3_plus(slid, -vec3_dot(slid, c->n), c->n);
    double length = vec3_length(slid);
    if (!(c->friction > 0) || !(length > 0)) return;
    vec3 along = vec3_scale(1 / length, slid);
    double less = fmin(c->friction * changed, length);
    push(r, c, body, vec3_scale(-less / give_along(r, c, body, along), along));
}

static void apply(drape_i_response *r, const drape_i_impact *c) {
    double lacks = c->target - vec3_dot(c->n, weighted(r->world->end, c->vertex, c->w));
    if (!(lacks > 0)) return;
    drape_i_body body = body_of(r, c);
    double give = give_along(r, c, &body, c->n);
    double impulse = limited(r, c, lacks / give, MOST_PULL * lacks);
    push(r, c, &body, vec3_scale(impulse, c->n));
    brake(r, c, &body, impulse * give);
}

/* All contacts before any of them is acted on: later ones would see paths that earlier ones have changed. */
drape_status drape_i_response_contacts(drape_i_response *r) {
    r->contacts = 0;
    drape_status status =
        drape_i_response_grow(r->ctx, (void **)&r->contact, &r->contact_room, r->hits, sizeof *r->contact);
    for (int64_t i = 0; i < r->hits && !status; i++)
        r->contacts += contact_of(r, &r->hit[i], &r->contact[r->contacts]);
    return status;
}

drape_status drape_i_response_impulses(drape_i_response *r) {
    drape_status status = DRAPE_OK;
    int64_t before = INT64_MAX;
    while (r->hits > 0 && r->hits <= before / ENOUGH && r->counts.passes < DRAPE_I_MOST_PASSES && !status) {
        before = r->counts.passes >= LEAST_PASSES - 1 ? r->hits : INT64_MAX;
        status = drape_i_response_contacts(r);
        if (status) break;
        for (int64_t i = 0; i < r->contacts; i++) apply(r, &r->contact[i]);
        drape_i_response_project(r);
        r->counts.passes++;
        drape_i_response_lift(r);
        status = drape_i_response_check(r, false);
    }
    return status;
}
