/* What the unsymmetric part of the damping's Jacobian is good for. The linearised step (src/sim/step.c), with and
 * without it, is compared with the step of backward Euler, M (v1 - v0) = h f(x0 + h v1, v1). That is solved by
 * Newton's method with the exact Jacobian. docs/notes/validation.md has the tables.
 *
 * The cloth is a square of cotton, held at one edge and let go horizontally, on its way down at up to 3.4 m/s. */
#include "drape/io.h"
#include "support/dense.h"
#include "support/testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 17, VERTICES = SIDE * SIDE, N = 3 * VERTICES, STEPS = 50 };

/* Jacobians: psd without and with the part in question, and the exact one, which Newton's method wants. */
typedef enum kind { WITHOUT, WITH, EXACT, KINDS } kind;

typedef struct rig {
    drape_context *ctx;
    drape_loaded_scene *loaded;
    drape_scene *scene;
    drape_cloth *cloth[KINDS];
    drape_assembler *forces[KINDS];
    drape_matrix *A[KINDS];
    bool held[N];
    double x[N], v[N]; /* on its way down */
    int32_t band;      /* no entry of A is farther from the diagonal */
    double *dense;     /* N x N */
    double f[N], Kv[N];
} rig;

/* ---- solving ---- */

static void swap(double *a, double *b) {
    double t = *a;
    *a = *b, *b = t;
}

/* b becomes x with A x = b, by elimination with pivots within the band; destroys A. */
static void solve_band(int32_t n, int32_t band, double *A, double *b) {
    for (int32_t i = 0; i < n; i++) {
        int32_t last = i + band < n ? i + band : n - 1, end = i + 2 * band < n ? i + 2 * band : n - 1, pivot = i;
        for (int32_t r = i + 1; r <= last; r++)
            if (fabs(A[r * n + i]) > fabs(A[pivot * n + i])) pivot = r;
        for (int32_t k = i; k <= end; k++) swap(&A[i * n + k], &A[pivot * n + k]);
        swap(&b[i], &b[pivot]);
        assert_true(A[i * n + i] != 0);
        for (int32_t r = i + 1; r <= last; r++) {
            double factor = A[r * n + i] / A[i * n + i];
            b[r] -= factor * b[i];
            for (int32_t k = i; k <= end; k++) A[r * n + k] -= factor * A[i * n + k];
        }
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        for (int32_t k = i + 1; k < n && k <= i + 2 * band; k++) b[i] -= A[i * n + k] * b[k];
        b[i] /= A[i * n + i];
    }
}

/* b becomes dv with A dv = b, and dv = 0 where the cloth is held. */
static void solve(rig *r, kind which, double *b) {
    drape_bsr3 A = drape_matrix_view(r->A[which]);
    dense_from_bsr3(&A, r->dense);
    for (int64_t i = 0; i < N; i++) {
        if (!r->held[i]) continue;
        memset(r->dense + N * i, 0, N * sizeof *r->dense);
        r->dense[N * i + i] = 1;
        b[i] = 0;
    }
    solve_band(N, r->band, r->dense, b);
}

/* ---- steps: v, at first a velocity or a guess, becomes v1 ---- */

static void assemble(rig *r, kind which, double h, const double *x, const double *v) {
    drape_assembly what = {
        .x = x, .v = v, .mass = 1, .damping = h, .stiffness = h * h, .force = r->f, .stiff_v = r->Kv};
    ASSERT_OK(r->ctx, drape_assembler_run(r->forces[which], &what, r->A[which]));
}

static void linearised(rig *r, kind which, double h, const double *x, double *v) {
    double b[N];
    assemble(r, which, h, x, v);
    for (int32_t i = 0; i < N; i++) b[i] = h * (r->f[i] - h * r->Kv[i]);
    solve(r, which, b);
    for (int32_t i = 0; i < N; i++) v[i] += b[i];
}

/* out = h f(x0 + h v, v) - M (v - v0), and its norm; A is there afterwards. */
static double residual(rig *r, double h, const double *x0, const double *v0, const double *v, double *out) {
    double x[N];
    const double *mass = drape_cloth_mass(r->cloth[EXACT]);
    for (int32_t i = 0; i < N; i++) x[i] = x0[i] + h * v[i];
    assemble(r, EXACT, h, x, v);
    for (int32_t i = 0; i < N; i++) out[i] = r->held[i] ? 0 : h * r->f[i] - mass[i / 3] * (v[i] - v0[i]);
    return dense_norm(N, out);
}

