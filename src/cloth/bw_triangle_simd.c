/* bw_triangle_simd.c: stretch and shear of Baraff and Witkin (1998, sections 4.2 and 4.3), eight triangles at a time.
 *
 * The map from material space (u, v) to space is linear on a triangle; w_u and w_v are its columns,
 *     w_u = sum_i du_i x_i,   w_v = sum_i dv_i x_i   (constants du_i, dv_i; rest.c).
 * Conditions and energy, with a the triangle's area in material space:
 *     C_u = |w_u| - 1,  C_v = |w_v| - 1,  C_s = w_u . w_v,   E = a/2 (k_u C_u^2 + k_v C_v^2 + k_s C_s^2).
 * (Baraff and Witkin put the area inside C, which makes the stiffness depend on the mesh.)
 * Damping of a condition: force -a c Cdot dC/dx, with dC/dv of Cdot = dC/dx v.
 *
 * Everything is done in the six numbers (w_u, w_v) and pulled back to the corners at the end. With the tension of a
 * condition s = k C + c Cdot, t_u = dE/dw_u and the 6x6 matrix H,
 *     f_i = -a (du_i t_u + dv_i t_v),   K_ij = a (du_i du_j H_uu + du_i dv_j H_uv + dv_i du_j H_uv' + dv_i dv_j
 * H_vv).
 *
 * H of a stretch condition: k n n' + s/|w| (I - n n'), n = w/|w|. Positive semidefinite: s/|w| >= 0 kept, else 0
 * (Kim 2020, eq. for I_5: eigenvalues k and twice k (1 - 1/|w|)).
 *
 * H of the shear condition: k g g' + s J with g = (w_v, w_u), J = [0 I; I 0]. J has eigenvalue +1 on (d, d) and -1
 * on (d, -d). Let d+ and d- be the directions of w_u + w_v and w_v - w_u, and n+ = (d+, d+)/sqrt 2, n- = (d-,
 * -d-)/sqrt 2, which are orthonormal. Then g = p n+ + q n- with p = |w_u + w_v|/sqrt 2, q = |w_v - w_u|/sqrt 2, so
 * that H is the 2x2 matrix
 *     [k p^2 + s, k p q; k p q, k q^2 - s]
 * there, s on the rest of the +1 space and -s on the rest of the -1 space. The 2x2 matrix is clamped by its
 * closed form; for s = k C_s its eigenvalues are those of Kim 2020, k/2 (I_2 +- sqrt(I_2^2 + 12 I_6^2)).
 * In blocks, with scalars a, b, c from that matrix:
 *     H_uu: d+ (a d+ + b d-)' + d- (b d+ + c d-)',   H_vv: d+ (a d+ - b d-)' + d- (c d- - b d+)',
 *     H_uv: d+ (a d+ - b d-)' + d- (b d+ - c d-)',   and multiples of I.
 * As w_v, w_u = (2p d+ +- 2q d-)/(2 sqrt 2), damping at the same place, g g', only adds to a, b and c.
 *
 * Clamping multiplies negative eigenvalues by the evaluation's exactness: 0 for the positive semidefinite part, 1 for
 * all of H.
 *
 * The damping's tension enters s and is clamped with it, so K stays positive semidefinite whatever the velocity.
 * Lagged damping takes dC/dw from other positions, which are given. Its force and its D = a c dC/dx dC/dx' come from
 * there, s is k C alone, and K is that of the energy. Its force is minus the gradient of the dissipation R = a/2 (c_u
 * Cdot_u^2 + c_v Cdot_v^2 + c_s Cdot_s^2) by v, half the power that it takes out.
 *
 * What Baraff and Witkin leave out (below their eq. 12) since it is not symmetric: -df/dx of the damping force has
 * besides c Cdot d2C/dx2 the part c dC/dx (dCdot/dx)'. With Cdot = dC/dw . wdot, dCdot/dw = d2C/dw2 wdot, in blocks
 *     R = c_u [n_u q_u', 0; 0, 0] + c_v [0, 0; 0, n_v q_v'] + c_s (w_v, w_u) (wdot_v, wdot_u)',
 * q = (I - n n') wdot / |w|. DRAPE_DAMPING_FULL adds it to K, never clamped, after everything else.
 * Cost: some 500 flops per triangle, with R some 1,000; 120 for the force alone. */
