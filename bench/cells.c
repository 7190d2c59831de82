/* cells.c: see cells.h. The file cells.jsonl has one JSON object per line, {"key": ..., "value": ...}; the first line
 * says what the cells belong to. A line that was cut off by an interruption is dropped. */
#include "cells.h"

#include "bench.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONGEST_PATH = 4096, BAR = 30 };
static const double SELDOM = 30; /* s between lines where there is no terminal */

static struct {
    FILE *file;
    json_t *all;       /* from key to value */
    char others[1024]; /* what else the cells belong to */
} cells;

static bool complain(const char *folder, const char *why) {
    fprintf(stderr, "drape-bench: -o %s: %s\n", folder, why);
    return false;
}

/* ---- The file ---- */

static json_t *read_line(FILE *in, char **line, size_t *size) {
    ssize_t length = getline(line, size, in);
    if (length <= 0 || (*line)[length - 1] != '\n') return NULL;
    return json_loadb(*line, (size_t)length, JSON_DECODE_ANY, NULL);
}

static const char *about_of(const json_t *line) { return json_string_value(json_object_get(line, "about")); }

static void note_other(const char *text, const char *about) {
    size_t used = strlen(cells.others);
    if (strcmp(text, about) == 0 || strstr(cells.others, text)) return;
    snprintf(cells.others + used, sizeof cells.others - used, "%s%s", used ? "; " : "", text);
}

const char *bench_cells_others(void) { return cells.others; }

/* All lines that are whole; *end: where the last of them ends. */
static bool read_cells(FILE *in, const char *folder, const char *about, bool mixed, long *end) {
    char *line = NULL;
    size_t size = 0;
    json_t *one = read_line(in, &line, &size);
    bool good = about_of(one) && (mixed || strcmp(about_of(one), about) == 0);
    if (!good)
        complain(folder,
                 "holds results of another commit, processor or number of threads; name another folder, or accept "
                 "them with --mixed");
    while (good && one) {
        const char *key = json_string_value(json_object_get(one, "key"));
        if (about_of(one)) note_other(about_of(one), about);
        if (key) json_object_set(cells.all, key, json_object_get(one, "value"));
        json_decref(one);
        *end = ftell(in);
        one = read_line(in, &line, &size);
    }
    json_decref(one);
    free(line);
    return good;
}

static void write_line(json_t *line) {
    json_dumpf(line, cells.file, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17));
    fputc('\n', cells.file);
    fflush(cells.file);
    json_decref(line);
}

static bool open_file(const char *folder, const char *path, const char *about, bool mixed) {
    long end = 0;
    FILE *in = fopen(path, "r");
    bool good = !in || read_cells(in, folder, about, mixed, &end);
    if (in) fclose(in);
    if (!good) return false;
    if (in && truncate(path, end) != 0) return complain(folder, strerror(errno));
    cells.file = fopen(path, "a");
    if (!cells.file) return complain(folder, strerror(errno));
    if (end == 0 || *cells.others) write_line(json_pack("{s:s}", "about", about));
    return true;
}

bool bench_cells_open(const char *folder, const char *about, bool mixed) {
    char path[LONGEST_PATH];
    cells.all = json_object();
    if (!cells.all) return complain(folder ? folder : "", "out of memory");
    if (!folder) return true;
    if (!*folder) return complain("''", "expected the name of a folder");
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) return complain(folder, strerror(errno));
    if (snprintf(path, sizeof path, "%s/cells.jsonl", folder) >= (int)sizeof path)
        return complain(folder, "the name is too long");
    return open_file(folder, path, about, mixed);
}

void bench_cells_close(void) {
    if (cells.file) fclose(cells.file);
    json_decref(cells.all);
    cells.file = NULL;
    cells.all = NULL;
}

/* ---- Cells ---- */

json_t *bench_cell_find_json(const char *key) { return json_object_get(cells.all, key); }

void bench_cell_keep_json(const char *key, json_t *value) {
    json_object_set(cells.all, key, value);
    if (cells.file) write_line(json_pack("{s:s, s:O}", "key", key, "value", value));
}

bool bench_cell_find(const char *key, double *values, int count) {
    const json_t *list = bench_cell_find_json(key);
    if (!json_is_array(list) || json_array_size(list) != (size_t)count) return false;
    for (int i = 0; i < count; i++) {
        const json_t *value = json_array_get(list, (size_t)i);
        values[i] = json_is_number(value) ? json_number_value(value) : NAN;
    }
    return true;
}

void bench_cell_keep(const char *key, const double *values, int count) {
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, isfinite(values[i]) ? json_real(values[i]) : json_null());
    bench_cell_keep_json(key, list);
    json_decref(list);
}

/* ---- Progress ---- */

static struct {
    const char *name;
    double all, done, timed; /* timed: what was not there already */
    double since, said;      /* s */
} progress;

static void say(double now) {
    char bar[BAR + 1], left[64] = "";
    double share = progress.all > 0 ? fmin(1, progress.done / progress.all) : 1;
    double rate = progress.timed / fmax(now - progress.since, 1e-9), rest = (progress.all - progress.done) / rate;
    bool terminal = isatty(STDERR_FILENO);
    if (!terminal && now - progress.said < SELDOM) return;
    progress.said = now;
    for (int i = 0; i < BAR; i++) bar[i] = i < share * BAR ? '#' : '.';
    bar[BAR] = 0;
    if (progress.timed > 0 && rest < 600) snprintf(left, sizeof left, ", some %.0f s left", rest);
    else if (progress.timed > 0) snprintf(left, sizeof left, ", some %.0f min left", rest / 60);
    fprintf(stderr, terminal ? "\r\033[K%s [%s] %3.0f %%%s" : "%s [%s] %3.0f %%%s\n", progress.name, bar, 100 * share,
            left);
    fflush(stderr);
}

void bench_progress_begin(const char *benchmark, double work) {
    double now = bench_seconds();
    progress.name = benchmark;
    progress.all = work;
    progress.done = progress.timed = 0;
    progress.since = progress.said = now;
}

void bench_progress(double work, bool kept) {
    progress.done += work;
    if (!kept) progress.timed += work;
    say(bench_seconds());
}

void bench_progress_end(void) {
    if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
}
