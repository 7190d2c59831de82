/* hierarchy.c: level by level from fine to coarse (Tamstorf, Jones and McCormick 2015, algorithm 3).
 *
 * Aggregates and patterns are made once, from the values of the first matrix; then values alone. Everything that
 * depends on the constraints (which may come and go) is among the values. */
#include "linear/amg/hierarchy.h"

#include "base/parallel.h"
#include "linear/amg/setup.h"
#include "linear/precond/triangular.h"
#include "linear/prefilter.h"
#include "sparse/breadth_first.h"

enum {
    FEW_COLOURS = 4,
    /* of bands, with which the caller's order is good enough */ ROW_GRAIN = 256,
    SMALL = 300 /* unknowns of a level that is factored */
};
static const double SMOOTHING = 4. / 3; /* omega = SMOOTHING / rho */
static const double SAFETY = 1.05;      /* Lanczos comes from below */
static const double WORTH = 0.8;        /* a level with more rows than this share of the one above gains nothing */

/* ---- Values ---- */

typedef struct copying {
    const drape_i_amg_input *in;
    const drape_i_level *level;
} copying;

/* The prefiltered matrix in single precision, blocks column by column. */
static void copy_rows(void *data, int64_t begin, int64_t end) {
    const copying *c = data;
    const drape_i_level *l = c->level;
    for (int64_t i = begin; i < end; i++) {
        int32_t row = drape_i_user_row(l, (int32_t)i);
        for (int64_t k = l->A.start[i]; k < l->A.start[i + 1]; k++) {
            int64_t from = l->source ? l->source[k] : k;
            double a[9];
            drape_i_prefiltered_block(c->in->near.set, row, c->in->A->col[from], c->in->A->val + 9 * from, a);
            for (int32_t m = 0; m < 9; m++) l->A.val[9 * k + m % 3 * 3 + m / 3] = (float)(c->in->scale * a[m]);
        }
    }
}

/* The caller's, which is only read. */
static void borrow_pattern(const drape_bsr3 *A, drape_i_level *l) {
    l->A.start = (int64_t *)A->rowptr;
    l->A.col = (int32_t *)A->col;
}

static void finest_values(drape_context *ctx, const drape_i_amg_input *in, drape_i_level *l) {
    if (l->A.borrowed) borrow_pattern(in->A, l);
    drape_i_loop(ctx, in->A->rows, ROW_GRAIN, copy_rows, &(copying){in, l});
}

/* P, from the near-kernel and the inverse diagonal, and the coarse matrix. */
static void coarse_values(drape_context *ctx, const drape_i_near_kernel *near, drape_i_level *fine,
                          drape_i_level *coarse) {
    drape_i_tentative(ctx, fine, near, fine->P.c, fine->vectors, coarse->kernel);
    drape_i_interpolation_values(ctx, fine, fine->vectors, SMOOTHING / fine->rho);
    drape_i_galerkin_values(ctx, fine, &coarse->A);
}

void drape_i_hierarchy_refresh(drape_context *ctx, const drape_i_amg_input *in, drape_i_hierarchy *h) {
    finest_values(ctx, in, &h->level[0]);
    for (int32_t l = 0; l < h->levels; l++) {
        drape_i_invert_diagonal(ctx, &h->level[l], l == 0 ? in->near.set : NULL);
        if (l + 1 < h->levels) coarse_values(ctx, &in->near, &h->level[l], &h->level[l + 1]);
    }
    if (h->coarse > 0) drape_i_coarse_factor(h);
}

void drape_i_hierarchy_borrow(const drape_bsr3 *A, drape_i_hierarchy *h) {
    if (h->level[0].A.borrowed) borrow_pattern(A, &h->level[0]);
}

/* ---- Memory and patterns ---- */

static drape_status allocate_vectors(drape_context *ctx, drape_i_level *l, int32_t modes, bool chebyshev) {
    int64_t n = (int64_t)l->A.rows * l->A.r;
    int64_t length = (int64_t)l->A.rows * DRAPE_I_STRIDE(l->A.r);
    l->numbers = (chebyshev ? 5 : 3) * length;
    if (l->numbers < n * modes) l->numbers = n * modes;
    l->inverse = drape_i_fvector(ctx, n * l->A.r);
    l->vectors = drape_i_fvector(ctx, l->numbers);
    if (!l->inverse || !l->vectors) return DRAPE_ERROR_MEMORY;
    l->x = l->vectors;
    l->b = l->x + length;
    l->t = l->b + length;
    l->d = chebyshev ? l->t + length : NULL;
    l->q = chebyshev ? l->d + length : NULL;
    return DRAPE_OK;
}

