/* elementary.h: sine, cosine, arc tangent and logarithm of our own: libm's differ from one processor to the next.
 * The error is below one unit in the last place (the logarithm: three) over the whole range of double. Special cases
 * are those of C17 Annex F. Every compiler gives the same bits on every processor with IEEE arithmetic. */
#ifndef DRAPE_BASE_ELEMENTARY_H
#define DRAPE_BASE_ELEMENTARY_H

double drape_i_sin(double x); /* x in radians */
double drape_i_cos(double x);
double drape_i_atan2(double y, double x); /* in [-pi, pi]; the same bits as vd_atan2 in simd_math.h */
double drape_i_ln(double x);              /* natural logarithm; of subnormal numbers -infinity */

#endif
