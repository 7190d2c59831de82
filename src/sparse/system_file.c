/* system_file.c: a linear system S A x = S b, (I - S) x = (I - S) z in a file, as a step made it.
 *
 * Little-endian, without gaps:
 *
 *   char    magic[8] = "DRAPESY1"
 *   int64   n, nnzb, nconstrained     vertices, blocks, vertices whose S is not exactly I
 *   double  h                         time step, s
 *   int64   rowptr[n + 1]
 *   int32   col[nnzb]                 and four zero bytes where nnzb is odd
 *   double  val[9 nnzb], S[9 n], b[3 n], z[3 n], rest[3 n], cur[3 n]
 *
 * The size follows from n and nnzb, and a file of any other size is refused before anything is allocated. So memory
 * never exceeds the file's size (twice with drape_system_read, which holds the bytes and the arrays for a moment).
 * Then writer and reader check everything: the pattern, with every diagonal block; every value finite; h > 0; and the
 * number of S. Each S must be an orthogonal projection, S = S' = S S, to PROJECTION entry by entry.
 *
 * Arrays are copied as they lie in memory: little-endian hosts only. */
#include "sparse/system_file.h"
#include "base/file.h"
#include "sparse/matrix.h"

#include <math.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "system files are copied to and from memory, which needs a little-endian host"
#endif
_Static_assert(sizeof(double) == 8, "system files hold 8-byte doubles");

static const double PROJECTION = 1e-9; /* rounding of S = I - p p' is some 1e-16; a wrong S is off by far more */

typedef drape_i_system_header header;

enum { ROW_BYTES = DRAPE_I_SYSTEM_ROW_BYTES, BLOCK_BYTES = DRAPE_I_SYSTEM_BLOCK_BYTES };

/* Where a system comes from or goes to, for messages. */
typedef struct place {
    drape_context *ctx;
    const char *name;
    drape_status status; /* what a failed check is */
} place;

/* ---- Checks ---- */

static drape_status check_rowptr(const place *at, const drape_bsr3 *A, int64_t blocks) {
    if (A->rowptr[0] != 0)
        return drape_i_fail(at->ctx, at->status, "%s: rowptr begins with %lld, not 0", at->name,
                            (long long)A->rowptr[0]);
    for (int32_t i = 0; i < A->rows; i++)
        if (A->rowptr[i + 1] < A->rowptr[i] || A->rowptr[i + 1] > blocks)
            return drape_i_fail(at->ctx, at->status, "%s: row %d goes from %lld to %lld of %lld blocks", at->name, i,
                                (long long)A->rowptr[i], (long long)A->rowptr[i + 1], (long long)blocks);
    if (A->rowptr[A->rows] != blocks)
        return drape_i_fail(at->ctx, at->status, "%s: rowptr ends with %lld of %lld blocks", at->name,
                            (long long)A->rowptr[A->rows], (long long)blocks);
    return DRAPE_OK;
}

static drape_status check_row(const place *at, const drape_bsr3 *A, int32_t i) {
    bool diagonal = false;
    int32_t before = -1;
    for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; before = A->col[k++]) {
        if (A->col[k] < 0 || A->col[k] >= A->rows)
            return drape_i_fail(at->ctx, at->status, "%s: row %d has column %d, outside 0 .. %d", at->name, i,
                                A->col[k], A->rows - 1);
        if (A->col[k] <= before)
            return drape_i_fail(at->ctx, at->status, "%s: row %d has column %d after %d; columns must increase",
                                at->name, i, A->col[k], before);
        diagonal |= A->col[k] == i;
    }
    return diagonal ? DRAPE_OK : drape_i_fail(at->ctx, at->status, "%s: row %d has no diagonal block", at->name, i);
}

static drape_status check_pattern(const place *at, const drape_bsr3 *A, int64_t blocks) {
    drape_status status = check_rowptr(at, A, blocks);
    for (int32_t i = 0; !status && i < A->rows; i++) status = check_row(at, A, i);
    return status;
}

static drape_status check_blocks(const place *at, const drape_bsr3 *A) {
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = 9 * A->rowptr[i]; k < 9 * A->rowptr[i + 1]; k++)
            if (!isfinite(A->val[k]))
                return drape_i_fail(at->ctx, at->status,
                                    "%s: the block of row %d, column %d holds a value that is not finite", at->name,
                                    i, A->col[k / 9]);
    return DRAPE_OK;
}

static drape_status check_finite(const place *at, const char *what, const double *x, int32_t rows, int per_row) {
    for (int64_t k = 0; k < (int64_t)rows * per_row; k++)
        if (!isfinite(x[k]))
            return drape_i_fail(at->ctx, at->status, "%s: %s of vertex %lld is not finite", at->name, what,
                                (long long)(k / per_row));
    return DRAPE_OK;
}

bool drape_i_is_projection(const double S[9]) {
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            double square = S[3 * a] * S[b] + S[3 * a + 1] * S[3 + b] + S[3 * a + 2] * S[6 + b];
            if (!(fabs(S[3 * a + b] - S[3 * b + a]) <= PROJECTION)) return false;
            if (!(fabs(S[3 * a + b] - square) <= PROJECTION)) return false;
        }
    return true;
}

