/* svg.c: see svg.h. Axes with ticks at round numbers, a grid, curves, and a legend below. Everything that has
 * a color has a class, so that the page decides on light and dark. */
#include "svg.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { WIDTH = 580, LEFT = 72, TOP = 12, BOTTOM = 50, PLOT_WIDTH = 494, PLOT_HEIGHT = 310, COLORS = 8 };
enum { LEGEND_COLUMNS = 2, LEGEND_WIDTH = 262, LEGEND_LINE = 19 };

typedef struct axis {
    const char *label, *unit;
    bool log;
    double low, high;  /* of what is shown; logarithms where log */
    double from, over; /* pixels: where low is, and how many there are from low to high */
} axis;

typedef struct picture {
    FILE *out;
    const json_t *plot, *curves;
    axis x, y;
    int height; /* of the area of the plot */
} picture;

void bench_put_escaped(FILE *out, const char *text) {
    for (; *text; text++) {
        if (*text == '&') fputs("&amp;", out);
        else if (*text == '<') fputs("&lt;", out);
        else if (*text == '>') fputs("&gt;", out);
        else if (*text == '"') fputs("&quot;", out);
        else fputc(*text, out);
    }
}

/* ---- Axes ---- */

static double scaled(const axis *a, double value) { return a->log ? (value > 0 ? log10(value) : NAN) : value; }

static double place(const axis *a, double value) {
    return a->from + (scaled(a, value) - a->low) / (a->high - a->low) * a->over;
}

static bool has_style(const json_t *curve, const char *style) {
    return strcmp(json_string_value(json_object_get(curve, "style")), style) == 0;
}

