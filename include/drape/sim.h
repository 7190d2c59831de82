/* drape/sim.h: scenes and time steps.
 *
 *   drape_loaded_scene *scene;
 *   drape_sim *sim;
 *   drape_scene_load(ctx, "flag.yaml", NULL, &scene);      // drape/io.h; or fill a drape_scene yourself
 *   drape_sim_create(ctx, drape_loaded_scene_data(scene), &sim);
 *   while (drape_sim_time(sim) < 1.0) drape_sim_step(sim, NULL);
 *   const double *x = drape_sim_positions(sim);            // 3 doubles per vertex, m */
#ifndef DRAPE_SIM_H
#define DRAPE_SIM_H

#include "drape/collider.h"
#include "drape/force.h"
#include "drape/ode.h"
#include "drape/solve.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Scenes: plain data ---- */

/* How pinned vertices move; t is the time since the simulation began, s. */
typedef enum drape_motion_kind {
    DRAPE_MOTION_FIXED,    /* does not move */
    DRAPE_MOTION_LINEAR,   /* displacement velocity t */
    DRAPE_MOTION_SINE,     /* displacement amplitude (sin(2 pi (frequency t + phase)) - sin(2 pi phase)) */
    DRAPE_MOTION_KEYS,     /* straight from key to key, resting before the first and after the last */
    DRAPE_MOTION_CALLBACK, /* displacement by a function */
    DRAPE_MOTION_TURN,     /* turns at a constant rate about an axis */
    DRAPE_MOTION_POSES,    /* moves, turns and scales from key to key: drape_motion_path */
    DRAPE_MOTION_FRAMES    /* follows given positions from frame to frame: drape_motion_path */
} drape_motion_kind;

/* Writes the displacement of a pinned vertex (numbered over all pieces) at a time since the simulation began, in s.
 * The displacement, in m, is relative to where the pin holds the vertex. start: where the vertex was at time 0, m. It
 * is called by the thread that calls drape_sim_step, one call at a time. Times may come in any order, and a call may
 * be repeated for the same vertex and time. It must return the same result for the same
 * arguments, and may not use the simulation. A result that is not finite fails the step with DRAPE_ERROR_NUMBER and
 * a message that names pin, vertex and time. For a pin that holds from time 0 on, the displacement at time 0 should
 * be zero; otherwise the vertex jumps. */
typedef void drape_motion_function(void *user, int32_t vertex, double time, const double start[3],
                                   double displacement[3]);

/* The displacement of a pin at a time. */
typedef struct drape_motion_key {
    double time;      /* s */
    double offset[3]; /* m, from where the vertex started */
} drape_motion_key;

/* A point that was at p at time 0 is at centre + offset + R (scale * (p - centre)). R turns by |rotation| radians
 * about the direction of `rotation`; scale stretches along each axis. */
typedef struct drape_motion_pose {
    double time;        /* s */
    double offset[3];   /* m */
    double rotation[3]; /* rad, of any length */
    double scale[3];    /* > 0; 1: unchanged */
} drape_motion_pose;

/* What DRAPE_MOTION_POSES and DRAPE_MOTION_FRAMES follow; copied. Vertices move straight from one key or frame to the
 * next, and are at rest before the first and after the last. */
typedef struct drape_motion_path {
    int32_t poses; /* >= 1 with DRAPE_MOTION_POSES, at increasing times */
    const drape_motion_pose *pose;
    double centre[3];         /* m */
    int32_t frames;           /* >= 1 with DRAPE_MOTION_FRAMES */
    const double *frame_time; /* s, one per frame, increasing */
    const double *frame;      /* m, 3 doubles per vertex of the pin, in its order, and frame */
    bool keep_offset;         /* vertices keep the offset from their frames that they have at time 0; false: they are
                                 where the frames say. Pins that start later always keep it */
    uint64_t reserved[8];     /* zero: reserved for later fields */
} drape_motion_path;

