/* interpolate.c: from a near-kernel to the interpolation P (Tamstorf, Jones and McCormick 2015, section 5).
 *
 * The near-kernel K, cut into the pieces of the aggregates, becomes Q R piece by piece: Q is the tentative
 * interpolation, R the near-kernel of the coarse level. It is then smoothed,
 *
 *     P = (I - omega A_F) Q,
 *
 * where A_F is the scaled matrix (which the paper calls D^-1 A) without weak connections, which would make P denser.
 * What weak connections do to the near-kernel is left to the aggregate of their row. Where the paper's A_F has A_ij
 * in its diagonal, acting on Q_i, a weak U_ij acts on K_j R_I^-1 = Q_j R_J R_I^-1 here. That is the same where the
 * near-kernel is the same in i and j, as translations are before they are scaled. It leaves P R = (I - omega A) K
 * exact for all modes. Half of the matrix is kept, so each of its blocks smooths two rows of P; where is known
 * beforehand (row_slot, col_slot). A column of a piece that depends on those before it (an aggregate of few vertices,
 * or of held ones) becomes zero.
 */
#include "base/parallel.h"
#include "linear/amg/dense.h"
#include "linear/amg/kernels.h"
#include "linear/amg/setup.h"
#include "linear/turned.h"
#include "sparse/by_column.h"

#include <string.h>

enum { AGGREGATE_GRAIN = 64, ROW_GRAIN = 256 };
static const double DEPENDENT = 1e-10; /* what is left of a column over what it was, squared */

/* ---- Q and R ---- */

typedef struct orthonormalising {
    const drape_i_amg_input *in;
    const drape_i_level *level;
    int32_t modes;
    float *Q, *R, *inverse;
} orthonormalising;

/* The same from the caller's vectors: T times what they are at this vertex; modes without a vector are 0. */
static void own_kernel_of(const orthonormalising *o, int32_t i, const double T[9], double *K) {
    const drape_i_near_kernel *near = &o->in->near;
    const int64_t length = 3 * (int64_t)o->level->A.rows, row = drape_i_user_row(o->level, i);
    memset(K, 0, 3 * (size_t)o->modes * sizeof *K);
    for (int32_t m = 0; m < near->count; m++) {
        const double *v = near->own + length * m + 3 * row;
        for (int32_t k = 0; k < 3; k++)
            K[o->modes * k + m] = (T[3 * k] * v[0] + T[3 * k + 1] * v[1]) + T[3 * k + 2] * v[2];
    }
}

/* The same at a vertex of a group of equalities: T times H'K (turned.h). */
static void turned_kernel_of(const orthonormalising *o, int32_t i, const double centre[3], const double T[9],
                             double *K) {
    const int32_t n = o->modes;
    double turned[18];
    drape_i_turned_modes(o->in->near.set->turned_by, drape_i_user_row(o->level, i), o->in->near.x, centre, n, turned);
    for (int32_t m = 0; m < 3 * n; m++) {
        const double *t = T + m / n * 3;
        K[m] = (t[0] * turned[m % n] + t[1] * turned[n + m % n]) + t[2] * turned[2 * n + m % n];
    }
}

static bool is_turned(const orthonormalising *o, int32_t i) {
    const drape_constraints *set = o->in->near.set;
    return set && set->turned_by && set->turned_by->of[drape_i_user_row(o->level, i)] >= 0;
}

/* K_i, r x modes row by row, in the scaled unknowns; rotations are about `centre`. */
static void kernel_of(const orthonormalising *o, int32_t i, const double centre[3], double *K) {
    const int32_t size = o->level->A.r * o->modes;
    double T[9];
    if (o->level->kernel) {
        for (int32_t m = 0; m < size; m++) K[m] = o->level->kernel[(int64_t)size * i + m];
        return;
    }
    if (o->in->near.own) {
        drape_i_unscale_finest(o->in, o->level, i, T);
        own_kernel_of(o, i, T, K);
        return;
    }
    if (is_turned(o, i)) {
        drape_i_unscale_finest(o->in, o->level, i, T);
        turned_kernel_of(o, i, centre, T, K);
        return;
    }
    drape_i_unscale_finest(o->in, o->level, i, o->modes == 3 ? K : T);
    if (o->modes == 3) return;
    const double *at = o->in->near.x + 3 * (int64_t)drape_i_user_row(o->level, i);
    double x = at[0] - centre[0], y = at[1] - centre[1], z = at[2] - centre[2];
    for (int32_t k = 0; k < 3; k++) { /* the translation that a rotation is here */
        const double *t = T + 3 * k;
        double *to = K + 6 * k;
        to[0] = t[0], to[1] = t[1], to[2] = t[2];
        to[3] = t[2] * y - t[1] * z, to[4] = t[0] * z - t[2] * x, to[5] = t[1] * x - t[0] * y;
    }
}

