/* contact_stages.c: what contact costs in a step, stage by stage, in milliseconds and in multiplies with the step's
 * matrix; and how many pairs per second the narrow phase tests.
 *
 *   at rest           a sheet in the air that meets itself, without gravity
 *   drop-vertical     a sheet that has fallen edge-on on the box with a hole, and folds
 *   drop-horizontal   a sheet that has fallen flat on it
 *
 * A coarse sheet is simulated up to the state of interest. Its triangles are then divided evenly, so that the sheets
 * of all sizes are the same surface, in the same folds. Every step begins there: a fine sheet with the creases of a
 * coarse one would not stay like that. Simulations with one and with two threads take their steps in turn. Steps are
 * linearised (`preview`): contact does the same work in those of other integrators. */
#include "bench.h"

#include "drape/contact.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STEPS = 9, QUICK_STEPS = 3, MOST_CELLS = 50, STAGES = 5, SCENES = 3 };

typedef enum stage { BROAD, NARROW, TOUCH, RESPONSE, GATE } stage;
static const char *const stage_name[STAGES] = {"broad", "narrow", "touch", "response", "gate"};

static const struct {
    const char *name, *scene;
    double time; /* s: when the coarse sheet is looked at */
    bool floats; /* without gravity and colliders */
} scenes[SCENES] = {{"at rest", "drop-horizontal", 0, true},
                    {"drop-vertical", "drop-vertical", 0.5, false},
                    {"drop-horizontal", "drop-horizontal", 0.3, false}};

/* ---- The coarse sheet ---- */

typedef struct surface {
    int32_t side, triangles;
    int32_t *triangle;
    double *x, *v, *rest, *uv; /* uv: 2 doubles per vertex */
} surface;

static void *copy_of(const void *from, size_t bytes) {
    void *to = malloc(bytes);
    if (!to) abort();
    return memcpy(to, from, bytes);
}

static void set_scene(drape_scene *scene, bool floats, drape_contact_settings *contact) {
    scene->integration = (drape_integration){.ode = {.method = DRAPE_PREVIEW}};
    if (!floats) return;
    *contact = (drape_contact_settings){.self = true};
    scene->contact = contact;
    scene->collider_count = 0;
    memset(scene->forces.gravity, 0, sizeof scene->forces.gravity);
}

static surface run_coarse(int32_t which, int32_t side) {
    drape_context *ctx = bench_context(2);
    drape_loaded_scene *loaded;
    drape_contact_settings contact;
    drape_sim *sim;
    bench_check(ctx, drape_scene_builtin(ctx, scenes[which].scene, side, &loaded));
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    set_scene(scene, scenes[which].floats, &contact);
    bench_check(ctx, drape_sim_create(ctx, scene, &sim));
    while (drape_sim_time(sim) < scenes[which].time) bench_check(ctx, drape_sim_step(sim, NULL));
    const drape_piece *piece = scene->pieces;
    size_t numbers = 3 * (size_t)piece->vertices * sizeof(double);
    surface s = {.side = side, .triangles = piece->triangles};
    s.triangle = copy_of(piece->triangle, 3 * (size_t)piece->triangles * sizeof *s.triangle);
    s.x = copy_of(drape_sim_positions(sim), numbers);
    s.v = copy_of(drape_sim_velocities(sim), numbers);
    s.rest = copy_of(piece->rest, numbers);
    s.uv = copy_of(piece->uv, 2 * (size_t)piece->vertices * sizeof *s.uv);
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
    drape_context_destroy(ctx);
    return s;
}

static void free_surface(surface *s) { free(s->triangle), free(s->x), free(s->v), free(s->rest), free(s->uv); }

/* ---- Dividing it ---- */

/* The point i/parts of the way from corner 0 to 1 and j/parts from 0 to 2. */
static void between(const double *from, const int32_t *corner, int32_t dimension, double i, double j, double *to) {
    for (int32_t k = 0; k < dimension; k++) {
        const double a = from[dimension * corner[0] + k], b = from[dimension * corner[1] + k],
                     c = from[dimension * corner[2] + k];
        to[k] = a + i * (b - a) + j * (c - a);
    }
}

