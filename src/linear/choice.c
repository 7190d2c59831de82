/* choice.c: foresees what each preconditioner would cost, and corrects itself by what solves take.
 *
 * All costs are bytes, in passes: what an iteration of PPCG with the block diagonal reads and writes. Those are
 * counted, not timed, so the choice is the same on every machine. Where something takes longer than its bytes say
 * (factorisations, sweeps), its passes are those that its time was measured to be worth.
 *
 * Foreseen iterations with the block diagonal, k the stiffness and d the depth (matrix_estimate.h), e the effort:
 *
 *     B = e SPEED / sqrt(1/k + HOLD/d^2),    e = ln(start / (10 tol))
 *
 * which is CG's sqrt of the condition number, of which 1/k is what mass contributes to the softest motion and 1/d^2
 * what being held does. The others' are given by B. Once a candidate has run, the iterations it took correct those
 * foreseen for it.
 *
 * The first solve takes what is cheapest with all its setting up. After that a change pays off over many solves, and
 * nobody knows how many there will be. So what another candidate would have saved is summed up, and the change is
 * made when the sum has grown to what it costs. The total is never more than about twice the best (as with renting or
 * buying skis). Each change makes the next one dearer, so that there is no to and fro.
 *
 * Iterations of one candidate say little about another's when the systems have changed since both were seen. On a
 * flag, six modes take 10 iterations, from which 1,000 are foreseen for the block diagonal, but it takes 25. So now
 * and then, and ever more rarely, a solve is given to another candidate that is set up already. It may take as long
 * as the one at work would; if it is not done by then, that one goes on from where it is. */
#include "linear/choice.h"

#include <float.h>
#include <math.h>

/* ---- Everything that was fitted ----
 *
 * The fit is to sheets of 1 m x 1 m with 11 x 11 to 301 x 301 vertices, held at two edges, at four, and at one
 * (drooping, pinned, reentrant). Density is 0.2, stretch 5000, shear 500, bend 1.2e-4, damping 2e-4 s; steps are 0.1
 * to 10 ms, tolerances 1e-3 to 1e-8. It was adjusted later to drooping and reentrant at 2 and 10 ms with 11 x 11 to
 * 61 x 61. For drooping with up to 961 vertices in steps of 2 ms the foreseen iterations are too many by half. A
 * smaller SPEED suits those better, but leaves reentrant, which takes twice as many, to the block diagonal. */

static const double SPEED = 0.5, HOLD = 0.26;
static const double LEAST_EFFORT = 1; /* e, however near the start is */

static const double USUAL_EFFORT = 9.2; /* tol 1e-5, for which the rows of preconditioners give iterations */

/* `drape-bench auto` measures separately what the rows of preconditioners say of passes. By time, with two threads
 * and 961 to 90,601 vertices, (build, refresh, iteration) take in the middle of a wide range: ichol 36, 17, 2.8; amg
 * with three modes 46, 18, 3.9; with six 75, 42, 4.9. Within that range they were then set such that "auto"
 * moves at most 1.2 times the bytes of the best and takes at most 1.1 times as long as the block diagonal. The
 * benchmark and the test have the very same sheets, so they are no independent proof. */
static const double KEPT_FOR = 8;   /* solves from a refresh of amg to the next, before any was seen */
static const double CLEARLY = 1.15; /* times better than the block diagonal, which cannot disappoint */
static const double SURELY =
    1.25; /* the same for leaving it for one that will not tell when it is worth going back */
static const double LEAST_CHANGE = 10; /* passes that must have been lost before even the cheapest change */
static const double MOST_PATIENCE = 64;
static const double FORGET = 0.5; /* weight of the last solve in what is remembered of all */
static const double TOO_MUCH = 2; /* times what another would have cost */
static const double NEVER = 1e30; /* times the estimated iterations */
static const double STALE = 1.2;  /* times the usual iterations: more are the fault of levels that were kept */
static const double LEAST_DONE = 0.1, MOST_DONE = 0.7; /* share of a solve that a lost trial is taken to have done */
static const double CLEARLY_LOST = 2;                  /* times what the trial took: the next one waits longer */
enum { ENOUGH = 200, MOST_TRIED = 1000 };              /* iterations that anything may take, and that a trial may */
enum { FIRST_TRIAL = 16, MOST_UNTRIED = 1024 };        /* solves without a change; doubles with each trial */

