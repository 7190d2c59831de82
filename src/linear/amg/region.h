/* region.h: memory for what is made again and again in a similar size, such as levels for couplings. */
#ifndef DRAPE_LINEAR_AMG_REGION_H
#define DRAPE_LINEAR_AMG_REGION_H

#include "base/context.h"

enum { DRAPE_I_MOST_HOLES = 64 };

/* A context whose allocator hands out a piece of memory from its beginning to its end, and what was given back
 * before. What does not fit is taken from the context that the region was created in. When everything has been given
 * back, it can begin again. */
typedef struct drape_i_region {
    drape_context ctx;
    drape_context *from;
    char *memory, *next; /* in use; to be taken the next time, larger, and not touched before */
    int64_t size, next_size;
    int64_t used;    /* of memory, with its holes */
    int64_t outside; /* what did not fit */
    int64_t most;    /* of both, since the beginning */
    struct {
        int64_t first, size;
    } hole[DRAPE_I_MOST_HOLES]; /* given back, and not at the end */
    int32_t holes;
} drape_i_region;

/* Does nothing where there is one already. */
drape_status drape_i_region_create(drape_context *ctx, drape_i_region **out);
/* NULL is allowed; nothing that it handed out may be in use any more. */
void drape_i_region_destroy(drape_i_region **region);
/* Nothing that it handed out is in use any more. */
void drape_i_region_begin(drape_i_region *r);
/* Takes memory for the next time, more than was needed this time: another list of couplings reaches other rows. Where
 * there is none, the next time allocates, too. */
void drape_i_region_end(drape_i_region *r);

#endif
