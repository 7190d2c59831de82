/* equilibrium.c: static equilibrium, S f(x, 0) = 0 under the pins' constraints.
 *
 * This is Newton's method with an artificial mass: (M/c^2 + K) dx = S f, K clamped to be positive semidefinite. It is
 * implicit Euler from rest with growing steps (pseudo-transient continuation, Kelley and Keyes 1998). With small c
 * the cloth falls as it really would, which leads it past states where Newton's method would get stuck. Each
 * correction that is not shortened makes c larger, so in the end it is Newton's method. If corrections then shrink
 * slowly, the exact K is tried, as in steps (cloth_system.c).
 *
 * A correction is shortened until f.dx at its end is at least -1/2 of f.dx at its beginning, where -f.dx is the slope
 * of the energy. If all forces have an energy, the energy must also have decreased; wind has none.
 *
 * Vectors of the step are reused: x_old and v_old keep the state, mean_v is zero, mean_x is the trial positions, b
 * the force, dv the correction. Nothing is allocated. */
#include "base/parallel.h"
#include "base/vector.h"
#include "linear/constraints.h"
#include "sim/contact.h"

#include <math.h>
#include <string.h>

enum { GRAIN = 4096, MOST_CUTS = 12, BAN = 4 };

static const double TOLERANCE = 1e-7;
enum { MOST_ITERATIONS = 1000 };
static const double FIRST_C = 0.01, LEAST_C = 1e-6, MOST_C = 1e6; /* s */
static const double BACK = 0.5;                                   /* of the slope */
static const double SLOW = 0.3;                                   /* of the residual: one that shrinks by less */
static const double ROUNDING = 1e-12;                             /* m: times the weight */
static const double GOOD_FOR_SOMETHING = 0.5; /* a linear residual with which a correction is better than none */

drape_equilibrium_settings drape_equilibrium_defaults(void) {
    return (drape_equilibrium_settings){.tolerance = TOLERANCE, .max_iterations = MOST_ITERATIONS};
}

/* ---- Forces ---- */

static void sum_sizes(void *data, int64_t begin, int64_t end, double *sums) {
    const double *f = data;
    for (int64_t i = begin; i < end; i++)
        sums[0] += sqrt((f[3 * i] * f[3 * i] + f[3 * i + 1] * f[3 * i + 1]) + f[3 * i + 2] * f[3 * i + 2]);
}

static double sum_of_sizes(drape_sim *sim, const double *f) {
    double sum;
    drape_i_sum(sim->ctx, sim->vertices, GRAIN, sum_sizes, (void *)(uintptr_t)f, 1, &sum);
    return sum;
}

static double weight_of(drape_sim *sim) {
    const drape_forces *f = &sim->forces->outside.forces;
    const double *g = f->gravity, *mass = drape_cloth_mass(sim->cloth);
    double masses = 0;
    for (int32_t i = 0; i < sim->vertices; i++) masses += mass[i];
    double weight = masses * sqrt((g[0] * g[0] + g[1] * g[1]) + g[2] * g[2]);
    if (f->vertex) weight += sum_of_sizes(sim, f->vertex);
    return weight > 0 ? weight : 1;
}

/* The free part of the forces at x goes to sim->b; with A: and the matrix for c. */
static drape_status evaluate(drape_sim *sim, const double *x, double c, double exactness, drape_matrix *A) {
    drape_assembly what = {.x = x,
                           .v = sim->mean_v,
                           .mass = 1 / (c * c),
                           .stiffness = 1,
                           .force = sim->b,
                           .time = drape_sim_time(sim),
                           .exactness = exactness};
    drape_status status = drape_i_sim_assemble(sim, &what, A);
    if (!status) drape_i_filter(sim->constraints, sim->b);
    return status;
}

/* ---- A correction ---- */

typedef struct search_state {
    bool has_energy;  /* all forces have one */
    double energy;    /* J, with that */
    double slack;     /* J: what is rounding in it */
    double c;         /* s */
    double exactness; /* of K */
    int32_t banned;   /* the exact K is not tried for this number of corrections */
    double residual;  /* N */
    double share;     /* of the last correction that was made */
    int32_t linear_iterations;
} search_state;

/* dx in sim->dv; false: the solver got nowhere. */
static drape_status find_correction(drape_sim *sim, search_state *s, double weight, bool *found) {
    drape_status status = DRAPE_OK;
    *found = false;
    for (int32_t attempt = 0; attempt < 2 && !*found; attempt++) {
        status = evaluate(sim, sim->x, s->c, s->exactness, sim->A);
        if (status) return status;
        double tol = fmin(0.01, sqrt(s->residual / weight));
        drape_problem posed = {.positions = sim->x, .tol = fmax(tol, 1e-4)};
        status = drape_i_sim_solve(sim, &posed, sim->dv);
        if (status) return status;
        s->linear_iterations += sim->solved.iterations;
        if (sim->solved.reason == DRAPE_INDEFINITE && s->exactness > 0) {
            s->exactness = 0;
            s->banned = BAN;
            continue;
        }
        *found = sim->solved.reason == DRAPE_CONVERGED || sim->solved.true_residual <= GOOD_FOR_SOMETHING;
        break;
    }
    return status;
}

