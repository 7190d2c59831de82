/* bounds_lanes.h: whether offsets and columns of some rows stay inside (bounds.h), for kernels. */
#ifndef DRAPE_SPARSE_BOUNDS_LANES_H
#define DRAPE_SPARSE_BOUNDS_LANES_H

#include "base/simd_u32.h"
#include "drape/sparse.h"

enum { COLUMNS_AT_ONCE = 4 * VU32_LANES };

/* Whether count + 1 offsets lie in 0 .. blocks and none is below the one before. No row has 2^32 blocks or more, so
 * steps that are shorter, as unsigned numbers, do not wrap around on the way from the first offset to the last. */
DRAPE_INLINE bool offsets_inside(const int64_t *rowptr, int64_t count, int64_t blocks) {
    uint64_t steps = 0;
    for (int64_t i = 0; i < count; i++) steps |= (uint64_t)rowptr[i + 1] - (uint64_t)rowptr[i];
    return rowptr[0] >= 0 && rowptr[count] >= rowptr[0] && rowptr[count] <= blocks && steps >> 32 == 0;
}

/* Negative columns are above all others as unsigned numbers. The last vectors overlap those before. */
DRAPE_INLINE bool columns_inside(const int32_t *col, int64_t count, uint32_t last) {
    vu32 seen[4] = {{0}, {0}, {0}, {0}};
    bool above = false;
    if (count < COLUMNS_AT_ONCE) {
        for (int64_t k = 0; k < count; k++) above |= (uint32_t)col[k] > last;
        return !above;
    }
    for (int64_t k = 0, end = count - COLUMNS_AT_ONCE;; k = k + COLUMNS_AT_ONCE < end ? k + COLUMNS_AT_ONCE : end) {
        for (int32_t v = 0; v < 4; v++) seen[v] = vu32_note(seen[v], vu32_load(col + k + v * VU32_LANES), last);
        if (k == end) break;
    }
    return !vu32_any_above(vu32_join(vu32_join(seen[0], seen[1]), vu32_join(seen[2], seen[3])), last);
}

/* Of the rows [begin, begin + count). Columns are not read before the offsets are known to be right. */
DRAPE_INLINE bool rows_inside(const drape_bsr3 *A, int64_t begin, int64_t count) {
    const int64_t *rowptr = A->rowptr + begin;
    if (!offsets_inside(rowptr, count, A->rowptr[A->rows])) return false;
    int64_t columns = rowptr[count] - rowptr[0];
    return columns == 0 || columns_inside(A->col + rowptr[0], columns, (uint32_t)A->rows - 1);
}

#endif
