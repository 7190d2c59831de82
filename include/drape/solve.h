/* drape/solve.h: solves S A x = S b, (I-S) x = (I-S) z. A has 3x3 blocks, and is usually symmetric positive definite.
 *
 *   double x[3 * N], b[3 * N];
 *   drape_solve(ctx, &(drape_problem){.A = &A, .b = b}, NULL, x, NULL);
 *
 * S filters out the directions in which a vertex is held, and z says how it moves in these directions (Ascher and
 * Boxerman 2003, eq. 3). To solve repeatedly with the same pattern, keep a drape_solver, which allocates memory only
 * in its first solve. x, b and z have the units of your system. */
#ifndef DRAPE_SOLVE_H
#define DRAPE_SOLVE_H

#include "drape/sparse.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Constraints ---- */

/* A vertex and the directions in which it is held. */
typedef struct drape_constraint {
    int32_t vertex;         /* 0 .. vertices - 1 */
    int32_t directions;     /* 0..3; with 3 it is held in all directions, and the vectors are ignored */
    double direction[3][3]; /* of any length above zero, linearly independent; made orthonormal */
    double z[3];            /* prescribed value of the unknown; its part in the free directions is ignored */
} drape_constraint;

typedef struct drape_constraints drape_constraints; /* a set of them */

/* Creates an empty set for this number of vertices (>= 0), with three unknowns each. */
DRAPE_API drape_status drape_constraints_create(drape_context *ctx, int32_t vertices, drape_constraints **out);
DRAPE_API void drape_constraints_destroy(drape_constraints *set); /* NULL is fine */
/* Replaces the set, which then has no equalities; allocates nothing. Refuses a vertex that is listed twice or out of
 * range, a number that is not finite, and a direction that is zero or dependent on previous ones. The message names
 * the vertex, and the set stays as it was. */
DRAPE_API drape_status drape_constraints_set(drape_constraints *set, const drape_constraint *list, int32_t count);
/* The same from S (9 per vertex, orthogonal projections) and z (3 per vertex). Both are copied. */
DRAPE_API drape_status drape_constraints_set_filter(drape_constraints *set, const double *S, const double *z);
/* Vertices with at least one direction held individually, without those that equalities couple (see below). */
DRAPE_API int32_t drape_constraints_count(const drape_constraints *set);
/* Writes S (9 per vertex) and z (3 per vertex) to arrays of the caller. For vertices that equalities couple, S = I
 * and z = 0. */
DRAPE_API void drape_constraints_filter(const drape_constraints *set, double *S, double *z);

enum { DRAPE_EQUALITY_VERTICES = 4 };

/* A linear equality between vertices. In each direction d,
 *
 *     sum of w[a] (d . x_a)  =  d . value.
 *
 * w = {1, -1} holds two vertices together. w = {1, -u, -v, u + v - 1} holds a vertex to a point of a triangle, and
 * w = {1 - s, s, t - 1, -t} a point of one edge to a point of another. */
typedef struct drape_equality {
    int32_t count;                           /* vertices, 1..4 */
    int32_t vertex[DRAPE_EQUALITY_VERTICES]; /* all different */
    double w[DRAPE_EQUALITY_VERTICES]; /* weights of any sign, not all zero; vertices of weight 0 are left out */
    int32_t directions;                /* 1..3; with 3 it holds in all directions, and the vectors are ignored */
    double direction[3][3];            /* as in drape_constraint */
    double value[3];                   /* its part in the other directions is ignored */
    bool yields;          /* true: if it contradicts others it is left out, which is not an error; default false */
    uint64_t reserved[2]; /* zero: reserved for later fields */
} drape_equality;

/* Adds equalities to a set. Vertices that they couple, directly or through others, form groups of at most 64.
 * Constraints of single vertices in the set join the groups, and take precedence. S is then an orthogonal projection
 * that is block-diagonal over groups, with an orthonormal basis of the held directions in each. Rows that depend on
 * others up to 1e-6 of their length are left out. Such a row contradicts the others if it is missed by more than the
 * tolerance (in units of the unknown, >= 0) and more than rounding.
 *
 * A contradiction is an error that names the vertices of the row. It is also an error if a vertex is out of range or
 * named twice, if all weights are zero, or if a number is not finite. So is a direction of length zero or in the span
 * of the previous ones, and a group that is too large. After an error the set has no equalities.
 *
 * drape_constraints_set removes equalities, so call this function after it, once. It allocates only if there are more
 * equalities, or larger groups, than ever before. All methods and preconditioners take them: a solver turns the
 * unknowns of each group so that equalities become constraints of single vertices. drape_prefilter and
 * drape_precond_interpolation do not. */
