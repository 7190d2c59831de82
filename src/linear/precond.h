/* precond.h: what a preconditioner P is: an approximation of A that is easy to solve; symmetric and positive definite
 * where A is.
 *
 * To add one: a file in precond/ that fills a drape_i_precond, one line in registry.c.
 *
 * It is made from A itself, or (with constraints) from the prefiltered matrix A^ = S A S + C (I-S), C the mean of
 * |the diagonal of A_ii|. Then apply gives h = S P^-1 S r. Where P treats each vertex by its 3x3 blocks that needs no
 * filtering: A^_ij maps range to range, so it is enough to keep S_i (block)^-1 S_i in place of the diagonal blocks'
 * inverses (drape_i_filtered_block). */
#ifndef DRAPE_LINEAR_PRECOND_H
#define DRAPE_LINEAR_PRECOND_H

#include "base/context.h"
#include "drape/solve.h"
#include "linear/couplings.h"

/* What a refresh did: nothing, all values anew, or values and all else. */
typedef enum drape_i_prepared { DRAPE_I_KEPT, DRAPE_I_REFRESHED, DRAPE_I_BUILT } drape_i_prepared;

typedef struct drape_i_precond {
    const char *name, *about;
    bool symmetric;   /* P is symmetric where A is, and made from half of it: not for an A that is not symmetric */
    bool single;      /* computed in single precision: symmetric to that */
    bool unsymmetric; /* for methods only that need no symmetry */
    /* Memory for matrices with this pattern; values are not looked at. */
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
    /* r'P r, which only the printed form of MPCG wants; may be NULL */
    double (*norm2)(drape_context *ctx, const void *state, const double *r);
    /* What the last refresh did; NULL: it builds the first time, and refreshes after that */
    drape_i_prepared (*prepared)(const void *state);
    /* How many iterations the solve took; may be NULL */
    void (*learn)(void *state, int32_t iterations);
    /* Where it has levels: their number; what level `index` is like, where out is not NULL and there is such a level;
     * may be NULL */
    int32_t (*describe)(const void *state, int32_t index, drape_amg_level *out);
    /* Where P^-1 is one symmetric 3x3 block a vertex: those, for kernels that do it along with other work (see
     * block_diagonal.h); may be NULL */
    const double *(*blocks)(const void *state);
} drape_i_precond;

const drape_i_precond *drape_i_precond_find(const char *name);

extern const drape_i_precond drape_i_precond_none, drape_i_precond_diagonal, drape_i_precond_block_diagonal,
    drape_i_precond_ssor, drape_i_precond_ichol, drape_i_precond_ilu, drape_i_precond_amg;
/* The one of a drape_operator (operator.c), which is in no table. */
extern const drape_i_precond drape_i_precond_given;

#endif
