/* spring_models.c: the models made of springs, by Provot and by Choi and Ko, and the limit of strain that both take.
 * springs.c says which springs there are and how stiff, spring_simd.c has the formulas of their forces. */
#include "cloth/arc.h"
#include "cloth/cloth.h"
#include "cloth/springs.h"

#include <math.h>

/* ---- Memory and records, which the models share ---- */

drape_status drape_i_spring_model_create(drape_context *ctx, const drape_i_model_input *in, bool tension_only,
                                         bool arcs, drape_i_spring_model **out) {
    drape_i_spring_model *m;
    *out = NULL;
    if (!DRAPE_NEW(ctx, m, 1)) return DRAPE_ERROR_MEMORY;
    drape_status status = drape_i_springs_find(ctx, in, tension_only, &m->springs);
    if (!status) {
        const drape_i_springs *s = &m->springs;
        m->straight_count = arcs ? s->in_plane : s->count;
        m->arc_count = s->count - m->straight_count;
        m->straight = (drape_i_spring_data){s->node[0], NULL};
        m->arcs = (drape_i_spring_data){s->node[m->straight_count], NULL};
        if (!DRAPE_NEW(ctx, m->straight.records, (int64_t)SPRING_SIZE * m->straight_count) ||
            !DRAPE_NEW(ctx, m->arcs.records, (int64_t)ARC_SIZE * m->arc_count))
            status = DRAPE_ERROR_MEMORY;
    }
    if (status) drape_i_spring_model_destroy(ctx, m);
    else *out = m;
    return status;
}

void drape_i_spring_model_destroy(drape_context *ctx, void *state) {
    drape_i_spring_model *m = state;
    if (!m) return;
    DRAPE_FREE(ctx, m->straight.records, (int64_t)SPRING_SIZE * m->straight_count);
    DRAPE_FREE(ctx, m->arcs.records, (int64_t)ARC_SIZE * m->arc_count);
    drape_i_springs_clear(ctx, &m->springs);
    DRAPE_FREE(ctx, m, 1);
}

const drape_i_springs *drape_i_spring_model_springs(const void *state) {
    return &((const drape_i_spring_model *)state)->springs;
}

void drape_i_spring_fill(drape_i_spring_model *model, const drape_piece *pieces, int32_t i, double stiffness) {
    const drape_i_spring *s = &model->springs.spring[i];
    const drape_material *m = &pieces[s->piece].material;
    const double time[] = {[DRAPE_I_SPRING_STRETCH] = m->damping_stretch,
                           [DRAPE_I_SPRING_SHEAR] = m->damping_shear,
                           [DRAPE_I_SPRING_BEND] = m->damping_bend};
    double *r = model->straight.records + (int64_t)SPRING_SIZE * i;
    r[SPRING_LENGTH] = s->length;
    r[SPRING_STIFFNESS] = stiffness;
    r[SPRING_DAMPING] = time[s->kind] * stiffness;
}

/* ---- Provot (1995): straight springs that pull and push, structural, shear and flexion ----
 *
 * Take a flexion spring of stiffness k over two edges, L/2 each, that make the angle a. Its energy is k/2 L^2 (1 -
 * cos(a/2))^2. That is of fourth order in a, so a nearly flat sheet does not resist bending, whatever k. A sheet of
 * rigidity B with the same fold has B/2 (a/(L/2))^2 area. They are made equal at a = 1 rad:
 *     k = 4 B area/(L^4 (1 - cos(1/2))^2) */

static const double FOLD = 0.12241743810962728; /* 1 - cos(1/2) */

static double flexion(const drape_i_spring *s, const drape_material *m) {
    double L2 = s->length * s->length;
    return m->spring_bend > 0 ? m->spring_bend : 4 * drape_i_mean_bend(m) * s->area / (L2 * L2 * FOLD * FOLD);
}

static drape_status create_provot(drape_context *ctx, const drape_i_model_input *in, drape_i_term *terms,
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
                              .potential = true,
                              .energy = drape_i_spring_energy_at,
                              .dissipation = drape_i_spring_dissipation_at,
                              .data = &m->straight,
                              .damped = true};
    *term_count = 1;
    *state = m;
    return DRAPE_OK;
}

static const drape_material_field provot_fields[] = {
    DRAPE_I_SHEET_FIELDS,
    DRAPE_I_SPRING_FIELDS,
    DRAPE_I_FIELD(spring_bend, 1, "N/m", 0, "constant of every flexion spring, in place of bend"),
    {0},
};

const drape_i_model drape_i_provot = {
    .name = "provot",
    .about = "springs that pull and push; the cheapest forces",
    .fields = provot_fields,
    .linear_jacobian = true,
    .strain_limit = true,
    .create = create_provot,
    .destroy = drape_i_spring_model_destroy,
    .springs = drape_i_spring_model_springs,
};

