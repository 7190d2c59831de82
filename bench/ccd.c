/* ccd.c: how many pairs per second the narrow phase of contact tests, on one thread and on several.
 *
 *   near itself     a wavy sheet that moves: vertices and triangles, edges and edges, up to two rings apart, whose
 * swept boxes meet. None touch. These are most of the pairs of a simulation. above a box     a sheet that falls flat
 * onto the large triangles of a box and stops just above it through a box   the same, but it falls through: vertices
 * touch, and a contact takes the longest
 *
 * The pairs are those that a search by boxes with a margin of 1 mm would give. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUICK_REPEATS = 3, SIDE = 101, QUICK_SIDE = 31, RINGS = 2, BOX_VERTICES = 8 };

#define MARGIN 1e-3 /* m: the search by boxes looks this much farther, for what is to be kept apart */

typedef struct sheet_motion {
    int32_t side, vertices; /* with the box behind the sheet, where there is one */
    double *start, *end;
    int32_t *pair[2]; /* by drape_ccd_kind; 4 vertices per pair */
    int64_t count[2], room[2];
} sheet_motion;

/* ---- Pairs whose swept boxes meet ---- */

static void swept_box(const sheet_motion *m, const int32_t *vertex, int count, double low[3], double high[3]) {
    for (int k = 0; k < 3; k++) {
        low[k] = INFINITY, high[k] = -INFINITY;
        for (int i = 0; i < count; i++) {
            double a = m->start[3 * vertex[i] + k], b = m->end[3 * vertex[i] + k];
            low[k] = fmin(low[k], fmin(a, b)), high[k] = fmax(high[k], fmax(a, b));
        }
    }
}

static void add_pair(sheet_motion *m, drape_ccd_kind kind, const int32_t *first, const int32_t *second) {
    const int split = kind == DRAPE_CCD_VERTEX_FACE ? 1 : 2;
    double low[2][3], high[2][3];
    for (int i = 0; i < split; i++)
        for (int j = 0; j < 4 - split; j++)
            if (first[i] == second[j]) return;
    swept_box(m, first, split, low[0], high[0]);
    swept_box(m, second, 4 - split, low[1], high[1]);
    for (int k = 0; k < 3; k++)
        if (low[0][k] > high[1][k] + MARGIN || low[1][k] > high[0][k] + MARGIN) return;
    if (m->count[kind] == m->room[kind]) {
        m->room[kind] = m->room[kind] ? 2 * m->room[kind] : 1024;
        m->pair[kind] = realloc(m->pair[kind], (size_t)m->room[kind] * 4 * sizeof(int32_t));
        if (!m->pair[kind]) abort();
    }
    int32_t *to = m->pair[kind] + 4 * m->count[kind]++;
    memcpy(to, first, (size_t)split * sizeof *to);
    memcpy(to + split, second, (size_t)(4 - split) * sizeof *to);
}

/* Edge e of the grid's vertex (i, j): right, up, or along the diagonal; false where it leaves the grid. */
static bool grid_edge(int32_t side, int32_t i, int32_t j, int e, int32_t out[2]) {
    int32_t i1 = i + (e != 1), j1 = j + (e != 0);
    if (i < 0 || j < 0 || i >= side || j >= side || i1 >= side || j1 >= side) return false;
    out[0] = j * side + i, out[1] = j1 * side + i1;
    return true;
}

static bool grid_triangle(int32_t side, int32_t i, int32_t j, int half, int32_t out[3]) {
    if (i < 0 || j < 0 || i + 1 >= side || j + 1 >= side) return false;
    out[0] = j * side + i, out[1] = (j + 1) * side + i + 1;
    out[2] = half ? (j + 1) * side + i : j * side + i + 1;
    return true;
}

