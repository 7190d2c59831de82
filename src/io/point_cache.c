/* point_cache.c: point caches, PC2 and MDD, written and read. A cache moves the vertices of a mesh that it does not
 * hold. Beside sheet.pc2 or sheet.mdd there is sheet_rest.obj, with the vertices in the same order and at the
 * positions of the first frame (which need not be the rest shape).
 *
 * PC2, Point Cache 2, as Blender's Mesh Cache modifier reads it, is little-endian. The head is "POINTCACHE2\0", int32
 * version 1, int32 vertices, float32 first frame 0, float32 frames per sample 1, int32 samples. Then follows float32
 * xyz of every vertex, sample by sample. The number of samples is put in at the end.
 *
 * MDD, the motion format of LightWave, big-endian: int32 frames, int32 vertices, float32 seconds of every frame, then
 * float32 xyz of every vertex, frame by frame. The times are before the first frame, so all frames wait until their
 * number is known. Nothing but its size tells such a file from another.
 *
 * Caches are read whole and looked at in place. The size of a file follows from its numbers of vertices and frames,
 * and one of any other size is refused before anything else is done with it. So memory is the file's size, whatever
 * its head says. */
#include "base/text.h"
#include "io/format_tools.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const char PC2[] = ".pc2", MDD[] = ".mdd";

/* Where the numbers are. */
enum {
    PC2_VERSION_AT = 12,
    PC2_VERTICES_AT = 16,
    PC2_START_AT = 20,
    PC2_RATE_AT = 24,
    PC2_SAMPLES_AT = 28,
    PC2_HEAD = 32,
    MDD_VERTICES_AT = 4,
    MDD_HEAD = 8
};

/* ---- writing PC2 ---- */

typedef struct pc2_writer {
    const drape_cloth *cloth;
    const drape_piece *pieces;
    drape_i_file file, mesh;
    int32_t samples;
    drape_status status; /* of the first frame that failed */
} pc2_writer;

