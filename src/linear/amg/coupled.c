/* coupled.c: the levels below the finest one of a matrix with couplings.
 *
 * On the finest level couplings are terms g g' beside U (terms.c), and P is that of A. The next level's operator is
 *
 *     P'(A + C) P = I + U + U' + sum of h h',   h = P'g,
 *
 * which is made as a matrix: in U's pattern and, where terms join rows that U does not, a larger one. Scaled to
 * diagonal blocks of I it is the first level of a hierarchy of its own, with its own strength of connections and
 * aggregates. That is what makes it work: vertices that are strongly coupled move together, smoothing alone hardly
 * moves them together, and so they must be in one aggregate. The finest level, where nearly all of the work is, is
 * kept.
 *
 * Couplings may be others in every solve, and their levels are rebuilt each time. Their memory comes from a region
 * that is kept, so that this allocates nothing once the region is large enough.
 *
 * Rows are worked on in parts, each with memory of its own; the terms of a row are taken in their order. */
#include "base/parallel.h"
#include "linear/amg/hierarchy.h"
#include "linear/amg/region.h"

#include <string.h>

enum { GRAIN = 256, PARTS = 8, SMALL_SORT = 24 };

/* ---- Memory ---- */

static void free_levels(drape_i_hierarchy *h) {
    if (!h->coupled) return;
    drape_i_hierarchy_free(&h->region->ctx, h->coupled);
    DRAPE_FREE(&h->region->ctx, h->coupled, 1);
    h->coupled = NULL;
}

void drape_i_hierarchy_uncouple(drape_i_hierarchy *h) {
    if (!h->region) return;
    free_levels(h);
    drape_i_region_destroy(&h->region);
}

void drape_i_hierarchy_move_couplings(drape_i_hierarchy *from, drape_i_hierarchy *to) {
    free_levels(from);
    drape_i_terms_clear(&from->level[0].terms);
    to->region = from->region;
    to->level[0].terms = from->level[0].terms;
    from->region = NULL;
    from->level[0].terms = (drape_i_terms){0};
}

/* ---- Terms on the coarse level: h = P'g ---- */

typedef struct coarse_terms {
    const drape_i_level *fine;
    int32_t count, rows, r;
    int64_t *first; /* count + 1 */
    int32_t *row;
    float *h; /* r numbers each */
    /* The same by rows: */
    int64_t *row_first; /* rows + 1 */
    int64_t *entry;     /* of which numbers in row and h these are */
    int32_t *term;
    int64_t room;
} coarse_terms;

static void free_terms(drape_context *ctx, coarse_terms *t) {
    DRAPE_FREE(ctx, t->first, t->count + (int64_t)1);
    DRAPE_FREE(ctx, t->row_first, t->rows + (int64_t)1);
    DRAPE_FREE(ctx, t->row, t->room);
    DRAPE_FREE(ctx, t->h, t->room * t->r);
    DRAPE_FREE(ctx, t->entry, t->room);
    DRAPE_FREE(ctx, t->term, t->room);
}

static int64_t blocks_of(const coarse_terms *t, int64_t e) {
    const int64_t *start = t->fine->P.start + t->fine->terms.row[e];
    return start[1] - start[0];
}

/* h of term c; a row that several vertices reach is in it once. */
DRAPE_INLINE void restrict_sized(coarse_terms *t, int64_t c, int32_t r, int32_t n) {
    const drape_i_terms *from = &t->fine->terms;
    const drape_i_fblocks *P = &t->fine->P;
    int32_t *row = t->row + t->first[c], count = 0;
    float *h = t->h + n * t->first[c];
    for (int64_t e = from->first[c]; e < from->first[c + 1]; e++)
        for (int64_t q = P->start[from->row[e]]; q < P->start[from->row[e] + 1]; q++) {
            const float *p = P->val + r * n * q, *g = from->g + DRAPE_I_STRIDE(r) * e;
            int32_t at = 0;
            while (at < count && row[at] != P->col[q]) at++;
            if (at == count) {
                row[count++] = P->col[q];
                memset(h + n * at, 0, (size_t)n * sizeof *h);
            }
            for (int32_t k = 0; k < r; k++)
                for (int32_t m = 0; m < n; m++) h[n * at + m] += p[n * k + m] * g[k];
        }
    for (int64_t e = t->first[c] + count; e < t->first[c + 1]; e++) t->row[e] = -1;
}

