/* topology.h: interior edges of a triangle mesh. */
#ifndef DRAPE_CLOTH_TOPOLOGY_H
#define DRAPE_CLOTH_TOPOLOGY_H

#include "base/context.h"

/* A hinge: the edge from node[0] to node[1], then the corners opposite to it in its two triangles. */
typedef struct drape_i_hinges {
    int32_t count;
    int32_t (*node)[4];
    int32_t (*triangle)[2]; /* the triangles that node[2] and node[3] belong to */
} drape_i_hinges;

/* Hinges in the order in which their second triangle comes. An edge of three triangles is an error that names it. */
drape_status drape_i_hinges_find(drape_context *ctx, int32_t triangles, const int32_t (*triangle)[3],
                                 drape_i_hinges *out);
void drape_i_hinges_clear(drape_context *ctx, drape_i_hinges *hinges);

#endif
