/* binary.h: numbers as bytes of a file, in either order, whatever the machine's own is. */
#ifndef DRAPE_IO_BINARY_H
#define DRAPE_IO_BINARY_H

#include "base/file.h"

enum { DRAPE_I_BINARY_ROOM = 4096 };

/* Collects bytes on their way to a file. Write errors are the file's, see drape_i_file_write. */
typedef struct drape_i_binary {
    drape_i_file *file;
    bool big_endian;
    size_t used;
    unsigned char bytes[DRAPE_I_BINARY_ROOM];
} drape_i_binary;

void drape_i_binary_begin(drape_i_binary *b, drape_i_file *file, bool big_endian);
void drape_i_put_u8(drape_i_binary *b, uint8_t value);
void drape_i_put_u32(drape_i_binary *b, uint32_t value);
void drape_i_put_f32(drape_i_binary *b, double value); /* rounded to the nearest */
void drape_i_binary_end(drape_i_binary *b); /* hands over what is left; needed before the file is committed */

/* The number that stands there. */
uint32_t drape_i_get_u32(const unsigned char *bytes, bool big_endian);
float drape_i_get_f32(const unsigned char *bytes, bool big_endian);

/* DRAPE_ERROR_NUMBER with the vertex's number where one of 3 count numbers is not finite as a float32. */
drape_status drape_i_check_floats(drape_context *ctx, const char *path, int64_t frame, int32_t count,
                                  const double *x);

#endif
