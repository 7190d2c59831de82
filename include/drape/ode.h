/* drape/ode.h: integrators for any system of ordinary differential equations, given as a table of functions.
 *
 *   y' = f(t, y)                      first order
 *   M x'' = f(t, x, v),  x' = v       second order
 *
 *   drape_ode *ode; drape_ode_result result;
 *   drape_ode_settings s = drape_ode_defaults();
 *   s.method = "rk4"; s.step = 0.01;
 *   drape_ode_system decay = {.order = 1, .size = 1, .f = f};
 *   drape_ode_create(ctx, &decay, &s, &ode);
 *   drape_ode_start(ode, 0, &y0, NULL);
 *   drape_ode_advance(ode, 1.0, &result);             // drape_ode_x(ode)[0] is y(1)
 *
 * The integrators see no matrix. Implicit methods ask the system to solve (I - c J) d = r, or (M - c D - c^2 K) d = r
 * with K = df/dx and D = df/dv, to a tolerance. drape_ode_dense does this for small systems, and
 * DRAPE_ODE_MATRIX_FREE for systems of any size that only have f. docs/ode.md helps to choose a method.
 * drape_ode_interpolate gives the solution inside the last step, and drape_ode_watch finds events. Memory is
 * allocated when an integrator is created, not when it steps. Numbers of x have the units of your system; times are
 * in s if yours are. */
#ifndef DRAPE_ODE_H
#define DRAPE_ODE_H

#include "drape/base.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The system ---- */

enum { DRAPE_ODE_MOST_STAGES = 16, DRAPE_ODE_MOST_STEPS = 6, DRAPE_ODE_MOST_RESTART = 256 };

/* Every function of a system returns DRAPE_OK. DRAPE_ERROR_NUMBER means that the value cannot be computed here but
 * might be with a shorter step. Any other status ends the calling function, which returns it. */

/* A stage of an implicit method solves y = psi + c f(t, y); for second order x = psi_x + c v and
 * M v = M psi_v + c f(t, x, v). A point is the current iterate of a stage. */
typedef struct drape_ode_point {
    double t;            /* s */
    double c;            /* s; the step times a factor of the method */
    const double *x, *v; /* v is NULL for first order, where x is y */
} drape_ode_point;

/* One linear system to be solved, with the matrix of the last `prepare`. */
typedef struct drape_ode_request {
    drape_ode_point at; /* the current iterate of Newton's method; prepare may have been called at another point */
    double
        *r; /* may be changed if the solve releases constraints: then it contains again what they had filtered out */
    double tol;          /* |r - A d| <= tol |r| is enough; in (0, 1) */
    const double *psi_x; /* second order: the stage's positions are psi_x + c v, which linearised steps that have
                            stiffness_times do not keep to in at.x; NULL for first order */
} drape_ode_request;

/* The result of a linear solve. */
typedef struct drape_ode_answer {
    int32_t iterations; /* of the linear solver; 0 for a direct one */
    bool failed;        /* d is not usable. This stops Newton's iteration; it is not an error */
} drape_ode_answer;

/* The linear algebra of implicit methods. */
typedef struct drape_ode_linear {
    void *user;
    /* Computes A = I - c J, or M - c D - c^2 K, at this point. It may be an approximation, such as Hauth's
     * linear springs (50): Newton's iteration then converges more slowly, to the same solution. DRAPE_ERROR_NUMBER
     * means that A is singular. */
    drape_status (*prepare)(void *user, const drape_ode_point *at);
    drape_status (*solve)(void *user, const drape_ode_request *request, double *d, drape_ode_answer *answer);
    /* Returns another number whenever A must be recomputed though c has not changed, for example because of other
     * materials; NULL: never. Only DRAPE_ODE_SIMPLIFIED calls it. */
    uint64_t (*stamp)(void *user);
} drape_ode_linear;

/* What the vector r of drape_ode_system.filter is. */
typedef enum drape_ode_filtered {
    DRAPE_ODE_FILTER_RESIDUAL, /* the residual of a stage */
    DRAPE_ODE_FILTER_ERROR_X,  /* the estimated error of x, or of y */
    DRAPE_ODE_FILTER_ERROR_V   /* the estimated error of v */
} drape_ode_filtered;

DRAPE_API const char *drape_ode_filtered_name(drape_ode_filtered what); /* "residual", "error of x", "error of v" */

