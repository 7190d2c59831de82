/* recording.h: formats that can be written only when the last frame is known.
 *
 * Their frames wait on the disk, 12 bytes per vertex each, in a file without a name beside the one to come. At the
 * end that is written in one go, from any frame in any order. Memory: two frames.
 *
 * A record, in the machine's own bytes: float32 positions of the cloth; for formats that keep them float32 positions
 * of the meshes beside it and float32 values of the attributes, in their order; the frame's number and time. */
#ifndef DRAPE_IO_RECORDING_H
#define DRAPE_IO_RECORDING_H

#include "base/file.h"
#include "io/format.h"

/* When a frame is. */
typedef struct drape_i_stamp {
    int64_t number;
    double time; /* s */
} drape_i_stamp;

typedef struct drape_i_recording {
    const drape_cloth *cloth;
    const drape_piece *pieces; /* or NULL */
    double fps;
    char *path, *title; /* owned */
    int64_t frames;
    int32_t vertices;
    double *x, *normal;       /* 3 per vertex: of the frame read last; the normals are for the format to fill */
    float *packed;            /* 3 per vertex: a frame on its way to the disk or back */
    bool keeps_extras;        /* set by the format after opening: meshes and attributes are recorded too */
    const drape_frame *shape; /* of the frames' meshes and attributes */
    int64_t extras;           /* floats of them in each frame */
    float *extra;             /* as many */
    drape_i_stamp first, last;
    drape_i_spill spill;
    drape_status status; /* of the first frame that failed */
} drape_i_recording;

/* `open` and `frame` of such a format. */
drape_status drape_i_recording_open(drape_context *ctx, const char *path, const drape_i_animation *what,
                                    void **state);
drape_status drape_i_recording_frame(drape_context *ctx, void *state, const drape_i_frame *frame);

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
/* Fills extra[0..count-1] with the frame's extras from number `first` on. */
drape_status drape_i_recording_read_extra(drape_context *ctx, drape_i_recording *r, int64_t frame, int64_t first,
                                          int64_t count);
drape_status drape_i_recording_stamp(drape_context *ctx, drape_i_recording *r, int64_t frame, drape_i_stamp *out);

#endif