DRAPE_API drape_status drape_constraints_couple(drape_constraints *set, const drape_equality *list, int32_t count,
                                                double tolerance);
/* How many vertices are in groups, and how many rows (directions of equalities) were left out because they yield. */
DRAPE_API int32_t drape_constraints_coupled(const drape_constraints *set);
DRAPE_API int32_t drape_constraints_yielded(const drape_constraints *set);

/* Constraints from several sources (pins, contacts, scripts), any number of them for a vertex:
 *
 *   drape_constraint_builder_begin(builder, 0);
 *   drape_constraint_builder_add(builder, PINS, &pin);              // and so on, in any order
 *   drape_constraint_builder_add(builder, CONTACTS, &contact);
 *   drape_constraint_builder_finish(builder, set);
 *
 * If a vertex has one source, its constraint is taken unchanged. If there are several, their directions are merged
 * into at most three orthonormal ones, and z satisfies all of them. If they contradict each other, z is the
 * least-squares solution with equal weights. A direction at an angle of less than 1e-6 to the span of the others
 * counts as within it. The order of the sources does not matter, except for rounding. */
typedef struct drape_constraint_builder drape_constraint_builder;

/* A vertex whose sources contradict each other. */
typedef struct drape_contradiction {
    int32_t vertex;
    int32_t source;       /* the one whose constraint is violated most */
    int32_t other_source; /* the one that is violated most among the others; -1: there is none */
    double size;          /* by how much `source` is violated, in units of the unknown */
    uint64_t reserved[2]; /* zero */
} drape_contradiction;

DRAPE_API drape_status drape_constraint_builder_create(drape_context *ctx, int32_t vertices,
                                                       drape_constraint_builder **out);
DRAPE_API void drape_constraint_builder_destroy(drape_constraint_builder *builder); /* NULL is fine */
/* Removes all constraints that were added. Contradictions up to the tolerance, >= 0 and in units of the unknown, are
 * not reported; those of the size of rounding never are. */
DRAPE_API drape_status drape_constraint_builder_begin(drape_constraint_builder *builder, double tolerance);
/* Adds a constraint. source: any number, for the caller's own use; it appears in messages and contradictions.
 * Allocates only if there are more constraints than in any set before. */
DRAPE_API drape_status drape_constraint_builder_add(drape_constraint_builder *builder, int32_t source,
                                                    const drape_constraint *constraint);
/* Merges the constraints, and replaces those of the set with the result (NULL: only merges). Allocates nothing. It
 * fails as drape_constraints_set does, with a message that names the source; the set then stays as it was. */
DRAPE_API drape_status drape_constraint_builder_finish(drape_constraint_builder *builder, drape_constraints *set);
/* The merged constraints, each vertex once, in the order in which vertices were first added; valid until the next
 * call that changes the builder. *count gets their number. */
DRAPE_API const drape_constraint *drape_constraint_builder_list(const drape_constraint_builder *builder,
                                                                int32_t *count);
/* How many vertices have contradicting sources, and each of them. */
DRAPE_API int32_t drape_constraint_builder_contradictions(const drape_constraint_builder *builder);
DRAPE_API drape_status drape_constraint_builder_contradiction(const drape_constraint_builder *builder, int32_t index,
                                                              drape_contradiction *out);

/* ---- Couplings: stiffness beside the matrix, such as that of contacts ---- */

enum { DRAPE_COUPLING_VERTICES = 4 };

/* A symmetric positive semidefinite matrix over up to four vertices, which is added to A without being in A's
 * pattern. Its 3x3 block between the a-th and the b-th vertex is
 *
 *     k w[a] w[b] n n'
 *
 * which is the stiffness of a spring that resists motion of the weighted sum of the vertices along n. w = {1, -1}
 * couples two vertices, w = {1, -u, -v, u + v - 1} a vertex and a triangle. `blocks` gives any
 * other matrix. */
typedef struct drape_coupling {
    int32_t count;                           /* vertices, 1..4 */
    int32_t vertex[DRAPE_COUPLING_VERTICES]; /* all different */
    double k;                                /* stiffness in the unit of A, >= 0 */
    double w[DRAPE_COUPLING_VERTICES];       /* a weight per vertex, of any sign */
    double n[3];                             /* direction; its length counts */
    const double *blocks; /* NULL: as above. Else the whole matrix, 3 count x 3 count numbers row by row, symmetric
                             and positive semidefinite; k, w and n are then ignored */
} drape_coupling;

