/* journal.c: what keeps a run from being lost: checkpoints, the one before each, and the log of the frames.
 *
 * NAME is the newest checkpoint, NAME.1 the one before, NAME.frames the log. A frame goes to the log, and to the
 * disk, before the checkpoint that comes with it is written, so the log of a whole checkpoint is whole. At every
 * moment there is a checkpoint under NAME: the old one gets its second name before the new one takes its first. */
#include "io/journal.h"
#include "base/file.h"
#include "drape/io.h"
#include "sim/sim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "frames are copied to and from memory, which needs a little-endian host"
#endif

/* ---- The log ----
 *
 * The frames of a run that may be interrupted, one after the other in a file that only grows.
 *
 *   char    magic[8] = "DRAPEFRM"
 *   uint32  version = 2, byte order = 0x01020304
 *   uint64  scene                     which one, as in checkpoints
 *   int64   vertices, interval        frames from one checkpoint to the next
 *   uint64  checksum                  of everything before it
 *
 * and for each frame, the first of them number 0
 *
 *   int64   frame, steps              done until then
 *   double  energy[9]                 drape_certificate_energy: kinetic, elastic, weight, start and on
 *   double  x[3 vertices]
 *   uint64  checksum                  of the record before it
 *
 * Little-endian, without gaps. A frame is on the disk when frame_log_append returns; what a run that was cut
 * off in the middle of one leaves behind the last has no right checksum. */

/* Which run it is of. */
typedef struct frame_log_kind {
    uint64_t scene;
    int64_t vertices;
    int64_t interval;
} frame_log_kind;

typedef struct frame_log {
    int descriptor;   /* -1: closed */
    const char *path; /* borrowed */
    frame_log_kind kind;
    int64_t count; /* frames; after opening one that is there, those that its size has room for. Made smaller, the
                      next ones are written over those after */
    char *record;  /* of one frame, owned */
} frame_log;

static const char MAGIC[8] = {'D', 'R', 'A', 'P', 'E', 'F', 'R', 'M'};
enum { VERSION = 2, BYTE_ORDER_MARK = 0x01020304 };

typedef struct header {
    char magic[8];
    uint32_t version, byte_order;
    frame_log_kind kind;
    uint64_t checksum;
} header;
_Static_assert(sizeof(header) == 48, "the header has no gaps");

typedef struct record_head {
    int64_t frame, steps;
    double energy[9];
} record_head;

static drape_status fail_errno(drape_context *ctx, const frame_log *log, const char *what) {
    return drape_i_fail(ctx, DRAPE_ERROR_IO, "%s: cannot %s: %s", log->path, what, strerror(errno));
}

static int64_t vector_bytes(const frame_log *log) { return 3 * log->kind.vertices * (int64_t)sizeof(double); }

static int64_t record_bytes(const frame_log *log) {
    return (int64_t)(sizeof(record_head) + sizeof(uint64_t)) + vector_bytes(log);
}

static int64_t place_of(const frame_log *log, int64_t frame) {
    DRAPE_ASSERT(frame >= 0 && frame <= log->count);
    return (int64_t)sizeof(header) + frame * record_bytes(log);
}

static uint64_t checksum(const void *data, int64_t bytes) {
    return drape_i_hash(DRAPE_I_HASH_SEED, data, (size_t)bytes - sizeof(uint64_t));
}

static drape_status write_at(drape_context *ctx, const frame_log *log, int64_t at, const void *data, int64_t bytes) {
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

static drape_status read_at(drape_context *ctx, const frame_log *log, int64_t at, void *data, int64_t bytes) {
    char *to = data;
    while (bytes > 0) {
        ssize_t done = pread(log->descriptor, to, (size_t)bytes, (off_t)at);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return fail_errno(ctx, log, "read");
        if (done == 0) return drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "%s: the frames are truncated", log->path);
        to += done, at += done, bytes -= done;
    }
    return DRAPE_OK;
}

