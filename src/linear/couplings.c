/* couplings.c: see couplings.h. */
#include "linear/couplings.h"

#include "base/parallel.h"
#include "sparse/matrix.h"
#include "sparse/multiply.h"

#include <math.h>
#include <string.h>

enum { COUPLING_GRAIN = 256, ROW_GRAIN = 128, MOST = 3 * DRAPE_COUPLING_VERTICES };
static const double ASYMMETRY = 1e-9; /* of blocks, relative to their largest number, that is not rounding */

/* ---- Checking ---- */

static drape_status check_vertices(drape_context *ctx, int32_t rows, const drape_coupling *c, int32_t number) {
    if (c->count < 1 || c->count > DRAPE_COUPLING_VERTICES)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: coupling %d has %d vertices; it must have 1 to %d",
                            number, c->count, DRAPE_COUPLING_VERTICES);
    for (int32_t a = 0; a < c->count; a++) {
        if (c->vertex[a] < 0 || c->vertex[a] >= rows)
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: coupling %d names vertex %d; there are %d", number,
                                c->vertex[a], rows);
        for (int32_t b = 0; b < a; b++)
            if (c->vertex[a] == c->vertex[b])
                return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: coupling %d names vertex %d twice", number,
                                    c->vertex[a]);
    }
    return DRAPE_OK;
}

static drape_status not_finite(drape_context *ctx, int32_t number, const char *what) {
    return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: coupling %d: %s is not a finite number", number, what);
}

/* That they are semidefinite is left to the method, which meets p'Ap <= 0 where they are not. */
static drape_status check_blocks(drape_context *ctx, const drape_coupling *c, int32_t number) {
    const int32_t n = 3 * c->count;
    double size = 0;
    for (int32_t i = 0; i < n * n; i++) {
        if (!isfinite(c->blocks[i])) return not_finite(ctx, number, "a number of its blocks");
        size = fmax(size, fabs(c->blocks[i]));
    }
    for (int32_t i = 0; i < n; i++) {
        if (c->blocks[(n + 1) * i] < -ASYMMETRY * size) /* rounding is not a fault */
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                                "solve: coupling %d: its blocks have %g on their diagonal, so they are not positive "
                                "semidefinite",
                                number, c->blocks[(n + 1) * i]);
        for (int32_t j = 0; j < i; j++)
            if (fabs(c->blocks[n * i + j] - c->blocks[n * j + i]) > ASYMMETRY * size)
                return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: coupling %d: its blocks are not symmetric",
                                    number);
    }
    return DRAPE_OK;
}

static drape_status check_coupling(drape_context *ctx, int32_t rows, const drape_coupling *c, int32_t number) {
    drape_status status = check_vertices(ctx, rows, c, number);
    if (status) return status;
    if (c->blocks) return check_blocks(ctx, c, number);
    if (!isfinite(c->k)) return not_finite(ctx, number, "k");
    if (c->k < 0)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: coupling %d: k is %g; it must be 0 or more", number,
                            c->k);
    for (int32_t a = 0; a < c->count; a++)
        if (!isfinite(c->w[a])) return not_finite(ctx, number, "a weight");
    for (int32_t r = 0; r < 3; r++)
        if (!isfinite(c->n[r])) return not_finite(ctx, number, "the direction");
    return DRAPE_OK;
}

/* ---- Memory ---- */

void drape_i_couplings_free(drape_context *ctx, drape_i_couplings *C) {
    DRAPE_FREE(ctx, C->vertex, C->room_vertices);
    DRAPE_FREE(ctx, C->first, C->room_vertices + (int64_t)1);
    DRAPE_FREE(ctx, C->diagonal, 9 * (int64_t)C->room_vertices);
    DRAPE_FREE(ctx, C->coupled, C->room_coupled);
    DRAPE_FREE(ctx, C->t, C->room_count);
    DRAPE_FREE(ctx, C->whole, C->room_whole);
    DRAPE_FREE(ctx, C->index, C->rows);
    *C = (drape_i_couplings){0};
}

static drape_status make_index(drape_context *ctx, int32_t rows, drape_i_couplings *C) {
    if (C->index && C->rows == rows) return DRAPE_OK;
    drape_i_couplings_free(ctx, C);
    if (!DRAPE_NEW_RAW(ctx, C->index, rows)) return DRAPE_ERROR_MEMORY;
    C->rows = rows;
    for (int32_t i = 0; i < rows; i++) C->index[i] = -1;
    return DRAPE_OK;
}

