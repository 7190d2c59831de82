/* stopping.c: norms against tolerances, and the energy norm of the error without knowing the error.
 *
 * In exact arithmetic iteration j of CG takes g_j = alpha_j delta_j off the squared energy norm of the error, so the
 * error before it is e_j^2 = g_j + g_{j+1} + ... (Strakos and Tichy 2002: it holds in floating point too), of which
 * the sum up to now, C_j, is nearly all for iterations j well before now. The gains still to come are extrapolated in
 * the spirit of Meurant, Papez and Tichy (2021), who bound them by the last gain times the largest C_j / g_j of the
 * near past. Here it is delta = r'P^-1 r now times the largest C_j / delta_j of the near past: e^2 / delta lies
 * between the inverses of the largest and the smallest eigenvalue of P^-1 A and changes slowly, and delta is smoother
 * than the gains. Over 720 solves of cloth systems to four tolerances the true error ended between tol/20 and 2 tol
 * in 99.1 % (with the last gain in 97.9 %).
 *
 * It is relative to the energy norm of the solution y = S x, which is y_0'b^ + y_0'r_0 + g_0 + g_1 + ... */
#include "linear/stopping.h"

#include "linear/method.h"

#include <math.h>

static const double NEAR_PAST = 1e-6; /* it reaches back to where C_j is the last gain over this */
static const double ROUNDING = 1e-15; /* p'Ap / p'Pp below this share of the largest one is rounding */
static const double ALREADY =
    1e-2; /* how far below tol the preconditioned norm must start to stop at once by energy */

double drape_i_energy_error2(const drape_i_stopping *s, int32_t iterations) {
    int32_t newest = iterations - 1, oldest = newest - DRAPE_I_GAINS + 1 > 0 ? newest - DRAPE_I_GAINS + 1 : 0;
    double last = s->gain[newest % DRAPE_I_GAINS], sum = 0, ratio = 0;
    for (int32_t j = newest; j >= oldest && last >= NEAR_PAST * sum; j--) {
        sum += s->gain[j % DRAPE_I_GAINS];
        ratio = fmax(ratio, sum / s->delta_at[j % DRAPE_I_GAINS]);
    }
    return ratio * s->delta;
}

void drape_i_finish_history(drape_i_stopping *s, double tail) {
    double solution = s->start_energy + s->total_gain + tail, error = tail + s->gain_behind;
    for (int32_t k = s->count - 1; k >= 0; k--) {
        error += s->history[k].energy;
        s->history[k].energy = tail >= 0 && solution > 0 ? sqrt(error / solution) : -1;
    }
}

static double relative(double squared, double scale) { return scale > 0 ? sqrt(squared / scale) : 0; }

static void record(drape_i_stopping *s, int32_t iteration, double delta, double rr) {
    if (iteration >= s->capacity) return;
    s->history[iteration] =
        (drape_iteration){.preconditioned = relative(delta, s->b_delta), .residual = relative(rr, s->b_norm2)};
    s->count = iteration + 1;
}

/* The relative energy norm of the error. Before the first iteration nothing is known of it but the preconditioned
 * norm. */
static double energy_error(const drape_i_solve *s) {
    const drape_i_stopping *t = s->stopping;
    if (s->result->iterations == 0) return relative(t->delta, t->b_delta) / ALREADY;
    double error = drape_i_energy_error2(t, s->result->iterations);
    return relative(error, t->start_energy + t->total_gain + error);
}

static bool close_enough(drape_i_solve *s, double delta, double rr) {
    const drape_solve_settings *want = s->settings;
    const drape_i_stopping *t = s->stopping;
    double squared = delta, scale = t->b_delta;
    if (want->stop == DRAPE_STOP_ENERGY) {
        s->result->residual = energy_error(s);
        squared = s->result->iterations > 0 ? drape_i_energy_error2(t, s->result->iterations) : delta;
        return s->result->residual <= want->tol || squared <= want->floor * want->floor;
    }
    if (want->stop == DRAPE_STOP_RESIDUAL) squared = rr, scale = t->b_norm2;
    s->result->residual = relative(squared, scale);
    return squared <= want->tol * want->tol * scale || squared <= want->floor * want->floor;
}

/* What the caller says to it. */
static bool goes_on(const drape_i_solve *s) {
    const drape_progress now = {.method = s->result->method,
                                .precond = s->result->precond,
                                .iterations = s->result->iterations,
                                .residual = s->result->residual,
                                .tol = s->settings->tol};
    return s->settings->progress(s->settings->progress_user, &now);
}

bool drape_i_go_on(drape_i_solve *s, double delta, double rr) {
    drape_i_stopping *t = s->stopping;
    drape_solve_result *result = s->result;
    t->delta = delta;
    if (result->iterations == 0) t->start = relative(delta, t->b_delta);
    record(t, result->iterations, delta, rr);
    if (!isfinite(delta) || !isfinite(t->b_delta) || (t->wants_norm2 && !isfinite(rr)))
        result->reason = DRAPE_NOT_FINITE;
    else if (delta < 0) result->reason = DRAPE_INDEFINITE;
    else if (close_enough(s, delta, rr)) result->reason = DRAPE_CONVERGED;
    else if (result->iterations >= s->settings->max_iterations) result->reason = DRAPE_ITERATION_LIMIT;
    else if (s->settings->progress && !goes_on(s)) result->reason = DRAPE_INTERRUPTED;
    else return true;
    return false;
}

static void count_gain(drape_i_solve *s, double gain) {
    drape_i_stopping *t = s->stopping;
    int32_t k = s->result->iterations++;
    t->gain[k % DRAPE_I_GAINS] = gain;
    t->delta_at[k % DRAPE_I_GAINS] = t->delta;
    t->total_gain += gain;
    if (k < t->capacity) t->history[k].energy = gain;
    else t->gain_behind += gain;
}

bool drape_i_step_length(drape_i_solve *s, double delta, double beta, double curvature, double *alpha) {
    drape_i_stopping *t = s->stopping;
    t->direction2 = delta + beta * beta * t->direction2; /* P^-1 r and the direction before are P-orthogonal */
    double quotient = curvature / t->direction2;         /* between the eigenvalues of P^-1 A */
    if (!(curvature > 0)) {
        s->result->reason = isfinite(curvature) ? DRAPE_INDEFINITE : DRAPE_NOT_FINITE;
        return false;
    }
    if (quotient < ROUNDING * t->largest) {
        s->result->reason = DRAPE_SINGULAR;
        return false;
    }
    if (quotient > t->largest) t->largest = quotient;
    *alpha = delta / curvature;
    count_gain(s, *alpha * delta);
    return true;
}
