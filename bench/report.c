/* report.c: see report.h. Each benchmark has its claims, its plots and its tables. Columns that are called "A, B" and
 * stand side by side share a heading A. So the paper's figures and those measured here are next to each other.
 */
#include "report.h"

#include "svg.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Made by CMake from report.css. */
extern const unsigned char bench_report_css[];
extern const size_t bench_report_css_size;

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static void put_text(FILE *out, const char *before, const char *text, const char *after) {
    fputs(before, out);
    bench_put_escaped(out, text);
    fputs(after, out);
}

/* ---- Values ---- */

static void put_real(FILE *out, double value) {
    double size = fabs(value);
    if (size >= 1e6 || (size < 1e-3 && size > 0)) fprintf(out, "%.2e", value);
    else if (size >= 100) fprintf(out, "%.0f", value);
    else fprintf(out, "%.3g", value);
}

/* With the digits that the text has (".3f"), where they are known. */
static void put_number(FILE *out, double value, const char *digits) {
    char format[16];
    if (!digits || strlen(digits) > 8 || !strchr("efg", digits[strlen(digits) - 1])) {
        put_real(out, value);
        return;
    }
    snprintf(format, sizeof format, "%%%s", digits);
    fprintf(out, format, value); // NOLINT: of three kinds, see above
}

static void put_value(FILE *out, const json_t *value, const char *digits) {
    if (json_is_string(value)) put_text(out, "<td class=text>", json_string_value(value), "</td>");
    else if (json_is_integer(value)) fprintf(out, "<td>%lld</td>", (long long)json_integer_value(value));
    else if (json_is_real(value)) {
        fputs("<td>", out);
        put_number(out, json_real_value(value), digits);
        fputs("</td>", out);
    } else fputs("<td class=none>–</td>", out);
}

/* ---- Tables ---- */

/* How much of a column's name is the heading that it shares; 0: none. */
static size_t heading(const char *name) {
    const char *comma = strrchr(name, ',');
    return comma && comma[1] == ' ' ? (size_t)(comma - name) : 0;
}

static const char *column_name(const json_t *columns, size_t i) {
    return text_of(json_array_get(columns, i), "name");
}

/* Columns from i on that have the same heading. */
static size_t span_of(const json_t *columns, size_t i) {
    const char *name = column_name(columns, i);
    size_t length = heading(name), n = 1;
    while (length > 0 && i + n < json_array_size(columns)) {
        const char *other = column_name(columns, i + n);
        if (heading(other) != length || strncmp(name, other, length) != 0) break;
        n++;
    }
    return n;
}

static void put_unit(FILE *out, const json_t *column) {
    const char *unit = text_of(column, "unit");
    if (*unit) put_text(out, "<small>", unit, "</small>");
}

static void put_head(FILE *out, const json_t *columns) {
    fputs("<thead><tr>", out);
    for (size_t i = 0, n; i < json_array_size(columns); i += n) {
        const char *name = column_name(columns, i);
        n = span_of(columns, i);
        if (n == 1) {
            put_text(out, "<th rowspan=2>", name, "");
            put_unit(out, json_array_get(columns, i));
        } else {
            fprintf(out, "<th class=group colspan=%zu>", n);
            for (size_t k = 0; k < heading(name); k++) bench_put_escaped(out, (char[]){name[k], 0});
        }
        fputs("</th>", out);
    }
    fputs("</tr><tr>", out);
    for (size_t i = 0, n; i < json_array_size(columns); i += n) {
        n = span_of(columns, i);
        for (size_t k = i; n > 1 && k < i + n; k++) {
            const char *name = column_name(columns, k);
            put_text(out, "<th>", name + heading(name) + 2, "");
            put_unit(out, json_array_get(columns, k));
            fputs("</th>", out);
        }
    }
    fputs("</tr></thead>\n", out);
}

