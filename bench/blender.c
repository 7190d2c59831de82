/* blender.c: seconds per frame and crossings of Blender's cloth and of ours, over the same ball.
 *
 * A sheet of 1 m falls on a ball of 25 cm, flat or edge-on, and meets itself. Both programs get the same meshes, keep
 * layers and the ball 4 mm apart, and take 5 steps per frame of 40 ms. Fabrics differ: Blender's is the one it comes
 * with, ours is cotton. Ours runs three times: with `preview`, which takes one linearised step of the implicit Euler
 * method as Blender does, with two tolerances of linear systems; and with the default integrator. Blender stops when
 * the 2-norm of the residual is 0.01 of that of the right-hand side, or after 100 iterations. Our tolerance is in the
 * preconditioned norm: 0.003 leaves 0.008 to 0.009 in the 2-norm, on the average of these runs. With 0.01, which
 * leaves 0.02 to 0.07, `preview` tears the sheet that falls edge-on.
 *
 * A sheet of 100 x 100 or 200 x 200 vertices also hangs from two corners, with nothing to collide with. There both
 * programs run with one thread and with all, and the better counts. All runs alternate, each twice.
 *
 * Frames of both are rounded to 32-bit floats, and the same exact test counts what crosses in them: cloth and cloth,
 * and cloth and the ball's mesh. blender.py is Blender's side; files in a temporary folder go between. */
#include "bench.h"

#include "drape/crossings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SIDE = 100, QUICK_SIDE = 15, FRAMES = 50, QUICK_FRAMES = 4, STEPS = 5, FPS = 25, LONGEST_PATH = 512 };
static const double DISTANCE = 4e-3; /* m */
static const double REQUIRED = 5;    /* times less time per frame */
enum { HANGING_FRAMES = 25, ROUNDS = 2, MOST_COUNTS = 2 };

extern const unsigned char bench_blender_py[];
extern const size_t bench_blender_py_size;

/* Leaned over by a degree and turned, as in drop-vertical, so that it does not have to stand on its edge. */
static const struct {
    const char *name, *place;
} cases[] = {{"flat", "translate: [0, 0, 30 cm]"}, {"edge-on", "rotate: [91, 0, 10], translate: [0, 0, 80 cm]"}};
enum { CASES = sizeof cases / sizeof *cases };

static const struct {
    const char *name, *integrator;
    double tolerance;
} ours_as[] = {
    {"preview, 0.003", DRAPE_PREVIEW, 3e-3}, {"preview, 0.001", DRAPE_PREVIEW, 1e-3}, {"default", NULL, 1e-3}};
enum { OURS = sizeof ours_as / sizeof *ours_as };

/* The sheet that hangs: by size, how many times less time per frame is required. */
static const struct {
    int32_t side;
    double required[2]; /* by tolerance */
} hanging[] = {{100, {8, 5}}, {200, {6, 4}}};
static const double hanging_tolerance[] = {1e-3, 1e-5};
enum { HANGINGS = sizeof hanging / sizeof *hanging, TOLERANCES = 2 };

/* ---- The scene ---- */

typedef struct course {
    drape_context *ctx;
    drape_loaded_scene *loaded;
    drape_scene *scene;
    drape_collider_surface *ball; /* NULL: there is none, and nothing collides */
    double *ball_at;              /* m, 3 doubles per vertex */
    drape_crossings *search;
    int32_t frames;
} course;

static void load_course(course *c, const char *text, int size, int32_t threads) {
    c->ctx = bench_context(threads);
    bench_check(c->ctx, drape_scene_parse(c->ctx, "blender.yaml", text, size, NULL, &c->loaded));
    c->scene = drape_loaded_scene_edit(c->loaded);
}

