/* c_locale.h: printf and strtod follow the host program's decimal point; files must not. */
#ifndef DRAPE_BASE_C_LOCALE_H
#define DRAPE_BASE_C_LOCALE_H

#include "base/context.h"

#include <locale.h>

/* The calling thread's numbers are written and read as in "C" between enter and leave. */
typedef struct drape_i_c_locale {
    locale_t own, before;
} drape_i_c_locale;

drape_status drape_i_c_locale_enter(drape_context *ctx, drape_i_c_locale *out);
void drape_i_c_locale_leave(drape_i_c_locale *locale);

#endif
