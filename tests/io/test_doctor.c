/* The doctor: each flaw alone is found with its numbers, and nothing else. On random meshes its counts are those of a
 * brute-force recount. Its errors are exactly what readers and cloth refuse. */
#include "drape/io.h"
#include "io/doctor.h"
#include "io/mesh.h"
#include "support/meshes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_KEPT = 64, MOST_VERTICES = 12, MOST_TRIANGLES = 24 };

/* ---- findings kept ---- */

typedef struct kept {
    char code[40], message[512];
    drape_severity severity;
    int64_t count;
    int32_t line, vertices, vertex[8], triangles, triangle[8];
} kept;

typedef struct findings {
    int32_t count;
    int64_t all; /* sum of their counts */
    kept each[MOST_KEPT];
} findings;

static void keep(void *user, const drape_finding *f) {
    findings *all = user;
    all->all += f->count;
    assert_non_null(f->message);
    assert_null(strchr(f->message, '\n'));
    if (all->count == MOST_KEPT) return;
    kept *k = &all->each[all->count++];
    *k = (kept){.severity = f->severity, .count = f->count, .line = f->line};
    snprintf(k->code, sizeof k->code, "%s", f->code);
    snprintf(k->message, sizeof k->message, "%s", f->message);
    k->vertices = f->vertex_count < 8 ? f->vertex_count : 8;
    k->triangles = f->triangle_count < 8 ? f->triangle_count : 8;
    for (int32_t i = 0; i < k->vertices; i++) k->vertex[i] = f->vertex[i];
    for (int32_t i = 0; i < k->triangles; i++) k->triangle[i] = f->triangle[i];
}

static int64_t count_of(const findings *all, const char *code) {
    int64_t n = 0;
    for (int32_t i = 0; i < all->count; i++)
        if (strcmp(all->each[i].code, code) == 0) n += all->each[i].count;
    return n;
}

/* ---- texts as files ---- */

static char folder[] = "/tmp/drape-doctor-XXXXXX";

static const char *write_file(const char *name, const char *text, size_t size) {
    static char path[100];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return path;
}

static drape_check_summary check_text(drape_context *ctx, const char *name, const char *text, int32_t examples,
                                      findings *out) {
    drape_check_summary summary;
    *out = (findings){0};
    drape_check_options how = {.examples = examples, .finding = keep, .user = out};
    ASSERT_OK(ctx, drape_check(ctx, write_file(name, text, strlen(text)), &how, &summary));
    assert_int_equal(out->all, summary.errors + summary.warnings);
    return summary;
}

/* ---- one flaw each ---- */

#define SQUARE "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"

typedef struct flaw {
    const char *text, *code;
    drape_severity severity;
    const char *numbers; /* "vertices | triangles" of the only finding; or its line as ":5" */
} flaw;

