/* fabric_curve.c: fits the tension s of a material that stiffens (bw_stiffened_simd.c) to points of its curve:
 *
 *     s(C) = k C + (K - k) h(C; e),   h = (r(C - e/2)^2 - r(C - 3e/2)^2) / (2 e),   r(z) = max(z, 0).
 *
 * For a given knee e it is linear in k and K - k, which the least squares give. Knees are tried one after the other,
 * in equal ratios between the least and the greatest strain measured, and then between the neighbours of the best. */
#include "fabric_curve.h"

#include <math.h>
#include <stdbool.h>

enum { KNEES = 100, ROUNDS = 4, LEAST_POINTS = 4 };
static const double BETTER = 0.5; /* residual of the curve over that of the line, for the curve to be taken */
static const double GOOD = 0.02;  /* residual of a line that nothing needs to be better than */

static double ramp(double z) { return z > 0 ? z : 0; }

static double beyond(double strain, double knee) {
    const double early = ramp(strain - 0.5 * knee), late = ramp(strain - 1.5 * knee);
    return (early * early - late * late) / (2 * knee);
}

/* Root mean square of forces that tensions k C + d h leave, over that of the forces. */
static double residual_of(const curve_points *points, double k, double d, double knee) {
    double left = 0, all = 0;
    for (int32_t i = 0; i < points->count; i++) {
        const curve_point *p = &points->point[i];
        const double tension = k * p->strain + (d > 0 ? d * beyond(p->strain, knee) : 0);
        const double gap = p->force - p->lever * tension;
        left += gap * gap, all += p->force * p->force;
    }
    return sqrt(left / all);
}

static fitted_curve fit_line(const curve_points *points) {
    double aa = 0, af = 0;
    for (int32_t i = 0; i < points->count; i++) {
        const curve_point *p = &points->point[i];
        const double a = p->lever * p->strain;
        aa += a * a, af += a * p->force;
    }
    fitted_curve line = {.soft = af / aa, .count = points->count};
    line.residual = residual_of(points, line.soft, 0, 0);
    return line;
}

/* False: no such curve, with k > 0 that rises. */
static bool fit_knee(const curve_points *points, double knee, fitted_curve *out) {
    double aa = 0, ab = 0, bb = 0, af = 0, bf = 0;
    for (int32_t i = 0; i < points->count; i++) {
        const curve_point *p = &points->point[i];
        const double a = p->lever * p->strain, b = p->lever * beyond(p->strain, knee);
        aa += a * a, ab += a * b, bb += b * b;
        af += a * p->force, bf += b * p->force;
    }
    const double det = aa * bb - ab * ab;
    if (!(det > 1e-9 * aa * bb)) return false;
    const double k = (bb * af - ab * bf) / det, d = (aa * bf - ab * af) / det;
    *out = (fitted_curve){k, k + d, knee, 0, points->count};
    if (!(k > 0 && d > 0)) return false;
    out->residual = residual_of(points, k, d, knee);
    return true;
}

fitted_curve fit_curve(const curve_points *points) {
    if (points->count == 0) return (fitted_curve){0};
    fitted_curve line = fit_line(points), best = line;
    double least = points->point[0].strain, most = least;
    for (int32_t i = 1; i < points->count; i++) {
        least = fmin(least, points->point[i].strain);
        most = fmax(most, points->point[i].strain);
    }
    if (points->count < LEAST_POINTS || line.residual <= GOOD || !(most > least)) return line;
    for (int32_t round = 0; round < ROUNDS; round++) {
        const double ratio = pow(most / least, 1.0 / (KNEES - 1));
        for (int32_t i = 0; i < KNEES; i++) {
            fitted_curve now;
            if (fit_knee(points, least * pow(ratio, i), &now) && now.residual < best.residual) best = now;
        }
        if (!(best.knee > 0)) break;
        least = best.knee / ratio, most = best.knee * ratio;
    }
    return best.residual <= BETTER * line.residual ? best : line;
}
