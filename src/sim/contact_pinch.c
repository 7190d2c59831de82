/* contact_pinch.c: cloth for which colliders leave no space.
 *
 * Bodies pass through themselves at knees and armpits, and no cloth can follow both surfaces there (Baraff, Witkin
 * and Kass 2003, section 3). A vertex is caught where the normals n of two colliders oppose each other and its gaps g
 * to them are too small. That is, the gaps at the end of the step add up to less than the distances d that it should
 * have. Held on both, it would be squeezed out sideways. Instead, it is moved along m, the difference of both
 * normals, to the mean of the positions that the two surfaces prescribe:
 *
 *   m.x(t) = m.x0 + (t - t0) u,   h u = m . mean of [ what the surface moves it + h/T (d - g) n ]
 *
 * Across m it follows the fabric. When it was led in all directions,
 * cloth between thighs that pass each other was stretched to four times its length.
 *
 * Where caught vertices have less than half of the space that they need, and where a step finds none at all, they set
 * these colliders aside. No part of the cloth with such a vertex is kept apart from those. While a vertex is inside
 * of a collider that it has set aside it is led in the same way. Where it is not caught, it is led out of that
 * collider, by h/T (d - g) + h v. A collider counts again when no triangle around the vertex is nearer to it
 * than twice the floor, or inside, and the vertex is not caught. So the cloth is outside of the collider, where it
 * came from, when the collider counts again. Only colliders with an inside are set aside.
 *
 * All of this follows from the state at the beginning of the step and from `aside`, which is in checkpoints. */
#include "sim/contact.h"
#include "sim/stitches.h"

#include "contact/closest.h"
#include "contact/solid.h"

#include <math.h>
#include <string.h>

static const double OPPOSED = -0.5; /* cosine between normals: colliders with less between them pinch */
static const double OUTSIDE = 2;    /* times the floor: what is farther out is taken up again */
static const double SQUEEZED = 0.5; /* of the room that it needs: cloth with less yields, before it is squeezed out */
static const double WIDE = 4;       /* thicknesses: what may lie between cloth and the collider on its other side */
static const double CENTRE_TIME = 0.02;               /* s: T, in which cloth gets to the middle */
static const double OUT_TIME = 0.01, OUT_SPEED = 0.2; /* s, m/s: T and v, how fast it gets out */

typedef struct drape_i_pinches {
    int8_t *side; /* one per collider: drape_i_solid_sides */
    /* One per vertex of the cloth; NULL where nothing ever yields: */
    drape_i_aside *aside, *before; /* now, and before the step of the scene */
    drape_i_aside *near;           /* scratch: colliders in whose pairs a vertex is */
    drape_i_aside *gap;            /* m, to each that is set aside: of the vertex and the triangles around it */
    double *direction, *velocity;  /* 3 doubles each: in which it is led, unit; and how, m/s */
    uint8_t *led, *caught;         /* is led; was caught in this step */
    int64_t count;                 /* of vertices that set something aside */
} drape_i_pinches;

/* ---- Creating ---- */

drape_status drape_i_pinch_create(drape_sim *sim) {
    drape_i_contact *c = sim->contact;
    drape_i_pinches *p;
    int64_t n = sim->vertices, colliders = c->world->colliders ? c->world->colliders->count : 0;
    if (!DRAPE_NEW(sim->ctx, p, 1)) return DRAPE_ERROR_MEMORY;
    c->pinches = p;
    if (!DRAPE_NEW(sim->ctx, p->side, colliders)) return DRAPE_ERROR_MEMORY;
    drape_status status = drape_i_solid_sides(c->world, p->side);
    if (status || c->settings.pinch == DRAPE_PINCH_FAIL || colliders == 0) return status;
    if (!DRAPE_NEW(sim->ctx, p->aside, n) || !DRAPE_NEW(sim->ctx, p->before, n) || !DRAPE_NEW(sim->ctx, p->near, n) ||
        !DRAPE_NEW(sim->ctx, p->gap, n) || !DRAPE_NEW(sim->ctx, p->velocity, 3 * n) ||
        !DRAPE_NEW(sim->ctx, p->direction, 3 * n) || !DRAPE_NEW(sim->ctx, p->led, n) ||
        !DRAPE_NEW(sim->ctx, p->caught, n))
        return DRAPE_ERROR_MEMORY;
    return DRAPE_OK;
}

