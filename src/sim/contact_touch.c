/* contact_touch.c: vertices of the cloth on objects, in the linear solve.
 *
 * A vertex is held if it will be nearer to an object at the end of the step than its distance d, as it moves now. It
 * is held along the normal n of the object's nearest point p (Baraff and Witkin 1998, 6):
 *
 *   n.x(t) = n.p(t) + d,   in S and z
 *
 * as long as S pushes. If the solve finds that it pulls, the vertex is released, and the system is solved again.
 * Pulls in a single step are left if together they are no more than TOLERATED of all contact forces. When stiff cloth
 * slides, there are some in every step, at other vertices each time, and they would cost a second solve. If a vertex
 * is too near at the start, half of the missing distance is made up in a step.
 *
 * Vertices touch at first if they did so in the step before, or would come too near without contact. A vertex that is
 * released stays free until it comes too near again.
 *
 * Friction: a vertex sticks (all directions are held, x(t) is carried along by the object) while what S carries lies
 * in the cone |T f| <= mu n.f. Otherwise it is held along n and rubs (contact_friction.c), at first with the friction
 * that it had when it came loose. When it has rubbed without sliding for some steps, it sticks again. A vertex that
 * arrives sticks if the impulse that stops it along n allows enough friction to stop it completely. */
#include "sim/contact.h"
#include "sim/hold.h"
#include "sim/stitches.h"

#include "base/parallel.h"
#include "base/timer.h"
#include "contact/closest.h"

#include <math.h>
#include <string.h>

static const double MADE_UP = 0.5;      /* share of a missing distance, in a step */
static const double SAME_NORMAL = 0.99; /* cosine between normals that are one */
static const double TOUCHING = 1e-9;    /* m: a gap that is none */
static const double PULL = 1e-3;        /* of its weight: a vertex that is pulled by more is released */
static const double TOLERATED = 0.03;   /* of what all touches carry: what may be pulled in a single step */

/* Sines of the angle by which edges wrap round the object, behind the tangent plane: where friction begins to fall,
 * and where there is none. The third is how far they are to one side, as a share of how far they are behind the plane
 * on average. */
static const double LEAST_WRAP = 0.5, MOST_WRAP = 0.7, AROUND = 0.5;

/* What rubs sticks after CALM steps with less than CALM_FRICTION of its greatest friction. In these steps velocities
 * must also change its friction by no more than CALM_CHANGE of it. */
static const double CALM = 8, CALM_FRICTION = 0.99, CALM_CHANGE = 0.01;

/* ---- Where objects go ---- */

/* Where what is at `from` on the object at the start of the step is at t. */
static void carry(const drape_i_contact *c, const drape_i_touch *touch, double t, const double from[3],
                  double to[3]) {
    const drape_i_world *w = c->world;
    double share = (t - c->start) / (c->end - c->start);
    memcpy(to, from, 3 * sizeof *to);
    if (!w->colliders->item[touch->collider].moves) return;
    if (touch->corner[0] < 0) {
        drape_i_collider_carry(w->colliders, touch->collider, c->start, t, from, to);
        return;
    }
    for (int32_t i = 0; i < 3; i++)
        for (int32_t k = 0; k < 3; k++) {
            int64_t at = 3 * (int64_t)touch->corner[i] + k;
            to[k] += touch->weight[i] * (share * (w->end[at] - w->start[at]));
        }
}

void drape_i_touch_velocity(const drape_i_contact *c, const drape_i_touch *touch, double v[3]) {
    double to[3];
    carry(c, touch, c->end, touch->p, to);
    for (int32_t k = 0; k < 3; k++) v[k] = (to[k] - touch->p[k]) / (c->end - c->start);
}

/* ---- Finding them ---- */

static drape_status add_touch(drape_i_contact *c, const drape_i_touch *touch) {
    drape_context *ctx = c->world->ctx;
    if (c->touches == c->touch_room) {
        int32_t room = c->touch_room + c->touch_room / 2 + 64;
        drape_i_touch *next;
        if (!DRAPE_NEW_RAW(ctx, next, room)) return DRAPE_ERROR_MEMORY;
        if (c->touches > 0) memcpy(next, c->touch, (size_t)c->touches * sizeof *next);
        DRAPE_FREE(ctx, c->touch, c->touch_room);
        c->touch = next;
        c->touch_room = room;
    }
    c->touch[c->touches] = *touch;
    c->touch[c->touches].spring = -1;
    c->touch[c->touches].next = c->first[touch->vertex];
    c->first[touch->vertex] = c->touches++;
    return DRAPE_OK;
}

