/* nodal_simd.c: the two loops over the vertices of a ring in which the membrane `nodal` spends its time.
 *
 * Matrices and vectors have `room` entries per row or component, n and then zeros up to a multiple of eight.
 *
 *   multiply   out = scale m y for a symmetric m and y of three components. Cost: 6 n flops per entry.
 *   merge      out = sum_s p_s P_s + q_s Q_s, matrices of `count` numbers for three conditions. Cost: 12 flops and 48
 *              bytes per number.
 *   products   `vectors` has nine numbers per entry, zeta of three conditions, number after number. out, in the same
 *              layout, is sum_s w_s a_s b_s' + same(b) I for every entry b: the nine numbers of a block, exactly the
 *              transpose with a and b exchanged. Cost: 84 flops per entry. */
#include "base/simd.h"
#include "cloth/nodal.h"

void DRAPE_NAME(drape_i_nodal_multiply)(int64_t n, int64_t room, double scale, const double *m, const double *y,
                                        double *out) {
    const double *y0 = y, *y1 = y + DRAPE_I_NODAL_MOST, *y2 = y + 2 * DRAPE_I_NODAL_MOST;
    const vd factor = vd_set1(scale);
    for (int64_t i = 0; i < room; i += DRAPE_W) {
        vd s0 = vd_set1(0), s1 = vd_set1(0), s2 = vd_set1(0);
        for (int64_t j = 0; j < n; j++) {
            const vd f = vd_load(m + j * room + i);
            s0 = s0 + f * vd_set1(y0[j]), s1 = s1 + f * vd_set1(y1[j]), s2 = s2 + f * vd_set1(y2[j]);
        }
        vd_store(out + i, factor * s0);
        vd_store(out + DRAPE_I_NODAL_MOST + i, factor * s1);
        vd_store(out + 2 * DRAPE_I_NODAL_MOST + i, factor * s2);
    }
}

void DRAPE_NAME(drape_i_nodal_merge)(int64_t count, const double p[3], const double q[3], const double *P,
                                     const double *Q, double *out) {
    const vd p0 = vd_set1(p[0]), p1 = vd_set1(p[1]), p2 = vd_set1(p[2]);
    const vd q0 = vd_set1(q[0]), q1 = vd_set1(q[1]), q2 = vd_set1(q[2]);
    for (int64_t i = 0; i < count; i += DRAPE_W) {
        const double *m = P + i, *n = Q + i;
        const vd sum = (p0 * vd_load(m) + p1 * vd_load(m + count)) + p2 * vd_load(m + 2 * count);
        vd_store(out + i, sum + ((q0 * vd_load(n) + q1 * vd_load(n + count)) + q2 * vd_load(n + 2 * count)));
    }
}

void DRAPE_NAME(drape_i_nodal_products)(int64_t room, const double w[3], const double a[9], const double *same,
                                        const double *vectors, double *out) {
    const vd w0 = vd_set1(w[0]), w1 = vd_set1(w[1]), w2 = vd_set1(w[2]);
    for (int64_t b = 0; b < room; b += DRAPE_W)
        for (int k = 0; k < 3; k++) {
            const vd b0 = vd_load(vectors + k * room + b), b1 = vd_load(vectors + (3 + k) * room + b);
            const vd b2 = vd_load(vectors + (6 + k) * room + b);
            for (int i = 0; i < 3; i++) {
                const vd sum =
                    (w0 * (vd_set1(a[i]) * b0) + w1 * (vd_set1(a[3 + i]) * b1)) + w2 * (vd_set1(a[6 + i]) * b2);
                vd_store(out + (3 * i + k) * room + b, i == k ? sum + vd_load(same + b) : sum);
            }
        }
}