void drape_i_pinch_destroy(drape_sim *sim) {
    drape_i_contact *c = sim->contact;
    drape_i_pinches *p = c->pinches;
    int64_t n = sim->vertices;
    if (!p) return;
    DRAPE_FREE(sim->ctx, p->side, c->world->colliders ? c->world->colliders->count : 0);
    DRAPE_FREE(sim->ctx, p->aside, n);
    DRAPE_FREE(sim->ctx, p->before, n);
    DRAPE_FREE(sim->ctx, p->near, n);
    DRAPE_FREE(sim->ctx, p->gap, n);
    DRAPE_FREE(sim->ctx, p->velocity, 3 * n);
    DRAPE_FREE(sim->ctx, p->direction, 3 * n);
    DRAPE_FREE(sim->ctx, p->led, n);
    DRAPE_FREE(sim->ctx, p->caught, n);
    DRAPE_FREE(sim->ctx, c->pinches, 1);
}

/* ---- Lists of colliders ---- */

static int32_t collider_at(const drape_i_aside *a, int32_t k) { return (int32_t)a->collider[k] - 1; }

static int32_t length_of(const drape_i_aside *a) {
    int32_t count = 0;
    while (count < DRAPE_I_MOST_ASIDE && a->collider[count] > 0) count++;
    return count;
}

/* Keeps them rising. False where it is in the list, or has no place there. */
static bool insert(drape_i_aside *a, int32_t collider) {
    int32_t count = length_of(a), at = count;
    for (int32_t k = 0; k < count; k++)
        if (collider_at(a, k) == collider) return false;
    if (count == DRAPE_I_MOST_ASIDE) return false;
    for (; at > 0 && collider_at(a, at - 1) > collider; at--) a->collider[at] = a->collider[at - 1];
    a->collider[at] = collider + 1;
    return true;
}

static void recount(drape_sim *sim) {
    drape_i_pinches *p = sim->contact->pinches;
    p->count = 0;
    for (int32_t v = 0; v < sim->vertices; v++) p->count += p->aside[v].collider[0] > 0;
    sim->contact->world->aside = p->count > 0 ? p->aside : NULL;
}

int64_t drape_i_pinch_count(const drape_i_contact *c) { return c->pinches->count; }

/* ---- Checkpoints, and steps that fail ---- */

drape_i_aside *drape_i_pinch_state(const drape_sim *sim) { return sim->contact->pinches->aside; }

bool drape_i_pinch_is_state(const drape_sim *sim, const char *bytes) {
    const drape_i_contact *c = sim->contact;
    for (int32_t v = 0; v < sim->vertices; v++) {
        drape_i_aside a;
        memcpy(&a, bytes + (size_t)v * sizeof a, sizeof a);
        for (int32_t k = 0; k < DRAPE_I_MOST_ASIDE; k++) {
            double now = a.collider[k], before = k > 0 ? a.collider[k - 1] : 0;
            if (now == 0) continue;
            bool rises = now > before && (k == 0 || before > 0);
            if (!rises || now != floor(now) || now > c->world->colliders->count) return false;
            if (c->pinches->side[(int32_t)now - 1] == 0) return false;
        }
    }
    return true;
}

void drape_i_pinch_start(drape_sim *sim) {
    drape_i_pinches *p = sim->contact->pinches;
    if (!p->aside) return;
    memcpy(p->before, p->aside, (size_t)sim->vertices * sizeof *p->aside);
    memset(p->caught, 0, (size_t)sim->vertices);
}

void drape_i_pinch_take_back(drape_sim *sim) {
    drape_i_pinches *p = sim->contact->pinches;
    if (!p->aside) return;
    memcpy(p->aside, p->before, (size_t)sim->vertices * sizeof *p->aside);
    recount(sim);
}

/* ---- Which vertices are caught ---- */

/* m: how far from the surface cloth should be, and has to be. */
static double distance_of(const drape_i_world *w, int32_t vertex, int32_t collider) {
    return w->colliders->item[collider].thickness + 0.5 * w->thickness[vertex];
}

static double floor_of(const drape_i_world *w, int32_t vertex, int32_t collider) {
    return drape_i_world_floor(w, distance_of(w, vertex, collider), 0);
}

