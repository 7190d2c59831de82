/* Attachments: cloth follows the surface that it is attached to as that moves, turns and deforms; weights below 1 are
 * springs; bad ones are named. */
#include "support/strips.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A box below the strip, which turns about x and moves. */
static drape_collider turning_box(const drape_collider_key *key, int32_t count) {
    return (drape_collider){
        .name = "box", .shape = DRAPE_COLLIDER_BOX, .size = {1, 1, 0.1}, .key = key, .key_count = count};
}

/* What is fixed to the box goes to centre + R (p - centre). */
static void carried(const drape_collider_key *to, const double from[3], const double p[3], double out[3]) {
    double c = cos(to->rotation[0]), s = sin(to->rotation[0]), d[3];
    for (int k = 0; k < 3; k++) d[k] = p[k] - from[k];
    out[0] = to->position[0] + d[0];
    out[1] = to->position[1] + (c * d[1] - s * d[2]);
    out[2] = to->position[2] + (s * d[1] + c * d[2]);
}

static void follows_a_turning_box(void **state) {
    test_strip *s = test_strip_create(*state, 6, 2, 0.3, 0.1);
    const drape_collider_key key[2] = {{.position = {0.1, 0.05, -0.08}},
                                       {.time = 0.2, .position = {0.2, 0.1, 0.1}, .rotation = {1.1, 0, 0}}};
    drape_collider box = turning_box(key, 2);
    int32_t vertex[3] = {test_strip_vertex(s, 0, 0), test_strip_vertex(s, 0, 1), test_strip_vertex(s, 0, 2)};
    drape_attachment a = {.collider = 0, .count = 3, .vertices = vertex};
    s->piece.thickness = 1e-3;
    s->scene.colliders = &box;
    s->scene.collider_count = 1;
    s->scene.attachments = &a;
    s->scene.attachment_count = 1;
    s->scene.step = 0.01;
    drape_sim *sim = test_strip_sim(s);
    test_run(*state, sim, 20);
    for (int i = 0; i < 3; i++) {
        double want[3];
        carried(&key[1], key[0].position, s->mesh.rest + 3 * vertex[i], want);
        for (int k = 0; k < 3; k++) ASSERT_NEAR(drape_sim_positions(sim)[3 * vertex[i] + k], want[k], 1e-12);
    }
    drape_sim_destroy(sim);
    test_strip_destroy(s);
}

/* A triangle that grows to twice its size below a vertex: the vertex stays over the same barycentric coordinates, and
 * as high above it. */
static void follows_a_mesh_that_deforms(void **state) {
    test_strip *s = test_strip_create(*state, 2, 2, 0.1, 0.1);
    const double x[2][3][3] = {{{-1, -1, -0.02}, {2, -1, -0.02}, {0, 2, -0.02}},
                               {{-2, -2, -0.02}, {4, -2, -0.02}, {0, 4, -0.02}}},
                 time[2] = {0, 0.5};
    const int32_t triangle[3] = {0, 1, 2};
    drape_collider mesh = {.name = "body",
                           .shape = DRAPE_COLLIDER_MESH,
                           .vertices = 3,
                           .triangles = 1,
                           .triangle = triangle,
                           .frames = 2,
                           .frame_time = time,
                           .frame = x[0][0]};
    int32_t vertex = test_strip_vertex(s, 1, 1);
    drape_attachment a = {.collider = 0, .count = 1, .vertices = &vertex, .reach = 0.03};
    s->scene.colliders = &mesh;
    s->scene.collider_count = 1;
    s->scene.attachments = &a;
    s->scene.attachment_count = 1;
    s->scene.step = 0.02;
    drape_sim *sim = test_strip_sim(s);
    test_run(*state, sim, 25);
    const double *at = drape_sim_positions(sim) + 3 * vertex, want[3] = {0.1, 0.1, 0};
    for (int k = 0; k < 3; k++) ASSERT_NEAR(at[k], want[k], 1e-12);
    drape_sim_destroy(sim);
    test_strip_destroy(s);
}

/* A weight of 0.8 is a spring of four times the stiffness: a sheet hangs lower by its weight over that. */
static void weights_are_springs(void **state) {
    test_strip *s = test_strip_create(*state, 2, 2, 0.1, 0.1);
    const drape_collider_key key = {.position = {0.05, 0.05, 0.2}};
    drape_collider box = turning_box(&key, 1);
    int32_t vertex[9];
    double weight[9], mass = 0;
    for (int i = 0; i < 9; i++) vertex[i] = i, weight[i] = 0.8;
    drape_attachment a = {.collider = 0, .count = 9, .vertices = vertex, .weight = weight, .stiffness = 5};
    s->scene.colliders = &box;
    s->scene.collider_count = 1;
    s->scene.attachments = &a;
    s->scene.attachment_count = 1;
    s->scene.step = 0.02;
    drape_sim *sim = test_strip_sim(s);
    for (int i = 0; i < 9; i++) mass += drape_cloth_mass(drape_sim_cloth(sim))[i];
    test_run_to_rest(*state, sim, 1e-9, 4000);
    double mean = 0;
    for (int i = 0; i < 9; i++) mean += drape_sim_positions(sim)[3 * i + 2] / 9;
    ASSERT_NEAR(mean, -mass * 9.81 / (9 * 5 * 4), 1e-7);
    drape_sim_destroy(sim);
    test_strip_destroy(s);
}

static void refused(test_strip *s, const drape_attachment *a, const char *words) {
    drape_sim *sim;
    s->scene.attachments = a;
    s->scene.attachment_count = 1;
    assert_int_equal(drape_sim_create(s->ctx, &s->scene, &sim), DRAPE_ERROR_ARGUMENT);
    if (!strstr(drape_message(s->ctx), words)) fail_msg("\"%s\" has no \"%s\"", drape_message(s->ctx), words);
}

static void bad_ones_are_named(void **state) {
    test_strip *s = test_strip_create(*state, 2, 2, 0.1, 0.1);
    const drape_collider_key key = {.position = {0.05, 0.05, 0.2}};
    drape_collider both[2] = {turning_box(&key, 1), {.name = "floor", .shape = DRAPE_COLLIDER_PLANE}};
    drape_collider_key below = {.position = {0, 0, -1}};
    int32_t vertex = 4;
    double weight = 0;
    drape_attachment a = {.collider = 0, .count = 1, .vertices = &vertex};
    both[1].key = &below, both[1].key_count = 1;
    s->scene.colliders = both;
    s->scene.collider_count = 2;
    a.reach = 0.1;
    refused(s, &a, "vertex 4 is 0.15 m away from collider 0 (box)");
    a.reach = 0, a.collider = 2;
    refused(s, &a, "there is no collider 2");
    a.collider = 1;
    refused(s, &a, "collider 1 (floor) is a plane");
    a.collider = 0, a.weight = &weight;
    refused(s, &a, "the weight of vertex 4 is 0");
    weight = 1, vertex = 9;
    refused(s, &a, "names vertex 9; there are 9");
    test_strip_destroy(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(follows_a_turning_box),
                                       cmocka_unit_test(follows_a_mesh_that_deforms),
                                       cmocka_unit_test(weights_are_springs), cmocka_unit_test(bad_ones_are_named)};
    return cmocka_run_group_tests(tests, test_set_up, test_tear_down);
}