/* The motion of a pin. Zero means that it does not move. */
typedef struct drape_motion {
    drape_motion_kind kind;
    double velocity[3];              /* m/s; with DRAPE_MOTION_TURN rad/s: direction of the axis, and rate */
    double amplitude[3];             /* m */
    double frequency;                /* Hz */
    double phase;                    /* in turns */
    int32_t key_count;               /* >= 1 with DRAPE_MOTION_KEYS */
    const drape_motion_key *key;     /* at increasing times */
    drape_motion_function *function; /* with DRAPE_MOTION_CALLBACK; a checkpoint does not know which function it was:
                                        restore it with the same one */
    void *user;                      /* its first argument; must outlive the simulation */
    double centre[3];                /* m: a point of the axis of DRAPE_MOTION_TURN */
    const drape_motion_path *path;   /* with DRAPE_MOTION_POSES and DRAPE_MOTION_FRAMES; has space for later fields */
} drape_motion;

#define DRAPE_FOREVER 1e300 /* s */

/* Vertices that are held, all in the same way. In the held directions they follow the motion exactly, or are pulled
 * towards it by springs. */
typedef struct drape_pin {
    int32_t count;
    const int32_t *vertices; /* numbered over all pieces */
    int32_t directions;      /* 1..3; 3: held in all */
    double direction[3][3];  /* any length but zero; ignored with 3 */
    drape_motion motion;
    double from, until;   /* s: held in steps that end in (from, until]; until 0 means DRAPE_FOREVER. A pin that
                             starts later holds its vertices where they are then, and moves them from there */
    double stiffness;     /* N/m, >= 0: of a spring that pulls each vertex towards the motion in the held directions;
                             0: it is held exactly. The springs are the force "soft_pins" of the
                             simulation, with their energy */
    uint64_t reserved[3]; /* zero: reserved for later fields */
} drape_pin;

/* A point of the cloth: a vertex, a point of an edge, or one of a triangle. */
typedef struct drape_cloth_point {
    int32_t count;     /* 1: a vertex; 2 or 3: the sum of w[a] times the positions of this number of vertices */
    int32_t vertex[3]; /* numbered over all pieces; all different */
    double w[3];       /* weights, finite, whose sum is 1; ignored with 1 */
} drape_cloth_point;

/* Two points of the cloth, of the same piece or of two, that are held together. The offset of a from b in the given
 * directions is zero; with `close`, it decreases to zero. The two points together have at most four vertices.
 *
 * Exact stitches are equality constraints of the linear solves (drape_equality), so they hold up to rounding. Those
 * that share vertices form groups of at most 64 vertices. Soft stitches are springs. For contact, triangles that a
 * stitch joins are neighbours, like triangles that share a vertex. docs/stitches.md says more. */
typedef struct drape_stitch {
    drape_cloth_point a, b;
    int32_t directions;     /* 1..3; 3: in all; 0 means 3 */
    double direction[3][3]; /* any length but zero; ignored with 3 */
    double stiffness;       /* N/m, >= 0: of a spring between the points, the force "stitches" of the simulation;
                               0: they are held exactly */
    double close; /* s, >= 0: the initial offset decreases smoothly to zero within this time. With s = t / close,
                     its factor is (1 - s)^2 (1 + 2 s). 0: the offset is zero from the start; an exact
                     stitch is then refused if it is more than 1 um */
    uint64_t reserved[4]; /* zero: reserved for later fields */
} drape_stitch;

/* Cloth that is held to a collider. Each vertex is attached to the point of the surface that is nearest at the start,
 * by barycentric coordinates. It keeps its offset from that point, which turns with the triangle. Vertices follow the
 * surface exactly, or are pulled towards it by springs. */
typedef struct drape_attachment {
    int32_t collider;        /* its index in the scene; not a plane, which has no triangles */
    int32_t count;           /* vertices, >= 0 */
    const int32_t *vertices; /* numbered over all pieces */
    const double *weight; /* one per vertex, in (0, 1]; NULL: 1. A vertex of weight 1 is held. One of weight w < 1 has
                             a spring of stiffness w / (1 - w) */
    double stiffness;     /* N/m, >= 0: of a spring of weight 1/2; 0: 10 N/m */
    double reach;         /* m, >= 0: vertices that are farther from the surface are refused; 0: no limit */
    uint64_t reserved[4]; /* zero: reserved for later fields */
} drape_attachment;

/* What the linear systems of implicit steps are solved for. */
typedef enum drape_unknowns {
    DRAPE_UNKNOWN_VELOCITY, /* the change of velocities: (M + c D + c^2 K) dv = ... */
    DRAPE_UNKNOWN_POSITION  /* the change of positions: (M/c^2 + D/c + K) dx = ..., as in Ascher and Boxerman. The
                               result  is the same up to rounding and the solver's tolerance, which is relative to
                               another  right-hand side in linearised steps */
} drape_unknowns;

