/* validate_strips.c: cantilevers, for drape validate: strips of 1 m and rigidity 1 N m under their weight, a force at
 * the end, or a moment at the end. */
#include "validate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double G = 9.81, PI = 3.14159265358979323846;
static const double STRETCH = 2e4, SHEAR = 5e3; /* N/m: against a rigidity of 1 N m, a sheet hardly stretches */

typedef struct strip {
    strip_mesh mesh;
    int32_t cells;
    double angle;       /* of the warp against the strip, degrees */
    double width;       /* over its length */
    double load, end;   /* rho g L^3 / B, P L^2 / (B width) */
    double rigidity[3]; /* over B: warp, weft, twist; 0: 1 each */
} strip;

/* ---- a strip as a scene ---- */

typedef struct strip_run {
    strip_sheet sheet;
    double *load; /* N, per coordinate */
    drape_piece piece;
    drape_pin pin[2]; /* the clamp; where the strip rolls up, all vertices, across the strip */
    drape_scene scene;
    drape_sim *sim;
} strip_run;

static void end_run(strip_run *r) {
    drape_sim_destroy(r->sim);
    strip_sheet_clear(&r->sheet);
    free(r->load);
}

/* Whether the edge from corner k of triangle t is on the border at an end. */
static bool is_end_edge(const strip_sheet *s, int32_t t, int32_t k) {
    const int32_t *c = s->triangle + 3 * (int64_t)t;
    return strip_sheet_is_tip(s, c[k]) && strip_sheet_is_tip(s, c[(k + 1) % 3]);
}

static double edge_length(const strip_sheet *s, int32_t t, int32_t k) {
    const int32_t *c = s->triangle + 3 * (int64_t)t;
    const double *a = s->rest + 3 * c[k], *b = s->rest + 3 * c[(k + 1) % 3];
    return hypot(b[0] - a[0], b[1] - a[1]);
}

static void spread_end_force(strip_run *r, double per_width) {
    for (int32_t t = 0; t < r->sheet.triangles; t++)
        for (int32_t k = 0; k < 3; k++) {
            if (!is_end_edge(&r->sheet, t, k)) continue;
            const int32_t *c = r->sheet.triangle + 3 * (int64_t)t;
            const double half = 0.5 * per_width * edge_length(&r->sheet, t, k);
            r->load[3 * c[k] + 2] -= half, r->load[3 * c[(k + 1) % 3] + 2] -= half;
        }
}

static drape_material material_of(const strip *s) {
    drape_material m = {.density = s->load > 0 ? s->load / G : 0.2, .stretch = {STRETCH, STRETCH}, .shear = SHEAR};
    m.bend = 1;
    if (s->rigidity[0] > 0) m.bend = s->rigidity[0], m.bend_weft = s->rigidity[1], m.bend_twist = s->rigidity[2];
    return m;
}

static bool begin_run(validation *v, const strip *s, int32_t seed, strip_run *r) {
    *r = (strip_run){0};
    if (!strip_sheet_create(v->ctx, s->mesh, s->cells, s->width, s->angle, seed, &r->sheet)) return false;
    r->load = calloc(3 * (size_t)r->sheet.vertices, sizeof *r->load);
    if (!r->load) {
        complain("out of memory");
        return false;
    }
    spread_end_force(r, s->end);
    r->piece = (drape_piece){.name = "strip",
                             .vertices = r->sheet.vertices,
                             .rest = r->sheet.rest,
                             .uv = r->sheet.uv,
                             .triangles = r->sheet.triangles,
                             .triangle = r->sheet.triangle,
                             .material = material_of(s)};
    r->pin[0] = (drape_pin){.count = r->sheet.held_count, .vertices = r->sheet.held, .directions = 3};
    r->pin[1] =
        (drape_pin){.count = r->sheet.vertices, .vertices = r->sheet.all, .directions = 1, .direction = {{0, 1, 0}}};
    r->scene = (drape_scene){.name = "strip",
                             .pieces = &r->piece,
                             .piece_count = 1,
                             .pins = r->pin,
                             .pin_count = s->load > 0 || s->end > 0 ? 1 : 2,
                             .forces = drape_forces_defaults(),
                             .cloth = drape_cloth_defaults(),
                             .solve = drape_solve_defaults(),
                             .step = 0.1,
                             .steps_per_frame = 1};
    r->scene.forces.gravity[2] = s->load > 0 ? -G : 0;
    r->scene.forces.vertex = r->load;
    r->scene.cloth.bending = DRAPE_BENDING_PATCH;
    r->scene.cloth.membrane = v->membrane;
    r->scene.solve.tol = 1e-8;
    if (drape_sim_create(v->ctx, &r->scene, &r->sim) == DRAPE_OK) return true;
    complain("%s", drape_message(v->ctx));
    return false;
}

