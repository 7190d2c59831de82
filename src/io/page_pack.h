/* page_pack.h: bytes on their way into a page: deflate (zlib format), base64, the file, in constant memory.
 *
 *   drape_i_pack_open(ctx, &file, &pack);
 *   drape_i_pack_put(&pack, data, bytes);          any number of times
 *   drape_i_pack_close(&pack);
 *
 * The base64 is in lines that can each be decoded alone. A failure is kept and returned by close. */
#ifndef DRAPE_IO_PAGE_PACK_H
#define DRAPE_IO_PAGE_PACK_H

#include "base/file.h"

#include <zlib.h>

/* A line of 16384 letters: 3 bytes make 4 letters, so that only the last line can end in padding. */
enum { DRAPE_I_PACK_BYTES = 12288, DRAPE_I_PACK_LETTERS = DRAPE_I_PACK_BYTES / 3 * 4 };

typedef struct drape_i_pack {
    drape_context *ctx; /* NULL: not open */
    drape_i_file *file;
    drape_status status;
    z_stream deflate;
    unsigned char bytes[DRAPE_I_PACK_BYTES];
    char letters[DRAPE_I_PACK_LETTERS + 1];
} drape_i_pack;

/* The pack must stay where it is until it is closed; so must the file. */
drape_status drape_i_pack_open(drape_context *ctx, drape_i_file *file, drape_i_pack *out);
void drape_i_pack_put(drape_i_pack *p, const void *data, size_t bytes);
/* `count` words of 32 bits in four planes: all lowest bytes, ..., all highest; word(user, i) gives the ith. */
void drape_i_pack_words(drape_i_pack *p, int64_t count, uint32_t (*word)(const void *user, int64_t i),
                        const void *user);
/* Ends the stream and frees its memory. A pack that is not open is fine. */
drape_status drape_i_pack_close(drape_i_pack *p);

/* All bytes as base64 on one line, as they are. */
void drape_i_write_base64(drape_i_file *file, const void *data, size_t bytes);

#endif