static void free_level(drape_context *ctx, drape_i_level *l) {
    int64_t n = (int64_t)l->A.rows * l->A.r, P = l->P.count, cols = l->P.cols, modes = l->modes;
    for (int32_t b = 0; b < l->bands.count; b++) {
        DRAPE_FREE(ctx, l->row[b].col, l->widest);
        DRAPE_FREE(ctx, l->row[b].val, (int64_t)l->widest * DRAPE_I_PADDING * l->P.c);
    }
    drape_i_fvector_free(ctx, l->inverse, n * l->A.r);
    drape_i_fvector_free(ctx, l->vectors, l->numbers);
    DRAPE_FREE(ctx, l->user, l->A.rows);
    DRAPE_FREE(ctx, l->source, l->A.count);
    DRAPE_FREE(ctx, l->split, l->A.rows);
    DRAPE_FREE(ctx, l->strong, l->A.count);
    DRAPE_FREE(ctx, l->aggregate, l->A.rows);
    DRAPE_FREE(ctx, l->member_first, cols + 2);
    DRAPE_FREE(ctx, l->member, l->A.rows);
    DRAPE_FREE(ctx, l->back_start, cols + 2);
    DRAPE_FREE(ctx, l->back_row, P);
    DRAPE_FREE(ctx, l->back_block, P);
    DRAPE_FREE(ctx, l->kernel, n * modes);
    drape_i_fblocks_free(ctx, &l->P);
    drape_i_fblocks_free(ctx, &l->A);
}

void drape_i_hierarchy_free(drape_context *ctx, drape_i_hierarchy *h) {
    for (int32_t l = 0; l < DRAPE_I_AMG_LEVELS; l++) free_level(ctx, &h->level[l]);
    DRAPE_FREE(ctx, h->factor, (int64_t)h->coarse * h->coarse);
    DRAPE_FREE(ctx, h->column, h->coarse);
    *h = (drape_i_hierarchy){0};
}

static void split_rows(void *data, int64_t begin, int64_t end) {
    drape_i_level *l = data;
    for (int64_t i = begin; i < end; i++) {
        int32_t left = 0;
        for (int64_t k = l->A.start[i]; k < l->A.start[i + 1] && l->A.col[k] < i; k++) left++;
        l->split[i] = left;
    }
}

/* What a level needs when its matrix is there. */
static drape_status finish_level(drape_context *ctx, drape_i_level *l, const drape_constraints *set,
                                 const drape_i_amg_settings *want) {
    l->modes = want->modes;
    if (l->bands.count == 0) drape_i_bands_make(ctx, &l->A, &l->bands);
    if (!DRAPE_NEW(ctx, l->split, l->A.rows)) return DRAPE_ERROR_MEMORY;
    drape_i_loop(ctx, l->A.rows, ROW_GRAIN, split_rows, l);
    drape_status status = allocate_vectors(ctx, l, want->modes, want->degree > 0);
    if (status) return status;
    drape_i_invert_diagonal(ctx, l, set);
    status = drape_i_lanczos(ctx, l, want->lanczos, &l->rho);
    l->rho *= SAFETY;
    return status;
}

/* Row i of the reordered pattern: the caller's row user[i], its columns by their places, ascending. */
static void reorder_row(const drape_bsr3 *A, const int32_t *place, int32_t i, drape_i_level *l) {
    int32_t row = l->user[i], *col = l->A.col + l->A.start[i];
    int64_t *source = l->source + l->A.start[i];
    for (int64_t k = A->rowptr[row], count = 0; k < A->rowptr[row + 1]; k++, count++) {
        int64_t at = count;
        for (; at > 0 && col[at - 1] > place[A->col[k]]; at--) col[at] = col[at - 1], source[at] = source[at - 1];
        col[at] = place[A->col[k]];
        source[at] = k;
    }
}

/* Puts the rows into a breadth-first order, where the caller's says nothing about who is near whom: then sweeps can
 * be shared by threads, and memory is met in order. */
static drape_status reorder(drape_context *ctx, const drape_bsr3 *A, drape_i_level *l) {
    int32_t *place, rows = A->rows;
    l->A.borrowed = false;
    l->A.start = NULL;
    l->A.col = NULL;
    if (!DRAPE_NEW(ctx, place, rows)) return DRAPE_ERROR_MEMORY;
    bool good = DRAPE_NEW(ctx, l->A.start, (int64_t)rows + 1) && DRAPE_NEW(ctx, l->A.col, l->A.count) &&
                DRAPE_NEW(ctx, l->user, rows) && DRAPE_NEW(ctx, l->source, l->A.count);
    drape_i_columns columns = {0}; /* a pattern need not be symmetric */
    drape_status status = good ? drape_i_columns_create(ctx, A, &columns) : DRAPE_ERROR_MEMORY;
    if (!status) status = drape_i_breadth_first(ctx, A, columns.first, columns.row, l->user);
    drape_i_columns_destroy(ctx, &columns);
    for (int32_t i = 0; i < rows && !status; i++) {
        place[l->user[i]] = i;
        l->A.start[i + 1] = l->A.start[i] + (A->rowptr[l->user[i] + 1] - A->rowptr[l->user[i]]);
    }
    for (int32_t i = 0; i < rows && !status; i++) reorder_row(A, place, i, l);
    DRAPE_FREE(ctx, place, rows);
    if (!status) drape_i_bands_make(ctx, &l->A, &l->bands);
    return status;
}