/* ---- Costs ---- */

double drape_i_pass(const drape_bsr3 *A) {
    const double block = 9 * sizeof(double) + sizeof(int32_t), row = sizeof(int64_t) + 14 * 3 * sizeof(double);
    return block * (double)A->rowptr[A->rows] + row * A->rows;
}

static const drape_i_variant *variant_of(const drape_i_candidate *is) { return &is->precond->variant[is->variant]; }

double drape_i_setup_bytes(const drape_i_candidate *is, drape_i_prepared what, double pass) {
    const drape_i_variant *v = variant_of(is);
    return v->setup[what] * pass + (what == DRAPE_I_KEPT ? 0 : v->setup_bytes);
}

static const drape_i_variant *costs_of(const drape_i_choice *c, int32_t k) { return variant_of(&c->candidate[k]); }

static double setup_of(const drape_i_choice *c, int32_t k, drape_i_prepared what) {
    return drape_i_setup_bytes(&c->candidate[k], what, c->pass);
}

static bool is_certain(const drape_i_choice *c, int32_t k) { return c->candidate[k].precond->certain; }

/* The natural logarithm to 6 %: straight lines between powers of two, so that all machines agree on it. */
static double rough_log(double x) {
    int exponent;
    double mantissa = frexp(x, &exponent);
    return 0.6931471805599453 * (2 * mantissa - 2 + exponent);
}

static double effort(const drape_i_choice *c, double start) {
    return start > 0 && isfinite(start) ? fmax(rough_log(0.1 * start / c->tol), LEAST_EFFORT) : LEAST_EFFORT;
}

/* With the block diagonal. */
static double foreseen_plain(const drape_i_choice *c, double start) {
    double soft = 1 / c->stiffness + HOLD / (c->depth * c->depth);
    return effort(c, start) * SPEED / sqrt(fmax(soft, DBL_MIN));
}

typedef struct iteration_estimate {
    double share, fixed; /* iterations */
} iteration_estimate;

/* What k would take if all were as estimated: a part that grows with how hard the problem is, and one that grows with
 * the square root of that. */
static iteration_estimate foreseen(const drape_i_choice *c, int32_t k, double start) {
    const drape_i_variant *v = costs_of(c, k);
    return (iteration_estimate){v->share * foreseen_plain(c, start), v->fixed * effort(c, start) / USUAL_EFFORT};
}

static double at_hardness(iteration_estimate f, double hardness) {
    return f.share * hardness + f.fixed * sqrt(hardness);
}

/* The inverse. */
static double hardness_of(iteration_estimate f, double iterations) {
    double root = 2 * iterations / (f.fixed + sqrt(f.fixed * f.fixed + 4 * f.share * iterations));
    return root * root;
}

static double or_one(double x) { return x > 0 ? x : 1; }

/* Whether its iterations hardly depend on how hard the problems are: those of multigrid, which stay the same where
 * the block diagonal's have become a third of what they were. */
static bool tells_little(const drape_i_choice *c, int32_t k) {
    iteration_estimate f = foreseen(c, k, c->start);
    return f.fixed > f.share;
}

/* Where these hardly change, those of k's own last solves say more than what others take now. */
static double iterations_of(const drape_i_choice *c, int32_t k) {
    if (c->usual[k] > 0 && tells_little(c, k)) return c->usual[k] * effort(c, c->start);
    return at_hardness(foreseen(c, k, c->start), or_one(c->hardness)) * or_one(c->relation[k]);
}

static double solve_cost(const drape_i_choice *c, int32_t k) {
    return (iterations_of(c, k) + 1) * costs_of(c, k)->iteration * c->pass; /* and once to begin */
}

