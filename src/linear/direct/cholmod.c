/* cholmod.c: A x = b by CHOLMOD's sparse Cholesky factorisation (Chen, Davis, Hager and Rajamanickam 2008).
 *
 * The order of elimination (approximate minimum degree) and the pattern of the factor are computed once, from A's
 * pattern. Every solve refills the numbers and factors them. CHOLMOD chooses whether to do so by supernodes or row by
 * row, whichever is less work.
 *
 * CHOLMOD takes one triangle of a symmetric matrix in compressed columns. The upper triangle of the block rows, read
 * row by row, is the lower triangle column by column. Scalar row 3i+r of the former is column 3i+r of the latter,
 * with its rows in ascending order. So the pattern is written once, and refilling is one walk over the blocks j >= i.
 *
 * Indices have 64 bits: the factor of a large cloth has more entries than 2^31. Memory is malloc's, by CHOLMOD's own
 * hooks. All state, CHOLMOD's `common` too, is in the struct below. */
#include "drape/cholmod.h"

#include <cholmod.h>
#include <stdlib.h>
#include <string.h>

typedef SuiteSparse_long index_t;

typedef struct state {
    cholmod_common common;
    cholmod_sparse *matrix; /* lower triangle; NULL: no rows */
    cholmod_factor *factor;
    cholmod_dense *x, *y, *e; /* solution and work space, kept from solve to solve */
} state;

/* ---- The triangle ---- */

/* The first block of row i that is not left of the diagonal. */
static int64_t first_upper(const drape_bsr3 *A, int32_t i) {
    int64_t k = A->rowptr[i];
    while (k < A->rowptr[i + 1] && A->col[k] < i) k++;
    return k;
}

static int64_t count_entries(const drape_bsr3 *A) {
    int64_t entries = 0;
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = first_upper(A, i); k < A->rowptr[i + 1]; k++) entries += A->col[k] == i ? 6 : 9;
    return entries;
}

static void fill_pattern(const drape_bsr3 *A, cholmod_sparse *matrix) {
    index_t *start = matrix->p, *row = matrix->i, count = 0;
    for (int32_t i = 0; i < A->rows; i++) {
        int64_t first = first_upper(A, i);
        for (int32_t r = 0; r < 3; r++) {
            start[3 * (index_t)i + r] = count;
            for (int64_t k = first; k < A->rowptr[i + 1]; k++)
                for (int32_t c = A->col[k] == i ? r : 0; c < 3; c++) row[count++] = 3 * (index_t)A->col[k] + c;
        }
    }
    start[3 * (index_t)A->rows] = count;
}

static void fill_values(const drape_bsr3 *A, cholmod_sparse *matrix) {
    double *value = matrix->x;
    for (int32_t i = 0; i < A->rows; i++) {
        int64_t first = first_upper(A, i);
        for (int32_t r = 0; r < 3; r++)
            for (int64_t k = first; k < A->rowptr[i + 1]; k++)
                for (int32_t c = A->col[k] == i ? r : 0; c < 3; c++) *value++ = A->val[9 * k + 3 * r + c];
    }
}

/* ---- What drape_direct promises ---- */

static void destroy(void *data) {
    state *s = data;
    if (!s) return;
    cholmod_l_free_dense(&s->x, &s->common);
    cholmod_l_free_dense(&s->y, &s->common);
    cholmod_l_free_dense(&s->e, &s->common);
    cholmod_l_free_factor(&s->factor, &s->common);
    cholmod_l_free_sparse(&s->matrix, &s->common);
    cholmod_l_finish(&s->common);
    free(s);
}

static void configure(cholmod_common *common) {
    cholmod_l_start(common);
    common->print = 0; /* libraries do not print */
    common->error_handler = NULL;
    common->nmethods = 1;
    common->method[0].ordering = CHOLMOD_AMD;
    common->postorder = 1;
    common->supernodal = CHOLMOD_AUTO;
    common->final_ll = 1; /* L L', not L D L', which goes through indefinite matrices without a word */
}

static void *analyse(const drape_bsr3 *A) {
    state *s = calloc(1, sizeof *s);
    size_t n = 3 * (size_t)A->rows;
    if (!s) return NULL;
    configure(&s->common);
    if (A->rows == 0) return s;
    s->matrix =
        cholmod_l_allocate_sparse(n, n, (size_t)count_entries(A), 1, 1, -1 /* lower */, CHOLMOD_REAL, &s->common);
    if (s->matrix) {
        fill_pattern(A, s->matrix);
        s->factor = cholmod_l_analyze(s->matrix, &s->common);
    }
    if (s->factor && s->common.status >= CHOLMOD_OK) return s;
    destroy(s);
    return NULL;
}

static int factor(void *data, const drape_bsr3 *A) {
    state *s = data;
    if (!s->matrix) return 0;
    fill_values(A, s->matrix);
    int good = cholmod_l_factorize(s->matrix, s->factor, &s->common);
    if (!good || s->common.status < CHOLMOD_OK) return 2;
    return s->factor->minor < s->factor->n ? 1 : 0; /* the column where it broke down */
}

static int solve(void *data, const double *b, double *x) {
    state *s = data;
    if (!s->matrix) return 0;
    size_t n = s->matrix->nrow;
    cholmod_dense rhs = {.nrow = n,
                         .ncol = 1,
                         .nzmax = n,
                         .d = n,
                         .x = (void *)(uintptr_t)b, /* only read */
                         .xtype = CHOLMOD_REAL,
                         .dtype = CHOLMOD_DOUBLE};
    if (!cholmod_l_solve2(CHOLMOD_A, s->factor, &rhs, NULL, &s->x, NULL, &s->y, &s->e, &s->common)) return 2;
    memcpy(x, s->x->x, n * sizeof *x);
    return 0;
}

static int64_t bytes(const void *data) {
    const state *s = data;
    const cholmod_factor *f = s->factor;
    if (!f) return 0;
    size_t numbers = f->is_super ? f->xsize : f->nzmax, indices = f->is_super ? f->ssize : f->nzmax;
    return (int64_t)(numbers * sizeof(double) + indices * sizeof(index_t));
}

static const drape_direct table = {
    .name = "CHOLMOD", .analyse = analyse, .factor = factor, .solve = solve, .bytes = bytes, .destroy = destroy};

const drape_direct *drape_cholmod(void) { return &table; }
