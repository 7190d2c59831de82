/* scene_appearance.c: `color:` and `texture:`, how a piece or a collider looks in files. */
#include "base/file.h"
#include "io/appearance.h"
#include "io/mesh.h"
#include "io/scene_reader.h"

#include <string.h>

enum { MOST_NAMES = 64 };

static const int64_t MOST_IMAGE_BYTES = 64 << 20; /* of all images of a scene */

/* ---- colors ---- */

static void unknown_color(reader_t *r, const drape_i_node *node) {
    const char *names[MOST_NAMES + 1] = {0}, *nearest = NULL;
    for (int32_t i = 0; i < MOST_NAMES && drape_color_name(i); i++) names[i] = drape_color_name(i);
    bool number = node->text[0] == '#';
    if (!number) nearest = drape_i_nearest(node->text, names);
    drape_i_problem_at(&r->problems, node, false, "unknown color \"%s\"%s%s%s%s", node->text,
                       nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "",
                       number    ? "; write it as \"#rrggbb\" or \"#rgb\""
                       : nearest ? " (`drape list colors` lists the names)"
                                 : "; use a name that `drape list colors` lists, or \"#rrggbb\"");
}

static bool read_color(reader_t *r, const drape_i_node *map, drape_appearance *out) {
    const drape_i_node *node = drape_i_node_find(map, "color");
    if (!node) return false;
    if (node->kind != DRAPE_I_SCALAR || !*node->text)
        drape_i_problem_at(&r->problems, node, true,
                           "color: expected a name, such as red, or a number in quotes, such as \"#c0392b\" (without "
                           "quotes, # begins a comment)");
    else if (drape_color_find(node->text, out->color)) out->colored = true;
    else unknown_color(r, node);
    return out->colored;
}

/* ---- images ---- */

/* The bytes of a file, in the scene's memory. The size is looked at before anything is read. */
static drape_status load_image(reader_t *r, const char *path, drape_i_image_read *out) {
    FILE *file;
    int64_t size;
    drape_status status = drape_i_file_open(r->ctx, path, &file, &size);
    if (status) return status;
    unsigned char *data = NULL;
    if (size > DRAPE_I_IMAGE_MOST_BYTES)
        status = drape_i_image_check(r->ctx, path, NULL, size, &out->kind); /* says so */
    else if (size > MOST_IMAGE_BYTES - r->image_bytes)
        status = drape_i_fail(r->ctx, DRAPE_ERROR_FORMAT,
                              "%s: with this image the scene has more than %lld MiB of images; make them smaller",
                              path, (long long)(MOST_IMAGE_BYTES >> 20));
    else if (!(data = drape_i_scene_get(r, size, 1))) status = DRAPE_ERROR_MEMORY;
    else if ((int64_t)fread(data, 1, (size_t)size, file) != size)
        status = drape_i_fail(r->ctx, DRAPE_ERROR_IO, "%s: cannot read", path);
    fclose(file);
    if (!status) status = drape_i_image_check(r->ctx, path, data, size, &out->kind);
    if (status) return status;
    r->image_bytes += size;
    out->data = data;
    out->bytes = size;
    return DRAPE_OK;
}

/* The image of this name, read once; NULL after a problem. */
static const drape_i_image_read *find_image(reader_t *r, const drape_i_node *node) {
    for (const drape_i_image_read *i = r->images; i; i = i->before)
        if (strcmp(i->name, node->text) == 0) return i;
    const char *path = drape_i_path_beside(r, node);
    drape_i_image_read *image = path ? drape_i_scene_get(r, 1, sizeof *image) : NULL;
    if (!image) return NULL;
    drape_status status = load_image(r, path, image);
    if (status) {
        drape_i_scene_file_failed(r, node, status);
        return NULL;
    }
    image->name = node->text;
    image->before = r->images;
    r->images = image;
    return image;
}

/* ---- where an image lies ---- */

