/* A program's own forces in the list of an assembler. They are the same springs as the built-in ones. Also tests
 * derivatives of elements of one to four nodes and of functions over all positions, bits, refusals and memory. */
#include "cloth/force.h"
#include "sparse/counting_allocator.h"
#include "support/dense.h"
#include "support/meshes.h"
#include "support/own_springs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- a cloth in a wild state ---- */

typedef struct rig {
    drape_context *ctx;
    test_mesh mesh;
    drape_cloth *cloth;
    drape_assembler *list;
    int32_t n; /* numbers in x */
    double *x, *v;
} rig;

/* factor 0: the model has springs without stiffness. */
static rig rig_create(drape_context *ctx, int32_t cells, double factor, drape_cloth_settings settings) {
    test_random r = {11};
    rig g = {.ctx = ctx, .mesh = test_mesh_irregular(cells, cells, 1, 1, &r), .n = 3 * (cells + 1) * (cells + 1)};
    drape_piece piece = test_mesh_piece(&g.mesh);
    piece.material = (drape_material){.density = 0.2,
                                      .stretch = {40 * factor, 70 * factor},
                                      .shear = 25 * factor,
                                      .bend = 1e-3 * factor,
                                      .damping_stretch = 0.01,
                                      .damping_shear = 0.02,
                                      .damping_bend = 0.03};
    settings.model = "provot";
    ASSERT_OK(ctx, drape_cloth_create(ctx, &piece, 1, &settings, &g.cloth));
    ASSERT_OK(ctx, drape_assembler_create(g.cloth, NULL, &g.list));
    g.x = dense_new(g.n), g.v = dense_new(g.n);
    for (int32_t i = 0; i < g.n; i++) {
        g.x[i] = g.mesh.rest[i] + test_random_between(&r, -0.2 / cells, 0.2 / cells);
        g.v[i] = test_random_between(&r, -1, 1);
    }
    return g;
}

static void rig_destroy(rig *g) {
    free(g->x), free(g->v);
    drape_assembler_destroy(g->list);
    drape_cloth_destroy(g->cloth);
    test_mesh_clear(&g->mesh);
}

/* ---- what an assembler says at that state ---- */

typedef struct answer {
    double *f, *Kv, *A, energy;
} answer;

static answer evaluate(const rig *g, double mass, double damping, double stiffness) {
    drape_matrix *matrix;
    answer a = {.f = dense_new(g->n), .Kv = dense_new(g->n), .A = dense_new((int64_t)g->n * g->n)};
    drape_assembly what = {.x = g->x,
                           .v = g->v,
                           .mass = mass,
                           .damping = damping,
                           .stiffness = stiffness,
                           .force = a.f,
                           .stiff_v = a.Kv};
    ASSERT_OK(g->ctx, drape_assembler_matrix(g->list, &matrix));
    ASSERT_OK(g->ctx, drape_assembler_run(g->list, &what, matrix));
    drape_bsr3 view = drape_matrix_view(matrix);
    dense_from_bsr3(&view, a.A);
    for (int32_t i = 0; i < drape_assembler_count(g->list); i++) {
        double energy;
        ASSERT_OK(g->ctx, drape_assembler_energy(g->list, i, 0, g->x, &energy));
        a.energy += isnan(energy) ? 0 : energy;
    }
    drape_matrix_destroy(matrix);
    return a;
}

static void answer_clear(answer *a) { free(a->f), free(a->Kv), free(a->A); }

