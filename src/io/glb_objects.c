/* glb_objects.c: meshes beside the cloth in a GLB file, such as colliders.
 *
 * A node and a mesh each, without normals, so that players show their faces flat. What rests keeps its positions.
 * What moves as a whole has its vertices around its middle, and its node is moved and turned by the animation. What
 * changes its form has morph targets, moved by the weights of the cloth. Their accessors and views come after those
 * of the cloth: of each mesh its corners and positions; then translations and rotations, or the targets. */
#include "io/glb.h"

#include <math.h>
#include <string.h>

enum { FLOAT = 5126, UNSIGNED_INT = 5125, ARRAY_BUFFER = 34962, ELEMENT_ARRAY_BUFFER = 34963 };
enum { RIGID_BYTES = 28 }; /* per frame: a translation and a quaternion */

/* ---- as frames come ---- */

static drape_status begin(drape_context *ctx, drape_i_glb *g, const drape_frame *first) {
    int64_t numbers = 0, extra = 0;
    g->object = drape_i_arena_get(ctx, &g->arena, first->mesh_count, sizeof *g->object);
    for (int32_t m = 0; m < first->mesh_count; m++) numbers += 3 * (int64_t)first->meshes[m].vertices;
    g->object_base = drape_i_arena_get(ctx, &g->arena, numbers, sizeof *g->object_base);
    if (!g->object || !g->object_base) return DRAPE_ERROR_MEMORY;
    for (int32_t m = 0; m < first->mesh_count; m++) {
        const drape_frame_mesh *mesh = &first->meshes[m];
        int64_t count = 3 * (int64_t)mesh->vertices;
        drape_i_glb_object *o = &g->object[g->objects];
        *o = (drape_i_glb_object){
            .place = m, .first = extra, .vertices = mesh->vertices, .triangles = mesh->triangles};
        if (count > 0) memcpy(g->object_base + extra, mesh->positions, (size_t)count * sizeof *mesh->positions);
        for (int64_t i = 0; i < count; i++) o->middle[i % 3] += mesh->positions[i] / mesh->vertices;
        extra += count;
        if (mesh->vertices > 0 && mesh->triangles > 0) g->objects++; /* glTF has no empty meshes */
    }
    return DRAPE_OK;
}

drape_status drape_i_glb_objects_frame(drape_context *ctx, drape_i_glb *g, const drape_frame *frame) {
    if (frame->mesh_count == 0) return DRAPE_OK;
    if (g->recording->frames == 0) return begin(ctx, g, frame);
    for (int32_t i = 0; i < g->objects; i++) {
        drape_i_glb_object *o = &g->object[i];
        const double *base = g->object_base + o->first, *x = frame->meshes[o->place].positions;
        drape_i_rigid rigid;
        if (o->motion == DRAPE_I_GLB_FREE) continue;
        if (!drape_i_rigid_fit(o->vertices, base, x, &rigid)) o->motion = DRAPE_I_GLB_FREE;
        else if (memcmp(base, x, 3 * (size_t)o->vertices * sizeof *x) != 0) o->motion = DRAPE_I_GLB_RIGID;
    }
    return DRAPE_OK;
}

static int64_t targets(const drape_i_glb_object *o, int64_t frames) {
    return o->motion == DRAPE_I_GLB_FREE ? frames - 1 : 0;
}

drape_i_glb_object_sizes drape_i_glb_objects_size(const drape_i_glb *g, int64_t frames) {
    drape_i_glb_object_sizes s = {0};
    for (int32_t i = 0; i < g->objects; i++) {
        const drape_i_glb_object *o = &g->object[i];
        s.corners += 12 * (int64_t)o->triangles;
        s.vectors += 12 * (int64_t)o->vertices * (1 + targets(o, frames));
        if (o->motion == DRAPE_I_GLB_RIGID) s.motion += RIGID_BYTES * frames;
        s.accessors += 2 + (o->motion == DRAPE_I_GLB_RIGID ? 2 : targets(o, frames));
    }
    s.views = (s.corners > 0) + (s.vectors > 0) + (s.motion > 0);
    return s;
}

