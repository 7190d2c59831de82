/* tamstorf.c: Tamstorf, Jones and McCormick (2015): table 1 and figures 2 and 5 to 8, with the paper's numbers beside
 * those of this machine. What is measured is in tamstorf_methods.c, on what in tamstorf_systems.c. */
#include "tamstorf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PICTURE_SIDE = 21, LEAST_SIDE = 31 /* from here on drape must be ahead of the block diagonal */ };

typedef struct table {
    int32_t side[BENCH_MOST_SIZES], sizes, meshes; /* meshes: 1, regular alone, or 2 */
    tamstorf_results cell[2][BENCH_MOST_SIZES][T_SCENES];
} table;

static const tamstorf_results *cell_at(const table *t, int32_t mesh, int32_t size, int32_t scene) {
    return &t->cell[mesh][size][scene];
}

/* Time of block-diagonal PCG (which: 0) or CHOLMOD (1) over that of the paper's recipe, each with a new solver. */
static double gain_of_recipe(const tamstorf_results *r, int32_t which) {
    return r->of[which ? T_CHOLMOD : T_DIAGONAL].seconds / r->of[T_SA].seconds;
}

/* The same of drape's default, each with a solver that is kept. */
static double gain_of_drape(const tamstorf_results *r, int32_t which) {
    return r->of[which ? T_CHOLMOD : T_DIAGONAL].kept / r->of[T_DRAPE].kept;
}

/* Memory of matrix and solver over that of block-diagonal PCG, less 1. */
static double more_memory(const tamstorf_results *r, tamstorf_method method) {
    return (r->matrix + r->of[method].bytes) / (r->matrix + r->of[T_DIAGONAL].bytes) - 1;
}

/* NaN: the paper has no sheet of this size. */
static double published(int32_t mesh, int32_t side, int32_t scene, int32_t which) {
    for (int32_t i = 0; i < T_SIZES; i++)
        if (tamstorf_side[i] == side) return tamstorf_speedup[mesh][i][scene][which];
    return NAN;
}

/* ---- Measuring ---- */

static tamstorf_cell plan(const bench_options *o, int32_t mesh, int32_t side, int32_t scene) {
    tamstorf_cell c = {.scene = scene, .side = side, .irregular = mesh == 1, .samples = 4, .share = 1};
    c.threads = o->threads;
    c.window = c.counted = 1 << 20; /* all */
    if (side > T_REFINED_FROM) c.samples = 2, c.window = 8, c.counted = 4;
    if (side > 400) c.samples = 1, c.window = 4, c.counted = 2;
    if (o->quick) c.samples = 1, c.share = 0.3;
    return c;
}

static void measure(const bench_options *o, table *t) {
    double work = 0;
    for (int32_t i = 0; i < t->sizes; i++) work += T_SCENES * t->meshes * (double)t->side[i] * t->side[i];
    bench_progress_begin("tamstorf", work);
    for (int32_t i = 0; i < t->sizes; i++)
        for (int32_t mesh = 0; mesh < t->meshes; mesh++)
            for (int32_t scene = 0; scene < T_SCENES; scene++) {
                bool kept;
                tamstorf_cell c = plan(o, mesh, t->side[i], scene);
                t->cell[mesh][i][scene] = tamstorf_measure(&c, &kept);
                bench_progress((double)t->side[i] * t->side[i], kept);
            }
    bench_progress_end();
}

/* ---- Tables ---- */

static void print_scene_columns(int32_t scene, const char *const names[3], const double values[3]) {
    char column[64];
    for (int32_t k = 0; k < 3; k++) {
        snprintf(column, sizeof column, "%s, %s", tamstorf_name[scene], names[k]);
        bench_number(column, "", k == 0 ? " |%6.2f" : " %6.2f", values[k]);
    }
}

static void begin_row(const table *t, int32_t mesh, int32_t i) {
    bench_row();
    bench_text("mesh", "%-9s", mesh ? "irregular" : "regular");
    bench_count("side", " %5d", t->side[i]);
}

