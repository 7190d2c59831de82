/* The default integrator keeps the motion that the fabric keeps. A free sheet that spins, and one that swings from
 * two corners, are compared with steps so fine that the integrator takes nothing. */
#include "drape/io.h"
#include "support/testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 11 };

static const double FINE_STEP = 1e-4, DURATION = 1, SPIN = 4.6; /* s, s, rad/s */

typedef struct motion {
    double angular; /* the largest component of the angular momentum about the origin, kg m^2/s */
    double energy;  /* J: kinetic, elastic and weight */
    int64_t newton, iterations;
} motion;

static double angular_momentum(const drape_sim *sim) {
    const double *x = drape_sim_positions(sim), *v = drape_sim_velocities(sim);
    const double *mass = drape_cloth_mass(drape_sim_cloth(sim));
    double L[3] = {0};
    for (int64_t i = 0; i < drape_cloth_vertices(drape_sim_cloth(sim)); i++) {
        const double *p = x + 3 * i, *u = v + 3 * i;
        L[0] += mass[i] * (p[1] * u[2] - p[2] * u[1]);
        L[1] += mass[i] * (p[2] * u[0] - p[0] * u[2]);
        L[2] += mass[i] * (p[0] * u[1] - p[1] * u[0]);
    }
    return sqrt(L[0] * L[0] + L[1] * L[1] + L[2] * L[2]);
}

/* The velocity field of a turn about an axis that is not one of the sheet's own. */
static double *spinning(const drape_piece *piece) {
    const double axis[3] = {0.6, 0, 0.8};
    double *v = malloc(3 * (size_t)piece->vertices * sizeof *v);
    assert_non_null(v);
    for (int64_t i = 0; i < piece->vertices; i++) {
        const double *x = piece->rest + 3 * i;
        v[3 * i] = SPIN * (axis[1] * x[2] - axis[2] * x[1]);
        v[3 * i + 1] = SPIN * (axis[2] * x[0] - axis[0] * x[2]);
        v[3 * i + 2] = SPIN * (axis[0] * x[1] - axis[1] * x[0]);
    }
    return v;
}

/* The sheet of "drooping": without pins and weight, spinning; or held by two corners of one edge, swinging. method
 * NULL and tolerance 0 are the defaults. */
static motion run(drape_context *ctx, bool spins, const char *method, double step, double tolerance) {
    drape_loaded_scene *loaded;
    drape_sim *sim;
    drape_certificate c;
    ASSERT_OK(ctx, drape_scene_builtin(ctx, "drooping", SIDE, &loaded));
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    int32_t corners[2] = {0, SIDE - 1};
    double *velocity = spins ? spinning(&scene->pieces[0]) : NULL;
    if (spins) {
        scene->velocity = velocity;
        scene->pin_count = 0;
        scene->forces = (drape_forces){0};
    } else {
        scene->pin_count = 1;
        scene->pins[0].count = 2;
        scene->pins[0].vertices = corners;
    }
    scene->integration = (drape_integration){.ode.method = method};
    scene->integration.ode.newton.tolerance = tolerance;
    scene->step = step;
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
    motion m = {0};
    for (int64_t i = 0; i < (int64_t)(DURATION / step + 0.5); i++) {
        ASSERT_OK(ctx, drape_sim_step(sim, &c));
        m.newton += c.ode.newton_iterations;
        m.iterations += c.linear.iterations;
    }
    m.angular = angular_momentum(sim);
    m.energy = c.energy.kinetic + c.energy.elastic + c.energy.weight;
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
    free(velocity);
    return m;
}

static motion run_fine(drape_context *ctx, bool spins) {
    motion fine = run(ctx, spins, "bdf2", FINE_STEP, 1e-6);
    printf("%s in steps of %g s: angular momentum %.6g kg m^2/s, energy %.6g J\n", spins ? "spin" : "swing",
           FINE_STEP, fine.angular, fine.energy);
    return fine;
}

static void report(const char *method, double step, const motion *m, const motion *fine) {
    printf("  %s, %g s: angular momentum %.5f of it, energy %.6g J, %lld Newton and %lld linear iterations\n",
           method ? method : "default", step, m->angular / fine->angular, m->energy, (long long)m->newton,
           (long long)m->iterations);
}

static void test_a_spinning_sheet_keeps_spinning(void **state) {
    motion fine = run_fine(*state, true), usual = run(*state, true, NULL, 0.004, 0);
    motion preview = run(*state, true, DRAPE_PREVIEW, 0.004, 0);
    report(NULL, 0.004, &usual, &fine);
    report(DRAPE_PREVIEW, 0.004, &preview, &fine);
    ASSERT_NEAR(usual.angular / fine.angular, 1, 0.01);
    ASSERT_NEAR(usual.energy / fine.energy, 1, 0.03);
    assert_true(preview.angular < 0.9 * fine.angular); /* that is what it is compared with */
}

/* What is left of the energy that the sheet had above its rest, half its weight times its side. */
static void test_a_swinging_sheet_keeps_swinging(void **state) {
    const double all = 9.81 * 0.15 * 0.5;
    motion fine = run_fine(*state, false);
    for (double step = 0.004; step > 0.0015; step /= 2) {
        motion usual = run(*state, false, NULL, step, 0), preview = run(*state, false, DRAPE_PREVIEW, step, 0);
        report(NULL, step, &usual, &fine);
        report(DRAPE_PREVIEW, step, &preview, &fine);
        ASSERT_NEAR(usual.energy / all, fine.energy / all, 0.03);
        assert_true(preview.energy < fine.energy - 0.06 * all);
    }
}

int main(void) {
    drape_context *ctx = test_context(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_a_spinning_sheet_keeps_spinning, ctx),
        cmocka_unit_test_prestate(test_a_swinging_sheet_keeps_swinging, ctx),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    drape_context_destroy(ctx);
    return failed;
}
