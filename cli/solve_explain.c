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

static int64_t matrix_bytes(const drape_bsr3 *A) {
    int64_t block = 9 * (int64_t)sizeof *A->val + (int64_t)sizeof *A->col;
    return A->rowptr[A->rows] * block + (A->rows + 1) * (int64_t)sizeof *A->rowptr;
}

static complexity complexity_of(const drape_solver *solver, const drape_bsr3 *A) {
    level_sums sums = add_levels(solver);
    double blocks = (double)A->rowptr[A->rows], rows = A->rows, matrix = (double)matrix_bytes(A);
    return (complexity){over(sums.numbers, 9 * blocks), over(sums.rows, 3 * rows), over(sums.bytes, matrix)};
}

static void print_level(int32_t index, const drape_amg_level *l) {
    printf("%5d %9d %11.1f  %dx%d", index, l->rows, over((double)l->blocks, l->rows), l->size, l->size);
    if (l->aggregate > 0) printf(" %10.1f %7.3f", l->aggregate, l->rho);
    else printf(" %10s %7s", "-", "-");
    printf(" %10.2f%s\n", 1e-6 * (double)l->bytes, l->factored ? "  factored" : "");
}

/* Milliseconds of each part, and how fast those of a cycle go through memory. */
static void print_costs(const drape_solver *solver, double read_bandwidth) {
    printf("milliseconds of the last set-up, and of a cycle (with GB/s; reading alone reaches %.1f)\nlevel",
           1e-9 * read_bandwidth);
    for (int32_t part = 0; part < DRAPE_AMG_PARTS; part++)
        printf(part < DRAPE_AMG_FIRST ? " %11s" : " %16s", drape_amg_part_name(part));
    putchar('\n');
    for (int32_t i = 0; i < drape_solver_levels(solver); i++) {
        drape_amg_level l = level_at(solver, i);
        printf("%5d", i);
        for (int32_t part = 0; part < DRAPE_AMG_PARTS; part++) {
            const drape_amg_cost *c = &l.cost[part];
            if (part < DRAPE_AMG_FIRST) printf(" %11.3f", 1e3 * c->seconds);
            else printf(" %9.3f (%4.1f)", 1e3 * c->seconds, 1e-9 * over((double)c->bytes, c->seconds));
        }
        putchar('\n');
    }
}

double measure_bandwidth(drape_context *ctx, const drape_solver *solver) {
    drape_amg_level finest = {0};
    if (drape_solver_levels(solver) > 0) finest = level_at(solver, 0);
    return drape_read_bandwidth(ctx, finest.cost[DRAPE_AMG_FIRST].bytes);
}

void print_levels_text(const drape_solver *solver, const drape_bsr3 *A, double read_bandwidth) {
    complexity c = complexity_of(solver, A);
    if (drape_solver_levels(solver) == 0) {
        printf("no levels: amg was not chosen\n");
        return;
    }
    printf("level      rows  blocks/row size  aggregate     rho         MB\n");
    for (int32_t i = 0; i < drape_solver_levels(solver); i++) {
        drape_amg_level l = level_at(solver, i);
        print_level(i, &l);
    }
    printf("operator complexity %.3f, grid complexity %.3f, memory over that of A %.3f\n", c.operators, c.grid,
           c.bytes);
    print_costs(solver, read_bandwidth);
}

void print_levels_json(const drape_solver *solver, const drape_bsr3 *A, double read_bandwidth) {
    complexity c = complexity_of(solver, A);
    printf("  \"levels\": [");
    for (int32_t i = 0; i < drape_solver_levels(solver); i++) {
        drape_amg_level l = level_at(solver, i);
        printf("%s\n    {\"rows\": %d, \"size\": %d, \"blocks\": %" PRId64 ", \"aggregate\": %.17g, \"rho\": %.17g, "
               "\"factored\": %s, \"bytes\": %" PRId64 ", \"cost\": {",
               i > 0 ? "," : "", l.rows, l.size, l.blocks, l.aggregate, l.rho, l.factored ? "true" : "false",
               l.bytes);
        for (int32_t part = 0; part < DRAPE_AMG_PARTS; part++)
            printf("%s\"%s\": {\"seconds\": %.9g, \"bytes\": %" PRId64 "}", part > 0 ? ", " : "",
                   drape_amg_part_name(part), l.cost[part].seconds, l.cost[part].bytes);
        printf("}}");
    }
    printf("],\n  \"operator_complexity\": %.17g,\n  \"grid_complexity\": %.17g,\n  \"memory_over_matrix\": %.17g,\n"
           "  \"read_bandwidth\": %.9g,\n",
           c.operators, c.grid, c.bytes, read_bandwidth);
}
