/* ichol.c: incomplete Cholesky without fill, A ~ (D + L) D^-1 (D + L') in 3x3 blocks (triangular_factor.c).
 * Of A the blocks before the diagonal count, in the order of the sweeps. */
#include "linear/precond/triangular.h"

static drape_status create(drape_context *ctx, const drape_bsr3 *A, const drape_solve_settings *settings,
                           void **out) {
    drape_i_factor *f;
    (void)settings;
    drape_status status = drape_i_factor_create(ctx, A, true, 0, &f);
    *out = f;
    return status;
}

static void destroy(drape_context *ctx, void *data) { drape_i_factor_destroy(ctx, data); }

static drape_status refresh(drape_context *ctx, void *data, const drape_problem *problem,
                            const drape_constraints *set, double *shift) {
    *shift = drape_i_factor_refresh(ctx, data, problem->A, set);
    return DRAPE_OK;
}

static double apply(drape_context *ctx, const void *data, const double *r, double *h) {
    return drape_i_triangular_apply(ctx, drape_i_factor_triangular(data), r, h);
}

static int64_t traffic(const void *data) { return drape_i_triangular_traffic(drape_i_factor_triangular(data)); }

const drape_i_precond drape_i_precond_ichol = {.name = "ichol",
                                               .about = "incomplete Cholesky of level 0, 3x3 blocks",
                                               .symmetric = true,
                                               .create = create,
                                               .destroy = destroy,
                                               .refresh = refresh,
                                               .apply = apply,
                                               .traffic = traffic};
