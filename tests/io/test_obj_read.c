/* OBJ files: every dialect, every refusal in its words, polygons, groups, outside files, and what was written is read
 * back to the bit. */
#include "drape/io.h"
#include "io/mesh.h"
#include "sparse/counting_allocator.h"
#include "support/meshes.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A mesh with what it lives in. */
typedef struct reading {
    drape_context *ctx;
    drape_i_arena arena;
    drape_i_mesh mesh;
    drape_status status;
    char warning[512]; /* the last one */
    int warnings;
} reading;

static void keep_warning(void *user, drape_log_level level, const char *message) {
    reading *r = user;
    if (level != DRAPE_LOG_WARNING) return;
    snprintf(r->warning, sizeof r->warning, "%s", message);
    r->warnings++;
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

static void parse_bytes(reading *r, const char *text, int64_t size) {
    reading_begin(r);
    r->status = drape_i_obj_parse(r->ctx, &r->arena, "test.obj", text, size, NULL, &r->mesh);
}

static void parse(reading *r, const char *text) {
    parse_bytes(r, text, (int64_t)strlen(text));
    ASSERT_OK(r->ctx, r->status);
}

/* Triangles as "0 1 2, 0 2 3". */
static void assert_triangles(const reading *r, int32_t (*triangle)[3], const char *want) {
    char got[512] = "";
    for (int32_t t = 0; t < r->mesh.triangles; t++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%d %d %d", t ? ", " : "", triangle[t][0],
                 triangle[t][1], triangle[t][2]);
    assert_string_equal(got, want);
}

static void expect_triangles(const char *text, const char *want) {
    reading r;
    parse(&r, text);
    assert_triangles(&r, r.mesh.triangle, want);
    reading_end(&r);
}

/* ---- Dialects ---- */

#define THREE  "v 0 0 0\nv 1 0 0\nv 0 1 0\n"
#define SQUARE "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"

static void expect_three(const char *text) {
    reading r;
    parse(&r, text);
    const double want[9] = {0.5, -2, 3, 1, 0, 0, 0, 1e-3, 0};
    assert_int_equal(r.mesh.vertices, 3);
    for (int k = 0; k < 9; k++)
        if (r.mesh.position[k] != want[k]) fail_msg("number %d is %.17g in\n%s", k, r.mesh.position[k], text);
    assert_triangles(&r, r.mesh.triangle, "0 1 2");
    assert_null(r.mesh.uv);
    assert_null(r.mesh.uv_triangle);
    assert_int_equal(r.mesh.unreferenced, 0);
    assert_int_equal(r.mesh.first_unreferenced, -1);
    assert_int_equal(r.mesh.groups, 0);
    assert_int_equal(r.warnings, 0);
    reading_end(&r);
}

static void every_dialect_is_read(void **state) {
    (void)state;
    expect_three("v .5 -2 3\nv 1 0 0\nv 0 1e-3 0\nf 1 2 3\n");
    expect_three("v .5 -2 3\nv 1 0 0\nv 0 1e-3 0\nf 1 2 3");
    expect_three("v 5E-1 -2. +3.0\r\nv 1 0 0\r\nv 0 .001 0\r\nf 1 2 3\r\n");
    expect_three("\xef\xbb\xbfv 0.5 -2 3\nv 1 0 0\nv 0 1e-3 0\nf 1 2 3\n");
    expect_three("# a\\\n\n   \n\t v\t0.5  -2 3 1.0\n v 1 0 0 .1 .2 .3\nv 0 1e-3 0 .1 .2 .3 1 # c\n  f 1 2 3  #c\n");
    expect_three("v 0.5 \\\n-2 3\nv 1 0 0\nv 0 1e-3\\\r\n 0\nf 1 \\\n\\\n2\\\n 3\\\n");
    expect_three("v 0.5 -2 3\nv 1 0 0\nv 0 1e-3 0\nf -3 -2 -1\n");
    expect_three("v 0.5 -2 3\nv 1 0 0\nv 0 1e-3 0\nf 1/ 2// 3\n");
    expect_three("v 0.5 -2 3\nv 1 0 0\nv 0 1e-3 0\nfo 1 2 3\n");
    expect_three("v 0.5 -2 3\rv 1 0 0\r# c\r\rv 0 1e-3 0\rf 1 2 3\r");
    expect_three("f 1 2 3\nv 0.5 -2 3\nv 1 0 0\nv 0 1e-3 0\n");
    expect_three("v 0.5 -2 3\nf 1 2 3\nv 1 0 0\nv 0 1e-3 0\n");
    expect_three("v 0.5 -2 3\nv 1 0 0\nf -2 +2 3\nv 0 1e-3 0\n");
    expect_three("mtllib a.mtl b.mtl\nv 0.5 -2 3\nv 1 0 0\nv 0 1e-3 0\nvn 0 0 1\nvp 1 2\nusemtl\ns off\nl 1 2\np 1\n"
                 "f 1//1 2//1 3//1\n");
}

static void corners_in_material_space(void **state) {
    (void)state;
    reading r;
    parse(&r, THREE "vt 7\nvt 0.5 1\nvt 2 3 4\nf 1/3 2/2/ 3/1\nf 3/-1/9 2/-2/9 1/-3/9\n");
    const double want[6] = {7, 0, 0.5, 1, 2, 3};
    assert_int_equal(r.mesh.uv_vertices, 3);
    assert_memory_equal(r.mesh.uv, want, sizeof want);
    assert_triangles(&r, r.mesh.triangle, "0 1 2, 2 1 0");
    assert_triangles(&r, r.mesh.uv_triangle, "2 1 0, 2 1 0");
    assert_int_equal(r.mesh.uv_missing, 0);
    assert_int_equal(r.warnings, 0);
    reading_end(&r);
}

static void partial_material_space_is_left_out(void **state) {
    (void)state;
    reading r;
    parse(&r, SQUARE "vt 0 0\nf 1/1 2/1 3/1\nf 1//1 2//1 3//1 4//1\n");
    assert_null(r.mesh.uv);
    assert_null(r.mesh.uv_triangle);
    assert_int_equal(r.mesh.uv_vertices, 0);
    assert_int_equal(r.mesh.uv_missing, 2);
    assert_int_equal(r.mesh.triangles, 3);
    assert_int_equal(r.warnings, 1);
    assert_string_equal(r.warning,
                        "test.obj: 2 of 3 triangles have no texture coordinates (vt, texcoord), so none are used");
    reading_end(&r);
}

static void unknown_words_are_passed_over(void **state) {
    (void)state;
    reading r;
    parse(&r, THREE "vv 0 0 0\nvv 0 0 0\nf 1 2 3\nstitch 1\n");
    assert_int_equal(r.mesh.triangles, 1);
    assert_int_equal(r.warnings, 1);
    assert_string_equal(r.warning, "test.obj:4: 'vv' is not known; 3 such lines are ignored");
    reading_end(&r);
}

static void unreferenced_vertices_are_counted(void **state) {
    (void)state;
    reading r;
    parse(&r, THREE "v 4 4 4\nv 5 5 5\nf 1 2 4\n");
    assert_int_equal(r.mesh.vertices, 5);
    assert_int_equal(r.mesh.unreferenced, 2);
    assert_int_equal(r.mesh.first_unreferenced, 2);
    reading_end(&r);
}

static void the_decimal_point_is_no_comma(void **state) {
    (void)state;
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "de_DE.utf8")) {
        print_message("no locale with a decimal comma here: skipped\n");
        skip();
    }
    expect_three("v 0.5 -2 3\nv 1 0 0\nv 0 1e-3 0\nf 1 2 3\n");
    setlocale(LC_NUMERIC, "C");
}

