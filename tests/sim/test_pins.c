/* Pins that follow poses and frames, pins that are springs, and cloth that starts elsewhere than at rest. */
#include "support/strips.h"
#include "support/testing.h"

#include "sim/sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double TOLERANCE = 1e-12; /* m */

static void assert_at(const drape_sim *sim, int32_t vertex, const double want[3], double tolerance) {
    const double *x = drape_sim_positions(sim) + 3 * (int64_t)vertex;
    for (int32_t k = 0; k < 3; k++) ASSERT_NEAR(x[k], want[k], tolerance);
}

/* Moved, turned by a quarter and made twice as wide: at the key, half way and after it. */
static void poses_lead_exactly(void **state) {
    test_strip *s = test_strip_create(*state, 2, 1, 1, 1);
    const double quarter = 1.57079632679489661923;
    const drape_motion_pose poses[2] = {
        {.time = 0, .scale = {1, 1, 1}},
        {.time = 0.2, .offset = {0, 0, 0.3}, .rotation = {0, 0, quarter}, .scale = {2, 1, 1}}};
    const drape_motion_path path = {.poses = 2, .pose = poses, .centre = {0.5, 0.5, 0}};
    drape_pin *pin = test_strip_pin(s, 0, 2, 0, 1);
    pin->motion.kind = DRAPE_MOTION_POSES;
    pin->motion.path = &path;
    s->scene.step = 0.05;
    drape_sim *sim = test_strip_sim(s);
    for (int32_t i = 1; i <= 6; i++) {
        double share = fmin(i * 0.05 / 0.2, 1), a = share * quarter, wide = 1 + share;
        test_run(*state, sim, 1);
        for (int32_t v = 0; v < s->mesh.vertices; v++) {
            const double *p = s->mesh.rest + 3 * (int64_t)v;
            double x = wide * (p[0] - 0.5), y = p[1] - 0.5;
            const double want[3] = {0.5 + cos(a) * x - sin(a) * y, 0.5 + sin(a) * x + cos(a) * y, 0.3 * share};
            assert_at(sim, v, want, TOLERANCE);
        }
    }
    drape_sim_destroy(sim);
    test_strip_destroy(s);
}

/* A pin that takes hold in the middle of its poses moves its vertices from where they are. */
static void poses_that_begin_later_do_not_jump(void **state) {
    test_strip *s = test_strip_create(*state, 2, 1, 1, 1);
    const drape_motion_pose poses[2] = {{.time = 0, .scale = {1, 1, 1}},
                                        {.time = 0.4, .rotation = {0, 1, 1}, .scale = {1.5, 1, 0.5}}};
    const drape_motion_path path = {.poses = 2, .pose = poses, .centre = {0.5, 0.5, 0.1}};
    drape_pin *pin = test_strip_pin(s, 0, 0, 0, 1);
    pin->motion.kind = DRAPE_MOTION_POSES;
    pin->motion.path = &path;
    pin->from = 0.1;
    s->scene.step = 0.01;
    drape_sim *sim = test_strip_sim(s);
    double before[3], *x;
    test_run(*state, sim, 10);
    memcpy(before, drape_sim_positions(sim), sizeof before);
    test_run(*state, sim, 1);
    for (int32_t k = 0; k < 3; k++) assert_true(fabs(drape_sim_positions(sim)[k] - before[k]) < 0.05);
    test_run(*state, sim, 40);
    x = test_positions(sim); /* at the last pose, where it stays */
    test_run(*state, sim, 5);
    assert_at(sim, 0, x, TOLERANCE);
    free(x);
    drape_sim_destroy(sim);
    test_strip_destroy(s);
}

