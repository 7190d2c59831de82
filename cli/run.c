/* run.c: drape run: a scene, step by step, to files and a report. */
#include "cli.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FRAMES = 1000000, MOST_OUTPUTS = 16 };

typedef struct run_options {
    scene_arguments scene;
    word_list output; /* none: the scene's own */
    const char *report, *export_system;
    int32_t frames; /* -1: the scene's */
    bool quiet, tune;
    int64_t export_step;     /* 0: none */
    const char *export_path; /* part of export_system */
} run_options;

/* Everything that a run holds. */
typedef struct run {
    run_options options;
    drape_context *ctx;
    drape_scene *scene;
    drape_sim *sim;
    const char *const *outputs;
    int32_t output_count;
    drape_writer *writers[MOST_OUTPUTS];
    drape_report *report;
    int32_t frames_done;
    bool began; /* to write: what fails from here on is no bad input */
} run;

/* Set by Ctrl-C; looked at between steps. */
static volatile sig_atomic_t interrupted;

static void interrupt(int signal_number) {
    interrupted = 1;
    signal(signal_number, SIG_DFL); /* a second one ends the program at once */
}

static parse_result parse(run_options *o, int argc, char **argv) {
    option options[SCENE_OPTIONS + 7] = {
        {"--output", "-o", "OUT",
         "OUT.html (a page that plays it), .glb, .usda, .pc2, .mdd, .obj or .ply; may be repeated", OPTION_LIST,
         &o->output, 0, 0},
        {"--frames", NULL, "N", "frames after the first; default: the scene's", OPTION_NUMBER, &o->frames, 0,
         MOST_FRAMES},
        {"--report", NULL, "FILE.json", "write machine, settings and a record of every step", OPTION_TEXT, &o->report,
         0, 0},
        {"--export-system", NULL, "STEP:FILE", "write the linear system of that step (the first is 1)", OPTION_TEXT,
         &o->export_system, 0, 0},
        {"--tune", NULL, NULL, "choose the preconditioner by the clock in the first step; other machines, other bits",
         OPTION_FLAG, &o->tune, 0, 0},
        {"--quiet", NULL, NULL, "no line a frame", OPTION_FLAG, &o->quiet, 0, 0}};
    scene_option_table(&o->scene, options + 6);
    command_line line = {.usage = "drape run SCENE.yaml|NAME [options]",
                         .about =
                             "Simulates a scene file, or a scene that ships (`drape scenes` lists them). Shows time, "
                             "iterations of the\nlinear solver, energy (kinetic, elastic and weight together), "
                             "largest stretch and seconds of each frame.",
                         .options = options,
                         .positional = &o->scene.name,
                         .positional_count = 1};
    parse_result parsed = parse_arguments(&line, argc, argv);
    if (parsed == PARSE_GOOD && !o->scene.name) {
        complain("which scene? (usage: %s; `drape scenes` lists them)", line.usage);
        return PARSE_BAD;
    }
    return parsed;
}

/* "12:step.sys" */
static bool parse_export(run_options *o, int64_t steps) {
    char *end;
    if (!o->export_system) return true;
    errno = 0;
    long long step = strtoll(o->export_system, &end, 10);
    if (end == o->export_system || *end != ':' || !end[1] || errno || step < 1 || step > steps) {
        complain("--export-system %s: STEP:FILE is wanted, the step from 1 to %lld", o->export_system,
                 (long long)steps);
        return false;
    }
    o->export_step = step;
    o->export_path = end + 1;
    return true;
}

static bool can_write_all(const run *r) {
    bool good = can_write(r->options.report) && can_write(r->options.export_path);
    for (int32_t i = 0; good && i < r->output_count; i++) good = can_write(r->outputs[i]);
    return good;
}

static drape_status write_frame(run *r) {
    drape_status status = DRAPE_OK;
    for (int32_t i = 0; i < r->output_count && !status; i++)
        status = drape_writer_frame(r->writers[i], drape_sim_positions(r->sim));
    return status;
}

static drape_status open_writers(run *r) {
    drape_animation what = {.cloth = drape_sim_cloth(r->sim),
                            .fps = 1 / (r->scene->step * r->scene->steps_per_frame),
                            .title = r->scene->name,
                            .pieces = r->scene->pieces};
    drape_status status = DRAPE_OK;
    for (int32_t i = 0; i < r->output_count && !status; i++)
        status = drape_writer_open(r->ctx, r->outputs[i], &what, &r->writers[i]);
    r->began = !status;
    return status ? status : write_frame(r);
}

static drape_status load(run *r) {
    drape_scene_options how = scene_options(&r->options.scene);
    drape_status status = drape_scene_load(r->ctx, r->options.scene.name, &how, &r->scene);
    if (status) return status;
    r->scene->solve.direct = direct_solver();
    if (r->options.tune) r->scene->solve.tune = DRAPE_TUNE_MANY;
    if (r->options.frames >= 0) r->scene->frames = r->options.frames;
    bool own = r->options.output.count > 0;
    r->outputs = own ? r->options.output.words : r->scene->output;
    r->output_count = own ? r->options.output.count : r->scene->output_count;
    return DRAPE_OK;
}

