/* appearance.h: what readers and writers share of how pieces and colliders look: colors and images. */
#ifndef DRAPE_IO_APPEARANCE_H
#define DRAPE_IO_APPEARANCE_H

#include "base/file.h"
#include "drape/io.h"

/* ---- color.c ---- */

/* One component of a color as an amount of light, 0..1. */
double drape_i_linear(uint8_t srgb);

/* ---- image.c: files of images, of which only the heads are understood ---- */

enum { DRAPE_I_IMAGE_MOST_SIDE = 8192 };      /* pixels */
enum { DRAPE_I_IMAGE_MOST_BYTES = 16 << 20 }; /* of a file */

typedef struct drape_i_image {
    const char *type, *ending; /* "image/png", ".png" */
    int32_t width, height;     /* pixels */
} drape_i_image;

/* Whether these bytes are a PNG or JPEG file that other programs will show. Checks the chunks of a PNG file with
 * their checksums, or the segments of a JPEG file up to its pixels, and the end mark of both. DRAPE_ERROR_FORMAT with
 * the message "name: what". */
drape_status drape_i_image_check(drape_context *ctx, const char *name, const void *data, int64_t size,
                                 drape_i_image *out);

/* ---- appearance.c ---- */

/* How a piece looks where it says something about it; else NULL. pieces may be NULL. */
const drape_appearance *drape_i_appearance_of(const drape_piece *pieces, int32_t index);
/* The color of a mesh beside the cloth, or NULL. */
const uint8_t *drape_i_mesh_color(const drape_frame *shape, int32_t mesh);
/* sRGB; white for what has an image and no color. */
const uint8_t *drape_i_appearance_color(const drape_appearance *look);

/* Whether a writer can take it; the message names the piece. */
drape_status drape_i_appearance_check(drape_context *ctx, const char *path, const drape_piece *piece);

/* The images of all pieces, those that several share (the same pointer) once. */
typedef struct drape_i_images {
    int32_t pieces, count;
    int32_t *of_piece;               /* number of its image; -1: none */
    const drape_appearance **source; /* count: the first piece's */
    drape_i_image *kind;             /* count */
} drape_i_images;

/* pieces may be NULL: no images. */
drape_status drape_i_images_create(drape_context *ctx, const drape_piece *pieces, int32_t piece_count,
                                   drape_i_images *out);
void drape_i_images_destroy(drape_context *ctx, drape_i_images *images);

/* "sheet" of "out/sheet.usda", and the name of its image: "sheet_texture_0.png"; as snprintf does. */
int drape_i_image_name(const drape_i_images *images, int32_t number, const char *path, const char *extension,
                       char *out, size_t size);
/* Writes all images beside the file of this path. */
drape_status drape_i_images_write(drape_context *ctx, const drape_i_images *images, const char *path,
                                  const char *extension);

#endif
