/* ply_header.h: what the header of a PLY file says is in it. */
#ifndef DRAPE_IO_PLY_HEADER_H
#define DRAPE_IO_PLY_HEADER_H

#include "base/context.h"
#include "base/text.h"

enum { DRAPE_I_PLY_MOST = 64 }; /* elements, and properties of one element */

typedef enum drape_i_ply_format { DRAPE_I_PLY_ASCII, DRAPE_I_PLY_LITTLE, DRAPE_I_PLY_BIG } drape_i_ply_format;

typedef enum drape_i_ply_type {
    DRAPE_I_PLY_INT8,
    DRAPE_I_PLY_UINT8,
    DRAPE_I_PLY_INT16,
    DRAPE_I_PLY_UINT16,
    DRAPE_I_PLY_INT32,
    DRAPE_I_PLY_UINT32,
    DRAPE_I_PLY_FLOAT32,
    DRAPE_I_PLY_FLOAT64
} drape_i_ply_type;

int32_t drape_i_ply_type_size(drape_i_ply_type type); /* bytes */

typedef struct drape_i_ply_property {
    drape_i_word name;
    bool list;
    drape_i_ply_type count_type; /* of a list */
    drape_i_ply_type type;
} drape_i_ply_property;

typedef struct drape_i_ply_element {
    drape_i_word name;
    int64_t count;
    int32_t properties;
    drape_i_ply_property property[DRAPE_I_PLY_MOST];
} drape_i_ply_element;

/* Names point into the data. */
typedef struct drape_i_ply_header {
    drape_i_ply_format format;
    int32_t elements;
    drape_i_ply_element element[DRAPE_I_PLY_MOST];
    int64_t lines; /* of the header */
    int64_t size;  /* bytes: what follows begins here */
} drape_i_ply_header;

bool drape_i_word_is(drape_i_word w, const char *text);

/* Messages are "name:line: what". Counts are 0 or more and less than 2^53; whether the file can hold so many is not
 * looked at. */
drape_status drape_i_ply_header_read(drape_context *ctx, const char *name, const char *data, int64_t size,
                                     drape_i_ply_header *out);

#endif