static const flaw flaws[] = {
    {SQUARE "v 2 0 0\nf 1 2 3\nf 1 3 4\nf 2 1 5\n", "degenerate-triangle", DRAPE_SEVERITY_ERROR, "1 0 4 | 2"},
    {SQUARE "f 1 2 3\nf 1 3 4\nf 1 4 4\n", "repeated-vertex", DRAPE_SEVERITY_ERROR, ":7"},
    {SQUARE "f 1 2 3\nf 1 3 4\nf 1 3 9\n", "bad-line", DRAPE_SEVERITY_ERROR, ":7"},
    {SQUARE "v nan 0 0\nf 1 2 3\nf 1 3 4\n f 2 1 5\n", "not-finite", DRAPE_SEVERITY_ERROR, ":5"},
    {SQUARE "v 0 0 1\nf 1 2 3\nf 1 3 4\n", "unreferenced-vertex", DRAPE_SEVERITY_ERROR, "4 |"},
    {SQUARE "v 0.5 0.5 1\nf 1 2 3\nf 1 3 4\nf 3 1 5\n", "non-manifold-edge", DRAPE_SEVERITY_ERROR, "0 2 | 0 1 2"},
    {SQUARE "v -1 0 0\nv -1 1 0\nf 1 2 3\nf 1 3 4\nf 1 4 5\nf 4 5 6\n", "flipped-triangle", DRAPE_SEVERITY_WARNING,
     "| 3"},
    {SQUARE "v -1 0 0\nv -1 -1 0\nf 1 2 3\nf 1 3 4\nf 1 5 6\n", "bow-tie-vertex", DRAPE_SEVERITY_WARNING, "0 |"},
    {SQUARE "v 1 0 0\nv 1 1 0\nv 2 0 0\nf 1 2 3\nf 1 3 4\nf 5 7 6\n", "duplicate-vertex", DRAPE_SEVERITY_WARNING,
     NULL},
    {SQUARE "v 0 3 0\nv 1 3 0\nv 0 4 0\nf 1 2 3\nf 1 3 4\nf 5 6 7\nf 7 6 5\n", "duplicate-triangle",
     DRAPE_SEVERITY_WARNING, NULL},
    {"v 0 0 0\nv 1 0 0\nv 0.5 0.002 0\nf 1 2 3\n", "thin-triangle", DRAPE_SEVERITY_WARNING, "0 1 2 | 0"},
    {"v 0 0 0\nv 170 0 0\nv 0 60 0\nf 1 2 3\n", "odd-size", DRAPE_SEVERITY_WARNING, "|"},
    {SQUARE "vt 0 0\nvt 1 0\nvt 1 1\nvt 2 2\nf 1/1 2/2 3/3\nf 1/1 3/3 4/4\n", "uv-zero-area", DRAPE_SEVERITY_ERROR,
     "0 2 3 | 1"},
    {SQUARE "v 0 2 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nvt 1 0.1\nf 1/1 2/2 3/3\nf 1/1 3/3 4/4\nf 4/4 3/3 5/5\n",
     "uv-inverted", DRAPE_SEVERITY_WARNING, "3 2 4 | 2"},
    {SQUARE "vt 0 0\nvt .1 0\nvt .1 .1\nvt 0 .1\nf 1/1 2/2 3/3\nf 1/1 3/3 4/4\n", "uv-no-lengths",
     DRAPE_SEVERITY_WARNING, "|"},
    {SQUARE "f 1 2 3\nf 1 3 4\nfrob 7\n", "noted", DRAPE_SEVERITY_WARNING, ":7"},
    {"v 0 0 0\n", "bad-mesh", DRAPE_SEVERITY_ERROR, NULL},
};

static void describe(const kept *k, char *out, size_t size) {
    size_t used = 0;
    for (int32_t i = 0; i < k->vertices; i++) used += (size_t)snprintf(out + used, size - used, "%d ", k->vertex[i]);
    used += (size_t)snprintf(out + used, size - used, "|");
    for (int32_t i = 0; i < k->triangles; i++)
        used += (size_t)snprintf(out + used, size - used, " %d", k->triangle[i]);
}

static void each_flaw_is_found_alone(void **state) {
    drape_context *ctx = test_context(1);
    findings found;
    (void)state;
    for (size_t i = 0; i < sizeof flaws / sizeof *flaws; i++) {
        const flaw *f = &flaws[i];
        char got[100];
        check_text(ctx, "flaw.obj", f->text, 0, &found);
        for (int32_t k = 0; k < found.count; k++) assert_string_equal(found.each[k].code, f->code);
        assert_true(found.count >= 1);
        assert_int_equal(found.each[0].severity, f->severity);
        if (!f->numbers) continue;
        assert_int_equal(found.count, 1);
        if (f->numbers[0] == ':') assert_int_equal(found.each[0].line, atoi(f->numbers + 1));
        else {
            describe(&found.each[0], got, sizeof got);
            assert_string_equal(got, f->numbers);
        }
    }
    drape_context_destroy(ctx);
}