/* The state that a step has led to, for drape_ode_system.project. */
typedef struct drape_ode_projection {
    double t;         /* s, the end of the step */
    double h;         /* s, its length */
    double *x, *v;    /* to be changed in place; v is NULL for first order */
    double change[2]; /* to be set: Euclidean norms of the changes of x and of v; they are zero before the call */
    /* Earlier states that a multistep method keeps, the newest first; none for one-step methods. You may change them,
     * too, so that they lead to the changed state without a jump. Then set past_changed, and the method continues
     * with them instead of restarting. */
    int32_t past_count;
    double *past_x[DRAPE_ODE_MOST_STEPS + 2], *past_v[DRAPE_ODE_MOST_STEPS + 2];
    double past_time[DRAPE_ODE_MOST_STEPS + 2]; /* s */
    bool past_changed;
} drape_ode_projection;

/* A system whose unknowns are spread over several processes. Each process runs an integrator with the same settings
 * on its own unknowns, and on copies of others that its functions need. Integrators decide by norms and sums over all
 * processes. The functions of the system must do the rest. What they write to x, v and d must be the same in a copy
 * as in its original, and each function must return the same status on every process. What f, mass_times and filter
 * write to copies does not matter. For implicit multistep methods that are not DRAPE_ODE_MATRIX_FREE. */
typedef struct drape_ode_spread {
    int32_t range_count;
    const int64_t *range; /* two per range, ascending: the first index of x that counts here, and the end */
    int64_t size;         /* numbers of x that count, on all processes together */
    void *user;
    /* Replace *value by the sum or the largest over all processes, with the same bits everywhere. The largest is NaN
     * if one value is. */
    void (*sum)(void *user, double *value);
    void (*largest)(void *user, double *value);
    uint64_t reserved[4]; /* zero: reserved for later fields */
} drape_ode_spread;

