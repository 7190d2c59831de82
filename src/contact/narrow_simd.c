/* narrow_simd.c: the first test of the narrow phase, eight pairs at a time: almost all pairs end here.
 *
 * narrow.c says what is proved, and how. Here the interval is the whole step, so the difference vectors are those of
 * the given positions. The first direction n is their mean, which joins the centres of the two parts at the middle of
 * the step. Then come a few of Gilbert's steps: n becomes the point nearest to the origin on the segment from n to
 * the vector for which n.r is smallest. Each n is in the hull of the vectors, and the sequence tends to the hull's
 * point nearest to the origin, for which n.r >= n.n for all of them. E. G. Gilbert, "An iterative procedure for
 * computing the minimum of a quadratic form on a convex set", 1966.
 *
 * A lane once apart stays so, and the others do what they would do alone: results do not depend on the vector width.
 * Cost per pair: 24 loads from the positions and 150 flops for the mean, 130 for each further step. */
#include "contact/narrow.h"

#include "base/simd.h"

enum { STEPS = 3 };

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

DRAPE_INLINE uint32_t first(drape_ccd_kind kind, bool separated, const double *start, const double *end,
                            const int32_t *vertex, const double *separation) {
    vd3 r[DRAPE_I_CCD_VECTORS];
    const int half = differences(kind, start, vertex, r), count = 2 * half;
    differences(kind, end, vertex, r + half);

    vd3 R = {vd_set1(DRAPE_I_CCD_LEAST), vd_set1(DRAPE_I_CCD_LEAST), vd_set1(DRAPE_I_CCD_LEAST)}, n = r[0];
    for (int i = 0; i < count; i++) {
        R.x = vd_max(vd_abs(r[i].x), R.x), R.y = vd_max(vd_abs(r[i].y), R.y), R.z = vd_max(vd_abs(r[i].z), R.z);
        if (i > 0) n = vd3_add(n, r[i]);
    }
    n = vd3_scale(vd_set1(1.0 / count), n);
    vd width = vd_set1(0);
    if (separated) width = vd_set1(DRAPE_I_CCD_SEPARATION) * vd_load(separation);

    const uint32_t all = (1u << DRAPE_W) - 1;
    uint32_t apart = 0;
    for (int step = 0;; step++) {
        vd right = (vd_abs(n.x) * R.x + vd_abs(n.y) * R.y + vd_abs(n.z) * R.z) * DRAPE_I_CCD_UNITS + DRAPE_I_CCD_TINY;
        if (separated) right += width * vd_sqrt(vd3_dot(n, n) + DRAPE_I_CCD_LEAST_SQUARE);
        vd least = vd3_dot(n, r[0]);
        vi above = least > right;
        vd3 v = r[0];
        for (int i = 1; i < count; i++) {
            vd d = vd3_dot(n, r[i]);
            above &= d > right;
            vi smaller = d < least;
            least = vd_select(smaller, d, least);
            v.x = vd_select(smaller, r[i].x, v.x), v.y = vd_select(smaller, r[i].y, v.y),
            v.z = vd_select(smaller, r[i].z, v.z);
        }
        apart |= vd_bits(above);
        if (step == STEPS || apart == all) return apart;
        vd3 w = vd3_sub(v, n);
        vd t = (vd3_dot(n, n) - least) / (vd3_dot(w, w) + DRAPE_I_CCD_TINY);
        n = vd3_add(n, vd3_scale(vd_min(t, vd_set1(1)), w));
    }
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
