/* triangular_simd.c: the sweeps of triangular.h over consecutive places. */
#include "linear/precond/triangular.h"

#include "sparse/row_sum.h"

/* out = sum V_ij h_j over the blocks of a place */
DRAPE_INLINE void sum_place(const drape_i_sweep *s, int64_t place, double out[3]) {
    row_sum sum = row_sum_zero();
    for (int64_t k = s->first[place]; k < s->first[place + 1]; k++)
        row_sum_add(&sum, s->val + 9 * k, s->h + 3 * (int64_t)s->col[k]);
    row_sum_total(&sum, out);
}

DRAPE_INLINE void times(const double *G, const double x[3], double out[3]) {
    for (int r = 0; r < 3; r++) out[r] = (G[3 * r] * x[0] + G[3 * r + 1] * x[1]) + G[3 * r + 2] * x[2];
}

void DRAPE_NAME(drape_i_sweep_forward)(const drape_i_sweep *s, int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; p++) {
        int64_t i = 3 * (int64_t)s->row[p];
        double sum[3];
        sum_place(s, p, sum);
        for (int k = 0; k < 3; k++) sum[k] = s->r[i + k] - sum[k];
        times(s->G + 9 * p, sum, s->h + i);
    }
}

double DRAPE_NAME(drape_i_sweep_back)(const drape_i_sweep *s, int64_t begin, int64_t end) {
    double dot = 0;
    for (int64_t p = end - 1; p >= begin; p--) {
        int64_t i = 3 * (int64_t)s->row[p];
        const double *r = s->r + i;
        double sum[3], less[3], *h = s->h + i;
        sum_place(s, p, sum);
        times(s->G + 9 * p, sum, less);
        for (int k = 0; k < 3; k++) h[k] = s->keep * h[k] - less[k];
        dot += (r[0] * h[0] + r[1] * h[1]) + r[2] * h[2];
    }
    return dot;
}
