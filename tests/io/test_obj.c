/* Sequences of OBJ files: names, every bit of the positions, corners from 1, and failures that leave nothing behind.
 */
#include "support/folder.h"
#include "support/testing.h"

#include "drape/io.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RESOLUTION = 4, PATH_SIZE = 512 };

/* A folder of its own, and a cloth to write. */
typedef struct fixture {
    char folder[64];
    drape_context *ctx;
    drape_loaded_scene *loaded;
    drape_scene *scene;
    drape_sim *sim;
    const drape_cloth *cloth;
    int64_t numbers; /* in a vector of positions */
} fixture;

static int set_up(void **state) {
    static fixture f;
    f = (fixture){.folder = "/tmp/drape-test-obj-XXXXXX"};
    assert_non_null(mkdtemp(f.folder));
    f.ctx = test_context(1);
    ASSERT_OK(f.ctx, drape_scene_builtin(f.ctx, "pinned", RESOLUTION, &f.loaded));
    f.scene = drape_loaded_scene_edit(f.loaded);
    ASSERT_OK(f.ctx, drape_sim_create(f.ctx, f.scene, &f.sim));
    f.cloth = drape_sim_cloth(f.sim);
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
    drape_sim_destroy(f->sim);
    drape_loaded_scene_destroy(f->loaded);
    int64_t left = drape_context_bytes(f->ctx);
    drape_context_destroy(f->ctx);
    return left == 0 ? 0 : -1;
}

static bool exists(const fixture *f, const char *name) { return access(path_in(f, name), F_OK) == 0; }

static uint64_t bits(double x) {
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

/* Reads the file as another program would, in the locale "C", and compares every number with what was written. */
static void assert_holds(const fixture *f, const char *name, const double *positions) {
    const int32_t *triangle = drape_cloth_triangle(f->cloth);
    int64_t numbers = 0, corners = 0, normals = 0;
    char line[512];
    FILE *file = fopen(path_in(f, name), "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        char *at = line + 1;
        assert_non_null(strchr(line, '\n'));
        if (strncmp(line, "v ", 2) == 0) {
            assert_int_equal(corners, 0); /* all vertices come first */
            for (int k = 0; k < 3; k++) {
                assert_true(numbers < f->numbers);
                assert_true(bits(strtod(at, &at)) == bits(positions[numbers++]));
            }
        } else if (strncmp(line, "f ", 2) == 0) {
            for (int k = 0; k < 3; k++) {
                assert_true(corners < 3 * (int64_t)drape_cloth_triangles(f->cloth));
                assert_int_equal(strtol(at, &at, 10), triangle[corners] + 1);
                assert_true(strncmp(at, "//", 2) == 0);
                at += 2;
                assert_int_equal(strtol(at, &at, 10), triangle[corners++] + 1);
            }
        } else if (strncmp(line, "vn ", 3) == 0) {
            double square = 0;
            at = line + 2;
            for (int k = 0; k < 3; k++) square += pow(strtod(at, &at), 2);
            assert_near(square, 1, 1e-5, line);
            normals++;
        } else {
            assert_true(line[0] == '#' || line[0] == 'o');
            continue;
        }
        assert_string_equal(at, "\n");
    }
    fclose(file);
    assert_int_equal(numbers, f->numbers);
    assert_int_equal(normals, f->numbers / 3);
    assert_int_equal(corners, 3 * (int64_t)drape_cloth_triangles(f->cloth));
}

/* Any finite number, and those that are easily lost. */
static void fill_with_strange_numbers(const fixture *f, double *x) {
    static const double strange[] = {-0.0, 0.1, 1.0 / 3, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308};
    test_random r = {7};
    for (int64_t i = 0; i < f->numbers; i++) {
        uint64_t b = test_random_bits(&r) & ~(UINT64_C(1) << 62); /* exponents below that of 2: finite */
        memcpy(&x[i], &b, sizeof b);
        if (i < (int64_t)(sizeof strange / sizeof *strange)) x[i] = strange[i];
    }
}

static void test_sequence_has_its_names_and_numbers(void **state) {
    fixture *f = *state;
    drape_writer *writer;
    double *strange = malloc((size_t)f->numbers * sizeof *strange);
    fill_with_strange_numbers(f, strange);
    ASSERT_OK(f->ctx,
              drape_writer_open(f->ctx, path_in(f, "a.b.obj"), &(drape_animation){.cloth = f->cloth}, &writer));
    assert_int_equal(entries(f, false), 0);
    ASSERT_OK(f->ctx, drape_writer_frame(writer, &(drape_frame){.positions = drape_sim_positions(f->sim)}));
    ASSERT_OK(f->ctx, drape_writer_frame(writer, &(drape_frame){.positions = strange}));
    ASSERT_OK(f->ctx, drape_sim_step(f->sim, NULL));
    ASSERT_OK(f->ctx, drape_writer_frame(writer, &(drape_frame){.positions = drape_sim_positions(f->sim)}));
    ASSERT_OK(f->ctx, drape_writer_close(writer));
    assert_int_equal(entries(f, false), 3);
    assert_holds(f, "a.b_0001.obj", strange);
    assert_holds(f, "a.b_0002.obj", drape_sim_positions(f->sim));
    assert_true(exists(f, "a.b_0000.obj"));
    free(strange);
}

static void test_corners_count_from_one(void **state) {
    fixture *f = *state;
    const int32_t *t = drape_cloth_triangle(f->cloth);
    int32_t least = t[0], most = t[0];
    for (int64_t i = 0; i < 3 * (int64_t)drape_cloth_triangles(f->cloth); i++) {
        least = t[i] < least ? t[i] : least;
        most = t[i] > most ? t[i] : most;
    }
    assert_int_equal(least, 0); /* so that the comparison in assert_holds says what it should */
    assert_int_equal(most, drape_cloth_vertices(f->cloth) - 1);
}

static void test_old_files_are_replaced(void **state) {
    fixture *f = *state;
    drape_writer *writer;
    FILE *old = fopen(path_in(f, "x_0000.obj"), "w");
    for (int i = 0; i < 10000; i++) fputs("v 1 2 3\n", old);
    fclose(old);
    ASSERT_OK(f->ctx, drape_writer_open(f->ctx, path_in(f, "x.obj"), &(drape_animation){.cloth = f->cloth}, &writer));
    ASSERT_OK(f->ctx, drape_writer_frame(writer, &(drape_frame){.positions = drape_sim_positions(f->sim)}));
    ASSERT_OK(f->ctx, drape_writer_close(writer));
    assert_holds(f, "x_0000.obj", drape_sim_positions(f->sim));
    assert_int_equal(entries(f, false), 1);
}

/* A locale with a decimal comma, made on the spot where none is installed. */
static bool enter_comma_locale(const fixture *f) {
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR", "ru_RU.UTF-8", "nl_NL.UTF-8"};
    char command[3 * PATH_SIZE];
    for (int attempt = 0; attempt < 2; attempt++) {
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (setlocale(LC_ALL, names[i]) && strcmp(localeconv()->decimal_point, ",") == 0) return true;
        snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 '%s/locale/de_DE.UTF-8' >'%s/log' 2>&1",
                 f->folder, f->folder);
        if (attempt > 0 || mkdir(path_in(f, "locale"), 0777) != 0 || system(command) != 0) break;
        setenv("LOCPATH", path_in(f, "locale"), 1);
    }
    return false;
}

