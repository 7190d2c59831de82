/* triangular.c: the halves of a pattern in an order of sweeps, the two sweeps, and blocks for the diagonal. See
 * triangular.h. */
#include "linear/precond/triangular.h"

#include "base/parallel.h"
#include "linear/prefilter.h"
#include "sparse/matrix.h"

#include <math.h>
#include <string.h>

/* ---- Halves ---- */

static int64_t blocks_of(const drape_i_half *half, int32_t rows) { return half->first ? half->first[rows] : 0; }

static void free_half(drape_context *ctx, drape_i_half *half, int32_t rows) {
    int64_t blocks = blocks_of(half, rows);
    DRAPE_FREE(ctx, half->col, blocks);
    DRAPE_FREE(ctx, half->slot, blocks);
    DRAPE_FREE(ctx, half->first, rows + (int64_t)1);
}

static bool is_before(const drape_i_sweep_order *o, int32_t a, int32_t b) { return o->place[a] < o->place[b]; }

/* first[place + 1] = how many there are, then where they begin. */
static void count_halves(const drape_bsr3 *A, const drape_i_sweep_order *o, int64_t *before, int64_t *after) {
    for (int32_t p = 0; p < o->rows; p++) {
        int32_t i = o->row[p];
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
            before[p + 1] += is_before(o, A->col[k], i);
            after[p + 1] += is_before(o, i, A->col[k]);
        }
        before[p + 1] += before[p];
        after[p + 1] += after[p];
    }
}

/* Columns are taken in the order of the sweep, so that each row's list comes out sorted. Moves `first` on to the end
 * of each list. */
static void fill_half(const drape_i_columns *columns, const drape_i_sweep_order *o, drape_i_half *half, bool before) {
    for (int32_t q = 0; q < o->rows; q++) {
        int32_t j = o->row[before ? q : o->rows - 1 - q];
        for (int64_t k = columns->first[j]; k < columns->first[j + 1]; k++) {
            int32_t i = columns->row[k];
            if (!(before ? is_before(o, j, i) : is_before(o, i, j))) continue;
            int64_t at = half->first[o->place[i]]++;
            half->col[at] = j;
            half->slot[at] = columns->slot[k];
        }
    }
    for (int32_t p = o->rows; p > 0; p--) half->first[p] = half->first[p - 1];
    half->first[0] = 0;
}

static bool allocate_half(drape_context *ctx, drape_i_half *half, int32_t rows) {
    return DRAPE_NEW(ctx, half->col, half->first[rows]) && DRAPE_NEW(ctx, half->slot, half->first[rows]);
}

static drape_status make_halves(drape_context *ctx, const drape_bsr3 *A, const drape_i_columns *columns,
                                drape_i_triangular *t) {
    if (!DRAPE_NEW(ctx, t->before.first, A->rows + (int64_t)1) ||
        !DRAPE_NEW(ctx, t->after.first, A->rows + (int64_t)1))
        return DRAPE_ERROR_MEMORY;
    count_halves(A, &t->order, t->before.first, t->after.first);
    if (!allocate_half(ctx, &t->before, A->rows) || !allocate_half(ctx, &t->after, A->rows))
        return DRAPE_ERROR_MEMORY;
    fill_half(columns, &t->order, &t->before, true);
    fill_half(columns, &t->order, &t->after, false);
    return DRAPE_OK;
}

void drape_i_half_copy(const drape_bsr3 *A, const drape_i_triangular *t, const drape_i_half *half, int64_t p,
                       double *to) {
    const double *row = A->val + 9 * A->rowptr[t->order.row[p]];
    for (int64_t e = half->first[p]; e < half->first[p + 1]; e++)
        memcpy(to + 9 * e, row + 9 * (int64_t)half->slot[e], 9 * sizeof *to);
}

/* ---- Memory ---- */

void drape_i_triangular_destroy(drape_context *ctx, drape_i_triangular *t) {
    int32_t rows = t->order.rows;
    DRAPE_FREE(ctx, t->G, 9 * (int64_t)rows);
    DRAPE_FREE(ctx, t->L, 9 * blocks_of(&t->before, rows));
    DRAPE_FREE(ctx, t->U, 9 * blocks_of(&t->after, rows));
    DRAPE_FREE(ctx, t->sums, t->order.chunks);
    free_half(ctx, &t->before, rows);
    free_half(ctx, &t->after, rows);
    drape_i_sweep_order_destroy(ctx, &t->order);
    memset(t, 0, sizeof *t);
}

