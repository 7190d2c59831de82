/* region.c: see region.h. */
#include "linear/amg/region.h"

enum { SPARE = 1 << 20 }; /* bytes: the factor of the coarsest level alone may differ by so much */

static void *region_alloc(void *user, size_t bytes) {
    drape_i_region *r = user;
    void *memory;
    r->asked_for += (int64_t)bytes;
    if (r->used + (int64_t)bytes <= r->size) {
        memory = r->memory + r->used;
        r->used += (int64_t)bytes;
        return memory;
    }
    memory = r->from->allocator.alloc(r->from->allocator.user, bytes);
    if (memory) r->from->bytes += (int64_t)bytes;
    return memory;
}

/* What was handed out last can be handed out again. */
static void region_free(void *user, void *memory, size_t bytes) {
    drape_i_region *r = user;
    const uintptr_t at = (uintptr_t)memory, first = (uintptr_t)r->memory;
    if (r->memory && at >= first && at < first + (uintptr_t)r->size) {
        if (at + bytes == first + (uintptr_t)r->used) r->used -= (int64_t)bytes;
        return;
    }
    r->from->bytes -= (int64_t)bytes;
    r->from->allocator.free(r->from->allocator.user, memory, bytes);
}

void drape_i_region_begin(drape_i_region *r) {
    if (r->next) {
        DRAPE_FREE(r->from, r->memory, r->size);
        r->memory = r->next;
        r->size = r->next_size;
        r->next = NULL;
    }
    r->used = r->asked_for = 0;
}

void drape_i_region_end(drape_i_region *r) {
    if (r->asked_for <= r->size || r->next) return;
    r->next_size = r->asked_for + r->asked_for / 4 + SPARE;
    if (!DRAPE_NEW_RAW(r->from, r->next, r->next_size)) r->next_size = 0;
}

drape_status drape_i_region_create(drape_context *ctx, drape_i_region **out) {
    drape_i_region *r;
    if (*out) return DRAPE_OK;
    if (!DRAPE_NEW(ctx, r, 1)) return DRAPE_ERROR_MEMORY;
    r->ctx = *ctx; /* its threads, too */
    r->ctx.allocator = (drape_allocator){region_alloc, region_free, r};
    r->ctx.bytes = 0;
    r->from = ctx;
    *out = r;
    return DRAPE_OK;
}

void drape_i_region_destroy(drape_i_region **region) {
    drape_i_region *r = *region;
    if (!r) return;
    DRAPE_FREE(r->from, r->memory, r->size);
    DRAPE_FREE(r->from, r->next, r->next_size);
    DRAPE_FREE(r->from, r, 1);
    *region = NULL;
}
