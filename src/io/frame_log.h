/* frame_log.h: the frames of a run that may be cut off, one behind the other in a file that only grows.
 *
 *   char    magic[8] = "DRAPEFRM"
 *   uint32  version = 1, byte order = 0x01020304
 *   uint64  scene                     which one, as in checkpoints
 *   int64   vertices, interval        frames from one checkpoint to the next
 *   uint64  checksum                  of what stands before it
 *
 * and for each frame, the first of them number 0
 *
 *   int64   frame, steps              done until then
 *   double  x[3 vertices]
 *   uint64  checksum                  of the record before it
 *
 * Little-endian, without gaps. A frame is on the disk when drape_i_frame_log_append returns; what a run that was cut
 * off in the middle of one leaves behind the last has no right checksum. */
#ifndef DRAPE_IO_FRAME_LOG_H
#define DRAPE_IO_FRAME_LOG_H

#include "base/context.h"

/* Which run it is of. */
typedef struct drape_i_frame_log_kind {
    uint64_t scene;
    int64_t vertices;
    int64_t interval;
} drape_i_frame_log_kind;

typedef struct drape_i_frame_log {
    int descriptor;   /* -1: closed */
    const char *path; /* borrowed */
    drape_i_frame_log_kind kind;
    int64_t count; /* frames; after opening one that is there, those that its size has room for. Made smaller, the
                      next ones are written over those behind */
    char *record;  /* of one frame, owned */
} drape_i_frame_log;

/* Both hold a lock on the file until it is closed; DRAPE_ERROR_ARGUMENT where somebody else has it. path must live
 * on. The first begins anew, whatever was there. The second checks scene and vertices, and gets the interval. */
drape_status drape_i_frame_log_create(drape_context *ctx, const char *path, const drape_i_frame_log_kind *kind,
                                      drape_i_frame_log *out);
drape_status drape_i_frame_log_open(drape_context *ctx, const char *path, const drape_i_frame_log_kind *kind,
                                    drape_i_frame_log *out);
void drape_i_frame_log_close(drape_context *ctx, drape_i_frame_log *log);

drape_status drape_i_frame_log_append(drape_context *ctx, drape_i_frame_log *log, int64_t steps, const double *x);
/* DRAPE_ERROR_FORMAT where it is not as it was written. steps and x may be NULL. */
drape_status drape_i_frame_log_read(drape_context *ctx, drape_i_frame_log *log, int64_t frame, int64_t *steps,
                                    double *x);

#endif
