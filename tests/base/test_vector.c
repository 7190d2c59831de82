/* Operations on vectors: what they say, at every length, and the same bits whatever runs them. */
#include "support/testing.h"

#include "base/vector.h"

#include <math.h>
#include <string.h>

enum { MOST = 70001, LENGTHS = 9 };
static const int64_t lengths[LENGTHS] = {0, 1, 7, 8, 9, 4095, 4097, 65536, MOST};

typedef struct vectors {
    double a[MOST], b[MOST], c[MOST], d[MOST];
} vectors;

static void fill(double *x, uint64_t seed) {
    for (int64_t i = 0; i < MOST; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        x[i] = (double)(int64_t)seed * 0x1p-63;
    }
}

static vectors *make(void) {
    vectors *v = test_calloc(1, sizeof *v);
    fill(v->a, 1), fill(v->b, 2), fill(v->c, 3), fill(v->d, 4);
    return v;
}

static drape_context *context_at(int32_t threads, int simd) {
    drape_context_settings settings = drape_context_defaults();
    drape_context *ctx;
    settings.threads = threads;
    settings.simd = (drape_simd)simd;
    return drape_context_create(&settings, &ctx) ? NULL : ctx; /* this processor may have no such vectors */
}

static void updates_are_right(void **state) {
    (void)state;
    drape_context *ctx = test_context(2);
    for (int k = 0; k < LENGTHS; k++) {
        int64_t n = lengths[k];
        vectors *v = make(), *old = make();
        drape_i_axpy(ctx, n, 0.5, v->a, v->b);
        drape_i_advance(ctx, n, 0.25, v->a, old->b, v->c, v->d);
        for (int64_t i = 0; i < MOST; i++) {
            bool in = i < n;
            assert_true(v->b[i] == old->b[i] + (in ? 0.5 * v->a[i] : 0));
            assert_true(v->c[i] == old->c[i] + (in ? 0.25 * v->a[i] : 0));
            assert_true(v->d[i] == old->d[i] - (in ? 0.25 * old->b[i] : 0));
        }
        drape_i_vector_copy(ctx, n, old->a, v->c);
        drape_i_xpby(ctx, n, -2, old->b, v->c);
        drape_i_scale(ctx, n, 3, old->a, v->d);
        drape_i_scale(ctx, n, 2, v->a, v->a);
        for (int64_t i = 0; i < n; i++) {
            assert_true(v->c[i] == old->b[i] + -2 * old->a[i]);
            assert_true(v->d[i] == 3 * old->a[i] && v->a[i] == 2 * old->a[i]);
        }
        test_free(v), test_free(old);
    }
    drape_context_destroy(ctx);
}

static void dot_is_right(void **state) {
    (void)state;
    drape_context *ctx = test_context(2);
    vectors *v = make();
    for (int k = 0; k < LENGTHS; k++) {
        long double sum = 0, size = 0;
        for (int64_t i = 0; i < lengths[k]; i++)
            sum += (long double)v->a[i] * v->b[i], size += fabs(v->a[i] * v->b[i]);
        assert_true(fabsl(drape_i_dot(ctx, lengths[k], v->a, v->b) - sum) <= 1e-13L * size);
    }
    test_free(v);
    drape_context_destroy(ctx);
}

static void bits_do_not_depend_on_threads_or_vectors(void **state) {
    (void)state;
    vectors *first = NULL;
    double first_dot = 0;
    int32_t compared = 0;
    for (int simd = DRAPE_SIMD_BASELINE; simd <= DRAPE_SIMD_AVX512; simd++)
        for (int32_t threads = 1; threads <= 3; threads++) {
            drape_context *ctx = context_at(threads, simd);
            if (!ctx) continue;
            vectors *v = make();
            double dot = drape_i_dot(ctx, MOST, v->a, v->b);
            drape_i_axpy(ctx, MOST, 0.3, v->a, v->b);
            drape_i_xpby(ctx, MOST, 0.7, v->b, v->c);
            drape_i_advance(ctx, MOST, dot, v->a, v->b, v->c, v->d);
            drape_i_scale(ctx, MOST, 1.0 / 3, v->d, v->d);
            if (first) assert_true(memcmp(first, v, sizeof *v) == 0 && first_dot == dot);
            compared += first != NULL;
            if (first) test_free(v);
            else first = v, first_dot = dot;
            drape_context_destroy(ctx);
        }
    assert_true(compared >= 2);
    test_free(first);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(updates_are_right), cmocka_unit_test(dot_is_right),
                                       cmocka_unit_test(bits_do_not_depend_on_threads_or_vectors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
