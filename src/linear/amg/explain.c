/* explain.c: what a hierarchy is like, for those who look at it; nothing is computed with these numbers. */
#include "linear/amg/hierarchy.h"

#define BYTES(array, count) ((array) ? (int64_t)(count) * (int64_t)sizeof *(array) : 0)

static int64_t blocks_bytes(const drape_i_fblocks *m) {
    int64_t pattern = m->borrowed ? 0 : BYTES(m->start, m->rows + 1) + BYTES(m->col, m->count);
    return pattern + BYTES(m->val, m->count * m->r * m->c);
}

/* Of the rows of A P that bands work on. */
static int64_t row_bytes(const drape_i_level *l) {
    int64_t numbers = (int64_t)l->widest * DRAPE_I_PADDING * l->P.c, bytes = 0;
    for (int32_t b = 0; b < l->bands.count; b++)
        bytes += BYTES(l->row[b].col, l->widest) + BYTES(l->row[b].val, numbers);
    return bytes;
}

static int64_t level_bytes(const drape_i_level *l) {
    int64_t rows = l->A.rows, n = rows * l->A.r;
    int64_t smoothing = BYTES(l->inverse, n * l->A.r) + BYTES(l->vectors, l->numbers) + BYTES(l->split, rows);
    int64_t gathering = BYTES(l->strong, l->A.count) + BYTES(l->aggregate, rows) + BYTES(l->member, rows) +
                        BYTES(l->member_first, l->P.cols + 2) + BYTES(l->kernel, n * l->modes);
    int64_t back =
        BYTES(l->back_start, l->P.cols + 2) + BYTES(l->back_row, l->P.count) + BYTES(l->back_block, l->P.count);
    return blocks_bytes(&l->A) + blocks_bytes(&l->P) + row_bytes(l) + smoothing + gathering + back;
}

/* Those that are in none (held ones, mostly) are not counted. */
static double mean_aggregate(const drape_i_level *l) {
    return l->P.cols > 0 ? (double)l->member_first[l->P.cols] / l->P.cols : 0;
}

drape_amg_level drape_i_hierarchy_level(const drape_i_hierarchy *h, int32_t index) {
    const drape_i_level *l = &h->level[index];
    bool coarsest = index + 1 == h->levels;
    int64_t factor = coarsest ? BYTES(h->factor, (int64_t)h->coarse * h->coarse) + BYTES(h->column, h->coarse) : 0;
    return (drape_amg_level){.rows = l->A.rows,
                             .size = l->A.r,
                             .blocks = l->A.count,
                             .aggregate = coarsest ? 0 : mean_aggregate(l),
                             .rho = coarsest ? 0 : l->rho,
                             .factored = coarsest && h->coarse > 0,
                             .bytes = level_bytes(l) + factor};
}
