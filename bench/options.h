/* options.h: the command line of drape-bench. What is wrong with it is said in one line before anything is measured.
 */
#ifndef DRAPE_BENCH_OPTIONS_H
#define DRAPE_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum { BENCH_MOST_SIZES = 16, BENCH_MOST_NAMES = 16, BENCH_SMALLEST_SIDE = 5, BENCH_LARGEST_SIDE = 4096 };

/* Options that only some benchmarks take; bits. */
typedef enum bench_takes {
    BENCH_SIZES = 1,
    BENCH_THREADS = 2,
    BENCH_QUICK = 4,
    BENCH_TABLES = 8,
    BENCH_SCENES_SIDE = 16,
    BENCH_WITHOUT = 32
} bench_takes;

/* The tables of `amg`, and of `peers` the first and the third; bits. */
typedef enum bench_table {
    BENCH_TABLE_SHEET = 1,   /* by size */
    BENCH_TABLE_COTTON = 2,  /* the same with another fabric */
    BENCH_TABLE_SCENES = 4,  /* scene, mesh and step at one size */
    BENCH_TABLE_SCALING = 8, /* iterations by size and scene */
    BENCH_TABLE_SETUP = 16,  /* the set-up with one thread and with several */
    BENCH_TABLES_ALL = 31
} bench_table;

/* Libraries that `peers` compares with; bits. */
typedef enum bench_library { BENCH_PETSC = 1, BENCH_CHOLMOD = 2, BENCH_EIGEN = 4 } bench_library;

typedef struct bench_options {
    int32_t side[BENCH_MOST_SIZES]; /* vertices along a side, as they were given */
    int32_t size_count;             /* 0: they were not, and each benchmark has its own */
    int32_t scenes_side;            /* 0: not given */
    int32_t threads;                /* 1..256; default 2 */
    uint32_t tables;                /* of bench_table; default all */
    uint32_t without;               /* of bench_library: to be left out */
    bool quick;                     /* few repeats and small sizes: to see that it works */
    bool help;
    uint32_t given; /* of bench_takes: what stood on the command line */
    const char *name[BENCH_MOST_NAMES];
    int32_t name_count; /* of the benchmarks wanted; 0: all */
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

#endif
