/* faults_memory.c: malloc and its like on top of glibc's own, which has them under other names too. They must be seen
 * from outside this file's program, so that shared libraries take them. */
#define _GNU_SOURCE /* dladdr */
#include "faults.h"

#include "drape/base.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *memory);

enum { DEPTH = 12 }; /* of calls */

fault_plan fault_memory = {.left = -1};
int64_t fault_memory_live;

bool fault_due(fault_plan *plan) {
    if (plan->left < 0) return false;
    if (plan->left > 0) {
        plan->left--;
        return false;
    }
    plan->fired = true;
    if (!plan->stays) plan->left = -1;
    return true;
}

/* Also by way of libc, as with strdup. */
static bool for_libfyaml(void) {
    void *frame[DEPTH];
    Dl_info from;
    int frames = backtrace(frame, DEPTH);
    for (int i = 0; i < frames; i++)
        if (dladdr(frame[i], &from) && strstr(from.dli_fname, "libfyaml")) return true;
    return false;
}

static bool refused(void) {
    if (fault_memory.left < 0 || for_libfyaml() || !fault_due(&fault_memory)) return false;
    errno = ENOMEM;
    return true;
}

static void *counted(void *memory) {
    fault_memory_live += memory != NULL;
    return memory;
}

DRAPE_API void *malloc(size_t bytes) { return refused() ? NULL : counted(__libc_malloc(bytes)); }
DRAPE_API void *calloc(size_t count, size_t size) { return refused() ? NULL : counted(__libc_calloc(count, size)); }

DRAPE_API void *aligned_alloc(size_t alignment, size_t bytes) {
    return refused() ? NULL : counted(__libc_memalign(alignment, bytes));
}

void *memalign(size_t alignment, size_t bytes);
DRAPE_API void *memalign(size_t alignment, size_t bytes) { return aligned_alloc(alignment, bytes); }

DRAPE_API int posix_memalign(void **out, size_t alignment, size_t bytes) {
    void *memory = aligned_alloc(alignment, bytes);
    if (memory) *out = memory;
    return memory ? 0 : ENOMEM;
}

DRAPE_API void *realloc(void *old, size_t bytes) {
    if (!old) return malloc(bytes);
    if (!bytes) {
        free(old);
        return NULL;
    }
    return refused() ? NULL : __libc_realloc(old, bytes);
}

DRAPE_API void free(void *memory) {
    fault_memory_live -= memory != NULL;
    __libc_free(memory);
}
