/* narrow_simd.c: the first test of the narrow phase, eight pairs at a time: almost all pairs end here.
 *
 * narrow.c says what is proved, and how. Here the interval is the whole step, so the difference vectors are those of
 * the given positions. The first direction n is their mean, which joins the centres of the two parts at the middle of
 * the step; the second is the normal there. Then come a few of Gilbert's steps from the mean. The next n is the point
 * nearest to the origin on the segment from n to the vector for which n.r is smallest. Each such n is in the hull of
 * the vectors, and the sequence tends to the hull's point nearest to the origin. There n.r >= n.n for all of them (E.
 * G. Gilbert, "An iterative procedure for computing the minimum of a quadratic form on a convex set", 1966).
 *
 * A lane once apart stays so, and the others do what they would do alone: results do not depend on the vector width.
 * Cost per pair: 24 loads from the positions and 150 flops for the mean, 130 for each further direction. */
#include "contact/narrow.h"

#include "base/simd.h"

enum { STEPS = 2 };

DRAPE_INLINE vd3 gather(const double *x, const int32_t *vertex, int corner) {
    const double *p[DRAPE_W];
    for (int l = 0; l < DRAPE_W; l++) p[l] = x + 3 * (int64_t)vertex[4 * l + corner];
#define LANE_X(l) p[l][0]
#define LANE_Y(l) p[l][1]
#define LANE_Z(l) p[l][2]
    return (vd3){VD_LANES(LANE_X), VD_LANES(LANE_Y), VD_LANES(LANE_Z)};
}

/* The difference vectors at one end of the step; returns how many. */
DRAPE_INLINE int differences(drape_ccd_kind kind, const double *x, const int32_t *vertex, vd3 *r) {
    vd3 p0 = gather(x, vertex, 0), p1 = gather(x, vertex, 1), p2 = gather(x, vertex, 2), p3 = gather(x, vertex, 3);
    if (kind == DRAPE_CCD_VERTEX_FACE) {
        r[0] = vd3_sub(p0, p1), r[1] = vd3_sub(p0, p2), r[2] = vd3_sub(p0, p3);
        return 3;
    }
    r[0] = vd3_sub(p0, p2), r[1] = vd3_sub(p0, p3), r[2] = vd3_sub(p1, p2), r[3] = vd3_sub(p1, p3);
    return 4;
}

/* Pairs in lanes. */
typedef struct lanes {
    drape_ccd_kind kind;
    bool separated;
    int half, count;
    vd3 r[DRAPE_I_CCD_VECTORS];
    vd3 R;
    vd width;
} lanes;

/* Which lanes n certifies; *worst is the vector for which n.r is smallest, and *least that product. */
DRAPE_INLINE uint32_t certified(const lanes *p, vd3 n, vd *least, vd3 *worst) {
    vd sum = vd_abs(n.x) * p->R.x + vd_abs(n.y) * p->R.y + vd_abs(n.z) * p->R.z;
    vd right = sum * DRAPE_I_CCD_UNITS + DRAPE_I_CCD_TINY;
    if (p->separated) right += p->width * vd_sqrt(vd3_dot(n, n) + DRAPE_I_CCD_LEAST_SQUARE);
    *least = vd3_dot(n, p->r[0]);
    *worst = p->r[0];
    vi above = *least > right;
    for (int i = 1; i < p->count; i++) {
        vd3 r = p->r[i];
        vd d = vd3_dot(n, r);
        vi smaller = d < *least;
        above &= d > right; /* of each by itself: a least of them would lose what is not a number */
        *least = vd_select(smaller, d, *least);
        worst->x = vd_select(smaller, r.x, worst->x);
        worst->y = vd_select(smaller, r.y, worst->y);
        worst->z = vd_select(smaller, r.z, worst->z);
    }
    return vd_bits(above);
}

/* The normal of the triangle, or the common one of the two edges, at the middle of the step, to the side to which
 * the difference `mean` points. */
DRAPE_INLINE vd3 middle_normal(const lanes *p, vd3 mean) {
    const vd3 *s = p->r, *e = p->r + p->half; /* differences of these are those between vertices of one part */
    vd3 a = vd3_add(vd3_sub(s[0], s[1]), vd3_sub(e[0], e[1])), b = vd3_add(vd3_sub(s[0], s[2]), vd3_sub(e[0], e[2]));
    vd3 n = vd3_cross(a, b);
    return vd3_scale(vd_select(vd3_dot(n, mean) < vd_set1(0), vd_set1(-1), vd_set1(1)), n);
}

DRAPE_INLINE uint32_t first(drape_ccd_kind kind, bool separated, const double *start, const double *end,
                            const int32_t *vertex, const double *separation) {
    const uint32_t all = (1u << DRAPE_W) - 1;
    const vd tiny = vd_set1(DRAPE_I_CCD_LEAST);
    lanes p = {.kind = kind, .separated = separated, .R = {tiny, tiny, tiny}};
    p.half = differences(kind, start, vertex, p.r), p.count = 2 * p.half;
    differences(kind, end, vertex, p.r + p.half);
    p.width = separated ? vd_set1(DRAPE_I_CCD_SEPARATION) * vd_load(separation) : vd_set1(0);
    vd3 n = p.r[0], worst, other_worst;
    vd least, other_least;
    for (int i = 0; i < p.count; i++) {
        vd3 r = p.r[i];
        p.R = (vd3){vd_max(vd_abs(r.x), p.R.x), vd_max(vd_abs(r.y), p.R.y), vd_max(vd_abs(r.z), p.R.z)};
        if (i > 0) n = vd3_add(n, r);
    }
    n = vd3_scale(vd_set1(1.0 / p.count), n);

    uint32_t apart = certified(&p, n, &least, &worst);
    if (apart == all) return apart;
    apart |= certified(&p, middle_normal(&p, n), &other_least, &other_worst);
    for (int step = 0; step < STEPS && apart != all; step++) {
        vd3 w = vd3_sub(worst, n);
        vd t = (vd3_dot(n, n) - least) / (vd3_dot(w, w) + DRAPE_I_CCD_TINY);
        n = vd3_add(n, vd3_scale(vd_min(t, vd_set1(1)), w));
        apart |= certified(&p, n, &least, &worst);
    }
    return apart;
}

uint32_t DRAPE_NAME(drape_i_ccd_first)(drape_ccd_kind kind, const double *start, const double *end,
                                       const int32_t *vertex, const double *separation) {
    uint32_t apart = 0;
    for (int lane = 0; lane < DRAPE_I_CCD_LANES; lane += DRAPE_W) {
        const int32_t *v = vertex + 4 * lane;
        uint32_t mask;
        if (kind == DRAPE_CCD_VERTEX_FACE)
            mask = separation ? first(DRAPE_CCD_VERTEX_FACE, true, start, end, v, separation + lane)
                              : first(DRAPE_CCD_VERTEX_FACE, false, start, end, v, NULL);
        else
            mask = separation ? first(DRAPE_CCD_EDGE_EDGE, true, start, end, v, separation + lane)
                              : first(DRAPE_CCD_EDGE_EDGE, false, start, end, v, NULL);
        apart |= mask << lane;
    }
    return apart;
}
