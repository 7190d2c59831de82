/* validate_rod.c: the elastica,
 *     B th'' + (load (1 - s) + end) cos th = 0
 * over a length of 1 with B = 1, th the slope below the horizontal; th = 0 at the clamp and th' = 0 at the tip. */
#include "validate.h"

#include <math.h>

typedef struct rod {
    double theta, curvature, x, z;
} rod;

static rod rod_rate(rod e, double s, double load, double end) {
    return (rod){e.curvature, -(load * (1 - s) + end) * cos(e.theta), cos(e.theta), -sin(e.theta)};
}

static rod rod_add(rod e, double h, rod d) {
    return (rod){e.theta + h * d.theta, e.curvature + h * d.curvature, e.x + h * d.x, e.z + h * d.z};
}

/* The tip with this curvature at the clamp: Runge-Kutta of order 4. */
static rod rod_shoot(double curvature, double load, double end) {
    enum { STEPS = 400 };
    const double h = 1.0 / STEPS;
    rod e = {0, curvature, 0, 0};
    for (int32_t i = 0; i < STEPS; i++) {
        double s = i * h;
        rod a = rod_rate(e, s, load, end), b = rod_rate(rod_add(e, h / 2, a), s + h / 2, load, end);
        rod c = rod_rate(rod_add(e, h / 2, b), s + h / 2, load, end);
        rod d = rod_rate(rod_add(e, h, c), s + h, load, end);
        e = rod_add(rod_add(e, h / 6, a), h / 3, b);
        e = rod_add(rod_add(e, h / 3, c), h / 6, d);
    }
    return e;
}

rod_tip elastica_tip(double load, double end) {
    double low = 0, high = load / 2 + end; /* the straight rod's curvature is the largest */
    for (int32_t i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (rod_shoot(middle, load, end).curvature > 0) high = middle;
        else low = middle;
    }
    const rod tip = rod_shoot(low, load, end);
    return (rod_tip){-tip.z, tip.x};
}
