/* galerkin.c: the coarse matrix P'A P (Tamstorf, Jones and McCormick 2015, section 5), pattern and values apart, so
 * that the values can be made again while the pattern stays.
 *
 * Values: row i of A P is made in a small buffer and added at once to the coarse rows that row i reaches, so that A P
 * is never stored. Bands of fine rows that reach a common coarse row have different colours, so they do not meet, and
 * each coarse row sums in an order that depends on the matrix alone. */
#include "linear/amg/setup.h"

#include "base/parallel.h"
#include "linear/amg/kernels.h"

#include <string.h>

/* ---- The pattern ---- */

enum { MOST_PARTS = 64, PARTS_PER_THREAD = 2 }; /* the result depends on neither */

typedef struct patterning {
    const drape_i_level *fine;
    int64_t *count;       /* blocks of each coarse row; NULL in the second pass */
    drape_i_fblocks *out; /* the second pass fills its col */
    int32_t parts;
    int32_t *mark[MOST_PARTS]; /* of fine rows, then of coarse ones: who saw it last */
} patterning;

static int ascending(const int32_t *a, const int32_t *b) { return (*a > *b) - (*a < *b); }

static void sort(int32_t *list, int32_t count) { /* short lists, nearly in order */
    for (int32_t i = 1; i < count; i++) {
        int32_t value = list[i], k = i;
        for (; k > 0 && ascending(&list[k - 1], &value) > 0; k--) list[k] = list[k - 1];
        list[k] = value;
    }
}

/* Coarse row J meets all that the neighbours of the rows it reaches are interpolated from. */
static int32_t collect(const patterning *p, int32_t J, int32_t *seen_fine, int32_t *seen_coarse, int32_t *list) {
    const drape_i_level *f = p->fine;
    const int32_t mark = 2 * J + (list ? 2 : 1);
    int32_t count = 0;
    for (int64_t b = f->back_start[J]; b < f->back_start[J + 1]; b++) {
        int32_t i = f->back_row[b];
        for (int64_t k = f->A.start[i]; k < f->A.start[i + 1]; k++) {
            int32_t j = f->A.col[k];
            if (seen_fine[j] == mark) continue;
            seen_fine[j] = mark;
            for (int64_t q = f->P.start[j]; q < f->P.start[j + 1]; q++) {
                int32_t column = f->P.col[q];
                if (seen_coarse[column] == mark) continue;
                seen_coarse[column] = mark;
                if (list) list[count] = column;
                count++;
            }
        }
    }
    return count;
}

static void collect_part(void *data, int32_t part) {
    patterning *p = data;
    int32_t rows = p->fine->P.cols, *seen = p->mark[part];
    for (int32_t J = (int32_t)((int64_t)rows * part / p->parts); J < (int64_t)rows * (part + 1) / p->parts; J++) {
        int32_t *list = p->count ? NULL : p->out->col + p->out->start[J];
        int32_t count = collect(p, J, seen, seen + p->fine->A.rows, list);
        if (p->count) p->count[J] = count;
        else sort(list, count);
    }
}

static drape_status make_pattern(drape_context *ctx, patterning *p, drape_i_fblocks *out) {
    int32_t rows = p->fine->P.cols, modes = p->fine->P.c;
    int64_t total = 0;
    drape_i_tasks(ctx, p->parts, collect_part, p);
    for (int32_t J = 0; J < rows; J++) total += p->count[J];
    drape_status status = drape_i_fblocks_alloc(ctx, rows, rows, modes, modes, total, out);
    if (status) return status;
    for (int32_t J = 0; J < rows; J++) out->start[J + 1] = out->start[J] + p->count[J];
    patterning second = *p;
    second.count = NULL;
    second.out = out;
    drape_i_tasks(ctx, p->parts, collect_part, &second);
    return DRAPE_OK;
}

/* The most blocks that a row of A P can have. */
static int32_t widest(const drape_i_level *f) {
    int64_t most = 1;
    for (int32_t i = 0; i < f->A.rows; i++) {
        int64_t sum = 0;
        for (int64_t k = f->A.start[i]; k < f->A.start[i + 1]; k++)
            sum += f->P.start[f->A.col[k] + 1] - f->P.start[f->A.col[k]];
        if (sum > most) most = sum;
    }
    return (int32_t)(most < f->P.cols ? most : f->P.cols);
}

static drape_status allocate_rows(drape_context *ctx, drape_i_level *fine) {
    fine->widest = widest(fine);
    for (int32_t b = 0; b < fine->bands.count; b++)
        if (!DRAPE_NEW(ctx, fine->row[b].col, fine->widest) ||
            !DRAPE_NEW(ctx, fine->row[b].val, (int64_t)fine->widest * DRAPE_I_PADDING * fine->P.c))
            return DRAPE_ERROR_MEMORY;
    return DRAPE_OK;
}

drape_status drape_i_galerkin_pattern(drape_context *ctx, drape_i_level *fine, drape_i_fblocks *out) {
    patterning p = {.fine = fine};
    int64_t rows = fine->P.cols, marks = fine->A.rows + rows;
    p.parts = ctx->threads == 1 ? 1 : PARTS_PER_THREAD * ctx->threads;
    if (p.parts > MOST_PARTS) p.parts = MOST_PARTS;
    bool good = DRAPE_NEW(ctx, p.count, rows);
    for (int32_t i = 0; i < p.parts && good; i++) good = DRAPE_NEW(ctx, p.mark[i], marks);
    drape_status status = good ? make_pattern(ctx, &p, out) : DRAPE_ERROR_MEMORY;
    for (int32_t i = 0; i < p.parts; i++) DRAPE_FREE(ctx, p.mark[i], marks);
    DRAPE_FREE(ctx, p.count, rows);
    return status ? status : allocate_rows(ctx, fine);
}

/* ---- The values ---- */

typedef struct multiplying {
    drape_simd simd;
    drape_i_level *fine;
    drape_i_fblocks *coarse;
} multiplying;

static void multiply_band(void *data, int32_t band) {
    const multiplying *m = data;
    drape_i_product_row *row = &m->fine->row[band];
    for (int32_t i = m->fine->bands.first[band]; i < m->fine->bands.first[band + 1]; i++) {
        if (m->fine->P.start[i] == m->fine->P.start[i + 1]) continue;
        drape_i_product_make_at[m->simd](m->fine, i, row);
        drape_i_product_add_at[m->simd](m->fine, i, row, m->coarse);
    }
}

void drape_i_galerkin_values(drape_context *ctx, drape_i_level *fine, drape_i_fblocks *coarse) {
    multiplying m = {ctx->simd, fine, coarse};
    memset(coarse->val, 0, (size_t)(coarse->count * coarse->r * coarse->c) * sizeof *coarse->val);
    drape_i_bands_coloured(ctx, &fine->reach, false, multiply_band, &m);
}
