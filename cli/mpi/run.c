/* run.c: drape-mpi run: a scene, stepped by all processes together. */
#include "program.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FRAMES = 1000000 };

typedef struct running {
    int refused; /* exit code where it does not begin: lack of memory is no bad input */
    scene_arguments scene;
    const char *output, *checkpoint_file;
    int32_t frames, checkpoint; /* -1, 0: not given */
    bool no_output, resume, quiet, json;
    drape_context *ctx;
    drape_petsc_sim *sim;
    drape_petsc_cache *cache;
    char *default_checkpoint;
    int64_t iterations;
    drape_verdict verdict;
    double stepping; /* s */
} running;

/* ---- The command line ---- */

static parse_result parse(running *r, int argc, char **argv) {
    const option own[] = {
        {"--output", "-o", "OUT.pc2", "write the frames to this point cache; default: NAME.pc2", OPTION_TEXT,
         &r->output, 0, 0},
        {"--no-output", NULL, NULL, "write no file", OPTION_FLAG, &r->no_output, 0, 0},
        {"--frames", NULL, "N", "frames after the first; default: the scene's", OPTION_NUMBER, &r->frames, 0,
         MOST_FRAMES},
        {"--checkpoint", NULL, "N", "every N frames write a checkpoint, from which an interrupted run can be resumed",
         OPTION_NUMBER, &r->checkpoint, 1, MOST_FRAMES},
        {"--checkpoint-file", NULL, "FILE", "file of the checkpoint; default: OUT.pc2 with .ckpt appended",
         OPTION_TEXT, &r->checkpoint_file, 0, 0},
        {"--resume", NULL, NULL, "resume from the last checkpoint, on any number of processes", OPTION_FLAG,
         &r->resume, 0, 0},
        {"--quiet", NULL, NULL, "print no line per frame", OPTION_FLAG, &r->quiet, 0, 0},
        {"--json", NULL, NULL, "print one JSON object at the end", OPTION_FLAG, &r->json, 0, 0},
    };
    option options[SCENE_OPTIONS + sizeof own / sizeof *own + 1] = {0};
    memcpy(options, own, sizeof own);
    scene_option_table(&r->scene, options + sizeof own / sizeof *own);
    command_line line = {
        .usage = "mpirun -n N drape-mpi run SCENE.yaml|NAME [options] [options of PETSc]",
        .about =
            "Simulates a scene file, or a built-in scene, on all processes together. Supports pins, wind, all "
            "fabrics\n"
            "and models, and the integrators linearised-euler, implicit-euler and bdf2. Refuses contact and strain\n"
            "limits. --threads is the number of threads per process, by default 1.\n"
            "Each process reads its part of grids and mesh files, but garments as a whole.",
        .options = options,
        .positional = &r->scene.name,
        .positional_count = 1,
        .names = WORDS_SCENES};
    parse_result parsed = parse_together(&line, argc, argv);
    if (parsed == PARSE_GOOD && !r->scene.name) {
        if (speaks()) complain("no scene given (usage: %s)", line.usage);
        return PARSE_BAD;
    }
    return parsed;
}

/* ---- Files ---- */

static bool ends_in_pc2(const char *path) {
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".pc2") == 0;
}

/* That of the command line, or the scene's, or NAME.pc2; NULL: none. False after a complaint. */
static bool choose_output(running *r) {
    static char name[256];
    const drape_scene *scene = drape_petsc_sim_scene(r->sim);
    if (r->no_output) r->output = NULL;
    else if (!r->output && scene->output_count > 0) r->output = scene->output[0];
    else if (!r->output) {
        const char *slash = strrchr(r->scene.name, '/'), *base = slash ? slash + 1 : r->scene.name;
        const char *dot = strrchr(base, '.');
        snprintf(name, sizeof name, "%.*s.pc2", dot ? (int)(dot - base) : 240, base);
        r->output = name;
    }
    if (!r->output || ends_in_pc2(r->output)) return true;
    if (speaks())
        complain("%s: drape-mpi writes frames only as a point cache; use -o NAME.pc2 or --no-output", r->output);
    return false;
}

