/* format_tools.c: what the writers of mesh formats share, see format_tools.h. */
#include "io/format_tools.h"

#include "base/text.h"
#include "io/appearance.h"

#include <math.h>
#include <string.h>

/* ---- numbers as bytes ---- */

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
    if (b->used + 4 > DRAPE_I_BINARY_ROOM) drape_i_binary_end(b);
    for (int k = 0; k < 4; k++) b->bytes[b->used + (size_t)(b->big_endian ? 3 - k : k)] = (uint8_t)(value >> 8 * k);
    b->used += 4;
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
            return drape_i_fail(ctx, DRAPE_ERROR_NUMBER,
                                "%s: frame %lld: vertex %lld is outside the range of float32", path, (long long)frame,
                                (long long)(i / 3));
    return DRAPE_OK;
}

/* ---- text ---- */

static bool is_tail(unsigned char c) { return (c & 0xc0) == 0x80; }

/* Unicode 15, table 3-7. */
size_t drape_i_letter_bytes(const unsigned char *s) {
    if (s[0] < 0x80) return 1;
    if (s[0] < 0xc2 || s[0] > 0xf4 || !is_tail(s[1])) return 0;
    if (s[0] < 0xe0) return 2;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || !is_tail(s[2])) return 0;
    if (s[0] < 0xf0) return 3;
    if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f) || !is_tail(s[3])) return 0;
    return 4;
}

static bool is_control(unsigned char c) { return c < 0x20 || c == 0x7f; }

static void put_escaped(drape_i_file *file, const char *words, bool (*special)(unsigned char c), const char *format) {
    const unsigned char *s = (const unsigned char *)words;
    for (size_t bytes; *s; s += bytes ? bytes : 1) {
        bytes = drape_i_letter_bytes(s);
        if (bytes == 0) drape_i_file_write(file, "\xef\xbf\xbd", 3);
        else if (bytes == 1 && special(*s)) fprintf(file->stream, format, (unsigned)*s);
        else drape_i_file_write(file, s, bytes);
    }
}

static bool special_in_html(unsigned char c) { return strchr("<>&\"'", c) != NULL; }
static bool special_in_json(unsigned char c) { return is_control(c) || strchr("<>&\"\\", c) != NULL; }

void drape_i_html_text(drape_i_file *file, const char *words) { put_escaped(file, words, special_in_html, "&#%u;"); }

void drape_i_html_json(drape_i_file *file, const char *words) {
    drape_i_file_write(file, "\"", 1);
    put_escaped(file, words, special_in_json, "\\u%04x");
    drape_i_file_write(file, "\"", 1);
}

/* ---- normals and texture coordinates ---- */

/* Twice the area times the normal, added to the three corners. */
static void add_triangle(const int32_t *corner, const double *x, double *normal) {
    const double *a = x + 3 * (int64_t)corner[0], *b = x + 3 * (int64_t)corner[1], *c = x + 3 * (int64_t)corner[2];
    double n[3];
    for (int32_t k = 0; k < 3; k++) {
        int32_t u = (k + 1) % 3, v = (k + 2) % 3;
        n[k] = (b[u] - a[u]) * (c[v] - a[v]) - (b[v] - a[v]) * (c[u] - a[u]);
    }
    for (int32_t i = 0; i < 3; i++)
        for (int32_t k = 0; k < 3; k++) normal[3 * (int64_t)corner[i] + k] += n[k];
}

static void normalise(double n[3]) {
    double largest = fmax(fabs(n[0]), fmax(fabs(n[1]), fabs(n[2]))), square = 0;
    for (int32_t k = 0; k < 3; k++) square += (n[k] / largest) * (n[k] / largest); /* no overflow, no underflow */
    bool good = largest > 0 && isfinite(square);
    for (int32_t k = 0; k < 3; k++) n[k] = good ? n[k] / largest / sqrt(square) : k == 2;
}

