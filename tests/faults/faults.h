/* faults.h: memory and files that fail when told to, for a program that is linked with faults_memory.c and
 * faults_files.c (see tests/CMakeLists.txt). The libraries and the commands are unchanged. malloc and its relatives
 * are replaced for every library of the process. Functions that open, write, flush and rename files are wrapped by
 * the linker. */
#ifndef DRAPE_TESTS_FAULTS_H
#define DRAPE_TESTS_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

/* Requests are counted from 0; the one whose turn it is fails, and with `stays` all that follow it too. */
typedef struct fault_plan {
    int64_t left; /* requests until the one that fails; negative: none does */
    bool stays;
    bool fired;
} fault_plan;

bool fault_due(fault_plan *plan);

/* malloc, calloc, realloc, aligned_alloc, posix_memalign; requests of libfyaml are not among them, whose version
 * 0.7.12 crashes or leaves blocks behind where one fails */
extern fault_plan fault_memory;
extern int64_t fault_memory_live; /* blocks that were not freed */

/* open, fopen, fdopen, read, write, close of a stream, fsync, rename, linkat: errno is EIO and ENOSPC in turn; a
 * write that fails has written half. */
extern fault_plan fault_files;

#endif
