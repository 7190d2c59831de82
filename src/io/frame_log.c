/* frame_log.c: see frame_log.h. */
#include "io/frame_log.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "frames are copied to and from memory, which wants a little-endian host"
#endif

static const char MAGIC[8] = {'D', 'R', 'A', 'P', 'E', 'F', 'R', 'M'};
enum { VERSION = 1, BYTE_ORDER_MARK = 0x01020304 };

typedef struct header {
    char magic[8];
    uint32_t version, byte_order;
    drape_i_frame_log_kind kind;
    uint64_t checksum;
} header;
_Static_assert(sizeof(header) == 48, "the header has no gaps");

typedef struct record_head {
    int64_t frame, steps;
} record_head;

static drape_status fail_errno(drape_context *ctx, const drape_i_frame_log *log, const char *what) {
    return drape_i_fail(ctx, DRAPE_ERROR_IO, "%s: cannot %s: %s", log->path, what, strerror(errno));
}

static int64_t vector_bytes(const drape_i_frame_log *log) { return 3 * log->kind.vertices * (int64_t)sizeof(double); }

static int64_t record_bytes(const drape_i_frame_log *log) {
    return (int64_t)(sizeof(record_head) + sizeof(uint64_t)) + vector_bytes(log);
}

static int64_t place_of(const drape_i_frame_log *log, int64_t frame) {
    DRAPE_ASSERT(frame >= 0 && frame <= log->count);
    return (int64_t)sizeof(header) + frame * record_bytes(log);
}

static uint64_t checksum(const void *data, int64_t bytes) {
    return drape_i_hash(DRAPE_I_HASH_SEED, data, (size_t)bytes - sizeof(uint64_t));
}

/* ---- Bytes ---- */

static drape_status write_at(drape_context *ctx, const drape_i_frame_log *log, int64_t at, const void *data,
                             int64_t bytes) {
    const char *from = data;
    while (bytes > 0) {
        ssize_t done = pwrite(log->descriptor, from, (size_t)bytes, (off_t)at);
        if (done < 0 && errno == EINTR) continue;
        if (done == 0) errno = ENOSPC;
        if (done <= 0) return fail_errno(ctx, log, "write");
        from += done, at += done, bytes -= done;
    }
    return DRAPE_OK;
}

static drape_status read_at(drape_context *ctx, const drape_i_frame_log *log, int64_t at, void *data, int64_t bytes) {
    char *to = data;
    while (bytes > 0) {
        ssize_t done = pread(log->descriptor, to, (size_t)bytes, (off_t)at);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return fail_errno(ctx, log, "read");
        if (done == 0) return drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "%s: the frames are cut short", log->path);
        to += done, at += done, bytes -= done;
    }
    return DRAPE_OK;
}

static drape_status sync_to_disk(drape_context *ctx, const drape_i_frame_log *log) {
    return fdatasync(log->descriptor) == 0 ? DRAPE_OK : fail_errno(ctx, log, "write");
}

/* ---- Opening ---- */

/* The system gives the lock back with the process, whatever ends it. */
static drape_status lock(drape_context *ctx, const drape_i_frame_log *log) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(log->descriptor, F_SETLK, &whole) == 0) return DRAPE_OK;
    if (errno != EACCES && errno != EAGAIN) return DRAPE_OK; /* a file system without locks */
    return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: another run is at work on it", log->path);
}

static drape_status open_file(drape_context *ctx, const char *path, int flags, drape_i_frame_log *log) {
    struct stat info;
    log->path = path;
    log->descriptor = open(path, O_RDWR | O_CLOEXEC | flags, 0666);
    if (log->descriptor < 0) return fail_errno(ctx, log, "open");
    if (fstat(log->descriptor, &info) != 0 || !S_ISREG(info.st_mode))
        return drape_i_fail(ctx, DRAPE_ERROR_IO, "%s: not a regular file", path);
    return lock(ctx, log);
}

