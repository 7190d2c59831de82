/* mesh.h: triangles as in a file, before they are cloth. */
#ifndef DRAPE_IO_MESH_H
#define DRAPE_IO_MESH_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* A named set of triangles, by their vertices. */
typedef struct drape_i_mesh_group {
    const char *name;
    int32_t vertices;
    const int32_t *vertex; /* ascending, each once */
    int32_t triangles;
    const int32_t *triangle; /* in the order of the file */
} drape_i_mesh_group;

/* Of what a vertex of a refined mesh was made: one corner, two or three of a triangle of the mesh before. */
typedef struct drape_i_mesh_origin {
    int32_t vertex[3]; /* -1: no more of them */
    double weight[3];  /* they add up to 1 */
} drape_i_mesh_origin;

typedef struct drape_i_mesh {
    int32_t vertices;
    double *position; /* 3 per vertex, in the file's own units and axes */
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
    /* Where the mesh is not as it is in the file: */
    int32_t file_vertices;       /* 0: as many as there are */
    const int32_t *of_file;      /* the vertex that each of the file's became; NULL: itself */
    const int32_t *cut_from;     /* the file's triangle that each one before refining is a part of; NULL: itself */
    int32_t parts;               /* of every edge; 0: it was not refined */
    int32_t unrefined;           /* vertices before it was refined, which come first; 0: it was not */
    drape_i_mesh_origin *origin; /* one per vertex; NULL: it was not refined */
} drape_i_mesh;

/* Gets every problem of a file, where reading would otherwise stop at the first. What cannot be read is then left out
 * of the mesh: a face as a whole, a triangle with a vertex twice; the numbers of a vertex become NaN. */
typedef struct drape_i_mesh_listener {
    /* line: from 1, 0 in a binary file; code: a word of docs/doctor.md; what: without name and line */
    void (*problem)(void *user, int64_t line, const char *code, const char *what);
    void *user;
} drape_i_mesh_listener;

/* Reads a mesh file: PLY where it begins as one or its name ends in .ply, else Wavefront OBJ. What is understood is
 * said in ply_read.c and obj_read.c. All memory is the arena's, also what was taken before a failure; *out is then
 * empty. Messages are "path:line: what", or "path: face 12: what" in binary files. What is odd but no error goes to
 * the log. DRAPE_ERROR_FORMAT also where there is no face at all. With a listener (or NULL) it continues if it can;
 * where it cannot it fails without telling the listener. */
drape_status drape_i_mesh_read(drape_context *ctx, drape_i_arena *arena, const char *path,
                               const drape_i_mesh_listener *listener, drape_i_mesh *out);

/* Whether a file that begins so is PLY. */
bool drape_i_mesh_is_ply(const char *path, const char *data, int64_t size);
/* The same of a file in memory of one format; name is for messages. The data need not end in a zero. */
drape_status drape_i_obj_parse(drape_context *ctx, drape_i_arena *arena, const char *name, const char *data,
                               int64_t size, const drape_i_mesh_listener *listener, drape_i_mesh *out);
drape_status drape_i_ply_parse(drape_context *ctx, drape_i_arena *arena, const char *name, const char *data,
                               int64_t size, const drape_i_mesh_listener *listener, drape_i_mesh *out);

/* ---- mesh_refine.c ---- */

/* Divides every edge into `parts` >= 1 equal ones and every triangle into parts^2. The vertices there are keep their
 * numbers; new ones lie on the old triangles, so that the surface stays the same set of points. Pattern and groups
 * follow. DRAPE_ERROR_ARGUMENT: there would be more than `most` vertices. */
drape_status drape_i_mesh_refine(drape_context *ctx, drape_i_arena *arena, int32_t parts, int64_t most,
                                 drape_i_mesh *mesh);
