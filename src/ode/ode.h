/* ode.h: the internals of an integrator, and what a method is.
 *
 * To add a method: a file that fills a drape_i_ode_method (or a Butcher table in one_step.c), one line in registry.c.
 *
 * The state is one vector of `length` numbers: y, or x followed by v. Methods see the first order form
 * Y' = F(t, Y) only; that (x, v) is solved as one system for v is the business of newton.c. */
#ifndef DRAPE_ODE_ODE_H
#define DRAPE_ODE_ODE_H

#include "drape/ode.h"
#include "ode/vector.h"

enum {
    DRAPE_I_ODE_MOST_PAST = DRAPE_ODE_MOST_STEPS + 2, /* extrapolation takes one more, taking back another */
    DRAPE_I_ODE_TEXT = 320
};

/* Computes ode->next, the state h after ode->past[0]; ode->next_slope where that comes along; where ode->wants_error,
 * ode->error. Any other reason than DRAPE_ODE_DONE: the step failed, and ode->text says why. */
typedef drape_status drape_i_ode_stepper(drape_ode *ode, double h, drape_ode_reason *reason);

typedef struct drape_i_ode_method {
    const char *name, *about;
    int32_t order;
    int32_t steps; /* values of the past that a step uses */
    bool implicit, second_order_only;
    bool multistep; /* of a family that uses states of the past: for the step, or (implicit Euler, its first member)
                       for the error. Under error control it begins with low order; a state that was changed behind
                       its back makes it restart */
    /* The stages' weights in the continuous extension of degree 4, see interpolate.c; NULL: it has none of its own.
     */
    const double *extension;
    bool keeps_slope;                 /* a step begins with the slope that the one before has found at its end */
    bool estimates;                   /* has an error estimate of its own; the others are stepped twice */
    const drape_ode_tableau *tableau; /* of explicit Runge-Kutta methods */
    drape_i_ode_stepper *step;
} drape_i_ode_method;

/* ---- spread.c: sums and norms, of all processes where the system is spread ---- */

/* a'b; n is the size, or the length, of the state. */
double drape_i_ode_dot(const drape_ode *ode, int64_t n, const double *a, const double *b);
/* The largest |e_i| of `size` numbers, NaN where one is; *where: the first such i here. */
double drape_i_ode_most(const drape_ode *ode, const double *e, int64_t *where);
/* drape_i_ode_weighted, or drape_i_ode_weighted_largest. */
double drape_i_ode_weigh(const drape_ode *ode, bool largest, double factor, const double *e, const double *y,
                         double rtol, double atol);

const drape_i_ode_method *drape_i_ode_method_find(const char *name);

drape_i_ode_stepper drape_i_ode_explicit_step, drape_i_ode_verlet_step, drape_i_ode_midpoint_step,
    drape_i_ode_tr_bdf2_step, drape_i_ode_bdf_step;
/* Whether a multistep method with fixed steps begins with one step, then two, and so on. */
bool drape_i_ode_begins_low(const drape_ode *ode);
extern const drape_ode_tableau drape_i_ode_explicit_euler, drape_i_ode_explicit_midpoint, drape_i_ode_rk4,
    drape_i_ode_bogacki_shampine, drape_i_ode_dormand_prince;
extern const double drape_i_ode_dormand_prince_extension[7];

/* DRAPE_ERROR_ARGUMENT with a message if the table is not a consistent explicit one. */
drape_status drape_i_ode_tableau_check(drape_context *ctx, const drape_ode_tableau *tableau);

