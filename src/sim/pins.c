/* pins.c: from pins and their scripted motion to the solver's constraints.
 *
 * A held vertex shall be at anchor + d(t) in the held directions. The step moves it by h (v + dv), so the velocity
 * change that is prescribed is z = (anchor + d(t + h) - x) / h - v: it lands there exactly, and errors of rounding do
 * not add up over the steps. Stages of other integrators move it from x by c v, and have the whole of v prescribed.
 * The anchor is where the vertex started, or, for a pin that takes hold later, where it was then less d at that time.
 * For a pin that turns, d is by how much the turn moves the anchor; one that takes hold later has the anchor turned
 * back. A vertex may be in several pins: the builder of the constraints merges what they ask for. */
#include "base/elementary.h"
#include "sim/contact.h"

#include <math.h>
#include <string.h>

static const double TWO_PI = 6.28318530717958647692;
static const double SAME_PLACE =
    1e-9; /* m: pins that want a vertex in places this close do not contradict each other */

/* Linear between the keys on both sides of t. */
static double between_keys(const drape_motion *m, double t, int32_t k) {
    const drape_motion_key *key = m->key;
    DRAPE_ASSERT(m->key_count >= 1);
    int32_t i = 0;
    while (i < m->key_count && key[i].time <= t) i++;
    if (i == 0) return key[0].offset[k];
    if (i == m->key_count) return key[i - 1].offset[k];
    double share = (t - key[i - 1].time) / (key[i].time - key[i - 1].time);
    return key[i - 1].offset[k] + share * (key[i].offset[k] - key[i - 1].offset[k]);
}

static double scripted(const drape_motion *m, double t, int32_t k) {
    switch (m->kind) {
    case DRAPE_MOTION_LINEAR: return m->velocity[k] * t;
    case DRAPE_MOTION_SINE:
        return m->amplitude[k] *
               (drape_i_sin(TWO_PI * m->frequency * t + TWO_PI * m->phase) - drape_i_sin(TWO_PI * m->phase));
    case DRAPE_MOTION_KEYS: return between_keys(m, t, k);
    default: return 0;
    }
}

/* sin a (n x r) + (1 - cos a) n x (n x r), with r from the centre to p. */
static void turned(const drape_motion *m, double t, const double p[3], double d[3]) {
    const double *w = m->velocity;
    double speed = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]), n[3], r[3], across[3];
    for (int32_t k = 0; k < 3; k++) {
        n[k] = speed > 0 ? w[k] / speed : 0;
        r[k] = p[k] - m->centre[k];
    }
    double sine = drape_i_sin(speed * t), rest = 1 - drape_i_cos(speed * t);
    for (int32_t k = 0; k < 3; k++) across[k] = n[(k + 1) % 3] * r[(k + 2) % 3] - n[(k + 2) % 3] * r[(k + 1) % 3];
    for (int32_t k = 0; k < 3; k++)
        d[k] =
            sine * across[k] + rest * (n[(k + 1) % 3] * across[(k + 2) % 3] - n[(k + 2) % 3] * across[(k + 1) % 3]);
}

void drape_i_motion_at(const drape_motion *m, double t, const double p[3], double d[3]) {
    DRAPE_ASSERT(m->kind != DRAPE_MOTION_CALLBACK);
    if (m->kind == DRAPE_MOTION_TURN) turned(m, t, p, d);
    else
        for (int32_t k = 0; k < 3; k++) d[k] = scripted(m, t, k);
}

/* anchor: of this vertex in its pin. */
static void displacement(const drape_sim *sim, const drape_motion *m, int32_t vertex, double t,
                         const double anchor[3], double d[3]) {
    DRAPE_ASSERT(vertex >= 0 && vertex < sim->vertices);
    if (m->kind == DRAPE_MOTION_CALLBACK) {
        double start[3]; /* a copy: the callback cannot harm the simulation */
        memcpy(start, sim->start + 3 * (int64_t)vertex, sizeof start);
        d[0] = d[1] = d[2] = NAN; /* a callback that writes nothing is found out */
        m->function(m->user, vertex, t, start, d);
    } else {
        drape_i_motion_at(m, t, anchor, d);
    }
}

/* Times within a millionth of a step of each other are the same: k h is not exact. */
bool drape_i_pin_holds(const drape_pin *pin, double t, double h) {
    double slack = 1e-6 * h;
    return t > pin->from + slack && (t <= pin->until + slack || pin->until == 0);
}

