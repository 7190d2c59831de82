/* contact_motion.c: motions that no step can follow, found before the first one.
 *
 * In a step, a collider may move by at most its own size, or the longest edge of the cloth if that is larger. It may
 * rotate by at most a quarter turn. Its points move straight in a step or a part of it. So a body that rotates
 * farther would be squeezed in between, and one that moves farther would carry the cloth away in a single jump. Steps
 * are checked at the beginning and in the middle of every part of the motion, since it is uniform between keys or
 * frames.
 *
 * A pin may not move its vertices into a collider, nor may a collider run into them, because the cloth cannot make
 * space for such a pair. The vertices that one pin alone holds from the start in all directions, and the edges and
 * triangles between them, become a small world of their own. Its gate judges every step, and if it refuses one, its
 * halves, down to 1/64, as in a simulation. So nothing is refused here that a simulation could do. */
#include "base/vec3.h"
#include "sim/contact.h"

#include <stdio.h>
#include <string.h>

enum { MOST_CUTS = 6, MOST_PARTS = 1 << MOST_CUTS }; /* to 1/64 of a step */

static const double QUARTER_TURN = 1.57079632679489661923;
static const double SLACK = 1e-9; /* relative: what rounding may add */
/* A jump of an animation: faster than any body, and this many times as fast as in the frames before and after. */
static const double JUMP_SPEED = 5, JUMP = 5; /* m/s, - */
enum { FEWEST_FRAMES = 8 };                   /* of an animation: fewer are poses, with times between them */

static double length_of_run(const drape_scene *s) { return s->step * s->steps_per_frame * s->frames; }

/* ---- Colliders that jump ---- */

typedef struct mover {
    const drape_scene *scene;
    const drape_collider *c;
    const drape_collider_surface *surface;
    double *x[2];           /* m, 3 doubles per vertex of the surface: at two times */
    double size;            /* m: how far it may go in a step */
    double angle;           /* rad: how far it may turn */
    double way, turn;       /* m, rad: the most that it does in a step */
    double way_at, turn_at; /* s: at the beginning of which step */
} mover;

static double longest_edge(const drape_scene *s) {
    double most = 0;
    for (int32_t p = 0; p < s->piece_count; p++)
        for (int64_t t = 0; t < 3 * (int64_t)s->pieces[p].triangles; t++) {
            const double *a = s->pieces[p].rest + 3 * (int64_t)s->pieces[p].triangle[t];
            const double *b = s->pieces[p].rest + 3 * (int64_t)s->pieces[p].triangle[t % 3 == 2 ? t - 2 : t + 1];
            most = fmax(most, vec3_length(vec3_sub(vec3_at(a), vec3_at(b))));
        }
    return most;
}

/* The diameter of round shapes, the diagonal of the others. Planes have none: there is nothing on their other side.
 */
static double size_of(const mover *m) {
    const drape_collider *c = m->c;
    vec3 low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
    if (c->shape == DRAPE_COLLIDER_PLANE) return INFINITY;
    if (c->shape == DRAPE_COLLIDER_SPHERE) return 2 * c->radius;
    if (c->shape == DRAPE_COLLIDER_CAPSULE) return 2 * c->radius + c->length;
    for (int64_t i = 0; i < drape_collider_surface_vertices(m->surface); i++) {
        vec3 p = vec3_at(m->x[0] + 3 * i);
        low = (vec3){fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z)};
        high = (vec3){fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z)};
    }
    return vec3_length(vec3_sub(high, low));
}

/* The next time after t at which the motion may change; `until` at the latest. */
static double next_change(const drape_collider *c, double t, double until) {
    for (int32_t i = 0; i < c->key_count; i++)
        if (c->key[i].time > t) {
            until = fmin(until, c->key[i].time);
            break;
        }
    for (int32_t i = 0; i < c->frames; i++)
        if (c->frame_time[i] > t) return fmin(until, c->frame_time[i]);
    return until;
}

/* How far a collider turns at most, even on the way between two of its keys: |d rotation vector|. */
static double turned(const drape_collider *c, double t0, double t1) {
    for (int32_t i = 0; i + 1 < c->key_count; i++) {
        const drape_collider_key *a = c->key + i, *b = a + 1;
        if (!(a->time <= t0 && t1 <= b->time)) continue;
        return vec3_length(vec3_sub(vec3_at(b->rotation), vec3_at(a->rotation))) * ((t1 - t0) / (b->time - a->time));
    }
    return 0;
}

