/* interpolate.c: from a near-kernel to the interpolation P (Tamstorf, Jones and McCormick 2015, section 5).
 *
 * The near-kernel K, cut into the pieces of the aggregates, becomes Q R piece by piece: Q is the tentative
 * interpolation, R the near-kernel of the coarse level. It is then smoothed,
 *
 *     P = (I - omega D^-1 A_F) Q,
 *
 * A_F being A with weak connections lumped into the diagonal, so that they do not spread P, and D the diagonal of A.
 * A column of a piece that depends on those before it (an aggregate of few vertices, or of held ones) becomes zero.
 */
#include "base/parallel.h"
#include "linear/amg/kernels.h"
#include "linear/amg/setup.h"

#include <math.h>
#include <string.h>

enum { AGGREGATE_GRAIN = 64, ROW_GRAIN = 256 };
static const double DEPENDENT = 1e-10; /* what is left of a column over what it was, squared */

/* ---- Q and R ---- */

typedef struct orthonormalising {
    const drape_i_level *level;
    const drape_i_near_kernel *near;
    int32_t modes;
    float *Q;
    double *R;
} orthonormalising;

/* K_i, r x modes, about the point `centre` where the modes are rotations; column by column. */
static void kernel_of(const orthonormalising *o, int32_t i, const double centre[3], double *K) {
    const int32_t size = o->level->A.r * o->modes;
    const int64_t user = drape_i_user_row(o->level, i);
    const drape_i_near_kernel *near = o->near;
    if (o->level->kernel) {
        memcpy(K, o->level->kernel + (int64_t)size * i, (size_t)size * sizeof *K);
        return;
    }
    for (int32_t m = 0; m < size; m++) K[m] = m % 4 == 0 && m < 9 ? 1 : 0;
    if (o->modes == 6) {
        const double *at = near->x + 3 * user;
        double x = at[0] - centre[0], y = at[1] - centre[1], z = at[2] - centre[2];
        K[10] = -z, K[11] = y, K[12] = z, K[14] = -x, K[15] = -y, K[16] = x;
    }
    const drape_constraints *set = near->set;
    if (!set || set->index[user] < 0) return;
    const double *S = set->held[set->index[user]].S;
    for (int32_t m = 0; m < o->modes; m++) {
        double v[3] = {K[3 * m], K[3 * m + 1], K[3 * m + 2]};
        for (int32_t k = 0; k < 3; k++) K[3 * m + k] = (S[3 * k] * v[0] + S[3 * k + 1] * v[1]) + S[3 * k + 2] * v[2];
    }
}

/* The middle of an aggregate, so that rotations about it are nearly orthogonal to translations. */
static void centre_of(const orthonormalising *o, int32_t first, int32_t last, double centre[3]) {
    centre[0] = centre[1] = centre[2] = 0;
    if (o->level->kernel || o->modes != 6) return;
    for (int32_t m = first; m < last; m++)
        for (int32_t k = 0; k < 3; k++)
            centre[k] +=
                o->near->x[3 * (int64_t)drape_i_user_row(o->level, o->level->member[m]) + k] / (last - first);
}

/* Upper triangular R with R'R = gram, and its inverse; both n x n row by row. A column that depends on those before
 * it gets no row in R and a zero column in the inverse. */
static void factor(int32_t n, const double *gram, double *R, double *inverse) {
    memset(R, 0, (size_t)(n * n) * sizeof *R);
    memset(inverse, 0, (size_t)(n * n) * sizeof *inverse);
    for (int32_t i = 0; i < n; i++) {
        double pivot = gram[n * i + i];
        for (int32_t k = 0; k < i; k++) pivot -= R[n * k + i] * R[n * k + i];
        if (!(pivot > DEPENDENT * gram[n * i + i])) continue;
        R[n * i + i] = sqrt(pivot);
        for (int32_t j = i + 1; j < n; j++) {
            double sum = gram[n * i + j];
            for (int32_t k = 0; k < i; k++) sum -= R[n * k + i] * R[n * k + j];
            R[n * i + j] = sum / R[n * i + i];
        }
    }
    for (int32_t j = 0; j < n; j++) {
        if (R[n * j + j] == 0) continue;
        inverse[n * j + j] = 1 / R[n * j + j];
        for (int32_t i = j - 1; i >= 0; i--) {
            double sum = 0;
            if (R[n * i + i] == 0) continue;
            for (int32_t k = i + 1; k <= j; k++) sum -= R[n * i + k] * inverse[n * k + j];
            inverse[n * i + j] = sum / R[n * i + i];
        }
    }
}