/* Nothing that is kept is worth copying. Half as much again as is needed, so that a list that grows little by little
 * seldom allocates. */
static drape_status make_room(drape_context *ctx, int32_t count, int64_t coupled, int64_t whole,
                              drape_i_couplings *C) {
    bool good = true;
    if (count > C->room_count) {
        DRAPE_FREE(ctx, C->t, C->room_count);
        C->room_count = count < INT32_MAX / 2 ? count + count / 2 : count;
        good = DRAPE_NEW_RAW(ctx, C->t, C->room_count);
        if (!good) C->room_count = 0;
    }
    if (good && whole > C->room_whole) {
        DRAPE_FREE(ctx, C->whole, C->room_whole);
        C->room_whole = whole + whole / 2;
        good = DRAPE_NEW_RAW(ctx, C->whole, C->room_whole);
        if (!good) C->room_whole = 0;
    }
    if (good && coupled > C->room_coupled) {
        DRAPE_FREE(ctx, C->coupled, C->room_coupled);
        C->room_coupled = coupled + coupled / 2;
        good = DRAPE_NEW_RAW(ctx, C->coupled, C->room_coupled);
        if (!good) C->room_coupled = 0;
    }
    return good ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

static void free_vertices(drape_context *ctx, drape_i_couplings *C) {
    DRAPE_FREE(ctx, C->vertex, C->room_vertices);
    DRAPE_FREE(ctx, C->first, C->room_vertices + (int64_t)1);
    DRAPE_FREE(ctx, C->diagonal, 9 * (int64_t)C->room_vertices);
    C->vertex = NULL;
    C->first = NULL;
    C->diagonal = NULL;
    C->room_vertices = 0;
}

static drape_status make_room_for_vertices(drape_context *ctx, int64_t vertices, drape_i_couplings *C) {
    if (vertices > C->rows) vertices = C->rows;
    if (C->first && vertices <= C->room_vertices) return DRAPE_OK;
    int64_t room = vertices + vertices / 2 < C->rows ? vertices + vertices / 2 : C->rows;
    if (C->first) free_vertices(ctx, C);
    C->room_vertices = (int32_t)room;
    bool good = DRAPE_NEW_RAW(ctx, C->vertex, room) && DRAPE_NEW(ctx, C->first, room + 1) &&
                DRAPE_NEW_RAW(ctx, C->diagonal, 9 * room);
    if (!good) free_vertices(ctx, C);
    return good ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

/* ---- Taking in a list ---- */

/* Leaves no couplings, and the index of all rows at -1. */
static void clear(drape_i_couplings *C) {
    for (int32_t v = 0; C->count > 0 && v < C->vertices; v++) C->index[C->vertex[v]] = -1;
    C->count = C->vertices = 0;
}

/* index[i], the number of couplings of row i, becomes its place among the vertices, in their order. */
static void number_vertices(drape_i_couplings *C) {
    C->vertices = 0;
    C->first[0] = 0;
    for (int32_t i = 0; i < C->rows; i++) {
        if (C->index[i] < 0) continue;
        int32_t v = C->vertices++;
        C->vertex[v] = i;
        C->first[v + 1] = C->first[v] + C->index[i];
        C->index[i] = v;
    }
}

static void list_coupled(drape_i_couplings *C) {
    for (int32_t c = 0; c < C->count; c++) {
        const drape_coupling *from = &C->list[c];
        for (int32_t a = 0; a < from->count; a++) {
            drape_i_coupled *to = &C->coupled[C->first[C->index[from->vertex[a]]]++];
            *to = (drape_i_coupled){.coupling = c, .whole = from->blocks ? a : -1};
            for (int32_t r = 0; r < 3 && !from->blocks; r++) to->g[r] = from->w[a] * from->n[r];
        }
    }
    for (int32_t v = C->vertices; v > 0; v--) C->first[v] = C->first[v - 1];
    C->first[0] = 0;
}

void drape_i_coupling_block(const drape_coupling *c, int32_t a, int32_t b, double out[9]) {
    const int32_t n = 3 * c->count;
    for (int32_t m = 0; m < 9; m++) {
        int32_t row = m / 3, column = m % 3;
        out[m] = c->blocks ? c->blocks[n * (3 * a + row) + 3 * b + column]
                           : c->k * ((c->w[a] * c->w[b]) * (c->n[row] * c->n[column]));
    }
}

int32_t drape_i_coupling_place(const drape_coupling *c, int32_t vertex) {
    int32_t a = 0;
    while (a + 1 < c->count && c->vertex[a] != vertex) a++;
    return a;
}

static void sum_diagonals(void *data, int64_t begin, int64_t end) {
    const drape_i_couplings *C = data;
    for (int64_t v = begin; v < end; v++) {
        double *sum = C->diagonal + 9 * v, block[9];
        memset(sum, 0, 9 * sizeof *sum);
        for (int64_t e = C->first[v]; e < C->first[v + 1]; e++) {
            const drape_coupling *c = &C->list[C->coupled[e].coupling];
            int32_t a = drape_i_coupling_place(c, C->vertex[v]);
            drape_i_coupling_block(c, a, a, block);
            for (int32_t m = 0; m < 9; m++) sum[m] += block[m];
        }
    }
}

drape_status drape_i_couplings_set(drape_context *ctx, int32_t rows, const drape_couplings *from,
                                   drape_i_couplings *C) {
    int64_t coupled = 0;
    bool whole = false;
    clear(C);
    if (from->count == 0) return DRAPE_OK;
    if (from->count < 0 || !from->list)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: %d couplings, or their list is missing", from->count);
    for (int32_t c = 0; c < from->count; c++) {
        drape_status status = check_coupling(ctx, rows, &from->list[c], c);
        if (status) return status;
        coupled += from->list[c].count;
        whole |= from->list[c].blocks != NULL;
    }
    drape_status status = make_index(ctx, rows, C);
    if (!status) status = make_room(ctx, from->count, coupled, whole ? MOST * (int64_t)from->count : 0, C);
    if (!status) status = make_room_for_vertices(ctx, coupled, C);
    if (status) return status;
    C->count = from->count;
    C->list = from->list;
    for (int32_t c = 0; c < C->count; c++)
        for (int32_t a = 0; a < C->list[c].count; a++) {
            int32_t *number = &C->index[C->list[c].vertex[a]];
            *number = *number < 0 ? 1 : *number + 1;
        }
    number_vertices(C);
    list_coupled(C);
    drape_i_loop(ctx, C->vertices, COUPLING_GRAIN, sum_diagonals, C);
    return DRAPE_OK;
}

/* ---- Products ---- */

typedef struct product {
    drape_simd simd;
    const drape_bsr3 *A;
    const drape_i_couplings *C;
    const double *x;
    double *y;
} product;

static double dot3(const double *a, const double *b) { return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2]; }

static void multiply_blocks(const drape_coupling *c, const double *x, double *out) {
    const int32_t n = 3 * c->count;
    for (int32_t i = 0; i < n; i++) {
        double sum = 0;
        for (int32_t b = 0; b < c->count; b++) sum += dot3(c->blocks + n * i + 3 * b, x + 3 * (int64_t)c->vertex[b]);
        out[i] = sum;
    }
}

static void begin_chunk(void *data, int64_t begin, int64_t end) {
    const product *p = data;
    const drape_i_couplings *C = p->C;
    for (int64_t i = begin; i < end; i++) {
        const drape_coupling *c = &C->list[i];
        double sum = 0;
        if (c->blocks) {
            multiply_blocks(c, p->x, C->whole + MOST * i);
            continue;
        }
        for (int32_t a = 0; a < c->count; a++) sum += c->w[a] * dot3(c->n, p->x + 3 * (int64_t)c->vertex[a]);
        C->t[i] = c->k * sum;
    }
}

void drape_i_couplings_begin(drape_context *ctx, const drape_i_couplings *C, const double *x) {
    drape_i_loop(ctx, C->count, COUPLING_GRAIN, begin_chunk, &(product){.C = C, .x = x});
}

/* The first of the vertices that is not below this row. */
static int32_t first_from(const drape_i_couplings *C, int64_t row) {
    int32_t low = 0, high = C->vertices;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (C->vertex[middle] < row) low = middle + 1;
        else high = middle;
    }
    return low;
}

