/* chebyshev.c: the smoother of Tamstorf, Jones and McCormick (2015, section 7). It is a polynomial in D^-1 A, here
 * with D = I (level.h), that is small on the upper part [LOWER rho, rho] of the spectrum (Saad 2003, algorithm 12.1).
 * With centre c and half width w of that interval, s = c/w, e_0 = 1/s, d = r / c:
 *
 *     x <- x + d,   r <- r - A d,   e = 1 / (2 s - e_before),   d <- e e_before d + (2 e / w) r
 *
 * A multiply for each degree. rho must not be too small, or what lies above it grows: Lanczos' estimate is raised by
 * SAFETY. The same polynomial before and after the coarse correction makes the cycle symmetric. */
#include "linear/amg/cycle.h"

#include "base/parallel.h"

enum { GRAIN = 512 };
static const double LOWER = 0.1, SAFETY = 1.1;

typedef struct smoothing {
    const drape_i_level *level;
    float keep, add; /* d = keep d + add r */
    bool first;      /* d starts from zero */
} smoothing;

/* d from r (in t), then x += d. */
static void direction_chunk(void *data, int64_t begin, int64_t end) {
    const smoothing *s = data;
    const drape_i_level *l = s->level;
    const int64_t stride = DRAPE_I_STRIDE(l->A.r);
    for (int64_t i = stride * begin; i < stride * end; i++) {
        l->d[i] = s->first ? s->add * l->t[i] : s->keep * l->d[i] + s->add * l->t[i];
        l->x[i] += l->d[i];
    }
}

/* The same with (I + D)^-1 r, where the level has terms. */
static void coupled_direction_chunk(void *data, int64_t begin, int64_t end) {
    const smoothing *s = data;
    const drape_i_level *l = s->level;
    const int32_t r = l->A.r, stride = DRAPE_I_STRIDE(r);
    for (int64_t i = begin; i < end; i++) {
        const int32_t v = l->terms.index[i];
        float in[DRAPE_I_MODES];
        for (int32_t k = 0; k < r; k++) in[k] = v < 0 ? l->t[stride * i + k] : 0;
        for (int32_t m = 0; v >= 0 && m < r * r; m++)
            in[m / r] += l->terms.G[r * r * (int64_t)v + m] * l->t[stride * i + m % r];
        for (int32_t k = 0; k < r; k++) {
            float *d = &l->d[stride * i + k];
            *d = s->first ? s->add * in[k] : s->keep * *d + s->add * in[k];
            l->x[stride * i + k] += *d;
        }
    }
}

/* t -= A d, which is in q */
static void residual_chunk(void *data, int64_t begin, int64_t end) {
    const drape_i_level *l = ((const smoothing *)data)->level;
    const int64_t stride = DRAPE_I_STRIDE(l->A.r);
    for (int64_t i = stride * begin; i < stride * end; i++) l->t[i] -= l->q[i];
}

/* t = b, x = 0 */
static void clear_chunk(void *data, int64_t begin, int64_t end) {
    const drape_i_level *l = ((const smoothing *)data)->level;
    const int64_t stride = DRAPE_I_STRIDE(l->A.r);
    for (int64_t i = stride * begin; i < stride * end; i++) l->t[i] = l->b[i], l->x[i] = 0;
}

/* t = b - A x, which is in q */
static void start_chunk(void *data, int64_t begin, int64_t end) {
    const drape_i_level *l = ((const smoothing *)data)->level;
    const int64_t stride = DRAPE_I_STRIDE(l->A.r);
    for (int64_t i = stride * begin; i < stride * end; i++) l->t[i] = l->b[i] - l->q[i];
}

void drape_i_chebyshev(drape_context *ctx, const drape_i_level *l, int32_t degree, bool from_zero) {
    smoothing s = {.level = l};
    const bool terms = l->terms.count > 0;
    /* T <= rho I + 2 D */
    double high = SAFETY * (terms && l->rho < 2 ? 2 : l->rho), low = LOWER * high, centre = (high + low) / 2,
           half = (high - low) / 2;
    double sigma = centre / half, before = 1 / sigma;
    if (!from_zero) {
        drape_i_upper_multiply(ctx, &l->A, l->x, l->q);
        drape_i_terms_add(ctx, l, l->x, l->q);
    }
    drape_i_loop(ctx, l->A.rows, GRAIN, from_zero ? clear_chunk : start_chunk, &s);
    s.first = true;
    s.add = (float)(1 / centre);
    for (int32_t k = 0; k < degree; k++) {
        drape_i_loop(ctx, l->A.rows, GRAIN, terms ? coupled_direction_chunk : direction_chunk, &s);
        if (from_zero || k + 1 < degree) {
            drape_i_upper_multiply(ctx, &l->A, l->d, l->q);
            drape_i_terms_add(ctx, l, l->d, l->q);
            drape_i_loop(ctx, l->A.rows, GRAIN, residual_chunk, &s);
        }
        double e = 1 / (2 * sigma - before);
        s.first = false;
        s.keep = (float)(e * before);
        s.add = (float)(2 * e / half);
        before = e;
    }
}
