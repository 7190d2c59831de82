/* writer.c: the table of mesh formats, and a writer on top of one of them, which checks every frame before the format
 * gets it. */
#include "io/format.h"

#include "base/arena.h"
#include "base/text.h"
#include "io/appearance.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* In the order in which they are listed. A page that simulates is downloaded first, and does with few (web/). */
#ifdef DRAPE_FEW_FORMATS
#define FORMATS(ROW)                                                                                                 \
    ROW(obj)                                                                                                         \
    ROW(glb)
#else
#define FORMATS(ROW)                                                                                                 \
    ROW(obj)                                                                                                         \
    ROW(html)                                                                                                        \
    ROW(pc2)                                                                                                         \
    ROW(mdd)                                                                                                         \
    ROW(ply)                                                                                                         \
    ROW(abc)                                                                                                         \
    ROW(usda)                                                                                                        \
    ROW(glb)
#endif

#define DECLARE(name) extern const drape_i_format drape_i_format_##name;
#define LIST(name)    &drape_i_format_##name,
FORMATS(DECLARE)
static const drape_i_format *const formats[] = {FORMATS(LIST)};

enum { COUNT = sizeof formats / sizeof *formats, LIST_SIZE = 128, LONGEST_NAME = 63, MOST_COMPONENTS = 4 };

static const double DEFAULT_FPS = 25;
static const char DEFAULT_TITLE[] = "drape";

struct drape_writer {
    drape_context *ctx;
    const drape_i_format *format;
    const drape_cloth *cloth;
    double fps;
    void *state;
    int64_t frames; /* written so far */
    int64_t number; /* of the last one */
    double time;
    drape_frame shape; /* of the first one: what the others must have, too */
    drape_i_arena arena;
};

const char *drape_writer_extension(int32_t i) { return i >= 0 && i < COUNT ? formats[i]->extension : NULL; }
const char *drape_writer_description(int32_t i) { return i >= 0 && i < COUNT ? formats[i]->description : NULL; }

static const drape_i_format *find(const char *path) {
    for (int32_t i = 0; i < COUNT; i++)
        if (drape_i_ends_in(path, formats[i]->extension)) return formats[i];
    return NULL;
}

bool drape_writer_knows(const char *path) { return path && find(path) != NULL; }

/* Formats that make more than the file of their path, or others. */
static const struct other_names {
    const char *extension, *instead, *beside; /* in place of the extension; NULL: nothing */
} other_names[] = {
    {".obj", "_*.obj", NULL}, {".ply", "_*.ply", NULL}, {".pc2", NULL, "_rest.obj"}, {".mdd", NULL, "_rest.obj"}};

size_t drape_writer_makes(const char *path, int32_t index, char *out, size_t size) {
    const drape_i_format *format = path ? find(path) : NULL;
    const struct other_names *other = NULL;
    if (out && size > 0) out[0] = 0;
    if (!format || index < 0 || index > 1) return 0;
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
        if (strcmp(other_names[i].extension, format->extension) == 0) other = &other_names[i];
    int stem = (int)(strlen(path) - strlen(format->extension));
    const char *ending = index == 1 ? (other ? other->beside : NULL) : other ? other->instead : NULL;
    if (index == 1 && !ending) return 0;
    return (size_t)snprintf(out, size, "%.*s%s", stem, path, ending ? ending : path + stem);
}

/* Whether a piece has an image of this kind. */
static bool has_image(const drape_scene *scene, const char *ending) {
    for (int32_t i = 0; i < scene->piece_count; i++) {
        const drape_appearance *look = drape_i_appearance_of(scene->pieces, i);
        drape_i_image kind;
        if (look && look->image && !drape_i_image_check(NULL, "", look->image, look->image_bytes, &kind) &&
            strcmp(kind.ending, ending) == 0)
            return true;
    }
    return false;
}

