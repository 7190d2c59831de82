/* contact.c: the broad phase for a sheet against itself, in multiplies with the cloth's matrix.
 *
 * "At rest": the flat sheet, which does not move. "Turned": in no plane of the axes. "Falling": turned, moving by a
 * tenth of a cell along and a third across itself. "Crumpled": vertices shifted by up to a third of a cell each way.
 * All with a margin of a twentieth of a cell, so that a distance of a tenth of a cell makes a pair. */
#include "bench.h"

#include "drape/contact.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef enum sheet_state { AT_REST, TURNED, FALLING, CRUMPLED, STATES } sheet_state;
static const char *const state_name[STATES] = {"at rest", "turned", "falling", "crumpled"};

/* A sheet with its matrix and its tree in one context. */
typedef struct sheet {
    drape_context *ctx;
    drape_loaded_scene *loaded;
    drape_cloth *cloth;
    drape_assembler *forces;
    drape_matrix *matrix;
    drape_bsr3 A;
    drape_contact_tree *tree;
    drape_contact_pairs *pairs;
    double cell, *start, *end, *in, *out;
} sheet;

static sheet make_sheet(int32_t side, int32_t threads) {
    sheet s = {.ctx = bench_context(threads), .cell = 1.0 / (side - 1)};
    bench_check(s.ctx, drape_scene_builtin(s.ctx, "drooping", side, &s.loaded));
    const drape_scene *scene = drape_loaded_scene_data(s.loaded);
    const drape_piece *piece = scene->pieces;
    bench_check(s.ctx, drape_cloth_create(s.ctx, piece, 1, &scene->cloth, &s.cloth));
    bench_check(s.ctx, drape_assembler_create(s.cloth, NULL, &s.forces));
    bench_check(s.ctx, drape_assembler_matrix(s.forces, &s.matrix));
    s.A = drape_matrix_view(s.matrix);
    bench_check(s.ctx, drape_contact_tree_create(s.ctx, piece->vertices, piece->triangles, piece->triangle, &s.tree));
    bench_check(s.ctx, drape_contact_pairs_create(s.ctx, &s.pairs));
    int64_t n = 3 * (int64_t)piece->vertices;
    s.start = bench_vector(n), s.end = bench_vector(n), s.in = bench_vector(n), s.out = bench_vector(n);
    for (int64_t i = 0; i < n; i++) s.in[i] = cos((double)i);
    for (int64_t i = 0; i < 9 * s.A.rowptr[s.A.rows]; i++) s.A.val[i] = 1e-3;
    return s;
}

static void free_sheet(sheet *s) {
    free(s->start), free(s->end), free(s->in), free(s->out);
    drape_contact_pairs_destroy(s->pairs);
    drape_contact_tree_destroy(s->tree);
    drape_matrix_destroy(s->matrix);
    drape_assembler_destroy(s->forces);
    drape_cloth_destroy(s->cloth);
    drape_loaded_scene_destroy(s->loaded);
    drape_context_destroy(s->ctx);
}

/* Rows are orthonormal: the columns of the unit cube turned about its diagonal and another axis. */
static const double turn[3][3] = {{0.36, 0.48, -0.8}, {-0.8, 0.6, 0}, {0.48, 0.64, 0.6}};

static void put_state(sheet *s, sheet_state state) {
    const drape_piece *piece = drape_loaded_scene_data(s->loaded)->pieces;
    for (int64_t i = 0; i < piece->vertices; i++)
        for (int32_t k = 0; k < 3; k++) {
            const double *x = piece->rest + 3 * i;
            double turned = turn[k][0] * x[0] + turn[k][1] * x[1] + turn[k][2] * x[2];
            double shift = s->cell / 3 * sin((double)((3 * i + k) * (3 * i + k) % 1013));
            double way = s->cell * (turn[k][0] / 10 + turn[k][2] / 3);
            s->start[3 * i + k] = state == AT_REST ? x[k] : state == CRUMPLED ? x[k] + shift : turned;
            s->end[3 * i + k] = s->start[3 * i + k] + (state == FALLING ? way : 0);
        }
}

static void update(sheet *s) {
    drape_contact_motion motion = {.start = s->start, .end = s->end, .margin = s->cell / 20};
    bench_check(s->ctx, drape_contact_tree_update(s->tree, &motion));
}

typedef struct times {
    double multiply[REPEATS], build[REPEATS], refit[REPEATS], boxes[REPEATS], query[REPEATS], whole[REPEATS];
} times;

static double time_update(sheet *s) {
    double begin = bench_seconds();
    update(s);
    return bench_seconds() - begin;
}

static double time_query(sheet *s, uint32_t options) {
    double begin = bench_seconds();
    bench_check(s->ctx, drape_contact_tree_self(s->tree, options, s->pairs));
    return bench_seconds() - begin;
}

static double time_multiply(sheet *s) {
    int count = (int)(40000000 / (76 * s->A.rowptr[s->A.rows])) + 1;
    double begin = bench_seconds();
    for (int i = 0; i < count; i++) bench_check(s->ctx, drape_multiply(s->ctx, &s->A, s->in, s->out));
    return (bench_seconds() - begin) / count;
}

static void measure(sheet *s, int repeat, times *t) {
    t->multiply[repeat] = time_multiply(s);
    drape_contact_tree_forget(s->tree);
    t->build[repeat] = time_update(s);
    t->boxes[repeat] = time_query(s, DRAPE_CONTACT_BOXES);
    t->refit[repeat] = time_update(s);
    t->query[repeat] = time_query(s, 0);
    t->whole[repeat] = t->refit[repeat] + t->query[repeat];
}

