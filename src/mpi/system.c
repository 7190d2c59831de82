/* system.c: a system file (sparse/system_file.c has its layout) read by parts.
 *
 * First each process reads the rest positions of as many vertices as any other; by these all are divided. Then it
 * reads the rows that became its own, in runs of consecutive ones, and of the vertices that these are coupled with
 * what the constraints need. Here own vertices come first, in the order of the file, and copies after them, in the
 * order of the file. Rows of copies have the transposes of the own rows' blocks, because preconditioners want
 * symmetric patterns; their numbers are not used.
 *
 * Everything that drape_system_read checks is checked by the process that owns it, except for the total of
 * constrained vertices, which all of them add up. */
#include "mpi/mpi.h"

#include "sparse/system_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef drape_i_system_header header;

struct drape_petsc_system {
    drape_context *ctx;
    MPI_Comm comm;
    header head;
    drape_i_shared_file file; /* only while it is read */
    drape_petsc_part part;
    int32_t *own, *number;
    int32_t *row; /* of each vertex of the part: its number in the file */
    int32_t copies;
    drape_bsr3 A;
    int64_t *rowptr;
    int32_t *col;
    int64_t blocks; /* of the part, room */
    double *S, *z, *b, *x;
    drape_constraints *held;
    drape_problem problem;
};

/* ---- Where things are in the file ---- */

static int64_t at_rowptr(int64_t row) { return (int64_t)sizeof(header) + 8 * row; }
static int64_t at_col(const header *h, int64_t block) { return at_rowptr(h->n + 1) + 4 * block; }
static int64_t at_val(const header *h, int64_t block) { return at_col(h, h->nnzb) + h->nnzb % 2 * 4 + 72 * block; }
enum { REST = 3 };
/* What: 0 S, 1 b, 2 z, 3 rest, 4 cur. */
static int64_t at_vertex(const header *h, int32_t what, int64_t row) {
    int64_t start = at_val(h, h->nnzb);
    return what == 0 ? start + 72 * row : start + 72 * h->n + 24 * ((what - 1) * h->n + row);
}

static drape_status check_header(drape_petsc_system *s, const char *path) {
    const header *h = &s->head;
    int64_t size = s->file.size;
    if (memcmp(h->magic, DRAPE_I_SYSTEM_MAGIC, sizeof h->magic) != 0)
        return drape_i_fail(s->ctx, DRAPE_ERROR_FORMAT, "%s: does not begin with DRAPESY1", path);
    if (h->n < 0 || h->n > INT32_MAX || h->n > size / DRAPE_I_SYSTEM_ROW_BYTES || h->nnzb < 0 ||
        h->nnzb > size / DRAPE_I_SYSTEM_BLOCK_BYTES)
        return drape_i_fail(s->ctx, DRAPE_ERROR_FORMAT, "%s: %lld vertices and %lld blocks do not fit in %lld bytes",
                            path, (long long)h->n, (long long)h->nnzb, (long long)size);
    if (at_vertex(h, 5, 0) != size)
        return drape_i_fail(s->ctx, DRAPE_ERROR_FORMAT, "%s: %lld bytes, but %lld vertices and %lld blocks take %lld",
                            path, (long long)size, (long long)h->n, (long long)h->nnzb,
                            (long long)at_vertex(h, 5, 0));
    if (!isfinite(h->h) || !(h->h > 0))
        return drape_i_fail(s->ctx, DRAPE_ERROR_FORMAT, "%s: the time step h = %g is not positive and finite", path,
                            h->h);
    return drape_i_petsc_indices(s->ctx, path, h->n);
}

static drape_status read_header(drape_petsc_system *s, const char *path) {
    if (s->file.size < (int64_t)sizeof s->head)
        return drape_i_fail(s->ctx, DRAPE_ERROR_FORMAT, "%s: %lld bytes are less than a header", path,
                            (long long)s->file.size);
    drape_status status = drape_i_shared_read(&s->file, 0, &s->head, sizeof s->head);
    return status ? status : check_header(s, path);
}

/* ---- The pattern of consecutive rows ---- */

typedef struct rows {
    int64_t from, count;
    int64_t *start; /* count + 1 */
    int32_t *col;
    int64_t blocks;
} rows;

