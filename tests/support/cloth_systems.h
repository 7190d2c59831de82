/* cloth_systems.h: linear systems as a simulation makes them. */
#ifndef DRAPE_TESTS_CLOTH_SYSTEMS_H
#define DRAPE_TESTS_CLOTH_SYSTEMS_H

#include "drape/io.h"

typedef struct cloth {
    drape_system system;
    drape_constraints *set;
} cloth;

/* The systems of so many linearised steps of a scene in a row, after some others. */
void clothes_of(drape_context *ctx, const drape_scene *scene, int32_t before, int32_t count, cloth *out);
void cloth_clear(drape_context *ctx, cloth *c);

#endif
