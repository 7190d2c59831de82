/* cache.h: what the readers of point caches share. */
#ifndef DRAPE_IO_CACHE_H
#define DRAPE_IO_CACHE_H

#include "drape/io.h"

/* What the head of a file says, checked against the file's size. */
typedef struct drape_i_cache_head {
    int32_t vertices, frames;
    int64_t times_at;   /* bytes from the beginning; float32 seconds of each frame; 0: the format has none */
    int64_t frames_at;  /* float32 xyz of each vertex, frame by frame */
    double start, rate; /* where there are no times: number of the first frame, frames from one to the next */
} drape_i_cache_head;

/* DRAPE_ERROR_FORMAT where so many vertices, frames and bytes before the first frame do not make the size exactly.
 * Sets vertices and frames. */
drape_status drape_i_cache_fit(drape_context *ctx, const char *name, int64_t size, uint32_t vertices, uint32_t frames,
                               drape_i_cache_head *head);

drape_status drape_i_pc2_head(drape_context *ctx, const char *name, const unsigned char *data, int64_t size,
                              drape_i_cache_head *head);
drape_status drape_i_mdd_head(drape_context *ctx, const char *name, const unsigned char *data, int64_t size,
                              drape_i_cache_head *head);

#endif
