/* baraff_witkin.h: the data that the kernels of the Baraff-Witkin model read. */
#ifndef DRAPE_CLOTH_BARAFF_WITKIN_H
#define DRAPE_CLOTH_BARAFF_WITKIN_H

#include "cloth/model.h"

/* A triangle's record; stiffness in N/m, damping in N s/m. du0 = -(du1 + du2), dv0 likewise. */
enum {
    BW_AREA,
    BW_DU1,
    BW_DU2,
    BW_DV1,
    BW_DV2,
    BW_STRETCH_U,
    BW_STRETCH_V,
    BW_SHEAR,
    BW_DAMP_U,
    BW_DAMP_V,
    BW_DAMP_SHEAR,
    BW_TRIANGLE_SIZE
};

/* How a condition stiffens: its stiffness rises by so much per strain from one strain to another. */
enum { BW_CURVE_RISE, BW_CURVE_BEGIN, BW_CURVE_END, BW_CURVE_SIZE };

/* The record of a triangle that stiffens: the first numbers of its other one, and the curves of u, v and shear. */
enum { BW_CURVES = BW_DV2 + 1, BW_STIFFENED_SIZE = BW_CURVES + 3 * BW_CURVE_SIZE };

/* A hinge's record; stiffness in N m, damping in N m s, rest angle in rad. */
enum { BW_BEND, BW_DAMP_BEND, BW_ANGLE, BW_HINGE_SIZE };

/* A pair's record: area of both triangles and the first one's share of it. Then for each direction the coefficients
 * of the corners 1 and 2 in the first triangle, 1 and 3 in the second, stiffness and damping; then those of shear. */
enum {
    BW_PAIR_AREA,
    BW_PAIR_SHARE,
    BW_PAIR_THREADS,
    BW_PAIR_SHEAR = BW_PAIR_THREADS + 12,
    BW_PAIR_DAMP_SHEAR,
    BW_PAIR_SIZE
};

typedef struct drape_i_bw_data {
    const int32_t *nodes;
    double *records;
} drape_i_bw_data;

/* Calls evaluate(d, at, e, lane, psd, damping, out) with constants in place of the variables psd and damping, so that
 * each combination is compiled by itself. */
#define BW_DISPATCH(d, at, e, lane, out)                                                                             \
    do {                                                                                                             \
        if (damping == DRAPE_I_DAMPING_SYMMETRIC && psd)                                                             \
            evaluate(d, at, e, lane, 1, DRAPE_I_DAMPING_SYMMETRIC, out);                                             \
        else if (damping == DRAPE_I_DAMPING_SYMMETRIC) evaluate(d, at, e, lane, 0, DRAPE_I_DAMPING_SYMMETRIC, out);  \
        else if (damping == DRAPE_I_DAMPING_LAGGED && psd) evaluate(d, at, e, lane, 1, DRAPE_I_DAMPING_LAGGED, out); \
        else if (damping == DRAPE_I_DAMPING_LAGGED) evaluate(d, at, e, lane, 0, DRAPE_I_DAMPING_LAGGED, out);        \
        else if (psd) evaluate(d, at, e, lane, 1, DRAPE_I_DAMPING_FULL, out);                                        \
        else evaluate(d, at, e, lane, 0, DRAPE_I_DAMPING_FULL, out);                                                 \
    } while (0)

DRAPE_I_KERNEL(void, drape_i_bw_triangle,
               (const void *data, const void *at, const int32_t *elements, drape_i_batch *out));
DRAPE_I_KERNEL(void, drape_i_bw_triangle_energy,
               (const void *data, const drape_i_evaluation *at, const int32_t *elements, double *energy));
DRAPE_I_KERNEL(void, drape_i_bw_triangle_dissipation,
               (const void *data, const drape_i_evaluation *at, const int32_t *elements, double *dissipation));
DRAPE_I_KERNEL(void, drape_i_bw_stiffened,
               (const void *data, const void *at, const int32_t *elements, drape_i_batch *out));
DRAPE_I_KERNEL(void, drape_i_bw_stiffened_energy,
               (const void *data, const drape_i_evaluation *at, const int32_t *elements, double *energy));
DRAPE_I_KERNEL(void, drape_i_bw_pair,
               (const void *data, const void *at, const int32_t *elements, drape_i_batch *out));
DRAPE_I_KERNEL(void, drape_i_bw_pair_energy,
               (const void *data, const drape_i_evaluation *at, const int32_t *elements, double *energy));
DRAPE_I_KERNEL(void, drape_i_bw_pair_dissipation,
               (const void *data, const drape_i_evaluation *at, const int32_t *elements, double *dissipation));
DRAPE_I_KERNEL(void, drape_i_bw_hinge,
               (const void *data, const void *at, const int32_t *elements, drape_i_batch *out));
DRAPE_I_KERNEL(void, drape_i_bw_damper,
               (const void *data, const void *at, const int32_t *elements, drape_i_batch *out));
DRAPE_I_KERNEL(void, drape_i_bw_hinge_energy,
               (const void *data, const drape_i_evaluation *at, const int32_t *elements, double *energy));
DRAPE_I_KERNEL(void, drape_i_bw_hinge_dissipation,
               (const void *data, const drape_i_evaluation *at, const int32_t *elements, double *dissipation));

#endif
