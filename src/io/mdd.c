/* mdd.c: the motion format of LightWave, and the mesh that it moves.
 *
 * sheet.mdd, big-endian: int32 frames, int32 vertices, float32 seconds of every frame, then float32 xyz of every
 * vertex, frame by frame. The times stand before the first frame, so all frames wait until their number is known.
 * sheet_rest.obj: vertices in the same order, where they stand in the first frame. */
#include "io/binary.h"
#include "io/obj.h"
#include "io/recording.h"

static const char EXTENSION[] = ".mdd";

static drape_status write_head(drape_context *ctx, drape_i_recording *r, drape_i_binary *out) {
    drape_status status = DRAPE_OK;
    drape_i_put_u32(out, (uint32_t)r->frames);
    drape_i_put_u32(out, (uint32_t)r->vertices);
    for (int64_t f = 0; f < r->frames && !status; f++) {
        drape_i_stamp stamp = {0};
        status = drape_i_recording_stamp(ctx, r, f, &stamp);
        drape_i_put_f32(out, stamp.time);
    }
    return status;
}

static drape_status write_samples(drape_context *ctx, drape_i_recording *r, drape_i_file *file) {
    drape_i_binary out;
    drape_i_binary_begin(&out, file, true);
    drape_status status = write_head(ctx, r, &out);
    for (int64_t f = 0; f < r->frames && !status; f++) {
        status = drape_i_recording_read(ctx, r, f);
        for (int64_t i = 0; i < 3 * (int64_t)r->vertices && !status; i++) drape_i_put_f32(&out, r->x[i]);
    }
    drape_i_binary_end(&out);
    return status;
}

static drape_status write_mesh(drape_context *ctx, drape_i_recording *r) {
    drape_i_file mesh;
    drape_status status = drape_i_recording_read(ctx, r, 0);
    if (!status) status = drape_i_rest_mesh_create(ctx, r->path, EXTENSION, &mesh);
    if (status) return status;
    status = drape_i_rest_mesh_write(ctx, &mesh, r->cloth, r->pieces, r->x);
    if (status) drape_i_file_abandon(ctx, &mesh);
    else status = drape_i_file_commit(ctx, &mesh);
    return status;
}

static drape_status write_all(drape_context *ctx, void *user, drape_i_file *file) {
    drape_i_recording *r = user;
    if (r->frames > INT32_MAX)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: more frames than the format can count", r->path);
    drape_status status = write_samples(ctx, r, file);
    return status ? status : write_mesh(ctx, r);
}

static drape_status close_cache(drape_context *ctx, void *state) {
    return drape_i_recording_close(ctx, state, write_all, state);
}

const drape_i_format drape_i_format_mdd = {
    EXTENSION, "a point cache for Blender, Houdini and others, and NAME_rest.obj, the mesh it moves",
    drape_i_recording_open, drape_i_recording_frame, close_cache};
