/* hold.c: vertices that a program holds and releases while a simulation runs, as a pointer or a hand does.
 *
 * In a step from t0 to t0 + h a held vertex moves straight from its position x0 towards its target c:
 *
 *   x(t) = x0 + min(1, speed h / |c - x0|) (c - x0) (t - t0) / h,
 *
 * in all directions, so that S is 0 there and z leads to x(t). The path restarts with each step, so nothing has to be
 * made up after a failed step or a change of the state. */
#include "sim/hold.h"

#include <math.h>
#include <string.h>

/* Room for all vertices at once, so that taking hold of others later needs no memory. */
static drape_status make_room(drape_sim *sim) {
    drape_i_hold *hold = NULL;
    int64_t n = sim->vertices;
    if (sim->hold) return DRAPE_OK;
    if (!DRAPE_NEW(sim->ctx, hold, 1)) return DRAPE_ERROR_MEMORY;
    if (!DRAPE_NEW(sim->ctx, hold->vertex, n) || !DRAPE_NEW(sim->ctx, hold->target, 3 * n) ||
        !DRAPE_NEW(sim->ctx, hold->from, 3 * n) || !DRAPE_NEW(sim->ctx, hold->seen, n)) {
        drape_i_hold_destroy(sim->ctx, n, hold);
        return DRAPE_ERROR_MEMORY;
    }
    drape_status status = drape_i_sim_make_room_for_all(sim);
    if (status) drape_i_hold_destroy(sim->ctx, n, hold);
    else sim->hold = hold;
    return status;
}

void drape_i_hold_destroy(drape_context *ctx, int64_t vertices, drape_i_hold *hold) {
    if (!hold) return;
    DRAPE_FREE(ctx, hold->vertex, vertices);
    DRAPE_FREE(ctx, hold->target, 3 * vertices);
    DRAPE_FREE(ctx, hold->from, 3 * vertices);
    DRAPE_FREE(ctx, hold->seen, vertices);
    DRAPE_FREE(ctx, hold, 1);
}

static drape_status check_vertex(drape_sim *sim, const drape_hold *given, int32_t i) {
    int32_t v = given->vertices[i];
    if (v < 0 || v >= sim->vertices)
        return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT, "hold: entry %d is vertex %d; there are %d vertices", i,
                            v, sim->vertices);
    if (sim->hold->seen[v])
        return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT, "hold: vertex %d is in the list twice", v);
    sim->hold->seen[v] = true;
    for (int32_t k = 0; k < 3; k++)
        if (!isfinite(given->target[3 * (int64_t)i + k]))
            return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT, "hold: the target of vertex %d is not finite", v);
    return DRAPE_OK;
}

static drape_status check(drape_sim *sim, const drape_hold *given) {
    drape_status status = drape_i_check_reserved(sim->ctx, "drape_hold", given->reserved, 4);
    if (status) return status;
    if (given->count < 0 || (given->count > 0 && (!given->vertices || !given->target)))
        return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT, "hold: no list of %d vertices and targets", given->count);
    if (!(given->speed >= 0) || !isfinite(given->speed))
        return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT, "hold: the speed is %g m/s; it must be finite, 0 or more",
                            given->speed);
    status = make_room(sim);
    if (status) return status;
    memset(sim->hold->seen, 0, (size_t)sim->vertices * sizeof *sim->hold->seen);
    for (int32_t i = 0; i < given->count && !status; i++) status = check_vertex(sim, given, i);
    return status;
}

drape_status drape_sim_hold(drape_sim *sim, const drape_hold *given) {
    const drape_hold none = {0};
    if (!sim) return DRAPE_ERROR_ARGUMENT;
    if (!given) given = &none;
    drape_status status = check(sim, given);
    if (status) return status;
    drape_i_hold *hold = sim->hold;
    size_t count = (size_t)given->count;
    hold->changed |= hold->count != given->count ||
                     (count > 0 && memcmp(hold->vertex, given->vertices, count * sizeof *hold->vertex) != 0);
    if (count > 0) memmove(hold->vertex, given->vertices, count * sizeof *hold->vertex);
    if (count > 0) memmove(hold->target, given->target, 3 * count * sizeof *hold->target);
    hold->count = given->count;
    hold->speed = given->speed > 0 ? given->speed : DRAPE_HOLD_SPEED;
    return DRAPE_OK;
}

int32_t drape_sim_held(const drape_sim *sim) { return sim && sim->hold ? sim->hold->count : 0; }

/* Vertices that pins hold exactly stay theirs: those are marked. */
static void find_pinned(drape_sim *sim) {
    bool *pinned = sim->hold->seen;
    memset(pinned, 0, (size_t)sim->vertices * sizeof *pinned);
    for (int32_t p = 0, first = 0; p < sim->pin_count; first += sim->pins[p++].count)
        for (int32_t i = first; drape_i_pin_is_held(sim, p) && i < first + sim->pins[p].count; i++)
            pinned[sim->pinned[i].vertex] = true;
}

bool drape_i_hold_begin(drape_sim *sim) {
    drape_i_hold *hold = sim->hold;
    if (!hold) return false;
    find_pinned(sim);
    hold->began = (double)sim->steps * sim->h;
    for (int64_t i = 0; i < hold->count; i++)
        memcpy(hold->from + 3 * i, sim->x + 3 * (int64_t)hold->vertex[i], 3 * sizeof *hold->from);
    bool changed = hold->changed;
    hold->changed = false;
    return changed;
}

static void place_at(const drape_sim *sim, int64_t i, double t, double place[3]) {
    const drape_i_hold *hold = sim->hold;
    const double *from = hold->from + 3 * i, *target = hold->target + 3 * i;
    double d[3], square = 0, share = fmin(fmax((t - hold->began) / sim->h, 0), 1);
    for (int32_t k = 0; k < 3; k++) d[k] = target[k] - from[k];
    for (int32_t k = 0; k < 3; k++) square += d[k] * d[k];
    double most = hold->speed * sim->h, distance = sqrt(square);
    if (distance > most) share *= most / distance;
    for (int32_t k = 0; k < 3; k++) place[k] = from[k] + share * d[k];
}

drape_status drape_i_hold_constrain(drape_sim *sim, const drape_i_aim *aim, int32_t source) {
    const drape_i_hold *hold = sim->hold;
    drape_status status = DRAPE_OK;
    for (int32_t i = 0; i < hold->count && !status; i++) {
        drape_constraint c = {.vertex = hold->vertex[i], .directions = 3};
        int64_t at = 3 * (int64_t)c.vertex;
        double place[3];
        if (hold->seen[c.vertex]) continue;
        place_at(sim, i, aim->t, place);
        for (int32_t k = 0; k < 3; k++)
            c.z[k] = aim->factor * ((place[k] - aim->x[at + k]) / aim->c - (aim->v ? aim->v[at + k] : 0));
        status = drape_constraint_builder_add(sim->builder, source, &c);
    }
    return status;
}