static void free_rows(drape_context *ctx, rows *r) {
    DRAPE_FREE(ctx, r->start, r->count + 1);
    DRAPE_FREE(ctx, r->col, r->blocks);
}

static drape_status check_start(drape_petsc_system *s, const rows *r) {
    const int64_t all = s->head.nnzb;
    const char *name = s->file.path;
    if (r->from == 0 && r->start[0] != 0)
        return drape_i_fail(s->ctx, DRAPE_ERROR_FORMAT, "%s: rowptr begins with %lld, not 0", name,
                            (long long)r->start[0]);
    for (int64_t i = 0; i < r->count; i++)
        if (r->start[i] < 0 || r->start[i + 1] < r->start[i] || r->start[i + 1] > all)
            return drape_i_fail(s->ctx, DRAPE_ERROR_FORMAT, "%s: row %lld goes from %lld to %lld of %lld blocks",
                                name, (long long)(r->from + i), (long long)r->start[i], (long long)r->start[i + 1],
                                (long long)all);
    if (r->from + r->count == s->head.n && r->start[r->count] != all)
        return drape_i_fail(s->ctx, DRAPE_ERROR_FORMAT, "%s: rowptr ends with %lld of %lld blocks", name,
                            (long long)r->start[r->count], (long long)all);
    return DRAPE_OK;
}

static drape_status check_row(drape_petsc_system *s, int64_t row, const int32_t *col, int64_t count) {
    const char *name = s->file.path;
    bool diagonal = false;
    for (int64_t k = 0; k < count; k++) {
        if (col[k] < 0 || col[k] >= s->head.n)
            return drape_i_fail(s->ctx, DRAPE_ERROR_FORMAT, "%s: row %lld has column %d, outside 0 .. %lld", name,
                                (long long)row, col[k], (long long)s->head.n - 1);
        if (k > 0 && col[k] <= col[k - 1])
            return drape_i_fail(s->ctx, DRAPE_ERROR_FORMAT,
                                "%s: row %lld has column %d behind %d; columns must increase", name, (long long)row,
                                col[k], col[k - 1]);
        diagonal |= col[k] == row;
    }
    if (diagonal) return DRAPE_OK;
    return drape_i_fail(s->ctx, DRAPE_ERROR_FORMAT, "%s: row %lld has no diagonal block", name, (long long)row);
}

/* ---- Who owns what ---- */

/* By rest positions: those of vertices that belong together do not come closer to others' as cloth folds. */
static drape_status divide(drape_petsc_system *s, drape_i_owners *owners) {
    int rank, size;
    double *rest;
    MPI_Comm_rank(s->comm, &rank);
    MPI_Comm_size(s->comm, &size);
    const int64_t from = drape_i_chunk(s->head.n, size, rank),
                  count = drape_i_chunk(s->head.n, size, rank + 1) - from;
    drape_status status = DRAPE_NEW_RAW(s->ctx, rest, 3 * count) ? DRAPE_OK : DRAPE_ERROR_MEMORY;
    if (!status) status = drape_i_shared_read(&s->file, at_vertex(&s->head, REST, from), rest, 24 * count);
    status = drape_petsc_agree(s->ctx, s->comm, status);
    if (!status) status = drape_i_partition(s->ctx, s->comm, s->head.n, rest, owners);
    DRAPE_FREE(s->ctx, rest, 3 * count);
    return status;
}

/* ---- Numbers of vertices ---- */

/* `unit` numbers of each vertex from i to end of the part, which are consecutive in the file. */
static drape_status read_vertices(drape_petsc_system *s, int32_t what, int32_t begin, int32_t end, double *to) {
    const int64_t unit = what == 0 ? 9 : 3;
    drape_status status = DRAPE_OK;
    for (int32_t i = begin, next; i < end && !status; i = next) {
        next = begin + drape_i_run_end(s->row + begin, end - begin, i - begin);
        status =
            drape_i_shared_read(&s->file, at_vertex(&s->head, what, s->row[i]), to + unit * i, 8 * unit * (next - i));
    }
    return status;
}

