/* results.c: see results.h. All is kept as the value that --json writes; --csv is made from it. */
#include "results.h"

#include "bench.h"
#include "bench_commit.h"
#include "report.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* One program, one run. */
static struct {
    json_t *root, *benchmark, *table, *row; /* all within root */
    json_t *keys;                           /* own: cells as [column, unit, value] */
    bool in_keys;
} now;

static json_t *kept(json_t *value) {
    if (value) return value;
    fprintf(stderr, "drape-bench: out of memory for the results\n");
    exit(1);
}

/* Real numbers that JSON cannot hold are null. */
static json_t *real(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static json_t *append(json_t *list, json_t *value) {
    if (json_array_append_new(list, kept(value))) kept(NULL);
    return value;
}

static void set(json_t *object, const char *key, json_t *value) {
    if (json_object_set_new(object, key, kept(value))) kept(NULL);
}

/* The element of a list of objects that has this name, or NULL. */
static json_t *find_named(json_t *list, const char *name) {
    size_t i;
    json_t *element;
    json_array_foreach(list, i, element) {
        if (strcmp(json_string_value(json_object_get(element, "name")), name) == 0) return element;
    }
    return NULL;
}

/* ---- Tables ---- */

void bench_table(const char *name) {
    json_t *tables = json_object_get(now.benchmark, "tables");
    now.table = find_named(tables, name);
    if (!now.table) now.table = append(tables, json_pack("{s:s, s:[], s:[]}", "name", name, "columns", "rows"));
}

void bench_keys(void) {
    json_array_clear(now.keys);
    now.in_keys = true;
}

static void keep_in_row(const char *column, const char *unit, json_t *value) {
    json_t *columns = json_object_get(now.table, "columns");
    if (!find_named(columns, column)) append(columns, json_pack("{s:s, s:s}", "name", column, "unit", unit));
    assert(!json_object_get(now.row, column)); /* a key of the same name, mostly */
    set(now.row, column, value);
}

static void keep(const char *column, const char *unit, json_t *value) {
    if (now.in_keys) append(now.keys, json_pack("[s, s, o]", column, unit, value));
    else keep_in_row(column, unit, value);
}

void bench_row(void) {
    size_t i;
    json_t *key;
    now.row = append(json_object_get(now.table, "rows"), json_object());
    json_array_foreach(now.keys, i, key) {
        keep_in_row(json_string_value(json_array_get(key, 0)), json_string_value(json_array_get(key, 1)),
                    json_incref(json_array_get(key, 2)));
    }
}

void bench_text(const char *column, const char *format, const char *value) {
    printf(format, value);
    keep(column, "", json_string(value));
}

/* The format has %d, which takes an int: a length is put in, for numbers that are larger. */
void bench_count(const char *column, const char *format, int64_t value) {
    char longer[128];
    int before = (int)(strchr(strchr(format, '%'), 'd') - format);
    snprintf(longer, sizeof longer, "%.*sll%s", before, format, format + before);
    printf(longer, (long long)value);
    keep(column, "", json_integer(value));
}

/* How many digits the text has, such as ".3f", for the report: its column shows as many. */
static void keep_digits(const char *column, const char *format) {
    json_t *kept_column = now.in_keys ? NULL : find_named(json_object_get(now.table, "columns"), column);
    const char *digits = strchr(strchr(format, '%'), '.');
    if (!kept_column || !digits || json_object_get(kept_column, "digits")) return;
    set(kept_column, "digits", json_stringn(digits, strspn(digits, ".0123456789") + 1));
}

void bench_number(const char *column, const char *unit, const char *format, double value) {
    printf(format, value);
    keep(column, unit, real(value));
    keep_digits(column, format);
}

void bench_end(const char *text) {
    fputs(text, stdout);
    now.in_keys = false;
}

/* ---- Claims ---- */

/* What a claim is about, besides its words. */
static json_t *keys_as_object(void) {
    size_t i;
    json_t *key, *object = kept(json_object());
    json_array_foreach(now.keys, i, key) {
        set(object, json_string_value(json_array_get(key, 0)), json_incref(json_array_get(key, 2)));
    }
    return object;
}

static bool keep_claim(const char *what, double obtained, json_t *best, int least, double required) {
    bool holds = least ? obtained >= required : obtained <= required;
    json_t *claim = append(json_object_get(now.benchmark, "claims"), json_object());
    set(claim, "what", json_string(what));
    if (json_array_size(now.keys) > 0) set(claim, "keys", keys_as_object());
    set(claim, "value", real(obtained));
    if (best) set(claim, "best", best);
    set(claim, "relation", json_string(least ? ">=" : "<="));
    set(claim, "bound", real(required));
    set(claim, "holds", json_boolean(holds));
    return holds;
}

bool bench_holds(const char *what, double obtained, int least, double required) {
    return keep_claim(what, obtained, NULL, least, required);
}

void bench_claim(const char *what, double obtained, double best, int least, double required) {
    bool holds = keep_claim(what, obtained, real(best), least, required);
    printf("  %-52s %s %-5g medians %6.2f  best %6.2f  %s\n", what, least ? ">=" : "<=", required, obtained, best,
           holds ? "reached" : "MISSED");
}

void bench_claim_count(const char *what, double obtained, int least, double required) {
    bool holds = keep_claim(what, obtained, NULL, least, required);
    printf("  %-52s %s %-5g obtained %6.2f  %s\n", what, least ? ">=" : "<=", required, obtained,
           holds ? "reached" : "MISSED");
}

/* ---- The machine ---- */

/* As the kernel calls it; "" where it does not say. */
static void name_processor(char *name, size_t size) {
    char line[256];
    FILE *info = fopen("/proc/cpuinfo", "r");
    name[0] = 0;
    while (info && fgets(line, sizeof line, info)) {
        if (strncmp(line, "model name", 10) != 0 || !strchr(line, ':')) continue;
        snprintf(name, size, "%s", strchr(line, ':') + 1 + strspn(strchr(line, ':') + 1, " "));
        name[strcspn(name, "\n")] = 0;
        break;
    }
    if (info) fclose(info);
}

/* "15.5 GB"; "" where the system does not say. */
static void name_memory(char *name, size_t size) {
    double bytes = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    snprintf(name, size, bytes > 0 ? "%.1f GB" : "", bytes / 1e9);
}

static void name_today(char *name, size_t size) {
    time_t seconds = time(NULL);
    struct tm parts;
    strftime(name, size, "%Y-%m-%d", gmtime_r(&seconds, &parts));
}

static void add_settings(const char *settings) {
    char memory[64], today[32];
    name_memory(memory, sizeof memory);
    name_today(today, sizeof today);
    set(json_object_get(now.root, "machine"), "memory", json_string(memory));
    set(now.root, "commit", json_string(BENCH_COMMIT));
    set(now.root, "settings", json_string(settings));
    set(now.root, "date", json_string(today));
}

const char *bench_results_about(void) {
    static char about[512];
    const json_t *machine = json_object_get(now.root, "machine");
    snprintf(about, sizeof about, "drape %s, commit %s, %s, %d threads", drape_version(), BENCH_COMMIT,
             json_string_value(json_object_get(machine, "processor")),
             (int)json_integer_value(json_object_get(now.root, "threads")));
    return about;
}

void bench_results_open(int32_t threads, const char *settings) {
    char processor[256];
    drape_context *ctx = bench_context(0);
    const char *vectors = drape_simd_name(drape_context_simd(ctx));
    int32_t processors = drape_context_threads(ctx);
    name_processor(processor, sizeof processor);
    now.root = kept(json_pack("{s:s, s:s, s:{s:s, s:i, s:s}, s:i, s:[]}", "version", drape_version(), "compiler",
                              __VERSION__, "machine", "processor", processor, "processors", processors, "vectors",
                              vectors, "threads", threads, "benchmarks"));
    if (processor[0]) printf("processor: %s\n", processor);
    printf("processors: %d, vectors: %s, compiler: %s, drape %s\n", processors, vectors, __VERSION__,
           drape_version());
    drape_context_destroy(ctx);
    add_settings(settings);
}

void bench_results_begin(const char *benchmark, const char *about) {
    now.benchmark = append(json_object_get(now.root, "benchmarks"),
                           json_pack("{s:s, s:s, s:[], s:[], s:[], s:[]}", "name", benchmark, "about", about, "notes",
                                     "tables", "claims", "plots"));
    json_decref(now.keys);
    now.keys = kept(json_array());
    now.table = NULL;
}

json_t *bench_results_benchmark(void) { return now.benchmark; }

void bench_results_take(json_t *benchmark) {
    json_object_clear(now.benchmark);
    json_object_update(now.benchmark, benchmark);
}

void bench_note(const char *text) {
    printf("%s\n", text);
    append(json_object_get(now.benchmark, "notes"), json_string(text));
}

/* ---- CSV: a line per number ---- */

/* With quotes where the text has a comma, a quote or a line's end. */
static void put_text(FILE *out, const char *text) {
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"') fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void put_value(FILE *out, const json_t *value) {
    if (json_is_string(value)) put_text(out, json_string_value(value));
    else if (json_is_integer(value)) fprintf(out, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value)) fprintf(out, "%.17g", json_real_value(value));
    else if (json_is_boolean(value)) fputs(json_is_true(value) ? "true" : "false", out);
}

