/* format.h: what a mesh format is. To add one: a file that fills a drape_i_format, one line in writer.c. */
#ifndef DRAPE_IO_FORMAT_H
#define DRAPE_IO_FORMAT_H

#include "base/context.h"
#include "drape/io.h"

/* With the defaults filled in: fps > 0, title not NULL. It lives while `open` runs, the cloth longer. */
typedef drape_animation drape_i_animation;

/* A frame that was checked: number and time are filled in, and meshes and attributes have the shape of the first
 * frame's. That shape is a drape_frame without positions and values; its arrays live until the format is closed. */
typedef struct drape_i_frame {
    drape_frame data;
    const drape_frame *shape;
} drape_i_frame;

typedef struct drape_i_format {
    const char *extension, *description;
    drape_status (*open)(drape_context *ctx, const char *path, const drape_i_animation *what, void **state);
    drape_status (*frame)(drape_context *ctx, void *state, const drape_i_frame *frame);
    /* Frees the state in any case. After a frame that failed it leaves no half file. */
    drape_status (*close)(drape_context *ctx, void *state);
} drape_i_format;

#endif
