/* Steps by their error in metres per frame (time.accuracy): frames are hit, the error is about what was asked for,
 * and the bits depend on neither threads nor vector instructions. */
#include "support/dense.h"
#include "support/testing.h"

#include "drape/io.h"
#include "sim/sim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 8 };

typedef struct motion {
    int32_t numbers, substeps;
    double *x; /* after each frame */
} motion;

/* A sheet that lies flat, held at an edge: it swings down. */
static drape_loaded_scene *load(drape_context *ctx, int32_t resolution, const char *time, const char *more) {
    char text[500];
    drape_loaded_scene *loaded;
    int size = snprintf(text, sizeof text,
                        "drape: 1\ncloth: [{grid: {width: 1 m, resolution: %d}, material: cotton, pins: [{where: "
                        "left-edge}]}]\ntime: {%s, fps: 25, frames: %d}\n%s\n",
                        resolution, time, FRAMES, more);
    ASSERT_OK(ctx, drape_scene_parse(ctx, "swing.yaml", text, size, NULL, &loaded));
    return loaded;
}

static motion swing(drape_context *ctx, int32_t resolution, const char *time, const char *more) {
    drape_loaded_scene *loaded = load(ctx, resolution, time, more);
    const drape_scene *scene = drape_loaded_scene_data(loaded);
    motion m = {.numbers = 3 * resolution * resolution};
    drape_sim *sim;
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
    m.x = dense_new((int64_t)m.numbers * FRAMES);
    for (int32_t frame = 0; frame < FRAMES; frame++) {
        for (int32_t i = 0; i < scene->steps_per_frame; i++) {
            drape_certificate c;
            ASSERT_OK(ctx, drape_sim_step(sim, &c));
            m.substeps += c.ode.substeps;
            if (c.ode.newton_error > 1) fail_msg("Newton's iteration left %g", c.ode.newton_error);
        }
        ASSERT_NEAR(drape_sim_time(sim), (frame + 1) / 25.0, 1e-15);
        assert_true(drape_ode_time(sim->integrator->ode) == drape_sim_time(sim));
        memcpy(m.x + (int64_t)frame * m.numbers, drape_sim_positions(sim), (size_t)m.numbers * sizeof *m.x);
    }
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
    return m;
}

/* The largest distance of a coordinate after so many frames, over their number: m per frame. */
static double error_per_frame(const motion *a, const motion *b, int32_t frames) {
    int64_t at = (int64_t)(frames - 1) * a->numbers;
    double most = 0;
    for (int64_t i = at; i < at + a->numbers; i++) most = fmax(most, fabs(a->x[i] - b->x[i]));
    return most / frames;
}

static const char TIGHT[] = "integrator: {method: bdf2, newton: {tolerance: 10 nm}}";

static void errors_are_about_what_was_asked(void **state) {
    static const char *const methods[] = {"bdf2", "implicit-midpoint", "bdf3"};
    drape_context *ctx = *state;
    motion fine = swing(ctx, 11, "step: 0.1 ms", TIGHT);
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        char integrator[64];
        snprintf(integrator, sizeof integrator, "integrator: %s", methods[k]);
        motion loose = swing(ctx, 11, "accuracy: 1 mm", integrator);
        motion tight = swing(ctx, 11, "accuracy: 0.1 mm", integrator);
        for (int32_t frames = 1; frames <= FRAMES; frames++) {
            double a = error_per_frame(&loose, &fine, frames), b = error_per_frame(&tight, &fine, frames);
            printf("%s, after frame %d: 1 mm gives %.2g mm per frame, 0.1 mm %.2g mm\n", methods[k], frames, 1e3 * a,
                   1e3 * b);
            assert_true(a < 2e-3 && b < 2e-4);
        }
        /* Nor is it far more exact than was asked, which would be work for nothing. */
        double a = error_per_frame(&loose, &fine, FRAMES), b = error_per_frame(&tight, &fine, FRAMES);
        assert_true(b < a / 4 && a > 1e-4);
        printf("%s: %d and %d steps\n", methods[k], loose.substeps, tight.substeps);
        assert_true(tight.substeps > loose.substeps);
        free(loose.x), free(tight.x);
    }
    free(fine.x);
}

static void the_longest_step_is_kept(void **state) {
    drape_context *ctx = *state;
    motion a = swing(ctx, 7, "accuracy: 5 cm", ""), b = swing(ctx, 7, "accuracy: 5 cm, step: 4 ms", "");
    assert_true(b.substeps >= 10 * FRAMES && a.substeps < b.substeps / 2);
    free(a.x), free(b.x);
}

static void bits_do_not_depend_on_the_machine(void **state) {
    static const drape_simd simd[] = {DRAPE_SIMD_BASELINE, DRAPE_SIMD_AVX2, DRAPE_SIMD_AVX512};
    motion want = {0};
    int32_t compared = 0;
    (void)state;
    for (size_t k = 0; k < sizeof simd / sizeof *simd; k++)
        for (int32_t threads = 1; threads <= 3; threads++) {
            drape_context_settings settings = drape_context_defaults();
            drape_context *ctx;
            settings.threads = threads;
            settings.simd = simd[k];
            if (drape_context_create(&settings, &ctx)) continue; /* the processor has no such vectors */
            motion got = swing(ctx, 33, "accuracy: 1 mm", "");
            if (want.x) {
                assert_int_equal(got.substeps, want.substeps);
                assert_memory_equal(got.x, want.x, (size_t)got.numbers * FRAMES * sizeof *got.x);
                free(got.x);
                compared++;
            } else {
                want = got;
            }
            drape_context_destroy(ctx);
        }
    assert_true(compared >= 2);
    free(want.x);
}

int main(void) {
    drape_context *ctx = test_context(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(errors_are_about_what_was_asked, ctx),
        cmocka_unit_test_prestate(the_longest_step_is_kept, ctx),
        cmocka_unit_test(bits_do_not_depend_on_the_machine),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    drape_context_destroy(ctx);
    return failed;
}
