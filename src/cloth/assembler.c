/* assembler.c: the list of forces on a cloth, and the pattern that their elements need. At a state it computes
 * A = mass M + damping D + stiffness K, f and K v.
 *
 * Rows start from their masses and from what the forces add to each vertex alone, in the order of the list. Then come
 * the terms of elements, in the order of the list within each window of rows (sparse/assembly.h). */
#include "base/parallel.h"
#include "cloth/force.h"
#include "sparse/matrix.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_active(const drape_i_force *f) { return !f->is_active || f->is_active(f); }

/* ---- pattern and plan ---- */

static int32_t list_sets(const drape_assembler *a, drape_elements sets[DRAPE_I_ASSEMBLY_SETS]) {
    int32_t count = 0;
    for (int32_t i = 0; i < a->count; i++)
        for (int32_t t = 0; t < a->force[i].term_count; t++) {
            DRAPE_ASSERT(count < DRAPE_I_ASSEMBLY_SETS);
            sets[count++] = a->force[i].terms[t].elements;
        }
    return count;
}

static void find_diagonals(const drape_bsr3 *A, int32_t *diagonal) {
    for (int32_t i = 0; i < A->rows; i++) {
        int64_t block = drape_i_matrix_find(A, i, i);
        DRAPE_ASSERT(block >= A->rowptr[i] && block < A->rowptr[i + 1]);
        diagonal[i] = (int32_t)(block - A->rowptr[i]);
    }
}

/* What the list's elements need. */
typedef struct plan {
    drape_matrix *pattern;
    drape_i_assembly *assembly;
    int32_t *diagonal, *slot, *membrane_slot;
} plan;

static int64_t coupling_count(const drape_assembler *a) { return a->cloth->bending ? a->cloth->bending->count : 0; }

static void clear_plan(const drape_assembler *a, plan *p) {
    drape_i_assembly_destroy(p->assembly);
    drape_matrix_destroy(p->pattern);
    DRAPE_FREE(a->ctx, p->diagonal, a->cloth->vertices);
    DRAPE_FREE(a->ctx, p->slot, coupling_count(a));
    DRAPE_FREE(a->ctx, p->membrane_slot, drape_i_nodal_slot_count(a->cloth->membrane));
    *p = (plan){0};
}

/* Blocks for all elements of the sets, and for all couplings of quadratic bending and of the membrane. */
static drape_status make_pattern(const drape_assembler *a, const drape_elements *sets, int32_t count,
                                 drape_matrix **out) {
    const drape_i_quadratic *q = a->cloth->bending;
    drape_elements all[DRAPE_I_ASSEMBLY_SETS + 2];
    int32_t *pairs = NULL, pair_count = 0, *more = NULL, more_count = 0;
    memcpy(all, sets, (size_t)count * sizeof *sets);
    drape_status status = q ? drape_i_quadratic_pairs(a->ctx, q, &pairs, &pair_count) : DRAPE_OK;
    if (q) all[count++] = (drape_elements){2, pair_count, pairs};
    if (!status && a->cloth->membrane) status = drape_i_nodal_pairs(a->ctx, a->cloth->membrane, &more, &more_count);
    if (more) all[count++] = (drape_elements){2, more_count, more};
    if (!status) status = drape_i_pattern_from_elements(a->ctx, a->cloth->vertices, all, count, out);
    DRAPE_FREE(a->ctx, more, 2 * (int64_t)more_count);
    DRAPE_FREE(a->ctx, pairs, coupling_count(a));
    return status;
}

static drape_status find_slots(const drape_assembler *a, const drape_bsr3 *pattern, int32_t **slot) {
    const drape_i_quadratic *q = a->cloth->bending;
    if (!q) return DRAPE_OK;
    if (!DRAPE_NEW(a->ctx, *slot, q->count)) return DRAPE_ERROR_MEMORY;
    for (int32_t i = 0; i < q->vertices; i++)
        for (int64_t e = q->rowptr[i]; e < q->rowptr[i + 1]; e++)
            (*slot)[e] = (int32_t)(drape_i_matrix_find(pattern, i, q->col[e]) - pattern->rowptr[i]);
    return DRAPE_OK;
}

static drape_status find_membrane_slots(const drape_assembler *a, const drape_bsr3 *pattern, int32_t **slot) {
    const drape_i_nodal *q = a->cloth->membrane;
    if (!q) return DRAPE_OK;
    if (!DRAPE_NEW(a->ctx, *slot, drape_i_nodal_slot_count(q))) return DRAPE_ERROR_MEMORY;
    drape_i_nodal_find_slots(q, pattern, *slot);
    return DRAPE_OK;
}

