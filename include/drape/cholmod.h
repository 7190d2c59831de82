/* drape/cholmod.h: CHOLMOD of SuiteSparse as the direct solver behind the method "direct".
 *
 *   drape_solve_settings settings = drape_solve_defaults();
 *   settings.method = "direct";
 *   settings.direct = drape_cholmod();
 *
 * It is in a library of its own, libdrape-cholmod; libdrape-solve and libdrape do not need it. Link -ldrape-cholmod
 * and -lcholmod, too.
 *
 * Licence: drape is under the MIT licence, but the parts of CHOLMOD that this uses are not. Its supernodal module is
 * under the GNU GPL (2 or later), its core and the rest under the LGPL (2.1 or later). If you distribute a program
 * that is linked with it, you must do so under the GPL. Nothing else in drape needs CHOLMOD.
 *
 * The results depend on CHOLMOD, on its BLAS, and on the threads of the BLAS. So the promise that the same input
 * gives the same bits everywhere does not include them. */
#ifndef DRAPE_CHOLMOD_H
#define DRAPE_CHOLMOD_H

#include "drape/solve.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A constant table; any number of solvers, in any threads, may use it at once. */
DRAPE_API const drape_direct *drape_cholmod(void);

#ifdef __cplusplus
}
#endif

#endif