static double coordinate(const json_t *point, size_t which) {
    const json_t *value = json_array_get(point, which);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static void include(axis *a, double value) {
    double s = scaled(a, value);
    if (!isfinite(s)) return;
    a->low = fmin(a->low, s);
    a->high = fmax(a->high, s);
}

static void include_curve(picture *p, const json_t *curve) {
    size_t i;
    const json_t *point;
    double half = has_style(curve, "squares") ? 0.5 : 0;
    json_array_foreach(json_object_get(curve, "points"), i, point) {
        for (double side = -half; side <= half; side += half > 0 ? 2 * half : 1) {
            include(&p->x, coordinate(point, 0) + side);
            include(&p->y, coordinate(point, 1) + side);
        }
    }
}

/* Some room around what is shown; 0 is kept as a bound that is meant. */
static void widen(axis *a) {
    if (!(a->low <= a->high)) a->low = 0, a->high = 1;
    double room = 0.04 * (a->high - a->low);
    if (room == 0) room = a->log ? 0.5 : fmax(0.5 * fabs(a->low), 0.5);
    bool from_zero = !a->log && a->low >= 0 && a->low < 0.5 * a->high;
    a->low = from_zero ? 0 : a->low - room;
    a->high += room;
}

static axis read_axis(const json_t *json) {
    return (axis){.label = json_string_value(json_object_get(json, "label")),
                  .unit = json_string_value(json_object_get(json, "unit")),
                  .log = json_is_true(json_object_get(json, "log")),
                  .low = INFINITY,
                  .high = -INFINITY};
}

/* 1, 2 or 5 times a power of ten, for some six ticks. */
static double nice_step(double range) {
    double rough = range / 6, power = pow(10, floor(log10(rough))), part = rough / power;
    return power * (part <= 1.5 ? 1 : part <= 3.5 ? 2 : part <= 7.5 ? 5 : 10);
}

static void put_tick_text(FILE *out, double value, bool log) {
    double size = log ? fmax(fabs(value), 1e-12) : fabs(value); /* what rounding leaves of 0 is 0 */
    if (size >= 1e4 && size < 1e6 && fmod(size, 1000) == 0) fprintf(out, "%gk", value / 1000);
    else if (size >= 1e6 && size < 1e9) fprintf(out, "%gM", value / 1e6);
    else fprintf(out, "%.4g", size < 1e-12 ? 0.0 : value);
}

static void put_tick(picture *p, bool horizontal, double value) {
    double x = place(&p->x, value), y = place(&p->y, value), bottom = TOP + p->height;
    if (horizontal) {
        fprintf(p->out, "<path class=grid d=\"M%.1f %dV%.1f\"/><text class=tick x=%.1f y=%.1f text-anchor=middle>", x,
                TOP, bottom, x, bottom + 17);
    } else {
        fprintf(p->out, "<path class=grid d=\"M%d %.1fH%d\"/><text class=tick x=%d y=%.1f text-anchor=end>", LEFT, y,
                LEFT + PLOT_WIDTH, LEFT - 7, y + 4);
    }
    put_tick_text(p->out, value, (horizontal ? &p->x : &p->y)->log);
    fputs("</text>\n", p->out);
}

static void put_linear_ticks(picture *p, bool horizontal) {
    const axis *a = horizontal ? &p->x : &p->y;
    double step = nice_step(a->high - a->low);
    for (double i = ceil(a->low / step - 1e-9); i * step <= a->high + 1e-9 * step; i++)
        put_tick(p, horizontal, i * step);
}

/* Powers of ten, or of some of them where there are many; 2 and 5 in between where there are few. */
static void put_log_ticks(picture *p, bool horizontal) {
    const axis *a = horizontal ? &p->x : &p->y;
    double decades = a->high - a->low, every = fmax(1, ceil(decades / 7));
    static const double between[] = {1, 2, 5};
    for (double k = floor(a->low); k <= a->high; k++)
        for (int m = 0; m < (decades < 2.2 ? 3 : 1); m++) {
            double at = k + log10(between[m]);
            if (fmod(fabs(k), every) == 0 && at >= a->low - 1e-9 && at <= a->high + 1e-9)
                put_tick(p, horizontal, between[m] * pow(10, k));
        }
}

static void put_label(picture *p, const axis *a, const char *place_of_it) {
    fprintf(p->out, "<text class=label text-anchor=middle %s>", place_of_it);
    bench_put_escaped(p->out, a->label ? a->label : "");
    if (a->unit && *a->unit) {
        fputs(" (", p->out);
        bench_put_escaped(p->out, a->unit);
        fputs(")", p->out);
    }
    fputs("</text>\n", p->out);
}

static void put_axes(picture *p) {
    char where[96];
    for (int horizontal = 0; horizontal < 2; horizontal++) {
        if ((horizontal ? &p->x : &p->y)->log) put_log_ticks(p, horizontal);
        else put_linear_ticks(p, horizontal);
    }
    fprintf(p->out, "<path class=frame d=\"M%d %dV%dH%d\"/>\n", LEFT, TOP, TOP + p->height, LEFT + PLOT_WIDTH);
    snprintf(where, sizeof where, "x=%d y=%d", LEFT + PLOT_WIDTH / 2, TOP + p->height + 40);
    put_label(p, &p->x, where);
    snprintf(where, sizeof where, "transform=\"translate(18 %d) rotate(-90)\"", TOP + p->height / 2);
    put_label(p, &p->y, where);
}

/* ---- Curves ---- */

static int color_of(const json_t *curve) { return (int)json_integer_value(json_object_get(curve, "color")) % COLORS; }

static void put_path(picture *p, const json_t *curve) {
    size_t i;
    const json_t *point;
    bool pen_up = true;
    fprintf(p->out, "<path class=\"curve %s c%d\" d=\"", json_string_value(json_object_get(curve, "style")),
            color_of(curve));
    json_array_foreach(json_object_get(curve, "points"), i, point) {
        double x = place(&p->x, coordinate(point, 0)), y = place(&p->y, coordinate(point, 1));
        if (isfinite(x) && isfinite(y)) fprintf(p->out, "%s%.1f %.1f", pen_up ? "M" : "L", x, y);
        pen_up = !(isfinite(x) && isfinite(y));
    }
    fprintf(p->out, "%s\"/>\n", has_style(curve, "region") ? "Z" : "");
}

/* With its numbers as a tool tip. */
static void put_dot(picture *p, const json_t *curve, const json_t *point) {
    double at[2] = {coordinate(point, 0), coordinate(point, 1)};
    double x = place(&p->x, at[0]), y = place(&p->y, at[1]);
    if (!isfinite(x) || !isfinite(y)) return;
    if (has_style(curve, "squares")) {
        double w = fabs(place(&p->x, 1) - place(&p->x, 0)), h = fabs(place(&p->y, 1) - place(&p->y, 0));
        fprintf(p->out, "<rect class=\"dot c%d\" x=%.2f y=%.2f width=%.2f height=%.2f />\n", color_of(curve),
                x - w / 2, y - h / 2, 0.96 * w, 0.96 * h);
        return;
    }
    fprintf(p->out, "<circle class=\"%s c%d\" cx=%.1f cy=%.1f r=3.2><title>",
            has_style(curve, "paper") ? "ring" : "dot", color_of(curve), x, y);
    bench_put_escaped(p->out, json_string_value(json_object_get(curve, "name")));
    fprintf(p->out, ": %.5g, %.5g</title></circle>\n", at[0], at[1]);
}

static void put_curve(picture *p, const json_t *curve) {
    size_t i;
    const json_t *point;
    bool dots = has_style(curve, "dots") || has_style(curve, "squares"), line = has_style(curve, "line");
    if (!dots) put_path(p, curve);
    if (line || has_style(curve, "region")) return;
    json_array_foreach(json_object_get(curve, "points"), i, point) put_dot(p, curve, point);
}

static int legend_lines(const picture *p) {
    return ((int)json_array_size(p->curves) + LEGEND_COLUMNS - 1) / LEGEND_COLUMNS;
}

/* Column by column, so that what belongs together stays together. */
static void put_legend(picture *p) {
    size_t i;
    const json_t *curve;
    json_array_foreach(p->curves, i, curve) {
        int x = LEFT - 30 + LEGEND_WIDTH * ((int)i / legend_lines(p));
        int y = TOP + p->height + BOTTOM + 10 + LEGEND_LINE * ((int)i % legend_lines(p));
        const char *style = json_string_value(json_object_get(curve, "style"));
        bool paper = has_style(curve, "paper"), path = !has_style(curve, "dots") && !has_style(curve, "squares");
        if (path) fprintf(p->out, "<path class=\"curve %s c%d\" d=\"M%d %dh22\"/>", style, color_of(curve), x, y);
        if (!has_style(curve, "line") && !has_style(curve, "region"))
            fprintf(p->out, "<circle class=\"%s c%d\" cx=%d cy=%d r=3.2 />", paper ? "ring" : "dot", color_of(curve),
                    x + 11, y);
        fprintf(p->out, "<text class=legend x=%d y=%d>", x + 28, y + 4);
        bench_put_escaped(p->out, json_string_value(json_object_get(curve, "name")));
        fputs("</text>\n", p->out);
    }
}

/* ---- The picture ---- */

/* The same number of pixels for a unit along both axes: the shorter range is widened. */
static void make_equal(picture *p) {
    double per_x = PLOT_WIDTH / (p->x.high - p->x.low), per_y = p->height / (p->y.high - p->y.low);
    axis *a = per_x > per_y ? &p->x : &p->y;
    double room = (a->high - a->low) * (fmax(per_x, per_y) / fmin(per_x, per_y) - 1) / 2;
    a->low -= room;
    a->high += room;
}

void bench_svg(FILE *out, const json_t *plot) {
    picture p = {out,
                 plot,
                 json_object_get(plot, "curves"),
                 read_axis(json_object_get(plot, "x")),
                 read_axis(json_object_get(plot, "y")),
                 PLOT_HEIGHT};
    size_t i;
    const json_t *curve;
    json_array_foreach(p.curves, i, curve) include_curve(&p, curve);
    widen(&p.x);
    widen(&p.y);
    if (json_is_true(json_object_get(plot, "equal"))) make_equal(&p);
    bool down = json_is_true(json_object_get(plot, "downwards"));
    p.x.from = LEFT, p.x.over = PLOT_WIDTH;
    p.y.from = down ? TOP : TOP + p.height, p.y.over = down ? p.height : -p.height;
    fprintf(out, "<svg viewBox=\"0 0 %d %d\" role=img aria-label=\"", WIDTH,
            TOP + p.height + BOTTOM + LEGEND_LINE * legend_lines(&p) + 4);
    bench_put_escaped(out, json_string_value(json_object_get(plot, "title")));
    fprintf(out, "\" data-plot=\"%s\">\n", json_string_value(json_object_get(plot, "name")));
    put_axes(&p);
    json_array_foreach(p.curves, i, curve) put_curve(&p, curve);
    put_legend(&p);
    fputs("</svg>\n", out);
}
