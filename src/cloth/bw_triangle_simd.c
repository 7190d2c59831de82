/* bw_triangle_simd.c: stretch and shear of Baraff and Witkin (1998, sections 4.2 and 4.3), eight triangles at a time.
 *
 * The map from material space (u, v) to space is linear on a triangle; w_u and w_v are its columns,
 *     w_u = sum_i du_i x_i,   w_v = sum_i dv_i x_i   (constants du_i, dv_i; rest.c).
 * Conditions and energy, with a the triangle's area in material space:
 *     C_u = |w_u| - 1,  C_v = |w_v| - 1,  C_s = w_u . w_v,   E = a/2 (k_u C_u^2 + k_v C_v^2 + k_s C_s^2).
 * (Baraff and Witkin put the area inside C, which makes the stiffness depend on the mesh.)
 * Damping of a condition: force -a c Cdot dC/dx, with dC/dv of Cdot = dC/dx v.
 *
 * Everything is done in the six numbers (w_u, w_v) and pulled back to the corners at the end: with the
 * tension of a condition s = k C + c Cdot, t_u = dE/dw_u and the 6x6 matrix H,
 *     f_i = -a (du_i t_u + dv_i t_v),   K_ij = a (du_i du_j H_uu + du_i dv_j H_uv + dv_i du_j H_uv' + dv_i dv_j
 * H_vv).
 *
 * H of a stretch condition: k n n' + s/|w| (I - n n'), n = w/|w|. Positive semidefinite: s/|w| >= 0 kept, else 0
 * (Kim 2020, eq. for I_5: eigenvalues k and twice k (1 - 1/|w|)).
 *
 * H of the shear condition: k g g' + s J with g = (w_v, w_u), J = [0 I; I 0]. J has eigenvalue +1 on (d, d) and -1
 * on (d, -d). In the orthonormal n+ = (d+, d+)/sqrt 2, n- = (d-, -d-)/sqrt 2, d+ and d- the directions of w_u + w_v
 * and w_v - w_u, g = p n+ + q n-, p = |w_u + w_v|/sqrt 2, q = |w_v - w_u|/sqrt 2, so that H is the 2x2 matrix
 *     [k p^2 + s, k p q; k p q, k q^2 - s]
 * there, s on the rest of the +1 space and -s on the rest of the -1 space. The 2x2 matrix is clamped by its
 * closed form; for s = k C_s its eigenvalues are those of Kim 2020, k/2 (I_2 +- sqrt(I_2^2 + 12 I_6^2)).
 *
 * Clamping multiplies negative eigenvalues by the evaluation's exactness: 0 for the positive semidefinite part, 1 for
 * all of H.
 *
 * The damping's tension enters s and is clamped with it, so K stays positive semidefinite whatever the velocity.
 * Lagged damping takes dC/dw from other positions, which are given: its force and its D = a c dC/dx dC/dx' come from
 * there, s is k C alone, and K is that of the energy. Its force is minus the gradient of the dissipation
 * R = a/2 (c_u Cdot_u^2 + c_v Cdot_v^2 + c_s Cdot_s^2) by v, half the power that it takes out.
 *
 * What Baraff and Witkin leave out (below their eq. 12) since it is not symmetric: -df/dx of the damping force has
 * besides c Cdot d2C/dx2 the part c dC/dx (dCdot/dx)'. With Cdot = dC/dw . wdot, dCdot/dw = d2C/dw2 wdot, in blocks
 *     R = c_u [n_u q_u', 0; 0, 0] + c_v [0, 0; 0, n_v q_v'] + c_s (w_v, w_u) (wdot_v, wdot_u)',
 * q = (I - n n') wdot / |w|. DRAPE_DAMPING_FULL adds it to K, never clamped, after everything else.
 * Cost: some 700 flops per triangle, with R some 1,200. */
#include "cloth/baraff_witkin.h"
#include "cloth/lanes.h"

typedef struct triangle {
    vd area, du1, du2, dv1, dv2;
    vd ku, kv, ks, cu, cv, cs;
    vd3 wu, wv;         /* columns of the deformation gradient */
    vd3 wu_dot, wv_dot; /* their rates */
} triangle;

/* dC/dw of the conditions that damping goes by: n_u, n_v, and (w_v, w_u) of the shear. */
typedef struct damping_frame {
    vd3 nu, nv, wu, wv;
} damping_frame;

/* The 6x6 matrix in (w_u, w_v), by blocks; the missing one is uv transposed. */
typedef struct gradient_matrix {
    vd33 uu, uv, vv;
} gradient_matrix;

/* One that is not symmetric. */
typedef struct damping_matrix {
    vd33 uu, uv, vu, vv;
} damping_matrix;

/* The direction and length of a vector; a zero vector keeps direction zero. */
DRAPE_INLINE vd3 direction(vd3 a, vd *length) {
    const vd tiny = vd_set1(1e-150);
    *length = vd_sqrt(vd3_dot(a, a));
    return vd3_scale(vd_set1(1) / vd_max(*length, tiny), a);
}