static drape_status take_record(drape_context *ctx, drape_i_frame_log *log) {
    return DRAPE_NEW(ctx, log->record, record_bytes(log)) ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

static drape_status write_header(drape_context *ctx, const drape_i_frame_log *log) {
    header head = {.version = VERSION, .byte_order = BYTE_ORDER_MARK, .kind = log->kind};
    memcpy(head.magic, MAGIC, sizeof MAGIC);
    head.checksum = checksum(&head, sizeof head);
    if (ftruncate(log->descriptor, 0) != 0) return fail_errno(ctx, log, "empty");
    return write_at(ctx, log, 0, &head, sizeof head);
}

drape_status drape_i_frame_log_create(drape_context *ctx, const char *path, const drape_i_frame_log_kind *kind,
                                      drape_i_frame_log *out) {
    *out = (drape_i_frame_log){.kind = *kind, .descriptor = -1};
    drape_status status = take_record(ctx, out); /* first: without memory there is no file either */
    if (!status) status = open_file(ctx, path, O_CREAT, out);
    if (!status) {
        status = write_header(ctx, out);
        if (status) unlink(path);
    }
    if (status) drape_i_frame_log_close(ctx, out);
    return status;
}

static drape_status check_header(drape_context *ctx, const drape_i_frame_log *log, const header *head) {
    const drape_i_frame_log_kind *k = &head->kind;
    if (memcmp(head->magic, MAGIC, sizeof MAGIC) != 0)
        return drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "%s: no frames: it does not begin with DRAPEFRM", log->path);
    if (head->byte_order != BYTE_ORDER_MARK || head->version != VERSION)
        return drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "%s: frames of version %u, and this program knows %d only",
                            log->path, head->version, VERSION);
    if (head->checksum != checksum(head, sizeof *head) || k->interval < 1 || k->interval > INT32_MAX)
        return drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "%s: the header of the frames is damaged", log->path);
    if (k->scene != log->kind.scene || k->vertices != log->kind.vertices)
        return drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "%s: frames of another scene", log->path);
    return DRAPE_OK;
}

static drape_status read_header(drape_context *ctx, drape_i_frame_log *log) {
    struct stat info;
    header head;
    drape_status status = read_at(ctx, log, 0, &head, sizeof head);
    if (!status) status = check_header(ctx, log, &head);
    if (status) return status;
    log->kind = head.kind;
    if (fstat(log->descriptor, &info) != 0) return fail_errno(ctx, log, "inspect");
    log->count = ((int64_t)info.st_size - (int64_t)sizeof head) / record_bytes(log);
    return DRAPE_OK;
}

drape_status drape_i_frame_log_open(drape_context *ctx, const char *path, const drape_i_frame_log_kind *kind,
                                    drape_i_frame_log *out) {
    *out = (drape_i_frame_log){.kind = *kind, .descriptor = -1};
    drape_status status = open_file(ctx, path, 0, out);
    if (!status) status = read_header(ctx, out);
    if (!status) status = take_record(ctx, out);
    if (status) drape_i_frame_log_close(ctx, out);
    return status;
}

void drape_i_frame_log_close(drape_context *ctx, drape_i_frame_log *log) {
    if (log->descriptor >= 0) close(log->descriptor);
    if (log->record) DRAPE_FREE(ctx, log->record, record_bytes(log));
    log->descriptor = -1;
    log->record = NULL;
}

/* ---- Frames ---- */

drape_status drape_i_frame_log_append(drape_context *ctx, drape_i_frame_log *log, int64_t steps, const double *x) {
    record_head head = {log->count, steps};
    int64_t bytes = record_bytes(log);
    memcpy(log->record, &head, sizeof head);
    memcpy(log->record + sizeof head, x, (size_t)vector_bytes(log));
    uint64_t sum = checksum(log->record, bytes);
    memcpy(log->record + bytes - sizeof sum, &sum, sizeof sum);
    drape_status status = write_at(ctx, log, place_of(log, log->count), log->record, bytes);
    if (!status) status = sync_to_disk(ctx, log);
    if (!status) log->count++;
    return status;
}

drape_status drape_i_frame_log_read(drape_context *ctx, drape_i_frame_log *log, int64_t frame, int64_t *steps,
                                    double *x) {
    record_head head;
    uint64_t sum;
    int64_t bytes = record_bytes(log);
    drape_status status = read_at(ctx, log, place_of(log, frame), log->record, bytes);
    if (status) return status;
    memcpy(&head, log->record, sizeof head);
    memcpy(&sum, log->record + bytes - sizeof sum, sizeof sum);
    if (sum != checksum(log->record, bytes) || head.frame != frame)
        return drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "%s: frame %lld is damaged", log->path, (long long)frame);
    if (steps) *steps = head.steps;
    if (x) memcpy(x, log->record + sizeof head, (size_t)vector_bytes(log));
    return DRAPE_OK;
}
