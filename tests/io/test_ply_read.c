/* PLY files: ascii and binary of either order, what is passed over, every refusal in its words, outside files. */
#include "io/mesh.h"
#include "sparse/counting_allocator.h"
#include "support/testing.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

typedef struct reading {
    drape_context *ctx;
    drape_i_arena arena;
    drape_i_mesh mesh;
    char warning[512]; /* the last one */
} reading;

static void keep_warning(void *user, drape_log_level level, const char *message) {
    reading *r = user;
    if (level == DRAPE_LOG_WARNING) snprintf(r->warning, sizeof r->warning, "%s", message);
}

static void reading_begin(reading *r) {
    drape_context_settings settings = drape_context_defaults();
    *r = (reading){0};
    settings.threads = 1;
    settings.log = keep_warning;
    settings.log_user = r;
    assert_int_equal(drape_context_create(&settings, &r->ctx), DRAPE_OK);
}

static void reading_end(reading *r) {
    drape_i_arena_free(r->ctx, &r->arena);
    assert_int_equal(drape_context_bytes(r->ctx), 0);
    drape_context_destroy(r->ctx);
}

static drape_status parse(reading *r, const void *data, int64_t size) {
    return drape_i_ply_parse(r->ctx, &r->arena, "test.ply", data, size, NULL, &r->mesh);
}

/* ---- files made here ---- */

/* A file that grows; numbers are put in the order that it is in. */
typedef struct making {
    char data[4096];
    size_t used;
    bool big_endian;
} making;

static void put_text(making *m, const char *text) {
    memcpy(m->data + m->used, text, strlen(text));
    m->used += strlen(text);
}

static void put_number(making *m, const void *value, size_t size) {
    const char *bytes = value; /* the machine is little-endian, as the tests' other files have it */
    for (size_t k = 0; k < size; k++) m->data[m->used + k] = bytes[m->big_endian ? size - 1 - k : k];
    m->used += size;
}

#define PUT(m, type, value) put_number((m), &(type){value}, sizeof(type))

#define SQUARE "0 0 0\n1 0 0\n1 1 0\n0 1 0\n"
#define HEAD(vertices, faces)                                                                                        \
    "ply\nformat ascii 1.0\nelement vertex " vertices                                                                \
    "\nproperty float x\nproperty float y\nproperty float z\nelement face " faces                                    \
    "\nproperty list uchar int vertex_indices\nend_header\n"

static void assert_square(const drape_i_mesh *m) {
    static const double want[12] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0};
    static const int32_t triangles[2][3] = {{0, 1, 2}, {0, 2, 3}};
    assert_int_equal(m->vertices, 4);
    assert_int_equal(m->triangles, 2);
    assert_memory_equal(m->position, want, sizeof want);
    assert_memory_equal(m->triangle, triangles, sizeof triangles);
    assert_int_equal(m->unreferenced, 0);
}

static void expect_square(const char *text) {
    reading r;
    reading_begin(&r);
    ASSERT_OK(r.ctx, parse(&r, text, (int64_t)strlen(text)));
    assert_square(&r.mesh);
    assert_null(r.mesh.uv);
    reading_end(&r);
}

static void ascii_dialects(void **state) {
    (void)state;
    expect_square(HEAD("4", "1") SQUARE "4 0 1 2 3\n");
    expect_square(HEAD("4", "1") SQUARE "4 0 1 2 3");
    expect_square(HEAD("4", "2") "0 0 0\n\n  1 0.0 0\r\n1e0\t1 0\n0 1 0.0e3\n3 0 1 2\n\n3 0 2 3\n\n");
    expect_square("ply\r\nformat ascii 1.0\r\ncomment it\r\nobj_info made\r\nelement face 1\r\n"
                  "property uchar red\r\nproperty list int32 uint16 vertex_index\r\nelement edge 2\r\n"
                  "property int a\r\nproperty list uint8 float64 b\r\nelement nothing 99999999999\r\n"
                  "element vertex 4\r\nproperty float nx\r\nproperty int8 z\r\nproperty double y\r\n"
                  "property short x\r\nend_header\r\n"
                  "255 4 0 1 2 3\r\n1 0\r\n2 3 nan inf x\r\n"
                  "nan 0 0 0\r\n.5 0 0 1\r\n.5 0 1 1\r\n.5 0 1 0\r\n");
}

