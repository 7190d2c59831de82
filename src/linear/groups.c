/* groups.c: see groups.h. */
#include "linear/groups.h"

#include "base/parallel.h"
#include "sparse/matrix.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GROUP_GRAIN = 16 };
static const double SAME_SPAN = 1e-6; /* share of a row, of length one, that must be left for it to count */
static const double ROUNDING = 1e-10; /* by which a row may be missed, relative to the largest number prescribed */

/* ---- Memory ---- */

static drape_status create(drape_context *ctx, int32_t vertices, drape_i_groups **out) {
    drape_i_groups *G;
    *out = NULL;
    if (!DRAPE_NEW(ctx, G, 1)) return DRAPE_ERROR_MEMORY;
    G->ctx = ctx;
    G->vertices = vertices;
    if (!DRAPE_NEW(ctx, G->of, vertices) || !DRAPE_NEW(ctx, G->place, vertices) ||
        drape_constraints_create(ctx, vertices, &G->turned)) {
        drape_i_groups_destroy(G);
        return DRAPE_ERROR_MEMORY;
    }
    for (int32_t i = 0; i < vertices; i++) G->of[i] = -1;
    G->turned->turned_by = G;
    *out = G;
    return DRAPE_OK;
}

static void free_members(drape_i_groups *G) {
    DRAPE_FREE(G->ctx, G->member, G->member_room);
    DRAPE_FREE(G->ctx, G->y, 3 * (int64_t)G->member_room);
    DRAPE_FREE(G->ctx, G->pivot, 3 * (int64_t)G->member_room);
    G->member = NULL;
    G->y = NULL;
    G->pivot = NULL;
    G->member_room = 0;
}

void drape_i_groups_destroy(drape_i_groups *G) {
    if (!G) return;
    drape_context *ctx = G->ctx;
    free_members(G);
    DRAPE_FREE(ctx, G->group, G->group_room);
    DRAPE_FREE(ctx, G->row, G->row_room);
    DRAPE_FREE(ctx, G->H, G->H_room);
    DRAPE_FREE(ctx, G->C, G->C_room);
    DRAPE_FREE(ctx, G->of, G->vertices);
    DRAPE_FREE(ctx, G->place, G->vertices);
    drape_constraints_destroy(G->turned);
    DRAPE_FREE(ctx, G, 1);
}

/* Nothing that is kept is worth copying. Half as much again, so that what grows little by little seldom allocates. */
#define MAKE_ROOM(G, array, room, count)                                                                             \
    ((count) <= (room) ||                                                                                            \
     (DRAPE_FREE((G)->ctx, array, room), (room) = 0,                                                                 \
      DRAPE_NEW((G)->ctx, array, (count) + (count) / 2) ? ((room) = (count) + (count) / 2, true) : false))

static bool make_room_for_members(drape_i_groups *G, int32_t count) {
    if (count <= G->member_room) return true;
    free_members(G);
    int64_t room = count + count / 2;
    bool good = DRAPE_NEW(G->ctx, G->member, room) && DRAPE_NEW(G->ctx, G->y, 3 * room) &&
                DRAPE_NEW(G->ctx, G->pivot, 3 * room);
    G->member_room = (int32_t)room;
    if (!good) free_members(G);
    return good;
}

/* ---- Checking ---- */

static drape_status bad_vertex(drape_context *ctx, const drape_equality *e, int32_t number, int32_t vertices) {
    for (int32_t a = 0; a < e->count; a++) {
        if (e->vertex[a] < 0 || e->vertex[a] >= vertices)
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "constraints: equality %d names vertex %d of %d", number,
                                e->vertex[a], vertices);
        for (int32_t b = 0; b < a; b++)
            if (e->vertex[a] == e->vertex[b])
                return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "constraints: equality %d names vertex %d twice",
                                    number, e->vertex[a]);
        if (!isfinite(e->w[a]))
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                                "constraints: equality %d: the weight of vertex %d is not a finite number", number,
                                e->vertex[a]);
    }
    return DRAPE_OK;
}