/* The matrix M of the equations of motion. */
typedef enum drape_mass_matrix {
    DRAPE_MASS_LUMPED,    /* diagonal: a third of each triangle at each of its corners */
    DRAPE_MASS_CONSISTENT /* of linear finite elements: density area (1 + delta_ij) / 12 for each triangle */
} drape_mass_matrix;

DRAPE_API const char *drape_unknowns_name(drape_unknowns unknowns);   /* "velocity", "position"; else NULL */
DRAPE_API const char *drape_mass_matrix_name(drape_mass_matrix mass); /* "lumped", "consistent"; else NULL */

/* Two names of the same integrator that drape/ode.h does not have: one linearised step of backward Euler. */
#define DRAPE_LINEARISED_EULER "linearised-euler"
#define DRAPE_PREVIEW          "preview"

/* How a scene advances in time. Zero means the default in every field. docs/integrators.md helps to choose a method.
 * With "linearised-euler", only `unknowns` and `mass` matter. */
typedef struct drape_integration {
    /* method: default "bdf2"; or another one of drape_integrator_name. step is not used;
     * the scene's step is, as the longest step if steps are controlled. These defaults differ from drape/ode.h:
     *   newton.kind            DRAPE_ODE_INEXACT
     *   newton.eta             0.07 if newton.tolerance is above 10 um;
     *                          with DRAPE_ODE_LINEARISED the tolerance of the scene's linear solver
     *   newton.line_search     DRAPE_ODE_SEARCH_SLOPE
     *   newton.max_iterations  200
     *   newton.tolerance       1 mm with "bdf2" and "implicit-euler", else 10 um;
     *                          use a smaller value for cloth below about 30 cm
     *   newton.rtol, atol      zero. If one of them is given, or tolerance is negative, they replace tolerance, and
     *                          the other one is 1e-6 or 1e-9 (m/s; m for the error in positions)
     *   atol, atol_v           1e-5 m, 1e-3 m/s, for error-controlled steps
     *
     * What `time: {accuracy: 1 mm}` of a scene file sets: control = DRAPE_ODE_ERROR, rtol = -1, atol = 1e-3, atol_v =
     * INFINITY, largest = true and per = the time of a frame. */
    drape_ode_settings ode;
    drape_unknowns unknowns; /* default DRAPE_UNKNOWN_VELOCITY */
    drape_mass_matrix mass;  /* default DRAPE_MASS_LUMPED; the other only if no piece has masses of its own */
    bool stop_on_failure; /* with DRAPE_ODE_FIXED: a step in which Newton's iteration does not converge ends the run;
                             default false: it is divided into halves, repeatedly, down to 1/64 of it */
    /* A step fails if afterwards a thread is longer than this many times its length at rest, and longer than before
     * the step. Above 1; default 2; INFINITY: no limit. Very soft cloth needs more. Checkpoints do not depend on it:
     * a failed run can be resumed with another limit. */
    double max_stretch;
    uint64_t reserved[6]; /* zero: reserved for later fields */
} drape_integration;

/* Every field at its default, written out. */
DRAPE_API drape_integration drape_integration_defaults(void);
/* "linearised-euler", "preview", then the methods of drape/ode.h; NULL past the end. */
DRAPE_API const char *drape_integrator_name(int32_t index);
/* The damping ratio that steps of this length (s, > 0) give an undamped vibration of this angular frequency (rad/s, >
 * 0). It is -ln |R| / (frequency step), where R is the factor of the amplitude in one step. If it is negative, the
 * vibration grows. Damping of the fabric adds to it, as long as both are small. It does not include the loss of rigid
 * rotation in a linearised step (docs/notes/default-integrator.md). Values below 1e-6 may be rounding; infinite if R
 * is 0 or overflows. integration may be NULL: the defaults. */
DRAPE_API drape_status drape_integration_damping(drape_context *ctx, const drape_integration *integration,
                                                 double step, double frequency, double *ratio);

/* What happens to cloth if colliders leave no space for it, even in steps of 1/64. */
typedef enum drape_pinch {
    DRAPE_PINCH_FAIL, /* the step fails with a message that names the colliders */
    DRAPE_PINCH_YIELD /* its contacts with these colliders are suspended, and it moves with the mean of their surfaces
                         until it is outside again. This needs colliders with an inside: an open mesh never yields.
                         Cloth never passes through cloth. */
} drape_pinch;
/* "fail", "yield"; else NULL. */
DRAPE_API const char *drape_pinch_name(drape_pinch pinch);

