/* bw_hinge_simd.c: bending by dihedral angle, eight hinges at a time.
 *
 *     E = k/2 (theta - theta0)^2,   damping force -c thetadot dtheta/dx,   tension s = k (theta - theta0) + c
 * thetadot.
 *
 * A hinge has the edge x0 x1 (length L, direction e) and the opposite corners x2, x3. Corner i stands at height h_i
 * above the edge's line in the direction m_i, its foot at the fraction t_i of the edge; n_i = e x m_i. theta is the
 * angle from -m_2 to m_3 about e: zero when flat.
 *
 * Second-order change of theta. Let D_i be the displacement of corner i less that of its foot, and
 * r = (displacement of x1 - x0) / L across e. In the scale-free u = D_3/h_3, w = D_2/h_2 and r,
 *     theta = n_3.u - n_2.w + Q(u, r; 3) - Q(w, r; 2) + higher order,
 *     Q(u, r; i) = -(n_i.u)(m_i.u) - (n_i.r)(e.u) - (m_i.r)(n_i.r)/2.
 * (Corner i in the frame that follows the edge by the least rotation, to second order.) It is exact: a test compares
 * it with differences. Let p, q = (u_n -+ w_n)/sqrt 2, P, Q = (u_m -+ w_m)/sqrt 2, A, B = (u_e +- w_e)/sqrt 2. With
 * r_x, r_y along the bisector of m_2, m_3 and across it, the Hessian of E falls into four 2x2 matrices [a b; b 0]:
 *     (p, Q):   a = 2k,            b = -s
 *     (q, P):   a = 0,             b = -s
 *     (r_x, A): a = -s sin theta,  b = sqrt 2 s cos(theta/2)
 *     (r_y, B): a = s sin theta,   b = sqrt 2 s sin(theta/2)
 * each with one eigenvalue >= 0, one <= 0, l = a/2 +- sqrt(a^2/4 + b^2), and eigenvector (l, b). Keeping the
 * positive ones gives the positive semidefinite part in these coordinates: four vectors in the 12 of the corners.
 * The negative ones are multiplied by the evaluation's exactness where that is not 0.
 * (Wu and Kim 2023 treat the same energy; the coordinates and the derivation here are our own.)
 *
 * The gradient is the exact one; with frozen edge length it would differ by sin cos grad ln|e|.
 *
 * Lagged damping takes dtheta/dx from other positions, which are given: s is then k (theta - theta0) alone, and K is
 * that of the energy. Its force is minus the gradient of the dissipation c thetadot^2/2 by v. theta is continued from
 * those positions, too. Where theta0 is not 0 the energy would otherwise jump at pi, and Newton's method would halt
 * in front of that jump when a fold is pressed flat.
 *
 * DRAPE_DAMPING_FULL adds to K what Baraff and Witkin leave out, c dtheta/dx (dthetadot/dx)', never clamped. It is of
 * rank one. The form dthetadot/dx = (Hessian of theta) v has as coefficients the derivatives of 2 Q(u, r; 3) - 2 Q(w,
 * r; 2), polarised with the u, w, r of v.
 * Cost: some 800 flops per hinge, 100 more lagged, 600 more with that; 200 for the force alone. */
#include "base/simd_math.h"
#include "cloth/baraff_witkin.h"
#include "cloth/lanes.h"

typedef struct hinge {
    vd3 e, m2, n2, m3, n3;
    vd i_length, i_h2, i_h3, t2, t3; /* i_: inverse */
    vd cosine, sine;                 /* of theta */
} hinge;

/* A linear form in the corners' displacements: sum g_i . dx_i */
typedef struct form {
    vd3 g[4];
} form;

/* Direction, length and its inverse. A vector no longer than `least` counts as infinitely long, so that nothing is
 * divided by its length. So a corner on the line of its edge, where rounding decides the direction, feels nothing. */
DRAPE_INLINE vd3 unit(vd3 a, vd least, vd *length, vd *inverse) {
    vd l = vd_sqrt(vd3_dot(a, a));
    *length = vd_select(l > least, l, vd_set1(1e150));
    *inverse = vd_set1(1) / *length;
    return vd3_scale(*inverse, a);
}

