/* peers_petsc.c: see peers.h. PETSc's CG with its own multigrid GAMG, with ML of Trilinos and with BoomerAMG of
 * Hypre, which Debian's PETSc has built in. Each runs with one process and with several, which is how PETSc uses
 * processors. bench/petsc/main.c does the work, in a program of its own that mpiexec starts for every run.
 *
 * The options are the best of those tried on drooping at 40,401 and 90,601 vertices, PETSc 3.18 (processor seconds of
 * one process, at 40,401):
 * - GAMG, translations: Chebyshev of degree 2 over block Jacobi .82; over Jacobi (its default) .91, symmetric
 *   Gauss-Seidel .92; threshold .02 1.05 (fewer iterations, but a denser second level); no aggressive coarsening 15.
 * - GAMG, rigid-body modes: its default smoother is the only one that works. Gauss-Seidel and block Jacobi meet zeros
 *   on the diagonals of coarser levels, where blocks are six wide, and give up before the first iteration. Aggressive
 *   coarsening on two levels 1.3, on one (the default) 1.9.
 * - ML, translations: Chebyshev of degree 1 over block Jacobi, threshold .02, .61; degree 2 .70; Gauss-Seidel .77 at
 *   threshold .02 and .05, .93 at its default 0; MIS coarsening 1.5.
 * - ML, rigid-body modes: the same with degree 2 .96; Gauss-Seidel 1.0.
 * - BoomerAMG: nodal coarsening (row-sum norm), strong threshold .5, one aggressive level, four entries a row of P,
 *   Chebyshev .86; Gauss-Seidel .89, as it comes 1.5; with interpolation of the rigid-body modes 8.8.
 * - BoomerAMG by unknowns: x, y and z coarsened apart, as unknown-based multigrid does, of which Tamstorf, Jones and
 *   McCormick (2015, sections 2 and 4) say that it fails on cloth; with Gauss-Seidel, which is symmetric. */
#include "peers.h"

#ifdef BENCH_HAS_PETSC
#include "petsc/exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCK_JACOBI    " -mg_levels_ksp_type chebyshev -mg_levels_pc_type pbjacobi"
#define BOOMERAMG(name) " -pc_hypre_boomeramg_" name

static const struct way {
    int modes; /* of the near-kernel */
    const char *options;
} ways[] = {
    {3, "-pc_type gamg" BLOCK_JACOBI},
    {6, "-pc_type gamg -pc_gamg_aggressive_coarsening 2"},
    {3, "-pc_type ml -pc_ml_Threshold 0.02 -mg_levels_ksp_max_it 1" BLOCK_JACOBI},
    {6, "-pc_type ml -pc_ml_Threshold 0.02 -mg_levels_ksp_max_it 2" BLOCK_JACOBI},
    {3, "-pc_type hypre -pc_hypre_type boomeramg" BOOMERAMG("nodal_coarsen 4") BOOMERAMG("strong_threshold 0.5")
            BOOMERAMG("agg_nl 1") BOOMERAMG("P_max 4") BOOMERAMG("relax_type_all Chebyshev")},
    {3, "-pc_type hypre -pc_hypre_type boomeramg" BOOMERAMG("nodal_coarsen 0") BOOMERAMG("relax_type_all "
                                                                                         "symmetric-SOR/Jacobi")},
};

static const char *const members[] = {"PETSc GAMG, 3 modes",
                                      "PETSc GAMG, 6 modes",
                                      "PETSc ML, 3 modes",
                                      "PETSc ML, 6 modes",
                                      "Hypre BoomerAMG",
                                      "Hypre BoomerAMG, by unknowns",
                                      NULL};
_Static_assert(sizeof members / sizeof *members == sizeof ways / sizeof *ways + 1, "a member for each way");

typedef struct state {
    FILE *file; /* without a name, so that nothing remains of it whatever happens */
    void *mapped;
    exchange_head head;
    double tol;
    int32_t threads;
} state;

static void copy_system(state *s, const peer_problem *p) {
    const drape_bsr3 *A = &p->A;
    size_t rows = (size_t)A->rows, blocks = (size_t)A->rowptr[A->rows];
    memcpy(s->mapped, &s->head, sizeof s->head);
    exchange to = exchange_at(s->mapped);
    memcpy(to.rowptr, A->rowptr, (rows + 1) * sizeof *to.rowptr);
    memcpy(to.col, A->col, blocks * sizeof *to.col);
    memcpy(to.val, A->val, 9 * blocks * sizeof *to.val);
    memcpy(to.rhs, p->rhs, 3 * rows * sizeof *to.rhs);
    memcpy(to.positions, p->system->problem.positions, 3 * rows * sizeof *to.positions);
}

/* Nobody but Open MPI looks at its own: root may start it, no processor is anybody's, who waits lets others run. */
static void set_environment(void) {
    static const char *const names[] = {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                                        "OMPI_MCA_rmaps_base_oversubscribe", "OMPI_MCA_mpi_yield_when_idle"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) setenv(names[i], "1", 1);
    setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 1);
}

static void *create(const peer_problem *problem) {
    state *s = calloc(1, sizeof *s);
    if (!s) abort();
    s->head = (exchange_head){problem->A.rows, problem->A.rowptr[problem->A.rows]};
    s->tol = problem->tol;
    s->threads = problem->threads;
    size_t bytes = exchange_bytes(s->head);
    s->file = tmpfile();
    if (!s->file || ftruncate(fileno(s->file), (off_t)bytes)) abort();
    s->mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(s->file), 0);
    if (s->mapped == MAP_FAILED) abort();
    copy_system(s, problem);
    set_environment();
    return s;
}

static FILE *start(const state *s, const struct way *way, int32_t processes) {
    char command[2048];
    int length = snprintf(command, sizeof command,
                          "OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=%d '%s' -n %d '%s' /proc/%ld/fd/%d %d %g '%s' "
                          "</dev/null",
                          s->threads / processes, BENCH_MPIEXEC, processes, BENCH_PETSC_PROGRAM, (long)getpid(),
                          fileno(s->file), way->modes, s->tol, way->options);
    return length < (int)sizeof command ? popen(command, "r") : NULL;
}

static bool run(void *of, int32_t member, int32_t workers, double *x, peer_result *result) {
    state *s = of;
    char line[256] = "";
    int reason = 0;
    fflush(stdout);
    FILE *from = start(s, &ways[member], workers);
    if (!from) return false;
    bool answered = fgets(line, sizeof line, from) != NULL;
    bool good = pclose(from) == 0;
    if (!answered || !good ||
        sscanf(line, "%lf %lf %d %d", &result->setup, &result->solve, &result->iterations, &reason) != 4)
        return false;
    result->converged = reason > 0;
    memcpy(x, exchange_at(s->mapped).x, 3 * (size_t)s->head.rows * sizeof *x);
    return true;
}

static void destroy(void *of) {
    state *s = of;
    munmap(s->mapped, exchange_bytes(s->head));
    fclose(s->file);
    free(s);
}

const peer_library bench_peers_petsc = {.name = "PETSc",
                                        .bit = BENCH_PETSC,
                                        .members = members,
                                        .worker = "process",
                                        .workers = "processes",
                                        .create = create,
                                        .run = run,
                                        .destroy = destroy};
#else
const peer_library bench_peers_petsc = {.name = "PETSc (Debian: libpetsc-real-dev, openmpi-bin)"};
#endif
