/* one_step.c: the methods that use no state before the present one: explicit Runge-Kutta methods from their Butcher
 * tables, the Stoermer-Verlet method, and the implicit midpoint rule. */
#include "ode/ode.h"

#include <math.h>
#include <string.h>

/* ---- Butcher tables, as in Hauth's (19) and table 1 ----
 *
 * Table 2 of the survey lost its columns in print; the right ones are here. Bogacki and Shampine 1989 and Dormand
 * and Prince 1980 are the usual pairs; both evaluate f last at the new state, where the next step begins. */

const drape_ode_tableau drape_i_ode_explicit_euler = {
    "explicit-euler", 1, 1, (const double[]){0}, (const double[]){1}, (const double[]){0}, NULL, 0};

const drape_ode_tableau drape_i_ode_explicit_midpoint = {
    "explicit-midpoint",      2,    2, (const double[]){0, 0, 0.5, 0}, (const double[]){0, 1},
    (const double[]){0, 0.5}, NULL, 0};

/* clang-format off */
const drape_ode_tableau drape_i_ode_rk4 = {
    "rk4", 4, 4,
    (const double[]){0,   0,   0, 0,
                     0.5, 0,   0, 0,
                     0,   0.5, 0, 0,
                     0,   0,   1, 0},
    (const double[]){1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6},
    (const double[]){0, 0.5, 0.5, 1},
    NULL, 0};

const drape_ode_tableau drape_i_ode_bogacki_shampine = {
    "bogacki-shampine", 4, 3,
    (const double[]){0,       0,       0,       0,
                     0.5,     0,       0,       0,
                     0,       0.75,    0,       0,
                     2.0 / 9, 1.0 / 3, 4.0 / 9, 0},
    (const double[]){2.0 / 9, 1.0 / 3, 4.0 / 9, 0},
    (const double[]){0, 0.5, 0.75, 1},
    (const double[]){7.0 / 24, 0.25, 1.0 / 3, 0.125}, 2};

const drape_ode_tableau drape_i_ode_dormand_prince = {
    "dormand-prince", 7, 5,
    (const double[]){0,              0,               0,              0,            0,               0,         0,
                     0.2,            0,               0,              0,            0,               0,         0,
                     3.0 / 40,       9.0 / 40,        0,              0,            0,               0,         0,
                     44.0 / 45,      -56.0 / 15,      32.0 / 9,       0,            0,               0,         0,
                     19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729, 0,               0,         0,
                     9017.0 / 3168,  -355.0 / 33,     46732.0 / 5247, 49.0 / 176,   -5103.0 / 18656, 0,         0,
                     35.0 / 384,     0,               500.0 / 1113,   125.0 / 192,  -2187.0 / 6784,  11.0 / 84, 0},
    (const double[]){35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84, 0},
    (const double[]){0, 0.2, 0.3, 0.8, 8.0 / 9, 1, 1},
    (const double[]){5179.0 / 57600, 0, 7571.0 / 16695, 393.0 / 640, -92097.0 / 339200, 187.0 / 2100, 1.0 / 40}, 4};
/* clang-format on */

/* The continuous extension of Dormand and Prince's pair, d of interpolate.c. Its conditions there leave one number
 * free, for which d_7 is taken as in Hairer, Noersett and Wanner I, II.6 (their program DOPRI5). */
const double drape_i_ode_dormand_prince_extension[7] = {-12715105075.0 / 11282082432,  0,
                                                        87487479700.0 / 32700410799,   -10690763975.0 / 1880347072,
                                                        701980252875.0 / 199316789632, -1453857185.0 / 822651844,
                                                        69997945.0 / 29380423};

#define ROUNDING 1e-12 /* of coefficients given with all their digits */

static bool sums_to(const double *values, int32_t count, double want) {
    double sum = 0;
    for (int32_t i = 0; i < count; i++) sum += values[i];
    return fabs(sum - want) <= ROUNDING; /* false for what is not finite */
}

static drape_status check_rows(drape_context *ctx, const drape_ode_tableau *T) {
    for (int32_t i = 0; i < T->stages; i++) {
        const double *row = T->a + (int64_t)i * T->stages;
        for (int32_t j = i; j < T->stages; j++)
            if (row[j] != 0)
                return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                                    "Butcher table: a[%d][%d] = %g, but an explicit one has zeros on and above the "
                                    "diagonal",
                                    i, j, row[j]);
        if (!sums_to(row, T->stages, T->c[i]))
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "Butcher table: row %d of a does not sum to c[%d] = %g", i,
                                i, T->c[i]);
    }
    return DRAPE_OK;
}

