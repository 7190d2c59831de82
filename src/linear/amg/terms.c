/* terms.c: couplings on the finest level of multigrid, as a sum of terms g g' in its scaled unknowns.
 *
 * The finest level is made for A alone, so that aggregates, patterns and even values stay where nothing but the
 * couplings changes. Its operator is then
 *
 *     T = I + U + U' + C,   C = sum of g g',
 *
 * where g has 3 numbers for each row that it touches, W_i' sqrt(k) w_i n. Smoothing knows C only through a block
 * diagonal D, and leaves the rest of it to the residual. The pair of Gauss-Seidel sweeps is M = I + D + F and its
 * transpose, and
 *
 *     M + M' - T = I + 2 D - C
 *
 * must be positive definite for the cycle to be so. By Cauchy's inequality
 *
 *     (sum of g_i'x_i)^2 <= (sum of |g_j|) (sum of (g_i'x_i)^2 / |g_i|),
 *
 * so D_i = sum over the terms of (sum of |g_j|) / (2 |g_i|) g_i g_i' is enough. For two vertices with |g_i| = |g_j|
 * that is the block diagonal of C. */
#include "base/parallel.h"
#include "linear/amg/cycle.h"
#include "linear/amg/dense.h"
#include "linear/amg/setup.h"

#include <math.h>
#include <string.h>

enum { GRAIN = 256, STRIDE = DRAPE_I_STRIDE(3), UNKNOWNS = 3 * DRAPE_COUPLING_VERTICES };
static const double NOTHING = 1e-12; /* of a coupling's blocks: what is left of a pivot that is but rounding */
static const double LARGEST = 1e12;  /* square of a g that single precision is safe with */

/* ---- Memory ---- */

void drape_i_terms_free(drape_context *ctx, drape_i_terms *t) {
    DRAPE_FREE(ctx, t->first, t->room_terms + 1);
    DRAPE_FREE(ctx, t->product, t->room_terms);
    DRAPE_FREE(ctx, t->row, t->room_entries);
    DRAPE_FREE(ctx, t->g, t->room_entries * STRIDE);
    DRAPE_FREE(ctx, t->term, t->room_entries);
    DRAPE_FREE(ctx, t->own, t->room_entries * STRIDE);
    DRAPE_FREE(ctx, t->touched, t->room_touched);
    DRAPE_FREE(ctx, t->touched_first, t->room_touched + 1);
    DRAPE_FREE(ctx, t->D, t->room_touched * 9 + DRAPE_I_PADDING);
    DRAPE_FREE(ctx, t->G, t->room_touched * 9 + DRAPE_I_PADDING);
    DRAPE_FREE(ctx, t->saved, t->room_touched * STRIDE);
    DRAPE_FREE(ctx, t->index, t->rows);
    *t = (drape_i_terms){0};
}

/* Nothing that is kept is worth copying: all is given back, and taken half as large again as is needed. */
static drape_status make_room(drape_context *ctx, int32_t rows, int64_t terms, int64_t entries, drape_i_terms *t) {
    if (t->index && terms <= t->room_terms && entries <= t->room_entries) return DRAPE_OK;
    drape_i_terms_free(ctx, t);
    t->rows = rows;
    t->room_terms = terms + terms / 2;
    t->room_entries = entries + entries / 2;
    t->room_touched = t->room_entries < rows ? t->room_entries : rows;
    bool good = DRAPE_NEW_RAW(ctx, t->first, t->room_terms + 1) && DRAPE_NEW_RAW(ctx, t->product, t->room_terms) &&
                DRAPE_NEW_RAW(ctx, t->row, t->room_entries) && DRAPE_NEW_RAW(ctx, t->g, t->room_entries * STRIDE) &&
                DRAPE_NEW_RAW(ctx, t->term, t->room_entries) &&
                DRAPE_NEW_RAW(ctx, t->own, t->room_entries * STRIDE) &&
                DRAPE_NEW_RAW(ctx, t->touched, t->room_touched) &&
                DRAPE_NEW_RAW(ctx, t->touched_first, t->room_touched + 1) &&
                DRAPE_NEW_RAW(ctx, t->D, t->room_touched * 9 + DRAPE_I_PADDING) &&
                DRAPE_NEW_RAW(ctx, t->G, t->room_touched * 9 + DRAPE_I_PADDING) &&
                DRAPE_NEW_RAW(ctx, t->saved, t->room_touched * STRIDE) && DRAPE_NEW_RAW(ctx, t->index, rows);
    if (!good) {
        drape_i_terms_free(ctx, t);
        return DRAPE_ERROR_MEMORY;
    }
    for (int32_t i = 0; i < rows; i++) t->index[i] = -1;
    return DRAPE_OK;
}

void drape_i_terms_clear(drape_i_terms *t) {
    for (int32_t v = 0; v < t->touches; v++) t->index[t->touched[v]] = -1;
    t->count = 0;
    t->touches = 0;
}

/* ---- From couplings to terms ---- */

/* A coupling as a sum of f f', f of 3 numbers per vertex: at most 3 count of them; how many. Blocks by Cholesky with
 * the largest pivot first. */
