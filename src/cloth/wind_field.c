/* wind_field.c: wind that changes in time and from place to place (drape_wind_variation).
 *
 * A sum of N waves a cos(2 pi (k.x + f t + phase)) with a.k = 0 has no divergence, the mean 0 over time, and the
 * variance a a'/2 per wave. Its spectrum at a point has a line at each f. (Kraichnan 1970, "Diffusion by a random
 * velocity field", has the same sum for isotropic turbulence.)
 *
 *   gusts        k is a random vector less its part along the mean wind U, a is gust U sqrt(2/N). Frequencies divide
 *                the spectrum 4 T/(1 + (2 pi f T)^2) into N parts of equal energy, with one line in each:
 *                f = tan(pi p/2)/(2 pi T), p = (n + 1/4 + r/2)/N with r random in [0, 1). Lengths of k divide that
 *                of the correlation exp(-r/L) in the same way: with y = 2 pi |k| L their distribution function is
 *                (2/pi) (atan y - y/(1 + y^2)); a projection onto a plane keeps the correlation in it.
 *   turbulence   waves in threes, with k and a along (r1, r2), (r2, r3), (r3, r1) of a random rotation r: their
 *                variance is the same in all directions, exactly. |a| = turbulence sqrt(6/N). |k| divides Dryden's
 *                energy spectrum E = (8/pi) y^4/(1 + y^2)^3, whose distribution function is
 *                (16/(3 pi)) (3/8 atan y - (5 y^3 + 3 y)/(8 (1 + y^2)^2)). x is taken relative to air that moves with
 *                U, whose displacement is the integral of U; f is as for gusts; those of three waves are next to each
 * other, so that each component has the whole spectrum.
 *
 * Random numbers are whole-number arithmetic (SplitMix64), sine and cosine our own, so bits do not depend on the
 * machine. Cost: some 25 flops per wave and point. */
#include "cloth/wind_field.h"

#include "base/elementary.h"
#include "base/parallel.h"
#include "cloth/grid.h"

#include <math.h>
#include <string.h>

enum { POINTS_PER_CHUNK = 512, BISECTIONS = 60 };

static const double PI = 3.14159265358979323846, TWO_PI = 6.28318530717958647692;

/* ---- Checks ---- */

static drape_status check_scales(drape_context *ctx, const drape_wind_variation *w) {
    if (!(isfinite(w->gust) && w->gust >= 0) || !(isfinite(w->turbulence) && w->turbulence >= 0))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "wind: gust is %g and turbulence %g m/s; both must be 0 or more, and finite", w->gust,
                            w->turbulence);
    if (w->gust > 0 && !(w->gust_time > 0 && w->gust_length > 0 && isfinite(w->gust_time + w->gust_length)))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "wind: gust_time is %g s and gust_length %g m; both must be above 0, and finite",
                            w->gust_time, w->gust_length);
    if (w->turbulence > 0 &&
        !(w->turbulence_length > 0 && w->turbulence_time >= 0 && isfinite(w->turbulence_length + w->turbulence_time)))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "wind: turbulence_length is %g m and turbulence_time %g s; they must be finite, above 0 "
                            "and not below 0",
                            w->turbulence_length, w->turbulence_time);
    return DRAPE_OK;
}

drape_status drape_i_wind_check(drape_context *ctx, const drape_wind_variation *w) {
    drape_status status = drape_i_check_reserved(ctx, "drape_wind_variation", w->reserved, 8);
    if (!status) status = check_scales(ctx, w);
    if (status) return status;
    if (w->key_count < 0 || (w->key_count > 0 && !w->key))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "wind: no list of %d keys", w->key_count);
    for (int32_t i = 0; i < w->key_count; i++) {
        const double *v = w->key[i].velocity;
        if (!isfinite(w->key[i].time) || !isfinite(v[0]) || !isfinite(v[1]) || !isfinite(v[2]))
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "wind: key %d has a number that is not finite", i);
        if (i > 0 && !(w->key[i].time > w->key[i - 1].time))
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "wind: the time of key %d, %g s, is not after %g s", i,
                                w->key[i].time, w->key[i - 1].time);
    }
    return DRAPE_OK;
}

/* ---- The waves ---- */

/* In [0, 1). */
static double uniform(uint64_t *state) { return 0.5 * (drape_i_random_signed(state) + 1); }

static double distribution_of_gusts(double y) { return 2 / PI * (drape_i_atan2(y, 1) - y / (1 + y * y)); }

static double distribution_of_turbulence(double y) {
    double s = 1 + y * y;
    return 16 / (3 * PI) * (0.375 * drape_i_atan2(y, 1) - (5 * y * y * y + 3 * y) / (8 * s * s));
}

