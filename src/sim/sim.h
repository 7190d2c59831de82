/* sim.h: the internals of a simulation, and the parts of a step.
 *
 * Every kind of step consists of the same parts, each of which is one function:
 *
 *   begin      step.c: keeps the state, decides which pins hold
 *   constrain  drape_i_sim_constrain: held directions and prescribed values
 *   assemble   drape_i_sim_assemble: forces and matrices
 *   solve      drape_i_sim_solve: the linear system
 *   advance    step.c: the new state
 *   respond    drape_i_sim_respond: changes the state after the solve
 *   check      check.c: undoes a step whose state is not credible
 *   certify    step.c
 *
 * The linearised step calls them in this order (step.c). Integrators of drape/ode.h call constrain, assemble, solve
 * and respond as often as their method asks, through the functions of cloth_system.c. */
#ifndef DRAPE_SIM_SIM_H
#define DRAPE_SIM_SIM_H

#include "base/context.h"
#include "cloth/force.h"
#include "drape/ode.h"
#include "drape/sim.h"

typedef struct drape_i_hold drape_i_hold;

#define DRAPE_I_MOST_STEPS (INT64_C(1) << 53) /* beyond it the time, steps times h, is no longer exact */
enum { DRAPE_I_HALVINGS = 6 };                /* how often a step that fails is cut in two: down to 1/64 */

/* What an integrator of drape/ode.h needs besides the simulation. */
typedef struct drape_i_integrator {
    drape_ode *ode;
    drape_ode_settings settings;
    int32_t halvings;          /* how often a step that fails is cut in two */
    bool guards;               /* the method may give energy: then steps that damp take it back (drape_ode_damp) */
    double damps_for;          /* so many steps, once it has given */
    bool damped;               /* the method gives way to one that damps, in the step under way */
    bool yielded;              /* contacts were set aside: the step must be repeated */
    drape_solver *mass_solver; /* of a consistent mass in explicit methods; else NULL */
    bool same_matrix;          /* the solver has seen the matrix, with what is held now */
    const double *lagged_x;    /* where damping and wind have their geometry in the stage under way; NULL: at x */
    double stage_c;            /* s: the c of that stage */
    drape_assembly last;       /* where the forces were evaluated last: x, v, lagged_x, time */
    double exactness;          /* of the Jacobian in Newton's method, drape_assembly.exactness */
    bool indefinite;           /* in this stage an exact Jacobian was not positive definite */
    int32_t corrections;       /* of this stage so far */
    double last_move;          /* m/s: norm of the last of them */
    bool made_with_force;      /* sim->A is the matrix of the last evaluation of the forces */
    double constant_c;         /* s: sim->A is the matrix of that c wherever the cloth is; 0: it is not */
    double constant_drag;      /* N s/m^3: the forces' air_drag in it */
    double *held_before;       /* 3 doubles per pinned vertex: velocities before constrain() */
    double *carried;           /* 3 doubles per vertex: (I-S) of the last residual */
    double *change;            /* 3 doubles per vertex, linearised steps: the change up to where they linearise */
    double *before[2];         /* 3 doubles per vertex: x and v before respond(); NULL where it does nothing */
    double stiffest[2];        /* see stiffest.c */
    int64_t stiffest_step;     /* of the scene, in which that was found; -1: never */
    double *lanczos[3];        /* 3 doubles per vertex each; explicit methods only */
} drape_i_integrator;

/* A simulation of a part of a cloth that is spread over several processes (module mpi). Vertices are its own ones and
 * copies of those of other processes around them. Every step moves copies as their own process moves them, because
 * the linear solve gives their unknowns too. Functions are called by all processes in the same order. Without
 * contact, limits of strain, energies and potentials. */
typedef struct drape_i_spread {
    drape_ode_spread ode;    /* own numbers, sums and maxima over processes */
    const int32_t *original; /* of each vertex: its number within the whole piece */
    void *user;
    drape_status (*solve)(void *user, const drape_problem *problem, double *x, drape_solve_result *result);
    /* The worst of the statuses of all processes, with its message. */
    drape_status (*agree)(void *user, drape_status status);
} drape_i_spread;

