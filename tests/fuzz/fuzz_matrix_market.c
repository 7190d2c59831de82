/* Any bytes as a Matrix Market file: refused with a message, or a matrix that passes the check. No input leaves
 * memory behind, nor takes more than the documented multiple of its size. */
#include "drape/sparse.h"
#include "fuzz.h"

#include <string.h>

static void check_matrix(drape_context *ctx, const drape_builder *b) {
    drape_matrix *m;
    demand(drape_builder_finish(b, &m) == DRAPE_OK);
    drape_bsr3 A = drape_matrix_view(m);
    demand(drape_bsr3_check(ctx, &A) == DRAPE_OK);
    demand(A.rows == (drape_builder_rows(b) + 2) / 3);
    demand(9 * A.rowptr[A.rows] >= drape_builder_entries(b));
    for (int64_t k = 0; k < 9 * A.rowptr[A.rows]; k++) demand(A.val[k] - A.val[k] == 0);
    drape_matrix_destroy(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    drape_context *ctx = shared_context();
    int64_t before = drape_context_bytes(ctx);
    drape_builder *b;
    drape_status status = drape_matrix_market_parse(ctx, "fuzz", (const char *)data, (int64_t)size, &b);
    demand(status == DRAPE_OK || status == DRAPE_ERROR_FORMAT);
    demand((status == DRAPE_OK) == (b != NULL));
    if (status) demand(strncmp(drape_message(ctx), "fuzz:", 5) == 0 && !strchr(drape_message(ctx), '\n'));
    demand(drape_context_bytes(ctx) - before <= 32 * (65536 + (int64_t)size) + 64 * (int64_t)size + 1024);
    if (b) check_matrix(ctx, b);
    drape_builder_destroy(b);
    demand(drape_context_bytes(ctx) == before);
    return 0;
}
