/* main.c: drape-bench-petsc FILE MODES TOL OPTIONS: PETSc's CG on the system in FILE (exchange.h), under mpiexec.
 *
 * MODES: of the near-kernel. 0 or 3: none is set, and PETSc takes the translations from the blocks of three; 6: the
 * rigid-body modes of the positions. OPTIONS: as PETSc's command line has them, the preconditioner among them.
 *
 * The iteration starts from zero and ends at sqrt(r'P^-1 r) <= TOL sqrt(b'P^-1 b), PETSc's "natural" norm, which is
 * drape's own rule. Set-up and solve are done twice, each time with a new KSP, and the second counts: the first finds
 * a cold process. The matrix is AIJ with blocks of three, whose product takes rows of equal pattern together.
 *
 * Prints "set-up solve iterations reason", seconds; the reason is PETSc's, positive where it converged. */
#include "exchange.h"

#include <fcntl.h>
#include <petscksp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_ITERATIONS = 2000, RUNS = 2, ARGUMENTS = 4 };

typedef struct job {
    exchange data;
    int64_t from, to; /* the block rows of this process */
    PetscInt modes;
    PetscReal tol;
    Mat A;
    Vec b, x;
    double setup, solve;
    PetscInt iterations;
    KSPConvergedReason reason;
} job;

static void *map_file(const char *path) {
    struct stat about;
    int file = open(path, O_RDWR);
    void *mapped = file < 0 || fstat(file, &about)
                       ? MAP_FAILED
                       : mmap(NULL, (size_t)about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) {
        perror(path);
        exit(1);
    }
    close(file);
    return mapped;
}

static PetscErrorCode read_system(job *j, const char *path) {
    void *mapped = map_file(path);
    int64_t rows = ((const exchange_head *)mapped)->rows;
    int rank, size;
    PetscFunctionBeginUser;
    j->data = exchange_at(mapped);
    PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
    j->from = rows * rank / size;
    j->to = rows * (rank + 1) / size;
    PetscFunctionReturn(0);
}

/* Scalar rows of the block rows, offsets from zero, columns of the whole matrix; every zero is kept. */
static void expand_rows(const job *j, PetscInt *rowptr, PetscInt *col, PetscScalar *val) {
    const exchange *d = &j->data;
    PetscInt at = 0;
    for (int64_t i = 3 * j->from; i < 3 * j->to; i++) {
        rowptr[i - 3 * j->from] = at;
        for (int64_t k = d->rowptr[i / 3]; k < d->rowptr[i / 3 + 1]; k++)
            for (int64_t c = 0; c < 3; c++, at++) {
                col[at] = (PetscInt)(3 * d->col[k] + c);
                val[at] = d->val[9 * k + 3 * (i % 3) + c];
            }
    }
    rowptr[3 * (j->to - j->from)] = at;
}

static PetscErrorCode make_matrix(job *j) {
    PetscInt n = (PetscInt)(3 * (j->to - j->from)), *rowptr, *col;
    size_t numbers = 9 * (size_t)(j->data.rowptr[j->to] - j->data.rowptr[j->from]);
    PetscScalar *val;
    PetscFunctionBeginUser;
    PetscCall(PetscMalloc3(n + 1, &rowptr, numbers, &col, numbers, &val));
    expand_rows(j, rowptr, col, val);
    PetscCall(MatCreate(PETSC_COMM_WORLD, &j->A));
    PetscCall(MatSetSizes(j->A, n, n, PETSC_DETERMINE, PETSC_DETERMINE));
    PetscCall(MatSetBlockSize(j->A, 3));
    PetscCall(MatSetType(j->A, MATAIJ));
    PetscCall(MatSeqAIJSetPreallocationCSR(j->A, rowptr, col, val)); /* the one that fits the type does it */
    PetscCall(MatMPIAIJSetPreallocationCSR(j->A, rowptr, col, val));
    PetscCall(MatSetOption(j->A, MAT_SPD, PETSC_TRUE));
    PetscCall(PetscFree3(rowptr, col, val));
    PetscFunctionReturn(0);
}

static PetscErrorCode make_vector(const job *j, const double *values, Vec *v) {
    PetscInt n = (PetscInt)(3 * (j->to - j->from));
    PetscFunctionBeginUser;
    PetscCall(VecCreateMPIWithArray(PETSC_COMM_WORLD, 3, n, PETSC_DETERMINE, values + 3 * j->from, v));
    PetscFunctionReturn(0);
}

static PetscErrorCode set_near_kernel(job *j) {
    Vec positions;
    MatNullSpace modes;
    PetscFunctionBeginUser;
    if (j->modes != 6) PetscFunctionReturn(0);
    PetscCall(make_vector(j, j->data.positions, &positions));
    PetscCall(MatNullSpaceCreateRigidBody(positions, &modes));
    PetscCall(MatSetNearNullSpace(j->A, modes));
    PetscCall(MatNullSpaceDestroy(&modes));
    PetscCall(VecDestroy(&positions));
    PetscFunctionReturn(0);
}

static PetscErrorCode run(job *j) {
    KSP ksp;
    PetscFunctionBeginUser;
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    double begin = MPI_Wtime();
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, j->A, j->A));
    PetscCall(KSPSetType(ksp, KSPCG));
    PetscCall(KSPSetNormType(ksp, KSP_NORM_NATURAL));
    PetscCall(KSPSetTolerances(ksp, j->tol, 0, PETSC_DEFAULT, MOST_ITERATIONS));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(KSPSetUp(ksp));
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    double ready = MPI_Wtime();
    PetscCall(KSPSolve(ksp, j->b, j->x));
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    j->solve = MPI_Wtime() - ready;
    j->setup = ready - begin;
    PetscCall(KSPGetIterationNumber(ksp, &j->iterations));
    PetscCall(KSPGetConvergedReason(ksp, &j->reason));
    PetscCall(KSPDestroy(&ksp));
    PetscFunctionReturn(0);
}

static PetscErrorCode do_job(char **argument) {
    job j = {.modes = (PetscInt)strtol(argument[1], NULL, 10), .tol = strtod(argument[2], NULL)};
    PetscFunctionBeginUser;
    PetscCall(PetscOptionsInsertString(NULL, argument[3]));
    PetscCall(read_system(&j, argument[0]));
    PetscCall(make_matrix(&j));
    PetscCall(set_near_kernel(&j));
    PetscCall(make_vector(&j, j.data.rhs, &j.b));
    PetscCall(make_vector(&j, j.data.x, &j.x));
    for (int i = 0; i < RUNS; i++) PetscCall(run(&j));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%.9e %.9e %d %d\n", j.setup, j.solve, (int)j.iterations, (int)j.reason));
    PetscCall(VecDestroy(&j.x));
    PetscCall(VecDestroy(&j.b));
    PetscCall(MatDestroy(&j.A));
    PetscFunctionReturn(0);
}

int main(int argc, char **argv) {
    int none = 1; /* the options come by a string, not from our arguments */
    if (argc != 1 + ARGUMENTS) {
        fprintf(stderr, "usage: drape-bench-petsc FILE MODES TOL OPTIONS\n");
        return 2;
    }
    PetscCall(PetscInitialize(&none, &argv, NULL, NULL));
    PetscCall(do_job(argv + 1));
    PetscCall(PetscFinalize());
    return 0;
}
