/* report.h: the results as one HTML page that needs nothing else. */
#ifndef DRAPE_BENCH_REPORT_H
#define DRAPE_BENCH_REPORT_H

#include <jansson.h>
#include <stdio.h>

/* root: as --json writes it. */
void bench_report(FILE *out, const json_t *root);

#endif
