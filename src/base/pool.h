/* pool.h: a small pool of threads over pthreads. */
#ifndef DRAPE_BASE_POOL_H
#define DRAPE_BASE_POOL_H

#include "base/context.h"

typedef struct drape_i_pool drape_i_pool;

/* threads counts the calling thread too: 2..256. */
drape_status drape_i_pool_create(drape_context *ctx, int32_t threads, drape_i_pool **out);
void drape_i_pool_destroy(drape_context *ctx, drape_i_pool *pool);
void drape_i_pool_run(drape_i_pool *pool, int32_t count, void (*task)(void *data, int32_t index), void *data);

#endif
