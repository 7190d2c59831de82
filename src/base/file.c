/* file.c: files that get their name when they are complete, files without a name, and checksums. */
#define _GNU_SOURCE /* O_TMPFILE */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Complete or absent: temporary name, write, flush to the disk, rename ---- */

enum { SUFFIX_SIZE = 48, ATTEMPTS = 100 }; /* room for ".part-" or ".spill-", two numbers and the end */

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

/* Locks a file that was just made, so that no program takes it for one left by a killed program. False where it was
 * removed before that. */
static bool claim(int descriptor) {
    struct stat info;
    (void)flock(descriptor, LOCK_EX); /* where there are no locks nothing is taken for abandoned, either */
    return fstat(descriptor, &info) != 0 || info.st_nlink > 0;
}

/* Not mkstemp: its files have mode 600, and only the kernel can apply the umask without a race. */
static int open_temporary(char *temporary, size_t length) {
    int descriptor = -1;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        snprintf(temporary + length, SUFFIX_SIZE, ".part-%ld-%d", (long)getpid(), attempt);
        descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor >= 0 ? claim(descriptor) : errno != EEXIST) break;
        if (descriptor >= 0) close(descriptor);
        descriptor = -1;
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

/* A stream remembers that a write failed, not why. What could not be written may still wait in it; where it does not,
 * one more byte fails for the same reason. */
int drape_i_stream_error(FILE *stream) {
    errno = 0;
    clearerr(stream);
    bool failed = fflush(stream) != 0 || write(fileno(stream), "", 1) != 1;
    return failed && errno ? errno : EIO;
}

/* A stream on the same file without what waits in the old one; NULL where that fails. */
static FILE *reopen_cut(FILE *old, int64_t size) {
    struct stat info;
    int descriptor = fcntl(fileno(old), F_DUPFD_CLOEXEC, 0);
    int why = errno;
    fclose(old); /* may write more of it */
    errno = why;
    if (descriptor < 0) return NULL;
    bool good = fstat(descriptor, &info) == 0 && (int64_t)info.st_size >= size &&
                ftruncate(descriptor, (off_t)size) == 0 && lseek(descriptor, (off_t)size, SEEK_SET) == (off_t)size;
    FILE *stream = good ? fdopen(descriptor, "wb") : NULL;
    if (!stream) close(descriptor);
    return stream;
}

drape_status drape_i_file_cut(drape_context *ctx, drape_i_file *file, int64_t size) {
    file->stream = reopen_cut(file->stream, size);
    file->error = 0;
    if (file->stream) return DRAPE_OK;
    drape_status status = fail_errno(ctx, file->path, "write");
    unlink(file->temporary);
    forget(ctx, file);
    return status;
}

drape_status drape_i_file_commit(drape_context *ctx, drape_i_file *file) {
    bool written = false;
    int why = file->error;
    if (!ferror(file->stream)) {
        written = fflush(file->stream) == 0 && fsync(fileno(file->stream)) == 0;
        why = errno;
    } else if (!why) {
        why = drape_i_stream_error(file->stream);
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

drape_status drape_i_file_open(drape_context *ctx, const char *path, FILE **out, int64_t *size) {
    struct stat info;
    *out = NULL;
    *size = 0;
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) return fail_errno(ctx, path, "open");
    drape_status status = DRAPE_OK;
    if (fstat(descriptor, &info) != 0) status = fail_errno(ctx, path, "inspect");
    else if (!S_ISREG(info.st_mode)) status = drape_i_fail(ctx, DRAPE_ERROR_IO, "%s: not a regular file", path);
    else if (!(*out = fdopen(descriptor, "rb"))) status = fail_errno(ctx, path, "open");
    if (status) close(descriptor);
    else *size = (int64_t)info.st_size;
    return status;
}

drape_status drape_i_file_read(drape_context *ctx, const char *path, char **data, int64_t *size) {
    FILE *stream;
    int64_t bytes;
    *data = NULL;
    *size = 0;
    drape_status status = drape_i_file_open(ctx, path, &stream, &bytes);
    if (status) return status;
    if (!DRAPE_NEW(ctx, *data, bytes + 1)) status = DRAPE_ERROR_MEMORY;
    if (!status) status = read_stream(ctx, path, stream, *data, bytes);
    fclose(stream);
    if (status && *data) {
        DRAPE_FREE(ctx, *data, bytes + 1);
        *data = NULL;
    }
    if (!status) *size = bytes;
    return status;
}

/* ---- Spills: a temporary file that never has a name; or, on file systems that cannot do that, whose name is removed
 * as soon as it is open ---- */

static drape_status fail_spill(drape_context *ctx, const drape_i_spill *spill, const char *what) {
    return drape_i_fail(ctx, DRAPE_ERROR_IO, "%s: cannot %s its temporary file: %s", spill->for_path, what,
                        strerror(errno));
}

/* In the folder of the name, which is cut for a moment. */
static int open_nameless(char *name) {
    char *slash = strrchr(name, '/');
    const char *folder = !slash ? "." : slash == name ? "/" : name;
    if (slash) *slash = 0;
    int descriptor = open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
    if (slash) *slash = '/';
    return descriptor;
}

static int open_and_unlink(char *name, size_t length) {
    int descriptor = -1;
    for (int attempt = 0; attempt < ATTEMPTS && descriptor < 0; attempt++) {
        snprintf(name + length, SUFFIX_SIZE, ".spill-%ld-%d", (long)getpid(), attempt);
        descriptor = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (descriptor < 0 && errno != EEXIST) break;
    }
    if (descriptor >= 0) unlink(name);
    return descriptor;
}

static FILE *open_unnamed(char *name, size_t length) {
    int descriptor = open_nameless(name);
    bool unknown = descriptor < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL);
    if (unknown) descriptor = open_and_unlink(name, length);
    FILE *stream = descriptor >= 0 ? fdopen(descriptor, "w+b") : NULL;
    if (!stream && descriptor >= 0) close(descriptor);
    return stream;
}

