/* check.c: what is wrong with a problem. A pattern is checked once, when a solver first meets it; numbers are looked
 * at only where a solve has failed, so that good ones cost nothing. */
#include "linear/amg/level.h"
#include "linear/solver.h"

#include <math.h>
#include <stdio.h>

/* ---- A problem ---- */

drape_status drape_i_check_problem(drape_context *ctx, const char *who, const drape_problem *p) {
    if (!p->A) return drape_i_missing(ctx, who, "A");
    if (p->A->rows < 0) return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: a matrix of %d rows", who, p->A->rows);
    if (p->A->rows > 0 && !p->A->rowptr) return drape_i_missing(ctx, who, "rowptr of A");
    if (p->A->rows > 0 && !p->A->val && p->A->rowptr[p->A->rows] != 0) return drape_i_missing(ctx, who, "val of A");
    if (p->constraints && p->constraints->vertices != p->A->rows)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: constraints for %d vertices, matrix of %d rows", who,
                            p->constraints->vertices, p->A->rows);
    if (p->near_kernel && (p->near_kernel_count < 3 || p->near_kernel_count > DRAPE_I_MODES))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: near_kernel_count is %d; it must lie in 3..%d", who,
                            p->near_kernel_count, DRAPE_I_MODES);
    if (!p->near_kernel && p->near_kernel_count != 0) return drape_i_missing(ctx, who, "near_kernel");
    if (!(p->tol >= 0 && p->tol < 1))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: tol of the problem is %g; it must lie between 0 and 1",
                            who, p->tol);
    return drape_i_check_reserved(ctx, "drape_problem", p->reserved, 8);
}

/* ---- Patterns ---- */

/* Columns increase, so a row's first and last block tell on which sides of the diagonal it has some. */
drape_status drape_i_check_halves(drape_context *ctx, const char *who, const drape_bsr3 *A) {
    int32_t row = -1, column = -1; /* of the first block off the diagonal */
    bool below = false, above = false;
    for (int32_t i = 0; i < A->rows && !(below && above); i++) {
        int64_t first = A->rowptr[i], last = A->rowptr[i + 1] - 1;
        if (first > last) continue;
        below |= A->col[first] < i;
        above |= A->col[last] > i;
        if (row < 0 && (below || above)) row = i, column = below ? A->col[first] : A->col[last];
    }
    if (below == above) return DRAPE_OK;
    return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                        "%s: A has blocks in one triangle only: there is one in row %d, column %d, but none in row "
                        "%d, column %d; store both (drape_bsr3_from_csr mirrors a triangle), or if A is meant to be "
                        "triangular, use a method for nonsymmetric matrices",
                        who, row, column, column, row);
}

static bool is_held_everywhere(const drape_constraints *set, int32_t row) {
    const double *S = set && set->index[row] >= 0 ? set->held[set->index[row]].S : NULL;
    return S && S[0] + S[4] + S[8] < 0.5; /* the number of free directions, except for rounding */
}

/* The first row that can move and has no diagonal block; -1: none. */
static int32_t row_without_diagonal(const drape_bsr3 *A, const drape_constraints *set) {
    for (int32_t i = 0; i < A->rows; i++)
        if (drape_i_matrix_find(A, i, i) < 0 && !is_held_everywhere(set, i)) return i;
    return -1;
}

/* ---- Numbers ---- */

/* Index of the first number that is not finite; -1: none. */
static int64_t first_not_finite(const double *x, int64_t count) {
    for (int64_t k = 0; x && k < count; k++)
        if (!isfinite(x[k])) return k;
    return -1;
}

static bool block_is_not_finite(const drape_bsr3 *A, char *text, size_t size) {
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
            int64_t at = first_not_finite(A->val + 9 * k, 9);
            if (at < 0) continue;
            snprintf(text, size, "solve: the block of A in row %d, column %d holds %g", i, A->col[k],
                     A->val[9 * k + at]);
            return true;
        }
    return false;
}

static bool vector_is_not_finite(const char *name, const double *x, int32_t rows, char *text, size_t size) {
    int64_t at = first_not_finite(x, 3 * (int64_t)rows);
    if (at >= 0) snprintf(text, size, "solve: %s of row %lld is %g", name, (long long)(at / 3), x[at]);
    return at >= 0;
}

/* A guess that is x as well is still there: a number that is not finite stops a solve before it moves x. */
static void explain_not_finite(const drape_problem *p, char *text, size_t size) {
    const int32_t rows = p->A->rows;
    if (block_is_not_finite(p->A, text, size) || vector_is_not_finite("b", p->b, rows, text, size) ||
        vector_is_not_finite("the guess", p->guess, rows, text, size) ||
        vector_is_not_finite("positions", p->positions, rows, text, size))
        return;
    for (int32_t k = 0; p->near_kernel && k < p->near_kernel_count; k++)
        if (vector_is_not_finite("near_kernel", p->near_kernel + 3 * (int64_t)rows * k, rows, text, size)) return;
    snprintf(text, size,
             p->op ? "solve: b and the guess are finite: the operator returned a number that is not, or it overflowed"
                   : "solve: all numbers of the input are finite, but the solve overflows; scale the system so that "
                     "its numbers are closer to 1");
}

static void explain_unsymmetric(const drape_bsr3 *A, char *text, size_t size) {
    int32_t row = 0, column = 0;
    double most = drape_bsr3_asymmetry(A, &row, &column);
    snprintf(text, size,
             "solve: A is not symmetric: the block in row %d, column %d differs from the transpose of the one in row "
             "%d, column %d by %.2g times the diagonal",
             row, column, column, row, most);
}

/* Most reasons speak for themselves. */
const char *drape_i_find_fault(drape_context *ctx, const drape_problem *p, drape_reason reason) {
    char *text = ctx->message;
    if (reason == DRAPE_CONVERGED || reason == DRAPE_ITERATION_LIMIT || reason == DRAPE_INTERRUPTED) return NULL;
    int32_t row = p->op ? -1 : row_without_diagonal(p->A, p->constraints);
    if (reason == DRAPE_NOT_FINITE) explain_not_finite(p, text, sizeof ctx->message);
    else if (row >= 0) snprintf(text, sizeof ctx->message, "solve: row %d of A has no diagonal block", row);
    else if (reason == DRAPE_UNSYMMETRIC) explain_unsymmetric(p->A, text, sizeof ctx->message);
    else return NULL;
    drape_i_log(ctx, DRAPE_LOG_WARNING, "%s", text);
    return text;
}
