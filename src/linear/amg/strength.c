/* strength.c: which connections count (Tamstorf, Jones and McCormick 2015, section 5):
 *
 *     s_ij >= theta max_k s_ik,   s_ij = |A_ii^-1/2 A_ij A_jj^-1/2| = |U_ij|
 *
 * in the Frobenius norm, where the paper has the spectral radius. It is relative to a row, so not symmetric: i and j
 * are strongly connected where either of them says so. The result is a graph of both halves, for aggregates and for
 * the pattern of P. */
#include "base/parallel.h"
#include "linear/amg/setup.h"

typedef struct weighing {
    const drape_i_upper *A;
    float *norm2, *most; /* |U_ij|^2 per block; the largest a row */
    float theta2;
    drape_i_graph *graph;
} weighing;

/* Three sums side by side: alone each number would wait for the one before. */
static float norm2_of(const float *block, int32_t n) {
    float a = 0, b = 0, c = 0;
    for (int32_t k = 0; k < n; k += 3) {
        a += block[k] * block[k];
        b += block[k + 1] * block[k + 1];
        c += block[k + 2] * block[k + 2];
    }
    return (a + b) + c;
}

/* Written whether it changes or not: nobody could foresee which. */
static void raise(float *most, float value) { *most = value > *most ? value : *most; }

/* Norms of all blocks of a band's rows, and the largest of those inside the band. */
static void weigh_band(void *data, int32_t band) {
    weighing *w = data;
    const drape_i_upper *A = w->A;
    const int32_t size = A->r * A->r, begin = A->bands.first[band], end = A->bands.first[band + 1];
    for (int32_t i = begin; i < end; i++) w->most[i] = 0;
    for (int32_t i = begin; i < end; i++)
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) {
            w->norm2[k] = norm2_of(A->val + size * k, size);
            raise(&w->most[i], w->norm2[k]);
            if (A->col[k] < end) raise(&w->most[A->col[k]], w->norm2[k]);
        }
}

static void weigh_borders(void *data, int32_t band) {
    weighing *w = data;
    const drape_i_upper *A = w->A;
    for (int32_t n = A->border_first[band]; n < A->border_first[band + 1]; n++)
        for (int64_t m = A->lower_start[n]; m < A->lower_start[n + 1]; m++)
            raise(&w->most[A->border[n]], w->norm2[A->lower_block[m]]);
}

static void decide_band(void *data, int32_t band) {
    weighing *w = data;
    const drape_i_upper *A = w->A;
    for (int32_t i = A->bands.first[band]; i < A->bands.first[band + 1]; i++)
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) {
            float other = w->most[A->col[k]], least = w->most[i] < other ? w->most[i] : other;
            w->graph->strong[k] = w->norm2[k] > 0 && w->norm2[k] >= w->theta2 * least;
        }
}

/* ---- The graph ---- */

typedef struct listing {
    const drape_i_upper *A;
    drape_i_graph *graph;
    int64_t *next; /* of each row: how many connections it has, then where its next one goes */
} listing;

/* The connections of the rows of a band, with other bands and with each other. Which ones are connected is
 * unpredictable: counted without a branch. */
static void count_band(void *data, int32_t band) {
    const listing *l = data;
    const drape_i_upper *A = l->A;
    const uint8_t *strong = l->graph->strong;
    for (int32_t n = A->border_first[band]; n < A->border_first[band + 1]; n++)
        for (int64_t m = A->lower_start[n]; m < A->lower_start[n + 1]; m++)
            l->next[A->border[n]] += strong[A->lower_block[m]];
    for (int32_t i = A->bands.first[band]; i < A->bands.first[band + 1]; i++) {
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) l->next[i] += strong[k];
        for (int64_t k = A->start[i]; k < A->start[i] + A->inner[i]; k++) l->next[A->col[k]] += strong[k];
    }
}

static void list_one(const listing *l, int32_t i, int32_t j) { l->graph->col[l->next[i]++] = j; }

/* Rows are met in order, so those below the diagonal come in order too, and before those above. */
static void list_band(void *data, int32_t band) {
    const listing *l = data;
    const drape_i_upper *A = l->A;
    const uint8_t *strong = l->graph->strong;
    for (int32_t n = A->border_first[band]; n < A->border_first[band + 1]; n++)
        for (int64_t m = A->lower_start[n]; m < A->lower_start[n + 1]; m++)
            if (strong[A->lower_block[m]]) list_one(l, A->border[n], A->lower_col[m]);
    for (int32_t i = A->bands.first[band]; i < A->bands.first[band + 1]; i++)
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) {
            if (!strong[k]) continue;
            list_one(l, i, A->col[k]);
            if (k < A->start[i] + A->inner[i]) list_one(l, A->col[k], i);
        }
}

static drape_status list_connections(drape_context *ctx, const drape_i_upper *A, drape_i_graph *graph) {
    listing l = {A, graph, NULL};
    if (!DRAPE_NEW(ctx, l.next, A->rows)) return DRAPE_ERROR_MEMORY;
    drape_i_bands_all(ctx, &A->bands, count_band, &l);
    graph->start[0] = 0;
    for (int32_t i = 0; i < A->rows; i++) {
        graph->start[i + 1] = graph->start[i] + l.next[i];
        l.next[i] = graph->start[i];
    }
    graph->count = graph->start[A->rows];
    bool good = DRAPE_NEW_RAW(ctx, graph->col, graph->count);
    if (good) drape_i_bands_all(ctx, &A->bands, list_band, &l);
    DRAPE_FREE(ctx, l.next, A->rows);
    return good ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

void drape_i_graph_free(drape_context *ctx, drape_i_graph *graph) {
    DRAPE_FREE(ctx, graph->strong, graph->blocks);
    DRAPE_FREE(ctx, graph->start, (int64_t)graph->rows + 1);
    DRAPE_FREE(ctx, graph->col, graph->count);
    *graph = (drape_i_graph){0};
}

drape_status drape_i_strength(drape_context *ctx, const drape_i_upper *A, double theta, drape_i_graph *graph) {
    weighing w = {.A = A, .theta2 = (float)(theta * theta), .graph = graph};
    *graph = (drape_i_graph){.rows = A->rows, .blocks = A->count};
    bool good = DRAPE_NEW_RAW(ctx, w.norm2, A->count) && DRAPE_NEW_RAW(ctx, w.most, A->rows) &&
                DRAPE_NEW_RAW(ctx, graph->strong, A->count) && DRAPE_NEW_RAW(ctx, graph->start, (int64_t)A->rows + 1);
    if (good) {
        drape_i_bands_all(ctx, &A->bands, weigh_band, &w);
        drape_i_bands_all(ctx, &A->bands, weigh_borders, &w);
        drape_i_bands_all(ctx, &A->bands, decide_band, &w);
    }
    DRAPE_FREE(ctx, w.norm2, A->count);
    DRAPE_FREE(ctx, w.most, A->rows);
    drape_status status = good ? list_connections(ctx, A, graph) : DRAPE_ERROR_MEMORY;
    if (status) drape_i_graph_free(ctx, graph);
    return status;
}
