/* Parts of mesh files have the bits that they have in the whole file, and files with anything odd are not divided. */
#include "support/folder.h"

#include "base/arena.h"
#include "io/mesh_part.h"
#include "sparse/counting_allocator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/drape-mesh-part-XXXXXX";

enum { COLUMNS = 60, ROWS = 90, VERTICES = COLUMNS * ROWS }; /* files of several blocks */

/* ---- Files ---- */

static double uneven(int32_t i) { return 0.37 * ((i * 7919) % 1000) / 1000; }

static FILE *begin(const char *name) {
    FILE *to = fopen(test_path_in(folder, name), "wb");
    assert_non_null(to);
    return to;
}

static void put_vertices(FILE *to, const char *format, const char *end) {
    for (int32_t v = 0; v < VERTICES; v++) {
        fprintf(to, format, v % COLUMNS + uneven(v), v / COLUMNS + uneven(v + 5), uneven(v + 9));
        fputs(end, to);
    }
}

/* Triangles, quads and a pentagon now and then; negative numbers, groups, lines that are continued, vertices after
 * faces, and everything that is passed over. */
static void write_obj(const char *name, bool uv, const char *end) {
    FILE *to = begin(name);
    fprintf(to, "\xef\xbb\xbf# a sheet%smtllib x.mtl%so all of it # but this%s", end, end, end);
    for (int32_t v = 0; uv && v < VERTICES; v++) fprintf(to, "vt %.17g %.9g%s", uneven(v), 1e3 * uneven(v + 1), end);
    put_vertices(to, "v %.17g %.9g \\\n %.3e 0.5 0.5 0.5", end);
    for (int32_t j = 0; j + 1 < ROWS; j++) {
        fprintf(to, "g row%d %s%ss 1%s", j % 7, j % 3 ? "third" : "", end, end);
        for (int32_t i = 0; i + 1 < COLUMNS; i++) {
            const int32_t a = i + COLUMNS * j + 1, b = a + 1, c = b + COLUMNS, d = a + COLUMNS;
            if (uv && i % 2) fprintf(to, "f %d/%d %d/%d/7 %d/%d %d/%d%s", a, b, b, a, c, c, d, d, end);
            else if (uv)
                fprintf(to, "f %d/%d %d/%d %d/%d%sf %d/%d %d/%d %d/%d%s", a, a, b, b, d, d, end, b, b, c, c, d, d,
                        end);
            else fprintf(to, i % 2 ? "fo %d %d//1 %d// \\\n%d%s" : "f %d %d %d %d%s", a - VERTICES - 1, b, c, d, end);
        }
    }
    assert_int_equal(fclose(to), 0);
}

static void put_number(FILE *to, const void *data, size_t size, bool big) {
    for (size_t k = 0; k < size; k++) fputc(((const unsigned char *)data)[big ? size - 1 - k : k], to);
}

static void put_int(FILE *to, int32_t value, bool big) { put_number(to, &value, sizeof value, big); }

static void put_row(FILE *to, int32_t v, bool big) {
    const double x[3] = {v % COLUMNS + uneven(v), v / COLUMNS + uneven(v + 5), uneven(v + 9)};
    const float st[2] = {(float)uneven(v), (float)uneven(v + 1)};
    for (int32_t k = 0; k < 3; k++) put_number(to, &x[k], sizeof x[k], big);
    for (int32_t k = 0; k < 2; k++) put_number(to, &st[k], sizeof st[k], big);
}

/* Binary, with texture coordinates of vertices, other properties and another element. */
static void write_ply(const char *name, bool big) {
    FILE *to = begin(name);
    fprintf(to,
            "ply\nformat binary_%s_endian 1.0\ncomment x\nelement camera 2\nproperty int id\nelement vertex %d\n"
            "property double x\nproperty double y\nproperty double z\nproperty float s\nproperty float t\n"
            "element face %d\nproperty int32 color\nproperty list uchar int vertex_indices\nproperty list int uchar "
            "more\n"
            "end_header\n",
            big ? "big" : "little", VERTICES, (COLUMNS - 1) * (ROWS - 1));
    put_int(to, 1, big), put_int(to, 2, big);
    for (int32_t v = 0; v < VERTICES; v++) put_row(to, v, big);
    for (int32_t j = 0; j + 1 < ROWS; j++)
        for (int32_t i = 0; i + 1 < COLUMNS; i++) {
            const int32_t a = i + COLUMNS * j, corner[4] = {a, a + 1, a + COLUMNS + 1, a + COLUMNS};
            put_int(to, 7, big);
            fputc(4, to);
            for (int32_t k = 0; k < 4; k++) put_int(to, corner[k], big);
            put_int(to, i % 3, big);
            for (int32_t k = 0; k < i % 3; k++) fputc(k, to);
        }
    assert_int_equal(fclose(to), 0);
}

