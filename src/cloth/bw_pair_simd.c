/* bw_pair_simd.c: stretch and shear of two neighbouring triangles together, eight pairs at a time.
 *
 * Where edges do not follow the threads, a bent surface tilts its triangles: on a cylinder of curvature k, threads
 * along the axis come out longer by (k h)^2 times a number that depends on the triangle. So they lock. The tilts of
 * neighbours have opposite signs, and the mean gradient of two of them,
 *     w_u = alpha w_u^A + beta w_u^B,   alpha, beta the shares of the triangles A and B in the area a,
 * and w_v likewise, has little of it. Stretch and shear are Baraff and Witkin's (1998), of the mean:
 *     C_u = |w_u| - 1,  C_v = |w_v| - 1,  C_s = w_u . w_v,   E = a/2 (k_u C_u^2 + k_v C_v^2 + k_s C_s^2).
 * There are two stiff conditions per vertex then, as on a grid along the threads, and not four, for three
 * coordinates. (One-point quadrature.) A homogeneous deformation has the energy that it has triangle by triangle. The
 * mean does not see the jump across the common edge; baraff_witkin.c leaves a share of the stiffness to the triangles
 * for that.
 *
 * Corners: x0, x1 of the common edge, x2 of A, x3 of B. The mean gradient of a quadrangle depends on its diagonals
 * alone: with p = x1 - x0 and q = x3 - x2, w_u = u_p p + u_q q and w_v = v_p p + v_q q. As in bw_triangle_simd.c
 * everything is done in W = (w_u, w_v), and pulled back to p and q at the end, which belong to the corners with
 * signs.
 *
 * H of a stretch condition stands there. Shear has H = k g g' + s [0 I; I 0], g = (w_v, w_u), and
 *     s [0 I; I 0] = s/2 [I I; I I] - s/2 [I -I; -I I],
 * of which the part with the negative sign is multiplied by the evaluation's exactness. Damping is as there.
 * Cost: some 600 flops per pair. */
#include "cloth/baraff_witkin.h"
#include "cloth/lanes.h"

enum { U, V, MODES, SHEAR = MODES };
enum { P, Q, DIAGONALS };

/* One vector for each of w_u and w_v. */
typedef struct modes {
    vd3 of[MODES];
} modes;

/* A condition's stiffness and damping. */
typedef struct spring {
    vd k, c;
} spring;

typedef struct pair {
    vd area;
    vd coefficient[MODES][DIAGONALS];
    spring of[BW_PAIR_CONDITIONS];
} pair;

typedef struct mode_matrix {
    vd33 of[MODES][MODES];
} mode_matrix;

/* What a state adds up to: t = dE/dW, and H and the matrix of the damping, times their factors; all per area. The
 * matrices' upper halves. */
typedef struct sums {
    modes t, product;
    mode_matrix H;
    vd twice; /* twice the energy and c times the dissipation */
} sums;

DRAPE_INLINE pair load_pair(const drape_i_bw_data *d, const int32_t *e) {
    const double *r = d->records;
    pair p;
    p.area = lanes_field(r, BW_PAIR_SIZE, BW_PAIR_AREA, e);
    for (int m = 0; m < MODES; m++)
        for (int i = 0; i < DIAGONALS; i++)
            p.coefficient[m][i] = lanes_field(r, BW_PAIR_SIZE, BW_PAIR_MODES + DIAGONALS * m + i, e);
    for (int i = 0; i < BW_PAIR_CONDITIONS; i++) {
        p.of[i].k = lanes_field(r, BW_PAIR_SIZE, BW_PAIR_STIFFNESS + i, e);
        p.of[i].c = lanes_field(r, BW_PAIR_SIZE, BW_PAIR_DAMPING + i, e);
    }
    return p;
}

/* W of y, a vector over all vertices. */
DRAPE_INLINE modes load_modes(const drape_i_bw_data *d, const double *y, const int32_t *e, const pair *p) {
    vd3 p_edge = vd3_sub(lanes_gather(y, d->nodes, 4, 1, e), lanes_gather(y, d->nodes, 4, 0, e));
    vd3 q_edge = vd3_sub(lanes_gather(y, d->nodes, 4, 3, e), lanes_gather(y, d->nodes, 4, 2, e));
    modes w;
    for (int m = 0; m < MODES; m++)
        w.of[m] = vd3_add(vd3_scale(p->coefficient[m][P], p_edge), vd3_scale(p->coefficient[m][Q], q_edge));
    return w;
}

DRAPE_INLINE vd3 direction(vd3 a, vd *length) {
    *length = vd_sqrt(vd3_dot(a, a));
    return vd3_scale(vd_set1(1) / vd_max(*length, vd_set1(1e-150)), a);
}