/* Its directions, orthonormal. */
static drape_status directions_of(drape_context *ctx, const drape_equality *e, int32_t number, double d[3][3]) {
    memcpy(d, e->direction, 9 * sizeof(double));
    if (e->directions == 3) memcpy(d, (double[3][3]){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, 9 * sizeof(double));
    for (int32_t k = 0; k < e->directions && e->directions < 3; k++)
        if (!drape_i_orthonormalise(d, k))
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                                "constraints: equality %d of vertex %d: direction %d (%g, %g, %g) has no length or "
                                "lies in the span of those before it",
                                number, e->vertex[0], k, e->direction[k][0], e->direction[k][1], e->direction[k][2]);
    return DRAPE_OK;
}

static drape_status check(drape_context *ctx, const drape_equality *e, int32_t number, int32_t vertices) {
    double d[3][3], most = 0;
    if (e->count < 1 || e->count > DRAPE_EQUALITY_VERTICES || e->directions < 1 || e->directions > 3)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "constraints: equality %d of %d vertices with %d directions; expected 1 to %d and 1 to 3",
                            number, e->count, e->directions, DRAPE_EQUALITY_VERTICES);
    drape_status status = bad_vertex(ctx, e, number, vertices);
    if (!status) status = drape_i_check_reserved(ctx, "drape_equality", e->reserved, 2);
    for (int32_t a = 0; a < e->count; a++) most = fmax(most, fabs(e->w[a]));
    if (!status && !(most > 0))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "constraints: equality %d of vertex %d: all its weights are 0",
                            number, e->vertex[0]);
    if (!status && !(isfinite(e->value[0]) && isfinite(e->value[1]) && isfinite(e->value[2])))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "constraints: equality %d of vertex %d: its value is not a finite number", number,
                            e->vertex[0]);
    return status ? status : directions_of(ctx, e, number, d);
}

/* ---- Which vertices are coupled ---- */

static void clear(drape_i_groups *G) {
    for (int32_t i = 0; G->count > 0 && i < G->members; i++) G->of[G->member[i]] = -1;
    G->count = G->members = G->rows = G->yielded = 0;
}

/* of[v] is a vertex of the same group, at last the smallest of it. */
static int32_t root_of(int32_t *of, int32_t v) {
    while (of[v] != v) {
        of[v] = of[of[v]];
        v = of[v];
    }
    return v;
}

static int32_t join_vertices(int32_t *of, const drape_equality *e) {
    int32_t root = -1, fresh = 0;
    for (int32_t a = 0; a < e->count; a++) {
        if (e->w[a] == 0) continue;
        int32_t v = e->vertex[a];
        if (of[v] < 0) of[v] = v, fresh++;
        v = root_of(of, v);
        if (root < 0) root = v;
        else if (v < root) of[root] = v, root = v;
        else of[v] = root;
    }
    return fresh;
}

/* of[] from vertices to numbers of groups, in the order of their smallest vertices. place[] counts on the way. */
static void number_groups(drape_i_groups *G) {
    for (int32_t v = 0; v < G->vertices; v++) {
        if (G->of[v] < 0) continue;
        int32_t root = root_of(G->of, v), g = root == v ? G->count++ : G->place[root];
        if (root == v) G->group[g] = (drape_i_group){.wrong = -1};
        G->place[v] = g; /* its group, until rows are numbered */
        G->group[g].size++;
    }
    for (int32_t g = 0, first = 0; g < G->count; first += G->group[g++].size) G->group[g].first = first;
    for (int32_t v = 0; v < G->vertices; v++) {
        if (G->of[v] < 0) continue;
        drape_i_group *g = &G->group[G->of[v] = G->place[v]];
        G->place[v] = g->rows++; /* those that are there so far */
        G->member[g->first + G->place[v]] = v;
    }
    for (int32_t g = 0; g < G->count; g++) G->group[g].rows = 0;
}

