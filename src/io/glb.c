/* glb.c: binary glTF 2.0 (The Khronos Group, "glTF 2.0 Specification", 2021), the motion as morph targets.
 *
 * The mesh is that of the first frame; every later frame is a target, what its positions and normals differ from
 * those by. At the time of a frame its target has weight 1 and the others 0, and in between players mix two of them.
 * One node, mesh and primitive per piece, all moved by one animation. Metres, +y up, texture coordinates from the top
 * left corner (v is 1 - v), cloth seen from both sides.
 *
 * Layout: header (magic, version 2, length), JSON chunk, binary chunk; little-endian, chunks padded to 4 bytes.
 * Lengths are 32 bits wide. Size: 24 bytes per vertex and frame, and 4 per pair of frames for the weights. */
#include "io/glb.h"

#include <errno.h>
#include <string.h>

enum { HEADER_SIZE = 12, CHUNK_HEAD = 8, LENGTH_AT = 8, JSON_LENGTH_AT = 12 };

static const int64_t MOST_BYTES = UINT32_MAX;
static const int64_t JSON_OF_ACCESSOR = 400,
                     JSON_OF_PIECE = 4096; /* more than they take, except for very long names */

double drape_i_glb_component(int64_t frame, const double *now, const double *base, int64_t vertex, int32_t k) {
    static const int32_t axis[3] = {0, 2, 1};
    int64_t at = 3 * vertex + axis[k];
    double value = (double)(float)now[at];
    if (frame > 0) value = (double)(float)(value - (double)(float)base[at]);
    return k == 2 ? -value : value;
}

drape_i_glb_sizes drape_i_glb_size(const drape_i_glb *g, int64_t frames) {
    drape_i_glb_sizes s = {0};
    s.corners = 4 * g->corners;
    s.vectors = 24 * g->vertices * frames;
    s.uv = 8 * g->uv_vertices;
    s.animation = frames > 1 ? 4 * frames + 4 * frames * (frames - 1) : 0;
    s.cloth = s.corners + s.vectors + s.uv + s.animation;
    drape_i_glb_object_sizes o = drape_i_glb_objects_size(g, frames);
    s.objects = o.corners + o.vectors + o.motion;
    s.images = drape_i_glb_images_size(g);
    s.all = s.cloth + s.objects + s.images;
    return s;
}

/* ---- vertices on seams: the doubles of a vertex hang on it in a list ---- */

/* Vertices made so far; next: the next double of the same vertex, or -1. */
typedef struct splitting {
    int32_t count;
    int32_t *source, *uv_source, *next;
} splitting;

/* The double of `vertex` (of the piece) with these texture coordinates; made if there is none yet. */
static int32_t find_double(splitting *s, const drape_piece_range *range, int32_t vertex, int32_t uv) {
    int32_t at = vertex;
    if (s->uv_source[vertex] < 0) s->uv_source[vertex] = uv;
    while (s->uv_source[at] != uv && s->next[at] >= 0) at = s->next[at];
    if (s->uv_source[at] == uv) return at;
    s->next[at] = s->count;
    s->source[s->count] = range->first_vertex + vertex;
    s->uv_source[s->count] = uv;
    s->next[s->count] = -1;
    return s->count++;
}

static void split_corners(splitting *s, const drape_cloth *cloth, drape_i_glb_piece *p, int32_t *corner) {
    const int32_t *triangle = drape_cloth_triangle(cloth) + 3 * (int64_t)p->range->first_triangle;
    s->count = p->range->vertices;
    for (int32_t i = 0; i < s->count; i++) {
        s->source[i] = p->range->first_vertex + i;
        s->uv_source[i] = p->textured ? -1 : 0;
        s->next[i] = -1;
    }
    for (int64_t i = 0; i < 3 * (int64_t)p->range->triangles; i++) {
        int32_t vertex = triangle[i] - p->range->first_vertex;
        corner[i] = p->textured ? find_double(s, p->range, vertex, p->texture.corner[i]) : vertex;
    }
    for (int32_t i = 0; i < s->count; i++)
        if (s->uv_source[i] < 0) s->uv_source[i] = 0; /* of no triangle */
}