static bool has_appearance(const drape_scene *scene) {
    for (int32_t i = 0; i < scene->piece_count; i++)
        if (drape_i_appearance_of(scene->pieces, i)) return true;
    for (int32_t i = 0; i < scene->collider_count; i++)
        if (scene->colliders[i].appearance) return true;
    return false;
}

size_t drape_writer_makes_besides(const char *path, const drape_scene *scene, int32_t index, char *out, size_t size) {
    const drape_i_format *format = path && scene ? find(path) : NULL;
    const char *endings[3];
    int32_t count = 0;
    if (out && size > 0) out[0] = 0;
    if (!format) return 0;
    bool obj = strcmp(format->extension, ".obj") == 0, images = obj || strcmp(format->extension, ".usda") == 0;
    if (obj && has_appearance(scene)) endings[count++] = ".mtl";
    if (images && has_image(scene, ".png")) endings[count++] = "_texture_*.png";
    if (images && has_image(scene, ".jpg")) endings[count++] = "_texture_*.jpg";
    if (index < 0 || index >= count) return 0;
    int stem = (int)(strlen(path) - strlen(format->extension));
    return (size_t)snprintf(out, size, "%.*s%s", stem, path, endings[index]);
}

/* ".obj, .html, ..." */
static void list_endings(char list[LIST_SIZE]) {
    size_t used = 0;
    for (int32_t i = 0; i < COUNT && used < LIST_SIZE; i++)
        used += (size_t)snprintf(list + used, LIST_SIZE - used, "%s%s", i ? ", " : "", formats[i]->extension);
}

static drape_status check(drape_context *ctx, const char *path, const drape_animation *what) {
    char known[LIST_SIZE];
    if (!find(path)) {
        list_endings(known);
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: unknown file extension (known: %s)", path, known);
    }
    if (!(what->fps >= 0) || !isfinite(what->fps))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: %g frames per second; they must be finite and > 0, or 0",
                            path, what->fps);
    if (what->frames < 0)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "%s: the number of frames is %lld; it must be positive, or 0 for unknown", path,
                            (long long)what->frames);
    for (int32_t i = 0; what->pieces && i < drape_cloth_pieces(what->cloth); i++) {
        const drape_piece_range *range = drape_cloth_piece(what->cloth, i);
        if (what->pieces[i].vertices != range->vertices || what->pieces[i].triangles != range->triangles)
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: piece %d is not what the cloth was made of", path, i);
        drape_status status = drape_i_appearance_check(ctx, path, &what->pieces[i]);
        if (status) return status;
    }
    return drape_i_check_reserved(ctx, "drape_animation", what->reserved, 7);
}

drape_status drape_writer_open(drape_context *ctx, const char *path, const drape_animation *what,
                               drape_writer **out) {
    drape_writer *writer;
    if (out) *out = NULL;
    if (!ctx || !path || !what || !out || !what->cloth)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "drape_writer_open: path, animation, its cloth or out is NULL");
    drape_animation filled = *what;
    drape_status status = check(ctx, path, what);
    if (status) return status;
    if (filled.fps == 0) filled.fps = DEFAULT_FPS;
    if (!filled.title) filled.title = DEFAULT_TITLE;
    if (!DRAPE_NEW(ctx, writer, 1)) return DRAPE_ERROR_MEMORY;
    writer->ctx = ctx;
    writer->cloth = what->cloth;
    writer->fps = filled.fps;
    writer->format = find(path);
    status = writer->format->open(ctx, path, &filled, &writer->state);
    if (status) DRAPE_FREE(ctx, writer, 1);
    else *out = writer;
    return status;
}

/* ---- What a frame holds beside positions ---- */

const char *drape_attribute_place_name(drape_attribute_place place) {
    static const char *const names[] = {"vertex", "triangle"};
    return (unsigned)place < sizeof names / sizeof *names ? names[place] : NULL;
}

static const char *mesh_name(const drape_frame_mesh *m) { return m->name ? m->name : "mesh"; }