/* A view of couplings; the array belongs to the caller. {0} means none. */
typedef struct drape_couplings {
    int32_t count; /* >= 0 */
    const drape_coupling *list;
} drape_couplings;

/* Makes a new matrix A + C, whose pattern contains A's blocks and those of all couplings. Use it for solvers of other
 * libraries, and for files; drape's own methods take the couplings as they are. */
DRAPE_API drape_status drape_couplings_merge(drape_context *ctx, const drape_bsr3 *A,
                                             const drape_couplings *couplings, drape_matrix **out);

/* ---- Solving ---- */

/* A as a function instead of a matrix, for all methods except "direct" and "mpcg-printed". Both functions are called
 * from the thread that solves, one at a time, and may call drape with the same context. For example, `precondition`
 * may call drape_precond_apply with the preconditioner of a matrix similar to A. A function that fails writes NaN,
 * and the solve then ends with DRAPE_NOT_FINITE. */
typedef struct drape_operator {
    int32_t rows;                                             /* vertices: all vectors hold 3 doubles per row; >= 0 */
    void (*multiply)(void *user, const double *x, double *y); /* y = A x */
    void (*precondition)(void *user, const double *r,
                         double *z); /* z = P^-1 r, P fixed during a solve, symmetric and
                                        positive definite unless the method is a BiCGStab;
                                        constraints are dealt with outside; NULL: P = I */
    void *user;
    uint64_t reserved[4]; /* zero: reserved for later fields */
} drape_operator;

/* A linear system. Zero means: not given. Arrays belong to the caller. */
typedef struct drape_problem {
    const drape_bsr3 *A;                  /* or NULL, and `op` is given */
    const double *b;                      /* 3 per vertex */
    const drape_constraints *constraints; /* NULL: none */
    const double *guess;                  /* y, 3 per vertex, a guess for the case without constraints; NULL: zero.
                                             The methods "mpcg-original" and "mpcg-printed" start from (I-S) z.
                                             "ppcg" with "amg" or "ichol" improves one worse than zero */
    const double *positions;              /* 3 per vertex, m, for the preconditioner "amg"; NULL: it does without */
    const double *near_kernel; /* for the preconditioner "amg", in place of rigid-body motions: vectors that A hardly
                                  resists, one after the other, 3 doubles per vertex each; NULL: none. What is held is
                                  taken out of them. They need not be orthogonal, nor the same in every solve */
    int32_t near_kernel_count; /* how many: 3 .. 12. Coarse levels have blocks of 3, 6 or 12 numbers squared, so 3, 6
                                  and 12 make the most of them */
    double tol;                /* of this solve, in (0, 1); 0: that of the settings */
    bool same_matrix; /* true: A's numbers, the couplings and what is held are those of this solver's last solve, and
                         what was made from them is kept: preconditioner, factor. It is not checked. b, z and tol may
                         differ.
                         false, the default: everything is computed from A; a first solve does so in any case */
    bool released; /* true: since this solver's last solve constraints and couplings were only removed, and A lost at
                      most what they had added to it. Use it when contacts that pull are released. Multigrid then
                      keeps its coarse levels. It is not checked. b, z and tol may differ */
    const drape_operator *op; /* A as a function; then A is NULL, and the preconditioner of the settings "auto" or
                                 "none": P is the operator's own. The method "auto" is "ppcg". Default NULL */
    drape_couplings
        couplings; /* C: wherever this header says A, A + C is solved with; not beside `op`. They may differ in every
                      solve at no extra cost: everything set up for A's pattern is kept, and memory grows only if the
                      list does. {0}, the default: none. A vertex out of range or named twice, a negative k, a number
                      that is not finite, blocks that are not symmetric: an error that names the coupling */
    uint64_t reserved[8]; /* zero: reserved for later fields */
} drape_problem;

/* Why the iteration stopped. None of these is an error of the call. */
typedef enum drape_reason {
    DRAPE_CONVERGED,
    DRAPE_ITERATION_LIMIT,
    DRAPE_INDEFINITE,  /* p'Ap <= 0: A (or the preconditioner) is not positive definite */
    DRAPE_NOT_FINITE,  /* a number overflowed or was not a number */
    DRAPE_SINGULAR,    /* p'Ap is only rounding error: A is singular, and b is not in its range */
    DRAPE_UNSYMMETRIC, /* the iteration failed, and A is not symmetric, which the method needs */
    DRAPE_BREAKDOWN,   /* BiCGStab divided by a number that vanished */
    DRAPE_INACCURATE,  /* the residual of the iteration decreased, but the residual computed from x did not */
    DRAPE_INTERRUPTED  /* drape_solve_settings.progress returned false; x is the last iterate */
} drape_reason;

