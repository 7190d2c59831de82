/* Any bytes as a command line, a word per line: `run`, `equilibrium`, `check`, `check-frames`, `solve`, `ode`, `ccd`,
 * `render` and the lists, with all their options, `--set` above all. The exit code is one that is documented, no
 * temporary file is left, and what was there to read is as it was. It works in a folder of its own that holds a
 * scene, a mesh, a cache and a matrix; slashes become underscores, so no word leads out of it. Runs have no steps and
 * grids stay small: later options win. */
#include "cli.h"
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { MOST = 24, MOST_BYTES = 2000 };

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    char *last[9]; /* words that keep it short */
} commands[] = {
    {"run", command_run, {"--frames", "0", "--resolution", "4", "--threads", "1", NULL}},
    {"equilibrium", command_equilibrium, {"--corrections", "3", "--resolution", "4", "--threads", "1", NULL}},
    {"check", command_check, {"--resolution", "4", "--threads", "1", NULL}},
    {"check-frames", command_check_frames, {"--threads", "1", NULL}},
    {"solve", command_solve, {"--threads", "1", NULL}},
    {"ode", command_ode, {"--step", "0.1", "--until", "1", NULL}},
    {"ccd", command_ccd, {"--threads", "1", NULL}},
    {"scenes", command_scenes, {NULL}},
    {"fabrics", command_fabrics, {NULL}},
    {"list", command_list, {NULL}},
    {"render", command_render, {"--size", "4x4", "--frames", "0:0", "--resolution", "4", "--threads", "1", NULL}},
};

static const struct input {
    const char *name, *text;
} inputs[] = {
    {"s.yaml",
     "drape: 1\ncloth:\n  - name: sheet\n    grid: {width: 1 m, resolution: 4}\n    material: cotton\n    pins:\n"
     "      - {where: left-edge}\ntime: {step: 10 ms, fps: 100, duration: 10 ms}\n"},
    {"m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"},
    {"m.yaml",
     "drape: 1\ncloth:\n  - {mesh: m.obj, material: silk}\ntime: {step: 10 ms, fps: 100, duration: 10 ms}\n"},
    {"a.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 2\n2 2 2\n3 3 2\n"},
};

enum { INPUTS = sizeof inputs / sizeof *inputs };

static void write_inputs(void) {
    for (int i = 0; i < INPUTS; i++) {
        FILE *file = fopen(inputs[i].name, "w");
        demand(file != NULL);
        fputs(inputs[i].text, file);
        fclose(file);
    }
}

/* Removes what was written; false where something temporary is there. */
static bool clean_up(void) {
    char part[32], spill[32];
    bool good = true;
    snprintf(part, sizeof part, ".part-%ld-", (long)getpid());
    snprintf(spill, sizeof spill, ".spill-%ld-", (long)getpid());
    DIR *folder = opendir(".");
    demand(folder != NULL);
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (strstr(entry->d_name, part) || strstr(entry->d_name, spill)) good = false;
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) unlink(entry->d_name);
    }
    closedir(folder);
    return good;
}

static char folder_name[] = "/tmp/drape-fuzz-XXXXXX";

static void remove_folder(void) {
    if (chdir(folder_name) != 0) return;
    clean_up();
    rmdir(folder_name);
}

/* Paths of the fuzzer's own options are relative: it stays where it is except for the time of a command. */
int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    demand(mkdtemp(folder_name) != NULL && atexit(remove_folder) == 0);
    demand(freopen("/dev/null", "w", stdout) != NULL && freopen("/dev/null", "r", stdin) != NULL);
    stderr = fopen("/dev/null", "w"); /* the fuzzer has its own */
    return stderr ? 0 : -1;
}

/* The words of the text, cut at its line ends. */
static int cut(char *text, char **words) {
    int count = 0;
    for (char *at = text; at && count < MOST; count++) {
        words[count] = at;
        at = strchr(at, '\n');
        if (at) *at++ = 0;
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char text[MOST_BYTES + 1], before[4096], *words[MOST + 9];
    if (size == 0 || size > MOST_BYTES) return -1;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    for (char *c = text; *c; c++)
        if (*c == '/') *c = '_';
    if (strstr(text, ".part-") || strstr(text, ".spill-")) return -1; /* names that look like what must not be left */
    if (strstr(text, "--watch")) return -1;                           /* waits for somebody who saves */
    const struct command *command = &commands[data[0] % (sizeof commands / sizeof *commands)];
    int count = cut(text, words);
    for (int i = 0; command->last[i]; i++) words[count++] = command->last[i];
    demand(getcwd(before, sizeof before) != NULL && chdir(folder_name) == 0);
    write_inputs();
    int code = command->run(count, words);
    bool good = clean_up();
    demand(chdir(before) == 0);
    demand(good &&
           (code == EXIT_GOOD || code == EXIT_RUN_FAILED || code == EXIT_BAD_INPUT || code == EXIT_INTERRUPTED));
    return 0;
}