static drape_status sync_to_disk(drape_context *ctx, const frame_log *log) {
    return fdatasync(log->descriptor) == 0 ? DRAPE_OK : fail_errno(ctx, log, "write");
}

/* Opening: both functions hold a lock on the file until it is closed; DRAPE_ERROR_ARGUMENT where another run has it.
 * path must live on. frame_log_create starts over where an earlier run left a log, and refuses any other file.
 * frame_log_open checks scene and vertices, where vertices are given, and gets the interval. Neither follows a link:
 * what is written and truncated here must be the log itself. */

static void frame_log_close(drape_context *ctx, frame_log *log) {
    if (log->descriptor >= 0) close(log->descriptor);
    if (log->record) DRAPE_FREE(ctx, log->record, record_bytes(log));
    log->descriptor = -1;
    log->record = NULL;
}

/* The system gives the lock back with the process, whatever ends it. */
static drape_status lock(drape_context *ctx, const frame_log *log) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(log->descriptor, F_SETLK, &whole) == 0) return DRAPE_OK;
    if (errno != EACCES && errno != EAGAIN) return DRAPE_OK; /* a file system without locks */
    return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: another run is using it", log->path);
}

static drape_status refuse_link(drape_context *ctx, const frame_log *log) {
    return drape_i_fail(ctx, DRAPE_ERROR_IO, "%s: is a link, and frames are not written through links; remove it",
                        log->path);
}

/* A log that is there. O_NONBLOCK: a FIFO would wait for its other end. */
static drape_status open_file(drape_context *ctx, const char *path, frame_log *log) {
    struct stat info;
    log->path = path;
    log->descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (log->descriptor < 0) return errno == ELOOP ? refuse_link(ctx, log) : fail_errno(ctx, log, "open");
    if (fstat(log->descriptor, &info) != 0 || !S_ISREG(info.st_mode))
        return drape_i_fail(ctx, DRAPE_ERROR_IO, "%s: not a regular file", path);
    if (info.st_nlink > 1) return refuse_link(ctx, log);
    return lock(ctx, log);
}

/* A log of an earlier run, which may have been cut off before its first bytes were written. */
static drape_status open_leftover(drape_context *ctx, const char *path, frame_log *log) {
    char magic[sizeof MAGIC];
    drape_status status = open_file(ctx, path, log);
    if (status) return status;
    ssize_t there = pread(log->descriptor, magic, sizeof magic, 0);
    if (there < 0) return fail_errno(ctx, log, "read");
    if (there == 0 || (there == sizeof magic && memcmp(magic, MAGIC, sizeof magic) == 0)) return DRAPE_OK;
    return drape_i_fail(
        ctx, DRAPE_ERROR_ARGUMENT,
        "%s: is not a file of frames and would be overwritten; move it, or name another file for the checkpoints",
        path);
}

static drape_status open_new(drape_context *ctx, const char *path, frame_log *log) {
    log->path = path;
    log->descriptor = open(path, O_RDWR | O_CLOEXEC | O_CREAT | O_EXCL, 0666);
    if (log->descriptor >= 0) return lock(ctx, log);
    return errno == EEXIST ? open_leftover(ctx, path, log) : fail_errno(ctx, log, "open");
}

