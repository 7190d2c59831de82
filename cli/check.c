/* check.c: drape check: looks at everything that a run would read, and says what is wrong with it.
 *
 *   towel.yaml:6:15: error: there is no fabric "coton" [bad-material]
 *       material: coton
 *   flag.obj: warning: triangle 7 has an angle of 0.3 degrees [thin-triangle]
 *       to do: remesh there ...
 *
 * The source line is below the first finding of a place, advice below the last of a code. */
#include "cli.h"

#include <string.h>

enum { EXIT_WARNINGS = 1 };

/* ---- Findings in words ---- */

/* What was printed last, so that nothing is said twice in a row. */
typedef struct printer {
    char code[64], advice[256];
    int32_t line, column;
    bool vibrates;     /* a line of vibrations is open */
    const char *piece; /* of the last one */
    drape_vibration vibration;
    const drape_check_summary *summary;
} printer;

static void print_advice(printer *p) {
    if (p->advice[0]) tell("    to do: %s\n", p->advice);
    p->advice[0] = 0;
}

static void print_place(const drape_finding *f) {
    if (!f->file) return;
    tell("%s:", f->file);
    if (f->line > 0) printf("%d:", f->line);
    if (f->column > 0) printf("%d:", f->column);
    putchar(' ');
}

static void print_finding(void *user, const drape_finding *f) {
    printer *p = user;
    bool same_place = p->line == f->line && p->column == f->column;
    if (strcmp(p->code, f->code) != 0) print_advice(p);
    print_place(f);
    tell("%s: %s [%s]\n", drape_severity_name(f->severity), f->message, f->code);
    if (f->source && !(same_place && strcmp(p->code, f->code) == 0)) tell("    %s\n", f->source);
    snprintf(p->code, sizeof p->code, "%s", f->code);
    snprintf(p->advice, sizeof p->advice, "%s", f->advice ? f->advice : "");
    p->line = f->line, p->column = f->column;
}

/* Of an integrator: what is smaller may be rounding. */
static double without_noise(double ratio) {
    const double noise = 1e-6;
    return ratio > -noise && ratio < noise ? 0 : ratio;
}

/* A line for each piece, below a heading. */
static void print_vibration(void *user, const drape_check_vibration *v) {
    const double two_pi = 6.28318530717958647692;
    printer *p = user;
    print_advice(p);
    if (!p->vibrates)
        printf("slowest vibrations, damping ratio by the fabric + by the integrator at steps of %g s:",
               p->summary->step);
    if (!p->vibrates || v->piece != p->piece || v->vibration <= p->vibration) tell("\n    %s: ", v->piece);
    else printf("; ");
    printf("%s of %.3g m %.3g Hz, %.2g + %.2g %%", drape_vibration_name(v->vibration), v->length,
           v->frequency / two_pi, 100 * v->fabric, 100 * without_noise(v->integrator));
    p->vibrates = true, p->piece = v->piece, p->vibration = v->vibration;
}

static void print_count(int64_t count, const char *what, const char *behind) {
    printf("%lld %s%s%s", (long long)count, what, count == 1 ? "" : "s", behind);
}

static void print_summary(const drape_check_summary *s) {
    if (s->errors + s->warnings == 0) printf("good: ");
    if (s->errors > 0) print_count(s->errors, "error", s->warnings ? ", " : "; ");
    if (s->warnings > 0) print_count(s->warnings, "warning", "; ");
    printf("%lld vert%s, ", (long long)s->vertices, s->vertices == 1 ? "ex" : "ices");
    if (s->pieces == 0 && s->frames > 0) { /* a point cache */
        print_count(s->frames, "frame", "\n");
        return;
    }
    print_count(s->triangles, "triangle", " in ");
    print_count(s->pieces, "piece", "");
    if (s->step > 0 && s->errors == 0) {
        printf("; ");
        print_count(s->frames, "frame", " of ");
        if (s->controlled) printf("steps of at most ");
        else print_count(s->steps_per_frame, "step", " of ");
        printf("%g s", s->step);
        if (s->swing_loss >= 0.001) printf("; they take %.2g %% of a swing of the cloth", 100 * s->swing_loss);
        else if (s->swing_loss > 0) printf("; they take less than 0.1 %% of a swing of the cloth");
    }
    putchar('\n');
    if (s->residual >= 0)
        printf("the cloth starts %s: forces of %.2g of its weight are not balanced\n",
               s->at_rest ? "at rest" : "not at rest", s->residual);
}

static drape_status check_in_words(drape_context *ctx, const char *name, drape_check_options *how,
                                   drape_check_summary *summary) {
    printer p = {.summary = summary};
    how->finding = print_finding;
    how->vibration = print_vibration;
    how->user = &p;
    drape_status status = drape_check(ctx, name, how, summary);
    print_advice(&p);
    if (p.vibrates) putchar('\n');
    if (!status) print_summary(summary);
    return status;
}

/* ---- Findings for machines, printed as they come, followed by the counts ---- */

static void text_or_null(const char *key, const char *text) {
    printf("\"%s\": ", key);
    if (text) print_json_text(text);
    else printf("null");
}

static void place_or_null(const char *key, int32_t number) {
    if (number > 0) printf(", \"%s\": %d", key, number);
    else printf(", \"%s\": null", key);
}

static void number_list(const char *key, int32_t count, const int32_t *from) {
    printf(", \"%s\": [", key);
    for (int32_t i = 0; i < count; i++) printf("%s%d", i ? ", " : "", from[i]);
    printf("]");
}

