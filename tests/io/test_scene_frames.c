/* Frames that a scene names: pins that follow them, and cloth that starts from them. */
#include "support/folder.h"
#include "support/testing.h"

#include "drape/io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/drape-frames-XXXXXX";

/* Two triangles in cm with y up; frame f lies f cm higher, and its vertex 3 is f cm further along x. */
static void write_mesh(const char *name, int f) {
    FILE *to = fopen(test_path_in(folder, name), "w");
    assert_non_null(to);
    fprintf(to, "v 0 %d 0\nv 100 %d 0\nv 0 %d -100\nv %d %d -100\n", f, f, f, 100 + f, f);
    fprintf(to, "g top\nf 1 2 3\nf 2 4 3\n");
    assert_int_equal(fclose(to), 0);
}

static int set_up(void **state) {
    *state = test_context(1);
    if (!mkdtemp(folder)) return -1;
    write_mesh("sheet.obj", 0);
    for (int f = 0; f < 4; f++) {
        char name[32];
        snprintf(name, sizeof name, "walk_%04d.obj", f);
        write_mesh(name, f);
    }
    return 0;
}

static int tear_down(void **state) {
    drape_context_destroy(*state);
    test_folder_entries(folder, true);
    return rmdir(folder);
}

static drape_loaded_scene *load(drape_context *ctx, const char *rest) {
    drape_loaded_scene *loaded;
    char path[200];
    snprintf(path, sizeof path, "%s", test_path_in(folder, "scene.yaml"));
    FILE *to = fopen(path, "w");
    assert_non_null(to);
    fprintf(to, "drape: 1\nup: z\ncloth:\n  - {mesh: sheet.obj, uv: false, unit: cm, up: y%s", rest);
    assert_int_equal(fclose(to), 0);
    ASSERT_OK(ctx, drape_scene_load(ctx, path, NULL, &loaded));
    return loaded;
}

static void near3(const double *got, double x, double y, double z) {
    const double want[3] = {x, y, z};
    for (int32_t k = 0; k < 3; k++) ASSERT_NEAR(got[k], want[k], 1e-12);
}

static void pins_follow_frames_and_between(void **state) {
    drape_loaded_scene *loaded = load(
        *state, ", pins: [{vertices: [1, 3], move: {frames: {file: walk.obj, fps: 10, start: 0.1 s, unit: cm, up: "
                "y}}}]}\ntime: {step: 25 ms, fps: 40}\n");
    const drape_scene *s = drape_loaded_scene_data(loaded);
    const drape_motion_path *path = s->pins[0].motion.path;
    drape_sim *sim;
    assert_int_equal(s->pins[0].motion.kind, DRAPE_MOTION_FRAMES);
    assert_int_equal(path->frames, 4);
    assert_false(path->keep_offset);
    ASSERT_NEAR(path->frame_time[3], 0.4, 1e-15);
    near3(path->frame + 3 * (2 * 3 + 1), 1.03, 1, 0.03); /* z is up in the scene */
    ASSERT_OK(*state, drape_sim_create(*state, s, &sim));
    for (int32_t i = 1; i <= 20; i++) {
        double f = fmin(fmax((0.025 * i - 0.1) / 0.1, 0), 3);
        ASSERT_OK(*state, drape_sim_step(sim, NULL));
        near3(drape_sim_positions(sim) + 3, 1, 0, 0.01 * f);
        near3(drape_sim_positions(sim) + 9, 1 + 0.01 * f, 1, 0.01 * f);
    }
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
}

/* A grid of other vertices follows the nearest ones of the mesh. */
static void pins_follow_the_nearest_vertices_of_a_mesh(void **state) {
    drape_loaded_scene *loaded =
        load(*state, "}\n  - grid: {width: 1 m, resolution: 3}\n    place: {translate: [0.4, 0.5, 10 cm]}\n    pins: "
                     "[{where: top-right, move: {frames: {file: walk.obj, unit: cm, up: y, match: nearest}}}]\n");
    const drape_scene *s = drape_loaded_scene_data(loaded);
    const drape_motion_path *path = s->pins[0].motion.path;
    assert_int_equal(s->pins[0].vertices[0], 4 + 8);
    assert_true(path->keep_offset);
    near3(path->frame, 1, 1, 0);
    near3(path->frame + 9, 1.03, 1, 0.03);
    drape_loaded_scene_destroy(loaded);
}

static void cloth_starts_from_a_frame(void **state) {
    drape_loaded_scene *loaded = load(*state, "}\nstart: {file: walk.obj, frame: 2, unit: cm, up: y}\n");
    const drape_scene *s = drape_loaded_scene_data(loaded);
    near3(s->start + 9, 1.02, 1, 0.02);
    near3(s->pieces[0].rest + 9, 1, 1, 0);
    assert_null(s->velocity);
    drape_loaded_scene_destroy(loaded);
    for (int32_t frame = 0; frame < 4; frame++) { /* at the ends from one side */
        char text[200];
        snprintf(text, sizeof text,
                 "}\nstart: {file: walk.obj, frame: %d, unit: cm, up: y, velocity: true, fps: 10}\n", frame);
        loaded = load(*state, text);
        s = drape_loaded_scene_data(loaded);
        near3(s->start, 0, 0, 0.01 * frame);
        near3(s->velocity + 9, 0.1, 0, 0.1);
        drape_loaded_scene_destroy(loaded);
    }
}

/* Without `up` the file is one that drape has written, with z up, also in a scene with y up. */
static void a_run_starts_where_another_ended(void **state) {
    drape_loaded_scene *loaded = load(*state, ", pins: [{vertices: [0]}]}\n");
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    drape_sim *sim;
    drape_writer *writer;
    char path[200];
    ASSERT_OK(*state, drape_sim_create(*state, scene, &sim));
    for (int32_t i = 0; i < 5; i++) ASSERT_OK(*state, drape_sim_step(sim, NULL));
    snprintf(path, sizeof path, "%s", test_path_in(folder, "end.obj"));
    ASSERT_OK(*state,
              drape_writer_open(*state, path,
                                &(drape_animation){.cloth = drape_sim_cloth(sim), .pieces = scene->pieces}, &writer));
    ASSERT_OK(*state, drape_writer_frame(writer, &(drape_frame){.positions = drape_sim_positions(sim)}));
    ASSERT_OK(*state, drape_writer_close(writer));
    drape_loaded_scene *again = load(*state, "}\nstart: {file: end.obj}\n");
    assert_memory_equal(drape_loaded_scene_data(again)->start, drape_sim_positions(sim), 12 * sizeof(double));
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded), drape_loaded_scene_destroy(again);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pins_follow_frames_and_between),
        cmocka_unit_test(pins_follow_the_nearest_vertices_of_a_mesh),
        cmocka_unit_test(cloth_starts_from_a_frame),
        cmocka_unit_test(a_run_starts_where_another_ended),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
