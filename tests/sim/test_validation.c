/* Closed forms of mechanics against scene files: the text of a scene, what the simulator makes of it, and what a
 * textbook says. docs/validation.md and docs/notes/validation.md have the formulas and the figures. */
#include "support/strips.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double G = 9.81; /* m/s^2 */
static const double PI = 3.14159265358979323846;

/* ---- scenes from text ---- */

typedef struct run {
    drape_context *ctx;
    drape_loaded_scene *loaded;
    drape_scene *scene;
    drape_sim *sim;
} run;

static run run_text(drape_context *ctx, const char *name, const char *text) {
    run r = {.ctx = ctx};
    ASSERT_OK(ctx, drape_scene_parse(ctx, name, text, (int64_t)strlen(text), NULL, &r.loaded));
    r.scene = drape_loaded_scene_edit(r.loaded);
    r.scene->integration.ode.method = DRAPE_LINEARISED_EULER; /* it comes to rest soonest */
    r.scene->integration.max_stretch = INFINITY;              /* long steps stretch it on the way */
    ASSERT_OK(ctx, drape_sim_create(ctx, r.scene, &r.sim));
    return r;
}

static void run_end(run *r) {
    drape_sim_destroy(r->sim);
    drape_loaded_scene_destroy(r->loaded);
}

/* Where a vertex is in the flat cloth, m; grids and the mesh files below have one uv a vertex. */
static double material(const run *r, int32_t vertex, int32_t axis) {
    return r->scene->pieces[0].uv[2 * vertex + axis];
}

static double furthest(const run *r, int32_t axis) {
    double most = -HUGE_VAL;
    for (int32_t i = 0; i < r->scene->pieces[0].vertices; i++) most = fmax(most, material(r, i, axis));
    return most;
}

/* Mean of coordinate k over the vertices whose material coordinate `axis` is `at`. */
static double mean_on_line(const run *r, int32_t axis, double at, int32_t k) {
    const double *x = drape_sim_positions(r->sim);
    double sum = 0;
    int32_t count = 0;
    for (int32_t i = 0; i < r->scene->pieces[0].vertices; i++)
        if (fabs(material(r, i, axis) - at) < 1e-9) sum += x[3 * i + k], count++;
    assert_true(count > 0);
    return sum / count;
}

static void assert_within(const char *what, double got, double want, double part) {
    printf("%-56s %.6g, wanted %.6g: %+.2f %%\n", what, got, want, 100 * (got / want - 1));
    assert_near(got, want, part * fabs(want), what);
}

/* ---- the elastica ---- */

/* B th'' + (load (1 - s) + end) cos th = 0 over a length of 1 (th: slope below the horizontal), th = 0 at the clamp
 * and th' = 0 at the tip; load and end over B. */
typedef struct elastica {
    double theta, curvature, x, z;
} elastica;

typedef struct weights {
    double load, end; /* rho g L^3 / B, P L^2 / (B width) */
} weights;

static elastica elastica_rate(elastica e, double s, weights w) {
    return (elastica){e.curvature, -(w.load * (1 - s) + w.end) * cos(e.theta), cos(e.theta), -sin(e.theta)};
}

static elastica elastica_add(elastica e, double h, elastica d) {
    return (elastica){e.theta + h * d.theta, e.curvature + h * d.curvature, e.x + h * d.x, e.z + h * d.z};
}

/* The tip with this curvature at the clamp: Runge-Kutta of order 4. */
static elastica elastica_shoot(double curvature, weights w) {
    enum { STEPS = 400 };
    const double h = 1.0 / STEPS;
    elastica e = {0, curvature, 0, 0};
    for (int32_t i = 0; i < STEPS; i++) {
        double s = i * h;
        elastica a = elastica_rate(e, s, w), b = elastica_rate(elastica_add(e, h / 2, a), s + h / 2, w);
        elastica c = elastica_rate(elastica_add(e, h / 2, b), s + h / 2, w);
        elastica d = elastica_rate(elastica_add(e, h, c), s + h, w);
        e = elastica_add(elastica_add(e, h / 6, a), h / 3, b);
        e = elastica_add(elastica_add(e, h / 3, c), h / 6, d);
    }
    return e;
}