static bool holds(const drape_sim *sim, const drape_pin *pin, double t) { return drape_i_pin_holds(pin, t, sim->h); }

/* Pins whose time begins with this step take hold of their vertices where these are. */
static void take_hold(drape_sim *sim, const drape_pin *pin, int32_t first, double t) {
    if (pin->from <= 0 || holds(sim, pin, t)) return;
    for (int32_t i = first; i < first + pin->count; i++) {
        const double *x = sim->x + 3 * (int64_t)sim->pinned[i].vertex;
        double d[3];
        if (pin->motion.kind == DRAPE_MOTION_TURN) turned(&pin->motion, -t, x, d);
        else displacement(sim, &pin->motion, sim->pinned[i].vertex, t, x, d);
        for (int32_t k = 0; k < 3; k++)
            sim->anchor[3 * (int64_t)i + k] = pin->motion.kind == DRAPE_MOTION_TURN ? x[k] + d[k] : x[k] - d[k];
    }
}

bool drape_i_sim_update_active_pins(drape_sim *sim) {
    double now = (double)sim->steps * sim->h, t = (double)(sim->steps + 1) * sim->h;
    bool changed = false;
    for (int32_t p = 0, first = 0; p < sim->pin_count; first += sim->pins[p++].count) {
        bool holding = holds(sim, &sim->pins[p], t);
        if (holding) take_hold(sim, &sim->pins[p], first, now);
        changed = changed || holding != sim->holding[p];
        sim->holding[p] = holding;
    }
    if (changed) sim->contradiction_told = false;
    return changed;
}

void drape_i_sim_restore_active_pins(drape_sim *sim) {
    double now = (double)sim->steps * sim->h;
    for (int32_t p = 0; p < sim->pin_count; p++) sim->holding[p] = sim->steps > 0 && holds(sim, &sim->pins[p], now);
}

/* What one pin asks of its vertex number i of all pinned ones. */
static drape_status ask(drape_sim *sim, int32_t p, int32_t i, const drape_i_aim *aim) {
    drape_constraint c = sim->pinned[i];
    int64_t at = 3 * (int64_t)c.vertex;
    double d[3];
    DRAPE_ASSERT(i >= 0 && i < sim->held_count);
    displacement(sim, &sim->pins[p].motion, c.vertex, aim->t, sim->anchor + 3 * (int64_t)i, d);
    for (int32_t k = 0; k < 3; k++) {
        double target = sim->anchor[3 * (int64_t)i + k] + d[k];
        if (!isfinite(target) && sim->pins[p].motion.kind == DRAPE_MOTION_CALLBACK)
            return drape_i_fail(sim->ctx, DRAPE_ERROR_NUMBER,
                                "pin %d: its callback moves vertex %d to a place that is not finite at t = %g s%s", p,
                                c.vertex, aim->t, isfinite(d[k]) ? ", from where it took hold" : "");
        c.z[k] = aim->factor * ((target - aim->x[at + k]) / aim->c - (aim->v ? aim->v[at + k] : 0));
    }
    return drape_constraint_builder_add(sim->builder, p, &c);
}

/* Says once that pins contradict each other, until other ones hold. */
static void tell_contradiction(drape_sim *sim, const drape_i_aim *aim) {
    drape_contradiction c;
    int32_t count = drape_constraint_builder_contradictions(sim->builder);
    if (count == 0 || sim->contradiction_told || drape_constraint_builder_contradiction(sim->builder, 0, &c)) return;
    sim->contradiction_told = true;
    drape_i_log(
        sim->ctx, DRAPE_LOG_WARNING,
        "t = %g s: pins %d and %d want vertex %d in different places (%d such vertices); it goes to the mean of "
        "them, %g m off",
        aim->t, c.source, c.other_source, c.vertex, count, c.size * aim->c / aim->factor);
}

/* The merged constraints become those of the simulation and of its solver. */
static drape_status finish_constraints(drape_sim *sim) {
    drape_status status = drape_constraint_builder_finish(sim->builder, sim->constraints);
    const drape_constraint *list = drape_constraint_builder_list(sim->builder, &sim->held_now);
    DRAPE_ASSERT(sim->held_now <= sim->held_room);
    if (sim->held_now > 0) memcpy(sim->held, list, (size_t)sim->held_now * sizeof *list);
    return status;
}

