/* nodal_simd.c: forces and Jacobians of the membrane `nodal`. nodal.c says what its matrices Q and P are made of.
 *
 * Conditions on the metric G = x'Qx of a point, and energy, with A the point's area:
 *     C_u = sqrt(G_uu) - 1,  C_v = sqrt(G_vv) - 1,  C_s = G_uv,   E = A/2 (k_u C_u^2 + k_v C_v^2 + k_s C_s^2).
 * For uniform strain that is the energy of triangles. Below LEAST the square root goes on as its tangent.
 *
 * With zeta = Q x, C1 = 2 dC/dG, C2 = 4 d2C/dG2, rate = C1 zeta.v, and the tension T = A (k C + c rate),
 *     f = -T C1 zeta,   K = (A k C1^2 + T C2) zeta zeta' + T C1 Q,   D = A c C1^2 zeta zeta'.
 * The semidefinite form keeps the factor of zeta zeta' where it is positive (for c = 0 it always is). Of T C1 Q it
 * keeps the positive terms: T C1 P where T is positive, else T C1 (Q - P). Lagged damping and `exactness` are as
 * in bw_triangle_simd.c. All of the damping's Jacobian adds A c C1 zeta q' to K, with q = C2 (zeta.v) zeta + C1 Q v.
 *
 * Every point is evaluated once; then every row sums what the points around it left, in a fixed order. A vector holds
 * the three coordinates of a vertex, or eight numbers of a block. Cost for rings of 7: some 1,300 flops for each
 * point and 1,700 for each row of the matrix. */
#include "cloth/nodal.h"
#include "cloth/rings.h"
#include "cloth/xyz.h"
#include "sparse/row_sum.h"

#include <math.h>

enum { N = DRAPE_I_RING_NODES, CONDITIONS = DRAPE_I_NODAL_CONDITIONS };

static const double LEAST = 0.25;

/* ---- one point ---- */

typedef vd4 ring[N]; /* differences against the point itself, as rows of Q sum to zero */

typedef struct place {
    int64_t first, square, room; /* room: n, and then some, for vectors */
    int32_t p, n, triangles;
    const drape_i_nodal_triangle *triangle;
    const double *fit, *arc;
} place;

static place place_of(const drape_i_nodal *q, int64_t p) {
    return (place){.first = q->first[p],
                   .square = q->square[p],
                   .room = q->padded[p + 1] - q->padded[p],
                   .p = (int32_t)p,
                   .n = (int32_t)(q->first[p + 1] - q->first[p]),
                   .triangles = (int32_t)(q->fan[p + 1] - q->fan[p]),
                   .triangle = q->triangle + q->fan[p],
                   .fit = q->fit + 3 * q->padded[p],
                   .arc = q->arc + DRAPE_I_NODAL_ARC * p};
}

static void gather(const drape_i_nodal *q, const place *at, const double *y, ring out) {
    const int32_t *node = q->node + at->first;
    const vd4 center = xyz_load(y + 3 * (int64_t)node[0]);
    for (int32_t i = 0; i < at->n; i++) out[i] = xyz_load(y + 3 * (int64_t)node[i]) - center;
}

static void find_dots(const place *at, const ring zeta[CONDITIONS], const ring v, double out[CONDITIONS]) {
    vd4 sum[CONDITIONS] = {{0}};
    for (int32_t i = 1; i < at->n; i++)
        for (int32_t s = 0; s < CONDITIONS; s++) sum[s] += zeta[s][i] * v[i];
    for (int32_t s = 0; s < CONDITIONS; s++) out[s] = xyz_total(sum[s]);
}

/* The arcs' part of Q y for every condition, in terms of the rows of the fit, and of y'Qy. */
static void bend(const place *at, const ring y, vd4 AX[CONDITIONS][3], vd4 squares[CONDITIONS]) {
    vd4 X[3] = {{0}};
    for (int32_t i = 1; i < at->n; i++)
        for (int32_t a = 0; a < 3; a++) X[a] += at->fit[a * at->room + i] * y[i];
    for (int32_t s = 0; s < CONDITIONS; s++) {
        const double *A = at->arc + 6 * s;
        AX[s][0] = (A[0] * X[0] + A[3] * X[1]) + A[4] * X[2];
        AX[s][1] = (A[3] * X[0] + A[1] * X[1]) + A[5] * X[2];
        AX[s][2] = (A[4] * X[0] + A[5] * X[1]) + A[2] * X[2];
        squares[s] = (X[0] * AX[s][0] + X[1] * AX[s][1]) + X[2] * AX[s][2];
    }
}

