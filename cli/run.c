/* run.c: drape run: a scene, step by step, to files and a report. */
#include "run.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* ---- Signals ---- */

/* Set by Ctrl-C; looked at between steps and between frames of a journal. */
static volatile sig_atomic_t interrupted;

static void interrupt(int signal_number) {
    interrupted = 1;
    signal(signal_number, SIG_DFL); /* a second one ends the program at once */
}

/* From the moment on that there may be temporary files to remove. */
static void watch_signals(void) {
    signal(SIGINT, interrupt);
    signal(SIGTERM, interrupt);
    if (signal(SIGHUP, interrupt) == SIG_IGN) signal(SIGHUP, SIG_IGN); /* nohup */
    signal(SIGPIPE, SIG_IGN); /* the reader has gone: no reason to lose the files */
}

static bool is_interrupted(void) { return interrupted; }

/* Whether a run is to end before its last frame: by a signal, or since what it reads was saved. */
static bool must_stop(const run *r) { return interrupted || (r->watch && watch_saved(r->watch)); }

/* ---- What a run writes as it goes ---- */

/* Whether everything that will be written can be, as far as one can tell; false after a complaint. */
static bool can_write_all(const run *r) {
    bool good = can_write(r->options.report) && can_write(r->options.export_path) && can_write(r->checkpoint_path);
    for (int32_t i = 0; good && i < r->output_count; i++) good = can_write(r->outputs[i]);
    return good;
}

static drape_status open_writers(run *r) {
    drape_animation what = {.cloth = drape_sim_cloth(r->sim),
                            .fps = 1 / (r->scene->step * r->scene->steps_per_frame),
                            .title = r->scene->name,
                            .pieces = r->scene->pieces,
                            .frames = (int64_t)r->scene->frames + 1};
    drape_status status = DRAPE_OK;
    for (int32_t i = 0; i < r->output_count && !status; i++)
        status = drape_writer_open(r->ctx, r->outputs[i], &what, &r->writers[i]);
    return status;
}

static drape_status write_state(run *r, int64_t number, const double *x, const drape_certificate_energy *energy) {
    double step_count = (double)number * r->scene->steps_per_frame;
    double time = step_count * r->scene->step;
    const drape_frame frame = {.positions = x,
                               .has_time = true,
                               .number = number,
                               .time = time,
                               .meshes = drape_collider_meshes_at(r->colliders, time),
                               .mesh_appearance = drape_collider_meshes_appearance(r->colliders),
                               .mesh_count = drape_collider_meshes_count(r->colliders),
                               .energy = energy};
    drape_status status = DRAPE_OK;
    for (int32_t i = 0; i < r->output_count && !status; i++) status = drape_writer_frame(r->writers[i], &frame);
    return status;
}

static drape_status write_present(run *r, int64_t number) {
    drape_certificate_energy energy;
    drape_status status = drape_sim_energy(r->sim, &energy);
    return status ? status : write_state(r, number, drape_sim_positions(r->sim), &energy);
}

/* The present state as the next frame of every output and of the journal. The journal last: a frame that it has is in
 * the files, as far as these are on the disk at all. */
static drape_status write_frame(run *r) {
    int64_t number = drape_sim_steps(r->sim) / r->scene->steps_per_frame;
    drape_status status = write_present(r, number);
    return status || !r->journal ? status : drape_journal_frame(r->journal);
}

/* Also after a failure or Ctrl-C, to keep the frames so far. Returns the number of incomplete files; `aloud`: with a
 * message about each that says what is kept. */
static int32_t close_writers(run *r, bool aloud) {
    int32_t bad = 0;
    for (int32_t i = 0; i < MOST_OUTPUTS; i++) {
        if (drape_writer_close(r->writers[i])) {
            if (aloud) complain("%s", drape_message(r->ctx));
            bad++;
        }
        r->writers[i] = NULL;
    }
    return bad;
}

/* ---- The journal that it can be resumed from ---- */