/* Light strips are solved as exactly as one of 1 N/m, or rounding would matter. */
static bool find_rest(validation *v, strip_run *r) {
    const double weight = G * r->piece.material.density;
    const drape_equilibrium_settings how = {.tolerance = 1e-7 * fmax(1, 1 / weight), .max_iterations = 3000};
    drape_equilibrium_result result = {0};
    const drape_status status = drape_sim_find_equilibrium(r->sim, &how, &result);
    if (status) complain("%s", drape_message(v->ctx));
    else if (!result.at_rest)
        complain("no equilibrium after %d corrections: residual %g of %g N", result.iterations, result.residual,
                 result.weight);
    return !status && result.at_rest;
}

/* Mean over both ends. */
static rod_tip tip_of(const strip_run *r) {
    const double *x = drape_sim_positions(r->sim);
    rod_tip sum = {0};
    int32_t count = 0;
    for (int32_t i = 0; i < r->sheet.vertices; i++) {
        if (!strip_sheet_is_tip(&r->sheet, i)) continue;
        sum.depth -= x[3 * i + 2], sum.reach += r->sheet.rest[3 * i] > 0 ? x[3 * i] : -x[3 * i], count++;
    }
    return (rod_tip){sum.depth / count, sum.reach / count};
}

static bool solve_strip(validation *v, const strip *s, rod_tip *tip) {
    strip_run r;
    const bool good = begin_run(v, s, 1 + (int32_t)s->angle, &r) && find_rest(v, &r);
    if (good) *tip = tip_of(&r);
    end_run(&r);
    return good;
}

/* ---- weight and forces ---- */

static void name_row(validation_row *row, const strip *s, const char *load, double value) {
    snprintf(row->what, sizeof row->what, "%s, threads at %g, width %g, %s %g", row->mesh, s->angle, s->width, load,
             value);
}

/* stiffer: the rigidity of a rod that is as the strip, over B. */
static bool check_strip(validation *v, const char *group, const strip *s, double stiffer, double bar) {
    rod_tip tip;
    if (!solve_strip(v, s, &tip)) return false;
    validation_row row = {.group = group,
                          .mesh = strip_mesh_name(s->mesh),
                          .load = s->load / stiffer,
                          .end = s->end / stiffer,
                          .got = tip.depth,
                          .want = elastica_tip(s->load / stiffer, s->end / stiffer).depth,
                          .bar = bar};
    name_row(&row, s, s->load > 0 ? "G" : "P", s->load > 0 ? s->load : s->end);
    add_validation_row(v, &row);
    return true;
}

static double bar_of(const validation *v) { return v->cells >= 40 ? 0.03 : 0.05; }

static bool check_width(validation *v, strip_mesh mesh, double angle, double width) {
    static const double loads[] = {0.5, 1, 5, 20};
    for (int32_t l = v->quick ? 1 : 0; l < (v->quick ? 3 : 4); l++) {
        const strip s = {.mesh = mesh, .cells = v->cells, .angle = angle, .width = width, .load = loads[l]};
        if (!check_strip(v, mesh < STRIP_TURNED_ALONG ? "weight" : "turned", &s, 1, bar_of(v))) return false;
    }
    return true;
}

/* Narrow strips of a fabric whose rigidities differ: 1/B(a) is as in docs/models.md. */
static bool check_directions(validation *v) {
    static const double B[] = {1, 0.4, 0.5}, angles[] = {0, 30, 45, 90};
    for (int32_t mesh = STRIP_ONE_WAY; mesh <= STRIP_IRREGULAR; mesh += 2)
        for (size_t i = 0; i < sizeof angles / sizeof *angles; i++) {
            const double c = cos(angles[i] * PI / 180), s = sin(angles[i] * PI / 180);
            const strip of = {mesh, v->cells, angles[i], 0.05, 1, 0, {B[0], B[1], B[2]}};
            const double soft = c * c * c * c / B[0] + s * s * s * s / B[1] + 2 * s * s * c * c / B[2];
            if (!check_strip(v, "directions", &of, 1 / soft, bar_of(v))) return false;
        }
    return true;
}