/* m: what a vertex may fall in a step beyond where its velocity leads. */
static double band(const drape_sim *sim) {
    const double *g = sim->forces->outside.forces.gravity;
    double h = sim->contact->end - sim->contact->start;
    return 2 * h * h * sqrt(drape_i_dot3(g, g)) + 1e-9;
}

/* m: how far from the surface a vertex is held; well outside of what every pair must keep. */
static double margin_of(const drape_i_world *w, int32_t vertex, int32_t collider) {
    double distance = w->colliders->item[collider].thickness + 0.5 * w->thickness[vertex];
    return fmax(distance, 4 * drape_i_world_floor(w, distance, 0));
}

/* A candidate with all but what follows from vertex and collider; `ahead`: its gap where the vertex will be, as it
 * moves now. */
static drape_status consider(drape_sim *sim, drape_i_touch *touch, double ahead) {
    drape_i_contact *c = sim->contact;
    const drape_i_world *w = c->world;
    if (!(ahead < band(sim)) || c->inverse_mass[touch->vertex] == 0) return DRAPE_OK;
    if (drape_i_pinch_leaves(c, touch->vertex, touch->collider)) return DRAPE_OK;
    touch->friction = sqrt(w->friction[touch->vertex] * w->colliders->item[touch->collider].friction);
    touch->distance = margin_of(w, touch->vertex, touch->collider);
    if (touch->gap < -touch->distance) return DRAPE_OK; /* inside: it began so */
    const drape_i_standing *before = &c->standing[touch->vertex];
    bool stood = before->mode != DRAPE_I_FREE && before->collider == touch->collider;
    return stood || ahead < 0 || touch->gap < TOUCHING ? add_touch(c, touch) : DRAPE_OK;
}

typedef struct above {
    drape_sim *sim;
    int32_t collider;
    const double *point[2]; /* of the plane, at the beginning and at the end, as its normals */
    double normal[2][3];
    double band;
} above;

static double height_of(const double normal[3], const double *point, const double *x) {
    double height = 0;
    for (int32_t k = 0; k < 3; k++) height += normal[k] * (x[k] - point[k]);
    return height;
}

/* stamp: whether the vertex may touch the plane. Most are far above it. */
static void above_chunk(void *data, int64_t begin, int64_t end) {
    const above *a = data;
    const drape_i_world *w = a->sim->contact->world;
    for (int64_t v = begin; v < end; v++) {
        double ahead = height_of(a->normal[1], a->point[1], w->end + 3 * v);
        a->sim->contact->stamp[v] = ahead - margin_of(w, (int32_t)v, a->collider) < a->band;
    }
}

static drape_status touch_plane(drape_sim *sim, int32_t collider) {
    drape_i_contact *c = sim->contact;
    const drape_i_world *w = c->world;
    const int64_t first = 3 * ((int64_t)w->cloth_vertices + w->colliders->item[collider].first_point);
    above a = {.sim = sim, .collider = collider, .point = {w->start + first, w->end + first}, .band = band(sim)};
    drape_i_collider_normal(w->colliders, collider, w->start_time, a.normal[0]);
    drape_i_collider_normal(w->colliders, collider, w->end_time, a.normal[1]);
    drape_i_loop(sim->ctx, w->cloth_vertices, DRAPE_I_GRAIN, above_chunk, &a);
    for (int32_t v = 0; v < w->cloth_vertices; v++) {
        if (!c->stamp[v]) continue;
        double d = margin_of(w, v, collider), height = height_of(a.normal[0], a.point[0], w->start + 3 * (int64_t)v);
        double ahead = height_of(a.normal[1], a.point[1], w->end + 3 * (int64_t)v);
        drape_i_touch touch = {
            .vertex = v, .collider = collider, .corner = {-1}, .gap = height - d, .interior = true};
        for (int32_t k = 0; k < 3; k++) {
            touch.n[k] = a.normal[1][k];
            touch.p[k] = w->start[3 * (int64_t)v + k] - height * a.normal[0][k];
        }
        drape_status status = consider(sim, &touch, ahead - d);
        if (status) return status;
    }
    return DRAPE_OK;
}