static int64_t attribute_count(const drape_writer *w, const drape_frame_attribute *a) {
    return a->place == DRAPE_PER_VERTEX ? drape_cloth_vertices(w->cloth) : drape_cloth_triangles(w->cloth);
}

static drape_status refuse(drape_writer *w, const char *what, const char *name, const char *why) {
    return drape_i_fail(w->ctx, DRAPE_ERROR_ARGUMENT, "frame %lld: %s %s: %s", (long long)w->frames, what, name, why);
}

/* The place of the first value that is not finite as a float32; count where all are. */
static int64_t first_not_finite(const double *value, int64_t count) {
    int64_t i = 0;
    while (i < count && isfinite((float)value[i])) i++;
    return i;
}

static drape_status check_values(drape_writer *w, const char *what, const char *name, const double *value,
                                 int64_t count, int32_t components) {
    int64_t at = first_not_finite(value, count * components);
    if (at == count * components) return DRAPE_OK;
    return drape_i_fail(w->ctx, DRAPE_ERROR_NUMBER, "frame %lld: %s %s: number %lld (%g) is not finite as a float32",
                        (long long)w->frames, what, name, (long long)(at / components), value[at]);
}

static drape_status check_mesh(drape_writer *w, const drape_frame_mesh *m) {
    const char *name = mesh_name(m);
    if (m->vertices < 0 || m->triangles < 0)
        return refuse(w, "mesh", name, "a negative number of vertices or triangles");
    if ((m->vertices > 0 && !m->positions) || (m->triangles > 0 && !m->triangle))
        return refuse(w, "mesh", name, "no positions or no triangles");
    for (int64_t i = 0; w->frames == 0 && i < 3 * (int64_t)m->triangles; i++) /* later ones are the same */
        if (m->triangle[i] < 0 || m->triangle[i] >= m->vertices)
            return refuse(w, "mesh", name, "a triangle has a corner that is none of its vertices");
    return check_values(w, "mesh", name, m->positions, m->vertices, 3);
}

/* Names that would collide with what formats call their own. */
static bool is_taken(const char *name) {
    static const char *const own[] = {"x", "y", "z", "nx", "ny", "nz", "s", "t", "st", "vertex_indices", "texcoord"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(name, own[i]) == 0) return true;
    return false;
}

static bool is_identifier(const char *name) {
    size_t i = 0;
    for (; name[i]; i++) {
        bool letter = (name[i] >= 'a' && name[i] <= 'z') || (name[i] >= 'A' && name[i] <= 'Z');
        bool other = (name[i] >= '0' && name[i] <= '9') || name[i] == '_';
        if (!letter && !(other && i > 0)) return false;
    }
    return i > 0 && i <= LONGEST_NAME;
}

/* Whether they are the same, or one is the other with the number of a component (NAME_0) after it. */
static bool names_clash(const char *a, const char *b) {
    size_t n = strlen(a) < strlen(b) ? strlen(a) : strlen(b);
    const char *rest = strlen(a) < strlen(b) ? b + n : a + n;
    if (strncmp(a, b, n) != 0) return false;
    return !*rest || (rest[0] == '_' && rest[1] >= '0' && rest[1] < '0' + MOST_COMPONENTS && !rest[2]);
}

static drape_status check_attribute(drape_writer *w, const drape_frame *f, int32_t index) {
    const drape_frame_attribute *a = &f->attributes[index];
    if (!a->name || !is_identifier(a->name))
        return refuse(w, "attribute", a->name ? a->name : "(NULL)", "the name is not an identifier");
    if (is_taken(a->name))
        return refuse(w, "attribute", a->name, "mesh formats have a property of this name already");
    for (int32_t i = 0; i < index; i++)
        if (names_clash(a->name, f->attributes[i].name))
            return refuse(w, "attribute", a->name, "another attribute has the same name, or that of a component");
    if (!drape_attribute_place_name(a->place)) return refuse(w, "attribute", a->name, "unknown place");
    if (a->components < 1 || a->components > MOST_COMPONENTS)
        return refuse(w, "attribute", a->name, "it must have 1 to 4 components");
    if (!a->values) return refuse(w, "attribute", a->name, "no values");
    return check_values(w, "attribute", a->name, a->values, attribute_count(w, a), a->components);
}

