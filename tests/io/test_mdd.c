/* MDD files: header, times, every bit of the samples, and the mesh beside them. */
#include "support/frames.h"

#include <stdlib.h>
#include <string.h>

/* Header, times and samples by way of the reader; the bytes themselves are those of test_cache.c. */
static void assert_holds(test_frames *t, const char *name, int32_t frames) {
    drape_cache *cache;
    double *got = malloc((size_t)t->numbers * sizeof *got);
    ASSERT_OK(t->ctx, drape_cache_open(t->ctx, test_frames_path(t, name), &cache));
    assert_int_equal(drape_cache_describe(cache)->frames, frames);
    assert_int_equal(drape_cache_describe(cache)->vertices, t->numbers / 3);
    for (int32_t f = 0; f < frames; f++) {
        test_frames_fill(t, f);
        ASSERT_OK(t->ctx, drape_cache_frame(cache, f, got));
        assert_true(drape_cache_time(cache, f) == (double)(float)(f / 24.0));
        for (int64_t i = 0; i < t->numbers; i++) assert_true(got[i] == (double)(float)t->x[i]);
    }
    drape_cache_close(cache);
    free(got);
}

static void every_bit_of_the_samples(void **state) {
    test_frames *t = *state;
    drape_animation what = test_frames_animation(t, 0, 3);
    test_frames_write(t, "one.mdd", &what, 1);
    assert_holds(t, "one.mdd", 1);
    test_frames_write(t, "many.mdd", &what, 300);
    assert_holds(t, "many.mdd", 300);
    assert_int_equal(test_frames_entries(t), 4);
}

/* One object for all pieces, with texture coordinates where there are any, without normals. */
static void the_mesh_is_the_first_frame(void **state) {
    test_frames *t = *state;
    drape_animation what = test_frames_animation(t, 0, 3);
    int64_t size, numbers = 0, pairs = 0, corners = 0, objects = 0;
    test_frames_write(t, "a.mdd", &what, 3);
    test_frames_fill(t, 0);
    char *text = (char *)test_frames_read(t, "a_rest.obj", &size);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char *at = line + 2;
        assert_true(strncmp(line, "vn", 2) != 0);
        for (int k = 0; k < 3 && line[0] == 'v' && line[1] == ' '; k++)
            assert_true(strtod(at, &at) == (double)(float)t->x[numbers++]);
        pairs += strncmp(line, "vt ", 3) == 0;
        objects += line[0] == 'o';
        for (int k = 0; k < 3 && line[0] == 'f'; k++) {
            assert_int_equal(strtol(at, &at, 10), drape_cloth_triangle(t->cloth)[corners++] + 1);
            if (*at == '/') strtol(at + 1, &at, 10);
        }
    }
    assert_int_equal(numbers, t->numbers);
    assert_int_equal(pairs, t->piece[0].vertices + t->piece[1].uv_vertices);
    assert_int_equal(corners, 3 * drape_cloth_triangles(t->cloth));
    assert_int_equal(objects, 1);
    free(text);
}

#define WITH_FRAMES(test) cmocka_unit_test_setup_teardown(test, test_frames_begin, test_frames_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FRAMES(every_bit_of_the_samples),
        WITH_FRAMES(the_mesh_is_the_first_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
