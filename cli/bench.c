/* bench.c: drape bench: the benchmarks are a program of their own, drape-bench, which need not be there; this one
 * becomes that one, with the same arguments. In a build folder it is built first: a plain build leaves it out, and an
 * old one would measure what is no longer there. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
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

/* Whether this is a build folder that knows how to make the benchmarks: CMake leaves both files there. */
static bool is_build_folder(const char *folder) {
    static const char *const files[] = {"CMakeCache.txt", "bench/cmake_install.cmake"};
    char path[LONGEST_PATH + LONGEST_PLACE];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s%s", folder, files[i]);
        if (access(path, R_OK) != 0) return false;
    }
    return true;
}

/* What a build prints goes to the error stream, because the tables alone are the output; that there is nothing to do
 * goes nowhere. */
static void pass_on(FILE *build) {
    char line[1024];
    while (fgets(line, sizeof line, build))
        if (!strstr(line, "no work to do") && !strstr(line, "Nothing to be done")) fputs(line, stderr);
}

static bool build_program(const char *folder) {
    int ends[2], status = 0;
    if (pipe(ends) != 0) return false;
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]), close(ends[1]);
        execlp("cmake", "cmake", "--build", folder, "--target", "drape-bench", "--", "--quiet", (char *)NULL);
        _exit(EXIT_RUN_FAILED);
    }
    close(ends[1]);
    FILE *build = fdopen(ends[0], "r");
    if (build && child > 0) pass_on(build);
    if (build) fclose(build);
    else close(ends[0]);
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
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

/* Completions ask for the help: no time to build anything. */
static bool wants_help(int argc, char **argv) {
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
    return false;
}

int command_bench(int argc, char **argv) {
    char folder[LONGEST_PATH], path[LONGEST_PATH + LONGEST_PLACE];
    const command_line line = {
        .usage = "drape bench [NAME...] [options]",
        .about = "Runs the named benchmarks, or `all`, and prints tables of the published figures and those of this "
                 "machine.\nWithout a name it lists the benchmarks and how long each takes. `drape bench amg --help` "
                 "lists the options.\nThe benchmarks are a separate program, drape-bench, which must be beside this "
                 "one. In a build folder this\ncommand builds it first."};
    if (argc > 0 && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0)) {
        parse_arguments(&line, 1, argv);
        return EXIT_GOOD;
    }
    if (!own_folder(folder)) {
        complain("bench: cannot find the folder of this program; run drape-bench directly");
        return EXIT_BAD_INPUT;
    }
    if (!wants_help(argc, argv) && is_build_folder(folder) && !build_program(folder)) {
        complain("bench: `cmake --build %s --target drape-bench` failed", folder);
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
