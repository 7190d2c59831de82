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
    terms[0] = (drape_i_term){
        {2, m->straight_count, m->straight.nodes}, drape_i_spring_at, drape_i_spring_energy_at, &m->straight, true};
    *term_count = 1;
    *state = m;
    return DRAPE_OK;
}

const drape_i_model drape_i_provot = {"provot", create, drape_i_spring_model_destroy, drape_i_spring_model_springs};