drape_status drape_i_sim_constrain(drape_sim *sim, const drape_i_aim *aim) {
    DRAPE_ASSERT(aim->c > 0 && aim->factor > 0);
    drape_status status = drape_constraint_builder_begin(sim->builder, SAME_PLACE / aim->c * aim->factor);
    for (int32_t p = 0, first = 0; p < sim->pin_count && !status; first += sim->pins[p++].count)
        for (int32_t i = first; sim->holding[p] && i < first + sim->pins[p].count && !status; i++)
            status = ask(sim, p, i, aim);
    if (!status && sim->contact) status = drape_i_contact_constrain(sim, aim);
    if (!status && sim->contact) status = drape_i_pinch_constrain(sim, aim);
    if (!status) status = finish_constraints(sim);
    if (!status) tell_contradiction(sim, aim);
    return status;
}

drape_status drape_i_sim_hold_still(drape_sim *sim) {
    for (int32_t i = 0; i < sim->held_now; i++)
        for (int32_t k = 0; k < 3; k++) sim->held[i].z[k] = 0;
    return drape_constraints_set(sim->constraints, sim->held, sim->held_now);
}

/* ---- from the scene ---- */

static bool finite_motion(const drape_motion *m) {
    bool good = isfinite(m->frequency) && isfinite(m->phase);
    for (int32_t k = 0; k < 3; k++)
        good = good && isfinite(m->velocity[k]) && isfinite(m->amplitude[k]) && isfinite(m->centre[k]);
    for (int32_t i = 0; m->kind == DRAPE_MOTION_KEYS && i < m->key_count; i++) {
        good = good && isfinite(m->key[i].time);
        for (int32_t k = 0; k < 3; k++) good = good && isfinite(m->key[i].offset[k]);
    }
    return good;
}

static drape_status check_motion(drape_context *ctx, int32_t p, const drape_motion *m) {
    if ((unsigned)m->kind > DRAPE_MOTION_TURN)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "pin %d: there is no kind of motion %d", p, (int)m->kind);
    if (m->kind == DRAPE_MOTION_CALLBACK && !m->function)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "pin %d: a motion by callback without a function", p);
    if (m->kind == DRAPE_MOTION_KEYS && (m->key_count < 1 || !m->key))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "pin %d: a motion by keys without a key", p);
    if (!finite_motion(m))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "pin %d: its motion has a number that is not finite", p);
    for (int32_t i = 1; m->kind == DRAPE_MOTION_KEYS && i < m->key_count; i++)
        if (!(m->key[i].time > m->key[i - 1].time))
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "pin %d: the time of key %d, %g s, is not after %g s", p,
                                i, m->key[i].time, m->key[i - 1].time);
    return DRAPE_OK;
}

static drape_status check_pin(drape_context *ctx, int32_t p, const drape_pin *pin) {
    drape_status status = drape_i_check_reserved(ctx, "drape_pin", pin->reserved, 4);
    if (!status) status = drape_i_check_reserved(ctx, "drape_motion", pin->motion.reserved, 1);
    if (status) return status;
    if (pin->count < 0 || (pin->count > 0 && !pin->vertices))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "pin %d: no list of %d vertices", p, pin->count);
    if (pin->directions < 1 || pin->directions > 3)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "pin %d: %d directions; it must be 1..3", p, pin->directions);
    if (!isfinite(pin->from) || !isfinite(pin->until))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "pin %d: from and until must be finite", p);
    return check_motion(ctx, p, &pin->motion);
}

static drape_status check_pins(drape_sim *sim, const drape_scene *scene) {
    int64_t count = 0, keys = 0;
    for (int32_t p = 0; p < scene->pin_count; p++) {
        drape_status status = check_pin(sim->ctx, p, &scene->pins[p]);
        if (status) return status;
        count += scene->pins[p].count;
        if (scene->pins[p].motion.kind == DRAPE_MOTION_KEYS) keys += scene->pins[p].motion.key_count;
    }
    if (count > INT32_MAX || keys > INT32_MAX)
        return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT, "pins: more than %d pinned vertices or keys", INT32_MAX);
    sim->held_count = (int32_t)count;
    sim->key_count = (int32_t)keys;
    return DRAPE_OK;
}

