/* level.h: a hierarchy of smaller and smaller matrices (Tamstorf, Jones and McCormick 2015, section 5).
 *
 * Each level is scaled on both sides so that its diagonal blocks are I: with W_i' A_ii W_i = I the level has
 *
 *     W'A W = I + U + U',   U strictly upper,
 *
 * for the unknowns x~, x = W x~. A sweep of Gauss and Seidel then has nothing to divide by, D^-1 A is I + U + U'
 * itself, and |U_ij| is the strength of a connection. Only U is kept. Directions in which a vertex is held are not in
 * the range of W: they are zero in U, in P and in all vectors.
 *
 * Everything here is in single precision: a preconditioner need only be one fixed symmetric positive definite
 * operator. Vectors have DRAPE_I_PADDING numbers after their end, matrices too, so that kernels may load whole
 * vectors. */
#ifndef DRAPE_LINEAR_AMG_LEVEL_H
#define DRAPE_LINEAR_AMG_LEVEL_H

#include "base/context.h"
#include "linear/constraints.h"
#include "linear/couplings.h"

enum {
    DRAPE_I_PADDING = 8,
    DRAPE_I_BANDS = 32, /* most bands a level's rows are cut into */
    DRAPE_I_MODES = 12, /* most modes of the near-kernel, and rows of a block: 3, 6 or 12 */
    DRAPE_I_AMG_LEVELS = 16
};

/* Numbers from one row to the next in a vector of rows of r: whole registers, so that what one row stores the next
 * can load at once. */
#define DRAPE_I_STRIDE(r) ((r) == 3 ? 4 : (r) == 6 ? 8 : 16)

/* Contiguous rows that one thread works on in order; bands of one color are not coupled. Bounds and colors depend
 * on the matrix alone. */
typedef struct drape_i_bands {
    int32_t count, colours;
    int32_t length; /* row i is in band i / length */
    int32_t first[DRAPE_I_BANDS + 1];
    int32_t colour[DRAPE_I_BANDS];
    int32_t order[DRAPE_I_BANDS];            /* by color */
    int32_t colour_first[DRAPE_I_BANDS + 1]; /* where a color starts in order */
} drape_i_bands;

/* U: block k of row i, start[i] <= k < start[i+1], is in column col[k] > i, its r r numbers row by row. The first
 * inner[i] blocks of a row stay in its band. Rows with blocks in other bands, above or below the diagonal, are
 * borders; theirs below the diagonal are found through lower. */
typedef struct drape_i_upper {
    int32_t rows, r;
    int64_t count;
    int64_t *start;
    int32_t *col; /* increasing within a row */
    float *val;
    int32_t *inner;
    drape_i_bands bands;
    int32_t borders;
    int32_t *border; /* ascending */
    int32_t border_first[DRAPE_I_BANDS + 1];
    int64_t lowers;
    int64_t *lower_start; /* of each border, */
    int32_t *lower_col;   /*   the rows i of blocks U_ij that it is the column j of, in other bands, */
    int64_t *lower_block; /*   and which blocks those are */
} drape_i_upper;

/* Block rows: block k of row i, start[i] <= k < start[i+1], is in column col[k], its r c numbers row by row. */
typedef struct drape_i_fblocks {
    int32_t rows, cols; /* in blocks */
    int32_t r, c;       /* size of a block */
    int64_t count;
    int64_t *start;
    int32_t *col; /* increasing within a row */
    float *val;
} drape_i_fblocks;

/* Memory for a row of (I/2 + U) P while it is made: blocks of r x c in the columns col[], ascending. */
typedef struct drape_i_product_row {
    int32_t *col;
    float *val;
} drape_i_product_row;

/* Where the products of P'A P go, as bytes in the order in which a band meets them (recipe.c). */
typedef struct drape_i_recipe {
    uint8_t *make, *add;
    int64_t make_bytes, add_bytes;
    int64_t make_first[DRAPE_I_BANDS + 1], add_first[DRAPE_I_BANDS + 1];
    drape_i_bands reach; /* the bands, colored so that those of one color have no product in a common block */
    int32_t widest;      /* most blocks of a row of the product */
    drape_i_product_row row[DRAPE_I_BANDS];
} drape_i_recipe;

/* What the finest level's near-kernel is made from: three translations, or those and three rotations, or vectors of
 * the caller's. */
typedef struct drape_i_near_kernel {
    const drape_constraints *set; /* NULL: none */
    const double *x;              /* positions, 3 doubles per vertex; for the six modes of rigid bodies only */
    const double *own;            /* `count` vectors of 3 doubles per vertex, one after the other; NULL: none */
    int32_t count;                /* 3 .. 12, at most as many as there are modes: further ones are 0 */
} drape_i_near_kernel;

/* The near-kernel K = Q R, aggregate by aggregate. */
typedef struct drape_i_tentative_parts {
    const float *Q;                /* r x modes a row of the level */
    const float *coarse, *inverse; /* R and R^-1, modes x modes an aggregate */
} drape_i_tentative_parts;