/* Whether the journal belongs to a run with these options. */
static bool journal_suits(const run *r) {
    const run_options *o = &r->options;
    int32_t interval = drape_journal_interval(r->journal);
    long long frame = (long long)drape_journal_frames(r->journal) - 1;
    if (o->checkpoint > 0 && o->checkpoint != interval) {
        complain("%s: was written with --checkpoint %d; use the same number, or the rest would have other bits",
                 r->checkpoint_path, interval);
        return false;
    }
    if (frame > r->scene->frames) {
        complain("%s: is already at frame %lld, but the run has only %d", r->checkpoint_path, frame,
                 r->scene->frames);
        return false;
    }
    return true;
}

/* Every frame of the journal goes to the new files, or those before an interruption. */
static drape_status replay(run *r) {
    int64_t frames = drape_journal_frames(r->journal), done = 0;
    drape_certificate_energy energy;
    double *x = malloc(3 * (size_t)drape_cloth_vertices(drape_sim_cloth(r->sim)) * sizeof *x);
    drape_status status = x ? DRAPE_OK : DRAPE_ERROR_MEMORY;
    for (; done < frames && !status && !(interrupted && done > 0); done++) {
        status = drape_journal_read(r->journal, done, x);
        if (!status) status = drape_journal_read_energy(r->journal, done, &energy);
        if (!status) status = write_state(r, done, x, &energy);
    }
    free(x);
    r->frames_done = (int32_t)done - 1;
    return status;
}

static bool resume_journal(run *r) {
    drape_status status = drape_journal_resume(r->ctx, r->checkpoint_path, r->sim, &r->journal);
    if (status) {
        complain("--resume: %s", drape_message(r->ctx));
        return false;
    }
    if (!journal_suits(r)) return false;
    if (*drape_journal_note(r->journal))
        complain("%s; resuming from the checkpoint before it", drape_journal_note(r->journal));
    r->began = true;
    status = replay(r);
    if (status) {
        complain("%s", status == DRAPE_ERROR_MEMORY ? "out of memory" : drape_message(r->ctx));
        return false;
    }
    if (!r->options.quiet && !interrupted)
        printf("resuming after frame %d of %d\n", r->frames_done, r->scene->frames);
    return true;
}

static bool begin_journal(run *r) {
    drape_status status = drape_journal_begin(r->ctx, r->checkpoint_path, r->sim, r->options.checkpoint, &r->journal);
    r->began = !status;
    if (!status) status = write_present(r, 0);
    if (!status) return true;
    complain("%s", drape_message(r->ctx));
    drape_journal_finish(r->journal); /* nothing has been done that would be lost */
    r->journal = NULL;
    return false;
}

/* Begins a journal, or brings simulation and writers to where the last run was; false after a complaint. */
static bool open_journal(run *r) { return r->options.resume ? resume_journal(r) : begin_journal(r); }

/* ---- The run ---- */

/* A scene from the standard input. Names of files in it are those of the present folder. */
static drape_status load_standard_input(run *r, const drape_scene_options *how) {
    enum { PART = 1 << 16, MOST = 64 << 20 }; /* more is too much for a scene, as the message says then */
    char *text = NULL;
    size_t size = 0, more = 1;
    while (more > 0 && size <= MOST) {
        char *longer = realloc(text, size + PART);
        if (!longer) {
            free(text);
            return DRAPE_ERROR_MEMORY;
        }
        text = longer;
        more = fread(text + size, 1, PART, stdin);
        size += more;
    }
    drape_status status = drape_scene_parse(r->ctx, "standard input", text, (int64_t)size, how, &r->loaded);
    free(text);
    return status;
}

/* Those of the command line; else the scene's; else a page, so that there is something to look at. */
static drape_status choose_outputs(run *r) {
    bool own = r->options.output.count > 0;
    if (r->options.no_output) return DRAPE_OK;
    r->outputs = own ? r->options.output.words : r->scene->output;
    r->output_count = own ? r->options.output.count : r->scene->output_count;
    if (r->output_count > 0) return DRAPE_OK;
    r->page_name = run_page_name(r->options.scene.name);
    if (!r->page_name) return DRAPE_ERROR_MEMORY;
    r->page[0] = r->page_name;
    r->outputs = r->page;
    r->output_count = 1;
    return DRAPE_OK;
}

