/* control.c: the length of steps from an estimate of the local error.
 *
 * Methods without an estimate of their own are stepped twice: once h, giving `big`, and twice h/2, giving next, which
 * is kept. With order p the error of next is about (next - big) / (2^p - 1).
 *
 * The controller is proportional-integral (Soederlind's PI.4.2): with errors over the tolerance e_n, e_{n-1} and
 * q = order + 1,  h_{n+1} = 0.9 h_n (e_n^3 / e_{n-1})^{-1/(5 q)}. Where the tolerance of a step is a share of h /
 * per, errors over it grow with one power of h less, and q = order. Roots come from arithmetic alone: libm's pow
 * differs from machine to machine. */
#include "ode/ode.h"

#include <float.h>
#include <math.h>

static const double SAFETY = 0.9, LEAST_FACTOR = 0.2, MOST_FACTOR = 5, LEAST_ERROR = 1e-8;
/* Of multistep methods: longer by no more than 2 (BDF2 stays stable up to 1 + sqrt 2); hardly longer is not worth it.
 */
static const double MOST_FACTOR_BDF = 2, WORTH_IT = 1.1;

double drape_i_ode_root(double x, int32_t degree) {
    int exponent;
    frexp(x, &exponent); /* x < 2^exponent, so what follows starts above the root, and falls towards it */
    int above = exponent / degree + (exponent % degree > 0);
    double y = ldexp(1, above), before;
    do {
        double power = 1;
        for (int32_t i = 1; i < degree; i++) power *= y;
        before = y;
        y -= (y - x / power) / degree;
    } while (y < before);
    return before;
}

/* The power of h with which errors over the tolerance grow. */
static int32_t growth(const drape_ode *ode, int32_t order) { return ode->settings.per > 0 ? order : order + 1; }

double drape_i_ode_norm(drape_ode *ode, const drape_i_ode_gauge *g, const drape_i_ode_measured *e) {
    int64_t all = ode->system.spread ? ode->system.spread->size : ode->size, count = all;
    double x = drape_i_ode_weigh(ode, g->largest, e->factor, e->x, e->Y, g->rtol, g->atol), v = 0;
    if (drape_i_ode_is_second(ode) && !isinf(g->atol_v)) {
        v = drape_i_ode_weigh(ode, g->largest, 1, e->v, e->Y + ode->size, g->rtol, g->atol_v);
        count = 2 * all;
    }
    if (g->largest) return isnan(x) || x > v ? x : v;
    return sqrt((x + v) / (double)count);
}

/* |e| over the whole tolerance of the local error. */
static double error_norm(drape_ode *ode, const double *e) {
    const drape_ode_settings *s = &ode->settings;
    const drape_i_ode_gauge gauge = {s->rtol, s->atol, s->atol_v > 0 ? s->atol_v : s->atol, s->largest};
    return drape_i_ode_norm(ode, &gauge, &(drape_i_ode_measured){ode->past[0], e, e + ode->size, 1});
}

static void swap(double **a, double **b) {
    double *kept = *a;
    *a = *b;
    *b = kept;
}

/* The estimate by stepping twice: next is left h after past[0], as one step leaves it. */
static drape_status step_twice(drape_ode *ode, double h, drape_ode_reason *reason) {
    double t = ode->t, share = 1.0 / (double)((1 << ode->method.order) - 1);
    drape_status status = drape_i_ode_try(ode, h, reason);
    if (status || *reason) return status;
    swap(&ode->next, &ode->big);
    drape_i_ode_keep_start(ode);
    status = drape_i_ode_try(ode, 0.5 * h, reason);
    if (status || *reason) return status;
    drape_i_ode_push(ode, 0.5 * h);
    ode->t = t + 0.5 * h;
    status = drape_i_ode_try(ode, 0.5 * h, reason);
    ode->t = t;
    bool slope = ode->next_slope_known;
    drape_i_ode_keep_middle(ode);
    drape_i_ode_pop(ode);
    ode->next_slope_known = slope;
    if (status || *reason) return status;
    drape_i_ode_sum sum = {0};
    drape_i_ode_sum_add(&sum, share, ode->next);
    drape_i_ode_sum_add(&sum, -share, ode->big);
    drape_i_ode_sum_form(ode->ctx, &sum, ode->length, ode->error);
    ode->error_order = ode->method.order;
    ode->error_known = true;
    return DRAPE_OK;
}

void drape_i_ode_filter_error(drape_ode *ode) {
    const drape_ode_system *system = &ode->system;
    if (!system->filter) return;
    system->filter(system->user, DRAPE_ODE_FILTER_ERROR_X, ode->error);
    if (drape_i_ode_is_second(ode)) system->filter(system->user, DRAPE_ODE_FILTER_ERROR_V, ode->error + ode->size);
}

