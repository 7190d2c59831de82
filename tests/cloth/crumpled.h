/* crumpled.h: a cloth of two pieces in a wild state, in which no term of the model is small against the others.
 *
 * Both pieces are irregular and curved at rest. The first has uv turned against x and y and bends by `bend`, the
 * second has none and bends by `bend_hinge`; all stiffnesses differ. Every vertex is displaced by up to 30 % of an
 * edge. But no hinge is folded so far that a small difference could take it through itself, and no spring is close to
 * a length at which its stiffness jumps. */
#ifndef DRAPE_TESTS_CRUMPLED_H
#define DRAPE_TESTS_CRUMPLED_H

#include "base/attributes.h"
#include "base/vec3.h"
#include "cloth/cloth.h"
#include "cloth/springs.h"
#include "support/dense.h"
#include "support/meshes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The model of all crumpled cloths: tests that hold for every model go through them. */
static const char *crumpled_model = "baraff_witkin";
/* With patches the first piece is flat at rest: curved ones bend by hinges all the same. */
static drape_bending crumpled_bending = DRAPE_BENDING_OF_MODEL;
static drape_membrane crumpled_membrane = DRAPE_MEMBRANE_OF_MODEL;
/* Whether stretch stiffens in the first piece and shear in the second one. */
static bool crumpled_stiffens;

typedef struct crumpled {
    drape_context *ctx;
    drape_cloth *cloth;
    drape_assembler *forces;
    drape_matrix *A;
    int32_t n;     /* numbers in x: three per vertex */
    double *rest;  /* of all pieces */
    double *x, *v; /* the wild state */
} crumpled;

static void crumpled_curve(test_mesh *m) {
    for (int32_t i = 0; i < m->vertices; i++) {
        double x = m->rest[3 * i], y = m->rest[3 * i + 1];
        m->rest[3 * i + 2] = 0.06 * sin(7 * x + 2 * y) + 0.3 * x * y;
    }
}

static void crumpled_materials(double damping, drape_material *first, drape_material *second) {
    *first = (drape_material){.density = 0.2, .stretch = {40, 70}, .shear = 25, .bend = 0.1};
    first->damping_stretch = 0.3 * damping, first->damping_shear = 0.5 * damping, first->damping_bend = 0.4 * damping;
    *second = (drape_material){.density = 0.1, .stretch = {60, 30}, .shear = 35, .bend = 9, .bend_hinge = 0.2};
    second->damping_stretch = 0.6 * damping, second->damping_shear = 0.2 * damping;
    second->damping_bend = 0.7 * damping;
    if (crumpled_stiffens) {
        first->stretch_stiff[0] = 90, first->stretch_stiff[1] = 200;
        first->stretch_knee[0] = 0.1, first->stretch_knee[1] = 0.05;
        second->shear_stiff = 100, second->shear_knee = 0.2;
    }
    second->spring_stretch = 30, second->spring_shear = 20, second->spring_bend = 0.02;
}

/* Cosine of the angle at hinge h: -1 where its triangles lie on each other, and the energy jumps. */
static double crumpled_cosine(const double *x, const int32_t *h) {
    vec3 x0 = vec3_at(x + 3 * h[0]), e = vec3_sub(vec3_at(x + 3 * h[1]), x0);
    vec3 n2 = vec3_cross(e, vec3_sub(vec3_at(x + 3 * h[2]), x0));
    vec3 n3 = vec3_cross(e, vec3_sub(vec3_at(x + 3 * h[3]), x0));
    return -vec3_dot(n2, n3) / (vec3_length(n2) * vec3_length(n3));
}

static double crumpled_length(const double *x, const int32_t node[2]) {
    return vec3_length(vec3_sub(vec3_at(x + 3 * node[1]), vec3_at(x + 3 * node[0])));
}