/* From the nearest point of a sphere's centre or a capsule's segment. */
static drape_status touch_round(drape_sim *sim, int32_t collider, int32_t v) {
    const drape_i_world *w = sim->contact->world;
    const drape_i_collider *item = &w->colliders->item[collider];
    const int32_t a = w->cloth_vertices + item->first_point, pair[4] = {v, v, a, a + item->points - 1};
    double weight[4], e[3], ahead = 0, d = margin_of(w, v, collider);
    drape_i_closest(DRAPE_CCD_EDGE_EDGE, w->start, pair, weight);
    drape_i_between(w->start, pair, weight, e);
    double length = sqrt(drape_i_dot3(e, e));
    if (!(length > 0)) return DRAPE_OK;
    drape_i_touch touch = {
        .vertex = v, .collider = collider, .corner = {-1}, .gap = (length - item->radius) - d, .interior = true};
    for (int32_t k = 0; k < 3; k++) {
        touch.n[k] = e[k] / length;
        touch.p[k] = w->start[3 * (int64_t)v + k] - (length - item->radius) * touch.n[k];
    }
    drape_i_between(w->end, pair, weight, e);
    ahead = (drape_i_dot3(touch.n, e) - item->radius) - d;
    return consider(sim, &touch, ahead);
}

static drape_status touch_triangle(drape_sim *sim, const int32_t pair[4], int32_t collider) {
    const drape_i_world *w = sim->contact->world;
    double weight[4], e[3], d = margin_of(w, pair[0], collider);
    drape_i_closest(DRAPE_CCD_VERTEX_FACE, w->start, pair, weight);
    drape_i_between(w->start, pair, weight, e);
    double length = sqrt(drape_i_dot3(e, e));
    if (!(length > 0)) return DRAPE_OK;
    bool deforms = w->colliders->item[collider].deforms;
    drape_i_touch touch = {.vertex = pair[0], .collider = collider, .corner = {-1}, .gap = length - d};
    touch.interior = weight[1] < 0 && weight[2] < 0 && weight[3] < 0;
    for (int32_t k = 0; k < 3; k++) {
        touch.n[k] = e[k] / length;
        touch.p[k] = w->start[3 * (int64_t)pair[0] + k] - e[k];
        if (deforms) touch.corner[k] = pair[k + 1];
        touch.weight[k] = -weight[k + 1];
    }
    drape_i_between(w->end, pair, weight, e);
    return consider(sim, &touch, drape_i_dot3(touch.n, e) - d);
}

/* From the pairs of the broad phase; those of one round collider follow each other. */
static drape_status touch_pairs(drape_sim *sim) {
    drape_i_contact *c = sim->contact;
    const drape_i_pairs *pairs = &c->world->pairs[DRAPE_CCD_VERTEX_FACE];
    int32_t n = c->world->cloth_vertices;
    drape_status status = DRAPE_OK;
    memset(c->stamp, 0, (size_t)n * sizeof *c->stamp);
    for (int64_t i = 0; i < pairs->count && !status; i++) {
        const int32_t *v = pairs->vertex[i];
        int32_t collider = pairs->collider[i];
        if (collider < 0) continue;
        if (pairs->round[i] == 0 && v[0] < n) status = touch_triangle(sim, v, collider);
        for (int32_t k = 1; pairs->round[i] > 0 && k < 4 && !status; k++) {
            if (c->stamp[v[k]] == collider + 1) continue;
            c->stamp[v[k]] = collider + 1;
            status = touch_round(sim, collider, v[k]);
        }
    }
    return status;
}

/* ---- Which of them act, and how ---- */

/* The nearest, and others that face another way. */
static drape_i_touch *choose(drape_i_contact *c, int32_t vertex) {
    drape_i_touch *nearest = NULL;
    const drape_i_touch *chosen[3];
    int32_t count = 1;
    for (int32_t i = c->first[vertex]; i >= 0; i = c->touch[i].next)
        if (!nearest || c->touch[i].gap < nearest->gap) nearest = &c->touch[i];
    if (!nearest) return NULL;
    nearest->chosen = true;
    chosen[0] = nearest;
    for (int32_t i = c->first[vertex]; i >= 0 && count < 3; i = c->touch[i].next) {
        drape_i_touch *other = &c->touch[i];
        bool differs = other->interior && !other->chosen;
        for (int32_t k = 0; k < count; k++) differs &= drape_i_dot3(other->n, chosen[k]->n) < SAME_NORMAL;
        if (!differs) continue;
        other->chosen = true;
        other->mode = DRAPE_I_RUBS;
        chosen[count++] = other;
    }
    return nearest;
}