void drape_i_piece_normals(const drape_cloth *cloth, const drape_piece_range *piece, const double *x,
                           double *normal) {
    const int32_t *triangle = drape_cloth_triangle(cloth) + 3 * (int64_t)piece->first_triangle;
    double *own = normal + 3 * (int64_t)piece->first_vertex;
    memset(own, 0, 3 * (size_t)piece->vertices * sizeof *own);
    for (int64_t t = 0; t < piece->triangles; t++) add_triangle(triangle + 3 * t, x, normal);
    for (int64_t i = 0; i < piece->vertices; i++) normalise(own + 3 * i);
}

void drape_i_normals(const drape_cloth *cloth, const double *x, double *normal) {
    for (int32_t i = 0; i < drape_cloth_pieces(cloth); i++)
        drape_i_piece_normals(cloth, drape_cloth_piece(cloth, i), x, normal);
}

drape_i_texture drape_i_texture_of(const drape_piece *pieces, int32_t index) {
    drape_i_texture t = {0};
    const drape_appearance *look = drape_i_appearance_of(pieces, index);
    t.image = look && look->image ? look : NULL;
    if (!pieces || (!pieces[index].uv && !t.image)) return t;
    const drape_piece *p = &pieces[index];
    const int32_t *corner = p->uv ? p->uv_triangle : look->uv_triangle;
    t.uv = p->uv ? p->uv : look->uv;
    t.count = !corner ? p->vertices : p->uv ? p->uv_vertices : look->uv_vertices;
    t.corner = corner ? corner : p->triangle;
    t.seams =
        t.count != p->vertices || memcmp(t.corner, p->triangle, 3 * (size_t)p->triangles * sizeof(int32_t)) != 0;
    return t;
}

void drape_i_texture_place(const drape_appearance *image, double scale[2], double offset[2]) {
    for (int32_t k = 0; k < 2; k++) {
        double size = image->image_size[k] > 0 ? image->image_size[k] : 1;
        scale[k] = 1 / size;
        offset[k] = 0 - image->image_origin[k] / size; /* never -0 */
    }
}

void drape_i_texture_at(const drape_i_texture *t, int64_t i, double out[2]) {
    double scale[2], offset[2];
    memcpy(out, t->uv + 2 * i, 2 * sizeof *out);
    if (!t->image) return;
    drape_i_texture_place(t->image, scale, offset);
    for (int32_t k = 0; k < 2; k++) out[k] = scale[k] * out[k] + offset[k];
}

bool drape_i_texture_inside(const drape_i_texture *t) {
    const double slack = 1e-6; /* rounding */
    for (int64_t i = 0; i < t->count; i++) {
        double st[2];
        drape_i_texture_at(t, i, st);
        if (st[0] < -slack || st[0] > 1 + slack || st[1] < -slack || st[1] > 1 + slack) return false;
    }
    return true;
}

/* ---- sequences ---- */

enum { NUMBER_ROOM = 24 }; /* "_0000", or more digits */

drape_status drape_i_sequence_close(drape_context *ctx, void *state) {
    drape_i_sequence *s = state;
    if (s->path) DRAPE_FREE(ctx, s->path, s->room);
    if (s->normal) DRAPE_FREE(ctx, s->normal, 3 * (int64_t)drape_cloth_vertices(s->cloth));
    DRAPE_FREE(ctx, s, 1);
    return DRAPE_OK;
}

drape_status drape_i_sequence_open(drape_context *ctx, const char *path, const char *extension,
                                   const drape_i_animation *what, void **state) {
    drape_i_sequence *s;
    *state = NULL;
    if (!DRAPE_NEW(ctx, s, 1)) return DRAPE_ERROR_MEMORY;
    s->cloth = what->cloth;
    s->pieces = what->pieces;
    s->extension = extension;
    s->stem = strlen(path) - strlen(extension);
    s->room = (int64_t)strlen(path) + NUMBER_ROOM + 1;
    if (!DRAPE_NEW(ctx, s->path, s->room) ||
        !DRAPE_NEW(ctx, s->normal, 3 * (int64_t)drape_cloth_vertices(s->cloth))) {
        drape_i_sequence_close(ctx, s);
        return DRAPE_ERROR_MEMORY;
    }
    memcpy(s->path, path, s->stem);
    *state = s;
    return DRAPE_OK;
}

