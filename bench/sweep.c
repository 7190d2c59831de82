/* sweep.c: reads memory as fast as it comes: 64-bit words added up in 32 independent sums, which every compiler turns
 * into vector loads. Threads spin on a counter between sweeps, so that starting one costs next to nothing. */
#include "bench.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

enum { MOST_THREADS = 64, SUMS = 32 };

struct sweeper {
    int threads, count;
    const sweep_range *ranges;
    atomic_int generation, working;
    atomic_bool stop;
    atomic_ullong sink; /* keeps the sums alive */
    pthread_t thread[MOST_THREADS];
    struct start {
        sweeper *sweeper;
        int index;
    } start[MOST_THREADS];
};

static uint64_t read_words(const uint64_t *p, int64_t n) {
    uint64_t s[SUMS] = {0}, total = 0;
    int64_t i = 0;
    for (; i + SUMS <= n; i += SUMS)
        for (int k = 0; k < SUMS; k++) s[k] += p[i + k];
    for (; i < n; i++) total += p[i];
    for (int k = 0; k < SUMS; k++) total += s[k];
    return total;
}

static void sweep(sweeper *s, int index) {
    uint64_t total = 0;
    for (int r = 0; r < s->count; r++) {
        int64_t words = s->ranges[r].bytes / 8;
        int64_t begin = words * index / s->threads, end = words * (index + 1) / s->threads;
        total += read_words((const uint64_t *)s->ranges[r].data + begin, end - begin);
    }
    atomic_fetch_add(&s->sink, total);
}

static void *work(void *argument) {
    struct start *start = argument;
    sweeper *s = start->sweeper;
    for (int seen = 0;;) {
        for (int spins = 0; atomic_load(&s->generation) == seen; spins++)
            if (spins > 20000) sched_yield();
        seen++;
        if (atomic_load(&s->stop)) return NULL;
        sweep(s, start->index);
        atomic_fetch_sub(&s->working, 1);
    }
}

sweeper *sweeper_create(int threads) {
    sweeper *s = calloc(1, sizeof *s);
    if (!s) abort();
    s->threads = threads;
    for (int i = 1; i < threads; i++) {
        s->start[i] = (struct start){s, i};
        if (pthread_create(&s->thread[i], NULL, work, &s->start[i])) abort();
    }
    return s;
}

void sweeper_destroy(sweeper *s) {
    atomic_store(&s->stop, true);
    atomic_fetch_add(&s->generation, 1);
    for (int i = 1; i < s->threads; i++) pthread_join(s->thread[i], NULL);
    free(s);
}

void sweeper_run(sweeper *s, const sweep_range *ranges, int count) {
    s->ranges = ranges;
    s->count = count;
    atomic_store(&s->working, s->threads - 1);
    atomic_fetch_add(&s->generation, 1);
    sweep(s, 0);
    while (atomic_load(&s->working) > 0) {
    }
}
