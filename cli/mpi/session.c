/* session.c: MPI and PETSc from start to end, and what goes wrong on a single process.
 *
 * What goes wrong on all processes alike comes back as a status, and the first tells it. Where PETSc or MPI fail on
 * one process the others wait for it, so it speaks itself and ends all of them. Should several fail at once, the
 * first process speaks at once and each of the others a little later than the one before it, so mostly one message
 * appears. */
#include "session.h"

#include <ctype.h>
#include <petscsys.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { FAILED = 1 }; /* exit code: the run failed on its way */

static session now = {0, 1};
static const char *volatile guarded;
static bool concluded;
static int conclusion; /* exit code */

session session_now(void) { return now; }
bool speaks(void) { return now.rank == 0; }

void session_guard(const char *temporary) { guarded = temporary; }

/* The process that starts the others ends them like this when one of them is gone. */
static void on_terminate(int number) {
    if (guarded) unlink(guarded);
    signal(number, SIG_DFL);
    raise(number);
}

static void wait_for_turn(void) {
    struct timespec pause = {.tv_sec = now.rank / 10, .tv_nsec = now.rank % 10 * 100000000L};
    nanosleep(&pause, NULL);
}

void session_conclude(int code) {
    concluded = true;
    conclusion = code;
}

static void end_all(const char *what, const char *detail) {
    wait_for_turn();
    if (!concluded) complain_of_process(now.rank, now.size, what, detail);
    if (guarded) unlink(guarded);
    MPI_Abort(MPI_COMM_WORLD, concluded ? conclusion : FAILED);
}

static PetscErrorCode on_petsc_error(MPI_Comm comm, int line, const char *function, const char *file,
                                     PetscErrorCode code, PetscErrorType type, const char *message, void *user) {
    const char *text = NULL;
    (void)comm, (void)line, (void)file, (void)user;
    if (type != PETSC_ERROR_INITIAL) return code;
    /* PETSc 3.18 itself gives a line in place of the code here, and the function that asked for memory as message. */
    const bool aligned = function && strcmp(function, "PetscMallocAlign") == 0;
    const bool memory = code == PETSC_ERR_MEM || aligned;
    PetscErrorMessage(code, &text, NULL);
    end_all(memory ? "out of memory" : text ? text : "PETSc failed", memory && !aligned ? function : message);
    return code;
}

static void on_mpi_error(MPI_Comm *comm, int *code, ...) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    (void)comm;
    MPI_Error_string(*code, text, &length);
    end_all("MPI failed", text);
}

/* -ksp_type, but not -o, -h or -5. */
static bool is_petscs(const char *word) { return word[0] == '-' && isalpha((unsigned char)word[1]) && word[2] != 0; }

static bool is_value(const char *word) {
    return word && (word[0] != '-' || isdigit((unsigned char)word[1]) || word[1] == '.' || word[1] == 0);
}

/* Moves PETSc's words to `theirs`, whose first is the program's name. */
static int split(int *argc, char **argv, char **theirs) {
    int kept = 1, count = 1;
    theirs[0] = argv[0];
    for (int i = 1; i < *argc; i++) {
        if (!is_petscs(argv[i])) {
            argv[kept++] = argv[i];
            continue;
        }
        theirs[count++] = argv[i];
        if (i + 1 < *argc && is_value(argv[i + 1])) theirs[count++] = argv[++i];
    }
    *argc = kept;
    argv[kept] = theirs[count] = NULL;
    return count;
}

bool session_begin(int *argc, char **argv) {
    MPI_Errhandler handler;
    char **theirs = calloc((size_t)*argc + 2, sizeof *theirs);
    if (!theirs) return false;
    int count = split(argc, argv, theirs);
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &(int){0}) != MPI_SUCCESS) return false;
    MPI_Comm_rank(MPI_COMM_WORLD, &now.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &now.size);
    MPI_Comm_create_errhandler(on_mpi_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Errhandler_free(&handler);
    PetscPushErrorHandler(on_petsc_error, NULL);
    if (PetscInitialize(&count, &theirs, NULL, NULL)) return false;
    PetscPopSignalHandler(); /* a crash is ours to explain, in a core file and not on the screen */
    signal(SIGTERM, on_terminate);
    return true;
}

void session_end(int code) {
    session_conclude(code);
    PetscOptionsSetValue(NULL, "-options_left", "no"); /* reported already */
    PetscFinalize();
    MPI_Finalize();
}

const char *unknown_petsc_option(char *out, size_t size) {
    PetscInt count;
    char **name, **value;
    out[0] = 0;
    PetscOptionsLeftGet(NULL, &count, &name, &value);
    for (PetscInt i = 0; i < count && !out[0]; i++)
        if (strcmp(name[i], "options_left") != 0) snprintf(out, size, "-%s", name[i]);
    PetscOptionsLeftRestore(NULL, &count, &name, &value);
    return out[0] ? out : NULL;
}

int64_t most_of(int64_t mine) {
    int64_t most;
    MPI_Allreduce(&mine, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

int64_t sum_of(int64_t mine) {
    int64_t sum;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

usage measure_usage(void) {
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    double mine =
        (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) + 1e-6 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
    usage u = {.peak = most_of(1024 * (int64_t)r.ru_maxrss), .peak_all = sum_of(1024 * (int64_t)r.ru_maxrss)};
    MPI_Allreduce(&mine, &u.cpu, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, &u.cpu_all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return u;
}
