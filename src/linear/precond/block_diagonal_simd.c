/* block_diagonal_simd.c: products with a 3x3 block per vertex, and the two passes of PPCG that make them by the way.
 */
#include "linear/precond/block_diagonal.h"

#include "base/simd.h"

#include <string.h>

enum { NUMBERS = 6, XYZ = 3 * DRAPE_I_GROUP };

/* The lanes [lane, lane + W) of a group's blocks times r. */
DRAPE_INLINE vd3 times(const double *G, int lane, vd3 r) {
    vd g[NUMBERS];
    for (int k = 0; k < NUMBERS; k++) g[k] = vd_load(G + DRAPE_I_GROUP * k + lane);
    return (vd3){(g[0] * r.x + g[1] * r.y) + g[2] * r.z, (g[1] * r.x + g[3] * r.y) + g[4] * r.z,
                 (g[2] * r.x + g[4] * r.y) + g[5] * r.z};
}

/* ---- One whole group ---- */

DRAPE_INLINE void apply_group(const double *G, const double *r, double *h, vd8 *sum) {
    for (int v = 0; v < VD_PER8; v++) {
        vd3 in = vd3_load(r + 3 * v * DRAPE_W), out = times(G, v * DRAPE_W, in);
        vd3_store(h + 3 * v * DRAPE_W, out);
        sum->part[v] += vd3_dot(in, out);
    }
}

DRAPE_INLINE void residual_group(const double *G, double a, const double *q, double *r, vd8 *delta, vd8 *norm) {
    const vd va = vd_set1(a);
    for (int v = 0; v < VD_PER8; v++) {
        vd3 now = vd3_sub(vd3_load(r + 3 * v * DRAPE_W), vd3_scale(va, vd3_load(q + 3 * v * DRAPE_W)));
        vd3_store(r + 3 * v * DRAPE_W, now);
        delta->part[v] += vd3_dot(now, times(G, v * DRAPE_W, now));
        norm->part[v] += vd3_dot(now, now);
    }
}

DRAPE_INLINE void direction_group(const double *G, double a, double b, const double *r, double *x, double *p) {
    const vd va = vd_set1(a), vb = vd_set1(b);
    for (int v = 0; v < VD_PER8; v++) {
        int at = 3 * v * DRAPE_W;
        for (int k = 0; k < 3; k++)
            vd_store(x + at + k * DRAPE_W, vd_load(x + at + k * DRAPE_W) + va * vd_load(p + at + k * DRAPE_W));
        vd3 h = times(G, v * DRAPE_W, vd3_load(r + at));
        vd3_store(p + at, vd3_add(h, vd3_scale(vb, vd3_load(p + at))));
    }
}

/* ---- Ranges; a last group that is not whole goes through a copy ---- */

DRAPE_INLINE int64_t whole_groups(int64_t begin, int64_t end) {
    return begin + (end - begin) / DRAPE_I_GROUP * DRAPE_I_GROUP;
}
DRAPE_INLINE const double *group_of(const double *G, int64_t i) {
    return G + i / DRAPE_I_GROUP * DRAPE_I_GROUP_NUMBERS;
}
DRAPE_INLINE size_t size_of_rest(int64_t i, int64_t end) { return 3 * (size_t)(end - i) * sizeof(double); }

double DRAPE_NAME(drape_i_blocks_apply)(const double *G, const double *r, double *h, int64_t begin, int64_t end) {
    vd8 sum = vd8_zero();
    double rest_r[XYZ] = {0}, rest_h[XYZ];
    int64_t i = begin;
    for (; i < whole_groups(begin, end); i += DRAPE_I_GROUP)
        apply_group(group_of(G, i), r + 3 * i, h ? h + 3 * i : rest_h, &sum);
    if (i < end) {
        memcpy(rest_r, r + 3 * i, size_of_rest(i, end));
        apply_group(group_of(G, i), rest_r, rest_h, &sum);
        if (h) memcpy(h + 3 * i, rest_h, size_of_rest(i, end));
    }
    return vd8_sum(sum);
}

void DRAPE_NAME(drape_i_blocks_residual)(const double *G, double a, const double *q, double *r, int64_t begin,
                                         int64_t end, double *sums) {
    vd8 delta = vd8_zero(), norm = vd8_zero();
    double rest_q[XYZ] = {0}, rest_r[XYZ] = {0};
    int64_t i = begin;
    for (; i < whole_groups(begin, end); i += DRAPE_I_GROUP)
        residual_group(group_of(G, i), a, q + 3 * i, r + 3 * i, &delta, &norm);
    if (i < end) {
        memcpy(rest_q, q + 3 * i, size_of_rest(i, end));
        memcpy(rest_r, r + 3 * i, size_of_rest(i, end));
        residual_group(group_of(G, i), a, rest_q, rest_r, &delta, &norm);
        memcpy(r + 3 * i, rest_r, size_of_rest(i, end));
    }
    sums[0] = vd8_sum(delta);
    sums[1] = vd8_sum(norm);
}

void DRAPE_NAME(drape_i_blocks_direction)(const double *G, double a, double b, const double *r, double *x, double *p,
                                          int64_t begin, int64_t end) {
    double rest_r[XYZ] = {0}, rest_x[XYZ] = {0}, rest_p[XYZ] = {0};
    int64_t i = begin;
    for (; i < whole_groups(begin, end); i += DRAPE_I_GROUP)
        direction_group(group_of(G, i), a, b, r + 3 * i, x + 3 * i, p + 3 * i);
    if (i == end) return;
    memcpy(rest_r, r + 3 * i, size_of_rest(i, end));
    memcpy(rest_x, x + 3 * i, size_of_rest(i, end));
    memcpy(rest_p, p + 3 * i, size_of_rest(i, end));
    direction_group(group_of(G, i), a, b, rest_r, rest_x, rest_p);
    memcpy(x + 3 * i, rest_x, size_of_rest(i, end));
    memcpy(p + 3 * i, rest_p, size_of_rest(i, end));
}