static void put_table(FILE *out, const json_t *table) {
    size_t i, k;
    const json_t *row, *column, *columns = json_object_get(table, "columns");
    put_text(out, "<figure class=table><figcaption>", text_of(table, "name"),
             "</figcaption><div class=scroll><table>\n");
    put_head(out, columns);
    fputs("<tbody>\n", out);
    json_array_foreach(json_object_get(table, "rows"), i, row) {
        fputs("<tr>", out);
        json_array_foreach(columns, k, column) put_value(out, json_object_get(row, text_of(column, "name")),
                                                         json_string_value(json_object_get(column, "digits")));
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div></figure>\n", out);
}

/* ---- Claims, plots, notes ---- */

static void put_claim_about(FILE *out, const json_t *claim) {
    const char *key;
    json_t *value;
    put_text(out, "<td class=text>", text_of(claim, "what"), "");
    json_object_foreach(json_object_get(claim, "keys"), key, value) {
        if (json_is_string(value) && strcmp(key, "state") != 0)
            put_text(out, " <small>", json_string_value(value), "</small>");
    }
    fputs("</td>", out);
}

static void put_claims(FILE *out, const json_t *claims) {
    size_t i;
    const json_t *claim;
    if (json_array_size(claims) == 0) return;
    fputs("<figure class=\"table claims\"><figcaption>What must hold</figcaption><div "
          "class=scroll><table><thead><tr><th>what</th><th>"
          "required</th><th>obtained</th><th></th></tr></thead><tbody>\n",
          out);
    json_array_foreach(claims, i, claim) {
        bool holds = json_is_true(json_object_get(claim, "holds"));
        fputs("<tr>", out);
        put_claim_about(out, claim);
        put_text(out, "<td>", text_of(claim, "relation"), " ");
        put_real(out, json_number_value(json_object_get(claim, "bound")));
        fputs("</td>", out);
        put_value(out, json_object_get(claim, "value"), NULL);
        fprintf(out, "<td class=%s>%s</td></tr>\n", holds ? "holds" : "missed", holds ? "holds" : "missed");
    }
    fputs("</tbody></table></div></figure>\n", out);
}

static void put_plots(FILE *out, const json_t *plots) {
    size_t i;
    const json_t *plot;
    if (json_array_size(plots) == 0) return;
    fputs("<div class=plots>\n", out);
    json_array_foreach(plots, i, plot) {
        put_text(out, "<figure class=plot><figcaption>", text_of(plot, "title"), "</figcaption>\n");
        bench_svg(out, plot);
        if (*text_of(plot, "caption")) put_text(out, "<p class=caption>", text_of(plot, "caption"), "</p>");
        fputs("</figure>\n", out);
    }
    fputs("</div>\n", out);
}

static void put_benchmark(FILE *out, const json_t *benchmark) {
    size_t i;
    const json_t *one;
    const char *name = text_of(benchmark, "name");
    put_text(out, "<section id=\"", name, "\">");
    put_text(out, "<h2>", name, "</h2>\n");
    if (*text_of(benchmark, "about")) put_text(out, "<p class=about>", text_of(benchmark, "about"), "</p>\n");
    json_array_foreach(json_object_get(benchmark, "notes"), i, one)
        put_text(out, "<p>", json_string_value(one), "</p>\n");
    put_claims(out, json_object_get(benchmark, "claims"));
    put_plots(out, json_object_get(benchmark, "plots"));
    json_array_foreach(json_object_get(benchmark, "tables"), i, one) put_table(out, one);
    fputs("</section>\n", out);
}

/* ---- The page ---- */

static void put_fact(FILE *out, const char *what, const char *value) {
    if (!*value) return;
    put_text(out, "<dt>", what, "</dt>");
    put_text(out, "<dd>", value, "</dd>\n");
}

static void put_machine(FILE *out, const json_t *root) {
    const json_t *machine = json_object_get(root, "machine");
    char count[64];
    fputs("<dl>\n", out);
    put_fact(out, "processor", text_of(machine, "processor"));
    snprintf(count, sizeof count, "%d, vectors %s; benchmarks use %d threads",
             (int)json_integer_value(json_object_get(machine, "processors")), text_of(machine, "vectors"),
             (int)json_integer_value(json_object_get(root, "threads")));
    put_fact(out, "processors", count);
    put_fact(out, "memory", text_of(machine, "memory"));
    put_fact(out, "compiler", text_of(root, "compiler"));
    put_fact(out, "drape", text_of(root, "version"));
    put_fact(out, "commit", text_of(root, "commit"));
    put_fact(out, "command", text_of(root, "settings"));
    put_fact(out, "measured", text_of(root, "date"));
    fputs("</dl>\n", out);
}

void bench_report(FILE *out, const json_t *root) {
    size_t i;
    const json_t *benchmark, *benchmarks = json_object_get(root, "benchmarks");
    fputs("<!doctype html>\n<html lang=en><head><meta charset=utf-8><meta name=viewport "
          "content=\"width=device-width,initial-scale=1\">\n<title>drape bench</title>\n<style>\n",
          out);
    fwrite(bench_report_css, 1, bench_report_css_size, out);
    fputs("</style></head><body>\n<header><h1>drape bench</h1>\n", out);
    put_machine(out, root);
    fputs("<nav>", out);
    json_array_foreach(benchmarks, i, benchmark) {
        put_text(out, "<a href=\"#", text_of(benchmark, "name"), "\">");
        put_text(out, "", text_of(benchmark, "name"), "</a> ");
    }
    fputs("</nav></header>\n<main>\n", out);
    json_array_foreach(benchmarks, i, benchmark) put_benchmark(out, benchmark);
    fputs("</main></body></html>\n", out);
}