static bool same_mesh(const drape_frame_mesh *a, const drape_frame_mesh *b) {
    return strcmp(mesh_name(a), mesh_name(b)) == 0 && a->vertices == b->vertices && a->triangles == b->triangles &&
           (a->triangles == 0 ||
            memcmp(a->triangle, b->triangle, 3 * (size_t)a->triangles * sizeof *a->triangle) == 0);
}

static bool same_attribute(const drape_frame_attribute *a, const drape_frame_attribute *b) {
    return strcmp(a->name, b->name) == 0 && a->place == b->place && a->components == b->components;
}

static drape_status check_shape(drape_writer *w, const drape_frame *f) {
    const drape_frame *first = &w->shape;
    if (f->mesh_count != first->mesh_count || f->attribute_count != first->attribute_count)
        return drape_i_fail(
            w->ctx, DRAPE_ERROR_ARGUMENT, "frame %lld: %d meshes and %d attributes; the first frame has %d and %d",
            (long long)w->frames, f->mesh_count, f->attribute_count, first->mesh_count, first->attribute_count);
    for (int32_t i = 0; i < f->mesh_count; i++)
        if (!same_mesh(&f->meshes[i], &first->meshes[i]))
            return refuse(w, "mesh", mesh_name(&f->meshes[i]),
                          "its name, vertices or triangles are not the first frame's");
    for (int32_t i = 0; i < f->attribute_count; i++)
        if (!same_attribute(&f->attributes[i], &first->attributes[i]))
            return refuse(w, "attribute", f->attributes[i].name, "the first frame has another one in its place");
    return DRAPE_OK;
}

static drape_status check_frame(drape_writer *w, const drape_frame *f) {
    if (!f->positions) return drape_i_fail(w->ctx, DRAPE_ERROR_ARGUMENT, "drape_frame.positions is NULL");
    if (f->mesh_count < 0 || (f->mesh_count > 0 && !f->meshes) || f->attribute_count < 0 ||
        (f->attribute_count > 0 && !f->attributes))
        return drape_i_fail(w->ctx, DRAPE_ERROR_ARGUMENT, "frame %lld: no list of %d meshes or %d attributes",
                            (long long)w->frames, f->mesh_count, f->attribute_count);
    drape_status status = drape_i_check_reserved(w->ctx, "drape_frame", f->reserved, 6);
    for (int32_t i = 0; i < f->mesh_count && !status; i++) status = check_mesh(w, &f->meshes[i]);
    for (int32_t i = 0; i < f->attribute_count && !status; i++) status = check_attribute(w, f, i);
    return status || w->frames == 0 ? status : check_shape(w, f);
}

/* Number and time, given or counted; both rise. */
static drape_status fill_time(drape_writer *w, drape_frame *f) {
    if (!f->has_time) {
        f->number = w->frames > 0 ? w->number + 1 : 0;
        f->time = (double)f->number / w->fps;
    }
    if (f->number < 0 || !isfinite(f->time))
        return drape_i_fail(w->ctx, DRAPE_ERROR_ARGUMENT, "frame %lld at %g s: number and time must be finite, >= 0",
                            (long long)f->number, f->time);
    if (w->frames > 0 && (f->number <= w->number || f->time <= w->time))
        return drape_i_fail(w->ctx, DRAPE_ERROR_ARGUMENT,
                            "frame %lld at %g s comes after frame %lld at %g s: number and time must increase",
                            (long long)f->number, f->time, (long long)w->number, w->time);
    return DRAPE_OK;
}

