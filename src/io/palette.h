/* palette.h: few colors in place of many. */
#ifndef DRAPE_IO_PALETTE_H
#define DRAPE_IO_PALETTE_H

#include "base/context.h"

enum {
    DRAPE_I_PALETTE_BITS = 6, /* of a channel that distinguish colors */
    DRAPE_I_PALETTE_BINS = 1 << (3 * DRAPE_I_PALETTE_BITS)
};

/* How often colors occur. */
typedef struct drape_i_color_bin {
    uint32_t count;
    uint64_t sum[3]; /* of the bytes, over all of its pixels */
} drape_i_color_bin;

typedef struct drape_i_palette {
    drape_i_color_bin *bin; /* DRAPE_I_PALETTE_BINS */
    int16_t *nearest;       /* of each bin: the color next to it, -1: not computed yet */
    uint8_t color[256][3];
    int32_t colors;
} drape_i_palette;

drape_status drape_i_palette_create(drape_context *ctx, drape_i_palette *out);
void drape_i_palette_add(drape_i_palette *palette, const uint8_t *rgb, int64_t pixels);
/* Chooses at most `colors` of them, 1..256, for the pixels that were added. */
drape_status drape_i_palette_choose(drape_context *ctx, drape_i_palette *palette, int32_t colors);
/* The number of the color that is nearest. */
int32_t drape_i_palette_nearest(drape_i_palette *palette, const uint8_t rgb[3]);
void drape_i_palette_destroy(drape_context *ctx, drape_i_palette *palette);

#endif
