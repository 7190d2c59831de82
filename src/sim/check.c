/* check.c: whether the state after a step is credible. A step is not kept if there is
 *
 *   a linearised step whose linear system could not be solved (one that ran out of iterations is kept, and counted)
 *   a number that is not finite
 *   a thread longer than drape_integration.max_stretch times its length at rest, and longer than before the step
 *   a kinetic energy of more than MOST times the energy that forces, pins and the initial state have given, plus the
 *   energy that lifts the cloth by its own length
 *
 * The message says what happened, when and where. It also says what to try, by the most likely cause in
 * this scene. */
#include "base/parallel.h"
#include "cloth/cloth.h"
#include "sim/contact.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GRAIN = 4096, WHERE = 160, ADVICE = 240 };

static const double MOST = 10;
static const double GRAVITY = 9.81;  /* m/s^2: also where a scene has none, to judge energies by */
static const double HURRICANE = 100; /* m/s */

/* ---- Where, and what to try ---- */

/* "vertex 7 of flag", counted within the piece. */
static const char *name_vertex(const drape_sim *sim, int64_t vertex, char *out) {
    for (int32_t i = 0; i < drape_cloth_pieces(sim->cloth); i++) {
        const drape_piece_range *p = drape_cloth_piece(sim->cloth, i);
        if (vertex < p->first_vertex || vertex >= (int64_t)p->first_vertex + p->vertices) continue;
        snprintf(out, WHERE, "vertex %lld of %s",
                 (long long)(sim->spread ? sim->spread->original[vertex] : vertex - p->first_vertex), p->name);
        return out;
    }
    snprintf(out, WHERE, "vertex %lld", (long long)vertex);
    return out;
}

static double distance(const double *a, const double *b) {
    double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return sqrt((d[0] * d[0] + d[1] * d[1]) + d[2] * d[2]);
}

/* The largest distance between two of the held vertices of a piece at the end of the step, or nearly so. It is
 * measured from the first of them to the farthest, and from there to the farthest again. */
static double held_apart(const drape_sim *sim, const drape_piece_range *p) {
    int32_t from = -1;
    double apart = 0;
    for (int32_t sweep = 0; sweep < 2; sweep++) {
        int32_t farthest = from;
        apart = 0;
        for (int32_t i = 0; i < sim->held_now; i++) {
            int32_t v = sim->held[i].vertex;
            if (v < p->first_vertex || v - p->first_vertex >= p->vertices) continue;
            if (from < 0) from = farthest = v;
            double d = distance(sim->x + 3 * (int64_t)v, sim->x + 3 * (int64_t)from);
            if (d > apart) apart = d, farthest = v;
        }
        from = farthest;
    }
    return apart;
}

/* The diagonal of the box around a piece at the start. */
static double extent(const drape_sim *sim, const drape_piece_range *p) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t i = p->first_vertex; i < (int64_t)p->first_vertex + p->vertices; i++)
        for (int32_t k = 0; k < 3; k++) {
            low[k] = fmin(low[k], sim->start[3 * i + k]);
            high[k] = fmax(high[k], sim->start[3 * i + k]);
        }
    return p->vertices > 0 ? distance(low, high) : 0;
}

/* Whether pins hold a piece farther apart than it is long. */
static bool pulled_apart(const drape_sim *sim, char *out) {
    for (int32_t i = 0; i < drape_cloth_pieces(sim->cloth); i++) {
        const drape_piece_range *p = drape_cloth_piece(sim->cloth, i);
        double apart = held_apart(sim, p), across = extent(sim, p);
        if (!(apart > 1.01 * across)) continue;
        snprintf(out, ADVICE, "pins hold %s %.3g m apart, but it is only %.3g m across; move them less far", p->name,
                 apart, across);
        return true;
    }
    return false;
}

/* What to try. `otherwise` where nothing in the scene is suspicious. */
static const char *advise(const drape_sim *sim, const char *otherwise, char *out) {
    const drape_forces *f = &sim->forces->outside.forces;
    double wind = sqrt((f->wind[0] * f->wind[0] + f->wind[1] * f->wind[1]) + f->wind[2] * f->wind[2]);
    bool full = sim->cloth->settings.jacobian == DRAPE_JACOBIAN_FULL;
    if (pulled_apart(sim, out)) return out;
    if (wind > HURRICANE)
        snprintf(out, ADVICE, "the wind of %.3g m/s is stronger than any hurricane; lower it (forces.wind)", wind);
    else if (full && !sim->integrator)
        snprintf(out, ADVICE, "jacobian: full can fail in linearised steps; use jacobian: psd");
    else snprintf(out, ADVICE, "%s", otherwise);
    return out;
}

