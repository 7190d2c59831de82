/* shell.c: matrices of PETSc that are never copied, because they are products with drape's own arrays (MATSHELL). */
#include "mpi/mpi.h"

PetscErrorCode drape_i_shell_create(MPI_Comm comm, int32_t rows, int32_t columns, void *over, Mat *out) {
    PetscFunctionBeginUser;
    PetscCall(MatCreateShell(comm, 3 * rows, 3 * columns, PETSC_DETERMINE, PETSC_DETERMINE, over, out));
    PetscCall(MatSetBlockSize(*out, 3));
    PetscCall(MatSetUp(*out));
    PetscFunctionReturn(0);
}

PetscErrorCode drape_i_shell_apply(Mat A, Vec x, Vec y, drape_i_shell_product *product) {
    void *over;
    const PetscScalar *from;
    PetscScalar *to;
    PetscFunctionBeginUser;
    PetscCall(MatShellGetContext(A, &over));
    PetscCall(VecGetArrayRead(x, &from));
    PetscCall(VecGetArray(y, &to));
    PetscCall(product(over, from, to));
    PetscCall(VecRestoreArray(y, &to));
    PetscCall(VecRestoreArrayRead(x, &from));
    PetscFunctionReturn(0);
}
