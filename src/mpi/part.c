/* part.c: the part of a scene that belongs to a process, cut out of what it read. A process
 * keeps all triangles that touch its own vertices, and all that touch those: two rings of copies. So every
 * element that moves an own vertex is there, with everything that its rest shape depends on. The cloth code assembles
 * the own rows as it would in the whole cloth. Vertices keep their order. */
#include "mpi/part.h"

#include "sim/sim.h"

#include <string.h>

enum { OWN = 1, NEAR = 2, HERE = 4 };

/* The scene as it was read, and what becomes of its vertices. */
typedef struct division {
    const drape_scene *whole;
    const drape_i_scene_parts *parts;
    drape_i_part *part;
    int64_t *first; /* piece_count + 1: vertices of the pieces before */
    int64_t count;  /* vertices that were read */
    uint8_t *mark;  /* one per vertex */
    int32_t *local; /* likewise: its number in the part; -1: it is not there */
    int32_t *entry; /* of each vertex of the part: where in a checkpoint the next of its pins is */
} division;

static void *get(drape_i_part *p, int64_t count, size_t size) {
    return drape_i_arena_get(p->ctx, &p->arena, count > 0 ? count : 1, size);
}

/* ---- Which vertices ---- */

/* Vertices of all triangles with a corner of mark `from` get mark `to`. */
static void spread_mark(division *d, uint8_t from, uint8_t to) {
    for (int32_t p = 0; p < d->whole->piece_count; p++) {
        const drape_piece *piece = &d->whole->pieces[p];
        for (int64_t t = 0; t < piece->triangles; t++) {
            uint8_t *corner[3];
            for (int32_t k = 0; k < 3; k++) corner[k] = &d->mark[d->first[p] + piece->triangle[3 * t + k]];
            if ((*corner[0] | *corner[1] | *corner[2]) & from)
                for (int32_t k = 0; k < 3; k++) *corner[k] |= to;
        }
    }
}

static bool is_kept(const division *d, int32_t p, const int32_t *corner) {
    const uint8_t *mark = d->mark + d->first[p];
    return (mark[corner[0]] | mark[corner[1]] | mark[corner[2]]) & (OWN | NEAR);
}

/* Both ascend. False where a vertex was not read, which cannot be unless the files change meanwhile. */
static bool mark_own(division *d, const drape_i_owners *owners) {
    int64_t v = 0;
    for (int32_t i = 0; i < owners->count; i++, v++) {
        while (v < d->count && d->parts->number[v] < owners->row[i]) v++;
        if (v == d->count || d->parts->number[v] != owners->row[i]) return false;
        d->mark[v] = OWN;
    }
    return true;
}

static drape_status number_vertices(division *d, const drape_i_owners *owners) {
    drape_i_part *p = d->part;
    int32_t count = 0, own = 0;
    if (!mark_own(d, owners))
        return drape_i_fail(p->ctx, DRAPE_ERROR_FORMAT, "the scene or its files changed while they were read");
    spread_mark(d, OWN, NEAR);
    spread_mark(d, OWN | NEAR, HERE);
    for (int64_t v = 0; v < d->count; v++) d->local[v] = d->mark[v] ? count++ : -1;
    p->vertices.vertices = count;
    p->vertices.own_count = owners->count;
    p->row = get(p, count, sizeof *p->row);
    p->original = get(p, count, sizeof *p->original);
    int32_t *list = get(p, owners->count, sizeof *list), *number = get(p, count, sizeof *number);
    if (!p->row || !p->original || !list || !number) return DRAPE_ERROR_MEMORY;
    for (int32_t piece = 0; piece < d->whole->piece_count; piece++)
        for (int64_t v = d->first[piece]; v < d->first[piece + 1]; v++) {
            if (d->local[v] < 0) continue;
            p->row[d->local[v]] = d->parts->number[v];
            p->original[d->local[v]] = d->parts->number[v] - d->parts->piece[piece].first;
            if (d->mark[v] & OWN) list[own++] = d->local[v];
        }
    p->vertices.own = list;
    p->vertices.number = number;
    return DRAPE_OK;
}

