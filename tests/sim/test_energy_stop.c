/* Stopping by the estimated energy norm of the error: on systems of all scenes and sizes, with every preconditioner,
 * the true one must end near the tolerance. */
#include "drape/io.h"
#include "support/folder.h"
#include "support/testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PRECONDS = 16, SIZES = 4, STEPS = 4 };

static const int32_t sizes[SIZES] = {11, 21, 31, 51}, steps[STEPS] = {2, 10, 35, 50};
static const double tolerances[] = {1e-2, 1e-3, 1e-4, 1e-5};

/* How the true error compared with the tolerance, for one preconditioner. */
typedef struct tally {
    int32_t solves, low, high;
    int32_t skipped; /* of the low ones: one iteration earlier it was too high, so that no iterate is near */
    double least, most;
} tally;

static double energy2(drape_context *ctx, const drape_bsr3 *A, const double *x, double *scratch) {
    double sum = 0;
    ASSERT_OK(ctx, drape_multiply(ctx, A, x, scratch));
    for (int64_t i = 0; i < 3 * (int64_t)A->rows; i++) sum += x[i] * scratch[i];
    return sum;
}

/* y = S x of a solution that is exact except for rounding. */
static void solve_exactly(drape_context *ctx, const drape_problem *problem, double *y) {
    drape_solve_settings tight = drape_solve_defaults();
    tight.precond = "ichol";
    tight.tol = 1e-11;
    tight.stop = DRAPE_STOP_RESIDUAL;
    ASSERT_OK(ctx, drape_solve(ctx, problem, &tight, y, NULL));
}

/* The true relative energy error of x. */
static double error_of(drape_context *ctx, const drape_problem *problem, const double *exact, const double *x) {
    int64_t n = 3 * (int64_t)problem->A->rows;
    double *e = calloc(3 * (size_t)n, sizeof *e), *y = e + n, *scratch = e + 2 * n;
    drape_postfilter(problem->constraints, y); /* (I-S) z */
    for (int64_t i = 0; i < n; i++) {
        e[i] = x[i] - exact[i];
        y[i] = exact[i] - y[i];
    }
    double error = sqrt(energy2(ctx, problem->A, e, scratch) / energy2(ctx, problem->A, y, scratch));
    free(e);
    return error;
}

/* share: true error over tolerance; before: the same one iteration earlier. */
static void count(tally *t, double share, double before) {
    t->solves++;
    t->skipped += share < 1. / 20 && before > 2;
    t->low += share < 1. / 20;
    t->high += share > 2;
    t->least = t->solves == 1 ? share : fmin(t->least, share);
    t->most = fmax(t->most, share);
}

static void try_system(drape_context *ctx, const drape_system *system, double tol, tally *all) {
    drape_constraints *set;
    double *exact = calloc(6 * (size_t)system->A.rows, sizeof *exact), *x = exact + 3 * (int64_t)system->A.rows;
    ASSERT_OK(ctx, drape_constraints_create(ctx, system->A.rows, &set));
    ASSERT_OK(ctx, drape_constraints_set_filter(set, system->S, system->z));
    drape_problem problem = {.A = &system->A, .b = system->b, .constraints = set};
    solve_exactly(ctx, &problem, exact);
    for (int32_t p = 0; drape_precond_name(p); p++) {
        drape_solve_settings settings = drape_solve_defaults();
        drape_solve_result result;
        settings.method = "ppcg";
        settings.precond = drape_precond_name(p);
        settings.stop = DRAPE_STOP_ENERGY;
        settings.tol = tol;
        if (!drape_method_takes(settings.method, settings.precond)) continue;
        ASSERT_OK(ctx, drape_solve(ctx, &problem, &settings, x, &result));
        assert_int_equal(result.reason, DRAPE_CONVERGED);
        double share = error_of(ctx, &problem, exact, x) / tol, before = 1 / tol;
        if (share < 1. / 20 && result.iterations > 1) {
            settings.max_iterations = result.iterations - 1;
            ASSERT_OK(ctx, drape_solve(ctx, &problem, &settings, x, NULL));
            before = error_of(ctx, &problem, exact, x) / tol;
        }
        count(&all[p], share, before);
    }
    drape_constraints_destroy(set);
    free(exact);
}

/* The systems of some steps of a scene. */
static void try_scene(drape_context *ctx, const char *path, const char *name, int32_t resolution, tally *all,
                      int32_t *systems) {
    drape_loaded_scene *loaded;
    drape_sim *sim;
    ASSERT_OK(ctx, drape_scene_load(ctx, name,
                                    &(drape_scene_options){.resolution = test_scene_resolution(name, resolution)},
                                    &loaded));
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    if (scene->stitch_count > 0) { /* system files cannot hold constraints of several vertices */
        drape_loaded_scene_destroy(loaded);
        return;
    }
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
    for (int32_t k = 0, step = 0; k < STEPS; k++) {
        drape_system system;
        for (; step < steps[k]; step++) ASSERT_OK(ctx, drape_sim_step(sim, NULL));
        ASSERT_OK(ctx, drape_sim_export_system(sim, path));
        ASSERT_OK(ctx, drape_system_read(ctx, path, &system));
        try_system(ctx, &system, tolerances[*systems % 4], all);
        drape_system_clear(ctx, &system);
        ++*systems;
    }
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
}

static void true_error_is_near_the_tolerance(void **state) {
    (void)state;
    drape_context *ctx = test_context(2);
    char folder[] = "/tmp/drape-test-XXXXXX", path[64];
    tally all[PRECONDS] = {0};
    int32_t systems = 0;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/system", folder);
    for (int32_t i = 0; drape_scene_name(i); i++)
        for (int k = 0; k < SIZES; k++) try_scene(ctx, path, drape_scene_name(i), sizes[k], all, &systems);
    test_folder_entries(folder, true);
    rmdir(folder);
    assert_true(systems >= 200);
    int32_t solves = 0, wrong = 0;
    for (int32_t p = 0; drape_precond_name(p); p++) {
        const tally *t = &all[p];
        if (t->solves == 0) continue;
        print_message(
            "%s: of %d systems %d below tol/20 (%d of them from above 2 tol in one iteration), %d above 2 tol; "
            "%.2g to %.2g tol\n",
            drape_precond_name(p), t->solves, t->low, t->skipped, t->high, t->least, t->most);
        assert_true(t->low - t->skipped + t->high <= 0.05 * t->solves);
        solves += t->solves;
        wrong += t->low + t->high;
    }
    assert_true(wrong <= 0.05 * solves);
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(true_error_is_near_the_tolerance)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
