/* A program's own forces in a simulation. Springs move cloth as the built-in ones do, Newton's method converges
 * quadratically with their Jacobian, and all other parts of a step include them. */
#include "drape/io.h"
#include "sim/sim.h"
#include "support/dense.h"
#include "support/meshes.h"
#include "support/own_springs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 11, N = 3 * SIDE * SIDE, STEPS = 12 };

/* ---- scenes ---- */

/* m/s: so wild that springs turn and stretch by a tenth and more. */
static double velocity[N];

static void make_velocity(void) {
    test_random r = {3};
    for (int32_t i = 0; i < N; i++) velocity[i] = test_random_between(&r, -0.4, 0.4);
}

/* A sheet of the model provot on two edges; its springs have this share of their stiffness. */
static drape_loaded_scene *load(drape_context *ctx, const char *method, double share, bool damped) {
    drape_loaded_scene *loaded;
    ASSERT_OK(ctx, drape_scene_builtin(ctx, "drooping", SIDE, &loaded));
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    drape_material *m = &scene->pieces[0].material;
    drape_ode_newton *newton = &scene->integration.ode.newton;
    m->stretch[0] *= share, m->stretch[1] *= share, m->shear *= share, m->bend *= share;
    if (!damped) m->damping_stretch = m->damping_shear = m->damping_bend = 0;
    scene->cloth.model = "provot";
    scene->cloth.jacobian = DRAPE_JACOBIAN_FULL;
    scene->cloth.damping_jacobian = damped ? DRAPE_DAMPING_FULL : DRAPE_DAMPING_SYMMETRIC;
    scene->step = 2e-3;
    scene->velocity = velocity;
    scene->integration.ode.method = method;
    newton->kind = DRAPE_ODE_NEWTON;
    newton->rtol = 1e-10;
    newton->atol = 1e-12;
    scene->solve.method = damped ? "bicgstab" : "auto";
    scene->solve.tol = 1e-13;
    return loaded;
}

typedef struct pair {
    drape_sim *built_in, *own;
    own_springs *springs; /* a force looks at them */
} pair;

static pair pair_create(drape_context *ctx, const char *method, bool damped) {
    pair p;
    drape_loaded_scene *loaded_full = load(ctx, method, 1, damped), *loaded_none = load(ctx, method, 0, damped);
    drape_scene *full = drape_loaded_scene_edit(loaded_full), *none = drape_loaded_scene_edit(loaded_none);
    ASSERT_OK(ctx, drape_sim_create(ctx, full, &p.built_in));
    ASSERT_OK(ctx, drape_sim_create(ctx, none, &p.own));
    p.springs = malloc(sizeof *p.springs);
    assert_non_null(p.springs);
    *p.springs = own_springs_of(p.built_in->cloth);
    drape_force force = own_springs_force(p.springs, damped);
    ASSERT_OK(ctx, drape_sim_add_force(p.own, &force));
    drape_loaded_scene_destroy(loaded_full);
    drape_loaded_scene_destroy(loaded_none);
    return p;
}

static void pair_destroy(pair *p) {
    drape_sim_destroy(p->built_in);
    drape_sim_destroy(p->own);
    own_springs_clear(p->springs);
    free(p->springs);
}