static drape_status take_record(drape_context *ctx, frame_log *log) {
    return DRAPE_NEW(ctx, log->record, record_bytes(log)) ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

static drape_status write_header(drape_context *ctx, const frame_log *log) {
    header head = {.version = VERSION, .byte_order = BYTE_ORDER_MARK, .kind = log->kind};
    memcpy(head.magic, MAGIC, sizeof MAGIC);
    head.checksum = checksum(&head, sizeof head);
    if (ftruncate(log->descriptor, 0) != 0) return fail_errno(ctx, log, "empty");
    return write_at(ctx, log, 0, &head, sizeof head);
}

static drape_status frame_log_create(drape_context *ctx, const char *path, const frame_log_kind *kind,
                                     frame_log *out) {
    *out = (frame_log){.kind = *kind, .descriptor = -1};
    drape_status status = take_record(ctx, out); /* first: without memory there is no file either */
    if (!status) status = open_new(ctx, path, out);
    if (!status) {
        status = write_header(ctx, out);
        if (status) unlink(path);
    }
    if (status) frame_log_close(ctx, out);
    return status;
}

static drape_status check_header(drape_context *ctx, const frame_log *log, const header *head) {
    const frame_log_kind *k = &head->kind;
    bool any_scene = log->kind.vertices == 0;
    if (memcmp(head->magic, MAGIC, sizeof MAGIC) != 0)
        return drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "%s: not a file of frames: it does not begin with DRAPEFRM",
                            log->path);
    if (head->byte_order != BYTE_ORDER_MARK || head->version != VERSION)
        return drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "%s: frames of version %u, but this program reads only %d",
                            log->path, head->version, VERSION);
    if (head->checksum != checksum(head, sizeof *head) || k->interval < 1 || k->interval > INT32_MAX ||
        k->vertices < 1 || k->vertices > INT32_MAX)
        return drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "%s: the header of the frames is damaged", log->path);
    if (!any_scene && (k->scene != log->kind.scene || k->vertices != log->kind.vertices))
        return drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "%s: frames of another scene", log->path);
    return DRAPE_OK;
}

static drape_status read_header(drape_context *ctx, frame_log *log) {
    struct stat info;
    header head;
    if (fstat(log->descriptor, &info) != 0) return fail_errno(ctx, log, "inspect");
    if (!S_ISREG(info.st_mode)) return drape_i_fail(ctx, DRAPE_ERROR_IO, "%s: not a regular file", log->path);
    drape_status status = read_at(ctx, log, 0, &head, sizeof head);
    if (!status) status = check_header(ctx, log, &head);
    if (status) return status;
    log->kind = head.kind;
    log->count = ((int64_t)info.st_size - (int64_t)sizeof head) / record_bytes(log);
    return DRAPE_OK;
}

static drape_status frame_log_open(drape_context *ctx, const char *path, const frame_log_kind *kind, frame_log *out) {
    *out = (frame_log){.kind = *kind, .descriptor = -1};
    drape_status status = open_file(ctx, path, out);
    if (!status) status = read_header(ctx, out);
    if (!status) status = take_record(ctx, out);
    if (status) frame_log_close(ctx, out);
    return status;
}

static drape_status frame_log_append(drape_context *ctx, frame_log *log, int64_t steps,
                                     const drape_certificate_energy *e, const double *x) {
    record_head head = {.frame = log->count,
                        .steps = steps,
                        .energy = {e->kinetic, e->elastic, e->weight, e->start, e->fabric, e->wind, e->pins,
                                   e->integrator, e->unbalanced}};
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

/* DRAPE_ERROR_FORMAT where it is not as it was written. out and x may be NULL. */
static drape_status frame_log_read(drape_context *ctx, frame_log *log, int64_t frame, record_head *out, double *x) {
    record_head head;
    uint64_t sum;
    int64_t bytes = record_bytes(log);
    drape_status status = read_at(ctx, log, place_of(log, frame), log->record, bytes);
    if (status) return status;
    memcpy(&head, log->record, sizeof head);
    memcpy(&sum, log->record + bytes - sizeof sum, sizeof sum);
    if (sum != checksum(log->record, bytes) || head.frame != frame)
        return drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "%s: frame %lld is damaged", log->path, (long long)frame);
    if (out) *out = head;
    if (x) memcpy(x, log->record + sizeof head, (size_t)vector_bytes(log));
    return DRAPE_OK;
}

/* ---- The log by itself, read by others ---- */

struct drape_i_frame_log {
    drape_context *ctx;
    frame_log log;
};