double drape_i_couplings_add_rows(const drape_i_couplings *C, const double *x, double *y, int64_t begin,
                                  int64_t end) {
    const int32_t last = first_from(C, end);
    double dot = 0;
    for (int32_t v = first_from(C, begin); v < last; v++) {
        const int64_t at = 3 * (int64_t)C->vertex[v];
        double sum[3] = {0};
        for (int64_t e = C->first[v]; e < C->first[v + 1]; e++) {
            const drape_i_coupled *g = &C->coupled[e];
            if (g->whole < 0)
                for (int32_t r = 0; r < 3; r++) sum[r] += C->t[g->coupling] * g->g[r];
            else
                for (int32_t r = 0; r < 3; r++) sum[r] += C->whole[MOST * (int64_t)g->coupling + 3 * g->whole + r];
        }
        for (int32_t r = 0; r < 3; r++) y[at + r] += sum[r];
        dot += dot3(x + at, sum);
    }
    return dot;
}

static void multiply_chunk(void *data, int64_t begin, int64_t end, double *sums) {
    const product *p = data;
    sums[0] = drape_i_multiply_rows_at[p->simd](p->A, p->x, p->y, begin, end);
    sums[0] += drape_i_couplings_add_rows(p->C, p->x, p->y, begin, end);
}