static void check_springs(drape_cloth_settings settings, bool damped) {
    drape_context *ctx = test_context(1);
    rig built_in = rig_create(ctx, 6, 1, settings), own = rig_create(ctx, 6, 0, settings);
    own_springs springs = own_springs_of(built_in.cloth);
    drape_force force = own_springs_force(&springs, damped);
    if (!damped)
        memset(built_in.v, 0, (size_t)own.n * sizeof *own.v), memset(own.v, 0, (size_t)own.n * sizeof *own.v);
    ASSERT_OK(ctx, drape_assembler_add(own.list, &force));
    answer want = evaluate(&built_in, 3, damped ? 0.1 : 0, 0.01), got = evaluate(&own, 3, damped ? 0.1 : 0, 0.01);
    ASSERT_NEAR(dense_difference(own.n, got.f, want.f), 0, 1e-14);
    if (damped) ASSERT_NEAR(dense_difference(own.n, got.Kv, want.Kv), 0, 1e-13);
    ASSERT_NEAR(dense_difference((int64_t)own.n * own.n, got.A, want.A), 0, 1e-14);
    ASSERT_NEAR(got.energy / want.energy, 1, 1e-13);
    answer_clear(&want), answer_clear(&got);
    rig_destroy(&built_in), rig_destroy(&own);
    own_springs_clear(&springs);
    drape_context_destroy(ctx);
}

static void springs_are_the_built_in_ones(void **state) {
    (void)state;
    check_springs((drape_cloth_settings){.jacobian = DRAPE_JACOBIAN_FULL}, false);
    check_springs((drape_cloth_settings){.jacobian = DRAPE_JACOBIAN_PSD}, false);
    check_springs((drape_cloth_settings){.jacobian = DRAPE_JACOBIAN_FULL, .damping_jacobian = DRAPE_DAMPING_FULL},
                  true);
}

/* ---- derivatives: any number of nodes, any symmetry, either form ---- */

/* Let y = sum w_a x_a and u = sum w_a v_a over an element's nodes. The energy is |y|^4/4 + t |y|^2/2. Then there is a
 * force -u |y|^2 and, if unsymmetric, w_a B y with an unsymmetric B. */
typedef struct quartic {
    int32_t nodes;
    bool damped, unsymmetric;
} quartic;

static const double weight[4] = {1, -0.4, 0.7, 1.3};
static const double B[9] = {0.1, 0.9, -0.3, 0.2, 0.5, 0.8, -0.6, 0.4, 0.3};

static void combine(const quartic *q, const double *x, const int32_t *node, double y[3]) {
    for (int32_t k = 0; k < 3; k++) {
        y[k] = 0;
        for (int32_t a = 0; a < q->nodes; a++) y[k] += weight[a] * x[3 * node[a] + k];
    }
}

/* Force per weight, and -its derivatives by y and u. */
static void quartic_law(const quartic *q, const drape_force_point *at, const int32_t *node, double f[3], double K[9],
                        double D[9]) {
    double y[3], u[3] = {0}, square = 0;
    combine(q, at->x, node, y);
    if (q->damped) combine(q, at->v, node, u);
    for (int32_t k = 0; k < 3; k++) square += y[k] * y[k];
    for (int32_t r = 0; r < 3; r++) {
        f[r] = -(square + at->time) * y[r] - square * u[r];
        for (int32_t c = 0; c < 3; c++) {
            f[r] -= q->unsymmetric ? B[3 * r + c] * y[c] : 0;
            K[3 * r + c] = 2 * y[r] * y[c] + (r == c ? square + at->time : 0) + 2 * u[r] * y[c] +
                           (q->unsymmetric ? B[3 * r + c] : 0);
            D[3 * r + c] = r == c && q->damped ? square : 0;
        }
    }
}

static void quartic_force(void *user, const drape_force_point *at, int32_t element, const int32_t *node,
                          drape_element_force *out) {
    const quartic *q = user;
    double f[3], K[9], D[9];
    (void)element;
    quartic_law(q, at, node, f, K, D);
    for (int32_t a = 0; a < q->nodes; a++) {
        for (int32_t k = 0; k < 3; k++) {
            assert_true(out->force[a][k] == 0); /* as promised */
            out->force[a][k] = weight[a] * f[k];
        }
        for (int32_t b = 0; b < q->nodes && at->jacobians; b++)
            for (int32_t k = 0; k < 9; k++) {
                assert_true(out->stiffness[a][b][k] == 0);
                out->stiffness[a][b][k] = weight[a] * weight[b] * K[k];
                if (q->damped) out->damping[a][b][k] += weight[a] * weight[b] * D[k];
            }
    }
}

