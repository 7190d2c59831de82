/* testing.h: cmocka with what it wants included, and small helpers for numeric tests. */
#ifndef DRAPE_TESTS_TESTING_H
#define DRAPE_TESTS_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "drape/base.h"

/* Fails with both numbers when |got - want| > tolerance (or either is not a number). */
void assert_near(double got, double want, double tolerance, const char *what);
#define ASSERT_NEAR(got, want, tolerance) assert_near((got), (want), (tolerance), #got)

/* Fails with the context's message when status is not DRAPE_OK. */
void assert_ok(drape_context *ctx, drape_status status, const char *what);
#define ASSERT_OK(ctx, call) assert_ok((ctx), (call), #call)

/* A context of so many threads, never NULL. */
drape_context *test_context(int32_t threads);
/* Set-up and teardown of a group of tests that share one context of two threads, which *state is. */
int test_set_up(void **state);
int test_tear_down(void **state);

/* Deterministic random numbers. */
typedef struct test_random {
    uint64_t state;
} test_random;

uint64_t test_random_bits(test_random *r);
double test_random_unit(test_random *r); /* [0, 1) */
double test_random_between(test_random *r, double low, double high);
int32_t test_random_below(test_random *r, int32_t n); /* 0 .. n-1 */

/* Distance in units in the last place of `want`. */
double test_ulps(double got, double want);

/* A resolution for a scene that ships: that, or the least in which its cloth does not start in a crossing. */
int32_t test_scene_resolution(const char *scene, int32_t wanted);

/* Tests of all scenes take each of so many: sanitizers are slow, and what differs between scenes is seldom their
 * subject. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { TEST_EACH_SCENE = 4 };
#else
enum { TEST_EACH_SCENE = 1 };
#endif

/* So many random cases, and under sanitizers a quarter: those look at how code reads and writes, not at its numbers.
 */
#define TEST_CASES(count) (((count) + TEST_EACH_SCENE - 1) / TEST_EACH_SCENE)

/* Path of an outside data file, or NULL (with a line saying so) where it is absent: skip() the test then. */
const char *test_shared_data(const char *relative);

#endif
