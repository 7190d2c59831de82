/* hauth_stability.c: figure 4 of Hauth's survey: where |R(z)| <= 1, z = h lambda. The curves are the closed forms.
 * The integrators are compared with them on y' = lambda y, lambda complex (as two real equations), over a grid of z.
 * After many steps of h = 1 the solution has decayed or grown, as the closed form says. Points next to the border
 * decide nothing and are left out. Verlet is for second order: its border is h omega = 2.
 */
#include "hauth.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 60, ANGLES = 240, REGIONS = 6 };
static const double NEAR = 0.05, GRID = 5;

typedef double complex number;

/* ---- Closed forms: the largest modulus by which a step multiplies ---- */

static double explicit_euler(number z) { return cabs(1 + z); }
static double explicit_midpoint(number z) { return cabs(1 + z + z * z / 2); }
static double rk4(number z) { return cabs(1 + z + z * z / 2 + z * z * z / 6 + z * z * z * z / 24); }
static double implicit_euler(number z) { return cabs(1 / (1 - z)); }
static double implicit_midpoint(number z) { return cabs((1 + z / 2) / (1 - z / 2)); }
/* The larger zero of (3/2 - z) w^2 - 2 w + 1/2. */
static double bdf2(number z) {
    number root = csqrt(4 - 2 * (1.5 - z)), a = 2 * (1.5 - z);
    return fmax(cabs((2 + root) / a), cabs((2 - root) / a));
}

static const struct region {
    const char *method;
    double (*factor)(number z);
    bool outside; /* the border encloses where it is not stable */
    int color;
} regions[REGIONS] = {{"explicit-euler", explicit_euler, false, 0},
                      {"explicit-midpoint", explicit_midpoint, false, 1},
                      {"rk4", rk4, false, 2},
                      {"implicit-euler", implicit_euler, true, 3},
                      {"bdf2", bdf2, true, 4},
                      {"implicit-midpoint", implicit_midpoint, true, 5}};

/* ---- Trying it ---- */

typedef struct spiral {
    number lambda;
} spiral;

static drape_status turn(void *user, double t, const double *x, const double *v, double *out) {
    const spiral *s = user;
    number y = s->lambda * (x[0] + I * x[1]);
    (void)t, (void)v;
    out[0] = creal(y), out[1] = cimag(y);
    return DRAPE_OK;
}

static drape_status turn_jacobian(void *user, double t, const double *x, const double *v, double *K, double *D) {
    const spiral *s = user;
    (void)t, (void)x, (void)v, (void)D;
    K[0] = K[3] = creal(s->lambda);
    K[2] = cimag(s->lambda);
    K[1] = -K[2];
    return DRAPE_OK;
}

/* |y| after so many steps of 1 from |y| = 1; infinite where it left the numbers. */
static double size_at_end(drape_context *ctx, const char *method, number lambda) {
    spiral s = {lambda};
    drape_ode_dense_settings dense = {.order = 1, .size = 2, .user = &s, .jacobian = turn_jacobian};
    drape_ode_system system = {.order = 1, .size = 2, .user = &s, .f = turn};
    drape_ode_settings settings = drape_ode_defaults();
    drape_ode_dense *solver;
    drape_ode *ode;
    drape_ode_result result;
    const double start[2] = {1, 0};
    settings.method = method;
    settings.step = 1;
    settings.newton.line_search = DRAPE_ODE_SEARCH_OFF;
    bench_check(ctx, drape_ode_dense_create(ctx, &dense, &solver));
    system.linear = drape_ode_dense_linear(solver);
    bench_check(ctx, drape_ode_create(ctx, &system, &settings, &ode));
    bench_check(ctx, drape_ode_start(ode, 0, start, NULL));
    bench_check(ctx, drape_ode_advance(ode, STEPS, &result));
    double size = result.reason ? INFINITY : hypot(drape_ode_x(ode)[0], drape_ode_x(ode)[1]);
    drape_ode_destroy(ode);
    drape_ode_dense_destroy(solver);
    return size;
}

/* Points of the grid in which the integrator and the closed form differ. */
static int32_t count_wrong(drape_context *ctx, const struct region *r, int32_t half, int32_t *tried) {
    int32_t wrong = 0;
    *tried = 0;
    for (int32_t i = -half; i <= half; i++)
        for (int32_t j = 0; j <= half; j++) {
            number z = GRID * i / half + I * (GRID * j / half);
            double factor = r->factor(z);
            if (!isfinite(factor) || fabs(factor - 1) < NEAR) continue;
            (*tried)++;
            wrong += (size_at_end(ctx, r->method, z) > 1) != (factor > 1);
        }
    return wrong;
}

/* ---- Drawing it ---- */

/* Along a ray from a point inside (outside: of what is unstable) to where |R| passes 1. */
static number border_on_ray(const struct region *r, number centre, double angle) {
    number direction = cexp(I * angle);
    double low = 0, high = 0;
    while (high < 8 && (r->factor(centre + high * direction) <= 1) != r->outside) low = high, high += 0.02;
    for (int32_t k = 0; k < 40; k++) {
        double middle = (low + high) / 2;
        if ((r->factor(centre + middle * direction) <= 1) != r->outside) low = middle;
        else high = middle;
    }
    return centre + low * direction;
}

static void draw_border(const struct region *r) {
    number centre = strcmp(r->method, "bdf2") == 0 ? 2 : r->outside ? 1 : -1;
    const double pi = 3.14159265358979323846;
    for (int32_t i = 0; i <= ANGLES; i++) {
        number z = border_on_ray(r, centre, 2 * pi * i / ANGLES);
        bench_point(creal(z), cimag(z));
    }
}

static void draw_regions(bool outside) {
    bench_plot(outside ? "fig4-implicit" : "fig4-explicit",
               outside ? "Figure 4: implicit methods are stable outside of these"
                       : "Figure 4: explicit methods are stable inside of these");
    bench_plot_axis('x', "Re h lambda", "", BENCH_LINEAR);
    bench_plot_axis('y', "Im h lambda", "", BENCH_LINEAR);
    bench_plot_equal(0);
    for (int32_t k = 0; k < REGIONS; k++) {
        if (regions[k].outside != outside) continue;
        bench_curve(regions[k].method, regions[k].color, BENCH_REGION);
        if (strcmp(regions[k].method, "implicit-midpoint") != 0) draw_border(&regions[k]);
        else { /* the right half-plane */
            bench_point(0, -4), bench_point(6, -4), bench_point(6, 4), bench_point(0, 4);
        }
    }
    if (outside) return;
    bench_curve("verlet, without damping", 6, BENCH_LINE);
    bench_point(0, -2), bench_point(0, 2);
}

void hauth_stability(drape_context *ctx, bool quick) {
    int32_t all = 0;
    draw_regions(false);
    draw_regions(true);
    bench_table("Stability regions: integrators against closed forms");
    printf("\n  %-18s %12s %6s\n", "stability", "points tried", "wrong");
    for (int32_t k = 0; k < REGIONS; k++) {
        int32_t tried, wrong = count_wrong(ctx, &regions[k], quick ? 10 : 25, &tried);
        bench_row();
        bench_text("method", "  %-18s", regions[k].method);
        bench_count("points tried", " %12d", tried);
        bench_count("wrong", " %6d", wrong);
        bench_end("\n");
        all += wrong;
    }
    bench_claim_count("points where a stability region is wrong", all, 0, 0);
}
