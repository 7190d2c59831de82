/* GLB files as a player sees them: chunks, accessors inside their views, positions of every frame, normals, texture
 * coordinates, weights. The Khronos validator and Blender look at them in tests/apps. */
#include "support/frames.h"

#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

typedef struct glb {
    unsigned char *data;
    const unsigned char *binary;
    int64_t binary_size;
    json_t *root;
} glb;

static uint32_t little(const unsigned char *b) {
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static glb read_glb(const test_frames *t, const char *name) {
    glb g = {0};
    int64_t size;
    json_error_t error;
    g.data = test_frames_read(t, name, &size);
    assert_memory_equal(g.data, "glTF", 4);
    assert_int_equal(little(g.data + 4), 2);
    assert_int_equal(little(g.data + 8), size);
    uint32_t json_size = little(g.data + 12);
    assert_memory_equal(g.data + 16, "JSON", 4);
    assert_int_equal(json_size % 4, 0);
    g.root = json_loadb((const char *)g.data + 20, json_size, 0, &error);
    if (!g.root) fail_msg("%s", error.text);
    g.binary_size = little(g.data + 20 + json_size);
    assert_memory_equal(g.data + 24 + json_size, "BIN\0", 4);
    g.binary = g.data + 28 + json_size;
    assert_int_equal(28 + json_size + g.binary_size, size);
    return g;
}

static void clear(glb *g) {
    json_decref(g->root);
    free(g->data);
}

static json_t *item(const json_t *from, const char *list, json_int_t index) {
    json_t *found = json_array_get(json_object_get(from, list), (size_t)index);
    assert_non_null(found);
    return found;
}

static json_int_t whole(const json_t *from, const char *key) {
    assert_true(json_is_integer(json_object_get(from, key)));
    return json_integer_value(json_object_get(from, key));
}

/* Where an accessor's bytes begin, after it was seen to be inside its view, and the view inside the buffer. */
static const unsigned char *accessor(const glb *g, json_int_t index, int64_t bytes_each, int64_t *count) {
    const json_t *a = item(g->root, "accessors", index), *view = item(g->root, "bufferViews", whole(a, "bufferView"));
    *count = whole(a, "count");
    assert_true(whole(a, "byteOffset") % 4 == 0 && whole(view, "byteOffset") % 4 == 0);
    assert_true(whole(a, "byteOffset") + *count * bytes_each <= whole(view, "byteLength"));
    assert_true(whole(view, "byteOffset") + whole(view, "byteLength") <= g->binary_size);
    return g->binary + whole(view, "byteOffset") + whole(a, "byteOffset");
}

static double number(const unsigned char *at, int64_t index) {
    uint32_t bits = little(at + 4 * index);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static void assert_bounds(const glb *g, json_int_t index, const unsigned char *at, int64_t count) {
    const json_t *a = item(g->root, "accessors", index);
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < count; i++) {
            low = fmin(low, number(at, 3 * i + k));
            high = fmax(high, number(at, 3 * i + k));
        }
        assert_true(json_number_value(json_array_get(json_object_get(a, "min"), (size_t)k)) == low);
        assert_true(json_number_value(json_array_get(json_object_get(a, "max"), (size_t)k)) == high);
    }
}

/* x, y, z of the cloth at vertex v as glTF has it. */
static void turned(const double *x, int64_t v, double out[3]) {
    out[0] = x[3 * v], out[1] = x[3 * v + 2], out[2] = -x[3 * v + 1];
}