static void a_moebius_strip_has_one_side(void **state) {
    drape_context *ctx = test_context(1);
    findings found;
    char text[4000];
    size_t used = 0;
    const int32_t n = 12;
    (void)state;
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = -1; k < 2; k += 2) {
            double a = 2 * acos(-1) * i / n, r = 1 + 0.3 * k * cos(a / 2);
            used += (size_t)snprintf(text + used, sizeof text - used, "v %g %g %g\n", r * cos(a), r * sin(a),
                                     0.3 * k * sin(a / 2));
        }
    for (int32_t i = 0; i < n; i++) {
        int32_t a = 2 * i + 1, b = 2 * i + 2, c = i + 1 < n ? a + 2 : 2, d = i + 1 < n ? b + 2 : 1;
        used += (size_t)snprintf(text + used, sizeof text - used, "f %d %d %d\nf %d %d %d\n", a, b, c, b, d, c);
    }
    check_text(ctx, "strip.obj", text, 0, &found);
    assert_int_equal(count_of(&found, "not-orientable"), 1);
    drape_context_destroy(ctx);
}

/* ---- many ---- */

static void many_are_counted_and_few_are_told(void **state) {
    drape_context *ctx = test_context(1);
    findings few, all;
    char text[4000] = SQUARE "f 1 2 3\nf 1 3 4\n";
    (void)state;
    for (int32_t i = 0; i < 20; i++) strcat(text, "v 3 3 3\n");
    for (int32_t i = 0; i < 9; i++) strcat(text, "f 1 2 99\n");
    drape_check_summary a = check_text(ctx, "many.obj", text, 2, &few);
    drape_check_summary b = check_text(ctx, "many.obj", text, 1000, &all);
    assert_int_equal(a.errors, 9); /* with faces that could not be read, who knows whether a vertex is loose */
    assert_int_equal(b.errors, 9);
    assert_int_equal(few.count, 3);
    assert_int_equal(few.each[2].count, 7);
    assert_int_equal(all.count, 9);
    drape_context_destroy(ctx);
}

/* ---- random soups against brute force ---- */

typedef struct soup {
    int32_t vertices, triangles;
    double rest[3 * MOST_VERTICES];
    int32_t triangle[MOST_TRIANGLES][3];
} soup;

static soup random_soup(test_random *r) {
    soup s = {.vertices = 4 + test_random_below(r, MOST_VERTICES - 3)};
    s.triangles = 1 + test_random_below(r, test_random_below(r, 2) ? 6 : MOST_TRIANGLES);
    for (int32_t i = 0; i < 3 * s.vertices; i++) s.rest[i] = test_random_unit(r);
    if (test_random_below(r, 3) == 0) memcpy(s.rest, s.rest + 3, 3 * sizeof(double)); /* the first two coincide */
    for (int32_t t = 0; t < s.triangles; t++) {
        int32_t *v = s.triangle[t];
        do
            for (int32_t k = 0; k < 3; k++) v[k] = test_random_below(r, s.vertices);
        while (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]);
    }
    return s;
}

static bool has(const int32_t v[3], int32_t a) { return v[0] == a || v[1] == a || v[2] == a; }

static int32_t triangles_at(const soup *s, int32_t a, int32_t b) {
    int32_t n = 0;
    for (int32_t t = 0; t < s->triangles; t++) n += has(s->triangle[t], a) && has(s->triangle[t], b);
    return n;
}

static int64_t crowded_edges(const soup *s) {
    int64_t n = 0;
    for (int32_t a = 0; a < s->vertices; a++)
        for (int32_t b = 0; b < a; b++) n += triangles_at(s, a, b) > 2;
    return n;
}

static int64_t loose_vertices(const soup *s) {
    int64_t n = 0;
    for (int32_t v = 0; v < s->vertices; v++) n += triangles_at(s, v, v) == 0;
    return n;
}

