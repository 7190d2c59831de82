/* polygon.c: ears are cut off, always the one with the shortest diagonal, which keeps triangles fat.
 *
 * Corners are seen along the normal of Newell's formula, the coordinate in which it is largest left out. A corner is
 * an ear where it is convex and no other corner lies in its triangle or on its rim; corners at the very place of one
 * of its own do not count, so that holes that hang on a double edge pass. A cut changes this only for the
 * corner before and the one after (G. H. Meisters, "Polygons have ears", The American Mathematical Monthly 82,
 * 1975), so that all takes O(corners^2). With no ear left (the polygon crosses itself, or all lies on a line) the
 * shortest diagonal is cut, ear or not. */
#include "io/polygon.h"

#include "base/assert.h"

#include <math.h>

static void newell_normal(const drape_i_polygon *p, double normal[3]) {
    for (int32_t k = 0; k < 3; k++) {
        int32_t u = (k + 1) % 3, v = (k + 2) % 3;
        normal[k] = 0;
        for (int32_t i = 0; i < p->corners; i++) {
            const double *a = p->x[i], *b = p->x[(i + 1) % p->corners];
            normal[k] += (a[u] - b[u]) * (a[v] + b[v]);
        }
    }
}

static void flatten(drape_i_polygon *p) {
    double normal[3];
    int32_t k = 0;
    newell_normal(p, normal);
    if (fabs(normal[1]) > fabs(normal[k])) k = 1;
    if (fabs(normal[2]) > fabs(normal[k])) k = 2;
    for (int32_t i = 0; i < p->corners; i++) {
        p->flat[i][0] = p->x[i][(k + 1) % 3];
        p->flat[i][1] = normal[k] < 0 ? -p->x[i][(k + 2) % 3] : p->x[i][(k + 2) % 3];
    }
}

/* Twice the area of the triangle, positive counter-clockwise. */
static double turn(const double *a, const double *b, const double *c) {
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static bool same(const double *a, const double *b) { return a[0] == b[0] && a[1] == b[1]; }

static bool is_ear(const drape_i_polygon *p, int32_t i) {
    const double *a = p->flat[p->previous[i]], *b = p->flat[i], *c = p->flat[p->next[i]];
    if (!(turn(a, b, c) > 0)) return false;
    for (int32_t j = p->next[p->next[i]]; j != p->previous[i]; j = p->next[j]) {
        const double *q = p->flat[j];
        if (same(q, a) || same(q, b) || same(q, c)) continue;
        if (turn(a, b, q) >= 0 && turn(b, c, q) >= 0 && turn(c, a, q) >= 0) return false;
    }
    return true;
}

static void look_at(drape_i_polygon *p, int32_t i) {
    const double *a = p->x[p->previous[i]], *c = p->x[p->next[i]];
    double u = c[0] - a[0], v = c[1] - a[1], w = c[2] - a[2];
    p->diagonal[i] = u * u + v * v + w * w;
    p->ear[i] = is_ear(p, i);
}

/* Begins behind `first`, so that the diagonal of a square starts at its first corner. */
static int32_t shortest(const drape_i_polygon *p, int32_t first, int32_t left) {
    int32_t best = p->next[first], i = p->next[first];
    for (int32_t k = 0; k < left; k++, i = p->next[i])
        if (p->ear[i] > p->ear[best] || (p->ear[i] == p->ear[best] && p->diagonal[i] < p->diagonal[best])) best = i;
    return best;
}

/* The lowest corner first: a triangle stays as it is. */
static void put_triangle(int32_t out[3], int32_t a, int32_t b, int32_t c) {
    if (b < a && b < c) out[0] = b, out[1] = c, out[2] = a;
    else if (c < a && c < b) out[0] = c, out[1] = a, out[2] = b;
    else out[0] = a, out[1] = b, out[2] = c;
}

void drape_i_polygon_cut(drape_i_polygon *p) {
    int32_t n = p->corners, first = 0;
    DRAPE_ASSERT(n >= 3 && n <= DRAPE_I_POLYGON_MOST);
    flatten(p);
    for (int32_t i = 0; i < n; i++) {
        p->next[i] = (i + 1) % n;
        p->previous[i] = (i + n - 1) % n;
    }
    for (int32_t i = 0; i < n; i++) look_at(p, i);
    for (int32_t t = 0; t < n - 2; t++) {
        int32_t i = shortest(p, first, n - t), a = p->previous[i], c = p->next[i];
        put_triangle(p->triangle[t], a, i, c);
        p->next[a] = c;
        p->previous[c] = a;
        if (first == i) first = c;
        look_at(p, a);
        look_at(p, c);
    }
}
