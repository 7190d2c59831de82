/* partition.c: dividing a graph by PT-Scotch, and looking up what lies on other processes.
 *
 * Rows have the numbers of their file until they are divided. Then each process numbers its own ones in the same
 * order, behind those of the processes before it: PETSc's matrices want consecutive rows. */
#include "mpi/mpi.h"

#include <petscsf.h>

/* PETSc's own lists: arrays that MatCreateMPIAdj frees. */
static PetscErrorCode make_adjacency(MPI_Comm comm, const drape_i_graph_chunk *g, PetscInt rows, PetscInt from,
                                     Mat *out) {
    PetscInt *start, *neighbour, at = 0;
    PetscFunctionBeginUser;
    PetscCall(PetscMalloc1(rows + 1, &start));
    PetscCall(PetscMalloc1(g->start[rows] - g->start[0] + 1, &neighbour));
    for (PetscInt i = 0; i < rows; i++) {
        start[i] = at;
        for (int64_t k = g->start[i]; k < g->start[i + 1]; k++) {
            PetscInt to = g->neighbour[k - g->start[0]];
            if (to != from + i) neighbour[at++] = to;
        }
    }
    start[rows] = at;
    PetscCall(MatCreateMPIAdj(comm, rows, (PetscInt)g->count, start, neighbour, NULL, out));
    PetscFunctionReturn(0);
}

static PetscErrorCode copy_result(IS numbering, IS own, drape_i_owners *out) {
    const PetscInt *index;
    PetscFunctionBeginUser;
    PetscCall(ISGetIndices(numbering, &index));
    for (int64_t i = 0; i < out->chunk; i++) out->fresh[i] = (int32_t)index[i];
    PetscCall(ISRestoreIndices(numbering, &index));
    PetscCall(ISSort(own));
    PetscCall(ISGetIndices(own, &index));
    for (int32_t i = 0; i < out->count; i++) out->row[i] = (int32_t)index[i];
    PetscCall(ISRestoreIndices(own, &index));
    PetscFunctionReturn(0);
}

/* *own: numbers of the rows that come to this process. */
static PetscErrorCode divide(MPI_Comm comm, const drape_i_graph_chunk *g, PetscInt rows, PetscInt from, IS *numbering,
                             IS *own) {
    Mat graph;
    MatPartitioning cut;
    IS to;
    PetscFunctionBeginUser;
    PetscCall(make_adjacency(comm, g, rows, from, &graph));
    PetscCall(MatPartitioningCreate(comm, &cut));
    PetscCall(MatPartitioningSetAdjacency(cut, graph));
    PetscCall(MatPartitioningSetType(cut, MATPARTITIONINGPTSCOTCH));
    PetscCall(MatPartitioningSetFromOptions(cut));
    PetscCall(MatPartitioningApply(cut, &to));
    PetscCall(ISPartitioningToNumbering(to, numbering));
    PetscCall(ISBuildTwoSided(to, NULL, own));
    PetscCall(ISDestroy(&to));
    PetscCall(MatPartitioningDestroy(&cut));
    PetscCall(MatDestroy(&graph));
    PetscFunctionReturn(0);
}

static drape_status take(drape_context *ctx, MPI_Comm comm, IS numbering, IS own, drape_i_owners *out) {
    PetscInt count;
    int rank, size;
    int64_t mine, before = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    drape_status status = drape_i_petsc_status(ctx, ISGetLocalSize(own, &count));
    if (status) return status;
    out->count = (int32_t)count;
    mine = count;
    MPI_Exscan(&mine, &before, 1, MPI_INT64_T, MPI_SUM, comm);
    out->first = rank == 0 ? 0 : (int32_t)before;
    if (count == 0)
        status = drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                              "PT-Scotch left process %d of %d without vertices; take fewer processes", rank, size);
    else if (!DRAPE_NEW(ctx, out->row, count) || !DRAPE_NEW(ctx, out->fresh, out->chunk + 1))
        status = DRAPE_ERROR_MEMORY;
    status = drape_petsc_agree(ctx, comm, status);
    return status ? status : drape_i_petsc_status(ctx, copy_result(numbering, own, out));
}

drape_status drape_i_partition(drape_context *ctx, MPI_Comm comm, const drape_i_graph_chunk *g, drape_i_owners *out) {
    int rank, size;
    IS numbering = NULL, own = NULL;
    PetscErrorCode code;
    *out = (drape_i_owners){0};
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (g->count < size)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%d processes for %lld vertices; take fewer processes", size,
                            (long long)g->count);
    PetscInt from = (PetscInt)drape_i_chunk(g->count, size, rank);
    PetscInt rows = (PetscInt)drape_i_chunk(g->count, size, rank + 1) - from;
    out->chunk = rows;
    if (size > 1) {
        code = divide(comm, g, rows, from, &numbering, &own);
    } else {
        code = ISCreateStride(comm, rows, 0, 1, &numbering);
        if (!code) code = ISCreateStride(comm, rows, 0, 1, &own);
    }
    drape_status status = drape_i_petsc_status(ctx, code);
    if (!status) status = take(ctx, comm, numbering, own, out);
    ISDestroy(&numbering);
    ISDestroy(&own);
    if (status) drape_i_owners_free(ctx, out);
    return status;
}

void drape_i_owners_free(drape_context *ctx, drape_i_owners *o) {
    DRAPE_FREE(ctx, o->row, o->count);
    DRAPE_FREE(ctx, o->fresh, o->chunk + 1);
    *o = (drape_i_owners){0};
}

/* ---- Looking up ---- */

static PetscErrorCode fetch(MPI_Comm comm, int64_t count, MPI_Datatype type, const void *mine, int32_t wanted,
                            const int32_t *row, void *out) {
    PetscSF sf;
    PetscLayout layout;
    int rank, size;
    PetscFunctionBeginUser;
    PetscCallMPI(MPI_Comm_rank(comm, &rank));
    PetscCallMPI(MPI_Comm_size(comm, &size));
    PetscCall(PetscLayoutCreate(comm, &layout));
    PetscCall(PetscLayoutSetLocalSize(
        layout, (PetscInt)(drape_i_chunk(count, size, rank + 1) - drape_i_chunk(count, size, rank))));
    PetscCall(PetscLayoutSetUp(layout));
    PetscCall(PetscSFCreate(comm, &sf));
    PetscCall(PetscSFSetGraphLayout(sf, layout, wanted, NULL, PETSC_COPY_VALUES, row));
    PetscCall(PetscSFBcastBegin(sf, type, mine, out, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(sf, type, mine, out, MPI_REPLACE));
    PetscCall(PetscSFDestroy(&sf));
    PetscCall(PetscLayoutDestroy(&layout));
    PetscFunctionReturn(0);
}

PetscErrorCode drape_i_fetch_ints(MPI_Comm comm, int64_t count, const int32_t *mine, int32_t wanted,
                                  const int32_t *row, int32_t *out) {
    return fetch(comm, count, MPI_INT32_T, mine, wanted, row, out);
}

PetscErrorCode drape_i_fetch_reals(MPI_Comm comm, int64_t count, int32_t unit, const double *mine, int32_t wanted,
                                   const int32_t *row, double *out) {
    MPI_Datatype type;
    PetscFunctionBeginUser;
    PetscCallMPI(MPI_Type_contiguous(unit, MPI_DOUBLE, &type));
    PetscCallMPI(MPI_Type_commit(&type));
    PetscCall(fetch(comm, count, type, mine, wanted, row, out));
    PetscCallMPI(MPI_Type_free(&type));
    PetscFunctionReturn(0);
}