static void put_line(FILE *out, const char *benchmark, const char *table, size_t row, const char *column,
                     const json_t *value, const char *unit) {
    put_text(out, benchmark);
    fputc(',', out);
    put_text(out, table);
    fprintf(out, ",%zu,", row);
    put_text(out, column);
    fputc(',', out);
    put_value(out, value);
    fputc(',', out);
    put_text(out, unit);
    fputc('\n', out);
}

static void put_table(FILE *out, const char *benchmark, json_t *table) {
    const char *name = json_string_value(json_object_get(table, "name"));
    size_t i, k;
    json_t *row, *column;
    json_array_foreach(json_object_get(table, "rows"), i, row) {
        json_array_foreach(json_object_get(table, "columns"), k, column) {
            const char *head = json_string_value(json_object_get(column, "name"));
            const json_t *value = json_object_get(row, head);
            if (value)
                put_line(out, benchmark, name, i + 1, head, value,
                         json_string_value(json_object_get(column, "unit")));
        }
    }
}

static void put_claims(FILE *out, const char *benchmark, json_t *claims) {
    size_t i;
    json_t *claim, *value;
    const char *key;
    json_array_foreach(claims, i, claim) {
        json_object_foreach(json_object_get(claim, "keys"), key, value)
            put_line(out, benchmark, "claims", i + 1, key, value, "");
        json_object_foreach(claim, key, value) {
            if (!json_is_object(value)) put_line(out, benchmark, "claims", i + 1, key, value, "");
        }
    }
}

