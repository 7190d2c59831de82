/* solve.c: drape solve: one linear system from a file, by any method. */
#include "solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_REPEATS = 100000,
    MOST_THREADS = 256,
    MOST_HISTORY = 1 << 22,
    MOST_LEVELS = 16,
    MOST_DEGREE = 8,
    MOST_LANCZOS = 16
};

typedef struct solve_options {
    const char *file, *rhs, *start, *iterates, *output, *history, *stop;
    const char *reuse, *smoother, *cycle, *recipe; /* of amg */
    drape_solve_settings settings;
    double theta;             /* NAN: not given */
    int32_t repeats, threads; /* threads 0: not given */
    bool json, list, explain, tune, unfiltered, relax_kernel;
} solve_options;

/* Everything that a solve holds. */
typedef struct solving {
    solve_options options;
    drape_context *ctx;
    drape_solver *solver;
    linear_system system;
    double *x, *start;                 /* 3 per block row; start NULL: zero */
    double *setup_times, *solve_times; /* one a repeat */
} solving;

/* ---- The command line ---- */

static parse_result parse(solve_options *o, int argc, char **argv) {
    drape_solve_settings *s = &o->settings;
    word_choice method = {.value = &s->method, .kind = WORDS_METHODS, .also = "auto"};
    word_choice precond = {.value = &s->precond, .kind = WORDS_PRECONDS, .also = "auto"};
    word_choice stop = {.value = &o->stop, .kind = WORDS_STOPS};
    word_choice smoother = {.value = &o->smoother, .kind = WORDS_SMOOTHERS};
    word_choice cycle = {.value = &o->cycle, .kind = WORDS_CYCLES};
    word_choice recipe = {.value = &o->recipe, .kind = WORDS_RECIPES};
    word_choice reuse = {.value = &o->reuse, .kind = WORDS_REUSES};
    const option options[] = {
        {"--method", NULL, "M", "default auto: ppcg, or bicgstab if A is not symmetric; see --list", OPTION_WORD,
         &method, 0, 0},
        {"--precond", NULL, "P", "default auto: the one that moves the fewest bytes, and another if that fails",
         OPTION_WORD, &precond, 0, 0},
        {"--tol", NULL, "T", "relative tolerance, between 0 and 1; default 1e-5", OPTION_REAL, &s->tol, 0, 0},
        {"--stop", NULL, "NORM", "norm that the tolerance applies to; default preconditioned", OPTION_WORD, &stop, 0,
         0},
        {"--max-iterations", NULL, "N", "default 10000", OPTION_NUMBER, &s->max_iterations, 1, INT32_MAX},
        {"--floor", NULL, "F", "also stop when the absolute norm is at most this; default 0", OPTION_REAL, &s->floor,
         0, 0},
        {"--omega", NULL, "W", "relaxation of ssor, between 0 and 2; default 1", OPTION_REAL, &s->omega, 0, 0},
        {"--amg-modes", NULL, "N", "amg: 3 translations, or 6 with rotations; default 3; auto chooses the better",
         OPTION_NUMBER, &s->amg.modes, 3, 6},
        {"--amg-theta", NULL, "T", "amg: strength threshold of connections, between 0 and 1; default 0.32",
         OPTION_REAL, &o->theta, 0, 0},
        {"--amg-levels", NULL, "N", "largest number of levels; default 16", OPTION_NUMBER, &s->amg.levels, 1,
         MOST_LEVELS},
        {"--amg-smoother", NULL, "NAME", "default gauss-seidel", OPTION_WORD, &smoother, 0, 0},
        {"--amg-degree", NULL, "N", "degree of chebyshev, 1 to 8; default 2", OPTION_NUMBER, &s->amg.degree, 1,
         MOST_DEGREE},
        {"--amg-cycle", NULL, "NAME", "default v", OPTION_WORD, &cycle, 0, 0},
        {"--amg-unfiltered", NULL, NULL, "smooth the interpolation over weak connections too", OPTION_FLAG,
         &o->unfiltered, 0, 0},
        {"--amg-reuse", NULL, "WHAT", "what to keep of the previous solve; default everything", OPTION_WORD, &reuse,
         0, 0},
        {"--amg-lanczos", NULL, "N", "iterations of the estimate of rho, 1 to 16; default 4, with chebyshev 8",
         OPTION_NUMBER, &s->amg.lanczos, 1, MOST_LANCZOS},
        {"--amg-dominance", NULL, "D", "rows whose diagonal dominates this much stay out of aggregates; default 0",
         OPTION_REAL, &s->amg.dominance, 0, 0},
        {"--amg-relax-kernel", NULL, NULL, "relax the near-kernel of coarse levels", OPTION_FLAG, &o->relax_kernel, 0,
         0},
        {"--amg-recipe", NULL, "NAME", "defaults of the settings that are not given; default drape", OPTION_WORD,
         &recipe, 0, 0},
        {"--repeat", NULL, "N", "number of repetitions; times are medians, without the first", OPTION_NUMBER,
         &o->repeats, 1, MOST_REPEATS},
        {"--threads", NULL, "T", "number of threads; default: one per processor; results do not depend on it",
         OPTION_NUMBER, &o->threads, 1, MOST_THREADS},
        {"--rhs", NULL, "FILE", "right-hand side: Matrix Market, or raw doubles", OPTION_TEXT, &o->rhs, 0, 0},
        {"--start", NULL, "FILE", "initial x, in the format of --rhs; default zero", OPTION_TEXT, &o->start, 0, 0},
        {"--output", "-o", "X.bin", "write x as raw doubles", OPTION_TEXT, &o->output, 0, 0},
        {"--history", NULL, "FILE.csv", "write the norms of every iteration", OPTION_TEXT, &o->history, 0, 0},
        {"--iterates", NULL, "FILE.csv", "write x after every iteration, one per line; for small systems",
         OPTION_TEXT, &o->iterates, 0, 0},
        {"--explain", NULL, NULL, "amg: print its levels, and where time is spent", OPTION_FLAG, &o->explain, 0, 0},
        {"--tune", NULL, NULL, "time all candidates of auto, and use the fastest", OPTION_FLAG, &o->tune, 0, 0},
        {"--json", NULL, NULL, "print one JSON object", OPTION_FLAG, &o->json, 0, 0},
        {"--list", NULL, NULL, "print methods and preconditioners", OPTION_FLAG, &o->list, 0, 0},
        {0}};
    command_line line = {
        .usage = "drape solve FILE [options]",
        .about = "Solves a system file of `drape run --export-system`, or A x = b with a Matrix Market matrix A\nand "
                 "b from --rhs, by default ones. Exit code 0: converged, 1: not converged, 2: bad input.",
        .options = options,
        .positional = &o->file,
        .positional_count = 1};
    parse_result parsed = parse_arguments(&line, argc, argv);
    if (parsed == PARSE_GOOD && !o->file && !o->list) {
        complain("no file given (usage: %s)", line.usage);
        return PARSE_BAD;
    }
    return parsed;
}

