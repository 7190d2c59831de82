/* nodal_simd.c: products of the vectors of a point's conditions, for all of its entries at once.
 *
 * `vectors` has nine numbers per entry, zeta of three conditions, number after number with `room` entries each, a
 * multiple of eight. out, in the same layout, is sum_s w_s a_s b_s' for every entry b, the nine numbers of a block:
 * exactly the transpose with a and b exchanged. Cost: 81 flops per entry. */
#include "base/simd.h"
#include "cloth/nodal.h"

void DRAPE_NAME(drape_i_nodal_products)(int64_t room, const double w[3], const double a[9], const double *vectors,
                                        double *out) {
    const vd w0 = vd_set1(w[0]), w1 = vd_set1(w[1]), w2 = vd_set1(w[2]);
    for (int64_t b = 0; b < room; b += DRAPE_W)
        for (int k = 0; k < 3; k++) {
            const vd b0 = vd_load(vectors + k * room + b), b1 = vd_load(vectors + (3 + k) * room + b);
            const vd b2 = vd_load(vectors + (6 + k) * room + b);
            for (int i = 0; i < 3; i++) {
                const vd sum =
                    (w0 * (vd_set1(a[i]) * b0) + w1 * (vd_set1(a[3 + i]) * b1)) + w2 * (vd_set1(a[6 + i]) * b2);
                vd_store(out + (3 * i + k) * room + b, sum);
            }
        }
}
