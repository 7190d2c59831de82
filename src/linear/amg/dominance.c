/* dominance.c: rows that are "very diagonally dominant" (Tamstorf, Jones and McCormick 2015, section 5): relaxation
 * leaves next to no error there, so that no coarse level is needed for them. With D = I (level.h) such a row has
 *
 *     sum over j of |U_ij| + |U_ji'| <= dominance
 *
 * in the Frobenius norm; the paper has no number. In one thread, row by row: the sums have one order. */
#include "linear/amg/setup.h"

#include <math.h>

static double norm(const float *block, int32_t n) {
    double sum = 0;
    for (int32_t k = 0; k < n; k++) sum += (double)block[k] * block[k];
    return sqrt(sum);
}

static void add_norms(const drape_i_upper *A, double *sum) {
    const int32_t size = A->r * A->r;
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) {
            const double of_block = norm(A->val + size * k, size);
            sum[i] += of_block;
            sum[A->col[k]] += of_block;
        }
}

/* Connections that both ends keep; `strong` is by blocks of U, the lists by rows. */
static void keep_others(const drape_i_upper *A, const double *sum, double dominance, drape_i_graph *graph) {
    int64_t to = 0;
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++)
            if (sum[i] <= dominance || sum[A->col[k]] <= dominance) graph->strong[k] = 0;
    for (int32_t i = 0; i < graph->rows; i++) {
        const int64_t begin = graph->start[i], end = graph->start[i + 1];
        graph->start[i] = to;
        for (int64_t k = begin; k < end; k++)
            if (sum[i] > dominance && sum[graph->col[k]] > dominance) graph->col[to++] = graph->col[k];
    }
    graph->start[graph->rows] = to;
}

drape_status drape_i_drop_dominant(drape_context *ctx, const drape_i_upper *A, double dominance,
                                   drape_i_graph *graph) {
    double *sum;
    if (!DRAPE_NEW(ctx, sum, A->rows)) return DRAPE_ERROR_MEMORY;
    add_norms(A, sum);
    keep_others(A, sum, dominance, graph);
    DRAPE_FREE(ctx, sum, A->rows);
    return DRAPE_OK;
}
