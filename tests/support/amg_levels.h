/* amg_levels.h: hierarchies of linear/amg/ to look into, and both halves of a level's matrix in plain form. */
#ifndef DRAPE_TESTS_AMG_LEVELS_H
#define DRAPE_TESTS_AMG_LEVELS_H

#include "linear/amg/hierarchy.h"
#include "support/testing.h"

/* A hierarchy and what it was made from. */
typedef struct amg_made {
    drape_context *ctx;
    drape_i_amg_input in;
    drape_i_amg_settings want;
    drape_i_hierarchy h;
} amg_made;

/* theta 0.32, so many modes, no limit of levels. */
drape_i_amg_settings amg_settings(int32_t modes);

/* set and x may be NULL; A is made about 1 large, as the preconditioner does. */
amg_made amg_make(drape_context *ctx, const drape_bsr3 *A, const drape_constraints *set, const double *x,
                  const drape_i_amg_settings *want);
void amg_unmake(amg_made *m);
/* The near-kernel of a level shares its memory with later data. This recomputes the values of the levels down to this
 * one, so that level->kernel is there. Those of coarser levels are lost; the rest is unchanged. */
void amg_restore_kernel(amg_made *m, int32_t level);

/* Calls visit with random matrices and sheets, with and without constraints, isolated vertices, hubs, and random
 * order, three modes and six. */
void amg_for_many(void (*visit)(amg_made *m));

/* S of row i of the finest level, 3x3; I where it is free. */
void amg_filter_at(const amg_made *m, int32_t i, double S[9]);
/* Whether row i is held in all directions; on coarse levels none is. */
bool amg_is_held(const amg_made *m, int32_t level, int32_t i);

/* U + U': entry k of row i, start[i] <= k < start[i+1], in column col[k], is block[k] of U, transposed where col[k] <
 * i. */
typedef struct amg_whole {
    const drape_i_upper *A;
    int64_t *start;
    int32_t *col; /* ascending */
    int64_t *block;
} amg_whole;

amg_whole amg_whole_of(const drape_i_upper *A);
void amg_whole_clear(amg_whole *w);
/* Entry k of row i, r x r row by row. */
void amg_whole_block(const amg_whole *w, int32_t i, int64_t k, double *out);
/* I + U + U', dense; free() it. */
double *amg_dense(const drape_i_upper *A);

/* A vector of a level: rows DRAPE_I_STRIDE apart from r numbers per row, and back. What lies between the rows becomes
 * not a number: nobody may look at it. */
void amg_spread(const drape_i_level *l, const double *from, float *to);
void amg_collect(const drape_i_level *l, const float *from, double *to);

/* Random numbers in [-1, 1), to be freed. */
double *amg_random(test_random *r, int64_t count);
/* The largest |x_i|; infinity where one is not finite. */
double amg_largest(int64_t count, const double *x);
/* The Frobenius norm of a block. */
double amg_norm(int32_t count, const float *a);

/* A context of so many threads and this level, NULL where the processor lacks it. */
drape_context *amg_context(int32_t threads, drape_simd simd);

#endif