/* What follows the linear solve. Both end with the gate, which proves that nothing crosses. */
typedef enum drape_contact_preset {
    DRAPE_CONTACT_ROBUST, /* impulses, impact zones, truncation; a step that fails is divided in two */
    DRAPE_CONTACT_PAPER   /* impulses and impact zones, as in Tamstorf et al.; a step that fails is divided in two */
} drape_contact_preset;
/* "robust", "paper"; else NULL. */
DRAPE_API const char *drape_contact_preset_name(drape_contact_preset preset);

/* How the stiffness of a spring between two parts of the cloth depends on their gap g. The spring pushes where g is
 * below G. kappa comes from the cloth's own stiffness, and from what stops the approach within G. Springs between
 * cloth and colliders are always linear. */
typedef enum drape_contact_law {
    DRAPE_CONTACT_SECANT, /* k = (2 kappa/G) (G - g), with the gap that is predicted for the end of the step: the
                             secant of the cubic barrier 2 kappa/(3 G) (G - g)^3. It begins softly, and is stiffer
                             when pressed */
    DRAPE_CONTACT_LINEAR  /* k = kappa whatever the gap, as Tamstorf et al. have it */
} drape_contact_law;
/* "secant", "linear"; NULL: not one of them. */
DRAPE_API const char *drape_contact_law_name(drape_contact_law law);

/* How two pieces of cloth meet, or a piece and itself, where that differs from what each of them has. */
typedef struct drape_contact_pair {
    int32_t piece[2];     /* numbers of pieces; may be the same */
    double thickness;     /* m: how far apart contact keeps them; below 0: the mean of both pieces' */
    double friction;      /* between them; below 0: the geometric mean of both pieces' */
    uint64_t reserved[2]; /* zero: reserved for later fields */
} drape_contact_pair;

/* Contact of cloth with colliders and itself. Zero means the default in every field. */
typedef struct drape_contact_settings {
    bool self;            /* cloth collides with cloth; default false */
    bool allow_crossings; /* parts that cross at the start may stay so until they separate; default false: an error */
    double distance;      /* m, >= 0: contacts begin to push this far beyond the thickness; default 0: a fifth of the
                             shortest edge, but no more than 1 mm */
    drape_pinch pinch;    /* default DRAPE_PINCH_FAIL */
    drape_contact_preset preset;     /* default DRAPE_CONTACT_ROBUST */
    drape_contact_law law;           /* default DRAPE_CONTACT_SECANT */
    const drape_contact_pair *pairs; /* pair_count of them; of two for the same pieces the later one counts */
    int32_t pair_count;
    uint64_t reserved[4]; /* zero: reserved for later fields */
} drape_contact_settings;

/* Everything that a simulation starts from. Arrays belong to the caller. */
typedef struct drape_scene {
    const char *name;
    drape_piece *pieces;
    int32_t piece_count;
    drape_pin *pins; /* a vertex may be in several: their directions are merged (drape_constraint_builder). If they
                        hold it at different places, it goes to the mean of these, and the log gets a warning */
    int32_t pin_count;
    const double *velocity; /* at the start, m/s, 3 doubles per vertex over all pieces; NULL: at rest */
    drape_forces forces;
    drape_cloth_settings cloth;
    drape_solve_settings solve;
    drape_integration integration;
    double step;               /* s, > 0 */
    int32_t steps_per_frame;   /* >= 1 */
    int32_t frames;            /* >= 0, not counting the one at the start */
    const char *const *output; /* names of files for the frames (drape/io.h); a simulation ignores them */
    int32_t output_count;
    int32_t collider_count;
    const drape_collider *colliders;       /* drape/collider.h */
    const drape_contact_settings *contact; /* NULL: the defaults */
    const double *start; /* positions at the start, m, 3 doubles per vertex over all pieces; NULL: the pieces' rest
                            positions */
    const drape_stitch *stitches;
    int32_t stitch_count, attachment_count;
    const drape_attachment *attachments;
    uint64_t reserved[2]; /* zero: reserved for later fields */
} drape_scene;

/* ---- Simulating ---- */

