/* counted.h: a context whose memory is counted, and the contact of a step, for benchmarks of whole steps. */
#ifndef DRAPE_BENCH_COUNTED_H
#define DRAPE_BENCH_COUNTED_H

#include "drape/sim.h"

#include <pthread.h>

typedef struct bench_counted {
    pthread_mutex_t lock;
    int64_t now, most; /* bytes */
} bench_counted;
#define BENCH_COUNTED                                                                                                \
    { .lock = PTHREAD_MUTEX_INITIALIZER }

/* Everything that drape asks for goes through `c`, which must outlive the context. */
drape_context *bench_counted_context(int32_t threads, bench_counted *c);
/* s: all stages of contact in a step. */
double bench_contact_seconds(const drape_certificate *c);

#endif
