/* bench.h: what the benchmarks share. All claims are ratios of medians of interleaved repeats in one run. */
#ifndef DRAPE_BENCH_H
#define DRAPE_BENCH_H

#include "drape/io.h"

#include <stdint.h>

enum { REPEATS = 15 };

double bench_seconds(void);
double bench_median(double *values, int count); /* sorts them */
/* Stops the program with the context's message where status is not DRAPE_OK. */
void bench_check(drape_context *ctx, drape_status status);
drape_context *bench_context(int32_t threads);

/* ---- A read-only sweep over memory, the yardstick for whatever is limited by bandwidth ---- */

typedef struct sweeper sweeper;
typedef struct sweep_range {
    const void *data;
    int64_t bytes;
} sweep_range;

sweeper *sweeper_create(int threads);
void sweeper_destroy(sweeper *s);
/* Reads every byte of the ranges once, each range split evenly over the threads. */
void sweeper_run(sweeper *s, const sweep_range *ranges, int count);

void bench_kernels(void);

#endif
