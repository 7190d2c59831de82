/* step.c: whole time steps by stage, and how they grow: assembly, set-up of the preconditioner, linear solves,
 * contact, everything else, and writing a frame. Also seconds per frame of 1/25 s, and memory. */
#include "apart.h"
#include "bench.h"
#include "counted.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WARM = 5, STAGES = 6, VALUES = STAGES + 2 };
static const char *const stage_name[STAGES] = {"assemble", "set-up", "solve", "contact", "other", "write"};
static const char *const scenes[] = {"drooping", "drop-horizontal"};
enum { SCENES = 2 };

static double time_writing(drape_context *ctx, drape_sim *sim, const drape_scene *scene) {
    char path[64];
    const drape_piece *piece = &scene->pieces[0];
    snprintf(path, sizeof path, "/tmp/drape-bench-%ld.raw", (long)getpid());
    double began = bench_seconds();
    FILE *out = fopen(path, "wb");
    if (!out) return NAN;
    for (int64_t i = 0; i < 3 * (int64_t)piece->vertices; i++) {
        float number = (float)drape_sim_positions(sim)[i];
        fwrite(&number, sizeof number, 1, out);
    }
    fclose(out);
    unlink(path);
    (void)ctx;
    return bench_seconds() - began;
}

typedef struct cell {
    const char *scene;
    int32_t side, threads, steps;
    double value[VALUES]; /* stages in s per step, then bytes per vertex, then steps that were measured */
} cell;

static void measure(void *data) {
    cell *m = data;
    drape_scene_options options = {.resolution = m->side};
    bench_counted memory = BENCH_COUNTED;
    drape_context *ctx = bench_counted_context(m->threads, &memory);
    drape_loaded_scene *loaded;
    drape_sim *sim;
    double times[STAGES] = {0};
    bench_check(ctx, drape_scene_load(ctx, m->scene, &options, &loaded));
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    scene->integration.ode.method = DRAPE_LINEARISED_EULER;
    bench_check(ctx, drape_sim_create(ctx, scene, &sim));
    for (int32_t i = 0; i < WARM + m->steps; i++) {
        drape_certificate c;
        bench_check(ctx, drape_sim_step(sim, &c));
        if (i < WARM) continue;
        times[0] += c.seconds.assemble, times[1] += c.seconds.precondition, times[2] += c.seconds.solve;
        times[3] += bench_contact_seconds(&c), times[4] += fmax(0, c.seconds.update - bench_contact_seconds(&c));
    }
    for (int32_t k = 0; k < STAGES - 1; k++) m->value[k] = times[k] / m->steps;
    m->value[STAGES - 1] = time_writing(ctx, sim, scene);
    m->value[STAGES] = (double)memory.most / scene->pieces[0].vertices;
    m->value[STAGES + 1] = m->steps;
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
    drape_context_destroy(ctx);
}

static void measure_cell(const char *scene, int32_t side, int32_t threads, int32_t steps, double value[VALUES]) {
    char key[BENCH_LONGEST_KEY];
    snprintf(key, sizeof key, "step %s %d, %d threads, %d steps", scene, side, threads, steps);
    bool kept = bench_cell_find(key, value, VALUES);
    if (!kept) {
        cell m = {.scene = scene, .side = side, .threads = threads, .steps = steps};
        bool there = bench_apart(measure, &m, sizeof m);
        for (int32_t k = 0; k < VALUES; k++) value[k] = there ? m.value[k] : NAN;
        bench_cell_keep(key, value, VALUES);
    }
    bench_progress((double)side * side, kept);
}

static void print_cell(const char *scene, int32_t side, int32_t threads, const double value[VALUES]) {
    double step = 0;
    bench_row();
    bench_text("scene", "  %-16s", scene);
    bench_count("vertices", " %8d", (int64_t)side * side);
    bench_count("threads", " %2d", threads);
    for (int32_t k = 0; k < STAGES - 1; k++) step += value[k];
    for (int32_t k = 0; k < STAGES; k++) {
        char column[32];
        snprintf(column, sizeof column, "stage, %s", stage_name[k]);
        bench_number(column, "ms", " %9.3f", 1e3 * value[k]);
    }
    bench_number("step", "ms", " %9.3f", 1e3 * step);
    bench_number("frame of 20 steps", "s", " %9.3f", 20 * step + value[STAGES - 1]);
    bench_number("memory per vertex", "kB", " %7.2f", value[STAGES] / 1e3);
    bench_end("\n");
}

