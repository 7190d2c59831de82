/* Closed forms of mechanics against the simulator. Static ones: steps until nothing moves. */
#include "support/strips.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double G = 9.81; /* m/s^2 */
static const double PI = 3.14159265358979323846;

static void report(const char *what, double got, double want) {
    printf("%-44s %.9g, wanted %.9g: %+.3g %%\n", what, got, want, 100 * (got / want - 1));
}

static void assert_within(const char *what, double got, double want, double part) {
    report(what, got, want);
    assert_near(got, want, part * fabs(want), what);
}

static void set_stiffness(test_strip *s, double density, double stretch, double shear, double bend) {
    s->material->density = density;
    s->material->stretch[0] = s->material->stretch[1] = stretch;
    s->material->shear = shear;
    s->material->bend = bend;
}

/* ---- without a force of its own ---- */

static void test_free_fall(void **state) {
    const double h = 0.02, v0[3] = {0.3, 0, 1};
    drape_context *ctx = *state;
    test_strip *s = test_strip_create(ctx, 12, 10, 1, 1);
    s->scene.step = h;
    drape_sim *sim = test_strip_sim(s);
    const double *x = drape_sim_positions(sim);
    double *v = test_velocities(sim), most = 0;
    for (int32_t i = 0; i < 3 * s->mesh.vertices; i++) v[i] = v0[i % 3];
    test_set_state(ctx, sim, NULL, v);
    test_run(ctx, sim, 50);
    double t = drape_sim_time(sim);
    ASSERT_NEAR(t, 1, 1e-12);
    for (int32_t i = 0; i < 3 * s->mesh.vertices; i++) {
        double fall = i % 3 == 2 ? G * t * (t + h) / 2 : 0;
        most = fmax(most, fabs(x[i] - (s->mesh.rest[i] + v0[i % 3] * t - fall)));
    }
    printf("free fall: largest error %.3g m\n", most);
    ASSERT_NEAR(most, 0, 1e-9);
    drape_sim_destroy(sim);
    test_strip_destroy(s);
}

/* ---- statics ---- */

static void test_hanging_strip(void **state) {
    const double L = 1, w = 0.2, rho = 0.3, k = 200;
    drape_context *ctx = *state;
    for (int32_t n = 5; n <= 20; n *= 2) {
        test_strip *s = test_strip_create(ctx, n, n / 5, L, w);
        set_stiffness(s, rho, k, 100, 0);
        test_strip_pin(s, 0, 0, 0, s->ny);
        s->scene.forces.gravity[0] = G, s->scene.forces.gravity[2] = 0;
        s->scene.step = 0.5;
        drape_sim *sim = test_strip_sim(s);
        int32_t steps = test_run_to_rest(ctx, sim, 1e-11, 1000);
        printf("%d x %d cells, %d steps: ", s->nx, s->ny, steps);
        assert_within("elongation", test_strip_mean(s, sim, n, 0) - L, rho * G * L * L / (2 * k), 0.005);
        drape_sim_destroy(sim);
        test_strip_destroy(s);
    }
}

static void test_taut_strip(void **state) {
    const double L = 1, rho = 0.2, k = 2000;
    drape_context *ctx = *state;
    for (int32_t n = 10; n <= 40; n *= 2) {
        test_strip *s = test_strip_create(ctx, n, n / 10, L, 0.1);
        set_stiffness(s, rho, k, 100, 0);
        test_strip_pin(s, 0, 0, 0, s->ny);
        test_strip_pin(s, n, n, 0, s->ny);
        s->scene.step = 0.1;
        drape_sim *sim = test_strip_sim(s);
        int32_t steps = test_run_to_rest(ctx, sim, 1e-9, 2000);
        printf("%d x %d cells, %d steps: ", s->nx, s->ny, steps);
        assert_within("sag", -test_strip_mean(s, sim, n / 2, 2), cbrt(3 * rho * G * pow(L, 4) / (64 * k)), 0.01);
        drape_sim_destroy(sim);
        test_strip_destroy(s);
    }
}