static drape_status check_finite(drape_petsc_system *s, const char *what, int64_t unit, const double *x) {
    for (int64_t k = 0; k < unit * s->part.vertices; k++)
        if (!isfinite(x[k]))
            return drape_i_fail(s->ctx, DRAPE_ERROR_FORMAT, "%s: %s of vertex %d is not finite", s->file.path, what,
                                s->row[k / unit]);
    return DRAPE_OK;
}

static drape_status check_filter(drape_petsc_system *s, int64_t *constrained) {
    for (int32_t i = 0; i < s->part.vertices; i++) {
        const double *S = s->S + 9 * (int64_t)i;
        if (!drape_i_is_projection(S))
            return drape_i_fail(s->ctx, DRAPE_ERROR_FORMAT, "%s: S of vertex %d is not an orthogonal projection",
                                s->file.path, s->row[i]);
        *constrained += i < s->part.own_count && !drape_i_is_identity(S);
    }
    return DRAPE_OK;
}

/* Of own vertices and copies. rest, which nothing here needs, is only looked at. */
static drape_status read_all_vertices(drape_petsc_system *s, int64_t *constrained) {
    static const char *const name[] = {"S", "b", "z", "rest", "cur"};
    double *const to[] = {s->S, s->b, s->z, s->x, s->x};
    drape_status status = DRAPE_OK;
    for (int32_t what = 0; what < 5 && !status; what++) {
        status = read_vertices(s, what, 0, s->part.own_count, to[what]);
        if (!status) status = read_vertices(s, what, s->part.own_count, s->part.vertices, to[what]);
        if (!status) status = check_finite(s, name[what], what == 0 ? 9 : 3, to[what]);
    }
    return status ? status : check_filter(s, constrained);
}

/* ---- The matrix ---- */