/* Newton's method, a step halved while the residual does not fall. */
static void backward_euler(rig *r, double h, const double *x0, const double *v0, double *v) {
    const double small = 1e-9 * h * 9.81 * dense_norm(VERTICES, drape_cloth_mass(r->cloth[EXACT]));
    double b[N], dv[N], guess[N], now = residual(r, h, x0, v0, v, b), next = now;
    for (int32_t iteration = 0; now > small; iteration++, now = next) {
        assert_true(iteration < 50);
        memcpy(dv, b, sizeof dv);
        memcpy(guess, v, sizeof guess);
        solve(r, EXACT, dv);
        for (double part = 1; part > 1e-3; part /= 2) {
            for (int32_t i = 0; i < N; i++) v[i] = guess[i] + part * dv[i];
            next = residual(r, h, x0, v0, v, b);
            if (next < now) break;
        }
    }
}

/* ---- the cloth ---- */

static int32_t find_band(const drape_bsr3 *A) {
    int32_t band = 0;
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
            if (3 * abs(A->col[k] - i) + 2 > band) band = 3 * abs(A->col[k] - i) + 2;
    return band;
}

/* Moves x and v on by `time` with the simulator. */
static void simulate(const rig *r, double step, double time, double *x, double *v) {
    const size_t bytes = N * sizeof(double);
    drape_sim *sim;
    r->scene->step = step;
    r->scene->solve.tol = 1e-8;
    ASSERT_OK(r->ctx, drape_sim_create(r->ctx, r->scene, &sim));
    ASSERT_OK(r->ctx, drape_sim_set_state(sim, x, v));
    while (drape_sim_time(sim) < time - step / 2) ASSERT_OK(r->ctx, drape_sim_step(sim, NULL));
    memcpy(x, drape_sim_positions(sim), bytes);
    memcpy(v, drape_sim_velocities(sim), bytes);
    drape_sim_destroy(sim);
}

static void read_scene(rig *r, double damping) {
    char text[400];
    snprintf(text, sizeof text,
             "drape: 1\ncloth: [{grid: {width: 1 m, resolution: %d}, material: {fabric: cotton, damping: %g s}, "
             "pins: [{where: left-edge}]}]\n",
             SIDE, damping);
    ASSERT_OK(r->ctx, drape_scene_parse(r->ctx, "flap", text, (int64_t)strlen(text), NULL, &r->loaded));
    r->scene = drape_loaded_scene_edit(r->loaded);
    const drape_pin *pin = r->scene->pins;
    for (int32_t i = 0; i < 3 * pin->count; i++) r->held[3 * pin->vertices[i / 3] + i % 3] = true;
}

static rig *rig_create(drape_context *ctx, double damping) {
    rig *r = calloc(1, sizeof *r);
    assert_non_null(r);
    r->ctx = ctx;
    r->dense = dense_new((int64_t)N * N);
    read_scene(r, damping);
    for (int k = 0; k < KINDS; k++) {
        drape_cloth_settings settings = drape_cloth_defaults();
        settings.jacobian = k == EXACT ? DRAPE_JACOBIAN_FULL : DRAPE_JACOBIAN_PSD;
        settings.damping_jacobian = k == WITHOUT ? DRAPE_DAMPING_SYMMETRIC : DRAPE_DAMPING_FULL;
        ASSERT_OK(ctx, drape_cloth_create(ctx, r->scene->pieces, 1, &settings, &r->cloth[k]));
        ASSERT_OK(ctx, drape_assembler_create(r->cloth[k], NULL, &r->forces[k]));
        ASSERT_OK(ctx, drape_assembler_matrix(r->forces[k], &r->A[k]));
    }
    drape_bsr3 A = drape_matrix_view(r->A[0]);
    r->band = find_band(&A);
    memcpy(r->x, r->scene->pieces[0].rest, sizeof r->x);
    simulate(r, 1e-4, 0.35, r->x, r->v);
    return r;
}

static void rig_destroy(rig *r) {
    for (int k = 0; k < KINDS; k++) {
        drape_matrix_destroy(r->A[k]);
        drape_assembler_destroy(r->forces[k]);
        drape_cloth_destroy(r->cloth[k]);
    }
    drape_loaded_scene_destroy(r->loaded);
    free(r->dense);
    free(r);
}

/* ---- one step ---- */

/* |v - want| / |want - v0| */
static double step_error(const rig *r, const double *v, const double *want) {
    double change[N], off[N];
    for (int32_t i = 0; i < N; i++) change[i] = want[i] - r->v[i], off[i] = v[i] - want[i];
    return dense_norm(N, off) / dense_norm(N, change);
}

