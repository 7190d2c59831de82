/* validate.c: drape validate: static problems whose answers are known, ours beside the reference, as a table and as a
 * page of plots (validate_page.c). The problems are scenes as a user would write them; the formulas are those of
 * docs/validation.md. */
#include "validate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double G = 9.81; /* m/s^2 */

/* ---- the elastica ---- */

/* B th'' + (load (1 - s) + end) cos th = 0 over a length of 1, th the slope below the horizontal; th = 0 at the clamp
 * and th' = 0 at the tip. */
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

double elastica_depth(double load, double end) {
    double low = 0, high = load / 2 + end; /* the straight rod's curvature is the largest */
    for (int32_t i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (rod_shoot(middle, load, end).curvature > 0) high = middle;
        else low = middle;
    }
    return -rod_shoot(low, load, end).z;
}

/* ---- problems ---- */

typedef struct validation {
    drape_context *ctx;
    validation_row row[VALIDATION_ROWS];
    int32_t count, cells;
    bool quick;
} validation;

/* Mean height of the vertices that are furthest along a material axis, in the equilibrium of a scene. */
static bool solve_scene(validation *v, const drape_scene *scene, int32_t axis, double *height) {
    drape_sim *sim = NULL;
    drape_equilibrium_settings how = {.tolerance = 1e-7, .max_iterations = 3000};
    drape_equilibrium_result result = {0};
    drape_status status = drape_sim_create(v->ctx, scene, &sim);
    if (!status) status = drape_sim_find_equilibrium(sim, &how, &result);
    if (status) complain("%s", drape_message(v->ctx));
    else if (!result.at_rest) complain("no equilibrium after %d corrections", result.iterations);
    const bool good = status == DRAPE_OK && result.at_rest;
    if (good) {
        const drape_piece *piece = &scene->pieces[0];
        const double *x = drape_sim_positions(sim);
        double most = -HUGE_VAL, sum = 0;
        int32_t count = 0;
        for (int32_t i = 0; i < piece->vertices; i++) most = fmax(most, piece->uv[2 * i + axis]);
        for (int32_t i = 0; i < piece->vertices; i++)
            if (piece->uv[2 * i + axis] > most - 1e-9) sum += x[3 * i + 2], count++;
        *height = sum / count;
    }
    drape_sim_destroy(sim);
    return good;
}

static bool solve_text(validation *v, const char *text, int32_t axis, double *height) {
    drape_loaded_scene *loaded = NULL;
    const drape_status status = drape_scene_parse(v->ctx, "validate", text, (int64_t)strlen(text), NULL, &loaded);
    if (status) complain("%s", drape_message(v->ctx));
    const bool good = !status && solve_scene(v, drape_loaded_scene_data(loaded), axis, height);
    drape_loaded_scene_destroy(loaded);
    return good;
}

static void add_row(validation *v, validation_row row) {
    v->row[v->count++] = row;
    const double off = row.got / row.want - 1;
    tell("%-10s %-46s %12.6g %12.6g %+8.2f %% %5g %%%s\n", row.group, row.what, row.got, row.want, 100 * off,
         100 * row.bar, fabs(off) <= row.bar ? "" : "  missed");
    fflush(stdout);
}

typedef struct strip {
    const char *mesh, *grid; /* its name, and keys of the grid */
    int32_t axis;            /* 0: along warp, 1: along weft */
    double width;            /* over its length */
    double load, end;        /* rho g L^3 / B, P L^2 / (B width) */
    int32_t cells;           /* along it */
} strip;

