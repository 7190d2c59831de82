/* bw_pair_simd.c: stretch and shear of two neighbouring triangles together, eight pairs at a time.
 *
 * Two conditions per triangle are four per vertex, against three coordinates: where edges do not follow the threads,
 * a mesh of inextensible triangles cannot fold. A pair has two conditions as well, on the mean lengths of its
 * threads, which is two per vertex, as cloth has. A third one is on shear, in case that is stiff, too:
 *
 *     C_u = alpha |w_u^A| + beta |w_u^B| - 1,   C_v likewise,   C_s = alpha w_u^A.w_v^A + beta w_u^B.w_v^B,
 *     E = a/2 (k_u C_u^2 + k_v C_v^2 + k_s C_s^2),
 *
 * where alpha and beta are the shares of the triangles A and B in the area a. (These are the conditions of Baraff and
 * Witkin (1998), averaged over patches as is usual against volumetric locking.) A homogeneous stretch has the same
 * energy as triangle by triangle.
 *
 * Corners: x0, x1 of the common edge, x2 of A, x3 of B. With e_i = x_i - x0, w^A = a_1 e_1 + a_2 e_2 and
 * w^B = b_1 e_1 + b_3 e_3; n = w/|w|, and the tension s = k C + c Cdot:
 *     g_i = dC/de_i = alpha a_i n_A + beta b_i n_B   (a_3 = b_2 = 0)
 *     H_ij = k g_i g_j' + s (alpha/|w^A| a_i a_j (I - n_A n_A') + beta/|w^B| b_i b_j (I - n_B n_B')),
 * of which the second part is left out where s is negative, except for the evaluation's exactness. Damping is as in
 * bw_triangle_simd.c; DRAPE_DAMPING_FULL adds c g q' with q_i = alpha a_i t_A + beta b_i t_B, t = (I - n n')
 * wdot/|w|.
 *
 * Shear has g_i = alpha (a_i w_v^A + a'_i w_u^A) + ..., with a_i of the warp and a'_i of the weft, and a second part
 * s (alpha (a_i a'_j + a'_i a_j) + ...) I, which is |s|/2 ((a + a')(a + a')' - (a - a')(a - a')') for s > 0 and the
 * negative of that otherwise: the term of negative sign is left out.
 * Cost: some 1,400 flops per pair. */
#include "cloth/baraff_witkin.h"
#include "cloth/lanes.h"

/* The threads of one direction in both triangles. */
typedef struct threads {
    vd a1, a2, b1, b3;
    vd k, c;
} threads;

/* Their directions and lengths at some positions. */
typedef struct course {
    vd3 nA, nB;
    vd lA, lB;
} course;

typedef struct pair {
    vd area, alpha, beta;
    threads t[2]; /* along u, along v */
    vd shear, shear_damping;
} pair;

/* Three vectors: of the corners 1 to 3, against corner 0. */
typedef struct triple {
    vd3 e[3];
} triple;

typedef struct sums {
    vd33 block[6]; /* (1,1) (1,2) (1,3) (2,2) (2,3) (3,3) */
    triple force, product;
} sums;

DRAPE_INLINE vd3 combine(vd s, vd3 a, vd t, vd3 b) { return vd3_add(vd3_scale(s, a), vd3_scale(t, b)); }

DRAPE_INLINE pair load_pair(const drape_i_bw_data *d, const int32_t *e) {
    const double *r = d->records;
    pair p;
    p.area = lanes_field(r, BW_PAIR_SIZE, BW_PAIR_AREA, e);
    p.alpha = lanes_field(r, BW_PAIR_SIZE, BW_PAIR_SHARE, e);
    p.beta = vd_set1(1) - p.alpha;
    for (int i = 0; i < 2; i++) {
        p.t[i].a1 = lanes_field(r, BW_PAIR_SIZE, BW_PAIR_THREADS + 6 * i, e);
        p.t[i].a2 = lanes_field(r, BW_PAIR_SIZE, BW_PAIR_THREADS + 6 * i + 1, e);
        p.t[i].b1 = lanes_field(r, BW_PAIR_SIZE, BW_PAIR_THREADS + 6 * i + 2, e);
        p.t[i].b3 = lanes_field(r, BW_PAIR_SIZE, BW_PAIR_THREADS + 6 * i + 3, e);
        p.t[i].k = lanes_field(r, BW_PAIR_SIZE, BW_PAIR_THREADS + 6 * i + 4, e);
        p.t[i].c = lanes_field(r, BW_PAIR_SIZE, BW_PAIR_THREADS + 6 * i + 5, e);
    }
    p.shear = lanes_field(r, BW_PAIR_SIZE, BW_PAIR_SHEAR, e);
    p.shear_damping = lanes_field(r, BW_PAIR_SIZE, BW_PAIR_DAMP_SHEAR, e);
    return p;
}

