/* drape/sparse.h: square sparse matrices of 3x3 blocks, with one block row per vertex.
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

/* A view of block rows; the arrays belong to the caller. Block k, with rowptr[i] <= k < rowptr[i+1], is in block row
 * i and block column col[k]. Its nine values are stored row by row at val + 9k. Both triangles of the matrix are
 * stored. */
typedef struct drape_bsr3 {
    int32_t rows;          /* block rows and columns, >= 0 */
    const int64_t *rowptr; /* rows + 1 offsets, rowptr[0] = 0, not decreasing */
    const int32_t *col;    /* rowptr[rows] columns, increasing within a row */
    double *val;           /* 9 rowptr[rows] values */
} drape_bsr3;

/* Checks everything that the comments above require: every offset and every index, but not the values. */
DRAPE_API drape_status drape_bsr3_check(drape_context *ctx, const drape_bsr3 *A);

/* The largest |A_ij - A_ji'| over all pairs of blocks, relative to the larger of their diagonal blocks; 0 if A is
 * symmetric. *row and *column get the block indices of that pair; either pointer may be NULL. A must be valid. */
DRAPE_API double drape_bsr3_asymmetry(const drape_bsr3 *A, int32_t *row, int32_t *column);

/* y = A x. x and y have 3 rows values each and do not overlap. The columns of a row may be in any order. A rowptr
 * that decreases or points outside, or a column outside 0 .. rows - 1, is DRAPE_ERROR_ARGUMENT, and the message names
 * row and column. Nothing outside the arrays is read then, and the contents of y are undefined. */
DRAPE_API drape_status drape_multiply(drape_context *ctx, const drape_bsr3 *A, const double *x, double *y);

/* A matrix that owns its arrays. */
typedef struct drape_matrix drape_matrix;

/* Elements of one kind. With k = nodes_per_element, element e couples the nodes nodes[e k .. e k + k-1]. */
typedef struct drape_elements {
    int32_t nodes_per_element; /* 1..8 */
    int32_t count;             /* elements, >= 0 */
    const int32_t *nodes;      /* count nodes_per_element of them, 0 .. rows - 1; belong to the caller */
} drape_elements;

/* A matrix whose pattern couples all nodes of every element with each other, and contains every diagonal block. Its
 * values are zero. rows: block rows, >= 0. sets: set_count kinds of elements. */
DRAPE_API drape_status drape_matrix_from_elements(drape_context *ctx, int32_t rows, const drape_elements *sets,
                                                  int32_t set_count, drape_matrix **out);
/* A checked copy of a matrix. If A->val is NULL, the values of the copy are zero. */
DRAPE_API drape_status drape_matrix_copy(drape_context *ctx, const drape_bsr3 *A, drape_matrix **out);
DRAPE_API void drape_matrix_destroy(drape_matrix *matrix); /* NULL is fine */
/* The arrays of a matrix, which stay its own: valid until it is destroyed. The values may be written. */
DRAPE_API drape_bsr3 drape_matrix_view(const drape_matrix *matrix);

/* ---- Entry by entry ---- */

/* Collects scalar entries in any order, and makes a matrix of them. */
typedef struct drape_builder drape_builder;

/* rows: scalar rows and columns, 0 .. 3 (2^31 - 1). The context must outlive the builder. */
DRAPE_API drape_status drape_builder_create(drape_context *ctx, int64_t rows, drape_builder **out);
DRAPE_API void drape_builder_destroy(drape_builder *builder); /* NULL is fine */
/* A(row, column) += value. Entries may come in any order. Repeated ones are summed in the order of the calls. row and
 * column: 0 .. rows - 1. An index outside this range, or a value or sum that is not finite, is DRAPE_ERROR_ARGUMENT
 * and changes nothing. */
DRAPE_API drape_status drape_builder_add(drape_builder *builder, int64_t row, int64_t column, double value);
DRAPE_API int64_t drape_builder_rows(const drape_builder *builder);    /* scalar rows, as given to create */
DRAPE_API int64_t drape_builder_entries(const drape_builder *builder); /* different (row, column) pairs */
/* Makes a matrix of block rows; the builder is not changed. If rows is not a multiple of three, the matrix is
 * extended by ones on the diagonal, so that it stays positive definite. Every diagonal block is in the pattern. */
DRAPE_API drape_status drape_builder_finish(const drape_builder *builder, drape_matrix **out);

/* ---- Scalar compressed rows or columns, as Eigen, SciPy, PETSc, CHOLMOD and others store them ----
 *
 *   drape_csr theirs = {.rows = n, .start32 = outer, .index32 = inner, .val = values};
 *   drape_matrix *A;
 *   drape_csr_map *map;
 *   drape_bsr3_from_csr(ctx, &theirs, &A, &map);    // once for a pattern
 *   drape_csr_map_refresh(map, values, A);          // other values in it, every step */

/* Which entries the arrays hold. */
typedef enum drape_csr_stored {
    DRAPE_CSR_WHOLE,     /* all entries. A matrix with entries on one side of the diagonal only is refused: it is
                            usually half of a symmetric one by mistake */
    DRAPE_CSR_MIRROR,    /* one triangle of a symmetric matrix; the other one is its mirror image */
    DRAPE_CSR_TRIANGULAR /* all entries; the matrix may be triangular */
} drape_csr_stored;

/* A view of a square scalar matrix; the arrays belong to the caller. By rows (CSR), entry k with start[i] <= k <
 * start[i+1] is in row i and column index[k]; by columns (CSC), it is in column i and row index[k]. Within a row,
 * entries may be in any order. Repeated entries are summed in their order. */