/* R of rotations about another point, c away, from R of rotations about the centre: columns 3 to 5 get their share of
 * the translations. */
static void shift_origin(double *R, const double c[3]) {
    for (int32_t i = 0; i < 6; i++) {
        double *r = R + 6 * i;
        r[3] += -c[2] * r[1] + c[1] * r[2];
        r[4] += c[2] * r[0] - c[0] * r[2];
        r[5] += -c[1] * r[0] + c[0] * r[1];
    }
}

static void orthonormalise(const orthonormalising *o, int32_t aggregate) {
    enum { MOST = DRAPE_I_MODES * DRAPE_I_MODES };
    const int32_t r = o->level->A.r, n = o->modes;
    const int32_t first = o->level->member_first[aggregate], last = o->level->member_first[aggregate + 1];
    double gram[MOST] = {0}, R[MOST], inverse[MOST], K[MOST], centre[3];
    centre_of(o, first, last, centre);
    for (int32_t m = first; m < last; m++) {
        kernel_of(o, o->level->member[m], centre, K);
        for (int32_t i = 0; i < n; i++)
            for (int32_t j = i; j < n; j++)
                for (int32_t k = 0; k < r; k++) gram[n * i + j] += K[r * i + k] * K[r * j + k];
    }
    factor(n, gram, R, inverse);
    for (int32_t m = first; m < last; m++) {
        float *Q = o->Q + (int64_t)r * n * o->level->member[m];
        kernel_of(o, o->level->member[m], centre, K);
        for (int32_t j = 0; j < n; j++)
            for (int32_t k = 0; k < r; k++) {
                double sum = 0;
                for (int32_t i = 0; i <= j; i++) sum += K[r * i + k] * inverse[n * i + j];
                Q[r * j + k] = (float)sum;
            }
    }
    if (n == 6 && !o->level->kernel) { /* about the first vertex: far from it coarse levels would lose rotations */
        for (int32_t k = 0; k < 3; k++) centre[k] -= o->near->x[k];
        shift_origin(R, centre);
    }
    double *coarse = o->R + (int64_t)n * n * aggregate;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) coarse[n * j + i] = R[n * i + j];
}

static void orthonormalise_chunk(void *data, int64_t begin, int64_t end) {
    for (int64_t a = begin; a < end; a++) orthonormalise(data, (int32_t)a);
}

void drape_i_tentative(drape_context *ctx, const drape_i_level *level, const drape_i_near_kernel *near, int32_t modes,
                       float *tentative, double *coarse) {
    orthonormalising o = {level, near, modes, tentative, coarse};
    drape_i_loop(ctx, level->P.cols, AGGREGATE_GRAIN, orthonormalise_chunk, &o);
}

/* ---- The pattern of P ---- */

/* Inserts into a short ascending list, once each; returns its new length. */
static int32_t insert(int32_t *list, int32_t count, int32_t value) {
    int32_t at = count;
    while (at > 0 && list[at - 1] > value) at--;
    if (at > 0 && list[at - 1] == value) return count;
    memmove(list + at + 1, list + at, (size_t)(count - at) * sizeof *list);
    list[at] = value;
    return count + 1;
}

/* The aggregates that row i interpolates from, DRAPE_I_REACH at most. */
static int32_t reach(const drape_i_level *level, int32_t i, int32_t *list) {
    int32_t count = 0;
    if (level->aggregate[i] < 0) return 0;
    list[count++] = level->aggregate[i];
    for (int64_t k = level->A.start[i]; k < level->A.start[i + 1]; k++) {
        int32_t other = level->aggregate[level->A.col[k]];
        if (level->strong[k] && other >= 0 && count < DRAPE_I_REACH) count = insert(list, count, other);
    }
    return count;
}