DRAPE_INLINE void add_scaled(vd3 *to, vd s, vd3 a) { *to = vd3_add(*to, vd3_scale(s, a)); }

/* Stretch along mode m: k n n' + s/|w| (I - n n'). */
DRAPE_INLINE void add_stretch(const drape_i_evaluation *at, spring of, int m, const modes *w, const modes *rate,
                              const modes *lagged, int psd, sums *s) {
    vd length, unused;
    vd3 n = direction(w->of[m], &length), damped = lagged ? direction(lagged->of[m], &unused) : n;
    vd C = length - vd_set1(1), speed = vd3_dot(damped, rate->of[m]), tension = of.k * C, drag = of.c * speed;
    s->twice = s->twice + (tension * C + vd_set1(at->c) * (drag * speed));
    if (!lagged) tension = tension + drag;
    add_scaled(&s->t.of[m], tension, n);
    if (lagged) add_scaled(&s->t.of[m], drag, damped);
    vd across = tension / vd_max(length, vd_set1(1e-150));
    if (psd) across = vd_clamp(across, vd_set1(at->exactness));
    vd along = vd3_dot(n, rate->of[m]);
    add_scaled(&s->product.of[m], across, rate->of[m]);
    add_scaled(&s->product.of[m], (of.k - across) * along, n);
    const vd stiffness = vd_set1(at->stiffness);
    vd33 *H = &s->H.of[m][m];
    *H = vd33_add_identity(vd33_add_outer(*H, stiffness * (of.k - across), n, n), stiffness * across);
    *H = vd33_add_outer(*H, vd_set1(at->damping) * of.c, damped, damped);
}

/* scale (w_v, w_u) (w_v, w_u)' */
DRAPE_INLINE void add_outer(mode_matrix *H, vd scale, vd3 wu, vd3 wv) {
    H->of[U][U] = vd33_add_outer(H->of[U][U], scale, wv, wv);
    H->of[U][V] = vd33_add_outer(H->of[U][V], scale, wv, wu);
    H->of[V][V] = vd33_add_outer(H->of[V][V], scale, wu, wu);
}

DRAPE_INLINE void add_shear(const drape_i_evaluation *at, spring of, const modes *w, const modes *rate,
                            const modes *lagged, int psd, sums *s) {
    const vd half = vd_set1(0.5), stiffness = vd_set1(at->stiffness);
    vd3 wu = w->of[U], wv = w->of[V], du = lagged ? lagged->of[U] : wu, dv = lagged ? lagged->of[V] : wv;
    vd C = vd3_dot(wu, wv), speed = vd3_dot(dv, rate->of[U]) + vd3_dot(du, rate->of[V]);
    vd tension = of.k * C, drag = of.c * speed;
    s->twice = s->twice + (tension * C + vd_set1(at->c) * (drag * speed));
    if (!lagged) tension = tension + drag;
    add_scaled(&s->t.of[U], tension, wv), add_scaled(&s->t.of[V], tension, wu);
    if (lagged) add_scaled(&s->t.of[U], drag, dv), add_scaled(&s->t.of[V], drag, du);
    vd same = vd_set1(0), cross = tension;
    if (psd) {
        vd share = vd_set1(at->exactness), plus = vd_clamp(tension, share), minus = vd_clamp(-tension, share);
        same = half * (plus + minus), cross = half * (plus - minus);
    }
    vd change = of.k * (vd3_dot(wv, rate->of[U]) + vd3_dot(wu, rate->of[V]));
    add_scaled(&s->product.of[U], change, wv), add_scaled(&s->product.of[V], change, wu);
    add_scaled(&s->product.of[U], same, rate->of[U]), add_scaled(&s->product.of[U], cross, rate->of[V]);
    add_scaled(&s->product.of[V], same, rate->of[V]), add_scaled(&s->product.of[V], cross, rate->of[U]);
    add_outer(&s->H, stiffness * of.k, wu, wv);
    add_outer(&s->H, vd_set1(at->damping) * of.c, du, dv);
    s->H.of[U][U] = vd33_add_identity(s->H.of[U][U], stiffness * same);
    s->H.of[V][V] = vd33_add_identity(s->H.of[V][V], stiffness * same);
    s->H.of[U][V] = vd33_add_identity(s->H.of[U][V], stiffness * cross);
}

DRAPE_INLINE sums no_sums(void) {
    const vd zero = vd_set1(0);
    const vd3 none = {zero, zero, zero};
    sums s;
    for (int m = 0; m < MODES; m++) {
        s.t.of[m] = s.product.of[m] = none;
        for (int n = m; n < MODES; n++) s.H.of[m][n] = vd33_zero();
    }
    s.twice = zero;
    return s;
}

