/* cloth.c: puts pieces together (edges, rest geometry, masses, model), and measures energy and stretch of a state. */
#include "cloth/cloth.h"

#include "base/parallel.h"
#include "cloth/force.h"
#include "cloth/patch.h"

#include <math.h>
#include <string.h>

drape_cloth_settings drape_cloth_defaults(void) {
    return (drape_cloth_settings){
        .model = "baraff_witkin", .jacobian = DRAPE_JACOBIAN_PSD, .damping_jacobian = DRAPE_DAMPING_SYMMETRIC};
}

/* ---- creation ---- */

static drape_status count_pieces(drape_context *ctx, const drape_piece *pieces, int32_t count, drape_cloth *c) {
    int64_t vertices = 0, triangles = 0;
    if (count < 1) return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "a cloth needs at least one piece");
    for (int32_t i = 0; i < count; i++) {
        drape_status status = drape_i_piece_check(ctx, i, &pieces[i]);
        if (status) return status;
        vertices += pieces[i].vertices;
        triangles += pieces[i].triangles;
    }
    if (vertices > INT32_MAX / 4 || triangles > INT32_MAX / 4)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%lld vertices and %lld triangles are too many",
                            (long long)vertices, (long long)triangles);
    c->vertices = (int32_t)vertices;
    c->triangles = (int32_t)triangles;
    return DRAPE_OK;
}

/* Numbers of the pieces' first vertices and triangles, and their names. */
static drape_status place_pieces(drape_cloth *c, const drape_piece *pieces, int32_t count) {
    if (!DRAPE_NEW(c->ctx, c->piece, count)) return DRAPE_ERROR_MEMORY;
    c->piece_count = count;
    int32_t vertex = 0, triangle = 0;
    for (int32_t p = 0; p < count; p++) {
        const char *name = pieces[p].name ? pieces[p].name : "cloth";
        char *copy = drape_i_arena_get(c->ctx, &c->names, (int64_t)strlen(name) + 1, 1);
        if (!copy) return DRAPE_ERROR_MEMORY;
        memcpy(copy, name, strlen(name));
        c->piece[p] = (drape_piece_range){copy, vertex, pieces[p].vertices, triangle, pieces[p].triangles};
        vertex += pieces[p].vertices;
        triangle += pieces[p].triangles;
    }
    return DRAPE_OK;
}

/* Rest positions and triangles, numbered over all pieces. */
static drape_status copy_pieces(drape_cloth *c, const drape_piece *pieces, int32_t *piece_of) {
    for (int32_t p = 0; p < c->piece_count; p++) {
        size_t numbers = 3 * (size_t)pieces[p].vertices;
        if (numbers > 0)
            memcpy(c->rest + 3 * (int64_t)c->piece[p].first_vertex, pieces[p].rest, numbers * sizeof *c->rest);
        for (int32_t i = 0; i < pieces[p].triangles; i++) {
            int32_t t = c->piece[p].first_triangle + i;
            piece_of[t] = p;
            for (int32_t k = 0; k < 3; k++)
                c->triangle[t][k] = c->piece[p].first_vertex + pieces[p].triangle[3 * (int64_t)i + k];
            drape_status status = drape_i_rest_triangle_find(c->ctx, p, &pieces[p], i, &c->rest_triangle[t]);
            if (status) return status;
        }
    }
    return DRAPE_OK;
}

/* Hinges never join pieces, so a hinge's numbers within its piece are its own less the piece's first. */
static void find_rest_hinges(const drape_cloth *c, const drape_piece *pieces, const int32_t *piece_of,
                             drape_i_rest_hinge *rest) {
    for (int32_t i = 0; i < c->hinges.count; i++) {
        const int32_t *t = c->hinges.triangle[i];
        int32_t p = piece_of[t[0]], nodes[4], triangles[2];
        for (int32_t k = 0; k < 4; k++) nodes[k] = c->hinges.node[i][k] - c->piece[p].first_vertex;
        for (int32_t k = 0; k < 2; k++) triangles[k] = t[k] - c->piece[p].first_triangle;
        drape_i_rest_hinge_find(&pieces[p], nodes, triangles,
                                c->rest_triangle[t[0]].area + c->rest_triangle[t[1]].area, &rest[i]);
    }
}

