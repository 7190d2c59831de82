/* ccd.c: drape ccd: tests the narrow phase of collision detection on queries whose answers are known. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_FILES = 256, MOST_REPEATS = 1000000, MOST_DEPTH = 30, MOST_CCD_THREADS = 256 };

typedef struct ccd_options {
    const char *files[MOST_FILES];
    drape_ccd_read_options read;
    drape_ccd_settings settings;
    int32_t repeat, threads;
    bool json;
} ccd_options;

typedef struct ccd_counts {
    int64_t queries, hits, false_negatives, false_positives, late;
    int64_t unknown; /* queries whose file does not say whether they touch */
    int64_t rounded; /* coordinates that are not doubles */
    double tested;   /* queries, all repeats */
    double seconds;
} ccd_counts;

/* ---- Counting ---- */

static void count_results(const drape_ccd_queries *q, const double *time, ccd_counts *c) {
    c->queries += q->pairs.pairs;
    c->rounded += q->rounded;
    for (int64_t i = 0; i < q->pairs.pairs; i++) {
        bool hit = time[i] <= 1;
        c->hits += hit;
        c->unknown += q->truth[i] < 0;
        c->false_negatives += q->truth[i] == 1 && !hit;
        c->false_positives += q->truth[i] == 0 && hit;
        c->late += q->truth[i] == 1 && hit && time[i] > q->time[i]; /* false where the true time is NaN */
    }
}

static drape_status test_queries(drape_context *ctx, const ccd_options *o, const drape_ccd_queries *q, double *time,
                                 ccd_counts *c) {
    drape_status status = DRAPE_OK;
    double begin = seconds_now();
    for (int32_t i = 0; i < o->repeat && !status; i++) status = drape_ccd_times(ctx, &q->pairs, &o->settings, time);
    c->seconds += seconds_now() - begin;
    c->tested += (double)q->pairs.pairs * o->repeat;
    if (!status) count_results(q, time, c);
    return status;
}

/* False after a complaint. */
static bool test_file(drape_context *ctx, const ccd_options *o, const char *path, ccd_counts *c) {
    drape_ccd_queries *q;
    if (drape_ccd_read(ctx, path, &o->read, &q)) {
        complain("%s", drape_message(ctx));
        return false;
    }
    double *time = malloc((size_t)q->pairs.pairs * sizeof *time + 1);
    bool good = time && !test_queries(ctx, o, q, time, c);
    if (!good) complain("%s: %s", path, time ? drape_message(ctx) : "out of memory");
    free(time);
    drape_ccd_queries_destroy(q);
    return good;
}

static double speed(const ccd_counts *c) { return c->seconds > 0 ? c->tested / c->seconds : 0; }

/* ---- Printing ---- */

static void print_counts(const ccd_counts *c, bool json) {
    const struct {
        const char *name;
        int64_t count;
    } counts[] = {{"queries", c->queries},
                  {"hits", c->hits},
                  {"false_negatives", c->false_negatives},
                  {"false_positives", c->false_positives},
                  {"late", c->late},
                  {"unknown", c->unknown},
                  {"rounded", c->rounded}};
    if (json) printf("{");
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        printf(json ? "\"%s\": %lld, " : "%-18s %lld\n", counts[i].name, (long long)counts[i].count);
    printf(json ? "\"%s\": %.6g}\n" : "%-18s %.0f\n", "queries_per_second", speed(c));
}

/* ---- The command ---- */

static parse_result parse(ccd_options *o, int argc, char **argv) {
    word_choice kind = {.value = &o->read.kind, .kind = WORDS_CCD_KINDS};
    const option options[] = {
        {"--kind", NULL, "K", "kind of the pairs; default: from the heading or the path", OPTION_WORD, &kind, 0, 0},
        {"--start", NULL, "MESH", "positions at time 0 for a file of vertex numbers; default: frames/N.ply[.gz]",
         OPTION_TEXT, &o->read.start, 0, 0},
        {"--end", NULL, "MESH", "positions at time 1; default: frames/(N + 1).ply[.gz]", OPTION_TEXT, &o->read.end, 0,
         0},
        {"--separation", NULL, "D", "distance at which two parts touch; default: 0", OPTION_REAL,
         &o->settings.separation, 0, 0},
        {"--depth", NULL, "N", "resolution of times, 2^-N; default: 16", OPTION_NUMBER, &o->settings.depth, 1,
         MOST_DEPTH},
        {"--repeat", NULL, "N", "number of repetitions, to measure speed; default: 1", OPTION_NUMBER, &o->repeat, 1,
         MOST_REPEATS},
        {"--threads", NULL, "T", "number of threads; default: one per processor; results do not depend on it",
         OPTION_NUMBER, &o->threads, 1, MOST_CCD_THREADS},
        {"--json", NULL, NULL, "print one JSON object", OPTION_FLAG, &o->json, 0, 0},
        {0},
    };
    command_line line = {.usage = "drape ccd QUERIES.csv... [options]",
                         .about =
                             "Tests continuous collision detection on pairs of parts in linear motion, read from "
                             "CSV files (also .csv.gz), and compares\nthe results with the answers in the files. "
                             "Counts missed contacts (false_negatives), contacts reported after their\ntrue time "
                             "(late), and reported pairs that do not touch (false_positives). docs/contact.md "
                             "describes the files.\nExit code 0: no contact was missed or late, 1: one was, 2: bad "
                             "input.",
                         .options = options,
                         .positional = o->files,
                         .positional_count = MOST_FILES};
    parse_result parsed = parse_arguments(&line, argc, argv);
    if (parsed == PARSE_GOOD && !o->files[0]) {
        complain("no file of queries given (usage: %s)", line.usage);
        return PARSE_BAD;
    }
    if (parsed == PARSE_GOOD && !(o->settings.separation >= 0)) {
        complain("--separation %g: expected a distance of at least 0", o->settings.separation);
        return PARSE_BAD;
    }
    return parsed;
}

int command_ccd(int argc, char **argv) {
    ccd_options o = {.settings = drape_ccd_defaults(), .repeat = 1};
    ccd_counts counts = {0};
    parse_result parsed = parse(&o, argc, argv);
    if (parsed != PARSE_GOOD) return parsed == PARSE_HELP ? EXIT_GOOD : EXIT_BAD_INPUT;
    drape_context *ctx = make_context(o.threads, false);
    if (!ctx) return EXIT_BAD_INPUT;
    bool good = true;
    for (int32_t i = 0; i < MOST_FILES && o.files[i] && good; i++) good = test_file(ctx, &o, o.files[i], &counts);
    drape_context_destroy(ctx);
    if (!good) return EXIT_BAD_INPUT;
    print_counts(&counts, o.json);
    return counts.false_negatives + counts.late > 0 ? EXIT_RUN_FAILED : EXIT_GOOD;
}
