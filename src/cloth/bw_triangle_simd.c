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

/* A symmetric 3x3 matrix a lane: xx, xy, xz, yy, yz, zz. */
typedef struct vd_sym {
    vd m[6];
} vd_sym;

/* The 6x6 matrix in (w_u, w_v), by blocks; the missing one is uv transposed. */
typedef struct gradient_matrix {
    vd_sym uu, vv;
    vd33 uv;
} gradient_matrix;

/* The same from its parts, for a triangle's directions. These are n_u n_u' and n_v n_v'; I in uu, vv and uv; and the
 * part of shear in d+ and d- (see above). */
typedef struct gradient_parts {
    vd along_u, along_v, all_u, all_v, all_uv, a, b, c;
    vd3 plus, minus; /* d+, d- */
    vd p, q;         /* |w_u + w_v|, |w_v - w_u| */
} gradient_parts;

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

/* H, from the tensions of its conditions and the lengths of w_u and w_v. */
DRAPE_INLINE gradient_parts find_parts(const triangle *t, vd su, vd lu, vd sv, vd lv, vd ss, vd share) {
    const vd half = vd_set1(0.5), tiny = vd_set1(1e-150), k_half = half * t->ks;
    gradient_parts H;
    vd across_u = vd_clamp(su / vd_max(lu, tiny), share), across_v = vd_clamp(sv / vd_max(lv, tiny), share);
    H.plus = direction(vd3_add(t->wu, t->wv), &H.p);
    H.minus = direction(vd3_sub(t->wv, t->wu), &H.q);
    vd a = k_half * H.p * H.p + ss, b = k_half * H.p * H.q, c = k_half * H.q * H.q - ss;
    clamp2(&a, &b, &c, share);
    vd spread = (vd_set1(1) - share) * (half * vd_abs(ss));
    H.along_u = t->ku - across_u;
    H.along_v = t->kv - across_v;
    H.all_u = across_u + spread;
    H.all_v = across_v + spread;
    H.all_uv = (vd_set1(1) + share) * (half * ss);
    H.a = half * (a - vd_clamp(ss, share));
    H.b = half * b;
    H.c = half * (c - vd_clamp(-ss, share));
    return H;
}

/* H times (x, y). */
DRAPE_INLINE void multiply(const gradient_parts *H, vd3 nu, vd3 nv, vd3 x, vd3 y, vd3 *on_u, vd3 *on_v) {
    vd s = vd3_dot(H->plus, vd3_add(x, y)), d = vd3_dot(H->minus, vd3_sub(x, y));
    vd3 plus = vd3_scale(H->a * s + H->b * d, H->plus), minus = vd3_scale(H->b * s + H->c * d, H->minus);
    vd3 u = combine(H->along_u * vd3_dot(nu, x), nu, H->all_u, x);
    vd3 v = combine(H->along_v * vd3_dot(nv, y), nv, H->all_v, y);
    *on_u = vd3_add(vd3_add(u, vd3_scale(H->all_uv, y)), vd3_add(plus, minus));
    *on_v = vd3_add(vd3_add(v, vd3_scale(H->all_uv, x)), vd3_sub(plus, minus));
}

/* stiffness H + damping (c_u n_u n_u' + c_v n_v n_v' + c_s g g'), with these at the same place. */
DRAPE_INLINE void scale_parts(gradient_parts *H, vd stiffness, vd cu, vd cv, vd cs) {
    const vd quarter = vd_set1(0.25) * cs;
    H->along_u = stiffness * H->along_u + cu, H->along_v = stiffness * H->along_v + cv;
    H->all_u = stiffness * H->all_u, H->all_v = stiffness * H->all_v, H->all_uv = stiffness * H->all_uv;
    H->a = stiffness * H->a + quarter * (H->p * H->p);
    H->b = stiffness * H->b + quarter * (H->p * H->q);
    H->c = stiffness * H->c + quarter * (H->q * H->q);
}