/* How near a strain is to where the fabric begins or ends to stiffen, as a move of a corner, m. */
static double crumpled_distance_to_a_knee(const crumpled *c) {
    double least = INFINITY;
    for (int32_t t = 0; t < c->cloth->triangles; t++) {
        const drape_i_rest_triangle *rest = &c->cloth->rest_triangle[t];
        vec3 w[2] = {{0, 0, 0}, {0, 0, 0}};
        double steepest = 0;
        for (int32_t k = 0; k < 3; k++) {
            vec3 at = vec3_at(c->x + 3 * c->cloth->triangle[t][k]);
            w[0] = vec3_add(w[0], vec3_scale(rest->du[k], at));
            w[1] = vec3_add(w[1], vec3_scale(rest->dv[k], at));
            steepest = fmax(steepest, fmax(fabs(rest->du[k]), fabs(rest->dv[k])));
        }
        const bool first = t < c->cloth->piece[0].triangles;
        const double strain[] = {vec3_length(w[0]) - 1, vec3_length(w[1]) - 1, fabs(vec3_dot(w[0], w[1]))};
        const double knee[] = {0.1, 0.05, 0.2};
        for (int32_t i = first ? 0 : 2; i < (first ? 2 : 3); i++)
            least = fmin(least, fmin(fabs(strain[i] - 0.5 * knee[i]), fabs(strain[i] - 1.5 * knee[i])) / steepest);
    }
    return least;
}

/* How near the length of a spring of choi_ko is to one at which its stiffness jumps, m. */
static double crumpled_distance_to_a_jump(const crumpled *c) {
    double least = INFINITY;
    if (crumpled_stiffens) return crumpled_distance_to_a_knee(c);
    if (strcmp(crumpled_model, "choi_ko") != 0) return least;
    const drape_i_spring_model *m = c->cloth->model_state;
    for (int32_t i = 0; i < m->springs.count; i++) {
        double length = crumpled_length(c->x, m->springs.node[i]), rest = m->springs.spring[i].length;
        const double *record = m->arcs.records + ARC_SIZE * (i - m->straight_count);
        least = fmin(least, fabs(length - rest));
        if (i >= m->straight_count) least = fmin(least, fabs(length - rest * (1 - record[ARC_SWITCH])));
    }
    return least;
}

static bool crumpled_is_smooth(const crumpled *c) {
    double least = 1;
    for (int32_t i = 0; i < drape_cloth_hinges(c->cloth); i++)
        least = fmin(least, crumpled_cosine(c->x, drape_cloth_hinge(c->cloth) + 4 * i));
    return least > cos(2.8) && crumpled_distance_to_a_jump(c) > 4.1e-4;
}

static void crumpled_state(crumpled *c, const test_mesh *m, int32_t count, double amount, test_random *r) {
    c->n = 3 * drape_cloth_vertices(c->cloth);
    c->rest = dense_new(c->n), c->x = dense_new(c->n), c->v = dense_new(c->n);
    for (int32_t p = 0, at = 0; p < count; p++)
        for (int32_t i = 0; i < 3 * m[p].vertices; i++, at++) c->rest[at] = m[p].rest[i];
    for (int32_t i = 0; i < c->n; i++) c->v[i] = test_random_between(r, -1, 1);
    do
        for (int32_t i = 0; i < c->n; i++) c->x[i] = c->rest[i] + test_random_between(r, -amount, amount);
    while (!crumpled_is_smooth(c));
}

/* Runs a group of tests once for every model and with fabrics that stiffen; with pairs and patches; and with the
 * nodal membrane, where curved pieces have no arcs. The value is how many failed. */
