/* options.c: see bench.h. One table says what there is, for the parser and for --help. */
#include "bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool complain(const char *option, const char *text, const char *wanted) {
    fprintf(stderr, "drape-bench: %s %s: %s\n", option, text, wanted);
    return false;
}

/* ---- Values ---- */

/* The number that text begins with; NULL if there is none within [low, high], else what follows it. */
static const char *read_number(const char *text, long low, long high, int32_t *out) {
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (end == text || errno || number < low || number > high) return NULL;
    *out = (int32_t)number;
    return end;
}

static bool take_number(const char *option, const char *text, int32_t low, int32_t high, int32_t *out) {
    char wanted[80];
    const char *rest = read_number(text, low, high, out);
    if (rest && !*rest) return true;
    snprintf(wanted, sizeof wanted, "expected a whole number from %d to %d", low, high);
    return complain(option, text, wanted);
}

static bool take_sizes(const char *text, bench_options *o) {
    char wanted[120];
    const char *rest = text;
    snprintf(wanted, sizeof wanted, "expected at most %d whole numbers from %d to %d, such as 61,101,201",
             BENCH_MOST_SIZES, BENCH_SMALLEST_SIDE, BENCH_LARGEST_SIDE);
    for (o->size_count = 0; o->size_count < BENCH_MOST_SIZES; rest++) {
        rest = read_number(rest, BENCH_SMALLEST_SIDE, BENCH_LARGEST_SIDE, &o->side[o->size_count++]);
        if (!rest || (*rest && *rest != ',')) break;
        if (!*rest) return true;
    }
    return complain("--sizes", text, wanted);
}

typedef struct choice {
    const char *name;
    uint32_t bit;
} choice;

static const choice tables[] = {
    {"sheet", BENCH_TABLE_SHEET},     {"cotton", BENCH_TABLE_COTTON},   {"scenes", BENCH_TABLE_SCENES},
    {"scaling", BENCH_TABLE_SCALING}, {"setup", BENCH_TABLE_SETUP},     {"running", BENCH_TABLE_RUNNING},
    {"falling", BENCH_TABLE_FALLING}, {"hanging", BENCH_TABLE_HANGING}, {NULL, 0}};
static const choice libraries[] = {
    {"petsc", BENCH_PETSC}, {"cholmod", BENCH_CHOLMOD}, {"eigen", BENCH_EIGEN}, {"amgcl", BENCH_AMGCL}, {NULL, 0}};

/* The bit of the one whose name stands in text[0..length); 0: none. */
static uint32_t find_word(const choice *choices, const char *text, size_t length) {
    for (; choices->name; choices++)
        if (strlen(choices->name) == length && memcmp(choices->name, text, length) == 0) return choices->bit;
    return 0;
}

/* Names with commas between them. */
static bool take_words(const char *option, const char *text, const choice *choices, const char *wanted,
                       uint32_t *out) {
    *out = 0;
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        uint32_t bit = find_word(choices, at, length);
        if (!bit) return complain(option, text, wanted);
        *out |= bit;
        at += length;
        if (!*at) return true;
    }
}

static bool take_amgcl(const char *text, bench_options *o) {
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/amgcl/amg.hpp", text);
    if (length >= (int)sizeof path || access(path, R_OK))
        return complain("--amgcl", text, "expected the folder that holds amgcl/amg.hpp");
    o->amgcl = text;
    return true;
}

/* ---- The table ---- */