/* What the integrator did in a step; "linearised-euler": one substep, one evaluation, one Newton iteration. */
typedef struct drape_certificate_ode {
    drape_ode_reason reason;    /* DRAPE_ODE_DONE; with newton.keep_unconverged, why Newton's iteration stopped */
    int32_t substeps, rejected; /* parts of the step that were kept, and attempts of a control that were not */
    int32_t evaluations;        /* of the forces */
    int32_t newton_iterations;  /* of all substeps */
    int32_t cuts;               /* corrections halved by the line search */
    int32_t unconverged;        /* stages that were kept though Newton's iteration had not converged */
    double newton_error;        /* the estimated remaining error, relative to the tolerance; -1: not estimated, as
                                   after one iteration */
    uint64_t reserved[4];       /* zero, here and below: reserved for later fields */
} drape_certificate_ode;

/* The energy of a force; see drape_assembler_energy. */
typedef struct drape_force_energy {
    const char *name;
    double energy; /* J; NaN if it has none, or does not act */
} drape_force_energy;

/* The energies after a step, and where energy came from and went to. */
typedef struct drape_certificate_energy {
    double kinetic;                  /* J */
    double elastic;                  /* J: that of the cloth's model */
    double weight;                   /* J: - sum m g.(x - rest position) */
    int32_t force_count;             /* that of drape_sim_force_count */
    bool checked;                    /* `unbalanced` includes this step */
    const drape_force_energy *force; /* one per force; valid until the next step */
    /* Where energy came from and went to since the start, J:
     *     kinetic + energies of the forces = start + wind + pins - fabric - integrator.
     * Work is computed at the mean of the positions before and after each step, with the velocity from one to the
     * other. The work of pins uses the mean of the velocities. */
    double start;      /* kinetic + energies of the forces before the first step, and what drape_sim_set_state,
                          set_forces and add_force changed since */
    double fabric;     /* taken by the damping of the cloth's model, >= 0 */
    double wind;       /* given by the air, wind and air_drag together; negative if the air slows the cloth */
    double pins;       /* given by moving pins, including soft ones */
    double integrator; /* taken by the integrator: the rest of the balance. It includes errors of the solver, the
                          strain limit, and the part of your own forces that is not the gradient of their energy */
    double unbalanced; /* given by the residual of the equations of motion, in the steps that were `checked`
                          (drape_sim_check_energy). The tolerances of Newton's iteration and of the linear solver
                          bound it. integrator + unbalanced is what the method itself takes */
    uint64_t reserved[2];
} drape_certificate_energy;

/* What happened in contact during a step. */
typedef struct drape_certificate_contact {
    int32_t count;                  /* contacts of vertices with objects that were held in the linear solve */
    int32_t held;                   /* of them, vertices that stick at the end, or rub without sliding */
    int32_t sliding;                /* vertices that slide */
    int32_t released;               /* contacts that were released because they would have pulled */
    int32_t springs;                /* pairs that were pushed apart by springs, and vertices that rub */
    int32_t passes;                 /* passes of impulses in the response after the solve */
    int32_t zones;                  /* impact zones that were solved */
    int32_t cuts;                   /* how often a part of the step was divided in two */
    int64_t pairs;                  /* pairs that were tested for contact during the step */
    int64_t hits;                   /* of them, pairs that would have met without the response */
    int64_t moved;                  /* vertices that the response moved */
    int64_t truncated;              /* of them, those that had to stop before the end of the step */
    int64_t pinched;                /* vertices whose contacts with colliders are set aside (drape_pinch) */
    double broad, narrow, response; /* s: wall-clock time: finding pairs, testing them, keeping them apart */
    double touch;                   /* s: choosing what is held, and finding springs, at the beginning of the step */
    double gate;                    /* s: proving all pairs apart at its end */
    uint64_t reserved[2];
} drape_certificate_contact;

/* Where the time of the step went: seconds of wall-clock time. */
typedef struct drape_certificate_seconds {
    double assemble;     /* forces and matrices */
    double precondition; /* setting up preconditioners */
    double solve;        /* solving linear systems, without setting up preconditioners */
    double update;       /* everything else, including this certificate */
    uint64_t reserved[8];
} drape_certificate_seconds;