static drape_status make_piece(drape_context *ctx, drape_i_arena *arena, const drape_cloth *cloth,
                               drape_i_glb_piece *p) {
    int64_t corners = 3 * (int64_t)p->range->triangles, most = p->range->vertices + (p->textured ? corners : 0);
    splitting s;
    s.source = drape_i_arena_get(ctx, arena, most, sizeof *s.source);
    s.uv_source = drape_i_arena_get(ctx, arena, most, sizeof *s.uv_source);
    s.next = drape_i_arena_get(ctx, arena, most, sizeof *s.next);
    int32_t *corner = drape_i_arena_get(ctx, arena, corners, sizeof *corner);
    if (!s.source || !s.uv_source || !s.next || !corner) return DRAPE_ERROR_MEMORY;
    split_corners(&s, cloth, p, corner);
    p->vertices = s.count;
    p->source = s.source;
    p->corner = corner;
    p->uv_source = p->textured ? s.uv_source : NULL;
    return DRAPE_OK;
}

/* One per piece, in the arena. The first of a vertex's doubles has its number in the piece. O(corners), where few
 * corners meet at a vertex. */
static drape_status make_pieces(drape_context *ctx, drape_i_arena *arena, const drape_cloth *cloth,
                                const drape_piece *pieces, drape_i_glb_piece **out) {
    int32_t count = drape_cloth_pieces(cloth);
    drape_status status = DRAPE_OK;
    *out = drape_i_arena_get(ctx, arena, count, sizeof **out);
    if (!*out) return DRAPE_ERROR_MEMORY;
    for (int32_t i = 0; i < count && !status; i++) {
        drape_i_glb_piece *p = &(*out)[i];
        p->range = drape_cloth_piece(cloth, i);
        p->texture = drape_i_texture_of(pieces, i);
        p->textured = p->texture.uv != NULL;
        status = make_piece(ctx, arena, cloth, p);
    }
    return status;
}

/* ---- opening ---- */

static drape_status destroy(drape_context *ctx, drape_i_glb *g, drape_status status) {
    drape_i_images_destroy(ctx, &g->images);
    drape_i_arena_free(ctx, &g->arena);
    DRAPE_FREE(ctx, g, 1);
    return status;
}

static drape_status set_up(drape_context *ctx, drape_i_glb *g, const drape_i_animation *what) {
    int64_t numbers = 3 * (int64_t)drape_cloth_vertices(what->cloth);
    g->pieces = drape_cloth_pieces(what->cloth);
    g->base = drape_i_arena_get(ctx, &g->arena, numbers, sizeof *g->base);
    g->base_normal = drape_i_arena_get(ctx, &g->arena, numbers, sizeof *g->base_normal);
    if (!g->base || !g->base_normal) return DRAPE_ERROR_MEMORY;
    drape_status status = make_pieces(ctx, &g->arena, what->cloth, what->pieces, &g->piece);
    if (!status) status = drape_i_images_create(ctx, what->pieces, g->pieces, &g->images);
    for (int32_t i = 0; i < g->pieces && !status; i++) {
        const drape_i_glb_piece *p = &g->piece[i];
        g->textured += p->textured;
        g->corners += 3 * (int64_t)p->range->triangles;
        g->vertices += p->vertices;
        g->uv_vertices += p->textured ? p->vertices : 0;
    }
    return status;
}