#define CRUMPLED_RUN(name, tests)                                                                                    \
    do {                                                                                                             \
        int failed = 0;                                                                                              \
        for (int32_t model = 0; drape_model_name(model); model++) {                                                  \
            crumpled_model = drape_model_name(model);                                                                \
            print_message("model %s\n", crumpled_model);                                                             \
            failed += cmocka_run_group_tests_name(name, tests, NULL, NULL);                                          \
        }                                                                                                            \
        crumpled_model = "baraff_witkin", crumpled_stiffens = true;                                                  \
        print_message("model %s, stiffening\n", crumpled_model);                                                     \
        failed += cmocka_run_group_tests_name(name, tests, NULL, NULL);                                              \
        crumpled_stiffens = false, crumpled_bending = DRAPE_BENDING_PATCH;                                           \
        crumpled_membrane = DRAPE_MEMBRANE_PAIRED;                                                                   \
        print_message("model %s, pairs and patches\n", crumpled_model);                                              \
        failed += cmocka_run_group_tests_name(name, tests, NULL, NULL);                                              \
        crumpled_membrane = DRAPE_MEMBRANE_NODAL;                                                                    \
        print_message("model %s, nodal membrane and patches\n", crumpled_model);                                     \
        failed += cmocka_run_group_tests_name(name, tests, NULL, NULL);                                              \
        crumpled_bending = DRAPE_BENDING_OF_MODEL;                                                                   \
        print_message("model %s, nodal membrane\n", crumpled_model);                                                 \
        failed += cmocka_run_group_tests_name(name, tests, NULL, NULL);                                              \
        return failed;                                                                                               \
    } while (0)

/* damping: 0 none, 1 as much as matters. */
DRAPE_UNUSED static crumpled crumpled_create_damped(uint64_t seed, double damping, drape_jacobian jacobian,
                                                    drape_damping_jacobian damping_jacobian) {
    const double edge = 0.1;
    test_random r = {seed};
    crumpled c = {.ctx = test_context(1)};
    test_mesh m[2] = {test_mesh_irregular(4, 5, 4 * edge, 5 * edge, &r),
                      test_mesh_irregular(4, 4, 4 * edge, 4 * edge, &r)};
    for (int32_t p = crumpled_bending == DRAPE_BENDING_PATCH; p < 2; p++) crumpled_curve(&m[p]);
    test_mesh_turn_uv(&m[0], 0.4);
    drape_piece piece[2] = {test_mesh_piece(&m[0]), test_mesh_piece(&m[1])};
    piece[1].uv = NULL;
    crumpled_materials(damping, &piece[0].material, &piece[1].material);
    drape_cloth_settings settings = drape_cloth_defaults();
    settings.model = crumpled_model;
    settings.bending = crumpled_bending;
    settings.membrane = crumpled_membrane;
    settings.jacobian = jacobian;
    settings.damping_jacobian = damping_jacobian;
    ASSERT_OK(c.ctx, drape_cloth_create(c.ctx, piece, 2, &settings, &c.cloth));
    ASSERT_OK(c.ctx, drape_assembler_create(c.cloth, &(drape_forces){0}, &c.forces));
    ASSERT_OK(c.ctx, drape_assembler_matrix(c.forces, &c.A));
    crumpled_state(&c, m, 2, 0.3 / sqrt(3) * edge, &r);
    for (int32_t p = 0; p < 2; p++) test_mesh_clear(&m[p]);
    return c;
}

DRAPE_UNUSED static crumpled crumpled_create(uint64_t seed, double damping, drape_jacobian jacobian) {
    return crumpled_create_damped(seed, damping, jacobian, DRAPE_DAMPING_SYMMETRIC);
}

DRAPE_UNUSED static void crumpled_destroy(crumpled *c) {
    free(c->rest);
    free(c->x);
    free(c->v);
    drape_matrix_destroy(c->A);
    drape_assembler_destroy(c->forces);
    drape_cloth_destroy(c->cloth);
    drape_context_destroy(c->ctx);
}

DRAPE_UNUSED static void crumpled_force(const crumpled *c, const double *x, const double *v, double *force) {
    ASSERT_OK(c->ctx, drape_assembler_run(c->forces, &(drape_assembly){.x = x, .v = v, .force = force}, NULL));
}

/* mass M + damping D + stiffness K as n x n numbers. */
DRAPE_UNUSED static void crumpled_matrix(const crumpled *c, const double *x, const double *v, double mass,
                                         double damping, double stiffness, double *dense) {
    drape_assembly what = {.x = x, .v = v, .mass = mass, .damping = damping, .stiffness = stiffness};
    ASSERT_OK(c->ctx, drape_assembler_run(c->forces, &what, c->A));
    drape_bsr3 view = drape_matrix_view(c->A);
    dense_from_bsr3(&view, dense);
}

#endif