drape_status drape_i_ode_tableau_check(drape_context *ctx, const drape_ode_tableau *T) {
    if (T->stages < 1 || T->stages > DRAPE_ODE_MOST_STAGES)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "Butcher table: %d stages, where 1 to %d are possible",
                            T->stages, DRAPE_ODE_MOST_STAGES);
    if (!T->a || !T->b || !T->c)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "Butcher table: a, b or c is missing");
    if (T->order < 1 || T->order > T->stages ||
        (T->embedded && (T->embedded_order < 1 || T->embedded_order > T->stages)))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "Butcher table: order %d (embedded %d) with %d stages",
                            T->order, T->embedded_order, T->stages);
    if (!sums_to(T->b, T->stages, 1) || (T->embedded && !sums_to(T->embedded, T->stages, 1)))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "Butcher table: the weights do not sum to 1");
    return check_rows(ctx, T);
}

/* ---- Explicit Runge-Kutta methods, Hauth's (19) ----
 *
 *   k'_i = F(t + c_i h, Y + h sum_{j<i} a_ij k'_j),   next = Y + h sum b_i k'_i,   error = h sum (b_i - e_i) k'_i
 *
 * Where the last row of a is b the last stage is taken at the new state, and is the first of the next step. */

static drape_i_ode_sum weighted_stages(const drape_ode *ode, double h, const double *weight) {
    drape_i_ode_sum sum = {0};
    for (int32_t j = 0; j < ode->method.tableau->stages; j++) drape_i_ode_sum_add(&sum, h * weight[j], ode->stage[j]);
    return sum;
}

/* out = past[0] + h sum weight[j] stage[j] */
static void advance(drape_ode *ode, double h, const double *weight, double *out) {
    drape_i_ode_sum sum = weighted_stages(ode, h, weight);
    drape_i_ode_sum_add(&sum, 1, ode->past[0]);
    drape_i_ode_sum_form(ode->ctx, &sum, ode->length, out);
}

static bool ends_at_next(const drape_ode_tableau *T) {
    const double *last = T->a + (int64_t)(T->stages - 1) * T->stages;
    return T->stages > 1 && memcmp(last, T->b, (size_t)T->stages * sizeof *last) == 0;
}

static void estimate(drape_ode *ode, double h) {
    const drape_ode_tableau *T = ode->method.tableau;
    double difference[DRAPE_ODE_MOST_STAGES];
    for (int32_t i = 0; i < T->stages; i++) difference[i] = T->b[i] - T->embedded[i];
    drape_i_ode_sum sum = weighted_stages(ode, h, difference);
    drape_i_ode_sum_form(ode->ctx, &sum, ode->length, ode->error);
    ode->error_order = T->order < T->embedded_order ? T->order : T->embedded_order;
    ode->error_known = true;
}

drape_status drape_i_ode_explicit_step(drape_ode *ode, double h, drape_ode_reason *reason) {
    const drape_ode_tableau *T = ode->method.tableau;
    drape_status status = DRAPE_OK;
    ode->stage[0] = ode->slope;
    if (!ode->slope_known) status = drape_i_ode_derivative(ode, ode->t, ode->past[0], ode->slope, reason);
    if (status || *reason) return status;
    ode->slope_known = true;
    for (int32_t i = 1; i < T->stages; i++) {
        advance(ode, h, T->a + (int64_t)i * T->stages, ode->stage_state);
        status = drape_i_ode_derivative(ode, ode->t + T->c[i] * h, ode->stage_state, ode->stage[i], reason);
        if (status || *reason) return status;
    }
    advance(ode, h, T->b, ode->next);
    if (T->embedded && ode->wants_error) estimate(ode, h);
    ode->next_slope_known = ends_at_next(T);
    if (ode->next_slope_known) { /* the vectors change roles; what next_slope held is not needed any more */
        double *last = ode->stage[T->stages - 1];
        ode->stage[T->stages - 1] = ode->next_slope;
        ode->next_slope = last;
    }
    return DRAPE_OK;
}