static int32_t split(const drape_coupling *c, double scale, double f[UNKNOWNS][UNKNOWNS]) {
    const int32_t n = 3 * c->count;
    double a[UNKNOWNS * UNKNOWNS], most = 0;
    int32_t count = 0;
    if (!c->blocks) {
        double root = sqrt(scale * c->k);
        for (int32_t i = 0; i < n; i++) f[0][i] = root * (c->w[i / 3] * c->n[i % 3]);
        return c->k > 0;
    }
    for (int32_t i = 0; i < n * n; i++) a[i] = scale * c->blocks[i];
    for (; count < n; count++) {
        int32_t p = 0;
        for (int32_t i = 1; i < n; i++)
            if (a[(n + 1) * i] > a[(n + 1) * p]) p = i;
        if (count == 0) most = a[(n + 1) * p];
        if (!(a[(n + 1) * p] > NOTHING * most)) break;
        double root = sqrt(a[(n + 1) * p]);
        for (int32_t i = 0; i < n; i++) f[count][i] = a[n * i + p] / root;
        for (int32_t i = 0; i < n * n; i++) a[i] -= f[count][i / n] * f[count][i % n];
    }
    return count;
}

/* g = W_i'f for the vertices of a coupling; false: there is nothing of it, or too much. */
static bool scale_term(const drape_i_level *l, const drape_coupling *c, const double *f, int32_t *row, float *g) {
    double size = 0;
    for (int32_t a = 0; a < c->count; a++) {
        const int64_t i = l->place ? l->place[c->vertex[a]] : c->vertex[a];
        const float *W = l->scale + 9 * i;
        row[a] = (int32_t)i;
        for (int32_t k = 0; k < 3; k++) {
            double sum = (W[k] * f[3 * a] + W[3 + k] * f[3 * a + 1]) + W[6 + k] * f[3 * a + 2];
            size += sum * sum;
            g[STRIDE * a + k] = (float)sum;
        }
        g[STRIDE * a + 3] = 0;
    }
    return size > 0 && size < LARGEST;
}

static void list_terms(const drape_i_amg_input *in, const drape_i_level *l, drape_i_terms *t) {
    const drape_i_couplings *C = in->couplings;
    double f[UNKNOWNS][UNKNOWNS];
    t->first[0] = 0;
    for (int32_t c = 0; c < C->count; c++) {
        if (in->tied && in->tied[c] > 0) continue;
        const int32_t n = split(&C->list[c], in->scale, f);
        for (int32_t k = 0; k < n; k++) {
            const int64_t at = t->first[t->count];
            if (!scale_term(l, &C->list[c], f[k], t->row + at, t->g + STRIDE * at)) continue;
            t->first[++t->count] = at + C->list[c].count;
        }
    }
}

/* ---- By rows ---- */

static void sort_by_rows(drape_i_terms *t) {
    for (int64_t e = 0; e < t->first[t->count]; e++) {
        int32_t *number = &t->index[t->row[e]];
        *number = *number < 0 ? 1 : *number + 1;
    }
    t->touched_first[0] = 0;
    for (int32_t i = 0; i < t->rows; i++) {
        if (t->index[i] < 0) continue;
        t->touched[t->touches] = i;
        t->touched_first[t->touches + 1] = t->touched_first[t->touches] + t->index[i];
        t->index[i] = t->touches++;
    }
    for (int32_t c = 0; c < t->count; c++)
        for (int64_t e = t->first[c]; e < t->first[c + 1]; e++) {
            int64_t at = t->touched_first[t->index[t->row[e]]]++;
            t->term[at] = c;
            memcpy(t->own + STRIDE * at, t->g + STRIDE * e, STRIDE * sizeof *t->g);
        }
    for (int32_t v = t->touches; v > 0; v--) t->touched_first[v] = t->touched_first[v - 1];
    t->touched_first[0] = 0;
}

/* Kernels load whole registers, also of the last block. */
static void clear_padding(drape_i_terms *t) {
    memset(t->D + 9 * (int64_t)t->touches, 0, DRAPE_I_PADDING * sizeof *t->D);
    memset(t->G + 9 * (int64_t)t->touches, 0, DRAPE_I_PADDING * sizeof *t->G);
}

static double length_of(const float *g) {
    return sqrt(((double)g[0] * g[0] + (double)g[1] * g[1]) + (double)g[2] * g[2]);
}

/* product = half the sum of |g_j| */
static void sum_lengths(void *data, int64_t begin, int64_t end) {
    const drape_i_terms *t = data;
    for (int64_t c = begin; c < end; c++) {
        double sum = 0;
        for (int64_t e = t->first[c]; e < t->first[c + 1]; e++) sum += length_of(t->g + STRIDE * e);
        t->product[c] = (float)(sum / 2);
    }
}

