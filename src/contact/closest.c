/* closest.c: closest points. They need not be exact, because the narrow phase checks everything that uses them. */
#include "contact/closest.h"

#include <math.h>

static void minus(const double *a, const double *b, double out[3]) {
    for (int k = 0; k < 3; k++) out[k] = a[k] - b[k];
}

static double clamp(double t) { return t < 0 ? 0 : t > 1 ? 1 : t; }

/* Where on the segment from a to b the point nearest to p is, in [0, 1]. */
static double on_segment(const double *p, const double *a, const double *b) {
    double d[3], r[3];
    minus(b, a, d);
    minus(p, a, r);
    double length = drape_i_dot3(d, d);
    return length > 0 ? clamp(drape_i_dot3(r, d) / length) : 0;
}

static double distance_to(const double *p, const double *const corner[3], const double b[3]) {
    double e[3];
    for (int k = 0; k < 3; k++) e[k] = p[k] - ((b[0] * corner[0][k] + b[1] * corner[1][k]) + b[2] * corner[2][k]);
    return drape_i_dot3(e, e);
}

/* The nearest of the three edges. */
static void on_border(const double *p, const double *const corner[3], double b[3]) {
    double least = INFINITY;
    b[0] = 1; /* stays only where a number is not finite */
    b[1] = b[2] = 0;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        double t = on_segment(p, corner[i], corner[j]), at[3] = {0};
        at[i] = 1 - t;
        at[j] = t;
        double square = distance_to(p, corner, at);
        if (square < least) {
            least = square;
            for (int k = 0; k < 3; k++) b[k] = at[k];
        }
    }
}

/* Barycentric coordinates of the point of a triangle nearest to p. */
static void on_triangle(const double *p, const double *const corner[3], double b[3]) {
    double u[3], v[3], r[3];
    minus(corner[1], corner[0], u);
    minus(corner[2], corner[0], v);
    minus(p, corner[0], r);
    double uu = drape_i_dot3(u, u), uv = drape_i_dot3(u, v), vv = drape_i_dot3(v, v), ur = drape_i_dot3(u, r),
           vr = drape_i_dot3(v, r);
    double determinant = uu * vv - uv * uv;
    double s = vv * ur - uv * vr, t = uu * vr - uv * ur;
    if (determinant > 1e-14 * uu * vv && s >= 0 && t >= 0 && s + t <= determinant) {
        b[1] = s / determinant;
        b[2] = t / determinant;
        b[0] = 1 - b[1] - b[2];
        b[0] = b[0] < 0 ? 0 : b[0];
    } else {
        on_border(p, corner, b);
    }
}

/* The points of two segments nearest to each other (Ericson 2005, 5.1.9). Where they are parallel, the middle of
 * where they lie side by side would do as well as any other: the ends are tried. */
static void on_segments(const double *const a[2], const double *const b[2], double *s, double *t) {
    double u[3], v[3], r[3];
    minus(a[1], a[0], u);
    minus(b[1], b[0], v);
    minus(a[0], b[0], r);
    double uu = drape_i_dot3(u, u), uv = drape_i_dot3(u, v), vv = drape_i_dot3(v, v), ur = drape_i_dot3(u, r),
           vr = drape_i_dot3(v, r);
    double determinant = uu * vv - uv * uv;
    *s = determinant > 1e-14 * uu * vv ? clamp((uv * vr - vv * ur) / determinant) : 0;
    double at[3];
    for (int k = 0; k < 3; k++) at[k] = a[0][k] + *s * u[k];
    *t = on_segment(at, b[0], b[1]);
    for (int k = 0; k < 3; k++) at[k] = b[0][k] + *t * v[k];
    *s = on_segment(at, a[0], a[1]);
}

void drape_i_closest(drape_ccd_kind kind, const double *x, const int32_t vertex[4], double w[4]) {
    const double *p[4];
    for (int i = 0; i < 4; i++) p[i] = x + 3 * (int64_t)vertex[i];
    if (kind == DRAPE_CCD_VERTEX_FACE) {
        double b[3];
        on_triangle(p[0], p + 1, b);
        w[0] = 1;
        for (int i = 0; i < 3; i++) w[i + 1] = -b[i];
    } else {
        double s, t;
        on_segments(p, p + 2, &s, &t);
        w[0] = 1 - s;
        w[1] = s;
        w[2] = -(1 - t);
        w[3] = -t;
    }
}

void drape_i_between(const double *x, const int32_t vertex[4], const double w[4], double e[3]) {
    double sum[3] = {0}; /* not e, which might be a part of x: the compiler keeps these in registers */
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) sum[k] += w[i] * x[3 * (int64_t)vertex[i] + k];
    for (int k = 0; k < 3; k++) e[k] = sum[k];
}
