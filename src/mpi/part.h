/* part.h: what a process has of a scene. */
#ifndef DRAPE_MPI_PART_H
#define DRAPE_MPI_PART_H

#include "base/arena.h"
#include "mpi/mpi.h"

/* A scene cut down to the triangles around the own vertices of this process. Arrays live in the arena. */
typedef struct drape_i_part {
    drape_context *ctx;
    MPI_Comm comm;
    drape_i_arena arena;
    drape_scene scene;
    drape_petsc_part vertices; /* own, number: new ones */
    int32_t *row;              /* of each vertex: its number in the whole scene */
    int32_t *original;         /* and within its piece */
    int64_t all;               /* vertices of the whole scene */
    int64_t all_pinned;        /* entries of all its pins */
    int64_t *pinned;           /* of each entry of the part's pins: which of these it is */
    int64_t pinned_count;
    uint64_t hash; /* of the whole scene */
    int32_t range_count;
    int64_t *range; /* own numbers, as drape_ode_spread has them */
    char **output;
} drape_i_part;

/* What cannot be done over several processes, by name. */
drape_status drape_i_part_refuse(drape_context *ctx, const drape_scene *scene);
/* The whole scene may be destroyed afterwards. */
drape_status drape_i_part_create(drape_context *ctx, MPI_Comm comm, const drape_scene *whole, drape_i_part *out);
void drape_i_part_free(drape_i_part *part);

#endif