/* One step of the scene, from change to change: what goes there and back within a step has moved, too. */
static drape_status look_at_step(mover *m, double number) {
    double t = number * m->scene->step, end = (number + 1) * m->scene->step, way = 0, turn = 0;
    double begin = t;
    drape_status status = drape_collider_surface_at(m->surface, t, m->x[0]);
    while (!status && t < end) {
        double next = next_change(m->c, t, end), most = 0;
        status = drape_collider_surface_at(m->surface, next, m->x[1]);
        for (int64_t i = 0; !status && i < drape_collider_surface_vertices(m->surface); i++)
            most = fmax(most, vec3_length(vec3_sub(vec3_at(m->x[1] + 3 * i), vec3_at(m->x[0] + 3 * i))));
        way += most;
        turn += turned(m->c, t, next);
        double *swap = m->x[0];
        m->x[0] = m->x[1], m->x[1] = swap;
        t = next;
    }
    if (way > m->way * (1 + SLACK)) m->way = way, m->way_at = begin;
    if (turn > m->turn * (1 + SLACK)) m->turn = turn, m->turn_at = begin;
    return status;
}

/* The steps at the beginning and in the middle of the motion from `begin` to `end`. */
static drape_status look_at_part(mover *m, double begin, double end) {
    double h = m->scene->step, steps = (double)m->scene->steps_per_frame * m->scene->frames;
    double first = floor(fmax(begin, 0) / h);
    const double number[3] = {first, first + 1, floor(fmax(0.5 * (begin + end), 0) / h)};
    drape_status status = DRAPE_OK;
    for (int32_t i = 0; i < 3 && !status; i++)
        if (number[i] < steps) status = look_at_step(m, number[i]);
    return status;
}

static drape_status look_at_motion(mover *m) {
    const drape_collider *c = m->c;
    drape_status status = drape_collider_surface_at(m->surface, 0, m->x[0]);
    if (status) return status;
    int32_t parts = m->scene->integration.ode.control == DRAPE_ODE_FIXED ? 1 : MOST_PARTS;
    m->size = parts * fmax(size_of(m) + c->thickness, longest_edge(m->scene));
    m->angle = parts * QUARTER_TURN;
    for (int32_t i = 0; i + 1 < c->key_count && !status; i++)
        status = look_at_part(m, c->key[i].time, c->key[i + 1].time);
    for (int32_t i = 0; i + 1 < c->frames && !status; i++)
        status = look_at_part(m, c->frame_time[i], c->frame_time[i + 1]);
    return status;
}

/* How far apart frames f and g are where they differ most, and at which vertex. */
static double between_frames(const drape_collider *c, int32_t f, int32_t g, int32_t *vertex) {
    const int64_t size = 3 * (int64_t)c->vertices;
    double most = -1;
    for (int64_t i = 0; i < c->vertices; i++) {
        double way =
            vec3_length(vec3_sub(vec3_at(c->frame + size * g + 3 * i), vec3_at(c->frame + size * f + 3 * i)));
        if (way > most) most = way, *vertex = (int32_t)i;
    }
    return most;
}

typedef struct frame_jump {
    enum { NO_JUMP, JUMPS, RETURNS } kind;
    int32_t vertex;
    double way, rest; /* m; rest: the longest way to be compared with */
} frame_jump;

/* A sequence jumps between frames f and f + 1 if it moves far there, and much farther than before and after. Motion
 * that begins or ends suddenly goes on for more than a frame. It jumps and returns if f + 1 alone is out of place. */
static frame_jump jump_at(const drape_collider *c, int32_t f) {
    frame_jump jump = {.kind = NO_JUMP};
    int32_t unused;
    jump.way = between_frames(c, f, f + 1, &jump.vertex);
    if (!(jump.way > JUMP_SPEED * (c->frame_time[f + 1] - c->frame_time[f]))) return jump;
    const double before = between_frames(c, f - 1, f, &unused), after = between_frames(c, f + 1, f + 2, &unused);
    jump.rest = fmax(before, after);
    if (jump.way > JUMP * jump.rest) jump.kind = JUMPS;
    if (jump.kind == JUMPS || f + 3 >= c->frames) return jump;
    jump.rest = fmax(before, between_frames(c, f, f + 2, &unused));
    jump.rest = fmax(jump.rest, between_frames(c, f + 2, f + 3, &unused));
    if (fmin(jump.way, after) > JUMP * jump.rest) jump.kind = RETURNS;
    return jump;
}

