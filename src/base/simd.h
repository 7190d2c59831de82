/* simd.h: vectors of DRAPE_W doubles for kernels that are compiled once per instruction set.
 *
 * A kernel file is compiled with DRAPE_VARIANT set to baseline, avx2 or avx512 (and DRAPE_VARIANT_IS_...),
 * which sets DRAPE_W to 2, 4 or 8 and names its functions name_baseline, ... through DRAPE_NAME(name). Arithmetic
 * goes lane by lane with IEEE operations (no fused multiply-add, no approximate reciprocals). So the bits of a lane
 * do not depend on DRAPE_W as long as lanes are not mixed. Sums over lanes always use eight of them; see vd_sum8. */
#ifndef DRAPE_BASE_SIMD_H
#define DRAPE_BASE_SIMD_H

#include "base/attributes.h"

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
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

typedef double vd2_unaligned __attribute__((vector_size(16), aligned(8), may_alias)); /* whatever DRAPE_W */

/* Four, eight and sixteen floats, whatever DRAPE_W: where registers are narrower the compiler takes several. */
typedef float vf4 __attribute__((vector_size(16)));
typedef float vf8 __attribute__((vector_size(32)));
typedef float vf16 __attribute__((vector_size(64)));
/* Four doubles, for what four floats are made from and become. */
typedef double vd4 __attribute__((vector_size(32)));
#define VF4_TO_VD4(v) __builtin_convertvector((v), vd4)
#define VD4_TO_VF4(v) __builtin_convertvector((v), vf4)

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
#elif defined(__wasm_simd128__)
    return (vd)wasm_f64x2_sqrt((v128_t)v);
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

/* A mask as a number: bit l is set where lane l is. */
DRAPE_INLINE uint32_t vd_bits(vi mask) {
#if defined(__x86_64__) && DRAPE_W == 8
    return _mm512_movepi64_mask((__m512i)mask);
#elif defined(__x86_64__) && DRAPE_W == 4
    return (uint32_t)_mm256_movemask_pd((__m256d)mask);
#elif defined(__x86_64__)
    return (uint32_t)_mm_movemask_pd((__m128d)mask);
#else
    uint32_t bits = 0;
    for (int i = 0; i < DRAPE_W; i++) bits |= (uint32_t)(mask[i] & 1) << i;
    return bits;
#endif
}

/* Lanes picked from a and b: VD_SHUFFLE(a, b, 0, 2) is {a[0], b[0]} where DRAPE_W is 2. */
#define VD_SHUFFLE(a, b, ...) __builtin_shufflevector((a), (b), __VA_ARGS__)

/* {p[0], p[1], p[2], 0, ...} without touching p[3]; DRAPE_W >= 4. */
#if DRAPE_W == 8
DRAPE_INLINE vd vd_load3(const double *p) { return (vd)_mm512_maskz_loadu_pd(7, p); }
#elif DRAPE_W == 4
DRAPE_INLINE vd vd_load3(const double *p) { return (vd)_mm256_maskload_pd(p, _mm256_setr_epi64x(-1, -1, -1, 0)); }
#endif

