/* gif.c: films that every program shows (GIF89a, CompuServe 1990).
 *
 * All frames share one palette of 255 colors, and one number for "as in the previous frame". Of each frame only the
 * box around the changes is stored, and in it only the pixels that changed. A pattern of 8 x 8 offsets makes two
 * colors look like those between them; it stays in its place, so that what does not move does not flicker.
 *
 * Pixels are packed by LZW: a code stands for a string that occurred before and one pixel more; 9 bits each at first
 * and up to 12, then the table is cleared. Strings are found by hashing the code of all but the last pixel and that
 * pixel. */
#include "base/file.h"
#include "drape/io.h"
#include "io/palette.h"

#include <math.h>
#include <string.h>

enum {
    MOST_PIXELS = 16384,
    UNCHANGED = 255, /* the number of "as before" */
    BLOCK = 255,     /* bytes in a block of data */
    CLEAR = 256,     /* codes of LZW */
    END = 257,
    MOST_CODES = 4096,
    SLOTS = 8192, /* of the hash table, a power of two */
    SPREAD = 8    /* levels of a channel that the pattern moves it by, in all */
};

typedef struct lzw {
    int32_t key[SLOTS]; /* prefix << 8 | pixel, or -1 */
    int16_t code[SLOTS];
    int32_t next;     /* code that the next string gets */
    int32_t bits;     /* of a code */
    uint32_t waiting; /* bits that are no byte yet */
    int32_t waiting_bits;
    uint8_t block[BLOCK];
    int32_t block_bytes;
} lzw;

struct drape_gif {
    drape_context *ctx;
    drape_i_file file;
    int32_t width, height;
    double fps;
    int64_t frames;
    drape_i_palette palette;
    uint8_t *now, *before; /* numbers of colors, one per pixel */
    lzw code;
};

/* ---- LZW ---- */

static void flush_block(drape_gif *g) {
    lzw *z = &g->code;
    uint8_t size = (uint8_t)z->block_bytes;
    if (size == 0) return;
    drape_i_file_write(&g->file, &size, 1);
    drape_i_file_write(&g->file, z->block, size);
    z->block_bytes = 0;
}

static void put_byte(drape_gif *g, uint8_t byte) {
    g->code.block[g->code.block_bytes++] = byte;
    if (g->code.block_bytes == BLOCK) flush_block(g);
}

static void put_code(drape_gif *g, int32_t code) {
    lzw *z = &g->code;
    z->waiting |= (uint32_t)code << z->waiting_bits;
    z->waiting_bits += z->bits;
    for (; z->waiting_bits >= 8; z->waiting_bits -= 8, z->waiting >>= 8) put_byte(g, (uint8_t)z->waiting);
}

static void clear_table(lzw *z) {
    for (int32_t i = 0; i < SLOTS; i++) z->key[i] = -1;
    z->next = END + 1;
    z->bits = 9;
}

/* The place of the string in the table, or where it would be. */
static int32_t slot_of(const lzw *z, int32_t key) {
    int32_t slot = (int32_t)(((uint32_t)key * UINT32_C(2654435761)) >> 19);
    while (z->key[slot] >= 0 && z->key[slot] != key) slot = (slot + 1) % SLOTS;
    return slot;
}

static void add_string(drape_gif *g, int32_t slot, int32_t key) {
    lzw *z = &g->code;
    if (z->next == MOST_CODES) {
        put_code(g, CLEAR);
        clear_table(z);
        return;
    }
    z->key[slot] = key;
    z->code[slot] = (int16_t)z->next;
    if (z->next++ == 1 << z->bits) z->bits++;
}

/* The box of the present frame, row by row; what did not change is UNCHANGED, unless `all`. */
typedef struct gif_box {
    int32_t x0, y0, x1, y1; /* the last ones belong to it */
    bool all;
} gif_box;

static int32_t stored(const drape_gif *g, const gif_box *box, int32_t x, int32_t y) {
    int64_t i = (int64_t)y * g->width + x;
    return !box->all && g->now[i] == g->before[i] ? UNCHANGED : g->now[i];
}

