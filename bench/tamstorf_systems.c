/* tamstorf_systems.c: see tamstorf.h. The scenes that ship are the paper's examples: 1 m x 1 m of cotton in steps of
 * 2 ms. An animation is advanced by drape's default solver. At sampled steps the system goes through a file, where
 * contacts, which stand beside the matrix, are merged into it. So every method solves the same matrix. */
#include "tamstorf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const tamstorf_scene[T_SCENES] = {"pinned", "drooping", "reentrant", "drop-horizontal", "drop-vertical"};
const char *const tamstorf_name[T_SCENES] = {"pinned", "drooping", "re-entrant", "dropHorizontal", "dropVertical"};
const int32_t tamstorf_frames[T_SCENES] = {10, 10, 10, 15, 25};
const int32_t tamstorf_side[T_SIZES] = {31, 41, 61, 81, 101, 151, 201, 301, 401, 601, 801, 1001};

/* As printed. */
// clang-format off
const double tamstorf_speedup[2][T_SIZES][T_SCENES][2] = {
    {
     {{0.39, 0.76}, {0.58, 0.72}, {0.55, 0.72}, {0.57, 0.61}, {0.53, 0.61}},
     {{0.45, 1.06}, {0.63, 0.99}, {0.6, 0.95}, {0.57, 0.75}, {0.51, 0.8}},
     {{0.4, 1.31}, {0.5, 1.18}, {0.54, 1.17}, {0.62, 0.96}, {0.35, 0.94}},
     {{0.43, 1.51}, {0.53, 1.35}, {0.5, 1.31}, {0.65, 1.14}, {0.35, 1.04}},
     {{0.54, 1.78}, {0.66, 1.57}, {0.72, 1.53}, {0.77, 1.37}, {0.4, 1.06}},
     {{0.85, 2.23}, {1.03, 1.89}, {1.02, 1.86}, {1.07, 1.69}, {0.5, 1.14}},
     {{1.07, 2.29}, {1.35, 2.03}, {1.36, 2.01}, {1.4, 1.89}, {0.6, 1.18}},
     {{2.23, 2.27}, {2.87, 2.07}, {2.67, 1.95}, {2.27, 1.92}, {2.35, 1.11}},
     {{3.89, 2.14}, {5.01, 1.95}, {4.87, 1.92}, {3.64, 1.84}, {1.14, 0.77}},
     {{5.48, 2.21}, {7.1, 2.01}, {6.38, 1.76}, {4.7, 1.85}, {2.29, 1.32}},
     {{7.12, 2.26}, {9.28, 2.1}, {8.84, 1.96}, {6.09, 1.89}, {3.46, 1.53}},
     {{9.2, 2.4}, {11.64, 2.2}, {10.89, 2.04}, {7.53, 2.13}, {3.01, 1.8}}},
    {
     {{0.43, 0.87}, {0.49, 0.8}, {0.51, 0.8}, {0.52, 0.64}, {0.56, 0.71}},
     {{0.46, 1.17}, {0.52, 1.12}, {0.62, 1.04}, {0.6, 0.94}, {0.54, 1.01}},
     {{0.43, 1.61}, {0.46, 1.45}, {0.55, 1.39}, {0.56, 1.21}, {0.38, 1.06}},
     {{0.46, 1.86}, {0.5, 1.65}, {0.56, 1.72}, {0.69, 1.44}, {0.44, 1.32}},
     {{0.56, 2.06}, {0.61, 1.87}, {0.67, 1.93}, {0.89, 1.74}, {0.53, 1.42}},
     {{0.81, 2.49}, {0.87, 2.11}, {0.97, 2.2}, {1.13, 2.13}, {0.57, 1.43}},
     {{1.22, 2.61}, {1.19, 2.21}, {1.43, 2.32}, {1.33, 2.23}, {0.76, 1.56}},
     {{2.32, 2.54}, {2.51, 2.21}, {2.36, 2.33}, {2.2, 2.19}, {1.29, 1.39}},
     {{3.78, 2.45}, {4.2, 2.18}, {4.22, 2.16}, {3.26, 2.1}, {2.03, 1.39}},
     {{5.32, 2.49}, {5.98, 2.22}, {6.13, 2.21}, {4.63, 2.13}, {2.63, 1.57}},
     {{7.02, 2.56}, {7.84, 2.24}, {7.72, 2.19}, {5.93, 2.21}, {2.39, 1.68}},
     {{8.97, 2.73}, {9.82, 2.56}, {9.59, 2.47}, {5.74, 2.08}, {2.81, 1.71}}}};
// clang-format on

static const double FPS = 25, STEP = 0.002;
enum { FINE_STEPS = 3, LONGEST_PATH = 4096 };

/* ---- Simulations ---- */

typedef struct animation {
    drape_context *ctx;
    drape_loaded_scene *loaded;
    const drape_scene *scene;
    drape_sim *sim;
    bool failed;
} animation;

static animation begin(const tamstorf_cell *cell, int32_t side, bool irregular) {
    animation a = {.ctx = bench_context(cell->threads)};
    drape_scene_options options = {.resolution = side, .irregular = irregular};
    bench_check(a.ctx, drape_scene_load(a.ctx, tamstorf_scene[cell->scene], &options, &a.loaded));
    drape_scene *scene = drape_loaded_scene_edit(a.loaded);
    scene->integration.ode.method = DRAPE_LINEARISED_EULER;
    scene->step = STEP;
    a.scene = scene;
    bench_check(a.ctx, drape_sim_create(a.ctx, scene, &a.sim));
    return a;
}

static void end(animation *a) {
    drape_sim_destroy(a->sim);
    drape_loaded_scene_destroy(a->loaded);
    drape_context_destroy(a->ctx);
}

