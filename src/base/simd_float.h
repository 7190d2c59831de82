/* simd_float.h: eight floats or whole numbers in lanes, for kernels (*_simd.c) that compare and cull.
 *
 * Data comes in blocks of eight, whatever the instruction set. VF_LANES of them, 8 or 4, go through one register. So
 * a kernel takes a block in 8 / VF_LANES passes, and gets the same bits from each lane. IEEE operations lane by lane,
 * as in simd.h. A comparison gives a vm, of which vm_bits makes bits. */
#ifndef DRAPE_BASE_SIMD_FLOAT_H
#define DRAPE_BASE_SIMD_FLOAT_H

#include "base/simd.h"

#if DRAPE_W >= 4
#define VF_LANES 8
#else
#define VF_LANES 4
#endif

typedef float vf __attribute__((vector_size(4 * VF_LANES), may_alias));
typedef int32_t vfi __attribute__((vector_size(4 * VF_LANES), may_alias));

/* p on 4 VF_LANES bytes. */
DRAPE_INLINE vf vf_load(const float *p) { return *(const vf *)p; }
DRAPE_INLINE vfi vfi_load(const int32_t *p) { return *(const vfi *)p; }
DRAPE_INLINE vf4 vf4_load(const float *p) {
    typedef float aliased __attribute__((vector_size(16), may_alias));
    return *(const aliased *)p;
}

DRAPE_INLINE vf vf_set1(float a) { return a - (vf){0}; }
DRAPE_INLINE vfi vfi_set1(int32_t a) { return a - (vfi){0}; }
DRAPE_INLINE vf vf_abs(vf a) { return (vf)((vfi)a & 0x7fffffff); }

/* a < b ? a : b and a > b ? a : b: where one of them is not a number, b. */
#if defined(__x86_64__) && VF_LANES == 8
DRAPE_INLINE vf vf_min(vf a, vf b) { return (vf)_mm256_min_ps((__m256)a, (__m256)b); }
DRAPE_INLINE vf vf_max(vf a, vf b) { return (vf)_mm256_max_ps((__m256)a, (__m256)b); }
#elif defined(__x86_64__)
DRAPE_INLINE vf vf_min(vf a, vf b) { return (vf)_mm_min_ps((__m128)a, (__m128)b); }
DRAPE_INLINE vf vf_max(vf a, vf b) { return (vf)_mm_max_ps((__m128)a, (__m128)b); }
#else
DRAPE_INLINE vf vf_min(vf a, vf b) {
    vfi mask = a < b;
    return (vf)((mask & (vfi)a) | (~mask & (vfi)b));
}
DRAPE_INLINE vf vf_max(vf a, vf b) {
    vfi mask = a > b;
    return (vf)((mask & (vfi)a) | (~mask & (vfi)b));
}
#endif
#if defined(__x86_64__)
DRAPE_INLINE vf4 vf4_min(vf4 a, vf4 b) { return (vf4)_mm_min_ps((__m128)a, (__m128)b); }
DRAPE_INLINE vf4 vf4_max(vf4 a, vf4 b) { return (vf4)_mm_max_ps((__m128)a, (__m128)b); }
#else
DRAPE_INLINE vf4 vf4_min(vf4 a, vf4 b) { return vf_min(a, b); }
DRAPE_INLINE vf4 vf4_max(vf4 a, vf4 b) { return vf_max(a, b); }
#endif