drape_status drape_i_spill_create(drape_context *ctx, const char *path, drape_i_spill *out) {
    size_t length = strlen(path);
    char *name;
    *out = (drape_i_spill){.for_path = path};
    if (!DRAPE_NEW(ctx, name, (int64_t)length + SUFFIX_SIZE)) return DRAPE_ERROR_MEMORY;
    memcpy(name, path, length);
    out->stream = open_unnamed(name, length);
    drape_status status = out->stream ? DRAPE_OK : fail_spill(ctx, out, "create");
    DRAPE_FREE(ctx, name, (int64_t)length + SUFFIX_SIZE);
    return status;
}

drape_status drape_i_spill_append(drape_context *ctx, drape_i_spill *spill, const void *data, size_t bytes) {
    DRAPE_ASSERT(spill->stream);
    if (spill->reading && fseeko(spill->stream, (off_t)spill->size, SEEK_SET) != 0)
        return fail_spill(ctx, spill, "write");
    spill->reading = false;
    if (bytes && fwrite(data, 1, bytes, spill->stream) != bytes) return fail_spill(ctx, spill, "write");
    spill->size += (int64_t)bytes;
    return DRAPE_OK;
}

drape_status drape_i_spill_flush(drape_context *ctx, drape_i_spill *spill) {
    return fflush(spill->stream) == 0 ? DRAPE_OK : fail_spill(ctx, spill, "write");
}

drape_status drape_i_spill_cut(drape_context *ctx, drape_i_spill *spill, int64_t size) {
    DRAPE_ASSERT(size >= 0 && size <= spill->size);
    /* The stream first: it may hold bytes that would be put after the end again. They may not fit, but then they are
     * not wanted either. */
    clearerr(spill->stream);
    (void)fflush(spill->stream);
    clearerr(spill->stream);
    if (ftruncate(fileno(spill->stream), (off_t)size) != 0) return fail_spill(ctx, spill, "cut");
    spill->size = size;
    spill->reading = true; /* so that the next one to write looks for the end */
    spill->next = -1;
    return DRAPE_OK;
}

drape_status drape_i_spill_read(drape_context *ctx, drape_i_spill *spill, int64_t at, void *data, size_t bytes) {
    DRAPE_ASSERT(at >= 0 && at + (int64_t)bytes <= spill->size);
    bool goes_on = spill->reading && spill->next == at;
    if (!goes_on && fseeko(spill->stream, (off_t)at, SEEK_SET) != 0) return fail_spill(ctx, spill, "read");
    spill->reading = true;
    errno = EIO; /* a file that ends early sets none */
    if (bytes && fread(data, 1, bytes, spill->stream) != bytes) return fail_spill(ctx, spill, "read");
    spill->next = at + (int64_t)bytes;
    return DRAPE_OK;
}

void drape_i_spill_destroy(drape_i_spill *spill) {
    if (spill->stream) fclose(spill->stream);
    *spill = (drape_i_spill){0};
}

/* ---- Hash ---- */

/* FNV-1a by words of 8 bytes: hash = (hash xor word) times an odd number, then the high half is mixed into the low
 * one. Each of these is one to one in hash and in word, so a single wrong word is never missed. The last word is
 * filled up with zeros, and the length is hashed too, so that zeros at the end count. */
static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

uint64_t drape_i_hash(uint64_t hash, const void *data, size_t bytes) {
    const unsigned char *from = data;
    uint64_t word;
    size_t left = bytes;
    for (; left >= sizeof word; left -= sizeof word, from += sizeof word) {
        memcpy(&word, from, sizeof word);
        hash = mix(hash, word);
    }
    word = 0;
    if (left) memcpy(&word, from, left);
    return mix(mix(hash, word), bytes);
}
