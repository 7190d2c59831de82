/* page_pack.c: packing of data for a page, see page_pack.h. */
#include "io/page_pack.h"
#include "io/zlib_memory.h"

#include <string.h>

enum { LEVEL = 6, WORDS_BUFFER = 4096 }; /* level 9 gains a few per cent and takes several times as long */

drape_status drape_i_pack_open(drape_context *ctx, drape_i_file *file, drape_i_pack *out) {
    out->ctx = NULL;
    out->file = file;
    out->status = DRAPE_OK;
    out->deflate = (z_stream){.zalloc = drape_i_zlib_get, .zfree = drape_i_zlib_free, .opaque = ctx};
    if (deflateInit(&out->deflate, LEVEL) != Z_OK)
        return drape_i_fail(ctx, DRAPE_ERROR_MEMORY, "%s: out of memory for compression", file->path);
    out->ctx = ctx;
    out->deflate.next_out = out->bytes;
    out->deflate.avail_out = DRAPE_I_PACK_BYTES;
    return DRAPE_OK;
}

/* Gives the number of letters. */
static size_t to_base64(const unsigned char *from, size_t bytes, char *to) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t letters = 0;
    for (size_t i = 0; i < bytes; i += 3) {
        size_t have = bytes - i;
        uint32_t group = (uint32_t)from[i] << 16;
        if (have > 1) group |= (uint32_t)from[i + 1] << 8;
        if (have > 2) group |= from[i + 2];
        to[letters++] = digits[group >> 18];
        to[letters++] = digits[group >> 12 & 63];
        to[letters++] = have > 1 ? digits[group >> 6 & 63] : '=';
        to[letters++] = have > 2 ? digits[group & 63] : '=';
    }
    return letters;
}

static void write_line(drape_i_pack *p) {
    DRAPE_ASSERT(p->deflate.avail_out <= DRAPE_I_PACK_BYTES);
    size_t bytes = DRAPE_I_PACK_BYTES - p->deflate.avail_out;
    if (bytes == 0) return;
    size_t letters = to_base64(p->bytes, bytes, p->letters);
    p->letters[letters] = '\n';
    drape_i_file_write(p->file, p->letters, letters + 1);
    p->deflate.next_out = p->bytes;
    p->deflate.avail_out = DRAPE_I_PACK_BYTES;
}

/* Runs deflate until it needs more input, or, with Z_FINISH, is done. */
static void run_deflate(drape_i_pack *p, int flush) {
    int result = Z_OK;
    do {
        if (p->deflate.avail_out == 0) write_line(p);
        result = deflate(&p->deflate, flush);
    } while (result == Z_OK && (p->deflate.avail_out == 0 || flush == Z_FINISH));
    if (result == Z_STREAM_ERROR)
        p->status = drape_i_fail(p->ctx, DRAPE_ERROR_IO, "%s: compression failed", p->file->path);
}

void drape_i_pack_put(drape_i_pack *p, const void *data, size_t bytes) {
    const size_t most = (size_t)1 << 30; /* zlib counts with unsigned int */
    const unsigned char *from = data;
    while (bytes > 0 && p->status == DRAPE_OK) {
        size_t now = bytes < most ? bytes : most;
        p->deflate.next_in = (z_const Bytef *)from;
        p->deflate.avail_in = (uInt)now;
        run_deflate(p, Z_NO_FLUSH);
        from += now;
        bytes -= now;
    }
}

void drape_i_pack_words(drape_i_pack *p, int64_t count, uint32_t (*word)(const void *user, int64_t i),
                        const void *user) {
    unsigned char buffer[WORDS_BUFFER];
    for (int shift = 0; shift < 32; shift += 8) {
        size_t used = 0;
        for (int64_t i = 0; i < count; i++) {
            buffer[used++] = (unsigned char)(word(user, i) >> shift & 255);
            if (used == WORDS_BUFFER || i == count - 1) {
                drape_i_pack_put(p, buffer, used);
                used = 0;
            }
        }
    }
}

drape_status drape_i_pack_close(drape_i_pack *p) {
    if (!p->ctx) return DRAPE_OK;
    if (p->status == DRAPE_OK) run_deflate(p, Z_FINISH);
    if (p->status == DRAPE_OK) write_line(p);
    deflateEnd(&p->deflate);
    p->ctx = NULL;
    return p->status;
}

void drape_i_write_base64(drape_i_file *file, const void *data, size_t bytes) {
    enum { PART = 3072 };
    const unsigned char *from = data;
    char letters[PART / 3 * 4];
    for (size_t at = 0; at < bytes; at += PART) {
        size_t now = bytes - at < PART ? bytes - at : PART;
        drape_i_file_write(file, letters, to_base64(from + at, now, letters));
    }
}
