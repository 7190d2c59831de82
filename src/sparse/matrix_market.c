/* matrix_market.c: reading and writing Matrix Market coordinate files.
 *
 *   %%MatrixMarket matrix coordinate real|integer|pattern general|symmetric|skew-symmetric
 *   % comments
 *   rows columns entries
 *   row column value          (one line per entry, counted from 1; a pattern has no value)
 *
 * After R. F. Boisvert, R. Pozo, K. A. Remington, "The Matrix Market Exchange Formats: Initial Design", NISTIR
 * 5935, 1996. In some ways the reader is more tolerant than the format. It takes words in any case, blank and comment
 * lines anywhere, CRLF, the exponent letter D of Fortran, and entries in any order. Repeated entries are summed in
 * the order of the file. In other ways it is stricter. The matrix must be square, with exactly the promised number of
 * entries and nothing after an entry on its line. Numbers must be decimal (no inf, nan, hexadecimal). A symmetric
 * file has no entry above the diagonal, and a skew-symmetric one none on or above it. There are no skew-symmetric
 * patterns (the format has none).
 *
 * No number of the file is trusted. A claim of more entries than lines of four bytes fit in the file is refused
 * outright. Rows take memory without appearing in the file, so they are limited to ROWS_FREE plus one per byte of the
 * file. A matrix without an empty row always passes, and 100 bytes cost 2 MB at most. Entries take memory as they are
 * read, and at most a constant factor of the file's size.
 *
 * All nine values of a block are written, zeros too, so that reading gives the same pattern and the same bits: 17
 * significant digits name a double uniquely. Of a symmetric matrix the lower triangle is written: the blocks left
 * of the diagonal, and six values of each diagonal block. Some 25 bytes per entry, written line by line under a
 * temporary name; the final name never holds half a file.
 *
 * The decimal point of strtod and printf is the locale's, so the thread's locale is "C" while entries are read or
 * written. */
#include "sparse/matrix_market.h"

#include "base/file.h"
#include "drape/sparse.h"
#include "sparse/matrix.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char MAGIC[] = "%%MatrixMarket";

drape_status drape_i_market_open(drape_i_market *m, drape_context *ctx, const char *name, const char *data,
                                 int64_t size) {
    if (size < 0 || (size && !data))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: no data, or %lld bytes", name, (long long)size);
    if (!size) data = "";
    *m = (drape_i_market){.ctx = ctx, .name = name, .at = data, .end = data + size, .size = size};
    return DRAPE_OK;
}

drape_status drape_i_market_fail(const drape_i_market *m, const char *format, ...) {
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return drape_i_fail(m->ctx, DRAPE_ERROR_FORMAT, "%s:%lld: %s", m->name, (long long)m->line, what);
}

/* ---- Lines and words ---- */

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static bool next_line(drape_i_market *m) {
    if (m->at == m->end) return false;
    const char *newline = memchr(m->at, '\n', (size_t)(m->end - m->at));
    m->text = m->at;
    m->stop = newline ? newline : m->end;
    m->at = newline ? newline + 1 : m->end;
    m->line++;
    return true;
}

/* An empty word at the end of the line. */
static drape_i_word next_word(drape_i_market *m) {
    while (m->text < m->stop && drape_i_is_space(*m->text)) m->text++;
    const char *first = m->text;
    while (m->text < m->stop && !drape_i_is_space(*m->text)) m->text++;
    return (drape_i_word){first, m->text - first};
}

bool drape_i_market_line(drape_i_market *m) {
    while (next_line(m)) {
        while (m->text < m->stop && drape_i_is_space(*m->text)) m->text++;
        if (m->text < m->stop && *m->text != '%') return true;
    }
    return false;
}

static bool same(drape_i_word w, const char *name) {
    if (w.length != (int64_t)strlen(name)) return false;
    for (int64_t i = 0; i < w.length; i++)
        if (lower(w.text[i]) != lower(name[i])) return false;
    return true;
}

drape_status drape_i_market_end_of_line(drape_i_market *m) {
    drape_i_word w = next_word(m);
    return w.length ? drape_i_market_fail(m, "unexpected '%s' at the end of the line", drape_i_quote(w).text)
                    : DRAPE_OK;
}

