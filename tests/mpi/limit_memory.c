/* limit_memory.c: loaded before drape-mpi, it lets a process have only DRAPE_TEST_MORE_KB more memory than it has
 * when MPI has started. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    int code = PMPI_Init_thread(argc, argv, required, provided);
    const char *more = getenv("DRAPE_TEST_MORE_KB");
    FILE *file = fopen("/proc/self/statm", "r");
    long pages;
    if (!file || !more || fscanf(file, "%ld", &pages) != 1) abort();
    fclose(file);
    rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + 1024 * (rlim_t)atol(more);
    if (setrlimit(RLIMIT_AS, &(struct rlimit){most, most})) abort();
    return code;
}