/* The sheet begins level, as high as its pins. */
static void make_hanging(course *c, int32_t side, int32_t threads, const bench_options *options) {
    char text[1024];
    int size = snprintf(text, sizeof text,
                        "drape: 1\n"
                        "cloth: [{grid: {width: 1 m, resolution: %d}, place: {translate: [0, 0, 1 m]}, "
                        "material: cotton, pins: [{where: [top-left, top-right]}]}]\n"
                        "time: {step: %g s, fps: %d}\n",
                        side, 1.0 / (FPS * STEPS), FPS);
    load_course(c, text, size, threads);
    c->frames = options->quick ? QUICK_FRAMES : HANGING_FRAMES;
}

static void make_course(course *c, int32_t which, int32_t side, const bench_options *options) {
    char text[1024];
    int size =
        snprintf(text, sizeof text,
                 "drape: 1\n"
                 "cloth: [{grid: {width: 1 m, resolution: %d}, place: {%s}, material: cotton, thickness: %g m, "
                 "friction: 0.3}]\n"
                 "colliders: [{shape: sphere, radius: 25 cm, thickness: %g m, friction: 0.3}]\n"
                 "contact: {self: true}\n"
                 "time: {step: %g s, fps: %d}\n",
                 side, cases[which].place, DISTANCE, DISTANCE / 2, 1.0 / (FPS * STEPS), FPS);
    load_course(c, text, size, options->threads);
    c->frames = options->quick ? QUICK_FRAMES : FRAMES;
    const drape_piece *piece = c->scene->pieces;
    bench_check(c->ctx, drape_collider_surface_create(c->ctx, c->scene->colliders, 0, &c->ball));
    int32_t vertices = drape_collider_surface_vertices(c->ball);
    c->ball_at = bench_vector(3 * (int64_t)vertices);
    bench_check(c->ctx, drape_collider_surface_at(c->ball, 0, c->ball_at));
    const drape_crossings_mesh ball = {.vertices = vertices,
                                       .triangles = drape_collider_surface_triangles(c->ball),
                                       .triangle = drape_collider_surface_triangle(c->ball)};
    const drape_crossings_mesh cloth = {
        .vertices = piece->vertices, .triangles = piece->triangles, .triangle = piece->triangle};
    const drape_crossings_bodies bodies = {.cloth = cloth, .others = &ball, .other_count = 1};
    bench_check(c->ctx, drape_crossings_create(c->ctx, &bodies, &c->search));
}

static void free_course(course *c) {
    free(c->ball_at);
    drape_crossings_destroy(c->search);
    drape_collider_surface_destroy(c->ball);
    drape_loaded_scene_destroy(c->loaded);
    drape_context_destroy(c->ctx);
}

/* ---- What came of a run ---- */

typedef struct outcome {
    double wall[FRAMES], processor[FRAMES]; /* s */
    int64_t crossings[FRAMES];              /* edges through triangles */
    double mean, mean_processor;
    int32_t frames;     /* that were done */
    int32_t bad_frames; /* with crossings */
    int64_t self, ball; /* edges through triangles, over all frames */
    int64_t worst;      /* in one frame */
} outcome;

static void count_crossings(const course *c, const float *x, outcome *o) {
    const double *const others[] = {c->ball_at};
    drape_crossings_result found;
    int64_t numbers = 3 * (int64_t)c->scene->pieces->vertices;
    if (!c->search) return;
    double *exact = bench_vector(numbers);
    for (int64_t i = 0; i < numbers; i++) exact[i] = (double)x[i];
    bench_check(c->ctx, drape_crossings_count(c->search, exact, others, &found));
    free(exact);
    int64_t edges = found.self.edges + found.others.edges;
    o->crossings[o->frames] = edges;
    o->self += found.self.edges;
    o->ball += found.others.edges;
    o->bad_frames += edges + found.self.triangles + found.others.triangles > 0;
    if (edges > o->worst) o->worst = edges;
}

static void find_means(outcome *o) {
    o->mean = o->mean_processor = 0;
    for (int32_t i = 0; i < o->frames; i++) {
        o->mean += o->wall[i] / o->frames;
        o->mean_processor += o->processor[i] / o->frames;
    }
}