/* The words that were given, as numbers; all are known. */
static void choose_words(solve_options *o) {
    drape_solve_settings *s = &o->settings;
    if (o->stop) s->stop = (drape_stop)word_index(WORDS_STOPS, o->stop);
    if (o->reuse) s->amg.reuse = (drape_reuse)word_index(WORDS_REUSES, o->reuse);
    if (o->smoother) s->amg.smoother = (drape_smoother)word_index(WORDS_SMOOTHERS, o->smoother);
    if (o->cycle) s->amg.cycle = (drape_cycle)word_index(WORDS_CYCLES, o->cycle);
    if (o->recipe) s->amg.recipe = (drape_recipe)word_index(WORDS_RECIPES, o->recipe);
    s->amg.unfiltered = o->unfiltered;
    s->amg.relax_kernel = o->relax_kernel;
}

static bool choose_amg(solve_options *o) {
    drape_amg_settings *amg = &o->settings.amg;
    bool possible = strcmp(o->settings.precond, "amg") == 0 || strcmp(o->settings.precond, "auto") == 0;
    if (o->explain && !possible) {
        complain("--explain works only with the preconditioner amg; give --precond amg");
        return false;
    }
    if (amg->modes == 4 || amg->modes == 5) {
        complain("--amg-modes %d: it must be 3 or 6", amg->modes);
        return false;
    }
    if (!isnan(o->theta)) amg->theta = o->theta;
    if (o->theta == 0) { /* which the library takes for the default */
        complain("--amg-theta 0: it must lie between 0 and 1");
        return false;
    }
    return true;
}

