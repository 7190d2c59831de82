/* triangular.h: what the preconditioners ssor, ichol and ilu have in common: M of two triangular factors,
 *
 *     M = w/(2-w) (D/w + L) D^-1 (D/w + U),   D block diagonal, L and U strictly triangular in blocks,
 *
 * the order of the rows in which "triangular" is meant, and M^-1 r by one sweep forward and one back:
 *
 *     z_i = w G_i (r_i - sum_{j before i} L_ij z_j),   h_i = (2-w) z_i - w G_i sum_{j after i} U_ij h_j,   G = D^-1.
 *
 * Order: rows are cut into chunks of neighbours, chunks are colored so that no two of a color are coupled. Rows
 * are sorted by (color, chunk, place in the chunk). So the chunks of a color can be swept at the same time. All of
 * that comes from the pattern alone, never from the number of threads, and so do the bits.
 *
 * With constraints M is that of A^ (precond.h), h = S M^-1 S r. It is enough to put S_i G_i S_i in place of G_i. Then
 * all z_j lie in the range of S_j, where A^_ij is S_i A_ij, and that S_i is part of G_i already. So L and U may be
 * those of A; only D has to be that of A^. */
#ifndef DRAPE_LINEAR_TRIANGULAR_H
#define DRAPE_LINEAR_TRIANGULAR_H

#include "base/context.h"
#include "base/simd_level.h"
#include "linear/constraints.h"
#include "linear/couplings.h"
#include "linear/precond.h"

/* ---- Order: triangular_order.c ---- */

/* Rows; chunks. Every border between chunks breaks the order: ichol takes 84 iterations for the drooping sheet of
 * 40,401 vertices with 1 chunk, 116 with 20, 144 with 64. */
enum { DRAPE_I_LEAST_CHUNK = 1024, DRAPE_I_MOST_CHUNKS = 32 };

typedef struct drape_i_sweep_order {
    int32_t rows, chunks, colours;
    int32_t *row;       /* rows: which is at this place */
    int32_t *place;     /* rows: and where this row is */
    int32_t *chunk;     /* chunks + 1: places at which they begin */
    int32_t *colour;    /* colors + 1: chunks at which they begin */
    bool breadth_first; /* rows were reordered, for those of the caller have no neighbours near them */
} drape_i_sweep_order;

/* The pattern by columns: the rows of column j, ascending, and where in its row each block is. */
typedef struct drape_i_columns {
    int32_t count;
    int64_t blocks;
    int64_t *first; /* count + 1 */
    int32_t *row, *slot;
} drape_i_columns;

drape_status drape_i_columns_create(drape_context *ctx, const drape_bsr3 *A, drape_i_columns *out);
void drape_i_columns_destroy(drape_context *ctx, drape_i_columns *columns);

/* Chunks of at least this number of rows. On failure nothing is left to be destroyed. */
drape_status drape_i_sweep_order_create(drape_context *ctx, const drape_bsr3 *A, const drape_i_columns *columns,
                                        int32_t least_chunk, drape_i_sweep_order *out);
void drape_i_sweep_order_destroy(drape_context *ctx, drape_i_sweep_order *order);

/* ---- The two halves of the pattern: triangular.c ---- */

/* By places: the blocks of its row that are in columns before it, or after it; those nearest to it last, since they
 * are the ones that were computed last. */
typedef struct drape_i_half {
    int64_t *first; /* rows + 1 */
    int32_t *col;   /* the column */
    int32_t *slot;  /* it is block rowptr[row] + slot of A */
} drape_i_half;

typedef struct drape_i_triangular {
    drape_i_sweep_order order;
    drape_i_half before, after;
    double omega;
    double *G; /* by places, 9 each: w G_i */
    double *L,
        *U; /* 9 per block of `before` and of `after`, in their order: read without gaps, for memory is the limit */
    double *sums; /* a chunk's share of r'h */
} drape_i_triangular;

/* least_chunk 0: the default. On failure nothing is left to be destroyed. */
drape_status drape_i_triangular_create(drape_context *ctx, const drape_bsr3 *A, int32_t least_chunk,
                                       drape_i_triangular *out);
void drape_i_triangular_destroy(drape_context *ctx, drape_i_triangular *t);
/* The blocks of A at place p, to where those of the half are. */
void drape_i_half_copy(const drape_bsr3 *A, const drape_i_triangular *t, const drape_i_half *half, int64_t p,
                       double *to);
/* h = M^-1 r; returns r'h. */
double drape_i_triangular_apply(drape_context *ctx, const drape_i_triangular *t, const double *r, double *h);
int64_t drape_i_triangular_traffic(const drape_i_triangular *t);

/* ---- 3x3 blocks, row by row, for those who make M: triangular.c ---- */

/* out = a b */
DRAPE_INLINE void drape_i_block_product(const double *a, const double *b, double *out) {
    for (int32_t i = 0; i < 9; i += 3)
        for (int32_t j = 0; j < 3; j++) out[i + j] = (a[i] * b[j] + a[i + 1] * b[3 + j]) + a[i + 2] * b[6 + j];
}

/* out = a^-1, symmetric to the bit where a is; false: a is singular, or as good as. */
bool drape_i_block_inverse(const double a[9], double out[9]);
/* Whether the symmetric part of a is positive definite. */
bool drape_i_block_positive(const double a[9]);

/* Which blocks may be on the diagonal of M. */
typedef enum drape_i_pivots {
    DRAPE_I_PIVOTS_SYMMETRIC, /* of the block the symmetric part is taken, which must be positive definite */
    DRAPE_I_PIVOTS_POSITIVE,  /* the symmetric part must be, the block may have another as well */
    DRAPE_I_PIVOTS_REGULAR    /* any that has an inverse */
} drape_i_pivots;

/* out = the diagonal block of row i of A with its couplings, or of A^ with set. One that may not be there, or is
 * missing, is replaced by the identity times the mean of its diagonal's absolute values (1 if that is 0), as in
 * block_diagonal.c. */
void drape_i_usable_diagonal(const drape_bsr3 *A, const drape_constraints *set, const drape_i_couplings *couplings,
                             int32_t i, drape_i_pivots kind, double out[9]);

/* a = (a + a') / 2 */
void drape_i_block_symmetrise(double a[9]);

/* ---- Incomplete factorisation: triangular_factor.c ---- */

typedef struct drape_i_factor drape_i_factor;

/* symmetric: from one half of A, U = L'. least_chunk 0: the default. */
drape_status drape_i_factor_create(drape_context *ctx, const drape_bsr3 *A, bool symmetric, int32_t least_chunk,
                                   drape_i_factor **out);
void drape_i_factor_destroy(drape_context *ctx, drape_i_factor *f);
double drape_i_factor_refresh(drape_context *ctx, drape_i_factor *f, const drape_bsr3 *A,
                              const drape_constraints *set, const drape_i_couplings *couplings);
const drape_i_triangular *drape_i_factor_triangular(const drape_i_factor *f);

/* ---- Kernels: triangular_simd.c ---- */

typedef struct drape_i_sweep {
    const int32_t *row;
    const int64_t *first; /* of one half, and */
    const int32_t *col;
    const double *val; /* its values */
    const double *G, *r;
    double keep; /* 2-w */
    double *h;
} drape_i_sweep;

/* Over the places [begin, end), the second from the end on; that one returns r'h. */
DRAPE_I_KERNEL(void, drape_i_sweep_forward, (const drape_i_sweep *s, int64_t begin, int64_t end));
DRAPE_I_KERNEL(double, drape_i_sweep_back, (const drape_i_sweep *s, int64_t begin, int64_t end));

#endif
