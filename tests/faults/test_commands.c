/* Runs every command that reads or writes files again and again. First its first request for memory fails, then its
 * second, and so on until none does. Its requests to the file system fail likewise, once or from then on. Whatever
 * fails, there is no crash, and no block of memory and no temporary file is left. A file under its final name is what
 * a run of so many frames without faults leaves, or what was there before. The exit code tells: 2 only where nothing
 * was written, 0 only where all was. */
#define _GNU_SOURCE
#include "faults.h"

#include "cli.h"
#include "support/folder.h"
#include "support/testing.h"

#include <dirent.h>
#include <execinfo.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_WORDS_OF_A_COMMAND = 24, MOST_FILES = 64, LARGEST_FILE = 1 << 20, MOST_REQUESTS = 100000 };

/* A command as a text, its words apart by blanks. In place of %s stand the numbers of frames 2, 1 and 0: a run that
 * fails on its way keeps the frames that it has. */
typedef struct trial {
    const char *command;
    int (*run)(int argc, char **argv);
} trial;

typedef struct kept_file {
    char name[256];
    char *data;
    size_t size;
} kept_file;

/* What the child that runs the command tells. */
typedef struct verdict {
    bool finished, fired;
    int code;
    int64_t left; /* blocks of memory */
} verdict;

static char folder[64];
static verdict *shared;
static kept_file good[MOST_FILES]; /* of runs of 2, 1 and 0 frames, one after the other */
static int good_count, good_run;   /* all of them, those of 2 frames */

static const char OLD[] = "what was there before\n";

/* ---- running ---- */

static int run_words(const trial *t, const char *frames) {
    char text[1000], *words[MOST_WORDS_OF_A_COMMAND];
    int count = 0;
    snprintf(text, sizeof text, t->command, frames);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) words[count++] = word;
    return t->run(count, words);
}

/* Crashes end the child: cmocka would go on with its other tests. */
static void die_of_crashes(void) {
    static const int signals[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], SIG_DFL);
}