/* The y at which a distribution function is p in (0, 1). */
static double quantile(double (*distribution)(double), double p) {
    double low = 0, high = 1; /* of y/(1 + y) */
    for (int32_t i = 0; i < BISECTIONS; i++) {
        double middle = 0.5 * (low + high);
        if (distribution(middle / (1 - middle)) < p) low = middle;
        else high = middle;
    }
    return low / (1 - low);
}

/* A share of part n of `parts`, away from its ends. */
static double inside_part(int32_t n, int32_t parts, uint64_t *random) {
    return (n + 0.25 + 0.5 * uniform(random)) / parts;
}

/* The numbers 0 to n - 1 in a random order. */
static void shuffle(int32_t n, uint64_t *random, int32_t *out) {
    for (int32_t i = 0; i < n; i++) {
        int32_t j = (int32_t)(uniform(random) * (i + 1));
        out[i] = out[j];
        out[j] = i;
    }
}

/* Of part n of the spectrum of exp(-t/T); with a random sign where waves may travel either way. */
static double frequency_of(int32_t n, int32_t parts, double T, bool either, uint64_t *random) {
    double angle = 0.5 * PI * inside_part(n, parts, random);
    double f = drape_i_sin(angle) / drape_i_cos(angle) / (TWO_PI * T);
    return uniform(random) < 0.5 && either ? -f : f;
}

/* A random rotation, its columns r[0], r[1], r[2] (Shoemake 1992). */
static void random_rotation(uint64_t *random, double r[3][3]) {
    double u = uniform(random), a = TWO_PI * uniform(random), b = TWO_PI * uniform(random);
    double s = sqrt(1 - u), t = sqrt(u);
    double x = s * drape_i_sin(a), y = s * drape_i_cos(a), z = t * drape_i_sin(b), w = t * drape_i_cos(b);
    const double columns[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)},
                                  {2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)},
                                  {2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)}};
    memcpy(r, columns, sizeof columns);
}

static void make_gusts(drape_i_wind_field *f, uint64_t *random) {
    const drape_wind_variation *w = &f->settings;
    int32_t order[DRAPE_I_GUST_MODES];
    double r[3][3];
    if (!(w->gust > 0)) return;
    shuffle(DRAPE_I_GUST_MODES, random, order);
    for (int32_t n = 0; n < DRAPE_I_GUST_MODES; n++) {
        drape_i_wind_mode *m = &f->mode[f->modes++];
        double y = quantile(distribution_of_gusts, inside_part(order[n], DRAPE_I_GUST_MODES, random));
        m->frequency = frequency_of(n, DRAPE_I_GUST_MODES, w->gust_time, false, random);
        m->phase = uniform(random);
        random_rotation(random, r);
        for (int32_t d = 0; d < 3; d++) m->k[d] = y / (TWO_PI * w->gust_length) * r[0][d];
    }
    f->gusts = f->modes;
}

static void make_turbulence(drape_i_wind_field *f, uint64_t *random) {
    const drape_wind_variation *w = &f->settings;
    const int32_t triples = DRAPE_I_TURBULENCE_TRIPLES;
    int32_t order[DRAPE_I_TURBULENCE_TRIPLES];
    double r[3][3];
    if (!(w->turbulence > 0)) return;
    double T = w->turbulence_time > 0 ? w->turbulence_time : w->turbulence_length / w->turbulence;
    double a = w->turbulence * sqrt(2.0 / triples);
    shuffle(triples, random, order);
    for (int32_t n = 0; n < triples; n++) {
        double y = quantile(distribution_of_turbulence, inside_part(order[n], triples, random));
        random_rotation(random, r);
        for (int32_t i = 0; i < 3; i++) {
            drape_i_wind_mode *m = &f->mode[f->modes++];
            m->frequency = frequency_of(3 * n + i, 3 * triples, T, true, random);
            m->phase = uniform(random);
            for (int32_t d = 0; d < 3; d++) {
                m->k[d] = y / (TWO_PI * w->turbulence_length) * r[i][d];
                m->a[d] = a * r[(i + 1) % 3][d];
            }
        }
    }
}

drape_status drape_i_wind_field_create(drape_context *ctx, const drape_forces *forces, drape_i_wind_field **out) {
    drape_i_wind_field *f;
    drape_wind_key *keys;
    const drape_wind_variation *w = forces->variation;
    uint64_t random = w->seed;
    *out = NULL;
    if (!DRAPE_NEW(ctx, f, 1)) return DRAPE_ERROR_MEMORY;
    if (!DRAPE_NEW(ctx, keys, w->key_count)) {
        DRAPE_FREE(ctx, f, 1);
        return DRAPE_ERROR_MEMORY;
    }
    if (w->key_count > 0) memcpy(keys, w->key, (size_t)w->key_count * sizeof *keys);
    f->settings = *w;
    f->settings.key = keys;
    memcpy(f->wind, forces->wind, sizeof f->wind);
    make_gusts(f, &random);
    make_turbulence(f, &random);
    *out = f;
    return DRAPE_OK;
}

