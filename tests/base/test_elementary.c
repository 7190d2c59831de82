/* Sine, cosine, arc tangent and logarithm against libm in long double, whose error is far below what is measured
 * here. */
#include "support/testing.h"

#include "base/elementary.h"
#include "base/simd_math.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 200000 };
static const double SIN_BOUND = 0.8, COS_BOUND = 0.8, ATAN2_BOUND = 0.85, LN_BOUND = 3; /* units in the last place */

/* Distance from a reference that has more digits than a double. */
static double ulps(double got, long double want) {
    if (want == 0) return got == 0 ? 0 : INFINITY;
    int exponent;
    frexpl(want, &exponent);
    if (exponent < -1021) exponent = -1021;
    return (double)(fabsl(got - want) / ldexpl(1, exponent - 53));
}

/* Any sign, logarithmically uniform between 2^low and 2^high. */
static double spread(test_random *r, int low, int high) {
    double mantissa = test_random_between(r, 1, 2);
    double x = ldexp(mantissa, low + test_random_below(r, high - low));
    return test_random_bits(r) & 1 ? -x : x;
}

static bool same_bits(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

typedef struct worst {
    double error, y, x;
} worst;

static void note(worst *w, double error, double y, double x) {
    if (!(error <= w->error)) *w = (worst){error, y, x};
}

static void check(const worst *w, double bound, const char *what) {
    print_message("%s: %.4f ulp\n", what, w->error);
    if (!(w->error <= bound)) fail_msg("%s: %.4f ulp at %a, %a", what, w->error, w->y, w->x);
}

static void note_sine(worst *s, worst *c, double x) {
    note(s, ulps(drape_i_sin(x), sinl(x)), 0, x);
    note(c, ulps(drape_i_cos(x), cosl(x)), 0, x);
}

static void test_sine_over_the_range(void **state) {
    (void)state;
    static const int ranges[][2] = {{-1074, 0}, {-30, 4}, {-2, 3}, {3, 20}, {19, 22}, {20, 64}, {64, 1024}};
    test_random r = {1};
    for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++) {
        worst s = {0}, c = {0};
        for (int i = 0; i < SAMPLES / 4; i++) note_sine(&s, &c, spread(&r, ranges[k][0], ranges[k][1]));
        print_message("2^%d..2^%d ", ranges[k][0], ranges[k][1]);
        check(&s, SIN_BOUND, "sin");
        check(&c, COS_BOUND, "cos");
    }
}

static void test_sine_near_multiples_of_half_pi(void **state) {
    (void)state;
    test_random r = {2};
    worst s = {0}, c = {0};
    for (int i = 0; i < SAMPLES / 4; i++) {
        double n = floor(fabs(spread(&r, 0, 40)));
        double x = (double)(n * 1.57079632679489661923132169163975144L);
        note_sine(&s, &c, x);
        note_sine(&s, &c, nextafter(x, 0));
        note_sine(&s, &c, ldexp(x, test_random_below(&r, 900)));
    }
    check(&s, SIN_BOUND, "sin");
    check(&c, COS_BOUND, "cos");
}

/* Doubles that lie within 2^-58 of a multiple of pi/2, found from the continued fraction of 2^e / (pi/2). */
static void test_sine_at_the_hardest_arguments(void **state) {
    (void)state;
    static const double hard[] = {0x1.6ac5b262ca1ffp849, 0x1.6c6cbc45dc8dep5,   0x1.6ac5b262ca1ffp850,
                                  0x1.6c6cbc45dc8dep6,   0x1.b951f1572eba5p23,  0x1.504cac51f1eafp131,
                                  0x1.e009c53148be1p991, 0x1.6c6cbc45dc8dep7,   0x1.4c96c11134d36p577,
                                  0x1.cfe482285f8edp860, 0x1.db41f3cb71d7bp680, 0x1.e7e44a78ac18cp197};
    worst s = {0}, c = {0};
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++) {
        note_sine(&s, &c, hard[i]);
        note_sine(&s, &c, -hard[i]);
    }
    check(&s, SIN_BOUND, "sin");
    check(&c, COS_BOUND, "cos");
}

