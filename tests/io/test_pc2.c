/* Point caches: header, every bit of the samples, the mesh beside them, constant memory, and nothing after failures.
 */
#include "support/folder.h"
#include "support/meshes.h"
#include "support/testing.h"

#include "drape/io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct fixture {
    char folder[64];
    drape_context *ctx;
    test_mesh mesh;
    drape_cloth *cloth;
    int64_t numbers;
} fixture;

static int set_up(void **state) {
    static fixture f;
    f = (fixture){.folder = "/tmp/drape-test-pc2-XXXXXX"};
    assert_non_null(mkdtemp(f.folder));
    f.ctx = test_context(1);
    f.mesh = test_mesh_grid(5, 3, 1, 0.5);
    drape_piece piece = test_mesh_piece(&f.mesh);
    ASSERT_OK(f.ctx, drape_cloth_create(f.ctx, &piece, 1, NULL, &f.cloth));
    f.numbers = 3 * (int64_t)drape_cloth_vertices(f.cloth);
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
    test_mesh_clear(&f->mesh);
    int64_t left = drape_context_bytes(f->ctx);
    drape_context_destroy(f->ctx);
    return left == 0 ? 0 : -1;
}

static drape_writer *open_writer(const fixture *f, const char *name) {
    drape_writer *writer;
    ASSERT_OK(f->ctx, drape_writer_open(f->ctx, path_in(f, name), &(drape_animation){.cloth = f->cloth}, &writer));
    return writer;
}

/* Some numbers for frame `frame`, different for each. */
static void fill(const fixture *f, int32_t frame, double *x) {
    test_random r = {(uint64_t)frame + 1};
    for (int64_t i = 0; i < f->numbers; i++) x[i] = test_random_between(&r, -1000, 1000);
}

static unsigned char *read_file(const fixture *f, const char *name, long *size) {
    FILE *file = fopen(path_in(f, name), "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = ftell(file);
    unsigned char *data = malloc((size_t)*size + 1);
    assert_non_null(data);
    rewind(file);
    assert_int_equal(fread(data, 1, (size_t)*size, file), *size);
    data[*size] = 0;
    fclose(file);
    return data;
}

static void assert_holds(const fixture *f, const char *name, int32_t samples) {
    drape_cache *cache;
    double *x = malloc((size_t)f->numbers * sizeof *x), *got = malloc((size_t)f->numbers * sizeof *got);
    ASSERT_OK(f->ctx, drape_cache_open(f->ctx, path_in(f, name), &cache));
    assert_int_equal(drape_cache_describe(cache)->frames, samples);
    assert_int_equal(drape_cache_describe(cache)->vertices, f->numbers / 3);
    for (int32_t s = 0; s < samples; s++) {
        fill(f, s, x);
        ASSERT_OK(f->ctx, drape_cache_frame(cache, s, got));
        assert_true(drape_cache_time(cache, s) == s);
        for (int64_t i = 0; i < f->numbers; i++) assert_true(got[i] == (double)(float)x[i]);
    }
    drape_cache_close(cache);
    free(x);
    free(got);
}

/* Writes so many samples; returns by how much the memory in use grew after the first. */
static int64_t write_samples(const fixture *f, const char *name, int32_t samples) {
    double *x = malloc((size_t)f->numbers * sizeof *x);
    drape_writer *writer = open_writer(f, name);
    int64_t before = 0;
    for (int32_t s = 0; s < samples; s++) {
        fill(f, s, x);
        ASSERT_OK(f->ctx, drape_writer_frame(writer, &(drape_frame){.positions = x}));
        if (s == 0) before = drape_context_bytes(f->ctx);
    }
    int64_t grown = drape_context_bytes(f->ctx) - before;
    ASSERT_OK(f->ctx, drape_writer_close(writer));
    free(x);
    return grown;
}

static void test_one_sample(void **state) {
    fixture *f = *state;
    write_samples(f, "a.pc2", 1);
    assert_holds(f, "a.pc2", 1);
    assert_int_equal(entries(f, false), 2);
}

static void test_thousand_samples_in_constant_memory(void **state) {
    fixture *f = *state;
    assert_int_equal(write_samples(f, "a.pc2", 1000), 0);
    assert_holds(f, "a.pc2", 1000);
}

static void test_mesh_is_the_first_frame(void **state) {
    fixture *f = *state;
    long size;
    double *x = malloc((size_t)f->numbers * sizeof *x);
    const int32_t *triangle = drape_cloth_triangle(f->cloth);
    int64_t numbers = 0, corners = 0;
    write_samples(f, "a.b.pc2", 3);
    fill(f, 0, x);
    char *text = (char *)read_file(f, "a.b_rest.obj", &size);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char *at = line + 1;
        if (line[0] == 'v')
            for (int k = 0; k < 3; k++) assert_true(strtod(at, &at) == x[numbers++]);
        if (line[0] == 'f')
            for (int k = 0; k < 3; k++) assert_int_equal(strtol(at, &at, 10), triangle[corners++] + 1);
    }
    assert_int_equal(numbers, f->numbers);
    assert_int_equal(corners, 3 * drape_cloth_triangles(f->cloth));
    free(text);
    free(x);
}

