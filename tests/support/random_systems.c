/* random_systems.c: see random_systems.h. */
#include "support/random_systems.h"

#include "linear/precond.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_GROUP = 4 };

static void *zeros(int64_t count, size_t size) {
    void *memory = calloc((size_t)count + 1, size);
    assert_non_null(memory);
    return memory;
}

/* ---- A ---- */

static int64_t find_block(const drape_bsr3 *A, int32_t i, int32_t j) {
    for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
        if (A->col[k] == j) return k;
    fail_msg("no block (%d, %d)", i, j);
    return -1;
}

void random_add_element(drape_bsr3 *A, const int32_t *nodes, int32_t count, const double *g, double c) {
    for (int32_t a = 0; a < count; a++)
        for (int32_t b = 0; b < count; b++) {
            double *block = A->val + 9 * find_block(A, nodes[a], nodes[b]);
            for (int k = 0; k < 9; k++) block[k] += c * (g[3 * a + k / 3] * g[3 * b + k % 3]);
        }
}

/* Twice as many groups of two to four vertices as there are vertices; the isolated ones are in none. */
static int32_t random_groups(test_random *r, const random_settings *s, int32_t *nodes) {
    int32_t connected = s->rows - (int32_t)(s->isolated * s->rows), count = connected > 1 ? 2 * s->rows : 0;
    int32_t step = s->rows / (connected > 0 ? connected : 1);
    for (int32_t e = 0; e < count; e++) {
        int32_t first = test_random_below(r, connected);
        nodes[MAX_GROUP * e] = first * step;
        for (int32_t a = 1; a < MAX_GROUP; a++)
            nodes[MAX_GROUP * e + a] = (first + test_random_below(r, 6)) % connected * step;
    }
    return count;
}

/* Divides by a bound of the norm, the largest sum of absolute values over a row, and adds 1/(condition - 1). */
static void scale_matrix(drape_bsr3 *A, double condition) {
    double bound = 0;
    for (int32_t i = 0; i < A->rows; i++)
        for (int r = 0; r < 3; r++) {
            double sum = 0;
            for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
                for (int c = 0; c < 3; c++) sum += fabs(A->val[9 * k + 3 * r + c]);
            bound = fmax(bound, sum);
        }
    double least = 1 / (condition - 1), total = 1 + least;
    for (int64_t k = 0; k < 9 * A->rowptr[A->rows]; k++) A->val[k] /= (bound > 0 ? bound : 1) * total;
    for (int32_t i = 0; i < A->rows; i++)
        for (int r = 0; r < 3; r++) A->val[9 * find_block(A, i, i) + 4 * r] += least / total;
}

/* Sums in another order differ in the last bits: the lower triangle is made the upper one's, transposed. */
static void mirror(drape_bsr3 *A) {
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1] && A->col[k] <= i; k++) {
            const double *upper = A->val + 9 * find_block(A, A->col[k], i);
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < (A->col[k] == i ? r : 3); c++) A->val[9 * k + 3 * r + c] = upper[3 * c + r];
        }
}

static void make_matrix(drape_context *ctx, test_random *r, const random_settings *settings, random_system *s) {
    int32_t *nodes = zeros(2 * MAX_GROUP * (int64_t)settings->rows, sizeof *nodes);
    drape_elements set = {MAX_GROUP, random_groups(r, settings, nodes), nodes};
    ASSERT_OK(ctx, drape_matrix_from_elements(ctx, settings->rows, &set, 1, &s->matrix));
    s->A = drape_matrix_view(s->matrix);
    for (int32_t e = 0; e < set.count; e++) {
        double g[3 * MAX_GROUP];
        for (int k = 0; k < 3 * MAX_GROUP; k++) g[k] = test_random_between(r, -1, 1);
        random_add_element(&s->A, nodes + MAX_GROUP * (int64_t)e, MAX_GROUP, g, exp2(test_random_between(r, -4, 0)));
    }
    mirror(&s->A);
    scale_matrix(&s->A, settings->condition);
    free(nodes);
}

/* ---- Constraints ---- */

