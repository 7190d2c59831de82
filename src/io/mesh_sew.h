/* mesh_sew.h: panels of a garment become one mesh: paths along their boundaries are welded together, two by two.
 *
 * The pattern stays as it is: a welded vertex is several points of it, one per panel, and hinges hold the panels
 * together. Paths are lists of vertices as the files have them. Where two paths have vertices at different places,
 * each gets what the other has: boundary edges are divided there, and the triangles after them. */
#ifndef DRAPE_IO_MESH_SEW_H
#define DRAPE_IO_MESH_SEW_H

#include "io/mesh.h"

/* Vertices of the boundary, one after the other; the first and the last may be one. */
typedef struct drape_i_path {
    int32_t count; /* >= 2 */
    int32_t *vertex;
    bool ordered; /* the scene says where it begins; false: the end that fits the other path */
} drape_i_path;

typedef struct drape_i_seam {
    drape_i_path path[2];
    double gap;    /* m: how far apart what is welded may start */
    double ease;   /* > 1: how many times the shorter path the longer may be, in the pattern */
    bool gather;   /* any ratio will do */
    double close;  /* s: it is not welded but drawn together in this time; 0: welded */
    int32_t index; /* in the scene, for messages */
} drape_i_seam;

/* Two vertices that are drawn together. */
typedef struct drape_i_drawn {
    int32_t a, b;
    double close; /* s */
    bool begins;  /* a seam begins here; false: an edge leads here from the one before, on both sides */
    bool known;   /* another pair is of the same two vertices */
} drape_i_drawn;

/* How a panel lies on another one, in their patterns: p of the upper one is at turn (p - middle) + at of the lower.
 */
typedef struct drape_i_laying {
    int32_t upper, lower; /* panels */
    double turn[4];       /* by rows */
    double middle[2], at[2];
} drape_i_laying;

/* A path of a panel that is sewn onto another. */
typedef struct drape_i_patch {
    drape_i_path path;
    drape_i_laying how;
    int32_t index; /* of the seam, for messages */
} drape_i_patch;

/* A mesh under the needle. */
typedef struct drape_i_sewing drape_i_sewing;

/* The mesh must outlive it. Panels: names and first vertices, panel_first[panels] is the end; a mesh that is one
 * panel has the name NULL. DRAPE_ERROR_ARGUMENT: an edge of three triangles. */
drape_status drape_i_sewing_begin(drape_context *ctx, drape_i_arena *arena, drape_i_mesh *mesh, int32_t panels,
                                  const char *const *panel_name, const int32_t *panel_first, drape_i_sewing **out);
int32_t drape_i_sewing_boundary_edges(const drape_i_sewing *s);
bool drape_i_sewing_on_boundary(const drape_i_sewing *s, int32_t vertex);
/* "vertex 12 of panel front". */
const char *drape_i_sewing_vertex(const drape_i_sewing *s, int32_t vertex, char *text, size_t size);
/* The path along the boundary over these vertices (count >= 2), the shorter way between two that follow each other,
 * but no edge twice. DRAPE_ERROR_ARGUMENT: a vertex is not on the boundary, or there is no way. */
drape_status drape_i_sewing_walk(drape_i_sewing *s, int32_t count, const int32_t *over, drape_i_path *out);
/* The path of all boundary edges with both ends in the list. DRAPE_ERROR_ARGUMENT: they are not one path. */
drape_status drape_i_sewing_collect(drape_i_sewing *s, int32_t count, const int32_t *vertex, drape_i_path *out);
/* Length in the pattern. */
double drape_i_sewing_length(const drape_i_sewing *s, const drape_i_path *path);
/* Welds the paths. DRAPE_ERROR_ARGUMENT, with a message that names panels and vertices: lengths differ too much, or
 * ends are too far apart. The same where paths run against each other, or share an edge with another seam. */
drape_status drape_i_sewing_weld(drape_i_sewing *s, const drape_i_seam *seam);
/* Divides the panel below so that the path is a row of its edges. Joins the path with it, vertex by vertex: the pairs
 * are drawn together in no time. O(edges of the path times triangles). DRAPE_ERROR_ARGUMENT: the path leaves the
 * panel below, or its edges belong to other seams. mesh_onto.c */
drape_status drape_i_sewing_onto(drape_i_sewing *s, const drape_i_patch *patch);
/* After all paths of a panel: no edge of it but those of its seams has both ends on the panel below. */
drape_status drape_i_sewing_lift(drape_i_sewing *s, const drape_i_laying *how);
/* How many triangles a panel of the files has now. */
int32_t drape_i_sewing_triangles(const drape_i_sewing *s, int32_t panel);
/* The mesh as it is afterwards: of_file says where its vertices went. DRAPE_ERROR_ARGUMENT: a triangle or an edge was
 * sewn to itself, or an edge has three triangles: seams cross. */
drape_status drape_i_sewing_end(drape_i_sewing *s);

/* What is to be drawn together, after the end; lives as long as the arena. Returns how many. */
int32_t drape_i_sewing_drawn(const drape_i_sewing *s, const drape_i_drawn **out);

/* Lays the triangles of one group over those of another, this high above them (below them: less than 0), by their
 * patterns. mesh_lay.c */
drape_status drape_i_mesh_lay(drape_context *ctx, drape_i_mesh *mesh, const drape_i_mesh_group *upper,
                              const drape_i_mesh_group *lower, const drape_i_laying *how, double height);

/* A triangle of the pattern that lies on the other side of an edge than its neighbour should: the pattern is folded
 * over there. *other gets the neighbour; -1: there is none. */
drape_status drape_i_mesh_find_fold(drape_context *ctx, const drape_i_mesh *mesh, int32_t *triangle, int32_t *other);

#endif
