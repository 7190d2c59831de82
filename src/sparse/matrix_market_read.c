/* matrix_market_read.c: reading Matrix Market coordinate files.
 *
 *   %%MatrixMarket matrix coordinate real|integer|pattern general|symmetric|skew-symmetric
 *   % comments
 *   rows columns entries
 *   row column value          (one line an entry, counted from 1; a pattern has no value)
 *
 * After R. F. Boisvert, R. Pozo, K. A. Remington, "The Matrix Market Exchange Formats: Initial Design", NISTIR
 * 5935, 1996. Read more freely than written there: words in any case, blank and comment lines anywhere, CRLF, the
 * exponent letter D of Fortran, entries in any order; repeated entries are summed in the order of the file.
 * Read more strictly: square only, exactly the promised number of entries, nothing behind an entry on its line,
 * decimal numbers only (no inf, nan, hexadecimal), no entry above the diagonal of a symmetric file nor on or above
 * that of a skew-symmetric one, and no skew-symmetric patterns (the format has none).
 *
 * No number of the file is trusted. A claim of more entries than lines of four bytes fit in the file is refused
 * outright. Rows take memory without standing in the file, so they are limited to ROWS_FREE plus one a byte of
 * the file: a matrix without an empty row always passes, and 100 bytes cost 2 MB at most. Entries take memory as
 * they are read, and at most a constant factor of the file's size.
 *
 * The decimal point of strtod is the locale's, so the thread's locale is "C" while entries are read. */
#include "base/c_locale.h"
#include "base/file.h"
#include "base/word.h"
#include "drape/sparse.h"

#include <stdarg.h>
#include <string.h>

enum {
    ROWS_FREE = 65536,
    MIN_ENTRY = 4, /* bytes: "1 1\n" */
};

typedef enum field { REAL, INTEGER, PATTERN } field;
typedef enum symmetry { GENERAL, SYMMETRIC, SKEW } symmetry;

typedef drape_i_word word;

typedef struct reader {
    drape_context *ctx;
    const char *name;
    const char *at, *end;    /* of the file: not read yet */
    const char *text, *stop; /* of the line: not read yet */
    int64_t line, size;
    field field;
    symmetry symmetry;
    int64_t rows, entries;
} reader;

DRAPE_PRINTF(2, 3)
static drape_status fail(const reader *r, const char *format, ...) {
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return drape_i_fail(r->ctx, DRAPE_ERROR_FORMAT, "%s:%lld: %s", r->name, (long long)r->line, what);
}

/* ---- Lines and words ---- */

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static bool next_line(reader *r) {
    if (r->at == r->end) return false;
    const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
    r->text = r->at;
    r->stop = newline ? newline : r->end;
    r->at = newline ? newline + 1 : r->end;
    r->line++;
    return true;
}

/* An empty word at the end of the line. */
static word next_word(reader *r) {
    while (r->text < r->stop && drape_i_is_space(*r->text)) r->text++;
    const char *first = r->text;
    while (r->text < r->stop && !drape_i_is_space(*r->text)) r->text++;
    return (word){first, r->text - first};
}

static bool next_data_line(reader *r) {
    while (next_line(r)) {
        while (r->text < r->stop && drape_i_is_space(*r->text)) r->text++;
        if (r->text < r->stop && *r->text != '%') return true;
    }
    return false;
}

static bool same(word w, const char *name) {
    if (w.length != (int64_t)strlen(name)) return false;
    for (int64_t i = 0; i < w.length; i++)
        if (lower(w.text[i]) != lower(name[i])) return false;
    return true;
}

static drape_status end_of_line(reader *r) {
    word w = next_word(r);
    return w.length ? fail(r, "'%s' is one word too many on its line", drape_i_quote(w).text) : DRAPE_OK;
}

/* ---- Banner and sizes ---- */

/* The index of the next word among names, which a NULL ends. */
static drape_status choose(reader *r, const char *what, const char *const *names, const char *can_read, int *out) {
    word w = next_word(r);
    for (*out = 0; names[*out]; ++*out)
        if (same(w, names[*out])) return DRAPE_OK;
    return fail(r, "%s '%s' cannot be read, only %s", what, drape_i_quote(w).text, can_read);
}

static drape_status read_banner(reader *r) {
    static const char *const objects[] = {"matrix", NULL}, *const formats[] = {"coordinate", NULL},
                             *const fields[] = {"real", "integer", "pattern", NULL},
                             *const symmetries[] = {"general", "symmetric", "skew-symmetric", NULL};
    int only, field_index, symmetry_index;
    drape_status status = DRAPE_OK;
    if (!next_line(r)) r->line = 1;
    if (!r->text || !same(next_word(r), "%%MatrixMarket")) return fail(r, "does not begin with %%%%MatrixMarket");
    if ((status = choose(r, "object", objects, "matrix", &only))) return status;
    if ((status = choose(r, "format", formats, "coordinate", &only))) return status;
    if ((status = choose(r, "field", fields, "real, integer and pattern", &field_index))) return status;
    if ((status = choose(r, "symmetry", symmetries, "general, symmetric and skew-symmetric", &symmetry_index)))
        return status;
    r->field = (field)field_index;
    r->symmetry = (symmetry)symmetry_index;
    if (r->field == PATTERN && r->symmetry == SKEW) return fail(r, "a pattern cannot be skew-symmetric");
    return end_of_line(r);
}