DRAPE_INLINE hinge load_hinge(const drape_i_bw_data *d, const double *x, const int32_t *elements) {
    hinge h;
    vd length, height;
    vd3 x0 = lanes_gather(x, d->nodes, 4, 0, elements);
    vd3 a = vd3_sub(lanes_gather(x, d->nodes, 4, 1, elements), x0);
    vd3 b = vd3_sub(lanes_gather(x, d->nodes, 4, 2, elements), x0);
    vd3 c = vd3_sub(lanes_gather(x, d->nodes, 4, 3, elements), x0);
    h.e = unit(a, vd_set1(1e-150), &length, &h.i_length);
    vd least = vd_set1(1e-12) * length; /* of a height: below it there is but rounding */
    vd along2 = vd3_dot(b, h.e), along3 = vd3_dot(c, h.e);
    h.m2 = unit(vd3_sub(b, vd3_scale(along2, h.e)), least, &height, &h.i_h2);
    h.m3 = unit(vd3_sub(c, vd3_scale(along3, h.e)), least, &height, &h.i_h3);
    h.n2 = vd3_cross(h.e, h.m2);
    h.n3 = vd3_cross(h.e, h.m3);
    h.t2 = along2 * h.i_length;
    h.t3 = along3 * h.i_length;
    h.cosine = -vd3_dot(h.m2, h.m3);
    h.sine = vd3_dot(h.n3, h.m2); /* (-m2 x m3) . e */
    return h;
}

DRAPE_INLINE vd angle_of(const hinge *h) { return vd_atan2(h->sine, h->cosine); }

/* The form with given coefficients of corners 3 and 2 and, where they stand on the edge, of corner 1; on_r is added
 * to that. */
DRAPE_INLINE form complete_form(vd3 g3, vd3 g2, vd t3, vd t2, vd3 on_r) {
    form f;
    f.g[3] = g3;
    f.g[2] = g2;
    f.g[1] = vd3_sub(on_r, vd3_add(vd3_scale(t3, g3), vd3_scale(t2, g2)));
    f.g[0] = vd3_scale(vd_set1(-1), vd3_add(f.g[1], vd3_add(g2, g3)));
    return f;
}

/* The form c_u . u + c_w . w + c_r . r */
DRAPE_INLINE form make_form(const hinge *h, vd3 c_u, vd3 c_w, vd3 c_r) {
    return complete_form(vd3_scale(h->i_h3, c_u), vd3_scale(h->i_h2, c_w), h->t3, h->t2, vd3_scale(h->i_length, c_r));
}

/* dtheta/dx */
DRAPE_INLINE form angle_gradient(const hinge *h) {
    const vd zero = vd_set1(0);
    return make_form(h, h->n3, vd3_scale(vd_set1(-1), h->n2), (vd3){zero, zero, zero});
}

DRAPE_INLINE vd apply_form(const form *f, const vd3 v[4]) {
    return (vd3_dot(f->g[0], v[0]) + vd3_dot(f->g[1], v[1])) + (vd3_dot(f->g[2], v[2]) + vd3_dot(f->g[3], v[3]));
}

/* ---- The 2x2 matrices ---- */

/* [ff fs; fs ss] */
typedef struct clamped {
    vd ff, fs, ss;
} clamped;

/* The positive part of [a b; b 0], (l, b)(l, b)' / root with l the positive eigenvalue and root the difference of
 * both, without cancellation. Not psd: `share` of the negative part, which is [a b; b 0] less the positive one. */
DRAPE_INLINE clamped clamp_2x2(vd a, vd b, int psd, vd share) {
    const vd half = vd_set1(0.5), zero = vd_set1(0), tiny = vd_set1(1e-290);
    vd bb = b * b, root = vd_sqrt(a * a + vd_set1(4) * bb);
    vd large = half * (vd_abs(a) + root);
    vd inverse = vd_set1(1) / vd_max(root * large, tiny), over_root = large * inverse;
    vd l = vd_select(a >= zero, large, bb * (root * inverse));
    clamped c = {l * l * over_root, b * (l * over_root), bb * over_root};
    if (psd) return c;
    vd keep = vd_set1(1) - share;
    return (clamped){keep * c.ff + share * a, keep * c.fs + share * b, keep * c.ss};
}

/* The same where a is 0. */
DRAPE_INLINE clamped clamp_swap(vd b, int psd, vd share) {
    vd half = vd_set1(0.5) * vd_abs(b), across = vd_set1(0.5) * b;
    if (psd) return (clamped){half, across, half};
    vd keep = vd_set1(1) - share;
    return (clamped){keep * half, keep * across + share * b, keep * half};
}

