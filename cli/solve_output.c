/* solve_output.c: what `drape solve` prints and writes: the outcome, the levels of a preconditioner, what was tried
 * by the clock. */
#include "solve.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- The levels of the preconditioner amg, and what they cost beside the matrix ---- */

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

static void print_levels_text(const drape_solver *solver, const drape_bsr3 *A, double read_bandwidth) {
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

/* Keys of the object, each with a comma. */
static void print_levels_json(const drape_solver *solver, const drape_bsr3 *A, double read_bandwidth) {
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

/* ---- What a solver that was tuned tried ---- */

static drape_tuned tuned_at(const drape_solver *solver, int32_t index) {
    drape_tuned t;
    drape_solver_tuned(solver, index, &t); /* is there: index is below drape_solver_tuned_count */
    return t;
}

void print_tuned(const drape_solver *solver) {
    int32_t count = drape_solver_tuned_count(solver);
    if (count == 0) return;
    printf("tuned         modes  iterations    first ms    again ms    MB moved  outcome\n");
    for (int32_t i = 0; i < count; i++) {
        drape_tuned t = tuned_at(solver, i);
        printf("%-15s %3.0d %11d %11.3f %11.3f %11.4g  %s%s\n", t.precond, t.modes, t.iterations,
               1e3 * t.first_seconds, 1e3 * t.again_seconds, 1e-6 * (double)t.bytes_moved,
               drape_reason_name(t.reason), t.chosen ? ": taken" : "");
    }
    printf("chosen by timing: another machine or run may choose differently and get other last bits\n");
}

void print_tuned_json(const drape_solver *solver) {
    int32_t count = drape_solver_tuned_count(solver);
    if (count == 0) return;
    printf("  \"tuned\": [");
    for (int32_t i = 0; i < count; i++) {
        drape_tuned t = tuned_at(solver, i);
        printf("%s\n    {\"precond\": \"%s\", \"modes\": %d, \"iterations\": %d, \"first_seconds\": %.17g, "
               "\"again_seconds\": %.17g, \"bytes_moved\": %lld, \"reason\": \"%s\", \"chosen\": %s}",
               i > 0 ? "," : "", t.precond, t.modes, t.iterations, t.first_seconds, t.again_seconds,
               (long long)t.bytes_moved, drape_reason_name(t.reason), t.chosen ? "true" : "false");
    }
    printf("],\n");
}

const char *solve_detail(const drape_solve_result *r) {
    static const char prefix[] = "solve: ";
    size_t length = sizeof prefix - 1;
    return r->detail && strncmp(r->detail, prefix, length) == 0 ? r->detail + length : r->detail;
}

/* ---- JSON; docs/man/drape.1.in lists the keys ---- */

static void json_text(const char *key, const char *value) { printf("  \"%s\": \"%s\",\n", key, value); }
static void json_whole(const char *key, int64_t value) { printf("  \"%s\": %lld,\n", key, (long long)value); }

/* JSON has no infinity and no NaN; null stands for them. */
static void json_real(const char *key, double value) {
    if (isfinite(value)) printf("  \"%s\": %.17g,\n", key, value);
    else printf("  \"%s\": null,\n", key);
}

static int32_t count_held(const linear_system *s) { return s->held ? drape_constraints_count(s->held) : 0; }

static void json_fallbacks(const drape_solve_result *r) {
    printf("  \"fallbacks\": [");
    for (int32_t i = 0; i < r->fallbacks; i++)
        printf("%s{\"method\": \"%s\", \"precond\": \"%s\", \"why\": \"%s\", \"iterations\": %d}", i > 0 ? ", " : "",
               r->fallback[i].method, r->fallback[i].precond, r->fallback[i].why, r->fallback[i].iterations);
    printf("],\n");
}

void print_solve_json(const solve_summary *s) {
    const drape_solve_result *r = &s->result;
    const drape_bsr3 *A = &s->system->A;
    printf("{\n");
    json_text("method", r->method);
    json_text("precond", r->precond);
    json_whole("modes", r->modes);
    json_fallbacks(r);
    json_text("stop", drape_stop_name(s->settings->stop));
    json_real("tol", s->settings->tol);
    json_whole("rows", s->system->unknowns);
    json_whole("blocks", A->rowptr[A->rows]);
    json_whole("constrained", count_held(s->system));
    json_text("reason", drape_reason_name(r->reason));
    if (solve_detail(r)) json_text("detail", solve_detail(r));
    json_whole("iterations", r->iterations);
    json_real("residual", r->residual);
    json_real("relative_residual", r->true_residual);
    json_real("energy_error", r->energy_error);
    json_real("shift", r->shift);
    json_whole("bytes", r->bytes);
    json_whole("bytes_moved", r->bytes_moved);
    json_whole("repeats", s->repeats);
    json_real("cold_setup_seconds", s->cold_setup_seconds);
    json_real("setup_seconds", s->setup_seconds);
    json_real("solve_seconds", s->solve_seconds);
    if (s->explain) print_levels_json(s->solver, A, s->read_bandwidth);
    print_tuned_json(s->solver);
    json_whole("threads", s->threads);
    printf("  \"simd\": \"%s\"\n}\n", s->simd);
}

/* ---- A few lines to read ---- */

static void print_outcome(const solve_summary *s) {
    const drape_solve_result *r = &s->result;
    printf("%s after %d iteration%s; relative residual %.3g", drape_reason_name(r->reason), r->iterations,
           r->iterations == 1 ? "" : "s", r->true_residual);
    if (r->residual >= 0)
        printf(", %s %.3g against %.3g", drape_stop_name(s->settings->stop), r->residual, s->settings->tol);
    if (r->energy_error >= 0) printf(", error in energy about %.2g", r->energy_error);
    putchar('\n');
}

void print_solve_text(const solve_summary *s) {
    const drape_solve_result *r = &s->result;
    const drape_bsr3 *A = &s->system->A;
    printf("%lld rows, %lld blocks, %d held vertices; %s", (long long)s->system->unknowns,
           (long long)A->rowptr[A->rows], count_held(s->system), r->method);
    if (strcmp(r->precond, "none") != 0) printf(" with %s", r->precond);
    if (r->modes) printf(" (%d modes)", r->modes);
    if (r->shift > 0) printf(" (shifted by %.2g)", r->shift);
    putchar('\n');
    for (int32_t i = 0; i < r->fallbacks; i++)
        printf("fell back from %s with %s: %s after %d iteration%s\n", r->fallback[i].method, r->fallback[i].precond,
               r->fallback[i].why, r->fallback[i].iterations, r->fallback[i].iterations == 1 ? "" : "s");
    print_outcome(s);
    printf("setup %.3g s, solve %.3g s", s->setup_seconds, s->solve_seconds);
    if (s->repeats > 1) printf(" (medians of %d; first setup %.3g s)", s->repeats - 1, s->cold_setup_seconds);
    printf("; %.4g MB held, %.4g MB moved; %d threads, %s\n", 1e-6 * (double)r->bytes, 1e-6 * (double)r->bytes_moved,
           s->threads, s->simd);
    if (s->explain) print_levels_text(s->solver, A, s->read_bandwidth);
    print_tuned(s->solver);
}

/* ---- What there is to choose from ---- */

void print_solve_list(void) {
    printf(
        "Without a name, or with auto: ppcg, or bicgstab if the matrix is not symmetric, with block_diagonal, ichol "
        "or\namg, whichever moves the fewest bytes.\n\nmethods, and the preconditioners that go with each:\n");
    for (int32_t m = 0; drape_method_name(m); m++) {
        const char *name = drape_method_name(m);
        bool missing = strcmp(name, "direct") == 0 && !direct_solver();
        printf("  %-18s %s%s\n  %-18s  ", name, drape_method_about(m), missing ? "; not in this program" : "", "");
        for (int32_t p = 0; drape_precond_name(p); p++)
            if (drape_method_takes(name, drape_precond_name(p))) printf(" %s", drape_precond_name(p));
        putchar('\n');
    }
    printf("\npreconditioners:\n");
    for (int32_t p = 0; drape_precond_name(p); p++)
        printf("  %-18s %s\n", drape_precond_name(p), drape_precond_about(p));
}

/* ---- Files ---- */

bool write_history(const char *path, const drape_solve_result *r) {
    output_file file;
    if (!output_begin(&file, path)) return false;
    fprintf(file.stream, "iteration,preconditioned,residual,energy\n");
    for (int32_t i = 0; i < r->history_count; i++)
        fprintf(file.stream, "%d,%.17g,%.17g,%.17g\n", i, r->history[i].preconditioned, r->history[i].residual,
                r->history[i].energy);
    return output_end(&file);
}

bool write_doubles(const char *path, const double *x, int64_t count) {
    output_file file;
    if (!output_begin(&file, path)) return false;
    fwrite(x, sizeof *x, (size_t)count, file.stream); /* output_end sees what went wrong */
    return output_end(&file);
}