/* A system of differential equations as a table of functions. Zero means: not given. */
typedef struct drape_ode_system {
    int32_t order; /* 1 or 2 */
    int64_t size;  /* n >= 1: numbers in y; in x and in v each */
    void *user;    /* passed to the functions below */
    /* out = f(t, x, v); first order: f(t, y) with y in x, v NULL. */
    drape_status (*f)(void *user, double t, const double *x, const double *v, double *out);
    /* Second order only: out = M in, and r = M^-1 r. Both NULL: M is the identity. Implicit methods need mass_times,
     * explicit ones mass_solve, tr-bdf2 both. */
    drape_status (*mass_times)(void *user, const double *in, double *out);
    drape_status (*mass_solve)(void *user, double *r);
    drape_ode_linear linear; /* implicit methods need prepare and solve, except DRAPE_ODE_MATRIX_FREE */

    /* The following fields may be NULL. */

    /* out = K p with K = df/dx. Second order: lets DRAPE_ODE_LINEARISED linearise at the present state, as Baraff and
     * Witkin do; without it at x = psi_x + c v. */
    drape_status (*stiffness_times)(void *user, const drape_ode_point *at, const double *p, double *out);
    /* A function of the stage's unknown (v, or y) whose gradient is -c f. For f = -grad V(x) - grad R(v) it is V(x) +
     * c R(v). For a first order system with f = -grad V(y) it is c V(y). The line search then goes down in the
     * incremental potential, (v - psi_v)' M (v - psi_v) / 2 + this; without it, in the norm of the residual. */
    drape_status (*potential)(void *user, const drape_ode_point *at, double *out);
    /* Whether `potential` is valid at present, since forces without a potential may come and go. Called with every
     * residual and correction. NULL: it is always valid. */
    bool (*has_potential)(void *user);
    /* Removes the forces of constraints from a residual r, or the prescribed parts from an error r, so that they do
     * not count. The solve is expected to return a d that keeps the constraints. Called once for each residual of a
     * stage; for errors, once for each step that is estimated. */
    void (*filter)(void *user, drape_ode_filtered what, double *r);
    /* Second order: sets those parts of v that are prescribed, so that at->x + at->c v is where it must be at the
     * time at->t (at->v is NULL). Called once per stage for the guess; corrections then keep these parts. Explicit
     * methods call it at the beginning of a step, and keep the parts of v for which mass_solve gives no acceleration.
     * Returns whether v was changed. */
    bool (*constrain)(void *user, const drape_ode_point *at, double *v);
    /* Changes the state after a step if the equations alone do not keep it admissible, for example because of a limit
     * of strain or a contact. Called once for each step that is kept, before it becomes the state; with
     * DRAPE_ERROR_NUMBER the step has failed. One-step methods continue from the changed state, and explicit ones
     * evaluate f there again. BDF methods, including implicit Euler, also use the states before it. They restart, as
     * after drape_ode_start, if change[0] or change[1] exceeds the Euclidean norm of the estimated local error of x
     * or of v. They do not restart if the states before were changed too (past_changed). With DRAPE_ODE_ERROR that is
     * the estimate that controls the step. Otherwise it is the same estimate, from the difference of predictor and
     * corrector. While there are few earlier states, it is the difference to a result of one order less. If there is
     * neither, as in the first step of implicit Euler, every change is a restart. */
    drape_status (*project)(void *user, drape_ode_projection *state);
    /* Called when an implicit stage begins, with its t and c. at->x are the positions (y) at that time, extrapolated
     * from the previous states with the order of the method. at->v is NULL. A force without a potential may have one
     * if some of its geometry is frozen at these positions; this does not reduce the order. f, prepare, solve and
     * potential must then freeze it until the end of the stage. The end is announced by a call with NULL, and at->x
     * is valid until then. Linearised steps and explicit methods do not call it. */
    void (*lag)(void *user, const drape_ode_point *at);
    /* The largest share in (0, 1] of a correction s that the line search may take. From at->x the positions move
     * along c s (y along s). 1: no bound. Not called with DRAPE_ODE_SEARCH_OFF. */
    double (*bound)(void *user, const drape_ode_point *at, const double *s);
    /* The eigenvalue (real, imaginary part, 1/s) of the first order form that limits explicit steps: one with the
     * largest modulus among those that do not grow. Explicit methods then refuse steps beyond their limit. */
    void (*stiffest)(void *user, double t, const double *x, const double *v, double lambda[2]);
    /* f and potential at the same point in one call, if that is cheaper than two calls. Newton's iteration uses it
     * wherever it needs both. The results must be the same except for rounding. */
    drape_status (*f_with_potential)(void *user, const drape_ode_point *at, double *out, double *potential);
    /* DRAPE_ODE_MATRIX_FREE: d = P^-1 r, where P approximates A = I - c J, or M - c D - c^2 K, at this point. P must
     * be the same for all calls of a linear solve; `moved` is true in the first call, when P may be recomputed. d
     * must satisfy the constraints, if there are any. NULL: the identity. */
    drape_status (*precondition)(void *user, const drape_ode_point *at, bool moved, const double *r, double *d);
    const drape_ode_spread *spread; /* must outlive the integrator; NULL: the whole system is on this process */
    uint64_t reserved[3];           /* zero: reserved for later fields */
} drape_ode_system;

/* ---- Methods ---- */

/* An explicit Runge-Kutta method by its Butcher table (19): k_i = f(t + c_i h, y + h sum_j a_ij k_j), y + h sum b_i
 * k_i. The arrays are not copied. */
typedef struct drape_ode_tableau {
    const char *name;
    int32_t stages;  /* 1..DRAPE_ODE_MOST_STAGES */
    int32_t order;   /* of b, >= 1 */
    const double *a; /* stages x stages row by row, strictly lower triangular */
    const double *b, *c;
    const double *embedded; /* weights of a second result of order embedded_order, for the error; NULL: none */
    int32_t embedded_order;
} drape_ode_tableau;

/* Names in the order of the table, and one line about each; NULL past the end. */
DRAPE_API const char *drape_ode_method_name(int32_t index);
DRAPE_API const char *drape_ode_method_about(int32_t index);
/* The order p of the error O(h^p); 0 if there is no such method, or for NULL. */
DRAPE_API int32_t drape_ode_method_order(const char *method);
/* Whether a step takes linear solves, and whether the method is for second order only; false if there is no such
 * method. */
DRAPE_API bool drape_ode_method_implicit(const char *method);
DRAPE_API bool drape_ode_method_second_order(const char *method);
/* The Butcher table of an explicit Runge-Kutta method; NULL if it is not one. */
DRAPE_API const drape_ode_tableau *drape_ode_method_tableau(const char *method);

/* ---- Settings: zero means the default in every field ---- */