/* Frame f of a piece: what the mesh and target f - 1 add up to, against what was written, by its corners. */
static void assert_frame(test_frames *t, const glb *g, int32_t piece, int32_t f) {
    const drape_piece_range *p = drape_cloth_piece(t->cloth, piece);
    const json_t *primitive = item(item(g->root, "meshes", piece), "primitives", 0);
    const json_t *attributes = json_object_get(primitive, "attributes");
    const json_t *target = f ? item(primitive, "targets", f - 1) : attributes;
    int64_t vertices, again, corners;
    const unsigned char *base = accessor(g, whole(attributes, "POSITION"), 12, &vertices);
    const unsigned char *moved = accessor(g, whole(target, "POSITION"), 12, &again);
    const unsigned char *corner = accessor(g, whole(primitive, "indices"), 4, &corners);
    assert_int_equal(vertices, again);
    assert_int_equal(corners, 3 * p->triangles);
    assert_bounds(g, whole(target, "POSITION"), moved, vertices);
    test_frames_fill(t, f);
    for (int64_t i = 0; i < corners; i++) {
        double want[3];
        int64_t at = little(corner + 4 * i);
        assert_true(at < vertices);
        turned(t->x, drape_cloth_triangle(t->cloth)[3 * p->first_triangle + i], want);
        for (int k = 0; k < 3; k++) {
            double got = number(base, 3 * at + k) + (f ? number(moved, 3 * at + k) : 0);
            assert_near(got, want[k], f ? 4e-7 : 1.3e-7, "position"); /* of numbers up to 3, and 6 apart */
        }
    }
}

static void positions_of_every_frame(void **state) {
    test_frames *t = *state;
    drape_animation what = test_frames_animation(t, 0, 3);
    test_frames_write(t, "a.glb", &what, 6);
    glb g = read_glb(t, "a.glb");
    for (int32_t p = 0; p < 3; p++)
        for (int32_t f = 0; f < 6; f++) assert_frame(t, &g, p, f);
    assert_int_equal(json_array_size(json_object_get(g.root, "nodes")), 3);
    assert_string_equal(json_string_value(json_object_get(item(g.root, "nodes", 0), "name")), "left \"one\"");
    clear(&g);
}

static void normals_are_units(void **state) {
    test_frames *t = *state;
    drape_animation what = test_frames_animation(t, 0, 3);
    test_frames_write(t, "a.glb", &what, 2);
    glb g = read_glb(t, "a.glb");
    for (int32_t p = 0; p < 3; p++) {
        const json_t *primitive = item(item(g.root, "meshes", p), "primitives", 0);
        int64_t count;
        const unsigned char *n = accessor(&g, whole(json_object_get(primitive, "attributes"), "NORMAL"), 12, &count);
        const unsigned char *d = accessor(&g, whole(item(primitive, "targets", 0), "NORMAL"), 12, &count);
        for (int64_t i = 0; i < count; i++) {
            double square[2] = {0};
            for (int k = 0; k < 3; k++) {
                square[0] += pow(number(n, 3 * i + k), 2);
                square[1] += pow(number(n, 3 * i + k) + number(d, 3 * i + k), 2);
            }
            ASSERT_NEAR(square[0], 1, 1e-6);
            ASSERT_NEAR(square[1], 1, 1e-6);
        }
    }
    clear(&g);
}

/* One pair a vertex, v from the top; vertices on the seam are doubled, others not. */
static void texture_coordinates_and_seams(void **state) {
    test_frames *t = *state;
    drape_animation what = test_frames_animation(t, 0, 3);
    test_frames_write(t, "a.glb", &what, 2);
    glb g = read_glb(t, "a.glb");
    for (int32_t p = 0; p < 2; p++) {
        const json_t *primitive = item(item(g.root, "meshes", p), "primitives", 0);
        const int32_t *uv_triangle = p ? t->piece[1].uv_triangle : t->piece[0].triangle;
        int64_t vertices, corners;
        const unsigned char *uv =
            accessor(&g, whole(json_object_get(primitive, "attributes"), "TEXCOORD_0"), 8, &vertices);
        const unsigned char *corner = accessor(&g, whole(primitive, "indices"), 4, &corners);
        assert_int_equal(vertices, t->piece[p].vertices + (p ? 3 : 0)); /* 4 x 2 cells: three on the seam */
        for (int64_t i = 0; i < corners; i++) {
            const double *want = t->piece[p].uv + 2 * uv_triangle[i];
            int64_t at = little(corner + 4 * i);
            assert_true(number(uv, 2 * at) == (double)(float)want[0]);
            assert_true(number(uv, 2 * at + 1) == (double)(float)(1 - want[1]));
        }
    }
    json_t *last = json_object_get(item(item(g.root, "meshes", 2), "primitives", 0), "attributes");
    assert_null(json_object_get(last, "TEXCOORD_0"));
    clear(&g);
}