/* How much of its friction a vertex has. Where an edge of the cloth goes from the vertex round a rim of the object,
 * tension presses the vertex on one face and hardly pulls it along. It would stay within the cone of friction,
 * however strong the pull, and the cloth would be torn. Cloth that bends, not an edge, would pass the load on to the
 * rim and slide. So there is none where an edge lies deep behind the tangent plane, unless its neighbours are behind
 * it on all sides, as on the tip of a spike. */
static double friction_share(const drape_sim *sim, const drape_i_touch *touch) {
    drape_bsr3 A = drape_matrix_view(sim->A);
    const double *x = sim->contact->x0, *at = x + 3 * (int64_t)touch->vertex;
    double sum[3] = {0}, deepest = 0;
    for (int64_t i = A.rowptr[touch->vertex]; i < A.rowptr[touch->vertex + 1]; i++) {
        double d[3], length;
        for (int32_t k = 0; k < 3; k++) d[k] = x[3 * (int64_t)A.col[i] + k] - at[k];
        length = sqrt(drape_i_dot3(d, d));
        if (!(length > 0)) continue;
        for (int32_t k = 0; k < 3; k++) sum[k] += d[k] / length;
        deepest = fmax(deepest, -drape_i_dot3(touch->n, d) / length);
    }
    double along = drape_i_dot3(touch->n, sum), across = sqrt(fmax(drape_i_dot3(sum, sum) - along * along, 0));
    double aside = fmin(across / (AROUND * fabs(along)), 1);
    return 1 - aside * fmin(fmax((deepest - LEAST_WRAP) / (MOST_WRAP - LEAST_WRAP), 0), 1);
}

/* The velocity relative to the object, with a share of gravity, split into its part along n and the rest. */
static double relative(const drape_sim *sim, const drape_i_touch *touch, double share, double along[3]) {
    const double *g = sim->forces->outside.forces.gravity;
    double v[3];
    drape_i_touch_velocity(sim->contact, touch, v);
    for (int32_t k = 0; k < 3; k++) along[k] = (sim->v[3 * (int64_t)touch->vertex + k] - v[k]) + share * g[k];
    double normal = drape_i_dot3(along, touch->n);
    for (int32_t k = 0; k < 3; k++) along[k] -= normal * touch->n[k];
    return normal;
}

/* A vertex that did not touch this object before. */
static drape_status arrive(drape_sim *sim, drape_i_touch *touch, double h) {
    double u[3], mass = drape_cloth_mass(sim->cloth)[touch->vertex];
    double normal = relative(sim, touch, h, u), speed = sqrt(drape_i_dot3(u, u));
    double stop = -(touch->gap > 0 ? touch->gap / h : 0) - normal; /* m/s: the change along n */
    double most = touch->friction * (stop > 0 ? stop : 0);
    touch->mode = speed <= most && touch->friction > 0 ? DRAPE_I_STICKS : DRAPE_I_RUBS;
    if (touch->mode == DRAPE_I_STICKS) return DRAPE_OK;
    double limit = mass * most / h;
    for (int32_t k = 0; k < 3; k++) u[k] *= -limit / speed;
    return drape_i_contact_add_rub(sim, touch, limit, u);
}

static drape_status stay(drape_sim *sim, drape_i_touch *touch, const drape_i_standing *before) {
    touch->mode = (drape_i_touch_mode)before->mode;
    if (touch->mode != DRAPE_I_RUBS) return DRAPE_OK;
    return drape_i_contact_add_rub(sim, touch, touch->friction * before->load, before->force);
}

/* stamp gets 1 + the touch that is chosen first; 0: none. */
static void choose_chunk(void *data, int64_t begin, int64_t end) {
    const drape_sim *sim = data;
    drape_i_contact *c = sim->contact;
    for (int64_t v = begin; v < end; v++) {
        drape_i_touch *touch = c->first[v] >= 0 ? choose(c, (int32_t)v) : NULL;
        c->stamp[v] = touch ? 1 + (int32_t)(touch - c->touch) : 0;
        if (touch) touch->friction *= friction_share(sim, touch);
    }
}