/* How implicit methods solve their equations; numbers of algorithms are Hauth's (2004). */
typedef enum drape_ode_newton_kind {
    DRAPE_ODE_NEWTON_DEFAULT,   /* DRAPE_ODE_NEWTON; in a scene (drape/sim.h) DRAPE_ODE_INEXACT */
    DRAPE_ODE_NEWTON,           /* a new A in every iteration, solved tightly: Hauth's algorithm 1 */
    DRAPE_ODE_INEXACT,          /* algorithm 2: solved to a constant eta */
    DRAPE_ODE_EISENSTAT_WALKER, /* algorithm 2: eta follows the residual (their choice 2, with exponent 2) */
    DRAPE_ODE_SIMPLIFIED, /* algorithm 3: A is kept while it works, the stamp is the same and c is nearly the same;
                             solved to eta */
    DRAPE_ODE_LINEARISED, /* one iteration from the previous state, not checked: Baraff and Witkin */
    DRAPE_ODE_MATRIX_FREE /* Newton-Krylov: no Jacobian and no linear.solve; A times a vector is a difference of f,
                             and systems are solved by restarted GMRES to the eta of DRAPE_ODE_EISENSTAT_WALKER. Not
                             for scenes (drape/sim.h) */
} drape_ode_newton_kind;

/* "default", "newton", "inexact", "eisenstat-walker", "simplified", "linearised", "matrix-free"; NULL: not one of
 * them. */
DRAPE_API const char *drape_ode_newton_kind_name(drape_ode_newton_kind kind);

/* How far to go along a correction s of Newton's iteration. Corrections are halved until: */
typedef enum drape_ode_search {
    DRAPE_ODE_SEARCH_DEFAULT, /* DRAPE_ODE_SEARCH_DESCENT; in a scene (drape/sim.h) DRAPE_ODE_SEARCH_SLOPE */
    DRAPE_ODE_SEARCH_OFF,     /* never */
    DRAPE_ODE_SEARCH_DESCENT, /* the potential decreases if the system has one, else the norm of the residual G */
    DRAPE_ODE_SEARCH_SLOPE    /* the potential decreases, or without one, the slope G.s has shrunk or is still below
                                 0. For symmetric positive definite matrices: any potential with the gradient G
                                 then decreases along s, except for a small part */
} drape_ode_search;

/* "default", "off", "descent", "slope"; else NULL. */
DRAPE_API const char *drape_ode_search_name(drape_ode_search search);

/* Settings of Newton's method. Zero means the default in every field. */
typedef struct drape_ode_newton {
    drape_ode_newton_kind kind; /* default DRAPE_ODE_NEWTON */
    double eta;                 /* relative residual of linear solves, in (0, 1); default 0: 0.02, or 1e-10 for
                                   DRAPE_ODE_NEWTON and DRAPE_ODE_LINEARISED */
    int32_t max_iterations;     /* >= 1; default 20 */
    /* Converged if the remaining error of the unknown, estimated from the last correction and the rate, is below
     * atol + rtol |unknown| in the root mean square. Steps controlled by the error use a tenth of their own tolerance
     * instead, also for x. If `per` is set, it is a tenth of the step's share. */
    double rtol, atol;            /* default 1e-9, 1e-12 (unit of the unknown); negative: none, but not both */
    drape_ode_search line_search; /* default DRAPE_ODE_SEARCH_DESCENT */
    /* Where the iteration starts: from an extrapolation of the past states, or from the last of them. Default,
     * both false: from where the potential is lower, if the system has one; else from the extrapolation. */
    bool guess_from_state, guess_extrapolated;
    bool keep_unconverged; /* with DRAPE_ODE_FIXED: the last iterate of a stage that does not converge is kept, and
                              counted; default false: the run ends */
    /* For second order systems whose steps are not controlled by the error, in the unit of x. The iteration has
     * converged when no component of x is estimated to be farther than this from the solution of the stage. The
     * distance must also be at most 0.3 times the largest distance to the extrapolation from previous states. The
     * second bound is never below 0.003 of this. Smooth motion is thus solved more tightly than rough motion, whose
     * steps have the larger errors anyway. It replaces rtol and atol; with 0, the default, or a negative value,
     * these are used. */
    double tolerance;
    /* DRAPE_ODE_MATRIX_FREE: vectors of GMRES between restarts, each as long as the
     * unknown, 1..DRAPE_ODE_MOST_RESTART; default 0: 30. Products, one evaluation of f each, of one linear solve, >=
     * 1; default 0: 300. */
    int32_t restart, max_products;
    uint64_t reserved[2]; /* zero: reserved for later fields */
} drape_ode_newton;

