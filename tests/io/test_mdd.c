/* MDD files: header, times, every bit of the samples, and the mesh beside them. */
#include "support/frames.h"

#include <stdlib.h>
#include <string.h>

static uint32_t big(const unsigned char *b) {
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | (uint32_t)b[3];
}

static uint32_t float_bits(double x) {
    float single = (float)x;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    return bits;
}

static void assert_holds(test_frames *t, const char *name, int32_t frames) {
    int64_t size;
    unsigned char *data = test_frames_read(t, name, &size), *at = data + 8;
    assert_int_equal(size, 8 + 4 * frames + 4 * t->numbers * frames);
    assert_int_equal(big(data), frames);
    assert_int_equal(big(data + 4), t->numbers / 3);
    for (int32_t f = 0; f < frames; f++, at += 4) assert_int_equal(big(at), float_bits(f / 24.0));
    for (int32_t f = 0; f < frames; f++) {
        test_frames_fill(t, f);
        for (int64_t i = 0; i < t->numbers; i++, at += 4) assert_int_equal(big(at), float_bits(t->x[i]));
    }
    free(data);
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
