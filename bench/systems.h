/* systems.h: the linear systems that the benchmarks share: a 1 m x 1 m sheet after 0.2 s of gravity. */
#ifndef DRAPE_BENCH_SYSTEMS_H
#define DRAPE_BENCH_SYSTEMS_H

#include "drape/io.h"

typedef enum bench_mesh {
    BENCH_REGULAR,
    BENCH_IRREGULAR, /* as drape_scene_options has it */
    BENCH_SHUFFLED   /* regular, its vertices numbered at random: no neighbour in memory is one in the sheet */
} bench_mesh;

typedef struct bench_request {
    const char *scene;  /* "drooping", "pinned" or "reentrant", whose pins do not move; or "oblique": drooping, and a
                           disc of a third of the sheet's area in which each vertex is held along the normal of a
                           sphere, and slides freely across it, as in contact */
    int32_t resolution; /* vertices along a side */
    bench_mesh mesh;
    const char *fabric; /* NULL: the sheet of docs/benchmarks.md */
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
/* That line: what was asked for, how it came about, and the threads. */
void bench_system_print(const bench_request *request, const bench_system *system);

/* "regular" and so on. */
const char *bench_mesh_name(bench_mesh mesh);

/* To 1e-11, for others to be compared with. By the block diagonal, the simplest there is; above BENCH_LARGE vertices,
 * where that would take minutes, by multigrid. Prints a line where it is not reached. */
void bench_solve_exactly(bench_system *system, double *exact);
/* Of x against the exact solution, relative, in the energy norm sqrt(v'A v). x is lost; w: another vector, lost too
 */
double bench_energy_error(bench_system *system, const double *exact, double *x, double *w);

double *bench_vector(int64_t length); /* zeros, on a cache line; free() it */

#endif
