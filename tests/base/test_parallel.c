/* The parallel loop and the sum: every index once, the same bits whatever runs them, nothing hangs. */
#include "support/testing.h"

#include "base/parallel.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const int32_t thread_counts[] = {1, 2, 3, 7, 16};
enum { THREAD_COUNTS = sizeof thread_counts / sizeof *thread_counts };

static void run_in_reverse(void *user, int32_t count, void (*task)(void *data, int32_t index), void *data) {
    ++*(int *)user;
    for (int32_t i = count - 1; i >= 0; i--) task(data, i);
}

static drape_context *context_with_scheduler(int *calls) {
    drape_context_settings settings = drape_context_defaults();
    drape_context *ctx;
    settings.threads = 4;
    settings.scheduler = (drape_scheduler){run_in_reverse, calls};
    assert_int_equal(drape_context_create(&settings, &ctx), DRAPE_OK);
    return ctx;
}

/* Plain increments: were an index visited by two threads, the thread sanitizer would see it. */
static void visit(void *data, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) ((uint8_t *)data)[i]++;
}

static void check_visits(drape_context *ctx, int64_t n, int64_t grain) {
    uint8_t *visits = test_calloc((size_t)n + 1, 1);
    drape_i_loop(ctx, n, grain, visit, visits);
    for (int64_t i = 0; i < n; i++)
        if (visits[i] != 1)
            fail_msg("n %lld grain %lld: index %lld visited %d times", (long long)n, (long long)grain, (long long)i,
                     visits[i]);
    assert_int_equal(visits[n], 0);
    test_free(visits);
}

static void test_loop_visits_every_index_once(void **state) {
    (void)state;
    static const int64_t lengths[] = {0, 1, 2, 7, 8, 9, 63, 255, 256, 257, 1000, 2047, 2048, 2049, 65537};
    static const int64_t grains[] = {1, 3, 8, 100, DRAPE_I_GRAIN, 1000000};
    for (int t = 0; t < THREAD_COUNTS; t++) {
        drape_context *ctx = test_context(thread_counts[t]);
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
            for (size_t j = 0; j < sizeof grains / sizeof *grains; j++) check_visits(ctx, lengths[i], grains[j]);
        drape_context_destroy(ctx);
    }
    int calls = 0;
    drape_context *ctx = context_with_scheduler(&calls);
    check_visits(ctx, 65537, 16);
    assert_int_equal(calls, 1);
    drape_context_destroy(ctx);
}

static void test_chunks_cover_with_few_pieces(void **state) {
    (void)state;
    static const int64_t lengths[] = {0, 1, 255, 256, 257, 100003, INT64_C(1) << 40};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int64_t grain = 1; grain < 3000; grain = 3 * grain + 1) {
            int64_t length = drape_i_chunk_length(lengths[i], grain);
            assert_true(length >= grain && (length < 8 || length % 8 == 0));
            assert_true(length * DRAPE_I_CHUNKS >= lengths[i]);
        }
}

typedef struct numbers {
    const double *x, *y;
} numbers;

static void add_up(void *data, int64_t begin, int64_t end, double *sums) {
    const numbers *v = data;
    for (int64_t i = begin; i < end; i++) {
        sums[0] += v->x[i];
        sums[1] += v->y[i];
        sums[2] += v->x[i] * v->y[i];
        sums[3] += 1;
    }
}

static void check_sums(const numbers *v, int64_t n, int64_t grain) {
    double reference[DRAPE_I_SUMS], got[DRAPE_I_SUMS];
    for (int t = 0; t < THREAD_COUNTS; t++) {
        drape_context *ctx = test_context(thread_counts[t]);
        for (int repeat = 0; repeat < 20; repeat++) {
            drape_i_sum(ctx, n, grain, add_up, (void *)v, DRAPE_I_SUMS, got);
            if (t == 0 && repeat == 0) memcpy(reference, got, sizeof got);
            assert_memory_equal(reference, got, sizeof got);
        }
        drape_context_destroy(ctx);
    }
    assert_true(reference[3] == (double)n);
    int calls = 0;
    drape_context *ctx = context_with_scheduler(&calls);
    drape_i_sum(ctx, n, grain, add_up, (void *)v, DRAPE_I_SUMS, got);
    assert_memory_equal(reference, got, sizeof got);
    drape_i_sum(ctx, n, grain, add_up, (void *)v, 1, got);
    assert_memory_equal(reference, got, sizeof got[0]);
    drape_context_destroy(ctx);
}