static void weights_pick_one_frame_each(void **state) {
    test_frames *t = *state;
    drape_animation what = test_frames_animation(t, 0, 3);
    test_frames_write(t, "a.glb", &what, 6);
    glb g = read_glb(t, "a.glb");
    const json_t *animation = item(g.root, "animations", 0), *sampler = item(animation, "samplers", 0);
    int64_t count;
    const unsigned char *times = accessor(&g, whole(sampler, "input"), 4, &count);
    assert_int_equal(count, 6);
    for (int f = 0; f < 6; f++) assert_true(number(times, f) == (double)(float)(f / 24.0));
    const unsigned char *weights = accessor(&g, whole(sampler, "output"), 4, &count);
    assert_int_equal(count, 30);
    for (int f = 0; f < 6; f++)
        for (int k = 0; k < 5; k++) assert_true(number(weights, 5 * f + k) == (f == k + 1));
    assert_int_equal(json_array_size(json_object_get(animation, "channels")), 3);
    clear(&g);
}

/* Without motion there is nothing to animate, and glTF allows no empty lists. */
static void one_frame_is_a_still(void **state) {
    test_frames *t = *state;
    drape_animation what = test_frames_animation(t, 2, 1);
    test_frames_write(t, "a.glb", &what, 1);
    glb g = read_glb(t, "a.glb");
    assert_null(json_object_get(g.root, "animations"));
    assert_null(json_object_get(item(item(g.root, "meshes", 0), "primitives", 0), "targets"));
    assert_int_equal(json_array_size(json_object_get(g.root, "bufferViews")), 2);
    assert_frame(t, &g, 0, 0);
    clear(&g);
}

/* ---- meshes beside the cloth ---- */

enum { OBJECT_FRAMES = 5 };

static const double TETRAHEDRON[] = {5, 0, 0, 6, 0, 0, 5, 1, 0, 5, 0, 1};
static const int32_t FACES[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};

/* One that rests, one that turns about z and rises, one that grows. */
static void object_at(int32_t object, int32_t frame, double x[12]) {
    double a = 0.7 * frame;
    for (int32_t v = 0; v < 4; v++) {
        const double *p = TETRAHEDRON + 3 * v;
        x[3 * v] = object == 1 ? cos(a) * p[0] - sin(a) * p[1] : p[0] * (object == 2 ? 1 + 0.1 * frame : 1);
        x[3 * v + 1] = object == 1 ? sin(a) * p[0] + cos(a) * p[1] : p[1];
        x[3 * v + 2] = p[2] + (object == 1 ? 0.2 * frame : 0);
    }
}

