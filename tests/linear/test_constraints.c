/* From directions to the filter S: an orthogonal projection, or a refusal that changes nothing. */
#include "drape/solve.h"
#include "sparse/counting_allocator.h"
#include "support/testing.h"

#include <math.h>
#include <string.h>

enum { VERTICES = 10 };

/* ---- S is the projection it should be ---- */

static double length3(const double *v) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static void times(const double *S, const double *v, double *out) {
    for (int k = 0; k < 3; k++) out[k] = S[3 * k] * v[0] + S[3 * k + 1] * v[1] + S[3 * k + 2] * v[2];
}

static void check_projection(const double *S, int32_t rank) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double square = 0;
            for (int k = 0; k < 3; k++) square += S[3 * i + k] * S[3 * k + j];
            ASSERT_NEAR(square, S[3 * i + j], 2e-15);
            assert_true(S[3 * i + j] == S[3 * j + i]);
        }
    ASSERT_NEAR(S[0] + S[4] + S[8], rank, 2e-15);
}

/* Random unit directions with a given sine between them; the second lies in the plane of the first and a third. */
static void unit_pair(test_random *r, double sine, double d[2][3]) {
    double other[3], along = 0, length;
    for (int n = 0; n < 2; n++) {
        double *v = n ? other : d[0];
        do
            for (int k = 0; k < 3; k++) v[k] = test_random_between(r, -1, 1);
        while (!(length3(v) > 0.1));
        length = length3(v);
        for (int k = 0; k < 3; k++) v[k] /= length;
    }
    for (int k = 0; k < 3; k++) along += other[k] * d[0][k];
    for (int k = 0; k < 3; k++) other[k] -= along * d[0][k];
    length = length3(other);
    if (length < 0.1) {
        unit_pair(r, sine, d);
        return;
    }
    for (int k = 0; k < 3; k++) d[1][k] = sqrt(1 - sine * sine) * d[0][k] + sine * other[k] / length;
}

/* Any lengths, any angle. S leaves nothing of what is held. */
static void any_length_and_angle(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_constraints *set;
    test_random r = {3};
    ASSERT_OK(ctx, drape_constraints_create(ctx, 1, &set));
    for (int trial = 0; trial < 4000; trial++) {
        double sine = pow(10, test_random_between(&r, -7, 0)), d[2][3], S[9], z[3], out[3];
        drape_constraint c = {.vertex = 0, .directions = trial % 4, .z = {1, 2, 3}};
        unit_pair(&r, sine, d);
        for (int n = 0; n < 2; n++) {
            double length = pow(10, test_random_between(&r, -200, 200));
            for (int k = 0; k < 3; k++) c.direction[n][k] = length * d[n][k];
        }
        ASSERT_OK(ctx, drape_constraints_set(set, &c, 1));
        assert_int_equal(drape_constraints_count(set), c.directions > 0);
        drape_constraints_filter(set, S, z);
        check_projection(S, 3 - c.directions);
        for (int32_t n = 0; n < c.directions && c.directions < 3; n++) {
            times(S, d[n], out);
            ASSERT_NEAR(length3(out), 0, 1e-15);
        }
        times(S, c.z, out);
        for (int k = 0; k < 3; k++) ASSERT_NEAR(z[k], c.z[k] - out[k], 4e-15); /* the held part */
    }
    drape_constraints_destroy(set);
    drape_context_destroy(ctx);
}

static void extreme_lengths(void **state) {
    (void)state;
    static const double lengths[] = {4.9406564584124654e-324, 1e-310, 2.3e-308, 1, 1.7e308};
    drape_context *ctx = test_context(1);
    drape_constraints *set;
    ASSERT_OK(ctx, drape_constraints_create(ctx, 1, &set));
    for (int k = 0; k < 5; k++) {
        drape_constraint c = {0, 2, {{lengths[k], lengths[k], 0}, {0, 0, -lengths[4 - k]}}, {0}};
        double S[9], z[3];
        const double want[9] = {0.5, -0.5, 0, -0.5, 0.5, 0, 0, 0, 0};
        ASSERT_OK(ctx, drape_constraints_set(set, &c, 1));
        drape_constraints_filter(set, S, z);
        for (int i = 0; i < 9; i++) ASSERT_NEAR(S[i], want[i], 1e-15);
    }
    drape_constraints_destroy(set);
    drape_context_destroy(ctx);
}

