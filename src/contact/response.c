/* response.c: the stages of the response to contacts, and the search for hits that they share.
 *
 *   lift what is below planes; search for pairs
 *   impulses with friction, at most 8 passes          Bridson, Fedkiw, Anderson 2002, section 7    impulses.c
 *   impact zones, at most 32 rounds                   Harmon, Vouga, Tamstorf, Grinspun 2008       zones.c
 *   truncation by separating planes, as long as needed                                             truncation.c
 *   the gate                                                                                       gate.c
 *
 * Each stage begins with the hits that the previous one left, and ends early if there are none. The first two stages
 * move cloth as it would really move, but do not always remove all hits. The third always does if only movable
 * vertices move, but it does so by stopping them. The gate trusts none of them.
 *
 * A pair is a hit if it is not proved apart by its `separation` (narrow.c). This is the floor f plus a sixteenth of
 * the amount by which f exceeds the radius of a round collider. With f itself, a pair that the gate has just accepted
 * at f could not move at all in the next step. A pair that begins nearer than its separation is tested with f. Floors
 * grow with the largest coordinate, so a pair may even begin nearer than f. Then it must keep 63/64 of its distance.
 *
 * The search for pairs used the ends of that time. It finds all pairs that come within their distance d plus the
 * margin of the search, but only those nearer than the separation matter. So ends may change by half of the
 * difference, `room`, without another search. Truncation begins with a search for pairs at any mixture of times
 * (`mixed`), so that shortening a path needs no new search.
 *
 * Everything but the narrow phase is serial, in the order of the pairs: hits are few, and bits do not depend on
 * threads. */
#include "contact/response_parts.h"

#include "base/parallel.h"
#include "base/timer.h"
#include "contact/closest.h"
#include "contact/narrow.h"

#include <string.h>

enum { GRAIN = 4096 };

static const double MORE = 1.0 / 16; /* of the floor, without the radius */
static const double REACH = 0.25; /* of what is between the floor and the distance: farther out forces do the work */
static const double LESS = 1 - 1.0 / 64;    /* of the distance at the start */
static const double LEAST_FLOOR = 1.0 / 64; /* of the floor: what begins nearer touches */

/* ---- Creating ---- */

drape_status drape_i_response_grow(drape_context *ctx, void **memory, int64_t *room, int64_t need, size_t size) {
    if (need <= *room) return DRAPE_OK;
    int64_t next = need + need / 2;
    void *grown = drape_i_alloc_raw(ctx, next, size);
    if (!grown) return DRAPE_ERROR_MEMORY;
    if (*memory) memcpy(grown, *memory, (size_t)*room * size);
    if (*memory) drape_i_free(ctx, *memory, *room, size);
    *memory = grown;
    *room = next;
    return DRAPE_OK;
}

static drape_status allocate(drape_i_response *r) {
    int64_t n = r->vertices;
    if (!DRAPE_NEW(r->ctx, r->given, 3 * n) || !DRAPE_NEW(r->ctx, r->searched, 3 * n) ||
        !DRAPE_NEW_RAW(r->ctx, r->full, 3 * n) || !DRAPE_NEW_RAW(r->ctx, r->part, n) ||
        !DRAPE_NEW(r->ctx, r->changed, n) || !DRAPE_NEW(r->ctx, r->moved, n))
        return DRAPE_ERROR_MEMORY;
    return drape_i_zones_create(r->ctx, r->vertices, &r->zones);
}

drape_status drape_i_response_create(drape_context *ctx, int32_t vertices, drape_i_response **out) {
    drape_i_response *r;
    *out = NULL;
    if (!DRAPE_NEW(ctx, r, 1)) return DRAPE_ERROR_MEMORY;
    r->ctx = ctx;
    r->vertices = vertices;
    drape_status status = allocate(r);
    if (status) drape_i_response_destroy(r);
    else *out = r;
    return status;
}

static void free_verdicts(drape_context *ctx, drape_i_verdicts *v) {
    DRAPE_FREE(ctx, v->floor, v->room);
    DRAPE_FREE(ctx, v->separation, v->room);
    DRAPE_FREE(ctx, v->time, v->room);
    DRAPE_FREE(ctx, v->planned, v->room);
    *v = (drape_i_verdicts){0};
}