/* Half-angle functions, cos >= 0, and the unit bisector b_x with b_y = e x b_x; the better conditioned way. */
DRAPE_INLINE vd3 bisector(const hinge *h, vd *cos_half, vd *sin_half) {
    const vd half = vd_set1(0.5), one = vd_set1(1), zero = vd_set1(0), tiny = vd_set1(1e-150);
    vi flat = h->cosine > zero;
    vd big = vd_sqrt(vd_max(half * (one + vd_abs(h->cosine)), tiny)); /* the larger of |cos|, |sin| */
    vd inverse = half / big, small = vd_abs(h->sine) * inverse;
    vd sign = vd_select(h->sine < zero, -one, one);
    *cos_half = vd_select(flat, big, small);
    *sin_half = sign * vd_select(flat, small, big);
    vd3 across = vd3_scale(inverse, vd3_sub(h->n2, h->n3));
    vd3 along = vd3_scale(-sign * inverse, vd3_add(h->m2, h->m3));
    return (vd3){vd_select(flat, across.x, along.x), vd_select(flat, across.y, along.y),
                 vd_select(flat, across.z, along.z)};
}

/* ---- The matrix ---- */

/* The matrix in u, w and r. Those of u and of w by the components along n, m and e of their sides:
 *     u_n u_n and w_n w_n: nn,   u_m u_m and w_m w_m: mm,   u_n u_m: nm,   w_n w_m: -nm,   u_e u_e and w_e w_e: ee,
 *     u_n w_n: xnn,   u_m w_m: xmm,   u_n w_m: xnm,   u_m w_n: -xnm,   u_e w_e: xee;
 * r_x r_x: rxx,   r_y r_y: ryy,   r_x with u_e and w_e: rx,   r_y with u_e: ry,   with w_e: -ry. The rest is zero. */
typedef struct curvature {
    vd nn, mm, nm, ee, xnn, xmm, xnm, xee, rxx, ryy, rx, ry;
    vd3 bx, by;
} curvature;

DRAPE_INLINE curvature find_curvature(const hinge *h, vd k, vd tension, int psd, vd share) {
    const vd half = vd_set1(0.5), root = vd_set1(0.70710678118654752440);
    vd cos_half, sin_half, bend = vd_set1(1.41421356237309504880) * tension;
    curvature c;
    c.bx = bisector(h, &cos_half, &sin_half);
    c.by = vd3_cross(h->e, c.bx);
    clamped pQ = clamp_2x2(vd_set1(2) * k, -tension, psd, share), qP = clamp_swap(-tension, psd, share);
    clamped xA = clamp_2x2(-tension * h->sine, bend * cos_half, psd, share);
    clamped yB = clamp_2x2(tension * h->sine, bend * sin_half, psd, share);
    c.nn = half * (qP.ff + pQ.ff), c.xnn = half * (qP.ff - pQ.ff);
    c.mm = half * (pQ.ss + qP.ss), c.xmm = half * (pQ.ss - qP.ss);
    c.nm = half * (pQ.fs + qP.fs), c.xnm = half * (pQ.fs - qP.fs);
    c.ee = half * (xA.ss + yB.ss), c.xee = half * (xA.ss - yB.ss);
    c.rxx = xA.ff, c.ryy = yB.ff;
    c.rx = root * xA.fs, c.ry = root * yB.fs;
    return c;
}

/* s times the matrix, and t dtheta/dx dtheta/dx' */
DRAPE_INLINE void scale_curvature(curvature *c, vd s, vd t) {
    c->nn = s * c->nn + t, c->xnn = s * c->xnn - t;
    c->mm = s * c->mm, c->xmm = s * c->xmm, c->nm = s * c->nm, c->xnm = s * c->xnm;
    c->ee = s * c->ee, c->xee = s * c->xee;
    c->rxx = s * c->rxx, c->ryy = s * c->ryy, c->rx = s * c->rx, c->ry = s * c->ry;
}

DRAPE_INLINE vd3 combine(vd s, vd3 a, vd t, vd3 b) { return vd3_add(vd3_scale(s, a), vd3_scale(t, b)); }

/* The frames of both sides over their heights: what corners 3 and 2 contribute to u and w. */
typedef struct sides {
    vd3 n3, m3, e3, n2, m2, e2;
} sides;

DRAPE_INLINE sides find_sides(const hinge *h) {
    return (sides){vd3_scale(h->i_h3, h->n3), vd3_scale(h->i_h3, h->m3), vd3_scale(h->i_h3, h->e),
                   vd3_scale(h->i_h2, h->n2), vd3_scale(h->i_h2, h->m2), vd3_scale(h->i_h2, h->e)};
}

