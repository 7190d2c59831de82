#include "program.h"
int mpi_command_run(int argc, char **argv) {
    (void)argc, (void)argv;
    return EXIT_BAD_INPUT;
}