/* The catenary's a with 2 a sinh(D / 2a) = L, by bisection. */
static double catenary_parameter(double L, double D) {
    double low = 0.01 * D, high = 100 * D;
    for (int32_t i = 0; i < 200; i++) {
        double a = (low + high) / 2;
        if (2 * a * sinh(D / (2 * a)) > L) low = a;
        else high = a;
    }
    return low;
}

/* Starts as a V of the right length. */
static void hang_between(test_strip *s, double L, double D) {
    double depth = sqrt(L * L - D * D) / L;
    for (int32_t i = 0; i < s->mesh.vertices; i++) {
        double u = s->mesh.uv[2 * i];
        s->mesh.rest[3 * i] = D * u / L;
        s->mesh.rest[3 * i + 2] = -depth * fmin(u, L - u);
    }
}

static void test_catenary(void **state) {
    const double L = 1, D = 0.8, rho = 0.2, k = 2000;
    drape_context *ctx = *state;
    double a = catenary_parameter(L, D), sag = a * (cosh(D / (2 * a)) - 1);
    ASSERT_NEAR(sag, 0.265438, 1e-6);
    for (int32_t n = 10; n <= 40; n *= 2) {
        test_strip *s = test_strip_create(ctx, n, n / 10, L, 0.1);
        set_stiffness(s, rho, k, 100, 0);
        hang_between(s, L, D);
        test_strip_pin(s, 0, 0, 0, s->ny);
        test_strip_pin(s, n, n, 0, s->ny);
        s->scene.step = 0.05;
        drape_sim *sim = test_strip_sim(s);
        int32_t steps = test_run_to_rest(ctx, sim, 1e-7, 5000);
        printf("%d x %d cells, %d steps: ", s->nx, s->ny, steps);
        assert_within("sag", -test_strip_mean(s, sim, n / 2, 2), sag, 0.01);
        drape_sim_destroy(sim);
        test_strip_destroy(s);
    }
}

/* Turns the diagonals of every other cell, so that eight triangles meet in the centre. */
static void alternate_diagonals(test_strip *s) {
    for (int32_t cell = 0; cell < s->nx * s->ny; cell++) {
        int32_t i = cell % s->nx, j = cell / s->nx;
        if ((i + j) % 2 == 0) continue;
        int32_t a = test_strip_vertex(s, i, j), b = a + 1, c = a + s->nx + 1, d = c + 1;
        const int32_t corners[6] = {a, b, c, b, d, c};
        memcpy(s->mesh.triangle + 6 * cell, corners, sizeof corners);
    }
}

/* n cells a side, n a multiple of 4. */
static double centre_sag(drape_context *ctx, int32_t n, bool alternate) {
    test_strip *s = test_strip_create(ctx, n, n, 1, 1);
    if (alternate) alternate_diagonals(s);
    set_stiffness(s, 0.2, 500, 100, 0);
    test_strip_pin(s, 0, n, 0, 0);
    test_strip_pin(s, 0, n, n, n);
    test_strip_pin(s, 0, 0, 1, n - 1);
    test_strip_pin(s, n, n, 1, n - 1);
    s->scene.step = 0.1;
    drape_sim *sim = test_strip_sim(s);
    test_run_to_rest(ctx, sim, 1e-10, 5000);
    double sag = -drape_sim_positions(sim)[3 * test_strip_vertex(s, n / 2, n / 2) + 2];
    drape_sim_destroy(sim);
    test_strip_destroy(s);
    return sag;
}

static void test_refinement(void **state) {
    double sag[4];
    for (int32_t i = 0; i < 4; i++) {
        sag[i] = centre_sag(*state, 4 << i, false);
        printf("centre sag of %d cells a side: %.9g m\n", 4 << i, sag[i]);
    }
    for (int32_t i = 0; i < 2; i++) {
        double ratio = (sag[i] - sag[i + 1]) / (sag[i + 1] - sag[i + 2]);
        printf("changes shrink by %.4g\n", ratio);
        assert_true(ratio > 3 && ratio < 5);
    }
}