bool drape_i_is_identity(const double S[9]) {
    for (int k = 0; k < 9; k++)
        if (S[k] != (k % 4 ? 0.0 : 1.0)) return false;
    return true;
}

static drape_status check_filter(const place *at, const drape_system *s) {
    int64_t constrained = 0;
    for (int32_t i = 0; i < s->A.rows; i++) {
        if (!drape_i_is_projection(s->S + 9 * (int64_t)i))
            return drape_i_fail(at->ctx, at->status, "%s: S of vertex %d is not an orthogonal projection", at->name,
                                i);
        constrained += !drape_i_is_identity(s->S + 9 * (int64_t)i);
    }
    if (constrained != s->constrained)
        return drape_i_fail(at->ctx, at->status, "%s: %lld vertices are declared as constrained, but %lld are",
                            at->name, (long long)s->constrained, (long long)constrained);
    return DRAPE_OK;
}

static drape_status check_values(const place *at, const drape_system *s) {
    drape_status status;
    if (!isfinite(s->h) || !(s->h > 0))
        return drape_i_fail(at->ctx, at->status, "%s: the time step h = %g is not positive and finite", at->name,
                            s->h);
    if ((status = check_blocks(at, &s->A))) return status;
    if ((status = check_finite(at, "S", s->S, s->A.rows, 9))) return status;
    if ((status = check_finite(at, "b", s->b, s->A.rows, 3))) return status;
    if ((status = check_finite(at, "z", s->z, s->A.rows, 3))) return status;
    if ((status = check_finite(at, "rest", s->rest, s->A.rows, 3))) return status;
    if ((status = check_finite(at, "cur", s->cur, s->A.rows, 3))) return status;
    return check_filter(at, s);
}

/* ---- Writing ---- */

static drape_status check_argument(drape_context *ctx, const char *path, const drape_system *s) {
    place at = {ctx, path, DRAPE_ERROR_ARGUMENT};
    const drape_bsr3 *A = &s->A;
    if (A->rows < 0 || !A->rowptr) return drape_i_fail(ctx, at.status, "%s: %d rows, or no rowptr", path, A->rows);
    int64_t blocks = A->rowptr[A->rows];
    if ((blocks && (!A->col || !A->val)) || (A->rows && !(s->S && s->b && s->z && s->rest && s->cur)))
        return drape_i_fail(ctx, at.status, "%s: an array of the system is missing", path);
    drape_status status = check_pattern(&at, A, blocks);
    return status ? status : check_values(&at, s);
}

static void write_arrays(drape_i_file *file, const drape_system *s) {
    size_t n = (size_t)s->A.rows, blocks = (size_t)s->A.rowptr[n];
    header head = {.n = s->A.rows, .nnzb = s->A.rowptr[n], .nconstrained = s->constrained, .h = s->h};
    memcpy(head.magic, DRAPE_I_SYSTEM_MAGIC, sizeof head.magic);
    drape_i_file_write(file, &head, sizeof head);
    drape_i_file_write(file, s->A.rowptr, (n + 1) * sizeof *s->A.rowptr);
    drape_i_file_write(file, s->A.col, blocks * sizeof *s->A.col);
    drape_i_file_write(file, &(int32_t){0}, blocks % 2 * sizeof(int32_t));
    drape_i_file_write(file, s->A.val, 9 * blocks * sizeof(double));
    drape_i_file_write(file, s->S, 9 * n * sizeof(double));
    drape_i_file_write(file, s->b, 3 * n * sizeof(double));
    drape_i_file_write(file, s->z, 3 * n * sizeof(double));
    drape_i_file_write(file, s->rest, 3 * n * sizeof(double));
    drape_i_file_write(file, s->cur, 3 * n * sizeof(double));
}

drape_status drape_system_write(drape_context *ctx, const char *path, const drape_system *system) {
    drape_i_file file;
    if (!ctx || !path || !system) return drape_i_missing(ctx, "system", path ? "system" : "path");
    drape_status status = check_argument(ctx, path, system);
    if (!status) status = drape_i_file_create(ctx, path, &file);
    if (status) return status;
    write_arrays(&file, system);
    return drape_i_file_commit(ctx, &file);
}

/* ---- Reading ---- */

/* n and nnzb below what the size can hold, so that the products do not overflow; then the size itself. */
static drape_status check_header(const place *at, const header *head, int64_t size) {
    if (memcmp(head->magic, DRAPE_I_SYSTEM_MAGIC, sizeof head->magic) != 0)
        return drape_i_fail(at->ctx, at->status, "%s: does not begin with DRAPESY1", at->name);
    if (head->n < 0 || head->n > INT32_MAX || head->n > size / ROW_BYTES || head->nnzb < 0 ||
        head->nnzb > size / BLOCK_BYTES)
        return drape_i_fail(at->ctx, at->status, "%s: %lld vertices and %lld blocks do not fit in %lld bytes",
                            at->name, (long long)head->n, (long long)head->nnzb, (long long)size);
    int64_t expected = (int64_t)sizeof *head + 8 + head->n * ROW_BYTES + head->nnzb * BLOCK_BYTES +
                       head->nnzb % 2 * (int64_t)sizeof(int32_t);
    if (size != expected)
        return drape_i_fail(at->ctx, at->status, "%s: %lld bytes, but %lld vertices and %lld blocks take %lld",
                            at->name, (long long)size, (long long)head->n, (long long)head->nnzb,
                            (long long)expected);
    return DRAPE_OK;
}

