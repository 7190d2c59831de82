/* wind_simd.c: pressure drag, eight triangles at a time; and the velocity of air that changes from place to place.
 *
 * Take a triangle of present area a and unit normal n that moves with the mean velocity V of its corners through air
 * of velocity W. It meets vn = (W - V).n along its normal and feels the force (drag/2) a |vn| vn n, a third at each
 * corner. Its derivative in V is -drag a |vn| n n', so each of the nine blocks of D is (drag a |vn| / 9) n n':
 * positive semidefinite. It is minus the gradient of the dissipation (drag/6) a |vn|^3 by v, at fixed x. The
 * dependence on x through a and n is left out of K: it is not symmetric, and small against the elastic terms. Where a
 * and n are taken at lagged positions, there is none. Tangential friction is what air_drag is for. Where W changes
 * from place to place it is the mean of that at the corners; its dependence on x is left out likewise. */
#include "cloth/force.h"

#include "cloth/lanes.h"
#include "cloth/wind_field.h"

typedef struct sail {
    vd3 n, V;
    vd area, vn;
} sail;

DRAPE_INLINE vd3 load_corners(const double *u, const int32_t *nodes, const int32_t *e) {
    return vd3_add(vd3_add(lanes_gather(u, nodes, 3, 0, e), lanes_gather(u, nodes, 3, 1, e)),
                   lanes_gather(u, nodes, 3, 2, e));
}

DRAPE_INLINE vd3 load_air(const drape_i_wind_data *d, const int32_t *e) {
    const double *w = d->mean;
    if (d->air) return vd3_scale(vd_set1(1.0 / 3), load_corners(d->air, d->nodes, e));
    return (vd3){vd_set1(w[0]), vd_set1(w[1]), vd_set1(w[2])};
}

DRAPE_INLINE sail load_sail(const drape_i_wind_data *d, const drape_i_evaluation *at, const int32_t *e) {
    const double *x = drape_i_damping_x(at);
    vd3 x0 = lanes_gather(x, d->nodes, 3, 0, e);
    vd3 N =
        vd3_cross(vd3_sub(lanes_gather(x, d->nodes, 3, 1, e), x0), vd3_sub(lanes_gather(x, d->nodes, 3, 2, e), x0));
    vd3 v = load_corners(at->v, d->nodes, e);
    vd length = vd_sqrt(vd3_dot(N, N));
    sail s = {.n = vd3_scale(vd_set1(1) / vd_max(length, vd_set1(1e-300)), N),
              .V = vd3_scale(vd_set1(1.0 / 3), v),
              .area = vd_set1(0.5) * length};
    s.vn = vd3_dot(vd3_sub(load_air(d, e), s.V), s.n);
    return s;
}

/* drag a |vn| */
DRAPE_INLINE vd flux_of(const drape_i_wind_data *d, const sail *s) {
    return vd_set1(d->forces->drag) * s->area * vd_abs(s->vn);
}

DRAPE_INLINE vd dissipation_of(vd flux, const sail *s) { return vd_set1(1.0 / 6) * flux * s->vn * s->vn; }

DRAPE_INLINE void evaluate(const drape_i_wind_data *d, const drape_i_evaluation *at, const int32_t *e, int lane,
                           drape_i_batch *out) {
    const vd half = vd_set1(0.5), third = vd_set1(1.0 / 3), ninth = vd_set1(1.0 / 9);
    sail s = load_sail(d, at, e);
    vd flux = flux_of(d, &s);
    vd3 force = vd3_scale(half * third * flux * s.vn, s.n);
    vd33 D = vd33_add_outer(vd33_zero(), vd_set1(at->damping) * ninth * flux, s.n, s.n);
    const vd3 none = {vd_set1(0), vd_set1(0), vd_set1(0)};
    for (int i = 0; i < 3; i++) {
        lanes_store_vector(out->vectors[0], i, lane, force);
        lanes_store_vector(out->vectors[1], i, lane, none);
    }
    for (int pair = 0; pair < 6; pair++) lanes_store_block(out->blocks, pair, lane, D);
    if (at->potential) vd_store(out->scalar + lane, vd_set1(at->c) * dissipation_of(flux, &s));
}

