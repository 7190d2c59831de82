/* mesh_part.h: a part of a mesh file, read as a stream, so that nothing of the size of the file is ever held.
 *
 * The file is gone through in blocks: counting, checking, once per ring of faces, and twice for what is kept of it.
 * That is a smaller file of the same form in memory, with vertices that have other numbers, which obj_read.c and
 * ply_read.c read as any other. So all numbers of the part are bit for bit those of the whole.
 *
 * Only files without any fault, and without anything odd, are divided. What is wrong with others, and in which words
 * it is said, is left to those who read all of the file. */
#ifndef DRAPE_IO_MESH_PART_H
#define DRAPE_IO_MESH_PART_H

#include "io/mesh.h"

#include <stdio.h>

/* The vertices from `from` to `end` - 1, or those of the list; and the faces around them, ring by ring. */
typedef struct drape_i_mesh_choice {
    int64_t from, end;
    const int32_t *vertex; /* ascending, each plus `first`; NULL: no list */
    int32_t count, first;
    int32_t rings; /* of faces, 1 or more: those with a chosen vertex; those that touch them; and so on */
} drape_i_mesh_choice;

typedef struct drape_i_mesh_part {
    int32_t vertices;      /* of all of the file */
    const int32_t *number; /* of each vertex that is here, ascending */
    const uint8_t *chosen; /* likewise: whether it is one of the choice; others are corners of the faces around */
    bool has_uv;           /* the file has texture coordinates */
    bool measured;         /* the areas are known: */
    double area[2]; /* of triangles whose first corner is chosen, in the pattern and in space (scene_cloth.c) */
} drape_i_mesh_part;

/* *part is NULL where the file is not for this; then nothing else was done. An empty choice gives no vertices and the
 * number of all. */
drape_status drape_i_mesh_read_part(drape_context *ctx, drape_i_arena *arena, const char *path,
                                    const drape_i_mesh_choice *choice, drape_i_mesh_part **part, drape_i_mesh *out);

/* ---- what the files of this share ---- */

/* A set of numbers, and how many in it are below one of them. */
typedef struct drape_i_bits {
    int64_t count; /* of numbers that may be in it */
    uint64_t *word;
    int32_t *below;
} drape_i_bits;

DRAPE_INLINE bool drape_i_bits_has(const drape_i_bits *b, int64_t i) { return b->word[i / 64] >> (i % 64) & 1; }

typedef enum drape_i_scan_pass {
    DRAPE_I_SCAN_COUNT, /* vertices of all kinds */
    DRAPE_I_SCAN_CHECK, /* everything */
    DRAPE_I_SCAN_MARK,  /* what the faces around have: adds to `kept` */
    DRAPE_I_SCAN_KEEP   /* writes the smaller file */
} drape_i_scan_pass;

typedef struct drape_i_mesh_scan {
    drape_context *ctx;
    const char *path;
    drape_i_scan_pass pass;
    bool unfit; /* not a file that is divided */
    FILE *file;
    char *block;
    int64_t size, held; /* bytes of the file; in the block */
    bool last;          /* this is the last block */
    int64_t vertices, uv_vertices, faces;
    bool has_uv;                              /* where these belong to vertices or faces, too */
    drape_i_mesh_face *face;                  /* the current one */
    drape_i_bits used, around, kept, kept_uv; /* vertices that have a face; of which faces are kept; and what is */
    int64_t kept_faces, kept_vertices;        /* how many */
    char *text;                               /* the smaller file; NULL: its length is only counted */
    int64_t length, room;
} drape_i_mesh_scan;

/* A pass over the file. */
drape_status drape_i_obj_scan(drape_i_mesh_scan *s);
drape_status drape_i_ply_scan(drape_i_mesh_scan *s);

/* Moves the bytes from `unread` on to the beginning of the block, and fills the rest from the file. If `unread` is
 * the beginning of a full block, a line is too long: the file is unfit. NULL: starts again at the top of the file. */
drape_status drape_i_scan_more(drape_i_mesh_scan *s, const char *unread);
/* Counts, checks or marks the current face; whether it is to be written. uv: its corners have such numbers. */
bool drape_i_scan_face(drape_i_mesh_scan *s, bool uv);
/* Where a number of the file is in the part. */
int32_t drape_i_scan_rank(const drape_i_bits *b, int64_t i);
void drape_i_scan_write(drape_i_mesh_scan *s, const void *data, int64_t bytes);

#endif