static void silence(void) {
    int nowhere = open("/dev/null", O_WRONLY), log = open("../log", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(nowhere, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
}

static void run_in_child(const trial *t, fault_plan memory, fault_plan files) {
    die_of_crashes();
    silence();
    int64_t before = fault_memory_live;
    fault_memory = memory;
    fault_files = files;
    int code = run_words(t, "2");
    bool fired = fault_memory.fired || fault_files.fired;
    fault_memory.left = fault_files.left = -1;
    fflush(stdout);
    *shared = (verdict){.finished = true, .fired = fired, .code = code, .left = fault_memory_live - before};
    _exit(0);
}

/* ---- files ---- */

static char *read_whole(const char *name, size_t *size) {
    static char data[LARGEST_FILE];
    int file = open(name, O_RDONLY);
    ssize_t got = file < 0 ? -1 : read(file, data, sizeof data);
    assert_true(got >= 0 && got < (ssize_t)sizeof data);
    close(file);
    *size = got > 0 ? (size_t)got : 0;
    data[*size] = 0;
    return data;
}

static void for_each_file(void (*visit)(const char *name)) {
    DIR *open = opendir(".");
    assert_non_null(open);
    for (struct dirent *e; (e = readdir(open));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) visit(e->d_name);
    closedir(open);
}

static void remove_file(const char *name) { assert_int_equal(unlink(name), 0); }

static void keep_file(const char *name) {
    kept_file *k = &good[good_count++];
    assert_true(good_count <= MOST_FILES);
    snprintf(k->name, sizeof k->name, "%s", name);
    char *data = read_whole(name, &k->size);
    k->data = malloc(k->size + 1);
    memcpy(k->data, data, k->size + 1); /* with the zero after it */
    remove_file(name);
}

static void make_good(const trial *t) {
    static const char *const frames[] = {"2", "1", "0"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(run_words(t, frames[i]), EXIT_GOOD);
        for_each_file(keep_file);
        if (i == 0) good_run = good_count;
        if (!strstr(t->command, "%s")) break;
    }
}

static void forget_good(void) {
    while (good_count > 0) free(good[--good_count].data);
}

static void plant_old(void) {
    for (int i = 0; i < good_count; i++) {
        int file = open(good[i].name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        assert_int_equal(write(file, OLD, sizeof OLD - 1), sizeof OLD - 1);
        close(file);
    }
}

/* ---- what must hold ---- */

static int old_files, new_files;

static int count_lines(const char *text) {
    int lines = 0;
    for (; (text = strchr(text, '\n')); text++) lines++;
    return lines;
}

/* Reports and histories hold seconds, so no two are the same. */
static bool is_whole_report(const char *name, const char *data, size_t size) {
    if (strstr(name, ".csv")) return data[size - 1] == '\n' && count_lines(data) == count_lines(good[0].data);
    json_t *root = strstr(name, ".json") ? json_loadb(data, size, 0, NULL) : NULL;
    bool whole = root && json_object_get(root, "outcome");
    json_decref(root);
    return whole;
}

static void check_file(const char *name) {
    size_t size;
    const char *data = read_whole(name, &size);
    bool known = false, whole = false;
    for (int i = 0; i < good_count; i++) {
        if (strcmp(good[i].name, name) != 0) continue;
        known = true;
        whole |= good[i].size == size && memcmp(good[i].data, data, size) == 0;
    }
    if (!known) fail_msg("%s is left behind", name);
    if (size == sizeof OLD - 1 && memcmp(data, OLD, size) == 0) old_files++;
    else if (whole || is_whole_report(name, data, size)) new_files++;
    else fail_msg("%s is neither old nor whole (%zu bytes)", name, size);
}

static void check_message(void) {
    size_t size;
    const char *text = read_whole("../log", &size);
    if (size < 10 || memcmp(text, "drape: ", 7) != 0) fail_msg("no message: %.*s", (int)size, text);
}

static void check_outcome(void) {
    if (!shared->finished) fail_msg("crashed");
    if (shared->left != 0) fail_msg("%lld blocks of memory left", (long long)shared->left);
    old_files = new_files = 0;
    for_each_file(check_file);
    if (shared->code == EXIT_GOOD) {
        if (new_files < good_run)
            fail_msg("said to be good, and %d files are there in place of %d", new_files, good_run);
        return;
    }
    check_message();
    if (shared->code == EXIT_BAD_INPUT && new_files) fail_msg("exit code 2, and %d files were written", new_files);
    else if (shared->code != EXIT_BAD_INPUT && shared->code != EXIT_RUN_FAILED)
        fail_msg("exit code %d", shared->code);
}

/* One run with these faults; whether one of them came to pass. */
static bool try_once(const trial *t, fault_plan memory, fault_plan files, bool old) {
    *shared = (verdict){0};
    for_each_file(remove_file);
    if (old) plant_old();
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) run_in_child(t, memory, files);
    assert_int_equal(waitpid(child, NULL, 0), child);
    check_outcome();
    return shared->fired;
}

/* So that a failure names its run. */
static void say(const trial *t, const char *what, int64_t n) {
    static char text[300];
    snprintf(text, sizeof text, "../now");
    int file = open(text, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dprintf(file, "%s: %s %lld\n", t->command, what, (long long)n);
    close(file);
}

static void sweep(void **state) {
    const trial *t = *state;
    const fault_plan none = {.left = -1};
    int64_t memory = 0, once = 0, stays = 0;
    make_good(t);
    for (bool fired = true; fired && memory < MOST_REQUESTS; memory++) {
        say(t, "memory", memory);
        fired = try_once(t, (fault_plan){.left = memory, .stays = memory % 3 == 2}, none, memory % 2);
    }
    for (bool fired = true; fired && once < MOST_REQUESTS; once++) {
        say(t, "file, once", once);
        fired = try_once(t, none, (fault_plan){.left = once}, once % 2);
    }
    for (bool fired = true; fired && stays < MOST_REQUESTS; stays++) {
        say(t, "file, from then on", stays);
        fired = try_once(t, none, (fault_plan){.left = stays, .stays = true}, stays % 2);
    }
    for_each_file(remove_file);
    print_message("%lld requests for memory, %lld to the file system\n", (long long)memory - 1, (long long)once - 1);
    forget_good();
    assert_true(memory > 10 && memory < MOST_REQUESTS && once > 1 && once == stays);
}

/* ---- the trials ---- */

/* A preconditioner by name: "auto" takes another one where there is no memory, says so, and has other bits. */
#define RUN "drooping --resolution 11 --threads 1 --quiet --set solver.precond=block_diagonal --frames %s "

static trial trials[] = {
    /* four formats at a time: most requests are those of the run itself, the same for all formats */
    {RUN "-o a.html -o a.glb -o a.usda -o a.abc", command_run},
    {RUN "-o a.pc2 -o b.mdd -o c.obj -o d.ply", command_run},
    {RUN "-o a.obj -o b.ply -o b.pc2 --report r.json --set time.step=0.04", command_run}, /* a step per frame */
    /* linearised: what Newton's method exports last depends on the solves before, and those on what memory there was
     */
    {"drooping --integrator preview --resolution 11 --threads 1 --quiet --frames 1 --no-output --export-system "
     "1:a.sys",
     command_run},
    {"../in/meshes.yaml --threads 1 --quiet --frames 0 -o a.ply", command_run},
    {"drooping --resolution 7 --threads 1 --set solver.precond=block_diagonal -o a.obj", command_equilibrium},
    {"../in/follow.yaml --threads 1 --quiet --frames 0 -o a.ply", command_run},
    {"../in/s.obj --scene ../in/meshes.yaml --threads 1", command_check_frames},
    {"../in/s.mdd --threads 1 --json", command_check_frames},
    {"../in/s.obj a.png --threads 1 --size 8x8 --samples 1 --quiet --scene ../in/meshes.yaml", command_render},
    {"../in/s.obj a.gif --threads 1 --size 8x8 --samples 1 --quiet", command_render},
    {"../in/a.sys --threads 1 --history h.csv", command_solve},
    {"../in/a.mtx --threads 1 -o x.bin --rhs ../in/b.mtx", command_solve},
    {"../in/a.mtx --threads 1 -o x.bin --precond amg --explain", command_solve},
};

enum { TRIALS = sizeof trials / sizeof *trials };

static void write_input(const char *name, const char *text) {
    char path[128];
    snprintf(path, sizeof path, "../in/%s", name);
    FILE *file = fdopen(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void write_inputs(void) {
    static const trial export_system = {
        "drooping --integrator preview --resolution 11 --threads 1 --quiet --frames 1 "
        "--no-output --export-system "
        "1:../in/a.sys",
        command_run};
    static const trial make_frames = {
        "../in/meshes.yaml --threads 1 --quiet --frames 1 -o ../in/s.obj -o ../in/s.mdd", command_run};
    assert_int_equal(mkdir("../in", 0700), 0);
    write_input("meshes.yaml", "drape: 1\ncloth:\n  - {name: a, mesh: a.obj, pins: [{group: corner}]}\n"
                               "  - {mesh: a.ply, place: {translate: [0, 0, 1 m]}, uv: false}\ntime: {frames: 1}\n");
    write_input("follow.yaml",
                "drape: 1\ncloth:\n  - mesh: a.obj\n    pins:\n      - {vertices: [0], stiffness: 5 N/m}\n"
                "      - {vertices: [1], move: {frames: {file: a.obj}}}\n"
                "      - {vertices: [2], move: {keys: [{time: 0}, {time: 1, turn: [0, 0, 90], scale: 2}]}}\n"
                "start: {file: a.obj}\nforces: {wind: {velocity: [1, 0, 0], gusts: {strength: 20 %}}}\n"
                "time: {frames: 1}\n");
    write_input("a.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n"
                         "g corner\nf 1/1 2/2 3/3\ng rest\nf 1/1 3/3 4/4\n");
    write_input("a.ply", "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\n"
                         "property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"
                         "0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n");
    write_input("a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n6 6 8\n1 1 4\n2 2 4\n3 3 4\n4 4 4\n5 5 4\n"
                         "6 6 4\n4 1 -1\n6 2 -1\n");
    write_input("b.mtx", "%%MatrixMarket matrix array real general\n6 1\n1\n2\n3\n4\n5\n6\n");
    assert_int_equal(run_words(&export_system, "1"), EXIT_GOOD);
    assert_int_equal(run_words(&make_frames, "1"), EXIT_GOOD);
}

static int set_up(void **state) {
    void *frame;
    (void)state;
    backtrace(&frame, 1); /* its first call asks for memory, which then would be counted */
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    strcpy(folder, "/tmp/drape-faults-XXXXXX");
    if (shared == MAP_FAILED || !mkdtemp(folder) || chdir(folder) || mkdir("out", 0700) || chdir("out")) return -1;
    write_inputs();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    for_each_file(remove_file);
    test_folder_entries("../in", true);
    if (rmdir("../in") || unlink("../log") || unlink("../now") || chdir("..") || rmdir("out") || chdir("/"))
        return -1;
    return rmdir(folder);
}

static int say_where(void **state) {
    (void)state;
    if (good_count == 0) return 0;
    size_t size;
    print_error("in %s", read_whole("../now", &size));
    print_error("which said: %s\n", read_whole("../log", &size));
    forget_good();
    for_each_file(remove_file);
    return 0;
}

int main(void) {
    struct CMUnitTest tests[TRIALS];
    for (int i = 0; i < TRIALS; i++)
        tests[i] = (struct CMUnitTest){trials[i].command, sweep, NULL, say_where, &trials[i]};
    return cmocka_run_group_tests_name("faults", tests, set_up, tear_down);
}