static void tell_frame_jump(const mover *m, int32_t k, const drape_i_motion_listener *listener) {
    const drape_collider *c = m->c;
    frame_jump jump = {.kind = NO_JUMP};
    int32_t f = 1;
    if (c->frames < FEWEST_FRAMES) return;
    while (f + 2 < c->frames && (jump = jump_at(c, f)).kind == NO_JUMP) f++;
    if (jump.kind == NO_JUMP) return;
    drape_i_motion_trouble trouble = {
        .kind = DRAPE_I_MOTION_JUMP, .collider = k, .pin = -1, .piece = -1, .time = c->frame_time[f]};
    snprintf(
        trouble.what, sizeof trouble.what,
        "the collider '%s' jumps%s: its vertex %d moves %.4g m from frame %d to %d (t = %.4g s), and no vertex more "
        "than %.4g m from frame to frame before and after",
        c->name ? c->name : "collider", jump.kind == RETURNS ? " and returns" : "", jump.vertex, jump.way, f, f + 1,
        c->frame_time[f], jump.rest);
    snprintf(trouble.advice, sizeof trouble.advice,
             jump.kind == RETURNS ? "mend that frame of the animation, or leave it out"
                                  : "mend the animation there, with frames in between");
    listener->tell(listener->user, &trouble);
}

static void tell_jump(const mover *m, int32_t k, const drape_i_motion_listener *listener) {
    double h = m->scene->step;
    const char *name = m->c->name ? m->c->name : "collider";
    drape_i_motion_trouble trouble = {.kind = DRAPE_I_MOTION_JUMP, .collider = k, .pin = -1, .piece = -1};
    if (m->way > m->size * (1 + SLACK)) {
        trouble.time = m->way_at;
        snprintf(trouble.what, sizeof trouble.what,
                 "the collider '%s' moves %.4g m in the step at t = %.4g s (%.4g m/s); a step of %.4g s can resolve "
                 "%.4g m",
                 name, m->way, m->way_at, m->way / h, h, m->size);
        snprintf(trouble.advice, sizeof trouble.advice,
                 "move it more slowly, with more time between its keys, or use steps of at most %.2g s",
                 h * m->size / m->way);
    } else if (m->turn > m->angle * (1 + SLACK)) {
        trouble.time = m->turn_at;
        snprintf(trouble.what, sizeof trouble.what,
                 "the collider '%s' makes %.4g turns in the step at t = %.4g s (%.4g per second); a step of %.4g s "
                 "can resolve %.4g",
                 name, m->turn / (4 * QUARTER_TURN), m->turn_at, m->turn / (4 * QUARTER_TURN) / h, h,
                 m->angle / (4 * QUARTER_TURN));
        snprintf(trouble.advice, sizeof trouble.advice, "turn it more slowly, or use steps of at most %.2g s",
                 h * m->angle / m->turn);
    } else {
        return;
    }
    listener->tell(listener->user, &trouble);
}

static drape_status check_collider(drape_context *ctx, const drape_scene *scene, int32_t k,
                                   const drape_i_motion_listener *listener) {
    drape_collider_surface *surface;
    drape_status status = drape_collider_surface_create(ctx, &scene->colliders[k], 0, &surface);
    if (status) return status;
    int64_t numbers = 3 * (int64_t)drape_collider_surface_vertices(surface);
    mover m = {.scene = scene, .c = &scene->colliders[k], .surface = surface};
    double *memory = NULL;
    if (drape_collider_surface_moves(surface)) {
        status = DRAPE_NEW(ctx, memory, 2 * numbers) ? DRAPE_OK : DRAPE_ERROR_MEMORY;
        m.x[0] = memory, m.x[1] = memory + numbers;
        if (!status) status = look_at_motion(&m);
        if (!status) tell_jump(&m, k, listener);
        if (!status) tell_frame_jump(&m, k, listener);
    }
    DRAPE_FREE(ctx, memory, 2 * numbers);
    drape_collider_surface_destroy(surface);
    return status;
}