/* What a step did, and how well. */
typedef struct drape_certificate {
    int64_t step;   /* counts from 1 */
    double time;    /* s, at the end of the step */
    double stretch; /* the largest length of a thread over its length at rest */
    /* The last linear solve of the step, except that `iterations` and `bytes_moved` are those of all its solves.
     * Its arrays are valid until the next step or the end of the simulation. If there was none (explicit
     * integrators), method and precond are "none", the reason is DRAPE_CONVERGED, and numbers are zero. */
    drape_solve_result linear;
    drape_certificate_ode ode;
    drape_certificate_energy energy;
    drape_certificate_contact contact;
    drape_certificate_seconds seconds;
    uint64_t reserved[8];
} drape_certificate;

/* A summary of a whole run. Begin with zeros, and add the certificate of every step:
 *
 *   drape_verdict verdict = {0};
 *   while (...) if (!drape_sim_step(sim, &certificate)) drape_verdict_add(&verdict, &certificate); */
typedef struct drape_verdict {
    int64_t steps;       /* that were added */
    int64_t unconverged; /* of them, those whose linear solve or Newton iteration was kept before it had converged */
    double stretch;      /* the largest length of a thread over its length at rest */
    double stretch_time; /* s: when that was */
    double energy; /* J: all energy that became motion and strain since the start, wherever it is now: in the cloth,
                      in the fabric's damping, in the integrator, or in air and pins */
    double integrator;    /* J: taken by the integrator since the start, as drape_certificate_energy has it; negative:
                             added by it, because of solver tolerances or steps that are too long */
    double share;         /* integrator / energy; 0 if there was no energy */
    bool touched;         /* there were contacts: what friction and impacts took is in `integrator` */
    uint64_t reserved[8]; /* zero: reserved for later fields */
} drape_verdict;

/* Does nothing if either is NULL. */
DRAPE_API void drape_verdict_add(drape_verdict *verdict, const drape_certificate *certificate);

/* A simulation of a scene, with its state. */
typedef struct drape_sim drape_sim;

/* Copies what it needs of the scene, except forces.vertex, which must stay valid. It is also DRAPE_ERROR_ARGUMENT if
 * no step could succeed, because cloth starts inside a collider or crosses one (contact->allow_crossings allows it).
 * The same holds for colliders that move too fast for the step within the frames of the scene, and for pins that move
 * into a collider (docs/contact.md). */
DRAPE_API drape_status drape_sim_create(drape_context *ctx, const drape_scene *scene, drape_sim **out);
DRAPE_API void drape_sim_destroy(drape_sim *sim); /* NULL is fine */

/* Advances by one step of the scene. This is one linearised backward Euler step, one step of another integrator, or
 * as many as its step control takes. Which pins hold is decided at the beginning; if these are not the same as in the
 * step before, multistep methods restart. After each step of the integrator the strain limit is applied, if a
 * material has one. Multistep methods restart if it moved the cloth by more than their error
 * (drape_ode_system.project). certificate may be NULL. From the second step on nothing is allocated, except if the
 * solver builds something new (drape_solver_solve).
 *
 * DRAPE_ERROR_NUMBER means that the state is not credible. It is no longer finite, the cloth is stretched beyond
 * integration.max_stretch, or its kinetic energy is ten times what all forces can have supplied. (The last is not
 * checked with your own forces or moving colliders.) Further reasons are a linearised step whose linear system has no
 * solution, a Newton iteration that does not converge, and a step that is too long for an explicit method. The
 * message names step, time, piece and vertex, and says what to try. After any failure the state is that before the
 * step. */
DRAPE_API drape_status drape_sim_step(drape_sim *sim, drape_certificate *certificate);

/* Cloth and solver belong to the simulation, and are valid as long as it is. For a NULL simulation the functions
 * return NULL or 0. */
DRAPE_API const drape_cloth *drape_sim_cloth(const drape_sim *sim);
DRAPE_API const drape_solver *drape_sim_solver(const drape_sim *sim);
DRAPE_API double drape_sim_time(const drape_sim *sim);              /* s */
DRAPE_API int64_t drape_sim_steps(const drape_sim *sim);            /* done so far */
DRAPE_API const double *drape_sim_positions(const drape_sim *sim);  /* m, 3 doubles per vertex */
DRAPE_API const double *drape_sim_velocities(const drape_sim *sim); /* m/s, likewise */
/* N s, 3 doubles per vertex: the impulses that held vertices in the last step; NULL before it and after a step that
 * failed. */
