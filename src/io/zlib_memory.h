/* zlib_memory.h: lets zlib take its memory from the context.
 *
 *   z_stream deflate = {.zalloc = drape_i_zlib_get, .zfree = drape_i_zlib_free, .opaque = ctx}; */
#ifndef DRAPE_IO_ZLIB_MEMORY_H
#define DRAPE_IO_ZLIB_MEMORY_H

#include <zlib.h>

voidpf drape_i_zlib_get(voidpf ctx, uInt items, uInt size);
void drape_i_zlib_free(voidpf ctx, voidpf address);

#endif
