/* read.c: a scene read by parts, so that no process holds more of a grid than it needs.
 *
 * It is read three times. The first time without vertices, for their number and for what is refused. Then the
 * vertices of this process' chunk, which are divided by their rest positions. Then windows around its own vertices.
 * What cannot be read by windows (io/scene_reader.h) is there each time as a whole. A scene of such pieces alone is
 * read once.
 *
 * Parts of mesh files know little about what is wrong with all of them. So where anything is, the scene is read again
 * with meshes as a whole, and what that says is the message. */
#include "mpi/part.h"

#include <string.h>

/* Of copies; those of meshes have all their faces, since these say which groups a vertex is in. */
enum { RINGS = 2, MESH_RINGS = RINGS + 1 };

typedef struct reading {
    drape_context *ctx;
    MPI_Comm comm;
    const char *name;
    const drape_scene_options *options;
    drape_loaded_scene *loaded;
    drape_i_window *window; /* one per piece */
    drape_i_irregular_plan *plan;
    drape_i_mesh_choice *choice;
    bool whole_meshes, divides; /* whether meshes must not be divided, and whether one may have been */
    int32_t pieces;
    int64_t all, from, end; /* vertices: of the scene; this process' chunk of them */
} reading;

static drape_status load(reading *r) {
    const drape_i_windows windows = {.window = r->window,
                                     .count = r->pieces,
                                     .plan = r->plan,
                                     .choice = r->choice,
                                     .irregular = drape_i_irregular_window,
                                     .mesh = r->whole_meshes ? NULL : drape_i_mesh_read_part,
                                     .divides = &r->divides};
    drape_loaded_scene_destroy(r->loaded);
    drape_status status = drape_i_scene_load_part(r->ctx, r->name, r->options, &windows, &r->loaded);
    if (!status && r->window && (r->loaded->parts.vertices != r->all || r->loaded->scene.piece_count != r->pieces))
        status = drape_i_fail(r->ctx, DRAPE_ERROR_FORMAT, "%s: the scene changed while it was read", r->name);
    return drape_petsc_agree(r->ctx, r->comm, status);
}

static bool has_windows(const reading *r) {
    for (int32_t p = 0; p < r->pieces; p++)
        if (r->loaded->parts.piece[p].grid || r->loaded->parts.piece[p].mesh) return true;
    return false;
}

static drape_status begin(reading *r) {
    int rank, size;
    drape_status status = load(r);
    if (status) return status;
    MPI_Comm_rank(r->comm, &rank);
    MPI_Comm_size(r->comm, &size);
    r->pieces = r->loaded->scene.piece_count;
    r->all = r->loaded->parts.vertices;
    r->from = drape_i_chunk(r->all, size, rank);
    r->end = drape_i_chunk(r->all, size, rank + 1);
    status = drape_i_part_refuse(r->ctx, &r->loaded->scene);
    if (!status) status = drape_i_petsc_indices(r->ctx, r->name, r->all);
    if (!status && (!DRAPE_NEW(r->ctx, r->window, r->pieces) || !DRAPE_NEW(r->ctx, r->plan, r->pieces) ||
                    !DRAPE_NEW(r->ctx, r->choice, r->pieces)))
        status = DRAPE_ERROR_MEMORY;
    return drape_petsc_agree(r->ctx, r->comm, status);
}

/* ---- The chunk ---- */

/* Whole rows of grids. */
static void choose_chunk(reading *r) {
    for (int32_t p = 0; p < r->pieces; p++) {
        const drape_i_whole_piece *piece = &r->loaded->parts.piece[p];
        int64_t from = r->from - piece->first, end = r->end - piece->first;
        drape_i_window *w = &r->window[p];
        int32_t i;
        if (from < 0) from = 0;
        if (end > piece->vertices) end = piece->vertices;
        if (from >= end) continue;
        r->choice[p] = (drape_i_mesh_choice){.from = from, .end = end, .rings = 1};
        if (!piece->grid) continue;
        drape_i_grid_find(piece->grid, piece->tube, (int32_t)from, &i, &w->from[1]);
        drape_i_grid_find(piece->grid, piece->tube, (int32_t)end - 1, &i, &w->to[1]);
        w->to[0] = piece->grid->nx;
        w->to[1]++;
    }
}