/* ---- Pins that are led into colliders ---- */

/* The vertices that are watched, as the cloth of a small world. */
typedef struct watch {
    drape_context *ctx;
    const drape_scene *scene;
    int32_t all;       /* vertices of the scene */
    int32_t *pin;      /* one per vertex of the scene: the pin that holds it, -1: none, -2: it is not watched */
    int32_t *index;    /* one per vertex of the scene: its place in the list of that pin */
    int32_t *small;    /* one per vertex of the scene: its number among those that are watched */
    int32_t count;     /* of those */
    int32_t *original; /* count: their numbers in the scene */
    double *anchor;    /* m, 3 doubles each: where they start */
    double *thickness, *friction;
    int32_t triangles, most_triangles;
    int32_t (*triangle)[3];
    double *x[2];    /* m, 3 doubles each: where pins want them */
    double *seen[2]; /* the same as a collider sees it */
    drape_i_world *world;
    drape_i_response *response;
    uint8_t *exempt; /* of the world: those that are not held at present, and all colliders */
    int32_t exempts;
    drape_i_world_box *box; /* m: around each collider, where it is at time 0 */
} watch;

static bool may_be_watched(const drape_pin *pin) {
    return pin->from <= 0 && pin->directions == 3 && pin->motion.kind != DRAPE_MOTION_CALLBACK &&
           !(pin->stiffness > 0);
}

static bool moves(const drape_scene *s) {
    bool any = false, watched = false;
    for (int32_t k = 0; k < s->collider_count; k++)
        any |= s->colliders[k].key_count > 1 || s->colliders[k].frames > 1;
    for (int32_t p = 0; p < s->pin_count; p++) {
        if (!may_be_watched(&s->pins[p]) || s->pins[p].count == 0) continue;
        watched = true;
        any |= s->pins[p].motion.kind != DRAPE_MOTION_FIXED;
    }
    return any && watched;
}

/* What crosses at the start and may do so is not known here. */
static bool has_to_watch(const drape_scene *s) {
    return s->collider_count > 0 && s->frames > 0 && !(s->contact && s->contact->allow_crossings) && moves(s);
}

static void choose_vertices(watch *w) {
    for (int32_t v = 0; v < w->all; v++) w->pin[v] = -1;
    for (int32_t p = 0; p < w->scene->pin_count; p++)
        for (int32_t i = 0; i < w->scene->pins[p].count; i++) {
            int32_t *pin = &w->pin[w->scene->pins[p].vertices[i]];
            *pin = *pin == -1 && may_be_watched(&w->scene->pins[p]) ? p : -2;
            w->index[w->scene->pins[p].vertices[i]] = i;
        }
    for (int32_t v = 0; v < w->all; v++) {
        w->small[v] = w->count;
        w->count += w->pin[v] >= 0;
    }
}

/* Triangles between watched vertices; an edge is a triangle with a corner twice, a vertex one with it three times. */
static void gather(watch *w) {
    for (int32_t p = 0, first = 0; p < w->scene->piece_count; first += w->scene->pieces[p++].vertices) {
        const drape_piece *piece = &w->scene->pieces[p];
        for (int32_t i = 0; i < piece->vertices; i++) {
            if (w->pin[first + i] < 0) continue;
            int32_t k = w->small[first + i];
            w->original[k] = first + i;
            w->thickness[k] = piece->thickness;
            const double *start = w->scene->start ? w->scene->start + 3 * (int64_t)first : piece->rest;
            memcpy(w->anchor + 3 * (int64_t)k, start + 3 * (int64_t)i, 3 * sizeof *w->anchor);
        }
        for (int32_t t = 0; t < piece->triangles; t++) {
            int32_t corner[3], found = 0;
            for (int32_t k = 0; k < 3; k++) {
                int32_t v = first + piece->triangle[3 * (int64_t)t + k];
                if (w->pin[v] >= 0) corner[found++] = w->small[v];
            }
            for (int32_t k = 0; k < 3 && found > 0; k++)
                w->triangle[w->triangles][k] = corner[k < found ? k : found - 1];
            w->triangles += found > 0;
        }
    }
}