/* s n n' + t I + d e' + f g', which is symmetric */
DRAPE_INLINE vd_sym sum_sym(vd s, vd3 n, vd t, vd3 d, vd3 e, vd3 f, vd3 g) {
    vd3 m = vd3_scale(s, n);
    return (vd_sym){{(m.x * n.x + t) + (d.x * e.x + f.x * g.x), m.x * n.y + (d.x * e.y + f.x * g.y),
                     m.x * n.z + (d.x * e.z + f.x * g.z), (m.y * n.y + t) + (d.y * e.y + f.y * g.y),
                     m.y * n.z + (d.y * e.z + f.y * g.z), (m.z * n.z + t) + (d.z * e.z + f.z * g.z)}};
}

DRAPE_INLINE gradient_matrix form_matrix(const gradient_parts *H, vd3 nu, vd3 nv) {
    const vd one = vd_set1(1);
    const vd3 p = H->plus, q = H->minus;
    vd3 ap = vd3_scale(H->a, p), bp = vd3_scale(H->b, p), bq = vd3_scale(H->b, q), cq = vd3_scale(H->c, q);
    gradient_matrix T;
    T.uu = sum_sym(H->along_u, nu, H->all_u, p, vd3_add(ap, bq), q, vd3_add(bp, cq));
    T.vv = sum_sym(H->along_v, nv, H->all_v, p, vd3_sub(ap, bq), q, vd3_sub(cq, bp));
    T.uv = vd33_add_outer(vd33_outer(p, vd3_sub(ap, bq)), one, q, vd3_sub(bp, cq));
    T.uv = vd33_add_identity(T.uv, H->all_uv);
    return T;
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

/* Places of the entries of a vd_sym. */
static const int SYM[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};

/* Block (i, i) of a triangle matrix, i of corner 1 or 2. */
DRAPE_INLINE vd33 pull_back_same(const gradient_matrix *T, vd area, vd du, vd dv) {
    vd uu = area * du * du, uv = area * du * dv, vv = area * dv * dv;
    vd33 B;
    for (int r = 0; r < 3; r++)
        for (int c = r; c < 3; c++) {
            const int i = 3 * r + c, j = 3 * c + r;
            B.m[i] = B.m[j] = (uu * T->uu.m[SYM[i]] + vv * T->vv.m[SYM[i]]) + uv * (T->uv.m[i] + T->uv.m[j]);
        }
    return B;
}

/* Block (1, 2). */
DRAPE_INLINE vd33 pull_back(const gradient_matrix *T, const triangle *t) {
    vd uu = t->area * t->du1 * t->du2, uv = t->area * t->du1 * t->dv2;
    vd vu = t->area * t->dv1 * t->du2, vv = t->area * t->dv1 * t->dv2;
    vd33 B;
    for (int i = 0; i < 9; i++)
        B.m[i] =
            (uu * T->uu.m[SYM[i]] + vv * T->vv.m[SYM[i]]) + (uv * T->uv.m[i] + vu * T->uv.m[3 * (i % 3) + i / 3]);
    return B;
}

/* The blocks of corner 0 follow from du_0 = -(du_1 + du_2): rows and columns sum to zero. */
DRAPE_INLINE void store_blocks(const triangle *t, const gradient_matrix *T, int lane, drape_i_batch *out) {
    vd33 b00, b01, b02, b11 = pull_back_same(T, t->area, t->du1, t->dv1), b12 = pull_back(T, t);
    vd33 b22 = pull_back_same(T, t->area, t->du2, t->dv2);
    for (int i = 0; i < 9; i++) {
        b01.m[i] = -(b11.m[i] + b12.m[3 * (i % 3) + i / 3]);
        b02.m[i] = -(b12.m[i] + b22.m[i]);
    }
    for (int r = 0; r < 3; r++)
        for (int c = r; c < 3; c++) b00.m[3 * r + c] = b00.m[3 * c + r] = -(b01.m[3 * r + c] + b02.m[3 * r + c]);
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