static long double dot3(const long double *a, const long double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Makes v orthogonal to the first n of d and adds it to them, unless it lies in their span. */
static int32_t extend(long double d[3][3], int32_t n, const long double v[3]) {
    long double w[3];
    long double before = sqrtl(dot3(v, v));
    for (int k = 0; k < 3; k++) w[k] = v[k] / before;
    for (int pass = 0; pass < 3; pass++)
        for (int32_t j = 0; j < n; j++) {
            long double along = dot3(d[j], w);
            for (int k = 0; k < 3; k++) w[k] -= along * d[j][k];
        }
    long double length = sqrtl(dot3(w, w));
    if (length < 1e-3L) return n;
    for (int k = 0; k < 3; k++) d[n][k] = w[k] / length;
    return n + 1;
}

/* Held directions first, then the axes that complete them: the last ones are the free ones. */
static void make_basis(const drape_constraint *c, random_basis *basis, long double fixed[3]) {
    long double d[3][3] = {{0}};
    int32_t n = 0, held = c ? c->directions : 0;
    for (int32_t j = 0; j < held && held < 3; j++) {
        long double v[3] = {c->direction[j][0], c->direction[j][1], c->direction[j][2]};
        n = extend(d, n, v);
    }
    if (held < 3) assert_int_equal(n, held); /* the random directions are well apart */
    for (int axis = 0; axis < 3; axis++) {
        long double v[3] = {axis == 0, axis == 1, axis == 2};
        if (n < 3) n = extend(d, n, v);
    }
    assert_int_equal(n, 3);
    basis->count = 3 - held;
    memcpy(basis->u, d + held, (size_t)basis->count * sizeof *d);
    for (int k = 0; k < 3; k++) fixed[k] = 0;
    for (int32_t j = 0; j < held; j++) {
        long double z[3] = {c->z[0], c->z[1], c->z[2]}, along = dot3(d[j], z);
        for (int k = 0; k < 3; k++) fixed[k] += along * d[j][k];
    }
}

void random_system_hold(drape_context *ctx, random_system *s) {
    ASSERT_OK(ctx, drape_constraints_set(s->set, s->list, s->held));
    s->free = 0;
    for (int32_t i = 0; i < s->rows; i++) {
        const drape_constraint *c = NULL;
        for (int32_t k = 0; k < s->held && !c; k++)
            if (s->list[k].vertex == i) c = &s->list[k];
        make_basis(c, &s->basis[i], s->fixed + 3 * (int64_t)i);
        s->basis[i].first = s->free;
        s->free += s->basis[i].count;
    }
}

static double sine_to_span(const drape_constraint *c, int32_t n) {
    const double *a = c->direction[0], *b = c->direction[n];
    double aa = 0, ab = 0, bb = 0;
    for (int k = 0; k < 3; k++) aa += a[k] * a[k], ab += a[k] * b[k], bb += b[k] * b[k];
    return n == 0 ? bb > 0.01 : sqrt(1 - ab * ab / (aa * bb));
}

/* Directions of any length between 1e-3 and 1e3, at least 0.1 apart. */
static void random_constraint(test_random *r, const random_settings *s, drape_constraint *c) {
    c->directions = s->directions == RANDOM_DIRECTIONS ? test_random_below(r, 4) : s->directions;
    for (int32_t n = 0; n < 2; n++) {
        do
            for (int k = 0; k < 3; k++) c->direction[n][k] = test_random_between(r, -1, 1);
        while (!(sine_to_span(c, n) > 0.1));
    }
    for (int32_t n = 0; n < 2; n++) {
        double length = pow(10, test_random_between(r, -3, 3));
        for (int k = 0; k < 3; k++) c->direction[n][k] *= length;
    }
    for (int k = 0; k < 3; k++) c->z[k] = s->moving ? test_random_between(r, -1, 1) : 0;
}

static void make_constraints(drape_context *ctx, test_random *r, const random_settings *settings, random_system *s) {
    int32_t *order = zeros(s->rows, sizeof *order);
    s->held = (int32_t)ceil(settings->held * s->rows);
    s->list = zeros(s->held, sizeof *s->list);
    for (int32_t i = 0; i < s->rows; i++) order[i] = i;
    for (int32_t k = 0; k < s->held; k++) {
        int32_t other = k + test_random_below(r, s->rows - k), swap = order[k];
        order[k] = order[other];
        order[other] = swap;
        s->list[k].vertex = order[k];
        random_constraint(r, settings, &s->list[k]);
    }
    free(order);
    ASSERT_OK(ctx, drape_constraints_create(ctx, s->rows, &s->set));
    random_system_hold(ctx, s);
}

random_system random_system_create(drape_context *ctx, const random_settings *settings) {
    test_random r = {settings->seed};
    random_system s = {.rows = settings->rows};
    make_matrix(ctx, &r, settings, &s);
    s.b = zeros(3 * (int64_t)s.rows, sizeof *s.b);
    s.basis = zeros(s.rows, sizeof *s.basis);
    s.fixed = zeros(3 * (int64_t)s.rows, sizeof *s.fixed);
    for (int64_t i = 0; i < 3 * (int64_t)s.rows; i++) s.b[i] = test_random_between(&r, -1, 1);
    make_constraints(ctx, &r, settings, &s);
    return s;
}

void random_system_destroy(random_system *s) {
    drape_constraints_destroy(s->set);
    drape_matrix_destroy(s->matrix);
    free(s->b);
    free(s->list);
    free(s->basis);
    free(s->fixed);
}

/* ---- The reduced system ---- */

long double *random_reduced_matrix(const random_system *s) {
    long double *out = zeros((int64_t)s->free * s->free, sizeof *out);
    for (int32_t i = 0; i < s->rows; i++)
        for (int64_t k = s->A.rowptr[i]; k < s->A.rowptr[i + 1]; k++) {
            const random_basis *p = &s->basis[i], *q = &s->basis[s->A.col[k]];
            for (int32_t a = 0; a < p->count; a++)
                for (int32_t b = 0; b < q->count; b++) {
                    long double sum = 0;
                    for (int e = 0; e < 9; e++) sum += p->u[a][e / 3] * s->A.val[9 * k + e] * q->u[b][e % 3];
                    out[(int64_t)(p->first + a) * s->free + q->first + b] = sum;
                }
        }
    return out;
}

static void defect(const random_system *s, const long double *x, long double *out) {
    for (int32_t i = 0; i < s->rows; i++)
        for (int r = 0; r < 3; r++) {
            long double sum = -(long double)s->b[3 * (int64_t)i + r];
            for (int64_t k = s->A.rowptr[i]; k < s->A.rowptr[i + 1]; k++)
                for (int c = 0; c < 3; c++) sum += s->A.val[9 * k + 3 * r + c] * x[3 * (int64_t)s->A.col[k] + c];
            out[3 * (int64_t)i + r] = sum;
        }
}

void random_defect(const random_system *s, const double *x, long double *out) {
    long double *copy = zeros(3 * (int64_t)s->rows, sizeof *copy);
    for (int64_t i = 0; i < 3 * (int64_t)s->rows; i++) copy[i] = x[i];
    defect(s, copy, out);
    free(copy);
}

static void reduce(const random_system *s, const long double *x, long double *reduced) {
    for (int32_t i = 0; i < s->rows; i++)
        for (int32_t a = 0; a < s->basis[i].count; a++)
            reduced[s->basis[i].first + a] = dot3(s->basis[i].u[a], x + 3 * (int64_t)i);
}

void random_reduce(const random_system *s, const double *x, long double *reduced) {
    long double *copy = zeros(3 * (int64_t)s->rows, sizeof *copy);
    for (int64_t i = 0; i < 3 * (int64_t)s->rows; i++) copy[i] = x[i];
    reduce(s, copy, reduced);
    free(copy);
}

long double *random_reduced_rhs(const random_system *s) {
    long double *r = zeros(3 * (int64_t)s->rows, sizeof *r), *out = zeros(s->free, sizeof *out);
    defect(s, s->fixed, r);
    reduce(s, r, out);
    for (int32_t i = 0; i < s->free; i++) out[i] = -out[i];
    free(r);
    return out;
}

void random_expand(const random_system *s, const long double *reduced, double *x) {
    for (int32_t i = 0; i < s->rows; i++)
        for (int k = 0; k < 3; k++) {
            long double sum = s->fixed[3 * (int64_t)i + k];
            for (int32_t a = 0; a < s->basis[i].count; a++)
                sum += reduced[s->basis[i].first + a] * s->basis[i].u[a][k];
            x[3 * (int64_t)i + k] = (double)sum;
        }
}

void long_double_solve(int32_t n, long double *A, long double *b) {
    for (int64_t j = 0; j < n; j++) {
        for (int64_t k = 0; k < j; k++) A[j * n + j] -= A[j * n + k] * A[j * n + k];
        assert_true(A[j * n + j] > 0);
        A[j * n + j] = sqrtl(A[j * n + j]);
        for (int64_t i = j + 1; i < n; i++) {
            for (int64_t k = 0; k < j; k++) A[i * n + j] -= A[i * n + k] * A[j * n + k];
            A[i * n + j] /= A[j * n + j];
        }
    }
    for (int64_t i = 0; i < n; i++) { /* b = L^-1 b */
        for (int64_t k = 0; k < i; k++) b[i] -= A[i * n + k] * b[k];
        b[i] /= A[i * n + i];
    }
    for (int64_t i = n - 1; i >= 0; i--) { /* b = L'^-1 b */
        for (int64_t k = i + 1; k < n; k++) b[i] -= A[k * n + i] * b[k];
        b[i] /= A[i * n + i];
    }
}

void random_reference(const random_system *s, double *x) {
    long double *A = random_reduced_matrix(s), *b = random_reduced_rhs(s);
    long_double_solve(s->free, A, b);
    random_expand(s, b, x);
    free(A);
    free(b);
}

static void swap(long double *a, long double *b) {
    long double t = *a;
    *a = *b, *b = t;
}

/* The same for any A, with pivots. */
static void long_double_eliminate(int32_t n, long double *A, long double *b) {
    for (int64_t i = 0; i < n; i++) {
        int64_t pivot = i;
        for (int64_t r = i + 1; r < n; r++)
            if (fabsl(A[r * n + i]) > fabsl(A[pivot * n + i])) pivot = r;
        assert_true(A[pivot * n + i] != 0);
        for (int64_t j = 0; j < n; j++) swap(&A[i * n + j], &A[pivot * n + j]);
        swap(&b[i], &b[pivot]);
        for (int64_t r = i + 1; r < n; r++) {
            long double factor = A[r * n + i] / A[i * n + i];
            for (int64_t j = i; j < n; j++) A[r * n + j] -= factor * A[i * n + j];
            b[r] -= factor * b[i];
        }
    }
    for (int64_t i = n - 1; i >= 0; i--) {
        for (int64_t k = i + 1; k < n; k++) b[i] -= A[i * n + k] * b[k];
        b[i] /= A[i * n + i];
    }
}

void random_reference_unsymmetric(const random_system *s, double *x) {
    long double *A = random_reduced_matrix(s), *b = random_reduced_rhs(s);
    long_double_eliminate(s->free, A, b);
    random_expand(s, b, x);
    free(A);
    free(b);
}

void random_add_skew(drape_bsr3 *A, test_random *r, double strength) {
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1] && A->col[k] <= i; k++) {
            double *block = A->val + 9 * k, *mirror = A->val + 9 * find_block(A, A->col[k], i);
            for (int row = 0; row < 3; row++)
                for (int c = 0; c < (A->col[k] == i ? row : 3); c++) {
                    double add = test_random_between(r, -strength, strength);
                    block[3 * row + c] += add;
                    mirror[3 * c + row] -= add;
                }
        }
}

