/* What every format in the table promises: complete or absent, in bounded memory, and nothing after failures. */
#include "sparse/counting_allocator.h"
#include "support/folder.h"
#include "support/frames.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* "a.obj", ... */
static const char *file_name(int32_t format) {
    static char name[32];
    snprintf(name, sizeof name, "a%s", drape_writer_extension(format));
    return name;
}

/* One file per frame, as its description says. */
static bool is_sequence(int32_t format) { return strstr(drape_writer_description(format), "_0000") != NULL; }

static drape_writer *open_writer(test_frames *t, int32_t format, const drape_animation *what) {
    drape_writer *writer;
    ASSERT_OK(t->ctx, drape_writer_open(t->ctx, test_frames_path(t, file_name(format)), what, &writer));
    return writer;
}

/* Names of files in the folder that somebody would take for a result. */
static int finished_files(const test_frames *t) {
    char name[32];
    int count = 0;
    for (int32_t f = 0; drape_writer_extension(f); f++) count += access(test_frames_path(t, file_name(f)), F_OK) == 0;
    for (int32_t f = 0; drape_writer_extension(f); f++)
        for (int frame = 0; frame < 4; frame++) {
            snprintf(name, sizeof name, "a_%04d%s", frame, drape_writer_extension(f));
            count += access(test_frames_path(t, name), F_OK) == 0;
        }
    return count + (access(test_frames_path(t, "a_rest.obj"), F_OK) == 0);
}

static void every_format_has_its_words(void **state) {
    (void)state;
    int32_t count = 0;
    for (; drape_writer_extension(count); count++) {
        assert_true(drape_writer_extension(count)[0] == '.' && drape_writer_description(count)[0]);
        assert_true(drape_writer_knows(file_name(count)));
    }
    assert_true(count >= 7);
}

static void nothing_has_its_name_before_it_is_whole(void **state) {
    test_frames *t = *state;
    drape_animation what = test_frames_animation(t, 0, 3);
    for (int32_t f = 0; drape_writer_extension(f); f++) {
        drape_writer *writer = open_writer(t, f, &what);
        for (int32_t i = 0; i < 3; i++) {
            test_frames_fill(t, i);
            ASSERT_OK(t->ctx, drape_writer_frame(writer, &(drape_frame){.positions = t->x}));
            assert_int_equal(finished_files(t), is_sequence(f) ? i + 1 : 0);
        }
        ASSERT_OK(t->ctx, drape_writer_close(writer));
        assert_int_equal(test_frames_entries(t), finished_files(t)); /* nothing else is left */
        assert_true(finished_files(t) >= 1);
        test_folder_entries(t->folder, true);
    }
}

static void no_frame_no_file(void **state) {
    test_frames *t = *state;
    drape_animation what = test_frames_animation(t, 0, 3);
    for (int32_t f = 0; drape_writer_extension(f); f++) {
        ASSERT_OK(t->ctx, drape_writer_close(open_writer(t, f, &what)));
        assert_int_equal(test_frames_entries(t), 0);
    }
}

/* The same bytes as if the frame had never been tried. */
static void a_failed_frame_leaves_those_before_it(void **state) {
    test_frames *t = *state;
    drape_animation what = test_frames_animation(t, 0, 3);
    for (int32_t f = 0; drape_writer_extension(f); f++) {
        char name[32];
        int64_t size, size_after;
        snprintf(name, sizeof name, is_sequence(f) ? "a_0000%s" : "a%s", drape_writer_extension(f));
        test_frames_write(t, file_name(f), &what, 1);
        int files = test_frames_entries(t);
        unsigned char *wanted = test_frames_read(t, name, &size);
        test_folder_entries(t->folder, true);
        drape_writer *writer = open_writer(t, f, &what);
        test_frames_fill(t, 0);
        ASSERT_OK(t->ctx, drape_writer_frame(writer, &(drape_frame){.positions = t->x}));
        t->x[3 * 7 + 1] = NAN;
        assert_int_equal(drape_writer_frame(writer, &(drape_frame){.positions = t->x}), DRAPE_ERROR_NUMBER);
        assert_non_null(strstr(drape_message(t->ctx), "frame 1: vertex 7"));
        ASSERT_OK(t->ctx, drape_writer_close(writer));
        assert_int_equal(test_frames_entries(t), files);
        unsigned char *got = test_frames_read(t, name, &size_after);
        assert_int_equal(size_after, size);
        assert_memory_equal(got, wanted, (size_t)size);
        free(got), free(wanted);
        test_folder_entries(t->folder, true);
    }
}

