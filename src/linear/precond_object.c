/* precond_object.c: a preconditioner by itself, for a Krylov method of the caller's (drape/solve.h). It is one of the
 * table, made as the method "ppcg" would have it made: from the prefiltered matrix (precond.h). */
#include "linear/solver.h"

#include <string.h>

struct drape_precond {
    drape_context *ctx;
    const drape_i_precond *is;
    drape_solve_settings settings;
    drape_i_pattern_key pattern; /* that state was made for; rows -1: there is none */
    void *state;
    bool ready;                  /* refreshed since then */
    drape_i_couplings couplings; /* of the last refresh, in memory that stays */
    drape_i_turned turned;       /* for problems with equalities */
    bool is_turned;              /* the last refresh had some */
};

static void release(drape_precond *p) {
    if (p->state) p->is->destroy(p->ctx, p->state);
    drape_i_couplings_free(p->ctx, &p->couplings);
    p->state = NULL;
    p->ready = false;
    p->pattern.rows = -1;
}

void drape_precond_destroy(drape_precond *p) {
    if (!p) return;
    release(p);
    drape_i_turned_free(p->ctx, &p->turned);
    DRAPE_FREE(p->ctx, p, 1);
}

/* Everything that depends on the pattern alone. */
static drape_status prepare(drape_precond *p, const drape_bsr3 *A) {
    if (p->state && drape_i_pattern_is(p->ctx, A, &p->pattern)) return DRAPE_OK;
    release(p);
    drape_status status = drape_bsr3_check(p->ctx, A);
    if (!status && p->is->symmetric) status = drape_i_check_halves(p->ctx, "precond", A);
    if (!status) status = p->is->create(p->ctx, A, &p->settings, &p->state);
    if (!status) p->pattern = drape_i_pattern_key_of(p->ctx, A);
    return status;
}

static drape_status find(drape_precond *p, const char *name) {
    char known[400];
    p->is = drape_i_precond_find(name);
    if (p->is) return DRAPE_OK;
    drape_i_list_names(NULL, drape_precond_name, known, sizeof known);
    return drape_i_fail(p->ctx, DRAPE_ERROR_ARGUMENT, "precond: unknown preconditioner \"%s\"; known: %s",
                        name ? name : "(NULL)", known);
}

/* When to refresh is up to the caller, so that values are never kept. */
static drape_status take_settings(drape_precond *p, const drape_solve_settings *settings) {
    drape_solve_settings s = settings ? *settings : (drape_solve_settings){0};
    drape_status status = drape_i_settings_resolve(p->ctx, &s);
    if (s.amg.reuse == DRAPE_REUSE_EVERYTHING) s.amg.reuse = DRAPE_REUSE_PATTERNS;
    p->settings = s;
    return status;
}

drape_status drape_precond_create(drape_context *ctx, const char *name, const drape_bsr3 *A,
                                  const drape_solve_settings *settings, drape_precond **out) {
    drape_precond *p;
    if (out) *out = NULL;
    if (!ctx || !A || !out) return drape_i_missing(ctx, "precond", A ? "out" : "A");
    if (!DRAPE_NEW(ctx, p, 1)) return DRAPE_ERROR_MEMORY;
    p->ctx = ctx;
    p->pattern.rows = p->turned.rows = -1;
    drape_status status = find(p, name);
    if (!status) status = take_settings(p, settings);
    if (!status) status = prepare(p, A);
    if (status) drape_precond_destroy(p);
    else *out = p;
    return status;
}

drape_status drape_precond_refresh(drape_precond *p, const drape_problem *problem) {
    double shift = 0;
    if (!p || !problem) return drape_i_missing(p ? p->ctx : NULL, "precond", "problem");
    drape_status status = drape_i_check_problem(p->ctx, "precond", problem);
    p->is_turned = drape_i_any_groups(problem->constraints);
    if (!status && p->is_turned) {
        status = drape_i_turned_pose(p->ctx, problem, false, false, &p->turned);
        problem = &p->turned.problem;
    }
    if (!status) status = prepare(p, problem->A);
    if (!status) status = drape_i_couplings_set(p->ctx, problem->A->rows, &problem->couplings, &p->couplings);
    if (!status) status = p->is->refresh(p->ctx, p->state, problem, problem->constraints, &p->couplings, &shift);
    p->ready = !status;
    return status;
}