/* In letters, with texture coordinates of faces. */
static void write_ascii_ply(const char *name) {
    FILE *to = begin(name);
    fprintf(to,
            "ply\nformat ascii 1.0\nelement vertex %d\nproperty float x\nproperty uchar red\nproperty float y\n"
            "property float z\nelement face %d\nproperty list uchar float texcoord\n"
            "property list uchar ushort vertex_index\nend_header\n",
            VERTICES, 2 * (COLUMNS - 1) * (ROWS - 1));
    put_vertices(to, "%.17g 255 %.9g  %.3e", "\n\n");
    for (int32_t j = 0; j + 1 < ROWS; j++)
        for (int32_t i = 0; i + 1 < COLUMNS; i++) {
            const int32_t a = i + COLUMNS * j, b = a + 1, c = b + COLUMNS, d = a + COLUMNS;
            fprintf(to, "6 0 %g 1 0 1 1 3 %d %d %d\n6 0 0 1 1 0 %d 3 %d %d %d\r\n", uneven(a), a, b, c, j, a, c, d);
        }
    assert_int_equal(fclose(to), 0);
}

static int set_up(void **state) {
    *state = NULL;
    if (!mkdtemp(folder)) return -1;
    write_obj("plain.obj", false, "\n");
    write_obj("pattern.obj", true, "\r\n");
    write_ply("little.ply", false);
    write_ply("big.ply", true);
    write_ascii_ply("ascii.ply");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    test_folder_entries(folder, true);
    return rmdir(folder);
}

/* ---- Comparing ---- */

/* Of a triangle of the part: the same one of the whole. */
static bool is_same(const drape_i_mesh_part *part, const int32_t *a, const int32_t *b) {
    for (int32_t k = 0; k < 3; k++)
        if (part->number[a[k]] != b[k]) return false;
    return true;
}

static bool has_chosen(const uint8_t *chosen, const int32_t *corner) {
    return chosen[corner[0]] || chosen[corner[1]] || chosen[corner[2]];
}

static void check_triangles(const drape_i_mesh_part *part, const drape_i_mesh *a, const drape_i_mesh *whole,
                            const uint8_t *chosen) {
    int32_t at = 0;
    for (int32_t t = 0; t < whole->triangles; t++) {
        const bool same = at < a->triangles && is_same(part, a->triangle[at], whole->triangle[t]);
        if (has_chosen(chosen, whole->triangle[t])) assert_true(same);
        if (!same) continue;
        for (int32_t k = 0; whole->uv && k < 3; k++)
            assert_memory_equal(a->uv + 2 * (int64_t)a->uv_triangle[at][k],
                                whole->uv + 2 * (int64_t)whole->uv_triangle[t][k], 2 * sizeof(double));
        at++;
    }
    assert_int_equal(at, a->triangles);
    assert_true(!a->uv == !whole->uv);
}

static bool is_in(const drape_i_mesh_group *group, int32_t v) {
    for (int32_t i = 0; group && i < group->vertices; i++)
        if (group->vertex[i] == v) return true;
    return false;
}

static const drape_i_mesh_group *find_group(const drape_i_mesh *m, const char *name) {
    for (int32_t g = 0; g < m->groups; g++)
        if (strcmp(m->group[g].name, name) == 0) return &m->group[g];
    return NULL;
}

static void check_groups(const drape_i_mesh_part *part, const drape_i_mesh *a, const drape_i_mesh *whole) {
    for (int32_t g = 0; g < whole->groups; g++) {
        const drape_i_mesh_group *same = find_group(a, whole->group[g].name);
        for (int32_t v = 0; v < a->vertices; v += 7)
            if (part->chosen[v]) assert_int_equal(is_in(same, v), is_in(&whole->group[g], part->number[v]));
    }
}

