/* doctor_measures.c: measurements of a piece: triangles too thin for cloth, material space without area, sizes that
 * cannot be metres, and numbers of a material that no fabric has. And how fast the piece swings. */
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
    drape_i_defect no_area, folded, no_pattern, thin;
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

/* The code that makes the cloth decides whether it can be made. */
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
    static const char thin[] = "remesh there, or merge vertices that lie close together: such triangles make the "
                               "solver slow (docs/wrong.md#it-is-too-slow)";
    static const char none[] = "delete it, or merge its vertices (Blender: Mesh > Clean Up > Degenerate Dissolve)";
    s->no_area = (drape_i_defect){DRAPE_SEVERITY_ERROR, "degenerate-triangle", none, 0};
    s->folded = (drape_i_defect){DRAPE_SEVERITY_WARNING, "degenerate-triangle", none, 0};
    s->no_pattern = (drape_i_defect){DRAPE_SEVERITY_ERROR, "uv-zero-area",
                                     "unwrap the mesh again, or ignore the texture coordinates: uv: false", 0};
    s->thin = (drape_i_defect){DRAPE_SEVERITY_WARNING, "thin-triangle", thin, 0};
    for (int32_t t = 0; t < s->p->triangles; t++) look_at_triangle(s, t);
    drape_i_found_all(s->d, &s->no_area);
    drape_i_found_all(s->d, &s->folded);
    drape_i_found_all(s->d, &s->no_pattern);
    drape_i_found_all(s->d, &s->thin);
}

/* ---- material space as a whole ---- */

static void report_inverted(shape *s) {
    drape_i_defect kind = {
        DRAPE_SEVERITY_WARNING, "uv-inverted",
        "this is fine if a panel is mirrored on purpose; otherwise the pattern is folded, so unwrap the mesh again",
        0};
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
    drape_i_defect kind = {DRAPE_SEVERITY_WARNING, "uv-no-lengths",
                           "in a scene, write uv: false to ignore them, or uv_scale: to turn them into lengths", 0};
    if (s->d->place.piece || (s->flat <= most * s->solid && s->solid <= most * s->flat)) return;
    drape_i_found(s->d, &kind, NULL, "the texture coordinates cover %.4g square units, but the mesh covers %.4g",
                  s->flat, s->solid);
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

double drape_i_piece_extent(const drape_piece *p) {
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
    drape_i_defect kind = {DRAPE_SEVERITY_WARNING, "odd-size", NULL, 0};
    double extent = drape_i_piece_extent(p);
    if (p->triangles == 0 || (extent >= small && extent <= large)) return;
    kind.advice =
        extent < small  ? "check the unit: numbers without one are metres (`unit:` of a mesh, width of a grid)"
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

/* ---- the material ----
 *
 * Numbers that no fabric has, and how fast the cloth can swing.
 *
 * With the conditions of Baraff and Witkin at rest, an element's stiffness for stretch along u is k_u A g g'. g is
 * the derivative of w_u in its three vertices, |g|^2 = sum du_i^2; for shear |g|^2 = sum (du_i^2 + dv_i^2). Its mass
 * is rho A / 3 per vertex. The largest eigenvalue of the whole is at most that of the worst element (Irons and
 * Treharne, "A bound theorem in eigenvalues and its practical applications", 1971). That of an element is at most the
 * sum over its conditions:
 *
 *     omega^2 <= 3 / rho (k_u sum du_i^2 + k_v sum dv_i^2 + k_s sum (du_i^2 + dv_i^2)) */

typedef struct usual {
    const char *name, *unit;
    double value, low, high; /* with room around docs/fabrics.md, from organza to belting */
} usual;

static void look_at_numbers(drape_i_doctor *d, const drape_material *m) {
    const usual all[] = {{"density", "kg/m^2", m->density, 0.01, 2},
                         {"stretch along warp", "N/m", m->stretch[0], 10, 1e6},
                         {"stretch along weft", "N/m", m->stretch[1], 10, 1e6},
                         {"shear", "N/m", m->shear, 0.5, 1e5},
                         {"bend", "N m", m->bend, 1e-8, 1e-2}};
    drape_i_defect kind = {DRAPE_SEVERITY_WARNING, "odd-material",
                           "check the unit, such as 150 g/m^2; `drape fabrics` lists measured fabrics "
                           "(docs/wrong.md#it-looks-like-rubber)",
                           0};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!(all[i].value >= all[i].low && all[i].value <= all[i].high))
            drape_i_found(d, &kind, NULL, "%s is %g %s; fabrics have %g to %g", all[i].name, all[i].value,
                          all[i].unit, all[i].low, all[i].high);
    drape_i_found_all(d, &kind);
}

static double fastest_of(const drape_i_rest_triangle *rest, const drape_material *m) {
    double du2 = 0, dv2 = 0;
    for (int32_t k = 0; k < 3; k++) {
        du2 += rest->du[k] * rest->du[k];
        dv2 += rest->dv[k] * rest->dv[k];
    }
    return sqrt(3 / m->density * (m->stretch[0] * du2 + m->stretch[1] * dv2 + m->shear * (du2 + dv2)));
}

/* Pieces with masses or hinges of their own are models of something else than a fabric. */
void drape_i_examine_material(drape_i_doctor *d, const drape_piece *p) {
    drape_i_rest_triangle rest;
    if (p->mass || p->material.bend_hinge > 0 || !(p->material.density > 0)) return;
    look_at_numbers(d, &p->material);
    for (int32_t t = 0; t < p->triangles; t++)
        if (!drape_i_rest_triangle_find(d->ctx, 0, p, t, &rest))
            d->summary->fastest = fmax(d->summary->fastest, fastest_of(&rest, &p->material));
}

/* ---- vibrations ---- */

/* Cloth sways by its weight and bends in folds: a strip as long as the piece would take minutes to bend. */
static double strip_length(const drape_piece *p, drape_vibration vibration) {
    const double fold = 0.1; /* m, as `damping: {bend: ...}` of a scene has it */
    double extent = drape_i_piece_extent(p);
    return vibration == DRAPE_VIBRATION_BEND ? fmin(extent, fold) : extent;
}

static drape_status tell_vibrations(const drape_i_doctor *d, const drape_scene *scene, const drape_piece *p) {
    for (int32_t i = 0; drape_vibration_name((drape_vibration)i); i++) {
        drape_check_vibration told = {.piece = p->name ? p->name : "cloth", .vibration = (drape_vibration)i};
        told.length = strip_length(p, told.vibration);
        told.frequency = drape_vibration_frequency(&p->material, told.vibration, told.length);
        told.fabric = drape_damping_ratio(&p->material, told.vibration, told.length);
        if (told.frequency == 0) continue;
        drape_status status =
            drape_integration_damping(d->ctx, &scene->integration, scene->step, told.frequency, &told.integrator);
        if (status == DRAPE_ERROR_MEMORY) return status;
        if (status || !isfinite(told.integrator)) continue; /* numbers beyond all cloth */
        d->options->vibration(d->options->user, &told);
    }
    return DRAPE_OK;
}

drape_status drape_i_examine_vibrations(const drape_i_doctor *d, const drape_scene *scene) {
    drape_status status = DRAPE_OK;
    if (!d->options->vibration) return DRAPE_OK;
    for (int32_t i = 0; i < scene->piece_count && !status; i++)
        if (!scene->pieces[i].mass) status = tell_vibrations(d, scene, &scene->pieces[i]);
    return status;
}