DRAPE_API const char *drape_reason_name(drape_reason reason); /* "converged", ...; NULL if there is no such reason */

/* Which norm is compared with tol. It is always relative to the same norm of b^ = S (b - A (I-S) z), so moving
 * constraints, guesses and units make no difference. */
typedef enum drape_stop {
    DRAPE_STOP_PRECONDITIONED, /* sqrt(r'P^-1 r) of the residual r, as in the papers */
    DRAPE_STOP_RESIDUAL,       /* |r| */
    DRAPE_STOP_ENERGY          /* an estimate of sqrt(e'A e), where e is the error of x: what is usually meant by
                                  accuracy */
} drape_stop;

/* "preconditioned", "residual", "energy"; NULL if there is no such norm */
DRAPE_API const char *drape_stop_name(drape_stop stop);

/* A direct solver of another library, for the method "direct"; drape/cholmod.h has one. The functions get a symmetric
 * positive definite matrix with the pattern that `analyse` got. */
typedef struct drape_direct {
    const char *name;
    void *(*analyse)(const drape_bsr3 *A);                 /* of the pattern alone; NULL: out of memory */
    int (*factor)(void *state, const drape_bsr3 *A);       /* 0, 1: not positive definite, 2: out of memory */
    int (*solve)(void *state, const double *b, double *x); /* 0, 2: out of memory */
    int64_t (*bytes)(const void *state);                   /* of the factor */
    void (*destroy)(void *state);
    uint64_t reserved[4]; /* zero: reserved for later fields */
} drape_direct;

/* What removes the oscillating part of the error on each level of "amg". */
typedef enum drape_smoother {
    DRAPE_SMOOTHER_GAUSS_SEIDEL, /* forward before, backward after the coarse correction: two passes over A */
    DRAPE_SMOOTHER_CHEBYSHEV     /* as in the paper: two passes per degree */
} drape_smoother;

/* In which order the levels of "amg" are visited. */
typedef enum drape_cycle {
    DRAPE_CYCLE_V,
    DRAPE_CYCLE_W /* coarse levels are visited twice: fewer but more expensive iterations on large meshes */
} drape_cycle;

/* What the preconditioner "amg" keeps from solve to solve. */
typedef enum drape_reuse {
    DRAPE_REUSE_EVERYTHING, /* everything, as long as it works well */
    DRAPE_REUSE_PATTERNS,   /* aggregates and patterns */
    DRAPE_REUSE_NOTHING
} drape_reuse;

/* Which values the settings of "amg" have that are left at their defaults. */
typedef enum drape_recipe {
    DRAPE_RECIPE_DRAPE,
    DRAPE_RECIPE_TAMSTORF /* Tamstorf, Jones and McCormick 2015: theta 0.48, six modes, Chebyshev of degree 2,
                             unfiltered, 10 iterations of Lanczos, dominance 0.1, the near-kernel relaxed, nothing
                             kept from solve to solve */
} drape_recipe;

/* Settings of the preconditioner "amg" (docs/solvers.md). Zero means the default in all fields. */
typedef struct drape_amg_settings {
    double theta;   /* a connection is strong if it exceeds this share of the row's strongest one, in (0, 1); default
                       0.32 */
    int32_t modes;  /* of the near-kernel: 3 translations, or 6 with rotations, which needs the problem's positions;
                       default 3, or what is chosen where the preconditioner is "auto". drape_problem.near_kernel
                       takes their place */
    int32_t levels; /* most levels, 1..16; default 16 */
    drape_smoother smoother; /* default DRAPE_SMOOTHER_GAUSS_SEIDEL */
    int32_t degree;          /* of Chebyshev's, 1..8; default 2 */
    drape_cycle cycle;       /* default DRAPE_CYCLE_V */
    bool unfiltered;         /* true: weak connections spread the interpolation too; default false */
    drape_reuse reuse;       /* default DRAPE_REUSE_EVERYTHING */
    int32_t lanczos;         /* iterations of the estimate of rho, 1..16; default 4, with Chebyshev's smoother 8 */
    double dominance;  /* in [0, 1); default 0: off. A row stays out of all aggregates if its other blocks together
                          do not exceed this fraction of its diagonal block (Frobenius norm, scaled matrix) */
    bool relax_kernel; /* true: the near-kernel of coarse levels is relaxed once before P is made from it (the paper's
                          algorithm 3, line 4); default false */
    drape_recipe recipe;  /* default DRAPE_RECIPE_DRAPE. With another recipe, fields left at their default take its
                             values; other fields stay as they are */
    uint64_t reserved[2]; /* zero: reserved for later fields */
} drape_amg_settings;

