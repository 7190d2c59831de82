/* main.c: drape-bench: prints every table, with the machine that it was measured on. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

double bench_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double bench_work_seconds(int32_t threads) {
    struct timespec now;
    clock_gettime(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, ascending);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

void bench_rest(void) { nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL); }

void bench_check(drape_context *ctx, drape_status status) {
    if (!status) return;
    fprintf(stderr, "drape-bench: %s\n", drape_message(ctx));
    exit(1);
}

drape_context *bench_context(int32_t threads) {
    drape_context_settings settings = drape_context_defaults();
    drape_context *ctx = NULL;
    settings.threads = threads;
    if (drape_context_create(&settings, &ctx)) {
        fprintf(stderr, "drape-bench: cannot start %d threads\n", threads);
        exit(1);
    }
    return ctx;
}

static const struct bench {
    const char *name, *about;
    void (*run)(const bench_options *options);
    uint32_t takes;         /* of bench_takes; all take --quick */
    uint32_t tables;        /* of bench_tables, where it takes BENCH_TABLES */
    const char *takes_time; /* on two cores that have nothing else to do */
} benches[] = {
    {"notes", "course notes on CG: descent against CG, split preconditioning, matrices as lists", bench_notes,
     BENCH_SIZES | BENCH_QUICK, 0, "1 min"},
    {"chen", "Chen (2021): sparsity, paths on the plane, the pushed sheet; direct against MPCG", bench_chen,
     BENCH_SIZES | BENCH_QUICK, 0, "1 min"},
    {"hauth", "Hauth (2004): work against precision, orders, stability regions, explicit against implicit",
     bench_hauth, BENCH_THREADS | BENCH_QUICK, 0, "1 min"},
    {"tamstorf", "Tamstorf, Jones and McCormick (2015): table 1 and figures 2 and 5 to 8", bench_tamstorf,
     BENCH_SIZES | BENCH_THREADS | BENCH_QUICK | BENCH_FULL, 0, "10 min"},
    {"kernels", "multiply against a read-only sweep, assembly in multiplies, two threads against one", bench_kernels,
     BENCH_QUICK, 0, "1 min"},
    {"sheets", "how hard the shared systems are, by scene, mesh and fabric", bench_sheets,
     BENCH_THREADS | BENCH_QUICK, 0, "1 min"},
    {"solvers", "an iteration and prefiltering in multiplies, all solvers, against Eigen", bench_solvers, BENCH_QUICK,
     0, "3 min"},
    {"amg", "multigrid against the block diagonal, one system and an animation, by size and scene", bench_amg,
     BENCH_SIZES | BENCH_TABLES | BENCH_SCENES_SIDE | BENCH_THREADS | BENCH_QUICK, BENCH_TABLES_AMG, "10 min"},
    {"auto", "the automatic choice of the solver against the best fixed choice and the block diagonal", bench_auto,
     BENCH_SIZES | BENCH_THREADS | BENCH_QUICK, 0, "15 min"},
    {"peers", "multigrid against AMGCL, PETSc (GAMG, ML, Hypre), CHOLMOD and Eigen", bench_peers,
     BENCH_SIZES | BENCH_TABLES | BENCH_WITHOUT | BENCH_AMGCL_PATH | BENCH_SCENES_SIDE | BENCH_THREADS | BENCH_QUICK,
     BENCH_TABLE_SHEET | BENCH_TABLE_SCENES | BENCH_TABLE_RUNNING, "10 min"},
    {"ascher-boxerman", "iterations that the corrected MPCG saves over the original", bench_ascher_boxerman,
     BENCH_QUICK, 0, "3 min"},
    {"step", "whole time steps by stage, size and threads, seconds per frame and memory", bench_step,
     BENCH_SIZES | BENCH_THREADS | BENCH_QUICK | BENCH_FULL, 0, "3 min"},
    {"newton", "kinds of Newton's method and Jacobians on mass-spring cloth", bench_newton,
     BENCH_SIZES | BENCH_THREADS | BENCH_QUICK, 0, "3 min"},
    {"ccd", "pairs per second of collision detection's narrow phase", bench_ccd, BENCH_THREADS | BENCH_QUICK, 0,
     "1 min"},
    {"contact", "the broad phase and all stages of contact in a step, in multiplies, by size and threads",
     bench_contact, BENCH_SIZES | BENCH_QUICK, 0, "5 min"},
    {"character", "Tamstorf, Jones and McCormick (2015), figure 9: solves of a dressed, walking body over the frames",
     bench_character, BENCH_THREADS | BENCH_QUICK | BENCH_FULL, 0, "5 min"},
    {"blender", "a sheet over a ball, and one that hangs, against Blender's cloth: seconds per frame, and crossings",
     bench_blender, BENCH_SIZES | BENCH_TABLES | BENCH_THREADS | BENCH_QUICK,
     BENCH_TABLE_FALLING | BENCH_TABLE_HANGING, "10 min"},
};

