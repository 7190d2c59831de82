/* parallel.c: a pool of threads over pthreads, and on it the parallel loop and the sum. */
#include "base/parallel.h"

#include "base/machine.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

/* ---- The pool ---- */

/* Threads that spin briefly for the next job, then sleep.
 *
 * A job is `count` tasks. Thread t first takes its own share, tasks [count t/T, count (t+1)/T), so that the same
 * thread uses the same memory in every loop. Then it helps the others. A task is claimed by an atomic increment of
 * the share's counter, so each runs once. Which thread runs a task is left open: nothing that is computed may depend
 * on it.
 *
 * `state` counts: odd while a job is open, even while none is. A helper that sees an open job enters it by raising
 * `inside` and looking at `state` again: where the job was closed meanwhile, it leaves without touching anything. The
 * caller closes the job once no task is left to claim, and waits for those inside. So a helper that is not running
 * (other programs have its processor) costs nothing: the caller does its work and does not wait for it.
 *
 * A waiting thread spins for about 200 microseconds, then sleeps on a condition variable. Loops of a CG iteration
 * follow each other within that time, as does the work of the caller between two loops; waking costs up to 100
 * microseconds. Where threads share a processor, the one that is waited for runs only once the waiting one gives way,
 * so spinning yields now and then, and is shorter.
 *
 * A thread that is woken may be put on the processor of the thread that woke it, while another processor is idle. The
 * system prefers that for threads that talk much and work little. It takes milliseconds to correct this, as long as a
 * whole job here. So a helper that meets the caller on its processor keeps off that one from then on. */

enum { SPINS = 10000, SPINS_IF_SHARED = 1000, SPINS_PER_YIELD = 50, MAX_THREADS = 256 };

typedef struct share {
    _Alignas(64) atomic_int next;
    int32_t end;
} share;

struct drape_i_pool {
    share shares[MAX_THREADS];
    _Alignas(64) atomic_uint state;
    _Alignas(64) atomic_int inside; /* helpers in the present job, or about to find that they came too late */
    atomic_int sleepers;            /* helpers that sleep */
    atomic_bool waiting;            /* the caller sleeps until no thread is inside */
    atomic_bool stop;
    atomic_int caller; /* the processor it was on when it opened the job; -1: not known */
    drape_i_processors allowed;
    void (*task)(void *data, int32_t index);
    void *data;
    int32_t threads, spins;
    int32_t started; /* helpers that exist */
    pthread_mutex_t mutex;
    pthread_cond_t wake, done;
    pthread_t helpers[MAX_THREADS];
    struct helper_start {
        drape_i_pool *pool;
        int32_t index;
    } starts[MAX_THREADS];
};

static void work(drape_i_pool *pool, int32_t self) {
    for (int32_t k = 0; k < pool->threads; k++) {
        share *s = &pool->shares[(self + k) % pool->threads];
        for (;;) {
            int32_t i = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed);
            if (i >= s->end) break;
            pool->task(pool->data, i);
        }
    }
}

static void spin(int32_t round) {
    DRAPE_PAUSE();
    if (round % SPINS_PER_YIELD == SPINS_PER_YIELD - 1) sched_yield();
}

static bool is_open(unsigned state) { return state % 2 == 1; }

/* The state of a job that is open and was not seen yet. */
static unsigned wait_for_job(drape_i_pool *pool, unsigned seen) {
    for (int32_t i = 0; i < pool->spins; i++) {
        unsigned now = atomic_load_explicit(&pool->state, memory_order_acquire);
        if (now != seen && is_open(now)) return now;
        spin(i);
    }
    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_add(&pool->sleepers, 1);
    unsigned now;
    while (now = atomic_load(&pool->state), now == seen || !is_open(now))
        pthread_cond_wait(&pool->wake, &pool->mutex);
    atomic_fetch_sub(&pool->sleepers, 1);
    pthread_mutex_unlock(&pool->mutex);
    return now;
}

static bool has_processors(const drape_i_pool *pool) { return pool->allowed.count >= pool->threads; }

static void keep_apart(const drape_i_pool *pool) {
    int32_t caller = atomic_load_explicit(&pool->caller, memory_order_relaxed);
    if (caller < 0 || !has_processors(pool) || drape_i_processor() != caller) return;
    drape_i_processors_avoid(&pool->allowed, caller);
}

static void leave(drape_i_pool *pool) {
    if (atomic_fetch_sub(&pool->inside, 1) != 1 || !atomic_load(&pool->waiting)) return;
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_signal(&pool->done);
    pthread_mutex_unlock(&pool->mutex);
}

static void *helper_main(void *argument) {
    struct helper_start *start = argument;
    drape_i_pool *pool = start->pool;
    unsigned seen = 0;
    keep_apart(pool);
    for (;;) {
        seen = wait_for_job(pool, seen);
        if (atomic_load(&pool->stop)) return NULL;
        keep_apart(pool); /* before it is inside: moving takes long, and no thread should wait for it */
        atomic_fetch_add(&pool->inside, 1);
        if (atomic_load(&pool->state) == seen) work(pool, start->index);
        leave(pool);
    }
}

static void open_job(drape_i_pool *pool) {
    atomic_store_explicit(&pool->caller, drape_i_processor(), memory_order_relaxed);
    atomic_fetch_add(&pool->state, 1);
    if (atomic_load(&pool->sleepers) == 0) return;
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
}

