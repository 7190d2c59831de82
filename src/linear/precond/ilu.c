/* ilu.c: incomplete LU without fill, A ~ (D + L) D^-1 (D + U) in 3x3 blocks (triangular_factor.c), for A that is not
 * symmetric. */
#include "linear/precond/triangular.h"

static drape_status create(drape_context *ctx, const drape_bsr3 *A, const drape_solve_settings *settings,
                           void **out) {
    drape_i_factor *f;
    (void)settings;
    drape_status status = drape_i_factor_create(ctx, A, false, 0, &f);
    *out = f;
    return status;
}

const drape_i_precond drape_i_precond_ilu = {.name = "ilu",
                                             .about =
                                                 "incomplete LU of level 0, 3x3 blocks, for A that is not symmetric",
                                             .unsymmetric = true,
                                             .variant = &(const drape_i_variant){.setup = {18, 18, 38}},
                                             .variants = 1,
                                             .create = create,
                                             .destroy = drape_i_factor_precond_destroy,
                                             .refresh = drape_i_factor_precond_refresh,
                                             .apply = drape_i_factor_precond_apply,
                                             .traffic = drape_i_factor_precond_traffic};
