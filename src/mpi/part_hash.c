/* part_hash.c: a number of a scene of which every process has a part. */
#include "base/file.h"
#include "mpi/part.h"

#include "sim/sim.h"

static uint64_t reals(uint64_t hash, const double *values, int64_t first, int64_t count) {
    return values ? drape_i_hash(hash, values + first, (size_t)count * sizeof *values) : hash;
}

static bool is_own(const drape_i_part *p, int64_t vertex) {
    const int32_t first = p->vertices.number[p->vertices.own[0]], at = p->vertices.number[vertex];
    return at >= first && at < first + p->vertices.own_count;
}

/* A vertex of the part, number i of its piece. */
static uint64_t hash_vertex(const drape_i_part *p, const drape_piece *piece, int64_t vertex, int64_t i) {
    uint64_t hash = drape_i_hash(DRAPE_I_HASH_SEED, &p->row[vertex], sizeof *p->row);
    hash = reals(reals(hash, piece->rest, 3 * i, 3), piece->mass, i, 1);
    hash = reals(hash, piece->uv_triangle ? NULL : piece->uv, 2 * i, 2);
    hash = reals(reals(hash, p->scene.velocity, 3 * vertex, 3), p->scene.start, 3 * vertex, 3);
    return reals(hash, p->scene.forces.vertex, 3 * vertex, 3);
}

/* Triangle t of a piece whose vertices begin with `before`. */
static uint64_t hash_triangle(const drape_i_part *p, const drape_piece *piece, int64_t before, int64_t t) {
    uint64_t hash = DRAPE_I_HASH_SEED + 1;
    for (int32_t k = 0; k < 3; k++) {
        hash = drape_i_hash(hash, &p->row[before + piece->triangle[3 * t + k]], sizeof *p->row);
        if (piece->uv && piece->uv_triangle)
            hash = reals(hash, piece->uv, 2 * (int64_t)piece->uv_triangle[3 * t + k], 2);
    }
    return piece->material_of ? drape_i_hash(hash, &piece->material_of[t], sizeof *piece->material_of) : hash;
}

/* Entry i of a pin, of which all pins together have `at` before it here. */
static uint64_t hash_pinned(const drape_i_part *p, const drape_pin *pin, int64_t i, int64_t at) {
    uint64_t hash = drape_i_hash(DRAPE_I_HASH_SEED + 2, &p->pinned[at], sizeof *p->pinned);
    hash = drape_i_hash(hash, &p->row[pin->vertices[i]], sizeof *p->row);
    const drape_motion_path *path = pin->motion.path;
    for (int64_t f = 0; path && path->frame && f < path->frames; f++)
        hash = reals(hash, path->frame, 3 * (f * pin->count + i), 3);
    return hash;
}

static uint64_t sum_elements(const drape_i_part *p) {
    uint64_t sum = 0;
    int64_t before = 0, at = 0;
    for (int32_t k = 0; k < p->scene.piece_count; k++) {
        const drape_piece *piece = &p->scene.pieces[k];
        for (int64_t i = 0; i < piece->vertices; i++)
            if (is_own(p, before + i)) sum += hash_vertex(p, piece, before + i, i);
        for (int64_t t = 0; t < piece->triangles; t++)
            if (is_own(p, before + piece->triangle[3 * t])) sum += hash_triangle(p, piece, before, t);
        before += piece->vertices;
    }
    for (int32_t k = 0; k < p->scene.pin_count; k++)
        for (int64_t i = 0; i < p->scene.pins[k].count; i++, at++)
            if (is_own(p, p->scene.pins[k].vertices[i])) sum += hash_pinned(p, &p->scene.pins[k], i, at);
    return sum;
}

/* Everything that is the same on all processes. */
static uint64_t hash_rest(const drape_scene *whole, drape_piece *pieces, drape_pin *pins) {
    drape_scene bare = *whole;
    for (int32_t i = 0; i < whole->piece_count; i++) {
        pieces[i] = whole->pieces[i];
        pieces[i].vertices = pieces[i].triangles = pieces[i].uv_vertices = 0;
    }
    for (int32_t i = 0; i < whole->pin_count; i++) {
        pins[i] = whole->pins[i];
        pins[i].count = 0;
    }
    bare.pieces = pieces;
    bare.pins = pins;
    return drape_i_scene_hash(&bare);
}

drape_status drape_i_part_hash(const drape_i_part *p, const drape_scene *whole, uint64_t *out) {
    drape_piece *pieces = NULL;
    drape_pin *pins = NULL;
    drape_status status = DRAPE_NEW(p->ctx, pieces, whole->piece_count) && DRAPE_NEW(p->ctx, pins, whole->pin_count)
                              ? DRAPE_OK
                              : DRAPE_ERROR_MEMORY;
    status = drape_petsc_agree(p->ctx, p->comm, status);
    if (!status) {
        const uint64_t mine = sum_elements(p);
        MPI_Allreduce(&mine, out, 1, MPI_UINT64_T, MPI_SUM, p->comm);
        *out += hash_rest(whole, pieces, pins);
    }
    DRAPE_FREE(p->ctx, pieces, whole->piece_count);
    DRAPE_FREE(p->ctx, pins, whole->pin_count);
    return status;
}