static void print_heads(const char *title, const char *names) {
    printf("\n%s; %s\n%-15s", title, names, "mesh, side");
    for (int32_t k = 0; k < T_SCENES; k++) printf(" | %-19s", tamstorf_name[k]);
    putchar('\n');
}

static void print_speedups(const table *t, int32_t which) {
    static const char *const names[3] = {"paper", "recipe", "drape"};
    bench_table(which ? "Table 1: speed-up over a direct solver" : "Table 1: speed-up over block-diagonal PCG");
    print_heads(which ? "speed-up over a direct solver (paper: PARDISO; here: CHOLMOD)"
                      : "speed-up over block-diagonal PCG",
                "paper, the paper's recipe here, drape's default with solvers kept");
    for (int32_t mesh = 0; mesh < t->meshes; mesh++)
        for (int32_t i = 0; i < t->sizes; i++) {
            begin_row(t, mesh, i);
            for (int32_t k = 0; k < T_SCENES; k++) {
                const tamstorf_results *r = cell_at(t, mesh, i, k);
                print_scene_columns(k, names,
                                    (double[]){published(mesh, t->side[i], k, which), gain_of_recipe(r, which),
                                               gain_of_drape(r, which)});
            }
            bench_end("\n");
        }
}

/* The block diagonal's own norm flatters it: it has the larger error at the same residual. */
static void print_equal(const table *t) {
    static const char *const names[3] = {"drape", "recipe", "its error"};
    bench_table("Speed-up over block-diagonal PCG at equal energy error");
    print_heads("speed-up over block-diagonal PCG to the energy error of drape's default, new solvers",
                "drape's default, the recipe to its own error, the block diagonal's error over drape's");
    for (int32_t mesh = 0; mesh < t->meshes; mesh++)
        for (int32_t i = 0; i < t->sizes; i++) {
            begin_row(t, mesh, i);
            for (int32_t k = 0; k < T_SCENES; k++) {
                const tamstorf_results *r = cell_at(t, mesh, i, k);
                print_scene_columns(k, names,
                                    (double[]){r->equal_seconds / r->of[T_DRAPE].seconds,
                                               r->equal_seconds / r->of[T_SA].seconds, r->equal_error});
            }
            bench_end("\n");
        }
}

static void print_method(const tamstorf_results *r, tamstorf_method m) {
    const tamstorf_result *of = &r->of[m];
    bench_text("method", "  %-28s", tamstorf_method_name[m]);
    bench_number("iterations", "", " %8.2f", of->iterations);
    bench_number("rate", "", " %6.3f", of->rate);
    bench_number("seconds", "ms", " %10.3f", 1e3 * of->seconds);
    bench_number("longest over shortest", "", " %6.2f", of->spread);
    if (isfinite(of->kept)) bench_number("solver kept", "ms", " %10.3f", 1e3 * of->kept);
    else printf(" %10s", "");
    bench_number("set-up", "%", " %5.1f", 100 * of->setup / of->seconds);
    bench_number("memory over block-diagonal PCG", "%", " %7.1f", 100 * more_memory(r, m));
    bench_number("energy error", "", " %9.2e", of->error);
    bench_number("failed", "", " %2.0f", of->failed);
    bench_end("\n");
}

static void print_methods(const table *t) {
    bench_table("All methods");
    for (int32_t mesh = 0; mesh < t->meshes; mesh++)
        for (int32_t i = 0; i < t->sizes; i++)
            for (int32_t k = 0; k < T_SCENES; k++) {
                const tamstorf_results *r = cell_at(t, mesh, i, k);
                bench_keys();
                bench_text("scene", "\n%s", tamstorf_name[k]);
                bench_text("mesh", ", %s", mesh ? "irregular" : "regular");
                bench_count("vertices", ", %d vertices", (int64_t)r->vertices);
                bench_count("held", ", %d of them held", (int64_t)r->held);
                bench_count("samples", ", samples: %d", (int64_t)r->samples);
                bench_end("\n");
                for (tamstorf_method m = 0; m < T_METHODS && r->samples > 0; m++) {
                    if (r->of[m].seconds > 0) bench_row(), print_method(r, m);
                }
            }
    bench_keys();
    bench_end("");
}

/* ---- Figures ---- */

