/* spill.c: a temporary file that never has a name; or, on file systems that cannot do that, whose name is taken away
 * as soon as it is open. */
#define _GNU_SOURCE /* O_TMPFILE */
#include "base/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { SUFFIX_SIZE = 48, ATTEMPTS = 100 }; /* room for ".spill-", two numbers and the end */

static drape_status fail_errno(drape_context *ctx, const drape_i_spill *spill, const char *what) {
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
    drape_status status = out->stream ? DRAPE_OK : fail_errno(ctx, out, "create");
    DRAPE_FREE(ctx, name, (int64_t)length + SUFFIX_SIZE);
    return status;
}

drape_status drape_i_spill_append(drape_context *ctx, drape_i_spill *spill, const void *data, size_t bytes) {
    DRAPE_ASSERT(spill->stream);
    if (spill->reading && fseeko(spill->stream, (off_t)spill->size, SEEK_SET) != 0)
        return fail_errno(ctx, spill, "write");
    spill->reading = false;
    if (bytes && fwrite(data, 1, bytes, spill->stream) != bytes) return fail_errno(ctx, spill, "write");
    spill->size += (int64_t)bytes;
    return DRAPE_OK;
}

drape_status drape_i_spill_read(drape_context *ctx, drape_i_spill *spill, int64_t at, void *data, size_t bytes) {
    DRAPE_ASSERT(at >= 0 && at + (int64_t)bytes <= spill->size);
    bool goes_on = spill->reading && spill->next == at;
    if (!goes_on && fseeko(spill->stream, (off_t)at, SEEK_SET) != 0) return fail_errno(ctx, spill, "read");
    spill->reading = true;
    errno = EIO; /* a file that ends early sets none */
    if (bytes && fread(data, 1, bytes, spill->stream) != bytes) return fail_errno(ctx, spill, "read");
    spill->next = at + (int64_t)bytes;
    return DRAPE_OK;
}

void drape_i_spill_destroy(drape_i_spill *spill) {
    if (spill->stream) fclose(spill->stream);
    *spill = (drape_i_spill){0};
}