static double change_cost(const drape_i_choice *c, int32_t k) {
    return fmax(setup_of(c, k, c->built[k] ? DRAPE_I_REFRESHED : DRAPE_I_BUILT), LEAST_CHANGE * c->pass);
}

/* ---- Choosing ---- */

/* Those that may be chosen, or those that others only fall back to. */
static void list_candidates(drape_i_choice *c, bool automatic) {
    const drape_i_precond *precond;
    for (int32_t i = 0; (precond = drape_i_precond_at(i)); i++) {
        if (precond->automatic != automatic || (!automatic && precond->fallback == 0)) continue;
        if (precond->fallback == 1) c->plain = c->known;
        for (int32_t v = 0; v < (automatic ? precond->variants : 1); v++) {
            DRAPE_ASSERT(c->known < DRAPE_I_MOST_CANDIDATES);
            c->candidate[c->known++] = (drape_i_candidate){precond, v};
        }
    }
}

void drape_i_choice_begin(drape_i_choice *c, double pass, double tol) {
    *c = (drape_i_choice){.pass = pass,
                          .stiffness = 1,
                          .depth = DBL_MAX,
                          .tol = tol,
                          .start = 1,
                          .patience = 1,
                          .now = -1,
                          .trial = -1,
                          .lost = -1};
    c->next_trial = FIRST_TRIAL;
    list_candidates(c, true);
    c->count = c->known;
    list_candidates(c, false);
    for (int32_t k = 0; k < c->count; k++) {
        bool kept = c->candidate[k].precond->prepared;
        double each = setup_of(c, k, DRAPE_I_REFRESHED);
        c->upkeep[k] = kept ? setup_of(c, k, DRAPE_I_KEPT) + each / KEPT_FOR : each;
    }
}

void drape_i_choice_move(drape_i_choice *c, double pass) {
    double growth = c->pass > 0 ? pass / c->pass : 1;
    for (int32_t k = 0; k < c->count; k++) {
        c->built[k] = false;
        if (c->relation[k] >= NEVER) c->relation[k] = 0;
        c->upkeep[k] *= growth;
        c->regret[k] *= growth;
    }
    c->pass = pass;
    c->depth = DBL_MAX;
}

int32_t drape_i_choice_fallback(const drape_i_choice *c, int32_t k) {
    const int32_t now = c->candidate[k].precond->fallback;
    int32_t next = -1;
    for (int32_t i = 0; i < c->known; i++) {
        int32_t place = c->candidate[i].precond->fallback;
        if (place > now && (next < 0 || place < c->candidate[next].precond->fallback)) next = i;
    }
    return next;
}

int32_t drape_i_choose_once(const drape_i_choice *c, const bool may[DRAPE_I_MOST_CANDIDATES]) {
    int32_t best = -1;
    double least = 0;
    for (int32_t k = 0; k < c->count; k++) {
        if (!may[k]) continue;
        double cost = solve_cost(c, k) + setup_of(c, k, c->built[k] ? DRAPE_I_REFRESHED : DRAPE_I_BUILT);
        if (!is_certain(c, k)) cost *= CLEARLY;
        if (best >= 0 && !(cost < least)) continue;
        best = k;
        least = cost;
    }
    return best;
}

static void change_to(drape_i_choice *c, int32_t k) {
    if (c->now >= 0 && c->patience < MOST_PATIENCE) c->patience *= 2;
    for (int32_t i = 0; i < c->count; i++) c->regret[i] = 0;
    c->now = k;
    c->solves = 0;
}

/* One that is set up, or the block diagonal, which takes next to nothing; of these the one not seen for longest.
 * Other variants of the one at work share its memory. */
static int32_t next_to_try(const drape_i_choice *c, const bool may[DRAPE_I_MOST_CANDIDATES]) {
    int32_t oldest = -1;
    for (int32_t k = 0; k < c->count; k++) {
        bool ready = k == c->plain || c->built[k];
        if (!may[k] || !ready || c->candidate[k].precond == c->candidate[c->now].precond) continue;
        if (c->relation[k] >= NEVER || (oldest >= 0 && c->seen[k] >= c->seen[oldest])) continue;
        oldest = k;
    }
    return oldest;
}