DRAPE_INLINE triple load_triple(const drape_i_bw_data *d, const double *y, const int32_t *e) {
    vd3 y0 = lanes_gather(y, d->nodes, 4, 0, e);
    triple t;
    for (int i = 0; i < 3; i++) t.e[i] = vd3_sub(lanes_gather(y, d->nodes, 4, i + 1, e), y0);
    return t;
}

DRAPE_INLINE vd3 along_A(const threads *t, const triple *e) { return combine(t->a1, e->e[0], t->a2, e->e[1]); }
DRAPE_INLINE vd3 along_B(const threads *t, const triple *e) { return combine(t->b1, e->e[0], t->b3, e->e[2]); }

DRAPE_INLINE vd3 direction(vd3 a, vd *length) {
    *length = vd_sqrt(vd3_dot(a, a));
    return vd3_scale(vd_set1(1) / vd_max(*length, vd_set1(1e-150)), a);
}

DRAPE_INLINE course find_course(const threads *t, const triple *x) {
    course c;
    c.nA = direction(along_A(t, x), &c.lA);
    c.nB = direction(along_B(t, x), &c.lB);
    return c;
}

/* alpha a_i p + beta b_i q for the three corners. */
DRAPE_INLINE triple spread(const pair *p, const threads *t, vd3 at_A, vd3 at_B) {
    vd3 A = vd3_scale(p->alpha, at_A), B = vd3_scale(p->beta, at_B);
    return (triple){{combine(t->a1, A, t->b1, B), vd3_scale(t->a2, A), vd3_scale(t->b3, B)}};
}

DRAPE_INLINE vd apply(const triple *g, const triple *v) {
    return (vd3_dot(g->e[0], v->e[0]) + vd3_dot(g->e[1], v->e[1])) + vd3_dot(g->e[2], v->e[2]);
}

DRAPE_INLINE void add_scaled(triple *to, vd s, const triple *g) {
    for (int i = 0; i < 3; i++) to->e[i] = vd3_add(to->e[i], vd3_scale(s, g->e[i]));
}

DRAPE_INLINE void add_outer(sums *s, vd scale, const triple *g) {
    int k = 0;
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++, k++) s->block[k] = vd33_add_outer(s->block[k], scale, g->e[i], g->e[j]);
}

/* scale (I - n n') */
DRAPE_INLINE vd33 across(vd scale, vd3 n) {
    return vd33_add_outer(vd33_add_identity(vd33_zero(), scale), -scale, n, n);
}

/* The second part of H, times `stiffness`, and its product with v. */
DRAPE_INLINE void add_geometric(sums *s, const pair *p, const threads *t, const course *c, vd tension, vd stiffness,
                                const triple *v) {
    const vd tiny = vd_set1(1e-150);
    vd sA = p->alpha * (tension / vd_max(c->lA, tiny)), sB = p->beta * (tension / vd_max(c->lB, tiny));
    vd33 A = across(sA, c->nA), B = across(sB, c->nB);
    vd3 Av = vd33_times(A, along_A(t, v)), Bv = vd33_times(B, along_B(t, v));
    s->product.e[0] = vd3_add(s->product.e[0], combine(t->a1, Av, t->b1, Bv));
    s->product.e[1] = vd3_add(s->product.e[1], vd3_scale(t->a2, Av));
    s->product.e[2] = vd3_add(s->product.e[2], vd3_scale(t->b3, Bv));
    vd a11 = stiffness * t->a1 * t->a1, a12 = stiffness * t->a1 * t->a2, a22 = stiffness * t->a2 * t->a2;
    vd b11 = stiffness * t->b1 * t->b1, b13 = stiffness * t->b1 * t->b3, b33 = stiffness * t->b3 * t->b3;
    for (int i = 0; i < 9; i++) {
        s->block[0].m[i] += a11 * A.m[i] + b11 * B.m[i];
        s->block[1].m[i] += a12 * A.m[i];
        s->block[2].m[i] += b13 * B.m[i];
        s->block[3].m[i] += a22 * A.m[i];
        s->block[5].m[i] += b33 * B.m[i];
    }
}

