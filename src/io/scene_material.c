/* scene_material.c: `material:`, the name of a fabric or a map that may start from one. */
#include "io/scene_reader.h"

#include <stdio.h>
#include <string.h>

enum { MOST_FABRICS = 32 };

static bool take_fabric(reader_t *r, const drape_i_node *node, drape_material *out) {
    const char *names[MOST_FABRICS + 1] = {0};
    for (int32_t i = 0; i < MOST_FABRICS && drape_fabric_name(i); i++) names[i] = drape_fabric_name(i);
    if (node->kind == DRAPE_I_SCALAR && drape_fabric_find(node->text, out)) return true;
    const char *nearest = node->text ? drape_i_nearest(node->text, names) : NULL;
    drape_i_problem_at(&r->problems, node, false, "unknown fabric \"%s\"%s%s%s (`drape fabrics` lists them)",
                       node->text ? node->text : "", nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                       nearest ? "\"?" : "");
    return false;
}

/* One number, or one for warp and one for weft. */
static void read_threads(reader_t *r, const drape_i_node *map, const char *key, drape_i_dimension dimension,
                         const char *example, double out[2]) {
    const drape_i_node *node = drape_i_node_find(map, key);
    if (!node) return;
    if (node->kind != DRAPE_I_LIST) {
        if (drape_i_node_number(r, node, dimension, DRAPE_I_NOT_NEGATIVE, &out[0])) out[1] = out[0];
    } else if (drape_i_node_count(node) != 2) {
        drape_i_problem_at(&r->problems, node, false, "%s: expected one number, or two for warp and weft, such as %s",
                           key, example);
    } else {
        drape_i_node_number(r, node->first, dimension, DRAPE_I_NOT_NEGATIVE, &out[0]);
        drape_i_node_number(r, node->first->next, dimension, DRAPE_I_NOT_NEGATIVE, &out[1]);
    }
}

/* Whether the scene's model states a field of a material in this unit. */
static bool is_in_unit(const reader_t *r, const char *field, const char *unit) {
    const drape_material_field *f;
    int32_t model = 0;
    while (drape_model_name(model) && strcmp(drape_model_name(model), r->out->scene.cloth.model) != 0) model++;
    for (int32_t i = 0; (f = drape_model_material_field(model, i)); i++)
        if (strcmp(f->name, field) == 0) return strcmp(f->unit, unit) == 0;
    return false;
}

/* A stiffness that rises around a knee, of up to two directions. */
static void check_curve(reader_t *r, const drape_i_node *map, const char *name, int32_t directions,
                        const double *soft, const double *stiff, const double *knee) {
    char key[32];
    snprintf(key, sizeof key, "%s_stiff", name);
    const drape_i_node *node = drape_i_node_find(map, key);
    for (int32_t i = 0; i < directions && node; i++) {
        if (!(stiff[i] > 0)) continue;
        if (!is_in_unit(r, key, "N/m"))
            drape_i_problem_at(&r->problems, node, false, "the model %s takes no %s; baraff_witkin does",
                               r->out->scene.cloth.model, key);
        else if (stiff[i] < soft[i])
            drape_i_problem_at(&r->problems, node, false,
                               "%s is %g N/m, less than the %g N/m of small strains; stiffness can only rise", key,
                               stiff[i], soft[i]);
        else if (!(knee[i] > 0))
            drape_i_problem_at(&r->problems, node, false,
                               "%s needs a %s_knee above 0, the strain around which the fabric stiffens", key, name);
        else continue;
        return;
    }
}

