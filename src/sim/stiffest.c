/* stiffest.c: the eigenvalue of a cloth that limits explicit steps.
 *
 * Let k and d be the largest eigenvalues of M^-1 K and M^-1 D in the directions that are free. The stiffest
 * eigenvalue of the first order form solves lambda^2 + d lambda + k = 0. It is exact where K and D have their largest
 * eigenvalues in the same direction, as with damping that is proportional to the stiffness. Elsewhere its modulus is
 * too large.
 *
 * Each comes from Lanczos' method in the inner product of M, S M^-1 S K, always from the same start and with the same
 * number of iterations. The method approaches it from below, so a little is added. With a consistent mass, which is
 * at least a quarter of the lumped one on every triangle, four times the value for the lumped mass is a bound. Some
 * 60 multiplies, as much as 30 evaluations of f: for fixed steps it is done again after so many steps only. */
#include "base/parallel.h"
#include "linear/constraints.h"
#include "sim/sim.h"
#include "sparse/multiply.h"

#include <math.h>

enum { ITERATIONS = 30, HALVINGS = 60, STEPS_BETWEEN = 32, CONSISTENT = 4 };
static const double MARGIN = 1.02; /* of what Lanczos' method may miss after so many iterations */

typedef struct work {
    drape_sim *sim;
    const double *mass;
    double *q, *before, *w;
    double alpha, beta; /* of the iteration under way; beta of the one before */
    double factor;
} work;

/* Numbers in [-1, 1) that look like chance: a multiplicative hash of the index. */
static void fill_chunk(void *data, int64_t begin, int64_t end) {
    const work *o = data;
    for (int64_t i = begin; i < end; i++) {
        uint64_t bits = ((uint64_t)i + 1) * 0x9E3779B97F4A7C15u;
        bits = (bits ^ (bits >> 29)) * 0xBF58476D1CE4E5B9u;
        o->q[i] = (double)(bits >> 11) / 4503599627370496.0 - 1;
        o->before[i] = 0;
    }
}

/* w = M^-1 w */
static void divide_chunk(void *data, int64_t begin, int64_t end) {
    const work *o = data;
    for (int64_t i = begin; i < end; i++)
        for (int32_t k = 0; k < 3; k++) o->w[3 * i + k] /= o->mass[i];
}

/* <w, q> and <w, w> of M */
static void dot_chunk(void *data, int64_t begin, int64_t end, double *sums) {
    const work *o = data;
    for (int64_t i = begin; i < end; i++)
        for (int32_t k = 0; k < 3; k++) {
            sums[0] += o->mass[i] * o->w[3 * i + k] * o->q[3 * i + k];
            sums[1] += o->mass[i] * o->w[3 * i + k] * o->w[3 * i + k];
        }
}

/* w -= alpha q + beta before */
static void subtract_chunk(void *data, int64_t begin, int64_t end) {
    const work *o = data;
    for (int64_t i = begin; i < end; i++) o->w[i] -= o->alpha * o->q[i] + o->beta * o->before[i];
}

static void scale_chunk(void *data, int64_t begin, int64_t end) {
    const work *o = data;
    for (int64_t i = begin; i < end; i++) o->w[i] *= o->factor;
}

static void dots(work *o, double sums[2]) {
    drape_i_sum(o->sim->ctx, o->sim->vertices, DRAPE_I_GRAIN, dot_chunk, o, 2, sums);
}

static void over_all(work *o, drape_i_loop_fn fn) {
    drape_i_loop(o->sim->ctx, 3 * (int64_t)o->sim->vertices, DRAPE_I_GRAIN, fn, o);
}

/* How many eigenvalues of the symmetric tridiagonal matrix are above x (Sturm's sequence). */
static int32_t count_above(int32_t n, const double *alpha, const double *beta, double x) {
    int32_t count = 0;
    double pivot = 1;
    for (int32_t i = 0; i < n; i++) {
        double square = i > 0 ? beta[i - 1] * beta[i - 1] : 0;
        pivot = x - alpha[i] - (square == 0 ? 0 : square / (pivot == 0 ? 1e-300 : pivot));
        count += pivot < 0;
    }
    return count;
}

