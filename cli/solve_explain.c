/* solve_explain.c: what the levels of the preconditioner amg are like, and what they cost beside the matrix. */
#include "solve.h"

#include <inttypes.h>

/* Sums over all levels. */
typedef struct level_sums {
    double rows, numbers, bytes;
} level_sums;

static drape_amg_level level_at(const drape_solver *solver, int32_t index) {
    drape_amg_level level;
    drape_solver_level(solver, index, &level); /* is there: index is below drape_solver_levels */
    return level;
}

static double numbers_of(const drape_amg_level *l) { return (double)l->blocks * l->size * l->size; }

static level_sums add_levels(const drape_solver *solver) {
    level_sums sums = {0};
    for (int32_t i = 0; i < drape_solver_levels(solver); i++) {
        drape_amg_level l = level_at(solver, i);
        sums.rows += (double)l.rows * l.size;
        sums.numbers += numbers_of(&l);
        sums.bytes += (double)l.bytes;
    }
    return sums;
}

/* All levels over the finest: numbers of the matrices, and unknowns; their memory over that of A in doubles. */
typedef struct complexity {
    double operators, grid, bytes;
} complexity;

static double over(double a, double b) { return b > 0 ? a / b : 0; }

static complexity complexity_of(const drape_solver *solver, const drape_bsr3 *A) {
    level_sums sums = add_levels(solver);
    double blocks = (double)A->rowptr[A->rows], rows = A->rows;
    double matrix = blocks * (9 * sizeof *A->val + sizeof *A->col) + (rows + 1) * sizeof *A->rowptr;
    return (complexity){over(sums.numbers, 9 * blocks), over(sums.rows, 3 * rows), over(sums.bytes, matrix)};
}

static void print_level(int32_t index, const drape_amg_level *l) {
    printf("%5d %9d %11.1f  %dx%d", index, l->rows, over((double)l->blocks, l->rows), l->size, l->size);
    if (l->aggregate > 0) printf(" %10.1f %7.3f", l->aggregate, l->rho);
    else printf(" %10s %7s", "-", "-");
    printf(" %10.2f%s\n", 1e-6 * (double)l->bytes, l->factored ? "  factored" : "");
}

void print_levels_text(const drape_solver *solver, const drape_bsr3 *A) {
    complexity c = complexity_of(solver, A);
    printf("level      rows  blocks/row size  aggregate     rho         MB\n");
    for (int32_t i = 0; i < drape_solver_levels(solver); i++) {
        drape_amg_level l = level_at(solver, i);
        print_level(i, &l);
    }
    printf("operator complexity %.3f, grid complexity %.3f, memory over that of A %.3f\n", c.operators, c.grid,
           c.bytes);
}

void print_levels_json(const drape_solver *solver, const drape_bsr3 *A) {
    complexity c = complexity_of(solver, A);
    printf("  \"levels\": [");
    for (int32_t i = 0; i < drape_solver_levels(solver); i++) {
        drape_amg_level l = level_at(solver, i);
        printf("%s\n    {\"rows\": %d, \"size\": %d, \"blocks\": %" PRId64 ", \"aggregate\": %.17g, \"rho\": %.17g, "
               "\"factored\": %s, \"bytes\": %" PRId64 "}",
               i > 0 ? "," : "", l.rows, l.size, l.blocks, l.aggregate, l.rho, l.factored ? "true" : "false",
               l.bytes);
    }
    printf("],\n  \"operator_complexity\": %.17g,\n  \"grid_complexity\": %.17g,\n  \"memory_over_matrix\": %.17g,\n",
           c.operators, c.grid, c.bytes);
}
