/* sewing.h: what mesh_sew.c and mesh_onto.c share: a mesh whose boundary is known, and edges of it that are divided.
 */
#ifndef DRAPE_IO_SEWING_H
#define DRAPE_IO_SEWING_H

#include "io/mesh_sew.h"

/* An edge of one triangle. */
typedef struct drape_i_border {
    int32_t low, high;
    int32_t triangle; /* -1: it was divided, and is no edge any more */
    int32_t seam;     /* that took it; 0: none */
} drape_i_border;

struct drape_i_sewing {
    drape_context *ctx;
    drape_i_arena *arena, scratch;
    drape_i_mesh *mesh;
    int32_t panels;
    const char *const *panel_name;
    const int32_t *panel_first;
    int32_t named;          /* vertices of the files */
    drape_i_border *border; /* sorted; those that dividing made are behind `sorted` */
    int32_t borders, sorted, border_room;
    int32_t (*beside)[2]; /* the neighbours of a vertex along the boundary; -1: none, -2: more than two */
    int32_t *parent;      /* of a vertex among those that it is welded with */
    int32_t vertex_room, triangle_room, uv_room;
    drape_i_drawn *drawn;
    int32_t drawn_count, drawn_room;
    int32_t *cut_from; /* the triangle of the files that each one was cut from */
    int32_t *panel_of; /* of the triangles of the files */
    int32_t was_triangles;
};

/* A path with the share of its length at each vertex, with room for what the other one adds. */
typedef struct drape_i_line {
    int32_t count, *vertex;
    double *at;
    double length;
} drape_i_line;

/* Room for one more; false: no memory. */
bool drape_i_sew_reserve_vertex(drape_i_sewing *s);
bool drape_i_sew_reserve_uv(drape_i_sewing *s);
bool drape_i_sew_reserve_triangle(drape_i_sewing *s);

/* NULL: the edge is not on the boundary. */
drape_i_border *drape_i_sew_border(const drape_i_sewing *s, int32_t a, int32_t b);
/* Which corner of the triangle the vertex is. */
int32_t drape_i_sew_corner(const int32_t *triangle, int32_t vertex);
/* Puts a vertex on the boundary edge from a to b at this share of it; -1: no memory. The triangle (a, b, c) keeps
 * (a, new, c); a new one is (new, b, c). */
int32_t drape_i_sew_divide(drape_i_sewing *s, int32_t a, int32_t b, double share);

/* Of a path along the boundary; room: for how many vertices. */
bool drape_i_sew_line(drape_i_sewing *s, const drape_i_path *path, int32_t room, drape_i_line *out);
/* A new vertex before vertex `before` of the line, at this share of its length. */
bool drape_i_sew_insert(drape_i_sewing *s, drape_i_line *l, int32_t before, double at);
/* Moves vertex i along its path to this share of its length, so that the cloth on both sides of a seam stays as long
 * as it is. Where the path bends, or its pattern is cut, the vertex stays. */
void drape_i_sew_slide(drape_i_sewing *s, drape_i_line *l, int32_t i, double at);
bool drape_i_sew_draw(drape_i_sewing *s, drape_i_drawn pair);
/* The edges of the path belong to this seam from now on. DRAPE_ERROR_ARGUMENT: they belong to one. */
drape_status drape_i_sew_claim(drape_i_sewing *s, const drape_i_path *path, int32_t seam);

#endif
