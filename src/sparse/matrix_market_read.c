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
#include "base/file.h"
#include "base/text.h"
#include "drape/sparse.h"
#include "sparse/matrix.h"
#include "sparse/matrix_market.h"

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

/* ---- Banner and sizes ---- */

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
            &r->text, "%lld rows, but at most %lld (%d and one a byte) are read from a file of this size",
            (long long)r->rows, (long long)max_rows, ROWS_FREE);
    if (r->entries > max_entries)
        return drape_i_market_fail(&r->text, "%lld entries, but the rest of the file has room for %lld at most",
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

/* ---- Entries ---- */

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
               ? drape_i_market_fail(&r->text, "more than the %lld entries promised", (long long)r->entries)
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
