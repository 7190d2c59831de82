/* registry.c: the table of methods. The contract tests cover every row automatically. */
#include "ode/ode.h"

#include <string.h>

static const drape_i_ode_method methods[] = {
    {.name = "explicit-euler",
     .about = "order 1; stable for h |lambda| < 2, never for oscillations without damping",
     .order = 1,
     .steps = 1,
     .tableau = &drape_i_ode_explicit_euler,
     .keeps_slope = true,
     .step = drape_i_ode_explicit_step},
    {.name = "explicit-midpoint",
     .about = "order 2, two evaluations",
     .order = 2,
     .steps = 1,
     .tableau = &drape_i_ode_explicit_midpoint,
     .keeps_slope = true,
     .step = drape_i_ode_explicit_step},
    {.name = "rk4",
     .about = "order 4, four evaluations: the classical Runge-Kutta method",
     .order = 4,
     .steps = 1,
     .tableau = &drape_i_ode_rk4,
     .keeps_slope = true,
     .step = drape_i_ode_explicit_step},
    {.name = "bogacki-shampine",
     .about = "order 3 with an embedded method of order 2, three evaluations",
     .order = 3,
     .steps = 1,
     .estimates = true,
     .tableau = &drape_i_ode_bogacki_shampine,
     .keeps_slope = true,
     .step = drape_i_ode_explicit_step},
    {.name = "dormand-prince",
     .about = "order 5 with an embedded method of order 4, six evaluations",
     .order = 5,
     .steps = 1,
     .estimates = true,
     .tableau = &drape_i_ode_dormand_prince,
     .extension = drape_i_ode_dormand_prince_extension,
     .keeps_slope = true,
     .step = drape_i_ode_explicit_step},
    {.name = "verlet",
     .about = "Stoermer-Verlet (leapfrog), second order systems: order 2, 1 with damping; stable for h omega < 2",
     .order = 2,
     .steps = 1,
     .second_order_only = true,
     .keeps_slope = true,
     .step = drape_i_ode_verlet_step},
    {.name = "implicit-euler",
     .about = "order 1, A-stable, damps motion that the step does not resolve",
     .order = 1,
     .steps = 1,
     .implicit = true,
     .multistep = true,
     .estimates = true,
     .step = drape_i_ode_bdf_step},
    {.name = "implicit-midpoint",
     .about = "order 2, A-stable, keeps quadratic invariants",
     .order = 2,
     .steps = 1,
     .implicit = true,
     .step = drape_i_ode_midpoint_step},
    {.name = "tr-bdf2",
     .about = "order 2, two stages, L-stable: damps motion that the step does not resolve within one step",
     .order = 2,
     .steps = 1,
     .implicit = true,
     .keeps_slope = true,
     .step = drape_i_ode_tr_bdf2_step},
    {.name = "bdf2",
     .about = "order 2, A-stable, for stiff systems",
     .order = 2,
     .steps = 2,
     .implicit = true,
     .multistep = true,
     .estimates = true,
     .step = drape_i_ode_bdf_step},
    {.name = "bdf3",
     .about = "order 3, stable in a sector of 86 degrees",
     .order = 3,
     .steps = 3,
     .implicit = true,
     .multistep = true,
     .estimates = true,
     .step = drape_i_ode_bdf_step},
    {.name = "bdf4",
     .about = "order 4, stable in a sector of 73 degrees",
     .order = 4,
     .steps = 4,
     .implicit = true,
     .multistep = true,
     .estimates = true,
     .step = drape_i_ode_bdf_step},
    {.name = "bdf5",
     .about = "order 5, stable in a sector of 51 degrees",
     .order = 5,
     .steps = 5,
     .implicit = true,
     .multistep = true,
     .estimates = true,
     .step = drape_i_ode_bdf_step},
    {.name = "bdf6",
     .about = "order 6, stable in a sector of 17 degrees",
     .order = 6,
     .steps = 6,
     .implicit = true,
     .multistep = true,
     .estimates = true,
     .step = drape_i_ode_bdf_step},
};

enum { METHODS = sizeof methods / sizeof *methods };

static const drape_i_ode_method *method_at(int32_t i) { return i >= 0 && i < METHODS ? &methods[i] : NULL; }

const char *drape_ode_method_name(int32_t index) { return method_at(index) ? method_at(index)->name : NULL; }
const char *drape_ode_method_about(int32_t index) { return method_at(index) ? method_at(index)->about : NULL; }

const drape_i_ode_method *drape_i_ode_method_find(const char *name) {
    for (int32_t i = 0; i < METHODS; i++)
        if (name && strcmp(methods[i].name, name) == 0) return &methods[i];
    return NULL;
}

int32_t drape_ode_method_order(const char *method) {
    const drape_i_ode_method *m = drape_i_ode_method_find(method);
    return m ? m->order : 0;
}

bool drape_ode_method_implicit(const char *method) {
    const drape_i_ode_method *m = drape_i_ode_method_find(method);
    return m && m->implicit;
}

bool drape_ode_method_second_order(const char *method) {
    const drape_i_ode_method *m = drape_i_ode_method_find(method);
    return m && m->second_order_only;
}

const drape_ode_tableau *drape_ode_method_tableau(const char *method) {
    const drape_i_ode_method *m = drape_i_ode_method_find(method);
    return m ? m->tableau : NULL;
}