static void release(drape_context *ctx, drape_system *s, int64_t blocks) {
    int64_t n = s->A.rows;
    drape_i_free(ctx, (void *)s->A.rowptr, n + 1, sizeof *s->A.rowptr);
    drape_i_free(ctx, (void *)s->A.col, blocks, sizeof *s->A.col);
    DRAPE_FREE(ctx, s->A.val, 9 * blocks);
    DRAPE_FREE(ctx, s->S, 9 * n);
    DRAPE_FREE(ctx, s->b, 3 * n);
    DRAPE_FREE(ctx, s->z, 3 * n);
    DRAPE_FREE(ctx, s->rest, 3 * n);
    DRAPE_FREE(ctx, s->cur, 3 * n);
    *s = (drape_system){0};
}

static drape_status allocate(drape_context *ctx, const header *head, drape_system *s) {
    int64_t n = head->n, blocks = head->nnzb;
    *s = (drape_system){.A.rows = (int32_t)n, .constrained = head->nconstrained, .h = head->h};
    if (DRAPE_NEW(ctx, s->A.rowptr, n + 1) && DRAPE_NEW(ctx, s->A.col, blocks) &&
        DRAPE_NEW(ctx, s->A.val, 9 * blocks) && DRAPE_NEW(ctx, s->S, 9 * n) && DRAPE_NEW(ctx, s->b, 3 * n) &&
        DRAPE_NEW(ctx, s->z, 3 * n) && DRAPE_NEW(ctx, s->rest, 3 * n) && DRAPE_NEW(ctx, s->cur, 3 * n))
        return DRAPE_OK;
    release(ctx, s, blocks);
    return DRAPE_ERROR_MEMORY;
}

static const char *copy(const void *array, const char *from, int64_t count, size_t size) {
    memcpy((void *)array, from, (size_t)count * size);
    return from + (size_t)count * size;
}

static drape_status copy_arrays(const place *at, const char *from, int64_t blocks, drape_system *s) {
    int64_t n = s->A.rows;
    int32_t padding = 0;
    from = copy(s->A.rowptr, from, n + 1, sizeof *s->A.rowptr);
    from = copy(s->A.col, from, blocks, sizeof *s->A.col);
    from = copy(&padding, from, blocks % 2, sizeof padding);
    from = copy(s->A.val, from, 9 * blocks, sizeof(double));
    from = copy(s->S, from, 9 * n, sizeof(double));
    from = copy(s->b, from, 3 * n, sizeof(double));
    from = copy(s->z, from, 3 * n, sizeof(double));
    from = copy(s->rest, from, 3 * n, sizeof(double));
    copy(s->cur, from, 3 * n, sizeof(double));
    return padding ? drape_i_fail(at->ctx, at->status, "%s: the padding after col is not zero", at->name) : DRAPE_OK;
}

drape_status drape_system_parse(drape_context *ctx, const char *name, const void *data, int64_t size,
                                drape_system *out) {
    place at = {ctx, name, DRAPE_ERROR_FORMAT};
    header head;
    if (out) *out = (drape_system){0};
    if (!ctx || !name || !out) return drape_i_missing(ctx, "system", name ? "out" : "name");
    if (size < 0 || (size && !data))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: no data, or %lld bytes", name, (long long)size);
    if (size < (int64_t)sizeof head)
        return drape_i_fail(ctx, at.status, "%s: %lld bytes are less than a header", name, (long long)size);
    memcpy(&head, data, sizeof head);
    drape_status status = check_header(&at, &head, size);
    if (!status) status = allocate(ctx, &head, out);
    if (status) return status;
    status = copy_arrays(&at, (const char *)data + sizeof head, head.nnzb, out);
    if (!status) status = check_pattern(&at, &out->A, head.nnzb);
    if (!status) status = check_values(&at, out);
    if (status) release(ctx, out, head.nnzb);
    return status;
}

drape_status drape_system_read(drape_context *ctx, const char *path, drape_system *out) {
    char *data;
    int64_t size;
    if (out) *out = (drape_system){0};
    if (!ctx || !path || !out) return drape_i_missing(ctx, "system", path ? "out" : "path");
    drape_status status = drape_i_file_read(ctx, path, &data, &size);
    if (status) return status;
    status = drape_system_parse(ctx, path, data, size, out);
    DRAPE_FREE(ctx, data, size + 1);
    return status;
}

void drape_system_clear(drape_context *ctx, drape_system *system) {
    if (ctx && system && system->A.rowptr) release(ctx, system, system->A.rowptr[system->A.rows]);
}
