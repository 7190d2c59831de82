/* results.h: what a benchmark measured: each number is stated once, and goes to the text, and to the files of --csv
 * and
 * --json.
 *
 *   bench_table("rows");                                    // cells up to the next one belong to it
 *   bench_keys();                                           // above the rows: goes before each of them
 *   bench_text("scene", "\n%s", "drooping");
 *   bench_end(":\n");
 *   bench_row();
 *   bench_count("threads", "%8d", 2);
 *   bench_number("multiply", "ms", " %9.2f", 1e3 * seconds);
 *   bench_end("\n");
 *
 * A cell is printed with its format at once, and kept in full: a file holds more digits than the text. A column that
 * a row leaves out is empty there. Numbers that are not finite are null. */
#ifndef DRAPE_BENCH_RESULTS_H
#define DRAPE_BENCH_RESULTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* A name of the table within its benchmark; where it comes again, rows are added. */
void bench_table(const char *name);
/* Cells until bench_end are those that all rows have in common, of whatever table, until there are other keys. */
void bench_keys(void);
void bench_row(void);
void bench_text(const char *column, const char *format, const char *value); /* format: one %s */
void bench_count(const char *column, const char *format, int64_t value);    /* one %d, also of large numbers */
void bench_number(const char *column, const char *unit, const char *format, double value); /* one of a double */
/* Ends the row or the keys, and prints the text. */
void bench_end(const char *text);

/* A line of what is claimed, a ratio of medians; best: the same of the least disturbed times. least 1: it is to be
 * `required` or more; 0: or less. */
void bench_claim(const char *what, double obtained, double best, int least, double required);
/* The same for what no clock was needed for. */
void bench_claim_count(const char *what, double obtained, int least, double required);
/* The same without a line: for what is told in a row. Whether it holds. */
bool bench_holds(const char *what, double obtained, int least, double required);

/* A sentence about what was measured; printed, and above the tables of the report. */
void bench_note(const char *text);

/* ---- The files ---- */

/* The machine, which stands above all benchmarks; prints it, too. threads: that benchmarks may use; settings: the
 * command line. */
void bench_results_open(int32_t threads, const char *settings);
/* What results of this machine, commit and number of threads have in common, one line. */
const char *bench_results_about(void);
/* The benchmark that all that follows belongs to. */
void bench_results_begin(const char *benchmark, const char *about);
/* Its tables, claims, plots and notes. */
json_t *bench_results_benchmark(void);
/* Puts one in its place that was kept from before. */
void bench_results_take(json_t *benchmark);
/* False after a line on the error stream: this name cannot be written. Leaves nothing behind. */
bool bench_results_can_write(const char *option, const char *path);
/* Writes whole files or none; NULL: not wanted. folder: results.json, results.csv and index.html in it. False after a
 * line on the error stream. */
bool bench_results_write(const char *csv, const char *json, const char *folder);

#endif
