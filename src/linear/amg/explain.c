/* explain.c: what a hierarchy is like, for those who look at it; nothing is computed with these numbers. */
#include "linear/amg/hierarchy.h"

#include "base/timer.h"

#define BYTES(array, count) ((array) ? (int64_t)(count) * (int64_t)sizeof *(array) : 0)

static int64_t half_bytes(const drape_i_upper *A) {
    int64_t borders = BYTES(A->border, A->borders) + BYTES(A->lower_start, A->borders + 2) +
                      BYTES(A->lower_col, A->lowers) + BYTES(A->lower_block, A->lowers);
    return borders + BYTES(A->start, A->rows + 1) + BYTES(A->col, A->count) + BYTES(A->inner, A->rows) +
           BYTES(A->val, A->count * A->r * A->r);
}

static int64_t blocks_bytes(const drape_i_fblocks *m) {
    return BYTES(m->start, m->rows + 1) + BYTES(m->col, m->count) + BYTES(m->val, m->count * m->r * m->c);
}

static int64_t level_bytes(const drape_i_level *l) {
    int64_t rows = l->A.rows, n = rows * l->A.r;
    int64_t order = BYTES(l->user, rows) + BYTES(l->source, l->A.count);
    int64_t smoothing = BYTES(l->scale, n * l->A.r) + BYTES(l->vectors, l->numbers) +
                        BYTES(l->sweep, 2 * rows * DRAPE_I_STRIDE(l->A.r));
    int64_t slots = BYTES(l->row_slot, l->A.count) + BYTES(l->col_slot, l->A.count) + BYTES(l->low_slot, l->A.lowers);
    int64_t gathering = BYTES(l->aggregate, rows) + BYTES(l->member, rows) + BYTES(l->member_first, l->P.cols + 1);
    return half_bytes(&l->A) + blocks_bytes(&l->P) + drape_i_recipe_bytes(l) + order + smoothing + slots + gathering;
}

/* Those that are in none (held ones, mostly) are not counted. */
static double mean_aggregate(const drape_i_level *l) {
    return l->P.cols > 0 ? (double)l->member_first[l->P.cols] / l->P.cols : 0;
}

void drape_i_level_lap(drape_i_level *level, int32_t part, double *since) {
    double now = drape_i_seconds();
    level->seconds[part] += now - *since;
    *since = now;
}

const char *drape_amg_part_name(drape_amg_part part) {
    static const char *const names[DRAPE_AMG_PARTS] = {"scale",   "lanczos", "aggregate", "interpolate", "pattern",
                                                       "product", "first",   "restrict",  "prolong",     "last"};
    return (uint32_t)part < DRAPE_AMG_PARTS ? names[part] : NULL;
}

/* What a part of a cycle reads and writes where nothing is in a cache: matrices once, vectors as often as they are
 * met. Chebyshev's smoother reads the matrix once per degree, and once more for the residual that it starts from. */
static int64_t part_bytes(const drape_i_hierarchy *h, const drape_i_level *l, int32_t part) {
    const int64_t vector = DRAPE_I_STRIDE(l->A.r) * (int64_t)sizeof(float) * l->A.rows;
    const int64_t matrix = l->A.count * (int64_t)(sizeof *l->A.val * (size_t)(l->A.r * l->A.r) + sizeof *l->A.col) +
                           l->A.rows * (int64_t)(sizeof *l->A.start + sizeof *l->A.inner);
    const int64_t blocks = l->P.count * (int64_t)(sizeof *l->P.val * (size_t)(l->P.r * l->P.c));
    const int64_t coarse = DRAPE_I_STRIDE(l->P.c) * (int64_t)sizeof(float) * l->P.cols;
    const int64_t P = blocks + (int64_t)sizeof *l->P.col * l->P.count + (int64_t)sizeof *l->P.start * l->P.rows;
    if (part == DRAPE_AMG_RESTRICT) return P + vector + 2 * coarse;
    if (part == DRAPE_AMG_PROLONG) return P + 2 * vector + coarse;
    if (part != DRAPE_AMG_FIRST && part != DRAPE_AMG_LAST) return 0;
    return h->degree > 0 ? h->degree * (matrix + 6 * vector) : matrix + 3 * vector;
}

static void list_costs(const drape_i_hierarchy *h, const drape_i_level *l, drape_amg_cost *out) {
    for (int32_t part = 0; part < DRAPE_AMG_PARTS; part++) {
        bool cycle = part >= DRAPE_AMG_FIRST;
        out[part].seconds = l->seconds[part] / (cycle && h->cycles > 0 ? (double)h->cycles : 1);
        out[part].bytes = part_bytes(h, l, part);
    }
}

drape_amg_level drape_i_hierarchy_level(const drape_i_hierarchy *h, int32_t index) {
    const drape_i_level *l = &h->level[index];
    bool coarsest = index + 1 == h->levels;
    int64_t factor = coarsest ? BYTES(h->factor, (int64_t)h->coarse * h->coarse) + BYTES(h->column, h->coarse) : 0;
    drape_amg_level out = {.rows = l->A.rows,
                           .size = l->A.r,
                           .blocks = 2 * l->A.count + l->A.rows,
                           .aggregate = coarsest ? 0 : mean_aggregate(l),
                           .rho = coarsest ? 0 : l->rho,
                           .factored = coarsest && h->coarse > 0,
                           .bytes = level_bytes(l) + factor};
    list_costs(h, l, out.cost);
    if (out.factored) out.cost[DRAPE_AMG_FIRST].bytes = 2 * factor;
    return out;
}