/* The last frame may be one that was cut off; another one that is damaged is found when it is read. */
static drape_status count_frames(drape_context *ctx, frame_log *log) {
    if (log->count == 0) return DRAPE_OK; /* before there is memory for a frame, which the file may not have */
    drape_status status = take_record(ctx, log);
    if (status) return status;
    status = frame_log_read(ctx, log, log->count - 1, NULL, NULL);
    if (status == DRAPE_ERROR_FORMAT) log->count--;
    return status == DRAPE_ERROR_FORMAT ? DRAPE_OK : status;
}

drape_status drape_i_frame_log_open(drape_context *ctx, const char *path, drape_i_frame_log **out) {
    drape_i_frame_log *l;
    *out = NULL;
    if (!DRAPE_NEW(ctx, l, 1)) return DRAPE_ERROR_MEMORY;
    *l = (drape_i_frame_log){.ctx = ctx,
                             .log = {.path = path, .descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)}};
    drape_status status = l->log.descriptor < 0 ? fail_errno(ctx, &l->log, "open") : read_header(ctx, &l->log);
    if (!status) status = count_frames(ctx, &l->log);
    if (!status && (l->log.count < 1 || l->log.count > INT32_MAX))
        status = drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "%s: there is no complete frame in it", path);
    if (status) drape_i_frame_log_close(l);
    else *out = l;
    return status;
}

int32_t drape_i_frame_log_vertices(const drape_i_frame_log *l) { return (int32_t)l->log.kind.vertices; }
int32_t drape_i_frame_log_frames(const drape_i_frame_log *l) { return (int32_t)l->log.count; }

drape_status drape_i_frame_log_frame(drape_i_frame_log *l, int32_t frame, double *x) {
    return frame_log_read(l->ctx, &l->log, frame, NULL, x);
}

void drape_i_frame_log_close(drape_i_frame_log *l) {
    if (!l) return;
    frame_log_close(l->ctx, &l->log);
    DRAPE_FREE(l->ctx, l, 1);
}

/* ---- The journal ---- */

enum { SUFFIX = 8, NOTE = 2 * DRAPE_I_MESSAGE_SIZE }; /* room for ".frames" and the end */

struct drape_journal {
    drape_context *ctx;
    drape_sim *sim; /* borrowed */
    int64_t room;   /* of each of the three names */
    char *newest, *before, *frames;
    frame_log log;
    char note[NOTE];
};

static void release(drape_journal *j) {
    drape_context *ctx = j->ctx;
    frame_log_close(ctx, &j->log);
    if (j->newest) DRAPE_FREE(ctx, j->newest, j->room);
    if (j->before) DRAPE_FREE(ctx, j->before, j->room);
    if (j->frames) DRAPE_FREE(ctx, j->frames, j->room);
    DRAPE_FREE(ctx, j, 1);
}

static drape_status make(drape_context *ctx, const char *path, drape_sim *sim, drape_journal **out) {
    drape_journal *j;
    *out = NULL;
    if (!DRAPE_NEW(ctx, j, 1)) return DRAPE_ERROR_MEMORY;
    j->ctx = ctx;
    j->sim = sim;
    j->log.descriptor = -1;
    j->room = (int64_t)strlen(path) + SUFFIX;
    if (!DRAPE_NEW(ctx, j->newest, j->room) || !DRAPE_NEW(ctx, j->before, j->room) ||
        !DRAPE_NEW(ctx, j->frames, j->room)) {
        release(j);
        return DRAPE_ERROR_MEMORY;
    }
    snprintf(j->newest, (size_t)j->room, "%s", path);
    snprintf(j->before, (size_t)j->room, "%s.1", path);
    snprintf(j->frames, (size_t)j->room, "%s.frames", path);
    *out = j;
    return DRAPE_OK;
}

static frame_log_kind kind_of(const drape_sim *sim, int32_t interval) {
    return (frame_log_kind){sim->scene, sim->vertices, interval};
}

