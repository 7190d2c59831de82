/* parallel.h: the one parallel loop and the one sum, under the arithmetic contract.
 *
 * A range [0, n) is cut into at most DRAPE_I_CHUNKS pieces whose bounds depend on n and grain alone, never on
 * the number of threads. A loop's pieces may run in any order on any thread, so they must write disjoint
 * memory. A sum's pieces each yield their partial sums, which are then added in the order of the pieces.
 * So the bits of a result do not depend on how many threads there are. */
#ifndef DRAPE_BASE_PARALLEL_H
#define DRAPE_BASE_PARALLEL_H

#include "base/context.h"

enum {
    DRAPE_I_CHUNKS = 256, /* most pieces a range is cut into */
    DRAPE_I_SUMS = 4,     /* most sums carried along by one loop */
    DRAPE_I_GRAIN = 1024, /* default least length of a piece, in items */
};

typedef void (*drape_i_loop_fn)(void *data, int64_t begin, int64_t end);
typedef void (*drape_i_sum_fn)(void *data, int64_t begin, int64_t end, double *sums);

/* Length of a piece: at least grain, a multiple of 8 unless grain is smaller than that. */
int64_t drape_i_chunk_length(int64_t n, int64_t grain);

/* fn(data, begin, end) for every piece of [0, n). */
void drape_i_loop(drape_context *ctx, int64_t n, int64_t grain, drape_i_loop_fn fn, void *data);

/* As drape_i_loop; fn adds its piece's share to sums[0..count-1], which start at zero; totals go to out. */
void drape_i_sum(drape_context *ctx, int64_t n, int64_t grain, drape_i_sum_fn fn, void *data, int32_t count,
                 double *out);

/* task(data, i) for every i in [0, count) without further cutting: for work that was cut beforehand. */
void drape_i_tasks(drape_context *ctx, int32_t count, void (*task)(void *data, int32_t index), void *data);

/* ---- The pool of threads ---- */

typedef struct drape_i_pool drape_i_pool;

/* threads counts the calling thread too: 2..256. */
drape_status drape_i_pool_create(drape_context *ctx, int32_t threads, drape_i_pool **out);
void drape_i_pool_destroy(drape_context *ctx, drape_i_pool *pool);

#endif