#include "cloth/triangle_lanes.h"

/* dC/dw of the conditions that damping goes by: n_u, n_v, and (w_v, w_u) of the shear. */
typedef struct damping_frame {
    vd3 nu, nv, wu, wv;
} damping_frame;

/* One that is not symmetric. */
typedef struct damping_matrix {
    vd33 uu, uv, vu, vv;
} damping_matrix;

DRAPE_INLINE void load_shape(const drape_i_bw_data *d, const double *x, const int32_t *e, triangle *t) {
    const double *r = d->records;
    vd at[4];
    lanes_fields4(r, BW_TRIANGLE_SIZE, BW_AREA, e, at);
    t->area = at[0], t->du1 = at[1], t->du2 = at[2], t->dv1 = at[3];
    lanes_fields4(r, BW_TRIANGLE_SIZE, BW_DV2, e, at);
    t->dv2 = at[0], t->ku = at[1], t->kv = at[2], t->ks = at[3];
    load_columns(d, x, e, t, &t->wu, &t->wv);
}

DRAPE_INLINE void load_motion(const drape_i_bw_data *d, const double *v, const int32_t *e, triangle *t) {
    const double *r = d->records;
    vd at[3];
    lanes_fields3(r, BW_TRIANGLE_SIZE, BW_DAMP_U, e, at);
    t->cu = at[0], t->cv = at[1], t->cs = at[2];
    load_columns(d, v, e, t, &t->wu_dot, &t->wv_dot);
}

DRAPE_INLINE damping_frame load_frame(const drape_i_bw_data *d, const double *x, const int32_t *e,
                                      const triangle *t) {
    damping_frame f;
    vd length;
    load_columns(d, x, e, t, &f.wu, &f.wv);
    f.nu = direction(f.wu, &length);
    f.nv = direction(f.wv, &length);
    return f;
}

/* The rate of the shear condition. */
DRAPE_INLINE vd shear_rate(const triangle *t, vd3 wu, vd3 wv) {
    return vd3_dot(t->wu_dot, wv) + vd3_dot(wu, t->wv_dot);
}

/* Adds s n n' + d e'. */
DRAPE_INLINE void add_sym(vd_sym *A, vd s, vd3 n, vd3 d, vd3 e) {
    const vd zero = vd_set1(0);
    vd_sym B = sum_sym(s, n, zero, d, e, (vd3){zero, zero, zero}, (vd3){zero, zero, zero});
    for (int i = 0; i < 6; i++) A->m[i] += B.m[i];
}

/* Adds damping from another place. */
DRAPE_INLINE void add_damping(const damping_frame *f, vd cu, vd cv, vd cs, gradient_matrix *T) {
    add_sym(&T->uu, cu, f->nu, vd3_scale(cs, f->wv), f->wv);
    add_sym(&T->vv, cv, f->nv, vd3_scale(cs, f->wu), f->wu);
    T->uv = vd33_add_outer(T->uv, cs, f->wv, f->wu);
}

/* q = (I - n n') wdot / |w| */
DRAPE_INLINE vd3 turning(vd3 w_dot, vd3 n, vd length) {
    return vd3_scale(vd_set1(1) / vd_max(length, vd_set1(1e-150)), vd3_sub(w_dot, vd3_scale(vd3_dot(n, w_dot), n)));
}

/* R of the head of this file */
DRAPE_INLINE damping_matrix dropped_part(const triangle *t, vd3 nu, vd lu, vd3 nv, vd lv) {
    vd33 zero = vd33_zero();
    return (damping_matrix){
        vd33_add_outer(vd33_add_outer(zero, t->cu, nu, turning(t->wu_dot, nu, lu)), t->cs, t->wv, t->wv_dot),
        vd33_add_outer(zero, t->cs, t->wv, t->wu_dot),
        vd33_add_outer(zero, t->cs, t->wu, t->wv_dot),
        vd33_add_outer(vd33_add_outer(zero, t->cv, nv, turning(t->wv_dot, nv, lv)), t->cs, t->wu, t->wu_dot),
    };
}

