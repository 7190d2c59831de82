/* image.c: whether bytes are a PNG or JPEG file. The pixels are left to other programs. Here the file is only
 * followed from chunk to chunk (PNG: W3C, "Portable Network Graphics", third edition) or from segment to segment
 * (JPEG: ITU-T T.81, annex B). So a file that is truncated, huge or something else is reported before an output is
 * made of it. */
#include "io/appearance.h"

#include <string.h>
#include <zlib.h>

typedef struct bytes {
    const unsigned char *data;
    int64_t size;
} bytes;

static uint32_t big(const unsigned char *b, int32_t count) {
    uint32_t value = 0;
    for (int32_t i = 0; i < count; i++) value = value << 8 | b[i];
    return value;
}

/* NULL: good; else what is wrong. */
static const char *check_sides(uint32_t width, uint32_t height, drape_i_image *out) {
    if (width < 1 || height < 1) return "an image without pixels; use another one";
    if (width > DRAPE_I_IMAGE_MOST_SIDE || height > DRAPE_I_IMAGE_MOST_SIDE)
        return "more than 8192 pixels along a side; make it smaller";
    out->width = (int32_t)width;
    out->height = (int32_t)height;
    return NULL;
}

/* ---- PNG ---- */

enum { CHUNK_HEAD = 8, CHUNK_REST = 12, HEADER_BYTES = 13 }; /* length and type; these and the checksum */

static const unsigned char SIGNATURE[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

/* Bits per sample that go with a color type: bit n of the mask stands for n bits. */
static bool depth_fits(uint32_t color_type, uint32_t depth) {
    static const uint32_t depths[7] = {1 << 1 | 1 << 2 | 1 << 4 | 1 << 8 | 1 << 16,
                                       0,
                                       1 << 8 | 1 << 16,
                                       1 << 1 | 1 << 2 | 1 << 4 | 1 << 8,
                                       1 << 8 | 1 << 16,
                                       0,
                                       1 << 8 | 1 << 16};
    return color_type < 7 && depth <= 16 && (depths[color_type] >> depth & 1);
}

static const char *read_header(const unsigned char *chunk, uint32_t length, drape_i_image *out) {
    const unsigned char *d = chunk + CHUNK_HEAD;
    if (length != HEADER_BYTES || memcmp(chunk + 4, "IHDR", 4) != 0)
        return "a damaged PNG file: its header is not the first chunk; save it again";
    if (!depth_fits(d[9], d[8]) || d[10] != 0 || d[11] != 0 || d[12] > 1)
        return "a PNG file of an unknown kind; save it again";
    return check_sides(big(d, 4), big(d + 4, 4), out);
}

/* Goes through all chunks. */
static const char *check_png(bytes b, drape_i_image *out) {
    int64_t at = sizeof SIGNATURE;
    bool pixels = false;
    *out = (drape_i_image){.type = "image/png", .ending = ".png"};
    for (int32_t number = 0;; number++) {
        const unsigned char *chunk = b.data + at;
        if (b.size - at < CHUNK_REST) return "the PNG file is truncated; save it again";
        uint32_t length = big(chunk, 4);
        if ((int64_t)length > b.size - at - CHUNK_REST) return "the PNG file is truncated; save it again";
        if (big(chunk + CHUNK_HEAD + length, 4) != crc32(0, chunk + 4, (uInt)length + 4))
            return "the PNG file is damaged: a checksum is wrong; save it again";
        const char *wrong = number == 0 ? read_header(chunk, length, out) : NULL;
        if (wrong) return wrong;
        pixels = pixels || (memcmp(chunk + 4, "IDAT", 4) == 0 && length > 0);
        at += CHUNK_REST + (int64_t)length;
        if (memcmp(chunk + 4, "IEND", 4) == 0) return pixels ? NULL : "a PNG file without pixels; save it again";
    }
}

/* ---- JPEG ---- */

enum { START = 0xd8, END = 0xd9, SCAN = 0xda, FIRST_FRAME = 0xc0, LAST_FRAME = 0xcf, FILLER = 0xff };

/* Huffman tables, extensions and arithmetic conditioning have their numbers among those of frames. */
static bool is_frame(unsigned char marker) {
    return marker >= FIRST_FRAME && marker <= LAST_FRAME && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

/* d: behind the length of the segment. Baseline, extended and progressive ones with Huffman coding are shown
 * everywhere. */
static const char *read_frame(unsigned char marker, const unsigned char *d, uint32_t length, drape_i_image *out) {
    if (marker > 0xc2 || length < 8 || d[0] != 8)
        return "a JPEG file of an uncommon kind; save it as baseline or progressive";
    if (d[5] != 1 && d[5] != 3) return "a JPEG file that is neither gray nor RGB; convert it to RGB";
    if (length != 8 + 3 * (uint32_t)d[5])
        return "the JPEG file is damaged: its header has a wrong length; save it again";
    return check_sides(big(d + 3, 2), big(d + 1, 2), out);
}

static bool has_end(bytes b, int64_t from) {
    for (int64_t i = b.size - 2; i >= from; i--)
        if (b.data[i] == 0xff && b.data[i + 1] == END) return true;
    return false;
}

/* Goes through the segments up to the first scan. */
static const char *check_jpeg(bytes b, drape_i_image *out) {
    int64_t at = 2;
    *out = (drape_i_image){.type = "image/jpeg", .ending = ".jpg"};
    for (;;) {
        if (b.size - at < 4) return "the JPEG file is truncated; save it again";
        if (b.data[at] != 0xff) return "the JPEG file is damaged: a segment begins in the wrong place; save it again";
        unsigned char marker = b.data[at + 1];
        if (marker == FILLER) {
            at++;
            continue;
        }
        uint32_t length = big(b.data + at + 2, 2);
        if (length < 2 || (int64_t)length > b.size - at - 2) return "the JPEG file is truncated; save it again";
        if (marker == SCAN) break;
        if (is_frame(marker) && out->width > 0) return "a damaged JPEG file with two headers; save it again";
        const char *wrong = is_frame(marker) ? read_frame(marker, b.data + at + 4, length, out) : NULL;
        if (wrong) return wrong;
        at += 2 + (int64_t)length;
    }
    if (out->width == 0) return "a damaged JPEG file without a header; save it again";
    return has_end(b, at) ? NULL : "the JPEG file is truncated; save it again";
}

/* ---- either ---- */

drape_status drape_i_image_check(drape_context *ctx, const char *name, const void *data, int64_t size,
                                 drape_i_image *out) {
    const bytes b = {data, size};
    const char *wrong = "neither a PNG nor a JPEG file; convert it to one of them";
    *out = (drape_i_image){0};
    if (size > DRAPE_I_IMAGE_MOST_BYTES) wrong = "the image file is larger than 16 MiB; make it smaller";
    else if (size >= (int64_t)sizeof SIGNATURE && memcmp(data, SIGNATURE, sizeof SIGNATURE) == 0)
        wrong = check_png(b, out);
    else if (size >= 3 && b.data[0] == 0xff && b.data[1] == START && b.data[2] == 0xff) wrong = check_jpeg(b, out);
    return wrong ? drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "%s: %s", name, wrong) : DRAPE_OK;
}
