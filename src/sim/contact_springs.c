/* contact_springs.c: edges and faces of the cloth near objects and other cloth, as damped springs beside the matrix.
 *
 * Let e = sum w_i x_i be the vector between the closest points at the start of the step, n = e/|e|, and g(x) = n.e -
 * D the gap. A spring pushes with k (G - g) if g < G, and damps with c along n. n and w are constant in a step,
 * so the force has a potential, k (G - g)^2/2 + (step) c (n.e')^2/2. K = k w w' n n' is positive semidefinite.
 *
 *   kappa = max(0.1 (stiffness of the vertices in A along n), 0.75 m v_n^2 / G^2),   c critical
 *   k = kappa                        linear law
 *   k = (2 kappa/G) (G - g_p)        secant law, between cloth and cloth; g_p = g at the end of the step as the pair
 *                                    moves now, but at most what it is, and at least 0
 *
 * This is too soft if much cloth hangs from one edge over a rim, or a fold is pressed flat. The response then had to
 * hold the cloth in every step, and shook it. So below g = 0, with s = -g/(what is left to the surface there), a
 * spring pushes f(s) times as strongly, of which a step takes the tangent at its start:
 *
 *   f' = STIFFENING ((1 - DEEP)/(1 - s))^2 for DEEP < s < DEEPEST, and constant below and above;   f(0) = 1
 *
 * With f' = STIFFENING everywhere a rope of twisted cloth, whose layers lie on each other under large loads, used up
 * its springs, and the response gave it energy. With f' = STIFFENING/(1 - s)^2 from s = 0 on stacked sheets took a
 * second longer to come to rest.
 *
 * Large loads for a long time, as in a rope, need more. A pair that ends a step with s above FIRMER gets a second
 * spring in the next one, which pushes below g = 0 only, with k = kappa STIFFENING firm. `firm` is 1 at first, is
 * doubled in each such step, and halved where s is below SOFTER; the pair remembers it. A stiff spring that always
 * pushes has a slope far below that of a law as steep as f at s = DEEPEST, and the same force. It is not a tangent
 * at the start of the step: Newton's method finds whether it pushes.
 *
 * Cloth that is thinner than a tenth of the contact distance is held at that distance from cloth, so that springs
 * have room to act in.
 *
 * kappa is below A's own rows, so without firm springs the system is no worse conditioned; and it stops an approach
 * at v_n within G. The secant law is that of the barrier 2 kappa/(3 G) (G - g)^3, whose force is k (G - g) at g_p. It
 * begins softly, and is twice as stiff as the linear one when the gap is closed. In both laws, k is constant in a
 * step, and Newton's method sees linear springs. With a kappa as stiff as A and little damping, cloth that lies over
 * an edge trembles. Two seconds after a sheet fell on a box its kinetic energy was 7e-5 J; with these it is 2e-5 J,
 * most of it swinging.
 *
 * Vertices are held at the whole distance d from an object (contact_touch.c). Springs act only where an edge or a
 * face comes nearer than that, so that they do not fight with what is held beside them. */
#include "base/parallel.h"
#include "contact/closest.h"
#include "sim/contact.h"
#include "sparse/matrix.h"

#include <math.h>
#include <string.h>

enum { GRAIN = 512 };

/* Of the thickness: springs push up to so far out. Cloth on cloth lies on them, and cloth on the edges and corners of
 * meshes. On round objects vertices carry the load: flat triangles between them are nearer to the object, and springs
 * push only below that. The exception is cloth so coarse that its triangles would cut into the object. */
static const double TOP_CLOTH = 1, TOP_OBJECT = 0.9, LEAST_TOP = 0.1;
static const double KEEP = 0.5;        /* of that is kept, and the spring pushes in the rest */
static const double LEAST_REACH = 0.1; /* of the contact distance: for cloth that is thin, or not thick at all */
static const double STIFFENING = 2;    /* see above */
static const double DEEP = 0.5, DEEPEST = 0.99;
static const double FIRMER = 0.5, SOFTER = 0.125; /* s */
static const double MOST_SLIDE = 4;               /* of the distance of a pair: over a rim, in a step */
static const double AT_VERTEX = 0.999;
static const double UPRIGHT = 0.99;                   /* a cosine */
static const double ON_BORDER = 1e-6;                 /* weight of a corner that does not count */
static const double PARALLEL = 0.0025, ACROSS = 0.04; /* squared sines of angles between edges */
static const double SOFT = 0.1, DAMPING = 1;          /* share of the stiffness in A; ratio */
static const double PULL = 1e-3;                      /* of the weight: a spring that pulls more is released */

/* ---- Finding them ---- */

/* For so many more. */
static drape_status make_room(drape_i_contact *c, int64_t more) {
    drape_context *ctx = c->world->ctx;
    if (c->springs + more <= c->spring_room) return DRAPE_OK;
    int64_t room = c->springs + more + (c->springs + more) / 2 + 64;
    if (room > INT32_MAX) return drape_i_fail(ctx, DRAPE_ERROR_MEMORY, "contact: more than %d springs", INT32_MAX);
    drape_i_contact_spring *spring;
    if (!DRAPE_NEW_RAW(ctx, spring, room)) return DRAPE_ERROR_MEMORY;
    if (c->springs > 0) memcpy(spring, c->spring, (size_t)c->springs * sizeof *spring);
    DRAPE_FREE(ctx, c->spring, c->spring_room);
    c->spring = spring;
    c->spring_room = (int32_t)room;
    return DRAPE_OK;
}

