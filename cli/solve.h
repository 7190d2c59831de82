/* solve.h: what the files of `drape solve` share. */
#ifndef DRAPE_CLI_SOLVE_H
#define DRAPE_CLI_SOLVE_H

#include "cli.h"

/* ---- solve_input.c ---- */

/* A x = b from a file, and what holds x. */
typedef struct linear_system {
    drape_system file;       /* what a system file held; empty otherwise */
    drape_matrix *matrix;    /* what a Matrix Market file held, or NULL */
    drape_bsr3 A;            /* a view of one of them */
    int64_t unknowns;        /* of the file: 3 A.rows, less what fills up the last block */
    double *b;               /* 3 A.rows; zero where the last block is filled up */
    drape_constraints *held; /* NULL: none */
} linear_system;

/* b comes from the file rhs, or where that is NULL from the system file, or is ones. False after a complaint; to be
 * cleared either way. */
bool system_read(drape_context *ctx, const char *path, const char *rhs, linear_system *out);
void system_clear(drape_context *ctx, linear_system *system);
/* False after a complaint that names an entry, where the method needs a symmetric matrix and this is none. */
bool system_suits(const linear_system *system, const char *path, const char *method);

/* ---- solve_output.c ---- */

/* What there is to say about one or more solves of the same system. */
typedef struct solve_summary {
    const linear_system *system;
    const drape_solve_settings *settings;
    const drape_solver *solver;          /* whose levels, and what it tried when it was tuned, may be printed */
    bool explain;                        /* levels are to be */
    double read_bandwidth;               /* with it: bytes per second that memory can be read with */
    drape_solve_result result;           /* of the last */
    int32_t repeats;                     /* solves */
    double cold_setup_seconds;           /* of the first */
    double setup_seconds, solve_seconds; /* medians of those after the first, where there are any */
    int32_t threads;
    const char *simd;
} solve_summary;

/* What of the input kept it from being solved, without the library's "solve: "; NULL where it does not tell. */
const char *solve_detail(const drape_solve_result *result);
void print_solve_json(const solve_summary *s);
void print_solve_text(const solve_summary *s);
void print_solve_list(void);

/* ---- solve_iterates.c ---- */

/* x at the start and after each of the iterations, a line each; start NULL: zero. False after a complaint. */
bool write_iterates(const char *path, drape_context *ctx, const linear_system *s,
                    const drape_solve_settings *settings, const double *start, int32_t iterations);

/* ---- solve_output.c ---- */

/* These are false after a complaint. */
bool write_history(const char *path, const drape_solve_result *result);
bool write_doubles(const char *path, const double *x, int64_t count);

/* Bytes per second with which as much memory can be read as a smoothing sweep of the finest level reads. */
double measure_bandwidth(drape_context *ctx, const drape_solver *solver);

#endif
