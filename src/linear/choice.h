/* choice.h: which preconditioner a solver takes where none is named; see choice.c. */
#ifndef DRAPE_LINEAR_CHOICE_H
#define DRAPE_LINEAR_CHOICE_H

#include "linear/precond.h"

enum {
    DRAPE_I_BLOCK_DIAGONAL,
    DRAPE_I_ICHOL,
    DRAPE_I_AMG_3,
    DRAPE_I_AMG_6,
    DRAPE_I_CANDIDATES,
    DRAPE_I_DIAGONAL = DRAPE_I_CANDIDATES, /* never chosen, but what is left where the others fail */
    DRAPE_I_KNOWN
};

typedef struct drape_i_candidate {
    const drape_i_precond *precond;
    int32_t modes; /* of amg; 0: it is another */
} drape_i_candidate;

extern const drape_i_candidate drape_i_candidates[DRAPE_I_KNOWN];

/* Bytes of an iteration of PPCG with the block diagonal: the measure of all costs here. */
double drape_i_pass(const drape_bsr3 *A);
/* What setting up costs, as if in bytes. */
double drape_i_setup_bytes(const drape_i_precond *precond, int32_t modes, drape_i_prepared what, double pass);

typedef struct drape_i_choice {
    double pass; /* bytes */
    double stiffness, depth;
    double tol;
    double start; /* norm of the residual that the last solve began with, relative */

    double hardness;                     /* of late, 1 where all is as foreseen; 0: nothing seen */
    double relation[DRAPE_I_CANDIDATES]; /* iterations of this one over those expected then; 0: not seen yet */
    double upkeep[DRAPE_I_CANDIDATES];   /* bytes of setting up a solve, once it is built */
    bool built[DRAPE_I_CANDIDATES];
    double regret[DRAPE_I_CANDIDATES]; /* bytes that would have been saved by it, of late */
    double patience;                   /* how often regret must outgrow the costs of a change; grows with each */
    int32_t now;                       /* at work; -1: none yet */
} drape_i_choice;

/* For a new pattern, of which nothing has been seen. */
void drape_i_choice_begin(drape_i_choice *c, double pass, double tol);

/* The one to take, of those that may be. */
int32_t drape_i_choose(drape_i_choice *c, const bool may[DRAPE_I_CANDIDATES]);
/* The best of those that may be, for one solve and with all its setting up; -1: none may. */
int32_t drape_i_choose_once(const drape_i_choice *c, const bool may[DRAPE_I_CANDIDATES]);

/* Iterations after which something must be wrong with what was foreseen for k, and others should have their turn. */
int32_t drape_i_patience_for(const drape_i_choice *c, int32_t k, const bool may[DRAPE_I_CANDIDATES]);

typedef struct drape_i_outcome {
    int32_t iterations;
    double start; /* as in drape_i_choice */
    double setup; /* bytes */
    drape_i_prepared prepared;
    bool spared; /* nothing had to be set up, as the matrix was that of the solve before */
} drape_i_outcome;

/* How it went with k. */
void drape_i_choice_learn(drape_i_choice *c, int32_t k, const drape_i_outcome *o);
/* k failed: not to be taken again for this pattern unless nothing else is left. */
void drape_i_choice_dismiss(drape_i_choice *c, int32_t k);

#endif
