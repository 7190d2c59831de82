/* vibration.c: the slowest vibrations of a strip, and the damping ratio that a damping time gives them.
 *
 * A damping time beta is a damping of beta times the stiffness, so that a mode obeys a'' + beta w^2 a' + w^2 a = 0:
 * its ratio is beta w / 2. Materials of simulations are made with this: only + - * / and sqrt. */
#include "drape/cloth.h"

#include <math.h>

static const double HALF_PI = 1.57079632679489661923;
static const double CANTILEVER = 3.51601526850015; /* square of the least root of 1 + cos q cosh q = 0 */

const char *drape_vibration_name(drape_vibration vibration) {
    switch (vibration) {
    case DRAPE_VIBRATION_STRETCH: return "stretch";
    case DRAPE_VIBRATION_SHEAR: return "shear";
    case DRAPE_VIBRATION_BEND: return "bend";
    }
    return NULL;
}

/* Stiffness, damping time, and whether hinges or springs have a stiffness of their own in place of it. */
typedef struct elasticity {
    double stiffness, damping;
    bool by_mesh;
} elasticity;

static elasticity elasticity_of(const drape_material *m, drape_vibration vibration) {
    switch (vibration) {
    case DRAPE_VIBRATION_STRETCH: return (elasticity){m->stretch[0], m->damping_stretch, m->spring_stretch > 0};
    case DRAPE_VIBRATION_SHEAR: return (elasticity){m->shear, m->damping_shear, m->spring_shear > 0};
    case DRAPE_VIBRATION_BEND: return (elasticity){m->bend, m->damping_bend, m->bend_hinge > 0 || m->spring_bend > 0};
    }
    return (elasticity){0};
}

double drape_vibration_frequency(const drape_material *material, drape_vibration vibration, double length) {
    if (!material || !(material->density > 0) || !(length > 0)) return 0;
    elasticity e = elasticity_of(material, vibration);
    if (e.by_mesh || !(e.stiffness > 0)) return 0;
    double speed = sqrt(e.stiffness / material->density);
    double w = vibration == DRAPE_VIBRATION_BEND ? CANTILEVER * speed / (length * length) : HALF_PI * speed / length;
    return isfinite(w) ? w : 0;
}

double drape_damping_ratio(const drape_material *material, drape_vibration vibration, double length) {
    double w = drape_vibration_frequency(material, vibration, length);
    return w > 0 ? 0.5 * w * elasticity_of(material, vibration).damping : 0;
}

double drape_damping_time(const drape_material *material, drape_vibration vibration, double length, double ratio) {
    double w = drape_vibration_frequency(material, vibration, length);
    return w > 0 && ratio > 0 ? 2 * ratio / w : 0;
}
