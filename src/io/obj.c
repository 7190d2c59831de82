/* obj.c: a sequence of Wavefront OBJ files, one per frame.
 *
 * Positions and texture coordinates in m with 17 digits, so that reading them gives the same numbers; normals with 6;
 * z is up; corners count from 1; one object per piece, then one per mesh beside the cloth. Attributes are left out.
 */
#include "base/text.h"
#include "io/format_tools.h"

#include <math.h>
#include <string.h>

static const char EXTENSION[] = ".obj", REST_ENDING[] = "_rest.obj";

typedef struct obj_mesh {
    const drape_cloth *cloth;
    const drape_piece *pieces; /* for texture coordinates, or NULL */
    const double *x;           /* 3 a vertex */
    const double *normal;      /* 3 a vertex, or NULL: none are written */
    const drape_frame *frame;  /* its number, and meshes beside the cloth */
    bool as_one; /* all pieces in one object, for what counts vertices over all of them; else an object a piece */
} obj_mesh;

/* An object's name is one word. A backslash would continue the line, and a # begin a comment. */
static void write_object(const char *name, FILE *to) {
    fputs("o ", to);
    for (; *name; name++) fputc((unsigned char)*name > ' ' && !strchr("\\#\x7f", *name) ? *name : '_', to);
    fputc('\n', to);
}

static void write_vectors(const char *word, const double *v, const drape_piece_range *range, FILE *to) {
    const char *format = strcmp(word, "v") == 0 ? "%s %.17g %.17g %.17g\n" : "%s %.6g %.6g %.6g\n";
    for (int64_t i = range->first_vertex; i < range->first_vertex + range->vertices; i++)
        fprintf(to, format, word, v[3 * i], v[3 * i + 1], v[3 * i + 2]);
}

/* v, v/vt, v//vn or v/vt/vn, all from 0; vt below 0: none. */
static void write_corner(const obj_mesh *m, int64_t vertex, int64_t vt, FILE *to) {
    fprintf(to, " %lld", (long long)vertex + 1);
    if (vt >= 0) fprintf(to, "/%lld", (long long)vt + 1);
    if (m->normal) fprintf(to, "%s/%lld", vt >= 0 ? "" : "/", (long long)vertex + 1);
}

static void write_faces(const obj_mesh *m, const drape_piece_range *range, const drape_i_texture *texture,
                        int64_t first_vt, FILE *to) {
    const int32_t *t = drape_cloth_triangle(m->cloth) + 3 * (int64_t)range->first_triangle;
    for (int64_t i = 0; i < 3 * (int64_t)range->triangles; i++) {
        if (i % 3 == 0) fputc('f', to);
        write_corner(m, t[i], texture->uv ? first_vt + texture->corner[i] : -1, to);
        if (i % 3 == 2) fputc('\n', to);
    }
}

static void write_texture(const drape_i_texture *t, FILE *to) {
    for (int64_t i = 0; t->uv && i < t->count; i++) fprintf(to, "vt %.17g %.17g\n", t->uv[2 * i], t->uv[2 * i + 1]);
}

/* Meshes beside the cloth: an object each, behind its pieces, without normals. */
static void write_others(const obj_mesh *m, FILE *to) {
    int64_t first = drape_cloth_vertices(m->cloth);
    for (int32_t i = 0; i < m->frame->mesh_count; i++) {
        const drape_frame_mesh *other = &m->frame->meshes[i];
        const int32_t *t = other->triangle;
        write_object(other->name ? other->name : "mesh", to);
        write_vectors("v", other->positions, &(drape_piece_range){.vertices = other->vertices}, to);
        for (int64_t k = 0; k < other->triangles; k++)
            fprintf(to, "f %lld %lld %lld\n", (long long)(first + t[3 * k] + 1),
                    (long long)(first + t[3 * k + 1] + 1), (long long)(first + t[3 * k + 2] + 1));
        first += other->vertices;
    }
}

static void write_mesh(const obj_mesh *m, FILE *to) {
    int64_t first_vt = 0;
    fputs("# ", to);
    drape_i_sequence_comment(m->frame, to);
    if (m->as_one) write_object("cloth", to);
    for (int32_t i = 0; i < drape_cloth_pieces(m->cloth); i++) {
        const drape_piece_range *range = drape_cloth_piece(m->cloth, i);
        drape_i_texture texture = drape_i_texture_of(m->pieces, i);
        if (!m->as_one) write_object(range->name, to);
        write_vectors("v", m->x, range, to);
        if (m->normal) write_vectors("vn", m->normal, range, to);
        write_texture(&texture, to);
        write_faces(m, range, &texture, first_vt, to);
        first_vt += texture.count;
    }
    write_others(m, to);
}

static drape_status write_obj(drape_context *ctx, drape_i_file *file, const obj_mesh *mesh) {
    drape_i_c_locale locale;
    drape_status status = drape_i_c_locale_enter(ctx, &locale);
    if (status) return status;
    write_mesh(mesh, file->stream);
    drape_i_c_locale_leave(&locale);
    return DRAPE_OK;
}

/* ---- beside a point cache ---- */

drape_status drape_i_rest_mesh_create(drape_context *ctx, const char *path, const char *extension,
                                      drape_i_file *out) {
    char *mesh_path;
    size_t stem = strlen(path) - strlen(extension);
    int64_t room = (int64_t)(stem + sizeof REST_ENDING);
    *out = (drape_i_file){0};
    if (!DRAPE_NEW(ctx, mesh_path, room)) return DRAPE_ERROR_MEMORY;
    memcpy(mesh_path, path, stem);
    memcpy(mesh_path + stem, REST_ENDING, sizeof REST_ENDING);
    drape_status status = drape_i_file_create(ctx, mesh_path, out);
    DRAPE_FREE(ctx, mesh_path, room);
    return status;
}

drape_status drape_i_rest_mesh_write(drape_context *ctx, drape_i_file *file, const drape_cloth *cloth,
                                     const drape_piece *pieces, const double *x) {
    const drape_frame first = {.number = 0};
    return write_obj(ctx, file,
                     &(obj_mesh){.cloth = cloth, .pieces = pieces, .x = x, .frame = &first, .as_one = true});
}

/* ---- the format ---- */

static drape_status open_sequence(drape_context *ctx, const char *path, const drape_i_animation *what, void **state) {
    return drape_i_sequence_open(ctx, path, EXTENSION, what, state);
}

static drape_status write_file(drape_context *ctx, drape_i_sequence *s, drape_i_file *file, const drape_i_frame *f) {
    drape_i_normals(s->cloth, f->data.positions, s->normal);
    return write_obj(
        ctx, file,
        &(obj_mesh){
            .cloth = s->cloth, .pieces = s->pieces, .x = f->data.positions, .normal = s->normal, .frame = &f->data});
}

static drape_status write_frame(drape_context *ctx, void *state, const drape_i_frame *frame) {
    const drape_i_sequence *s = state;
    const double *x = frame->data.positions;
    for (int64_t i = 0; i < 3 * (int64_t)drape_cloth_vertices(s->cloth); i++)
        if (!isfinite(x[i]))
            return drape_i_fail(ctx, DRAPE_ERROR_NUMBER, "%.*s%s: frame %lld: vertex %lld is not finite",
                                (int)s->stem, s->path, EXTENSION, (long long)frame->data.number, (long long)(i / 3));
    return drape_i_sequence_frame(ctx, state, frame, write_file);
}

const drape_i_format drape_i_format_obj = {EXTENSION, "a Wavefront OBJ file a frame: NAME_0000.obj, ...",
                                           open_sequence, write_frame, drape_i_sequence_close};
