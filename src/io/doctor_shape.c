/* doctor_shape.c: triangles that are too thin to be cloth, material space that is none, and sizes that are no metres.
 */
#include "base/elementary.h"
#include "base/vec3.h"
#include "cloth/rest.h"
#include "io/doctor.h"

#include <math.h>

static const double DEGREES = 57.295779513082320877; /* per radian */

typedef struct shape {
    drape_i_doctor *d;
    const drape_piece *p;
    double solid, flat;        /* areas in space and in material space, m^2 */
    int32_t upright, inverted; /* triangles by their winding in material space */
    drape_i_ailment no_area, folded, no_pattern, thin;
} shape;

/* ---- single triangles ---- */

static vec3 corner(const drape_piece *p, int32_t t, int32_t k) {
    return vec3_at(p->rest + 3 * (int64_t)p->triangle[3 * (int64_t)t + k]);
}

static bool is_finite(vec3 x) { return isfinite(x.x) && isfinite(x.y) && isfinite(x.z); }

/* Twice the signed area in material space. */
static double pattern_turn(const drape_piece *p, int32_t t) {
    const int32_t *m = (p->uv_triangle ? p->uv_triangle : p->triangle) + 3 * (int64_t)t;
    const double *a = p->uv + 2 * (int64_t)m[0], *b = p->uv + 2 * (int64_t)m[1], *c = p->uv + 2 * (int64_t)m[2];
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/* The smallest angle lies opposite the shortest edge. */
static double smallest_angle(const vec3 x[3], double *longest2, double *twice_area) {
    double least = INFINITY, cosine = 0;
    *longest2 = 0;
    for (int32_t k = 0; k < 3; k++) {
        vec3 a = vec3_sub(x[(k + 1) % 3], x[k]), b = vec3_sub(x[(k + 2) % 3], x[k]);
        vec3 opposite = vec3_sub(b, a);
        double length2 = vec3_dot(opposite, opposite);
        *longest2 = fmax(*longest2, length2);
        if (length2 >= least) continue;
        least = length2;
        cosine = vec3_dot(a, b);
        *twice_area = vec3_length(vec3_cross(a, b));
    }
    return drape_i_atan2(*twice_area, cosine) * DEGREES;
}

/* Whether a cloth can be made of it is asked of whoever makes the cloth. */
static void look_at_triangle(shape *s, int32_t t) {
    const double least_area = 1e-12, least_angle = 1; /* of the longest edge's square; degrees */
    const vec3 x[3] = {corner(s->p, t, 0), corner(s->p, t, 1), corner(s->p, t, 2)};
    const int32_t *v = s->p->triangle + 3 * (int64_t)t;
    const drape_i_about about = {3, v, 1, &t};
    drape_i_rest_triangle rest;
    double longest2, twice_area = 0;
    if (!is_finite(x[0]) || !is_finite(x[1]) || !is_finite(x[2])) return;
    double angle = smallest_angle(x, &longest2, &twice_area);
    bool refused = drape_i_rest_triangle_find(s->d->ctx, 0, s->p, t, &rest) != DRAPE_OK;
    bool no_area = !(twice_area > least_area * longest2);
    s->solid += 0.5 * twice_area;
    if (refused && s->p->uv)
        drape_i_found(s->d, &s->no_pattern, &about, "triangle %d (vertices %d, %d, %d) has no area in material space",
                      t, v[0], v[1], v[2]);
    if (no_area || (refused && !s->p->uv))
        drape_i_found(s->d, s->p->uv ? &s->folded : &s->no_area, &about,
                      "triangle %d (vertices %d, %d, %d) has no area", t, v[0], v[1], v[2]);
    else if (angle < least_angle)
        drape_i_found(s->d, &s->thin, &about, "triangle %d (vertices %d, %d, %d) has an angle of %.2g degrees", t,
                      v[0], v[1], v[2], angle);
}

static void look_at_triangles(shape *s) {
    static const char thin[] = "remesh there, or merge vertices that lie close together: the solver slows down";
    static const char none[] = "delete it, or merge its vertices (Blender: Mesh > Clean Up > Degenerate Dissolve)";
    s->no_area = (drape_i_ailment){DRAPE_SEVERITY_ERROR, "degenerate-triangle", none, 0};
    s->folded = (drape_i_ailment){DRAPE_SEVERITY_WARNING, "degenerate-triangle", none, 0};
    s->no_pattern = (drape_i_ailment){DRAPE_SEVERITY_ERROR, "uv-zero-area",
                                      "unwrap the mesh anew, or do without texture coordinates: uv: false", 0};
    s->thin = (drape_i_ailment){DRAPE_SEVERITY_WARNING, "thin-triangle", thin, 0};
    for (int32_t t = 0; t < s->p->triangles; t++) look_at_triangle(s, t);
    drape_i_found_all(s->d, &s->no_area);
    drape_i_found_all(s->d, &s->folded);
    drape_i_found_all(s->d, &s->no_pattern);
    drape_i_found_all(s->d, &s->thin);
}

/* ---- material space as a whole ---- */

static void report_inverted(shape *s) {
    drape_i_ailment kind = {
        DRAPE_SEVERITY_WARNING, "uv-inverted",
        "fine where a panel is mirrored on purpose; else unwrap the mesh anew, the pattern is folded", 0};
    bool upright_is_wrong = s->upright < s->inverted;
    for (int32_t t = 0; t < s->p->triangles; t++) {
        double turn = pattern_turn(s->p, t);
        if (upright_is_wrong ? turn > 0 : turn < 0)
            drape_i_found(s->d, &kind, &(drape_i_about){3, s->p->triangle + 3 * (int64_t)t, 1, &t},
                          "triangle %d is turned over in material space, unlike most", t);
    }
    drape_i_found_all(s->d, &kind);
}

/* Scenes are refused for this by their reader, which knows uv_scale. */
static void report_no_lengths(shape *s) {
    const double most = 2;
    drape_i_ailment kind = {DRAPE_SEVERITY_WARNING, "uv-no-lengths",
                            "in a scene, write uv: false to do without them, or uv_scale: to make them lengths", 0};
    if (s->d->place.piece || (s->flat <= most * s->solid && s->solid <= most * s->flat)) return;
    drape_i_found(s->d, &kind, NULL, "the texture coordinates cover %.4g square units, the mesh %.4g", s->flat,
                  s->solid);
}

static void look_at_pattern(shape *s) {
    if (!s->p->uv) return;
    for (int32_t t = 0; t < s->p->triangles; t++) {
        double turn = pattern_turn(s->p, t);
        s->upright += turn > 0;
        s->inverted += turn < 0;
        if (isfinite(turn)) s->flat += 0.5 * fabs(turn);
    }
    if (s->upright && s->inverted) report_inverted(s);
    report_no_lengths(s);
}

/* ---- size ---- */

static double largest_extent(const drape_piece *p) {
    double extent = 0;
    for (int32_t k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < p->vertices; i++) {
            low = fmin(low, p->rest[3 * i + k]); /* passes over NaN */
            high = fmax(high, p->rest[3 * i + k]);
        }
        if (high > low) extent = fmax(extent, high - low);
    }
    return extent;
}

static void look_at_size(drape_i_doctor *d, const drape_piece *p) {
    const double large = 20, huge = 500, small = 2e-3; /* m: no cloth is larger; a person in mm; a fingertip */
    drape_i_ailment kind = {DRAPE_SEVERITY_WARNING, "odd-size", NULL, 0};
    double extent = largest_extent(p);
    if (p->triangles == 0 || (extent >= small && extent <= large)) return;
    kind.advice =
        extent < small  ? "are the numbers metres? A unit belongs to them: `unit:` of a mesh, width of a grid"
        : extent > huge ? "these look like millimetres: write `unit: mm` beside `mesh:`, or 500 mm in a grid"
                        : "these look like centimetres: write `unit: cm` beside `mesh:`, or 170 cm in a grid";
    drape_i_found(d, &kind, NULL, "it would be %.4g m large", extent);
}

void drape_i_examine_shape(drape_i_doctor *d, const drape_piece *p) {
    shape s = {.d = d, .p = p};
    look_at_triangles(&s);
    look_at_pattern(&s);
    look_at_size(d, p);
}
