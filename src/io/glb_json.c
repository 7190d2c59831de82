/* glb_json.c: the JSON chunk of a GLB file; glb.h says how accessors and views are numbered. */
#include "io/format_tools.h"
#include "io/glb.h"

#include <math.h>
#include <string.h>

enum { FLOAT = 5126, UNSIGNED_INT = 5125, ARRAY_BUFFER = 34962, ELEMENT_ARRAY_BUFFER = 34963 };

/* A chunk being written. */
typedef struct writing {
    drape_context *ctx;
    drape_i_glb *g;
    drape_i_file *file;
    FILE *to;
    int64_t frames;
    int32_t uv_view, animation_view, object_view, image_view; /* numbers of views */
    int64_t first_uv, times, first_vectors, first_object;     /* numbers of accessors */
} writing;

static void number(writing *w) {
    w->uv_view = 2;
    w->animation_view = w->g->textured ? 3 : 2;
    w->object_view = w->animation_view + (w->frames > 1 ? 1 : 0);
    w->image_view = w->object_view + drape_i_glb_objects_size(w->g, w->frames).views;
    w->first_uv = w->g->pieces;
    w->times = w->first_uv + w->g->textured;
    w->first_vectors = w->times + (w->frames > 1 ? 2 : 0);
    w->first_object = w->first_vectors + 2 * w->frames * w->g->pieces;
}

/* The positions of a piece in a frame; its normals are the next one. */
static int64_t vectors_of(const writing *w, int64_t frame, int32_t piece) {
    return w->first_vectors + 2 * (frame * w->g->pieces + piece);
}

/* ---- meshes ---- */

static void write_targets(const writing *w, int32_t piece) {
    fputs(",\"targets\":[", w->to);
    for (int64_t f = 1; f < w->frames; f++) {
        long long at = vectors_of(w, f, piece);
        fprintf(w->to, "%s{\"POSITION\":%lld,\"NORMAL\":%lld}", f > 1 ? "," : "", at, at + 1);
    }
    fputc(']', w->to);
}

static void write_meshes(const writing *w) {
    int64_t uv = w->first_uv;
    fputs(",\n\"meshes\":[", w->to);
    for (int32_t i = 0; i < w->g->pieces; i++) {
        long long at = vectors_of(w, 0, i);
        fputs(i ? ",\n{\"name\":" : "\n{\"name\":", w->to);
        drape_i_html_json(w->file, w->g->piece[i].range->name);
        fprintf(w->to, ",\"primitives\":[{\"attributes\":{\"POSITION\":%lld,\"NORMAL\":%lld", at, at + 1);
        if (w->g->piece[i].textured) fprintf(w->to, ",\"TEXCOORD_0\":%lld", (long long)uv++);
        fprintf(w->to, "},\"indices\":%d,\"material\":%d", i, drape_i_glb_piece_material(w->g, i));
        if (w->frames > 1) write_targets(w, i);
        fputs("}]}", w->to);
    }
    drape_i_glb_object_meshes(w->g, w->first_object, w->file);
    fputc(']', w->to);
}

static void write_nodes(const writing *w) {
    fputs(",\"nodes\":[", w->to);
    for (int32_t i = 0; i < w->g->pieces + w->g->objects; i++) fprintf(w->to, "%s%d", i ? "," : "", i);
    fputs("]}],\n\"nodes\":[", w->to);
    for (int32_t i = 0; i < w->g->pieces; i++) {
        fputs(i ? ",\n{\"name\":" : "\n{\"name\":", w->to);
        drape_i_html_json(w->file, w->g->piece[i].range->name);
        fprintf(w->to, ",\"mesh\":%d}", i);
    }
    drape_i_glb_object_nodes(w->g, w->file);
    fputc(']', w->to);
}

static void write_head(const writing *w) {
    fprintf(w->to, "{\"asset\":{\"version\":\"2.0\",\"generator\":\"drape %s\"},\n\"scene\":0,\"scenes\":[{\"name\":",
            drape_version());
    drape_i_html_json(w->file, w->g->recording->title);
    write_nodes(w);
    drape_i_glb_materials(w->g, w->image_view, w->file);
}

static void write_animation(const writing *w) {
    fputs(",\n\"animations\":[{\"name\":", w->to);
    drape_i_html_json(w->file, w->g->recording->title);
    fprintf(w->to, ",\"samplers\":[{\"input\":%lld,\"output\":%lld}", (long long)w->times, (long long)w->times + 1);
    drape_i_glb_object_samplers(w->g, w->times, w->first_object, w->file);
    fputs("],\"channels\":[", w->to);
    for (int32_t i = 0; i < w->g->pieces; i++)
        fprintf(w->to, "%s{\"sampler\":0,\"target\":{\"node\":%d,\"path\":\"weights\"}}", i ? "," : "", i);
    drape_i_glb_object_channels(w->g, w->file);
    fputs("]}]", w->to);
}

/* ---- views ---- */

static void write_view(const writing *w, int64_t *offset, int64_t bytes, const char *more, int value) {
    if (!bytes) return;
    fprintf(w->to, "%s{\"buffer\":0,\"byteOffset\":%lld,\"byteLength\":%lld", *offset ? ",\n" : "\n",
            (long long)*offset, (long long)bytes);
    if (more) fprintf(w->to, more, value);
    fputc('}', w->to);
    *offset += bytes;
}