bool validate_cantilevers(validation *v) {
    static const double widths[] = {0.1, 0.5, 1}, angles[] = {0, 90, 30, 45};
    for (int32_t mesh = 0; mesh < STRIP_TURNED_ALONG; mesh++)
        for (int32_t a = 0; a < (v->quick ? 1 : 4); a++)
            for (int32_t w = 0; w < (v->quick ? 1 : 3); w++)
                if (!check_width(v, mesh, angles[a], widths[w])) return false;
    for (int32_t mesh = STRIP_TURNED_ALONG; mesh < STRIP_MESHES; mesh++)
        for (int32_t w = 0; w < (v->quick ? 1 : 3); w++)
            if (!check_width(v, mesh, 0, widths[w])) return false;
    return v->quick || check_directions(v);
}

/* Sze, Liu and Lo (2004), section 3.1, whose P L^2 / (B width) is at most 4. */
bool validate_end_forces(validation *v) {
    static const double ends[] = {1, 2, 4};
    for (int32_t mesh = STRIP_ONE_WAY; mesh <= STRIP_IRREGULAR; mesh += 2)
        for (int32_t i = v->quick ? 2 : 0; i < 3; i++) {
            const strip s = {.mesh = mesh, .cells = v->quick ? 20 : 40, .width = 0.1, .end = ends[i]};
            if (!check_strip(v, "end force", &s, 1, v->quick ? 0.05 : mesh == STRIP_ONE_WAY ? 0.02 : 0.03))
                return false;
        }
    return true;
}

/* ---- a moment at the end: Sze, Liu and Lo (2004), section 3.2 ---- */

/* The moment turns the triangles at the end, each with the chord along the strip from its inner corner to its outer
 * edge. Its energy is -moment times the angle by which that has turned since the last rest. A chord that were not
 * along the strip would twist it as well. */
typedef struct hinge_moment {
    int32_t count;
    int32_t *node;   /* 3 per triangle: the inner corner, then those of the edge */
    double *foot;    /* where the chord ends: part of the way along the edge */
    double *share;   /* of the moment per width: length of the edge, negative at x < 0 */
    double *towards; /* 2 per triangle: where the chord pointed, x and z */
    double moment;   /* N m per m */
} hinge_moment;

/* The chord, and the angle from its old direction; angles grow upwards at the end x > 0. */
static double chord_angle(const hinge_moment *h, const double *x, int32_t e, const int32_t *node, double chord[2]) {
    const double foot = h->foot[e];
    for (int32_t k = 0; k < 2; k++)
        chord[k] = ((1 - foot) * x[3 * node[1] + 2 * k] + foot * x[3 * node[2] + 2 * k]) - x[3 * node[0] + 2 * k];
    const double *old = h->towards + 2 * (int64_t)e;
    return atan2(old[0] * chord[1] - old[1] * chord[0], old[0] * chord[0] + old[1] * chord[1]);
}

static double moment_at(const hinge_moment *h, int32_t e) { return h->moment * h->share[e]; }

static double moment_energy(void *user, const drape_force_point *at, int32_t e, const int32_t *node) {
    double chord[2];
    return -moment_at(user, e) * chord_angle(user, at->x, e, node, chord);
}

/* The second derivatives of the angle of a chord (a, b): 2ab, b^2 - a^2 and -2ab over its length^4. They are
 * indefinite. */
static void add_moment_stiffness(double moment, double foot, const double chord[2], drape_element_force *out) {
    const double a = chord[0], b = chord[1], r2 = a * a + b * b, part[3] = {-1, 1 - foot, foot};
    const double second[9] = {2 * a * b, 0, b * b - a * a, 0, 0, 0, b * b - a * a, 0, -2 * a * b};
    for (int32_t i = 0; i < 3; i++)
        for (int32_t j = 0; j < 3; j++)
            for (int32_t k = 0; k < 9; k++)
                out->stiffness[i][j][k] = -moment * part[i] * part[j] * second[k] / (r2 * r2);
}

