/* assembly.h: adds element matrices and vectors into block rows, threaded, without atomics.
 *
 * The rows are cut into parts. A part goes through all elements that touch one of its rows, and adds only to its own
 * rows. An element on the border of two parts is computed by both. So no two threads write the same memory, and no
 * element matrix is stored. Each row sums its elements in an order that depends only on the mesh (assembly.c). The
 * bits depend neither on the number of parts nor on the threads that work on them.
 *
 * Where all of a run's sets are symmetric, elements add to the blocks on and above the diagonal only. Those below are
 * written once, as transposes, when a row is complete. */
#ifndef DRAPE_SPARSE_ASSEMBLY_H
#define DRAPE_SPARSE_ASSEMBLY_H

#include "base/context.h"
#include "base/simd_level.h"
#include "drape/sparse.h"

enum {
    DRAPE_I_LANES = 8,           /* elements computed together */
    DRAPE_I_ELEMENT_NODES = 4,   /* most nodes of an element */
    DRAPE_I_ELEMENT_VECTORS = 2, /* most vectors assembled beside the matrix */
    DRAPE_I_ASSEMBLY_SETS = 48   /* most sets of elements */
};

enum { DRAPE_I_ELEMENT_PAIRS = DRAPE_I_ELEMENT_NODES * (DRAPE_I_ELEMENT_NODES + 1) / 2 };

/* Results of eight elements of k nodes, lane by lane: blocks[pair][9][lane] for the node pairs a <= b in the
 * order (0,0) (0,1) .. (0,k-1) (1,1) ..; vectors[which][node][3][lane]. Block (b, a) is the transpose of (a, b),
 * unless the job calls the set unsymmetric. Then it is in lower[pair], the pair being (a, b); those of a = b stay
 * empty.
 */
typedef struct drape_i_batch {
    double DRAPE_ALIGNED blocks[DRAPE_I_ELEMENT_PAIRS * 9][DRAPE_I_LANES];
    double DRAPE_ALIGNED vectors[DRAPE_I_ELEMENT_VECTORS][DRAPE_I_ELEMENT_NODES * 3][DRAPE_I_LANES];
    double DRAPE_ALIGNED lower[DRAPE_I_ELEMENT_PAIRS * 9][DRAPE_I_LANES];
    double DRAPE_ALIGNED scalar[DRAPE_I_LANES]; /* read if the job has one per element */
} drape_i_batch;

/* Computes eight elements into the batch; towards the end of a list the last number repeats, and those lanes are not
 * read. `data` is the set's own, `at` the job's: the state at which to evaluate. Runs on several threads at once. */
typedef void (*drape_i_batch_fn)(const void *data, const void *at, const int32_t elements[DRAPE_I_LANES],
                                 drape_i_batch *out);

typedef struct drape_i_assembly drape_i_assembly;

/* A set's elements must all be in the matrix's pattern. The arrays of `sets` stay the caller's and must live on. */
drape_status drape_i_assembly_create(drape_context *ctx, const drape_bsr3 *A, const drape_elements *sets,
                                     int32_t set_count, drape_i_assembly **out);
void drape_i_assembly_destroy(drape_i_assembly *assembly);

typedef struct drape_i_assembly_job {
    drape_bsr3 A;                             /* val NULL: vectors only */
    double *vectors[DRAPE_I_ELEMENT_VECTORS]; /* 3 rows each, or NULL */
    /* Sets rows [begin, end) of the vectors and of the matrix (already zero) to what they start from. Where
     * drape_i_assembly_mirrors(), blocks below the diagonal are not zero, and must be left alone. */
    void (*start)(void *data, int32_t begin, int32_t end);
    void *start_data;
    const drape_i_batch_fn *kernels; /* one per set; NULL: the set is left out */
    const void *const *kernel_data;  /* one per set */
    const void *at;                  /* handed to all kernels */
    const bool *unsymmetric;         /* one per set: its kernel fills `lower`; NULL: none does */
    double *const *scalars;          /* one per set: a number per element, or NULL; NULL: none of them */
} drape_i_assembly_job;

void drape_i_assembly_run(drape_i_assembly *assembly, const drape_i_assembly_job *job);
/* Whether a run takes the blocks below the diagonal from those above it. */
bool drape_i_assembly_mirrors(const drape_i_assembly *assembly, const drape_i_assembly_job *job);

/* Where the blocks of a set's batches go: scatter_simd.c. */
typedef struct drape_i_scatter {
    const int32_t *nodes, *slot; /* of the set (assembly.c) */
    const int32_t *mirror;       /* of the assembly */
    int32_t k;                   /* nodes per element */
    int32_t begin, end;          /* the rows to add to */
    const int64_t *rowptr;
    double *val;
    bool upper;       /* the blocks on and above the diagonal only */
    bool unsymmetric; /* not upper: the batch has `lower` */
} drape_i_scatter;

/* Adds the first `count` lanes of the batch. */
DRAPE_I_KERNEL(void, drape_i_scatter_blocks,
               (const drape_i_scatter *s, const int32_t *elements, int32_t count, const drape_i_batch *batch));

/* Adds one vector of the first `count` lanes. */
DRAPE_I_KERNEL(void, drape_i_scatter_vector,
               (const drape_i_scatter *s, const int32_t *elements, int32_t count, const double (*from)[DRAPE_I_LANES],
                double *vector));

/* Writes the blocks right of the diagonal of rows [begin, end) to their mirror places. */
DRAPE_I_KERNEL(void, drape_i_scatter_mirror,
               (const drape_bsr3 *A, const int32_t *mirror, int32_t begin, int32_t end));

#endif