/* What the library cannot say in the words of the command line; the rest it checks itself. */
static bool choose_settings(solve_options *o) {
    drape_solve_settings *s = &o->settings;
    choose_words(o);
    if (!choose_amg(o)) return false;
    if (s->tol == 0) { /* which the library takes for the default, as it does with the next */
        complain("--tol 0: it must lie between 0 and 1");
        return false;
    }
    if (s->omega == 0) {
        complain("--omega 0: it must lie between 0 and 2");
        return false;
    }
    if (o->iterates && strcmp(s->method, "direct") == 0) {
        complain("--iterates: the method direct has no iterations");
        return false;
    }
    s->direct = direct_solver();
    if (o->tune) s->tune = o->repeats > 1 ? DRAPE_TUNE_MANY : DRAPE_TUNE_ONCE;
    if (o->history) s->history = s->max_iterations < MOST_HISTORY ? s->max_iterations + 1 : MOST_HISTORY;
    return direct_is_there("--method", s);
}

/* ---- Solving ---- */

static bool allocate(solving *s) {
    size_t n = 3 * (size_t)s->system.A.rows + 1, repeats = (size_t)s->options.repeats;
    s->x = calloc(n, sizeof *s->x);
    s->setup_times = calloc(repeats, sizeof *s->setup_times);
    s->solve_times = calloc(repeats, sizeof *s->solve_times);
    if (s->x && s->setup_times && s->solve_times) return true;
    complain("out of memory");
    return false;
}

static bool read_start(solving *s) {
    if (!s->options.start) return true;
    s->start = calloc(3 * (size_t)s->system.A.rows + 1, sizeof *s->start);
    if (!s->start) complain("out of memory");
    else if (drape_vector_read(s->ctx, s->options.start, s->system.unknowns, s->start))
        complain("%s", drape_message(s->ctx));
    else return true;
    return false;
}

/* Everything that can be wrong with what was given, before anything is computed or written. */
static bool prepare(solving *s) {
    solve_options *o = &s->options;
    if (!choose_settings(o) || !can_write(o->output) || !can_write(o->history) || !can_write(o->iterates))
        return false;
    s->ctx = make_context(o->threads, false);
    if (!s->ctx) return false;
    if (drape_solver_create(s->ctx, &o->settings, &s->solver)) {
        complain("%s", drape_message(s->ctx));
        return false;
    }
    return system_read(s->ctx, o->file, o->rhs, &s->system) &&
           system_suits(&s->system, o->file, o->settings.method) && allocate(s) && read_start(s);
}

static drape_status solve_again_and_again(solving *s, drape_solve_result *result) {
    drape_problem problem = {.A = &s->system.A,
                             .b = s->system.b,
                             .constraints = s->system.held,
                             .guess = s->start,
                             .positions = s->system.file.cur}; /* NULL for other files */
    drape_status status = DRAPE_OK;
    for (int32_t i = 0; i < s->options.repeats && !status; i++) {
        status = drape_solver_solve(s->solver, &problem, s->x, result);
        s->setup_times[i] = result->setup_seconds;
        s->solve_times[i] = result->solve_seconds;
    }
    return status;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times, int32_t count) {
    qsort(times, (size_t)count, sizeof *times, ascending);
    return 0.5 * (times[(count - 1) / 2] + times[count / 2]);
}

