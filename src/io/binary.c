/* binary.c: see binary.h. */
#include "io/binary.h"

#include <math.h>
#include <string.h>

void drape_i_binary_begin(drape_i_binary *b, drape_i_file *file, bool big_endian) {
    b->file = file;
    b->big_endian = big_endian;
    b->used = 0;
}

void drape_i_binary_end(drape_i_binary *b) {
    drape_i_file_write(b->file, b->bytes, b->used);
    b->used = 0;
}

void drape_i_put_u8(drape_i_binary *b, uint8_t value) {
    DRAPE_ASSERT(b->used <= DRAPE_I_BINARY_ROOM);
    if (b->used == DRAPE_I_BINARY_ROOM) drape_i_binary_end(b);
    b->bytes[b->used++] = value;
}

void drape_i_put_u32(drape_i_binary *b, uint32_t value) {
    for (int k = 0; k < 4; k++) drape_i_put_u8(b, (uint8_t)(value >> 8 * (b->big_endian ? 3 - k : k) & 255));
}

void drape_i_put_f32(drape_i_binary *b, double value) {
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    drape_i_put_u32(b, bits);
}

uint32_t drape_i_get_u32(const unsigned char *b, bool big_endian) {
    uint32_t value = 0;
    for (int k = 0; k < 4; k++) value |= (uint32_t)b[k] << 8 * (big_endian ? 3 - k : k);
    return value;
}

float drape_i_get_f32(const unsigned char *b, bool big_endian) {
    uint32_t bits = drape_i_get_u32(b, big_endian);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

drape_status drape_i_check_floats(drape_context *ctx, const char *path, int64_t frame, int32_t count,
                                  const double *x) {
    for (int64_t i = 0; i < 3 * (int64_t)count; i++)
        if (!isfinite((float)x[i]))
            return drape_i_fail(ctx, DRAPE_ERROR_NUMBER, "%s: frame %lld: vertex %lld has no place in float32", path,
                                (long long)frame, (long long)(i / 3));
    return DRAPE_OK;
}