/* Scenes of files that are not here. */
static void say_who_stands_in(const char *name) {
    for (int32_t i = 0; drape_scene_name(i); i++)
        if (strcmp(drape_scene_name(i), name) == 0 && drape_scene_stand_in(i))
            tell("the files of %s are not at hand (--data FOLDER), so %s takes its place\n", name,
                 drape_scene_stand_in(i));
}

static drape_status load(run *r) {
    drape_scene_options how = scene_options(&r->options.scene);
    const char *name = r->options.scene.name;
    drape_status status =
        strcmp(name, "-") == 0 ? load_standard_input(r, &how) : drape_scene_load(r->ctx, name, &how, &r->loaded);
    if (status) return status;
    r->scene = drape_loaded_scene_edit(r->loaded);
    if (!how.folder && !r->options.quiet) say_who_stands_in(name);
    r->scene->solve.direct = direct_solver();
    if (r->options.tune) r->scene->solve.tune = DRAPE_TUNE_MANY;
    if (r->options.frames >= 0) r->scene->frames = r->options.frames;
    return choose_outputs(r);
}

/* What speaks against the scene as it was loaded; false after a complaint. */
static bool check(run *r) {
    int64_t steps = (int64_t)r->scene->frames * r->scene->steps_per_frame;
    return run_parse_export(&r->options, steps) && direct_is_there("solver.method", &r->scene->solve) &&
           run_name_checkpoint(r) && can_write_all(r) && run_check_names(r);
}

/* The frame at the start, or all up to the checkpoint; false after a complaint. */
static bool write_first_frames(run *r) {
    if (r->checkpoint_path) return open_journal(r);
    r->began = true;
    drape_status status = write_frame(r);
    if (status) complain("%s", drape_message(r->ctx));
    return status == DRAPE_OK;
}

static void warn(void *user, const drape_finding *f) {
    (void)user;
    complain("warning: %s; %s", f->message, f->advice ? f->advice : "");
}

/* Warns of problems that can be predicted; the run goes ahead. */
static drape_status warn_ahead(run *r) {
    return drape_check_scene(r->ctx, r->scene, &(drape_check_options){.finding = warn}, NULL);
}

/* Reads and checks everything before the first frame is written. */
static bool prepare(run *r) {
    run_options *o = &r->options;
    if (o->output.count > MOST_OUTPUTS) {
        complain("more than %d outputs", MOST_OUTPUTS);
        return false;
    }
    r->ctx = make_context(o->scene.threads, true);
    if (!r->ctx) return false;
    drape_status status = load(r);
    for (int32_t i = 0; r->watch && drape_loaded_scene_file(r->loaded, i); i++)
        watch_add(r->watch, drape_loaded_scene_file(r->loaded, i));
    if (!status && !check(r)) return false;
    bool read = !status;
    if (!status) status = drape_sim_create(r->ctx, r->scene, &r->sim);
    if (read && status == DRAPE_ERROR_ARGUMENT) {
        complain_of_refusal(r->ctx, &o->scene);
        return false;
    }
    if (!status) status = warn_ahead(r);
    if (!status && !o->no_colliders) status = drape_collider_meshes_create(r->ctx, r->scene, &r->colliders);
    watch_signals();
    if (!status) status = open_writers(r);
    if (status) {
        complain("%s", *drape_message(r->ctx) ? drape_message(r->ctx) : "out of memory");
        return false;
    }
    int32_t removed = run_remove_leftovers(r);
    if (removed > 0 && !o->quiet)
        tell("removed %d unfinished file%s of a run that was killed\n", removed, removed == 1 ? "" : "s");
    if (r->page_name && !o->quiet)
        tell("will write %s, a page that plays the animation (-o FILE for other files, --no-output for none)\n",
             r->page_name);
    if (!write_first_frames(r)) return false;
    if (!o->report) return true;
    status = drape_report_create(r->ctx, r->scene, r->sim, &r->report);
    if (!status) status = drape_report_spill(r->report, o->report);
    if (!status) status = drape_sim_check_energy(r->sim, o->check_energy);
    if (status) complain("%s", drape_message(r->ctx));
    return status == DRAPE_OK;
}