DRAPE_INLINE vd3 combine(vd s, vd3 a, vd t, vd3 b) { return vd3_add(vd3_scale(s, a), vd3_scale(t, b)); }

/* sum_i du_i y_i and sum_i dv_i y_i, y a vector over all vertices. */
DRAPE_INLINE void load_columns(const drape_i_bw_data *d, const double *y, const int32_t *e, const triangle *t,
                               vd3 *along_u, vd3 *along_v) {
    vd3 y0 = lanes_gather(y, d->nodes, 3, 0, e);
    vd3 e1 = vd3_sub(lanes_gather(y, d->nodes, 3, 1, e), y0);
    vd3 e2 = vd3_sub(lanes_gather(y, d->nodes, 3, 2, e), y0);
    *along_u = combine(t->du1, e1, t->du2, e2);
    *along_v = combine(t->dv1, e1, t->dv2, e2);
}

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

/* k n n' + s/|w| (I - n n') */
DRAPE_INLINE vd33 stretch_matrix(vd k, vd tension, vd length, vd3 n, int psd, vd share) {
    vd across = tension / vd_max(length, vd_set1(1e-150));
    if (psd) across = vd_clamp(across, share);
    return vd33_add_outer(vd33_add_identity(vd33_zero(), across), k - across, n, n);
}

/* The symmetric [a b; b c] with its eigenvalues clamped. */
DRAPE_INLINE void clamp2(vd *a, vd *b, vd *c, vd share) {
    const vd half = vd_set1(0.5);
    vd mean = half * (*a + *c), difference = half * (*a - *c);
    vd radius = vd_sqrt(difference * difference + *b * *b);
    vd high = vd_clamp(mean + radius, share), low = vd_clamp(mean - radius, share);
    vd centre = half * (high + low);
    vd scale = half * (high - low) / vd_max(radius, vd_set1(1e-290));
    *a = centre + scale * difference;
    *b = scale * *b;
    *c = centre - scale * difference;
}

DRAPE_INLINE void add_shear(const triangle *t, vd tension, int psd, vd share, gradient_matrix *H) {
    if (!psd) {
        H->uu = vd33_add_outer(H->uu, t->ks, t->wv, t->wv);
        H->uv = vd33_add_identity(vd33_add_outer(H->uv, t->ks, t->wv, t->wu), tension);
        H->vv = vd33_add_outer(H->vv, t->ks, t->wu, t->wu);
        return;
    }
    const vd half = vd_set1(0.5), one = vd_set1(1);
    vd p2, q2;
    vd3 plus = direction(vd3_add(t->wu, t->wv), &p2), minus = direction(vd3_sub(t->wv, t->wu), &q2);
    vd k_half = half * t->ks;
    vd a = k_half * p2 * p2 + tension, b = k_half * p2 * q2, c = k_half * q2 * q2 - tension;
    clamp2(&a, &b, &c, share);
    a = half * (a - vd_clamp(tension, share));
    b = half * b;
    c = half * (c - vd_clamp(-tension, share));
    vd spread = (one - share) * (half * vd_abs(tension));
    H->uu = vd33_add_identity(vd33_add_outer(vd33_add_outer(H->uu, a, plus, plus), c, minus, minus), spread);
    H->vv = vd33_add_identity(vd33_add_outer(vd33_add_outer(H->vv, a, plus, plus), c, minus, minus), spread);
    H->uu = vd33_add_outer(vd33_add_outer(H->uu, b, plus, minus), b, minus, plus);
    H->vv = vd33_add_outer(vd33_add_outer(H->vv, -b, plus, minus), -b, minus, plus);
    H->uv = vd33_add_outer(vd33_add_outer(H->uv, a, plus, plus), -c, minus, minus);
    H->uv = vd33_add_outer(vd33_add_outer(H->uv, -b, plus, minus), b, minus, plus);
    H->uv = vd33_add_identity(H->uv, (one + share) * (half * tension));
}

/* stiffness H + damping (c_u n_u n_u' ... + c_s g g') */
DRAPE_INLINE gradient_matrix add_damping(const triangle *t, const damping_frame *f, vd stiffness, vd damping,
                                         const gradient_matrix *H) {
    gradient_matrix T;
    for (int i = 0; i < 9; i++) {
        T.uu.m[i] = stiffness * H->uu.m[i];
        T.uv.m[i] = stiffness * H->uv.m[i];
        T.vv.m[i] = stiffness * H->vv.m[i];
    }
    vd cs = damping * t->cs;
    T.uu = vd33_add_outer(vd33_add_outer(T.uu, damping * t->cu, f->nu, f->nu), cs, f->wv, f->wv);
    T.uv = vd33_add_outer(T.uv, cs, f->wv, f->wu);
    T.vv = vd33_add_outer(vd33_add_outer(T.vv, damping * t->cv, f->nv, f->nv), cs, f->wu, f->wu);
    return T;
}

