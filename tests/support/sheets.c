/* sheets.c: see sheets.h. */
#include "support/sheets.h"

#include "support/random_systems.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct spring_list {
    int32_t count, room;
    int32_t *nodes;
    double *stiffness;
} spring_list;

static void *zeros(int64_t count, size_t size) {
    void *memory = calloc((size_t)count + 1, size);
    assert_non_null(memory);
    return memory;
}

static void add_spring(spring_list *l, int32_t a, int32_t b, double stiffness) {
    if (a == b) return;
    assert_true(l->count < l->room);
    l->nodes[2 * l->count] = a;
    l->nodes[2 * l->count + 1] = b;
    l->stiffness[l->count++] = stiffness;
}

/* From vertex (i, j) to the one so far away, if there is one. */
static void add_step(const sheet_settings *s, spring_list *l, int32_t at, int32_t di, int32_t dj, double stiffness) {
    int32_t i = at % s->nx + di, j = at / s->nx + dj;
    if (i < 0 || i >= s->nx || j < 0 || j >= s->ny) return;
    if (s->two && at / s->nx < s->ny / 2 && j >= s->ny / 2) return;
    bool right = s->contrast > 0 && 2 * (at % s->nx) >= s->nx;
    add_spring(l, at, j * s->nx + i, right ? stiffness * s->contrast : stiffness);
}

static void list_springs(const sheet_settings *s, test_random *r, spring_list *l) {
    int32_t rows = s->nx * s->ny;
    double bending = s->bending > 0 ? s->bending : 0.01;
    for (int32_t at = 0; at < rows; at++) {
        add_step(s, l, at, 1, 0, 1);
        add_step(s, l, at, 0, 1, 1);
        add_step(s, l, at, 1, 1, 0.5);
        add_step(s, l, at, -1, 1, 0.5);
        add_step(s, l, at, 2, 0, bending);
        add_step(s, l, at, 0, 2, bending);
    }
    for (int32_t k = 0; k < s->springs; k++) {
        int32_t from = s->hubs ? k % 2 * (rows / 2) : test_random_below(r, rows);
        add_spring(l, from, test_random_below(r, rows), 1);
    }
}

static void place_vertices(const sheet_settings *s, test_random *r, double *x) {
    double aspect = s->aspect > 0 ? s->aspect : 1;
    for (int32_t at = 0; at < s->nx * s->ny + s->isolated; at++) {
        double u = at % s->nx, v = at / s->nx;
        double *p = x + 3 * (int64_t)at;
        p[0] = aspect * (u + test_random_between(r, -0.2, 0.2));
        p[1] = v + test_random_between(r, -0.2, 0.2);
        p[2] = s->flat ? 0 : 2 * sin(0.3 * u) * cos(0.2 * v) + test_random_between(r, -0.1, 0.1);
        if (!s->flat) continue;
        u = p[0] / sqrt(2), v = p[1] / sqrt(6);
        p[0] = u + v, p[1] = v - u, p[2] = -2 * v;
    }
}

static void make_order(int32_t rows, bool shuffled, test_random *r, int32_t *order) {
    for (int32_t i = 0; i < rows; i++) order[i] = i;
    for (int32_t i = 0; i < rows && shuffled; i++) {
        int32_t other = i + test_random_below(r, rows - i), swap = order[i];
        order[i] = order[other];
        order[other] = swap;
    }
}

/* Moves the springs and positions to the new numbers. */
static void renumber(int32_t rows, const int32_t *order, spring_list *l, double *x) {
    double *old = zeros(3 * (int64_t)rows, sizeof *old);
    memcpy(old, x, 3 * (size_t)rows * sizeof *x);
    for (int32_t i = 0; i < rows; i++) memcpy(x + 3 * (int64_t)order[i], old + 3 * (int64_t)i, 3 * sizeof *x);
    for (int32_t k = 0; k < 2 * l->count; k++) l->nodes[k] = order[l->nodes[k]];
    free(old);
}