/* Where vertex v of a node is in a frame, by its targets and by the animation of the node. */
static void played(const glb *g, json_int_t node, int32_t frame, int64_t v, double out[3]) {
    const json_t *n = item(g->root, "nodes", node), *animation = item(g->root, "animations", 0), *channel;
    const json_t *primitive = item(item(g->root, "meshes", whole(n, "mesh")), "primitives", 0);
    int64_t count;
    const unsigned char *base = accessor(g, whole(json_object_get(primitive, "attributes"), "POSITION"), 12, &count);
    double p[3], q[4] = {0, 0, 0, 1}, t[3] = {0};
    size_t i;
    for (int k = 0; k < 3; k++) p[k] = number(base, 3 * v + k);
    json_array_foreach(json_object_get(animation, "channels"), i, channel) {
        const json_t *target = json_object_get(channel, "target");
        const json_t *sampler = item(animation, "samplers", whole(channel, "sampler"));
        const char *path = json_string_value(json_object_get(target, "path"));
        if (whole(target, "node") != node) continue;
        const unsigned char *values = accessor(g, whole(sampler, "output"), 4, &count);
        if (strcmp(path, "translation") == 0)
            for (int k = 0; k < 3; k++) t[k] = number(values, 3 * frame + k);
        if (strcmp(path, "rotation") == 0)
            for (int k = 0; k < 4; k++) q[k] = number(values, 4 * frame + k);
        for (int32_t f = 1; f < OBJECT_FRAMES && strcmp(path, "weights") == 0; f++) {
            const unsigned char *more = accessor(g, whole(item(primitive, "targets", f - 1), "POSITION"), 12, &count);
            double weight = number(values, (OBJECT_FRAMES - 1) * frame + f - 1);
            for (int k = 0; k < 3; k++) p[k] += weight * number(more, 3 * v + k);
        }
    }
    const double c[3] = {q[1] * p[2] - q[2] * p[1], q[2] * p[0] - q[0] * p[2], q[0] * p[1] - q[1] * p[0]};
    const double d[3] = {q[1] * c[2] - q[2] * c[1], q[2] * c[0] - q[0] * c[2], q[0] * c[1] - q[1] * c[0]};
    for (int k = 0; k < 3; k++) out[k] = t[k] + p[k] + 2 * q[3] * c[k] + 2 * d[k];
}

static void write_objects(test_frames *t, int32_t frames) {
    drape_animation what = test_frames_animation(t, 0, 3);
    drape_writer *writer;
    ASSERT_OK(t->ctx, drape_writer_open(t->ctx, test_frames_path(t, "a.glb"), &what, &writer));
    for (int32_t f = 0; f < frames; f++) {
        double x[3][12];
        drape_frame_mesh mesh[4] = {{.name = "rests"}, {.name = "turns"}, {.name = "grows"}, {.name = "empty"}};
        for (int32_t i = 0; i < 3; i++) {
            object_at(i, f, x[i]);
            mesh[i].vertices = mesh[i].triangles = 4, mesh[i].positions = x[i], mesh[i].triangle = FACES;
        }
        test_frames_fill(t, f);
        ASSERT_OK(t->ctx,
                  drape_writer_frame(writer, &(drape_frame){.positions = t->x, .meshes = mesh, .mesh_count = 4}));
    }
    ASSERT_OK(t->ctx, drape_writer_close(writer));
}

static void meshes_beside_the_cloth_move(void **state) {
    test_frames *t = *state;
    write_objects(t, OBJECT_FRAMES);
    glb g = read_glb(t, "a.glb");
    for (int32_t p = 0; p < 3; p++) /* the cloth is what it was */
        for (int32_t f = 0; f < OBJECT_FRAMES; f++) assert_frame(t, &g, p, f);
    assert_int_equal(json_array_size(json_object_get(g.root, "nodes")), 6); /* the empty one is left out */
    assert_string_equal(json_string_value(json_object_get(item(g.root, "nodes", 4), "name")), "turns");
    for (int32_t i = 0; i < 3; i++) {
        const json_t *primitive = item(item(g.root, "meshes", 3 + i), "primitives", 0);
        json_int_t at = whole(json_object_get(primitive, "attributes"), "POSITION");
        int64_t count;
        assert_bounds(&g, at, accessor(&g, at, 12, &count), 4);
        const unsigned char *corner = accessor(&g, whole(primitive, "indices"), 4, &count);
        assert_int_equal(count, 12);
        for (int k = 0; k < 12; k++) assert_int_equal(little(corner + 4 * k), FACES[k]);
        assert_int_equal(json_object_get(primitive, "targets") != NULL, i == 2); /* the others move as a whole */
        for (int32_t f = 0; f < OBJECT_FRAMES; f++) {
            double x[12], want[3], got[3];
            object_at(i, f, x);
            for (int64_t v = 0; v < 4; v++) {
                turned(x, v, want);
                played(&g, 3 + i, f, v, got);
                for (int k = 0; k < 3; k++) ASSERT_NEAR(got[k], want[k], 3e-6);
            }
        }
    }
    clear(&g);
}

