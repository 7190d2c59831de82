/* level.h: a hierarchy of smaller and smaller matrices (Tamstorf, Jones and McCormick 2015, section 5).
 *
 * Everything here is in single precision: a preconditioner need only be one fixed symmetric positive definite
 * operator. Vectors have DRAPE_I_PADDING numbers behind their end, matrices too, so that kernels may load whole
 * vectors. */
#ifndef DRAPE_LINEAR_AMG_LEVEL_H
#define DRAPE_LINEAR_AMG_LEVEL_H

#include "base/context.h"
#include "linear/constraints.h"

enum {
    DRAPE_I_PADDING = 8,
    DRAPE_I_BANDS = 32, /* most bands a level's rows are cut into */
    DRAPE_I_MODES = 6,  /* most modes of the near-kernel, and rows of a block */
    DRAPE_I_AMG_LEVELS = 16
};

/* Numbers from one row to the next in a vector of rows of r: whole registers, so that what one row stores the next
 * can load at once. */
#define DRAPE_I_STRIDE(r) ((r) == 3 ? 4 : 8)

/* Block rows: block k of row i, start[i] <= k < start[i+1], stands in column col[k], its r c numbers column by
 * column. */
typedef struct drape_i_fblocks {
    int32_t rows, cols; /* in blocks */
    int32_t r, c;       /* size of a block */
    int64_t count;
    int64_t *start;
    int32_t *col; /* increasing within a row */
    float *val;
    bool borrowed; /* start and col are somebody else's */
} drape_i_fblocks;

/* Contiguous rows that one thread works on in order; bands of one colour are not coupled. Bounds and colours depend
 * on the matrix alone. */
typedef struct drape_i_bands {
    int32_t count, colours;
    int32_t first[DRAPE_I_BANDS + 1];
    int32_t colour[DRAPE_I_BANDS];
    int32_t order[DRAPE_I_BANDS];            /* by colour */
    int32_t colour_first[DRAPE_I_BANDS + 1]; /* where a colour starts in order */
} drape_i_bands;

/* A row of A P while it is made: `count` blocks of r x c in the columns col[]; each column of a block has
 * DRAPE_I_PADDING numbers. */
typedef struct drape_i_product_row {
    int32_t count;
    int32_t *col;
    float *val;
} drape_i_product_row;

/* What the finest level's near-kernel is made from: three translations, or those and three rotations. */
typedef struct drape_i_near_kernel {
    const drape_constraints *set; /* NULL: none */
    const double *x;              /* positions, 3 a vertex; for six modes only */
} drape_i_near_kernel;

/* One level, and the way to the next coarser one. */
typedef struct drape_i_level {
    drape_i_fblocks A;
    int32_t modes;
    int32_t *user;   /* finest level: the caller's number of each row; NULL: the same */
    int64_t *source; /* and which block of the caller's matrix each of A's is */
    drape_i_bands bands;
    int32_t *split;      /* blocks of each row that stand left of the diagonal, which must be there */
    uint8_t *strong;     /* of each block of A: whether row and column are strongly connected */
    float *inverse;      /* of the diagonal blocks, with the constraints folded in; r r a row */
    int64_t numbers;     /* in the next */
    float *vectors;      /* one piece of memory for the three below, and for Q while P is made */
    float *x, *b, *t;    /* solution, right-hand side, residual */
    float *d, *q;        /* direction and product, for Chebyshev's smoother */
    int32_t *aggregate;  /* of each row; -1: special, none */
    drape_i_fblocks P;   /* interpolation from the next level */
    drape_i_bands reach; /* the same bands, coloured so that those of one colour reach no common coarse row */
    int64_t *back_start; /* P by columns: for each coarse row, */
    int32_t *back_row;   /*   the fine rows that it reaches, ascending, */
    int32_t *back_block; /*   and which blocks of P those are */
    int32_t *member_first, *member; /* the rows of each aggregate, ascending */
    double *kernel;                 /* near-kernel, r x modes a row, column by column; NULL on the finest level */
    int32_t widest;                 /* most blocks that a row of A P has */
    drape_i_product_row row[DRAPE_I_BANDS]; /* where a band makes it */
    double rho;                             /* of D^-1 A, as estimated */
} drape_i_level;

DRAPE_INLINE int32_t drape_i_user_row(const drape_i_level *l, int32_t i) { return l->user ? l->user[i] : i; }

drape_status drape_i_fblocks_alloc(drape_context *ctx, int32_t rows, int32_t cols, int32_t r, int32_t c,
                                   int64_t count, drape_i_fblocks *out);
void drape_i_fblocks_free(drape_context *ctx, drape_i_fblocks *m);
/* A vector of n numbers with its padding. */
float *drape_i_fvector(drape_context *ctx, int64_t n);
void drape_i_fvector_free(drape_context *ctx, float *v, int64_t n);

void drape_i_bands_make(drape_context *ctx, const drape_i_fblocks *A, drape_i_bands *out);
/* The bands of `of`, coloured anew by the columns of P that they have in common. */
void drape_i_bands_by_reach(const drape_i_bands *of, const drape_i_fblocks *P, uint32_t *scratch, drape_i_bands *out);
/* task(data, band) for all bands, without regard to colours. */
void drape_i_bands_all(drape_context *ctx, const drape_i_bands *bands, void (*task)(void *data, int32_t band),
                       void *data);
/* The same colour by colour; backward: the last colour first. */
void drape_i_bands_coloured(drape_context *ctx, const drape_i_bands *bands, bool backward,
                            void (*task)(void *data, int32_t band), void *data);

#endif
