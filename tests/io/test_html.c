/* Pages: what is decoded from the file is what was written, in constant memory; nothing is fetched; words are
 * escaped. */
#include "support/folder.h"
#include "support/meshes.h"
#include "support/testing.h"

#include "drape/io.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { PATH_SIZE = 512, CELLS = 9 };

static const char EVIL[] = "</script><img src=x onerror=alert(1)> \"quoted\" & \\ \x01 \xff caf\xc3\xa9";
static const char EVIL_READ[] = "</script><img src=x onerror=alert(1)> \"quoted\" & \\ \x01 \xef\xbf\xbd caf\xc3\xa9";

typedef struct fixture {
    char folder[64];
    drape_context *ctx;
    test_mesh mesh[2];
    drape_cloth *cloth;
    int64_t n; /* vertices */
    double *x;
} fixture;

static int set_up(void **state) {
    static fixture f;
    test_random r = {3};
    f = (fixture){.folder = "/tmp/drape-test-html-XXXXXX"};
    assert_non_null(mkdtemp(f.folder));
    f.ctx = test_context(1);
    f.mesh[0] = test_mesh_irregular(CELLS, CELLS, 1, 1, &r);
    f.mesh[1] = test_mesh_grid(3, 2, 0.5, 0.2);
    drape_piece pieces[2] = {test_mesh_piece(&f.mesh[0]), test_mesh_piece(&f.mesh[1])};
    pieces[0].name = EVIL;
    pieces[1].name = "sleeve";
    ASSERT_OK(f.ctx, drape_cloth_create(f.ctx, pieces, 2, NULL, &f.cloth));
    f.n = drape_cloth_vertices(f.cloth);
    f.x = malloc((size_t)(3 * f.n) * sizeof *f.x);
    *state = &f;
    return 0;
}

static const char *path_in(const fixture *f, const char *name) { return test_path_in(f->folder, name); }
static int entries(const fixture *f, bool and_remove) { return test_folder_entries(f->folder, and_remove); }

static int tear_down(void **state) {
    fixture *f = *state;
    entries(f, true);
    rmdir(f->folder);
    drape_cloth_destroy(f->cloth);
    test_mesh_clear(&f->mesh[0]);
    test_mesh_clear(&f->mesh[1]);
    free(f->x);
    int64_t left = drape_context_bytes(f->ctx);
    drape_context_destroy(f->ctx);
    return left == 0 ? 0 : -1;
}

/* ---- frames to write: both pieces at rest, and what happens to them ---- */

typedef void (*motion)(const fixture *f, int32_t frame);

static void rest(const fixture *f) {
    int64_t first = 3 * (int64_t)f->mesh[0].vertices;
    memcpy(f->x, f->mesh[0].rest, (size_t)first * sizeof *f->x);
    memcpy(f->x + first, f->mesh[1].rest, (size_t)(3 * f->n - first) * sizeof *f->x);
}

static void waves(const fixture *f, int32_t frame) {
    rest(f);
    for (int64_t i = 0; i < f->n; i++) f->x[3 * i + 2] = 0.1 * sin(5 * f->x[3 * i] + 0.3 * frame) - 0.01 * frame;
}

/* 2 m a frame, and each piece its own way: at the end some hundred metres from a box of a metre and a half. */
static void flight(const fixture *f, int32_t frame) {
    waves(f, frame);
    for (int64_t i = 0; i < f->n; i++) {
        f->x[3 * i] += 2.0 * frame;
        f->x[3 * i + 1] -= (i < f->mesh[0].vertices ? 0.05 : 0.4) * frame;
    }
}

/* One vertex jumps by ten times the box, and stays there. */
static void jump(const fixture *f, int32_t frame) {
    waves(f, frame);
    if (frame >= 3) f->x[3 * 5] += 15;
}

static void point(const fixture *f, int32_t frame) {
    for (int64_t i = 0; i < 3 * f->n; i++) f->x[i] = 7 + 1e-3 * frame;
}