static void one_frame_of_meshes_is_a_still(void **state) {
    test_frames *t = *state;
    write_objects(t, 1);
    glb g = read_glb(t, "a.glb");
    assert_null(json_object_get(g.root, "animations"));
    assert_int_equal(json_array_size(json_object_get(g.root, "nodes")), 6);
    clear(&g);
}

/* Weights alone, the square of the number of frames, come to 4 GiB where the cloth is small. */
static void more_than_the_format_can_hold_is_refused(void **state) {
    test_frames *t = *state;
    drape_animation what = test_frames_animation(t, 2, 1);
    drape_writer *writer;
    drape_status status = DRAPE_OK;
    int32_t frames = 0;
    ASSERT_OK(t->ctx, drape_writer_open(t->ctx, test_frames_path(t, "a.glb"), &what, &writer));
    test_frames_fill(t, 0);
    while (frames < 40000 && !(status = drape_writer_frame(writer, &(drape_frame){.positions = t->x}))) frames++;
    assert_int_equal(status, DRAPE_ERROR_ARGUMENT);
    assert_in_range(frames, 32000, 32768);
    assert_non_null(strstr(drape_message(t->ctx), "larger than 4 GiB"));
    /* The file would be as large as it can be; with room for less there are fewer frames in it. */
    struct rlimit before, little;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    little = before;
    little.rlim_cur = 1 << 20;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    assert_int_equal(drape_writer_close(writer), DRAPE_ERROR_IO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_non_null(strstr(drape_message(t->ctx), "frames are kept"));
    glb g = read_glb(t, "a.glb");
    clear(&g);
}

/* Who says how many frames are to come learns at once that they are too many. */
static void too_many_frames_are_refused_at_the_start(void **state) {
    test_frames *t = *state;
    drape_animation what = test_frames_animation(t, 2, 1);
    drape_writer *writer;
    const char *path = test_frames_path(t, "a.glb");
    const int64_t too_many[] = {32769, 50000, 1000001, INT64_MAX};
    for (size_t i = 0; i < sizeof too_many / sizeof *too_many; i++) {
        what.frames = too_many[i];
        assert_int_equal(drape_writer_open(t->ctx, path, &what, &writer), DRAPE_ERROR_ARGUMENT);
        assert_non_null(strstr(drape_message(t->ctx), "larger than 4 GiB"));
    }
    what.frames = -1;
    assert_int_equal(drape_writer_open(t->ctx, path, &what, &writer), DRAPE_ERROR_ARGUMENT);
    what.frames = 30000;
    ASSERT_OK(t->ctx, drape_writer_open(t->ctx, path, &what, &writer));
    ASSERT_OK(t->ctx, drape_writer_close(writer));
    assert_int_equal(test_frames_entries(t), 0);
}

#define WITH_FRAMES(test) cmocka_unit_test_setup_teardown(test, test_frames_begin, test_frames_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FRAMES(positions_of_every_frame),
        WITH_FRAMES(normals_are_units),
        WITH_FRAMES(texture_coordinates_and_seams),
        WITH_FRAMES(weights_pick_one_frame_each),
        WITH_FRAMES(meshes_beside_the_cloth_move),
        WITH_FRAMES(one_frame_of_meshes_is_a_still),
        WITH_FRAMES(one_frame_is_a_still),
        WITH_FRAMES(more_than_the_format_can_hold_is_refused),
        WITH_FRAMES(too_many_frames_are_refused_at_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
