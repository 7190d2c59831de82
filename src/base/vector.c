/* vector.c: cuts the vectors into chunks for the kernels of vector_simd.c. */
#include "base/vector.h"

#include "base/parallel.h"

#include <string.h>

enum { GRAIN = 4096 };

typedef struct operands {
    drape_simd simd;
    double scalar;
    const double *in, *in2;
    double *out, *out2;
} operands;

static void dot_chunk(void *data, int64_t begin, int64_t end, double *sums) {
    const operands *o = data;
    sums[0] = drape_i_dot_range_at[o->simd](o->in, o->in2, begin, end);
}

double drape_i_dot(drape_context *ctx, int64_t n, const double *x, const double *y) {
    operands o = {ctx->simd, 0, x, y, NULL, NULL};
    double sum;
    drape_i_sum(ctx, n, GRAIN, dot_chunk, &o, 1, &sum);
    return sum;
}

static void advance_chunk(void *data, int64_t begin, int64_t end) {
    const operands *o = data;
    drape_i_advance_range_at[o->simd](o->scalar, o->in, o->in2, o->out, o->out2, begin, end);
}

void drape_i_advance(drape_context *ctx, int64_t n, double a, const double *p, const double *s, double *x,
                     double *r) {
    operands o = {ctx->simd, a, p, s, x, r};
    drape_i_loop(ctx, n, GRAIN, advance_chunk, &o);
}

static void axpy_chunk(void *data, int64_t begin, int64_t end) {
    const operands *o = data;
    drape_i_axpy_range_at[o->simd](o->scalar, o->in, o->out, begin, end);
}

void drape_i_axpy(drape_context *ctx, int64_t n, double a, const double *x, double *y) {
    operands o = {ctx->simd, a, x, NULL, y, NULL};
    drape_i_loop(ctx, n, GRAIN, axpy_chunk, &o);
}

static void xpby_chunk(void *data, int64_t begin, int64_t end) {
    const operands *o = data;
    drape_i_xpby_range_at[o->simd](o->scalar, o->in, o->out, begin, end);
}

void drape_i_xpby(drape_context *ctx, int64_t n, double b, const double *h, double *p) {
    operands o = {ctx->simd, b, h, NULL, p, NULL};
    drape_i_loop(ctx, n, GRAIN, xpby_chunk, &o);
}

static void scale_chunk(void *data, int64_t begin, int64_t end) {
    const operands *o = data;
    for (int64_t i = begin; i < end; i++) o->out[i] = o->scalar * o->in[i];
}

void drape_i_scale(drape_context *ctx, int64_t n, double a, const double *x, double *y) {
    operands o = {ctx->simd, a, x, NULL, y, NULL};
    drape_i_loop(ctx, n, GRAIN, scale_chunk, &o);
}

static void copy_chunk(void *data, int64_t begin, int64_t end) {
    const operands *o = data;
    memcpy(o->out + begin, o->in + begin, (size_t)(end - begin) * sizeof *o->out);
}

void drape_i_vector_copy(drape_context *ctx, int64_t n, const double *x, double *y) {
    operands o = {ctx->simd, 0, x, NULL, y, NULL};
    if (x != y) drape_i_loop(ctx, n, GRAIN, copy_chunk, &o);
}