static int64_t doubled_triangles(const soup *s) {
    int64_t n = 0;
    for (int32_t t = 0; t < s->triangles; t++) {
        bool before = false;
        for (int32_t u = 0; u < t; u++) {
            const int32_t *v = s->triangle[u];
            before |= has(s->triangle[t], v[0]) && has(s->triangle[t], v[1]) && has(s->triangle[t], v[2]);
        }
        n += before;
    }
    return n;
}

/* Colors spread over the triangles at a vertex until nothing changes. */
static int64_t bow_ties(const soup *s) {
    int64_t n = 0;
    for (int32_t v = 0; v < s->vertices; v++) {
        int32_t color[MOST_TRIANGLES], colors = 0;
        for (int32_t t = 0; t < s->triangles; t++) color[t] = t;
        for (bool changed = true; changed;) {
            changed = false;
            for (int32_t t = 0; t < s->triangles; t++)
                for (int32_t u = 0; u < s->triangles; u++) {
                    int32_t shared = 0;
                    if (!has(s->triangle[t], v) || !has(s->triangle[u], v) || color[t] <= color[u]) continue;
                    for (int32_t k = 0; k < 3; k++) shared += has(s->triangle[t], s->triangle[u][k]);
                    if (shared < 2) continue;
                    color[t] = color[u];
                    changed = true;
                }
        }
        for (int32_t t = 0; t < s->triangles; t++) colors += has(s->triangle[t], v) && color[t] == t;
        n += colors > 1;
    }
    return n;
}

static drape_piece soup_piece(const soup *s) {
    return (drape_piece){.vertices = s->vertices,
                         .rest = s->rest,
                         .triangles = s->triangles,
                         .triangle = s->triangle[0],
                         .material = drape_material_defaults()};
}

typedef struct flips {
    bool flipped[MOST_TRIANGLES], one_sided;
    findings all;
} flips;

static void keep_flips(void *user, const drape_finding *f) {
    flips *flip = user;
    keep(&flip->all, f);
    if (strcmp(f->code, "flipped-triangle") == 0) flip->flipped[f->triangle[0]] = true;
    if (strcmp(f->code, "not-orientable") == 0) flip->one_sided = true;
}

static drape_check_summary examine(drape_context *ctx, const soup *s, flips *out) {
    drape_check_summary summary = {0};
    drape_check_options how = {.examples = 1000, .finding = keep_flips, .user = out};
    drape_i_doctor d = {.ctx = ctx, .options = &how, .summary = &summary};
    drape_piece p = soup_piece(s);
    *out = (flips){0};
    ASSERT_OK(ctx, drape_i_examine_topology(&d, &p));
    drape_i_examine_shape(&d, &p);
    return summary;
}

/* How often a triangle goes from a to b, those that are flipped being turned back. */
static int32_t goes(const soup *s, const flips *f, int32_t a, int32_t b) {
    int32_t n = 0;
    for (int32_t t = 0; t < s->triangles; t++)
        for (int32_t k = 0; k < 3; k++) {
            int32_t from = s->triangle[t][k], to = s->triangle[t][(k + 1) % 3];
            n += f->flipped[t] ? from == b && to == a : from == a && to == b;
        }
    return n;
}

static void assert_wound_alike(const soup *s, const flips *f) {
    for (int32_t a = 0; a < s->vertices && !f->one_sided; a++)
        for (int32_t b = 0; b < a; b++)
            if (triangles_at(s, a, b) == 2) assert_int_equal(goes(s, f, a, b), 1);
}

static void counts_are_those_of_a_recount(void **state) {
    drape_context *ctx = test_context(1);
    test_random r = {41};
    flips found;
    int64_t seen[4] = {0};
    (void)state;
    for (int32_t i = 0; i < 3000; i++) {
        soup s = random_soup(&r);
        examine(ctx, &s, &found);
        if (found.all.count == MOST_KEPT) continue;
        const int64_t want[4] = {crowded_edges(&s), loose_vertices(&s), doubled_triangles(&s), bow_ties(&s)};
        assert_int_equal(count_of(&found.all, "non-manifold-edge"), want[0]);
        assert_int_equal(count_of(&found.all, "unreferenced-vertex"), want[1]);
        assert_int_equal(count_of(&found.all, "duplicate-triangle"), want[2]);
        assert_int_equal(count_of(&found.all, "bow-tie-vertex"), want[3]);
        assert_wound_alike(&s, &found);
        for (int32_t k = 0; k < 4; k++) seen[k] += want[k];
    }
    for (int32_t k = 0; k < 4; k++) assert_true(seen[k] > 100);
    drape_context_destroy(ctx);
}