/* Runs of own vertices, as numbers of x. */
static drape_status list_ranges(drape_i_part *p) {
    const int32_t *own = p->vertices.own, count = p->vertices.own_count;
    p->range = get(p, 2 * (int64_t)count, sizeof *p->range);
    if (!p->range) return DRAPE_ERROR_MEMORY;
    for (int32_t i = 0; i < count; i++) {
        if (i == 0 || own[i] != own[i - 1] + 1) p->range[2 * (int64_t)p->range_count++] = 3 * (int64_t)own[i];
        p->range[2 * (int64_t)p->range_count - 1] = 3 * (int64_t)own[i] + 3;
    }
    return DRAPE_OK;
}

/* ---- Pieces ---- */

/* `unit` numbers of each vertex of a piece that is here, or of all pieces where piece is -1. */
static double *slice(const division *d, int32_t piece, int32_t unit, const double *from) {
    const int64_t begin = piece < 0 ? 0 : d->first[piece];
    const int64_t end = piece < 0 ? d->count : d->first[piece + 1];
    int64_t count = 0;
    for (int64_t v = begin; v < end; v++) count += d->local[v] >= 0;
    double *to = get(d->part, unit * count, sizeof *to), *at = to;
    for (int64_t v = begin; to && v < end; v++)
        if (d->local[v] >= 0) {
            memcpy(at, from + unit * (v - begin), (size_t)unit * sizeof *at);
            at += unit;
        }
    return to;
}