/* ---- from modes to corners ---- */

/* Stores a (u_p t_u + v_p t_v) and the same of q, with the corners' signs. */
DRAPE_INLINE void store_corners(const pair *p, double sign, const modes *t, int lane, double (*to)[DRAPE_I_LANES]) {
    vd a = vd_set1(sign) * p->area;
    for (int i = 0; i < DIAGONALS; i++) {
        vd3 end =
            vd3_add(vd3_scale(a * p->coefficient[U][i], t->of[U]), vd3_scale(a * p->coefficient[V][i], t->of[V]));
        lanes_store_vector(to, 2 * i, lane, vd3_scale(vd_set1(-1), end));
        lanes_store_vector(to, 2 * i + 1, lane, end);
    }
}

/* The block of two diagonals. */
DRAPE_INLINE vd33 pull_back(const pair *p, const mode_matrix *H, int i, int j) {
    vd uu = p->area * p->coefficient[U][i] * p->coefficient[U][j];
    vd uv = p->area * p->coefficient[U][i] * p->coefficient[V][j];
    vd vu = p->area * p->coefficient[V][i] * p->coefficient[U][j];
    vd vv = p->area * p->coefficient[V][i] * p->coefficient[V][j];
    vd33 B, transposed = vd33_transpose(H->of[U][V]);
    for (int k = 0; k < 9; k++)
        B.m[k] = (uu * H->of[U][U].m[k] + vv * H->of[V][V].m[k]) + (uv * H->of[U][V].m[k] + vu * transposed.m[k]);
    return B;
}

DRAPE_INLINE void store_blocks(const pair *p, const mode_matrix *H, int lane, drape_i_batch *out) {
    const vd minus = vd_set1(-1), zero = vd_set1(0);
    vd33 pp = pull_back(p, H, P, P), pq = pull_back(p, H, P, Q), qq = pull_back(p, H, Q, Q);
    vd33 pp_ = vd33_combine(minus, pp, zero, pp), pq_ = vd33_combine(minus, pq, zero, pq);
    vd33 qq_ = vd33_combine(minus, qq, zero, qq);
    const vd33 blocks[10] = {pp, pp_, pq, pq_, pp, pq_, pq, qq, qq_, qq};
    for (int k = 0; k < 10; k++) lanes_store_block(out->blocks, k, lane, blocks[k]);
}

/* ---- what DRAPE_DAMPING_FULL adds ---- */

/* Adds scale g q', both over the corners, to the stored blocks. */
DRAPE_INLINE void add_dropped(const pair *p, const modes *g, const modes *q, vd scale, int lane, drape_i_batch *out) {
    vd3 gradient[4], change[4];
    for (int i = 0; i < DIAGONALS; i++) {
        const vd u = p->coefficient[U][i], v = p->coefficient[V][i];
        gradient[2 * i + 1] = vd3_add(vd3_scale(u, g->of[U]), vd3_scale(v, g->of[V]));
        change[2 * i + 1] = vd3_add(vd3_scale(u, q->of[U]), vd3_scale(v, q->of[V]));
        gradient[2 * i] = vd3_scale(vd_set1(-1), gradient[2 * i + 1]),
                     change[2 * i] = vd3_scale(vd_set1(-1), change[2 * i + 1]);
    }
    int k = 0;
    for (int a = 0; a < 4; a++)
        for (int b = a; b < 4; b++, k++) {
            vd33 R = vd33_add_outer(lanes_load_block(out->blocks, k, lane), scale, gradient[a], change[b]);
            vd33 mirror = vd33_add_outer(lanes_load_block(out->lower, k, lane), scale, gradient[b], change[a]);
            lanes_store_block(out->blocks, k, lane, R);
            lanes_store_block(out->lower, k, lane, mirror);
        }
}

/* c dC/dW (dCdot/dW)' of one condition, given both. */
DRAPE_INLINE void add_unsymmetric(const pair *p, const drape_i_evaluation *at, vd c, const modes *g, const modes *q,
                                  const modes *rate, int lane, drape_i_batch *out, sums *s) {
    vd change = vd_set1(0);
    for (int m = 0; m < MODES; m++) change = change + vd3_dot(q->of[m], rate->of[m]);
    for (int m = 0; m < MODES; m++) add_scaled(&s->product.of[m], c * change, g->of[m]);
    add_dropped(p, g, q, vd_set1(at->stiffness) * p->area * c, lane, out);
}