static double largest(int32_t n, const double *alpha, const double *beta) {
    double low = 0, high = 0; /* K and D are semidefinite; what is below 0 does not matter here */
    for (int32_t i = 0; i < n; i++)
        high = fmax(high, alpha[i] + (i > 0 ? fabs(beta[i - 1]) : 0) + (i + 1 < n ? fabs(beta[i]) : 0));
    for (int32_t i = 0; i < HALVINGS; i++) {
        double middle = 0.5 * (low + high);
        if (count_above(n, alpha, beta, middle)) low = middle;
        else high = middle;
    }
    return high;
}

/* Of M^-1 A, A the matrix of the simulation. */
static double lanczos(drape_sim *sim) {
    double alpha[ITERATIONS], beta[ITERATIONS], sums[2], **vector = sim->integrator->lanczos;
    work o = {sim, drape_cloth_mass(sim->cloth), vector[0], vector[1], vector[2], 0, 0, 0};
    drape_bsr3 A = drape_matrix_view(sim->A);
    int32_t n = 0;
    over_all(&o, fill_chunk);
    drape_i_filter(sim->constraints, o.q);
    double *start = o.w;
    o.w = o.q;
    dots(&o, sums);
    o.factor = sums[1] > 0 ? 1 / sqrt(sums[1]) : 0;
    over_all(&o, scale_chunk);
    o.w = start;
    while (n < ITERATIONS && o.factor > 0) {
        drape_i_multiply(sim->ctx, &A, o.q, o.w);
        drape_i_loop(sim->ctx, sim->vertices, DRAPE_I_GRAIN, divide_chunk, &o);
        drape_i_filter(sim->constraints, o.w);
        dots(&o, sums);
        o.alpha = alpha[n] = sums[0];
        over_all(&o, subtract_chunk);
        dots(&o, sums);
        o.beta = beta[n++] = sqrt(sums[1]);
        o.factor = o.beta > 1e-12 * fabs(alpha[0]) && isfinite(o.beta) ? 1 / o.beta : 0;
        over_all(&o, scale_chunk);
        double *free_one = o.before;
        o.before = o.q, o.q = o.w, o.w = free_one;
    }
    return n > 0 ? MARGIN * largest(n, alpha, beta) : 0;
}

static double largest_of(drape_sim *sim, double t, const double *x, const double *v, double damping,
                         double stiffness) {
    drape_assembly what = {.time = t, .x = x, .v = v, .damping = damping, .stiffness = stiffness};
    if (drape_i_sim_assemble(sim, &what, sim->A)) return 0;
    return (sim->mass_matrix ? CONSISTENT : 1) * lanczos(sim);
}

static bool is_fresh(const drape_sim *sim) {
    const drape_i_integrator *it = sim->integrator;
    int64_t between = it->settings.control == DRAPE_ODE_FIXED ? STEPS_BETWEEN : 1;
    return it->stiffest_step >= 0 && sim->steps >= it->stiffest_step && sim->steps < it->stiffest_step + between;
}

void drape_i_cloth_stiffest(void *user, double t, const double *x, const double *v, double lambda[2]) {
    drape_sim *sim = user;
    drape_i_integrator *it = sim->integrator;
    if (!is_fresh(sim)) {
        double k = largest_of(sim, t, x, v, 0, 1), d = largest_of(sim, t, x, v, 1, 0), square = d * d - 4 * k;
        it->stiffest[0] = square >= 0 ? -0.5 * (d + sqrt(square)) : -0.5 * d;
        it->stiffest[1] = square >= 0 ? 0 : 0.5 * sqrt(-square);
        it->stiffest_step = sim->steps;
    }
    lambda[0] = it->stiffest[0];
    lambda[1] = it->stiffest[1];
}