/* Where a vertex is in the chunk; -1: in another one. */
static int64_t place_in_chunk(const reading *r, int64_t vertex) {
    const int64_t number = r->loaded->parts.number ? r->loaded->parts.number[vertex] : vertex;
    return number >= r->from && number < r->end ? number - r->from : -1;
}

static void copy_rest(const reading *r, double *rest) {
    int64_t v = 0;
    for (int32_t p = 0; p < r->pieces; p++) {
        const drape_piece *piece = &r->loaded->scene.pieces[p];
        for (int64_t i = 0; i < piece->vertices; i++) {
            const int64_t at = place_in_chunk(r, v++);
            if (at >= 0) memcpy(rest + 3 * at, piece->rest + 3 * i, 3 * sizeof *rest);
        }
    }
}

/* Pins of each vertex of the chunk, then where in all of them the first of them is. */
static void place_entries(const reading *r, drape_i_division *out) {
    const drape_scene *scene = &r->loaded->scene;
    int64_t mine = 0, before = 0;
    int rank;
    for (int32_t p = 0; p < scene->pin_count; p++)
        for (int64_t i = 0; i < scene->pins[p].count; i++) {
            const int64_t at = place_in_chunk(r, scene->pins[p].vertices[i]);
            if (at >= 0) out->entry[at]++;
            mine += at >= 0;
        }
    MPI_Exscan(&mine, &before, 1, MPI_INT64_T, MPI_SUM, r->comm);
    MPI_Allreduce(&mine, &out->entries, 1, MPI_INT64_T, MPI_SUM, r->comm);
    MPI_Comm_rank(r->comm, &rank);
    if (rank == 0) before = 0; /* which Exscan says nothing about */
    for (int64_t i = 0; i < r->end - r->from; i++) {
        const int32_t count = out->entry[i];
        out->entry[i] = (int32_t)before;
        before += count;
    }
}

/* A pin or a load that picks no vertex on any process is a mistake, as it is for drape alone. */
static drape_status check_picks(const reading *r) {
    const drape_i_scene_parts *parts = &r->loaded->parts;
    const drape_i_node *wrong = NULL;
    int32_t *count, i = 0;
    drape_status status = DRAPE_NEW(r->ctx, count, parts->picks) ? DRAPE_OK : DRAPE_ERROR_MEMORY;
    status = drape_petsc_agree(r->ctx, r->comm, status);
    if (!status) {
        for (const drape_i_pick *p = parts->last_pick; p; p = p->before) count[i++] = p->count > 0;
        MPI_Allreduce(MPI_IN_PLACE, count, parts->picks, MPI_INT32_T, MPI_SUM, r->comm);
        i = 0;
        for (const drape_i_pick *p = parts->last_pick; p; p = p->before)
            if (count[i++] == 0) wrong = p->node;
    }
    DRAPE_FREE(r->ctx, count, parts->picks);
    if (!wrong) return status;
    return drape_i_fail(r->ctx, DRAPE_ERROR_FORMAT,
                        "%s:%d:%d: no vertex of the piece is there; move or enlarge the region", wrong->file,
                        wrong->line, wrong->column);
}

/* Texture coordinates of a mesh that may be no lengths: scene_cloth.c measures all of it and says so. */
static drape_status check_patterns(const reading *r) {
    const double most = 2 * (1 - 1e-6); /* of what it allows, since these are other sums */
    double(*area)[3];
    drape_status status = DRAPE_NEW(r->ctx, area, r->pieces) ? DRAPE_OK : DRAPE_ERROR_MEMORY;
    status = drape_petsc_agree(r->ctx, r->comm, status);
    for (int32_t p = 0; p < r->pieces && !status; p++) {
        const drape_i_mesh_part *part = r->loaded->parts.piece[p].mesh;
        if (!part) continue;
        area[p][0] = part->area[0], area[p][1] = part->area[1], area[p][2] = part->measured;
    }
    if (!status) MPI_Allreduce(MPI_IN_PLACE, area, 3 * r->pieces, MPI_DOUBLE, MPI_SUM, r->comm);
    for (int32_t p = 0; p < r->pieces && !status; p++)
        if (area[p][2] > 0 && !(area[p][0] > 0 && area[p][0] <= most * area[p][1] && area[p][1] <= most * area[p][0]))
            status = drape_i_fail(r->ctx, DRAPE_ERROR_FORMAT, "%s: texture coordinates are no lengths", r->name);
    DRAPE_FREE(r->ctx, area, r->pieces);
    return status;
}