/* The number of that point in the fine grid. */
static int32_t fine_number(int32_t side, int32_t parts, const int32_t *corner, int32_t i, int32_t j) {
    int32_t fine = (side - 1) * parts + 1, at[2];
    for (int32_t k = 0; k < 2; k++) {
        int32_t c[3];
        for (int32_t l = 0; l < 3; l++) c[l] = k == 0 ? corner[l] % side : corner[l] / side;
        at[k] = parts * c[0] + i * (c[1] - c[0]) + j * (c[2] - c[0]);
    }
    return at[1] * fine + at[0];
}

/* Each triangle becomes parts^2 in its plane. */
static surface divide(const surface *s, int32_t parts) {
    int32_t side = (s->side - 1) * parts + 1, t = 0;
    int64_t vertices = (int64_t)side * side;
    surface f = {.side = side, .triangles = s->triangles * parts * parts};
    f.triangle = malloc(3 * (size_t)f.triangles * sizeof *f.triangle);
    f.x = bench_vector(3 * vertices), f.v = bench_vector(3 * vertices), f.rest = bench_vector(3 * vertices);
    f.uv = bench_vector(2 * vertices);
    if (!f.triangle) abort();
    for (int32_t c = 0; c < s->triangles; c++) {
        const int32_t *corner = s->triangle + 3 * (int64_t)c;
        for (int32_t j = 0; j <= parts; j++)
            for (int32_t i = 0; i + j <= parts; i++) {
                int64_t v = fine_number(s->side, parts, corner, i, j);
                double a = (double)i / parts, b = (double)j / parts;
                between(s->x, corner, 3, a, b, f.x + 3 * v);
                between(s->v, corner, 3, a, b, f.v + 3 * v);
                between(s->rest, corner, 3, a, b, f.rest + 3 * v);
                between(s->uv, corner, 2, a, b, f.uv + 2 * v);
                for (int32_t up = 0; up < 2 && i + j + up < parts; up++, t++) {
                    f.triangle[3 * t] = fine_number(s->side, parts, corner, i + 1, j);
                    f.triangle[3 * t + 1] = fine_number(s->side, parts, corner, up ? i + 1 : i, j + 1);
                    f.triangle[3 * t + 2] = fine_number(s->side, parts, corner, i, up ? j + 1 : j);
                }
            }
    }
    return f;
}

/* ---- The simulation of a fine sheet ---- */

typedef struct run {
    drape_context *ctx;
    drape_loaded_scene *loaded;
    drape_contact_settings contact;
    drape_sim *sim;
    const surface *start;
    drape_matrix *matrix;
    drape_bsr3 A;
    double *in, *out;
    double stage[STAGES][STEPS], whole[STEPS], multiply[STEPS];
    int64_t pairs, springs, contacts, hits; /* of the last step */
} run;

static void start_run(run *r, int32_t which, const surface *s, int32_t threads) {
    r->ctx = bench_context(threads);
    bench_check(r->ctx, drape_scene_builtin(r->ctx, scenes[which].scene, 5, &r->loaded));
    drape_scene *scene = drape_loaded_scene_edit(r->loaded);
    drape_piece *piece = scene->pieces;
    set_scene(scene, scenes[which].floats, &r->contact);
    piece->vertices = s->side * s->side, piece->triangles = s->triangles;
    piece->triangle = s->triangle, piece->rest = s->rest, piece->uv = s->uv;
    scene->velocity = NULL;
    bench_check(r->ctx, drape_sim_create(r->ctx, scene, &r->sim));
    r->start = s;
    bench_check(r->ctx, drape_assembler_matrix(drape_sim_assembler(r->sim), &r->matrix));
    r->A = drape_matrix_view(r->matrix);
    r->in = bench_vector(3 * (int64_t)r->A.rows), r->out = bench_vector(3 * (int64_t)r->A.rows);
    for (int64_t i = 0; i < 3 * (int64_t)r->A.rows; i++) r->in[i] = cos((double)i);
    for (int64_t i = 0; i < 9 * r->A.rowptr[r->A.rows]; i++) r->A.val[i] = 1e-3;
}