/* Once over a whole grid; over a mesh as the texture coordinates of its file say. */
static void place_by_shape(const drape_i_shape *shape, drape_appearance *look) {
    const drape_i_grid *g = shape->grid;
    for (int32_t k = 0; k < 2; k++) {
        double side = shape->uv_unit * (!g ? 1 : k == 0 ? g->width : g->height);
        look->image_size[k] = side;
        look->image_origin[k] = g ? -0.5 * side : 0;
    }
}

/* size: 30 cm, its width, with the height that keeps its proportions; or [30 cm, 20 cm]. */
static void read_size(reader_t *r, const drape_i_node *node, const drape_i_image *kind, drape_appearance *look) {
    double size[2];
    if (node->kind == DRAPE_I_LIST) {
        if (drape_i_node_count(node) != 2) {
            drape_i_problem_at(&r->problems, node, false,
                               "size: expected a width, or width and height, such as [30 cm, 20 cm]");
            return;
        }
        if (!drape_i_node_number(r, node->first, DRAPE_I_LENGTH, DRAPE_I_POSITIVE, &size[0]) ||
            !drape_i_node_number(r, node->first->next, DRAPE_I_LENGTH, DRAPE_I_POSITIVE, &size[1]))
            return;
    } else {
        if (!drape_i_node_number(r, node, DRAPE_I_LENGTH, DRAPE_I_POSITIVE, &size[0])) return;
        size[1] = size[0] * kind->height / kind->width;
    }
    memcpy(look->image_size, size, sizeof size);
}

/* The pattern of a mesh that is simulated without it (uv: false) still says where the image goes. */
static bool find_pattern(reader_t *r, const drape_i_node *node, const drape_piece *piece, const drape_i_shape *shape,
                         drape_appearance *look) {
    const drape_i_mesh *m = shape->mesh;
    if (piece->uv || (shape->part && shape->part->has_uv)) return true;
    if (!m || !m->uv) {
        drape_i_problem_at(&r->problems, node, false,
                           "texture: %s has no texture coordinates; unwrap the mesh, or use color instead",
                           shape->file ? shape->file : "the piece");
        return false;
    }
    look->uv = m->uv, look->uv_triangle = m->uv_triangle[0], look->uv_vertices = m->uv_vertices;
    return true;
}

static bool read_texture(reader_t *r, const drape_i_node *map, const drape_piece *piece, const drape_i_shape *shape,
                         drape_appearance *look) {
    static const char *const keys[] = {"file", "size", NULL};
    const drape_i_node *node = drape_i_node_find(map, "texture"), *file = node, *size = NULL;
    if (!node) return false;
    if (node->kind == DRAPE_I_MAP) {
        drape_i_read_map(r, node, keys);
        file = drape_i_node_find(node, "file");
        size = drape_i_node_find(node, "size");
    }
    if (!file || file->kind != DRAPE_I_SCALAR || !*file->text) {
        drape_i_problem_at(&r->problems, file ? file : node, true,
                           "texture: expected the name of a PNG or JPEG file, such as stripes.png or {file: "
                           "stripes.png, size: 20 cm}");
        return false;
    }
    const drape_i_image_read *image = find_image(r, file);
    if (!image || !find_pattern(r, file, piece, shape, look)) return false;
    look->image_name = image->name;
    look->image = image->data;
    look->image_bytes = image->bytes;
    place_by_shape(shape, look);
    if (size) read_size(r, size, &image->kind, look);
    return true;
}

/* ---- of pieces and colliders ---- */

void drape_i_read_piece_appearance(reader_t *r, const drape_i_node *node, const drape_i_shape *shape,
                                   drape_piece *piece) {
    drape_appearance look = {0};
    bool colored = read_color(r, node, &look), pictured = read_texture(r, node, piece, shape, &look);
    drape_appearance *kept = colored || pictured ? drape_i_scene_get(r, 1, sizeof *kept) : NULL;
    if (!kept) return;
    *kept = look;
    piece->appearance = kept;
}

void drape_i_read_collider_appearance(reader_t *r, const drape_i_node *node, drape_collider *collider) {
    drape_appearance look = {0};
    drape_appearance *kept = read_color(r, node, &look) ? drape_i_scene_get(r, 1, sizeof *kept) : NULL;
    if (!kept) return;
    *kept = look;
    collider->appearance = kept;
}
