/* ties.h: couplings that hold their vertices in all directions, and A with those in one matrix.
 *
 * Vertices that move together belong in one aggregate, on the finest level already. Sweeps hardly move them together
 * where a coupling is stiff. Interpolation that was made for A alone differs between the two sides of a tie by more
 * than the tie allows. So where there are more than a few ties, levels of their own are made for A + ties, from the
 * finest one on. Springs along one direction stay beside the matrix, whatever there is of ties: an aggregate would
 * hold together what they let slide (docs/notes/couplings.md).
 *
 * Levels are in single precision, in which A would be lost beside a tie that is millions of times as stiff. The
 * matrix has only a share of such a tie, which is still far stiffer than A, so interpolation is the same. What is
 * missing are eigenvalues in a cluster of their own, for which conjugate gradients need only some iterations.
 *
 * Ties may be others in every solve. Matrix and levels have their memory from a region, so that making them again
 * allocates nothing once the region is large enough. */
#ifndef DRAPE_LINEAR_AMG_TIES_H
#define DRAPE_LINEAR_AMG_TIES_H

#include "linear/amg/region.h"
#include "linear/couplings.h"

typedef struct drape_i_ties {
    int32_t count;  /* 0: none, or too few */
    double *share;  /* per coupling: how much of it is in the matrix; 0: it is not a tie */
    int32_t room;   /* in share */
    uint64_t found; /* hash of the vertices that are tied, without regard to the order of the list */

    drape_i_region *region; /* of the matrix and its levels; NULL: there were no ties yet */
    drape_matrix *matrix;   /* A with ties; NULL: not made */
    uint64_t made;          /* what `found` was for its pattern */
} drape_i_ties;

/* Finds the ties of a list, which may be NULL. */
drape_status drape_i_ties_find(drape_context *ctx, const drape_bsr3 *A, const drape_i_couplings *C,
                               drape_i_ties *ties);
/* Whether the matrix has a pattern for the ties that were found. */
bool drape_i_ties_fit(const drape_i_ties *ties);
/* Its values, where it has. */
drape_status drape_i_ties_refresh(drape_context *ctx, const drape_bsr3 *A, const drape_i_couplings *C,
                                  const drape_i_ties *ties);
/* A new matrix. Nothing else of the region may be in use. */
drape_status drape_i_ties_merge(const drape_bsr3 *A, const drape_i_couplings *C, drape_i_ties *ties);
void drape_i_ties_free(drape_context *ctx, drape_i_ties *ties);

#endif