/* Says once that the run is slow because something is stuck. */
static void watch_cuts(run *r, const drape_certificate *c) {
    enum { LONG = 50 };
    if (r->cut_steps < 0) return;
    r->cut_steps = c->contact.cuts > 0 ? r->cut_steps + 1 : 0;
    if (r->cut_steps <= LONG) return;
    r->cut_steps = -1;
    const char *what = drape_sim_stuck(r->sim);
    complain("step %lld (t = %g s): each of the last %d steps had to be divided, so the run is slow%s%s; check what "
             "is squeezed there, or use a shorter step",
             (long long)c->step, c->time, LONG, what ? ": there is no space between " : "", what ? what : "");
}

static drape_status step(run *r, drape_certificate *c) {
    drape_status status = drape_sim_step(r->sim, c);
    if (!status) watch_cuts(r, c);
    if (!status) drape_verdict_add(&r->verdict, c);
    if (!status && c->step == 1 && !r->options.quiet) print_tuned(drape_sim_solver(r->sim));
    if (!status && r->report) status = drape_report_step(r->report, c);
    if (!status && c->step == r->options.export_step)
        status = drape_sim_export_system(r->sim, r->options.export_path);
    return status;
}

/* The steps of one frame; stops early when interrupted, between steps. A frame that was written counts, whenever the
 * signal came. */
static drape_status simulate_frame(run *r, drape_certificate *c, frame_summary *sum) {
    drape_status status = DRAPE_OK;
    for (int32_t i = 0; i < r->scene->steps_per_frame && !status && !must_stop(r); i++) {
        status = step(r, c);
        sum->iterations += c->linear.iterations;
        sum->cuts += c->contact.cuts;
    }
    if (status || must_stop(r)) return status;
    status = write_frame(r);
    if (!status) sum->frame = ++r->frames_done;
    return status;
}

static drape_status simulate(run *r) {
    progress shown = progress_begin(r->frames_done, r->scene->frames, r->options.quiet);
    double started = seconds_now();
    r->frames_before = r->frames_done;
    drape_certificate c = {0};
    drape_status status = DRAPE_OK;
    while (r->frames_done < r->scene->frames && !status && !must_stop(r)) {
        frame_summary summary = {.last = &c};
        double begin = seconds_now();
        status = simulate_frame(r, &c, &summary);
        if (summary.frame == 0) break;
        summary.seconds = seconds_now() - begin;
        progress_frame(&shown, &summary);
    }
    progress_end(&shown);
    r->simulated = seconds_now() - started;
    return status;
}

static void say_what_was_written(const run *r) {
    if (r->options.quiet) return;
    run_list_files(r);
    if (r->options.report) tell("wrote %s\n", r->options.report);
}

/* Says how many frames are in the files, `bad` of which are incomplete, and how to resume if there is a journal. A
 * run whose state became infinite would do so again. */
static void say_what_is_kept(const run *r, const char *outcome, drape_status status, int32_t bad) {
    char *again = r->journal && status != DRAPE_ERROR_NUMBER ? run_resume_command(&r->options) : NULL;
    char kept[80] = "";
    if (bad < r->output_count)
        snprintf(kept, sizeof kept, "; %d frame%s kept%s", r->frames_done + 1, r->frames_done == 0 ? " is" : "s are",
                 bad ? " in the other files" : "");
    complain("%s%s%s%s", outcome, kept, again ? "; resume with: " : "", again ? again : "");
    free(again);
}

