/* sheets.c: how hard the shared systems are: iterations of block-diagonal PPCG to 1e-5 and what an iteration takes,
 * by scene, mesh and fabric. Shuffled vertices need as many iterations as regular ones; what they cost is the memory.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

static void solve_sheet(const bench_request *want) {
    bench_system *s = bench_system_create(want);
    double seconds[REPEATS], *x = bench_vector(bench_system_length(s));
    drape_solve_result result = {0};
    drape_solver *solver;
    bench_check(s->ctx, drape_solver_create(s->ctx, NULL, &solver));
    for (int i = -1; i < REPEATS; i++) {
        bench_check(s->ctx, drape_solver_solve(solver, &s->problem, x, &result));
        if (i >= 0) seconds[i] = result.solve_seconds / (result.iterations + 1);
    }
    double median = bench_median(seconds, REPEATS);
    printf("%-10s %-10s %-8s %8d %10d %14.1f %8.1f %14.1e  %s\n", want->scene, bench_mesh_name(want->mesh),
           want->fabric ? want->fabric : "sheet", s->A.rows, result.iterations, 1e6 * median, 1e6 * seconds[0],
           result.true_residual, drape_reason_name(result.reason));
    free(x);
    drape_solver_destroy(solver);
    bench_system_destroy(s);
}

void bench_sheets(const bench_options *options) {
    static const char *const scenes[] = {"drooping", "pinned", "reentrant", "oblique"};
    printf("%-10s %-10s %-8s %8s %10s %14s %8s %14s\n", "scene", "mesh", "fabric", "vertices", "iterations",
           "us/iteration", "least", "true residual");
    for (int i = 0; i < 4; i++) {
        for (bench_mesh mesh = BENCH_REGULAR; mesh <= BENCH_SHUFFLED; mesh++)
            solve_sheet(
                &(bench_request){.scene = scenes[i], .resolution = 61, .mesh = mesh, .threads = options->threads});
        solve_sheet(
            &(bench_request){.scene = scenes[i], .resolution = 61, .fabric = "cotton", .threads = options->threads});
    }
    for (bench_mesh mesh = BENCH_REGULAR; mesh <= BENCH_SHUFFLED; mesh++)
        solve_sheet(
            &(bench_request){.scene = "drooping", .resolution = 201, .mesh = mesh, .threads = options->threads});
}
