/* character.c: the dressed, walking character of Tamstorf et al. (2015), figures 1 and 9: the time of every solve
 * over the frames, for PPCG with the block diagonal, for SA+PPCG as in the paper, and for what the solver chooses
 * itself.
 *
 * The scene is `character`, with the files of DRAPE_DATA; without them its stand-in, which is small. Each row is a
 * run of its own by linearised Euler, so that a step is one linear system; it is solved again where contacts are let
 * go. Times are those of all solves of a step, with the set-up of the preconditioner. Iterations and bytes moved do
 * not depend on the machine. The default changes between preconditioners, whose iterations differ by ten times at
 * equal cost; bytes are comparable. */
#include "apart.h"
#include "bench.h"
#include "counted.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WARM = 3, SIZES = 4, SOLVERS = 3, MOST_STEPS = 1300 };

/* ---- runs ---- */

typedef struct solver_row {
    const char *name, *precond;
    drape_recipe recipe;
} solver_row;

static const solver_row solvers[SOLVERS] = {{"block diagonal", "block_diagonal", DRAPE_RECIPE_DRAPE},
                                            {"SA, paper's recipe", "amg", DRAPE_RECIPE_TAMSTORF},
                                            {"default", "auto", DRAPE_RECIPE_DRAPE}};

/* Sizes of the paper's kind: settings that refine both garments. NULL: as the files have them. */
static const struct size {
    const char *trousers, *tshirt, *thickness;
} sizes[SIZES] = {
    {NULL, NULL, NULL}, {"12 mm", "8 mm", "0.8 mm"}, {"4.8 mm", "4.8 mm", "0.5 mm"}, {"2.4 mm", "2.2 mm", "0.3 mm"}};

typedef struct run {
    int32_t size, threads; /* which of the sizes */
    const solver_row *solver;
    double frames, vertices, steps, memory; /* bytes */
    double total, contact;                  /* s */
    double solve[MOST_STEPS];               /* s, one per step */
    double iterations[MOST_STEPS];
    double moved[MOST_STEPS]; /* bytes */
} run;

static drape_status load(drape_context *ctx, int32_t size, drape_loaded_scene **out) {
    char text[4][96];
    const char *set[4];
    for (int32_t i = 0; i < 4; i++) set[i] = text[i];
    const char *folder = getenv("DRAPE_DATA");
    drape_scene_options options = {.folder = folder && *folder ? folder : NULL};
    if (options.folder && sizes[size].trousers) {
        snprintf(text[0], sizeof text[0], "cloth.trousers.resolution=%s", sizes[size].trousers);
        snprintf(text[1], sizeof text[1], "cloth.tshirt.resolution=%s", sizes[size].tshirt);
        snprintf(text[2], sizeof text[2], "cloth.trousers.thickness=%s", sizes[size].thickness);
        snprintf(text[3], sizeof text[3], "cloth.tshirt.thickness=%s", sizes[size].thickness);
        options.set = set, options.set_count = 4;
    }
    return drape_scene_load(ctx, "character", &options, out);
}

/* Its first four members say what to run. */
static void simulate(void *data) {
    run *r = data;
    bench_counted memory = BENCH_COUNTED;
    drape_context *ctx = bench_counted_context(r->threads, &memory);
    drape_loaded_scene *loaded;
    drape_sim *sim;
    bench_check(ctx, load(ctx, r->size, &loaded));
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    scene->integration.ode.method = DRAPE_LINEARISED_EULER;
    scene->solve.precond = r->solver->precond;
    scene->solve.amg.recipe = r->solver->recipe;
    bench_check(ctx, drape_sim_create(ctx, scene, &sim));
    int32_t steps = (int32_t)r->frames * scene->steps_per_frame;
    if (steps > MOST_STEPS) steps = MOST_STEPS;
    for (int32_t p = 0; p < scene->piece_count; p++) r->vertices += scene->pieces[p].vertices;
    for (int32_t i = 0; i < steps; i++) {
        drape_certificate c;
        bench_check(ctx, drape_sim_step(sim, &c));
        r->solve[i] = c.seconds.solve + c.seconds.precondition;
        r->iterations[i] = c.linear.iterations;
        r->moved[i] = (double)c.linear.bytes_moved;
        r->contact += bench_contact_seconds(&c);
        r->total += c.seconds.assemble + c.seconds.update + r->solve[i];
    }
    r->steps = steps, r->frames = (double)steps / scene->steps_per_frame, r->memory = (double)memory.most;
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
    drape_context_destroy(ctx);
}

/* ---- tables ---- */

/* Mean, spread, median and largest of what came after the first steps. */
typedef struct spread {
    double mean, deviation, median, largest;
} spread;