static const void *copy(drape_writer *w, const void *from, int64_t count, size_t size) {
    void *to = drape_i_arena_get(w->ctx, &w->arena, count, size);
    if (to && count > 0) memcpy(to, from, (size_t)count * size);
    return to;
}

static drape_status keep_appearance(drape_writer *w, const drape_frame *f, const drape_appearance *const **out) {
    *out = NULL;
    if (!f->mesh_appearance) return DRAPE_OK;
    const drape_appearance **all = drape_i_arena_get(w->ctx, &w->arena, f->mesh_count, sizeof *all);
    if (!all) return DRAPE_ERROR_MEMORY;
    for (int32_t i = 0; i < f->mesh_count; i++) {
        if (!f->mesh_appearance[i]) continue;
        all[i] = copy(w, f->mesh_appearance[i], 1, sizeof **all);
        if (!all[i]) return DRAPE_ERROR_MEMORY;
    }
    *out = all;
    return DRAPE_OK;
}

static drape_status keep_shape(drape_writer *w, const drape_frame *f) {
    if (f->mesh_count == 0 && f->attribute_count == 0) return DRAPE_OK;
    drape_frame_mesh *mesh = drape_i_arena_get(w->ctx, &w->arena, f->mesh_count, sizeof *mesh);
    drape_frame_attribute *attribute = drape_i_arena_get(w->ctx, &w->arena, f->attribute_count, sizeof *attribute);
    if (!mesh || !attribute) return DRAPE_ERROR_MEMORY;
    for (int32_t i = 0; i < f->mesh_count; i++) {
        const char *name = mesh_name(&f->meshes[i]);
        mesh[i] = f->meshes[i];
        mesh[i].positions = NULL;
        mesh[i].name = copy(w, name, (int64_t)strlen(name) + 1, 1);
        mesh[i].triangle = copy(w, f->meshes[i].triangle, 3 * (int64_t)mesh[i].triangles, sizeof *mesh[i].triangle);
        if (!mesh[i].name || !mesh[i].triangle) return DRAPE_ERROR_MEMORY;
    }
    for (int32_t i = 0; i < f->attribute_count; i++) {
        attribute[i] = f->attributes[i];
        attribute[i].values = NULL;
        attribute[i].name = copy(w, f->attributes[i].name, (int64_t)strlen(f->attributes[i].name) + 1, 1);
        if (!attribute[i].name) return DRAPE_ERROR_MEMORY;
    }
    const drape_appearance *const *appearance;
    if (keep_appearance(w, f, &appearance)) return DRAPE_ERROR_MEMORY;
    w->shape = (drape_frame){.meshes = mesh,
                             .mesh_count = f->mesh_count,
                             .mesh_appearance = appearance,
                             .attributes = attribute,
                             .attribute_count = f->attribute_count};
    return DRAPE_OK;
}

/* ---- Frames ---- */

drape_status drape_writer_frame(drape_writer *w, const drape_frame *frame) {
    if (!w || !frame) return drape_i_fail(w ? w->ctx : NULL, DRAPE_ERROR_ARGUMENT, "drape_writer_frame: no frame");
    drape_i_frame f = {*frame, &w->shape};
    drape_status status = check_frame(w, frame);
    if (!status) status = fill_time(w, &f.data);
    if (!status && w->frames == 0) {
        drape_i_arena_free(w->ctx, &w->arena); /* of a first frame that failed */
        status = keep_shape(w, frame);
    }
    if (!status) status = w->format->frame(w->ctx, w->state, &f);
    if (status) return status;
    w->frames++;
    w->number = f.data.number;
    w->time = f.data.time;
    return DRAPE_OK;
}

drape_status drape_writer_close(drape_writer *w) {
    if (!w) return DRAPE_OK;
    drape_context *ctx = w->ctx;
    drape_status status = w->format->close(ctx, w->state);
    drape_i_arena_free(ctx, &w->arena);
    DRAPE_FREE(ctx, w, 1);
    return status;
}
