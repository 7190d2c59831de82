/* vector_simd.c: dot products and updates of long vectors. Memory bandwidth is the limit of all of them. */
#include "base/simd.h"
#include "base/vector.h"

double DRAPE_NAME(drape_i_dot_range)(const double *x, const double *y, int64_t begin, int64_t end) {
    vd8 sum = vd8_zero();
    int64_t i = begin;
    for (; i + 8 <= end; i += 8)
        for (int v = 0; v < VD_PER8; v++) sum.part[v] += vd_load(x + i + v * DRAPE_W) * vd_load(y + i + v * DRAPE_W);
    double rest = 0;
    for (; i < end; i++) rest += x[i] * y[i];
    return vd8_sum(sum) + rest;
}

void DRAPE_NAME(drape_i_advance_range)(double a, const double *p, const double *s, double *x, double *r,
                                       int64_t begin, int64_t end) {
    const vd va = vd_set1(a);
    int64_t i = begin;
    for (; i + DRAPE_W <= end; i += DRAPE_W) {
        vd_store(x + i, vd_load(x + i) + va * vd_load(p + i));
        vd_store(r + i, vd_load(r + i) - va * vd_load(s + i));
    }
    for (; i < end; i++) {
        x[i] += a * p[i];
        r[i] -= a * s[i];
    }
}

void DRAPE_NAME(drape_i_axpy_range)(double a, const double *x, double *y, int64_t begin, int64_t end) {
    const vd va = vd_set1(a);
    int64_t i = begin;
    for (; i + DRAPE_W <= end; i += DRAPE_W) vd_store(y + i, vd_load(y + i) + va * vd_load(x + i));
    for (; i < end; i++) y[i] += a * x[i];
}

void DRAPE_NAME(drape_i_xpby_range)(double b, const double *h, double *p, int64_t begin, int64_t end) {
    const vd vb = vd_set1(b);
    int64_t i = begin;
    for (; i + DRAPE_W <= end; i += DRAPE_W) vd_store(p + i, vd_load(h + i) + vb * vd_load(p + i));
    for (; i < end; i++) p[i] = h[i] + b * p[i];
}
