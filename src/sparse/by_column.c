/* by_column.c: see by_column.h. Each part of the rows counts by itself; a column's entries then are part by part,
 * so that the order is that of one pass over all rows. */
#include "sparse/by_column.h"

#include "base/parallel.h"

#include <string.h>

enum { MOST_PARTS = 4, LEAST_ROWS = 1024 /* of a part */ };

typedef struct sorting {
    const drape_i_by_column *by;
    bool within;
    int32_t *row, *entry;
} sorting;

/* The entries of row i. */
static int64_t first_of(const drape_i_entries *e, int32_t i) { return e->start ? e->start[i] : i; }

static int64_t end_of(const drape_i_entries *e, int32_t i) {
    if (e->count) return first_of(e, i) + e->count[i];
    return first_of(e, i + 1);
}

static int32_t begin_of_part(const drape_i_by_column *b, int32_t part) {
    int64_t begin = (int64_t)part * b->length;
    return begin < b->entries.rows ? (int32_t)begin : b->entries.rows;
}

static void count_part(void *data, int32_t part) {
    const drape_i_by_column *b = ((const sorting *)data)->by;
    const drape_i_entries *e = &b->entries;
    int64_t *count = b->next + (int64_t)part * e->cols;
    memset(count, 0, (size_t)e->cols * sizeof *count);
    for (int32_t i = begin_of_part(b, part); i < begin_of_part(b, part + 1); i++)
        for (int64_t k = first_of(e, i); k < end_of(e, i); k++)
            if (e->col[k] >= 0) count[e->col[k]]++;
}

static void sort_part(void *data, int32_t part) {
    const sorting *s = data;
    const drape_i_entries *e = &s->by->entries;
    int64_t *next = s->by->next + (int64_t)part * e->cols;
    for (int32_t i = begin_of_part(s->by, part); i < begin_of_part(s->by, part + 1); i++) {
        const int64_t first = first_of(e, i);
        for (int64_t k = first; k < end_of(e, i); k++) {
            if (e->col[k] < 0) continue;
            int64_t at = next[e->col[k]]++;
            s->row[at] = i;
            if (s->entry) s->entry[at] = (int32_t)(s->within ? k - first : k);
        }
    }
}

drape_status drape_i_by_column_count(drape_context *ctx, const drape_i_entries *entries, int64_t *first,
                                     drape_i_by_column *out) {
    drape_i_by_column b = {.entries = *entries, .parts = entries->rows / LEAST_ROWS};
    int64_t sum = 0;
    if (b.parts > MOST_PARTS) b.parts = MOST_PARTS;
    if (b.parts < 1) b.parts = 1;
    b.length = (entries->rows + b.parts - 1) / b.parts;
    if (!DRAPE_NEW_RAW(ctx, b.next, (int64_t)b.parts * entries->cols)) return DRAPE_ERROR_MEMORY;
    *out = b;
    drape_i_tasks(ctx, b.parts, count_part, &(sorting){.by = &b});
    for (int32_t j = 0; j < entries->cols; j++) {
        first[j] = sum;
        for (int32_t part = 0; part < b.parts; part++) {
            int64_t *next = &b.next[(int64_t)part * entries->cols + j], count = *next;
            *next = sum;
            sum += count;
        }
    }
    first[entries->cols] = sum;
    return DRAPE_OK;
}

void drape_i_by_column_sort(drape_context *ctx, drape_i_by_column *b, bool within, int32_t *row, int32_t *entry) {
    drape_i_tasks(ctx, b->parts, sort_part, &(sorting){b, within, row, entry});
    drape_i_by_column_free(ctx, b);
}

void drape_i_by_column_free(drape_context *ctx, drape_i_by_column *b) {
    DRAPE_FREE(ctx, b->next, (int64_t)b->parts * b->entries.cols);
    b->next = NULL;
}
