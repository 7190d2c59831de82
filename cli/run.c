/* run.c: drape run: a scene, step by step, to meshes and a report. */
#include "cli.h"

#include "drape/io.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FRAMES = 1000000, MOST_RESOLUTION = 8192, MOST_THREADS = 256 };

typedef struct run_options {
    const char *scene, *output, *report, *export_system;
    int32_t frames, resolution, threads;
    bool quiet;
    int64_t export_step;     /* 0: none */
    const char *export_path; /* part of export_system */
} run_options;

/* Everything that a run holds. */
typedef struct run {
    run_options options;
    drape_context *ctx;
    drape_scene *scene;
    drape_sim *sim;
    drape_writer *writer;
    drape_report *report;
} run;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static parse_result parse(run_options *o, int argc, char **argv) {
    const option options[] = {{"--output", "-o", "OUT", "OUT.obj: a mesh a frame: OUT_0000.obj, OUT_0001.obj, ...",
                               OPTION_TEXT, &o->output, 0, 0},
                              {"--frames", NULL, "N", "frames after the first; default: the scene's", OPTION_NUMBER,
                               &o->frames, 0, MOST_FRAMES},
                              {"--resolution", NULL, "N", "vertices along a side; default: the scene's",
                               OPTION_NUMBER, &o->resolution, 2, MOST_RESOLUTION},
                              {"--threads", NULL, "T", "default: as many as processors; results do not depend on it",
                               OPTION_NUMBER, &o->threads, 1, MOST_THREADS},
                              {"--report", NULL, "FILE.json", "write machine, settings and a record of every step",
                               OPTION_TEXT, &o->report, 0, 0},
                              {"--export-system", NULL, "STEP:FILE",
                               "write the linear system of that step (the first is 1)", OPTION_TEXT,
                               &o->export_system, 0, 0},
                              {"--quiet", NULL, NULL, "no line a frame", OPTION_FLAG, &o->quiet, 0, 0},
                              {0}};
    command_line line = {.usage = "drape run NAME [options]",
                         .about =
                             "Simulates a scene; `drape scenes` lists them. Prints a line a frame: time, iterations "
                             "of the linear\nsolver, energy (kinetic, elastic and weight together), largest "
                             "stretch, seconds.",
                         .options = options,
                         .positional = &o->scene,
                         .positional_count = 1};
    parse_result parsed = parse_arguments(&line, argc, argv);
    if (parsed == PARSE_GOOD && !o->scene) {
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

static bool choose_simd(drape_simd *simd) {
    const char *wanted = getenv("DRAPE_SIMD");
    if (!wanted || !*wanted) return true;
    for (int level = DRAPE_SIMD_BASELINE; level < DRAPE_SIMD_BEST; level++)
        if (strcmp(wanted, drape_simd_name((drape_simd)level)) == 0) {
            *simd = (drape_simd)level;
            return true;
        }
    complain("DRAPE_SIMD=%s: sse2 (neon on arm64), avx2 or avx512 is wanted", wanted);
    return false;
}

static bool make_context(run *r) {
    drape_context_settings settings = drape_context_defaults();
    settings.threads = r->options.threads;
    if (!choose_simd(&settings.simd)) return false;
    drape_status status = drape_context_create(&settings, &r->ctx);
    if (!status) return true;
    if (status == DRAPE_ERROR_ARGUMENT) complain("this processor has no %s", drape_simd_name(settings.simd));
    else complain("cannot start %d threads: %s", settings.threads, drape_status_name(status));
    return false;
}

/* Whether a file of this name can be made, as far as one can tell without making it. No path: nothing to make. */
static bool can_write(const char *path) {
    struct stat info;
    if (!path) return true;
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup("./");
    bool good = folder && access(folder, W_OK | X_OK) == 0;
    if (good && stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        good = false;
        errno = EISDIR;
    }
    if (!good) complain("%s: cannot write: %s", path, strerror(errno));
    free(folder);
    return good;
}

/* Reads and checks everything before the first frame is written. */
static bool prepare(run *r) {
    run_options *o = &r->options;
    if (!make_context(r)) return false;
    drape_status status = drape_scene_builtin(r->ctx, o->scene, o->resolution, &r->scene);
    if (!status && o->frames >= 0) r->scene->frames = o->frames;
    if (!status && !parse_export(o, (int64_t)r->scene->frames * r->scene->steps_per_frame)) return false;
    if (!status && !(can_write(o->output) && can_write(o->report) && can_write(o->export_path))) return false;
    if (!status) status = drape_sim_create(r->ctx, r->scene, &r->sim);
    if (!status && o->report) status = drape_report_create(r->ctx, r->scene, r->sim, &r->report);
    if (!status && o->output) {
        drape_animation what = {.cloth = drape_sim_cloth(r->sim),
                                .fps = 1 / (r->scene->step * r->scene->steps_per_frame),
                                .title = r->scene->name};
        status = drape_writer_open(r->ctx, o->output, &what, &r->writer);
    }
    if (!status && r->writer) status = drape_writer_frame(r->writer, drape_sim_positions(r->sim));
    if (status) complain("%s", drape_message(r->ctx));
    return status == DRAPE_OK;
}

static drape_status step(run *r, drape_certificate *c) {
    drape_status status = drape_sim_step(r->sim, c);
    if (!status && r->report) status = drape_report_step(r->report, c);
    if (!status && c->step == r->options.export_step)
        status = drape_sim_export_system(r->sim, r->options.export_path);
    return status;
}

static void print_frame(const run *r, int32_t frame, int64_t iterations, const drape_certificate *c, double seconds) {
    if (r->options.quiet) return;
    printf("frame %4d/%d  t %8.4f s  iterations %6lld  energy %+.6e J  stretch %.4f  %7.3f s%s%s\n", frame,
           r->scene->frames, c->time, (long long)iterations, c->kinetic + c->elastic + c->weight, c->stretch, seconds,
           c->reason == DRAPE_CONVERGED ? "" : "  ",
           c->reason == DRAPE_CONVERGED ? "" : drape_reason_name(c->reason));
    fflush(stdout);
}

static drape_status simulate(run *r) {
    drape_certificate c;
    for (int32_t frame = 1; frame <= r->scene->frames; frame++) {
        int64_t iterations = 0;
        double begin = now();
        for (int32_t i = 0; i < r->scene->steps_per_frame; i++) {
            drape_status status = step(r, &c);
            if (status) return status;
            iterations += c.iterations;
        }
        if (r->writer) {
            drape_status status = drape_writer_frame(r->writer, drape_sim_positions(r->sim));
            if (status) return status;
        }
        print_frame(r, frame, iterations, &c, now() - begin);
    }
    return DRAPE_OK;
}

static int finish(run *r, drape_status status) {
    if (status) complain("%s", drape_message(r->ctx));
    drape_status written = drape_writer_close(r->writer); /* also after a failure: what there is, is worth seeing */
    r->writer = NULL;
    if (written && !status) {
        status = written;
        complain("%s", drape_message(r->ctx));
    }
    if (r->report) {
        const char *outcome = status ? drape_message(r->ctx) : "finished";
        if (drape_report_write(r->report, r->options.report, outcome)) {
            complain("%s", drape_message(r->ctx));
            status = DRAPE_ERROR_IO;
        }
    }
    return status ? EXIT_RUN_FAILED : EXIT_GOOD;
}

static void release(run *r) {
    drape_writer_close(r->writer);
    drape_report_destroy(r->report);
    drape_sim_destroy(r->sim);
    if (r->ctx) drape_scene_destroy(r->ctx, r->scene);
    drape_context_destroy(r->ctx);
}

int command_run(int argc, char **argv) {
    run r = {.options = {.frames = -1}};
    parse_result parsed = parse(&r.options, argc, argv);
    if (parsed != PARSE_GOOD) return parsed == PARSE_HELP ? EXIT_GOOD : EXIT_BAD_INPUT;
    int code = prepare(&r) ? finish(&r, simulate(&r)) : EXIT_BAD_INPUT;
    release(&r);
    return code;
}
