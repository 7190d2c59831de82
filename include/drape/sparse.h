/* drape/sparse.h: square sparse matrices of 3x3 blocks, one block row a vertex.
 *
 *   int32_t triangles[][3] = {{0, 1, 2}, {2, 1, 3}};
 *   drape_elements mesh = {.nodes_per_element = 3, .count = 2, .nodes = triangles[0]};
 *   drape_matrix *A;
 *   drape_matrix_from_elements(ctx, 4, &mesh, 1, &A);    // the pattern, once
 *   drape_bsr3 a = drape_matrix_view(A);                 // fill a.val, every step
 *   drape_multiply(ctx, &a, x, y);                       // y = A x */
#ifndef DRAPE_SPARSE_H
#define DRAPE_SPARSE_H

#include "drape/base.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A view of block rows; the arrays belong to the caller. Block k, rowptr[i] <= k < rowptr[i+1], stands in block
 * row i and block column col[k]; its nine values stand row by row at val + 9k. Both triangles are stored. */
typedef struct drape_bsr3 {
    int32_t rows;          /* block rows and columns, >= 0 */
    const int64_t *rowptr; /* rows + 1 offsets, rowptr[0] = 0, not decreasing */
    const int32_t *col;    /* rowptr[rows] columns, increasing within a row */
    double *val;           /* 9 rowptr[rows] values */
} drape_bsr3;

/* Checks all that the comments above promise (every offset and index, not the values). */
DRAPE_API drape_status drape_bsr3_check(drape_context *ctx, const drape_bsr3 *A);

/* The largest |A_ij - A_ji'| over all pairs of blocks, relative to the larger of their diagonal blocks. 0 if A is
 * symmetric. row and column (either may be NULL) say where. A must be valid. */
DRAPE_API double drape_bsr3_asymmetry(const drape_bsr3 *A, int32_t *row, int32_t *column);

/* y = A x; x and y hold 3 rows values and do not overlap. A rowptr that decreases or points outside, and a column
 * that is negative or not below rows, are DRAPE_ERROR_ARGUMENT. The message names row and column. Nothing outside the
 * arrays is read, and the contents of y are then undefined. Columns need not increase. */
DRAPE_API drape_status drape_multiply(drape_context *ctx, const drape_bsr3 *A, const double *x, double *y);

/* A matrix that owns its arrays. */
typedef struct drape_matrix drape_matrix;

/* Elements of one kind: element e couples the nodes nodes[e k .. e k + k-1], k = nodes_per_element. */
typedef struct drape_elements {
    int32_t nodes_per_element; /* 1..8 */
    int32_t count;
    const int32_t *nodes;
} drape_elements;

/* The pattern in which every element couples all its nodes with each other, and every diagonal block is there.
 * Values are zero. */
DRAPE_API drape_status drape_matrix_from_elements(drape_context *ctx, int32_t rows, const drape_elements *sets,
                                                  int32_t set_count, drape_matrix **out);
/* A copy of a matrix, checked. A->val may be NULL: zeros. */
DRAPE_API drape_status drape_matrix_copy(drape_context *ctx, const drape_bsr3 *A, drape_matrix **out);
DRAPE_API void drape_matrix_destroy(drape_matrix *matrix); /* NULL is fine */
DRAPE_API drape_bsr3 drape_matrix_view(const drape_matrix *matrix);

/* ---- Entry by entry: a list of rows, each a list of (column, value) pairs ---- */

typedef struct drape_builder drape_builder;

/* rows: scalar rows and columns, 0 .. 3 (2^31 - 1). */
DRAPE_API drape_status drape_builder_create(drape_context *ctx, int64_t rows, drape_builder **out);
DRAPE_API void drape_builder_destroy(drape_builder *builder); /* NULL is fine */
/* A(row, column) += value. Entries may come in any order, and again: they are summed in the order of the calls.
 * Indices outside, values and sums that are not finite are DRAPE_ERROR_ARGUMENT, and change nothing. */
DRAPE_API drape_status drape_builder_add(drape_builder *builder, int64_t row, int64_t column, double value);
DRAPE_API int64_t drape_builder_rows(const drape_builder *builder);
DRAPE_API int64_t drape_builder_entries(const drape_builder *builder); /* different (row, column) pairs */
/* Turns into block rows; the builder stays as it is. Where rows is no multiple of three, the matrix is continued
 * with ones on the diagonal, so that it stays positive definite. Every diagonal block is in the pattern. */
DRAPE_API drape_status drape_builder_finish(const drape_builder *builder, drape_matrix **out);

/* ---- Scalar compressed rows or columns, as Eigen, SciPy, PETSc, CHOLMOD and others store them ----
 *
 *   drape_csr theirs = {.rows = n, .start32 = outer, .index32 = inner, .val = values};
 *   drape_matrix *A;
 *   drape_csr_map *map;
 *   drape_bsr3_from_csr(ctx, &theirs, &A, &map);    // once for a pattern
 *   drape_csr_map_refresh(map, values, A);          // other values in it, every step */

/* Which entries are there. */
typedef enum drape_csr_stored {
    DRAPE_CSR_WHOLE,     /* all. Entries on one side of the diagonal only are refused: they are mostly a mistake */
    DRAPE_CSR_MIRROR,    /* one triangle of a symmetric matrix, which stands for both */
    DRAPE_CSR_TRIANGULAR /* all, and it does not matter if that is a triangle */
} drape_csr_stored;

