/* solver.h: the internals of a solver. A slot holds a preconditioner: the one that was named, or one of those that
 * "auto" chooses from, which are set up when they are first used. What a solver keeps is grouped by what it depends
 * on, and goes when that changes. */
#ifndef DRAPE_LINEAR_SOLVER_H
#define DRAPE_LINEAR_SOLVER_H

#include "linear/choice.h"
#include "linear/method.h"
#include "linear/turned.h"
#include "sparse/matrix.h"

#define DRAPE_I_AUTO "auto"

enum { DRAPE_I_RECALL = 4 /* most solutions that a start is made from */ };
enum { DRAPE_I_NAMED = DRAPE_I_MOST_CANDIDATES, DRAPE_I_GIVEN /* that of an operator */, DRAPE_I_SLOTS };

typedef struct drape_i_slot {
    drape_i_candidate is;
    void *state; /* NULL: not used yet */
    bool ready;  /* refreshed once */
    /* Of the last refresh: */
    int64_t made_for;             /* the solver's matrix_number; -1: of an older one, which was kept */
    const drape_constraints *set; /* NULL: none, or a method that is not prefiltered */
    double shift;
} drape_i_slot;

struct drape_solver {
    drape_context *ctx;
    drape_solve_settings settings; /* method and precond are those of the first solve, or "auto" */
    bool auto_method, auto_precond, takes_operator;
    const drape_i_method *method; /* named, or to begin with */
    int64_t bytes;                /* held */
    int32_t used;                 /* the slot of the last solve */
    drape_i_stopping stopping;

    /* Of the number of rows: vectors */
    int32_t rows;    /* -1: none yet */
    int32_t vectors; /* of work that are there */
    double *work[DRAPE_I_WORK_VECTORS];
    double *start;                          /* a copy of the guess, for another try; with "auto" only */
    drape_bsr3 stand_in;                    /* for an operator: as many rows, without a block */
    int64_t *no_blocks;                     /* its rowptr */
    const char *told_method, *told_precond; /* what the log knows to be in use */
    int32_t told_modes;
    double *force;
    double *earlier[DRAPE_I_RECALL], *recall; /* recall.c: the last solutions, the newest first; a start */
    int32_t recalled;                         /* how many there are */
    drape_i_couplings couplings;              /* of the solve under way */
    drape_i_turned turned;                    /* for problems with equalities */

    /* Of the pattern: preconditioners, an analysis, what was measured by the clock */
    drape_i_pattern_key pattern; /* rows -1: none */
    drape_i_slot slot[DRAPE_I_SLOTS];
    void *method_state;
    int32_t tuned; /* how many were tried by the clock; -1: that is still to be done */
    drape_tuned trial[DRAPE_I_MOST_CANDIDATES];
    int32_t fastest; /* the slot that was fastest */
    int32_t fixed;   /* vertices held in all directions when the choice's depth was found; -1: never */

    /* Of the matrix */
    int64_t matrix_number; /* counts solves with other numbers in A, or others held, than the one before */
    bool matrix_solved;    /* the last solve ended without an error: drape_problem.same_matrix has a meaning */

    /* History, of systems of one kind, which have as many rows: what was learnt */
    drape_i_choice choice;
    bool unsymmetric; /* a solve failed because of it */
};

/* ---- settings.c ---- */

/* Zeros become defaults; then numbers that any preconditioner may use are checked. */
drape_status drape_i_settings_resolve(drape_context *ctx, drape_solve_settings *settings);
/* Checks the settings, and takes them over. */
drape_status drape_i_solver_resolve(drape_solver *solver, const drape_solve_settings *settings);

/* ---- solver.c ---- */

/* One try at a problem, with one method and one preconditioner. */
typedef struct drape_i_try {
    const drape_i_method *method;
    int32_t slot;
    int32_t limit; /* iterations */
    drape_problem problem;
    double *x;
    drape_solve_result result;
    drape_i_outcome outcome; /* for the choice */
} drape_i_try;

/* result and outcome. An error where the preconditioner cannot be set up, or the method is out of memory. */
drape_status drape_i_solver_try(drape_solver *solver, drape_i_try *t);
/* Gives back what the slot holds. */
void drape_i_solver_leave(drape_solver *solver, int32_t slot);

/* ---- check.c ---- */

/* Everything that a problem must have but b and x, and that what it has fits together; who begins a message. */
drape_status drape_i_check_problem(drape_context *ctx, const char *who, const drape_problem *problem);
/* Refuses an A of which one triangle is stored. O(rows). */
drape_status drape_i_check_halves(drape_context *ctx, const char *who, const drape_bsr3 *A);
/* What is wrong with a problem that was not solved, as far as the input shows. The line returned is the context's
 * message, and has gone to its log; NULL: nothing is known. */
const char *drape_i_find_fault(drape_context *ctx, const drape_problem *problem, drape_reason reason);

/* ---- operator.c ---- */

/* Where the problem has an operator: checks it, and gives the problem a matrix of that many rows to stand in for it.
 */
drape_status drape_i_operator_prepare(drape_solver *solver, drape_problem *problem);
void drape_i_operator_release(drape_solver *solver);

/* ---- registry.c ---- */

/* "auto, sd, cg, ...": the names of a table after `first`; first may be NULL. */
void drape_i_list_names(const char *first, const char *(*name)(int32_t), char *out, size_t size);

/* ---- tune.c ---- */

/* Measures all that may be taken; solver->fastest is then what was fastest. */
drape_status drape_i_solver_tune(drape_solver *solver, const drape_i_try *first,
                                 const bool may[DRAPE_I_MOST_CANDIDATES]);

/* ---- stopping.c ---- */

/* recall.c: problem->guess from the last solutions, where there are any. cost: where bytes are counted. */
void drape_i_recall(drape_solver *solver, drape_problem *problem, drape_solve_result *cost);
void drape_i_remember(drape_solver *solver, const double *x, bool released);

/* The true residual and the constraint forces. */
void drape_i_certify(drape_i_solve *s, double *force);
/* The energy estimate and the history of the way there. */
void drape_i_conclude(drape_i_solve *s);
void drape_i_explain_failure(const drape_i_solve *s, const drape_i_method *method);

#endif
