/* drape/sim.h: scenes and time steps.
 *
 *   drape_scene *scene;
 *   drape_sim *sim;
 *   drape_scene_load(ctx, "flag.yaml", NULL, &scene);      // drape/io.h; or fill the struct yourself
 *   drape_sim_create(ctx, scene, &sim);
 *   while (drape_sim_time(sim) < 1.0) drape_sim_step(sim, NULL);
 *   const double *x = drape_sim_positions(sim);            // 3 a vertex, m */
#ifndef DRAPE_SIM_H
#define DRAPE_SIM_H

#include "drape/cloth.h"
#include "drape/solve.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Scenes: plain data ---- */

typedef enum drape_motion_kind {
    DRAPE_MOTION_FIXED,  /* stays */
    DRAPE_MOTION_LINEAR, /* displacement velocity t */
    DRAPE_MOTION_SINE,   /* displacement amplitude (sin(2 pi (frequency t + phase)) - sin(2 pi phase)) */
    DRAPE_MOTION_KEYS    /* straight from key to key, resting before the first and after the last */
} drape_motion_kind;

typedef struct drape_motion_key {
    double time;      /* s */
    double offset[3]; /* m, from where the vertex started */
} drape_motion_key;

typedef struct drape_motion {
    drape_motion_kind kind;
    double velocity[3];          /* m/s */
    double amplitude[3];         /* m */
    double frequency;            /* Hz */
    double phase;                /* in turns */
    int32_t key_count;           /* >= 1 with DRAPE_MOTION_KEYS */
    const drape_motion_key *key; /* times rising */
} drape_motion;

#define DRAPE_FOREVER 1e300 /* s */

/* Vertices that are held, all in the same way. They follow the motion exactly in the held directions. */
typedef struct drape_pin {
    int32_t count;
    const int32_t *vertices; /* numbered over all pieces */
    int32_t directions;      /* 1..3; 3: held in all */
    double direction[3][3];  /* any length but zero; not looked at with 3 */
    drape_motion motion;
    double from, until; /* s: held in steps that end in (from, until]; until 0 means DRAPE_FOREVER. A pin that takes
                           hold later holds its vertices where they are then, and moves them from there */
} drape_pin;

typedef struct drape_scene {
    const char *name;
    drape_piece *pieces; /* positions at the start are the pieces' rest positions */
    int32_t piece_count;
    drape_pin *pins; /* no vertex in two pins */
    int32_t pin_count;
    const double *velocity; /* at the start, m/s, 3 a vertex over all pieces; NULL: at rest */
    drape_forces forces;
    drape_cloth_settings cloth;
    drape_solve_settings solve;
    double step;               /* s, > 0 */
    int32_t steps_per_frame;   /* >= 1 */
    int32_t frames;            /* >= 0, after the one at the start */
    const char *const *output; /* names of files for the frames (drape/io.h); drape_sim does not look at them */
    int32_t output_count;
} drape_scene;

/* ---- Simulating ---- */

/* What a step did, and how well. */
typedef struct drape_certificate {
    int64_t step; /* counts from 1 */
    double time;  /* s, at the end of the step */
    drape_reason reason;
    int32_t iterations;
    double residual, true_residual; /* of the linear solve, relative */
    const char *method, *precond;   /* of the linear solve: what was used at last */
    int32_t modes;                  /* of "amg"; 0 with any other */
    int32_t fallbacks;              /* what was given up before that, see drape_solve_result */
    drape_fallback fallback[DRAPE_MOST_FALLBACKS];
    double kinetic, elastic, weight; /* J; weight: - sum m g.(x - x at the start) */
    double stretch;                  /* the largest; 1 at rest */
    double assemble_seconds, precondition_seconds, solve_seconds, update_seconds;
} drape_certificate;

typedef struct drape_sim drape_sim;

/* Copies what it needs of the scene, but for forces.vertex, which must live on. */
DRAPE_API drape_status drape_sim_create(drape_context *ctx, const drape_scene *scene, drape_sim **out);
DRAPE_API void drape_sim_destroy(drape_sim *sim); /* NULL is fine */

/* One linearised backward Euler step; see docs/architecture.md. certificate may be NULL. Allocates nothing from the
 * second step on, but where the solver builds or turns to something new (drape_solver_solve). DRAPE_ERROR_NUMBER: the
 * state went wrong; the message names step and vertex, and the state is that of before the step. */
DRAPE_API drape_status drape_sim_step(drape_sim *sim, drape_certificate *certificate);

DRAPE_API drape_cloth *drape_sim_cloth(drape_sim *sim);
DRAPE_API const drape_solver *drape_sim_solver(const drape_sim *sim);
DRAPE_API double drape_sim_time(const drape_sim *sim);   /* s */
DRAPE_API int64_t drape_sim_steps(const drape_sim *sim); /* done so far */
DRAPE_API double *drape_sim_positions(drape_sim *sim);   /* m, 3 a vertex; may be changed between steps */
DRAPE_API double *drape_sim_velocities(drape_sim *sim);  /* m/s, likewise */
DRAPE_API const double *drape_sim_constraint_forces(const drape_sim *sim); /* N s, 3 a vertex: what held the pins in
                                                                              the last step; NULL before it and
                                                                              after a step that failed */
/* The linear system of the last step, as a system file (drape/sparse.h); the unknown is the velocity change. */
DRAPE_API drape_status drape_sim_export_system(drape_sim *sim, const char *path);

/* ---- Checkpoints: docs/checkpoints.md ---- */

/* Writes the whole state into a file, which is complete or as it was before. The solver forgets what it learnt
 * (drape_solver_forget), also where writing fails, so that this simulation and one that restores the file go on with
 * the same bits, whatever their threads. Bytes: 72 a vertex, 24 a pinned one, and less than 200 besides; as many of
 * memory while it works. */
DRAPE_API drape_status drape_sim_save(drape_sim *sim, const char *path);
/* Takes over the state of a simulation of the same scene (all but names, outputs and the number of frames must be the
 * same). DRAPE_ERROR_FORMAT: the file is damaged, cut short, of another scene or no checkpoint; the message says
 * which, and nothing has changed then. */
DRAPE_API drape_status drape_sim_restore(drape_sim *sim, const char *path);

#ifdef __cplusplus
}
#endif

#endif
