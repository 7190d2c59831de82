/* The bits of a simulation depend on neither threads, vector instructions nor who schedules the tasks. */
#include "support/testing.h"

#include "drape/io.h"

#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { STEPS = 2 }; /* a cold one and a warm one */
#else
enum { STEPS = 10 };
#endif
enum { RESOLUTION = 40, MOST_SCENES = 32 }; /* so many vertices that loops and assembly are cut */

static const int32_t THREADS[] = {1, 2, 7};

/* All that must not change: positions, velocities and constraint forces, and every step's certificate but the times.
 */
typedef struct outcome {
    int32_t vertices;
    double *numbers; /* 9 per vertex */
    drape_certificate certificates[STEPS];
} outcome;

static outcome references[MOST_SCENES]; /* one thread, the narrowest vectors */

static drape_context *create(int32_t threads, drape_simd simd, drape_scheduler scheduler) {
    drape_context_settings settings = drape_context_defaults();
    drape_context *ctx = NULL;
    settings.threads = threads;
    settings.simd = simd;
    settings.scheduler = scheduler;
    drape_status status = drape_context_create(&settings, &ctx);
    if (status) assert_int_equal(status, DRAPE_ERROR_ARGUMENT); /* the processor has no such vectors */
    return ctx;
}

static void keep(drape_sim *sim, outcome *out) {
    size_t n = 3 * (size_t)drape_cloth_vertices(drape_sim_cloth(sim));
    out->vertices = (int32_t)(n / 3);
    assert_non_null(out->numbers = malloc(3 * n * sizeof *out->numbers));
    memcpy(out->numbers, drape_sim_positions(sim), n * sizeof *out->numbers);
    memcpy(out->numbers + n, drape_sim_velocities(sim), n * sizeof *out->numbers);
    memcpy(out->numbers + 2 * n, drape_sim_constraint_forces(sim), n * sizeof *out->numbers);
}

static outcome simulate(drape_context *ctx, const char *name) {
    outcome out = {0};
    drape_loaded_scene *loaded;
    drape_sim *sim;
    ASSERT_OK(ctx, drape_scene_builtin(ctx, name, test_scene_resolution(name, RESOLUTION), &loaded));
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
    for (int k = 0; k < STEPS; k++) {
        drape_certificate *c = &out.certificates[k];
        ASSERT_OK(ctx, drape_sim_step(sim, c));
        c->seconds.assemble = c->seconds.precondition = c->seconds.solve = c->seconds.update = 0;
    }
    keep(sim, &out);
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
    return out;
}

static uint64_t bits(double x) {
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static void compare_certificates(const char *name, const drape_certificate *a, const drape_certificate *b) {
    const double got[] = {a->time,           a->linear.residual, a->linear.true_residual,
                          a->energy.kinetic, a->energy.elastic,  a->energy.weight,
                          a->stretch};
    const double want[] = {b->time,           b->linear.residual, b->linear.true_residual,
                           b->energy.kinetic, b->energy.elastic,  b->energy.weight,
                           b->stretch};
    assert_int_equal(a->step, b->step);
    assert_int_equal(a->linear.reason, b->linear.reason);
    assert_int_equal(a->linear.iterations, b->linear.iterations);
    for (size_t k = 0; k < sizeof got / sizeof *got; k++)
        if (bits(got[k]) != bits(want[k]))
            fail_msg("%s, step %d: number %zu of the certificate is %.17g, not %.17g", name, (int)a->step, k, got[k],
                     want[k]);
}

/* Every scene once more, compared with the reference. */
static void compare_scenes(drape_context *ctx) {
    for (int32_t i = 0; drape_scene_name(i); i++) {
        const char *name = drape_scene_name(i);
        if (i % TEST_EACH_SCENE != 0) continue;
        outcome got = simulate(ctx, name), *want = &references[i];
        assert_int_equal(got.vertices, want->vertices);
        for (int k = 0; k < STEPS; k++) compare_certificates(name, &got.certificates[k], &want->certificates[k]);
        for (int64_t k = 0; k < 9 * (int64_t)got.vertices; k++)
            if (bits(got.numbers[k]) != bits(want->numbers[k]))
                fail_msg("%s: number %d of the state is %.17g, not %.17g", name, (int)k, got.numbers[k],
                         want->numbers[k]);
        free(got.numbers);
    }
}

static int make_references(void **state) {
    (void)state;
    drape_context *ctx = create(1, DRAPE_SIMD_BASELINE, (drape_scheduler){0});
    for (int32_t i = 0; drape_scene_name(i); i++) {
        assert_true(i < MOST_SCENES);
        if (i % TEST_EACH_SCENE != 0) continue;
        references[i] = simulate(ctx, drape_scene_name(i));
    }
    drape_context_destroy(ctx);
    return 0;
}

static int free_references(void **state) {
    (void)state;
    for (int32_t i = 0; i < MOST_SCENES; i++) free(references[i].numbers);
    return 0;
}

/* Otherwise equal bits would say little. */
static void test_something_happens_in_every_scene(void **state) {
    (void)state;
    for (int32_t i = 0; drape_scene_name(i); i++) {
        if (i % TEST_EACH_SCENE != 0 || strcmp(drape_scene_name(i), "slope") == 0)
            continue; /* which rests where it is */
        int64_t moving = 0, iterations = 0, n = 3 * (int64_t)references[i].vertices;
        for (int64_t k = n; k < 2 * n; k++) moving += references[i].numbers[k] != 0;
        for (int k = 0; k < STEPS; k++) iterations += references[i].certificates[k].linear.iterations;
        assert_true(moving > n / 4 && iterations > STEPS);
    }
}

static void compare_level(drape_simd level) {
    for (size_t k = 0; k < sizeof THREADS / sizeof *THREADS; k++) {
        drape_context *ctx = create(THREADS[k], level, (drape_scheduler){0});
        if (!ctx) {
            print_message("this processor has no %s: skipped\n", drape_simd_name(level));
            skip();
        }
        compare_scenes(ctx);
        drape_context_destroy(ctx);
    }
}

static void test_threads_with_the_narrowest_vectors(void **state) {
    (void)state;
    compare_level(DRAPE_SIMD_BASELINE);
}

static void test_threads_with_avx2(void **state) {
    (void)state;
    compare_level(DRAPE_SIMD_AVX2);
}

static void test_threads_with_avx512(void **state) {
    (void)state;
    compare_level(DRAPE_SIMD_AVX512);
}

static void run_in_reverse(void *user, int32_t count, void (*task)(void *data, int32_t index), void *data) {
    int64_t *tasks = user;
    *tasks += count;
    for (int32_t i = count - 1; i >= 0; i--) task(data, i);
}

static void test_scheduler_of_the_host_in_reverse(void **state) {
    (void)state;
    int64_t tasks = 0;
    drape_context *ctx = create(4, DRAPE_SIMD_BEST, (drape_scheduler){run_in_reverse, &tasks});
    assert_non_null(ctx);
    compare_scenes(ctx);
    assert_true(tasks > 100 * STEPS);
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_something_happens_in_every_scene),
        cmocka_unit_test(test_threads_with_the_narrowest_vectors),
        cmocka_unit_test(test_threads_with_avx2),
        cmocka_unit_test(test_threads_with_avx512),
        cmocka_unit_test(test_scheduler_of_the_host_in_reverse),
    };
    return cmocka_run_group_tests(tests, make_references, free_references);
}