static drape_status find_groups(drape_i_groups *G, const drape_equality *list, int32_t count) {
    int32_t members = 0;
    for (int32_t i = 0; i < count; i++) members += join_vertices(G->of, &list[i]);
    if (!make_room_for_members(G, members) || !MAKE_ROOM(G, G->group, G->group_room, members)) {
        for (int32_t i = 0; i < count; i++)
            for (int32_t a = 0; a < list[i].count; a++) G->of[list[i].vertex[a]] = -1;
        return DRAPE_ERROR_MEMORY;
    }
    G->members = members;
    number_groups(G);
    for (int32_t g = 0; g < G->count; g++)
        if (G->group[g].size > DRAPE_I_GROUP_MOST) {
            const int32_t *m = G->member + G->group[g].first, size = G->group[g].size;
            return drape_i_fail(G->ctx, DRAPE_ERROR_ARGUMENT,
                                "constraints: %d vertices, from %d to %d, are coupled with each other by equalities; "
                                "at most %d may be. Couple them by springs, or in smaller groups",
                                size, m[0], m[size - 1], DRAPE_I_GROUP_MOST);
        }
    return DRAPE_OK;
}

/* ---- Rows ---- */

/* Orthonormal directions in which a vertex is held; how many. */
static int32_t held_directions(const drape_i_held *h, double d[3][3]) {
    int32_t count = (int32_t)(3.5 - ((h->S[0] + h->S[4]) + h->S[8]));
    bool taken[3] = {false};
    for (int32_t n = 0; n < count; n++) {
        int32_t best = -1;
        double most = -1, left[3][3];
        for (int32_t c = 0; c < 3; c++) { /* columns of I - S, without what there is already */
            if (taken[c]) continue;
            for (int32_t r = 0; r < 3; r++) left[c][r] = (r == c ? 1 : 0) - h->S[3 * r + c];
            for (int32_t j = 0; j < n; j++) {
                double along = (d[j][0] * left[c][0] + d[j][1] * left[c][1]) + d[j][2] * left[c][2];
                for (int32_t r = 0; r < 3; r++) left[c][r] -= along * d[j][r];
            }
            double size = (left[c][0] * left[c][0] + left[c][1] * left[c][1]) + left[c][2] * left[c][2];
            if (size > most) most = size, best = c;
        }
        taken[best] = true;
        memcpy(d[n], left[best], sizeof d[n]);
        if (!drape_i_orthonormalise(d, n)) return n;
    }
    return count;
}

static int32_t group_of(const drape_i_groups *G, const drape_equality *e) {
    int32_t a = 0;
    while (e->w[a] == 0) a++;
    return G->of[e->vertex[a]];
}

static bool make_room_for_rows(drape_i_groups *G) {
    int64_t rows = 0, H = 0, C = 0;
    for (int32_t g = 0; g < G->count; g++) {
        drape_i_group *group = &G->group[g];
        int64_t n = 3 * (int64_t)group->size;
        group->H = H;
        group->C = C;
        group->row = (int32_t)rows;
        H += n * n;
        C += n * group->rows;
        rows += group->rows;
        if (rows > INT32_MAX / 2) return false;
        group->rows = 0;
    }
    return MAKE_ROOM(G, G->row, G->row_room, (int32_t)rows) && MAKE_ROOM(G, G->H, G->H_room, H) &&
           MAKE_ROOM(G, G->C, G->C_room, C);
}

/* A new row of zeros. */
static double *add_row(drape_i_groups *G, int32_t g, drape_i_group_row row) {
    drape_i_group *group = &G->group[g];
    const int64_t n = 3 * (int64_t)group->size;
    double *c = G->C + group->C + n * group->rows;
    G->row[group->row + group->rows++] = row;
    G->rows++;
    memset(c, 0, (size_t)n * sizeof *c);
    return c;
}

static double dot3(const double *a, const double *b) { return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2]; }