static void leave_comma_locale(const fixture *f) {
    char command[2 * PATH_SIZE];
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
    snprintf(command, sizeof command, "rm -rf '%s/locale' '%s/log'", f->folder, f->folder);
    if (system(command) != 0) print_message("%s: cannot be removed\n", f->folder);
}

static void test_decimal_point_under_a_comma_locale(void **state) {
    fixture *f = *state;
    drape_writer *writer;
    char comma[8];
    if (!enter_comma_locale(f)) {
        leave_comma_locale(f);
        print_message("no locale with a decimal comma, and none can be made: skipped\n");
        skip();
    }
    ASSERT_OK(f->ctx, drape_writer_open(f->ctx, path_in(f, "x.obj"), &(drape_animation){.cloth = f->cloth}, &writer));
    ASSERT_OK(f->ctx, drape_writer_frame(writer, &(drape_frame){.positions = drape_sim_positions(f->sim)}));
    ASSERT_OK(f->ctx, drape_writer_close(writer));
    snprintf(comma, sizeof comma, "%.1f", 0.5); /* the host's locale is as it was */
    leave_comma_locale(f);
    assert_string_equal(comma, "0,5");
    assert_holds(f, "x_0000.obj", drape_sim_positions(f->sim));
}

static void test_missing_folder(void **state) {
    fixture *f = *state;
    drape_writer *writer;
    const char *wanted = "later/x_0000.obj";
    ASSERT_OK(f->ctx,
              drape_writer_open(f->ctx, path_in(f, "later/x.obj"), &(drape_animation){.cloth = f->cloth}, &writer));
    assert_int_equal(drape_writer_frame(writer, &(drape_frame){.positions = drape_sim_positions(f->sim)}),
                     DRAPE_ERROR_IO);
    assert_non_null(strstr(drape_message(f->ctx), path_in(f, wanted)));
    assert_int_equal(entries(f, false), 0);
    /* The number of the frame that failed is not lost. */
    assert_int_equal(mkdir(path_in(f, "later"), 0777), 0);
    ASSERT_OK(f->ctx, drape_writer_frame(writer, &(drape_frame){.positions = drape_sim_positions(f->sim)}));
    ASSERT_OK(f->ctx, drape_writer_close(writer));
    assert_holds(f, wanted, drape_sim_positions(f->sim));
    assert_int_equal(remove(path_in(f, wanted)), 0);
    assert_int_equal(rmdir(path_in(f, "later")), 0); /* nothing else was in it */
}

