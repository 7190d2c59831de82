/* grid.h: meshes of flat pieces: regular grids of right triangles, with diagonals in one direction or alternating,
 * and irregular triangulations made from regular ones. */
#ifndef DRAPE_CLOTH_GRID_H
#define DRAPE_CLOTH_GRID_H

#include "base/arena.h"
#include "drape/cloth.h"

/* ---- grid.c ---- */

/* The vertices of columns from[0] to to[0] - 1, rows from[1] to to[1] - 1, and the cells between them. */
typedef struct drape_i_window {
    int32_t from[2], to[2];
} drape_i_window;

/* A rectangle of nx x ny vertices in the plane z = 0, width along x (material u), height along y (material v), its
 * centre at the origin. With cut_x < nx - 1 the cells whose lower corner is at or beyond (cut_x, cut_y) are left
 * out, and so are the vertices that only they would have. number[i + nx j] is a vertex's number, -1 where
 * there is none.
 *
 * With `partly` only a window of it is made, in the same order. `number` then has only the columns and rows of the
 * window, and vertices have the numbers that they have in it. */
typedef struct drape_i_grid {
    int32_t nx, ny, cut_x, cut_y;
    double width, height; /* m */
    bool alternating;     /* diagonals turn from cell to cell; else all go from lower left to upper right */
    bool partly;
    drape_i_window window; /* set to all of it unless `partly` */
    bool loose;            /* made without triangles, of which there is room for two per vertex */
    int32_t vertices, triangles;
    int32_t *number;   /* of the window */
    double *rest, *uv; /* 3 and 2 per vertex */
    int32_t (*triangle)[3];
    /* Of a tube: */
    int32_t uv_vertices; /* of the window before it was rolled: uv has that many; 0: no tube */
    int32_t (*uv_triangle)[3];
} drape_i_grid;

/* A whole rectangle: cut_x = nx - 1, cut_y = ny - 1. The arrays come from the arena. */
drape_status drape_i_grid_make(drape_context *ctx, drape_i_arena *arena, drape_i_grid *grid);

/* Where vertex (i, j) is when it is made, and the triangles of a cell, whose corners are `around` it from the lower
 * left one on. */
void drape_i_grid_place(const drape_i_grid *grid, int32_t i, int32_t j, double uv[2]);
void drape_i_grid_cell(const drape_i_grid *grid, int32_t i, int32_t j, const int32_t around[4],
                       int32_t triangle[2][3]);

/* The number of vertex (i, j) in the window, -1 where it is not there. */
int32_t drape_i_grid_vertex(const drape_i_grid *grid, int32_t i, int32_t j);
/* Whether all of the grid has it. */
bool drape_i_grid_has(const drape_i_grid *grid, int32_t i, int32_t j);
/* Its number in all of the grid, made or not, and where a vertex with that number is; `tube`: as it is when rolled
 * up. */
int32_t drape_i_grid_number(const drape_i_grid *grid, bool tube, int32_t i, int32_t j);
void drape_i_grid_find(const drape_i_grid *grid, bool tube, int32_t number, int32_t *i, int32_t *j);
int32_t drape_i_grid_count(const drape_i_grid *grid, bool tube); /* of those numbers */

/* Makes a tube about the y axis of a whole rectangle with nx >= 4 (whatever its triangles): the vertices of the last
 * column are those of the first. A window of it must have whole rows. uv stays what it is, and becomes the pattern
 * that uv_triangle refers to. */
drape_status drape_i_grid_roll(drape_context *ctx, drape_i_arena *arena, drape_i_grid *grid);

/* Lays the middle line of a grid along a smooth curve through `count` >= 2 points (3 doubles each), no two neighbours
 * of which coincide. The curve is scaled to be as long as the grid is wide. Across it the grid stays straight, as
 * near to the y axis as the curve lets it. uv stays. DRAPE_ERROR_ARGUMENT: the curve runs along y somewhere, or is as
 * good as endless. */
drape_status drape_i_grid_bend(drape_context *ctx, drape_i_arena *arena, drape_i_grid *grid, const double *point,
                               int32_t count);

/* ---- irregular.c ---- */

/* Random numbers as a function of anything (splitmix64): all 64 bits, and a double in [-1, 1), which moves the state
 * on. */
uint64_t drape_i_mix(uint64_t z);
double drape_i_random_signed(uint64_t *state);

/* Turns a triangulation of the plane (uv: 2 per vertex; triangles counter-clockwise) in place into an irregular one
 * of the same domain with as many vertices and triangles. Vertices keep their numbers: inner ones move, those on a
 * straight part of the boundary move along it in their order, corners stay. The result is Delaunay, the boundary
 * being kept, and no angle is below 20 degrees or, where the input is worse than that, below the input's smallest.
 * Triangles are ordered by their first corner, which is their lowest vertex. The result follows from the input and
 * the seed to the last bit.
 *
 * DRAPE_ERROR_ARGUMENT: a triangle is clockwise, flat or names no vertex, or an edge has more than two triangles. */
drape_status drape_i_irregular(drape_context *ctx, uint64_t seed, int32_t vertices, double *uv, int32_t triangles,
                               int32_t (*triangle)[3]);

/* The same for a grid, a whole rectangle with nx >= 4, that is to be rolled up. Its first and its last column stay as
 * they are, so that they fit together, and so do the cells beside them except for their inner corners. */
drape_status drape_i_irregular_tube(drape_context *ctx, uint64_t seed, drape_i_grid *grid);
/* The part of a tube that is made irregular, and the triangles on both sides of it, which are added last. */
void drape_i_irregular_inner(const drape_i_grid *tube, drape_i_grid *inner);
void drape_i_irregular_seam(drape_i_grid *tube);

/* ---- irregular_window.c ---- */

/* What making one window of a grid tells about all of it. Begins with zeros. */
typedef struct drape_i_irregular_plan {
    int32_t lag, room;             /* what kept passes apart: rows; half edges to look at */
    int32_t rounds, attempt, base; /* of repair, that changed something; before it; rounds of random numbers so far */
    int32_t reach[2]; /* the most columns and rows between the corners of a triangle, as the vertices are numbered */
    int32_t known;    /* all of that is final */
} drape_i_irregular_plan;

/* Makes a window (`partly` and `loose`) of what the functions above make of all of the grid, bit for bit, or of a
 * tube before it is rolled up. The triangles are those with all corners in the window. Errors are those of the
 * functions above. An empty window says nothing about the plan, which may then be NULL. */
drape_status drape_i_irregular_window(drape_context *ctx, uint64_t seed, bool tube, drape_i_irregular_plan *plan,
                                      drape_i_grid *grid);

#endif