static drape_status fail(drape_sim *sim, const char *what, const char *advice) {
    memset(sim->dv, 0, (size_t)drape_i_sim_numbers(sim) * sizeof *sim->dv);
    return drape_i_fail(sim->ctx, DRAPE_ERROR_NUMBER,
                        "step %lld (t = %g s): %s; %s (the state is that before this step)",
                        (long long)sim->steps + 1, (double)(sim->steps + 1) * sim->h, what, advice);
}

/* ---- Numbers ---- */

static void count_wrong(void *data, int64_t begin, int64_t end, double *sums) {
    const drape_sim *sim = data;
    int64_t wrong = 0; /* whole numbers, which do not wait for one another */
    for (int64_t i = begin; i < end; i++) wrong += !(isfinite(sim->x[i]) && isfinite(sim->v[i]));
    sums[0] += (double)wrong;
}

/* The vertex to name: the first whose state or right-hand side is not finite, else the one that is pushed most. */
static int64_t find_culprit(const drape_sim *sim) {
    int64_t worst = 0;
    for (int64_t i = 0; i < drape_i_sim_numbers(sim); i++) {
        if (!isfinite(sim->x[i]) || !isfinite(sim->v[i]) || !isfinite(sim->b[i])) return i / 3;
        if (fabs(sim->b[i]) > fabs(sim->b[worst])) worst = i;
    }
    return worst / 3;
}

static drape_status check_numbers(drape_sim *sim) {
    char where[WHERE], what[WHERE + 80], advice[ADVICE];
    double wrong;
    drape_i_sum(sim->ctx, drape_i_sim_numbers(sim), GRAIN, count_wrong, sim, 1, &wrong);
    if (wrong == 0 && sim->solved.reason != DRAPE_NOT_FINITE) return DRAPE_OK;
    snprintf(what, sizeof what, "numbers at %s are no longer finite", name_vertex(sim, find_culprit(sim), where));
    return fail(sim, what, advise(sim, "use a shorter step (time.step)", advice));
}

/* ---- The solve ---- */

/* Newton's method looks after its own. */
static drape_status check_solve(drape_sim *sim) {
    char where[WHERE], what[WHERE + 120], advice[ADVICE];
    drape_reason reason = sim->solved.reason;
    bool failed = reason == DRAPE_INDEFINITE || reason == DRAPE_SINGULAR || reason == DRAPE_UNSYMMETRIC ||
                  reason == DRAPE_BREAKDOWN;
    if (sim->integrator || !failed) return DRAPE_OK;
    snprintf(what, sizeof what, "the linear system could not be solved: %s; %s is pushed most",
             drape_reason_name(reason), name_vertex(sim, find_culprit(sim), where));
    return fail(sim, what, advise(sim, "use a shorter step (time.step), or another solver.method", advice));
}

/* ---- Stretch ---- */

/* The corner of the longest triangle that moves fastest. */
static int64_t find_longest(const drape_sim *sim) {
    const int32_t *corner = sim->cloth->triangle[drape_i_cloth_longest(sim->cloth, sim->x)];
    const double still[3] = {0, 0, 0};
    int32_t fastest = corner[0];
    for (int32_t k = 1; k < 3; k++)
        if (distance(sim->v + 3 * (int64_t)corner[k], still) > distance(sim->v + 3 * (int64_t)fastest, still))
            fastest = corner[k];
    return fastest;
}

static drape_status check_stretch(drape_sim *sim) {
    char where[WHERE], what[WHERE + 120], advice[ADVICE];
    sim->stretch = drape_cloth_stretch(sim->cloth, sim->x);
    if (!(sim->stretch > sim->max_stretch)) return DRAPE_OK;
    if (!(sim->stretch > drape_cloth_stretch(sim->cloth, sim->x_old))) return DRAPE_OK; /* on its way back */
    snprintf(what, sizeof what, "the cloth is stretched to %.4g times its length at %s, and max_stretch is %.4g",
             sim->stretch, name_vertex(sim, find_longest(sim), where), sim->max_stretch);
    return fail(sim, what,
                advise(sim,
                       "use a shorter step (time.step) or a stiffer material (stretch), or a larger max_stretch if "
                       "this is intended",
                       advice));
}

