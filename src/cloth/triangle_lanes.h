/* triangle_lanes.h: a triangle's membrane, one per lane: from the tensions of its conditions to forces and matrix.
 *
 * The formulas are at the head of bw_triangle_simd.c. Here k of a condition is d2E/dC2 over the area, and its
 * tension s = dE/dC over the area, whatever E is as a function of C. */
#ifndef DRAPE_CLOTH_TRIANGLE_LANES_H
#define DRAPE_CLOTH_TRIANGLE_LANES_H

#include "cloth/baraff_witkin.h"
#include "cloth/lanes.h"

typedef struct triangle {
    vd area, du1, du2, dv1, dv2;
    vd ku, kv, ks, cu, cv, cs;
    vd3 wu, wv;         /* columns of the deformation gradient */
    vd3 wu_dot, wv_dot; /* their rates */
} triangle;

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

#endif
