/* mpi.h: what the files of libdrape-petsc share.
 *
 * Functions that mostly call PETSc return its error codes and are written in its manner; drape_i_petsc_status turns
 * one into a status at the border. Everything is collective unless it says otherwise. */
#ifndef DRAPE_MPI_MPI_H
#define DRAPE_MPI_MPI_H

#include "base/context.h"
#include "drape/petsc.h"

#include <petscksp.h>
#include <petscsf.h>

/* ---- agree.c ---- */

/* Not collective: a PETSc error as a status with a message. */
drape_status drape_i_petsc_status(drape_context *ctx, PetscErrorCode code);
/* Not collective: an error where so many vertices have more unknowns than PETSc has indices. */
drape_status drape_i_petsc_indices(drape_context *ctx, const char *what, int64_t vertices);

/* ---- partition.c: vertices by their numbers in a file, and who owns which ---- */

/* Process r of `size` begins with the vertices from here on; r = size gives the end. */
DRAPE_INLINE int64_t drape_i_chunk(int64_t count, int32_t size, int32_t r) { return count * r / size; }

/* Who owns what after a partition. */
typedef struct drape_i_owners {
    int32_t count;  /* own rows */
    int32_t *row;   /* their numbers in the file, ascending */
    int32_t first;  /* the new number of the first; the others follow */
    int32_t *fresh; /* of each row of this process' chunk: its new number */
    int64_t chunk;  /* how many those are */
} drape_i_owners;

/* Divides `count` rows over the processes by their positions, as evenly as whole numbers allow; always in the same
 * way. position: 3 doubles per row of this process' chunk. DRAPE_ERROR_ARGUMENT with more processes than rows. */
drape_status drape_i_partition(drape_context *ctx, MPI_Comm comm, int64_t count, const double *position,
                               drape_i_owners *out);
void drape_i_owners_free(drape_context *ctx, drape_i_owners *owners);

/* Whether this process owns a vertex of its part, which the number of the vertex shows. */
DRAPE_INLINE bool drape_i_is_own(const drape_petsc_part *p, int32_t vertex) {
    const int32_t first = p->number[p->own[0]];
    return p->number[vertex] >= first && p->number[vertex] < first + p->own_count;
}

/* The end of the run of consecutive numbers that begins with list[i]. */
DRAPE_INLINE int32_t drape_i_run_end(const int32_t *list, int32_t count, int32_t i) {
    while (i + 1 < count && list[i + 1] == list[i] + 1) i++;
    return i + 1;
}

/* ---- fetch.c ---- */

/* Looks up entries of an array that lies in chunks over the processes: out[k] = the `unit` numbers of row[k]. `mine`
 * is this process' chunk of the array. */
PetscErrorCode drape_i_fetch_ints(MPI_Comm comm, int64_t count, const int32_t *mine, int32_t wanted,
                                  const int32_t *row, int32_t *out);
PetscErrorCode drape_i_fetch_reals(MPI_Comm comm, int64_t count, int32_t unit, const double *mine, int32_t wanted,
                                   const int32_t *row, double *out);

/* ---- shared_file.c: one file that all processes read, or write together ---- */

typedef struct drape_i_shared_file {
    drape_context *ctx;
    MPI_Comm comm;
    char *path, *temporary; /* temporary NULL: it is only read */
    int descriptor;
    int64_t size; /* when it was opened to be read */
    int error;    /* errno of the first write that failed here */
    bool stays;   /* what was written stays where it is not committed */
} drape_i_shared_file;

drape_status drape_i_shared_open(drape_context *ctx, MPI_Comm comm, const char *path, drape_i_shared_file *out);
/* Under a temporary name, which the first process makes and all others open. */
drape_status drape_i_shared_create(drape_context *ctx, MPI_Comm comm, const char *path, drape_i_shared_file *out);
/* The same under the name path.unfinished, which stays where the file is not committed, and with `again` must be
 * there from the time before. */
drape_status drape_i_shared_continue(drape_context *ctx, MPI_Comm comm, const char *path, bool again,
                                     drape_i_shared_file *out);