/* w_u and w_v of a triangle, times the root of its weight. */
DRAPE_INLINE void strain(const drape_i_nodal_triangle *t, const ring y, vd4 w[2], vd4 squares[CONDITIONS]) {
    w[0] = t->du[0] * y[t->at[0]] + t->du[1] * y[t->at[1]];
    w[1] = t->dv[0] * y[t->at[0]] + t->dv[1] * y[t->at[1]];
    squares[0] += w[0] * w[0], squares[1] += w[1] * w[1], squares[2] += w[0] * w[1];
}

static void find_metric(const place *at, const ring y, double G[CONDITIONS]) {
    vd4 AX[CONDITIONS][3], squares[CONDITIONS], w[2];
    bend(at, y, AX, squares);
    for (int32_t t = 0; t < at->triangles; t++) strain(&at->triangle[t], y, w, squares);
    for (int32_t s = 0; s < CONDITIONS; s++) G[s] = xyz_total(squares[s]);
}

/* Q y and y'Qy for every condition. */
static void find_zeta(const place *at, const ring y, ring zeta[CONDITIONS], double G[CONDITIONS]) {
    vd4 AX[CONDITIONS][3], squares[CONDITIONS], w[2], sum[CONDITIONS] = {{0}};
    bend(at, y, AX, squares);
    for (int32_t i = 1; i < at->n; i++)
        for (int32_t s = 0; s < CONDITIONS; s++)
            zeta[s][i] =
                (at->fit[i] * AX[s][0] + at->fit[at->room + i] * AX[s][1]) + at->fit[2 * at->room + i] * AX[s][2];
    for (int32_t t = 0; t < at->triangles; t++) {
        const drape_i_nodal_triangle *of = &at->triangle[t];
        strain(of, y, w, squares);
        for (int32_t k = 0; k < 2; k++) {
            zeta[0][of->at[k]] += of->du[k] * w[0];
            zeta[1][of->at[k]] += of->dv[k] * w[1];
            zeta[2][of->at[k]] += 0.5 * (of->du[k] * w[1] + of->dv[k] * w[0]);
        }
    }
    for (int32_t i = 1; i < at->n; i++)
        for (int32_t s = 0; s < CONDITIONS; s++) sum[s] -= zeta[s][i];
    for (int32_t s = 0; s < CONDITIONS; s++) zeta[s][0] = sum[s], G[s] = xyz_total(squares[s]);
}

/* C, C1 and C2. */
typedef struct condition {
    double value, d1, d2;
} condition;

static condition condition_of(int32_t which, double G) {
    if (which == 2) return (condition){G, 2, 0};
    const double root = sqrt(G > LEAST ? G : LEAST);
    if (G > LEAST) return (condition){root - 1, 1 / root, -1 / (root * root * root)};
    return (condition){root - 1 + (G - LEAST) * (0.5 / root), 1 / root, 0};
}

/* ---- the part of K that is a multiple of the identity for each pair ---- */

/* What the triangles and the arcs are multiplied by: [[tt[0], tt[1]], [tt[1], tt[2]]] for (du, dv), and A of the
 * arcs. */
typedef struct multiple {
    double tt[3], arc[6];
} multiple;

/* sum_s of_P P_s + of_Q Q_s. With w_u.w_v = (|w_u + w_v|^2 - |w_v - w_u|^2)/4, the first square is in P. */
static multiple merge(const place *at, const double of_P[CONDITIONS], const double of_Q[CONDITIONS]) {
    multiple m = {
        {(of_P[0] + of_Q[0]) + 0.25 * of_P[2], 0.25 * of_P[2] + 0.5 * of_Q[2], (of_P[1] + of_Q[1]) + 0.25 * of_P[2]},
        {0}};
    for (int32_t s = 0; s < CONDITIONS; s++)
        for (int32_t i = 0; i < 6; i++)
            m.arc[i] += of_Q[s] * at->arc[6 * s + i] + of_P[s] * at->arc[6 * (CONDITIONS + s) + i];
    return m;
}

