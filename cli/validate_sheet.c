/* validate_sheet.c: strips of 2 m on all kinds of meshes, for drape validate. Half of a strip is made, as a grid or
 * cut out of a lattice that is turned by 45 degrees, and then mirrored at x = 0. */
#include "validate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double SAME = 1e-9, PI = 3.14159265358979323846; /* m: on a line */

static const char *const names[STRIP_MESHES] = {"one way",       "alternating",    "irregular",
                                                "turned, along", "turned, across", "turned, alternating"};

const char *strip_mesh_name(strip_mesh mesh) { return names[mesh]; }

void strip_sheet_clear(strip_sheet *s) {
    free(s->rest), free(s->uv), free(s->triangle), free(s->held), free(s->all);
    *s = (strip_sheet){0};
}

/* Room for so many, with none in it yet. */
static bool make_room(strip_sheet *s, int32_t vertices, int32_t triangles) {
    *s = (strip_sheet){.rest = malloc(sizeof(double) * 3 * (size_t)vertices),
                       .uv = malloc(sizeof(double) * 2 * (size_t)vertices),
                       .triangle = malloc(sizeof(int32_t) * 3 * (size_t)triangles),
                       .held = malloc(sizeof(int32_t) * (size_t)vertices),
                       .all = malloc(sizeof(int32_t) * (size_t)vertices)};
    if (s->rest && s->uv && s->triangle && s->held && s->all) return true;
    complain("out of memory");
    strip_sheet_clear(s);
    return false;
}

static int32_t add_vertex(strip_sheet *s, double x, double y) {
    const int32_t i = s->vertices++;
    s->rest[3 * i] = x, s->rest[3 * i + 1] = y, s->rest[3 * i + 2] = 0;
    s->all[i] = i;
    return i;
}

/* Counter-clockwise. */
static void add_triangle(strip_sheet *s, int32_t a, int32_t b, int32_t c) {
    int32_t *t = s->triangle + 3 * (int64_t)s->triangles++;
    const double *p = s->rest + 3 * a, *q = s->rest + 3 * b, *r = s->rest + 3 * c;
    const bool turns_left = (q[0] - p[0]) * (r[1] - p[1]) > (q[1] - p[1]) * (r[0] - p[0]);
    t[0] = a, t[1] = turns_left ? b : c, t[2] = turns_left ? c : b;
}

/* ---- grids ---- */

static bool make_grid(drape_context *ctx, strip_mesh mesh, int32_t cells, double width, int32_t seed,
                      strip_sheet *out) {
    static const char *const keys[] = {"", ", diagonals: alternating", ", irregular: true"};
    drape_loaded_scene *loaded = NULL;
    char text[300];
    snprintf(text, sizeof text,
             "drape: 1\ncloth: [{grid: {width: 1 m, height: %.17g m, resolution: [%d, %d]%s, seed: %d}, place: "
             "{translate: [50 cm, 0, 0]}}]\n",
             width, cells + 1, (int32_t)fmax(1, floor(width * cells + 0.5)) + 1, keys[mesh], seed);
    if (drape_scene_parse(ctx, "strip", text, (int64_t)strlen(text), NULL, &loaded)) {
        complain("%s", drape_message(ctx));
        return false;
    }
    const drape_piece *p = &drape_loaded_scene_data(loaded)->pieces[0];
    const bool good = make_room(out, p->vertices, p->triangles);
    for (int32_t i = 0; i < p->vertices && good; i++) add_vertex(out, p->rest[3 * i], p->rest[3 * i + 1]);
    for (int32_t t = 0; t < p->triangles && good; t++)
        add_triangle(out, p->triangle[3 * t], p->triangle[3 * t + 1], p->triangle[3 * t + 2]);
    drape_loaded_scene_destroy(loaded);
    return good;
}

/* ---- lattices that are turned ---- */

/* Rows of vertices with d between them, d/2 apart and displaced by d/2 against each other: squares on their corners.
 * n hypotenuses along x, m rows up, halves of triangles at both ends. The diagonals of the squares lie along the
 * rows; where they alternate, every second row of squares has upright ones. */
typedef struct lattice {
    int32_t n, m;
    double d;
} lattice;

static int32_t row_start(const lattice *l, int32_t j) { return j * (l->n + 1) + j / 2; }