static void frames_lead_exactly(void **state) {
    test_strip *s = test_strip_create(*state, 1, 1, 1, 1);
    const double time[3] = {0, 0.1, 0.15};
    const double frame[3][2][3] = {
        {{0, 0, 0}, {0, 1, 0}}, {{0.1, 0, 0.2}, {0, 1.1, 0}}, {{0.3, -0.1, 0.2}, {0.2, 1, 0.1}}};
    drape_motion_path path = {.frames = 3, .frame_time = time, .frame = frame[0][0]};
    for (int32_t keep = 0; keep < 2; keep++) {
        drape_pin *pin = &s->pins[0];
        if (keep == 0) pin = test_strip_pin(s, 0, 0, 0, 1);
        path.keep_offset = keep;
        pin->motion.kind = DRAPE_MOTION_FRAMES;
        pin->motion.path = &path;
        double shift = keep ? 0.5 : 0; /* where it starts */
        for (int32_t i = 0; i < 2 && keep; i++) s->mesh.rest[3 * (int64_t)pin->vertices[i] + 2] = shift;
        s->scene.step = 0.025;
        drape_sim *sim = test_strip_sim(s);
        for (int32_t i = 1; i <= 8; i++) {
            double t = 0.025 * i;
            int32_t f = t < 0.1 - 1e-9 ? 0 : 1;
            double share = fmin((t - time[f]) / (time[f + 1] - time[f]), 1);
            test_run(*state, sim, 1);
            for (int32_t v = 0; v < 2; v++) {
                double want[3];
                for (int32_t k = 0; k < 3; k++)
                    want[k] = frame[f][v][k] + share * (frame[f + 1][v][k] - frame[f][v][k]) + (k == 2 ? shift : 0);
                assert_at(sim, pin->vertices[v], want, TOLERANCE);
            }
        }
        drape_sim_destroy(sim);
    }
    test_strip_destroy(s);
}

/* A stiff sheet on four springs sinks by its weight over their stiffness. */
static void springs_carry_the_weight(void **state) {
    test_strip *s = test_strip_create(*state, 2, 2, 0.2, 0.2);
    const double k = 40;
    drape_pin *pin = test_strip_pin(s, 0, 2, 0, 2);
    double mass = 0;
    pin->stiffness = k;
    s->scene.forces.air_drag = 2;
    drape_sim *sim = test_strip_sim(s);
    for (int32_t v = 0; v < s->mesh.vertices; v++) mass += drape_cloth_mass(drape_sim_cloth(sim))[v];
    test_run_to_rest(*state, sim, 1e-12, 20000);
    double sunk = 0;
    for (int32_t v = 0; v < s->mesh.vertices; v++) sunk -= k * drape_sim_positions(sim)[3 * (int64_t)v + 2];
    ASSERT_NEAR(sunk, 9.81 * mass, 1e-6 * mass);
    assert_string_equal(drape_sim_force_name(sim, 5), "soft_pins");
    double energy, want = 0;
    ASSERT_OK(*state, drape_sim_force_energy(sim, 5, &energy));
    for (int32_t v = 0; v < s->mesh.vertices; v++)
        for (int32_t i = 0; i < 3; i++) {
            double d = drape_sim_positions(sim)[3 * (int64_t)v + i] - s->mesh.rest[3 * (int64_t)v + i];
            want += 0.5 * k * d * d;
        }
    ASSERT_NEAR(energy, want, 1e-9 * want);
    drape_sim_destroy(sim);
    test_strip_destroy(s);
}

/* A spring in one direction leaves the others free: the sheet falls as it would without, and is drawn along x. */
static void springs_act_in_their_directions(void **state) {
    test_strip *s = test_strip_create(*state, 1, 1, 0.2, 0.2);
    drape_pin *pin = test_strip_pin(s, 0, 1, 0, 1);
    pin->stiffness = 100;
    pin->directions = 1;
    pin->direction[0][0] = 3;
    pin->motion.kind = DRAPE_MOTION_LINEAR;
    pin->motion.velocity[0] = 1;
    s->scene.step = 1e-3;
    drape_sim *sim = test_strip_sim(s), *free_sim;
    pin->count = 0;
    free_sim = test_strip_sim(s);
    test_run(*state, sim, 50), test_run(*state, free_sim, 50);
    ASSERT_NEAR(drape_sim_positions(sim)[2], drape_sim_positions(free_sim)[2], 1e-9);
    assert_true(drape_sim_positions(sim)[0] > 0.01);
    assert_true(fabs(drape_sim_positions(free_sim)[0]) < 1e-9);
    drape_sim_destroy(sim), drape_sim_destroy(free_sim);
    test_strip_destroy(s);
}