/* With all three directions the vectors are ignored. */
static void three_directions_want_no_vectors(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_constraints *set;
    double S[18], z[6];
    drape_constraint c = {1, 3, {{NAN, 0, 0}, {0, 0, 0}, {INFINITY, 1, 1}}, {1, 2, 3}};
    ASSERT_OK(ctx, drape_constraints_create(ctx, 2, &set));
    ASSERT_OK(ctx, drape_constraints_set(set, &c, 1));
    drape_constraints_filter(set, S, z);
    for (int i = 0; i < 9; i++) assert_true(S[9 + i] == 0 && S[i] == (i % 4 ? 0 : 1));
    assert_true(z[3] == 1 && z[4] == 2 && z[5] == 3);
    drape_constraints_destroy(set);
    drape_context_destroy(ctx);
}

/* ---- Refusals ---- */

typedef struct filters {
    double S[9 * VERTICES], z[3 * VERTICES];
} filters;

static filters filters_of(const drape_constraints *set) {
    filters f;
    drape_constraints_filter(set, f.S, f.z);
    return f;
}

static const drape_constraint standing[3] = {
    {7, 1, {{1, 2, 3}}, {4, 5, 6}}, {2, 2, {{0, 1, 1}, {1, 0, 0}}, {0}}, {4, 3, {{0}}, {1, 1, 1}}};

static void expect_refusal(drape_context *ctx, drape_constraints *set, const drape_constraint *list, int32_t count,
                           const char *fragment) {
    filters before = filters_of(set), after;
    int32_t held = drape_constraints_count(set);
    assert_int_equal(drape_constraints_set(set, list, count), DRAPE_ERROR_ARGUMENT);
    if (!strstr(drape_message(ctx), fragment)) fail_msg("'%s' lacks '%s'", drape_message(ctx), fragment);
    after = filters_of(set);
    assert_memory_equal(&before, &after, sizeof before);
    assert_int_equal(drape_constraints_count(set), held);
}

static void refusals(void **state) {
    (void)state;
    static const drape_constraint good = {0, 1, {{1, 0, 0}}, {0}};
    const drape_constraint bad[] = {
        {5, 1, {{0, 0, 0}}, {0}},   /* no length */
        {5, 1, {{1, NAN, 0}}, {0}}, /* not finite, in every place */
        {5, 1, {{NAN, 1, 0}}, {0}},
        {5, 1, {{0, 1, INFINITY}}, {0}},
        {5, 2, {{1, 0, 0}, {0, -INFINITY, 0}}, {0}},
        {5, 2, {{1, 0, 0}, {0, 0, NAN}}, {0}},
        {5, 2, {{1, 2, 3}, {0, 0, 0}}, {0}},
        {5, 2, {{1, 2, 3}, {2, 4, 6}}, {0}}, /* parallel */
        {5, 2, {{1, 2, 3}, {-1e-200, -2e-200, -3e-200}}, {0}},
        {5, 2, {{1, 1, 1}, {1, 1, 1 + 1e-9}}, {0}}, /* all but parallel */
        {5, 1, {{1, 2, 3}}, {0, NAN, 0}},
        {5, 3, {{0}}, {0, 0, INFINITY}},
        {5, 4, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0}},
        {5, -1, {{1, 0, 0}}, {0}},
    };
    drape_context *ctx = test_context(1);
    drape_constraints *set;
    ASSERT_OK(ctx, drape_constraints_create(ctx, VERTICES, &set));
    ASSERT_OK(ctx, drape_constraints_set(set, standing, 3));
    for (int k = 0; k < (int)(sizeof bad / sizeof *bad); k++) {
        drape_constraint list[2] = {good, bad[k]};
        expect_refusal(ctx, set, &bad[k], 1, "vertex 5");
        expect_refusal(ctx, set, list, 2, "vertex 5");
    }
    drape_constraint outside[] = {
        {VERTICES, 1, {{1, 0, 0}}, {0}}, {-1, 1, {{1, 0, 0}}, {0}}, {INT32_MAX, 0, {{0}}, {0}}};
    expect_refusal(ctx, set, &outside[0], 1, "vertex 10");
    expect_refusal(ctx, set, &outside[1], 1, "vertex -1");
    expect_refusal(ctx, set, &outside[2], 1, "vertex 2147483647");
    expect_refusal(ctx, set, &good, -1, "-1");
    expect_refusal(ctx, set, NULL, 1, "1");
    drape_constraints_destroy(set);
    assert_int_equal(drape_context_bytes(ctx), 0);
    assert_int_equal(drape_constraints_create(ctx, -1, &set), DRAPE_ERROR_ARGUMENT);
    assert_null(set);
    drape_constraints_destroy(NULL);
    drape_context_destroy(ctx);
}