static void draw_sizes(const table *t, int32_t mesh, int32_t scene, double (*value)(const tamstorf_results *r)) {
    for (int32_t i = 0; i < t->sizes; i++) {
        const tamstorf_results *r = cell_at(t, mesh, i, scene);
        bench_point(r->vertices, r->samples > 0 ? value(r) : NAN);
    }
}

static double rate_diagonal(const tamstorf_results *r) { return r->of[T_DIAGONAL].rate; }
static double rate_sa(const tamstorf_results *r) { return r->of[T_SA].rate; }
static double setup_share(const tamstorf_results *r) { return 100 * r->of[T_SA].setup / r->of[T_SA].seconds; }
static double prefilter_share(const tamstorf_results *r) { return 100 * r->prefilter / r->of[T_SA].seconds; }
static double ours(const tamstorf_results *r) { return gain_of_drape(r, 0); }
static double recipe(const tamstorf_results *r) { return gain_of_recipe(r, 0); }
static double memory_six(const tamstorf_results *r) { return 100 * more_memory(r, T_SA); }
static double memory_drape(const tamstorf_results *r) { return 100 * more_memory(r, T_DRAPE); }

static void draw_by_scene(const table *t, const char *suffix, bench_style style, int32_t mesh,
                          double (*value)(const tamstorf_results *r)) {
    char name[64];
    for (int32_t k = 0; k < T_SCENES; k++) {
        snprintf(name, sizeof name, "%s%s", tamstorf_name[k], suffix);
        bench_curve(name, k, style);
        draw_sizes(t, mesh, k, value);
    }
}

static void draw_figure(const char *name, const char *title, const char *y, const char *unit, bench_scale scale) {
    bench_plot(name, title);
    bench_plot_axis('x', "vertices", "", BENCH_LOG);
    bench_plot_axis('y', y, unit, scale);
}

static void draw_rates(const table *t) {
    draw_figure("fig5", "Figure 5: mean convergence rate by size, regular", "rate", "", BENCH_LINEAR);
    bench_plot_caption("Thin: block-diagonal PCG, which goes to 1. With dots: SA+PPCG with the paper's recipe.");
    draw_by_scene(t, ", SA+PPCG", BENCH_OURS, 0, rate_sa);
    draw_by_scene(t, ", diagonal", BENCH_LINE, 0, rate_diagonal);
}

static void draw_shares(const table *t) {
    draw_figure("fig6", "Figure 6: set-up and prefiltering of SA+PPCG", "share of the solve", "%", BENCH_LINEAR);
    bench_plot_caption("With dots: set-up. Thin: writing the prefiltered matrix, measured by itself.");
    draw_by_scene(t, ", set-up", BENCH_OURS, 0, setup_share);
    draw_by_scene(t, ", prefilter", BENCH_LINE, 0, prefilter_share);
}

static void draw_time(const table *t, int32_t mesh, int32_t scene, tamstorf_method m, int color) {
    bench_curve(tamstorf_method_name[m], color, BENCH_OURS);
    for (int32_t i = 0; i < t->sizes; i++) {
        const tamstorf_results *r = cell_at(t, mesh, i, scene);
        bench_point(r->vertices, r->of[m].seconds > 0 ? 1e3 * r->of[m].seconds : NAN);
    }
}

static void draw_times(const table *t, int32_t scene, bool figure8) {
    char name[32], title[96];
    snprintf(name, sizeof name, "fig%d-%s", figure8 ? 8 : 7, tamstorf_scene[scene]);
    snprintf(title, sizeof title, "Figure %d: time of one solve, %s, regular", figure8 ? 8 : 7, tamstorf_name[scene]);
    draw_figure(name, title, "time", "ms", BENCH_LOG);
    draw_time(t, 0, scene, T_DIAGONAL, 0);
    if (figure8) draw_time(t, 0, scene, T_DIAGONAL_PPCG, 4);
    if (figure8) draw_time(t, 0, scene, T_SA_UNFILTERED, 3);
    draw_time(t, 0, scene, T_SA, 1);
    draw_time(t, 0, scene, T_DRAPE, 2);
    if (!figure8) draw_time(t, 0, scene, T_CHOLMOD, 5);
}

