/* part_refuse.c: what scenes ask for and many processes do not do. */
#include "mpi/part.h"

#include <string.h>

static bool is_one_of(const char *word, const char *const *list) {
    for (; word && *list; list++)
        if (strcmp(word, *list) == 0) return true;
    return !word; /* the default */
}

static drape_status refuse_integration(drape_context *ctx, const drape_integration *s) {
    static const char *const known[] = {DRAPE_LINEARISED_EULER, DRAPE_PREVIEW, "implicit-euler", "bdf2", NULL};
    if (s->ode.tableau || !is_one_of(s->ode.method, known))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "the integrator %s does not run over several processes; linearised-euler, implicit-euler "
                            "and bdf2 do",
                            s->ode.tableau ? "of a table" : s->ode.method);
    if (s->mass == DRAPE_MASS_CONSISTENT)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "a consistent mass matrix (mass: consistent) does not run over several processes; take "
                            "mass: lumped");
    return DRAPE_OK;
}

static drape_status refuse_solver(drape_context *ctx, const drape_scene *scene) {
    static const char *const methods[] = {"auto", "ppcg", "cg", NULL}, *const preconds[] = {"auto", "amg", NULL};
    const drape_solve_settings *s = &scene->solve;
    if (!is_one_of(s->method, methods))
        return drape_i_fail(
            ctx, DRAPE_ERROR_ARGUMENT,
            "solver.method %s: over several processes there are PETSc's conjugate gradients; take auto", s->method);
    if (!is_one_of(s->precond, preconds))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "solver.precond %s: over several processes there is amg; take auto, or PETSc's own "
                            "by -pc_type",
                            s->precond);
    if (scene->cloth.damping_jacobian == DRAPE_DAMPING_FULL)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "damping_jacobian: full is not symmetric, as conjugate gradients over several processes "
                            "need it; take symmetric");
    return DRAPE_OK;
}

static bool limits_strain(const drape_piece *p) {
    bool limits = p->material.strain_limit > 0;
    for (int32_t i = 0; p->materials && i < p->material_count; i++) limits |= p->materials[i].strain_limit > 0;
    return limits;
}

drape_status drape_i_part_refuse(drape_context *ctx, const drape_scene *scene) {
    if (scene->collider_count > 0)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "contact with colliders does not run over several processes; this scene has %d",
                            scene->collider_count);
    if (scene->contact && scene->contact->self)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "contact of cloth with itself (contact.self) does not run over several processes");
    if (scene->stitch_count > 0 || scene->attachment_count > 0)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "stitches (stitches) and attachments (attach) do not run over several processes");
    for (int32_t p = 0; p < scene->piece_count; p++)
        if (limits_strain(&scene->pieces[p]))
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                                "the strain limit (strain_limit) of %s does not run over several processes",
                                scene->pieces[p].name ? scene->pieces[p].name : "a piece");
    for (int32_t p = 0; p < scene->pin_count; p++)
        if (scene->pins[p].motion.kind == DRAPE_MOTION_CALLBACK)
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                                "pin %d moves by a function, which does not run over several processes", p);
    drape_status status = refuse_integration(ctx, &scene->integration);
    return status ? status : refuse_solver(ctx, scene);
}
