/* arena.h: scratch memory for set-up, given back all at once.
 *
 *   drape_i_arena scratch = {0};
 *   int32_t *mark = drape_i_arena_get(ctx, &scratch, n, sizeof *mark);
 *   if (!mark) ...
 *   drape_i_arena_free(ctx, &scratch);
 *
 * Memory comes in blocks that are each at least as large as all before. */
#ifndef DRAPE_BASE_ARENA_H
#define DRAPE_BASE_ARENA_H

#include "base/context.h"

typedef struct drape_i_arena {
    struct drape_i_arena_block *last; /* the one in use; the others hang on it */
    int64_t held;                     /* bytes in all blocks, without their heads */
} drape_i_arena;

/* Zeroed, 64-byte aligned memory for count items of size bytes, valid until free; NULL with a message
 * when there is none or the product overflows. count 0 gives a valid pointer. */
void *drape_i_arena_get(drape_context *ctx, drape_i_arena *arena, int64_t count, size_t size);

/* All that was given out becomes invalid. */
void drape_i_arena_free(drape_context *ctx, drape_i_arena *arena);

#endif
