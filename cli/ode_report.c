/* ode_report.c: a run of `drape ode` in words and in JSON. */
#include "ode_report.h"

#include <inttypes.h>
#include <math.h>

enum { MOST_SHOWN = 6 }; /* numbers of a state that are printed in words */

int64_t ode_report_columns(const ode_report *r) { return 1 + ode_problem_length(r->problem); }

/* t of event k of an example, as the exact solution has it; NAN: not known. */
static double known_time(const ode_report *r, int64_t k) {
    return r->problem->example ? ode_example_event_time(r->problem->example, (int32_t)k) : NAN;
}

/* ---- JSON ---- */

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

static void json_row(const double *values, int64_t count) {
    putchar('[');
    for (int64_t i = 0; i < count; i++) {
        if (i) printf(", ");
        print_json_number(values[i]);
    }
    putchar(']');
}

/* A number where there is one, else a list. */
static void json_vector(const char *key, const double *values, int64_t count) {
    if (count == 1) {
        json_real(key, values[0]);
        return;
    }
    printf("  \"%s\": ", key);
    json_row(values, count);
    printf(",\n");
}

static void json_states(const ode_report *r) {
    const drape_ode_system *s = &r->problem->table.system;
    json_vector("x", drape_ode_x(r->run.ode), s->size);
    if (s->order == 2) json_vector("v", drape_ode_v(r->run.ode), s->size);
    if (!ode_run_exact(r->problem, &r->run, r->result.t)) return;
    json_vector("exact_x", r->run.exact, s->size);
    if (s->order == 2) json_vector("exact_v", r->run.exact + s->size, s->size);
}

static void json_samples(const ode_report *r) {
    int64_t columns = ode_report_columns(r);
    if (!r->sample) return;
    printf("  \"samples\": [");
    for (int64_t k = 0; k < r->sampled; k++) {
        printf("%s\n    ", k ? "," : "");
        json_row(r->sample + k * columns, columns);
    }
    printf("],\n");
}

static void json_events(const ode_report *r) {
    const char *const *names = r->problem->table.event_names;
    if (!r->watches) return;
    printf("  \"events\": [");
    for (int64_t k = 0; k < r->seen_count; k++) {
        const ode_seen *e = &r->seen[k];
        printf("%s\n    {\"event\": %d, \"name\": ", k ? "," : "", e->index);
        if (names) print_json_text(names[e->index]);
        else printf("null");
        printf(", \"t\": ");
        print_json_number(e->t);
        printf(", \"rising\": %s, \"exact_t\": ", e->rising ? "true" : "false");
        print_json_number(known_time(r, k));
        putchar('}');
    }
    printf("],\n");
}

void ode_report_json(const ode_report *r) {
    static const char *const controls[] = {"fixed", "error", "newton"};
    drape_ode_counts c = drape_ode_count(r->run.ode);
    bool began = c.steps > 0;
    printf("{\n");
    json_text("example", r->problem->table.name);
    json_text("method", r->settings->method);
    json_text("newton", drape_ode_newton_kind_name(r->settings->newton.kind));
    json_text("control", controls[r->settings->control]);
    json_text("reason", drape_ode_reason_name(r->result.reason));
    json_text("explanation", drape_ode_explain(r->run.ode));
    json_real("until", r->until);
    json_real("t", r->result.t);
    json_states(r);
    json_real("error", began ? ode_run_error(r->problem, &r->run) : NAN);
    json_real("largest_error", began ? r->worst : NAN);
    json_samples(r);
    json_events(r);
    json_real("last_step", r->result.step);
    json_whole("steps", c.steps);
    json_whole("rejected", c.rejected);
    json_whole("f_evaluations", c.f);
    json_whole("newton_iterations", c.newton);
    json_whole("jacobians", c.jacobians);
    json_whole("linear_solves", c.linear_solves);
    printf("  \"linear_iterations\": %lld\n}\n", (long long)c.linear_iterations);
}

/* ---- Words ---- */

static void print_name(const ode_report *r, const char *kind, int64_t i) {
    const char *const *names = r->problem->table.names;
    if (names) tell("%s%s", *kind == 'v' ? "d/dt " : "", names[i]);
    else if (r->problem->table.system.size == 1) tell("%s", kind);
    else tell("%s[%" PRId64 "]", kind, i);
}

/* The state, where there is no exact one to tell its error. */
static void print_state(const ode_report *r) {
    const drape_ode_system *s = &r->problem->table.system;
    int64_t shown = s->size < MOST_SHOWN ? s->size : MOST_SHOWN;
    for (int32_t part = 0; part < s->order; part++) {
        const double *values = part ? drape_ode_v(r->run.ode) : drape_ode_x(r->run.ode);
        for (int64_t i = 0; i < shown; i++) {
            printf("%s", part || i ? ", " : "");
            print_name(r, part ? "v" : "x", i);
            printf(" = %.10g", values[i]);
        }
        if (shown < s->size) printf(", ...");
    }
    putchar('\n');
}

static void print_samples(const ode_report *r) {
    const drape_ode_system *s = &r->problem->table.system;
    int64_t columns = ode_report_columns(r);
    if (!r->sample) return;
    printf("t");
    for (int64_t i = 0; i + 1 < columns; i++) {
        printf("  ");
        print_name(r, i < s->size ? "x" : "v", i % s->size);
    }
    putchar('\n');
    for (int64_t k = 0; k < r->sampled; k++)
        for (int64_t i = 0; i < columns; i++)
            printf("%.12g%s", r->sample[k * columns + i], i + 1 < columns ? "  " : "\n");
}

static void print_events(const ode_report *r) {
    const char *const *names = r->problem->table.event_names;
    if (!r->watches) return;
    for (int64_t k = 0; k < r->seen_count; k++) {
        const ode_seen *e = &r->seen[k];
        double known = known_time(r, k);
        if (names) tell("event %s", names[e->index]);
        else printf("event %d", e->index);
        printf(" at t = %.12g s, %s", e->t, e->rising ? "rising" : "falling");
        if (isfinite(known)) printf("; wrong by %.2g s", fabs(e->t - known));
        putchar('\n');
    }
    if (!r->seen_count) printf("no event\n");
}

void ode_report_words(const ode_report *r) {
    const drape_ode_plugin *t = &r->problem->table;
    drape_ode_counts c = drape_ode_count(r->run.ode);
    tell("%s %s%s%s\n", r->problem->example ? "example" : "system", t->name, t->about ? ": " : "",
         t->about ? t->about : "");
    printf("%s to t = %g s; last step %.4g s\n", r->settings->method, r->result.t, r->result.step);
    if (t->exact) printf("error %.4g at the end, %.4g at most\n", ode_run_error(r->problem, &r->run), r->worst);
    else print_state(r);
    printf("%lld steps, %lld rejected; %lld evaluations of f", (long long)c.steps, (long long)c.rejected,
           (long long)c.f);
    if (c.newton)
        printf("; %lld Newton iterations, %lld Jacobians, %lld linear solves", (long long)c.newton,
               (long long)c.jacobians, (long long)c.linear_solves);
    putchar('\n');
    print_events(r);
    print_samples(r);
}
