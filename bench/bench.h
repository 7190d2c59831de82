/* bench.h: what the benchmarks share. All claims are ratios of medians of interleaved repeats in one run. */
#ifndef DRAPE_BENCH_H
#define DRAPE_BENCH_H

#include "cells.h"
#include "drape/io.h"
#include "plots.h"
#include "results.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- options.c: the command line; what is wrong with it is said in one line before anything is measured ---- */

enum { BENCH_MOST_SIZES = 16, BENCH_MOST_NAMES = 16, BENCH_SMALLEST_SIDE = 5, BENCH_LARGEST_SIDE = 4096 };

/* Options that only some benchmarks take; bits. */
typedef enum bench_takes {
    BENCH_SIZES = 1,
    BENCH_THREADS = 2,
    BENCH_QUICK = 4,
    BENCH_TABLES = 8,
    BENCH_SCENES_SIDE = 16,
    BENCH_WITHOUT = 32,
    BENCH_CSV = 64, /* these and BENCH_OUTPUT all take */
    BENCH_JSON = 128,
    BENCH_FULL = 256,
    BENCH_OUTPUT = 512,
    BENCH_MIXED = 1024,
    BENCH_AMGCL_PATH = 2048
} bench_takes;

/* The tables of `amg`, of `peers` the first, the third and RUNNING, and of `blender` the last two; bits. */
typedef enum bench_tables {
    BENCH_TABLE_SHEET = 1,     /* by size */
    BENCH_TABLE_COTTON = 2,    /* the same with another fabric */
    BENCH_TABLE_SCENES = 4,    /* scene, mesh and step at one size */
    BENCH_TABLE_SCALING = 8,   /* iterations by size and scene */
    BENCH_TABLE_SETUP = 16,    /* the set-up with one thread and with several */
    BENCH_TABLE_RUNNING = 32,  /* the steps of an animation, each with what was kept */
    BENCH_TABLE_FALLING = 64,  /* a sheet over a ball and on itself */
    BENCH_TABLE_HANGING = 128, /* a sheet on two corners */
    BENCH_TABLES_AMG = 31,
    BENCH_TABLES_ALL = 255
} bench_tables;

/* Libraries that `peers` compares with; bits. */
typedef enum bench_library { BENCH_PETSC = 1, BENCH_CHOLMOD = 2, BENCH_EIGEN = 4, BENCH_AMGCL = 8 } bench_library;

typedef struct bench_options {
    int32_t side[BENCH_MOST_SIZES]; /* vertices along a side, as they were given */
    int32_t size_count;             /* 0: they were not, and each benchmark has its own */
    int32_t scenes_side;            /* 0: not given */
    int32_t threads;                /* 1..256; default 2 */
    uint32_t tables;                /* of bench_tables; default all */
    uint32_t without;               /* of bench_library: to be left out */
    bool quick;                     /* few repeats and small sizes: to see that it works */
    bool full;                      /* the sizes of the papers */
    bool mixed;                     /* cells of other commits are taken, too */
    bool help;
    const char *amgcl;      /* folder of AMGCL's header files; NULL: none */
    const char *csv, *json; /* files for the results; NULL: none */
    const char *folder;     /* for cells, results and report; NULL: none */
    uint32_t given;         /* of bench_takes: what stood on the command line */
    const char *name[BENCH_MOST_NAMES];
    int32_t name_count; /* of the benchmarks wanted; 0: they are listed */
} bench_options;

/* False after a line on the error stream. */
bool bench_options_parse(int argc, char **argv, bench_options *out);
/* The name of one of bench_takes, as it is typed. */
const char *bench_option_name(bench_takes option);
/* The part of --help about options. */
void bench_options_print(void);

/* The sizes that were asked for, else a benchmark's own; vertices along a side. Returns how many. */
int32_t bench_sizes(const bench_options *options, const int32_t *own, int32_t own_count,
                    int32_t side[BENCH_MOST_SIZES]);

/* ---- systems.c: the linear systems that the benchmarks share: a 1 m x 1 m sheet after 0.2 s of gravity ---- */

typedef enum bench_mesh {
    BENCH_REGULAR,
    BENCH_IRREGULAR, /* as drape_scene_options has it */
    BENCH_SHUFFLED   /* regular, its vertices numbered at random: no neighbour in memory is one in the sheet */
} bench_mesh;

typedef struct bench_request {
    const char *scene;  /* "drooping", "pinned" or "reentrant", whose pins do not move; or "oblique": drooping, and a
                           disc of a third of the sheet's area, held as in contact. Each vertex of the disc is held
                           along the normal of a sphere, and slides freely across it */
    int32_t resolution; /* vertices along a side */
    bench_mesh mesh;
    const char *fabric; /* NULL: the sheet of docs/notes/benchmarks.md */
    double step;        /* s; 0: 2 ms */
    int32_t threads;
} bench_request;