/* The middle of an aggregate, so that rotations about it are nearly orthogonal to translations. */
static void centre_of(const orthonormalising *o, int32_t first, int32_t last, double centre[3]) {
    centre[0] = centre[1] = centre[2] = 0;
    if (o->level->kernel || o->in->near.own || o->modes != 6) return;
    for (int32_t m = first; m < last; m++)
        for (int32_t k = 0; k < 3; k++)
            centre[k] +=
                o->in->near.x[3 * (int64_t)drape_i_user_row(o->level, o->level->member[m]) + k] / (last - first);
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

/* gram += K'K, its upper half */
DRAPE_INLINE void add_gram(int32_t r, int32_t n, const double *K, double *gram) {
    for (int32_t k = 0; k < r; k++)
        for (int32_t i = 0; i < n; i++)
            for (int32_t j = i; j < n; j++) gram[n * i + j] += K[n * k + i] * K[n * k + j];
}

/* Q = K inverse, inverse being upper triangular */
DRAPE_INLINE void apply_inverse(int32_t r, int32_t n, const double *K, const double *inverse, float *Q) {
    for (int32_t k = 0; k < r; k++)
        for (int32_t j = 0; j < n; j++) {
            double sum = 0;
            for (int32_t i = 0; i <= j; i++) sum += K[n * k + i] * inverse[n * i + j];
            Q[n * k + j] = (float)sum;
        }
}

enum { MOST = DRAPE_I_MODES * DRAPE_I_MODES, KEPT = 16 /* members whose K_i is not made twice */ };

/* r and n are known where this is compiled, so that small loops unroll. */
DRAPE_INLINE void orthonormalise_sized(const orthonormalising *o, int32_t aggregate, int32_t r, int32_t n) {
    const int32_t *member = o->level->member;
    const int32_t first = (int32_t)o->level->member_first[aggregate];
    const int32_t last = (int32_t)o->level->member_first[aggregate + 1];
    double gram[MOST], R[MOST], inverse[MOST], centre[3], kept[KEPT * MOST], K[MOST];
    centre_of(o, first, last, centre);
    memset(gram, 0, (size_t)(n * n) * sizeof *gram);
    for (int32_t m = first; m < last; m++) {
        double *mine = m - first < KEPT ? kept + r * n * (m - first) : K;
        kernel_of(o, member[m], centre, mine);
        add_gram(r, n, mine, gram);
    }
    drape_i_factor_upper(n, gram, DEPENDENT, R);
    drape_i_invert_upper(n, R, inverse);
    for (int32_t m = first; m < last; m++) {
        if (m - first >= KEPT) kernel_of(o, member[m], centre, K);
        apply_inverse(r, n, m - first < KEPT ? kept + r * n * (m - first) : K, inverse,
                      o->Q + (int64_t)r * n * member[m]);
    }
    if (n == 6 && !o->level->kernel &&
        !o->in->near.own) { /* about the first vertex: far from it coarse levels would lose rotations */
        for (int32_t k = 0; k < 3; k++) centre[k] -= o->in->near.x[k];
        shift_origin(R, centre);
        drape_i_invert_upper(n, R, inverse);
    }
    for (int32_t m = 0; m < n * n; m++) {
        o->R[(int64_t)n * n * aggregate + m] = (float)R[m];
        o->inverse[(int64_t)n * n * aggregate + m] = (float)inverse[m];
    }
}

static void orthonormalise(const orthonormalising *o, int32_t aggregate) {
    if (o->modes == 3) orthonormalise_sized(o, aggregate, 3, 3);
    else if (o->modes == 6 && o->level->A.r == 3) orthonormalise_sized(o, aggregate, 3, 6);
    else if (o->modes == 6) orthonormalise_sized(o, aggregate, 6, 6);
    else if (o->level->A.r == 3) orthonormalise_sized(o, aggregate, 3, 12);
    else orthonormalise_sized(o, aggregate, 12, 12);
}

static void orthonormalise_chunk(void *data, int64_t begin, int64_t end) {
    for (int64_t a = begin; a < end; a++) orthonormalise(data, (int32_t)a);
}

/* Rows in no aggregate: nothing is made from them, but kernels multiply what follows the block before, and denormal
 * numbers would slow them down. Those for blocks of 3x3 load no more than the block. */
static void clear_special_rows(void *data, int64_t begin, int64_t end) {
    const orthonormalising *o = data;
    const int64_t size = (int64_t)o->level->A.r * o->modes;
    for (int64_t i = begin; i < end; i++)
        if (o->level->aggregate[i] < 0) memset(o->Q + size * i, 0, (size_t)size * sizeof *o->Q);
}

void drape_i_tentative(drape_context *ctx, const drape_i_amg_input *in, const drape_i_level *level, float *tentative,
                       float *coarse, float *inverse) {
    orthonormalising o = {in, level, level->P.c, tentative, coarse, inverse};
    if (o.modes > 3) drape_i_loop(ctx, level->A.rows, ROW_GRAIN, clear_special_rows, &o);
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

typedef struct reaching {
    drape_i_level *level;
    const drape_i_graph *graph;
    int32_t *found; /* of all rows, until their numbers are known */
    uint8_t *own;   /* which of a row's blocks is that of its own aggregate */
} reaching;

/* Row i finds no more than its own aggregate and one a connection. */
static int32_t *found_by(const reaching *r, int64_t i) { return r->found + r->graph->start[i] + i; }

/* The aggregates that row i interpolates from, DRAPE_I_REACH at most. */
static int32_t reach(const reaching *r, int32_t i, int32_t *list) {
    const drape_i_graph *g = r->graph;
    const int32_t *aggregate = r->level->aggregate;
    int32_t count = 0;
    if (aggregate[i] < 0) return 0;
    list[count++] = aggregate[i];
    for (int64_t k = g->start[i]; k < g->start[i + 1] && count < DRAPE_I_REACH; k++)
        if (aggregate[g->col[k]] >= 0) count = insert(list, count, aggregate[g->col[k]]);
    return count;
}

static void find_rows(void *data, int64_t begin, int64_t end) {
    const reaching *r = data;
    for (int64_t i = begin; i < end; i++) r->level->P.start[i + 1] = reach(r, (int32_t)i, found_by(r, i));
}

static void fill_rows(void *data, int64_t begin, int64_t end) {
    const reaching *r = data;
    const drape_i_fblocks *P = &r->level->P;
    for (int64_t i = begin; i < end; i++) {
        const int32_t *found = found_by(r, i), count = (int32_t)(P->start[i + 1] - P->start[i]);
        memcpy(P->col + P->start[i], found, (size_t)count * sizeof *P->col);
        r->own[i] = 0;
        for (int32_t k = 0; k < count; k++) r->own[i] += found[k] < r->level->aggregate[i];
    }
}

static drape_status make_rows(drape_context *ctx, reaching *r) {
    drape_i_fblocks *P = &r->level->P;
    P->start[0] = 0;
    drape_i_loop(ctx, P->rows, ROW_GRAIN, find_rows, r);
    for (int32_t i = 0; i < P->rows; i++) P->start[i + 1] += P->start[i];
    P->count = P->start[P->rows];
    if (!DRAPE_NEW_RAW(ctx, P->col, P->count) || !(P->val = drape_i_fvector(ctx, P->count * P->r * P->c)))
        return DRAPE_ERROR_MEMORY;
    drape_i_loop(ctx, P->rows, ROW_GRAIN, fill_rows, r);
    return DRAPE_OK;
}

/* ---- Where connections go ---- */

/* Which block of P's row i a connection with row j smooths; DRAPE_I_WEAK where that is row i's own, though j is in
 * another aggregate. */
static uint8_t slot_of(const reaching *r, int32_t i, int32_t j, bool strong) {
    const drape_i_level *l = r->level;
    const int32_t *col = l->P.col + l->P.start[i], count = (int32_t)(l->P.start[i + 1] - l->P.start[i]);
    const int32_t other = l->aggregate[j];
    int32_t at = 0;
    if (count == 0 || other < 0) return DRAPE_I_NO_SLOT; /* special nodes have nothing to give, and need nothing */
    if (l->aggregate[i] == other) return r->own[i];
    if (!strong) return r->own[i] | DRAPE_I_WEAK;
    while (at < count && col[at] != other) at++;
    return (uint8_t)(at < count ? at : r->own[i] | DRAPE_I_WEAK);
}

static void slot_band(void *data, int32_t band) {
    const reaching *r = data;
    drape_i_level *l = r->level;
    const drape_i_upper *A = &l->A;
    const uint8_t *strong = r->graph->strong;
    for (int32_t i = A->bands.first[band]; i < A->bands.first[band + 1]; i++)
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) {
            l->row_slot[k] = slot_of(r, i, A->col[k], strong[k]);
            l->col_slot[k] = slot_of(r, A->col[k], i, strong[k]);
        }
    for (int32_t n = A->border_first[band]; n < A->border_first[band + 1]; n++)
        for (int64_t m = A->lower_start[n]; m < A->lower_start[n + 1]; m++)
            l->low_slot[m] = slot_of(r, A->border[n], A->lower_col[m], strong[A->lower_block[m]]);
}

/* The rows of each aggregate, ascending. */
static drape_status list_members(drape_context *ctx, drape_i_level *level, int32_t aggregates) {
    drape_i_by_column by;
    const drape_i_entries members = {.rows = level->A.rows, .cols = aggregates, .col = level->aggregate};
    if (!DRAPE_NEW_RAW(ctx, level->member_first, (int64_t)aggregates + 1) ||
        !DRAPE_NEW_RAW(ctx, level->member, level->A.rows))
        return DRAPE_ERROR_MEMORY;
    drape_status status = drape_i_by_column_count(ctx, &members, level->member_first, &by);
    if (!status) drape_i_by_column_sort(ctx, &by, false, level->member, NULL);
    return status;
}

static drape_status make_slots(drape_context *ctx, reaching *r) {
    drape_i_level *l = r->level;
    if (!DRAPE_NEW_RAW(ctx, l->row_slot, l->A.count) || !DRAPE_NEW_RAW(ctx, l->col_slot, l->A.count) ||
        !DRAPE_NEW_RAW(ctx, l->low_slot, l->A.lowers))
        return DRAPE_ERROR_MEMORY;
    drape_i_bands_all(ctx, &l->A.bands, slot_band, r);
    return DRAPE_OK;
}

drape_status drape_i_interpolation_pattern(drape_context *ctx, drape_i_level *level, const drape_i_graph *graph,
                                           int32_t aggregates, int32_t modes) {
    drape_i_fblocks *P = &level->P;
    reaching r = {level, graph, NULL, NULL};
    int32_t rows = level->A.rows;
    *P = (drape_i_fblocks){.rows = rows, .cols = aggregates, .r = level->A.r, .c = modes};
    bool good = DRAPE_NEW_RAW(ctx, P->start, (int64_t)rows + 1) && DRAPE_NEW_RAW(ctx, r.found, graph->count + rows) &&
                DRAPE_NEW_RAW(ctx, r.own, rows);
    drape_status status = good ? make_rows(ctx, &r) : DRAPE_ERROR_MEMORY;
    DRAPE_FREE(ctx, r.found, graph->count + rows);
    if (!status) status = list_members(ctx, level, aggregates);
    if (!status) status = make_slots(ctx, &r);
    DRAPE_FREE(ctx, r.own, rows);
    return status;
}

/* ---- The values of P ---- */

typedef struct smoothing {
    drape_simd simd;
    drape_i_smoothing job;
} smoothing;

static void smooth_band(void *data, int32_t band) {
    const smoothing *s = data;
    drape_i_smooth_band_at[s->simd](&s->job, band);
}

void drape_i_interpolation_values(drape_context *ctx, drape_i_level *level, const drape_i_tentative_parts *parts,
                                  double omega) {
    smoothing s = {ctx->simd, {level, *parts, (float)omega}};
    drape_i_bands_all(ctx, &level->A.bands, smooth_band, &s);
}