double drape_i_coupled_multiply(drape_context *ctx, const drape_bsr3 *A, const drape_i_couplings *C, const double *x,
                                double *y) {
    product p = {ctx->simd, A, C, x, y};
    double dot;
    if (!drape_i_any_couplings(C)) return drape_i_multiply(ctx, A, x, y);
    drape_i_couplings_begin(ctx, C, x);
    drape_i_sum(ctx, A->rows, ROW_GRAIN, multiply_chunk, &p, 1, &dot);
    return dot;
}

int64_t drape_i_couplings_traffic(const drape_i_couplings *C) {
    if (!drape_i_any_couplings(C)) return 0;
    int64_t coupled = C->first[C->vertices], vector = 3 * (int64_t)sizeof(double);
    return (int64_t)(sizeof *C->list + sizeof *C->t) * C->count + (int64_t)sizeof *C->coupled * coupled +
           vector * (coupled + 2 * C->vertices);
}

/* ---- In a matrix ---- */

static drape_status outside(drape_context *ctx, const drape_i_couplings *C, int32_t coupling, int32_t row,
                            int32_t column) {
    return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                        "coupling %d of %d: the pattern has no block for vertices %d and %d; drape_couplings_merge "
                        "makes a matrix that has",
                        coupling, C->count, row, column);
}

static drape_status scatter(drape_context *ctx, const drape_i_couplings *C, const double *share,
                            const drape_bsr3 *A) {
    double block[9];
    for (int32_t v = 0; drape_i_any_couplings(C) && v < C->vertices; v++)
        for (int64_t e = C->first[v]; e < C->first[v + 1]; e++) {
            if (share && !(share[C->coupled[e].coupling] > 0)) continue;
            const drape_coupling *c = &C->list[C->coupled[e].coupling];
            const int32_t i = C->vertex[v], a = drape_i_coupling_place(c, i);
            const double part = share ? share[C->coupled[e].coupling] : 1;
            for (int32_t b = 0; b < c->count; b++) {
                int64_t k = drape_i_matrix_find(A, i, c->vertex[b]);
                if (k < 0) return outside(ctx, C, C->coupled[e].coupling, i, c->vertex[b]);
                drape_i_coupling_block(c, a, b, block);
                for (int32_t m = 0; m < 9; m++) A->val[9 * k + m] += part * block[m];
            }
        }
    return DRAPE_OK;
}

drape_status drape_i_couplings_scatter(drape_context *ctx, const drape_i_couplings *C, const drape_bsr3 *A) {
    return scatter(ctx, C, NULL, A);
}

/* Heap sort: rows with thousands of couplings may be there. */
static void sort(int32_t *a, int32_t n) {
    for (int32_t end = n, start = n / 2; end > 1;) {
        if (start > 0) {
            start--;
        } else {
            end--;
            int32_t swap = a[0];
            a[0] = a[end];
            a[end] = swap;
        }
        for (int32_t i = start, child; (child = 2 * i + 1) < end; i = child) {
            if (child + 1 < end && a[child] < a[child + 1]) child++;
            if (a[i] >= a[child]) break;
            int32_t swap = a[i];
            a[i] = a[child];
            a[child] = swap;
        }
    }
}