drape_status drape_i_sim_check(drape_sim *sim) {
    drape_status status = check_numbers(sim);
    if (!status) status = check_solve(sim);
    return status ? status : check_stretch(sim);
}

/* ---- Energy ---- */

/* J: what lifts all of the cloth by its own length. */
static double lift(const drape_sim *sim) {
    const double *mass = drape_cloth_mass(sim->cloth);
    double sum = 0;
    for (int32_t i = 0; i < drape_cloth_pieces(sim->cloth); i++) {
        const drape_piece_range *p = drape_cloth_piece(sim->cloth, i);
        double kilograms = 0;
        for (int64_t v = p->first_vertex; v < (int64_t)p->first_vertex + p->vertices; v++) kilograms += mass[v];
        sum += kilograms * GRAVITY * extent(sim, p);
    }
    return sum;
}

void drape_i_sim_check_prepare(drape_sim *sim, const drape_scene *scene) {
    bool moves = false;
    for (int32_t i = 0; i < scene->collider_count; i++)
        moves = moves || scene->colliders[i].key_count > 1 || scene->colliders[i].frames > 1;
    sim->max_stretch = drape_i_integration_resolve(&scene->integration).max_stretch;
    sim->lift = moves ? INFINITY : lift(sim);
}

static int64_t find_fastest(const drape_sim *sim) {
    const double still[3] = {0, 0, 0};
    int64_t fastest = 0;
    for (int64_t i = 1; i < sim->vertices; i++)
        if (distance(sim->v + 3 * i, still) > distance(sim->v + 3 * fastest, still)) fastest = i;
    return fastest;
}

/* What was given: by the state at the start, wind and pins, and by gravity and loads where the cloth went along with
 * them. What colliders that move give is not known, nor what forces of a program do: nothing is said then. */
drape_status drape_i_sim_check_energy(drape_sim *sim) {
    char where[WHERE], what[WHERE + 160], advice[ADVICE];
    const drape_i_balance *b = &sim->balance;
    double kinetic = drape_i_sim_kinetic(sim);
    double given = fmax(b->start, 0) + fmax(b->wind, 0) + fmax(b->pins, 0) + sim->lift;
    if (!(kinetic > MOST * given) || drape_assembler_count(sim->forces) > DRAPE_I_BUILT_IN_FORCES) return DRAPE_OK;
    for (int32_t i = 0; i < DRAPE_I_BUILT_IN_FORCES; i++) {
        double energy;
        if (i != DRAPE_I_FORCE_MODEL &&
            !drape_assembler_energy(sim->forces, i, drape_sim_time(sim), sim->x, &energy) && energy < 0)
            given -= energy;
    }
    if (!(kinetic > MOST * given)) return DRAPE_OK;
    snprintf(what, sizeof what,
             "the kinetic energy is %.3g J, but all forces together have supplied at most %.3g J, so the step has "
             "added energy; %s is fastest",
             kinetic, given, name_vertex(sim, find_fastest(sim), where));
    return fail(sim, what, advise(sim, "use a shorter step (time.step), or another integrator", advice));
}

/* ---- The run as a whole ---- */

static const double NOTHING_MOVES = 1e-12; /* J: a gram at less than 0.05 mm/s; shares of it would be of rounding */

static bool converged(const drape_certificate *c) {
    return c->linear.reason == DRAPE_CONVERGED && c->ode.reason == DRAPE_ODE_DONE && c->ode.unconverged == 0;
}

void drape_verdict_add(drape_verdict *v, const drape_certificate *c) {
    if (!v || !c) return;
    const drape_certificate_energy *e = &c->energy;
    v->unconverged += !converged(c);
    if (v->steps++ == 0 || c->stretch > v->stretch) v->stretch = c->stretch, v->stretch_time = c->time;
    v->touched = v->touched || c->contact.count > 0 || c->contact.hits > 0 || c->contact.springs > 0;
    v->energy = e->kinetic + e->elastic + e->fabric + fmax(e->integrator, 0) + fmax(-e->wind, 0) + fmax(-e->pins, 0);
    v->integrator = e->integrator;
    v->share = v->energy > NOTHING_MOVES ? v->integrator / v->energy : 0;
}