/* Blocks of A that a spring is added to. */
static int32_t blocks_of(const drape_i_contact_spring *s) { return s->in_element ? s->count * s->count : 0; }

/* A coupling along n, and two across it where there is friction; of what is added to A, a copy of each block. Most
 * springs of folded cloth need fewer than three couplings: each has 96 bytes. */
static drape_status make_couplings(drape_i_contact *c) {
    drape_context *ctx = c->world->ctx;
    int32_t couplings = 0, owns = 0;
    for (int32_t i = 0; i < c->springs; i++) {
        const drape_i_contact_spring *s = &c->spring[i];
        owns += blocks_of(s);
        if (s->in_element) continue;
        couplings += s->k > 0 || s->c > 0;
        if (s->limit > 0) couplings += 2;
    }
    if (couplings > c->coupling_room) {
        DRAPE_FREE(ctx, c->coupling, c->coupling_room);
        c->coupling_room = couplings + couplings / 4;
        if (!DRAPE_NEW_RAW(ctx, c->coupling, c->coupling_room)) c->coupling_room = 0;
    }
    if (owns > c->own_room) {
        DRAPE_FREE(ctx, c->own, c->own_room);
        c->own_room = owns + owns / 4;
        if (!DRAPE_NEW_RAW(ctx, c->own, c->own_room)) c->own_room = 0;
    }
    return couplings <= c->coupling_room && owns <= c->own_room ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

/* A pair as it is at the start of the step: closest points, and gaps then and at the end as it moves now. */
typedef struct nearness {
    double weight[4], n[3];
    double keep, rest; /* m: from where gaps count; below which gap a spring pushes */
    double gap, later; /* m */
    bool leaves;       /* is pressed, and will not be at the end as it moves now */
    bool secant;       /* its spring has the secant law */
    double soft;       /* N/m: what its spring would have at rest */
    double below;      /* m: from where the gap counts down to the surface */
} nearness;

/* n' A_ii n / c^2 of the last matrix, or the mass alone where there was none. It is that of whole steps, whatever
 * parts they are done in: springs that grew stiffer with shorter parts would throw off what is pressed on them. */
static double stiffness_at(const drape_sim *sim, int32_t vertex, const double n[3], double h) {
    double m = drape_cloth_mass(sim->cloth)[vertex], mass = m / (h * h);
    if (!sim->contact->matrix_known) return mass;
    drape_bsr3 A = drape_matrix_view(sim->A);
    const double *block = A.val + 9 * drape_i_matrix_find(&A, vertex, vertex);
    double Bn[3], parts = sim->contact->matrix_parts;
    for (int32_t i = 0; i < 3; i++) Bn[i] = drape_i_dot3(block + 3 * i, n);
    double c = drape_i_sim_solves_for_positions(sim) ? 1 : sim->matrix_c;
    double stiffness = drape_i_dot3(n, Bn) / (c * c);
    if (parts > 1) stiffness -= m / (sim->matrix_c * sim->matrix_c) * (1 - 1 / (parts * parts));
    return fmax(mass, stiffness);
}

double drape_i_contact_inverse_mass(const drape_sim *sim, const drape_i_contact_spring *s) {
    double sum = 0;
    for (int32_t i = 0; i < s->count; i++) sum += s->w[i] * s->w[i] / drape_cloth_mass(sim->cloth)[s->vertex[i]];
    return sum;
}

/* How many times as strongly a spring pushes at s, and the slope of that. */
typedef struct stiffening {
    double growth, slope;
} stiffening;

static stiffening stiffening_at(double s) {
    if (s <= DEEP) return (stiffening){1 + STIFFENING * s, STIFFENING};
    double to = fmin(s, DEEPEST), near = STIFFENING * (1 - DEEP) * (1 - DEEP), slope = near / ((1 - to) * (1 - to));
    return (stiffening){1 + STIFFENING * DEEP + near * (1 / (1 - to) - 1 / (1 - DEEP)) + slope * (s - to), slope};
}

/* k and c from the vertices, and from how fast the gap closes. What brakes acts for all of the step,
 * whether the spring is pressed or not, so that the potential has no jumps. */
static void set_stiffness(const drape_sim *sim, drape_i_contact_spring *s, nearness *near, double h) {
    double own = 0, square = 0, G = s->rest, closing = near->leaves ? 0 : (near->gap - near->later) / h;
    for (int32_t i = 0; i < s->count; i++) {
        own += s->w[i] * s->w[i] * stiffness_at(sim, s->vertex[i], s->n, sim->parts > 1 ? sim->h : h);
        square += s->w[i] * s->w[i];
    }
    double mass = 1 / drape_i_contact_inverse_mass(sim, s);
    double kappa = SOFT * own / square, deep = near->gap < 0 ? -near->gap / near->below : 0;
    stiffening f = stiffening_at(deep);
    double push = G - near->gap, stop = 0.75 * mass * closing * closing / (G * G);
    double secant = near->secant ? 2 * (G - fmax(fmin(near->gap, near->later), 0)) / G : 1;
    s->below = near->below;
    s->firm_k = kappa * STIFFENING * s->firm;
    near->soft = deep > 0 ? kappa * (f.growth + push * f.slope / near->below) : kappa;
    s->k = fmax(near->soft, stop);
    s->stops = stop > near->soft;
    if (deep > 0 && near->soft >= stop) s->rest = near->gap + kappa * push * f.growth / near->soft;
    s->k *= secant;
    s->c = near->leaves ? 0 : 2 * DAMPING * sqrt(s->k * mass);
}

/* 0 up to x0, 1 from x1 on, and smooth in between. */
static double rise(double x, double x0, double x1) {
    double share = fmin(fmax((x - x0) / (x1 - x0), 0), 1);
    return share * share * (3 - 2 * share);
}

/* How edges or a face stand: the cosine between n and what is across both edges, or normal to the face; and the
 * squared sine between edges. */
typedef struct stance {
    double upright, crossing;
} stance;

static stance stance_of(const drape_i_world *w, drape_ccd_kind kind, const int32_t vertex[4], const double n[3]) {
    bool edges = kind == DRAPE_CCD_EDGE_EDGE;
    const int32_t from[2] = {edges ? 0 : 1, edges ? 2 : 1}, to[2] = {edges ? 1 : 2, 3};
    double side[2][3], normal[3];
    for (int32_t i = 0; i < 2; i++)
        for (int32_t k = 0; k < 3; k++)
            side[i][k] = w->start[3 * (int64_t)vertex[to[i]] + k] - w->start[3 * (int64_t)vertex[from[i]] + k];
    for (int32_t k = 0; k < 3; k++)
        normal[k] = side[0][(k + 1) % 3] * side[1][(k + 2) % 3] - side[0][(k + 2) % 3] * side[1][(k + 1) % 3];
    double square = drape_i_dot3(normal, normal);
    double most = drape_i_dot3(side[0], side[0]) * drape_i_dot3(side[1], side[1]);
    if (!(square > 0)) return (stance){0, 0};
    return (stance){fabs(drape_i_dot3(normal, n)) / sqrt(square), square / most};
}

/* Whether closest points are inside of a face, or of both edges. */
static bool is_inside(drape_ccd_kind kind, const double weight[4]) {
    for (int32_t k = kind == DRAPE_CCD_VERTEX_FACE ? 1 : 0; k < 4; k++)
        if (!(fabs(weight[k]) > ON_BORDER)) return false;
    return true;
}

/* How much a pair of cloth and cloth counts. Where layers lie on each other, pairs whose closest points are on
 * borders make slanted springs beside upright ones, and these brake what slides. A sheet on another one, without
 * friction, stayed below 0.2 m/s. So there are none, unless the pair had a spring in the step before and is hardly
 * slanted yet: what rests on a border must not tremble. Nor is a pair left to the response that is pressed deep.
 * Edges that are nearly parallel have their closest points anywhere. */
static double share_of(const drape_i_contact *c, drape_ccd_kind kind, const int32_t vertex[4], const nearness *near) {
    stance s = stance_of(c->world, kind, vertex, near->n);
    bool counts = is_inside(kind, near->weight) || near->gap < -FIRMER * near->below;
    if (!counts) {
        const drape_i_rub *before = drape_i_contact_recall(c, kind, vertex);
        counts = before && (s.upright > UPRIGHT || before->firm > 0);
    }
    return !counts ? 0 : kind == DRAPE_CCD_EDGE_EDGE ? rise(s.crossing, PARALLEL, ACROSS) : 1;
}

static double friction_of(const drape_i_contact *c, drape_ccd_kind kind, int64_t i) {
    const drape_i_world *w = c->world;
    const drape_i_pairs *pairs = &w->pairs[kind];
    int32_t a = pairs->vertex[i][0], b = pairs->vertex[i][kind == DRAPE_CCD_VERTEX_FACE ? 1 : 2],
            n = w->cloth_vertices;
    double given = a < n && b < n ? drape_i_world_pair_friction(w, a, b) : -1;
    if (given >= 0) return given;
    double first = a < n ? w->friction[a] : w->colliders->item[pairs->collider[i]].friction;
    double second = b < n ? w->friction[b] : w->colliders->item[pairs->collider[i]].friction;
    return sqrt(first * second);
}

/* m/s: how the object moves where the cloth touches it, as part of e. */
static void object_velocity(const drape_sim *sim, const drape_i_pairs *pairs, int64_t i, const nearness *near,
                            double v[3]) {
    const drape_i_contact *c = sim->contact;
    const drape_i_world *w = c->world;
    double p[3] = {0}, to[3], sum = 0, h = c->end - c->start;
    for (int32_t k = 0; k < 3; k++) v[k] = 0;
    if (pairs->collider[i] < 0 || !w->colliders->item[pairs->collider[i]].moves) return;
    for (int32_t a = 0; a < 4; a++) {
        int64_t at = 3 * (int64_t)pairs->vertex[i][a];
        if (pairs->vertex[i][a] < w->cloth_vertices) continue;
        sum += near->weight[a];
        for (int32_t k = 0; k < 3; k++) {
            p[k] += near->weight[a] * w->start[at + k];
            v[k] += near->weight[a] * (w->end[at + k] - w->start[at + k]) / h;
        }
    }
    if (w->colliders->item[pairs->collider[i]].deforms) return;
    sum = sum > 0 ? 1 : -1;
    for (int32_t k = 0; k < 3; k++) p[k] = sum * (p[k] - pairs->round[i] * near->n[k]);
    drape_i_collider_carry(w->colliders, pairs->collider[i], c->start, c->end, p, to);
    for (int32_t k = 0; k < 3; k++) v[k] = sum * (to[k] - p[k]) / h;
}

/* N: what a spring carries at the end of the step, as the pair moves now. It is at most what the spring carries at
 * the start plus what stops the pair in this step. Where cloth comes fast the former is many times that: friction
 * from it held a tablecloth that is jerked off a table by 140 N. */
static double load_of(const drape_sim *sim, const drape_i_contact_spring *s, const nearness *near) {
    double h = sim->contact->end - sim->contact->start, v = (near->later - near->gap) / h;
    double then = s->k * (s->rest - near->later) - s->c * v,
           now = fmin(s->k, near->soft) * fmax(s->rest - near->gap, 0);
    double stops = fmax(-v, 0) / (drape_i_contact_inverse_mass(sim, s) * h);
    return near->secant ? then : fmin(then, now + stops);
}

/* With the secant law the stiffness grows with the predicted depth, so the load is far too large where cloth lands.
 * There it is at most that with which the step begins. */
static void set_friction(const drape_sim *sim, drape_i_contact_spring *s, drape_ccd_kind kind, int64_t i,
                         const nearness *near) {
    const drape_i_contact *c = sim->contact;
    const drape_i_pairs *pairs = &c->world->pairs[kind];
    const drape_i_rub *before = drape_i_contact_recall(c, kind, pairs->vertex[i]);
    double v[3], load = load_of(sim, s, near);
    if (near->secant) load = fmin(load, s->k * (s->rest - near->gap));
    if (near->leaves) load = 0.5 * s->k * (s->rest - near->gap); /* it falls to zero in the step */
    s->kind = kind;
    memcpy(s->pair, pairs->vertex[i], sizeof s->pair);
    load += s->firm_k * fmax(-near->gap, 0);
    if (!(load > 0)) return;
    object_velocity(sim, pairs, i, near, v);
    for (int32_t k = 0; k < 3; k++) v[k] = -v[k];
    drape_i_contact_set_friction(sim, s, friction_of(c, kind, i) * load, v, before ? before->force : NULL);
}

/* m^2: of the longest edge of the cloth's part of a pair with a round collider. */
static double longest_square(const drape_i_world *w, drape_ccd_kind kind, const int32_t vertex[4]) {
    double most = 0;
    int32_t first = kind == DRAPE_CCD_VERTEX_FACE ? 1 : 0, count = kind == DRAPE_CCD_VERTEX_FACE ? 3 : 2;
    for (int32_t i = 0; i < count; i++) {
        const double *a = w->start + 3 * (int64_t)vertex[first + i];
        const double *b = w->start + 3 * (int64_t)vertex[first + (i + 1) % count];
        double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
        most = fmax(most, drape_i_dot3(d, d));
    }
    return most;
}

/* How far out springs push, as a share of the thickness. */
static double top_of(const drape_i_world *w, drape_ccd_kind kind, int64_t i) {
    const drape_i_pairs *pairs = &w->pairs[kind];
    double thickness = pairs->distance[i] - pairs->round[i];
    if (pairs->collider[i] < 0) return TOP_CLOTH;
    if (pairs->round[i] == 0 || !(thickness > 0)) return TOP_OBJECT;
    double dips = longest_square(w, kind, pairs->vertex[i]) / (8 * pairs->round[i]) / thickness;
    return dips < TOP_OBJECT ? fmax(TOP_OBJECT - dips, LEAST_TOP) : TOP_OBJECT;
}

/* Whether there is a spring: the pair is pressed now, or will be as it moves. A pair that leaves keeps its spring,
 * which pushes as long as it is pressed and does not brake. Without it the cloth would fall back during the whole
 * step and be pushed out in the next one, for ever. The linearised step has no such choice. */
static bool is_near(const drape_sim *sim, drape_ccd_kind kind, int64_t i, nearness *out) {
    const drape_i_contact *c = sim->contact;
    const drape_i_world *w = c->world;
    const drape_i_pairs *pairs = &w->pairs[kind];
    const int32_t *vertex = pairs->vertex[i];
    double e[3], ahead[3], thickness = pairs->distance[i] - pairs->round[i];
    double top = top_of(w, kind, i) * thickness, reach;
    if (pairs->collider[i] < 0 && top < LEAST_REACH * c->settings.distance) top = c->settings.distance;
    reach = (1 - KEEP) * top;
    drape_i_closest(kind, w->start, vertex, out->weight);
    drape_i_between(w->start, vertex, out->weight, e);
    drape_i_between(w->end, vertex, out->weight, ahead);
    double length = sqrt(drape_i_dot3(e, e));
    if (!(length > 0)) return false;
    for (int32_t k = 0; k < 3; k++) out->n[k] = e[k] / length;
    out->keep = pairs->round[i] + KEEP * top;
    out->rest = fmin(c->settings.distance, fmax(reach, LEAST_REACH * c->settings.distance));
    out->below = KEEP * top;
    out->gap = length - out->keep;
    out->later = drape_i_dot3(out->n, ahead) - out->keep;
    out->secant = pairs->collider[i] < 0 && c->settings.law == DRAPE_CONTACT_SECANT;
    out->leaves = out->gap < out->rest && !(out->later < out->rest);
    return out->later < out->rest || (out->leaves && sim->integrator);
}

/* Neighbours in a piece of cloth, which are that near when it is at rest, get none. */
static bool is_near_at_rest(const drape_sim *sim, drape_ccd_kind kind, int64_t i) {
    const drape_i_pairs *pairs = &sim->contact->world->pairs[kind];
    const int32_t *piece = sim->contact->piece, *vertex = pairs->vertex[i];
    if (piece[vertex[0]] != piece[vertex[3]]) return false;
    double weight[4], e[3], reach = pairs->distance[i] + sim->contact->settings.distance;
    drape_i_closest(kind, sim->start, pairs->vertex[i], weight);
    drape_i_between(sim->start, pairs->vertex[i], weight, e);
    return drape_i_dot3(e, e) < reach * reach;
}

static void fill(const drape_sim *sim, const int32_t vertex[4], const nearness *near, drape_i_contact_spring *s) {
    const drape_i_world *w = sim->contact->world;
    *s = (drape_i_contact_spring){.rest = near->rest, .offset = {near->keep, near->keep}};
    memcpy(s->n, near->n, sizeof s->n);
    for (int32_t k = 0; k < 4; k++) {
        if (vertex[k] >= w->cloth_vertices) {
            s->offset[0] -= near->weight[k] * drape_i_dot3(s->n, w->start + 3 * (int64_t)vertex[k]);
            s->offset[1] -= near->weight[k] * drape_i_dot3(s->n, w->end + 3 * (int64_t)vertex[k]);
        } else if (near->weight[k] != 0) {
            s->vertex[s->count] = vertex[k];
            s->w[s->count++] = near->weight[k];
        }
    }
}

/* Whether A has a block for each two of its vertices. */
static bool has_blocks(const drape_sim *sim, const drape_i_contact_spring *s) {
    drape_bsr3 A = drape_matrix_view(sim->A);
    bool all = true;
    for (int32_t i = 0; i < s->count; i++)
        for (int32_t j = 0; j < s->count; j++) all &= drape_i_matrix_find(&A, s->vertex[i], s->vertex[j]) >= 0;
    return all;
}

drape_status drape_i_contact_add_spring(drape_i_contact *c, const drape_i_contact_spring *spring) {
    drape_status status = make_room(c, 1);
    if (!status) c->spring[c->springs++] = *spring;
    return status;
}

/* How far an edge of the cloth slides across an edge of an object in the step, over what it may: in shorter steps it
 * follows the rim. */
static double slide_of(const drape_i_world *w, int64_t i, const nearness *near) {
    const drape_i_pairs *pairs = &w->pairs[DRAPE_CCD_EDGE_EDGE];
    const int32_t *vertex = pairs->vertex[i], *rim = vertex[0] < w->cloth_vertices ? vertex + 2 : vertex;
    double e[3], ahead[3], d[3], across[3], length;
    drape_i_between(w->start, vertex, near->weight, e);
    drape_i_between(w->end, vertex, near->weight, ahead);
    for (int32_t k = 0; k < 3; k++) d[k] = w->start[3 * (int64_t)rim[1] + k] - w->start[3 * (int64_t)rim[0] + k];
    for (int32_t k = 0; k < 3; k++)
        across[k] = near->n[(k + 1) % 3] * d[(k + 2) % 3] - near->n[(k + 2) % 3] * d[(k + 1) % 3];
    length = sqrt(drape_i_dot3(across, across));
    if (!(length > 0)) return 0;
    for (int32_t k = 0; k < 3; k++) d[k] = ahead[k] - e[k];
    return fabs(drape_i_dot3(across, d)) / (length * MOST_SLIDE * pairs->distance[i]);
}

/* G - g at x and t, and n.e' at v; the object's part moves evenly. */
static double pressed(const drape_i_contact *c, const drape_i_contact_spring *s, double t, const double *x) {
    double share = (t - c->start) / (c->end - c->start);
    double e = -(s->offset[0] + share * (s->offset[1] - s->offset[0]));
    for (int32_t i = 0; i < s->count; i++) e += s->w[i] * drape_i_dot3(s->n, x + 3 * (int64_t)s->vertex[i]);
    return s->rest - e;
}

/* ---- Firm springs ---- */

static double firmness_before(const drape_i_contact *c, drape_ccd_kind kind, const int32_t vertex[4]) {
    const drape_i_rub *before = drape_i_contact_recall(c, kind, vertex);
    return before ? before->firm : 0;
}

double drape_i_contact_firmness(const drape_sim *sim, const drape_i_contact_spring *s) {
    double gap = s->rest - pressed(sim->contact, s, sim->contact->end, sim->x), deep = -gap / s->below;
    if (deep > FIRMER) return fmin(fmax(2 * s->firm, 1), DRAPE_I_MOST_FIRM);
    if (deep < SOFTER) return s->firm > 1 ? 0.5 * s->firm : 0;
    return s->firm;
}

/* Those of pairs that were pressed deep. They push below gap 0 only. */
static drape_status add_firm(drape_sim *sim) {
    drape_i_contact *c = sim->contact;
    drape_status status = DRAPE_OK;
    for (int32_t i = 0, count = c->springs; i < count && !status; i++) {
        drape_i_contact_spring firm = c->spring[i];
        if (!(firm.firm_k > 0)) continue;
        firm.k = firm.firm_k;
        firm.rest = firm.c = firm.limit = 0;
        firm.pair[0] = -1;
        firm.stops = true;
        status = drape_i_contact_add_spring(c, &firm);
    }
    return status;
}

/* ---- Making them ---- */

/* The spring of a pair that is near. */
static void make_spring(const drape_sim *sim, drape_ccd_kind kind, int64_t i, drape_i_contact_spring *s) {
    const drape_i_contact *c = sim->contact;
    const drape_i_pairs *pairs = &c->world->pairs[kind];
    nearness near;
    is_near(sim, kind, i, &near);
    fill(sim, pairs->vertex[i], &near, s);
    s->in_element = pairs->collider[i] >= 0 && has_blocks(sim, s);
    double share = pairs->collider[i] < 0 ? share_of(c, kind, pairs->vertex[i], &near) : 1;
    if (pairs->collider[i] < 0) s->firm = firmness_before(c, kind, pairs->vertex[i]);
    set_stiffness(sim, s, &near, c->end - c->start);
    s->k *= share;
    s->c *= share;
    s->firm_k *= share;
    set_friction(sim, s, kind, i, &near);
}

/* Whether the cloth's part of a pair with an object is at a vertex, which is held. */
static bool is_at_vertex(const drape_i_world *w, const int32_t vertex[4], const double weight[4]) {
    for (int32_t k = 0; k < 4; k++)
        if (vertex[k] < w->cloth_vertices && fabs(weight[k]) > AT_VERTEX) return true;
    return false;
}

typedef struct looking {
    drape_sim *sim;
    drape_ccd_kind kind;
} looking;

/* Most pairs are neighbours, or not that near: they are told apart in parallel. */
static void look_chunk(void *data, int64_t begin, int64_t end) {
    const looking *l = data;
    const drape_i_contact *c = l->sim->contact;
    const drape_i_pairs *pairs = &c->world->pairs[l->kind];
    nearness near;
    for (int64_t i = begin; i < end; i++) {
        bool cloth = pairs->collider[i] < 0;
        bool held = !cloth && l->kind == DRAPE_CCD_VERTEX_FACE && pairs->vertex[i][0] < c->world->cloth_vertices;
        bool will_push = !held && is_near(l->sim, l->kind, i, &near);
        if (will_push && cloth)
            will_push = share_of(c, l->kind, pairs->vertex[i], &near) > 0 && !is_near_at_rest(l->sim, l->kind, i);
        else if (will_push) will_push = !is_at_vertex(c->world, pairs->vertex[i], near.weight);
        c->near[i] = will_push;
    }
}

/* Scratch memory for so many, without what was in it. *room stays below `count` where there is no memory. */
static void *grow(drape_context *ctx, void *old, int64_t *room, int64_t count, size_t size) {
    if (count <= *room) return old;
    drape_i_free(ctx, old, *room, size);
    void *next = drape_i_alloc_raw(ctx, count + count / 2, size);
    *room = next ? count + count / 2 : 0;
    return next;
}

/* Those beyond the springs that there are: each has the number of its pair. */
static void make_chunk(void *data, int64_t begin, int64_t end) {
    const looking *l = data;
    drape_i_contact *c = l->sim->contact;
    for (int64_t i = begin; i < end; i++) make_spring(l->sim, l->kind, c->listed[i], &c->spring[c->springs + i]);
}

/* Keeps those that push, and finds how far edges slide. */
static void keep_springs(drape_sim *sim, drape_ccd_kind kind, int64_t count) {
    drape_i_contact *c = sim->contact;
    const drape_i_pairs *pairs = &c->world->pairs[kind];
    const drape_i_contact_spring *made = c->spring + c->springs;
    nearness near;
    for (int64_t i = 0; i < count; i++, made++) {
        if (pairs->collider[c->listed[i]] >= 0 && kind == DRAPE_CCD_EDGE_EDGE) {
            is_near(sim, kind, c->listed[i], &near);
            c->slide = fmax(c->slide, slide_of(c->world, c->listed[i], &near));
        }
        if (!(made->k > 0)) continue;
        if (made != c->spring + c->springs) c->spring[c->springs] = *made;
        c->springs++;
    }
}

static drape_status add_pairs(drape_sim *sim, drape_ccd_kind kind) {
    drape_i_contact *c = sim->contact;
    int64_t pairs = c->world->pairs[kind].count, count = 0;
    looking l = {sim, kind};
    c->near = grow(sim->ctx, c->near, &c->near_room, pairs, sizeof *c->near);
    if (c->near_room < pairs) return DRAPE_ERROR_MEMORY;
    drape_i_loop(sim->ctx, pairs, GRAIN, look_chunk, &l);
    for (int64_t i = 0; i < pairs; i++) count += c->near[i];
    c->listed = grow(sim->ctx, c->listed, &c->listed_room, count, sizeof *c->listed);
    if (c->listed_room < count) return DRAPE_ERROR_MEMORY;
    drape_status status = make_room(c, count);
    if (status) return status;
    for (int64_t i = 0, k = 0; i < pairs; i++)
        if (c->near[i]) c->listed[k++] = i;
    drape_i_loop(sim->ctx, count, GRAIN, make_chunk, &l);
    keep_springs(sim, kind, count);
    return DRAPE_OK;
}

drape_status drape_i_contact_find_springs(drape_sim *sim) {
    drape_i_contact *c = sim->contact;
    drape_status status = DRAPE_OK;
    drape_i_contact_index_rubs(c);
    for (drape_ccd_kind kind = DRAPE_CCD_VERTEX_FACE; kind <= DRAPE_CCD_EDGE_EDGE && !status; kind++)
        status = add_pairs(sim, kind);
    if (!status) status = add_firm(sim);
    if (!status) status = make_couplings(c);
    return status ? status : drape_i_contact_grow_rubs(c, c->springs);
}

/* ---- What they do ---- */

/* A spring that pulls does not act. The linearised step cannot know beforehand which springs will push at its end. It
 * takes all, and releases those that would pull and are stiff enough to throw the cloth about. A tablecloth that
 * was pulled off its table in steps of 10 ms was held down by 25 N, and torn. */
static bool pushes(const drape_sim *sim, const drape_i_contact_spring *s, double push) {
    return sim->integrator ? push > 0 : !s->released;
}

static double rate(const drape_i_contact *c, const drape_i_contact_spring *s, const double *v) {
    double e = -(s->offset[1] - s->offset[0]) / (c->end - c->start);
    for (int32_t i = 0; i < s->count; i++) e += s->w[i] * drape_i_dot3(s->n, v + 3 * (int64_t)s->vertex[i]);
    return e;
}

/* sum w_i n.v_i */
static double along(const drape_i_contact_spring *s, const double n[3], const double *v) {
    double sum = 0;
    for (int32_t i = 0; i < s->count; i++) sum += s->w[i] * drape_i_dot3(n, v + 3 * (int64_t)s->vertex[i]);
    return sum;
}

static void spread(const drape_i_contact_spring *s, const double direction[3], double size, double *out) {
    for (int32_t i = 0; i < s->count; i++)
        for (int32_t k = 0; k < 3; k++) out[3 * (int64_t)s->vertex[i] + k] += size * s->w[i] * direction[k];
}

/* Where the forces of a spring go to, and as how many times themselves. */
typedef struct spring_sums {
    double *force, *stiff_v; /* either may be NULL */
    double factor;
} spring_sums;

static void add_forces(const drape_sim *sim, const drape_i_contact_spring *s, double t, const double *x,
                       const double *v, const spring_sums *sums) {
    const drape_i_contact *c = sim->contact;
    double push = pressed(c, s, t, x), k = pushes(sim, s, push) ? s->k : 0, factor = sums->factor;
    drape_i_friction_force g = {0};
    if (s->limit > 0) drape_i_contact_friction_at(sim, s, t, x, &g);
    if (sums->force && (k > 0 || s->c > 0)) spread(s, s->n, factor * (k * push - s->c * rate(c, s, v)), sums->force);
    if (sums->force && s->limit > 0) spread(s, g.force, factor, sums->force);
    if (!sums->stiff_v) return;
    if (k > 0) spread(s, s->n, factor * (k * along(s, s->n, v)), sums->stiff_v);
    for (int32_t d = 0; d < g.directions; d++) {
        double with = s->with[0] * drape_i_dot3(s->t[0], g.n[d]) + s->with[1] * drape_i_dot3(s->t[1], g.n[d]);
        spread(s, g.n[d], factor * (g.k * (along(s, g.n[d], v) - with)), sums->stiff_v);
    }
}

void drape_i_contact_forces(drape_sim *sim, double t, const double *x, const double *v, double *force,
                            double *stiff_v) {
    const spring_sums sums = {force, stiff_v, 1};
    for (int32_t i = 0; i < sim->contact->springs; i++) add_forces(sim, &sim->contact->spring[i], t, x, v, &sums);
}

int32_t drape_i_contact_release_springs(drape_sim *sim) {
    drape_i_contact *c = sim->contact;
    const spring_sums sums = {sim->f, sim->Kv, -1};
    const double *g = sim->forces->outside.forces.gravity;
    double weight = PULL * sqrt(drape_i_dot3(g, g));
    int32_t released = 0;
    for (int32_t i = 0; i < c->springs; i++) {
        drape_i_contact_spring *s = &c->spring[i];
        if (!s->stops || s->released) continue;
        double change = along(s, s->n, sim->dv), later = along(s, s->n, sim->v) + change;
        double push = pressed(c, s, c->end, sim->x) - sim->dt * later, closing = rate(c, s, sim->v) + change;
        if (!(s->k * push - s->c * closing < -weight / drape_i_contact_inverse_mass(sim, s))) continue;
        add_forces(sim, s, c->end, sim->x, sim->v, &sums);
        s->released = true;
        s->limit = s->c = 0;
        released++;
    }
    return released;
}

static void add_coupling(drape_i_contact *c, const drape_i_contact_spring *s, const double n[3], double k) {
    drape_coupling *to = &c->coupling[c->couplings++];
    *to = (drape_coupling){.count = s->count, .k = k};
    memcpy(to->vertex, s->vertex, sizeof to->vertex);
    memcpy(to->w, s->w, sizeof to->w);
    memcpy(to->n, n, sizeof to->n);
}

/* Springs between a triangle or an edge and an object are added to the blocks of A that its vertices have anyway.
 * As couplings they would cost a rebuild of every level of the multigrid. The friction of single vertices is added in
 * the same way. */
static void add_to_blocks(const drape_bsr3 *A, drape_i_contact *c, const drape_i_contact_spring *s,
                          const double stiff[9]) {
    for (int32_t i = 0; i < s->count; i++)
        for (int32_t j = 0; j < s->count; j++) {
            drape_i_own_block *own = &c->own[c->owns++];
            int64_t at = drape_i_matrix_find(A, s->vertex[i], s->vertex[j]);
            DRAPE_ASSERT(at >= 0);
            double *block = A->val + 9 * at, w = s->w[i] * s->w[j];
            own->at = 9 * at;
            memcpy(own->val, block, sizeof own->val);
            for (int32_t m = 0; m < 9; m++) block[m] += w * stiff[m];
        }
}

/* to += k n n' */
static void add_outer(double k, const double n[3], double to[9]) {
    for (int32_t m = 0; m < 9; m++) to[m] += k * (n[m / 3] * n[m % 3]);
}

void drape_i_contact_uncouple(drape_sim *sim) {
    drape_i_contact *c = sim->contact;
    drape_bsr3 A = drape_matrix_view(sim->A);
    for (; c->owns > 0; c->owns--)
        memcpy(A.val + c->own[c->owns - 1].at, c->own[c->owns - 1].val, sizeof c->own->val);
}

bool drape_i_contact_couple(drape_sim *sim, double t, const double *x, double c) {
    drape_i_contact *contact = sim->contact;
    drape_bsr3 A = drape_matrix_view(sim->A);
    bool positions = drape_i_sim_solves_for_positions(sim), changed = contact->owns > 0;
    drape_i_contact_uncouple(sim);
    contact->couplings = contact->did.springs = 0;
    contact->matrix_known = true;
    contact->matrix_parts = sim->parts;
    for (int32_t i = 0; i < contact->springs; i++) {
        const drape_i_contact_spring *s = &contact->spring[i];
        double k = pushes(sim, s, pressed(contact, s, t, x)) ? s->k : 0;
        double normal = positions ? k + s->c / c : c * (c * k + s->c), across = positions ? 1 : c * c;
        drape_i_friction_force g = {0};
        contact->did.springs += k > 0 || s->limit > 0;
        if (s->limit > 0) drape_i_contact_friction_at(sim, s, t, x, &g);
        double stiff[9] = {0};
        if (s->in_element) {
            add_outer(normal, s->n, stiff);
            for (int32_t d = 0; d < g.directions; d++) add_outer(across * g.k, g.n[d], stiff);
            if (normal > 0 || g.directions > 0) add_to_blocks(&A, contact, s, stiff);
            continue;
        }
        if (normal > 0) add_coupling(contact, s, s->n, normal);
        for (int32_t d = 0; d < g.directions; d++) add_coupling(contact, s, g.n[d], across * g.k);
    }
    return changed || contact->owns > 0;
}

drape_couplings drape_i_contact_couplings(const drape_sim *sim) {
    return (drape_couplings){sim->contact->couplings, sim->contact->coupling};
}

void drape_i_contact_multiply(const drape_sim *sim, const double *in, double *out) {
    for (int32_t i = 0; i < sim->contact->couplings; i++) {
        const drape_coupling *c = &sim->contact->coupling[i];
        double along = 0;
        for (int32_t k = 0; k < c->count; k++) along += c->w[k] * drape_i_dot3(c->n, in + 3 * (int64_t)c->vertex[k]);
        for (int32_t k = 0; k < c->count; k++)
            for (int32_t d = 0; d < 3; d++) out[3 * (int64_t)c->vertex[k] + d] += c->k * along * c->w[k] * c->n[d];
    }
}

double drape_i_contact_potential(drape_sim *sim, double t, double c, const double *x, const double *v) {
    const drape_i_contact *contact = sim->contact;
    double sum = 0;
    for (int32_t i = 0; i < contact->springs; i++) {
        const drape_i_contact_spring *s = &contact->spring[i];
        double push = pressed(contact, s, t, x), closing = rate(contact, s, v);
        sum += 0.5 * ((push > 0 ? s->k * push * push : 0) + c * (s->c * closing * closing));
        if (s->limit > 0) sum += drape_i_contact_friction_potential(sim, s, t, x);
    }
    return sum;
}