/* The ten blocks of four corners from the six of corners 1 to 3: rows and columns sum to zero. */
DRAPE_INLINE void store_blocks(const sums *s, vd scale, int lane, drape_i_batch *out) {
    vd33 b[6], c[4];
    for (int k = 0; k < 6; k++)
        for (int i = 0; i < 9; i++) b[k].m[i] = scale * s->block[k].m[i];
    vd33 b21 = vd33_transpose(b[1]), b31 = vd33_transpose(b[2]), b32 = vd33_transpose(b[4]);
    for (int i = 0; i < 9; i++) {
        c[1].m[i] = -(b[0].m[i] + b21.m[i] + b31.m[i]);
        c[2].m[i] = -(b[1].m[i] + b[3].m[i] + b32.m[i]);
        c[3].m[i] = -(b[2].m[i] + b[4].m[i] + b[5].m[i]);
    }
    for (int i = 0; i < 9; i++) c[0].m[i] = -(c[1].m[i] + c[2].m[i] + c[3].m[i]);
    for (int k = 0; k < 4; k++) lanes_store_block(out->blocks, k, lane, c[k]);
    for (int k = 0; k < 6; k++) lanes_store_block(out->blocks, 4 + k, lane, b[k]);
}

/* Adds scale g q' to the stored blocks; corner 0 has minus the sum of the others. */
DRAPE_INLINE void add_dropped(const triple *g, const triple *q, vd scale, int lane, drape_i_batch *out) {
    vd3 G[4], Q[4];
    for (int i = 0; i < 3; i++) G[i + 1] = g->e[i], Q[i + 1] = q->e[i];
    G[0] = vd3_scale(vd_set1(-1), vd3_add(G[1], vd3_add(G[2], G[3])));
    Q[0] = vd3_scale(vd_set1(-1), vd3_add(Q[1], vd3_add(Q[2], Q[3])));
    int k = 0;
    for (int a = 0; a < 4; a++)
        for (int b = a; b < 4; b++, k++) {
            vd33 R = vd33_add_outer(lanes_load_block(out->blocks, k, lane), scale, G[a], Q[b]);
            vd33 mirror = vd33_add_outer(lanes_load_block(out->lower, k, lane), scale, G[b], Q[a]);
            lanes_store_block(out->blocks, k, lane, R);
            lanes_store_block(out->lower, k, lane, mirror);
        }
}

DRAPE_INLINE void store_triple(const triple *t, vd scale, int lane, double (*to)[DRAPE_I_LANES]) {
    vd3 sum = vd3_scale(scale, vd3_add(t->e[0], vd3_add(t->e[1], t->e[2])));
    lanes_store_vector(to, 0, lane, vd3_scale(vd_set1(-1), sum));
    for (int i = 0; i < 3; i++) lanes_store_vector(to, i + 1, lane, vd3_scale(scale, t->e[i]));
}

/* t = (I - n n') wdot / |w| */
DRAPE_INLINE vd3 turning(vd3 w_dot, vd3 n, vd length) {
    return vd3_scale(vd_set1(1) / vd_max(length, vd_set1(1e-150)), vd3_sub(w_dot, vd3_scale(vd3_dot(n, w_dot), n)));
}

DRAPE_INLINE triple turn_of(const pair *p, const threads *t, const course *c, const triple *v) {
    return spread(p, t, turning(along_A(t, v), c->nA, c->lA), turning(along_B(t, v), c->nB, c->lB));
}