static spread spread_of(const double *value, int32_t count) {
    spread s = {0};
    int32_t first = count > 2 * WARM ? WARM : 0, used = count - first;
    double *sorted = malloc((size_t)used * sizeof *sorted);
    if (!sorted) abort();
    for (int32_t i = 0; i < used; i++) {
        sorted[i] = value[first + i];
        s.mean += sorted[i] / used;
        s.largest = fmax(s.largest, sorted[i]);
    }
    for (int32_t i = 0; i < used; i++) s.deviation += (sorted[i] - s.mean) * (sorted[i] - s.mean) / used;
    s.deviation = sqrt(s.deviation);
    s.median = bench_median(sorted, used);
    free(sorted);
    return s;
}

static void print_run(const solver_row *solver, const run *r, const run *plain) {
    const int32_t steps = (int32_t)r->steps;
    spread time = spread_of(r->solve, steps), work = spread_of(r->iterations, steps);
    spread moved = spread_of(r->moved, steps);
    bench_row();
    bench_text("preconditioner", "  %-19s", solver->name);
    bench_count("vertices", " %8d", (int64_t)r->vertices);
    bench_number("frames", "", " %6.0f", r->frames);
    bench_number("solve, mean", "ms", " %9.2f", 1e3 * time.mean);
    bench_number("solve, standard deviation", "ms", " %8.2f", 1e3 * time.deviation);
    bench_number("solve, slowest over median", "", " %7.2f", time.largest / time.median);
    bench_number("block diagonal over this", "", " %7.2f",
                 plain ? spread_of(plain->solve, (int32_t)plain->steps).mean / time.mean : NAN);
    bench_number("iterations, mean", "", " %7.1f", work.mean);
    bench_number("moved, mean", "GB", " %8.3f", 1e-9 * moved.mean);
    bench_number("moved, most over median", "", " %7.2f", moved.median > 0 ? moved.largest / moved.median : NAN);
    bench_number("block diagonal over this, moved", "", " %7.2f",
                 plain ? spread_of(plain->moved, (int32_t)plain->steps).mean / moved.mean : NAN);
    bench_number("contact", "%", " %6.1f", 100 * r->contact / r->total);
    bench_number("frames per minute", "", " %7.2f", 60 * r->frames / r->total);
    bench_number("memory", "MB", " %7.0f", r->memory / 1e6);
    bench_end("\n");
}

/* Figure 9: the solves of each frame together. */
static void draw(int32_t size, const run *runs, const bool *there) {
    char name[48], title[96];
    double vertices = 0;
    for (int32_t k = 0; k < SOLVERS; k++)
        if (there[k]) vertices = runs[k].vertices;
    snprintf(name, sizeof name, "solves-%d", size);
    snprintf(title, sizeof title, "Time of the solves over the frames, %.0f vertices", vertices);
    bench_plot(name, title);
    bench_plot_axis('x', "frame", "", BENCH_LINEAR);
    bench_plot_axis('y', "time per frame", "s", BENCH_LOG);
    for (int32_t k = 0; k < SOLVERS; k++) {
        if (!there[k]) continue;
        int32_t each = (int32_t)(runs[k].steps / runs[k].frames);
        bench_curve(solvers[k].name, k, BENCH_OURS);
        for (int32_t f = 0; f < (int32_t)runs[k].frames; f++) {
            double sum = 0;
            for (int32_t i = 0; i < each; i++) sum += runs[k].solve[f * each + i];
            bench_point(f + 1, sum);
        }
    }
}

void bench_character(const bench_options *o) {
    const char *folder = getenv("DRAPE_DATA");
    bool files = folder && *folder;
    int32_t last = !files || o->quick ? 1 : o->full ? SIZES : 2, frames = o->quick ? 2 : o->full ? 251 : 60;
    run *runs = calloc(SOLVERS, sizeof *runs);
    if (!runs) abort();
    bench_progress_begin("character", (double)last * SOLVERS);
    bench_note(files
                   ? "The scene character, by linearised Euler, from its start. A solve is all that a step solves, "
                     "with the set-up of the preconditioner; the first three steps are left out."
                   : "DRAPE_DATA names no folder with the files of the scene character: this is its stand-in, walk.");
    bench_table("Solves of the dressed character");
    printf("  %-19s %8s %6s %9s %8s %7s %7s %7s %8s %7s %7s %6s %7s %7s\n", "preconditioner", "vertices", "frames",
           "mean, ms", "spread", "max/med", "faster", "iter.", "GB moved", "max/med", "fewer", "cont.%", "fr/min",
           "MB");
    for (int32_t size = 0; size < last; size++) {
        bool there[SOLVERS] = {0};
        for (int32_t k = 0; k < SOLVERS; k++) {
            runs[k] = (run){.size = size, .threads = o->threads, .solver = &solvers[k], .frames = frames};
            there[k] = bench_apart(simulate, &runs[k], sizeof runs[k]);
            bench_progress(1, false);
            if (!there[k]) continue;
            print_run(&solvers[k], &runs[k], there[0] ? &runs[0] : NULL);
        }
        draw(size, runs, there);
    }
    bench_progress_end();
    free(runs);
}