typedef struct grid {
    int32_t side[BENCH_MOST_SIZES], sizes, threads[2];
    double value[SCENES][BENCH_MOST_SIZES][2][VALUES];
} grid;

static double step_of(const double value[VALUES]) {
    double sum = 0;
    for (int32_t k = 0; k < STAGES - 1; k++) sum += value[k];
    return sum;
}

static void draw_stages(const grid *g, int32_t scene) {
    char name[48], title[96];
    snprintf(name, sizeof name, "stages-%s", scenes[scene]);
    snprintf(title, sizeof title, "Stages of a step, %s, %d threads", scenes[scene], g->threads[1]);
    bench_plot(name, title);
    bench_plot_axis('x', "vertices", "", BENCH_LOG);
    bench_plot_axis('y', "time per step", "ms", BENCH_LOG);
    for (int32_t k = 0; k < STAGES; k++) {
        bench_curve(stage_name[k], k, BENCH_OURS);
        for (int32_t i = 0; i < g->sizes; i++) {
            double value = g->value[scene][i][1][k];
            bench_point((double)g->side[i] * g->side[i], value > 0 ? 1e3 * value : NAN);
        }
    }
}

static void draw_threads(const grid *g) {
    bench_plot("threads", "A step with one thread over a step with more");
    bench_plot_axis('x', "vertices", "", BENCH_LOG);
    bench_plot_axis('y', "times as fast", "", BENCH_LINEAR);
    for (int32_t s = 0; s < SCENES; s++) {
        bench_curve(scenes[s], s, BENCH_OURS);
        for (int32_t i = 0; i < g->sizes; i++)
            bench_point((double)g->side[i] * g->side[i], step_of(g->value[s][i][0]) / step_of(g->value[s][i][1]));
    }
}

void bench_step(const bench_options *o) {
    static const int32_t usual[] = {31, 61, 101, 201}, quick[] = {21, 31},
                         full[] = {31, 61, 101, 201, 301, 601, 1001};
    grid *g = calloc(1, sizeof *g);
    if (!g) abort();
    g->sizes = bench_sizes(o, o->quick ? quick : o->full ? full : usual, o->quick ? 2 : o->full ? 7 : 4, g->side);
    g->threads[0] = 1, g->threads[1] = o->threads;
    double work = 0;
    for (int32_t i = 0; i < g->sizes; i++)
        work += (o->threads > 1 ? 2 : 1) * SCENES * (double)g->side[i] * g->side[i];
    bench_progress_begin("step", work);
    bench_note("Means over the steps after the first five, from the start of the scene, by linearised Euler in steps "
               "of 2 ms. "
               "Prefiltering is part of the set-up: the prefiltered matrix is never written. Writing is one frame of "
               "single-precision positions, memory the most that was allocated at once.");
    bench_table("Stages of a step");
    printf("  %-16s %8s  T", "scene", "vertices");
    for (int32_t k = 0; k < STAGES; k++) printf(" %9s", stage_name[k]);
    printf(" %9s %9s %7s\n", "step, ms", "frame, s", "kB/v");
    for (int32_t s = 0; s < SCENES; s++)
        for (int32_t i = 0; i < g->sizes; i++)
            for (int32_t t = o->threads == 1; t < 2; t++) { /* one thread once */
                measure_cell(scenes[s], g->side[i], g->threads[t], o->quick ? 5 : 20, g->value[s][i][t]);
                print_cell(scenes[s], g->side[i], g->threads[t], g->value[s][i][t]);
            }
    bench_progress_end();
    for (int32_t s = 0; s < SCENES; s++) draw_stages(g, s);
    if (o->threads > 1) draw_threads(g);
    free(g);
}