static void write_pc2_header(pc2_writer *c) {
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

static void destroy_pc2(drape_context *ctx, pc2_writer *c) {
    drape_i_file_abandon(ctx, &c->file);
    drape_i_file_abandon(ctx, &c->mesh);
    DRAPE_FREE(ctx, c, 1);
}

static drape_status open_pc2(drape_context *ctx, const char *path, const drape_i_animation *what, void **state) {
    pc2_writer *c;
    *state = NULL;
    if (!DRAPE_NEW(ctx, c, 1)) return DRAPE_ERROR_MEMORY;
    c->cloth = what->cloth;
    c->pieces = what->pieces;
    drape_status status = drape_i_file_create(ctx, path, &c->file);
    if (!status) status = drape_i_rest_mesh_create(ctx, path, PC2, &c->mesh);
    if (status) {
        destroy_pc2(ctx, c);
        return status;
    }
    write_pc2_header(c);
    *state = c;
    return DRAPE_OK;
}

static drape_status check_sample(drape_context *ctx, const pc2_writer *c, const double *x) {
    if (c->samples == INT32_MAX)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: more frames than the format can count", c->file.path);
    return drape_i_check_floats(ctx, c->file.path, c->samples, drape_cloth_vertices(c->cloth), x);
}

static void write_sample(pc2_writer *c, const double *x) {
    drape_i_binary out;
    drape_i_binary_begin(&out, &c->file, false);
    for (int64_t i = 0; i < 3 * (int64_t)drape_cloth_vertices(c->cloth); i++) drape_i_put_f32(&out, x[i]);
    drape_i_binary_end(&out);
}

static drape_status write_rest(drape_context *ctx, pc2_writer *c, const double *x) {
    drape_status status = drape_i_rest_mesh_write(ctx, &c->mesh, c->cloth, c->pieces, x);
    if (status || fflush(c->mesh.stream) == 0) return status;
    return drape_i_fail(ctx, DRAPE_ERROR_IO, "%s: cannot write: %s", c->mesh.path, strerror(errno));
}

static drape_status add_frame(drape_context *ctx, pc2_writer *c, const double *x) {
    drape_status status = check_sample(ctx, c, x);
    if (!status && c->samples == 0) status = write_rest(ctx, c, x);
    if (status) return status;
    write_sample(c, x);
    /* So that a sample that was taken is in the file, and what fails later cannot take it away. */
    if (!c->file.error && fflush(c->file.stream) != 0) c->file.error = errno;
    if (c->file.error)
        return drape_i_fail(ctx, DRAPE_ERROR_IO, "%s: cannot write: %s", c->file.path, strerror(c->file.error));
    c->samples++;
    return DRAPE_OK;
}

static drape_status write_pc2_frame(drape_context *ctx, void *state, const drape_i_frame *frame) {
    pc2_writer *c = state;
    if (!c->status) c->status = add_frame(ctx, c, frame->data.positions);
    return c->status;
}

static drape_status patch_samples(drape_context *ctx, pc2_writer *c) {
    drape_i_binary out;
    if (fseek(c->file.stream, PC2_SAMPLES_AT, SEEK_SET) != 0)
        return drape_i_fail(ctx, DRAPE_ERROR_IO, "%s: cannot write: %s", c->file.path, strerror(errno));
    drape_i_binary_begin(&out, &c->file, false);
    drape_i_put_u32(&out, (uint32_t)c->samples);
    drape_i_binary_end(&out);
    return DRAPE_OK;
}

/* If a sample failed, those before it are complete; the file is truncated after them. */
static drape_status finish_pc2(drape_context *ctx, pc2_writer *c) {
    int64_t size = PC2_HEAD + 12 * (int64_t)drape_cloth_vertices(c->cloth) * c->samples;
    drape_status status = c->status ? drape_i_file_cut(ctx, &c->file, size) : DRAPE_OK;
    if (!status) status = patch_samples(ctx, c);
    if (!status) status = drape_i_file_commit(ctx, &c->mesh);
    if (!status) status = drape_i_file_commit(ctx, &c->file);
    return status;
}

static drape_status close_pc2(drape_context *ctx, void *state) {
    pc2_writer *c = state;
    drape_status status = c->samples > 0 ? finish_pc2(ctx, c) : c->status;
    destroy_pc2(ctx, c);
    return status;
}

const drape_i_format drape_i_format_pc2 = {PC2, "a point cache for Blender, and NAME_rest.obj, the mesh it moves",
                                           open_pc2, write_pc2_frame, close_pc2};

/* ---- writing MDD ---- */

static drape_status write_mdd_head(drape_context *ctx, drape_i_recording *r, drape_i_binary *out) {
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

static drape_status write_mdd_samples(drape_context *ctx, drape_i_recording *r, drape_i_file *file) {
    drape_i_binary out;
    drape_i_binary_begin(&out, file, true);
    drape_status status = write_mdd_head(ctx, r, &out);
    for (int64_t f = 0; f < r->frames && !status; f++) {
        status = drape_i_recording_read(ctx, r, f);
        for (int64_t i = 0; i < 3 * (int64_t)r->vertices && !status; i++) drape_i_put_f32(&out, r->x[i]);
    }
    drape_i_binary_end(&out);
    return status;
}

static drape_status write_mdd_mesh(drape_context *ctx, drape_i_recording *r) {
    drape_i_file mesh;
    drape_status status = drape_i_recording_read(ctx, r, 0);
    if (!status) status = drape_i_rest_mesh_create(ctx, r->path, MDD, &mesh);
    if (status) return status;
    status = drape_i_rest_mesh_write(ctx, &mesh, r->cloth, r->pieces, r->x);
    if (status) drape_i_file_abandon(ctx, &mesh);
    else status = drape_i_file_commit(ctx, &mesh);
    return status;
}

static drape_status write_mdd(drape_context *ctx, void *user, drape_i_file *file) {
    drape_i_recording *r = user;
    if (r->frames > INT32_MAX)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: more frames than the format can count", r->path);
    drape_status status = write_mdd_samples(ctx, r, file);
    return status ? status : write_mdd_mesh(ctx, r);
}

static drape_status close_mdd(drape_context *ctx, void *state) {
    return drape_i_recording_close(ctx, state, write_mdd, state);
}

const drape_i_format drape_i_format_mdd = {
    MDD, "a point cache for Blender, Houdini and others, and NAME_rest.obj, the mesh it moves",
    drape_i_recording_open, drape_i_recording_frame, close_mdd};

/* ---- heads of files that are read ---- */

/* What the head of a file says, checked against the file's size. */
typedef struct cache_head {
    int32_t vertices, frames;
    int64_t times_at;   /* bytes from the beginning; float32 seconds of each frame; 0: the format has none */
    int64_t frames_at;  /* float32 xyz of each vertex, frame by frame */
    double start, rate; /* where there are no times: number of the first frame, frames from one to the next */
} cache_head;

/* DRAPE_ERROR_FORMAT where this many vertices, frames and bytes before the first frame do not make the size exactly.
 * Sets vertices and frames. Both numbers are below 2^31 and the quotient keeps their product in range. */
static drape_status fit_size(drape_context *ctx, const char *name, int64_t size, uint32_t vertices, uint32_t frames,
                             cache_head *head) {
    const int64_t of_vertex = 3 * (int64_t)sizeof(float);
    int64_t left = size - head->frames_at;
    bool counts = vertices >= 1 && vertices <= INT32_MAX && frames >= 1 && frames <= INT32_MAX;
    if (!counts || left < 0 || left / of_vertex / frames != vertices || left != of_vertex * frames * vertices)
        return drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "%s: %lu frames of %lu vertices do not make %lld bytes", name,
                            (unsigned long)frames, (unsigned long)vertices, (long long)size);
    head->vertices = (int32_t)vertices;
    head->frames = (int32_t)frames;
    return DRAPE_OK;
}

static drape_status read_pc2_head(drape_context *ctx, const char *name, const unsigned char *data, int64_t size,
                                  cache_head *head) {
    if (size < PC2_HEAD || memcmp(data, "POINTCACHE2", 12) != 0)
        return drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "%s: does not begin as a PC2 file does", name);
    uint32_t version = drape_i_get_u32(data + PC2_VERSION_AT, false);
    if (version != 1)
        return drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "%s: only version 1 of PC2 can be read, not %lu", name,
                            (unsigned long)version);
    *head = (cache_head){.frames_at = PC2_HEAD,
                         .start = (double)drape_i_get_f32(data + PC2_START_AT, false),
                         .rate = (double)drape_i_get_f32(data + PC2_RATE_AT, false)};
    if (!isfinite(head->start) || !isfinite(head->rate) || !(head->rate > 0))
        return drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "%s: samples from frame %g on, one every %g frames", name,
                            head->start, head->rate);
    return fit_size(ctx, name, size, drape_i_get_u32(data + PC2_VERTICES_AT, false),
                    drape_i_get_u32(data + PC2_SAMPLES_AT, false), head);
}

