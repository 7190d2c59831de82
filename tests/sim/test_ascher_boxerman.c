/* The experiment of Ascher and Boxerman (2003), section 5, in a first form: four corners of a sheet move up and down,
 * forces of Baraff and Witkin, no gravity, velocity changes as unknowns. Mean iterations over 100 steps of MPCG as
 * it was and as they corrected it (start from the step before, tolerance relative to b^). The paper gives no
 * parameters, so that its counts stand beside ours for comparison only; that the corrected form is quicker, how much,
 * and the trends are asserted. */
#include "support/strips.h"

#include <stdio.h>

enum { CASES = 5, STEPS = 100 };

typedef struct cell {
    double density, tol;
    double paper_original, paper_corrected; /* mean iterations */
    double original, corrected;
} cell;

static double mean_iterations(drape_context *ctx, const char *method, const cell *c) {
    drape_scene *scene;
    drape_sim *sim;
    double sum = 0;
    ASSERT_OK(ctx, drape_scene_builtin(ctx, "four-corners", 0, &scene));
    scene->pieces[0].material.density = c->density;
    scene->solve.method = method;
    scene->solve.precond = "block_diagonal";
    scene->solve.tol = c->tol;
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
    for (int32_t i = 0; i < STEPS; i++) {
        drape_certificate done;
        ASSERT_OK(ctx, drape_sim_step(sim, &done));
        assert_int_equal(done.reason, DRAPE_CONVERGED);
        sum += done.iterations;
    }
    drape_sim_destroy(sim);
    drape_scene_destroy(ctx, scene);
    return sum / STEPS;
}

/* Runs the cells of a table, prints them beside the paper's, and checks that each is an improvement. */
static void run_table(drape_context *ctx, cell *cells) {
    printf("density tol      paper original/corrected    here original/corrected\n");
    for (int32_t i = 0; i < CASES; i++) {
        cell *c = &cells[i];
        c->original = mean_iterations(ctx, "mpcg-original", c);
        c->corrected = mean_iterations(ctx, "mpcg", c);
        printf("%-7g %-8g %5.0f / %2.0f = %.2f %19.2f / %5.2f = %.2f\n", c->density, c->tol, c->paper_original,
               c->paper_corrected, c->paper_corrected / c->paper_original, c->original, c->corrected,
               c->corrected / c->original);
        assert_true(c->corrected < c->original);
    }
}

static void test_over_density(void **state) {
    cell cells[CASES] = {{.01, .01, 27, 19, 0, 0},
                         {.1, .01, 22, 15, 0, 0},
                         {1, .01, 16, 10, 0, 0},
                         {10, .01, 11, 6, 0, 0},
                         {100, .01, 6, 3, 0, 0}};
    run_table(*state, cells);
    for (int32_t i = 0; i < CASES; i++) assert_true(cells[i].corrected <= 0.85 * cells[i].original);
    for (int32_t i = 1; i < CASES; i++) {
        assert_true(cells[i].original < cells[i - 1].original);
        assert_true(cells[i].corrected < cells[i - 1].corrected);
    }
}

static void test_over_tolerance(void **state) {
    cell cells[CASES] = {{.1, .1, 22, 15, 0, 0},
                         {.1, .01, 22, 15, 0, 0},
                         {.1, .001, 30, 22, 0, 0},
                         {.1, 1e-4, 45, 31, 0, 0},
                         {.1, 1e-5, 60, 43, 0, 0}};
    run_table(*state, cells);
    for (int32_t i = 1; i < CASES; i++) {
        assert_true(cells[i].original > cells[i - 1].original);
        assert_true(cells[i].corrected > cells[i - 1].corrected);
    }
}

int main(void) {
    drape_context *ctx = test_context(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_over_density, ctx),
        cmocka_unit_test_prestate(test_over_tolerance, ctx),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    drape_context_destroy(ctx);
    return failed;
}
