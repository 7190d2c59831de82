/* Helpers do not share the caller's processor while there are others. */
#define _GNU_SOURCE /* sched_setaffinity */
#include "support/testing.h"

#include "base/machine.h"
#include "base/parallel.h"

#include <time.h>

#if defined(__linux__)

#include <pthread.h>
#include <sched.h>

enum { JOBS = 60, TASKS = 8 };

typedef struct witness {
    pthread_t caller;
    int32_t processor[TASKS]; /* of the helper; -1: the caller ran this one */
} witness;

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Long enough for a helper to come. */
static void look_around(void *data, int32_t index) {
    witness *w = data;
    double until = seconds() + 200e-6;
    while (seconds() < until) continue;
    w->processor[index] = pthread_equal(pthread_self(), w->caller) ? -1 : drape_i_processor();
}

/* The calling thread; the ones that exist already are left alone. */
static void pin_to(int32_t processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)processor, &set);
    assert_int_equal(sched_setaffinity(0, sizeof set, &set), 0);
}

static void free_again(const drape_i_processors *allowed) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (size_t i = 0; i < DRAPE_I_PROCESSORS; i++)
        if (allowed->word[i / 64] >> (i % 64) & 1) CPU_SET(i, &set);
    assert_int_equal(sched_setaffinity(0, sizeof set, &set), 0);
}

static void test_helpers_keep_off_the_callers_processor(void **state) {
    (void)state;
    const drape_i_processors allowed = drape_i_processors_allowed();
    if (allowed.count < 2) {
        print_message("one processor alone: skipped\n");
        skip();
    }
    drape_context *ctx = test_context(2);
    int32_t here = drape_i_processor(), helped = 0, met = 0;
    pin_to(here);
    for (int32_t job = 0; job < JOBS; job++) {
        witness w = {.caller = pthread_self()};
        nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL); /* the helper sleeps, too */
        drape_i_tasks(ctx, TASKS, look_around, &w);
        for (int32_t i = 0; i < TASKS; i++) helped += w.processor[i] >= 0, met += w.processor[i] == here;
    }
    free_again(&allowed);
    drape_context_destroy(ctx);
    assert_in_range(helped, 1, JOBS * TASKS);
    assert_in_range(10 * met, 0, helped); /* before they have met once, the system may still move it there */
}

static void test_avoiding_leaves_the_others(void **state) {
    (void)state;
    const drape_i_processors allowed = drape_i_processors_allowed();
    int32_t here = drape_i_processor();
    assert_in_range(here, 0, DRAPE_I_PROCESSORS - 1);
    assert_in_range(allowed.count, 1, DRAPE_I_PROCESSORS);
    drape_i_processors_avoid(&allowed, here);
    drape_i_processors rest = drape_i_processors_allowed();
    assert_int_equal(rest.count, allowed.count > 1 ? allowed.count - 1 : 1);
    if (allowed.count > 1) assert_int_not_equal(drape_i_processor(), here);
    if (allowed.count == 2) { /* the last one stays */
        drape_i_processors_avoid(&rest, drape_i_processor());
        assert_int_equal(drape_i_processors_allowed().count, 1);
    }
    drape_i_processors_avoid(&allowed, -1);
    drape_i_processors_avoid(&allowed, DRAPE_I_PROCESSORS);
    assert_int_equal(drape_i_processors_allowed().count, rest.count);
    free_again(&allowed);
}

#else

static void test_nothing_is_known(void **state) {
    (void)state;
    assert_int_equal(drape_i_processor(), -1);
    assert_int_equal(drape_i_processors_allowed().count, 0);
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {
#if defined(__linux__)
        cmocka_unit_test(test_helpers_keep_off_the_callers_processor),
        cmocka_unit_test(test_avoiding_leaves_the_others),
#else
        cmocka_unit_test(test_nothing_is_known),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
