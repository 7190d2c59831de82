/* custom_force.c: a drape_force defined by a program, as a row of the list. Its functions are called element by
 * element, and their results are put into the lanes that the assembly takes. Results that are
 * not finite are recorded, not passed on silently. */
#include "cloth/force.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* ---- evaluating ---- */

/* The lowest number wins, not the first to come: messages do not depend on threads. */
static void note_culprit(drape_i_custom *c, int32_t index) {
    int lowest = atomic_load(&c->culprit);
    while (index < lowest && !atomic_compare_exchange_weak(&c->culprit, &lowest, index)) continue;
}

static drape_force_point point_of(const drape_i_custom *c, const drape_i_evaluation *at) {
    return (drape_force_point){
        .time = at->time,
        .vertices = c->vertices,
        .x = at->x,
        .v = at->v,
        .lagged_x = at->lagged_x,
        .jacobians = at->matrix || at->stiff_v,
        .jacobian = at->jacobian == DRAPE_JACOBIAN_PSD && at->exactness == 1 ? DRAPE_JACOBIAN_FULL : at->jacobian};
}

static void clear_blocks(int32_t k, double blocks[4][4][9]) {
    for (int32_t a = 0; a < k; a++) memset(blocks[a], 0, (size_t)k * sizeof blocks[a][0]);
}

/* 0 where all are finite, else NaN. */
static double finite_blocks(int32_t k, const double blocks[4][4][9]) {
    double sum = 0;
    for (int32_t a = 0; a < k; a++)
        for (int32_t b = 0; b < k; b++)
            for (int32_t i = 0; i < 9; i++) sum += 0 * blocks[a][b][i];
    return sum;
}

static bool is_finite(const drape_i_custom *c, bool jacobians, int32_t k, const drape_element_force *e) {
    double sum = 0;
    for (int32_t i = 0; i < 3 * k; i++) sum += 0 * e->force[i / 3][i % 3];
    if (jacobians) sum += finite_blocks(k, e->stiffness);
    if (jacobians && c->force.velocity_dependent) sum += finite_blocks(k, e->damping);
    return sum == 0;
}

/* Entry i of block (a, b); only those with a <= b are taken where the matrix is symmetric. */
static double entry(bool unsymmetric, const double blocks[4][4][9], int32_t a, int32_t b, int32_t i) {
    return unsymmetric || a <= b ? blocks[a][b][i] : blocks[b][a][i % 3 * 3 + i / 3];
}

static void store_stiff_v(const drape_i_custom *c, const double *v, const int32_t *node, const drape_element_force *e,
                          int32_t lane, drape_i_batch *out) {
    int32_t k = c->force.elements.nodes_per_element;
    for (int32_t a = 0; a < k; a++)
        for (int32_t row = 0; row < 3; row++) {
            double sum = 0;
            for (int32_t b = 0; b < k; b++)
                for (int32_t j = 0; j < 3; j++)
                    sum += entry(c->force.unsymmetric, e->stiffness, a, b, 3 * row + j) * v[3 * (int64_t)node[b] + j];
            out->vectors[1][3 * a + row][lane] = sum;
        }
}

static void store_blocks(const drape_i_custom *c, const drape_i_evaluation *at, const drape_element_force *e,
                         int32_t lane, drape_i_batch *out) {
    int32_t k = c->force.elements.nodes_per_element, pair = 0;
    bool damped = c->force.velocity_dependent;
    for (int32_t a = 0; a < k; a++)
        for (int32_t b = a; b < k; b++, pair++)
            for (int32_t i = 0; i < 9; i++) {
                double D = damped ? at->damping * e->damping[a][b][i] : 0;
                out->blocks[9 * pair + i][lane] = at->stiffness * e->stiffness[a][b][i] + D;
                if (!c->force.unsymmetric || a == b) continue;
                D = damped ? at->damping * e->damping[b][a][i] : 0;
                out->lower[9 * pair + i][lane] = at->stiffness * e->stiffness[b][a][i] + D;
            }
}

