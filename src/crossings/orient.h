/* orient.h: on which side a point lies, without error: signs of determinants of coordinates. */
#ifndef DRAPE_CROSSINGS_ORIENT_H
#define DRAPE_CROSSINGS_ORIENT_H

/* The signs are those of the exact determinants while every coordinate is 0 or has a magnitude from
 * DRAPE_I_ORIENT_LEAST to DRAPE_I_ORIENT_MOST: nothing then overflows or underflows (proof in orient.c). */
#define DRAPE_I_ORIENT_LEAST 0x1p-250
#define DRAPE_I_ORIENT_MOST  0x1p300

/* The sign (-1, 0, 1) of det [a - d; b - d; c - d]: positive where a, b, c go around counter-clockwise as seen from
 * the side that d is not on. 0 exactly where the four points lie in a plane. */
int drape_i_orient3d(const double *a, const double *b, const double *c, const double *d);

/* The sign of det [a - c; b - c] in the coordinates u and v of points in space: positive where a, b, c go around
 * counter-clockwise in that projection. */
int drape_i_orient2d(const double *a, const double *b, const double *c, int u, int v);

#endif