void drape_i_wind_field_destroy(drape_context *ctx, drape_i_wind_field *f) {
    if (!f) return;
    drape_wind_key *keys = (drape_wind_key *)(uintptr_t)f->settings.key;
    DRAPE_FREE(ctx, keys, f->settings.key_count);
    DRAPE_FREE(ctx, f, 1);
}

/* ---- At a time ---- */

/* Keys at t, and their integral from time 0 on. */
static void follow_keys(const drape_wind_variation *w, double t, double velocity[3], double way[3]) {
    const drape_wind_key *key = w->key;
    int32_t i = 0;
    for (int32_t d = 0; d < 3; d++) velocity[d] = way[d] = 0;
    if (w->key_count == 0) return;
    while (i < w->key_count && key[i].time <= t) i++; /* key[i - 1].time <= t < key[i].time */
    for (int32_t d = 0; d < 3; d++) {
        const double first = key[0].velocity[d], last = key[w->key_count - 1].velocity[d];
        double share = 0;
        if (i > 0 && i < w->key_count) share = (t - key[i - 1].time) / (key[i].time - key[i - 1].time);
        velocity[d] = i == 0 ? first : i == w->key_count ? last : key[i - 1].velocity[d];
        if (share > 0) velocity[d] += share * (key[i].velocity[d] - key[i - 1].velocity[d]);
        way[d] = first * ((i == 0 ? t : key[0].time) - 0);
        for (int32_t j = 1; j < i; j++)
            way[d] += 0.5 * (key[j - 1].velocity[d] + key[j].velocity[d]) * (key[j].time - key[j - 1].time);
        if (i > 0) way[d] += 0.5 * (key[i - 1].velocity[d] + velocity[d]) * (t - key[i - 1].time);
    }
}

void drape_i_wind_mean(const drape_i_wind_field *f, double t, double mean[3]) {
    double way[3];
    follow_keys(&f->settings, t, mean, way);
    for (int32_t d = 0; d < 3; d++) mean[d] += f->wind[d];
}

static double fraction(double a) { return a - floor(a); }

static drape_i_wind_wave gust_at(const drape_i_wind_field *f, const drape_i_wind_mode *m, double t,
                                 const double mean[3]) {
    double square = (mean[0] * mean[0] + mean[1] * mean[1]) + mean[2] * mean[2];
    double along = square > 0 ? ((m->k[0] * mean[0] + m->k[1] * mean[1]) + m->k[2] * mean[2]) / square : 0;
    double size = f->settings.gust * sqrt(2.0 / DRAPE_I_GUST_MODES);
    drape_i_wind_wave wave = {.phase = fraction(m->frequency * t + m->phase)};
    for (int32_t d = 0; d < 3; d++) {
        wave.k[d] = m->k[d] - along * mean[d];
        wave.a[d] = size * mean[d];
    }
    return wave;
}

static drape_i_wind_wave eddy_at(const drape_i_wind_mode *m, double t, const double way[3]) {
    double carried = (m->k[0] * way[0] + m->k[1] * way[1]) + m->k[2] * way[2];
    drape_i_wind_wave wave = {.phase = fraction((m->frequency * t + m->phase) - carried)};
    memcpy(wave.k, m->k, sizeof wave.k);
    memcpy(wave.a, m->a, sizeof wave.a);
    return wave;
}

typedef struct waves {
    double mean[3];
    drape_i_wind_wave wave[DRAPE_I_WIND_MODES];
    int32_t count;
    drape_simd simd;
    const double *points;
    double *velocities;
} waves;

static void find_waves(const drape_i_wind_field *f, double t, waves *out) {
    double way[3];
    follow_keys(&f->settings, t, out->mean, way);
    for (int32_t d = 0; d < 3; d++) {
        out->mean[d] += f->wind[d];
        way[d] += f->wind[d] * t;
    }
    out->count = f->modes;
    for (int32_t n = 0; n < f->modes; n++)
        out->wave[n] = n < f->gusts ? gust_at(f, &f->mode[n], t, out->mean) : eddy_at(&f->mode[n], t, way);
}

static void points_chunk(void *data, int64_t begin, int64_t end) {
    const waves *w = data;
    drape_i_wind_waves_at[w->simd](w->mean, w->wave, w->count, begin, end, w->points, w->velocities);
}

void drape_i_wind_field_at(drape_context *ctx, const drape_i_wind_field *f, double t, int64_t count,
                           const double *points, double *velocities) {
    waves w = {.simd = ctx->simd, .points = points, .velocities = velocities};
    find_waves(f, t, &w);
    drape_i_loop(ctx, count, POINTS_PER_CHUNK, points_chunk, &w);
}
