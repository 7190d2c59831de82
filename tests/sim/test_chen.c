/* The sheet of Chen's MPCG report: 4 x 4 cells held at the corners and pushed in the middle. The reference values of
 * the centre are for exact angles, the full Jacobian and one linearised step. */
#include "drape/io.h"
#include "support/dense.h"
#include "support/testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIDE = 5, VERTICES = SIDE * SIDE, NUMBERS = 3 * VERTICES, CENTRE = VERTICES / 2 };

static drape_sim *make_sim(drape_context *ctx, const char *method) {
    drape_loaded_scene *loaded;
    drape_sim *sim;
    ASSERT_OK(ctx, drape_scene_builtin(ctx, "chen", 0, &loaded));
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    scene->solve.method = method;
    static double force[NUMBERS]; /* outlives the scene */
    memcpy(force, scene->forces.vertex, sizeof force);
    scene->forces.vertex = force;
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
    drape_loaded_scene_destroy(loaded);
    assert_int_equal(drape_cloth_vertices(drape_sim_cloth(sim)), VERTICES);
    return sim;
}

static void step(drape_context *ctx, drape_sim *sim) {
    drape_certificate c;
    ASSERT_OK(ctx, drape_sim_step(sim, &c));
    if (c.linear.reason != DRAPE_CONVERGED)
        fail_msg("step %lld: %s, residual %g", (long long)c.step, drape_reason_name(c.linear.reason),
                 c.linear.true_residual);
}

static void test_centre(void **state) {
    drape_context *ctx = *state;
    drape_sim *sim = make_sim(ctx, "mpcg");
    const double want[] = {-0.040497894, -0.089729484}; /* m, at 0.2 s and 0.4 s */
    for (int32_t k = 0; k < 2; k++) {
        for (int32_t i = 0; i < 10; i++) step(ctx, sim);
        double z = drape_sim_positions(sim)[3 * CENTRE + 2];
        printf("t = %.2f s: centre's z = %.12f, reference %.9f\n", drape_sim_time(sim), z, want[k]);
        ASSERT_NEAR(z, want[k], 5e-10 * 1.001); /* half of the last digit */
    }
    drape_sim_destroy(sim);
}

/* ---- it stays smooth ---- */

/* All diagonals run from lower left to upper right, and warp and weft are equal. So both reflections at a diagonal of
 * the sheet map the mesh to itself, and with them the rotation by 180 degrees. */
static double asymmetry(const double *x, bool main_diagonal) {
    double most = 0;
    for (int32_t j = 0; j < SIDE; j++)
        for (int32_t i = 0; i < SIDE; i++) {
            int32_t image = main_diagonal ? j + SIDE * i : (SIDE - 1 - j) + SIDE * (SIDE - 1 - i);
            const double *a = x + 3 * (i + SIDE * j), *b = x + 3 * image;
            double sign = main_diagonal ? 1 : -1;
            most = fmax(most, fmax(fabs(a[0] - sign * b[1]), fmax(fabs(a[1] - sign * b[0]), fabs(a[2] - b[2]))));
        }
    return most;
}

/* The largest angle between the normals of neighbouring triangles, rad. */
static double sharpest(const drape_cloth *cloth, const double *x) {
    double most = 0;
    for (int32_t i = 0; i < drape_cloth_hinges(cloth); i++) {
        const int32_t *node = drape_cloth_hinge(cloth) + 4 * i;
        double e[3][3], n[2][3];
        for (int32_t k = 0; k < 9; k++) e[k / 3][k % 3] = x[3 * node[1 + k / 3] + k % 3] - x[3 * node[0] + k % 3];
        for (int32_t k = 0; k < 3; k++) {
            int32_t a = (k + 1) % 3, b = (k + 2) % 3;
            n[0][k] = e[0][a] * e[1][b] - e[0][b] * e[1][a];
            n[1][k] = e[2][a] * e[0][b] - e[2][b] * e[0][a];
        }
        double cosine = 0;
        for (int32_t k = 0; k < 3; k++) cosine += n[0][k] * n[1][k];
        cosine /= dense_norm(3, n[0]) * dense_norm(3, n[1]);
        most = fmax(most, acos(fmax(-1, fmin(1, cosine))));
    }
    return most;
}

