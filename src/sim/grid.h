/* grid.h: regular grids of right triangles, the diagonals all one way or as on a chessboard. */
#ifndef DRAPE_SIM_GRID_H
#define DRAPE_SIM_GRID_H

#include "base/arena.h"
#include "drape/cloth.h"

/* A rectangle of nx x ny vertices in the plane z = 0, width along x (material u), height along y (material v), its
 * centre at the origin. With cut_x < nx - 1 the cells whose lower corner is at or beyond (cut_x, cut_y) are left
 * out, and so are the vertices that only they would have. number[i + nx j] is a vertex's number, -1 where
 * there is none. */
typedef struct drape_i_grid {
    int32_t nx, ny, cut_x, cut_y;
    double width, height; /* m */
    bool alternating;     /* diagonals turn from cell to cell; else all go from lower left to upper right */
    int32_t vertices, triangles;
    int32_t *number;   /* nx ny */
    double *rest, *uv; /* 3 and 2 a vertex */
    int32_t (*triangle)[3];
} drape_i_grid;

/* A whole rectangle: cut_x = nx - 1, cut_y = ny - 1. The arrays come from the arena. */
drape_status drape_i_grid_make(drape_context *ctx, drape_i_arena *arena, drape_i_grid *grid);

#endif
