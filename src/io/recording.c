/* recording.c: see recording.h. */
#include "io/recording.h"
#include "base/text.h"
#include "io/binary.h"

#include <string.h>

static bool copy_text(drape_context *ctx, const char *from, char **to) {
    int64_t room = (int64_t)strlen(from) + 1;
    if (!DRAPE_NEW(ctx, *to, room)) return false;
    memcpy(*to, from, (size_t)room);
    return true;
}

static void destroy(drape_context *ctx, drape_i_recording *r) {
    int64_t numbers = 3 * (int64_t)r->vertices;
    drape_i_spill_destroy(&r->spill);
    if (r->path) DRAPE_FREE(ctx, r->path, (int64_t)strlen(r->path) + 1);
    if (r->title) DRAPE_FREE(ctx, r->title, (int64_t)strlen(r->title) + 1);
    if (r->x) DRAPE_FREE(ctx, r->x, numbers);
    if (r->normal) DRAPE_FREE(ctx, r->normal, numbers);
    if (r->packed) DRAPE_FREE(ctx, r->packed, numbers);
    if (r->extra) DRAPE_FREE(ctx, r->extra, r->extras);
    DRAPE_FREE(ctx, r, 1);
}

static drape_status set_up(drape_context *ctx, drape_i_recording *r, const char *path, const char *title) {
    int64_t numbers = 3 * (int64_t)r->vertices;
    if (!copy_text(ctx, path, &r->path) || !copy_text(ctx, title, &r->title) || !DRAPE_NEW(ctx, r->x, numbers) ||
        !DRAPE_NEW(ctx, r->normal, numbers) || !DRAPE_NEW(ctx, r->packed, numbers))
        return DRAPE_ERROR_MEMORY;
    return drape_i_spill_create(ctx, r->path, &r->spill);
}

drape_status drape_i_recording_open(drape_context *ctx, const char *path, const drape_i_animation *what,
                                    void **state) {
    drape_i_recording *r;
    *state = NULL;
    if (!DRAPE_NEW(ctx, r, 1)) return DRAPE_ERROR_MEMORY;
    r->cloth = what->cloth;
    r->pieces = what->pieces;
    r->fps = what->fps;
    r->vertices = drape_cloth_vertices(what->cloth);
    drape_status status = set_up(ctx, r, path, what->title);
    if (status) destroy(ctx, r);
    else *state = r;
    return status;
}

/* ---- writing ---- */

static int64_t attribute_numbers(const drape_i_recording *r, const drape_frame_attribute *a) {
    bool at_vertices = a->place == DRAPE_PER_VERTEX;
    return a->components * (int64_t)(at_vertices ? r->vertices : drape_cloth_triangles(r->cloth));
}