/* All four return NULL if there is no such value. */
DRAPE_API const char *drape_reuse_name(drape_reuse reuse);          /* "everything", "patterns", "nothing" */
DRAPE_API const char *drape_smoother_name(drape_smoother smoother); /* "gauss-seidel", "chebyshev" */
DRAPE_API const char *drape_cycle_name(drape_cycle cycle);          /* "v", "w" */
DRAPE_API const char *drape_recipe_name(drape_recipe recipe);       /* "drape", "tamstorf" */

/* Measures by the clock which preconditioner is fastest, in a solver's first solve of a pattern. The bits may then
 * differ between machines. */
typedef enum drape_tune {
    DRAPE_TUNE_OFF,  /* choose from counted bytes */
    DRAPE_TUNE_ONCE, /* take the fastest for a single solve, including its set-up */
    DRAPE_TUNE_MANY  /* take the fastest for the solves after the first */
} drape_tune;

/* How far a solve is. */
typedef struct drape_progress {
    const char *method, *precond; /* in use at present */
    int32_t iterations;           /* with these two so far; 0 at the beginning */
    double residual, tol;         /* the norm that drape_stop selects, and what it is compared with */
    uint64_t reserved[4];         /* zero: reserved for later fields */
} drape_progress;

/* Zero means the default in all fields. */
typedef struct drape_solve_settings {
    const char *method;  /* one of drape_method_name (docs/solvers.md) or "auto": "ppcg", or "bicgstab" where A is not
                            symmetric; default "auto" */
    const char *precond; /* one of drape_precond_name, or "auto" (default). For methods that accept "block_diagonal"
                            and "amg", "auto" is the one that moves the fewest bytes, and another if that fails. For
                            others it is "block_diagonal", or "none" for methods without a preconditioner */
    double tol;          /* relative, see drape_stop; in (0, 1); default 1e-5 */
    int32_t max_iterations; /* of a method, >= 1; default 10000 */
    drape_stop stop;        /* default DRAPE_STOP_PRECONDITIONED; BiCGStab has no P-norm and no energy: with it the
                               first means the same as DRAPE_STOP_RESIDUAL, and the last is refused */
    double floor;           /* also stop if that norm itself, not relative to b^, is at most this; >= 0; default 0 */
    double omega;           /* of "ssor", in (0, 2); default 1 */
    int32_t history;        /* keep a record of at most this number of iterations; default 0: none */
    const drape_direct *direct; /* for the method "direct"; default NULL: none */
    drape_amg_settings amg;
    drape_tune tune; /* for a precond that is "auto" and a method that leaves the choice; default DRAPE_TUNE_OFF */
    bool (*progress)(void *user, const drape_progress *p); /* called before the first and after every iteration, from
                        the thread that solves; false: stop, with DRAPE_INTERRUPTED. "direct" has no iterations.
                        Default NULL */
    void *progress_user;
    int32_t
        recall; /* 0 to 4; default 0. How many of the solver's last solutions are combined with the guess for the best
                   start. Each takes a product with A and a vector of memory. BiCGStab and "direct" do not use it */
    uint64_t reserved[7]; /* zero: reserved for later fields */
} drape_solve_settings;

/* Every field at its documented default; amg.modes is 0, since its default depends on precond. */
DRAPE_API drape_solve_settings drape_solve_defaults(void);

/* Names in the order of the tables, and one line about each; NULL past the end. */
DRAPE_API const char *drape_method_name(int32_t index);
DRAPE_API const char *drape_method_about(int32_t index);
DRAPE_API const char *drape_precond_name(int32_t index);
DRAPE_API const char *drape_precond_about(int32_t index);
/* Whether this method works with this preconditioner. The preconditioner "auto" works with all methods, and the
 * method "auto" with those of "ppcg" or "bicgstab". */
DRAPE_API bool drape_method_takes(const char *method, const char *precond);
/* The preconditioner that a method uses by default, which may be "auto"; NULL if there is no such method. */
DRAPE_API const char *drape_method_default_precond(const char *method);
/* Whether A must be symmetric for this method. */
DRAPE_API bool drape_method_needs_symmetry(const char *method);

/* Norms after as many iterations as the index of this entry, relative to that norm of b^; index 0 is the start. */
typedef struct drape_iteration {
    double preconditioned; /* sqrt(r'P^-1 r); with BiCGStab the same as residual */
    double residual;       /* |r|, as the iteration updates it */
    double energy;         /* estimate of sqrt(e'A e); -1 if there is none */
    uint64_t reserved[1];  /* zero: reserved for a later field */
} drape_iteration;