static void moment_force(void *user, const drape_force_point *at, int32_t e, const int32_t *node,
                         drape_element_force *out) {
    double chord[2];
    const double foot = ((const hinge_moment *)user)->foot[e];
    chord_angle(user, at->x, e, node, chord);
    const double f = moment_at(user, e) / (chord[0] * chord[0] + chord[1] * chord[1]);
    const double push[3] = {-f * chord[1], 0, f * chord[0]};
    for (int32_t k = 0; k < 3; k++) {
        out->force[0][k] = -push[k];
        out->force[1][k] = (1 - foot) * push[k], out->force[2][k] = foot * push[k];
    }
    if (at->jacobians && at->jacobian == DRAPE_JACOBIAN_FULL)
        add_moment_stiffness(moment_at(user, e), foot, chord, out);
}

static void clear_moment(hinge_moment *h) { free(h->node), free(h->foot), free(h->share), free(h->towards); }

static bool make_moment(const strip_sheet *s, hinge_moment *h) {
    const size_t most = (size_t)s->triangles;
    *h = (hinge_moment){.node = malloc(sizeof(int32_t) * 3 * most),
                        .foot = malloc(sizeof(double) * most),
                        .share = malloc(sizeof(double) * most),
                        .towards = malloc(sizeof(double) * 2 * most)};
    if (!h->node || !h->foot || !h->share || !h->towards) {
        complain("out of memory");
        return false;
    }
    for (int32_t t = 0; t < s->triangles; t++)
        for (int32_t k = 0; k < 3; k++) {
            if (!is_end_edge(s, t, k)) continue;
            const int32_t *c = s->triangle + 3 * (int64_t)t, e = h->count++;
            for (int32_t i = 0; i < 3; i++) h->node[3 * e + i] = c[(k + 2 + i) % 3];
            const double y0 = s->rest[3 * c[k] + 1], y1 = s->rest[3 * c[(k + 1) % 3] + 1];
            h->foot[e] = (s->rest[3 * h->node[3 * e] + 1] - y0) / (y1 - y0);
            const double side = s->rest[3 * c[k]] > 0 ? 1 : -1; /* both ends turn upwards */
            h->share[e] = side * edge_length(s, t, k);
            h->towards[2 * e] = side, h->towards[2 * e + 1] = 0;
        }
    return true;
}

/* Where the chords begin, on average: the moment acts half way from there to the end. */
static double mean_chord(const strip_sheet *s, const hinge_moment *h) {
    double sum = 0, width = 0;
    for (int32_t e = 0; e < h->count; e++) {
        sum += fabs(h->share[e]) * (1 - fabs(s->rest[3 * h->node[3 * e]]));
        width += fabs(h->share[e]);
    }
    return sum / width;
}

static void turn_chords(const strip_run *r, hinge_moment *h) {
    for (int32_t e = 0; e < h->count; e++) {
        double chord[2];
        chord_angle(h, drape_sim_positions(r->sim), e, h->node + 3 * (int64_t)e, chord);
        const double length = hypot(chord[0], chord[1]);
        for (int32_t k = 0; k < 2; k++) h->towards[2 * e + k] = chord[k] / length;
    }
}

static void add_moment_rows(validation *v, const strip *s, const strip_run *r, const hinge_moment *h, double bar) {
    const double bent = 1 - 0.5 * mean_chord(&r->sheet, h), turn = h->moment * bent;
    const rod_tip tip = tip_of(r);
    const double want[] = {1 - (sin(turn) / h->moment + (1 - bent) * cos(turn)),
                           (1 - cos(turn)) / h->moment + (1 - bent) * sin(turn)};
    for (int32_t k = 0; k < (h->moment < 4 ? 2 : 1); k++) { /* nothing is left of the height at the end */
        validation_row row = {.group = "end moment",
                              .mesh = strip_mesh_name(s->mesh),
                              .got = k ? -tip.depth : 1 - tip.reach,
                              .want = want[k],
                              .bar = bar};
        snprintf(row.what, sizeof row.what, "%s, %s, M L / B = %.3g", row.mesh, k ? "height" : "way back", h->moment);
        add_validation_row(v, &row);
    }
}

/* In equal steps, the last of which makes a circle of the strip. It stays in its plane: a strip that is free to twist
 * gives way to the side from three quarters of a circle on. */