static drape_i_solid_near seen_from(const drape_i_contact *c, int32_t collider, bool at_end, const double p[3]) {
    return drape_i_solid_from(c->world, collider, c->pinches->side[collider], at_end, p);
}

/* At the end of the step; but a mesh that is open at its start: it may pass p, and be on the other side. */
static drape_i_solid_near seen_later(const drape_i_contact *c, int32_t collider, const double p[3]) {
    return seen_from(c, collider, c->pinches->side[collider] != 0, p);
}

/* Whether both leave less than `room` to p. */
static bool oppose(const drape_i_solid_near *a, const drape_i_solid_near *b, double room) {
    return drape_i_dot3(a->n, b->n) < OPPOSED && a->gap + b->gap < room;
}

/* Bits: which of the list catch a vertex between them, and leave it less than a share of the room that it needs. */
static uint32_t caught_by(const drape_i_contact *c, int32_t vertex, const drape_i_aside *list, double share) {
    drape_i_solid_near near[DRAPE_I_MOST_ASIDE];
    int32_t count = length_of(list);
    uint32_t bits = 0;
    for (int32_t i = 0; i < count && count > 1; i++)
        near[i] = seen_later(c, collider_at(list, i), c->world->start + 3 * (int64_t)vertex);
    for (int32_t i = 0; i < count; i++)
        for (int32_t j = 0; j < i; j++) {
            double room = share * (distance_of(c->world, vertex, collider_at(list, i)) +
                                   distance_of(c->world, vertex, collider_at(list, j)));
            double least = 4 * floor_of(c->world, vertex, collider_at(list, i)); /* for cloth of no thickness */
            if (oppose(&near[i], &near[j], fmax(room, least))) bits |= 1u << i | 1u << j;
        }
    return bits;
}

/* ---- The trouble of the last response ---- */

/* The cloth of it: vertices, and the point that is nearest to the collider. */
typedef struct stuck_cloth {
    int32_t count, vertex[4];
    double p[3];
    int32_t collider; /* -1: none */
} stuck_cloth;

static stuck_cloth find_stuck(const drape_i_contact *c) {
    const drape_i_trouble *t = drape_i_response_trouble_of(c->response);
    const drape_i_world *w = c->world;
    stuck_cloth s = {.collider = t->collider};
    if (t->kind == DRAPE_I_TROUBLE_PLANE) {
        s.vertex[s.count++] = t->vertex[0];
        memcpy(s.p, w->start + 3 * (int64_t)t->vertex[0], sizeof s.p);
    }
    if (t->kind != DRAPE_I_TROUBLE_PAIR) return s;
    double weight[4];
    drape_i_closest(t->pair, w->start, t->vertex, weight);
    for (int32_t i = 0; i < 4; i++) {
        if (t->vertex[i] >= w->cloth_vertices) continue;
        s.vertex[s.count++] = t->vertex[i];
        for (int32_t k = 0; k < 3; k++) s.p[k] += fabs(weight[i]) * w->start[3 * (int64_t)t->vertex[i] + k];
    }
    return s;
}

/* The nearest of the colliders that face the one it is stuck at; -1: none. */
static int32_t across(const drape_i_contact *c, const stuck_cloth *s, double more) {
    const drape_i_world *w = c->world;
    int32_t found = -1;
    if (s->collider < 0 || s->count == 0) return -1;
    double least = INFINITY, own = distance_of(w, s->vertex[0], s->collider) + more;
    drape_i_solid_near near = seen_later(c, s->collider, s->p);
    for (int32_t i = 0; i < w->colliders->count; i++) {
        if (i == s->collider) continue;
        drape_i_solid_near other = seen_later(c, i, s->p);
        double room = own + distance_of(w, s->vertex[0], i) + 4 * floor_of(w, s->vertex[0], i);
        if (!oppose(&near, &other, room) || !(other.gap < least)) continue;
        least = other.gap;
        found = i;
    }
    return found;
}

int32_t drape_i_pinch_other(const drape_i_contact *c) {
    stuck_cloth s = find_stuck(c);
    return across(c, &s, WIDE * c->world->thickest);
}

/* ---- Yielding ---- */

static bool set_aside(drape_i_contact *c, int32_t vertex, int32_t collider) {
    drape_i_pinches *p = c->pinches;
    if (collider < 0 || p->side[collider] == 0 || !insert(&p->aside[vertex], collider)) return false;
    p->caught[vertex] = 1;
    return true;
}

