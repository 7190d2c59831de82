/* scene_hash.c: a hash of everything in a scene that the simulation depends on, and of nothing else (such as names,
 * outputs, the number of frames). It goes field by field, because padding may contain anything. */
#include "base/file.h"
#include "sim/sim.h"

#include <string.h>

/* A new field changes a size, or where `reserved` begins: it belongs in the hash, if it changes what is simulated,
 * and the number here. */
#define FIELDS_ARE_HASHED(type, bytes)                                                                               \
    _Static_assert(sizeof(void *) != 8 || sizeof(type) == (bytes), "a field of " #type " is not hashed")
#define FIELDS_BEFORE_RESERVED_ARE_HASHED(type, bytes)                                                               \
    _Static_assert(sizeof(void *) != 8 || offsetof(type, reserved) == (bytes), "a field of " #type " is not hashed")
FIELDS_BEFORE_RESERVED_ARE_HASHED(drape_piece, 336); /* except for the appearance, which changes nothing */
FIELDS_BEFORE_RESERVED_ARE_HASHED(drape_material, 168);
FIELDS_ARE_HASHED(drape_motion, 136); /* except for the callback, whose address says nothing */
FIELDS_BEFORE_RESERVED_ARE_HASHED(drape_motion_path, 72);
FIELDS_ARE_HASHED(drape_motion_pose, 80);
FIELDS_BEFORE_RESERVED_ARE_HASHED(drape_pin, 256);
FIELDS_BEFORE_RESERVED_ARE_HASHED(drape_stitch, 176);
FIELDS_ARE_HASHED(drape_cloth_point, 40);
FIELDS_BEFORE_RESERVED_ARE_HASHED(drape_attachment, 40);
FIELDS_BEFORE_RESERVED_ARE_HASHED(drape_forces, 88);
FIELDS_BEFORE_RESERVED_ARE_HASHED(drape_wind_variation, 72);
FIELDS_ARE_HASHED(drape_wind_key, 32);
FIELDS_BEFORE_RESERVED_ARE_HASHED(drape_cloth_settings, 24);
FIELDS_BEFORE_RESERVED_ARE_HASHED(drape_solve_settings, 168);
FIELDS_BEFORE_RESERVED_ARE_HASHED(drape_amg_settings, 56);
FIELDS_BEFORE_RESERVED_ARE_HASHED(drape_integration, 256); /* except for max_stretch, which only ends a run */
FIELDS_BEFORE_RESERVED_ARE_HASHED(drape_ode_settings, 184);
FIELDS_BEFORE_RESERVED_ARE_HASHED(drape_ode_newton, 64); /* except for those of matrix-free, which no scene takes */
FIELDS_ARE_HASHED(drape_ode_tableau, 56);
FIELDS_BEFORE_RESERVED_ARE_HASHED(drape_contact_settings, 48);
FIELDS_BEFORE_RESERVED_ARE_HASHED(drape_collider, 192); /* except for the appearance */
FIELDS_ARE_HASHED(drape_collider_key, 56);
FIELDS_BEFORE_RESERVED_ARE_HASHED(drape_scene, 872);

static uint64_t whole(uint64_t hash, int64_t number) { return drape_i_hash(hash, &number, sizeof number); }

static uint64_t reals(uint64_t hash, const double *values, int64_t count) {
    return drape_i_hash(hash, values, values ? (size_t)count * sizeof *values : 0);
}

static uint64_t indices(uint64_t hash, const int32_t *values, int64_t count) {
    return drape_i_hash(hash, values, values ? (size_t)count * sizeof *values : 0);
}

static uint64_t text(uint64_t hash, const char *words) {
    return drape_i_hash(hash, words, words ? strlen(words) : 0);
}

/* Doubles only: no padding. Scenes of fabrics that do not stiffen keep their number, and so their checkpoints. */
static uint64_t hash_material(uint64_t hash, const drape_material *m) {
    const size_t curves = offsetof(drape_material, stretch_stiff);
    hash = drape_i_hash(hash, m, curves);
    if (!(m->stretch_stiff[0] > 0 || m->stretch_stiff[1] > 0 || m->shear_stiff > 0)) return hash;
    return drape_i_hash(hash, m->stretch_stiff, offsetof(drape_material, reserved) - curves);
}

static uint64_t hash_piece(uint64_t hash, const drape_piece *p) {
    int32_t uv = p->uv_triangle ? p->uv_vertices : p->vertices;
    hash = reals(whole(hash, p->vertices), p->rest, 3 * (int64_t)p->vertices);
    hash = indices(whole(hash, p->triangles), p->triangle, 3 * (int64_t)p->triangles);
    hash = reals(hash, p->uv, 2 * (int64_t)uv);
    hash = indices(hash, p->uv_triangle, 3 * (int64_t)p->triangles);
    hash = reals(hash, p->mass, p->vertices);
    if (p->flat) hash = whole(hash, p->flat); /* so that checkpoints of scenes without it keep their number */
    if (p->materials && p->material_of) hash = indices(whole(hash, p->material_count), p->material_of, p->triangles);
    for (int32_t i = 0; p->materials && p->material_of && i < p->material_count; i++)
        hash = hash_material(hash, &p->materials[i]);
    return hash_material(hash, &p->material);
}

static uint64_t hash_path(uint64_t hash, const drape_motion *m, int32_t vertices) {
    const drape_motion_path *p = m->path;
    if (m->kind == DRAPE_MOTION_POSES) /* doubles only: no padding */
        return reals(drape_i_hash(hash, p->pose, (size_t)p->poses * sizeof *p->pose), p->centre, 3);
    hash = reals(whole(hash, p->keep_offset), p->frame_time, p->frames);
    return reals(hash, p->frame, 3 * (int64_t)p->frames * vertices);
}

static uint64_t hash_motion(uint64_t hash, const drape_motion *m, int32_t vertices) {
    hash = whole(hash, m->kind);
    hash = reals(reals(hash, m->velocity, 3), m->amplitude, 3);
    hash = reals(reals(hash, &m->frequency, 1), &m->phase, 1);
    if (m->kind == DRAPE_MOTION_TURN) hash = reals(hash, m->centre, 3);
    for (int32_t i = 0; m->kind == DRAPE_MOTION_KEYS && i < m->key_count; i++)
        hash = reals(reals(hash, &m->key[i].time, 1), m->key[i].offset, 3);
    bool follows = m->kind == DRAPE_MOTION_POSES || m->kind == DRAPE_MOTION_FRAMES;
    return follows ? hash_path(hash, m, vertices) : hash;
}

static uint64_t hash_pin(uint64_t hash, const drape_pin *pin) {
    hash = indices(whole(hash, pin->count), pin->vertices, pin->count);
    hash = whole(hash, pin->directions);
    for (int32_t k = 0; pin->directions < 3 && k < pin->directions; k++) hash = reals(hash, pin->direction[k], 3);
    hash = reals(reals(hash, &pin->from, 1), &pin->until, 1);
    if (pin->stiffness > 0) hash = reals(hash, &pin->stiffness, 1);
    return hash_motion(hash, &pin->motion, pin->count);
}

static uint64_t hash_variation(uint64_t hash, const drape_wind_variation *w) {
    hash = whole(hash, w->key_count);
    for (int32_t i = 0; i < w->key_count; i++) hash = reals(reals(hash, &w->key[i].time, 1), w->key[i].velocity, 3);
    hash = reals(reals(reals(hash, &w->gust, 1), &w->gust_time, 1), &w->gust_length, 1);
    hash = reals(reals(hash, &w->turbulence, 1), &w->turbulence_length, 1);
    return whole(reals(hash, &w->turbulence_time, 1), (int64_t)w->seed);
}

static uint64_t hash_forces(uint64_t hash, const drape_forces *f, int64_t vertices) {
    hash = reals(reals(hash, f->gravity, 3), f->wind, 3);
    /* The drag in air that is not there changes nothing. */
    const double none = 0, *drag = drape_i_forces_have_drag(f) ? &f->drag : &none;
    hash = reals(reals(hash, drag, 1), &f->air_drag, 1);
    hash = reals(hash, f->vertex, 3 * vertices);
    return f->variation ? hash_variation(hash, f->variation) : hash;
}

static uint64_t hash_amg(uint64_t hash, const drape_amg_settings *a) {
    hash = whole(whole(reals(hash, &a->theta, 1), a->modes), a->levels);
    hash = whole(whole(whole(hash, a->smoother), a->degree), a->cycle);
    hash = whole(whole(hash, a->unfiltered), a->reuse);
    if (!a->lanczos && !a->relax_kernel && !a->recipe && a->dominance == 0)
        return hash; /* as before there were any */
    return reals(whole(whole(whole(hash, a->lanczos), a->relax_kernel), a->recipe), &a->dominance, 1);
}

/* Without what is kept of the history, which is only shown, and without the function that is told of progress. */
static uint64_t hash_solve(uint64_t hash, const drape_solve_settings *s) {
    hash = text(text(hash, s->method), s->precond);
    hash = whole(reals(hash, &s->tol, 1), s->max_iterations);
    hash = reals(reals(whole(hash, s->stop), &s->floor, 1), &s->omega, 1);
    hash = hash_amg(whole(hash, s->tune), &s->amg);
    return s->recall ? whole(hash, s->recall) : hash; /* as before there was any */
}

static uint64_t hash_tableau(uint64_t hash, const drape_ode_tableau *t) {
    int64_t n = t->stages;
    hash = whole(whole(whole(hash, n), t->order), t->embedded_order);
    hash = reals(reals(hash, t->a, n * n), t->b, n);
    return reals(reals(hash, t->c, n), t->embedded, n);
}

static uint64_t hash_newton(uint64_t hash, const drape_ode_newton *n) {
    hash = whole(reals(whole(hash, n->kind), &n->eta, 1), n->max_iterations);
    hash = reals(reals(reals(hash, &n->rtol, 1), &n->atol, 1), &n->tolerance, 1);
    return whole(whole(whole(whole(hash, n->line_search), n->guess_from_state), n->guess_extrapolated),
                 n->keep_unconverged);
}

/* With defaults in place of zeros: both are the same scene. */
static uint64_t hash_integration(uint64_t hash, const drape_integration *given) {
    const drape_integration resolved = drape_i_integration_resolve(given), *i = &resolved;
    const drape_ode_settings *s = &i->ode;
    hash = whole(text(hash, s->method), s->control);
    if (s->tableau) hash = hash_tableau(hash, s->tableau);
    hash = reals(reals(reals(hash, &s->rtol, 1), &s->atol, 1), &s->atol_v, 1);
    hash = reals(reals(hash, &s->min_step, 1), &s->max_step, 1);
    hash = whole(whole(whole(hash, s->max_steps), s->few), s->many);
    /* At their defaults these leave the hash as it was before they were fields, and older checkpoints good. */
    if (s->per != 0 || s->largest) hash = whole(reals(hash, &s->per, 1), s->largest);
    hash = whole(whole(hash_newton(hash, &s->newton), i->unknowns), i->mass);
    return i->stop_on_failure ? whole(hash, 1) : hash;
}

static uint64_t hash_collider(uint64_t hash, const drape_collider *c) {
    hash = reals(reals(reals(whole(hash, c->shape), &c->radius, 1), &c->length, 1), c->size, 3);
    hash = whole(reals(hash, c->hole, 2), c->sides);
    hash = whole(whole(hash, c->vertices), c->triangles);
    hash = indices(reals(hash, c->positions, 3 * (int64_t)c->vertices), c->triangle, 3 * (int64_t)c->triangles);
    hash = reals(whole(hash, c->frames), c->frame_time, c->frames);
    hash = reals(hash, c->frame, 3 * (int64_t)c->frames * c->vertices);
    hash = whole(reals(hash, c->rotation, 3), c->key_count);
    for (int32_t i = 0; i < c->key_count; i++) hash = drape_i_hash(hash, &c->key[i], sizeof c->key[i]);
    return reals(reals(hash, &c->thickness, 1), &c->friction, 1);
}

/* Nothing where nothing can touch, so that the hash is as it was before there was contact. */
static uint64_t hash_contact(uint64_t hash, const drape_scene *scene) {
    const drape_contact_settings usual = {0}, *s = scene->contact ? scene->contact : &usual;
    if (scene->collider_count == 0 && !s->self) return hash;
    hash = reals(whole(whole(hash, s->self), s->allow_crossings), &s->distance, 1);
    for (int32_t i = 0; i < s->pair_count; i++) {
        hash = whole(whole(hash, s->pairs[i].piece[0]), s->pairs[i].piece[1]);
        hash = reals(reals(hash, &s->pairs[i].thickness, 1), &s->pairs[i].friction, 1);
    }
    if (s->pinch || s->preset) hash = whole(whole(hash, s->pinch), s->preset);
    if (s->self && s->law != DRAPE_CONTACT_LINEAR) hash = text(hash, drape_contact_law_name(s->law));
    for (int32_t p = 0; p < scene->piece_count; p++)
        hash = reals(reals(hash, &scene->pieces[p].thickness, 1), &scene->pieces[p].friction, 1);
    hash = whole(hash, scene->collider_count);
    for (int32_t i = 0; i < scene->collider_count; i++) hash = hash_collider(hash, &scene->colliders[i]);
    return hash;
}

static uint64_t hash_point(uint64_t hash, const drape_cloth_point *p) {
    hash = indices(whole(hash, p->count), p->vertex, p->count);
    return p->count > 1 ? reals(hash, p->w, p->count) : hash;
}

static uint64_t hash_stitch(uint64_t hash, const drape_stitch *s) {
    const int32_t directions = s->directions > 0 ? s->directions : 3;
    hash = whole(hash_point(hash_point(hash, &s->a), &s->b), directions);
    for (int32_t k = 0; directions < 3 && k < directions; k++) hash = reals(hash, s->direction[k], 3);
    return reals(reals(hash, &s->stiffness, 1), &s->close, 1);
}

static uint64_t hash_attachment(uint64_t hash, const drape_attachment *a) {
    hash = indices(whole(whole(hash, a->collider), a->count), a->vertices, a->count);
    return reals(reals(hash, a->weight, a->count), &a->stiffness, 1); /* the reach only refuses */
}

/* Nothing where there are none, so that the hash is as it was before there were any. */
static uint64_t hash_sewing(uint64_t hash, const drape_scene *scene) {
    if (scene->stitch_count > 0) hash = whole(text(hash, "stitches"), scene->stitch_count);
    for (int32_t i = 0; i < scene->stitch_count; i++) hash = hash_stitch(hash, &scene->stitches[i]);
    if (scene->attachment_count > 0) hash = whole(text(hash, "attachments"), scene->attachment_count);
    for (int32_t i = 0; i < scene->attachment_count; i++) hash = hash_attachment(hash, &scene->attachments[i]);
    return hash;
}

uint64_t drape_i_scene_hash(const drape_scene *scene) {
    uint64_t hash = DRAPE_I_HASH_SEED;
    int64_t vertices = 0;
    hash = whole(hash, scene->piece_count);
    for (int32_t p = 0; p < scene->piece_count; p++) {
        hash = hash_piece(hash, &scene->pieces[p]);
        vertices += scene->pieces[p].vertices;
    }
    hash = whole(hash, scene->pin_count);
    for (int32_t p = 0; p < scene->pin_count; p++) hash = hash_pin(hash, &scene->pins[p]);
    hash = reals(reals(hash, scene->velocity, 3 * vertices), scene->start, 3 * vertices);
    hash = hash_forces(hash, &scene->forces, vertices);
    const char *model = scene->cloth.model ? scene->cloth.model : drape_cloth_defaults().model;
    hash = whole(whole(text(hash, model), scene->cloth.jacobian), scene->cloth.damping_jacobian);
    hash = whole(hash, scene->cloth.bending);
    hash = whole(hash, scene->cloth.membrane);
    hash = hash_integration(hash_solve(hash, &scene->solve), &scene->integration);
    hash = hash_sewing(whole(reals(hash, &scene->step, 1), scene->steps_per_frame), scene);
    return hash_contact(hash, scene);
}
