/* solve.c: drape-mpi solve: one linear system from a system file, on all processes. */
#include "program.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_HISTORY = 1 << 22, MOST_LEVELS = 16 };

typedef struct solving {
    const char *file, *output, *history, *stop;
    drape_solve_settings settings;
    double theta; /* NAN: not given */
    int32_t repeats;
    bool json, unfiltered;
    drape_context *ctx;
    drape_petsc_system *system;
    drape_petsc_solver *solver;
    double *x;
    usage used;
    int refused; /* exit code where it does not begin: lack of memory is no bad input */
} solving;

/* ---- The command line ---- */

static parse_result parse(solving *s, int argc, char **argv) {
    drape_solve_settings *o = &s->settings;
    word_choice stop = {.value = &s->stop, .kind = WORDS_STOPS};
    const option options[] = {
        {"--tol", NULL, "T", "relative tolerance, between 0 and 1; default 1e-5", OPTION_REAL, &o->tol, 0, 0},
        {"--stop", NULL, "NORM", "norm that the tolerance applies to, except energy; default preconditioned",
         OPTION_WORD, &stop, 0, 0},
        {"--max-iterations", NULL, "N", "default 10000", OPTION_NUMBER, &o->max_iterations, 1, INT32_MAX},
        {"--floor", NULL, "F", "also stop when the absolute norm is at most this; default 0", OPTION_REAL, &o->floor,
         0, 0},
        {"--amg-theta", NULL, "T", "strength threshold of connections, between 0 and 1; default 0.32", OPTION_REAL,
         &s->theta, 0, 0},
        {"--amg-levels", NULL, "N", "largest number of levels; default 16", OPTION_NUMBER, &o->amg.levels, 1,
         MOST_LEVELS},
        {"--amg-unfiltered", NULL, NULL, "smooth the interpolation over weak connections too", OPTION_FLAG,
         &s->unfiltered, 0, 0},
        {"--repeat", NULL, "N", "number of solves, each from the start; the last one is reported", OPTION_NUMBER,
         &s->repeats, 1, 1000},
        {"--output", "-o", "X.bin", "write x as raw doubles", OPTION_TEXT, &s->output, 0, 0},
        {"--history", NULL, "FILE.csv", "write the norms of every iteration", OPTION_TEXT, &s->history, 0, 0},
        {"--json", NULL, NULL, "print one JSON object", OPTION_FLAG, &s->json, 0, 0},
        {0}};
    command_line line = {
        .usage = "mpirun -n N drape-mpi solve FILE.sys [options] [options of PETSc]",
        .about = "Solves a system file of `drape run --export-system` by conjugate gradients and drape's multigrid\n"
                 "on all processes. Exit code 0: converged, 1: not converged, 2: bad input.",
        .options = options,
        .positional = &s->file,
        .positional_count = 1};
    parse_result parsed = parse_together(&line, argc, argv);
    if (parsed == PARSE_GOOD && !s->file) {
        if (speaks()) complain("no file given (usage: %s)", line.usage);
        return PARSE_BAD;
    }
    return parsed;
}

static bool choose_settings(solving *s) {
    drape_solve_settings *o = &s->settings;
    if (s->stop) o->stop = (drape_stop)word_index(WORDS_STOPS, s->stop);
    if (!(o->tol > 0 && o->tol < 1)) return refuse("--tol: it must lie between 0 and 1");
    if (!isnan(s->theta) && !(s->theta > 0 && s->theta < 1))
        return refuse("--amg-theta: it must lie between 0 and 1");
    if (!(o->floor >= 0)) return refuse("--floor: it must not be negative");
    if (!isnan(s->theta)) o->amg.theta = s->theta;
    o->amg.unfiltered = s->unfiltered;
    if (s->history) o->history = o->max_iterations < MOST_HISTORY ? o->max_iterations + 1 : MOST_HISTORY;
    return true;
}

/* ---- What there is to say ---- */

