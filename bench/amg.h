/* amg.h: what the files of the benchmark `amg` share.
 *
 * A race: PPCG with the block diagonal, with amg of three modes and with amg of six, all on the same systems, from
 * zero to a preconditioned residual of 1e-5. In the benchmark `auto` incomplete Cholesky and "auto" run too. */
#ifndef DRAPE_BENCH_AMG_H
#define DRAPE_BENCH_AMG_H

#include "bench.h"

enum { RACE_BASE, RACE_THREE, RACE_SIX, AMG_RACERS, RACE_ICHOL = AMG_RACERS, RACE_AUTO, RACERS };
enum { RACE_AMG = (1 << AMG_RACERS) - 1, RACE_ALL = (1 << RACERS) - 1 }; /* sets of them, a bit each */
enum { RACE_STEPS = 20, RACE_MOST_REPEATS = 21 };

static const double RACE_TOLERANCE = 1e-5;

/* How often what is measured. */
typedef struct race_plan {
    int32_t once, running; /* repeats; 1..RACE_MOST_REPEATS */
    int32_t rarely;        /* the block diagonal, which keeps nothing, solves every so many-th system of a run only */
    int32_t equal;         /* repeats at equal energy error; 0: left out, and so are all energy errors */
} race_plan;

/* Medians of one contestant, s; least: the shortest. */
typedef struct race_times {
    double once, setup;    /* one system by a new solver, and the set-up in that */
    double running, later; /* the mean step of a run, and of all steps but the first */
    double least_once, least_running;
    double iteration;                 /* of one system: its solve over its iterations and one, to begin */
    double pairs_once, pairs_running; /* no time: its own over the block diagonal's of the same repeat */
} race_times;

typedef struct racer {
    race_times times;
    drape_solve_result first; /* of the first system; its pointers are gone, except for names */
    drape_solve_result last;  /* of a run, the same */
    double mean_bytes;        /* moved in a step of a run, as counted */
    double error;             /* there, in the energy norm, relative, against a solution of 1e-11 */
    double mean_iterations;   /* of a run */
    int32_t failures;         /* solves that did not converge */
} racer;

/* The block diagonal, run until its true energy error is that of the faster amg. */
typedef struct race_equal {
    int32_t against;         /* RACE_THREE or RACE_SIX */
    int32_t iterations;      /* of the block diagonal */
    double error;            /* its own, then */
    double gain, least_gain; /* of medians, and of the shortest times; 0: not measured */
} race_equal;

typedef struct race_result {
    racer racer[RACERS];
    race_equal equal;
} race_result;

const char *race_name(int32_t who);
/* Of a set, RACE_BASE always in it; the results of the others are zero. */
void race_run(bench_system *system, uint32_t set, const race_plan *plan, race_result *out);
/* The faster amg, in one system or in a run. */
int32_t race_faster_once(const race_result *result);
int32_t race_faster_running(const race_result *result);

drape_solve_settings race_settings(int32_t who, double tol);
/* A solver for one of them. */
drape_solver *race_solver(drape_context *ctx, int32_t who, double tol);

/* ---- amg_scaling.c: what needs no race ---- */

/* Iterations and convergence rates by scene and size. */
void bench_amg_scaling(const bench_options *options, const int32_t *sides, int32_t count);
/* The set-up with one thread and with several. */
void bench_amg_setup(const bench_options *options, const int32_t *sides, int32_t count);

#endif