static void test_folder_in_the_place_of_a_file(void **state) {
    fixture *f = *state;
    drape_writer *writer;
    assert_int_equal(mkdir(path_in(f, "x_0000.obj"), 0777), 0);
    ASSERT_OK(f->ctx, drape_writer_open(f->ctx, path_in(f, "x.obj"), &(drape_animation){.cloth = f->cloth}, &writer));
    assert_int_equal(drape_writer_frame(writer, &(drape_frame){.positions = drape_sim_positions(f->sim)}),
                     DRAPE_ERROR_IO);
    assert_non_null(strstr(drape_message(f->ctx), path_in(f, "x_0000.obj")));
    ASSERT_OK(f->ctx, drape_writer_close(writer));
    assert_int_equal(entries(f, false), 1); /* no temporary beside it */
}

static void test_unknown_endings(void **state) {
    fixture *f = *state;
    static const char *const bad[] = {"x.stl", "x", "x.obj.gz", "obj", ".obj", "x.obj/", ""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        drape_writer *writer = (drape_writer *)f;
        assert_int_equal(drape_writer_open(f->ctx, bad[i], &(drape_animation){.cloth = f->cloth}, &writer),
                         DRAPE_ERROR_ARGUMENT);
        assert_null(writer);
        assert_non_null(strstr(drape_message(f->ctx), bad[i]));
        assert_non_null(strstr(drape_message(f->ctx), ".obj"));
    }
    assert_int_equal(drape_writer_close(NULL), DRAPE_OK);
}

static void test_list_of_formats(void **state) {
    (void)state;
    int32_t count = 0;
    for (; drape_writer_extension(count); count++) {
        assert_true(drape_writer_extension(count)[0] == '.');
        assert_true(strlen(drape_writer_description(count)) > 0);
    }
    assert_true(count >= 1);
    assert_string_equal(drape_writer_extension(0), ".obj");
    assert_null(drape_writer_description(count));
    assert_null(drape_writer_extension(-1));
    assert_null(drape_writer_description(-1));
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

/* Pieces become objects, their names one word each; vertices count through. */
static void test_pieces_become_objects(void **state) {
    fixture *f = *state;
    drape_loaded_scene *loaded;
    drape_sim *sim;
    drape_writer *writer;
    char line[256];
    int32_t objects = 0, faces = 0;
    const char *text = "drape: 1\ncloth:\n  - {name: left half, grid: {resolution: 2}}\n"
                       "  - {name: right, grid: {resolution: 2}, place: {translate: [2, 0, 0]}}\n";
    ASSERT_OK(f->ctx, drape_scene_parse(f->ctx, "two", text, (int64_t)strlen(text), NULL, &loaded));
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    ASSERT_OK(f->ctx, drape_sim_create(f->ctx, scene, &sim));
    drape_animation what = {.cloth = drape_sim_cloth(sim)};
    ASSERT_OK(f->ctx, drape_writer_open(f->ctx, path_in(f, "two.obj"), &what, &writer));
    ASSERT_OK(f->ctx, drape_writer_frame(writer, &(drape_frame){.positions = drape_sim_positions(sim)}));
    ASSERT_OK(f->ctx, drape_writer_close(writer));
    FILE *file = fopen(path_in(f, "two_0000.obj"), "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (line[0] == 'o') assert_string_equal(line, objects++ == 0 ? "o left_half\n" : "o right\n");
        int32_t corner;
        if (sscanf(line, "f %d", &corner) != 1) continue;
        assert_int_equal(corner > 4, objects == 2);
        faces++;
    }
    fclose(file);
    assert_int_equal(objects, 2);
    assert_int_equal(faces, 4);
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(test_sequence_has_its_names_and_numbers),
        WITH_FOLDER(test_corners_count_from_one),
        WITH_FOLDER(test_pieces_become_objects),
        WITH_FOLDER(test_old_files_are_replaced),
        WITH_FOLDER(test_decimal_point_under_a_comma_locale),
        WITH_FOLDER(test_missing_folder),
        WITH_FOLDER(test_folder_in_the_place_of_a_file),
        WITH_FOLDER(test_unknown_endings),
        cmocka_unit_test(test_list_of_formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