/* The same limit from the other side: masses and stiffness gather in the centre. */
static void test_refinement_with_alternating_diagonals(void **state) {
    const double want[] = {0.0500, 0.0492, 0.0490, 0.0490}; /* m */
    for (int32_t i = 0; i < 4; i++) {
        double sag = centre_sag(*state, 4 << i, true);
        printf("centre sag of %d cells a side, alternating: %.9g m\n", 4 << i, sag);
        ASSERT_NEAR(sag, want[i], 5e-5);
    }
}

/* ---- the elastica ---- */

/* B th'' + load (L - s) cos th = 0 (th: slope below the horizontal) with th = 0 at the clamp, th' = 0 at the tip. */
typedef struct elastica {
    double theta, curvature, x, z;
} elastica;

static elastica elastica_rate(elastica e, double s, double g) {
    return (elastica){e.curvature, -g * (1 - s) * cos(e.theta), cos(e.theta), -sin(e.theta)};
}

static elastica elastica_add(elastica e, double h, elastica d) {
    return (elastica){e.theta + h * d.theta, e.curvature + h * d.curvature, e.x + h * d.x, e.z + h * d.z};
}

/* The tip of a rod of length 1 with load/B = g and this curvature at the clamp: Runge-Kutta of order 4. */
static elastica elastica_shoot(double curvature, double g) {
    enum { STEPS = 2000 };
    const double h = 1.0 / STEPS;
    elastica e = {0, curvature, 0, 0};
    for (int32_t i = 0; i < STEPS; i++) {
        double s = i * h;
        elastica a = elastica_rate(e, s, g), b = elastica_rate(elastica_add(e, h / 2, a), s + h / 2, g);
        elastica c = elastica_rate(elastica_add(e, h / 2, b), s + h / 2, g);
        elastica d = elastica_rate(elastica_add(e, h, c), s + h, g);
        e = elastica_add(elastica_add(e, h / 6, a), h / 3, b);
        e = elastica_add(elastica_add(e, h / 3, c), h / 6, d);
    }
    return e;
}

static elastica elastica_tip(double g) {
    double low = 0, high = g / 2; /* the straight rod's is the most */
    for (int32_t i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        if (elastica_shoot(middle, g).curvature > 0) high = middle;
        else low = middle;
    }
    return elastica_shoot(low, g);
}

/* Where the strip is clamped: both ends of the first cell are held. The hinges on its far end bend the half cells on
 * either side of them. So the clamp is in the middle of the first cell, and L is measured from there.
 *
 * Why cells are square and the strip is narrow: let a = k_x + k_xy, c = k_y + k_xy of the surface's curvatures. The
 * hinges of a square cell with diagonals all one way have the energy 3k/2 (a^2 + c^2 + 4 k_xy^2) per area. Where k_y
 * and k_xy are free that is least with k_xy = -k_x/5, the strip twists, and B = 2.4 k; where they are not it is 3 k.
 * Near the clamp, over a length of some widths, none of this can happen. So a wide strip bends less than an elastica
 * of this B: by 2 % at a width of 0.1 L and 10 % at L, with 40 and 24 cells. (In cells of height to width r, 4/5
 * becomes (r + 1/r)^2 / (r^2 + (r + 1/r)^2).) */
static void check_cantilever(drape_context *ctx, double load, int32_t n, int32_t rows) {
    const double L = 1, rho = 0.2, B = rho * G * L * L * L / load, cell = L / (n - 0.5);
    test_strip *s = test_strip_create(ctx, n, rows, n * cell, rows * cell);
    set_stiffness(s, rho, 2e4, 5e3, B);
    test_strip_pin(s, 0, 1, 0, rows);
    s->scene.step = 0.1;
    drape_sim *sim = test_strip_sim(s);
    int32_t steps = test_run_to_rest(ctx, sim, 1e-8, 2000);
    elastica tip = elastica_tip(load);
    printf("load %g, width %.3g, %d x %d cells, %d steps:\n", load, rows * cell, n, rows, steps);
    assert_within("  tip's z", test_strip_mean(s, sim, n, 2), tip.z, 0.03);
    assert_within("  tip's x", test_strip_mean(s, sim, n, 0) - cell / 2, tip.x, 0.03);
    drape_sim_destroy(sim);
    test_strip_destroy(s);
}

