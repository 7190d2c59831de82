/* nodal_evaluate.c: forces and Jacobians of the membrane `nodal`. nodal.c says what its matrices Q and P are.
 *
 * Conditions on the metric G = x'Qx of a point, and energy, with A the point's area:
 *     C_u = sqrt(G_uu) - 1,  C_v = sqrt(G_vv) - 1,  C_s = G_uv,   E = A/2 (k_u C_u^2 + k_v C_v^2 + k_s C_s^2).
 * For uniform strain that is the energy of triangles. Below LEAST the square root goes on as its tangent.
 *
 * With zeta = 2 Q x, C' = dC/dG, rate = C' zeta.v, and the tension T = A (k C + c rate),
 *     f = -T C' zeta,   K = (A k C'^2 + T C'') zeta zeta' + 2 T C' Q,   D = A c C'^2 zeta zeta'.
 * The semidefinite form keeps the factor of zeta zeta' where it is positive (for c = 0 it always is). Of 2 T C' Q it
 * keeps the positive terms: 2 T C' P where T is positive, else 2 T C' (Q - P). Lagged damping and `exactness` are as
 * in bw_triangle_simd.c. All of the damping's Jacobian adds A c C' zeta q' to K, with q = C'' (zeta.v) zeta + 2 C' Q
 * v.
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

/* Factors of a condition's part of the matrix: of zeta zeta', and of the other vectors. */
enum { ALONG, OTHER, NODAL_WEIGHTS };

