/* main.c: the program `drape`: finds the command. */
#include "cli.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const struct command {
    const char *name, *about;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"run", "simulate a scene", command_run},
    {"dress", "move cloth out of the bodies that it starts in, and let it come to rest", command_dress},
    {"equilibrium", "find where the cloth of a scene comes to rest", command_equilibrium},
    {"check", "check a scene or a mesh and report every problem", command_check},
    {"check-frames", "count crossings in the frames of a run", command_check_frames},
    {"render", "draw the frames of a run, or of a scene, as pictures or a film", command_render},
    {"solve", "solve a linear system from a file", command_solve},
    {"ode", "try an integrator on an example with a known solution", command_ode},
    {"ccd", "test collision detection on queries with known answers", command_ccd},
    {"validate", "solve problems with known answers, and compare", command_validate},
    {"scenes", "list the built-in scenes, or show one", command_scenes},
    {"fabric", "make a material from measurements", command_fabric},
    {"fabrics", "list the fabrics with their numbers", command_fabrics},
    {"list", "list methods, preconditioners, models, integrators, formats and other names", command_list},
    {"bench", "run the benchmarks", command_bench},
};

enum { COUNT = sizeof commands / sizeof *commands };

static void print_help(FILE *to) {
    fprintf(to, "usage: drape COMMAND [options]\n\nImplicit cloth simulation.\n\ncommands:\n");
    for (int i = 0; i < COUNT; i++) fprintf(to, "  %-13s %s\n", commands[i].name, commands[i].about);
    fprintf(to, "\n  drape help COMMAND     options of a command, as drape COMMAND --help\n  drape --version        "
                "the version\n\nDRAPE_SIMD=sse2|avx2|avx512 (neon on arm64) in the environment limits the vector "
                "instructions; results\nare the same.\nExit codes: 0 success; 1 a run failed, a solve did not "
                "converge, a check found only warnings or crossings,\nor drape ccd missed a contact; 2 bad input "
                "(nothing was written); 130 interrupted.\n");
}

/* Output must have been written: a full disk behind `>` is a failure like any other. */
static int finish_output(int code) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    complain("cannot write to standard output");
    return code == EXIT_GOOD ? EXIT_RUN_FAILED : code;
}

int main(int argc, char **argv) {
    signal(SIGXFSZ,
           SIG_IGN); /* a limit on the size of files is like a full disk: the write fails, and a message says so */
    if (argc < 2) {
        print_help(stderr);
        return EXIT_BAD_INPUT;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help(stdout);
        return finish_output(EXIT_GOOD);
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("drape %s\n", drape_version());
        return finish_output(EXIT_GOOD);
    }
    bool help = strcmp(argv[1], "help") == 0;
    if (help && argc == 2) {
        print_help(stdout);
        return finish_output(EXIT_GOOD);
    }
    char *asked[] = {"--help", NULL};
    for (int i = 0; i < COUNT; i++) {
        if (help && strcmp(argv[2], commands[i].name) == 0) return finish_output(commands[i].run(1, asked));
        if (strcmp(argv[1], commands[i].name) == 0) return finish_output(commands[i].run(argc - 2, argv + 2));
    }
    if (help) argv++;
    complain("unknown command %s; `drape --help` lists the commands", argv[1]);
    return EXIT_BAD_INPUT;
}
