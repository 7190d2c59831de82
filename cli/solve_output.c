/* solve_output.c: what `drape solve` prints and writes. */
#include "solve.h"

#include <math.h>
#include <string.h>

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
    printf("Where none is named, or auto: ppcg, or bicgstab where the matrix is not symmetric; and block_diagonal, "
           "ichol or\n"
           "amg, whichever moves the fewest bytes.\n\n"
           "methods, and the preconditioners that go with each:\n");
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
