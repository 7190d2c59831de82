/* ode.c: drape ode: the examples of Hauth's survey by any integrator, with the error against the exact solution. */
#include "cli.h"
#include "ode_examples.h"

#include <math.h>
#include <string.h>

enum { DEFAULT_STEPS = 100 };

typedef struct ode_options {
    const char *example, *newton;
    drape_ode_settings settings;
    double step, until; /* NAN: not given */
    bool adaptive, by_newton, json, list;
} ode_options;

/* A run and what came of it. */
typedef struct ode_report {
    const ode_options *options;
    const ode_example *example;
    ode_example_run run;
    drape_ode_result result;
    double worst; /* largest error over all steps */
} ode_report;

/* ---- The command line ---- */

static parse_result parse(ode_options *o, int argc, char **argv) {
    drape_ode_settings *s = &o->settings;
    word_choice method = {.value = &s->method, .kind = WORDS_ODE_METHODS};
    word_choice newton = {.value = &o->newton, .kind = WORDS_NEWTONS};
    const option options[] = {
        {"--method", NULL, "M", "default bdf2; --list says more", OPTION_WORD, &method, 0, 0},
        {"--step", NULL, "H", "s; default a hundredth of the time; first step of --adaptive", OPTION_REAL, &o->step,
         0, 0},
        {"--until", NULL, "T", "s; default as in the survey", OPTION_REAL, &o->until, 0, 0},
        {"--adaptive", NULL, NULL, "steps by an estimate of the local error", OPTION_FLAG, &o->adaptive, 0, 0},
        {"--adaptive-newton", NULL, NULL, "steps by the number of Newton iterations", OPTION_FLAG, &o->by_newton, 0,
         0},
        {"--rtol", NULL, "R", "of --adaptive: relative to the solution; default 1e-3", OPTION_REAL, &s->rtol, 0, 0},
        {"--atol", NULL, "A", "of --adaptive: absolute; default 1e-6", OPTION_REAL, &s->atol, 0, 0},
        {"--newton", NULL, "KIND", "how implicit methods iterate; default newton", OPTION_WORD, &newton, 0, 0},
        {"--json", NULL, NULL, "print one JSON object", OPTION_FLAG, &o->json, 0, 0},
        {"--list", NULL, NULL, "print examples and methods", OPTION_FLAG, &o->list, 0, 0},
        {0}};
    command_line line = {
        .usage = "drape ode EXAMPLE [options]",
        .about = "Integrates an example of Hauth's survey and prints the error against\n"
                 "the exact solution, and what it took. Exit code 0: done, 1: stopped on the way, 2: bad input.",
        .options = options,
        .positional = &o->example,
        .positional_count = 1,
        .names = WORDS_EXAMPLES};
    parse_result parsed = parse_arguments(&line, argc, argv);
    if (parsed == PARSE_GOOD && !o->example && !o->list) {
        complain("which example? (usage: %s)", line.usage);
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
        complain("--rtol %g, --atol %g: tolerances of at least 0 are wanted", s->rtol, s->atol);
        return false;
    }
    if (s->rtol == 0 && s->atol == 0) {
        complain("--rtol and --atol are both 0; one must be above");
        return false;
    }
    if (s->rtol == 0) s->rtol = -1;
    if (s->atol == 0) s->atol = -1;
    return true;
}

/* What the library cannot say in the words of the command line; the rest it checks itself. */
static bool choose_settings(ode_options *o, const ode_example *e) {
    if (o->adaptive && o->by_newton) {
        complain("--adaptive and --adaptive-newton exclude each other");
        return false;
    }
    if (isnan(o->until)) o->until = e->end;
    if (o->until <= 0) {
        complain("--until %g: a time above 0 is wanted", o->until);
        return false;
    }
    if (o->step <= 0) {
        complain("--step %g: a step above 0 is wanted", o->step);
        return false;
    }
    if (!isnan(o->step)) o->settings.step = o->step;
    else if (!o->adaptive) o->settings.step = o->until / DEFAULT_STEPS;
    if (o->adaptive) o->settings.control = DRAPE_ODE_ERROR;
    if (o->by_newton) o->settings.control = DRAPE_ODE_NEWTONS;
    if (o->newton)
        o->settings.newton.kind = (drape_ode_newton_kind)(DRAPE_ODE_NEWTON + word_index(WORDS_NEWTONS, o->newton));
    return choose_tolerances(&o->settings);
}

/* ---- Printing ---- */

static const char *control_name(drape_ode_control control) {
    static const char *const names[] = {"fixed", "error", "newton"};
    return names[control];
}

static void json_text(const char *key, const char *value) {
    printf("  \"%s\": ", key);
    print_json_text(value);
    printf(",\n");
}
static void json_whole(const char *key, int64_t value) { printf("  \"%s\": %lld,\n", key, (long long)value); }
static void json_real(const char *key, double value) {
    printf("  \"%s\": ", key);
    print_json_number(value);
    printf(",\n");
}

