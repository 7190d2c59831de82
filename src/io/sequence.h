/* sequence.h: formats with a file a frame: sheet.obj -> sheet_0000.obj, sheet_0001.obj, ... */
#ifndef DRAPE_IO_SEQUENCE_H
#define DRAPE_IO_SEQUENCE_H

#include "base/file.h"
#include "io/format.h"

typedef struct drape_i_sequence {
    const drape_cloth *cloth;
    const drape_piece *pieces; /* or NULL */
    int64_t frame;             /* the present one, from 0 */
    double *normal;            /* 3 a vertex, for the use of the format */

    const char *extension;
    size_t stem; /* length of the path without its ending */
    int64_t room;
    char *path; /* the stem, then number and ending of the present frame */
} drape_i_sequence;

drape_status drape_i_sequence_open(drape_context *ctx, const char *path, const char *extension,
                                   const drape_i_animation *what, void **state);
/* Writes one frame with the function given; the file gets its name when that is done. */
drape_status drape_i_sequence_frame(drape_context *ctx, drape_i_sequence *s, const double *positions,
                                    drape_status (*write)(drape_context *ctx, drape_i_sequence *s, drape_i_file *file,
                                                          const double *positions));
drape_status drape_i_sequence_close(drape_context *ctx, void *state);

#endif