/* What the parts of a step add to, for its certificate. */
typedef struct drape_i_spent {
    int32_t solves, iterations; /* linear ones */
    int64_t bytes_moved;        /* by those */
    drape_certificate_seconds seconds;
} drape_i_spent;

/* Where energy came from and went to, J, summed up over the steps (energy.c). Doubles: a section of checkpoints. */
typedef struct drape_i_balance {
    double begun; /* 0 before the first step, then 1 */
    double start; /* what there was then, and what was changed from outside since */
    double fabric, wind, pins, unbalanced;
    double taken; /* the most that steps with contact left the integrator to have taken */
    double damp;  /* how many of the next steps must damp, because the integrator has added energy to the motion */
} drape_i_balance;

struct drape_sim {
    drape_context *ctx;
    drape_cloth *cloth;
    drape_assembler *forces;                         /* on the cloth */
    drape_force_energy force_energy[DRAPE_I_FORCES]; /* of the last certificate */
    drape_solver *solver;
    drape_matrix *A;
    drape_bsr3 view; /* of A, for drape_sim_system */
    drape_constraints *constraints;
    int32_t vertices;
    double h;       /* s */
    int32_t parts;  /* of equal length, in which contact has the step under way done */
    int32_t divide; /* the parts that contact plans are divided into so many, as the step was not credible in fewer */
    bool incredible; /* check.c refused the state after the last step */
    int64_t steps;
    int64_t steps_before; /* done elsewhere: before a checkpoint that was restored */
    uint64_t scene;       /* drape_i_scene_hash of what it was made of */

    /* 3 doubles per vertex each; those that a scene does not need are NULL (sim.c). */
    double *x, *v;           /* state: m, m/s */
    const double *start;     /* rest positions; the cloth's */
    double *placed;          /* positions at time 0; NULL: the rest positions */
    double *x_old, *v_old;   /* state at the beginning of the last step */
    double *dv_old;          /* linearised steps for velocities: dv before it, where its solve starts */
    double *b;               /* right-hand side of the last linear system */
    double *dv;              /* velocity change of the last linearised step: the guess for the next */
    double *f, *Kv;          /* linearised steps: force, stiffness times velocity */
    double *dx;              /* linearised steps for positions: the unknown, */
    double *hv, *Ahv;        /*   h v, which is its guess, and A h v */
    double *impulse;         /* N s: what held in the last step, where the solver does not return that itself */
    double *momentum;        /* M v of a consistent mass, for energies */
    double *mean_x, *mean_v; /* state in the middle of the last step, and room, for energies */

    double dt, until; /* s: length and end of the part of a linearised step that is under way */
    double matrix_c;  /* s: the c of A = M + c D + c^2 K; 0: there is no system yet */
    drape_unknowns unknowns;
    drape_matrix *mass_matrix;      /* NULL: lumped */
    drape_i_integrator *integrator; /* NULL: linearised Euler steps */

    /* The step under way, or the last one. */
    drape_i_spent spent;
    drape_solve_result solved;  /* its last linear solve */
    drape_certificate_ode did;  /* what its integrator did */
    drape_ode_stage last_stage; /* of an integrator that took one stage; else zero */
    drape_i_balance balance;
    bool checks_balance;  /* drape_sim_check_energy */
    bool balance_checked; /* the last step told what the solver left */
    double stretch;       /* the largest after the last step */
    double max_stretch;   /* where a step fails */
    double lift;          /* J: what lifts the cloth by its own length; infinite: energies are not judged (check.c) */

    struct drape_i_contact *contact;         /* contact.h; NULL: nothing can touch */
    struct drape_i_stitches *stitches;       /* stitches.h; NULL: none */
    struct drape_i_attachments *attachments; /* attach.h; NULL: none */

