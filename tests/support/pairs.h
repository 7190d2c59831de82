/* pairs.h: every method with every preconditioner that it takes, and a direct solver for the method "direct". */
#ifndef DRAPE_TESTS_PAIRS_H
#define DRAPE_TESTS_PAIRS_H

#include "drape/solve.h"
#include "support/testing.h"

/* Dense Cholesky behind the interface of a direct solver. */
extern const drape_direct dense_direct;

/* The pair of so many in the order of the tables, with the other settings' defaults; false past the end. */
bool pair_at(int32_t index, drape_solve_settings *out);

/* In a context of one thread, of which nothing may be left in use. */
typedef void (*pair_fn)(drape_context *ctx, const drape_solve_settings *settings);
void for_every_pair(pair_fn visit);

bool pair_uses(const drape_solve_settings *s, const char *method);
bool pair_is_direct(const drape_solve_settings *s);
bool pair_is_symmetric(const drape_solve_settings *s); /* A must be */
/* The two older forms of MPCG start from z; a direct solver starts from nowhere. */
bool pair_takes_guess(const drape_solve_settings *s);
/* With a P that is costly, a guess that is worse than zero is improved before the first iteration. */
bool pair_improves_guess(const drape_solve_settings *s);
/* Its preconditioner works in single precision: symmetric to that. */
bool pair_is_single(const drape_solve_settings *s);
/* P^-1 is one block per vertex: "none", "diagonal", "block_diagonal". */
bool pair_is_blockwise(const drape_solve_settings *s);

/* Fails and names the pair. */
#define PAIR_TRUE(s, condition)                                                                                      \
    do                                                                                                               \
        if (!(condition)) fail_msg("%s, %s: %s", (s)->method, (s)->precond, #condition);                             \
    while (0)
#define PAIR_NEAR(s, got, want, tolerance) pair_near((s), (got), (want), (tolerance), #got)
#define PAIR_REASON(s, got, want)          pair_reason((s), (got), (want))

void pair_near(const drape_solve_settings *s, double got, double want, double tolerance, const char *what);
void pair_reason(const drape_solve_settings *s, drape_reason got, drape_reason want);

#endif
