/* obj.c: a sequence of Wavefront OBJ files, one per frame.
 *
 * Positions and texture coordinates are in m with 17 digits, so that reading them gives the same numbers; normals
 * have 6. z is up, and corners count from 1. There is one object per piece, then one per mesh beside the cloth.
 * Attributes are left out. Where something has a color or an image, one file of materials (.mtl) is for all frames,
 * and all objects have one.
 */
#include "base/text.h"
#include "io/appearance.h"
#include "io/format_tools.h"

#include <math.h>
#include <string.h>

static const char EXTENSION[] = ".obj", REST_ENDING[] = "_rest.obj", MATERIALS[] = ".mtl";

typedef struct obj_mesh {
    const drape_cloth *cloth;
    const drape_piece *pieces; /* for texture coordinates, or NULL */
    const double *x;           /* 3 per vertex */
    const double *normal;      /* 3 per vertex, or NULL: none are written */
    const drape_frame *frame;  /* its number, and meshes beside the cloth */
    bool as_one; /* all pieces in one object, for what counts vertices over all of them; else one object per piece */
    const char *library; /* path of the file of materials; NULL: none */
} obj_mesh;

/* A name is one word. A backslash would continue the line, and a # begin a comment. */
static void write_word(const char *name, FILE *to) {
    for (; *name; name++) fputc((unsigned char)*name > ' ' && !strchr("\\#\x7f", *name) ? *name : '_', to);
}

static void write_object(const char *name, FILE *to) {
    fputs("o ", to);
    write_word(name, to);
    fputc('\n', to);
}

static const char *file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
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

/* After usemtl or newmtl. The number keeps names apart that are one as words. */
static void write_material_name(const char *word, const char *name, int32_t number, FILE *to) {
    fprintf(to, "%s ", word);
    write_word(name, to);
    fprintf(to, "_%d\n", number);
}

static void use_piece_material(const obj_mesh *m, int32_t piece, FILE *to) {
    if (!m->library) return;
    if (!drape_i_appearance_of(m->pieces, piece)) fputs("usemtl cloth\n", to);
    else write_material_name("usemtl", drape_cloth_piece(m->cloth, piece)->name, piece, to);
}

static const char *mesh_name(const drape_frame_mesh *m) { return m->name ? m->name : "mesh"; }

static void use_mesh_material(const obj_mesh *m, int32_t mesh, FILE *to) {
    if (!m->library) return;
    if (!drape_i_mesh_color(m->frame, mesh)) fputs("usemtl object\n", to);
    else write_material_name("usemtl", mesh_name(&m->frame->meshes[mesh]), drape_cloth_pieces(m->cloth) + mesh, to);
}

