/* bench.h: what the benchmarks share. All claims are ratios of medians of interleaved repeats in one run. */
#ifndef DRAPE_BENCH_H
#define DRAPE_BENCH_H

#include "options.h"
#include "systems.h"

#include <stdint.h>

enum { REPEATS = 15 };

double bench_seconds(void);
double bench_median(double *values, int count); /* sorts them, so that values[0] is the least afterwards */
/* Lets threads of others that still spin go to sleep. */
void bench_rest(void);
/* A line of what is claimed, a ratio of medians; best: the same of the least disturbed times. least 1: it is to be
 * `required` or more; 0: or less. */
void bench_claim(const char *what, double obtained, double best, int least, double required);
/* The same for what no clock was needed for. */
void bench_claim_count(const char *what, double obtained, int least, double required);
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

void bench_kernels(const bench_options *options);
void bench_sheets(const bench_options *options);
void bench_solvers(const bench_options *options);
/* Part of it: our PPCG and Eigen's CG, both to |r| <= tol |b|; ichol: with incomplete Cholesky too. */
void bench_against_eigen(bench_system *s, double tol, int ichol);
void bench_amg(const bench_options *options);
void bench_auto(const bench_options *options);
void bench_peers(const bench_options *options);
void bench_ascher_boxerman(const bench_options *options);
void bench_newton(const bench_options *options);

#endif
