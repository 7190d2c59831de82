/* pattern_key.h: tells whether a matrix still has the pattern that something was made for, at a twentieth of the cost
 * of a multiply. */
#ifndef DRAPE_SPARSE_PATTERN_KEY_H
#define DRAPE_SPARSE_PATTERN_KEY_H

#include "base/context.h"
#include "drape/sparse.h"

typedef struct drape_i_pattern_key {
    int32_t rows; /* -1: fits no matrix */
    int64_t blocks;
    uint64_t rowptr, col; /* sums over their numbers */
} drape_i_pattern_key;

/* A must be sound (drape_bsr3_check). */
drape_i_pattern_key drape_i_pattern_key_of(drape_context *ctx, const drape_bsr3 *A);
/* A need not be sound: col is not looked at before rowptr is known to be the right one. */
bool drape_i_pattern_is(drape_context *ctx, const drape_bsr3 *A, const drape_i_pattern_key *key);

#endif
