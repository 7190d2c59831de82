/* doctor_run.c: problems of a run that the scene already shows: pins that pull the cloth farther apart than it is
 * long, unrealistic wind, steps too long for the motion.
 *
 * How long the cloth is between two pins is the length of the shortest path along edges of the mesh, in material
 * space, by Dijkstra's algorithm. Such a path is longer than a straight line, by 41 % at most on a grid. So every
 * finding is true, but cloth that is pulled only a little too far may go unnoticed. */
#include "base/vec3.h"
#include "io/doctor.h"
#include "sim/sim.h"

#include <math.h>
#include <string.h>

/* ---- Shortest paths on a piece ---- */

/* Neighbours of each vertex, and how far they are; both directions of every edge, those inside of a piece twice. */
typedef struct paths {
    drape_context *ctx;
    int32_t vertices;
    int64_t room;          /* 6 per triangle */
    int64_t *first;        /* vertices + 1 */
    int32_t *to;           /* the neighbours of vertex v: from first[v] to first[v + 1] */
    double *length;        /* m */
    double *distance;      /* m, from the source */
    int32_t *heap, *place; /* a binary heap of vertices by distance, and the place of each in it; -1: none */
    int32_t waiting;       /* in the heap */
} paths;

static double edge_length(const drape_piece *p, int32_t t, int32_t k) {
    const int32_t *v = p->triangle + 3 * (int64_t)t;
    int32_t l = (k + 1) % 3;
    if (!p->uv)
        return vec3_length(vec3_sub(vec3_at(p->rest + 3 * (int64_t)v[k]), vec3_at(p->rest + 3 * (int64_t)v[l])));
    const int32_t *m = (p->uv_triangle ? p->uv_triangle : p->triangle) + 3 * (int64_t)t;
    const double *a = p->uv + 2 * (int64_t)m[k], *b = p->uv + 2 * (int64_t)m[l];
    return vec3_length((vec3){a[0] - b[0], a[1] - b[1], 0});
}

static void paths_destroy(paths *g) {
    DRAPE_FREE(g->ctx, g->first, (int64_t)g->vertices + 1);
    DRAPE_FREE(g->ctx, g->to, g->room);
    DRAPE_FREE(g->ctx, g->length, g->room);
    DRAPE_FREE(g->ctx, g->distance, g->vertices);
    DRAPE_FREE(g->ctx, g->heap, g->vertices);
    DRAPE_FREE(g->ctx, g->place, g->vertices);
}

static drape_status paths_create(drape_context *ctx, const drape_piece *p, paths *g) {
    *g = (paths){.ctx = ctx, .vertices = p->vertices, .room = 6 * (int64_t)p->triangles};
    if (!DRAPE_NEW(ctx, g->first, (int64_t)p->vertices + 1) || !DRAPE_NEW(ctx, g->to, g->room) ||
        !DRAPE_NEW(ctx, g->length, g->room) || !DRAPE_NEW(ctx, g->distance, p->vertices) ||
        !DRAPE_NEW(ctx, g->heap, p->vertices) || !DRAPE_NEW(ctx, g->place, p->vertices)) {
        paths_destroy(g);
        return DRAPE_ERROR_MEMORY;
    }
    for (int64_t c = 0; c < 3 * (int64_t)p->triangles; c++) g->first[p->triangle[c] + 1] += 2;
    for (int32_t v = 0; v < p->vertices; v++) g->first[v + 1] += g->first[v];
    for (int32_t t = 0; t < p->triangles; t++)
        for (int32_t k = 0; k < 3; k++) {
            int32_t a = p->triangle[3 * (int64_t)t + k], b = p->triangle[3 * (int64_t)t + (k + 1) % 3];
            double length = edge_length(p, t, k);
            int64_t from = g->first[a]++, back = g->first[b]++;
            g->to[from] = b, g->to[back] = a;
            g->length[from] = g->length[back] = length;
        }
    memmove(g->first + 1, g->first,
            (size_t)p->vertices * sizeof *g->first); /* each is at the beginning of the next */
    g->first[0] = 0;
    return DRAPE_OK;
}

static void put(paths *g, int32_t at, int32_t vertex) {
    g->heap[at] = vertex;
    g->place[vertex] = at;
}

static void rise(paths *g, int32_t vertex) {
    int32_t at = g->place[vertex];
    for (; at > 0 && g->distance[g->heap[(at - 1) / 2]] > g->distance[vertex]; at = (at - 1) / 2)
        put(g, at, g->heap[(at - 1) / 2]);
    put(g, at, vertex);
}

