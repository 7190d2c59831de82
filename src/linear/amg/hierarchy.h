/* hierarchy.h: making a hierarchy from a matrix and its constraints, and making it again for other values. */
#ifndef DRAPE_LINEAR_AMG_HIERARCHY_H
#define DRAPE_LINEAR_AMG_HIERARCHY_H

#include "linear/amg/cycle.h"
#include "linear/amg/setup.h"

typedef struct drape_i_amg_settings {
    double theta;     /* strength of connection */
    int32_t modes;    /* 3: translations, 6: rotations too; with vectors of the caller's room for so many: 3, 6, 12 */
    int32_t levels;   /* most */
    int32_t degree;   /* of Chebyshev's smoother; 0: Gauss and Seidel's */
    bool twice;       /* a W-cycle */
    bool unfiltered;  /* weak connections spread P too, as in the paper */
    int32_t lanczos;  /* iterations */
    double dominance; /* rows whose other blocks have no larger share than this are special; 0: none */
    bool relax;       /* the near-kernel of coarse levels */
} drape_i_amg_settings;

drape_status drape_i_hierarchy_build(drape_context *ctx, const drape_i_amg_input *in,
                                     const drape_i_amg_settings *want, drape_i_hierarchy *h);
/* The values of all levels again, for another A with the same pattern and other constraints; allocates nothing. */
void drape_i_hierarchy_refresh(drape_context *ctx, const drape_i_amg_input *in, drape_i_hierarchy *h);
/* The values of the finest level again, for an A with fewer constraints, and less of what was added to it for them.
 * Coarse levels stay: P reaches no direction that was held, so they are still those of P'A P, or of somewhat more
 * than that, which is safe. Allocates nothing. */
void drape_i_hierarchy_release(drape_context *ctx, const drape_i_amg_input *in, drape_i_hierarchy *h);
/* coupled.c: takes in the couplings, which may be others without A being another. */
drape_status drape_i_hierarchy_couple(drape_context *ctx, const drape_i_amg_input *in,
                                      const drape_i_amg_settings *want, drape_i_hierarchy *h);
/* The same where couplings have only been taken away: levels below the finest keep what they have of those. */
drape_status drape_i_hierarchy_uncouple_some(drape_context *ctx, const drape_i_amg_input *in, drape_i_hierarchy *h);
/* Gives back the levels of couplings and their memory. */
void drape_i_hierarchy_uncouple(drape_i_hierarchy *h);
/* Moves the memory that couplings have from one hierarchy to another, without the couplings. */
void drape_i_hierarchy_move_couplings(drape_i_hierarchy *from, drape_i_hierarchy *to);
/* Memory for the values and vectors of a level whose pattern is there. */
drape_status drape_i_level_allocate(drape_context *ctx, drape_i_level *level, const drape_i_amg_settings *want,
                                    bool finest);
/* Makes coarser levels below h->level[0], which has its values and its near-kernel, and may be a finest one. */
drape_status drape_i_hierarchy_continue(drape_context *ctx, const drape_i_amg_input *in,
                                        const drape_i_amg_settings *want, drape_i_hierarchy *h);
void drape_i_hierarchy_free(drape_context *ctx, drape_i_hierarchy *h);
/* export.c: P of a level for others; the finest: in the caller's order and unknowns. */
void drape_i_level_interpolation(const drape_i_level *level, bool finest, drape_interpolation *io);
/* explain.c: what level `index` is like. */
drape_amg_level drape_i_hierarchy_level(const drape_i_hierarchy *h, int32_t index);

#endif