/* How the length of steps is chosen. */
typedef enum drape_ode_control {
    DRAPE_ODE_FIXED,  /* steps of one length; a step that does not converge ends the run */
    DRAPE_ODE_ERROR,  /* by an estimate of the local error */
    DRAPE_ODE_NEWTONS /* by the number of Newton iterations, as Hauth proposes (3.4): no control of the error */
} drape_ode_control;

/* "fixed", "error", "newtons"; else NULL. */
DRAPE_API const char *drape_ode_control_name(drape_ode_control control);

/* Settings of an integrator. Zero means the default in every field. */
typedef struct drape_ode_settings {
    const char *method;               /* one of drape_ode_method_name; default "implicit-euler" */
    const drape_ode_tableau *tableau; /* an explicit Runge-Kutta method of your own instead; default NULL: none */
    drape_ode_control control;        /* default DRAPE_ODE_FIXED */
    double step;       /* s, >= 0: the step, or the first one; default 0: DRAPE_ODE_ERROR finds it, others need one */
    double rtol, atol; /* tolerance atol + rtol |y| of the local error; default 1e-3, 1e-6; negative: none, but not
                          both */
    double atol_v;     /* atol of v, second order; default 0, or negative: as atol; INFINITY: v does not count,
                          and the mean is over x alone */
    double min_step, max_step; /* s, of controlled steps; default 0: the smallest that the digits of t allow, and
                                  infinity */
    int64_t max_steps;         /* of one drape_ode_advance, >= 1; default 10,000,000 */
    int32_t few, many; /* DRAPE_ODE_NEWTONS: steps get longer after `few` iterations or fewer, and shorter after
                          `many` or more; default 2, 6 */
    drape_ode_newton newton;
    /* s, >= 0: the time that the tolerances of the error apply to; a step of h may use the fraction h / per of them.
     * Default 0: each step may use all. With atol = 1e-3 and per = 1.0 / 25, say, the errors that the steps add to x
     * are 1 mm in a frame, however many steps it has. */
    double per;
    /* Which measure of the errors, each relative to its tolerance, is kept below 1. true: the largest; default false:
     * the root mean square. Newton's iteration is then judged in the same way. */
    bool largest;
    /* Keeps what drape_ode_interpolate and drape_ode_watch need: at most five vectors more, and for BDF methods no
     * evaluation of f. It changes no bit of any step. Default false: neither can be called. */
    bool dense_output;
    /* bdf3 to bdf6 with fixed steps begin with one step, then two, and so on. Otherwise they begin with extrapolated
     * implicit Euler steps, which keep the order but need states that are smooth in h. Simulations with contact or a
     * limit of strain set it. Default: false. */
    bool begin_low;
    uint64_t reserved[6]; /* zero: reserved for later fields */
} drape_ode_settings;

/* Every field at its default, written out. */
DRAPE_API drape_ode_settings drape_ode_defaults(void);

/* ---- Stepping ---- */

/* Why stepping stopped. None of these is an error of the call. Except for DRAPE_ODE_DONE and DRAPE_ODE_EVENT, the
 * state is that after the last good step. */
typedef enum drape_ode_reason {
    DRAPE_ODE_DONE,
    DRAPE_ODE_NEWTON_LIMIT,    /* Newton's iteration reached its limit */
    DRAPE_ODE_NEWTON_DIVERGED, /* its corrections grew */
    DRAPE_ODE_SEARCH_FAILED,   /* no part of a correction went down */
    DRAPE_ODE_LINEAR_FAILED,   /* the linear solver failed, or the matrix was singular */
    DRAPE_ODE_NOT_FINITE,      /* f or the new state is not finite */
    DRAPE_ODE_UNSTABLE,        /* the step is beyond the stability limit of the explicit method */
    DRAPE_ODE_STEP_TOO_SMALL,  /* controlled steps reached min_step */
    DRAPE_ODE_STEP_LIMIT,      /* max_steps */
    DRAPE_ODE_EVENT            /* a terminal event of drape_ode_watch: the state is that at its time */
} drape_ode_reason;

DRAPE_API const char *drape_ode_reason_name(drape_ode_reason reason); /* for people: "done", ...; else NULL */