    int32_t held_count, pin_count;
    int32_t held_room;              /* of `held`: all that can be held at once */
    int32_t held_now;               /* vertices in `held` */
    drape_constraint *pinned;       /* all vertices of all pins, in their order */
    drape_constraint *held;         /* those that are held in this step, merged, with their z: what the solver gets */
    double *anchor;                 /* where each pinned vertex's motion begins, 3 doubles each */
    drape_pin *pins;                /* the scene's, with `count` only; their motions are copies */
    bool soft_pins;                 /* some are springs (soft_pins.c) */
    double *inverse_mass;           /* one per vertex, zero where held: for the limit of strain, else NULL */
    const double *constraint_force; /* of the last step; NULL before it */
    bool *holding;                  /* pin_count: which hold in this step */
    drape_constraint_builder *builder; /* merges what pins ask of the same vertex */
    bool contradiction_told;           /* since pins took hold or let go */
    drape_i_hold *hold;                /* hold.h; NULL: drape_sim_hold was never called */
    const drape_i_spread *spread;      /* NULL: the whole cloth is here */
};

DRAPE_INLINE int64_t drape_i_sim_numbers(const drape_sim *sim) { return 3 * (int64_t)sim->vertices; }
DRAPE_INLINE bool drape_i_sim_solves_for_positions(const drape_sim *sim) {
    return sim->unknowns == DRAPE_UNKNOWN_POSITION;
}

/* sim.c: drape_sim_create for a part; `spread` must outlive the simulation. */
drape_status drape_i_sim_create_part(drape_context *ctx, const drape_scene *scene, const drape_i_spread *spread,
                                     drape_sim **out);
/* The status of all processes, where there are several; x'y and the largest of all. */
DRAPE_INLINE drape_status drape_i_sim_agree(const drape_sim *sim, drape_status status) {
    return sim->spread ? sim->spread->agree(sim->spread->user, status) : status;
}
DRAPE_INLINE double drape_i_sim_largest(const drape_sim *sim, double value) {
    if (sim->spread) sim->spread->ode.largest(sim->spread->ode.user, &value);
    return value;
}
double drape_i_sim_dot(const drape_sim *sim, const double *x, const double *y);

/* ---- pins.c: constrain ---- */

/* Finds out which pins hold in the step from the present time on, and what a program holds (hold.c); true where
 * others did in the step before. */
bool drape_i_sim_update_active_pins(drape_sim *sim);
/* Which pins held in the step that led to the present time; for a state that was restored. */
void drape_i_sim_restore_active_pins(drape_sim *sim);
/* Pins that took hold after time 0 and hold now: as if they had taken their vertices where these are. */
void drape_i_sim_take_hold_again(drape_sim *sim);
/* Drops what solver, contact and integrator know of earlier steps; checkpoint.c. */
void drape_i_sim_forget(drape_sim *sim);

/* Whether a pin holds its vertices exactly in the step under way. */
DRAPE_INLINE bool drape_i_pin_is_held(const drape_sim *sim, int32_t pin) {
    return sim->holding[pin] && !(sim->pins[pin].stiffness > 0);
}
/* The position that a pin prescribes for vertex i of all pinned ones; `first` is the pin's first of these. */
void drape_i_pin_target(const drape_sim *sim, int32_t pin, int32_t first, int32_t i, double t, double target[3]);

/* pin_motion.c */

/* The displacement at t (m) of vertex `index` of a pin, which was at p at time 0; not for callbacks. */
void drape_i_motion_at(const drape_pin *pin, int32_t index, double t, const double p[3], double d[3]);
/* The p that the motion leads to x at t. False, and nothing is done, where d does not depend on p. */
bool drape_i_motion_back(const drape_motion *motion, double t, const double x[3], double p[3]);
/* Checks the motion of pin p, which has this number of vertices. */
drape_status drape_i_motion_check(drape_context *ctx, int32_t p, int32_t vertices, const drape_motion *motion);
/* That of a pin, with arrays of its own. Also where it fails, `to` must be freed. */
drape_status drape_i_motion_copy(drape_context *ctx, const drape_pin *pin, drape_motion *to);
void drape_i_motion_free(drape_context *ctx, int32_t vertices, drape_motion *motion);