/* What Newton's iteration keeps from stage to stage. */
typedef struct drape_i_ode_newton_memory {
    double *r, *s, *force, *product; /* size each: residual -G, correction, f, M times something */
    double *psi, *Y, *first;         /* length each: see drape_i_ode_stage; the guess, to begin again from */
    double *extrapolated;            /* length: extrapolated from the past states; NULL: not used */
    double E;                        /* the incremental potential at Y, where E_known */
    bool E_known;
    int32_t guess_kept; /* stages for which the better guess is not asked for again */
    bool guess_state;   /* which was better: the state before, or the extrapolation */
    bool guessed;       /* Y is an extrapolation from past[0] and those before */
    int64_t worst;      /* see drape_ode_result */
    double rate;        /* by which corrections shrink, as last seen; 0: never seen */
    double made_c;      /* the c of the matrix; 0: there is none */
    uint64_t made_stamp;
    bool made_here;            /* the matrix was made in this stage */
    int32_t in_step;           /* iterations of the step under way */
    int32_t unconverged;       /* stages of the call under way that were kept unconverged */
    drape_ode_reason forgiven; /* why the last of them stopped */
    double left;               /* see drape_ode_result.newton_error */
    double last_t, last_c;     /* s: of the last stage that was solved, and not linearised; c 0: there is none */
    int64_t stages;            /* how many so far */
} drape_i_ode_newton_memory;

/* What GMRES works with; vectors only with DRAPE_ODE_MATRIX_FREE. */
typedef struct drape_i_ode_krylov {
    int32_t restart;                           /* vectors that a cycle makes */
    double *basis[DRAPE_ODE_MOST_RESTART + 1]; /* size each, orthonormal */
    double *moved;                             /* length: Y moved along a direction */
    double *product, *direction, *f;           /* size: a difference of f; P^-1 w; f at Y */
    double *H;                                 /* Hessenberg matrix, column by column, restart + 1 rows */
    double cosine[DRAPE_ODE_MOST_RESTART], sine[DRAPE_ODE_MOST_RESTART], right[DRAPE_ODE_MOST_RESTART + 1];
    double size;   /* of a change of the unknown whose effect on f is still linear, and well above rounding */
    bool moved_on; /* the preconditioner has not been asked here yet */
} drape_i_ode_krylov;

/* The test equations of stability.c: y' = (re + i im) y, x'' = -stiffness x - damping v. */
typedef struct drape_i_ode_test {
    double re, im, stiffness, damping;
} drape_i_ode_test;

/* What the control of the step length remembers. */
typedef struct drape_i_ode_control_memory {
    double proposal;   /* s; 0: none yet */
    double error;      /* of the step before, over the tolerance; 0: none */
    int32_t equal;     /* steps of one length so far */
    bool after_reject; /* the step under way was rejected once: its successor does not grow */
    double share;      /* of the tolerances of the error, that the try under way may have */
} drape_i_ode_control_memory;

/* One number that an interpolating polynomial takes: the value or the slope at a place. Where both are known at one
 * place the slope comes directly after the value. */
typedef struct drape_i_ode_datum {
    double at; /* in steps, from the beginning of the step */
    bool slope;
    const double *vector; /* length; of a slope Y' */
} drape_i_ode_datum;

/* The last step that was kept, as interpolate.c and events.c see it. Vectors only where settings.dense_output. */
typedef struct drape_i_ode_span {
    bool known;           /* there is one */
    double begin, h, end; /* s; end is before begin + h where an event ended it */
    bool halved;          /* it was taken in two halves, with middle and middle_slope between them */
    bool old_slope_known; /* BDF, while it begins: old_slope is Y' at the state */
    double *old_slope, *middle, *middle_slope; /* length each, as the two below */
    double *scratch;                           /* the solution at a time inside */
    double *spare;                             /* what the state becomes where an event ends the step */
    const double *first, *last;                /* the states at its ends */
    drape_i_ode_datum data[DRAPE_I_ODE_MOST_DATA];
    int32_t count;
    bool line;       /* slopes are those of x alone: v uses its values */
    bool asks_slope; /* the slope at the end, the last of data, may not be known yet */
} drape_i_ode_span;

typedef struct drape_i_ode_watch drape_i_ode_watch;

struct drape_ode {
    drape_context *ctx;
    drape_ode_system system;
    drape_ode_settings settings;
    drape_i_ode_method method;
    int64_t size, length; /* n; n or 2 n */

    double t;
    double *past[DRAPE_I_ODE_MOST_PAST];     /* [0] is the state, [1] the one before it, ... */
    double past_step[DRAPE_I_ODE_MOST_PAST]; /* s, from past[j + 1] to past[j] */
    int32_t past_count, past_room;
    double *next, *big;         /* the state to come; the same in one big step, for the error */
    double *slope, *next_slope; /* Y' at past[0] and at next; Verlet's acceleration in the v part */
    bool slope_known, next_slope_known;
    bool slope_continues; /* slope is what the last step ended with, not an evaluation */

