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
                            "the integrator %s is not supported over several processes; use linearised-euler, "
                            "implicit-euler or bdf2",
                            s->ode.tableau ? "of a table" : s->ode.method);
    if (s->mass == DRAPE_MASS_CONSISTENT)
        return drape_i_fail(
            ctx, DRAPE_ERROR_ARGUMENT,
            "a consistent mass matrix (mass: consistent) is not supported over several processes; use "
            "mass: lumped");
    return DRAPE_OK;
}

static drape_status refuse_solver(drape_context *ctx, const drape_scene *scene) {
    static const char *const methods[] = {"auto", "ppcg", "cg", NULL}, *const preconds[] = {"auto", "amg", NULL};
    const drape_solve_settings *s = &scene->solve;
    if (!is_one_of(s->method, methods))
        return drape_i_fail(
            ctx, DRAPE_ERROR_ARGUMENT,
            "solver.method %s: over several processes there are only PETSc's conjugate gradients; use auto",
            s->method);
    if (!is_one_of(s->precond, preconds))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "solver.precond %s: over several processes there is only amg; use auto, or one of PETSc "
                            "with -pc_type",
                            s->precond);
    if (scene->cloth.damping_jacobian == DRAPE_DAMPING_FULL)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "damping_jacobian: full is not symmetric, but conjugate gradients over several processes "
                            "need a symmetric matrix; use symmetric");
    return DRAPE_OK;
}

static bool limits_strain(const drape_piece *p) {
    bool limits = p->material.strain_limit > 0;
    for (int32_t i = 0; p->materials && i < p->material_count; i++) limits |= p->materials[i].strain_limit > 0;
    return limits;
}

drape_status drape_i_part_refuse(drape_context *ctx, const drape_scene *scene) {
    if (scene->collider_count > 0)
        return drape_i_fail(
            ctx, DRAPE_ERROR_ARGUMENT,
            "contact with colliders is not supported over several processes; leave out the %d colliders",
            scene->collider_count);
    if (scene->contact && scene->contact->self)
        return drape_i_fail(
            ctx, DRAPE_ERROR_ARGUMENT,
            "contact of cloth with itself (contact.self) is not supported over several processes; leave it out");
    if (scene->stitch_count > 0 || scene->attachment_count > 0)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "stitches (stitches) and attachments (attach) are not supported over several processes; "
                            "leave them out");
    for (int32_t p = 0; p < scene->piece_count; p++)
        if (limits_strain(&scene->pieces[p]))
            return drape_i_fail(
                ctx, DRAPE_ERROR_ARGUMENT,
                "the strain limit (strain_limit) of %s is not supported over several processes; leave it out",
                scene->pieces[p].name ? scene->pieces[p].name : "a piece");
    for (int32_t p = 0; p < scene->pin_count; p++)
        if (scene->pins[p].motion.kind == DRAPE_MOTION_CALLBACK)
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                                "pin %d moves by a function, which is not supported over several processes", p);
    drape_status status = refuse_integration(ctx, &scene->integration);
    return status ? status : refuse_solver(ctx, scene);
}