/* Numbers of many magnitudes and both signs, whose sum shows every change of order. */
static void test_sum_has_the_same_bits_with_any_threads(void **state) {
    (void)state;
    enum { N = 50001 };
    double *x = test_malloc(N * sizeof *x), *y = test_malloc(N * sizeof *y);
    test_random r = {1};
    for (int i = 0; i < N; i++) {
        x[i] = test_random_between(&r, -1, 1) * (double)(UINT64_C(1) << test_random_below(&r, 60));
        y[i] = test_random_between(&r, -1, 1) / (double)(UINT64_C(1) << test_random_below(&r, 60));
    }
    numbers v = {x, y};
    static const int64_t lengths[] = {0, 1, 1000, N};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        check_sums(&v, lengths[i], 16);
        check_sums(&v, lengths[i], DRAPE_I_GRAIN);
    }
    test_free(x);
    test_free(y);
}

static void count_task(void *data, int32_t index) { ((int32_t *)data)[index]++; }

/* Jobs much shorter than a wake-up, so that helpers meet every moment between spinning and sleeping. */
static void test_many_short_jobs(void **state) {
    (void)state;
    static const struct { int32_t threads, jobs; } loads[] = {{2, 20000}, {3, 2000}, {7, 1000}, {16, 400}};
    for (size_t k = 0; k < sizeof loads / sizeof *loads; k++) {
        drape_context *ctx = test_context(loads[k].threads);
        int32_t counts[40] = {0}, wanted[40] = {0};
        for (int32_t job = 0; job < loads[k].jobs; job++) {
            int32_t count = job % 41;
            drape_i_tasks(ctx, count, count_task, counts);
            for (int32_t i = 0; i < count; i++) wanted[i]++;
        }
        assert_memory_equal(counts, wanted, sizeof counts);
        drape_context_destroy(ctx);
    }
}

/* Pauses longer than the spinning: every helper sleeps when the next job comes. */
static void test_jobs_after_sleep(void **state) {
    (void)state;
    drape_context *ctx = test_context(4);
    int32_t counts[8] = {0};
    for (int job = 0; job < 100; job++) {
        nanosleep(&(struct timespec){0, 1000000}, NULL);
        drape_i_tasks(ctx, 8, count_task, counts);
    }
    for (int i = 0; i < 8; i++) assert_int_equal(counts[i], 100);
    drape_context_destroy(ctx);
}

static void wait_a_while(void *data, int32_t index) {
    if (index == 0) nanosleep(&(struct timespec){0, 500000}, NULL);
    count_task(data, index);
}

static void wait_at_the_end(void *data, int32_t index) {
    if (index == 7) nanosleep(&(struct timespec){0, 500000}, NULL);
    count_task(data, index);
}

/* One task much longer than the spinning: the caller sleeps for the helpers, the helpers for the caller. */
static void test_uneven_jobs(void **state) {
    (void)state;
    drape_context *ctx = test_context(3);
    int32_t counts[8] = {0};
    for (int job = 0; job < 100; job++) {
        drape_i_tasks(ctx, 8, wait_a_while, counts);
        drape_i_tasks(ctx, 8, wait_at_the_end, counts);
    }
    for (int i = 0; i < 8; i++) assert_int_equal(counts[i], 200);
    drape_context_destroy(ctx);
}

/* Pools that end before, while and after their helpers go to sleep. */
static void test_contexts_come_and_go(void **state) {
    (void)state;
    for (int i = 0; i < 150; i++) {
        drape_context *ctx = test_context(2 + i % 6);
        int32_t counts[5] = {0};
        for (int job = 0; job < i % 4; job++) drape_i_tasks(ctx, 5, count_task, counts);
        assert_int_equal(counts[4], i % 4);
        drape_context_destroy(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loop_visits_every_index_once),
        cmocka_unit_test(test_chunks_cover_with_few_pieces),
        cmocka_unit_test(test_sum_has_the_same_bits_with_any_threads),
        cmocka_unit_test(test_many_short_jobs),
        cmocka_unit_test(test_jobs_after_sleep),
        cmocka_unit_test(test_uneven_jobs),
        cmocka_unit_test(test_contexts_come_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