static void test_sine_at_special_arguments(void **state) {
    (void)state;
    assert_true(same_bits(drape_i_sin(0.0), 0.0) && same_bits(drape_i_sin(-0.0), -0.0));
    assert_true(same_bits(drape_i_cos(0.0), 1.0) && same_bits(drape_i_cos(-0.0), 1.0));
    assert_true(same_bits(drape_i_sin(0x1p-1074), 0x1p-1074) && same_bits(drape_i_sin(-0x1p-1074), -0x1p-1074));
    assert_true(isnan(drape_i_sin(INFINITY)) && isnan(drape_i_sin(-INFINITY)) && isnan(drape_i_sin(NAN)));
    assert_true(isnan(drape_i_cos(INFINITY)) && isnan(drape_i_cos(-INFINITY)) && isnan(drape_i_cos(NAN)));
    /* The seam between the two reductions. */
    worst s = {0}, c = {0};
    double x = 0x1p20;
    for (int i = 0; i < 100; i++) x = nextafter(x, 0);
    for (int i = 0; i < 200; i++, x = nextafter(x, INFINITY)) note_sine(&s, &c, x);
    check(&s, SIN_BOUND, "sin");
    check(&c, COS_BOUND, "cos");
}

static void test_sine_is_odd_and_cosine_even(void **state) {
    (void)state;
    test_random r = {3};
    for (int i = 0; i < SAMPLES / 10; i++) {
        double x = spread(&r, -40, 1024);
        assert_true(same_bits(drape_i_sin(-x), -drape_i_sin(x)));
        assert_true(same_bits(drape_i_cos(-x), drape_i_cos(x)));
    }
}

static void test_atan2_over_the_range(void **state) {
    (void)state;
    static const int widths[] = {1, 4, 30, 60, 1000}; /* how far apart the two exponents are */
    test_random r = {4};
    for (size_t k = 0; k < sizeof widths / sizeof *widths; k++) {
        worst w = {0};
        for (int i = 0; i < SAMPLES / 2; i++) {
            double x = spread(&r, -1074, 1024);
            int apart = test_random_below(&r, 2 * widths[k] + 1) - widths[k];
            double y = ldexp(spread(&r, 0, 1), ilogb(x) + apart);
            if (isinf(y)) continue;
            note(&w, ulps(drape_i_atan2(y, x), atan2l(y, x)), y, x);
        }
        print_message("exponents within %d ", widths[k]);
        check(&w, ATAN2_BOUND, "atan2");
    }
}

/* Where the octants and the two polynomial ranges meet, and where results are denormal. */
static void test_atan2_at_the_seams(void **state) {
    (void)state;
    static const double ratios[] = {0.5, 1, 2, 0x1p-28, 0x1p28, 1.0 / 3, 0x1p-1022, 0x1p-1040, 0x1p-1074};
    static const double scales[] = {1,        3,        0x1p500,   0x1p501,   0x1p-400,
                                    0x1p-401, 0x1p1000, 0x1p-1022, 0x1p-1060, 0x1p-1074};
    worst w = {0};
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++)
        for (size_t j = 0; j < sizeof scales / sizeof *scales; j++)
            for (int k = -3; k <= 3; k++) {
                double x = scales[j], y = ratios[i] * x;
                for (int l = 0; l < abs(k); l++) y = nextafter(y, k < 0 ? 0 : INFINITY);
                note(&w, ulps(drape_i_atan2(y, x), atan2l(y, x)), y, x);
                note(&w, ulps(drape_i_atan2(-y, x), atan2l(-y, x)), -y, x);
                note(&w, ulps(drape_i_atan2(y, -x), atan2l(y, -x)), y, -x);
                note(&w, ulps(drape_i_atan2(x, y), atan2l(x, y)), x, y);
            }
    check(&w, ATAN2_BOUND, "atan2");
}

static void test_atan2_special_cases(void **state) {
    (void)state;
    static const double v[] = {
        0.0,      -0.0,     0x1p-1074, -0x1p-1074, 1.0, -1.0, 0x1.fffffffffffffp1023, -0x1.fffffffffffffp1023,
        INFINITY, -INFINITY};
    enum { COUNT = sizeof v / sizeof *v };
    for (int i = 0; i < COUNT; i++) {
        for (int j = 0; j < COUNT; j++) {
            double got = drape_i_atan2(v[i], v[j]), want = (double)atan2l(v[i], v[j]);
            if (!same_bits(got, want)) fail_msg("atan2(%a, %a) = %a, wanted %a", v[i], v[j], got, want);
        }
        assert_true(isnan(drape_i_atan2(v[i], NAN)) && isnan(drape_i_atan2(NAN, v[i])));
    }
    assert_true(isnan(drape_i_atan2(NAN, NAN)));
}