/* A box around each collider at time 0; one that deforms: at all times. */
static void box_colliders(watch *w) {
    const drape_i_colliders *all = w->world->colliders;
    drape_i_world_set_motion(w->world, w->anchor, 0, w->anchor, 0);
    for (int32_t c = 0; c < all->count; c++) {
        const drape_i_collider *item = &all->item[c];
        const drape_collider *given = &w->scene->colliders[c];
        drape_i_world_box *box = &w->box[c];
        for (int32_t k = 0; k < 3; k++) {
            const double *x = w->world->start + 3 * ((int64_t)w->count + item->first_point) + k;
            box->low[k] = INFINITY, box->high[k] = -INFINITY;
            for (int64_t i = 0; i < item->points; i++) {
                box->low[k] = fmin(box->low[k], x[3 * i]);
                box->high[k] = fmax(box->high[k], x[3 * i]);
            }
            if (item->deforms || item->shape == DRAPE_COLLIDER_PLANE)
                box->low[k] = -INFINITY, box->high[k] = INFINITY;
        }
        if (item->shape != DRAPE_COLLIDER_PLANE || given->key_count > 1) continue;
        double n[3]; /* a level plane that rests: all below it */
        drape_i_collider_normal(all, c, 0, n);
        if (n[2] > 1 - 1e-12) box->high[2] = w->world->start[3 * ((int64_t)w->count + item->first_point) + 2];
    }
}

static drape_status create_watch(watch *w) {
    int64_t vertices = 0, triangles = 0;
    for (int32_t p = 0; p < w->scene->piece_count; p++) {
        vertices += w->scene->pieces[p].vertices;
        triangles += w->scene->pieces[p].triangles;
    }
    w->all = (int32_t)vertices;
    w->most_triangles = (int32_t)triangles;
    if (!DRAPE_NEW(w->ctx, w->pin, w->all) || !DRAPE_NEW(w->ctx, w->index, w->all) ||
        !DRAPE_NEW(w->ctx, w->small, w->all))
        return DRAPE_ERROR_MEMORY;
    choose_vertices(w);
    int64_t n = w->count;
    if (!DRAPE_NEW(w->ctx, w->original, n) || !DRAPE_NEW(w->ctx, w->anchor, 3 * n) ||
        !DRAPE_NEW(w->ctx, w->thickness, n) || !DRAPE_NEW(w->ctx, w->friction, n) ||
        !DRAPE_NEW(w->ctx, w->x[0], 3 * n) || !DRAPE_NEW(w->ctx, w->x[1], 3 * n) ||
        !DRAPE_NEW(w->ctx, w->seen[0], 3 * n) || !DRAPE_NEW(w->ctx, w->seen[1], 3 * n) ||
        !DRAPE_NEW(w->ctx, w->triangle, w->most_triangles))
        return DRAPE_ERROR_MEMORY;
    gather(w);
    if (w->triangles == 0) return DRAPE_OK;
    const drape_i_world_settings s = {.vertices = w->count,
                                      .triangles = w->triangles,
                                      .triangle = w->triangle[0],
                                      .thickness = w->thickness,
                                      .friction = w->friction,
                                      .colliders = w->scene->colliders,
                                      .collider_count = w->scene->collider_count};
    drape_status status = drape_i_world_create(w->ctx, &s, &w->world);
    if (!status) status = drape_i_response_create(w->ctx, w->world->vertices, &w->response);
    if (status) return status;
    w->exempts = w->world->vertices;
    if (!DRAPE_NEW(w->ctx, w->exempt, w->exempts) || !DRAPE_NEW(w->ctx, w->box, w->scene->collider_count))
        return DRAPE_ERROR_MEMORY;
    box_colliders(w);
    memset(w->exempt + w->count, 1, (size_t)(w->exempts - w->count));
    w->world->exempt = w->exempt;
    return DRAPE_OK;
}

