/* registry.c: the tables of methods and preconditioners. What stands here is in the contract tests by itself. */
#include "linear/method.h"

#include <string.h>

static const drape_i_method *const methods[] = {
    &drape_i_method_mpcg,
    &drape_i_method_mpcg_original,
    &drape_i_method_mpcg_printed,
};

static const drape_i_precond *const preconds[] = {
    &drape_i_precond_none,
    &drape_i_precond_diagonal,
    &drape_i_precond_block_diagonal,
};

enum { METHODS = sizeof methods / sizeof *methods, PRECONDS = sizeof preconds / sizeof *preconds };

const char *drape_method_name(int32_t index) { return index >= 0 && index < METHODS ? methods[index]->name : NULL; }
const char *drape_precond_name(int32_t index) {
    return index >= 0 && index < PRECONDS ? preconds[index]->name : NULL;
}

const drape_i_method *drape_i_method_find(const char *name) {
    for (int32_t i = 0; i < METHODS; i++)
        if (strcmp(methods[i]->name, name) == 0) return methods[i];
    return NULL;
}

const drape_i_precond *drape_i_precond_find(const char *name) {
    for (int32_t i = 0; i < PRECONDS; i++)
        if (strcmp(preconds[i]->name, name) == 0) return preconds[i];
    return NULL;
}
