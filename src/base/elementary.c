/* elementary.c: sin, cos and log; atan2 is one lane of the vector function in simd_math.h.
 *
 * Reduction: x = n pi/2 + (r + tail), |r| <= pi/4, where r + tail is an unevaluated sum of two doubles.
 *   |x| < 2^20   Cody & Waite (1980): pi/2 = P1 + P2 + P3 + P4, the first three of 33 bits, so that n P1, n P2
 *                and n P3 are exact for n < 2^20. What is left out is below 2^-132.
 *   beyond       Payne & Hanek (1983): x = m 2^e, and only the 192 bits of 2/pi after the first e-2 count,
 *                because those before make multiples of 4. What is left out is below 2^-137 quarter turns;
 *                no double is nearer than 2^-62 to a multiple, so r keeps more than 70 good bits.
 * Polynomials, with z = r^2 on [0, (1.0001 pi/4)^2], minimax by Remez's exchange at 400 bits, then rounded:
 *   sin r = r + r z S(z)              degree 5, relative error below 2^-56.3
 *   cos r = 1 - z/2 + z^2 C(z)        degree 5, relative error below 2^-59.6
 * Both with tail: sin(r + tail) = sin r + tail (1 - z/2), cos(r + tail) = cos r - r tail. The rounding
 * errors of z and r z are carried along, which alone would cost a quarter of a unit in the last place.
 * Largest error seen, in units in the last place: 0.75 for sin and cos, 0.77 for atan2.
 * Only + - * / and integers, nothing fused: the bits are the same everywhere. */
#include "base/elementary.h"

#include "base/simd_math.h"

#include <stdint.h>
#include <string.h>

static const uint64_t SIGN = UINT64_C(1) << 63, INFINITE = UINT64_C(0x7ff) << 52;

static const double S[6] = {-0x1.5555555555548p-3, 0x1.111111110f7cap-7,   -0x1.a01a019bfd1bdp-13,
                            0x1.71de356714d58p-19, -0x1.ae5e59f7155e6p-26, 0x1.5d8fa3765d455p-33};
static const double C[6] = {0x1.555555555554bp-5,   -0x1.6c16c16c14f8ap-10, 0x1.a01a019c8390ap-16,
                            -0x1.27e4f7ea377c9p-22, 0x1.1ee9d7529243fp-29,  -0x1.8fa465f5db197p-37};

static const double TWO_OVER_PI = 0x1.45f306dc9c883p-1;
static const double P1 = 0x1.921fb544p+0, P2 = 0x1.0b4611a6p-34, P3 = 0x1.3198a2ep-69, P4 = 0x1.b839a252049c1p-104;
static const double PI_2_HIGH = 0x1.921fb54442d18p+0, PI_2_LOW = 0x1.1a62633145c07p-54;

/* The bits of 2/pi after LEAD zero bits, which keep the window inside the table for small exponents. */
enum { LEAD = 64, LIMBS = 6 };
static const uint32_t TWO_OVER_PI_BITS[39] = {
    0x00000000, 0x00000000, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041,
    0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e,
    0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b,
    0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d,
    0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046};

typedef struct pair {
    double high, low; /* the unevaluated sum high + low */
} pair;

typedef struct reduced {
    double r, tail;
    uint32_t quadrant; /* modulo 4 */
} reduced;

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double from_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* a + b without error (Knuth). */
static pair sum(double a, double b) {
    double s = a + b, t = s - a;
    return (pair){s, (a - (s - t)) + (b - t)};
}

/* The same for |a| >= |b| (Dekker). */
static pair sum_ordered(double a, double b) {
    double s = a + b;
    return (pair){s, b - (s - a)};
}

static pair halves(double a) {
    double c = a * 0x1.0000002p27, high = c - (c - a);
    return (pair){high, a - high};
}

/* a b without error (Dekker, with Veltkamp's halves). */
static pair product(double a, double b) {
    double p = a * b;
    pair f = halves(a), g = halves(b);
    return (pair){p, ((f.high * g.high - p) + f.high * g.low + f.low * g.high) + f.low * g.low};
}

static reduced reduce_moderate(double x) {
    const double to_integer = 0x1.8p52; /* adding it rounds to an integer, to nearest */
    double n = (x * TWO_OVER_PI + to_integer) - to_integer;
    pair a = sum(x - n * P1, -(n * P2)); /* the subtraction is exact */
    pair b = sum(a.high, -(n * P3));
    pair r = sum(b.high, a.low + b.low - n * P4);
    return (reduced){r.high, r.low, (uint32_t)(int32_t)n};
}