drape_status drape_i_ode_try_with_error(drape_ode *ode, double h, double *error, drape_ode_reason *reason) {
    drape_status status = DRAPE_OK;
    *reason = DRAPE_ODE_DONE;
    ode->control.share = ode->settings.per > 0 ? h / ode->settings.per : 1;
    bool first = ode->method.multistep && ode->past_count == 1;
    if (first && !ode->slope_known) {
        status = drape_i_ode_derivative(ode, ode->t, ode->past[0], ode->slope, reason);
        ode->slope_known = !status && !*reason;
    }
    if (status || *reason) return status;
    status = ode->method.estimates ? drape_i_ode_try(ode, h, reason) : step_twice(ode, h, reason);
    if (status || *reason) return status;
    if (ode->error_known) drape_i_ode_filter_error(ode);
    *error = ode->error_known ? error_norm(ode, ode->error) / ode->control.share : 1;
    return DRAPE_OK;
}

/* (e^3 / before)^(-1/(5q)) */
static double controller(double error, double before, int32_t q) {
    double e = error > LEAST_ERROR ? error : LEAST_ERROR, b = before > LEAST_ERROR ? before : LEAST_ERROR;
    return 1 / drape_i_ode_root(e * e * e / b, 5 * q);
}

/* Multistep methods of three and more steps lose stability where lengths change too often. */
static double tame(const drape_ode *ode, double factor) {
    if (!ode->method.multistep) return factor;
    int32_t steps = ode->error_order;
    if (factor > 1 && steps > 2 && ode->control.equal < steps) return 1;
    if (factor > 1 && factor < WORTH_IT) return 1;
    return factor > MOST_FACTOR_BDF && ode->past_count > 2 ? MOST_FACTOR_BDF : factor;
}

double drape_i_ode_propose(drape_ode *ode, double h, double error, bool accepted) {
    int32_t q = growth(ode, ode->error_order);
    drape_i_ode_control_memory *c = &ode->control;
    double factor;
    if (!isfinite(error)) return LEAST_FACTOR * h;
    if (accepted) {
        factor = SAFETY * controller(error, c->error > 0 ? c->error : error, q);
        if (c->after_reject && factor > 1) factor = 1;
        factor = tame(ode, factor);
        c->error = error > LEAST_ERROR ? error : LEAST_ERROR;
    } else {
        factor = SAFETY / drape_i_ode_root(error, q);
    }
    if (factor > MOST_FACTOR) factor = MOST_FACTOR;
    return h * (factor < LEAST_FACTOR ? LEAST_FACTOR : factor);
}

/* Hairer, Noersett and Wanner I, II.4: from the sizes of Y, F and, by one explicit Euler step, of Y''. */
drape_status drape_i_ode_first_step(drape_ode *ode, double limit, double *h, drape_ode_reason *reason) {
    double left = limit - ode->t;
    bool multistep = ode->method.multistep;
    drape_status status = DRAPE_OK;
    if (!ode->slope_known) status = drape_i_ode_derivative(ode, ode->t, ode->past[0], ode->slope, reason);
    if (status || *reason) return status;
    ode->slope_known = true;
    double size = error_norm(ode, ode->past[0]), speed = error_norm(ode, ode->slope);
    double small = size < 1e-5 || speed < 1e-5 ? 1e-6 * left : 0.01 * size / speed;
    if (!(small < left)) small = 0.01 * left;
    drape_i_ode_sum euler = {0}, bend = {0};
    drape_i_ode_sum_add(&euler, 1, ode->past[0]);
    drape_i_ode_sum_add(&euler, small, ode->slope);
    drape_i_ode_sum_form(ode->ctx, &euler, ode->length, ode->next);
    status = drape_i_ode_derivative(ode, ode->t + small, ode->next, ode->big, reason);
    if (status || *reason) return status;
    drape_i_ode_sum_add(&bend, 1 / small, ode->big);
    drape_i_ode_sum_add(&bend, -1 / small, ode->slope);
    drape_i_ode_sum_form(ode->ctx, &bend, ode->length, ode->error);
    double curvature = error_norm(ode, ode->error), most = curvature > speed ? curvature : speed;
    int32_t q = growth(ode, multistep ? 1 : ode->method.order);
    if (ode->settings.per > 0) most *= ode->settings.per;
    double guess = most < 1e-15 ? left : drape_i_ode_root((multistep ? 0.5 : 0.01) / most, q);
    *h = guess < 100 * small ? guess : 100 * small;
    if (!isfinite(*h) || *h <= 0) *h = 1e-6 * left;
    return DRAPE_OK;
}