/* A preconditioner or method that failed and was replaced by another. */
typedef struct drape_fallback {
    const char *method, *precond;
    const char *why; /* the name of a reason; "slow": it took much longer than estimated, and the next one continued
                        from its last iterate; "no memory" */
    int32_t iterations;   /* until then */
    uint64_t reserved[2]; /* zero: reserved for later fields */
} drape_fallback;

enum { DRAPE_MOST_FALLBACKS = 6 };

/* How a solve has ended. */
typedef struct drape_solve_result {
    drape_reason reason;
    int32_t iterations;   /* of all methods that were tried */
    double residual;      /* the norm that was compared with tol, at the end; -1 with "direct" */
    double true_residual; /* |S (b - A x)| / |b^| in the 2-norm, computed from the final x */
    double energy_error;  /* estimate of the relative energy norm of the error; -1 if there is none */
    double shift;         /* what "ichol" and "ilu" had to add to A's diagonal blocks, relative to them */
    double setup_seconds, solve_seconds; /* s, wall-clock time */
    int64_t bytes;                       /* memory held by the solver */
    int64_t bytes_moved; /* read and written by this solve, as counted, not measured; for setting up, and for what
                            "amg" computes beyond its bytes, what that time is worth in bytes (src/linear/choice.c) */
    const double *constraint_force; /* (I-S) (A x - b), 3 per vertex */
    const drape_iteration *history; /* this and the above are valid until the solver's next solve or its end; */
    int32_t history_count;          /*   NULL and 0 from drape_solve */
    const char *method, *precond;   /* what was used in the end */
    const char *detail; /* if it was not solved and the input shows why: "solve: b of row 17 is nan". Otherwise NULL.
                           It is also drape_message(), and like that it is valid until the next call that fails */
    int32_t modes;      /* of "amg"; 0 with any other */
    int32_t fallbacks; /* how many preconditioners failed before; only if the solver could choose. The history is that
                          of the last one */
    drape_fallback fallback[DRAPE_MOST_FALLBACKS]; /* those that failed, in their order */
    uint64_t reserved[8];                          /* zero: reserved for later fields */
} drape_solve_result;

/* A solver for many systems, which keeps its memory and what it has learnt. */
typedef struct drape_solver drape_solver;

/* settings may be NULL for the defaults; they are copied. */
DRAPE_API drape_status drape_solver_create(drape_context *ctx, const drape_solve_settings *settings,
                                           drape_solver **out);
DRAPE_API void drape_solver_destroy(drape_solver *solver); /* NULL is fine */
/* Solves a system. x: gets 3 doubles per vertex; may be the same array as guess. result may be NULL. The first solve,
 * and one with another pattern, checks the pattern and allocates. Other solves do not, with three exceptions:
 * "direct", "amg" when it rebuilds, and "auto" when it switches to something that it has not used before. A's values,
 * b, the constraints and the couplings may change every time. Work vectors and the history of "auto" depend on the
 * number of rows. Preconditioners and the analysis of a direct solver depend on the pattern. They are dropped when
 * that changes. */
DRAPE_API drape_status drape_solver_solve(drape_solver *solver, const drape_problem *problem, double *x,
                                          drape_solve_result *result);
/* Several right-hand sides for one matrix: column k, b + 3 rows k, gets its solution in x + 3 rows k and its result
 * in results[k] (results may be NULL). The preconditioner is set up once. problem->b is ignored;
 * problem->guess, if there is one, holds `count` columns and may be x. In the results constraint_force and history
 * are NULL in all but the last. An error ends it, as does an interruption: the columns after it keep their x and get
 * DRAPE_INTERRUPTED. */
DRAPE_API drape_status drape_solver_solve_many(drape_solver *solver, const drape_problem *problem, int32_t count,
                                               const double *b, double *x, drape_solve_result *results);
/* Drops preconditioners, the matrix that same_matrix refers to, and everything learnt from earlier solves. The next
 * solve then gives the bits of a new solver's first. Work vectors are kept, and so is what `tune` found fastest. */
DRAPE_API void drape_solver_forget(drape_solver *solver);

/* The parts of multigrid that take time on a level: parts of a set-up, with patterns if they were recomputed, and
 * parts of a cycle. */