static drape_status make_plan(const drape_assembler *a, plan *out) {
    drape_elements sets[DRAPE_I_ASSEMBLY_SETS];
    int32_t count = list_sets(a, sets);
    *out = (plan){0};
    drape_status status = make_pattern(a, sets, count, &out->pattern);
    if (status) return status;
    drape_bsr3 pattern = drape_matrix_view(out->pattern);
    status = drape_i_assembly_create(a->ctx, &pattern, sets, count, &out->assembly);
    if (!status && !DRAPE_NEW(a->ctx, out->diagonal, pattern.rows)) status = DRAPE_ERROR_MEMORY;
    if (!status) status = find_slots(a, &pattern, &out->slot);
    if (!status) status = find_membrane_slots(a, &pattern, &out->membrane_slot);
    if (status) clear_plan(a, out);
    else find_diagonals(&pattern, out->diagonal);
    return status;
}

static void exchange_plan(drape_assembler *a, plan *p) {
    plan old = {a->pattern, a->plan, a->diagonal, a->slot, a->membrane_slot};
    a->pattern = p->pattern, a->plan = p->assembly, a->diagonal = p->diagonal, a->slot = p->slot;
    a->membrane_slot = p->membrane_slot;
    *p = old;
}

/* A matrix with the values of `from` on a pattern that holds all of its blocks. */
static drape_status carry_over(drape_matrix *pattern, const drape_matrix *from, drape_matrix **out) {
    drape_status status = drape_i_matrix_on_pattern(pattern, out);
    if (status) return status;
    drape_bsr3 old = drape_matrix_view(from), new = drape_matrix_view(*out);
    DRAPE_ASSERT(old.rows == new.rows);
    for (int32_t i = 0; i < old.rows; i++)
        for (int64_t k = old.rowptr[i]; k < old.rowptr[i + 1]; k++) {
            int64_t to = drape_i_matrix_find(&new, i, old.col[k]);
            DRAPE_ASSERT(to >= 0);
            memcpy(new.val + 9 * to, old.val + 9 * k, 9 * sizeof *new.val);
        }
    return DRAPE_OK;
}

/* All of them, or none. */
static drape_status carry_all(drape_matrix *pattern, drape_matrix **const matrices[], int32_t count) {
    drape_matrix *made[DRAPE_I_CARRIED] = {NULL};
    drape_status status = DRAPE_OK;
    DRAPE_ASSERT(count <= DRAPE_I_CARRIED);
    for (int32_t i = 0; i < count && !status; i++)
        if (*matrices[i]) status = carry_over(pattern, *matrices[i], &made[i]);
    for (int32_t i = 0; i < count; i++) {
        drape_matrix_destroy(status ? made[i] : *matrices[i]);
        if (!status) *matrices[i] = made[i];
    }
    return status;
}

/* ---- the list ---- */

/* Air that changes from place to place makes air_drag depend on x as well, unless it is looked up at lagged_x. */
static drape_status set_outside(drape_assembler *a, const drape_forces *forces) {
    drape_status status = drape_i_outside_set(&a->outside, forces);
    if (!status) a->force[DRAPE_I_FORCE_AIR_DRAG].has_potential = !a->outside.wind.air;
    return status;
}

drape_status drape_assembler_create(const drape_cloth *cloth, const drape_forces *forces, drape_assembler **out) {
    drape_assembler *a;
    if (out) *out = NULL;
    if (!cloth) return DRAPE_ERROR_ARGUMENT;
    if (!out) return drape_i_fail(cloth->ctx, DRAPE_ERROR_ARGUMENT, "assembler: the result is NULL");
    const drape_forces outside = forces ? *forces : drape_forces_defaults();
    drape_status status = drape_i_forces_check(cloth->ctx, &outside);
    if (status) return status;
    if (!DRAPE_NEW(cloth->ctx, a, 1)) return DRAPE_ERROR_MEMORY;
    a->ctx = cloth->ctx;
    a->cloth = cloth;
    drape_i_forces_fill(&a->outside, cloth, a->force);
    a->count = DRAPE_I_BUILT_IN_FORCES;
    plan p;
    status = set_outside(a, &outside);
    if (!status) status = make_plan(a, &p);
    if (!status) exchange_plan(a, &p);
    if (!status && cloth->membrane)
        status = drape_i_nodal_state_create(a->ctx, cloth->membrane,
                                            cloth->settings.damping_jacobian == DRAPE_DAMPING_FULL, &a->membrane);
    if (status) drape_assembler_destroy(a);
    else *out = a;
    return status;
}

