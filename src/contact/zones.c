/* zones.c: impact zones with inelastic projection (Harmon, Vouga, Tamstorf, Grinspun 2008), and friction.
 *
 * Impulses treat hits one by one and forget them; in a pile each undoes what the others did. Here contacts are kept
 * once they have been seen. In each round the new hits become contacts (impulses.c), n_c.sum w_ci x_i >= target_c.
 * Without friction the ends then become those nearest to the ends before the first round, in the norm of the masses,
 * that satisfy all contacts so far:
 *
 *     x = x^ + M^-1 J' lambda,    J x >= target,  lambda >= 0,  lambda_c = 0 where J_c x > target_c.
 *
 * The paper has equalities; inequalities do not glue together what moves apart. Friction, which the paper leaves out,
 * adds a drag to each contact, across n_c and not longer than mu lambda_c, which stops it from sliding if it can.
 * Contacts that share a movable vertex, directly or through others, are a zone; a union-find over vertices finds
 * them.
 *
 * As in impulses.c, a zone whose vertices can all be moved also turns as a rigid body, which keeps its angular
 * momentum. It turns by -I^-1 sum a_c x p_c for the impulses p_c = lambda_c n_c + drag_c.
 *
 * The impulses are found by projected Gauss-Seidel from those of the round before; no matrix is formed. A sweep costs
 * some 200 flops and 4 vertices per contact. It does not have to converge: hits that are left are hits of the next
 * round, and in the end there is truncation. SWEEPS and MOST_WORK bound what a round costs. */
#include "contact/response_parts.h"

#include <string.h>

enum {
    SWEEPS = 16,
    MOST_WORK = 1 << 17, /* contacts times sweeps in one round */
    MOST_CONTACTS = 1 << 15
};

static const double ENOUGH = 0.1;      /* of the slack: what a contact may lack when sweeps end */
static const double LEAST_GIVE = 1e-3; /* of what a contact gives where nothing turns */

typedef struct zone {
    drape_i_body body;
    double tensor[6];
    vec3 torque; /* sum a_c x p_c */
    bool free;   /* all of its vertices can be moved */
    bool fresh;  /* has a contact that it did not have in the round before */
} zone;

struct drape_i_zones {
    int32_t vertices;
    int32_t *parent;  /* of the union-find; -1: in no zone */
    int32_t *zone_of; /* of roots */
    int32_t *member;  /* vertices that are in a zone, in the order in which they came */
    int32_t members;
    uint8_t *grounded; /* has contacts with planes */
    double *x;         /* ends without the turn of their zone, of members; elsewhere not set */
    drape_i_impact *contact;
    int64_t contacts, contact_room;
    zone *zone;
    int64_t zones, zone_room;
};

drape_status drape_i_zones_create(drape_context *ctx, int32_t vertices, drape_i_zones **out) {
    drape_i_zones *z;
    *out = NULL;
    if (!DRAPE_NEW(ctx, z, 1)) return DRAPE_ERROR_MEMORY;
    z->vertices = vertices;
    if (!DRAPE_NEW(ctx, z->parent, vertices) || !DRAPE_NEW(ctx, z->zone_of, vertices) ||
        !DRAPE_NEW(ctx, z->member, vertices) || !DRAPE_NEW(ctx, z->grounded, vertices) ||
        !DRAPE_NEW_RAW(ctx, z->x, 3 * (int64_t)vertices)) {
        drape_i_zones_destroy(ctx, z);
        return DRAPE_ERROR_MEMORY;
    }
    for (int32_t i = 0; i < vertices; i++) z->parent[i] = -1;
    *out = z;
    return DRAPE_OK;
}

void drape_i_zones_destroy(drape_context *ctx, drape_i_zones *z) {
    if (!z) return;
    DRAPE_FREE(ctx, z->parent, z->vertices);
    DRAPE_FREE(ctx, z->zone_of, z->vertices);
    DRAPE_FREE(ctx, z->member, z->vertices);
    DRAPE_FREE(ctx, z->grounded, z->vertices);
    DRAPE_FREE(ctx, z->x, 3 * (int64_t)z->vertices);
    DRAPE_FREE(ctx, z->contact, z->contact_room);
    DRAPE_FREE(ctx, z->zone, z->zone_room);
    DRAPE_FREE(ctx, z, 1);
}

/* ---- Which contacts belong together ---- */

static int32_t root_of(drape_i_zones *z, int32_t vertex) {
    while (z->parent[vertex] != vertex) {
        z->parent[vertex] = z->parent[z->parent[vertex]];
        vertex = z->parent[vertex];
    }
    return vertex;
}

static void join(drape_i_response *r, drape_i_zones *z, const drape_i_impact *c) {
    int32_t first = -1;
    for (int32_t i = 0; i < 4; i++) {
        int32_t vertex = c->vertex[i];
        if (r->request->inverse_mass[vertex] == 0) continue;
        if (z->parent[vertex] < 0) {
            z->parent[vertex] = vertex;
            z->member[z->members++] = vertex;
            memcpy(z->x + 3 * (int64_t)vertex, r->world->end + 3 * (int64_t)vertex, 3 * sizeof *z->x);
        }
        int32_t root = root_of(z, vertex);
        if (first < 0) first = root;
        else if (root < first) z->parent[first] = root, first = root;
        else z->parent[root] = first;
    }
}

