/* matrix_market.h: lines, words and numbers of Matrix Market files, for the readers of matrices and of vectors. */
#ifndef DRAPE_SPARSE_MATRIX_MARKET_H
#define DRAPE_SPARSE_MATRIX_MARKET_H

#include "base/context.h"
#include "base/text.h"

/* A text being read, line by line. */
typedef struct drape_i_market {
    drape_context *ctx;
    const char *name;
    const char *at, *end;    /* of the file: not read yet */
    const char *text, *stop; /* of the line: not read yet */
    int64_t line, size;
} drape_i_market;

drape_status drape_i_market_open(drape_i_market *m, drape_context *ctx, const char *name, const char *data,
                                 int64_t size);
/* "name:line: what", DRAPE_ERROR_FORMAT. */
DRAPE_PRINTF(2, 3)
drape_status drape_i_market_fail(const drape_i_market *m, const char *format, ...);

/* Whether a text begins as all Matrix Market files do. */
bool drape_i_is_market(const char *data, int64_t size);
/* The first two words, "%%MatrixMarket matrix". */
drape_status drape_i_market_banner(drape_i_market *m);
/* The index of the next word among names, which a NULL ends. */
drape_status drape_i_market_choose(drape_i_market *m, const char *what, const char *const *names,
                                   const char *can_read, int *out);

/* The next line that is neither blank nor a comment; false: there is none. */
bool drape_i_market_line(drape_i_market *m);
/* Digits only; what does not fit becomes INT64_MAX, and is refused by the limits. */
drape_status drape_i_market_count(drape_i_market *m, const char *what, int64_t *out);
/* A finite number, in the present locale (base/text.h). */
drape_status drape_i_market_value(drape_i_market *m, bool whole, double *out);
drape_status drape_i_market_end_of_line(drape_i_market *m);

#endif
