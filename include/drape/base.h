/* drape/base.h: what every other header builds on: status codes and the context.
 *
 *   drape_context *ctx;
 *   if (drape_context_create(NULL, &ctx) != DRAPE_OK) return 1;
 *   ...
 *   drape_context_destroy(ctx);
 *
 * There is no global state: allocator, log, threads and the last error message live in a context.
 *
 * Rules that hold in all of drape's headers:
 * - Threads: a context, and everything created with it, is used by one calling thread at a time. Any number of
 *   contexts may exist side by side, and different threads may use them at the same time.
 *   Functions that take neither a context nor an object made with one may be called from any thread at any time.
 * - Lifetime: a context must outlive everything created with it. What a function gives through `out` belongs to the
 *   caller, who frees it by the matching destroy or close function. On failure *out is NULL.
 * - Arrays and structs that are passed in belong to the caller. They are read during the call and not kept, unless a
 *   comment says otherwise. Pointers that a function returns are valid until the object they come from changes or is
 *   destroyed.
 * - Units are SI: m, kg, s, N and rad, unless a comment names another one. Indices and frames count from 0.
 * - In a settings or options struct, zero means the default in every field; `drape_X_defaults` writes the defaults
 *   out.
 * - Such a struct ends in `reserved`, space for later fields, which must be zero. Its size stays the same when fields
 *   are added, so a program built before keeps working.
 * - `drape_X_name` gives the name of an enum value or of entry `index` of a table; NULL if there is none. The
 *   strings are constants and need not be freed.
 * - NULL for a required argument is DRAPE_ERROR_ARGUMENT; functions that destroy or close accept NULL. */
#ifndef DRAPE_BASE_H
#define DRAPE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define DRAPE_API __attribute__((visibility("default")))
#else
#define DRAPE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of these headers. */
#define DRAPE_VERSION_MAJOR 0
#define DRAPE_VERSION_MINOR 1
#define DRAPE_VERSION_PATCH 0

/* "0.1.0" */
DRAPE_API const char *drape_version(void);

/* What went wrong with a call. An iteration that does not converge is not an error: see drape_reason. */
typedef enum drape_status {
    DRAPE_OK = 0,
    DRAPE_ERROR_ARGUMENT, /* a parameter outside its documented range, or a mesh that cannot be cloth */
    DRAPE_ERROR_MEMORY,   /* the allocator returned NULL */
    DRAPE_ERROR_IO,       /* a file could not be opened, read, written or renamed */
    DRAPE_ERROR_FORMAT,   /* the contents of a file do not follow its format */
    DRAPE_ERROR_NUMBER,   /* a value, such as a position, became infinite or not a number */
} drape_status;

/* "ok", "bad argument", ...; NULL if there is no such status. */
DRAPE_API const char *drape_status_name(drape_status status);

/* Memory, threads, log and last message of a host program, passed to the functions that create objects. */
typedef struct drape_context drape_context;

/* How serious a message of the log is. */
typedef enum drape_log_level { DRAPE_LOG_ERROR, DRAPE_LOG_WARNING, DRAPE_LOG_INFO } drape_log_level;

DRAPE_API const char *drape_log_level_name(drape_log_level level); /* "error", "warning", "info"; else NULL */

/* The widest vector instructions a context may use. Results are the same bits with all of them. */
typedef enum drape_simd {
    DRAPE_SIMD_BEST,     /* the widest that this processor has */
    DRAPE_SIMD_BASELINE, /* SSE2 on x86-64, NEON on arm64 */
    DRAPE_SIMD_AVX2,
    DRAPE_SIMD_AVX512
} drape_simd;

/* "best", "sse2" or "neon", "avx2", "avx512"; NULL if there is no such level. */
DRAPE_API const char *drape_simd_name(drape_simd simd);

/* A host program's own allocator. Set both functions, or neither. Both may be called from any thread of the context.
 * alloc returns memory aligned to 64 bytes, or NULL; free gets the size that was asked for. Both get user. */
typedef struct drape_allocator {
    void *(*alloc)(void *user, size_t bytes);
    void (*free)(void *user, void *memory, size_t bytes);
    void *user;
} drape_allocator;

/* A host program's own scheduler. run calls task(data, i) once for every i in [0, count), in any order and on any
 * threads, and returns when all are done. Neither order nor threads change the bits of a result. It gets user. */
typedef struct drape_scheduler {
    void (*run)(void *user, int32_t count, void (*task)(void *data, int32_t index), void *data);
    void *user;
} drape_scheduler;

/* Settings of a context. Zero means the default in every field. */
typedef struct drape_context_settings {
    drape_allocator allocator;                                           /* default: aligned malloc of libc */
    void (*log)(void *user, drape_log_level level, const char *message); /* default NULL: silence */
    void *log_user;
    int32_t threads;           /* 1..256; default 0: as many as there are processors */
    drape_simd simd;           /* default DRAPE_SIMD_BEST; a level that the processor lacks is an error */
    drape_scheduler scheduler; /* default: a pool of the context's own threads */
    uint64_t reserved[8];      /* zero: reserved for later fields */
} drape_context_settings;

/* Every field at its documented default, which is all zeros. */
DRAPE_API drape_context_settings drape_context_defaults(void);

/* settings may be NULL for the defaults. Settings are copied; what allocator, log and scheduler refer to must outlive
 * the context. On failure there is no context to hold a message, and drape_message(NULL) returns "no context". */
DRAPE_API drape_status drape_context_create(const drape_context_settings *settings, drape_context **out);
DRAPE_API void drape_context_destroy(drape_context *ctx); /* NULL is fine */

/* The message of the last call that failed: one line that names file, line, vertex or triangle. If it is about a
 * place in a scene file, that line of the file follows. Never NULL, not even for a NULL context. The text is valid
 * until the next call with this context. */
DRAPE_API const char *drape_message(const drape_context *ctx);

/* For a NULL context: 0, DRAPE_SIMD_BEST and 0. */
DRAPE_API int32_t drape_context_threads(const drape_context *ctx); /* 1..256, including the calling thread */
DRAPE_API drape_simd drape_context_simd(const drape_context *ctx); /* the level in use, never DRAPE_SIMD_BEST */
/* Memory that is allocated through this context at present, in bytes. */
DRAPE_API int64_t drape_context_bytes(const drape_context *ctx);

/* Measures how fast the context's threads read memory, in bytes per second: the best of a few attempts on `bytes`
 * bytes allocated for this purpose. Use it for reports only, since it differs from run to run. 0 if there is not
 * enough memory. */
DRAPE_API double drape_read_bandwidth(drape_context *ctx, int64_t bytes);

#ifdef __cplusplus
}
#endif

#endif
