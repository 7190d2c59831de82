/* narrow.c: do two parts meet while they move? What this file calls apart is apart: the proof covers all rounding.
 *
 * The parts a and b are a vertex and a triangle, or two edges, and all vertices move linearly over the step [0, 1].
 * Their difference vectors r_i = a_j - b_k (3 or 4) are linear in time too. If one direction n satisfies
 *     n.r_i > 0 for all i, at s and at t,
 * then n.r_i > 0 on all of [s, t]. Every point of part a minus every point of part b is a convex combination of the
 * r_i, so no two points of them meet in [s, t]. With n.r_i > |n| d they stay farther apart than d. Any n will do,
 * however it was found: rounding matters in n.r only.
 *
 * Such an n exists if and only if the hull of the 6 or 8 vectors r_i(s), r_i(t) does not contain the origin (has no
 * point within d of it). Then the hull's point nearest to the origin is one. It is searched for in that way (Gilbert,
 * Johnson, Keerthi 1988), and each direction on the way is tried: normals of faces, common normals of edges, vectors
 * of closest points. So coplanar motion, parallel edges, triangles without area and parts at rest are not special.
 * Where no direction is found the interval is halved, the earlier half first, down to 2^-depth. What is then left is
 * a contact at the beginning of that interval: all that came before is proved apart.
 *
 * Parts that lie on each other. If the closest points are inside of two edges of length L, or of a triangle, all r_i
 * lie in a plane at the distance g. Where the plane turns by an angle a in the interval, the best single n has
 * n.r_i = g - L a/2 for some i. So g - d < L a/2 takes more intervals, in proportion. Pairs of a pile that rest on
 * each other took thousands of them. Therefore n may turn, too, from m at s to n at t: n(T) = (1 - T) m + T n for
 * 0 <= T <= 1. Then n(T).r_i(T) is quadratic, with the Bernstein coefficients
 *     m.r_i(s),   (m.r_i(t) + n.r_i(s))/2,   n.r_i(t).
 * If all of them are above max(|m|, |n|) d for all i, then n(T).r_i(T) > |n(T)| d. With the best direction at each
 * end, what is lost is of the order L a^2.
 *
 * Rounding. u = 2^-53, e = 2^-1075 bounds the error of a product that underflows; sums never underflow inexactly. All
 * operations are plain doubles, rounded to nearest, without FMA. s and 1 - s are multiples of 2^-depth, so exact.
 *
 * At the ends, q = fl(a - b) = r (1 + u') with |u'| <= u.
 *
 * In between, q(s) = fl((1 - s) q(0) + s q(1)) has two more roundings, and (1 - s) |r(0)| + s |r(1)| <= max |r|. Let
 * R be the largest |q| at both ends among all i, per coordinate, made at least 2^-900. Then
 *     |q(s) - r(s)| <= 3.01 u R + 2.01 e.
 *
 * The product p = fl((n_x q_x + n_y q_y) + n_z q_z) has at most three roundings in each of its terms, so
 *     |p - n.q| <= 3.01 u sum |n_k| R_k + 3.01 e,   and together
 *     |p - n.r| <= 6.03 u sum |n_k| R_k + 2.01 e sum |n_k| + 3.01 e.
 * It is compared with
 *     B = fl(8 u fl(sum |n_k| R_k) + 2^-1000) >= (1 - 5 u) (8 u sum |n_k| R_k + 2^-1000) - 4 e.
 * By the choice of R, 1.9 u |n_k| R_k > 2.01 e |n_k|. Hence p > B implies n.r > 0.
 *
 * With d > 0, let w = fl((1 + 16 u) d) and g = fl(sqrt(n.n + 2^-960)). What underflows in n.n is below 2^-960, so
 * g >= |n| (1 - 5 u). Then fl(w g) >= |n| d (1 + 8 u) - e, or w is subnormal and lacks at most 2 e + 5 u 2^-1022,
 * which 1.8 u |n_k| R_k also covers. Adding it to B costs another u of the sum. Hence p > fl(B + w g) implies
 * n.r > |n| d.
 *
 * The middle coefficient is tested without the half: the sum q of two products is compared with twice the right side.
 * Its error is at most twice that of a product, plus u |q| with |q| <= 2 sum |n_k| R_k. Together this is
 * 14.1 u sum |n_k| R_k, which is below the 16 u on the right by enough for what underflows.
 *
 * Overflow. At the ends |p| <= fl(sum |n_k| R_k), since rounding is monotonic. So B overflows where p does, and
 * infinity > infinity is false; so is every comparison with what is not a number. In between q(s) could overflow
 * where q(0) and q(1) do not: R above 2^500 is therefore never certified.
 *
 * Cost: a test of an interval takes 1 to 5 directions of 40 flops, and as much again to find the next one. Where
 * these fail, a direction that turns takes as much again. A contact takes some 40 intervals. */
