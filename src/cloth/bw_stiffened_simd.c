/* bw_stiffened_simd.c: the stiffening of fabrics in stretch and shear beyond small strains, eight triangles at a
 * time.
 *
 * Threads are crimped: a fabric gives way until they are straight, and then resists. In shear, its yarns turn against
 * each other until they jam. So the stiffness d2E/dC2 of a condition C rises from k to K. It rises
 * linearly from a strain of half the knee e to one and a half times e. So s(C) follows two straight lines that meet
 * at e, with the corner rounded. What that adds to the energy of bw_triangle_simd.c is, with r(z) = max(z, 0) and m =
 * (K - k)/e,
 *
 *     E = a m/6 (r(C - e/2)^3 - r(C - 3e/2)^3),
 *     s = m/2 (r(C - e/2)^2 - r(C - 3e/2)^2),   d2E/dC2 = a m (r(C - e/2) - r(C - 3e/2)).
 *
 * Stretch stiffens where it is positive only: nothing is added under compression. Shear does in both directions, as a
 * function of |C_s|. K >= k, so s and d2E/dC2 are never negative for stretch, and its matrix is never indefinite;
 * that of shear is clamped as in bw_triangle_simd.c. Nothing here is damped.
 * Cost: some 450 flops per triangle; 120 for the force alone. */
#include "cloth/triangle_lanes.h"

/* A condition: its stiffness, its tension, and twice its energy per area. */
typedef struct response {
    vd stiffness, tension, twice_energy;
} response;

DRAPE_INLINE void load_triangle(const drape_i_bw_data *d, const double *x, const int32_t *e, triangle *t) {
    vd at[4];
    lanes_fields4(d->records, BW_STIFFENED_SIZE, BW_AREA, e, at);
    t->area = at[0], t->du1 = at[1], t->du2 = at[2], t->dv1 = at[3];
    t->dv2 = lanes_field(d->records, BW_STIFFENED_SIZE, BW_DV2, e);
    load_columns(d, x, e, t, &t->wu, &t->wv);
}

/* To the strain of condition 0 to 2, u, v and shear. */
DRAPE_INLINE response respond(const drape_i_bw_data *d, const int32_t *e, int condition, vd strain) {
    const vd zero = vd_set1(0), half = vd_set1(0.5), third = vd_set1(1.0 / 3);
    vd at[3];
    lanes_fields3(d->records, BW_STIFFENED_SIZE, BW_CURVES + BW_CURVE_SIZE * condition, e, at);
    vd rise = at[BW_CURVE_RISE];
    vd early = vd_max(strain - at[BW_CURVE_BEGIN], zero), late = vd_max(strain - at[BW_CURVE_END], zero);
    vd early2 = early * early, late2 = late * late;
    return (response){rise * (early - late), half * rise * (early2 - late2),
                      third * rise * (early2 * early - late2 * late)};
}

DRAPE_INLINE response respond_to_shear(const drape_i_bw_data *d, const int32_t *e, vd shear) {
    response r = respond(d, e, 2, vd_abs(shear));
    r.tension = vd_select(shear >= vd_set1(0), r.tension, -r.tension);
    return r;
}

DRAPE_INLINE void evaluate(const drape_i_bw_data *d, const drape_i_evaluation *at, const int32_t *e, int lane,
                           drape_i_batch *out) {
    const vd one = vd_set1(1), zero = vd_set1(0);
    triangle t;
    vd lu, lv;
    load_triangle(d, at->x, e, &t);
    vd3 nu = direction(t.wu, &lu), nv = direction(t.wv, &lv);
    response u = respond(d, e, 0, lu - one), v = respond(d, e, 1, lv - one);
    response s = respond_to_shear(d, e, vd3_dot(t.wu, t.wv));
    t.ku = u.stiffness, t.kv = v.stiffness, t.ks = s.stiffness;
    if (at->potential)
        vd_store(out->scalar + lane, vd_set1(0.5) * t.area * ((u.twice_energy + v.twice_energy) + s.twice_energy));
    vd3 tu = combine(u.tension, nu, s.tension, t.wv), tv = combine(v.tension, nv, s.tension, t.wu);
    store_corners(&t, -1, tu, tv, lane, out->vectors[0]);
    if (!at->matrix && !at->stiff_v) return;
    const vd share = vd_set1(at->jacobian == DRAPE_JACOBIAN_PSD ? at->exactness : 1);
    gradient_parts H = find_parts(&t, u.tension, lu, v.tension, lv, s.tension, share);
    if (at->stiff_v) {
        vd3 on_u, on_v;
        load_columns(d, at->v, e, &t, &t.wu_dot, &t.wv_dot);
        multiply(&H, nu, nv, t.wu_dot, t.wv_dot, &on_u, &on_v);
        store_corners(&t, 1, on_u, on_v, lane, out->vectors[1]);
    }
    if (!at->matrix) return;
    scale_parts(&H, vd_set1(at->stiffness), zero, zero, zero);
    gradient_matrix T = form_matrix(&H, nu, nv);
    store_blocks(&t, &T, lane, out);
}

void DRAPE_NAME(drape_i_bw_stiffened)(const void *data, const void *where, const int32_t *elements,
                                      drape_i_batch *out) {
    for (int lane = 0; lane < DRAPE_I_LANES; lane += DRAPE_W) evaluate(data, where, elements + lane, lane, out);
}

void DRAPE_NAME(drape_i_bw_stiffened_energy)(const void *data, const drape_i_evaluation *at, const int32_t *elements,
                                             double *energy) {
    const vd one = vd_set1(1);
    for (int lane = 0; lane < DRAPE_I_LANES; lane += DRAPE_W) {
        const int32_t *e = elements + lane;
        triangle t;
        load_triangle(data, at->x, e, &t);
        response u = respond(data, e, 0, vd_sqrt(vd3_dot(t.wu, t.wu)) - one);
        response v = respond(data, e, 1, vd_sqrt(vd3_dot(t.wv, t.wv)) - one);
        response s = respond_to_shear(data, e, vd3_dot(t.wu, t.wv));
        vd_store(energy + lane, vd_set1(0.5) * t.area * ((u.twice_energy + v.twice_energy) + s.twice_energy));
    }
}
