/* part.h: what a process has of a scene. */
#ifndef DRAPE_MPI_PART_H
#define DRAPE_MPI_PART_H

#include "base/arena.h"
#include "io/scene_reader.h"
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

/* ---- read.c ---- */

/* Who owns which vertices, and where in a checkpoint the pins of each vertex of this process' chunk begin. */
typedef struct drape_i_division {
    drape_i_owners owners;
    int32_t *entry; /* owners.chunk of them */
    int64_t entries;
} drape_i_division;

/* Reads a scene, divides it and keeps the part of this process. */
drape_status drape_i_part_read(drape_context *ctx, MPI_Comm comm, const char *name,
                               const drape_scene_options *options, drape_i_part *out);

/* ---- part.c ---- */

/* The loaded scene has at least the own vertices and two rings around them; it may be destroyed afterwards. */
drape_status drape_i_part_cut(drape_context *ctx, MPI_Comm comm, const drape_loaded_scene *loaded,
                              const drape_i_division *division, drape_i_part *out);
void drape_i_part_free(drape_i_part *part);

/* ---- part_hash.c ---- */

/* Tells one scene from another, whatever its division. It is drape_i_scene_hash of everything but vertices, triangles
 * and pins, plus a hash of each of these, which the process of the vertex adds. Collective. */
drape_status drape_i_part_hash(const drape_i_part *part, const drape_scene *whole, uint64_t *out);

#endif