/* pull_back of a matrix that is not symmetric, times `scale`. */
DRAPE_INLINE vd33 pull_back_unsymmetric(const damping_matrix *R, vd scale, vd du_i, vd dv_i, vd du_j, vd dv_j) {
    vd uu = scale * du_i * du_j, uv = scale * du_i * dv_j, vu = scale * dv_i * du_j, vv = scale * dv_i * dv_j;
    vd33 B;
    for (int i = 0; i < 9; i++) B.m[i] = (uu * R->uu.m[i] + vv * R->vv.m[i]) + (uv * R->uv.m[i] + vu * R->vu.m[i]);
    return B;
}

/* Adds stiffness R to the blocks that store_blocks left; corner 0 as there. */
DRAPE_INLINE void add_dropped_blocks(const triangle *t, const damping_matrix *R, double stiffness, int lane,
                                     drape_i_batch *out) {
    const vd minus = vd_set1(-1), scale = vd_set1(stiffness) * t->area;
    vd33 b11 = pull_back_unsymmetric(R, scale, t->du1, t->dv1, t->du1, t->dv1);
    vd33 b12 = pull_back_unsymmetric(R, scale, t->du1, t->dv1, t->du2, t->dv2);
    vd33 b21 = pull_back_unsymmetric(R, scale, t->du2, t->dv2, t->du1, t->dv1);
    vd33 b22 = pull_back_unsymmetric(R, scale, t->du2, t->dv2, t->du2, t->dv2);
    vd33 b01 = vd33_combine(minus, b11, minus, b21), b10 = vd33_combine(minus, b11, minus, b12);
    vd33 b02 = vd33_combine(minus, b12, minus, b22), b20 = vd33_combine(minus, b21, minus, b22);
    vd33 b00 = vd33_combine(minus, b01, minus, b02);
    lanes_add_unsymmetric(out, 0, lane, b00, b00);
    lanes_add_unsymmetric(out, 1, lane, b01, b10);
    lanes_add_unsymmetric(out, 2, lane, b02, b20);
    lanes_add_unsymmetric(out, 3, lane, b11, b11);
    lanes_add_unsymmetric(out, 4, lane, b12, b21);
    lanes_add_unsymmetric(out, 5, lane, b22, b22);
}

DRAPE_INLINE void evaluate(const drape_i_bw_data *d, const drape_i_evaluation *at, const int32_t *e, int lane,
                           drape_i_damping damping, drape_i_batch *out) {
    const vd one = vd_set1(1);
    const int lagged = damping == DRAPE_I_DAMPING_LAGGED;
    triangle t;
    vd lu, lv;
    load_shape(d, at->x, e, &t);
    load_motion(d, at->v, e, &t);
    vd3 nu = direction(t.wu, &lu), nv = direction(t.wv, &lv);
    damping_frame f = lagged ? load_frame(d, at->lagged_x, e, &t) : (damping_frame){nu, nv, t.wu, t.wv};
    vd cu = vd3_dot(f.nu, t.wu_dot), cv = vd3_dot(f.nv, t.wv_dot), cs = shear_rate(&t, f.wu, f.wv);
    vd ru = t.cu * cu, rv = t.cv * cv, rs = t.cs * cs, shear = vd3_dot(t.wu, t.wv);
    vd su = t.ku * (lu - one), sv = t.kv * (lv - one), ss = t.ks * shear;
    if (at->potential) {
        vd twice_energy = (su * (lu - one) + sv * (lv - one)) + ss * shear;
        vd twice_dissipation = (ru * cu + rv * cv) + rs * cs;
        vd_store(out->scalar + lane, vd_set1(0.5) * t.area * (twice_energy + vd_set1(at->c) * twice_dissipation));
    }
    if (!lagged) su = su + ru, sv = sv + rv, ss = ss + rs;
    vd3 tu = combine(su, nu, ss, t.wv), tv = combine(sv, nv, ss, t.wu);
    if (lagged) tu = vd3_add(tu, combine(ru, f.nu, rs, f.wv)), tv = vd3_add(tv, combine(rv, f.nv, rs, f.wu));
    store_corners(&t, -1, tu, tv, lane, out->vectors[0]);
    if (!at->matrix && !at->stiff_v) return;
    const vd share = vd_set1(at->jacobian == DRAPE_JACOBIAN_PSD ? at->exactness : 1);
    gradient_parts H = find_parts(&t, su, lu, sv, lv, ss, share);
    if (at->stiff_v) {
        vd3 on_u, on_v;
        multiply(&H, nu, nv, t.wu_dot, t.wv_dot, &on_u, &on_v);
        if (damping == DRAPE_I_DAMPING_FULL) {
            damping_matrix R = dropped_part(&t, nu, lu, nv, lv);
            on_u = vd3_add(on_u, vd3_add(vd33_times(R.uu, t.wu_dot), vd33_times(R.uv, t.wv_dot)));
            on_v = vd3_add(on_v, vd3_add(vd33_times(R.vu, t.wu_dot), vd33_times(R.vv, t.wv_dot)));
        }
        store_corners(&t, 1, on_u, on_v, lane, out->vectors[1]);
    }
    if (!at->matrix) return;
    const vd resist = vd_set1(at->damping), zero = vd_set1(0);
    vd du = resist * t.cu, dv = resist * t.cv, ds = resist * t.cs;
    scale_parts(&H, vd_set1(at->stiffness), lagged ? zero : du, lagged ? zero : dv, lagged ? zero : ds);
    gradient_matrix T = form_matrix(&H, nu, nv);
    if (lagged) add_damping(&f, du, dv, ds, &T);
    store_blocks(&t, &T, lane, out);
    if (damping == DRAPE_I_DAMPING_FULL) {
        damping_matrix R = dropped_part(&t, nu, lu, nv, lv);
        add_dropped_blocks(&t, &R, at->stiffness, lane, out);
    }
}