static void draw_speedups(const table *t, int32_t scene) {
    char name[32], title[96];
    snprintf(name, sizeof name, "table1-%s", tamstorf_scene[scene]);
    snprintf(title, sizeof title, "Table 1: speed-up over block-diagonal PCG, %s", tamstorf_name[scene]);
    draw_figure(name, title, "times as fast", "", BENCH_LOG);
    for (int32_t mesh = 0; mesh < t->meshes; mesh++) {
        bench_curve(mesh ? "paper, irregular" : "paper", 1 + 2 * mesh, BENCH_PAPER);
        for (int32_t i = 0; i < t->sizes; i++)
            bench_point((double)t->side[i] * t->side[i], published(mesh, t->side[i], scene, 0));
        bench_curve(mesh ? "paper's recipe here, irregular" : "paper's recipe here", 1 + 2 * mesh, BENCH_OURS);
        draw_sizes(t, mesh, scene, recipe);
        bench_curve(mesh ? "drape, irregular" : "drape", 2 + 2 * mesh, BENCH_OURS);
        draw_sizes(t, mesh, scene, ours);
    }
}

static void draw_memory(const table *t) {
    draw_figure("memory", "Memory over block-diagonal PCG, regular", "more memory", "%", BENCH_LINEAR);
    bench_plot_caption(
        "Matrix and solver. The paper claims less than 50 %. With dots: the paper's recipe, six modes. "
        "Thin: what drape's default took.");
    draw_by_scene(t, ", six modes", BENCH_OURS, 0, memory_six);
    draw_by_scene(t, ", drape", BENCH_LINE, 0, memory_drape);
}

/* ---- Figure 2: strong connections of one component ---- */

static double most_of_row(const drape_bsr3 *A, int32_t i, int32_t c) {
    double most = 0;
    for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
        if (A->col[k] != i) most = fmax(most, fabs(A->val[9 * k + 4 * c]));
    return most;
}

/* Lines between strongly connected vertices of the undeformed sheet, negative ones or positive ones. */
static void draw_connections(const tamstorf_system *s, int32_t c, bool positive) {
    const drape_bsr3 *A = &s->file.A;
    for (int32_t i = 0; i < A->rows; i++) {
        double least = 0.48 * most_of_row(A, i, c);
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
            double value = A->val[9 * k + 4 * c];
            const double *from = s->file.rest + 3 * (int64_t)i, *to = s->file.rest + 3 * (int64_t)A->col[k];
            if (A->col[k] == i || !(fabs(value) >= least) || (value > 0) != positive) continue;
            bench_point(from[0], from[1]);
            bench_point(to[0], to[1]);
            bench_point(NAN, NAN);
        }
    }
}

static void draw_system(void *user, drape_context *ctx, const tamstorf_system *system, int32_t left) {
    int32_t *sample = user;
    (void)ctx, (void)left;
    for (int32_t c = 0; c < 3; c++) {
        char name[32], title[96];
        snprintf(name, sizeof name, "fig2-%d-%c", *sample, "xyz"[c]);
        snprintf(title, sizeof title, "Figure 2: strong connections of %c, %s", "xyz"[c],
                 *sample ? "deformed" : "at the start");
        bench_plot(name, title);
        bench_plot_axis('x', "u", "m", BENCH_LINEAR);
        bench_plot_axis('y', "v", "m", BENCH_LINEAR);
        bench_plot_equal(0);
        bench_curve("negative", 1, BENCH_LINE);
        draw_connections(system, c, false);
        bench_curve("positive", 0, BENCH_LINE);
        draw_connections(system, c, true);
    }
    (*sample)++;
}

static void draw_strength(const bench_options *o) {
    tamstorf_cell c = {
        .scene = 2, .side = PICTURE_SIDE, .samples = 1, .share = 0.01, .window = 1, .threads = o->threads};
    int32_t sample = 0;
    tamstorf_animate(&c, draw_system, &sample);
    c.share = 1;
    tamstorf_animate(&c, draw_system, &sample);
}

