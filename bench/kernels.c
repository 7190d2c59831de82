/* kernels.c: the two kernels that a step lives on, as ratios.
 *
 *   sweep / multiply   time of a vectorised read-only sweep over rowptr, col and val, over the time of y = A x: the
 * share of the memory's bandwidth that the multiply reaches (it reads x and writes y besides) assembly           time
 * of filling A and b, in multiplies 1 / 2 threads      how much faster two threads are
 *
 * The systems are those of `drooping`, crumpled a little so that no term is zero. */
#include "bench.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- The sweep ----
 *
 * Reads memory as fast as it comes: 64-bit words added up in 32 independent sums, which every compiler turns into
 * vector loads. Threads spin on a counter between sweeps, so that starting one costs next to nothing. */

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

/* ---- The kernels ---- */

/* A cloth with its matrix and vectors in one context. */
typedef struct subject {
    drape_context *ctx;
    drape_loaded_scene *loaded;
    drape_scene *scene;
    drape_cloth *cloth;
    drape_assembler *forces;
    drape_matrix *matrix;
    drape_bsr3 A;
    double *x, *v, *f, *Kv, *in, *out;
} subject;

static double *vector(int64_t n) {
    double *a = aligned_alloc(64, (size_t)(n * 8 + 63) / 64 * 64);
    if (!a) abort();
    for (int64_t i = 0; i < n; i++) a[i] = 0;
    return a;
}

static void assemble(subject *s) {
    const double h = 0.002;
    drape_assembly what = {
        .x = s->x, .v = s->v, .mass = 1, .damping = h, .stiffness = h * h, .force = s->f, .stiff_v = s->Kv};
    bench_check(s->ctx, drape_assembler_run(s->forces, &what, s->matrix));
}

static subject make_subject(int32_t resolution, int32_t threads, drape_damping_jacobian damping) {
    subject s = {.ctx = bench_context(threads)};
    bench_check(s.ctx, drape_scene_builtin(s.ctx, "drooping", resolution, &s.loaded));
    s.scene = drape_loaded_scene_edit(s.loaded);
    s.scene->cloth.damping_jacobian = damping;
    bench_check(s.ctx, drape_cloth_create(s.ctx, s.scene->pieces, 1, &s.scene->cloth, &s.cloth));
    bench_check(s.ctx, drape_assembler_create(s.cloth, NULL, &s.forces));
    bench_check(s.ctx, drape_assembler_matrix(s.forces, &s.matrix));
    s.A = drape_matrix_view(s.matrix);
    int64_t n = 3 * (int64_t)s.A.rows;
    s.x = vector(n), s.v = vector(n), s.f = vector(n), s.Kv = vector(n), s.in = vector(n), s.out = vector(n);
    for (int64_t i = 0; i < n; i++) {
        s.x[i] = s.scene->pieces[0].rest[i] + 0.1 / resolution * sin((double)(i * i % 1013));
        s.v[i] = 0.1 * sin((double)i);
        s.in[i] = cos((double)i);
    }
    assemble(&s);
    return s;
}

static void free_subject(subject *s) {
    free(s->x), free(s->v), free(s->f), free(s->Kv), free(s->in), free(s->out);
    drape_matrix_destroy(s->matrix);
    drape_assembler_destroy(s->forces);
    drape_cloth_destroy(s->cloth);
    drape_loaded_scene_destroy(s->loaded);
    drape_context_destroy(s->ctx);
}

/* Repeats small work so that one sample takes about a millisecond. */
static double time_multiply(subject *s, int times) {
    double begin = bench_seconds();
    for (int i = 0; i < times; i++) bench_check(s->ctx, drape_multiply(s->ctx, &s->A, s->in, s->out));
    return (bench_seconds() - begin) / times;
}

static double time_assembly(subject *s) {
    double begin = bench_seconds();
    assemble(s);
    return bench_seconds() - begin;
}

static double time_sweep(sweeper *w, const subject *s, int times) {
    int64_t blocks = s->A.rowptr[s->A.rows];
    sweep_range ranges[] = {
        {s->A.rowptr, 8 * ((int64_t)s->A.rows + 1)}, {s->A.col, 4 * blocks}, {s->A.val, 72 * blocks}};
    double begin = bench_seconds();
    for (int i = 0; i < times; i++) sweeper_run(w, ranges, 3);
    return (bench_seconds() - begin) / times;
}

