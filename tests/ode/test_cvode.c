/* Adaptive BDF2 against CVODE (SUNDIALS) limited to order 2: evaluations of f for the same achieved error.
 *
 * Both run each example with many tolerances, the same for both. The work for an error is the least number of
 * evaluations among the runs that reached it. The error is the largest over all steps, relative to the largest value
 * of the exact solution. CVODE gets the exact Jacobian and a dense solver, as BDF2 does. */
#include "support/testing.h"

#include "ode_examples.h"

#include <math.h>
#include <stdio.h>

#ifdef DRAPE_HAS_SUNDIALS

#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

typedef struct run_record {
    double error; /* relative */
    long f, steps;
} run_record;

/* Of the exact solution, x and v together. */
static double largest_value(const ode_example *e) {
    double largest = 0, exact[2];
    for (int32_t i = 0; i <= 1000; i++) {
        ode_example_exact(e, e->end * i / 1000, exact);
        largest = fmax(largest, fmax(fabs(exact[0]), fabs(exact[1])));
    }
    return largest;
}

/* ---- BDF2 ---- */

static run_record run_bdf2(drape_context *ctx, const ode_example *e, double rtol, double atol) {
    drape_ode_settings s = drape_ode_defaults();
    run_record record = {0, 0, 0};
    ode_example_run run;
    drape_ode_result result;
    s.method = "bdf2";
    s.control = DRAPE_ODE_ERROR;
    s.rtol = rtol;
    s.atol = atol;
    ASSERT_OK(ctx, ode_example_begin(ctx, e, &s, &run));
    while (drape_ode_time(run.ode) < e->end) {
        ASSERT_OK(ctx, drape_ode_next(run.ode, e->end, &result));
        assert_int_equal(result.reason, DRAPE_ODE_DONE);
        record.error = fmax(record.error, ode_example_error(e, &run));
    }
    drape_ode_counts counts = drape_ode_count(run.ode);
    record.error /= largest_value(e);
    record.f = (long)counts.f;
    record.steps = (long)counts.steps;
    ode_example_end(&run);
    return record;
}

/* ---- CVODE ---- */

static int cvode_f(realtype t, N_Vector y, N_Vector out, void *user) {
    const ode_example *e = user;
    drape_ode_system system = ode_example_system(e);
    const double *Y = N_VGetArrayPointer(y);
    double *F = N_VGetArrayPointer(out);
    if (e->order == 1) return system.f(system.user, t, Y, NULL, F);
    F[0] = Y[1];
    return system.f(system.user, t, Y, Y + 1, F + 1);
}

static int cvode_jacobian(realtype t, N_Vector y, N_Vector f, SUNMatrix J, void *user, N_Vector a, N_Vector b,
                          N_Vector c) {
    const ode_example *e = user;
    (void)t, (void)y, (void)f, (void)a, (void)b, (void)c;
    if (e->order == 1) {
        SM_ELEMENT_D(J, 0, 0) = e->rate;
        return 0;
    }
    SM_ELEMENT_D(J, 0, 0) = 0;
    SM_ELEMENT_D(J, 0, 1) = 1;
    SM_ELEMENT_D(J, 1, 0) = -e->stiffness;
    SM_ELEMENT_D(J, 1, 1) = -e->damping;
    return 0;
}

static double cvode_error(const ode_example *e, double t, const double *Y) {
    double exact[2];
    ode_example_exact(e, t, exact);
    double error = fabs(Y[0] - exact[0]);
    return e->order == 1 ? error : fmax(error, fabs(Y[1] - exact[1]));
}

static run_record run_cvode(const ode_example *e, double rtol, double atol) {
    run_record record = {0, 0, 0};
    SUNContext context;
    realtype t = 0;
    assert_int_equal(SUNContext_Create(NULL, &context), 0);
    N_Vector y = N_VNew_Serial(e->order, context);
    double *Y = N_VGetArrayPointer(y);
    for (int32_t i = 0; i < e->order; i++) Y[i] = e->start[i];
    SUNMatrix A = SUNDenseMatrix(e->order, e->order, context);
    SUNLinearSolver solver = SUNLinSol_Dense(y, A, context);
    void *cvode = CVodeCreate(CV_BDF, context);
    int failed = CVodeInit(cvode, cvode_f, 0, y) || CVodeSStolerances(cvode, rtol, atol) ||
                 CVodeSetUserData(cvode, (void *)e) || CVodeSetMaxOrd(cvode, 2) ||
                 CVodeSetLinearSolver(cvode, solver, A) || CVodeSetJacFn(cvode, cvode_jacobian) ||
                 CVodeSetStopTime(cvode, e->end) || CVodeSetMaxNumSteps(cvode, 1000000);
    assert_int_equal(failed, 0);
    while (t < e->end) {
        assert_true(CVode(cvode, e->end, y, &t, CV_ONE_STEP) >= 0);
        record.error = fmax(record.error, cvode_error(e, t, Y));
    }
    record.error /= largest_value(e);
    CVodeGetNumRhsEvals(cvode, &record.f);
    CVodeGetNumSteps(cvode, &record.steps);
    CVodeFree(&cvode);
    SUNLinSolFree(solver);
    SUNMatDestroy(A);
    N_VDestroy(y);
    SUNContext_Free(&context);
    return record;
}

/* ---- Work for an error ---- */

static run_record least_work(drape_context *ctx, const ode_example *e, double target, bool by_cvode) {
    run_record best = {INFINITY, 0, 0};
    for (double rtol = 0.3, reached = 1; reached > target / 4; rtol /= 1.2) {
        double atol = 0.01 * rtol * largest_value(e);
        run_record record = by_cvode ? run_cvode(e, rtol, atol) : run_bdf2(ctx, e, rtol, atol);
        reached = record.error;
        if (record.error <= target && (!best.f || record.f < best.f)) best = record;
    }
    assert_true(best.f > 0);
    return best;
}

static void no_more_than_half_as_much_again(void **state) {
    static const double targets[] = {1e-2, 1e-3, 1e-4};
    drape_context *ctx = test_context(1);
    (void)state;
    for (int32_t i = 0; ode_example_at(i); i++)
        for (size_t k = 0; k < sizeof targets / sizeof *targets; k++) {
            const ode_example *e = ode_example_at(i);
            run_record ours = least_work(ctx, e, targets[k], false), theirs = least_work(ctx, e, targets[k], true);
            printf("example %-10s error %.0e: bdf2 %5ld evaluations, %5ld steps; cvode %5ld, %5ld; ratio %.2f\n",
                   e->name, targets[k], ours.f, ours.steps, theirs.f, theirs.steps,
                   (double)ours.f / (double)theirs.f);
            assert_true((double)ours.f <= 1.5 * (double)theirs.f);
        }
    drape_context_destroy(ctx);
}

#else

static void no_more_than_half_as_much_again(void **state) {
    (void)state;
    printf("skipped: built without SUNDIALS (Debian: libsundials-dev)\n");
    skip();
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_more_than_half_as_much_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
