/* USDA layers, line by line: head, names, every bit of the points, extents that are just so large, texture
 * coordinates. Other people's parsers read them in tests/apps. */
#include "support/frames.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct layer {
    char *text;
    char *line[4096]; /* without the blanks at its beginning */
    int32_t lines;
} layer;

static layer read_layer(const test_frames *t, const char *name) {
    layer l = {0};
    int64_t size;
    l.text = (char *)test_frames_read(t, name, &size);
    for (char *line = strtok(l.text, "\n"); line; line = strtok(NULL, "\n"))
        l.line[l.lines++] = line + strspn(line, " ");
    return l;
}

/* The first line from `from` on that begins so, or fails. */
static int32_t find(const layer *l, int32_t from, const char *begin) {
    for (int32_t i = from; i < l->lines; i++)
        if (strncmp(l->line[i], begin, strlen(begin)) == 0) return i;
    fail_msg("no line begins with %s", begin);
    return -1;
}

/* Numbers of a line after its first bracket. */
static int64_t numbers_of(const char *line, double *out) {
    int64_t count = 0;
    const char *at = strchr(line, '[');
    assert_non_null(at);
    while (*at && *at != ']') {
        char *end;
        double value = strtod(at, &end);
        if (end == at) at++;
        else out[count++] = value, at = end;
    }
    return count;
}

static void assert_samples(test_frames *t, const layer *l, int32_t mesh, int32_t piece, int32_t frames) {
    const drape_piece_range *p = drape_cloth_piece(t->cloth, piece);
    int32_t points = find(l, mesh, "point3f[] points.timeSamples = {"),
            extent = find(l, mesh, "float3[] extent.time");
    double got[512], bound[6];
    char key[16];
    for (int32_t f = 0; f < frames; f++) {
        snprintf(key, sizeof key, "%d: [", f);
        test_frames_fill(t, f);
        assert_int_equal(find(l, points, key), points + 1 + f);
        assert_int_equal(numbers_of(l->line[points + 1 + f], got), 3 * p->vertices);
        assert_int_equal(numbers_of(l->line[extent + 1 + f], bound), 6);
        double least[6] = {INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY};
        for (int64_t i = 0; i < 3 * p->vertices; i++) {
            float want = (float)t->x[3 * p->first_vertex + i];
            assert_true((float)got[i] == want);
            least[i % 3] = fmin(least[i % 3], (double)want);
            least[3 + i % 3] = fmax(least[3 + i % 3], (double)want);
        }
        for (int k = 0; k < 6; k++) assert_true((float)bound[k] == (float)least[k]);
    }
    assert_true(strcmp(l->line[points + 1 + frames], "}") == 0);
    assert_int_equal(numbers_of(l->line[find(l, points, "point3f[] points = [")] + 9, got), 3 * p->vertices);
    assert_int_equal(numbers_of(l->line[find(l, points, "normal3f[] normals.timeSamples") + frames], got),
                     3 * p->vertices);
}

static void every_bit_of_the_points(void **state) {
    test_frames *t = *state;
    drape_animation what = test_frames_animation(t, 0, 3);
    static const char *const names[] = {"left__one_", "left__one_", "_3_"}; /* two are alike, so all get a number */
    char def[64];
    test_frames_write(t, "a.usda", &what, 5);
    layer l = read_layer(t, "a.usda");
    int32_t mesh = 0;
    for (int32_t p = 0; p < 3; p++) {
        snprintf(def, sizeof def, "def Mesh \"%s_%d\"", names[p], p);
        mesh = find(&l, mesh, def);
        assert_samples(t, &l, mesh, p, 5);
    }
    free(l.text);
}

static void the_head_says_units_axes_and_times(void **state) {
    test_frames *t = *state;
    drape_animation what = test_frames_animation(t, 0, 1);
    test_frames_write(t, "a.usda", &what, 7);
    layer l = read_layer(t, "a.usda");
    assert_string_equal(l.line[0], "#usda 1.0");
    static const char *const head[] = {"defaultPrim = \"drape\"", "doc = \"a \\\"b\\\\\\\" <c> &\"",
                                       "endTimeCode = 6",         "framesPerSecond = 24",
                                       "metersPerUnit = 1",       "startTimeCode = 0",
                                       "timeCodesPerSecond = 24", "upAxis = \"Z\"",
                                       "def Mesh \"left__one_\""};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        assert_string_equal(l.line[find(&l, 0, head[i])], head[i]);
    free(l.text);
}

static void texture_coordinates_have_their_interpolation(void **state) {
    test_frames *t = *state;
    drape_animation what = test_frames_animation(t, 0, 3);
    double got[512];
    test_frames_write(t, "a.usda", &what, 2);
    layer l = read_layer(t, "a.usda");
    int32_t second = find(&l, find(&l, 0, "def Mesh") + 1, "def Mesh");
    int32_t third = find(&l, second + 1, "def Mesh");
    int32_t st = find(&l, 0, "texCoord2f[] primvars:st = [");
    assert_true(st < second);
    assert_int_equal(numbers_of(l.line[st] + 12, got), 2 * t->piece[0].vertices);
    assert_string_equal(l.line[st + 1], "interpolation = \"vertex\"");
    st = find(&l, second, "texCoord2f[] primvars:st = [");
    assert_true(st < third);
    assert_int_equal(numbers_of(l.line[st] + 12, got), 2 * t->piece[1].uv_vertices);
    assert_string_equal(l.line[st + 1], "interpolation = \"faceVarying\"");
    int32_t indices = find(&l, st, "int[] primvars:st:indices = [");
    assert_int_equal(numbers_of(l.line[indices] + 5, got), 3 * t->piece[1].triangles);
    for (int32_t i = 0; i < 3 * t->piece[1].triangles; i++) assert_true(got[i] == t->piece[1].uv_triangle[i]);
    for (int32_t i = third; i < l.lines; i++) assert_null(strstr(l.line[i], "primvars:st"));
    free(l.text);
}

#define WITH_FRAMES(test) cmocka_unit_test_setup_teardown(test, test_frames_begin, test_frames_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FRAMES(every_bit_of_the_points),
        WITH_FRAMES(the_head_says_units_axes_and_times),
        WITH_FRAMES(texture_coordinates_have_their_interpolation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
