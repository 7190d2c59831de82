/* plots.h: pictures of what a benchmark measured, as data; the report (report.h) draws them.
 *
 *   bench_plot("rates", "Convergence rate by size");
 *   bench_plot_axis('x', "vertices", "", BENCH_LOG);
 *   bench_plot_axis('y', "rate", "", BENCH_LINEAR);
 *   bench_curve("SA+PPCG", 1, BENCH_OURS);
 *   bench_point(961, 0.2); */
#ifndef DRAPE_BENCH_PLOTS_H
#define DRAPE_BENCH_PLOTS_H

typedef enum bench_scale { BENCH_LINEAR, BENCH_LOG } bench_scale;

typedef enum bench_style {
    BENCH_OURS,   /* a line with dots */
    BENCH_PAPER,  /* dashed, with circles: published numbers */
    BENCH_LINE,   /* a line alone: what formulas give */
    BENCH_DOTS,   /* dots alone */
    BENCH_REGION, /* a closed line, filled lightly */
    BENCH_SQUARES /* a square of one unit around each point: the pattern of a matrix */
} bench_style;

/* name: an identifier within the benchmark. */
void bench_plot(const char *name, const char *title);
/* What the reader should see in it, below the picture. */
void bench_plot_caption(const char *text);
void bench_plot_axis(char which, const char *label, const char *unit, bench_scale scale);
/* One unit is as long along both axes; where `downwards`, y grows downwards. */
void bench_plot_equal(int downwards);
/* color: 0, 1, ...; curves that belong together share one. */
void bench_curve(const char *name, int color, bench_style style);
/* A number that is not finite is a gap. */
void bench_point(double x, double y);

#endif