enum { COUNT = sizeof benches / sizeof *benches };

static void print_benches(void) {
    printf("benchmarks:\n"); /* completions look for this line */
    for (int i = 0; i < COUNT; i++) {
        printf("  %-16s %6s  %s\n", benches[i].name, benches[i].takes_time, benches[i].about);
        printf("  %-16s %6s ", "", "");
        for (uint32_t bit = 1; bit <= benches[i].takes; bit *= 2)
            if (benches[i].takes & bit) printf(" [%s]", bench_option_name((bench_takes)bit));
        putchar('\n');
    }
    printf("  %-16s %6s  all of them\n", "all", "1 h");
    printf(
        "\nAll take --csv FILE, --json FILE, -o DIR and --mixed. Times are for two idle cores; with --quick it takes "
        "seconds.\n");
}

static void print_help(void) {
    printf("usage: drape-bench NAME... [options]   (or: drape bench NAME... [options])\n\n"
           "Runs the named benchmarks and prints tables. Without a name it lists the benchmarks.\n\n");
    print_benches();
    bench_options_print();
}

static const struct bench *find(const char *name) {
    for (int i = 0; i < COUNT; i++)
        if (strcmp(benches[i].name, name) == 0) return &benches[i];
    return NULL;
}

static bool is_all(const char *name) { return strcmp(name, "all") == 0; }

/* Every name there is, and every option and table taken by one of those that are wanted. */
static bool agree(const bench_options *o) {
    uint32_t taken = BENCH_CSV | BENCH_JSON | BENCH_OUTPUT | BENCH_MIXED, tables = 0;
    for (int32_t i = 0; i < o->name_count; i++) {
        const struct bench *b = find(o->name[i]);
        if (is_all(o->name[i])) {
            taken = tables = UINT32_MAX;
            continue;
        }
        if (!b) {
            fprintf(stderr, "drape-bench: unknown benchmark %s; `drape-bench --help` lists the benchmarks\n",
                    o->name[i]);
            return false;
        }
        taken |= b->takes;
        tables |= b->tables;
    }
    for (uint32_t bit = 1; bit <= o->given; bit *= 2)
        if (o->given & bit & ~taken) {
            fprintf(stderr,
                    "drape-bench: %s: the benchmark %s has no such option; `drape-bench --help` says which have\n",
                    bench_option_name((bench_takes)bit), o->name[0]);
            return false;
        }
    if (o->given & BENCH_TABLES && o->tables & ~tables) {
        fprintf(stderr,
                "drape-bench: --tables: %s does not have all of these tables; `drape-bench --help` lists them\n",
                o->name[0]);
        return false;
    }
    return true;
}

/* Before anything is measured. */
static bool can_write(const bench_options *o) {
    if (o->csv && o->json && strcmp(o->csv, o->json) == 0) {
        fprintf(stderr, "drape-bench: --csv and --json name the same file, %s; use two\n", o->csv);
        return false;
    }
    return (!o->csv || bench_results_can_write("--csv", o->csv)) &&
           (!o->json || bench_results_can_write("--json", o->json));
}