DRAPE_API const double *drape_sim_constraint_forces(const drape_sim *sim);

/* Names the objects between which contact left no space when the last step was divided; NULL if it was not divided
 * for this reason. Valid until the next step. */
DRAPE_API const char *drape_sim_stuck(const drape_sim *sim);

/* Changes positions x (m) and velocities v (m/s) between two steps: 3 doubles per vertex, copied; a part that is NULL
 * does not change. The time stays the same, and pins lead their vertices back to their motion. Multistep methods
 * forget earlier states and restart, even with the same numbers; a step control finds its step length again.
 * DRAPE_ERROR_ARGUMENT: a number is not finite, and nothing has changed. */
DRAPE_API drape_status drape_sim_set_state(drape_sim *sim, const double *x, const double *v);

/* Sets the time, s, >= 0; it is rounded to a whole number of steps. Use it to continue another
 * simulation of the same cloth with another solver, fabric, step or mesh: create the new one, then set state and
 * time. Pins and colliders move to their positions at that time. A pin that starts after time 0, but not after the
 * new time, holds its vertices where they are now. The state does not change; multistep methods restart. */
DRAPE_API drape_status drape_sim_set_time(drape_sim *sim, double time);

/* ---- Holding: vertices that follow a pointer or a hand ---- */

#define DRAPE_HOLD_SPEED 4.0 /* m/s */

/* Vertices that are held in all directions. In each step each vertex moves straight towards its target, and then
 * stays there. Hold a patch of some centimetres, since a single vertex pulls the cloth into a spike. */
typedef struct drape_hold {
    int32_t count;           /* >= 0 */
    const int32_t *vertices; /* numbered over all pieces, none twice */
    const double *target;    /* m, 3 doubles per entry of `vertices` */
    double speed;            /* m/s, >= 0: no vertex is moved faster than this; default 0: DRAPE_HOLD_SPEED */
    uint64_t reserved[4];    /* zero: reserved for later fields */
} drape_hold;

/* Holds these vertices from the next step on, and releases vertices of the previous call that are not in this one.
 * Call it whenever a target moves. NULL, or a count of 0, releases all. Vertices that pins hold stay with their pins.
 * If the set of held vertices changes, multistep methods restart. The arrays are copied; only the first call
 * allocates. DRAPE_ERROR_ARGUMENT, and nothing has changed: a vertex is out of range or listed twice, or a target or
 * speed is not finite. A step fails if it would move held vertices into a collider, or farther than contact leaves
 * space. Then set other targets, or release them. Checkpoints do not contain this, and drape_sim_restore does not
 * change it. */
DRAPE_API drape_status drape_sim_hold(drape_sim *sim, const drape_hold *hold);
DRAPE_API int32_t drape_sim_held(const drape_sim *sim); /* vertices held in this way; 0 for NULL */

/* ---- Equilibrium ---- */

/* Zero means the default in every field. */
typedef struct drape_equilibrium_settings {
    double tolerance;       /* in (0, 1): the largest residual of a cloth at rest; default 1e-7 */
    int32_t max_iterations; /* most corrections; default 1000; negative: none, only the residual is computed */
    uint64_t reserved[8];   /* zero: reserved for later fields */
} drape_equilibrium_settings;

/* How close to equilibrium the cloth came. */
typedef struct drape_equilibrium_result {
    bool at_rest;              /* the residual is within the tolerance */
    double residual;           /* sum over all vertices of the magnitudes of unbalanced forces in free directions (N),
                                  divided by `weight` */
    double weight;             /* N: weight of the cloth plus the magnitudes of loads; 1 if both are zero */
    double moved;              /* m: the largest displacement of a vertex */
    int32_t iterations;        /* corrections */
    int32_t linear_iterations; /* of the linear solver, in all corrections */
    uint64_t reserved[8];      /* zero */
} drape_equilibrium_result;

/* Every field at its default, written out. */
DRAPE_API drape_equilibrium_settings drape_equilibrium_defaults(void);

/* Moves the cloth to where its forces are balanced, and stops it: velocities become zero, and the time stays. Pins
 * hold as in the next step, at the place of their motion at the current time. Vertices held by drape_sim_hold stay.
 * The wind is that of the current time, and acts on cloth at rest. This is much faster than stepping until it
 * has stopped swinging (docs/integrators.md). If max_iterations are not enough, result->at_rest is false, and the
 * cloth is in the state of the last correction. settings and result may be NULL. DRAPE_ERROR_ARGUMENT, and nothing
 * has changed: the scene has contact or a strain limit, which are not forces, or a piece has weight and no pin. */
