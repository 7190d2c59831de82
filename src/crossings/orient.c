/* orient.c: exact signs of the determinants that say on which side a point lies.
 *
 * After J. R. Shewchuk, "Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates",
 * Discrete & Computational Geometry 18, 1997. A number is kept as an expansion: a sum of doubles, smallest first,
 * none of which overlaps another in its bits. Sums and products of expansions are exact; the sign of an expansion is
 * that of its last component, since that one is larger than all the others together.
 *
 * Three stages, each of which ends most of the cases that reach it:
 *
 *   1 plain doubles, where the determinant exceeds a bound of its rounding error           about 30 flops
 *   2 exact, where the differences a - d, b - d, c - d have no rounding error               about 300 flops
 *   3 exact, from the coordinates themselves                                              about 5,000 flops
 *
 * The bound of stage 1. Let u = 2^-53 and P be the determinant with all signs positive (the permanent). Each of the
 * six products is rounded once in each of its 3 differences, 2 multiplications and at most 3 additions. So the error
 * is at most about 8u P, and P itself is computed with a relative error of the same size. The code takes 16u P, the
 * double of that, so that terms of order u^2 need no count. In the plane it is 4u, of which it takes 8u.
 *
 * Range. With coordinates that are 0 or in [2^-250, 2^300] all are multiples of 2^-302, and so are differences.
 * Products of three are multiples of 2^-906 and below 2^904, their sums below 2^908, and the splitting below
 * multiplies by no more than 2^27 + 1. So no result is rounded for being subnormal, which is below 2^-1022, and none
 * is infinite. (16u P is at least 2^-955.)
 *
 * Everything here relies on IEEE doubles rounded to nearest even, without fused multiply-add: the arithmetic contract
 * (docs/architecture.md). */
#include "crossings/orient.h"
#include "base/assert.h"
#include "base/attributes.h"

#include <math.h>
#include <stdbool.h>

/* ---- Sums and products of two doubles: x + y is the exact result, x its rounding ---- */

typedef struct two {
    double x, y;
} two;

DRAPE_INLINE two two_sum(double a, double b) {
    double x = a + b, b_part = x - a, a_part = x - b_part;
    return (two){x, (a - a_part) + (b - b_part)};
}

/* Where |a| >= |b| or a is 0. */
DRAPE_INLINE two fast_two_sum(double a, double b) {
    double x = a + b;
    return (two){x, b - (x - a)};
}

DRAPE_INLINE double difference_error(double a, double b, double x) {
    double b_part = a - x, a_part = x + b_part;
    return (a - a_part) + (b_part - b);
}

/* The upper 26 bits, and the rest, which has no more, thanks to its sign. */
DRAPE_INLINE two split(double a) {
    double c = 0x1.0000002p27 * a; /* 2^27 + 1 */
    double high = c - (c - a);
    return (two){high, a - high};
}

DRAPE_INLINE two two_product(double a, double b) {
    double x = a * b;
    two p = split(a), q = split(b);
    double rest = ((x - p.x * q.x) - p.y * q.x) - p.x * q.y;
    return (two){x, p.y * q.y - rest};
}

/* ---- Expansions, without components that are zero ---- */

enum { MOST_COMPONENTS = 96 };

typedef struct expansion {
    int length; /* 0: the number is zero */
    double part[MOST_COMPONENTS];
} expansion;

static int sign_of(const expansion *e) {
    if (e->length == 0) return 0;
    return e->part[e->length - 1] > 0 ? 1 : -1;
}

DRAPE_INLINE void push(expansion *e, double part) {
    if (part != 0) e->part[e->length++] = part;
}

/* e + f: merged by magnitude, then summed from the smallest on (Shewchuk, theorem 13). */
static void add(const expansion *e, const expansion *f, expansion *sum) {
    double merged[MOST_COMPONENTS];
    int i = 0, j = 0, n = 0;
    DRAPE_ASSERT(e->length + f->length <= MOST_COMPONENTS);
    while (i < e->length && j < f->length)
        merged[n++] = fabs(e->part[i]) < fabs(f->part[j]) ? e->part[i++] : f->part[j++];
    while (i < e->length) merged[n++] = e->part[i++];
    while (j < f->length) merged[n++] = f->part[j++];
    sum->length = 0;
    if (n == 0) return;
    double total = merged[0];
    for (int k = 1; k < n; k++) {
        two t = two_sum(total, merged[k]);
        push(sum, t.y);
        total = t.x;
    }
    push(sum, total);
}

