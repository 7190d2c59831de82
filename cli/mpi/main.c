/* main.c: the program `drape-mpi`: finds the command, and runs it on all processes. */
#include "program.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const struct command {
    const char *name, *about;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"run", "simulate a scene", mpi_command_run},
    {"solve", "solve a linear system from a system file", mpi_command_solve},
};

enum { COUNT = sizeof commands / sizeof *commands };

static void print_help(FILE *to) {
    fprintf(to,
            "usage: mpirun -n N drape-mpi COMMAND [options] [options of PETSc]\n\n"
            "Implicit cloth simulation on many processes, for scenes that do not fit on one machine.\n\ncommands:\n");
    for (int i = 0; i < COUNT; i++) fprintf(to, "  %-13s %s\n", commands[i].name, commands[i].about);
    fprintf(
        to,
        "\n  drape-mpi COMMAND --help   options of a command\n  drape-mpi --version        the version\n\n"
        "Options with one dash and a word, such as -ksp_view or -pc_type gamg, are PETSc's own.\n"
        "Exit codes: 0 success; 1 a run failed or a solve did not converge; 2 bad input (nothing was written).\n");
}

static int find_command(int argc, char **argv) {
    if (argc < 2) {
        if (speaks()) print_help(stderr);
        return EXIT_BAD_INPUT;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        if (speaks()) print_help(stdout);
        return EXIT_GOOD;
    }
    if (strcmp(argv[1], "--version") == 0) {
        if (speaks()) printf("drape-mpi %s\n", drape_version());
        return EXIT_GOOD;
    }
    for (int i = 0; i < COUNT; i++)
        if (strcmp(argv[1], commands[i].name) == 0) return commands[i].run(argc - 2, argv + 2);
    if (speaks()) complain("unknown command %s; `drape-mpi --help` lists the commands", argv[1]);
    return EXIT_BAD_INPUT;
}

int main(int argc, char **argv) {
    signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is like a full disk: the write fails */
    if (!session_begin(&argc, argv)) {
        complain("cannot start MPI or PETSc");
        return EXIT_RUN_FAILED;
    }
    int code = find_command(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        if (speaks()) complain("cannot write to standard output");
        if (code == EXIT_GOOD) code = EXIT_RUN_FAILED;
    }
    session_end(code);
    return code;
}