void drape_i_sequence_comment(const drape_frame *frame, FILE *to) {
    fprintf(to, "drape: frame %lld, ", (long long)frame->number);
    if (frame->has_time) fprintf(to, "%.9g s, ", frame->time);
    fputs("metres, z up\n", to);
}

drape_status drape_i_sequence_frame(drape_context *ctx, drape_i_sequence *s, const drape_i_frame *frame,
                                    drape_status (*write)(drape_context *ctx, drape_i_sequence *s, drape_i_file *file,
                                                          const drape_i_frame *frame)) {
    drape_i_file file;
    snprintf(s->path + s->stem, (size_t)s->room - s->stem, "_%04lld%s", (long long)frame->data.number, s->extension);
    drape_status status = drape_i_file_create(ctx, s->path, &file);
    if (status) return status;
    status = write(ctx, s, &file, frame);
    if (status) drape_i_file_abandon(ctx, &file);
    else status = drape_i_file_commit(ctx, &file);
    if (!status) s->frames++;
    return status;
}

/* ---- recordings ---- */

static bool copy_text(drape_context *ctx, const char *from, char **to) {
    int64_t room = (int64_t)strlen(from) + 1;
    if (!DRAPE_NEW(ctx, *to, room)) return false;
    memcpy(*to, from, (size_t)room);
    return true;
}

static void destroy_recording(drape_context *ctx, drape_i_recording *r) {
    int64_t numbers = 3 * (int64_t)r->vertices;
    drape_i_spill_destroy(&r->spill);
    if (r->path) DRAPE_FREE(ctx, r->path, (int64_t)strlen(r->path) + 1);
    if (r->title) DRAPE_FREE(ctx, r->title, (int64_t)strlen(r->title) + 1);
    if (r->x) DRAPE_FREE(ctx, r->x, numbers);
    if (r->normal) DRAPE_FREE(ctx, r->normal, numbers);
    if (r->packed) DRAPE_FREE(ctx, r->packed, numbers);
    if (r->extra) DRAPE_FREE(ctx, r->extra, r->extras);
    DRAPE_FREE(ctx, r, 1);
}

static drape_status set_up_recording(drape_context *ctx, drape_i_recording *r, const char *path, const char *title) {
    int64_t numbers = 3 * (int64_t)r->vertices;
    if (!copy_text(ctx, path, &r->path) || !copy_text(ctx, title, &r->title) || !DRAPE_NEW(ctx, r->x, numbers) ||
        !DRAPE_NEW(ctx, r->normal, numbers) || !DRAPE_NEW(ctx, r->packed, numbers))
        return DRAPE_ERROR_MEMORY;
    return drape_i_spill_create(ctx, r->path, &r->spill);
}

drape_status drape_i_recording_open(drape_context *ctx, const char *path, const drape_i_animation *what,
                                    void **state) {
    drape_i_recording *r;
    *state = NULL;
    if (!DRAPE_NEW(ctx, r, 1)) return DRAPE_ERROR_MEMORY;
    r->cloth = what->cloth;
    r->pieces = what->pieces;
    r->fps = what->fps;
    r->vertices = drape_cloth_vertices(what->cloth);
    drape_status status = set_up_recording(ctx, r, path, what->title);
    if (status) destroy_recording(ctx, r);
    else *state = r;
    return status;
}

/* ---- recordings: taking frames ---- */

static int64_t attribute_numbers(const drape_i_recording *r, const drape_frame_attribute *a) {
    bool at_vertices = a->place == DRAPE_PER_VERTEX;
    return a->components * (int64_t)(at_vertices ? r->vertices : drape_cloth_triangles(r->cloth));
}