drape_status drape_precond_apply(drape_precond *p, const double *r, double *z) {
    if (!p || ((!r || !z) && p->pattern.rows != 0))
        return drape_i_missing(p ? p->ctx : NULL, "precond", r ? "z" : "r");
    if (!p->ready)
        return drape_i_fail(p->ctx, DRAPE_ERROR_ARGUMENT,
                            "precond: %s has no values yet: call drape_precond_refresh first", p->is->name);
    if (r == z && p->pattern.rows != 0)
        return drape_i_fail(p->ctx, DRAPE_ERROR_ARGUMENT, "precond: r and z are the same array");
    if (p->is_turned) {
        memcpy(p->turned.work, r, 3 * (size_t)p->turned.rows * sizeof *r);
        drape_i_groups_turn(p->turned.G, true, p->turned.work);
        r = p->turned.work;
    }
    if (p->pattern.rows > 0) p->is->apply(p->ctx, p->state, r, z);
    if (p->is_turned) drape_i_groups_turn(p->turned.G, false, z);
    return DRAPE_OK;
}

/* ---- What others make of its levels ---- */

int32_t drape_precond_levels(const drape_precond *p) {
    return p && p->ready && p->is->describe ? p->is->describe(p->state, -1, NULL) : 0;
}

drape_status drape_precond_level(const drape_precond *p, int32_t index, drape_amg_level *out) {
    if (!p || !out) return drape_i_missing(p ? p->ctx : NULL, "precond", "out");
    if (index < 0 || index >= drape_precond_levels(p))
        return drape_i_fail(p->ctx, DRAPE_ERROR_ARGUMENT, "precond: there is no level %d; there are %d", index,
                            drape_precond_levels(p));
    p->is->describe(p->state, index, out);
    return DRAPE_OK;
}

drape_status drape_precond_interpolation(const drape_precond *p, int32_t level, drape_interpolation *io) {
    if (!p || !io) return drape_i_missing(p ? p->ctx : NULL, "precond", "io");
    drape_status status = drape_i_check_reserved(p->ctx, "drape_interpolation", io->reserved, 4);
    if (status) return status;
    if (!p->is->interpolation)
        return drape_i_fail(p->ctx, DRAPE_ERROR_ARGUMENT, "precond: %s has no levels, and no interpolations",
                            p->is->name);
    if (!p->ready)
        return drape_i_fail(p->ctx, DRAPE_ERROR_ARGUMENT,
                            "precond: %s has no values yet: call drape_precond_refresh first", p->is->name);
    if (p->is_turned && level == 0)
        return drape_i_fail(
            p->ctx, DRAPE_ERROR_ARGUMENT,
            "precond: with equalities the finest level has turned unknowns; there is no interpolation "
            "to those of the caller");
    return p->is->interpolation(p->ctx, p->state, level, io);
}

drape_status drape_precond_due(drape_precond *p, const drape_problem *problem, drape_precond_work *out) {
    if (!p || !problem || !out) return drape_i_missing(p ? p->ctx : NULL, "precond", problem ? "out" : "problem");
    drape_status status = drape_i_check_problem(p->ctx, "precond", problem);
    if (status) return status;
    *out = DRAPE_PRECOND_REBUILD;
    const bool coupled = drape_i_any_groups(problem->constraints);
    if (!p->ready || coupled != p->is_turned) return DRAPE_OK;
    if (coupled) { /* values of the turned matrix are always computed */
        bool same = problem->constraints->groups->shape == p->turned.shape &&
                    drape_i_pattern_is(p->ctx, problem->A, &p->turned.from);
        if (same) *out = DRAPE_PRECOND_REFRESH;
        return DRAPE_OK;
    }
    if (!drape_i_pattern_is(p->ctx, problem->A, &p->pattern)) return DRAPE_OK;
    *out = DRAPE_PRECOND_REFRESH;
    if (p->is->due) *out = (drape_precond_work)p->is->due(p->ctx, p->state, problem, problem->constraints);
    return DRAPE_OK;
}

void drape_precond_learn(drape_precond *p, int32_t iterations) {
    if (p && p->ready && p->is->learn) p->is->learn(p->state, iterations);
}