/* Lists for every vertex which colliders it may meet in the step, or it or a neighbour has set aside. */
static void list_near(drape_i_contact *c) {
    const drape_i_world *w = c->world;
    drape_i_pinches *p = c->pinches;
    memcpy(p->near, p->aside, (size_t)w->cloth_vertices * sizeof *p->near);
    for (int32_t t = 0; t < w->triangles && p->count > 0; t++)
        for (int32_t i = 0; i < 9; i++) {
            const drape_i_aside *from = &p->aside[w->triangle[t][i / 3]];
            for (int32_t k = 0; k < length_of(from); k++)
                insert(&p->near[w->triangle[t][i % 3]], collider_at(from, k));
        }
    for (int32_t kind = 0; kind < 2; kind++)
        for (int64_t i = 0; i < w->pairs[kind].count; i++)
            for (int32_t k = 0; k < 4 && w->pairs[kind].collider[i] >= 0; k++) {
                int32_t v = w->pairs[kind].vertex[i][k];
                if (v < w->cloth_vertices) insert(&p->near[v], w->pairs[kind].collider[i]);
            }
    for (int32_t k = 0; k < w->plane_count; k++)
        for (int32_t v = 0; v < w->cloth_vertices; v++) {
            double near = 2 * fmax(distance_of(w, v, w->plane[k]), 4 * floor_of(w, v, w->plane[k]));
            if (p->near[v].collider[0] > 0 && seen_later(c, w->plane[k], w->start + 3 * (int64_t)v).gap < near)
                insert(&p->near[v], w->plane[k]);
        }
}

static bool set_caught_aside(drape_i_contact *c, double share) {
    drape_i_pinches *p = c->pinches;
    bool any = false;
    for (int32_t v = 0; v < c->world->cloth_vertices; v++) {
        uint32_t bits = caught_by(c, v, &p->near[v], share);
        for (int32_t k = 0; k < DRAPE_I_MOST_ASIDE; k++)
            if (bits >> k & 1) any |= set_aside(c, v, collider_at(&p->near[v], k));
    }
    return any;
}

/* Cloth that is stuck at cloth: colliders press on it, if anything does. */
static bool set_pressing_aside(drape_i_contact *c, const stuck_cloth *s) {
    const drape_i_world *w = c->world;
    bool any = false;
    for (int32_t i = 0; i < s->count; i++)
        for (int32_t k = 0; k < w->colliders->count; k++) {
            double near = distance_of(w, s->vertex[i], k) + WIDE * w->thickest;
            if (seen_later(c, k, w->start + 3 * (int64_t)s->vertex[i]).gap < near)
                any |= set_aside(c, s->vertex[i], k);
        }
    return any;
}

bool drape_i_pinch_yield(drape_sim *sim, bool last) {
    drape_i_contact *c = sim->contact;
    if (!c->pinches->aside) return false;
    stuck_cloth s = find_stuck(c);
    int32_t other = across(c, &s, last ? WIDE * c->world->thickest : 0);
    bool any = false;
    if (other < 0 && !last) return false;
    for (int32_t i = 0; i < s.count; i++) {
        any |= set_aside(c, s.vertex[i], s.collider);
        any |= set_aside(c, s.vertex[i], other);
    }
    if (other >= 0) {
        list_near(c);
        any |= set_caught_aside(c, 1);
    }
    if (s.collider < 0 && last) any |= set_pressing_aside(c, &s);
    return any;
}

/* ---- Taking up again ---- */

static void see_vertices(drape_i_contact *c) {
    drape_i_pinches *p = c->pinches;
    for (int32_t v = 0; v < c->world->cloth_vertices; v++)
        for (int32_t k = 0; k < length_of(&p->aside[v]); k++)
            p->gap[v].collider[k] =
                seen_from(c, collider_at(&p->aside[v], k), false, c->world->start + 3 * (int64_t)v).gap;
}