static void pack_pixels(drape_gif *g, const gif_box *box) {
    static const uint8_t bits_of_pixels = 8, end_of_data = 0;
    lzw *z = &g->code;
    int32_t prefix = -1;
    drape_i_file_write(&g->file, &bits_of_pixels, 1);
    z->waiting = 0, z->waiting_bits = 0, z->block_bytes = 0;
    clear_table(z);
    put_code(g, CLEAR);
    for (int32_t y = box->y0; y <= box->y1; y++)
        for (int32_t x = box->x0; x <= box->x1; x++) {
            int32_t pixel = stored(g, box, x, y), key = prefix < 0 ? -1 : prefix << 8 | pixel;
            int32_t slot = prefix < 0 ? -1 : slot_of(z, key);
            if (slot >= 0 && z->key[slot] == key) { /* the string continues */
                prefix = z->code[slot];
                continue;
            }
            if (prefix >= 0) {
                put_code(g, prefix);
                add_string(g, slot, key);
            }
            prefix = pixel;
        }
    put_code(g, prefix);
    if (z->next == 1 << z->bits && z->next < MOST_CODES) z->bits++; /* readers count the string of this code, too */
    put_code(g, END);
    if (z->waiting_bits > 0) put_byte(g, (uint8_t)z->waiting);
    flush_block(g);
    drape_i_file_write(&g->file, &end_of_data, 1);
}

/* ---- Colors ---- */

/* 0..63, every number once, neighbours far apart. */
static int32_t bayer(int32_t x, int32_t y) {
    int32_t m = 0, d = x ^ y;
    for (int bit = 0; bit < 3; bit++) m = m << 2 | (d >> bit & 1) << 1 | (y >> bit & 1);
    return m;
}

static void choose_colors(drape_gif *g, const uint8_t *rgb) {
    const uint8_t *from = rgb;
    for (int32_t y = 0; y < g->height; y++)
        for (int32_t x = 0; x < g->width; x++, from += 3) {
            uint8_t moved[3];
            int32_t offset = (bayer(x & 7, y & 7) * SPREAD + SPREAD / 2) / 64 - SPREAD / 2;
            for (int k = 0; k < 3; k++) {
                int32_t c = from[k] + offset;
                moved[k] = (uint8_t)(c < 0 ? 0 : c > 255 ? 255 : c);
            }
            g->now[(int64_t)y * g->width + x] = (uint8_t)drape_i_palette_nearest(&g->palette, moved);
        }
}

/* ---- Frames ---- */

static void put16(uint8_t *to, int32_t x) {
    to[0] = (uint8_t)(x & 255);
    to[1] = (uint8_t)(x >> 8);
}

static void write_head(drape_gif *g) {
    static const uint8_t repeat[] = {0x21, 0xff, 11,  'N', 'E', 'T', 'S', 'C', 'A', 'P',
                                     'E',  '2',  '.', '0', 3,   1,   0,   0,   0};
    uint8_t head[13] = {'G', 'I', 'F', '8', '9', 'a', [10] = 0xf7}; /* a palette of 256 colors for all frames */
    put16(head + 6, g->width);
    put16(head + 8, g->height);
    drape_i_file_write(&g->file, head, sizeof head);
    drape_i_file_write(&g->file, g->palette.color, sizeof g->palette.color);
    drape_i_file_write(&g->file, repeat, sizeof repeat);
}

static gif_box changed_box(const drape_gif *g) {
    gif_box box = {g->width, g->height, -1, -1, false};
    for (int32_t y = 0; y < g->height; y++)
        for (int32_t x = 0; x < g->width; x++) {
            int64_t i = (int64_t)y * g->width + x;
            if (g->now[i] == g->before[i]) continue;
            if (x < box.x0) box.x0 = x;
            if (x > box.x1) box.x1 = x;
            if (y < box.y0) box.y0 = y;
            box.y1 = y;
        }
    return box.x1 < 0 ? (gif_box){0, 0, 0, 0, false} : box; /* a frame must have a pixel */
}

/* Hundredths of a second from the start to a frame. */
static int64_t time_of(const drape_gif *g, int64_t frame) { return llround(100 * (double)frame / g->fps); }