static void evaluate_lane(drape_i_custom *c, const drape_i_evaluation *at, int32_t element, int32_t lane,
                          drape_i_batch *out) {
    const int32_t k = c->force.elements.nodes_per_element;
    const int32_t *node = c->force.elements.nodes + (int64_t)k * element;
    const drape_force_point point = point_of(c, at);
    drape_element_force e;
    memset(e.force, 0, sizeof e.force);
    if (point.jacobians) clear_blocks(k, e.stiffness);
    if (point.jacobians && c->force.velocity_dependent) clear_blocks(k, e.damping);
    c->force.element(c->force.user, &point, element, node, &e);
    if (!is_finite(c, point.jacobians, k, &e)) note_culprit(c, element);
    for (int32_t i = 0; i < 3 * k; i++) out->vectors[0][i][lane] = e.force[i / 3][i % 3];
    if (at->stiff_v) store_stiff_v(c, at->v, node, &e, lane, out);
    if (at->matrix) store_blocks(c, at, &e, lane, out);
}

static void evaluate(const void *data, const void *at, const int32_t *elements, drape_i_batch *out) {
    drape_i_custom *c = *(drape_i_custom *const *)data;
    for (int32_t lane = 0; lane < DRAPE_I_LANES; lane++) {
        if (lane > 0 && elements[lane] == elements[lane - 1]) return; /* the end of a list */
        evaluate_lane(c, at, elements[lane], lane, out);
    }
}

static void energies(const void *data, const drape_i_evaluation *at, const int32_t *elements, double *energy) {
    const drape_i_custom *c = *(drape_i_custom *const *)data;
    const int32_t k = c->force.elements.nodes_per_element;
    const drape_force_point point = point_of(c, at);
    for (int32_t lane = 0; lane < DRAPE_I_LANES; lane++) {
        bool again = lane > 0 && elements[lane] == elements[lane - 1];
        const int32_t *node = c->force.elements.nodes + (int64_t)k * elements[lane];
        energy[lane] =
            again ? energy[lane - 1] : c->force.element_energy(c->force.user, &point, elements[lane], node);
    }
}

/* The first vertex of which a number is not finite, or -1. */
static int32_t find_wrong(int32_t vertices, int32_t per_vertex, const double *values) {
    if (!values) return -1;
    for (int64_t i = 0; i < (int64_t)per_vertex * vertices; i++)
        if (!isfinite(values[i])) return (int32_t)(i / per_vertex);
    return -1;
}

void drape_i_custom_evaluate_all(drape_i_custom *c, const drape_i_evaluation *at, const drape_vertex_force *sums) {
    const drape_force_point point = point_of(c, at);
    drape_vertex_force out = {.force = sums->force,
                              .stiffness = point.jacobians ? sums->stiffness : NULL,
                              .damping = point.jacobians && c->force.velocity_dependent ? sums->damping : NULL};
    DRAPE_ASSERT(c->force.all && sums->force && sums->stiffness && sums->damping);
    c->force.all(c->force.user, &point, &out);
    const int32_t wrong[] = {find_wrong(c->vertices, 3, out.force), find_wrong(c->vertices, 9, out.stiffness),
                             find_wrong(c->vertices, 9, out.damping)};
    for (int32_t i = 0; i < 3; i++)
        if (wrong[i] >= 0) note_culprit(c, wrong[i]);
}

static double element_energy(const drape_i_force *force, drape_context *ctx, const drape_i_evaluation *at) {
    return drape_i_terms_energy(ctx, force->terms, 1, at);
}

static double all_energy(const drape_i_force *force, drape_context *ctx, const drape_i_evaluation *at) {
    const drape_i_custom *c = force->data;
    const drape_force_point point = point_of(c, at);
    (void)ctx;
    return c->force.all_energy(c->force.user, &point);
}

/* ---- creating ---- */

static drape_status check_elements(drape_context *ctx, const drape_force *f, int32_t vertices) {
    const drape_elements *e = &f->elements;
    int64_t k = e->nodes_per_element;
    if (k < 1 || k > DRAPE_I_ELEMENT_NODES)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "force \"%s\": elements of %d nodes; an element has 1 to %d (nodes_per_element)", f->name,
                            e->nodes_per_element, DRAPE_I_ELEMENT_NODES);
    if (e->count < 0 || (e->count > 0 && !e->nodes))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "force \"%s\": %d elements, and their nodes %s", f->name,
                            e->count, e->nodes ? "are given" : "are missing");
    for (int64_t i = 0; i < k * e->count; i++)
        if (e->nodes[i] < 0 || e->nodes[i] >= vertices)
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                                "force \"%s\": element %lld names vertex %d; the cloth has the vertices 0 to %d",
                                f->name, (long long)(i / k), e->nodes[i], vertices - 1);
    return DRAPE_OK;
}