static void restrict_terms(void *data, int64_t begin, int64_t end) {
    coarse_terms *t = data;
    for (int64_t c = begin; c < end; c++) {
        if (t->r == 3) restrict_sized(t, c, 3, 3);
        else if (t->r == 6) restrict_sized(t, c, 3, 6);
        else restrict_sized(t, c, 3, 12);
    }
}

static void sort_by_rows(coarse_terms *t) {
    for (int64_t e = 0; e < t->room; e++)
        if (t->row[e] >= 0) t->row_first[t->row[e] + 1]++;
    for (int32_t i = 0; i < t->rows; i++) t->row_first[i + 1] += t->row_first[i];
    for (int32_t c = 0; c < t->count; c++)
        for (int64_t e = t->first[c]; e < t->first[c + 1] && t->row[e] >= 0; e++) {
            int64_t at = t->row_first[t->row[e]]++;
            t->entry[at] = e;
            t->term[at] = c;
        }
    for (int32_t i = t->rows; i > 0; i--) t->row_first[i] = t->row_first[i - 1];
    t->row_first[0] = 0;
}

static drape_status make_terms(drape_context *ctx, const drape_i_hierarchy *h, coarse_terms *t) {
    const drape_i_terms *from = &h->level[0].terms;
    *t = (coarse_terms){.fine = &h->level[0], .count = from->count, .rows = h->level[1].A.rows, .r = h->level[1].A.r};
    if (!DRAPE_NEW(ctx, t->first, t->count + (int64_t)1) || !DRAPE_NEW(ctx, t->row_first, t->rows + (int64_t)1))
        return DRAPE_ERROR_MEMORY;
    for (int32_t c = 0; c < t->count; c++) {
        t->first[c + 1] = t->first[c];
        for (int64_t e = from->first[c]; e < from->first[c + 1]; e++) t->first[c + 1] += blocks_of(t, e);
    }
    t->room = t->first[t->count];
    if (!DRAPE_NEW_RAW(ctx, t->row, t->room) || !DRAPE_NEW_RAW(ctx, t->h, t->room * t->r) ||
        !DRAPE_NEW_RAW(ctx, t->entry, t->room) || !DRAPE_NEW_RAW(ctx, t->term, t->room))
        return DRAPE_ERROR_MEMORY;
    drape_i_loop(ctx, t->count, GRAIN, restrict_terms, t);
    sort_by_rows(t);
    return DRAPE_OK;
}

/* ---- The matrix ---- */

typedef struct merging {
    const coarse_terms *t;
    const drape_i_upper *plain; /* U of A alone */
    drape_i_level *level;       /* with both */
    int64_t *start;             /* rows + 1 */
    int32_t *mark;              /* PARTS x rows: of each column, where it is in the row that is worked on */
} merging;

static void bounds_of(const merging *m, int32_t part, int32_t *begin, int32_t *end) {
    *begin = (int32_t)((int64_t)m->t->rows * part / PARTS);
    *end = (int32_t)((int64_t)m->t->rows * (part + 1) / PARTS);
}

/* How many blocks each row has. mark[j] = i: column j is in row i. */
static void count_part(void *data, int32_t part) {
    const merging *m = data;
    const coarse_terms *t = m->t;
    int32_t begin, end, *mark = m->mark + (int64_t)t->rows * part;
    bounds_of(m, part, &begin, &end);
    for (int32_t j = 0; j < t->rows; j++) mark[j] = -1;
    for (int32_t i = begin; i < end; i++) {
        int64_t count = m->plain->start[i + 1] - m->plain->start[i];
        for (int64_t k = m->plain->start[i]; k < m->plain->start[i + 1]; k++) mark[m->plain->col[k]] = i;
        for (int64_t a = t->row_first[i]; a < t->row_first[i + 1]; a++)
            for (int64_t e = t->first[t->term[a]]; e < t->first[t->term[a] + 1] && t->row[e] >= 0; e++) {
                if (t->row[e] <= i || mark[t->row[e]] == i) continue;
                mark[t->row[e]] = i;
                count++;
            }
        m->start[i + 1] = count;
    }
}

/* Few and nearly sorted, or many. */
static void sort(int32_t *a, int64_t n) {
    for (int64_t gap = n > SMALL_SORT ? n / 2 : 1; gap > 0; gap /= 2) /* Shell's */
        for (int64_t i = gap; i < n; i++) {
            const int32_t value = a[i];
            int64_t at = i;
            for (; at >= gap && a[at - gap] > value; at -= gap) a[at] = a[at - gap];
            a[at] = value;
        }
}