/* ---- Choi and Ko (2002), "Stable but responsive cloth" ----
 *
 * Threads along edges and diagonals that resist being stretched but not compressed, and arcs that bend at once where
 * the sheet is compressed.
 *
 * Arcs push, and so keep the edges below them taut: bent, a strip is a polygon. Two edges of L/2 that make the small
 * angle a have a chord shorter by u = a^2/8 of L. The arc over it has t^2 = 6 u and the energy 2 k_b t^2/L = 3/2 k_b
 * a^2/L. A sheet of rigidity B has B/2 (2 a/L)^2 on the area that the vertex carries, so k_b = 4/3 B area/L.
 */

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
    double L = s->length, k_b = m->spring_bend > 0 ? m->spring_bend : 4.0 / 3 * drape_i_mean_bend(m) * s->area / L;
    r[ARC_LENGTH] = L;
    r[ARC_RIGIDITY] = k_b;
    r[ARC_DAMPING] = m->damping_bend * 12 * k_b / (L * L * L); /* the buckling load over the length */
    if (k_b == 0) return;                                      /* neither arc nor straight spring */
    double c_b = first_stiffness(s, m, k_b), u_c = switch_point(L, k_b, c_b);
    r[ARC_FIRST] = c_b;
    r[ARC_SWITCH] = u_c;
    r[ARC_OFFSET] = 0.5 * c_b * (u_c * L) * (u_c * L) - 2 * k_b * arc_at(u_c).q[0] / L;
}

static drape_status create_choi_ko(drape_context *ctx, const drape_i_model_input *in, drape_i_term *terms,
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
                              .potential = true,
                              .energy = drape_i_thread_energy_at,
                              .dissipation = drape_i_spring_dissipation_at,
                              .data = &m->straight,
                              .damped = true};
    terms[1] = (drape_i_term){.elements = {2, m->arc_count, m->arcs.nodes},
                              .batch = drape_i_arc_at,
                              .potential = true,
                              .energy = drape_i_arc_energy_at,
                              .dissipation = drape_i_arc_dissipation_at,
                              .data = &m->arcs,
                              .damped = true};
    *term_count = 2;
    *state = m;
    return DRAPE_OK;
}

static const drape_material_field choi_ko_fields[] = {
    DRAPE_I_SHEET_FIELDS,
    DRAPE_I_SPRING_FIELDS,
    DRAPE_I_FIELD(spring_bend, 1, "N m^2", 0, "rigidity of every arc, in place of bend"),
    {0},
};

const drape_i_model drape_i_choi_ko = {
    .name = "choi_ko",
    .about = "threads that pull but do not push, arcs that buckle; soft folds",
    .fields = choi_ko_fields,
    .linear_jacobian = true,
    .strain_limit = true,
    .create = create_choi_ko,
    .destroy = drape_i_spring_model_destroy,
    .springs = drape_i_spring_model_springs,
};

/* ---- Provot's limit of elongation (1995): after a step, springs that are too long are shortened ----
 *
 * It sweeps repeatedly over the springs of stretch and shear, in their order. If one is longer than (1 + limit) L,
 * its ends are moved along it until it is just that long, each in proportion to its inverse mass. A held end has none
 * and stays. What moves an end by d changes its velocity by d/h. The momentum of free cloth and its centre stay as
 * they were. It goes on until no spring is beyond its limit by more than TOLERANCE of its length, or for SWEEPS.
 * Springs are taken one after the other by one thread: later ones see what earlier ones did, and the bits do not
 * depend on threads. */

enum { SWEEPS = 100 };
static const double TOLERANCE = 1e-3;

typedef struct limited_state {
    const double *inverse_mass; /* NULL: of the cloth's masses */
    const double *mass;
    double *x, *v, per_step; /* 1/h */
} limited_state;

static double weight(const limited_state *s, int32_t vertex) {
    return s->inverse_mass ? s->inverse_mass[vertex] : 1 / s->mass[vertex];
}

static void move(const limited_state *s, int32_t vertex, double by, const double d[3]) {
    for (int32_t k = 0; k < 3; k++) {
        s->x[3 * (int64_t)vertex + k] += by * d[k];
        s->v[3 * (int64_t)vertex + k] += by * d[k] * s->per_step;
    }
}

/* How far the spring was beyond its limit, in units of it. */
static double shorten(const limited_state *s, const int32_t node[2], double most) {
    const double *a = s->x + 3 * (int64_t)node[0], *b = s->x + 3 * (int64_t)node[1];
    double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    double w0 = weight(s, node[0]), w1 = weight(s, node[1]);
    if (!(length > most) || !(w0 + w1 > 0)) return 0;
    double excess = (length - most) / (length * (w0 + w1));
    move(s, node[0], excess * w0, d);
    move(s, node[1], -excess * w1, d);
    return length / most - 1;
}

bool drape_cloth_limits_strain(const drape_cloth *c) { return c && c->limited; }

drape_status drape_cloth_limit_strain(const drape_cloth *c, const double *inverse_mass, double h, double *x,
                                      double *v) {
    if (!c) return DRAPE_ERROR_ARGUMENT;
    if (!x || !v || !isfinite(h) || !(h > 0))
        return drape_i_fail(c->ctx, DRAPE_ERROR_ARGUMENT,
                            "limit_strain: positions, velocities and a step above 0 are needed");
    if (!c->limited) return DRAPE_OK;
    const drape_i_springs *springs = c->model->springs(c->model_state);
    const limited_state s = {inverse_mass, c->mass, x, v, 1 / h};
    double worst = INFINITY;
    for (int32_t sweep = 0; sweep < SWEEPS && worst > TOLERANCE; sweep++) {
        worst = 0;
        for (int32_t i = 0; i < springs->in_plane; i++)
            worst = fmax(worst, shorten(&s, springs->node[i], springs->spring[i].most));
    }
    return DRAPE_OK;
}
