/* xyz.h: a vector of R^3 in a vd4, whose last number is 0. For kernels that go vertex by vertex. */
#ifndef DRAPE_CLOTH_XYZ_H
#define DRAPE_CLOTH_XYZ_H

#include "base/simd.h"

DRAPE_INLINE vd4 xyz_load(const double *y) {
#if DRAPE_W >= 4
    return vd4_load3(y);
#else
    return (vd4){y[0], y[1], y[2], 0};
#endif
}

DRAPE_INLINE void xyz_store(double *to, vd4 a) { to[0] = a[0], to[1] = a[1], to[2] = a[2]; }

DRAPE_INLINE void xyz_add(double *to, vd4 a) { to[0] += a[0], to[1] += a[1], to[2] += a[2]; }

DRAPE_INLINE double xyz_total(vd4 a) { return (a[0] + a[1]) + a[2]; }

#endif
