/* amg.c: multigrid against the block diagonal: the tables of sizes for two fabrics, the table of scenes, meshes and
 * steps, and what is required of both. amg_race.c does the measuring, amg_scaling.c has the tables without a race. */
#include "amg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SCENES_SIDE = 101, MANY_ROWS = 20000 /* with more there are fewer repeats */ };

/* ---- What is required ---- */

/* How many times faster than the block diagonal it has to be on the sheet, drooping, regular, in steps of 2 ms. */
typedef struct requirement {
    int32_t vertices;
    double once, running;
} requirement;

static const requirement requirements[] = {{3721, 1, 1.5},  {10201, 2, 3},    {40401, 3.5, 6},
                                           {90601, 5.5, 9}, {361201, 12, 16}, {1002001, 13, 18}};
enum { REQUIREMENTS = sizeof requirements / sizeof *requirements };

/* Of what is required there: on other fabrics, scenes, meshes and steps. */
static const double ELSEWHERE = 0.75;

/* Straight in the logarithm of the vertices between the sizes above, constant beyond them. */
static requirement required(int32_t vertices) {
    const requirement *r = requirements;
    int32_t i = 0;
    if (vertices <= r[0].vertices) return r[0];
    if (vertices >= r[REQUIREMENTS - 1].vertices) return r[REQUIREMENTS - 1];
    while (vertices > r[i + 1].vertices) i++;
    double t = log((double)vertices / r[i].vertices) / log((double)r[i + 1].vertices / r[i].vertices);
    return (requirement){vertices, r[i].once + t * (r[i + 1].once - r[i].once),
                         r[i].running + t * (r[i + 1].running - r[i].running)};
}

static requirement required_elsewhere(int32_t vertices) {
    requirement r = required(vertices);
    return (requirement){vertices, ELSEWHERE * r.once, ELSEWHERE * r.running};
}

/* ---- One size ---- */

static double gain_once(const race_result *r, int32_t k) {
    return r->racer[RACE_BASE].times.once / r->racer[k].times.once;
}

static double gain_running(const race_result *r, int32_t k) {
    return r->racer[RACE_BASE].times.running / r->racer[k].times.running;
}

static void print_racer_head(void) {
    printf("  %-15s| %-43s| %-46s|\n", "", "one system, by a new solver",
           "20 steps, by one solver, the mean of a step");
    printf("  %-15s|%9s %10s %7s %11s %4s|%9s %7s %11s %7s %9s|%9s %13s\n", "preconditioner", "in all ms",
           "set-up ms", "gain", "iterations", "", "ms", "gain", "but 1st ms", "gain", "iterations", "MB held",
           "energy error");
}

static void print_racer(const race_result *result, int32_t k) {
    const racer *r = &result->racer[k];
    const race_times *t = &r->times, *base = &result->racer[RACE_BASE].times;
    bench_row();
    bench_text("preconditioner", "  %-15s|", race_name(k));
    bench_number("once", "ms", "%9.1f", 1e3 * t->once);
    bench_number("set-up", "ms", " %10.1f", 1e3 * t->setup);
    bench_number("once, gain", "", " %7.2f", base->once / t->once);
    bench_count("iterations", " %11d     |", r->first.iterations);
    bench_number("running", "ms", "%9.1f", 1e3 * t->running);
    bench_number("running, gain", "", " %7.2f", base->running / t->running);
    bench_number("running but the first", "ms", " %11.1f", 1e3 * t->later);
    bench_number("running but the first, gain", "", " %7.2f", base->later / t->later);
    bench_number("iterations of a step", "", " %9.1f|", r->mean_iterations);
    bench_number("held", "MB", "%9.1f", 1e-6 * (double)r->first.bytes);
    bench_number("energy error", "", " %13.1e", r->error);
    if (r->failures) bench_count("not converged", "  %d did not converge", r->failures);
    bench_end("\n");
}

static void print_equal(const race_result *r) {
    const race_equal *e = &r->equal;
    if (e->gain <= 0) return;
    bench_table("at equal error");
    bench_row();
    bench_text("preconditioner", "  to the energy error of %s", race_name(e->against));
    bench_number("energy error", "", " (%.1e)", r->racer[e->against].error);
    bench_count("iterations of the block diagonal", " the block diagonal takes %d iterations", e->iterations);
    bench_number("energy error of the block diagonal", "", " (%.1e):", e->error);
    bench_number("gain", "", " %.2f times as long,", e->gain);
    bench_number("gain, best", "", " best %.2f", e->least_gain);
    bench_end("\n");
}

static void claim(const race_result *r, const requirement *want) {
    const race_times *base = &r->racer[RACE_BASE].times;
    char text[80];
    int32_t k = race_faster_once(r);
    snprintf(text, sizeof text, "block_diagonal / %s, once", race_name(k));
    bench_claim(text, gain_once(r, k), base->least_once / r->racer[k].times.least_once, 1, want->once);
    k = race_faster_running(r);
    snprintf(text, sizeof text, "block_diagonal / %s, running", race_name(k));
    bench_claim(text, gain_running(r, k), base->least_running / r->racer[k].times.least_running, 1, want->running);
}

