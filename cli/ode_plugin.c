/* ode_plugin.c: a system for `drape ode` from a shared library (drape/ode_plugin.h). What is wrong with one is said
 * in one line; what its functions do when they are called is its own. */
#include "ode_problem.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MOST_PATH = 4096, MOST_DENSE = 2048 };

bool ode_is_plugin(const char *name) {
    size_t length = strlen(name);
    return strchr(name, '/') || (length > 3 && strcmp(name + length - 3, ".so") == 0);
}

/* ---- What a library must have ---- */

static bool is_finite(const double *values, int64_t count, const char *path, const char *name) {
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(values[i])) {
            complain("%s: %s[%" PRId64 "] of the start is %g; it must be finite", path, name, i, values[i]);
            return false;
        }
    return true;
}

/* The complaint about what does not fit, without its path; NULL: none. */
static const char *wrong_system(const drape_ode_plugin *t) {
    const drape_ode_system *s = &t->system;
    if (!t->name) return "name is NULL";
    if (s->order != 1 && s->order != 2) return "system.order must be 1 or 2";
    if (s->size < 1 || s->size > DRAPE_ODE_PLUGIN_MOST) return "system.size must be 1 to 10000000";
    if (!s->f) return "system.f is NULL";
    if (!s->linear.prepare != !s->linear.solve) return "system.linear needs both prepare and solve, or neither";
    if (t->jacobian && s->size > MOST_DENSE)
        return "jacobian is for systems of up to 2048 numbers; without it the matrix-free method is used";
    if (t->events && (t->events->count < 1 || t->events->count > DRAPE_ODE_MOST_EVENTS || !t->events->g))
        return "events need a count of 1 to 1024, and g";
    for (size_t i = 0; i < sizeof t->reserved / sizeof *t->reserved; i++)
        if (t->reserved[i]) return "a reserved field is not zero";
    return NULL;
}

static const char *wrong_start(const drape_ode_plugin *t) {
    if (!t->x) return "x, the start, is NULL";
    if (t->system.order == 2 && !t->v) return "v, the start of a second order system, is NULL";
    if (t->system.order == 1 && t->v) return "a first order system has no v";
    if (!isfinite(t->begin) || !isfinite(t->end)) return "begin and end must be finite times";
    return t->end > t->begin ? NULL : "end must be after begin";
}

static bool is_good(const char *path, const drape_ode_plugin *t) {
    if (!t) {
        complain("%s: drape_ode_plugin_get returned NULL", path);
        return false;
    }
    if (t->version != DRAPE_ODE_PLUGIN_VERSION || t->bytes != (int32_t)sizeof *t) {
        complain("%s was compiled with another drape/ode_plugin.h: version %d of %d bytes, expected %d of %d", path,
                 t->version, t->bytes, DRAPE_ODE_PLUGIN_VERSION, (int)sizeof *t);
        return false;
    }
    const char *wrong = wrong_system(t);
    if (!wrong) wrong = wrong_start(t);
    if (wrong) {
        complain("%s: %s", path, wrong);
        return false;
    }
    return is_finite(t->x, t->system.size, path, "x") && (!t->v || is_finite(t->v, t->system.size, path, "v"));
}

/* ---- Loading ---- */

/* The linker looks for names without a / elsewhere than here. */
static bool place_of(const char *path, char place[MOST_PATH]) {
    int length = snprintf(place, MOST_PATH, "%s%s", strchr(path, '/') ? "" : "./", path);
    if (length > 0 && length < MOST_PATH) return true;
    complain("the name of the library is too long");
    return false;
}

bool ode_plugin_open(const char *path, ode_problem *out) {
    char place[MOST_PATH];
    const drape_ode_plugin *(*get)(void) = NULL;
    *out = (ode_problem){0};
    if (!place_of(path, place)) return false;
    out->library = dlopen(place, RTLD_NOW | RTLD_LOCAL);
    if (!out->library) {
        const char *why = dlerror();
        complain("cannot load %s", why ? why : path);
        return false;
    }
    void *symbol = dlsym(out->library, "drape_ode_plugin_get");
    if (symbol) memcpy(&get, &symbol, sizeof get); /* POSIX promises that this works, ISO C knows no such cast */
    if (!get) complain("%s has no function drape_ode_plugin_get (drape/ode_plugin.h)", path);
    const drape_ode_plugin *table = get ? get() : NULL;
    if (!get || !is_good(path, table)) {
        ode_problem_close(out);
        return false;
    }
    out->table = *table;
    return true;
}

void ode_problem_close(ode_problem *p) {
    if (p->library) dlclose(p->library);
    *p = (ode_problem){0};
}
