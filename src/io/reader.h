/* reader.h: opening sequences of frames by name. */
#ifndef DRAPE_IO_READER_H
#define DRAPE_IO_READER_H

#include "drape/io.h"

/* Asked about every file before it is opened: those of a sequence, a cache, the mesh beside it. */
typedef struct drape_i_reader_gate {
    bool (*allows)(void *user, const char *path);
    const char *why_not; /* follows the name of a file that it refuses */
    void *user;
} drape_i_reader_gate;

/* drape_reader_open with a gate, or NULL. What it does not let through is DRAPE_ERROR_ARGUMENT. */
drape_status drape_i_reader_open(drape_context *ctx, const char *path, const drape_reader_options *options,
                                 const drape_i_reader_gate *gate, drape_reader **out);

#endif
