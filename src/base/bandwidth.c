/* bandwidth.c: how fast memory can be read, for reports. */
#include "base/parallel.h"
#include "base/timer.h"

enum { SUMS = 32, REPEATS = 5, GRAIN = 4096 };

/* Independent sums, which a compiler turns into vector loads. Sums of bits: nothing is rounded. */
static void read_words(void *data, int64_t begin, int64_t end, double *sums) {
    const uint64_t *p = data;
    uint64_t s[SUMS] = {0}, total = 0;
    int64_t i = begin;
    for (; i + SUMS <= end; i += SUMS)
        for (int k = 0; k < SUMS; k++) s[k] += p[i + k];
    for (; i < end; i++) total += p[i];
    for (int k = 0; k < SUMS; k++) total += s[k];
    sums[0] += (double)(total & 1);
}

double drape_read_bandwidth(drape_context *ctx, int64_t bytes) {
    int64_t words = bytes / (int64_t)sizeof(uint64_t);
    uint64_t *p;
    double least = 0, ignored;
    if (!ctx || words <= 0 || !DRAPE_NEW(ctx, p, words)) return 0;
    for (int k = 0; k < REPEATS; k++) {
        double begin = drape_i_seconds();
        drape_i_sum(ctx, words, GRAIN, read_words, p, 1, &ignored);
        double seconds = drape_i_seconds() - begin;
        if (k == 0 || seconds < least) least = seconds;
    }
    DRAPE_FREE(ctx, p, words);
    return least > 0 ? (double)words * sizeof *p / least : 0;
}