/* Median and longest time of a frame. */
static void find_spread(const outcome *o, double *middle, double *longest) {
    double sorted[FRAMES];
    memcpy(sorted, o->wall, sizeof sorted);
    *middle = o->frames ? bench_median(sorted, o->frames) : 0;
    *longest = o->frames ? sorted[o->frames - 1] : 0;
}

static void finish(const char *name, const char *program, outcome *o) {
    double middle, longest;
    find_means(o);
    find_spread(o, &middle, &longest);
    bench_row();
    bench_text("falls", "  %-8s", name);
    bench_text("program", " %-21s", program);
    bench_count("frames", " %6d", o->frames);
    bench_number("mean", "s", " %8.3f", o->mean);
    bench_number("median", "s", " %8.3f", middle);
    bench_number("longest", "s", " %8.3f", longest);
    bench_number("processor", "s", " %10.3f", o->mean_processor);
    bench_count("bad frames", " %10d", o->bad_frames);
    bench_count("crossings, cloth", " %9d", o->self);
    bench_count("crossings, ball", " %9d", o->ball);
    bench_count("crossings, worst frame", " %9d", o->worst);
    bench_end("\n");
}

/* ---- Ours ---- */

static double processor_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static void run_ours(course *c, const char *integrator, double tolerance, outcome *o) {
    int64_t numbers = 3 * (int64_t)c->scene->pieces->vertices;
    float *x = malloc((size_t)numbers * sizeof *x);
    drape_sim *sim;
    if (!x) abort();
    c->scene->integration = (drape_integration){.ode = {.method = integrator}};
    c->scene->solve.tol = tolerance;
    bench_check(c->ctx, drape_sim_create(c->ctx, c->scene, &sim));
    for (drape_status status = DRAPE_OK; o->frames < c->frames; o->frames++) {
        double wall = bench_seconds(), processor = processor_seconds();
        for (int32_t i = 0; i < STEPS && !status; i++) status = drape_sim_step(sim, NULL);
        if (status) {
            printf("  drape stops in frame %d: %s\n", o->frames + 1, drape_message(c->ctx));
            break;
        }
        o->wall[o->frames] = bench_seconds() - wall;
        o->processor[o->frames] = processor_seconds() - processor;
        for (int64_t i = 0; i < numbers; i++) x[i] = (float)drape_sim_positions(sim)[i];
        count_crossings(c, x, o);
    }
    drape_sim_destroy(sim);
    free(x);
}

/* ---- Blender's ---- */

static const char *const files[] = {"task.json", "blender.py", "cloth", "ball", "frames", "seconds", "log"};
enum { FILES = sizeof files / sizeof *files };