static void test_cantilever(void **state) {
    const double loads[] = {1, 5};
    for (int32_t i = 0; i < 2; i++) {
        check_cantilever(*state, loads[i], 20, 1);
        check_cantilever(*state, loads[i], 20, 2);
        check_cantilever(*state, loads[i], 40, 1);
        check_cantilever(*state, loads[i], 40, 4);
    }
}

/* ---- vibrations ---- */

/* Only x is free, only warp has stiffness, and masses are those of a rod. n cells of stiffness k w / dx and mass rho
 * w dx make a chain with one end held. Its modes sin(q i), q = (m - 1/2) pi / n, have omega = 2 sin(q/2) sqrt(k /
 * rho) / dx. It is linear, and backward Euler damps the norm sqrt(omega^2 a^2 + a'^2) of a mode's amplitude a by
 * exactly (1 + omega^2 h^2)^(-1/2) a step. */
typedef struct rod {
    test_strip *strip;
    drape_sim *sim;
    double mass[64];
} rod;

static void rod_create(rod *r, drape_context *ctx, int32_t n, double rho, double k, double h) {
    r->strip = test_strip_create(ctx, n, 1, 1, 0.1);
    test_strip *s = r->strip;
    *s->material = (drape_material){.density = rho, .stretch = {k, 0}};
    for (int32_t i = 0; i < s->mesh.vertices; i++)
        r->mass[i] = rho * 0.1 / n / 2 * (i % (n + 1) == n || i % (n + 1) == 0 ? 0.5 : 1);
    s->piece.mass = r->mass;
    test_strip_pin(s, 0, 0, 0, 1);
    drape_pin *rails = test_strip_pin(s, 1, n, 0, 1);
    rails->directions = 2;
    rails->direction[0][1] = rails->direction[1][2] = 1;
    s->scene.forces = (drape_forces){0};
    s->scene.step = h;
    s->scene.solve.tol = 1e-13;
    r->sim = test_strip_sim(s);
}

/* Part of the mode in a field u over the columns of row 0. */
static double modal(const rod *r, double q, const double *u) {
    double sum = 0, norm = 0;
    for (int32_t i = 0; i <= r->strip->nx; i++) {
        double shape = sin(q * i), m = r->mass[i];
        sum += m * shape * u[3 * i], norm += m * shape * shape;
    }
    return sum / norm;
}

static void check_damping(drape_context *ctx, int32_t n, int32_t mode, double h) {
    const double rho = 0.2, k = 50, q = (mode - 0.5) * PI / n, omega = 2 * sin(q / 2) * sqrt(k / rho) * n;
    rod r;
    rod_create(&r, ctx, n, rho, k, h);
    const double *x = drape_sim_positions(r.sim), *v = drape_sim_velocities(r.sim);
    double *bent = test_positions(r.sim), u[3 * 64] = {0}, before = 0, worst = 0;
    for (int32_t i = 0; i < r.strip->mesh.vertices; i++) bent[3 * i] += 1e-3 * sin(q * (i % (n + 1)));
    test_set_state(ctx, r.sim, bent, NULL);
    for (int32_t step = 0; step <= 4; step++) {
        for (int32_t i = 0; i <= n; i++) u[3 * i] = x[3 * i] - r.strip->mesh.rest[3 * i];
        double norm = hypot(omega * modal(&r, q, u), modal(&r, q, v));
        if (step > 0) worst = fmax(worst, fabs(norm / before * sqrt(1 + omega * omega * h * h) - 1));
        before = norm;
        test_run(ctx, r.sim, 1);
    }
    printf("mode %d of %d, omega h = %.4g: factor a step off by %.2g\n", mode, n, omega * h, worst);
    ASSERT_NEAR(worst, 0, 1e-9);
    drape_sim_destroy(r.sim);
    test_strip_destroy(r.strip);
}

static void test_damping_of_backward_euler(void **state) {
    check_damping(*state, 1, 1, 0.01);
    check_damping(*state, 8, 1, 0.001);
    check_damping(*state, 8, 3, 0.02);
    check_damping(*state, 8, 8, 0.02);
}