DRAPE_INLINE void add_all_unsymmetric(const pair *p, const drape_i_evaluation *at, const modes *w, const modes *rate,
                                      int lane, drape_i_batch *out, sums *s) {
    const modes none = no_sums().t;
    for (int k = 0; k < 10; k++)
        lanes_store_block(out->lower, k, lane, vd33_transpose(lanes_load_block(out->blocks, k, lane)));
    for (int m = 0; m < MODES; m++) { /* q = (I - n n') wdot / |w| */
        modes g = none, q = none;
        vd length;
        g.of[m] = direction(w->of[m], &length);
        vd3 turning = vd3_sub(rate->of[m], vd3_scale(vd3_dot(g.of[m], rate->of[m]), g.of[m]));
        q.of[m] = vd3_scale(vd_set1(1) / vd_max(length, vd_set1(1e-150)), turning);
        add_unsymmetric(p, at, p->of[m].c, &g, &q, rate, lane, out, s);
    }
    modes g = {{w->of[V], w->of[U]}}, q = {{rate->of[V], rate->of[U]}};
    add_unsymmetric(p, at, p->of[SHEAR].c, &g, &q, rate, lane, out, s);
}

/* ---- kernels ---- */

DRAPE_INLINE void evaluate(const drape_i_bw_data *d, const drape_i_evaluation *at, const int32_t *e, int lane,
                           int psd, drape_i_damping damping, drape_i_batch *out) {
    const int is_lagged = damping == DRAPE_I_DAMPING_LAGGED;
    pair p = load_pair(d, e);
    modes w = load_modes(d, at->x, e, &p), rate = load_modes(d, at->v, e, &p), then = w;
    if (is_lagged) then = load_modes(d, at->lagged_x, e, &p);
    const modes *lagged = is_lagged ? &then : 0;
    sums s = no_sums();
    for (int m = 0; m < MODES; m++) add_stretch(at, p.of[m], m, &w, &rate, lagged, psd, &s);
    add_shear(at, p.of[SHEAR], &w, &rate, lagged, psd, &s);
    if (at->potential) vd_store(out->scalar + lane, vd_set1(0.5) * p.area * s.twice);
    store_corners(&p, -1, &s.t, lane, out->vectors[0]);
    store_blocks(&p, &s.H, lane, out);
    if (damping == DRAPE_I_DAMPING_FULL) add_all_unsymmetric(&p, at, &w, &rate, lane, out, &s);
    store_corners(&p, 1, &s.product, lane, out->vectors[1]);
}

void DRAPE_NAME(drape_i_bw_pair)(const void *data, const void *where, const int32_t *elements, drape_i_batch *out) {
    const drape_i_bw_data *d = data;
    const drape_i_evaluation *at = where;
    const int psd = at->jacobian == DRAPE_JACOBIAN_PSD;
    const drape_i_damping damping = drape_i_damping_of(at);
    for (int lane = 0; lane < DRAPE_I_LANES; lane += DRAPE_W) BW_DISPATCH(d, at, elements + lane, lane, out);
}

void DRAPE_NAME(drape_i_bw_pair_energy)(const void *data, const drape_i_evaluation *at, const int32_t *elements,
                                        double *energy) {
    for (int lane = 0; lane < DRAPE_I_LANES; lane += DRAPE_W) {
        pair p = load_pair(data, elements + lane);
        modes w = load_modes(data, at->x, elements + lane, &p);
        vd twice = vd_set1(0);
        for (int m = 0; m < MODES; m++) {
            vd C = vd_sqrt(vd3_dot(w.of[m], w.of[m])) - vd_set1(1);
            twice = twice + p.of[m].k * C * C;
        }
        vd C = vd3_dot(w.of[U], w.of[V]);
        twice = twice + p.of[SHEAR].k * C * C;
        vd_store(energy + lane, vd_set1(0.5) * p.area * twice);
    }
}

void DRAPE_NAME(drape_i_bw_pair_dissipation)(const void *data, const drape_i_evaluation *at, const int32_t *elements,
                                             double *dissipation) {
    for (int lane = 0; lane < DRAPE_I_LANES; lane += DRAPE_W) {
        pair p = load_pair(data, elements + lane);
        modes w = load_modes(data, drape_i_damping_x(at), elements + lane, &p);
        modes rate = load_modes(data, at->v, elements + lane, &p);
        vd twice = vd_set1(0), length;
        for (int m = 0; m < MODES; m++) {
            vd speed = vd3_dot(direction(w.of[m], &length), rate.of[m]);
            twice = twice + p.of[m].c * speed * speed;
        }
        vd speed = vd3_dot(w.of[V], rate.of[U]) + vd3_dot(w.of[U], rate.of[V]);
        twice = twice + p.of[SHEAR].c * speed * speed;
        vd_store(dissipation + lane, vd_set1(0.5) * p.area * twice);
    }
}