static drape_status check_times(drape_context *ctx, const char *name, const unsigned char *data, int32_t frames) {
    double before = -INFINITY;
    for (int64_t f = 0; f < frames; f++) {
        double now = (double)drape_i_get_f32(data + MDD_HEAD + 4 * f, true);
        if (!isfinite(now) || now < before)
            return drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "%s: frame %lld is at %g s, after one at %g s", name,
                                (long long)f, now, before);
        before = now;
    }
    return DRAPE_OK;
}

static drape_status read_mdd_head(drape_context *ctx, const char *name, const unsigned char *data, int64_t size,
                                  cache_head *head) {
    if (size < MDD_HEAD)
        return drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "%s: %lld bytes are less than the head of an MDD file", name,
                            (long long)size);
    uint32_t frames = drape_i_get_u32(data, true);
    *head = (cache_head){.times_at = MDD_HEAD, .frames_at = MDD_HEAD + 4 * (int64_t)frames};
    drape_status status = fit_size(ctx, name, size, drape_i_get_u32(data + MDD_VERTICES_AT, true), frames, head);
    return status ? status : check_times(ctx, name, data, head->frames);
}

/* ---- reading ---- */

struct drape_cache {
    drape_context *ctx;
    cache_head head;
    bool big_endian;
    char *data;
    int64_t size;
    drape_cache_info info;
};

static drape_status read_head(drape_cache *c, const char *name, const unsigned char *data, int64_t size) {
    bool pc2 = drape_i_ends_in(name, ".pc2");
    if (!pc2 && !drape_i_ends_in(name, ".mdd"))
        return drape_i_fail(c->ctx, DRAPE_ERROR_ARGUMENT, "%s: not a point cache; these end in .pc2 or .mdd", name);
    c->big_endian = !pc2;
    drape_status status = (pc2 ? read_pc2_head : read_mdd_head)(c->ctx, name, data, size, &c->head);
    c->info = (drape_cache_info){.vertices = c->head.vertices,
                                 .frames = c->head.frames,
                                 .has_times = c->head.times_at > 0,
                                 .start = c->head.start,
                                 .rate = c->head.rate};
    return status;
}

