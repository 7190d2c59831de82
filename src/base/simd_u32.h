/* simd_u32.h: whether any of many unsigned 32-bit integers is above `last`, which is below 2^31. Begin with seen =
 * {0}, note a vector of them at a time, and ask at the end. SSE2 has no maximum of integers, so there the signs of
 * differences are kept. */
#ifndef DRAPE_BASE_SIMD_U32_H
#define DRAPE_BASE_SIMD_U32_H

#include "base/simd.h"

#include <stdbool.h>

typedef uint32_t vu32 __attribute__((vector_size(8 * DRAPE_W)));
typedef uint32_t vu32_unaligned __attribute__((vector_size(8 * DRAPE_W), aligned(4), may_alias));
enum { VU32_LANES = 2 * DRAPE_W };

DRAPE_INLINE vu32 vu32_load(const int32_t *p) { return *(const vu32_unaligned *)p; }

#if defined(__x86_64__) && DRAPE_W == 8
DRAPE_INLINE vu32 vu32_join(vu32 a, vu32 b) { return (vu32)_mm512_max_epu32((__m512i)a, (__m512i)b); }
DRAPE_INLINE vu32 vu32_note(vu32 seen, vu32 v, uint32_t last) { return (void)last, vu32_join(seen, v); }
DRAPE_INLINE bool vu32_any_above(vu32 seen, uint32_t last) {
    return _mm512_cmpgt_epu32_mask((__m512i)seen, _mm512_set1_epi32((int32_t)last)) != 0;
}
#elif defined(__x86_64__) && DRAPE_W == 4
DRAPE_INLINE vu32 vu32_join(vu32 a, vu32 b) { return (vu32)_mm256_max_epu32((__m256i)a, (__m256i)b); }
DRAPE_INLINE vu32 vu32_note(vu32 seen, vu32 v, uint32_t last) { return (void)last, vu32_join(seen, v); }
DRAPE_INLINE bool vu32_any_above(vu32 seen, uint32_t last) {
    const __m256i limit = _mm256_set1_epi32((int32_t)last);
    return _mm256_movemask_epi8(_mm256_cmpeq_epi32(_mm256_max_epu32((__m256i)seen, limit), limit)) != -1;
}
#else
DRAPE_INLINE vu32 vu32_join(vu32 a, vu32 b) { return a | b; }
DRAPE_INLINE vu32 vu32_note(vu32 seen, vu32 v, uint32_t last) { return seen | v | (last - v); }
DRAPE_INLINE bool vu32_any_above(vu32 seen, uint32_t last) {
    uint32_t signs = 0;
    (void)last;
    for (int32_t k = 0; k < VU32_LANES; k++) signs |= seen[k];
    return signs >> 31 != 0;
}
#endif

#endif