static double quartic_energy(void *user, const drape_force_point *at, int32_t element, const int32_t *node) {
    double y[3], square = 0;
    (void)element;
    combine(user, at->x, node, y);
    for (int32_t k = 0; k < 3; k++) square += y[k] * y[k];
    return square * square / 4 + at->time * square / 2;
}

/* The same of every vertex for itself. */
static void quartic_all(void *user, const drape_force_point *at, drape_vertex_force *out) {
    const quartic *q = user;
    for (int32_t i = 0; i < at->vertices; i++) {
        double f[3], K[9], D[9];
        quartic_law(q, at, &i, f, K, D);
        for (int32_t k = 0; k < 3; k++) out->force[3 * i + k] += f[k];
        for (int32_t k = 0; k < 9 && out->stiffness; k++) out->stiffness[9 * i + k] += K[k];
        for (int32_t k = 0; k < 9 && out->damping; k++) out->damping[9 * i + k] += D[k];
        assert_int_equal(out->stiffness != NULL, at->jacobians);
        if (!q->damped) assert_null(out->damping);
    }
}

static double quartic_all_energy(void *user, const drape_force_point *at) {
    double sum = 0;
    for (int32_t i = 0; i < at->vertices; i++) sum += quartic_energy(user, at, i, &i);
    return sum;
}

enum { CELLS = 3, VERTICES = (CELLS + 1) * (CELLS + 1), ELEMENTS = 9 };

static drape_force quartic_table(quartic *q, const int32_t *nodes, int32_t count) {
    return (drape_force){.name = "quartic",
                         .user = q,
                         .elements = {q->nodes, count, nodes},
                         .element = quartic_force,
                         .element_energy = quartic_energy,
                         .velocity_dependent = q->damped,
                         .unsymmetric = q->unsymmetric || q->damped};
}

static const double TIME = 0.3;

/* df/dq from differences, q being x or v; n x n. */
static void difference(const rig *g, double *q, double step, double *out) {
    double *plus = dense_new(g->n), *minus = dense_new(g->n);
    for (int32_t j = 0; j < g->n; j++) {
        double was = q[j];
        q[j] = was + step;
        ASSERT_OK(g->ctx, drape_assembler_run(
                              g->list, &(drape_assembly){.time = TIME, .x = g->x, .v = g->v, .force = plus}, NULL));
        q[j] = was - step;
        ASSERT_OK(g->ctx, drape_assembler_run(
                              g->list, &(drape_assembly){.time = TIME, .x = g->x, .v = g->v, .force = minus}, NULL));
        q[j] = was;
        for (int32_t i = 0; i < g->n; i++) out[i * g->n + j] = (plus[i] - minus[i]) / (2 * step);
    }
    free(plus), free(minus);
}

static void check_jacobians(const rig *g, const char *what) {
    int64_t n2 = (int64_t)g->n * g->n;
    double *want = dense_new(n2), *got = dense_new(n2), *Kv = dense_new(g->n), *f = dense_new(g->n);
    drape_matrix *A;
    ASSERT_OK(g->ctx, drape_assembler_matrix(g->list, &A));
    drape_bsr3 view = drape_matrix_view(A);
    for (int which = 0; which < 2; which++) {
        drape_assembly job = {.time = TIME, .x = g->x, .v = g->v, .stiff_v = which ? NULL : Kv};
        *(which ? &job.damping : &job.stiffness) = -1;
        ASSERT_OK(g->ctx, drape_assembler_run(g->list, &job, A));
        dense_from_bsr3(&view, got);
        difference(g, which ? g->v : g->x, 1e-5, want);
        double scale = fmax(dense_norm(n2, want), 1), off = 0;
        for (int64_t i = 0; i < n2; i++) off = fmax(off, fabs(got[i] - want[i]));
        print_message("%s: %s off by %.1e\n", what, which ? "D" : "K", off / scale);
        ASSERT_NEAR(off / scale, 0, 1e-8);
        if (which) continue;
        dense_multiply(g->n, g->n, 1, got, g->v, f);
        for (int32_t i = 0; i < g->n; i++) f[i] = -f[i];
        ASSERT_NEAR(dense_difference(g->n, Kv, f), 0, 1e-13);
    }
    drape_matrix_destroy(A);
    free(want), free(got), free(Kv), free(f);
}