/* Returns by how much the memory in use grew after the first frame. */
static int64_t write_page(const fixture *f, motion m, int32_t frames, const char *title) {
    drape_writer *writer;
    drape_animation what = {.cloth = f->cloth, .fps = 30, .title = title};
    int64_t before = 0;
    remove(path_in(f, "a.html"));
    ASSERT_OK(f->ctx, drape_writer_open(f->ctx, path_in(f, "a.html"), &what, &writer));
    for (int32_t i = 0; i < frames; i++) {
        m(f, i);
        ASSERT_OK(f->ctx, drape_writer_frame(writer, &(drape_frame){.positions = f->x}));
        if (i == 0) before = drape_context_bytes(f->ctx);
    }
    int64_t grown = drape_context_bytes(f->ctx) - before;
    assert_int_not_equal(access(path_in(f, "a.html"), F_OK), 0); /* not before the end */
    ASSERT_OK(f->ctx, drape_writer_close(writer));
    assert_int_equal(entries(f, false), 1);
    return grown;
}

/* ---- reading a page again ---- */

typedef struct page {
    char *text;
    json_t *info;
    double origin[3], quantum;
    unsigned char *mesh, *motion;
    int64_t mesh_size, motion_size;
} page;

static char *read_text(const fixture *f) {
    FILE *file = fopen(path_in(f, "a.html"), "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    size_t size = (size_t)ftell(file);
    char *text = malloc(size + 1);
    assert_non_null(text);
    rewind(file);
    assert_int_equal(fread(text, 1, size, file), size);
    text[size] = 0;
    assert_int_equal(strlen(text), size);
    fclose(file);
    return text;
}

/* A copy of what stands in the script element of this id. */
static char *block(const char *text, const char *id) {
    char open[64];
    snprintf(open, sizeof open, "<script id=\"%s\"", id);
    const char *from = strstr(text, open);
    assert_non_null(from);
    from = strchr(from, '>') + 1;
    return strndup(from, (size_t)(strstr(from, "</script>") - from));
}

static int digit(char c) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

static unsigned char *unpack(char *letters, int64_t *size) {
    size_t room = strlen(letters), bytes = 0;
    unsigned char *packed = malloc(room + 1), *out;
    uint32_t group = 0;
    int have = 0;
    for (const char *c = letters; *c; c++) {
        if (digit(*c) < 0) {
            assert_true(*c == '\n' || *c == '=');
            continue;
        }
        group = group << 6 | (uint32_t)digit(*c);
        have += 6;
        if (have >= 8) packed[bytes++] = (unsigned char)(group >> (have -= 8) & 255);
    }
    uLongf length = 1 << 26;
    out = malloc(length);
    assert_int_equal(uncompress(out, &length, packed, (uLong)bytes), Z_OK);
    *size = (int64_t)length;
    free(packed);
    free(letters);
    return out;
}

static page read_page(const fixture *f) {
    page p = {.text = read_text(f)};
    char *info = block(p.text, "drape-info");
    p.info = json_loads(info, 0, NULL);
    assert_non_null(p.info);
    free(info);
    for (size_t k = 0; k < 3; k++)
        p.origin[k] = json_number_value(json_array_get(json_object_get(p.info, "origin"), k));
    p.quantum = json_number_value(json_object_get(p.info, "quantum"));
    p.mesh = unpack(block(p.text, "drape-mesh"), &p.mesh_size);
    p.motion = unpack(block(p.text, "drape-motion"), &p.motion_size);
    return p;
}

static void free_page(page *p) {
    free(p->text);
    free(p->mesh);
    free(p->motion);
    json_decref(p->info);
}

static uint32_t little(const unsigned char *b) {
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* One frame on, as src/io/html.c describes it. */
static void decode(const fixture *f, const unsigned char *record, int32_t *place) {
    for (int64_t k = 0; k < 3; k++) {
        int32_t way = (int32_t)little(record + 4 * k);
        const unsigned char *low = record + 12 + k * f->n, *high = low + 3 * f->n;
        int32_t d = 0;
        for (int64_t i = 0; i < f->n; i++) {
            int32_t z = low[i] | high[i] << 8, r = z & 1 ? -(z >> 1) - 1 : z >> 1;
            d = (int16_t)(uint16_t)(d + r);
            place[3 * i + k] += way + d;
        }
    }
}

/* The largest distance of a coordinate from what was given, over frames `from` and later, in quanta. */
static double worst(const fixture *f, const page *p, motion m, int32_t from) {
    int64_t record = 12 + 6 * f->n;
    int32_t *place = calloc((size_t)(3 * f->n), sizeof *place);
    double most = 0;
    assert_int_equal(p->motion_size % record, 0);
    for (int32_t frame = 0; frame < p->motion_size / record; frame++) {
        decode(f, p->motion + frame * record, place);
        m(f, frame);
        for (int64_t i = 0; i < 3 * f->n && frame >= from; i++)
            most = fmax(most, fabs(p->origin[i % 3] + p->quantum * place[i] - f->x[i]));
    }
    free(place);
    return most / p->quantum;
}

/* ---- tests ---- */

static const double HALF = 0.5 + 1e-6;

static void test_frames_come_back(void **state) {
    fixture *f = *state;
    static const motion motions[] = {waves, flight, point};
    for (size_t i = 0; i < sizeof motions / sizeof *motions; i++) {
        write_page(f, motions[i], 60, "a");
        page p = read_page(f);
        assert_int_equal(p.motion_size, 60 * (12 + 6 * f->n));
        assert_true(p.quantum > 0 && p.quantum < 1e-4);
        assert_true(worst(f, &p, motions[i], 0) <= HALF);
        free_page(&p);
    }
}

static void test_sudden_jump_is_caught_up(void **state) {
    fixture *f = *state;
    write_page(f, jump, 60, "a");
    page p = read_page(f);
    assert_true(worst(f, &p, jump, 3) > 1);
    assert_true(worst(f, &p, jump, 40) <= HALF);
    free_page(&p);
}

static void test_memory_does_not_grow(void **state) {
    fixture *f = *state;
    assert_int_equal(write_page(f, flight, 500, "a"), 0);
    page p = read_page(f);
    assert_int_equal(p.motion_size, 500 * (12 + 6 * f->n));
    assert_true(worst(f, &p, flight, 0) <= HALF);
    free_page(&p);
}

/* Word i of column c: four planes of bytes. */
static uint32_t word(const page *p, int64_t count, int64_t c, int64_t i) {
    const unsigned char *at = p->mesh + 4 * c * count + i;
    return at[0] | (uint32_t)at[count] << 8 | (uint32_t)at[2 * count] << 16 | (uint32_t)at[3 * count] << 24;
}

static float float_word(const page *p, int64_t count, int64_t c, int64_t i) {
    uint32_t bits = word(p, count, c, i);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void test_mesh_comes_back(void **state) {
    fixture *f = *state;
    write_page(f, waves, 1, "a");
    page p = read_page(f);
    int64_t count = drape_cloth_triangles(f->cloth);
    const int32_t *triangle = drape_cloth_triangle(f->cloth);
    uint32_t first = 0;
    assert_int_equal(p.mesh_size, 28 * count);
    rest(f);
    for (int64_t t = 0; t < count; t++) {
        first += word(&p, count, 0, t);
        assert_int_equal(first, triangle[3 * t]);
        for (int64_t k = 1; k < 3; k++) assert_int_equal(first + word(&p, count, k, t), triangle[3 * t + k]);
        for (int64_t c = 3; c < 7; c += 2) { /* at rest the threads have length 1 */
            double square = 0;
            for (int k = 0; k < 3; k++) {
                const double *a = f->x + 3 * triangle[3 * t], *b = f->x + 3 * triangle[3 * t + 1],
                             *d = f->x + 3 * triangle[3 * t + 2];
                double w =
                    float_word(&p, count, c, t) * (b[k] - a[k]) + float_word(&p, count, c + 1, t) * (d[k] - a[k]);
                square += w * w;
            }
            ASSERT_NEAR(square, 1, 1e-5);
        }
    }
    free_page(&p);
}

static void test_info(void **state) {
    fixture *f = *state;
    const char *name;
    int first_vertex, vertices, first_triangle, triangles;
    write_page(f, waves, 2, EVIL);
    page p = read_page(f);
    ASSERT_NEAR(json_number_value(json_object_get(p.info, "fps")), 30, 0);
    assert_int_equal(json_integer_value(json_object_get(p.info, "vertices")), f->n);
    assert_int_equal(json_integer_value(json_object_get(p.info, "triangles")), drape_cloth_triangles(f->cloth));
    assert_string_equal(json_string_value(json_object_get(p.info, "title")), EVIL_READ);
    json_t *pieces = json_object_get(p.info, "pieces");
    assert_int_equal(json_array_size(pieces), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(pieces, 0), "name")), EVIL_READ);
    assert_int_equal(json_unpack(json_array_get(pieces, 1), "{s:s, s:i, s:i, s:i, s:i}", "name", &name, "firstVertex",
                                 &first_vertex, "vertices", &vertices, "firstTriangle", &first_triangle, "triangles",
                                 &triangles),
                     0);
    assert_string_equal(name, "sleeve");
    assert_int_equal(first_vertex, f->mesh[0].vertices);
    assert_int_equal(vertices, f->mesh[1].vertices);
    assert_int_equal(first_triangle, f->mesh[0].triangles);
    assert_int_equal(triangles, f->mesh[1].triangles);
    free_page(&p);
}

static int count_of(const char *text, const char *what) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what)) count++;
    return count;
}