static void pair_with_itself(sheet_motion *m) {
    for (int32_t j = 0; j < m->side; j++)
        for (int32_t i = 0; i < m->side; i++)
            for (int32_t dj = -RINGS - 1; dj <= RINGS; dj++)
                for (int32_t di = -RINGS - 1; di <= RINGS; di++) {
                    int32_t vertex = j * m->side + i, triangle[3], a[2], b[2];
                    for (int half = 0; half < 2; half++)
                        if (grid_triangle(m->side, i + di, j + dj, half, triangle))
                            add_pair(m, DRAPE_CCD_VERTEX_FACE, &vertex, triangle);
                    for (int e = 0; e < 9; e++)
                        if (grid_edge(m->side, i, j, e % 3, a) && grid_edge(m->side, i + di, j + dj, e / 3, b) &&
                            (a[0] < b[0] || (a[0] == b[0] && a[1] < b[1])))
                            add_pair(m, DRAPE_CCD_EDGE_EDGE, a, b);
                }
}

static const int32_t box_triangle[12][3] = {{0, 1, 2}, {1, 3, 2}, {4, 6, 5}, {5, 6, 7}, {0, 4, 1}, {1, 4, 5},
                                            {2, 3, 6}, {3, 7, 6}, {0, 2, 4}, {2, 6, 4}, {1, 5, 3}, {3, 5, 7}};
static const int32_t box_edge[18][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2}, {1, 3}, {4, 6}, {5, 7}, {0, 4},
                                        {1, 5}, {2, 6}, {3, 7}, {1, 2}, {5, 6}, {1, 4}, {3, 6}, {2, 4}, {3, 5}};

static void pair_with_box(sheet_motion *m) {
    int32_t sheet = m->side * m->side, t[3], e[2], a[2];
    for (int32_t v = 0; v < sheet; v++)
        for (int i = 0; i < 12; i++) {
            for (int k = 0; k < 3; k++) t[k] = sheet + box_triangle[i][k];
            add_pair(m, DRAPE_CCD_VERTEX_FACE, &v, t);
        }
    for (int32_t v = 0; v < sheet; v++)
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 18 && grid_edge(m->side, v % m->side, v / m->side, k, a); i++) {
                e[0] = sheet + box_edge[i][0], e[1] = sheet + box_edge[i][1];
                add_pair(m, DRAPE_CCD_EDGE_EDGE, a, e);
            }
}

/* ---- Motions ---- */

static void make_room(sheet_motion *m, int32_t side, int32_t more) {
    *m = (sheet_motion){.side = side, .vertices = side * side + more};
    m->start = bench_vector(3 * (int64_t)m->vertices);
    m->end = bench_vector(3 * (int64_t)m->vertices);
}

static void free_motion(sheet_motion *m) { free(m->start), free(m->end), free(m->pair[0]), free(m->pair[1]); }

/* A sheet of 1 m, tilted against the axes, that swings by a hundredth of it. */
static void make_wavy(sheet_motion *m, int32_t side) {
    make_room(m, side, 0);
    for (int32_t v = 0; v < m->vertices; v++) {
        double u = (double)(v % side) / (side - 1), w = (double)(v / side) / (side - 1);
        double z = 0.05 * sin(9 * u + 2) * cos(7 * w);
        const double x[3] = {0.8 * u - 0.5 * z, w + 0.2 * u, 0.6 * u + z};
        for (int k = 0; k < 3; k++) {
            m->start[3 * v + k] = x[k];
            m->end[3 * v + k] = x[k] + 0.01 * sin(5 * x[(k + 1) % 3] + k);
        }
    }
    pair_with_itself(m);
}