static race_plan plan_for(const bench_options *options, int32_t vertices) {
    if (options->quick) return (race_plan){3, 1, 5, 1};
    if (vertices > 500000) return (race_plan){1, 1, 10, 1};
    if (vertices > 100000) return (race_plan){3, 1, 5, 1};
    if (vertices > 50000) return (race_plan){3, 2, 5, 1};
    if (vertices > MANY_ROWS) return (race_plan){5, 3, 5, 3};
    return (race_plan){REPEATS, 5, 1, REPEATS};
}

static race_result compare(const bench_options *options, const bench_request *request, const requirement *want) {
    race_result result;
    bench_system *s = bench_system_create(request);
    race_plan plan = plan_for(options, s->A.rows);
    bench_system_print(request, s);
    race_run(s, RACE_AMG, &plan, &result);
    bench_system_destroy(s);
    print_racer_head();
    bench_table("races");
    for (int32_t k = 0; k < AMG_RACERS; k++) print_racer(&result, k);
    print_equal(&result);
    claim(&result, want);
    return result;
}

/* ---- By size ---- */

enum { SHEET, COTTON, FABRICS };

/* A line of the table of sizes. */
typedef struct size_result {
    int32_t side;
    race_result of[FABRICS];
} size_result;

static bool has_fabric(const bench_options *options, int32_t fabric) {
    return options->tables & (fabric == SHEET ? BENCH_TABLE_SHEET : BENCH_TABLE_COTTON);
}

static void compare_fabrics(const bench_options *options, size_result *out) {
    static const char *const fabrics[FABRICS] = {NULL, "cotton"};
    int32_t vertices = out->side * out->side;
    requirement want[FABRICS] = {required(vertices), required_elsewhere(vertices)};
    for (int32_t i = 0; i < FABRICS; i++)
        if (has_fabric(options, i))
            out->of[i] = compare(
                options,
                &(bench_request){
                    .scene = "drooping", .resolution = out->side, .fabric = fabrics[i], .threads = options->threads},
                &want[i]);
}

static const char *const fabric_names[FABRICS] = {"the sheet", "cotton"};

/* The column of a fabric; lasts until the next one. */
static const char *column_of(int32_t fabric, const char *what) {
    static char column[64];
    snprintf(column, sizeof column, "%s, %s", fabric_names[fabric], what);
    return column;
}

static void print_gains(int32_t fabric, const race_result *r) {
    bench_count(column_of(fabric, "block diagonal, iterations"), "  | %5d", r->racer[RACE_BASE].first.iterations);
    bench_count(column_of(fabric, "amg, iterations"), " %5d", r->racer[race_faster_once(r)].first.iterations);
    bench_number(column_of(fabric, "once"), "", " %7.2f", gain_once(r, race_faster_once(r)));
    bench_number(column_of(fabric, "equal"), "", " %7.2f", r->equal.gain);
    bench_number(column_of(fabric, "running"), "", " %7.2f", gain_running(r, race_faster_running(r)));
}

static void print_sizes(const bench_options *options, const size_result *sizes, int32_t count) {
    bench_keys();
    bench_end("");
    bench_table("sizes");
    printf("\nTimes faster than the block diagonal, drooping, by size; iterations of the block diagonal and of amg; "
           "the\n"
           "faster of 3 and 6 modes, for one system and for a run by itself. `equal`: one system, at equal energy "
           "error.\n%8s %16s",
           "", "required");
    for (int32_t i = 0; i < FABRICS; i++)
        if (has_fabric(options, i)) printf("  | %-35s", fabric_names[i]);
    printf("\n%8s %8s %7s", "vertices", "once", "running");
    for (int32_t i = 0; i < FABRICS; i++)
        if (has_fabric(options, i)) printf("  | %5s %5s %7s %7s %7s", "block", "amg", "once", "equal", "running");
    putchar('\n');
    for (int32_t k = 0; k < count; k++) {
        requirement want = required(sizes[k].side * sizes[k].side);
        bench_row();
        bench_count("vertices", "%8d", sizes[k].side * sizes[k].side);
        bench_number("required, once", "", " %8.1f", want.once);
        bench_number("required, running", "", " %7.1f", want.running);
        for (int32_t i = 0; i < FABRICS; i++)
            if (has_fabric(options, i)) print_gains(i, &sizes[k].of[i]);
        bench_end("\n");
    }
}

static void compare_sizes(const bench_options *options, const int32_t *sides, int32_t count) {
    size_result *sizes = calloc((size_t)count, sizeof *sizes);
    if (!sizes) abort();
    for (int32_t i = 0; i < count; i++) {
        sizes[i].side = sides[i];
        compare_fabrics(options, &sizes[i]);
    }
    print_sizes(options, sizes, count);
    free(sizes);
}

/* ---- By scene, mesh and step ---- */

typedef struct tally {
    int32_t reached, claims;
} tally;

