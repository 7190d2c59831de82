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
 * it with differences. With p, q = (u_n -+ w_n)/sqrt 2, P, Q = (u_m -+ w_m)/sqrt 2, A, B = (u_e +- w_e)/sqrt 2, and
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
 * those positions, too: where theta0 is not 0 the energy would jump at pi, and Newton's method, for which a fold is
 * pressed flat, would come to a halt in front of that jump.
 *
 * DRAPE_DAMPING_FULL adds to K what Baraff and Witkin leave out, c dtheta/dx (dthetadot/dx)', never clamped. It is
 * of rank one: dthetadot/dx = (Hessian of theta) v is the form whose coefficients are the derivatives of
 * 2 Q(u, r; 3) - 2 Q(w, r; 2) polarised with the u, w, r of v.
 * Cost: some 1,100 flops a hinge with the positive parts only, 1,900 in full; 600 more with that. Lagged, as Newton's
 * method asks for most often, a quarter less: the blocks of corner 0 follow from the others. (Unlagged they do not,
 * to keep the bits of linearised steps.) */
#include "base/simd_math.h"
#include "cloth/baraff_witkin.h"
#include "cloth/lanes.h"

typedef struct hinge {
    vd3 e, m2, n2, m3, n3;
    vd length, h2, h3, t2, t3;
    vd cosine, sine; /* of theta */
} hinge;

/* A linear form in the corners' displacements: sum g_i . dx_i */
typedef struct form {
    vd3 g[4];
} form;

/* Direction and length. A vector no longer than `least` counts as endless, so that nothing is divided by it: a corner
 * on the line of its edge, where rounding decides the direction, feels nothing. */
DRAPE_INLINE vd3 unit(vd3 a, vd least, vd *length) {
    vd l = vd_sqrt(vd3_dot(a, a));
    *length = vd_select(l > least, l, vd_set1(1e150));
    return vd3_scale(vd_set1(1) / *length, a);
}

DRAPE_INLINE hinge load_hinge(const drape_i_bw_data *d, const double *x, const int32_t *elements) {
    hinge h;
    vd3 x0 = lanes_gather(x, d->nodes, 4, 0, elements);
    vd3 a = vd3_sub(lanes_gather(x, d->nodes, 4, 1, elements), x0);
    vd3 b = vd3_sub(lanes_gather(x, d->nodes, 4, 2, elements), x0);
    vd3 c = vd3_sub(lanes_gather(x, d->nodes, 4, 3, elements), x0);
    h.e = unit(a, vd_set1(1e-150), &h.length);
    vd least = vd_set1(1e-12) * h.length; /* of a height: below it there is but rounding */
    vd along2 = vd3_dot(b, h.e), along3 = vd3_dot(c, h.e);
    h.m2 = unit(vd3_sub(b, vd3_scale(along2, h.e)), least, &h.h2);
    h.m3 = unit(vd3_sub(c, vd3_scale(along3, h.e)), least, &h.h3);
    h.n2 = vd3_cross(h.e, h.m2);
    h.n3 = vd3_cross(h.e, h.m3);
    h.t2 = along2 / h.length;
    h.t3 = along3 / h.length;
    h.cosine = -vd3_dot(h.m2, h.m3);
    h.sine = vd3_dot(h.n3, h.m2); /* (-m2 x m3) . e */
    return h;
}

DRAPE_INLINE vd angle_of(const hinge *h) { return vd_atan2(h->sine, h->cosine); }

/* The angle as it comes from another one, whose sine and cosine (or multiples of them) are given: a hinge that is
 * folded flat passes pi instead of jumping to -pi. */
DRAPE_INLINE vd continued(vd angle, vd cosine, vd from_sine, vd from_cosine) {
    const vd zero = vd_set1(0), turn = vd_set1(6.283185307179586477);
    vi both_behind = (cosine < zero) & (from_cosine < zero);
    angle = vd_select(both_behind & (angle < zero) & (from_sine > zero), angle + turn, angle);
    return vd_select(both_behind & (angle > zero) & (from_sine < zero), angle - turn, angle);
}