static void make_binary(making *m, bool big_endian) {
    static const int16_t x[4] = {0, 1, 1, 0};
    m->big_endian = big_endian;
    put_text(m, big_endian ? "ply\nformat binary_big_endian 1.0\n" : "ply\nformat binary_little_endian 1.0\n");
    put_text(m, "element strip 2\nproperty list uint short run\nelement vertex 4\nproperty short x\n"
                "property double y\nproperty uchar red\nproperty float z\nelement face 1\n"
                "property int8 flag\nproperty list ushort uint vertex_indices\nend_header\n");
    for (uint32_t i = 0; i < 2; i++) {
        PUT(m, uint32_t, i);
        for (uint32_t k = 0; k < i; k++) PUT(m, int16_t, -7);
    }
    for (int i = 0; i < 4; i++) {
        put_number(m, &x[i], 2);
        PUT(m, double, i >= 2);
        PUT(m, uint8_t, 200);
        PUT(m, float, 0);
    }
    PUT(m, int8_t, -1);
    PUT(m, uint16_t, 4);
    for (uint32_t i = 0; i < 4; i++) PUT(m, uint32_t, i);
}

static void binary_of_both_orders(void **state) {
    (void)state;
    for (int big = 0; big < 2; big++) {
        making m = {0};
        reading r;
        make_binary(&m, big);
        reading_begin(&r);
        ASSERT_OK(r.ctx, parse(&r, m.data, (int64_t)m.used));
        assert_square(&r.mesh);
        reading_end(&r);
    }
}

/* Every type, with a number that needs its sign and its width. */
static void every_type(void **state) {
    (void)state;
    static const struct {
        const char *name;
        double value;
    } types[] = {{"char", -100},       {"int8", -128},           {"uchar", 200},         {"uint8", 255},
                 {"short", -30000},    {"int16", -32768},        {"ushort", 60000},      {"uint16", 65535},
                 {"int", -2000000000}, {"int32", -2147483648.0}, {"uint", 4000000000.0}, {"uint32", 4294967295.0},
                 {"float", -0.15625},  {"float32", 1e30f},       {"double", 0.1},        {"float64", -1e300}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (int big = 0; big < 2; big++) {
            making m = {.big_endian = big};
            char head[512];
            double v = types[i].value;
            snprintf(head, sizeof head,
                     "ply\nformat binary_%s_endian 1.0\nelement vertex 3\nproperty %s x\nproperty float y\nproperty "
                     "float z\nelement face 1\nproperty list uchar uchar vertex_index\nend_header\n",
                     big ? "big" : "little", types[i].name);
            put_text(&m, head);
            for (int k = 0; k < 3; k++) {
                switch (i / 2) {
                case 0: PUT(&m, int8_t, (int8_t)v); break;
                case 1: PUT(&m, uint8_t, (uint8_t)v); break;
                case 2: PUT(&m, int16_t, (int16_t)v); break;
                case 3: PUT(&m, uint16_t, (uint16_t)v); break;
                case 4: PUT(&m, int32_t, (int32_t)v); break;
                case 5: PUT(&m, uint32_t, (uint32_t)v); break;
                case 6: PUT(&m, float, (float)v); break;
                default: PUT(&m, double, v); break;
                }
                PUT(&m, float, k == 1);
                PUT(&m, float, k == 2);
            }
            put_number(&m, "\3", 1), put_number(&m, "\0", 1), put_number(&m, "\1", 1), put_number(&m, "\2", 1);
            reading r;
            reading_begin(&r);
            ASSERT_OK(r.ctx, parse(&r, m.data, (int64_t)m.used));
            assert_true(r.mesh.position[3] == v);
            reading_end(&r);
        }
}

/* ---- texture coordinates ---- */

static void texture_coordinates(void **state) {
    (void)state;
    static const char *const names[][2] = {{"s", "t"}, {"u", "v"}, {"texture_u", "texture_v"}};
    reading r;
    for (int i = 0; i < 3; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
                 "property float %s\nproperty float %s\nelement face 1\nproperty list uchar int vertex_indices\n"
                 "end_header\n0 0 0 0.5 1\n1 0 0 0.25 2\n0 1 0 4 8\n3 2 0 1\n",
                 names[i][0], names[i][1]);
        reading_begin(&r);
        ASSERT_OK(r.ctx, parse(&r, text, (int64_t)strlen(text)));
        const double want[] = {0.5, 1, 0.25, 2, 4, 8};
        assert_int_equal(r.mesh.uv_vertices, 3);
        assert_memory_equal(r.mesh.uv, want, sizeof want);
        assert_memory_equal(r.mesh.uv_triangle, r.mesh.triangle, sizeof *r.mesh.triangle);
        reading_end(&r);
    }
}