static const unsigned char *frame_bytes(const drape_cache *c, int32_t frame) {
    return (const unsigned char *)c->data + c->head.frames_at + 12 * (int64_t)c->head.vertices * frame;
}

static drape_status check_positions(const drape_cache *c, const char *name) {
    for (int32_t f = 0; f < c->head.frames; f++)
        for (int64_t i = 0; i < 3 * (int64_t)c->head.vertices; i++)
            if (!isfinite(drape_i_get_f32(frame_bytes(c, f) + 4 * i, c->big_endian)))
                return drape_i_fail(c->ctx, DRAPE_ERROR_FORMAT, "%s: frame %d: vertex %lld is not finite", name, f,
                                    (long long)(i / 3));
    return DRAPE_OK;
}

/* Takes the data over, whose size is size + 1, where it succeeds. */
static drape_status adopt(drape_context *ctx, const char *name, char *data, int64_t size, drape_cache **out) {
    drape_cache *c;
    if (!DRAPE_NEW(ctx, c, 1)) return DRAPE_ERROR_MEMORY;
    c->ctx = ctx;
    drape_status status = read_head(c, name, (const unsigned char *)data, size);
    c->data = data;
    c->size = size;
    if (!status) status = check_positions(c, name);
    if (status) DRAPE_FREE(ctx, c, 1);
    else *out = c;
    return status;
}

drape_status drape_cache_open(drape_context *ctx, const char *path, drape_cache **out) {
    char *data;
    int64_t size;
    if (out) *out = NULL;
    if (!ctx || !path || !out)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "drape_cache_open: path or out is NULL");
    drape_status status = drape_i_file_read(ctx, path, &data, &size);
    if (status) return status;
    status = adopt(ctx, path, data, size, out);
    if (status) DRAPE_FREE(ctx, data, size + 1);
    return status;
}

drape_status drape_cache_parse(drape_context *ctx, const char *name, const void *data, int64_t size,
                               drape_cache **out) {
    char *copy;
    if (out) *out = NULL;
    if (!ctx || !name || !out)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "drape_cache_parse: name or out is NULL");
    if (size < 0 || (size && !data))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: no data, or %lld bytes", name, (long long)size);
    if (!DRAPE_NEW(ctx, copy, size + 1)) return DRAPE_ERROR_MEMORY;
    if (size) memcpy(copy, data, (size_t)size);
    drape_status status = adopt(ctx, name, copy, size, out);
    if (status) DRAPE_FREE(ctx, copy, size + 1);
    return status;
}

const drape_cache_info *drape_cache_describe(const drape_cache *cache) { return cache ? &cache->info : NULL; }

drape_status drape_cache_frame(const drape_cache *c, int32_t frame, double *positions) {
    if (!c || !positions)
        return drape_i_fail(c ? c->ctx : NULL, DRAPE_ERROR_ARGUMENT, "drape_cache_frame: cache or positions is NULL");
    if (frame < 0 || frame >= c->head.frames)
        return drape_i_fail(c->ctx, DRAPE_ERROR_ARGUMENT, "frame %d of a cache of %d frames", frame, c->head.frames);
    const unsigned char *bytes = frame_bytes(c, frame);
    for (int64_t i = 0; i < 3 * (int64_t)c->head.vertices; i++)
        positions[i] = (double)drape_i_get_f32(bytes + 4 * i, c->big_endian);
    return DRAPE_OK;
}

double drape_cache_time(const drape_cache *c, int32_t frame) {
    if (!c || frame < 0 || frame >= c->head.frames) return NAN;
    if (!c->head.times_at) return c->head.start + c->head.rate * frame;
    return (double)drape_i_get_f32((const unsigned char *)c->data + c->head.times_at + 4 * (int64_t)frame,
                                   c->big_endian);
}

void drape_cache_close(drape_cache *c) {
    if (!c) return;
    drape_context *ctx = c->ctx;
    DRAPE_FREE(ctx, c->data, c->size + 1);
    DRAPE_FREE(ctx, c, 1);
}