/* Sets all pairs; only a <= b count. */
static void set_arcs(const place *at, const double A[6], double *same) {
    const double *c0 = at->fit, *c1 = c0 + at->room, *c2 = c1 + at->room;
    for (int64_t a = 0; a < at->n; a++) {
        const vd g0 = vd_set1((A[0] * c0[a] + A[3] * c1[a]) + A[4] * c2[a]);
        const vd g1 = vd_set1((A[3] * c0[a] + A[1] * c1[a]) + A[5] * c2[a]);
        const vd g2 = vd_set1((A[4] * c0[a] + A[5] * c1[a]) + A[2] * c2[a]);
        for (int64_t b = a / DRAPE_W * DRAPE_W; b < at->room; b += DRAPE_W)
            vd_store(same + a * at->room + b, (g0 * vd_load(c0 + b) + g1 * vd_load(c1 + b)) + g2 * vd_load(c2 + b));
    }
}

static void add_triangles(const place *at, const double tt[3], double *same) {
    for (int32_t t = 0; t < at->triangles; t++) {
        const drape_i_nodal_triangle *of = &at->triangle[t];
        const int64_t i = of->at[0], j = of->at[1], pair = i < j ? i * at->room + j : j * at->room + i;
        const double a0 = tt[0] * of->du[0] + tt[1] * of->dv[0], a1 = tt[1] * of->du[0] + tt[2] * of->dv[0];
        const double b0 = tt[0] * of->du[1] + tt[1] * of->dv[1], b1 = tt[1] * of->du[1] + tt[2] * of->dv[1];
        const double ii = a0 * of->du[0] + a1 * of->dv[0], ij = a0 * of->du[1] + a1 * of->dv[1];
        const double jj = b0 * of->du[1] + b1 * of->dv[1];
        same[0] += (ii + jj) + 2 * ij;
        same[i] -= ii + ij, same[j] -= jj + ij;
        same[i * at->room + i] += ii, same[j * at->room + j] += jj, same[pair] += ij;
    }
}

/* The same times v. */
static void find_product(const place *at, const double *same, const ring v, ring out) {
    for (int32_t a = 0; a < at->n; a++) out[a] = (vd4){0};
    for (int32_t a = 0; a < at->n; a++) {
        vd4 sum = out[a];
        for (int32_t b = a + 1; b < at->n; b++) {
            const vd4 part = same[a * at->room + b] * (v[b] - v[a]);
            sum += part, out[b] -= part;
        }
        out[a] = sum;
    }
}

/* ---- all of a point ---- */

typedef struct work {
    ring x, v, zeta[CONDITIONS], product;
    ring y, other[CONDITIONS];                 /* lagged_x and zeta there; or, for DRAPE_DAMPING_FULL, Q v */
    double of_P[CONDITIONS], of_Q[CONDITIONS]; /* factors of P and Q in K */
    double force[CONDITIONS], along[CONDITIONS], row[CONDITIONS]; /* of zeta: in f, in K v and for the rows */
    double other_force[CONDITIONS];                               /* of other in f */
    double left[CONDITIONS];                                      /* of zeta in the left vectors of the second sum */
    double right[CONDITIONS][2];                                  /* of zeta and other in those on the right */
} work;

/* The share of Q in K: 0 positive semidefinite, 1 exact. */
static double exactness_of(const drape_i_evaluation *at) {
    return at->jacobian == DRAPE_JACOBIAN_PSD ? at->exactness : 1;
}

static bool is_damped(const drape_i_nodal *q, int64_t p) {
    const double *c = q->damping + CONDITIONS * p;
    return c[0] > 0 || c[1] > 0 || c[2] > 0;
}

/* Without damping one sum is enough. */
static drape_i_damping damping_of(const drape_i_nodal *q, const drape_i_evaluation *at, int64_t p) {
    return is_damped(q, p) ? drape_i_damping_of(at) : DRAPE_I_DAMPING_SYMMETRIC;
}

