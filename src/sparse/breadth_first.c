/* breadth_first.c: a breadth-first search from a row at the boundary (Cuthill and McKee 1969). Each row comes soon
 * after its neighbours, and rows of levels that are far apart are not coupled. */
#include "sparse/breadth_first.h"

enum { SEARCHES = 3 }; /* each from the row that the one before found last */

typedef struct search {
    const drape_bsr3 *A;
    const int64_t *first;
    const int32_t *row;
    int32_t *line;  /* rows as they are found */
    uint32_t *seen; /* in which search */
    uint32_t number;
} search;

static int32_t take(search *s, int32_t i, int32_t end) {
    if (s->seen[i] == s->number) return end;
    s->seen[i] = s->number;
    s->line[end] = i;
    return end + 1;
}

/* Writes what hangs together with root to line[begin ..]; returns its end. */
static int32_t search_from(search *s, int32_t root, int32_t begin) {
    s->number++;
    int32_t end = take(s, root, begin);
    for (int32_t at = begin; at < end; at++) {
        int32_t i = s->line[at];
        for (int64_t k = s->A->rowptr[i]; k < s->A->rowptr[i + 1]; k++) end = take(s, s->A->col[k], end);
        for (int64_t k = s->first ? s->first[i] : 0; k < (s->first ? s->first[i + 1] : 0); k++)
            end = take(s, s->row[k], end);
    }
    return end;
}

drape_status drape_i_breadth_first(drape_context *ctx, const drape_bsr3 *A, const int64_t *first, const int32_t *row,
                                   int32_t *line) {
    search s = {.A = A, .first = first, .row = row, .line = line};
    if (!DRAPE_NEW(ctx, s.seen, A->rows)) return DRAPE_ERROR_MEMORY;
    for (int32_t i = 0, begin = 0; i < A->rows; i++) {
        if (s.seen[i]) continue;
        int32_t end = search_from(&s, i, begin);
        for (int32_t k = 1; k < SEARCHES && end > begin + 1; k++) search_from(&s, line[end - 1], begin);
        begin = end;
    }
    DRAPE_FREE(ctx, s.seen, A->rows);
    return DRAPE_OK;
}