/* f = -dE/dx of the force that was added last. */
static void check_energy(const rig *g, const double *without) {
    double *f = dense_new(g->n), high, low;
    int32_t last = drape_assembler_count(g->list) - 1;
    ASSERT_OK(g->ctx,
              drape_assembler_run(g->list, &(drape_assembly){.time = TIME, .x = g->x, .v = g->v, .force = f}, NULL));
    for (int32_t j = 0; j < g->n; j++) {
        double was = g->x[j], step = 1e-5;
        g->x[j] = was + step;
        ASSERT_OK(g->ctx, drape_assembler_energy(g->list, last, TIME, g->x, &high));
        g->x[j] = was - step;
        ASSERT_OK(g->ctx, drape_assembler_energy(g->list, last, TIME, g->x, &low));
        g->x[j] = was;
        ASSERT_NEAR(-(high - low) / (2 * step), f[j] - without[j], 1e-8);
    }
    free(f);
}

/* Elements of random nodes, some of them far apart; all: a function over all positions. */
static void check_quartic(quartic q, bool all) {
    drape_context *ctx = test_context(1);
    rig g = rig_create(ctx, CELLS, 0, (drape_cloth_settings){0});
    test_random r = {5};
    int32_t nodes[4 * ELEMENTS];
    char what[80];
    for (int32_t i = 0; i < q.nodes * ELEMENTS; i++) do
            nodes[i] = test_random_below(&r, VERTICES);
        while (i % q.nodes && nodes[i] == nodes[i - 1]);
    drape_force force = quartic_table(&q, nodes, ELEMENTS);
    if (all) {
        force.element = NULL, force.element_energy = NULL, force.unsymmetric = false;
        force.all = quartic_all, force.all_energy = quartic_all_energy;
    }
    double *without = dense_new(g.n);
    ASSERT_OK(ctx, drape_assembler_run(g.list, &(drape_assembly){.x = g.x, .v = g.v, .force = without}, NULL));
    ASSERT_OK(ctx, drape_assembler_add(g.list, &force));
    snprintf(what, sizeof what, "%s of %d nodes%s%s", all ? "function" : "elements", q.nodes,
             q.damped ? ", damped" : "", q.unsymmetric ? ", unsymmetric" : "");
    check_jacobians(&g, what);
    if (!q.damped && !q.unsymmetric) check_energy(&g, without);
    free(without);
    rig_destroy(&g);
    drape_context_destroy(ctx);
}

static void jacobians_are_derivatives(void **state) {
    (void)state;
    for (int32_t k = 1; k <= 4; k++)
        for (int variant = 0; variant < 4; variant++) check_quartic((quartic){k, variant & 1, variant & 2}, false);
    for (int variant = 0; variant < 4; variant++) check_quartic((quartic){1, variant & 1, variant & 2}, true);
}

/* ---- several forces in one list; the names ---- */