/* The candidate to try in this solve; -1: none. */
static int32_t begin_trial(drape_i_choice *c, const bool may[DRAPE_I_MOST_CANDIDATES]) {
    if (++c->solves < c->next_trial) return -1;
    c->solves = 0;
    c->trials++;
    if (c->next_trial < MOST_UNTRIED) c->next_trial *= 2;
    return next_to_try(c, may);
}

int32_t drape_i_choose(drape_i_choice *c, const bool may[DRAPE_I_MOST_CANDIDATES]) {
    int32_t best = -1;
    double most = 0;
    c->trial = c->lost = -1;
    if (c->now < 0 || !may[c->now]) {
        change_to(c, drape_i_choose_once(c, may));
        return c->now;
    }
    for (int32_t k = 0; k < c->count; k++) {
        double gain = c->regret[k] - change_cost(c, k) * c->patience;
        if (k == c->now || !may[k] || !(gain > most)) continue;
        best = k;
        most = gain;
    }
    if (best >= 0) change_to(c, best);
    else c->trial = begin_trial(c, may);
    return c->trial >= 0 ? c->trial : c->now;
}

int32_t drape_i_patience_for(const drape_i_choice *c, int32_t k, const bool may[DRAPE_I_MOST_CANDIDATES]) {
    bool others[DRAPE_I_MOST_CANDIDATES];
    if (k == c->trial)
        return 1 + (int32_t)fmin((solve_cost(c, c->now) + c->upkeep[c->now]) / (costs_of(c, k)->iteration * c->pass),
                                 MOST_TRIED);
    for (int32_t i = 0; i < c->count; i++) others[i] = may[i] && i != k;
    int32_t other = drape_i_choose_once(c, others);
    if (other < 0) return INT32_MAX;
    double cost = solve_cost(c, other) + setup_of(c, other, DRAPE_I_BUILT) + solve_cost(c, k);
    double most = fmax(TOO_MUCH * cost / (costs_of(c, k)->iteration * c->pass), ENOUGH);
    if (costs_of(c, k)->most > 0) most = fmin(most, costs_of(c, k)->most);
    return most < INT32_MAX ? (int32_t)most : INT32_MAX;
}

/* ---- Learning ---- */

static void remember(double *mean, double now) { *mean += FORGET * (now - *mean); }

/* A candidate's first solve tells how it compares with the others, the later ones how hard the problems are by now.
 */
static void compare(drape_i_choice *c, int32_t k, double start, double iterations) {
    iteration_estimate f = foreseen(c, k, start);
    if (!(iterations > 0)) return;
    if (c->relation[k] > 0) remember(&c->hardness, hardness_of(f, iterations / c->relation[k]));
    else if (c->hardness > 0) c->relation[k] = iterations / at_hardness(f, c->hardness);
    else c->hardness = hardness_of(f, iterations), c->relation[k] = 1;
}

/* How often k must be refreshed, of late, is how often its other variants would have to be. */
static void learn_upkeep(drape_i_choice *c, int32_t k, double setup) {
    double kept = setup_of(c, k, DRAPE_I_KEPT), refreshed = setup_of(c, k, DRAPE_I_REFRESHED);
    remember(&c->upkeep[k], setup);
    double share = refreshed > kept ? (c->upkeep[k] - kept) / (refreshed - kept) : 1;
    for (int32_t i = 0; i < c->count; i++) {
        if (i == k || c->candidate[i].precond != c->candidate[k].precond) continue;
        kept = setup_of(c, i, DRAPE_I_KEPT), refreshed = setup_of(c, i, DRAPE_I_REFRESHED);
        c->upkeep[i] = kept + share * (refreshed - kept);
    }
}

/* What the trial of k says of it, against how hard the problems are by the one at work. */
static void learn_trial(drape_i_choice *c, int32_t k, double start, double iterations) {
    if (iterations > 0 && c->hardness > 0)
        c->relation[k] = iterations / at_hardness(foreseen(c, k, start), c->hardness);
    c->built[k] = true;
    c->trial = -1;
}

