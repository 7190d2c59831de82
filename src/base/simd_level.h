/* simd_level.h: which vector instructions this processor has. */
#ifndef DRAPE_BASE_SIMD_LEVEL_H
#define DRAPE_BASE_SIMD_LEVEL_H

#include "base/attributes.h"
#include "drape/base.h"

#include <stdbool.h>

/* Tables of kernels are indexed by drape_simd; the place of DRAPE_SIMD_BEST, which a context never holds, is empty.
 */
enum { DRAPE_I_SIMD_LEVELS = DRAPE_SIMD_AVX512 + 1 };

/* False for DRAPE_SIMD_BEST, which is not a level of its own. */
bool drape_i_simd_available(drape_simd level);
drape_simd drape_i_simd_best(void);

/* A kernel that is compiled once per level: declares its variants and a table to pick from.
 *   DRAPE_I_KERNEL(void, drape_i_thing, (int n, double *x));
 *   drape_i_thing_at[ctx->simd](n, x); */
#if defined(__x86_64__) && !defined(DRAPE_BASELINE_ONLY) /* an option of CMakeLists.txt */
#define DRAPE_I_KERNEL(result, name, parameters)                                                                     \
    result name##_baseline parameters;                                                                               \
    result name##_avx2 parameters;                                                                                   \
    result name##_avx512 parameters;                                                                                 \
    static result(*const name##_at[DRAPE_I_SIMD_LEVELS])                                                             \
        parameters DRAPE_UNUSED = {NULL, name##_baseline, name##_avx2, name##_avx512}
#else
#define DRAPE_I_KERNEL(result, name, parameters)                                                                     \
    result name##_baseline parameters;                                                                               \
    static result(*const name##_at[DRAPE_I_SIMD_LEVELS])                                                             \
        parameters DRAPE_UNUSED = {NULL, name##_baseline, name##_baseline, name##_baseline}
#endif

#endif
