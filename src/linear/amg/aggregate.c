/* aggregate.c: nodes gathered into aggregates, in two passes (Tamstorf, Jones and McCormick 2015, algorithms 1 and
 * 2).
 *
 * Corrected: the first pass starts from the nodes that are not special, and skips those that are in an aggregate
 * already. The second one takes the nodes that the first left. Nodes that are left even then (all their neighbours
 * are elsewhere) gather with what else is left around them.
 *
 * The rows are cut into parts whose bounds depend on their number alone. Each part makes aggregates of its own nodes
 * by itself, so that threads work side by side and the result is the same for any number of them. */
#include "base/parallel.h"
#include "linear/amg/setup.h"

enum { PART_ROWS = 4096, MOST_PARTS = 64, NOBODY = -1, LEFT = -2 };

typedef struct gathering {
    const drape_i_level *level;
    const drape_i_graph *graph;
    const drape_constraints *set;
    int32_t *aggregate;
    int32_t length; /* of a part */
    int32_t count[MOST_PARTS];
} gathering;

/* Part `part` while it is worked on: the nodes [begin, end). */
typedef struct part_view {
    const gathering *g;
    int32_t begin, end, count;
} part_view;

static bool inside(const part_view *p, int32_t j) { return j >= p->begin && j < p->end; }

/* In all directions. */
static bool held(const drape_constraints *set, int32_t i) {
    bool free = !set || set->index[i] < 0;
    for (int32_t k = 0; k < 9 && !free; k++) free = set->held[set->index[i]].S[k] != 0;
    return !free;
}

/* Special nodes stay nobody's: held, or strongly connected to none. */
static void find_special(const part_view *p) {
    const gathering *g = p->g;
    for (int32_t i = p->begin; i < p->end; i++) {
        bool connected = g->graph->start[i] < g->graph->start[i + 1];
        g->aggregate[i] = connected && !held(g->set, drape_i_user_row(g->level, i)) ? LEFT : NOBODY;
    }
}

/* All strong neighbours here are still free. */
static bool all_left(const part_view *p, int32_t i) {
    const drape_i_graph *g = p->g->graph;
    for (int64_t k = g->start[i]; k < g->start[i + 1]; k++)
        if (inside(p, g->col[k]) && p->g->aggregate[g->col[k]] >= 0) return false;
    return true;
}

static void gather_around(part_view *p, int32_t i) {
    const drape_i_graph *g = p->g->graph;
    int32_t *aggregate = p->g->aggregate;
    aggregate[i] = p->count;
    for (int64_t k = g->start[i]; k < g->start[i + 1]; k++) {
        int32_t j = g->col[k];
        if (inside(p, j) && aggregate[j] == LEFT) aggregate[j] = p->count;
    }
    p->count++;
}

static void first_pass(part_view *p) {
    for (int32_t i = p->begin; i < p->end; i++)
        if (p->g->aggregate[i] == LEFT && all_left(p, i)) gather_around(p, i);
}

/* Each node that was left joins the aggregate of a strong neighbour of the first pass. The strongest would be better
 * in theory. The last one is as good in practice and keeps aggregates compact in the order of the nodes. Marked as
 * LEFT - 1 - a at first, so that they do not take others along. */
static void second_pass(const part_view *p) {
    const drape_i_graph *g = p->g->graph;
    int32_t *aggregate = p->g->aggregate;
    for (int32_t i = p->begin; i < p->end; i++) {
        if (aggregate[i] != LEFT) continue;
        for (int64_t k = g->start[i]; k < g->start[i + 1]; k++) {
            int32_t j = g->col[k];
            if (inside(p, j) && aggregate[j] >= 0) aggregate[i] = LEFT - 1 - aggregate[j];
        }
    }
    for (int32_t i = p->begin; i < p->end; i++)
        if (aggregate[i] < LEFT) aggregate[i] = LEFT - 1 - aggregate[i];
}

static void third_pass(part_view *p) {
    for (int32_t i = p->begin; i < p->end; i++)
        if (p->g->aggregate[i] == LEFT) gather_around(p, i);
}

static void gather_part(void *data, int32_t part) {
    gathering *g = data;
    part_view p = {g, part * g->length, (part + 1) * g->length, 0};
    if (p.end > g->graph->rows) p.end = g->graph->rows;
    find_special(&p);
    first_pass(&p);
    second_pass(&p);
    third_pass(&p);
    g->count[part] = p.count;
}

static void number_part(void *data, int32_t part) {
    const gathering *g = data;
    int32_t begin = part * g->length, end = begin + g->length < g->graph->rows ? begin + g->length : g->graph->rows;
    for (int32_t i = begin; i < end; i++)
        if (g->aggregate[i] >= 0) g->aggregate[i] += g->count[part];
}

drape_status drape_i_aggregate(drape_context *ctx, drape_i_level *level, const drape_i_graph *graph,
                               const drape_constraints *set, int32_t *aggregates) {
    int32_t rows = level->A.rows, parts = rows / PART_ROWS;
    if (!DRAPE_NEW_RAW(ctx, level->aggregate, rows)) return DRAPE_ERROR_MEMORY;
    gathering g = {.level = level, .graph = graph, .set = set, .aggregate = level->aggregate};
    parts = parts > MOST_PARTS ? MOST_PARTS : parts < 2 ? 1 : parts / 2 * 2; /* two threads get equal shares */
    g.length = (rows + parts - 1) / parts;
    parts = (rows + g.length - 1) / g.length;
    drape_i_tasks(ctx, parts, gather_part, &g);
    *aggregates = 0;
    for (int32_t part = 0; part < parts; part++) { /* count becomes the number of those before */
        int32_t here = g.count[part];
        g.count[part] = *aggregates;
        *aggregates += here;
    }
    drape_i_tasks(ctx, parts, number_part, &g);
    return DRAPE_OK;
}