/* ---- The banner ---- */

bool drape_i_is_market(const char *data, int64_t size) {
    int64_t length = (int64_t)strlen(MAGIC);
    return size >= length && same((drape_i_word){data, length}, MAGIC);
}

drape_status drape_i_market_choose(drape_i_market *m, const char *what, const char *const *names,
                                   const char *can_read, int *out) {
    drape_i_word w = next_word(m);
    for (*out = 0; names[*out]; ++*out)
        if (same(w, names[*out])) return DRAPE_OK;
    return drape_i_market_fail(m, "%s '%s' cannot be read, only %s", what, drape_i_quote(w).text, can_read);
}

drape_status drape_i_market_banner(drape_i_market *m) {
    static const char *const objects[] = {"matrix", NULL};
    int only;
    if (!next_line(m)) m->line = 1;
    if (!m->text || !same(next_word(m), MAGIC)) return drape_i_market_fail(m, "does not begin with %s", MAGIC);
    return drape_i_market_choose(m, "object", objects, "matrix", &only);
}

/* ---- Numbers ---- */

drape_status drape_i_market_count(drape_i_market *m, const char *what, int64_t *out) {
    drape_i_word w = next_word(m);
    if (!w.length) return drape_i_market_fail(m, "the line ends before the %s", what);
    *out = 0;
    for (int64_t i = 0; i < w.length; i++) {
        if (!drape_i_is_digit(w.text[i]))
            return drape_i_market_fail(m, "'%s' is not a %s", drape_i_quote(w).text, what);
        *out = *out > (INT64_MAX - 9) / 10 ? INT64_MAX : 10 * *out + (w.text[i] - '0');
    }
    return DRAPE_OK;
}

drape_status drape_i_market_value(drape_i_market *m, bool whole, double *out) {
    drape_i_word w = next_word(m);
    if (!w.length) return drape_i_market_fail(m, "the line ends before the value");
    const char *wrong = drape_i_word_number(w, whole ? DRAPE_I_WHOLE : DRAPE_I_FORTRAN, out);
    return wrong ? drape_i_market_fail(m, "'%s' %s", drape_i_quote(w).text, wrong) : DRAPE_OK;
}

/* ---- Reading ---- */

enum {
    ROWS_FREE = 65536,
    MIN_ENTRY = 4, /* bytes: "1 1\n" */
};

typedef enum field { REAL, INTEGER, PATTERN } field;
typedef enum symmetry { GENERAL, SYMMETRIC, SKEW } symmetry;

typedef struct reader {
    drape_i_market text;
    field field;
    symmetry symmetry;
    int64_t rows, entries;
} reader;

static drape_status read_banner(reader *r) {
    static const char *const formats[] = {"coordinate", NULL}, *const fields[] = {"real", "integer", "pattern", NULL},
                             *const symmetries[] = {"general", "symmetric", "skew-symmetric", NULL};
    int only, field_index, symmetry_index;
    drape_i_market *t = &r->text;
    drape_status status = drape_i_market_banner(t);
    if (status) return status;
    if ((status = drape_i_market_choose(t, "format", formats, "coordinate", &only))) return status;
    if ((status = drape_i_market_choose(t, "field", fields, "real, integer and pattern", &field_index)))
        return status;
    if ((status = drape_i_market_choose(t, "symmetry", symmetries, "general, symmetric and skew-symmetric",
                                        &symmetry_index)))
        return status;
    r->field = (field)field_index;
    r->symmetry = (symmetry)symmetry_index;
    if (r->field == PATTERN && r->symmetry == SKEW)
        return drape_i_market_fail(t, "a pattern cannot be skew-symmetric");
    return drape_i_market_end_of_line(t);
}

static drape_status check_sizes(const reader *r, int64_t columns) {
    int64_t max_rows = ROWS_FREE + r->text.size, max_entries = (r->text.end - r->text.at) / MIN_ENTRY + 1;
    if (r->rows != columns)
        return drape_i_market_fail(&r->text, "%lld rows and %lld columns: not square", (long long)r->rows,
                                   (long long)columns);
    if (r->rows > max_rows)
        return drape_i_market_fail(
            &r->text, "%lld rows, but at most %lld (%d and one per byte) are read from a file of this size",
            (long long)r->rows, (long long)max_rows, ROWS_FREE);
    if (r->entries > max_entries)
        return drape_i_market_fail(&r->text, "%lld entries, but the rest of the file can hold at most %lld",
                                   (long long)r->entries, (long long)max_entries);
    return DRAPE_OK;
}

