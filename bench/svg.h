/* svg.h: a plot (plots.h) as SVG within an HTML page, whose style sheet (report.css) has its colors. */
#ifndef DRAPE_BENCH_SVG_H
#define DRAPE_BENCH_SVG_H

#include <jansson.h>
#include <stdio.h>

void bench_svg(FILE *out, const json_t *plot);
/* Text with what HTML wants escaped. */
void bench_put_escaped(FILE *out, const char *text);

#endif
