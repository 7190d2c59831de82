/* moving_pairs.h: pairs of the narrow phase of contact, seen by plain means: where they are and how far apart. */
#ifndef DRAPE_TESTS_MOVING_PAIRS_H
#define DRAPE_TESTS_MOVING_PAIRS_H

#include "drape/contact.h"
#include "support/testing.h"

/* Four vertices at the start and at the end of a step. */
typedef struct moving_pair {
    drape_ccd_kind kind;
    double start[12], end[12];
} moving_pair;

/* Every difference between a point of one part and a point of the other is a mean of difference vectors between their
 * vertices. It lies in one of these triangles of three of them: one for vertex-face, two for edge-edge. */
int moving_pair_triangles(drape_ccd_kind kind);
/* The vertices whose difference (first minus second) is corner `corner` of triangle `triangle`. */
void moving_pair_corner(drape_ccd_kind kind, int triangle, int corner, int vertex[2]);

/* A point nearest to the origin: its squared distance and its weights of the three corners, in plain doubles. */
double nearest_in_triangle(double corner[3][3], double weight[3]);

/* Squared distance of the two parts at time t, up to rounding; `triangle` and `weight` (or NULL) say where. */
double moving_pair_distance2(const moving_pair *p, double t, int *triangle, double weight[3]);

/* The least distance over the step: dense sampling, then refined about the least samples and in [from, to]. */
double moving_pair_least_distance(const moving_pair *p, double from, double to);

/* The longest side of the box around all positions. */
double moving_pair_size(const moving_pair *p);

/* Ways to make a pair that is hard to judge. */
typedef struct pair_recipe {
    double scale, shift; /* coordinates are about `scale`, around (shift, -shift, shift) */
    bool touching;       /* aimed at each other, up to some roundings; else anywhere */
} pair_recipe;

moving_pair random_moving_pair(test_random *r, drape_ccd_kind kind, const pair_recipe *recipe);

#endif