/* G = (I + D)^-1 */
static void invert(const double D[9], float *G) {
    double a[9], R[9], W[9];
    for (int32_t m = 0; m < 9; m++) a[m] = D[m] + (m % 4 == 0 ? 1 : 0);
    drape_i_factor_upper(3, a, 0, R);
    drape_i_invert_upper(3, R, W);
    for (int32_t m = 0; m < 9; m++) {
        const double *left = W + m / 3 * 3, *right = W + m % 3 * 3;
        G[m] = (float)((left[0] * right[0] + left[1] * right[1]) + left[2] * right[2]);
    }
}

static void make_diagonal(void *data, int64_t begin, int64_t end) {
    const drape_i_terms *t = data;
    for (int64_t v = begin; v < end; v++) {
        double D[9] = {0};
        for (int64_t e = t->touched_first[v]; e < t->touched_first[v + 1]; e++) {
            const float *g = t->own + STRIDE * e;
            double length = length_of(g), weight = length > 0 ? t->product[t->term[e]] / length : 0;
            for (int32_t m = 0; m < 9; m++) D[m] += weight * ((double)g[m / 3] * g[m % 3]);
        }
        for (int32_t m = 0; m < 9; m++) t->D[9 * v + m] = (float)D[m];
        invert(D, t->G + 9 * v);
    }
}

drape_status drape_i_terms_set(drape_context *ctx, const drape_i_amg_input *in, drape_i_level *finest) {
    const drape_i_couplings *C = in->couplings;
    drape_i_terms *t = &finest->terms;
    int64_t terms = 0, entries = 0;
    for (int32_t c = 0; c < C->count; c++) {
        if (in->tied && in->tied[c] > 0) continue;
        const int32_t n = C->list[c].blocks ? 3 * C->list[c].count : 1;
        terms += n;
        entries += (int64_t)n * C->list[c].count;
    }
    drape_i_terms_clear(t);
    if (terms > INT32_MAX)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: %d couplings with blocks are too many for amg",
                            C->count);
    drape_status status = make_room(ctx, finest->A.rows, terms, entries, t);
    if (status) return status;
    list_terms(in, finest, t);
    sort_by_rows(t);
    drape_i_loop(ctx, t->count, GRAIN, sum_lengths, t);
    drape_i_loop(ctx, t->touches, GRAIN, make_diagonal, t);
    clear_padding(t);
    return DRAPE_OK;
}

/* ---- In a cycle ---- */

typedef struct adding {
    const drape_i_terms *t;
    const float *x;
    float *y;
    bool rest; /* y -= (C - D) x in place of y += C x */
} adding;

static void begin_chunk(void *data, int64_t begin, int64_t end) {
    const adding *a = data;
    const drape_i_terms *t = a->t;
    for (int64_t c = begin; c < end; c++) {
        float sum[3] = {0};
        for (int64_t e = t->first[c]; e < t->first[c + 1]; e++) {
            const float *g = t->g + STRIDE * e, *x = a->x + STRIDE * (int64_t)t->row[e];
            for (int32_t k = 0; k < 3; k++) sum[k] += g[k] * x[k];
        }
        t->product[c] = (sum[0] + sum[1]) + sum[2];
    }
}

static void add_chunk(void *data, int64_t begin, int64_t end) {
    const adding *a = data;
    const drape_i_terms *t = a->t;
    for (int64_t v = begin; v < end; v++) {
        const int64_t i = STRIDE * (int64_t)t->touched[v];
        const float *D = t->D + 9 * v, *x = a->x + i;
        float sum[3] = {0};
        for (int64_t e = t->touched_first[v]; e < t->touched_first[v + 1]; e++)
            for (int32_t k = 0; k < 3; k++) sum[k] += t->product[t->term[e]] * t->own[STRIDE * e + k];
        for (int32_t k = 0; k < 3; k++) {
            const float Dx = (D[3 * k] * x[0] + D[3 * k + 1] * x[1]) + D[3 * k + 2] * x[2];
            a->y[i + k] += a->rest ? Dx - sum[k] : sum[k];
        }
    }
}

static void add(drape_context *ctx, adding a) {
    drape_i_loop(ctx, a.t->count, GRAIN, begin_chunk, &a);
    drape_i_loop(ctx, a.t->touches, GRAIN, add_chunk, &a);
}

void drape_i_terms_add(drape_context *ctx, const drape_i_level *level, const float *x, float *y) {
    if (level->terms.count > 0) add(ctx, (adding){&level->terms, x, y, false});
}

void drape_i_terms_subtract_rest(drape_context *ctx, const drape_i_level *level, const float *x, float *y) {
    if (level->terms.count > 0) add(ctx, (adding){&level->terms, x, y, true});
}

void drape_i_terms_keep(const drape_i_level *level, const float *from) {
    const drape_i_terms *t = &level->terms;
    for (int64_t v = 0; v < t->touches; v++)
        memcpy(t->saved + STRIDE * v, from + STRIDE * (int64_t)t->touched[v], STRIDE * sizeof *from);
}

void drape_i_terms_restore(const drape_i_level *level, float *to) {
    const drape_i_terms *t = &level->terms;
    for (int64_t v = 0; v < t->touches; v++)
        memcpy(to + STRIDE * (int64_t)t->touched[v], t->saved + STRIDE * v, STRIDE * sizeof *to);
}