static void read_stretch_and_shear(reader_t *r, const drape_i_node *map, drape_material *out) {
    read_threads(r, map, "stretch", DRAPE_I_STIFFNESS, "[5 kN/m, 4 kN/m]", out->stretch);
    drape_i_read_number(r, map, "shear", DRAPE_I_STIFFNESS, DRAPE_I_NOT_NEGATIVE, &out->shear);
    read_threads(r, map, "stretch_stiff", DRAPE_I_STIFFNESS, "[20 kN/m, 15 kN/m]", out->stretch_stiff);
    read_threads(r, map, "stretch_knee", DRAPE_I_SHARE, "[2 %, 5 %]", out->stretch_knee);
    drape_i_read_number(r, map, "shear_stiff", DRAPE_I_STIFFNESS, DRAPE_I_NOT_NEGATIVE, &out->shear_stiff);
    drape_i_read_number(r, map, "shear_knee", DRAPE_I_SHARE, DRAPE_I_NOT_NEGATIVE, &out->shear_knee);
    check_curve(r, map, "stretch", 2, out->stretch, out->stretch_stiff, out->stretch_knee);
    check_curve(r, map, "shear", 1, &out->shear, &out->shear_stiff, &out->shear_knee);
}

/* One number for all directions, or one each for warp, weft and twist. */
static void read_bend(reader_t *r, const drape_i_node *node, drape_material *out) {
    double *const to[] = {&out->bend, &out->bend_weft, &out->bend_twist};
    if (!node) return;
    const int32_t count = node->kind == DRAPE_I_LIST ? drape_i_node_count(node) : 1;
    if (count != 1 && count != 3) {
        drape_i_problem_at(
            &r->problems, node, false,
            "bend: expected one number, or three for warp, weft and twist, such as [12 uN m, 7 uN m, 9 uN m]");
        return;
    }
    out->bend_weft = out->bend_twist = 0;
    if (node->kind != DRAPE_I_LIST) {
        drape_i_node_number(r, node, DRAPE_I_RIGIDITY, DRAPE_I_NOT_NEGATIVE, &out->bend);
        return;
    }
    const drape_i_node *item = node->first;
    for (int32_t k = 0; k < count; k++, item = item->next)
        drape_i_node_number(r, item, DRAPE_I_RIGIDITY, count > 1 ? DRAPE_I_POSITIVE : DRAPE_I_NOT_NEGATIVE, to[k]);
}

static void no_vibration(reader_t *r, const drape_i_node *node, const drape_material *m, drape_vibration vibration) {
    const double stiffness[] = {m->stretch[0], m->shear, m->bend};
    drape_i_problem_at(&r->problems, node, false,
                       "%s: %s, so no vibration has a ratio or a decay time; give a damping time, such as 1 ms",
                       drape_vibration_name(vibration),
                       stiffness[vibration] > 0 ? "springs or hinges with a stiffness of their own depend on the mesh"
                                                : "the fabric has no stiffness of this kind");
}

/* How fast the slowest vibration of a strip dies out: {ratio: 5 %, length: 10 cm} or {decay: 0.5 s, length: 10 cm}.
 * The stiffness and density that it depends on have been read. */
static void read_vibration(reader_t *r, const drape_i_node *node, const drape_material *m, drape_vibration vibration,
                           double *out) {
    static const char *const keys[] = {"ratio", "decay", "length", NULL};
    const drape_i_node *share = drape_i_node_find(node, "ratio"), *decay = drape_i_node_find(node, "decay");
    const char *name = drape_vibration_name(vibration);
    double length = vibration == DRAPE_VIBRATION_BEND ? 0.1 : 1, ratio = 0, seconds = 0;
    if (!drape_i_read_map(r, node, keys)) return;
    if (!share == !decay) {
        drape_i_problem_at(&r->problems, node, false,
                           "%s: expected either `ratio` or `decay`, such as {ratio: 5 %%, length: 10 cm}", name);
        return;
    }
    if (drape_i_node_find(node, "length") &&
        !drape_i_read_number(r, node, "length", DRAPE_I_LENGTH, DRAPE_I_POSITIVE, &length))
        return;
    if (share && !drape_i_node_number(r, share, DRAPE_I_SHARE, DRAPE_I_POSITIVE, &ratio)) return;
    if (decay && !drape_i_node_number(r, decay, DRAPE_I_TIME, DRAPE_I_POSITIVE, &seconds)) return;
    double w = drape_vibration_frequency(m, vibration, length);
    if (w == 0) {
        no_vibration(r, node, m, vibration);
        return;
    }
    if (decay && seconds * w <= 1) {
        drape_i_problem_at(
            &r->problems, decay, false,
            "decay is %g s; for a strip of %g m it must be above %.3g s (ratio 1), or the strip does not swing",
            seconds, length, 1 / w);
        return;
    }
    *out = drape_damping_time(m, vibration, length, share ? ratio : 1 / (seconds * w));
}

