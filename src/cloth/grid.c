/* grid.c: regular grids, flat, as tubes or along curves. Vertices and cells run row by row; both triangles of a cell
 * follow each other. */
#include "cloth/grid.h"
#include "base/elementary.h"

#include <math.h>
#include <string.h>

static bool has_cell(const drape_i_grid *g, int32_t i, int32_t j) {
    return i >= 0 && j >= 0 && i < g->nx - 1 && j < g->ny - 1 && (i < g->cut_x || j < g->cut_y);
}

static bool has_vertex(const drape_i_grid *g, int32_t i, int32_t j) {
    return has_cell(g, i, j) || has_cell(g, i - 1, j) || has_cell(g, i, j - 1) || has_cell(g, i - 1, j - 1);
}

static int64_t place_of(const drape_i_grid *g, int32_t i, int32_t j) {
    const drape_i_window *w = &g->window;
    return i - w->from[0] + (int64_t)(w->to[0] - w->from[0]) * (j - w->from[1]);
}

/* The cell and its far corner are in the window. */
static bool makes_cell(const drape_i_grid *g, int32_t i, int32_t j) {
    return i + 1 < g->window.to[0] && j + 1 < g->window.to[1] && has_cell(g, i, j);
}

void drape_i_grid_place(const drape_i_grid *g, int32_t i, int32_t j, double uv[2]) {
    uv[0] = g->width * ((double)i / (g->nx - 1) - 0.5);
    uv[1] = g->height * ((double)j / (g->ny - 1) - 0.5);
}

void drape_i_grid_cell(const drape_i_grid *g, int32_t i, int32_t j, const int32_t around[4], int32_t triangle[2][3]) {
    const int32_t a = around[0], b = around[1], c = around[2], d = around[3];
    const bool turned = g->alternating && (i + j) % 2;
    triangle[0][0] = a, triangle[0][1] = b, triangle[0][2] = turned ? d : c;
    triangle[1][0] = turned ? b : a, triangle[1][1] = c, triangle[1][2] = d;
}

static void fill_vertices(drape_i_grid *g) {
    int32_t v = 0;
    for (int32_t j = g->window.from[1]; j < g->window.to[1]; j++)
        for (int32_t i = g->window.from[0]; i < g->window.to[0]; i++) {
            g->number[place_of(g, i, j)] = -1;
            if (!has_vertex(g, i, j)) continue;
            double *at = g->uv + 2 * (int64_t)v;
            drape_i_grid_place(g, i, j, at);
            memcpy(g->rest + 3 * (int64_t)v, at, 2 * sizeof *at);
            g->number[place_of(g, i, j)] = v++;
        }
}

static void fill_triangles(drape_i_grid *g) {
    int32_t t = 0;
    for (int32_t j = g->window.from[1]; j < g->window.to[1]; j++)
        for (int32_t i = g->window.from[0]; i < g->window.to[0]; i++) {
            if (!makes_cell(g, i, j)) continue;
            const int32_t *low = g->number + place_of(g, i, j), *high = g->number + place_of(g, i, j + 1);
            const int32_t around[4] = {low[0], low[1], high[1], high[0]};
            drape_i_grid_cell(g, i, j, around, &g->triangle[t]);
            t += 2;
        }
}

drape_status drape_i_grid_make(drape_context *ctx, drape_i_arena *arena, drape_i_grid *g) {
    drape_i_window *w = &g->window;
    if (!g->partly) *w = (drape_i_window){{0, 0}, {g->nx, g->ny}};
    g->vertices = g->triangles = 0;
    for (int32_t j = w->from[1]; j < w->to[1]; j++)
        for (int32_t i = w->from[0]; i < w->to[0]; i++) {
            g->vertices += has_vertex(g, i, j);
            g->triangles += 2 * makes_cell(g, i, j);
        }
    g->number = drape_i_arena_get(ctx, arena, place_of(g, w->from[0], w->to[1]), sizeof *g->number);
    g->rest = drape_i_arena_get(ctx, arena, 3 * (int64_t)g->vertices, sizeof *g->rest);
    g->uv = drape_i_arena_get(ctx, arena, 2 * (int64_t)g->vertices, sizeof *g->uv);
    if (g->loose) g->triangles = 2 * g->vertices;
    g->triangle = drape_i_arena_get(ctx, arena, g->triangles, sizeof *g->triangle);
    if (!g->number || !g->rest || !g->uv || !g->triangle) return DRAPE_ERROR_MEMORY;
    fill_vertices(g);
    if (!g->loose) fill_triangles(g);
    return DRAPE_OK;
}

