/* mdd_read.c: the head of an MDD file; mdd.c says what it is. Nothing but its size tells such a file from another. */
#include "base/context.h"
#include "io/binary.h"
#include "io/cache.h"

#include <math.h>

enum { HEAD = 8, VERTICES_AT = 4 };

static drape_status check_times(drape_context *ctx, const char *name, const unsigned char *data, int32_t frames) {
    double before = -INFINITY;
    for (int64_t f = 0; f < frames; f++) {
        double now = (double)drape_i_get_f32(data + HEAD + 4 * f, true);
        if (!isfinite(now) || now < before)
            return drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "%s: frame %lld is at %g s, behind one at %g s", name,
                                (long long)f, now, before);
        before = now;
    }
    return DRAPE_OK;
}

drape_status drape_i_mdd_head(drape_context *ctx, const char *name, const unsigned char *data, int64_t size,
                              drape_i_cache_head *head) {
    if (size < HEAD)
        return drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "%s: %lld bytes are less than the head of an MDD file", name,
                            (long long)size);
    uint32_t frames = drape_i_get_u32(data, true);
    *head = (drape_i_cache_head){.times_at = HEAD, .frames_at = HEAD + 4 * (int64_t)frames};
    drape_status status = drape_i_cache_fit(ctx, name, size, drape_i_get_u32(data + VERTICES_AT, true), frames, head);
    return status ? status : check_times(ctx, name, data, head->frames);
}