/* Free length 1 m from the middle of the first cell, which the clamp holds; B = 1 N m. */
static void strip_text(const strip *s, size_t size, char *text) {
    const double cell = 1 / (s->cells - 0.5);
    const int32_t rows = (int32_t)fmax(1, floor(s->width * s->cells + 0.5));
    const int32_t count[2] = {s->axis ? rows : s->cells, s->axis ? s->cells : rows};
    const double density = s->load > 0 ? s->load / G : 0.2;
    snprintf(text, size,
             "drape: 1\n"
             "bending: patch\n"
             "membrane: paired\n"
             "cloth:\n"
             "  - grid: {width: %.17g m, height: %.17g m, resolution: [%d, %d]%s}\n"
             "    place: {translate: [%.17g m, %.17g m, 0]}\n"
             "    material: {density: %.17g, stretch: 20 kN/m, shear: 5 kN/m, bend: 1 N m, damping: 0}\n"
             "    pins: [{box: [[-9, -9, -9], [%.17g, %.17g, 9]]}]\n"
             "    loads: [{where: %s, force: [0, 0, %.17g N]}]\n"
             "forces: {gravity: [0, 0, %.17g]}\n"
             "time: {step: 100 ms, fps: 10}\n"
             "solver: {tolerance: 1e-8}\n",
             count[0] * cell, count[1] * cell, count[0] + 1, count[1] + 1, s->grid, s->axis ? 0 : count[0] * cell / 2,
             s->axis ? count[1] * cell / 2 : 0, density, s->axis ? 9 : 1.5 * cell, s->axis ? 1.5 * cell : 9,
             s->axis ? "top-edge" : "right-edge", -s->end * rows * cell / (rows + 1), s->load > 0 ? -G : 0);
}

static void add_strip(validation *v, const char *group, const strip *s, double height, double bar) {
    validation_row row = {.group = group,
                          .mesh = s->mesh,
                          .load = s->load,
                          .end = s->end,
                          .got = -height,
                          .want = elastica_depth(s->load, s->end),
                          .bar = bar};
    snprintf(row.what, sizeof row.what, "%s, %s, width %g, %s %g", s->mesh, s->axis ? "weft" : "warp", s->width,
             s->load > 0 ? "G" : "P", s->load > 0 ? s->load : s->end);
    add_row(v, row);
}

static bool check_strip(validation *v, const char *group, const strip *s, double bar) {
    char text[1200];
    double height;
    strip_text(s, sizeof text, text);
    if (!solve_text(v, text, s->axis, &height)) return false;
    add_strip(v, group, s, height, bar);
    return true;
}

static const struct mesh {
    const char *name, *grid;
} meshes[] = {{"one way", ""}, {"alternating", ", diagonals: alternating"}, {"irregular", ", irregular: true"}};
enum { MESHES = sizeof meshes / sizeof *meshes };

/* Strips that hang by their weight. */
static bool check_cantilevers(validation *v) {
    static const double widths[] = {0.1, 0.5, 1}, loads[] = {0.5, 1, 5, 20};
    for (int32_t m = 0; m < MESHES; m++)
        for (int32_t w = 0; w < (v->quick ? 1 : 3); w++)
            for (int32_t l = v->quick ? 1 : 0; l < (v->quick ? 3 : 4); l++)
                for (int32_t axis = 0; axis < (v->quick ? 1 : 2); axis++) {
                    const strip s = {meshes[m].name, meshes[m].grid, axis, widths[w], loads[l], 0, v->cells};
                    if (!check_strip(v, "cantilever", &s, v->cells >= 40 ? 0.03 : 0.05)) return false;
                }
    return true;
}

/* ---- strips cut out of a lattice that is turned ---- */

/* A strip at 45 degrees: n hypotenuses of length d along it, m layers of height d/2 across, halves of triangles at
 * both ends; or the other way round. Edges are at 45 degrees to it, and along it, or across. */
typedef struct lattice {
    int32_t vertices, triangles;
    double rest[3 * VALIDATION_LATTICE], uv[2 * VALIDATION_LATTICE];
    int32_t triangle[6 * VALIDATION_LATTICE], held[VALIDATION_LATTICE], held_count;
} lattice;

static void put_triangle(lattice *l, int32_t a, int32_t b, int32_t c) {
    int32_t *t = l->triangle + 3 * (int64_t)l->triangles++;
    t[0] = a, t[1] = b, t[2] = c;
}

static void make_lattice(lattice *l, int32_t n, int32_t m, double d, bool across) {
    l->vertices = l->triangles = l->held_count = 0;
    for (int32_t j = 0; j <= m; j++)
        for (int32_t i = 0; i <= n + j % 2; i++, l->vertices++) {
            const double along = j % 2 ? fmin(fmax(i - 0.5, 0), n) * d : i * d, up = j * d / 2;
            const int64_t k = l->vertices;
            l->uv[2 * k] = l->rest[3 * k] = across ? up : along;
            l->uv[2 * k + 1] = l->rest[3 * k + 1] = across ? along : up;
            l->rest[3 * k + 2] = 0;
            if (l->rest[3 * k] < 0.75 * d) l->held[l->held_count++] = l->vertices;
        }
    for (int32_t j = 0, first = 0; j < m; first += n + 1 + j % 2, j++) {
        const int32_t next = first + n + 1 + j % 2, even = j % 2 ? next : first, odd = j % 2 ? first : next;
        for (int32_t i = 0; i <= n; i++) put_triangle(l, even + i, odd + i + 1, odd + i);
        for (int32_t i = 0; i < n; i++) put_triangle(l, even + i, even + i + 1, odd + i + 1);
    }
}

