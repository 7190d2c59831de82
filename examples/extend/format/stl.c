/* stl.c: a sequence of binary STL files (3D Systems 1989), one per frame. Each has 80 bytes of text and the number
 * of triangles; for each of them the normal, three corners and two bytes of zero. Numbers are little-endian float32,
 * in m, z up. STL knows neither vertices nor objects. A triangle without an area has the normal 0. */
#include "io/format_tools.h"

#include <math.h>
#include <stdio.h>

static const char EXTENSION[] = ".stl";

enum { HEAD = 80 };

static void put_triangle(const double *x, const int32_t corner[3], drape_i_binary *out) {
    const double *a = x + 3 * (int64_t)corner[0], *b = x + 3 * (int64_t)corner[1], *c = x + 3 * (int64_t)corner[2];
    double u[3], v[3], n[3];
    for (int32_t k = 0; k < 3; k++) u[k] = b[k] - a[k], v[k] = c[k] - a[k];
    for (int32_t k = 0; k < 3; k++) n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int32_t k = 0; k < 3; k++) drape_i_put_f32(out, length > 0 ? n[k] / length : 0);
    for (int32_t k = 0; k < 9; k++) drape_i_put_f32(out, (k < 3 ? a : k < 6 ? b : c)[k % 3]);
    drape_i_put_u8(out, 0);
    drape_i_put_u8(out, 0);
}

/* The cloth, then the meshes of others that are part of the frame. */
static void put_triangles(const drape_cloth *cloth, const drape_frame *f, drape_i_binary *out) {
    for (int64_t t = 0; t < drape_cloth_triangles(cloth); t++)
        put_triangle(f->positions, drape_cloth_triangle(cloth) + 3 * t, out);
    for (int32_t i = 0; i < f->mesh_count; i++)
        for (int64_t t = 0; t < f->meshes[i].triangles; t++)
            put_triangle(f->meshes[i].positions, f->meshes[i].triangle + 3 * t, out);
}

static drape_status write_file(drape_context *ctx, drape_i_sequence *s, drape_i_file *file,
                               const drape_i_frame *frame) {
    const drape_frame *f = &frame->data;
    drape_i_binary out;
    char head[HEAD + 1] = {0};
    int64_t triangles = drape_cloth_triangles(s->cloth);
    drape_status status = drape_i_check_floats(ctx, s->path, f->number, drape_cloth_vertices(s->cloth), f->positions);
    if (status) return status;
    for (int32_t i = 0; i < f->mesh_count; i++) triangles += f->meshes[i].triangles;
    snprintf(head, sizeof head, "drape: frame %lld, metres, z up", (long long)f->number);
    drape_i_binary_begin(&out, file, false);
    for (int32_t k = 0; k < HEAD; k++) drape_i_put_u8(&out, (uint8_t)head[k]);
    drape_i_put_u32(&out, (uint32_t)triangles);
    put_triangles(s->cloth, f, &out);
    drape_i_binary_end(&out);
    return DRAPE_OK;
}

static drape_status open_sequence(drape_context *ctx, const char *path, const drape_i_animation *what, void **state) {
    return drape_i_sequence_open(ctx, path, EXTENSION, what, state);
}

static drape_status write_frame(drape_context *ctx, void *state, const drape_i_frame *frame) {
    return drape_i_sequence_frame(ctx, state, frame, write_file);
}

const drape_i_format drape_i_format_stl = {EXTENSION, "a binary STL file per frame: NAME_0000.stl, ...",
                                           open_sequence, write_frame, drape_i_sequence_close};
