/* journal.c: what keeps a run from being lost: checkpoints, the one before each, and the log of the frames.
 *
 * NAME is the newest checkpoint, NAME.1 the one before, NAME.frames the log. A frame goes to the log, and to the
 * disk, before the checkpoint that comes with it is written, so the log of a whole checkpoint is whole. At every
 * moment there is a checkpoint under NAME: the old one gets its second name before the new one takes its first. */
#include "base/file.h"
#include "drape/io.h"
#include "io/frame_log.h"
#include "sim/sim.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SUFFIX = 8, NOTE = 2 * DRAPE_I_MESSAGE_SIZE }; /* room for ".frames" and the end */

struct drape_journal {
    drape_context *ctx;
    drape_sim *sim; /* borrowed */
    int64_t room;   /* of each of the three names */
    char *newest, *before, *frames;
    drape_i_frame_log log;
    char note[NOTE];
};

static void release(drape_journal *j) {
    drape_context *ctx = j->ctx;
    drape_i_frame_log_close(ctx, &j->log);
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

static drape_i_frame_log_kind kind_of(const drape_sim *sim, int32_t interval) {
    return (drape_i_frame_log_kind){sim->scene, sim->vertices, interval};
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
    drape_status status = drape_i_frame_log_append(j->ctx, &j->log, j->sim->steps, j->sim->x);
    return status || frame % j->log.kind.interval ? status : save(j);
}

/* ---- Beginning ---- */

static drape_status refuse_what_is_there(drape_journal *j) {
    const char *there = access(j->newest, F_OK) == 0 ? j->newest : access(j->before, F_OK) == 0 ? j->before : NULL;
    if (!there) return DRAPE_OK;
    return drape_i_fail(j->ctx, DRAPE_ERROR_ARGUMENT,
                        "%s: there is a checkpoint already, of a run that did not finish: resume that, or remove it",
                        there);
}

drape_status drape_journal_begin(drape_context *ctx, const char *path, drape_sim *sim, int32_t interval,
                                 drape_journal **out) {
    drape_journal *j;
    if (out) *out = NULL;
    if (!ctx || !path || !sim || !out)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "drape_journal_begin: path, sim or out is NULL");
    if (interval < 1)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: a checkpoint every %d frames: at least 1 is wanted", path,
                            interval);
    drape_status status = make(ctx, path, sim, &j);
    if (status) return status;
    drape_i_frame_log_kind kind = kind_of(sim, interval);
    status = refuse_what_is_there(j);
    if (!status) status = drape_i_frame_log_create(ctx, j->frames, &kind, &j->log);
    if (!status) {
        status = drape_journal_frame(j);
        if (status) remove_files(j); /* there were none before */
    }
    if (status) release(j);
    else *out = j;
    return status;
}

/* ---- Resuming ---- */

/* The log's frames up to the one that the simulation stands at, all of them whole; *count: how many. */
static drape_status find_frame(drape_journal *j, int64_t *count) {
    for (int64_t k = 0; k < j->log.count; k++) {
        int64_t steps;
        drape_status status = drape_i_frame_log_read(j->ctx, &j->log, k, &steps, NULL);
        if (status) return status;
        *count = k + 1;
        if (steps == j->sim->steps) return DRAPE_OK;
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
static drape_status settle(drape_journal *j, const char *path, int64_t count) {
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
        if (!status) return settle(j, path[i], count);
        if (status == DRAPE_ERROR_MEMORY) return status;
        note(j);
    }
    return drape_i_fail(j->ctx, DRAPE_ERROR_FORMAT, "no checkpoint can be resumed from: %.*s",
                        DRAPE_I_MESSAGE_SIZE - 64, j->note);
}

drape_status drape_journal_resume(drape_context *ctx, const char *path, drape_sim *sim, drape_journal **out) {
    drape_journal *j;
    if (out) *out = NULL;
    if (!ctx || !path || !sim || !out)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "drape_journal_resume: path, sim or out is NULL");
    drape_status status = make(ctx, path, sim, &j);
    if (status) return status;
    drape_i_frame_log_kind kind = kind_of(sim, 1);
    if (access(j->newest, F_OK) != 0 && access(j->before, F_OK) != 0)
        status =
            drape_i_fail(ctx, DRAPE_ERROR_IO,
                         "%s: there is no checkpoint to resume from (a run that finished has removed its own)", path);
    if (!status) status = drape_i_frame_log_open(ctx, j->frames, &kind, &j->log);
    if (!status) status = find_checkpoint(j);
    if (status) release(j);
    else *out = j;
    return status;
}

int64_t drape_journal_frames(const drape_journal *j) { return j ? j->log.count : 0; }
int32_t drape_journal_interval(const drape_journal *j) { return j ? (int32_t)j->log.kind.interval : 0; }
const char *drape_journal_note(const drape_journal *j) { return j ? j->note : ""; }

drape_status drape_journal_read(drape_journal *j, int64_t frame, double *positions) {
    if (!j || !positions)
        return drape_i_fail(j ? j->ctx : NULL, DRAPE_ERROR_ARGUMENT, "drape_journal_read: no journal or positions");
    if (frame < 0 || frame >= j->log.count)
        return drape_i_fail(j->ctx, DRAPE_ERROR_ARGUMENT, "%s: frame %lld of %lld", j->frames, (long long)frame,
                            (long long)j->log.count);
    return drape_i_frame_log_read(j->ctx, &j->log, frame, NULL, positions);
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