/* The form c_u . u + c_w . w + c_r . r */
DRAPE_INLINE form make_form(const hinge *h, vd3 c_u, vd3 c_w, vd3 c_r) {
    const vd one = vd_set1(1);
    form f;
    vd3 r = vd3_scale(one / h->length, c_r);
    f.g[3] = vd3_scale(one / h->h3, c_u);
    f.g[2] = vd3_scale(one / h->h2, c_w);
    f.g[1] = vd3_sub(r, vd3_add(vd3_scale(h->t3, f.g[3]), vd3_scale(h->t2, f.g[2])));
    f.g[0] = vd3_scale(vd_set1(-1), vd3_add(f.g[1], vd3_add(f.g[2], f.g[3])));
    return f;
}

/* dtheta/dx */
DRAPE_INLINE form angle_gradient(const hinge *h) {
    const vd zero = vd_set1(0);
    return make_form(h, h->n3, vd3_scale(vd_set1(-1), h->n2), (vd3){zero, zero, zero});
}

DRAPE_INLINE vd apply_form(const form *f, const vd3 v[4]) {
    return (vd3_dot(f->g[0], v[0]) + vd3_dot(f->g[1], v[1])) + (vd3_dot(f->g[2], v[2]) + vd3_dot(f->g[3], v[3]));
}

/* Eigenvalues of [a b; b 0]: high >= 0 >= low, without cancellation. */
DRAPE_INLINE void eigenvalues(vd a, vd b, vd *high, vd *low) {
    const vd half = vd_set1(0.5), zero = vd_set1(0), tiny = vd_set1(1e-290);
    vd root = vd_sqrt(a * a + vd_set1(4) * b * b);
    vd large = half * (vd_abs(a) + root);
    vd small = b * b / vd_max(large, tiny);
    *high = vd_select(a >= zero, large, small);
    *low = -vd_select(a >= zero, small, large);
}

/* Running element matrix and product with v. Blocks of corners before `first`, which is 0 or 1, are left to
 * complete_blocks: a form has no sum over the corners, so rows and columns sum to zero. */
typedef struct sums {
    int first;
    vd33 block[10];
    vd3 product[4];
    vd3 v[4];
    bool wants_product;
} sums;

/* Adds matrix_scale y y' to the matrix and product_scale (y . v) y to the product. */
DRAPE_INLINE void add_rank_one(sums *s, const form *y, vd matrix_scale, vd product_scale) {
    int pair = s->first == 0 ? 0 : 4;
    for (int a = s->first; a < 4; a++)
        for (int b = a; b < 4; b++, pair++)
            s->block[pair] = vd33_add_outer(s->block[pair], matrix_scale, y->g[a], y->g[b]);
    if (!s->wants_product) return;
    vd along = product_scale * apply_form(y, s->v);
    for (int a = 0; a < 4; a++) s->product[a] = vd3_add(s->product[a], vd3_scale(along, y->g[a]));
}

/* The blocks of corner 0 from those of the others. */
DRAPE_INLINE void complete_blocks(sums *s) {
    const vd one = vd_set1(1), minus = vd_set1(-1);
    const vd33 *b11 = &s->block[4], *b12 = &s->block[5], *b13 = &s->block[6];
    const vd33 *b22 = &s->block[7], *b23 = &s->block[8], *b33 = &s->block[9];
    vd33 b21 = vd33_transpose(*b12), b31 = vd33_transpose(*b13), b32 = vd33_transpose(*b23), across;
    s->block[1] = vd33_combine(minus, *b11, minus, vd33_combine(one, b21, one, b31));
    s->block[2] = vd33_combine(minus, *b22, minus, vd33_combine(one, *b12, one, b32));
    s->block[3] = vd33_combine(minus, *b33, minus, vd33_combine(one, *b13, one, *b23));
    across = vd33_combine(one, vd33_combine(one, *b12, one, b21), one, vd33_combine(one, *b13, one, b31));
    across = vd33_combine(one, across, one, vd33_combine(one, *b23, one, b32));
    s->block[0] = vd33_combine(one, vd33_combine(one, *b11, one, vd33_combine(one, *b22, one, *b33)), one, across);
}