#include "contact/narrow.h"

#include "base/parallel.h"
#include "base/vec3.h"

#include <math.h>
#include <string.h>

#define MOST_R 0x1p500

enum {
    GRAIN = 256,     /* pairs per piece of the loop, at least */
    DIRECTIONS = 16, /* most directions tried on one interval; 2 to 5 are usual */
};

/* The vertices of the hull among which the point nearest to the origin is searched for. */
typedef struct simplex {
    int count;
    vec3 v[4];
    int index[4];
} simplex;

typedef struct search {
    int half, count; /* vectors at one end, at both */
    vec3 q[2][4];    /* difference vectors at times 0 and 1 */
    vec3 R;
    double width;                /* (1 + 16 u) d */
    vec3 r[DRAPE_I_CCD_VECTORS]; /* at the ends of the interval */
    simplex simplex;             /* of the interval before: its vertices are a good guess for the next one */
    vec3 n;                      /* the direction to try */
} search;

/* ---- Directions ---- */

static double squared(vec3 a) { return vec3_dot(a, a); }

/* Each of these keeps of the simplex only what is needed to span its point nearest to the origin, and gives the
 * direction of that point. False where the origin is in the simplex. */

static void keep(simplex *s, int i, int j, int k) {
    const int from[3] = {i, j, k};
    simplex old = *s;
    s->count = k >= 0 ? 3 : j >= 0 ? 2 : 1;
    for (int c = 0; c < s->count; c++) s->v[c] = old.v[from[c]], s->index[c] = old.index[from[c]];
}

static bool towards_point(const simplex *s, vec3 *n) {
    *n = s->v[0];
    return squared(*n) > 0;
}

static bool towards_segment(simplex *s, vec3 *n) {
    vec3 a = s->v[0], b = s->v[1], ab = vec3_sub(b, a);
    if (vec3_dot(a, ab) >= 0) {
        keep(s, 0, -1, -1);
        return towards_point(s, n);
    }
    if (vec3_dot(b, ab) <= 0) {
        keep(s, 1, -1, -1);
        return towards_point(s, n);
    }
    *n = vec3_cross(ab, vec3_cross(a, ab)); /* at right angles to ab, however badly a x ab is rounded */
    return squared(*n) > 0;
}

/* By the regions of a triangle: corners, edges, inside. */
static bool towards_triangle(simplex *s, vec3 *n) {
    vec3 a = s->v[0], b = s->v[1], c = s->v[2];
    vec3 ab = vec3_sub(b, a), ac = vec3_sub(c, a), bc = vec3_sub(c, b), N = vec3_cross(ab, ac);
    double a_ab = vec3_dot(a, ab), a_ac = vec3_dot(a, ac), b_ab = vec3_dot(b, ab), b_bc = vec3_dot(b, bc),
           c_ac = vec3_dot(c, ac), c_bc = vec3_dot(c, bc);
    if (a_ab >= 0 && a_ac >= 0) return keep(s, 0, -1, -1), towards_point(s, n);
    if (b_ab <= 0 && b_bc >= 0) return keep(s, 1, -1, -1), towards_point(s, n);
    if (c_ac <= 0 && c_bc <= 0) return keep(s, 2, -1, -1), towards_point(s, n);
    if (vec3_dot(N, vec3_cross(a, b)) <= 0 && a_ab <= 0 && b_ab >= 0) return keep(s, 0, 1, -1), towards_segment(s, n);
    if (vec3_dot(N, vec3_cross(c, a)) <= 0 && a_ac <= 0 && c_ac >= 0) return keep(s, 0, 2, -1), towards_segment(s, n);
    if (vec3_dot(N, vec3_cross(b, c)) <= 0 && b_bc <= 0 && c_bc >= 0) return keep(s, 1, 2, -1), towards_segment(s, n);
    *n = vec3_dot(N, a) < 0 ? vec3_scale(-1, N) : N;
    return squared(*n) > 0;
}

