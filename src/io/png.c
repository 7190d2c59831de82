/* png.c: pictures of 8 bits per channel (PNG, ISO/IEC 15948). Every row takes the filter that leaves the least sum of
 * absolute differences. */
#include "base/file.h"
#include "drape/io.h"
#include "io/zlib_memory.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PIXELS = 16384, CHANNELS = 3, FILTERS = 5, LEVEL = 6, PART = 1 << 16 };

typedef struct png {
    drape_context *ctx;
    drape_i_file file;
    z_stream deflate;
    uint8_t out[PART];
    uint8_t *filtered[FILTERS]; /* a row each, its filter's number in front */
    uint8_t *zero;              /* the row above the first */
    int64_t row;                /* bytes */
} png;

static void put32(uint8_t *to, uint32_t x) {
    for (int k = 0; k < 4; k++) to[k] = (uint8_t)(x >> (24 - 8 * k));
}

static void write_chunk(png *p, const char *type, const uint8_t *data, uint32_t size) {
    uint8_t head[8], tail[4];
    put32(head, size);
    memcpy(head + 4, type, 4);
    uLong crc = crc32(crc32(0, head + 4, 4), data ? data : Z_NULL, size);
    if (!data) crc = crc32(0, head + 4, 4);
    put32(tail, (uint32_t)crc);
    drape_i_file_write(&p->file, head, sizeof head);
    if (size > 0) drape_i_file_write(&p->file, data, size);
    drape_i_file_write(&p->file, tail, sizeof tail);
}

static void write_head(png *p, int32_t width, int32_t height) {
    static const uint8_t signature[8] = {137, 'P', 'N', 'G', '\r', '\n', 26, '\n'};
    static const uint8_t perceptual = 0;
    uint8_t head[13] = {[8] = 8, [9] = 2}; /* bits per channel; red, green, blue */
    put32(head, (uint32_t)width);
    put32(head + 4, (uint32_t)height);
    drape_i_file_write(&p->file, signature, sizeof signature);
    write_chunk(p, "IHDR", head, sizeof head);
    write_chunk(p, "sRGB", &perceptual, 1);
}

/* Compresses, and writes a chunk whenever a part is full. */
static void put(png *p, const uint8_t *data, int64_t bytes, int flush) {
    int result = Z_OK;
    p->deflate.next_in = (z_const Bytef *)data;
    p->deflate.avail_in = (uInt)bytes;
    do {
        result = deflate(&p->deflate, flush);
        if (p->deflate.avail_out > 0 && flush != Z_FINISH) break;
        if (p->deflate.avail_out < PART) write_chunk(p, "IDAT", p->out, PART - p->deflate.avail_out);
        p->deflate.next_out = p->out;
        p->deflate.avail_out = PART;
    } while (result == Z_OK);
}

static uint8_t paeth(int a, int b, int c) {
    int pa = abs(b - c), pb = abs(a - c), pc = abs(a + b - 2 * c);
    return (uint8_t)(pa <= pb && pa <= pc ? a : pb <= pc ? b : c);
}

static uint8_t predict(int filter, const uint8_t *row, const uint8_t *above, int64_t i) {
    int a = i < CHANNELS ? 0 : row[i - CHANNELS], b = above[i], c = i < CHANNELS ? 0 : above[i - CHANNELS];
    switch (filter) {
    case 1: return (uint8_t)a;
    case 2: return (uint8_t)b;
    case 3: return (uint8_t)((a + b) / 2);
    case 4: return paeth(a, b, c);
    default: return 0;
    }
}

/* The row after the best filter. */
static const uint8_t *filter_row(png *p, const uint8_t *row, const uint8_t *above) {
    int best = 0;
    int64_t least = INT64_MAX;
    for (int f = 0; f < FILTERS; f++) {
        uint8_t *to = p->filtered[f];
        int64_t sum = 0;
        to[0] = (uint8_t)f;
        for (int64_t i = 0; i < p->row; i++) {
            to[i + 1] = (uint8_t)(row[i] - predict(f, row, above, i));
            sum += to[i + 1] < 128 ? to[i + 1] : 256 - to[i + 1];
        }
        if (sum < least) least = sum, best = f;
    }
    return p->filtered[best];
}

static bool allocate(png *p) {
    bool got = DRAPE_NEW(p->ctx, p->zero, p->row);
    for (int f = 0; f < FILTERS && got; f++) got = DRAPE_NEW(p->ctx, p->filtered[f], p->row + 1);
    return got;
}

static void release(png *p) {
    drape_context *ctx = p->ctx;
    DRAPE_FREE(ctx, p->zero, p->row);
    for (int f = 0; f < FILTERS; f++) DRAPE_FREE(ctx, p->filtered[f], p->row + 1);
    DRAPE_FREE(ctx, p, 1);
}

static drape_status write_picture(png *p, int32_t width, int32_t height, const uint8_t *rgb) {
    p->deflate = (z_stream){.zalloc = drape_i_zlib_get, .zfree = drape_i_zlib_free, .opaque = p->ctx};
    if (deflateInit(&p->deflate, LEVEL) != Z_OK)
        return drape_i_fail(p->ctx, DRAPE_ERROR_MEMORY, "%s: out of memory for compression", p->file.path);
    p->deflate.next_out = p->out;
    p->deflate.avail_out = PART;
    write_head(p, width, height);
    for (int32_t y = 0; y < height; y++) {
        const uint8_t *row = rgb + y * p->row;
        put(p, filter_row(p, row, y > 0 ? row - p->row : p->zero), p->row + 1, Z_NO_FLUSH);
    }
    put(p, p->zero, 0, Z_FINISH);
    deflateEnd(&p->deflate);
    write_chunk(p, "IEND", NULL, 0);
    return DRAPE_OK;
}

drape_status drape_png_write(drape_context *ctx, const char *path, int32_t width, int32_t height,
                             const uint8_t *rgb) {
    png *p;
    if (!ctx || !path || !rgb) return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "drape_png_write: path or rgb is NULL");
    if (width < 1 || height < 1 || width > MOST_PIXELS || height > MOST_PIXELS)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: a picture of %d x %d pixels", path, width, height);
    if (!DRAPE_NEW(ctx, p, 1)) return DRAPE_ERROR_MEMORY;
    p->ctx = ctx;
    p->row = CHANNELS * (int64_t)width;
    drape_status status = allocate(p) ? drape_i_file_create(ctx, path, &p->file) : DRAPE_ERROR_MEMORY;
    if (!status) {
        status = write_picture(p, width, height, rgb);
        if (status) drape_i_file_abandon(ctx, &p->file);
        else status = drape_i_file_commit(ctx, &p->file);
    }
    release(p);
    return status;
}
