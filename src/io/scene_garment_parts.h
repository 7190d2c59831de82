/* scene_garment_parts.h: what the files that make a garment know of it: panels, paths, patches, buttons and bands.
 * Readers note a problem where they return false. */
#ifndef DRAPE_IO_SCENE_GARMENT_PARTS_H
#define DRAPE_IO_SCENE_GARMENT_PARTS_H

#include "io/mesh_sew.h"
#include "io/scene_garment.h"

typedef struct garment_panel {
    const drape_i_node *node;
    const drape_i_mesh *mesh;
    const drape_i_grid *grid; /* NULL: a file */
    drape_material material;
    bool has_material;
} garment_panel;

/* An edge of a path, in the pattern (or in space, if there is none), with its triangle in the files. */
typedef struct segment {
    double a[3], b[3];
    int32_t triangle;
} segment;

typedef struct band_path {
    int32_t count;
    segment *segment;
} band_path;

enum { PATCH_PATHS = 4 };

/* A panel that is sewn onto another. */
typedef struct patch {
    const drape_i_node *node;
    drape_i_laying how;
    int32_t index, paths; /* of the seam */
    drape_i_path path[PATCH_PATHS];
    double height; /* m: how far above the panel below it starts; 0: the thickness */
    bool back;     /* on the side of the panel below from which its normals point away */
} patch;

/* Two places of panels, in their patterns. */
typedef struct button {
    const drape_i_node *node;
    int32_t panel[2];
    double at[2][2], soft, close;
} button;

struct drape_i_garment {
    int32_t panels;
    garment_panel *panel;
    const char **name; /* NULL where a mesh is the only panel */
    int32_t *first;    /* vertices; panels + 1 of them */
    int32_t *island;   /* of each of the files' triangles: its connected part of the pattern */
    int32_t bands;
    band_path *band;
    int32_t drawn; /* vertices that are drawn together */
    const drape_i_drawn *pair;
    int32_t patches; /* panels that are sewn onto others, in the order of the scene */
    struct patch *patch;
    int32_t buttons;
    struct button *button;
};

/* What the readers of `seams:`, `bands:` and `buttons:` work on. */
typedef struct garment_reader {
    reader_t *r;
    drape_i_garment *g;
    drape_i_mesh *mesh;
    drape_i_sewing *sewing;
} garment_reader;

/* ---- scene_panels.c ---- */

drape_i_garment *drape_i_make_garment(reader_t *r, int32_t panels);
/* The list of a key of a piece, of at most `most` entries; NULL: there is none, or a problem. */
const drape_i_node *drape_i_find_garment_list(reader_t *r, const drape_i_node *piece, const char *key, int32_t most);
/* The group that a panel is. The groups of its file follow it. */
const drape_i_mesh_group *drape_i_panel_group(const drape_i_garment *g, const drape_i_mesh *m, int32_t panel);

/* ---- scene_paths.c ---- */

/* Notes a status as a problem of the what (such as seam) of this index; always false. */
bool drape_i_garment_failed(const garment_reader *t, const drape_i_node *node, drape_status status, const char *what,
                            int32_t index);
/* The panel that a path lies on, or a point; -1 after a problem. */
int32_t drape_i_read_panel_name(const garment_reader *t, const drape_i_node *map);
bool drape_i_take_edge(const garment_reader *t, const drape_i_node *map, const char *edge, int32_t panel,
                       drape_i_path *out);
bool drape_i_read_path(const garment_reader *t, const drape_i_node *map, const char *what, int32_t index,
                       drape_i_path *out);
/* Two numbers with the unit of lengths. */
bool drape_i_read_pattern_point(const garment_reader *t, const drape_i_node *map, const char *key, double out[2]);

/* ---- scene_patches.c ---- */

bool drape_i_read_patch(const garment_reader *t, const drape_i_node *node, int32_t index, patch *out);
bool drape_i_sew_patch(const garment_reader *t, const patch *p);
/* Panels that are sewn onto others go there: the vertices of their seams exactly. list: the stitches of all seams. */
bool drape_i_lay_patches(reader_t *r, const drape_i_garment *g, drape_i_mesh *m, double thickness, int32_t first,
                         const drape_stitch *list, int32_t count);

/* ---- scene_buttons.c ---- */

bool drape_i_read_buttons(const garment_reader *t, const drape_i_node *list);
/* Their stitches go to the end of the list. */
bool drape_i_sew_buttons(reader_t *r, const drape_i_garment *g, const drape_i_mesh *m, int32_t first,
                         drape_stitch *list, int32_t *count);

/* ---- scene_bands.c ---- */

/* The paths of bands, on the boundaries of the files. */
bool drape_i_lay_bands(garment_reader *t, const drape_i_node *list);

/* ---- scene_garment.c ---- */

/* Vertices a and b of the mesh, whose vertices are numbered from first on; none if they are the same. */
void drape_i_add_stitch(drape_stitch *out, int32_t *count, int32_t first, int32_t a, int32_t b, double close);

#endif