/* One direction: adds to the sums; returns twice its energy and c times its dissipation, per area. */
DRAPE_INLINE vd add_threads(const pair *p, const threads *t, const drape_i_evaluation *at, const triple *x,
                            const triple *v, const triple *lagged, int psd, sums *s) {
    course now = find_course(t, x);
    triple g = spread(p, t, now.nA, now.nB), damped = g;
    if (lagged) {
        course then = find_course(t, lagged);
        damped = spread(p, t, then.nA, then.nB);
    }
    vd C = p->alpha * now.lA + p->beta * now.lB - vd_set1(1), rate = apply(&damped, v);
    vd tension = t->k * C, resistance = t->c * rate;
    vd twice = tension * C + vd_set1(at->c) * (resistance * rate);
    if (!lagged) tension = tension + resistance;
    add_scaled(&s->force, -tension, &g);
    if (lagged) add_scaled(&s->force, -resistance, &damped);
    add_outer(s, vd_set1(at->stiffness) * t->k, &g);
    add_outer(s, vd_set1(at->damping) * t->c, &damped);
    add_scaled(&s->product, t->k * apply(&g, v), &g);
    vd kept = psd ? vd_clamp(tension, vd_set1(at->exactness)) : tension;
    add_geometric(s, p, t, &now, kept, vd_set1(at->stiffness), v);
    return twice;
}

/* ---- shear ---- */

DRAPE_INLINE triple add_triples(triple a, triple b) {
    for (int i = 0; i < 3; i++) a.e[i] = vd3_add(a.e[i], b.e[i]);
    return a;
}

/* dC_s/de at y, or with the rates of the threads in place of the threads its change. */
DRAPE_INLINE triple shear_gradient(const pair *p, const triple *y) {
    return add_triples(spread(p, &p->t[0], along_A(&p->t[1], y), along_B(&p->t[1], y)),
                       spread(p, &p->t[1], along_A(&p->t[0], y), along_B(&p->t[0], y)));
}

DRAPE_INLINE vd shear_of(const pair *p, const triple *x) {
    return p->alpha * vd3_dot(along_A(&p->t[0], x), along_A(&p->t[1], x)) +
           p->beta * vd3_dot(along_B(&p->t[0], x), along_B(&p->t[1], x));
}

/* Adds scale (alpha a a' + beta b b') I to the blocks and the product, a = a_u + sign a_v. */
DRAPE_INLINE void add_identity(sums *s, const pair *p, vd scale, vd sign, vd stiffness, const triple *v) {
    const threads *u = &p->t[0], *w = &p->t[1];
    vd a[3] = {u->a1 + sign * w->a1, u->a2 + sign * w->a2, vd_set1(0)};
    vd b[3] = {u->b1 + sign * w->b1, vd_set1(0), u->b3 + sign * w->b3};
    int k = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            vd entry = scale * (p->alpha * a[i] * a[j] + p->beta * b[i] * b[j]);
            s->product.e[i] = vd3_add(s->product.e[i], vd3_scale(entry, v->e[j]));
            if (j >= i) s->block[k] = vd33_add_identity(s->block[k], stiffness * entry), k++;
        }
}

/* Shear: as add_threads. */
DRAPE_INLINE vd add_shear(const pair *p, const drape_i_evaluation *at, const triple *x, const triple *v,
                          const triple *lagged, int psd, sums *s) {
    const vd half = vd_set1(0.5), one = vd_set1(1);
    triple g = shear_gradient(p, x), damped = lagged ? shear_gradient(p, lagged) : g;
    vd C = shear_of(p, x), rate = apply(&damped, v), tension = p->shear * C, resistance = p->shear_damping * rate;
    vd twice = tension * C + vd_set1(at->c) * (resistance * rate);
    if (!lagged) tension = tension + resistance;
    add_scaled(&s->force, -tension, &g);
    if (lagged) add_scaled(&s->force, -resistance, &damped);
    add_outer(s, vd_set1(at->stiffness) * p->shear, &g);
    add_outer(s, vd_set1(at->damping) * p->shear_damping, &damped);
    add_scaled(&s->product, p->shear * apply(&g, v), &g);
    vd share = psd ? vd_set1(at->exactness) : one;
    add_identity(s, p, half * vd_clamp(tension, share), one, vd_set1(at->stiffness), v);
    add_identity(s, p, half * vd_clamp(-tension, share), -one, vd_set1(at->stiffness), v);
    return twice;
}

