/* lanczos.c: the largest eigenvalue of D^-1 A by the generalised Lanczos method (van der Vorst 1982; Tamstorf, Jones
 * and McCormick 2015, section 7). A level is scaled so that D = I, and what is left is Lanczos' own method: the
 * tridiagonal matrix that it builds has its extreme eigenvalues after a few iterations,
 *
 *     u = A q,  alpha = q'u,  w = u - alpha q - beta q_before,  beta = |w|,  q = w / beta */
#include "linear/amg/setup.h"

#include "base/parallel.h"

#include <math.h>

enum { MOST = 16, GRAIN = 512 };

typedef struct state {
    const drape_i_upper *A;
    float *q, *w, *before;
    double alpha, beta; /* of a step */
} state;

/* A hash's upper bits: anything without structure serves. */
static float noise(int64_t i) {
    uint32_t x = (uint32_t)i * 2654435761u + 12345u;
    x ^= x >> 15, x *= 2246822519u, x ^= x >> 13;
    return (float)(int32_t)(x >> 8) / 8388608.0f - 1;
}

static void start_chunk(void *data, int64_t begin, int64_t end, double *sums) {
    state *s = data;
    const int32_t r = s->A->r, stride = DRAPE_I_STRIDE(r);
    for (int64_t i = begin * stride; i < end * stride; i++) {
        s->w[i] = i % stride < r ? noise(i) : 0;
        s->q[i] = 0;
        sums[0] += (double)s->w[i] * s->w[i];
    }
}

/* The next q */
static void scale_chunk(void *data, int64_t begin, int64_t end) {
    state *s = data;
    const float scale = (float)(1 / s->beta);
    const int32_t stride = DRAPE_I_STRIDE(s->A->r);
    for (int64_t i = begin * stride; i < end * stride; i++) {
        s->before[i] = s->q[i];
        s->q[i] = scale * s->w[i];
    }
}

/* Sums go side by side, one for each of the first SIDE numbers of a row: alone each waits for the one before. */
enum { SIDE = 3 };

static void dot_chunk(void *data, int64_t begin, int64_t end, double *sums) {
    const state *s = data;
    const int32_t r = s->A->r, stride = DRAPE_I_STRIDE(r);
    double side[SIDE] = {0};
    for (int64_t i = begin; i < end; i++)
        for (int64_t k = stride * i; k < stride * i + r; k += SIDE)
            for (int32_t m = 0; m < SIDE; m++) side[m] += (double)s->q[k + m] * s->w[k + m];
    sums[0] += (side[0] + side[1]) + side[2];
}

static void advance_chunk(void *data, int64_t begin, int64_t end, double *sums) {
    state *s = data;
    const float alpha = (float)s->alpha, beta = (float)s->beta;
    const int32_t r = s->A->r, stride = DRAPE_I_STRIDE(r);
    double side[SIDE] = {0};
    for (int64_t i = begin; i < end; i++)
        for (int64_t k = stride * i; k < stride * i + r; k += SIDE)
            for (int32_t m = 0; m < SIDE; m++) {
                const float w = (s->w[k + m] - alpha * s->q[k + m]) - beta * s->before[k + m];
                s->w[k + m] = w;
                side[m] += (double)w * w;
            }
    sums[0] += (side[0] + side[1]) + side[2];
}

/* How many eigenvalues of the tridiagonal matrix lie below x (Sturm). */
static int32_t count_below(const double *alpha, const double *beta, int32_t n, double x) {
    int32_t count = 0;
    double d = 1;
    for (int32_t i = 0; i < n; i++) {
        d = alpha[i] - x - (i > 0 ? beta[i] * beta[i] / d : 0);
        if (d == 0) d = 1e-300;
        count += d < 0;
    }
    return count;
}

static double largest_eigenvalue(const double *alpha, const double *beta, int32_t n) {
    double high = 0, low = 0;
    for (int32_t i = 0; i < n; i++) high = fmax(high, fabs(alpha[i]) + beta[i] + (i + 1 < n ? beta[i + 1] : 0));
    for (int32_t k = 0; k < 60; k++) {
        double middle = (low + high) / 2;
        if (count_below(alpha, beta, n, middle) < n) low = middle;
        else high = middle;
    }
    return high;
}

static double iterate(drape_context *ctx, state *s, int32_t iterations) {
    double alpha[MOST] = {0}, beta[MOST] = {0}, length2;
    int32_t rows = s->A->rows, n = 0;
    drape_i_sum(ctx, rows, GRAIN, start_chunk, s, 1, &length2);
    for (; n < iterations && n < MOST; n++) {
        if (!(length2 > 0) || !isfinite(length2)) break;
        s->beta = sqrt(length2);
        beta[n] = n > 0 ? s->beta : 0;
        drape_i_loop(ctx, rows, GRAIN, scale_chunk, s);
        drape_i_upper_multiply(ctx, s->A, s->q, s->w);
        drape_i_sum(ctx, rows, GRAIN, dot_chunk, s, 1, &alpha[n]);
        s->alpha = alpha[n];
        s->beta = beta[n];
        drape_i_sum(ctx, rows, GRAIN, advance_chunk, s, 1, &length2);
    }
    return n > 0 ? largest_eigenvalue(alpha, beta, n) : 1;
}

drape_status drape_i_lanczos(drape_context *ctx, const drape_i_upper *A, int32_t iterations, double *rho) {
    int64_t n = (int64_t)A->rows * DRAPE_I_STRIDE(A->r);
    state s = {.A = A};
    s.q = drape_i_fvector(ctx, 3 * n);
    if (!s.q) return DRAPE_ERROR_MEMORY;
    s.w = s.q + n;
    s.before = s.w + n;
    *rho = iterate(ctx, &s, iterations);
    drape_i_fvector_free(ctx, s.q, 3 * n);
    return DRAPE_OK;
}
