/* Any bytes as a point cache, once as each of the two formats: refused with a message, or frames of finite numbers at
 * times that do not fall. No input leaves memory behind, nor takes more than its size and a little. */
#include "drape/io.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

static void check_frames(const drape_cache *cache, size_t size) {
    const drape_cache_info *info = drape_cache_describe(cache);
    size_t numbers = 3 * (size_t)info->vertices;
    demand(info->vertices >= 1 && info->frames >= 1 && 4 * numbers * (size_t)info->frames < size);
    double *x = malloc(numbers * sizeof *x); /* exactly: the sanitizer watches its end */
    demand(x != NULL);
    for (int32_t f = 0; f < info->frames; f++) {
        demand(drape_cache_frame(cache, f, x) == DRAPE_OK);
        for (size_t i = 0; i < numbers; i++) demand(x[i] - x[i] == 0);
        demand(f == 0 || drape_cache_time(cache, f) >= drape_cache_time(cache, f - 1));
    }
    demand(drape_cache_frame(cache, info->frames, x) == DRAPE_ERROR_ARGUMENT);
    free(x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const names[] = {"fuzz.pc2", "fuzz.mdd"};
    drape_context *ctx = shared_context();
    int64_t before = drape_context_bytes(ctx);
    for (int i = 0; i < 2; i++) {
        drape_cache *cache;
        drape_status status = drape_cache_parse(ctx, names[i], data, (int64_t)size, &cache);
        demand(status == DRAPE_OK || status == DRAPE_ERROR_FORMAT);
        demand((status == DRAPE_OK) == (cache != NULL));
        if (status) demand(strncmp(drape_message(ctx), names[i], 8) == 0 && !strchr(drape_message(ctx), '\n'));
        demand(drape_context_bytes(ctx) - before <= (int64_t)size + 1024);
        if (cache) check_frames(cache, size);
        drape_cache_close(cache);
        demand(drape_context_bytes(ctx) == before);
    }
    return 0;
}
