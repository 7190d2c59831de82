/* meshes.h: rectangles of triangles for tests. */
#ifndef DRAPE_TESTS_MESHES_H
#define DRAPE_TESTS_MESHES_H

#include "drape/force.h"
#include "support/testing.h"

typedef struct test_mesh {
    int32_t vertices, triangles;
    double *rest;      /* 3 per vertex */
    double *uv;        /* 2 per vertex */
    int32_t *triangle; /* 3 per triangle */
} test_mesh;

/* nx x ny cells of two right triangles each on [0, width] x [0, height] in the plane z = 0. All diagonals go from a
 * cell's lower left to its upper right. Vertex (i, j) has the number j (nx + 1) + i, uv = (x, y). */
test_mesh test_mesh_grid(int32_t nx, int32_t ny, double width, double height);

/* The same rectangle with the inner vertices moved by up to a quarter of a cell each way, and the outer ones along
 * their edge. Diagonals go either way; triangles are in no order and have either winding. */
test_mesh test_mesh_irregular(int32_t nx, int32_t ny, double width, double height, test_random *r);

void test_mesh_clear(test_mesh *mesh);

/* Turns uv by an angle, rad: warp no longer along x. */
void test_mesh_turn_uv(test_mesh *mesh, double angle);

/* A view of the mesh as a piece of the default material. */
drape_piece test_mesh_piece(const test_mesh *mesh);

/* A random rotation, row by row. */
void test_random_rotation(test_random *r, double R[9]);
/* to = R x + c for `count` points; to may be x. */
void test_move(int32_t count, const double *x, const double R[9], const double c[3], double *to);

/* A run of an assembler of its own on the cloth, under these forces and no others. A NULL: vectors only; else the
 * caller destroys *A. */
void test_assemble(drape_context *ctx, const drape_cloth *cloth, const drape_forces *forces,
                   const drape_assembly *what, drape_matrix **A);

#endif