void drape_i_choice_learn_slow(drape_i_choice *c, int32_t k, const drape_i_outcome *o) {
    bool others = false; /* by which it is known how hard the problems are */
    for (int32_t i = 0; i < c->count; i++) others |= i != k && c->relation[i] > 0 && c->relation[i] < NEVER;
    if (k == c->trial || !others || !(c->hardness > 0)) {
        if (k == c->trial) c->lost = k, c->lost_iterations = o->iterations;
        drape_i_choice_learn(c, k, o);
        return;
    }
    c->seen[k] = c->trials;
    c->built[k] = true;
    c->relation[k] = fmax(c->relation[k], o->iterations / at_hardness(foreseen(c, k, o->start), c->hardness));
}

/* How many iterations a trial that was lost would have taken: by what it left to the one at work, which went on from
 * where it was. Its own residual does not show that. It falls fast at first, while soft motions are as they were. */
static void learn_lost(drape_i_choice *c, const drape_i_outcome *o) {
    const int32_t k = c->lost;
    const double whole = fmax(iterations_of(c, c->now), 1);
    const double done = fmin(fmax(1 - o->iterations / whole, LEAST_DONE), MOST_DONE);
    learn_trial(c, k, c->start, c->lost_iterations / done);
    if (1 / done > CLEARLY_LOST && c->next_trial < MOST_UNTRIED) c->next_trial *= 2;
    c->lost = -1;
}

/* The iterations that count for later solves. Levels of an older matrix may have cost many more, which says when they
 * should have been refreshed, and nothing of k. */
static double lasting_iterations(const drape_i_choice *c, int32_t k, const drape_i_outcome *o) {
    if (o->prepared != DRAPE_I_KEPT || o->spared || !(c->usual[k] > 0)) return o->iterations;
    return fmin(o->iterations, STALE * c->usual[k] * effort(c, o->start));
}

/* What others would have saved. What levels that k kept have cost counts for other preconditioners alone: another
 * variant would have kept its own. */
static void add_regret(drape_i_choice *c, int32_t k, const drape_i_outcome *o, double lasting) {
    const double upkeep = o->spared ? 0 : 1; /* the others would have been spared theirs, too */
    const double margin = is_certain(c, k) ? SURELY : 1;
    for (int32_t i = 0; i < c->count; i++) {
        const bool kin = c->candidate[i].precond == c->candidate[k].precond;
        const double passes = ((kin ? lasting : o->iterations) + 1) * costs_of(c, k)->iteration;
        const double spent = passes * c->pass + upkeep * c->upkeep[k];
        const double other = (solve_cost(c, i) + upkeep * c->upkeep[i]) * (tells_little(c, i) ? margin : 1);
        c->regret[i] = i == k ? 0 : fmax(0, c->regret[i] + spent - other);
    }
}

void drape_i_choice_learn(drape_i_choice *c, int32_t k, const drape_i_outcome *o) {
    c->seen[k] = c->trials;
    if (k == c->trial) {
        learn_trial(c, k, o->start, o->iterations);
        return;
    }
    if (c->now != k) change_to(c, k);
    c->built[k] = true;
    if (c->lost >= 0) { /* this was the rest of a solve */
        learn_lost(c, o);
        return;
    }
    c->start = o->start;
    const double lasting = lasting_iterations(c, k, o);
    compare(c, k, o->start, lasting);
    if (!(c->usual[k] > 0)) c->usual[k] = lasting / effort(c, o->start);
    else remember(&c->usual[k], lasting / effort(c, o->start));
    if (o->prepared != DRAPE_I_BUILT && !o->spared) learn_upkeep(c, k, o->setup);
    add_regret(c, k, o, lasting);
}

void drape_i_choice_dismiss(drape_i_choice *c, int32_t k) {
    c->relation[k] = NEVER;
    c->regret[k] = 0;
    if (c->now == k) c->now = -1;
    if (c->lost == k) c->lost = -1;
    if (c->trial == k) c->trial = -1;
}
