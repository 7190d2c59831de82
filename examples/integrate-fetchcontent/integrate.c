/* integrate.c: a pendulum of 1 m, released at 1 rad, by an implicit method of libdrape-solve that keeps its energy.
 */
#include <drape/ode.h>

#include <math.h>
#include <stdio.h>

static const double GRAVITY = 9.81; /* m/s^2 */

static drape_status f(void *user, double t, const double *x, const double *v, double *out) {
    (void)user, (void)t, (void)v;
    out[0] = -GRAVITY * sin(x[0]);
    return DRAPE_OK;
}

static drape_status jacobian(void *user, double t, const double *x, const double *v, double *K, double *D) {
    (void)user, (void)t, (void)v, (void)D; /* f does not depend on v: D stays zero */
    K[0] = -GRAVITY * cos(x[0]);
    return DRAPE_OK;
}

static double energy(double x, double v) { return v * v / 2 - GRAVITY * cos(x); }

static drape_status swing(drape_ode *ode) {
    const double x = 1, v = 0;
    drape_ode_result result;
    drape_status status = drape_ode_start(ode, 0, &x, &v);
    if (!status) status = drape_ode_advance(ode, 10, &result);
    if (status) return status;
    printf("%s at %g s after %lld steps: %.4f rad\n", drape_ode_reason_name(result.reason), result.t,
           (long long)drape_ode_count(ode).steps, drape_ode_x(ode)[0]);
    printf("energy changed by %.1e J/kg\n", fabs(energy(drape_ode_x(ode)[0], drape_ode_v(ode)[0]) - energy(x, v)));
    return result.reason == DRAPE_ODE_DONE ? DRAPE_OK : DRAPE_ERROR_NUMBER;
}

int main(void) {
    drape_context *ctx;
    drape_ode_dense *dense = NULL;
    drape_ode *ode = NULL;
    if (drape_context_create(NULL, &ctx)) return 1;
    drape_status status =
        drape_ode_dense_create(ctx, &(drape_ode_dense_settings){.order = 2, .size = 1, .jacobian = jacobian}, &dense);
    if (!status) {
        drape_ode_system pendulum = {.order = 2, .size = 1, .f = f, .linear = drape_ode_dense_linear(dense)};
        drape_ode_settings settings = drape_ode_defaults();
        settings.method = "implicit-midpoint";
        settings.step = 0.01;
        status = drape_ode_create(ctx, &pendulum, &settings, &ode);
    }
    if (!status) status = swing(ode);
    if (status) fprintf(stderr, "integrate: %s\n", drape_message(ctx));
    drape_ode_destroy(ode);
    drape_ode_dense_destroy(dense);
    drape_context_destroy(ctx);
    return status != DRAPE_OK;
}