/* Lumped: a third of each triangle's area goes to each corner. */
static drape_status lump_masses(drape_cloth *c, const drape_piece *pieces, const int32_t *piece_of) {
    for (int32_t t = 0; t < c->triangles; t++)
        for (int32_t k = 0; k < 3; k++) {
            double third = c->rest_triangle[t].area / 3;
            c->area[c->triangle[t][k]] += third;
            c->mass[c->triangle[t][k]] +=
                drape_i_piece_material(&pieces[piece_of[t]], t - c->piece[piece_of[t]].first_triangle)->density *
                third;
        }
    for (int32_t p = 0, i = 0; p < c->piece_count; p++)
        for (int32_t k = 0; k < pieces[p].vertices; k++, i++) {
            if (pieces[p].mass) c->mass[i] = pieces[p].mass[k];
            if (!(c->mass[i] > 0))
                return drape_i_fail(c->ctx, DRAPE_ERROR_ARGUMENT,
                                    "piece %d: vertex %d belongs to no triangle and has no mass", p, k);
        }
    return DRAPE_OK;
}

static drape_status make_model(drape_cloth *c, const drape_piece *pieces, const int32_t *piece_of) {
    drape_context *ctx = c->ctx;
    drape_i_rest_hinge *rest;
    const drape_material **material = NULL;
    if (!DRAPE_NEW(ctx, rest, c->hinges.count) || !DRAPE_NEW(ctx, material, c->triangles)) {
        DRAPE_FREE(ctx, rest, c->hinges.count);
        return DRAPE_ERROR_MEMORY;
    }
    find_rest_hinges(c, pieces, piece_of, rest);
    for (int32_t t = 0; t < c->triangles; t++)
        material[t] = drape_i_piece_material(&pieces[piece_of[t]], t - c->piece[piece_of[t]].first_triangle);
    drape_i_model_input input = {.triangles = c->triangles,
                                 .vertices = c->vertices,
                                 .piece_count = c->piece_count,
                                 .area = c->area,
                                 .triangle = (const int32_t(*)[3])c->triangle,
                                 .hinges = &c->hinges,
                                 .rest_triangle = c->rest_triangle,
                                 .rest_hinge = rest,
                                 .piece_of_triangle = piece_of,
                                 .pieces = pieces,
                                 .material = material,
                                 .membrane = c->settings.membrane};
    bool *covered = NULL;
    drape_status status = DRAPE_OK;
    if (c->settings.bending == DRAPE_BENDING_PATCH) {
        if (DRAPE_NEW(ctx, covered, c->hinges.count))
            status = drape_i_patch_create(ctx, &input, covered, &c->bending);
        else status = DRAPE_ERROR_MEMORY;
        input.covered = covered;
    }
    if (!status && c->settings.membrane == DRAPE_MEMBRANE_NODAL)
        status = drape_i_nodal_create(ctx, &input, &c->membrane);
    if (!status) status = c->model->create(ctx, &input, c->terms, &c->term_count, &c->model_state);
    DRAPE_FREE(ctx, covered, c->hinges.count);
    DRAPE_ASSERT(c->term_count >= 0 && c->term_count <= DRAPE_I_MODEL_TERMS);
    DRAPE_FREE(ctx, rest, c->hinges.count);
    DRAPE_FREE(ctx, material, c->triangles);
    return status;
}

static bool has_linear_jacobian(const drape_i_model *model) { return model->linear_jacobian; }
static bool has_strain_limit(const drape_i_model *model) { return model->strain_limit; }
static bool has_triangles(const drape_i_model *model) { return model->bending != DRAPE_BENDING_OF_MODEL; }

static drape_status refuse_model(const drape_cloth *c, const char *what, bool (*has)(const drape_i_model *model)) {
    char names[256];
    drape_i_model_list(has, names, sizeof names);
    return drape_i_fail(c->ctx, DRAPE_ERROR_ARGUMENT, "the model %s has no %s; these have one: %s", c->model->name,
                        what, names);
}

