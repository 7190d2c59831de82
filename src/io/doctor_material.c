/* doctor_material.c: numbers that no fabric has, and how fast the cloth can swing.
 *
 * With the conditions of Baraff and Witkin at rest an element's stiffness is, for stretch along u, k_u A g g' with g
 * the derivative of w_u in its three vertices, |g|^2 = sum du_i^2; for shear |g|^2 = sum (du_i^2 + dv_i^2). Its mass
 * is rho A / 3 a vertex. The largest eigenvalue of the whole is no larger than that of the worst element (Irons and
 * Treharne, "A bound theorem in eigenvalues and its practical applications", 1971), and that of an element no larger
 * than the sum over its conditions:
 *
 *     omega^2 <= 3 / rho (k_u sum du_i^2 + k_v sum dv_i^2 + k_s sum (du_i^2 + dv_i^2)) */
#include "cloth/rest.h"
#include "io/doctor.h"

#include <math.h>

typedef struct usual {
    const char *name, *unit;
    double value, low, high; /* with room around docs/fabrics.md, from organza to belting */
} usual;

static void look_at_numbers(drape_i_doctor *d, const drape_material *m) {
    const usual all[] = {{"density", "kg/m^2", m->density, 0.01, 2},
                         {"stretch along warp", "N/m", m->stretch[0], 10, 1e6},
                         {"stretch along weft", "N/m", m->stretch[1], 10, 1e6},
                         {"shear", "N/m", m->shear, 0.5, 1e5},
                         {"bend", "N m", m->bend, 1e-8, 1e-2}};
    drape_i_ailment kind = {DRAPE_SEVERITY_WARNING, "odd-material",
                            "is a unit missing, as in 150 g/m^2? `drape fabrics` lists measured ones", 0};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!(all[i].value >= all[i].low && all[i].value <= all[i].high))
            drape_i_found(d, &kind, NULL, "%s is %g %s; fabrics have %g to %g", all[i].name, all[i].value,
                          all[i].unit, all[i].low, all[i].high);
    drape_i_found_all(d, &kind);
}

static double fastest_of(const drape_i_rest_triangle *rest, const drape_material *m) {
    double du2 = 0, dv2 = 0;
    for (int32_t k = 0; k < 3; k++) {
        du2 += rest->du[k] * rest->du[k];
        dv2 += rest->dv[k] * rest->dv[k];
    }
    return sqrt(3 / m->density * (m->stretch[0] * du2 + m->stretch[1] * dv2 + m->shear * (du2 + dv2)));
}

/* Pieces with masses or hinges of their own are models of something else than a fabric. */
void drape_i_examine_material(drape_i_doctor *d, const drape_piece *p) {
    drape_i_rest_triangle rest;
    if (p->mass || p->material.bend_hinge > 0 || !(p->material.density > 0)) return;
    look_at_numbers(d, &p->material);
    for (int32_t t = 0; t < p->triangles; t++)
        if (!drape_i_rest_triangle_find(d->ctx, 0, p, t, &rest))
            d->summary->fastest = fmax(d->summary->fastest, fastest_of(&rest, &p->material));
}
