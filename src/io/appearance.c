/* appearance.c: how pieces and meshes look, for the writers of files. */
#include "io/appearance.h"

#include "base/text.h"
#include "io/format_tools.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const uint8_t WHITE[3] = {255, 255, 255};

const drape_appearance *drape_i_appearance_of(const drape_piece *pieces, int32_t index) {
    const drape_appearance *look = pieces ? pieces[index].appearance : NULL;
    return look && (look->colored || look->image) ? look : NULL;
}

const uint8_t *drape_i_appearance_color(const drape_appearance *look) { return look->colored ? look->color : WHITE; }

const uint8_t *drape_i_mesh_color(const drape_frame *shape, int32_t mesh) {
    const drape_appearance *look = shape->mesh_appearance ? shape->mesh_appearance[mesh] : NULL;
    return look && look->colored ? look->color : NULL;
}

/* ---- what a caller may get wrong ---- */

static drape_status refuse(drape_context *ctx, const char *path, const drape_piece *piece, const char *why) {
    return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: the appearance of the piece %s: %s", path,
                        piece->name ? piece->name : "cloth", why);
}

static const char *check_pattern(const drape_piece *piece, const drape_appearance *look) {
    if (piece->uv) return NULL;
    if (!look->uv) return "an image, but neither the piece nor the appearance has uv";
    int32_t count = look->uv_triangle ? look->uv_vertices : piece->vertices;
    for (int64_t i = 0; i < 2 * (int64_t)count; i++)
        if (!isfinite((float)look->uv[i])) return "uv that is not finite in float32";
    for (int64_t i = 0; look->uv_triangle && i < 3 * (int64_t)piece->triangles; i++)
        if (look->uv_triangle[i] < 0 || look->uv_triangle[i] >= count) return "a corner index outside its uv";
    return NULL;
}

static const char *check_place(const drape_appearance *look) {
    for (int32_t k = 0; k < 2; k++)
        if (!isfinite(look->image_origin[k]) || !isfinite(look->image_size[k]) || look->image_size[k] < 0)
            return "image_origin and image_size must be finite, the size > 0 or 0";
    return NULL;
}

drape_status drape_i_appearance_check(drape_context *ctx, const char *path, const drape_piece *piece) {
    const drape_appearance *look = piece->appearance;
    drape_i_image kind;
    if (!look) return DRAPE_OK;
    drape_status status = drape_i_check_reserved(ctx, "drape_appearance", look->reserved, 4);
    if (status || !look->image) return status;
    const char *wrong = check_place(look);
    if (!wrong) wrong = check_pattern(piece, look);
    if (wrong) return refuse(ctx, path, piece, wrong);
    if (drape_i_image_check(ctx, look->image_name ? look->image_name : "image", look->image, look->image_bytes,
                            &kind)) {
        char why[DRAPE_I_MESSAGE_SIZE / 2];
        snprintf(why, sizeof why, "%s", drape_message(ctx));
        return refuse(ctx, path, piece, why);
    }
    return DRAPE_OK;
}

/* ---- images ---- */

static int32_t find_image(const drape_i_images *images, const drape_appearance *look) {
    for (int32_t i = 0; i < images->count; i++)
        if (images->source[i]->image == look->image && images->source[i]->image_bytes == look->image_bytes) return i;
    return -1;
}

static drape_status add_image(drape_context *ctx, drape_i_images *images, int32_t piece,
                              const drape_appearance *look) {
    int32_t found = find_image(images, look);
    if (found < 0) {
        drape_status status =
            drape_i_image_check(ctx, "image", look->image, look->image_bytes, &images->kind[images->count]);
        if (status) return status;
        found = images->count++;
        images->source[found] = look;
    }
    images->of_piece[piece] = found;
    return DRAPE_OK;
}

drape_status drape_i_images_create(drape_context *ctx, const drape_piece *pieces, int32_t piece_count,
                                   drape_i_images *out) {
    drape_status status = DRAPE_ERROR_MEMORY;
    *out = (drape_i_images){.pieces = piece_count};
    if (DRAPE_NEW(ctx, out->of_piece, piece_count) && DRAPE_NEW(ctx, out->source, piece_count) &&
        DRAPE_NEW(ctx, out->kind, piece_count))
        status = DRAPE_OK;
    for (int32_t i = 0; i < piece_count && !status; i++) {
        const drape_appearance *look = drape_i_appearance_of(pieces, i);
        out->of_piece[i] = -1;
        if (look && look->image) status = add_image(ctx, out, i, look);
    }
    if (status) drape_i_images_destroy(ctx, out);
    return status;
}

void drape_i_images_destroy(drape_context *ctx, drape_i_images *images) {
    if (images->of_piece) DRAPE_FREE(ctx, images->of_piece, images->pieces);
    if (images->source) DRAPE_FREE(ctx, images->source, images->pieces);
    if (images->kind) DRAPE_FREE(ctx, images->kind, images->pieces);
    *images = (drape_i_images){0};
}

int drape_i_image_name(const drape_i_images *images, int32_t number, const char *path, const char *extension,
                       char *out, size_t size) {
    int stem = (int)(strlen(path) - strlen(extension));
    return snprintf(out, size, "%.*s_texture_%d%s", stem, path, number, images->kind[number].ending);
}

static drape_status write_image(drape_context *ctx, const drape_appearance *source, const char *path) {
    drape_i_file file;
    drape_status status = drape_i_file_create(ctx, path, &file);
    if (status) return status;
    drape_i_file_write(&file, source->image, (size_t)source->image_bytes);
    return drape_i_file_commit(ctx, &file);
}

drape_status drape_i_images_write(drape_context *ctx, const drape_i_images *images, const char *path,
                                  const char *extension) {
    drape_status status = DRAPE_OK;
    for (int32_t i = 0; i < images->count && !status; i++) {
        int64_t room = drape_i_image_name(images, i, path, extension, NULL, 0) + 1;
        char *name;
        if (!DRAPE_NEW(ctx, name, room)) return DRAPE_ERROR_MEMORY;
        drape_i_image_name(images, i, path, extension, name, (size_t)room);
        status = write_image(ctx, images->source[i], name);
        DRAPE_FREE(ctx, name, room);
    }
    return status;
}