/* These two are not collective. What is missing of a file that was cut short meanwhile is an error. */
drape_status drape_i_shared_read(drape_i_shared_file *file, int64_t at, void *data, int64_t bytes);
void drape_i_shared_write(drape_i_shared_file *file, int64_t at, const void *data, int64_t bytes);
/* Everything is on the disk, and the file has its name; or it is gone, and so is what was written. */
drape_status drape_i_shared_commit(drape_i_shared_file *file);
/* Closes a file that was read, and takes away one that was being written. Not collective; NULL or all zero is fine.
 */
void drape_i_shared_close(drape_i_shared_file *file);

/* ---- matrix.c: the prefiltered matrix of all processes in PETSc's form, for preconditioners of PETSc ---- */

/* What is held of the vertices of a part, taken out of the constraints. */
typedef struct drape_i_filter {
    double *S, *z; /* 9 and 3 numbers per vertex */
    bool *held;    /* in any direction */
} drape_i_filter;

/* out = S x, which may be x */
void drape_i_filter_vector(const double *S, const double *x, double *out);
/* C of a vertex whose diagonal block is B. */
double drape_i_held_scale(const double *B);
/* out = S_i B S_j, and C (I - S_i) more on the diagonal */
void drape_i_filter_block(const double *Si, const double *Sj, const double *B, bool diagonal, double *out);
/* An empty matrix of 3x3 blocks; here, away: how many of each own row are in columns of own ones, and in others. */
PetscErrorCode drape_i_matrix_allocate(MPI_Comm comm, PetscInt own, const PetscInt *here, const PetscInt *away,
                                       Mat *out);
/* A^ = S A S + C (I-S): a new matrix, or the values of one with the same pattern. */
PetscErrorCode drape_i_matrix_create(MPI_Comm comm, const drape_petsc_part *part, const drape_bsr3 *A, Mat *out);
PetscErrorCode drape_i_matrix_fill(const drape_petsc_part *part, const drape_bsr3 *A, const drape_i_filter *filter,
                                   Mat out);
/* b^ = S (b - A (I-S) z) of the own vertices, and y = S guess; guess NULL: 0. */
PetscErrorCode drape_i_matrix_vectors(const drape_petsc_part *part, const drape_problem *problem,
                                      const drape_i_filter *filter, Vec b, Vec y);

/* ---- shell.c: matrices of PETSc over drape's own arrays (MATSHELL) ---- */

/* y = A x, or y += A x; `over` is what the matrix was created over. */
typedef PetscErrorCode drape_i_shell_product(const void *over, const PetscScalar *x, PetscScalar *y);

/* Of rows x columns 3x3 blocks on this process. It must not outlive `over`. */
PetscErrorCode drape_i_shell_create(MPI_Comm comm, int32_t rows, int32_t columns, void *over, Mat *out);
/* Calls the product with the numbers of both vectors. */
PetscErrorCode drape_i_shell_apply(Mat A, Vec x, Vec y, drape_i_shell_product *product);

/* ---- level.c: the matrix of a level, of which each process has its own rows ---- */

typedef struct drape_i_own_rows {
    drape_context *ctx;
    MPI_Comm comm;
    int32_t own, first; /* vertices or aggregates: how many are own ones, the number of the first of them */
    int32_t ghosts;     /* of other processes, that own rows are coupled with, */
    int32_t *ghost, *ghost_column; /*   their numbers, and their columns in A, ascending */
    int32_t columns;               /* of A */
    const int32_t *row;            /* finest level: the row and column of each own one in A; NULL: its number here */
    int32_t *place;                /* finest level: what each column is, an own one, own + a ghost, or -1 */
    drape_bsr3 A;                  /* finest level: the caller's; else the three arrays below */
    const drape_i_filter *filter;  /* finest level; else NULL */
    int64_t blocks;                /* of own rows */
    int64_t *rowptr;
    int32_t *col;
    double *val;
    double *x, *inverse; /* 3 numbers per column; 9 per own one: its diagonal block inverted */
    PetscSF sf;          /* from own ones to the columns of ghosts, */
    MPI_Datatype triple; /*   for three numbers of each */
} drape_i_own_rows;

/* A of the caller; out->A may be replaced by one of the same pattern. Not collective. */
drape_status drape_i_own_rows_finest(drape_context *ctx, MPI_Comm comm, const drape_petsc_part *part,
                                     const drape_bsr3 *A, const drape_i_filter *filter, drape_i_own_rows *out);