static void count_rows(void *data, int64_t begin, int64_t end) {
    drape_i_level *level = data;
    int32_t list[DRAPE_I_REACH + 1];
    for (int64_t i = begin; i < end; i++) level->P.start[i + 1] = reach(level, (int32_t)i, list);
}

static void fill_rows(void *data, int64_t begin, int64_t end) {
    drape_i_level *level = data;
    int32_t list[DRAPE_I_REACH + 1];
    for (int64_t i = begin; i < end; i++) {
        int32_t count = reach(level, (int32_t)i, list);
        memcpy(level->P.col + level->P.start[i], list, (size_t)count * sizeof *list);
    }
}

/* The rows of each aggregate, ascending. */
static drape_status list_members(drape_context *ctx, drape_i_level *level, int32_t aggregates) {
    int32_t rows = level->A.rows;
    if (!DRAPE_NEW(ctx, level->member_first, (int64_t)aggregates + 2) || !DRAPE_NEW(ctx, level->member, rows))
        return DRAPE_ERROR_MEMORY;
    int32_t *next = level->member_first + 1;
    for (int32_t i = 0; i < rows; i++)
        if (level->aggregate[i] >= 0) next[level->aggregate[i] + 1]++;
    for (int32_t a = 0; a < aggregates; a++) next[a + 1] += next[a];
    for (int32_t i = 0; i < rows; i++)
        if (level->aggregate[i] >= 0) level->member[next[level->aggregate[i]]++] = i;
    return DRAPE_OK;
}

/* P by columns. */
static drape_status transpose(drape_context *ctx, drape_i_level *level) {
    const drape_i_fblocks *P = &level->P;
    if (!DRAPE_NEW(ctx, level->back_start, (int64_t)P->cols + 2) || !DRAPE_NEW(ctx, level->back_row, P->count) ||
        !DRAPE_NEW(ctx, level->back_block, P->count))
        return DRAPE_ERROR_MEMORY;
    int64_t *next = level->back_start + 1;
    for (int64_t k = 0; k < P->count; k++) next[P->col[k] + 1]++;
    for (int32_t c = 0; c < P->cols; c++) next[c + 1] += next[c];
    for (int32_t i = 0; i < P->rows; i++)
        for (int64_t k = P->start[i]; k < P->start[i + 1]; k++) {
            int64_t at = next[P->col[k]]++;
            level->back_row[at] = i;
            level->back_block[at] = (int32_t)k;
        }
    return DRAPE_OK;
}

drape_status drape_i_interpolation_pattern(drape_context *ctx, drape_i_level *level, int32_t aggregates,
                                           int32_t modes) {
    drape_i_fblocks *P = &level->P;
    int32_t rows = level->A.rows;
    *P = (drape_i_fblocks){.rows = rows, .cols = aggregates, .r = level->A.r, .c = modes};
    if (!DRAPE_NEW(ctx, P->start, (int64_t)rows + 1)) return DRAPE_ERROR_MEMORY;
    drape_i_loop(ctx, rows, ROW_GRAIN, count_rows, level);
    for (int32_t i = 0; i < rows; i++) P->start[i + 1] += P->start[i];
    P->count = P->start[rows];
    if (!DRAPE_NEW(ctx, P->col, P->count) || !DRAPE_NEW(ctx, P->val, P->count * P->r * P->c + DRAPE_I_PADDING))
        return DRAPE_ERROR_MEMORY;
    drape_i_loop(ctx, rows, ROW_GRAIN, fill_rows, level);
    drape_status status = list_members(ctx, level, aggregates);
    return status ? status : transpose(ctx, level);
}

/* ---- The values of P ---- */

typedef struct smoothing {
    drape_simd simd;
    drape_i_smoothing job;
} smoothing;

static void smooth_chunk(void *data, int64_t begin, int64_t end) {
    const smoothing *s = data;
    drape_i_smooth_rows_at[s->simd](&s->job, (int32_t)begin, (int32_t)end);
}

void drape_i_interpolation_values(drape_context *ctx, drape_i_level *level, const float *tentative, double omega) {
    smoothing s = {ctx->simd, {level, tentative, (float)omega}};
    drape_i_loop(ctx, level->A.rows, ROW_GRAIN, smooth_chunk, &s);
}