/* In an order that leaves something to resume from, or nothing that looks like it. */
static void remove_files(const drape_journal *j) {
    unlink(j->before);
    unlink(j->newest);
    unlink(j->frames);
}

/* ---- Writing ---- */

/* Where the file system has no second names the checkpoint changes its only one. */
static drape_status keep_newest(drape_journal *j) {
    if (access(j->newest, F_OK) != 0) return DRAPE_OK;
    if (unlink(j->before) == 0 || errno == ENOENT) {
        if (link(j->newest, j->before) == 0 || rename(j->newest, j->before) == 0) return DRAPE_OK;
    }
    return drape_i_fail(j->ctx, DRAPE_ERROR_IO, "%s: cannot replace: %s", j->before, strerror(errno));
}

static drape_status save(drape_journal *j) {
    drape_status status = keep_newest(j);
    return status ? status : drape_sim_save(j->sim, j->newest);
}

drape_status drape_journal_frame(drape_journal *j) {
    if (!j) return DRAPE_ERROR_ARGUMENT;
    int64_t frame = j->log.count;
    const drape_certificate_energy energy = drape_i_sim_measure_energy(j->sim);
    drape_status status = frame_log_append(j->ctx, &j->log, j->sim->steps, &energy, j->sim->x);
    return status || frame % j->log.kind.interval ? status : save(j);
}

/* ---- Beginning ---- */

/* A link to nothing is there, too. */
static bool is_there(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0;
}

static drape_status refuse_what_is_there(drape_journal *j) {
    const char *there = is_there(j->newest) ? j->newest : is_there(j->before) ? j->before : NULL;
    if (!there) return DRAPE_OK;
    return drape_i_fail(
        j->ctx, DRAPE_ERROR_ARGUMENT,
        "%s: there is already a checkpoint of a run that did not finish; resume that run, or remove it", there);
}

drape_status drape_journal_begin(drape_context *ctx, const char *path, drape_sim *sim, int32_t interval,
                                 drape_journal **out) {
    drape_journal *j;
    if (out) *out = NULL;
    if (!ctx || !path || !sim || !out)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "drape_journal_begin: path, sim or out is NULL");
    if (interval < 1)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: a checkpoint every %d frames; it must be at least 1",
                            path, interval);
    drape_status status = make(ctx, path, sim, &j);
    if (status) return status;
    frame_log_kind kind = kind_of(sim, interval);
    status = refuse_what_is_there(j);
    if (!status) status = frame_log_create(ctx, j->frames, &kind, &j->log);
    if (!status) {
        status = drape_journal_frame(j);
        if (status) remove_files(j); /* there were none before */
    }
    if (status) release(j);
    else *out = j;
    return status;
}

/* ---- Resuming ---- */

/* The log's frames up to the one that the simulation is at, all of them whole; *count: how many. */
static drape_status find_frame(drape_journal *j, int64_t *count) {
    for (int64_t k = 0; k < j->log.count; k++) {
        record_head head = {0};
        drape_status status = frame_log_read(j->ctx, &j->log, k, &head, NULL);
        if (status) return status;
        *count = k + 1;
        if (head.steps == j->sim->steps) return DRAPE_OK;
    }
    return drape_i_fail(j->ctx, DRAPE_ERROR_FORMAT, "%s: the frame of step %lld is not there", j->frames,
                        (long long)j->sim->steps);
}

static drape_status try_checkpoint(drape_journal *j, const char *path, int64_t *count) {
    drape_status status = drape_sim_restore(j->sim, path);
    return status ? status : find_frame(j, count);
}

/* Adds the context's message to what the journal says about its files. */
static void note(drape_journal *j) {
    size_t used = strlen(j->note);
    snprintf(j->note + used, sizeof j->note - used, "%s%s", used ? "; " : "", drape_message(j->ctx));
}

