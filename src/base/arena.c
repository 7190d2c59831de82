/* arena.c: blocks in a list, the newest first; each is a head of one cache line, then its memory. */
#include "base/arena.h"

#include <string.h>

enum { LINE = 64, LEAST_BLOCK = 64 * 1024 };

struct drape_i_arena_block {
    _Alignas(LINE) struct drape_i_arena_block *before;
    int64_t size, used; /* bytes after the head */
};

typedef struct drape_i_arena_block block;

_Static_assert(sizeof(block) == LINE, "memory behind the head is aligned as the head is");

/* Whole cache lines; a get of nothing takes one too, so that pointers differ. */
static bool lines(int64_t count, size_t size, int64_t *bytes) {
    const uint64_t most = (uint64_t)INT64_MAX / 4; /* sums of two stay in range */
    if (count < 0 || (size && (uint64_t)count > most / size)) return false;
    int64_t exact = (int64_t)((uint64_t)count * size);
    *bytes = exact ? (exact + LINE - 1) / LINE * LINE : LINE;
    return true;
}

static bool add_block(drape_context *ctx, drape_i_arena *arena, int64_t size) {
    block *b = drape_i_alloc(ctx, LINE + size, 1);
    if (!b) return false;
    b->before = arena->last;
    b->size = size;
    arena->last = b;
    arena->held += size;
    return true;
}

void *drape_i_arena_get(drape_context *ctx, drape_i_arena *arena, int64_t count, size_t size) {
    int64_t bytes;
    if (!lines(count, size, &bytes)) {
        drape_i_fail(ctx, DRAPE_ERROR_MEMORY, "out of memory: %lld items of %zu bytes", (long long)count, size);
        return NULL;
    }
    if (!arena->last || arena->last->size - arena->last->used < bytes) {
        int64_t least = arena->held > LEAST_BLOCK ? arena->held : LEAST_BLOCK;
        if (!add_block(ctx, arena, bytes > least ? bytes : least)) return NULL;
    }
    block *b = arena->last;
    DRAPE_ASSERT(b->used >= 0 && b->used + bytes <= b->size);
    char *memory = (char *)b + LINE + b->used;
    b->used += bytes;
    return memset(memory, 0, (size_t)bytes);
}

void drape_i_arena_free(drape_context *ctx, drape_i_arena *arena) {
    for (block *b = arena->last; b;) {
        block *before = b->before;
        drape_i_free(ctx, b, LINE + b->size, 1);
        b = before;
    }
    *arena = (drape_i_arena){0};
}