static void all_forces_add_up(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    quartic q = {1, true, false}, pair = {2, false, false};
    int32_t every[VERTICES], nodes[6] = {0, 15, 3, 12, 5, 9};
    rig g[2];
    answer a[2];
    for (int32_t i = 0; i < VERTICES; i++) every[i] = i;
    for (int k = 0; k < 2; k++) { /* a function over all positions twice, or elements of one node twice */
        drape_force first = quartic_table(&q, every, VERTICES), second = first,
                    third = quartic_table(&pair, nodes, 3);
        if (!k) {
            first.element = NULL, first.element_energy = NULL;
            first.all = quartic_all, first.all_energy = quartic_all_energy, first.unsymmetric = false;
            second = first;
        }
        second.name = "again", third.name = "pairs";
        g[k] = rig_create(ctx, CELLS, 1, (drape_cloth_settings){0});
        ASSERT_OK(ctx, drape_assembler_add(g[k].list, &first));
        ASSERT_OK(ctx, drape_assembler_add(g[k].list, &third));
        ASSERT_OK(ctx, drape_assembler_add(g[k].list, &second));
        a[k] = evaluate(&g[k], 2, 0.3, 0.7);
    }
    ASSERT_NEAR(dense_difference(g[0].n, a[0].f, a[1].f), 0, 1e-14);
    ASSERT_NEAR(dense_difference(g[0].n, a[0].Kv, a[1].Kv), 0, 1e-14);
    ASSERT_NEAR(dense_difference((int64_t)g[0].n * g[0].n, a[0].A, a[1].A), 0, 1e-14);
    ASSERT_NEAR(a[0].energy / a[1].energy, 1, 1e-13);
    static const char *const names[] = {"provot", "gravity", "air_drag", "load", "wind", "quartic", "pairs", "again"};
    assert_int_equal(drape_assembler_count(g[0].list), 8);
    for (int32_t i = 0; i < 8; i++) assert_string_equal(drape_assembler_name(g[0].list, i), names[i]);
    assert_null(drape_assembler_name(g[0].list, 8));
    assert_null(drape_assembler_name(g[0].list, -1));
    for (int k = 0; k < 2; k++) answer_clear(&a[k]), rig_destroy(&g[k]);
    drape_context_destroy(ctx);
}

/* ---- bits ---- */

enum { SIDE = 36 };

static uint64_t bits_of(int32_t threads, drape_simd simd) {
    drape_context_settings settings = drape_context_defaults();
    drape_context *ctx;
    uint64_t hash = 14695981039346656037u;
    settings.threads = threads, settings.simd = simd;
    if (drape_context_create(&settings, &ctx)) return 0;
    rig g = rig_create(ctx, SIDE, 1, (drape_cloth_settings){0}),
        springs_rig = rig_create(ctx, SIDE, 1, g.cloth->settings);
    own_springs springs = own_springs_of(springs_rig.cloth);
    drape_force force = own_springs_force(&springs, true), all = {.name = "all", .all = quartic_all};
    all.user = &(quartic){1, false, false};
    ASSERT_OK(ctx, drape_assembler_add(g.list, &force));
    ASSERT_OK(ctx, drape_assembler_add(g.list, &all));
    drape_matrix *A;
    double *f = dense_new(g.n), *Kv = dense_new(g.n), energy;
    drape_assembly what = {
        .x = g.x, .v = g.v, .mass = 1, .damping = 0.1, .stiffness = 0.01, .force = f, .stiff_v = Kv};
    ASSERT_OK(ctx, drape_assembler_matrix(g.list, &A));
    ASSERT_OK(ctx, drape_assembler_run(g.list, &what, A));
    ASSERT_OK(ctx, drape_assembler_energy(g.list, DRAPE_I_BUILT_IN_FORCES, 0, g.x, &energy));
    drape_bsr3 view = drape_matrix_view(A);
    const struct {
        const double *values;
        int64_t count;
    } parts[] = {{f, g.n}, {Kv, g.n}, {view.val, 9 * view.rowptr[view.rows]}, {&energy, 1}};
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
        for (int64_t i = 0; i < parts[p].count; i++) {
            uint64_t number;
            memcpy(&number, &parts[p].values[i], sizeof number);
            hash = (hash ^ number) * 1099511628211u;
        }
    drape_matrix_destroy(A);
    free(f), free(Kv);
    own_springs_clear(&springs);
    rig_destroy(&springs_rig), rig_destroy(&g);
    drape_context_destroy(ctx);
    return hash;
}

