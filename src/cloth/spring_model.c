/* spring_model.c: memory and records of the models made of springs. */
#include "cloth/spring_model.h"

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
        m->arcs = (drape_i_spring_data){s->node[0] + 2 * (int64_t)m->straight_count, NULL};
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
