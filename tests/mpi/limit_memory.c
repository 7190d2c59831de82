/* limit_memory.c: loaded before drape-mpi, it gives drape and PETSc DRAPE_TEST_MEMORY_KB of memory once PETSc has
 * started, and fails what they ask for beyond. (PETSc 3.18 crashes where it has no memory to start.) MPI and libc get
 * what they ask for: how much that is differs between machines, and where they run out, drape may have no chance to
 * say so. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);

static atomic_bool limited;
static atomic_llong left;

/* Whether code at this address may have so many bytes. What is given back is not counted, so that the same request
 * fails on every machine. */
static bool may_have(const void *code, size_t bytes) {
    Dl_info info;
    if (!limited || !dladdr(code, &info) || !info.dli_fname) return true;
    if (!strstr(info.dli_fname, "drape-mpi") && !strstr(info.dli_fname, "libpetsc")) return true;
    if (atomic_fetch_sub(&left, (long long)bytes) >= (long long)bytes) return true;
    atomic_fetch_add(&left, (long long)bytes); /* smaller requests may still be met, as in life */
    errno = ENOMEM;
    return false;
}

#define HERE __builtin_return_address(0)

void *malloc(size_t bytes) { return may_have(HERE, bytes) ? __libc_malloc(bytes) : NULL; }
void *calloc(size_t n, size_t size) { return may_have(HERE, n * size) ? __libc_calloc(n, size) : NULL; }
void *realloc(void *old, size_t bytes) { return may_have(HERE, bytes) ? __libc_realloc(old, bytes) : NULL; }
void *aligned_alloc(size_t line, size_t bytes) { return may_have(HERE, bytes) ? __libc_memalign(line, bytes) : NULL; }
void *memalign(size_t line, size_t bytes) { return may_have(HERE, bytes) ? __libc_memalign(line, bytes) : NULL; }

int posix_memalign(void **out, size_t line, size_t bytes) {
    *out = may_have(HERE, bytes) ? __libc_memalign(line, bytes) : NULL;
    return *out ? 0 : ENOMEM;
}

int PetscInitialize(int *argc, char ***argv, const char *file, const char *help) {
    int (*start)(int *, char ***, const char *, const char *);
    *(void **)&start = dlsym(RTLD_NEXT, "PetscInitialize");
    int code = start(argc, argv, file, help);
    const char *most = getenv("DRAPE_TEST_MEMORY_KB");
    left = most ? 1024 * atoll(most) : 0;
    limited = true;
    return code;
}