    bool wants_error, ramps; /* an estimate controls the step; a multistep method begins with low order */
    bool damped;             /* drape_ode_damp */
    double *error;
    bool error_known;
    int32_t error_order; /* error = O(h^(error_order + 1)) */

    double *stage[DRAPE_ODE_MOST_STAGES]; /* of explicit Runge-Kutta methods; [0] is slope */
    double *stage_state;
    drape_i_ode_newton_memory newton;
    drape_i_ode_krylov krylov;
    drape_i_ode_control_memory control;
    drape_ode_counts counts;
    drape_i_ode_span span;
    drape_i_ode_watch *watch; /* NULL: no events */
    drape_ode *shadow;        /* the same method on a test equation, to judge explicit steps; NULL: not used */
    drape_i_ode_test shadow_test;
    double stiffest[2]; /* the eigenvalue that was last asked for */

    double *memory; /* of all vectors */
    int64_t memory_count;
    char text[DRAPE_I_ODE_TEXT];
};

DRAPE_INLINE bool drape_i_ode_is_second(const drape_ode *ode) { return ode->system.order == 2; }
/* The v part of a state; NULL for first order. */
DRAPE_INLINE double *drape_i_ode_velocity(const drape_ode *ode, double *Y) {
    return drape_i_ode_is_second(ode) ? Y + ode->size : NULL;
}

/* Sets text and returns the reason. */
drape_ode_reason drape_i_ode_stop(drape_ode *ode, drape_ode_reason reason, const char *format, ...)
    DRAPE_PRINTF(3, 4);
/* What a function of the system said: DRAPE_ERROR_NUMBER becomes a reason, the rest stays a status. */
drape_status drape_i_ode_take(drape_ode *ode, drape_status said, const char *who, double t, drape_ode_reason *reason);

/* Sets what is prescribed of v in Y so that psi_x + c v is right at t; whether that changed anything. */
bool drape_i_ode_prescribe(drape_ode *ode, double t, double c, const double *psi_x, double *Y);

/* out = F(t, Y), the first order form; counted. */
drape_status drape_i_ode_derivative(drape_ode *ode, double t, double *Y, double *out, drape_ode_reason *reason);

/* Accepts next as the state h later; takes the last acceptance back (what it pushed out of the past is lost). */
void drape_i_ode_push(drape_ode *ode, double h);
void drape_i_ode_pop(drape_ode *ode);

/* Forgets all states but the present one: multistep methods restart. */
void drape_i_ode_forget(drape_ode *ode);

/* ---- Dense output and events ---- */

/* Keeps the start slope of a step before it is taken in halves; then the state between them. */
void drape_i_ode_keep_start(drape_ode *ode);
void drape_i_ode_keep_middle(drape_ode *ode);
/* BDF, while it begins: adds share times the slope of the stage that was just solved to next_slope. */
void drape_i_ode_add_slope(drape_ode *ode, double share, double c, bool first);
/* Notes the step of h from begin that was just pushed. */
void drape_i_ode_span_note(drape_ode *ode, double begin, double h);
/* The solution at t of the span, `length` numbers. */
drape_status drape_i_ode_span_at(drape_ode *ode, double t, double *Y);
/* Looks for events in the span, reports them, and cuts the step off at a terminal one: then *event is its index and
 * *reason DRAPE_ODE_EVENT. */
drape_status drape_i_ode_watch_step(drape_ode *ode, int64_t *event, drape_ode_reason *reason);
void drape_i_ode_watch_destroy(drape_context *ctx, drape_i_ode_watch *watch); /* NULL is fine */

/* ---- Implicit stages (newton.c) ---- */

/* Y = psi + c F(t, Y), with psi in newton.psi, and the guess, then the solution, in newton.Y */
typedef struct drape_i_ode_stage {
    double t, c;
    double held_t, held_c; /* psi_x + held_c v is where it is prescribed at held_t; held_c 0: as t and c */
} drape_i_ode_stage;

