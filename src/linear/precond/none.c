/* none.c: P = I. */
#include "base/vector.h"
#include "linear/constraints.h"
#include "linear/precond.h"

#include <string.h>

typedef struct state {
    int64_t n;
    const drape_constraints *set; /* to be filtered by; NULL: none */
} state;

static drape_status create(drape_context *ctx, const drape_bsr3 *A, const drape_solve_settings *settings,
                           void **out) {
    state *s;
    (void)settings;
    *out = NULL;
    if (!DRAPE_NEW(ctx, s, 1)) return DRAPE_ERROR_MEMORY;
    s->n = 3 * (int64_t)A->rows;
    *out = s;
    return DRAPE_OK;
}

static void destroy(drape_context *ctx, void *data) { DRAPE_FREE(ctx, (state *)data, 1); }

static drape_status refresh(drape_context *ctx, void *data, const drape_problem *problem,
                            const drape_constraints *set, const drape_i_couplings *couplings, double *shift) {
    (void)ctx, (void)problem, (void)couplings, (void)shift;
    ((state *)data)->set = set;
    return DRAPE_OK;
}

static double norm2(drape_context *ctx, const void *data, const double *r) {
    return drape_i_dot(ctx, ((const state *)data)->n, r, r);
}

static double apply(drape_context *ctx, void *data, const double *r, double *h) {
    const state *s = data;
    memcpy(h, r, (size_t)s->n * sizeof *h);
    drape_i_filter(s->set, h);
    return drape_i_dot(ctx, s->n, r, h);
}

static int64_t traffic(const void *data) { return 4 * (int64_t)sizeof(double) * ((const state *)data)->n; }

const drape_i_precond drape_i_precond_none = {.name = "none",
                                              .about = "no preconditioner",
                                              .variant = &(const drape_i_variant){.setup = {0, 0, 0}},
                                              .variants = 1,
                                              .create = create,
                                              .destroy = destroy,
                                              .refresh = refresh,
                                              .apply = apply,
                                              .traffic = traffic,
                                              .norm2 = norm2};
