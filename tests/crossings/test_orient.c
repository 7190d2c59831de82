/* Signs of determinants, against sums of whole numbers of any length. */
#include "crossings/orient.h"
#include "support/testing.h"

#include <math.h>

/* ---- Determinants without rounding: digits of 18 bits, the lowest first, from 2^-950 on ---- */

__extension__ typedef __int128 wide;
enum { DIGIT = 18, DIGITS = 120, LOWEST = -950 };

typedef struct whole {
    wide digit[DIGITS];
} whole;

/* sum += sign a b c */
static void add_product(whole *sum, int sign, double a, double b, double c) {
    const double factor[3] = {a, b, c};
    int64_t digit[3][3];
    int exponent = 0;
    for (int i = 0; i < 3; i++) {
        int e;
        int64_t mantissa = (int64_t)ldexp(frexp(fabs(factor[i]), &e), 53);
        if (mantissa == 0) return;
        exponent += e - 53;
        if (factor[i] < 0) sign = -sign;
        for (int k = 0; k < 3; k++) digit[i][k] = mantissa >> (DIGIT * k) & ((1 << DIGIT) - 1);
    }
    int place = exponent - LOWEST;
    assert_true(place >= 0 && place / DIGIT + 7 < DIGITS);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                sum->digit[place / DIGIT + i + j + k] +=
                    (wide)(sign * digit[0][i] * digit[1][j] * digit[2][k]) * ((wide)1 << (place % DIGIT));
}

static int sign_of(whole *sum) {
    bool any = false;
    for (int i = 0; i + 1 < DIGITS; i++) {
        wide carry = sum->digit[i] >> DIGIT; /* rounds down */
        sum->digit[i] -= carry * (1 << DIGIT);
        sum->digit[i + 1] += carry;
        any |= sum->digit[i] != 0;
    }
    if (sum->digit[DIGITS - 1] != 0) return sum->digit[DIGITS - 1] > 0 ? 1 : -1;
    return any;
}

/* By permutations of the four points with a column of ones. */
static int exact3d(const double x[4][3]) {
    whole sum = {0};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 4; k++) {
                int l = 6 - i - j - k, order[4] = {i, j, k, l}, sign = 1;
                if (i == j || j == k || i == k) continue;
                for (int p = 0; p < 4; p++)
                    for (int q = p + 1; q < 4; q++)
                        if (order[p] > order[q]) sign = -sign;
                add_product(&sum, sign, x[i][0], x[j][1], x[k][2]);
            }
    return sign_of(&sum);
}

static int exact2d(const double x[4][3], int u, int v) {
    whole sum = {0};
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        add_product(&sum, 1, x[i][u], x[j][v], 1);
        add_product(&sum, -1, x[j][u], x[i][v], 1);
    }
    return sign_of(&sum);
}

/* All orders of the points give the same sign up to their own. Returns it. */
static int check(const double x[4][3]) {
    int want = exact3d(x);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 4; k++) {
                int order[4] = {i, j, k, 6 - i - j - k}, sign = 1;
                if (i == j || j == k || i == k) continue;
                for (int p = 0; p < 4; p++)
                    for (int q = p + 1; q < 4; q++)
                        if (order[p] > order[q]) sign = -sign;
                assert_int_equal(drape_i_orient3d(x[i], x[j], x[k], x[order[3]]), sign * want);
            }
    for (int u = 0; u < 3; u++) {
        int v = (u + 1) % 3;
        assert_int_equal(drape_i_orient2d(x[0], x[1], x[2], u, v), exact2d(x, u, v));
        assert_int_equal(drape_i_orient2d(x[0], x[1], x[2], v, u), -exact2d(x, u, v));
        assert_int_equal(drape_i_orient2d(x[2], x[0], x[1], u, v), exact2d(x, u, v));
    }
    return want;
}

static double any_number(test_random *r, double size) { return size * test_random_between(r, -1, 1); }

/* ---- Tests ---- */

static void known_signs(void **state) {
    (void)state;
    const double x[4][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 0}};
    assert_int_equal(check(x), 1);
    assert_int_equal(drape_i_orient2d(x[0], x[1], x[3], 0, 1), 1);
}

/* The fourth point is a mean of the others, rounded: the sign hangs on the last bits. */
static void nearly_coplanar(void **state) {
    (void)state;
    test_random r = {1};
    int seen[3] = {0};
    for (int n = 0; n < 20000; n++) {
        double x[4][3], size = ldexp(1, test_random_below(&r, 40) - 20);
        double s = test_random_unit(&r), t = test_random_unit(&r), shift = n % 2 ? any_number(&r, 1) : 0;
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < 3; i++) x[i][k] = shift + any_number(&r, size);
            x[3][k] = x[0][k] + s * (x[1][k] - x[0][k]) + t * (x[2][k] - x[0][k]);
            if (n % 3 == 0) x[3][k] = nextafter(x[3][k], any_number(&r, 1));
        }
        seen[1 + check((const double(*)[3])x)]++;
    }
    assert_true(seen[0] > 1000 && seen[2] > 1000);
}

/* Points that are exactly on an oblique plane: whole numbers, whose differences are exact, and multiples of tiny
 * numbers added to large ones, whose differences are not. */
static void coplanar(void **state) {
    (void)state;
    test_random r = {2};
    int inexact = 0;
    for (int n = 0; n < 20000; n++) {
        double x[4][3];
        for (int i = 0; i < 4; i++) {
            double u = test_random_below(&r, 2001) - 1000, v = test_random_below(&r, 2001) - 1000;
            if (n % 2) u *= 0x1p-40, v *= i % 2 ? 0x1p45 : 0x1p-20;
            x[i][0] = 3 * u, x[i][1] = 5 * v, x[i][2] = 3 * u - 5 * v;
            if (n % 2) x[i][2] = x[i][0]; /* the plane x = z, exact whatever the sizes are */
        }
        inexact += x[0][0] - x[3][0] + x[3][0] != x[0][0] || x[0][1] - x[3][1] + x[3][1] != x[0][1];
        assert_int_equal(check((const double(*)[3])x), 0);
        int i = test_random_below(&r, 4), k = test_random_below(&r, 3);
        x[i][k] = nextafter(x[i][k], n % 4 < 2 ? 1e9 : -1e9);
        if (fabs(x[i][k]) >= DRAPE_I_ORIENT_LEAST) check((const double(*)[3])x);
    }
    assert_true(inexact > 100);
}

/* Coordinates over the whole range that is promised. */
static void whole_range(void **state) {
    (void)state;
    test_random r = {3};
    for (int n = 0; n < 20000; n++) {
        double x[4][3], s = 2 * test_random_unit(&r);
        int centre = test_random_below(&r, 540) - 245, spread = 1 + test_random_below(&r, n % 2 ? 5 : 540);
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 3; k++) {
                int e = centre + test_random_below(&r, spread);
                x[i][k] = ldexp(1 + test_random_unit(&r), e < -250 ? -250 : e > 298 ? 298 : e);
                if (test_random_below(&r, 10) == 0) x[i][k] = 0;
                if (test_random_below(&r, 2)) x[i][k] = -x[i][k];
            }
        if (n % 3 == 0)
            for (int k = 0; k < 3; k++) {
                x[3][k] = x[0][k] / 2 + s * x[1][k] / 4 + (0.5 - s / 4) * x[2][k];
                if (fabs(x[3][k]) < DRAPE_I_ORIENT_LEAST) x[3][k] = 0;
            }
        check((const double(*)[3])x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_signs),
        cmocka_unit_test(nearly_coplanar),
        cmocka_unit_test(coplanar),
        cmocka_unit_test(whole_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