/* A damping time, or a map. */
static void read_damping_of(reader_t *r, const drape_i_node *map, drape_vibration vibration, const drape_material *m,
                            double *out) {
    const drape_i_node *node = drape_i_node_find(map, drape_vibration_name(vibration));
    if (node && node->kind == DRAPE_I_MAP) read_vibration(r, node, m, vibration, out);
    else if (node) drape_i_node_number(r, node, DRAPE_I_TIME, DRAPE_I_NOT_NEGATIVE, out);
}

/* One time for all conditions, or a map of the three kinds. */
static void read_damping(reader_t *r, const drape_i_node *node, drape_material *out) {
    static const char *const keys[] = {"stretch", "shear", "bend", NULL};
    if (!node) return;
    if (node->kind == DRAPE_I_SCALAR) {
        if (drape_i_node_number(r, node, DRAPE_I_TIME, DRAPE_I_NOT_NEGATIVE, &out->damping_stretch))
            out->damping_shear = out->damping_bend = out->damping_stretch;
    } else if (drape_i_read_map(r, node, keys)) {
        read_damping_of(r, node, DRAPE_VIBRATION_STRETCH, out, &out->damping_stretch);
        read_damping_of(r, node, DRAPE_VIBRATION_SHEAR, out, &out->damping_shear);
        read_damping_of(r, node, DRAPE_VIBRATION_BEND, out, &out->damping_bend);
    }
}

/* What models of springs have beside the moduli. What a bend spring is made of is the model's. */
static void read_springs(reader_t *r, const drape_i_node *node, drape_material *out) {
    bool straight = is_in_unit(r, "spring_bend", "N/m");
    drape_i_read_number(r, node, "spring_stretch", DRAPE_I_STIFFNESS, DRAPE_I_NOT_NEGATIVE, &out->spring_stretch);
    drape_i_read_number(r, node, "spring_shear", DRAPE_I_STIFFNESS, DRAPE_I_NOT_NEGATIVE, &out->spring_shear);
    drape_i_read_number(r, node, "spring_bend", straight ? DRAPE_I_STIFFNESS : DRAPE_I_BEAM, DRAPE_I_NOT_NEGATIVE,
                        &out->spring_bend);
    drape_i_read_number(r, node, "strain_limit", DRAPE_I_SHARE, DRAPE_I_NOT_NEGATIVE, &out->strain_limit);
}

bool drape_i_read_material(reader_t *r, const drape_i_node *node, drape_material *out) {
    static const char *const keys[] = {"fabric",       "density",      "stretch",        "stretch_stiff",
                                       "stretch_knee", "shear",        "shear_stiff",    "shear_knee",
                                       "bend",         "bend_hinge",   "spring_stretch", "spring_shear",
                                       "spring_bend",  "strain_limit", "damping",        NULL};
    if (node->kind == DRAPE_I_SCALAR) return take_fabric(r, node, out);
    if (!drape_i_read_map(r, node, keys)) return false;
    const drape_i_node *fabric = drape_i_node_find(node, "fabric");
    if (fabric) take_fabric(r, fabric, out);
    drape_i_read_number(r, node, "density", DRAPE_I_AREA_DENSITY, DRAPE_I_POSITIVE, &out->density);
    read_stretch_and_shear(r, node, out);
    read_bend(r, drape_i_node_find(node, "bend"), out);
    drape_i_read_number(r, node, "bend_hinge", DRAPE_I_RIGIDITY, DRAPE_I_NOT_NEGATIVE, &out->bend_hinge);
    read_springs(r, node, out);
    read_damping(r, drape_i_node_find(node, "damping"), out);
    return true;
}
