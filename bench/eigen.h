/* eigen.h: Eigen's conjugate gradients, to compare with. eigen.cpp is compiled where CMake finds Eigen and a C++
 * compiler with OpenMP; it defines BENCH_HAS_EIGEN then. */
#ifndef DRAPE_BENCH_EIGEN_H
#define DRAPE_BENCH_EIGEN_H

#include "drape/sparse.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum bench_eigen_kind {
    BENCH_EIGEN_DIAGONAL,     /* DiagonalPreconditioner */
    BENCH_EIGEN_ICHOL,        /* IncompleteCholesky as it comes: AMD ordering */
    BENCH_EIGEN_ICHOL_NATURAL /* IncompleteCholesky in the order of the rows */
} bench_eigen_kind;

typedef struct bench_eigen bench_eigen;

typedef struct bench_eigen_result {
    int32_t iterations;
    double setup_seconds, solve_seconds;
} bench_eigen_result;

/* A copy of the matrix in Eigen's own form, scalar rows without the zeros, and what a solver analyses of its pattern;
 * neither is part of any time. */
bench_eigen *bench_eigen_create(const drape_bsr3 *A, bench_eigen_kind kind, int32_t threads);
void bench_eigen_destroy(bench_eigen *e);
/* From zero until |r| <= tol |b|, r as the iteration carries it along. 0: it did not get there. */
int bench_eigen_solve(bench_eigen *e, const double *b, double tol, double *x, bench_eigen_result *result);

#ifdef __cplusplus
}
#endif

#endif