/* The pin without the caller's arrays; its keys go behind those of the pins before. */
static void copy_pin(drape_sim *sim, const drape_pin *from, drape_pin *to, int32_t *keys) {
    *to = *from;
    to->vertices = NULL;
    if (to->until == 0) to->until = DRAPE_FOREVER;
    if (to->motion.kind != DRAPE_MOTION_KEYS) return;
    to->motion.key = sim->keys + *keys;
    DRAPE_ASSERT(*keys >= 0 && *keys + to->motion.key_count <= sim->key_count);
    memcpy(sim->keys + *keys, from->motion.key, (size_t)to->motion.key_count * sizeof *sim->keys);
    *keys += to->motion.key_count;
}

/* One contact of every vertex, and all pins; more of them take memory when they come. */
static drape_status make_room_for_contacts(drape_sim *sim) {
    drape_status status = drape_constraint_builder_begin(sim->builder, 0);
    for (int32_t i = 0; i < sim->vertices + sim->held_count && !status; i++)
        status = drape_constraint_builder_add(sim->builder, 0,
                                              &(drape_constraint){.vertex = i % sim->vertices, .directions = 3});
    return status;
}

/* All pins at once, which no step may ask for: checks vertices and directions, and lets the builder take its memory.
 */
static drape_status check_pinned(drape_sim *sim) {
    drape_status status = drape_constraint_builder_create(sim->ctx, sim->vertices, &sim->builder);
    if (!status && sim->held_room > sim->held_count) status = make_room_for_contacts(sim);
    if (!status) status = drape_constraint_builder_begin(sim->builder, 0);
    for (int32_t p = 0, i = 0; p < sim->pin_count && !status; p++)
        for (int32_t k = 0; k < sim->pins[p].count && !status; k++)
            status = drape_constraint_builder_add(sim->builder, p, &sim->pinned[i++]);
    return status ? status : drape_constraint_builder_finish(sim->builder, sim->constraints);
}

drape_status drape_i_sim_hold(drape_sim *sim, const drape_scene *scene) {
    drape_context *ctx = sim->ctx;
    drape_status status = check_pins(sim, scene);
    if (status) return status;
    sim->held_room = sim->held_count;
    if (drape_i_contact_acts(scene) && sim->held_room < sim->vertices) sim->held_room = sim->vertices;
    if (!DRAPE_NEW(ctx, sim->pinned, sim->held_count) || !DRAPE_NEW(ctx, sim->held, sim->held_room) ||
        !DRAPE_NEW(ctx, sim->anchor, 3 * (int64_t)sim->held_count) || !DRAPE_NEW(ctx, sim->pins, scene->pin_count) ||
        !DRAPE_NEW(ctx, sim->holding, scene->pin_count) || !DRAPE_NEW(ctx, sim->keys, sim->key_count)) {
        sim->pin_count = scene->pin_count; /* what release() frees by */
        return DRAPE_ERROR_MEMORY;
    }
    sim->pin_count = scene->pin_count;
    for (int32_t p = 0, i = 0, keys = 0; p < scene->pin_count; p++) {
        const drape_pin *pin = &scene->pins[p];
        copy_pin(sim, pin, &sim->pins[p], &keys);
        for (int32_t k = 0; k < pin->count; k++, i++) {
            sim->pinned[i].vertex = pin->vertices[k];
            sim->pinned[i].directions = pin->directions;
            memcpy(sim->pinned[i].direction, pin->direction, sizeof pin->direction);
        }
    }
    return check_pinned(sim);
}

void drape_i_sim_anchor(drape_sim *sim) {
    for (int64_t i = 0; i < sim->held_count; i++)
        memcpy(sim->anchor + 3 * i, sim->x + 3 * (int64_t)sim->pinned[i].vertex, 3 * sizeof *sim->anchor);
}

void drape_i_sim_release(drape_sim *sim) {
    DRAPE_FREE(sim->ctx, sim->pinned, sim->held_count);
    DRAPE_FREE(sim->ctx, sim->held, sim->held_room);
    DRAPE_FREE(sim->ctx, sim->anchor, 3 * (int64_t)sim->held_count);
    DRAPE_FREE(sim->ctx, sim->pins, sim->pin_count);
    DRAPE_FREE(sim->ctx, sim->holding, sim->pin_count);
    DRAPE_FREE(sim->ctx, sim->keys, sim->key_count);
    drape_constraint_builder_destroy(sim->builder);
}