static void print_scenes_head(int32_t side, const requirement *want) {
    printf(
        "\nOther scenes, meshes and steps at %d x %d vertices. Required are %g of what the sheet is to reach at as "
        "many\nvertices (%.2f once, %.2f running, at %d), of the faster of 3 and 6 modes.\n",
        side, side, ELSEWHERE, want->once, want->running, side * side);
    printf("  %-36s | %-18s | %-12s | %-13s | %-14s |\n", "", "iterations", "once, gain", "running, gain",
           "required");
    printf("  %-10s %-10s %5s %8s | %6s %5s %5s | %5s %6s | %6s %6s | %5s %8s |\n", "scene", "mesh", "ms", "vertices",
           "block", "3", "6", "3", "6", "3", "6", "once", "running");
}

static bool has_failed(const race_result *r) {
    return r->racer[RACE_BASE].failures || r->racer[RACE_THREE].failures || r->racer[RACE_SIX].failures;
}

static bool scene_holds(const bench_request *request, const char *how, double gain, double least) {
    char what[96];
    snprintf(what, sizeof what, "%s, %s, %g ms: block_diagonal / amg, %s", request->scene,
             bench_mesh_name(request->mesh), 1e3 * request->step, how);
    return bench_holds(what, gain, 1, least);
}

static void print_scene(const bench_request *request, const race_result *r, const requirement *want, tally *t) {
    bool once = scene_holds(request, "once", gain_once(r, race_faster_once(r)), want->once);
    bool running = scene_holds(request, "running", gain_running(r, race_faster_running(r)), want->running);
    bench_row();
    bench_text("scene", "  %-10s", request->scene);
    bench_text("mesh", " %-10s", bench_mesh_name(request->mesh));
    bench_number("step", "ms", " %5g", 1e3 * request->step);
    bench_count("vertices", " %8d |", want->vertices);
    bench_count("block diagonal, iterations", " %6d", r->racer[RACE_BASE].first.iterations);
    bench_count("3 modes, iterations", " %5d", r->racer[RACE_THREE].first.iterations);
    bench_count("6 modes, iterations", " %5d |", r->racer[RACE_SIX].first.iterations);
    bench_number("3 modes, once", "", " %5.2f", gain_once(r, RACE_THREE));
    bench_number("6 modes, once", "", " %6.2f |", gain_once(r, RACE_SIX));
    bench_number("3 modes, running", "", " %6.2f", gain_running(r, RACE_THREE));
    bench_number("6 modes, running", "", " %6.2f |", gain_running(r, RACE_SIX));
    bench_number("required, once", "", " %5.2f", want->once);
    bench_number("required, running", "", " %8.2f |", want->running);
    bench_text("once", " %s,", once ? "reached" : "MISSED");
    bench_text("running", " %s", running ? "reached" : "MISSED");
    if (has_failed(r)) bench_text("remark", "; %s", "some did not converge");
    bench_end("\n");
    t->reached += once + running;
    t->claims += 2;
}

static void compare_scene(const bench_options *options, const bench_request *request, tally *t) {
    race_result result;
    bench_system *s = bench_system_create(request);
    const race_plan plan = options->quick          ? (race_plan){1, 1, 10, 0}
                           : s->A.rows > MANY_ROWS ? (race_plan){3, 1, 5, 0}
                                                   : (race_plan){REPEATS, 1, 5, 0};
    requirement want = required_elsewhere(s->A.rows);
    race_run(s, RACE_AMG, &plan, &result);
    bench_system_destroy(s);
    print_scene(request, &result, &want, t);
}

static void compare_scenes(const bench_options *options) {
    static const char *const scenes[] = {"drooping", "pinned", "reentrant", "oblique"};
    static const double steps[] = {0.002, 0.01};
    int32_t side = options->scenes_side ? options->scenes_side : options->quick ? 61 : SCENES_SIDE;
    requirement want = required_elsewhere(side * side);
    tally t = {0};
    bench_keys();
    bench_end("");
    bench_table("scenes");
    print_scenes_head(side, &want);
    for (int32_t i = 0; i < 4; i++)
        for (int32_t k = 0; k < 2; k++)
            for (bench_mesh mesh = BENCH_REGULAR; mesh <= BENCH_SHUFFLED; mesh++)
                compare_scene(options,
                              &(bench_request){.scene = scenes[i],
                                               .resolution = side,
                                               .mesh = mesh,
                                               .step = steps[k],
                                               .threads = options->threads},
                              &t);
    printf("  %d of %d reached\n", t.reached, t.claims);
}

/* ---- All of it ---- */

void bench_amg(const bench_options *options) {
    static const int32_t own[] = {61, 101, 201, 301};
    int32_t sides[BENCH_MOST_SIZES], count = bench_sizes(options, own, options->quick ? 2 : 4, sides);
    if (options->tables & (BENCH_TABLE_SHEET | BENCH_TABLE_COTTON)) compare_sizes(options, sides, count);
    if (options->tables & BENCH_TABLE_SCENES) compare_scenes(options);
    if (options->tables & BENCH_TABLE_SCALING) bench_amg_scaling(options, sides, count);
    if (options->tables & BENCH_TABLE_SETUP) bench_amg_setup(options, sides, count);
}
