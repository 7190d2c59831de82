/* nodal_evaluate.c: forces and Jacobians of the membrane `nodal`. nodal.c says what its matrices Q and P are.
 *
 * Conditions on the metric G = x'Qx of a point, and energy, with A the point's area:
 *     C_u = sqrt(G_uu) - 1,  C_v = sqrt(G_vv) - 1,  C_s = G_uv,   E = A/2 (k_u C_u^2 + k_v C_v^2 + k_s C_s^2).
 * For uniform strain that is the energy of triangles. Below LEAST the square root goes on as its tangent.
 *
 * With zeta = 2 Q x, C' = dC/dG, rate = C' zeta.v, and the tension T = A (k C + c rate),
 *     f = -T C' zeta,   K = (A k C'^2 + T C'') zeta zeta' + 2 T C' Q,   D = A c C'^2 zeta zeta'.
 * The semidefinite form keeps the factor of zeta zeta' where it is positive (for c = 0 it always is). Of 2 T C' Q it
 * keeps the positive terms: 2 T C' P where T is positive, else 2 T C' (Q - P). Lagged damping and `exactness` are as in
 * bw_triangle_simd.c. All of the damping's Jacobian adds A c C' zeta q' to K, with q = C'' (zeta.v) zeta + 2 C' Q v.
 *
 * Every point is evaluated once; then every row sums what the points around it left, in a fixed order. Cost for rings
 * of 7: some 1,500 flops for each point and 4,500 for each row of the matrix. */
#include "base/parallel.h"
#include "cloth/nodal.h"
#include "cloth/rings.h"

#include <math.h>

enum { N = DRAPE_I_RING_NODES, CONDITIONS = DRAPE_I_NODAL_CONDITIONS };
enum { GRAIN = 64 }; /* points of a piece of work */

static const double LEAST = 0.25;

/* Factors of a condition's part of the matrix: of zeta zeta', of P, of Q, and of the other vectors. */
enum { ALONG, OF_P, OF_Q, OTHER, NODAL_WEIGHTS };

drape_status drape_i_nodal_state_create(drape_context *ctx, const drape_i_nodal *q, drape_i_nodal_state *s) {
    bool good = DRAPE_NEW(ctx, s->gradient, 9 * q->padded[q->points]) &&
                DRAPE_NEW(ctx, s->other, 9 * q->padded[q->points]) && DRAPE_NEW(ctx, s->vectors, 6 * q->entries) &&
                DRAPE_NEW(ctx, s->weights, NODAL_WEIGHTS * CONDITIONS * (int64_t)q->points);
    return good ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

void drape_i_nodal_state_clear(drape_context *ctx, const drape_i_nodal *q, drape_i_nodal_state *s) {
    if (!q) return;
    DRAPE_FREE(ctx, s->gradient, 9 * q->padded[q->points]);
    DRAPE_FREE(ctx, s->other, 9 * q->padded[q->points]);
    DRAPE_FREE(ctx, s->vectors, 6 * q->entries);
    DRAPE_FREE(ctx, s->weights, NODAL_WEIGHTS * CONDITIONS * (int64_t)q->points);
}

/* ---- one point ---- */

typedef double ring[N][3];

typedef struct place {
    int64_t first, padded, room; /* room: n, and then some, for the vectors */
    int32_t p, n;
} place;

static place place_of(const drape_i_nodal *q, int64_t p) {
    return (place){q->first[p], q->padded[p], q->padded[p + 1] - q->padded[p], (int32_t)p,
                   (int32_t)(q->first[p + 1] - q->first[p])};
}

static const double *matrix_of(const drape_i_nodal *q, const double *of, const place *at, int32_t condition) {
    return of + q->square[at->p] + condition * (int64_t)at->n * at->n;
}

/* Differences against the point itself: rows of matrices sum to zero. */
static void gather(const drape_i_nodal *q, const place *at, const double *y, ring out) {
    const double *y0 = y + 3 * (int64_t)q->node[at->first];
    for (int64_t i = 0; i < at->n; i++) {
        const double *from = y + 3 * (int64_t)q->node[at->first + i];
        for (int32_t k = 0; k < 3; k++) out[i][k] = from[k] - y0[k];
    }
}

static void multiply(int32_t n, double scale, const double *m, const ring y, ring out) {
    for (int32_t i = 0; i < n; i++) {
        double s0 = 0, s1 = 0, s2 = 0;
        for (int32_t j = 0; j < n; j++) {
            const double f = m[(int64_t)i * n + j];
            s0 += f * y[j][0], s1 += f * y[j][1], s2 += f * y[j][2];
        }
        out[i][0] = scale * s0, out[i][1] = scale * s1, out[i][2] = scale * s2;
    }
}

static double dot(int32_t n, const ring a, const ring b) {
    double sum = 0;
    for (int32_t i = 0; i < n; i++) sum += (a[i][0] * b[i][0] + a[i][1] * b[i][1]) + a[i][2] * b[i][2];
    return sum;
}

static void add_scaled(int32_t n, double s, const ring a, ring to) {
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < 3; k++) to[i][k] += s * a[i][k];
}