/* ---- The Stoermer-Verlet or leapfrog method for M x'' = f, Hauth's (41) and (42) ----
 *
 *   v_{n+1/2} = v_{n-1/2} + h a_n,   x_{n+1} = x_n + h v_{n+1/2},   a_n = M^-1 f(t_n, x_n, v_{n-1/2})
 *
 * written so that v at whole steps is there too: each kick h a_n is given in two halves, v_n between them. The first
 * half kick from v_0 is the start that the survey's (44) and (45) leave out, and without which the order is 1.
 *
 * Forces that depend on the velocity get that of half a step ago: the method stays explicit, and becomes of order 1.
 * One evaluation a step: slope keeps a_n in its v part. */

/* next = (x + h (v + h/2 a), v + h/2 a) */
static void kick_and_drift(drape_ode *ode, double h) {
    int64_t n = ode->size;
    double *x = ode->past[0], *v = x + n, *a = ode->slope + n;
    drape_i_ode_sum half = {0}, drift = {0};
    drape_i_ode_sum_add(&half, 1, v);
    drape_i_ode_sum_add(&half, 0.5 * h, a);
    drape_i_ode_sum_form(ode->ctx, &half, n, ode->next + n);
    drape_i_ode_sum_add(&drift, 1, x);
    drape_i_ode_sum_add(&drift, h, ode->next + n);
    drape_i_ode_sum_form(ode->ctx, &drift, n, ode->next);
}

drape_status drape_i_ode_verlet_step(drape_ode *ode, double h, drape_ode_reason *reason) {
    int64_t n = ode->size;
    drape_status status = DRAPE_OK;
    if (!ode->slope_known) status = drape_i_ode_derivative(ode, ode->t, ode->past[0], ode->slope, reason);
    if (status || *reason) return status;
    ode->slope_known = true;
    kick_and_drift(ode, h);
    status = drape_i_ode_derivative(ode, ode->t + h, ode->next, ode->next_slope, reason);
    if (status || *reason) return status;
    ode->next_slope_known = true;
    drape_i_ode_sum kick = {0};
    drape_i_ode_sum_add(&kick, 1, ode->next + n);
    drape_i_ode_sum_add(&kick, 0.5 * h, ode->next_slope + n);
    drape_i_ode_sum_form(ode->ctx, &kick, n, ode->next + n);
    return DRAPE_OK;
}

/* ---- The implicit midpoint rule, Hauth's (32) ----
 *
 * With Y = (Y_0 + Y_1)/2 it is an implicit Euler step of h/2 and an explicit one,
 *
 *   Y = Y_0 + h/2 F(t + h/2, Y),   Y_1 = 2 Y - Y_0.
 *
 * Prescribed values of x hold at the ends of steps. v between them is (x_1 - x_0)/h, and 2 v - v_0 would oscillate
 * from step to step. So v at the end is taken to be the same. */

static drape_status implicit_euler_step(drape_ode *ode, double h, drape_ode_reason *reason) {
    drape_i_ode_stage whole = {.t = ode->t + h, .c = h};
    drape_i_vector_copy(ode->ctx, ode->length, ode->past[0], ode->newton.psi);
    drape_i_ode_guess(ode, h, 1);
    drape_status status = drape_i_ode_solve(ode, &whole, reason);
    if (!status && !*reason) drape_i_vector_copy(ode->ctx, ode->length, ode->newton.Y, ode->next);
    return status;
}

drape_status drape_i_ode_midpoint_step(drape_ode *ode, double h, drape_ode_reason *reason) {
    if (ode->damped) return implicit_euler_step(ode, h, reason);
    drape_i_ode_stage half = {ode->t + 0.5 * h, 0.5 * h, ode->t + h, h};
    drape_i_vector_copy(ode->ctx, ode->length, ode->past[0], ode->newton.psi);
    drape_i_ode_guess(ode, h, 0.5);
    drape_status status = drape_i_ode_solve(ode, &half, reason);
    if (status || *reason) return status;
    drape_i_ode_sum sum = {0};
    drape_i_ode_sum_add(&sum, 2, ode->newton.Y);
    drape_i_ode_sum_add(&sum, -1, ode->past[0]);
    drape_i_ode_sum_form(ode->ctx, &sum, ode->length, ode->next);
    drape_i_ode_prescribe(ode, ode->t + h, h, ode->past[0], ode->next);
    return DRAPE_OK;
}