static void end_run(run *r) {
    free(r->in), free(r->out);
    drape_matrix_destroy(r->matrix);
    drape_sim_destroy(r->sim);
    drape_loaded_scene_destroy(r->loaded);
    drape_context_destroy(r->ctx);
}

/* step < 0: to warm up. */
static void take_step(run *r, int32_t step) {
    drape_certificate c;
    bench_check(r->ctx, drape_sim_set_state(r->sim, r->start->x, r->start->v));
    bench_check(r->ctx, drape_sim_step(r->sim, &c));
    int32_t count = (int32_t)(40000000 / (76 * r->A.rowptr[r->A.rows])) + 1;
    double begin = bench_seconds();
    for (int32_t i = 0; i < count; i++) bench_check(r->ctx, drape_multiply(r->ctx, &r->A, r->in, r->out));
    double multiply = (bench_seconds() - begin) / count;
    if (step < 0) return;
    const double seconds[STAGES] = {c.contact.broad, c.contact.narrow, c.contact.touch, c.contact.response,
                                    c.contact.gate};
    r->whole[step] = 0;
    for (int32_t k = 0; k < STAGES; k++) {
        r->stage[k][step] = seconds[k];
        r->whole[step] += seconds[k];
    }
    r->multiply[step] = multiply;
    r->pairs = c.contact.pairs, r->springs = c.contact.springs;
    r->contacts = c.contact.count, r->hits = c.contact.hits;
}

/* Of one size, scene and number of threads: medians, and the least. */
typedef struct result {
    double whole, whole_best, detect, detect_best; /* s; detect: broad and narrow */
    double multiply, multiply_best;
} result;

static result print_run(run *r, const char *name, int32_t threads, int32_t steps) {
    result out = {.multiply = bench_median(r->multiply, steps)};
    out.multiply_best = r->multiply[0];
    bench_table("stages");
    bench_row();
    bench_count("vertices", "%9d", r->A.rows);
    bench_text("scene", " %-16s", name);
    bench_count("threads", " %7d", threads);
    bench_count("pairs", " %9d", r->pairs);
    bench_count("springs", " %8d", r->springs);
    bench_count("contacts", " %8d", r->contacts);
    bench_count("hits", " %6d", r->hits);
    for (int32_t k = 0; k < STAGES; k++) {
        double median = bench_median(r->stage[k], steps);
        bench_number(stage_name[k], "ms", " %9.2f", 1e3 * median);
        if (k == BROAD || k == NARROW) out.detect += median, out.detect_best += r->stage[k][0];
    }
    out.whole = bench_median(r->whole, steps);
    out.whole_best = r->whole[0];
    bench_number("sum", "ms", " %9.2f", 1e3 * out.whole);
    bench_number("multiplies", "", " %6.1f", out.whole / out.multiply);
    bench_end("\n");
    return out;
}

/* ---- Pairs per second ---- */

static double processor_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Millions of pairs of one kind per second of processor time, best of the repeats. */
static double test_pairs(drape_context *ctx, drape_ccd_kind kind, drape_contact_list list, int32_t vertices,
                         const double *start, const double *end, int64_t *hits) {
    double *time = bench_vector(list.count + 1), best = INFINITY;
    const drape_ccd_pairs pairs = {
        .kind = kind, .vertices = vertices, .start = start, .end = end, .pairs = list.count, .vertex = list.vertex};
    for (int32_t i = 0; i < REPEATS; i++) {
        double begin = processor_seconds();
        bench_check(ctx, drape_ccd_times(ctx, &pairs, NULL, time));
        best = fmin(best, processor_seconds() - begin);
    }
    for (int64_t i = 0; i < list.count; i++) *hits += time[i] <= 1;
    free(time);
    return best;
}

