/* format_tools.h: what the writers of mesh formats are built from: numbers as bytes, foreign text inside HTML and
 * JSON, normals and texture coordinates. There are two ways to keep frames: one file per frame (a sequence), or all
 * frames on the disk until the last one is known (a recording). */
#ifndef DRAPE_IO_FORMAT_TOOLS_H
#define DRAPE_IO_FORMAT_TOOLS_H

#include "base/arena.h"
#include "base/file.h"
#include "io/format.h"

/* ---- numbers as bytes of a file, in either order, whatever the machine's own is ---- */

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

/* The number stored there. */
uint32_t drape_i_get_u32(const unsigned char *bytes, bool big_endian);
float drape_i_get_f32(const unsigned char *bytes, bool big_endian);

/* DRAPE_ERROR_NUMBER with the vertex's number where one of 3 count numbers is not finite as a float32. */
drape_status drape_i_check_floats(drape_context *ctx, const char *path, int64_t frame, int32_t count,
                                  const double *x);

/* Bytes of the well-formed UTF-8 letter at s, 0 if there is none. */
size_t drape_i_letter_bytes(const unsigned char *s);

/* ---- text of others inside a page: nothing in it can end a string, an element or a script ---- */

/* As text of an element, < > & " ' as entities. Bytes that are no UTF-8 become U+FFFD. */
void drape_i_html_text(drape_i_file *file, const char *words);
/* As a string of JSON with its quotes, which may be inside a script element: < > & are written \u003c and so on. */
void drape_i_html_json(drape_i_file *file, const char *words);

/* ---- mesh_names.c: names for formats that want identifiers ---- */

/* Those of the pieces, then of the meshes beside the cloth: letters, digits and _, not beginning with a digit, what
 * else there is as _. Where two would be alike, or one like `taken` (NULL: nothing is), every name ends in its
 * number. In the arena; NULL where there is no memory. */
const char *const *drape_i_mesh_names(drape_context *ctx, drape_i_arena *arena, const drape_cloth *cloth,
                                      const drape_frame *shape, const char *taken);

/* ---- normals and texture coordinates ----
 *
 * Texture coordinates are the cloth's material space, in m: a picture of 1 x 1 covers a metre of cloth, and a mesh
 * that is read back has its sewing pattern. */

/* Unit normals at the vertices, 3 each: the mean of the triangles around, by area. (0, 0, 1) where that has no
 * direction. One pass over the triangles in their order. */
void drape_i_normals(const drape_cloth *cloth, const double *x, double *normal);
/* Those of one piece; the others are left as they are. */
void drape_i_piece_normals(const drape_cloth *cloth, const drape_piece_range *piece, const double *x, double *normal);

/* The texture coordinates of a piece. */
typedef struct drape_i_texture {
    const double *uv; /* 2 each; NULL: it has none */
    int32_t count;
    const int32_t *corner;         /* 3 per triangle, into uv */
    bool seams;                    /* a vertex can have several; else uv is numbered as the vertices are */
    const drape_appearance *image; /* whose image lies on the piece, or NULL */
} drape_i_texture;

/* pieces may be NULL. */
drape_i_texture drape_i_texture_of(const drape_piece *pieces, int32_t index);
/* Number i of them for a program that draws the image: 0..1 over it, v from its bottom. Without one as it is. */
void drape_i_texture_at(const drape_i_texture *t, int64_t i, double out[2]);
/* Whether all of them lie on the image, so that it need not repeat; then its edges do not run into each other. */
bool drape_i_texture_inside(const drape_i_texture *t);
/* What that multiplies uv by, and what it adds then. */
void drape_i_texture_place(const drape_appearance *image, double scale[2], double offset[2]);

/* ---- rigid.c: meshes that move as a whole ---- */

/* What was at p is at t + R p, R by a unit quaternion. */
typedef struct drape_i_rigid {
    double t[3], q[4]; /* q: x, y, z, w */
} drape_i_rigid;

/* Whether x is `base` turned and moved, to what float32 can hold of it; 3 doubles per vertex. */
bool drape_i_rigid_fit(int64_t count, const double *base, const double *x, drape_i_rigid *out);

/* ---- sequences: one file per frame, sheet.obj -> sheet_0000.obj, sheet_0001.obj, ... ---- */

typedef struct drape_i_sequence {
    const drape_cloth *cloth;
    const drape_piece *pieces; /* or NULL */
    double *normal;            /* 3 doubles per vertex, for the use of the format */

    const char *extension;
    size_t stem; /* length of the path without its ending */
    int64_t room;
    char *path;     /* the stem, then number and ending of the present frame */
    int64_t frames; /* written so far */
} drape_i_sequence;

