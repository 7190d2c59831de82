/* A tube that is twisted into a rope. Its layers press on each other with many times what springs as soft as the
 * fabric carry. */
#include "drape/io.h"
#include "drape/sim.h"
#include "support/testing.h"

#include <math.h>

/* Before pairs that were pressed deep got firm springs, the response held the layers in every step. It added 33 J,
 * and stopped 2,600 vertices on their way. */
static void test_springs_carry_a_rope(void **state) {
    (void)state;
    static const char *const set[] = {"cloth.tube.pins.0.move.turn.rate=1.2 Hz",
                                      "cloth.tube.pins.2.move.turn.rate=-1.2 Hz"};
    const drape_scene_options options = {.resolution = 16, .set = set, .set_count = 2};
    drape_context *ctx = test_context(1);
    drape_loaded_scene *loaded;
    drape_sim *sim;
    drape_certificate certificate;
    int64_t truncated = 0, hits = 0;
    ASSERT_OK(ctx, drape_scene_load(ctx, "twist", &options, &loaded));
    ASSERT_OK(ctx, drape_sim_create(ctx, drape_loaded_scene_edit(loaded), &sim));
    for (int step = 0; step < 360; step++) {
        ASSERT_OK(ctx, drape_sim_step(sim, &certificate));
        truncated += certificate.contact.truncated;
        hits += certificate.contact.hits;
    }
    print_message("%d vertices stopped, %d hits; time steps and contact took %.1f J of %.1f J\n", (int)truncated,
                  (int)hits, certificate.energy.integrator, certificate.energy.pins);
    assert_true(truncated < 1000);
    assert_true(certificate.energy.integrator > 0);
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_springs_carry_a_rope)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