static drape_status choose_modes(drape_sim *sim) {
    drape_i_contact *c = sim->contact;
    drape_status status = DRAPE_OK;
    double h = c->end - c->start;
    drape_i_loop(sim->ctx, sim->vertices, DRAPE_I_GRAIN, choose_chunk, sim);
    for (int32_t v = 0; v < sim->vertices && !status; v++) {
        if (c->stamp[v] == 0) continue;
        drape_i_touch *touch = &c->touch[c->stamp[v] - 1];
        const drape_i_standing *before = &c->standing[v];
        bool same = before->mode != DRAPE_I_FREE && before->collider == touch->collider;
        status = same ? stay(sim, touch, before) : arrive(sim, touch, h);
        touch->new_mode = !same || touch->mode != (drape_i_touch_mode)before->mode;
    }
    return status;
}

/* Which vertices cannot be moved: those that pins hold in three directions, one pin or several together. */
static void find_movable(drape_sim *sim) {
    drape_i_contact *c = sim->contact;
    const double *mass = drape_cloth_mass(sim->cloth);
    memset(c->stamp, 0, (size_t)sim->vertices * sizeof *c->stamp);
    for (int32_t p = 0, i = 0; p < sim->pin_count; p++)
        for (int32_t k = 0; k < sim->pins[p].count; k++, i++)
            if (drape_i_pin_is_held(sim, p)) c->stamp[sim->pinned[i].vertex] += sim->pins[p].directions;
    for (int32_t i = 0; sim->hold && i < sim->hold->count; i++)
        if (!sim->hold->seen[sim->hold->vertex[i]]) c->stamp[sim->hold->vertex[i]] = 3;
    for (int32_t i = 0; i < sim->vertices; i++) c->inverse_mass[i] = c->stamp[i] >= 3 ? 0 : 1 / mass[i];
    drape_i_stitches_spread_holds(sim, c->inverse_mass);
}

static void predict(const drape_sim *sim, double h, double *x) {
    for (int64_t i = 0; i < drape_i_sim_numbers(sim); i++) x[i] = sim->x[i] + h * sim->v[i];
}

drape_status drape_i_contact_begin(drape_sim *sim, double t0, double t1) {
    drape_i_contact *c = sim->contact;
    double began = drape_i_seconds();
    c->no_room = false;
    c->start = t0;
    c->end = t1;
    drape_i_contact_uncouple(sim);
    c->touches = c->springs = 0;
    c->slide = 0;
    for (int32_t i = 0; i < sim->vertices; i++) c->first[i] = -1;
    drape_i_stitches_weld(sim, sim->x, t1);
    find_movable(sim);
    memcpy(c->x0, sim->x, (size_t)drape_i_sim_numbers(sim) * sizeof *c->x0);
    memcpy(c->v0, sim->v, (size_t)drape_i_sim_numbers(sim) * sizeof *c->v0);
    predict(sim, t1 - t0, c->ahead);
    drape_i_world_set_motion(c->world, sim->x, t0, c->ahead, t1);
    drape_i_pinch_begin(sim);
    drape_status status = drape_i_contact_exempt(sim, t0);
    if (!status) status = drape_i_world_find(c->world, c->settings.distance, band(sim));
    c->searched = !status;
    c->did.broad += drape_i_seconds() - began;
    if (!status) drape_i_pinch_lead(sim);
    for (int32_t i = 0; i < c->world->plane_count && !status; i++) status = touch_plane(sim, c->world->plane[i]);
    if (!status) status = touch_pairs(sim);
    if (status) return status;
    status = choose_modes(sim);
    return status ? status : drape_i_contact_find_springs(sim);
}

/* ---- What they ask for ---- */

static bool acts(const drape_i_touch *touch) { return touch->chosen && !touch->released; }

/* m: how much nearer than at the start a vertex is to be at t. */
static double nearer(const drape_i_contact *c, const drape_i_touch *touch, double t) {
    double share = (t - c->start) / (c->end - c->start);
    return share * (touch->gap > 0 ? touch->gap : MADE_UP * touch->gap);
}

