/* lanczos.c: the largest eigenvalue of D^-1 A by the generalised Lanczos method (van der Vorst 1982; Tamstorf, Jones
 * and McCormick 2015, section 7): D^-1 A is symmetric in the inner product of D, and the tridiagonal matrix that
 * Lanczos builds has its extreme eigenvalues after a few iterations. In the variables w = D q:
 *
 *     u = A q,  alpha = q'u,  w <- u - alpha w - beta w_before,  q = D^-1 w / beta,  beta = sqrt(w'D^-1 w) */
#include "linear/amg/setup.h"

#include "base/parallel.h"
#include "linear/amg/kernels.h"

#include <math.h>

enum { MOST = 16, GRAIN = 512 };

typedef struct state {
    drape_context *ctx;
    drape_i_level *level;
    float *q, *w, *before;
    double scale, alpha, beta; /* of a step */
} state;

/* An LCG's upper bits: anything without structure serves. */
static float noise(int64_t i) {
    uint32_t x = (uint32_t)i * 2654435761u + 12345u;
    x ^= x >> 15, x *= 2246822519u, x ^= x >> 13;
    return (float)(int32_t)(x >> 8) / 8388608.0f - 1;
}

static void start_chunk(void *data, int64_t begin, int64_t end) {
    state *s = data;
    const int32_t stride = DRAPE_I_STRIDE(s->level->A.r);
    for (int64_t i = begin * stride; i < end * stride; i++) s->w[i] = noise(i), s->before[i] = 0;
}

/* q = D^-1 w; sums w'q */
static void apply_chunk(void *data, int64_t begin, int64_t end, double *sums) {
    state *s = data;
    sums[0] = drape_i_finverse_at[s->ctx->simd](s->level, s->w, s->q, (int32_t)begin, (int32_t)end);
}

static void scale_chunk(void *data, int64_t begin, int64_t end) {
    state *s = data;
    const float scale = (float)s->scale;
    const int32_t stride = DRAPE_I_STRIDE(s->level->A.r);
    for (int64_t i = begin * stride; i < end * stride; i++) s->q[i] *= scale, s->w[i] *= scale;
}

/* u = A q, into level->t; sums q'u */
static void multiply_chunk(void *data, int64_t begin, int64_t end, double *sums) {
    state *s = data;
    const int32_t r = s->level->A.r, stride = DRAPE_I_STRIDE(r);
    drape_i_fmultiply_at[s->ctx->simd](&s->level->A, s->q, s->level->t, (int32_t)begin, (int32_t)end);
    for (int64_t i = begin; i < end; i++)
        for (int64_t k = stride * i; k < stride * i + r; k++) sums[0] += (double)s->q[k] * s->level->t[k];
}

static void advance_chunk(void *data, int64_t begin, int64_t end) {
    state *s = data;
    const float alpha = (float)s->alpha, beta = (float)s->beta;
    const int32_t stride = DRAPE_I_STRIDE(s->level->A.r);
    for (int64_t i = begin * stride; i < end * stride; i++) {
        float next = s->level->t[i] - alpha * s->w[i] - beta * s->before[i];
        s->before[i] = s->w[i];
        s->w[i] = next;
    }
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

static double iterate(state *s, int32_t iterations) {
    double alpha[MOST] = {0}, beta[MOST] = {0};
    int32_t rows = s->level->A.rows, n = 0;
    drape_i_loop(s->ctx, rows, GRAIN, start_chunk, s);
    for (; n < iterations && n < MOST; n++) {
        double length2;
        drape_i_sum(s->ctx, rows, GRAIN, apply_chunk, s, 1, &length2);
        if (!(length2 > 0) || !isfinite(length2)) break;
        s->scale = 1 / sqrt(length2);
        beta[n] = n > 0 ? sqrt(length2) : 0;
        drape_i_loop(s->ctx, rows, GRAIN, scale_chunk, s);
        drape_i_sum(s->ctx, rows, GRAIN, multiply_chunk, s, 1, &alpha[n]);
        s->alpha = alpha[n];
        s->beta = beta[n];
        drape_i_loop(s->ctx, rows, GRAIN, advance_chunk, s);
    }
    return n > 0 ? largest_eigenvalue(alpha, beta, n) : 1;
}

drape_status drape_i_lanczos(drape_context *ctx, drape_i_level *level, int32_t iterations, double *rho) {
    state s = {.ctx = ctx, .level = level, .q = level->x, .w = level->b};
    int64_t n = (int64_t)level->A.rows * DRAPE_I_STRIDE(level->A.r);
    s.before = drape_i_fvector(ctx, n);
    if (!s.before) return DRAPE_ERROR_MEMORY;
    *rho = iterate(&s, iterations);
    drape_i_fvector_free(ctx, s.before, n);
    return DRAPE_OK;
}
