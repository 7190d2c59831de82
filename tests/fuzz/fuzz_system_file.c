/* Any bytes as a system file: refused with a message, or a system whose arrays are the bytes. No input leaves memory
 * behind. */
#include "drape/sparse.h"
#include "fuzz.h"

#include <string.h>

/* Header and row offsets from the front, the four vectors from the back. */
static void check_bytes(const drape_system *s, const uint8_t *data, size_t size) {
    size_t n = (size_t)s->A.rows, vector = 24 * n;
    int64_t head[3] = {s->A.rows, s->A.rowptr[n], s->constrained};
    demand(memcmp(data + 8, head, sizeof head) == 0);
    demand(memcmp(data + 32, &s->h, 8) == 0);
    demand(memcmp(data + 40, s->A.rowptr, 8 * (n + 1)) == 0);
    demand(memcmp(data + size - vector, s->cur, vector) == 0);
    demand(memcmp(data + size - 2 * vector, s->rest, vector) == 0);
    demand(memcmp(data + size - 3 * vector, s->z, vector) == 0);
    demand(memcmp(data + size - 4 * vector, s->b, vector) == 0);
    demand(memcmp(data + size - 7 * vector, s->S, 3 * vector) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    drape_context *ctx = shared_context();
    int64_t before = drape_context_bytes(ctx);
    drape_system system;
    drape_status status = drape_system_parse(ctx, "fuzz", data, (int64_t)size, &system);
    demand(status == DRAPE_OK || status == DRAPE_ERROR_FORMAT);
    if (status) demand(strncmp(drape_message(ctx), "fuzz:", 5) == 0 && !system.A.rowptr);
    if (!status) {
        demand(drape_bsr3_check(ctx, &system.A) == DRAPE_OK);
        check_bytes(&system, data, size);
    }
    drape_system_clear(ctx, &system);
    demand(drape_context_bytes(ctx) == before);
    return 0;
}
