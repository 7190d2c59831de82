/* zlib_memory.c: memory of the context for zlib, which does not say the size again when it frees. So the size is
 * stored in front.
 */
#include "io/zlib_memory.h"
#include "base/context.h"

#include <string.h>

enum { FRONT = 64 }; /* bytes: keeps the alignment */

voidpf drape_i_zlib_get(voidpf ctx, uInt items, uInt size) {
    int64_t bytes = (int64_t)items * (int64_t)size + FRONT;
    char *memory = drape_i_alloc(ctx, bytes, 1);
    if (!memory) return Z_NULL;
    memcpy(memory, &bytes, sizeof bytes);
    return memory + FRONT;
}

void drape_i_zlib_free(voidpf ctx, voidpf address) {
    int64_t bytes;
    char *memory = (char *)address - FRONT;
    memcpy(&bytes, memory, sizeof bytes);
    drape_i_free(ctx, memory, bytes, 1);
}
