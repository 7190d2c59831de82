/* setup.h: the parts that a level's set-up is made of, in the order in which they are called. */
#ifndef DRAPE_LINEAR_AMG_SETUP_H
#define DRAPE_LINEAR_AMG_SETUP_H

#include "linear/amg/level.h"

/* What a hierarchy is made from. */
typedef struct drape_i_amg_input {
    const drape_bsr3 *A;
    drape_i_near_kernel near;
    double scale;                       /* A is multiplied by it, so that single precision has its range */
    const drape_i_couplings *couplings; /* NULL or empty: none */
    const double *tied;                 /* per coupling: how much of it is in A (ties.c); NULL: nothing of any */
} drape_i_amg_input;

/* finest.c: makes level->A's pattern and bands, and where the caller's order is bad level->user and source. */
drape_status drape_i_finest_pattern(drape_context *ctx, const drape_bsr3 *A, drape_i_level *level);

/* scale.c: fills level->scale and level->A's values from the caller's matrix. */
void drape_i_scale_finest(drape_context *ctx, const drape_i_amg_input *in, drape_i_level *level);
/* The same for another matrix or other constraints, with P kept: as it acts on the caller's unknowns, W P does not
 * change. No direction may be held that was not held before. */
void drape_i_rescale_finest(drape_context *ctx, const drape_i_amg_input *in, drape_i_level *level);
/* The translations of vertex i, as far as it is free, in the scaled unknowns: 3x3, row by row. */
void drape_i_unscale_finest(const drape_i_amg_input *in, const drape_i_level *level, int32_t i, double out[9]);
/* Scales what galerkin.c left in coarse: its blocks, its near-kernel, and fine->P by columns; fine may be NULL. */
void drape_i_scale_coarse(drape_context *ctx, drape_i_level *fine, drape_i_level *coarse);

/* Strong connections, both halves. */
typedef struct drape_i_graph {
    int32_t rows;
    int64_t blocks;  /* of U */
    uint8_t *strong; /* of each of them: whether it is in the graph */
    int64_t count;
    int64_t *start; /* of each row */
    int32_t *col;   /* ascending */
} drape_i_graph;

/* strength.c; theta: share of a row's largest connection above which one is strong. */
drape_status drape_i_strength(drape_context *ctx, const drape_i_upper *A, double theta, drape_i_graph *graph);
void drape_i_graph_free(drape_context *ctx, drape_i_graph *graph);

/* dominance.c: takes the connections of rows out of the graph whose blocks beside the diagonal have no more than this
 * share of it together, so that they become special. */
drape_status drape_i_drop_dominant(drape_context *ctx, const drape_i_upper *A, double dominance,
                                   drape_i_graph *graph);

/* aggregate.c: makes level->aggregate; vertices that are held in all directions stay out. */
drape_status drape_i_aggregate(drape_context *ctx, drape_i_level *level, const drape_i_graph *graph,
                               const drape_constraints *set, int32_t *aggregates);

/* lanczos.c: estimate of the largest eigenvalue from this number of iterations. */
drape_status drape_i_lanczos(drape_context *ctx, const drape_i_upper *A, int32_t iterations, double *rho);

/* interpolate.c: the patterns of P, of its transpose, and the members of aggregates. */
drape_status drape_i_interpolation_pattern(drape_context *ctx, drape_i_level *level, const drape_i_graph *graph,
                                           int32_t aggregates, int32_t modes);
/* The near-kernel, made orthonormal aggregate by aggregate: K = Q R. `tentative` gets Q, one block of r x modes per
 * row; it may be level->kernel. `coarse` gets R, the coarse near-kernel, and `inverse` gets its inverse. */
void drape_i_tentative(drape_context *ctx, const drape_i_amg_input *in, const drape_i_level *level, float *tentative,
                       float *coarse, float *inverse);
/* relax.c: one sweep of damped Jacobi on the near-kernel of a coarse level, K <- (I - omega A) K; level->sweep is
 * used for it. */
void drape_i_relax_kernel(drape_context *ctx, drape_i_level *level, double omega);
/* P = (I - omega A_F) Q; parts: Q, R and its inverse. */
void drape_i_interpolation_values(drape_context *ctx, drape_i_level *level, const drape_i_tentative_parts *parts,
                                  double omega);

/* galerkin_pattern.c: the pattern of P'A P, and fine->recipe. */
drape_status drape_i_galerkin_pattern(drape_context *ctx, drape_i_level *fine, drape_i_level *coarse);
/* galerkin.c: its values, with those of the diagonal blocks in coarse->scale, still without their transposes. */
void drape_i_galerkin_values(drape_context *ctx, drape_i_level *fine, drape_i_level *coarse);
/* terms.c: the couplings on the finest level. */
drape_status drape_i_terms_set(drape_context *ctx, const drape_i_amg_input *in, drape_i_level *finest);
void drape_i_terms_clear(drape_i_terms *terms); /* leaves none */
void drape_i_terms_free(drape_context *ctx, drape_i_terms *terms);
/* recipe.c */
void drape_i_recipe_free(drape_context *ctx, drape_i_level *fine);
int64_t drape_i_recipe_bytes(const drape_i_level *fine);

#endif