typedef enum drape_amg_part {
    DRAPE_AMG_SCALE,       /* the level's matrix from the caller's (finest), or scaled in place */
    DRAPE_AMG_LANCZOS,     /* the estimate of rho */
    DRAPE_AMG_AGGREGATE,   /* strength of connections, aggregates, the pattern of the interpolation */
    DRAPE_AMG_INTERPOLATE, /* its values */
    DRAPE_AMG_PATTERN,     /* of the next level's matrix */
    DRAPE_AMG_PRODUCT,     /* its values */
    DRAPE_AMG_FIRST,       /* smoothing before the coarse correction, and its residual; on the coarsest level all */
    DRAPE_AMG_RESTRICT,
    DRAPE_AMG_PROLONG,
    DRAPE_AMG_LAST, /* smoothing after it */
    DRAPE_AMG_PARTS
} drape_amg_part;

DRAPE_API const char *drape_amg_part_name(drape_amg_part part); /* NULL: there is no such part */

/* What a part of "amg" costs on a level. */
typedef struct drape_amg_cost {
    double seconds; /* of the last set-up, or of a cycle: the mean since then */
    int64_t bytes;  /* read and written by a part of a cycle, as counted; 0 for parts of a set-up */
} drape_amg_cost;

/* One level of the preconditioner "amg", 0 the finest. */
typedef struct drape_amg_level {
    int32_t rows;     /* in blocks */
    int32_t size;     /* of a block, 3, 6 or 12: it has size * size numbers */
    int64_t blocks;   /* of its matrix */
    double aggregate; /* mean number of rows in an aggregate, without rows in none; 0 on the coarsest level */
    double rho;       /* estimated largest eigenvalue of D^-1 A, D the block diagonal; 0 on the coarsest level */
    bool factored;    /* solved by a dense factor instead of smoothed */
    int64_t bytes;    /* memory of matrix, interpolation, vectors and factor */
    drape_amg_cost cost[DRAPE_AMG_PARTS];
    uint64_t reserved[4]; /* zero: reserved for later fields */
} drape_amg_level;

/* How many levels there are: 0 before the first solve, and with any other preconditioner. */
DRAPE_API int32_t drape_solver_levels(const drape_solver *solver);
/* DRAPE_ERROR_ARGUMENT if there is no such level. */
DRAPE_API drape_status drape_solver_level(const drape_solver *solver, int32_t index, drape_amg_level *out);

/* How a preconditioner did when the solver was tuned. */
typedef struct drape_tuned {
    const char *precond;
    int32_t modes; /* of "amg"; 0 with any other */
    drape_reason reason;
    int32_t iterations;
    double first_seconds; /* s: of the first solve, including the set-up */
    double again_seconds; /* s: of a solve without set-up; the better of two */
    int64_t bytes_moved;  /* in the first solve, as counted */
    bool chosen;          /* this one was chosen */
    uint64_t reserved[4]; /* zero: reserved for later fields */
} drape_tuned;

/* How many preconditioners were tried: 0 without drape_solve_settings.tune, and before the first solve. */
DRAPE_API int32_t drape_solver_tuned_count(const drape_solver *solver);
/* DRAPE_ERROR_ARGUMENT if there is no such entry. */
DRAPE_API drape_status drape_solver_tuned(const drape_solver *solver, int32_t index, drape_tuned *out);

/* Solves a system once, without keeping anything. settings and result may be NULL. x is as in drape_solver_solve. */
DRAPE_API drape_status drape_solve(drape_context *ctx, const drape_problem *problem,
                                   const drape_solve_settings *settings, double *x, drape_solve_result *result);

/* ---- A preconditioner on its own, for a Krylov method of your own ----
 *
 *   drape_precond *P;
 *   drape_precond_create(ctx, "amg", &A, NULL, &P);             // memory for A's pattern
 *   drape_precond_refresh(P, &(drape_problem){.A = &A});        // A's values
 *   drape_precond_apply(P, r, z);                               // z = P^-1 r, as often as you like
 *   drape_precond_destroy(P); */

/* A preconditioner on its own. */
typedef struct drape_precond drape_precond;

/* name: one of drape_precond_name. Only omega and amg of the settings are used; settings may be NULL. A's values are
 * not read. */
DRAPE_API drape_status drape_precond_create(drape_context *ctx, const char *name, const drape_bsr3 *A,
                                            const drape_solve_settings *settings, drape_precond **out);
/* Computes P from the values, constraints and positions of the problem; b, guess and tol are ignored. With
 * constraints, P is made from the prefiltered matrix (see below), as for the method "ppcg". The set and A's arrays
 * must stay valid until the last apply. Allocates the first time, if the pattern has changed, and with
 * DRAPE_REUSE_NOTHING. "amg" computes its values in every refresh, so you decide when that is worthwhile. */