/* soft_pins.c: pins that are springs. */

/* Adds their force to the list; after the pins are there. */
drape_status drape_i_soft_pins_add(drape_sim *sim);
/* J: what their ends gave by moving from t0 to t1, with the mean of the positions in mean_x. */
double drape_i_soft_pins_work(const drape_sim *sim, double t0, double t1);

/* Whether a pin holds at the end of a step of length h that ends at t. */
bool drape_i_pin_holds(const drape_pin *pin, double t, double h);

/* Where what is held must be: anchor + displacement at t. */
typedef struct drape_i_aim {
    double t, c;         /* s */
    const double *x, *v; /* the velocity change (target(t) - x) / c - v is prescribed; v may be NULL: 0 */
    double factor;       /* the unknown is this times the velocity change */
} drape_i_aim;

/* Sets each held vertex's z. */
drape_status drape_i_sim_constrain(drape_sim *sim, const drape_i_aim *aim);
/* The same vertices are held, with z = 0. */
drape_status drape_i_sim_hold_still(drape_sim *sim);
/* Takes over the scene's pins; needs the constraints. */
drape_status drape_i_sim_hold(drape_sim *sim, const drape_scene *scene);
/* `held` and what goes with it get room for every vertex. On failure nothing has changed. */
drape_status drape_i_sim_make_room_for_all(drape_sim *sim);
void drape_i_sim_anchor(drape_sim *sim); /* motions begin at the present positions */
void drape_i_sim_release(drape_sim *sim);

/* ---- step.c: assemble, solve, respond ---- */

/* What A is assembled of for a stage with this c, for either unknown: M + c D + c^2 K, or that over c^2. */
drape_assembly drape_i_sim_system(const drape_sim *sim, double c);
/* All forces and their Jacobians, and the mass. A is sim->A, or NULL: forces only. */
drape_status drape_i_sim_assemble(drape_sim *sim, const drape_assembly *what, drape_matrix *A);
/* The same, and the potential; NULL: not wanted. */
drape_status drape_i_sim_assemble_potential(drape_sim *sim, const drape_assembly *what, drape_matrix *A,
                                            drape_i_potential *potential);
/* Solves sim->A u = sim->b under sim->constraints; of the problem's other fields those are used that `posed` has set.
 * The result is in sim->solved. */
drape_status drape_i_sim_solve(drape_sim *sim, const drape_problem *posed, double *u);

/* Whether respond may change anything. */
bool drape_i_sim_responds(const drape_sim *sim);
/* Changes the state that a step of h from x0 led to, at time t, where forces alone do not keep it admissible. First
 * comes the limit of strain, which does not move vertices that are held, in whatever directions; then contact. past:
 * the states before that a method keeps, or NULL. DRAPE_ERROR_NUMBER: contact leaves no room; a shorter step may
 * do. */
drape_status drape_i_sim_respond(drape_sim *sim, double t, double h, const double *x0, double *x, double *v,
                                 drape_ode_projection *past);

/* ---- check.c: whether a step led to something that can be believed ---- */

/* Needs the cloth. */
void drape_i_sim_check_prepare(drape_sim *sim, const drape_scene *scene);
/* DRAPE_ERROR_NUMBER: the solve failed, a number is not finite, or the cloth is stretched too far. */
drape_status drape_i_sim_check(drape_sim *sim);
/* DRAPE_ERROR_NUMBER: the cloth moves with more energy than anything can have given it. After drape_i_balance_step.
 */
drape_status drape_i_sim_check_energy(drape_sim *sim);

/* ---- energy.c: where energy comes from and goes to ---- */

/* Before every step: the first of them finds out what there is. */
void drape_i_balance_begin(drape_sim *sim);
/* After a step that is good, with the state before it in x_old and v_old; before sim->steps counts it. */
void drape_i_balance_step(drape_sim *sim);
/* Changes from outside between two steps are not part of the balance: call the first before a change, the second
 * after it. */