/* ---- Numbers ---- */

bool drape_i_grid_has(const drape_i_grid *g, int32_t i, int32_t j) { return has_vertex(g, i, j); }

int32_t drape_i_grid_vertex(const drape_i_grid *g, int32_t i, int32_t j) {
    const drape_i_window *w = &g->window;
    bool inside = i >= w->from[0] && i < w->to[0] && j >= w->from[1] && j < w->to[1];
    return inside ? g->number[place_of(g, i, j)] : -1;
}

/* Vertices of row j, which are its first ones. */
static int32_t row_length(const drape_i_grid *g, int32_t j) {
    if (g->cut_y > 0 && j <= g->cut_y) return g->nx;
    return g->cut_x > 0 ? g->cut_x + 1 : 0;
}

/* Rows up to the cut are as long as row 0; all others are as long as the last. */
int32_t drape_i_grid_number(const drape_i_grid *g, bool tube, int32_t i, int32_t j) {
    const int32_t low = j <= g->cut_y ? j : g->cut_y + 1;
    if (tube) return i % (g->nx - 1) + (g->nx - 1) * j;
    return row_length(g, 0) * low + row_length(g, g->ny - 1) * (j - low) + i;
}

void drape_i_grid_find(const drape_i_grid *g, bool tube, int32_t number, int32_t *i, int32_t *j) {
    const int32_t below = tube ? 0 : drape_i_grid_number(g, false, 0, g->cut_y);
    int32_t length = tube ? g->nx - 1 : row_length(g, 0);
    *j = 0;
    if (!tube && number >= below + row_length(g, g->cut_y)) {
        number -= below + row_length(g, g->cut_y);
        length = row_length(g, g->ny - 1);
        *j = g->cut_y + 1;
    }
    *j += number / length;
    *i = number % length;
}

int32_t drape_i_grid_count(const drape_i_grid *g, bool tube) { return drape_i_grid_number(g, tube, 0, g->ny); }

static const double TWO_PI = 6.28318530717958647692;

drape_status drape_i_grid_roll(drape_context *ctx, drape_i_arena *arena, drape_i_grid *g) {
    const int32_t around = g->nx - 1, rows = g->vertices / g->nx;
    int32_t(*triangle)[3];
    DRAPE_ASSERT(g->nx >= 4 && g->vertices == g->nx * rows);
    /* So that edges around a regular tube are as long as in the pattern. */
    double radius = g->width / (2 * around * drape_i_sin(0.5 * TWO_PI / around)), *rest;
    rest = drape_i_arena_get(ctx, arena, 3 * (int64_t)around * rows, sizeof *rest);
    triangle = drape_i_arena_get(ctx, arena, g->triangles, sizeof *triangle);
    if (!rest || !triangle) return DRAPE_ERROR_MEMORY;
    for (int32_t j = 0; j < rows; j++)
        for (int32_t i = 0; i < g->nx; i++) {
            int64_t flat = i + (int64_t)g->nx * j;
            int32_t v = i % around + around * j;
            g->number[flat] = v;
            if (i == around) continue;
            double angle = TWO_PI * (g->uv[2 * flat] / g->width);
            rest[3 * (int64_t)v] = radius * drape_i_sin(angle);
            rest[3 * (int64_t)v + 1] = g->uv[2 * flat + 1];
            rest[3 * (int64_t)v + 2] = radius * drape_i_cos(angle);
        }
    for (int32_t t = 0; t < g->triangles; t++)
        for (int32_t k = 0; k < 3; k++) triangle[t][k] = g->number[g->triangle[t][k]];
    g->uv_vertices = g->vertices;
    g->uv_triangle = g->triangle;
    g->vertices = around * rows;
    g->rest = rest;
    g->triangle = triangle;
    return DRAPE_OK;
}

