/* none.c: P = I. */
#include "linear/precond.h"
#include "linear/vector.h"

#include <string.h>

typedef struct state {
    int64_t n;
} state;

static drape_status create(drape_context *ctx, const drape_bsr3 *A, void **out) {
    state *s;
    *out = NULL;
    if (!DRAPE_NEW(ctx, s, 1)) return DRAPE_ERROR_MEMORY;
    s->n = 3 * (int64_t)A->rows;
    *out = s;
    return DRAPE_OK;
}

static void destroy(drape_context *ctx, void *data) { DRAPE_FREE(ctx, (state *)data, 1); }
static void refresh(drape_context *ctx, void *data, const drape_bsr3 *A) { (void)ctx, (void)data, (void)A; }

static double norm2(drape_context *ctx, const void *data, const double *r) {
    return drape_i_dot(ctx, ((const state *)data)->n, r, r);
}

static double apply(drape_context *ctx, const void *data, const double *r, double *h) {
    memcpy(h, r, (size_t)((const state *)data)->n * sizeof *h);
    return norm2(ctx, data, r);
}

const drape_i_precond drape_i_precond_none = {"none", create, destroy, refresh, apply, norm2};
