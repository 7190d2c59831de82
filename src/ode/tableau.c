/* tableau.c: Butcher tables of explicit Runge-Kutta methods, as in Hauth's (19) and table 1.
 *
 * Table 2 of the survey lost its columns in print; the right ones stand here. Bogacki and Shampine 1989 and Dormand
 * and Prince 1980 are the usual pairs; both evaluate f last at the new state, where the next step begins. */
#include "ode/ode.h"

#include <math.h>

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
