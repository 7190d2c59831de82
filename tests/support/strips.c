#include "support/strips.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

test_strip *test_strip_create(drape_context *ctx, int32_t nx, int32_t ny, double length, double width) {
    test_strip *s = calloc(1, sizeof *s);
    if (!s) abort();
    s->ctx = ctx, s->nx = nx, s->ny = ny;
    s->mesh = test_mesh_grid(nx, ny, length, width);
    s->piece = test_mesh_piece(&s->mesh);
    s->material = &s->piece.material;
    s->material->damping_stretch = s->material->damping_shear = s->material->damping_bend = 0;
    s->scene = (drape_scene){.name = "strip",
                             .pieces = &s->piece,
                             .piece_count = 1,
                             .pins = s->pins,
                             .forces = drape_forces_defaults(),
                             .cloth = drape_cloth_defaults(),
                             .solve = drape_solve_defaults(),
                             .integration = {.ode.method = DRAPE_LINEARISED_EULER,
                                             .max_stretch = INFINITY}, /* long steps lead to rest over rough ground */
                             .step = 0.01,
                             .steps_per_frame = 1};
    s->scene.solve.tol = 1e-10;
    return s;
}

void test_strip_destroy(test_strip *s) {
    for (int32_t p = 0; p < s->scene.pin_count; p++) free((void *)s->pins[p].vertices);
    test_mesh_clear(&s->mesh);
    free(s);
}

int32_t test_strip_vertex(const test_strip *s, int32_t i, int32_t j) { return j * (s->nx + 1) + i; }

drape_pin *test_strip_pin(test_strip *s, int32_t i0, int32_t i1, int32_t j0, int32_t j1) {
    assert_true(s->scene.pin_count < TEST_STRIP_PINS);
    int32_t count = 0, *vertices = malloc((size_t)(i1 - i0 + 1) * (size_t)(j1 - j0 + 1) * sizeof *vertices);
    if (!vertices) abort();
    for (int32_t j = j0; j <= j1; j++)
        for (int32_t i = i0; i <= i1; i++) vertices[count++] = test_strip_vertex(s, i, j);
    drape_pin *pin = &s->pins[s->scene.pin_count++];
    *pin = (drape_pin){.count = count, .vertices = vertices, .directions = 3};
    return pin;
}

drape_sim *test_strip_sim(test_strip *s) {
    drape_sim *sim;
    ASSERT_OK(s->ctx, drape_sim_create(s->ctx, &s->scene, &sim));
    return sim;
}

double test_strip_mean(const test_strip *s, drape_sim *sim, int32_t i, int32_t k) {
    const double *x = drape_sim_positions(sim);
    double sum = 0;
    for (int32_t j = 0; j <= s->ny; j++) sum += x[3 * test_strip_vertex(s, i, j) + k];
    return sum / (s->ny + 1);
}

static double largest_speed(drape_sim *sim) {
    const double *v = drape_sim_velocities(sim);
    double most = 0;
    for (int32_t i = 0; i < 3 * drape_cloth_vertices(drape_sim_cloth(sim)); i++) most = fmax(most, fabs(v[i]));
    return most;
}

int32_t test_run_to_rest(drape_context *ctx, drape_sim *sim, double still, int32_t most) {
    drape_certificate c;
    for (int32_t step = 1; step <= most; step++) {
        ASSERT_OK(ctx, drape_sim_step(sim, &c));
        assert_int_equal(c.linear.reason, DRAPE_CONVERGED);
        double h = c.time / (double)c.step;
        if (h * largest_speed(sim) <= still) return step;
    }
    fail_msg("after %d steps still moving with %g m/s", most, largest_speed(sim));
    return most;
}

static double *copy_of(const drape_sim *sim, const double *values) {
    size_t bytes = 3 * (size_t)drape_cloth_vertices(drape_sim_cloth(sim)) * sizeof *values;
    double *copy = malloc(bytes);
    assert_non_null(copy);
    memcpy(copy, values, bytes);
    return copy;
}

double *test_positions(const drape_sim *sim) { return copy_of(sim, drape_sim_positions(sim)); }
double *test_velocities(const drape_sim *sim) { return copy_of(sim, drape_sim_velocities(sim)); }

void test_set_state(drape_context *ctx, drape_sim *sim, double *x, double *v) {
    ASSERT_OK(ctx, drape_sim_set_state(sim, x, v));
    free(x), free(v);
}

void test_run(drape_context *ctx, drape_sim *sim, int32_t steps) {
    drape_certificate c;
    for (int32_t step = 0; step < steps; step++) {
        ASSERT_OK(ctx, drape_sim_step(sim, &c));
        assert_int_equal(c.linear.reason, DRAPE_CONVERGED);
    }
}
