/* context.c: creating a context, its memory and its messages. */
#include "base/context.h"

#include "base/machine.h"
#include "base/parallel.h"
#include "base/simd_level.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ALIGNMENT = 64, MAX_THREADS = 256 };

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)

const char *drape_version(void) {
    return TEXT(DRAPE_VERSION_MAJOR) "." TEXT(DRAPE_VERSION_MINOR) "." TEXT(DRAPE_VERSION_PATCH);
}

const char *drape_status_name(drape_status status) {
    static const char *const names[] = {"ok",           "bad argument", "out of memory",
                                        "input/output", "bad format",   "not a finite number"};
    return (unsigned)status < sizeof names / sizeof *names ? names[status] : NULL;
}

const char *drape_log_level_name(drape_log_level level) {
    static const char *const names[] = {"error", "warning", "info"};
    return (unsigned)level < sizeof names / sizeof *names ? names[level] : NULL;
}

static void *libc_alloc(void *user, size_t bytes) {
    (void)user;
    return drape_i_libc_alloc(bytes);
}

static void libc_free(void *user, void *memory, size_t bytes) {
    (void)user, (void)bytes;
    free(memory);
}

drape_context_settings drape_context_defaults(void) { return (drape_context_settings){.simd = DRAPE_SIMD_BEST}; }

static int32_t processors(void) {
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > MAX_THREADS ? MAX_THREADS : (int32_t)count;
}

static drape_status check_settings(const drape_context_settings *s) {
    if (s->threads < 0 || s->threads > MAX_THREADS) return DRAPE_ERROR_ARGUMENT;
    if (!s->allocator.alloc != !s->allocator.free) return DRAPE_ERROR_ARGUMENT;
    if (s->simd != DRAPE_SIMD_BEST && !drape_i_simd_available(s->simd)) return DRAPE_ERROR_ARGUMENT;
    for (size_t i = 0; i < sizeof s->reserved / sizeof *s->reserved; i++)
        if (s->reserved[i] != 0) return DRAPE_ERROR_ARGUMENT;
    return DRAPE_OK;
}

drape_status drape_context_create(const drape_context_settings *settings, drape_context **out) {
    drape_context_settings s = settings ? *settings : drape_context_defaults();
    if (!out) return DRAPE_ERROR_ARGUMENT;
    *out = NULL;
    drape_status status = check_settings(&s);
    if (status) return status;
    if (!s.allocator.alloc) s.allocator = (drape_allocator){libc_alloc, libc_free, NULL};
    drape_context *ctx = s.allocator.alloc(s.allocator.user, sizeof *ctx);
    if (!ctx) return DRAPE_ERROR_MEMORY;
    memset(ctx, 0, sizeof *ctx);
    ctx->allocator = s.allocator;
    ctx->log = s.log;
    ctx->log_user = s.log_user;
    ctx->threads = s.threads ? s.threads : processors();
    ctx->simd = s.simd == DRAPE_SIMD_BEST ? drape_i_simd_best() : s.simd;
    ctx->scheduler = s.scheduler;
    if (ctx->threads > 1 && !s.scheduler.run) status = drape_i_pool_create(ctx, ctx->threads, &ctx->pool);
    if (status) {
        drape_context_destroy(ctx);
        return status;
    }
    *out = ctx;
    return DRAPE_OK;
}

void drape_context_destroy(drape_context *ctx) {
    if (!ctx) return;
    drape_i_pool_destroy(ctx, ctx->pool);
    ctx->allocator.free(ctx->allocator.user, ctx, sizeof *ctx);
}

const char *drape_message(const drape_context *ctx) { return ctx ? ctx->message : "no context"; }
int32_t drape_context_threads(const drape_context *ctx) { return ctx ? ctx->threads : 0; }
drape_simd drape_context_simd(const drape_context *ctx) { return ctx ? ctx->simd : DRAPE_SIMD_BEST; }
int64_t drape_context_bytes(const drape_context *ctx) { return ctx ? ctx->bytes : 0; }

drape_status drape_i_fail(drape_context *ctx, drape_status status, const char *format, ...) {
    char text[DRAPE_I_MESSAGE_SIZE]; /* the arguments may hold the message before, to say more about it */
    if (!ctx) return status;
    va_list arguments;
    if (!ctx) return status;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    DRAPE_ASSERT(status != DRAPE_OK);
    memcpy(ctx->message, text, strlen(text) + 1);
    if (ctx->log) ctx->log(ctx->log_user, DRAPE_LOG_ERROR, ctx->message);
    return status;
}

drape_status drape_i_check_reserved(drape_context *ctx, const char *type, const uint64_t *reserved, int32_t count) {
    for (int32_t i = 0; i < count; i++)
        if (reserved[i] != 0)
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                                "%s.reserved is not zero; initialise the struct with its defaults or with zeros (or "
                                "the program was built for a newer drape than %s)",
                                type, drape_version());
    return DRAPE_OK;
}

void drape_i_log(drape_context *ctx, drape_log_level level, const char *format, ...) {
    if (!ctx->log) return;
    char text[DRAPE_I_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ctx->log(ctx->log_user, level, text);
}

/* Rounded up to whole cache lines, never empty: kernels may read a line to its end. */
static bool padded_size(int64_t count, size_t size, size_t *bytes) {
    if (count < 0 || (size && (uint64_t)count > (SIZE_MAX - 2 * ALIGNMENT) / size)) return false;
    *bytes = ((size_t)count * size + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
    return true;
}

void *drape_i_alloc_raw(drape_context *ctx, int64_t count, size_t size) {
    size_t bytes;
    void *memory = NULL;
    if (padded_size(count, size, &bytes)) memory = ctx->allocator.alloc(ctx->allocator.user, bytes);
    if (!memory) {
        drape_i_fail(ctx, DRAPE_ERROR_MEMORY, "out of memory: %lld items of %zu bytes", (long long)count, size);
        return NULL;
    }
    ctx->bytes += (int64_t)bytes;
    if (ctx->bytes > ctx->most_bytes) ctx->most_bytes = ctx->bytes;
    return memory;
}

void *drape_i_alloc(drape_context *ctx, int64_t count, size_t size) {
    size_t bytes;
    void *memory = drape_i_alloc_raw(ctx, count, size);
    if (memory && padded_size(count, size, &bytes)) memset(memory, 0, bytes);
    return memory;
}

void drape_i_free(drape_context *ctx, void *memory, int64_t count, size_t size) {
    size_t bytes;
    if (!memory || !padded_size(count, size, &bytes)) return;
    DRAPE_ASSERT(ctx->bytes >= (int64_t)bytes); /* else it is freed twice, or with another size */
    ctx->bytes -= (int64_t)bytes;
    ctx->allocator.free(ctx->allocator.user, memory, bytes);
}