/* Where only the older one serves it takes the place of the newest, or the next save would put that in its own. */
static drape_status adopt(drape_journal *j, const char *path, int64_t count) {
    if (path == j->before && rename(j->before, j->newest) != 0)
        return drape_i_fail(j->ctx, DRAPE_ERROR_IO, "%s: cannot rename: %s", j->before, strerror(errno));
    j->log.count = count;
    return DRAPE_OK;
}

static drape_status find_checkpoint(drape_journal *j) {
    const char *const path[] = {j->newest, j->before};
    int64_t count = 0;
    for (size_t i = 0; i < sizeof path / sizeof *path; i++) {
        drape_status status = try_checkpoint(j, path[i], &count);
        if (!status) return adopt(j, path[i], count);
        if (status == DRAPE_ERROR_MEMORY) return status;
        note(j);
    }
    return drape_i_fail(j->ctx, DRAPE_ERROR_FORMAT, "no usable checkpoint: %.*s", DRAPE_I_MESSAGE_SIZE - 64, j->note);
}

drape_status drape_journal_resume(drape_context *ctx, const char *path, drape_sim *sim, drape_journal **out) {
    drape_journal *j;
    if (out) *out = NULL;
    if (!ctx || !path || !sim || !out)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "drape_journal_resume: path, sim or out is NULL");
    drape_status status = make(ctx, path, sim, &j);
    if (status) return status;
    frame_log_kind kind = kind_of(sim, 1);
    if (access(j->newest, F_OK) != 0 && access(j->before, F_OK) != 0)
        status =
            drape_i_fail(ctx, DRAPE_ERROR_IO,
                         "%s: there is no checkpoint to resume from (a run that finished has removed its own)", path);
    if (!status) status = frame_log_open(ctx, j->frames, &kind, &j->log);
    if (!status) status = find_checkpoint(j);
    if (status) release(j);
    else *out = j;
    return status;
}

int64_t drape_journal_frames(const drape_journal *j) { return j ? j->log.count : 0; }
int32_t drape_journal_interval(const drape_journal *j) { return j ? (int32_t)j->log.kind.interval : 0; }
const char *drape_journal_note(const drape_journal *j) { return j ? j->note : ""; }

static drape_status check_frame(drape_journal *j, int64_t frame) {
    if (frame >= 0 && frame < j->log.count) return DRAPE_OK;
    return drape_i_fail(j->ctx, DRAPE_ERROR_ARGUMENT, "%s: frame %lld of %lld", j->frames, (long long)frame,
                        (long long)j->log.count);
}

drape_status drape_journal_read(drape_journal *j, int64_t frame, double *positions) {
    if (!j || !positions)
        return drape_i_fail(j ? j->ctx : NULL, DRAPE_ERROR_ARGUMENT, "drape_journal_read: no journal or positions");
    drape_status status = check_frame(j, frame);
    return status ? status : frame_log_read(j->ctx, &j->log, frame, NULL, positions);
}

drape_status drape_journal_read_energy(drape_journal *j, int64_t frame, drape_certificate_energy *energy) {
    record_head head;
    if (!j || !energy)
        return drape_i_fail(j ? j->ctx : NULL, DRAPE_ERROR_ARGUMENT,
                            "drape_journal_read_energy: no journal or energy");
    drape_status status = check_frame(j, frame);
    if (!status) status = frame_log_read(j->ctx, &j->log, frame, &head, NULL);
    if (status) return status;
    const double *e = head.energy;
    *energy = (drape_certificate_energy){.kinetic = e[0],
                                         .elastic = e[1],
                                         .weight = e[2],
                                         .start = e[3],
                                         .fabric = e[4],
                                         .wind = e[5],
                                         .pins = e[6],
                                         .integrator = e[7],
                                         .unbalanced = e[8]};
    return DRAPE_OK;
}

/* ---- The end ---- */

void drape_journal_close(drape_journal *j) {
    if (j) release(j);
}

void drape_journal_finish(drape_journal *j) {
    if (!j) return;
    remove_files(j);
    release(j);
}