static drape_status read_sizes(reader *r) {
    int64_t columns;
    drape_status status;
    if (!drape_i_market_line(&r->text))
        return drape_i_market_fail(&r->text, "the file ends before the line of sizes");
    if ((status = drape_i_market_count(&r->text, "number of rows", &r->rows))) return status;
    if ((status = drape_i_market_count(&r->text, "number of columns", &columns))) return status;
    if ((status = drape_i_market_count(&r->text, "number of entries", &r->entries))) return status;
    if ((status = drape_i_market_end_of_line(&r->text))) return status;
    return check_sizes(r, columns);
}

static drape_status read_value(reader *r, double *out) {
    *out = 1;
    return r->field == PATTERN ? DRAPE_OK : drape_i_market_value(&r->text, r->field == INTEGER, out);
}

static drape_status check_place(const reader *r, int64_t i, int64_t j) {
    if (i < 1 || i > r->rows || j < 1 || j > r->rows)
        return drape_i_market_fail(&r->text, "entry (%lld, %lld) is outside a matrix of %lld", (long long)i,
                                   (long long)j, (long long)r->rows);
    if (r->symmetry == SYMMETRIC && j > i)
        return drape_i_market_fail(&r->text, "entry (%lld, %lld) is above the diagonal of a symmetric matrix",
                                   (long long)i, (long long)j);
    if (r->symmetry == SKEW && j >= i)
        return drape_i_market_fail(&r->text,
                                   "entry (%lld, %lld) is not below the diagonal of a skew-symmetric matrix",
                                   (long long)i, (long long)j);
    return DRAPE_OK;
}

/* Indices and value are good, so that only the sum of repeated entries can be refused. */
static drape_status add(const reader *r, drape_builder *b, int64_t i, int64_t j, double value) {
    drape_status status = drape_builder_add(b, i - 1, j - 1, value);
    if (!status && i != j && r->symmetry != GENERAL)
        status = drape_builder_add(b, j - 1, i - 1, r->symmetry == SKEW ? -value : value);
    if (status != DRAPE_ERROR_ARGUMENT) return status;
    return drape_i_market_fail(&r->text, "the entries at (%lld, %lld) add up beyond the range of a double",
                               (long long)i, (long long)j);
}

static drape_status read_entry(reader *r, drape_builder *b) {
    int64_t i, j;
    double value;
    drape_status status;
    if ((status = drape_i_market_count(&r->text, "row", &i))) return status;
    if ((status = drape_i_market_count(&r->text, "column", &j))) return status;
    if ((status = check_place(r, i, j))) return status;
    if ((status = read_value(r, &value))) return status;
    if ((status = drape_i_market_end_of_line(&r->text))) return status;
    return add(r, b, i, j, value);
}

static drape_status read_entries(reader *r, drape_builder *b) {
    for (int64_t k = 0; k < r->entries; k++) {
        if (!drape_i_market_line(&r->text))
            return drape_i_market_fail(&r->text, "the file ends after %lld of %lld entries", (long long)k,
                                       (long long)r->entries);
        drape_status status = read_entry(r, b);
        if (status) return status;
    }
    return drape_i_market_line(&r->text)
               ? drape_i_market_fail(&r->text, "more than the %lld entries announced", (long long)r->entries)
               : DRAPE_OK;
}

static drape_status read_entries_in_c_locale(reader *r, drape_builder *b) {
    drape_i_c_locale locale;
    drape_status status = drape_i_c_locale_enter(r->text.ctx, &locale);
    if (status) return status;
    status = read_entries(r, b);
    drape_i_c_locale_leave(&locale);
    return status;
}

