/* Frames read again: what was written comes back, in every format that is read; what does not fit together is
 * refused, with a message that names it. */
#include "drape/io.h"
#include "support/frames.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FRAMES = 3 };

static void write_file(const test_frames *t, const char *name, const char *text) {
    FILE *file = fopen(test_frames_path(t, name), "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void read_back(test_frames *t, const char *name, bool exact) {
    drape_animation what = test_frames_animation(t, 0, 3);
    drape_reader *reader;
    test_frames_write(t, name, &what, FRAMES);
    ASSERT_OK(t->ctx, drape_reader_open(t->ctx, test_frames_path(t, name), NULL, &reader));
    const drape_reader_info *info = drape_reader_describe(reader);
    assert_int_equal(info->frames, FRAMES);
    assert_int_equal(3 * (int64_t)info->vertices, t->numbers);
    assert_int_equal(info->triangles, drape_cloth_triangles(t->cloth));
    assert_memory_equal(info->triangle, drape_cloth_triangle(t->cloth),
                        3 * (size_t)info->triangles * sizeof(int32_t));
    double *x = calloc((size_t)t->numbers, sizeof *x);
    assert_non_null(x);
    for (int32_t f = FRAMES - 1; f >= 0; f--) {
        ASSERT_OK(t->ctx, drape_reader_frame(reader, f, x));
        test_frames_fill(t, f);
        for (int64_t i = 0; i < t->numbers; i++) assert_true(x[i] == (exact ? t->x[i] : (double)(float)t->x[i]));
        assert_int_equal(drape_reader_number(reader, f), f);
    }
    assert_int_equal(drape_reader_number(reader, FRAMES), -1);
    assert_int_equal(drape_reader_number(reader, -1), -1);
    assert_int_equal(drape_reader_frame(reader, FRAMES, x), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_reader_frame(reader, 0, NULL), DRAPE_ERROR_ARGUMENT);
    drape_reader_close(reader);
    free(x);
}

static void every_format_comes_back(void **state) {
    read_back(*state, "a.obj", true);
    read_back(*state, "a.ply", false);
    read_back(*state, "a.pc2", false);
    read_back(*state, "a.mdd", false);
    read_back(*state, "b.c.PLY", false); /* the files themselves end in small letters */
}

/* Numbers with gaps, as long as they are even; one file by itself. */
static void numbers_of_files(void **state) {
    test_frames *t = *state;
    static const char mesh[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    static const char *const names[] = {"s_5.obj",  "s_0015.OBJ", "s_10.obj", "s_.obj",
                                        "s_1x.obj", "st_1.obj",   "s_2.ply"};
    drape_reader *reader;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) write_file(t, names[i], mesh);
    ASSERT_OK(t->ctx, drape_reader_open(t->ctx, test_frames_path(t, "s.obj"), NULL, &reader));
    assert_int_equal(drape_reader_describe(reader)->frames, 3);
    for (int32_t f = 0; f < 3; f++) assert_int_equal(drape_reader_number(reader, f), 5 * f + 5);
    drape_reader_close(reader);
    ASSERT_OK(t->ctx, drape_reader_open(t->ctx, test_frames_path(t, "s_10.obj"), NULL, &reader));
    assert_int_equal(drape_reader_describe(reader)->frames, 1);
    drape_reader_close(reader);
}

/* refused FILE MESH WORDS...: all of these words are in the message. */
static void refused(test_frames *t, const char *name, const char *mesh, drape_status wanted, const char *words) {
    char path[128], other[128];
    drape_reader *reader = (drape_reader *)t;
    snprintf(path, sizeof path, "%s", test_frames_path(t, name));
    snprintf(other, sizeof other, "%s", test_frames_path(t, mesh ? mesh : ""));
    drape_status status =
        drape_reader_open(t->ctx, path, &(drape_reader_options){.mesh = mesh ? other : NULL}, &reader);
    if (!status) { /* only reading a frame can tell */
        double *x = calloc((size_t)drape_reader_describe(reader)->vertices, 3 * sizeof *x);
        assert_non_null(x);
        for (int32_t f = 0; f < drape_reader_describe(reader)->frames && !status; f++)
            status = drape_reader_frame(reader, f, x);
        free(x);
        drape_reader_close(reader);
    } else {
        assert_null(reader);
    }
    assert_int_equal(status, wanted);
    if (!strstr(drape_message(t->ctx), words)) fail_msg("'%s' is not in: %s", words, drape_message(t->ctx));
}

static void sequences_that_do_not_fit(void **state) {
    test_frames *t = *state;
    static const char mesh[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    refused(t, "none.obj", NULL, DRAPE_ERROR_IO, "none_0000.obj");
    refused(t, "no/none.obj", NULL, DRAPE_ERROR_IO, "no/none.obj: cannot look into its folder");
    write_file(t, "gap_0000.obj", mesh);
    write_file(t, "gap_0001.obj", mesh);
    write_file(t, "gap_0003.obj", mesh);
    refused(t, "gap.obj", NULL, DRAPE_ERROR_FORMAT, "frame 1 is followed by 3");
    write_file(t, "gap_2.obj", mesh);
    write_file(t, "gap_02.obj", mesh);
    refused(t, "gap.obj", NULL, DRAPE_ERROR_FORMAT, "have the same number");
    write_file(t, "both.obj", mesh);
    write_file(t, "both_0000.obj", mesh);
    refused(t, "both.obj", NULL, DRAPE_ERROR_ARGUMENT, "this file and a sequence of 1 numbered files");
    write_file(t, "more_0.obj", mesh);
    write_file(t, "more_1.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 1 1\nf 1 2 3\n");
    refused(t, "more.obj", NULL, DRAPE_ERROR_FORMAT, "more_1.obj has 4 vertices and 1 triangles, but");
    write_file(t, "turned_0.obj", mesh);
    write_file(t, "turned_1.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 3 2\n");
    refused(t, "turned.obj", NULL, DRAPE_ERROR_FORMAT, "turned_1.obj: triangle 0 differs from that of");
    write_file(t, "bad_0.obj", mesh);
    write_file(t, "bad_1.obj", "v 0 0 0\nv 1 nan 0\nv 0 1 0\nf 1 2 3\n");
    refused(t, "bad.obj", NULL, DRAPE_ERROR_FORMAT, "bad_1.obj:2: 'nan' is not a finite number");
    refused(t, "more_0.obj", "turned_0.obj", DRAPE_ERROR_ARGUMENT, "has its own triangles");
}

static void caches_that_do_not_fit(void **state) {
    test_frames *t = *state;
    drape_animation what = test_frames_animation(t, 0, 3);
    drape_reader *reader;
    test_frames_write(t, "a.pc2", &what, 2);
    write_file(t, "small.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    refused(t, "a.pc2", "small.obj", DRAPE_ERROR_FORMAT, "small.obj has 3; it is another mesh");
    refused(t, "a.pc2", "none.obj", DRAPE_ERROR_IO, "none.obj");
    refused(t, "b.pc2", NULL, DRAPE_ERROR_IO, "b.pc2");
    unlink(test_frames_path(t, "a_rest.obj")); /* without triangles, it can be read all the same */
    ASSERT_OK(t->ctx, drape_reader_open(t->ctx, test_frames_path(t, "a.pc2"), NULL, &reader));
    assert_int_equal(drape_reader_describe(reader)->triangles, 0);
    assert_null(drape_reader_describe(reader)->triangle);
    drape_reader_close(reader);
}

static void other_formats(void **state) {
    test_frames *t = *state;
    refused(t, "a.glb", NULL, DRAPE_ERROR_ARGUMENT, "can be written but not read");
    refused(t, "a.usda", NULL, DRAPE_ERROR_ARGUMENT, "can be written but not read");
    refused(t, "a.abc", NULL, DRAPE_ERROR_ARGUMENT, "can be written but not read");
    refused(t, "a.html", NULL, DRAPE_ERROR_ARGUMENT, "can be written but not read");
    refused(t, "a.xyz", NULL, DRAPE_ERROR_ARGUMENT, "not a known format for frames; .obj, .ply, .pc2");
    refused(t, "frames", NULL, DRAPE_ERROR_ARGUMENT, "not a known format");
}

static void bad_arguments(void **state) {
    test_frames *t = *state;
    drape_reader *reader = (drape_reader *)t;
    drape_reader_options options = {.reserved = {1}};
    assert_int_equal(drape_reader_open(t->ctx, NULL, NULL, &reader), DRAPE_ERROR_ARGUMENT);
    assert_null(reader);
    assert_int_equal(drape_reader_open(t->ctx, "a.obj", NULL, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_reader_open(NULL, "a.obj", NULL, &reader), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_reader_open(t->ctx, "a.obj", &options, &reader), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_reader_frame(NULL, 0, t->x), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_reader_number(NULL, 0), -1);
    assert_null(drape_reader_describe(NULL));
    drape_reader_close(NULL);
}

/* ---- The frames of a run that was cut off ---- */

static void make_log(test_frames *t, drape_sim *sim, double truth[FRAMES][27]) {
    drape_journal *journal;
    ASSERT_OK(t->ctx, drape_journal_begin(t->ctx, test_frames_path(t, "a.ckpt"), sim, 2, &journal));
    for (int f = 0; f < FRAMES; f++) {
        if (f > 0) {
            ASSERT_OK(t->ctx, drape_sim_step(sim, NULL));
            ASSERT_OK(t->ctx, drape_journal_frame(journal));
        }
        memcpy(truth[f], drape_sim_positions(sim), sizeof truth[f]);
    }
    drape_journal_close(journal);
}

/* Puts a byte that is another one at this place, counted from the end where it is below 0. */
static void damage(const test_frames *t, const char *name, long at) {
    FILE *file = fopen(test_frames_path(t, name), "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, at, at < 0 ? SEEK_END : SEEK_SET), 0);
    int was = fgetc(file);
    assert_int_equal(fseek(file, -1, SEEK_CUR), 0);
    fputc(was ^ 0x55, file);
    assert_int_equal(fclose(file), 0);
}

static void logs_of_runs(void **state) {
    test_frames *t = *state;
    drape_loaded_scene *scene;
    drape_sim *sim;
    drape_reader *reader;
    double truth[FRAMES][27], x[27];
    const char *name = "a.ckpt.frames";
    ASSERT_OK(t->ctx, drape_scene_builtin(t->ctx, "drooping", 3, &scene));
    ASSERT_OK(t->ctx, drape_sim_create(t->ctx, drape_loaded_scene_data(scene), &sim));
    make_log(t, sim, truth);
    ASSERT_OK(t->ctx, drape_reader_open(t->ctx, test_frames_path(t, name), NULL, &reader));
    assert_int_equal(drape_reader_describe(reader)->frames, FRAMES);
    assert_int_equal(drape_reader_describe(reader)->vertices, 9);
    for (int f = FRAMES - 1; f >= 0; f--) {
        ASSERT_OK(t->ctx, drape_reader_frame(reader, f, x));
        assert_memory_equal(x, truth[f], sizeof x);
    }
    drape_reader_close(reader);
    damage(t, name, -20); /* the last frame: it counts as cut off */
    ASSERT_OK(t->ctx, drape_reader_open(t->ctx, test_frames_path(t, name), NULL, &reader));
    assert_int_equal(drape_reader_describe(reader)->frames, FRAMES - 1);
    drape_reader_close(reader);
    damage(t, name, 100); /* the first one */
    refused(t, name, NULL, DRAPE_ERROR_FORMAT, "frame 0 is damaged");
    damage(t, name, 30); /* its head */
    refused(t, name, NULL, DRAPE_ERROR_FORMAT, "the header of the frames is damaged");
    assert_int_equal(truncate(test_frames_path(t, name), 40), 0);
    refused(t, name, NULL, DRAPE_ERROR_FORMAT, "truncated");
    refused(t, "b.ckpt.frames", NULL, DRAPE_ERROR_IO, "b.ckpt.frames: cannot open");
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(scene);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, test_frames_begin, test_frames_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(every_format_comes_back),
        IN_FOLDER(numbers_of_files),
        IN_FOLDER(sequences_that_do_not_fit),
        IN_FOLDER(caches_that_do_not_fit),
        IN_FOLDER(other_formats),
        IN_FOLDER(bad_arguments),
        IN_FOLDER(logs_of_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