/* ---- Along a curve ---- */

enum { SAMPLES = 64 }; /* between two points */

static const double LEAST_ACROSS = 0.1; /* sine of the angle between curve and y */

/* The spline of Catmull and Rom; before the first point and after the last it goes on straight. */
static void on_curve(const double *point, int32_t count, int32_t sample, double x[3]) {
    int32_t i = sample / SAMPLES < count - 1 ? sample / SAMPLES : count - 2;
    double t = (double)sample / SAMPLES - i;
    for (int32_t k = 0; k < 3; k++) {
        const double *p = point + 3 * (int64_t)i + k;
        double b = p[0], c = p[3], a = i > 0 ? p[-3] : 2 * b - c, d = i + 2 < count ? p[6] : 2 * c - b;
        x[k] = b + 0.5 * t * ((c - a) + t * ((2 * a - 5 * b + 4 * c - d) + t * (3 * (b - c) + d - a)));
    }
}

/* Points of the curve, 4 doubles each, the last of which is the length up to it. */
static double *sample_curve(drape_context *ctx, drape_i_arena *arena, const double *point, int32_t count) {
    int32_t samples = (count - 1) * SAMPLES + 1;
    double *x = drape_i_arena_get(ctx, arena, 4 * (int64_t)samples, sizeof *x);
    for (int32_t s = 0; x && s < samples; s++) {
        double *now = x + 4 * (int64_t)s, square = 0;
        on_curve(point, count, s, now);
        for (int32_t k = 0; k < 3 && s > 0; k++) square += (now[k] - now[k - 4]) * (now[k] - now[k - 4]);
        now[3] = s > 0 ? now[-1] + sqrt(square) : 0;
    }
    return x;
}

/* The unit vector across the curve that is nearest to y; false where the curve runs along y. */
static bool find_across(const double *from, const double *to, double across[3]) {
    double length = to[3] - from[3], sum = 0, t[3];
    for (int32_t k = 0; k < 3; k++) t[k] = length > 0 ? (to[k] - from[k]) / length : 0;
    for (int32_t k = 0; k < 3; k++) {
        across[k] = (k == 1) - t[1] * t[k];
        sum += across[k] * across[k];
    }
    for (int32_t k = 0; k < 3; k++) across[k] /= sqrt(sum);
    return length > 0 && sum > LEAST_ACROSS * LEAST_ACROSS;
}

drape_status drape_i_grid_bend(drape_context *ctx, drape_i_arena *arena, drape_i_grid *g, const double *point,
                               int32_t count) {
    int32_t samples = (count - 1) * SAMPLES + 1;
    double *x = sample_curve(ctx, arena, point, count);
    if (!x) return DRAPE_ERROR_MEMORY;
    double length = x[4 * (int64_t)(samples - 1) + 3], scale = g->width / length;
    if (!isfinite(length) || !isfinite(scale))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "the curve is %g m long; make it longer", length);
    for (int32_t v = 0; v < g->vertices; v++) {
        double at = (g->uv[2 * (int64_t)v] / g->width + 0.5) * length, across[3];
        int32_t low = 0, high = samples - 1;
        while (high - low > 1) {
            int32_t middle = low + (high - low) / 2;
            if (x[4 * (int64_t)middle + 3] <= at) low = middle;
            else high = middle;
        }
        const double *from = x + 4 * (int64_t)low, *to = from + 4;
        if (!find_across(from, to, across))
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                                "near (%g, %g, %g) the curve runs along y, the direction of the height; give it in "
                                "another plane, and turn the piece with place",
                                from[0], from[1], from[2]);
        double share = (at - from[3]) / (to[3] - from[3]);
        for (int32_t k = 0; k < 3; k++)
            g->rest[3 * (int64_t)v + k] =
                scale * (from[k] + share * (to[k] - from[k])) + g->uv[2 * (int64_t)v + 1] * across[k];
    }
    return DRAPE_OK;
}
