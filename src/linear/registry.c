/* registry.c: the tables of methods and preconditioners. What is here is in the contract tests by itself. */
#include "linear/solver.h"

#include <stdio.h>
#include <string.h>

static const drape_i_method *const methods[] = {
    &drape_i_method_sd,
    &drape_i_method_cg,
    &drape_i_method_pcg,
    &drape_i_method_mpcg,
    &drape_i_method_mpcg_original,
    &drape_i_method_mpcg_printed,
    &drape_i_method_filtered_cg,
    &drape_i_method_ppcg,
    &drape_i_method_bicgstab,
    &drape_i_method_bicgstab_filtered,
    &drape_i_method_direct,
};

/* In the order in which they are listed, and chosen from where costs are the same. */
#define PRECONDITIONERS(ROW)                                                                                         \
    ROW(none)                                                                                                        \
    ROW(diagonal)                                                                                                    \
    ROW(block_diagonal)                                                                                              \
    ROW(ssor)                                                                                                        \
    ROW(ichol)                                                                                                       \
    ROW(ilu)                                                                                                         \
    ROW(amg)

#define DECLARE(name) extern const drape_i_precond drape_i_precond_##name;
#define LIST(name)    &drape_i_precond_##name,
PRECONDITIONERS(DECLARE)
static const drape_i_precond *const preconds[] = {PRECONDITIONERS(LIST)};

enum { METHODS = sizeof methods / sizeof *methods, PRECONDS = sizeof preconds / sizeof *preconds };

static const drape_i_method *method_at(int32_t i) { return i >= 0 && i < METHODS ? methods[i] : NULL; }
const drape_i_precond *drape_i_precond_at(int32_t i) { return i >= 0 && i < PRECONDS ? preconds[i] : NULL; }

const char *drape_method_name(int32_t index) { return method_at(index) ? method_at(index)->name : NULL; }
const char *drape_method_about(int32_t index) { return method_at(index) ? method_at(index)->about : NULL; }
const char *drape_precond_name(int32_t index) {
    const drape_i_precond *p = drape_i_precond_at(index);
    return p ? p->name : NULL;
}
const char *drape_precond_about(int32_t index) {
    const drape_i_precond *p = drape_i_precond_at(index);
    return p ? p->about : NULL;
}

const drape_i_method *drape_i_method_find(const char *name) {
    for (int32_t i = 0; name && i < METHODS; i++)
        if (strcmp(methods[i]->name, name) == 0) return methods[i];
    return NULL;
}

const drape_i_precond *drape_i_precond_find(const char *name) {
    for (int32_t i = 0; name && i < PRECONDS; i++)
        if (strcmp(preconds[i]->name, name) == 0) return preconds[i];
    return NULL;
}

bool drape_i_method_takes(const drape_i_method *method, const drape_i_precond *precond) {
    if (!method->preconditioned) return precond == &drape_i_precond_none;
    if (method->wants_norm2 && !precond->norm2) return false;
    return method->unsymmetric ? !precond->symmetric : !precond->unsymmetric;
}

void drape_i_list_names(const char *first, const char *(*name)(int32_t), char *out, size_t size) {
    int used = snprintf(out, size, "%s", first ? first : "");
    for (int32_t i = 0; name(i) && used >= 0 && (size_t)used < size; i++)
        used += snprintf(out + used, size - (size_t)used, "%s%s", used > 0 ? ", " : "", name(i));
}

static bool is_auto(const char *name) { return name && strcmp(name, DRAPE_I_AUTO) == 0; }

bool drape_method_takes(const char *method, const char *precond) {
    const drape_i_method *m = drape_i_method_find(method);
    const drape_i_precond *p = drape_i_precond_find(precond);
    if (is_auto(precond)) return m || is_auto(method);
    if (is_auto(method))
        return p &&
               (drape_i_method_takes(&drape_i_method_ppcg, p) || drape_i_method_takes(&drape_i_method_bicgstab, p));
    return m && p && drape_i_method_takes(m, p);
}

const char *drape_method_default_precond(const char *method) {
    const drape_i_method *m = drape_i_method_find(method);
    if (is_auto(method)) return DRAPE_I_AUTO;
    if (!m) return NULL;
    if (!m->preconditioned) return drape_i_precond_none.name;
    bool all = true;
    const char *first = NULL;
    for (int32_t i = 0; i < PRECONDS; i++) {
        if (preconds[i]->automatic) all &= drape_i_method_takes(m, preconds[i]);
        if (preconds[i]->fallback == 1) first = preconds[i]->name;
    }
    return all ? DRAPE_I_AUTO : first;
}

bool drape_method_needs_symmetry(const char *method) {
    const drape_i_method *m = drape_i_method_find(method);
    return m && !m->unsymmetric;
}
