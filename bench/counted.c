/* counted.c: see counted.h. */
#include "counted.h"

#include <stdlib.h>

enum { ALIGNMENT = 64 };

static void count_bytes(bench_counted *c, int64_t bytes) {
    pthread_mutex_lock(&c->lock);
    c->now += bytes;
    if (c->now > c->most) c->most = c->now;
    pthread_mutex_unlock(&c->lock);
}

static void *counted_alloc(void *user, size_t bytes) {
    void *memory = aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    if (memory) count_bytes(user, (int64_t)bytes);
    return memory;
}

static void counted_free(void *user, void *memory, size_t bytes) {
    if (memory) count_bytes(user, -(int64_t)bytes);
    free(memory);
}

drape_context *bench_counted_context(int32_t threads, bench_counted *c) {
    drape_context_settings settings = drape_context_defaults();
    drape_context *ctx = NULL;
    settings.threads = threads;
    settings.allocator = (drape_allocator){counted_alloc, counted_free, c};
    if (drape_context_create(&settings, &ctx)) abort();
    return ctx;
}

double bench_contact_seconds(const drape_certificate *c) {
    return c->contact.broad + c->contact.narrow + c->contact.response + c->contact.touch + c->contact.gate;
}
