/* ply.c: a sequence of PLY files (G. Turk, "The PLY Polygon File Format", 1994), one per frame, binary
 * little-endian.
 *
 *   vertex: float x y z, nx ny nz, and s t where every vertex has one pair of texture coordinates
 *   face:   list uchar int vertex_indices, and list uchar float texcoord, a pair a corner, where some have several
 *
 * then the attributes of the frame: float NAME, or NAME_0, NAME_1, ... where there are several components.
 *
 * Positions and texture coordinates in m, z up. PLY knows no objects: a comment says where each piece begins. Texture
 * coordinates are left out unless every piece has them, and so are meshes beside the cloth. */
#include "io/format_tools.h"

static const char EXTENSION[] = ".ply";

typedef enum texture_place { NOWHERE, AT_VERTICES, AT_CORNERS } texture_place;

static texture_place place_texture(const drape_i_sequence *s) {
    texture_place place = AT_VERTICES;
    for (int32_t i = 0; i < drape_cloth_pieces(s->cloth); i++) {
        drape_i_texture t = drape_i_texture_of(s->pieces, i);
        if (!t.uv) return NOWHERE;
        if (t.seams) place = AT_CORNERS;
    }
    return place;
}

/* A comment is one line. */
static void write_comment(const drape_piece_range *p, FILE *to) {
    fprintf(to, "comment piece %d vertices from %d, %d faces from %d: ", p->vertices, p->first_vertex, p->triangles,
            p->first_triangle);
    for (const char *s = p->name; *s; s++) fputc((unsigned char)*s >= ' ' && *s != 127 ? *s : '_', to);
    fputc('\n', to);
}

/* NAME, or NAME_0, NAME_1, ... of an attribute with several components. */
static void write_properties(const drape_frame *f, drape_attribute_place place, FILE *to) {
    for (int32_t i = 0; i < f->attribute_count; i++) {
        const drape_frame_attribute *a = &f->attributes[i];
        for (int32_t k = 0; k < a->components && a->place == place; k++) {
            fprintf(to, "property float %s", a->name);
            if (a->components > 1) fprintf(to, "_%d", k);
            fputc('\n', to);
        }
    }
}

static void write_head(const drape_i_sequence *s, const drape_frame *f, texture_place place, FILE *to) {
    static const char *const numbers[] = {"x", "y", "z", "nx", "ny", "nz", "s", "t"};
    fputs("ply\nformat binary_little_endian 1.0\ncomment ", to);
    drape_i_sequence_comment(f, to);
    for (int32_t i = 0; i < drape_cloth_pieces(s->cloth); i++) write_comment(drape_cloth_piece(s->cloth, i), to);
    fprintf(to, "element vertex %d\n", drape_cloth_vertices(s->cloth));
    for (int32_t k = 0; k < (place == AT_VERTICES ? 8 : 6); k++) fprintf(to, "property float %s\n", numbers[k]);
    write_properties(f, DRAPE_PER_VERTEX, to);
    fprintf(to, "element face %d\nproperty list uchar int vertex_indices\n", drape_cloth_triangles(s->cloth));
    if (place == AT_CORNERS) fputs("property list uchar float texcoord\n", to);
    write_properties(f, DRAPE_PER_TRIANGLE, to);
    fputs("end_header\n", to);
}

/* The attributes of one vertex or triangle, numbered over all pieces. */
static void put_attributes(const drape_frame *f, drape_attribute_place place, int64_t at, drape_i_binary *out) {
    for (int32_t i = 0; i < f->attribute_count; i++) {
        const drape_frame_attribute *a = &f->attributes[i];
        for (int32_t k = 0; k < a->components && a->place == place; k++)
            drape_i_put_f32(out, a->values[a->components * at + k]);
    }
}

static void put_vertices(const drape_i_sequence *s, int32_t piece, texture_place place, const drape_frame *f,
                         drape_i_binary *out) {
    const drape_piece_range *p = drape_cloth_piece(s->cloth, piece);
    drape_i_texture texture = drape_i_texture_of(s->pieces, piece);
    for (int64_t i = 0; i < p->vertices; i++) {
        int64_t v = p->first_vertex + i;
        for (int32_t k = 0; k < 3; k++) drape_i_put_f32(out, f->positions[3 * v + k]);
        for (int32_t k = 0; k < 3; k++) drape_i_put_f32(out, s->normal[3 * v + k]);
        for (int32_t k = 0; k < 2 && place == AT_VERTICES; k++) drape_i_put_f32(out, texture.uv[2 * i + k]);
        put_attributes(f, DRAPE_PER_VERTEX, v, out);
    }
}

static void put_corners(const drape_i_texture *texture, int64_t triangle, drape_i_binary *out) {
    drape_i_put_u8(out, 6);
    for (int32_t k = 0; k < 6; k++)
        drape_i_put_f32(out, texture->uv[2 * (int64_t)texture->corner[3 * triangle + k / 2] + k % 2]);
}

static void put_faces(const drape_i_sequence *s, int32_t piece, texture_place place, const drape_frame *f,
                      drape_i_binary *out) {
    const drape_piece_range *p = drape_cloth_piece(s->cloth, piece);
    drape_i_texture texture = drape_i_texture_of(s->pieces, piece);
    const int32_t *corner = drape_cloth_triangle(s->cloth) + 3 * (int64_t)p->first_triangle;
    for (int64_t t = 0; t < p->triangles; t++) {
        drape_i_put_u8(out, 3);
        for (int32_t k = 0; k < 3; k++) drape_i_put_u32(out, (uint32_t)corner[3 * t + k]);
        if (place == AT_CORNERS) put_corners(&texture, t, out);
        put_attributes(f, DRAPE_PER_TRIANGLE, p->first_triangle + t, out);
    }
}

static drape_status write_file(drape_context *ctx, drape_i_sequence *s, drape_i_file *file,
                               const drape_i_frame *frame) {
    drape_i_binary out;
    const drape_frame *f = &frame->data;
    texture_place place = place_texture(s);
    drape_status status = drape_i_check_floats(ctx, s->path, f->number, drape_cloth_vertices(s->cloth), f->positions);
    if (status) return status;
    drape_i_normals(s->cloth, f->positions, s->normal);
    write_head(s, f, place, file->stream);
    drape_i_binary_begin(&out, file, false);
    for (int32_t i = 0; i < drape_cloth_pieces(s->cloth); i++) put_vertices(s, i, place, f, &out);
    for (int32_t i = 0; i < drape_cloth_pieces(s->cloth); i++) put_faces(s, i, place, f, &out);
    drape_i_binary_end(&out);
    return DRAPE_OK;
}

static drape_status open_sequence(drape_context *ctx, const char *path, const drape_i_animation *what, void **state) {
    return drape_i_sequence_open(ctx, path, EXTENSION, what, state);
}

static drape_status write_frame(drape_context *ctx, void *state, const drape_i_frame *frame) {
    return drape_i_sequence_frame(ctx, state, frame, write_file);
}

const drape_i_format drape_i_format_ply = {EXTENSION, "one binary PLY file per frame: NAME_0000.ply, ...",
                                           open_sequence, write_frame, drape_i_sequence_close};