static void close_job(drape_i_pool *pool) {
    atomic_fetch_add(&pool->state, 1);
    for (int32_t i = 0; i < pool->spins; i++) {
        if (atomic_load_explicit(&pool->inside, memory_order_acquire) == 0) return;
        spin(i);
    }
    pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->waiting, true);
    while (atomic_load(&pool->inside) != 0) pthread_cond_wait(&pool->done, &pool->mutex);
    atomic_store(&pool->waiting, false);
    pthread_mutex_unlock(&pool->mutex);
}

static void run_in_pool(drape_i_pool *pool, int32_t count, void (*task)(void *data, int32_t index), void *data) {
    DRAPE_ASSERT(!is_open(atomic_load(&pool->state))); /* no loop starts from inside a loop */
    pool->task = task;
    pool->data = data;
    for (int32_t t = 0; t < pool->threads; t++) {
        int32_t begin = (int32_t)((int64_t)count * t / pool->threads);
        atomic_store_explicit(&pool->shares[t].next, begin, memory_order_relaxed);
        pool->shares[t].end = (int32_t)((int64_t)count * (t + 1) / pool->threads);
    }
    open_job(pool);
    work(pool, 0);
    close_job(pool);
}

void drape_i_pool_destroy(drape_context *ctx, drape_i_pool *pool) {
    if (!pool) return;
    atomic_store(&pool->stop, true);
    open_job(pool);
    for (int32_t t = 0; t < pool->started; t++) pthread_join(pool->helpers[t], NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->mutex);
    DRAPE_FREE(ctx, pool, 1);
}

drape_status drape_i_pool_create(drape_context *ctx, int32_t threads, drape_i_pool **out) {
    drape_i_pool *pool;
    *out = NULL;
    DRAPE_ASSERT(threads > 1 && threads <= MAX_THREADS);
    if (!DRAPE_NEW(ctx, pool, 1)) return DRAPE_ERROR_MEMORY;
    pool->threads = threads;
    pool->allowed = drape_i_processors_allowed();
    pool->spins = has_processors(pool) ? SPINS : SPINS_IF_SHARED;
    atomic_store(&pool->caller, drape_i_processor());
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->done, NULL);
    for (int32_t t = 0; t < threads - 1; t++) {
        pool->starts[t] = (struct helper_start){pool, t + 1};
        int failure = pthread_create(&pool->helpers[t], NULL, helper_main, &pool->starts[t]);
        if (failure) {
            drape_i_pool_destroy(ctx, pool);
            return drape_i_fail(ctx, DRAPE_ERROR_MEMORY, "cannot start thread %d of %d: %s", t + 2, threads,
                                strerror(failure));
        }
        pool->started++;
    }
    *out = pool;
    return DRAPE_OK;
}

/* ---- Loops and sums: chunk bounds come from n and grain alone; sums are added in chunk order ---- */

int64_t drape_i_chunk_length(int64_t n, int64_t grain) {
    int64_t length = (n + DRAPE_I_CHUNKS - 1) / DRAPE_I_CHUNKS;
    if (length < grain) length = grain;
    if (length >= 8) length = (length + 7) / 8 * 8;
    return length < 1 ? 1 : length;
}

void drape_i_tasks(drape_context *ctx, int32_t count, void (*task)(void *data, int32_t index), void *data) {
    if (count > 1 && ctx->scheduler.run) ctx->scheduler.run(ctx->scheduler.user, count, task, data);
    else if (count > 1 && ctx->pool) run_in_pool(ctx->pool, count, task, data);
    else
        for (int32_t i = 0; i < count; i++) task(data, i);
}

typedef struct chunked {
    int64_t n, length;
    drape_i_loop_fn loop;
    drape_i_sum_fn sum;
    void *data;
    double sums[DRAPE_I_CHUNKS][DRAPE_I_SUMS];
} chunked;

static void run_chunk(void *data, int32_t index) {
    chunked *c = data;
    int64_t begin = index * c->length;
    int64_t end = begin + c->length < c->n ? begin + c->length : c->n;
    DRAPE_ASSERT(index >= 0 && begin < end); /* a host's scheduler must stay within its count */
    if (c->loop) {
        c->loop(c->data, begin, end);
        return;
    }
    double sums[DRAPE_I_SUMS] = {0}; /* on the stack: neighbours in c->sums share cache lines */
    c->sum(c->data, begin, end, sums);
    for (int32_t k = 0; k < DRAPE_I_SUMS; k++) c->sums[index][k] = sums[k];
}

static int32_t chunk_count(const chunked *c) {
    int64_t count = (c->n + c->length - 1) / c->length;
    DRAPE_ASSERT(c->n >= 0 && count <= DRAPE_I_CHUNKS);
    return (int32_t)count;
}

void drape_i_loop(drape_context *ctx, int64_t n, int64_t grain, drape_i_loop_fn fn, void *data) {
    chunked c;
    c.n = n;
    c.length = drape_i_chunk_length(n, grain);
    c.loop = fn;
    c.data = data;
    drape_i_tasks(ctx, chunk_count(&c), run_chunk, &c);
}

void drape_i_sum(drape_context *ctx, int64_t n, int64_t grain, drape_i_sum_fn fn, void *data, int32_t count,
                 double *out) {
    chunked c;
    DRAPE_ASSERT(count >= 1 && count <= DRAPE_I_SUMS);
    c.n = n;
    c.length = drape_i_chunk_length(n, grain);
    c.loop = NULL;
    c.sum = fn;
    c.data = data;
    int32_t chunks = chunk_count(&c);
    drape_i_tasks(ctx, chunks, run_chunk, &c);
    for (int32_t k = 0; k < count; k++) {
        out[k] = 0;
        for (int32_t i = 0; i < chunks; i++) out[k] += c.sums[i][k];
    }
}
