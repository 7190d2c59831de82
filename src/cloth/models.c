/* models.c: the table of force models. */
#include "cloth/model.h"

#include <string.h>

static const drape_i_model *const models[] = {
    &drape_i_baraff_witkin,
    &drape_i_choi_ko,
    &drape_i_provot,
};

enum { COUNT = sizeof models / sizeof *models };

const drape_i_model *drape_i_model_find(const char *name) {
    for (int32_t i = 0; i < COUNT && name; i++)
        if (strcmp(models[i]->name, name) == 0) return models[i];
    return NULL;
}

const char *drape_jacobian_name(int32_t index) {
    static const char *const names[] = {
        [DRAPE_JACOBIAN_PSD] = "psd", [DRAPE_JACOBIAN_FULL] = "full", [DRAPE_JACOBIAN_LINEAR] = "linear"};
    return index >= 0 && index < (int32_t)(sizeof names / sizeof *names) ? names[index] : NULL;
}

const char *drape_model_name(int32_t index) { return index >= 0 && index < COUNT ? models[index]->name : NULL; }