/* Whether this number of frames fits, as far as is known of meshes beside the cloth. */
static drape_status check_size(drape_context *ctx, const drape_i_glb *g, const char *path, int64_t frames) {
    static const int64_t FAR_TOO_MANY = 1000000; /* their squares still fit */
    int64_t accessors = 2 * frames * g->pieces + drape_i_glb_objects_size(g, frames).accessors;
    int64_t json = JSON_OF_PIECE * (g->pieces + g->objects + 1) + JSON_OF_ACCESSOR * accessors;
    if (frames <= FAR_TOO_MANY && drape_i_glb_size(g, frames).all + json <= MOST_BYTES) return DRAPE_OK;
    return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                        "%s: with %lld frames it is larger than 4 GiB, the most that GLB can be; try .usda or .pc2",
                        path, (long long)frames);
}

static drape_status open_glb(drape_context *ctx, const char *path, const drape_i_animation *what, void **state) {
    drape_i_glb *g;
    void *recording = NULL;
    *state = NULL;
    if (!DRAPE_NEW(ctx, g, 1)) return DRAPE_ERROR_MEMORY;
    drape_status status = set_up(ctx, g, what);
    if (!status) status = check_size(ctx, g, path, what->frames);
    if (!status) status = drape_i_recording_open(ctx, path, what, &recording);
    if (status) return destroy(ctx, g, status);
    g->recording = recording;
    g->expected = what->frames;
    g->recording->keeps_extras = true;
    *state = g;
    return DRAPE_OK;
}

/* ---- frames ---- */

/* The size is checked before the frame is taken, not at the end of a long run. The first frame brings the meshes
 * beside the cloth, so with it the size of all frames to come is checked. */
static drape_status write_frame(drape_context *ctx, void *state, const drape_i_frame *frame) {
    drape_i_glb *g = state;
    drape_i_recording *r = g->recording;
    int64_t frames = r->frames == 0 && g->expected > 1 ? g->expected : r->frames + 1;
    if (!r->status) r->status = drape_i_glb_objects_frame(ctx, g, &frame->data);
    if (!r->status) r->status = check_size(ctx, g, r->path, frames);
    return drape_i_recording_frame(ctx, r, frame);
}

/* ---- the binary chunk ---- */

static void put_corners(const drape_i_glb *g, drape_i_binary *out) {
    for (int32_t i = 0; i < g->pieces; i++)
        for (int64_t k = 0; k < 3 * (int64_t)g->piece[i].range->triangles; k++)
            drape_i_put_u32(out, (uint32_t)g->piece[i].corner[k]);
}

static void put_vectors(const drape_i_glb_piece *p, int64_t frame, const double *now, const double *base,
                        drape_i_binary *out) {
    for (int32_t i = 0; i < p->vertices; i++)
        for (int32_t k = 0; k < 3; k++)
            drape_i_put_f32(out, drape_i_glb_component(frame, now, base, p->source[i], k));
}

static drape_status put_frames(drape_context *ctx, drape_i_glb *g, drape_i_binary *out) {
    drape_i_recording *r = g->recording;
    for (int64_t f = 0; f < r->frames; f++) {
        drape_status status = drape_i_recording_read(ctx, r, f);
        if (status) return status;
        drape_i_normals(r->cloth, r->x, r->normal);
        if (f == 0) {
            memcpy(g->base, r->x, 3 * (size_t)r->vertices * sizeof *g->base);
            memcpy(g->base_normal, r->normal, 3 * (size_t)r->vertices * sizeof *g->base_normal);
        }
        for (int32_t i = 0; i < g->pieces; i++) {
            put_vectors(&g->piece[i], f, r->x, g->base, out);
            put_vectors(&g->piece[i], f, r->normal, g->base_normal, out);
        }
    }
    return DRAPE_OK;
}

static void put_texture(const drape_i_glb *g, drape_i_binary *out) {
    for (int32_t i = 0; i < g->pieces; i++) {
        const drape_i_glb_piece *p = &g->piece[i];
        for (int32_t k = 0; k < p->vertices && p->textured; k++) {
            double uv[2];
            drape_i_texture_at(&p->texture, p->uv_source[k], uv);
            drape_i_put_f32(out, uv[0]);
            drape_i_put_f32(out, 1 - uv[1]);
        }
    }
}