static bool roll_up(validation *v, const strip *s, double bar) {
    enum { STEPS = 16 };
    strip_run r;
    hinge_moment h = {0};
    bool good = begin_run(v, s, 1, &r) && make_moment(&r.sheet, &h);
    const drape_force force = {.name = "moment",
                               .user = &h,
                               .elements = {3, h.count, h.node},
                               .element = moment_force,
                               .element_energy = moment_energy};
    if (good && drape_sim_add_force(r.sim, &force)) good = false, complain("%s", drape_message(v->ctx));
    for (int32_t i = 1; i <= STEPS && good; i++) {
        h.moment = 2 * PI * i / STEPS;
        good = find_rest(v, &r);
        if (!good) break;
        turn_chords(&r, &h);
        if (i == STEPS / 4 || i == STEPS / 2 || i == STEPS) add_moment_rows(v, s, &r, &h, bar);
    }
    clear_moment(&h);
    end_run(&r);
    return good;
}

bool validate_end_moments(validation *v) {
    for (int32_t mesh = STRIP_ONE_WAY; mesh <= (v->quick ? STRIP_ONE_WAY : STRIP_IRREGULAR); mesh++) {
        const strip s = {.mesh = mesh, .cells = v->quick ? 20 : 40, .width = 0.1};
        if (!roll_up(v, &s, v->quick ? 0.05 : mesh == STRIP_IRREGULAR ? 0.03 : 0.02)) return false;
    }
    return true;
}

/* ---- tables of others ---- */

static void add_table_row(validation *v, const strip *s, bool reach, double value, double got, double want) {
    validation_row row = {.group = "table",
                          .mesh = strip_mesh_name(s->mesh),
                          .load = reach ? 0 : s->load,
                          .end = reach ? 0 : s->end,
                          .got = got,
                          .want = want,
                          .bar = s->end > 0 && s->mesh == STRIP_ONE_WAY ? 0.02 : 0.03};
    snprintf(row.what, sizeof row.what, "%s, %s, %s %g", row.mesh, reach ? "way back" : "depth",
             s->end > 0 ? "Sze P / P_max" : "heavy G", value);
    add_validation_row(v, &row);
}

static FILE *open_table(const validation *v, const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", v->data, name);
    FILE *file = fopen(path, "r");
    if (!file) complain("cannot read %s", path);
    return file;
}

/* Load, depth over weight, depth over length, reach over length, degrees. The depth of strips lighter than `light` is
 * lost in rounding. */
static bool check_heavy(validation *v, strip_mesh mesh, FILE *file) {
    char line[256];
    const double light = 0.1;
    double load, unused, depth, reach;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%lf,%lf,%lf,%lf", &load, &unused, &depth, &reach) != 4) continue;
        if (load < light) continue;
        const strip s = {.mesh = mesh, .cells = v->cells, .width = 0.1, .load = load};
        rod_tip tip;
        if (!solve_strip(v, &s, &tip)) return false;
        add_table_row(v, &s, false, load, tip.depth, depth);
    }
    return true;
}

/* Share of the greatest force, way back and depth of a strip of 10 m. Small ways have too few digits to compare. */
static bool check_sze(validation *v, strip_mesh mesh, FILE *file) {
    char line[256];
    double share, back, depth;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%lf,%lf,%lf", &share, &back, &depth) != 3) continue;
        const strip s = {.mesh = mesh, .cells = v->cells, .width = 0.1, .end = 4 * share};
        rod_tip tip;
        if (!solve_strip(v, &s, &tip)) return false;
        add_table_row(v, &s, false, share, tip.depth, depth / 10);
        if (back > 0.2) add_table_row(v, &s, true, share, 1 - tip.reach, back / 10);
    }
    return true;
}

bool validate_tables(validation *v) {
    static const struct {
        const char *name;
        bool (*check)(validation *, strip_mesh, FILE *);
    } tables[] = {{"elastica_gravity_cantilever_derived.csv", check_heavy},
                  {"sze2004_cantilever_end_shear.csv", check_sze}};
    bool good = true;
    for (int32_t i = 0; i < 4 && v->data && good; i++) {
        FILE *file = open_table(v, tables[i / 2].name);
        good = file && tables[i / 2].check(v, i % 2 ? STRIP_IRREGULAR : STRIP_ONE_WAY, file);
        if (file) fclose(file);
    }
    return good;
}