static const struct known {
    const char *name, *argument, *help;
    bench_takes takes;
} known[] = {
    {"--sizes", "N,N,...", "vertices along one side of the sheets", BENCH_SIZES},
    {"--tables", "NAME,...",
     "which tables; amg has sheet, cotton, scenes, scaling, setup; peers has sheet, scenes,\n           "
     "running; blender has falling, hanging",
     BENCH_TABLES},
    {"--without", "NAME,...", "libraries that peers leaves out: petsc, cholmod, eigen, amgcl", BENCH_WITHOUT},
    {"--amgcl", "PATH", "folder that holds AMGCL's header files, amgcl/amg.hpp and others, for peers",
     BENCH_AMGCL_PATH},
    {"--scenes-side", "N", "vertices along one side in the tables of scenes", BENCH_SCENES_SIDE},
    {"--threads", "T", "number of threads (PETSc: processes), 1 to 256; default: 2", BENCH_THREADS},
    {"--csv", "FILE", "write all numbers to FILE, one per line: benchmark, table, row, column, value, unit",
     BENCH_CSV},
    {"--json", "FILE", "write machine, tables and claims to FILE", BENCH_JSON},
    {"-o", "DIR",
     "save every measurement in the folder DIR at once, so that an interrupted run can be resumed;\n           "
     "           also writes index.html, results.json and results.csv there",
     BENCH_OUTPUT},
    {"--mixed", NULL, "with -o: accept measurements of other commits and machines in DIR; the report names them",
     BENCH_MIXED},
    {"--full", NULL, "the sizes of the papers, up to 1,002,001 vertices; takes hours", BENCH_FULL},
    {"--quick", NULL, "small sizes and few repeats: a quick check, whose figures mean little", BENCH_QUICK},
};

enum { KNOWN = sizeof known / sizeof *known };

void bench_options_print(void) {
    printf("\noptions:\n");
    for (int i = 0; i < KNOWN; i++) {
        char head[32];
        snprintf(head, sizeof head, "%s %s", known[i].name, known[i].argument ? known[i].argument : "");
        printf("  %-19s %s\n", head, known[i].help);
    }
    printf("  %-19s %s\n", "-h, --help", "this text");
}

const char *bench_option_name(bench_takes option) {
    for (int i = 0; i < KNOWN; i++)
        if (known[i].takes == option) return known[i].name;
    return "";
}

static bool take(const struct known *k, const char *text, bench_options *o) {
    o->given |= k->takes;
    switch (k->takes) {
    case BENCH_SIZES: return take_sizes(text, o);
    case BENCH_TABLES:
        return take_words(k->name, text, tables,
                          "expected a list of sheet, cotton, scenes, scaling, setup, running, falling and hanging",
                          &o->tables);
    case BENCH_WITHOUT:
        return take_words(k->name, text, libraries, "expected a list of petsc, cholmod, eigen and amgcl",
                          &o->without);
    case BENCH_SCENES_SIDE:
        return take_number(k->name, text, BENCH_SMALLEST_SIDE, BENCH_LARGEST_SIDE, &o->scenes_side);
    case BENCH_THREADS: return take_number(k->name, text, 1, 256, &o->threads);
    case BENCH_AMGCL_PATH: return take_amgcl(text, o);
    case BENCH_CSV: o->csv = text; return true;
    case BENCH_JSON: o->json = text; return true;
    case BENCH_QUICK: o->quick = true; return true;
    case BENCH_FULL: o->full = true; return true;
    case BENCH_MIXED: o->mixed = true; return true;
    case BENCH_OUTPUT: o->folder = text; return true;
    }
    return false;
}

static const struct known *find_known(const char *word) {
    for (int i = 0; i < KNOWN; i++)
        if (strcmp(known[i].name, word) == 0) return &known[i];
    return NULL;
}

static bool take_name(const char *word, bench_options *o) {
    if (o->name_count == BENCH_MOST_NAMES) return complain(word, "", "too many names");
    o->name[o->name_count++] = word;
    return true;
}

bool bench_options_parse(int argc, char **argv, bench_options *out) {
    *out = (bench_options){.threads = 2, .tables = BENCH_TABLES_ALL};
    for (int i = 1; i < argc; i++) {
        const struct known *k = find_known(argv[i]);
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            out->help = true;
            return true;
        }
        if (k && k->argument && i + 1 == argc) return complain(argv[i], "", "needs a value after it");
        if (k) {
            if (!take(k, k->argument ? argv[++i] : NULL, out)) return false;
        } else if (argv[i][0] == '-') {
            return complain(argv[i], "", "unknown option; `drape-bench --help` lists the options");
        } else if (!take_name(argv[i], out)) {
            return false;
        }
    }
    if (out->quick && out->full) return complain("--quick", "--full", "give only one of them");
    return true;
}

int32_t bench_sizes(const bench_options *options, const int32_t *own, int32_t own_count,
                    int32_t side[BENCH_MOST_SIZES]) {
    int32_t count = options->size_count ? options->size_count : own_count;
    for (int32_t i = 0; i < count; i++) side[i] = options->size_count ? options->side[i] : own[i];
    return count;
}