static void note_material(drape_cloth *c, const drape_material *m) {
    c->limited |= m->strain_limit > 0;
    c->stiffens |= m->stretch_stiff[0] > 0 || m->stretch_stiff[1] > 0 || m->shear_stiff > 0;
    c->damped |= m->damping_stretch > 0 || m->damping_shear > 0 || m->damping_bend > 0;
}

/* Not every model has everything that can be asked for. */
static drape_status check_model(drape_cloth *c, const drape_piece *pieces, int32_t count) {
    if (c->settings.jacobian == DRAPE_JACOBIAN_LINEAR && !has_linear_jacobian(c->model))
        return refuse_model(c, "linear jacobian", has_linear_jacobian);
    for (int32_t p = 0; p < count; p++) {
        note_material(c, &pieces[p].material);
        for (int32_t i = 0; pieces[p].materials && i < pieces[p].material_count; i++)
            note_material(c, &pieces[p].materials[i]);
    }
    if (c->stiffens && !has_triangles(c->model))
        return refuse_model(c, "stiffness that rises with strain", has_triangles);
    return c->limited && !has_strain_limit(c->model) ? refuse_model(c, "strain_limit", has_strain_limit) : DRAPE_OK;
}

static drape_status build(drape_cloth *c, const drape_piece *pieces, int32_t count) {
    drape_context *ctx = c->ctx;
    drape_status status = count_pieces(ctx, pieces, count, c);
    if (!status) status = check_model(c, pieces, count);
    if (status) return status;
    int32_t *piece_of;
    if (!DRAPE_NEW(ctx, piece_of, c->triangles)) return DRAPE_ERROR_MEMORY;
    status = DRAPE_ERROR_MEMORY;
    if (!place_pieces(c, pieces, count) && DRAPE_NEW(ctx, c->triangle, c->triangles) &&
        DRAPE_NEW(ctx, c->rest_triangle, c->triangles) && DRAPE_NEW(ctx, c->mass, c->vertices) &&
        DRAPE_NEW(ctx, c->area, c->vertices) && DRAPE_NEW(ctx, c->rest, 3 * (int64_t)c->vertices))
        status = copy_pieces(c, pieces, piece_of);
    if (!status) status = drape_i_hinges_find(ctx, c->triangles, (const int32_t(*)[3])c->triangle, &c->hinges);
    if (!status) status = lump_masses(c, pieces, piece_of);
    if (!status) status = make_model(c, pieces, piece_of);
    DRAPE_FREE(ctx, piece_of, c->triangles);
    return status;
}

/* Membrane and bending, where the model has a choice of them. */
static drape_status resolve_sheet(drape_cloth *c) {
    drape_cloth_settings *s = &c->settings;
    if (!drape_bending_name(s->bending) || !drape_membrane_name(s->membrane))
        return drape_i_fail(
            c->ctx, DRAPE_ERROR_ARGUMENT,
            "cloth: bending is %d and membrane is %d; take values of drape_bending and drape_membrane",
            (int)s->bending, (int)s->membrane);
    if (s->bending != DRAPE_BENDING_OF_MODEL && !has_triangles(c->model))
        return refuse_model(c, "choice of bending", has_triangles);
    if (s->membrane != DRAPE_MEMBRANE_OF_MODEL && !has_triangles(c->model))
        return refuse_model(c, "choice of membrane", has_triangles);
    if (s->bending == DRAPE_BENDING_OF_MODEL) s->bending = c->model->bending;
    if (s->membrane == DRAPE_MEMBRANE_OF_MODEL) s->membrane = c->model->membrane;
    return DRAPE_OK;
}

