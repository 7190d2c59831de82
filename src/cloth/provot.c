/* provot.c: the mass-spring cloth of Provot (1995): straight springs that pull and push, structural, shear and
 * flexion. springs.c says which and how stiff, spring_simd.c has the formulas, strain_limit.c the limit of strain.
 *
 * A flexion spring of stiffness k over two edges, L/2 each, that make the angle a has the energy
 * k/2 L^2 (1 - cos(a/2))^2: of fourth order in a, so a nearly flat sheet does not resist bending, whatever k. A sheet
 * of rigidity B with the same fold has B/2 (a/(L/2))^2 area. They are made equal at a = 1 rad:
 *     k = 4 B area/(L^4 (1 - cos(1/2))^2) */
#include "cloth/spring_model.h"

static const double FOLD = 0.12241743810962728; /* 1 - cos(1/2) */

static double flexion(const drape_i_spring *s, const drape_material *m) {
    double L2 = s->length * s->length;
    return m->spring_bend > 0 ? m->spring_bend : 4 * m->bend * s->area / (L2 * L2 * FOLD * FOLD);
}

static drape_status create(drape_context *ctx, const drape_i_model_input *in, drape_i_term *terms,
                           int32_t *term_count, void **state) {
    drape_i_spring_model *m;
    *state = NULL;
    drape_status status = drape_i_spring_model_create(ctx, in, false, false, &m);
    if (status) return status;
    for (int32_t i = 0; i < m->springs.count; i++) {
        const drape_i_spring *s = &m->springs.spring[i];
        bool bends = s->kind == DRAPE_I_SPRING_BEND;
        drape_i_spring_fill(m, in->pieces, i, bends ? flexion(s, &in->pieces[s->piece].material) : s->stiffness);
    }
    terms[0] = (drape_i_term){.elements = {2, m->straight_count, m->straight.nodes},
                              .batch = drape_i_spring_at,
                              .energy = drape_i_spring_energy_at,
                              .data = &m->straight,
                              .damped = true};
    *term_count = 1;
    *state = m;
    return DRAPE_OK;
}

static const drape_material_field fields[] = {
    DRAPE_I_SHEET_FIELDS,
    DRAPE_I_SPRING_FIELDS,
    DRAPE_I_FIELD(spring_bend, 1, "N/m", 0, "constant of every flexion spring, in place of bend"),
    {0},
};

const drape_i_model drape_i_provot = {
    .name = "provot",
    .about = "springs that pull and push; the cheapest forces",
    .fields = fields,
    .linear_jacobian = true,
    .strain_limit = true,
    .create = create,
    .destroy = drape_i_spring_model_destroy,
    .springs = drape_i_spring_model_springs,
};
