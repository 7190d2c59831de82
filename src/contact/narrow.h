/* narrow.h: the internals of the narrow phase. narrow.c begins with the proof that it is right. */
#ifndef DRAPE_CONTACT_NARROW_H
#define DRAPE_CONTACT_NARROW_H

#include "base/simd_level.h"
#include "drape/contact.h"

enum {
    DRAPE_I_CCD_LANES = 8,   /* pairs per call of the kernel */
    DRAPE_I_CCD_VECTORS = 8, /* difference vectors of an edge-edge pair at both ends; vertex-face has 6 */
    DRAPE_I_CCD_DEPTH = 16,  /* default */
    DRAPE_I_CCD_MAX_DEPTH = 30,
};

/* Constants of the bound: n.r > UNITS sum |n_k| max(R_k, LEAST) + TINY proves n.r > 0. */
#define DRAPE_I_CCD_UNITS 0x1p-50   /* 8 u, u = 2^-53 */
#define DRAPE_I_CCD_LEAST 0x1p-900  /* makes room for what underflows in r */
#define DRAPE_I_CCD_TINY  0x1p-1000 /* makes room for what underflows in products of n and r */
/* A separation d asks for n.r > SEPARATION d |n| more, where |n| is the root of n.n + LEAST_SQUARE. */
#define DRAPE_I_CCD_SEPARATION   (1 + 0x1p-49)
#define DRAPE_I_CCD_LEAST_SQUARE 0x1p-960

/* Tests eight pairs on the whole step with a few directions each. vertex holds 4 per pair, separation one per pair
 * (NULL: zero). Bit l of the result: pair l is proved apart. */
DRAPE_I_KERNEL(uint32_t, drape_i_ccd_first,
               (drape_ccd_kind kind, const double *start, const double *end, const int32_t *vertex,
                const double *separation));

/* drape_ccd_times without its checks. */
void drape_i_ccd_times(drape_context *ctx, const drape_ccd_pairs *pairs, const drape_ccd_settings *settings,
                       double *time);

/* The direction that separates a pair best with its four vertices at `start` and at `end`, 12 doubles each: that of
 * the hull's point nearest to the origin (narrow.c). Not of unit length, found in rounded arithmetic, and any at all
 * where nothing separates them: the caller has to check it. */
void drape_i_ccd_direction(drape_ccd_kind kind, const double *start, const double *end, double n[3]);

#endif
