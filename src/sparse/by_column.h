/* by_column.h: entries of rows, sorted by their columns: a parallel counting sort. */
#ifndef DRAPE_SPARSE_BY_COLUMN_H
#define DRAPE_SPARSE_BY_COLUMN_H

#include "base/context.h"

/* Row i has the entries [start[i], start[i] + count[i]). */
typedef struct drape_i_entries {
    int32_t rows, cols;
    const int64_t *start; /* rows + 1; NULL: entry i is row i's only one */
    const int32_t *count; /* rows; NULL: up to the start of the next row */
    const int32_t *col;   /* of each entry; negative: leave it out */
} drape_i_entries;

/* A part of the rows each: how many entries a column has in it, then where the next one goes. */
typedef struct drape_i_by_column {
    drape_i_entries entries;
    int64_t *next; /* parts x cols */
    int32_t parts, length;
} drape_i_by_column;

/* Where each column starts: first[0..cols]. On failure nothing is left to be finished. */
drape_status drape_i_by_column_count(drape_context *ctx, const drape_i_entries *entries, int64_t *first,
                                     drape_i_by_column *out);

/* The entries, column by column, rows ascending. row[] has the rows. entry[], unless NULL, has the numbers of the
 * entries, counted from the first one of all, or if `within` from the first one of the row. */
void drape_i_by_column_sort(drape_context *ctx, drape_i_by_column *b, bool within, int32_t *row, int32_t *entry);

/* To stop between count and sort; a sort frees its memory itself. */
void drape_i_by_column_free(drape_context *ctx, drape_i_by_column *b);

#endif
