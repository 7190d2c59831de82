/* file.c: temporary name, write, flush to the disk, rename. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SUFFIX_SIZE = 48, ATTEMPTS = 100 }; /* room for ".part-", two numbers and the end */

static drape_status fail_errno(drape_context *ctx, const char *path, const char *what) {
    return drape_i_fail(ctx, DRAPE_ERROR_IO, "%s: cannot %s: %s", path, what, strerror(errno));
}

static void forget(drape_context *ctx, drape_i_file *file) {
    if (file->path) {
        int64_t length = (int64_t)strlen(file->path);
        DRAPE_FREE(ctx, file->temporary, length + SUFFIX_SIZE);
        DRAPE_FREE(ctx, file->path, length + 1);
    }
    *file = (drape_i_file){0};
}

/* Not mkstemp: its files have mode 600, and only the kernel can apply the umask without a race. */
static int open_temporary(char *temporary, size_t length) {
    int descriptor = -1;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        snprintf(temporary + length, SUFFIX_SIZE, ".part-%ld-%d", (long)getpid(), attempt);
        descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor >= 0 || errno != EEXIST) break;
    }
    return descriptor;
}

drape_status drape_i_file_create(drape_context *ctx, const char *path, drape_i_file *out) {
    size_t length = strlen(path);
    drape_i_file file = {0};
    *out = file;
    if (!DRAPE_NEW(ctx, file.path, (int64_t)length + 1)) return DRAPE_ERROR_MEMORY;
    memcpy(file.path, path, length + 1);
    if (!DRAPE_NEW(ctx, file.temporary, (int64_t)length + SUFFIX_SIZE)) {
        forget(ctx, &file);
        return DRAPE_ERROR_MEMORY;
    }
    memcpy(file.temporary, path, length);
    int descriptor = open_temporary(file.temporary, length);
    if (descriptor >= 0) file.stream = fdopen(descriptor, "wb");
    if (!file.stream) {
        drape_status status = fail_errno(ctx, path, "create");
        if (descriptor >= 0) {
            close(descriptor);
            unlink(file.temporary);
        }
        forget(ctx, &file);
        return status;
    }
    *out = file;
    return DRAPE_OK;
}

void drape_i_file_write(drape_i_file *file, const void *data, size_t bytes) {
    if (bytes && fwrite(data, 1, bytes, file->stream) != bytes && !file->error) file->error = errno;
}

drape_status drape_i_file_commit(drape_context *ctx, drape_i_file *file) {
    bool written = false;
    int why = file->error ? file->error : EIO;
    if (!ferror(file->stream)) {
        written = fflush(file->stream) == 0 && fsync(fileno(file->stream)) == 0;
        why = errno;
    }
    bool closed = fclose(file->stream) == 0;
    if (written && !closed) why = errno;
    file->stream = NULL;
    drape_status status = DRAPE_OK;
    errno = why;
    if (!written || !closed) status = fail_errno(ctx, file->path, "write");
    else if (rename(file->temporary, file->path) != 0) status = fail_errno(ctx, file->path, "rename");
    if (status) unlink(file->temporary);
    forget(ctx, file);
    return status;
}

void drape_i_file_abandon(drape_context *ctx, drape_i_file *file) {
    if (!file->stream) return;
    fclose(file->stream);
    unlink(file->temporary);
    forget(ctx, file);
}

static drape_status read_stream(drape_context *ctx, const char *path, FILE *stream, char *data, int64_t size) {
    if (fread(data, 1, (size_t)size, stream) != (size_t)size || fgetc(stream) != EOF)
        return drape_i_fail(ctx, DRAPE_ERROR_IO, "%s: cannot read: the size changed or the disk failed", path);
    data[size] = 0;
    return DRAPE_OK;
}

drape_status drape_i_file_read(drape_context *ctx, const char *path, char **data, int64_t *size) {
    struct stat info;
    *data = NULL;
    *size = 0;
    FILE *stream = fopen(path, "rb");
    if (!stream) return fail_errno(ctx, path, "open");
    drape_status status = DRAPE_OK;
    if (fstat(fileno(stream), &info) != 0) status = fail_errno(ctx, path, "inspect");
    else if (!S_ISREG(info.st_mode)) status = drape_i_fail(ctx, DRAPE_ERROR_IO, "%s: not a regular file", path);
    else if (!DRAPE_NEW(ctx, *data, (int64_t)info.st_size + 1)) status = DRAPE_ERROR_MEMORY;
    if (!status) status = read_stream(ctx, path, stream, *data, (int64_t)info.st_size);
    fclose(stream);
    if (status && *data) {
        DRAPE_FREE(ctx, *data, (int64_t)info.st_size + 1);
        *data = NULL;
    }
    if (!status) *size = (int64_t)info.st_size;
    return status;
}