/* ---- Groups ---- */

static void assert_group(const reading *r, int32_t g, const char *name, const char *want) {
    char got[256] = "";
    const drape_i_mesh_group *group = &r->mesh.group[g];
    assert_string_equal(group->name, name);
    for (int32_t i = 0; i < group->vertices; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%d", i ? " " : "", group->vertex[i]);
    assert_string_equal(got, want);
}

static void groups_list_their_vertices(void **state) {
    (void)state;
    reading r;
    parse(&r, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nv 2 2 2\nv 3 3 3\n"
              "f 6 5 4\n"                      /* in none */
              "o my  sheet \ng b a\nf 3 2 1\n" /* my  sheet, b, a */
              "g none\n"                       /* no face: no group */
              "g\nf 2 3 4\n"                   /* my  sheet */
              "g a a\nf 5 4 2\n"               /* my  sheet, a */
              "o b\nf 1 6 5\n");               /* a, b */
    assert_int_equal(r.mesh.groups, 3);
    assert_group(&r, 0, "my  sheet", "0 1 2 3 4");
    assert_group(&r, 1, "b", "0 1 2 4 5");
    assert_group(&r, 2, "a", "0 1 2 3 4 5");
    reading_end(&r);
    parse(&r, THREE "o one \\\ntwo\ng \\\nx\nf 1 2 3\n");
    assert_int_equal(r.mesh.groups, 2);
    assert_group(&r, 0, "one", "0 1 2");
    assert_group(&r, 1, "x", "0 1 2");
    reading_end(&r);
}

/* ---- Polygons ---- */

static void quads_are_cut_along_the_shorter_diagonal(void **state) {
    (void)state;
    expect_triangles(SQUARE "f 1 2 3 4\n", "0 1 2, 0 2 3");
    expect_triangles(SQUARE "f 2 3 4 1\n", "1 2 3, 1 3 0");
    expect_triangles("v 0 0 0\nv 1 0 0\nv 2 1 0\nv 1 1 0\nf 1 2 3 4\n", "1 2 3, 0 1 3");
    expect_triangles("v 1 0 0\nv 2 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n", "0 1 2, 0 2 3");
    expect_triangles("v 0 0 0\nv 0 1 0\nv 0 2 1\nv 0 1 1\nf 1 2 3 4\n", "1 2 3, 0 1 3");
    /* the shorter one lies outside */
    expect_triangles("v 0 0 0\nv 1 0.2 0\nv 2 0 0\nv 1 4 0\nf 1 2 3 4\n", "1 2 3, 0 1 3");
    expect_triangles("v 0 0 0\nv 1 4 0\nv 2 0 0\nv 1 0.2 0\nf 1 2 3 4\n", "1 2 3, 0 1 3");
}

static double area_vector(const drape_i_polygon *p, int32_t a, int32_t b, int32_t c, int32_t k) {
    const double *x = p->x[a], *y = p->x[b], *z = p->x[c];
    int32_t u = (k + 1) % 3, v = (k + 2) % 3;
    return 0.5 * ((y[u] - x[u]) * (z[v] - x[v]) - (y[v] - x[v]) * (z[u] - x[u]));
}

/* All triangles face the same way, so that equal areas mean that none overlaps another. */
static void assert_tiles(const drape_i_polygon *p, int32_t axis) {
    double whole = 0, sum = 0;
    for (int32_t i = 1; i + 1 < p->corners; i++) whole += area_vector(p, 0, i, i + 1, axis);
    for (int32_t t = 0; t < p->corners - 2; t++) {
        double area = area_vector(p, p->triangle[t][0], p->triangle[t][1], p->triangle[t][2], axis);
        if (!(area * whole > 0)) fail_msg("triangle %d of %d corners has area %g of %g", t, p->corners, area, whole);
        sum += area;
    }
    assert_near(sum, whole, 1e-12 * fabs(whole), "area");
}

/* Stars: the radius jumps at random, the angle grows. Each axis and both windings. */
static void polygons_are_tiled(void **state) {
    (void)state;
    static drape_i_polygon p;
    test_random random = {3};
    for (int32_t n = 3; n <= 60; n++)
        for (int32_t axis = 0; axis < 3; axis++)
            for (int32_t way = -1; way <= 1; way += 2) {
                p.corners = n;
                for (int32_t i = 0; i < n; i++) {
                    double angle = way * 2 * 3.141592653589793 * i / n,
                           r = n == 3 ? 1 : 0.2 + test_random_unit(&random);
                    p.x[i][axis] = 0.3 * r * cos(angle);
                    p.x[i][(axis + 1) % 3] = r * cos(angle);
                    p.x[i][(axis + 2) % 3] = r * sin(angle);
                }
                drape_i_polygon_cut(&p);
                assert_tiles(&p, axis);
            }
}

static void combs_and_collinear_corners_are_tiled(void **state) {
    (void)state;
    static drape_i_polygon p;
    p.corners = DRAPE_I_POLYGON_MOST; /* teeth upwards, then back along the bottom */
    int32_t half = p.corners / 2;
    for (int32_t i = 0; i < p.corners; i++) {
        p.x[i][0] = i < half ? i : p.corners - 1 - i;
        p.x[i][1] = i < half ? 0 : (p.corners - 1 - i) % 2 ? 10 : 1;
        p.x[i][2] = 0;
    }
    drape_i_polygon_cut(&p);
    assert_tiles(&p, 2);
}

static void a_hole_on_a_double_edge_is_kept(void **state) {
    (void)state;
    reading r;
    double sum = 0;
    parse(&r, "v 0 0 0\nv 3 0 0\nv 3 3 0\nv 0 3 0\nv 1 1 0\nv 1 2 0\nv 2 2 0\nv 2 1 0\nf 1 2 3 4 1 5 6 7 8 5\n");
    assert_int_equal(r.mesh.triangles, 8);
    for (int32_t t = 0; t < 8; t++) {
        const double *a = r.mesh.position + 3 * r.mesh.triangle[t][0],
                     *b = r.mesh.position + 3 * r.mesh.triangle[t][1],
                     *c = r.mesh.position + 3 * r.mesh.triangle[t][2];
        double area = 0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
        assert_true(area > 0);
        sum += area;
    }
    ASSERT_NEAR(sum, 8, 1e-12);
    reading_end(&r);
}

static void crossed_polygons_are_cut_somehow(void **state) {
    (void)state;
    reading r;
    parse(&r, "v 0 0 0\nv 1 1 0\nv 1 0 0\nv 0 1 0\nv 0 0 0\nv 0 0 0\nf 1 2 3 4\nf 1 5 6\nf 1 2 3 4 5 6\n"
              "v 1e308 0 0\nv -1e308 1e308 1\nv 1e308 -1e308 1\nf 7 8 9 1\n");
    assert_int_equal(r.mesh.triangles, 2 + 1 + 4 + 2);
    reading_end(&r);
}

/* ---- Refusals ---- */

typedef struct refusal {
    const char *text, *message;
} refusal;

static void refusals_say_where_and_what(void **state) {
    (void)state;
    static const refusal cases[] = {
        {"", "test.obj:1: the file ends without a face (f)"},
        {"v 0 0 0\n# f 1 2 3\n", "test.obj:3: the file ends without a face (f)"},
        {"v 0 0\n", "test.obj:1: a vertex of 2 numbers; expected 3, 4 with a weight, or 6 or 7 with a color"},
        {"v 1 2 3 4 5\n", "test.obj:1: a vertex of 5 numbers; expected 3, 4 with a weight, or 6 or 7 with a color"},
        {"v 1 2 3 4 5 6 7 8\n", "test.obj:1: there is one number too many, '8'"},
        {"\n\nv 1 x 2\n", "test.obj:3: 'x' is not a decimal number"},
        {"v \\\n1 \\\n0x1 2\nf", "test.obj:1: '0x1' is not a decimal number"},
        {"v 1 nan 2\n", "test.obj:1: 'nan' is not a finite number"},
        {"v 1 inf 2\n", "test.obj:1: 'inf' is not a finite number"},
        {"v 1,5 1 2\n", "test.obj:1: '1,5' is not a decimal number"},
        {"v 1 1e 2\n", "test.obj:1: '1e' is not a decimal number"},
        {"v 1 . 2\n", "test.obj:1: '.' is not a decimal number"},
        {"v 1 1e999 2\n", "test.obj:1: '1e999' is beyond the range of a double"},
        {"v 1 2 \x01\xff"
         "abcdefghijklmnopqrstuvwxyz0123456789\n",
         "test.obj:1: '\?\?abcdefghijklmnopqrstuvwxyz0123...' is not a decimal number"},
        {"vt\n", "test.obj:1: a material-space vertex without a number"},
        {"vt 1 2 3 4\n", "test.obj:1: there is one number too many, '4'"},
        {THREE "f 1 2\n", "test.obj:4: a face of 2 corners"},
        {THREE "f\n", "test.obj:4: a face of 0 corners"},
        {THREE "f 1 2 4\n", "test.obj:4: vertex 4 does not exist: the file has 3"},
        {THREE "f 1 2 99999999999999999999\n",
         "test.obj:4: vertex 9223372036854775807 does not exist: the file has 3"},
        {THREE "f 1 2 0\n", "test.obj:4: vertex 0, but numbers start at 1"},
        {THREE "f -1 -2 -4\nv 0 0 0\n", "test.obj:4: vertex -4 does not exist: only 3 come before this line"},
        {THREE "f 1/1 2/1 3/1\n", "test.obj:4: material-space vertex 1 does not exist: the file has 0"},
        {THREE "vt 0 0\nf 1/1 2/1 3/-2\n",
         "test.obj:5: material-space vertex -2 does not exist: only 1 come before this line"},
        {THREE "vt 0 0\nf 1/0 2/1 3/1\n", "test.obj:5: material-space vertex 0, but numbers start at 1"},
        {THREE "f 1 2 3.5\n", "test.obj:4: '3.5' is not a corner; expected v, v/vt, v//vn or v/vt/vn"},
        {THREE "f 1 2 3///\n", "test.obj:4: '3///' is not a corner; expected v, v/vt, v//vn or v/vt/vn"},
        {THREE "f 1 2 /3\n", "test.obj:4: '/3' is not a corner; expected v, v/vt, v//vn or v/vt/vn"},
        {THREE "f 1 2 3/1/1/1\n", "test.obj:4: '3/1/1/1' is not a corner; expected v, v/vt, v//vn or v/vt/vn"},
        {THREE "f 1 2 -\n", "test.obj:4: '-' is not a corner; expected v, v/vt, v//vn or v/vt/vn"},
        {THREE "f 1 2 2\n", "test.obj:4: vertex 2 appears twice in a triangle of this face"},
        {THREE "f 3 2 3\n", "test.obj:4: vertex 3 appears twice in a triangle of this face"},
        {"g a b c d e f g h i j k l m n o p q\n", "test.obj:1: more than 16 groups at a time"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        reading r;
        parse_bytes(&r, cases[i].text, (int64_t)strlen(cases[i].text));
        if (r.status != DRAPE_ERROR_FORMAT) fail_msg("accepted:\n%s", cases[i].text);
        assert_string_equal(drape_message(r.ctx), cases[i].message);
        assert_int_equal(r.mesh.triangles, 0);
        assert_null(r.mesh.position);
        assert_int_equal(r.warnings, 0);
        reading_end(&r);
    }
}

static void bytes_that_are_no_text(void **state) {
    (void)state;
    reading r;
    parse_bytes(&r, "v 0 0 0\nv\0 0", 12);
    assert_int_equal(r.status, DRAPE_ERROR_FORMAT);
    assert_string_equal(drape_message(r.ctx), "test.obj:2: a zero byte; this is not a text file");
    assert_int_equal(drape_i_obj_parse(r.ctx, &r.arena, "x", NULL, 5, NULL, &r.mesh), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_i_obj_parse(r.ctx, &r.arena, "x", "", -1, NULL, &r.mesh), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_i_mesh_read(r.ctx, &r.arena, "/nowhere/at/all.obj", NULL, &r.mesh), DRAPE_ERROR_IO);
    assert_non_null(strstr(drape_message(r.ctx), "/nowhere/at/all.obj"));
    reading_end(&r);
}

/* A face of so many corners on a wheel. */
static char *wheel(int32_t corners, int64_t *size) {
    size_t room = (size_t)corners * 64 + 64;
    char *text = malloc(room);
    assert_non_null(text);
    *size = 0;
    for (int32_t i = 0; i < corners; i++)
        *size += snprintf(text + *size, room - (size_t)*size, "v %.3f %.3f 0\n", cos(6.283 * i / corners) * 1000,
                          sin(6.283 * i / corners) * 1000);
    *size += snprintf(text + *size, room - (size_t)*size, "f");
    for (int32_t i = 0; i < corners; i++) *size += snprintf(text + *size, room - (size_t)*size, " %d", i + 1);
    return text;
}

static void faces_of_very_many_corners_are_refused(void **state) {
    (void)state;
    reading r;
    int64_t size;
    char *text = wheel(1000, &size);
    parse_bytes(&r, text, size);
    ASSERT_OK(r.ctx, r.status);
    assert_int_equal(r.mesh.triangles, 998);
    reading_end(&r);
    free(text);
    for (int32_t corners = 1001; corners < 1000000; corners *= 900) {
        text = wheel(corners, &size);
        parse_bytes(&r, text, size);
        assert_int_equal(r.status, DRAPE_ERROR_FORMAT);
        assert_non_null(strstr(drape_message(r.ctx), ": a face of more than 1000 corners"));
        reading_end(&r);
        free(text);
    }
}

static void a_failing_allocation_leaves_nothing(void **state) {
    (void)state;
    const char *text = SQUARE "vt 0 0\nvt 1 0\no a\ng b c\nf 1/1 2/2 3/1 4/2\ng d\nf 1/1 2/2 3/1\n";
    bool failed = true;
    int64_t n = 0;
    for (; failed; n++) {
        counting_allocator memory = {.left = n};
        drape_context *ctx = counting_context(&memory);
        drape_i_arena arena = {0};
        drape_i_mesh mesh;
        drape_status status = drape_i_obj_parse(ctx, &arena, "test.obj", text, (int64_t)strlen(text), NULL, &mesh);
        failed = memory.failed;
        assert_int_equal(status, failed ? DRAPE_ERROR_MEMORY : DRAPE_OK);
        assert_int_equal(mesh.triangles, failed ? 0 : 3);
        drape_i_arena_free(ctx, &arena);
        drape_context_destroy(ctx);
        assert_int_equal(memory.live, 0);
    }
    assert_true(n > 2);
}

/* ---- Files ---- */

static void what_was_written_is_read(void **state) {
    (void)state;
    char folder[] = "/tmp/drape-test-obj-read-XXXXXX", path[128], frame[128];
    test_random random = {11};
    test_mesh mesh = test_mesh_irregular(9, 7, 1, 1, &random);
    drape_piece piece = test_mesh_piece(&mesh);
    drape_cloth *cloth;
    drape_writer *writer;
    reading r;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/sheet.obj", folder);
    snprintf(frame, sizeof frame, "%s/sheet_0000.obj", folder);
    reading_begin(&r);
    for (int32_t i = 0; i < 3 * mesh.vertices; i++) mesh.rest[i] += test_random_between(&random, -1e-3, 1e-3);
    ASSERT_OK(r.ctx, drape_cloth_create(r.ctx, &piece, 1, NULL, &cloth));
    ASSERT_OK(r.ctx, drape_writer_open(r.ctx, path, &(drape_animation){.cloth = cloth}, &writer));
    ASSERT_OK(r.ctx, drape_writer_frame(writer, &(drape_frame){.positions = mesh.rest}));
    ASSERT_OK(r.ctx, drape_writer_close(writer));
    ASSERT_OK(r.ctx, drape_i_mesh_read(r.ctx, &r.arena, frame, NULL, &r.mesh));
    assert_int_equal(r.mesh.vertices, mesh.vertices);
    assert_int_equal(r.mesh.triangles, mesh.triangles);
    assert_memory_equal(r.mesh.position, mesh.rest, 24 * (size_t)mesh.vertices);
    assert_memory_equal(r.mesh.triangle, drape_cloth_triangle(cloth), 12 * (size_t)mesh.triangles);
    assert_int_equal(r.mesh.unreferenced, 0);
    assert_int_equal(r.warnings, 0);
    unlink(frame);
    rmdir(folder);
    drape_cloth_destroy(cloth);
    test_mesh_clear(&mesh);
    reading_end(&r);
}

/* As counted by another program; no triangles: refused for want of a face. */
typedef struct outside_file {
    const char *path;
    int32_t vertices, triangles, uv_vertices, unreferenced, groups;
} outside_file;

static const outside_file outside_files[] = {
    {"obj/assimp/box.obj", 8, 12, 0, 0, 1},
    {"obj/assimp/cube_mtllib_after_g.obj", 8, 12, 0, 0, 1},
    {"obj/assimp/cube_usemtl.obj", 8, 12, 0, 0, 1},
    {"obj/assimp/cube_with_vertexcolors.obj", 8, 12, 0, 0, 1},
    {"obj/assimp/cube_with_vertexcolors_uni.obj", 8, 12, 0, 0, 1},
    {"obj/assimp/empty_mat.obj", 130, 256, 0, 0, 1},
    {"obj/assimp/mtl_different_folder.obj", 8, 12, 0, 0, 1},
    {"obj/assimp/point_cloud.obj", 3, 0, 0, 3, 0},
    {"obj/assimp/space_in_material_name.obj", 64, 64, 0, 0, 2},
    {"obj/assimp/spider.obj", 762, 1368, 302, 0, 19},
    {"obj/assimp/testline.obj", 8, 0, 0, 8, 0},
    {"obj/assimp/testpoints.obj", 8, 0, 0, 8, 0},
    {"obj/classic/spot.obj", 2930, 5856, 3225, 0, 0},
    {"obj/classic/suzanne.obj", 507, 968, 0, 0, 0},
    {"obj/classic/teapot.obj", 3644, 6320, 0, 0, 0},
    {"obj/erleben/cliff.obj", 8, 12, 0, 0, 0},
    {"obj/erleben/crack.obj", 20, 36, 0, 0, 0},
    {"obj/erleben/hole.obj", 48, 88, 0, 0, 0},
    {"obj/erleben/internal_edges.obj", 14, 24, 0, 0, 0},
    {"obj/erleben/spike.obj", 5, 6, 0, 0, 0},
    {"obj/erleben/wedge.obj", 6, 8, 0, 0, 0},
    {"obj/rapidobj/color/color.obj", 8, 12, 0, 0, 1},
    {"obj/rapidobj/cube/cube.obj", 8, 12, 0, 0, 1},
    {"obj/rapidobj/primitives/primitives.obj", 8, 4, 0, 0, 0},
    {"obj/tinyobjloader/catmark_torus_creases0.obj", 32, 64, 4, 0, 0},
    {"obj/tinyobjloader/colorspace-issue-184.obj", 3, 1, 0, 0, 1},
    {"obj/tinyobjloader/cornell_box.obj", 76, 36, 0, 4, 8},
    {"obj/tinyobjloader/cornell_box_multimaterial.obj", 76, 36, 0, 4, 8},
    {"obj/tinyobjloader/cube-vertex-w-component.obj", 8, 12, 0, 0, 7},
    {"obj/tinyobjloader/cube-vertexcol.obj", 8, 12, 0, 0, 7},
    {"obj/tinyobjloader/cube.obj", 8, 12, 0, 0, 7},
    {"obj/tinyobjloader/missing_material_file.obj", 76, 36, 0, 4, 8},
    {"obj/tinyobjloader/mtllib-multiple-files-issue-112.obj", 3, 1, 0, 0, 1},
    {"obj/tinyobjloader/no_material.obj", 76, 36, 0, 4, 8},
    {"obj/tinyobjloader/norm-texopt.obj", 3, 1, 0, 0, 1},
    {"obj/tinyobjloader/pbr-mat-ext.obj", 4, 2, 0, 0, 1},
    {"obj/tinyobjloader/refl.obj", 8, 12, 0, 0, 7},
    {"obj/tinyobjloader/smoothing-group-two-squares.obj", 6, 3, 0, 1, 1},
    {"obj/tinyobjloader/smoothing-normal.obj", 8, 6, 0, 0, 3},
    {"obj/tinyobjloader/texture-filename-with-whitespace.obj", 8, 12, 0, 0, 7},
    {"obj/tinyobjloader/texture-options-issue-85.obj", 3, 1, 0, 0, 1},
    {"obj/tinyobjloader/usemtl-issue-104.obj", 12, 6, 0, 0, 1},
    {"garments/berkeley/pants/coarse/pants-m.obj", 170, 188, 0, 0, 0},
    {"garments/berkeley/pants/coarse/pants-w.obj", 170, 188, 0, 0, 0},
    {"garments/berkeley/pants/coarse/pants.obj", 109, 188, 564, 0, 0},
    {"garments/berkeley/shirt/isotropic/shirt-iso-m.obj", 2151, 3664, 10992, 0, 0},
    {"garments/berkeley/shirt/isotropic/shirt-iso-w.obj", 2151, 3664, 10992, 0, 0},
    {"garments/berkeley/shirt/isotropic/shirt-iso.obj", 1903, 3664, 10992, 0, 0},
    {"garments/berkeley/skirt/coarse/skirt-m.obj", 177, 207, 177, 0, 0},
    {"garments/berkeley/skirt/coarse/skirt-w.obj", 177, 207, 177, 0, 0},
    {"garments/berkeley/skirt/coarse/skirt.obj", 127, 207, 621, 0, 0},
    {"garments/berkeley/skirt/isotropic/skirt-iso-m.obj", 2782, 4996, 14988, 0, 0},
    {"garments/berkeley/skirt/isotropic/skirt-iso-w.obj", 2782, 4996, 14988, 0, 0},
    {"garments/berkeley/skirt/isotropic/skirt-iso.obj", 2594, 4996, 14988, 0, 0},
    {"garments/codim-ipc/bowl.obj", 1196, 2330, 0, 0, 0},
    {"garments/codim-ipc/sphere1K.obj", 1239, 2474, 0, 0, 0},
    {"garments/codim-ipc/square2K.obj", 1939, 3716, 0, 0, 0},
    {"garments/codim-ipc/square8K.obj", 8282, 16154, 0, 0, 0},
    {"garments/codim-ipc/stitchTest.obj", 6, 2, 0, 0, 0},
    {"garments/codim-ipc/torus3K.obj", 3365, 6730, 0, 0, 0},
};

static bool check_outside_file(const outside_file *want) {
    const char *path = test_shared_data(want->path);
    reading r;
    if (!path) return false;
    reading_begin(&r);
    r.status = drape_i_mesh_read(r.ctx, &r.arena, path, NULL, &r.mesh);
    if (!want->triangles) {
        assert_int_equal(r.status, DRAPE_ERROR_FORMAT);
        assert_non_null(strstr(drape_message(r.ctx), ": the file ends without a face (f)"));
    } else {
        const drape_i_mesh *m = &r.mesh;
        ASSERT_OK(r.ctx, r.status);
        if (m->vertices != want->vertices || m->triangles != want->triangles || m->uv_vertices != want->uv_vertices ||
            m->unreferenced != want->unreferenced || m->groups != want->groups)
            fail_msg("%s: %d vertices, %d triangles, %d uv vertices, %d unreferenced, %d groups", want->path,
                     m->vertices, m->triangles, m->uv_vertices, m->unreferenced, m->groups);
    }
    reading_end(&r);
    return true;
}

static void outside_files_are_read(void **state) {
    (void)state;
    size_t count = sizeof outside_files / sizeof *outside_files, found = 0;
    for (size_t i = 0; i < count; i++) found += check_outside_file(&outside_files[i]);
    if (!found) skip();
    assert_int_equal(found, count);
}

/* The first face of a skirt, by hand. */
static void a_garment_has_its_material_space(void **state) {
    (void)state;
    const char *path = test_shared_data("garments/berkeley/skirt/coarse/skirt.obj");
    reading r;
    if (!path) skip();
    reading_begin(&r);
    ASSERT_OK(r.ctx, drape_i_mesh_read(r.ctx, &r.arena, path, NULL, &r.mesh));
    const int32_t first[3] = {13, 28, 27}, first_uv[3] = {0, 1, 2};
    assert_memory_equal(r.mesh.triangle[0], first, sizeof first);
    assert_memory_equal(r.mesh.uv_triangle[0], first_uv, sizeof first_uv);
    assert_non_null(strstr(r.warning, "is not known"));
    reading_end(&r);
}

static void count_problem(void *user, int64_t line, const char *code, const char *what) {
    (void)line, (void)code, (void)what;
    ++*(int *)user;
}

/* A face that is wrong is let go where somebody listens, and with it the names that hold for it alone. */
static void groups_of_faces_that_are_let_go(void **state) {
    static const char text[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\no a\nf 1 2 9\ng b\nf 1 2 3\ng c\nf 1 2 x\n";
    int problems = 0;
    const drape_i_mesh_listener listener = {count_problem, &problems};
    reading r;
    (void)state;
    reading_begin(&r);
    ASSERT_OK(r.ctx, drape_i_obj_parse(r.ctx, &r.arena, "test.obj", text, sizeof text - 1, &listener, &r.mesh));
    assert_int_equal(problems, 2);
    assert_int_equal(r.mesh.groups, 2);
    assert_string_equal(r.mesh.group[0].name, "a");
    assert_string_equal(r.mesh.group[1].name, "b");
    reading_end(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dialect_is_read),
        cmocka_unit_test(corners_in_material_space),
        cmocka_unit_test(partial_material_space_is_left_out),
        cmocka_unit_test(unknown_words_are_passed_over),
        cmocka_unit_test(unreferenced_vertices_are_counted),
        cmocka_unit_test(the_decimal_point_is_no_comma),
        cmocka_unit_test(groups_list_their_vertices),
        cmocka_unit_test(quads_are_cut_along_the_shorter_diagonal),
        cmocka_unit_test(polygons_are_tiled),
        cmocka_unit_test(combs_and_collinear_corners_are_tiled),
        cmocka_unit_test(a_hole_on_a_double_edge_is_kept),
        cmocka_unit_test(crossed_polygons_are_cut_somehow),
        cmocka_unit_test(refusals_say_where_and_what),
        cmocka_unit_test(bytes_that_are_no_text),
        cmocka_unit_test(faces_of_very_many_corners_are_refused),
        cmocka_unit_test(a_failing_allocation_leaves_nothing),
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(outside_files_are_read),
        cmocka_unit_test(a_garment_has_its_material_space),
        cmocka_unit_test(groups_of_faces_that_are_let_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
