/* couplings.h: C, the couplings of a problem, made ready for products.
 *
 * Products take two passes. The first computes what each coupling gives as a whole: the number
 * t = k (sum of w[a] n.x_a), or 3 numbers per vertex where it has blocks. In the second each vertex gathers from its
 * couplings, in the order of the list: t w[a] n, or its 3 numbers. No vertex is written by two threads, so the bits
 * do not depend on their number. Cost per coupling of m vertices: 96 bytes and 12 m flops; 40 bytes and 6 flops per
 * vertex of it in the second pass. */
#ifndef DRAPE_LINEAR_COUPLINGS_H
#define DRAPE_LINEAR_COUPLINGS_H

#include "base/context.h"
#include "drape/solve.h"

/* A vertex in a coupling. */
typedef struct drape_i_coupled {
    int32_t coupling;
    int32_t whole; /* with blocks: which of its vertices this is; -1: it has none */
    double g[3];   /* w[a] n */
} drape_i_coupled;

/* Memory only grows. All zero is a set of no couplings for no rows. */
typedef struct drape_i_couplings {
    int32_t count; /* 0: none, and nothing below is to be looked at */
    const drape_coupling *list;
    int32_t vertices;         /* that are in a coupling */
    int32_t *vertex;          /* those, ascending */
    int64_t *first;           /* vertices + 1: where the couplings of each begin in `coupled` */
    drape_i_coupled *coupled; /* by vertex, then in the order of the list */
    double *diagonal;         /* 9 numbers per vertex of those: its block of C's diagonal */
    int32_t *index;           /* per row: where it is in `vertex`; -1: in no coupling */
    double *t;                /* of the product under way: a number per coupling, */
    double *whole;            /*   and 12 per coupling where one has blocks */
    /* Room: */
    int32_t rows, room_count, room_vertices;
    int64_t room_coupled, room_whole;
} drape_i_couplings;

/* Takes in a list for a matrix with this number of rows, after checking it; the caller's arrays must stay until the
 * last product. On failure C is empty. */
drape_status drape_i_couplings_set(drape_context *ctx, int32_t rows, const drape_couplings *from,
                                   drape_i_couplings *C);
void drape_i_couplings_free(drape_context *ctx, drape_i_couplings *C);

DRAPE_INLINE bool drape_i_any_couplings(const drape_i_couplings *C) { return C && C->count > 0; }

/* The first pass of C x. */
void drape_i_couplings_begin(drape_context *ctx, const drape_i_couplings *C, const double *x);
/* The second, for the rows [begin, end) in the calling thread: y += C x; returns the share of x'C x. */
double drape_i_couplings_add_rows(const drape_i_couplings *C, const double *x, double *y, int64_t begin, int64_t end);
/* y = (A + C) x; returns x'(A + C) x. C may be NULL. */
double drape_i_coupled_multiply(drape_context *ctx, const drape_bsr3 *A, const drape_i_couplings *C, const double *x,
                                double *y);
int64_t drape_i_couplings_traffic(const drape_i_couplings *C); /* bytes that a product reads and writes */

/* The block between the a-th and the b-th vertex of a coupling. */
void drape_i_coupling_block(const drape_coupling *c, int32_t a, int32_t b, double out[9]);
/* Which of its vertices this one is. */
int32_t drape_i_coupling_place(const drape_coupling *c, int32_t vertex);

/* The diagonal block of row i with its share of C: `block`, which may be NULL for a row without, or `sum`. */
DRAPE_INLINE const double *drape_i_coupled_block(const drape_i_couplings *C, int32_t i, const double *block,
                                                 double sum[9]) {
    if (!drape_i_any_couplings(C) || C->index[i] < 0) return block;
    const double *more = C->diagonal + 9 * (int64_t)C->index[i];
    for (int32_t k = 0; k < 9; k++) sum[k] = block ? block[k] + more[k] : more[k];
    return sum;
}

/* A new matrix A + C. share: per coupling, how much of it is to be in it; 0: nothing; NULL: all of each. */
drape_status drape_i_couplings_merge(drape_context *ctx, const drape_bsr3 *A, const drape_i_couplings *C,
                                     const double *share, drape_matrix **out);
/* The same into a matrix that an earlier call made, for other values in the same pattern. */
drape_status drape_i_couplings_merge_again(drape_context *ctx, const drape_bsr3 *A, const drape_i_couplings *C,
                                           const double *share, drape_matrix *out);
/* Adds C to the values of a matrix whose pattern holds it; an error that names the first coupling outside. */
drape_status drape_i_couplings_scatter(drape_context *ctx, const drape_i_couplings *C, const drape_bsr3 *A);

#endif