/* One eigenpair of [a b; b 0] on the coordinates whose forms are first and second: (l, b), eigenvalue l. */
DRAPE_INLINE void add_eigenpair(sums *s, const hinge *h, vd l, vd b, const vd3 first[3], const vd3 second[3],
                                vd stiffness, vd share) {
    vd scale = share * (l / vd_max(l * l + b * b, vd_set1(1e-290)));
    vd3 c[3];
    for (int i = 0; i < 3; i++) c[i] = vd3_add(vd3_scale(l, first[i]), vd3_scale(b, second[i]));
    form y = make_form(h, c[0], c[1], c[2]);
    add_rank_one(s, &y, stiffness * scale, scale);
}

/* Both eigenpairs, the negative one multiplied by `share`; psd: without it. */
DRAPE_INLINE void add_pair(sums *s, const hinge *h, vd a, vd b, const vd3 first[3], const vd3 second[3], vd stiffness,
                           int psd, vd share) {
    vd high, low;
    eigenvalues(a, b, &high, &low);
    add_eigenpair(s, h, high, b, first, second, stiffness, vd_set1(1));
    if (!psd) add_eigenpair(s, h, low, b, first, second, stiffness, share);
}

/* Half-angle functions, cos >= 0, and the unit bisector b_x with b_y = e x b_x; the better conditioned way. */
DRAPE_INLINE vd3 bisector(const hinge *h, vd *cos_half, vd *sin_half) {
    const vd half = vd_set1(0.5), one = vd_set1(1), zero = vd_set1(0), tiny = vd_set1(1e-150);
    vi flat = h->cosine > zero;
    vd big = vd_sqrt(vd_max(half * (one + vd_abs(h->cosine)), tiny)); /* the larger of |cos|, |sin| */
    vd small = half * vd_abs(h->sine) / big;
    vd sign = vd_select(h->sine < zero, -one, one);
    *cos_half = vd_select(flat, big, small);
    *sin_half = sign * vd_select(flat, small, big);
    vd3 across = vd3_scale(half / vd_max(*cos_half, tiny), vd3_sub(h->n2, h->n3));
    vd3 along = vd3_scale(-half / (sign * vd_max(vd_abs(*sin_half), tiny)), vd3_add(h->m2, h->m3));
    return (vd3){vd_select(flat, across.x, along.x), vd_select(flat, across.y, along.y),
                 vd_select(flat, across.z, along.z)};
}

DRAPE_INLINE void add_stiffness(sums *s, const hinge *h, vd k, vd tension, vd stiffness, int psd, vd share) {
    const vd root = vd_set1(0.70710678118654752440), zero = vd_set1(0), minus = vd_set1(-1), two = vd_set1(2);
    const vd3 none = {zero, zero, zero};
    vd cos_half, sin_half;
    vd3 bx = bisector(h, &cos_half, &sin_half), by = vd3_cross(h->e, bx);
    vd3 u_m = vd3_scale(root, h->m3), u_n = vd3_scale(root, h->n3), u_e = vd3_scale(root, h->e);
    vd3 w_m = vd3_scale(root, h->m2), w_n = vd3_scale(root, h->n2), w_e = u_e;
    vd3 p[3] = {u_n, vd3_scale(minus, w_n), none}, q[3] = {u_n, w_n, none};
    vd3 P[3] = {u_m, vd3_scale(minus, w_m), none}, Q[3] = {u_m, w_m, none};
    vd3 A[3] = {u_e, w_e, none}, B[3] = {u_e, vd3_scale(minus, w_e), none};
    vd3 rx[3] = {none, none, bx}, ry[3] = {none, none, by};
    vd bend = vd_set1(1.41421356237309504880) * tension;
    add_pair(s, h, two * k, -tension, p, Q, stiffness, psd, share);
    add_pair(s, h, zero, -tension, q, P, stiffness, psd, share);
    add_pair(s, h, -tension * h->sine, bend * cos_half, rx, A, stiffness, psd, share);
    add_pair(s, h, tension * h->sine, bend * sin_half, ry, B, stiffness, psd, share);
}

