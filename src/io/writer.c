/* writer.c: the table of mesh formats, and a writer on top of one of them. */
#include "io/format.h"

#include "base/word.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const drape_i_format *const formats[] = {
    &drape_i_format_obj, &drape_i_format_html, &drape_i_format_pc2, &drape_i_format_mdd,
    &drape_i_format_ply, &drape_i_format_usda, &drape_i_format_glb,
};

enum { COUNT = sizeof formats / sizeof *formats, LIST_SIZE = 128 };

static const double DEFAULT_FPS = 25;
static const char DEFAULT_TITLE[] = "drape";

struct drape_writer {
    drape_context *ctx;
    const drape_i_format *format;
    void *state;
};

const char *drape_writer_extension(int32_t i) { return i >= 0 && i < COUNT ? formats[i]->extension : NULL; }
const char *drape_writer_description(int32_t i) { return i >= 0 && i < COUNT ? formats[i]->description : NULL; }

static const drape_i_format *find(const char *path) {
    for (int32_t i = 0; i < COUNT; i++)
        if (drape_i_ends_in(path, formats[i]->extension)) return formats[i];
    return NULL;
}

bool drape_writer_knows(const char *path) { return find(path) != NULL; }

/* ".obj, .html, ..." */
static void list_endings(char list[LIST_SIZE]) {
    size_t used = 0;
    for (int32_t i = 0; i < COUNT && used < LIST_SIZE; i++)
        used += (size_t)snprintf(list + used, LIST_SIZE - used, "%s%s", i ? ", " : "", formats[i]->extension);
}

static drape_status check(drape_context *ctx, const char *path, const drape_animation *what) {
    char known[LIST_SIZE];
    if (!find(path)) {
        list_endings(known);
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: no known mesh format (known: %s)", path, known);
    }
    if (!(what->fps >= 0) || !isfinite(what->fps))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: %g frames per second; they must be finite and > 0, or 0",
                            path, what->fps);
    for (int32_t i = 0; what->pieces && i < drape_cloth_pieces(what->cloth); i++) {
        const drape_piece_range *range = drape_cloth_piece(what->cloth, i);
        if (what->pieces[i].vertices != range->vertices || what->pieces[i].triangles != range->triangles)
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: piece %d is not what the cloth was made of", path, i);
    }
    return DRAPE_OK;
}

drape_status drape_writer_open(drape_context *ctx, const char *path, const drape_animation *what,
                               drape_writer **out) {
    drape_writer *writer;
    drape_animation filled = *what;
    *out = NULL;
    drape_status status = check(ctx, path, what);
    if (status) return status;
    if (filled.fps == 0) filled.fps = DEFAULT_FPS;
    if (!filled.title) filled.title = DEFAULT_TITLE;
    if (!DRAPE_NEW(ctx, writer, 1)) return DRAPE_ERROR_MEMORY;
    writer->ctx = ctx;
    writer->format = find(path);
    status = writer->format->open(ctx, path, &filled, &writer->state);
    if (status) DRAPE_FREE(ctx, writer, 1);
    else *out = writer;
    return status;
}

drape_status drape_writer_frame(drape_writer *w, const double *positions) {
    return w->format->frame(w->ctx, w->state, positions);
}

drape_status drape_writer_close(drape_writer *w) {
    if (!w) return DRAPE_OK;
    drape_context *ctx = w->ctx;
    drape_status status = w->format->close(ctx, w->state);
    DRAPE_FREE(ctx, w, 1);
    return status;
}
