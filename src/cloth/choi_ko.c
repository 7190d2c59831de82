/* choi_ko.c: the cloth of Choi and Ko (2002), "Stable but responsive cloth": threads along edges and diagonals that
 * resist being stretched but not compressed, and arcs that bend at once where the sheet is compressed. springs.c says
 * which there are and how stiff, spring_simd.c and arc_simd.c have the formulas.
 *
 * Arcs push, and so keep the edges below them taut: bent, a strip is a polygon. Two edges of L/2 that make the small
 * angle a have a chord shorter by u = a^2/8 of L, over which the arc has t^2 = 6 u and the energy 2 k_b t^2/L =
 * 3/2 k_b a^2/L. A sheet of rigidity B has B/2 (2 a/L)^2 on the area that the vertex carries, so k_b = 4/3 B area/L.
 */
#include "cloth/arc.h"
#include "cloth/spring_model.h"

#include <math.h>

/* Of the straight spring that an arc begins as: at least so stiff that it is an arc from 0.1 % of compression, which
 * is an angle of 0.09 rad between two edges. Below that a sheet bends too easily. */
static const double LEAST_FIRST = 12000; /* times k_b/L^3 */

/* c_b: as stiff as the sheet is in tension, which is what Choi and Ko say of it. */
static double first_stiffness(const drape_i_spring *s, const drape_material *m, double k_b) {
    double L = s->length, mean = 0.5 * (m->stretch[0] + m->stretch[1]);
    double stretch = m->spring_stretch > 0 ? m->spring_stretch : mean * s->area / (L * L);
    return fmax(stretch, LEAST_FIRST * k_b / (L * L * L));
}

static arc arc_at(double u) { return arc_over(vd_set1(u)); }

/* u_c with c_b L u = 2 k_b q'(u)/L^2. The right side is 12 to 17 k_b/L^2 where c_b is as above, so that iterating
 * contracts by 1000 and more. */
static double switch_point(double L, double k_b, double c_b) {
    double u = 0;
    for (int32_t i = 0; i < 12; i++) u = 2 * k_b * arc_at(u).first[0] / (c_b * L * L * L);
    return u;
}

static void fill_arc(const drape_i_spring *s, const drape_material *m, double *r) {
    double L = s->length, k_b = m->spring_bend > 0 ? m->spring_bend : 4.0 / 3 * m->bend * s->area / L;
    r[ARC_LENGTH] = L;
    r[ARC_RIGIDITY] = k_b;
    r[ARC_DAMPING] = m->damping_bend * 12 * k_b / (L * L * L); /* the buckling load over the length */
    if (k_b == 0) return;                                      /* neither arc nor straight spring */
    double c_b = first_stiffness(s, m, k_b), u_c = switch_point(L, k_b, c_b);
    r[ARC_FIRST] = c_b;
    r[ARC_SWITCH] = u_c;
    r[ARC_OFFSET] = 0.5 * c_b * (u_c * L) * (u_c * L) - 2 * k_b * arc_at(u_c).q[0] / L;
}

static drape_status create(drape_context *ctx, const drape_i_model_input *in, drape_i_term *terms,
                           int32_t *term_count, void **state) {
    drape_i_spring_model *m;
    *state = NULL;
    drape_status status = drape_i_spring_model_create(ctx, in, true, true, &m);
    if (status) return status;
    const drape_i_spring *s = m->springs.spring;
    for (int32_t i = 0; i < m->straight_count; i++) drape_i_spring_fill(m, in->pieces, i, s[i].stiffness);
    s += m->straight_count;
    for (int32_t i = 0; i < m->arc_count; i++)
        fill_arc(&s[i], &in->pieces[s[i].piece].material, m->arcs.records + (int64_t)ARC_SIZE * i);
    terms[0] = (drape_i_term){.elements = {2, m->straight_count, m->straight.nodes},
                              .batch = drape_i_thread_at,
                              .energy = drape_i_thread_energy_at,
                              .data = &m->straight,
                              .damped = true};
    terms[1] = (drape_i_term){.elements = {2, m->arc_count, m->arcs.nodes},
                              .batch = drape_i_arc_at,
                              .energy = drape_i_arc_energy_at,
                              .data = &m->arcs,
                              .damped = true};
    *term_count = 2;
    *state = m;
    return DRAPE_OK;
}

static const drape_material_field fields[] = {
    DRAPE_I_SHEET_FIELDS,
    DRAPE_I_SPRING_FIELDS,
    DRAPE_I_FIELD(spring_bend, 1, "N m^2", 0, "rigidity of every arc, in place of bend"),
    {0},
};

const drape_i_model drape_i_choi_ko = {
    .name = "choi_ko",
    .about = "threads that pull but do not push, arcs that buckle; soft folds",
    .fields = fields,
    .linear_jacobian = true,
    .strain_limit = true,
    .create = create,
    .destroy = drape_i_spring_model_destroy,
    .springs = drape_i_spring_model_springs,
};
