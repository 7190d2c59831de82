/* Numbers with units: every unit and prefix, products and powers, what is refused and why. That the decimal point is
 * one in every locale is in test_scene.c. */
#include "io/quantity.h"
#include "support/testing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void reads(const char *text, drape_i_dimension dimension, double want) {
    char why[200] = "";
    double got = NAN;
    if (!drape_i_quantity_parse(text, dimension, &got, why, sizeof why)) fail_msg("\"%s\": %s", text, why);
    if (!(fabs(got - want) <= 4e-16 * fabs(want))) fail_msg("\"%s\" is %.17g, not %.17g", text, got, want);
}

static void refuses(const char *text, drape_i_dimension dimension, const char *part) {
    char why[200] = "";
    double got = 12.5;
    if (drape_i_quantity_parse(text, dimension, &got, why, sizeof why)) fail_msg("\"%s\" was read as %g", text, got);
    if (!strstr(why, part)) fail_msg("\"%s\": \"%s\" does not say \"%s\"", text, why, part);
    assert_true(got == 12.5); /* left alone */
}

static void test_plain_numbers(void **state) {
    (void)state;
    reads("0", DRAPE_I_PLAIN, 0);
    reads("-3", DRAPE_I_PLAIN, -3);
    reads("+2.5", DRAPE_I_PLAIN, 2.5);
    reads(".5", DRAPE_I_PLAIN, 0.5);
    reads("5.", DRAPE_I_PLAIN, 5);
    reads("1e-5", DRAPE_I_PLAIN, 1e-5);
    reads("1E3", DRAPE_I_PLAIN, 1000);
    reads("1e-400", DRAPE_I_PLAIN, 0);
    for (int d = DRAPE_I_PLAIN; d <= DRAPE_I_ANGLE; d++) reads("7.25", (drape_i_dimension)d, 7.25); /* SI is meant */
}

static void test_every_unit(void **state) {
    (void)state;
    reads("2 m", DRAPE_I_LENGTH, 2);
    reads("2 in", DRAPE_I_LENGTH, 0.0508);
    reads("2 ft", DRAPE_I_LENGTH, 0.6096);
    reads("2 g", DRAPE_I_MASS, 0.002);
    reads("2 t", DRAPE_I_MASS, 2000);
    reads("2 s", DRAPE_I_TIME, 2);
    reads("2 min", DRAPE_I_TIME, 120);
    reads("2 h", DRAPE_I_TIME, 7200);
    reads("2 Hz", DRAPE_I_FREQUENCY, 2);
    reads("2 N", DRAPE_I_FORCE, 2);
    reads("2 Pa m", DRAPE_I_STIFFNESS, 2);
    reads("2 J", DRAPE_I_RIGIDITY, 2);
    reads("2 deg", DRAPE_I_ANGLE, 2);
    reads("2 rad", DRAPE_I_ANGLE, 114.59155902616465);
}

static void test_every_prefix(void **state) {
    static const struct {
        char letter;
        double scale;
    } prefixes[] = {{'k', 1e3},  {'M', 1e6},  {'h', 1e2},  {'d', 1e-1},
                    {'c', 1e-2}, {'m', 1e-3}, {'u', 1e-6}, {'n', 1e-9}};
    static const struct {
        const char *symbol;
        drape_i_dimension dimension;
        double scale;
    } units[] = {{"m", DRAPE_I_LENGTH, 1},      {"g", DRAPE_I_MASS, 1e-3},    {"s", DRAPE_I_TIME, 1},
                 {"N", DRAPE_I_FORCE, 1},       {"Hz", DRAPE_I_FREQUENCY, 1}, {"J", DRAPE_I_RIGIDITY, 1},
                 {"Pa m", DRAPE_I_STIFFNESS, 1}};
    (void)state;
    for (size_t p = 0; p < sizeof prefixes / sizeof *prefixes; p++)
        for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
            char text[32];
            snprintf(text, sizeof text, "3 %c%s", prefixes[p].letter, units[u].symbol);
            reads(text, units[u].dimension, 3 * (units[u].scale * prefixes[p].scale));
        }
}