/* The pairs of the sheet and the box at the state of interest, within 1 mm and 5 mm of each other. */
static void print_narrow(const surface *s) {
    drape_context *ctx = bench_context(1);
    drape_loaded_scene *loaded;
    drape_collider_surface *box;
    drape_contact_tree *trees[2];
    drape_contact_pairs *found;
    bench_check(ctx, drape_scene_builtin(ctx, "drop-horizontal", 5, &loaded));
    bench_check(ctx, drape_collider_surface_create(ctx, &drape_loaded_scene_data(loaded)->colliders[0], 0, &box));
    int32_t n = s->side * s->side, m = drape_collider_surface_vertices(box);
    double *start = bench_vector(3 * ((int64_t)n + m)), *end = bench_vector(3 * ((int64_t)n + m));
    double step = drape_loaded_scene_data(loaded)->step;
    for (int64_t i = 0; i < 3 * (int64_t)n; i++) start[i] = s->x[i], end[i] = s->x[i] + step * s->v[i];
    bench_check(ctx, drape_collider_surface_at(box, 0, start + 3 * (int64_t)n));
    bench_check(ctx, drape_collider_surface_at(box, 0, end + 3 * (int64_t)n));
    bench_check(ctx, drape_contact_tree_create(ctx, n, s->triangles, s->triangle, &trees[0]));
    bench_check(ctx, drape_contact_tree_create(ctx, m, drape_collider_surface_triangles(box),
                                               drape_collider_surface_triangle(box), &trees[1]));
    bench_check(ctx, drape_contact_tree_set_first_vertex(trees[1], n));
    bench_check(ctx, drape_contact_pairs_create(ctx, &found));
    for (int32_t k = 0; k < 2; k++) {
        int64_t from = k ? 3 * (int64_t)n : 0;
        const drape_contact_motion motion = {.start = start + from, .end = end + from, .margin = 1e-3};
        bench_check(ctx, drape_contact_tree_update(trees[k], &motion));
    }
    bench_check(ctx, drape_contact_tree_against(trees[0], trees[1], 0, found));
    int64_t pairs = 0, hits = 0;
    double seconds = 0;
    for (int32_t k = 0; k < DRAPE_CONTACT_KINDS; k++) {
        drape_contact_list list = drape_contact_pairs_list(found, (drape_contact_kind)k);
        drape_ccd_kind kind = k == DRAPE_CONTACT_EDGE_EDGE ? DRAPE_CCD_EDGE_EDGE : DRAPE_CCD_VERTEX_FACE;
        if (list.count == 0) continue;
        pairs += list.count;
        seconds += test_pairs(ctx, kind, list, n + m, start, end, &hits);
    }
    bench_table("narrow phase");
    bench_row();
    bench_count("vertices", "drop-horizontal, %d vertices:", n);
    bench_count("pairs", " %d pairs within 2 mm,", pairs);
    bench_count("hits", " %d touch,", hits);
    bench_number("processor time", "ms", " in %.3f ms of processor time", 1e3 * seconds);
    bench_end("\n");
    if (pairs > 0)
        bench_claim_count("millions of its pairs per second, 1 thread", 1e-6 * (double)pairs / seconds, 1, 5);
    drape_contact_pairs_destroy(found);
    drape_contact_tree_destroy(trees[0]), drape_contact_tree_destroy(trees[1]);
    drape_collider_surface_destroy(box);
    drape_loaded_scene_destroy(loaded);
    free(start), free(end);
    drape_context_destroy(ctx);
}

/* ---- All of it ---- */

static int32_t common_divisor(int32_t a, int32_t b) { return b ? common_divisor(b, a % b) : a; }

/* Cells along a side of the coarse sheet, of which all sizes are multiples. */
static int32_t coarse_cells(const int32_t *side, int32_t sizes) {
    int32_t cells = 0;
    for (int32_t i = 0; i < sizes; i++) cells = common_divisor(side[i] - 1, cells);
    for (int32_t parts = 1; parts <= cells; parts++)
        if (cells % parts == 0 && cells / parts <= MOST_CELLS) return cells / parts;
    return cells;
}

