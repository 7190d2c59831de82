/* parallel.c: see parallel.h. Chunk bounds come from n and grain alone; sums are added in chunk order. */
#include "base/parallel.h"

#include "base/pool.h"

int64_t drape_i_chunk_length(int64_t n, int64_t grain) {
    int64_t length = (n + DRAPE_I_CHUNKS - 1) / DRAPE_I_CHUNKS;
    if (length < grain) length = grain;
    if (length >= 8) length = (length + 7) / 8 * 8;
    return length < 1 ? 1 : length;
}

void drape_i_tasks(drape_context *ctx, int32_t count, void (*task)(void *data, int32_t index), void *data) {
    if (count > 1 && ctx->scheduler.run) ctx->scheduler.run(ctx->scheduler.user, count, task, data);
    else if (count > 1 && ctx->pool) drape_i_pool_run(ctx->pool, count, task, data);
    else
        for (int32_t i = 0; i < count; i++) task(data, i);
}

typedef struct chunked {
    int64_t n, length;
    drape_i_loop_fn loop;
    drape_i_sum_fn sum;
    void *data;
    double sums[DRAPE_I_CHUNKS][DRAPE_I_SUMS];
} chunked;

static void run_chunk(void *data, int32_t index) {
    chunked *c = data;
    int64_t begin = index * c->length;
    int64_t end = begin + c->length < c->n ? begin + c->length : c->n;
    DRAPE_ASSERT(index >= 0 && begin < end); /* a host's scheduler must stay within its count */
    if (c->loop) {
        c->loop(c->data, begin, end);
        return;
    }
    double sums[DRAPE_I_SUMS] = {0}; /* on the stack: neighbours in c->sums share cache lines */
    c->sum(c->data, begin, end, sums);
    for (int32_t k = 0; k < DRAPE_I_SUMS; k++) c->sums[index][k] = sums[k];
}

static int32_t chunk_count(const chunked *c) {
    int64_t count = (c->n + c->length - 1) / c->length;
    DRAPE_ASSERT(c->n >= 0 && count <= DRAPE_I_CHUNKS);
    return (int32_t)count;
}

void drape_i_loop(drape_context *ctx, int64_t n, int64_t grain, drape_i_loop_fn fn, void *data) {
    chunked c;
    c.n = n;
    c.length = drape_i_chunk_length(n, grain);
    c.loop = fn;
    c.data = data;
    drape_i_tasks(ctx, chunk_count(&c), run_chunk, &c);
}

void drape_i_sum(drape_context *ctx, int64_t n, int64_t grain, drape_i_sum_fn fn, void *data, int32_t count,
                 double *out) {
    chunked c;
    DRAPE_ASSERT(count >= 1 && count <= DRAPE_I_SUMS);
    c.n = n;
    c.length = drape_i_chunk_length(n, grain);
    c.loop = NULL;
    c.sum = fn;
    c.data = data;
    int32_t chunks = chunk_count(&c);
    drape_i_tasks(ctx, chunks, run_chunk, &c);
    for (int32_t k = 0; k < count; k++) {
        out[k] = 0;
        for (int32_t i = 0; i < chunks; i++) out[k] += c.sums[i][k];
    }
}
