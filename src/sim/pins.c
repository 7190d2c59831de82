/* pins.c: from pins and their scripted motion to the solver's constraints.
 *
 * A held vertex shall be at start + d(t) in the held directions. The step moves it by h (v + dv), so the velocity
 * change that is prescribed is z = (start + d(t + h) - x) / h - v: it lands there exactly, and errors of rounding do
 * not add up over the steps. */
#include "base/elementary.h"
#include "sim/sim.h"

#include <math.h>
#include <string.h>

static const double TWO_PI = 6.28318530717958647692;

static double displacement(const drape_motion *m, double t, int32_t k) {
    switch (m->kind) {
    case DRAPE_MOTION_LINEAR: return m->velocity[k] * t;
    case DRAPE_MOTION_SINE: return m->amplitude[k] * drape_i_sin(TWO_PI * m->frequency * t);
    default: return 0;
    }
}

drape_status drape_i_sim_constrain(drape_sim *sim) {
    double t = (double)(sim->steps + 1) * sim->h;
    for (int32_t i = 0; i < sim->held_count; i++) {
        const drape_motion *motion = &sim->motions[sim->pin_of[i]];
        int64_t first = 3 * (int64_t)sim->held[i].vertex;
        for (int32_t k = 0; k < 3; k++) {
            double target = sim->start[first + k] + displacement(motion, t, k);
            sim->held[i].z[k] = (target - sim->x[first + k]) / sim->h - sim->v[first + k];
        }
    }
    return drape_constraints_set(sim->constraints, sim->held, sim->held_count);
}

static drape_status check_motion(drape_context *ctx, int32_t pin, const drape_motion *m) {
    bool good = isfinite(m->frequency);
    for (int32_t k = 0; k < 3; k++) good = good && isfinite(m->velocity[k]) && isfinite(m->amplitude[k]);
    return good ? DRAPE_OK
                : drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "pin %d: its motion has a number that is not finite", pin);
}

drape_status drape_i_sim_hold(drape_sim *sim, const drape_scene *scene) {
    drape_context *ctx = sim->ctx;
    int64_t count = 0;
    for (int32_t p = 0; p < scene->pin_count; p++) count += scene->pins[p].count;
    if (count > sim->vertices)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "pins: more than there are vertices: a vertex is in two pins");
    sim->held_count = (int32_t)count;
    sim->pin_count = scene->pin_count;
    if (!DRAPE_NEW(ctx, sim->held, count) || !DRAPE_NEW(ctx, sim->pin_of, count) ||
        !DRAPE_NEW(ctx, sim->motions, scene->pin_count))
        return DRAPE_ERROR_MEMORY;
    for (int32_t p = 0, i = 0; p < scene->pin_count; p++) {
        const drape_pin *pin = &scene->pins[p];
        drape_status status = check_motion(ctx, p, &pin->motion);
        if (status) return status;
        sim->motions[p] = pin->motion;
        for (int32_t k = 0; k < pin->count; k++, i++) {
            sim->held[i].vertex = pin->vertices[k];
            sim->held[i].directions = pin->directions;
            memcpy(sim->held[i].direction, pin->direction, sizeof pin->direction);
            sim->pin_of[i] = p;
        }
    }
    return drape_constraints_set(sim->constraints, sim->held, sim->held_count); /* checks vertices and directions */
}

void drape_i_sim_release(drape_sim *sim) {
    DRAPE_FREE(sim->ctx, sim->held, sim->held_count);
    DRAPE_FREE(sim->ctx, sim->pin_of, sim->held_count);
    DRAPE_FREE(sim->ctx, sim->motions, sim->pin_count);
}
