/* Any bytes as queries of collision detection: refused with a message, or pairs of finite coordinates whose times of
 * contact are times. No input leaves memory behind. */
#include "drape/io.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

static void check_queries(drape_context *ctx, const drape_ccd_queries *q) {
    const drape_ccd_pairs *p = &q->pairs;
    double *time = malloc((size_t)p->pairs * sizeof *time + 1);
    demand(time != NULL && p->pairs >= 1 && p->vertices == 4 * p->pairs);
    for (int64_t i = 0; i < 3 * (int64_t)p->vertices; i++)
        demand(p->start[i] - p->start[i] == 0 && p->end[i] - p->end[i] == 0);
    demand(drape_ccd_times(ctx, p, NULL, time) == DRAPE_OK);
    for (int64_t i = 0; i < p->pairs; i++) {
        demand(q->truth[i] >= -1 && q->truth[i] <= 1 && q->time[i] != q->time[i]);
        demand((time[i] >= 0 && time[i] <= 1) || time[i] == DRAPE_CCD_APART);
    }
    free(time);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const names[] = {"1ee.csv", "1vf.csv"};
    drape_context *ctx = shared_context();
    int64_t before = drape_context_bytes(ctx);
    for (int i = 0; i < 2; i++) {
        drape_ccd_queries *q;
        drape_status status = drape_ccd_parse(ctx, names[i], data, (int64_t)size, NULL, &q);
        demand(status == DRAPE_OK || status == DRAPE_ERROR_FORMAT);
        demand((status == DRAPE_OK) == (q != NULL));
        if (status) demand(strncmp(drape_message(ctx), names[i], 7) == 0 && !strchr(drape_message(ctx), '\n'));
        if (q) check_queries(ctx, q);
        drape_ccd_queries_destroy(q);
        demand(drape_context_bytes(ctx) == before);
    }
    return 0;
}
