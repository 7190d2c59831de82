/* matrix_estimate.c: see matrix_estimate.h.
 *
 * K and D of a cloth know nothing of where it is, so a translation t meets mass alone: sum_j A_ij t = M_i t. Scaled
 * by its block diagonal, A has eigenvalues of 2 to 3 at the top, and at the bottom no more than M_i / A_ii in the
 * mean. That is one bound on the condition. The other comes from what is held: the farther away it is, the softer is
 * the softest motion, as with a string; and information travels one connection an iteration. */
#include "linear/matrix_estimate.h"

#include "sparse/matrix.h"

#include "sparse/matrix.h"

#include <float.h>
#include <math.h>

enum { FEW_ROWS = 8, MANY_ROWS = 64, MANY_FROM = 1024 }; /* few: on small systems a look should cost nothing */
static const double ASYMMETRY = 1e-8; /* that is not rounding, relative to the largest number of the row */

/* The row that stands for the k-th of `count` equal parts; in the middle, since the first rows lie at an edge. */
static int32_t sampled_row(int32_t rows, int32_t count, int32_t k) {
    return (int32_t)((2 * (int64_t)k + 1) * rows / (2 * (int64_t)count));
}

static double trace(const double *block) { return block[0] + block[4] + block[8]; }

/* The same of row i of the couplings. */
static void add_couplings(const drape_i_couplings *C, int32_t i, double *diagonal, double *mass) {
    int32_t v = drape_i_any_couplings(C) ? C->index[i] : -1;
    double block[9];
    if (v < 0) return;
    *diagonal += trace(C->diagonal + 9 * (int64_t)v);
    for (int64_t e = C->first[v]; e < C->first[v + 1]; e++) {
        const drape_coupling *c = &C->list[C->coupled[e].coupling];
        for (int32_t b = 0; b < c->count; b++) {
            drape_i_coupling_block(c, drape_i_coupling_place(c, i), b, block);
            *mass += trace(block);
        }
    }
}

double drape_i_stiffness(const drape_bsr3 *A, const drape_i_couplings *couplings) {
    int32_t count = A->rows < MANY_FROM ? FEW_ROWS : MANY_ROWS;
    double diagonal = 0, mass = 0;
    if (count > A->rows) count = A->rows;
    for (int32_t s = 0; s < count; s++) {
        int32_t i = sampled_row(A->rows, count, s);
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
            double here = trace(A->val + 9 * k);
            mass += here;
            if (A->col[k] == i) diagonal += here;
        }
        add_couplings(couplings, i, &diagonal, &mass);
    }
    double quotient = diagonal / mass;
    return mass > 0 && isfinite(quotient) ? fmax(quotient, 1) : DBL_MAX;
}

/* ---- Symmetry ---- */

static const double *find_block(const drape_bsr3 *A, int32_t row, int32_t column) {
    static const double zero[9] = {0};
    int64_t k = drape_i_matrix_find(A, row, column);
    return k < 0 ? zero : A->val + 9 * k;
}

static bool row_is_symmetric(const drape_bsr3 *A, int32_t i) {
    double size = 0, difference = 0;
    for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
        const double *here = A->val + 9 * k, *there = find_block(A, A->col[k], i);
        for (int32_t m = 0; m < 9; m++) {
            size = fmax(size, fabs(here[m]));
            difference = fmax(difference, fabs(here[m] - there[3 * (m % 3) + m / 3]));
        }
    }
    return !(difference > ASYMMETRY * size);
}

bool drape_i_looks_symmetric(const drape_bsr3 *A) {
    int32_t count = A->rows < MANY_FROM ? A->rows > 0 : MANY_ROWS / 8;
    for (int32_t s = 0; s < count; s++)
        if (!row_is_symmetric(A, sampled_row(A->rows, count, s))) return false;
    return true;
}

/* ---- Depth ---- */

static bool is_fixed(const drape_i_held *h) { return trace(h->S) < 0.5; } /* which is 0, 1, 2 except for rounding */

int32_t drape_i_count_fixed(const drape_constraints *set) {
    int32_t count = 0;
    for (int32_t i = 0; set && i < set->count; i++) count += is_fixed(&set->held[i]);
    return count;
}

/* Breadth-first from all that are held. */
double drape_i_depth(const drape_bsr3 *A, const drape_constraints *set, int32_t *scratch) {
    int32_t *queue = scratch, *distance = scratch + A->rows, first = 0, last = 0;
    for (int32_t i = 0; i < A->rows; i++) distance[i] = -1;
    for (int32_t i = 0; set && i < set->count; i++)
        if (is_fixed(&set->held[i])) distance[queue[last++] = set->held[i].vertex] = 0;
    while (first < last) {
        int32_t i = queue[first++];
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
            if (distance[A->col[k]] < 0) distance[queue[last++] = A->col[k]] = distance[i] + 1;
    }
    return last == A->rows && last > 0 ? (double)distance[queue[last - 1]] : DBL_MAX;
}