static int32_t take_nearest(paths *g) {
    int32_t nearest = g->heap[0], last = g->heap[--g->waiting], at = 0;
    for (int32_t child; (child = 2 * at + 1) < g->waiting; at = child) {
        if (child + 1 < g->waiting && g->distance[g->heap[child + 1]] < g->distance[g->heap[child]]) child++;
        if (!(g->distance[g->heap[child]] < g->distance[last])) break;
        put(g, at, g->heap[child]);
    }
    if (g->waiting > 0) put(g, at, last);
    return nearest;
}

/* Distances from the source; infinite where no path leads. */
static void find_paths(paths *g, int32_t source) {
    for (int32_t v = 0; v < g->vertices; v++) g->distance[v] = INFINITY, g->place[v] = -1;
    g->distance[source] = 0;
    g->waiting = 1;
    put(g, 0, source);
    while (g->waiting > 0) {
        int32_t v = take_nearest(g);
        for (int64_t e = g->first[v]; e < g->first[v + 1]; e++) {
            double distance = g->distance[v] + g->length[e];
            if (!(distance < g->distance[g->to[e]])) continue;
            g->distance[g->to[e]] = distance;
            if (g->place[g->to[e]] < 0) g->place[g->to[e]] = g->waiting++;
            rise(g, g->to[e]);
        }
    }
}

/* ---- Pins ---- */

enum { MOST_HELD = 32, PER_PIN = 4, MOST_TIMES = 100, FINE = 200000, FEW_SOURCES = 4 };

/* A vertex whose place is known at all times that its pin holds it: one that is held in all directions from the start
 * on. */
typedef struct held {
    int32_t vertex; /* within its piece */
    const drape_pin *pin;
    int32_t index;       /* in the pin's list */
    const double *start; /* m */
} held;

typedef struct apart {
    int32_t a, b;
    double time, length, distance;
} apart;

/* Some vertices of each pin of a piece, spread over its list. */
static int32_t list_held(const drape_scene *s, const drape_piece *p, int32_t first_vertex, held out[MOST_HELD]) {
    int32_t count = 0;
    for (int32_t i = 0; i < s->pin_count; i++) {
        const drape_pin *pin = &s->pins[i];
        int32_t taken = pin->count < PER_PIN ? pin->count : PER_PIN;
        bool soft = pin->stiffness > 0;
        if (soft || pin->directions != 3 || pin->from > 0 || pin->motion.kind == DRAPE_MOTION_CALLBACK) continue;
        for (int32_t k = 0; k < taken && count < MOST_HELD; k++) {
            int32_t index = taken == 1 ? 0 : (int32_t)((int64_t)k * (pin->count - 1) / (taken - 1));
            int32_t all = pin->vertices[index], v = all - first_vertex;
            const double *start = s->start ? s->start + 3 * (int64_t)all : p->rest + 3 * (int64_t)v;
            if (v >= 0 && v < p->vertices) out[count++] = (held){v, pin, index, start};
        }
    }
    return count;
}

static vec3 place_at(const held *h, double t) {
    double d[3];
    drape_i_motion_at(h->pin, h->index, t, h->start, d);
    return (vec3){h->start[0] + d[0], h->start[1] + d[1], h->start[2] + d[2]};
}

/* Notes the time at which two held vertices are farthest apart, if that is more for its length than *worst. */
static void compare(const drape_scene *s, const held *a, const held *b, double length, apart *worst) {
    int32_t times = s->frames < MOST_TIMES ? s->frames : MOST_TIMES;
    double end = s->step * s->steps_per_frame * s->frames;
    for (int32_t i = 0; i <= times; i++) {
        double t = times > 0 ? end * i / times : 0;
        if (!drape_i_pin_holds(a->pin, t, s->step) || !drape_i_pin_holds(b->pin, t, s->step)) continue;
        double distance = vec3_length(vec3_sub(place_at(a, t), place_at(b, t)));
        if (distance * worst->length > worst->distance * length)
            *worst = (apart){a->vertex, b->vertex, t, length, distance};
    }
}

static drape_status look_at_pins(drape_i_doctor *d, const drape_scene *s, const drape_piece *p, int32_t first) {
    const double most = 1.1;
    drape_i_defect kind = {DRAPE_SEVERITY_WARNING, "pins-apart",
                           "move the pins less far, or make the cloth larger (docs/wrong.md#it-explodes)", 0};
    held list[MOST_HELD];
    paths g;
    apart worst = {.length = 1, .distance = most};
    int32_t count = list_held(s, p, first, list), sources = p->vertices > FINE ? FEW_SOURCES : count;
    if (count < 2) return DRAPE_OK;
    drape_status status = paths_create(d->ctx, p, &g);
    if (status) return status;
    for (int32_t i = 0; i < sources && i < count; i++) {
        find_paths(&g, list[i].vertex);
        for (int32_t k = i + 1; k < count; k++)
            if (isfinite(g.distance[list[k].vertex]) && g.distance[list[k].vertex] > 0)
                compare(s, &list[i], &list[k], g.distance[list[k].vertex], &worst);
    }
    paths_destroy(&g);
    if (worst.a == worst.b) return DRAPE_OK;
    d->place.piece = p->name;
    drape_i_found(d, &kind, &(drape_i_about){.vertices = 2, .vertex = (int32_t[]){worst.a, worst.b}},
                  "at %.3g s pins hold vertices %d and %d of %s %.3g m apart, but the cloth between them is %.3g m "
                  "long, so it is stretched to %.3g times its length",
                  worst.time, worst.a, worst.b, p->name ? p->name : "cloth", worst.distance, worst.length,
                  worst.distance / worst.length);
    d->place.piece = NULL;
    return DRAPE_OK;
}

