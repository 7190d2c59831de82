/* choice.h: which preconditioner a solver takes where none is named; see choice.c. */
#ifndef DRAPE_LINEAR_CHOICE_H
#define DRAPE_LINEAR_CHOICE_H

#include "linear/precond.h"

enum { DRAPE_I_MOST_CANDIDATES = 16 };

/* A preconditioner in one of its variants. */
typedef struct drape_i_candidate {
    const drape_i_precond *precond;
    int32_t variant;
} drape_i_candidate;

/* Bytes of an iteration of PPCG with the block diagonal: the measure of all costs here. */
double drape_i_pass(const drape_bsr3 *A);
/* What setting up costs, as if in bytes. */
double drape_i_setup_bytes(const drape_i_candidate *is, drape_i_prepared what, double pass);

typedef struct drape_i_choice {
    int32_t count, known; /* candidates that may be chosen, and with those that others only fall back to */
    int32_t plain; /* the first of those to fall back to, from whose iterations those of the others are estimated */
    drape_i_candidate candidate[DRAPE_I_MOST_CANDIDATES]; /* from the table, those that may be chosen first */

    double pass; /* bytes */
    double stiffness, depth;
    double tol;
    double start; /* norm of the residual that the last solve began with, relative */

    double hardness;                          /* of late, 1 where all is as estimated; 0: nothing seen */
    double relation[DRAPE_I_MOST_CANDIDATES]; /* iterations of this one over those expected then; 0: not seen yet */
    double usual[DRAPE_I_MOST_CANDIDATES];    /* iterations of its last solves over their effort; 0: not seen yet */
    double upkeep[DRAPE_I_MOST_CANDIDATES];   /* bytes of setting up a solve, once it is built */
    bool built[DRAPE_I_MOST_CANDIDATES];
    double regret[DRAPE_I_MOST_CANDIDATES]; /* bytes that would have been saved by it, of late */
    double patience;                        /* how often regret must outgrow the costs of a change; grows with each */
    int32_t now;                            /* at work; -1: none yet */
    int32_t trial;                          /* tried in this solve in place of `now`; -1: none */
    int32_t lost, lost_iterations;          /* that has just lost a trial, -1: none; and after how many */
    int32_t solves, next_trial;             /* since the last trial or change; how many there are to be */
    int32_t seen[DRAPE_I_MOST_CANDIDATES];  /* trials when each was at work last */
    int32_t trials;                         /* so far */
} drape_i_choice;

/* With all that the table of preconditioners has; nothing has been seen yet. */
void drape_i_choice_begin(drape_i_choice *c, double pass, double tol);
/* For another pattern of systems of the same kind: nothing is built for it, and nothing has failed with it. What was
 * learnt about how hard they are, and how the candidates compare, stays. */
void drape_i_choice_move(drape_i_choice *c, double pass);
/* The candidate to try where this one fails, by the table; -1: none. */
int32_t drape_i_choice_fallback(const drape_i_choice *c, int32_t k);

/* The one to take, of those that may be. */
int32_t drape_i_choose(drape_i_choice *c, const bool may[DRAPE_I_MOST_CANDIDATES]);
/* The best of those that may be, for one solve and with all its setting up; -1: none may. */
int32_t drape_i_choose_once(const drape_i_choice *c, const bool may[DRAPE_I_MOST_CANDIDATES]);

/* Iterations after which something must be wrong with the estimate for k, or it has lost a trial, and others
 * should have their turn. */
int32_t drape_i_patience_for(const drape_i_choice *c, int32_t k, const bool may[DRAPE_I_MOST_CANDIDATES]);

typedef struct drape_i_outcome {
    int32_t iterations;
    double start; /* as in drape_i_choice */
    double setup; /* bytes */
    drape_i_prepared prepared;
    bool spared; /* nothing had to be set up, as the matrix was that of the solve before */
} drape_i_outcome;

/* How it went with k; of a trial that was ended by its limit, too. */
void drape_i_choice_learn(drape_i_choice *c, int32_t k, const drape_i_outcome *o);
/* The same for a solve that was given up because it took far longer than estimated. The problems are as hard as
 * others have shown them to be, so k is that much worse than it seemed. */
void drape_i_choice_learn_slow(drape_i_choice *choice, int32_t k, const drape_i_outcome *outcome);
/* k failed: not to be taken again for this pattern unless nothing else is left. */
void drape_i_choice_dismiss(drape_i_choice *c, int32_t k);

#endif
