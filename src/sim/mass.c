/* mass.c: the mass matrix of linear finite elements, m_ij = density area (1 + delta_ij) / 12 of each triangle.
 *
 * Its rows sum up to the lumped masses, so weight is the same with both. Blocks are m_ij I on the pattern of the
 * Jacobians; a step adds consistent - lumped to what drape_assembler_run gives. */
#include "base/parallel.h"
#include "cloth/cloth.h"
#include "sim/sim.h"
#include "sparse/matrix.h"
#include "sparse/multiply.h"

enum { GRAIN = 4096 };

static drape_status check(drape_sim *sim, const drape_scene *scene) {
    for (int32_t p = 0; p < scene->piece_count; p++)
        if (scene->pieces[p].mass)
            return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT,
                                "piece %d: a consistent mass matrix comes from the density, but its vertices have "
                                "masses of their own",
                                p);
    return DRAPE_OK;
}

static void add_triangle(const drape_bsr3 *M, const int32_t corner[3], double twelfth) {
    for (int32_t i = 0; i < 3; i++)
        for (int32_t j = 0; j < 3; j++) {
            double *block = M->val + 9 * drape_i_matrix_find(M, corner[i], corner[j]);
            for (int32_t k = 0; k < 3; k++) block[4 * k] += i == j ? 2 * twelfth : twelfth;
        }
}

drape_status drape_i_sim_mass_create(drape_sim *sim, const drape_scene *scene) {
    const drape_cloth *c = sim->cloth;
    drape_status status = check(sim, scene);
    if (!status) status = drape_assembler_matrix(sim->forces, &sim->mass_matrix);
    if (status) return status;
    drape_bsr3 M = drape_matrix_view(sim->mass_matrix);
    for (int32_t p = 0; p < scene->piece_count; p++) {
        const drape_piece_range *range = &c->piece[p];
        for (int32_t t = range->first_triangle; t < range->first_triangle + range->triangles; t++)
            add_triangle(&M, c->triangle[t], scene->pieces[p].material.density * c->rest_triangle[t].area / 12);
    }
    return DRAPE_OK;
}

typedef struct operands {
    drape_sim *sim;
    drape_bsr3 A, M;
    double factor;
    const double *in;
    double *out;
} operands;

static void correct_rows(void *data, int64_t begin, int64_t end) {
    const operands *o = data;
    for (int64_t k = 9 * o->A.rowptr[begin]; k < 9 * o->A.rowptr[end]; k++) o->A.val[k] += o->factor * o->M.val[k];
    for (int64_t i = begin; i < end; i++) {
        double *block = o->A.val + 9 * drape_i_matrix_find(&o->A, (int32_t)i, (int32_t)i);
        for (int32_t k = 0; k < 3; k++) block[4 * k] -= o->factor * drape_cloth_mass(o->sim->cloth)[i];
    }
}

void drape_i_sim_mass_correct(drape_sim *sim, double factor) {
    if (!sim->mass_matrix || factor == 0) return;
    operands o = {
        .sim = sim, .A = drape_matrix_view(sim->A), .M = drape_matrix_view(sim->mass_matrix), .factor = factor};
    drape_i_loop(sim->ctx, sim->vertices, DRAPE_I_GRAIN, correct_rows, &o);
}

static void lumped_chunk(void *data, int64_t begin, int64_t end, double *sums) {
    const operands *o = data;
    const double *mass = drape_cloth_mass(o->sim->cloth);
    for (int64_t i = begin; i < end; i++)
        for (int32_t k = 0; k < 3; k++) {
            o->out[3 * i + k] = mass[i] * o->in[3 * i + k];
            sums[0] += o->in[3 * i + k] * o->out[3 * i + k];
        }
}

double drape_i_sim_mass_times(drape_sim *sim, const double *in, double *out) {
    operands o = {.sim = sim, .in = in, .out = out};
    double square;
    if (sim->mass_matrix) {
        drape_bsr3 M = drape_matrix_view(sim->mass_matrix);
        return drape_i_multiply(sim->ctx, &M, in, out);
    }
    drape_i_sum(sim->ctx, sim->vertices, GRAIN, lumped_chunk, &o, 1, &square);
    return square;
}