static void free_watch(watch *w) {
    int64_t n = w->count;
    DRAPE_FREE(w->ctx, w->exempt, w->exempts);
    DRAPE_FREE(w->ctx, w->box, w->scene->collider_count);
    drape_i_response_destroy(w->response);
    drape_i_world_destroy(w->world);
    DRAPE_FREE(w->ctx, w->triangle, w->most_triangles);
    for (int32_t k = 0; k < 2; k++) {
        DRAPE_FREE(w->ctx, w->x[k], 3 * n);
        DRAPE_FREE(w->ctx, w->seen[k], 3 * n);
    }
    DRAPE_FREE(w->ctx, w->friction, n);
    DRAPE_FREE(w->ctx, w->thickness, n);
    DRAPE_FREE(w->ctx, w->anchor, 3 * n);
    DRAPE_FREE(w->ctx, w->original, n);
    DRAPE_FREE(w->ctx, w->small, w->all);
    DRAPE_FREE(w->ctx, w->index, w->all);
    DRAPE_FREE(w->ctx, w->pin, w->all);
}

/* Where the vertices are at a time; at 0 where they start, wherever their pins want them. */
static void place_at(const watch *w, double t, double *x) {
    for (int32_t i = 0; i < w->count; i++) {
        const double *anchor = w->anchor + 3 * (int64_t)i;
        int32_t v = w->original[i];
        double d[3] = {0};
        if (t > 0) drape_i_motion_at(&w->scene->pins[w->pin[v]], w->index[v], t, anchor, d);
        for (int32_t k = 0; k < 3; k++) x[3 * (int64_t)i + k] = anchor[k] + d[k];
    }
}

/* Whether pins may meet a collider in a step: seen from the collider, where it was at time 0. On their way there they
 * leave the straight line by less than that is long. */
static bool is_near(const watch *w, int32_t c, double t0, double t1) {
    const drape_i_colliders *all = w->world->colliders;
    const drape_i_collider *item = &all->item[c];
    double room = item->radius + item->thickness + w->world->thickest;
    if (item->deforms) return true;
    for (int32_t i = 0; i < w->count; i++)
        for (int32_t end = 0; end < 2; end++)
            drape_i_collider_carry(all, c, end ? t1 : t0, 0, w->x[end] + 3 * (int64_t)i,
                                   w->seen[end] + 3 * (int64_t)i);
    for (int32_t t = 0; t < w->triangles; t++) {
        bool meet = true;
        double reach = room;
        for (int32_t k = 0; k < 3; k++) {
            int64_t v = 3 * (int64_t)w->triangle[t][k];
            reach = fmax(reach, room + vec3_length(vec3_sub(vec3_at(w->seen[1] + v), vec3_at(w->seen[0] + v))));
        }
        for (int32_t d = 0; d < 3 && meet; d++) {
            double low = INFINITY, high = -INFINITY;
            for (int32_t k = 0; k < 6; k++) {
                double x = w->seen[k / 3][3 * (int64_t)w->triangle[t][k % 3] + d];
                low = fmin(low, x), high = fmax(high, x);
            }
            meet = low - reach <= w->box[c].high[d] && high + reach >= w->box[c].low[d];
        }
        if (meet) return true;
    }
    return false;
}

static bool any_is_near(const watch *w, double t0, double t1) {
    for (int32_t c = 0; c < w->world->colliders->count; c++)
        if (is_near(w, c, t0, t1)) return true;
    return false;
}

/* From t0 to t1, or in halves of that. *kept false: the response has noted what is in the way, and *when. */
static drape_status look_at_pins(watch *w, double t0, double t1, int32_t cuts, bool *kept, double *when) {
    place_at(w, t0, w->x[0]);
    place_at(w, t1, w->x[1]);
    *kept = true;
    if (cuts == 0 && !any_is_near(w, t0, t1)) return DRAPE_OK;
    drape_i_world_set_motion(w->world, w->x[0], t0, w->x[1], t1);
    drape_status status = drape_i_response_gate(w->response, w->world, kept);
    if (status || *kept) return status;
    *when = t1;
    if (cuts == MOST_CUTS) return DRAPE_OK;
    double middle = 0.5 * (t0 + t1);
    status = look_at_pins(w, t0, middle, cuts + 1, kept, when);
    return status || !*kept ? status : look_at_pins(w, middle, t1, cuts + 1, kept, when);
}