static void fill_lattice(const lattice *l, bool across, bool alternating, strip_sheet *out) {
    for (int32_t j = 0; j <= l->m; j++)
        for (int32_t i = 0; i <= l->n + j % 2; i++) {
            const double along = j % 2 ? fmin(fmax(i - 0.5, 0), l->n) * l->d : i * l->d, up = j * l->d / 2;
            add_vertex(out, across ? up : along, across ? along : up);
        }
    for (int32_t j = 0; j < l->m; j++) {
        const int32_t even = row_start(l, j + j % 2), odd = row_start(l, j + 1 - j % 2);
        for (int32_t i = 0; i < l->n; i++) add_triangle(out, even + i, even + i + 1, odd + i + 1);
        for (int32_t i = 0; i <= l->n; i++)
            if (!alternating || i == 0 || i == l->n) add_triangle(out, even + i, odd + i + 1, odd + i);
    }
    for (int32_t j = 1; j < l->m && alternating; j += 2) {
        const int32_t below = row_start(l, j - 1), at = row_start(l, j), above = row_start(l, j + 1);
        for (int32_t i = 1; i < l->n; i++) {
            add_triangle(out, below + i, at + i + 1, above + i);
            add_triangle(out, below + i, above + i, at + i);
        }
    }
}

static bool make_lattice(strip_mesh mesh, int32_t cells, double width, strip_sheet *out) {
    const bool across = mesh == STRIP_TURNED_ACROSS;
    const int32_t columns = 2 * (int32_t)floor(cells / 1.4142135623730951 + 0.5); /* of d/2 */
    const int32_t rows = (int32_t)fmax(2, 2 * floor(width * columns / 2 + 0.5));
    const lattice l = {across ? rows / 2 : columns / 2, across ? columns : rows, 2.0 / columns};
    if (!make_room(out, (l.n + 2) * (l.m + 1), 2 * (l.n + 1) * l.m)) return false;
    fill_lattice(&l, across, mesh == STRIP_TURNED_ALTERNATING, out);
    return true;
}

/* ---- mirrored ---- */

static bool mirror(const strip_sheet *half, strip_sheet *out) {
    int32_t *image = malloc(sizeof(int32_t) * (size_t)half->vertices);
    const bool good = make_room(out, 2 * half->vertices, 2 * half->triangles);
    if (!image) complain("out of memory");
    for (int32_t i = 0; i < half->vertices && good && image; i++) {
        const double x = half->rest[3 * i], y = half->rest[3 * i + 1];
        add_vertex(out, x, y);
        if (x < SAME) out->held[out->held_count++] = i;
    }
    for (int32_t i = 0; i < half->vertices && good && image; i++) {
        const double x = half->rest[3 * i];
        image[i] = x < SAME ? i : add_vertex(out, -x, half->rest[3 * i + 1]);
    }
    for (int32_t t = 0; t < half->triangles && good && image; t++) {
        const int32_t *c = half->triangle + 3 * (int64_t)t;
        add_triangle(out, c[0], c[1], c[2]);
        add_triangle(out, image[c[0]], image[c[1]], image[c[2]]);
    }
    free(image);
    return good && image;
}

bool strip_sheet_create(drape_context *ctx, strip_mesh mesh, int32_t cells, double width, double angle, int32_t seed,
                        strip_sheet *out) {
    strip_sheet half = {0};
    const double turn = angle * PI / 180;
    bool good = mesh < STRIP_TURNED_ALONG ? make_grid(ctx, mesh, cells, width, seed, &half)
                                          : make_lattice(mesh, cells, width, &half);
    if (good) good = mirror(&half, out);
    strip_sheet_clear(&half);
    if (!good) return false;
    for (int32_t i = 0; i < out->vertices; i++) { /* the warp is at `angle` to x */
        const double x = out->rest[3 * i], y = out->rest[3 * i + 1];
        out->uv[2 * i] = cos(turn) * x + sin(turn) * y, out->uv[2 * i + 1] = cos(turn) * y - sin(turn) * x;
    }
    return true;
}

bool strip_sheet_is_tip(const strip_sheet *s, int32_t vertex) { return fabs(s->rest[3 * vertex]) > 1 - SAME; }