static void bits_do_not_depend_on_threads(void **state) {
    (void)state;
    uint64_t want = bits_of(1, DRAPE_SIMD_BEST);
    assert_true(want != 0);
    for (int32_t threads = 2; threads <= 7; threads += threads == 2 ? 1 : 4)
        assert_true(bits_of(threads, DRAPE_SIMD_BEST) == want);
    assert_true(bits_of(3, DRAPE_SIMD_BASELINE) == want);
}

/* ---- refusals ---- */

static void assert_refused(rig *g, drape_force force, const char *fragment) {
    int32_t count = drape_assembler_count(g->list);
    assert_int_equal(drape_assembler_add(g->list, &force), DRAPE_ERROR_ARGUMENT);
    if (!strstr(drape_message(g->ctx), fragment))
        fail_msg("\"%s\" is not in the message \"%s\"", fragment, drape_message(g->ctx));
    assert_int_equal(drape_assembler_count(g->list), count);
}

static void bad_tables_are_refused(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    rig g = rig_create(ctx, CELLS, 1, (drape_cloth_settings){0});
    quartic q = {2, false, false};
    int32_t nodes[4] = {0, 1, 2, 3};
    const drape_force good = quartic_table(&q, nodes, 2);
    drape_force f;
#define REFUSED(change, fragment) (f = good, change, assert_refused(&g, f, fragment))
    REFUSED(f.name = NULL, "needs a name");
    REFUSED(f.name = "", "needs a name");
    REFUSED(f.name = "0123456789012345678901234567890123456789012345678901234567890123", "1 to 63 characters");
    REFUSED(f.name = "wind", "there is already a force \"wind\"");
    REFUSED(f.element = NULL, "\"quartic\": it has no function");
    REFUSED(f.all = quartic_all, "it has two functions");
    REFUSED(f.all_energy = quartic_all_energy, "that of `all` is all_energy");
    REFUSED((f.element = NULL, f.all = quartic_all), "the energy of `element` is element_energy");
    REFUSED(f.elements.nodes_per_element = 5, "elements of 5 nodes; an element has 1 to 4");
    REFUSED(f.elements.nodes_per_element = 0, "elements of 0 nodes");
    REFUSED(f.elements.nodes = NULL, "nodes are missing");
    REFUSED(f.elements.count = -1, "-1 elements");
    REFUSED(f.reserved[2] = 1, "drape_force.reserved");
    nodes[3] = VERTICES;
    REFUSED((void)0, "element 1 names vertex 16; the cloth has the vertices 0 to 15");
    nodes[3] = -1;
    REFUSED((void)0, "element 1 names vertex -1");
    nodes[3] = 3;
    assert_int_equal(drape_assembler_add(g.list, NULL), DRAPE_ERROR_ARGUMENT);
    ASSERT_OK(ctx, drape_assembler_add(g.list, &good));
    REFUSED((void)0, "there is already a force \"quartic\"");
    for (int32_t i = 1; i < DRAPE_MOST_FORCES; i++) {
        char name[20];
        snprintf(name, sizeof name, "force %d", i);
        f = good, f.name = name;
        ASSERT_OK(ctx, drape_assembler_add(g.list, &f));
    }
    REFUSED(f.name = "one more", "32 forces of your own");
    answer a = evaluate(&g, 1, 1, 1); /* as many sets of elements as there can be */
    answer_clear(&a);
    rig_destroy(&g);
    drape_context_destroy(ctx);
}

/* A matrix of before is refused, a list of no elements is fine, and what the caller does with his arrays afterwards
 * does not matter. */
