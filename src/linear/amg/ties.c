/* ties.c: see ties.h. */
#include "linear/amg/ties.h"

#include "sparse/matrix.h"

#include <math.h>

enum { FEW = 16 };                  /* ties cost fewer iterations beside the matrix than building levels takes time */
static const double HOLDS = 3e-3;   /* share of its stiffest direction that a tie has in its softest one, at least */
static const double STIFFEST = 1e4; /* times as stiff as A that a tie is in the matrix, at most */

/* The smallest pivot of a symmetric 3x3 block over its largest number on the diagonal. */
static double softness(const double a[9]) {
    const double most = fmax(fmax(a[0], a[4]), a[8]);
    if (!(a[0] > 0)) return 0;
    const double second = a[4] - a[1] * a[1] / a[0], cross = a[5] - a[1] * a[2] / a[0];
    if (!(second > 0)) return 0;
    const double third = (a[8] - a[2] * a[2] / a[0]) - cross * cross / second;
    return fmin(fmin(a[0], second), third) / most;
}

static double trace(const double a[9]) { return (a[0] + a[4]) + a[8]; }

/* 0: it is not a tie. */
static double share_of(const drape_bsr3 *A, const drape_coupling *c) {
    double share = c->blocks ? 1 : 0, block[9];
    for (int32_t a = 0; a < c->count && share > 0; a++) {
        const int64_t k = drape_i_matrix_find(A, c->vertex[a], c->vertex[a]);
        drape_i_coupling_block(c, a, a, block);
        if (!(softness(block) >= HOLDS)) return 0;
        if (k >= 0) share = fmin(share, STIFFEST * trace(A->val + 9 * k) / trace(block));
    }
    return share;
}

static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 32)) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 29)) * UINT64_C(0xff51afd7ed558ccd);
    return x ^ (x >> 32);
}

static uint64_t hash_vertices(const drape_coupling *c) {
    uint64_t hash = (uint64_t)c->count;
    for (int32_t a = 0; a < c->count; a++) hash = mix(hash ^ (uint64_t)c->vertex[a]);
    return hash;
}

/* Half as much again as is needed, as the couplings themselves have. */
static drape_status make_room(drape_context *ctx, int32_t count, drape_i_ties *ties) {
    if (count <= ties->room) return DRAPE_OK;
    DRAPE_FREE(ctx, ties->share, ties->room);
    ties->room = count < INT32_MAX / 2 ? count + count / 2 : count;
    if (DRAPE_NEW(ctx, ties->share, ties->room)) return DRAPE_OK;
    ties->room = 0;
    return DRAPE_ERROR_MEMORY;
}

drape_status drape_i_ties_find(drape_context *ctx, const drape_bsr3 *A, const drape_i_couplings *C,
                               drape_i_ties *ties) {
    ties->count = 0;
    ties->found = 0;
    if (!drape_i_any_couplings(C)) return DRAPE_OK;
    drape_status status = make_room(ctx, C->count, ties);
    if (status) return status;
    for (int32_t c = 0; c < C->count; c++) {
        ties->share[c] = share_of(A, &C->list[c]);
        if (!(ties->share[c] > 0)) continue;
        ties->count++;
        ties->found += hash_vertices(&C->list[c]);
    }
    if (ties->count <= FEW) ties->count = 0;
    return ties->count > 0 ? drape_i_region_create(ctx, &ties->region) : DRAPE_OK;
}

bool drape_i_ties_fit(const drape_i_ties *ties) { return ties->matrix && ties->made == ties->found; }

drape_status drape_i_ties_refresh(drape_context *ctx, const drape_bsr3 *A, const drape_i_couplings *C,
                                  const drape_i_ties *ties) {
    return drape_i_couplings_merge_again(ctx, A, C, ties->share, ties->matrix);
}

drape_status drape_i_ties_merge(const drape_bsr3 *A, const drape_i_couplings *C, drape_i_ties *ties) {
    drape_matrix_destroy(ties->matrix);
    ties->made = ties->found;
    drape_i_region_begin(ties->region);
    return drape_i_couplings_merge(&ties->region->ctx, A, C, ties->share, &ties->matrix);
}

void drape_i_ties_free(drape_context *ctx, drape_i_ties *ties) {
    drape_matrix_destroy(ties->matrix);
    drape_i_region_destroy(&ties->region);
    DRAPE_FREE(ctx, ties->share, ties->room);
    *ties = (drape_i_ties){0};
}
