/* file.h: files that are complete or absent, files read whole, bytes that wait on the disk, and checksums. */
#ifndef DRAPE_BASE_FILE_H
#define DRAPE_BASE_FILE_H

#include "base/context.h"

#include <stddef.h>
#include <stdint.h>
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
/* After a failed write: continues after the first `size` bytes of the file, and clears the failure. */
drape_status drape_i_file_cut(drape_context *ctx, drape_i_file *file, int64_t size);
/* errno of the failure that a stream remembers, as far as it can still be found out. */
int drape_i_stream_error(FILE *stream);

/* Opens a file to be read, its size in *size. Only regular files are opened: a FIFO would wait for its other
 * end, and a device may have no end. */
drape_status drape_i_file_open(drape_context *ctx, const char *path, FILE **out, int64_t *size);
/* A whole file, followed by a zero byte. Freed by drape_i_free(ctx, data, size + 1, 1). */
drape_status drape_i_file_read(drape_context *ctx, const char *path, char **data, int64_t *size);

/* ---- Bytes that wait on the disk instead of in memory ---- */

/* A file without a name: the system takes it away with the process, whatever ends it. All zero: none. */
typedef struct drape_i_spill {
    FILE *stream;
    int64_t size;         /* bytes in it */
    bool reading;         /* what the stream did last */
    int64_t next;         /* where reading continues */
    const char *for_path; /* borrowed, for messages: the file that is to come of it */
} drape_i_spill;

/* In the folder of path, which must live on: there is the room that the file itself will need. */
drape_status drape_i_spill_create(drape_context *ctx, const char *path, drape_i_spill *out);
drape_status drape_i_spill_append(drape_context *ctx, drape_i_spill *spill, const void *data, size_t bytes);
/* Hands everything to the system, so that a full disk shows now. */
drape_status drape_i_spill_flush(drape_context *ctx, drape_i_spill *spill);
/* at + bytes may not go beyond size. */
drape_status drape_i_spill_read(drape_context *ctx, drape_i_spill *spill, int64_t at, void *data, size_t bytes);
/* Truncates the file to its first `size` bytes. */
drape_status drape_i_spill_cut(drape_context *ctx, drape_i_spill *spill, int64_t size);
void drape_i_spill_destroy(drape_i_spill *spill);

/* ---- Checksums ---- */

#define DRAPE_I_HASH_SEED UINT64_C(0xcbf29ce484222325)

/* A hash of 64 bits, for checksums of files and for comparing data. It does not protect against an attacker.
 * Continues from `hash` with these bytes. Any change within one
 * word of 8 bytes, counted from `data`, changes the result. The same on every little-endian machine. */
uint64_t drape_i_hash(uint64_t hash, const void *data, size_t bytes);

#endif
