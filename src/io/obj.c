/* obj.c: a sequence of Wavefront OBJ files, sheet.obj -> sheet_0000.obj, sheet_0001.obj, ...
 *
 * Positions in m with 17 digits, so that reading them gives the same numbers; z is up; corners count from 1; an
 * object a piece. */
#include "io/obj.h"
#include "base/c_locale.h"
#include "io/format.h"

#include <string.h>

static const char EXTENSION[] = ".obj";

enum { NUMBER_ROOM = 16 }; /* "_0000" and more of it */

typedef struct sequence {
    const drape_cloth *cloth;
    int64_t frame;
    size_t stem; /* length of the path without its ending */
    int64_t room;
    char *path; /* the stem, then number and ending of the present frame */
} sequence;

static drape_status open_sequence(drape_context *ctx, const char *path, const drape_i_animation *what, void **state) {
    sequence *s;
    *state = NULL;
    if (!DRAPE_NEW(ctx, s, 1)) return DRAPE_ERROR_MEMORY;
    s->cloth = what->cloth;
    s->stem = strlen(path) - strlen(EXTENSION);
    s->room = (int64_t)strlen(path) + NUMBER_ROOM + 1;
    if (!DRAPE_NEW(ctx, s->path, s->room)) {
        DRAPE_FREE(ctx, s, 1);
        return DRAPE_ERROR_MEMORY;
    }
    memcpy(s->path, path, s->stem);
    *state = s;
    return DRAPE_OK;
}

/* An object's name is one word. */
static void write_object(const char *name, FILE *to) {
    fputs("o ", to);
    for (; *name; name++) fputc((unsigned char)*name > ' ' ? *name : '_', to);
    fputc('\n', to);
}

static void write_piece(const drape_cloth *cloth, const drape_piece_range *p, const double *x, FILE *to) {
    for (int64_t i = p->first_vertex; i < p->first_vertex + p->vertices; i++)
        fprintf(to, "v %.17g %.17g %.17g\n", x[3 * i], x[3 * i + 1], x[3 * i + 2]);
    const int32_t *t = drape_cloth_triangle(cloth) + 3 * (int64_t)p->first_triangle;
    for (int64_t i = 0; i < p->triangles; i++)
        fprintf(to, "f %d %d %d\n", t[3 * i] + 1, t[3 * i + 1] + 1, t[3 * i + 2] + 1);
}

static void write_mesh(const drape_cloth *cloth, bool as_one, int64_t frame, const double *x, FILE *to) {
    fprintf(to, "# drape: frame %lld, metres, z up\n", (long long)frame);
    drape_piece_range all = {"cloth", 0, drape_cloth_vertices(cloth), 0, drape_cloth_triangles(cloth)};
    if (as_one) {
        write_object(all.name, to);
        write_piece(cloth, &all, x, to);
    }
    for (int32_t i = 0; i < drape_cloth_pieces(cloth) && !as_one; i++) {
        write_object(drape_cloth_piece(cloth, i)->name, to);
        write_piece(cloth, drape_cloth_piece(cloth, i), x, to);
    }
}

drape_status drape_i_obj_write(drape_context *ctx, drape_i_file *file, const drape_cloth *cloth, bool as_one,
                               int64_t frame, const double *x) {
    drape_i_c_locale locale;
    drape_status status = drape_i_c_locale_enter(ctx, &locale);
    if (status) return status;
    write_mesh(cloth, as_one, frame, x, file->stream);
    drape_i_c_locale_leave(&locale);
    return DRAPE_OK;
}

static drape_status write_frame(drape_context *ctx, void *state, const double *positions) {
    sequence *s = state;
    drape_i_file file;
    snprintf(s->path + s->stem, (size_t)s->room - s->stem, "_%04lld%s", (long long)s->frame, EXTENSION);
    drape_status status = drape_i_file_create(ctx, s->path, &file);
    if (status) return status;
    status = drape_i_obj_write(ctx, &file, s->cloth, false, s->frame, positions);
    if (status) drape_i_file_abandon(ctx, &file);
    else status = drape_i_file_commit(ctx, &file);
    if (!status) s->frame++;
    return status;
}

static drape_status close_sequence(drape_context *ctx, void *state) {
    sequence *s = state;
    DRAPE_FREE(ctx, s->path, s->room);
    DRAPE_FREE(ctx, s, 1);
    return DRAPE_OK;
}

const drape_i_format drape_i_format_obj = {EXTENSION, "a Wavefront OBJ file a frame: NAME_0000.obj, ...",
                                           open_sequence, write_frame, close_sequence};