static void free_selection(drape_context *ctx, drape_i_selection *s) {
    DRAPE_FREE(ctx, s->pair, s->room);
    DRAPE_FREE(ctx, s->vertex, s->room);
    DRAPE_FREE(ctx, s->separation, s->room);
    DRAPE_FREE(ctx, s->time, s->room);
    *s = (drape_i_selection){0};
}

void drape_i_response_destroy(drape_i_response *r) {
    if (!r) return;
    drape_context *ctx = r->ctx;
    int64_t n = r->vertices;
    DRAPE_FREE(ctx, r->given, 3 * n);
    DRAPE_FREE(ctx, r->searched, 3 * n);
    DRAPE_FREE(ctx, r->full, 3 * n);
    DRAPE_FREE(ctx, r->part, n);
    DRAPE_FREE(ctx, r->changed, n);
    DRAPE_FREE(ctx, r->moved, n);
    for (int32_t k = 0; k < 2; k++) free_verdicts(ctx, &r->verdicts[k]);
    free_selection(ctx, &r->selection);
    DRAPE_FREE(ctx, r->hit, r->hit_room);
    DRAPE_FREE(ctx, r->contact, r->contact_room);
    drape_i_zones_destroy(ctx, r->zones);
    DRAPE_FREE(ctx, r, 1);
}

const uint8_t *drape_i_response_moved(const drape_i_response *r) { return r->moved; }
const drape_i_trouble *drape_i_response_trouble_of(const drape_i_response *r) { return &r->trouble; }

/* ---- How near is a hit ---- */

double drape_i_response_separation(double floor, double round) { return floor + MORE * (floor - round); }

double drape_i_response_reach(double floor, double distance, double round) {
    return fmax(floor + REACH * (distance - floor), floor + (floor - round));
}

/* ---- Pairs ---- */

static drape_status make_verdicts(drape_context *ctx, drape_i_verdicts *v, int64_t count) {
    if (count <= v->room) return DRAPE_OK;
    free_verdicts(ctx, v);
    v->room = count + count / 2;
    if (DRAPE_NEW_RAW(ctx, v->floor, v->room) && DRAPE_NEW_RAW(ctx, v->separation, v->room) &&
        DRAPE_NEW_RAW(ctx, v->time, v->room) && DRAPE_NEW_RAW(ctx, v->planned, v->room))
        return DRAPE_OK;
    free_verdicts(ctx, v);
    return DRAPE_ERROR_MEMORY;
}

typedef struct setting {
    const drape_i_world *world;
    const drape_i_pairs *pairs;
    drape_i_verdicts *verdicts;
} setting;

static void set_verdicts(void *data, int64_t begin, int64_t end) {
    const setting *s = data;
    double distance = -1, round = -1, floor = 0, separation = 0; /* of the pair before: most are alike */
    for (int64_t i = begin; i < end; i++) {
        if (s->pairs->distance[i] != distance || s->pairs->round[i] != round) {
            distance = s->pairs->distance[i], round = s->pairs->round[i];
            floor = drape_i_world_floor(s->world, distance, round);
            separation = drape_i_response_separation(floor, round);
        }
        s->verdicts->floor[i] = floor;
        s->verdicts->separation[i] = separation;
        s->verdicts->planned[i] = 0;
    }
}

static drape_status take_pairs(drape_i_response *r) {
    drape_i_world *world = r->world;
    r->counts.pairs = world->pairs[0].count + world->pairs[1].count;
    r->proved = false;
    memcpy(r->searched, world->end, 3 * (size_t)r->vertices * sizeof *r->searched);
    for (int32_t k = 0; k < 2; k++) {
        setting s = {world, &world->pairs[k], &r->verdicts[k]};
        drape_status status = make_verdicts(r->ctx, s.verdicts, s.pairs->count);
        if (status) return status;
        drape_i_loop(r->ctx, s.pairs->count, GRAIN, set_verdicts, &s);
    }
    return DRAPE_OK;
}