/* Four consecutive doubles at each p[l], or three of them: out[k] has number k of all, a lane each. */
#if DRAPE_W == 8
DRAPE_INLINE void vd_transpose4(const vd4 row[8], vd out[4]) {
    vd a[4], b[4];
    for (int i = 0; i < 4; i++) a[i] = __builtin_shufflevector(row[i], row[i + 4], 0, 1, 2, 3, 4, 5, 6, 7);
    for (int i = 0; i < 4; i += 2) { /* b[i]: numbers 0 and 2 of rows i and i + 1; b[i + 1]: 1 and 3 */
        b[i] = VD_SHUFFLE(a[i], a[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        b[i + 1] = VD_SHUFFLE(a[i], a[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int k = 0; k < 2; k++) {
        out[k] = VD_SHUFFLE(b[k], b[k + 2], 0, 1, 8, 9, 4, 5, 12, 13);
        out[k + 2] = VD_SHUFFLE(b[k], b[k + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
}
DRAPE_INLINE vd4 vd4_load3(const double *p) { return (vd4)_mm256_maskz_loadu_pd(7, p); }
#elif DRAPE_W == 4
DRAPE_INLINE void vd_transpose4(const vd4 row[4], vd out[4]) {
    vd b[4];
    for (int i = 0; i < 4; i += 2) {
        b[i] = VD_SHUFFLE(row[i], row[i + 1], 0, 4, 2, 6);
        b[i + 1] = VD_SHUFFLE(row[i], row[i + 1], 1, 5, 3, 7);
    }
    for (int k = 0; k < 2; k++) {
        out[k] = VD_SHUFFLE(b[k], b[k + 2], 0, 1, 4, 5);
        out[k + 2] = VD_SHUFFLE(b[k], b[k + 2], 2, 3, 6, 7);
    }
}
DRAPE_INLINE vd4 vd4_load3(const double *p) { return vd_load3(p); }
#endif

DRAPE_INLINE void vd_gather4(const double *const p[DRAPE_W], vd out[4]) {
#if DRAPE_W >= 4
    vd4 row[DRAPE_W];
    for (int l = 0; l < DRAPE_W; l++) memcpy(&row[l], p[l], sizeof row[l]);
    vd_transpose4(row, out);
#else
    for (int k = 0; k < 4; k++) out[k] = (vd){p[0][k], p[1][k]};
#endif
}

DRAPE_INLINE void vd_gather3(const double *const p[DRAPE_W], vd out[3]) {
#if DRAPE_W >= 4
    vd4 row[DRAPE_W];
    vd all[4];
    for (int l = 0; l < DRAPE_W; l++) row[l] = vd4_load3(p[l]);
    vd_transpose4(row, all);
    for (int k = 0; k < 3; k++) out[k] = all[k];
#else
    for (int k = 0; k < 3; k++) out[k] = (vd){p[0][k], p[1][k]};
#endif
}

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

/* DRAPE_W consecutive xyz triples at p, a lane each, and back. */
DRAPE_INLINE vd3 vd3_load(const double *p) {
    vd a = vd_load(p), b = vd_load(p + DRAPE_W), c = vd_load(p + 2 * DRAPE_W);
#if DRAPE_W == 8
    vd x = VD_SHUFFLE(a, b, 0, 3, 6, 9, 12, 15, 0, 0), y = VD_SHUFFLE(a, b, 1, 4, 7, 10, 13, 0, 0, 0);
    vd z = VD_SHUFFLE(a, b, 2, 5, 8, 11, 14, 0, 0, 0);
    return (vd3){VD_SHUFFLE(x, c, 0, 1, 2, 3, 4, 5, 10, 13), VD_SHUFFLE(y, c, 0, 1, 2, 3, 4, 8, 11, 14),
                 VD_SHUFFLE(z, c, 0, 1, 2, 3, 4, 9, 12, 15)};
#elif DRAPE_W == 4
    vd x = VD_SHUFFLE(a, b, 0, 3, 6, 0), y = VD_SHUFFLE(a, b, 1, 4, 7, 0), z = VD_SHUFFLE(a, b, 2, 5, 0, 0);
    return (vd3){VD_SHUFFLE(x, c, 0, 1, 2, 5), VD_SHUFFLE(y, c, 0, 1, 2, 6), VD_SHUFFLE(z, c, 0, 1, 4, 7)};
#else
    return (vd3){VD_SHUFFLE(a, b, 0, 3), VD_SHUFFLE(a, c, 1, 2), VD_SHUFFLE(b, c, 0, 3)};
#endif
}

DRAPE_INLINE void vd3_store(double *p, vd3 v) {
#if DRAPE_W == 8
    vd a = VD_SHUFFLE(v.x, v.y, 0, 8, 0, 1, 9, 0, 2, 10), b = VD_SHUFFLE(v.x, v.y, 0, 3, 11, 0, 4, 12, 0, 5);
    vd c = VD_SHUFFLE(v.x, v.y, 13, 0, 6, 14, 0, 7, 15, 0);
    a = VD_SHUFFLE(a, v.z, 0, 1, 8, 3, 4, 9, 6, 7);
    b = VD_SHUFFLE(b, v.z, 10, 1, 2, 11, 4, 5, 12, 7);
    c = VD_SHUFFLE(c, v.z, 0, 13, 2, 3, 14, 5, 6, 15);
#elif DRAPE_W == 4
    vd a = VD_SHUFFLE(v.x, v.y, 0, 4, 0, 1), b = VD_SHUFFLE(v.x, v.y, 5, 0, 2, 6),
       c = VD_SHUFFLE(v.x, v.y, 0, 3, 7, 0);
    a = VD_SHUFFLE(a, v.z, 0, 1, 4, 3);
    b = VD_SHUFFLE(b, v.z, 0, 5, 2, 3);
    c = VD_SHUFFLE(c, v.z, 6, 1, 2, 7);
#else
    vd a = VD_SHUFFLE(v.x, v.y, 0, 2), b = VD_SHUFFLE(v.z, v.x, 0, 3), c = VD_SHUFFLE(v.y, v.z, 1, 3);
#endif
    vd_store(p, a);
    vd_store(p + DRAPE_W, b);
    vd_store(p + 2 * DRAPE_W, c);
}

DRAPE_INLINE vd3 vd3_add(vd3 a, vd3 b) { return (vd3){a.x + b.x, a.y + b.y, a.z + b.z}; }
DRAPE_INLINE vd3 vd3_sub(vd3 a, vd3 b) { return (vd3){a.x - b.x, a.y - b.y, a.z - b.z}; }
DRAPE_INLINE vd3 vd3_scale(vd s, vd3 a) { return (vd3){s * a.x, s * a.y, s * a.z}; }
DRAPE_INLINE vd vd3_dot(vd3 a, vd3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
DRAPE_INLINE vd3 vd3_cross(vd3 a, vd3 b) {
    return (vd3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

#endif
