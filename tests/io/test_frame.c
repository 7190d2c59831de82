/* What a drape_frame holds beside positions: meshes beside the cloth, attributes, number and time. Formats that store
 * them give them back; the others write the same bytes as without; frames that are wrong are refused and change
 * nothing. */
#include "io/mesh.h"
#include "support/folder.h"
#include "support/frames.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BALL_VERTICES = 4, BALL_TRIANGLES = 4, FRAMES = 3 };

static const int32_t ball_triangle[3 * BALL_TRIANGLES] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};

/* A frame with everything, and the memory after it. */
typedef struct rich_frame {
    drape_frame frame;
    drape_frame_mesh mesh[2];
    drape_frame_attribute attribute[3];
    double ball[3 * BALL_VERTICES], floor[9];
    double *heat, *flow, *strain; /* 1 and 3 per vertex, 2 per triangle */
} rich_frame;

static double *random_numbers(test_random *r, int64_t count) {
    double *to = malloc((size_t)count * sizeof *to);
    assert_non_null(to);
    for (int64_t i = 0; i < count; i++) to[i] = test_random_between(r, -3, 3);
    return to;
}

static void fill(test_frames *t, int32_t number, rich_frame *f) {
    test_random r = {1000 + (uint64_t)number};
    int64_t vertices = t->numbers / 3, triangles = drape_cloth_triangles(t->cloth);
    test_frames_fill(t, number);
    memset(f, 0, sizeof *f);
    for (int i = 0; i < 3 * BALL_VERTICES; i++) f->ball[i] = test_random_between(&r, -3, 3);
    for (int i = 0; i < 9; i++) f->floor[i] = test_random_between(&r, -3, 3);
    f->heat = random_numbers(&r, vertices);
    f->flow = random_numbers(&r, 3 * vertices);
    f->strain = random_numbers(&r, 2 * triangles);
    f->mesh[0] = (drape_frame_mesh){"ball", BALL_VERTICES, BALL_TRIANGLES, f->ball, ball_triangle};
    f->mesh[1] = (drape_frame_mesh){NULL, 3, 1, f->floor, ball_triangle};
    f->attribute[0] = (drape_frame_attribute){"heat", DRAPE_PER_VERTEX, 1, f->heat};
    f->attribute[1] = (drape_frame_attribute){"strain", DRAPE_PER_TRIANGLE, 2, f->strain};
    f->attribute[2] = (drape_frame_attribute){"flow", DRAPE_PER_VERTEX, 3, f->flow};
    f->frame = (drape_frame){
        .positions = t->x, .meshes = f->mesh, .mesh_count = 2, .attributes = f->attribute, .attribute_count = 3};
}

static void clear(rich_frame *f) { free(f->heat), free(f->flow), free(f->strain); }

typedef enum kept { NOTHING, MESHES, ATTRIBUTES, ALL } kept;

static void write_frames(test_frames *t, const drape_animation *what, const char *name, kept parts) {
    drape_writer *writer;
    ASSERT_OK(t->ctx, drape_writer_open(t->ctx, test_frames_path(t, name), what, &writer));
    for (int32_t i = 0; i < FRAMES; i++) {
        rich_frame f;
        fill(t, i, &f);
        if (parts == NOTHING || parts == ATTRIBUTES) f.frame.mesh_count = 0;
        if (parts == NOTHING || parts == MESHES) f.frame.attribute_count = 0;
        ASSERT_OK(t->ctx, drape_writer_frame(writer, &f.frame));
        clear(&f);
    }
    ASSERT_OK(t->ctx, drape_writer_close(writer));
}

/* ---- What formats do not store changes no byte ---- */

static void assert_same_file(test_frames *t, const char *a, const char *b) {
    int64_t size, other_size;
    unsigned char *data = test_frames_read(t, a, &size), *other = test_frames_read(t, b, &other_size);
    assert_int_equal(size, other_size);
    assert_memory_equal(data, other, (size_t)size);
    free(data), free(other);
}