/* Block (i, j) of a triangle matrix, i and j of corners 1 and 2. */
DRAPE_INLINE vd33 pull_back(const gradient_matrix *T, vd area, vd du_i, vd dv_i, vd du_j, vd dv_j) {
    vd uu = area * du_i * du_j, uv = area * du_i * dv_j, vu = area * dv_i * du_j, vv = area * dv_i * dv_j;
    vd33 B, V = vd33_transpose(T->uv);
    for (int i = 0; i < 9; i++) B.m[i] = (uu * T->uu.m[i] + vv * T->vv.m[i]) + (uv * T->uv.m[i] + vu * V.m[i]);
    return B;
}

/* The blocks of corner 0 follow from du_0 = -(du_1 + du_2): rows and columns sum to zero. */
DRAPE_INLINE void store_blocks(const triangle *t, const gradient_matrix *T, int lane, drape_i_batch *out) {
    const vd minus = vd_set1(-1), one = vd_set1(1);
    vd33 b11 = pull_back(T, t->area, t->du1, t->dv1, t->du1, t->dv1);
    vd33 b12 = pull_back(T, t->area, t->du1, t->dv1, t->du2, t->dv2);
    vd33 b22 = pull_back(T, t->area, t->du2, t->dv2, t->du2, t->dv2);
    vd33 b01 = vd33_combine(minus, b11, minus, vd33_transpose(b12));
    vd33 b02 = vd33_combine(minus, b12, minus, b22);
    vd33 b00 =
        vd33_combine(one, vd33_combine(one, b11, one, b22), one, vd33_combine(one, b12, one, vd33_transpose(b12)));
    lanes_store_block(out->blocks, 0, lane, b00);
    lanes_store_block(out->blocks, 1, lane, b01);
    lanes_store_block(out->blocks, 2, lane, b02);
    lanes_store_block(out->blocks, 3, lane, b11);
    lanes_store_block(out->blocks, 4, lane, b12);
    lanes_store_block(out->blocks, 5, lane, b22);
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

/* to_i = scale area (du_i t_u + dv_i t_v) for the three corners. */
DRAPE_INLINE void store_corners(const triangle *t, double scale, vd3 tu, vd3 tv, int lane,
                                double (*to)[DRAPE_I_LANES]) {
    vd a = vd_set1(scale) * t->area;
    vd3 c1 = vd3_scale(a, combine(t->du1, tu, t->dv1, tv));
    vd3 c2 = vd3_scale(a, combine(t->du2, tu, t->dv2, tv));
    lanes_store_vector(to, 0, lane, vd3_scale(vd_set1(-1), vd3_add(c1, c2)));
    lanes_store_vector(to, 1, lane, c1);
    lanes_store_vector(to, 2, lane, c2);
}

DRAPE_INLINE void evaluate(const drape_i_bw_data *d, const drape_i_evaluation *at, const int32_t *e, int lane,
                           int psd, drape_i_damping damping, drape_i_batch *out) {
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
    const vd share = vd_set1(at->exactness);
    gradient_matrix H = {stretch_matrix(t.ku, su, lu, nu, psd, share), vd33_zero(),
                         stretch_matrix(t.kv, sv, lv, nv, psd, share)};
    add_shear(&t, ss, psd, share, &H);
    vd3 tu = combine(su, nu, ss, t.wv), tv = combine(sv, nv, ss, t.wu);
    if (lagged) tu = vd3_add(tu, combine(ru, f.nu, rs, f.wv)), tv = vd3_add(tv, combine(rv, f.nv, rs, f.wu));
    store_corners(&t, -1, tu, tv, lane, out->vectors[0]);
    vd3 Hv_u = vd3_add(vd33_times(H.uu, t.wu_dot), vd33_times(H.uv, t.wv_dot));
    vd3 Hv_v = vd3_add(vd33_times(vd33_transpose(H.uv), t.wu_dot), vd33_times(H.vv, t.wv_dot));
    gradient_matrix T = add_damping(&t, &f, vd_set1(at->stiffness), vd_set1(at->damping), &H);
    store_blocks(&t, &T, lane, out);
    if (damping == DRAPE_I_DAMPING_FULL) {
        damping_matrix R = dropped_part(&t, nu, lu, nv, lv);
        add_dropped_blocks(&t, &R, at->stiffness, lane, out);
        Hv_u = vd3_add(Hv_u, vd3_add(vd33_times(R.uu, t.wu_dot), vd33_times(R.uv, t.wv_dot)));
        Hv_v = vd3_add(Hv_v, vd3_add(vd33_times(R.vu, t.wu_dot), vd33_times(R.vv, t.wv_dot)));
    }
    store_corners(&t, 1, Hv_u, Hv_v, lane, out->vectors[1]);
}

void DRAPE_NAME(drape_i_bw_triangle)(const void *data, const void *where, const int32_t *elements,
                                     drape_i_batch *out) {
    const drape_i_bw_data *d = data;
    const drape_i_evaluation *at = where;
    const int psd = at->jacobian == DRAPE_JACOBIAN_PSD;
    const drape_i_damping damping = drape_i_damping_of(at);
    for (int lane = 0; lane < DRAPE_I_LANES; lane += DRAPE_W) BW_DISPATCH(d, at, elements + lane, lane, out);
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
