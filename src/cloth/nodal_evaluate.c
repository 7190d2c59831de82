/* nodal_evaluate.c: the memory and the threads of the kernels of nodal_simd.c. */
#include "base/parallel.h"
#include "cloth/nodal.h"

enum { CONDITIONS = DRAPE_I_NODAL_CONDITIONS };
enum { GRAIN = 64 }; /* points of a piece of work */

drape_status drape_i_nodal_state_create(drape_context *ctx, const drape_i_nodal *q, bool full,
                                        drape_i_nodal_state *s) {
    bool good = DRAPE_NEW(ctx, s->gradient, 9 * q->entries) && DRAPE_NEW(ctx, s->right, 9 * q->entries) &&
                (!full || DRAPE_NEW(ctx, s->left, 9 * q->entries)) && DRAPE_NEW(ctx, s->vectors, 6 * q->entries) &&
                DRAPE_NEW(ctx, s->potential, q->points) && DRAPE_NEW(ctx, s->sign, CONDITIONS * (int64_t)q->points) &&
                DRAPE_NEW(ctx, s->same, q->pairs);
    return good ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

void drape_i_nodal_state_clear(drape_context *ctx, const drape_i_nodal *q, drape_i_nodal_state *s) {
    if (!q) return;
    DRAPE_FREE(ctx, s->gradient, 9 * q->entries);
    DRAPE_FREE(ctx, s->right, 9 * q->entries);
    DRAPE_FREE(ctx, s->left, 9 * q->entries);
    DRAPE_FREE(ctx, s->vectors, 6 * q->entries);
    DRAPE_FREE(ctx, s->potential, q->points);
    DRAPE_FREE(ctx, s->sign, CONDITIONS * (int64_t)q->points);
    DRAPE_FREE(ctx, s->same, q->pairs);
}

typedef struct job {
    drape_context *ctx;
    const drape_i_nodal *q;
    const drape_i_evaluation *at;
    drape_i_nodal_state *state;
} job;

static void evaluate_chunk(void *data, int64_t begin, int64_t end) {
    const job *j = data;
    drape_i_nodal_points_at[j->ctx->simd](j->q, j->at, j->state, begin, end);
}

void drape_i_nodal_evaluate(drape_context *ctx, const drape_i_nodal *q, const drape_i_evaluation *at,
                            drape_i_nodal_state *state) {
    job j = {ctx, q, at, state};
    drape_i_loop(ctx, q->points, GRAIN, evaluate_chunk, &j);
}

void drape_i_nodal_add(drape_context *ctx, const drape_i_nodal *q, const drape_i_evaluation *at,
                       const drape_i_nodal_state *state, const drape_i_nodal_rows *r) {
    drape_i_nodal_rows_at[ctx->simd](q, at, state, r);
}

static void potential_chunk(void *data, int64_t begin, int64_t end, double *sums) {
    const job *j = data;
    for (int64_t p = begin; p < end; p++) sums[0] += j->state->potential[p];
}

double drape_i_nodal_potential(drape_context *ctx, const drape_i_nodal *q, const drape_i_nodal_state *state) {
    job j = {ctx, q, NULL, (drape_i_nodal_state *)state};
    double total;
    drape_i_sum(ctx, q->points, GRAIN, potential_chunk, &j, 1, &total);
    return total;
}

static void energy_chunk(void *data, int64_t begin, int64_t end, double *sums) {
    const job *j = data;
    sums[0] = drape_i_nodal_energies_at[j->ctx->simd](j->q, j->at, begin, end);
}

double drape_i_nodal_energy(drape_context *ctx, const drape_i_nodal *q, const drape_i_evaluation *at) {
    job j = {ctx, q, at, NULL};
    double total;
    drape_i_sum(ctx, q->points, GRAIN, energy_chunk, &j, 1, &total);
    return total;
}

static void dissipation_chunk(void *data, int64_t begin, int64_t end, double *sums) {
    const job *j = data;
    sums[0] = drape_i_nodal_dissipations_at[j->ctx->simd](j->q, j->at, begin, end);
}

double drape_i_nodal_dissipation(drape_context *ctx, const drape_i_nodal *q, const drape_i_evaluation *at) {
    job j = {ctx, q, at, NULL};
    double total;
    drape_i_sum(ctx, q->points, GRAIN, dissipation_chunk, &j, 1, &total);
    return total;
}
