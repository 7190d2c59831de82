/* coarsest.c: the coarsest level, solved by a dense factor A = L L'. Both L and L' are kept, row by row, so that
 * either substitution goes through memory in order, and in sums that vector instructions can take side by side. */
#include "linear/amg/cycle.h"

#include <math.h>
#include <string.h>

static const double NOTHING = 1e-7; /* single precision leaves no more of a pivot */

/* The upper half of I + U + U'. A direction that is not there, in which no right-hand side has a part, has I too. */
static void copy_matrix(const drape_i_upper *A, int32_t n, double *to) {
    const int32_t r = A->r;
    memset(to, 0, (size_t)n * (size_t)n * sizeof *to);
    for (int64_t i = 0; i < n; i++) to[i * n + i] = 1;
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++)
            for (int32_t a = 0; a < r; a++)
                for (int32_t c = 0; c < r; c++)
                    to[(int64_t)(r * i + a) * n + r * A->col[k] + c] = A->val[r * r * k + r * a + c];
}

/* The upper half of what the terms are, each as a dense vector of which no more is looked at than from its first to
 * its last number. */
static void add_terms(const drape_i_terms *t, int32_t n, double *dense, double *to) {
    enum { r = 3, stride = DRAPE_I_STRIDE(3) };
    for (int32_t c = 0; c < t->count; c++) {
        int32_t low = n, high = 0;
        memset(dense, 0, (size_t)n * sizeof *dense);
        for (int64_t e = t->first[c]; e < t->first[c + 1]; e++) {
            const int32_t at = r * t->row[e];
            for (int32_t k = 0; k < r; k++) dense[at + k] = t->g[stride * e + k];
            low = at < low ? at : low;
            high = at + r > high ? at + r : high;
        }
        for (int32_t i = low; i < high; i++) {
            const double factor = dense[i];
            for (int32_t j = i; j < high && factor != 0; j++) to[(int64_t)i * n + j] += factor * dense[j];
        }
    }
}

/* In place, upper halves: row k of L' from row k of A, which rows above have been taken from. False: not positive
 * definite. */
static bool cholesky(int32_t n, double *U) {
    for (int32_t k = 0; k < n; k++) {
        double *row = U + (int64_t)k * n;
        if (!(row[k] > NOTHING)) return false;
        double pivot = sqrt(row[k]), inverse = 1 / pivot;
        row[k] = pivot;
        for (int32_t j = k + 1; j < n; j++) row[j] *= inverse;
        for (int32_t i = k + 1; i < n; i++) {
            double *to = U + (int64_t)i * n, factor = row[i];
            if (factor == 0) continue;
            for (int32_t j = i; j < n; j++) to[j] -= factor * row[j];
        }
    }
    return true;
}

void drape_i_coarse_factor(drape_i_hierarchy *h) {
    const int32_t n = h->coarse;
    copy_matrix(&h->level[h->levels - 1].A, n, h->factor);
    add_terms(&h->level[h->levels - 1].terms, n, h->column, h->factor);
    if (!cholesky(n, h->factor)) { /* its diagonal alone, so that what is wrong with A shows in p'Ap and not here */
        memset(h->factor, 0, (size_t)n * (size_t)n * sizeof *h->factor);
        for (int64_t i = 0; i < n; i++) h->factor[i * n + i] = 1;
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) h->factor[i * n + j] = h->factor[j * n + i];
}

void drape_i_coarse_solve(const drape_i_hierarchy *h) {
    const drape_i_level *l = &h->level[h->levels - 1];
    const int32_t n = h->coarse, r = l->A.r, stride = DRAPE_I_STRIDE(r);
    double *y = h->column;
    for (int32_t i = 0; i < n; i++) y[i] = l->b[i / r * stride + i % r];
    for (int32_t i = 0; i < n; i++) {
        const double *row = h->factor + (int64_t)i * n, value = y[i] / row[i];
        y[i] = value;
        for (int32_t k = i + 1; k < n; k++) y[k] -= row[k] * value;
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        const double *row = h->factor + (int64_t)i * n, value = y[i] / row[i];
        for (int32_t k = 0; k < i; k++) y[k] -= row[k] * value;
        l->x[i / r * stride + i % r] = (float)value;
    }
}