typedef struct bench_system {
    drape_bsr3 A;
    double *b;
    drape_constraints *constraints;
    drape_problem problem; /* of these three and the positions, without a guess */
    drape_context *ctx;
    double step;      /* s */
    int interpolated; /* 1: deformed on a regular sheet of at most BENCH_LARGEST_RUN, and interpolated */
    drape_sim *sim;   /* in the state that A and b were made at */
    struct bench_parts *parts;
} bench_system;

/* Sheets of more vertices a side than this are deformed at this resolution and interpolated. */
enum { BENCH_LARGEST_RUN = 101 };
/* Vertices from which on the block diagonal is slow. */
enum { BENCH_LARGE = 50000 };

bench_system *bench_system_create(const bench_request *request);
void bench_system_destroy(bench_system *system);
/* A and b again, for the state that the sim is in now. */
void bench_system_assemble(bench_system *system);
/* A step on with dv, which solves the system: the state after it, and its A and b. */
void bench_system_advance(bench_system *system, const double *dv);
int64_t bench_system_length(const bench_system *system); /* numbers in b */
/* How the system came about, for the line above a table. */
const char *bench_system_about(const bench_system *system);
/* That line: what was asked for, how it came about, and the threads; they are keys (results.h). */
void bench_system_print(const bench_request *request, const bench_system *system);

/* "regular" and so on. */
const char *bench_mesh_name(bench_mesh mesh);

/* ---- lattice.c: the state of a regular sheet, for one of another mesh ---- */

/* Its vertices by row and column; -1 if there is none. */
typedef struct bench_lattice {
    int32_t n, *number;
    double *x, *v;
} bench_lattice;

/* n: vertices along a side; the piece is a grid of width 1 m, maybe with a cut. x and v are copied. */
bench_lattice bench_lattice_make(const drape_piece *piece, const double *x, const double *v, int32_t n);
void bench_lattice_free(bench_lattice *l);
/* Bilinear, at uv in [-0.5, 0.5]. */
void bench_lattice_interpolate(const bench_lattice *l, const double uv[2], double x[3], double v[3]);

/* To 1e-11, for others to be compared with. By the block diagonal, the simplest there is; above BENCH_LARGE vertices,
 * where that would take minutes, by multigrid. Prints a line where it is not reached. */
void bench_solve_exactly(bench_system *system, double *exact);
/* Of x against the exact solution, relative, in the energy norm sqrt(v'A v). x is lost; w: another vector, lost too
 */
double bench_energy_error(bench_system *system, const double *exact, double *x, double *w);

double *bench_vector(int64_t length); /* zeros, on a cache line; free() it */

/* ---- main.c: times; results.h: tables and claims ---- */

enum { REPEATS = 15 };

double bench_seconds(void);
/* The same; with one thread of processor time, which others on the machine hardly disturb. */
double bench_work_seconds(int32_t threads);
double bench_median(double *values, int count); /* sorts them, so that values[0] is the least afterwards */
/* Lets threads of others that still spin go to sleep. */
void bench_rest(void);
/* Stops the program with the context's message where status is not DRAPE_OK. */
void bench_check(drape_context *ctx, drape_status status);
drape_context *bench_context(int32_t threads);

/* ---- kernels.c: a read-only sweep over memory, the yardstick for whatever is limited by bandwidth ---- */

typedef struct sweeper sweeper;
typedef struct sweep_range {
    const void *data;
    int64_t bytes;
} sweep_range;

sweeper *sweeper_create(int threads);
void sweeper_destroy(sweeper *s);
/* Reads every byte of the ranges once, each range split evenly over the threads. */
void sweeper_run(sweeper *s, const sweep_range *ranges, int count);

/* ---- The benchmarks ---- */

void bench_kernels(const bench_options *options);
void bench_sheets(const bench_options *options);
void bench_solvers(const bench_options *options);
/* Part of it: our PPCG and Eigen's CG, both to |r| <= tol |b|; ichol: with incomplete Cholesky too. */
void bench_against_eigen(bench_system *s, double tol, int ichol);
void bench_amg(const bench_options *options);
void bench_auto(const bench_options *options);
void bench_peers(const bench_options *options);
void bench_ascher_boxerman(const bench_options *options);
void bench_tamstorf(const bench_options *options);
void bench_hauth(const bench_options *options);
void bench_chen(const bench_options *options);
void bench_notes(const bench_options *options);
void bench_step(const bench_options *options);
void bench_character(const bench_options *options);
void bench_newton(const bench_options *options);
void bench_ccd(const bench_options *options);
void bench_blender(const bench_options *options);
void bench_contact(const bench_options *options);
/* Part of it: a step of whole simulations by stages, at these sizes. */
void bench_contact_stages(const bench_options *options, const int32_t *side, int32_t sizes);

#endif
