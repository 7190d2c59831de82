/* region.c: see region.h. */
#include "linear/amg/region.h"

enum { SPARE = 1 << 20 }; /* bytes: the factor of the coarsest level alone may differ by so much */

static void note_most(drape_i_region *r) {
    if (r->used + r->outside > r->most) r->most = r->used + r->outside;
}

static void drop_hole(drape_i_region *r, int32_t i) { r->hole[i] = r->hole[--r->holes]; }

/* The first hole that is large enough, of which the rest stays one; NULL: there is none. */
static void *take_hole(drape_i_region *r, int64_t bytes) {
    for (int32_t i = 0; i < r->holes; i++) {
        if (r->hole[i].size < bytes) continue;
        char *memory = r->memory + r->hole[i].first;
        r->hole[i].first += bytes;
        r->hole[i].size -= bytes;
        if (r->hole[i].size == 0) drop_hole(r, i);
        return memory;
    }
    return NULL;
}

static void *region_alloc(void *user, size_t bytes) {
    drape_i_region *r = user;
    void *memory = take_hole(r, (int64_t)bytes);
    if (memory) return memory;
    if (r->used + (int64_t)bytes <= r->size) {
        memory = r->memory + r->used;
        r->used += (int64_t)bytes;
        note_most(r);
        return memory;
    }
    memory = r->from->allocator.alloc(r->from->allocator.user, bytes);
    if (!memory) return NULL;
    r->from->bytes += (int64_t)bytes;
    r->outside += (int64_t)bytes;
    note_most(r);
    return memory;
}

/* Joins [first, first + size) with the holes beside it; at the end there are no holes. More of them than there is
 * room for are forgotten until the next beginning. */
static void make_hole(drape_i_region *r, int64_t first, int64_t size) {
    for (int32_t i = r->holes - 1; i >= 0; i--) {
        bool before = r->hole[i].first + r->hole[i].size == first, behind = first + size == r->hole[i].first;
        if (!before && !behind) continue;
        if (before) first = r->hole[i].first;
        size += r->hole[i].size;
        drop_hole(r, i);
    }
    if (first + size == r->used) {
        r->used = first;
    } else if (r->holes < DRAPE_I_MOST_HOLES) {
        r->hole[r->holes].first = first;
        r->hole[r->holes++].size = size;
    }
}

static void region_free(void *user, void *memory, size_t bytes) {
    drape_i_region *r = user;
    const uintptr_t at = (uintptr_t)memory, first = (uintptr_t)r->memory;
    if (r->memory && at >= first && at < first + (uintptr_t)r->size) {
        make_hole(r, (int64_t)(at - first), (int64_t)bytes);
        return;
    }
    r->outside -= (int64_t)bytes;
    r->from->bytes -= (int64_t)bytes;
    r->from->allocator.free(r->from->allocator.user, memory, bytes);
}

void drape_i_region_begin(drape_i_region *r) {
    DRAPE_ASSERT(r->outside == 0);
    if (r->next) {
        DRAPE_FREE(r->from, r->memory, r->size);
        r->memory = r->next;
        r->size = r->next_size;
        r->next = NULL;
    }
    r->used = r->most = 0;
    r->holes = 0;
}

void drape_i_region_end(drape_i_region *r) {
    if (r->most <= r->size || r->next) return;
    r->next_size = r->most + r->most / 4 + SPARE;
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
