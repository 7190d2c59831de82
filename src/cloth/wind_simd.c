/* wind_simd.c: pressure drag, eight triangles at a time.
 *
 * A triangle of present area a and unit normal n that moves with the mean velocity V of its corners through air of
 * velocity W meets vn = (W - V).n along its normal and feels the force (drag/2) a |vn| vn n, a third at each corner.
 * Its derivative in V is -drag a |vn| n n', so each of the nine blocks of D is (drag a |vn| / 9) n n': positive
 * semidefinite. It is minus the gradient of the dissipation (drag/6) a |vn|^3 by v, at fixed x. The dependence on x
 * through a and n is left out of K: it is not symmetric, and small against the elastic terms. Where a and n are taken
 * at lagged positions, there is none. Tangential friction is what air_drag is for. */
#include "cloth/force.h"

#include "cloth/lanes.h"

typedef struct sail {
    vd3 n, V;
    vd area, vn;
} sail;

DRAPE_INLINE sail load_sail(const drape_i_wind_data *d, const drape_i_evaluation *at, const int32_t *e) {
    const double *w = d->forces->wind, *x = drape_i_damping_x(at);
    vd3 x0 = lanes_gather(x, d->nodes, 3, 0, e);
    vd3 N =
        vd3_cross(vd3_sub(lanes_gather(x, d->nodes, 3, 1, e), x0), vd3_sub(lanes_gather(x, d->nodes, 3, 2, e), x0));
    vd3 v = vd3_add(vd3_add(lanes_gather(at->v, d->nodes, 3, 0, e), lanes_gather(at->v, d->nodes, 3, 1, e)),
                    lanes_gather(at->v, d->nodes, 3, 2, e));
    vd length = vd_sqrt(vd3_dot(N, N));
    sail s = {.n = vd3_scale(vd_set1(1) / vd_max(length, vd_set1(1e-300)), N),
              .V = vd3_scale(vd_set1(1.0 / 3), v),
              .area = vd_set1(0.5) * length};
    s.vn = vd3_dot(vd3_sub((vd3){vd_set1(w[0]), vd_set1(w[1]), vd_set1(w[2])}, s.V), s.n);
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