/* The nearest of the faces that the origin is outside of. V is six times the volume. The normals N of the faces abc,
 * abd, acd and bcd have the products V, -V, V and -V with the vector from the face to the fourth vertex. */
static bool towards_tetrahedron(simplex *s, vec3 *n) {
    static const int face[4][3] = {{0, 1, 2}, {0, 1, 3}, {0, 2, 3}, {1, 2, 3}};
    const vec3 a = s->v[0], ab = vec3_sub(s->v[1], a), ac = vec3_sub(s->v[2], a), ad = vec3_sub(s->v[3], a);
    const vec3 abc = vec3_cross(ab, ac), abd = vec3_cross(ab, ad), acd = vec3_cross(ac, ad);
    const vec3 bcd = {abc.x - abd.x + acd.x, abc.y - abd.y + acd.y, abc.z - abd.z + acd.z};
    const double V = vec3_dot(abc, ad);
    const bool inside[4] = {vec3_dot(abc, a) * V<0, vec3_dot(abd, a) * V> 0,
                            vec3_dot(acd, a) * V<0, vec3_dot(bcd, s->v[1]) * V> 0};
    if (inside[0] && inside[1] && inside[2] && inside[3]) return false;
    const simplex all = *s;
    double nearest = INFINITY;
    for (int f = 0; f < 4; f++) {
        simplex part = all;
        vec3 direction;
        if (inside[f]) continue;
        keep(&part, face[f][0], face[f][1], face[f][2]);
        if (!towards_triangle(&part, &direction)) return false;
        double along = vec3_dot(direction, part.v[0]), distance = along * along / squared(direction);
        if (distance < nearest) nearest = distance, *s = part, *n = direction;
    }
    return nearest < INFINITY;
}

static bool towards(simplex *s, vec3 *n) {
    switch (s->count) {
    case 1: return towards_point(s, n);
    case 2: return towards_segment(s, n);
    case 3: return towards_triangle(s, n);
    default: return towards_tetrahedron(s, n);
    }
}

/* ---- Intervals ---- */

/* B, see above. */
static double rounding_of(const search *s, vec3 n) {
    return ((fabs(n.x) * s->R.x + fabs(n.y) * s->R.y) + fabs(n.z) * s->R.z) * DRAPE_I_CCD_UNITS + DRAPE_I_CCD_TINY;
}

/* Whether s->n certifies the interval; else *worst is the vector that it is worst for. */
static bool certified_by(const search *s, int *worst) {
    const vec3 n = s->n;
    double right = rounding_of(s, n);
    if (s->width > 0) right += s->width * sqrt(squared(n) + DRAPE_I_CCD_LEAST_SQUARE);
    double least = INFINITY;
    bool all = true;
    *worst = 0;
    for (int i = 0; i < s->count; i++) {
        double p = vec3_dot(n, s->r[i]);
        all &= p > right;
        if (p < least) least = p, *worst = i;
    }
    return all;
}

static vec3 at_time(vec3 q0, vec3 q1, double t) {
    double w = 1 - t;
    return (vec3){w * q0.x + t * q1.x, w * q0.y + t * q1.y, w * q0.z + t * q1.z};
}