static drape_status divide(reading *r, drape_i_division *out) {
    double *rest = NULL;
    const int64_t count = r->end - r->from;
    drape_status status = check_picks(r);
    if (!status) status = check_patterns(r);
    if (status) return status;
    if (!DRAPE_NEW(r->ctx, rest, 3 * count) || !DRAPE_NEW(r->ctx, out->entry, count)) status = DRAPE_ERROR_MEMORY;
    status = drape_petsc_agree(r->ctx, r->comm, status);
    if (!status) {
        copy_rest(r, rest);
        place_entries(r, out);
        status = drape_i_partition(r->ctx, r->comm, r->all, rest, &out->owners);
    }
    DRAPE_FREE(r->ctx, rest, 3 * count);
    return status;
}

/* ---- Windows ---- */

static void include(drape_i_window *w, const int32_t at[2], const drape_i_irregular_plan *plan) {
    const bool empty = w->to[0] == 0;
    for (int32_t k = 0; k < 2; k++) {
        const int32_t around = RINGS * (plan->known ? plan->reach[k] : 1);
        const int32_t low = at[k] > around ? at[k] - around : 0, high = at[k] + around + 1;
        if (empty || low < w->from[k]) w->from[k] = low;
        if (empty || high > w->to[k]) w->to[k] = high;
    }
}

/* Around own vertices and the two rings of copies around them. */
static void choose_windows(reading *r, const drape_i_owners *owners) {
    int32_t p = 0, at[2];
    memset(r->window, 0, (size_t)r->pieces * sizeof *r->window);
    memset(r->choice, 0, (size_t)r->pieces * sizeof *r->choice);
    for (int32_t i = 0; i < owners->count; i++) {
        const drape_i_whole_piece *piece = &r->loaded->parts.piece[p];
        while (owners->row[i] >= piece->first + piece->vertices) piece = &r->loaded->parts.piece[++p];
        if (r->choice[p].count++ == 0)
            r->choice[p] = (drape_i_mesh_choice){
                .vertex = owners->row + i, .count = 1, .first = piece->first, .rings = MESH_RINGS};
        if (!piece->grid) continue;
        drape_i_grid_find(piece->grid, piece->tube, owners->row[i] - piece->first, &at[0], &at[1]);
        include(&r->window[p], at, &r->plan[p]);
    }
}

/* What processes found that made a window of an irregular grid; it is the same on all of these. */
static void share_plans(const reading *r) {
    const int64_t size = (int64_t)(sizeof *r->plan / sizeof r->plan->lag);
    MPI_Allreduce(MPI_IN_PLACE, r->plan, (int)(size * r->pieces), MPI_INT32_T, MPI_MAX, r->comm);
}

static drape_status read_part(reading *r, drape_i_part *out) {
    drape_i_division division = {0};
    drape_status status = begin(r);
    const bool again = !status && has_windows(r);
    if (again) {
        choose_chunk(r);
        status = load(r);
        if (!status) share_plans(r);
    }
    if (!status) status = divide(r, &division);
    if (!status && again) {
        choose_windows(r, &division.owners);
        status = load(r);
    }
    if (!status) status = drape_i_part_cut(r->ctx, r->comm, r->loaded, &division, out);
    DRAPE_FREE(r->ctx, division.entry, r->end - r->from);
    DRAPE_FREE(r->ctx, r->window, r->pieces);
    DRAPE_FREE(r->ctx, r->plan, r->pieces);
    DRAPE_FREE(r->ctx, r->choice, r->pieces);
    drape_i_owners_free(r->ctx, &division.owners);
    drape_loaded_scene_destroy(r->loaded);
    return status;
}

drape_status drape_i_part_read(drape_context *ctx, MPI_Comm comm, const char *name,
                               const drape_scene_options *options, drape_i_part *out) {
    const reading first = {.ctx = ctx, .comm = comm, .name = name, .options = options};
    reading r = first;
    drape_status status = read_part(&r, out);
    if (!status || status == DRAPE_ERROR_MEMORY) return status;
    MPI_Allreduce(MPI_IN_PLACE, &r.divides, 1, MPI_C_BOOL, MPI_LOR, comm); /* one may not have come so far */
    if (!r.divides) return status;
    r = first;
    r.whole_meshes = true;
    return read_part(&r, out);
}
