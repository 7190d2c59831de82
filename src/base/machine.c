/* machine.c: what the machine and its system offer: processors, vector instructions, large pages, a clock, and how
 * fast memory can be read. Nothing is cached, because nothing is global. */
#define _GNU_SOURCE /* sched_getcpu, sched_setaffinity, madvise */
#include "base/machine.h"

#include "base/parallel.h"
#include "base/simd_level.h"
#include "base/timer.h"

#include <stdlib.h>
#include <time.h>

#if defined(__linux__)
#include <sched.h>
#include <sys/mman.h>
#endif

/* ---- Processors ---- */

#if defined(__linux__)

static bool has_processor(const drape_i_processors *p, int32_t processor) {
    return processor >= 0 && processor < DRAPE_I_PROCESSORS && p->word[processor / 64] >> (processor % 64) & 1;
}

drape_i_processors drape_i_processors_allowed(void) {
    drape_i_processors allowed = {.count = 0};
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set)) return allowed;
    for (int32_t i = 0; i < DRAPE_I_PROCESSORS && i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET((size_t)i, &set)) continue;
        allowed.word[i / 64] |= UINT64_C(1) << (i % 64);
        allowed.count++;
    }
    return allowed;
}

int32_t drape_i_processor(void) { return (int32_t)sched_getcpu(); }

void drape_i_processors_avoid(const drape_i_processors *allowed, int32_t processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (allowed->count < 2 || !has_processor(allowed, processor)) return;
    for (int32_t i = 0; i < DRAPE_I_PROCESSORS && i < CPU_SETSIZE; i++)
        if (i != processor && has_processor(allowed, i)) CPU_SET((size_t)i, &set);
    sched_setaffinity(0, sizeof set, &set); /* a refusal changes nothing */
}

#else

drape_i_processors drape_i_processors_allowed(void) { return (drape_i_processors){.count = 0}; }
int32_t drape_i_processor(void) { return -1; }
void drape_i_processors_avoid(const drape_i_processors *allowed, int32_t processor) {
    (void)allowed;
    (void)processor;
}

#endif

/* ---- Vector instructions ---- */

bool drape_i_simd_available(drape_simd level) {
    if (level == DRAPE_SIMD_BASELINE) return true;
#if defined(__x86_64__) && !defined(DRAPE_BASELINE_ONLY)
    if (level == DRAPE_SIMD_AVX2) return __builtin_cpu_supports("avx2");
    if (level == DRAPE_SIMD_AVX512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512dq");
#endif
    return false;
}

drape_simd drape_i_simd_best(void) {
    if (drape_i_simd_available(DRAPE_SIMD_AVX512)) return DRAPE_SIMD_AVX512;
    if (drape_i_simd_available(DRAPE_SIMD_AVX2)) return DRAPE_SIMD_AVX2;
    return DRAPE_SIMD_BASELINE;
}

const char *drape_simd_name(drape_simd simd) {
    switch (simd) {
    case DRAPE_SIMD_BEST: return "best";
#if defined(__aarch64__)
    case DRAPE_SIMD_BASELINE: return "neon";
#else
    case DRAPE_SIMD_BASELINE: return "sse2";
#endif
    case DRAPE_SIMD_AVX2: return "avx2";
    case DRAPE_SIMD_AVX512: return "avx512";
    default: return NULL;
    }
}

/* ---- Memory ---- */

enum { LINE = 64 };

#if defined(__linux__) && defined(MADV_HUGEPAGE)

enum { PAGE = 2 << 20 };

/* Only whole huge pages are requested, so no additional memory is taken. A refusal changes nothing. */
static void *alloc_large(size_t bytes) {
    void *memory = NULL;
    if (posix_memalign(&memory, PAGE, bytes)) return NULL;
    madvise(memory, bytes / PAGE * PAGE, MADV_HUGEPAGE);
    return memory;
}

#else

enum { PAGE = 0 };
static void *alloc_large(size_t bytes) { return aligned_alloc(LINE, bytes); }

#endif

void *drape_i_libc_alloc(size_t bytes) {
    size_t whole = (bytes + LINE - 1) / LINE * LINE; /* it takes whole lines */
    return PAGE > 0 && whole >= (size_t)PAGE ? alloc_large(whole) : aligned_alloc(LINE, whole);
}

/* ---- Time ---- */

double drape_i_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

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
