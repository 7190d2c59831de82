/* pc2.c: Point Cache 2, as Blender's Mesh Cache modifier reads it, and the mesh that it moves.
 *
 * sheet.pc2, little-endian: "POINTCACHE2\0", int32 version 1, int32 vertices, float32 first frame 0, float32 frames
 * per sample 1, int32 samples; then float32 xyz of every vertex, sample by sample. The number of samples is put in at
 * the end.
 * sheet_rest.obj: vertices in the same order, where they stand in the first frame (which need not be the rest shape).
 */
#include "io/binary.h"
#include "io/format.h"
#include "io/obj.h"

#include <errno.h>
#include <string.h>

static const char EXTENSION[] = ".pc2";

enum { SAMPLES_AT = 28 };

typedef struct cache {
    const drape_cloth *cloth;
    const drape_piece *pieces;
    drape_i_file file, mesh;
    int32_t samples;
    drape_status status; /* of the first frame that failed */
} cache;

static void write_header(cache *c) {
    drape_i_binary out;
    drape_i_file_write(&c->file, "POINTCACHE2", 12);
    drape_i_binary_begin(&out, &c->file, false);
    drape_i_put_u32(&out, 1);
    drape_i_put_u32(&out, (uint32_t)drape_cloth_vertices(c->cloth));
    drape_i_put_f32(&out, 0);
    drape_i_put_f32(&out, 1);
    drape_i_put_u32(&out, 0);
    drape_i_binary_end(&out);
}

static void destroy(drape_context *ctx, cache *c) {
    drape_i_file_abandon(ctx, &c->file);
    drape_i_file_abandon(ctx, &c->mesh);
    DRAPE_FREE(ctx, c, 1);
}

static drape_status open_cache(drape_context *ctx, const char *path, const drape_i_animation *what, void **state) {
    cache *c;
    *state = NULL;
    if (!DRAPE_NEW(ctx, c, 1)) return DRAPE_ERROR_MEMORY;
    c->cloth = what->cloth;
    c->pieces = what->pieces;
    drape_status status = drape_i_file_create(ctx, path, &c->file);
    if (!status) status = drape_i_rest_mesh_create(ctx, path, EXTENSION, &c->mesh);
    if (status) {
        destroy(ctx, c);
        return status;
    }
    write_header(c);
    *state = c;
    return DRAPE_OK;
}

static drape_status check(drape_context *ctx, const cache *c, const double *x) {
    if (c->samples == INT32_MAX)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: more frames than the format can count", c->file.path);
    return drape_i_check_floats(ctx, c->file.path, c->samples, drape_cloth_vertices(c->cloth), x);
}

static void write_sample(cache *c, const double *x) {
    drape_i_binary out;
    drape_i_binary_begin(&out, &c->file, false);
    for (int64_t i = 0; i < 3 * (int64_t)drape_cloth_vertices(c->cloth); i++) drape_i_put_f32(&out, x[i]);
    drape_i_binary_end(&out);
}

static drape_status add_frame(drape_context *ctx, cache *c, const double *x) {
    drape_status status = check(ctx, c, x);
    if (!status && c->samples == 0) status = drape_i_rest_mesh_write(ctx, &c->mesh, c->cloth, c->pieces, x);
    if (status) return status;
    write_sample(c, x);
    if (c->file.error)
        return drape_i_fail(ctx, DRAPE_ERROR_IO, "%s: cannot write: %s", c->file.path, strerror(c->file.error));
    c->samples++;
    return DRAPE_OK;
}

static drape_status write_frame(drape_context *ctx, void *state, const drape_i_frame *frame) {
    cache *c = state;
    if (!c->status) c->status = add_frame(ctx, c, frame->data.positions);
    return c->status;
}

static drape_status patch_samples(drape_context *ctx, cache *c) {
    drape_i_binary out;
    if (fseek(c->file.stream, SAMPLES_AT, SEEK_SET) != 0)
        return drape_i_fail(ctx, DRAPE_ERROR_IO, "%s: cannot write: %s", c->file.path, strerror(errno));
    drape_i_binary_begin(&out, &c->file, false);
    drape_i_put_u32(&out, (uint32_t)c->samples);
    drape_i_binary_end(&out);
    return DRAPE_OK;
}

static drape_status close_cache(drape_context *ctx, void *state) {
    cache *c = state;
    drape_status status = c->status;
    if (!status && c->samples > 0) {
        status = patch_samples(ctx, c);
        if (!status) status = drape_i_file_commit(ctx, &c->mesh);
        if (!status) status = drape_i_file_commit(ctx, &c->file);
    }
    destroy(ctx, c);
    return status;
}

const drape_i_format drape_i_format_pc2 = {EXTENSION,
                                           "a point cache for Blender, and NAME_rest.obj, the mesh it moves",
                                           open_cache, write_frame, close_cache};