/* The columns of row i of A + C, ascending, in `list`; how many. mark[j] = i: column j is in it. */
static int32_t merged_row(const drape_bsr3 *A, const drape_i_couplings *C, const double *share, int32_t i,
                          int32_t *mark, int32_t *list) {
    int32_t count = 0, v = C->count > 0 ? C->index[i] : -1;
    for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) mark[list[count++] = A->col[k]] = i;
    int32_t before = count;
    for (int64_t e = v < 0 ? 0 : C->first[v]; v >= 0 && e < C->first[v + 1]; e++) {
        const drape_coupling *c = &C->list[C->coupled[e].coupling];
        if (share && !(share[C->coupled[e].coupling] > 0)) continue;
        for (int32_t b = 0; b < c->count; b++)
            if (mark[c->vertex[b]] != i) mark[list[count++] = c->vertex[b]] = i;
    }
    if (count > before) sort(list, count);
    return count;
}

/* scratch: two numbers per row, the first half -1. */
static drape_status merge_pattern(drape_context *ctx, const drape_bsr3 *A, const drape_i_couplings *C,
                                  const double *share, int32_t *scratch, drape_matrix **out) {
    int32_t *mark = scratch, *list = scratch + A->rows;
    int64_t blocks = 0;
    for (int32_t i = 0; i < A->rows; i++) mark[i] = -1;
    for (int32_t i = 0; i < A->rows; i++) blocks += merged_row(A, C, share, i, mark, list);
    drape_status status = drape_i_matrix_alloc(ctx, A->rows, blocks, out);
    if (status) return status;
    for (int32_t i = 0; i < A->rows; i++) mark[i] = -1;
    for (int32_t i = 0; i < A->rows; i++) {
        int32_t count = merged_row(A, C, share, i, mark, list);
        memcpy((*out)->col + (*out)->rowptr[i], list, (size_t)count * sizeof *list);
        (*out)->rowptr[i + 1] = (*out)->rowptr[i] + count;
    }
    return DRAPE_OK;
}

static void copy_values(const drape_bsr3 *A, const drape_bsr3 *to) {
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->rowptr[i], at = to->rowptr[i]; k < A->rowptr[i + 1]; k++) {
            while (to->col[at] != A->col[k]) at++;
            memcpy(to->val + 9 * at, A->val + 9 * k, 9 * sizeof *to->val);
        }
}

drape_status drape_i_couplings_merge(drape_context *ctx, const drape_bsr3 *A, const drape_i_couplings *C,
                                     const double *share, drape_matrix **out) {
    int32_t *scratch;
    *out = NULL;
    if (!DRAPE_NEW_RAW(ctx, scratch, 2 * (int64_t)A->rows)) return DRAPE_ERROR_MEMORY;
    drape_status status = merge_pattern(ctx, A, C, share, scratch, out);
    DRAPE_FREE(ctx, scratch, 2 * (int64_t)A->rows);
    if (status) return status;
    const drape_bsr3 sum = drape_matrix_view(*out);
    copy_values(A, &sum);
    return scatter(ctx, C, share, &sum);
}

drape_status drape_i_couplings_merge_again(drape_context *ctx, const drape_bsr3 *A, const drape_i_couplings *C,
                                           const double *share, drape_matrix *out) {
    const drape_bsr3 sum = drape_matrix_view(out);
    memset(out->val, 0, 9 * (size_t)out->blocks * sizeof *out->val);
    copy_values(A, &sum);
    return scatter(ctx, C, share, &sum);
}

drape_status drape_couplings_merge(drape_context *ctx, const drape_bsr3 *A, const drape_couplings *couplings,
                                   drape_matrix **out) {
    drape_i_couplings C = {0};
    if (!ctx || !out) return DRAPE_ERROR_ARGUMENT;
    *out = NULL;
    if (!A || !A->val || !couplings)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "couplings: the matrix, its values or the list is missing");
    drape_status status = drape_bsr3_check(ctx, A);
    if (!status) status = drape_i_couplings_set(ctx, A->rows, couplings, &C);
    if (!status) status = drape_i_couplings_merge(ctx, A, &C, NULL, out);
    drape_i_couplings_free(ctx, &C);
    return status;
}