typedef struct json_printer {
    const char *name;
    bool begun; /* something was printed, so the object must be completed */
    int64_t findings, vibrations;
} json_printer;

static void begin_json(json_printer *p) {
    if (p->begun) return;
    printf("{");
    text_or_null("file", p->name);
    printf(",\n\"findings\": [");
    p->begun = true;
}

static void print_finding_json(void *user, const drape_finding *f) {
    json_printer *p = user;
    begin_json(p);
    printf("%s\n  {\"severity\": \"%s\", \"code\": \"%s\", ", p->findings++ ? "," : "",
           drape_severity_name(f->severity), f->code);
    text_or_null("file", f->file);
    place_or_null("line", f->line);
    place_or_null("column", f->column);
    printf(", ");
    text_or_null("piece", f->piece);
    number_list("vertices", f->vertex_count, f->vertex);
    number_list("triangles", f->triangle_count, f->triangle);
    printf(", \"count\": %lld,\n   ", (long long)f->count);
    text_or_null("message", f->message);
    printf(",\n   ");
    text_or_null("advice", f->advice);
    printf("}");
}

static void begin_vibrations(const json_printer *p) { printf("%s],\n\"vibrations\": [", p->findings ? "\n" : ""); }

static void print_vibration_json(void *user, const drape_check_vibration *v) {
    json_printer *p = user;
    begin_json(p);
    if (p->vibrations == 0) begin_vibrations(p);
    printf("%s\n  {", p->vibrations++ ? "," : "");
    text_or_null("piece", v->piece);
    printf(", \"vibration\": \"%s\", \"length\": %.17g, \"frequency\": %.17g,\n", drape_vibration_name(v->vibration),
           v->length, v->frequency);
    printf("   \"fabric\": %.17g, \"integrator\": %.17g}", v->fabric, v->integrator);
}

static void end_json(const json_printer *p, const drape_check_summary *s) {
    if (p->vibrations == 0) begin_vibrations(p);
    printf("%s],\n\"errors\": %lld, \"warnings\": %lld,\n\"pieces\": %d, \"vertices\": %lld, \"triangles\": %lld,\n",
           p->vibrations ? "\n" : "", (long long)s->errors, (long long)s->warnings, s->pieces, (long long)s->vertices,
           (long long)s->triangles);
    if (s->step > 0) printf("\"step\": %.17g, ", s->step);
    else printf("\"step\": null, ");
    printf("\"fastest\": %.17g, \"swing_loss\": %.17g, \"residual\": ", s->fastest, s->swing_loss);
    if (s->residual >= 0) printf("%.17g}\n", s->residual);
    else printf("null}\n");
}

/* Prints the findings as one JSON object (docs/doctor.md); nothing where it fails, and then the message says why.
 * Sets the callback of the options. */
static drape_status check_as_json(drape_context *ctx, const char *name, drape_check_options *how,
                                  drape_check_summary *summary) {
    json_printer p = {.name = name};
    how->finding = print_finding_json;
    how->vibration = print_vibration_json;
    how->user = &p;
    drape_status status = drape_check(ctx, name, how, summary);
    if (!status) begin_json(&p);
    if (p.begun) end_json(&p, summary);
    return status;
}

/* ---- The command ---- */

static int check(const scene_arguments *a, bool all, bool json) {
    drape_context *ctx = make_context(a->threads, false);
    drape_check_summary summary;
    if (!ctx) return EXIT_BAD_INPUT;
    drape_check_options how = {.scene = scene_options(a), .examples = all ? INT32_MAX : 0, .direct = direct_solver()};
    drape_status status =
        json ? check_as_json(ctx, a->name, &how, &summary) : check_in_words(ctx, a->name, &how, &summary);
    if (status) complain("%s", drape_message(ctx));
    drape_context_destroy(ctx);
    if (status || summary.errors > 0) return EXIT_BAD_INPUT;
    return summary.warnings > 0 ? EXIT_WARNINGS : EXIT_GOOD;
}

int command_check(int argc, char **argv) {
    scene_arguments a = {0};
    option options[SCENE_OPTIONS + 3] = {0};
    bool all = false, json = false;
    scene_option_table(&a, options);
    options[SCENE_OPTIONS] =
        (option){"--all", NULL, NULL, "list all findings, even if there are many of a kind", OPTION_FLAG, &all, 0, 0};
    options[SCENE_OPTIONS + 1] = (option){"--json", NULL, NULL, "print one JSON object", OPTION_FLAG, &json, 0, 0};
    command_line line = {
        .usage = "drape check SCENE|MESH|CACHE [options]",
        .about = "Checks a scene file (or a built-in scene) and its meshes, a mesh file (.obj, .ply) or a point "
                 "cache (.pc2, .mdd).\nReports every problem with file, line and column, or vertex and triangle, and "
                 "what to do about it. Writes nothing.\nExit code 0: no problems, 1: warnings only, 2: errors.",
        .options = options,
        .positional = &a.name,
        .positional_count = 1,
        .names = WORDS_SCENES};
    parse_result parsed = parse_arguments(&line, argc, argv);
    if (parsed != PARSE_GOOD) return parsed == PARSE_HELP ? EXIT_GOOD : EXIT_BAD_INPUT;
    if (!a.name) {
        complain("no scene or mesh given (usage: %s)", line.usage);
        return EXIT_BAD_INPUT;
    }
    return check(&a, all, json);
}
