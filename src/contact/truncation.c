/* truncation.c: stops pairs that are still hits after the other stages in front of a plane (after arXiv 2604.15513).
 *
 * Vertex i moves by the fraction t_i of its displacement, x_i(end) = x_i + t_i d_i, at first with t_i = 1. Every hit
 * gets a unit direction n and two limits l_a > l_b. At the start, all of part a is beyond l_a (n.x >= l_a), and all
 * of part b is before l_b (n.x <= l_b). Then t_i is made so small that the ends stay there, too. This is repeated for
 * new hits among pairs that have no plane yet, until there are none.
 *
 * Why it ends: each pair gets a plane at most once, so there are no more rounds than pairs.
 *
 * Why it holds: the start and the end of x_i are beyond l_a, so the whole path is, and every shorter one. So a pair
 * with a plane stays separated by it, whatever else is shortened later. Vertices that cannot be shortened (colliders,
 * pins) are taken at both their start and their end when limits are set. If no plane separates them from the
 * others at the start, there is no space, and the step must be divided.
 *
 * By how much: let A = min n.x over part a, B = max n.x over part b, s the separation of the pair, and S = A - B - s.
 * The limits share 9/10 of S in proportion to what each part moves beyond A and B, so l_a - l_b = s + S/10. By that
 * much n separates the parts at both ends of the step, and so all the time.
 *
 * Rounding: no coordinate is above W = `largest`, and no floor below 2^-20 W (world.c), or 2^-26 W where response.c
 * has lowered it. Planes with S > 2^-10 (s - radius) have S/10 > 2^-40 W. The ends and their products with n are
 * wrong by some 2^-50 W, and narrow.c asks for less than that beyond f. With less S parts stay where they are, up to
 * rounding; as s is a sixteenth more than f, that too is enough, unless the pair began nearer than s. Such pairs the
 * gate may refuse. Then all their vertices are held at the start (`freeze`), where they were apart.
 *
 * Of two directions, between the closest points at the start and at the time of the hit, the one that shortens less
 * is taken. */
#include "contact/response_parts.h"

#include "contact/closest.h"
#include "contact/narrow.h"

#include <string.h>

static const double SHARED = 0.9;    /* of the room between the parts */
static const double LEAST = 0x1p-10; /* of the separation without the radius: less room is none */

typedef struct stuck {
    drape_ccd_kind kind;
    const int32_t *vertex;
    double separation, least;
    bool movable[4];
    bool moving; /* something that cannot be shortened moves */
    vec3 start[4], end[4];
} stuck;

/* Plane and what it does. */
typedef struct cut {
    vec3 n;
    double limit[2], room;
    double part[4], smallest; /* of the way of each vertex, and the smallest of them */
} cut;

static stuck stuck_pair(const drape_i_response *r, const drape_i_hit *hit) {
    const drape_i_pairs *p = &r->world->pairs[hit->kind];
    stuck s = {.kind = hit->kind, .vertex = p->vertex[hit->pair]};
    s.separation = r->verdicts[hit->kind].separation[hit->pair];
    s.least = LEAST * (s.separation - p->round[hit->pair]);
    for (int32_t i = 0; i < 4; i++) {
        int64_t at = 3 * (int64_t)s.vertex[i];
        s.start[i] = vec3_at(r->world->start + at);
        s.end[i] = vec3_at(r->world->end + at);
        s.movable[i] = r->request->inverse_mass[s.vertex[i]] > 0;
        s.moving |= !s.movable[i] && memcmp(r->world->start + at, r->world->end + at, 3 * sizeof(double)) != 0;
    }
    return s;
}

static int32_t part_of(const stuck *s, int32_t i) { return i < (s->kind == DRAPE_CCD_VERTEX_FACE ? 1 : 2) ? 0 : 1; }

/* How far each part reaches along n at the start (immovable: all the time), and how far beyond that it goes. Both are
 * measured outward, so that those of part b are negative products. */
static void reach_of(const stuck *s, vec3 n, double at[2], double beyond[2]) {
    at[0] = at[1] = INFINITY;
    beyond[0] = beyond[1] = 0;
    for (int32_t i = 0; i < 4; i++) {
        int32_t k = part_of(s, i);
        double sign = k == 0 ? 1 : -1, x0 = sign * vec3_dot(n, s->start[i]), x1 = sign * vec3_dot(n, s->end[i]);
        at[k] = fmin(at[k], s->movable[i] ? x0 : fmin(x0, x1));
    }
    for (int32_t i = 0; i < 4; i++) {
        int32_t k = part_of(s, i);
        if (s->movable[i]) beyond[k] = fmax(beyond[k], at[k] - (k == 0 ? 1 : -1) * vec3_dot(n, s->end[i]));
    }
}

