/* journal.h: the log of the frames of a run, NAME.ckpt.frames, read without the run (journal.c describes the file).
 */
#ifndef DRAPE_IO_JOURNAL_H
#define DRAPE_IO_JOURNAL_H

#include "base/context.h"

typedef struct drape_i_frame_log drape_i_frame_log;

/* path must live on. A run may be at work on the file: frames that come later are not seen. */
drape_status drape_i_frame_log_open(drape_context *ctx, const char *path, drape_i_frame_log **out);
int32_t drape_i_frame_log_vertices(const drape_i_frame_log *log);
int32_t drape_i_frame_log_frames(const drape_i_frame_log *log); /* >= 1 */
drape_status drape_i_frame_log_frame(drape_i_frame_log *log, int32_t frame, double *x);
void drape_i_frame_log_close(drape_i_frame_log *log); /* NULL is fine */

#endif