/* product = the matrix times v */
DRAPE_INLINE void multiply(const hinge *h, const curvature *c, const sides *s, const vd3 v[4], vd3 product[4]) {
    vd3 edge = vd3_sub(v[1], v[0]), r = vd3_scale(h->i_length, edge);
    vd3 d3 = vd3_sub(vd3_sub(v[3], v[0]), vd3_scale(h->t3, edge));
    vd3 d2 = vd3_sub(vd3_sub(v[2], v[0]), vd3_scale(h->t2, edge));
    vd un = vd3_dot(s->n3, d3), um = vd3_dot(s->m3, d3), ue = vd3_dot(s->e3, d3);
    vd wn = vd3_dot(s->n2, d2), wm = vd3_dot(s->m2, d2), we = vd3_dot(s->e2, d2);
    vd x = vd3_dot(c->bx, r), y = vd3_dot(c->by, r);
    vd on_un = (c->nn * un + c->nm * um) + (c->xnn * wn + c->xnm * wm);
    vd on_um = (c->nm * un + c->mm * um) + (c->xmm * wm - c->xnm * wn);
    vd on_wn = (c->nn * wn - c->nm * wm) + (c->xnn * un - c->xnm * um);
    vd on_wm = (c->mm * wm - c->nm * wn) + (c->xmm * um + c->xnm * un);
    vd on_ue = (c->ee * ue + c->xee * we) + (c->rx * x + c->ry * y);
    vd on_we = (c->ee * we + c->xee * ue) + (c->rx * x - c->ry * y);
    vd3 on_r = combine(c->rxx * x + c->rx * (ue + we), c->bx, c->ryy * y + c->ry * (ue - we), c->by);
    vd3 g3 = vd3_add(combine(on_un, s->n3, on_um, s->m3), vd3_scale(on_ue, s->e3));
    vd3 g2 = vd3_add(combine(on_wn, s->n2, on_wm, s->m2), vd3_scale(on_we, s->e2));
    form f = complete_form(g3, g2, h->t3, h->t2, vd3_scale(h->i_length, on_r));
    for (int i = 0; i < 4; i++) product[i] = f.g[i];
}

/* ---- The blocks ----
 *
 * With S the matrices of the sides, r_i the coupling of corner i to r over the length, and R that of r with itself,
 *     K_33 = S_33,   K_22 = S_22,   K_23 = S_23,
 *     K_13 = r_3 e_3' - t_3 K_33 - t_2 K_23,   K_12 = r_2 e_2' - t_3 K_23' - t_2 K_22,
 *     K_11 = R - t_3 (r_3 e_3' + K_31) - t_2 (r_2 e_2' + K_21),
 * and the blocks of corner 0 follow, since rows and columns sum to zero. All are found entry by entry, so that few
 * numbers are needed at a time. */

/* Vectors by component: entries of the blocks are sums of products of these. */
typedef struct vectors {
    vd n3[3], m3[3], e3[3], n2[3], m2[3], e2[3];
    vd n33[3], m33[3], e33[3], n22[3], m22[3], e22[3], n23[3], m23[3], e23[3]; /* the matrix times those */
    vd r3[3], r2[3], x[3], y[3], rx[3], ry[3];
    vd g[3][3], s[3][3]; /* lagged damping: its form, and that scaled */
    vd t3, t2;
} vectors;

DRAPE_INLINE void split(vd3 a, vd to[3]) { to[0] = a.x, to[1] = a.y, to[2] = a.z; }

DRAPE_INLINE void find_vectors(const hinge *h, const curvature *c, const sides *s, vectors *to) {
    vd3 x = vd3_scale(h->i_length, c->bx), y = vd3_scale(h->i_length, c->by);
    split(s->n3, to->n3), split(s->m3, to->m3), split(s->e3, to->e3);
    split(s->n2, to->n2), split(s->m2, to->m2), split(s->e2, to->e2);
    split(combine(c->nn, s->n3, c->nm, s->m3), to->n33);
    split(combine(c->nm, s->n3, c->mm, s->m3), to->m33);
    split(vd3_scale(c->ee, s->e3), to->e33);
    split(combine(c->nn, s->n2, -c->nm, s->m2), to->n22);
    split(combine(-c->nm, s->n2, c->mm, s->m2), to->m22);
    split(vd3_scale(c->ee, s->e2), to->e22);
    split(combine(c->xnn, s->n3, -c->xnm, s->m3), to->n23);
    split(combine(c->xnm, s->n3, c->xmm, s->m3), to->m23);
    split(vd3_scale(c->xee, s->e3), to->e23);
    split(combine(c->rx, x, c->ry, y), to->r3);
    split(combine(c->rx, x, -c->ry, y), to->r2);
    split(x, to->x), split(vd3_scale(c->rxx, x), to->rx);
    split(y, to->y), split(vd3_scale(c->ryy, y), to->ry);
    to->t3 = h->t3;
    to->t2 = h->t2;
}