/* The implicit midpoint rule keeps energy; what moves the ends of the springs must account for all of the rest. Also
 * where a spring lets go with energy in it. */
static void energy_of_springs_is_balanced(void **state) {
    test_strip *s = test_strip_create(*state, 2, 1, 0.2, 0.1);
    drape_pin *pin = test_strip_pin(s, 0, 0, 0, 1);
    drape_certificate c = {0};
    pin->stiffness = 30;
    pin->until = 0.3;
    pin->motion = (drape_motion){.kind = DRAPE_MOTION_SINE, .amplitude = {0, 0, 0.1}, .frequency = 2};
    s->scene.step = 1e-3;
    s->scene.integration.ode.method = "implicit-midpoint";
    s->scene.integration.ode.newton.rtol = s->scene.integration.ode.newton.atol = 1e-12;
    drape_sim *sim = test_strip_sim(s);
    for (int32_t i = 0; i < 400; i++) ASSERT_OK(*state, drape_sim_step(sim, &c));
    assert_true(fabs(c.energy.pins) > 1e-3);
    ASSERT_NEAR(c.energy.integrator, 0, 5e-3 * fabs(c.energy.pins));
    drape_sim_destroy(sim);
    test_strip_destroy(s);
}

/* The matrix is the exact Jacobian: one Newton step solves a cloth without stiffness of its own. */
static void springs_have_their_jacobian(void **state) {
    test_strip *s = test_strip_create(*state, 1, 1, 1, 1);
    drape_pin *pin = test_strip_pin(s, 0, 1, 0, 1);
    pin->stiffness = 7;
    pin->directions = 2;
    memcpy(pin->direction, (double[3][3]){{1, 0, 1}, {0, 1, 1}, {0}}, sizeof pin->direction);
    drape_sim *sim = test_strip_sim(s);
    test_run(*state, sim, 1); /* now it holds */
    drape_assembler *list = drape_sim_assembler(sim);
    drape_matrix *A, *B;
    double zero[12] = {0}, x[12], f[2][12];
    ASSERT_OK(*state, drape_assembler_matrix(list, &A));
    memcpy(x, drape_sim_positions(sim), sizeof x);
    ASSERT_OK(*state,
              drape_assembler_run(list, &(drape_assembly){.x = x, .v = zero, .stiffness = 1, .force = f[0]}, A));
    sim->holding[0] = false;
    ASSERT_OK(*state, drape_assembler_matrix(list, &B));
    ASSERT_OK(*state,
              drape_assembler_run(list, &(drape_assembly){.x = x, .v = zero, .stiffness = 1, .force = f[1]}, B));
    /* P = I - n n' with n = (1, 1, -1)/sqrt(3), at right angles to both */
    drape_bsr3 a = drape_matrix_view(A), b = drape_matrix_view(B);
    for (int32_t k = 0; k < 9; k++) {
        double n[3] = {1, 1, -1}, P = (k % 4 == 0) - n[k / 3] * n[k % 3] / 3;
        ASSERT_NEAR(a.val[9 * a.rowptr[0] + k] - b.val[9 * b.rowptr[0] + k], 7 * P, 1e-9);
    }
    drape_matrix_destroy(A), drape_matrix_destroy(B);
    drape_sim_destroy(sim);
    test_strip_destroy(s);
}