static drape_status ask_normal(drape_sim *sim, const drape_i_touch *touch, const drape_i_aim *aim) {
    drape_constraint constraint = {.vertex = touch->vertex, .directions = 1};
    double p[3], wanted = touch->distance + (touch->gap - nearer(sim->contact, touch, aim->t));
    int64_t at = 3 * (int64_t)touch->vertex;
    carry(sim->contact, touch, aim->t, touch->p, p);
    double there = wanted, now = 0;
    for (int32_t k = 0; k < 3; k++) {
        there += touch->n[k] * (p[k] - aim->x[at + k]);
        now += aim->v ? touch->n[k] * aim->v[at + k] : 0;
    }
    double z = aim->factor * (there / aim->c - now);
    for (int32_t k = 0; k < 3; k++) {
        constraint.direction[0][k] = touch->n[k];
        constraint.z[k] = z * touch->n[k];
    }
    return drape_i_stitches_add_contact(sim, sim->pin_count + touch->collider, &constraint);
}

static drape_status ask_all(drape_sim *sim, const drape_i_touch *touch, const drape_i_aim *aim) {
    drape_constraint constraint = {.vertex = touch->vertex, .directions = 3};
    int64_t at = 3 * (int64_t)touch->vertex;
    double to[3], closer = nearer(sim->contact, touch, aim->t);
    carry(sim->contact, touch, aim->t, sim->contact->x0 + at, to);
    for (int32_t k = 0; k < 3; k++) {
        double target = to[k] - closer * touch->n[k];
        constraint.z[k] = aim->factor * ((target - aim->x[at + k]) / aim->c - (aim->v ? aim->v[at + k] : 0));
    }
    return drape_i_stitches_add_contact(sim, sim->pin_count + touch->collider, &constraint);
}

/* The touch of a vertex that sticks; NULL: none. */
static const drape_i_touch *sticking(const drape_i_contact *c, int32_t vertex) {
    for (int32_t i = c->first[vertex]; i >= 0; i = c->touch[i].next)
        if (acts(&c->touch[i]) && c->touch[i].mode == DRAPE_I_STICKS) return &c->touch[i];
    return NULL;
}

drape_status drape_i_contact_constrain(drape_sim *sim, const drape_i_aim *aim) {
    const drape_i_contact *c = sim->contact;
    drape_status status = DRAPE_OK;
    for (int32_t v = 0; v < sim->vertices && !status; v++) {
        const drape_i_touch *stuck = c->first[v] >= 0 ? sticking(c, v) : NULL;
        if (stuck) status = ask_all(sim, stuck, aim);
        for (int32_t i = c->first[v]; i >= 0 && !stuck && !status; i = c->touch[i].next)
            if (acts(&c->touch[i])) status = ask_normal(sim, &c->touch[i], aim);
    }
    return status;
}

/* ---- What they carry ---- */

/* f = sum of share_k n_k over the touches of a vertex that act, in least squares (Gauss and Seidel: the normals are
 * no more than three, and apart). Returns how many. */
static int32_t shares_of(drape_i_contact *c, int32_t vertex, const double f[3], drape_i_touch *touch[3],
                         double share[3]) {
    int32_t count = 0;
    for (int32_t i = c->first[vertex]; i >= 0 && count < 3; i = c->touch[i].next)
        if (acts(&c->touch[i])) touch[count++] = &c->touch[i];
    double rest[3] = {f[0], f[1], f[2]};
    for (int32_t i = 0; i < count; i++) share[i] = 0;
    for (int32_t sweep = 0; sweep < (count > 1 ? 30 : 1); sweep++)
        for (int32_t i = 0; i < count; i++) {
            double part = drape_i_dot3(rest, touch[i]->n);
            share[i] += part;
            for (int32_t k = 0; k < 3; k++) rest[k] -= part * touch[i]->n[k];
        }
    return count;
}

/* Whether the vertex was pulled at the end of the step before, and not let go. */
static bool pulled_before(const drape_i_contact *c, const drape_i_touch *touch) {
    const drape_i_standing *before = &c->standing[touch->vertex];
    return before->load < 0 && before->collider == touch->collider;
}

/* Notes which touches the last solve found to pull. Whether these must be let go: some of them pulled in the step
 * before, too, or they are more than a share of all that is carried. */