/* Adds scale g g' to the matrix. */
DRAPE_INLINE void add_rank_one(vectors *v, const form *f, vd scale) {
    for (int i = 0; i < 3; i++) {
        split(f->g[i + 1], v->g[i]);
        split(vd3_scale(scale, f->g[i + 1]), v->s[i]);
    }
}

/* Entries (r, c) and (c, r) of all blocks. */
DRAPE_INLINE void store_entries(const vectors *v, const int r, const int c, const int lagged, int lane,
                                drape_i_batch *out) {
    const vd t3 = v->t3, t2 = v->t2;
    vd k33 = (v->n3[r] * v->n33[c] + v->m3[r] * v->m33[c]) + v->e3[r] * v->e33[c];
    vd k22 = (v->n2[r] * v->n22[c] + v->m2[r] * v->m22[c]) + v->e2[r] * v->e22[c];
    vd k23 = (v->n2[r] * v->n23[c] + v->m2[r] * v->m23[c]) + v->e2[r] * v->e23[c], k32 = k23;
    if (c != r) k32 = (v->n2[c] * v->n23[r] + v->m2[c] * v->m23[r]) + v->e2[c] * v->e23[r];
    vd o3 = v->r3[r] * v->e3[c], o2 = v->r2[r] * v->e2[c];
    vd k13 = o3 - (t3 * k33 + t2 * k23), k12 = o2 - (t3 * k32 + t2 * k22), k31 = k13, k21 = k12;
    if (c != r) k31 = v->r3[c] * v->e3[r] - (t3 * k33 + t2 * k32);
    if (c != r) k21 = v->r2[c] * v->e2[r] - (t3 * k23 + t2 * k22);
    vd k11 = (v->rx[r] * v->x[c] + v->ry[r] * v->y[c]) - (t3 * (o3 + k31) + t2 * (o2 + k21));
    if (lagged) {
        const vd(*g)[3] = v->g, (*s)[3] = v->s;
        k11 += s[0][r] * g[0][c], k22 += s[1][r] * g[1][c], k33 += s[2][r] * g[2][c];
        k12 += s[0][r] * g[1][c], k13 += s[0][r] * g[2][c], k23 += s[1][r] * g[2][c];
        k21 += s[0][c] * g[1][r], k31 += s[0][c] * g[2][r], k32 += s[1][c] * g[2][r];
    }
    vd k01 = -(k11 + (k21 + k31)), k02 = -(k12 + (k22 + k32)), k03 = -(k13 + (k23 + k33)), k00 = -(k01 + (k02 + k03));
    const vd entry[] = {k00, k01, k02, k03, k11, k12, k13, k22, k23, k33};
#pragma GCC unroll 10
    for (int pair = 0; pair < 10; pair++) vd_store(&out->blocks[9 * pair + 3 * r + c][lane], entry[pair]);
    if (c == r) return;
    vd k10 = -(k11 + (k12 + k13)), k20 = -(k21 + (k22 + k23)), k30 = -(k31 + (k32 + k33));
    const vd mirror[] = {k00, k10, k20, k30, k11, k21, k31, k22, k32, k33};
#pragma GCC unroll 10
    for (int pair = 0; pair < 10; pair++) vd_store(&out->blocks[9 * pair + 3 * c + r][lane], mirror[pair]);
}

DRAPE_INLINE void store_blocks(const vectors *v, const int lagged, int lane, drape_i_batch *out) {
    store_entries(v, 0, 0, lagged, lane, out);
    store_entries(v, 0, 1, lagged, lane, out);
    store_entries(v, 0, 2, lagged, lane, out);
    store_entries(v, 1, 1, lagged, lane, out);
    store_entries(v, 1, 2, lagged, lane, out);
    store_entries(v, 2, 2, lagged, lane, out);
}

/* One corner's share of the form (Hessian of theta) v, with u and r those of v. *on_u and *on_r become the
 * coefficients of -dQ, the change of -Q(u, r; i) with its arguments. */
