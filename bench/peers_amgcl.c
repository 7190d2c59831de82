/* peers_amgcl.c: see peers.h. AMGCL, whose header files the user names by --amgcl. amgcl.cpp, which is embedded into
 * this program, is compiled against them when it is first wanted, with every flag that AMGCL may wish for, and
 * loaded.
 *
 * The settings are the best of those tried on drooping, pinned and oblique and on irregular meshes (processor
 * milliseconds of one thread, set-up included, drooping at 10,201 and at 40,401 vertices):
 * - damped Jacobi of .72, AMGCL's default, 23.8 and 139; .6 26.8 and 147; .5 28.7 and 154. Its other defaults are
 * best as well: strength .02 28.3, .2 26.3; five power iterations for rho 30.5; a coarsest level of 150 rows 24.7.
 * - Gauss-Seidel, coarsest level of 100 rows, 24.4; of 500, the default, 25.2 and 212.
 * - ILU0 21.3.
 * - Chebyshev of degree 1 to 3, scaled, 31 to 34. SPAI0 takes a thousand iterations. */
#include "peers.h"

#include "amgcl.h"

#include <dlfcn.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
extern const unsigned char bench_amgcl_cpp[], bench_amgcl_h[];
extern const size_t bench_amgcl_cpp_size, bench_amgcl_h_size;

static const char *folder; /* of the user's */
static const bench_amgcl_table *table;

/* ---- Compiling ---- */

enum { LONGEST = 4096 };

static bool write_source(const char *in, const char *name, const unsigned char *text, size_t size) {
    char path[LONGEST];
    snprintf(path, sizeof path, "%s/%s", in, name);
    FILE *file = fopen(path, "w");
    bool good = file && fwrite(text, 1, size, file) == size;
    return (!file || fclose(file) == 0) && good;
}

static bool compile(const char *in, const char *object) {
    const char *compiler = getenv("CXX");
    char source[LONGEST], own[LONGEST], theirs[LONGEST];
    pid_t child;
    int status;
    if (!compiler || !*compiler) compiler = "c++";
    snprintf(source, sizeof source, "%s/amgcl.cpp", in);
    snprintf(own, sizeof own, "-I%s", in);
    snprintf(theirs, sizeof theirs, "-I%s", folder);
    const char *words[] = {
        compiler, "-std=c++17",       "-O3", "-march=native", "-fopenmp", "-DNDEBUG", "-shared", "-fPIC",
        "-w",     "-DAMGCL_NO_BOOST", own,   theirs,          "-o",       object,     source,    NULL};
    if (posix_spawnp(&child, compiler, NULL, NULL, (char *const *)(void *)words, environ)) return false;
    return waitpid(child, &status, 0) == child && status == 0;
}

static const bench_amgcl_table *load(const char *object) {
    void *library = dlopen(object, RTLD_NOW | RTLD_LOCAL); /* until the end of the program */
    return library ? dlsym(library, "bench_amgcl_functions") : NULL;
}

static void clean_up(const char *in, const char *object) {
    char path[LONGEST];
    snprintf(path, sizeof path, "%s/amgcl.cpp", in);
    unlink(path);
    snprintf(path, sizeof path, "%s/amgcl.h", in);
    unlink(path);
    unlink(object);
    rmdir(in);
}

bool bench_amgcl_prepare(const char *path) {
    char in[] = "/tmp/drape-bench-amgcl-XXXXXX", object[sizeof in + 16];
    if (table) return true;
    folder = path;
    if (!folder || !mkdtemp(in)) return false;
    snprintf(object, sizeof object, "%s/amgcl.so", in);
    if (write_source(in, "amgcl.cpp", bench_amgcl_cpp, bench_amgcl_cpp_size) &&
        write_source(in, "amgcl.h", bench_amgcl_h, bench_amgcl_h_size) && compile(in, object))
        table = load(object);
    clean_up(in, object);
    return table != NULL;
}

/* ---- Solving ---- */

