/* pins.c: from pins and their scripted motion to the solver's constraints.
 *
 * A held vertex must be at anchor + d(t) in the held directions. The step moves it by h (v + dv), so the prescribed
 * change of the velocity is z = (anchor + d(t + h) - x) / h - v. The vertex gets there exactly, and rounding errors
 * do not add up over the steps. Stages of other integrators move it from x by c v, and prescribe all of v. The anchor
 * is where the vertex started, or, for a pin that takes hold later, where it was then less d at that time. Where d
 * depends on the anchor, as in turns, one that takes hold later has its anchor turned back (pin_motion.c). A vertex
 * may be in several pins; the builder of the constraints merges them. */
#include "sim/contact.h"
#include "sim/hold.h"
#include "sim/stitches.h"

#include <math.h>
#include <string.h>

static const double SAME_PLACE =
    1e-9; /* m: pins that want a vertex in places this close do not contradict each other */

/* anchor: of this vertex in its pin. */
static void displacement(const drape_sim *sim, const drape_pin *pin, int32_t index, int32_t vertex, double t,
                         const double anchor[3], double d[3]) {
    const drape_motion *m = &pin->motion;
    DRAPE_ASSERT(vertex >= 0 && vertex < sim->vertices && index >= 0 && index < pin->count);
    if (m->kind == DRAPE_MOTION_CALLBACK) {
        double start[3]; /* a copy: the callback cannot harm the simulation */
        memcpy(start, (sim->placed ? sim->placed : sim->start) + 3 * (int64_t)vertex, sizeof start);
        d[0] = d[1] = d[2] = NAN; /* a callback that writes nothing is found out */
        m->function(m->user, vertex, t, start, d);
    } else {
        drape_i_motion_at(pin, index, t, anchor, d);
    }
}

void drape_i_pin_target(const drape_sim *sim, int32_t pin, int32_t first, int32_t i, double t, double target[3]) {
    const double *anchor = sim->anchor + 3 * (int64_t)i;
    double d[3];
    displacement(sim, &sim->pins[pin], i - first, sim->pinned[i].vertex, t, anchor, d);
    for (int32_t k = 0; k < 3; k++) target[k] = anchor[k] + d[k];
}

/* Times within a millionth of a step of each other are the same: k h is not exact. */
bool drape_i_pin_holds(const drape_pin *pin, double t, double h) {
    double slack = 1e-6 * h;
    return t > pin->from + slack && (t <= pin->until + slack || pin->until == 0);
}

static bool holds(const drape_sim *sim, const drape_pin *pin, double t) { return drape_i_pin_holds(pin, t, sim->h); }

/* The motion of its vertices leads through where these are at t. */
static void anchor_here(drape_sim *sim, const drape_pin *pin, int32_t first, double t) {
    for (int32_t i = first; i < first + pin->count; i++) {
        const double *x = sim->x + 3 * (int64_t)sim->pinned[i].vertex;
        double *anchor = sim->anchor + 3 * (int64_t)i, d[3];
        if (drape_i_motion_back(&pin->motion, t, x, anchor)) continue;
        displacement(sim, pin, i - first, sim->pinned[i].vertex, t, x, d);
        for (int32_t k = 0; k < 3; k++) anchor[k] = x[k] - d[k];
    }
}

/* Pins whose time begins with this step take hold of their vertices where these are. */
static void take_hold(drape_sim *sim, const drape_pin *pin, int32_t first, double t) {
    if (pin->from > 0 && !holds(sim, pin, t)) anchor_here(sim, pin, first, t);
}

/* Whether other pins hold in the step that ends at t than in the one before. */
static bool pins_change(const drape_sim *sim, double t) {
    bool changed = false;
    for (int32_t p = 0; p < sim->pin_count; p++) changed |= holds(sim, &sim->pins[p], t) != sim->holding[p];
    return changed;
}

static bool update_pins(drape_sim *sim) {
    double now = (double)sim->steps * sim->h, t = (double)(sim->steps + 1) * sim->h;
    if (!pins_change(sim, t)) return false;
    double before = sim->soft_pins ? drape_i_balance_before_change(sim) : 0;
    for (int32_t p = 0, first = 0; p < sim->pin_count; first += sim->pins[p++].count) {
        bool holding = holds(sim, &sim->pins[p], t);
        if (holding) take_hold(sim, &sim->pins[p], first, now);
        sim->holding[p] = holding;
    }
    if (sim->soft_pins) drape_i_balance_after_change(sim, before);
    sim->contradiction_told = false;
    return true;
}