/* Leaves a condition's vectors as nodal_simd.c reads them. */
static void keep(const place *at, int32_t condition, const ring a, double *to) {
    double *out = to + 9 * at->padded + 3 * condition * at->room;
    for (int64_t i = 0; i < at->n; i++)
        for (int32_t k = 0; k < 3; k++) out[k * at->room + i] = a[i][k];
}

/* C, C' and C''. */
typedef struct condition {
    double value, d1, d2;
} condition;

static condition condition_of(int32_t which, double G) {
    if (which == 2) return (condition){G, 1, 0};
    const double root = sqrt(G > LEAST ? G : LEAST);
    if (G > LEAST) return (condition){root - 1, 0.5 / root, -0.25 / (root * root * root)};
    return (condition){root - 1 + (G - LEAST) * (0.5 / root), 0.5 / root, 0};
}

/* zeta at some positions, and the condition there. */
static condition find_zeta(const drape_i_nodal *q, const place *at, int32_t which, const ring x, ring zeta) {
    multiply(at->n, 2, matrix_of(q, q->metric, at, which), x, zeta);
    return condition_of(which, 0.5 * dot(at->n, zeta, x));
}

typedef struct job {
    drape_context *ctx;
    const drape_i_nodal *q;
    const drape_i_evaluation *at;
    drape_i_nodal_state *state;
} job;

typedef struct point_work {
    ring x, v, lagged; /* the state */
    ring zeta, other;  /* of a condition */
    ring force, product;
} point_work;

/* The share of Q in K: 0 positive semidefinite, 1 exact. */
static double exactness_of(const drape_i_evaluation *at) {
    return at->jacobian == DRAPE_JACOBIAN_PSD ? at->exactness : 1;
}

/* The part of K v that belongs to Q and P. */
static void add_across(const job *j, const place *at, int32_t s, double of_P, double of_Q, point_work *w) {
    if (of_P != 0) {
        multiply(at->n, of_P, matrix_of(j->q, j->q->positive, at, s), w->v, w->other);
        add_scaled(at->n, 1, w->other, w->product);
    }
    if (of_Q != 0) {
        multiply(at->n, of_Q, matrix_of(j->q, j->q->metric, at, s), w->v, w->other);
        add_scaled(at->n, 1, w->other, w->product);
    }
}

/* What DRAPE_DAMPING_FULL adds. */
static void add_unsymmetric(const job *j, const place *at, int32_t s, const condition *C, double c, double zeta_v,
                            double *weights, point_work *w) {
    multiply(at->n, 2 * C->d1, matrix_of(j->q, j->q->metric, at, s), w->v, w->other);
    add_scaled(at->n, C->d2 * zeta_v, w->zeta, w->other);
    keep(at, s, w->other, j->state->other);
    weights[OTHER] = j->at->stiffness * (c * C->d1);
    add_scaled(at->n, c * C->d1 * dot(at->n, w->other, w->v), w->zeta, w->product);
}

/* Force of the damping with the geometry of lagged_x. */
static void add_lagged(const job *j, const place *at, int32_t s, double c, double *weights, point_work *w) {
    const condition D = find_zeta(j->q, at, s, w->lagged, w->other);
    keep(at, s, w->other, j->state->other);
    add_scaled(at->n, -(c * D.d1 * dot(at->n, w->other, w->v)) * D.d1, w->other, w->force);
    weights[OTHER] = j->at->damping * (c * D.d1 * D.d1);
}