typedef struct drape_csr {
    int64_t rows;            /* scalar rows and columns, 0 .. 3 (2^31 - 1) */
    const int32_t *start32;  /* rows + 1 offsets, the first 0, not decreasing; NULL if start64 is given */
    const int64_t *start64;  /*   the same in 64 bits; NULL if start32 is given */
    const int32_t *index32;  /* start[rows] indices, 0 .. rows - 1; NULL if index64 is given */
    const int64_t *index64;  /*   the same in 64 bits; NULL if index32 is given */
    const double *val;       /* start[rows] values */
    drape_csr_stored stored; /* default DRAPE_CSR_WHOLE */
    uint64_t reserved[4];    /* zero: reserved for later fields */
} drape_csr;

/* Where each entry of a scalar pattern goes in the block matrix. */
typedef struct drape_csr_map drape_csr_map;

/* Converts a scalar matrix to block rows. If rows is not a multiple of three, the matrix is extended by ones on the
 * diagonal, as by drape_builder_finish, so vectors get up to two more numbers. Every diagonal block is in the
 * pattern. map: gets a map for later refreshes, which the caller destroys; may be NULL. A value that is not finite is
 * an error that names its row and column. */
DRAPE_API drape_status drape_bsr3_from_csr(drape_context *ctx, const drape_csr *A, drape_matrix **out,
                                           drape_csr_map **map);
DRAPE_API drape_status drape_bsr3_from_csc(drape_context *ctx, const drape_csr *A, drape_matrix **out,
                                           drape_csr_map **map);
/* Replaces the values of the matrix that was made with this map. val has the order of the values that the map was
 * made from, and start[rows] of them. Nothing is searched or allocated. If a value is not finite, the error names its
 * row and column, and the contents of the matrix are undefined. */
DRAPE_API drape_status drape_csr_map_refresh(const drape_csr_map *map, const double *val, drape_matrix *matrix);
DRAPE_API void drape_csr_map_destroy(drape_csr_map *map); /* NULL is fine */

/* ---- Matrix Market ---- */

/* Reads a square `matrix coordinate real|integer|pattern general|symmetric|skew-symmetric` as scalar entries. Entries
 * of a pattern are 1; repeated entries are summed. The number of rows is at most 65536 plus one per byte of the file,
 * enough for every matrix without empty rows. Messages are `file:line: what`. The locale does not matter. */
DRAPE_API drape_status drape_matrix_market_read(drape_context *ctx, const char *path, drape_builder **out);
/* The same from size bytes of memory, which need not end in a zero byte. name is used in messages. */
DRAPE_API drape_status drape_matrix_market_parse(drape_context *ctx, const char *name, const char *data, int64_t size,
                                                 drape_builder **out);
/* Writes all nine entries of each block with 17 digits, so that reading gives the same pattern and the same bits.
 * With symmetric, only the lower triangle is written; the caller guarantees the symmetry. Values must be finite. */
DRAPE_API drape_status drape_matrix_market_write(drape_context *ctx, const char *path, const drape_bsr3 *A,
                                                 bool symmetric);

/* Reads a vector of exactly count finite numbers into out, an array of the caller. The file is a `matrix
 * array|coordinate real|integer general` of one column, or, if it does not begin with %%MatrixMarket, little-endian
 * doubles. Rows that a coordinate file omits are 0; repeated ones are summed. Messages are `file:line: what`. After a
 * failure the contents of out are undefined. */
DRAPE_API drape_status drape_vector_read(drape_context *ctx, const char *path, int64_t count, double *out);
/* The same from size bytes of memory. */
DRAPE_API drape_status drape_vector_parse(drape_context *ctx, const char *name, const void *data, int64_t size,
                                          int64_t count, double *out);

/* ---- System files: the linear system of a step, with its constraints (docs/system-files.md) ----
 *
 * The system is S A x = S b with (I - S) x = (I - S) z. Every diagonal block is in the pattern, every number is
 * finite, and every block of S is an orthogonal projection (S = S' = S S to 1e-9 per entry).
 *
 * Little-endian: char magic[8] = "DRAPESY1"; int64 n, nnzb, nconstrained; double h; int64 rowptr[n+1];
 * int32 col[nnzb], zero-padded to 8 bytes; double val[9 nnzb], S[9 n], b[3 n], z[3 n], rest[3 n], cur[3 n]. */
typedef struct drape_system {
    drape_bsr3 A;         /* in kg where the unknown x is in m/s and b in N s */
    int64_t constrained;  /* vertices that are held in at least one direction: those whose S is not exactly I */
    double h;             /* time step, s; > 0 */
    double *S;            /* 9 rows: the filter's 3x3 block of each vertex, row by row */
    double *b, *z;        /* 3 rows: right-hand side, N s; prescribed changes of the velocity, m/s */
    double *rest, *cur;   /* 3 rows: rest and current positions, m */
    uint64_t reserved[4]; /* zero: reserved for later fields */
} drape_system;

/* Checks the system as the reader does (DRAPE_ERROR_ARGUMENT), and writes it completely or not at all. */
DRAPE_API drape_status drape_system_write(drape_context *ctx, const char *path, const drape_system *system);
/* Reads a system and checks all of the above. A failed check is DRAPE_ERROR_FORMAT, with a message that names the
 * file and the vertex or row. The arrays belong to the system until drape_system_clear. On failure *out is empty. */
DRAPE_API drape_status drape_system_read(drape_context *ctx, const char *path, drape_system *out);
/* The same from size bytes of memory. name is used in messages. */
DRAPE_API drape_status drape_system_parse(drape_context *ctx, const char *name, const void *data, int64_t size,
                                          drape_system *out);
/* Frees the arrays of a system that was read, and empties it. An empty system or NULL is fine. */
DRAPE_API void drape_system_clear(drape_context *ctx, drape_system *system);

#ifdef __cplusplus
}
#endif

#endif
