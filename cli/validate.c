/* validate.c: drape validate: static problems whose answers are known, ours beside the reference, as a table and as a
 * page of plots (validate_page.c). The formulas are those of docs/validation.md. */
#include "validate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double G = 9.81; /* m/s^2 */

void add_validation_row(validation *v, const validation_row *row) {
    const double off = row->got / row->want - 1;
    if (v->count < VALIDATION_ROWS) v->row[v->count++] = *row;
    v->missed += fabs(off) > row->bar;
    tell("%-10s %-54s %12.6g %12.6g %+8.2f %% %5g %%%s\n", row->group, row->what, row->got, row->want, 100 * off,
         100 * row->bar, fabs(off) <= row->bar ? "" : "  missed");
    fflush(stdout);
}

/* ---- strips that hang ---- */

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

static const struct mesh {
    const char *name, *grid;
} meshes[] = {{"one way", ""}, {"alternating", ", diagonals: alternating"}, {"irregular", ", irregular: true"}};
enum { MESHES = sizeof meshes / sizeof *meshes };

/* A strip of 1 m that hangs by its weight, 0.3 kg/m^2, from its upper edge, with the stiffness `stretch`. */
static bool check_hanging(validation *v, const char *what, const char *stretch, double want) {
    static const char hanging[] =
        "drape: 1\nmembrane: %s\ncloth:\n"
        "  - grid: {width: 0.2 m, height: 1 m, resolution: [5, 21]%s}\n"
        "    place: {rotate: [-90, 0, 0]}\n"
        "    material: {density: 0.3, %s, shear: 100 N/m, bend: 0, damping: 0}\n"
        "    pins: [{where: bottom-edge}]\ntime: {step: 100 ms, fps: 10}\nsolver: {tolerance: 1e-10}\n";
    for (int32_t m = 0; m < MESHES; m++) {
        char text[1000];
        double height;
        snprintf(text, sizeof text, hanging, drape_membrane_name(v->membrane), meshes[m].grid, stretch);
        if (!solve_text(v, text, 1, &height)) return false;
        validation_row row = {
            .group = "stretch", .mesh = meshes[m].name, .got = -0.5 - height, .want = want, .bar = 0.01};
        snprintf(row.what, sizeof row.what, "%s, %s", meshes[m].name, what);
        add_validation_row(v, &row);
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

static bool solve_all(validation *v) {
    tell("%-10s %-54s %12s %12s %10s %7s\n", "", "", "ours", "reference", "difference", "limit");
    return check_stretch(v) && validate_cantilevers(v) && validate_end_forces(v) && validate_end_moments(v) &&
           validate_tables(v);
}

static int run(validation *v, bool refine, const char *page, int32_t threads) {
    if (!can_write(page)) return EXIT_BAD_INPUT;
    v->ctx = make_context(threads, true);
    if (!v->ctx) return EXIT_BAD_INPUT;
    const bool good = refine ? validate_limits(v) : solve_all(v);
    drape_context_destroy(v->ctx);
    if (!good) return EXIT_RUN_FAILED;
    tell("%d of %d within their limits\n", v->count - v->missed, v->count);
    if (page && !write_validation_page(page, v->row, v->count)) return EXIT_RUN_FAILED;
    return v->missed == 0 ? EXIT_GOOD : EXIT_RUN_FAILED;
}

/* False after a complaint. */
static bool choose_membrane(const char *name, drape_membrane *out) {
    *out = DRAPE_MEMBRANE_NODAL;
    for (drape_membrane m = DRAPE_MEMBRANE_BARAFF_WITKIN; name && drape_membrane_name(m); m++)
        if (strcmp(drape_membrane_name(m), name) == 0) {
            *out = m;
            return true;
        }
    if (name) complain("there is no membrane '%s'; there are baraff_witkin, paired and nodal", name);
    return !name;
}

int command_validate(int argc, char **argv) {
    validation *v = calloc(1, sizeof *v);
    const char *page = NULL, *data = NULL, *membrane = NULL;
    int32_t threads = 0, cells = 0;
    bool quick = false, refine = false;
    const option options[] = {
        {"--quick", NULL, NULL, "a few of the problems only, with 20 cells", OPTION_FLAG, &quick, 0, 0},
        {"--cells", NULL, "N", "cells along a cantilever; default: 40", OPTION_NUMBER, &cells, 10, 80},
        {"--membrane", NULL, "NAME", "baraff_witkin, paired or nodal; default: nodal", OPTION_TEXT, &membrane, 0, 0},
        {"--refine", NULL, NULL, "show instead how three scenes converge on finer meshes", OPTION_FLAG, &refine, 0,
         0},
        {"--data", NULL, "FOLDER", "also compare with published tables in this folder", OPTION_TEXT, &data, 0, 0},
        {"--output", "-o", "PAGE.html", "write a page with the table and plots", OPTION_TEXT, &page, 0, 0},
        {"--threads", NULL, "T", "number of threads; default: one per processor", OPTION_NUMBER, &threads, 1, 256},
        {0}};
    command_line line = {
        .usage = "drape validate [options]",
        .about =
            "Solves static problems whose answers are known, with `bending: patch` and `membrane: nodal`, and prints "
            "the results\nbeside the reference. The problems are hanging strips, and cantilevers under their weight "
            "(elastica), with a\nforce and with a moment at the end (Sze 2004).\nExit code 0: all differences are "
            "within their limits, 1: one is not.",
        .options = options};
    parse_result parsed = v ? parse_arguments(&line, argc, argv) : PARSE_BAD;
    int code = parsed == PARSE_HELP ? EXIT_GOOD : EXIT_BAD_INPUT;
    if (parsed == PARSE_GOOD && refine && page) complain("--refine writes no page");
    else if (parsed == PARSE_GOOD && choose_membrane(membrane, &v->membrane)) {
        v->cells = cells ? cells : quick ? 20 : 40, v->quick = quick, v->data = data;
        code = run(v, refine, page, threads);
    }
    free(v);
    return code;
}
