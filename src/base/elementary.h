/* elementary.h: sine, cosine, arc tangent and logarithm of our own: libm's differ from one processor to the next.
 * Good to less than one unit in the last place (the logarithm: three) over the whole range of double, special cases
 * as in C17 Annex F, and the same bits from every compiler on every processor with IEEE arithmetic. */
#ifndef DRAPE_BASE_ELEMENTARY_H
#define DRAPE_BASE_ELEMENTARY_H

double drape_i_sin(double x); /* x in radians */
double drape_i_cos(double x);
double drape_i_atan2(double y, double x); /* in [-pi, pi]; the same bits as vd_atan2 in simd_math.h */
double drape_i_ln(double x);              /* natural logarithm; of subnormal numbers -infinity */

#endif