/* Adds k (d d' + a little of I) over both ends: a spring under some tension. */
static void assemble(const spring_list *l, const double *x, double tension, drape_bsr3 *A) {
    for (int32_t e = 0; e < l->count; e++) {
        const double *p = x + 3 * (int64_t)l->nodes[2 * e], *q = x + 3 * (int64_t)l->nodes[2 * e + 1];
        double d[3] = {p[0] - q[0], p[1] - q[1], p[2] - q[2]};
        double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        for (int axis = -1; axis < 3; axis++) {
            double g[6], k = axis < 0 ? l->stiffness[e] : tension * l->stiffness[e];
            for (int c = 0; c < 3; c++) g[c] = axis < 0 ? d[c] / length : axis == c;
            for (int c = 0; c < 3; c++) g[3 + c] = -g[c];
            random_add_element(A, l->nodes + 2 * (int64_t)e, 2, g, k);
        }
    }
}

static void add_mass(drape_bsr3 *A, double mass) {
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
            for (int c = 0; c < 9 && A->col[k] == i; c += 4) A->val[9 * k + c] += mass;
}

sheet sheet_create(drape_context *ctx, const sheet_settings *settings) {
    int32_t rows = settings->nx * settings->ny + settings->isolated;
    test_random r = {settings->seed};
    spring_list l = {.room = 6 * rows + settings->springs};
    sheet s = {.x = zeros(3 * (int64_t)rows, sizeof *s.x), .b = zeros(3 * (int64_t)rows, sizeof *s.b)};
    int32_t *order = zeros(rows, sizeof *order);
    l.nodes = zeros(2 * (int64_t)l.room, sizeof *l.nodes);
    l.stiffness = zeros(l.room, sizeof *l.stiffness);
    list_springs(settings, &r, &l);
    place_vertices(settings, &r, s.x);
    make_order(rows, settings->shuffled, &r, order);
    renumber(rows, order, &l, s.x);
    drape_elements set = {2, l.count, l.nodes};
    ASSERT_OK(ctx, drape_matrix_from_elements(ctx, rows, &set, 1, &s.matrix));
    s.A = drape_matrix_view(s.matrix);
    assemble(&l, s.x, settings->tension > 0 ? settings->tension : 0.01, &s.A);
    add_mass(&s.A, settings->mass);
    for (int64_t i = 0; i < 3 * (int64_t)rows; i++) s.b[i] = test_random_between(&r, -1, 1);
    ASSERT_OK(ctx, drape_constraints_create(ctx, rows, &s.set));
    free(order);
    free(l.nodes);
    free(l.stiffness);
    return s;
}

void sheet_destroy(sheet *s) {
    drape_constraints_destroy(s->set);
    drape_matrix_destroy(s->matrix);
    free(s->x);
    free(s->b);
}

void sheet_hold_some(drape_context *ctx, sheet *s, double share) {
    drape_constraint *list = zeros(s->A.rows, sizeof *list);
    test_random r = {77};
    int32_t count = 0;
    for (int32_t i = 0; i < s->A.rows; i++) {
        if (test_random_unit(&r) >= share) continue;
        drape_constraint *c = &list[count++];
        *c = (drape_constraint){.vertex = i, .directions = 1 + test_random_below(&r, 3)};
        for (int k = 0; k < 9; k++)
            c->direction[k / 3][k % 3] = test_random_between(&r, -1, 1) + (k % 4 == 0 ? 2 : 0);
    }
    ASSERT_OK(ctx, drape_constraints_set(s->set, list, count));
    free(list);
}

void sheet_hold_all(drape_context *ctx, sheet *s, int32_t directions) {
    drape_constraint *list = zeros(s->A.rows, sizeof *list);
    for (int32_t i = 0; i < s->A.rows; i++)
        list[i] = (drape_constraint){.vertex = i, .directions = directions, .direction = {{1, 0, 0}, {0, 1, 0}}};
    ASSERT_OK(ctx, drape_constraints_set(s->set, list, s->A.rows));
    free(list);
}