/* The work of an integrator since it was created. */
typedef struct drape_ode_counts {
    int64_t steps, rejected;
    int64_t f;         /* evaluations of f */
    int64_t newton;    /* iterations */
    int64_t jacobians; /* calls of prepare */
    int64_t linear_solves, linear_iterations;
    int64_t mass_solves, potentials;
    int64_t cuts;        /* corrections halved by the line search */
    int64_t unconverged; /* stages that were kept though Newton's iteration had not converged */
    int64_t projected;   /* steps after which `project` changed the state */
    int64_t restarts;    /* events after which the method restarted */
    uint64_t reserved[4];
} drape_ode_counts;

/* How a call that steps has ended. */
typedef struct drape_ode_result {
    drape_ode_reason reason;
    double t;            /* s, the time of the state */
    double step;         /* s, the last step */
    double error;        /* estimate of its local error over the tolerance; -1 if there is none */
    int32_t newton;      /* Newton iterations of the last step */
    double newton_error; /* estimate of the error that Newton's iteration left in it, over newton.rtol and atol; the
                            largest of its stages; 0 for explicit methods, -1 if it was not estimated */
    /* Stages of this call that newton.keep_unconverged kept, and why the last of them stopped:
     * DRAPE_ODE_NEWTON_LIMIT, DRAPE_ODE_NEWTON_DIVERGED or DRAPE_ODE_SEARCH_FAILED; DRAPE_ODE_DONE: there was none.
     */
    int32_t unconverged;
    drape_ode_reason forgiven;
    int64_t worst; /* if Newton's iteration did not converge: the index of the unknown (v, or y) that its last
                      correction changed most; else -1 */
    int64_t event; /* with DRAPE_ODE_EVENT: the index of the event that ended the run; else -1 */
    uint64_t reserved[6];
} drape_ode_result;

/* An integrator with its state. */
typedef struct drape_ode drape_ode;

/* settings may be NULL for the defaults. The system's table is copied; what it points to is not, and must outlive the
 * integrator. */
DRAPE_API drape_status drape_ode_create(drape_context *ctx, const drape_ode_system *system,
                                        const drape_ode_settings *settings, drape_ode **out);
DRAPE_API void drape_ode_destroy(drape_ode *ode); /* NULL is fine */

/* Sets time and state (copied), and forgets earlier states; the counts stay. v: second order only, else NULL. */
DRAPE_API drape_status drape_ode_start(drape_ode *ode, double t, const double *x, const double *v);

/* Takes one step of exactly h > 0 seconds, whatever the control. Multistep methods take steps of any length. result
 * may be NULL in all three functions. */
DRAPE_API drape_status drape_ode_step(drape_ode *ode, double h, drape_ode_result *result);
/* Takes one good step under the control, not beyond the time `limit`, which is hit exactly. With DRAPE_ODE_FIXED it
 * has the length settings.step. */
DRAPE_API drape_status drape_ode_next(drape_ode *ode, double limit, drape_ode_result *result);
/* Steps to t = end exactly. With DRAPE_ODE_FIXED the steps are equal, and no longer than settings.step. */
DRAPE_API drape_status drape_ode_advance(drape_ode *ode, double end, drape_ode_result *result);

/* The current time and state, and the cost so far. Vectors are valid until the next call that steps or starts. */
DRAPE_API double drape_ode_time(const drape_ode *ode);     /* s */
DRAPE_API const double *drape_ode_x(const drape_ode *ode); /* y of a first order system */
DRAPE_API const double *drape_ode_v(const drape_ode *ode); /* NULL for first order */
DRAPE_API drape_ode_counts drape_ode_count(const drape_ode *ode);
/* The last implicit stage that was solved, as Newton's iteration left it. For a second order system, x = psi + c v
 * and M (v - psi_v) = c f(t, x, v), up to the remaining residual and the held parts. For a first order system x is y,
 * and y = psi + c f(t, y). Vectors are valid until the next call that steps or starts. */
typedef struct drape_ode_stage {
    int64_t number;         /* stages so far, since the integrator was created */
    double t, c;            /* s; c is 0 and all vectors are NULL if there was none, or it was linearised */
    const double *x, *v;    /* its solution */
    const double *psi;      /* the part of x from earlier states */
    const double *psi_v;    /* the part of v from earlier states; NULL for first order, as v */
    const double *lagged_x; /* what drape_ode_system.lag was given; NULL: it was not called */
    uint64_t reserved[4];
} drape_ode_stage;
DRAPE_API drape_ode_stage drape_ode_last_stage(const drape_ode *ode);

