/* sequence.c: see sequence.h. */
#include "io/sequence.h"

#include <string.h>

enum { NUMBER_ROOM = 24 }; /* "_0000", or more digits */

drape_status drape_i_sequence_close(drape_context *ctx, void *state) {
    drape_i_sequence *s = state;
    if (s->path) DRAPE_FREE(ctx, s->path, s->room);
    if (s->normal) DRAPE_FREE(ctx, s->normal, 3 * (int64_t)drape_cloth_vertices(s->cloth));
    DRAPE_FREE(ctx, s, 1);
    return DRAPE_OK;
}

drape_status drape_i_sequence_open(drape_context *ctx, const char *path, const char *extension,
                                   const drape_i_animation *what, void **state) {
    drape_i_sequence *s;
    *state = NULL;
    if (!DRAPE_NEW(ctx, s, 1)) return DRAPE_ERROR_MEMORY;
    s->cloth = what->cloth;
    s->pieces = what->pieces;
    s->extension = extension;
    s->stem = strlen(path) - strlen(extension);
    s->room = (int64_t)strlen(path) + NUMBER_ROOM + 1;
    if (!DRAPE_NEW(ctx, s->path, s->room) ||
        !DRAPE_NEW(ctx, s->normal, 3 * (int64_t)drape_cloth_vertices(s->cloth))) {
        drape_i_sequence_close(ctx, s);
        return DRAPE_ERROR_MEMORY;
    }
    memcpy(s->path, path, s->stem);
    *state = s;
    return DRAPE_OK;
}

void drape_i_sequence_comment(const drape_frame *frame, FILE *to) {
    fprintf(to, "drape: frame %lld, ", (long long)frame->number);
    if (frame->has_time) fprintf(to, "%.9g s, ", frame->time);
    fputs("metres, z up\n", to);
}

drape_status drape_i_sequence_frame(drape_context *ctx, drape_i_sequence *s, const drape_i_frame *frame,
                                    drape_status (*write)(drape_context *ctx, drape_i_sequence *s, drape_i_file *file,
                                                          const drape_i_frame *frame)) {
    drape_i_file file;
    snprintf(s->path + s->stem, (size_t)s->room - s->stem, "_%04lld%s", (long long)frame->data.number, s->extension);
    drape_status status = drape_i_file_create(ctx, s->path, &file);
    if (status) return status;
    status = write(ctx, s, &file, frame);
    if (status) drape_i_file_abandon(ctx, &file);
    else status = drape_i_file_commit(ctx, &file);
    return status;
}
