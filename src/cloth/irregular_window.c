/* irregular_window.c: a window of an irregular grid, without the rest of it.
 *
 * The result depends on all that happens below, so all rows are made, but only some are here at a time. They enter
 * from below in their order. The passes of irregular.c follow each other, `lag` rows apart; what all of them are done
 * with leaves, and the window keeps its share. What a pass does to a vertex reaches a few rows at most. So nearly
 * always the passes come to every triangle in the order in which they would one after another, and then the bits are
 * the same. The mesh notices where they do not (`late`): then all is made again with a larger lag. Rows that are not
 * complete, because a neighbour has not come yet or has left, count as changed by the last of passes.
 *
 * How many rounds of repair there are depends on the worst triangle of all. A first try makes a few. What they found
 * tells whether irregular.c would have made more, or fewer, and whether it would have begun again. A plan keeps the
 * outcome, so that the next window of the same grid takes one try.
 *
 * Cost: as irregular.c for all of the grid; 80 bytes per vertex of lag x (passes + 1) rows, some 75 for square cells.
 */
#include "cloth/grid.h"
#include "cloth/irregular.h"

#include <math.h>
#include <string.h>

enum {
    FIRST_ROUNDS = 3, /* of repair, in the first try */
    LEAST_LAG = 5,    /* rows of square cells; 5 were enough at 90,000 vertices, 6 at a million */
    LARGE_LAG = 7,
    LARGE = 1 << 18,  /* vertices */
    SPARE = 8,        /* one row in so many more than is needed, so that rows leave several at a time */
    FEWEST_SPARE = 6, /* but no fewer: vertices stay while a triangle that came later has them */
    STACK = 4096,     /* half edges */
    MOST_PASSES = DRAPE_I_IRREGULAR_FIXED + DRAPE_I_IRREGULAR_ROUNDS
};

typedef drape_i_irregular_mesh mesh;

typedef struct stream {
    drape_context *ctx;
    drape_i_grid *to;
    bool tube;
    drape_i_grid whole; /* the grid that passes by; of a tube without its first and last column */
    mesh m;             /* the rows that are here */
    int64_t first;      /* triangle of all that is the first here */
    int32_t vertex_room, triangle_room;
    double input, output; /* the worst qualities */
    int32_t passes;
    int32_t bad[MOST_PASSES];
} stream;

/* ---- Rows of all of the grid ---- */

static int64_t vertices_below(const stream *s, int32_t j) { return drape_i_grid_number(&s->whole, false, 0, j); }

static int64_t triangles_below(const stream *s, int32_t j) {
    const drape_i_grid *g = &s->whole;
    if (j > g->ny - 1) j = g->ny - 1;
    const int32_t low = j < g->cut_y ? j : g->cut_y;
    return 2 * ((int64_t)(g->nx - 1) * low + (int64_t)g->cut_x * (j - low));
}

static int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

/* ---- Memory ---- */

/* Everything has the size of what the rooms say. */
static bool allocate(stream *s) {
    drape_context *ctx = s->ctx;
    mesh *m = &s->m;
    const int64_t n = s->vertex_room, t = s->triangle_room;
    return DRAPE_NEW(ctx, m->uv, 2 * n) && DRAPE_NEW(ctx, m->corner, t) && DRAPE_NEW(ctx, m->twin, 3 * t) &&
           DRAPE_NEW(ctx, m->out, n) && DRAPE_NEW(ctx, m->freedom, n) && DRAPE_NEW(ctx, m->stack, m->room) &&
           DRAPE_NEW(ctx, m->queued, 3 * t) && DRAPE_NEW(ctx, m->seen, t) && DRAPE_NEW(ctx, m->changed, t);
}

