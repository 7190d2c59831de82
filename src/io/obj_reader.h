/* obj_reader.h: statements of OBJ files, for the reader of all of one (obj_read.c) and of parts (obj_part.c). */
#ifndef DRAPE_IO_OBJ_READER_H
#define DRAPE_IO_OBJ_READER_H

#include "base/text.h"
#include "io/mesh.h"

enum {
    DRAPE_I_OBJ_NAMES = 16, /* on a g line */
    DRAPE_I_OBJ_VALUES = 7, /* numbers on a v line: x y z r g b a */
};

/* What the first pass finds. */
typedef struct drape_i_obj_counts {
    int64_t vertices, uv_vertices, triangles, runs;
} drape_i_obj_counts;

typedef struct drape_i_obj_reader {
    drape_context *ctx;
    const char *name;
    const drape_i_mesh_listener *listener; /* or NULL */
    const char *code;                      /* of the current problem, for the listener; NULL: "bad-line" */
    const char *data, *at, *end;
    int64_t line;  /* where the current statement begins */
    int64_t lines; /* ends of lines passed so far */

    drape_i_obj_counts total; /* in the file */
    drape_i_obj_counts now;   /* read so far */
    drape_i_mesh *mesh;
    drape_i_mesh_face *face; /* the current one */
    drape_i_group_run *run;

    drape_i_word object, group[DRAPE_I_OBJ_NAMES]; /* names that hold now; an empty object is none */
    int32_t group_count;
    bool new_names;    /* since the last face */
    int64_t open_runs; /* runs from here on have no end yet */

    int64_t unknown, unknown_line; /* statements, and the first of them */
    drape_i_word unknown_word;
} drape_i_obj_reader;

/* The next word of a statement; an empty one at its end. */
drape_i_word drape_i_obj_word(drape_i_obj_reader *r);
/* The first word of the next statement, passing over what is left of the last one; an empty word at the end of the
 * file. */
drape_i_word drape_i_obj_statement(drape_i_obj_reader *r);
/* The first word of the statement where the reader is, or of the next one. */
drape_i_word drape_i_obj_first(drape_i_obj_reader *r);
bool drape_i_obj_is_face(drape_i_word w);
/* Whether the word begins a statement that needs no warning, though nothing is read of it. */
bool drape_i_obj_is_passed_over(drape_i_word w);
/* What is behind v, vt and f. */
drape_status drape_i_obj_vertex(drape_i_obj_reader *r, double out[3]);
drape_status drape_i_obj_uv(drape_i_obj_reader *r, double out[2]);
drape_status drape_i_obj_corners(drape_i_obj_reader *r); /* to r->face; r->now and r->total must be right */

#endif
