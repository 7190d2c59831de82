/* ascher_boxerman.h: what the files of the benchmark `ascher-boxerman` share. */
#ifndef DRAPE_BENCH_ASCHER_BOXERMAN_H
#define DRAPE_BENCH_ASCHER_BOXERMAN_H

#include "bench.h"

/* What holds the sheet: its corners, which move; or a table beneath its middle, over which it hangs. */
typedef enum ab_held_by { FOUR_CORNERS, TWO_CORNERS, SQUARE_TABLE, ROUND_TABLE } ab_held_by;

/* What differs from the scene `four-corners`; 0: nothing. */
typedef struct ab_variation {
    const char *name;
    double density, tol, stiffness, bending, amplitude, frequency, step, gravity;
    int32_t resolution;
    bool irregular;
    const char *precond;
    const char *model, *integrator; /* the integrator linearised */
    drape_unknowns unknowns;
    ab_held_by held;
    double damping;   /* s, in place of the scene's, with its whole Jacobian, which is not symmetric */
    bool same_states; /* begins each step in the state of a run that is solved tightly; one-step integrators only */
} ab_variation;

/* A simulation of the scene so varied. */
drape_sim *ab_begin(drape_context *ctx, const char *method, const ab_variation *v);

/* The linear system of the last step of a simulation. */
typedef struct ab_system {
    drape_system file;
    drape_constraints *held;
} ab_system;

ab_system ab_system_take(drape_context *ctx, drape_sim *sim);
void ab_system_clear(drape_context *ctx, ab_system *s);

/* ascher_boxerman_parts.c: what b_delta and the start each save by themselves. */
void ab_parts(drape_context *ctx, bool quick);
/* ascher_boxerman_spectra.c: eigenvalues of preconditioned matrices. */
void ab_spectra(drape_context *ctx);

#endif
