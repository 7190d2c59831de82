/* random_systems.h: random constrained systems S A x = S b, (I-S) x = (I-S) z, and the slow and sure way to solve
 * them.
 *
 * A is a sum of positive semidefinite elements g g' over random groups of vertices, scaled to a norm of at most one,
 * plus a multiple of I. Its eigenvalues lie between 1/condition and 1. The reference solves the reduced system U'A U
 * x~ = U'(b - A (I-S) z), S = U U', dense and in long double. U comes from the directions themselves, not from the
 * library's projections. */
#ifndef DRAPE_TESTS_RANDOM_SYSTEMS_H
#define DRAPE_TESTS_RANDOM_SYSTEMS_H

#include "drape/solve.h"
#include "support/testing.h"

/* Directions held at the constrained vertices: 0..3, or any of these. */
enum { RANDOM_DIRECTIONS = -1 };

typedef struct random_settings {
    int32_t rows;
    double condition;   /* most there may be between the largest and the smallest eigenvalue; > 1 */
    double held;        /* share of constrained vertices, 0 to 1 */
    int32_t directions; /* 0..3 or RANDOM_DIRECTIONS */
    bool moving;        /* z random; else zero */
    double isolated;    /* share of vertices that stand in no element */
    uint64_t seed;
} random_settings;

/* The free directions of a vertex: orthonormal u[0 .. count-1], and where their unknowns start in x~. */
typedef struct random_basis {
    int32_t count, first;
    long double u[3][3];
} random_basis;

typedef struct random_system {
    int32_t rows, held, free; /* free: unknowns of the reduced system */
    drape_matrix *matrix;
    drape_bsr3 A;
    double *b;              /* 3 rows, in [-1, 1) */
    drape_constraint *list; /* held of them, in no order, oblique */
    drape_constraints *set;
    random_basis *basis; /* rows */
    long double *fixed;  /* 3 rows: (I-S) z */
} random_system;

/* The right-hand side and the constraints of a system may be changed afterwards, by random_system_hold. */
random_system random_system_create(drape_context *ctx, const random_settings *settings);
void random_system_destroy(random_system *s);
/* Replaces the constraints by the list the system holds, after it was changed. */
void random_system_hold(drape_context *ctx, random_system *s);

/* Adds c g g' to A, g of 3 numbers per node; the nodes must be in the pattern. */
void random_add_element(drape_bsr3 *A, const int32_t *nodes, int32_t count, const double *g, double c);

/* The reduced system: matrix free x free row by row, right-hand side free. To be freed. */
long double *random_reduced_matrix(const random_system *s);
long double *random_reduced_rhs(const random_system *s);
/* x = U x~ + (I-S) z, and x~ = U'x. */
void random_expand(const random_system *s, const long double *reduced, double *x);
void random_reduce(const random_system *s, const double *x, long double *reduced);
/* Solves the reduced system dense, by Cholesky or, where A is not symmetric, by elimination: x of 3 rows. */
void random_reference(const random_system *s, double *x);
void random_reference_unsymmetric(const random_system *s, double *x);

/* Adds a skew-symmetric matrix, whose numbers are at most `strength`, in A's pattern. */
void random_add_skew(drape_bsr3 *A, test_random *r, double strength);

/* |U'(A x - b)| / |U'b^|, what a solve's true residual is. */
double random_true_residual(const random_system *s, const double *x);

/* U'P^-1 U, free x free, P the library's preconditioner of A or of the prefiltered matrix, found by applying it to
 * the columns of U. To be freed. */
long double *random_reduced_precond(drape_context *ctx, const random_system *s, const char *precond,
                                    bool prefiltered);

/* A x - b in long double. */
void random_defect(const random_system *s, const double *x, long double *out);

/* Cholesky, in place; fails the test where A is not positive definite. */
void long_double_solve(int32_t n, long double *A, long double *b);

double norm_of(int64_t n, const double *x);
double distance_of(int64_t n, const double *x, const double *y); /* |x - y| in the 2-norm */

#endif