void DRAPE_NAME(drape_i_wind)(const void *data, const void *at, const int32_t *elements, drape_i_batch *out) {
    for (int lane = 0; lane < DRAPE_I_LANES; lane += DRAPE_W) evaluate(data, at, elements + lane, lane, out);
}

void DRAPE_NAME(drape_i_wind_dissipation)(const void *data, const drape_i_evaluation *at, const int32_t *elements,
                                          double *dissipation) {
    for (int lane = 0; lane < DRAPE_I_LANES; lane += DRAPE_W) {
        sail s = load_sail(data, at, elements + lane);
        vd_store(dissipation + lane, dissipation_of(flux_of(data, &s), &s));
    }
}

/* -force.v */
void DRAPE_NAME(drape_i_wind_power)(const void *data, const drape_i_evaluation *at, const int32_t *elements,
                                    double *power) {
    for (int lane = 0; lane < DRAPE_I_LANES; lane += DRAPE_W) {
        sail s = load_sail(data, at, elements + lane);
        vd_store(power + lane, vd_set1(-0.5) * flux_of(data, &s) * s.vn * vd3_dot(s.n, s.V));
    }
}

/* ---- the velocity of the air ---- */

/* cos(2 pi p) with p in turns, as sin(2 pi w), w = 1/4 - |p - nearest whole number|: Taylor's series for |w| <= 1/4,
 * whose remainder is below 1e-13. */
DRAPE_INLINE vd cos_of_turns(vd p) {
    static const double C[9] = {6.283185307179586,  -41.341702240399755, 81.60524927607504,
                                -76.70585975306136, 42.058693944897634,  -15.094642576822984,
                                3.819952584848281,  -0.7181223017785,    0.10422916220813978};
    const vd to_whole = vd_set1(0x1.8p52);
    vd w = vd_set1(0.25) - vd_abs(p - ((p + to_whole) - to_whole)), z = w * w, sum = vd_set1(C[8]);
    for (int i = 7; i >= 0; i--) sum = sum * z + vd_set1(C[i]);
    return w * sum;
}

void DRAPE_NAME(drape_i_wind_waves)(const double *mean, const drape_i_wind_wave *wave, int32_t waves, int64_t begin,
                                    int64_t end, const double *points, double *velocities) {
    for (int64_t i = begin; i < end; i += DRAPE_W) {
        const double *p[DRAPE_W];
        double out[3][DRAPE_W];
        for (int l = 0; l < DRAPE_W; l++) p[l] = points + 3 * (i + l < end ? i + l : end - 1);
#define POINT_X(l) p[l][0]
#define POINT_Y(l) p[l][1]
#define POINT_Z(l) p[l][2]
        const vd3 x = {VD_LANES(POINT_X), VD_LANES(POINT_Y), VD_LANES(POINT_Z)};
        vd3 u = {vd_set1(mean[0]), vd_set1(mean[1]), vd_set1(mean[2])};
        for (int32_t n = 0; n < waves; n++) {
            const drape_i_wind_wave *w = &wave[n];
            vd phase =
                (vd_set1(w->k[0]) * x.x + vd_set1(w->k[1]) * x.y) + (vd_set1(w->k[2]) * x.z + vd_set1(w->phase));
            vd c = cos_of_turns(phase);
            u.x += vd_set1(w->a[0]) * c;
            u.y += vd_set1(w->a[1]) * c;
            u.z += vd_set1(w->a[2]) * c;
        }
        vd_store(out[0], u.x), vd_store(out[1], u.y), vd_store(out[2], u.z);
        for (int l = 0; l < DRAPE_W && i + l < end; l++)
            for (int d = 0; d < 3; d++) velocities[3 * (i + l) + d] = out[d][l];
    }
}
