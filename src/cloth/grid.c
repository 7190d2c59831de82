/* grid.c: regular grids. Vertices and cells run row by row; both triangles of a cell follow each other. */
#include "cloth/grid.h"

static bool has_cell(const drape_i_grid *g, int32_t i, int32_t j) {
    return i >= 0 && j >= 0 && i < g->nx - 1 && j < g->ny - 1 && (i < g->cut_x || j < g->cut_y);
}

static bool has_vertex(const drape_i_grid *g, int32_t i, int32_t j) {
    return has_cell(g, i, j) || has_cell(g, i - 1, j) || has_cell(g, i, j - 1) || has_cell(g, i - 1, j - 1);
}

static void fill(drape_i_grid *g) {
    int32_t v = 0, t = 0;
    for (int32_t j = 0; j < g->ny; j++)
        for (int32_t i = 0; i < g->nx; i++) {
            g->number[i + (int64_t)g->nx * j] = -1;
            if (!has_vertex(g, i, j)) continue;
            double x = g->width * ((double)i / (g->nx - 1) - 0.5), y = g->height * ((double)j / (g->ny - 1) - 0.5);
            g->rest[3 * (int64_t)v] = g->uv[2 * (int64_t)v] = x;
            g->rest[3 * (int64_t)v + 1] = g->uv[2 * (int64_t)v + 1] = y;
            g->number[i + (int64_t)g->nx * j] = v++;
        }
    for (int32_t j = 0; j + 1 < g->ny; j++)
        for (int32_t i = 0; i + 1 < g->nx; i++) {
            if (!has_cell(g, i, j)) continue;
            const int32_t *low = g->number + i + (int64_t)g->nx * j, *high = low + g->nx;
            int32_t a = low[0], b = low[1], c = high[1], d = high[0];
            if (g->alternating && (i + j) % 2) {
                g->triangle[t][0] = a, g->triangle[t][1] = b, g->triangle[t++][2] = d;
                g->triangle[t][0] = b, g->triangle[t][1] = c, g->triangle[t++][2] = d;
            } else {
                g->triangle[t][0] = a, g->triangle[t][1] = b, g->triangle[t++][2] = c;
                g->triangle[t][0] = a, g->triangle[t][1] = c, g->triangle[t++][2] = d;
            }
        }
}

drape_status drape_i_grid_make(drape_context *ctx, drape_i_arena *arena, drape_i_grid *g) {
    g->vertices = g->triangles = 0;
    for (int32_t j = 0; j < g->ny; j++)
        for (int32_t i = 0; i < g->nx; i++) {
            g->vertices += has_vertex(g, i, j);
            g->triangles += 2 * has_cell(g, i, j);
        }
    g->number = drape_i_arena_get(ctx, arena, (int64_t)g->nx * g->ny, sizeof *g->number);
    g->rest = drape_i_arena_get(ctx, arena, 3 * (int64_t)g->vertices, sizeof *g->rest);
    g->uv = drape_i_arena_get(ctx, arena, 2 * (int64_t)g->vertices, sizeof *g->uv);
    g->triangle = drape_i_arena_get(ctx, arena, g->triangles, sizeof *g->triangle);
    if (!g->number || !g->rest || !g->uv || !g->triangle) return DRAPE_ERROR_MEMORY;
    fill(g);
    return DRAPE_OK;
}