/* The clamp holds columns at 0 and d/2, so it is at d/4; d is such that the free length is 1 m. */
static bool check_lattice(validation *v, lattice *l, const strip *s, bool across) {
    const int32_t columns = 2 * (int32_t)floor(s->cells / 1.4142135623730951 + 0.5); /* of d/2 */
    const int32_t rows = (int32_t)fmax(2, 2 * floor(s->width * columns / 2 + 0.5));
    const double d = 1 / (columns / 2.0 - 0.25);
    double height;
    make_lattice(l, across ? rows / 2 : columns / 2, across ? columns : rows, d, across);
    drape_piece piece = {.name = "strip",
                         .vertices = l->vertices,
                         .rest = l->rest,
                         .uv = l->uv,
                         .triangles = l->triangles,
                         .triangle = l->triangle,
                         .material = {.density = s->load / G, .stretch = {2e4, 2e4}, .shear = 5e3, .bend = 1}};
    drape_pin pin = {.count = l->held_count, .vertices = l->held, .directions = 3};
    drape_scene scene = {.name = "strip",
                         .pieces = &piece,
                         .piece_count = 1,
                         .pins = &pin,
                         .pin_count = 1,
                         .forces = drape_forces_defaults(),
                         .cloth = drape_cloth_defaults(),
                         .solve = drape_solve_defaults(),
                         .step = 0.1,
                         .steps_per_frame = 1};
    scene.cloth.bending = DRAPE_BENDING_PATCH;
    scene.cloth.membrane = DRAPE_MEMBRANE_PAIRED;
    scene.solve.tol = 1e-8;
    if (!solve_scene(v, &scene, 0, &height)) return false;
    add_strip(v, "turned", s, height, s->cells >= 40 ? 0.03 : 0.05);
    return true;
}

static bool check_lattices(validation *v) {
    static const double widths[] = {0.1, 0.5, 1}, loads[] = {0.5, 1, 5, 20};
    lattice *l = malloc(sizeof *l);
    bool good = l != NULL;
    if (!l) complain("out of memory");
    for (int32_t across = 0; across < 2 && good; across++)
        for (int32_t w = 0; w < (v->quick ? 1 : 3) && good; w++)
            for (int32_t i = v->quick ? 1 : 0; i < (v->quick ? 2 : 4) && good; i++) {
                const strip s = {.mesh = across ? "across diagonals" : "along diagonals",
                                 .width = widths[w],
                                 .load = loads[i],
                                 .cells = v->cells};
                good = check_lattice(v, l, &s, across);
            }
    free(l);
    return good;
}

/* ---- other problems ---- */

/* A force at the end: Sze, Liu and Lo (2004), section 3.1, whose P L^2 / (B width) is at most 4. */
static bool check_end_shear(validation *v) {
    static const double ends[] = {1, 2, 4};
    for (int32_t m = 0; m < MESHES; m += 2)
        for (int32_t i = v->quick ? 2 : 0; i < 3; i++) {
            const strip s = {meshes[m].name, meshes[m].grid, 0, 0.1, 0, ends[i], v->quick ? 20 : 40};
            if (!check_strip(v, "end shear", &s, v->quick ? 0.05 : m == 0 ? 0.02 : 0.03)) return false;
        }
    return true;
}

