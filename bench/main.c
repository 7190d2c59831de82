/* main.c: drape-bench: prints every table, with the machine that it was measured on. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double bench_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
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

void bench_claim(const char *what, double obtained, double best, int least, double required) {
    int holds = least ? obtained >= required : obtained <= required;
    printf("  %-52s %s %-5g medians %6.2f  best %6.2f  %s\n", what, least ? ">=" : "<=", required, obtained, best,
           holds ? "reached" : "MISSED");
}

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
        fprintf(stderr, "drape-bench: cannot make a context of %d threads\n", threads);
        exit(1);
    }
    return ctx;
}

static void print_machine(void) {
    char line[256];
    drape_context *ctx = bench_context(0);
    FILE *info = fopen("/proc/cpuinfo", "r");
    while (info && fgets(line, sizeof line, info))
        if (strncmp(line, "model name", 10) == 0) {
            printf("processor%s", strchr(line, ':'));
            break;
        }
    if (info) fclose(info);
    printf("processors: %d, vectors: %s, compiler: %s, drape %s\n", drape_context_threads(ctx),
           drape_simd_name(drape_context_simd(ctx)), __VERSION__, drape_version());
    drape_context_destroy(ctx);
}

static const struct bench {
    const char *name, *about;
    void (*run)(void);
} benches[] = {
    {"kernels", "multiply against a read-only sweep, assembly in multiplies, two threads against one", bench_kernels},
    {"sheets", "how hard the shared systems are, by scene, mesh and fabric", bench_sheets},
    {"solvers", "an iteration and prefiltering in multiplies, all solvers, against Eigen", bench_solvers},
    {"amg", "multigrid against the block diagonal, one system and an animation, by size and scene", bench_amg},
    {"ascher-boxerman", "iterations that the corrected MPCG saves over the original", bench_ascher_boxerman},
};

enum { COUNT = sizeof benches / sizeof *benches };

int main(int argc, char **argv) {
    int done = 0;
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        printf("usage: drape-bench [NAME...]\n\n");
        for (int i = 0; i < COUNT; i++) printf("  %-16s %s\n", benches[i].name, benches[i].about);
        return 0;
    }
    setvbuf(stdout, NULL, _IOLBF, 0); /* who follows a file wants to see the lines as they come */
    print_machine();
    for (int i = 0; i < COUNT; i++) {
        int wanted = argc < 2;
        for (int k = 1; k < argc; k++) wanted |= strcmp(argv[k], benches[i].name) == 0;
        if (!wanted) continue;
        printf("\n== %s: %s\n", benches[i].name, benches[i].about);
        benches[i].run();
        done++;
    }
    if (done) return 0;
    fprintf(stderr, "drape-bench: there is no such benchmark; drape-bench --help lists them\n");
    return 2;
}