static void test_words_cannot_break_out(void **state) {
    fixture *f = *state;
    write_page(f, waves, 2, "plain");
    char *plain = read_text(f);
    write_page(f, waves, 2, EVIL);
    char *evil = read_text(f);
    assert_int_equal(count_of(evil, "</script>"), count_of(plain, "</script>"));
    assert_int_equal(count_of(evil, "<script"), count_of(plain, "<script"));
    assert_int_equal(count_of(evil, "<img"), 0);
    assert_int_equal(count_of(evil, "\xff"), 0);
    assert_non_null(
        strstr(evil, "<title>&#60;/script&#62;&#60;img src=x onerror=alert(1)&#62; &#34;quoted&#34; &#38; "));
    assert_non_null(strstr(plain, "<title>plain</title>"));
    free(plain);
    free(evil);
}

static void test_nothing_is_fetched(void **state) {
    fixture *f = *state;
    write_page(f, waves, 2, NULL);
    char *text = read_text(f);
    static const char *const never[] = {"http://", "https://", " src=\"",        "<img",      "<iframe", "@import",
                                        "url(",    "fetch(",   "XMLHttpRequest", "WebSocket", "{{",      "}}\n<"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (strstr(text, never[i])) fail_msg("the page has %s in it", never[i]);
    assert_int_equal(count_of(text, "href="), count_of(text, "href=\"data:,\""));
    assert_non_null(strstr(text, "default-src 'none'"));
    assert_non_null(strstr(text, "<title>drape</title>"));
    assert_string_equal(text + strlen(text) - 8, "</html>\n");
    free(text);
}

static void test_same_frames_same_bytes(void **state) {
    fixture *f = *state;
    write_page(f, waves, 20, "a");
    char *one = read_text(f);
    write_page(f, waves, 20, "a");
    char *two = read_text(f);
    assert_string_equal(one, two);
    free(one);
    free(two);
}

static void test_failures_leave_nothing(void **state) {
    fixture *f = *state;
    drape_writer *writer;
    drape_animation what = {.cloth = f->cloth};
    ASSERT_OK(f->ctx, drape_writer_open(f->ctx, path_in(f, "a.html"), &what, &writer));
    ASSERT_OK(f->ctx, drape_writer_close(writer));
    assert_int_equal(entries(f, false), 0); /* no frame, no file */
    for (int32_t good = 0; good < 2; good++) {
        ASSERT_OK(f->ctx, drape_writer_open(f->ctx, path_in(f, "a.html"), &what, &writer));
        waves(f, 0);
        if (good) ASSERT_OK(f->ctx, drape_writer_frame(writer, &(drape_frame){.positions = f->x}));
        f->x[3 * 4 + 2] = NAN;
        assert_int_equal(drape_writer_frame(writer, &(drape_frame){.positions = f->x}), DRAPE_ERROR_NUMBER);
        assert_non_null(strstr(drape_message(f->ctx), "vertex 4"));
        assert_int_equal(drape_writer_close(writer), good ? DRAPE_OK : DRAPE_ERROR_NUMBER);
        assert_int_equal(entries(f, true), good); /* the frame before it */
    }
    assert_int_equal(drape_writer_open(f->ctx, path_in(f, "no/a.html"), &what, &writer), DRAPE_ERROR_IO);
    what.fps = -1;
    assert_int_equal(drape_writer_open(f->ctx, path_in(f, "a.html"), &what, &writer), DRAPE_ERROR_ARGUMENT);
    assert_null(writer);
    assert_int_equal(entries(f, false), 0);
}

/* A page of so many frames, of which that with the number `without` has no energies; returns its text. */
static char *page_with_energies(const fixture *f, int32_t frames, int32_t without) {
    drape_writer *writer;
    drape_animation what = {.cloth = f->cloth};
    remove(path_in(f, "a.html"));
    ASSERT_OK(f->ctx, drape_writer_open(f->ctx, path_in(f, "a.html"), &what, &writer));
    for (int32_t i = 0; i < frames; i++) {
        const drape_certificate_energy e = {i, 1, -i, .fabric = 3 * i, .wind = 4, .pins = 5, .integrator = 0.5};
        waves(f, i);
        ASSERT_OK(f->ctx,
                  drape_writer_frame(writer, &(drape_frame){.positions = f->x, .energy = i == without ? NULL : &e}));
    }
    ASSERT_OK(f->ctx, drape_writer_close(writer));
    assert_int_equal(entries(f, false), 1);
    return read_text(f);
}

static void test_energies_come_back(void **state) {
    enum { FRAMES = 5, ROW = 7 };
    fixture *f = *state;
    int64_t size;
    char *text = page_with_energies(f, FRAMES, -1);
    unsigned char *bytes = unpack(block(text, "drape-energy"), &size);
    assert_int_equal(size, FRAMES * ROW * (int64_t)sizeof(float));
    for (int32_t i = 0; i < FRAMES; i++) {
        const float want[ROW] = {(float)i, 1, (float)-i, (float)(3 * i), 4, 5, 0.5F};
        float row[ROW];
        memcpy(row, bytes + i * (int64_t)sizeof row, sizeof row);
        for (int32_t k = 0; k < ROW; k++) assert_true(row[k] == want[k]);
    }
    free(bytes);
    free(text);
    for (int32_t without = 0; without < FRAMES; without++) {
        text = page_with_energies(f, FRAMES, without);
        assert_null(strstr(text, "<script id=\"drape-energy\"")); /* no chart with a gap */
        free(text);
    }
}

/* Meshes beside the cloth: one is turned about z and moved, one changes its form. */
enum { OBJECT_FRAMES = 4 };

static void objects_at(int32_t frame, double turned[12], double grown[9]) {
    static const double base[] = {5, 0, 0, 6, 0, 0, 5, 1, 0, 5, 0, 1};
    double a = 0.5 * frame;
    for (int32_t v = 0; v < 4; v++) {
        turned[3 * v] = cos(a) * base[3 * v] - sin(a) * base[3 * v + 1];
        turned[3 * v + 1] = sin(a) * base[3 * v] + cos(a) * base[3 * v + 1] + 0.1 * frame;
        turned[3 * v + 2] = base[3 * v + 2];
    }
    for (int32_t i = 0; i < 9; i++) grown[i] = base[i] * (1 + 0.2 * frame);
}

static void expect(const unsigned char **at, double want) {
    float value;
    memcpy(&value, *at, sizeof value);
    *at += sizeof value;
    ASSERT_NEAR((double)value, want, 2e-6);
}

static void test_objects_come_back(void **state) {
    static const int32_t faces[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    fixture *f = *state;
    drape_writer *writer;
    drape_animation what = {.cloth = f->cloth};
    double turned[12], grown[9];
    ASSERT_OK(f->ctx, drape_writer_open(f->ctx, path_in(f, "a.html"), &what, &writer));
    for (int32_t i = 0; i < OBJECT_FRAMES; i++) {
        objects_at(i, turned, grown);
        const drape_frame_mesh mesh[] = {{"</script>", 4, 4, turned, faces}, {"leaf", 3, 1, grown, faces}};
        waves(f, i);
        ASSERT_OK(f->ctx,
                  drape_writer_frame(writer, &(drape_frame){.positions = f->x, .meshes = mesh, .mesh_count = 2}));
    }
    ASSERT_OK(f->ctx, drape_writer_close(writer));
    page p = read_page(f);
    json_t *list = json_object_get(p.info, "objects");
    assert_int_equal(json_array_size(list), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(list, 0), "name")), "</script>");
    assert_int_equal(json_integer_value(json_object_get(json_array_get(list, 0), "vertices")), 4);
    int64_t size;
    unsigned char *bytes = unpack(block(p.text, "drape-objects"), &size);
    const unsigned char *at = bytes;
    for (int32_t i = 0; i < 15; i++, at += 4) assert_int_equal(little(at), faces[i % 12]);
    objects_at(0, turned, grown);
    for (int32_t i = 0; i < 12; i++) expect(&at, turned[i] - p.origin[i % 3]);
    for (int32_t i = 0; i < 9; i++) expect(&at, grown[i] - p.origin[i % 3]);
    for (int32_t i = 0; i < OBJECT_FRAMES; i++) {
        double a = 0.5 * i, o[2] = {p.origin[0], p.origin[1]};
        assert_int_equal(*at++, 0); /* moved as a whole: about the page's origin */
        expect(&at, cos(a) * o[0] - sin(a) * o[1] - o[0]);
        expect(&at, sin(a) * o[0] + cos(a) * o[1] - o[1] + 0.1 * i);
        const double rest[] = {0, 0, 0, sin(a / 2), cos(a / 2)};
        for (int32_t k = 0; k < 5; k++) expect(&at, rest[k]);
        objects_at(i, turned, grown);
        assert_int_equal(*at++, i > 0);
        if (i == 0) /* at rest */
            for (int32_t k = 0; k < 7; k++) expect(&at, k == 6);
        for (int32_t k = 0; k < 9 && i > 0; k++) expect(&at, grown[k] - p.origin[k % 3]);
    }
    assert_int_equal(at - bytes, size);
    free(bytes);
    free_page(&p);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(test_frames_come_back),
        WITH_FOLDER(test_sudden_jump_is_caught_up),
        WITH_FOLDER(test_memory_does_not_grow),
        WITH_FOLDER(test_mesh_comes_back),
        WITH_FOLDER(test_info),
        WITH_FOLDER(test_energies_come_back),
        WITH_FOLDER(test_objects_come_back),
        WITH_FOLDER(test_words_cannot_break_out),
        WITH_FOLDER(test_nothing_is_fetched),
        WITH_FOLDER(test_same_frames_same_bytes),
        WITH_FOLDER(test_failures_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
