/* Wind that changes: its statistics are those that were asked for, and its bits are the same everywhere. */
#include "support/testing.h"

#include "cloth/wind_field.h"
#include "drape/io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double PI = 3.14159265358979323846;

enum { SAMPLES = 1 << 17, PER_SECOND = 64, BANDS = 8 };

static double *velocities_at_a_point(drape_context *ctx, const drape_forces *forces) {
    const double point[3] = {0.3, -0.2, 1.1};
    drape_i_wind_field *field;
    double *u = malloc(3 * SAMPLES * sizeof *u);
    assert_non_null(u);
    ASSERT_OK(ctx, drape_i_wind_field_create(ctx, forces, &field));
    for (int64_t i = 0; i < SAMPLES; i++)
        drape_i_wind_field_at(ctx, field, (double)i / PER_SECOND, 1, point, u + 3 * i);
    drape_i_wind_field_destroy(ctx, field);
    return u;
}

/* Discrete Fourier transform of a power of two, in place. */
static void transform(double *re, double *im, int32_t n) {
    for (int32_t i = 1, j = 0; i < n; i++) {
        int32_t bit = n >> 1;
        for (; j & bit; bit >>= 1) j ^= bit;
        j ^= bit;
        if (i >= j) continue;
        double r = re[i], s = im[i];
        re[i] = re[j], im[i] = im[j];
        re[j] = r, im[j] = s;
    }
    for (int32_t length = 2; length <= n; length *= 2)
        for (int32_t k = 0; k < length / 2; k++) {
            double c = cos(2 * PI * k / length), s = -sin(2 * PI * k / length);
            for (int32_t i = k; i < n; i += length) {
                int32_t j = i + length / 2;
                double r = re[j] * c - im[j] * s, t = re[j] * s + im[j] * c;
                re[j] = re[i] - r, im[j] = im[i] - t;
                re[i] += r, im[i] += t;
            }
        }
}

/* Of a component less its mean: the energy in each of the bands that hold an eighth of 4 T/(1 + (2 pi f T)^2). */
static void energies_of_bands(const double *u, double mean, double T, double energy[BANDS]) {
    double *re = malloc(SAMPLES * sizeof *re), *im = calloc(SAMPLES, sizeof *im), window = 0;
    assert_non_null(re);
    assert_non_null(im);
    for (int32_t i = 0; i < SAMPLES; i++) {
        double hann = 0.5 - 0.5 * cos(2 * PI * i / SAMPLES);
        re[i] = hann * (u[3 * i] - mean);
        window += hann * hann;
    }
    transform(re, im, SAMPLES);
    memset(energy, 0, BANDS * sizeof *energy);
    for (int32_t k = 0; k <= SAMPLES / 2; k++) {
        double f = (double)k * PER_SECOND / SAMPLES;
        int32_t band = (int32_t)(BANDS * 2 / PI * atan(2 * PI * f * T));
        energy[band < BANDS ? band : BANDS - 1] += 2 * (re[k] * re[k] + im[k] * im[k]) / (window * SAMPLES);
    }
    free(re);
    free(im);
}

static double mean_of(const double *u) {
    double sum = 0;
    for (int64_t i = 0; i < SAMPLES; i++) sum += u[3 * i];
    return sum / SAMPLES;
}

static void gusts_have_mean_and_spectrum_that_were_asked_for(void **state) {
    for (uint64_t seed = 1; seed <= 2; seed++) {
        const drape_wind_variation w = {.gust = 0.4, .gust_time = 1.5, .gust_length = 2, .seed = seed};
        const drape_forces forces = {.wind = {5, 0, 0}, .variation = &w};
        double *u = velocities_at_a_point(*state, &forces), energy[BANDS];
        ASSERT_NEAR(mean_of(u), 5, 0.05 * 5);
        energies_of_bands(u, 5, w.gust_time, energy);
        for (int32_t b = 0; b < BANDS; b++) ASSERT_NEAR(energy[b], 0.4 * 5 * 0.4 * 5 / BANDS, 0.05 * 4 / BANDS);
        for (int64_t i = 0; i < SAMPLES; i++) assert_true(u[3 * i + 1] == 0 && u[3 * i + 2] == 0);
        free(u);
    }
}