DRAPE_INLINE void vary_corner(vd3 e, vd3 m, vd3 n, vd3 u, vd3 r, vd3 *on_u, vd3 *on_r) {
    const vd half = vd_set1(0.5);
    vd nr = vd3_dot(n, r);
    *on_u = vd3_add(vd3_add(vd3_scale(vd3_dot(n, u), m), vd3_scale(vd3_dot(m, u), n)), vd3_scale(nr, e));
    *on_r = vd3_add(vd3_scale(vd3_dot(e, u) + half * vd3_dot(m, r), n), vd3_scale(half * nr, m));
}

/* Displacement of a corner less that of its foot, at the fraction t of the edge, in units of its height. */
DRAPE_INLINE vd3 lift(vd3 corner, vd3 v0, vd3 edge, vd t, vd i_height) {
    return vd3_scale(i_height, vd3_sub(vd3_sub(corner, v0), vd3_scale(t, edge)));
}

/* dthetadot/dx = (Hessian of theta) v */
DRAPE_INLINE form rate_form(const hinge *h, const vd3 v[4]) {
    vd3 edge = vd3_sub(v[1], v[0]), r = vd3_scale(h->i_length, edge), u3, u2, r3, r2;
    vary_corner(h->e, h->m3, h->n3, lift(v[3], v[0], edge, h->t3, h->i_h3), r, &u3, &r3);
    vary_corner(h->e, h->m2, h->n2, lift(v[2], v[0], edge, h->t2, h->i_h2), r, &u2, &r2);
    return make_form(h, vd3_scale(vd_set1(-1), u3), u2, vd3_sub(r2, r3));
}

/* Adds scale g y' to the stored element matrix. */
DRAPE_INLINE void add_dropped_blocks(const form *g, const form *y, vd scale, int lane, drape_i_batch *out) {
    int pair = 0;
    for (int a = 0; a < 4; a++)
        for (int b = a; b < 4; b++, pair++)
            lanes_add_unsymmetric(out, pair, lane, vd33_add_outer(vd33_zero(), scale, g->g[a], y->g[b]),
                                  vd33_add_outer(vd33_zero(), scale, g->g[b], y->g[a]));
}

typedef struct edges {
    vd3 a, b, c;
} edges;

DRAPE_INLINE edges load_edges(const drape_i_bw_data *d, const double *y, const int32_t *e) {
    vd3 y0 = lanes_gather(y, d->nodes, 4, 0, e);
    return (edges){vd3_sub(lanes_gather(y, d->nodes, 4, 1, e), y0), vd3_sub(lanes_gather(y, d->nodes, 4, 2, e), y0),
                   vd3_sub(lanes_gather(y, d->nodes, 4, 3, e), y0)};
}

/* |N|^2 of a corner, endless where that is on the line of its edge, as in unit(). */
DRAPE_INLINE vd square_of(vd3 N, vd aa) {
    vd square = vd3_dot(N, N);
    return vd_select(square > vd_set1(1e-24) * aa * aa, square, vd_set1(1e300));
}

/* dtheta/dx without the frame: n_i/h_i = |a| N_i/|N_i|^2 (see "Sums over hinges"). */
DRAPE_INLINE form gradient_there(const drape_i_bw_data *d, const double *x, const int32_t *elements) {
    const vd zero = vd_set1(0);
    edges there = load_edges(d, x, elements);
    vd aa = vd3_dot(there.a, there.a), length = vd_sqrt(aa), inverse = vd_set1(1) / vd_max(aa, vd_set1(1e-300));
    vd3 N2 = vd3_cross(there.a, there.b), N3 = vd3_cross(there.a, there.c);
    return complete_form(vd3_scale(length / square_of(N3, aa), N3), vd3_scale(-length / square_of(N2, aa), N2),
                         vd3_dot(there.a, there.c) * inverse, vd3_dot(there.a, there.b) * inverse,
                         (vd3){zero, zero, zero});
}

/* The angle as it comes from that at other positions: a hinge that is folded flat passes pi instead of jumping to
 * -pi. Few hinges are folded that far. cosine: any positive multiple of that of the angle. */
DRAPE_INLINE vd continue_angle(const drape_i_bw_data *d, const double *from, const int32_t *e, vd angle, vd cosine) {
    const vd zero = vd_set1(0), turn = vd_set1(6.283185307179586477);
    if (!vd_bits(cosine < zero)) return angle;
    edges there = load_edges(d, from, e);
    vd3 N2 = vd3_cross(there.a, there.b), N3 = vd3_cross(there.a, there.c);
    vd from_sine = vd3_dot(N3, there.b);
    vi both_behind = (cosine < zero) & (zero - vd3_dot(N2, N3) < zero);
    angle = vd_select(both_behind & (angle < zero) & (from_sine > zero), angle + turn, angle);
    return vd_select(both_behind & (angle > zero) & (from_sine < zero), angle - turn, angle);
}