/* Numbers the zones, and makes their bodies. */
static drape_status make_zones(drape_i_response *r, drape_i_zones *z) {
    const double *m = r->request->inverse_mass, *start = r->world->start;
    z->zones = 0;
    drape_status status =
        drape_i_response_grow(r->ctx, (void **)&z->zone, &z->zone_room, z->members, sizeof *z->zone);
    if (status) return status;
    for (int32_t i = 0; i < z->members; i++)
        if (z->parent[z->member[i]] == z->member[i]) {
            z->zone_of[z->member[i]] = (int32_t)z->zones;
            z->zone[z->zones++] = (zone){.free = true};
        }
    for (int32_t i = 0; i < z->members; i++) {
        int32_t v = z->member[i];
        drape_i_body_add(&z->zone[z->zone_of[root_of(z, v)]].body, 1 / m[v], vec3_at(start + 3 * (int64_t)v));
    }
    for (int32_t i = 0; i < z->members; i++) {
        int32_t v = z->member[i];
        zone *at = &z->zone[z->zone_of[root_of(z, v)]];
        drape_i_body_inertia(&at->body, 1 / m[v], vec3_at(start + 3 * (int64_t)v), at->tensor);
    }
    return DRAPE_OK;
}

/* Which zone each contact is in, what impulses of earlier rounds turn it by, and what it yields. */
static void place_contacts(const drape_i_response *r, drape_i_zones *z) {
    const double *m = r->request->inverse_mass;
    for (int64_t i = 0; i < z->contacts; i++) {
        drape_i_impact *c = &z->contact[i];
        for (int32_t k = 0; k < 4; k++)
            if (m[c->vertex[k]] > 0) c->zone = z->zone_of[root_of(z, c->vertex[k])];
        zone *at = &z->zone[c->zone];
        vec3 impulse = vec3_plus(c->drag, c->lambda, c->n);
        at->free &= c->free;
        at->torque = vec3_add(at->torque, vec3_cross(c->arm, impulse));
    }
    for (int64_t i = 0; i < z->zones; i++)
        if (z->zone[i].free) drape_i_body_invert(&z->zone[i].body, z->zone[i].tensor);
    for (int64_t i = 0; i < z->contacts; i++) {
        drape_i_impact *c = &z->contact[i];
        vec3 b = vec3_cross(c->arm, c->n);
        double give = 0;
        for (int32_t k = 0; k < 4; k++) give += c->w[k] * c->w[k] * m[c->vertex[k]];
        double held = give - vec3_dot(b, drape_i_body_turn(&z->zone[c->zone].body, b));
        c->yield = 1 / fmax(held, LEAST_GIVE * give);
    }
}

/* Vertices that are near a plane get contacts with all of them, once. */
static drape_status add_planes(drape_i_response *r, drape_i_zones *z) {
    int32_t planes = r->world->plane_count;
    drape_status status = DRAPE_OK;
    for (int32_t i = 0; planes > 0 && i < z->members && !status; i++) {
        int32_t v = z->member[i];
        if (z->grounded[v] || !drape_i_response_near_plane(r, v)) continue;
        status = drape_i_response_grow(r->ctx, (void **)&z->contact, &z->contact_room, z->contacts + planes,
                                       sizeof *z->contact);
        for (int32_t k = 0; k < planes && !status; k++)
            if (!drape_i_world_sets_aside(r->world, v, r->world->plane[k]))
                z->contact[z->contacts++] = drape_i_response_on_plane(r, k, v);
        z->grounded[v] = 1;
    }
    return status;
}

static drape_status add_contacts(drape_i_response *r, drape_i_zones *z) {
    int64_t before = z->contacts;
    drape_status status = drape_i_response_contacts(r);
    if (!status)
        status = drape_i_response_grow(r->ctx, (void **)&z->contact, &z->contact_room, z->contacts + r->contacts,
                                       sizeof *z->contact);
    if (status) return status;
    for (int64_t i = 0; i < r->contacts; i++) {
        z->contact[z->contacts++] = r->contact[i];
        join(r, z, &r->contact[i]);
    }
    status = add_planes(r, z);
    if (!status) status = make_zones(r, z);
    if (status) return status;
    place_contacts(r, z);
    for (int64_t i = before; i < z->contacts; i++) z->zone[z->contact[i].zone].fresh = true;
    return DRAPE_OK;
}

/* ---- Multipliers ---- */

/* The end of a vertex without its zone's turn; what cannot be moved is in no zone. */
static const double *place_of(const drape_i_response *r, const drape_i_zones *z, int32_t vertex) {
    return (z->parent[vertex] >= 0 ? z->x : r->world->end) + 3 * (int64_t)vertex;
}