/* Vectors, once the columns are known. Not collective. */
drape_status drape_i_own_rows_allocate(drape_i_own_rows *rows);
/* The way of numbers to ghosts, once these are known. */
PetscErrorCode drape_i_own_rows_connect(drape_i_own_rows *rows);
/* As a matrix of PETSc, which must not outlive it. */
PetscErrorCode drape_i_own_rows_matrix(drape_i_own_rows *rows, Mat *out);
/* Its numbers are others: what PETSc made of them is out of date. */
PetscErrorCode drape_i_own_rows_changed(Mat matrix);
/* Block k of a row of A as the matrix has it. */
void drape_i_own_rows_block(const drape_i_own_rows *rows, int32_t row, int64_t k, double out[9]);
void drape_i_own_rows_free(drape_i_own_rows *rows);

/* ---- prolongation.c: P from own aggregates to own vertices ---- */

typedef struct drape_i_prolongation {
    int32_t rows, columns;
    int64_t blocks, *rowptr;
    int32_t *col;
    float *val; /* 9 numbers per block, row by row */
} drape_i_prolongation;

/* For its rows and blocks. */
drape_status drape_i_prolongation_allocate(drape_context *ctx, drape_i_prolongation *P);
void drape_i_prolongation_free(drape_context *ctx, drape_i_prolongation *P);
/* As a matrix of PETSc, which must not outlive it. */
PetscErrorCode drape_i_prolongation_matrix(MPI_Comm comm, drape_i_prolongation *P, Mat *out);

/* ---- product.c: P'A P ---- */

/* What is kept for the product with other values. */
typedef struct drape_i_product {
    drape_context *ctx;
    drape_i_prolongation copies; /* rows of P of ghosts */
    PetscSF blocks;              /* from blocks of P to theirs */
    int32_t widest;              /* most blocks of a row of the product */
} drape_i_product;

/* The pattern of the product, and all of *coarse but its values. */
drape_status drape_i_product_pattern(const drape_i_own_rows *fine, const drape_i_prolongation *P,
                                     drape_i_own_rows *coarse, drape_i_product *product);
drape_status drape_i_product_values(const drape_i_own_rows *fine, const drape_i_prolongation *P,
                                    drape_i_product *product, drape_i_own_rows *coarse);
void drape_i_product_free(drape_i_product *product);

/* ---- multigrid.c: drape's interpolations in PETSc's multigrid ---- */

enum { DRAPE_I_MG_LEVELS = 16 };

typedef struct drape_i_multigrid {
    drape_context *ctx;
    MPI_Comm comm;
    drape_petsc_part part; /* borrowed arrays */
    drape_solve_settings settings;
    drape_precond *precond;                     /* of the diagonal block */
    int32_t levels;                             /* 0: not made */
    int64_t rows[DRAPE_I_MG_LEVELS];            /* unknowns of all processes */
    drape_i_own_rows *finest;                   /* not owned */
    drape_i_own_rows coarse[DRAPE_I_MG_LEVELS]; /* of a level; 0 is not used */
    drape_i_prolongation P[DRAPE_I_MG_LEVELS];  /* to a level from the next */
    drape_i_product product[DRAPE_I_MG_LEVELS]; /* which makes a level from the one before; 0 is not used */
    Mat A[DRAPE_I_MG_LEVELS];                   /* of a level, of PETSc; 0 not owned */
    Mat to_fine[DRAPE_I_MG_LEVELS];             /* P, of PETSc */
    Mat coarsest;                               /* in PETSc's own form */
} drape_i_multigrid;

/* What drape's own rule says is due before the solve of this problem; the most that any process needs. */
drape_status drape_i_multigrid_due(drape_i_multigrid *mg, const drape_problem *problem, const drape_i_filter *filter,
                                   drape_precond_work *out);
/* Interpolations, new ones or new values, from the problem's diagonal block; then P'A P of all levels. */
drape_status drape_i_multigrid_refresh(drape_i_multigrid *mg, const drape_problem *problem,
                                       const drape_i_filter *filter, bool rebuild, drape_i_own_rows *finest, Mat A);
/* Tells PETSc about the levels. */
PetscErrorCode drape_i_multigrid_attach(const drape_i_multigrid *mg, PC pc);
void drape_i_multigrid_free(drape_i_multigrid *mg);

#endif