void drape_assembler_destroy(drape_assembler *a) {
    if (!a) return;
    drape_context *ctx = a->ctx;
    int64_t n = a->cloth->vertices;
    clear_plan(a, &(plan){a->pattern, a->plan, a->diagonal, a->slot, a->membrane_slot});
    drape_i_nodal_state_clear(a->ctx, a->cloth->membrane, &a->membrane);
    drape_i_outside_clear(&a->outside);
    for (int32_t i = 0; i < DRAPE_MOST_FORCES; i++) drape_i_custom_destroy(ctx, a->custom[i]);
    DRAPE_FREE(ctx, a->potential, a->potential_count);
    DRAPE_FREE(ctx, a->sums.force, 3 * n);
    DRAPE_FREE(ctx, a->sums.stiffness, 9 * n);
    DRAPE_FREE(ctx, a->sums.damping, 9 * n);
    DRAPE_FREE(ctx, a, 1);
}

drape_status drape_assembler_set_forces(drape_assembler *a, const drape_forces *f) {
    if (!a) return DRAPE_ERROR_ARGUMENT;
    if (!f) return drape_i_fail(a->ctx, DRAPE_ERROR_ARGUMENT, "forces: NULL");
    drape_status status = drape_i_forces_check(a->ctx, f);
    return status ? status : set_outside(a, f);
}

static drape_status check_new(const drape_assembler *a, const drape_force *force) {
    if (!force) return drape_i_fail(a->ctx, DRAPE_ERROR_ARGUMENT, "the force is NULL");
    if (a->count == DRAPE_I_FORCES)
        return drape_i_fail(a->ctx, DRAPE_ERROR_ARGUMENT,
                            "there are already %d forces of your own, the most that are possible", DRAPE_MOST_FORCES);
    for (int32_t i = 0; i < a->count && force->name; i++)
        if (strcmp(a->force[i].name, force->name) == 0)
            return drape_i_fail(a->ctx, DRAPE_ERROR_ARGUMENT, "there is already a force \"%s\"; use another name",
                                force->name);
    return DRAPE_OK;
}

