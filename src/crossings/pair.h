/* pair.h: how two triangles meet. */
#ifndef DRAPE_CROSSINGS_PAIR_H
#define DRAPE_CROSSINGS_PAIR_H

#include <stdbool.h>
#include <stdint.h>

/* A triangle. Edge k goes from corner k to the next one. */
typedef struct drape_i_facet {
    const double *x[3]; /* in the range of orient.h */
    int32_t vertex[3];  /* the same number in two triangles: they share that vertex */
    uint32_t owned;     /* bit k: edge k is looked at here, and not with another triangle that has it too */
} drape_i_facet;

typedef enum drape_i_meeting { DRAPE_I_APART, DRAPE_I_TOUCH, DRAPE_I_CROSS } drape_i_meeting;

typedef struct drape_i_pair {
    drape_i_meeting edge[2][3]; /* the edges that the first owns with the second triangle, and the other way round */
    bool cross;                 /* DRAPE_CROSSING_TRIANGLES */
} drape_i_pair;

/* False where they are apart in every respect; *out is then not set. */
bool drape_i_pair_test(const drape_i_facet *a, const drape_i_facet *b, drape_i_pair *out);

#endif