double random_true_residual(const random_system *s, const double *x) {
    long double *full = zeros(3 * (int64_t)s->rows, sizeof *full), *r = zeros(s->free, sizeof *r);
    long double *rhs = random_reduced_rhs(s), size = 0, scale = 0;
    random_defect(s, x, full);
    reduce(s, full, r);
    for (int32_t i = 0; i < s->free; i++) size += r[i] * r[i], scale += rhs[i] * rhs[i];
    free(full);
    free(r);
    free(rhs);
    return (double)sqrtl(scale > 0 ? size / scale : size);
}

/* Column by column: U'P^-1 of a column of U. */
static void probe(drape_context *ctx, const random_system *s, const drape_i_precond *P, void *state,
                  long double *out) {
    double *r = zeros(3 * (int64_t)s->rows, sizeof *r), *h = zeros(3 * (int64_t)s->rows, sizeof *h);
    long double *column = zeros(s->free, sizeof *column);
    for (int32_t i = 0; i < s->rows; i++)
        for (int32_t a = 0; a < s->basis[i].count; a++) {
            for (int k = 0; k < 3; k++) r[3 * i + k] = (double)s->basis[i].u[a][k];
            P->apply(ctx, state, r, h);
            random_reduce(s, h, column);
            for (int32_t k = 0; k < s->free; k++) out[(int64_t)k * s->free + s->basis[i].first + a] = column[k];
            for (int k = 0; k < 3; k++) r[3 * i + k] = 0;
        }
    free(r);
    free(h);
    free(column);
}

long double *random_reduced_precond(drape_context *ctx, const random_system *s, const char *precond,
                                    bool prefiltered) {
    const drape_i_precond *P = drape_i_precond_find(precond);
    const drape_solve_settings settings = drape_solve_defaults();
    long double *out = zeros((int64_t)s->free * s->free, sizeof *out);
    void *state;
    assert_non_null(P);
    ASSERT_OK(ctx, P->create(ctx, &s->A, &settings, &state));
    double shift = 0;
    const drape_problem problem = {.A = &s->A};
    ASSERT_OK(ctx, P->refresh(ctx, state, &problem, prefiltered ? s->set : NULL, NULL, &shift));
    probe(ctx, s, P, state, out);
    P->destroy(ctx, state);
    return out;
}

double norm_of(int64_t n, const double *x) {
    long double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (long double)x[i] * x[i];
    return (double)sqrtl(sum);
}

double distance_of(int64_t n, const double *x, const double *y) {
    long double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += ((long double)x[i] - y[i]) * ((long double)x[i] - y[i]);
    return (double)sqrtl(sum);
}