drape_status drape_matrix_market_parse(drape_context *ctx, const char *name, const char *data, int64_t size,
                                       drape_builder **out) {
    if (out) *out = NULL;
    if (!ctx || !name || !out) return drape_i_missing(ctx, "matrix market", name ? "out" : "name");
    reader r = {0};
    drape_builder *b = NULL;
    drape_status status = drape_i_market_open(&r.text, ctx, name, data, size);
    if (!status) status = read_banner(&r);
    if (!status) status = read_sizes(&r);
    if (!status) status = drape_builder_create(ctx, r.rows, &b);
    if (!status) status = read_entries_in_c_locale(&r, b);
    if (status) drape_builder_destroy(b);
    else *out = b;
    return status;
}

drape_status drape_matrix_market_read(drape_context *ctx, const char *path, drape_builder **out) {
    char *data;
    int64_t size;
    if (out) *out = NULL;
    if (!ctx || !path || !out) return drape_i_missing(ctx, "matrix market", path ? "out" : "path");
    drape_status status = drape_i_file_read(ctx, path, &data, &size);
    if (status) return status;
    status = drape_matrix_market_parse(ctx, path, data, size, out);
    DRAPE_FREE(ctx, data, size + 1);
    return status;
}

/* ---- Writing ---- */

enum { LINE = 128 };

static drape_status check_matrix(drape_context *ctx, const char *path, const drape_bsr3 *A) {
    if (A->rows > 0 && A->rowptr && A->rowptr[A->rows] && (!A->col || !A->val))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: a matrix without columns or values", path);
    drape_status status = drape_bsr3_check(ctx, A);
    if (status) return status;
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = 9 * A->rowptr[i]; k < 9 * A->rowptr[i + 1]; k++)
            if (!isfinite(A->val[k]))
                return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                                    "%s: the block of row %d, column %d holds a value that is not finite", path, i,
                                    A->col[k / 9]);
    return DRAPE_OK;
}

static int64_t count_entries(const drape_bsr3 *A, bool lower) {
    int64_t entries = 0;
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
            entries += !lower || A->col[k] < i ? 9 : A->col[k] == i ? 6 : 0;
    return entries;
}

static void write_line(drape_i_file *file, const char *line, int length) {
    drape_i_file_write(file, line, (size_t)length);
}

static void write_head(drape_i_file *file, const drape_bsr3 *A, bool lower) {
    char line[LINE];
    long long rows = 3 * (long long)A->rows;
    write_line(file, line,
               snprintf(line, sizeof line, "%%%%MatrixMarket matrix coordinate real %s\n%lld %lld %lld\n",
                        lower ? "symmetric" : "general", rows, rows, (long long)count_entries(A, lower)));
}

/* Scalar row i, column by column. */
static void write_row(drape_i_file *file, const drape_bsr3 *A, int64_t i, bool lower) {
    char line[LINE];
    for (int64_t k = A->rowptr[i / 3]; k < A->rowptr[i / 3 + 1]; k++)
        for (int c = 0; c < 3; c++) {
            int64_t j = 3 * (int64_t)A->col[k] + c;
            if (lower && j > i) return;
            write_line(file, line,
                       snprintf(line, sizeof line, "%lld %lld %.17g\n", (long long)i + 1, (long long)j + 1,
                                A->val[9 * k + 3 * (i % 3) + c]));
        }
}

static drape_status write_file(drape_context *ctx, const char *path, const drape_bsr3 *A, bool lower) {
    drape_i_file file;
    drape_status status = drape_i_file_create(ctx, path, &file);
    if (status) return status;
    write_head(&file, A, lower);
    for (int64_t i = 0; i < 3 * (int64_t)A->rows; i++) write_row(&file, A, i, lower);
    return drape_i_file_commit(ctx, &file);
}

drape_status drape_matrix_market_write(drape_context *ctx, const char *path, const drape_bsr3 *A, bool symmetric) {
    if (!ctx || !path || !A) return drape_i_missing(ctx, "matrix market", path ? "A" : "path");
    drape_status status = check_matrix(ctx, path, A);
    if (status) return status;
    drape_i_c_locale locale;
    status = drape_i_c_locale_enter(ctx, &locale);
    if (status) return status;
    status = write_file(ctx, path, A, symmetric);
    drape_i_c_locale_leave(&locale);
    return status;
}