/* A strip of 1 m that hangs by its weight, 0.3 kg/m^2, from its upper edge, with the stiffness `stretch`. */
static bool check_hanging(validation *v, const char *what, const char *stretch, double want) {
    static const char hanging[] =
        "drape: 1\nmembrane: paired\ncloth:\n"
        "  - grid: {width: 0.2 m, height: 1 m, resolution: [5, 21]%s}\n"
        "    place: {rotate: [-90, 0, 0]}\n"
        "    material: {density: 0.3, %s, shear: 100 N/m, bend: 0, damping: 0}\n"
        "    pins: [{where: bottom-edge}]\ntime: {step: 100 ms, fps: 10}\nsolver: {tolerance: 1e-10}\n";
    for (int32_t m = 0; m < MESHES; m++) {
        char text[1000];
        double height;
        snprintf(text, sizeof text, hanging, meshes[m].grid, stretch);
        if (!solve_text(v, text, 1, &height)) return false;
        validation_row row = {
            .group = "stretch", .mesh = meshes[m].name, .got = -0.5 - height, .want = want, .bar = 0.01};
        snprintf(row.what, sizeof row.what, "%s, %s", meshes[m].name, what);
        add_row(v, row);
    }
    return true;
}

/* A fabric of 20 N/m that stiffens to 60 N/m around 4 %. Let s(e) be its tension, E(e) its energy and T = w g its
 * weight per width. Its elongation is the integral of e over the tensions 0 to T, divided by T: that is (e T - E(e))
 * / T at the e of T. There s is straight. */
static double hanging_beyond_a_knee(void) {
    const double k = 20, K = 60, knee = 0.04, T = 0.3 * G, e = (T + (K - k) * knee) / K;
    const double early = e - 0.5 * knee, late = e - 1.5 * knee;
    const double energy = 0.5 * k * e * e + (K - k) / knee / 6 * (early * early * early - late * late * late);
    return (e * T - energy) / T;
}

static bool check_stretch(validation *v) {
    return check_hanging(v, "hanging strip, elongation", "stretch: 200 N/m", 0.3 * G / (2 * 200)) &&
           check_hanging(v, "the same, stiffening", "stretch: 20 N/m, stretch_stiff: 60 N/m, stretch_knee: 4 %",
                         hanging_beyond_a_knee());
}

/* ---- the command ---- */

static int run(validation *v, const char *page, int32_t threads) {
    int32_t missed = 0;
    if (!can_write(page)) return EXIT_BAD_INPUT;
    v->ctx = make_context(threads, true);
    if (!v->ctx) return EXIT_BAD_INPUT;
    tell("%-10s %-46s %12s %12s %10s %7s\n", "", "", "ours", "reference", "difference", "limit");
    bool good = check_stretch(v) && check_cantilevers(v) && check_lattices(v) && check_end_shear(v);
    drape_context_destroy(v->ctx);
    if (!good) return EXIT_RUN_FAILED;
    for (int32_t i = 0; i < v->count; i++) missed += fabs(v->row[i].got / v->row[i].want - 1) > v->row[i].bar;
    tell("%d of %d within their limits\n", v->count - missed, v->count);
    if (page && !write_validation_page(page, v->row, v->count)) return EXIT_RUN_FAILED;
    return missed == 0 ? EXIT_GOOD : EXIT_RUN_FAILED;
}

int command_validate(int argc, char **argv) {
    validation *v = calloc(1, sizeof *v);
    const char *page = NULL;
    int32_t threads = 0, cells = 0;
    bool quick = false;
    const option options[] = {
        {"--quick", NULL, NULL, "a few of the problems only, with 20 cells", OPTION_FLAG, &quick, 0, 0},
        {"--cells", NULL, "N", "cells along a cantilever; default: 40", OPTION_NUMBER, &cells, 10, 80},
        {"--output", "-o", "PAGE.html", "write a page with the table and plots", OPTION_TEXT, &page, 0, 0},
        {"--threads", NULL, "T", "number of threads; default: one per processor", OPTION_NUMBER, &threads, 1, 256},
        {0}};
    command_line line = {
        .usage = "drape validate [options]",
        .about = "Solves static problems whose answers are known, with `bending: patch` and `membrane: paired`, and "
                 "prints ours\nbeside the reference: hanging strips, cantilevers under their weight (elastica), "
                 "and with a force at the end (Sze 2004).\nExit code 0: all within their limits, 1: one is not.",
        .options = options};
    parse_result parsed = v ? parse_arguments(&line, argc, argv) : PARSE_BAD;
    int code = parsed == PARSE_HELP ? EXIT_GOOD : EXIT_BAD_INPUT;
    if (parsed == PARSE_GOOD) {
        v->cells = cells ? cells : quick ? 20 : 40, v->quick = quick;
        code = run(v, page, threads);
    }
    free(v);
    return code;
}