void DRAPE_NAME(drape_i_bw_triangle)(const void *data, const void *where, const int32_t *elements,
                                     drape_i_batch *out) {
    const drape_i_bw_data *d = data;
    const drape_i_evaluation *at = where;
    const drape_i_damping damping = drape_i_damping_of(at);
    for (int lane = 0; lane < DRAPE_I_LANES; lane += DRAPE_W) {
        const int32_t *e = elements + lane;
        if (damping == DRAPE_I_DAMPING_SYMMETRIC) evaluate(d, at, e, lane, DRAPE_I_DAMPING_SYMMETRIC, out);
        else if (damping == DRAPE_I_DAMPING_LAGGED) evaluate(d, at, e, lane, DRAPE_I_DAMPING_LAGGED, out);
        else evaluate(d, at, e, lane, DRAPE_I_DAMPING_FULL, out);
    }
}

void DRAPE_NAME(drape_i_bw_triangle_energy)(const void *data, const drape_i_evaluation *at, const int32_t *elements,
                                            double *energy) {
    const drape_i_bw_data *d = data;
    for (int lane = 0; lane < DRAPE_I_LANES; lane += DRAPE_W) {
        triangle t;
        load_shape(d, at->x, elements + lane, &t);
        vd cu = vd_sqrt(vd3_dot(t.wu, t.wu)) - vd_set1(1), cv = vd_sqrt(vd3_dot(t.wv, t.wv)) - vd_set1(1);
        vd cs = vd3_dot(t.wu, t.wv);
        vd twice = (t.ku * cu * cu + t.kv * cv * cv) + t.ks * cs * cs;
        vd_store(energy + lane, vd_set1(0.5) * t.area * twice);
    }
}

/* Square of the rate of |w|; a zero vector has none. */
DRAPE_INLINE vd squared_rate(vd3 w, vd3 w_dot) {
    vd along = vd3_dot(w, w_dot);
    return along * along / vd_max(vd3_dot(w, w), vd_set1(1e-300));
}

void DRAPE_NAME(drape_i_bw_triangle_dissipation)(const void *data, const drape_i_evaluation *at,
                                                 const int32_t *elements, double *dissipation) {
    const drape_i_bw_data *d = data;
    for (int lane = 0; lane < DRAPE_I_LANES; lane += DRAPE_W) {
        triangle t;
        load_shape(d, drape_i_damping_x(at), elements + lane, &t);
        load_motion(d, at->v, elements + lane, &t);
        vd cs = shear_rate(&t, t.wu, t.wv);
        vd twice = (t.cu * squared_rate(t.wu, t.wu_dot) + t.cv * squared_rate(t.wv, t.wv_dot)) + t.cs * cs * cs;
        vd_store(dissipation + lane, vd_set1(0.5) * t.area * twice);
    }
}