static void add_held(drape_i_groups *G, const drape_i_held *h) {
    double d[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    int32_t count = h->fixed ? 3 : held_directions(h, d);
    for (int32_t k = 0; k < count; k++) {
        double *c = add_row(G, G->of[h->vertex], (drape_i_group_row){-1, 0, false, dot3(d[k], h->z)});
        memcpy(c + 3 * G->place[h->vertex], d[k], sizeof d[k]);
    }
}

/* Of length one. */
static void add_equality(drape_i_groups *G, const drape_equality *e, int32_t number) {
    double d[3][3], most = 0, sum = 0;
    drape_status fine = directions_of(G->ctx, e, number, d);
    DRAPE_ASSERT(!fine);
    (void)fine;
    for (int32_t a = 0; a < e->count; a++) most = fmax(most, fabs(e->w[a]));
    for (int32_t a = 0; a < e->count; a++) sum += (e->w[a] / most) * (e->w[a] / most);
    const double length = most * sqrt(sum);
    for (int32_t k = 0; k < e->directions; k++) {
        drape_i_group_row row = {number, e->yields ? 2 : 1, false, dot3(d[k], e->value) / length};
        double *c = add_row(G, group_of(G, e), row);
        for (int32_t a = 0; a < e->count; a++)
            for (int32_t r = 0; r < 3 && e->w[a] != 0; r++)
                c[3 * G->place[e->vertex[a]] + r] = e->w[a] / length * d[k][r];
    }
}

static drape_status make_rows(drape_i_groups *G, const drape_constraints *set, const drape_equality *list,
                              int32_t count) {
    for (int32_t i = 0; i < count; i++) G->group[group_of(G, &list[i])].rows += list[i].directions;
    for (int32_t i = 0; i < set->count; i++)
        if (G->of[set->held[i].vertex] >= 0) G->group[G->of[set->held[i].vertex]].rows += 3;
    if (!make_room_for_rows(G)) return DRAPE_ERROR_MEMORY;
    for (int32_t i = 0; i < set->count; i++)
        if (G->of[set->held[i].vertex] >= 0) add_held(G, &set->held[i]);
    for (int32_t i = 0; i < count; i++) add_equality(G, &list[i], i);
    return DRAPE_OK;
}

/* ---- One group: C H = L, L y = w ---- */

typedef struct reduction {
    const drape_i_groups *G;
    drape_i_group *g;
    int32_t n;
    double *C, *H, *y, tolerance;
    uint8_t *pivot;
    drape_i_group_row *row;
} reduction;

/* What is left of a row in unknowns that are not pivots, squared. */
static double left_of(const reduction *r, int32_t row) {
    const double *c = r->C + (int64_t)r->n * row;
    double sum = 0;
    for (int32_t i = 0; i < r->n; i++)
        if (!r->pivot[i]) sum += c[i] * c[i];
    return sum;
}

/* w less what the pivots so far make of the row. */
static double missed_by(const reduction *r, int32_t row) {
    const double *c = r->C + (int64_t)r->n * row;
    double sum = r->row[row].w;
    for (int32_t i = 0; i < r->n; i++)
        if (r->pivot[i]) sum -= c[i] * r->y[i];
    return sum;
}

/* v' = v' (I - 2 u u' / u'u) for each row v'. */
static void reflect(const double *u, double half, int32_t n, double *v) {
    double along = 0;
    for (int32_t i = 0; i < n; i++) along += v[i] * u[i];
    if (along == 0) return;
    along /= half;
    for (int32_t i = 0; i < n; i++) v[i] -= along * u[i];
}

/* The reflection that leaves of this row one unknown. */
static void take_row(reduction *r, int32_t row, double length) {
    double u[DRAPE_I_GROUP_UNKNOWNS], *c = r->C + (int64_t)r->n * row, square = 0;
    int32_t p = -1;
    for (int32_t i = 0; i < r->n; i++) {
        u[i] = r->pivot[i] ? 0 : c[i];
        if (!r->pivot[i] && (p < 0 || fabs(u[i]) > fabs(u[p]))) p = i;
    }
    const double end = u[p] > 0 ? -length : length;
    u[p] -= end;
    for (int32_t i = 0; i < r->n; i++) square += u[i] * u[i];
    r->row[row].done = true;
    for (int32_t k = 0; k < r->g->rows; k++)
        if (!r->row[k].done) reflect(u, square / 2, r->n, r->C + (int64_t)r->n * k);
    for (int32_t k = 0; k < r->n; k++) reflect(u, square / 2, r->n, r->H + (int64_t)r->n * k);
    r->y[p] = missed_by(r, row) / end;
    r->pivot[p] = 1;
    r->g->pivots++;
}

/* The row of this rank with the most left; -1: all depend on those that were taken. */
static int32_t next_row(const reduction *r, int32_t rank, double *length) {
    double most = SAME_SPAN * SAME_SPAN;
    int32_t best = -1;
    for (int32_t k = 0; k < r->g->rows; k++) {
        if (r->row[k].done || r->row[k].rank != rank) continue;
        double left = left_of(r, k);
        if (left > most) most = left, best = k;
    }
    *length = sqrt(most);
    return best;
}

/* What remains of this rank. */
static void judge_rest(reduction *r, int32_t rank) {
    double largest = 0;
    for (int32_t i = 0; i < r->n; i++) largest = fmax(largest, fabs(r->y[i]));
    for (int32_t k = 0; k < r->g->rows; k++) {
        if (r->row[k].done || r->row[k].rank != rank) continue;
        double by = fabs(missed_by(r, k)), size = fmax(largest, fabs(r->row[k].w));
        r->row[k].done = true;
        if (by <= r->tolerance + (ROUNDING + sqrt(left_of(r, k))) * size) continue;
        if (rank == 2) r->g->yielded++;
        else if (r->g->wrong < 0 || by > r->g->by) r->g->wrong = k, r->g->by = by;
    }
}

static bool is_scalar(const reduction *r) {
    for (int32_t i = 0; i < r->n; i++)
        for (int32_t j = 0; j < r->n; j++) {
            double h = r->H[(int64_t)r->n * i + j];
            double first = r->H[(int64_t)r->n * (i - i % 3) + (j - j % 3)];
            if (i % 3 == j % 3 ? h != first : h != 0) return false;
        }
    return true;
}

typedef struct reducing {
    drape_i_groups *G;
    double tolerance;
} reducing;

static void reduce_groups(void *data, int64_t begin, int64_t end) {
    const reducing *what = data;
    drape_i_groups *G = what->G;
    for (int64_t i = begin; i < end; i++) {
        drape_i_group *g = &G->group[i];
        reduction r = {.G = G,
                       .g = g,
                       .n = 3 * g->size,
                       .C = G->C + g->C,
                       .H = G->H + g->H,
                       .y = G->y + 3 * (int64_t)g->first,
                       .pivot = G->pivot + 3 * (int64_t)g->first,
                       .tolerance = what->tolerance,
                       .row = G->row + g->row};
        double length;
        memset(r.y, 0, (size_t)r.n * sizeof *r.y);
        memset(r.pivot, 0, (size_t)r.n);
        memset(r.H, 0, (size_t)r.n * (size_t)r.n * sizeof *r.H);
        for (int32_t k = 0; k < r.n; k++) r.H[(int64_t)(r.n + 1) * k] = 1;
        for (int32_t rank = 0; rank < 3; rank++) {
            for (int32_t k; (k = next_row(&r, rank, &length)) >= 0;) take_row(&r, k, length);
            judge_rest(&r, rank);
        }
        g->scalar = is_scalar(&r);
    }
}

/* ---- All of them ---- */

static drape_status contradiction(const drape_i_groups *G, const drape_i_group *g, const drape_equality *list) {
    const drape_i_group_row *row = &G->row[g->row + g->wrong];
    const drape_equality *e = &list[row->equality];
    char names[80] = "";
    for (int32_t a = 0, at = 0; a < e->count; a++)
        at += snprintf(names + at, sizeof names - (size_t)at, "%s%d", a ? ", " : "", e->vertex[a]);
    return drape_i_fail(
        G->ctx, DRAPE_ERROR_ARGUMENT,
        "constraints: equality %d, of vertices %s, contradicts the other constraints of its group of %d "
        "vertices: it is missed by %g; leave one of them out",
        row->equality, names, g->size, g->by);
}

static uint64_t mix(uint64_t hash, uint64_t word) {
    return (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15) + (hash >> 29);
}

static void find_shape(drape_i_groups *G) {
    G->shape = (uint64_t)G->count;
    G->moving = false;
    for (int32_t g = 0; g < G->count; g++) {
        G->shape = mix(G->shape, (uint64_t)G->group[g].size << 32);
        for (int32_t i = G->group[g].first; i < G->group[g].first + G->group[g].size; i++)
            G->shape = mix(G->shape, 2 * (uint64_t)G->member[i] + (drape_i_group_fixes(G, G->member[i]) ? 1 : 0));
        G->yielded += G->group[g].yielded;
    }
    for (int64_t i = 0; i < 3 * (int64_t)G->members; i++) G->moving |= G->y[i] != 0;
}

/* What is held of y: pivots of groups, and of other vertices what the set holds. */
static drape_status make_turned(drape_i_groups *G, const drape_constraints *set) {
    drape_constraints *t = G->turned;
    int32_t count = 0;
    for (int32_t v = 0; v < G->vertices; v++) {
        if (G->of[v] < 0 && set->index[v] < 0) continue;
        drape_i_held *h = &t->next[count];
        *h = G->of[v] < 0 ? set->held[set->index[v]] : (drape_i_held){.vertex = v};
        memset(h->z, 0, sizeof h->z);
        count++;
        if (G->of[v] < 0) continue;
        const uint8_t *pivot = G->pivot + 3 * ((int64_t)G->group[G->of[v]].first + G->place[v]);
        for (int32_t k = 0; k < 3; k++) h->S[4 * k] = pivot[k] ? 0 : 1;
    }
    return drape_i_constraints_adopt(t, count);
}

/* Those of groups no longer count by themselves. */
static void leave_held(drape_constraints *set, const drape_i_groups *G) {
    int32_t count = 0;
    for (int32_t i = 0; i < set->count; i++) {
        drape_i_held h = set->held[i];
        set->index[h.vertex] = G->of[h.vertex] < 0 ? count : -1;
        if (G->of[h.vertex] < 0) set->held[count++] = h;
    }
    set->count = count;
}

static drape_status couple(drape_constraints *set, const drape_equality *list, int32_t count, double tolerance) {
    drape_i_groups *G = set->groups;
    drape_status status = find_groups(G, list, count);
    if (!status) status = make_rows(G, set, list, count);
    if (status) return status;
    drape_i_loop(G->ctx, G->count, GROUP_GRAIN, reduce_groups, &(reducing){G, tolerance});
    for (int32_t g = 0; g < G->count; g++)
        if (G->group[g].wrong >= 0) return contradiction(G, &G->group[g], list);
    find_shape(G);
    return make_turned(G, set);
}

drape_status drape_constraints_couple(drape_constraints *set, const drape_equality *list, int32_t count,
                                      double tolerance) {
    if (!set) return DRAPE_ERROR_ARGUMENT;
    if (count < 0 || (count > 0 && !list) || !(tolerance >= 0) || !isfinite(tolerance))
        return drape_i_fail(set->ctx, DRAPE_ERROR_ARGUMENT,
                            "constraints: no list of %d equalities, or a tolerance of %g; it must be >= 0", count,
                            tolerance);
    if (set->groups && set->groups->count > 0)
        return drape_i_fail(set->ctx, DRAPE_ERROR_ARGUMENT,
                            "constraints: the set has equalities already; call drape_constraints_set first");
    drape_status status = DRAPE_OK;
    for (int32_t i = 0; i < count && !status; i++) status = check(set->ctx, &list[i], i, set->vertices);
    if (status || count == 0) return status;
    if (!set->groups) status = create(set->ctx, set->vertices, &set->groups);
    if (!status) status = couple(set, list, count, tolerance);
    if (status) {
        if (set->groups) clear(set->groups);
        return status;
    }
    leave_held(set, set->groups);
    set->moving |= set->groups->moving;
    return DRAPE_OK;
}

void drape_i_groups_clear(drape_i_groups *G) {
    if (G) clear(G);
}

int32_t drape_constraints_coupled(const drape_constraints *set) {
    return drape_i_any_groups(set) ? set->groups->members : 0;
}

int32_t drape_constraints_yielded(const drape_constraints *set) {
    return drape_i_any_groups(set) ? set->groups->yielded : 0;
}

/* ---- Products ---- */

void drape_i_group_block(const drape_i_groups *G, int32_t group, int32_t i, int32_t j, double out[9]) {
    const drape_i_group *g = &G->group[group];
    const int64_t n = 3 * (int64_t)g->size;
    for (int32_t k = 0; k < 9; k++) out[k] = G->H[g->H + n * (3 * i + k / 3) + 3 * j + k % 3];
}

typedef struct operand {
    const drape_i_groups *G;
    bool flag;
    double *v;
} operand;

static void gather(const drape_i_groups *G, const drape_i_group *g, const double *v, double *out) {
    for (int32_t i = 0; i < g->size; i++)
        memcpy(out + 3 * i, v + 3 * (int64_t)G->member[g->first + i], 3 * sizeof *out);
}

static void scatter(const drape_i_groups *G, const drape_i_group *g, const double *from, double *v) {
    for (int32_t i = 0; i < g->size; i++)
        memcpy(v + 3 * (int64_t)G->member[g->first + i], from + 3 * i, 3 * sizeof *from);
}

static void turn_chunk(void *data, int64_t begin, int64_t end) {
    const operand *o = data;
    for (int64_t k = begin; k < end; k++) {
        const drape_i_group *g = &o->G->group[k];
        const int32_t n = 3 * g->size;
        const double *H = o->G->H + g->H;
        double in[DRAPE_I_GROUP_UNKNOWNS], out[DRAPE_I_GROUP_UNKNOWNS];
        gather(o->G, g, o->v, in);
        memset(out, 0, (size_t)n * sizeof *out);
        for (int32_t i = 0; i < n; i++)
            for (int32_t j = 0; j < n; j++) {
                if (o->flag) out[j] += H[(int64_t)n * i + j] * in[i];
                else out[i] += H[(int64_t)n * i + j] * in[j];
            }
        scatter(o->G, g, out, o->v);
    }
}

void drape_i_groups_turn(const drape_i_groups *G, bool back, double *v) {
    drape_i_loop(G->ctx, G->count, GROUP_GRAIN, turn_chunk, &(operand){G, back, v});
}

/* v - Q Q'v or Q Q'v, Q the columns of H at the pivots. */
static void filter_chunk(void *data, int64_t begin, int64_t end) {
    const operand *o = data;
    for (int64_t k = begin; k < end; k++) {
        const drape_i_group *g = &o->G->group[k];
        const int32_t n = 3 * g->size;
        const double *H = o->G->H + g->H;
        const uint8_t *pivot = o->G->pivot + 3 * (int64_t)g->first;
        double v[DRAPE_I_GROUP_UNKNOWNS], out[DRAPE_I_GROUP_UNKNOWNS];
        gather(o->G, g, o->v, v);
        memset(out, 0, (size_t)n * sizeof *out);
        for (int32_t j = 0; j < n; j++) {
            double along = 0;
            if (!pivot[j]) continue;
            for (int32_t i = 0; i < n; i++) along += H[(int64_t)n * i + j] * v[i];
            for (int32_t i = 0; i < n; i++) out[i] += along * H[(int64_t)n * i + j];
        }
        for (int32_t i = 0; i < n && !o->flag; i++) out[i] = v[i] - out[i];
        scatter(o->G, g, out, o->v);
    }
}

void drape_i_groups_filter(const drape_i_groups *G, bool complement, double *v) {
    drape_i_loop(G->ctx, G->count, GROUP_GRAIN, filter_chunk, &(operand){G, complement, v});
}

typedef struct accelerating {
    const drape_i_groups *G;
    const double *mass;
    double *a, *force;
} accelerating;

/* B = Q'M^-1 Q in place of the rows C, which are as many numbers at least; l = Q'a. How many. */
static int32_t form_normal(const accelerating *what, const drape_i_group *g, const double *a, double *B, double *l) {
    const drape_i_groups *G = what->G;
    const int32_t n = 3 * g->size;
    const double *H = G->H + g->H;
    const uint8_t *pivot = G->pivot + 3 * (int64_t)g->first;
    int32_t column[DRAPE_I_GROUP_UNKNOWNS], count = 0;
    for (int32_t j = 0; j < n; j++)
        if (pivot[j]) column[count++] = j;
    for (int32_t p = 0; p < count; p++) {
        l[p] = 0;
        for (int32_t i = 0; i < n; i++) l[p] += H[(int64_t)n * i + column[p]] * a[i];
        for (int32_t q = 0; q <= p; q++) {
            double sum = 0;
            for (int32_t i = 0; i < n; i++)
                sum += H[(int64_t)n * i + column[p]] * H[(int64_t)n * i + column[q]] /
                       what->mass[G->member[g->first + i / 3]];
            B[(int64_t)count * p + q] = sum;
        }
    }
    return count;
}

/* Cholesky: B l = l. */
static void solve_normal(int32_t n, double *B, double *l) {
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j <= i; j++) {
            double sum = B[(int64_t)n * i + j];
            for (int32_t k = 0; k < j; k++) sum -= B[(int64_t)n * i + k] * B[(int64_t)n * j + k];
            B[(int64_t)n * i + j] = i == j ? sqrt(sum) : sum / B[(int64_t)n * j + j];
        }
        for (int32_t k = 0; k < i; k++) l[i] -= B[(int64_t)n * i + k] * l[k];
        l[i] /= B[(int64_t)n * i + i];
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        for (int32_t k = i + 1; k < n; k++) l[i] -= B[(int64_t)n * k + i] * l[k];
        l[i] /= B[(int64_t)n * i + i];
    }
}