static void errors_are_what_cloth_refuses(void **state) {
    drape_context *ctx = test_context(1);
    test_random r = {42};
    flips found;
    int32_t refused = 0, taken = 0;
    (void)state;
    for (int32_t i = 0; i < 2000; i++) {
        soup s = random_soup(&r);
        drape_piece p = soup_piece(&s);
        drape_cloth *cloth;
        bool good = drape_cloth_create(ctx, &p, 1, NULL, &cloth) == DRAPE_OK;
        if (good) drape_cloth_destroy(cloth);
        assert_int_equal(examine(ctx, &s, &found).errors == 0, good);
        *(good ? &taken : &refused) += 1;
    }
    assert_true(refused > 100 && taken > 20);
    drape_context_destroy(ctx);
}

/* ---- damaged files ---- */

/* Changed at random, a file is read to its end or refused. The reader that stops at the first problem refuses it
 * exactly if the doctor found one in its lines. */
static void damage(drape_context *ctx, const char *name, const char *text, test_random *r) {
    char copy[1000], path[100];
    size_t size = strlen(text);
    findings found;
    memcpy(copy, text, size + 1);
    for (int32_t k = 1 + test_random_below(r, 3); k > 0; k--)
        copy[test_random_below(r, (int32_t)size)] = "0123456789 .-\nvfxe/"[test_random_below(r, 19)];
    check_text(ctx, name, copy, 0, &found);
    int64_t unread = count_of(&found, "bad-line") + count_of(&found, "not-finite") +
                     count_of(&found, "repeated-vertex") + count_of(&found, "bad-mesh");
    drape_i_arena arena = {0};
    drape_i_mesh mesh;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    drape_status status = drape_i_mesh_read(ctx, &arena, path, NULL, &mesh);
    assert_int_equal(status != DRAPE_OK, unread > 0);
    drape_i_arena_free(ctx, &arena);
}

static void damaged_files_are_read_to_their_end(void **state) {
    static const char obj[] = SQUARE "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nf 1/1 2/2 3/3\nf 1/1 3/3 4/4\n";
    static const char ply[] = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty "
                              "float z\nelement face 2\nproperty list uchar int vertex_indices\nend_header\n"
                              "0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 2\n3 0 2 3\n";
    drape_context *ctx = test_context(1);
    test_random r = {43};
    (void)state;
    for (int32_t i = 0; i < 1500; i++) {
        damage(ctx, "damaged.obj", obj, &r);
        damage(ctx, "damaged.ply", ply, &r);
    }
    drape_context_destroy(ctx);
}

/* ---- scenes ---- */

static void scenes_that_ship_are_clean(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    for (int32_t i = 0; drape_scene_name(i); i++) {
        drape_check_summary summary;
        ASSERT_OK(ctx, drape_check(ctx, drape_scene_name(i), NULL, &summary));
        assert_int_equal(summary.errors + summary.warnings, 0);
        assert_true(summary.step > 0 && summary.vertices > 0);
    }
    drape_context_destroy(ctx);
}

static void the_log_is_given_back(void **state) {
    drape_context *ctx = test_context(1);
    findings found;
    (void)state;
    check_text(ctx, "noted.obj", SQUARE "f 1 2 3\nf 1 3 4\nfrob\n", 0, &found);
    assert_null(ctx->log);
    assert_int_equal(drape_check(ctx, "/nonexistent/mesh.obj", NULL, NULL), DRAPE_ERROR_IO);
    assert_null(ctx->log);
    drape_context_destroy(ctx);
}