static drape_status allocate(drape_context *ctx, drape_i_triangular *t) {
    int32_t rows = t->order.rows;
    bool enough = DRAPE_NEW(ctx, t->G, 9 * (int64_t)rows) && DRAPE_NEW(ctx, t->sums, t->order.chunks) &&
                  DRAPE_NEW(ctx, t->L, 9 * blocks_of(&t->before, rows)) &&
                  DRAPE_NEW(ctx, t->U, 9 * blocks_of(&t->after, rows));
    return enough ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

drape_status drape_i_triangular_create(drape_context *ctx, const drape_bsr3 *A, int32_t least_chunk,
                                       drape_i_triangular *t) {
    drape_i_columns columns;
    *t = (drape_i_triangular){.omega = 1};
    drape_status status = drape_i_columns_create(ctx, A, &columns);
    if (status) return status;
    if (least_chunk <= 0) least_chunk = DRAPE_I_LEAST_CHUNK;
    status = drape_i_sweep_order_create(ctx, A, &columns, least_chunk, &t->order);
    if (!status) status = make_halves(ctx, A, &columns, t);
    if (!status) status = allocate(ctx, t);
    drape_i_columns_destroy(ctx, &columns);
    if (status) drape_i_triangular_destroy(ctx, t);
    return status;
}

/* ---- Sweeps ---- */

typedef struct sweeping {
    const drape_i_triangular *t;
    drape_simd simd;
    drape_i_sweep forward, back;
    int32_t first; /* chunk of the color */
} sweeping;

static void forward_chunk(void *data, int32_t index) {
    const sweeping *s = data;
    const int32_t *chunk = s->t->order.chunk + s->first + index;
    drape_i_sweep_forward_at[s->simd](&s->forward, chunk[0], chunk[1]);
}

static void back_chunk(void *data, int32_t index) {
    const sweeping *s = data;
    const int32_t *chunk = s->t->order.chunk + s->first + index;
    s->t->sums[s->first + index] = drape_i_sweep_back_at[s->simd](&s->back, chunk[0], chunk[1]);
}

static void both_ways(void *data, int32_t index) {
    forward_chunk(data, index);
    back_chunk(data, index);
}

static void each_chunk(drape_context *ctx, sweeping *s, int32_t colour, void (*task)(void *data, int32_t index)) {
    const int32_t *first = s->t->order.colour + colour;
    s->first = first[0];
    drape_i_tasks(ctx, first[1] - first[0], task, s);
}

static drape_i_sweep sweep_of(const drape_i_triangular *t, const drape_i_half *half, const double *val,
                              const double *r, double *h) {
    return (drape_i_sweep){.row = t->order.row,
                           .first = half->first,
                           .col = half->col,
                           .val = val,
                           .G = t->G,
                           .r = r,
                           .keep = 2 - t->omega,
                           .h = h};
}

/* z is in h. Nothing comes after the last color but its own chunk, so that it turns round at once, with the
 * chunk still in the cache. */
double drape_i_triangular_apply(drape_context *ctx, const drape_i_triangular *t, const double *r, double *h) {
    sweeping s = {.t = t,
                  .simd = ctx->simd,
                  .forward = sweep_of(t, &t->before, t->L, r, h),
                  .back = sweep_of(t, &t->after, t->U, r, h)};
    int32_t last = t->order.colours - 1;
    double sum = 0;
    for (int32_t colour = 0; colour < last; colour++) each_chunk(ctx, &s, colour, forward_chunk);
    if (last >= 0) each_chunk(ctx, &s, last, both_ways);
    for (int32_t colour = last - 1; colour >= 0; colour--) each_chunk(ctx, &s, colour, back_chunk);
    for (int32_t k = 0; k < t->order.chunks; k++) sum += t->sums[k];
    return sum;
}

/* Every block of L and U once, with its column; twice G, row and first; r twice, h three times. */
int64_t drape_i_triangular_traffic(const drape_i_triangular *t) {
    int64_t rows = t->order.rows, blocks = blocks_of(&t->before, t->order.rows) + blocks_of(&t->after, t->order.rows);
    int64_t block = 9 * (int64_t)sizeof(double) + (int64_t)sizeof(int32_t);
    int64_t place = 9 * (int64_t)sizeof(double) + (int64_t)sizeof(int32_t) + (int64_t)sizeof(int64_t);
    return block * blocks + rows * (2 * place + 5 * 3 * (int64_t)sizeof(double));
}

/* ---- Blocks ---- */

static const double SINGULAR = 1e14; /* |a| |a^-1| of a block that has no inverse except for rounding */

static double largest(const double a[9]) {
    double size = 0;
    for (int32_t k = 0; k < 9; k++) size = fmax(size, fabs(a[k]));
    return size;
}

static bool all_finite(const double a[9]) {
    for (int32_t k = 0; k < 9; k++)
        if (!isfinite(a[k])) return false;
    return true;
}

/* Cofactors of a over its largest number, so that no determinant overflows or vanishes. */
bool drape_i_block_inverse(const double a[9], double out[9]) {
    double size = largest(a), b[9];
    if (!(size > 0) || !all_finite(a)) return false;
    for (int32_t k = 0; k < 9; k++) b[k] = a[k] / size;
    out[0] = b[4] * b[8] - b[5] * b[7], out[1] = b[2] * b[7] - b[1] * b[8], out[2] = b[1] * b[5] - b[2] * b[4];
    out[3] = b[5] * b[6] - b[3] * b[8], out[4] = b[0] * b[8] - b[2] * b[6], out[5] = b[2] * b[3] - b[0] * b[5];
    out[6] = b[3] * b[7] - b[4] * b[6], out[7] = b[1] * b[6] - b[0] * b[7], out[8] = b[0] * b[4] - b[1] * b[3];
    double determinant = (b[0] * out[0] + b[1] * out[3]) + b[2] * out[6];
    if (!(largest(out) < SINGULAR * fabs(determinant))) return false;
    double scale = 1 / determinant / size;
    for (int32_t k = 0; k < 9; k++) out[k] *= scale;
    return all_finite(out);
}

bool drape_i_block_positive(const double a[9]) {
    double size = fmax(fmax(a[0], a[4]), a[8]), b[9];
    if (!(size > 0) || !all_finite(a)) return false;
    for (int32_t k = 0; k < 9; k++) b[k] = a[k] / size;
    drape_i_block_symmetrise(b);
    double xx = b[4] * b[8] - b[5] * b[5], xy = b[2] * b[5] - b[1] * b[8], xz = b[1] * b[5] - b[2] * b[4];
    return b[0] > 0 && b[0] * b[4] - b[1] * b[1] > 0 && (b[0] * xx + b[1] * xy) + b[2] * xz > 0;
}

void drape_i_block_symmetrise(double a[9]) {
    a[1] = a[3] = (a[1] + a[3]) / 2;
    a[2] = a[6] = (a[2] + a[6]) / 2;
    a[5] = a[7] = (a[5] + a[7]) / 2;
}

static void replace(double a[9]) {
    double mean = (fabs(a[0]) + fabs(a[4]) + fabs(a[8])) / 3;
    if (!(mean > 0) || !isfinite(mean) || !isfinite(1 / mean)) mean = 1;
    for (int32_t k = 0; k < 9; k++) a[k] = k % 4 == 0 ? mean : 0;
}

void drape_i_usable_diagonal(const drape_bsr3 *A, const drape_constraints *set, const drape_i_couplings *couplings,
                             int32_t i, drape_i_pivots kind, double out[9]) {
    double inverse[9], sum[9];
    int64_t k = drape_i_matrix_find(A, i, i);
    const double *block = drape_i_coupled_block(couplings, i, k >= 0 ? A->val + 9 * k : NULL, sum);
    for (int32_t c = 0; c < 9; c++) out[c] = 0;
    if (block) drape_i_prefiltered_block(set, i, i, block, out);
    if (kind == DRAPE_I_PIVOTS_SYMMETRIC) drape_i_block_symmetrise(out);
    if (kind != DRAPE_I_PIVOTS_REGULAR && !drape_i_block_positive(out)) replace(out);
    else if (!drape_i_block_inverse(out, inverse)) replace(out);
}