static bool must_release(drape_sim *sim, const double *force, double factor, const double *carried, double weight) {
    drape_i_contact *c = sim->contact;
    const double *mass = drape_cloth_mass(sim->cloth);
    double pushed = 0, pulled = 0;
    bool again = false;
    for (int32_t v = 0; v < sim->vertices; v++) {
        drape_i_touch *touch[3];
        double f[3], share[3];
        if (c->first[v] < 0) continue;
        for (int32_t k = 0; k < 3; k++) {
            int64_t at = 3 * (int64_t)v + k;
            f[k] = factor * force[at] - (carried ? carried[at] : 0);
        }
        int32_t count = shares_of(c, v, f, touch, share);
        for (int32_t i = 0; i < count; i++) {
            bool pulls = share[i] < -weight * mass[v];
            touch[i]->pulls = pulls;
            *(pulls ? &pulled : &pushed) += share[i] * share[i];
            again |= pulls && pulled_before(c, touch[i]);
        }
    }
    return again || pulled > TOLERATED * TOLERATED * pushed;
}

int32_t drape_i_contact_release(drape_sim *sim, const double *force, double factor, const double *carried) {
    drape_i_contact *c = sim->contact;
    const double *g = sim->forces->outside.forces.gravity;
    double weight = PULL * sqrt(drape_i_dot3(g, g)) * sim->matrix_c;
    int32_t released = 0;
    if (!must_release(sim, force, factor, carried, weight)) return 0;
    for (int32_t i = 0; i < c->touches; i++) {
        if (!acts(&c->touch[i]) || !c->touch[i].pulls) continue;
        c->touch[i].released = true;
        released++;
    }
    c->did.released += released;
    return released;
}

/* A vertex that S held by f (N), pressed on by `load` of it. */
static drape_i_standing after_sticking(const drape_i_touch *touch, const double f[3], double load) {
    drape_i_standing s = {.mode = DRAPE_I_STICKS, .collider = touch->collider, .load = load};
    double along = drape_i_dot3(f, touch->n), limit = touch->friction * load;
    for (int32_t k = 0; k < 3; k++) s.force[k] = f[k] - along * touch->n[k];
    double drag = sqrt(drape_i_dot3(s.force, s.force));
    if (!(drag > limit)) return s;
    s.mode = DRAPE_I_RUBS;
    for (int32_t k = 0; k < 3; k++) s.force[k] *= limit / drag;
    return s;
}

static drape_i_standing after_rubbing(const drape_sim *sim, const drape_i_touch *touch, double load) {
    const drape_i_contact *c = sim->contact;
    drape_i_standing s = {.mode = DRAPE_I_RUBS, .collider = touch->collider, .load = load};
    double u[3], h = c->end - c->start;
    if (touch->spring < 0) return s;
    const drape_i_contact_spring *spring = &c->spring[touch->spring];
    double share = drape_i_contact_friction(sim, spring, c->end, sim->x, s.force);
    relative(sim, touch, 0, u);
    double change = spring->stiff * h * sqrt(drape_i_dot3(u, u));
    bool calm = share <= CALM_FRICTION && change <= CALM_CHANGE * spring->limit;
    s.calm = calm ? c->standing[touch->vertex].calm + 1 : 0;
    if (s.calm >= CALM) s.mode = DRAPE_I_STICKS;
    return s;
}

void drape_i_contact_finish(drape_sim *sim, const double *impulse) {
    drape_i_contact *c = sim->contact;
    double h = c->end - c->start;
    const double *g = sim->forces->outside.forces.gravity;
    double weight = PULL * sqrt(drape_i_dot3(g, g));
    c->did.count = c->did.held = c->did.sliding = 0;
    for (int32_t v = 0; v < sim->vertices; v++) {
        drape_i_touch *touch[3];
        drape_i_standing now = {.mode = DRAPE_I_FREE};
        double f[3], share[3];
        for (int32_t k = 0; k < 3; k++) f[k] = impulse[3 * (int64_t)v + k] / h;
        int32_t count = c->first[v] >= 0 ? shares_of(c, v, f, touch, share) : 0;
        for (int32_t i = 0; i < count; i++) {
            if (share[i] < -weight * drape_cloth_mass(sim->cloth)[v] && now.mode == DRAPE_I_FREE)
                now.collider = touch[i]->collider, now.load = share[i];
            if (!(share[i] > fmax(now.load, 0))) continue;
            now = touch[i]->mode == DRAPE_I_STICKS ? after_sticking(touch[i], f, share[i])
                                                   : after_rubbing(sim, touch[i], share[i]);
        }
        c->standing[v] = now;
        c->did.count += count;
        c->did.held += now.mode == DRAPE_I_STICKS || now.calm > 0;
        c->did.sliding += now.mode == DRAPE_I_RUBS && now.calm == 0;
    }
    drape_i_contact_remember(sim);
}
