/* tamstorf_memory.c: see tamstorf.h. Memory of matrix and solver over that of block-diagonal PCG, by size, and where
 * the bytes are: the paper says that smoothed aggregation takes less than half as much again. No clock is needed. */
#include "tamstorf.h"

#include <stdio.h>
#include <stdlib.h>

enum { WAYS = 3 };
static const struct way {
    const char *name;
    int32_t modes;
    drape_recipe recipe;
} ways[WAYS] = {{"three modes", 3, DRAPE_RECIPE_DRAPE},
                {"six modes", 6, DRAPE_RECIPE_DRAPE},
                {"the paper's recipe", 6, DRAPE_RECIPE_TAMSTORF}};

typedef struct memory {
    double held;            /* bytes */
    double finest, coarser; /* of that, levels */
    double complexity;      /* numbers of all levels over those of A */
} memory;

static memory measure(bench_system *s, const drape_solve_settings *settings) {
    double *x = bench_vector(bench_system_length(s));
    memory m = {0};
    drape_solver *solver;
    drape_solve_result result;
    drape_amg_level level;
    bench_check(s->ctx, drape_solver_create(s->ctx, settings, &solver));
    bench_check(s->ctx, drape_solver_solve(solver, &s->problem, x, &result));
    m.held = (double)result.bytes;
    for (int32_t k = 0; k < drape_solver_levels(solver); k++) {
        bench_check(s->ctx, drape_solver_level(solver, k, &level));
        if (k == 0) m.finest = (double)level.bytes;
        else m.coarser += (double)level.bytes;
        m.complexity +=
            (double)level.size * level.size * (double)level.blocks / (9.0 * (double)s->A.rowptr[s->A.rows]);
    }
    drape_solver_destroy(solver);
    free(x);
    return m;
}

static void print_size(int32_t side, double more[WAYS]) {
    bench_request request = {.scene = "drooping", .resolution = side, .threads = 1, .fabric = "cotton"};
    bench_system *s = bench_system_create(&request);
    drape_solve_settings settings = drape_solve_defaults();
    double matrix = 76.0 * (double)s->A.rowptr[s->A.rows] + 8.0 * (s->A.rows + 1.0);
    settings.method = "mpcg", settings.precond = "block_diagonal";
    double plain = measure(s, &settings).held;
    for (int32_t k = 0; k < WAYS; k++) {
        settings = drape_solve_defaults();
        settings.method = "ppcg", settings.precond = "amg";
        settings.amg.modes = ways[k].modes, settings.amg.recipe = ways[k].recipe;
        memory m = measure(s, &settings);
        more[k] = 100 * ((matrix + m.held) / (matrix + plain) - 1);
        bench_row();
        bench_count("vertices", "%9d", s->A.rows);
        bench_text("solver", " %-20s", ways[k].name);
        bench_number("matrix", "B per vertex", " %9.0f", matrix / s->A.rows);
        bench_number("block-diagonal PCG", "B per vertex", " %9.0f", plain / s->A.rows);
        bench_number("this one", "B per vertex", " %9.0f", m.held / s->A.rows);
        bench_number("finest level", "B per vertex", " %9.0f", m.finest / s->A.rows);
        bench_number("coarser levels", "B per vertex", " %9.0f", m.coarser / s->A.rows);
        bench_number("operator complexity", "", " %6.2f", m.complexity);
        bench_number("more than block-diagonal PCG", "%", " %9.1f", more[k]);
        bench_end("\n");
    }
    bench_system_destroy(s);
}

void tamstorf_memory(const int32_t *side, int32_t sizes) {
    double more[BENCH_MOST_SIZES][WAYS];
    bench_table("Memory by size: drooping, regular, one system");
    printf("\n%9s %-20s %9s %9s %9s %9s %9s %6s %9s\n", "vertices", "bytes per vertex:", "matrix", "plain",
           "this one", "finest", "coarser", "op", "more, %");
    for (int32_t i = 0; i < sizes; i++) print_size(side[i], more[i]);
    bench_plot("memory-by-size", "Memory of matrix and solver over block-diagonal PCG");
    bench_plot_caption("The paper claims less than 50 %.");
    bench_plot_axis('x', "vertices", "", BENCH_LOG);
    bench_plot_axis('y', "more memory", "%", BENCH_LINEAR);
    for (int32_t k = 0; k < WAYS; k++) {
        bench_curve(ways[k].name, k, BENCH_OURS);
        for (int32_t i = 0; i < sizes; i++) bench_point((double)side[i] * side[i], more[i][k]);
    }
    bench_curve("the paper's bound", 6, BENCH_PAPER);
    bench_point((double)side[0] * side[0], 50);
    bench_point((double)side[sizes - 1] * side[sizes - 1], 50);
}
