/* The table of fabrics, and whether docs/fabrics.md says the same. */
#include "drape/cloth.h"
#include "support/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The numbers of a material in the order of the table in the docs. */
enum { NUMBERS = 8 };

static void numbers_of(const drape_material *m, double out[NUMBERS]) {
    const double all[NUMBERS] = {m->density, m->stretch[0],      m->stretch[1],    m->shear,
                                 m->bend,    m->damping_stretch, m->damping_shear, m->damping_bend};
    memcpy(out, all, sizeof all);
}

static void test_table(void **state) {
    (void)state;
    int32_t count = 0;
    for (const char *name, *before = ""; (name = drape_fabric_name(count)); before = name, count++) {
        drape_material m;
        double number[NUMBERS];
        const char *source = drape_fabric_source(count);
        assert_true(strcmp(before, name) < 0);
        assert_non_null(source);
        assert_true(strlen(source) > 10 && !strchr(source, '\n'));
        assert_int_equal(drape_fabric_find(name, &m), 1);
        numbers_of(&m, number);
        for (int32_t k = 0; k < NUMBERS; k++) assert_true(number[k] > 0);
        assert_true(m.bend_hinge == 0);
        assert_true(m.density > 0.01 && m.density < 1);        /* chiffon .. carpet */
        assert_true(m.bend > 1e-7 && m.bend < 1e-3);           /* 0.001 .. 10 gf cm^2/cm */
        assert_true(m.stretch[0] > 100 && m.stretch[1] > 100); /* hangs without doubling its length */
        assert_true(m.shear < m.stretch[0] && m.shear < m.stretch[1]);
    }
    assert_true(count >= 6);
    assert_null(drape_fabric_name(-1));
    assert_null(drape_fabric_source(-1));
    assert_null(drape_fabric_source(count));
}

static void test_find(void **state) {
    (void)state;
    static const char *const wanted[] = {"cotton", "denim", "felt", "jersey", "silk", "wool"};
    static const char *const unknown[] = {"", "Cotton", "cotto", "cottons", "steel", NULL};
    drape_material m, before;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) assert_int_equal(drape_fabric_find(wanted[i], &m), 1);
    memset(&m, 0x5a, sizeof m);
    before = m;
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        assert_int_equal(drape_fabric_find(unknown[i], &m), 0);
        assert_memory_equal(&m, &before, sizeof m);
    }
}

static void test_defaults_are_cotton(void **state) {
    (void)state;
    drape_material cotton, defaults = drape_material_defaults();
    double got[NUMBERS], want[NUMBERS];
    assert_int_equal(drape_fabric_find("cotton", &cotton), 1);
    numbers_of(&defaults, got), numbers_of(&cotton, want);
    assert_memory_equal(got, want, sizeof got);
}

/* Reads "| name | number | ... |": the name, and how many numbers follow it at once. */
static int32_t read_row(const char *line, char name[32], double number[NUMBERS]) {
    int32_t count = 0, used = 0;
    if (sscanf(line, "| %31[a-z] |%n", name, &used) != 1 || used == 0) return 0;
    for (line += used; count < NUMBERS; count++) {
        char *end;
        number[count] = strtod(line, &end);
        if (end == line) break;
        line = end + strcspn(end, "|");
        if (*line++ != '|') break;
    }
    return count;
}

static int32_t compare_row(const char *name, const double number[NUMBERS]) {
    drape_material m;
    double want[NUMBERS];
    if (!drape_fabric_find(name, &m)) fail_msg("docs/fabrics.md has %s, the library has not", name);
    numbers_of(&m, want);
    for (int32_t k = 0; k < NUMBERS; k++)
        if (number[k] != want[k])
            fail_msg("%s, number %d: docs/fabrics.md says %g, the library %g", name, k + 1, number[k], want[k]);
    return 1;
}

static void test_docs(void **state) {
    (void)state;
    FILE *file = fopen(DRAPE_SOURCE_DIR "/docs/fabrics.md", "r");
    char line[1024], name[32];
    double number[NUMBERS];
    int32_t rows = 0, fabrics = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        if (read_row(line, name, number) == NUMBERS) rows += compare_row(name, number);
    fclose(file);
    while (drape_fabric_name(fabrics)) fabrics++;
    assert_int_equal(rows, fabrics);
}

/* ---- docs/models.md: fields by model ---- */

static const drape_material_field *find_field(int32_t model, const char *name, const char *unit) {
    const drape_material_field *f;
    for (int32_t i = 0; (f = drape_model_material_field(model, i)); i++)
        if (strcmp(f->name, name) == 0 && strcmp(f->unit[0] ? f->unit : "1", unit) == 0) return f;
    return NULL;
}

/* "| `name` | unit | default | yes | no | ... |", one yes or no per model; how many fields it grants, or -1. */
static int32_t compare_field(const char *line) {
    char name[32], unit[32];
    double number;
    int32_t used = 0, granted = 0;
    if (sscanf(line, "| `%31[a-z_]` | %31[^|] | %lf |%n", name, unit, &number, &used) != 3 || used == 0) return -1;
    unit[strcspn(unit, "|")] = 0;
    for (size_t n = strlen(unit); n > 0 && unit[n - 1] == ' '; n--) unit[n - 1] = 0;
    line += used;
    for (int32_t m = 0; drape_model_name(m); m++) {
        const drape_material_field *f = find_field(m, name, unit);
        const bool yes = strncmp(line, " yes |", 6) == 0;
        if (!yes && strncmp(line, " no |", 5) != 0) fail_msg("docs/models.md: %s has no column for %s", name, line);
        if (yes != (f != NULL))
            fail_msg("docs/models.md and the table of %s disagree about %s in %s", drape_model_name(m), name, unit);
        if (f) assert_true(f->default_value == number);
        granted += yes;
        line += yes ? 6 : 5;
    }
    return granted;
}

static void test_docs_of_models(void **state) {
    (void)state;
    FILE *file = fopen(DRAPE_SOURCE_DIR "/docs/models.md", "r");
    char line[1024];
    int32_t documented = 0, fields = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        int32_t granted = compare_field(line);
        if (granted > 0) documented += granted;
    }
    fclose(file);
    for (int32_t m = 0; drape_model_name(m); m++)
        for (int32_t i = 0; drape_model_material_field(m, i); i++) fields++;
    assert_int_equal(documented, fields);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_defaults_are_cotton),
        cmocka_unit_test(test_docs),
        cmocka_unit_test(test_docs_of_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
