/* spill.h: bytes that wait on the disk instead of in memory. */
#ifndef DRAPE_BASE_SPILL_H
#define DRAPE_BASE_SPILL_H

#include "base/context.h"

#include <stdio.h>

/* A file without a name: the system takes it away with the process, whatever ends it. All zero: none. */
typedef struct drape_i_spill {
    FILE *stream;
    int64_t size;         /* bytes in it */
    bool reading;         /* what the stream did last */
    int64_t next;         /* where it goes on reading */
    const char *for_path; /* borrowed, for messages: the file that is to come of it */
} drape_i_spill;

/* In the folder of path, which must live on: there is the room that the file itself will need. */
drape_status drape_i_spill_create(drape_context *ctx, const char *path, drape_i_spill *out);
drape_status drape_i_spill_append(drape_context *ctx, drape_i_spill *spill, const void *data, size_t bytes);
/* at + bytes may not go beyond size. */
drape_status drape_i_spill_read(drape_context *ctx, drape_i_spill *spill, int64_t at, void *data, size_t bytes);
void drape_i_spill_destroy(drape_i_spill *spill);

#endif
