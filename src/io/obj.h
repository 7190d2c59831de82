/* obj.h: one mesh as Wavefront OBJ, for the formats that want one beside their own file. */
#ifndef DRAPE_IO_OBJ_H
#define DRAPE_IO_OBJ_H

#include "base/file.h"
#include "drape/cloth.h"

typedef struct drape_i_obj_mesh {
    const drape_cloth *cloth;
    const drape_piece *pieces; /* for texture coordinates, or NULL */
    const double *x;           /* 3 a vertex */
    const double *normal;      /* 3 a vertex, or NULL: none are written */
    int64_t frame;
    bool as_one; /* all pieces in one object, for what counts vertices over all of them; else an object a piece */
} drape_i_obj_mesh;

drape_status drape_i_obj_write(drape_context *ctx, drape_i_file *file, const drape_i_obj_mesh *mesh);

/* sheet.pc2 -> sheet_rest.obj, the mesh that a point cache moves; it is empty yet. */
drape_status drape_i_rest_mesh_create(drape_context *ctx, const char *path, const char *extension, drape_i_file *out);
/* Writes the vertices as they stand in the first frame. Without normals, which programs would keep while the cache
 * moves the mesh. */
drape_status drape_i_rest_mesh_write(drape_context *ctx, drape_i_file *file, const drape_cloth *cloth,
                                     const drape_piece *pieces, const double *x);

#endif
