/* matrix.h: the internals of a matrix. */
#ifndef DRAPE_SPARSE_MATRIX_H
#define DRAPE_SPARSE_MATRIX_H

#include "base/context.h"
#include "drape/sparse.h"

struct drape_matrix {
    drape_context *ctx;
    drape_matrix *pattern; /* whose rowptr and col these are; NULL: its own */
    int32_t users;         /* matrices that share this one's pattern, and itself */
    int32_t rows;
    int64_t blocks; /* rowptr[rows] */
    int64_t *rowptr;
    int32_t *col;
    double *val; /* NULL: a pattern alone */
};

/* What a function cannot do without is NULL: DRAPE_ERROR_ARGUMENT, "who: what is missing". ctx may be NULL, too. */
drape_status drape_i_missing(drape_context *ctx, const char *who, const char *what);

/* A matrix with space for this number of blocks, all zero; the caller fills rowptr and col. */
drape_status drape_i_matrix_alloc(drape_context *ctx, int32_t rows, int64_t blocks, drape_matrix **out);
/* The same without values. */
drape_status drape_i_pattern_alloc(drape_context *ctx, int32_t rows, int64_t blocks, drape_matrix **out);
/* The pattern of drape_matrix_from_elements, without values. */
drape_status drape_i_pattern_from_elements(drape_context *ctx, int32_t rows, const drape_elements *sets,
                                           int32_t set_count, drape_matrix **out);
/* Zero values on a pattern that is shared, not copied; it lives as long as its last user. */
drape_status drape_i_matrix_on_pattern(drape_matrix *pattern, drape_matrix **out);

/* Index k of the block (row, column), or -1 where the pattern has none. */
int64_t drape_i_matrix_find(const drape_bsr3 *A, int32_t row, int32_t column);

/* ---- Keys of patterns ---- */

/* Tells whether a matrix still has the pattern that something was made for, at a twentieth of the cost of a multiply.
 */
typedef struct drape_i_pattern_key {
    int32_t rows; /* -1: fits no matrix */
    int64_t blocks;
    uint64_t rowptr, col; /* sums over their numbers */
} drape_i_pattern_key;

/* A must be sound (drape_bsr3_check). */
drape_i_pattern_key drape_i_pattern_key_of(drape_context *ctx, const drape_bsr3 *A);
/* A need not be sound: col is ignored before rowptr is known to be the right one. */
bool drape_i_pattern_is(drape_context *ctx, const drape_bsr3 *A, const drape_i_pattern_key *key);

#endif