/* Energy that comes from nowhere, though not so much of it that a step failed. */
static void say_what_is_odd(const run *r) {
    const double most = 0.75;
    const drape_verdict *v = &r->verdict;
    if (v->touched || !(v->share < -most)) return;
    complain("warning: steps of %g s added more energy than they should; use a shorter step (time.step), or another "
             "integrator than %s (docs/wrong.md#it-explodes)",
             r->scene->step, r->scene->integration.ode.method);
}

/* What is complete, or cannot be completed, needs no journal any more. */
static void close_journal(run *r, drape_status status, bool stopped, bool written) {
    bool over = (status ? status == DRAPE_ERROR_NUMBER : !stopped) && written;
    if (over) drape_journal_finish(r->journal);
    else drape_journal_close(r->journal);
    r->journal = NULL;
}

/* Whatever became of the other files; false after a complaint. */
static bool write_report(run *r, const char *outcome) {
    if (!r->report || drape_report_write(r->report, r->options.report, outcome) == DRAPE_OK) return true;
    complain("%s", drape_message(r->ctx));
    return false;
}

static int finish(run *r, drape_status status) {
    char outcome[2000] = "finished";
    bool stopped =
        must_stop(r) && r->frames_done < r->scene->frames; /* a signal after the last frame changes nothing */
    if (status) snprintf(outcome, sizeof outcome, "%s", drape_message(r->ctx));
    if (stopped)
        snprintf(outcome, sizeof outcome, "%s after frame %d of %d",
                 interrupted ? "interrupted" : "a file of the scene was saved", r->frames_done, r->scene->frames);
    int32_t bad = close_writers(r, true);
    if (!status && !stopped && bad) snprintf(outcome, sizeof outcome, "%s", drape_message(r->ctx));
    if (status || stopped) say_what_is_kept(r, outcome, status, bad);
    bool written = write_report(r, outcome) && !bad;
    if (!r->options.quiet) print_verdict(&r->verdict, r->frames_done - r->frames_before, r->simulated);
    say_what_is_odd(r);
    if (written && !status) say_what_was_written(r);
    close_journal(r, status, stopped, written);
    return status || !written ? EXIT_RUN_FAILED : stopped ? EXIT_INTERRUPTED : EXIT_GOOD;
}

static void release(run *r) {
    close_writers(r, false);
    drape_journal_close(r->journal);
    drape_report_destroy(r->report);
    drape_collider_meshes_destroy(r->colliders);
    drape_sim_destroy(r->sim);
    drape_loaded_scene_destroy(r->loaded);
    drape_context_destroy(r->ctx);
    free(r->checkpoint_path);
    free(r->page_name);
}

static int run_once(const run_options *options, file_watch *watch) {
    run r = {.options = *options, .watch = watch};
    int code = prepare(&r) ? finish(&r, simulate(&r)) : r.began ? EXIT_RUN_FAILED : EXIT_BAD_INPUT;
    release(&r);
    return code;
}

/* Repeats until a signal comes. If the scene is refused, the next version may be better. */
static int run_watched(const run_options *options) {
    const char *name = options->scene.name;
    file_watch files = {0};
    if (!watch_add(&files, name)) {
        complain("out of memory");
        return EXIT_RUN_FAILED;
    }
    watch_signals();
    do {
        watch_note(&files); /* before anything is read */
        run_once(options, &files);
        if (!interrupted && !watch_saved(&files) && !options->quiet)
            tell("watching %s%s; Ctrl-C ends it\n", name, files.count > 1 ? " and the files that it names" : "");
        fflush(stdout);
    } while (watch_wait(&files, is_interrupted));
    watch_clear(&files);
    return EXIT_INTERRUPTED;
}

int command_run(int argc, char **argv) {
    run_options options = {.frames = -1};
    parse_result parsed = run_parse(&options, argc, argv);
    if (parsed != PARSE_GOOD) return parsed == PARSE_HELP ? EXIT_GOOD : EXIT_BAD_INPUT;
    if (!options.watch) return run_once(&options, NULL);
    return run_can_watch(&options) ? run_watched(&options) : EXIT_BAD_INPUT;
}
