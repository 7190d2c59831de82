/* processors.c: see processors.h. */
#define _GNU_SOURCE /* sched_getcpu, sched_setaffinity */
#include "base/processors.h"

#include <stdbool.h>

#if defined(__linux__)

#include <sched.h>

static bool has(const drape_i_processors *p, int32_t processor) {
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
    if (allowed->count < 2 || !has(allowed, processor)) return;
    for (int32_t i = 0; i < DRAPE_I_PROCESSORS && i < CPU_SETSIZE; i++)
        if (i != processor && has(allowed, i)) CPU_SET((size_t)i, &set);
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
