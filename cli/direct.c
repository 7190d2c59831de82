/* direct.c: the direct solver that the program was built with, if any. Nothing else here knows which.
 *
 * The program loads it when a system is to be factored, not when it starts. CHOLMOD's dependencies take memory and
 * threads from every command, and if memory is short they may even keep the program from ending. */
#include "cli.h"

#include <string.h>

#if defined(DRAPE_CHOLMOD_MODULE)
#include <dlfcn.h>

static const drape_direct *loaded;

static bool load(void) {
    if (loaded) return true;
    void *module = dlopen(DRAPE_CHOLMOD_MODULE, RTLD_NOW | RTLD_LOCAL);
    const drape_direct *(*get)(void) = NULL;
    void *symbol = module ? dlsym(module, "drape_cholmod") : NULL;
    if (symbol) memcpy(&get, &symbol, sizeof get); /* POSIX promises that this works, ISO C knows no such cast */
    if (get) loaded = get();
    return loaded != NULL;
}

/* The table of the module; a state comes from `analyse` alone, so all else finds it loaded. */
static void *analyse(const drape_bsr3 *A) { return load() ? loaded->analyse(A) : NULL; }
static int factor(void *state, const drape_bsr3 *A) { return loaded->factor(state, A); }
static int solve(void *state, const double *b, double *x) { return loaded->solve(state, b, x); }
static int64_t bytes(const void *state) { return loaded->bytes(state); }
static void destroy(void *state) { loaded->destroy(state); }

static const drape_direct when_needed = {
    .name = "CHOLMOD", .analyse = analyse, .factor = factor, .solve = solve, .bytes = bytes, .destroy = destroy};

const drape_direct *direct_solver(void) { return &when_needed; }

/* Whether it can be used, or there is a complaint. */
static bool can_load(const char *what) {
    if (load()) return true;
    const char *why = dlerror();
    complain("%s direct: cannot load CHOLMOD: %s", what, why ? why : DRAPE_CHOLMOD_MODULE);
    return false;
}
#else
#ifdef DRAPE_HAS_CHOLMOD
#include "drape/cholmod.h"

const drape_direct *direct_solver(void) { return drape_cholmod(); }
#else
const drape_direct *direct_solver(void) { return NULL; }
#endif

static bool can_load(const char *what) {
    (void)what;
    return true;
}
#endif

bool direct_is_there(const char *what, const drape_solve_settings *settings) {
    if (strcmp(settings->method, "direct") != 0) return true;
    if (settings->direct) return can_load(what);
    complain("%s direct: this program was built without CHOLMOD (Debian: libsuitesparse-dev)", what);
    return false;
}