static int compare(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static int32_t find(const int32_t *list, int32_t count, int32_t value) {
    const int32_t *at = bsearch(&value, list, (size_t)count, sizeof *list, compare);
    return at ? (int32_t)(at - list) : -1;
}

/* Rows of the file that this process owns, with the file's columns. */
typedef struct own_rows {
    int64_t *start;
    int64_t *at; /* where each row begins in the file, in blocks */
    int32_t *col;
    int64_t blocks;
} own_rows;

static void free_own(drape_petsc_system *s, own_rows *r) {
    DRAPE_FREE(s->ctx, r->start, (int64_t)s->part.own_count + 1);
    DRAPE_FREE(s->ctx, r->at, s->part.own_count);
    DRAPE_FREE(s->ctx, r->col, r->blocks);
}

static drape_status read_starts(drape_petsc_system *s, const int32_t *row, own_rows *r) {
    const int32_t count = s->part.own_count;
    drape_status status = DRAPE_OK;
    if (!DRAPE_NEW(s->ctx, r->start, (int64_t)count + 1) || !DRAPE_NEW(s->ctx, r->at, count))
        return DRAPE_ERROR_MEMORY;
    for (int32_t i = 0, next; i < count && !status; i = next) {
        rows piece = {0};
        next = drape_i_run_end(row, count, i);
        piece = (rows){.from = row[i], .count = next - i};
        if (!DRAPE_NEW_RAW(s->ctx, piece.start, piece.count + 1)) return DRAPE_ERROR_MEMORY;
        status = drape_i_shared_read(&s->file, at_rowptr(row[i]), piece.start, 8 * (piece.count + 1));
        if (!status) status = check_start(s, &piece);
        for (int32_t k = i; k < next && !status; k++) {
            r->at[k] = piece.start[k - i];
            r->start[k + 1] = r->start[k] + (piece.start[k - i + 1] - piece.start[k - i]);
        }
        free_rows(s->ctx, &piece);
    }
    return status;
}

static drape_status read_columns(drape_petsc_system *s, const int32_t *row, own_rows *r) {
    const int32_t count = s->part.own_count;
    drape_status status = DRAPE_OK;
    r->blocks = r->start[count];
    if (!DRAPE_NEW_RAW(s->ctx, r->col, r->blocks)) {
        r->blocks = 0;
        return DRAPE_ERROR_MEMORY;
    }
    for (int32_t i = 0, next; i < count && !status; i = next) {
        next = drape_i_run_end(row, count, i);
        status = drape_i_shared_read(&s->file, at_col(&s->head, r->at[i]), r->col + r->start[i],
                                     4 * (r->start[next] - r->start[i]));
        for (int32_t k = i; k < next && !status; k++)
            status = check_row(s, row[k], r->col + r->start[k], r->start[k + 1] - r->start[k]);
    }
    return status;
}

/* Lists the vertices of the part: own ones, then those that their rows lead to. */
static drape_status list_vertices(drape_petsc_system *s, const drape_i_owners *owners, const own_rows *r) {
    int32_t *away, copies = 0;
    int64_t found = 0;
    if (!DRAPE_NEW_RAW(s->ctx, away, r->blocks)) return DRAPE_ERROR_MEMORY;
    for (int64_t k = 0; k < r->blocks; k++)
        if (find(owners->row, owners->count, r->col[k]) < 0) away[found++] = r->col[k];
    qsort(away, (size_t)found, sizeof *away, compare);
    for (int64_t k = 0; k < found; k++)
        if (k == 0 || away[k] != away[k - 1]) away[copies++] = away[k];
    s->copies = copies;
    s->part.vertices = owners->count + copies;
    bool good = DRAPE_NEW(s->ctx, s->row, s->part.vertices) && DRAPE_NEW(s->ctx, s->number, s->part.vertices) &&
                DRAPE_NEW(s->ctx, s->own, owners->count);
    for (int32_t i = 0; good && i < owners->count; i++) {
        s->row[i] = owners->row[i];
        s->own[i] = i;
        s->number[i] = owners->first + i;
    }
    for (int32_t i = 0; good && i < copies; i++) s->row[owners->count + i] = away[i];
    DRAPE_FREE(s->ctx, away, r->blocks);
    s->part.own = s->own;
    s->part.number = s->number;
    return good ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

/* The file's columns become the part's, ascending: own ones first. where: of each block, its place in the row. */
static void fill_own_row(drape_petsc_system *s, const own_rows *r, int32_t i) {
    const int32_t own = s->part.own_count;
    int64_t to = s->rowptr[i];
    for (int32_t pass = 0; pass < 2; pass++)
        for (int64_t k = r->start[i]; k < r->start[i + 1]; k++) {
            int32_t here = find(s->row, own, r->col[k]);
            if ((pass == 0) != (here >= 0)) continue;
            if (here < 0) here = own + find(s->row + own, s->copies, r->col[k]);
            s->col[to++] = here;
        }
}

/* Counts, then fills: rows of copies have the columns of the own rows that lead to them, and their own. */
static drape_status make_pattern(drape_petsc_system *s, const own_rows *r) {
    const int32_t own = s->part.own_count, all = s->part.vertices;
    int64_t *next;
    if (!DRAPE_NEW(s->ctx, s->rowptr, (int64_t)all + 1)) return DRAPE_ERROR_MEMORY;
    for (int32_t i = 0; i < own; i++) s->rowptr[i + 1] = r->start[i + 1] - r->start[i];
    for (int32_t i = own; i < all; i++) s->rowptr[i + 1] = 1;
    for (int64_t k = 0; k < r->blocks; k++)
        if (find(s->row, own, r->col[k]) < 0) s->rowptr[own + find(s->row + own, s->copies, r->col[k]) + 1]++;
    for (int32_t i = 0; i < all; i++) s->rowptr[i + 1] += s->rowptr[i];
    s->blocks = s->rowptr[all];
    if (!DRAPE_NEW(s->ctx, s->col, s->blocks) || !DRAPE_NEW(s->ctx, next, s->copies)) return DRAPE_ERROR_MEMORY;
    for (int32_t c = 0; c < s->copies; c++) next[c] = s->rowptr[own + c];
    for (int32_t i = 0; i < own; i++) {
        fill_own_row(s, r, i);
        for (int64_t k = s->rowptr[i]; k < s->rowptr[i + 1]; k++)
            if (s->col[k] >= own) s->col[next[s->col[k] - own]++] = i;
    }
    for (int32_t c = 0; c < s->copies; c++) s->col[next[c]] = own + c;
    DRAPE_FREE(s->ctx, next, s->copies);
    return DRAPE_OK;
}

/* The file's blocks of an own row are in the order of the file's columns. */
static drape_status place_blocks(drape_petsc_system *s, const own_rows *r, int32_t i, const double *from) {
    const int32_t own = s->part.own_count;
    int64_t to[2] = {s->rowptr[i], s->rowptr[i]}; /* of own vertices, of copies */
    while (to[1] < s->rowptr[i + 1] && s->col[to[1]] < own) to[1]++;
    for (int64_t k = r->start[i]; k < r->start[i + 1]; k++, from += 9) {
        bool copy = find(s->row, own, r->col[k]) < 0;
        for (int32_t m = 0; m < 9; m++)
            if (!isfinite(from[m]))
                return drape_i_fail(s->ctx, DRAPE_ERROR_FORMAT,
                                    "%s: the block of row %d, column %d holds a value that is not finite",
                                    s->file.path, s->row[i], r->col[k]);
        memcpy(s->A.val + 9 * to[copy]++, from, 9 * sizeof *from);
    }
    return DRAPE_OK;
}

enum { AT_ONCE = 4096 }; /* rows whose blocks are read together */

static drape_status read_blocks(drape_petsc_system *s, const own_rows *r) {
    const int32_t count = s->part.own_count;
    drape_status status = DRAPE_OK;
    for (int32_t i = 0, next; i < count && !status; i = next) {
        double *val;
        next = drape_i_run_end(s->row, count, i);
        if (next > i + AT_ONCE) next = i + AT_ONCE;
        const int64_t room = 9 * (r->start[next] - r->start[i]);
        if (!DRAPE_NEW_RAW(s->ctx, val, room)) return DRAPE_ERROR_MEMORY;
        status = drape_i_shared_read(&s->file, at_val(&s->head, r->at[i]), val, 8 * room);
        for (int32_t k = i; k < next && !status; k++)
            status = place_blocks(s, r, k, val + 9 * (r->start[k] - r->start[i]));
        DRAPE_FREE(s->ctx, val, room);
    }
    for (int32_t c = count; c < s->part.vertices; c++) /* they are not used, but must be numbers */
        for (int32_t m = 0; m < 9; m += 4) s->A.val[9 * (s->rowptr[c + 1] - 1) + m] = 1;
    return status;
}

/* ---- All of it ---- */

static drape_status allocate_values(drape_petsc_system *s) {
    const int64_t n = s->part.vertices;
    if (!DRAPE_NEW(s->ctx, s->A.val, 9 * s->blocks) || !DRAPE_NEW(s->ctx, s->S, 9 * n) ||
        !DRAPE_NEW(s->ctx, s->z, 3 * n) || !DRAPE_NEW(s->ctx, s->b, 3 * n) || !DRAPE_NEW(s->ctx, s->x, 3 * n))
        return DRAPE_ERROR_MEMORY;
    s->A.rows = s->part.vertices;
    s->A.rowptr = s->rowptr;
    s->A.col = s->col;
    return drape_constraints_create(s->ctx, s->part.vertices, &s->held);
}

/* What is not collective. */
static drape_status read_own(drape_petsc_system *s, const drape_i_owners *owners, int64_t *constrained) {
    own_rows r = {0};
    s->part.own_count = owners->count;
    drape_status status = read_starts(s, owners->row, &r);
    if (!status) status = read_columns(s, owners->row, &r);
    if (!status) status = list_vertices(s, owners, &r);
    if (!status) status = make_pattern(s, &r);
    if (!status) status = allocate_values(s);
    if (!status) status = read_blocks(s, &r);
    if (!status) status = read_all_vertices(s, constrained);
    if (!status) status = drape_constraints_set_filter(s->held, s->S, s->z);
    free_own(s, &r);
    return status;
}

static drape_status check_total(drape_petsc_system *s, int64_t mine) {
    int64_t all;
    MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, s->comm);
    if (all == s->head.nconstrained) return DRAPE_OK;
    return drape_i_fail(s->ctx, DRAPE_ERROR_FORMAT, "%s: %lld vertices are declared as constrained, but %lld are",
                        s->file.path, (long long)s->head.nconstrained, (long long)all);
}

static drape_status read_all(drape_petsc_system *s, const char *path) {
    drape_i_owners owners = {0};
    int64_t constrained = 0;
    drape_status status = drape_petsc_agree(s->ctx, s->comm, read_header(s, path));
    if (!status) status = divide(s, &owners);
    if (!status) status = drape_petsc_agree(s->ctx, s->comm, read_own(s, &owners, &constrained));
    if (!status) status = check_total(s, constrained);
    if (!status)
        status = drape_i_petsc_status(s->ctx,
                                      drape_i_fetch_ints(s->comm, s->head.n, owners.fresh, s->copies,
                                                         s->row + s->part.own_count, s->number + s->part.own_count));
    drape_i_owners_free(s->ctx, &owners);
    s->problem = (drape_problem){.A = &s->A, .b = s->b, .constraints = s->held, .positions = s->x};
    return status;
}

drape_status drape_petsc_system_read(drape_context *ctx, MPI_Comm comm, const char *path, drape_petsc_system **out) {
    drape_petsc_system *s;
    if (out) *out = NULL;
    if (!ctx || !path || !out) return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "petsc: path or out is NULL");
    drape_status status = DRAPE_NEW(ctx, s, 1) ? DRAPE_OK : DRAPE_ERROR_MEMORY;
    status = drape_petsc_agree(ctx, comm, status);
    if (status) return status;
    s->ctx = ctx;
    s->comm = comm;
    status = drape_i_shared_open(ctx, comm, path, &s->file);
    if (!status) status = read_all(s, path);
    drape_i_shared_close(&s->file);
    if (status) drape_petsc_system_destroy(s);
    else *out = s;
    return status;
}