static const char *const members[] = {"AMGCL, damped Jacobi", "AMGCL, Gauss-Seidel", "AMGCL, ILU0", NULL};
enum { WAYS = sizeof members / sizeof *members - 1 };

/* What is kept from step to step, by way and reuse; the names are in the order of `member`. */
static const char *const steppers[] = {"AMGCL, damped Jacobi, built",
                                       "AMGCL, damped Jacobi, rebuilt",
                                       "AMGCL, damped Jacobi, kept",
                                       "AMGCL, Gauss-Seidel, built",
                                       "AMGCL, Gauss-Seidel, rebuilt",
                                       "AMGCL, Gauss-Seidel, kept",
                                       "AMGCL, ILU0, built",
                                       "AMGCL, ILU0, rebuilt",
                                       "AMGCL, ILU0, kept",
                                       NULL};
enum { REUSES = 3, STEPPERS = WAYS * REUSES };
_Static_assert(sizeof steppers / sizeof *steppers == STEPPERS + 1, "a name for each way and reuse");

static const int32_t REBUILD_COST = 4; /* in iterations, as drape counts a refresh */

typedef struct kept {
    bench_amgcl *solver;
    int32_t fresh, debt; /* iterations: of the first solve after the last set-up, and beyond that since */
} kept;

typedef struct state {
    const peer_problem *problem;
    kept kept[STEPPERS];
} state;

static void *create(const peer_problem *problem) {
    if (!table) return NULL;
    state *s = calloc(1, sizeof *s);
    if (!s) abort();
    s->problem = problem;
    return s;
}

static bool solve(const state *s, bench_amgcl *solver, bench_amgcl_reuse reuse, double *x, peer_result *result) {
    const peer_problem *p = s->problem;
    bench_amgcl_system system = {p->A.rows, p->A.rowptr, p->A.col, p->A.val, p->rhs};
    bench_amgcl_result found;
    if (!solver || !table->solve(solver, &system, reuse, p->tol, x, &found)) return false;
    result->setup = found.setup_seconds;
    result->solve = found.solve_seconds;
    result->iterations = found.iterations;
    result->converged = found.converged;
    return true;
}

static bool run(void *of, int32_t member, int32_t workers, double *x, peer_result *result) {
    state *s = of;
    bench_amgcl *solver = table->create(member, workers);
    bool good = solve(s, solver, BENCH_AMGCL_BUILD, x, result);
    if (solver) table->destroy(solver);
    return good;
}

/* "kept": until the iterations beyond those of the first solve have summed up to what a rebuild costs, drape's own
 * rule. */
static bool step(void *of, int32_t member, int32_t workers, int32_t number, double *x, peer_result *result) {
    state *s = of;
    kept *k = &s->kept[member];
    bench_amgcl_reuse reuse = (bench_amgcl_reuse)(member % REUSES);
    if (number == 0) {
        if (k->solver) table->destroy(k->solver);
        *k = (kept){.solver = table->create(member / REUSES, workers), .fresh = -1};
    }
    if (reuse == BENCH_AMGCL_KEEP && k->debt >= REBUILD_COST) {
        reuse = BENCH_AMGCL_REBUILD;
        k->fresh = -1;
        k->debt = 0;
    }
    if (!solve(s, k->solver, reuse, x, result)) return false;
    if (k->fresh < 0) k->fresh = result->iterations;
    else if (result->iterations > k->fresh) k->debt += result->iterations - k->fresh;
    return true;
}

static void destroy(void *of) {
    state *s = of;
    for (int32_t i = 0; i < STEPPERS; i++)
        if (s->kept[i].solver) table->destroy(s->kept[i].solver);
    free(s);
}

const peer_library bench_peers_amgcl = {.name = "AMGCL (see --amgcl)",
                                        .bit = BENCH_AMGCL,
                                        .members = members,
                                        .steppers = steppers,
                                        .worker = "thread",
                                        .workers = "threads",
                                        .create = create,
                                        .run = run,
                                        .step = step,
                                        .destroy = destroy};