/* sum w_i x_i at the end, with the zone's turn. */
static vec3 between(const drape_i_response *r, const drape_i_zones *z, const drape_i_impact *c) {
    const zone *at = &z->zone[c->zone];
    vec3 e = {0, 0, 0};
    for (int32_t i = 0; i < 4; i++) e = vec3_plus(e, c->w[i], vec3_at(place_of(r, z, c->vertex[i])));
    return at->free ? vec3_sub(e, vec3_cross(drape_i_body_turn(&at->body, at->torque), c->arm)) : e;
}

static void push(const drape_i_response *r, drape_i_zones *z, const drape_i_impact *c, vec3 impulse) {
    const double *m = r->request->inverse_mass;
    zone *at = &z->zone[c->zone];
    if (at->free) at->torque = vec3_add(at->torque, vec3_cross(c->arm, impulse));
    for (int32_t i = 0; i < 4; i++)
        if (m[c->vertex[i]] > 0) {
            double *x = z->x + 3 * (int64_t)c->vertex[i];
            vec3_put(x, vec3_plus(vec3_at(x), c->w[i] * m[c->vertex[i]], impulse));
        }
}

/* The drag that would stop the contact from sliding, but no more than friction can. */
static void brake(const drape_i_response *r, drape_i_zones *z, drape_i_impact *c) {
    vec3 slid = vec3_sub(between(r, z, c), c->anchor);
    slid = vec3_plus(slid, -vec3_dot(slid, c->n), c->n);
    vec3 drag = vec3_plus(c->drag, -c->yield, slid);
    double length = vec3_length(drag), most = c->friction * c->lambda;
    if (length > most) drag = vec3_scale(most / length, drag);
    push(r, z, c, vec3_sub(drag, c->drag));
    c->drag = drag;
}

/* Returns what the contact lacked, in parts of its slack. */
static double relax(const drape_i_response *r, drape_i_zones *z, drape_i_impact *c) {
    double lacks = c->target - vec3_dot(c->n, between(r, z, c)), lambda = c->lambda + lacks * c->yield;
    bool pushed = c->lambda > 0;
    lambda = lambda > 0 ? lambda : 0;
    if (lambda != c->lambda) push(r, z, c, vec3_scale(lambda - c->lambda, c->n));
    c->lambda = lambda;
    if (c->friction > 0 && (pushed || lambda > 0)) brake(r, z, c);
    return lacks / c->slack;
}

static void solve(drape_i_response *r, drape_i_zones *z) {
    int64_t most = MOST_WORK / (z->contacts + 1);
    double lacks = INFINITY;
    for (int32_t sweep = 0; sweep < SWEEPS && sweep <= most && lacks > ENOUGH; sweep++) {
        lacks = 0;
        for (int64_t i = 0; i < z->contacts; i++) {
            double one = z->zone[z->contact[i].zone].fresh ? relax(r, z, &z->contact[i]) : 0;
            lacks = one > lacks ? one : lacks;
        }
    }
}

static void move_members(drape_i_response *r, drape_i_zones *z) {
    const double *start = r->world->start, *end = r->world->end;
    for (int32_t i = 0; i < z->members; i++) {
        int32_t v = z->member[i];
        const zone *at = &z->zone[z->zone_of[root_of(z, v)]];
        if (!at->fresh) continue;
        vec3 turn = drape_i_body_turn(&at->body, at->torque);
        vec3 arm = vec3_sub(vec3_at(start + 3 * (int64_t)v), at->body.centre);
        vec3 to = vec3_sub(vec3_at(z->x + 3 * (int64_t)v), vec3_cross(turn, arm));
        const double *from = end + 3 * (int64_t)v;
        if (to.x != from[0] || to.y != from[1] || to.z != from[2]) drape_i_response_move(r, v, to);
    }
}

/* ---- Rounds ---- */

static void forget(drape_i_zones *z) {
    for (int32_t i = 0; i < z->members; i++) z->parent[z->member[i]] = -1, z->grounded[z->member[i]] = 0;
    z->members = 0;
    z->contacts = 0;
    z->zones = 0;
}

/* New hits, also of pairs that no search has seen yet. */
static drape_status look(drape_i_response *r) {
    bool again = false;
    drape_status status = drape_i_response_check(r, false);
    if (!status && r->hits == 0) status = drape_i_response_search(r, &again);
    return !status && again ? drape_i_response_check(r, true) : status;
}

drape_status drape_i_response_zones(drape_i_response *r) {
    drape_i_zones *z = r->zones;
    drape_status status = DRAPE_OK;
    forget(z);
    while (r->hits > 0 && r->counts.zone_rounds < DRAPE_I_MOST_ROUNDS && z->contacts + r->hits <= MOST_CONTACTS) {
        status = add_contacts(r, z);
        if (status || r->contacts == 0) break;
        solve(r, z);
        move_members(r, z);
        r->counts.zone_rounds++;
        r->counts.zones = (int32_t)z->zones;
        drape_i_response_lift(r);
        status = look(r);
        if (status) break;
    }
    return status;
}
