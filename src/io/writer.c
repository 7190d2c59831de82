/* writer.c: the table of mesh formats, and a writer on top of one of them. */
#include "io/format.h"

#include <string.h>

static const drape_i_format *const formats[] = {
    &drape_i_format_obj,
};

enum { COUNT = sizeof formats / sizeof *formats };

struct drape_writer {
    drape_context *ctx;
    const drape_i_format *format;
    void *state;
};

const char *drape_writer_extension(int32_t i) { return i >= 0 && i < COUNT ? formats[i]->extension : NULL; }
const char *drape_writer_description(int32_t i) { return i >= 0 && i < COUNT ? formats[i]->description : NULL; }

static const drape_i_format *find(const char *path) {
    size_t length = strlen(path);
    for (int32_t i = 0; i < COUNT; i++) {
        size_t ending = strlen(formats[i]->extension);
        if (length > ending && strcmp(path + length - ending, formats[i]->extension) == 0) return formats[i];
    }
    return NULL;
}

drape_status drape_writer_open(drape_context *ctx, const char *path, const drape_cloth *cloth, drape_writer **out) {
    drape_writer *writer;
    *out = NULL;
    const drape_i_format *format = find(path);
    if (!format)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: no known mesh format (known: %s)", path,
                            formats[0]->extension);
    if (!DRAPE_NEW(ctx, writer, 1)) return DRAPE_ERROR_MEMORY;
    writer->ctx = ctx;
    writer->format = format;
    drape_status status = format->open(ctx, path, cloth, &writer->state);
    if (status)
        DRAPE_FREE(ctx, writer, 1);
    else
        *out = writer;
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
