/* live.h: a simulation that a page runs: the few functions that its worker (worker.js) calls. One scene at a time.
 *
 * Functions that can fail return 0 when all is well; live_message() says what was wrong, and what there was before
 * stays. Pointers live until the next call that loads or steps. All numbers are SI. */
#ifndef DRAPE_WEB_LIVE_H
#define DRAPE_WEB_LIVE_H

#include "drape/io.h"

/* What the page chooses in place of what the scene says. Empty, 0 or NaN: as the scene says. */
typedef struct live_choices {
    char fabric[32], model[32], integrator[32], method[32], precond[32];
    int32_t resolution;
    double step;      /* s */
    double tolerance; /* of the linear solver */
    int32_t self;     /* contact of the cloth with itself: 1 on, -1 off */
    double wind[3];   /* m/s */
} live_choices;

enum {
    LIVE_TIME,
    LIVE_STEPS,
    LIVE_ITERATIONS,
    LIVE_NEWTON,
    LIVE_RESIDUAL,
    LIVE_STRETCH,
    LIVE_ASSEMBLE,
    LIVE_PRECONDITION,
    LIVE_SOLVE,
    LIVE_CONTACT,
    LIVE_UPDATE,
    LIVE_KINETIC,
    LIVE_ELASTIC,
    LIVE_WEIGHT,
    LIVE_TAKEN,
    LIVE_HISTORY,
    LIVE_CONVERGED,
    LIVE_TOUCHING,
    LIVE_NUMBERS
};

typedef struct live_solver { /* one of two that solve the same system */
    char method[32], precond[32];
    drape_solver *solver;
    drape_solve_result result;
} live_solver;

typedef struct live_page {
    drape_context *ctx;
    char message[2048]; /* of what failed last */
    char warning[512];  /* the last one that the library logged; empty: none */
    live_choices choices;
    drape_loaded_scene *loaded;
    drape_contact_settings contact;
    drape_forces forces;
    drape_sim *sim;
    drape_collider_meshes *objects;
    float *material;   /* du1, du2, dv1, dv2 of each triangle: w_u = du1 (x1 - x0) + du2 (x2 - x0) */
    int32_t triangles; /* of `material` */
    double numbers[LIVE_NUMBERS];
    drape_certificate last;
    live_solver compared[2];
    double *x; /* room for what they find */
    int64_t x_size;
    drape_writer *writer;
} live_page;

extern live_page live;

/* Whether it is DRAPE_OK; else keeps the message. */
bool live_good(drape_status status);

/* transfer.c: the state of one simulation for another one of the same pieces, on the same mesh or another. */
drape_status live_transfer(drape_sim *from, drape_sim *to);
/* material.c: du1, du2, dv1, dv2 of every triangle of the scene, to be freed; NULL: no memory. */
float *live_material_of(const drape_scene *scene);

#endif
