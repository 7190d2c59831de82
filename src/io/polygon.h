/* polygon.h: polygons in space as triangles. */
#ifndef DRAPE_IO_POLYGON_H
#define DRAPE_IO_POLYGON_H

#include <stdbool.h>
#include <stdint.h>

enum { DRAPE_I_POLYGON_MOST = 1000 }; /* corners: the cost grows with their square */

typedef struct drape_i_polygon {
    int32_t corners; /* 3..DRAPE_I_POLYGON_MOST */
    double x[DRAPE_I_POLYGON_MOST][3];
    int32_t triangle[DRAPE_I_POLYGON_MOST - 2][3]; /* out: corners - 2 of them, wound as the polygon is, each
                                                      from its lowest corner */

    double flat[DRAPE_I_POLYGON_MOST][2]; /* scratch, as all below: the corners in their plane, counter-clockwise */
    int32_t next[DRAPE_I_POLYGON_MOST], previous[DRAPE_I_POLYGON_MOST];
    bool ear[DRAPE_I_POLYGON_MOST];
    double diagonal[DRAPE_I_POLYGON_MOST]; /* squared distance of the neighbours */
} drape_i_polygon;

/* Fills triangle from corners and x. A quad is cut along the shorter of the diagonals that lie inside, the one from
 * its first corner where they are equal. A polygon that crosses itself is cut in some way. */
void drape_i_polygon_cut(drape_i_polygon *p);

#endif
