/* prefilter.c: see prefilter.h. */
#include "linear/prefilter.h"

#include "base/parallel.h"
#include "linear/couplings.h"
#include "linear/groups.h"
#include "sparse/bounds.h"
#include "sparse/matrix.h"
#include "sparse/multiply.h"

#include <math.h>
#include <string.h>

enum { ROW_GRAIN = 128, VECTOR_GRAIN = 4096 };

static const drape_i_held *held_at(const drape_constraints *set, int32_t i) {
    return set && set->index[i] >= 0 ? &set->held[set->index[i]] : NULL;
}

static void multiply3(const double *a, const double *b, double out[9]) {
    for (int32_t i = 0; i < 3; i++)
        for (int32_t j = 0; j < 3; j++)
            out[3 * i + j] = (a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j]) + a[3 * i + 2] * b[6 + j];
}

void drape_i_prefiltered_block(const drape_constraints *set, int32_t i, int32_t j, const double a[9], double out[9]) {
    const drape_i_held *left = held_at(set, i), *right = held_at(set, j);
    double product[9];
    memcpy(product, a, sizeof product);
    if (left) multiply3(left->S, a, product);
    if (right) multiply3(product, right->S, out);
    else memcpy(out, product, sizeof product);
    if (i != j || !left) return;
    double scale = (fabs(a[0]) + fabs(a[4]) + fabs(a[8])) / 3;
    for (int32_t k = 0; k < 9; k++) out[k] += scale * ((k % 4 == 0 ? 1 : 0) - left->S[k]);
}

void drape_i_fold_filter(const drape_constraints *set, int32_t i, double G[9]) {
    const drape_i_held *h = held_at(set, i);
    double product[9];
    if (!h) return;
    multiply3(h->S, G, product);
    multiply3(product, h->S, G);
}

/* The values of the rows [begin, end) of A^, at the same places as in A. Rows that no constraint touches are copied
 * whole. */
static void filter_rows(const drape_bsr3 *A, const drape_constraints *set, double *val, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        int64_t first = A->rowptr[i], last = A->rowptr[i + 1];
        bool touched = set && set->index[i] >= 0;
        for (int64_t k = first; k < last && set && !touched; k++) touched = set->index[A->col[k]] >= 0;
        if (!touched) memcpy(val + 9 * first, A->val + 9 * first, 9 * (size_t)(last - first) * sizeof *val);
        else
            for (int64_t k = first; k < last; k++)
                drape_i_prefiltered_block(set, (int32_t)i, A->col[k], A->val + 9 * k, val + 9 * k);
    }
}

/* ---- For others ---- */

typedef struct filtering {
    const drape_problem *problem;
    const drape_bsr3 *A; /* with its couplings */
    double *val, *rhs;
} filtering;

static void filter_chunk(void *data, int64_t begin, int64_t end) {
    const filtering *f = data;
    filter_rows(f->A, f->problem->constraints, f->val, begin, end);
}

static void subtract_chunk(void *data, int64_t begin, int64_t end) {
    const filtering *f = data;
    for (int64_t i = begin; i < end; i++) f->rhs[i] = f->problem->b[i] - f->rhs[i];
}

static drape_status make_rhs(drape_context *ctx, filtering *f) {
    const drape_bsr3 *A = f->A;
    const drape_constraints *set = f->problem->constraints;
    int64_t n = 3 * (int64_t)A->rows;
    double *z;
    if (!set || !set->moving) {
        memcpy(f->rhs, f->problem->b, (size_t)n * sizeof *f->rhs);
        drape_i_filter(set, f->rhs);
        return DRAPE_OK;
    }
    if (!DRAPE_NEW(ctx, z, n)) return DRAPE_ERROR_MEMORY;
    drape_i_blend(set, A->rows, NULL, z);
    drape_i_multiply(ctx, A, z, f->rhs);
    drape_i_loop(ctx, n, VECTOR_GRAIN, subtract_chunk, f);
    drape_i_filter(set, f->rhs);
    DRAPE_FREE(ctx, z, n);
    return DRAPE_OK;
}

/* Gives sum, a view of A, values of its own: those of A with the couplings, which must lie within its pattern. */
static drape_status add_couplings(drape_context *ctx, const drape_problem *p, drape_bsr3 *sum) {
    int64_t numbers = 9 * sum->rowptr[sum->rows];
    drape_i_couplings C = {0};
    double *val;
    drape_status status = drape_i_couplings_set(ctx, sum->rows, &p->couplings, &C);
    if (!status && !DRAPE_NEW_RAW(ctx, val, numbers)) status = DRAPE_ERROR_MEMORY;
    if (!status) {
        memcpy(val, sum->val, (size_t)numbers * sizeof *val);
        sum->val = val;
        status = drape_i_couplings_scatter(ctx, &C, sum);
        if (status) DRAPE_FREE(ctx, val, numbers);
    }
    drape_i_couplings_free(ctx, &C);
    return status;
}

drape_status drape_i_prefilter(drape_context *ctx, const drape_problem *p, double *val, double *rhs) {
    drape_status status = DRAPE_OK;
    drape_bsr3 sum = *p->A;
    if (p->couplings.count > 0) status = add_couplings(ctx, p, &sum);
    if (status) return status;
    filtering f = {p, &sum, val, rhs};
    drape_i_loop(ctx, p->A->rows, ROW_GRAIN, filter_chunk, &f);
    status = rhs ? make_rhs(ctx, &f) : DRAPE_OK;
    if (sum.val != p->A->val) DRAPE_FREE(ctx, sum.val, 9 * sum.rowptr[sum.rows]);
    return status;
}

drape_status drape_prefilter(drape_context *ctx, const drape_problem *p, double *val, double *rhs) {
    if (!ctx || !p) return drape_i_missing(ctx, "prefilter", "problem");
    if (!p->A || !val || (rhs && !p->b))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "prefilter: A, val or b is missing (NULL)");
    if (p->constraints && p->constraints->vertices != p->A->rows)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "prefilter: constraints for %d vertices, matrix of %d rows",
                            p->constraints->vertices, p->A->rows);
    if (drape_i_any_groups(p->constraints))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "prefilter: the constraints have equalities, which couple vertices that A does not");
    drape_status status = drape_i_bounds_check(ctx, "prefilter", p->A);
    return status ? status : drape_i_prefilter(ctx, p, val, rhs);
}

void drape_postfilter(const drape_constraints *set, double *y) {
    if (set && y) drape_i_blend(set, set->vertices, y, y);
}