/* For fixed steps of implicit methods that do not damp motion the step does not resolve (bdf3 to bdf6,
 * implicit-midpoint). While `on`, steps are those of bdf2 and of implicit-euler, which damp it. Earlier states are
 * kept. It is meant for a caller that sees energy grow without a cause. It does not affect other methods, and
 * drape_ode_save does not store it. */
DRAPE_API void drape_ode_damp(drape_ode *ode, bool on);

/* Why the last call stopped, in words with numbers, one line: "the step of 0.2 s is unstable: ..."; empty if it
 * reached its end. Never NULL. */
DRAPE_API const char *drape_ode_explain(const drape_ode *ode);

/* ---- Dense output: the solution inside the last step ---- */

/* The times in seconds that drape_ode_interpolate covers: the last step that was kept. false: there is none, as after
 * drape_ode_start, drape_ode_restore or a step that failed, or without settings.dense_output. */
DRAPE_API bool drape_ode_last_step(const drape_ode *ode, double *begin, double *end);

/* The solution at a time t of the last step, including both ends, where it equals the state exactly. x (y of a first
 * order system) and v have `size` numbers each; either may be NULL. What it interpolates with, and its order:
 *
 *   dormand-prince                    its own polynomial of degree 4, from the stages; error O(h^5) in a step
 *   other explicit methods, tr-bdf2   the Hermite cubic of values and slopes at both ends; O(h^4)
 *   implicit-midpoint                 x: the Hermite cubic of x and v, here a parabola; v and y: a line; O(h^2)
 *   implicit-euler, bdf2 to bdf6      the polynomial of the method, through as many states; O(h^(k+1))
 *
 * so that it has the order of the method, except in the first step of bdf4 to bdf6. The first steps of a method of k
 * steps (drape_ode_step and the like, not under DRAPE_ODE_ERROR) use states and slopes: O(h^3) in the first, O(h^5)
 * in the second. Steps that error control has taken in two halves use the state between them, too. If `project`
 * changed the end of a step, the solution leads to the changed state. Explicit methods may evaluate f at the new
 * state, which the next step then does not; DRAPE_ERROR_NUMBER if that fails. */
DRAPE_API drape_status drape_ode_interpolate(drape_ode *ode, double t, double *x, double *v);

/* ---- Events: times at which functions g_i(t, x, v) change their sign ---- */

/* Which changes of sign are events. */
typedef enum drape_ode_direction {
    DRAPE_ODE_BOTH,    /* any change of sign */
    DRAPE_ODE_RISING,  /* from below zero */
    DRAPE_ODE_FALLING, /* from above */
} drape_ode_direction;

/* An event that was found. */
typedef struct drape_ode_event {
    int32_t index;       /* i of g_i */
    bool rising;         /* g_i went from below zero to zero or above; else the other way */
    bool terminal;       /* the run ends here */
    double t;            /* s */
    const double *x, *v; /* the solution there; v is NULL for first order. Valid during the call */
    uint64_t reserved[2];
} drape_ode_event;

/* The functions whose changes of sign are events. */
typedef struct drape_ode_events {
    int32_t count; /* of functions, 1..DRAPE_ODE_MOST_EVENTS */
    void *user;    /* passed to the functions below */
    /* g[i] = g_i(t, x, v) for all i; first order: y in x, v NULL. It is called at the ends of every step, and inside
     * where a sign changes. Returns as the functions of a system do. */
    drape_status (*g)(void *user, double t, const double *x, const double *v, double *g);
    const drape_ode_direction *direction; /* `count` of them, copied; NULL: DRAPE_ODE_BOTH for all */
    const bool *terminal;                 /* `count` of them, copied; NULL: none is */
    /* Called for each event in the order of time, when its step is kept; NULL: not called. Any other status than
     * DRAPE_OK ends the call that steps, which returns it. It must not step or start the integrator. */
    drape_status (*report)(void *user, const drape_ode_event *event);
    double tolerance; /* s, >= 0: how closely events are located; default 0: 1e-10 of the step. Never closer than the
                         digits of t allow */
    uint64_t reserved[4]; /* zero: reserved for later fields */
} drape_ode_events;

enum { DRAPE_ODE_MOST_EVENTS = 1024 };