/* Side by side, far apart, with no direction in one of the two, and in a list longer than there are vertices. */
static void vertices_named_twice(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_constraints *set;
    drape_constraint list[2 * VERTICES];
    ASSERT_OK(ctx, drape_constraints_create(ctx, VERTICES, &set));
    ASSERT_OK(ctx, drape_constraints_set(set, standing, 3));
    for (int32_t distance = 1; distance < VERTICES; distance++)
        for (int32_t kind = 0; kind < 9; kind++) {
            for (int32_t i = 0; i < VERTICES; i++)
                list[i] = (drape_constraint){VERTICES - 1 - i, 1, {{1, 1, 0}}, {0}};
            list[distance].vertex = list[0].vertex;
            list[0].directions = kind % 3;
            list[distance].directions = kind / 3;
            for (int n = 0; n < 2; n++) list[n * distance].direction[1][2] = 1;
            expect_refusal(ctx, set, list, VERTICES, "vertex 9");
        }
    for (int32_t i = 0; i < 2 * VERTICES; i++) list[i] = (drape_constraint){i % VERTICES, 3, {{0}}, {0}};
    for (int32_t count = VERTICES + 1; count <= 2 * VERTICES; count++)
        expect_refusal(ctx, set, list, count, "vertex 0");
    list[6].vertex = 3;
    expect_refusal(ctx, set, list, VERTICES + 1, "vertex 3");
    drape_constraints_destroy(set);
    drape_context_destroy(ctx);
}

/* ---- Sets ---- */

static void order_does_not_matter(void **state) {
    (void)state;
    enum { MANY = 300 };
    drape_context *ctx = test_context(1);
    drape_constraints *a, *b;
    drape_constraint *list = calloc(MANY, sizeof *list);
    double *S = calloc(18 * MANY, sizeof *S), *z = calloc(6 * MANY, sizeof *z);
    test_random r = {9};
    ASSERT_OK(ctx, drape_constraints_create(ctx, MANY, &a));
    ASSERT_OK(ctx, drape_constraints_create(ctx, MANY, &b));
    for (int trial = 0; trial < 20; trial++) {
        int32_t count = trial < 3 ? trial : 1 + test_random_below(&r, MANY), held = 0;
        for (int32_t i = 0; i < count; i++) { /* every vertex once, ascending */
            list[i] = (drape_constraint){(int32_t)((int64_t)i * MANY / count), test_random_below(&r, 4), {{0}}, {0}};
            for (int k = 0; k < 3; k++) {
                list[i].direction[0][k] = test_random_between(&r, -1, 1);
                list[i].direction[1][k] = test_random_between(&r, -1, 1);
                list[i].z[k] = test_random_between(&r, -1, 1);
            }
            held += list[i].directions > 0;
        }
        ASSERT_OK(ctx, drape_constraints_set(a, list, count));
        for (int32_t i = count - 1; i > 0; i--) {
            int32_t other = test_random_below(&r, i + 1);
            drape_constraint swap = list[i];
            list[i] = list[other];
            list[other] = swap;
        }
        ASSERT_OK(ctx, drape_constraints_set(b, list, count));
        assert_int_equal(drape_constraints_count(a), held);
        assert_int_equal(drape_constraints_count(b), held);
        drape_constraints_filter(a, S, z);
        drape_constraints_filter(b, S + 9 * MANY, z + 3 * MANY);
        assert_memory_equal(S, S + 9 * MANY, 9 * MANY * sizeof *S);
        assert_memory_equal(z, z + 3 * MANY, 3 * MANY * sizeof *z);
        ASSERT_OK(ctx, drape_constraints_set_filter(a, S, z)); /* and round the other way */
        assert_int_equal(drape_constraints_count(a), held);
        drape_constraints_filter(a, S + 9 * MANY, z + 3 * MANY);
        assert_memory_equal(S, S + 9 * MANY, 9 * MANY * sizeof *S);
        for (int32_t i = 0; i < 3 * MANY; i++) ASSERT_NEAR(z[i], z[3 * MANY + i], 1e-15);
    }
    drape_constraints_destroy(a);
    drape_constraints_destroy(b);
    drape_context_destroy(ctx);
    free(list);
    free(S);
    free(z);
}

