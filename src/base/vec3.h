/* vec3.h: vectors of three doubles outside the kernels. */
#ifndef DRAPE_BASE_VEC3_H
#define DRAPE_BASE_VEC3_H

#include "base/attributes.h"

#include <math.h>

typedef struct vec3 {
    double x, y, z;
} vec3;

DRAPE_INLINE vec3 vec3_at(const double *p) { return (vec3){p[0], p[1], p[2]}; }
DRAPE_INLINE vec3 vec3_add(vec3 a, vec3 b) { return (vec3){a.x + b.x, a.y + b.y, a.z + b.z}; }
DRAPE_INLINE vec3 vec3_sub(vec3 a, vec3 b) { return (vec3){a.x - b.x, a.y - b.y, a.z - b.z}; }
DRAPE_INLINE vec3 vec3_scale(double s, vec3 a) { return (vec3){s * a.x, s * a.y, s * a.z}; }
DRAPE_INLINE vec3 vec3_plus(vec3 a, double s, vec3 b) { return (vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z}; }
DRAPE_INLINE double vec3_dot(vec3 a, vec3 b) { return (a.x * b.x + a.y * b.y) + a.z * b.z; }
DRAPE_INLINE double vec3_length(vec3 a) { return sqrt(vec3_dot(a, a)); }
DRAPE_INLINE vec3 vec3_cross(vec3 a, vec3 b) {
    return (vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

#endif