static void compare_with_sweep(int32_t resolution, int32_t threads) {
    subject s = make_subject(resolution, threads, DRAPE_DAMPING_SYMMETRIC);
    sweeper *w = sweeper_create(threads);
    double sweep[REPEATS], multiply[REPEATS], assembly[REPEATS];
    int64_t bytes = 76 * s.A.rowptr[s.A.rows] + 8 * (int64_t)s.A.rows;
    int times = (int)(40000000 / bytes) + 1;
    time_multiply(&s, times), time_sweep(w, &s, times);
    for (int i = 0; i < REPEATS; i++) {
        sweep[i] = time_sweep(w, &s, times);
        multiply[i] = time_multiply(&s, times);
        assembly[i] = time_assembly(&s);
    }
    double a = bench_median(sweep, REPEATS), b = bench_median(multiply, REPEATS), c = bench_median(assembly, REPEATS);
    bench_row();
    bench_count("vertices", "%9d", s.A.rows);
    bench_count("threads", " %8d", threads);
    bench_number("sweep", "GB/s", " %10.1f", 1e-9 * (double)bytes / a);
    bench_number("multiply", "GB/s", " %13.1f", 1e-9 * (double)bytes / b);
    bench_number("sweep / multiply", "", " %16.2f", a / b);
    bench_number("assembly", "ms", " %12.4f", 1e3 * c);
    bench_number("assembly in multiplies", "", " %22.1f", c / b);
    bench_end("\n");
    sweeper_destroy(w);
    free_subject(&s);
}

/* The sweep's own ratio says what the memory allows. */
static void compare_threads(int32_t resolution) {
    subject s[2] = {make_subject(resolution, 1, DRAPE_DAMPING_SYMMETRIC),
                    make_subject(resolution, 2, DRAPE_DAMPING_SYMMETRIC)};
    sweeper *w[2] = {sweeper_create(1), sweeper_create(2)};
    double sweep[2][REPEATS], multiply[2][REPEATS], assembly[2][REPEATS], ratio[3];
    for (int i = 0; i < REPEATS; i++)
        for (int t = 0; t < 2; t++) {
            sweep[t][i] = time_sweep(w[t], &s[t], 3);
            multiply[t][i] = time_multiply(&s[t], 3);
            assembly[t][i] = time_assembly(&s[t]);
        }
    ratio[0] = bench_median(sweep[0], REPEATS) / bench_median(sweep[1], REPEATS);
    ratio[1] = bench_median(multiply[0], REPEATS) / bench_median(multiply[1], REPEATS);
    ratio[2] = bench_median(assembly[0], REPEATS) / bench_median(assembly[1], REPEATS);
    bench_table("one thread / two threads");
    bench_row();
    bench_count("vertices", "%9d vertices, one thread / two threads:", s[0].A.rows);
    bench_number("sweep", "", " sweep %.2f", ratio[0]);
    bench_number("multiply", "", ", multiply %.2f", ratio[1]);
    bench_number("assembly", "", ", assembly %.2f", ratio[2]);
    bench_end("\n");
    for (int t = 0; t < 2; t++) {
        sweeper_destroy(w[t]);
        free_subject(&s[t]);
    }
}

/* What the part of the damping's Jacobian that is not symmetric costs. */
static void compare_damping(int32_t resolution) {
    subject s[2] = {make_subject(resolution, 1, DRAPE_DAMPING_SYMMETRIC),
                    make_subject(resolution, 1, DRAPE_DAMPING_FULL)};
    double assembly[2][REPEATS];
    for (int i = 0; i < REPEATS; i++)
        for (int k = 0; k < 2; k++) assembly[k][i] = time_assembly(&s[k]);
    bench_table("full damping Jacobian / symmetric");
    bench_row();
    bench_count("vertices", "%9d vertices, ", s[0].A.rows);
    bench_number("assembly", "", "assembly with the full damping Jacobian / with the symmetric: %.2f",
                 bench_median(assembly[1], REPEATS) / bench_median(assembly[0], REPEATS));
    bench_end("\n");
    for (int k = 0; k < 2; k++) free_subject(&s[k]);
}

void bench_kernels(const bench_options *options) {
    const int32_t sides[] = {101, 301, 601}, count = options->quick ? 1 : 3, middle = options->quick ? 0 : 1;
    bench_table("kernels");
    printf("%9s %8s %10s %13s %16s %12s %22s\n", "vertices", "threads", "sweep GB/s", "multiply GB/s",
           "sweep / multiply", "assembly ms", "assembly in multiplies");
    for (int32_t threads = 1; threads <= 2; threads++)
        for (int32_t i = 0; i < count; i++) compare_with_sweep(sides[i], threads);
    compare_threads(sides[middle]);
    for (int32_t i = 0; i <= middle; i++) compare_damping(sides[i]);
}