static void what_is_not_stored_changes_nothing(void **state) {
    test_frames *t = *state;
    drape_animation what = test_frames_animation(t, 0, 3);
    static const struct {
        const char *name, *other, *file, *other_file;
        kept parts;
    } cases[] = {{"a.html", "b.html", "a.html", "b.html", ATTRIBUTES},
                 {"a.glb", "b.glb", "a.glb", "b.glb", ATTRIBUTES},
                 {"a.pc2", "b.pc2", "a.pc2", "b.pc2", ALL},
                 {"a.mdd", "b.mdd", "a.mdd", "b.mdd", ALL},
                 {"a.ply", "b.ply", "a_0002.ply", "b_0002.ply", MESHES},
                 {"a.obj", "b.obj", "a_0002.obj", "b_0002.obj", ATTRIBUTES}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_frames(t, &what, cases[i].name, NOTHING);
        write_frames(t, &what, cases[i].other, cases[i].parts);
        assert_same_file(t, cases[i].file, cases[i].other_file);
    }
}

/* ---- What they do store ---- */

static void obj_has_an_object_for_every_mesh(void **state) {
    test_frames *t = *state;
    drape_animation what = test_frames_animation(t, 0, 3);
    int32_t vertices = drape_cloth_vertices(t->cloth), triangles = drape_cloth_triangles(t->cloth);
    write_frames(t, &what, "a.obj", ALL);
    for (int32_t i = 0; i < FRAMES; i++) {
        drape_i_arena arena = {0};
        drape_i_mesh m;
        rich_frame f;
        char name[32];
        snprintf(name, sizeof name, "a_%04d.obj", i);
        fill(t, i, &f);
        ASSERT_OK(t->ctx, drape_i_mesh_read(t->ctx, &arena, test_frames_path(t, name), NULL, &m));
        assert_int_equal(m.vertices, vertices + BALL_VERTICES + 3);
        assert_int_equal(m.triangles, triangles + BALL_TRIANGLES + 1);
        assert_memory_equal(m.position, t->x, (size_t)t->numbers * sizeof *t->x);
        assert_memory_equal(m.position + t->numbers, f.ball, sizeof f.ball);
        assert_memory_equal(m.position + t->numbers + 3 * BALL_VERTICES, f.floor, sizeof f.floor);
        for (int32_t k = 0; k < 3 * BALL_TRIANGLES; k++)
            assert_int_equal(m.triangle[triangles + k / 3][k % 3], vertices + ball_triangle[k]);
        for (int32_t k = 0; k < 3; k++)
            assert_int_equal(m.triangle[triangles + BALL_TRIANGLES][k], vertices + BALL_VERTICES + ball_triangle[k]);
        assert_string_equal(m.group[m.groups - 2].name, "ball");
        assert_string_equal(m.group[m.groups - 1].name, "mesh");
        drape_i_arena_free(t->ctx, &arena);
        clear(&f);
    }
}

