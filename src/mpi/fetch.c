/* fetch.c: looking up what lies on other processes. */
#include "mpi/mpi.h"

#include <petscsf.h>

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