static bool choose_checkpoint(running *r) {
    if (r->checkpoint == 0 && !r->resume) return true;
    if (r->checkpoint_file) return true;
    if (!r->output)
        return refuse(
            "--checkpoint: there is no output to put the checkpoint beside; name a file with --checkpoint-file");
    r->default_checkpoint = malloc(strlen(r->output) + 6);
    if (!r->default_checkpoint) return refuse("out of memory");
    sprintf(r->default_checkpoint, "%s.ckpt", r->output);
    r->checkpoint_file = r->default_checkpoint;
    return true;
}

static bool can_write_all(const running *r) {
    int good = !speaks() || (can_write(r->output) && can_write(r->checkpoint > 0 ? r->checkpoint_file : NULL));
    MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return good;
}

static bool open_cache(running *r) {
    if (!r->output) return true;
    bool keeps = r->checkpoint > 0 || r->resume;
    drape_status status = drape_petsc_cache_open(r->sim, r->output, r->frames + 1, keeps, r->resume, &r->cache);
    if (!status && speaks()) session_guard(drape_petsc_cache_temporary(r->cache));
    return status ? refuse(drape_message(r->ctx)) : true;
}

/* ---- Running ---- */

static bool prepare(running *r) {
    drape_scene_options options = scene_options(&r->scene);
    r->ctx = make_context_together(r->scene.threads > 0 ? r->scene.threads : 1, true, &r->refused);
    if (!r->ctx) return false;
    r->refused = EXIT_RUN_FAILED;
    drape_status status = drape_petsc_sim_load(r->ctx, MPI_COMM_WORLD, r->scene.name, &options, &r->sim);
    if (status != DRAPE_ERROR_MEMORY) r->refused = EXIT_BAD_INPUT;
    if (status) return refuse(drape_message(r->ctx));
    if (r->frames < 0) r->frames = drape_petsc_sim_scene(r->sim)->frames;
    if (!choose_output(r) || !choose_checkpoint(r) || !can_write_all(r)) return false;
    if (r->resume && drape_petsc_sim_restore(r->sim, r->checkpoint_file)) return refuse(drape_message(r->ctx));
    return open_cache(r);
}

static void print_frame(const running *r, int32_t frame, const drape_certificate *last, int64_t iterations,
                        double seconds) {
    if (r->quiet || r->json || !speaks()) return;
    printf("frame %4d/%d  t %8.4f s  iterations %6lld  stretch %.4f  %7.3f s%s%s\n", frame, r->frames, last->time,
           (long long)iterations, last->stretch, seconds, last->linear.reason ? "  " : "",
           last->linear.reason ? drape_reason_name(last->linear.reason) : "");
    fflush(stdout);
}

static bool check_options(void) {
    char unknown[160];
    if (!unknown_petsc_option(unknown, sizeof unknown)) return true;
    if (speaks()) complain("PETSc does not know the option %s, or does not use it here; leave it out", unknown);
    return false;
}

/* EXIT_GOOD, or the exit code of what went wrong, after a complaint. */
static int run_frame(running *r, int32_t frame) {
    const int32_t steps = drape_petsc_sim_scene(r->sim)->steps_per_frame;
    drape_certificate c = {0};
    int64_t iterations = 0;
    double began = seconds_now();
    for (int32_t i = 0; i < steps; i++) {
        if (drape_petsc_sim_step(r->sim, &c)) {
            refuse(drape_message(r->ctx));
            return EXIT_RUN_FAILED;
        }
        if (r->verdict.steps == 0 && !check_options()) return EXIT_BAD_INPUT;
        iterations += c.linear.iterations;
        drape_verdict_add(&r->verdict, &c);
    }
    r->iterations += iterations;
    r->stepping += seconds_now() - began;
    print_frame(r, frame, &c, iterations, seconds_now() - began);
    return EXIT_GOOD;
}

static bool write_frame(running *r, int32_t frame) {
    if (r->cache && drape_petsc_cache_frame(r->cache, frame)) return refuse(drape_message(r->ctx));
    if (r->checkpoint == 0 || frame == 0 || frame % r->checkpoint != 0) return true;
    return drape_petsc_sim_save(r->sim, r->checkpoint_file) ? refuse(drape_message(r->ctx)) : true;
}