static bool certified(search *s, double begin, double end) {
    for (int i = 0; i < s->half; i++) {
        s->r[i] = at_time(s->q[0][i], s->q[1][i], begin);
        s->r[s->half + i] = at_time(s->q[0][i], s->q[1][i], end);
    }
    simplex *x = &s->simplex;
    for (int c = 0; c < x->count; c++) x->v[c] = s->r[x->index[c]];
    if (x->count > 0 && !towards(x, &s->n)) return false;
    for (int tried = 0; tried < DIRECTIONS; tried++) {
        int worst;
        if (certified_by(s, &worst)) return true;
        for (int c = 0; c < x->count; c++)
            if (x->index[c] == worst) return false; /* n is the best there is */
        x->v[x->count] = s->r[worst], x->index[x->count++] = worst;
        if (!towards(x, &s->n)) return false;
    }
    return false;
}

/* ---- Directions that turn ---- */

/* A direction, about as long as 1, that is best for the vectors at one end of the interval. */
static bool best_at(const search *s, const vec3 *r, vec3 *n) {
    simplex x = {.count = 0};
    *n = r[0];
    for (int i = 1; i < s->half; i++) *n = vec3_add(*n, r[i]);
    for (int tried = 0; tried < DIRECTIONS; tried++) {
        int worst = 0;
        bool known = false;
        double least = INFINITY;
        for (int i = 0; i < s->half; i++) {
            double p = vec3_dot(*n, r[i]);
            if (p < least) least = p, worst = i;
        }
        for (int c = 0; c < x.count; c++) known |= x.index[c] == worst;
        if (known) break;
        x.v[x.count] = r[worst], x.index[x.count++] = worst;
        if (!towards(&x, n)) return false;
    }
    double length = sqrt(squared(*n));
    if (!(length > 0)) return false;
    *n = vec3_scale(1 / length, *n);
    return true;
}

/* Whether one that turns from m to n certifies the interval. */
static bool certified_by_turn(const search *s, vec3 m, vec3 n) {
    double right = fmax(rounding_of(s, m), rounding_of(s, n));
    if (s->width > 0) right += s->width * sqrt(fmax(squared(m), squared(n)) + DRAPE_I_CCD_LEAST_SQUARE);
    bool all = true;
    for (int i = 0; i < s->half; i++) {
        vec3 a = s->r[i], b = s->r[s->half + i];
        all &= vec3_dot(m, a) > right && vec3_dot(n, b) > right && vec3_dot(m, b) + vec3_dot(n, a) > 2 * right;
    }
    return all;
}

/* After certified(), for the same interval. */
static bool certified_turning(const search *s) {
    vec3 m, n;
    return best_at(s, s->r, &m) && best_at(s, s->r + s->half, &n) && certified_by_turn(s, m, n);
}

static bool begin_search(search *s, drape_ccd_kind kind, const double *const start[4], const double *const end[4],
                         double separation) {
    s->half = kind == DRAPE_CCD_VERTEX_FACE ? 3 : 4;
    s->count = 2 * s->half;
    s->width = DRAPE_I_CCD_SEPARATION * separation;
    s->R = (vec3){DRAPE_I_CCD_LEAST, DRAPE_I_CCD_LEAST, DRAPE_I_CCD_LEAST};
    s->simplex.count = 0;
    s->n = (vec3){0, 0, 0};
    if (!(separation >= 0 && s->width < INFINITY)) return false;
    for (int e = 0; e < 2; e++) {
        const double *const *x = e == 0 ? start : end;
        for (int i = 0; i < s->half; i++) {
            vec3 q = kind == DRAPE_CCD_VERTEX_FACE ? vec3_sub(vec3_at(x[0]), vec3_at(x[1 + i]))
                                                   : vec3_sub(vec3_at(x[i / 2]), vec3_at(x[2 + i % 2]));
            if (!(fabs(q.x) <= MOST_R && fabs(q.y) <= MOST_R && fabs(q.z) <= MOST_R)) return false;
            s->q[e][i] = q;
            s->R = (vec3){fmax(s->R.x, fabs(q.x)), fmax(s->R.y, fabs(q.y)), fmax(s->R.z, fabs(q.z))};
            s->n = (vec3){s->n.x + q.x, s->n.y + q.y, s->n.z + q.z};
        }
    }
    return true;
}

