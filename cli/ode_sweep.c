/* ode_sweep.c: many runs of `drape ode` as tables for plotting: work against precision with steps halved again and
 * again, and the stability region of a method. Lines of comma-separated values, the first with names. */
#include "ode_report.h"

#include <math.h>

static const double FARTHEST = 6; /* of h lambda along both axes */

/* ---- Work against precision ---- */

/* One run with fixed steps; the error at the end, NAN where it was stopped on the way or is not known. */
static drape_status run_once(drape_context *ctx, const ode_problem *p, const drape_ode_settings *settings,
                             double until, double *error) {
    ode_run run;
    drape_ode_result result = {0};
    double began = seconds_now();
    drape_status status = ode_run_begin(ctx, p, settings, &run);
    *error = NAN;
    if (!status) status = drape_ode_advance(run.ode, until, &result);
    if (!status) {
        drape_ode_counts c = drape_ode_count(run.ode);
        if (!result.reason) *error = ode_run_error(p, &run);
        printf("%.9g,%lld,%lld,%lld,%lld,%.3g,%.9g,%s\n", settings->step, (long long)c.steps, (long long)c.f,
               (long long)c.jacobians, (long long)c.linear_solves, seconds_now() - began, *error,
               result.reason ? drape_ode_reason_name(result.reason) : "done");
    }
    ode_run_end(&run);
    return status;
}

int ode_sweep(drape_context *ctx, const ode_problem *p, const drape_ode_settings *settings, double until,
              int32_t runs) {
    drape_ode_settings s = *settings;
    printf("step,steps,evaluations,jacobians,linear_solves,seconds,error,end\n");
    for (int32_t i = 0; i < runs; i++, s.step /= 2) {
        double error;
        drape_status status = run_once(ctx, p, &s, until, &error);
        if (!status) continue;
        complain("%s", *drape_message(ctx) ? drape_message(ctx) : drape_status_name(status));
        return EXIT_BAD_INPUT;
    }
    return EXIT_GOOD;
}

/* ---- Stability ---- */

int ode_stability(drape_context *ctx, const drape_ode_settings *settings, int32_t points) {
    drape_ode_stability at;
    if (drape_ode_stability_at(ctx, settings, 0, 0, &at)) { /* a method for second order, for example */
        complain("%s", drape_message(ctx));
        return EXIT_BAD_INPUT;
    }
    printf("re,im,radius\n");
    for (int32_t j = 0; j < points; j++)
        for (int32_t i = 0; i < points; i++) {
            double re = FARTHEST * (2.0 * i / (points - 1) - 1), im = FARTHEST * (2.0 * j / (points - 1) - 1);
            if (drape_ode_stability_at(ctx, settings, re, im, &at)) {
                complain("%s", drape_message(ctx));
                return EXIT_BAD_INPUT;
            }
            printf("%.9g,%.9g,%.9g\n", re, im, at.radius);
        }
    return EXIT_GOOD;
}