static void turbulence_has_the_spectrum_in_every_direction(void **state) {
    const drape_wind_variation w = {.turbulence = 0.7, .turbulence_length = 0.5, .turbulence_time = 1, .seed = 3};
    const drape_forces forces = {.variation = &w};
    double *u = velocities_at_a_point(*state, &forces), energy[BANDS / 2];
    for (int32_t d = 0; d < 3; d++) {
        double all[BANDS];
        energies_of_bands(u + d, 0, w.turbulence_time, all);
        for (int32_t b = 0; b < BANDS / 2; b++) energy[b] = all[2 * b] + all[2 * b + 1];
        for (int32_t b = 0; b < BANDS / 2; b++) ASSERT_NEAR(energy[b], 0.49 / 4, 0.05 * 0.49 / 4);
        ASSERT_NEAR(mean_of(u + d), 0, 0.05 * 0.7);
    }
    free(u);
}

/* Over seeds and places: along r exp(-r/L), across it (1 - r/(2 L)) exp(-r/L), as of isotropic turbulence without
 * divergence; of gusts exp(-r/L) across the wind, and 1 along it. */
static void neighbours_feel_the_same_wind_as_far_as_was_asked_for(void **state) {
    enum { SEEDS = 400, PLACES = 32 };
    const double L = 0.5, r = 0.4;
    double along = 0, across = 0, gusts = 0;
    test_random random = {5};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const drape_wind_variation eddies = {.turbulence = 1, .turbulence_length = L, .seed = seed};
        const drape_wind_variation fronts = {.gust = 1, .gust_time = 1, .gust_length = L, .seed = seed};
        drape_i_wind_field *fields[2];
        ASSERT_OK(*state, drape_i_wind_field_create(*state, &(drape_forces){.variation = &eddies}, &fields[0]));
        ASSERT_OK(*state,
                  drape_i_wind_field_create(*state, &(drape_forces){.variation = &fronts, .wind = {1}}, &fields[1]));
        for (int32_t i = 0; i < PLACES; i++) {
            double p[6], u[6];
            for (int32_t k = 0; k < 3; k++) p[k] = p[3 + k] = test_random_between(&random, -50, 50);
            p[3] += r;
            drape_i_wind_field_at(*state, fields[0], 0, 2, p, u);
            along += u[0] * u[3] / (SEEDS * PLACES);
            across += 0.5 * (u[1] * u[4] + u[2] * u[5]) / (SEEDS * PLACES);
            p[3] -= r, p[4] += r;
            drape_i_wind_field_at(*state, fields[1], 0, 2, p, u);
            gusts += (u[0] - 1) * (u[3] - 1) / (SEEDS * PLACES);
            p[3] += r, p[4] -= r;
            drape_i_wind_field_at(*state, fields[1], 0, 2, p, u);
            ASSERT_NEAR(u[3], u[0], 1e-9);
        }
        for (int32_t i = 0; i < 2; i++) drape_i_wind_field_destroy(*state, fields[i]);
    }
    ASSERT_NEAR(along, exp(-r / L), 0.05);
    ASSERT_NEAR(across, (1 - r / (2 * L)) * exp(-r / L), 0.05);
    ASSERT_NEAR(gusts, exp(-r / L), 0.05);
}

static void air_neither_comes_nor_goes(void **state) {
    const drape_wind_variation w = {
        .gust = 0.5, .gust_time = 1, .gust_length = 1, .turbulence = 1, .turbulence_length = 0.5, .seed = 11};
    const drape_forces forces = {.wind = {3, 1, -2}, .variation = &w};
    const double h = 1e-5;
    test_random random = {1};
    for (int32_t n = 0; n < 50; n++) {
        double p[18], u[18], divergence = 0, size = 0;
        for (int32_t k = 0; k < 3; k++) {
            double x = test_random_between(&random, -5, 5);
            for (int32_t i = 0; i < 6; i++) p[3 * i + k] = x;
        }
        for (int32_t k = 0; k < 3; k++) p[3 * k + k] += h, p[3 * (k + 3) + k] -= h;
        ASSERT_OK(*state, drape_forces_wind_at(*state, &forces, 0.1 * n, 6, p, u));
        for (int32_t k = 0; k < 3; k++)
            for (int32_t j = 0; j < 3; j++) {
                double slope = (u[3 * k + j] - u[3 * (k + 3) + j]) / (2 * h);
                size += fabs(slope);
                if (j == k) divergence += slope;
            }
        assert_true(size > 0.1);
        ASSERT_NEAR(divergence, 0, 1e-5 * size);
    }
}