/* Intervals are [j, j + 1] 2^-level, in the order of time. */
static double time_of_contact(drape_ccd_kind kind, const double *const start[4], const double *const end[4],
                              double separation, int32_t depth) {
    search s;
    if (!begin_search(&s, kind, start, end, separation)) return 0;
    int64_t j = 0;
    int32_t level = 0;
    double h = 1; /* 2^-level */
    for (;;) {
        if (certified(&s, (double)j * h, (double)(j + 1) * h) || certified_turning(&s)) {
            for (j++; level > 0 && j % 2 == 0; j /= 2) level--, h *= 2;
            if (level == 0) return DRAPE_CCD_APART;
        } else {
            if (level == depth) return (double)j * h;
            level++, j *= 2, h *= 0.5;
        }
    }
}

void drape_i_ccd_direction(drape_ccd_kind kind, const double *start, const double *end, double n[3]) {
    const double *from[4] = {start, start + 3, start + 6, start + 9}, *to[4] = {end, end + 3, end + 6, end + 9};
    search s = {0};
    if (begin_search(&s, kind, from, to, 0)) {
        s.width = INFINITY; /* no direction is good enough: the search goes on to the best */
        certified(&s, 0, 1);
    }
    n[0] = s.n.x, n[1] = s.n.y, n[2] = s.n.z;
}

/* ---- Pairs ---- */

typedef struct batch {
    const drape_ccd_pairs *pairs;
    double *time;
    double separation;
    int32_t depth;
    drape_simd simd;
} batch;

static double time_of_pair(const batch *b, int64_t i) {
    const drape_ccd_pairs *p = b->pairs;
    const double *start[4], *end[4];
    for (int k = 0; k < 4; k++) {
        start[k] = p->start + 3 * (int64_t)p->vertex[4 * i + k];
        end[k] = p->end + 3 * (int64_t)p->vertex[4 * i + k];
    }
    return time_of_contact(p->kind, start, end, p->separation ? p->separation[i] : b->separation, b->depth);
}

/* The kernel takes eight pairs; if fewer are left, the last one takes the place of the missing ones. */
static void times_of_eight(const batch *b, int64_t first, int count) {
    const drape_ccd_pairs *p = b->pairs;
    const int32_t *vertex = p->vertex + 4 * first;
    int32_t filled[4 * DRAPE_I_CCD_LANES];
    double width[DRAPE_I_CCD_LANES];
    bool separated = p->separation || b->separation > 0;
    if (count < DRAPE_I_CCD_LANES) {
        for (int l = 0; l < DRAPE_I_CCD_LANES; l++)
            memcpy(filled + 4 * l, vertex + 4 * (l < count ? l : count - 1), 4 * sizeof *filled);
        vertex = filled;
    }
    for (int l = 0; separated && l < DRAPE_I_CCD_LANES; l++) {
        double d = p->separation ? p->separation[first + (l < count ? l : count - 1)] : b->separation;
        width[l] = d >= 0 ? d : INFINITY; /* infinity is never certified */
    }
    uint32_t apart = drape_i_ccd_first_at[b->simd](p->kind, p->start, p->end, vertex, separated ? width : NULL);
    for (int l = 0; l < count; l++)
        b->time[first + l] = apart >> l & 1 ? DRAPE_CCD_APART : time_of_pair(b, first + l);
}

static void times_of_range(void *data, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += DRAPE_I_CCD_LANES)
        times_of_eight(data, i, end - i < DRAPE_I_CCD_LANES ? (int)(end - i) : DRAPE_I_CCD_LANES);
}

void drape_i_ccd_times(drape_context *ctx, const drape_ccd_pairs *pairs, const drape_ccd_settings *settings,
                       double *time) {
    batch b = {pairs, time, settings->separation, settings->depth, ctx->simd};
    drape_i_loop(ctx, pairs->pairs, GRAIN, times_of_range, &b);
}

/* ---- What is public ---- */