DRAPE_API drape_status drape_sim_find_equilibrium(drape_sim *sim, const drape_equilibrium_settings *settings,
                                                  drape_equilibrium_result *result);

/* ---- Forces: drape/force.h ---- */

/* Replaces gravity, wind and the other forces between steps. The array behind `vertex` must stay valid. */
DRAPE_API drape_status drape_sim_set_forces(drape_sim *sim, const drape_forces *forces);
/* Adds a force of your own, before the first step or between steps. If the force has elements, the matrix gets a new
 * pattern, and a multistep method restarts. On failure nothing has changed. Checkpoints fit simulations to which
 * forces of the same names and elements were added in the same order; what `user` points to is not in them. */
DRAPE_API drape_status drape_sim_add_force(drape_sim *sim, const drape_force *force);
/* How many forces act, and their names: the cloth's model, "gravity", "air_drag", "load", "wind", then
 * "soft_pins" where the scene has such pins, then your own; NULL past the end. */
DRAPE_API int32_t drape_sim_force_count(const drape_sim *sim);
DRAPE_API const char *drape_sim_force_name(const drape_sim *sim, int32_t index);
/* The list itself, to evaluate forces and matrices at states of your own. It belongs to the simulation. Add forces
 * with drape_sim_add_force: a simulation whose list grew in another way refuses to step. */
DRAPE_API drape_assembler *drape_sim_assembler(drape_sim *sim);
/* Energy of one of them at the current state, J; NaN if it has none (drape_assembler_energy). */
DRAPE_API drape_status drape_sim_force_energy(drape_sim *sim, int32_t index, double *out);

/* Energies of the current state, and where they came from, as in a certificate. `force` is valid until the next call
 * of this function or the next step. */
DRAPE_API drape_status drape_sim_energy(drape_sim *sim, drape_certificate_energy *out);
/* Switches on or off that later steps check the balance of energy against the equations of motion, which gives
 * `unbalanced`; off by default. It takes one more evaluation of the forces per step, and does not change the motion.
 * Steps of several stages are not checked: those of explicit methods, the first of a multistep method, those that a
 * control has divided or repeated, and integrators with newton.kind DRAPE_ODE_LINEARISED. */
DRAPE_API drape_status drape_sim_check_energy(drape_sim *sim, bool on);

/* The linear system of the last step, as a system file (drape/sparse.h): the last one that was solved. The unknown is
 * the change of velocities or positions; in steps that are not linearised, Newton's correction of it. */
DRAPE_API drape_status drape_sim_export_system(drape_sim *sim, const char *path);

/* The same system as drape_sim_export_system writes, in memory and with the couplings of contact: A, b, constraints,
 * positions and couplings, for another solver to solve. All of it belongs to the simulation and is valid until its
 * next step. DRAPE_ERROR_ARGUMENT if there is none: before the first step, and with explicit integrators. */
DRAPE_API drape_status drape_sim_system(drape_sim *sim, drape_problem *out);

/* ---- Checkpoints: docs/checkpoints.md ---- */

/* Writes the whole state to a file. On failure a file of this name stays as it was. The solver forgets what it has
 * learnt (drape_solver_forget), even if writing fails. So this simulation and one that restores the file continue
 * with the same bits, whatever the number of their threads. The file takes 208 bytes, plus 72 per vertex and 24 per
 * pinned vertex. Contact adds 32 bytes, 56 per vertex and 64 per pair with friction; with DRAPE_PINCH_YIELD it adds
 * another 16 bytes and 32 per vertex. Integrators other than "linearised-euler" add drape_ode_save_size and 16 bytes.
 * As much memory is needed while it is written. */
DRAPE_API drape_status drape_sim_save(drape_sim *sim, const char *path);
/* Restores the state of a simulation of the same scene. Only names, outputs and the number of frames may differ.
 * DRAPE_ERROR_FORMAT: the file is damaged, truncated, of another scene or not a checkpoint. The message says which,
 * and nothing has changed. */
DRAPE_API drape_status drape_sim_restore(drape_sim *sim, const char *path);

#ifdef __cplusplus
}
#endif

#endif