static void expect_filter_refusal(drape_context *ctx, drape_constraints *set, const filters *f) {
    filters before = filters_of(set), after;
    assert_int_equal(drape_constraints_set_filter(set, f->S, f->z), DRAPE_ERROR_ARGUMENT);
    if (!strstr(drape_message(ctx), "vertex 6")) fail_msg("'%s' lacks the vertex", drape_message(ctx));
    after = filters_of(set);
    assert_memory_equal(&before, &after, sizeof before);
}

static void filters_from_outside(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_constraints *set;
    ASSERT_OK(ctx, drape_constraints_create(ctx, VERTICES, &set));
    ASSERT_OK(ctx, drape_constraints_set(set, standing, 3));
    const filters good = filters_of(set);
    const double entries[] = {NAN, INFINITY, 0.9, -1, 2};
    for (int k = 0; k < 5; k++)
        for (int i = 0; i < 9; i++) { /* each of them breaks S = S' or S = S S */
            filters f = good;
            f.S[9 * 6 + i] = entries[k];
            expect_filter_refusal(ctx, set, &f);
        }
    filters f = good;
    f.S[9 * 6] = 0;
    f.z[3 * 6 + 1] = NAN;
    expect_filter_refusal(ctx, set, &f);
    f = good;
    f.S[9 * 6 + 1] = f.S[9 * 6 + 5] = -0.0; /* still the identity: nothing is held */
    ASSERT_OK(ctx, drape_constraints_set_filter(set, f.S, f.z));
    assert_int_equal(drape_constraints_count(set), 3);
    drape_constraints_destroy(set);
    drape_context_destroy(ctx);
}

/* ---- Memory ---- */

static void setting_allocates_nothing(void **state) {
    (void)state;
    counting_allocator memory = {.left = -1};
    drape_context *ctx = counting_context(&memory);
    drape_constraints *set;
    ASSERT_OK(ctx, drape_constraints_create(ctx, VERTICES, &set));
    int64_t bytes = drape_context_bytes(ctx);
    drape_constraint list[VERTICES];
    for (int32_t i = 0; i < VERTICES; i++) list[i] = (drape_constraint){VERTICES - 1 - i, 3, {{0}}, {1, 0, 0}};
    filters f = filters_of(set);
    memory.left = 0; /* the next request fails */
    for (int32_t count = 0; count <= VERTICES; count++) ASSERT_OK(ctx, drape_constraints_set(set, list, count));
    ASSERT_OK(ctx, drape_constraints_set(set, standing, 3));
    list[0].vertex = 0;
    assert_int_equal(drape_constraints_set(set, list, VERTICES), DRAPE_ERROR_ARGUMENT);
    ASSERT_OK(ctx, drape_constraints_set_filter(set, f.S, f.z));
    assert_int_equal(drape_constraints_count(set), 0);
    assert_false(memory.failed);
    assert_int_equal(drape_context_bytes(ctx), bytes);
    drape_constraints_destroy(set);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
    assert_int_equal(memory.live, 0);
}

static void failing_allocations(void **state) {
    (void)state;
    for (int64_t n = 0;; n++) {
        counting_allocator memory = {.left = n};
        drape_context *ctx = counting_context(&memory);
        drape_constraints *set;
        drape_status status = drape_constraints_create(ctx, VERTICES, &set);
        assert_int_equal(status, memory.failed ? DRAPE_ERROR_MEMORY : DRAPE_OK);
        if (status) assert_null(set);
        drape_constraints_destroy(set);
        assert_int_equal(drape_context_bytes(ctx), 0);
        drape_context_destroy(ctx);
        assert_int_equal(memory.live, 0);
        if (memory.failed) continue;
        assert_true(n > 1);
        return;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_length_and_angle),
        cmocka_unit_test(extreme_lengths),
        cmocka_unit_test(three_directions_want_no_vectors),
        cmocka_unit_test(refusals),
        cmocka_unit_test(vertices_named_twice),
        cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(filters_from_outside),
        cmocka_unit_test(setting_allocates_nothing),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