/* p += factor f 2^(32 shift) modulo 2^192, most significant limb first. */
static void add_product(uint32_t p[LIMBS], const uint32_t f[LIMBS], uint32_t factor, int32_t shift) {
    uint64_t carry = 0;
    for (int32_t i = LIMBS - 1 - shift; i >= 0; i--) {
        carry += p[i] + (uint64_t)f[i + shift] * factor;
        p[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

/* x > 0 with exponent field at least 1043, that is x >= 2^20. */
static reduced reduce_large(double x) {
    uint64_t bits = bits_of(x);
    uint64_t m = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    int32_t offset = (int32_t)(bits >> 52) - 1075 - 2 + LEAD;
    uint32_t f[LIMBS], p[LIMBS] = {0};
    for (int32_t i = 0; i < LIMBS; i++) {
        const uint32_t *w = TWO_OVER_PI_BITS + offset / 32 + i;
        f[i] = (uint32_t)((((uint64_t)w[0] << 32 | w[1]) << (offset % 32)) >> 32);
    }
    add_product(p, f, (uint32_t)m, 0);
    add_product(p, f, (uint32_t)(m >> 32), 1);

    /* p 2^-190 is x 2/pi modulo 4; its fraction is taken from [-1/2, 1/2), as the limbs' signed sum. */
    uint32_t quadrant = p[0] >> 30, upper_half = p[0] >> 29 & 1;
    double top = (double)(p[0] & 0x3fffffffu) - (upper_half ? 0x1p30 : 0);
    pair fraction = {top * 0x1p-30, 0};
    double weight = 0x1p-62;
    for (int32_t i = 1; i < LIMBS; i++, weight *= 0x1p-32) {
        pair s = sum(fraction.high, p[i] * weight);
        fraction = (pair){s.high, fraction.low + s.low};
    }
    pair r = product(fraction.high, PI_2_HIGH);
    r = sum_ordered(r.high, r.low + (fraction.high * PI_2_LOW + fraction.low * PI_2_HIGH));
    return (reduced){r.high, r.low, quadrant + upper_half};
}

static reduced reduce(double x) {
    uint64_t bits = bits_of(x), magnitude = bits & ~SIGN;
    if (magnitude < bits_of(0x1p20)) return reduce_moderate(x);
    reduced a = reduce_large(from_bits(magnitude));
    return bits == magnitude ? a : (reduced){-a.r, -a.tail, 0u - a.quadrant};
}

static double sin_reduced(double r, double tail) {
    pair square = product(r, r);
    double z = square.high;
    pair cube = product(r, z);
    double p = S[0] + z * (S[1] + z * (S[2] + z * (S[3] + z * (S[4] + z * S[5]))));
    return r + (cube.high * p + ((cube.low + r * square.low) * p + (tail - 0.5 * z * tail)));
}

static double cos_reduced(double r, double tail) {
    pair square = product(r, r);
    double z = square.high;
    double p = C[0] + z * (C[1] + z * (C[2] + z * (C[3] + z * (C[4] + z * C[5]))));
    pair head = sum_ordered(1, -0.5 * z);
    return head.high + (head.low + (z * z * p - (0.5 * square.low + r * tail)));
}

/* The sine shifted by this number of quarter turns. */
static double sin_shifted(double x, uint32_t quarters) {
    reduced a = reduce(x);
    uint32_t quadrant = a.quadrant + quarters;
    double value = quadrant & 1 ? cos_reduced(a.r, a.tail) : sin_reduced(a.r, a.tail);
    return quadrant & 2 ? -value : value;
}

double drape_i_sin(double x) {
    uint64_t magnitude = bits_of(x) & ~SIGN;
    if (magnitude >= INFINITE) return x - x;    /* not a number */
    if (magnitude < bits_of(0x1p-27)) return x; /* x - x^3/6 rounds to x; keeps the sign of zero */
    return sin_shifted(x, 0);
}

double drape_i_cos(double x) {
    uint64_t magnitude = bits_of(x) & ~SIGN;
    if (magnitude >= INFINITE) return x - x;
    if (magnitude < bits_of(0x1p-27)) return 1;
    return sin_shifted(x, 1);
}

/* An infinite coordinate outweighs a finite one, and two of them lie on a diagonal. */
static double direction(double a) {
    uint64_t bits = bits_of(a);
    return from_bits((bits & SIGN) | ((bits & ~SIGN) == INFINITE ? bits_of(1) : 0));
}

double drape_i_atan2(double y, double x) {
    uint64_t my = bits_of(y) & ~SIGN, mx = bits_of(x) & ~SIGN;
    if (my > INFINITE || mx > INFINITE) return x + y; /* not a number */
    if (my == INFINITE || mx == INFINITE) {
        y = direction(y);
        x = direction(x);
    }
    double lanes[DRAPE_W];
    vd_store(lanes, vd_atan2(vd_set1(y), vd_set1(x)));
    return lanes[0];
}

/* ln x = e ln 2 + ln m with sqrt(1/2) <= m < sqrt(2), and ln m = 2 s (1 + z/3 + z^2/5 + ...), s = (m - 1) / (m + 1),
 * z = s^2 <= 0.0295: what follows the eleventh power is below 2^-60. */
double drape_i_ln(double x) {
    const uint64_t fraction = (UINT64_C(1) << 52) - 1;
    const double ln2 = 0x1.62e42fefa39efp-1, root2 = 0x1.6a09e667f3bcdp+0;
    uint64_t bits = bits_of(x);
    if (!(x >= 0)) return (x - x) / (x - x); /* not a number */
    if (x > 0x1.fffffffffffffp1023) return x;
    if (x < 0x1p-1022) return -from_bits(INFINITE);
    double e = (double)((int32_t)(bits >> 52) - 1023), m = from_bits((bits & fraction) | bits_of(1));
    if (m >= root2) m *= 0.5, e += 1;
    double s = (m - 1) / (m + 1), z = s * s, series = 0;
    for (int32_t i = 11; i >= 1; i--) series = z * (series + 1.0 / (2 * i + 1));
    return e * ln2 + 2 * (s + s * series);
}