/* Digits only; what does not fit becomes INT64_MAX, and is refused by the limits. */
static drape_status read_count(reader *r, const char *what, int64_t *out) {
    word w = next_word(r);
    if (!w.length) return fail(r, "the line ends where the %s should stand", what);
    *out = 0;
    for (int64_t i = 0; i < w.length; i++) {
        if (!drape_i_is_digit(w.text[i])) return fail(r, "'%s' is no %s", drape_i_quote(w).text, what);
        *out = *out > (INT64_MAX - 9) / 10 ? INT64_MAX : 10 * *out + (w.text[i] - '0');
    }
    return DRAPE_OK;
}

static drape_status check_sizes(const reader *r, int64_t columns) {
    int64_t max_rows = ROWS_FREE + r->size, max_entries = (r->end - r->at) / MIN_ENTRY + 1;
    if (r->rows != columns)
        return fail(r, "%lld rows and %lld columns: not square", (long long)r->rows, (long long)columns);
    if (r->rows > max_rows)
        return fail(r, "%lld rows, but at most %lld (%d and one a byte) are read from a file of this size",
                    (long long)r->rows, (long long)max_rows, ROWS_FREE);
    if (r->entries > max_entries)
        return fail(r, "%lld entries, but the rest of the file has room for %lld at most", (long long)r->entries,
                    (long long)max_entries);
    return DRAPE_OK;
}

static drape_status read_sizes(reader *r) {
    int64_t columns;
    drape_status status;
    if (!next_data_line(r)) return fail(r, "the file ends before the line of sizes");
    if ((status = read_count(r, "number of rows", &r->rows))) return status;
    if ((status = read_count(r, "number of columns", &columns))) return status;
    if ((status = read_count(r, "number of entries", &r->entries))) return status;
    if ((status = end_of_line(r))) return status;
    return check_sizes(r, columns);
}

/* ---- Entries ---- */

static drape_status read_value(reader *r, double *out) {
    *out = 1;
    if (r->field == PATTERN) return DRAPE_OK;
    word w = next_word(r);
    if (!w.length) return fail(r, "the line ends where the value should stand");
    const char *wrong = drape_i_word_number(w, r->field == INTEGER ? DRAPE_I_WHOLE : DRAPE_I_FORTRAN, out);
    return wrong ? fail(r, "'%s' %s", drape_i_quote(w).text, wrong) : DRAPE_OK;
}

static drape_status check_place(const reader *r, int64_t i, int64_t j) {
    if (i < 1 || i > r->rows || j < 1 || j > r->rows)
        return fail(r, "entry (%lld, %lld) is outside a matrix of %lld", (long long)i, (long long)j,
                    (long long)r->rows);
    if (r->symmetry == SYMMETRIC && j > i)
        return fail(r, "entry (%lld, %lld) is above the diagonal of a symmetric matrix", (long long)i, (long long)j);
    if (r->symmetry == SKEW && j >= i)
        return fail(r, "entry (%lld, %lld) is not below the diagonal of a skew-symmetric matrix", (long long)i,
                    (long long)j);
    return DRAPE_OK;
}

/* Indices and value are good, so that only the sum of repeated entries can be refused. */
static drape_status add(const reader *r, drape_builder *b, int64_t i, int64_t j, double value) {
    drape_status status = drape_builder_add(b, i - 1, j - 1, value);
    if (!status && i != j && r->symmetry != GENERAL)
        status = drape_builder_add(b, j - 1, i - 1, r->symmetry == SKEW ? -value : value);
    if (status != DRAPE_ERROR_ARGUMENT) return status;
    return fail(r, "the entries at (%lld, %lld) add up beyond the range of a double", (long long)i, (long long)j);
}

static drape_status read_entry(reader *r, drape_builder *b) {
    int64_t i, j;
    double value;
    drape_status status;
    if ((status = read_count(r, "row", &i))) return status;
    if ((status = read_count(r, "column", &j))) return status;
    if ((status = check_place(r, i, j))) return status;
    if ((status = read_value(r, &value))) return status;
    if ((status = end_of_line(r))) return status;
    return add(r, b, i, j, value);
}

static drape_status read_entries(reader *r, drape_builder *b) {
    for (int64_t k = 0; k < r->entries; k++) {
        if (!next_data_line(r))
            return fail(r, "the file ends after %lld of %lld entries", (long long)k, (long long)r->entries);
        drape_status status = read_entry(r, b);
        if (status) return status;
    }
    return next_data_line(r) ? fail(r, "more than the %lld entries promised", (long long)r->entries) : DRAPE_OK;
}

static drape_status read_entries_in_c_locale(reader *r, drape_builder *b) {
    drape_i_c_locale locale;
    drape_status status = drape_i_c_locale_enter(r->ctx, &locale);
    if (status) return status;
    status = read_entries(r, b);
    drape_i_c_locale_leave(&locale);
    return status;
}

drape_status drape_matrix_market_parse(drape_context *ctx, const char *name, const char *data, int64_t size,
                                       drape_builder **out) {
    *out = NULL;
    if (size < 0 || (size && !data))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: no data, or %lld bytes", name, (long long)size);
    if (!size) data = "";
    reader r = {.ctx = ctx, .name = name, .at = data, .end = data + size, .size = size};
    drape_builder *b = NULL;
    drape_status status = read_banner(&r);
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
    *out = NULL;
    drape_status status = drape_i_file_read(ctx, path, &data, &size);
    if (status) return status;
    status = drape_matrix_market_parse(ctx, path, data, size, out);
    DRAPE_FREE(ctx, data, size + 1);
    return status;
}
