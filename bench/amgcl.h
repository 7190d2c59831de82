/* amgcl.h: AMGCL's multigrid, to compare with. The header files of AMGCL are not part of drape: peers_amgcl.c
 * compiles amgcl.cpp, which is embedded into drape-bench, where the user says where they lie, and loads it. */
#ifndef DRAPE_BENCH_AMGCL_H
#define DRAPE_BENCH_AMGCL_H

#include <stdint.h>

typedef struct bench_amgcl_system {
    int32_t rows; /* of 3x3 blocks, as drape has them */
    const int64_t *rowptr;
    const int32_t *col;
    const double *val, *rhs;
} bench_amgcl_system;

/* What is done with the levels of an earlier matrix. */
typedef enum bench_amgcl_reuse {
    BENCH_AMGCL_BUILD,
    BENCH_AMGCL_REBUILD /* P is kept */,
    BENCH_AMGCL_KEEP
} bench_amgcl_reuse;

typedef struct bench_amgcl_result {
    int32_t iterations, converged;
    double setup_seconds, solve_seconds;
} bench_amgcl_result;

typedef struct bench_amgcl bench_amgcl;

/* What the compiled file offers, by the name bench_amgcl_functions. */
typedef struct bench_amgcl_table {
    /* way: a number of `ways` in amgcl.cpp. */
    bench_amgcl *(*create)(int32_t way, int32_t threads);
    void (*destroy)(bench_amgcl *a);
    /* From zero, until sqrt(r'P^-1 r) <= tol sqrt(b'P^-1 b). False: AMGCL threw an exception. */
    int (*solve)(bench_amgcl *a, const bench_amgcl_system *system, bench_amgcl_reuse reuse, double tol, double *x,
                 bench_amgcl_result *result);
} bench_amgcl_table;

#endif
