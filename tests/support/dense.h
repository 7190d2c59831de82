/* dense.h: small dense matrices to compare sparse ones with. All are row by row in plain arrays. */
#ifndef DRAPE_TESTS_DENSE_H
#define DRAPE_TESTS_DENSE_H

#include "drape/sparse.h"

#include <stdbool.h>

/* Zeroed memory for so many numbers, never NULL; free() it. */
double *dense_new(int64_t count);

/* The 3 rows x 3 rows numbers of A. */
void dense_from_bsr3(const drape_bsr3 *A, double *out);

/* C = A B, C = A' B: C has m rows and n columns, k is summed over. C overlaps neither. */
void dense_multiply(int32_t m, int32_t k, int32_t n, const double *A, const double *B, double *C);
void dense_multiply_transposed(int32_t m, int32_t k, int32_t n, const double *A, const double *B, double *C);

/* The Frobenius norm, which is also a vector's. */
double dense_norm(int64_t count, const double *a);
/* |a - b| / |b| */
double dense_difference(int64_t count, const double *a, const double *b);

/* Eigenvalues, ascending, and orthonormal eigenvectors (column j belongs to values[j]; may be NULL) of the symmetric
 * n x n matrix A, by Jacobi rotations. Only the symmetric part of A is used. */
void dense_eigen(int32_t n, const double *A, double *values, double *vectors);

/* A = L L' in place (L in the lower triangle); false: A is not positive definite. */
bool dense_cholesky(int32_t n, double *A);
/* b becomes x with A x = b, given L. */
void dense_cholesky_solve(int32_t n, const double *L, double *b);

/* b (n x columns) becomes X with A X = b by elimination with pivots; destroys A; false: A is singular. */
bool dense_solve(int32_t n, double *A, int32_t columns, double *b);

#endif