/* A triangle that crosses a collider pushes its vertices out, if they are out themselves, as if they were in by d. */
static void see_triangles(drape_i_contact *c) {
    const drape_i_world *w = c->world;
    drape_i_pinches *p = c->pinches;
    for (int32_t t = 0; t < w->triangles; t++)
        for (int32_t i = 0; i < 3; i++) {
            int32_t v = w->triangle[t][i];
            for (int32_t k = 0; k < length_of(&p->aside[v]); k++) {
                int32_t collider = collider_at(&p->aside[v], k);
                double d = distance_of(w, v, collider), deep = -fmax(d, floor_of(w, v, collider));
                double gap = drape_i_solid_to_triangle(w, collider, p->side[collider], w->triangle[t],
                                                       2 * OUTSIDE * fmax(d, floor_of(w, v, collider)));
                p->gap[v].collider[k] = fmin(p->gap[v].collider[k], fmax(gap, deep));
            }
        }
}

/* Takes up what is outside. Caught in this step, it stays. */
static void take_up(drape_i_contact *c, int32_t v) {
    drape_i_pinches *p = c->pinches;
    drape_i_aside *a = &p->aside[v], *gap = &p->gap[v], now = *a;
    uint32_t caught = caught_by(c, v, a, 1);
    int32_t kept = 0, count = length_of(a);
    for (int32_t k = 0; k < count; k++) {
        bool out = gap->collider[k] > OUTSIDE * floor_of(c->world, v, collider_at(&now, k));
        if (out && !(caught >> k & 1)) continue;
        a->collider[kept] = now.collider[k];
        gap->collider[kept++] = gap->collider[k];
    }
    while (kept < count) a->collider[kept++] = 0;
}

/* ---- Where it goes ---- */

/* Where the surfaces would put a vertex. */
typedef struct wish {
    double moved[3]; /* m: sum over the surfaces */
    int32_t count;
    double n[DRAPE_I_MOST_ASIDE][3], missing[DRAPE_I_MOST_ASIDE]; /* out of each; m: of the distance from it */
} wish;

static void add_wish(const drape_i_contact *c, int32_t v, int32_t collider, double gap, wish *sum) {
    const drape_i_world *w = c->world;
    const double *x = w->start + 3 * (int64_t)v;
    drape_i_solid_near near = seen_from(c, collider, false, x);
    double to[3] = {x[0], x[1], x[2]};
    if (!w->colliders->item[collider].deforms)
        drape_i_collider_carry(w->colliders, collider, c->start, c->end, x, to);
    for (int32_t i = 0; i < 3 && w->colliders->item[collider].deforms; i++)
        for (int32_t k = 0; k < 3; k++) {
            int64_t at = 3 * (int64_t)near.corner[i] + k;
            to[k] += near.weight[i] * (w->end[at] - w->start[at]);
        }
    for (int32_t k = 0; k < 3; k++) {
        sum->moved[k] += to[k] - x[k];
        sum->n[sum->count][k] = near.n[k];
    }
    sum->missing[sum->count++] = distance_of(w, v, collider) - gap;
}

/* The direction in which it is led: between surfaces that face each other most, or out of those that do not. Whether
 * there are such. */
static bool find_direction(const wish *sum, double n[3]) {
    double least = OPPOSED, square = 0;
    for (int32_t k = 0; k < 3; k++) n[k] = 0;
    for (int32_t i = 0; i < sum->count; i++)
        for (int32_t k = 0; k < 3; k++) n[k] += sum->n[i][k];
    for (int32_t i = 0; i < sum->count; i++)
        for (int32_t j = 0; j < i; j++) {
            double cosine = drape_i_dot3(sum->n[i], sum->n[j]);
            if (!(cosine < least)) continue;
            least = cosine;
            for (int32_t k = 0; k < 3; k++) n[k] = sum->n[i][k] - sum->n[j][k];
        }
    square = drape_i_dot3(n, n);
    for (int32_t k = 0; k < 3; k++) n[k] = square > 0 ? n[k] / sqrt(square) : k == 2;
    return least < OPPOSED;
}

/* m: how far the surfaces push it along n in a step of h. */
static double push_along(const wish *sum, const double n[3], bool between, double h) {
    double push = 0;
    for (int32_t i = 0; i < sum->count; i++) {
        double missing = sum->missing[i], out = fmin(missing, h * (missing / OUT_TIME + OUT_SPEED));
        push += (between ? fmin(1, h / CENTRE_TIME) * missing : out) * drape_i_dot3(n, sum->n[i]);
    }
    return push;
}