static int run_frames(running *r) {
    const int32_t steps = drape_petsc_sim_scene(r->sim)->steps_per_frame;
    int32_t done = (int32_t)(drape_petsc_sim_steps(r->sim) / steps);
    if (done == 0 && !write_frame(r, 0)) return EXIT_RUN_FAILED;
    for (int32_t frame = done + 1; frame <= r->frames; frame++) {
        int code = run_frame(r, frame);
        if (code) return code;
        if (!write_frame(r, frame)) return EXIT_RUN_FAILED;
    }
    if (!r->cache) return EXIT_GOOD;
    drape_status status = drape_petsc_cache_close(r->cache);
    r->cache = NULL;
    session_guard(NULL);
    if (status) refuse(drape_message(r->ctx));
    return status ? EXIT_RUN_FAILED : EXIT_GOOD;
}

/* ---- What there is to say ---- */

static void print_json_result(const running *r, const usage *u, int64_t own, int64_t here, int64_t bytes,
                              int64_t load_bytes) {
    printf("{\n  \"vertices\": %" PRId64 ",\n  \"processes\": %d,\n  \"steps\": %" PRId64
           ",\n  \"iterations\": %" PRId64 ",\n  \"unconverged\": %" PRId64 ",\n",
           drape_petsc_sim_vertices(r->sim), session_now().size, r->verdict.steps, r->iterations,
           r->verdict.unconverged);
    printf("  \"stretch\": ");
    print_json_number(r->verdict.stretch);
    printf(",\n  \"step_seconds\": %.9g,\n  \"part_own\": %" PRId64 ",\n  \"part_vertices\": %" PRId64
           ",\n  \"part_bytes\": %" PRId64 ",\n  \"load_bytes\": %" PRId64 ",\n",
           r->stepping, own, here, bytes, load_bytes);
    printf("  \"cpu_seconds\": %.9g,\n  \"peak_bytes\": %" PRId64 ",\n  \"peak_bytes_all\": %" PRId64 "\n}\n", u->cpu,
           u->peak, u->peak_all);
}

static void print_summary(const running *r) {
    const drape_petsc_part *part = drape_petsc_sim_part(r->sim);
    int64_t own = most_of(part->own_count), here = most_of(part->vertices);
    int64_t bytes = most_of(drape_petsc_sim_bytes(r->sim)), load_bytes = most_of(drape_petsc_sim_load_bytes(r->sim));
    usage u = measure_usage();
    if (!speaks()) return;
    if (r->json) {
        print_json_result(r, &u, own, here, bytes, load_bytes);
        return;
    }
    if (r->output) tell("wrote %s\n", r->output);
    if (r->quiet) return;
    printf("%lld vertices on %d process%s, at most %lld of its own and %lld copies each; the busiest took %.3g s "
           "of processor time, the largest %.4g MB\n",
           (long long)drape_petsc_sim_vertices(r->sim), session_now().size, session_now().size == 1 ? "" : "es",
           (long long)own, (long long)(here - own), u.cpu, 1e-6 * (double)u.peak);
    if (r->verdict.steps > 0)
        printf("largest stretch %.4g at %.4g s; %lld of %lld steps did not converge\n", r->verdict.stretch,
               r->verdict.stretch_time, (long long)r->verdict.unconverged, (long long)r->verdict.steps);
}

static void release(running *r) {
    free(r->default_checkpoint);
    drape_petsc_cache_abandon(r->cache);
    session_guard(NULL);
    drape_petsc_sim_destroy(r->sim);
    drape_context_destroy(r->ctx);
}

int mpi_command_run(int argc, char **argv) {
    running r = {.frames = -1};
    parse_result parsed = parse(&r, argc, argv);
    if (parsed != PARSE_GOOD) return parsed == PARSE_HELP ? EXIT_GOOD : EXIT_BAD_INPUT;
    int code = prepare(&r) ? run_frames(&r) : r.refused;
    if (!code) print_summary(&r);
    session_conclude(code);
    release(&r);
    return code;
}