/* ---- steps of explicit integrators ---- */

typedef struct stepping {
    char set[100];
    const char *sets[1];
    drape_scene_options scene;
} stepping;

/* Steps of just h seconds, a frame each. */
static void step_by(stepping *s, const char *method, double h) {
    snprintf(s->set, sizeof s->set, "time={step: %.17g, fps: %.17g, frames: 1}", 1.0001 * h, 1 / h);
    s->sets[0] = s->set;
    s->scene = (drape_scene_options){.resolution = 7, .set = s->sets, .set_count = 1, .integrator = method};
}

/* Whether a run takes the first step; where it does not, what it says. */
static bool run_takes(drape_context *ctx, const stepping *s, char *said, size_t size) {
    drape_loaded_scene *loaded;
    drape_sim *sim;
    ASSERT_OK(ctx, drape_scene_load(ctx, "drooping", &s->scene, &loaded));
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
    drape_status status = drape_sim_step(sim, NULL);
    snprintf(said, size, "%s", status ? drape_message(ctx) : "");
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
    return status == DRAPE_OK;
}

/* The doctor says what the run says. Gives the step that is named as the longest, or 0 where all is well. */
static double longest_named(drape_context *ctx, const char *method, double h) {
    static const char words[] = "takes at most ";
    char said[512];
    findings found = {0};
    stepping s;
    drape_check_summary summary;
    step_by(&s, method, h);
    drape_check_options how = {.scene = s.scene, .finding = keep, .user = &found};
    bool good = run_takes(ctx, &s, said, sizeof said);
    ASSERT_OK(ctx, drape_check(ctx, "drooping", &how, &summary));
    assert_int_equal(summary.errors, good ? 0 : 1);
    assert_int_equal(summary.warnings, 0);
    if (good) return 0;
    assert_string_equal(found.each[0].code, "unstable-step");
    assert_string_equal(found.each[0].message, said);
    assert_non_null(strstr(said, words));
    return strtod(strstr(said, words) + strlen(words), NULL);
}

static void unstable_steps_are_what_a_run_refuses(void **state) {
    const double long_step = 0.04; /* s; a frame of video, a hundred times too long */
    drape_context *ctx = test_context(1);
    int32_t methods = 0;
    (void)state;
    for (int32_t i = 0; drape_ode_method_name(i); i++) {
        const char *method = drape_ode_method_name(i);
        if (drape_ode_method_implicit(method)) continue;
        double longest = longest_named(ctx, method, long_step);
        assert_true(longest > 0 && longest < long_step);
        assert_true(longest_named(ctx, method, longest) == 0);
        assert_true(longest_named(ctx, method, 1.01 * longest) > 0);
        methods++;
    }
    assert_true(methods >= 6);
    assert_true(longest_named(ctx, "implicit-euler", long_step) == 0);
    drape_context_destroy(ctx);
}

/* ---- the fastest wave ---- */

/* Largest eigenvalue of M^-1 K by powers. */
static double fastest_by_powers(drape_context *ctx, const drape_piece *p) {
    drape_cloth *cloth;
    drape_matrix *K;
    ASSERT_OK(ctx, drape_cloth_create(ctx, p, 1, NULL, &cloth));
    int64_t n = 3 * (int64_t)p->vertices;
    double *v = calloc((size_t)n, sizeof *v), *x = calloc((size_t)n, sizeof *x), *y = calloc((size_t)n, sizeof *y);
    double value = 0;
    test_assemble(ctx, cloth, NULL, &(drape_assembly){.x = p->rest, .v = v, .stiffness = 1}, &K);
    drape_bsr3 view = drape_matrix_view(K);
    test_random r = {7};
    for (int64_t i = 0; i < n; i++) x[i] = test_random_between(&r, -1, 1);
    for (int32_t k = 0; k < 300; k++) {
        double norm2 = 0;
        ASSERT_OK(ctx, drape_multiply(ctx, &view, x, y));
        for (int64_t i = 0; i < n; i++) y[i] /= drape_cloth_mass(cloth)[i / 3];
        for (int64_t i = 0; i < n; i++) norm2 += y[i] * y[i];
        value = sqrt(norm2);
        for (int64_t i = 0; i < n; i++) x[i] = y[i] / value;
    }
    free(v), free(x), free(y);
    drape_matrix_destroy(K);
    drape_cloth_destroy(cloth);
    return sqrt(value);
}

