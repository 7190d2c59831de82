/* matrix_market_write.c: writing Matrix Market coordinate files.
 *
 * All nine values of a block are written, zeros too, so that reading gives the same pattern and the same bits: 17
 * significant digits name a double uniquely. Of a symmetric matrix the lower triangle is written: the blocks left
 * of the diagonal, and six values of each diagonal block.
 *
 * Written line by line under a temporary name; the final name never holds half a file. The decimal point of printf
 * is the locale's, so the thread's locale is "C" meanwhile. Some 25 bytes an entry. */
#include "base/file.h"
#include "base/text.h"
#include "sparse/matrix.h"

#include <math.h>

enum { LINE = 128 };

static drape_status check(drape_context *ctx, const char *path, const drape_bsr3 *A) {
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
    drape_status status = check(ctx, path, A);
    if (status) return status;
    drape_i_c_locale locale;
    status = drape_i_c_locale_enter(ctx, &locale);
    if (status) return status;
    status = write_file(ctx, path, A, symmetric);
    drape_i_c_locale_leave(&locale);
    return status;
}