static void write_views(const writing *w) {
    drape_i_glb_sizes s = drape_i_glb_size(w->g, w->frames);
    int64_t offset = 0;
    fprintf(w->to, ",\n\"buffers\":[{\"byteLength\":%lld}],\n\"bufferViews\":[", (long long)s.all);
    write_view(w, &offset, s.corners, ",\"target\":%d", ELEMENT_ARRAY_BUFFER);
    write_view(w, &offset, s.vectors, ",\"byteStride\":12,\"target\":%d", ARRAY_BUFFER);
    write_view(w, &offset, s.uv, ",\"byteStride\":8,\"target\":%d", ARRAY_BUFFER);
    write_view(w, &offset, s.animation, NULL, 0);
    drape_i_glb_object_views(w->g, offset, w->file);
    drape_i_glb_image_views(w->g, s.cloth + s.objects, w->file);
    fputc(']', w->to);
}

/* ---- accessors ---- */

static void write_accessor(const writing *w, int view, int64_t offset, int type, int64_t count, const char *shape) {
    fprintf(w->to, "{\"bufferView\":%d,\"byteOffset\":%lld,\"componentType\":%d,\"count\":%lld,\"type\":\"%s\"", view,
            (long long)offset, type, (long long)count, shape);
}

static void write_still_accessors(const writing *w) {
    int64_t corners = 0, uv = 0;
    for (int32_t i = 0; i < w->g->pieces; i++) {
        int64_t count = 3 * (int64_t)w->g->piece[i].range->triangles;
        fputs(i ? ",\n" : "\n", w->to);
        write_accessor(w, 0, 4 * corners, UNSIGNED_INT, count, "SCALAR");
        fputc('}', w->to);
        corners += count;
    }
    for (int32_t i = 0; i < w->g->pieces; i++) {
        if (!w->g->piece[i].textured) continue;
        fputs(",\n", w->to);
        write_accessor(w, w->uv_view, 8 * uv, FLOAT, w->g->piece[i].vertices, "VEC2");
        fputc('}', w->to);
        uv += w->g->piece[i].vertices;
    }
}

static void write_animation_accessors(const writing *w) {
    const drape_i_recording *r = w->g->recording;
    double begin = (double)(float)r->first.time, end = (double)(float)r->last.time;
    fputs(",\n", w->to);
    write_accessor(w, w->animation_view, 0, FLOAT, w->frames, "SCALAR");
    fprintf(w->to, ",\"min\":[%.17g],\"max\":[%.17g]},\n", begin, end);
    write_accessor(w, w->animation_view, 4 * w->frames, FLOAT, w->frames * (w->frames - 1), "SCALAR");
    fputc('}', w->to);
}

static void write_bounds(const writing *w, const drape_i_glb_piece *p, int64_t frame) {
    double low[3] = {0}, high[3] = {0};
    for (int32_t i = 0; i < p->vertices; i++)
        for (int32_t k = 0; k < 3; k++) {
            double v = drape_i_glb_component(frame, w->g->recording->x, w->g->base, p->source[i], k);
            low[k] = i ? fmin(low[k], v) : v;
            high[k] = i ? fmax(high[k], v) : v;
        }
    fprintf(w->to, ",\"min\":[%.17g,%.17g,%.17g],\"max\":[%.17g,%.17g,%.17g]}", low[0], low[1], low[2], high[0],
            high[1], high[2]);
}

static drape_status write_vector_accessors(const writing *w) {
    drape_i_recording *r = w->g->recording;
    int64_t offset = 0;
    for (int64_t f = 0; f < w->frames; f++) {
        drape_status status = drape_i_recording_read(w->ctx, r, f);
        if (status) return status;
        if (f == 0) memcpy(w->g->base, r->x, 3 * (size_t)r->vertices * sizeof *r->x);
        for (int32_t i = 0; i < w->g->pieces; i++) {
            const drape_i_glb_piece *p = &w->g->piece[i];
            fputs(",\n", w->to);
            write_accessor(w, 1, offset, FLOAT, p->vertices, "VEC3");
            write_bounds(w, p, f);
            fputs(",\n", w->to);
            write_accessor(w, 1, offset + 12 * (int64_t)p->vertices, FLOAT, p->vertices, "VEC3");
            fputc('}', w->to);
            offset += 24 * (int64_t)p->vertices;
        }
    }
    return DRAPE_OK;
}

drape_status drape_i_glb_json(drape_context *ctx, drape_i_glb *g, drape_i_file *file) {
    writing w = {.ctx = ctx, .g = g, .file = file, .to = file->stream, .frames = g->recording->frames};
    number(&w);
    write_head(&w);
    write_meshes(&w);
    if (w.frames > 1) write_animation(&w);
    write_views(&w);
    fputs(",\n\"accessors\":[", w.to);
    write_still_accessors(&w);
    if (w.frames > 1) write_animation_accessors(&w);
    drape_status status = write_vector_accessors(&w);
    if (!status) status = drape_i_glb_object_accessors(ctx, g, w.object_view, file);
    fputs("]}\n", w.to);
    return status;
}
