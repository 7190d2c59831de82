/* html_motion.h: positions frame by frame as small numbers that compress well.
 *
 * Frame f holds integers q(f, i) = round((x - origin) / quantum) for each vertex i and coordinate. What is written of
 * a frame, coordinate by coordinate, is
 *
 *   s    = mean of q(f, i) - q(f-1, i)  the way of the whole, 32 bits; 0 in the first frame
 *   d(i) = q(f, i) - q(f-1, i) - s      the rest of the change in time, 16 bits; q(-1, i) = 0
 *   r(i) = d(i) - d(i-1)                the change of that along the vertices, modulo 2^16; d(-1) = 0
 *   z(i) = 2 r, or -2 r - 1 for r < 0   with r taken as signed: small numbers have a zero high byte
 *
 * as a record of 12 + 6 vertices bytes: s of x, y, z, little-endian; the low bytes of z of all x, all y, all z; the
 * high bytes. Cloth may leave the first frame's box as far and as fast as it likes; but a vertex that within one
 * frame moves by more than 32767 quanta, half the box, against the mean of all lags behind and catches up in the
 * next. The encoder knows what the decoder knows, so nothing adds up. (Second differences in time were tried: no
 * better.) */
#ifndef DRAPE_IO_HTML_MOTION_H
#define DRAPE_IO_HTML_MOTION_H

#include "base/context.h"
#include "drape/cloth.h"

typedef struct drape_i_motion {
    const drape_cloth *cloth;
    double origin[3];     /* m, the middle of the first frame's box */
    double quantum;       /* m */
    bool first;           /* no frame yet */
    int32_t *place;       /* q of the frame before, 3 a vertex */
    int64_t size;         /* of a frame's record, bytes */
    unsigned char *bytes; /* the present frame's record */
} drape_i_motion;

drape_status drape_i_motion_create(drape_context *ctx, const drape_cloth *cloth, drape_i_motion *out);
void drape_i_motion_clear(drape_context *ctx, drape_i_motion *motion);

/* Chooses origin and quantum; x is the first frame. */
void drape_i_motion_begin(drape_i_motion *motion, const double *x);
/* Fills bytes; x must be finite. */
void drape_i_motion_frame(drape_i_motion *motion, const double *x);

#endif