/* The margin that a search needs for cloth of no thickness: that of pairs at their separation, and as much again so
 * that ends have some room. */
static double least_margin(const drape_i_world *world) { return 2 * drape_i_world_floor(world, 0, 0); }

/* The least distance that any pair is kept apart by, without radii. */
static double least_distance(const drape_i_world *world) {
    double thinnest = world->thickest, least;
    for (int32_t i = 0; i < world->cloth_vertices; i++) thinnest = fmin(thinnest, world->thickness[i]);
    least = thinnest;
    for (int32_t i = 0; world->colliders && i < world->colliders->count; i++)
        least = fmin(least, world->colliders->item[i].thickness + 0.5 * thinnest);
    return least;
}

static drape_status search(drape_i_response *r) {
    double begin = drape_i_seconds(), margin = least_margin(r->world), least = least_distance(r->world);
    drape_status status = drape_i_world_find(r->world, margin, 0);
    r->counts.searches++;
    r->counts.seconds_find += drape_i_seconds() - begin;
    r->room =
        0.5 * (least + margin - drape_i_response_separation(drape_i_world_floor(r->world, least, 0), 0)) * (1 - 1e-9);
    DRAPE_ASSERT(r->room >= 0);
    return status ? status : take_pairs(r);
}

drape_status drape_i_response_search(drape_i_response *r, bool *again) {
    const drape_i_world *world = r->world;
    double most = 0;
    for (int32_t i = 0; i < world->cloth_vertices; i++) {
        vec3 off = vec3_sub(vec3_at(world->end + 3 * (int64_t)i), vec3_at(r->searched + 3 * (int64_t)i));
        most = fmax(most, vec3_dot(off, off));
    }
    *again = !(most <= r->room * r->room);
    return *again ? search(r) : DRAPE_OK;
}

/* Takes the pairs of the caller's search where that was wide enough: ends may differ from those it was made for. */
static drape_status first_pairs(drape_i_response *r) {
    const drape_i_response_request *q = r->request;
    double least = least_distance(r->world), margin = q->margin;
    double keep = drape_i_response_separation(drape_i_world_floor(r->world, least, 0), 0);
    r->room = 0.5 * (least + margin - keep) * (1 - 1e-9);
    if (!q->found || !(r->room > 0)) return search(r);
    drape_status status = take_pairs(r);
    if (q->searched) memcpy(r->searched, q->searched, 3 * (size_t)r->world->cloth_vertices * sizeof *r->searched);
    bool again;
    return status ? status : drape_i_response_search(r, &again);
}

/* ---- Hits ---- */

static drape_status make_selection(drape_context *ctx, drape_i_selection *s, int64_t count) {
    if (count <= s->room) return DRAPE_OK;
    free_selection(ctx, s);
    s->room = count + count / 2;
    if (DRAPE_NEW_RAW(ctx, s->pair, s->room) && DRAPE_NEW_RAW(ctx, s->vertex, s->room) &&
        DRAPE_NEW_RAW(ctx, s->separation, s->room) && DRAPE_NEW_RAW(ctx, s->time, s->room))
        return DRAPE_OK;
    free_selection(ctx, s);
    return DRAPE_ERROR_MEMORY;
}

static drape_ccd_pairs narrow_pairs(const drape_i_world *world, drape_ccd_kind kind, int64_t count,
                                    const int32_t (*vertex)[4], const double *separation) {
    return (drape_ccd_pairs){.kind = kind,
                             .vertices = world->vertices,
                             .start = world->start,
                             .end = world->end,
                             .pairs = count,
                             .vertex = count > 0 ? vertex[0] : NULL,
                             .separation = separation};
}

static void narrow(drape_i_response *r, drape_ccd_kind kind, int64_t count, const int32_t (*vertex)[4],
                   const double *separation, double *time) {
    const drape_ccd_pairs pairs = narrow_pairs(r->world, kind, count, vertex, separation);
    const drape_ccd_settings settings = drape_ccd_defaults();
    double begin = drape_i_seconds();
    drape_i_ccd_times(r->ctx, &pairs, &settings, time);
    r->counts.seconds_narrow += drape_i_seconds() - begin;
}

