/* precond.h: what a preconditioner P is: an approximation of A that is easy to solve; symmetric and positive definite
 * where A is.
 *
 * To add one: a file in precond/ that fills a drape_i_precond, one line in registry.c. The row says everything that
 * the solver and its choice need to know of it.
 *
 * It is made from A itself, or (with constraints) from the prefiltered matrix A^ = S A S + C (I-S), C the mean of
 * |the diagonal of A_ii|. Then apply gives h = S P^-1 S r. Where P treats each vertex separately, by its 3x3 blocks,
 * that needs no filtering. A^_ij maps range to range, so it is enough to keep S_i (block)^-1 S_i in place of the
 * diagonal blocks' inverses (drape_i_filtered_block). */
#ifndef DRAPE_LINEAR_PRECOND_H
#define DRAPE_LINEAR_PRECOND_H

#include "base/context.h"
#include "drape/solve.h"
#include "linear/couplings.h"

/* What a refresh did: nothing, recomputed all values, or values and all else. */
typedef enum drape_i_prepared { DRAPE_I_KEPT, DRAPE_I_REFRESHED, DRAPE_I_BUILT } drape_i_prepared;

/* A way to use a preconditioner, and what that costs. Costs are in passes: what an iteration of PPCG with the block
 * diagonal reads and writes (choice.c). */
typedef struct drape_i_variant {
    double setup[3];    /* passes of setting up, by drape_i_prepared: to keep it, to refresh, to build */
    double setup_bytes; /* bytes besides, unless it is kept */
    /* For "auto" alone: */
    double iteration;    /* passes of an iteration */
    double share, fixed; /* iterations: this share of those with the block diagonal, and so many whatever these are,
                            for a tolerance of 1e-5 */
    int32_t most;        /* iterations after which something must be wrong with it; 0: there is no such number */
    int32_t modes;       /* of drape_tuned */
} drape_i_variant;

typedef struct drape_i_precond {
    const char *name, *about;
    const drape_i_variant *variant; /* at least one; the first where nothing else is said */
    int32_t variants;
    bool automatic;   /* "auto" may choose it, in all its variants */
    bool certain;     /* positive definite whatever A is, and of the use that is foreseen */
    int32_t fallback; /* place in the order of those that are tried where another one fails, from 1; 0: not among
                         them. What is not named begins with 1 */
    bool symmetric;   /* P is symmetric where A is, and made from half of it: not for an A that is not symmetric */
    bool single;      /* computed in single precision: symmetric to that */
    bool unsymmetric; /* for methods only that need no symmetry */
    /* Memory for matrices with this pattern; values are ignored. */
    drape_status (*create)(drape_context *ctx, const drape_bsr3 *A, const drape_solve_settings *settings,
                           void **state);
    void (*destroy)(drape_context *ctx, void *state);
    /* Takes in A's values, which stay where they are until the last apply; allocates nothing after the first time.
     * set NULL: made from A. couplings: those of the problem, of which at least the blocks on the diagonal are to be
     * added to A's; NULL or empty: none. *shift: what it needed (drape_solve_result). */
    drape_status (*refresh)(drape_context *ctx, void *state, const drape_problem *problem,
                            const drape_constraints *set, const drape_i_couplings *couplings, double *shift);
    /* h = P^-1 r; returns r'h */
    double (*apply)(drape_context *ctx, void *state, const double *r, double *h);
    /* Bytes that an apply reads and writes. */
    int64_t (*traffic)(const void *state);
    /* r'P r, which only the printed form of MPCG needs; may be NULL */
    double (*norm2)(drape_context *ctx, const void *state, const double *r);
    /* Checks those of the settings that are its own, whether it is used or not; may be NULL */
    drape_status (*check)(drape_context *ctx, const drape_solve_settings *settings);
    /* Where there are several variants: which the settings ask for; whether "auto" may take one for a problem; and
     * settings that ask for one. NULL where there is but one */
    int32_t (*variant_of)(const drape_solve_settings *settings);
    bool (*suits)(int32_t variant, const drape_solve_settings *settings, const drape_problem *problem);
    void (*select)(int32_t variant, drape_solve_settings *settings);
    /* Modes of the near-kernel, for drape_solve_result; NULL: it has none */
    int32_t (*modes)(const void *state);
    /* What the last refresh did; NULL: it builds the first time, and refreshes after that */
    drape_i_prepared (*prepared)(const void *state);
    /* How many iterations the solve took; may be NULL */
    void (*learn)(void *state, int32_t iterations);
    /* Where it has levels: their number; what level `index` is like, where out is not NULL and there is such a level;
     * may be NULL */
    int32_t (*describe)(const void *state, int32_t index, drape_amg_level *out);
    /* Where it has levels: the interpolation to this one from the next, as drape_precond_interpolation has it; and
     * what the solver would do before a solve of this problem. May be NULL */
    drape_status (*interpolation)(drape_context *ctx, const void *state, int32_t level, drape_interpolation *io);
    drape_i_prepared (*due)(drape_context *ctx, void *state, const drape_problem *problem,
                            const drape_constraints *set);
    /* Where P^-1 is one symmetric 3x3 block per vertex: those, for kernels that do it along with other work (see
     * block_diagonal.h); may be NULL */
    const double *(*blocks)(const void *state);
} drape_i_precond;

const drape_i_precond *drape_i_precond_find(const char *name);
const drape_i_precond *drape_i_precond_at(int32_t index); /* in the order of the table; NULL past the end */

/* The one of a drape_operator (operator.c), which is in no table. */
extern const drape_i_precond drape_i_precond_given;

#endif