static void test_powers_and_products(void **state) {
    (void)state;
    reads("9.81 m/s^2", DRAPE_I_ACCELERATION, 9.81);
    reads("9.81 m/s2", DRAPE_I_ACCELERATION, 9.81);
    reads("9.81 m s^-2", DRAPE_I_ACCELERATION, 9.81);
    reads("9.81 m s-2", DRAPE_I_ACCELERATION, 9.81);
    reads("9.81 m/s/s", DRAPE_I_ACCELERATION, 9.81);
    reads("9.81 m/s\xc2\xb2", DRAPE_I_ACCELERATION, 9.81);
    reads("150 g/m^2", DRAPE_I_AREA_DENSITY, 0.15);
    reads("1.2 kg/m\xc2\xb3", DRAPE_I_DENSITY, 1.2);
    reads("36 km/h", DRAPE_I_SPEED, 10);
    reads("5 kN/m", DRAPE_I_STIFFNESS, 5000);
    reads("5 N/mm", DRAPE_I_STIFFNESS, 5000);
    reads("1e-5 N m", DRAPE_I_RIGIDITY, 1e-5);
    reads("1e-5 N*m", DRAPE_I_RIGIDITY, 1e-5);
    reads("1e-5 N.m", DRAPE_I_RIGIDITY, 1e-5);
    reads("1e-5 N * m", DRAPE_I_RIGIDITY, 1e-5);
    reads("0.02 N s/m^3", DRAPE_I_AIR_DRAG, 0.02);
    reads("0.02 Pa s/m", DRAPE_I_AIR_DRAG, 0.02);
    reads("5 /s", DRAPE_I_FREQUENCY, 5);
    reads("5 s^-1", DRAPE_I_FREQUENCY, 5);
    reads("3 kg m/s^2", DRAPE_I_FORCE, 3);
    reads("3 m^2/m", DRAPE_I_LENGTH, 3);
    reads("3 m/m", DRAPE_I_PLAIN, 3);
}

static void test_shares(void **state) {
    (void)state;
    reads("10 %", DRAPE_I_SHARE, 0.1);
    reads("250%", DRAPE_I_SHARE, 2.5);
    reads("0.1", DRAPE_I_SHARE, 0.1);
    refuses("10 %%", DRAPE_I_SHARE, "unknown unit");
    refuses("10 %", DRAPE_I_PLAIN, "unknown unit");
    refuses("10 m", DRAPE_I_SHARE, "expected a plain number");
}

static void test_spaces(void **state) {
    (void)state;
    reads("2ms", DRAPE_I_TIME, 0.002);
    reads("2 ms", DRAPE_I_TIME, 0.002);
    reads("2    ms", DRAPE_I_TIME, 0.002);
    reads("150g/m^2", DRAPE_I_AREA_DENSITY, 0.15);
    reads("150 g / m^2", DRAPE_I_AREA_DENSITY, 0.15);
    reads("90deg", DRAPE_I_ANGLE, 90);
    reads("1e3mm", DRAPE_I_LENGTH, 1);
    reads("2 m ", DRAPE_I_LENGTH, 2);
}

static void test_wrong_dimensions(void **state) {
    (void)state;
    refuses("1 kg", DRAPE_I_LENGTH, "the unit \"kg\" does not fit; expected m");
    refuses("1 m", DRAPE_I_PLAIN, "the unit \"m\" does not fit; expected a plain number");
    refuses("1 m", DRAPE_I_TIME, "expected s");
    refuses("1 m/s", DRAPE_I_ACCELERATION, "expected m/s^2");
    refuses("1 N", DRAPE_I_STIFFNESS, "expected N/m");
    refuses("1 N/m", DRAPE_I_RIGIDITY, "expected N m");
    refuses("1 kg/m^3", DRAPE_I_AREA_DENSITY, "expected kg/m^2");
    refuses("1 kg/m^2", DRAPE_I_DENSITY, "expected kg/m^3");
    refuses("1 Hz", DRAPE_I_TIME, "expected s");
    refuses("1 N", DRAPE_I_AIR_DRAG, "expected N s/m^3");
    refuses("1 deg", DRAPE_I_PLAIN, "unknown unit \"deg\"");
    refuses("1 m", DRAPE_I_ANGLE, "use deg or rad");
    refuses("1 m^2", DRAPE_I_LENGTH, "does not fit");
    refuses("1 m m", DRAPE_I_LENGTH, "does not fit");
}

