/* simd_level.c: asks the processor, once per call; nothing is cached because nothing is global. */
#include "base/simd_level.h"

bool drape_i_simd_available(drape_simd level) {
    if (level == DRAPE_SIMD_BASELINE) return true;
#if defined(__x86_64__)
    if (level == DRAPE_SIMD_AVX2) return __builtin_cpu_supports("avx2");
    if (level == DRAPE_SIMD_AVX512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512dq");
#endif
    return false;
}

drape_simd drape_i_simd_best(void) {
    if (drape_i_simd_available(DRAPE_SIMD_AVX512)) return DRAPE_SIMD_AVX512;
    if (drape_i_simd_available(DRAPE_SIMD_AVX2)) return DRAPE_SIMD_AVX2;
    return DRAPE_SIMD_BASELINE;
}

const char *drape_simd_name(drape_simd simd) {
    switch (simd) {
    case DRAPE_SIMD_BEST: return "best";
#if defined(__aarch64__)
    case DRAPE_SIMD_BASELINE: return "neon";
#else
    case DRAPE_SIMD_BASELINE: return "sse2";
#endif
    case DRAPE_SIMD_AVX2: return "avx2";
    case DRAPE_SIMD_AVX512: return "avx512";
    default: return NULL;
    }
}