/* Seconds of a period, from the times when a signal crosses zero for the first and the third time. */
typedef struct crossings {
    double last, time[3];
    int32_t count;
} crossings;

static void crossings_add(crossings *c, double t, double h, double value) {
    if (c->last * value < 0 && c->count < 3) c->time[c->count++] = t - h * value / (value - c->last);
    c->last = value;
}

/* Steps until the deviation of column i in direction k has been through a whole period. */
static double period(test_strip *s, drape_sim *sim, int32_t i, int32_t k) {
    crossings c = {0};
    while (c.count < 3) {
        crossings_add(&c, drape_sim_time(sim), s->scene.step, test_strip_mean(s, sim, i, k));
        assert_true(drape_sim_steps(sim) < 20000);
        test_run(s->ctx, sim, 1);
    }
    return c.time[2] - c.time[0];
}

static void test_taut_string(void **state) {
    const double L = 1, strain = 0.05, k = 500, rho = 0.2; /* L before stretching */
    const int32_t n = 20;
    drape_context *ctx = *state;
    test_strip *s = test_strip_create(ctx, n, 2, L, 0.1);
    set_stiffness(s, rho, k, 100, 0);
    for (int32_t i = 0; i < s->mesh.vertices; i++) s->mesh.rest[3 * i] *= 1 + strain;
    test_strip_pin(s, 0, 0, 0, 2);
    test_strip_pin(s, n, n, 0, 2);
    s->scene.forces = (drape_forces){0};
    s->scene.step = 5e-4;
    drape_sim *sim = test_strip_sim(s);
    double *x = test_positions(sim);
    for (int32_t i = 0; i < s->mesh.vertices; i++) x[3 * i + 2] = 1e-3 * sin(PI * s->mesh.uv[2 * i] / L);
    test_set_state(ctx, sim, x, NULL);
    double want = sqrt(k * strain / (rho * (1 + strain))) / (2 * L);
    ASSERT_NEAR(want, 5.45545, 1e-5);
    assert_within("string's frequency", 1 / period(s, sim, n / 2, 2), want, 0.01);
    drape_sim_destroy(sim);
    test_strip_destroy(s);
}

/* A strip that hangs along x and swings along z from the given shape. */
static double swing(drape_context *ctx, int32_t n, double stretch, double bend, int32_t held,
                    double (*shape)(double)) {
    test_strip *s = test_strip_create(ctx, n, 1, 1, 1.0 / n);
    set_stiffness(s, 0.2, stretch, stretch / 10, bend);
    test_strip_pin(s, 0, held, 0, 1);
    s->scene.forces.gravity[0] = G, s->scene.forces.gravity[2] = 0;
    s->scene.step = 2e-3;
    drape_sim *sim = test_strip_sim(s);
    double *x = test_positions(sim);
    for (int32_t i = 0; i < s->mesh.vertices; i++) x[3 * i + 2] = 1e-3 * shape(s->mesh.uv[2 * i]);
    test_set_state(ctx, sim, x, NULL);
    double found = period(s, sim, n, 2);
    drape_sim_destroy(sim);
    test_strip_destroy(s);
    return found;
}

static const double J0_ROOT = 2.404825557695773;

/* J0 by its series. */
static double bessel_j0(double x) {
    double term = 1, sum = 1;
    for (int32_t i = 1; i < 30; i++) sum += term *= -x * x / (4.0 * i * i);
    return sum;
}

static double chain_shape(double s) { return bessel_j0(J0_ROOT * sqrt(1 - s)); }
static double flap_shape(double s) { return s; }

static void test_chain(void **state) {
    double want = 4 * PI / J0_ROOT * sqrt(1 / G);
    ASSERT_NEAR(want, 1.66837, 1e-5);
    assert_within("chain's period", swing(*state, 30, 2e4, 0, 0, chain_shape), want, 0.01);
}

static void test_flap(void **state) {
    double want = 2 * PI * sqrt(2 / (3 * G));
    ASSERT_NEAR(want, 1.63795, 1e-5);
    assert_within("flap's period", swing(*state, 10, 2e4, 1000, 0, flap_shape), want, 0.01);
}