static const char *path_of(const char *folder, const char *name) {
    static char path[LONGEST_PATH + 32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static FILE *open_file(const char *folder, const char *name, const char *how) {
    FILE *file = fopen(path_of(folder, name), how);
    if (file) return file;
    fprintf(stderr, "drape-bench: cannot open %s\n", path_of(folder, name));
    exit(1);
}

static void close_file(FILE *file, const char *folder) {
    if (fclose(file) == 0) return;
    fprintf(stderr, "drape-bench: cannot write into %s\n", folder);
    exit(1);
}

static void write_mesh(const char *folder, const char *name, int32_t vertices, const double *x, int32_t triangles,
                       const int32_t *triangle) {
    FILE *file = open_file(folder, name, "wb");
    fwrite(x, 3 * sizeof *x, (size_t)vertices, file);
    fwrite(triangle, 3 * sizeof *triangle, (size_t)triangles, file);
    close_file(file, folder);
}

static void write_pins(FILE *file, const drape_scene *scene) {
    fprintf(file, "\"pins\": [");
    for (int32_t i = 0; i < scene->pin_count; i++)
        for (int32_t k = 0; k < scene->pins[i].count; k++)
            fprintf(file, "%s%d", i + k > 0 ? ", " : "", scene->pins[i].vertices[k]);
    fprintf(file, "]");
}

static void write_task(const char *folder, const course *c) {
    const drape_piece *piece = c->scene->pieces;
    FILE *file = open_file(folder, "task.json", "w");
    fprintf(file,
            "{\"fps\": %d, \"frames\": %d, \"steps\": %d, \"distance\": %g, \"cloth\": {\"vertices\": %d, "
            "\"triangles\": %d}, ",
            FPS, c->frames, STEPS, DISTANCE, piece->vertices, piece->triangles);
    if (c->ball)
        fprintf(file, "\"ball\": {\"vertices\": %d, \"triangles\": %d}, ", drape_collider_surface_vertices(c->ball),
                drape_collider_surface_triangles(c->ball));
    write_pins(file, c->scene);
    fprintf(file, "}\n");
    close_file(file, folder);
    file = open_file(folder, "blender.py", "wb");
    fwrite(bench_blender_py, 1, bench_blender_py_size, file);
    close_file(file, folder);
    write_mesh(folder, "cloth", piece->vertices, piece->rest, piece->triangles, piece->triangle);
    if (c->ball)
        write_mesh(folder, "ball", drape_collider_surface_vertices(c->ball), c->ball_at,
                   drape_collider_surface_triangles(c->ball), drape_collider_surface_triangle(c->ball));
}

static const char *blender_program(void) {
    const char *program = getenv("BLENDER");
    return program && *program ? program : "blender";
}

/* Runs Blender, whose words go to the file; its exit code, 127: it is not there. */
static int call_blender(const char *const *words, FILE *log) {
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        dup2(fileno(log), STDOUT_FILENO);
        dup2(fileno(log), STDERR_FILENO);
        execvp(blender_program(), (char *const *)words);
        _exit(127);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 126;
}

/* "Blender 3.4.1"; false: there is none. */
static bool find_blender(char *version, int size) {
    FILE *log = tmpfile();
    if (!log) return false;
    bool there = call_blender((const char *const[]){"blender", "--version", NULL}, log) == 0;
    rewind(log);
    there = there && fgets(version, size, log);
    fclose(log);
    if (there) version[strcspn(version, "\n")] = 0;
    return there;
}

static void read_frames(const char *folder, const course *c, outcome *o) {
    size_t numbers = 3 * (size_t)c->scene->pieces->vertices;
    float *x = malloc(numbers * sizeof *x);
    FILE *frames = open_file(folder, "frames", "rb"), *seconds = open_file(folder, "seconds", "r");
    if (!x) abort();
    for (; o->frames < c->frames && fread(x, sizeof *x, numbers, frames) == numbers; o->frames++) {
        if (fscanf(seconds, "%lf %lf", &o->wall[o->frames], &o->processor[o->frames]) != 2) break;
        count_crossings(c, x, o);
    }
    fclose(frames);
    fclose(seconds);
    free(x);
}

/* false: it failed, which was said. */
static bool run_blender(const course *c, int32_t threads, outcome *o) {
    char folder[LONGEST_PATH], script[LONGEST_PATH + 32], count[16];
    const char *where = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.400s/drape-bench-XXXXXX", where && *where ? where : "/tmp");
    if (!mkdtemp(folder)) {
        printf("  no folder can be made beside %s\n", folder);
        return false;
    }
    write_task(folder, c);
    snprintf(script, sizeof script, "%s", path_of(folder, "blender.py"));
    snprintf(count, sizeof count, "%d", threads);
    const char *const words[] = {"blender",
                                 "--background",
                                 "--factory-startup",
                                 "--threads",
                                 count,
                                 "-noaudio",
                                 "--python-exit-code",
                                 "3",
                                 "--python",
                                 script,
                                 "--",
                                 folder,
                                 NULL};
    FILE *log = open_file(folder, "log", "w");
    int code = call_blender(words, log);
    fclose(log);
    if (code) {
        printf("  Blender failed with exit code %d; %s has what it said\n", code, path_of(folder, "log"));
        return false;
    }
    read_frames(folder, c, o);
    for (int32_t i = 0; i < FILES; i++) remove(path_of(folder, files[i]));
    rmdir(folder);
    return true;
}

/* ---- Both ---- */

static void claim(const char *falls, const char *as, const outcome *theirs, const outcome *ours) {
    char what[80];
    snprintf(what, sizeof what, "Blender's time per frame over ours, %s, %s", falls, as);
    bench_claim_count(what, ours->mean > 0 ? theirs->mean / ours->mean : 0, 1, REQUIRED);
    snprintf(what, sizeof what, "the same of processor time, %s, %s", falls, as);
    bench_claim_count(what, ours->mean_processor > 0 ? theirs->mean_processor / ours->mean_processor : 0, 1,
                      REQUIRED);
    snprintf(what, sizeof what, "frames with crossings of ours, %s, %s", falls, as);
    bench_claim_count(what, ours->bad_frames, 0, 0);
}

/* Blender's is the first. */
static void plot(const char *falls, int32_t side, const outcome *all) {
    char name[48], title[80];
    for (int32_t what = 0; what < 2; what++) {
        snprintf(name, sizeof name, "%s-%s-%d", what ? "crossings" : "time", falls, side);
        snprintf(title, sizeof title, "%s, %d x %d vertices: %s", falls, side, side,
                 what ? "edges through triangles" : "time per frame");
        bench_plot(name, title);
        bench_plot_axis('x', "frame", "", BENCH_LINEAR);
        bench_plot_axis('y', what ? "crossings" : "time", what ? "" : "s", what ? BENCH_LINEAR : BENCH_LOG);
        for (int32_t k = 0; k < 1 + OURS; k++) {
            if (k == 0) snprintf(name, sizeof name, "Blender");
            else snprintf(name, sizeof name, "drape, %s", ours_as[k - 1].name);
            bench_curve(name, k, BENCH_OURS);
            for (int32_t i = 0; i < all[k].frames; i++)
                bench_point(i + 1, what ? (double)all[k].crossings[i] : all[k].wall[i]);
        }
    }
}

static void race(int32_t which, int32_t side, const bench_options *options) {
    course c = {0};
    outcome all[1 + OURS] = {0};
    const char *falls = cases[which].name;
    char name[32];
    make_course(&c, which, side, options);
    if (run_blender(&c, options->threads, &all[0])) {
        finish(falls, "Blender", &all[0]);
        for (int32_t i = 0; i < OURS; i++) {
            snprintf(name, sizeof name, "drape, %s", ours_as[i].name);
            run_ours(&c, ours_as[i].integrator, ours_as[i].tolerance, &all[1 + i]);
            finish(falls, name, &all[1 + i]);
            claim(falls, ours_as[i].name, &all[0], &all[1 + i]);
        }
        plot(falls, side, all);
    }
    free_course(&c);
}

/* ---- The sheet that hangs ---- */

/* One row of the table: all runs of a program with a tolerance. */
typedef struct contestant {
    const char *name;
    double tolerance; /* 0: Blender */
    outcome best;     /* of all rounds and numbers of threads */
    int32_t threads;  /* that it took */
} contestant;

static bool run_contestant(contestant *who, int32_t side, int32_t threads, const bench_options *options) {
    course c = {0};
    outcome o = {0};
    bool good = true;
    make_hanging(&c, side, threads, options);
    if (who->tolerance > 0) run_ours(&c, DRAPE_PREVIEW, who->tolerance, &o);
    else good = run_blender(&c, threads, &o);
    free_course(&c);
    find_means(&o);
    if (!good || o.frames == 0 || (who->best.frames > 0 && o.mean >= who->best.mean)) return good;
    who->best = o;
    who->threads = threads;
    return good;
}

static void tell_contestant(int32_t side, const contestant *who) {
    const outcome *o = &who->best;
    double middle, longest;
    find_spread(o, &middle, &longest);
    bench_row();
    bench_count("side", "  %6d", side);
    bench_text("program", " %-21s", who->name);
    bench_count("threads", " %7d", who->threads);
    bench_count("frames", " %6d", o->frames);
    bench_number("mean", "s", " %8.4f", o->mean);
    bench_number("median", "s", " %8.4f", middle);
    bench_number("longest", "s", " %8.4f", longest);
    bench_number("processor", "s", " %10.4f", o->mean_processor);
    bench_end("\n");
}

static void race_hanging(int32_t side, const double *required, const bench_options *options) {
    contestant who[1 + TOLERANCES] = {
        {.name = "Blender"},
        {.name = "drape, preview, 0.001", .tolerance = hanging_tolerance[0]},
        {.name = "drape, preview, 1e-5", .tolerance = hanging_tolerance[1]},
    };
    const int32_t count[MOST_COUNTS] = {1, options->threads};
    for (int32_t round = 0; round < (options->quick ? 1 : ROUNDS); round++)
        for (int32_t k = 0; k < (options->threads > 1 ? MOST_COUNTS : 1); k++)
            for (int32_t i = 0; i < 1 + TOLERANCES; i++)
                if (!run_contestant(&who[i], side, count[k], options)) return;
    for (int32_t i = 0; i < 1 + TOLERANCES; i++) tell_contestant(side, &who[i]);
    for (int32_t i = 0; i < TOLERANCES; i++) {
        char what[80];
        snprintf(what, sizeof what, "Blender's time per frame over ours, hanging, %d, %g", side,
                 hanging_tolerance[i]);
        bench_claim_count(what, who[1 + i].best.mean > 0 ? who[0].best.mean / who[1 + i].best.mean : 0, 1,
                          required[i]);
    }
}

static void race_all_hanging(const bench_options *options, const char *version) {
    int32_t side[BENCH_MOST_SIZES], own[HANGINGS], quick[] = {QUICK_SIDE};
    for (int32_t i = 0; i < HANGINGS; i++) own[i] = hanging[i].side;
    int32_t sizes = bench_sizes(options, options->quick ? quick : own, options->quick ? 1 : HANGINGS, side);
    bench_table("hanging");
    bench_keys();
    bench_text("blender", "%s and drape,", version);
    bench_count("steps per frame", " %d steps per frame", STEPS);
    bench_end(": a sheet that hangs from two corners, no collisions; the better number of threads\n");
    printf("  %6s %-21s %7s %6s %8s %8s %8s %10s\n", "side", "program", "threads", "frames", "mean", "median",
           "longest", "processor");
    for (int32_t i = 0; i < sizes; i++) {
        int32_t row = 0; /* of the nearest size that has requirements */
        while (row + 1 < HANGINGS && hanging[row].side < side[i]) row++;
        race_hanging(side[i], hanging[row].required, options);
    }
}

void bench_blender(const bench_options *options) {
    static const int32_t own[] = {SIDE}, quick[] = {QUICK_SIDE};
    int32_t side[BENCH_MOST_SIZES], sizes = bench_sizes(options, options->quick ? quick : own, 1, side);
    char version[80];
    if (!find_blender(version, sizeof version)) {
        printf(
            "  Blender is not there (Debian's package blender; or BLENDER names the program), so there is nothing to "
            "compare with\n");
        return;
    }
    for (int32_t i = 0; i < sizes && (options->tables & BENCH_TABLE_FALLING); i++) {
        bench_table("frames");
        bench_keys();
        bench_text("blender", "%s and drape,", version);
        bench_count("side", " %d vertices a side,", side[i]);
        bench_count("steps per frame", " %d steps per frame,", STEPS);
        bench_count("threads", " %d threads", options->threads);
        bench_end("; seconds per frame; crossings: edges\n"
                  "through triangles of the cloth and of the ball, over all frames, and in the worst\n");
        printf("  %-8s %-21s %6s %8s %8s %8s %10s %10s %9s %9s %9s\n", "falls", "program", "frames", "mean", "median",
               "longest", "processor", "bad frames", "cloth", "ball", "worst");
        for (int32_t which = 0; which < CASES; which++) race(which, side[i], options);
    }
    if (options->tables & BENCH_TABLE_HANGING) race_all_hanging(options, version);
}