static void list_columns(const merging *m, int32_t i, int32_t *mark) {
    const coarse_terms *t = m->t;
    const drape_i_upper *A = &m->level->A;
    int32_t *col = A->col + A->start[i];
    int64_t count = m->plain->start[i + 1] - m->plain->start[i];
    for (int64_t k = 0; k < count; k++) mark[col[k] = m->plain->col[m->plain->start[i] + k]] = i;
    for (int64_t a = t->row_first[i]; a < t->row_first[i + 1]; a++)
        for (int64_t e = t->first[t->term[a]]; e < t->first[t->term[a] + 1] && t->row[e] >= 0; e++)
            if (t->row[e] > i && mark[t->row[e]] != i) mark[col[count++] = t->row[e]] = i;
    sort(col, count);
}

/* to += h_i h_j' */
DRAPE_INLINE void add_outer(int32_t n, const float *hi, const float *hj, float *to) {
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b < n; b++) to[n * a + b] += hi[a] * hj[b];
}

/* Row i of I/2 + U + C above the diagonal and half of it on the diagonal, which is in scale. mark[j]: where
 * column j is. */
DRAPE_INLINE void fill_sized(const merging *m, int32_t i, int32_t *mark, int32_t n) {
    const coarse_terms *t = m->t;
    const drape_i_upper *A = &m->level->A;
    float *diagonal = m->level->scale + n * n * (int64_t)i;
    for (int32_t k = 0; k < n * n; k++) diagonal[k] = 0;
    memset(A->val + n * n * A->start[i], 0, (size_t)(n * n * (A->start[i + 1] - A->start[i])) * sizeof *A->val);
    for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) mark[A->col[k]] = (int32_t)(k - A->start[i]);
    for (int64_t k = m->plain->start[i]; k < m->plain->start[i + 1]; k++)
        memcpy(A->val + n * n * (A->start[i] + mark[m->plain->col[k]]), m->plain->val + n * n * k,
               (size_t)(n * n) * sizeof *A->val);
    for (int64_t a = t->row_first[i]; a < t->row_first[i + 1]; a++) {
        const float *mine = t->h + n * t->entry[a];
        for (int64_t e = t->first[t->term[a]]; e < t->first[t->term[a] + 1] && t->row[e] >= 0; e++) {
            if (t->row[e] < i) continue;
            float *to = t->row[e] == i ? diagonal : A->val + n * n * (A->start[i] + mark[t->row[e]]);
            add_outer(n, mine, t->h + n * e, to);
        }
    }
    for (int32_t k = 0; k < n * n; k++) diagonal[k] = 0.5f * (diagonal[k] + (k % (n + 1) == 0 ? 1 : 0));
}

static void fill_part(void *data, int32_t part) {
    const merging *m = data;
    int32_t begin, end, *mark = m->mark + (int64_t)m->t->rows * part;
    bounds_of(m, part, &begin, &end);
    for (int32_t j = 0; j < m->t->rows; j++) mark[j] = -1;
    for (int32_t i = begin; i < end; i++) list_columns(m, i, mark);
    for (int32_t i = begin; i < end; i++) {
        if (m->t->r == 3) fill_sized(m, i, mark, 3);
        else if (m->t->r == 6) fill_sized(m, i, mark, 6);
        else fill_sized(m, i, mark, 12);
    }
}

static drape_status merge(drape_context *ctx, const drape_i_amg_settings *want, merging *m) {
    const int32_t rows = m->t->rows;
    if (!DRAPE_NEW(ctx, m->start, rows + (int64_t)1) || !DRAPE_NEW_RAW(ctx, m->mark, PARTS * (int64_t)rows))
        return DRAPE_ERROR_MEMORY;
    drape_i_tasks(ctx, PARTS, count_part, m);
    for (int32_t i = 0; i < rows; i++) m->start[i + 1] += m->start[i];
    drape_status status = drape_i_upper_alloc(ctx, rows, m->t->r, m->start[rows], &m->level->A);
    if (status) return status;
    memcpy(m->level->A.start, m->start, ((size_t)rows + 1) * sizeof *m->start);
    status = drape_i_level_allocate(ctx, m->level, want, false);
    if (status) return status;
    drape_i_tasks(ctx, PARTS, fill_part, m);
    return drape_i_upper_finish_pattern(ctx, &m->level->A);
}

