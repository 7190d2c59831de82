#include "support/contacts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- The scene ---- */

/* By |r| about r (Rodrigues). */
static void turn(const double r[3], double x[3]) {
    double angle = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]), n[3], cross[3];
    if (!(angle > 0)) return;
    for (int k = 0; k < 3; k++) n[k] = r[k] / angle;
    for (int k = 0; k < 3; k++) cross[k] = n[(k + 1) % 3] * x[(k + 2) % 3] - n[(k + 2) % 3] * x[(k + 1) % 3];
    double along = n[0] * x[0] + n[1] * x[1] + n[2] * x[2];
    for (int k = 0; k < 3; k++) x[k] = cos(angle) * x[k] + sin(angle) * cross[k] + (1 - cos(angle)) * along * n[k];
}

void test_drop_scene(drape_context *ctx, test_drop *d) {
    d->strip = test_strip_create(ctx, d->cells, d->cells, d->width, d->width);
    drape_scene *scene = &d->strip->scene;
    d->strip->piece.thickness = d->thickness > 0 ? d->thickness : 1e-3;
    d->strip->piece.friction = d->friction;
    for (int32_t i = 0; i < d->strip->mesh.vertices; i++) {
        double *x = d->strip->mesh.rest + 3 * (int64_t)i;
        x[0] -= 0.5 * d->width;
        x[1] -= 0.5 * d->width;
        if (d->shape) d->shape(x);
        x[2] += d->height;
        turn(d->rotation, x);
    }
    d->contact = (drape_contact_settings){.self = d->self};
    scene->step = d->step;
    scene->integration = (drape_integration){.ode = {.method = d->method, .newton.tolerance = d->tolerance}};
    scene->contact = &d->contact;
    scene->colliders = d->colliders;
    scene->collider_count = d->collider_count;
}

static drape_crossings_mesh mesh_of(const drape_collider_surface *s) {
    return (drape_crossings_mesh){.vertices = drape_collider_surface_vertices(s),
                                  .triangles = drape_collider_surface_triangles(s),
                                  .triangle = drape_collider_surface_triangle(s)};
}

void test_drop_start(test_drop *d) {
    drape_context *ctx = d->strip->ctx;
    drape_crossings_mesh others[TEST_DROP_BODIES];
    const test_mesh *m = &d->strip->mesh;
    assert_true(d->collider_count <= TEST_DROP_BODIES);
    for (int32_t i = 0; i < d->collider_count; i++) {
        ASSERT_OK(ctx, drape_collider_surface_create(ctx, &d->colliders[i], 0, &d->surface[i]));
        others[i] = mesh_of(d->surface[i]);
        d->at[i] = malloc(3 * (size_t)others[i].vertices * sizeof(double));
        assert_non_null(d->at[i]);
    }
    const drape_crossings_bodies bodies = {
        .cloth = {.vertices = m->vertices, .triangles = m->triangles, .triangle = m->triangle},
        .others = others,
        .other_count = d->collider_count};
    ASSERT_OK(ctx, drape_crossings_create(ctx, &bodies, &d->search));
    d->sim = test_strip_sim(d->strip);
}

void test_drop_create(drape_context *ctx, test_drop *d) {
    test_drop_scene(ctx, d);
    test_drop_start(d);
}

void test_drop_destroy(test_drop *d) {
    for (int32_t i = 0; i < d->collider_count; i++) {
        drape_collider_surface_destroy(d->surface[i]);
        free(d->at[i]);
    }
    drape_crossings_destroy(d->search);
    drape_sim_destroy(d->sim);
    test_strip_destroy(d->strip);
}

/* ---- Steps ---- */

void test_drop_step_unwatched(test_drop *d) {
    ASSERT_OK(d->strip->ctx, drape_sim_step(d->sim, &d->last));
    assert_int_equal(d->last.linear.reason, DRAPE_CONVERGED);
}

/* Exactly: the centre is where the surface of a sphere has the mean of its vertices. */
static void check_outside(const test_drop *d, int32_t collider) {
    const double *x = drape_sim_positions(d->sim);
    int32_t vertices = drape_collider_surface_vertices(d->surface[collider]);
    double centre[3] = {0};
    for (int32_t i = 0; i < vertices; i++)
        for (int k = 0; k < 3; k++) centre[k] += d->at[collider][3 * (int64_t)i + k] / vertices;
    for (int32_t i = 0; i < d->strip->mesh.vertices; i++, x += 3) {
        double r = hypot(hypot(x[0] - centre[0], x[1] - centre[1]), x[2] - centre[2]);
        if (r < d->colliders[collider].radius)
            fail_msg("step %d: vertex %d is %g m inside of the sphere", (int)d->last.step, i,
                     d->colliders[collider].radius - r);
    }
}

void test_drop_step(test_drop *d) {
    drape_crossings_result found;
    test_drop_step_unwatched(d);
    for (int32_t i = 0; i < d->collider_count; i++) {
        ASSERT_OK(d->strip->ctx, drape_collider_surface_at(d->surface[i], d->last.time, d->at[i]));
        if (d->colliders[i].shape == DRAPE_COLLIDER_SPHERE) check_outside(d, i);
    }
    ASSERT_OK(d->strip->ctx,
              drape_crossings_count(d->search, drape_sim_positions(d->sim), (const double *const *)d->at, &found));
    long long others = (long long)(found.others.edges + found.others.triangles);
    long long self = d->self ? (long long)(found.self.edges + found.self.triangles) : 0;
    if (others + self > 0)
        fail_msg("%s, step %d (t = %g s): %lld crossings with colliders, %lld of the cloth with itself", d->method,
                 (int)d->last.step, d->last.time, others, self);
}

/* ---- What came of it ---- */

double test_drop_speed(const test_drop *d) {
    const double *v = drape_sim_velocities(d->sim);
    double most = 0;
    for (int32_t i = 0; i < d->strip->mesh.vertices; i++, v += 3)
        most = fmax(most, sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
    return most;
}

void test_drop_force(const test_drop *d, double sum[3]) {
    const double *f = drape_sim_constraint_forces(d->sim);
    for (int k = 0; k < 3; k++) sum[k] = 0;
    for (int32_t i = 0; i < 3 * d->strip->mesh.vertices; i++) sum[i % 3] += f[i] / d->step;
}

void test_drop_mean(const test_drop *d, double mean[3]) {
    const double *x = drape_sim_positions(d->sim);
    for (int k = 0; k < 3; k++) mean[k] = 0;
    for (int32_t i = 0; i < 3 * d->strip->mesh.vertices; i++) mean[i % 3] += x[i] / d->strip->mesh.vertices;
}