static float float_at(const unsigned char *bytes) {
    uint32_t word =
        (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static void ply_has_the_attributes(void **state) {
    test_frames *t = *state;
    drape_animation what = test_frames_animation(t, 0, 3);
    int64_t size, vertices = drape_cloth_vertices(t->cloth), triangles = drape_cloth_triangles(t->cloth);
    const int64_t vertex_bytes = 4 * (6 + 1 + 3), face_bytes = 1 + 12 + 8;
    rich_frame f;
    write_frames(t, &what, "a.ply", ALL);
    fill(t, 2, &f);
    unsigned char *data = test_frames_read(t, "a_0002.ply", &size);
    assert_non_null(strstr((char *)data, "property float nz\nproperty float heat\nproperty float flow_0\n"
                                         "property float flow_1\nproperty float flow_2\nelement face"));
    assert_non_null(
        strstr((char *)data, "vertex_indices\nproperty float strain_0\nproperty float strain_1\nend_header"));
    const unsigned char *at = (unsigned char *)strstr((char *)data, "end_header\n") + strlen("end_header\n");
    assert_int_equal(data + size - at, vertices * vertex_bytes + triangles * face_bytes);
    for (int64_t i = 0; i < vertices; i++, at += vertex_bytes) {
        assert_true(float_at(at) == (float)t->x[3 * i]);
        assert_true(float_at(at + 24) == (float)f.heat[i]);
        for (int64_t k = 0; k < 3; k++) assert_true(float_at(at + 28 + 4 * k) == (float)f.flow[3 * i + k]);
    }
    for (int64_t i = 0; i < triangles; i++, at += face_bytes)
        for (int64_t k = 0; k < 2; k++) assert_true(float_at(at + 13 + 4 * k) == (float)f.strain[2 * i + k]);
    free(data);
    drape_i_arena arena = {0};
    drape_i_mesh m; /* and the reader of drape itself passes over them */
    ASSERT_OK(t->ctx, drape_i_mesh_read(t->ctx, &arena, test_frames_path(t, "a_0002.ply"), NULL, &m));
    assert_int_equal(m.triangles, triangles);
    drape_i_arena_free(t->ctx, &arena);
    clear(&f);
}

/* After the nth place of `key`, the sample of a frame: as many numbers as are wanted, each the float of the other.
 */
static void assert_sample(const char *text, const char *mesh, const char *key, int32_t frame, const double *want,
                          int64_t count) {
    char line[64];
    const char *at = strstr(text, mesh);
    assert_non_null(at);
    at = strstr(at, key);
    assert_non_null(at);
    snprintf(line, sizeof line, "\n            %d: [", frame);
    at = strstr(at, line);
    assert_non_null(at);
    at += strlen(line);
    for (int64_t i = 0; i < count; i++) {
        char *end;
        at += strspn(at, "(), ");
        double value = strtod(at, &end);
        assert_true(end > at && (float)value == (float)want[i]);
        at = end;
    }
    at += strspn(at, ")");
    assert_true(*at == ']');
}

static void usda_has_meshes_and_attributes(void **state) {
    test_frames *t = *state;
    drape_animation what = test_frames_animation(t, 0, 3);
    int64_t size;
    write_frames(t, &what, "a.usda", ALL);
    char *text = (char *)test_frames_read(t, "a.usda", &size);
    for (int32_t i = 0; i < FRAMES; i++) {
        rich_frame f;
        fill(t, i, &f);
        for (int32_t p = 0; p < 3; p++) {
            static const char *const names[] = {"def Mesh \"left__one__0\"", "def Mesh \"left__one__1\"",
                                                "def Mesh \"_3__2\""};
            const drape_piece_range *r = drape_cloth_piece(t->cloth, p);
            assert_sample(text, names[p], " float[] primvars:heat.timeSamples", i, f.heat + r->first_vertex,
                          r->vertices);
            assert_sample(text, names[p], " float3[] primvars:flow.timeSamples", i, f.flow + 3 * r->first_vertex,
                          3 * r->vertices);
            assert_sample(text, names[p], " float2[] primvars:strain.timeSamples", i,
                          f.strain + 2 * r->first_triangle, 2 * r->triangles);
        }
        assert_sample(text, "def Mesh \"ball_3\"", "point3f[] points.timeSamples", i, f.ball, 3 * BALL_VERTICES);
        assert_sample(text, "def Mesh \"mesh_4\"", "point3f[] points.timeSamples", i, f.floor, 9);
        clear(&f);
    }
    const char *ball = strstr(text, "def Mesh \"ball_3\"");
    assert_non_null(strstr(ball, "int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]\n"));
    const char *strain = strstr(strstr(text, "float2[] primvars:strain.timeSamples"), "float2[] primvars:strain = ");
    assert_non_null(strain);
    assert_true(strncmp(strchr(strain, '\n'), "\n            interpolation = \"uniform\"\n", 37) == 0);
    free(text);
}

/* ---- Numbers and times ---- */

/* What rests is written once. */
static void usda_has_one_value_of_what_rests(void **state) {
    test_frames *t = *state;
    drape_animation what = test_frames_animation(t, 0, 3);
    const double corners[] = {0, 0, 0, 1, 0, 0, 0, 1, 0.25};
    const drape_frame_mesh still = {"still", 3, 1, corners, ball_triangle};
    drape_writer *writer;
    int64_t size;
    ASSERT_OK(t->ctx, drape_writer_open(t->ctx, test_frames_path(t, "a.usda"), &what, &writer));
    for (int32_t i = 0; i < FRAMES; i++) {
        test_frames_fill(t, i);
        ASSERT_OK(t->ctx,
                  drape_writer_frame(writer, &(drape_frame){.positions = t->x, .meshes = &still, .mesh_count = 1}));
    }
    ASSERT_OK(t->ctx, drape_writer_close(writer));
    char *text = (char *)test_frames_read(t, "a.usda", &size), *mesh = strstr(text, "def Mesh \"still");
    assert_non_null(mesh);
    assert_null(strstr(mesh, "timeSamples"));
    assert_non_null(strstr(mesh, "point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0.25)]"));
    free(text);
}

static void numbers_and_times_are_those_given(void **state) {
    test_frames *t = *state;
    drape_animation what = test_frames_animation(t, 2, 1);
    static const int64_t number[] = {7, 9, 1234};
    static const double time[] = {0.25, 0.5, 3};
    static const char *const names[] = {"a.obj", "a.ply", "a.usda", "a.mdd", "a.glb"};
    int64_t size;
    test_frames_fill(t, 0);
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        drape_writer *writer;
        drape_frame f = {.positions = t->x, .has_time = true};
        ASSERT_OK(t->ctx, drape_writer_open(t->ctx, test_frames_path(t, names[n]), &what, &writer));
        for (int i = 0; i < 3; i++) {
            f.number = number[i], f.time = time[i];
            ASSERT_OK(t->ctx, drape_writer_frame(writer, &f));
            assert_int_equal(drape_writer_frame(writer, &f), DRAPE_ERROR_ARGUMENT); /* they must rise */
        }
        ASSERT_OK(t->ctx, drape_writer_close(writer));
    }
    char *text = (char *)test_frames_read(t, "a_1234.obj", &size);
    assert_true(strncmp(text, "# drape: frame 1234, 3 s, metres, z up\n", 39) == 0);
    free(text);
    text = (char *)test_frames_read(t, "a_0007.ply", &size);
    assert_non_null(strstr(text, "comment drape: frame 7, 0.25 s, metres, z up\n"));
    free(text);
    text = (char *)test_frames_read(t, "a.usda", &size);
    assert_non_null(strstr(text, "endTimeCode = 1234\n"));
    assert_non_null(strstr(text, "startTimeCode = 7\n"));
    assert_non_null(strstr(text, "\n            9: ["));
    free(text);
    text = (char *)test_frames_read(t, "a.glb", &size);
    assert_non_null(strstr(text + 20, "\"min\":[0.25],\"max\":[3]"));
    free(text);
    drape_cache *cache;
    ASSERT_OK(t->ctx, drape_cache_open(t->ctx, test_frames_path(t, "a.mdd"), &cache));
    for (int32_t i = 0; i < 3; i++) assert_true(drape_cache_time(cache, i) == time[i]);
    drape_cache_close(cache);
}

/* ---- What is refused ---- */

typedef void change(rich_frame *f);

static void no_positions(rich_frame *f) { f->frame.positions = NULL; }
static void reserved_used(rich_frame *f) { f->frame.reserved[5] = 1; }
static void no_list(rich_frame *f) { f->frame.meshes = NULL; }
static void negative_count(rich_frame *f) { f->frame.attribute_count = -1; }
static void negative_number(rich_frame *f) { f->frame.has_time = true, f->frame.number = -1; }
static void infinite_time(rich_frame *f) { f->frame.has_time = true, f->frame.time = INFINITY; }
static void corner_too_large(rich_frame *f) { f->mesh[1].vertices = 2; }
static void negative_vertices(rich_frame *f) { f->mesh[0].vertices = -1; }
static void no_mesh_positions(rich_frame *f) { f->mesh[0].positions = NULL; }
static void name_with_a_blank(rich_frame *f) { f->attribute[0].name = "a b"; }
static void no_name(rich_frame *f) { f->attribute[0].name = NULL; }
static void empty_name(rich_frame *f) { f->attribute[0].name = ""; }
static void digit_first(rich_frame *f) { f->attribute[0].name = "2nd"; }
static void taken_name(rich_frame *f) { f->attribute[1].name = "nx"; }
static void name_twice(rich_frame *f) { f->attribute[2].name = "heat"; }
static void name_of_a_component(rich_frame *f) { f->attribute[0].name = "flow_2"; }
static void five_components(rich_frame *f) { f->attribute[2].components = 5; }
static void no_components(rich_frame *f) { f->attribute[2].components = 0; }
static void no_such_place(rich_frame *f) { f->attribute[0].place = (drape_attribute_place)2; }
static void no_values(rich_frame *f) { f->attribute[1].values = NULL; }
static void value_not_finite(rich_frame *f) { f->strain[3] = NAN; }
static void value_too_large(rich_frame *f) { f->flow[4] = 1e60; }
static void mesh_not_finite(rich_frame *f) { f->ball[5] = INFINITY; }

static const struct {
    change *edit;
    drape_status status;
    const char *message;
} wrong[] = {
    {no_positions, DRAPE_ERROR_ARGUMENT, "positions"},
    {reserved_used, DRAPE_ERROR_ARGUMENT, "drape_frame.reserved"},
    {no_list, DRAPE_ERROR_ARGUMENT, "2 meshes"},
    {negative_count, DRAPE_ERROR_ARGUMENT, "-1 attributes"},
    {negative_number, DRAPE_ERROR_ARGUMENT, "frame -1"},
    {infinite_time, DRAPE_ERROR_ARGUMENT, "inf s"},
    {corner_too_large, DRAPE_ERROR_ARGUMENT, "mesh mesh: a triangle"},
    {negative_vertices, DRAPE_ERROR_ARGUMENT, "mesh ball"},
    {no_mesh_positions, DRAPE_ERROR_ARGUMENT, "mesh ball"},
    {name_with_a_blank, DRAPE_ERROR_ARGUMENT, "attribute a b"},
    {no_name, DRAPE_ERROR_ARGUMENT, "attribute (NULL)"},
    {empty_name, DRAPE_ERROR_ARGUMENT, "identifier"},
    {digit_first, DRAPE_ERROR_ARGUMENT, "identifier"},
    {taken_name, DRAPE_ERROR_ARGUMENT, "attribute nx"},
    {name_twice, DRAPE_ERROR_ARGUMENT, "attribute heat: another"},
    {name_of_a_component, DRAPE_ERROR_ARGUMENT, "another"},
    {five_components, DRAPE_ERROR_ARGUMENT, "attribute flow: it must have 1 to 4"},
    {no_components, DRAPE_ERROR_ARGUMENT, "1 to 4"},
    {no_such_place, DRAPE_ERROR_ARGUMENT, "place"},
    {no_values, DRAPE_ERROR_ARGUMENT, "attribute strain: no values"},
    {value_not_finite, DRAPE_ERROR_NUMBER, "attribute strain: number 1"},
    {value_too_large, DRAPE_ERROR_NUMBER, "attribute flow: number 1"},
    {mesh_not_finite, DRAPE_ERROR_NUMBER, "mesh ball: number 1"},
};

/* Each wrong frame before the good ones: the file is the one without them. */
static void wrong_frames_change_nothing(void **state) {
    test_frames *t = *state;
    drape_animation what = test_frames_animation(t, 0, 3);
    drape_writer *writer;
    write_frames(t, &what, "a.usda", ALL);
    ASSERT_OK(t->ctx, drape_writer_open(t->ctx, test_frames_path(t, "b.usda"), &what, &writer));
    for (int32_t i = 0; i < FRAMES; i++) {
        rich_frame f;
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
            fill(t, i, &f);
            wrong[k].edit(&f);
            drape_status status = drape_writer_frame(writer, &f.frame);
            if (status != wrong[k].status || (i == 0 && !strstr(drape_message(t->ctx), wrong[k].message)))
                fail_msg("%d: %s: '%s' lacks '%s'", (int)k, drape_status_name(status), drape_message(t->ctx),
                         wrong[k].message);
            clear(&f);
        }
        fill(t, i, &f);
        ASSERT_OK(t->ctx, drape_writer_frame(writer, &f.frame));
        clear(&f);
    }
    ASSERT_OK(t->ctx, drape_writer_close(writer));
    assert_same_file(t, "a.usda", "b.usda");
}

