/* machine.h: processors and memory of the machine. (Its clock: timer.h; its vector instructions: simd_level.h.) */
#ifndef DRAPE_BASE_MACHINE_H
#define DRAPE_BASE_MACHINE_H

#include <stddef.h>
#include <stdint.h>

/* ---- Which processor a thread runs on, and which ones it may; where the system does not tell, nothing is known and
 * nothing is changed ---- */

enum { DRAPE_I_PROCESSORS = 1024, DRAPE_I_PROCESSOR_WORDS = DRAPE_I_PROCESSORS / 64 };

typedef struct drape_i_processors {
    uint64_t word[DRAPE_I_PROCESSOR_WORDS]; /* processor p is bit p % 64 of word p / 64 */
    int32_t count;                          /* 0: not known */
} drape_i_processors;

/* Those that the calling thread may run on. */
drape_i_processors drape_i_processors_allowed(void);
/* The one that it runs on; -1: not known. */
int32_t drape_i_processor(void);
/* From now on the calling thread runs on `allowed` except for one of them. Nothing happens where none would be left.
 */
void drape_i_processors_avoid(const drape_i_processors *allowed, int32_t processor);

/* ---- Memory ---- */

/* Memory from libc, on huge pages where it is large and the system has them. This takes a twentieth of the page
 * faults, and sweeps over matrices have fewer misses of the address translation. 64-byte aligned; freed with free().
 * NULL: there is none. */
void *drape_i_libc_alloc(size_t bytes);

#endif