static bool apart_at_start(drape_i_response *r, drape_ccd_kind kind, int64_t pair, double separation) {
    const drape_i_world *world = r->world;
    const drape_ccd_settings settings = drape_ccd_defaults();
    drape_ccd_pairs one =
        narrow_pairs(world, kind, 1, (const int32_t(*)[4])world->pairs[kind].vertex + pair, &separation);
    double time;
    one.end = world->start;
    drape_i_ccd_times(r->ctx, &one, &settings, &time);
    return time > 1;
}

/* Something less than the distance at the start. */
static double below_start(const drape_i_response *r, drape_ccd_kind kind, int64_t pair) {
    const drape_i_pairs *p = &r->world->pairs[kind];
    double w[4], e[3];
    drape_i_closest(kind, r->world->start, p->vertex[pair], w);
    drape_i_between(r->world->start, p->vertex[pair], w, e);
    return p->round[pair] + LESS * (vec3_length(vec3_at(e)) - p->round[pair]);
}

/* What begins nearer than its separation could not move at all. It gets the floor instead, or where it begins nearer
 * than that too, somewhat less than the distance that it has. False where its start is not to blame. */
static bool lower_separation(drape_i_response *r, drape_ccd_kind kind, int64_t pair) {
    drape_i_verdicts *v = &r->verdicts[kind];
    double round = r->world->pairs[kind].round[pair], floor = v->floor[pair];
    if (apart_at_start(r, kind, pair, v->separation[pair])) return false;
    if (v->separation[pair] > floor && apart_at_start(r, kind, pair, floor)) {
        v->separation[pair] = floor;
        return true;
    }
    double lower = below_start(r, kind, pair);
    if (!(lower - round > LEAST_FLOOR * (floor - round)) || !apart_at_start(r, kind, pair, lower)) return false;
    v->floor[pair] = v->separation[pair] = lower;
    r->counts.lowered++;
    return true;
}

static drape_status add_hit(drape_i_response *r, drape_ccd_kind kind, int64_t pair) {
    drape_i_verdicts *v = &r->verdicts[kind];
    double *time = &v->time[pair];
    if (*time == 0 && lower_separation(r, kind, pair))
        narrow(r, kind, 1, (const int32_t(*)[4])r->world->pairs[kind].vertex + pair, &v->separation[pair], time);
    if (*time > 1) return DRAPE_OK;
    drape_status status = drape_i_response_grow(r->ctx, (void **)&r->hit, &r->hit_room, r->hits + 1, sizeof *r->hit);
    if (!status) r->hit[r->hits++] = (drape_i_hit){kind, pair, *time};
    return status;
}

static drape_status check_all(drape_i_response *r, drape_ccd_kind kind) {
    const drape_i_pairs *p = &r->world->pairs[kind];
    drape_i_verdicts *v = &r->verdicts[kind];
    drape_status status = DRAPE_OK;
    narrow(r, kind, p->count, (const int32_t(*)[4])p->vertex, v->separation, v->time);
    for (int64_t i = 0; i < p->count && !status; i++)
        if (v->time[i] <= 1) status = add_hit(r, kind, i);
    return status;
}

static int64_t select_pairs(drape_i_response *r, drape_ccd_kind kind) {
    const drape_i_pairs *p = &r->world->pairs[kind];
    const drape_i_verdicts *v = &r->verdicts[kind];
    const uint8_t *changed = r->changed;
    int64_t count = 0;
    for (int64_t i = 0; i < p->count; i++) {
        const int32_t *q = p->vertex[i];
        bool look = (changed[q[0]] | changed[q[1]] | changed[q[2]] | changed[q[3]]) != 0 || v->time[i] <= 1;
        if (look && !v->planned[i]) r->selection.pair[count++] = i;
    }
    return count;
}