/* ---- numbers as they are in the file ---- */

/* (x, y, z), z up, becomes (x, z, -y). */
static void turn(const double p[3], float out[3]) {
    out[0] = (float)p[0];
    out[1] = (float)p[2];
    out[2] = -(float)p[1];
}

/* Vertex v of an object in a frame whose positions are in the recording's `extra`. If the object moves as a whole,
 * relative to its middle; if it is a target, minus the position in the first frame. */
static void vertex(const drape_i_glb *g, const drape_i_glb_object *o, int64_t frame, int64_t v, float out[3]) {
    double p[3];
    for (int32_t k = 0; k < 3; k++) {
        p[k] = (double)g->recording->extra[3 * v + k];
        if (o->motion == DRAPE_I_GLB_RIGID) p[k] -= o->middle[k];
        if (frame > 0) p[k] -= (double)(float)g->object_base[o->first + 3 * v + k];
    }
    turn(p, out);
}

static drape_status read_object(drape_context *ctx, drape_i_glb *g, const drape_i_glb_object *o, int64_t frame) {
    return drape_i_recording_read_extra(ctx, g->recording, frame, o->first, 3 * (int64_t)o->vertices);
}

/* Where the middle of an object is in a frame, and its turn, in glTF's axes. */
static drape_status placement(drape_context *ctx, drape_i_glb *g, const drape_i_glb_object *o, int64_t frame,
                              float translation[3], float rotation[4]) {
    int64_t count = 3 * (int64_t)o->vertices;
    double *x;
    drape_i_rigid r;
    drape_status status = read_object(ctx, g, o, frame);
    if (status) return status;
    if (!DRAPE_NEW(ctx, x, count)) return DRAPE_ERROR_MEMORY;
    for (int64_t i = 0; i < count; i++) x[i] = (double)g->recording->extra[i];
    drape_i_rigid_fit(o->vertices, g->object_base + o->first, x, &r); /* it is rigid except for rounding */
    DRAPE_FREE(ctx, x, count);
    const double *q = r.q, *m = o->middle;
    const double c[3] = {q[1] * m[2] - q[2] * m[1], q[2] * m[0] - q[0] * m[2], q[0] * m[1] - q[1] * m[0]};
    const double d[3] = {q[1] * c[2] - q[2] * c[1], q[2] * c[0] - q[0] * c[2], q[0] * c[1] - q[1] * c[0]};
    double at[3], length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), unit[3];
    for (int32_t k = 0; k < 3; k++) at[k] = r.t[k] + m[k] + 2 * q[3] * c[k] + 2 * d[k];
    for (int32_t k = 0; k < 3; k++) unit[k] = q[k] / length;
    turn(at, translation);
    turn(unit, rotation);
    rotation[3] = (float)(q[3] / length);
    return DRAPE_OK;
}

/* ---- the binary chunk ---- */

static drape_status put_vectors(drape_context *ctx, drape_i_glb *g, const drape_i_glb_object *o, int64_t frame,
                                drape_i_binary *out) {
    drape_status status = read_object(ctx, g, o, frame);
    for (int64_t v = 0; v < o->vertices && !status; v++) {
        float p[3];
        vertex(g, o, frame, v, p);
        for (int32_t k = 0; k < 3; k++) drape_i_put_f32(out, (double)p[k]);
    }
    return status;
}

/* All translations, then all rotations. */
static drape_status put_motion(drape_context *ctx, drape_i_glb *g, const drape_i_glb_object *o, drape_i_binary *out) {
    drape_status status = DRAPE_OK;
    for (int32_t part = 0; part < 2; part++)
        for (int64_t f = 0; f < g->recording->frames && !status; f++) {
            float translation[3], rotation[4];
            status = placement(ctx, g, o, f, translation, rotation);
            for (int32_t k = 0; k < 3 + part && !status; k++)
                drape_i_put_f32(out, (double)(part ? rotation[k] : translation[k]));
        }
    return status;
}

