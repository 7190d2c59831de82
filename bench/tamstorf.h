/* tamstorf.h: what the files of the benchmark `tamstorf` share: the paper's numbers, systems, and what is measured.
 *
 * Tamstorf, Jones and McCormick, Smoothed Aggregation Multigrid for Cloth Simulation (2015). */
#ifndef DRAPE_BENCH_TAMSTORF_H
#define DRAPE_BENCH_TAMSTORF_H

#include "bench.h"

enum { T_SCENES = 5, T_SIZES = 12 };

/* In the order of the paper's table 1. */
extern const char *const tamstorf_scene[T_SCENES], *const tamstorf_name[T_SCENES];
extern const int32_t tamstorf_frames[T_SCENES]; /* of 1/25 s that the paper averages over */
extern const int32_t tamstorf_side[T_SIZES];    /* vertices along a side */
/* Table 1: speed-up of SA+PPCG over block-diagonal PCG and over PARDISO; [irregular][size][scene][which]. */
extern const double tamstorf_speedup[2][T_SIZES][T_SCENES][2];

/* ---- tamstorf_systems.c: the systems of sampled steps of an animation ---- */

typedef struct tamstorf_cell {
    int32_t scene, side;
    bool irregular;
    int32_t samples;
    double share;            /* of the paper's frames that are simulated, in (0, 1] */
    int32_t window, counted; /* steps up to a sample that kept solvers solve, and how many of them count; many: all */
    int32_t threads;
} tamstorf_cell;

typedef struct tamstorf_system {
    drape_system file;
    drape_constraints *held;
    drape_problem problem;
} tamstorf_system;

/* Called for each step of a window; left: how many follow. The last one, left = 0, is the sample. */
typedef void tamstorf_visit(void *user, drape_context *ctx, const tamstorf_system *system, int32_t left);
/* Sheets of more vertices along a side than this have the states of a smaller one, refined. */
enum { T_LARGEST_RUN = 151, T_REFINED_FROM = 101 };
/* false where the animation failed; then nothing, or not everything, was visited. */
bool tamstorf_animate(const tamstorf_cell *cell, tamstorf_visit *visit, void *user);

/* ---- tamstorf_methods.c: how the methods do on a cell ---- */

typedef enum tamstorf_method {
    T_DIAGONAL,      /* block-diagonal PCG, constraints by filtering in every iteration */
    T_DIAGONAL_PPCG, /* with prefiltering */
    T_SA_UNFILTERED, /* the paper's smoothed aggregation without prefiltering */
    T_SA,            /* SA+PPCG with the paper's recipe */
    T_DRAPE,         /* the default */
    T_CHOLMOD,       /* in place of PARDISO */
    T_METHODS
} tamstorf_method;

extern const char *const tamstorf_method_name[T_METHODS];

typedef struct tamstorf_result {
    double iterations, rate; /* means over the samples */
    double seconds;          /* of a new solver; median over the samples of medians */
    double spread;           /* the longest over the shortest of the samples */
    double setup;            /* s, of that; median */
    double kept;  /* s, of a solver that has solved the steps before: mean of the steps that count; NaN: not measured.
                     Of CHOLMOD, which has analysed the pattern before, the median over the samples */
    double bytes; /* held, largest */
    double error; /* in energy, relative, largest; against drape's solution to 1e-11 */
    double failed; /* solves that did not converge, or took more than 20 minutes */
} tamstorf_result;

typedef struct tamstorf_results {
    tamstorf_result of[T_METHODS];
    double vertices, held;     /* vertices that are held in some direction, in the last sample */
    double matrix;             /* bytes of A */
    double prefilter;          /* s, median: prefiltering the matrix by itself */
    double equal_seconds;      /* s, median: block-diagonal PCG to the energy error of drape's default */
    double equal_error;        /* the error that it has then over that one; largest */
    double kept_iterations[2]; /* means over the steps that count: block-diagonal PCG, drape's default */
    double samples;            /* how many there were */
} tamstorf_results;

enum { T_NUMBERS = sizeof(tamstorf_results) / sizeof(double) };

/* Kept as a cell (cells.h). *kept: it was there. */
tamstorf_results tamstorf_measure(const tamstorf_cell *cell, bool *kept);

/* ---- tamstorf_memory.c ---- */

/* A table and a plot of what solvers hold, for sheets of these sizes. */
void tamstorf_memory(const int32_t *side, int32_t sizes);

#endif
