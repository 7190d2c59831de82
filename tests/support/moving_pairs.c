#include "support/moving_pairs.h"

#include <math.h>
#include <string.h>

/* ---- Distances ---- */

int moving_pair_triangles(drape_ccd_kind kind) { return kind == DRAPE_CCD_VERTEX_FACE ? 1 : 2; }

void moving_pair_corner(drape_ccd_kind kind, int triangle, int corner, int vertex[2]) {
    static const int edge_edge[2][3][2] = {{{0, 2}, {0, 3}, {1, 3}}, {{0, 2}, {1, 3}, {1, 2}}};
    vertex[0] = kind == DRAPE_CCD_VERTEX_FACE ? 0 : edge_edge[triangle][corner][0];
    vertex[1] = kind == DRAPE_CCD_VERTEX_FACE ? 1 + corner : edge_edge[triangle][corner][1];
}

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static double at_weights(double corner[3][3], const double weight[3]) {
    double p[3] = {0};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) p[k] += weight[i] * corner[i][k];
    return dot(p, p);
}

static void nearest_on_edge(double corner[3][3], int i, double *best, double weight[3]) {
    const double *a = corner[i], *b = corner[(i + 1) % 3];
    double ab[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, length = dot(ab, ab), w[3] = {0};
    double s = length > 0 ? fmin(1, fmax(0, -dot(a, ab) / length)) : 0;
    w[i] = 1 - s, w[(i + 1) % 3] = s;
    double d = at_weights(corner, w);
    if (d < *best) *best = d, memcpy(weight, w, sizeof w);
}

double nearest_in_triangle(double corner[3][3], double weight[3]) {
    double best = INFINITY, u[3], v[3];
    for (int i = 0; i < 3; i++) nearest_on_edge(corner, i, &best, weight);
    for (int k = 0; k < 3; k++) u[k] = corner[1][k] - corner[0][k], v[k] = corner[2][k] - corner[0][k];
    double uu = dot(u, u), uv = dot(u, v), vv = dot(v, v), au = -dot(corner[0], u), av = -dot(corner[0], v);
    double det = uu * vv - uv * uv;
    double w[3] = {0, (au * vv - av * uv) / det, (av * uu - au * uv) / det};
    w[0] = 1 - w[1] - w[2];
    if (det > 0 && w[0] >= 0 && w[1] >= 0 && w[2] >= 0) {
        double d = at_weights(corner, w);
        if (d < best) best = d, memcpy(weight, w, sizeof w);
    }
    return best;
}

double moving_pair_distance2(const moving_pair *p, double t, int *triangle, double weight[3]) {
    double best = INFINITY;
    for (int i = 0; i < moving_pair_triangles(p->kind); i++) {
        double corner[3][3], w[3];
        for (int c = 0; c < 3; c++) {
            int v[2];
            moving_pair_corner(p->kind, i, c, v);
            for (int k = 0; k < 3; k++)
                corner[c][k] = (1 - t) * (p->start[3 * v[0] + k] - p->start[3 * v[1] + k]) +
                               t * (p->end[3 * v[0] + k] - p->end[3 * v[1] + k]);
        }
        double d = nearest_in_triangle(corner, w);
        if (d >= best) continue;
        best = d;
        if (triangle) *triangle = i;
        if (weight) memcpy(weight, w, sizeof w);
    }
    return best;
}

static void sample(const moving_pair *p, double from, double to, int count, double *time, double *least) {
    for (int i = 0; i <= count; i++) {
        double t = fmin(1, fmax(0, from + (to - from) * i / count)), d = moving_pair_distance2(p, t, NULL, NULL);
        if (d < *least) *least = d, *time = t;
    }
}

double moving_pair_least_distance(const moving_pair *p, double from, double to) {
    double least = INFINITY, time = 0, width = 1e-3;
    sample(p, 0, 1, 1000, &time, &least);
    sample(p, from, to, 1000, &time, &least);
    for (int i = 0; i < 30; i++, width /= 3) sample(p, time - width, time + width, 20, &time, &least);
    return sqrt(least);
}

double moving_pair_size(const moving_pair *p) {
    double size = 0;
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < 4; i++) {
            low = fmin(low, fmin(p->start[3 * i + k], p->end[3 * i + k]));
            high = fmax(high, fmax(p->start[3 * i + k], p->end[3 * i + k]));
        }
        size = fmax(size, high - low);
    }
    return size;
}

/* ---- Random pairs ---- */

/* A few roundings up or down. */
static double jittered(test_random *r, double x) {
    for (int32_t i = test_random_below(r, 4); i > 0; i--)
        x = nextafter(x, test_random_below(r, 2) ? INFINITY : -INFINITY);
    return x;
}

/* Moves the end of vertex 0 so that the two parts meet at a random time, about, or just at the end of the step, where
 * roundings alone decide. */
static void aim(test_random *r, moving_pair *p) {
    double t = test_random_below(r, 2) ? 1 : test_random_between(r, 0.05, 1), w[3], sum = 0;
    int triangle = test_random_below(r, moving_pair_triangles(p->kind));
    for (int c = 0; c < 3; c++)
        sum += w[c] = test_random_below(r, 6) ? test_random_unit(r) : 0; /* 0: on the border */
    if (sum == 0) w[0] = sum = 1;
    double share = 0; /* of vertex 0 in the mean of the differences */
    for (int c = 0; c < 3; c++) {
        int v[2];
        moving_pair_corner(p->kind, triangle, c, v);
        if (v[0] == 0) share += w[c] / sum;
    }
    if (share < 0.1) return;
    for (int k = 0; k < 3; k++) {
        double e = 0;
        for (int c = 0; c < 3; c++) {
            int v[2];
            moving_pair_corner(p->kind, triangle, c, v);
            e += w[c] / sum *
                 ((1 - t) * (p->start[3 * v[0] + k] - p->start[3 * v[1] + k]) +
                  t * (p->end[3 * v[0] + k] - p->end[3 * v[1] + k]));
        }
        p->end[k] = jittered(r, p->end[k] - e / (t * share));
    }
}

moving_pair random_moving_pair(test_random *r, drape_ccd_kind kind, const pair_recipe *recipe) {
    moving_pair p = {.kind = kind};
    double motion = pow(10, -test_random_below(r, 4)); /* of the size */
    bool flat = test_random_below(r, 8) == 0;          /* all but flat: roots of the determinant nearly coincide */
    for (int i = 0; i < 12; i++) {
        double squeeze = flat && i % 3 == 2 ? 1e-7 : 1;
        p.start[i] = recipe->scale * squeeze * test_random_between(r, -1, 1);
        p.end[i] = p.start[i] + recipe->scale * squeeze * motion * test_random_between(r, -1, 1);
    }
    for (int i = 0; i < 12; i++) {
        double shift = i % 3 == 1 ? -recipe->shift : recipe->shift;
        p.start[i] += shift, p.end[i] += shift;
    }
    if (recipe->touching) aim(r, &p);
    return p;
}