/* One corner's share of the form (Hessian of theta) v: with u and r those of v, *on_u and *on_r become the
 * coefficients of -dQ, the change of -Q(u, r; i) with its arguments. */
DRAPE_INLINE void vary_corner(vd3 e, vd3 m, vd3 n, vd3 u, vd3 r, vd3 *on_u, vd3 *on_r) {
    const vd half = vd_set1(0.5);
    vd nr = vd3_dot(n, r);
    *on_u = vd3_add(vd3_add(vd3_scale(vd3_dot(n, u), m), vd3_scale(vd3_dot(m, u), n)), vd3_scale(nr, e));
    *on_r = vd3_add(vd3_scale(vd3_dot(e, u) + half * vd3_dot(m, r), n), vd3_scale(half * nr, m));
}

/* Displacement of a corner less that of its foot, at the fraction t of the edge, in units of its height. */
DRAPE_INLINE vd3 lift(vd3 corner, vd3 v0, vd3 edge, vd t, vd height) {
    return vd3_scale(vd_set1(1) / height, vd3_sub(vd3_sub(corner, v0), vd3_scale(t, edge)));
}

/* dthetadot/dx = (Hessian of theta) v */
DRAPE_INLINE form rate_form(const hinge *h, const vd3 v[4]) {
    vd3 edge = vd3_sub(v[1], v[0]), r = vd3_scale(vd_set1(1) / h->length, edge), u3, u2, r3, r2;
    vary_corner(h->e, h->m3, h->n3, lift(v[3], v[0], edge, h->t3, h->h3), r, &u3, &r3);
    vary_corner(h->e, h->m2, h->n2, lift(v[2], v[0], edge, h->t2, h->h2), r, &u2, &r2);
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

DRAPE_INLINE void evaluate(const drape_i_bw_data *d, const drape_i_evaluation *at, const int32_t *e, int lane,
                           int psd, drape_i_damping damping, drape_i_batch *out) {
    const vd zero = vd_set1(0);
    const int lagged = damping == DRAPE_I_DAMPING_LAGGED;
    const vd3 none = {zero, zero, zero};
    sums s = {.first = lagged ? 1 : 0, .wants_product = at->stiff_v};
    for (int i = 0; i < 10; i++) s.block[i] = vd33_zero();
    for (int i = 0; i < 4; i++) s.product[i] = none, s.v[i] = lanes_gather(at->v, d->nodes, 4, i, e);
    hinge h = load_hinge(d, at->x, e);
    vd k = lanes_field(d->records, BW_HINGE_SIZE, BW_BEND, e);
    vd c = lanes_field(d->records, BW_HINGE_SIZE, BW_DAMP_BEND, e);
    vd rest = lanes_field(d->records, BW_HINGE_SIZE, BW_ANGLE, e);
    form gradient = angle_gradient(&h), damped = gradient;
    vd angle = angle_of(&h);
    if (lagged) {
        hinge there = load_hinge(d, at->lagged_x, e);
        damped = angle_gradient(&there);
        angle = continued(angle, h.cosine, there.sine, there.cosine);
    }
    vd bend = angle - rest, rate = apply_form(&damped, s.v);
    vd tension = k * bend, resistance = c * rate;
    if (at->potential)
        vd_store(out->scalar + lane, vd_set1(0.5) * (tension * bend + vd_set1(at->c) * (resistance * rate)));
    if (!lagged) tension = tension + resistance;
    const vd share = vd_set1(at->jacobian == DRAPE_JACOBIAN_PSD ? at->exactness : 1);
    add_stiffness(&s, &h, k, tension, vd_set1(at->stiffness), psd, share);
    add_rank_one(&s, &damped, vd_set1(at->damping) * c, zero);
    if (s.first > 0) complete_blocks(&s);
    for (int pair = 0; pair < 10; pair++) lanes_store_block(out->blocks, pair, lane, s.block[pair]);
    if (damping == DRAPE_I_DAMPING_FULL) {
        form turn = rate_form(&h, s.v);
        vd along = c * apply_form(&turn, s.v);
        add_dropped_blocks(&gradient, &turn, vd_set1(at->stiffness) * c, lane, out);
        for (int i = 0; i < 4; i++) s.product[i] = vd3_add(s.product[i], vd3_scale(along, gradient.g[i]));
    }
    for (int i = 0; i < 4; i++) {
        vd3 force = vd3_scale(-tension, gradient.g[i]);
        if (lagged) force = vd3_sub(force, vd3_scale(resistance, damped.g[i]));
        lanes_store_vector(out->vectors[0], i, lane, force);
        lanes_store_vector(out->vectors[1], i, lane, s.product[i]);
    }
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
 * Where the elastic part of bending is quadratic (patch.c), its damping still goes by angles: a dissipation that is
 * quadratic in all velocities would brake cloth that turns as a whole. With k = 0 and lagged damping nothing is left
 * but the matrix c g g'. */

DRAPE_INLINE void evaluate_lagged_damper(const drape_i_bw_data *d, const drape_i_evaluation *at, const int32_t *e,
                                         int lane, drape_i_batch *out) {
    const vd zero = vd_set1(0);
    vd3 v[4];
    for (int i = 0; i < 4; i++) v[i] = lanes_gather(at->v, d->nodes, 4, i, e);
    hinge h = load_hinge(d, at->lagged_x, e);
    form g = angle_gradient(&h);
    vd c = lanes_field(d->records, BW_HINGE_SIZE, BW_DAMP_BEND, e), rate = apply_form(&g, v), scale = c * rate;
    if (at->potential) vd_store(out->scalar + lane, vd_set1(0.5 * at->c) * (scale * rate));
    int pair = 0;
    for (int a = 0; a < 4 && at->matrix; a++)
        for (int b = a; b < 4; b++, pair++)
            lanes_store_block(out->blocks, pair, lane,
                              vd33_add_outer(vd33_zero(), vd_set1(at->damping) * c, g.g[a], g.g[b]));
    for (int i = 0; i < 4; i++) {
        lanes_store_vector(out->vectors[0], i, lane, vd3_scale(-scale, g.g[i]));
        lanes_store_vector(out->vectors[1], i, lane, (vd3){zero, zero, zero});
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
 * Energy and dissipation alone need no unit vectors. With a = x1 - x0, b = x2 - x0, c = x3 - x0, N_2 = a x b and
 * N_3 = a x c, which are |a| h_i n_i, and va, vb, vc the same differences of velocities:
 *     tan theta = |a| N_3.b / -N_2.N_3,
 *     thetadot = (q_3/|N_3|^2 - q_2/|N_2|^2) / |a|,   q_2 = N_2.((a.a) vb - (a.b) va), q_3 likewise.
 * One root and no quotient besides those of atan2, and three quotients: a third of what the frame of load_hinge
 * takes. */

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

void DRAPE_NAME(drape_i_bw_hinge_energy)(const void *data, const drape_i_evaluation *at, const int32_t *elements,
                                         double *energy) {
    const drape_i_bw_data *d = data;
    for (int lane = 0; lane < DRAPE_I_LANES; lane += DRAPE_W) {
        const int32_t *e = elements + lane;
        edges x = load_edges(d, at->x, e);
        vd3 N2 = vd3_cross(x.a, x.b), N3 = vd3_cross(x.a, x.c);
        vd cosine = vd_set1(0) - vd3_dot(N2, N3);
        vd angle = vd_atan2(vd_sqrt(vd3_dot(x.a, x.a)) * vd3_dot(N3, x.b), cosine);
        if (at->lagged_x && vd_bits(cosine < vd_set1(0))) { /* few are folded that far */
            edges y = load_edges(d, at->lagged_x, e);
            vd3 M2 = vd3_cross(y.a, y.b), M3 = vd3_cross(y.a, y.c);
            angle = continued(angle, cosine, vd3_dot(M3, y.b), vd_set1(0) - vd3_dot(M2, M3));
        }
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
