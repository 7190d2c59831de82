/* Any bytes as a vector: refused with a message, or as many finite numbers as were wanted. Nothing is allocated, and
 * nothing written after the numbers. The first byte says how many are wanted. */
#include "drape/sparse.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    drape_context *ctx = shared_context();
    int64_t before = drape_context_bytes(ctx), count = size ? data[0] % 32 : 0;
    double *out = malloc((size_t)count * sizeof *out + !count); /* exactly: the sanitizer watches its end */
    demand(out != NULL);
    const uint8_t *text = size ? data + 1 : data;
    int64_t length = size ? (int64_t)size - 1 : 0;
    drape_status status = drape_vector_parse(ctx, "fuzz", text, length, count, out);
    demand(status == DRAPE_OK || status == DRAPE_ERROR_FORMAT);
    if (status) demand(strncmp(drape_message(ctx), "fuzz:", 5) == 0 && !strchr(drape_message(ctx), '\n'));
    for (int64_t i = 0; !status && i < count; i++) demand(out[i] - out[i] == 0);
    demand(drape_context_bytes(ctx) == before);
    free(out);
    return 0;
}