static double apart(const double *a, const double *b) {
    double most = 0;
    for (int32_t i = 0; i < N; i++) most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

/* ---- the trajectory ---- */

static void check_trajectory(const char *method, bool damped) {
    drape_context *ctx = test_context(1);
    pair p = pair_create(ctx, method, damped);
    drape_certificate a, b;
    int32_t last = drape_sim_force_count(p.own) - 1;
    for (int32_t i = 0; i < STEPS; i++) {
        ASSERT_OK(ctx, drape_sim_step(p.built_in, &a));
        ASSERT_OK(ctx, drape_sim_step(p.own, &b));
        ASSERT_NEAR(b.ode.newton_iterations, a.ode.newton_iterations, 1); /* a last one may be for rounding only */
        ASSERT_NEAR(b.energy.elastic, 0, 0);
        ASSERT_NEAR(b.energy.force[last].energy, a.energy.elastic, 1e-9 * (a.energy.elastic + a.energy.kinetic));
    }
    double off = apart(drape_sim_positions(p.own), drape_sim_positions(p.built_in));
    double moved = apart(drape_sim_positions(p.own), p.own->start);
    print_message("%s%s: %.1e m apart, moved by %.1e m, %d Newton iterations in the last step\n", method,
                  damped ? ", damped" : "", off, moved, b.ode.newton_iterations);
    assert_true(moved > 5e-3);
    ASSERT_NEAR(off, 0, 1e-10);
    assert_string_equal(drape_sim_force_name(p.own, last), "own springs");
    pair_destroy(&p);
    drape_context_destroy(ctx);
}

static void springs_move_cloth_as_the_built_in_ones(void **state) {
    (void)state;
    check_trajectory(DRAPE_LINEARISED_EULER, false);
    check_trajectory("implicit-euler", false);
    check_trajectory("implicit-midpoint", false);
    check_trajectory("bdf2", false);
    check_trajectory(DRAPE_LINEARISED_EULER, true);
    check_trajectory("implicit-euler", true);
}

/* Newton's method on M (v - v0) = h f(x0 + h v, v), written out: |correction| goes down quadratically. */
static void newton_converges_quadratically(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    const double h = 4e-3, *mass;
    for (int damped = 0; damped < 2; damped++) {
        pair p = pair_create(ctx, "implicit-euler", damped);
        drape_assembler *list = drape_sim_assembler(p.own);
        drape_matrix *matrix;
        double *x = dense_new(N), *v = dense_new(N), *f = dense_new(N), *A = dense_new((int64_t)N * N), e[12];
        const double *v0 = drape_sim_velocities(p.own);
        int32_t count = 0;
        mass = drape_cloth_mass(drape_sim_cloth(p.own));
        memcpy(v, velocity, sizeof velocity);
        ASSERT_OK(ctx, drape_assembler_matrix(list, &matrix));
        do {
            for (int32_t i = 0; i < N; i++) x[i] = p.own->start[i] + h * v[i];
            drape_assembly what = {.x = x, .v = v, .mass = 1, .damping = h, .stiffness = h * h, .force = f};
            ASSERT_OK(ctx, drape_assembler_run(list, &what, matrix));
            drape_bsr3 view = drape_matrix_view(matrix);
            dense_from_bsr3(&view, A);
            for (int32_t i = 0; i < N; i++) f[i] = h * f[i] - mass[i / 3] * (v[i] - v0[i]);
            assert_true(dense_solve(N, A, 1, f));
            for (int32_t i = 0; i < N; i++) v[i] += f[i];
            e[count] = dense_norm(N, f);
            print_message("%.2e ", e[count]);
        } while (e[count++] > 1e-12 && count < 12);
        print_message("\n");
        int32_t k = count - 1;
        while (k > 2 && e[k] < 1e-11) k--; /* the last that is not rounding */
        assert_true(count < 12 && k >= 2);
        assert_true(log(e[k] / e[k - 1]) / log(e[k - 1] / e[k - 2]) > 1.7);
        drape_matrix_destroy(matrix);
        free(x), free(v), free(f), free(A);
        pair_destroy(&p);
    }
    drape_context_destroy(ctx);
}

/* ---- functions over all positions ---- */

/* Pulls every vertex sideways with a force that depends on time. */
static double pull_at(double t) { return 0.02 * (1 + sin(40 * t)); }

static void pull(void *user, const drape_force_point *at, drape_vertex_force *out) {
    double factor = *(const double *)user;
    for (int32_t i = 0; i < at->vertices; i++) out->force[3 * i] += factor * pull_at(at->time);
}

/* The momentum of free cloth is the sum of what acted at the ends of the steps: backward Euler, linearised or not. */
static void forces_know_the_time(void **state) {
    (void)state;
    static const char *const methods[] = {DRAPE_LINEARISED_EULER, "implicit-euler"};
    drape_context *ctx = test_context(1);
    for (int m = 0; m < 2; m++) {
        drape_loaded_scene *loaded = load(ctx, methods[m], 1, false);
        drape_scene *scene = drape_loaded_scene_edit(loaded);
        drape_sim *sim;
        double one = 1, want = 0, got = 0;
        scene->pin_count = 0;
        scene->velocity = NULL;
        ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
        ASSERT_OK(ctx, drape_sim_add_force(sim, &(drape_force){.name = "pull", .user = &one, .all = pull}));
        for (int32_t i = 1; i <= STEPS; i++) {
            ASSERT_OK(ctx, drape_sim_step(sim, NULL));
            want += SIDE * SIDE * scene->step * pull_at(i * scene->step);
        }
        for (int32_t i = 0; i < SIDE * SIDE; i++)
            got += drape_cloth_mass(drape_sim_cloth(sim))[i] * drape_sim_velocities(sim)[3 * i];
        ASSERT_NEAR(got / want, 1, 1e-10);
        drape_sim_destroy(sim);
        drape_loaded_scene_destroy(loaded);
    }
    drape_context_destroy(ctx);
}

/* ---- adding between steps ---- */

/* A force of zero in a simulation under way leaves every bit where steps have no memory, also with a consistent mass
 * matrix; multistep methods restart. */
static void check_added_on_the_way(const char *method, drape_mass_matrix mass, bool elements) {
    drape_context *ctx = test_context(1);
    drape_loaded_scene *loaded = load(ctx, method, 1, false);
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    scene->integration.mass = mass;
    drape_sim *plain, *other;
    own_springs springs;
    double none = 0;
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &plain));
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &other));
    springs = own_springs_of(plain->cloth);
    for (int32_t i = 0; i < springs.count; i++) springs.stiffness[i] = 0;
    for (int32_t i = 0; i < springs.count; i++) springs.ends[2 * i + 1] = (springs.ends[2 * i] + 40) % (SIDE * SIDE);
    drape_force force = own_springs_force(&springs, false);
    if (!elements) force = (drape_force){.name = "zero", .user = &none, .all = pull};
    for (int32_t i = 0; i < STEPS; i++) {
        if (i == STEPS / 2) ASSERT_OK(ctx, drape_sim_add_force(other, &force));
        ASSERT_OK(ctx, drape_sim_step(plain, NULL));
        ASSERT_OK(ctx, drape_sim_step(other, NULL));
    }
    double off = apart(drape_sim_positions(plain), drape_sim_positions(other));
    print_message("%s, %s mass, %s: %.1e m apart\n", method, mass ? "consistent" : "lumped",
                  elements ? "elements" : "all", off);
    bool multistep = strcmp(method, "bdf2") == 0;
    if (multistep) assert_true(off > 1e-12); /* it restarted */
    else ASSERT_NEAR(off, 0, elements ? 1e-11 : 0);
    drape_sim_destroy(plain);
    drape_sim_destroy(other);
    own_springs_clear(&springs);
    drape_loaded_scene_destroy(loaded);
    drape_context_destroy(ctx);
}