static void lists_own_what_they_need(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    rig g = rig_create(ctx, CELLS, 1, (drape_cloth_settings){0});
    quartic q = {2, false, false};
    int32_t nodes[4] = {0, 15, 2, 13};
    char name[] = "quartic";
    drape_force force = quartic_table(&q, nodes, 2), empty = quartic_table(&q, NULL, 0);
    drape_matrix *before;
    force.name = name, empty.name = "empty";
    ASSERT_OK(ctx, drape_assembler_matrix(g.list, &before));
    ASSERT_OK(ctx, drape_assembler_add(g.list, &empty));
    ASSERT_OK(ctx, drape_assembler_add(g.list, &force));
    assert_int_equal(drape_assembler_run(g.list, &(drape_assembly){.x = g.x, .v = g.v}, before),
                     DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "a force was added since"));
    answer want = evaluate(&g, 1, 1, 1);
    memset(nodes, 0x7f, sizeof nodes);
    memset(name, 'x', sizeof name - 1);
    memset(&force, 0x55, sizeof force);
    answer got = evaluate(&g, 1, 1, 1);
    assert_memory_equal(got.A, want.A, (size_t)g.n * (size_t)g.n * sizeof *got.A);
    assert_string_equal(drape_assembler_name(g.list, 6), "quartic");
    answer_clear(&want), answer_clear(&got);
    drape_matrix_destroy(before);
    rig_destroy(&g);
    drape_context_destroy(ctx);
}

/* ---- numbers that are not finite ---- */

typedef struct trap {
    int32_t element; /* where it happens, and above */
    int where;       /* 0 force, 1 stiffness, 2 damping */
    double value;
} trap;

static void trap_force(void *user, const drape_force_point *at, int32_t element, const int32_t *node,
                       drape_element_force *out) {
    const trap *t = user;
    (void)node;
    if (element < t->element) return;
    if (t->where == 0) out->force[1][2] = t->value;
    if (t->where == 1 && at->jacobians) out->stiffness[0][1][5] = t->value;
    if (t->where == 2 && at->jacobians) out->damping[1][0][7] = t->value;
}

static double trap_energy(void *user, const drape_force_point *at, int32_t element, const int32_t *node) {
    const trap *t = user;
    (void)at, (void)node;
    return element == t->element ? t->value : 0;
}

static void trap_all(void *user, const drape_force_point *at, drape_vertex_force *out) {
    const trap *t = user;
    if (t->where == 0) out->force[3 * t->element + 1] += t->value;
    if (t->where == 1 && at->jacobians) out->stiffness[9 * t->element] += t->value;
    if (t->where == 2 && at->jacobians) out->damping[9 * t->element + 8] += t->value;
}

static void check_trap(int32_t threads, trap t, bool all) {
    drape_context *ctx = test_context(threads);
    rig g = rig_create(ctx, SIDE, 1, (drape_cloth_settings){0});
    int32_t *nodes = calloc(2 * (size_t)g.mesh.vertices, sizeof *nodes);
    for (int32_t i = 0; i < 2 * g.mesh.vertices - 2; i++) nodes[i] = (i + 1) / 2;
    drape_force force = {.name = "trap", .user = &t, .velocity_dependent = true, .unsymmetric = !all};
    if (all) force.all = trap_all;
    else force.element = trap_force, force.elements = (drape_elements){2, g.mesh.vertices - 1, nodes};
    drape_matrix *A;
    double *f = dense_new(g.n);
    drape_assembly what = {.time = 2.5, .x = g.x, .v = g.v, .force = f};
    char want[80];
    snprintf(want, sizeof want, "the force \"trap\" returns a number that is not finite at %s 700 (t = 2.5 s)",
             all ? "vertex" : "element");
    ASSERT_OK(ctx, drape_assembler_add(g.list, &force));
    ASSERT_OK(ctx, drape_assembler_matrix(g.list, &A));
    assert_int_equal(drape_assembler_run(g.list, &what, A), DRAPE_ERROR_NUMBER);
    assert_string_equal(drape_message(ctx), want);
    if (t.where == 0) assert_int_equal(drape_assembler_run(g.list, &what, NULL), DRAPE_ERROR_NUMBER);
    else ASSERT_OK(ctx, drape_assembler_run(g.list, &what, NULL)); /* Jacobians are not asked for */
    t.value = 0;
    ASSERT_OK(ctx, drape_assembler_run(g.list, &what, A)); /* it is forgotten */
    drape_matrix_destroy(A);
    free(nodes), free(f);
    rig_destroy(&g);
    drape_context_destroy(ctx);
}