static void evaluate_condition(const job *j, const place *at, int32_t s, point_work *w) {
    const int64_t number = CONDITIONS * (int64_t)at->p + s;
    const drape_i_damping damping = drape_i_damping_of(j->at);
    const double k = j->q->stiffness[number], c = j->q->damping[number], exact = exactness_of(j->at);
    double *weights = j->state->weights + NODAL_WEIGHTS * number;
    const condition C = find_zeta(j->q, at, s, w->x, w->zeta);
    const double zeta_v = dot(at->n, w->zeta, w->v), resistance = c * C.d1 * zeta_v;
    const double tension = k * C.value + (damping == DRAPE_I_DAMPING_LAGGED ? 0 : resistance);
    double along = k * C.d1 * C.d1 + tension * C.d2;
    if (along < 0) along *= exact;
    const double across = 2 * tension * C.d1, of_P = (1 - exact) * fabs(across);
    const double of_Q = exact * across + (across < 0 ? (1 - exact) * across : 0);
    keep(at, s, w->zeta, j->state->gradient);
    add_scaled(at->n, -tension * C.d1, w->zeta, w->force);
    weights[ALONG] = j->at->stiffness * along;
    weights[OF_P] = j->at->stiffness * of_P;
    weights[OF_Q] = j->at->stiffness * of_Q;
    weights[OTHER] = 0;
    if (damping != DRAPE_I_DAMPING_LAGGED) weights[ALONG] += j->at->damping * (c * C.d1 * C.d1);
    if (j->at->stiff_v) {
        add_scaled(at->n, along * zeta_v, w->zeta, w->product);
        add_across(j, at, s, of_P, of_Q, w);
    }
    if (damping == DRAPE_I_DAMPING_FULL) add_unsymmetric(j, at, s, &C, c, zeta_v, weights, w);
    if (damping == DRAPE_I_DAMPING_LAGGED) add_lagged(j, at, s, c, weights, w);
}

static void evaluate_points(void *data, int64_t begin, int64_t end) {
    const job *j = data;
    point_work w;
    for (int64_t p = begin; p < end; p++) {
        const place at = place_of(j->q, p);
        gather(j->q, &at, j->at->x, w.x);
        gather(j->q, &at, j->at->v, w.v);
        if (j->at->lagged_x) gather(j->q, &at, j->at->lagged_x, w.lagged);
        for (int32_t i = 0; i < at.n; i++)
            for (int32_t k = 0; k < 3; k++) w.force[i][k] = w.product[i][k] = 0;
        for (int32_t s = 0; s < CONDITIONS; s++) evaluate_condition(j, &at, s, &w);
        for (int64_t i = 0; i < at.n; i++)
            for (int32_t k = 0; k < 3; k++) {
                j->state->vectors[6 * (at.first + i) + k] = w.force[i][k];
                j->state->vectors[6 * (at.first + i) + 3 + k] = w.product[i][k];
            }
    }
}

void drape_i_nodal_evaluate(drape_context *ctx, const drape_i_nodal *q, const drape_i_evaluation *at,
                            drape_i_nodal_state *state) {
    job j = {ctx, q, at, state};
    drape_i_loop(ctx, q->points, GRAIN, evaluate_points, &j);
}

/* ---- rows ---- */

static double identity_part(const double *weights, int32_t which, const double *m, int64_t nn) {
    const double *w = weights + which;
    return (w[0] * m[0] + w[NODAL_WEIGHTS] * m[nn]) + w[2 * NODAL_WEIGHTS] * m[2 * nn];
}

/* One of the factors of each condition, and the vectors of an entry. */
static void load_left(const place *at, int64_t entry, const double *weights, int32_t which, const double *vectors,
                      double w[3], double a[9]) {
    for (int32_t s = 0; s < CONDITIONS; s++) w[s] = weights[NODAL_WEIGHTS * s + which];
    for (int32_t i = 0; i < 9; i++) a[i] = vectors[9 * at->padded + i * at->room + entry];
}