static void print_json(const solving *s, const drape_solve_result *r) {
    printf("{\n  \"method\": \"%s\",\n  \"precond\": \"%s\",\n  \"modes\": %d,\n  \"stop\": \"%s\",\n  \"tol\": "
           "%.17g,\n",
           r->method, r->precond, r->modes, drape_stop_name(s->settings.stop), s->settings.tol);
    printf("  \"rows\": %" PRId64 ",\n  \"blocks\": %" PRId64 ",\n  \"constrained\": %" PRId64 ",\n",
           3 * drape_petsc_system_vertices(s->system), drape_petsc_system_blocks(s->system),
           drape_petsc_system_constrained(s->system));
    printf("  \"reason\": \"%s\",\n  \"iterations\": %d,\n  \"residual\": ", drape_reason_name(r->reason),
           r->iterations);
    print_json_number(r->residual);
    printf(",\n  \"relative_residual\": ");
    print_json_number(r->true_residual);
    printf(",\n  \"setup_seconds\": %.9g,\n  \"solve_seconds\": %.9g,\n  \"processes\": %d,\n", r->setup_seconds,
           r->solve_seconds, session_now().size);
    printf("  \"levels\": [");
    for (int32_t l = 0; l < drape_petsc_solver_levels(s->solver); l++)
        printf("%s%" PRId64, l > 0 ? ", " : "", drape_petsc_solver_level_rows(s->solver, l));
    printf("],\n");
}

/* What the processes have, the most of any. */
static void print_json_parts(const solving *s, int64_t vertices, int64_t own, int64_t bytes) {
    printf("  \"part_own\": %" PRId64 ",\n  \"part_vertices\": %" PRId64 ",\n  \"part_bytes\": %" PRId64 ",\n", own,
           vertices, bytes);
    printf("  \"cpu_seconds\": %.9g,\n  \"peak_bytes\": %" PRId64 ",\n  \"peak_bytes_all\": %" PRId64 "\n}\n",
           s->used.cpu, s->used.peak, s->used.peak_all);
}

static void print_text_result(const solving *s, const drape_solve_result *r) {
    printf("%lld rows, %lld blocks, %lld held vertices; %s with %s on %d process%s\n",
           (long long)(3 * drape_petsc_system_vertices(s->system)), (long long)drape_petsc_system_blocks(s->system),
           (long long)drape_petsc_system_constrained(s->system), r->method, r->precond, session_now().size,
           session_now().size == 1 ? "" : "es");
    printf("%s after %d iteration%s; relative residual %.3g, %s %.3g against %.3g\n", drape_reason_name(r->reason),
           r->iterations, r->iterations == 1 ? "" : "s", r->true_residual, drape_stop_name(s->settings.stop),
           r->residual, s->settings.tol);
    printf("setup %.3g s, solve %.3g s; the busiest process took %.3g s of processor time, the largest %.4g MB\n",
           r->setup_seconds, r->solve_seconds, s->used.cpu, 1e-6 * (double)s->used.peak);
}

static void print_result(solving *s, const drape_solve_result *r) {
    const drape_petsc_part *part = drape_petsc_system_part(s->system);
    int64_t vertices = most_of(part->vertices), own = most_of(part->own_count);
    int64_t bytes = most_of(drape_petsc_system_bytes(s->system));
    s->used = measure_usage();
    if (!speaks()) return;
    if (!s->json) {
        print_text_result(s, r);
        return;
    }
    print_json(s, r);
    print_json_parts(s, vertices, own, bytes);
}

/* ---- Files ---- */

static bool write_history(const char *path, const drape_solve_result *r) {
    output_file file;
    if (!speaks()) return true;
    if (!output_begin(&file, path)) return false;
    fprintf(file.stream, "iteration,preconditioned,residual,energy\n");
    for (int32_t i = 0; i < r->history_count; i++)
        fprintf(file.stream, "%d,%.17g,%.17g,%.17g\n", i, r->history[i].preconditioned, r->history[i].residual,
                r->history[i].energy);
    return output_end(&file);
}

