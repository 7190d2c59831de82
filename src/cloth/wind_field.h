/* wind_field.h: the velocity of the air where it changes: its mean from keys, and random waves on top of it. */
#ifndef DRAPE_CLOTH_WIND_FIELD_H
#define DRAPE_CLOTH_WIND_FIELD_H

#include "base/context.h"
#include "base/simd_level.h"
#include "drape/force.h"

enum {
    DRAPE_I_GUST_MODES = 32,
    DRAPE_I_TURBULENCE_TRIPLES = 20,
    DRAPE_I_WIND_MODES = DRAPE_I_GUST_MODES + 3 * DRAPE_I_TURBULENCE_TRIPLES
};

/* A wave at a time: a cos(2 pi (k.x + phase)). */
typedef struct drape_i_wind_wave {
    double k[3];  /* 1/m */
    double a[3];  /* m/s */
    double phase; /* turns, in [0, 1) */
} drape_i_wind_wave;

/* A wave at all times. Gusts: `k` is projected across the mean wind, and `a` is not used. Turbulence: it travels with
 * the mean wind. */
typedef struct drape_i_wind_mode {
    double k[3], a[3];
    double frequency; /* Hz */
    double phase;     /* turns, at time 0 */
} drape_i_wind_mode;

typedef struct drape_i_wind_field {
    drape_wind_variation settings; /* `key` is our own */
    double wind[3];                /* drape_forces.wind */
    int32_t gusts, modes;          /* gusts come first */
    drape_i_wind_mode mode[DRAPE_I_WIND_MODES];
} drape_i_wind_field;

/* Everything that can be wrong with a variation. */
drape_status drape_i_wind_check(drape_context *ctx, const drape_wind_variation *variation);
/* Of checked settings; variation not NULL. Its keys are copied. */
drape_status drape_i_wind_field_create(drape_context *ctx, const drape_forces *forces, drape_i_wind_field **out);
void drape_i_wind_field_destroy(drape_context *ctx, drape_i_wind_field *field); /* NULL is fine */
/* The mean wind at a time, m/s. */
void drape_i_wind_mean(const drape_i_wind_field *field, double time, double mean[3]);
/* W at so many points, on all threads. */
void drape_i_wind_field_at(drape_context *ctx, const drape_i_wind_field *field, double time, int64_t count,
                           const double *points, double *velocities);

/* wind_simd.c: mean plus all waves at points [begin, end). */
DRAPE_I_KERNEL(void, drape_i_wind_waves,
               (const double *mean, const drape_i_wind_wave *wave, int32_t waves, int64_t begin, int64_t end,
                const double *points, double *velocities));

#endif