/* What is allocated stays for a later try. */
static drape_status allocate_sums(drape_assembler *a) {
    int64_t n = a->cloth->vertices;
    bool good = (a->sums.force || DRAPE_NEW(a->ctx, a->sums.force, 3 * n)) &&
                (a->sums.stiffness || DRAPE_NEW(a->ctx, a->sums.stiffness, 9 * n)) &&
                (a->sums.damping || DRAPE_NEW(a->ctx, a->sums.damping, 9 * n));
    return good ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

/* Makes what the list needs that the force now ends. */
static drape_status extend(drape_assembler *a, const drape_force *force, drape_matrix **const matrices[],
                           int32_t count) {
    plan p;
    if (force->all) return allocate_sums(a);
    drape_status status = make_plan(a, &p);
    if (status) return status;
    status = carry_all(p.pattern, matrices, count);
    if (!status) exchange_plan(a, &p);
    clear_plan(a, &p);
    return status;
}

drape_status drape_i_assembler_add(drape_assembler *a, const drape_force *force, drape_matrix **const matrices[],
                                   int32_t count) {
    drape_status status = check_new(a, force);
    if (status) return status;
    drape_i_custom **custom = &a->custom[a->count - DRAPE_I_BUILT_IN_FORCES];
    status = drape_i_custom_create(a->ctx, force, a->cloth->vertices, custom, &a->force[a->count]);
    if (status) return status;
    a->count++;
    status = extend(a, force, matrices, count);
    if (!status) {
        a->any_all |= force->all != NULL;
        return DRAPE_OK;
    }
    a->count--;
    drape_i_custom_destroy(a->ctx, *custom);
    *custom = NULL;
    return status;
}

drape_status drape_assembler_add(drape_assembler *a, const drape_force *force) {
    return a ? drape_i_assembler_add(a, force, NULL, 0) : DRAPE_ERROR_ARGUMENT;
}

int32_t drape_assembler_count(const drape_assembler *a) { return a ? a->count : 0; }

const char *drape_assembler_name(const drape_assembler *a, int32_t index) {
    return a && index >= 0 && index < a->count ? a->force[index].name : NULL;
}

drape_status drape_assembler_matrix(const drape_assembler *a, drape_matrix **out) {
    if (out) *out = NULL;
    if (!a) return DRAPE_ERROR_ARGUMENT;
    if (!out) return drape_i_fail(a->ctx, DRAPE_ERROR_ARGUMENT, "assembler: the matrix is NULL");
    return drape_i_matrix_on_pattern(a->pattern, out);
}

/* ---- what forces of a program's own got wrong ---- */

static void forget_culprits(drape_assembler *a) {
    a->explanation[0] = 0;
    for (int32_t i = DRAPE_I_BUILT_IN_FORCES; i < a->count; i++)
        atomic_store(&a->custom[i - DRAPE_I_BUILT_IN_FORCES]->culprit, INT_MAX);
}

static drape_status find_culprit(drape_assembler *a, double time) {
    for (int32_t i = 0; i < a->count - DRAPE_I_BUILT_IN_FORCES; i++) {
        const drape_i_custom *c = a->custom[i];
        int place = atomic_load(&c->culprit);
        if (place == INT_MAX) continue;
        snprintf(a->explanation, sizeof a->explanation,
                 "the force \"%s\" returns a number that is not finite at %s %d (t = %g s)", c->name,
                 c->force.element ? "element" : "vertex", place, time);
        return DRAPE_ERROR_NUMBER;
    }
    return DRAPE_OK;
}

/* One energy; of a program's own it must be finite. */
static drape_status find_energy(drape_assembler *a, int32_t index, const drape_i_evaluation *at, double *out) {
    const drape_i_force *f = &a->force[index];
    *out = f->energy(f, a->ctx, at);
    if (isfinite(*out) || index < DRAPE_I_BUILT_IN_FORCES) return DRAPE_OK;
    snprintf(a->explanation, sizeof a->explanation, "the energy of the force \"%s\" is not finite (t = %g s)",
             f->name, at->time);
    return DRAPE_ERROR_NUMBER;
}

const char *drape_i_assembler_explain(const drape_assembler *a) { return a->explanation[0] ? a->explanation : NULL; }

/* ---- running ---- */

typedef struct job {
    const drape_assembler *assembler;
    const drape_assembly *what;
    const drape_i_evaluation *at;
    drape_bsr3 A;
    int32_t only; /* a force alone, without masses; ALL: all of them */
    bool upper;   /* the assembly mirrors */
} job;

enum { ALL = -1 };

static bool acts(const drape_assembler *a, int32_t index, int32_t only) {
    return (only == ALL || only == index) && is_active(&a->force[index]);
}

/* The sums of functions over all positions. */
static void add_sums(const drape_assembler *a, const drape_i_evaluation *at, const drape_i_rows *rows) {
    for (int64_t i = rows->begin; i < rows->end; i++) {
        const double *f = a->sums.force + 3 * i, *K = a->sums.stiffness + 9 * i, *D = a->sums.damping + 9 * i;
        const double *v = at->v + 3 * i;
        for (int32_t k = 0; k < 3 && rows->force; k++) rows->force[3 * i + k] += f[k];
        for (int32_t k = 0; k < 3 && rows->stiff_v; k++)
            rows->stiff_v[3 * i + k] += (K[3 * k] * v[0] + K[3 * k + 1] * v[1]) + K[3 * k + 2] * v[2];
        if (!rows->A.val) continue;
        double *block = rows->A.val + 9 * (rows->A.rowptr[i] + rows->diagonal[i]);
        for (int32_t k = 0; k < 9; k++) block[k] += at->stiffness * K[k] + at->damping * D[k];
    }
}

/* What belongs to a vertex alone: its mass, then what each force adds. */
static void start_rows(void *data, int32_t begin, int32_t end) {
    const job *j = data;
    const drape_assembler *a = j->assembler;
    const drape_assembly *what = j->what;
    const drape_i_rows rows = {begin,       end,     what->force, what->stiff_v,    j->A,
                               a->diagonal, a->slot, j->upper,    a->membrane_slot, &a->membrane};
    DRAPE_ASSERT(begin >= 0 && begin < end && end <= a->cloth->vertices);
    const size_t bytes = 3 * (size_t)(end - begin) * sizeof(double);
    if (what->force) memset(what->force + 3 * (int64_t)begin, 0, bytes);
    if (what->stiff_v) memset(what->stiff_v + 3 * (int64_t)begin, 0, bytes);
    for (int64_t i = begin; i < end && j->A.val; i++) {
        double *block = j->A.val + 9 * (j->A.rowptr[i] + a->diagonal[i]);
        for (int32_t k = 0; k < 3; k++) block[4 * k] = what->mass * a->cloth->mass[i];
    }
    for (int32_t i = 0; i < a->count; i++)
        if (a->force[i].add_rows && acts(a, i, j->only)) a->force[i].add_rows(&a->force[i], j->at, &rows);
    if (a->any_all) add_sums(a, j->at, &rows);
}

static void evaluate_all(drape_assembler *a, const drape_i_evaluation *at, int32_t only) {
    size_t n = (size_t)a->cloth->vertices;
    if (!a->any_all) return;
    memset(a->sums.force, 0, 3 * n * sizeof *a->sums.force);
    if (at->matrix || at->stiff_v) {
        memset(a->sums.stiffness, 0, 9 * n * sizeof *a->sums.stiffness);
        memset(a->sums.damping, 0, 9 * n * sizeof *a->sums.damping);
    }
    for (int32_t i = 0; i < a->count - DRAPE_I_BUILT_IN_FORCES; i++)
        if (a->custom[i]->force.all && acts(a, DRAPE_I_BUILT_IN_FORCES + i, only))
            drape_i_custom_evaluate_all(a->custom[i], at, &a->sums);
}

static void run(drape_assembler *a, const drape_assembly *what, const drape_i_evaluation *at, drape_bsr3 A,
                int32_t only) {
    drape_i_batch_fn kernels[DRAPE_I_ASSEMBLY_SETS];
    const void *data[DRAPE_I_ASSEMBLY_SETS];
    bool unsymmetric[DRAPE_I_ASSEMBLY_SETS];
    double *scalars[DRAPE_I_ASSEMBLY_SETS], *next = a->potential;
    const bool full = drape_i_damping_of(at) == DRAPE_I_DAMPING_FULL && at->jacobian != DRAPE_JACOBIAN_LINEAR;
    int32_t set = 0;
    for (int32_t i = 0; i < a->count; i++)
        for (int32_t t = 0; t < a->force[i].term_count; t++, set++) {
            const drape_i_term *term = &a->force[i].terms[t];
            kernels[set] = acts(a, i, only) ? term->batch[a->ctx->simd] : NULL;
            data[set] = term->data;
            unsymmetric[set] = term->unsymmetric || (term->damped && full);
            scalars[set] = term->potential ? next : NULL;
            if (scalars[set]) next += term->elements.count;
        }
    job j = {a, what, at, A, only, false};
    const drape_i_assembly_job assembly = {.A = A,
                                           .vectors = {what->force, what->stiff_v},
                                           .start = start_rows,
                                           .start_data = &j,
                                           .kernels = kernels,
                                           .kernel_data = data,
                                           .at = at,
                                           .unsymmetric = unsymmetric,
                                           .scalars = at->potential ? scalars : NULL};
    if (a->cloth->membrane && acts(a, DRAPE_I_FORCE_MODEL, only))
        drape_i_nodal_evaluate(a->ctx, a->cloth->membrane, at, &a->membrane);
    j.upper = drape_i_assembly_mirrors(a->plan, &assembly);
    drape_i_assembly_run(a->plan, &assembly);
}

static drape_status check_run(const drape_assembler *a, const drape_assembly *what, const drape_matrix *A) {
    if (!what || !what->x || !what->v)
        return drape_i_fail(a->ctx, DRAPE_ERROR_ARGUMENT, "assemble: positions or velocities are missing");
    if (!(what->exactness >= 0 && what->exactness <= 1))
        return drape_i_fail(a->ctx, DRAPE_ERROR_ARGUMENT,
                            "assemble: exactness is %g; it must be in [0, 1], 0 for the Jacobian of the settings",
                            what->exactness);
    if (A && A->pattern != a->pattern)
        return drape_i_fail(
            a->ctx, DRAPE_ERROR_ARGUMENT,
            "assemble: the matrix was not made by drape_assembler_matrix of this assembler, or a force "
            "was added since");
    return drape_i_check_reserved(a->ctx, "drape_assembly", what->reserved, 1);
}

/* ---- potentials ---- */

static bool has_potential(const drape_i_force *f, bool lagged) {
    return lagged ? f->has_lagged_potential : f->has_potential;
}

drape_status drape_i_assembler_keep_potentials(drape_assembler *a) {
    int64_t count = 0;
    if (a->potential) return DRAPE_OK;
    for (int32_t i = 0; i < a->count; i++)
        for (int32_t t = 0; t < a->force[i].term_count; t++)
            count += a->force[i].terms[t].potential ? a->force[i].terms[t].elements.count : 0;
    if (count > 0 && !DRAPE_NEW(a->ctx, a->potential, count)) return DRAPE_ERROR_MEMORY;
    a->potential_count = count;
    return DRAPE_OK;
}

/* Element e sums into lane e modulo 8, as chunks start at multiples of eight. */
static void sum_elements(void *data, int64_t begin, int64_t end, double *sums) {
    const double *from = data;
    double lanes[DRAPE_I_LANES] = {0};
    int64_t i = begin;
    for (; i + DRAPE_I_LANES <= end; i += DRAPE_I_LANES)
        for (int32_t l = 0; l < DRAPE_I_LANES; l++) lanes[l] += from[i + l];
    for (int32_t l = 0; i + l < end; l++) lanes[l] += from[i + l];
    for (int32_t l = 0; l < DRAPE_I_LANES; l++) sums[0] += lanes[l];
}

/* What the batches of a force's terms left, which start at *next. */
static double sum_batches(const drape_assembler *a, const drape_i_force *f, double *next) {
    double total = 0, sum;
    for (int32_t t = 0; t < f->term_count; t++) {
        drape_i_sum(a->ctx, f->terms[t].elements.count, DRAPE_I_GRAIN, sum_elements, next, 1, &sum);
        next += f->terms[t].elements.count;
        total += sum;
    }
    return total;
}

/* Whether the potential of a force comes from its batches, at that state. */
static bool potential_from_batches(const drape_assembler *a, const drape_i_force *f, const drape_i_evaluation *at) {
    bool all = a->potential && at->potential && at->lagged_x && f->has_lagged_potential && f->term_count > 0;
    for (int32_t t = 0; t < f->term_count; t++) all &= f->terms[t].potential;
    return all;
}

static drape_status sum_potential(drape_assembler *a, const drape_i_evaluation *at, double c, double *out) {
    double energies = 0, dissipations = 0, *next = a->potential;
    drape_status status = DRAPE_OK;
    for (int32_t i = 0; i < a->count && !status; i++) {
        const drape_i_force *f = &a->force[i];
        double energy = 0;
        if (is_active(f) && potential_from_batches(a, f, at)) {
            energies += sum_batches(a, f, next);
            if (f->rows_potential) energies += f->rows_potential(f, a->ctx, at);
        } else if (is_active(f)) {
            if (f->energy) status = find_energy(a, i, at, &energy);
            energies += energy;
            if (f->dissipation && has_potential(f, at->lagged_x != NULL))
                dissipations += f->dissipation(f, a->ctx, at);
        }
        for (int32_t t = 0; t < f->term_count && next; t++)
            next += f->terms[t].potential ? f->terms[t].elements.count : 0;
    }
    *out = energies + c * dissipations;
    return status;
}

drape_status drape_i_assembler_run_potential(drape_assembler *a, const drape_assembly *what, drape_matrix *A,
                                             drape_i_potential *potential) {
    drape_status status = check_run(a, what, A);
    if (status) return status;
    const drape_cloth_settings *s = &a->cloth->settings;
    const bool clamped = what->clamped && s->jacobian == DRAPE_JACOBIAN_FULL;
    const drape_i_evaluation at = {.time = what->time,
                                   .x = what->x,
                                   .v = what->v,
                                   .lagged_x = what->lagged_x,
                                   .damping = what->damping,
                                   .stiffness = what->stiffness,
                                   .jacobian = clamped ? DRAPE_JACOBIAN_PSD : s->jacobian,
                                   .exactness = what->exactness,
                                   .damping_jacobian = s->damping_jacobian,
                                   .matrix = A != NULL,
                                   .stiff_v = what->stiff_v != NULL,
                                   .potential = potential && a->potential,
                                   .c = potential ? potential->c : 0,
                                   .membrane = &a->membrane};
    forget_culprits(a);
    drape_i_outside_find_air(&a->outside, &at);
    evaluate_all(a, &at, ALL);
    run(a, what, &at, drape_matrix_view(A ? A : a->pattern), ALL);
    status = find_culprit(a, what->time);
    return status || !potential ? status : sum_potential(a, &at, potential->c, &potential->value);
}

drape_status drape_i_assembler_run(drape_assembler *a, const drape_assembly *what, drape_matrix *A) {
    return drape_i_assembler_run_potential(a, what, A, NULL);
}

int32_t drape_i_assembler_largest(drape_assembler *a, const drape_assembly *where, int32_t vertex, double *force) {
    drape_assembly what = {.x = where->x, .v = where->v, .lagged_x = where->lagged_x, .time = where->time};
    const drape_i_evaluation at = {.time = what.time, .x = what.x, .v = what.v, .lagged_x = what.lagged_x};
    double most = -1;
    int32_t largest = 0;
    what.force = force;
    drape_i_outside_find_air(&a->outside, &at);
    for (int32_t i = 0; i < a->count; i++) {
        evaluate_all(a, &at, i);
        run(a, &what, &at, drape_matrix_view(a->pattern), i);
        const double *f = force + 3 * (int64_t)vertex;
        double square = f[0] * f[0] + f[1] * f[1] + f[2] * f[2];
        if (square > most) largest = i, most = square;
    }
    return largest;
}

/* With the message that the quiet functions leave out. */
static drape_status tell(drape_assembler *a, drape_status status) {
    const char *why = status == DRAPE_ERROR_NUMBER ? drape_i_assembler_explain(a) : NULL;
    return why ? drape_i_fail(a->ctx, status, "%s", why) : status;
}

drape_status drape_assembler_run(drape_assembler *a, const drape_assembly *what, drape_matrix *A) {
    return a ? tell(a, drape_i_assembler_run(a, what, A)) : DRAPE_ERROR_ARGUMENT;
}

/* ---- energies ---- */

drape_status drape_assembler_energy(drape_assembler *a, int32_t index, double time, const double *x, double *out) {
    if (out) *out = NAN;
    if (!a) return DRAPE_ERROR_ARGUMENT;
    if (!x || !out || index < 0 || index >= a->count)
        return drape_i_fail(
            a->ctx, DRAPE_ERROR_ARGUMENT,
            "energy of force %d of %d: positions or the result are missing, or there is no such force", index,
            a->count);
    const drape_i_evaluation at = {.time = time, .x = x, .jacobian = a->cloth->settings.jacobian};
    const drape_i_force *f = &a->force[index];
    return f->energy && is_active(f) ? tell(a, find_energy(a, index, &at, out)) : DRAPE_OK;
}

drape_status drape_assembler_dissipation(drape_assembler *a, int32_t index, double time, const double *x,
                                         const double *v, const double *lagged_x, double *power) {
    if (power) *power = NAN;
    if (!a) return DRAPE_ERROR_ARGUMENT;
    if (!x || !v || !power || index < 0 || index >= a->count)
        return drape_i_fail(a->ctx, DRAPE_ERROR_ARGUMENT,
                            "dissipation of force %d of %d: positions, velocities or the result are missing, or "
                            "there is no such force",
                            index, a->count);
    const drape_i_evaluation at = {.time = time, .x = x, .v = v, .lagged_x = lagged_x};
    const drape_i_force *f = &a->force[index];
    drape_i_outside_find_air(&a->outside, &at);
    if (f->power && is_active(f)) *power = f->power(f, a->ctx, &at);
    return DRAPE_OK;
}

bool drape_i_assembler_has_potential(const drape_assembler *a, bool lagged) {
    bool all = true;
    for (int32_t i = 0; i < a->count; i++) all &= !is_active(&a->force[i]) || has_potential(&a->force[i], lagged);
    return all;
}

drape_status drape_i_assembler_potential(drape_assembler *a, double time, double c, const double *x, const double *v,
                                         const double *lagged_x, double *out) {
    const drape_i_evaluation at = {
        .time = time, .x = x, .v = v, .lagged_x = lagged_x, .jacobian = a->cloth->settings.jacobian};
    drape_i_outside_find_air(&a->outside, &at);
    return sum_potential(a, &at, c, out);
}

bool drape_i_assembler_constant_jacobian(const drape_assembler *a) {
    bool all = true;
    for (int32_t i = 0; i < a->count; i++) all &= !is_active(&a->force[i]) || a->force[i].constant_jacobian;
    return all;
}
