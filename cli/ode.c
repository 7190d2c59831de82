/* ode.c: drape ode: examples with known solutions, or systems from shared libraries, by any integrator. */
#include "ode_report.h"

#include <math.h>

enum { DEFAULT_STEPS = 100, MOST_SAMPLES = 10000000, MOST_RUNS = 40, LEAST_POINTS = 2, MOST_POINTS = 2000 };

typedef struct ode_options {
    const char *example, *newton;
    drape_ode_settings settings;
    double step, until;              /* NAN: not given */
    int32_t dense, sweep, stability; /* 0: not given */
    bool adaptive, by_newton, events, json, list;
} ode_options;

/* ---- The command line ---- */

static parse_result parse(ode_options *o, int argc, char **argv) {
    drape_ode_settings *s = &o->settings;
    word_choice method = {.value = &s->method, .kind = WORDS_ODE_METHODS};
    word_choice newton = {.value = &o->newton, .kind = WORDS_NEWTONS};
    const option options[] = {
        {"--method", NULL, "M", "default bdf2; see --list", OPTION_WORD, &method, 0, 0},
        {"--step", NULL, "H", "step in s, with --adaptive the first; default: a hundredth of the time", OPTION_REAL,
         &o->step, 0, 0},
        {"--until", NULL, "T", "end in s; default: that of the survey, or of the library", OPTION_REAL, &o->until, 0,
         0},
        {"--adaptive", NULL, NULL, "choose steps by an estimate of the local error", OPTION_FLAG, &o->adaptive, 0, 0},
        {"--adaptive-newton", NULL, NULL, "choose steps by the number of Newton iterations", OPTION_FLAG,
         &o->by_newton, 0, 0},
        {"--rtol", NULL, "R", "--adaptive: error relative to the solution; default 1e-3", OPTION_REAL, &s->rtol, 0,
         0},
        {"--atol", NULL, "A", "--adaptive: absolute error; default 1e-6", OPTION_REAL, &s->atol, 0, 0},
        {"--newton", NULL, "KIND", "how implicit methods iterate; default newton, or matrix-free without a Jacobian",
         OPTION_WORD, &newton, 0, 0},
        {"--dense", NULL, "N", "print the solution at the ends of N equal parts of the time", OPTION_NUMBER,
         &o->dense, 1, MOST_SAMPLES},
        {"--sweep", NULL, "N", "N runs, each with half the step of the one before; print work and error as CSV",
         OPTION_NUMBER, &o->sweep, 1, MOST_RUNS},
        {"--stability", NULL, "N", "print |R| of the method at N x N points of h lambda as CSV; needs no example",
         OPTION_NUMBER, &o->stability, LEAST_POINTS, MOST_POINTS},
        {"--events", NULL, NULL, "find the events of the example or the library, and print them", OPTION_FLAG,
         &o->events, 0, 0},
        {"--json", NULL, NULL, "print one JSON object", OPTION_FLAG, &o->json, 0, 0},
        {"--list", NULL, NULL, "print examples and methods", OPTION_FLAG, &o->list, 0, 0},
        {0}};
    command_line line = {
        .usage = "drape ode EXAMPLE|LIBRARY.so [options]",
        .about = "Integrates an example of Hauth's survey, or your own system from a shared library "
                 "(docs/ode.md).\nPrints the error against the exact solution, if it is known, and the cost.\nExit "
                 "code 0: done, or ended by a terminal event; 1: stopped early; 2: bad input.",
        .options = options,
        .positional = &o->example,
        .positional_count = 1,
        .names = WORDS_EXAMPLES};
    parse_result parsed = parse_arguments(&line, argc, argv);
    if (parsed == PARSE_GOOD && !o->example && !o->list && !o->stability) {
        complain("no example given (usage: %s)", line.usage);
        return PARSE_BAD;
    }
    return parsed;
}

static void print_list(void) {
    printf("examples:\n");
    for (int32_t i = 0; ode_example_at(i); i++)
        printf("  %-18s %s\n", ode_example_at(i)->name, ode_example_at(i)->about);
    printf("\nmethods:\n");
    for (int32_t i = 0; drape_ode_method_name(i); i++)
        printf("  %-18s %s\n", drape_ode_method_name(i), drape_ode_method_about(i));
}

/* A tolerance of 0 on the command line is none, which in the settings is a negative one: zero is the default there.
 */
static bool choose_tolerances(drape_ode_settings *s) {
    if (s->rtol < 0 || s->atol < 0) {
        complain("--rtol %g, --atol %g: expected tolerances of at least 0", s->rtol, s->atol);
        return false;
    }
    if (s->rtol == 0 && s->atol == 0) {
        complain("--rtol and --atol are both 0; one of them must be above 0");
        return false;
    }
    if (s->rtol == 0) s->rtol = -1;
    if (s->atol == 0) s->atol = -1;
    return true;
}

static bool choose_newton(ode_options *o, const ode_problem *p) {
    drape_ode_newton_kind *kind = &o->settings.newton.kind;
    bool matrix = ode_problem_has_matrix(p), needed = drape_ode_method_implicit(o->settings.method);
    if (!matrix) *kind = DRAPE_ODE_MATRIX_FREE;
    if (!o->newton) return true;
    *kind = (drape_ode_newton_kind)(DRAPE_ODE_NEWTON + word_index(WORDS_NEWTONS, o->newton));
    if (matrix || !needed || *kind == DRAPE_ODE_MATRIX_FREE) return true;
    complain("--newton %s: %s has no Jacobian; use --newton matrix-free", o->newton, o->example);
    return false;
}