drape_status drape_i_glb_put_objects(drape_context *ctx, drape_i_glb *g, drape_i_binary *out) {
    drape_status status = DRAPE_OK;
    for (int32_t i = 0; i < g->objects; i++) {
        const drape_frame_mesh *mesh = &g->recording->shape->meshes[g->object[i].place];
        for (int64_t k = 0; k < 3 * (int64_t)mesh->triangles; k++) drape_i_put_u32(out, (uint32_t)mesh->triangle[k]);
    }
    for (int32_t i = 0; i < g->objects && !status; i++)
        for (int64_t f = 0; f <= targets(&g->object[i], g->recording->frames) && !status; f++)
            status = put_vectors(ctx, g, &g->object[i], f, out);
    for (int32_t i = 0; i < g->objects && !status; i++)
        if (g->object[i].motion == DRAPE_I_GLB_RIGID) status = put_motion(ctx, g, &g->object[i], out);
    return status;
}

/* ---- JSON ---- */

static const char *name_of(const drape_i_glb *g, int32_t i) {
    return g->recording->shape->meshes[g->object[i].place].name;
}

void drape_i_glb_object_nodes(const drape_i_glb *g, drape_i_file *file) {
    for (int32_t i = 0; i < g->objects; i++) {
        const drape_i_glb_object *o = &g->object[i];
        fputs(",\n{\"name\":", file->stream);
        drape_i_html_json(file, name_of(g, i));
        fprintf(file->stream, ",\"mesh\":%d", g->pieces + i);
        if (o->motion == DRAPE_I_GLB_RIGID)
            fprintf(file->stream, ",\"translation\":[%.9g,%.9g,%.9g]", o->middle[0], o->middle[2], -o->middle[1]);
        fputc('}', file->stream);
    }
}

void drape_i_glb_object_meshes(const drape_i_glb *g, int64_t accessor, drape_i_file *file) {
    int64_t frames = g->recording->frames;
    for (int32_t i = 0; i < g->objects; i++) {
        const drape_i_glb_object *o = &g->object[i];
        fputs(",\n{\"name\":", file->stream);
        drape_i_html_json(file, name_of(g, i));
        fprintf(file->stream, ",\"primitives\":[{\"attributes\":{\"POSITION\":%lld},\"indices\":%lld,\"material\":%d",
                (long long)accessor + 1, (long long)accessor, drape_i_glb_object_material(g, i));
        accessor += 2;
        if (targets(o, frames) > 0) {
            fputs(",\"targets\":[", file->stream);
            for (int64_t f = 1; f < frames; f++)
                fprintf(file->stream, "%s{\"POSITION\":%lld}", f > 1 ? "," : "", (long long)accessor++);
            fputc(']', file->stream);
        } else if (o->motion == DRAPE_I_GLB_RIGID) {
            accessor += 2;
        }
        fputs("}]}", file->stream);
    }
}

/* Samplers after the first one, which is that of the weights; `times`: the accessor of the times. */
void drape_i_glb_object_samplers(const drape_i_glb *g, int64_t times, int64_t accessor, drape_i_file *file) {
    for (int32_t i = 0; i < g->objects; i++) {
        bool rigid = g->object[i].motion == DRAPE_I_GLB_RIGID;
        for (int32_t k = 0; k < 2 && rigid; k++)
            fprintf(file->stream, ",{\"input\":%lld,\"output\":%lld}", (long long)times, (long long)accessor + 2 + k);
        accessor += 2 + (rigid ? 2 : targets(&g->object[i], g->recording->frames));
    }
}