/* Positions at the start are given; lengths at rest stay those of the pieces. */
static void cloth_starts_where_it_is_put(void **state) {
    test_strip *s = test_strip_create(*state, 2, 1, 1, 0.5);
    double start[18];
    memset(s->scene.forces.gravity, 0, sizeof s->scene.forces.gravity);
    for (int32_t i = 0; i < 18; i++) start[i] = s->mesh.rest[i] * (i % 3 == 0 ? 1.1 : 1) + (i % 3 == 2 ? 4 : 0);
    s->scene.start = start;
    drape_sim *sim = test_strip_sim(s);
    assert_memory_equal(drape_sim_positions(sim), start, sizeof start);
    ASSERT_NEAR(drape_cloth_stretch(drape_sim_cloth(sim), drape_sim_positions(sim)), 1.1, 1e-9);
    test_run(*state, sim, 1);
    assert_true(drape_sim_positions(sim)[0] > start[0]); /* it draws together */
    drape_sim_destroy(sim);
    start[4] = NAN;
    assert_int_equal(drape_sim_create(*state, &s->scene, &sim), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(*state), "position at the start of vertex 1 is nan"));
    test_strip_destroy(s);
}

static void bad_pins_are_refused(void **state) {
    test_strip *s = test_strip_create(*state, 1, 1, 1, 1);
    drape_pin *pin = test_strip_pin(s, 0, 0, 0, 0);
    const drape_motion_pose flat = {.scale = {1, 0, 1}}, wrong = {.scale = {1, NAN, 1}};
    const double times[2] = {1, 1}, frames[6] = {0};
    const struct {
        drape_motion_kind kind;
        drape_motion_path path;
        const char *message;
    } cases[] = {{DRAPE_MOTION_POSES, {0}, "without a pose"},
                 {DRAPE_MOTION_POSES, {.poses = 1, .pose = &flat}, "the scale of pose 0 is 0"},
                 {DRAPE_MOTION_POSES, {.poses = 1, .pose = &wrong}, "not finite"},
                 {DRAPE_MOTION_FRAMES, {.frames = 1}, "without a frame"},
                 {DRAPE_MOTION_FRAMES,
                  {.frames = 2, .frame_time = times, .frame = frames},
                  "the time of frame 1, 1 s, is not after 1 s"},
                 {DRAPE_MOTION_FRAMES,
                  {.frames = 1, .frame_time = times, .frame = frames, .reserved = {1}},
                  "drape_motion_path.reserved"}};
    drape_sim *sim;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pin->motion = (drape_motion){.kind = cases[i].kind, .path = &cases[i].path};
        assert_int_equal(drape_sim_create(*state, &s->scene, &sim), DRAPE_ERROR_ARGUMENT);
        if (!strstr(drape_message(*state), cases[i].message)) fail_msg("%s", drape_message(*state));
    }
    pin->motion = (drape_motion){.kind = DRAPE_MOTION_FRAMES};
    assert_int_equal(drape_sim_create(*state, &s->scene, &sim), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(*state), "without a path"));
    pin->motion = (drape_motion){0};
    pin->stiffness = -1;
    assert_int_equal(drape_sim_create(*state, &s->scene, &sim), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(*state), "stiffness is -1 N/m"));
    test_strip_destroy(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poses_lead_exactly),
        cmocka_unit_test(poses_that_begin_later_do_not_jump),
        cmocka_unit_test(frames_lead_exactly),
        cmocka_unit_test(springs_carry_the_weight),
        cmocka_unit_test(springs_act_in_their_directions),
        cmocka_unit_test(energy_of_springs_is_balanced),
        cmocka_unit_test(springs_have_their_jacobian),
        cmocka_unit_test(cloth_starts_where_it_is_put),
        cmocka_unit_test(bad_pins_are_refused),
    };
    return cmocka_run_group_tests(tests, test_set_up, test_tear_down);
}