static void test_stays_smooth(void **state) {
    drape_context *ctx = *state;
    drape_sim *sim = make_sim(ctx, "mpcg");
    const double *x = drape_sim_positions(sim);
    double skew = 0, angle = 0, farthest = 0, stretch = 0;
    for (int32_t i = 0; i < 1000; i++) {
        step(ctx, sim);
        skew = fmax(skew, fmax(asymmetry(x, true), asymmetry(x, false)));
        angle = fmax(angle, sharpest(drape_sim_cloth(sim), x));
        stretch = fmax(stretch, drape_cloth_stretch(drape_sim_cloth(sim), x));
        for (int32_t k = 0; k < NUMBERS; k++) {
            assert_true(isfinite(x[k]));
            farthest = fmax(farthest, fabs(x[k]));
        }
        if (i == 19 || i == 99 || i == 999)
            printf("%d steps: asymmetry %.2g m, sharpest angle %.3g rad, farthest %.4g m, stretch %.4g\n", i + 1,
                   skew, angle, farthest, stretch);
    }
    ASSERT_NEAR(skew, 0, 1e-13);
    assert_true(angle < 0.2);
    assert_true(farthest < 1);
    assert_true(stretch < 2);
    drape_sim_destroy(sim);
}

/* ---- against a direct solve ---- */

/* U'A U x = U'(b - A (I-S) z), U the columns of the identity where S is 1: every pin holds all directions. */
static void solve_directly(const drape_system *s, double *x) {
    int32_t n = 3 * s->A.rows, m = 0, *free_index = malloc((size_t)n * sizeof *free_index);
    double *A = dense_new((int64_t)n * n), *reduced = dense_new((int64_t)n * n), *b = dense_new(n);
    assert_non_null(free_index);
    dense_from_bsr3(&s->A, A);
    for (int32_t i = 0; i < n; i++) {
        double held = 1 - s->S[9 * (i / 3) + 4 * (i % 3)];
        assert_true(held == 0 || held == 1);
        x[i] = held * s->z[i];
        if (held == 0) free_index[m++] = i;
    }
    for (int32_t i = 0; i < m; i++) {
        const double *row = A + (int64_t)n * free_index[i];
        b[i] = s->b[free_index[i]];
        for (int32_t j = 0; j < n; j++) b[i] -= row[j] * x[j];
        for (int32_t j = 0; j < m; j++) reduced[(int64_t)m * i + j] = row[free_index[j]];
    }
    assert_true(dense_solve(m, reduced, 1, b));
    for (int32_t i = 0; i < m; i++) x[free_index[i]] = b[i];
    free(free_index), free(A), free(reduced), free(b);
}

static void test_direct_solve(void **state) {
    drape_context *ctx = *state;
    char path[] = "/tmp/drape_chen_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    drape_sim *sim = make_sim(ctx, "mpcg");
    const double *v = drape_sim_velocities(sim);
    double before[NUMBERS], dv[NUMBERS], direct[NUMBERS], worst = 0;
    for (int32_t i = 0; i < 20; i++) {
        drape_system system;
        memcpy(before, v, sizeof before);
        step(ctx, sim);
        ASSERT_OK(ctx, drape_sim_export_system(sim, path));
        ASSERT_OK(ctx, drape_system_read(ctx, path, &system));
        assert_int_equal(system.A.rows, VERTICES);
        assert_int_equal(system.constrained, 4);
        solve_directly(&system, direct);
        for (int32_t k = 0; k < NUMBERS; k++) dv[k] = v[k] - before[k];
        double difference = dense_difference(NUMBERS, dv, direct);
        worst = fmax(worst, difference);
        drape_system_clear(ctx, &system);
    }
    printf("direct against mpcg over 20 steps: at most %.2g\n", worst);
    ASSERT_NEAR(worst, 0, 1e-9);
    drape_sim_destroy(sim);
    unlink(path);
}

static void test_original_agrees(void **state) {
    drape_context *ctx = *state;
    drape_sim *corrected = make_sim(ctx, "mpcg"), *original = make_sim(ctx, "mpcg-original");
    double worst = 0;
    for (int32_t i = 0; i < 20; i++) {
        step(ctx, corrected);
        step(ctx, original);
        worst =
            fmax(worst, dense_difference(NUMBERS, drape_sim_velocities(corrected), drape_sim_velocities(original)));
    }
    printf("mpcg against mpcg-original over 20 steps: velocities differ by at most %.2g\n", worst);
    ASSERT_NEAR(worst, 0, 1e-9);
    drape_sim_destroy(corrected);
    drape_sim_destroy(original);
}

int main(void) {
    drape_context *ctx = test_context(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_centre, ctx),
        cmocka_unit_test_prestate(test_stays_smooth, ctx),
        cmocka_unit_test_prestate(test_direct_solve, ctx),
        cmocka_unit_test_prestate(test_original_agrees, ctx),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    drape_context_destroy(ctx);
    return failed;
}