static void check_choice(drape_context *ctx, const char *name, const drape_i_mesh *whole,
                         const drape_i_mesh_choice *choice) {
    drape_i_arena arena = {0};
    drape_i_mesh_part *part;
    drape_i_mesh a;
    static uint8_t chosen[VERTICES];
    int32_t wanted = 0, count = 0;
    memset(chosen, 0, sizeof chosen);
    for (int64_t v = choice->from; v < choice->end; v++) chosen[v] = 1;
    for (int32_t i = 0; i < choice->count; i++) chosen[choice->vertex[i] - choice->first] = 1;
    for (int32_t v = 0; v < VERTICES; v++) wanted += chosen[v];
    ASSERT_OK(ctx, drape_i_mesh_read_part(ctx, &arena, test_path_in(folder, name), choice, &part, &a));
    assert_non_null(part);
    assert_int_equal(part->vertices, VERTICES);
    for (int32_t v = 0; v < a.vertices; v++) {
        assert_true(v == 0 || part->number[v] > part->number[v - 1]);
        assert_int_equal(part->chosen[v], chosen[part->number[v]]);
        count += part->chosen[v];
        assert_memory_equal(a.position + 3 * (int64_t)v, whole->position + 3 * (int64_t)part->number[v],
                            3 * sizeof(double));
    }
    assert_int_equal(count, wanted);
    assert_true(a.vertices < wanted + 600 * choice->rings); /* and not all of it */
    assert_int_equal(part->has_uv, whole->uv != NULL);
    if (wanted > 0) check_triangles(part, &a, whole, chosen);
    check_groups(part, &a, whole);
    drape_i_arena_free(ctx, &arena);
}