/* Flat, from 5 mm above a box of 0.6 m to the given height above it. */
static void make_falling(sheet_motion *m, int32_t side, double height) {
    make_room(m, side, BOX_VERTICES);
    for (int32_t v = 0; v < m->vertices; v++) {
        int32_t corner = v - side * side;
        double u = (double)(v % side) / (side - 1), w = (double)(v / side) / (side - 1);
        double start[3] = {u, w, 5e-3 + 1e-3 * sin(20 * u) * sin(15 * w)},
               end[3] = {u, w, height + 1e-4 * sin(17 * u)};
        if (corner >= 0)
            for (int k = 0; k < 3; k++)
                start[k] = end[k] = k < 2 ? 0.21 + 0.6 * (corner >> k & 1) : -0.3 * (corner >> k & 1);
        memcpy(m->start + 3 * v, start, sizeof start);
        memcpy(m->end + 3 * v, end, sizeof end);
    }
    pair_with_box(m);
}

/* ---- Measuring ---- */

/* Pairs per second: the median, and *best of the repeats. */
static double measure(int32_t threads, const drape_ccd_pairs *pairs, const drape_ccd_settings *settings, int repeats,
                      double *time, double *best) {
    drape_context *ctx = bench_context(threads);
    double speed[REPEATS];
    *best = 0;
    for (int i = 0; i <= repeats; i++) {
        double begin = bench_seconds();
        bench_check(ctx, drape_ccd_times(ctx, pairs, settings, time));
        double s = (double)pairs->pairs / (bench_seconds() - begin);
        if (i == 0) continue; /* warms up */
        speed[i - 1] = s;
        *best = fmax(*best, s);
    }
    drape_context_destroy(ctx);
    return bench_median(speed, repeats);
}

static void print_row(const char *name, const sheet_motion *m, drape_ccd_kind kind, const bench_options *options) {
    double *time = bench_vector(m->count[kind]), best[3], median[3];
    int64_t hits = 0;
    drape_ccd_pairs pairs = {.kind = kind,
                             .vertices = m->vertices,
                             .start = m->start,
                             .end = m->end,
                             .pairs = m->count[kind],
                             .vertex = m->pair[kind]};
    drape_ccd_settings plain = {0}, apart = {.separation = 1e-4};
    int repeats = options->quick ? QUICK_REPEATS : REPEATS;
    median[2] = measure(1, &pairs, &apart, repeats, time, &best[2]);
    median[1] = measure(options->threads, &pairs, &plain, repeats, time, &best[1]);
    median[0] = measure(1, &pairs, &plain, repeats, time, &best[0]);
    for (int64_t i = 0; i < pairs.pairs; i++) hits += time[i] <= 1;
    bench_row();
    bench_text("motion", "  %-14s", name);
    bench_text("kind", " %-12s", drape_ccd_kind_name(kind));
    bench_count("pairs", " %9d", pairs.pairs);
    bench_count("hits", " %8d", hits);
    for (int i = 0; i < 3; i++) {
        static const char *const columns[3][2] = {
            {"1 thread", "1 thread, best"}, {"threads", "threads, best"}, {"separation", "separation, best"}};
        bench_number(columns[i][0], "million pairs/s", "  %7.2f", 1e-6 * median[i]);
        bench_number(columns[i][1], "million pairs/s", " %7.2f", 1e-6 * best[i]);
    }
    bench_end("\n");
    free(time);
}

void bench_ccd(const bench_options *options) {
    int32_t side = options->quick ? QUICK_SIDE : SIDE;
    bench_table("narrow phase");
    printf("  millions of pairs per second: median and best of %d runs with 1 thread, with %d, and with 1 and a "
           "separation of 0.1 mm\n",
           options->quick ? QUICK_REPEATS : REPEATS, options->threads);
    printf("  %-14s %-12s %9s %8s  %15s  %15s  %15s\n", "", "", "pairs", "hits", "1 thread", "threads", "separation");
    for (int which = 0; which < 3; which++) {
        static const char *const name[] = {"near itself", "above a box", "through a box"};
        sheet_motion m;
        if (which == 0) make_wavy(&m, side);
        else make_falling(&m, side, which == 1 ? 5e-4 : -2e-3);
        for (int kind = 0; kind < 2; kind++) print_row(name[which], &m, (drape_ccd_kind)kind, options);
        free_motion(&m);
    }
}