static void the_fastest_wave_is_a_bound(void **state) {
    drape_context *ctx = test_context(1);
    test_random r = {44};
    (void)state;
    for (int32_t i = 0; i < 5; i++) {
        test_mesh mesh = test_mesh_irregular(6 + i, 5, 1, 0.8, &r);
        drape_piece p = test_mesh_piece(&mesh);
        drape_check_summary summary = {0};
        drape_check_options how = {0};
        drape_i_doctor d = {.ctx = ctx, .options = &how, .summary = &summary};
        p.material.stretch[1] = 500 * (i + 1);
        drape_i_examine_material(&d, &p);
        double exact = fastest_by_powers(ctx, &p);
        assert_true(summary.fastest >= 0.999 * exact); /* powers come from below */
        assert_true(summary.fastest <= 4 * exact);     /* 1.8 to 2.9 times the exact one was measured */
        test_mesh_clear(&mesh);
    }
    drape_context_destroy(ctx);
}

/* ---- vibrations ---- */

static void count_vibration(void *user, const drape_check_vibration *v) {
    ++*(int32_t *)user;
    assert_true(v->frequency > 0 && v->length > 0 && v->fabric >= 0 && isfinite(v->integrator));
    assert_non_null(drape_vibration_name(v->vibration));
}

/* Numbers beyond all cloth: every integrator has finite ones to tell, or none. */
static void vibrations_are_finite(void **state) {
    static const char *const stiffness[] = {"cloth.0.material={density: 1e-9, stretch: 1e12, shear: 1e-12}",
                                            "cloth.0.material={density: 1e9, stretch: 1e-12, bend: 1e12}"};
    drape_context *ctx = test_context(1);
    int32_t told = 0;
    (void)state;
    for (int32_t i = 0; drape_integrator_name(i); i++)
        for (int32_t k = 0; k < 4; k++) {
            const char *step = k / 2 ? "time={step: 1e-6, fps: 1e6, frames: 0}" : "time={step: 1, fps: 1, frames: 0}";
            const char *set[] = {stiffness[k % 2], step};
            drape_check_options how = {.vibration = count_vibration, .user = &told};
            drape_check_summary summary;
            how.scene = (drape_scene_options){.resolution = 5, .set = set, .set_count = 2};
            how.scene.integrator = drape_integrator_name(i);
            ASSERT_OK(ctx, drape_check(ctx, "drooping", &how, &summary));
            assert_int_equal(summary.errors, 0);
        }
    assert_true(told > 0);
    drape_context_destroy(ctx);
}

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : 1;
}

static int remove_folder(void **state) {
    static const char *const names[] = {"flaw.obj",    "strip.obj",   "many.obj",
                                        "damaged.obj", "damaged.ply", "noted.obj"};
    char path[100];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_flaw_is_found_alone),
        cmocka_unit_test(a_moebius_strip_has_one_side),
        cmocka_unit_test(many_are_counted_and_few_are_told),
        cmocka_unit_test(counts_are_those_of_a_recount),
        cmocka_unit_test(errors_are_what_cloth_refuses),
        cmocka_unit_test(damaged_files_are_read_to_their_end),
        cmocka_unit_test(scenes_that_ship_are_clean),
        cmocka_unit_test(the_log_is_given_back),
        cmocka_unit_test(the_fastest_wave_is_a_bound),
        cmocka_unit_test(unstable_steps_are_what_a_run_refuses),
        cmocka_unit_test(vibrations_are_finite),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