/* zeta_v: zeta.v */
static void find_factors(const drape_i_nodal *q, const drape_i_evaluation *at, int64_t number, bool lagged,
                         const condition *C, double zeta_v, double *sign, work *w) {
    const int64_t s = number % CONDITIONS;
    const double k = q->stiffness[number], c = q->damping[number], exact = exactness_of(at);
    const double tension = k * C->value + (lagged ? 0 : c * C->d1 * zeta_v), across = tension * C->d1;
    double along = k * C->d1 * C->d1 + tension * C->d2;
    if (along < 0) along *= exact;
    w->of_P[s] = (1 - exact) * fabs(across);
    w->of_Q[s] = exact * across + (across < 0 ? (1 - exact) * across : 0);
    w->force[s] = -across;
    w->along[s] = along * zeta_v;
    const double factor = at->stiffness * along + (lagged ? 0 : at->damping * (c * C->d1 * C->d1));
    w->row[s] = sqrt(fabs(factor));
    *sign = factor < 0 ? -1 : 1;
}

/* All of the Jacobian of the damping. */
static void add_full(const drape_i_nodal *q, const drape_i_evaluation *at, const place *of,
                     const condition C[CONDITIONS], const double zeta_v[CONDITIONS], work *w) {
    double G[CONDITIONS];
    find_zeta(of, w->v, w->other, G);
    for (int32_t s = 0; s < CONDITIONS; s++) {
        const double c = q->damping[CONDITIONS * (int64_t)of->p + s] * C[s].d1;
        w->left[s] = at->stiffness * c;
        w->right[s][0] = C[s].d2 * zeta_v[s], w->right[s][1] = C[s].d1;
        w->along[s] += c * (C[s].d2 * zeta_v[s] * zeta_v[s] + C[s].d1 * G[s]);
    }
}

/* Force of the damping with the geometry of lagged_x; returns its dissipation. */
static double add_lagged(const drape_i_nodal *q, const drape_i_evaluation *at, const place *of, work *w) {
    double G[CONDITIONS], zeta_v[CONDITIONS], sum = 0;
    gather(q, of, at->lagged_x, w->y);
    find_zeta(of, w->y, w->other, G);
    find_dots(of, w->other, w->v, zeta_v);
    for (int32_t s = 0; s < CONDITIONS; s++) {
        const double d1 = condition_of(s, G[s]).d1, c = q->damping[CONDITIONS * (int64_t)of->p + s] * d1 * d1;
        w->other_force[s] = -c * zeta_v[s];
        w->right[s][0] = 0, w->right[s][1] = sqrt(at->damping * c);
        sum += 0.5 * c * zeta_v[s] * zeta_v[s];
    }
    return sum;
}

/* Vectors for the rows, of one condition and entry. */
static void keep_vectors(int64_t entry, int32_t a, int32_t s, drape_i_damping damping, const work *w,
                         drape_i_nodal_state *to) {
    const int64_t at = 9 * entry + 3 * s;
    xyz_store(to->gradient + at, w->row[s] * w->zeta[s][a]);
    if (damping == DRAPE_I_DAMPING_SYMMETRIC) return;
    xyz_store(to->right + at, w->right[s][0] * w->zeta[s][a] + w->right[s][1] * w->other[s][a]);
    if (damping == DRAPE_I_DAMPING_FULL) xyz_store(to->left + at, w->left[s] * w->zeta[s][a]);
}

static void keep(const place *at, const drape_i_evaluation *e, drape_i_damping damping, const work *w,
                 drape_i_nodal_state *to) {
    for (int32_t a = 0; a < at->n; a++) {
        const int64_t entry = at->first + a;
        vd4 force = {0}, product = {0};
        for (int32_t s = 0; s < CONDITIONS; s++) {
            force += w->force[s] * w->zeta[s][a], product += w->along[s] * w->zeta[s][a];
            if (damping == DRAPE_I_DAMPING_LAGGED) force += w->other_force[s] * w->other[s][a];
            if (e->matrix) keep_vectors(entry, a, s, damping, w, to);
        }
        xyz_store(to->vectors + 6 * entry, force);
        if (e->stiff_v) xyz_store(to->vectors + 6 * entry + 3, product + w->product[a]);
    }
}