static void forces_may_be_added_on_the_way(void **state) {
    (void)state;
    check_added_on_the_way(DRAPE_LINEARISED_EULER, DRAPE_MASS_LUMPED, false);
    check_added_on_the_way(DRAPE_LINEARISED_EULER, DRAPE_MASS_LUMPED, true);
    check_added_on_the_way(DRAPE_LINEARISED_EULER, DRAPE_MASS_CONSISTENT, true);
    check_added_on_the_way("implicit-euler", DRAPE_MASS_CONSISTENT, true);
    check_added_on_the_way("bdf2", DRAPE_MASS_LUMPED, true);
}

/* ---- the line search ---- */

/* A floor below the cloth: energy -mu log(z - z0) of each vertex; not a number below it. */
typedef struct barrier {
    double floor, mu; /* m, J */
} barrier;

static void barrier_force(void *user, const drape_force_point *at, drape_vertex_force *out) {
    const barrier *b = user;
    for (int32_t i = 0; i < at->vertices; i++) {
        double above = at->x[3 * i + 2] - b->floor;
        out->force[3 * i + 2] += above > 0 ? b->mu / above : NAN;
        if (out->stiffness) out->stiffness[9 * i + 8] += b->mu / (above * above);
    }
}

static double barrier_energy(void *user, const drape_force_point *at) {
    const barrier *b = user;
    double sum = 0;
    for (int32_t i = 0; i < at->vertices; i++) sum -= b->mu * log(at->x[3 * i + 2] - b->floor);
    return sum;
}

/* Free cloth just above the floor, and a step in which it would fall through: corrections are cut until they do not
 * take it there. With the energy the search goes by it, without by slope. */
static void check_barrier(bool with_energy) {
    drape_context *ctx = test_context(1);
    drape_loaded_scene *loaded = load(ctx, "implicit-euler", 1, false);
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    drape_sim *sim;
    drape_certificate c;
    double lowest = INFINITY;
    barrier b = {.floor = scene->pieces[0].rest[2] - 5e-4, .mu = 1e-9};
    scene->pin_count = 0;
    scene->velocity = NULL;
    scene->step = 0.01; /* falls by 9.8e-4 m in it */
    drape_force force = {.name = "floor", .user = &b, .all = barrier_force};
    if (with_energy) force.all_energy = barrier_energy;
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
    ASSERT_OK(ctx, drape_sim_add_force(sim, &force));
    ASSERT_OK(ctx, drape_sim_step(sim, &c));
    for (int32_t k = 2; k < N; k += 3) lowest = fmin(lowest, drape_sim_positions(sim)[k] - b.floor);
    int64_t potentials = drape_ode_count(sim->integrator->ode).potentials;
    print_message("lowest %.1e m above the floor, %d cuts, %ld potentials\n", lowest, c.ode.cuts, (long)potentials);
    assert_true(lowest > 0 && lowest < 1e-4);
    assert_true(c.ode.cuts > 0);
    assert_true(with_energy ? potentials > 0 : potentials == 0);
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
    drape_context_destroy(ctx);
}

static void line_search_stops_before_a_barrier(void **state) {
    (void)state;
    check_barrier(true);
    check_barrier(false);
}