static void try_share(drape_sim *sim, double share) {
    int64_t n = drape_i_sim_numbers(sim);
    drape_i_vector_copy(sim->ctx, n, sim->x, sim->mean_x);
    drape_i_axpy(sim->ctx, n, share, sim->dv, sim->mean_x);
}

/* Whether energy says all that forces do: air that moves has none. */
static bool has_energy(const drape_sim *sim) {
    const drape_forces *f = &sim->forces->outside.forces;
    bool moves = f->variation || f->wind[0] != 0 || f->wind[1] != 0 || f->wind[2] != 0;
    return !moves && drape_i_assembler_has_potential(sim->forces, true);
}

static drape_status find_energy(drape_sim *sim, const double *x, double *out) {
    return drape_i_assembler_potential(sim->forces, drape_sim_time(sim), 0, x, sim->mean_v, NULL, out);
}

/* Whether the energy goes down to x; *energy is that there then. */
static bool goes_down(drape_sim *sim, const search_state *s, const double *x, double *energy) {
    if (!s->has_energy) return true;
    return find_energy(sim, x, energy) == DRAPE_OK && *energy <= s->energy + s->slack;
}

/* The largest share of the correction that does not lead too far; 0: none. Positions are in mean_x then. */
static drape_status search(drape_sim *sim, search_state *s) {
    int64_t n = drape_i_sim_numbers(sim);
    double first = drape_i_dot(sim->ctx, n, sim->b, sim->dv), share = 1;
    s->share = 0;
    for (int32_t cut = 0; cut < MOST_CUTS && first > 0; cut++) {
        try_share(sim, share);
        drape_status status = evaluate(sim, sim->mean_x, s->c, 0, NULL);
        if (status && status != DRAPE_ERROR_NUMBER) return status;
        double slope = status ? NAN : drape_i_dot(sim->ctx, n, sim->b, sim->dv);
        double energy = 0;
        if (slope >= -BACK * first && goes_down(sim, s, sim->mean_x, &energy)) {
            s->share = share;
            s->energy = energy;
            return DRAPE_OK;
        }
        double secant = slope < 0 ? first / (first - slope) : isfinite(slope) ? 0.5 : 0.1;
        share *= fmin(fmax(secant, 0.1), 0.5);
    }
    return DRAPE_OK;
}

/* How c and K go on, from the residual before. */
static void adapt(search_state *s, double before) {
    bool shrinks = s->residual < before;
    if (s->share == 1) s->c *= shrinks ? 4 : 2;
    else if (s->share < 0.25) s->c *= 0.25;
    s->c = fmin(fmax(s->c, LEAST_C), MOST_C);
    if (s->banned > 0) s->banned--;
    if (s->share == 1 && s->residual > SLOW * before && s->banned == 0 && s->c > 1) s->exactness = 1;
    if (s->share < 1) s->exactness = 0;
}

static drape_status correct(drape_sim *sim, search_state *s, double weight) {
    double before = s->residual;
    bool found;
    s->share = 0;
    drape_status status = find_correction(sim, s, weight, &found);
    if (!status && found) status = search(sim, s);
    if (status) return status;
    if (s->share > 0) {
        drape_i_vector_copy(sim->ctx, drape_i_sim_numbers(sim), sim->mean_x, sim->x);
        s->residual = sum_of_sizes(sim, sim->b);
    }
    adapt(s, before);
    return DRAPE_OK;
}

/* ---- Where it starts and ends ---- */

static drape_status check_settings(drape_sim *sim, drape_equilibrium_settings *s) {
    drape_status status = drape_i_check_reserved(sim->ctx, "drape_equilibrium_settings", s->reserved, 8);
    if (status) return status;
    if (s->tolerance == 0) s->tolerance = TOLERANCE;
    if (s->max_iterations == 0) s->max_iterations = MOST_ITERATIONS;
    if (!(s->tolerance > 0 && s->tolerance < 1))
        return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT, "equilibrium: tolerance is %g; it must be in (0, 1)",
                            s->tolerance);
    if (sim->contact)
        return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT,
                            "equilibrium: the scene has contact, which the search does not support; run it until it "
                            "lies still, and start from its last frame");
    if (drape_cloth_limits_strain(sim->cloth))
        return drape_i_fail(
            sim->ctx, DRAPE_ERROR_ARGUMENT,
            "equilibrium: a material has a strain_limit, which is not a force; leave it out, or run the scene");
    return DRAPE_OK;
}