static void evaluate_point(const drape_i_nodal *q, const drape_i_evaluation *e, const place *at, work *w,
                           drape_i_nodal_state *state) {
    const drape_i_damping damping = damping_of(q, e, at->p);
    double G[CONDITIONS], zeta_v[CONDITIONS], *same = state->same + at->square, potential = 0;
    condition C[CONDITIONS];
    gather(q, at, e->x, w->x);
    gather(q, at, e->v, w->v);
    find_zeta(at, w->x, w->zeta, G);
    find_dots(at, w->zeta, w->v, zeta_v);
    for (int32_t s = 0; s < CONDITIONS; s++) {
        const int64_t number = CONDITIONS * (int64_t)at->p + s;
        C[s] = condition_of(s, G[s]);
        potential += 0.5 * q->stiffness[number] * C[s].value * C[s].value;
        find_factors(q, e, number, damping == DRAPE_I_DAMPING_LAGGED, &C[s], zeta_v[s], state->sign + number, w);
    }
    if (damping == DRAPE_I_DAMPING_FULL) add_full(q, e, at, C, zeta_v, w);
    if (damping == DRAPE_I_DAMPING_LAGGED) potential += e->c * add_lagged(q, e, at, w);
    if (e->potential) state->potential[at->p] = potential;
    if (e->matrix || e->stiff_v) {
        const multiple m = merge(at, w->of_P, w->of_Q);
        set_arcs(at, m.arc, same);
        add_triangles(at, m.tt, same);
    }
    if (e->stiff_v) find_product(at, same, w->v, w->product);
    keep(at, e, damping, w, state);
}

void DRAPE_NAME(drape_i_nodal_points)(const drape_i_nodal *q, const drape_i_evaluation *e, drape_i_nodal_state *state,
                                      int64_t begin, int64_t end) {
    work w;
    for (int64_t p = begin; p < end; p++) {
        const place at = place_of(q, p);
        evaluate_point(q, e, &at, &w, state);
    }
}

/* ---- rows ---- */

/* The left vectors of an entry: each number as often as a block's row has it. */
typedef struct left {
    vd part[CONDITIONS][ROW_SUM_VECTORS];
    double last[CONDITIONS];
} left;

static void load_left(const double *vectors, const double sign[CONDITIONS], left *out) {
    for (int32_t s = 0; s < CONDITIONS; s++) {
        double rows[9];
        for (int32_t i = 0; i < 9; i++) rows[i] = sign[s] * vectors[3 * s + i / 3];
        for (int32_t v = 0; v < ROW_SUM_VECTORS; v++) out->part[s][v] = vd_load(rows + v * DRAPE_W);
        out->last[s] = rows[8];
    }
}

DRAPE_INLINE void add_products(const left *l, const double *right, row_sum *sum) {
    for (int32_t s = 0; s < CONDITIONS; s++) {
        vd xs[ROW_SUM_VECTORS];
        row_sum_repeat(right + 3 * s, xs);
        for (int32_t v = 0; v < ROW_SUM_VECTORS; v++) sum->part[v] += l->part[s][v] * xs[v];
        sum->last += l->last[s] * right[3 * s + 2];
    }
}

DRAPE_INLINE void add_block(const row_sum *sum, double same, double *block) {
    static const double unit[8] = {1, 0, 0, 0, 1, 0, 0, 0};
    for (int32_t v = 0; v < ROW_SUM_VECTORS; v++) {
        double *to = block + v * DRAPE_W;
        vd_store(to, vd_load(to) + (sum->part[v] + vd_set1(same) * vd_load(unit + v * DRAPE_W)));
    }
    block[8] += sum->last + same;
}

/* A row of a point: that of entry a. second: the left vectors of the second sum, NULL: there is none. */
typedef struct point_row {
    const drape_i_nodal_state *state;
    const double *second;
    place at;
    int64_t a;
    left first_left, second_left;
    double stiffness;
    const int32_t *slot;
    double *val;
} point_row;

DRAPE_INLINE void add_pair(const point_row *w, int64_t b) {
    const double *same = w->state->same + w->at.square;
    row_sum sum = row_sum_zero();
    add_products(&w->first_left, w->state->gradient + 9 * (w->at.first + b), &sum);
    if (w->second) add_products(&w->second_left, w->state->right + 9 * (w->at.first + b), &sum);
    add_block(&sum, w->stiffness * same[w->a < b ? w->a * w->at.room + b : b * w->at.room + w->a],
              w->val + 9 * (int64_t)w->slot[b]);
}