static drape_status put_animation(drape_context *ctx, drape_i_recording *r, drape_i_binary *out) {
    drape_status status = DRAPE_OK;
    if (r->frames < 2) return DRAPE_OK;
    for (int64_t f = 0; f < r->frames && !status; f++) {
        drape_i_stamp stamp = {0};
        status = drape_i_recording_stamp(ctx, r, f, &stamp);
        drape_i_put_f32(out, stamp.time);
    }
    for (int64_t f = 0; f < r->frames && !out->file->error; f++) /* rows in gigabytes, perhaps: not to a full disk */
        for (int64_t target = 1; target < r->frames; target++) drape_i_put_f32(out, target == f);
    return status;
}

static drape_status put_all(drape_context *ctx, drape_i_glb *g, drape_i_file *file) {
    drape_i_binary out;
    drape_i_binary_begin(&out, file, false);
    drape_i_put_u32(&out, (uint32_t)drape_i_glb_size(g, g->recording->frames).all);
    drape_i_put_u32(&out, 0x004E4942); /* "BIN" */
    put_corners(g, &out);
    drape_status status = put_frames(ctx, g, &out);
    put_texture(g, &out);
    if (!status) status = put_animation(ctx, g->recording, &out);
    if (!status) status = drape_i_glb_put_objects(ctx, g, &out);
    if (!status) drape_i_glb_put_images(g, &out);
    drape_i_binary_end(&out);
    return status;
}

/* ---- the file ---- */

static void write_header(drape_i_file *file) {
    drape_i_binary out;
    drape_i_binary_begin(&out, file, false);
    drape_i_put_u32(&out, 0x46546C67); /* "glTF" */
    drape_i_put_u32(&out, 2);
    drape_i_put_u32(&out, 0); /* the length, put in at the end, as is that of the JSON */
    drape_i_put_u32(&out, 0);
    drape_i_put_u32(&out, 0x4E4F534A); /* "JSON" */
    drape_i_binary_end(&out);
}

static drape_status patch(drape_context *ctx, drape_i_file *file, long at, int64_t value) {
    drape_i_binary out;
    if (value > MOST_BYTES)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: larger than 4 GiB, the most that GLB can be", file->path);
    if (fseek(file->stream, at, SEEK_SET) != 0)
        return drape_i_fail(ctx, DRAPE_ERROR_IO, "%s: cannot write: %s", file->path, strerror(errno));
    drape_i_binary_begin(&out, file, false);
    drape_i_put_u32(&out, (uint32_t)value);
    drape_i_binary_end(&out);
    return DRAPE_OK;
}

static drape_status write_glb(drape_context *ctx, void *user, drape_i_file *file) {
    drape_i_glb *g = user;
    write_header(file);
    drape_status status = drape_i_glb_json(ctx, g, file);
    if (status) return status;
    int64_t end = (int64_t)ftello(file->stream);
    if (end < 0) return drape_i_fail(ctx, DRAPE_ERROR_IO, "%s: cannot write: %s", file->path, strerror(errno));
    for (; end % 4; end++) fputc(' ', file->stream);
    status = put_all(ctx, g, file);
    if (!status) status = patch(ctx, file, JSON_LENGTH_AT, end - HEADER_SIZE - CHUNK_HEAD);
    if (!status)
        status = patch(ctx, file, LENGTH_AT, end + CHUNK_HEAD + drape_i_glb_size(g, g->recording->frames).all);
    return status;
}

static drape_status close_glb(drape_context *ctx, void *state) {
    drape_i_glb *g = state;
    return destroy(ctx, g, drape_i_recording_close(ctx, g->recording, write_glb, g));
}

const drape_i_format drape_i_format_glb = {".glb", "binary glTF with the motion as morph targets", open_glb,
                                           write_frame, close_glb};
