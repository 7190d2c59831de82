/* pc2_read.c: the head of a Point Cache 2 file; pc2.c says what it is. */
#include "base/context.h"
#include "io/binary.h"
#include "io/cache.h"

#include <math.h>
#include <string.h>

enum { HEAD = 32, VERSION_AT = 12, VERTICES_AT = 16, START_AT = 20, RATE_AT = 24, SAMPLES_AT = 28 };

drape_status drape_i_pc2_head(drape_context *ctx, const char *name, const unsigned char *data, int64_t size,
                              drape_i_cache_head *head) {
    if (size < HEAD || memcmp(data, "POINTCACHE2", 12) != 0)
        return drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "%s: does not begin as a PC2 file does", name);
    uint32_t version = drape_i_get_u32(data + VERSION_AT, false);
    if (version != 1)
        return drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "%s: version 1 of PC2 is known, not %lu", name,
                            (unsigned long)version);
    *head = (drape_i_cache_head){.frames_at = HEAD,
                                 .start = (double)drape_i_get_f32(data + START_AT, false),
                                 .rate = (double)drape_i_get_f32(data + RATE_AT, false)};
    if (!isfinite(head->start) || !isfinite(head->rate) || !(head->rate > 0))
        return drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "%s: samples from frame %g on, one every %g frames", name,
                            head->start, head->rate);
    return drape_i_cache_fit(ctx, name, size, drape_i_get_u32(data + VERTICES_AT, false),
                             drape_i_get_u32(data + SAMPLES_AT, false), head);
}
