/* validate_page.c: the page of drape validate: tip depths beside the curve of the elastica, differences beside their
 * bars, and the table. One file of HTML and SVG, without scripts. */
#include "validate.h"

#include <math.h>
#include <string.h>

/* A plot's area in its picture, in pixels, and what its corners stand for. */
typedef struct axes {
    double left, top, width, height;
    double x0, x1, y0, y1;
} axes;

static double across(const axes *a, double x) { return a->left + a->width * (x - a->x0) / (a->x1 - a->x0); }
static double down(const axes *a, double y) { return a->top + a->height * (a->y1 - y) / (a->y1 - a->y0); }

static const char *color_of(const char *mesh) {
    if (strcmp(mesh, "irregular") == 0) return "#c0392b";
    if (strstr(mesh, "turned")) return "#b7950b";
    return strcmp(mesh, "alternating") == 0 ? "#2471a3" : "#1e8449";
}

static void begin_plot(FILE *to, const axes *a, const char *title) {
    fprintf(to,
            "<h2>%s</h2>\n<svg width=\"%g\" height=\"%g\" role=\"img\">\n"
            "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill=\"none\" stroke=\"#888\"/>\n",
            title, a->left + a->width + 20, a->top + a->height + 40, a->left, a->top, a->width, a->height);
}

static void put_label(FILE *to, double x, double y, const char *anchor, const char *text) {
    fprintf(to, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, text);
}

static void put_number(FILE *to, double x, double y, const char *anchor, double number, const char *unit) {
    char text[32];
    snprintf(text, sizeof text, "%g%s", number, unit);
    put_label(to, x, y, anchor, text);
}

/* Tip depth over length against a load, on a logarithmic axis; by weight, or by a force at the end. */
static void plot_depths(FILE *to, const validation_row *rows, int32_t count, bool by_weight) {
    enum { POINTS = 60 };
    static const double marks[] = {0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100};
    const axes a = {50, 10, 520, 260, log(by_weight ? 0.08 : 0.15), log(by_weight ? 105 : 5), 0, 1};
    begin_plot(to, &a, by_weight ? "Cantilevers under their weight" : "A force at the end");
    fprintf(to, "<polyline fill=\"none\" stroke=\"#333\" points=\"");
    for (int32_t i = 0; i <= POINTS; i++) {
        double x = a.x0 + (a.x1 - a.x0) * i / POINTS, load = exp(x);
        fprintf(to, "%.1f,%.1f ", across(&a, x),
                down(&a, elastica_tip(by_weight ? load : 0, by_weight ? 0 : load).depth));
    }
    fprintf(to, "\"/>\n");
    for (int32_t i = 0; i < count; i++) {
        double load = by_weight ? rows[i].load : rows[i].end;
        if (load <= 0) continue;
        fprintf(to, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", across(&a, log(load)),
                down(&a, rows[i].got), color_of(rows[i].mesh));
    }
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (log(marks[i]) > a.x0 && log(marks[i]) < a.x1)
            put_number(to, across(&a, log(marks[i])), a.top + a.height + 16, "middle", marks[i], "");
    for (int32_t i = 0; i <= 5; i++) put_number(to, a.left - 6, down(&a, 0.2 * i) + 4, "end", 0.2 * i, "");
    put_label(to, a.left + a.width / 2, a.top + a.height + 34, "middle",
              by_weight ? "G = density g L^3 / B" : "P L^2 / (B width)");
    fprintf(to, "</svg>\n<p>Curve: elastica. Depth of the tip over the length. Green: diagonals one way, blue: "
                "alternating, red: irregular, yellow: turned by 45 degrees.</p>\n");
}

static void plot_differences(FILE *to, const validation_row *rows, int32_t count) {
    const axes a = {50, 10, 800, 200, -1, count, -10, 10};
    begin_plot(to, &a, "Differences");
    for (int32_t i = 0; i < count; i++) {
        const double bar = 100 * rows[i].bar;
        fprintf(to, "<rect x=\"%.1f\" width=\"%.1f\" y=\"%.1f\" height=\"%.1f\" fill=\"#ddd\"/>\n",
                across(&a, i - 0.5), across(&a, 1) - across(&a, 0) + 0.1, down(&a, bar),
                down(&a, -bar) - down(&a, bar));
        if (i > 0 && strcmp(rows[i].group, rows[i - 1].group) == 0) continue;
        int32_t last = i;
        while (last + 1 < count && strcmp(rows[last + 1].group, rows[i].group) == 0) last++;
        if (last > i + count / 20) /* groups that are wide enough for their name */
            put_label(to, across(&a, (i + last) / 2.0), a.top + a.height + 16, "middle", rows[i].group);
    }
    for (int32_t i = 0; i < count; i++) {
        double off = 100 * (rows[i].got / rows[i].want - 1), x = across(&a, i);
        fprintf(to, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2\" fill=\"%s\"><title>", x,
                down(&a, fmin(fmax(off, a.y0), a.y1)), color_of(rows[i].mesh));
        fprintf(to, "%s: %s, %+.2f %%</title></circle>\n", rows[i].group, rows[i].what, off);
    }
    for (int32_t i = -2; i <= 2; i++) put_number(to, a.left - 6, down(&a, 5 * i) + 4, "end", 5 * i, " %");
    fprintf(to, "</svg>\n<p>Each problem in the order of the table; gray: its limit.</p>\n");
}

static void write_table(FILE *to, const validation_row *rows, int32_t count) {
    fprintf(to, "<h2>Table</h2>\n<table>\n<tr><th></th><th></th><th>ours</th><th>reference</th><th>difference</th>"
                "<th>limit</th></tr>\n");
    for (int32_t i = 0; i < count; i++) {
        double off = rows[i].got / rows[i].want - 1;
        fprintf(to, "<tr%s><td>%s</td><td>%s</td><td>%.6g</td><td>%.6g</td><td>%+.2f %%</td><td>%g %%</td></tr>\n",
                fabs(off) > rows[i].bar ? " class=\"missed\"" : "", rows[i].group, rows[i].what, rows[i].got,
                rows[i].want, 100 * off, 100 * rows[i].bar);
    }
    fprintf(to, "</table>\n");
}

bool write_validation_page(const char *path, const validation_row *rows, int32_t count) {
    output_file file;
    if (!output_begin(&file, path)) return false;
    FILE *to = file.stream;
    fprintf(to,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>drape validate</title>\n"
            "<style>body{font:14px sans-serif;margin:2em}text{font-size:12px}td,th{padding:0 1em;text-align:right}"
            "td:nth-child(2){text-align:left}.missed{color:#c0392b}</style>\n<h1>drape %s: validation</h1>\n",
            drape_version());
    plot_depths(to, rows, count, true);
    plot_depths(to, rows, count, false);
    plot_differences(to, rows, count);
    write_table(to, rows, count);
    fprintf(to, "</html>\n");
    return output_end(&file);
}