static void numbers_that_are_not_finite_name_the_force(void **state) {
    (void)state;
    for (int all = 0; all < 2; all++)
        for (int where = 0; where < 3; where++) {
            check_trap(1, (trap){700, where, NAN}, all);
            check_trap(4, (trap){700, where, -INFINITY}, all);
        }
}

static void energies_that_are_not_finite_name_the_force(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    rig g = rig_create(ctx, CELLS, 1, (drape_cloth_settings){0});
    int32_t nodes[] = {0, 1, 1, 2, 2, 3};
    double energy;
    drape_force force = {.name = "trap",
                         .user = &(trap){2, 0, INFINITY},
                         .elements = {2, 3, nodes},
                         .element = trap_force,
                         .element_energy = trap_energy};
    ASSERT_OK(ctx, drape_assembler_add(g.list, &force));
    assert_int_equal(drape_assembler_energy(g.list, 5, 1.5, g.x, &energy), DRAPE_ERROR_NUMBER);
    assert_string_equal(drape_message(ctx), "the energy of the force \"trap\" is not finite (t = 1.5 s)");
    ASSERT_OK(ctx, drape_assembler_energy(g.list, 2, 0, g.x, &energy));
    assert_true(isnan(energy)); /* air_drag has none */
    rig_destroy(&g);
    drape_context_destroy(ctx);
}

/* ---- memory ---- */

static void every_allocation_may_fail(void **state) {
    (void)state;
    quartic q = {4, false, false}, one = {1, false, false};
    int32_t nodes[] = {0, 5, 10, 15, 1, 2, 3, 4};
    int64_t most = 0;
    for (int all = 0; all < 2; all++)
        for (int64_t n = 0, failed = 1; failed; n++) {
            counting_allocator memory = {.left = -1};
            drape_context *ctx = counting_context(&memory);
            rig g = rig_create(ctx, CELLS, 1, (drape_cloth_settings){0});
            drape_force force = quartic_table(&q, nodes, 2);
            if (all) force = (drape_force){.name = "all", .user = &one, .all = quartic_all};
            memory.left = n;
            drape_status status = drape_assembler_add(g.list, &force);
            failed = memory.failed;
            assert_int_equal(status, failed ? DRAPE_ERROR_MEMORY : DRAPE_OK);
            assert_int_equal(drape_assembler_count(g.list), failed ? 5 : 6);
            memory.left = 0; /* running needs no memory, whether or not the force is there */
            memory.failed = false;
            double *f = dense_new(g.n);
            drape_assembly what = {.x = g.x, .v = g.v, .force = f};
            ASSERT_OK(ctx, drape_assembler_run(g.list, &what, NULL));
            assert_false(memory.failed);
            memory.left = -1;
            if (failed) ASSERT_OK(ctx, drape_assembler_add(g.list, &force)); /* it can be tried again */
            free(f);
            rig_destroy(&g);
            drape_context_destroy(ctx);
            assert_int_equal(memory.live, 0);
            most = n > most ? n : most;
        }
    assert_true(most > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(springs_are_the_built_in_ones),
        cmocka_unit_test(jacobians_are_derivatives),
        cmocka_unit_test(all_forces_add_up),
        cmocka_unit_test(bits_do_not_depend_on_threads),
        cmocka_unit_test(bad_tables_are_refused),
        cmocka_unit_test(lists_own_what_they_need),
        cmocka_unit_test(numbers_that_are_not_finite_name_the_force),
        cmocka_unit_test(energies_that_are_not_finite_name_the_force),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("cloth.own_forces", tests, NULL, NULL);
}
