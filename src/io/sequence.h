/* sequence.h: formats with one file per frame: sheet.obj -> sheet_0000.obj, sheet_0001.obj, ... */
#ifndef DRAPE_IO_SEQUENCE_H
#define DRAPE_IO_SEQUENCE_H

#include "base/file.h"
#include "io/format.h"

typedef struct drape_i_sequence {
    const drape_cloth *cloth;
    const drape_piece *pieces; /* or NULL */
    double *normal;            /* 3 doubles per vertex, for the use of the format */

    const char *extension;
    size_t stem; /* length of the path without its ending */
    int64_t room;
    char *path; /* the stem, then number and ending of the present frame */
} drape_i_sequence;

drape_status drape_i_sequence_open(drape_context *ctx, const char *path, const char *extension,
                                   const drape_i_animation *what, void **state);
/* Writes one frame with the function given; the file gets its name when that is done. */
drape_status drape_i_sequence_frame(drape_context *ctx, drape_i_sequence *s, const drape_i_frame *frame,
                                    drape_status (*write)(drape_context *ctx, drape_i_sequence *s, drape_i_file *file,
                                                          const drape_i_frame *frame));
/* "drape: frame 12, 0.48 s, metres, z up", without the time where it was not given. */
void drape_i_sequence_comment(const drape_frame *frame, FILE *to);
drape_status drape_i_sequence_close(drape_context *ctx, void *state);

#endif