/* Reads and checks everything before the first frame is written. */
static bool prepare(run *r) {
    run_options *o = &r->options;
    if (o->output.count > MOST_OUTPUTS) {
        complain("more than %d outputs", MOST_OUTPUTS);
        return false;
    }
    r->ctx = make_context(o->scene.threads);
    if (!r->ctx) return false;
    drape_status status = load(r);
    if (!status && !parse_export(o, (int64_t)r->scene->frames * r->scene->steps_per_frame)) return false;
    if (!status && !direct_is_there("solver.method", &r->scene->solve)) return false;
    if (!status && !can_write_all(r)) return false;
    bool read = !status;
    if (!status) status = drape_sim_create(r->ctx, r->scene, &r->sim);
    bool no_cloth = read && status == DRAPE_ERROR_ARGUMENT;
    if (!status && o->report) status = drape_report_create(r->ctx, r->scene, r->sim, &r->report);
    if (!status) status = open_writers(r);
    if (status) complain("%s%s", drape_message(r->ctx), no_cloth ? " (`drape check` lists all that is wrong)" : "");
    return status == DRAPE_OK;
}

static drape_status step(run *r, drape_certificate *c) {
    drape_status status = drape_sim_step(r->sim, c);
    if (!status && c->step == 1 && !r->options.quiet) print_tuned(drape_sim_solver(r->sim));
    if (!status && r->report) status = drape_report_step(r->report, c);
    if (!status && c->step == r->options.export_step)
        status = drape_sim_export_system(r->sim, r->options.export_path);
    return status;
}

/* The steps of one frame; stops early when interrupted, between steps. */
static drape_status simulate_frame(run *r, drape_certificate *c, int64_t *iterations) {
    drape_status status = DRAPE_OK;
    *iterations = 0;
    for (int32_t i = 0; i < r->scene->steps_per_frame && !status && !interrupted; i++) {
        status = step(r, c);
        *iterations += c->iterations;
    }
    return status || interrupted ? status : write_frame(r);
}

static drape_status simulate(run *r) {
    progress shown = progress_begin(r->scene->frames, r->options.quiet);
    drape_certificate c = {0};
    drape_status status = DRAPE_OK;
    signal(SIGINT, interrupt);
    signal(SIGTERM, interrupt);
    if (signal(SIGHUP, interrupt) == SIG_IGN) signal(SIGHUP, SIG_IGN); /* nohup */
    signal(SIGPIPE, SIG_IGN); /* nobody reads on: no reason to lose the files */
    while (r->frames_done < r->scene->frames && !status && !interrupted) {
        int64_t iterations;
        double begin = seconds_now();
        status = simulate_frame(r, &c, &iterations);
        if (status || interrupted) break;
        frame_summary summary = {++r->frames_done, iterations, &c, seconds_now() - begin};
        progress_frame(&shown, &summary);
    }
    progress_end(&shown);
    return status;
}

/* Also after a failure or Ctrl-C: the frames that there are, are worth seeing. */
static drape_status close_writers(run *r) {
    drape_status first = DRAPE_OK;
    for (int32_t i = 0; i < MOST_OUTPUTS; i++) {
        drape_status status = drape_writer_close(r->writers[i]);
        if (status && !first) first = status;
        r->writers[i] = NULL;
    }
    return first;
}

static void say_what_was_written(const run *r) {
    if (r->options.quiet) return;
    for (int32_t i = 0; i < r->output_count; i++) printf("wrote %s\n", r->outputs[i]);
    if (r->options.report) printf("wrote %s\n", r->options.report);
}

static int finish(run *r, drape_status status) {
    char outcome[2000] = "finished";
    if (status) snprintf(outcome, sizeof outcome, "%s", drape_message(r->ctx));
    if (interrupted)
        snprintf(outcome, sizeof outcome, "interrupted after frame %d of %d", r->frames_done, r->scene->frames);
    if (status || interrupted)
        complain("%s; %d frame%s kept", outcome, r->frames_done + 1, r->frames_done == 0 ? " is" : "s are");
    drape_status written = close_writers(r);
    if (!written && r->report) written = drape_report_write(r->report, r->options.report, outcome);
    if (written) complain("%s", drape_message(r->ctx));
    else if (!status) say_what_was_written(r);
    return status || written ? EXIT_RUN_FAILED : interrupted ? EXIT_INTERRUPTED : EXIT_GOOD;
}

static void release(run *r) {
    close_writers(r);
    drape_report_destroy(r->report);
    drape_sim_destroy(r->sim);
    if (r->ctx) drape_scene_destroy(r->ctx, r->scene);
    drape_context_destroy(r->ctx);
}

int command_run(int argc, char **argv) {
    run r = {.options = {.frames = -1}};
    parse_result parsed = parse(&r.options, argc, argv);
    if (parsed != PARSE_GOOD) return parsed == PARSE_HELP ? EXIT_GOOD : EXIT_BAD_INPUT;
    int code = prepare(&r) ? finish(&r, simulate(&r)) : r.began ? EXIT_RUN_FAILED : EXIT_BAD_INPUT;
    release(&r);
    return code;
}