static void write_csv(FILE *out) {
    size_t i, k;
    json_t *benchmark, *table;
    fputs("benchmark,table,row,column,value,unit\n", out);
    json_array_foreach(json_object_get(now.root, "benchmarks"), i, benchmark) {
        const char *name = json_string_value(json_object_get(benchmark, "name"));
        json_array_foreach(json_object_get(benchmark, "tables"), k, table) put_table(out, name, table);
        put_claims(out, name, json_object_get(benchmark, "claims"));
    }
}

static void write_json(FILE *out) {
    json_dumpf(now.root, out, JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17));
    fputc('\n', out);
}

/* ---- Whole files or none ---- */

enum { LONGEST_NAME = 4096 };

static bool complain(const char *option, const char *path, const char *why) {
    fprintf(stderr, "drape-bench: %s %s: %s\n", option, path, why);
    return false;
}

/* Beside the file, so that it can be renamed to it. */
static bool open_beside(const char *option, const char *path, char name[LONGEST_NAME], int *file) {
    if (snprintf(name, LONGEST_NAME, "%s.part-%ld", path, (long)getpid()) >= LONGEST_NAME)
        return complain(option, path, "the name is too long");
    *file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return *file >= 0 || complain(option, path, strerror(errno));
}

bool bench_results_can_write(const char *option, const char *path) {
    char name[LONGEST_NAME];
    struct stat there;
    int file;
    if (!*path) return complain(option, "''", "expected the name of a file");
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode))
        return complain(option, path, S_ISDIR(there.st_mode) ? "is a folder" : "is not a regular file");
    if (!open_beside(option, path, name, &file)) return false;
    close(file);
    unlink(name);
    return true;
}

static bool write_file(const char *option, const char *path, void (*put)(FILE *out)) {
    char name[LONGEST_NAME];
    int file;
    if (!open_beside(option, path, name, &file)) return false;
    FILE *out = fdopen(file, "w");
    bool good = out != NULL;
    if (good) put(out);
    good = good && fflush(out) == 0 && !ferror(out) && fsync(file) == 0;
    int failure = errno;
    if (out) good = fclose(out) == 0 && good;
    else close(file);
    if (good && rename(name, path) == 0) return true;
    if (good) failure = errno;
    unlink(name);
    return complain(option, path, strerror(failure));
}

static void write_page(FILE *out) { bench_report(out, now.root); }

static bool write_in(const char *folder, const char *file, void (*put)(FILE *out)) {
    char path[LONGEST_NAME];
    if (snprintf(path, sizeof path, "%s/%s", folder, file) >= (int)sizeof path)
        return complain("-o", folder, "the name is too long");
    return write_file("-o", path, put);
}

bool bench_results_write(const char *csv, const char *json, const char *folder) {
    bool good = !csv || write_file("--csv", csv, write_csv);
    if (json && !write_file("--json", json, write_json)) good = false;
    if (!folder) return good;
    return write_in(folder, "results.json", write_json) && write_in(folder, "results.csv", write_csv) &&
           write_in(folder, "index.html", write_page) && good;
}
