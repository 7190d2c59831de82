/* vector_file.c: reading a vector: Matrix Market, or the bytes of its doubles.
 *
 *   %%MatrixMarket matrix array real|integer general        %%MatrixMarket matrix coordinate real|integer general
 *   % comments                                              % comments
 *   rows 1                                                  rows 1 entries
 *   value                     (one line per row)              row 1 value              (the rows left out are 0)
 *
 * Read as freely and as strictly as matrices are (matrix_market.c). The caller knows how many numbers there must
 * be and has the memory for them, so no number of the file decides on any. */
#include "base/file.h"
#include "base/text.h"
#include "drape/sparse.h"
#include "sparse/matrix.h"
#include "sparse/matrix_market.h"

#include <math.h>
#include <string.h>

typedef enum format { ARRAY, COORDINATE } format;

typedef struct reader {
    drape_i_market text;
    format format;
    bool whole;      /* numbers */
    int64_t entries; /* lines to come */
    int64_t count;   /* of out */
    double *out;
} reader;

/* ---- Matrix Market ---- */

static drape_status read_banner(reader *r) {
    static const char *const formats[] = {"array", "coordinate", NULL}, *const fields[] = {"real", "integer", NULL},
                             *const symmetries[] = {"general", NULL};
    int format_index, field_index, only;
    drape_i_market *t = &r->text;
    drape_status status = drape_i_market_banner(t);
    if (status) return status;
    if ((status = drape_i_market_choose(t, "format", formats, "array and coordinate", &format_index))) return status;
    if ((status = drape_i_market_choose(t, "field", fields, "real and integer", &field_index))) return status;
    if ((status = drape_i_market_choose(t, "symmetry", symmetries, "general", &only))) return status;
    r->format = (format)format_index;
    r->whole = field_index == 1;
    return drape_i_market_end_of_line(t);
}

static drape_status read_sizes(reader *r) {
    int64_t rows, columns;
    drape_i_market *t = &r->text;
    drape_status status;
    if (!drape_i_market_line(t)) return drape_i_market_fail(t, "the file ends before the line of sizes");
    if ((status = drape_i_market_count(t, "number of rows", &rows))) return status;
    if ((status = drape_i_market_count(t, "number of columns", &columns))) return status;
    r->entries = rows;
    if (r->format == COORDINATE && (status = drape_i_market_count(t, "number of entries", &r->entries)))
        return status;
    if ((status = drape_i_market_end_of_line(t))) return status;
    if (rows == r->count && columns == 1) return DRAPE_OK;
    return drape_i_market_fail(t, "%lld rows and %lld columns; expected %lld rows and one column", (long long)rows,
                               (long long)columns, (long long)r->count);
}

/* Of a coordinate file. */
static drape_status read_place(reader *r, int64_t *row) {
    int64_t i, j;
    drape_status status = drape_i_market_count(&r->text, "row", &i);
    if (!status) status = drape_i_market_count(&r->text, "column", &j);
    if (status) return status;
    *row = i - 1;
    if (i >= 1 && i <= r->count && j == 1) return DRAPE_OK;
    return drape_i_market_fail(&r->text, "entry (%lld, %lld) is outside a vector of %lld", (long long)i, (long long)j,
                               (long long)r->count);
}

static drape_status read_entry(reader *r, int64_t row) {
    double value;
    drape_status status = r->format == COORDINATE ? read_place(r, &row) : DRAPE_OK;
    if (!status) status = drape_i_market_value(&r->text, r->whole, &value);
    if (!status) status = drape_i_market_end_of_line(&r->text);
    if (status) return status;
    r->out[row] += value;
    if (isfinite(r->out[row])) return DRAPE_OK;
    return drape_i_market_fail(&r->text, "the entries of row %lld add up beyond the range of a double",
                               (long long)row + 1);
}

static drape_status read_entries(reader *r) {
    for (int64_t i = 0; i < r->count; i++) r->out[i] = 0;
    for (int64_t k = 0; k < r->entries; k++) {
        if (!drape_i_market_line(&r->text))
            return drape_i_market_fail(&r->text, "the file ends after %lld of %lld numbers", (long long)k,
                                       (long long)r->entries);
        drape_status status = read_entry(r, k);
        if (status) return status;
    }
    return drape_i_market_line(&r->text)
               ? drape_i_market_fail(&r->text, "more than the %lld numbers promised", (long long)r->entries)
               : DRAPE_OK;
}

static drape_status read_market(reader *r) {
    drape_i_c_locale locale;
    drape_status status = read_banner(r);
    if (!status) status = read_sizes(r);
    if (!status) status = drape_i_c_locale_enter(r->text.ctx, &locale);
    if (status) return status;
    status = read_entries(r);
    drape_i_c_locale_leave(&locale);
    return status;
}

/* ---- Doubles ---- */

static drape_status read_doubles(const reader *r) {
    const drape_i_market *t = &r->text;
    if (t->size % (int64_t)sizeof(double) || t->size / (int64_t)sizeof(double) != r->count)
        return drape_i_fail(t->ctx, DRAPE_ERROR_FORMAT,
                            "%s: no Matrix Market file, and %lld bytes are not %lld doubles", t->name,
                            (long long)t->size, (long long)r->count);
    if (t->size) memcpy(r->out, t->at, (size_t)t->size);
    for (int64_t i = 0; i < r->count; i++)
        if (!isfinite(r->out[i]))
            return drape_i_fail(t->ctx, DRAPE_ERROR_FORMAT, "%s: number %lld of %lld is not finite", t->name,
                                (long long)i + 1, (long long)r->count);
    return DRAPE_OK;
}

drape_status drape_vector_parse(drape_context *ctx, const char *name, const void *data, int64_t size, int64_t count,
                                double *out) {
    reader r = {.count = count, .out = out};
    if (!ctx || !name) return drape_i_missing(ctx, "vector", "name");
    if (count < 0 || (count && !out))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: no space for %lld numbers", name, (long long)count);
    drape_status status = drape_i_market_open(&r.text, ctx, name, data, size);
    if (status) return status;
    return drape_i_is_market(r.text.at, size) ? read_market(&r) : read_doubles(&r);
}

drape_status drape_vector_read(drape_context *ctx, const char *path, int64_t count, double *out) {
    char *data;
    int64_t size;
    if (!ctx || !path) return drape_i_missing(ctx, "vector", "path");
    drape_status status = drape_i_file_read(ctx, path, &data, &size);
    if (status) return status;
    status = drape_vector_parse(ctx, path, data, size, count, out);
    DRAPE_FREE(ctx, data, size + 1);
    return status;
}