DRAPE_INLINE void evaluate(const drape_i_bw_data *d, const drape_i_evaluation *at, const int32_t *e, int lane,
                           int psd, drape_i_damping damping, drape_i_batch *out) {
    const int lagged = damping == DRAPE_I_DAMPING_LAGGED;
    vd3 v[4], product[4];
    for (int i = 0; i < 4; i++) v[i] = lanes_gather(at->v, d->nodes, 4, i, e);
    hinge h = load_hinge(d, at->x, e);
    vd record[3];
    lanes_fields3(d->records, BW_HINGE_SIZE, BW_BEND, e, record);
    const vd k = record[BW_BEND], c = record[BW_DAMP_BEND], rest = record[BW_ANGLE];
    form gradient = angle_gradient(&h), damped = lagged ? gradient_there(d, at->lagged_x, e) : gradient;
    vd angle = angle_of(&h);
    if (lagged) angle = continue_angle(d, at->lagged_x, e, angle, h.cosine);
    vd bend = angle - rest, rate = apply_form(&damped, v);
    vd tension = k * bend, resistance = c * rate;
    if (at->potential)
        vd_store(out->scalar + lane, vd_set1(0.5) * (tension * bend + vd_set1(at->c) * (resistance * rate)));
    if (!lagged) tension = tension + resistance;
    for (int i = 0; i < 4; i++) {
        vd3 force = vd3_scale(-tension, gradient.g[i]);
        if (lagged) force = vd3_sub(force, vd3_scale(resistance, damped.g[i]));
        lanes_store_vector(out->vectors[0], i, lane, force);
    }
    if (!at->matrix && !at->stiff_v) return;
    const vd share = vd_set1(at->jacobian == DRAPE_JACOBIAN_PSD ? at->exactness : 1);
    curvature K = find_curvature(&h, k, tension, psd, share);
    sides s = find_sides(&h);
    form turn = damping == DRAPE_I_DAMPING_FULL ? rate_form(&h, v) : gradient;
    if (at->stiff_v) {
        vd along = c * apply_form(&turn, v);
        multiply(&h, &K, &s, v, product);
        for (int i = 0; i < 4; i++) {
            if (damping == DRAPE_I_DAMPING_FULL) product[i] = vd3_add(product[i], vd3_scale(along, gradient.g[i]));
            lanes_store_vector(out->vectors[1], i, lane, product[i]);
        }
    }
    if (!at->matrix) return;
    vd resist = vd_set1(at->damping) * c;
    scale_curvature(&K, vd_set1(at->stiffness), lagged ? vd_set1(0) : resist);
    vectors parts;
    find_vectors(&h, &K, &s, &parts);
    if (lagged) add_rank_one(&parts, &damped, resist);
    store_blocks(&parts, lagged, lane, out);
    if (damping == DRAPE_I_DAMPING_FULL) add_dropped_blocks(&gradient, &turn, vd_set1(at->stiffness) * c, lane, out);
}

void DRAPE_NAME(drape_i_bw_hinge)(const void *data, const void *where, const int32_t *elements, drape_i_batch *out) {
    const drape_i_bw_data *d = data;
    const drape_i_evaluation *at = where;
    const int psd = at->jacobian == DRAPE_JACOBIAN_PSD && at->exactness == 0;
    const drape_i_damping damping = drape_i_damping_of(at);
    for (int lane = 0; lane < DRAPE_I_LANES; lane += DRAPE_W) BW_DISPATCH(d, at, elements + lane, lane, out);
}

/* ---- Hinges that only damp ----
 *
 * Where the elastic part of bending is quadratic (patch.c), its damping still uses angles. A dissipation that is
 * quadratic in all velocities would brake cloth that turns as a whole. With k = 0 and lagged damping nothing is left
 * but the matrix c g g'. */