static void parts_are_cut_out(void **state) {
    (void)state;
    static const char *const names[] = {"plain.obj", "pattern.obj", "little.ply", "big.ply", "ascii.ply"};
    const int32_t list[] = {103, 104, 105, 700, 701, 3000, 100 + VERTICES - 1};
    const drape_i_mesh_choice choices[] = {{.from = 0, .end = 0, .rings = 1},
                                           {.from = 0, .end = 300, .rings = 1},
                                           {.from = 2111, .end = 2500, .rings = 2},
                                           {.from = VERTICES - 5, .end = VERTICES, .rings = 3},
                                           {.vertex = list, .count = 7, .first = 100, .rings = 3}};
    drape_context *ctx = test_context(1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        drape_i_arena arena = {0};
        drape_i_mesh whole;
        ASSERT_OK(ctx, drape_i_mesh_read(ctx, &arena, test_path_in(folder, names[i]), NULL, &whole));
        for (size_t k = 0; k < sizeof choices / sizeof *choices; k++)
            check_choice(ctx, names[i], &whole, &choices[k]);
        drape_i_arena_free(ctx, &arena);
    }
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

/* A sixteenth of a file takes less than half of what all of it does, though blocks, headers and room for the largest
 * face are always there. */
static void parts_take_little_memory(void **state) {
    (void)state;
    static const char *const names[] = {"pattern.obj", "big.ply"};
    for (int32_t i = 0; i < 2; i++) {
        int64_t peak[2];
        for (int32_t k = 0; k < 2; k++) {
            const drape_i_mesh_choice choice = {.from = 0, .end = k ? VERTICES : VERTICES / 16, .rings = 2};
            counting_allocator memory = {.left = -1};
            drape_context *ctx = counting_context(&memory);
            drape_i_arena arena = {0};
            drape_i_mesh_part *part;
            drape_i_mesh m;
            ASSERT_OK(ctx, drape_i_mesh_read_part(ctx, &arena, test_path_in(folder, names[i]), &choice, &part, &m));
            peak[k] = memory.peak;
            drape_i_arena_free(ctx, &arena);
            drape_context_destroy(ctx);
        }
        assert_true(peak[0] < peak[1] / 2);
    }
}

/* ---- Files that are not divided ---- */

static void expect_whole(drape_context *ctx, const char *text, int64_t length) {
    const drape_i_mesh_choice choice = {.from = 0, .end = 2, .rings = 2};
    drape_i_arena arena = {0};
    drape_i_mesh_part *part;
    drape_i_mesh m;
    FILE *to = begin("odd");
    assert_int_equal(fwrite(text, 1, (size_t)length, to), length);
    assert_int_equal(fclose(to), 0);
    ASSERT_OK(ctx, drape_i_mesh_read_part(ctx, &arena, test_path_in(folder, "odd"), &choice, &part, &m));
    if (part) fail_msg("this was divided: %s", text);
    drape_i_arena_free(ctx, &arena);
}

static void odd_files_are_left_to_others(void **state) {
    (void)state;
#define SQUARE  "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"
#define PLY     "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
#define ROWS_OF "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n1 1 0\n"
    static const char *const texts[] = {"",
                                        SQUARE,
                                        SQUARE "f 1 2 3\n",             /* a stray vertex */
                                        SQUARE "f 1 2 3 4\nbevel on\n", /* a word that takes a warning */
                                        SQUARE "f 1 2 3 4\nf 1 2 2\n",
                                        SQUARE "f 1 2 3 4\nf 1 2\n",
                                        SQUARE "f 1 2 3 4\nf 1 2 5\n",
                                        SQUARE "f 1 2 3 4\nf 1 2 0\n",
                                        SQUARE "f 1 2 3 4\nf 1 2 -5\n",
                                        SQUARE "f 1 2 3 4\nf 1/1 2/1 3/1\n",
                                        SQUARE "f 1 2 3 4\nv 1 1\nf 5 1 2\n",
                                        SQUARE "f 1 2 3 4\nv 1 inf 1\nf 5 1 2\n",
                                        SQUARE "f 1 2 3 4\nvt x\n",
                                        SQUARE "vt 0 0\nf 1/1 2/1 3/1 4/1\nf 1 2 3\n", /* one without a pattern */
                                        "v 0 0 0\rv 1 0 0\rv 1 1 0\rf 1 2 3\r",
                                        PLY ROWS_OF "3 0 1 3\n",
                                        PLY ROWS_OF "3 0 1 1\n",
                                        PLY ROWS_OF "3 0 1 -1\n",
                                        PLY ROWS_OF "3 0 1\n",
                                        PLY ROWS_OF "3 0 1 2 2\n",
                                        PLY ROWS_OF "3 0 1 2\nmore\n",
                                        PLY ROWS_OF,
                                        PLY "end_header\n0 0 0\n1 0 0\n1 1 0\n",
                                        PLY
                                        "element face 1\nproperty list uchar float vertex_indices\nend_header\n0 0 "
                                        "0\n1 0 0\n1 1 0\n3 0 1 2\n"};
    drape_context *ctx = test_context(1);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) expect_whole(ctx, texts[i], (int64_t)strlen(texts[i]));
    expect_whole(ctx, SQUARE "f 1 2 3 4\n\0\n", (int64_t)sizeof SQUARE + 11);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

/* A line that is longer than a block. */
static void long_lines_are_left_to_others(void **state) {
    (void)state;
    enum { LONG = 1 << 19 };
    drape_context *ctx = test_context(1);
    char *text = malloc(LONG);
    assert_non_null(text);
    memset(text, ' ', LONG);
    memcpy(text, SQUARE "f", sizeof SQUARE);
    memcpy(text + LONG - 9, " 1 2 3 4\n", 9);
    expect_whole(ctx, text, LONG);
    free(text);
    drape_context_destroy(ctx);
}

static void missing_files_are_named(void **state) {
    (void)state;
    const drape_i_mesh_choice choice = {.rings = 1};
    drape_context *ctx = test_context(1);
    drape_i_arena arena = {0};
    drape_i_mesh_part *part;
    drape_i_mesh m;
    assert_int_equal(drape_i_mesh_read_part(ctx, &arena, test_path_in(folder, "none"), &choice, &part, &m),
                     DRAPE_ERROR_IO);
    assert_non_null(strstr(drape_message(ctx), "none: cannot open"));
    drape_context_destroy(ctx);
}

static void a_failing_allocation_leaves_nothing(void **state) {
    (void)state;
    static const char *const names[] = {"pattern.obj", "big.ply"};
    const drape_i_mesh_choice choice = {.from = 100, .end = 200, .rings = 2};
    for (int32_t i = 0; i < 2; i++) {
        bool failed = true;
        int64_t n = 0;
        for (; failed; n++) {
            counting_allocator memory = {.left = n};
            drape_context *ctx = counting_context(&memory);
            drape_i_arena arena = {0};
            drape_i_mesh_part *part;
            drape_i_mesh m;
            drape_status status =
                drape_i_mesh_read_part(ctx, &arena, test_path_in(folder, names[i]), &choice, &part, &m);
            failed = memory.failed;
            assert_int_equal(status, failed ? DRAPE_ERROR_MEMORY : DRAPE_OK);
            assert_true(failed == !part);
            drape_i_arena_free(ctx, &arena);
            drape_context_destroy(ctx);
            assert_int_equal(memory.live, 0);
        }
        assert_true(n > 10);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_cut_out),
        cmocka_unit_test(parts_take_little_memory),
        cmocka_unit_test(odd_files_are_left_to_others),
        cmocka_unit_test(long_lines_are_left_to_others),
        cmocka_unit_test(missing_files_are_named),
        cmocka_unit_test(a_failing_allocation_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
