/* scene_garment.h: pieces with a mesh: `panels:`, `seams:`, `buttons:` and `bands:`. docs/garments.md is about them.
 */
#ifndef DRAPE_IO_SCENE_GARMENT_H
#define DRAPE_IO_SCENE_GARMENT_H

#include "io/mesh.h"
#include "io/scene_reader.h"

/* A mesh of a file, in metres and the axes of the scene file. */
typedef struct drape_i_mesh_source {
    drape_i_mesh *mesh;
    const char *file; /* NULL: panels */
    bool use_uv;
    double uv_unit;          /* m: of 1 in the texture coordinates */
    bool good;               /* it was read without a problem for the listener */
    drape_i_mesh_part *part; /* NULL: all of the mesh was read */
} drape_i_mesh_source;

/* What is known of the panels of a piece until it is done. */
typedef struct drape_i_garment drape_i_garment;

/* ---- scene_cloth.c ---- */

/* A grid, without its place; false after a problem. */
bool drape_i_read_grid(reader_t *r, const drape_i_node *node, drape_piece *piece, drape_i_shape *shape);
/* The file of `node`, by the keys unit, up, uv and uv_scale of the map; false after a problem. choice: what of it is
 * read if it can be divided; NULL: all. */
bool drape_i_read_mesh_file(reader_t *r, const drape_i_node *map, const drape_i_node *node,
                            const drape_i_mesh_choice *choice, drape_i_mesh_source *out);

/* ---- Each false after a problem ---- */

/* scene_panels.c: `panels:` as one mesh, not sewn yet; each panel becomes a group. */
bool drape_i_read_panels(reader_t *r, const drape_i_node *piece, drape_i_mesh_source *out, drape_i_garment **garment);
/* scene_garment.c: `seams:`, `buttons:`, and the paths of `bands:`. *garment may be NULL: a mesh of one file. */
bool drape_i_sew_garment(reader_t *r, const drape_i_node *piece, drape_i_mesh_source *source,
                         drape_i_garment **garment);
/* The stitches of seams that are not welded, and of buttons, on the mesh as it is in the end; first: its first vertex
 * among all. Panels that are sewn onto others are laid on them, at the thickness, m, or the height that they have. */
bool drape_i_stitch_garment(reader_t *r, const drape_i_garment *garment, drape_i_mesh *mesh, int32_t first,
                            double thickness);
/* scene_bands.c: `bands:` and materials of panels, on the mesh as it is in the end. */
bool drape_i_read_bands(reader_t *r, const drape_i_node *piece, drape_i_mesh_source *source,
                        const drape_i_garment *garment, drape_piece *out);

#endif