/* Comparisons, to be joined by & and |. What is not a number satisfies none. */
#if defined(__x86_64__) && DRAPE_W == 8
typedef uint32_t vm;
DRAPE_INLINE vm vf_le(vf a, vf b) { return _mm256_cmp_ps_mask((__m256)a, (__m256)b, _CMP_LE_OQ); }
DRAPE_INLINE vm vf_lt(vf a, vf b) { return _mm256_cmp_ps_mask((__m256)a, (__m256)b, _CMP_LT_OQ); }
DRAPE_INLINE vm vfi_eq(vfi a, vfi b) { return _mm256_cmpeq_epi32_mask((__m256i)a, (__m256i)b); }
DRAPE_INLINE uint32_t vm_bits(vm m) { return m; }
#else
typedef vfi vm;
DRAPE_INLINE vm vf_le(vf a, vf b) { return (vm)(a <= b); }
DRAPE_INLINE vm vf_lt(vf a, vf b) { return (vm)(a < b); }
DRAPE_INLINE vm vfi_eq(vfi a, vfi b) { return (vm)(a == b); }
/* Bit i: the comparison holds in lane i. */
DRAPE_INLINE uint32_t vm_bits(vm m) {
#if defined(__x86_64__) && VF_LANES == 8
    return (uint32_t)_mm256_movemask_ps((__m256)m);
#elif defined(__x86_64__)
    return (uint32_t)_mm_movemask_ps((__m128)m);
#else
    uint32_t bits = 0;
    for (int i = 0; i < VF_LANES; i++) bits |= (uint32_t)(m[i] & 1) << i;
    return bits;
#endif
}
#endif

/* Lanes picked from a and b, as VD_SHUFFLE does. */
#define VF_SHUFFLE(a, b, ...) __builtin_shufflevector((a), (b), __VA_ARGS__)

/* VF_LANES records of eight floats (each on 32 bytes): out[0..6] gets their floats 0..6. */
DRAPE_INLINE void vf_transpose(const float *const record[VF_LANES], vf out[7]) {
#if VF_LANES == 8
    vf r[8], low[4], high[4];
    for (int i = 0; i < 8; i++) r[i] = vf_load(record[i]);
    for (int i = 0; i < 4; i++) {
        low[i] = VF_SHUFFLE(r[2 * i], r[2 * i + 1], 0, 8, 1, 9, 4, 12, 5, 13);    /* 0 0 1 1 | 4 4 5 5 */
        high[i] = VF_SHUFFLE(r[2 * i], r[2 * i + 1], 2, 10, 3, 11, 6, 14, 7, 15); /* 2 2 3 3 | 6 6 7 7 */
    }
    for (int i = 0; i < 4; i++) {
        vf *of = i < 2 ? low : high, a, b; /* float i of four records | float 4 + i of them */
        if (i % 2) {
            a = VF_SHUFFLE(of[0], of[1], 2, 3, 10, 11, 6, 7, 14, 15);
            b = VF_SHUFFLE(of[2], of[3], 2, 3, 10, 11, 6, 7, 14, 15);
        } else {
            a = VF_SHUFFLE(of[0], of[1], 0, 1, 8, 9, 4, 5, 12, 13);
            b = VF_SHUFFLE(of[2], of[3], 0, 1, 8, 9, 4, 5, 12, 13);
        }
        out[i] = VF_SHUFFLE(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
        if (i < 3) out[4 + i] = VF_SHUFFLE(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
    }
#else
    for (int half = 0; half < 2; half++) {
        vf r[4];
        for (int i = 0; i < 4; i++) r[i] = vf_load(record[i] + 4 * half);
        vf a = VF_SHUFFLE(r[0], r[1], 0, 4, 1, 5), b = VF_SHUFFLE(r[2], r[3], 0, 4, 1, 5); /* 0 0 1 1 */
        vf c = VF_SHUFFLE(r[0], r[1], 2, 6, 3, 7), d = VF_SHUFFLE(r[2], r[3], 2, 6, 3, 7); /* 2 2 3 3 */
        out[4 * half] = VF_SHUFFLE(a, b, 0, 1, 4, 5);
        out[4 * half + 1] = VF_SHUFFLE(a, b, 2, 3, 6, 7);
        out[4 * half + 2] = VF_SHUFFLE(c, d, 0, 1, 4, 5);
        if (half == 0) out[3] = VF_SHUFFLE(c, d, 2, 3, 6, 7);
    }
#endif
}

#endif