void drape_petsc_system_destroy(drape_petsc_system *s) {
    if (!s) return;
    const int64_t n = s->part.vertices;
    drape_constraints_destroy(s->held);
    DRAPE_FREE(s->ctx, s->own, s->part.own_count);
    DRAPE_FREE(s->ctx, s->number, n);
    DRAPE_FREE(s->ctx, s->row, n);
    DRAPE_FREE(s->ctx, s->rowptr, n + 1);
    DRAPE_FREE(s->ctx, s->col, s->blocks);
    DRAPE_FREE(s->ctx, s->A.val, 9 * s->blocks);
    DRAPE_FREE(s->ctx, s->S, 9 * n);
    DRAPE_FREE(s->ctx, s->z, 3 * n);
    DRAPE_FREE(s->ctx, s->b, 3 * n);
    DRAPE_FREE(s->ctx, s->x, 3 * n);
    DRAPE_FREE(s->ctx, s, 1);
}

const drape_petsc_part *drape_petsc_system_part(const drape_petsc_system *s) { return s ? &s->part : NULL; }
const drape_problem *drape_petsc_system_problem(const drape_petsc_system *s) { return s ? &s->problem : NULL; }
int64_t drape_petsc_system_vertices(const drape_petsc_system *s) { return s ? s->head.n : 0; }
int64_t drape_petsc_system_blocks(const drape_petsc_system *s) { return s ? s->head.nnzb : 0; }
int64_t drape_petsc_system_constrained(const drape_petsc_system *s) { return s ? s->head.nconstrained : 0; }

int64_t drape_petsc_system_bytes(const drape_petsc_system *s) {
    return s ? 76 * s->blocks + (int64_t)s->part.vertices * (8 + 8 * (9 + 3 * 3) + 3 * 4) : 0;
}

drape_status drape_petsc_system_write(const drape_petsc_system *s, const char *path, const double *x) {
    drape_i_shared_file file;
    const int32_t count = s->part.own_count;
    drape_status status = drape_i_shared_create(s->ctx, s->comm, path, &file);
    if (status) return status;
    for (int32_t i = 0, next; i < count; i = next) {
        next = drape_i_run_end(s->row, count, i);
        drape_i_shared_write(&file, 24 * (int64_t)s->row[i], x + 3 * (int64_t)i, 24 * (int64_t)(next - i));
    }
    return drape_i_shared_commit(&file);
}
