/* bench.c: drape bench: the benchmarks are a program of their own, drape-bench, which need not be there; this one
 * becomes that one, with the same arguments. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where drape-bench may lie, from the folder of this program: beside it, in a folder of a build, installed. */
static const char *const places[] = {"drape-bench", "bench/drape-bench", "../libexec/drape/drape-bench"};

enum { PLACES = sizeof places / sizeof *places, LONGEST_PATH = 4096, LONGEST_PLACE = 64 };

/* The folder that this program lies in, with a slash at its end; false where the system does not tell. */
static bool own_folder(char folder[LONGEST_PATH]) {
    ssize_t length = readlink("/proc/self/exe", folder, LONGEST_PATH - 1);
    if (length <= 0) return false;
    folder[length] = 0;
    char *slash = strrchr(folder, '/');
    if (slash) slash[1] = 0;
    return slash != NULL;
}

static bool find_program(const char *folder, char path[LONGEST_PATH + LONGEST_PLACE]) {
    for (int i = 0; i < PLACES; i++) {
        snprintf(path, LONGEST_PATH + LONGEST_PLACE, "%s%s", folder, places[i]);
        if (access(path, X_OK) == 0) return true;
    }
    return false;
}

/* Returns only where that fails. */
static void become(char *path, int argc, char **argv) {
    char **words = calloc((size_t)argc + 2, sizeof *words);
    if (!words) return;
    words[0] = path;
    for (int i = 0; i < argc; i++) words[i + 1] = argv[i];
    execv(path, words);
    free(words);
}

int command_bench(int argc, char **argv) {
    char folder[LONGEST_PATH], path[LONGEST_PATH + LONGEST_PLACE];
    const command_line line = {
        .usage = "drape bench [NAME...] [options]",
        .about =
            "Runs benchmarks, all or those named, and prints tables: what is claimed of drape's speed, and what\n"
            "this machine makes of it. `drape bench amg --help` lists benchmarks and options. The benchmarks are\n"
            "a program of their own, drape-bench, which is looked for beside this one."};
    if (argc > 0 && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0)) {
        parse_arguments(&line, 1, argv);
        return EXIT_GOOD;
    }
    if (!own_folder(folder)) {
        complain("bench: the system does not say where this program lies; run drape-bench itself");
        return EXIT_BAD_INPUT;
    }
    if (!find_program(folder, path)) {
        complain("bench: there is no drape-bench in %s, in its folder bench/ or in ../libexec/drape/: `make install` "
                 "leaves the benchmarks out; `make bench` in drape's source runs them",
                 folder);
        return EXIT_BAD_INPUT;
    }
    become(path, argc, argv);
    complain("bench: %s: cannot be run", path);
    return EXIT_BAD_INPUT;
}