#define CORNER_HEAD                                                                                                  \
    "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face "   \
    "2\n"                                                                                                            \
    "property list uchar int vertex_indices\nproperty list uchar float texcoord\nend_header\n" SQUARE

static void texture_coordinates_of_corners(void **state) {
    (void)state;
    reading r;
    const char *text = CORNER_HEAD "3 0 1 2 6 1 2 3 4 5 6\n3 3 0 2 6 7 8 9 10 11 12\n";
    reading_begin(&r);
    ASSERT_OK(r.ctx, parse(&r, text, (int64_t)strlen(text)));
    assert_int_equal(r.mesh.uv_vertices, 6);
    for (int i = 0; i < 12; i++) assert_true(r.mesh.uv[i] == i + 1);
    const int32_t want[2][3] = {{0, 1, 2}, {3, 4, 5}};
    assert_memory_equal(r.mesh.uv_triangle, want, sizeof want);
    reading_end(&r);
}

static void partial_texture_coordinates_are_left_out(void **state) {
    (void)state;
    reading r;
    const char *text = CORNER_HEAD "3 0 1 2 0\n3 0 2 3 6 7 8 9 10 11 12\n";
    reading_begin(&r);
    ASSERT_OK(r.ctx, parse(&r, text, (int64_t)strlen(text)));
    assert_null(r.mesh.uv);
    assert_int_equal(r.mesh.uv_missing, 1);
    assert_non_null(strstr(r.warning, "1 of 2 triangles have no texture coordinates"));
    reading_end(&r);
}

/* ---- refusals ---- */

typedef struct refusal {
    const char *text, *message;
} refusal;