drape_status drape_i_nodal_state_create(drape_context *ctx, const drape_i_nodal *q, drape_i_nodal_state *s) {
    bool good = DRAPE_NEW(ctx, s->gradient, 9 * q->padded[q->points]) &&
                DRAPE_NEW(ctx, s->other, 9 * q->padded[q->points]) && DRAPE_NEW(ctx, s->vectors, 6 * q->entries) &&
                DRAPE_NEW(ctx, s->weights, NODAL_WEIGHTS * CONDITIONS * (int64_t)q->points) &&
                DRAPE_NEW(ctx, s->same, q->numbers / CONDITIONS);
    return good ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

void drape_i_nodal_state_clear(drape_context *ctx, const drape_i_nodal *q, drape_i_nodal_state *s) {
    if (!q) return;
    DRAPE_FREE(ctx, s->gradient, 9 * q->padded[q->points]);
    DRAPE_FREE(ctx, s->other, 9 * q->padded[q->points]);
    DRAPE_FREE(ctx, s->vectors, 6 * q->entries);
    DRAPE_FREE(ctx, s->weights, NODAL_WEIGHTS * CONDITIONS * (int64_t)q->points);
    DRAPE_FREE(ctx, s->same, q->numbers / CONDITIONS);
}

/* ---- one point ---- */

/* Three components, which are zero from n up to the room. */
typedef double ring[3][N];

typedef struct place {
    int64_t first, padded, room; /* room: n, and then some, for the vectors */
    int32_t p, n;
} place;

static place place_of(const drape_i_nodal *q, int64_t p) {
    return (place){q->first[p], q->padded[p], q->padded[p + 1] - q->padded[p], (int32_t)p,
                   (int32_t)(q->first[p + 1] - q->first[p])};
}

typedef struct job {
    drape_context *ctx;
    const drape_i_nodal *q;
    const drape_i_evaluation *at;
    drape_i_nodal_state *state;
} job;

static const double *matrix_of(const drape_i_nodal *q, const double *of, const place *at, int32_t condition) {
    return of + q->square[at->p] + condition * (int64_t)at->n * at->room;
}

/* Differences against the point itself: rows of matrices sum to zero. */
static void gather(const drape_i_nodal *q, const place *at, const double *y, ring out) {
    const double *y0 = y + 3 * (int64_t)q->node[at->first];
    for (int64_t i = 0; i < at->n; i++) {
        const double *from = y + 3 * (int64_t)q->node[at->first + i];
        for (int32_t k = 0; k < 3; k++) out[k][i] = from[k] - y0[k];
    }
    for (int64_t i = at->n; i < at->room; i++) out[0][i] = out[1][i] = out[2][i] = 0;
}

static void multiply(const job *j, const place *at, double scale, const double *m, const ring y, ring out) {
    drape_i_nodal_multiply_at[j->ctx->simd](at->n, at->room, scale, m, y[0], out[0]);
}

static double dot(const place *at, const ring a, const ring b) {
    double s0 = 0, s1 = 0, s2 = 0;
    for (int64_t i = 0; i < at->n; i++) s0 += a[0][i] * b[0][i], s1 += a[1][i] * b[1][i], s2 += a[2][i] * b[2][i];
    return (s0 + s1) + s2;
}

static void add_scaled(const place *at, double s, const ring a, ring to) {
    for (int32_t k = 0; k < 3; k++)
        for (int64_t i = 0; i < at->room; i++) to[k][i] += s * a[k][i];
}

/* Leaves a condition's vectors as nodal_simd.c reads them. */
static void keep(const place *at, int32_t condition, const ring a, double *to) {
    double *out = to + 9 * at->padded + 3 * condition * at->room;
    for (int32_t k = 0; k < 3; k++)
        for (int64_t i = 0; i < at->room; i++) out[k * at->room + i] = a[k][i];
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
static condition find_zeta(const job *j, const place *at, int32_t which, const ring x, ring zeta) {
    multiply(j, at, 2, matrix_of(j->q, j->q->metric, at, which), x, zeta);
    return condition_of(which, 0.5 * dot(at, zeta, x));
}

typedef struct point_work {
    ring x, v, lagged; /* the state */
    ring zeta, other;  /* of a condition */
    ring force, product;
    double of_P[CONDITIONS], of_Q[CONDITIONS]; /* factors of P and Q in K */
} point_work;

/* The share of Q in K: 0 positive semidefinite, 1 exact. */
static double exactness_of(const drape_i_evaluation *at) {
    return at->jacobian == DRAPE_JACOBIAN_PSD ? at->exactness : 1;
}

/* What DRAPE_DAMPING_FULL adds. */
static void add_unsymmetric(const job *j, const place *at, int32_t s, const condition *C, double c, double zeta_v,
                            double *weights, point_work *w) {
    multiply(j, at, 2 * C->d1, matrix_of(j->q, j->q->metric, at, s), w->v, w->other);
    add_scaled(at, C->d2 * zeta_v, w->zeta, w->other);
    keep(at, s, w->other, j->state->other);
    weights[OTHER] = j->at->stiffness * (c * C->d1);
    add_scaled(at, c * C->d1 * dot(at, w->other, w->v), w->zeta, w->product);
}

/* Force of the damping with the geometry of lagged_x. */
static void add_lagged(const job *j, const place *at, int32_t s, double c, double *weights, point_work *w) {
    const condition D = find_zeta(j, at, s, w->lagged, w->other);
    keep(at, s, w->other, j->state->other);
    add_scaled(at, -(c * D.d1 * dot(at, w->other, w->v)) * D.d1, w->other, w->force);
    weights[OTHER] = j->at->damping * (c * D.d1 * D.d1);
}

static void evaluate_condition(const job *j, const place *at, int32_t s, point_work *w) {
    const int64_t number = CONDITIONS * (int64_t)at->p + s;
    const drape_i_damping damping = drape_i_damping_of(j->at);
    const double k = j->q->stiffness[number], c = j->q->damping[number], exact = exactness_of(j->at);
    double *weights = j->state->weights + NODAL_WEIGHTS * number;
    const condition C = find_zeta(j, at, s, w->x, w->zeta);
    const double zeta_v = dot(at, w->zeta, w->v), resistance = c * C.d1 * zeta_v;
    const double tension = k * C.value + (damping == DRAPE_I_DAMPING_LAGGED ? 0 : resistance);
    double along = k * C.d1 * C.d1 + tension * C.d2;
    if (along < 0) along *= exact;
    const double across = 2 * tension * C.d1;
    w->of_P[s] = (1 - exact) * fabs(across);
    w->of_Q[s] = exact * across + (across < 0 ? (1 - exact) * across : 0);
    keep(at, s, w->zeta, j->state->gradient);
    add_scaled(at, -tension * C.d1, w->zeta, w->force);
    weights[ALONG] = j->at->stiffness * along;
    weights[OTHER] = 0;
    if (damping != DRAPE_I_DAMPING_LAGGED) weights[ALONG] += j->at->damping * (c * C.d1 * C.d1);
    if (j->at->stiff_v) add_scaled(at, along * zeta_v, w->zeta, w->product);
    if (damping == DRAPE_I_DAMPING_FULL) add_unsymmetric(j, at, s, &C, c, zeta_v, weights, w);
    if (damping == DRAPE_I_DAMPING_LAGGED) add_lagged(j, at, s, c, weights, w);
}

/* P and Q of all conditions with their factors, times v, and for the rows of the matrix. */
static void merge_conditions(const job *j, const place *at, point_work *w) {
    const int64_t count = at->n * at->room, square = j->q->square[at->p];
    double *same = j->state->same + square / CONDITIONS;
    if (!j->at->stiff_v && !j->at->matrix) return;
    drape_i_nodal_merge_at[j->ctx->simd](count, w->of_P, w->of_Q, j->q->positive + square, j->q->metric + square,
                                         same);
    if (j->at->stiff_v) {
        multiply(j, at, 1, same, w->v, w->other);
        add_scaled(at, 1, w->other, w->product);
    }
    for (int64_t i = 0; i < count && j->at->matrix; i++) same[i] *= j->at->stiffness;
}

static void evaluate_points(void *data, int64_t begin, int64_t end) {
    const job *j = data;
    point_work w;
    for (int64_t p = begin; p < end; p++) {
        const place at = place_of(j->q, p);
        gather(j->q, &at, j->at->x, w.x);
        gather(j->q, &at, j->at->v, w.v);
        if (j->at->lagged_x) gather(j->q, &at, j->at->lagged_x, w.lagged);
        for (int32_t k = 0; k < 3; k++)
            for (int64_t i = 0; i < at.room; i++) w.force[k][i] = w.product[k][i] = 0;
        for (int32_t s = 0; s < CONDITIONS; s++) evaluate_condition(j, &at, s, &w);
        merge_conditions(j, &at, &w);
        for (int64_t i = 0; i < at.n; i++)
            for (int32_t k = 0; k < 3; k++) {
                j->state->vectors[6 * (at.first + i) + k] = w.force[k][i];
                j->state->vectors[6 * (at.first + i) + 3 + k] = w.product[k][i];
            }
    }
}

void drape_i_nodal_evaluate(drape_context *ctx, const drape_i_nodal *q, const drape_i_evaluation *at,
                            drape_i_nodal_state *state) {
    job j = {ctx, q, at, state};
    drape_i_loop(ctx, q->points, GRAIN, evaluate_points, &j);
}

/* ---- rows ---- */

/* The vectors of an entry, with one of the factors of each condition. */
static void load_left(const place *at, int64_t entry, const double *weights, int32_t which, const double *vectors,
                      double w[3], double a[9]) {
    for (int32_t s = 0; s < CONDITIONS; s++) w[s] = weights[NODAL_WEIGHTS * s + which];
    for (int32_t i = 0; i < 9; i++) a[i] = vectors[9 * at->padded + i * at->room + entry];
}

static void add_block(int64_t room, const double *from, double *block) {
    for (int32_t i = 0; i < 9; i++) block[i] += from[i * room];
}

/* What the point of entry e adds to the row of e's vertex. */
static void add_blocks(const job *j, int64_t e, const drape_i_nodal_rows *r) {
    static const double nothing[N] = {0};
    const drape_i_nodal *q = j->q;
    const int32_t vertex = q->node[e];
    double *row = r->val + 9 * r->rowptr[vertex];
    const place at = place_of(q, q->point_of[e]);
    const int64_t a = e - at.first, square = q->square[at.p] / CONDITIONS + a * at.room;
    const double *weights = j->state->weights + NODAL_WEIGHTS * CONDITIONS * (int64_t)at.p;
    const double *gradient = j->state->gradient, *other = j->state->other;
    const int32_t *slot = r->slot + square, *node = q->node + at.first;
    const drape_i_damping damping = drape_i_damping_of(j->at);
    double w[3], left[9], products[2][9 * N];
    load_left(&at, a, weights, ALONG, gradient, w, left);
    drape_i_nodal_products_at[j->ctx->simd](at.room, w, left, j->state->same + square, gradient + 9 * at.padded,
                                            products[0]);
    if (damping != DRAPE_I_DAMPING_SYMMETRIC) {
        load_left(&at, a, weights, OTHER, damping == DRAPE_I_DAMPING_LAGGED ? other : gradient, w, left);
        drape_i_nodal_products_at[j->ctx->simd](at.room, w, left, nothing, other + 9 * at.padded, products[1]);
        for (int64_t i = 0; i < 9 * at.room; i++) products[0][i] += products[1][i];
    }
    for (int64_t b = 0; b < at.n; b++)
        if (!r->upper || node[b] >= vertex) add_block(at.room, products[0] + b, row + 9 * (int64_t)slot[b]);
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
            const double C = find_zeta(j, &at, s, x, zeta).value;
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
            const double slope = find_zeta(j, &at, s, x, zeta).d1, rate = slope * dot(&at, zeta, v);
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