static bool write_files(const solving *s, const drape_solve_result *r) {
    if (s->output) {
        if (drape_petsc_system_write(s->system, s->output, s->x)) return refuse(drape_message(s->ctx));
        if (speaks() && !s->json) tell("wrote %s\n", s->output);
    }
    if (!s->history) return true;
    int good = write_history(s->history, r);
    MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (good && speaks() && !s->json) tell("wrote %s\n", s->history);
    return good;
}

static bool can_write_both(const solving *s) {
    int good = !speaks() || (can_write(s->output) && can_write(s->history));
    MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return good;
}

/* ---- Solving ---- */

static bool prepare(solving *s) {
    s->refused = EXIT_BAD_INPUT;
    if (!choose_settings(s) || !can_write_both(s)) return false;
    s->ctx = make_context_together(1, false, &s->refused);
    if (!s->ctx) return false;
    s->refused = EXIT_RUN_FAILED;
    drape_status status = drape_petsc_system_read(s->ctx, MPI_COMM_WORLD, s->file, &s->system);
    if (!status)
        status = drape_petsc_solver_create(s->ctx, MPI_COMM_WORLD, drape_petsc_system_part(s->system), &s->settings,
                                           &s->solver);
    if (status != DRAPE_ERROR_MEMORY) s->refused = EXIT_BAD_INPUT;
    return status ? refuse(drape_message(s->ctx)) : true;
}

static drape_status solve_again_and_again(solving *s, drape_solve_result *result) {
    const drape_petsc_part *part = drape_petsc_system_part(s->system);
    drape_status status = DRAPE_OK;
    s->x = calloc(3 * (size_t)part->vertices, sizeof *s->x);
    if (drape_petsc_agree(s->ctx, MPI_COMM_WORLD, s->x ? DRAPE_OK : DRAPE_ERROR_MEMORY)) return DRAPE_ERROR_MEMORY;
    for (int32_t i = 0; i < s->repeats && !status; i++) {
        if (i > 0) drape_petsc_solver_forget(s->solver);
        status = drape_petsc_solver_solve(s->solver, drape_petsc_system_problem(s->system), s->x, result);
    }
    return status;
}

static int solve(solving *s) {
    drape_solve_result result = {0};
    char unknown[160];
    drape_status status = solve_again_and_again(s, &result);
    if (status) {
        const char *message = drape_message(s->ctx);
        if (speaks()) complain("%s: %s", s->file, *message ? message : drape_status_name(status));
        return status == DRAPE_ERROR_MEMORY ? EXIT_RUN_FAILED : EXIT_BAD_INPUT;
    }
    if (unknown_petsc_option(unknown, sizeof unknown)) {
        if (speaks()) complain("PETSc does not know the option %s, or does not use it here; leave it out", unknown);
        return EXIT_BAD_INPUT;
    }
    print_result(s, &result);
    bool worth = result.reason == DRAPE_CONVERGED || result.reason == DRAPE_ITERATION_LIMIT;
    bool written = worth ? write_files(s, &result) : true;
    if (result.reason == DRAPE_CONVERGED) return written ? EXIT_GOOD : EXIT_RUN_FAILED;
    if (speaks())
        complain("%s: not solved: %s after %d iteration%s%s", s->file, drape_reason_name(result.reason),
                 result.iterations, result.iterations == 1 ? "" : "s",
                 s->output && !worth ? "; x is not written" : "");
    return EXIT_RUN_FAILED;
}

static void release(solving *s) {
    free(s->x);
    if (!s->ctx) return;
    drape_petsc_solver_destroy(s->solver);
    drape_petsc_system_destroy(s->system);
    drape_context_destroy(s->ctx);
}

int mpi_command_solve(int argc, char **argv) {
    solving s = {.settings = drape_solve_defaults(), .theta = NAN, .repeats = 1};
    parse_result parsed = parse(&s, argc, argv);
    if (parsed != PARSE_GOOD) return parsed == PARSE_HELP ? EXIT_GOOD : EXIT_BAD_INPUT;
    int code = prepare(&s) ? solve(&s) : s.refused;
    session_conclude(code);
    release(&s);
    return code;
}