void drape_i_glb_object_channels(const drape_i_glb *g, drape_i_file *file) {
    int32_t sampler = 1;
    for (int32_t i = 0; i < g->objects; i++) {
        int32_t node = g->pieces + i;
        if (g->object[i].motion == DRAPE_I_GLB_FREE)
            fprintf(file->stream, ",{\"sampler\":0,\"target\":{\"node\":%d,\"path\":\"weights\"}}", node);
        if (g->object[i].motion != DRAPE_I_GLB_RIGID) continue;
        fprintf(file->stream, ",{\"sampler\":%d,\"target\":{\"node\":%d,\"path\":\"translation\"}}", sampler++, node);
        fprintf(file->stream, ",{\"sampler\":%d,\"target\":{\"node\":%d,\"path\":\"rotation\"}}", sampler++, node);
    }
}

static void write_view(drape_i_file *file, int64_t *offset, int64_t bytes, const char *more, int value) {
    if (bytes == 0) return;
    fprintf(file->stream, ",\n{\"buffer\":0,\"byteOffset\":%lld,\"byteLength\":%lld", (long long)*offset,
            (long long)bytes);
    if (more) fprintf(file->stream, more, value);
    fputc('}', file->stream);
    *offset += bytes;
}

void drape_i_glb_object_views(const drape_i_glb *g, int64_t offset, drape_i_file *file) {
    drape_i_glb_object_sizes s = drape_i_glb_objects_size(g, g->recording->frames);
    write_view(file, &offset, s.corners, ",\"target\":%d", ELEMENT_ARRAY_BUFFER);
    write_view(file, &offset, s.vectors, ",\"byteStride\":12,\"target\":%d", ARRAY_BUFFER);
    write_view(file, &offset, s.motion, NULL, 0);
}

static void write_accessor(drape_i_file *file, int view, int64_t *offset, int type, int64_t count, const char *shape,
                           int64_t bytes) {
    fprintf(file->stream,
            ",\n{\"bufferView\":%d,\"byteOffset\":%lld,\"componentType\":%d,\"count\":%lld,\"type\":\"%s\"", view,
            (long long)*offset, type, (long long)count, shape);
    *offset += count * bytes;
}

static drape_status write_bounds(drape_context *ctx, drape_i_glb *g, const drape_i_glb_object *o, int64_t frame,
                                 drape_i_file *file) {
    float low[3] = {0}, high[3] = {0}, p[3];
    drape_status status = read_object(ctx, g, o, frame);
    for (int64_t v = 0; v < o->vertices && !status; v++) {
        vertex(g, o, frame, v, p);
        for (int32_t k = 0; k < 3; k++) {
            low[k] = v ? fminf(low[k], p[k]) : p[k];
            high[k] = v ? fmaxf(high[k], p[k]) : p[k];
        }
    }
    fprintf(file->stream, ",\"min\":[%.17g,%.17g,%.17g],\"max\":[%.17g,%.17g,%.17g]}", (double)low[0], (double)low[1],
            (double)low[2], (double)high[0], (double)high[1], (double)high[2]);
    return status;
}

drape_status drape_i_glb_object_accessors(drape_context *ctx, drape_i_glb *g, int view, drape_i_file *file) {
    int64_t corners = 0, vectors = 0, motion = 0, frames = g->recording->frames;
    drape_status status = DRAPE_OK;
    for (int32_t i = 0; i < g->objects && !status; i++) {
        const drape_i_glb_object *o = &g->object[i];
        write_accessor(file, view, &corners, UNSIGNED_INT, 3 * (int64_t)o->triangles, "SCALAR", 4);
        fputc('}', file->stream);
        for (int64_t f = 0; f <= targets(o, frames) && !status; f++) {
            write_accessor(file, view + 1, &vectors, FLOAT, o->vertices, "VEC3", 12);
            status = write_bounds(ctx, g, o, f, file);
        }
        if (o->motion != DRAPE_I_GLB_RIGID) continue;
        write_accessor(file, view + 2, &motion, FLOAT, frames, "VEC3", 12);
        fputc('}', file->stream);
        write_accessor(file, view + 2, &motion, FLOAT, frames, "VEC4", 16);
        fputc('}', file->stream);
    }
    return status;
}
