#include "support/testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void assert_near(double got, double want, double tolerance, const char *what) {
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%s = %.17g, wanted %.17g within %.3g (off by %.3g)", what, got, want, tolerance, got - want);
}

void assert_ok(drape_context *ctx, drape_status status, const char *what) {
    if (status != DRAPE_OK) fail_msg("%s: %s: %s", what, drape_status_name(status), drape_message(ctx));
}

drape_context *test_context(int32_t threads) {
    drape_context_settings settings = drape_context_defaults();
    drape_context *ctx = NULL;
    settings.threads = threads;
    assert_int_equal(drape_context_create(&settings, &ctx), DRAPE_OK);
    return ctx;
}

int test_set_up(void **state) {
    *state = test_context(2);
    return 0;
}

int test_tear_down(void **state) {
    drape_context_destroy(*state);
    return 0;
}

/* splitmix64 */
uint64_t test_random_bits(test_random *r) {
    uint64_t z = (r->state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

double test_random_unit(test_random *r) { return (double)(test_random_bits(r) >> 11) * 0x1p-53; }

double test_random_between(test_random *r, double low, double high) {
    return low + (high - low) * test_random_unit(r);
}

int32_t test_random_below(test_random *r, int32_t n) { return (int32_t)(test_random_bits(r) % (uint64_t)n); }

double test_ulps(double got, double want) {
    if (got == want) return 0;
    double ulp = nextafter(fabs(want), INFINITY) - fabs(want);
    return fabs(got - want) / ulp;
}

const char *test_shared_data(const char *relative) {
    static char path[4096];
    const char *root = getenv("DRAPE_SHARED_DATA");
    if (root) {
        snprintf(path, sizeof path, "%s/%s", root, relative);
        if (access(path, R_OK) == 0) return path;
    }
    print_message("outside data %s is not here: skipped\n", relative);
    return NULL;
}

int32_t test_scene_resolution(const char *scene, int32_t wanted) {
    int32_t least = strcmp(scene, "knot") == 0                                          ? 41
                    : strcmp(scene, "apron") == 0                                       ? 9
                    : strcmp(scene, "walk") == 0 || strncmp(scene, "character", 9) == 0 ? 13
                                                                                        : 2;
    return wanted > least ? wanted : least;
}
