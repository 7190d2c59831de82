/* The narrow phase on public sets of queries: none missed, none late, and what is reported for nothing comes nearer
 * than 1e-5 of its size. */
#include "drape/io.h"
#include "support/moving_pairs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEAR 1e-5

static moving_pair pair_of(const drape_ccd_pairs *p, int64_t i) {
    moving_pair out = {.kind = p->kind};
    for (int k = 0; k < 4; k++) {
        memcpy(out.start + 3 * k, p->start + 3 * (int64_t)p->vertex[4 * i + k], 3 * sizeof(double));
        memcpy(out.end + 3 * k, p->end + 3 * (int64_t)p->vertex[4 * i + k], 3 * sizeof(double));
    }
    return out;
}

/* The relative distance of a pair that was reported at t but does not touch. */
static double how_near(const drape_ccd_pairs *pairs, int64_t i, double t) {
    moving_pair p = pair_of(pairs, i);
    return moving_pair_least_distance(&p, t, t + 0x1p-16) / moving_pair_size(&p);
}

/* Reads and tests one set; returns how many queries it has, 0 where it is absent. */
static int64_t check_set(const char *name, double separation) {
    const char *path = test_shared_data(name);
    if (!path) return 0;
    drape_context *ctx = test_context(2);
    drape_ccd_queries *q;
    int64_t in_vain = 0, bytes = drape_context_bytes(ctx);
    double farthest = 0;
    ASSERT_OK(ctx, drape_ccd_read(ctx, path, NULL, &q));
    int64_t count = q->pairs.pairs;
    assert_int_equal(q->rounded, 0);
    double *time = malloc((size_t)count * sizeof *time);
    assert_non_null(time);
    ASSERT_OK(ctx, drape_ccd_times(ctx, &q->pairs, &(drape_ccd_settings){.separation = separation}, time));
    for (int64_t i = 0; i < count; i++) {
        if (q->truth[i] == 1 && time[i] > 1)
            fail_msg("%s: query %lld touches, but was told apart", name, (long long)i);
        if (q->truth[i] == 1 && time[i] > q->time[i])
            fail_msg("%s: query %lld touches at %.17g, but was told %.17g", name, (long long)i, q->time[i], time[i]);
        if (separation > 0 || q->truth[i] != 0 || time[i] > 1) continue;
        in_vain++;
        farthest = fmax(farthest, how_near(&q->pairs, i, time[i]));
    }
    if (in_vain)
        print_message("%s: %lld reported for nothing, nearer than %.2g\n", name, (long long)in_vain, farthest);
    assert_true(farthest < NEAR);
    free(time);
    drape_ccd_queries_destroy(q);
    assert_int_equal(drape_context_bytes(ctx), bytes);
    drape_context_destroy(ctx);
    return count;
}

static void test_handcrafted(void **state) {
    (void)state;
    static const char *const scenes[] = {"erleben-cube-cliff-edges", "erleben-sliding-spike", "erleben-spike-wedge",
                                         "erleben-spikes",           "erleben-wedge-crack",   "unit-tests"};
    static const char *const files[] = {"vertex-face/data_0_0", "vertex-face/data_0_1", "edge-edge/data_0_0",
                                        "edge-edge/data_0_1"};
    int64_t count = 0;
    for (int s = 0; s < 6; s++)
        for (int f = 0; f < 4; f++) {
            char name[128];
            snprintf(name, sizeof name, "ccd/wang2021/%s/%s.csv", scenes[s], files[f]);
            int64_t queries = check_set(name, 0);
            if (queries == 0) skip();
            check_set(name, 1e-3);
            count += queries;
        }
    assert_int_equal(count, 2824);
}

static void test_simulated(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int64_t queries;
    } sets[] = {{"ccd/scalable/armadillo-rollers/326ee_pairs.csv.gz", 19313},
                {"ccd/scalable/armadillo-rollers/326vf_pairs.csv.gz", 4652},
                {"ccd/scalable/rod-twist/3036ee_pairs.csv.gz", 4370},
                {"ccd/scalable/rod-twist/3036vf_pairs.csv.gz", 801}};
    for (int s = 0; s < 4; s++) {
        int64_t count = check_set(sets[s].name, 0);
        if (count == 0) skip();
        assert_int_equal(count, sets[s].queries);
        check_set(sets[s].name, 1e-5);
    }
}

/* The same pairs as coordinates and as vertices of meshes. */
static void test_both_formats(void **state) {
    (void)state;
    const char *path = test_shared_data("ccd/scalable/rod-twist/3036vf_pairs.csv.gz");
    drape_context *ctx = test_context(1);
    drape_ccd_queries *vertices, *coordinates;
    if (!path) skip();
    ASSERT_OK(ctx, drape_ccd_read(ctx, path, NULL, &vertices));
    path = test_shared_data("ccd/scalable/rod-twist/queries/3036vf.csv.gz");
    if (!path) skip();
    ASSERT_OK(ctx, drape_ccd_read(ctx, path, NULL, &coordinates));
    assert_int_equal(vertices->pairs.kind, DRAPE_CCD_VERTEX_FACE);
    assert_int_equal(coordinates->pairs.kind, DRAPE_CCD_VERTEX_FACE);
    assert_int_equal(vertices->pairs.pairs, coordinates->pairs.pairs);
    for (int64_t i = 0; i < vertices->pairs.pairs; i++) {
        moving_pair p = pair_of(&vertices->pairs, i), q = pair_of(&coordinates->pairs, i);
        assert_memory_equal(p.start, q.start, sizeof p.start);
        assert_memory_equal(p.end, q.end, sizeof p.end);
        assert_int_equal(coordinates->truth[i], -1);
        assert_true(isnan(coordinates->time[i]));
    }
    drape_ccd_queries_destroy(vertices);
    drape_ccd_queries_destroy(coordinates);
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_handcrafted),
        cmocka_unit_test(test_simulated),
        cmocka_unit_test(test_both_formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