DRAPE_INLINE void evaluate_lagged_damper(const drape_i_bw_data *d, const drape_i_evaluation *at, const int32_t *e,
                                         int lane, drape_i_batch *out) {
    const vd zero = vd_set1(0);
    vd3 v[4];
    for (int i = 0; i < 4; i++) v[i] = lanes_gather(at->v, d->nodes, 4, i, e);
    form g = gradient_there(d, at->lagged_x, e);
    vd c = lanes_field(d->records, BW_HINGE_SIZE, BW_DAMP_BEND, e), rate = apply_form(&g, v), scale = c * rate;
    if (at->potential) vd_store(out->scalar + lane, vd_set1(0.5 * at->c) * (scale * rate));
    int pair = 0;
    for (int a = 0; a < 4 && at->matrix; a++)
        for (int b = a; b < 4; b++, pair++)
            lanes_store_block(out->blocks, pair, lane,
                              vd33_add_outer(vd33_zero(), vd_set1(at->damping) * c, g.g[a], g.g[b]));
    for (int i = 0; i < 4; i++) {
        lanes_store_vector(out->vectors[0], i, lane, vd3_scale(-scale, g.g[i]));
        if (at->stiff_v) lanes_store_vector(out->vectors[1], i, lane, (vd3){zero, zero, zero});
    }
}

void DRAPE_NAME(drape_i_bw_damper)(const void *data, const void *where, const int32_t *elements, drape_i_batch *out) {
    const drape_i_evaluation *at = where;
    if (drape_i_damping_of(at) != DRAPE_I_DAMPING_LAGGED) {
        DRAPE_NAME(drape_i_bw_hinge)(data, where, elements, out);
        return;
    }
    for (int lane = 0; lane < DRAPE_I_LANES; lane += DRAPE_W)
        evaluate_lagged_damper(data, at, elements + lane, lane, out);
}

/* ---- Sums over hinges ----
 *
 * Energy and dissipation alone need no unit vectors. Let a = x1 - x0, b = x2 - x0, c = x3 - x0, N_2 = a x b and N_3 =
 * a x c, which are |a| h_i n_i. With va, vb, vc the same differences of velocities:
 *     tan theta = |a| N_3.b / -N_2.N_3,
 *     thetadot = (q_3/|N_3|^2 - q_2/|N_2|^2) / |a|,   q_2 = N_2.((a.a) vb - (a.b) va), q_3 likewise.
 * One root and no quotient besides those of atan2, and three quotients: a third of what the frame of load_hinge
 * takes. */

void DRAPE_NAME(drape_i_bw_hinge_energy)(const void *data, const drape_i_evaluation *at, const int32_t *elements,
                                         double *energy) {
    const drape_i_bw_data *d = data;
    for (int lane = 0; lane < DRAPE_I_LANES; lane += DRAPE_W) {
        const int32_t *e = elements + lane;
        edges x = load_edges(d, at->x, e);
        vd3 N2 = vd3_cross(x.a, x.b), N3 = vd3_cross(x.a, x.c);
        vd cosine = vd_set1(0) - vd3_dot(N2, N3);
        vd angle = vd_atan2(vd_sqrt(vd3_dot(x.a, x.a)) * vd3_dot(N3, x.b), cosine);
        if (at->lagged_x) angle = continue_angle(d, at->lagged_x, e, angle, cosine);
        vd bend = angle - lanes_field(d->records, BW_HINGE_SIZE, BW_ANGLE, e);
        vd_store(energy + lane, vd_set1(0.5) * lanes_field(d->records, BW_HINGE_SIZE, BW_BEND, e) * bend * bend);
    }
}

void DRAPE_NAME(drape_i_bw_hinge_dissipation)(const void *data, const drape_i_evaluation *at, const int32_t *elements,
                                              double *dissipation) {
    const drape_i_bw_data *d = data;
    for (int lane = 0; lane < DRAPE_I_LANES; lane += DRAPE_W) {
        const int32_t *e = elements + lane;
        edges x = load_edges(d, drape_i_damping_x(at), e), v = load_edges(d, at->v, e);
        vd aa = vd3_dot(x.a, x.a), c = lanes_field(d->records, BW_HINGE_SIZE, BW_DAMP_BEND, e);
        vd3 N2 = vd3_cross(x.a, x.b), N3 = vd3_cross(x.a, x.c);
        vd3 w2 = vd3_sub(vd3_scale(aa, v.b), vd3_scale(vd3_dot(x.a, x.b), v.a));
        vd3 w3 = vd3_sub(vd3_scale(aa, v.c), vd3_scale(vd3_dot(x.a, x.c), v.a));
        vd rate = vd3_dot(N3, w3) / square_of(N3, aa) - vd3_dot(N2, w2) / square_of(N2, aa);
        vd_store(dissipation + lane, vd_set1(0.5) * c * (rate * rate / vd_max(aa, vd_set1(1e-300))));
    }
}