static drape_status make_finest(drape_context *ctx, const drape_i_amg_input *in, const drape_i_amg_settings *want,
                                drape_i_level *l) {
    int32_t rows = in->A->rows;
    int64_t blocks = in->A->rowptr[rows];
    l->A = (drape_i_fblocks){.rows = rows, .cols = rows, .r = 3, .c = 3, .count = blocks, .borrowed = true};
    borrow_pattern(in->A, l);
    drape_i_bands_make(ctx, &l->A, &l->bands);
    if (l->bands.colours > FEW_COLOURS) {
        drape_status status = reorder(ctx, in->A, l);
        if (status) return status;
    }
    if (!DRAPE_NEW(ctx, l->A.val, 9 * blocks + DRAPE_I_PADDING)) return DRAPE_ERROR_MEMORY;
    finest_values(ctx, in, l);
    return finish_level(ctx, l, in->near.set, want);
}

static drape_status colour_reach(drape_context *ctx, drape_i_level *l) {
    uint32_t *scratch;
    if (!DRAPE_NEW(ctx, scratch, l->P.cols)) return DRAPE_ERROR_MEMORY;
    drape_i_bands_by_reach(&l->bands, &l->P, scratch, &l->reach);
    DRAPE_FREE(ctx, scratch, l->P.cols);
    return DRAPE_OK;
}

/* Aggregates, patterns and values of the next level. *grew false: there was nothing to gain, and there is none. */
static drape_status coarsen(drape_context *ctx, const drape_i_amg_input *in, const drape_i_amg_settings *want,
                            drape_i_level *fine, drape_i_level *coarse, bool *grew) {
    int32_t aggregates = 0, modes = want->modes;
    bool finest = !fine->kernel;
    drape_status status = drape_i_strength(ctx, fine, want->theta);
    if (!status) status = drape_i_aggregate(ctx, fine, finest ? in->near.set : NULL, &aggregates);
    if (!status && want->unfiltered) /* now that the aggregates are made */
        for (int64_t k = 0; k < fine->A.count; k++) fine->strong[k] = 1;
    *grew = !status && aggregates > 0 && aggregates < WORTH * fine->A.rows;
    if (!*grew) return status;
    status = drape_i_interpolation_pattern(ctx, fine, aggregates, modes);
    if (!status) status = colour_reach(ctx, fine);
    if (!status) status = drape_i_galerkin_pattern(ctx, fine, &coarse->A);
    if (!status && !DRAPE_NEW(ctx, coarse->kernel, (int64_t)aggregates * modes * modes)) status = DRAPE_ERROR_MEMORY;
    if (status) return status;
    coarse->modes = modes;
    coarse_values(ctx, &in->near, fine, coarse);
    return finish_level(ctx, coarse, NULL, want);
}

static drape_status make_coarsest(drape_context *ctx, drape_i_hierarchy *h) {
    const drape_i_fblocks *A = &h->level[h->levels - 1].A;
    int32_t n = A->rows * A->r;
    if (n > 4 * SMALL) return DRAPE_OK; /* coarsening came to a standstill: smoothing has to do */
    h->coarse = n;
    if (!DRAPE_NEW(ctx, h->factor, (int64_t)n * n) || !DRAPE_NEW(ctx, h->column, n)) return DRAPE_ERROR_MEMORY;
    drape_i_coarse_factor(h);
    return DRAPE_OK;
}

drape_status drape_i_hierarchy_build(drape_context *ctx, const drape_i_amg_input *in,
                                     const drape_i_amg_settings *want, drape_i_hierarchy *h) {
    bool grew = true;
    *h = (drape_i_hierarchy){.levels = 1, .degree = want->degree};
    drape_status status = make_finest(ctx, in, want, &h->level[0]);
    while (!status && grew && h->levels < want->levels) {
        drape_i_level *fine = &h->level[h->levels - 1];
        if (fine->A.rows * fine->A.r <= SMALL) break;
        status = coarsen(ctx, in, want, fine, fine + 1, &grew);
        if (!status && grew) h->levels++;
    }
    if (!status) status = make_coarsest(ctx, h);
    if (status) drape_i_hierarchy_free(ctx, h);
    return status;
}