static cut cut_along(const stuck *s, vec3 n) {
    double length = vec3_length(n), at[2], beyond[2];
    cut c = {.n = vec3_scale(1 / length, n), .room = -INFINITY, .smallest = -1};
    if (!(length > 0) || !isfinite(length)) return c;
    reach_of(s, c.n, at, beyond);
    double both = beyond[0] + beyond[1];
    c.room = at[0] + at[1] - s->separation;
    for (int32_t k = 0; k < 2; k++)
        c.limit[k] = at[k] - (c.room > s->least && both > 0 ? SHARED * c.room * (beyond[k] / both) : 0);
    c.smallest = 1;
    for (int32_t i = 0; i < 4; i++) {
        int32_t k = part_of(s, i);
        double sign = k == 0 ? 1 : -1, x0 = sign * vec3_dot(c.n, s->start[i]), x1 = sign * vec3_dot(c.n, s->end[i]);
        c.part[i] = !s->movable[i] || x1 >= c.limit[k] ? 1 : fmax(0, (x0 - c.limit[k]) / (x0 - x1));
        c.smallest = fmin(c.smallest, c.part[i]);
    }
    return c;
}

/* The direction that separates best at the start, together with the whole way of what cannot be shortened. */
static vec3 direction_at_start(const stuck *s) {
    double from[12], to[12], n[3];
    for (int32_t i = 0; i < 4; i++) {
        vec3_put(from + 3 * i, s->start[i]);
        vec3_put(to + 3 * i, s->movable[i] ? s->start[i] : s->end[i]);
    }
    drape_i_ccd_direction(s->kind, from, to, n);
    return vec3_at(n);
}

static vec3 direction_of_hit(const stuck *s, double time) {
    static const int32_t all[4] = {0, 1, 2, 3};
    double x[12], w[4], e[3];
    for (int32_t i = 0; i < 4; i++)
        vec3_put(x + 3 * i, vec3_plus(vec3_scale(1 - time, s->start[i]), time, s->end[i]));
    drape_i_closest(s->kind, x, all, w);
    drape_i_between(x, all, w, e);
    return vec3_at(e);
}

/* end = start + t (full - start); exactly start where t = 0. */
static void shorten_one(drape_i_response *r, int32_t vertex, double part) {
    int64_t at = 3 * (int64_t)vertex;
    vec3 start = vec3_at(r->world->start + at);
    DRAPE_ASSERT(part >= 0 && part <= r->part[vertex]);
    r->part[vertex] = part;
    drape_i_response_move(r, vertex, vec3_plus(start, part, vec3_sub(vec3_at(r->full + at), start)));
}

/* Coupled vertices go the same part of their ways, so that what is linear in them is kept. */
static void shorten(drape_i_response *r, int32_t vertex, double part) {
    const drape_i_response_request *q = r->request;
    const int32_t g = q->group ? q->group[vertex] : -1;
    if (g < 0) shorten_one(r, vertex, part);
    for (int32_t k = g < 0 ? 0 : q->group_first[g]; g >= 0 && k < q->group_first[g + 1]; k++)
        if (q->inverse_mass[q->member[k]] > 0 && part < r->part[q->member[k]]) shorten_one(r, q->member[k], part);
}

/* False if there is no space. Fractions are of the present path, which may have been shortened already. */
static bool separate(drape_i_response *r, const drape_i_hit *hit) {
    stuck s = stuck_pair(r, hit);
    cut best = cut_along(&s, direction_at_start(&s)), other = cut_along(&s, direction_of_hit(&s, hit->time));
    if (other.room > s.least && (best.room <= s.least || other.smallest > best.smallest)) best = other;
    if (!(best.room >= 0) && s.moving) return false;
    double before[4]; /* a group may have several of them */
    for (int32_t i = 0; i < 4; i++) before[i] = r->part[s.vertex[i]];
    for (int32_t i = 0; i < 4; i++)
        if (s.movable[i] && best.part[i] < 1) shorten(r, s.vertex[i], best.part[i] * before[i]);
    r->verdicts[hit->kind].planned[hit->pair] = 1;
    return true;
}

static void count_truncated(drape_i_response *r) {
    r->counts.truncated = 0;
    for (int32_t i = 0; i < r->world->cloth_vertices; i++) r->counts.truncated += r->part[i] < 1;
}

drape_status drape_i_response_truncate(drape_i_response *r, bool *possible) {
    drape_status status = DRAPE_OK;
    *possible = true;
    while (r->hits > 0 && !status && *possible) {
        for (int64_t i = 0; i < r->hits && *possible; i++) {
            *possible = separate(r, &r->hit[i]);
            if (!*possible) drape_i_response_blame_pair(r, &r->hit[i]);
        }
        if (*possible) status = drape_i_response_check(r, false);
    }
    count_truncated(r);
    return status;
}

bool drape_i_response_freeze(drape_i_response *r, const drape_i_hit *hit) {
    const int32_t *vertex = r->world->pairs[hit->kind].vertex[hit->pair];
    bool any = false;
    for (int32_t i = 0; i < 4; i++) {
        bool moves = r->request->inverse_mass[vertex[i]] > 0 && r->part[vertex[i]] > 0;
        if (moves) shorten(r, vertex[i], 0);
        any |= moves;
    }
    return any;
}
