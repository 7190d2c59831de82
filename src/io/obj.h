/* obj.h: one mesh as Wavefront OBJ beside the file of a point cache, which holds none. */
#ifndef DRAPE_IO_OBJ_H
#define DRAPE_IO_OBJ_H

#include "base/file.h"
#include "drape/cloth.h"

/* sheet.pc2 -> sheet_rest.obj, the mesh that a point cache moves; it is empty yet. */
drape_status drape_i_rest_mesh_create(drape_context *ctx, const char *path, const char *extension, drape_i_file *out);
/* Writes the vertices as they stand in the first frame. Without normals, which programs would keep while the cache
 * moves the mesh. */
drape_status drape_i_rest_mesh_write(drape_context *ctx, drape_i_file *file, const drape_cloth *cloth,
                                     const drape_piece *pieces, const double *x);

#endif
