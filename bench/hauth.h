/* hauth.h: what the files of the benchmark `hauth` share. Hauth, survey on integrators for animation (2004). */
#ifndef DRAPE_BENCH_HAUTH_H
#define DRAPE_BENCH_HAUTH_H

#include "bench.h"
#include "ode_examples.h"

enum { HAUTH_METHODS = 7, HAUTH_VERLET = 6 };

/* Those of figures 3, 5 and 7, in the order of their colors. */
extern const char *const hauth_method[HAUTH_METHODS];

/* ---- hauth_stability.c: figure 4 ---- */

void hauth_stability(drape_context *ctx, bool quick);

/* ---- hauth_cloth.c: explicit against implicit methods, and preconditioners, on cloth ---- */

void hauth_cloth(const bench_options *options);

#endif