static drape_status check_some(drape_i_response *r, drape_ccd_kind kind) {
    const drape_i_pairs *p = &r->world->pairs[kind];
    drape_i_verdicts *v = &r->verdicts[kind];
    drape_i_selection *s = &r->selection;
    drape_status status = make_selection(r->ctx, s, p->count);
    if (status) return status;
    int64_t count = select_pairs(r, kind);
    for (int64_t i = 0; i < count; i++) {
        memcpy(s->vertex[i], p->vertex[s->pair[i]], sizeof s->vertex[i]);
        s->separation[i] = v->separation[s->pair[i]];
    }
    narrow(r, kind, count, (const int32_t(*)[4])s->vertex, s->separation, s->time);
    for (int64_t i = 0; i < count && !status; i++) {
        v->time[s->pair[i]] = s->time[i];
        status = add_hit(r, kind, s->pair[i]);
    }
    return status;
}

drape_status drape_i_response_check(drape_i_response *r, bool all) {
    drape_status status = DRAPE_OK;
    r->hits = 0;
    for (int32_t k = 0; k < 2 && !status; k++)
        status = all ? check_all(r, (drape_ccd_kind)k) : check_some(r, (drape_ccd_kind)k);
    memset(r->changed, 0, (size_t)r->vertices);
    r->proved = !status && all && r->hits == 0;
    return status;
}

void drape_i_response_move(drape_i_response *r, int32_t vertex, vec3 to) {
    DRAPE_ASSERT(vertex >= 0 && vertex < r->world->cloth_vertices && r->request->inverse_mass[vertex] > 0);
    vec3_put(r->world->end + 3 * (int64_t)vertex, to);
    r->changed[vertex] = 1;
    r->proved = false;
}

void drape_i_response_blame_pair(drape_i_response *r, const drape_i_hit *hit) {
    const drape_i_pairs *p = &r->world->pairs[hit->kind];
    if (r->trouble.kind != DRAPE_I_TROUBLE_NONE) return;
    r->trouble =
        (drape_i_trouble){.kind = DRAPE_I_TROUBLE_PAIR, .pair = hit->kind, .collider = p->collider[hit->pair]};
    memcpy(r->trouble.vertex, p->vertex[hit->pair], sizeof r->trouble.vertex);
}

/* ---- A run ---- */

static void begin_run(drape_i_response *r, const drape_i_response_request *q) {
    DRAPE_ASSERT(q->world && q->world->vertices == r->vertices);
    r->request = q;
    r->world = q->world;
    r->counts = (drape_i_response_counts){0};
    r->trouble = (drape_i_trouble){.vertex = {-1, -1, -1, -1}, .collider = -1};
    r->hits = 0;
    memcpy(r->given, q->world->end, 3 * (size_t)r->vertices * sizeof *r->given);
    memset(r->changed, 0, (size_t)r->vertices);
    memset(r->moved, 0, (size_t)r->vertices);
}

static bool immovable(const drape_i_response *r, const drape_i_hit *hit) {
    const int32_t *v = r->world->pairs[hit->kind].vertex[hit->pair];
    const double *m = r->request->inverse_mass;
    return m[v[0]] == 0 && m[v[1]] == 0 && m[v[2]] == 0 && m[v[3]] == 0;
}

/* Pairs of which nothing can be moved are hopeless: better to know it before all the work. */
static bool hopeless(drape_i_response *r) {
    for (int64_t i = 0; i < r->hits; i++)
        if (immovable(r, &r->hit[i])) {
            drape_i_response_blame_pair(r, &r->hit[i]);
            return true;
        }
    return false;
}

/* Pairs for the ends as they are now, and the hits among them. */
static drape_status refresh(drape_i_response *r) {
    bool again;
    drape_status status = drape_i_response_search(r, &again);
    return !status && again ? drape_i_response_check(r, true) : status;
}

/* A part that was stopped may be hit by one that follows it. */
static drape_status search_mixed(drape_i_response *r) {
    r->world->mixed = true;
    drape_status status = search(r);
    r->world->mixed = false;
    return status;
}

/* Shortens, and lets the gate look at it; what the gate refuses is held at the start. That ends: each time there is
 * at least one more vertex that does not move. */