static bool wanted(const bench_options *o, const struct bench *b) {
    for (int32_t i = 0; i < o->name_count; i++)
        if (is_all(o->name[i]) || strcmp(o->name[i], b->name) == 0) return true;
    return false;
}

/* The command line again, for the report, and for what a result depends on. */
static const char *join(int argc, char **argv) {
    static char line[1024];
    size_t at = 0;
    for (int i = 1; i < argc && at + 1 < sizeof line; i++)
        at += (size_t)snprintf(line + at, sizeof line - at, i > 1 ? " %s" : "%s", argv[i]);
    return line;
}

/* What the results of a benchmark depend on, except for what the folder belongs to. */
static void make_key(const bench_options *o, const struct bench *b, char key[BENCH_LONGEST_KEY]) {
    int at = snprintf(key, BENCH_LONGEST_KEY, "%s%s%s tables %x without %x%s side %d sizes", b->name,
                      o->quick ? " quick" : "", o->full ? " full" : "", (unsigned)o->tables, (unsigned)o->without,
                      o->amgcl ? " amgcl" : "", o->scenes_side);
    for (int32_t i = 0; i < o->size_count && at < BENCH_LONGEST_KEY; i++)
        at += snprintf(key + at, (size_t)(BENCH_LONGEST_KEY - at), " %d", o->side[i]);
}

static void run(const bench_options *o, const struct bench *b) {
    char key[BENCH_LONGEST_KEY];
    json_t *kept;
    make_key(o, b, key);
    printf("\n== %s: %s\n", b->name, b->about);
    bench_results_begin(b->name, b->about);
    if (*bench_cells_others()) {
        char text[1200];
        snprintf(text, sizeof text, "Cells of this benchmark may be of: %s.", bench_cells_others());
        bench_note(text);
    }
    kept = *bench_cells_others() ? NULL : bench_cell_find_json(key); /* as a whole it would be of one of those */
    if (kept) {
        printf("  from the earlier run\n");
        bench_results_take(kept);
        return;
    }
    b->run(o);
    bench_progress_end();
    bench_cell_keep_json(key, bench_results_benchmark());
}

static bool run_all(const bench_options *o) {
    bool good = true;
    for (int i = 0; i < COUNT; i++) {
        if (!wanted(o, &benches[i])) continue;
        run(o, &benches[i]);
        if (o->folder && !bench_results_write(NULL, NULL, o->folder)) good = false; /* what there is so far */
    }
    if (o->folder && good) printf("\nreport: %s/index.html\n", o->folder);
    return bench_results_write(o->csv, o->json, NULL) && good;
}

/* CHOLMOD's BLAS gets as many threads as everything else. It looks for that number when it is loaded, so the program
 * begins once more. */
static void hold_blas(const bench_options *o, char **argv) {
    char count[16];
    if (getenv("OPENBLAS_NUM_THREADS")) return;
    snprintf(count, sizeof count, "%d", o->threads);
    if (setenv("OPENBLAS_NUM_THREADS", count, 1) == 0) execv("/proc/self/exe", argv);
}

int main(int argc, char **argv) {
    bench_options options;
    if (!bench_options_parse(argc, argv, &options)) return 2;
    hold_blas(&options, argv);
    if (options.help) {
        print_help();
        return 0;
    }
    if (options.name_count == 0 && options.given) {
        fprintf(stderr, "drape-bench: no benchmark given; `drape-bench` lists them, and `all` runs them all\n");
        return 2;
    }
    if (options.name_count == 0) {
        print_benches();
        return 0;
    }
    if (!agree(&options) || !can_write(&options)) return 2;
    setvbuf(stdout, NULL, _IOLBF, 0); /* who follows a file wants to see the lines as they come */
    bench_results_open(options.threads, join(argc, argv));
    if (!bench_cells_open(options.folder, bench_results_about(), options.mixed)) return 2;
    bool good = run_all(&options);
    bench_cells_close();
    return good ? 0 : 1;
}