const char *drape_ccd_kind_name(drape_ccd_kind kind) {
    switch (kind) {
    case DRAPE_CCD_VERTEX_FACE: return "vertex-face";
    case DRAPE_CCD_EDGE_EDGE: return "edge-edge";
    }
    return NULL;
}

drape_ccd_settings drape_ccd_defaults(void) { return (drape_ccd_settings){.depth = DRAPE_I_CCD_DEPTH}; }

static drape_ccd_settings resolve(const drape_ccd_settings *settings) {
    drape_ccd_settings s = settings ? *settings : drape_ccd_defaults();
    if (s.depth == 0) s.depth = DRAPE_I_CCD_DEPTH;
    return s;
}

static bool sound_separation(double d) { return d >= 0 && d < INFINITY; }
static bool sound_depth(int32_t depth) { return depth >= 1 && depth <= DRAPE_I_CCD_MAX_DEPTH; }

double drape_ccd_time(drape_ccd_kind kind, const double *start, const double *end,
                      const drape_ccd_settings *settings) {
    drape_ccd_settings s = resolve(settings);
    if (!start || !end || !drape_ccd_kind_name(kind) || !sound_separation(s.separation) || !sound_depth(s.depth))
        return 0;
    static const int32_t vertex[4] = {0, 1, 2, 3};
    const drape_ccd_pairs one = {
        .kind = kind, .vertices = 4, .start = start, .end = end, .pairs = 1, .vertex = vertex};
    double time;
    const batch b = {&one, &time, s.separation, s.depth, DRAPE_SIMD_BASELINE};
    times_of_eight(&b, 0, 1); /* as a batch would do: the first test may prove what the search does not find */
    return time;
}

static drape_status check_settings(drape_context *ctx, const drape_ccd_settings *s) {
    if (!sound_separation(s->separation))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "drape_ccd_settings.separation is %g m; it must be finite and >= 0", s->separation);
    if (!sound_depth(s->depth))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "drape_ccd_settings.depth is %d; it must be in 1..%d",
                            s->depth, DRAPE_I_CCD_MAX_DEPTH);
    return drape_i_check_reserved(ctx, "drape_ccd_settings", s->reserved,
                                  (int32_t)(sizeof s->reserved / sizeof *s->reserved));
}

static drape_status check_pairs(drape_context *ctx, const drape_ccd_pairs *p) {
    if (!drape_ccd_kind_name(p->kind))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "drape_ccd_pairs.kind is %d, which is no kind of pair",
                            (int)p->kind);
    if (p->vertices < 0 || p->pairs < 0)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "drape_ccd_pairs has %d vertices and %lld pairs; neither can be negative", p->vertices,
                            (long long)p->pairs);
    if (p->pairs > 0 && (!p->start || !p->end || !p->vertex))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "drape_ccd_pairs.%s is NULL",
                            !p->start ? "start"
                            : !p->end ? "end"
                                      : "vertex");
    for (int64_t i = 0; i < 4 * p->pairs; i++)
        if (p->vertex[i] < 0 || p->vertex[i] >= p->vertices)
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "pair %lld names vertex %d, but there are %d vertices",
                                (long long)(i / 4), p->vertex[i], p->vertices);
    return drape_i_check_reserved(ctx, "drape_ccd_pairs", p->reserved,
                                  (int32_t)(sizeof p->reserved / sizeof *p->reserved));
}

drape_status drape_ccd_times(drape_context *ctx, const drape_ccd_pairs *pairs, const drape_ccd_settings *settings,
                             double *time) {
    if (!ctx) return DRAPE_ERROR_ARGUMENT;
    if (!pairs || (!time && pairs->pairs > 0))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "drape_ccd_times: %s is NULL", pairs ? "time" : "pairs");
    drape_ccd_settings s = resolve(settings);
    drape_status status = check_settings(ctx, &s);
    if (status == DRAPE_OK) status = check_pairs(ctx, pairs);
    if (status == DRAPE_OK) drape_i_ccd_times(ctx, pairs, &s, time);
    return status;
}