/* A view of a square matrix; the arrays belong to the caller. By rows (CSR) entry k, start[i] <= k < start[i+1],
 * stands in row i and column index[k]; by columns (CSC) in column i and row index[k]. Entries may stand in any order
 * within a row, and be there several times: then they are summed in their order. */
typedef struct drape_csr {
    int64_t rows;            /* and columns, scalar: 0 .. 3 (2^31 - 1) */
    const int32_t *start32;  /* rows + 1 offsets, the first 0, not decreasing: this one */
    const int64_t *start64;  /*   or this one; the other is NULL */
    const int32_t *index32;  /* start[rows] of them, 0 .. rows - 1: this one */
    const int64_t *index64;  /*   or this one */
    const double *val;       /* start[rows] values */
    drape_csr_stored stored; /* default DRAPE_CSR_WHOLE */
    uint64_t reserved[4];    /* zero: reserved for later fields */
} drape_csr;

/* Where the entries of a pattern go. */
typedef struct drape_csr_map drape_csr_map;

/* Turns into block rows. Where rows is no multiple of three, the matrix is continued with ones on the diagonal, as by
 * drape_builder_finish, so vectors get up to two numbers more. Every diagonal block is in the pattern. map may be
 * NULL: then it is not kept. A value that is not finite is an error that names its row and column. */
DRAPE_API drape_status drape_bsr3_from_csr(drape_context *ctx, const drape_csr *A, drape_matrix **out,
                                           drape_csr_map **map);
DRAPE_API drape_status drape_bsr3_from_csc(drape_context *ctx, const drape_csr *A, drape_matrix **out,
                                           drape_csr_map **map);
/* Replaces the values of the matrix that was made with this map by others, which stand as those did: no search,
 * nothing is allocated. Where one is not finite the error names its row and column, and the matrix holds anything. */
DRAPE_API drape_status drape_csr_map_refresh(const drape_csr_map *map, const double *val, drape_matrix *matrix);
DRAPE_API void drape_csr_map_destroy(drape_csr_map *map); /* NULL is fine */

/* ---- Matrix Market ---- */

/* Reads `matrix coordinate real|integer|pattern general|symmetric|skew-symmetric`, square, as scalar entries
 * (a pattern's entries are 1; repeated ones are summed). At most 65536 rows and one a byte of the file, which every
 * matrix without empty rows keeps. Messages are `file:line: what`. Needs no particular locale. */
DRAPE_API drape_status drape_matrix_market_read(drape_context *ctx, const char *path, drape_builder **out);
/* The same from memory; name is for messages, and no zero byte need follow the data. */
DRAPE_API drape_status drape_matrix_market_parse(drape_context *ctx, const char *name, const char *data, int64_t size,
                                                 drape_builder **out);
/* Writes all nine entries of each block with 17 digits, so that reading gives the same pattern and the same bits.
 * symmetric: writes the lower triangle only; the caller guarantees the symmetry. Values must be finite. */
DRAPE_API drape_status drape_matrix_market_write(drape_context *ctx, const char *path, const drape_bsr3 *A,
                                                 bool symmetric);

/* Reads a vector of exactly count numbers, all finite: `matrix array|coordinate real|integer general` of one column,
 * or a file of little-endian doubles, which does not begin with %%MatrixMarket. Rows that a coordinate file omits are
 * 0; repeated ones are summed. Messages are `file:line: what`. After a failure out holds anything. */
DRAPE_API drape_status drape_vector_read(drape_context *ctx, const char *path, int64_t count, double *out);
/* The same from memory. */
DRAPE_API drape_status drape_vector_parse(drape_context *ctx, const char *name, const void *data, int64_t size,
                                          int64_t count, double *out);

/* ---- System files: a linear system with its constraints, as the step made it ----
 *
 * S A x = S b with (I - S) x = (I - S) z. Every diagonal block is in the pattern, every number is finite, every
 * block of S is an orthogonal projection (S = S' = S S to 1e-9 per entry).
 *
 * Little-endian: char magic[8] = "DRAPESY1"; int64 n, nnzb, nconstrained; double h; int64 rowptr[n+1];
 * int32 col[nnzb], zero-padded to 8 bytes; double val[9 nnzb], S[9 n], b[3 n], z[3 n], rest[3 n], cur[3 n]. */
typedef struct drape_system {
    drape_bsr3 A;
    int64_t constrained;  /* vertices with at least one prohibited direction: those whose S is not exactly I */
    double h;             /* time step, s; > 0 */
    double *S;            /* 9 rows: the filter's 3x3 block of each vertex, row by row */
    double *b, *z;        /* 3 rows: right-hand side, prescribed values */
    double *rest, *cur;   /* 3 rows: rest and current positions, m */
    uint64_t reserved[4]; /* zero: reserved for later fields */
} drape_system;

/* Checks the system as the reader does (DRAPE_ERROR_ARGUMENT), then writes it whole or not at all. */
DRAPE_API drape_status drape_system_write(drape_context *ctx, const char *path, const drape_system *system);
/* All of the above is checked (DRAPE_ERROR_FORMAT, with a message that names file and vertex or row). The arrays
 * belong to the system until drape_system_clear. On failure *out is empty. */
DRAPE_API drape_status drape_system_read(drape_context *ctx, const char *path, drape_system *out);
/* The same from memory; name is for messages. */
DRAPE_API drape_status drape_system_parse(drape_context *ctx, const char *name, const void *data, int64_t size,
                                          drape_system *out);
/* Frees the arrays of a system that was read, and empties it; an empty one or NULL is fine. */
DRAPE_API void drape_system_clear(drape_context *ctx, drape_system *system);

#ifdef __cplusplus
}
#endif

#endif