/* ---- Wind ---- */

static void look_at_wind(drape_i_doctor *d, const drape_scene *s) {
    const double most = 100; /* m/s: gusts of the strongest hurricanes */
    drape_i_defect kind = {DRAPE_SEVERITY_WARNING, "odd-wind",
                           "check the unit, such as 30 km/h; a breeze has 3 to 5 m/s, a storm 25 m/s", 0};
    double speed = vec3_length(vec3_at(s->forces.wind));
    if (speed > most && s->forces.drag > 0)
        drape_i_found(d, &kind, NULL, "the wind has %.4g m/s, which is %.0f km/h, more than any weather", speed,
                      3.6 * speed);
}

/* ---- The step ---- */

static double longest_side(const drape_scene *s) {
    double side = 0;
    for (int32_t i = 0; i < s->piece_count; i++) side = fmax(side, drape_i_piece_extent(&s->pieces[i]));
    return side;
}

/* The fraction of its energy that a swing loses to the steps. Cloth as long as the largest piece, hung by one end,
 * swings like a rod, whose angular frequency is sqrt(3 g / (2 length)). */
static drape_status swing_loss(drape_i_doctor *d, const drape_scene *s, double *period, double *loss) {
    const double pi = 3.14159265358979323846;
    double g = vec3_length(vec3_at(s->forces.gravity)), side = longest_side(s), ratio = 0;
    *period = *loss = 0;
    if (!(g > 0 && side > 0)) return DRAPE_OK;
    double frequency = sqrt(1.5 * g / side);
    drape_status status = drape_integration_damping(d->ctx, &s->integration, s->step, frequency, &ratio);
    if (status == DRAPE_ERROR_MEMORY) return status;
    if (status || !isfinite(ratio)) return DRAPE_OK;
    *period = 2 * pi / frequency;
    *loss = s->step > 0.25 * *period ? 1 : -expm1(-4 * pi * fmax(ratio, 0)); /* four points do not make a swing */
    return DRAPE_OK;
}

static bool is_explicit(const drape_scene *scene) {
    const char *method = scene->integration.ode.method;
    return method && drape_ode_method_order(method) > 0 && !drape_ode_method_implicit(method);
}

/* Of implicit integrators; the steps of explicit ones are tried, and errors that are controlled tell by themselves.
 */
static drape_status look_at_step(drape_i_doctor *d, const drape_scene *s) {
    const double most_loss = 0.9;  /* of a swing's energy; the scenes that ship have 0.6 at most */
    const double most_angle = 1e4; /* step times the fastest frequency; the scenes that ship have 60 to 200 */
    drape_check_summary *sum = d->summary;
    drape_i_defect kind = {DRAPE_SEVERITY_WARNING, "large-step",
                           "use shorter steps (time.step); 2 to 5 ms are usual (docs/wrong.md#it-looks-dead)", 0};
    double period;
    if (is_explicit(s) || s->integration.ode.control == DRAPE_ODE_ERROR) return DRAPE_OK;
    drape_status status = swing_loss(d, s, &period, &sum->swing_loss);
    if (status) return status;
    if (sum->swing_loss > most_loss)
        drape_i_found(d, &kind, NULL,
                      "steps of %.3g s are too long: the cloth swings with a period of about %.2g s, and the steps "
                      "damp %.0f %% of a swing",
                      s->step, period, 100 * sum->swing_loss);
    else if (s->step * sum->fastest > most_angle)
        drape_i_found(
            d, &kind, NULL,
            "steps of %.3g s are too long for such a fine mesh and stiff material: most of the motion will be damped",
            s->step);
    return DRAPE_OK;
}

drape_status drape_i_examine_run(drape_i_doctor *d, const drape_scene *s) {
    drape_status status = look_at_step(d, s);
    int32_t first = 0;
    look_at_wind(d, s);
    for (int32_t i = 0; i < s->piece_count && !status; first += s->pieces[i++].vertices)
        status = look_at_pins(d, s, &s->pieces[i], first);
    return status;
}