/* With the first frame it is known what every frame holds. */
static drape_status begin_extras(drape_context *ctx, drape_i_recording *r, const drape_frame *shape) {
    r->shape = shape;
    if (!r->keeps_extras) return DRAPE_OK;
    for (int32_t i = 0; i < shape->mesh_count; i++) r->extras += 3 * (int64_t)shape->meshes[i].vertices;
    for (int32_t i = 0; i < shape->attribute_count; i++) r->extras += attribute_numbers(r, &shape->attributes[i]);
    return DRAPE_NEW(ctx, r->extra, r->extras) ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

static void pack_extras(drape_i_recording *r, const drape_frame *f) {
    float *to = r->extra;
    for (int32_t i = 0; i < f->mesh_count; i++)
        for (int64_t k = 0; k < 3 * (int64_t)f->meshes[i].vertices; k++) *to++ = (float)f->meshes[i].positions[k];
    for (int32_t i = 0; i < f->attribute_count; i++)
        for (int64_t k = 0; k < attribute_numbers(r, &f->attributes[i]); k++)
            *to++ = (float)f->attributes[i].values[k];
    DRAPE_ASSERT(to == r->extra + r->extras);
}

static drape_status append_frame(drape_context *ctx, drape_i_recording *r, const drape_frame *f) {
    int64_t numbers = 3 * (int64_t)r->vertices;
    drape_i_stamp stamp = {f->number, f->time};
    for (int64_t i = 0; i < numbers; i++) r->packed[i] = (float)f->positions[i];
    drape_status status = drape_i_spill_append(ctx, &r->spill, r->packed, (size_t)numbers * sizeof *r->packed);
    if (!status && r->extras > 0) {
        pack_extras(r, f);
        status = drape_i_spill_append(ctx, &r->spill, r->extra, (size_t)r->extras * sizeof *r->extra);
    }
    if (!status) status = drape_i_spill_append(ctx, &r->spill, &stamp, sizeof stamp);
    if (status) return status;
    if (r->frames++ == 0) r->first = stamp;
    r->last = stamp;
    return DRAPE_OK;
}

static drape_status add_frame(drape_context *ctx, drape_i_recording *r, const drape_i_frame *f) {
    drape_status status = drape_i_check_floats(ctx, r->path, f->data.number, r->vertices, f->data.positions);
    if (!status && r->frames == 0) status = begin_extras(ctx, r, f->shape);
    return status ? status : append_frame(ctx, r, &f->data);
}

drape_status drape_i_recording_frame(drape_context *ctx, void *state, const drape_i_frame *frame) {
    drape_i_recording *r = state;
    if (!r->status) r->status = add_frame(ctx, r, frame);
    return r->status;
}

/* ---- reading ---- */

/* Where the record of a frame begins, in bytes. */
static int64_t record_at(const drape_i_recording *r, int64_t frame) {
    int64_t floats = 3 * (int64_t)r->vertices + r->extras;
    DRAPE_ASSERT(frame >= 0 && frame < r->frames);
    return frame * (floats * (int64_t)sizeof(float) + (int64_t)sizeof(drape_i_stamp));
}

static drape_status read_range(drape_context *ctx, drape_i_recording *r, int64_t frame, int64_t first,
                               int64_t count) {
    int64_t at = record_at(r, frame) + first * (int64_t)sizeof *r->packed;
    DRAPE_ASSERT(first >= 0 && first + count <= 3 * (int64_t)r->vertices);
    drape_status status =
        drape_i_spill_read(ctx, &r->spill, at, r->packed + first, (size_t)count * sizeof *r->packed);
    for (int64_t i = first; i < first + count && !status; i++) r->x[i] = (double)r->packed[i];
    return status;
}

drape_status drape_i_recording_read(drape_context *ctx, drape_i_recording *r, int64_t frame) {
    return read_range(ctx, r, frame, 0, 3 * (int64_t)r->vertices);
}

drape_status drape_i_recording_read_piece(drape_context *ctx, drape_i_recording *r, int64_t frame,
                                          const drape_piece_range *piece) {
    return read_range(ctx, r, frame, 3 * (int64_t)piece->first_vertex, 3 * (int64_t)piece->vertices);
}

drape_status drape_i_recording_read_extra(drape_context *ctx, drape_i_recording *r, int64_t frame, int64_t first,
                                          int64_t count) {
    int64_t at = record_at(r, frame) + (3 * (int64_t)r->vertices + first) * (int64_t)sizeof *r->extra;
    DRAPE_ASSERT(first >= 0 && first + count <= r->extras);
    return drape_i_spill_read(ctx, &r->spill, at, r->extra, (size_t)count * sizeof *r->extra);
}

drape_status drape_i_recording_stamp(drape_context *ctx, drape_i_recording *r, int64_t frame, drape_i_stamp *out) {
    int64_t at = record_at(r, frame) + (3 * (int64_t)r->vertices + r->extras) * (int64_t)sizeof *r->packed;
    return drape_i_spill_read(ctx, &r->spill, at, out, sizeof *out);
}

static drape_status write_whole(drape_context *ctx, const char *path, drape_i_recording_write *write, void *user) {
    drape_i_c_locale locale;
    drape_i_file file;
    drape_status status = drape_i_file_create(ctx, path, &file);
    if (status) return status;
    status = drape_i_c_locale_enter(ctx, &locale);
    if (!status) {
        status = write(ctx, user, &file);
        drape_i_c_locale_leave(&locale);
    }
    if (status) drape_i_file_abandon(ctx, &file);
    else status = drape_i_file_commit(ctx, &file);
    return status;
}

drape_status drape_i_recording_close(drape_context *ctx, drape_i_recording *r, drape_i_recording_write *write,
                                     void *user) {
    drape_status status = r->status;
    if (!status && r->frames > 0) status = write_whole(ctx, r->path, write, user);
    destroy(ctx, r);
    return status;
}