/* What the point of entry e adds to the row of e's vertex. */
static void add_blocks(const job *j, int64_t e, const drape_i_nodal_rows *r) {
    const drape_i_nodal *q = j->q;
    const int32_t vertex = q->node[e];
    double *row = r->val + 9 * r->rowptr[vertex];
    const place at = place_of(q, q->point_of[e]);
    const int64_t nn = (int64_t)at.n * at.n, a = (e - at.first) * at.n, square = q->square[at.p];
    const double *weights = j->state->weights + NODAL_WEIGHTS * CONDITIONS * (int64_t)at.p;
    const double *Q = q->metric + square + a, *P = q->positive + square + a;
    const double *gradient = j->state->gradient, *other = j->state->other;
    const int32_t *slot = r->slot + square / CONDITIONS + a;
    const drape_i_damping damping = drape_i_damping_of(j->at);
    double w[3], left[9], products[2][9 * N];
    load_left(&at, e - at.first, weights, ALONG, gradient, w, left);
    drape_i_nodal_products_at[j->ctx->simd](at.room, w, left, gradient + 9 * at.padded, products[0]);
    if (damping != DRAPE_I_DAMPING_SYMMETRIC) {
        load_left(&at, e - at.first, weights, OTHER, damping == DRAPE_I_DAMPING_LAGGED ? other : gradient, w, left);
        drape_i_nodal_products_at[j->ctx->simd](at.room, w, left, other + 9 * at.padded, products[1]);
    }
    for (int64_t b = 0; b < at.n; b++) {
        if (r->upper && q->node[at.first + b] < vertex) continue;
        double *block = row + 9 * (int64_t)slot[b];
        const double same = identity_part(weights, OF_P, P + b, nn) + identity_part(weights, OF_Q, Q + b, nn);
        for (int32_t i = 0; i < 9; i++) block[i] += products[0][i * at.room + b];
        block[0] += same, block[4] += same, block[8] += same;
        for (int32_t i = 0; i < 9 && damping != DRAPE_I_DAMPING_SYMMETRIC; i++)
            block[i] += products[1][i * at.room + b];
    }
}

void drape_i_nodal_add(drape_context *ctx, const drape_i_nodal *q, const drape_i_evaluation *at,
                       const drape_i_nodal_state *state, const drape_i_nodal_rows *r) {
    const job j = {ctx, q, at, (drape_i_nodal_state *)state};
    for (int64_t i = r->begin; i < r->end; i++)
        for (int64_t l = q->row[i]; l < q->row[i + 1]; l++) {
            const int64_t e = q->row_entry[l];
            const double *vectors = state->vectors + 6 * e;
            for (int32_t k = 0; k < 3 && r->force; k++) r->force[3 * i + k] += vectors[k];
            for (int32_t k = 0; k < 3 && r->stiff_v; k++) r->stiff_v[3 * i + k] += vectors[3 + k];
            if (r->val) add_blocks(&j, e, r);
        }
}

/* ---- energies ---- */

static void sum_energies(void *data, int64_t begin, int64_t end, double *sums) {
    const job *j = data;
    ring x, zeta;
    for (int64_t p = begin; p < end; p++) {
        const place at = place_of(j->q, p);
        gather(j->q, &at, j->at->x, x);
        for (int32_t s = 0; s < CONDITIONS; s++) {
            const double C = find_zeta(j->q, &at, s, x, zeta).value;
            sums[0] += 0.5 * j->q->stiffness[CONDITIONS * p + s] * C * C;
        }
    }
}

double drape_i_nodal_energy(drape_context *ctx, const drape_i_nodal *q, const drape_i_evaluation *at) {
    job j = {ctx, q, at, NULL};
    double total;
    drape_i_sum(ctx, q->points, GRAIN, sum_energies, &j, 1, &total);
    return total;
}

static void sum_dissipations(void *data, int64_t begin, int64_t end, double *sums) {
    const job *j = data;
    ring x, v, zeta;
    for (int64_t p = begin; p < end; p++) {
        const place at = place_of(j->q, p);
        gather(j->q, &at, drape_i_damping_x(j->at), x);
        gather(j->q, &at, j->at->v, v);
        for (int32_t s = 0; s < CONDITIONS; s++) {
            const double slope = find_zeta(j->q, &at, s, x, zeta).d1, rate = slope * dot(at.n, zeta, v);
            sums[0] += 0.5 * j->q->damping[CONDITIONS * p + s] * rate * rate;
        }
    }
}

double drape_i_nodal_dissipation(drape_context *ctx, const drape_i_nodal *q, const drape_i_evaluation *at) {
    job j = {ctx, q, at, NULL};
    double total;
    drape_i_sum(ctx, q->points, GRAIN, sum_dissipations, &j, 1, &total);
    return total;
}
