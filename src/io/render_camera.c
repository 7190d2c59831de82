/* render_camera.c: a camera of a given direction that sees given points.
 *
 * It sees p where |dot(right, d)| <= a z and |dot(up, d)| <= b z, with d = p - eye and z = -dot(back, d). With q =
 * dot(right, .) and z0 = -dot(back, .) the first is q(p) - a z0(p) <= q(eye) - a z0(eye) and -q(p) - a z0(p) <=
 * -q(eye) - a z0(eye): of all points the two maxima of the left sides are enough. Their sum gives the largest
 * z0(eye), their difference q(eye); likewise up and down. */
#include "base/elementary.h"
#include "io/render.h"

#include <float.h>

/* ---- Boxes ---- */

drape_i_box drape_i_box_empty(void) {
    return (drape_i_box){{DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}};
}

void drape_i_box_add(drape_i_box *box, const double *x) {
    for (int k = 0; k < 3; k++) {
        if (x[k] < box->low[k]) box->low[k] = x[k];
        if (x[k] > box->high[k]) box->high[k] = x[k];
    }
}

void drape_i_box_join(drape_i_box *box, const drape_i_box *other) {
    if (other->low[0] > other->high[0]) return;
    drape_i_box_add(box, other->low);
    drape_i_box_add(box, other->high);
}

double drape_i_box_diagonal(const drape_i_box *box) {
    if (box->low[0] > box->high[0]) return 0;
    return vec3_length(vec3_sub(vec3_at(box->high), vec3_at(box->low)));
}

/* ---- The camera ---- */

static const double FIELD = 0.5;   /* tangent of half the angle between opposite corners of the picture */
static const double FILLED = 0.88; /* share of the picture that what it shows may take, in both directions */

void drape_i_camera_aim(drape_i_camera *c, const drape_render_settings *s) {
    const double degree = 3.14159265358979323846 / 180;
    double a = s->azimuth * degree, e = s->elevation * degree, w = s->width, h = s->height;
    double cos_a = drape_i_cos(a), sin_a = drape_i_sin(a), cos_e = drape_i_cos(e), sin_e = drape_i_sin(e);
    c->back = (vec3){cos_e * cos_a, cos_e * sin_a, sin_e};
    c->right = (vec3){-sin_a, cos_a, 0};
    c->up = (vec3){-sin_e * cos_a, -sin_e * sin_a, cos_e};
    c->focal = 0.5 * sqrt(w * w + h * h) / FIELD;
    c->center[0] = 0.5 * w;
    c->center[1] = 0.5 * h;
}

/* a and b of above. */
static double slope(const drape_i_camera *c, int axis) { return FILLED * c->center[axis] / c->focal; }

drape_i_reach drape_i_reach_empty(void) { return (drape_i_reach){{-DBL_MAX, -DBL_MAX, -DBL_MAX, -DBL_MAX}}; }

void drape_i_reach_add(drape_i_reach *reach, const drape_i_camera *c, const double *x) {
    vec3 p = vec3_at(x);
    double q[2] = {vec3_dot(c->right, p), vec3_dot(c->up, p)}, z = -vec3_dot(c->back, p);
    for (int k = 0; k < 4; k++) {
        double side = (k % 2 ? -q[k / 2] : q[k / 2]) - slope(c, k / 2) * z;
        if (side > reach->beyond[k]) reach->beyond[k] = side;
    }
}

void drape_i_reach_join(drape_i_reach *reach, const drape_i_reach *other) {
    for (int k = 0; k < 4; k++)
        if (other->beyond[k] > reach->beyond[k]) reach->beyond[k] = other->beyond[k];
}

void drape_i_camera_place(drape_i_camera *c, const drape_i_reach *reach, double pad) {
    double q[2], z[2];
    for (int k = 0; k < 2; k++) {
        double plus = reach->beyond[2 * k] + pad, minus = reach->beyond[2 * k + 1] + pad;
        q[k] = 0.5 * (plus - minus);
        z[k] = -0.5 * (plus + minus) / slope(c, k);
    }
    double depth = z[0] < z[1] ? z[0] : z[1];
    vec3 eye = vec3_plus(vec3_scale(q[0], c->right), q[1], c->up);
    c->eye = vec3_plus(eye, -depth, c->back);
}

vec3 drape_i_camera_ray(const drape_i_camera *c, double x, double y) {
    vec3 ahead = vec3_plus(vec3_scale(-1, c->back), (x - c->center[0]) / c->focal, c->right);
    return vec3_plus(ahead, (c->center[1] - y) / c->focal, c->up);
}
