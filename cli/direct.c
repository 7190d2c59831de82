/* direct.c: the direct solver that the program was built with, if any. Nothing else here knows which. */
#include "cli.h"

#include <string.h>

#ifdef DRAPE_HAS_CHOLMOD
#include "drape/cholmod.h"

const drape_direct *direct_solver(void) { return drape_cholmod(); }
#else
const drape_direct *direct_solver(void) { return NULL; }
#endif

bool direct_is_there(const char *what, const drape_solve_settings *settings) {
    if (settings->direct || strcmp(settings->method, "direct") != 0) return true;
    complain("%s direct: this program was built without CHOLMOD (Debian: libsuitesparse-dev)", what);
    return false;
}