static void tell_pin(const watch *w, double when, const drape_i_motion_listener *listener) {
    static const char *const kind[] = {"", "vertex", "the edge of vertices", "the triangle of vertices"};
    const drape_i_trouble *t = drape_i_response_trouble_of(w->response);
    drape_i_motion_trouble trouble = {.kind = DRAPE_I_MOTION_PIN, .collider = t->collider, .pin = -1, .time = when};
    int32_t vertex[3], count = 0, first = 0, piece = 0;
    for (int32_t i = 0; i < 4; i++) {
        bool seen = t->vertex[i] < 0 || t->vertex[i] >= w->count;
        for (int32_t j = 0; j < count && !seen; j++) seen = vertex[j] == w->original[t->vertex[i]];
        if (!seen && count < 3) vertex[count++] = w->original[t->vertex[i]];
    }
    if (count == 0 || t->collider < 0) return;
    while (vertex[0] >= first + w->scene->pieces[piece].vertices) first += w->scene->pieces[piece++].vertices;
    char numbers[64];
    int32_t used = 0;
    for (int32_t i = 0; i < count; i++)
        used += snprintf(numbers + used, sizeof numbers - (size_t)used, "%s%d", i ? ", " : "", vertex[i] - first);
    const char *cloth = w->scene->pieces[piece].name, *collider = w->scene->colliders[t->collider].name;
    trouble.pin = w->pin[vertex[0]], trouble.piece = piece, trouble.vertex = vertex[0] - first;
    bool led = w->scene->pins[trouble.pin].motion.kind != DRAPE_MOTION_FIXED;
    snprintf(trouble.what, sizeof trouble.what,
             led ? "pin %d moves %s %s of '%s' into the collider '%s' at t = %.4g s"
                 : "pin %d holds %s %s of '%s' where the collider '%s' comes at t = %.4g s",
             trouble.pin, kind[count], numbers, cloth ? cloth : "cloth", collider ? collider : "collider", when);
    snprintf(trouble.advice, sizeof trouble.advice, "%s",
             led ? "end the pin earlier (until:), or move it around the collider"
                 : "end the pin earlier (until:), or move the collider past it");
    listener->tell(listener->user, &trouble);
}

static drape_status watch_pins(watch *w, const drape_i_motion_listener *listener) {
    const drape_scene *s = w->scene;
    int64_t steps = (int64_t)s->steps_per_frame * s->frames;
    bool kept = true;
    double when = 0;
    drape_status status = DRAPE_OK;
    for (int64_t i = 0; i < steps && kept && !status; i++) {
        double t0 = (double)i * s->step, t1 = (double)(i + 1) * s->step;
        bool any = false;
        for (int32_t k = 0; k < w->count; k++) {
            bool held = drape_i_pin_holds(&s->pins[w->pin[w->original[k]]], t1, s->step);
            w->exempt[k] = !held;
            any |= held;
        }
        if (!any) break;
        status = look_at_pins(w, t0, t1, 0, &kept, &when);
    }
    if (!status && !kept) tell_pin(w, when, listener);
    return status;
}

static drape_status check_pins(drape_context *ctx, const drape_scene *scene,
                               const drape_i_motion_listener *listener) {
    watch w = {.ctx = ctx, .scene = scene};
    if (!has_to_watch(scene)) return DRAPE_OK;
    drape_status status = create_watch(&w);
    if (!status && w.world) status = watch_pins(&w, listener);
    free_watch(&w);
    return status;
}

/* ---- All motions ---- */

drape_status drape_i_check_motions(drape_context *ctx, const drape_scene *scene,
                                   const drape_i_motion_listener *listener) {
    drape_status status = DRAPE_OK;
    for (int32_t k = 0; k < scene->collider_count && !status && length_of_run(scene) > 0; k++)
        status = check_collider(ctx, scene, k, listener);
    return status ? status : check_pins(ctx, scene, listener);
}

static void keep_first(void *user, const drape_i_motion_trouble *trouble) {
    drape_i_motion_trouble *first = user;
    if (!first->what[0]) *first = *trouble;
}

drape_status drape_i_refuse_motions(drape_context *ctx, const drape_scene *scene) {
    drape_i_motion_trouble first = {0};
    drape_status status =
        drape_i_check_motions(ctx, scene, &(drape_i_motion_listener){.tell = keep_first, .user = &first});
    if (status || !first.what[0]) return status;
    return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "contact: %s; %s", first.what, first.advice);
}