static void other_mesh_name(rich_frame *f) { f->mesh[0].name = "bull"; }
static void other_triangles(rich_frame *f) { f->mesh[0].triangle = ball_triangle + 3, f->mesh[0].triangles = 3; }
static void fewer_meshes(rich_frame *f) { f->frame.mesh_count = 1; }
static void fewer_attributes(rich_frame *f) { f->frame.attribute_count = 2; }
static void other_attribute(rich_frame *f) { f->attribute[0].name = "cold"; }
static void other_components(rich_frame *f) { f->attribute[2].components = 2; }

static void every_frame_has_the_shape_of_the_first(void **state) {
    test_frames *t = *state;
    drape_animation what = test_frames_animation(t, 0, 3);
    static change *const other[] = {other_mesh_name,  other_triangles, fewer_meshes,
                                    fewer_attributes, other_attribute, other_components};
    for (int32_t format = 0; drape_writer_extension(format); format++) {
        drape_writer *writer;
        rich_frame f;
        char name[32];
        snprintf(name, sizeof name, "a%s", drape_writer_extension(format));
        ASSERT_OK(t->ctx, drape_writer_open(t->ctx, test_frames_path(t, name), &what, &writer));
        fill(t, 0, &f);
        ASSERT_OK(t->ctx, drape_writer_frame(writer, &f.frame));
        clear(&f);
        for (size_t k = 0; k < sizeof other / sizeof *other; k++) {
            fill(t, 1, &f);
            other[k](&f);
            assert_int_equal(drape_writer_frame(writer, &f.frame), DRAPE_ERROR_ARGUMENT);
            assert_non_null(strstr(drape_message(t->ctx), "first"));
            clear(&f);
        }
        ASSERT_OK(t->ctx, drape_writer_close(writer));
    }
}