static void test_nothing_is_there_before_the_end(void **state) {
    fixture *f = *state;
    double *x = malloc((size_t)f->numbers * sizeof *x);
    drape_writer *writer = open_writer(f, "a.pc2");
    fill(f, 0, x);
    ASSERT_OK(f->ctx, drape_writer_frame(writer, &(drape_frame){.positions = x}));
    assert_int_not_equal(access(path_in(f, "a.pc2"), F_OK), 0);
    assert_int_not_equal(access(path_in(f, "a_rest.obj"), F_OK), 0);
    ASSERT_OK(f->ctx, drape_writer_close(writer));
    assert_int_equal(entries(f, false), 2);
    free(x);
}

static void test_no_frame_no_file(void **state) {
    fixture *f = *state;
    ASSERT_OK(f->ctx, drape_writer_close(open_writer(f, "a.pc2")));
    assert_int_equal(entries(f, false), 0);
}

static void test_failed_frame_leaves_those_before(void **state) {
    fixture *f = *state;
    static const double bad[] = {NAN, INFINITY, 1e39};
    double *x = malloc((size_t)f->numbers * sizeof *x);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        drape_writer *writer = open_writer(f, "a.pc2");
        fill(f, 0, x);
        ASSERT_OK(f->ctx, drape_writer_frame(writer, &(drape_frame){.positions = x}));
        x[3 * 7 + 1] = bad[i];
        assert_int_equal(drape_writer_frame(writer, &(drape_frame){.positions = x}), DRAPE_ERROR_NUMBER);
        assert_non_null(strstr(drape_message(f->ctx), "frame 1: vertex 7"));
        x[3 * 7 + 1] = 0;
        assert_int_equal(drape_writer_frame(writer, &(drape_frame){.positions = x}),
                         DRAPE_ERROR_NUMBER); /* there is no way back */
        ASSERT_OK(f->ctx, drape_writer_close(writer));
        assert_int_equal(entries(f, true), 2); /* the frame before, and the mesh */
    }
    free(x);
}

static void test_missing_folder(void **state) {
    fixture *f = *state;
    drape_writer *writer;
    drape_animation what = {.cloth = f->cloth};
    assert_int_equal(drape_writer_open(f->ctx, path_in(f, "no/a.pc2"), &what, &writer), DRAPE_ERROR_IO);
    assert_null(writer);
    assert_non_null(strstr(drape_message(f->ctx), "no/a.pc2"));
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(test_one_sample),
        WITH_FOLDER(test_thousand_samples_in_constant_memory),
        WITH_FOLDER(test_mesh_is_the_first_frame),
        WITH_FOLDER(test_nothing_is_there_before_the_end),
        WITH_FOLDER(test_no_frame_no_file),
        WITH_FOLDER(test_failed_frame_leaves_those_before),
        WITH_FOLDER(test_missing_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
