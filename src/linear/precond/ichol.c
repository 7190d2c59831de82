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

const drape_i_precond drape_i_precond_ichol = {
    .name = "ichol",
    .about = "incomplete Cholesky of level 0, 3x3 blocks",
    .symmetric = true,
    .variant = &(const drape_i_variant){.setup = {18, 18, 38}, .iteration = 2.6, .share = 0.2, .fixed = 1},
    .variants = 1,
    .automatic = true,
    .create = create,
    .destroy = drape_i_factor_precond_destroy,
    .refresh = drape_i_factor_precond_refresh,
    .apply = drape_i_factor_precond_apply,
    .traffic = drape_i_factor_precond_traffic};