static void release(stream *s) {
    drape_context *ctx = s->ctx;
    mesh *m = &s->m;
    const int64_t n = s->vertex_room, t = s->triangle_room;
    DRAPE_FREE(ctx, m->uv, 2 * n);
    DRAPE_FREE(ctx, m->corner, t);
    DRAPE_FREE(ctx, m->twin, 3 * t);
    DRAPE_FREE(ctx, m->out, n);
    DRAPE_FREE(ctx, m->freedom, n);
    DRAPE_FREE(ctx, m->stack, m->room);
    DRAPE_FREE(ctx, m->queued, 3 * t);
    DRAPE_FREE(ctx, m->seen, t);
    DRAPE_FREE(ctx, m->changed, t);
}

/* For so many passes at this lag. */
static drape_status begin(stream *s, const drape_i_irregular_plan *plan, uint64_t seed) {
    const int64_t held = (int64_t)plan->lag * (s->passes + 1) + 2;
    int64_t rows = held + (held / SPARE > FEWEST_SPARE ? held / SPARE : FEWEST_SPARE);
    if (rows > s->whole.ny) rows = s->whole.ny;
    s->vertex_room = (int32_t)(rows * vertices_below(s, 1));
    s->triangle_room = (int32_t)(rows * triangles_below(s, 1));
    s->m = (mesh){.seed = drape_i_mix(seed), .room = smaller(plan->room, 3 * s->triangle_room)};
    s->first = 0;
    s->input = s->output = 1;
    memset(s->bad, 0, sizeof s->bad);
    s->to->triangles = 0;
    return allocate(s) ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

/* ---- Rows leave ---- */

static int32_t number_in_window(const stream *s, int64_t vertex, int32_t at[2]) {
    drape_i_grid_find(&s->whole, false, (int32_t)vertex, &at[0], &at[1]);
    return drape_i_grid_vertex(s->to, at[0] + s->tube, at[1]);
}

static void keep_vertex(stream *s, int32_t v) {
    int32_t at[2], number = number_in_window(s, v + s->m.first, at);
    if (number >= 0) memcpy(s->to->uv + 2 * (int64_t)number, s->m.uv + 2 * (int64_t)v, 2 * sizeof *s->m.uv);
}

static void keep_triangle(stream *s, int32_t t, drape_i_irregular_plan *plan) {
    int32_t at[3][2], number[3], *to = s->to->triangle[s->to->triangles];
    bool inside = true;
    for (int32_t k = 0; k < 3; k++) {
        number[k] = number_in_window(s, s->m.corner[t][k] + s->m.first, at[k]);
        inside = inside && number[k] >= 0;
    }
    for (int32_t k = 0; k < 6; k++) {
        const int32_t far = at[k % 3][k / 3] - at[(k + 1) % 3][k / 3];
        if (far > plan->reach[k / 3]) plan->reach[k / 3] = far;
        if (-far > plan->reach[k / 3]) plan->reach[k / 3] = -far;
    }
    s->output = fmin(s->output, drape_i_irregular_quality(&s->m, t));
    if (!inside) return;
    memcpy(to, number, sizeof number);
    s->to->triangles++;
}

/* Triangles with a neighbour that has left must not be touched any more. */
static void renumber(stream *s, int32_t vertices, int32_t triangles) {
    mesh *m = &s->m;
    for (int32_t t = 0; t < m->triangles; t++)
        for (int32_t k = 0; k < 3; k++) {
            int32_t *twin = &m->twin[3 * t + k];
            m->corner[t][k] -= vertices;
            if (*twin < 0) continue;
            *twin -= 3 * triangles;
            if (*twin >= 0) continue;
            *twin = -1;
            m->changed[t] = DRAPE_I_IRREGULAR_UNSEEN;
        }
    for (int32_t v = 0; v < m->vertices; v++) {
        m->out[v] -= m->out[v] < 0 ? 0 : 3 * triangles;
        if (m->out[v] < 0) m->out[v] = -1;
    }
}

#define SHIFT(array, from, count, unit)                                                                              \
    memmove(array, (array) + (unit) * (int64_t)(from), (size_t)(unit) * (size_t)(count) * sizeof *(array))

/* The first ones, which no triangle that stays has as a corner. */
static void leave(stream *s, int32_t vertices, int32_t triangles) {
    mesh *m = &s->m;
    m->vertices -= vertices;
    m->triangles -= triangles;
    SHIFT(m->uv, vertices, m->vertices, 2);
    SHIFT(m->out, vertices, m->vertices, 1);
    SHIFT(m->freedom, vertices, m->vertices, 1);
    SHIFT(m->corner, triangles, m->triangles, 1);
    SHIFT(m->twin, triangles, m->triangles, 3);
    SHIFT(m->seen, triangles, m->triangles, 1);
    SHIFT(m->changed, triangles, m->triangles, 1);
    renumber(s, vertices, triangles);
    m->first += vertices;
    s->first += triangles;
}

/* Everything below row j, which no pass comes to any more. */
static void drop_below(stream *s, int32_t j, drape_i_irregular_plan *plan) {
    mesh *m = &s->m;
    int32_t triangles = (int32_t)(triangles_below(s, j) - s->first);
    int32_t vertices = (int32_t)(vertices_below(s, j) - m->first);
    if (triangles < 0) return;
    for (int32_t t = triangles; t < m->triangles; t++)
        for (int32_t k = 0; k < 3; k++) vertices = smaller(vertices, m->corner[t][k]);
    for (int32_t t = 0; t < triangles; t++) keep_triangle(s, t, plan);
    for (int32_t v = 0; v < vertices; v++) keep_vertex(s, v);
    leave(s, vertices, triangles);
}

/* ---- Rows enter ---- */

static void add_vertices(stream *s, int32_t j) {
    mesh *m = &s->m;
    for (int32_t i = 0; vertices_below(s, j) + i < vertices_below(s, j + 1); i++, m->vertices++) {
        drape_i_grid_place(&s->whole, i, j, m->uv + 2 * (int64_t)m->vertices);
        m->out[m->vertices] = -1;
    }
}

/* The edges of a cell of its own, and to one before. */
static void join_cells(mesh *m, int32_t t, int32_t other) {
    for (int32_t h = 3 * t; h < 3 * t + 6; h++)
        for (int32_t g = 3 * other; g < 3 * other + 6; g++) {
            const int32_t *a = m->corner[h / 3], *b = m->corner[g / 3];
            if (a[h % 3] == b[(g + 1) % 3] && b[g % 3] == a[(h + 1) % 3]) drape_i_irregular_pair(m, h, g);
        }
}

static drape_status add_cell(stream *s, int32_t i, int32_t j) {
    mesh *m = &s->m;
    const int32_t t = m->triangles, low = (int32_t)(vertices_below(s, j) + i - m->first);
    const int32_t high = (int32_t)(vertices_below(s, j + 1) + i - m->first);
    const int32_t around[4] = {low, low + 1, high + 1, high};
    drape_status status = DRAPE_OK;
    m->triangles += 2;
    drape_i_grid_cell(&s->whole, i, j, around, &m->corner[t]);
    for (int32_t h = 3 * t; h < 3 * t + 6; h++) {
        int32_t *out = &m->out[m->corner[h / 3][h % 3]];
        if (*out < 0) *out = h;
        m->twin[h] = -1;
    }
    join_cells(m, t, t);
    if (i > 0) join_cells(m, t, t - 2);
    if (j > 0) join_cells(m, t, (int32_t)(triangles_below(s, j - 1) + 2 * (int64_t)i - s->first));
    for (int32_t k = t; k < t + 2 && !status; k++) {
        m->seen[k] = 0;
        m->changed[k] = DRAPE_I_IRREGULAR_UNSEEN;
        s->input = fmin(s->input, drape_i_irregular_quality(m, k));
        status = drape_i_irregular_check(s->ctx, m, k, k + s->first);
    }
    return status;
}

/* Cells of row j have all their neighbours. */
static void release_cells(stream *s, int32_t j) {
    const int64_t from = triangles_below(s, j) - s->first, end = triangles_below(s, j + 1) - s->first;
    for (int64_t t = from; t < end; t++) s->m.changed[t] = 0;
}

/* Vertices of row j have all their triangles. */
static void find_freedom(stream *s, int32_t j) {
    const bool late = s->m.late; /* these may look at cells that have not been released */
    const int64_t from = vertices_below(s, j) - s->m.first, end = vertices_below(s, j + 1) - s->m.first;
    s->m.pass = 0;
    for (int64_t v = from; v < end; v++) drape_i_irregular_find_freedom(&s->m, (int32_t)v, -1);
    s->m.late = late;
}

/* Row j of the cells. */
static drape_status enter(stream *s, int32_t j) {
    const int32_t cells = (int32_t)(triangles_below(s, j + 1) - triangles_below(s, j)) / 2, last = s->whole.ny - 2;
    drape_status status = DRAPE_OK;
    if (j == 0) add_vertices(s, 0);
    add_vertices(s, j + 1);
    for (int32_t i = 0; i < cells && !status; i++) status = add_cell(s, i, j);
    if (status) return status;
    find_freedom(s, j);
    if (j > 0) release_cells(s, j - 1);
    if (j < last) return DRAPE_OK;
    release_cells(s, j);
    find_freedom(s, j + 1);
    return DRAPE_OK;
}

/* Whether there is room for row j of the cells, once all rows have left that may. */
static bool has_room(stream *s, int32_t j, drape_i_irregular_plan *plan) {
    const mesh *m = &s->m;
    for (int32_t try = 0; try < 2; try++) {
        if (vertices_below(s, j + 2) - m->first <= s->vertex_room &&
            triangles_below(s, j + 1) - s->first <= s->triangle_room)
            return true;
        const int64_t done = j - (int64_t)plan->lag * (s->passes + 1);
        if (try == 0 && done > 0) drop_below(s, (int32_t)done, plan);
    }
    return false;
}

/* ---- A try ---- */

static void run_row(stream *s, int32_t pass, int32_t j, const drape_i_irregular_plan *plan) {
    const bool repair = pass >= DRAPE_I_IRREGULAR_FIXED;
    if (j < 0 || j >= s->whole.ny - repair) return;
    const int64_t from = repair ? triangles_below(s, j) - s->first : vertices_below(s, j) - s->m.first;
    const int64_t end = repair ? triangles_below(s, j + 1) - s->first : vertices_below(s, j + 1) - s->m.first;
    s->bad[pass] += drape_i_irregular_pass(&s->m, pass, ldexp(1, -plan->attempt), (uint64_t)plan->base, (int32_t)from,
                                           (int32_t)end);
}

/* All rows pass by, unless one is late. */
static drape_status run(stream *s, drape_i_irregular_plan *plan) {
    const int32_t ny = s->whole.ny;
    drape_status status = DRAPE_OK;
    plan->reach[0] = plan->reach[1] = 0;
    for (int64_t j = 0; j < ny + (int64_t)plan->lag * s->passes && !status && !s->m.late; j++) {
        if (j < ny - 1) {
            if (!has_room(s, (int32_t)j, plan)) s->m.late = true;
            else status = enter(s, (int32_t)j);
        }
        for (int32_t p = 0; p < s->passes && !status && !s->m.late; p++)
            run_row(s, p, (int32_t)(j - (int64_t)plan->lag * (p + 1)), plan);
    }
    if (!status && !s->m.late) drop_below(s, ny, plan);
    return status;
}

/* ---- How many tries ---- */

static int32_t first_lag(const drape_i_grid *g) {
    const double flat = g->width / (g->nx - 1) / (g->height / (g->ny - 1)); /* throws go as far in both directions */
    const int32_t lag = (int64_t)g->nx * g->ny > LARGE ? LARGE_LAG : LEAST_LAG;
    const double rows = lag * sqrt(flat > 1 ? flat : 1);
    return rows < g->ny ? (int32_t)ceil(rows) : g->ny;
}

/* With a lag of all rows the passes are made one after another, and nothing can be late. */
static void wait_longer(const stream *s, drape_i_irregular_plan *plan) {
    plan->lag = smaller(plan->lag + plan->lag / 2 + 1, s->whole.ny);
    plan->room = plan->room < INT32_MAX / 2 ? 2 * plan->room : INT32_MAX;
}

/* Whether this try is what irregular.c makes; else the plan says what to try next. */
static bool judge(const stream *s, drape_i_irregular_plan *plan) {
    const int32_t *bad = s->bad + DRAPE_I_IRREGULAR_FIXED, made = plan->rounds;
    const bool last = plan->attempt == DRAPE_I_IRREGULAR_ATTEMPTS - 1;
    drape_i_patience patience = {0};
    bool again = !last;
    for (int32_t i = 0; i < made && again; i++) again = drape_i_irregular_again(&patience, bad[i]);
    if (again) {
        plan->rounds = smaller(2 * made, DRAPE_I_IRREGULAR_ROUNDS);
        return false;
    }
    if (!last && patience.rounds < made && bad[patience.rounds] > 0) { /* it would have lost its patience */
        plan->rounds = patience.rounds;
        return false;
    }
    if (last || s->output >= drape_i_irregular_wanted(s->input)) {
        plan->rounds = patience.rounds;
        if (plan->rounds > 0 && bad[plan->rounds - 1] == 0) plan->rounds--; /* it only looked */
        return true;
    }
    plan->base += DRAPE_I_IRREGULAR_OWN_ROUNDS + patience.rounds;
    plan->rounds = FIRST_ROUNDS;
    plan->attempt++;
    return false;
}

static drape_status make(stream *s, uint64_t seed, drape_i_irregular_plan *plan) {
    drape_status status = DRAPE_OK;
    for (bool done = false; !done && !status;) {
        const bool last = plan->attempt == DRAPE_I_IRREGULAR_ATTEMPTS - 1;
        s->passes = last ? 0 : DRAPE_I_IRREGULAR_FIXED + plan->rounds;
        status = begin(s, plan, seed);
        if (!status) status = run(s, plan);
        if (s->m.late) wait_longer(s, plan);
        else done = plan->known || judge(s, plan);
        release(s);
    }
    plan->known = plan->known || !status;
    return status;
}

/* As all of the grid has them. */
static drape_status sort(drape_context *ctx, drape_i_grid *g) {
    int32_t *first = NULL, (*sorted)[3] = NULL;
    const bool good = DRAPE_NEW(ctx, first, (int64_t)g->vertices + 1) && DRAPE_NEW(ctx, sorted, g->triangles);
    if (good) drape_i_irregular_sort(g->vertices, g->triangles, g->triangle, first, sorted);
    DRAPE_FREE(ctx, first, (int64_t)g->vertices + 1);
    DRAPE_FREE(ctx, sorted, g->triangles);
    return good ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

drape_status drape_i_irregular_window(drape_context *ctx, uint64_t seed, bool tube, drape_i_irregular_plan *plan,
                                      drape_i_grid *g) {
    stream *s;
    DRAPE_ASSERT(g->partly && g->loose);
    g->triangles = 0;
    if (g->vertices == 0) return DRAPE_OK;
    if (!DRAPE_NEW(ctx, s, 1)) return DRAPE_ERROR_MEMORY;
    s->ctx = ctx;
    s->to = g;
    s->tube = tube;
    s->whole = (drape_i_grid){.nx = g->nx,
                              .ny = g->ny,
                              .cut_x = g->cut_x,
                              .cut_y = g->cut_y,
                              .width = g->width,
                              .height = g->height,
                              .alternating = g->alternating};
    if (tube) drape_i_irregular_inner(g, &s->whole);
    if (!plan->lag) *plan = (drape_i_irregular_plan){first_lag(&s->whole), STACK, FIRST_ROUNDS, 0, 0, {0, 0}, 0};
    drape_status status = make(s, seed, plan);
    DRAPE_FREE(ctx, s, 1);
    if (!status) status = sort(ctx, g);
    if (!status && tube) drape_i_irregular_seam(g);
    return status;
}