/* b e (Shewchuk, theorem 19). */
static void scale(const expansion *e, double b, expansion *product) {
    product->length = 0;
    if (e->length == 0) return;
    DRAPE_ASSERT(2 * e->length <= MOST_COMPONENTS);
    two first = two_product(e->part[0], b);
    double total = first.x;
    push(product, first.y);
    for (int i = 1; i < e->length; i++) {
        two t = two_product(e->part[i], b);
        two low = two_sum(total, t.y);
        push(product, low.y);
        two high = fast_two_sum(t.x, low.x);
        push(product, high.y);
        total = high.x;
    }
    push(product, total);
}

/* a b - c d, at most 4 components. */
static void cross(double a, double b, double c, double d, expansion *out) {
    two p = two_product(a, b), q = two_product(c, d);
    expansion left, right;
    left.length = right.length = 0; /* and no more: the parts are many */
    push(&left, p.y), push(&left, p.x);
    push(&right, -q.y), push(&right, -q.x);
    add(&left, &right, out);
}

/* x y' - x' y of points p and q. */
static void minor(const double *p, const double *q, int u, int v, expansion *out) {
    cross(p[u], q[v], q[u], p[v], out);
}

/* The minors of p, q and r around: at most 12 components; twice the area of the triangle in the projection. */
static void triple(const double *p, const double *q, const double *r, int u, int v, expansion *out) {
    expansion pq, qr, rp, sum;
    minor(p, q, u, v, &pq);
    minor(q, r, u, v, &qr);
    minor(r, p, u, v, &rp);
    add(&pq, &qr, &sum);
    add(&sum, &rp, out);
}

/* ---- In space ---- */

/* det [p; q; r]. */
static int sign_of_vectors(const double p[3], const double q[3], const double r[3]) {
    expansion m, a, b, c, ab, det;
    minor(q, r, 0, 1, &m), scale(&m, p[2], &a);
    minor(r, p, 0, 1, &m), scale(&m, q[2], &b);
    minor(p, q, 0, 1, &m), scale(&m, r[2], &c);
    add(&a, &b, &ab);
    add(&ab, &c, &det);
    return sign_of(&det);
}

/* det [a 1; b 1; c 1; d 1], along the column of z. */
static int sign_of_points(const double *a, const double *b, const double *c, const double *d) {
    expansion t, p, q, pq, rs, det;
    triple(b, c, d, 0, 1, &t), scale(&t, a[2], &p);
    triple(a, d, c, 0, 1, &t), scale(&t, b[2], &q);
    add(&p, &q, &pq);
    triple(a, b, d, 0, 1, &t), scale(&t, c[2], &p);
    triple(a, c, b, 0, 1, &t), scale(&t, d[2], &q);
    add(&p, &q, &rs);
    add(&pq, &rs, &det);
    return sign_of(&det);
}

/* Whether d, which is p - q as rounded, is p - q. */
DRAPE_INLINE bool exact_difference(const double *p, const double *q, const double d[3]) {
    return difference_error(p[0], q[0], d[0]) == 0 && difference_error(p[1], q[1], d[1]) == 0 &&
           difference_error(p[2], q[2], d[2]) == 0;
}

int drape_i_orient3d(const double *a, const double *b, const double *c, const double *d) {
    const double p[3] = {a[0] - d[0], a[1] - d[1], a[2] - d[2]};
    const double q[3] = {b[0] - d[0], b[1] - d[1], b[2] - d[2]};
    const double r[3] = {c[0] - d[0], c[1] - d[1], c[2] - d[2]};
    double qr = q[0] * r[1], rq = r[0] * q[1];
    double rp = r[0] * p[1], pr = p[0] * r[1];
    double pq = p[0] * q[1], qp = q[0] * p[1];
    double det = (p[2] * (qr - rq) + q[2] * (rp - pr)) + r[2] * (pq - qp);
    double permanent = (fabs(p[2]) * (fabs(qr) + fabs(rq)) + fabs(q[2]) * (fabs(rp) + fabs(pr))) +
                       fabs(r[2]) * (fabs(pq) + fabs(qp));
    double bound = 0x1p-49 * permanent;
    if (det > bound) return 1;
    if (-det > bound) return -1;
    if (permanent == 0) return 0;
    if (exact_difference(a, d, p) && exact_difference(b, d, q) && exact_difference(c, d, r))
        return sign_of_vectors(p, q, r);
    return sign_of_points(a, b, c, d);
}

/* ---- In a plane ---- */

int drape_i_orient2d(const double *a, const double *b, const double *c, int u, int v) {
    double left = (a[u] - c[u]) * (b[v] - c[v]), right = (a[v] - c[v]) * (b[u] - c[u]);
    double det = left - right, bound = 0x1p-50 * (fabs(left) + fabs(right));
    if (det > bound) return 1;
    if (-det > bound) return -1;
    if (bound == 0) return 0;
    expansion exact;
    triple(a, b, c, u, v, &exact);
    return sign_of(&exact);
}
