/* agree.c: failures that are the same on all processes, and indices that PETSc lacks. */
#include "mpi/mpi.h"

#include <string.h>

drape_status drape_petsc_agree(drape_context *ctx, MPI_Comm comm, drape_status status) {
    struct {
        int status, rank;
    } mine = {(int)status, 0}, worst;
    char message[DRAPE_I_MESSAGE_SIZE];
    MPI_Comm_rank(comm, &mine.rank);
    MPI_Allreduce(&mine, &worst, 1, MPI_2INT, MPI_MAXLOC, comm); /* the first of those that are alike */
    if (worst.status == DRAPE_OK) return DRAPE_OK;
    memcpy(message, ctx->message, sizeof message);
    MPI_Bcast(message, sizeof message, MPI_CHAR, worst.rank, comm);
    memcpy(ctx->message, message, sizeof message);
    return (drape_status)worst.status;
}

drape_status drape_i_petsc_status(drape_context *ctx, PetscErrorCode code) {
    const char *text = NULL;
    char *about = NULL;
    if (!code) return DRAPE_OK;
    PetscErrorMessage(code, &text, &about);
    return drape_i_fail(ctx, code == PETSC_ERR_MEM ? DRAPE_ERROR_MEMORY : DRAPE_ERROR_ARGUMENT, "PETSc: %s%s%s",
                        text ? text : "an error without a name", about && *about ? ": " : "", about ? about : "");
}

drape_status drape_i_petsc_indices(drape_context *ctx, const char *what, int64_t vertices) {
    if (3 * vertices <= (int64_t)PETSC_MAX_INT) return DRAPE_OK;
    return drape_i_fail(
        ctx, DRAPE_ERROR_ARGUMENT,
        "%s: %lld vertices have more unknowns than the %d-bit indices of this PETSc; use one that was "
        "built with 64-bit indices",
        what, (long long)vertices, (int)(8 * sizeof(PetscInt)));
}