/* C of the finest level: a sum of g g' (terms.c). Vectors are DRAPE_I_STRIDE(3) numbers apart. Memory only grows. */
typedef struct drape_i_terms {
    int32_t count;  /* 0: none, and nothing below is to be looked at */
    int64_t *first; /* count + 1: the entries of each term, */
    int32_t *row;   /*   their rows, */
    float *g;       /*   and vectors */
    float *product; /* of each term: g'x */

    int32_t touches;        /* rows that are in a term */
    int32_t *touched;       /* those, ascending */
    int64_t *touched_first; /* touches + 1: the entries of each row, */
    int32_t *term;          /*   their terms, ascending, */
    float *own;             /*   and vectors */
    float *D, *G;           /* 9 numbers per touched row: its block of D, and (I + D)^-1 */
    float *saved;           /* a vector per touched row */
    int32_t *index;         /* per row: where it is in touched; -1: in no term */

    int32_t rows;
    int64_t room_terms, room_entries, room_touched;
} drape_i_terms;

/* One level, and the way to the next coarser one. */
typedef struct drape_i_level {
    drape_i_upper A;
    int32_t modes;
    int32_t *user;            /* finest level: the caller's number of each row; NULL: the same */
    int32_t *place;           /* and where each of the caller's rows is; NULL: the same */
    int32_t *source;          /* and where in that row of the caller's matrix each block of A is */
    float *scale;             /* W, r r a row, row by row */
    int64_t numbers;          /* in the next */
    float *vectors;           /* one piece of memory for the three below, and for Q while P is made */
    float *x, *b, *t;         /* solution, right-hand side, residual */
    float *d, *q;             /* direction and product, for Chebyshev's smoother */
    float *first_x, *first_b; /* of the first of two visits in a W-cycle; NULL: there is but one */
    int32_t *aggregate;       /* of each row; -1: special, none */
    drape_i_fblocks P;        /* interpolation from the next level */
    uint8_t *row_slot;        /* of each block of A: which block of P's row i it smooths, see interpolate.c, */
    uint8_t *col_slot;        /*   of P's row j, */
    uint8_t *low_slot;        /*   and the same for the lower blocks of borders */
    int64_t *member_first;    /* the rows of each aggregate, */
    int32_t *member;          /*   ascending */
    float *kernel;            /* near-kernel K, r x modes a row, row by row; NULL on the finest level */
    drape_i_recipe recipe;
    drape_i_terms terms; /* finest level only */
    float *kept_kernel;  /* the level next to it: a copy of kernel, whose memory is used for other things, too */
    float *sweep;        /* two vectors, where the near-kernel is relaxed; else NULL */
    double rho;          /* of the scaled matrix, as estimated */
    double seconds[DRAPE_AMG_PARTS]; /* of the last set-up, of all cycles since; for reports alone */
} drape_i_level;

/* explain.c: adds the time since *since to a part of a level (DRAPE_AMG_SCALE, ...), and restarts the clock. */
void drape_i_level_lap(drape_i_level *level, int32_t part, double *since);

/* ---- The caller's matrix ---- */

/* The block on the diagonal of a row; NULL: there is none. */
DRAPE_INLINE const double *drape_i_diagonal_block(const drape_bsr3 *A, int32_t row) {
    int64_t k = A->rowptr[row], last = A->rowptr[row + 1];
    while (k < last && A->col[k] < row) k++;
    return k < last && A->col[k] == row ? A->val + 9 * k : NULL;
}

/* Where the first block right of the diagonal is. */
DRAPE_INLINE int64_t drape_i_first_upper(const drape_bsr3 *A, int32_t row) {
    int64_t k = A->rowptr[row];
    while (k < A->rowptr[row + 1] && A->col[k] <= row) k++;
    return k;
}

DRAPE_INLINE int32_t drape_i_user_row(const drape_i_level *l, int32_t i) { return l->user ? l->user[i] : i; }

/* upper.c: memory and patterns of U. Pattern and bands are made from start and col. */
drape_status drape_i_upper_alloc(drape_context *ctx, int32_t rows, int32_t r, int64_t count, drape_i_upper *out);
void drape_i_upper_free(drape_context *ctx, drape_i_upper *A);
drape_status drape_i_upper_finish_pattern(drape_context *ctx, drape_i_upper *A);
/* y = (I + U + U') x */
void drape_i_upper_multiply(drape_context *ctx, const drape_i_upper *A, const float *x, float *y);

void drape_i_fblocks_free(drape_context *ctx, drape_i_fblocks *m);
/* A vector of n numbers with its padding. */
float *drape_i_fvector(drape_context *ctx, int64_t n);
void drape_i_fvector_free(drape_context *ctx, float *v, int64_t n);

/* bands.c: cuts rows into bands and colors them by the blocks of U. */
void drape_i_bands_make(drape_context *ctx, const drape_i_upper *A, drape_i_bands *out);
/* Colors bands by masks: bit j of mask[i] says that bands i and j are coupled; made symmetric. */
void drape_i_bands_colour(uint32_t mask[DRAPE_I_BANDS], drape_i_bands *bands);
/* task(data, band) for all bands, without regard to colors. */
void drape_i_bands_all(drape_context *ctx, const drape_i_bands *bands, void (*task)(void *data, int32_t band),
                       void *data);
/* The same color by color; backward: the last color first. */
void drape_i_bands_coloured(drape_context *ctx, const drape_i_bands *bands, bool backward,
                            void (*task)(void *data, int32_t band), void *data);

#endif