bool drape_i_sim_update_active_pins(drape_sim *sim) {
    bool pins = update_pins(sim), hold = drape_i_hold_begin(sim);
    return pins || hold;
}

void drape_i_sim_restore_active_pins(drape_sim *sim) {
    double now = (double)sim->steps * sim->h;
    for (int32_t p = 0; p < sim->pin_count; p++) sim->holding[p] = sim->steps > 0 && holds(sim, &sim->pins[p], now);
}

void drape_i_sim_take_hold_again(drape_sim *sim) {
    for (int32_t p = 0, first = 0; p < sim->pin_count; first += sim->pins[p++].count)
        if (sim->pins[p].from > 0 && sim->holding[p])
            anchor_here(sim, &sim->pins[p], first, (double)sim->steps * sim->h);
}

/* What one pin asks of its vertex number i of all pinned ones. */
static drape_status ask(drape_sim *sim, int32_t p, int32_t first, int32_t i, const drape_i_aim *aim) {
    drape_constraint c = sim->pinned[i];
    int64_t at = 3 * (int64_t)c.vertex;
    double d[3];
    DRAPE_ASSERT(i >= 0 && i < sim->held_count);
    displacement(sim, &sim->pins[p], i - first, c.vertex, aim->t, sim->anchor + 3 * (int64_t)i, d);
    for (int32_t k = 0; k < 3; k++) {
        double target = sim->anchor[3 * (int64_t)i + k] + d[k];
        if (!isfinite(target) && sim->pins[p].motion.kind == DRAPE_MOTION_CALLBACK)
            return drape_i_fail(sim->ctx, DRAPE_ERROR_NUMBER,
                                "pin %d: its callback moves vertex %d to a place that is not finite at t = %g s%s", p,
                                c.vertex, aim->t, isfinite(d[k]) ? ", from where it took effect" : "");
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
    drape_i_log(sim->ctx, DRAPE_LOG_WARNING,
                "t = %g s: pins %d and %d hold vertex %d at different places (%d such vertices); it goes to their "
                "mean, %g m away",
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
    if (sim->stitches) sim->stitches->listed = sim->stitches->exact;
    for (int32_t p = 0, first = 0; p < sim->pin_count && !status; first += sim->pins[p++].count)
        for (int32_t i = first; drape_i_pin_is_held(sim, p) && i < first + sim->pins[p].count && !status; i++)
            status = ask(sim, p, first, i, aim);
    if (!status && sim->hold) status = drape_i_hold_constrain(sim, aim, sim->pin_count);
    if (!status && sim->contact) status = drape_i_contact_constrain(sim, aim);
    if (!status && sim->contact) status = drape_i_pinch_constrain(sim, aim);
    if (!status) status = finish_constraints(sim);
    if (!status) status = drape_i_stitches_constrain(sim, aim);
    if (!status) tell_contradiction(sim, aim);
    return status;
}

drape_status drape_i_sim_hold_still(drape_sim *sim) {
    for (int32_t i = 0; i < sim->held_now; i++)
        for (int32_t k = 0; k < 3; k++) sim->held[i].z[k] = 0;
    drape_status status = drape_constraints_set(sim->constraints, sim->held, sim->held_now);
    return status ? status : drape_i_stitches_hold_still(sim);
}

/* ---- from the scene ---- */

static drape_status check_pin(drape_context *ctx, int32_t p, const drape_pin *pin) {
    drape_status status = drape_i_check_reserved(ctx, "drape_pin", pin->reserved, 3);
    if (status) return status;
    if (pin->count < 0 || (pin->count > 0 && !pin->vertices))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "pin %d: no list of %d vertices", p, pin->count);
    if (pin->directions < 1 || pin->directions > 3)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "pin %d: %d directions; it must be 1..3", p, pin->directions);
    if (!isfinite(pin->from) || !isfinite(pin->until))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "pin %d: from and until must be finite", p);
    if (!isfinite(pin->stiffness) || pin->stiffness < 0)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "pin %d: its stiffness is %g N/m; it must be 0 or more", p,
                            pin->stiffness);
    return drape_i_motion_check(ctx, p, pin->count, &pin->motion);
}

