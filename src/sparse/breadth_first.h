/* breadth_first.h: an order of the rows in which neighbours are close to each other. */
#ifndef DRAPE_SPARSE_BREADTH_FIRST_H
#define DRAPE_SPARSE_BREADTH_FIRST_H

#include "base/context.h"
#include "drape/sparse.h"

/* line[k] = the row that comes k-th. Rows are neighbours if either has a block in the other's column. first and row
 * are the pattern by columns (the rows of column j at first[j] ..), or NULL if the pattern is symmetric. */
drape_status drape_i_breadth_first(drape_context *ctx, const drape_bsr3 *A, const int64_t *first, const int32_t *row,
                                   int32_t *line);

#endif
