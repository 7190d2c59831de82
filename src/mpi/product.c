/* product.c: P'A P of a level whose interpolation never leads from one process to another. So the rows of own
 * aggregates come from own rows of A alone, and nothing is added up across processes. What is needed of others are
 * the rows of P of the copies that own rows of A are coupled with.
 *
 * Row by row of A, (A P)_i is collected block by block. Then P_iJ' (A P)_i is added to each row J of the
 * product that row i of P leads to. Per vertex with 13 blocks of A and 3.5 of P that is some 2,000 multiplications.
 * PETSc's product keeps A P as a whole, P' twice and two matrices of parts of the result; this one keeps the result.
 */
#include "mpi/mpi.h"

#include <stdlib.h>
#include <string.h>

/* ---- Rows of P of copies ---- */

static PetscErrorCode fetch_lengths(const drape_i_own_rows *fine, const drape_i_prolongation *P, int32_t *start,
                                    int32_t *at) {
    PetscFunctionBeginUser;
    for (int32_t i = 0; i < P->rows; i++) {
        start[2 * (int64_t)i] = (int32_t)P->rowptr[i];
        start[2 * (int64_t)i + 1] = (int32_t)(P->rowptr[i + 1] - P->rowptr[i]);
    }
    PetscCall(PetscSFBcastBegin(fine->sf, MPI_2INT, start, at, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(fine->sf, MPI_2INT, start, at, MPI_REPLACE));
    PetscFunctionReturn(0);
}

/* A star forest over blocks of P: those of copies are leaves. */
static PetscErrorCode connect_blocks(const drape_i_own_rows *fine, const drape_i_prolongation *P, const int32_t *at,
                                     drape_i_prolongation *copies, PetscSF *out) {
    const PetscSFNode *remote;
    PetscSFNode *block;
    PetscFunctionBeginUser;
    PetscCall(PetscSFGetGraph(fine->sf, NULL, NULL, NULL, &remote));
    PetscCall(PetscMalloc1(copies->blocks, &block));
    for (int32_t g = 0; g < fine->ghosts; g++)
        for (int64_t k = copies->rowptr[g]; k < copies->rowptr[g + 1]; k++)
            block[k] = (PetscSFNode){remote[g].rank,
                                     at[2 * (int64_t)fine->ghost_column[g]] + (PetscInt)(k - copies->rowptr[g])};
    PetscCall(PetscSFCreate(fine->comm, out));
    PetscCall(PetscSFSetGraph(*out, (PetscInt)P->blocks, (PetscInt)copies->blocks, NULL, PETSC_COPY_VALUES, block,
                              PETSC_OWN_POINTER));
    PetscCall(PetscSFSetUp(*out));
    PetscFunctionReturn(0);
}

/* Columns of copies, in numbers of all processes. */
static PetscErrorCode fetch_columns(const drape_i_own_rows *fine, const drape_i_prolongation *P, const int32_t *first,
                                    drape_i_product *product) {
    const PetscSFNode *remote;
    drape_i_prolongation *copies = &product->copies;
    PetscFunctionBeginUser;
    PetscCall(PetscSFBcastBegin(product->blocks, MPI_INT32_T, P->col, copies->col, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(product->blocks, MPI_INT32_T, P->col, copies->col, MPI_REPLACE));
    PetscCall(PetscSFGetGraph(fine->sf, NULL, NULL, NULL, &remote));
    for (int32_t g = 0; g < fine->ghosts; g++)
        for (int64_t k = copies->rowptr[g]; k < copies->rowptr[g + 1]; k++) copies->col[k] += first[remote[g].rank];
    PetscFunctionReturn(0);
}

static PetscErrorCode fetch_values(const drape_i_prolongation *P, drape_i_product *product) {
    MPI_Datatype block;
    PetscFunctionBeginUser;
    PetscCallMPI(MPI_Type_contiguous(9, MPI_FLOAT, &block));
    PetscCallMPI(MPI_Type_commit(&block));
    PetscCall(PetscSFBcastBegin(product->blocks, block, P->val, product->copies.val, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(product->blocks, block, P->val, product->copies.val, MPI_REPLACE));
    PetscCallMPI(MPI_Type_free(&block));
    PetscFunctionReturn(0);
}

static int compare(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Aggregates of others that copies lead to become columns behind the own ones, ascending. */
static drape_status number_columns(drape_i_product *product, drape_i_own_rows *coarse) {
    drape_i_prolongation *copies = &product->copies;
    int32_t *list, count = 0;
    if (!DRAPE_NEW_RAW(coarse->ctx, list, copies->blocks)) return DRAPE_ERROR_MEMORY;
    memcpy(list, copies->col, (size_t)copies->blocks * sizeof *list);
    qsort(list, (size_t)copies->blocks, sizeof *list, compare);
    for (int64_t k = 0; k < copies->blocks; k++)
        if (k == 0 || list[k] != list[k - 1]) list[count++] = list[k];
    for (int64_t k = 0; k < copies->blocks; k++) {
        const int32_t *at = bsearch(&copies->col[k], list, (size_t)count, sizeof *list, compare);
        copies->col[k] = coarse->own + (int32_t)(at - list);
    }
    coarse->ghosts = count;
    coarse->columns = coarse->own + count;
    bool good =
        DRAPE_NEW_RAW(coarse->ctx, coarse->ghost, count) && DRAPE_NEW_RAW(coarse->ctx, coarse->ghost_column, count);
    for (int32_t g = 0; g < count && good; g++) {
        coarse->ghost[g] = list[g];
        coarse->ghost_column[g] = coarse->own + g;
    }
    DRAPE_FREE(coarse->ctx, list, copies->blocks);
    return good ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

static drape_status allocate_copies(drape_context *ctx, const drape_i_own_rows *fine, const int32_t *at,
                                    drape_i_prolongation *copies) {
    copies->rows = fine->ghosts;
    if (!DRAPE_NEW(ctx, copies->rowptr, (int64_t)fine->ghosts + 1)) return DRAPE_ERROR_MEMORY;
    for (int32_t g = 0; g < fine->ghosts; g++)
        copies->rowptr[g + 1] = copies->rowptr[g] + at[2 * (int64_t)fine->ghost_column[g] + 1];
    copies->blocks = copies->rowptr[fine->ghosts];
    if (DRAPE_NEW(ctx, copies->col, copies->blocks) && DRAPE_NEW(ctx, copies->val, 9 * copies->blocks))
        return DRAPE_OK;
    return DRAPE_ERROR_MEMORY;
}

static drape_status fetch_copies(const drape_i_own_rows *fine, const drape_i_prolongation *P,
                                 drape_i_own_rows *coarse, drape_i_product *product) {
    drape_context *ctx = fine->ctx;
    int32_t *start = NULL, *at = NULL, *first = NULL, sum = 0;
    int size;
    MPI_Comm_size(fine->comm, &size);
    bool good = DRAPE_NEW(ctx, start, 2 * (int64_t)P->rows) && DRAPE_NEW(ctx, at, 2 * (int64_t)fine->columns) &&
                DRAPE_NEW(ctx, first, size);
    drape_status status = drape_petsc_agree(ctx, fine->comm, good ? DRAPE_OK : DRAPE_ERROR_MEMORY);
    if (!status) {
        MPI_Allgather(&coarse->own, 1, MPI_INT32_T, first, 1, MPI_INT32_T, fine->comm);
        for (int32_t p = 0; p < size; p++) {
            const int32_t own = first[p];
            first[p] = sum;
            sum += own;
        }
        status = drape_i_petsc_status(ctx, fetch_lengths(fine, P, start, at));
    }
    if (!status) status = drape_petsc_agree(ctx, fine->comm, allocate_copies(ctx, fine, at, &product->copies));
    if (!status) status = drape_i_petsc_status(ctx, connect_blocks(fine, P, at, &product->copies, &product->blocks));
    if (!status) status = drape_i_petsc_status(ctx, fetch_columns(fine, P, first, product));
    if (!status) {
        int rank;
        MPI_Comm_rank(fine->comm, &rank);
        coarse->first = first[rank];
        status = drape_petsc_agree(ctx, fine->comm, number_columns(product, coarse));
    }
    DRAPE_FREE(ctx, start, 2 * (int64_t)P->rows);
    DRAPE_FREE(ctx, at, 2 * (int64_t)fine->columns);
    DRAPE_FREE(ctx, first, size);
    return status;
}

/* ---- The pattern ---- */

/* Row of P of a column of A: of an own one, or of a copy. */
typedef struct p_row {
    int64_t begin, end;
    const int32_t *col;
    const float *val;
} p_row;

static p_row row_of_column(const drape_i_own_rows *fine, const drape_i_prolongation *P,
                           const drape_i_product *product, int32_t column) {
    int32_t i = fine->place ? fine->place[column] : column;
    const drape_i_prolongation *from = P;
    if (i >= fine->own) {
        i -= fine->own;
        from = &product->copies;
    }
    return (p_row){from->rowptr[i], from->rowptr[i + 1], from->col, from->val};
}

/* The rows of each column of P. */
typedef struct members {
    int64_t *first;
    int32_t *row;
} members;

static drape_status list_members(drape_context *ctx, const drape_i_prolongation *P, members *out) {
    if (!DRAPE_NEW(ctx, out->first, (int64_t)P->columns + 2) || !DRAPE_NEW_RAW(ctx, out->row, P->blocks))
        return DRAPE_ERROR_MEMORY;
    for (int64_t k = 0; k < P->blocks; k++) out->first[P->col[k] + 2]++;
    for (int32_t to_row = 0; to_row < P->columns; to_row++) out->first[to_row + 2] += out->first[to_row + 1];
    for (int32_t i = 0; i < P->rows; i++)
        for (int64_t k = P->rowptr[i]; k < P->rowptr[i + 1]; k++) out->row[out->first[P->col[k] + 1]++] = i;
    return DRAPE_OK;
}

/* Columns of a row, each once, into `list`; the row itself is always one of them. `seen` holds the row + 1 where it
 * was. */
static int32_t list_columns(const drape_i_own_rows *fine, const drape_i_prolongation *P,
                            const drape_i_product *product, const members *all, int32_t to_row, int32_t *seen,
                            int32_t *list) {
    int32_t count = 0;
    list[count++] = to_row;
    seen[to_row] = to_row + 1;
    for (int64_t m = all->first[to_row]; m < all->first[to_row + 1]; m++) {
        const int32_t row = fine->row ? fine->row[all->row[m]] : all->row[m];
        for (int64_t k = fine->A.rowptr[row]; k < fine->A.rowptr[row + 1]; k++) {
            const p_row to = row_of_column(fine, P, product, fine->A.col[k]);
            for (int64_t q = to.begin; q < to.end; q++) {
                const int32_t column = to.col[q];
                if (seen[column] == to_row + 1) continue;
                seen[column] = to_row + 1;
                list[count++] = column;
            }
        }
    }
    return count;
}

static drape_status make_pattern(const drape_i_own_rows *fine, const drape_i_prolongation *P,
                                 drape_i_product *product, drape_i_own_rows *coarse) {
    drape_context *ctx = fine->ctx;
    members all = {0};
    int32_t *seen = NULL, *list = NULL;
    bool good = !list_members(ctx, P, &all) && DRAPE_NEW(ctx, seen, coarse->columns) &&
                DRAPE_NEW_RAW(ctx, list, coarse->columns) && DRAPE_NEW(ctx, coarse->rowptr, (int64_t)coarse->own + 1);
    for (int32_t to_row = 0; to_row < coarse->own && good; to_row++) {
        const int32_t count = list_columns(fine, P, product, &all, to_row, seen, list);
        coarse->rowptr[to_row + 1] = coarse->rowptr[to_row] + count;
        if (count > product->widest) product->widest = count;
    }
    const int64_t blocks = good ? coarse->rowptr[coarse->own] : 0;
    good = good && DRAPE_NEW_RAW(ctx, coarse->col, blocks);
    if (good) {
        coarse->blocks = blocks;
        memset(seen, 0, (size_t)coarse->columns * sizeof *seen);
        good = DRAPE_NEW(ctx, coarse->val, 9 * blocks);
    }
    for (int32_t to_row = 0; to_row < coarse->own && good; to_row++) {
        const int32_t count = list_columns(fine, P, product, &all, to_row, seen, list);
        qsort(list, (size_t)count, sizeof *list, compare);
        memcpy(coarse->col + coarse->rowptr[to_row], list, (size_t)count * sizeof *list);
    }
    DRAPE_FREE(ctx, all.first, (int64_t)P->columns + 2);
    DRAPE_FREE(ctx, all.row, P->blocks);
    DRAPE_FREE(ctx, seen, coarse->columns);
    DRAPE_FREE(ctx, list, coarse->columns);
    coarse->A = (drape_bsr3){coarse->own, coarse->rowptr, coarse->col, coarse->val};
    return good ? drape_i_own_rows_allocate(coarse) : DRAPE_ERROR_MEMORY;
}

drape_status drape_i_product_pattern(const drape_i_own_rows *fine, const drape_i_prolongation *P,
                                     drape_i_own_rows *coarse, drape_i_product *product) {
    *coarse = (drape_i_own_rows){.ctx = fine->ctx, .comm = fine->comm, .own = P->columns};
    *product = (drape_i_product){.ctx = fine->ctx};
    drape_status status = fetch_copies(fine, P, coarse, product);
    if (!status) status = drape_petsc_agree(fine->ctx, fine->comm, make_pattern(fine, P, product, coarse));
    return status ? status : drape_i_petsc_status(fine->ctx, drape_i_own_rows_connect(coarse));
}

/* ---- The values ---- */

/* A row of A P while it is made. */
typedef struct row_product {
    int32_t count, *col;
    double *val;
    int32_t *slot; /* per column of the product: where it stands here, or -1 */
    int64_t *at;   /* per column of the product: where it stands in the row that is added to */
} row_product;

/* C += A B, C += A' B */
static void add_product(const double *A, const float *B, double *C) {
    for (int32_t i = 0; i < 3; i++)
        for (int32_t j = 0; j < 3; j++)
            C[3 * i + j] += (A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j]) + A[3 * i + 2] * B[6 + j];
}

static void add_transposed_product(const float *A, const double *B, double *C) {
    for (int32_t i = 0; i < 3; i++)
        for (int32_t j = 0; j < 3; j++) C[3 * i + j] += (A[i] * B[j] + A[3 + i] * B[3 + j]) + A[6 + i] * B[6 + j];
}

/* (A P)_i */
static void multiply_row(const drape_i_own_rows *fine, const drape_i_prolongation *P, const drape_i_product *product,
                         int32_t row, row_product *r) {
    double block[9];
    r->count = 0;
    for (int64_t k = fine->A.rowptr[row]; k < fine->A.rowptr[row + 1]; k++) {
        const p_row to = row_of_column(fine, P, product, fine->A.col[k]);
        if (to.begin == to.end) continue;
        drape_i_own_rows_block(fine, row, k, block);
        for (int64_t q = to.begin; q < to.end; q++) {
            int32_t *slot = &r->slot[to.col[q]];
            if (*slot < 0) {
                *slot = r->count;
                memset(r->val + 9 * (int64_t)r->count, 0, sizeof block);
                r->col[r->count++] = to.col[q];
            }
            add_product(block, to.val + 9 * q, r->val + 9 * (int64_t)*slot);
        }
    }
    for (int32_t s = 0; s < r->count; s++) r->slot[r->col[s]] = -1;
}

static void add_row(const drape_i_prolongation *P, int32_t i, const drape_i_own_rows *coarse, const row_product *r) {
    for (int64_t k = P->rowptr[i]; k < P->rowptr[i + 1]; k++) {
        const int32_t to_row = P->col[k];
        for (int64_t b = coarse->rowptr[to_row]; b < coarse->rowptr[to_row + 1]; b++) r->at[coarse->col[b]] = b;
        for (int32_t s = 0; s < r->count; s++)
            add_transposed_product(P->val + 9 * k, r->val + 9 * (int64_t)s, coarse->val + 9 * r->at[r->col[s]]);
    }
}

/* Unknowns that no vertex depends on get a one on the diagonal. */
static void fix_diagonal(drape_i_own_rows *coarse) {
    for (int32_t to_row = 0; to_row < coarse->own; to_row++)
        for (int64_t b = coarse->rowptr[to_row]; b < coarse->rowptr[to_row + 1]; b++)
            for (int32_t m = 0; m < 9 && coarse->col[b] == to_row; m += 4)
                if (coarse->val[9 * b + m] == 0) coarse->val[9 * b + m] = 1;
}

static drape_status make_values(const drape_i_own_rows *fine, const drape_i_prolongation *P,
                                const drape_i_product *product, drape_i_own_rows *coarse) {
    drape_context *ctx = fine->ctx;
    row_product r = {0};
    bool good = DRAPE_NEW_RAW(ctx, r.col, product->widest) &&
                DRAPE_NEW_RAW(ctx, r.val, 9 * (int64_t)product->widest) &&
                DRAPE_NEW_RAW(ctx, r.slot, coarse->columns) && DRAPE_NEW_RAW(ctx, r.at, coarse->columns);
    if (good) {
        for (int32_t c = 0; c < coarse->columns; c++) r.slot[c] = -1;
        memset(coarse->val, 0, 9 * (size_t)coarse->blocks * sizeof *coarse->val);
        for (int32_t i = 0; i < fine->own; i++) {
            if (P->rowptr[i] == P->rowptr[i + 1]) continue;
            multiply_row(fine, P, product, fine->row ? fine->row[i] : i, &r);
            add_row(P, i, coarse, &r);
        }
        fix_diagonal(coarse);
    }
    DRAPE_FREE(ctx, r.col, product->widest);
    DRAPE_FREE(ctx, r.val, 9 * (int64_t)product->widest);
    DRAPE_FREE(ctx, r.slot, coarse->columns);
    DRAPE_FREE(ctx, r.at, coarse->columns);
    return good ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

drape_status drape_i_product_values(const drape_i_own_rows *fine, const drape_i_prolongation *P,
                                    drape_i_product *product, drape_i_own_rows *coarse) {
    drape_status status = drape_i_petsc_status(fine->ctx, fetch_values(P, product));
    return drape_petsc_agree(fine->ctx, fine->comm, status ? status : make_values(fine, P, product, coarse));
}

void drape_i_product_free(drape_i_product *product) {
    if (!product->ctx) return;
    PetscSFDestroy(&product->blocks);
    drape_i_prolongation_free(product->ctx, &product->copies);
    *product = (drape_i_product){0};
}