static void write_frame(drape_gif *g) {
    gif_box box = g->frames == 0 ? (gif_box){0, 0, g->width - 1, g->height - 1, true} : changed_box(g);
    uint8_t control[8] = {0x21, 0xf9, 4, 1 << 2 | 1, [6] = UNCHANGED}; /* frames stay; one number is transparent */
    uint8_t place[10] = {0x2c};
    put16(control + 4, (int32_t)(time_of(g, g->frames + 1) - time_of(g, g->frames)));
    put16(place + 1, box.x0);
    put16(place + 3, box.y0);
    put16(place + 5, box.x1 - box.x0 + 1);
    put16(place + 7, box.y1 - box.y0 + 1);
    drape_i_file_write(&g->file, control, sizeof control);
    drape_i_file_write(&g->file, place, sizeof place);
    pack_pixels(g, &box);
}

drape_status drape_gif_open(drape_context *ctx, const char *path, int32_t width, int32_t height, double fps,
                            drape_gif **out) {
    drape_gif *g;
    if (out) *out = NULL;
    if (!ctx || !path || !out) return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "drape_gif_open: path or out is NULL");
    if (width < 1 || height < 1 || width > MOST_PIXELS || height > MOST_PIXELS)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: a film of %d x %d pixels", path, width, height);
    if (!(fps >= 0.01 && fps <= 50))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: %g frames per second; a GIF has 0.01 to 50", path, fps);
    if (!DRAPE_NEW(ctx, g, 1)) return DRAPE_ERROR_MEMORY;
    g->ctx = ctx;
    g->width = width;
    g->height = height;
    g->fps = fps;
    int64_t pixels = (int64_t)width * height;
    drape_status status = drape_i_palette_create(ctx, &g->palette);
    if (!status && !(DRAPE_NEW(ctx, g->now, pixels) && DRAPE_NEW(ctx, g->before, pixels)))
        status = DRAPE_ERROR_MEMORY;
    if (!status) status = drape_i_file_create(ctx, path, &g->file);
    if (status) drape_gif_destroy(g);
    else *out = g;
    return status;
}

drape_status drape_gif_sample(drape_gif *g, const uint8_t *rgb) {
    if (!g || !rgb || g->frames > 0)
        return drape_i_fail(g ? g->ctx : NULL, DRAPE_ERROR_ARGUMENT,
                            "drape_gif_sample: an argument is NULL, or there are frames already");
    drape_i_palette_add(&g->palette, rgb, (int64_t)g->width * g->height);
    return DRAPE_OK;
}

drape_status drape_gif_frame(drape_gif *g, const uint8_t *rgb) {
    if (!g || !rgb || !g->file.stream)
        return drape_i_fail(g ? g->ctx : NULL, DRAPE_ERROR_ARGUMENT,
                            "drape_gif_frame: an argument is NULL, or the film is finished");
    if (g->palette.colors == 0) {
        drape_i_palette_add(&g->palette, rgb, (int64_t)g->width * g->height);
        drape_status status = drape_i_palette_choose(g->ctx, &g->palette, UNCHANGED);
        if (status) return status;
        write_head(g);
    }
    choose_colors(g, rgb);
    write_frame(g);
    uint8_t *swapped = g->before;
    g->before = g->now;
    g->now = swapped;
    g->frames++;
    return DRAPE_OK;
}

drape_status drape_gif_finish(drape_gif *g) {
    static const uint8_t trailer = 0x3b;
    if (!g || !g->file.stream || g->frames == 0)
        return drape_i_fail(g ? g->ctx : NULL, DRAPE_ERROR_ARGUMENT, "drape_gif_finish: no film, or no frames in it");
    drape_i_file_write(&g->file, &trailer, 1);
    return drape_i_file_commit(g->ctx, &g->file);
}

void drape_gif_destroy(drape_gif *g) {
    if (!g) return;
    drape_context *ctx = g->ctx;
    int64_t pixels = (int64_t)g->width * g->height;
    drape_i_file_abandon(ctx, &g->file);
    drape_i_palette_destroy(ctx, &g->palette);
    DRAPE_FREE(ctx, g->now, pixels);
    DRAPE_FREE(ctx, g->before, pixels);
    DRAPE_FREE(ctx, g, 1);
}