drape_status drape_i_sequence_open(drape_context *ctx, const char *path, const char *extension,
                                   const drape_i_animation *what, void **state);
/* Writes one frame with the function given; the file gets its name when that is done. */
drape_status drape_i_sequence_frame(drape_context *ctx, drape_i_sequence *s, const drape_i_frame *frame,
                                    drape_status (*write)(drape_context *ctx, drape_i_sequence *s, drape_i_file *file,
                                                          const drape_i_frame *frame));
/* "drape: frame 12, 0.48 s, metres, z up", without the time where it was not given. */
void drape_i_sequence_comment(const drape_frame *frame, FILE *to);
drape_status drape_i_sequence_close(drape_context *ctx, void *state);

/* ---- recordings: formats that can be written only when the last frame is known ----
 *
 * Their frames wait on the disk, 12 bytes per vertex each, in a file without a name beside the final one. At the end
 * that one is written in one go, from any frame in any order. Memory: two frames.
 *
 * A record, in the machine's own byte order, has float32 positions of the cloth, and the frame's number and time at
 * the end. Between them, for formats that keep these, float32 positions of the meshes beside the cloth and float32
 * values of the attributes, in their order. */

/* When a frame is. */
typedef struct drape_i_stamp {
    int64_t number;
    double time; /* s */
} drape_i_stamp;

typedef struct drape_i_recording {
    const drape_cloth *cloth;
    const drape_piece *pieces; /* or NULL */
    double fps;
    char *path, *title; /* owned */
    int64_t frames;
    int32_t vertices;
    double *x, *normal;       /* 3 per vertex: of the frame read last; the normals are for the format to fill */
    float *packed;            /* 3 per vertex: a frame on its way to the disk or back */
    bool keeps_extras;        /* set by the format after opening: meshes and attributes are recorded too */
    const drape_frame *shape; /* of the frames' meshes and attributes */
    int64_t extras;           /* floats of them in each frame */
    float *extra;             /* as many */
    drape_i_stamp first, last;
    drape_i_spill spill;
    drape_status status; /* of the first frame that failed */
} drape_i_recording;

/* `open` and `frame` of such a format. */
drape_status drape_i_recording_open(drape_context *ctx, const char *path, const drape_i_animation *what,
                                    void **state);
drape_status drape_i_recording_frame(drape_context *ctx, void *state, const drape_i_frame *frame);

/* Writes the whole file. */
typedef drape_status drape_i_recording_write(drape_context *ctx, void *user, drape_i_file *file);

/* For its `close`: calls write in the locale "C" where there are frames, gives the file its name, and frees the
 * recording in any case. After a frame that failed the file holds those before it. Where there is no room for all,
 * write is called again with fewer frames; then the status is DRAPE_ERROR_IO, and the message says how many were
 * kept. */
drape_status drape_i_recording_close(drape_context *ctx, drape_i_recording *r, drape_i_recording_write *write,
                                     void *user);

/* Fills x with the frame as it was rounded to float32. */
drape_status drape_i_recording_read(drape_context *ctx, drape_i_recording *r, int64_t frame);
/* The same of one piece; the places of the others are left as they are. */
drape_status drape_i_recording_read_piece(drape_context *ctx, drape_i_recording *r, int64_t frame,
                                          const drape_piece_range *piece);
/* Fills extra[0..count-1] with the frame's extras from number `first` on. */
drape_status drape_i_recording_read_extra(drape_context *ctx, drape_i_recording *r, int64_t frame, int64_t first,
                                          int64_t count);
drape_status drape_i_recording_stamp(drape_context *ctx, drape_i_recording *r, int64_t frame, drape_i_stamp *out);

/* ---- obj.c: one mesh as Wavefront OBJ beside the file of a point cache, which holds none ---- */

/* sheet.pc2 -> sheet_rest.obj, the mesh that a point cache moves; it is empty yet. */
drape_status drape_i_rest_mesh_create(drape_context *ctx, const char *path, const char *extension, drape_i_file *out);
/* Writes the vertices as they are in the first frame. Without normals, which programs would keep while the cache
 * moves the mesh. */
drape_status drape_i_rest_mesh_write(drape_context *ctx, drape_i_file *file, const drape_cloth *cloth,
                                     const drape_piece *pieces, const double *x);

#endif
