/* glb_materials.c: materials of a GLB file, and the images that lie on them.
 *
 * First a material for pieces without an appearance, then one for such objects, if there are any. Then one per piece
 * with an appearance, and one per object. Factors are amounts of light, and an image, which is sRGB, is multiplied by
 * them (glTF 2.0, section 3.9.2). An image is a view of its own; a piece with one has a texture and a sampler, since
 * on some pieces the image repeats.
 */
#include "io/glb.h"

enum { LINEAR = 9729, LINEAR_MIPMAP_LINEAR = 9987, REPEAT = 10497, CLAMP_TO_EDGE = 33071, PADDING = 4 };

static const drape_appearance *look_of(const drape_i_glb *g, int32_t piece) {
    return drape_i_appearance_of(g->recording->pieces, piece);
}

static const uint8_t *color_of(const drape_i_glb *g, int32_t object) {
    return drape_i_mesh_color(g->recording->shape, g->object[object].place);
}

static int32_t count_pieces(const drape_i_glb *g, int32_t end) {
    int32_t count = 0;
    for (int32_t i = 0; i < end; i++) count += look_of(g, i) != NULL;
    return count;
}

static int32_t count_objects(const drape_i_glb *g, int32_t end) {
    int32_t count = 0;
    for (int32_t i = 0; i < end; i++) count += color_of(g, i) != NULL;
    return count;
}

/* Whether there are pieces, or objects, that say nothing. */
static bool has_plain_pieces(const drape_i_glb *g) { return count_pieces(g, g->pieces) < g->pieces; }
static bool has_plain_objects(const drape_i_glb *g) { return count_objects(g, g->objects) < g->objects; }

int32_t drape_i_glb_piece_material(const drape_i_glb *g, int32_t piece) {
    return look_of(g, piece) ? has_plain_pieces(g) + has_plain_objects(g) + count_pieces(g, piece) : 0;
}

int32_t drape_i_glb_object_material(const drape_i_glb *g, int32_t object) {
    if (!color_of(g, object)) return has_plain_pieces(g);
    return has_plain_pieces(g) + has_plain_objects(g) + count_pieces(g, g->pieces) + count_objects(g, object);
}

/* ---- materials ---- */

static void begin_material(drape_i_file *file, const char *name, bool *first) {
    fputs(*first ? "{\"name\":" : ",\n{\"name\":", file->stream);
    drape_i_html_json(file, name);
    fputs(",\"doubleSided\":true,\"pbrMetallicRoughness\":{\"baseColorFactor\":", file->stream);
    *first = false;
}

static void write_factor(drape_i_file *file, const uint8_t *color) {
    fprintf(file->stream, "[%.9g,%.9g,%.9g,1]", drape_i_linear(color[0]), drape_i_linear(color[1]),
            drape_i_linear(color[2]));
}

static void end_material(drape_i_file *file, int32_t texture, double roughness) {
    if (texture >= 0) fprintf(file->stream, ",\"baseColorTexture\":{\"index\":%d}", texture);
    fprintf(file->stream, ",\"metallicFactor\":0,\"roughnessFactor\":%.1f}}", roughness);
}

static void write_materials(const drape_i_glb *g, drape_i_file *file) {
    const double cloth = 0.9, object = 0.8; /* roughness */
    int32_t textures = 0;
    bool first = true;
    fputs(",\n\"materials\":[", file->stream);
    if (has_plain_pieces(g)) {
        begin_material(file, "cloth", &first);
        fputs("[0.6,0.6,0.65,1]", file->stream);
        end_material(file, -1, cloth);
    }
    if (has_plain_objects(g)) {
        begin_material(file, "object", &first);
        fputs("[0.3,0.3,0.3,1]", file->stream);
        end_material(file, -1, object);
    }
    for (int32_t i = 0; i < g->pieces; i++) {
        if (!look_of(g, i)) continue;
        begin_material(file, g->piece[i].range->name, &first);
        write_factor(file, drape_i_appearance_color(look_of(g, i)));
        end_material(file, g->images.of_piece[i] < 0 ? -1 : textures++, cloth);
    }
    for (int32_t i = 0; i < g->objects; i++) {
        if (!color_of(g, i)) continue;
        begin_material(file, g->recording->shape->meshes[g->object[i].place].name, &first);
        write_factor(file, color_of(g, i));
        end_material(file, -1, object);
    }
    fputc(']', file->stream);
}

static void write_textures(const drape_i_glb *g, int32_t view, drape_i_file *file) {
    FILE *to = file->stream;
    if (g->images.count == 0) return;
    fputs(",\n\"images\":[", to);
    for (int32_t i = 0; i < g->images.count; i++)
        fprintf(to, "%s{\"bufferView\":%d,\"mimeType\":\"%s\"}", i ? "," : "", view + i, g->images.kind[i].type);
    fputs("],\"samplers\":[", to);
    for (int32_t i = 0, number = 0; i < g->pieces; i++) {
        if (g->images.of_piece[i] < 0) continue;
        int wrap = drape_i_texture_inside(&g->piece[i].texture) ? CLAMP_TO_EDGE : REPEAT;
        fprintf(to, "%s{\"magFilter\":%d,\"minFilter\":%d,\"wrapS\":%d,\"wrapT\":%d}", number++ ? "," : "", LINEAR,
                LINEAR_MIPMAP_LINEAR, wrap, wrap);
    }
    fputs("],\"textures\":[", to);
    for (int32_t i = 0, number = 0; i < g->pieces; i++) {
        if (g->images.of_piece[i] < 0) continue;
        fprintf(to, "%s{\"sampler\":%d,\"source\":%d}", number ? "," : "", number, g->images.of_piece[i]);
        number++;
    }
    fputc(']', to);
}

void drape_i_glb_materials(const drape_i_glb *g, int32_t view, drape_i_file *file) {
    write_materials(g, file);
    write_textures(g, view, file);
}

/* ---- the bytes of images, each padded ---- */

static int64_t padding(int64_t bytes) { return (PADDING - bytes % PADDING) % PADDING; }

int64_t drape_i_glb_images_size(const drape_i_glb *g) {
    int64_t sum = 0;
    for (int32_t i = 0; i < g->images.count; i++) {
        int64_t bytes = g->images.source[i]->image_bytes;
        sum += bytes + padding(bytes);
    }
    return sum;
}

void drape_i_glb_image_views(const drape_i_glb *g, int64_t offset, drape_i_file *file) {
    for (int32_t i = 0; i < g->images.count; i++) {
        int64_t bytes = g->images.source[i]->image_bytes;
        fprintf(file->stream, ",\n{\"buffer\":0,\"byteOffset\":%lld,\"byteLength\":%lld}", (long long)offset,
                (long long)bytes);
        offset += bytes + padding(bytes);
    }
}

void drape_i_glb_put_images(const drape_i_glb *g, drape_i_binary *out) {
    for (int32_t i = 0; i < g->images.count; i++) {
        const uint8_t *data = g->images.source[i]->image;
        int64_t bytes = g->images.source[i]->image_bytes;
        for (int64_t k = 0; k < bytes; k++) drape_i_put_u8(out, data[k]);
        for (int64_t k = 0; k < padding(bytes); k++) drape_i_put_u8(out, 0);
    }
}
