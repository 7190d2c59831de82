/* fabric_curve.h: the stiffness that fits points of a tensile or a shear test. */
#ifndef DRAPE_CLI_FABRIC_CURVE_H
#define DRAPE_CLI_FABRIC_CURVE_H

#include <stdint.h>

enum { MOST_POINTS = 1000 };

typedef struct curve_point {
    double strain, lever, force; /* force, N/m: tension times lever */
} curve_point;

typedef struct curve_points {
    int32_t count;
    curve_point point[MOST_POINTS];
} curve_points;

typedef struct fitted_curve {
    double soft;        /* N/m */
    double stiff, knee; /* N/m, strain; 0: the line fits about as well */
    double residual;    /* root mean square of what is left over that of the forces */
    int32_t count;      /* points; 0: not measured */
} fitted_curve;

/* The line through the origin that is nearest to the points, or where that leaves more than twice as much, the curve
 * of a material that stiffens (drape/cloth.h). */
fitted_curve fit_curve(const curve_points *points);

#endif
