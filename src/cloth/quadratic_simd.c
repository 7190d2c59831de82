/* quadratic_simd.c: products and energies of a constant quadratic form (quadratic.h).
 *
 * As rows sum to zero, (K x)_i = sum_j k_ij (x_j - x_i), and x'Kx = -1/2 sum_ij k_ij |x_j - x_i|^2: differences, so
 * that nothing depends on where the cloth is. Terms cancel within a row, so rows are summed as a whole. Cost: 12
 * bytes and 9 flops per coupling and product. */
#include "cloth/quadratic.h"
#include "cloth/xyz.h"

void DRAPE_NAME(drape_i_quadratic_multiply)(const drape_i_quadratic *q, double scale, const double *y, int64_t begin,
                                            int64_t end, double *out) {
    for (int64_t i = begin; i < end; i++) {
        const vd4 here = xyz_load(y + 3 * i);
        vd4 sum = {0};
        for (int64_t e = q->rowptr[i]; e < q->rowptr[i + 1]; e++)
            sum += q->k[e] * (xyz_load(y + 3 * (int64_t)q->col[e]) - here);
        xyz_add(out + 3 * i, scale * sum);
    }
}

double DRAPE_NAME(drape_i_quadratic_energies)(const drape_i_quadratic *q, const double *x, int64_t begin,
                                              int64_t end) {
    double sum = 0;
    for (int64_t i = begin; i < end; i++) {
        const vd4 here = xyz_load(x + 3 * i);
        vd4 row = {0};
        for (int64_t e = q->rowptr[i]; e < q->rowptr[i + 1]; e++) {
            const vd4 away = xyz_load(x + 3 * (int64_t)q->col[e]) - here;
            row -= q->k[e] * (away * away);
        }
        sum += 0.25 * xyz_total(row);
    }
    return sum;
}