/* Makes every later step look for events; NULL stops this. Needs settings.dense_output. The table is copied.
 *
 * If the signs of g_i differ at the ends of a step, the event is located on the interpolated solution
 * (drape_ode_interpolate). The time is the end of the bracket: there g_i(t) is zero or has the new sign. Several
 * events of a step are reported in the order of time, those at the same time by index. A terminal event ends the call
 * with DRAPE_ODE_EVENT; the state is then that at its time, later events of the step are not reported, and multistep
 * methods restart there. The run continues with the next call, or from a state of your own, by drape_ode_start.
 *
 * Not found: a g_i that touches zero without changing its sign, or changes it twice within one step; a max_step
 * helps. A g_i that is zero where the run starts is not reported. After drape_ode_start at the time of a terminal
 * event, as for a bouncing ball, that event is not reported again: the initial sign is then taken twice the tolerance
 * later. A g_i that is NaN has no sign.
 *
 * drape_ode_save does not store events. They stay with the integrator, or you set them again after drape_ode_restore.
 * Events that are found after that have the same bits. */
DRAPE_API drape_status drape_ode_watch(drape_ode *ode, const drape_ode_events *events);

/* ---- Saving and restoring ---- */

/* Bytes that drape_ode_save writes: always the same number for an integrator, and a multiple of 8. */
DRAPE_API int64_t drape_ode_save_size(const drape_ode *ode);
/* How many of these bytes are a head, which is the same on all processes of a system that is spread. The rest are
 * vectors of `size` doubles. Before they are restored, they may be divided over the processes in another way. */
DRAPE_API int64_t drape_ode_save_head(const drape_ode *ode);
/* Writes state, earlier states, control and counts to memory of the caller. DRAPE_ODE_SIMPLIFIED drops its matrix
 * here, so that this integrator and one that restores the bytes continue with the same bits; other kinds of Newton's
 * method keep none. */
DRAPE_API void drape_ode_save(drape_ode *ode, void *out);
/* Restores what was saved into an integrator with the same method, system and settings, which then continues as the
 * saved one does; drape_ode_start is not needed. DRAPE_ERROR_FORMAT: the bytes do not fit or are damaged, and nothing
 * has changed. The bytes have no checksum; add your own when you store them. */
DRAPE_API drape_status drape_ode_restore(drape_ode *ode, const void *data, int64_t bytes);

/* ---- Stability, measured by stepping ---- */

/* One step of a method for y' = lambda y with z = h lambda: Y_1 = sum_j factor[j] Y_-j. */
typedef struct drape_ode_stability {
    int32_t steps;                          /* 1 for one-step methods: factor[0] is R(z) of (28) */
    double factor[DRAPE_ODE_MOST_STEPS][2]; /* real and imaginary part */
    double radius;                          /* |R|; spectral radius of the companion matrix: <= 1 is stable */
    uint64_t reserved[4];
} drape_ode_stability;

/* z = re + i im. Only method and tableau of the settings are used. A method for second order only is an error. */
DRAPE_API drape_status drape_ode_stability_at(drape_context *ctx, const drape_ode_settings *settings, double re,
                                              double im, drape_ode_stability *out);
/* Spectral radius of one step of x'' = -stiffness x - damping v with h = 1. One-step methods only. */
DRAPE_API drape_status drape_ode_stability_oscillator(drape_context *ctx, const drape_ode_settings *settings,
                                                      double stiffness, double damping, double *radius);

/* ---- Dense matrices, for small systems ---- */

/* `jacobian` fills the Jacobians at a point, n x n row by row: K = df/dx (first order: df/dy), D = df/dv (NULL for
 * first order). Both are zero before the call. */
typedef struct drape_ode_dense_settings {
    int32_t order, size; /* as in the system; size 1..2048 */
    void *user;
    drape_status (*jacobian)(void *user, double t, const double *x, const double *v, double *K, double *D);
    const double *mass;            /* M, n x n, copied; NULL: the identity */
    uint64_t (*stamp)(void *user); /* may be NULL */
    uint64_t reserved[4];          /* zero: reserved for later fields */
} drape_ode_dense_settings;

/* A dense matrix and its factorisation. */
typedef struct drape_ode_dense drape_ode_dense;

/* LU with partial pivoting. */
DRAPE_API drape_status drape_ode_dense_create(drape_context *ctx, const drape_ode_dense_settings *settings,
                                              drape_ode_dense **out);
DRAPE_API void drape_ode_dense_destroy(drape_ode_dense *dense); /* NULL is fine */
/* The functions for drape_ode_system.linear; valid as long as dense is. */
DRAPE_API drape_ode_linear drape_ode_dense_linear(drape_ode_dense *dense);

#ifdef __cplusplus
}
#endif

#endif
