/* file.h: files that are complete or absent, and files read whole. */
#ifndef DRAPE_BASE_FILE_H
#define DRAPE_BASE_FILE_H

#include "base/context.h"

#include <stdio.h>

/* A file being written under a temporary name beside its own. Until drape_i_file_commit the final name holds
 * what it held before; after a failure, or drape_i_file_abandon, too. */
typedef struct drape_i_file {
    FILE *stream;
    char *path, *temporary; /* owned */
    int error;              /* errno of the first write that failed */
} drape_i_file;

drape_status drape_i_file_create(drape_context *ctx, const char *path, drape_i_file *out);
/* Write errors are remembered by the stream and reported by commit, so single writes need no check. */
void drape_i_file_write(drape_i_file *file, const void *data, size_t bytes);
drape_status drape_i_file_commit(drape_context *ctx, drape_i_file *file);
void drape_i_file_abandon(drape_context *ctx, drape_i_file *file);

/* The whole of a file, with a zero byte behind it. Freed by drape_i_free(ctx, data, size + 1, 1). */
drape_status drape_i_file_read(drape_context *ctx, const char *path, char **data, int64_t *size);

#endif