static elastica elastica_tip(weights w) {
    double low = 0, high = w.load / 2 + w.end; /* the straight rod's is the most */
    for (int32_t i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (elastica_shoot(middle, w).curvature > 0) high = middle;
        else low = middle;
    }
    return elastica_shoot(low, w);
}

static double sag_of(double load) { return -elastica_tip((weights){load, 0}).z; }

/* By how much an elastica must be stiffer than B for the tip to sag so far. */
static double rigidity_of(double load, double sag) {
    double low = 0.1, high = 10;
    for (int32_t i = 0; i < 40; i++) {
        double middle = sqrt(low * high);
        if (sag_of(load / middle) > sag) low = middle;
        else high = middle;
    }
    return low;
}

static void test_elastica(void **state) {
    const char *path = test_shared_data("validation/elastica_gravity_cantilever_derived.csv");
    double load, ratio, sag, reach, degrees;
    char line[200];
    int32_t rows = 0;
    (void)state;
    if (!path) skip();
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%lf,%lf,%lf,%lf,%lf", &load, &ratio, &sag, &reach, &degrees) != 5) continue;
        elastica tip = elastica_tip((weights){load, 0});
        ASSERT_NEAR(-tip.z, sag, 2e-6);
        ASSERT_NEAR(tip.x, reach, 2e-6);
        ASSERT_NEAR(tip.theta * 180 / PI, degrees, 1e-3);
        rows++;
    }
    fclose(file);
    assert_true(rows > 0);
}

/* ---- cantilevers ---- */

typedef struct cantilever {
    double load;        /* rho g L^3 / B with L = 1 m, the whole length */
    int32_t cells;      /* along the strip */
    int32_t rows;       /* across: the width is rows / cells */
    int32_t axis;       /* 0: along warp, 1: along weft */
    const char *extra;  /* keys of the grid, or "" */
    const char *folder; /* of strip.obj in place of a grid; NULL: a grid */
} cantilever;

/* The strip begins at the origin. What lies within `clamp` of there is held: the edge and the next column. */
static void cantilever_text(const cantilever *c, double clamp, size_t size, char *text) {
    char shape[400];
    double length[2] = {1, 1}, away[2] = {0.5, 0.5}, held[2] = {9, 9};
    int32_t vertices[2] = {c->cells + 1, c->cells + 1};
    length[1 - c->axis] = (double)c->rows / c->cells, vertices[1 - c->axis] = c->rows + 1;
    away[1 - c->axis] = 0, held[c->axis] = clamp;
    if (c->folder) snprintf(shape, sizeof shape, "mesh: strip.obj");
    else
        snprintf(shape, sizeof shape,
                 "grid: {width: %.17g m, height: %.17g m, resolution: [%d, %d]%s}\n"
                 "    place: {translate: [%g m, %g m, 0]}",
                 length[0], length[1], vertices[0], vertices[1], c->extra, away[0], away[1]);
    snprintf(text, size,
             "drape: 1\n"
             "cloth:\n"
             "  - %s\n"
             "    material: {density: 200 g/m^2, stretch: 20 kN/m, shear: 5 kN/m, bend: %.17g N m, damping: 0}\n"
             "    pins:\n"
             "      - {box: [[-9, -9, -9], [%.17g, %.17g, 9]]}\n"
             "time: {step: 100 ms, fps: 10}\n"
             "solver: {tolerance: 1e-8}\n",
             shape, 0.2 * G / c->load, held[0], held[1]);
}

/* Mean depth of the tip's edge, m. */
static double cantilever_sag(drape_context *ctx, const cantilever *c, double clamp) {
    char text[1000], name[100];
    cantilever_text(c, clamp, sizeof text, text);
    snprintf(name, sizeof name, "%s/strip.yaml", c->folder ? c->folder : ".");
    run r = run_text(ctx, name, text);
    test_run_to_rest(ctx, r.sim, 1e-7, 2000);
    double sag = -mean_on_line(&r, c->axis, furthest(&r, c->axis), 2);
    run_end(&r);
    return sag;
}

/* What an elastica of rigidity B times `factor` sags whose clamp is `start` m into the strip. */
static double elastica_sag(double load, double start, double factor) {
    double free_length = 1 - start;
    return free_length * sag_of(load * pow(free_length, 3) / factor);
}

/* Columns 0 and 1 are held. Hinges on column 1 bend the half cells on either side of them, so the clamp is in the
 * middle of the first cell. */
