/* tune.c: which preconditioner is fastest, by the clock: every candidate solves the problem, and solves it again.
 * What wins depends on the machine and on what else it does, so bits may differ from one run to the next. */
#include "linear/solver.h"

enum { AGAIN = 2 };

static drape_status measure(drape_solver *solver, drape_i_try *t, drape_tuned *out) {
    const drape_i_candidate *is = &solver->slot[t->slot].is;
    *out = (drape_tuned){.precond = is->precond->name, .modes = is->precond->variant[is->variant].modes};
    for (int i = 0; i <= AGAIN; i++) {
        drape_status status = drape_i_solver_try(solver, t);
        if (status) return status;
        double seconds = t->result.setup_seconds + t->result.solve_seconds;
        if (i == 0) out->first_seconds = seconds, out->bytes_moved = t->result.bytes_moved;
        else if (i == 1 || seconds < out->again_seconds) out->again_seconds = seconds;
    }
    out->reason = t->result.reason;
    out->iterations = t->result.iterations;
    return DRAPE_OK;
}

/* Whether a did better than b. */
static bool is_better(const drape_solver *solver, const drape_tuned *a, const drape_tuned *b) {
    bool once = solver->settings.tune == DRAPE_TUNE_ONCE;
    if ((a->reason == DRAPE_CONVERGED) != (b->reason == DRAPE_CONVERGED)) return a->reason == DRAPE_CONVERGED;
    return once ? a->first_seconds < b->first_seconds : a->again_seconds < b->again_seconds;
}

drape_status drape_i_solver_tune(drape_solver *solver, const drape_i_try *first,
                                 const bool may[DRAPE_I_MOST_CANDIDATES]) {
    int32_t slots[DRAPE_I_MOST_CANDIDATES], best = 0;
    solver->tuned = 0;
    for (int32_t k = 0; k < solver->choice.count; k++) {
        drape_i_try t = *first;
        if (!may[k]) continue;
        t.slot = slots[solver->tuned] = k;
        t.x = first->x;
        if (measure(solver, &t, &solver->trial[solver->tuned])) continue; /* cannot be set up: no candidate */
        drape_i_solver_leave(solver, k);
        if (is_better(solver, &solver->trial[solver->tuned], &solver->trial[best])) best = solver->tuned;
        solver->tuned++;
    }
    if (solver->tuned == 0) return DRAPE_ERROR_MEMORY;
    solver->trial[best].chosen = true;
    solver->fastest = slots[best];
    return DRAPE_OK;
}

int32_t drape_solver_tuned_count(const drape_solver *solver) {
    return solver && solver->pattern.rows >= 0 && solver->tuned > 0 ? solver->tuned : 0;
}

drape_status drape_solver_tuned(const drape_solver *solver, int32_t index, drape_tuned *out) {
    int32_t count = drape_solver_tuned_count(solver);
    if (!solver || !out) return drape_i_missing(solver ? solver->ctx : NULL, "solve", "out");
    *out = (drape_tuned){0};
    if (index < 0 || index >= count)
        return drape_i_fail(solver->ctx, DRAPE_ERROR_ARGUMENT, "solve: candidate %d of %d does not exist", index,
                            count);
    *out = solver->trial[index];
    return DRAPE_OK;
}