static void print_json(const ode_report *r) {
    const drape_ode_settings *s = &r->options->settings;
    drape_ode_counts c = drape_ode_count(r->run.ode);
    double exact[2];
    ode_example_exact(r->example, r->result.t, exact);
    printf("{\n");
    json_text("example", r->example->name);
    json_text("method", s->method);
    json_text("newton", drape_ode_newton_kind_name(s->newton.kind));
    json_text("control", control_name(s->control));
    json_text("reason", drape_ode_reason_name(r->result.reason));
    json_text("explanation", drape_ode_explain(r->run.ode));
    json_real("until", r->options->until);
    json_real("t", r->result.t);
    json_real("x", drape_ode_x(r->run.ode)[0]);
    if (r->example->order == 2) json_real("v", drape_ode_v(r->run.ode)[0]);
    json_real("exact_x", exact[0]);
    if (r->example->order == 2) json_real("exact_v", exact[1]);
    bool began = c.steps > 0;
    json_real("error", began ? ode_example_error(r->example, &r->run) : NAN);
    json_real("largest_error", began ? r->worst : NAN);
    json_real("last_step", r->result.step);
    json_whole("steps", c.steps);
    json_whole("rejected", c.rejected);
    json_whole("f_evaluations", c.f);
    json_whole("newton_iterations", c.newton);
    json_whole("jacobians", c.jacobians);
    json_whole("linear_solves", c.linear_solves);
    printf("  \"linear_iterations\": %lld\n}\n", (long long)c.linear_iterations);
}

static void print_words(const ode_report *r) {
    drape_ode_counts c = drape_ode_count(r->run.ode);
    printf("example %s: %s\n", r->example->name, r->example->about);
    printf("%s to t = %g s; last step %.4g s\n", r->options->settings.method, r->result.t, r->result.step);
    printf("error %.4g at the end, %.4g at most\n", ode_example_error(r->example, &r->run), r->worst);
    printf("%lld steps, %lld rejected; %lld evaluations of f", (long long)c.steps, (long long)c.rejected,
           (long long)c.f);
    if (c.newton)
        printf("; %lld Newton iterations, %lld Jacobians, %lld linear solves", (long long)c.newton,
               (long long)c.jacobians, (long long)c.linear_solves);
    putchar('\n');
}

/* ---- Running ---- */

/* Step by step, so that the error is seen everywhere; fixed steps are equal, as drape_ode_advance makes them. */
static drape_status integrate(ode_report *r) {
    drape_ode *ode = r->run.ode;
    double until = r->options->until;
    drape_status status = DRAPE_OK;
    if (r->options->settings.control == DRAPE_ODE_FIXED) {
        double count = ceil(until / r->options->settings.step - 1e-9), most = (double)r->options->settings.max_steps;
        if (count > most) return drape_ode_advance(ode, until, &r->result); /* says why not */
        for (double i = 1; i <= count && !status && !r->result.reason; i++) {
            status = drape_ode_advance(ode, i == count ? until : i * (until / count), &r->result);
            r->worst = fmax(r->worst, ode_example_error(r->example, &r->run));
        }
        return status;
    }
    while (!status && !r->result.reason && drape_ode_time(ode) < until) {
        status = drape_ode_next(ode, until, &r->result);
        r->worst = fmax(r->worst, ode_example_error(r->example, &r->run));
        if (drape_ode_count(ode).steps >= r->options->settings.max_steps && drape_ode_time(ode) < until)
            r->result.reason = DRAPE_ODE_STEP_LIMIT;
    }
    return status;
}

static int run_example(drape_context *ctx, const ode_options *o, const ode_example *e) {
    ode_report r = {.options = o, .example = e};
    if (ode_example_begin(ctx, e, &o->settings, &r.run) || integrate(&r)) {
        complain("%s", drape_message(ctx));
        ode_example_end(&r.run);
        return EXIT_BAD_INPUT;
    }
    bool refused = r.result.reason && drape_ode_count(r.run.ode).steps == 0; /* there is no error to speak of */
    if (o->json) print_json(&r);
    else if (!refused) print_words(&r);
    int code = EXIT_GOOD;
    if (r.result.reason) {
        const char *why = drape_ode_explain(r.run.ode);
        complain("stopped at t = %g s: %s%s%s", r.result.t, drape_ode_reason_name(r.result.reason), *why ? ": " : "",
                 why);
        code = EXIT_RUN_FAILED;
    }
    ode_example_end(&r.run);
    return code;
}

int command_ode(int argc, char **argv) {
    ode_options o = {.settings = drape_ode_defaults(), .step = NAN, .until = NAN};
    o.settings.method = "bdf2";
    parse_result parsed = parse(&o, argc, argv);
    if (parsed != PARSE_GOOD) return parsed == PARSE_HELP ? EXIT_GOOD : EXIT_BAD_INPUT;
    if (o.list) {
        print_list();
        return EXIT_GOOD;
    }
    const ode_example *e = ode_example_find(o.example);
    if (!e) {
        complain("there is no example %s; drape ode --list shows them", o.example);
        return EXIT_BAD_INPUT;
    }
    if (!choose_settings(&o, e)) return EXIT_BAD_INPUT;
    drape_context *ctx = make_context(1, false);
    if (!ctx) return EXIT_BAD_INPUT;
    int code = run_example(ctx, &o, e);
    drape_context_destroy(ctx);
    return code;
}
