/* drape/solve.h: solve S A x = S b with (I-S) x = (I-S) z, A symmetric positive definite of 3x3 blocks.
 *
 *   double x[3 * N], b[3 * N];
 *   drape_solve(ctx, &(drape_problem){.A = &A, .b = b}, NULL, x, NULL);
 *
 * S filters out the directions in which a vertex is held, z says how it moves there (Ascher and Boxerman 2003,
 * eq. 3). For solve after solve with the same pattern keep a drape_solver: it allocates in the first one only. */
#ifndef DRAPE_SOLVE_H
#define DRAPE_SOLVE_H

#include "drape/sparse.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Constraints ---- */

/* A vertex and the directions in which it is held. */
typedef struct drape_constraint {
    int32_t vertex;
    int32_t directions;     /* 0..3; with 3 the vectors are not looked at and x, y, z are meant */
    double direction[3][3]; /* any length but zero, any angle between them but none; made orthonormal */
    double z[3];            /* prescribed value of the unknown; its part in the free directions is ignored */
} drape_constraint;

typedef struct drape_constraints drape_constraints; /* a set of them */

DRAPE_API drape_status drape_constraints_create(drape_context *ctx, int32_t vertices, drape_constraints **out);
DRAPE_API void drape_constraints_destroy(drape_constraints *set); /* NULL is fine */
/* Replaces the set; allocates nothing. A vertex twice, out of range, a direction of length zero or in the span of
 * the ones before it, a number that is not finite: an error that names the vertex, and the set stays as it was. */
DRAPE_API drape_status drape_constraints_set(drape_constraints *set, const drape_constraint *list, int32_t count);
/* The same from S (9 a vertex, orthogonal projections) and z (3 a vertex). */
DRAPE_API drape_status drape_constraints_set_filter(drape_constraints *set, const double *S, const double *z);
/* Vertices with at least one direction held. */
DRAPE_API int32_t drape_constraints_count(const drape_constraints *set);
/* Writes S (9 a vertex) and z (3 a vertex). */
DRAPE_API void drape_constraints_filter(const drape_constraints *set, double *S, double *z);

/* ---- Solving ---- */

typedef struct drape_problem {
    const drape_bsr3 *A;
    const double *b;                      /* 3 a vertex */
    const drape_constraints *constraints; /* NULL: none */
    const double *guess;                  /* y, 3 a vertex, a guess for the case without constraints; NULL: zero.
                                             The methods "mpcg_original" and "mpcg_printed" start from (I-S) z */
} drape_problem;

/* Why the iteration stopped: not an error, an answer. */
typedef enum drape_reason {
    DRAPE_CONVERGED,
    DRAPE_ITERATION_LIMIT,
    DRAPE_INDEFINITE, /* p'Ap <= 0: A (or the preconditioner) is not positive definite */
    DRAPE_NOT_FINITE  /* a number overflowed or was not a number */
} drape_reason;

DRAPE_API const char *drape_reason_name(drape_reason reason);

typedef struct drape_solve_settings {
    const char *method;     /* see drape_method_name; default "mpcg":
                               "mpcg"           corrected: starts from S y + (I-S) z, relative to b^'P^-1 b^,
                                                b^ = S (b - A (I-S) z)
                               "mpcg_original"  Baraff and Witkin's: starts from (I-S) z, relative to (Sb)'P^-1 (Sb)
                               "mpcg_printed"   the same relative to (Sb)'P (Sb), as the papers print it; depends
                                                on the units of A */
    const char *precond;    /* see drape_precond_name: "none", "diagonal", "block_diagonal"; default the last */
    double tol;             /* stop when r'P^-1 r <= tol^2 times the above; in (0, 1); default 1e-5 */
    int32_t max_iterations; /* >= 1; default 10000 */
} drape_solve_settings;

DRAPE_API drape_solve_settings drape_solve_defaults(void);

/* Names in the order of the tables; NULL past the end. */
DRAPE_API const char *drape_method_name(int32_t index);
DRAPE_API const char *drape_precond_name(int32_t index);

typedef struct drape_solve_result {
    drape_reason reason;
    int32_t iterations;
    double residual;      /* what was compared with tol, at the end */
    double true_residual; /* |S (b - A x)| / |b^| in the 2-norm, computed afresh */
    double setup_seconds, solve_seconds;
    const double *constraint_force; /* (I-S) (A x - b), 3 a vertex; lives until the solver's next solve or its end;
                                       NULL from drape_solve */
} drape_solve_result;

typedef struct drape_solver drape_solver;

/* settings may be NULL: the defaults. */
DRAPE_API drape_status drape_solver_create(drape_context *ctx, const drape_solve_settings *settings,
                                           drape_solver **out);
DRAPE_API void drape_solver_destroy(drape_solver *solver); /* NULL is fine */
/* x: 3 a vertex; may be the same array as guess. result may be NULL. The first solve, and one with another number
 * of vertices, allocates; others do not. */
DRAPE_API drape_status drape_solver_solve(drape_solver *solver, const drape_problem *problem, double *x,
                                          drape_solve_result *result);

/* Once, without keeping anything. settings and result may be NULL. */
DRAPE_API drape_status drape_solve(drape_context *ctx, const drape_problem *problem,
                                   const drape_solve_settings *settings, double *x, drape_solve_result *result);

#ifdef __cplusplus
}
#endif

#endif