static void refusals_say_where_and_what(void **state) {
    (void)state;
    static const refusal cases[] = {
        {"", "test.ply:1: not a PLY file: its first line must be 'ply'"},
        {"v 0 0 0\n", "test.ply:1: not a PLY file: its first line must be 'ply'"},
        {"ply\nformat ascii 1.0\nelement vertex 3\n", "test.ply:4: the file ends in its header"},
        {"ply\nelement vertex 3\nproperty float x\nend_header\n", "test.ply:4: a header without a format"},
        {"ply\nformat ascii 2.0\n", "test.ply:2: expected a format and 1.0, such as 'format ascii 1.0'"},
        {"ply\nformat text 1.0\n",
         "test.ply:2: unknown format 'text'; known: ascii, binary_little_endian, binary_big_endian"},
        {"ply\nformat ascii 1.0\nelement vertex\n",
         "test.ply:3: expected a name and a number, such as 'element vertex 8'"},
        {"ply\nformat ascii 1.0\nelement vertex -3\n", "test.ply:3: '-3' elements are not possible"},
        {"ply\nformat ascii 1.0\nelement vertex 1e9\n", "test.ply:3: '1e9' is not a whole number"},
        {"ply\nformat ascii 1.0\nproperty float x\n", "test.ply:3: a property of no element"},
        {"ply\nformat ascii 1.0\nelement vertex 3\nproperty real x\n", "test.ply:4: unknown type 'real'"},
        {"ply\nformat ascii 1.0\nelement face 3\nproperty list float int vertex_indices\n",
         "test.ply:4: a list is counted in whole numbers, not in 'float'"},
        {"ply\nformat ascii 1.0\nvertex 3\n", "test.ply:3: 'vertex' does not belong in a header"},
        {"ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float "
         "z\nend_header\n",
         "test.ply:7: the file has no faces"},
        {HEAD("4", "0") SQUARE, "test.ply:9: the file has no faces"},
        {"ply\nformat ascii 1.0\nelement face 1\nend_header\n", "test.ply:4: the file has no vertices"},
        {"ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty list uchar float z\n"
         "element face 1\nproperty list uchar int vertex_indices\nend_header\n",
         "test.ply:9: the vertices have no property z"},
        {"ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
         "element face 1\nproperty int vertex_indices\nend_header\n",
         "test.ply:9: the faces have no list vertex_indices"},
        {HEAD("4000000000", "1") SQUARE,
         "test.ply:10: 4000000000 times the element vertex do not fit in the remaining 24 bytes"},
        {HEAD("4", "1") SQUARE "3 0 1\n", "test.ply:14: the line ends too soon"},
        {HEAD("4", "1") SQUARE "3 0 1 ", "test.ply:14: the file ends too soon"},
        {HEAD("4", "1") SQUARE "3 0 1 2 3\n", "test.ply:14: there is one number too many, '3'"},
        {HEAD("4", "1") SQUARE "3 0 1 4\n", "test.ply:14: vertex 4 does not exist: there are 4, counted from 0"},
        {HEAD("4", "1") SQUARE "3 0 1 -1\n", "test.ply:14: vertex -1 does not exist: there are 4, counted from 0"},
        {HEAD("4", "1") SQUARE "3 0 1 1.5\n", "test.ply:14: '1.5' is not a whole number"},
        {HEAD("4", "1") SQUARE "2 0 1\n", "test.ply:14: a face of 2 corners"},
        {HEAD("4", "1") SQUARE "1001 0 1\n", "test.ply:14: a face of 1001 corners"},
        {HEAD("4", "1") SQUARE "-1 0 1\n", "test.ply:14: a list of -1 numbers"},
        {HEAD("4", "1") SQUARE "3 0 1 1\n", "test.ply:14: vertex 1 appears twice in a triangle of this face"},
        {HEAD("4", "1") "0 0 0\n1 0\n1 1 0\n0 1 0\n3 0 1 2\n", "test.ply:11: the line ends too soon"},
        {HEAD("4", "1") "0 0 0\n1 0 nan\n1 1 0\n0 1 0\n3 0 1 2\n", "test.ply:11: 'nan' is not a decimal number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        reading r;
        reading_begin(&r);
        assert_int_equal(parse(&r, cases[i].text, (int64_t)strlen(cases[i].text)), DRAPE_ERROR_FORMAT);
        assert_string_equal(drape_message(r.ctx), cases[i].message);
        assert_null(r.mesh.position);
        reading_end(&r);
    }
}

/* In binary the place is an element, and any cut of the file is refused. */
static void refusals_in_binary(void **state) {
    (void)state;
    making m = {0};
    reading r;
    make_binary(&m, false);
    for (size_t size = 0; size < m.used; size++) {
        reading_begin(&r);
        assert_int_equal(parse(&r, m.data, (int64_t)size), DRAPE_ERROR_FORMAT);
        reading_end(&r);
    }
    memset(m.data + m.used - 4, 9, 4);
    reading_begin(&r);
    assert_int_equal(parse(&r, m.data, (int64_t)m.used), DRAPE_ERROR_FORMAT);
    assert_string_equal(drape_message(r.ctx),
                        "test.ply: face 0: vertex 151587081 does not exist: there are 4, counted from 0");
    reading_end(&r);
    m.used -= 19 + 4; /* z of the last vertex */
    PUT(&m, float, INFINITY);
    reading_begin(&r);
    assert_int_equal(parse(&r, m.data, (int64_t)m.used + 19), DRAPE_ERROR_FORMAT);
    assert_string_equal(drape_message(r.ctx), "test.ply: vertex 3: z is not finite");
    reading_end(&r);
}

static void bytes_behind_the_end_are_told_of(void **state) {
    (void)state;
    reading r;
    const char *text = HEAD("4", "1") SQUARE "4 0 1 2 3\n4 0 1 2 3\n";
    reading_begin(&r);
    ASSERT_OK(r.ctx, parse(&r, text, (int64_t)strlen(text)));
    assert_string_equal(r.warning, "test.ply: 10 bytes after the last element are ignored");
    reading_end(&r);
}

static void a_failing_allocation_leaves_nothing(void **state) {
    (void)state;
    const char *text = CORNER_HEAD "3 0 1 2 6 1 2 3 4 5 6\n3 3 0 2 6 7 8 9 10 11 12\n";
    bool failed = true;
    int64_t n = 0;
    for (; failed; n++) {
        counting_allocator memory = {.left = n};
        drape_context *ctx = counting_context(&memory);
        drape_i_arena arena = {0};
        drape_i_mesh mesh;
        drape_status status = drape_i_ply_parse(ctx, &arena, "test.ply", text, (int64_t)strlen(text), NULL, &mesh);
        failed = memory.failed;
        assert_int_equal(status, failed ? DRAPE_ERROR_MEMORY : DRAPE_OK);
        assert_int_equal(mesh.triangles, failed ? 0 : 2);
        drape_i_arena_free(ctx, &arena);
        drape_context_destroy(ctx);
        assert_int_equal(memory.live, 0);
    }
    assert_true(n > 2);
}

/* ---- outside files ---- */

typedef struct outside_file {
    const char *path;
    int32_t vertices, triangles, uv_vertices;
    const char *refusal; /* or NULL */
} outside_file;

static const outside_file outside_files[] = {
    {"obj/assimp/cube.ply", 8, 12, 0, NULL},
    {"obj/assimp/cube_binary.ply", 8, 12, 0, NULL},
    {"obj/assimp/cube_uv.ply", 24, 12, 24, NULL},
    {"obj/assimp/float-color.ply", 3, 1, 0, NULL},
    {"obj/assimp/points.ply", 0, 0, 0, "the file has no faces"},
};

static void outside_files_are_read(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof outside_files / sizeof *outside_files; i++) {
        const outside_file *want = &outside_files[i];
        const char *path = test_shared_data(want->path);
        reading r;
        if (!path) skip();
        reading_begin(&r);
        drape_status status = drape_i_mesh_read(r.ctx, &r.arena, path, NULL, &r.mesh);
        assert_int_equal(status, want->refusal ? DRAPE_ERROR_FORMAT : DRAPE_OK);
        if (want->refusal) assert_non_null(strstr(drape_message(r.ctx), want->refusal));
        assert_int_equal(r.mesh.vertices, want->vertices);
        assert_int_equal(r.mesh.triangles, want->triangles);
        assert_int_equal(r.mesh.uv_vertices, want->uv_vertices);
        reading_end(&r);
    }
}