static void one_step(rig *r, double h, double error[2]) {
    double v[2][N], want[N];
    for (int k = 0; k < 2; k++) {
        memcpy(v[k], r->v, sizeof v[k]);
        linearised(r, (kind)k, h, r->x, v[k]);
    }
    memcpy(want, v[WITH], sizeof want);
    backward_euler(r, h, r->x, r->v, want);
    for (int k = 0; k < 2; k++) error[k] = step_error(r, v[k], want);
}

/* The step is nearer with the part than without. It is much nearer if the damping time is not small against the step,
 * and the step short enough to be linearised. That is 2 ms, in which a vertex moves up to a ninth of an edge. */
static void test_one_step(void **state) {
    const double damping[] = {2e-4, 1e-3, 3e-3, 1e-2}, steps[] = {1e-3, 2e-3, 5e-3, 1e-2, 2e-2};
    for (size_t i = 0; i < sizeof damping / sizeof *damping; i++) {
        rig *r = rig_create(*state, damping[i]);
        for (size_t j = 0; j < sizeof steps / sizeof *steps; j++) {
            double error[2];
            one_step(r, steps[j], error);
            printf("damping %4.1f ms, step %2.0f ms: dv off by %5.1f %% without, %5.1f %% with\n", 1e3 * damping[i],
                   1e3 * steps[j], 100 * error[WITHOUT], 100 * error[WITH]);
            assert_true(error[WITH] < error[WITHOUT]);
            if (damping[i] >= steps[j] && steps[j] <= 2e-3) assert_true(error[WITH] < 0.4 * error[WITHOUT]);
        }
        rig_destroy(r);
    }
}

/* ---- fifty steps ---- */

/* Root mean square distance, mm. */
static double distance(const double *a, const double *b) {
    double d[N];
    for (int32_t i = 0; i < N; i++) d[i] = a[i] - b[i];
    return 1e3 * dense_norm(N, d) / sqrt(VERTICES);
}

/* x: where STEPS steps of one kind lead, EXACT being those of backward Euler. */
static void run(rig *r, kind which, double h, double *x) {
    double v[N], v0[N];
    memcpy(x, r->x, sizeof r->x);
    memcpy(v, r->v, sizeof v);
    for (int32_t s = 0; s < STEPS; s++) {
        memcpy(v0, v, sizeof v0);
        linearised(r, which == EXACT ? WITH : which, h, x, v);
        if (which == EXACT) backward_euler(r, h, x, v0, v);
        for (int32_t i = 0; i < N; i++) x[i] += h * v[i];
    }
}

static void fifty_steps(rig *r, double h, double off[2]) {
    double x[KINDS][N], fine[N], v[N];
    for (int k = 0; k < KINDS; k++) run(r, (kind)k, h, x[k]);
    memcpy(fine, r->x, sizeof fine);
    memcpy(v, r->v, sizeof v);
    simulate(r, h / 50, STEPS * h, fine, v);
    for (int k = 0; k < 2; k++) off[k] = distance(x[k], x[EXACT]);
    printf("step %2.0f ms: from backward Euler %8.3f mm without, %8.3f mm with; from small steps %8.3f, %8.3f, "
           "backward Euler %8.3f mm\n",
           1e3 * h, off[WITHOUT], off[WITH], distance(x[WITHOUT], fine), distance(x[WITH], fine),
           distance(x[EXACT], fine));
}

static void test_fifty_steps(void **state) {
    const double damping[] = {2e-4, 1e-3, 1e-2}, steps[] = {1e-3, 2e-3, 5e-3};
    for (size_t i = 0; i < sizeof damping / sizeof *damping; i++) {
        rig *r = rig_create(*state, damping[i]);
        for (size_t j = 0; j < sizeof steps / sizeof *steps; j++) {
            double off[2];
            printf("damping %4.1f ms, ", 1e3 * damping[i]);
            fifty_steps(r, steps[j], off);
            assert_true(off[WITH] < off[WITHOUT]);
            if (damping[i] >= steps[j]) assert_true(off[WITH] < 0.7 * off[WITHOUT]);
            if (damping[i] >= 10 * steps[j]) assert_true(off[WITH] < 0.2 * off[WITHOUT]);
        }
        rig_destroy(r);
    }
}

int main(void) {
    drape_context *ctx = test_context(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_one_step, ctx),
        cmocka_unit_test_prestate(test_fifty_steps, ctx),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    drape_context_destroy(ctx);
    return failed;
}
