/* session.h: MPI and PETSc from start to end. (PETSc's headers and cli.h both have an OPTION_REAL: session.c sees the
 * former only.) */
#ifndef DRAPE_CLI_MPI_SESSION_H
#define DRAPE_CLI_MPI_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The processes of the run, and this one among them. */
typedef struct session {
    int rank, size;
} session;

session session_now(void);
bool speaks(void); /* only the first process does */

/* Starts MPI and PETSc with PETSc's options, and removes these from the words. They begin with one dash and have more
 * than one letter; the next word belongs to them if it is not an option. False: neither could be started. */
bool session_begin(int *argc, char **argv);
/* All is said and written, and what is left is freed. Should PETSc or MPI fail at that, all processes end with this
 * exit code and without another message. */
void session_conclude(int code);
void session_end(int code);
/* The first of PETSc's options that was not used so far; NULL: none. */
const char *unknown_petsc_option(char *out, size_t size);
/* A file that is to be taken away where the run is ended from outside; NULL: none any more. */
void session_guard(const char *temporary);

/* What a process used, and the most of all of them. */
typedef struct usage {
    double cpu;       /* s, the most */
    double cpu_all;   /* s, together */
    int64_t peak;     /* bytes of memory, the most */
    int64_t peak_all; /* together */
} usage;
usage measure_usage(void);
int64_t most_of(int64_t mine);
int64_t sum_of(int64_t mine);

/* talk.c: one line on the error stream, for session.c. */
void complain_of_process(int rank, int size, const char *what, const char *detail);

#endif