static void accelerate_chunk(void *data, int64_t begin, int64_t end) {
    const accelerating *what = data;
    const drape_i_groups *G = what->G;
    for (int64_t k = begin; k < end; k++) {
        const drape_i_group *g = &G->group[k];
        const int32_t n = 3 * g->size;
        const double *H = G->H + g->H;
        const uint8_t *pivot = G->pivot + 3 * (int64_t)g->first;
        double a[DRAPE_I_GROUP_UNKNOWNS], l[DRAPE_I_GROUP_UNKNOWNS], force[DRAPE_I_GROUP_UNKNOWNS] = {0};
        gather(G, g, what->a, a);
        solve_normal(form_normal(what, g, a, G->C + g->C, l), G->C + g->C, l);
        for (int32_t j = 0, p = 0; j < n; j++) {
            if (!pivot[j]) continue;
            for (int32_t i = 0; i < n; i++) force[i] += H[(int64_t)n * i + j] * l[p];
            p++;
        }
        for (int32_t i = 0; i < n; i++) a[i] -= force[i] / what->mass[G->member[g->first + i / 3]];
        scatter(G, g, a, what->a);
        if (what->force) scatter(G, g, force, what->force);
    }
}

void drape_i_groups_accelerate(const drape_i_groups *G, const double *mass, double *a, double *force) {
    drape_i_loop(G->ctx, G->count, GROUP_GRAIN, accelerate_chunk, &(accelerating){G, mass, a, force});
}

/* v += sign H y */
static void add_prescribed(const drape_i_groups *G, double sign, double *v) {
    if (!G->moving) return;
    for (int32_t k = 0; k < G->count; k++) {
        const drape_i_group *g = &G->group[k];
        const int32_t n = 3 * g->size;
        const double *H = G->H + g->H, *y = G->y + 3 * (int64_t)g->first;
        for (int32_t i = 0; i < n; i++) {
            double sum = 0;
            for (int32_t j = 0; j < n; j++) sum += H[(int64_t)n * i + j] * y[j];
            v[3 * (int64_t)G->member[g->first + i / 3] + i % 3] += sign * sum;
        }
    }
}

void drape_i_groups_prescribe(const drape_i_groups *G, double *v) { add_prescribed(G, 1, v); }

void drape_i_groups_impose(const drape_i_groups *G, const double *mass, double *v) {
    add_prescribed(G, -1, v);
    drape_i_groups_accelerate(G, mass, v, NULL);
    add_prescribed(G, 1, v);
}