/* Pins hold as they do in the next step. */
static drape_status check_pieces(drape_sim *sim) {
    const double *g = sim->forces->outside.forces.gravity;
    if (g[0] == 0 && g[1] == 0 && g[2] == 0) return DRAPE_OK;
    for (int32_t piece = 0; piece < drape_cloth_pieces(sim->cloth); piece++) {
        const drape_piece_range *r = drape_cloth_piece(sim->cloth, piece);
        bool held = false;
        for (int32_t p = 0, i = 0; p < sim->pin_count; p++)
            for (int32_t k = 0; k < sim->pins[p].count; k++, i++) {
                int32_t v = sim->pinned[i].vertex;
                held |= sim->holding[p] && v >= r->first_vertex && v < r->first_vertex + r->vertices;
            }
        if (!held)
            return drape_i_fail(
                sim->ctx, DRAPE_ERROR_ARGUMENT,
                "equilibrium: nothing holds '%s' at the start, so it falls and does not come to rest; pin it",
                r->name);
    }
    return DRAPE_OK;
}

/* What is held goes to where it is wanted now. */
static drape_status take_places(drape_sim *sim) {
    int64_t n = drape_i_sim_numbers(sim);
    drape_i_aim aim = {.t = drape_sim_time(sim), .c = 1, .x = sim->x, .factor = 1};
    drape_status status = drape_i_sim_constrain(sim, &aim);
    if (status) return status;
    memset(sim->dv, 0, (size_t)n * sizeof *sim->dv);
    drape_postfilter(sim->constraints, sim->dv);
    drape_i_axpy(sim->ctx, n, 1, sim->dv, sim->x);
    return drape_i_sim_hold_still(sim);
}

static double longest_way(const drape_sim *sim) {
    double most = 0;
    for (int64_t i = 0; i < sim->vertices; i++) {
        double square = 0;
        for (int32_t k = 0; k < 3; k++) {
            double d = sim->x[3 * i + k] - sim->x_old[3 * i + k];
            square += d * d;
        }
        most = fmax(most, square);
    }
    return sqrt(most);
}

static drape_status run(drape_sim *sim, const drape_equilibrium_settings *how, drape_equilibrium_result *out) {
    search_state s = {.c = FIRST_C, .has_energy = has_energy(sim)};
    out->weight = weight_of(sim);
    s.slack = ROUNDING * out->weight;
    drape_status status = take_places(sim);
    if (!status && s.has_energy) status = find_energy(sim, sim->x, &s.energy);
    if (!status) status = evaluate(sim, sim->x, s.c, 0, NULL);
    if (!status) s.residual = sum_of_sizes(sim, sim->b);
    while (!status && out->iterations < how->max_iterations && !(s.residual <= how->tolerance * out->weight)) {
        out->iterations++;
        status = correct(sim, &s, out->weight);
    }
    const char *force = status == DRAPE_ERROR_NUMBER ? drape_i_assembler_explain(sim->forces) : NULL;
    if (force) return drape_i_fail(sim->ctx, status, "equilibrium: %s", force);
    if (status) return status;
    out->residual = s.residual / out->weight;
    out->at_rest = out->residual <= how->tolerance;
    out->linear_iterations = s.linear_iterations;
    out->moved = longest_way(sim);
    return DRAPE_OK;
}

drape_status drape_sim_find_equilibrium(drape_sim *sim, const drape_equilibrium_settings *settings,
                                        drape_equilibrium_result *result) {
    if (!sim) return DRAPE_ERROR_ARGUMENT;
    size_t bytes = (size_t)drape_i_sim_numbers(sim) * sizeof(double);
    drape_equilibrium_settings how = settings ? *settings : drape_equilibrium_defaults();
    drape_equilibrium_result own, *out = result ? result : &own;
    *out = (drape_equilibrium_result){0};
    drape_status status = check_settings(sim, &how);
    if (status) return status;
    bool other_pins = drape_i_sim_update_active_pins(sim);
    status = how.max_iterations > 0 ? check_pieces(sim) : DRAPE_OK;
    memcpy(sim->x_old, sim->x, bytes);
    memcpy(sim->v_old, sim->v, bytes);
    memset(sim->mean_v, 0, bytes);
    if (!status) status = run(sim, &how, out);
    memcpy(sim->mean_x, sim->x, bytes);
    memcpy(sim->x, sim->x_old, bytes);
    memset(sim->dv, 0, bytes);
    sim->constraint_force = NULL;
    sim->matrix_c = 0;
    if (sim->integrator) drape_i_integrator_forget(sim->integrator);
    if (!status && how.max_iterations > 0) return drape_sim_set_state(sim, sim->mean_x, sim->mean_v);
    if (other_pins && sim->integrator) drape_i_integrator_start(sim);
    return status;
}