/* Corners in their places and faces all wound one way: the volume is 1. */
static void the_cubes_are_cubes(void **state) {
    (void)state;
    static const char *const paths[] = {"obj/assimp/cube.ply", "obj/assimp/cube_binary.ply"};
    for (int i = 0; i < 2; i++) {
        const char *path = test_shared_data(paths[i]);
        reading r;
        double volume = 0;
        if (!path) skip();
        reading_begin(&r);
        ASSERT_OK(r.ctx, drape_i_mesh_read(r.ctx, &r.arena, path, NULL, &r.mesh));
        for (int32_t t = 0; t < r.mesh.triangles; t++) {
            const double *a = r.mesh.position + 3 * r.mesh.triangle[t][0];
            const double *b = r.mesh.position + 3 * r.mesh.triangle[t][1];
            const double *c = r.mesh.position + 3 * r.mesh.triangle[t][2];
            for (int k = 0; k < 3; k++)
                volume += a[k] * (b[(k + 1) % 3] * c[(k + 2) % 3] - b[(k + 2) % 3] * c[(k + 1) % 3]) / 6;
        }
        assert_near(fabs(volume), 1, 1e-6, paths[i]);
        reading_end(&r);
    }
}

/* Every file there, mesh or not: read, or refused with its name and one line; returns how many. */
static int read_folder(const char *folder) {
    struct dirent *entry;
    struct stat info;
    char path[4096];
    int count = 0;
    DIR *list = opendir(folder);
    assert_non_null(list);
    while ((entry = readdir(list))) {
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        assert_int_equal(stat(path, &info), 0);
        if (S_ISDIR(info.st_mode)) {
            count += read_folder(path);
            continue;
        }
        reading r;
        reading_begin(&r);
        drape_status status = drape_i_mesh_read(r.ctx, &r.arena, path, NULL, &r.mesh);
        if (status) {
            assert_int_equal(status, DRAPE_ERROR_FORMAT);
            assert_true(strncmp(drape_message(r.ctx), path, strlen(path)) == 0);
            assert_null(strchr(drape_message(r.ctx), '\n'));
        } else {
            assert_true(r.mesh.vertices >= 3 && r.mesh.triangles >= 1);
        }
        reading_end(&r);
        count++;
    }
    closedir(list);
    return count;
}

static void every_outside_file_is_read_or_refused(void **state) {
    (void)state;
    const char *found = test_shared_data("obj");
    char folder[4096];
    if (!found) skip();
    snprintf(folder, sizeof folder, "%s", found);
    assert_true(read_folder(folder) >= 70);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ascii_dialects),
        cmocka_unit_test(binary_of_both_orders),
        cmocka_unit_test(every_type),
        cmocka_unit_test(texture_coordinates),
        cmocka_unit_test(texture_coordinates_of_corners),
        cmocka_unit_test(partial_texture_coordinates_are_left_out),
        cmocka_unit_test(refusals_say_where_and_what),
        cmocka_unit_test(refusals_in_binary),
        cmocka_unit_test(bytes_behind_the_end_are_told_of),
        cmocka_unit_test(a_failing_allocation_leaves_nothing),
        cmocka_unit_test(outside_files_are_read),
        cmocka_unit_test(the_cubes_are_cubes),
        cmocka_unit_test(every_outside_file_is_read_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