/* ---- numbers that are not finite ---- */

static void broken(void *user, const drape_force_point *at, int32_t element, const int32_t *node,
                   drape_element_force *out) {
    double from = *(const double *)user;
    (void)node;
    if (element == 4 && at->time > from) out->force[0][0] = NAN;
}

static void a_broken_force_is_named(void **state) {
    (void)state;
    static const char *const methods[] = {DRAPE_LINEARISED_EULER, "implicit-euler", "bdf2", "dormand-prince"};
    drape_context *ctx = test_context(1);
    for (int m = 0; m < 4; m++) {
        drape_loaded_scene *loaded = load(ctx, methods[m], 1, false);
        drape_scene *scene = drape_loaded_scene_edit(loaded);
        drape_sim *sim;
        double from = 2.5e-4, x[N], v[N];
        int32_t nodes[] = {0, 1, 2, 3, 4, 5};
        scene->step = 1e-4;
        ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
        ASSERT_OK(ctx, drape_sim_add_force(
                           sim, &(drape_force){
                                    .name = "broken", .user = &from, .elements = {1, 6, nodes}, .element = broken}));
        for (int32_t i = 0; i < 2; i++) ASSERT_OK(ctx, drape_sim_step(sim, NULL));
        memcpy(x, drape_sim_positions(sim), sizeof x);
        memcpy(v, drape_sim_velocities(sim), sizeof v);
        assert_int_equal(drape_sim_step(sim, NULL), DRAPE_ERROR_NUMBER);
        print_message("%s: %s\n", methods[m], drape_message(ctx));
        assert_non_null(
            strstr(drape_message(ctx), "the force \"broken\" returns a number that is not finite at element 4"));
        assert_memory_equal(x, drape_sim_positions(sim), sizeof x);
        assert_memory_equal(v, drape_sim_velocities(sim), sizeof v);
        assert_int_equal(drape_sim_steps(sim), 2);
        from = 1; /* mended */
        ASSERT_OK(ctx, drape_sim_step(sim, NULL));
        drape_sim_destroy(sim);
        drape_loaded_scene_destroy(loaded);
    }
    drape_context_destroy(ctx);
}

/* ---- checkpoints ---- */

static void checkpoints_fit_the_same_forces(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    char path[] = "/tmp/drape_own_forces_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    pair p = pair_create(ctx, "implicit-euler", false), q = pair_create(ctx, "implicit-euler", false);
    ASSERT_OK(ctx, drape_sim_step(p.own, NULL));
    ASSERT_OK(ctx, drape_sim_save(p.own, path));
    ASSERT_OK(ctx, drape_sim_restore(q.own, path));
    for (int32_t i = 0; i < 3; i++) {
        ASSERT_OK(ctx, drape_sim_step(p.own, NULL));
        ASSERT_OK(ctx, drape_sim_step(q.own, NULL));
    }
    assert_memory_equal(drape_sim_positions(p.own), drape_sim_positions(q.own), N * sizeof(double));
    drape_loaded_scene *loaded = load(ctx, "implicit-euler", 0, false);
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    drape_sim *without;
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &without));
    assert_int_equal(drape_sim_restore(without, path), DRAPE_ERROR_FORMAT);
    drape_sim_destroy(without);
    drape_loaded_scene_destroy(loaded);
    pair_destroy(&p), pair_destroy(&q);
    remove(path);
    drape_context_destroy(ctx);
}

static void null_arguments(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    pair p = pair_create(ctx, "bdf2", false);
    double energy;
    assert_int_equal(drape_sim_add_force(NULL, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_sim_add_force(p.own, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_sim_set_forces(p.own, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_sim_set_forces(NULL, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_sim_force_energy(p.own, 6, &energy), DRAPE_ERROR_ARGUMENT);
    ASSERT_OK(ctx, drape_sim_force_energy(p.own, 5, &energy));
    assert_null(drape_sim_force_name(p.own, 6));
    assert_null(drape_sim_assembler(NULL));
    assert_int_equal(drape_sim_force_count(NULL), 0);
    pair_destroy(&p);
    drape_context_destroy(ctx);
}

int main(void) {
    make_velocity();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(springs_move_cloth_as_the_built_in_ones),
        cmocka_unit_test(newton_converges_quadratically),
        cmocka_unit_test(forces_know_the_time),
        cmocka_unit_test(forces_may_be_added_on_the_way),
        cmocka_unit_test(line_search_stops_before_a_barrier),
        cmocka_unit_test(a_broken_force_is_named),
        cmocka_unit_test(checkpoints_fit_the_same_forces),
        cmocka_unit_test(null_arguments),
    };
    return cmocka_run_group_tests_name("sim.own_forces", tests, NULL, NULL);
}
