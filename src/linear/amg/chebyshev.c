/* chebyshev.c: the smoother of Tamstorf, Jones and McCormick (2015, section 7): a polynomial in D^-1 A that is small
 * on the upper part [LOWER rho, rho] of its spectrum (Saad 2003, algorithm 12.1); D = I here (level.h). With centre c
 * and half width w of that interval, s = c/w, e_0 = 1/s, d = r / c:
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
    double high = SAFETY * l->rho, low = LOWER * high, centre = (high + low) / 2, half = (high - low) / 2;
    double sigma = centre / half, before = 1 / sigma;
    if (!from_zero) drape_i_upper_multiply(ctx, &l->A, l->x, l->q);
    drape_i_loop(ctx, l->A.rows, GRAIN, from_zero ? clear_chunk : start_chunk, &s);
    s.first = true;
    s.add = (float)(1 / centre);
    for (int32_t k = 0; k < degree; k++) {
        drape_i_loop(ctx, l->A.rows, GRAIN, direction_chunk, &s);
        if (from_zero || k + 1 < degree) {
            drape_i_upper_multiply(ctx, &l->A, l->d, l->q);
            drape_i_loop(ctx, l->A.rows, GRAIN, residual_chunk, &s);
        }
        double e = 1 / (2 * sigma - before);
        s.first = false;
        s.keep = (float)(e * before);
        s.add = (float)(2 * e / half);
        before = e;
    }
}
