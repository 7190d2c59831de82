/* plots.c: see plots.h. Plots are kept in the results, so that --json holds their numbers too. */
#include "plots.h"

#include "results.h"

#include <jansson.h>
#include <math.h>

static json_t *plot, *points; /* both in the results */

static void keep(json_t *to, const char *key, json_t *value) { json_object_set_new(to, key, value); }

void bench_plot(const char *name, const char *title) {
    plot = json_pack("{s:s, s:s, s:{}, s:{}, s:[]}", "name", name, "title", title, "x", "y", "curves");
    json_array_append_new(json_object_get(bench_results_benchmark(), "plots"), plot);
}

void bench_plot_caption(const char *text) { keep(plot, "caption", json_string(text)); }

void bench_plot_axis(char which, const char *label, const char *unit, bench_scale scale) {
    json_t *axis = json_object_get(plot, which == 'x' ? "x" : "y");
    keep(axis, "label", json_string(label));
    keep(axis, "unit", json_string(unit));
    keep(axis, "log", json_boolean(scale == BENCH_LOG));
}

void bench_plot_equal(int downwards) {
    keep(plot, "equal", json_true());
    keep(plot, "downwards", json_boolean(downwards));
}

void bench_curve(const char *name, int color, bench_style style) {
    static const char *const styles[] = {"ours", "paper", "line", "dots", "region", "squares"};
    json_t *curve =
        json_pack("{s:s, s:i, s:s, s:[]}", "name", name, "color", color, "style", styles[style], "points");
    json_array_append_new(json_object_get(plot, "curves"), curve);
    points = json_object_get(curve, "points");
}

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

void bench_point(double x, double y) { json_array_append_new(points, json_pack("[o, o]", number(x), number(y))); }