/* With the first frame it is known what every frame holds. */
static drape_status begin_extras(drape_context *ctx, drape_i_recording *r, const drape_frame *shape) {
    r->shape = shape;
    if (!r->keeps_extras) return DRAPE_OK;
    for (int32_t i = 0; i < shape->mesh_count; i++) r->extras += 3 * (int64_t)shape->meshes[i].vertices;
    for (int32_t i = 0; i < shape->attribute_count; i++) r->extras += attribute_numbers(r, &shape->attributes[i]);
    return DRAPE_NEW(ctx, r->extra, r->extras) ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

static void pack_extras(drape_i_recording *r, const drape_frame *f) {
    float *to = r->extra;
    for (int32_t i = 0; i < f->mesh_count; i++)
        for (int64_t k = 0; k < 3 * (int64_t)f->meshes[i].vertices; k++) *to++ = (float)f->meshes[i].positions[k];
    for (int32_t i = 0; i < f->attribute_count; i++)
        for (int64_t k = 0; k < attribute_numbers(r, &f->attributes[i]); k++)
            *to++ = (float)f->attributes[i].values[k];
    DRAPE_ASSERT(to == r->extra + r->extras);
}

static drape_status append_frame(drape_context *ctx, drape_i_recording *r, const drape_frame *f) {
    int64_t numbers = 3 * (int64_t)r->vertices;
    drape_i_stamp stamp = {f->number, f->time};
    for (int64_t i = 0; i < numbers; i++) r->packed[i] = (float)f->positions[i];
    drape_status status = drape_i_spill_append(ctx, &r->spill, r->packed, (size_t)numbers * sizeof *r->packed);
    if (!status && r->extras > 0) {
        pack_extras(r, f);
        status = drape_i_spill_append(ctx, &r->spill, r->extra, (size_t)r->extras * sizeof *r->extra);
    }
    if (!status) status = drape_i_spill_append(ctx, &r->spill, &stamp, sizeof stamp);
    if (!status) status = drape_i_spill_flush(ctx, &r->spill);
    if (status) return status;
    if (r->frames++ == 0) r->first = stamp;
    r->last = stamp;
    return DRAPE_OK;
}

static drape_status add_frame(drape_context *ctx, drape_i_recording *r, const drape_i_frame *f) {
    drape_status status = drape_i_check_floats(ctx, r->path, f->data.number, r->vertices, f->data.positions);
    if (!status && r->frames == 0) status = begin_extras(ctx, r, f->shape);
    return status ? status : append_frame(ctx, r, &f->data);
}

drape_status drape_i_recording_frame(drape_context *ctx, void *state, const drape_i_frame *frame) {
    drape_i_recording *r = state;
    if (!r->status) r->status = add_frame(ctx, r, frame);
    return r->status;
}

/* ---- recordings: giving them back ---- */

static int64_t record_bytes(const drape_i_recording *r) {
    int64_t floats = 3 * (int64_t)r->vertices + r->extras;
    return floats * (int64_t)sizeof(float) + (int64_t)sizeof(drape_i_stamp);
}

/* Where the record of a frame begins, in bytes. */
static int64_t record_at(const drape_i_recording *r, int64_t frame) {
    DRAPE_ASSERT(frame >= 0 && frame < r->frames);
    return frame * record_bytes(r);
}

static drape_status read_range(drape_context *ctx, drape_i_recording *r, int64_t frame, int64_t first,
                               int64_t count) {
    int64_t at = record_at(r, frame) + first * (int64_t)sizeof *r->packed;
    DRAPE_ASSERT(first >= 0 && first + count <= 3 * (int64_t)r->vertices);
    drape_status status =
        drape_i_spill_read(ctx, &r->spill, at, r->packed + first, (size_t)count * sizeof *r->packed);
    for (int64_t i = first; i < first + count && !status; i++) r->x[i] = (double)r->packed[i];
    return status;
}

drape_status drape_i_recording_read(drape_context *ctx, drape_i_recording *r, int64_t frame) {
    return read_range(ctx, r, frame, 0, 3 * (int64_t)r->vertices);
}

drape_status drape_i_recording_read_piece(drape_context *ctx, drape_i_recording *r, int64_t frame,
                                          const drape_piece_range *piece) {
    return read_range(ctx, r, frame, 3 * (int64_t)piece->first_vertex, 3 * (int64_t)piece->vertices);
}

drape_status drape_i_recording_read_extra(drape_context *ctx, drape_i_recording *r, int64_t frame, int64_t first,
                                          int64_t count) {
    int64_t at = record_at(r, frame) + (3 * (int64_t)r->vertices + first) * (int64_t)sizeof *r->extra;
    DRAPE_ASSERT(first >= 0 && first + count <= r->extras);
    return drape_i_spill_read(ctx, &r->spill, at, r->extra, (size_t)count * sizeof *r->extra);
}

drape_status drape_i_recording_stamp(drape_context *ctx, drape_i_recording *r, int64_t frame, drape_i_stamp *out) {
    int64_t at = record_at(r, frame) + (3 * (int64_t)r->vertices + r->extras) * (int64_t)sizeof *r->packed;
    return drape_i_spill_read(ctx, &r->spill, at, out, sizeof *out);
}

static drape_status write_whole(drape_context *ctx, const char *path, drape_i_recording_write *write, void *user) {
    drape_i_c_locale locale;
    drape_i_file file;
    drape_status status = drape_i_file_create(ctx, path, &file);
    if (status) return status;
    status = drape_i_c_locale_enter(ctx, &locale);
    if (!status) {
        status = write(ctx, user, &file);
        drape_i_c_locale_leave(&locale);
    }
    if (status) drape_i_file_abandon(ctx, &file);
    else status = drape_i_file_commit(ctx, &file);
    return status;
}

/* Keeps the first `frames` frames; their records are whole. */
static drape_status shorten(drape_context *ctx, drape_i_recording *r, int64_t frames) {
    drape_status status = drape_i_spill_cut(ctx, &r->spill, frames * record_bytes(r));
    if (status) return status;
    r->frames = frames;
    return frames > 0 ? drape_i_recording_stamp(ctx, r, frames - 1, &r->last) : DRAPE_OK;
}

/* Frames that wait take room that the file needs: where the disk is full, a quarter of them is given up, again and
 * again, until the rest fits. What is lost is said. */
static drape_status write_what_fits(drape_context *ctx, drape_i_recording *r, drape_i_recording_write *write,
                                    void *user) {
    int64_t all = r->frames;
    char why[DRAPE_I_MESSAGE_SIZE];
    drape_status first = write_whole(ctx, r->path, write, user), status = first;
    if (first != DRAPE_ERROR_IO) return first;
    snprintf(why, sizeof why, "%s", drape_message(ctx));
    while (status == DRAPE_ERROR_IO && r->frames > 1) {
        status = shorten(ctx, r, r->frames - (r->frames + 3) / 4);
        if (status) break;
        status = write_whole(ctx, r->path, write, user);
    }
    if (status)
        return drape_i_fail(ctx, first, "%.*s; none of its %lld frames is kept", DRAPE_I_MESSAGE_SIZE - 64, why,
                            (long long)all);
    return drape_i_fail(ctx, first, "%.*s; the first %lld of %lld frames are kept", DRAPE_I_MESSAGE_SIZE - 80, why,
                        (long long)r->frames, (long long)all);
}

drape_status drape_i_recording_close(drape_context *ctx, drape_i_recording *r, drape_i_recording_write *write,
                                     void *user) {
    drape_status status = r->frames > 0 ? DRAPE_OK : r->status;
    if (r->frames > 0 && r->status) status = shorten(ctx, r, r->frames); /* what there is of the one that failed */
    if (!status && r->frames > 0) status = write_what_fits(ctx, r, write, user);
    destroy_recording(ctx, r);
    return status;
}