drape_status drape_i_ode_solve(drape_ode *ode, const drape_i_ode_stage *stage, drape_ode_reason *reason);
/* Moves newton.Y by alpha times the correction s, keeping x = psi_x + c v. */
void drape_i_ode_move(drape_ode *ode, const drape_i_ode_stage *stage, double alpha);
/* newton.r = psi - Y + c F, times M for second order. */
drape_status drape_i_ode_residual(drape_ode *ode, const drape_i_ode_stage *stage, drape_ode_reason *reason);
/* Whether the system has a potential at present; the incremental potential at newton.Y. */
bool drape_i_ode_has_potential(const drape_ode *ode);
/* Whether residuals come with E. */
bool drape_i_ode_has_joint_potential(const drape_ode *ode);
drape_status drape_i_ode_potential(drape_ode *ode, const drape_i_ode_stage *stage, double *E,
                                   drape_ode_reason *reason);
/* Goes along the correction s as far as it goes down. *last: whether s is thought to be the last correction needed;
 * it stays so where all of s goes down. Else r is that of the new Y afterwards. */
drape_status drape_i_ode_search(drape_ode *ode, const drape_i_ode_stage *stage, bool *last, drape_ode_reason *reason);

/* newton.s with A s = newton.r to |r - A s| <= eta |r|, without a matrix. */
drape_status drape_i_ode_krylov_solve(drape_ode *ode, const drape_i_ode_stage *stage, double eta,
                                      drape_ode_answer *answer);
/* Hands out its vectors; `carve` is that of ode.c. */
void drape_i_ode_krylov_carve(drape_ode *ode, double *(*carve)(void *carver, int64_t count), void *carver);

/* newton.Y = the guess for the state `ahead` steps of h after past[0], by extrapolation; newton.extrapolated too. */
void drape_i_ode_guess(drape_ode *ode, double h, double ahead);

/* One step of h by implicit Euler extrapolated to this order, into next: how multistep methods begin. */
drape_status drape_i_ode_begin_step(drape_ode *ode, int32_t order, double h, drape_ode_reason *reason);

/* ---- Controls ---- */

/* Both compute one step of h that may be pushed; *error: its estimated local error over the tolerance. */
drape_status drape_i_ode_try(drape_ode *ode, double h, drape_ode_reason *reason);
drape_status drape_i_ode_try_with_error(drape_ode *ode, double h, double *error, drape_ode_reason *reason);
/* Removes from ode->error what is prescribed: it has no error that shorter steps would reduce. */
void drape_i_ode_filter_error(drape_ode *ode);
/* A first step for DRAPE_ODE_ERROR, s. */
drape_status drape_i_ode_first_step(drape_ode *ode, double limit, double *h, drape_ode_reason *reason);
/* The length of the next step from the error of this one; accepted or rejected. */
double drape_i_ode_propose(drape_ode *ode, double h, double error, bool accepted);
/* The root mean square, or the largest, of factor x over atol + rtol |x of Y| and v over atol_v + rtol |v of Y|. If
 * atol_v is infinite, only x counts. First order: x is y, and v is ignored. */
typedef struct drape_i_ode_gauge {
    double rtol, atol, atol_v;
    bool largest;
} drape_i_ode_gauge;
typedef struct drape_i_ode_measured {
    const double *Y, *x, *v;
    double factor;
} drape_i_ode_measured;
double drape_i_ode_norm(drape_ode *ode, const drape_i_ode_gauge *gauge, const drape_i_ode_measured *e);
/* x^(1/degree) for x > 0, from arithmetic alone. */
double drape_i_ode_root(double x, int32_t degree);
/* Longest stable step up to h, s: h itself where nothing speaks against it. */
drape_status drape_i_ode_stable_step(drape_ode *ode, double h, double *longest);
drape_status drape_i_ode_shadow_create(drape_ode *ode);

/* Whether a step should leave an estimate in ode->error: to control it, or to judge what `project` changes. */
DRAPE_INLINE bool drape_i_ode_estimates(const drape_ode *ode) {
    return ode->wants_error || (ode->system.project && ode->method.multistep);
}

#endif