static void null_gets_a_status(void **state) {
    test_frames *t = *state;
    drape_animation what = test_frames_animation(t, 0, 1), none = {0};
    drape_writer *writer;
    const char *path = test_frames_path(t, "a.obj");
    assert_int_equal(drape_writer_open(NULL, path, &what, &writer), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_writer_open(t->ctx, NULL, &what, &writer), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_writer_open(t->ctx, path, NULL, &writer), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_writer_open(t->ctx, path, &none, &writer), DRAPE_ERROR_ARGUMENT);
    assert_null(writer);
    assert_int_equal(drape_writer_open(t->ctx, path, &what, NULL), DRAPE_ERROR_ARGUMENT);
    what.reserved[0] = 1;
    assert_int_equal(drape_writer_open(t->ctx, path, &what, &writer), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(t->ctx), "drape_animation.reserved"));
    what.reserved[0] = 0;
    ASSERT_OK(t->ctx, drape_writer_open(t->ctx, path, &what, &writer));
    assert_int_equal(drape_writer_frame(writer, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_writer_frame(NULL, &(drape_frame){.positions = t->x}), DRAPE_ERROR_ARGUMENT);
    ASSERT_OK(t->ctx, drape_writer_close(writer));
    assert_false(drape_writer_knows(NULL));
    assert_string_equal(drape_attribute_place_name(DRAPE_PER_TRIANGLE), "triangle");
    assert_null(drape_attribute_place_name((drape_attribute_place)2));
}

#define WITH_FRAMES(test) cmocka_unit_test_setup_teardown(test, test_frames_begin, test_frames_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FRAMES(what_is_not_stored_changes_nothing),
        WITH_FRAMES(obj_has_an_object_for_every_mesh),
        WITH_FRAMES(ply_has_the_attributes),
        WITH_FRAMES(usda_has_meshes_and_attributes),
        WITH_FRAMES(usda_has_one_value_of_what_rests),
        WITH_FRAMES(numbers_and_times_are_those_given),
        WITH_FRAMES(wrong_frames_change_nothing),
        WITH_FRAMES(every_frame_has_the_shape_of_the_first),
        WITH_FRAMES(null_gets_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