DRAPE_API drape_status drape_precond_refresh(drape_precond *precond, const drape_problem *problem);
/* z = P^-1 r, with constraints z = S P^-1 S r; r and z hold 3 doubles per vertex and do not overlap. P is symmetric
 * and positive definite (except "ilu", which is for matrices that are not symmetric), and stays the same until the
 * next refresh; "amg" computes in single precision. Allocates nothing. */
DRAPE_API drape_status drape_precond_apply(drape_precond *precond, const double *r, double *z);
DRAPE_API void drape_precond_destroy(drape_precond *precond); /* NULL is fine */

/* What drape's own solver would do with a preconditioner of earlier values before it solves. */
typedef enum drape_precond_work {
    DRAPE_PRECOND_KEEP,    /* use it as it is */
    DRAPE_PRECOND_REFRESH, /* call drape_precond_refresh */
    DRAPE_PRECOND_REBUILD  /* destroy it, create it again, refresh that one */
} drape_precond_work;

/* What the solver's own rule recommends for this problem, without couplings. Changes nothing. For "amg" it depends on
 * the iterations that drape_precond_learn was given, and on how much the constraints and the diagonal blocks have
 * changed. Any other preconditioner is refreshed for every matrix. Programs that follow the rule set amg.reuse to
 * DRAPE_REUSE_PATTERNS, the default here. */
DRAPE_API drape_status drape_precond_due(drape_precond *precond, const drape_problem *problem,
                                         drape_precond_work *out);
/* Tells it how many iterations its last solve took. NULL is fine. */
DRAPE_API void drape_precond_learn(drape_precond *precond, int32_t iterations);

/* ---- Its levels, for a multigrid of your own: only "amg" has any ---- */

/* How many there are, 0 before the first refresh; and each, 0 the finest, as drape_solver_level. */
DRAPE_API int32_t drape_precond_levels(const drape_precond *precond);
DRAPE_API drape_status drape_precond_level(const drape_precond *precond, int32_t index, drape_amg_level *out);

/* P, which maps the unknowns of the next coarser level to those of a level: x = P y, in block rows. Block k of
 * row i, rowptr[i] <= k < rowptr[i+1], is in column col[k], its row_size x column_size numbers row by row at
 * val + row_size column_size k. The arrays belong to the caller; those that are NULL are not written. */
typedef struct drape_interpolation {
    int32_t rows, columns;         /* set: blocks of the level, of the next */
    int32_t row_size, column_size; /* set: of a block; 3 on the finest level, then as many as there are modes */
    int64_t blocks;                /* set */
    int64_t *rowptr;               /* rows + 1 offsets, or NULL */
    int32_t *col;                  /* blocks; ascending in a row */
    double *val;                   /* row_size column_size per block; single precision in double */
    int32_t *aggregate;            /* rows: the row's column before P was smoothed; -1: none, and the row is empty */
    uint64_t reserved[4];          /* zero: reserved for later fields */
} drape_interpolation;

/* The interpolation to level `level`, 0 .. levels - 2, of the last refresh. Call it with all pointers NULL for the
 * sizes, then with memory. Level 0 has the caller's rows and unknowns; vertices that are held in all directions have
 * no blocks. Unknowns of coarse levels are P's own, scaled so that diagonal blocks of P'A P are multiples of I. Where
 * an aggregate has too few free vertices for all modes, P has columns of zeros. */
DRAPE_API drape_status drape_precond_interpolation(const drape_precond *precond, int32_t level,
                                                   drape_interpolation *io);

/* ---- The prefiltered system, for solvers of other libraries ---- */

/* Writes the values of S A S + C (I-S) (Tamstorf, Jones and McCormick 2015, eq. 7) to val and b^ to rhs. Solve it for
 * y; then x = y + (I-S) z by drape_postfilter. C scales I - S into the spectrum of A for each vertex: it is the mean
 * of |the diagonal of A_ii|. val: 9 doubles per block; the result has A's pattern. rhs: 3 doubles per
 * vertex, or NULL. A's pattern must hold the blocks of all couplings; otherwise the error names a missing one. In
 * that case pass the matrix of drape_couplings_merge, and no couplings. Offsets and columns of A that are out of
 * range are an error that names row and column, and nothing is written. Equalities are an error, too, since they
 * couple vertices that A does not. */
DRAPE_API drape_status drape_prefilter(drape_context *ctx, const drape_problem *problem, double *val, double *rhs);
/* y becomes S y + (I-S) z. */
DRAPE_API void drape_postfilter(const drape_constraints *constraints, double *y);

#ifdef __cplusplus
}
#endif

#endif