static drape_status resolve_settings(drape_cloth *c, const drape_cloth_settings *settings) {
    drape_context *ctx = c->ctx;
    char names[256];
    c->settings = settings ? *settings : drape_cloth_defaults();
    c->model = drape_i_model_find(c->settings.model);
    drape_status status = drape_i_check_reserved(ctx, "drape_cloth_settings", c->settings.reserved, 7);
    if (status) return status;
    if (!drape_jacobian_name(c->settings.jacobian) || !drape_damping_jacobian_name(c->settings.damping_jacobian))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "cloth: jacobian is %d and damping_jacobian is %d; use values of drape_jacobian and "
                            "drape_damping_jacobian",
                            (int)c->settings.jacobian, (int)c->settings.damping_jacobian);
    if (c->model) {
        c->settings.model = c->model->name;
        return resolve_sheet(c);
    }
    drape_i_model_list(NULL, names, sizeof names);
    return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "unknown model \"%s\"; known: %s", c->settings.model, names);
}

drape_status drape_cloth_create(drape_context *ctx, const drape_piece *pieces, int32_t piece_count,
                                const drape_cloth_settings *settings, drape_cloth **out) {
    drape_cloth *c;
    if (out) *out = NULL;
    if (!ctx) return DRAPE_ERROR_ARGUMENT;
    if (!out || (!pieces && piece_count > 0))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "cloth: the %s is NULL", out ? "list of pieces" : "result");
    if (!DRAPE_NEW(ctx, c, 1)) return DRAPE_ERROR_MEMORY;
    c->ctx = ctx;
    drape_status status = resolve_settings(c, settings);
    if (!status) status = build(c, pieces, piece_count);
    if (status) drape_cloth_destroy(c);
    else *out = c;
    return status;
}

void drape_cloth_destroy(drape_cloth *c) {
    if (!c) return;
    drape_context *ctx = c->ctx;
    if (c->model) c->model->destroy(ctx, c->model_state);
    drape_i_quadratic_destroy(ctx, c->bending);
    drape_i_nodal_destroy(ctx, c->membrane);
    drape_i_hinges_clear(ctx, &c->hinges);
    DRAPE_FREE(ctx, c->rest, 3 * (int64_t)c->vertices);
    DRAPE_FREE(ctx, c->area, c->vertices);
    DRAPE_FREE(ctx, c->mass, c->vertices);
    DRAPE_FREE(ctx, c->rest_triangle, c->triangles);
    DRAPE_FREE(ctx, c->triangle, c->triangles);
    DRAPE_FREE(ctx, c->piece, c->piece_count);
    drape_i_arena_free(ctx, &c->names);
    DRAPE_FREE(ctx, c, 1);
}

/* ---- looking at it ---- */

int32_t drape_cloth_pieces(const drape_cloth *c) { return c ? c->piece_count : 0; }
int32_t drape_cloth_vertices(const drape_cloth *c) { return c ? c->vertices : 0; }
int32_t drape_cloth_triangles(const drape_cloth *c) { return c ? c->triangles : 0; }
int32_t drape_cloth_hinges(const drape_cloth *c) { return c ? c->hinges.count : 0; }
const int32_t *drape_cloth_triangle(const drape_cloth *c) { return c ? c->triangle[0] : NULL; }
const int32_t *drape_cloth_hinge(const drape_cloth *c) { return c ? c->hinges.node[0] : NULL; }
const double *drape_cloth_rest(const drape_cloth *c) { return c ? c->rest : NULL; }
const double *drape_cloth_mass(const drape_cloth *c) { return c ? c->mass : NULL; }
const double *drape_cloth_area(const drape_cloth *c) { return c ? c->area : NULL; }

const drape_piece_range *drape_cloth_piece(const drape_cloth *c, int32_t index) {
    return c && index >= 0 && index < c->piece_count ? &c->piece[index] : NULL;
}

/* ---- numbers about a state ---- */

typedef struct energy_job {
    drape_i_energy_fn kernel;
    const void *data;
    const drape_i_evaluation *at;
} energy_job;

