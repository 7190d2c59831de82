/* context.h: the internals of a context: memory, messages, threads. */
#ifndef DRAPE_BASE_CONTEXT_H
#define DRAPE_BASE_CONTEXT_H

#include "base/assert.h"
#include "base/attributes.h"
#include "drape/base.h"

#include <stdbool.h>

struct drape_i_pool;

enum { DRAPE_I_MESSAGE_SIZE = 1024 };

struct drape_context {
    drape_allocator allocator;
    void (*log)(void *user, drape_log_level level, const char *message);
    void *log_user;
    int32_t threads;
    drape_simd simd;
    drape_scheduler scheduler;
    struct drape_i_pool *pool; /* NULL with one thread or a host's scheduler */
    int64_t bytes;             /* held through drape_i_alloc */
    char message[DRAPE_I_MESSAGE_SIZE];
    int64_t most_bytes; /* the most that was held so far */
};

/* Sets the message and returns status, so that a failure is one line: return drape_i_fail(ctx, ...). Without a
 * context there is no message. */
drape_status drape_i_fail(drape_context *ctx, drape_status status, const char *format, ...) DRAPE_PRINTF(3, 4);
void drape_i_log(drape_context *ctx, drape_log_level level, const char *format, ...) DRAPE_PRINTF(3, 4);

/* Settings structs end in `reserved`, room for later fields, in which zero means the default. Where it is not zero
 * the caller was built for a newer drape, or forgot to initialise the struct: DRAPE_ERROR_ARGUMENT that names it. */
drape_status drape_i_check_reserved(drape_context *ctx, const char *type, const uint64_t *reserved, int32_t count);

/* Zeroed, 64-byte aligned memory for count items of size bytes; NULL with a message when there is none or
 * the product overflows. count 0 gives a valid pointer. Freed with the same count and size. */
void *drape_i_alloc(drape_context *ctx, int64_t count, size_t size);
/* The same, but not zeroed: for large arrays, whose pages several threads then touch first. */
void *drape_i_alloc_raw(drape_context *ctx, int64_t count, size_t size);
void drape_i_free(drape_context *ctx, void *memory, int64_t count, size_t size);

/* Typed shorthand: if (!DRAPE_NEW(ctx, x, n)) goto fail; */
#define DRAPE_NEW(ctx, pointer, count) (((pointer) = drape_i_alloc((ctx), (count), sizeof *(pointer))) != NULL)
#define DRAPE_NEW_RAW(ctx, pointer, count)                                                                           \
    (((pointer) = drape_i_alloc_raw((ctx), (count), sizeof *(pointer))) != NULL)
#define DRAPE_FREE(ctx, pointer, count) drape_i_free((ctx), (pointer), (count), sizeof *(pointer))

#endif