/* Eddies that last travel with the mean wind, whose way is the integral over the keys. */
static void eddies_travel_with_the_wind(void **state) {
    const drape_wind_key keys[2] = {{1, {2, 0, 0}}, {3, {4, 0, -2}}};
    drape_wind_variation w = {.turbulence = 1, .turbulence_length = 0.5, .turbulence_time = 1e12, .seed = 1};
    const double p[3] = {1, 2, 3}, at[4] = {0.5, 1, 2.5, 4};
    const double way[4][3] = {{1, 0, 0}, {2, 0, 0}, {2 + 1.5 * 2.75, 0, -1.5 * 0.75}, {2 + 6 + 4, 0, -2 - 2}};
    const double mean[4][3] = {{2, 0, 0}, {2, 0, 0}, {3.5, 0, -1.5}, {4, 0, -2}};
    for (int32_t i = 0; i < 4; i++) {
        double u[3], still[3], back[3];
        w.key = keys, w.key_count = 2;
        ASSERT_OK(*state, drape_forces_wind_at(*state, &(drape_forces){.variation = &w}, at[i], 1, p, u));
        w.key_count = 0;
        for (int32_t k = 0; k < 3; k++) back[k] = p[k] - way[i][k];
        ASSERT_OK(*state, drape_forces_wind_at(*state, &(drape_forces){.variation = &w}, 0, 1, back, still));
        for (int32_t k = 0; k < 3; k++) ASSERT_NEAR(u[k], mean[i][k] + still[k], 1e-9);
    }
}

/* ---- in a simulation ---- */

static const char *const SCENE = "drape: 1\n"
                                 "cloth:\n"
                                 "  - grid: {width: 1 m, resolution: 40}\n"
                                 "    pins: [{where: left-edge}]\n"
                                 "forces:\n"
                                 "  air_drag: 0.1\n"
                                 "  wind:\n"
                                 "    velocity: [4 m/s, 0, 1 m/s]\n"
                                 "    gusts: {strength: 40 %%, time: 0.5 s}\n"
                                 "    turbulence: {strength: 1 m/s, length: 30 cm}\n"
                                 "    seed: %d\n"
                                 "time: {step: 4 ms}\n";

static drape_sim *begin(drape_context *ctx, int32_t seed) {
    char text[1000];
    drape_loaded_scene *loaded;
    drape_sim *sim;
    int length = snprintf(text, sizeof text, SCENE, (int)seed);
    ASSERT_OK(ctx, drape_scene_parse(ctx, "wind.yaml", text, length, NULL, &loaded));
    ASSERT_OK(ctx, drape_sim_create(ctx, drape_loaded_scene_data(loaded), &sim));
    drape_loaded_scene_destroy(loaded);
    return sim;
}

static void run(drape_context *ctx, drape_sim *sim, int32_t steps) {
    for (int32_t i = 0; i < steps; i++) ASSERT_OK(ctx, drape_sim_step(sim, NULL));
}

static bool same_state(const drape_sim *a, const drape_sim *b) {
    size_t bytes = 3 * (size_t)drape_cloth_vertices(drape_sim_cloth(a)) * sizeof(double);
    return memcmp(drape_sim_positions(a), drape_sim_positions(b), bytes) == 0 &&
           memcmp(drape_sim_velocities(a), drape_sim_velocities(b), bytes) == 0;
}

static void bits_depend_on_neither_threads_nor_vectors_nor_resuming(void **state) {
    enum { STEPS = 6 };
    drape_context_settings narrow = drape_context_defaults();
    drape_context *ctx = test_context(7), *other;
    char path[] = "/tmp/drape-wind-XXXXXX";
    int file = mkstemp(path);
    (void)state;
    assert_true(file >= 0);
    close(file);
    narrow.threads = 1, narrow.simd = DRAPE_SIMD_BASELINE;
    assert_int_equal(drape_context_create(&narrow, &other), DRAPE_OK);
    drape_sim *a = begin(ctx, 1), *b = begin(other, 1), *c = begin(other, 1), *d = begin(ctx, 2);
    run(ctx, a, STEPS), run(other, b, STEPS), run(ctx, d, STEPS);
    assert_true(same_state(a, b));
    assert_false(same_state(a, d));
    ASSERT_OK(ctx, drape_sim_save(a, path));
    ASSERT_OK(other, drape_sim_restore(c, path));
    assert_int_equal(drape_sim_restore(d, path), DRAPE_ERROR_FORMAT); /* another seed is another scene */
    run(ctx, a, STEPS), run(other, c, STEPS);
    assert_true(same_state(a, c));
    unlink(path);
    drape_sim_destroy(a), drape_sim_destroy(b), drape_sim_destroy(c), drape_sim_destroy(d);
    drape_context_destroy(other);
    drape_context_destroy(ctx);
}