/* What the library cannot say in the words of the command line; the rest it checks itself. */
static bool choose_settings(ode_options *o, const ode_problem *p) {
    double begin = p->table.begin;
    if (o->adaptive && o->by_newton) {
        complain("--adaptive and --adaptive-newton: give only one of them");
        return false;
    }
    if (o->sweep && (o->adaptive || o->by_newton || o->dense || o->events || o->json)) {
        complain("--sweep uses fixed steps and prints its own table; leave out --adaptive, --adaptive-newton, "
                 "--dense, --events and --json");
        return false;
    }
    if (isnan(o->until)) o->until = p->table.end;
    if (o->until <= begin) {
        complain("--until %g: expected a time above %g", o->until, begin);
        return false;
    }
    if (o->step <= 0) {
        complain("--step %g: expected a step above 0", o->step);
        return false;
    }
    if (o->events && !p->table.events) {
        complain("--events: %s has no events; leave the option out", o->example);
        return false;
    }
    if (!isnan(o->step)) o->settings.step = o->step;
    else if (!o->adaptive) o->settings.step = (o->until - begin) / DEFAULT_STEPS;
    if (o->adaptive) o->settings.control = DRAPE_ODE_ERROR;
    if (o->by_newton) o->settings.control = DRAPE_ODE_NEWTONS;
    o->settings.dense_output = o->dense > 0 || o->events;
    return choose_newton(o, p) && choose_tolerances(&o->settings);
}

/* ---- Running ---- */

static drape_status note_step(ode_report *r) {
    double error = ode_run_error(r->problem, &r->run);
    r->worst = isnan(error) ? error : fmax(r->worst, error);
    return ode_record_samples(r);
}

/* Step by step, so that the error is seen everywhere; fixed steps are equal, as drape_ode_advance makes them. */
static drape_status integrate(ode_report *r) {
    drape_ode *ode = r->run.ode;
    double begin = r->problem->table.begin, until = r->until;
    drape_status status = ode_record_samples(r);
    if (r->settings->control == DRAPE_ODE_FIXED) {
        double count = ceil((until - begin) / r->settings->step - 1e-9), most = (double)r->settings->max_steps;
        if (count > most) return drape_ode_advance(ode, until, &r->result); /* says why not */
        for (double i = 1; i <= count && !status && !r->result.reason; i++) {
            status = drape_ode_advance(ode, i == count ? until : begin + i * ((until - begin) / count), &r->result);
            if (!status) status = note_step(r);
        }
        return status;
    }
    while (!status && !r->result.reason && drape_ode_time(ode) < until) {
        status = drape_ode_next(ode, until, &r->result);
        if (!status) status = note_step(r);
        if (drape_ode_count(ode).steps >= r->settings->max_steps && drape_ode_time(ode) < until)
            r->result.reason = DRAPE_ODE_STEP_LIMIT;
    }
    return status;
}

/* What became of it, in print; the exit code. */
static int report(const ode_report *r, bool json) {
    bool refused = r->result.reason && drape_ode_count(r->run.ode).steps == 0; /* there is no error to speak of */
    if (json) ode_report_json(r);
    else if (!refused) ode_report_words(r);
    if (!r->result.reason || r->result.reason == DRAPE_ODE_EVENT) return EXIT_GOOD;
    const char *why = drape_ode_explain(r->run.ode);
    complain("stopped at t = %g s: %s%s%s", r->result.t, drape_ode_reason_name(r->result.reason), *why ? ": " : "",
             why);
    return EXIT_RUN_FAILED;
}

static int run_problem(drape_context *ctx, const ode_options *o, const ode_problem *p) {
    ode_report r = {.problem = p, .settings = &o->settings, .until = o->until, .watches = o->events};
    int code = EXIT_BAD_INPUT;
    if (ode_record_make_samples(&r, o->dense)) {
        drape_status status = ode_run_begin(ctx, p, &o->settings, &r.run);
        if (!status) status = ode_record_watch(&r);
        if (!status) status = integrate(&r);
        if (status) complain("%s", *drape_message(ctx) ? drape_message(ctx) : drape_status_name(status));
        else code = report(&r, o->json);
    }
    ode_run_end(&r.run);
    ode_record_free(&r);
    return code;
}

static int open_and_run(ode_options *o) {
    ode_problem p;
    int code = EXIT_BAD_INPUT;
    if (!ode_problem_open(o->example, &p)) return code;
    drape_context *ctx = choose_settings(o, &p) ? make_context(1, false) : NULL;
    if (ctx) code = o->sweep ? ode_sweep(ctx, &p, &o->settings, o->until, o->sweep) : run_problem(ctx, o, &p);
    drape_context_destroy(ctx);
    ode_problem_close(&p);
    return code;
}

static int show_stability(const ode_options *o) {
    if (o->example || o->sweep || o->dense || o->events || o->json) {
        complain("--stability tests a method without an example; use only --method and --newton with it");
        return EXIT_BAD_INPUT;
    }
    drape_context *ctx = make_context(1, false);
    int code = ctx ? ode_stability(ctx, &o->settings, o->stability) : EXIT_BAD_INPUT;
    drape_context_destroy(ctx);
    return code;
}

int command_ode(int argc, char **argv) {
    ode_options o = {.settings = drape_ode_defaults(), .step = NAN, .until = NAN};
    o.settings.method = "bdf2";
    parse_result parsed = parse(&o, argc, argv);
    if (parsed != PARSE_GOOD) return parsed == PARSE_HELP ? EXIT_GOOD : EXIT_BAD_INPUT;
    if (o.stability && !o.list) return show_stability(&o);
    if (!o.list) return open_and_run(&o);
    print_list();
    return EXIT_GOOD;
}
