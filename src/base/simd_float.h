/* simd_float.h: eight floats in lanes, whatever DRAPE_W, for kernels (*_simd.c) that compare and cull: where
 * registers are narrower the compiler takes two. IEEE operations lane by lane, as in simd.h. */
#ifndef DRAPE_BASE_SIMD_FLOAT_H
#define DRAPE_BASE_SIMD_FLOAT_H

#include "base/simd.h"

/* What a comparison of two vf8 gives, -1 where it holds; and eight whole numbers. */
typedef int32_t vi8 __attribute__((vector_size(32)));
typedef int32_t vi4 __attribute__((vector_size(16)));
typedef int32_t vi8_aliased __attribute__((vector_size(32), may_alias));
typedef float vf8_aliased __attribute__((vector_size(32), may_alias));
typedef float vf4_aliased __attribute__((vector_size(16), may_alias));

/* On 16 and 32 bytes. */
DRAPE_INLINE vf4 vf4_load(const float *p) { return *(const vf4_aliased *)p; }
DRAPE_INLINE vf8 vf8_load(const float *p) { return *(const vf8_aliased *)p; }
DRAPE_INLINE vi8 vi8_load(const int32_t *p) { return *(const vi8_aliased *)p; }

DRAPE_INLINE vf8 vf8_set1(float a) { return a - (vf8){0}; }
DRAPE_INLINE vf8 vf8_abs(vf8 a) { return (vf8)((vi8)a & 0x7fffffff); }

/* a < b ? a : b and a > b ? a : b: where one of them is not a number, b. */
DRAPE_INLINE vf4 vf4_min(vf4 a, vf4 b) {
#if defined(__x86_64__)
    return (vf4)_mm_min_ps((__m128)a, (__m128)b);
#else
    vi4 mask = a < b;
    return (vf4)((mask & (vi4)a) | (~mask & (vi4)b));
#endif
}
DRAPE_INLINE vf4 vf4_max(vf4 a, vf4 b) {
#if defined(__x86_64__)
    return (vf4)_mm_max_ps((__m128)a, (__m128)b);
#else
    vi4 mask = a > b;
    return (vf4)((mask & (vi4)a) | (~mask & (vi4)b));
#endif
}
DRAPE_INLINE vf8 vf8_min(vf8 a, vf8 b) {
#if defined(__x86_64__) && DRAPE_W >= 4
    return (vf8)_mm256_min_ps((__m256)a, (__m256)b);
#else
    vi8 mask = a < b;
    return (vf8)((mask & (vi8)a) | (~mask & (vi8)b));
#endif
}
DRAPE_INLINE vf8 vf8_max(vf8 a, vf8 b) {
#if defined(__x86_64__) && DRAPE_W >= 4
    return (vf8)_mm256_max_ps((__m256)a, (__m256)b);
#else
    vi8 mask = a > b;
    return (vf8)((mask & (vi8)a) | (~mask & (vi8)b));
#endif
}

/* Lanes picked from a and b, as VD_SHUFFLE does. */
#define VF_SHUFFLE(a, b, ...) __builtin_shufflevector((a), (b), __VA_ARGS__)

/* Bit i: lane i of a comparison holds. */
DRAPE_INLINE uint32_t vi8_bits(vi8 mask) {
#if defined(__x86_64__) && DRAPE_W >= 4
    return (uint32_t)_mm256_movemask_ps((__m256)mask);
#elif defined(__x86_64__)
    union {
        vi8 whole;
        __m128 half[2];
    } m = {mask};
    return (uint32_t)_mm_movemask_ps(m.half[0]) | (uint32_t)_mm_movemask_ps(m.half[1]) << 4;
#else
    uint32_t bits = 0;
    for (int i = 0; i < 8; i++) bits |= (uint32_t)(mask[i] & 1) << i;
    return bits;
#endif
}

#endif