/* Keys that do not change are the same wind as none, bit by bit. */
static void even_keys_are_even_wind(void **state) {
    const drape_wind_key key = {0, {4, 0, 1}};
    const drape_wind_variation w = {.key_count = 1, .key = &key};
    drape_forces even = drape_forces_defaults(), keyed = even;
    drape_sim *a = begin(*state, 1), *b = begin(*state, 1);
    memcpy(even.wind, key.velocity, sizeof even.wind);
    keyed.variation = &w;
    ASSERT_OK(*state, drape_sim_set_forces(a, &even));
    ASSERT_OK(*state, drape_sim_set_forces(b, &keyed));
    run(*state, a, 3), run(*state, b, 3);
    assert_true(same_state(a, b));
    drape_sim_destroy(a), drape_sim_destroy(b);
}

/* The default of drag matters where there is air: it moves, or is said to be there. */
static void drag_acts_where_there_is_air(void **state) {
    enum { WIND = 4 };
    drape_sim *sim = begin(*state, 1);
    drape_assembler *list = drape_sim_assembler(sim);
    const drape_wind_variation none = {0};
    const struct {
        drape_forces forces;
        bool acts;
    } cases[] = {{drape_forces_defaults(), false},
                 {{.drag = 1.2, .wind = {0, 1, 0}}, true},
                 {{.drag = 1.2, .still_air = true}, true},
                 {{.drag = 1.2, .variation = &none}, true},
                 {{.wind = {0, 1, 0}}, false}};
    assert_string_equal(drape_assembler_name(list, WIND), "wind");
    assert_true(drape_forces_defaults().drag == 1.2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double power;
        ASSERT_OK(*state, drape_sim_set_forces(sim, &cases[i].forces));
        ASSERT_OK(*state, drape_assembler_dissipation(list, WIND, 0, drape_sim_positions(sim),
                                                      drape_sim_velocities(sim), NULL, &power));
        assert_true(isnan(power) != cases[i].acts);
    }
    drape_sim_destroy(sim);
}

static void bad_wind_is_refused(void **state) {
    const drape_wind_key unsorted[2] = {{1, {0}}, {1, {0}}}, wrong = {0, {NAN}};
    const struct {
        drape_wind_variation w;
        const char *message;
    } cases[] = {{{.gust = -1}, "gust is -1"},
                 {{.gust = 1, .gust_length = 1}, "gust_time is 0 s"},
                 {{.turbulence = 1}, "turbulence_length is 0 m"},
                 {{.turbulence = NAN}, "turbulence nan"},
                 {{.turbulence = 1, .turbulence_length = 1, .turbulence_time = -1}, "turbulence_time -1 s"},
                 {{.key_count = 1}, "no list of 1 keys"},
                 {{.key_count = 2, .key = unsorted}, "key 1, 1 s, is not after 1 s"},
                 {{.key_count = 1, .key = &wrong}, "key 0 has a number that is not finite"},
                 {{.reserved = {1}}, "drape_wind_variation"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double x[3] = {0}, u[3];
        const drape_forces forces = {.variation = &cases[i].w};
        assert_int_equal(drape_forces_wind_at(*state, &forces, 0, 1, x, u), DRAPE_ERROR_ARGUMENT);
        if (!strstr(drape_message(*state), cases[i].message))
            fail_msg("%s: no \"%s\"", drape_message(*state), cases[i].message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gusts_have_mean_and_spectrum_that_were_asked_for),
        cmocka_unit_test(turbulence_has_the_spectrum_in_every_direction),
        cmocka_unit_test(neighbours_feel_the_same_wind_as_far_as_was_asked_for),
        cmocka_unit_test(air_neither_comes_nor_goes),
        cmocka_unit_test(eddies_travel_with_the_wind),
        cmocka_unit_test(bits_depend_on_neither_threads_nor_vectors_nor_resuming),
        cmocka_unit_test(even_keys_are_even_wind),
        cmocka_unit_test(drag_acts_where_there_is_air),
        cmocka_unit_test(bad_wind_is_refused),
    };
    return cmocka_run_group_tests(tests, test_set_up, test_tear_down);
}
