/* run_files.c: what a run writes as it goes: outputs, and the journal that it can be resumed from. */
#include "run.h"

#include <stdlib.h>

bool run_can_write(const run *r) {
    bool good = can_write(r->options.report) && can_write(r->options.export_path) && can_write(r->checkpoint_path);
    for (int32_t i = 0; good && i < r->output_count; i++) good = can_write(r->outputs[i]);
    return good;
}

/* ---- Outputs ---- */

drape_status run_open_writers(run *r) {
    drape_animation what = {.cloth = drape_sim_cloth(r->sim),
                            .fps = 1 / (r->scene->step * r->scene->steps_per_frame),
                            .title = r->scene->name,
                            .pieces = r->scene->pieces};
    drape_status status = DRAPE_OK;
    for (int32_t i = 0; i < r->output_count && !status; i++)
        status = drape_writer_open(r->ctx, r->outputs[i], &what, &r->writers[i]);
    return status;
}

static drape_status write_frame(run *r, int64_t number, const double *x) {
    double step_count = (double)number * r->scene->steps_per_frame;
    const drape_frame frame = {
        .positions = x, .has_time = true, .number = number, .time = step_count * r->scene->step};
    drape_status status = DRAPE_OK;
    for (int32_t i = 0; i < r->output_count && !status; i++) status = drape_writer_frame(r->writers[i], &frame);
    return status;
}

/* The journal last: a frame that it has is in the files, as far as these are on the disk at all. */
drape_status run_write_frame(run *r) {
    int64_t number = drape_sim_steps(r->sim) / r->scene->steps_per_frame;
    drape_status status = write_frame(r, number, drape_sim_positions(r->sim));
    return status || !r->journal ? status : drape_journal_frame(r->journal);
}

drape_status run_close_writers(run *r) {
    drape_status first = DRAPE_OK;
    for (int32_t i = 0; i < MOST_OUTPUTS; i++) {
        drape_status status = drape_writer_close(r->writers[i]);
        if (status && !first) first = status;
        r->writers[i] = NULL;
    }
    return first;
}

/* ---- The journal ---- */

/* Whether the journal fits what is asked for now. */
static bool suits(const run *r) {
    const run_options *o = &r->options;
    int32_t interval = drape_journal_interval(r->journal);
    long long frame = (long long)drape_journal_frames(r->journal) - 1;
    if (o->checkpoint > 0 && o->checkpoint != interval) {
        complain("%s: was written with --checkpoint %d; with another number the rest would have other bits",
                 r->checkpoint_path, interval);
        return false;
    }
    if (frame > r->scene->frames) {
        complain("%s: is at frame %lld already, and only %d are wanted", r->checkpoint_path, frame, r->scene->frames);
        return false;
    }
    return true;
}

/* Every frame of the journal goes to the new files. */
static drape_status replay(run *r) {
    int64_t frames = drape_journal_frames(r->journal);
    double *x = malloc(3 * (size_t)drape_cloth_vertices(drape_sim_cloth(r->sim)) * sizeof *x);
    drape_status status = x ? DRAPE_OK : DRAPE_ERROR_MEMORY;
    for (int64_t i = 0; i < frames && !status; i++) {
        status = drape_journal_read(r->journal, i, x);
        if (!status) status = write_frame(r, i, x);
    }
    free(x);
    r->frames_done = (int32_t)frames - 1;
    return status;
}

static bool resume(run *r) {
    drape_status status = drape_journal_resume(r->ctx, r->checkpoint_path, r->sim, &r->journal);
    if (status) {
        complain("--resume: %s", drape_message(r->ctx));
        return false;
    }
    if (!suits(r)) return false;
    if (*drape_journal_note(r->journal)) complain("%s; going on from the one before", drape_journal_note(r->journal));
    r->began = true;
    status = replay(r);
    if (status) {
        complain("%s", status == DRAPE_ERROR_MEMORY ? "out of memory" : drape_message(r->ctx));
        return false;
    }
    if (!r->options.quiet) printf("going on after frame %d of %d\n", r->frames_done, r->scene->frames);
    return true;
}

static bool begin(run *r) {
    drape_status status = drape_journal_begin(r->ctx, r->checkpoint_path, r->sim, r->options.checkpoint, &r->journal);
    r->began = !status;
    if (!status) status = write_frame(r, 0, drape_sim_positions(r->sim));
    if (!status) return true;
    complain("%s", drape_message(r->ctx));
    drape_journal_finish(r->journal); /* nothing has been done that would be lost */
    r->journal = NULL;
    return false;
}

bool run_open_journal(run *r) { return r->options.resume ? resume(r) : begin(r); }