static void run_to(animation *a, int64_t steps) {
    while (!a->failed && drape_sim_steps(a->sim) < steps) a->failed = drape_sim_step(a->sim, NULL) != DRAPE_OK;
}

static void run_on(animation *a, int32_t steps) { run_to(a, drape_sim_steps(a->sim) + steps); }

/* What is held stays exactly where it was. */
static void hold(const animation *a, double *x, double *v) {
    const double *start = drape_sim_positions(a->sim);
    for (int32_t k = 0; k < a->scene->pin_count; k++)
        for (int32_t i = 0; i < a->scene->pins[k].count; i++) {
            int64_t at = 3 * (int64_t)a->scene->pins[k].vertices[i];
            memcpy(x + at, start + at, 3 * sizeof *x);
            memset(v + at, 0, 3 * sizeof *v);
        }
}

/* The state of a coarser sheet, and some steps to smooth what interpolation leaves along its cells. */
static void refine(animation *fine, const bench_lattice *from) {
    const drape_piece *piece = &fine->scene->pieces[0];
    int64_t length = 3 * (int64_t)piece->vertices;
    double *x = bench_vector(length), *v = bench_vector(length);
    for (int64_t i = 0; i < piece->vertices; i++)
        bench_lattice_interpolate(from, piece->uv + 2 * i, x + 3 * i, v + 3 * i);
    hold(fine, x, v);
    fine->failed = drape_sim_set_state(fine->sim, x, v) != DRAPE_OK;
    run_on(fine, FINE_STEPS);
    free(x), free(v);
}

/* ---- Systems ---- */

static void name_file(char path[LONGEST_PATH]) {
    const char *folder = getenv("TMPDIR");
    snprintf(path, LONGEST_PATH, "%s/drape-bench-%ld.sys", folder ? folder : "/tmp", (long)getpid());
}

static tamstorf_system take_system(animation *a) {
    tamstorf_system s = {0};
    char path[LONGEST_PATH];
    name_file(path);
    bench_check(a->ctx, drape_sim_export_system(a->sim, path));
    bench_check(a->ctx, drape_system_read(a->ctx, path, &s.file));
    unlink(path);
    bench_check(a->ctx, drape_constraints_create(a->ctx, s.file.A.rows, &s.held));
    bench_check(a->ctx, drape_constraints_set_filter(s.held, s.file.S, s.file.z));
    return s;
}

static void clear_system(animation *a, tamstorf_system *s) {
    drape_constraints_destroy(s->held);
    drape_system_clear(a->ctx, &s->file);
}

static void point_problem(tamstorf_system *s) {
    s->problem = (drape_problem){.A = &s->file.A, .b = s->file.b, .constraints = s->held, .positions = s->file.cur};
}

/* Steps whose systems are visited. */
static void sample(animation *a, int64_t steps, tamstorf_visit *visit, void *user) {
    for (int32_t left = (int32_t)steps - 1; left >= 0 && !a->failed; left--) {
        run_on(a, 1);
        if (a->failed) return;
        tamstorf_system now = take_system(a);
        point_problem(&now);
        visit(user, a->ctx, &now, left);
        clear_system(a, &now);
    }
}

/* The step of sample k, from 0 on. */
static int64_t step_of(const tamstorf_cell *cell, int32_t k) {
    double steps = cell->share * tamstorf_frames[cell->scene] / FPS / STEP;
    return lround((k + 1) * steps / cell->samples);
}

static bool animate(const tamstorf_cell *cell, tamstorf_visit *visit, void *user) {
    animation a = begin(cell, cell->side, cell->irregular);
    for (int32_t k = 0; k < cell->samples && !a.failed; k++) {
        run_to(&a, step_of(cell, k) - cell->window);
        sample(&a, step_of(cell, k) - drape_sim_steps(a.sim), visit, user);
    }
    bool good = !a.failed;
    end(&a);
    return good;
}

/* ---- States of a coarser sheet, kept for all larger ones of the same run ---- */

enum { MOST_STATES = 16 };

static struct {
    int32_t samples;
    double share;
    bench_lattice state[MOST_STATES];
} coarse[T_SCENES];

static bool has_states(const tamstorf_cell *cell) {
    return coarse[cell->scene].samples == cell->samples && coarse[cell->scene].share == cell->share;
}

static bool find_states(const tamstorf_cell *cell) {
    animation a = begin(cell, T_REFINED_FROM, false);
    for (int32_t k = 0; k < coarse[cell->scene].samples; k++) bench_lattice_free(&coarse[cell->scene].state[k]);
    coarse[cell->scene].samples = 0;
    coarse[cell->scene].share = cell->share;
    for (int32_t k = 0; k < cell->samples && k < MOST_STATES && !a.failed; k++) {
        run_to(&a, step_of(cell, k) - cell->window);
        coarse[cell->scene].state[coarse[cell->scene].samples++] = bench_lattice_make(
            &a.scene->pieces[0], drape_sim_positions(a.sim), drape_sim_velocities(a.sim), T_REFINED_FROM);
    }
    bool good = !a.failed;
    end(&a);
    return good;
}

static bool animate_refined(const tamstorf_cell *cell, tamstorf_visit *visit, void *user) {
    bool good = has_states(cell) || find_states(cell);
    for (int32_t k = 0; k < cell->samples && good; k++) {
        animation fine = begin(cell, cell->side, cell->irregular);
        refine(&fine, &coarse[cell->scene].state[k]);
        if (!fine.failed) sample(&fine, cell->window, visit, user);
        good = !fine.failed;
        end(&fine);
    }
    return good;
}

bool tamstorf_animate(const tamstorf_cell *cell, tamstorf_visit *visit, void *user) {
    return cell->side > T_LARGEST_RUN ? animate_refined(cell, visit, user) : animate(cell, visit, user);
}