/* A pattern with vertices of its own: those that the triangles here use. */
static drape_status cut_pattern(const division *d, int32_t p, drape_piece *piece) {
    const drape_piece *whole = &d->whole->pieces[p];
    drape_context *ctx = d->part->ctx;
    int32_t *number, count = 0;
    if (!DRAPE_NEW(ctx, number, whole->uv_vertices)) return DRAPE_ERROR_MEMORY;
    int32_t *triangle = get(d->part, 3 * (int64_t)piece->triangles, sizeof *triangle);
    int64_t at = 0;
    for (int64_t t = 0; triangle && t < whole->triangles; t++)
        for (int32_t k = 0; k < 3 && is_kept(d, p, whole->triangle + 3 * t); k++) {
            int32_t *n = &number[whole->uv_triangle[3 * t + k]];
            if (*n == 0) *n = ++count;
            triangle[at++] = *n - 1;
        }
    double *uv = get(d->part, 2 * (int64_t)count, sizeof *uv);
    for (int64_t i = 0; uv && i < whole->uv_vertices; i++)
        if (number[i] > 0) memcpy(uv + 2 * (int64_t)(number[i] - 1), whole->uv + 2 * i, 2 * sizeof *uv);
    DRAPE_FREE(ctx, number, whole->uv_vertices);
    piece->uv = uv;
    piece->uv_triangle = triangle;
    piece->uv_vertices = count;
    return uv && triangle ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

static drape_status cut_triangles(const division *d, int32_t p, int32_t before, drape_piece *piece) {
    const drape_piece *whole = &d->whole->pieces[p];
    int64_t at = 0;
    piece->triangles = 0;
    for (int64_t t = 0; t < whole->triangles; t++) piece->triangles += is_kept(d, p, whole->triangle + 3 * t);
    int32_t *triangle = get(d->part, 3 * (int64_t)piece->triangles, sizeof *triangle);
    int32_t *material = get(d->part, piece->triangles, sizeof *material);
    drape_material *materials = get(d->part, whole->materials ? whole->material_count : 0, sizeof *materials);
    if (!triangle || !material || !materials) return DRAPE_ERROR_MEMORY;
    if (whole->materials && whole->material_of) {
        memcpy(materials, whole->materials, (size_t)whole->material_count * sizeof *materials);
        for (int64_t t = 0, next = 0; t < whole->triangles; t++)
            if (is_kept(d, p, whole->triangle + 3 * t)) material[next++] = whole->material_of[t];
        piece->materials = materials, piece->material_of = material;
    }
    for (int64_t t = 0; t < whole->triangles; t++)
        for (int32_t k = 0; k < 3 && is_kept(d, p, whole->triangle + 3 * t); k++)
            triangle[at++] = d->local[d->first[p] + whole->triangle[3 * t + k]] - before;
    piece->triangle = triangle;
    return DRAPE_OK;
}

static char *copy_text(drape_i_part *p, const char *text) {
    char *copy = get(p, (int64_t)strlen(text) + 1, 1);
    if (copy) strcpy(copy, text);
    return copy;
}

static drape_status cut_piece(const division *d, int32_t p, int32_t before, drape_piece *piece) {
    const drape_piece *whole = &d->whole->pieces[p];
    *piece = *whole;
    piece->appearance = NULL;
    piece->name = copy_text(d->part, whole->name ? whole->name : "cloth");
    piece->vertices = 0;
    for (int64_t v = d->first[p]; v < d->first[p + 1]; v++) piece->vertices += d->local[v] >= 0;
    piece->rest = slice(d, p, 3, whole->rest);
    if (whole->mass) piece->mass = slice(d, p, 1, whole->mass);
    if (whole->uv && !whole->uv_triangle) piece->uv = slice(d, p, 2, whole->uv);
    if (!piece->name || !piece->rest || (whole->mass && !piece->mass) || (whole->uv && !piece->uv))
        return DRAPE_ERROR_MEMORY;
    drape_status status = cut_triangles(d, p, before, piece);
    if (!status && whole->uv && whole->uv_triangle) status = cut_pattern(d, p, piece);
    return status;
}

/* Pieces without a vertex here are left out. */
static drape_status cut_pieces(const division *d, drape_scene *scene) {
    int32_t before = 0;
    drape_status status = DRAPE_OK;
    scene->pieces = get(d->part, d->whole->piece_count, sizeof *scene->pieces);
    scene->piece_count = 0;
    if (!scene->pieces) return DRAPE_ERROR_MEMORY;
    for (int32_t p = 0; p < d->whole->piece_count && !status; p++) {
        drape_piece *piece = &scene->pieces[scene->piece_count];
        status = cut_piece(d, p, before, piece);
        before += piece->vertices;
        scene->piece_count += piece->vertices > 0;
    }
    return status;
}

/* ---- Pins ---- */

/* Frames hold a point per vertex of the pin, frame by frame. */
static drape_status cut_frames(const division *d, const drape_pin *whole, drape_pin *pin) {
    const drape_motion_path *from = whole->motion.path;
    drape_motion_path *path = get(d->part, 1, sizeof *path);
    if (!path) return DRAPE_ERROR_MEMORY;
    *path = *from;
    drape_motion_pose *pose = get(d->part, from->poses, sizeof *pose);
    double *time = get(d->part, from->frames, sizeof *time);
    double *frame = get(d->part, 3 * (int64_t)from->frames * pin->count, sizeof *frame), *to = frame;
    if (!pose || !time || !frame) return DRAPE_ERROR_MEMORY;
    if (from->pose) memcpy(pose, from->pose, (size_t)from->poses * sizeof *pose);
    if (from->frame_time) memcpy(time, from->frame_time, (size_t)from->frames * sizeof *time);
    for (int64_t f = 0; f < from->frames; f++)
        for (int64_t i = 0; i < whole->count; i++) {
            if (d->local[whole->vertices[i]] < 0) continue;
            memcpy(to, from->frame + 3 * (f * whole->count + i), 3 * sizeof *to);
            to += 3;
        }
    path->pose = pose;
    path->frame_time = time;
    path->frame = frame;
    pin->motion.path = path;
    return DRAPE_OK;
}

static drape_status cut_pin(const division *d, const drape_pin *whole, drape_pin *pin) {
    drape_i_part *p = d->part;
    int32_t *list = get(p, whole->count, sizeof *list);
    drape_motion_key *key = get(p, whole->motion.key_count, sizeof *key);
    if (!list || !key) return DRAPE_ERROR_MEMORY;
    *pin = *whole;
    pin->count = 0;
    for (int64_t i = 0; i < whole->count; i++) {
        if (d->local[whole->vertices[i]] < 0) continue;
        list[pin->count++] = d->local[whole->vertices[i]];
        p->pinned[p->pinned_count++] = d->entry[d->local[whole->vertices[i]]]++;
    }
    pin->vertices = list;
    if (whole->motion.key) memcpy(key, whole->motion.key, (size_t)whole->motion.key_count * sizeof *key);
    pin->motion.key = key;
    return whole->motion.path ? cut_frames(d, whole, pin) : DRAPE_OK;
}

static drape_status cut_pins(const division *d, drape_scene *scene) {
    drape_i_part *p = d->part;
    drape_status status = DRAPE_OK;
    int64_t most = 0;
    for (int32_t i = 0; i < d->whole->pin_count; i++) most += d->whole->pins[i].count;
    scene->pins = get(p, d->whole->pin_count, sizeof *scene->pins);
    p->pinned = get(p, most, sizeof *p->pinned);
    scene->pin_count = 0;
    if (!scene->pins || !p->pinned) return DRAPE_ERROR_MEMORY;
    for (int32_t i = 0; i < d->whole->pin_count && !status; i++) {
        drape_pin *pin = &scene->pins[scene->pin_count];
        status = cut_pin(d, &d->whole->pins[i], pin);
        scene->pin_count += pin->count > 0;
    }
    return status;
}

/* ---- The rest ---- */

static drape_status cut_forces(const division *d, drape_scene *scene) {
    drape_i_part *p = d->part;
    const drape_forces *whole = &d->whole->forces;
    if (whole->vertex && !(scene->forces.vertex = slice(d, -1, 3, whole->vertex))) return DRAPE_ERROR_MEMORY;
    if (d->whole->velocity && !(scene->velocity = slice(d, -1, 3, d->whole->velocity))) return DRAPE_ERROR_MEMORY;
    if (d->whole->start && !(scene->start = slice(d, -1, 3, d->whole->start))) return DRAPE_ERROR_MEMORY;
    if (!whole->variation) return DRAPE_OK;
    drape_wind_variation *wind = get(p, 1, sizeof *wind);
    drape_wind_key *key = get(p, whole->variation->key_count, sizeof *key);
    if (!wind || !key) return DRAPE_ERROR_MEMORY;
    *wind = *whole->variation;
    if (wind->key) memcpy(key, wind->key, (size_t)wind->key_count * sizeof *key);
    wind->key = key;
    scene->forces.variation = wind;
    return DRAPE_OK;
}

static drape_status copy_texts(const division *d, drape_scene *scene) {
    static const char *const methods[] = {DRAPE_LINEARISED_EULER, DRAPE_PREVIEW, "implicit-euler", "bdf2"};
    drape_i_part *p = d->part;
    const char *method = scene->integration.ode.method;
    for (size_t i = 0; method && i < sizeof methods / sizeof *methods; i++)
        if (strcmp(method, methods[i]) == 0) scene->integration.ode.method = methods[i];
    if (scene->cloth.model && !(scene->cloth.model = copy_text(p, scene->cloth.model))) return DRAPE_ERROR_MEMORY;
    scene->solve.method = "ppcg"; /* of a solver that is never used */
    scene->solve.precond = "block_diagonal";
    scene->solve.direct = NULL;
    scene->colliders = NULL;
    scene->contact = NULL;
    p->output = get(p, scene->output_count, sizeof *p->output);
    scene->name = scene->name ? copy_text(p, scene->name) : NULL;
    for (int32_t i = 0; p->output && i < scene->output_count; i++)
        if (!(p->output[i] = copy_text(p, scene->output[i]))) return DRAPE_ERROR_MEMORY;
    scene->output = (const char *const *)p->output;
    return p->output ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

static drape_status cut_vertices(division *d, const drape_i_owners *owners) {
    drape_status status = number_vertices(d, owners);
    if (!status) status = list_ranges(d->part);
    if (!status && !DRAPE_NEW(d->part->ctx, d->entry, d->part->vertices.vertices)) status = DRAPE_ERROR_MEMORY;
    return status;
}

static drape_status cut_scene(division *d) {
    drape_scene *scene = &d->part->scene;
    *scene = *d->whole;
    drape_status status = cut_pieces(d, scene);
    if (!status) status = cut_pins(d, scene);
    if (!status) status = cut_forces(d, scene);
    return status ? status : copy_texts(d, scene);
}

/* New numbers of all vertices here, and where their pins are in checkpoints; those of copies are asked for. */
static PetscErrorCode find_numbers(division *d, const drape_i_division *from) {
    const drape_i_part *p = d->part;
    PetscFunctionBeginUser;
    PetscCall(drape_i_fetch_ints(p->comm, p->all, from->owners.fresh, p->vertices.vertices, p->row,
                                 (int32_t *)p->vertices.number));
    PetscCall(drape_i_fetch_ints(p->comm, p->all, from->entry, p->vertices.vertices, p->row, d->entry));
    PetscFunctionReturn(0);
}

static drape_status allocate(division *d) {
    drape_context *ctx = d->part->ctx;
    if (!DRAPE_NEW(ctx, d->first, (int64_t)d->whole->piece_count + 1)) return DRAPE_ERROR_MEMORY;
    for (int32_t p = 0; p < d->whole->piece_count; p++) d->first[p + 1] = d->first[p] + d->whole->pieces[p].vertices;
    d->count = d->first[d->whole->piece_count];
    if (!DRAPE_NEW(ctx, d->mark, d->count) || !DRAPE_NEW(ctx, d->local, d->count)) return DRAPE_ERROR_MEMORY;
    return DRAPE_OK;
}

/* Corners out of range are refused here: drape_cloth_create, which checks all else, comes too late. */
static drape_status check_corners(drape_context *ctx, const drape_scene *scene) {
    for (int32_t p = 0; p < scene->piece_count; p++) {
        const drape_piece *piece = &scene->pieces[p];
        for (int64_t k = 0; k < 3 * (int64_t)piece->triangles; k++)
            if (piece->triangle[k] < 0 || piece->triangle[k] >= piece->vertices)
                return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                                    "piece %d: triangle %lld has a corner %d of %d vertices", p, (long long)(k / 3),
                                    piece->triangle[k], piece->vertices);
    }
    return DRAPE_OK;
}

drape_status drape_i_part_cut(drape_context *ctx, MPI_Comm comm, const drape_loaded_scene *loaded,
                              const drape_i_division *division_of, drape_i_part *out) {
    *out =
        (drape_i_part){.ctx = ctx, .comm = comm, .all = loaded->parts.vertices, .all_pinned = division_of->entries};
    division d = {.whole = &loaded->scene, .parts = &loaded->parts, .part = out};
    drape_status status = check_corners(ctx, d.whole);
    if (!status) status = allocate(&d);
    if (!status) status = cut_vertices(&d, &division_of->owners);
    status = drape_petsc_agree(ctx, comm, status);
    if (!status) status = drape_i_petsc_status(ctx, find_numbers(&d, division_of));
    if (!status) status = drape_petsc_agree(ctx, comm, cut_scene(&d));
    if (!status) status = drape_i_part_hash(out, d.whole, &out->hash);
    DRAPE_FREE(ctx, d.first, (int64_t)d.whole->piece_count + 1);
    DRAPE_FREE(ctx, d.mark, d.count);
    DRAPE_FREE(ctx, d.local, d.count);
    DRAPE_FREE(ctx, d.entry, out->vertices.vertices);
    if (status) drape_i_part_free(out);
    return status;
}

void drape_i_part_free(drape_i_part *p) {
    if (p->ctx) drape_i_arena_free(p->ctx, &p->arena);
    *p = (drape_i_part){0};
}