static drape_status check(drape_context *ctx, const drape_force *f, int32_t vertices) {
    if (!f->name || !f->name[0] || strlen(f->name) >= sizeof((drape_i_custom *)NULL)->name)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "a force needs a name of 1 to 63 characters");
    drape_status status = drape_i_check_reserved(ctx, "drape_force", f->reserved, 8);
    if (status) return status;
    if (!f->element == !f->all)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "force \"%s\": %s; set one of the functions `element` and `all`", f->name,
                            f->element ? "it has two functions" : "it has no function");
    if ((f->element_energy && !f->element) || (f->all_energy && !f->all))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "force \"%s\": the energy of `element` is element_energy, that of `all` is all_energy",
                            f->name);
    return f->element ? check_elements(ctx, f, vertices) : DRAPE_OK;
}

static int64_t node_count(const drape_force *f) {
    return f->element ? (int64_t)f->elements.nodes_per_element * f->elements.count : 0;
}

static drape_status copy(drape_context *ctx, const drape_force *f, int32_t vertices, drape_i_custom *c) {
    int32_t *nodes;
    c->self = c;
    c->vertices = vertices;
    c->force = *f;
    memcpy(c->name, f->name, strlen(f->name));
    c->force.name = c->name;
    c->force.elements.nodes = NULL;
    atomic_init(&c->culprit, INT_MAX);
    if (!f->element) return DRAPE_OK;
    if (!DRAPE_NEW(ctx, nodes, node_count(f))) return DRAPE_ERROR_MEMORY;
    if (node_count(f) > 0) memcpy(nodes, f->elements.nodes, (size_t)node_count(f) * sizeof *nodes);
    c->force.elements.nodes = nodes;
    return DRAPE_OK;
}

/* Functions are the same at every level of vector instructions. */
static const drape_i_batch_fn evaluate_at[DRAPE_I_SIMD_LEVELS] = {NULL, evaluate, evaluate, evaluate};
static const drape_i_energy_fn energies_at[DRAPE_I_SIMD_LEVELS] = {NULL, energies, energies, energies};

static void fill_row(drape_i_custom *c, drape_i_force *out) {
    const drape_force *f = &c->force;
    *out = (drape_i_force){.name = c->name, .data = c};
    if (f->element) {
        c->term = (drape_i_term){.elements = f->elements,
                                 .batch = evaluate_at,
                                 .energy = f->element_energy ? energies_at : NULL,
                                 .data = &c->self,
                                 .unsymmetric = f->unsymmetric};
        out->term_count = 1;
        out->terms = &c->term;
        out->energy = f->element_energy ? element_energy : NULL;
    } else {
        out->energy = f->all_energy ? all_energy : NULL;
    }
    out->has_potential = out->has_lagged_potential = out->energy && !f->velocity_dependent;
}

drape_status drape_i_custom_create(drape_context *ctx, const drape_force *force, int32_t vertices,
                                   drape_i_custom **custom, drape_i_force *out) {
    drape_i_custom *c;
    *custom = NULL;
    drape_status status = check(ctx, force, vertices);
    if (status) return status;
    if (!DRAPE_NEW(ctx, c, 1)) return DRAPE_ERROR_MEMORY;
    status = copy(ctx, force, vertices, c);
    if (status) {
        DRAPE_FREE(ctx, c, 1);
        return status;
    }
    fill_row(c, out);
    *custom = c;
    return DRAPE_OK;
}

void drape_i_custom_destroy(drape_context *ctx, drape_i_custom *c) {
    if (!c) return;
    int32_t *nodes = (int32_t *)c->force.elements.nodes; /* its own copy */
    DRAPE_FREE(ctx, nodes, node_count(&c->force));
    DRAPE_FREE(ctx, c, 1);
}