double drape_i_balance_before_change(drape_sim *sim);
void drape_i_balance_after_change(drape_sim *sim, double before);
double drape_i_sim_kinetic(drape_sim *sim); /* J */
/* As the certificate has it. */
drape_certificate_energy drape_i_sim_measure_energy(drape_sim *sim);
/* Whether the integrator has given the cloth energy, more than rounds off. */
void drape_i_balance_guard(drape_sim *sim);
/* Whether the step has added more energy than there was; integrator_before: what the certificate calls `integrator`,
 * before it. */
bool drape_i_balance_leapt(drape_sim *sim, double integrator_before);

/* ---- integrate.c: the integrators of drape/ode.h on a cloth ----
 *
 * A step of the scene is one call of drape_ode_advance on the system of cloth_system.c. What holds the cloth is the
 * same for all of that step; a multistep method restarts when that changes. */

/* Zeros in the integration of a scene become its defaults. */
drape_integration drape_i_integration_resolve(const drape_integration *given);
/* Whether that is "linearised-euler". */
bool drape_i_integration_is_linearised(const drape_integration *s);
/* How tightly linear systems are solved, mostly: what the solver chooses its preconditioner by. */
double drape_i_integration_tolerance(const drape_scene *scene);

drape_status drape_i_integrator_create(drape_sim *sim, const drape_scene *scene);
void drape_i_integrator_destroy(drape_sim *sim);
/* Drops what was found in earlier steps and would be found again, except for the past of multistep methods. */
void drape_i_integrator_forget(drape_i_integrator *it);
/* Restarts from the state of the simulation. */
drape_status drape_i_integrator_start(drape_sim *sim);
/* After a step that failed: continues from the state of the simulation. */
void drape_i_integrator_take_back(drape_sim *sim, drape_status status);
/* From the state of the simulation to that one step of the scene later. */
drape_status drape_i_integrate(drape_sim *sim, bool other_pins);

/* ---- cloth_system.c: the cloth as a system of ode, and its mass matrix ---- */

/* M x'' = f(x, v) of the cloth as a table of functions; user is the drape_sim. */
drape_ode_system drape_i_cloth_system(drape_sim *sim, bool implicit);

/* The mass matrix of linear finite elements, sim->mass_matrix. */
drape_status drape_i_sim_mass_create(drape_sim *sim, const drape_scene *scene);
/* A += factor (consistent - lumped) */
void drape_i_sim_mass_correct(drape_sim *sim, double factor);
/* out = M in, either mass matrix; returns in' M in. */
double drape_i_sim_mass_times(drape_sim *sim, const double *in, double *out);

/* ---- stiffest.c ---- */

/* The eigenvalue that limits explicit steps, 1/s. */
void drape_i_cloth_stiffest(void *user, double t, const double *x, const double *v, double lambda[2]);

/* ---- scene_hash.c ---- */

/* The same for scenes that are simulated alike, another for others. */
uint64_t drape_i_scene_hash(const drape_scene *scene);

/* ---- checkpoint.c: a checkpoint as bytes; docs/checkpoints.md has the layout ---- */

/* Bytes of any checkpoint of this simulation. */
int64_t drape_i_checkpoint_size(drape_sim *sim);
/* Fills so many bytes. */
void drape_i_checkpoint_make(drape_sim *sim, char *out);
/* Takes the state over from `size` bytes, of which `have` are there: those beyond drape_i_checkpoint_size are not
 * looked at. Anything wrong is DRAPE_ERROR_FORMAT with a message that begins with name, and changes nothing. */
drape_status drape_i_checkpoint_take(drape_sim *sim, const char *name, const void *data, int64_t have, int64_t size);
/* Puts the right checksums into any bytes that are as long as a header and a checksum at least. */
void drape_i_checkpoint_seal(char *data, int64_t size);

#endif