/* Of a refined mesh: the vertex `step` parts (1..parts - 1) from a on the old edge from a to b. */
int32_t drape_i_mesh_on_edge(const drape_i_mesh *mesh, int32_t a, int32_t b, int32_t step);
/* The mean length of its edges, in the pattern where there is one. */
double drape_i_mesh_mean_edge(const drape_i_mesh *mesh);
/* The vertex that number `v` of the file has become. */
static inline int32_t drape_i_mesh_of_file(const drape_i_mesh *mesh, int32_t v) {
    return mesh->of_file ? mesh->of_file[v] : v;
}

/* ---- what the readers share ---- */

enum { DRAPE_I_POLYGON_MOST = 1000 }; /* corners: the cost grows with their square */

/* A polygon in space, to be cut into triangles. */
typedef struct drape_i_polygon {
    int32_t corners; /* 3..DRAPE_I_POLYGON_MOST */
    double x[DRAPE_I_POLYGON_MOST][3];
    int32_t triangle[DRAPE_I_POLYGON_MOST - 2][3]; /* out: corners - 2 of them, wound as the polygon is, each
                                                      from its lowest corner */

    double flat[DRAPE_I_POLYGON_MOST][2]; /* scratch, as all below: the corners in their plane, counter-clockwise */
    int32_t next[DRAPE_I_POLYGON_MOST], previous[DRAPE_I_POLYGON_MOST];
    bool ear[DRAPE_I_POLYGON_MOST];
    double diagonal[DRAPE_I_POLYGON_MOST]; /* squared distance of the neighbours */
} drape_i_polygon;

/* Fills triangle from corners and x. A quad is cut along the shorter of the diagonals that lie inside, the one from
 * its first corner where they are equal. A polygon that crosses itself is cut in some way. */
void drape_i_polygon_cut(drape_i_polygon *p);

/* A polygon of a file, its corners counted from 0. */
typedef struct drape_i_mesh_face {
    int32_t corners; /* 3..DRAPE_I_POLYGON_MOST */
    int32_t vertex[DRAPE_I_POLYGON_MOST], uv[DRAPE_I_POLYGON_MOST];
    bool no_uv;   /* a corner has none, in a file that has material-space vertices */
    int64_t work; /* squares of the corners so far, which is what cutting takes */
    drape_i_polygon polygon;
} drape_i_mesh_face;

/* Whether the face may be cut in a file of so many bytes: faces of up to 80 corners always, and some 200 of the
 * largest. So reading takes time in proportion to the file. */
bool drape_i_mesh_may_cut(drape_i_mesh_face *face, int64_t file_size);
#define DRAPE_I_TOO_MUCH_TO_CUT "too many faces with very many corners; divide them, or export triangles"

/* Cuts the face and puts its triangles after the first *triangles of the mesh, where there is room for them, except
 * for those with a vertex twice. Returns the vertex that is twice in the first of these, or -1. */
int32_t drape_i_mesh_add_face(drape_i_mesh *mesh, drape_i_mesh_face *face, int64_t *triangles);

/* A group's name that held over the triangles [first, end). */
typedef struct drape_i_group_run {
    const char *name; /* of `length` bytes, without a final zero */
    int64_t length;
    int64_t order; /* place among all runs: groups are in the order in which their names first appear */
    int32_t first, end;
} drape_i_group_run;

/* Fills mesh->groups and mesh->group; the triangles must be there. Sorts the runs. O(n log n) in their number and the
 * vertices under them. */
drape_status drape_i_groups_build(drape_context *ctx, drape_i_arena *arena, drape_i_arena *scratch, int64_t runs,
                                  drape_i_group_run *run, drape_i_mesh *mesh);

/* What is known only when all is read: vertices of no triangle, and uv that is not complete, which goes with a
 * warning. */
drape_status drape_i_mesh_finish(drape_context *ctx, drape_i_arena *scratch, const char *name, drape_i_mesh *mesh);
/* The message of the context without its beginning. */
const char *drape_i_mesh_what(drape_context *ctx, const char *name, int64_t line);

#endif