/* Chunks start at multiples of eight, so element e always sums into lane e modulo 8. */
static void sum_energy(void *data, int64_t begin, int64_t end, double *sums) {
    const energy_job *job = data;
    double lanes[DRAPE_I_LANES] = {0}, energy[DRAPE_I_LANES];
    for (int64_t first = begin; first < end; first += DRAPE_I_LANES) {
        int32_t elements[DRAPE_I_LANES];
        for (int32_t l = 0; l < DRAPE_I_LANES; l++) elements[l] = (int32_t)(first + l < end ? first + l : end - 1);
        job->kernel(job->data, job->at, elements, energy);
        for (int32_t l = 0; l < DRAPE_I_LANES && first + l < end; l++) lanes[l] += energy[l];
    }
    for (int32_t l = 0; l < DRAPE_I_LANES; l++) sums[0] += lanes[l];
}

double drape_i_term_sum(drape_context *ctx, const drape_i_term *term, const drape_i_energy_fn *kernel,
                        const drape_i_evaluation *at) {
    if (!kernel) return 0;
    energy_job job = {kernel[ctx->simd], term->data, at};
    double sum;
    drape_i_sum(ctx, term->elements.count, DRAPE_I_GRAIN, sum_energy, &job, 1, &sum);
    return sum;
}

double drape_i_terms_energy(drape_context *ctx, const drape_i_term *terms, int32_t count,
                            const drape_i_evaluation *at) {
    double total = 0;
    for (int32_t t = 0; t < count; t++) total += drape_i_term_sum(ctx, &terms[t], terms[t].energy, at);
    return total;
}

double drape_cloth_energy(const drape_cloth *c, const double *x) {
    const drape_i_evaluation at = {.x = x};
    if (!c || !x) return 0;
    double energy = drape_i_terms_energy(c->ctx, c->terms, c->term_count, &at);
    if (c->membrane) energy += drape_i_nodal_energy(c->ctx, c->membrane, &at);
    return c->bending ? energy + drape_i_quadratic_energy(c->ctx, c->bending, x) : energy;
}

typedef struct stretch_job {
    const drape_cloth *cloth;
    const double *x;
    int64_t chunk;
    double largest[DRAPE_I_CHUNKS]; /* of each chunk; the order of a maximum does not matter */
} stretch_job;

static double squared_length(const double *x, const int32_t *corner, const double *d) {
    double sum = 0;
    for (int32_t k = 0; k < 3; k++) {
        double w = d[0] * x[3 * (int64_t)corner[0] + k] + d[1] * x[3 * (int64_t)corner[1] + k] +
                   d[2] * x[3 * (int64_t)corner[2] + k];
        sum += w * w;
    }
    return sum;
}

static void find_stretch(void *data, int64_t begin, int64_t end) {
    stretch_job *job = data;
    double largest = 0;
    for (int64_t t = begin; t < end; t++) {
        const drape_i_rest_triangle *rest = &job->cloth->rest_triangle[t];
        double u = squared_length(job->x, job->cloth->triangle[t], rest->du);
        double v = squared_length(job->x, job->cloth->triangle[t], rest->dv);
        if (u > largest) largest = u; /* not fmax: a call each, and each waits for the one before */
        if (v > largest) largest = v;
    }
    job->largest[begin / job->chunk] = largest;
}

int32_t drape_i_cloth_longest(const drape_cloth *c, const double *x) {
    int32_t longest = 0;
    double most = -1;
    for (int32_t t = 0; t < c->triangles; t++) {
        double u = squared_length(x, c->triangle[t], c->rest_triangle[t].du);
        double v = squared_length(x, c->triangle[t], c->rest_triangle[t].dv);
        if (fmax(u, v) > most) most = fmax(u, v), longest = t;
    }
    return longest;
}

double drape_cloth_stretch(const drape_cloth *c, const double *x) {
    if (!c || !x) return 0;
    stretch_job job = {.cloth = c, .x = x, .chunk = drape_i_chunk_length(c->triangles, DRAPE_I_GRAIN)};
    double largest = 0;
    drape_i_loop(c->ctx, c->triangles, DRAPE_I_GRAIN, find_stretch, &job);
    for (int32_t i = 0; i < DRAPE_I_CHUNKS; i++) largest = fmax(largest, job.largest[i]);
    return sqrt(largest);
}