static void test_narrow_cantilevers(void **state) {
    const double loads[] = {1, 5};
    for (int32_t i = 0; i < 8; i++) {
        int32_t cells = i & 1 ? 40 : 20;
        cantilever c = {.load = loads[i / 4], .cells = cells, .rows = cells / 10, .axis = i / 2 % 2, .extra = ""};
        double cell = 1.0 / cells;
        char what[100];
        snprintf(what, sizeof what, "cantilever, load %g, %d x %d cells, along %s", c.load, c.cells, c.rows,
                 c.axis ? "weft" : "warp");
        assert_within(what, cantilever_sag(*state, &c, 1.5 * cell), elastica_sag(c.load, cell / 2, 1), 0.03);
    }
}

/* A sheet with diagonals all one way is as stiff as 2.4 k where it may twist and 3 k where it may not: B to 1.25 B.
 * A wide one may in part. */
static void test_wide_cantilevers(void **state) {
    const double loads[] = {1, 5};
    for (int32_t i = 0; i < 6; i++) {
        cantilever c = {.load = loads[i / 3], .cells = 20, .rows = 5 << i % 3, .extra = ""};
        double sag = cantilever_sag(*state, &c, 1.5 / 20), free_length = 1 - 0.5 / 20;
        double rigidity = rigidity_of(c.load * pow(free_length, 3), sag / free_length);
        printf("cantilever, load %g, width %g: sags %.6g, as with %.3f B\n", c.load, c.rows / 20.0, sag, rigidity);
        assert_true(rigidity > 1 && rigidity < 1.25);
    }
}

/* Irregular triangles have no direction, and resist saddles too: some 5 to 30 % too stiff. */
static void test_irregular_cantilevers(void **state) {
    for (int32_t i = 0; i < 3; i++) {
        cantilever c = {.load = 1, .cells = 40, .rows = 4 << i, .axis = i % 2, .extra = ", irregular: true"};
        double sag = cantilever_sag(*state, &c, 1.5 / 40), free_length = 1 - 0.5 / 40;
        double rigidity = rigidity_of(c.load * pow(free_length, 3), sag / free_length);
        printf("irregular cantilever, width %g: sags %.6g, as with %.3f B\n", c.rows / 40.0, sag, rigidity);
        assert_true(rigidity > 1 && rigidity < 1.35);
    }
}

/* ---- cantilevers from mesh files ---- */

static void folder_make(char *folder) {
    strcpy(folder, "/tmp/drape-validation-XXXXXX");
    assert_non_null(mkdtemp(folder));
}

static void folder_remove(const char *folder) {
    char path[100];
    snprintf(path, sizeof path, "%s/strip.obj", folder);
    remove(path);
    rmdir(folder);
}