static void memory_does_not_grow(void **state) {
    test_frames *t = *state;
    drape_animation what = test_frames_animation(t, 0, 3);
    for (int32_t f = 0; drape_writer_extension(f); f++)
        assert_int_equal(test_frames_write(t, file_name(f), &what, 100), 0);
}

static void a_missing_folder_is_named(void **state) {
    test_frames *t = *state;
    drape_animation what = test_frames_animation(t, 0, 3);
    char name[64];
    for (int32_t f = 0; drape_writer_extension(f); f++) {
        drape_writer *writer = NULL;
        snprintf(name, sizeof name, "no/%s", file_name(f));
        test_frames_fill(t, 0);
        drape_status status = drape_writer_open(t->ctx, test_frames_path(t, name), &what, &writer);
        if (!status)
            status =
                drape_writer_frame(writer, &(drape_frame){.positions = t->x}); /* sequences open their files there */
        assert_int_equal(status, DRAPE_ERROR_IO);
        assert_non_null(strstr(drape_message(t->ctx), "no/a"));
        drape_writer_close(writer);
    }
}

static void pieces_must_be_those_of_the_cloth(void **state) {
    test_frames *t = *state;
    drape_animation what = test_frames_animation(t, 0, 2);
    drape_writer *writer;
    what.pieces = t->piece + 1;
    assert_int_equal(drape_writer_open(t->ctx, test_frames_path(t, "a.glb"), &what, &writer), DRAPE_ERROR_ARGUMENT);
    assert_null(writer);
    assert_non_null(strstr(drape_message(t->ctx), "piece 0 is not what the cloth was made of"));
}

/* Opens, writes two frames and closes in a context that refuses its nth request. */
static bool write_with(test_frames *t, int32_t format, const drape_animation *what, int64_t n) {
    counting_allocator memory = {.left = n};
    drape_context *ctx = counting_context(&memory);
    drape_writer *writer = NULL;
    drape_status status = drape_writer_open(ctx, test_frames_path(t, file_name(format)), what, &writer);
    for (int32_t i = 0; i < 2 && !status; i++) status = drape_writer_frame(writer, &(drape_frame){.positions = t->x});
    drape_status closed = drape_writer_close(writer);
    if (!status) status = closed;
    bool failed = memory.failed;
    assert_int_equal(status, failed ? DRAPE_ERROR_MEMORY : DRAPE_OK);
    if (failed && !is_sequence(format)) assert_int_equal(test_frames_entries(t), 0);
    drape_context_destroy(ctx);
    assert_int_equal(memory.live, 0);
    return failed;
}

static void a_failing_allocation_leaves_nothing(void **state) {
    test_frames *t = *state;
    drape_animation what = test_frames_animation(t, 0, 3);
    test_frames_fill(t, 0);
    for (int32_t f = 0; drape_writer_extension(f); f++) {
        if (strcmp(drape_writer_extension(f), ".html") == 0) continue; /* zlib has memory of its own: io.html */
        int64_t n = 0;
        while (write_with(t, f, &what, n)) n++;
        assert_true(n >= 3);
        test_folder_entries(t->folder, true);
    }
}

#define WITH_FRAMES(test) cmocka_unit_test_setup_teardown(test, test_frames_begin, test_frames_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_has_its_words),
        WITH_FRAMES(nothing_has_its_name_before_it_is_whole),
        WITH_FRAMES(no_frame_no_file),
        WITH_FRAMES(a_failed_frame_leaves_those_before_it),
        WITH_FRAMES(memory_does_not_grow),
        WITH_FRAMES(a_missing_folder_is_named),
        WITH_FRAMES(pieces_must_be_those_of_the_cloth),
        WITH_FRAMES(a_failing_allocation_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
