/* stiffening.c: springs that grow stiffer the more they are stretched, as woven cloth does when its threads are
 * pulled straight. With d = l - L and e = d/L the energy is
 *
 *     phi = k/2 d^2 (1 + G/2 e^2),   phi' = k d (1 + G e^2),   phi'' = k (1 + 3 G e^2) > 0
 *
 * springs.c says which springs there are and how stiff, spring_lanes.h turns phi into forces and Jacobians. The
 * kernels are compiled for the baseline alone; in a file *_simd.c they would be compiled for each instruction set. */
#include "cloth/spring_lanes.h"

static const double GROWTH = 100; /* G: twice as stiff at an elongation of 6 % */

typedef struct springs {
    vd length, stiffness, longer, growth; /* growth = G e^2 */
} springs;

DRAPE_INLINE springs load(const drape_i_spring_data *d, const int32_t *e, vd l) {
    springs s = {.length = lanes_field(d->records, SPRING_SIZE, SPRING_LENGTH, e),
                 .stiffness = lanes_field(d->records, SPRING_SIZE, SPRING_STIFFNESS, e)};
    s.longer = l - s.length;
    s.growth = vd_set1(GROWTH) * s.longer * s.longer / (s.length * s.length);
    return s;
}

DRAPE_INLINE void evaluate(const drape_i_spring_data *d, const drape_i_evaluation *at, const int32_t *e, int lane,
                           drape_jacobian jacobian, drape_i_damping damped, drape_i_batch *out) {
    vd l, one = vd_set1(1);
    spring_shape shape = spring_load(d, at, e, &l);
    springs s = load(d, e, l);
    spring_law law = {.pull = s.stiffness * s.longer * (one + s.growth),
                      .stiffness = s.stiffness * (one + vd_set1(3) * s.growth),
                      .linear = s.stiffness,
                      .damping = lanes_field(d->records, SPRING_SIZE, SPRING_DAMPING, e)};
    spring_store(d, at, e, &shape, &law, lane, jacobian, damped, out);
}

static void batch(const void *data, const void *at, const int32_t *elements, drape_i_batch *out) {
    SPRING_DISPATCH(evaluate, data, at, elements, out);
}

static void energies(const void *data, const drape_i_evaluation *at, const int32_t *elements, double *energy) {
    for (int lane = 0; lane < DRAPE_I_LANES; lane += DRAPE_W) {
        vd l;
        spring_load(data, at, elements + lane, &l);
        springs s = load(data, elements + lane, l);
        vd_store(energy + lane,
                 vd_set1(0.5) * s.stiffness * s.longer * s.longer * (vd_set1(1) + vd_set1(0.5) * s.growth));
    }
}

/* By drape_simd: the same for every instruction set, and none for DRAPE_SIMD_BEST, which is not one. */
static const drape_i_batch_fn batch_at[DRAPE_I_SIMD_LEVELS] = {NULL, batch, batch, batch};
static const drape_i_energy_fn energies_at[DRAPE_I_SIMD_LEVELS] = {NULL, energies, energies, energies};

/* A bend spring of length L has the stiffness that resists a fold of its sheet by B/2 (a/(L/2))^2 area at a = 1 rad.
 */
static double flexion(const drape_i_spring *s, const drape_material *m) {
    double shorter = 0.1224 * s->length * s->length; /* (1 - cos(1/2)) L^2 */
    return m->spring_bend > 0 ? m->spring_bend : 4 * m->bend * s->area / (shorter * shorter);
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
                              .batch = batch_at,
                              .energy = energies_at,
                              .dissipation = drape_i_spring_dissipation_at,
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

const drape_i_model drape_i_stiffening = {
    .name = "stiffening",
    .about = "springs that grow stiffer when stretched, as woven cloth does",
    .fields = fields,
    .linear_jacobian = true,
    .strain_limit = true,
    .create = create,
    .destroy = drape_i_spring_model_destroy,
    .springs = drape_i_spring_model_springs,
};