static drape_status make_first_level(drape_context *ctx, const drape_i_amg_settings *want, const coarse_terms *t,
                                     const drape_i_level *plain, drape_i_level *level) {
    merging m = {.t = t, .plain = &plain->A, .level = level};
    drape_status status = merge(ctx, want, &m);
    DRAPE_FREE(ctx, m.start, t->rows + (int64_t)1);
    DRAPE_FREE(ctx, m.mark, PARTS * (int64_t)t->rows);
    if (status) return status;
    level->kernel = level->vectors;
    memcpy(level->kernel, plain->kept_kernel,
           (size_t)t->rows * (size_t)(t->r * level->modes) * sizeof *level->kernel);
    drape_i_scale_coarse(ctx, NULL, level);
    return DRAPE_OK;
}

static drape_status build(drape_context *ctx, const drape_i_amg_input *in, const drape_i_amg_settings *want,
                          drape_i_hierarchy *h) {
    drape_i_amg_settings below = *want;
    coarse_terms t;
    below.levels--;
    if (!DRAPE_NEW(ctx, h->coupled, 1)) return DRAPE_ERROR_MEMORY;
    *h->coupled = (drape_i_hierarchy){.levels = 1, .degree = want->degree};
    drape_status status = make_terms(ctx, h, &t);
    if (!status) status = make_first_level(ctx, want, &t, &h->level[1], &h->coupled->level[0]);
    free_terms(ctx, &t);
    return status ? status : drape_i_hierarchy_continue(ctx, in, &below, h->coupled);
}

static drape_status build_in_region(drape_context *ctx, const drape_i_amg_input *in, const drape_i_amg_settings *want,
                                    drape_i_hierarchy *h) {
    drape_status status = drape_i_region_create(ctx, &h->region);
    if (status) return status;
    drape_i_region_begin(h->region);
    status = build(&h->region->ctx, in, want, h);
    if (status) {
        memcpy(ctx->message, h->region->ctx.message, sizeof ctx->message);
        free_levels(h);
    } else {
        drape_i_region_end(h->region);
    }
    return status;
}

/* A hierarchy of one level has the terms in its factor. */
drape_status drape_i_hierarchy_couple(drape_context *ctx, const drape_i_amg_input *in,
                                      const drape_i_amg_settings *want, drape_i_hierarchy *h) {
    const bool before = h->level[0].terms.count > 0, alone = h->levels == 1;
    drape_status status = DRAPE_OK;
    free_levels(h);
    drape_i_terms_clear(&h->level[0].terms);
    if (drape_i_any_couplings(in->couplings)) status = drape_i_terms_set(ctx, in, &h->level[0]);
    const bool now = h->level[0].terms.count > 0;
    if (!status && !alone && now) status = build_in_region(ctx, in, want, h);
    if (status) drape_i_terms_clear(&h->level[0].terms);
    if (alone && h->coarse > 0 && (before || now)) drape_i_coarse_factor(h);
    return status;
}

drape_status drape_i_hierarchy_uncouple_some(drape_context *ctx, const drape_i_amg_input *in, drape_i_hierarchy *h) {
    drape_status status = DRAPE_OK;
    drape_i_terms_clear(&h->level[0].terms);
    if (h->coupled && drape_i_any_couplings(in->couplings)) status = drape_i_terms_set(ctx, in, &h->level[0]);
    if (h->level[0].terms.count == 0) free_levels(h);
    return status;
}

/* ---- In a cycle ---- */

typedef struct scaling {
    const drape_i_level *level;
    bool transposed;
    const float *in;
    float *out;
} scaling;

static void scale_chunk(void *data, int64_t begin, int64_t end) {
    const scaling *s = data;
    const int32_t r = s->level->A.r, stride = DRAPE_I_STRIDE(r);
    for (int64_t i = begin; i < end; i++) {
        const float *W = s->level->scale + r * r * i, *in = s->in + stride * i;
        float *out = s->out + stride * i;
        for (int32_t a = 0; a < r; a++) {
            float sum = 0;
            for (int32_t b = 0; b < r; b++) sum += W[s->transposed ? r * b + a : r * a + b] * in[b];
            out[a] = sum;
        }
        for (int32_t a = r; a < stride; a++) out[a] = 0;
    }
}

void drape_i_scale_vector(drape_context *ctx, const drape_i_level *level, bool transposed, const float *in,
                          float *out) {
    drape_i_loop(ctx, level->A.rows, GRAIN, scale_chunk, &(scaling){level, transposed, in, out});
}