static void draw(const bench_options *o, const table *t) {
    for (int32_t k = 0; k < T_SCENES; k++) draw_speedups(t, k);
    draw_rates(t);
    draw_shares(t);
    for (int32_t k = 0; k < T_SCENES; k++)
        if (k != 3) draw_times(t, k, false);
    draw_times(t, 3, true);
    draw_memory(t);
    draw_strength(o);
}

/* ---- What must hold ---- */

typedef struct verdict {
    int32_t behind_paper, behind_diagonal, behind_direct, empty, failed;
    double rate, memory;
} verdict;

static void judge(const table *t, int32_t mesh, int32_t i, int32_t k, verdict *v) {
    const tamstorf_results *r = cell_at(t, mesh, i, k);
    v->empty += r->samples == 0;
    if (r->samples == 0) return;
    v->behind_paper += gain_of_drape(r, 0) < published(mesh, t->side[i], k, 0);
    v->behind_diagonal += t->side[i] >= LEAST_SIDE && gain_of_drape(r, 0) < 1;
    v->behind_direct += gain_of_drape(r, 1) < 1;
    v->rate = fmax(v->rate, r->of[T_SA].rate);
    v->memory = fmax(v->memory, 100 * more_memory(r, T_SA));
    for (tamstorf_method m = 0; m < T_METHODS; m++) v->failed += (int32_t)r->of[m].failed;
}

static void claim(const table *t) {
    verdict v = {0};
    for (int32_t mesh = 0; mesh < t->meshes; mesh++)
        for (int32_t i = 0; i < t->sizes; i++)
            for (int32_t k = 0; k < T_SCENES; k++) judge(t, mesh, i, k, &v);
    putchar('\n');
    bench_claim_count("cells without a system", v.empty, 0, 0);
    bench_claim_count("solves that failed", v.failed, 0, 0);
    bench_claim_count("cells: drape behind the paper's speed-up", v.behind_paper, 0, 0);
    bench_claim_count("cells: drape behind block-diagonal PCG", v.behind_diagonal, 0, 0);
    bench_claim_count("cells: drape behind CHOLMOD", v.behind_direct, 0, 0);
    bench_claim_count("worst convergence rate of the paper's recipe", v.rate, 0, 0.9);
    bench_claim_count("most memory of the recipe over the block diagonal, %", v.memory, 0, 50);
}

void bench_tamstorf(const bench_options *o) {
    static const int32_t usual[] = {31, 41, 61, 81, 101}, quick[] = {21, 31};
    table *t = calloc(1, sizeof *t);
    if (!t) abort();
    const int32_t *own = o->quick ? quick : o->full ? tamstorf_side : usual;
    t->sizes = bench_sizes(o, own, o->quick ? 2 : o->full ? T_SIZES : 5, t->side);
    t->meshes = o->quick ? 1 : 2;
    bench_note("1 m x 1 m of cotton in steps of 2 ms, to a relative preconditioned residual of 1e-5. The animation "
               "is advanced "
               "with drape's default; at sampled steps, spread over the paper's 10, 15 or 25 frames, every method "
               "solves the "
               "same system from zero. `samples` says how many. Times are medians of new solvers, set-up included.");
    bench_note(
        "`solver kept`: block-diagonal PCG and drape's default also solve every step of the animation, in turn, with "
        "one "
        "solver each: the mean, as in the paper. Above 101 x 101 vertices they solve the 8 steps up to a sample, of "
        "which 4 count, above 400 x 400 4 and 2; above 151 x 151 the block diagonal solves the last one alone. "
        "CHOLMOD's solver has analysed the pattern before. Drape's speed-ups in table 1 are of solvers that are "
        "kept.");
    bench_note("Sheets of more than 151 x 151 vertices take their states from one of 101 x 101, refined, with three "
               "steps of their own.");
    bench_note(o->threads == 1 ? "One thread; times are processor time, which other programs hardly disturb."
                               : "Times are those of a clock: other programs on the machine disturb them.");
    measure(o, t);
    print_speedups(t, 0);
    print_speedups(t, 1);
    print_equal(t);
    print_methods(t);
    tamstorf_memory(t->side, t->sizes);
    claim(t);
    draw(o, t);
    free(t);
}
