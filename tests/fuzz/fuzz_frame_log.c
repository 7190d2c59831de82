/* Any bytes as the log of a run's frames, as they are and with the right checksums. They are refused with a message
 * that names the file, or give frames that are those bytes. No input takes more memory than its size and a block of
 * an arena.
 */
#define _GNU_SOURCE
#include "base/file.h"
#include "drape/io.h"
#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEADER = 48, VERTICES_AT = 24, RECORD_HEAD = 88 };

/* The file's name, the same for the whole process. */
static const char *shared_path(void) {
    static char path[64];
    if (path[0]) return path;
    char folder[] = "/tmp/fuzz-frames-XXXXXX";
    demand(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/a.ckpt.frames", folder);
    return path;
}

static void read_all(drape_reader *reader, const uint8_t *data, size_t size) {
    const drape_reader_info *info = drape_reader_describe(reader);
    size_t bytes = 3 * (size_t)info->vertices * sizeof(double), record = bytes + RECORD_HEAD + 8;
    demand(info->vertices >= 1 && info->frames >= 1 && info->triangles == 0);
    demand(HEADER + record * (size_t)info->frames <= size);
    double *x = malloc(bytes); /* exactly: the sanitizer watches its end */
    demand(x != NULL);
    for (int32_t f = 0; f < info->frames; f++) {
        drape_status status = drape_reader_frame(reader, f, x);
        demand(status == DRAPE_OK || status == DRAPE_ERROR_FORMAT);
        if (!status) demand(memcmp(x, data + HEADER + record * (size_t)f + RECORD_HEAD, bytes) == 0);
    }
    free(x);
}

static void try(const uint8_t *data, size_t size) {
    drape_context *ctx = shared_context();
    drape_reader *reader;
    int64_t before = drape_context_bytes(ctx);
    int file = open(shared_path(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    demand(file >= 0 && write(file, data, size) == (ssize_t)size && close(file) == 0);
    drape_status status = drape_reader_open(ctx, shared_path(), NULL, &reader);
    demand(status == DRAPE_OK || status == DRAPE_ERROR_FORMAT);
    demand((status == DRAPE_OK) == (reader != NULL));
    if (status) demand(strncmp(drape_message(ctx), shared_path(), strlen(shared_path())) == 0);
    demand(drape_context_bytes(ctx) - before <= (int64_t)size + 131072);
    if (reader) read_all(reader, data, size);
    drape_reader_close(reader);
    demand(drape_context_bytes(ctx) == before);
}

static void seal(uint8_t *data, size_t bytes) {
    uint64_t sum = drape_i_hash(DRAPE_I_HASH_SEED, data, bytes - 8);
    memcpy(data + bytes - 8, &sum, sizeof sum);
}

/* As if written by somebody who knows the format. */
static void try_sealed(const uint8_t *data, size_t size) {
    int64_t vertices;
    if (size < HEADER) return;
    uint8_t *copy = malloc(size);
    demand(copy != NULL);
    memcpy(copy, data, size);
    seal(copy, HEADER);
    memcpy(&vertices, copy + VERTICES_AT, sizeof vertices);
    if (vertices >= 1 && vertices < (int64_t)size) {
        size_t record = 24 * (size_t)vertices + RECORD_HEAD + 8;
        for (size_t at = HEADER; at + record <= size; at += record) seal(copy + at, record);
    }
    try(copy, size);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    try(data, size);
    try_sealed(data, size);
    return 0;
}
