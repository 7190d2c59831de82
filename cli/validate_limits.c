/* validate_limits.c: how scenes converge when their mesh is refined: drape validate --refine.
 *
 * `drooping`, `hammock` and `curtain` run for a while on regular meshes of N/4, N/2 and N cells along their width,
 * and on an irregular one of N. Positions are compared at the same material points. If differences d between one mesh
 * and the next go as h^p, p = log2(d(N/4, N/2) / d(N/2, N)). The irregular mesh is compared with the extrapolated
 * limit, in units of how far the cloth has moved; the curtain is compared before it folds. */
#include "validate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 9, LEVELS = 3, POINTS = 4 * SAMPLES * SAMPLES };
static const double ORDER = 1.5, LIMIT = 0.01;

typedef struct limit_scene {
    const char *name;
    int32_t cells;      /* of the finest mesh, for --cells 40 */
    double step, until; /* s */
} limit_scene;

/* All pieces, sample after sample. */
typedef struct samples {
    int32_t count;
    double x[3 * POINTS], rest[3 * POINTS];
} samples;

/* ---- material points ---- */

/* Barycentric coordinates of a point in a triangle of material space; false: it is not in it. */
static bool find_in_triangle(const double *uv, const int32_t *c, const double at[2], double w[3]) {
    const double slack = 1e-9, *a = uv + 2 * c[0], *b = uv + 2 * c[1], *e = uv + 2 * c[2];
    const double area = (b[0] - a[0]) * (e[1] - a[1]) - (b[1] - a[1]) * (e[0] - a[0]);
    w[1] = ((at[0] - a[0]) * (e[1] - a[1]) - (at[1] - a[1]) * (e[0] - a[0])) / area;
    w[2] = ((b[0] - a[0]) * (at[1] - a[1]) - (b[1] - a[1]) * (at[0] - a[0])) / area;
    w[0] = 1 - w[1] - w[2];
    return fmin(w[0], fmin(w[1], w[2])) >= -slack;
}

/* x: of the piece's own vertices. */
static void add_sample(const drape_piece *p, const double at[2], const double *x, samples *out) {
    double w[3];
    for (int32_t t = 0; t < p->triangles && out->count < POINTS; t++) {
        const int32_t *c = p->triangle + 3 * (int64_t)t;
        if (!find_in_triangle(p->uv, c, at, w)) continue;
        for (int32_t k = 0; k < 3; k++) {
            out->x[3 * out->count + k] = w[0] * x[3 * c[0] + k] + w[1] * x[3 * c[1] + k] + w[2] * x[3 * c[2] + k];
            out->rest[3 * out->count + k] =
                w[0] * p->rest[3 * c[0] + k] + w[1] * p->rest[3 * c[1] + k] + w[2] * p->rest[3 * c[2] + k];
        }
        out->count++;
        return;
    }
}

static void add_samples(const drape_piece *p, const double *x, samples *out) {
    double low[2] = {HUGE_VAL, HUGE_VAL}, high[2] = {-HUGE_VAL, -HUGE_VAL};
    for (int32_t i = 0; i < 2 * p->vertices; i++) {
        low[i % 2] = fmin(low[i % 2], p->uv[i]);
        high[i % 2] = fmax(high[i % 2], p->uv[i]);
    }
    for (int32_t j = 0; j < SAMPLES; j++)
        for (int32_t i = 0; i < SAMPLES; i++) {
            const double a = i / (SAMPLES - 1.0), b = j / (SAMPLES - 1.0);
            add_sample(p, (double[2]){low[0] + a * (high[0] - low[0]), low[1] + b * (high[1] - low[1])}, x, out);
        }
}

/* ---- runs ---- */

static bool run_scene(validation *v, drape_scene *scene, const limit_scene *of, samples *out) {
    drape_sim *sim = NULL;
    scene->cloth.bending = DRAPE_BENDING_PATCH;
    scene->cloth.membrane = v->membrane;
    scene->contact = NULL; /* nothing touches so early */
    scene->step = of->step;
    scene->solve.tol = 1e-6;
    scene->integration.ode.newton.tolerance = 1e-6;
    drape_status status = drape_sim_create(v->ctx, scene, &sim);
    for (int32_t i = 0; i < (int32_t)(of->until / of->step + 0.5) && !status; i++) status = drape_sim_step(sim, NULL);
    if (status) complain("%s: %s", of->name, drape_message(v->ctx));
    out->count = 0;
    for (int32_t p = 0, first = 0; p < scene->piece_count && !status; first += scene->pieces[p++].vertices)
        add_samples(&scene->pieces[p], drape_sim_positions(sim) + 3 * (int64_t)first, out);
    drape_sim_destroy(sim);
    return !status;
}

static bool run_mesh(validation *v, const limit_scene *of, int32_t cells, bool irregular, samples *out) {
    const drape_scene_options options = {.resolution = cells + 1, .irregular = irregular};
    drape_loaded_scene *loaded = NULL;
    if (drape_scene_load(v->ctx, of->name, &options, &loaded)) {
        complain("%s", drape_message(v->ctx));
        return false;
    }
    const bool good = run_scene(v, drape_loaded_scene_edit(loaded), of, out);
    drape_loaded_scene_destroy(loaded);
    return good;
}

/* ---- comparing ---- */

/* Root mean square distance, m. */
static double distance(int32_t count, const double *a, const double *b) {
    double sum = 0;
    for (int32_t i = 0; i < 3 * count; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum / count);
}

static bool check_scene(validation *v, const limit_scene *of) {
    samples *level = calloc(LEVELS + 1, sizeof *level), *irregular = level + LEVELS;
    const int32_t cells = of->cells * v->cells / 40;
    bool good = level != NULL;
    if (!level) complain("out of memory");
    for (int32_t i = 0; i < LEVELS && good; i++) good = run_mesh(v, of, cells >> (LEVELS - 1 - i), false, &level[i]);
    if (good) good = run_mesh(v, of, cells, true, irregular);
    if (good) {
        const int32_t n = level[0].count;
        const double first = distance(n, level[0].x, level[1].x), second = distance(n, level[1].x, level[2].x);
        const double moved = distance(n, level[2].x, level[2].rest), p = log2(first / second);
        const double off = distance(n, irregular->x, level[2].x) / moved;
        tell("%-10s %5d %9.4g %12.4g %12.4g %8.2f %14.2f %%%s\n", of->name, cells, 1e3 * moved, 1e3 * first,
             1e3 * second, p, 100 * off, p >= ORDER && off <= LIMIT ? "" : "  missed");
        v->count++, v->missed += !(p >= ORDER && off <= LIMIT);
        fflush(stdout);
    }
    free(level);
    return good;
}

bool validate_limits(validation *v) {
    static const limit_scene scenes[] = {
        {"drooping", 64, 4e-3, 0.08}, {"hammock", 64, 4e-3, 0.2}, {"curtain", 64, 4e-3, 0.2}};
    tell("%-10s %5s %9s %12s %12s %8s %16s\n", "mm", "cells", "moved", "N/4 to N/2", "N/2 to N", "order",
         "irregular, at N");
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
        if (!check_scene(v, &scenes[i])) return false;
    return true;
}
