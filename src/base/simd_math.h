/* simd_math.h: elementary functions over the vectors of simd.h, without branches.
 *
 * atan2: with a = max(|x|, |y|), b = min(|x|, |y|),
 *   atan(b/a) = atan t,          t = b/a,           when b <= a/2
 *             = pi/4 + atan t,   t = (b-a)/(b+a),   when b > a/2 (then b-a is exact)
 *   atan t    = t + t z A(z),    z = t^2 on [0, 1/4], A of degree 11, relative error below 2^-57.5
 * A is minimax by Remez's exchange at 400 bits, then rounded. What the division rounds off is found again from
 * the remainder, num - t den, without error (Dekker's product), and added as d atan = dt / (1 + z). The octant
 * then makes n pi/4 +- atan t, n = 0..4, with pi/4 in two parts.
 * Under b/a < 2^-28 the quotient itself is the answer; it is then taken of the unscaled arguments, so that
 * results that are denormal round once. Else both are scaled by a power of two where products could leave the
 * range. Arguments are finite, zeros as in C17 Annex F; not a number in gives not a number out.
 * Error below 0.8 units in the last place. Some 100 operations and 2 divisions. */
#ifndef DRAPE_BASE_SIMD_MATH_H
#define DRAPE_BASE_SIMD_MATH_H

#include "base/simd.h"

/* t z A(z), even and odd powers apart: two short chains instead of a long one. */
DRAPE_INLINE vd vd_atan_correction(vd t, vd z) {
    vd w = z * z;
    vd even = -0x1.a39888c66478dp-5 + w * -0x1.c180c2e56402ep-6;
    vd odd = 0x1.56f61b74a4db7p-5 + w * 0x1.4b8536dc51e17p-7;
    even = -0x1.10f31fdd7e0b9p-4 + w * even;
    odd = 0x1.dfe980c4c1919p-5 + w * odd;
    even = -0x1.745cf4ccd3a83p-4 + w * even;
    odd = 0x1.3b113dd6cf99ap-4 + w * odd;
    even = -0x1.249249215e2b5p-3 + w * even;
    odd = 0x1.c71c7090fc86ep-4 + w * odd;
    even = -0x1.5555555555516p-2 + w * even;
    odd = 0x1.9999999991153p-3 + w * odd;
    return t * z * (even + z * odd);
}

/* num - t den - t den_low, where t is num / den rounded. */
DRAPE_INLINE vd vd_remainder(vd num, vd den, vd den_low, vd t) {
    vd p = t * den;
    vd ct = t * 0x1.0000002p27, cd = den * 0x1.0000002p27;
    vd t1 = ct - (ct - t), d1 = cd - (cd - den);
    vd t2 = t - t1, d2 = den - d1;
    vd p_low = ((t1 * d1 - p) + t1 * d2 + t2 * d1) + t2 * d2;
    return ((num - p) - p_low) - t * den_low;
}

DRAPE_INLINE vd vd_atan2(vd y, vd x) {
    const double pi_4_high = 0x1.921fb54442d18p-1, pi_4_low = 0x1.1a62633145c07p-55; /* n high is exact, n <= 4 */
    const vd zero = vd_set1(0), one = vd_set1(1);
    const vi sign = (vi)vd_set1(-0.0);

    vd ax = vd_abs(x), ay = vd_abs(y);
    vi steep = ay > ax;
    vi left = (vd)(((vi)x & sign) | (vi)one) < zero; /* by the sign bit: -0 counts */
    vd a = vd_select(steep, ay, ax), b = vd_select(steep, ax, ay);

    vd scale = vd_select(a > 0x1p500, vd_set1(0x1p-600), vd_select(a < 0x1p-400, vd_set1(0x1p600), one));
    vd as = a * scale, bs = b * scale;
    vi tiny = b < a * 0x1p-28;
    vi diagonal = bs > 0.5 * as;
    vd total = as + bs;
    vd num = vd_select(tiny, b, vd_select(diagonal, bs - as, bs));
    vd den = vd_select(tiny, a, vd_select(diagonal, total, as));
    vd den_low = vd_select(diagonal, bs - (total - as), zero);
    den = vd_select(a == zero, one, den);

    vd t = num / den;
    vd z = t * t;
    vd tail = vd_remainder(num, den, den_low, t) / (den + den * z);
    vd correction = vd_atan_correction(t, z) + vd_select(tiny, zero, tail);

    vd n = vd_select(diagonal, one, zero);
    n = vd_select(steep, 2 - n, n);
    n = vd_select(left, 4 - n, n);
    vi flip = (steep ^ left) & sign;
    t = (vd)((vi)t ^ flip);
    correction = (vd)((vi)correction ^ flip);

    vd base = n * pi_4_high;
    vd high = base + t;
    vd low = t - (high - base);
    vd angle = high + (low + (correction + n * pi_4_low));
    return (vd)((vi)angle | ((vi)y & sign));
}

#endif
