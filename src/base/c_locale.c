#include "base/c_locale.h"

drape_status drape_i_c_locale_enter(drape_context *ctx, drape_i_c_locale *out) {
    out->own = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (!out->own) return drape_i_fail(ctx, DRAPE_ERROR_MEMORY, "no memory for the C locale");
    out->before = uselocale(out->own);
    return DRAPE_OK;
}

void drape_i_c_locale_leave(drape_i_c_locale *locale) {
    uselocale(locale->before);
    freelocale(locale->own);
}
