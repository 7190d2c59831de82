/* ply_reader.h: rows of PLY files, for the reader of all of one (ply_read.c) and of parts (ply_part.c). */
#ifndef DRAPE_IO_PLY_READER_H
#define DRAPE_IO_PLY_READER_H

#include "io/mesh.h"
#include "io/ply_header.h"

/* What a property is to us. */
typedef enum drape_i_ply_role {
    DRAPE_I_PLY_PASSED_OVER,
    DRAPE_I_PLY_X,
    DRAPE_I_PLY_Y,
    DRAPE_I_PLY_Z,
    DRAPE_I_PLY_U,
    DRAPE_I_PLY_V,
    DRAPE_I_PLY_CORNERS,
    DRAPE_I_PLY_CORNER_UV
} drape_i_ply_role;

enum { DRAPE_I_PLY_NUMBERS = DRAPE_I_PLY_V + 1, DRAPE_I_PLY_MOST_UV = 2 * DRAPE_I_POLYGON_MOST };

typedef struct drape_i_ply_reader {
    drape_context *ctx;
    const char *name;
    const drape_i_mesh_listener *listener; /* or NULL */
    const char *data, *at, *end;
    drape_i_ply_header *header;
    int64_t line; /* of an ascii file, where `at` is */

    const drape_i_ply_element *element; /* the current one, its row, the roles of its properties */
    int64_t row;
    drape_i_ply_role roles[DRAPE_I_PLY_MOST];

    double number[DRAPE_I_PLY_NUMBERS]; /* of the current row, by role */
    int32_t corners, uv_numbers;
    const char *corners_at, *corners_end; /* in the data */
    double corner[DRAPE_I_POLYGON_MOST], corner_uv[DRAPE_I_PLY_MOST_UV];

    const drape_i_ply_element *vertex, *face;
    const char *vertex_at, *face_at; /* where they begin */
    int64_t vertex_line, face_line;
    int64_t triangles, all_corners; /* of all faces */
    bool vertex_uv, face_uv;
    drape_i_mesh *mesh;
    drape_i_mesh_face *polygon;
} drape_i_ply_reader;

/* Vertices and faces, and what their properties are: roles of the faces first. */
drape_status drape_i_ply_find_elements(drape_i_ply_reader *r);
drape_status drape_i_ply_face_roles(drape_i_ply_reader *r);
drape_status drape_i_ply_vertex_roles(drape_i_ply_reader *r);
/* The next row of r->element. */
drape_status drape_i_ply_row(drape_i_ply_reader *r);
/* In an ascii file: passes over what is between rows. */
void drape_i_ply_begin_row(drape_i_ply_reader *r);

#endif