/* m: from a collider to a vertex and, where that is set aside, to the triangles around it. */
static double gap_of(const drape_i_contact *c, int32_t v, int32_t collider) {
    const drape_i_pinches *p = c->pinches;
    for (int32_t k = 0; k < length_of(&p->aside[v]); k++)
        if (collider_at(&p->aside[v], k) == collider) return p->gap[v].collider[k];
    return seen_from(c, collider, false, c->world->start + 3 * (int64_t)v).gap;
}

static void lead(drape_i_contact *c, int32_t v) {
    drape_i_pinches *p = c->pinches;
    double h = c->end - c->start;
    wish sum = {.count = 0};
    uint32_t caught = caught_by(c, v, &p->near[v], 1);
    for (int32_t k = 0; k < length_of(&p->near[v]) && c->inverse_mass[v] > 0; k++) {
        int32_t collider = collider_at(&p->near[v], k);
        bool between = caught >> k & 1, aside = drape_i_world_sets_aside(c->world, v, collider);
        if (!between && !aside) continue;
        double gap = gap_of(c, v, collider);
        if (between || gap < distance_of(c->world, v, collider)) add_wish(c, v, collider, gap, &sum);
    }
    p->led[v] = sum.count > 0;
    if (sum.count == 0) return;
    double *n = p->direction + 3 * (int64_t)v;
    bool between = find_direction(&sum, n);
    double along = (drape_i_dot3(n, sum.moved) + push_along(&sum, n, between, h)) / (sum.count * h);
    for (int32_t k = 0; k < 3; k++) p->velocity[3 * (int64_t)v + k] = along * n[k];
}

void drape_i_pinch_begin(drape_sim *sim) {
    drape_i_contact *c = sim->contact;
    drape_i_pinches *p = c->pinches;
    if (!p->aside) return;
    recount(sim);
    if (p->count == 0) return;
    see_vertices(c);
    see_triangles(c);
    for (int32_t v = 0; v < sim->vertices; v++)
        if (p->aside[v].collider[0] > 0 && !p->caught[v]) take_up(c, v);
    recount(sim);
}

void drape_i_pinch_lead(drape_sim *sim) {
    drape_i_contact *c = sim->contact;
    drape_i_pinches *p = c->pinches;
    if (!p->aside) return;
    list_near(c);
    if (set_caught_aside(c, SQUEEZED)) {
        recount(sim);
        drape_i_world_drop(c->world);
        see_vertices(c);
        see_triangles(c);
    }
    memset(p->led, 0, (size_t)sim->vertices);
    for (int32_t v = 0; v < sim->vertices; v++)
        if (p->near[v].collider[1] > 0 || p->aside[v].collider[0] > 0) lead(c, v);
}

bool drape_i_pinch_leaves(const drape_i_contact *c, int32_t vertex, int32_t collider) {
    return c->pinches->led && (c->pinches->led[vertex] || drape_i_world_sets_aside(c->world, vertex, collider));
}

const double *drape_i_pinch_jumps(const drape_i_contact *c, int32_t vertex, const double **velocity) {
    const drape_i_pinches *p = c->pinches;
    *velocity = p->velocity + 3 * (int64_t)vertex;
    return p->led && p->led[vertex] && p->caught[vertex] ? p->direction + 3 * (int64_t)vertex : NULL;
}

drape_status drape_i_pinch_constrain(drape_sim *sim, const drape_i_aim *aim) {
    const drape_i_contact *c = sim->contact;
    const drape_i_pinches *p = c->pinches;
    drape_status status = DRAPE_OK;
    for (int32_t v = 0; v < sim->vertices && p->led && !status; v++) {
        drape_constraint constraint = {.vertex = v, .directions = 1};
        const double *n = p->direction + 3 * (int64_t)v, *x = aim->x + 3 * (int64_t)v;
        if (!p->led[v]) continue;
        double there = 0, now = 0;
        for (int32_t k = 0; k < 3; k++) {
            int64_t at = 3 * (int64_t)v + k;
            there += n[k] * (c->x0[at] + (aim->t - c->start) * p->velocity[at] - x[k]);
            now += aim->v ? n[k] * aim->v[at] : 0;
        }
        for (int32_t k = 0; k < 3; k++) {
            constraint.direction[0][k] = n[k];
            constraint.z[k] = aim->factor * (there / aim->c - now) * n[k];
        }
        status = drape_i_stitches_add_contact(sim, sim->pin_count + collider_at(&p->near[v], 0), &constraint);
    }
    return status;
}