DRAPE_INLINE sums no_sums(void) {
    const vd zero = vd_set1(0);
    const vd3 none = {zero, zero, zero};
    sums s;
    for (int i = 0; i < 6; i++) s.block[i] = vd33_zero();
    for (int i = 0; i < 3; i++) s.force.e[i] = s.product.e[i] = none;
    return s;
}

DRAPE_INLINE void evaluate(const drape_i_bw_data *d, const drape_i_evaluation *at, const int32_t *e, int lane,
                           int psd, drape_i_damping damping, drape_i_batch *out) {
    const int is_lagged = damping == DRAPE_I_DAMPING_LAGGED;
    pair p = load_pair(d, e);
    triple x = load_triple(d, at->x, e), v = load_triple(d, at->v, e), lagged = x;
    if (is_lagged) lagged = load_triple(d, at->lagged_x, e);
    sums s = no_sums();
    vd twice = vd_set1(0);
    for (int i = 0; i < 2; i++)
        twice = twice + add_threads(&p, &p.t[i], at, &x, &v, is_lagged ? &lagged : 0, psd, &s);
    twice = twice + add_shear(&p, at, &x, &v, is_lagged ? &lagged : 0, psd, &s);
    if (at->potential) vd_store(out->scalar + lane, vd_set1(0.5) * p.area * twice);
    store_triple(&s.force, p.area, lane, out->vectors[0]);
    store_blocks(&s, p.area, lane, out);
    if (damping == DRAPE_I_DAMPING_FULL) {
        for (int k = 0; k < 10; k++)
            lanes_store_block(out->lower, k, lane, vd33_transpose(lanes_load_block(out->blocks, k, lane)));
        for (int i = 0; i < 2; i++) {
            course c = find_course(&p.t[i], &x);
            triple g = spread(&p, &p.t[i], c.nA, c.nB), q = turn_of(&p, &p.t[i], &c, &v);
            add_dropped(&g, &q, vd_set1(at->stiffness) * p.area * p.t[i].c, lane, out);
            add_scaled(&s.product, p.t[i].c * apply(&q, &v), &g);
        }
        triple g = shear_gradient(&p, &x), q = shear_gradient(&p, &v);
        add_dropped(&g, &q, vd_set1(at->stiffness) * p.area * p.shear_damping, lane, out);
        add_scaled(&s.product, p.shear_damping * apply(&q, &v), &g);
    }
    store_triple(&s.product, p.area, lane, out->vectors[1]);
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
        triple x = load_triple(data, at->x, elements + lane);
        vd twice = vd_set1(0);
        for (int i = 0; i < 2; i++) {
            course c = find_course(&p.t[i], &x);
            vd C = p.alpha * c.lA + p.beta * c.lB - vd_set1(1);
            twice = twice + p.t[i].k * C * C;
        }
        vd C = shear_of(&p, &x);
        twice = twice + p.shear * C * C;
        vd_store(energy + lane, vd_set1(0.5) * p.area * twice);
    }
}

void DRAPE_NAME(drape_i_bw_pair_dissipation)(const void *data, const drape_i_evaluation *at, const int32_t *elements,
                                             double *dissipation) {
    for (int lane = 0; lane < DRAPE_I_LANES; lane += DRAPE_W) {
        pair p = load_pair(data, elements + lane);
        triple x = load_triple(data, drape_i_damping_x(at), elements + lane);
        triple v = load_triple(data, at->v, elements + lane);
        vd twice = vd_set1(0);
        for (int i = 0; i < 2; i++) {
            course c = find_course(&p.t[i], &x);
            triple g = spread(&p, &p.t[i], c.nA, c.nB);
            vd rate = apply(&g, &v);
            twice = twice + p.t[i].c * rate * rate;
        }
        triple g = shear_gradient(&p, &x);
        vd rate = apply(&g, &v);
        twice = twice + p.shear_damping * rate * rate;
        vd_store(dissipation + lane, vd_set1(0.5) * p.area * twice);
    }
}
