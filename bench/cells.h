/* cells.h: measurements that are kept one by one in the folder of -o, so that an interrupted run continues where it
 * was.
 *
 *   double value[3];
 *   bench_progress_begin(cells);
 *   if (!bench_cell_find(key, value, 3)) {
 *       measure(value);
 *       bench_cell_keep(key, value, 3);
 *   }
 *   bench_progress(1);
 *
 * A key names everything that the cell depends on. The folder belongs to one commit, processor and number of threads:
 * cells of another one are refused, not mixed, unless --mixed says so. */
#ifndef DRAPE_BENCH_CELLS_H
#define DRAPE_BENCH_CELLS_H

#include <jansson.h>
#include <stdbool.h>

enum { BENCH_LONGEST_KEY = 256 };

/* Makes the folder where it is not there, and reads what it holds. false after a line on the error stream. NULL:
 * nothing is kept. `about`: what the folder belongs to, one line. mixed: takes cells that belong to anything else. */
bool bench_cells_open(const char *folder, const char *about, bool mixed);
/* What else cells in the folder belong to, lines with "; " between them; empty: nothing. */
const char *bench_cells_others(void);
void bench_cells_close(void);
/* Whether the cell is there, with so many values; numbers that are not finite come back as NaN. */
bool bench_cell_find(const char *key, double *values, int count);
void bench_cell_keep(const char *key, const double *values, int count);
/* The same for any value; what is found belongs to the cells. NULL: it is not there. */
json_t *bench_cell_find_json(const char *key);
void bench_cell_keep_json(const char *key, json_t *value); /* takes no reference of the caller's */

/* ---- How far a benchmark is, on the error stream: a bar on a terminal, else a line now and then ---- */

void bench_progress_begin(const char *benchmark, double work);
/* More work is done; kept: it was there already, and says nothing about the time that is left. */
void bench_progress(double work, bool kept);
void bench_progress_end(void);

#endif