static void test_garbage(void **state) {
    static const char *const numbers[] = {"",      " ", "x", "m", "true", "inf", "nan", "-nan", "infinity", "0x10",
                                          "0x1p3", "-", "+", ".", "e5",   " 1",  "--1", "~",    "null",     "- 1"};
    static const char *const units[] = {"1 furlong", "1 Nm",  "1 K", "1 mmin", "1 kt",       "1 M",
                                        "1 e",       "1 1",   "1 %", "1 m&",   "1 mm m mmm", "1 \xc2\xb5m",
                                        "1 m ^2",    "1 (m)", "1e",  "1 2 m",  "1_000"};
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        refuses(numbers[i], DRAPE_I_LENGTH, "is not a number");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) refuses(units[i], DRAPE_I_LENGTH, "unknown unit");
    refuses("1,5 m", DRAPE_I_LENGTH, "not a comma");
    refuses("1,000", DRAPE_I_PLAIN, "not a comma");
}

static void test_unfinished_units(void **state) {
    (void)state;
    refuses("1 m/", DRAPE_I_LENGTH, "missing at the end");
    refuses("1 m*", DRAPE_I_LENGTH, "missing at the end");
    refuses("1 .", DRAPE_I_PLAIN, "missing at the end");
    refuses("1 /", DRAPE_I_PLAIN, "missing at the end");
    refuses("1 m//s", DRAPE_I_SPEED, "unknown unit");
    refuses("1 m/*s", DRAPE_I_SPEED, "unknown unit");
    refuses("1 m^", DRAPE_I_LENGTH, "power");
    refuses("1 m^y", DRAPE_I_LENGTH, "power");
    refuses("1 m^-", DRAPE_I_LENGTH, "power");
}

static void test_overflow(void **state) {
    (void)state;
    refuses("1e999", DRAPE_I_PLAIN, "too large");
    refuses("-1e999 m", DRAPE_I_LENGTH, "too large");
    refuses("1e308 km", DRAPE_I_LENGTH, "too large");
    refuses("1 Mm^9 Mm^9 Mm^9 Mm^9 Mm^9 Mm^9 / m^9 m^9 m^9 m^9 m^9 m^8", DRAPE_I_LENGTH, "too large");
    refuses("1 m^10", DRAPE_I_LENGTH, "power");
    refuses("1 m^-10", DRAPE_I_LENGTH, "power");
    refuses("1 m^0", DRAPE_I_LENGTH, "power");
    refuses("1 m4294967297", DRAPE_I_LENGTH, "power"); /* 1 if cut to 32 bits */
    refuses("1 m99999999999999999999999", DRAPE_I_LENGTH, "power");
}

static void test_long_texts(void **state) {
    static char text[100000];
    char why[200];
    double got;
    (void)state;
    memset(text, 'm', sizeof text - 1);
    memcpy(text, "1 ", 2);
    for (int d = DRAPE_I_PLAIN; d <= DRAPE_I_ANGLE; d++)
        assert_false(drape_i_quantity_parse(text, (drape_i_dimension)d, &got, why, sizeof why));
    for (size_t i = 2; i < sizeof text - 2; i += 2) memcpy(text + i, "m ", 2);
    refuses(text, DRAPE_I_LENGTH, "does not fit");
    memset(text, '1', sizeof text - 1);
    refuses(text, DRAPE_I_LENGTH, "too large");
    memset(text, 'x', sizeof text - 1);
    refuses(text, DRAPE_I_LENGTH, "is not a number");
}

static void test_units_of_dimensions(void **state) {
    (void)state;
    assert_string_equal(drape_i_dimension_unit(DRAPE_I_PLAIN), "");
    for (int d = DRAPE_I_LENGTH; d <= DRAPE_I_ANGLE; d++) { /* each is read as itself, times 1 */
        char text[32];
        snprintf(text, sizeof text, "3 %s", drape_i_dimension_unit((drape_i_dimension)d));
        reads(text, (drape_i_dimension)d, 3);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_numbers),    cmocka_unit_test(test_every_unit),
        cmocka_unit_test(test_every_prefix),     cmocka_unit_test(test_powers_and_products),
        cmocka_unit_test(test_shares),           cmocka_unit_test(test_spaces),
        cmocka_unit_test(test_wrong_dimensions), cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_unfinished_units), cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_long_texts),       cmocka_unit_test(test_units_of_dimensions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