/* What the point of entry e adds to the row of e's vertex. Entries but the first are in the order of vertices. */
DRAPE_INLINE void add_blocks(const drape_i_nodal *q, const drape_i_nodal_state *state, const drape_i_nodal_rows *r,
                             int64_t e, double stiffness, const double *second) {
    static const double plus[CONDITIONS] = {1, 1, 1};
    point_row w = {.state = state, .second = second, .at = place_of(q, q->point_of[e]), .stiffness = stiffness};
    const int32_t *node = q->node + w.at.first;
    int64_t b = 1;
    w.a = e - w.at.first;
    w.slot = r->slot + w.at.square + w.a * w.at.room;
    w.val = r->val + 9 * r->rowptr[node[w.a]];
    load_left(state->gradient + 9 * e, state->sign + CONDITIONS * (int64_t)w.at.p, &w.first_left);
    if (second) load_left(second + 9 * e, plus, &w.second_left);
    if (!r->upper || node[0] >= node[w.a]) add_pair(&w, 0);
    while (r->upper && b < w.at.n && node[b] < node[w.a]) b++;
    for (; b < w.at.n; b++) add_pair(&w, b);
}

static void add_vectors(const double *vectors, int64_t i, const drape_i_nodal_rows *r) {
    for (int32_t k = 0; k < 3 && r->force; k++) r->force[3 * i + k] += vectors[k];
    for (int32_t k = 0; k < 3 && r->stiff_v; k++) r->stiff_v[3 * i + k] += vectors[3 + k];
}

void DRAPE_NAME(drape_i_nodal_rows)(const drape_i_nodal *q, const drape_i_evaluation *at,
                                    const drape_i_nodal_state *state, const drape_i_nodal_rows *r) {
    for (int64_t i = r->begin; i < r->end; i++)
        for (int64_t l = q->row[i]; l < q->row[i + 1]; l++) {
            const int64_t e = q->row_entry[l];
            const drape_i_damping damping = damping_of(q, at, q->point_of[e]);
            add_vectors(state->vectors + 6 * e, i, r);
            if (!r->val) continue;
            if (damping == DRAPE_I_DAMPING_SYMMETRIC) add_blocks(q, state, r, e, at->stiffness, NULL);
            else if (damping == DRAPE_I_DAMPING_FULL) add_blocks(q, state, r, e, at->stiffness, state->left);
            else add_blocks(q, state, r, e, at->stiffness, state->right);
        }
}

/* ---- energies ---- */

double DRAPE_NAME(drape_i_nodal_energies)(const drape_i_nodal *q, const drape_i_evaluation *e, int64_t begin,
                                          int64_t end) {
    double sum = 0, G[CONDITIONS];
    ring x;
    for (int64_t p = begin; p < end; p++) {
        const place at = place_of(q, p);
        gather(q, &at, e->x, x);
        find_metric(&at, x, G);
        for (int32_t s = 0; s < CONDITIONS; s++) {
            const double C = condition_of(s, G[s]).value;
            sum += 0.5 * q->stiffness[CONDITIONS * p + s] * C * C;
        }
    }
    return sum;
}

double DRAPE_NAME(drape_i_nodal_dissipations)(const drape_i_nodal *q, const drape_i_evaluation *e, int64_t begin,
                                              int64_t end) {
    double sum = 0, G[CONDITIONS], zeta_v[CONDITIONS];
    ring x, v, zeta[CONDITIONS];
    for (int64_t p = begin; p < end; p++) {
        const place at = place_of(q, p);
        if (!is_damped(q, p)) continue;
        gather(q, &at, drape_i_damping_x(e), x);
        gather(q, &at, e->v, v);
        find_zeta(&at, x, zeta, G);
        find_dots(&at, zeta, v, zeta_v);
        for (int32_t s = 0; s < CONDITIONS; s++) {
            const double rate = condition_of(s, G[s]).d1 * zeta_v[s];
            sum += 0.5 * q->damping[CONDITIONS * p + s] * rate * rate;
        }
    }
    return sum;
}