static drape_status shorten(drape_i_response *r, bool *kept) {
    drape_status status = search_mixed(r);
    if (!status) status = drape_i_response_check(r, true);
    memcpy(r->full, r->world->end, 3 * (size_t)r->vertices * sizeof *r->full);
    for (int32_t i = 0; i < r->vertices; i++) r->part[i] = 1;
    while (!status) {
        bool possible, frozen = false;
        status = drape_i_response_truncate(r, &possible);
        if (status || !possible) return status;
        status = drape_i_response_judge(r, kept);
        if (status || *kept) return status;
        for (int64_t i = 0; i < r->hits; i++) frozen |= drape_i_response_freeze(r, &r->hit[i]);
        if (!frozen) return DRAPE_OK;
        r->trouble.kind = DRAPE_I_TROUBLE_NONE;
        status = drape_i_response_check(r, false);
    }
    return status;
}

/* `full` is free at this time. */
void drape_i_response_project(drape_i_response *r) {
    const drape_i_response_request *q = r->request;
    if (!q->group) return;
    memcpy(r->full, r->world->end, 3 * (size_t)r->world->cloth_vertices * sizeof *r->full);
    q->project(q->user, r->full);
    for (int32_t k = 0; k < q->group_first[q->groups]; k++) {
        const int64_t at = 3 * (int64_t)q->member[k];
        bool same = memcmp(r->full + at, r->world->end + at, 3 * sizeof *r->full) == 0;
        if (!same && q->inverse_mass[q->member[k]] > 0) drape_i_response_move(r, q->member[k], vec3_at(r->full + at));
    }
}

static drape_status respond(drape_i_response *r, bool *kept) {
    drape_i_response_lift(r);
    drape_status status = first_pairs(r);
    if (!status) status = drape_i_response_check(r, true);
    r->counts.hits = r->hits;
    if (status || hopeless(r)) return status;
    if (r->hits > 0 && !r->request->no_impulses) status = drape_i_response_impulses(r);
    if (!status) status = refresh(r);
    if (!status && r->hits > 0 && !r->request->no_zones) {
        status = drape_i_response_zones(r);
        drape_i_response_project(r);
    }
    if (!status) status = refresh(r);
    if (status || hopeless(r)) return status;
    return r->hits == 0 || r->request->paper ? drape_i_response_judge(r, kept) : shorten(r, kept);
}

static void count_moved(drape_i_response *r) {
    const int32_t *same = r->world->same; /* the first of those that are one point moves them all */
    for (int32_t i = 0; i < r->world->cloth_vertices; i++) {
        if (same && same[i] != i && r->moved[same[i]])
            memcpy(r->world->end + 3 * (int64_t)i, r->world->end + 3 * (int64_t)same[i], 3 * sizeof *r->given);
        else if (same && same[i] != i)
            memcpy(r->world->end + 3 * (int64_t)i, r->given + 3 * (int64_t)i, 3 * sizeof *r->given);
        r->moved[i] = memcmp(r->given + 3 * (int64_t)i, r->world->end + 3 * (int64_t)i, 3 * sizeof *r->given) != 0;
        r->counts.moved += r->moved[i];
    }
}

drape_status drape_i_response_run(drape_i_response *r, const drape_i_response_request *q,
                                  drape_i_response_counts *counts, bool *kept) {
    double begin = drape_i_seconds();
    DRAPE_ASSERT(q->inverse_mass);
    begin_run(r, q);
    *kept = false;
    drape_status status = DRAPE_OK;
    if (drape_i_response_finite(r)) status = respond(r, kept);
    DRAPE_ASSERT(status || *kept == (r->trouble.kind == DRAPE_I_TROUBLE_NONE));
    count_moved(r);
    r->counts.seconds_response =
        drape_i_seconds() - begin - r->counts.seconds_find - r->counts.seconds_narrow - r->counts.seconds_gate;
    if (counts) *counts = r->counts;
    return status;
}

drape_status drape_i_response_gate(drape_i_response *r, drape_i_world *world, bool *kept) {
    begin_run(r, &(drape_i_response_request){.world = world});
    *kept = false;
    drape_status status = DRAPE_OK;
    if (drape_i_response_finite(r)) {
        status = search(r);
        if (!status) status = drape_i_response_judge(r, kept);
    }
    r->request = NULL;
    return status;
}
