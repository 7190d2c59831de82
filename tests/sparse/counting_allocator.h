/* counting_allocator.h: memory that counts what is live and, when told to, refuses its nth request.
 *
 *   counting_allocator memory = {.left = n};
 *   drape_context *ctx = counting_context(&memory);    // one thread; not counted itself
 *   ...
 *   drape_context_destroy(ctx);
 *   assert_int_equal(memory.live, 0); */
#ifndef DRAPE_TESTS_COUNTING_ALLOCATOR_H
#define DRAPE_TESTS_COUNTING_ALLOCATOR_H

#include "base/attributes.h"
#include "support/testing.h"

#include <stdlib.h>

typedef struct counting_allocator {
    int64_t left; /* requests until the one that fails; negative: none does */
    int64_t live, peak;
    bool failed;
} counting_allocator;

static void *counting_alloc(void *user, size_t bytes) {
    counting_allocator *memory = user;
    if (memory->left >= 0 && memory->left-- == 0) {
        memory->failed = true;
        return NULL;
    }
    memory->live += (int64_t)bytes;
    if (memory->live > memory->peak) memory->peak = memory->live;
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void counting_free(void *user, void *block, size_t bytes) {
    counting_allocator *memory = user;
    memory->live -= (int64_t)bytes;
    free(block);
}

DRAPE_UNUSED static drape_context *counting_context(counting_allocator *memory) {
    drape_context_settings settings = drape_context_defaults();
    drape_context *ctx = NULL;
    int64_t left = memory->left;
    settings.threads = 1;
    settings.allocator = (drape_allocator){counting_alloc, counting_free, memory};
    memory->left = -1;
    assert_int_equal(drape_context_create(&settings, &ctx), DRAPE_OK);
    memory->left = left;
    return ctx;
}

#endif
