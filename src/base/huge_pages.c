/* huge_pages.c: see huge_pages.h. */
#define _DEFAULT_SOURCE /* madvise */
#include "base/huge_pages.h"

#include <stdlib.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

enum { LINE = 64 };

#if defined(__linux__) && defined(MADV_HUGEPAGE)

enum { PAGE = 2 << 20 };

/* Only whole huge pages are asked for, so nothing is taken beyond what was. A refusal changes nothing. */
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
    size_t whole = (bytes + LINE - 1) / LINE * LINE; /* it wants whole lines */
    return PAGE > 0 && whole >= (size_t)PAGE ? alloc_large(whole) : aligned_alloc(LINE, whole);
}
