/* pc2.c: Point Cache 2, as Blender's Mesh Cache modifier reads it, and the mesh that it moves.
 *
 * sheet.pc2, little-endian: "POINTCACHE2\0", int32 version 1, int32 vertices, float32 first frame 0, float32 frames
 * per sample 1, int32 samples; then float32 xyz of every vertex, sample by sample. The number of samples is put in at
 * the end.
 * sheet_rest.obj: vertices in the same order, where they stand in the first frame (which need not be the rest shape).
 */
#include "io/format.h"
#include "io/obj.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const char EXTENSION[] = ".pc2", MESH_ENDING[] = "_rest.obj";

enum { HEADER_SIZE = 32, SAMPLES_AT = 28, CHUNK = 1024 };

typedef struct cache {
    const drape_cloth *cloth;
    drape_i_file file, mesh;
    int32_t samples;
    drape_status status; /* of the first frame that failed */
} cache;

static void put_u32(unsigned char *to, uint32_t value) {
    for (int k = 0; k < 4; k++) to[k] = (unsigned char)(value >> 8 * k & 255);
}

static uint32_t float_bits(double value) {
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    return bits;
}

static void write_header(cache *c) {
    unsigned char header[HEADER_SIZE] = "POINTCACHE2";
    put_u32(header + 12, 1);
    put_u32(header + 16, (uint32_t)drape_cloth_vertices(c->cloth));
    put_u32(header + 20, float_bits(0));
    put_u32(header + 24, float_bits(1));
    put_u32(header + SAMPLES_AT, 0);
    drape_i_file_write(&c->file, header, sizeof header);
}

static void destroy(drape_context *ctx, cache *c) {
    drape_i_file_abandon(ctx, &c->file);
    drape_i_file_abandon(ctx, &c->mesh);
    DRAPE_FREE(ctx, c, 1);
}

/* sheet.pc2 -> sheet_rest.obj */
static drape_status create_mesh(drape_context *ctx, const char *path, drape_i_file *out) {
    char *mesh_path;
    size_t stem = strlen(path) - strlen(EXTENSION);
    int64_t room = (int64_t)(stem + sizeof MESH_ENDING);
    if (!DRAPE_NEW(ctx, mesh_path, room)) return DRAPE_ERROR_MEMORY;
    memcpy(mesh_path, path, stem);
    memcpy(mesh_path + stem, MESH_ENDING, sizeof MESH_ENDING);
    drape_status status = drape_i_file_create(ctx, mesh_path, out);
    DRAPE_FREE(ctx, mesh_path, room);
    return status;
}

static drape_status open_cache(drape_context *ctx, const char *path, const drape_i_animation *what, void **state) {
    cache *c;
    *state = NULL;
    if (!DRAPE_NEW(ctx, c, 1)) return DRAPE_ERROR_MEMORY;
    c->cloth = what->cloth;
    drape_status status = drape_i_file_create(ctx, path, &c->file);
    if (!status) status = create_mesh(ctx, path, &c->mesh);
    if (status) {
        destroy(ctx, c);
        return status;
    }
    write_header(c);
    *state = c;
    return DRAPE_OK;
}

static drape_status check(drape_context *ctx, const cache *c, const double *x) {
    for (int64_t i = 0; i < 3 * (int64_t)drape_cloth_vertices(c->cloth); i++)
        if (!isfinite((float)x[i]))
            return drape_i_fail(ctx, DRAPE_ERROR_NUMBER, "%s: frame %d: vertex %lld has no place in float32",
                                c->file.path, c->samples, (long long)(i / 3));
    if (c->samples == INT32_MAX)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: more frames than the format can count", c->file.path);
    return DRAPE_OK;
}

static void write_sample(cache *c, const double *x) {
    unsigned char chunk[4 * CHUNK];
    int64_t count = 3 * (int64_t)drape_cloth_vertices(c->cloth);
    for (int64_t i = 0; i < count; i += CHUNK) {
        int64_t now = count - i < CHUNK ? count - i : CHUNK;
        for (int64_t k = 0; k < now; k++) put_u32(chunk + 4 * k, float_bits(x[i + k]));
        drape_i_file_write(&c->file, chunk, 4 * (size_t)now);
    }
}

static drape_status add_frame(drape_context *ctx, cache *c, const double *x) {
    drape_status status = check(ctx, c, x);
    if (!status && c->samples == 0) status = drape_i_obj_write(ctx, &c->mesh, c->cloth, true, 0, x);
    if (status) return status;
    write_sample(c, x);
    if (c->file.error)
        return drape_i_fail(ctx, DRAPE_ERROR_IO, "%s: cannot write: %s", c->file.path, strerror(c->file.error));
    c->samples++;
    return DRAPE_OK;
}

static drape_status write_frame(drape_context *ctx, void *state, const double *positions) {
    cache *c = state;
    if (!c->status) c->status = add_frame(ctx, c, positions);
    return c->status;
}

static drape_status patch_samples(drape_context *ctx, cache *c) {
    unsigned char samples[4];
    put_u32(samples, (uint32_t)c->samples);
    if (fseek(c->file.stream, SAMPLES_AT, SEEK_SET) != 0)
        return drape_i_fail(ctx, DRAPE_ERROR_IO, "%s: cannot write: %s", c->file.path, strerror(errno));
    drape_i_file_write(&c->file, samples, sizeof samples);
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
