/* program.h: what the commands of drape-mpi share. */
#ifndef DRAPE_CLI_MPI_PROGRAM_H
#define DRAPE_CLI_MPI_PROGRAM_H

#include "cli.h"
#include "drape/petsc.h"
#include "session.h"

/* ---- talk.c ---- */

/* All processes parse their command line, which is the same, and the first prints or complains. */
parse_result parse_together(const command_line *line, int argc, char **argv);
/* make_context on all processes. NULL, after one complaint, where one of them fails; then *code is the exit code. */
drape_context *make_context_together(int32_t threads, bool warns, int *code);
/* The first process complains; returns false. */
bool refuse(const char *text);

int mpi_command_solve(int argc, char **argv);
int mpi_command_run(int argc, char **argv);

#endif