static void claim(int32_t which, const result (*r)[2], const int32_t *side, int32_t sizes) {
    char what[80];
    const result *first = r[0], *last = r[sizes - 1];
    double vertices = (double)side[sizes - 1] * side[sizes - 1] / ((double)side[0] * side[0]);
    if (which == 0)
        bench_claim("at rest: multiplies, broad and narrow, smallest sheet", first[0].detect / first[0].multiply,
                    first[0].detect_best / first[0].multiply_best, 0, 60);
    for (int32_t i = 0; i < sizes && which != 0; i++) {
        snprintf(what, sizeof what, "%s: multiplies, all stages, %d vertices", scenes[which].name, side[i] * side[i]);
        bench_claim(what, r[i][0].whole / r[i][0].multiply, r[i][0].whole_best / r[i][0].multiply_best, 0, 200);
    }
    snprintf(what, sizeof what, "%s: time per vertex, largest to smallest", scenes[which].name);
    bench_claim(what, last[0].whole / first[0].whole / vertices, last[0].whole_best / first[0].whole_best / vertices,
                0, 1.3);
    snprintf(what, sizeof what, "%s: 2 threads against 1, smallest sheet", scenes[which].name);
    bench_claim(what, first[0].whole / first[1].whole, first[0].whole_best / first[1].whole_best, 1, 1.6);
    snprintf(what, sizeof what, "%s: 2 threads against 1, largest sheet", scenes[which].name);
    bench_claim(what, last[0].whole / last[1].whole, last[0].whole_best / last[1].whole_best, 1, 1.6);
}

static void plot(const result (*r)[BENCH_MOST_SIZES][2], const int32_t *side, int32_t sizes) {
    bench_plot("stages", "Contact in a step, all stages");
    bench_plot_caption("In multiplies with the matrix of the step. One thread.");
    bench_plot_axis('x', "vertices", "", BENCH_LOG);
    bench_plot_axis('y', "time", "multiplies", BENCH_LINEAR);
    for (int32_t which = 0; which < SCENES; which++) {
        bench_curve(scenes[which].name, which, BENCH_OURS);
        for (int32_t i = 0; i < sizes; i++)
            bench_point((double)side[i] * side[i], r[which][i][0].whole / r[which][i][0].multiply);
    }
}

void bench_contact_stages(const bench_options *options, const int32_t *side, int32_t sizes) {
    int32_t cells = coarse_cells(side, sizes), steps = options->quick ? QUICK_STEPS : STEPS;
    printf("\na step by stages, ms, medians of %d steps; touch: vertices that are held, and springs; multiplies: all "
           "stages\n%9s %-16s %7s %9s %8s %8s %6s",
           steps, "vertices", "scene", "threads", "pairs", "springs", "contacts", "hits");
    for (int32_t k = 0; k < STAGES; k++) printf(" %9s", stage_name[k]);
    printf(" %9s %6s\n", "sum", "mult.");
    result results[SCENES][BENCH_MOST_SIZES][2];
    for (int32_t which = 0; which < SCENES; which++) {
        surface coarse = run_coarse(which, cells + 1);
        for (int32_t i = 0; i < sizes; i++) {
            surface fine = divide(&coarse, (side[i] - 1) / cells);
            run runs[2] = {0};
            for (int32_t k = 0; k < 2; k++) start_run(&runs[k], which, &fine, k + 1);
            for (int32_t step = -1; step < steps; step++)
                for (int32_t k = 0; k < 2; k++) {
                    bench_rest();
                    take_step(&runs[k], step);
                }
            for (int32_t k = 0; k < 2; k++)
                results[which][i][k] = print_run(&runs[k], scenes[which].name, k + 1, steps);
            for (int32_t k = 0; k < 2; k++) end_run(&runs[k]);
            if (which == 2) print_narrow(&fine);
            free_surface(&fine);
        }
        claim(which, (const result(*)[2])results[which], side, sizes);
        free_surface(&coarse);
    }
    plot((const result(*)[BENCH_MOST_SIZES][2])results, side, sizes);
}