static drape_status check_pins(drape_sim *sim, const drape_scene *scene) {
    int64_t count = 0;
    for (int32_t p = 0; p < scene->pin_count; p++) {
        drape_status status = check_pin(sim->ctx, p, &scene->pins[p]);
        if (status) return status;
        count += scene->pins[p].count;
    }
    if (count > INT32_MAX)
        return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT, "pins: more than %d pinned vertices", INT32_MAX);
    sim->held_count = (int32_t)count;
    return DRAPE_OK;
}

/* The pin without the caller's arrays. */
static drape_status copy_pin(drape_sim *sim, const drape_pin *from, drape_pin *to) {
    *to = *from;
    to->vertices = NULL;
    if (to->until == 0) to->until = DRAPE_FOREVER;
    sim->soft_pins |= to->stiffness > 0;
    return drape_i_motion_copy(sim->ctx, from, &to->motion);
}

/* Contacts of an eighth of the vertices, and all pins; more of them take memory when they come. */
static drape_status make_room_for_contacts(drape_sim *sim) {
    drape_status status = drape_constraint_builder_begin(sim->builder, 0);
    for (int32_t i = 0; i < sim->vertices / 8 + sim->held_count && !status; i++)
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
    if (!DRAPE_NEW(ctx, sim->pinned, sim->held_count) || !DRAPE_NEW_RAW(ctx, sim->held, sim->held_room) ||
        !DRAPE_NEW(ctx, sim->anchor, 3 * (int64_t)sim->held_count) || !DRAPE_NEW(ctx, sim->pins, scene->pin_count) ||
        !DRAPE_NEW(ctx, sim->holding, scene->pin_count)) {
        sim->pin_count = scene->pin_count; /* what release() frees by */
        return DRAPE_ERROR_MEMORY;
    }
    sim->pin_count = scene->pin_count;
    for (int32_t p = 0, i = 0; p < scene->pin_count && !status; p++) {
        const drape_pin *pin = &scene->pins[p];
        status = copy_pin(sim, pin, &sim->pins[p]);
        for (int32_t k = 0; k < pin->count; k++, i++) {
            sim->pinned[i].vertex = pin->vertices[k];
            sim->pinned[i].directions = pin->directions;
            memcpy(sim->pinned[i].direction, pin->direction, sizeof pin->direction);
        }
    }
    return status ? status : check_pinned(sim);
}

drape_status drape_i_sim_make_room_for_all(drape_sim *sim) {
    drape_i_integrator *it = sim->integrator;
    drape_constraint *held = NULL;
    double *before = NULL;
    int32_t room = sim->vertices;
    if (sim->held_room >= room) return DRAPE_OK;
    if (!DRAPE_NEW(sim->ctx, held, room) || (it && !DRAPE_NEW(sim->ctx, before, 3 * (int64_t)room))) {
        DRAPE_FREE(sim->ctx, held, room);
        return DRAPE_ERROR_MEMORY;
    }
    if (sim->held_now > 0) memcpy(held, sim->held, (size_t)sim->held_now * sizeof *held);
    DRAPE_FREE(sim->ctx, sim->held, sim->held_room);
    if (it) DRAPE_FREE(sim->ctx, it->held_before, 3 * (int64_t)sim->held_room);
    if (it) it->held_before = before;
    sim->held = held;
    sim->held_room = room;
    return DRAPE_OK;
}

void drape_i_sim_anchor(drape_sim *sim) {
    for (int64_t i = 0; i < sim->held_count; i++)
        memcpy(sim->anchor + 3 * i, sim->x + 3 * (int64_t)sim->pinned[i].vertex, 3 * sizeof *sim->anchor);
}

void drape_i_sim_release(drape_sim *sim) {
    DRAPE_FREE(sim->ctx, sim->pinned, sim->held_count);
    DRAPE_FREE(sim->ctx, sim->held, sim->held_room);
    DRAPE_FREE(sim->ctx, sim->anchor, 3 * (int64_t)sim->held_count);
    for (int32_t p = 0; p < sim->pin_count && sim->pins; p++)
        drape_i_motion_free(sim->ctx, sim->pins[p].count, &sim->pins[p].motion);
    DRAPE_FREE(sim->ctx, sim->pins, sim->pin_count);
    DRAPE_FREE(sim->ctx, sim->holding, sim->pin_count);
    drape_i_hold_destroy(sim->ctx, sim->vertices, sim->hold);
    drape_constraint_builder_destroy(sim->builder);
}
