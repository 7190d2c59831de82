/* recording.h: formats that can be written only when the last frame is known.
 *
 * Their frames wait on the disk, 12 bytes a vertex each, in a file without a name beside the one to come. At the end
 * that is written in one go, from any frame in any order. Memory: two frames. */
#ifndef DRAPE_IO_RECORDING_H
#define DRAPE_IO_RECORDING_H

#include "base/file.h"
#include "base/spill.h"
#include "io/format.h"

typedef struct drape_i_recording {
    const drape_cloth *cloth;
    const drape_piece *pieces; /* or NULL */
    double fps;
    char *path, *title; /* owned */
    int64_t frames;
    int32_t vertices;
    double *x, *normal; /* 3 a vertex: of the frame read last; the normals are for the format to fill */
    float *packed;      /* 3 a vertex: a frame on its way to the disk or back */
    drape_i_spill spill;
    drape_status status; /* of the first frame that failed */
} drape_i_recording;

/* `open` and `frame` of such a format. */
drape_status drape_i_recording_open(drape_context *ctx, const char *path, const drape_i_animation *what,
                                    void **state);
drape_status drape_i_recording_frame(drape_context *ctx, void *state, const double *positions);

/* Writes the whole file. */
typedef drape_status drape_i_recording_write(drape_context *ctx, void *user, drape_i_file *file);

/* For its `close`: calls write in the locale "C" where there are frames and none failed, gives the file its name, and
 * frees the recording in any case. */
drape_status drape_i_recording_close(drape_context *ctx, drape_i_recording *r, drape_i_recording_write *write,
                                     void *user);

/* Fills x with the frame as it was rounded to float32. */
drape_status drape_i_recording_read(drape_context *ctx, drape_i_recording *r, int64_t frame);
/* The same of one piece; the places of the others are left as they are. */
drape_status drape_i_recording_read_piece(drape_context *ctx, drape_i_recording *r, int64_t frame,
                                          const drape_piece_range *piece);
/* Seconds of a frame. */
double drape_i_recording_time(const drape_i_recording *r, int64_t frame);

#endif
