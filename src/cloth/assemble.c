/* assemble.c: A = mass M + damping D + stiffness K, f and K v of a cloth at a state. */
#include "cloth/cloth.h"
#include "sparse/matrix.h"

typedef struct job {
    const drape_cloth *cloth;
    const drape_assembly *what;
    drape_bsr3 A;
} job;

/* What belongs to a vertex alone: its mass, its weight, its share of the air's drag. */
static void start_rows(void *data, int32_t begin, int32_t end) {
    const job *j = data;
    const drape_cloth *c = j->cloth;
    const drape_forces *f = &c->forces;
    for (int64_t i = begin; i < end; i++) {
        double drag = f->air_drag * c->area[i];
        for (int32_t k = 0; k < 3 && j->what->force; k++)
            j->what->force[3 * i + k] = c->mass[i] * f->gravity[k] + drag * (f->wind[k] - j->what->v[3 * i + k]) +
                                        (f->vertex ? f->vertex[3 * i + k] : 0);
        for (int32_t k = 0; k < 3 && j->what->stiff_v; k++) j->what->stiff_v[3 * i + k] = 0;
        if (!j->A.val) continue;
        double *block = j->A.val + 9 * drape_i_matrix_find(&j->A, (int32_t)i, (int32_t)i);
        for (int32_t k = 0; k < 3; k++) block[4 * k] = j->what->mass * c->mass[i] + j->what->damping * drag;
    }
}

drape_status drape_cloth_assemble(drape_cloth *c, const drape_assembly *what, drape_matrix *A) {
    if (!what->x || !what->v)
        return drape_i_fail(c->ctx, DRAPE_ERROR_ARGUMENT, "assemble: positions or velocities are missing");
    if (A && A->pattern != c->pattern)
        return drape_i_fail(c->ctx, DRAPE_ERROR_ARGUMENT,
                            "assemble: the matrix was not made by drape_cloth_matrix "
                            "of this cloth");
    const drape_cloth_settings *settings = &c->settings;
    c->evaluation = (drape_i_evaluation){
        what->x, what->v, what->damping, what->stiffness, settings->jacobian, settings->damping_jacobian};
    drape_bsr3 view = drape_matrix_view(A ? A : c->pattern);
    job j = {c, what, view};
    drape_i_batch_fn kernels[DRAPE_I_TERMS];
    const void *data[DRAPE_I_TERMS];
    bool unsymmetric[DRAPE_I_TERMS];
    for (int32_t t = 0; t < c->term_count; t++) {
        kernels[t] = c->terms[t].batch[c->ctx->simd];
        data[t] = c->terms[t].data;
        unsymmetric[t] = c->terms[t].damped && settings->damping_jacobian == DRAPE_DAMPING_FULL &&
                         settings->jacobian != DRAPE_JACOBIAN_LINEAR;
    }
    if (c->forces.drag == 0) kernels[c->term_count - 1] = NULL;
    drape_i_assembly_run(c->plan, &(drape_i_assembly_job){.A = view,
                                                          .vectors = {what->force, what->stiff_v},
                                                          .start = start_rows,
                                                          .start_data = &j,
                                                          .kernels = kernels,
                                                          .kernel_data = data,
                                                          .unsymmetric = unsymmetric});
    return DRAPE_OK;
}