static solve_summary summarise(solving *s, const drape_solve_result *result) {
    int32_t cold = s->options.repeats > 1; /* the first allocates; it counts only where there is no other */
    solve_summary summary = {.system = &s->system,
                             .solver = s->solver,
                             .explain = s->options.explain,
                             .read_bandwidth = s->options.explain ? measure_bandwidth(s->ctx, s->solver) : 0,
                             .settings = &s->options.settings,
                             .result = *result,
                             .repeats = s->options.repeats,
                             .cold_setup_seconds = s->setup_times[0],
                             .threads = drape_context_threads(s->ctx),
                             .simd = drape_simd_name(drape_context_simd(s->ctx))};
    summary.setup_seconds = median(s->setup_times + cold, s->options.repeats - cold);
    summary.solve_seconds = median(s->solve_times + cold, s->options.repeats - cold);
    return summary;
}

/* Where the iteration broke down there is no x worth having. */
static bool is_worth_writing(drape_reason reason) {
    return reason == DRAPE_CONVERGED || reason == DRAPE_ITERATION_LIMIT || reason == DRAPE_INACCURATE;
}

/* Of the method and preconditioner that were at work in the end. */
static bool write_all_iterates(const solving *s, const drape_solve_result *result) {
    drape_solve_settings settings = s->options.settings;
    settings.method = result->method;
    settings.precond = result->precond;
    settings.tune = DRAPE_TUNE_OFF;
    if (result->modes) settings.amg.modes = result->modes;
    return write_iterates(s->options.iterates, s->ctx, &s->system, &settings, s->start, result->iterations);
}

static bool write_files(const solving *s, const drape_solve_result *result) {
    const solve_options *o = &s->options;
    bool x = o->output && is_worth_writing(result->reason);
    if (x && !write_doubles(o->output, s->x, s->system.unknowns)) return false;
    if (o->history && !write_history(o->history, result)) return false;
    if (o->iterates && !write_all_iterates(s, result)) return false;
    if (x && !o->json) tell("wrote %s\n", o->output);
    if (o->history && !o->json) tell("wrote %s\n", o->history);
    if (o->iterates && !o->json) tell("wrote %s\n", o->iterates);
    return true;
}

static int solve(solving *s) {
    drape_solve_result result = {0};
    drape_status status = solve_again_and_again(s, &result);
    if (status) {
        complain("%s: %s", s->options.file, drape_message(s->ctx));
        return status == DRAPE_ERROR_MEMORY ? EXIT_RUN_FAILED : EXIT_BAD_INPUT;
    }
    solve_summary summary = summarise(s, &result);
    (s->options.json ? print_solve_json : print_solve_text)(&summary);
    bool written = write_files(s, &result);
    if (result.reason == DRAPE_CONVERGED) return written ? EXIT_GOOD : EXIT_RUN_FAILED;
    const char *detail = solve_detail(&result);
    complain("%s: not solved: %s after %d iteration%s%s%s%s", s->options.file, drape_reason_name(result.reason),
             result.iterations, result.iterations == 1 ? "" : "s", detail ? ": " : "", detail ? detail : "",
             s->options.output && !is_worth_writing(result.reason) ? "; x is not written" : "");
    return EXIT_RUN_FAILED;
}

static void release(solving *s) {
    free(s->x);
    free(s->start);
    free(s->setup_times);
    free(s->solve_times);
    if (!s->ctx) return;
    drape_solver_destroy(s->solver);
    system_clear(s->ctx, &s->system);
    drape_context_destroy(s->ctx);
}

int command_solve(int argc, char **argv) {
    solving s = {.options = {.settings = drape_solve_defaults(), .theta = NAN, .repeats = 1}};
    parse_result parsed = parse(&s.options, argc, argv);
    if (parsed != PARSE_GOOD) return parsed == PARSE_HELP ? EXIT_GOOD : EXIT_BAD_INPUT;
    if (s.options.list) {
        print_solve_list();
        return EXIT_GOOD;
    }
    int code = prepare(&s) ? solve(&s) : EXIT_BAD_INPUT;
    release(&s);
    return code;
}