/* What claims and plot are about: medians and least times of an update and a query at rest. */
typedef struct result {
    double whole, whole_best, multiply, multiply_best;
} result;

static result print_row(const sheet *s, sheet_state state, int32_t threads, times *t) {
    drape_contact_tree_counts counts = drape_contact_tree_count(s->tree);
    int64_t left = 0;
    for (int32_t k = 0; k < DRAPE_CONTACT_KINDS; k++)
        left += drape_contact_pairs_list(s->pairs, (drape_contact_kind)k).count;
    result r = {.whole = bench_median(t->whole, REPEATS), .multiply = bench_median(t->multiply, REPEATS)};
    r.whole_best = t->whole[0], r.multiply_best = t->multiply[0];
    bench_row();
    bench_count("vertices", "%9d", s->A.rows);
    bench_text("sheet", " %-9s", state_name[state]);
    bench_count("threads", " %8d", threads);
    bench_count("leaf pairs", " %10d", counts.overlaps);
    bench_count("candidates", " %10d", counts.candidates);
    bench_count("pairs", " %9d", left);
    bench_number("build", "ms", " %9.2f", 1e3 * bench_median(t->build, REPEATS));
    bench_number("refit", "ms", " %7.2f", 1e3 * bench_median(t->refit, REPEATS));
    bench_number("boxes", "ms", " %7.2f", 1e3 * bench_median(t->boxes, REPEATS));
    bench_number("query", "ms", " %7.2f", 1e3 * bench_median(t->query, REPEATS));
    bench_number("multiplies", "", " %11.1f", r.whole / r.multiply);
    bench_end("\n");
    return r;
}

/* One and two threads in turn; out: by state and threads. */
static void run_size(int32_t side, result out[STATES][2]) {
    sheet s[2] = {make_sheet(side, 1), make_sheet(side, 2)};
    for (sheet_state state = AT_REST; state < STATES; state++) {
        times t[2];
        for (int32_t k = 0; k < 2; k++) {
            put_state(&s[k], state);
            measure(&s[k], 0, &t[k]); /* warm */
        }
        for (int repeat = 0; repeat < REPEATS; repeat++)
            for (int32_t k = 0; k < 2; k++) {
                bench_rest();
                measure(&s[k], repeat, &t[k]);
            }
        for (int32_t k = 0; k < 2; k++) out[state][k] = print_row(&s[k], state, k + 1, &t[k]);
    }
    free_sheet(&s[0]), free_sheet(&s[1]);
}

static void claim(const result (*r)[STATES][2], const int32_t *side, int32_t sizes) {
    const result *first = r[0][AT_REST], *last = r[sizes - 1][AT_REST];
    double vertices = (double)side[sizes - 1] * side[sizes - 1] / ((double)side[0] * side[0]);
    bench_claim("multiplies, smallest sheet at rest, 1 thread", first[0].whole / first[0].multiply,
                first[0].whole_best / first[0].multiply_best, 0, 60);
    bench_claim("multiplies, smallest sheet at rest, 2 threads", first[1].whole / first[1].multiply,
                first[1].whole_best / first[1].multiply_best, 0, 60);
    bench_claim("2 threads against 1, smallest sheet at rest", first[0].whole / first[1].whole,
                first[0].whole_best / first[1].whole_best, 1, 1.6);
    bench_claim("2 threads against 1, largest sheet at rest", last[0].whole / last[1].whole,
                last[0].whole_best / last[1].whole_best, 1, 1.6);
    bench_claim("time per vertex, largest against smallest sheet", last[0].whole / first[0].whole / vertices,
                last[0].whole_best / first[0].whole_best / vertices, 0, 1.3);
}

static void plot(const result (*r)[STATES][2], const int32_t *side, int32_t sizes) {
    bench_plot("broad", "Broad phase of a sheet against itself");
    bench_plot_caption(
        "An update without sorting and a query, in multiplies with the matrix of the cloth. One thread.");
    bench_plot_axis('x', "vertices", "", BENCH_LOG);
    bench_plot_axis('y', "time", "multiplies", BENCH_LINEAR);
    for (int32_t state = 0; state < STATES; state++) {
        bench_curve(state_name[state], state, BENCH_OURS);
        for (int32_t i = 0; i < sizes; i++)
            bench_point((double)side[i] * side[i], r[i][state][0].whole / r[i][state][0].multiply);
    }
}

void bench_contact(const bench_options *options) {
    static const int32_t own[] = {101, 201, 401}, quick[] = {21, 41};
    int32_t side[BENCH_MOST_SIZES];
    int32_t sizes = options->quick ? bench_sizes(options, quick, 2, side) : bench_sizes(options, own, 3, side);
    result results[BENCH_MOST_SIZES][STATES][2];
    bench_table("broad phase");
    printf(
        "milliseconds; build: an update that sorts, refit: one that does not; boxes: the query without the tighter\n"
        "test, query: with it; multiplies: refit and query\n");
    printf("%9s %-9s %8s %10s %10s %9s %9s %7s %7s %7s %11s\n", "vertices", "sheet", "threads", "leaf pairs",
           "candidates", "pairs", "build", "refit", "boxes", "query", "multiplies");
    for (int32_t i = 0; i < sizes; i++) run_size(side[i], results[i]);
    claim((const result(*)[STATES][2])results, side, sizes);
    plot((const result(*)[STATES][2])results, side, sizes);
    bench_contact_stages(options, side, sizes);
}
