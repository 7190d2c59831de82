/* obj_groups.h: the named groups of an OBJ file. */
#ifndef DRAPE_IO_OBJ_GROUPS_H
#define DRAPE_IO_OBJ_GROUPS_H

#include "io/mesh.h"

/* A name that held over the triangles [first, end). */
typedef struct drape_i_group_run {
    const char *name; /* of `length` bytes, without a zero behind */
    int64_t length;
    int64_t order; /* place among all runs: the groups stand as their names first come */
    int32_t first, end;
} drape_i_group_run;

/* Fills mesh->groups and mesh->group; the triangles must be there. Sorts the runs. O(n log n) in their number and the
 * vertices under them. */
drape_status drape_i_groups_build(drape_context *ctx, drape_i_arena *arena, drape_i_arena *scratch, int64_t runs,
                                  drape_i_group_run *run, drape_i_mesh *mesh);

#endif
