/* simd.h: vectors of DRAPE_W doubles for kernels that are compiled once per instruction set.
 *
 * A kernel file is compiled with DRAPE_VARIANT set to baseline, avx2 or avx512 (and DRAPE_VARIANT_IS_...),
 * which sets DRAPE_W to 2, 4 or 8 and names its functions name_baseline, ... through DRAPE_NAME(name). Arithmetic
 * goes lane by lane with IEEE operations (no fused multiply-add, no approximate reciprocals), so the bits of a lane
 * do not depend on DRAPE_W as long as lanes are not mixed; sums over lanes always use eight of them, see vd_sum8. */
#ifndef DRAPE_BASE_SIMD_H
#define DRAPE_BASE_SIMD_H

#include "base/attributes.h"

#include <stdint.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#else
#include <math.h>
#endif

#ifndef DRAPE_VARIANT
#define DRAPE_VARIANT baseline
#endif

#if defined(DRAPE_VARIANT_IS_AVX512)
#define DRAPE_W 8
#elif defined(DRAPE_VARIANT_IS_AVX2)
#define DRAPE_W 4
#else
#define DRAPE_W 2
#endif

#define DRAPE_PASTE_(a, b) a##_##b
#define DRAPE_PASTE(a, b)  DRAPE_PASTE_(a, b)
#define DRAPE_NAME(name)   DRAPE_PASTE(name, DRAPE_VARIANT)

typedef double vd __attribute__((vector_size(8 * DRAPE_W)));
typedef int64_t vi __attribute__((vector_size(8 * DRAPE_W)));
typedef double vd_unaligned __attribute__((vector_size(8 * DRAPE_W), aligned(8), may_alias));

DRAPE_INLINE vd vd_set1(double a) {
    return a - (vd){0}; /* a scalar operand spreads over the lanes; a - 0 is a, also for -0 */
}
DRAPE_INLINE vd vd_load(const double *p) { return *(const vd_unaligned *)p; }
DRAPE_INLINE void vd_store(double *p, vd v) { *(vd_unaligned *)p = v; }

/* {f(0), f(1), ...} for a function-like macro f */
#if DRAPE_W == 8
#define VD_LANES(f) ((vd){f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7)})
#elif DRAPE_W == 4
#define VD_LANES(f) ((vd){f(0), f(1), f(2), f(3)})
#else
#define VD_LANES(f) ((vd){f(0), f(1)})
#endif

DRAPE_INLINE vd vd_sqrt(vd v) {
#if defined(__x86_64__) && DRAPE_W == 8
    return (vd)_mm512_sqrt_pd((__m512d)v);
#elif defined(__x86_64__) && DRAPE_W == 4
    return (vd)_mm256_sqrt_pd((__m256d)v);
#elif defined(__x86_64__)
    return (vd)_mm_sqrt_pd((__m128d)v);
#elif defined(__aarch64__)
    return (vd)vsqrtq_f64((float64x2_t)v);
#else
    for (int i = 0; i < DRAPE_W; i++) v[i] = sqrt(v[i]);
    return v;
#endif
}

/* mask ? a : b, lane by lane; a mask is what a comparison of two vd gives. */
DRAPE_INLINE vd vd_select(vi mask, vd a, vd b) { return (vd)((mask & (vi)a) | (~mask & (vi)b)); }
DRAPE_INLINE vd vd_max(vd a, vd b) { return vd_select(a > b, a, b); }
DRAPE_INLINE vd vd_min(vd a, vd b) { return vd_select(a < b, a, b); }
DRAPE_INLINE vd vd_abs(vd a) { return (vd)((vi)a & INT64_C(0x7fffffffffffffff)); }

/* Lanes picked from a and b: VD_SHUFFLE(a, b, 0, 2) is {a[0], b[0]} where DRAPE_W is 2. */
#define VD_SHUFFLE(a, b, ...) __builtin_shufflevector((a), (b), __VA_ARGS__)

/* {p[0], p[1], p[2], 0, ...} without touching p[3]; DRAPE_W >= 4. */
#if DRAPE_W == 8
DRAPE_INLINE vd vd_load3(const double *p) { return (vd)_mm512_maskz_loadu_pd(7, p); }
#elif DRAPE_W == 4
DRAPE_INLINE vd vd_load3(const double *p) { return (vd)_mm256_maskload_pd(p, _mm256_setr_epi64x(-1, -1, -1, 0)); }
#endif

/* Eight running sums, the same eight whatever DRAPE_W: lane l sums the items whose index is l modulo 8. */
enum { VD_PER8 = 8 / DRAPE_W };
typedef struct vd8 {
    vd part[VD_PER8];
} vd8;

DRAPE_INLINE vd8 vd8_zero(void) {
    vd8 s;
    for (int i = 0; i < VD_PER8; i++) s.part[i] = vd_set1(0);
    return s;
}

/* The eight lanes in a fixed tree. */
DRAPE_INLINE double vd8_sum(vd8 s) {
    double l[8];
    for (int i = 0; i < VD_PER8; i++) vd_store(l + i * DRAPE_W, s.part[i]);
    return ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]));
}

/* Three lanes of doubles: a vec3 per lane. */
typedef struct vd3 {
    vd x, y, z;
} vd3;

DRAPE_INLINE vd3 vd3_add(vd3 a, vd3 b) { return (vd3){a.x + b.x, a.y + b.y, a.z + b.z}; }
DRAPE_INLINE vd3 vd3_sub(vd3 a, vd3 b) { return (vd3){a.x - b.x, a.y - b.y, a.z - b.z}; }
DRAPE_INLINE vd3 vd3_scale(vd s, vd3 a) { return (vd3){s * a.x, s * a.y, s * a.z}; }
DRAPE_INLINE vd vd3_dot(vd3 a, vd3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
DRAPE_INLINE vd3 vd3_cross(vd3 a, vd3 b) {
    return (vd3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

#endif
