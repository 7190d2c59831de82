/* Whether a mesh moves as a whole: found for any turn and shift, and not found where it changes its form. */
#include "io/format_tools.h"
#include "support/testing.h"

#include <math.h>
#include <string.h>

enum { MOST = 50 };

static void turn(const double q[4], const double p[3], double out[3]) { /* p + 2 w (v x p) + 2 v x (v x p) */
    const double c[3] = {q[1] * p[2] - q[2] * p[1], q[2] * p[0] - q[0] * p[2], q[0] * p[1] - q[1] * p[0]};
    const double d[3] = {q[1] * c[2] - q[2] * c[1], q[2] * c[0] - q[0] * c[2], q[0] * c[1] - q[1] * c[0]};
    for (int32_t k = 0; k < 3; k++) out[k] = p[k] + 2 * q[3] * c[k] + 2 * d[k];
}

static void random_quaternion(test_random *r, double q[4]) {
    double squares = 0;
    for (int32_t k = 0; k < 4; k++) q[k] = test_random_between(r, -1, 1), squares += q[k] * q[k];
    for (int32_t k = 0; k < 4; k++) q[k] /= sqrt(squares);
}

static void any_turn_and_shift_is_found(void **state) {
    (void)state;
    test_random r = {1};
    static const double halves[][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    for (int32_t round = 0; round < 200; round++) {
        double base[3 * MOST], x[3 * MOST], q[4], t[3];
        int32_t n = 3 + test_random_below(&r, MOST - 3);
        if (round < 4) memcpy(q, halves[round], sizeof q);
        else random_quaternion(&r, q);
        for (int32_t k = 0; k < 3; k++) t[k] = test_random_between(&r, -5, 5);
        for (int32_t i = 0; i < 3 * n; i++) base[i] = test_random_between(&r, -1, 1);
        for (int32_t i = 0; i < n; i++) {
            turn(q, base + 3 * i, x + 3 * i);
            for (int32_t k = 0; k < 3; k++) x[3 * i + k] += t[k];
        }
        drape_i_rigid found;
        assert_true(drape_i_rigid_fit(n, base, x, &found));
        ASSERT_NEAR(fabs(q[0] * found.q[0] + q[1] * found.q[1] + q[2] * found.q[2] + q[3] * found.q[3]), 1, 1e-9);
        for (int32_t i = 0; i < n; i++) {
            double y[3];
            turn(found.q, base + 3 * i, y);
            for (int32_t k = 0; k < 3; k++) ASSERT_NEAR(y[k] + found.t[k], x[3 * i + k], 1e-6);
        }
        int32_t moved = test_random_below(&r, 3 * n); /* one vertex out of its place; three alone are always rigid */
        x[moved] += 0.01;
        if (n > 4) assert_false(drape_i_rigid_fit(n, base, x, &found));
    }
}

/* Mirrored, or grown: no motion of a solid thing. */
static void other_maps_are_not_rigid(void **state) {
    (void)state;
    const double base[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    double x[12];
    drape_i_rigid found;
    for (int32_t i = 0; i < 12; i++) x[i] = -base[i];
    assert_false(drape_i_rigid_fit(4, base, x, &found));
    for (int32_t i = 0; i < 12; i++) x[i] = 1.001 * base[i];
    assert_false(drape_i_rigid_fit(4, base, x, &found));
}

static void what_rests_is_exactly_where_it_was(void **state) {
    (void)state;
    const double base[] = {0.1, 0.2, 0.3, 1, 0, 0, 0, 1, 0};
    drape_i_rigid found;
    assert_true(drape_i_rigid_fit(3, base, base, &found));
    assert_true(found.t[0] == 0 && found.t[1] == 0 && found.t[2] == 0 && found.q[3] == 1);
    assert_true(drape_i_rigid_fit(0, base, base, &found));
    const double point[] = {1, 2, 3}, there[] = {1, 2, 4};
    assert_true(drape_i_rigid_fit(1, point, there, &found));
    assert_true(found.t[2] == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_turn_and_shift_is_found),
        cmocka_unit_test(other_maps_are_not_rigid),
        cmocka_unit_test(what_rests_is_exactly_where_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