static void test_logarithm(void **state) {
    (void)state;
    static const int ranges[][2] = {{-1022, 1024}, {-4, 4}, {-1, 1}};
    test_random r = {7};
    worst w = {0};
    for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++)
        for (int i = 0; i < SAMPLES / 4; i++) {
            double x = fabs(spread(&r, ranges[k][0], ranges[k][1])), near = 1 + spread(&r, -52, -1);
            note(&w, ulps(drape_i_ln(x), logl(x)), 0, x);
            note(&w, ulps(drape_i_ln(near), logl(near)), 0, near);
        }
    check(&w, LN_BOUND, "ln");
    assert_true(drape_i_ln(1) == 0 && !signbit(drape_i_ln(1)));
    assert_true(drape_i_ln(INFINITY) == INFINITY && drape_i_ln(0) == -INFINITY && drape_i_ln(-0.0) == -INFINITY);
    assert_true(isnan(drape_i_ln(-1)) && isnan(drape_i_ln(NAN)) && isnan(drape_i_ln(-INFINITY)));
}

/* A lane must not see its neighbours: every lane holds another kind of argument. */
static void test_vector_atan2_has_the_bits_of_the_scalar(void **state) {
    (void)state;
    static const double odd[] = {0.0, -0.0, 0x1p-1074, 0x1.fffffffffffffp1023, -0x1.fffffffffffffp1023, 1.0};
    enum { ODD = sizeof odd / sizeof *odd };
    test_random r = {5};
    for (int i = 0; i < SAMPLES / 4; i++) {
        double y[DRAPE_W], x[DRAPE_W], got[DRAPE_W];
        for (int l = 0; l < DRAPE_W; l++) {
            x[l] = test_random_below(&r, 8) ? spread(&r, -1074, 1024) : odd[test_random_below(&r, ODD)];
            y[l] = test_random_below(&r, 8) ? spread(&r, -1074, 1024) : odd[test_random_below(&r, ODD)];
        }
        vd_store(got, vd_atan2(vd_load(y), vd_load(x)));
        for (int l = 0; l < DRAPE_W; l++) assert_true(same_bits(got[l], drape_i_atan2(y[l], x[l])));
    }
}

/* Any change of a coefficient, an order of operations, a compiler's way with them shows here. */
static void test_bits_are_those_of_every_machine(void **state) {
    (void)state;
    test_random r = {6};
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (int i = 0; i < SAMPLES / 4; i++) {
        double x = spread(&r, -40, 1024), y = spread(&r, -40, 1024), u = spread(&r, -4, 4), v = spread(&r, -4, 4);
        double values[] = {drape_i_sin(x), drape_i_cos(x),      drape_i_sin(u),
                           drape_i_cos(u), drape_i_atan2(y, x), drape_i_atan2(u, v)};
        for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
            uint64_t bits;
            memcpy(&bits, &values[k], sizeof bits);
            hash = (hash ^ bits) * UINT64_C(0x100000001b3);
        }
    }
    print_message("hash %016llx\n", (unsigned long long)hash);
    assert_true(hash == UINT64_C(0x2c39d3e45baa6250));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sine_over_the_range),
        cmocka_unit_test(test_sine_near_multiples_of_half_pi),
        cmocka_unit_test(test_sine_at_the_hardest_arguments),
        cmocka_unit_test(test_sine_at_special_arguments),
        cmocka_unit_test(test_sine_is_odd_and_cosine_even),
        cmocka_unit_test(test_atan2_over_the_range),
        cmocka_unit_test(test_atan2_at_the_seams),
        cmocka_unit_test(test_atan2_special_cases),
        cmocka_unit_test(test_logarithm),
        cmocka_unit_test(test_vector_atan2_has_the_bits_of_the_scalar),
        cmocka_unit_test(test_bits_are_those_of_every_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
