/* pose.h: interpolation between keys at increasing times, and rotation by a vector, for moving colliders and pins. */
#ifndef DRAPE_CONTACT_POSE_H
#define DRAPE_CONTACT_POSE_H

#include "base/assert.h"
#include "base/elementary.h"
#include "base/vec3.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Between which of n rising times t is: *i and *i + 1, and how far along; at rest outside of them. Times are `stride`
 * doubles apart. */
DRAPE_INLINE double drape_i_find_time(const double *time, size_t stride, int32_t n, double t, int32_t *i) {
    DRAPE_ASSERT(n >= 1);
    int32_t low = 0, high = n; /* time[low] <= t < time[high], where there are such */
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (time[(size_t)middle * stride] <= t) low = middle;
        else high = middle;
    }
    *i = low;
    if (low + 1 == n || !(t > time[(size_t)low * stride])) return 0;
    return (t - time[(size_t)low * stride]) / (time[(size_t)(low + 1) * stride] - time[(size_t)low * stride]);
}

DRAPE_INLINE double drape_i_between_keys(double a, double b, double share) { return a + share * (b - a); }

/* A turn by |rotation| radians about the direction of `rotation`. */
typedef struct drape_i_turn {
    vec3 axis;
    double cosine, sine;
    bool turned; /* false: not at all */
} drape_i_turn;

DRAPE_INLINE drape_i_turn drape_i_turn_of(vec3 rotation) {
    drape_i_turn t = {.cosine = 1};
    double angle = vec3_length(rotation);
    if (!(angle > 0)) return t;
    t.turned = true;
    t.axis = vec3_scale(1 / angle, rotation);
    t.cosine = drape_i_cos(angle);
    t.sine = drape_i_sin(angle);
    return t;
}

/* R p by Rodrigues' formula, or with sign -1 its inverse. */
DRAPE_INLINE vec3 drape_i_turn_point(const drape_i_turn *t, double sign, vec3 p) {
    if (!t->turned) return p;
    vec3 across = vec3_cross(t->axis, p);
    double along = (1 - t->cosine) * vec3_dot(t->axis, p), s = sign * t->sine;
    return (vec3){(t->cosine * p.x + s * across.x) + along * t->axis.x,
                  (t->cosine * p.y + s * across.y) + along * t->axis.y,
                  (t->cosine * p.z + s * across.z) + along * t->axis.z};
}

#endif
