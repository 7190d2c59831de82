/* relax.c: the near-kernel of a coarse level, relaxed (Tamstorf, Jones and McCormick 2015, algorithm 3, line 4): one
 * sweep of damped Jacobi for A K = 0,
 *
 *     K <- (I - omega A) K,
 *
 * D = I (level.h), a column at a time. On the finest level the near-kernel needs none: what is held is taken out of
 * it exactly. */
#include "base/parallel.h"
#include "linear/amg/setup.h"

enum { GRAIN = 512 };

typedef struct relaxing {
    drape_i_level *level;
    float *x, *y; /* a column of K, A times it */
    int32_t column;
    float omega;
} relaxing;

static void take_column(void *data, int64_t begin, int64_t end) {
    const relaxing *s = data;
    const int32_t r = s->level->A.r, modes = s->level->modes, stride = DRAPE_I_STRIDE(r);
    for (int64_t i = begin; i < end; i++)
        for (int32_t k = 0; k < stride; k++)
            s->x[stride * i + k] = k < r ? s->level->kernel[(r * i + k) * modes + s->column] : 0;
}

static void put_column(void *data, int64_t begin, int64_t end) {
    const relaxing *s = data;
    const int32_t r = s->level->A.r, modes = s->level->modes, stride = DRAPE_I_STRIDE(r);
    for (int64_t i = begin; i < end; i++)
        for (int32_t k = 0; k < r; k++)
            s->level->kernel[(r * i + k) * modes + s->column] =
                s->x[stride * i + k] - s->omega * s->y[stride * i + k];
}

void drape_i_relax_kernel(drape_context *ctx, drape_i_level *level, double omega) {
    const int64_t length = (int64_t)level->A.rows * DRAPE_I_STRIDE(level->A.r);
    relaxing s = {level, level->sweep, level->sweep + length, 0, (float)omega};
    for (; s.column < level->modes; s.column++) {
        drape_i_loop(ctx, level->A.rows, GRAIN, take_column, &s);
        drape_i_upper_multiply(ctx, &level->A, s.x, s.y);
        drape_i_loop(ctx, level->A.rows, GRAIN, put_column, &s);
    }
}