/* Meshes beside the cloth: an object each, after its pieces, without normals. */
static void write_others(const obj_mesh *m, FILE *to) {
    int64_t first = drape_cloth_vertices(m->cloth);
    for (int32_t i = 0; i < m->frame->mesh_count; i++) {
        const drape_frame_mesh *other = &m->frame->meshes[i];
        const int32_t *t = other->triangle;
        write_object(mesh_name(other), to);
        use_mesh_material(m, i, to);
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
    if (m->library) {
        fputs("mtllib ", to);
        write_word(file_name(m->library), to);
        fputc('\n', to);
    }
    if (m->as_one) write_object("cloth", to);
    for (int32_t i = 0; i < drape_cloth_pieces(m->cloth); i++) {
        const drape_piece_range *range = drape_cloth_piece(m->cloth, i);
        drape_i_texture texture = drape_i_texture_of(m->pieces, i);
        if (!m->as_one) write_object(range->name, to);
        use_piece_material(m, i, to);
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

/* ---- materials ---- */

static bool has_materials(const obj_mesh *m) {
    bool any = false;
    for (int32_t i = 0; i < drape_cloth_pieces(m->cloth); i++) any |= drape_i_appearance_of(m->pieces, i) != NULL;
    for (int32_t i = 0; i < m->frame->mesh_count; i++) any |= drape_i_mesh_color(m->frame, i) != NULL;
    return any;
}

static void write_color(const uint8_t *c, FILE *to) {
    fprintf(to, "Kd %.4f %.4f %.4f\n", c[0] / 255.0, c[1] / 255.0, c[2] / 255.0);
}

/* An image is multiplied by Kd. Texture coordinates are scaled, then moved. */
static void write_image(const drape_i_images *images, int32_t number, const drape_appearance *look,
                        const char *library, FILE *to) {
    double scale[2], offset[2];
    char name[4096]; /* more than a file name can have */
    drape_i_texture_place(look, scale, offset);
    drape_i_image_name(images, number, library, MATERIALS, name, sizeof name);
    fprintf(to, "map_Kd -o %.9g %.9g 0 -s %.9g %.9g 1 %s\n", offset[0], offset[1], scale[0], scale[1],
            file_name(name));
}

static void write_materials(const obj_mesh *m, const drape_i_images *images, FILE *to) {
    fputs("# drape: colors are sRGB\nnewmtl cloth\nKd 0.8 0.8 0.83\nnewmtl object\nKd 0.58 0.58 0.58\n", to);
    for (int32_t i = 0; i < drape_cloth_pieces(m->cloth); i++) {
        const drape_appearance *look = drape_i_appearance_of(m->pieces, i);
        if (!look) continue;
        write_material_name("newmtl", drape_cloth_piece(m->cloth, i)->name, i, to);
        write_color(drape_i_appearance_color(look), to);
        if (look->image) write_image(images, images->of_piece[i], look, m->library, to);
    }
    for (int32_t i = 0; i < m->frame->mesh_count; i++) {
        if (!drape_i_mesh_color(m->frame, i)) continue;
        write_material_name("newmtl", mesh_name(&m->frame->meshes[i]), drape_cloth_pieces(m->cloth) + i, to);
        write_color(drape_i_mesh_color(m->frame, i), to);
    }
}

static drape_status write_library(drape_context *ctx, const obj_mesh *m, const drape_i_images *images) {
    drape_i_file file;
    drape_i_c_locale locale;
    drape_status status = drape_i_file_create(ctx, m->library, &file);
    if (status) return status;
    status = drape_i_c_locale_enter(ctx, &locale);
    if (!status) {
        write_materials(m, images, file.stream);
        drape_i_c_locale_leave(&locale);
        return drape_i_file_commit(ctx, &file);
    }
    drape_i_file_abandon(ctx, &file);
    return status;
}

/* Beside the first frame. */
static drape_status write_appearance(drape_context *ctx, const obj_mesh *m) {
    drape_i_images images;
    drape_status status = drape_i_images_create(ctx, m->pieces, drape_cloth_pieces(m->cloth), &images);
    if (status) return status;
    status = drape_i_images_write(ctx, &images, m->library, MATERIALS);
    if (!status) status = write_library(ctx, m, &images);
    drape_i_images_destroy(ctx, &images);
    return status;
}

/* ---- the format ---- */

static drape_status open_sequence(drape_context *ctx, const char *path, const drape_i_animation *what, void **state) {
    return drape_i_sequence_open(ctx, path, EXTENSION, what, state);
}

static drape_status write_file(drape_context *ctx, drape_i_sequence *s, drape_i_file *file, const drape_i_frame *f) {
    drape_i_normals(s->cloth, f->data.positions, s->normal);
    drape_frame frame = f->data;
    frame.mesh_appearance = f->shape->mesh_appearance; /* the first frame's */
    obj_mesh mesh = {
        .cloth = s->cloth, .pieces = s->pieces, .x = frame.positions, .normal = s->normal, .frame = &frame};
    if (!has_materials(&mesh)) return write_obj(ctx, file, &mesh);
    int64_t room = (int64_t)(s->stem + sizeof MATERIALS);
    char *library;
    if (!DRAPE_NEW(ctx, library, room)) return DRAPE_ERROR_MEMORY;
    snprintf(library, (size_t)room, "%.*s%s", (int)s->stem, s->path, MATERIALS);
    mesh.library = library;
    drape_status status = s->frames == 0 ? write_appearance(ctx, &mesh) : DRAPE_OK;
    if (!status) status = write_obj(ctx, file, &mesh);
    DRAPE_FREE(ctx, library, room);
    return status;
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

const drape_i_format drape_i_format_obj = {EXTENSION, "one Wavefront OBJ file per frame: NAME_0000.obj, ...",
                                           open_sequence, write_frame, drape_i_sequence_close};
