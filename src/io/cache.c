/* cache.c: point caches, PC2 and MDD, read whole and looked at in place.
 *
 * The size of a file follows from its numbers of vertices and frames, and one of any other size is refused before
 * anything else is done with it. So memory is the file's size, whatever its head says. */
#include "io/cache.h"

#include "base/file.h"
#include "base/text.h"
#include "io/binary.h"

#include <math.h>
#include <string.h>

struct drape_cache {
    drape_context *ctx;
    drape_i_cache_head head;
    bool big_endian;
    char *data;
    int64_t size;
    drape_cache_info info;
};

/* ---- heads ---- */

/* Both numbers are below 2^31 and the quotient keeps their product in range. */
drape_status drape_i_cache_fit(drape_context *ctx, const char *name, int64_t size, uint32_t vertices, uint32_t frames,
                               drape_i_cache_head *head) {
    const int64_t of_vertex = 3 * (int64_t)sizeof(float);
    int64_t left = size - head->frames_at;
    bool counts = vertices >= 1 && vertices <= INT32_MAX && frames >= 1 && frames <= INT32_MAX;
    if (!counts || left < 0 || left / of_vertex / frames != vertices || left != of_vertex * frames * vertices)
        return drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "%s: %lu frames of %lu vertices do not make %lld bytes", name,
                            (unsigned long)frames, (unsigned long)vertices, (long long)size);
    head->vertices = (int32_t)vertices;
    head->frames = (int32_t)frames;
    return DRAPE_OK;
}

static drape_status read_head(drape_cache *c, const char *name, const unsigned char *data, int64_t size) {
    bool pc2 = drape_i_ends_in(name, ".pc2");
    if (!pc2 && !drape_i_ends_in(name, ".mdd"))
        return drape_i_fail(c->ctx, DRAPE_ERROR_ARGUMENT, "%s: no point cache, which ends in .pc2 or .mdd", name);
    c->big_endian = !pc2;
    drape_status status = (pc2 ? drape_i_pc2_head : drape_i_mdd_head)(c->ctx, name, data, size, &c->head);
    c->info = (drape_cache_info){.vertices = c->head.vertices,
                                 .frames = c->head.frames,
                                 .has_times = c->head.times_at > 0,
                                 .start = c->head.start,
                                 .rate = c->head.rate};
    return status;
}

/* ---- the whole ---- */

static const unsigned char *frame_bytes(const drape_cache *c, int32_t frame) {
    return (const unsigned char *)c->data + c->head.frames_at + 12 * (int64_t)c->head.vertices * frame;
}

static drape_status check_positions(const drape_cache *c, const char *name) {
    for (int32_t f = 0; f < c->head.frames; f++)
        for (int64_t i = 0; i < 3 * (int64_t)c->head.vertices; i++)
            if (!isfinite(drape_i_get_f32(frame_bytes(c, f) + 4 * i, c->big_endian)))
                return drape_i_fail(c->ctx, DRAPE_ERROR_FORMAT, "%s: frame %d: vertex %lld is not finite", name, f,
                                    (long long)(i / 3));
    return DRAPE_OK;
}

/* Takes the data over, whose size is size + 1, where it succeeds. */
static drape_status adopt(drape_context *ctx, const char *name, char *data, int64_t size, drape_cache **out) {
    drape_cache *c;
    if (!DRAPE_NEW(ctx, c, 1)) return DRAPE_ERROR_MEMORY;
    c->ctx = ctx;
    drape_status status = read_head(c, name, (const unsigned char *)data, size);
    c->data = data;
    c->size = size;
    if (!status) status = check_positions(c, name);
    if (status) DRAPE_FREE(ctx, c, 1);
    else *out = c;
    return status;
}

drape_status drape_cache_open(drape_context *ctx, const char *path, drape_cache **out) {
    char *data;
    int64_t size;
    if (out) *out = NULL;
    if (!ctx || !path || !out)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "drape_cache_open: path or out is NULL");
    drape_status status = drape_i_file_read(ctx, path, &data, &size);
    if (status) return status;
    status = adopt(ctx, path, data, size, out);
    if (status) DRAPE_FREE(ctx, data, size + 1);
    return status;
}

drape_status drape_cache_parse(drape_context *ctx, const char *name, const void *data, int64_t size,
                               drape_cache **out) {
    char *copy;
    if (out) *out = NULL;
    if (!ctx || !name || !out)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "drape_cache_parse: name or out is NULL");
    if (size < 0 || (size && !data))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: no data, or %lld bytes", name, (long long)size);
    if (!DRAPE_NEW(ctx, copy, size + 1)) return DRAPE_ERROR_MEMORY;
    if (size) memcpy(copy, data, (size_t)size);
    drape_status status = adopt(ctx, name, copy, size, out);
    if (status) DRAPE_FREE(ctx, copy, size + 1);
    return status;
}

const drape_cache_info *drape_cache_describe(const drape_cache *cache) { return cache ? &cache->info : NULL; }

drape_status drape_cache_frame(const drape_cache *c, int32_t frame, double *positions) {
    if (!c || !positions)
        return drape_i_fail(c ? c->ctx : NULL, DRAPE_ERROR_ARGUMENT, "drape_cache_frame: cache or positions is NULL");
    if (frame < 0 || frame >= c->head.frames)
        return drape_i_fail(c->ctx, DRAPE_ERROR_ARGUMENT, "frame %d of a cache of %d frames", frame, c->head.frames);
    const unsigned char *bytes = frame_bytes(c, frame);
    for (int64_t i = 0; i < 3 * (int64_t)c->head.vertices; i++)
        positions[i] = (double)drape_i_get_f32(bytes + 4 * i, c->big_endian);
    return DRAPE_OK;
}

double drape_cache_time(const drape_cache *c, int32_t frame) {
    if (!c || frame < 0 || frame >= c->head.frames) return NAN;
    if (!c->head.times_at) return c->head.start + c->head.rate * frame;
    return (double)drape_i_get_f32((const unsigned char *)c->data + c->head.times_at + 4 * (int64_t)frame,
                                   c->big_endian);
}

void drape_cache_close(drape_cache *c) {
    if (!c) return;
    drape_context *ctx = c->ctx;
    DRAPE_FREE(ctx, c->data, c->size + 1);
    DRAPE_FREE(ctx, c, 1);
}