/* ---- momentum ---- */

/* Part of the angular momentum about z that a sheet loses, spinning in its plane for a second; its linear momentum
 * must stay.
 *
 * Backward Euler that solves its equation loses omega^2 h a second. One linearised step adds more in a stiff sheet.
 * The step leaves it larger by (omega h)^2/2, which strains it, and h^2 K v has the torque h^2 omega sum x.f. With
 * moment of inertia I = rho/6 of 1 m x 1 m that is about k omega^2 h^3 / I per second. (k = 5000, omega = 2, h =
 * 0.02: 73 % in a second.) The sheet here is soft enough for the first part to be what is seen. */
static double spin_loss(drape_context *ctx, double omega, double h) {
    const double drift = 0.5;
    test_strip *s = test_strip_create(ctx, 8, 8, 1, 1);
    set_stiffness(s, 0.15, 2, 2, 0);
    s->scene.forces = (drape_forces){0};
    s->scene.step = h;
    s->scene.solve.tol = 1e-13;
    drape_sim *sim = test_strip_sim(s);
    const double *x = drape_sim_positions(sim), *v = drape_sim_velocities(sim);
    double *turning = test_velocities(sim), momentum[2], spin[2];
    const double *mass = drape_cloth_mass(drape_sim_cloth(sim));
    for (int32_t i = 0; i < s->mesh.vertices; i++) {
        turning[3 * i] = -omega * (x[3 * i + 1] - 0.5) + drift;
        turning[3 * i + 1] = omega * (x[3 * i] - 0.5);
    }
    test_set_state(ctx, sim, NULL, turning);
    for (int32_t k = 0; k < 2; k++) {
        double t = drape_sim_time(sim), cx = 0.5 + drift * t;
        momentum[k] = spin[k] = 0;
        for (int32_t i = 0; i < s->mesh.vertices; i++) {
            momentum[k] += mass[i] * v[3 * i];
            spin[k] += mass[i] * ((x[3 * i] - cx) * v[3 * i + 1] - (x[3 * i + 1] - 0.5) * v[3 * i]);
        }
        if (k == 0) test_run(ctx, sim, (int32_t)lround(1 / h));
    }
    ASSERT_NEAR(momentum[1], momentum[0], 1e-9 * momentum[0]);
    drape_sim_destroy(sim);
    test_strip_destroy(s);
    return 1 - spin[1] / spin[0];
}

static void test_angular_momentum(void **state) {
    const double omega = 0.5;
    double loss[3];
    for (int32_t i = 0; i < 3; i++) {
        double h = 0.02 / (1 << i);
        loss[i] = spin_loss(*state, omega, h);
        printf("h = %g: loses %.6g of its angular momentum in 1 s; omega^2 h = %g\n", h, loss[i], omega * omega * h);
        assert_true(loss[i] > 0);
    }
    for (int32_t i = 0; i < 2; i++) {
        printf("halving h: %.4g times less\n", loss[i] / loss[i + 1]);
        ASSERT_NEAR(loss[i] / loss[i + 1], 2, 0.4);
    }
    ASSERT_NEAR(loss[2], omega * omega * 0.005, 0.1 * loss[2]);
}

int main(void) {
    drape_context *ctx = test_context(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_free_fall, ctx),
        cmocka_unit_test_prestate(test_hanging_strip, ctx),
        cmocka_unit_test_prestate(test_taut_strip, ctx),
        cmocka_unit_test_prestate(test_catenary, ctx),
        cmocka_unit_test_prestate(test_refinement, ctx),
        cmocka_unit_test_prestate(test_refinement_with_alternating_diagonals, ctx),
        cmocka_unit_test_prestate(test_cantilever, ctx),
        cmocka_unit_test_prestate(test_damping_of_backward_euler, ctx),
        cmocka_unit_test_prestate(test_taut_string, ctx),
        cmocka_unit_test_prestate(test_chain, ctx),
        cmocka_unit_test_prestate(test_flap, ctx),
        cmocka_unit_test_prestate(test_angular_momentum, ctx),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    drape_context_destroy(ctx);
    return failed;
}
