/* mesh.h: triangles as they stand in a file, before they are cloth. */
#ifndef DRAPE_IO_MESH_H
#define DRAPE_IO_MESH_H

#include "base/arena.h"

/* A named set of triangles, by their vertices. */
typedef struct drape_i_mesh_group {
    const char *name;
    int32_t vertices;
    const int32_t *vertex; /* ascending, each once */
} drape_i_mesh_group;

typedef struct drape_i_mesh {
    int32_t vertices;
    double *position; /* 3 a vertex, in the file's own units and axes */
    int32_t triangles;
    int32_t (*triangle)[3];
    int32_t uv_vertices;       /* 0 without uv */
    double *uv;                /* 2 each; NULL: not every triangle has its corners in material space */
    int32_t (*uv_triangle)[3]; /* into uv; NULL without */
    int32_t uv_missing;        /* triangles without such corners, in a file that has material-space vertices */
    int32_t groups;            /* in the order of the file */
    drape_i_mesh_group *group;
    int32_t unreferenced;       /* vertices of no triangle */
    int32_t first_unreferenced; /* the lowest of them; -1: there is none */
} drape_i_mesh;

/* Reads a Wavefront OBJ file; what it understands is said in obj_read.c. All memory is the arena's, also what was
 * taken before a failure; *out is then empty. Messages are "path:line: what". What is odd but no error goes to the
 * log. DRAPE_ERROR_FORMAT also where there is no face at all. */
drape_status drape_i_obj_read(drape_context *ctx, drape_i_arena *arena, const char *path, drape_i_mesh *out);
/* The same of a file in memory; name stands in messages. The data need not end in a zero. */
drape_status drape_i_obj_parse(drape_context *ctx, drape_i_arena *arena, const char *name, const char *data,
                               int64_t size, drape_i_mesh *out);

#endif