static FILE *strip_open(const char *folder) {
    char path[100];
    snprintf(path, sizeof path, "%s/strip.obj", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    return file;
}

static void put_vertex(FILE *file, double stretch, double u, double v) {
    fprintf(file, "v %.17g %.17g 0\nvt %.17g %.17g\n", stretch * u, v, u, v);
}

static void put_triangle(FILE *file, int32_t a, int32_t b, int32_t c) {
    fprintf(file, "f %d/%d %d/%d %d/%d\n", a, a, b, b, c, c);
}

/* Square cells whose diagonals turn from cell to cell as the colors of a chessboard do; pulled out along x. */
static void write_chessboard(const char *folder, int32_t cells, int32_t rows, double stretch) {
    FILE *file = strip_open(folder);
    for (int32_t j = 0; j <= rows; j++)
        for (int32_t i = 0; i <= cells; i++) put_vertex(file, stretch, (double)i / cells, (double)j / cells);
    for (int32_t j = 0; j < rows; j++)
        for (int32_t i = 0; i < cells; i++) {
            int32_t a = j * (cells + 1) + i + 1, b = a + 1, d = a + cells + 1, c = d + 1;
            bool other = (i + j) % 2;
            put_triangle(file, a, b, other ? d : c);
            put_triangle(file, other ? b : a, c, d);
        }
    fclose(file);
}

/* Here k_xy goes with nothing, and a strip has 2.4 k, a cylinder 2.5 k. So the width hardly matters, and the tip is
 * between those of elasticas that begin in the middle of the clamped cell and at its end. */
static void test_cantilevers_of_a_chessboard(void **state) {
    const int32_t rows[] = {2, 5, 10, 20}, cells = 20;
    char folder[64];
    folder_make(folder);
    for (int32_t i = 0; i < 8; i++) {
        cantilever c = {.load = i < 4 ? 1 : 5, .cells = cells, .rows = rows[i % 4], .folder = folder};
        write_chessboard(folder, cells, c.rows, 1);
        double sag = cantilever_sag(*state, &c, 1.5 / cells);
        double from_middle = elastica_sag(c.load, 0.5 / cells, 1), from_end = elastica_sag(c.load, 1.0 / cells, 1);
        printf("chessboard, load %g, width %g: sags %.6g, elasticas %.6g and %.6g\n", c.load, c.rows / 20.0, sag,
               from_middle, from_end);
        assert_true(sag < from_middle && sag > from_end);
    }
    folder_remove(folder);
}

/* A strip cut out of a one-way grid at 45 degrees: n hypotenuses d along u, m layers of height d/2 along v, and
 * halves of triangles at both ends. u is the strip's length or, with `across`, its width. */
static void write_diagonal(const char *folder, int32_t n, int32_t m, double d, bool across) {
    FILE *file = strip_open(folder);
    for (int32_t j = 0; j <= m; j++)
        for (int32_t i = 0; i <= n + j % 2; i++) {
            double u = j % 2 ? fmin(fmax(i - 0.5, 0), n) * d : i * d, v = j * d / 2;
            put_vertex(file, 1, across ? v : u, across ? u : v);
        }
    for (int32_t j = 0, first = 1; j < m; first += n + 1 + j % 2, j++) {
        int32_t next = first + n + 1 + j % 2, even = j % 2 ? next : first, odd = j % 2 ? first : next;
        for (int32_t i = 0; i <= n; i++) put_triangle(file, even + i, odd + i + 1, odd + i);
        for (int32_t i = 0; i < n; i++) put_triangle(file, even + i, even + i + 1, odd + i + 1);
    }
    fclose(file);
}

/* Along the diagonals a narrow strip has 6 k = 2.5 B, across them 2 k = 0.83 B. */
static void test_cantilevers_at_45_degrees(void **state) {
    const double want[] = {2.5, 2 / 2.4};
    char folder[64];
    folder_make(folder);
    for (int32_t across = 0; across < 2; across++) {
        double d = across ? 1.0 / 30 : 1.0 / 28;
        if (across) write_diagonal(folder, 3, 60, d, true);
        else write_diagonal(folder, 28, 6, d, false);
        cantilever c = {.load = 1, .folder = folder};
        double sag = cantilever_sag(*state, &c, 0.75 * d), free_length = 1 - d / 4;
        double rigidity = rigidity_of(pow(free_length, 3), sag / free_length);
        assert_within(across ? "45 degrees, across the diagonals: rigidity / B" : "45 degrees, along: rigidity / B",
                      rigidity, want[across], 0.1);
    }
    folder_remove(folder);
}

/* Sze, Liu and Lo (2004), section 3.1: a force at the end, no weight. L = 10, width 1, EI = 100, P at most 4. */
static void check_end_shear(drape_context *ctx, double share, double reach_lost, double sag) {
    enum { CELLS = 40, ROWS = 4 };
    const double cell = 10 / (CELLS - 0.5); /* L from the middle of the first cell */
    double width = ROWS * cell, P = 4 * share * width;
    char text[1000], what[100];
    snprintf(text, sizeof text,
             "drape: 1\n"
             "cloth:\n"
             "  - grid: {width: %.17g m, height: %.17g m, resolution: [%d, %d]}\n"
             "    place: {translate: [%.17g m, 0, 0]}\n"
             "    material: {density: 0.2, stretch: 20 kN/m, shear: 5 kN/m, bend: 100 N m, damping: 0}\n"
             "    pins: [{box: [[-9, -9, -9], [%.17g, 9, 9]]}]\n"
             "    loads: [{where: right-edge, force: [0, 0, %.17g N]}]\n"
             "forces: {gravity: [0, 0, 0]}\n"
             "time: {step: 500 ms, fps: 2}\n"
             "solver: {tolerance: 1e-8}\n",
             CELLS * cell, width, CELLS + 1, ROWS + 1, CELLS * cell / 2, 1.5 * cell, -P / (ROWS + 1));
    run r = run_text(ctx, "shear", text);
    test_run_to_rest(ctx, r.sim, 1e-6, 2000);
    double tip = furthest(&r, 0);
    snprintf(what, sizeof what, "force %g of the most at the end: sag", share);
    assert_within(what, -mean_on_line(&r, 0, tip, 2), sag, 0.03);
    elastica e = elastica_tip((weights){0, 4 * share});
    ASSERT_NEAR(-10 * e.z, sag, 0.005);
    ASSERT_NEAR(10 - 10 * e.x, reach_lost, 0.005);
    run_end(&r);
}

static void test_end_shear(void **state) {
    check_end_shear(*state, 0.25, 0.563, 3.015);
    check_end_shear(*state, 0.5, 1.604, 4.933);
    check_end_shear(*state, 1, 3.286, 6.698);
}

/* ---- other statics ---- */

static void test_hanging_strip(void **state) {
    run r = run_text(*state, "hanging",
                     "drape: 1\n"
                     "cloth:\n"
                     "  - grid: {width: 0.2 m, height: 1 m, resolution: [5, 21]}\n"
                     "    place: {rotate: [90, 0, 0]}\n"
                     "    material: {density: 0.3, stretch: 200 N/m, shear: 100 N/m, bend: 0, damping: 0}\n"
                     "    pins: [{where: top-edge}]\n"
                     "time: {step: 500 ms, fps: 2}\n"
                     "solver: {tolerance: 1e-10}\n");
    test_run_to_rest(*state, r.sim, 1e-10, 1000);
    assert_within("hanging strip: elongation", -0.5 - mean_on_line(&r, 1, -0.5, 2), 0.3 * G / (2 * 200), 0.005);
    run_end(&r);
}

static void test_taut_strip(void **state) {
    run r = run_text(*state, "taut",
                     "drape: 1\n"
                     "cloth:\n"
                     "  - grid: {width: 1 m, height: 0.1 m, resolution: [41, 5]}\n"
                     "    material: {density: 0.2, stretch: 2 kN/m, shear: 100 N/m, bend: 0, damping: 0}\n"
                     "    pins: [{where: [left-edge, right-edge]}]\n"
                     "time: {step: 100 ms, fps: 10}\n"
                     "solver: {tolerance: 1e-10}\n");
    test_run_to_rest(*state, r.sim, 1e-9, 2000);
    assert_within("taut strip: sag", -mean_on_line(&r, 0, 0, 2), cbrt(3 * 0.2 * G / (64 * 2000)), 0.01);
    run_end(&r);
}

/* a (cosh(D / 2a) - 1) with 2 a sinh(D / 2a) = L, by bisection. */
static double catenary_sag(double L, double D) {
    double low = 0.01 * D, high = 100 * D;
    for (int32_t i = 0; i < 200; i++) {
        double a = (low + high) / 2;
        if (2 * a * sinh(D / (2 * a)) > L) low = a;
        else high = a;
    }
    return low * (cosh(D / (2 * low)) - 1);
}

/* It starts flat, and one end goes to the other by 0.2 m. */
static void test_catenary(void **state) {
    run r = run_text(*state, "catenary",
                     "drape: 1\n"
                     "cloth:\n"
                     "  - grid: {width: 1 m, height: 0.1 m, resolution: [41, 5]}\n"
                     "    material: {density: 0.2, stretch: 2 kN/m, shear: 100 N/m, bend: 0, damping: 0}\n"
                     "    pins:\n"
                     "      - {where: left-edge}\n"
                     "      - where: right-edge\n"
                     "        move: {keys: [{time: 0 s, offset: [0, 0, 0]}, {time: 1 s, offset: [-0.2 m, 0, 0]}]}\n"
                     "time: {step: 50 ms, fps: 20}\n"
                     "solver: {tolerance: 1e-10}\n");
    ASSERT_NEAR(catenary_sag(1, 0.8), 0.265438, 1e-6);
    test_run(*state, r.sim, 20);
    test_run_to_rest(*state, r.sim, 1e-7, 5000);
    assert_within("catenary: sag", -mean_on_line(&r, 0, 0, 2), catenary_sag(1, 0.8), 0.01);
    run_end(&r);
}

/* ---- an irregular sheet against a regular one ---- */

/* z of the material point (0, 0). */
static double height_of_centre(const run *r) {
    const drape_piece *p = r->scene->pieces;
    const double *x = drape_sim_positions(r->sim), least = -1e-12;
    for (int32_t t = 0; t < p->triangles; t++) {
        const int32_t *c = p->triangle + 3 * t;
        double u[3], v[3];
        for (int32_t k = 0; k < 3; k++) u[k] = material(r, c[k], 0), v[k] = material(r, c[k], 1);
        double area = (u[1] - u[0]) * (v[2] - v[0]) - (u[2] - u[0]) * (v[1] - v[0]);
        double a = (u[1] * v[2] - u[2] * v[1]) / area, b = (u[2] * v[0] - u[0] * v[2]) / area, d = 1 - a - b;
        if (a < least || b < least || d < least) continue;
        return a * x[3 * c[0] + 2] + b * x[3 * c[1] + 2] + d * x[3 * c[2] + 2];
    }
    fail_msg("no triangle at the centre");
    return 0;
}

/* Starts with the sag that the sheet would have as a taut string, which is near where it ends. */
static double drooping_sag(drape_context *ctx, bool irregular) {
    const char *const set[] = {"time.step=20 ms", "solver.tolerance=1e-3"};
    drape_scene_options options = {.resolution = 161, .irregular = irregular, .set = set, .set_count = 2};
    run r = {.ctx = ctx};
    ASSERT_OK(ctx, drape_scene_load(ctx, "drooping", &options, &r.loaded));
    r.scene = drape_loaded_scene_edit(r.loaded);
    r.scene->integration.ode.method = DRAPE_LINEARISED_EULER; /* it comes to rest soonest */
    r.scene->integration.max_stretch = INFINITY;              /* long steps stretch it on the way */
    ASSERT_OK(ctx, drape_sim_create(ctx, r.scene, &r.sim));
    const drape_material *m = &r.scene->pieces[0].material;
    double *x = test_positions(r.sim), sag = cbrt(3 * m->density * G / (64 * m->stretch[0]));
    for (int32_t i = 0; i < r.scene->pieces[0].vertices; i++) x[3 * i + 2] = -sag * (1 - 4 * x[3 * i] * x[3 * i]);
    test_set_state(ctx, r.sim, x, NULL);
    int32_t steps = test_run_to_rest(ctx, r.sim, 2e-6, 200);
    sag = -height_of_centre(&r);
    printf("drooping%s: sag %.7g m after %d steps\n", irregular ? ", irregular" : "", sag, steps);
    run_end(&r);
    return sag;
}

static void test_irregular_drooping(void **state) {
    double regular = drooping_sag(*state, false), irregular = drooping_sag(*state, true);
    assert_within("drooping, irregular against regular", irregular, regular, 0.01);
}

/* ---- vibrations ---- */

/* Seconds of a period of mean coordinate k on a line of the cloth, less `centre`. */
static double period(const run *r, int32_t axis, double at, int32_t k, double centre) {
    double time[3], last = 0, h = r->scene->step;
    for (int32_t count = 0; count < 3;) {
        double value = mean_on_line(r, axis, at, k) - centre;
        if (last * value < 0) time[count++] = drape_sim_time(r->sim) - h * value / (value - last);
        last = value;
        assert_true(drape_sim_steps(r->sim) < 20000);
        test_run(r->ctx, r->sim, 1);
    }
    return time[2] - time[0];
}

/* A mesh file that is longer than its texture coordinates is pulled tight. All parts get the same speed: the middle
 * then goes up and down in straight lines, with the period of the lowest mode. */
static void test_taut_string(void **state) {
    double want = sqrt(500 * 0.05 / (0.2 * 1.05)) / 2;
    char folder[64], name[100];
    folder_make(folder);
    write_chessboard(folder, 40, 4, 1.05);
    snprintf(name, sizeof name, "%s/string.yaml", folder);
    run r = run_text(*state, name,
                     "drape: 1\n"
                     "cloth:\n"
                     "  - mesh: strip.obj\n"
                     "    material: {density: 0.2, stretch: 500 N/m, shear: 100 N/m, bend: 0, damping: 0}\n"
                     "    pins: [{box: [[-1, -1, -1], [0.001, 1, 1]]}, {box: [[1.049, -1, -1], [2, 1, 1]]}]\n"
                     "    velocity: [0, 0, 1 cm/s]\n"
                     "forces: {gravity: [0, 0, 0]}\n"
                     "time: {step: 0.25 ms, fps: 4000}\n"
                     "solver: {tolerance: 1e-10}\n");
    ASSERT_NEAR(want, 5.45545, 1e-5);
    assert_within("taut string: frequency", 1 / period(&r, 0, 0.5, 2, 0), want, 0.02);
    run_end(&r);
    folder_remove(folder);
}

static const double J0_ROOT = 2.404825557695773;

/* J0 by its series. */
static double bessel_j0(double x) {
    double term = 1, sum = 1;
    for (int32_t i = 1; i < 30; i++) sum += term *= -x * x / (4.0 * i * i);
    return sum;
}

/* Starts in the shape of the lowest mode, which no key of a scene gives. */
static void test_chain(void **state) {
    double want = 4 * PI / J0_ROOT * sqrt(1 / G);
    run r = run_text(*state, "chain",
                     "drape: 1\n"
                     "cloth:\n"
                     "  - grid: {width: 0.025 m, height: 1 m, resolution: [2, 41]}\n"
                     "    place: {rotate: [90, 0, 0]}\n"
                     "    material: {density: 0.2, stretch: 20 kN/m, shear: 2 kN/m, bend: 0, damping: 0}\n"
                     "    pins: [{where: top-edge}]\n"
                     "time: {step: 2 ms, fps: 500}\n"
                     "solver: {tolerance: 1e-10}\n");
    double *x = test_positions(r.sim);
    for (int32_t i = 0; i < r.scene->pieces[0].vertices; i++)
        x[3 * i + 1] += 1e-3 * bessel_j0(J0_ROOT * sqrt(0.5 + material(&r, i, 1)));
    test_set_state(r.ctx, r.sim, x, NULL);
    ASSERT_NEAR(want, 1.66837, 1e-5);
    assert_within("chain: period", period(&r, 1, -0.5, 1, 0), want, 0.02);
    run_end(&r);
}

/* A plate on a hinge along its upper edge, let go a tenth of a degree from the vertical. */
static void test_flap(void **state) {
    double want = 2 * PI * sqrt(2 / (3 * G));
    run r = run_text(*state, "flap",
                     "drape: 1\n"
                     "cloth:\n"
                     "  - grid: {width: 0.1 m, height: 1 m, resolution: [2, 11]}\n"
                     "    place: {rotate: [90.1, 0, 0]}\n"
                     "    material: {density: 0.2, stretch: 20 kN/m, shear: 2 kN/m, bend: 1000 N m, damping: 0}\n"
                     "    pins: [{where: top-edge}]\n"
                     "time: {step: 2 ms, fps: 500}\n"
                     "solver: {tolerance: 1e-10}\n");
    ASSERT_NEAR(want, 1.63795, 1e-5);
    double hinge = mean_on_line(&r, 1, 0.5, 1);
    assert_within("flap: period", period(&r, 1, -0.5, 1, hinge), want, 0.02);
    run_end(&r);
}

int main(void) {
    drape_context *ctx = test_context(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elastica),
        cmocka_unit_test_prestate(test_narrow_cantilevers, ctx),
        cmocka_unit_test_prestate(test_wide_cantilevers, ctx),
        cmocka_unit_test_prestate(test_irregular_cantilevers, ctx),
        cmocka_unit_test_prestate(test_cantilevers_of_a_chessboard, ctx),
        cmocka_unit_test_prestate(test_cantilevers_at_45_degrees, ctx),
        cmocka_unit_test_prestate(test_end_shear, ctx),
        cmocka_unit_test_prestate(test_hanging_strip, ctx),
        cmocka_unit_test_prestate(test_taut_strip, ctx),
        cmocka_unit_test_prestate(test_catenary, ctx),
        cmocka_unit_test_prestate(test_irregular_drooping, ctx),
        cmocka_unit_test_prestate(test_taut_string, ctx),
        cmocka_unit_test_prestate(test_chain, ctx),
        cmocka_unit_test_prestate(test_flap, ctx),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    drape_context_destroy(ctx);
    return failed;
}
