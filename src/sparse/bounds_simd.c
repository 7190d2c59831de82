/* bounds_simd.c: bounds_lanes.h as a kernel of its own. */
#include "sparse/bounds.h"
#include "sparse/bounds_lanes.h"

bool DRAPE_NAME(drape_i_rows_inside)(const drape_bsr3 *A, int64_t begin, int64_t end) {
    return rows_inside(A, begin, end - begin);
}
