/* models.c: the table of force models, and queries of it. */
#include "cloth/model.h"

#include <stdio.h>
#include <string.h>

/* The first is the default. */
#define MODELS(ROW)                                                                                                  \
    ROW(baraff_witkin)                                                                                               \
    ROW(choi_ko)                                                                                                     \
    ROW(provot)

#define DECLARE(name) extern const drape_i_model drape_i_##name;
#define LIST(name)    &drape_i_##name,
MODELS(DECLARE)
static const drape_i_model *const models[] = {MODELS(LIST)};

enum { COUNT = sizeof models / sizeof *models };

const drape_i_model *drape_i_model_find(const char *name) {
    if (!name) return models[0];
    for (int32_t i = 0; i < COUNT; i++)
        if (strcmp(models[i]->name, name) == 0) return models[i];
    return NULL;
}

void drape_i_model_list(bool (*has)(const drape_i_model *model), char *out, size_t size) {
    size_t used = 0;
    DRAPE_ASSERT(size > 0);
    out[0] = 0;
    for (int32_t i = 0; i < COUNT; i++) {
        if (has && !has(models[i])) continue;
        int added = snprintf(out + used, size - used, "%s%s", used > 0 ? ", " : "", models[i]->name);
        if (added < 0 || (size_t)added >= size - used) return;
        used += (size_t)added;
    }
}

static const drape_i_model *row(int32_t index) { return index >= 0 && index < COUNT ? models[index] : NULL; }

const char *drape_model_name(int32_t index) { return row(index) ? row(index)->name : NULL; }
const char *drape_model_about(int32_t index) { return row(index) ? row(index)->about : NULL; }
bool drape_model_linear_jacobian(int32_t index) { return row(index) && row(index)->linear_jacobian; }
bool drape_model_strain_limit(int32_t index) { return row(index) && row(index)->strain_limit; }

const drape_material_field *drape_model_material_field(int32_t index, int32_t field) {
    const drape_i_model *model = row(index);
    if (!model || field < 0) return NULL;
    for (int32_t i = 0; i < field; i++)
        if (!model->fields[i].name) return NULL;
    return model->fields[field].name ? &model->fields[field] : NULL;
}

const char *drape_jacobian_name(drape_jacobian jacobian) {
    switch (jacobian) {
    case DRAPE_JACOBIAN_PSD: return "psd";
    case DRAPE_JACOBIAN_FULL: return "full";
    case DRAPE_JACOBIAN_LINEAR: return "linear";
    }
    return NULL;
}

const char *drape_membrane_name(drape_membrane membrane) {
    switch (membrane) {
    case DRAPE_MEMBRANE_OF_MODEL: return "model";
    case DRAPE_MEMBRANE_BARAFF_WITKIN: return "baraff_witkin";
    case DRAPE_MEMBRANE_PAIRED: return "paired";
    case DRAPE_MEMBRANE_NODAL: return "nodal";
    }
    return NULL;
}

const char *drape_bending_name(drape_bending bending) {
    switch (bending) {
    case DRAPE_BENDING_OF_MODEL: return "model";
    case DRAPE_BENDING_HINGE: return "hinge";
    case DRAPE_BENDING_PATCH: return "patch";
    }
    return NULL;
}

const char *drape_damping_jacobian_name(drape_damping_jacobian jacobian) {
    switch (jacobian) {
    case DRAPE_DAMPING_SYMMETRIC: return "symmetric";
    case DRAPE_DAMPING_FULL: return "full";
    }
    return NULL;
}
