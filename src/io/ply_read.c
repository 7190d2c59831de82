/* ply_read.c: reading PLY files (G. Turk, "The PLY Polygon File Format", 1994): ascii, and binary of either order.
 *
 *   vertex   x, y, z of any type; u and v from s and t, u and v, or texture_u and texture_v, where it has them
 *   face     the list vertex_indices or vertex_index: a polygon, corners from 0; u and v of every corner from the
 * list texcoord, which goes before those of the vertices
 *
 * Other properties and elements are passed over. In ascii files an element is a line; blank lines are fine. Polygons
 * are cut as in mesh.c.
 *
 * The file is gone through three times: counting, vertices, faces. Before an element is read, its count is compared
 * with the bytes that are left. So no number in the file decides how much memory or time is taken. */
#include "base/text.h"
#include "io/ply_reader.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef drape_i_ply_role role;
typedef drape_i_ply_reader reader;

enum { MOST_UV = DRAPE_I_PLY_MOST_UV };

/* "name:line: what", or "name: face 12: what" in a binary file. */
DRAPE_PRINTF(2, 3)
static drape_status fail(const reader *r, const char *format, ...) {
    char what[256], where[80];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (r->header->format == DRAPE_I_PLY_ASCII || !r->element)
        snprintf(where, sizeof where, ":%lld", (long long)r->line);
    else snprintf(where, sizeof where, ": %s %lld", drape_i_quote(r->element->name).text, (long long)r->row);
    return drape_i_fail(r->ctx, DRAPE_ERROR_FORMAT, "%s%s: %s", r->name, where, what);
}

/* A problem with what a row says (not with how long it is) is the listener's, where there is one. */
static drape_status go_on(reader *r, const char *code, drape_status status) {
    int64_t line = r->header->format == DRAPE_I_PLY_ASCII ? r->line : 0;
    if (status != DRAPE_ERROR_FORMAT || !r->listener) return status;
    r->listener->problem(r->listener->user, line, code, drape_i_mesh_what(r->ctx, r->name, line));
    return DRAPE_OK;
}

/* ---- values ---- */

static void skip_space(reader *r) {
    while (r->at < r->end && drape_i_is_space(*r->at)) r->at++;
}

/* Of an ascii line; an empty one at its end. */
static drape_i_word next_word(reader *r) {
    skip_space(r);
    const char *first = r->at;
    while (r->at < r->end && *r->at != '\n' && !drape_i_is_space(*r->at)) r->at++;
    return (drape_i_word){first, r->at - first};
}

static drape_status read_word(reader *r, drape_i_ply_type type, double *out) {
    drape_i_word w = next_word(r);
    if (!w.length) return fail(r, "the %s ends too soon", r->at < r->end ? "line" : "file");
    const char *wrong = drape_i_word_number(w, DRAPE_I_DECIMAL, out);
    if (!wrong && type < DRAPE_I_PLY_FLOAT32 && *out != floor(*out)) wrong = "is not a whole number";
    return wrong ? fail(r, "'%s' %s", drape_i_quote(w).text, wrong) : DRAPE_OK;
}

static double decode(drape_i_ply_type type, uint64_t bits) {
    float single;
    double number;
    uint32_t half = (uint32_t)bits;
    switch (type) {
    case DRAPE_I_PLY_INT8: return (double)(int32_t)(bits & 127) - (bits & 128 ? 128 : 0);
    case DRAPE_I_PLY_INT16: return (double)(int32_t)(bits & 32767) - (bits & 32768 ? 32768 : 0);
    case DRAPE_I_PLY_INT32: return (double)(half & INT32_MAX) - (half > INT32_MAX ? 2147483648.0 : 0);
    case DRAPE_I_PLY_FLOAT32: memcpy(&single, &half, sizeof single); return (double)single;
    case DRAPE_I_PLY_FLOAT64: memcpy(&number, &bits, sizeof number); return number;
    default: return (double)bits;
    }
}

static drape_status read_bytes(reader *r, drape_i_ply_type type, double *out) {
    int32_t size = drape_i_ply_type_size(type);
    uint64_t bits = 0;
    if (r->end - r->at < size) return fail(r, "the file ends too soon");
    for (int32_t k = 0; k < size; k++) {
        uint64_t byte = (unsigned char)r->at[r->header->format == DRAPE_I_PLY_BIG ? k : size - 1 - k];
        bits = bits << 8 | byte;
    }
    r->at += size;
    *out = decode(type, bits);
    return DRAPE_OK;
}

static drape_status read_value(reader *r, drape_i_ply_type type, double *out) {
    return r->header->format == DRAPE_I_PLY_ASCII ? read_word(r, type, out) : read_bytes(r, type, out);
}

/* Any values: numbers that are passed over may be what they like. */
static drape_status skip_values(reader *r, drape_i_ply_type type, int64_t count) {
    int32_t size = drape_i_ply_type_size(type);
    if (r->header->format != DRAPE_I_PLY_ASCII) {
        if ((r->end - r->at) / size < count) return fail(r, "the file ends too soon");
        r->at += count * size;
        return DRAPE_OK;
    }
    for (int64_t i = 0; i < count; i++)
        if (!next_word(r).length) return fail(r, "the %s ends too soon", r->at < r->end ? "line" : "file");
    return DRAPE_OK;
}

/* ---- rows ---- */

static drape_status read_list(reader *r, const drape_i_ply_property *p, role as) {
    double count;
    drape_status status = read_value(r, p->count_type, &count);
    if (status) return status;
    int32_t most = as == DRAPE_I_PLY_CORNERS ? DRAPE_I_POLYGON_MOST : MOST_UV;
    double *to = as == DRAPE_I_PLY_CORNERS ? r->corner : r->corner_uv;
    if (!(count >= 0 && count <= INT32_MAX)) return fail(r, "a list of %.0f numbers", count);
    if (as == DRAPE_I_PLY_PASSED_OVER) return skip_values(r, p->type, (int64_t)count);
    if (as == DRAPE_I_PLY_CORNERS && (count < 3 || count > most)) return fail(r, "a face of %.0f corners", count);
    if (count > most) return fail(r, "texture coordinates of %.0f numbers", count);
    if (as == DRAPE_I_PLY_CORNERS) r->corners_at = r->at;
    for (int32_t i = 0; i < (int32_t)count && !status; i++) status = read_value(r, p->type, &to[i]);
    if (as == DRAPE_I_PLY_CORNERS) r->corners_end = r->at;
    *(as == DRAPE_I_PLY_CORNERS ? &r->corners : &r->uv_numbers) = (int32_t)count;
    return status;
}

/* An element in ascii is a line. */
void drape_i_ply_begin_row(reader *r) {
    if (r->header->format != DRAPE_I_PLY_ASCII) return;
    for (skip_space(r); r->at < r->end && *r->at == '\n'; skip_space(r)) r->at++, r->line++;
}

static drape_status end_row(reader *r) {
    if (r->header->format != DRAPE_I_PLY_ASCII) return DRAPE_OK;
    drape_i_word w = next_word(r);
    return w.length ? fail(r, "there is one number too many, '%s'", drape_i_quote(w).text) : DRAPE_OK;
}

drape_status drape_i_ply_row(reader *r) {
    drape_status status = DRAPE_OK;
    drape_i_ply_begin_row(r);
    r->corners = r->uv_numbers = 0;
    for (int32_t i = 0; i < r->element->properties && !status; i++) {
        const drape_i_ply_property *p = &r->element->property[i];
        if (p->list) status = read_list(r, p, r->roles[i]);
        else if (r->roles[i] == DRAPE_I_PLY_PASSED_OVER) status = skip_values(r, p->type, 1);
        else status = read_value(r, p->type, &r->number[r->roles[i]]);
    }
    return status ? status : end_row(r);
}

/* ---- what there is ---- */

static int32_t find_property(const drape_i_ply_element *e, const char *name, bool list) {
    for (int32_t i = 0; e && i < e->properties; i++)
        if (e->property[i].list == list && drape_i_word_is(e->property[i].name, name)) return i;
    return -1;
}

drape_status drape_i_ply_vertex_roles(reader *r) {
    static const char *const axes[] = {"x", "y", "z"};
    static const char *const pairs[][2] = {{"s", "t"}, {"u", "v"}, {"texture_u", "texture_v"}};
    memset(r->roles, 0, sizeof r->roles);
    for (int32_t k = 0; k < 3; k++) {
        int32_t i = find_property(r->vertex, axes[k], false);
        if (i < 0) return fail(r, "the vertices have no property %s", axes[k]);
        r->roles[i] = (role)(DRAPE_I_PLY_X + k);
    }
    r->vertex_uv = false;
    for (int32_t k = 0; k < 3 && !r->vertex_uv && !r->face_uv; k++) {
        int32_t u = find_property(r->vertex, pairs[k][0], false), v = find_property(r->vertex, pairs[k][1], false);
        if (u < 0 || v < 0) continue;
        r->roles[u] = DRAPE_I_PLY_U;
        r->roles[v] = DRAPE_I_PLY_V;
        r->vertex_uv = true;
    }
    return DRAPE_OK;
}

drape_status drape_i_ply_face_roles(reader *r) {
    int32_t corners = find_property(r->face, "vertex_indices", true);
    int32_t uv = find_property(r->face, "texcoord", true);
    memset(r->roles, 0, sizeof r->roles);
    if (corners < 0) corners = find_property(r->face, "vertex_index", true);
    if (corners < 0) return fail(r, "the faces have no list vertex_indices");
    r->roles[corners] = DRAPE_I_PLY_CORNERS;
    if (uv >= 0) r->roles[uv] = DRAPE_I_PLY_CORNER_UV;
    r->face_uv = uv >= 0;
    return DRAPE_OK;
}

drape_status drape_i_ply_find_elements(reader *r) {
    for (int32_t i = 0; i < r->header->elements; i++) {
        const drape_i_ply_element *e = &r->header->element[i];
        const drape_i_ply_element **slot = drape_i_word_is(e->name, "vertex") ? &r->vertex
                                           : drape_i_word_is(e->name, "face") ? &r->face
                                                                              : NULL;
        if (slot && *slot) return fail(r, "the element %s appears twice", drape_i_quote(e->name).text);
        if (slot) *slot = e;
    }
    if (!r->vertex || !r->face || !r->face->count)
        return fail(r, "the file has no %s", r->vertex ? "faces" : "vertices");
    return DRAPE_OK;
}

/* ---- The three passes: counting, vertices, faces ---- */

/* The fewest bytes of a row; a row of nothing takes none. */
static int64_t least_bytes(const reader *r, const drape_i_ply_element *e) {
    int64_t bytes = 0;
    for (int32_t i = 0; i < e->properties; i++) {
        const drape_i_ply_property *p = &e->property[i];
        bytes += r->header->format == DRAPE_I_PLY_ASCII ? 2 /* a digit and what separates it */
                                                        : drape_i_ply_type_size(p->list ? p->count_type : p->type);
    }
    return bytes;
}

static drape_status check_count(const reader *r) {
    int64_t least = least_bytes(r, r->element), left = r->end - r->at;
    int64_t unseparated = r->header->format == DRAPE_I_PLY_ASCII; /* the last number of the file */
    if (least && r->element->count > (left + unseparated) / least)
        return fail(r, "%lld times the element %s do not fit in the remaining %lld bytes",
                    (long long)r->element->count, drape_i_quote(r->element->name).text, (long long)left);
    return DRAPE_OK;
}

static drape_status count_element(reader *r, const drape_i_ply_element *e) {
    r->element = e;
    r->row = 0;
    memset(r->roles, 0, sizeof r->roles);
    drape_status status = check_count(r);
    if (!status && e == r->face) status = drape_i_ply_face_roles(r);
    for (; r->row < e->count && e->properties && !status; r->row++) {
        status = drape_i_ply_row(r);
        if (e != r->face || status) continue;
        r->triangles += r->corners - 2;
        r->all_corners += r->corners;
    }
    return status;
}

static drape_status count(reader *r) {
    drape_status status = DRAPE_OK;
    r->at = r->data + r->header->size;
    r->line = r->header->lines + 1;
    for (int32_t i = 0; i < r->header->elements && !status; i++) {
        const drape_i_ply_element *e = &r->header->element[i];
        if (e == r->vertex) r->vertex_at = r->at, r->vertex_line = r->line;
        if (e == r->face) r->face_at = r->at, r->face_line = r->line;
        status = count_element(r, e);
    }
    if (status) return status;
    r->element = NULL;
    if (r->vertex->count > INT32_MAX || r->triangles > INT32_MAX / 3 || r->all_corners > INT32_MAX)
        return fail(r, "%lld vertices and %lld triangles are more than can be numbered", (long long)r->vertex->count,
                    (long long)r->triangles);
    return DRAPE_OK;
}

static void warn_of_rest(reader *r) {
    drape_i_ply_begin_row(r);
    if (r->at < r->end)
        drape_i_log(r->ctx, DRAPE_LOG_WARNING, "%s: %lld bytes after the last element are ignored", r->name,
                    (long long)(r->end - r->at));
}

static drape_status read_vertices(reader *r) {
    static const char *const names[] = {"", "x", "y", "z", "u", "v"};
    drape_i_mesh *m = r->mesh;
    r->element = r->vertex;
    r->at = r->vertex_at;
    r->line = r->vertex_line;
    drape_status status = DRAPE_OK;
    for (r->row = 0; r->row < r->element->count && !status; r->row++) {
        status = drape_i_ply_row(r);
        for (int32_t k = DRAPE_I_PLY_X; k <= (r->vertex_uv ? DRAPE_I_PLY_V : DRAPE_I_PLY_Z) && !status; k++)
            if (!isfinite(r->number[k])) status = go_on(r, "not-finite", fail(r, "%s is not finite", names[k]));
        if (status) break;
        memcpy(m->position + 3 * r->row, &r->number[DRAPE_I_PLY_X], 3 * sizeof(double));
        if (r->vertex_uv) memcpy(m->uv + 2 * r->row, &r->number[DRAPE_I_PLY_U], 2 * sizeof(double));
    }
    return status;
}

/* The corners of the row as they are counted here; next_uv: the number of its first own pair of texture coordinates.
 */
static drape_status take_corners(reader *r, int64_t next_uv) {
    drape_i_mesh_face *face = r->polygon;
    face->corners = r->corners;
    face->no_uv = r->face_uv && r->uv_numbers != 2 * r->corners;
    for (int32_t i = 0; i < r->corners; i++) {
        double v = r->corner[i];
        if (!(v >= 0 && v < r->mesh->vertices) || v != floor(v))
            return fail(r, "vertex %.9g does not exist: there are %d, counted from 0", v, r->mesh->vertices);
        face->vertex[i] = (int32_t)v;
        face->uv[i] = r->face_uv ? (int32_t)(next_uv + i) : face->vertex[i];
    }
    for (int32_t i = 0; i < 2 * r->corners && r->face_uv && !face->no_uv; i++) {
        if (!isfinite(r->corner_uv[i])) return fail(r, "a texture coordinate is not finite");
        r->mesh->uv[2 * next_uv + i] = r->corner_uv[i];
    }
    return DRAPE_OK;
}

static drape_status add_face(reader *r, int64_t next_uv, int64_t *triangles) {
    drape_status status = take_corners(r, next_uv);
    if (!status && !drape_i_mesh_may_cut(r->polygon, r->end - r->data)) status = fail(r, DRAPE_I_TOO_MUCH_TO_CUT);
    if (status) return go_on(r, "bad-line", status);
    int32_t twice = drape_i_mesh_add_face(r->mesh, r->polygon, triangles);
    if (twice < 0) return DRAPE_OK;
    return go_on(r, "repeated-vertex", fail(r, "vertex %d appears twice in a triangle of this face", twice));
}

static drape_status read_faces(reader *r) {
    int64_t triangles = 0, next_uv = 0;
    drape_status status = DRAPE_OK;
    r->element = r->face;
    r->at = r->face_at;
    r->line = r->face_line;
    for (r->row = 0; r->row < r->element->count && !status; r->row++) {
        status = drape_i_ply_row(r);
        if (!status) status = add_face(r, next_uv, &triangles);
        next_uv += r->corners;
    }
    r->mesh->triangles = (int32_t)triangles; /* fewer than were counted where a listener let go */
    return status;
}

/* ---- All of it ---- */

static drape_status allocate(reader *r, drape_i_arena *arena, drape_i_arena *scratch) {
    drape_i_mesh *m = r->mesh;
    m->vertices = (int32_t)r->vertex->count;
    m->triangles = (int32_t)r->triangles;
    m->uv_vertices = r->face_uv ? (int32_t)r->all_corners : r->vertex_uv ? m->vertices : 0;
    m->position = drape_i_arena_get(r->ctx, arena, 3 * (int64_t)m->vertices, sizeof *m->position);
    m->triangle = drape_i_arena_get(r->ctx, arena, m->triangles, sizeof *m->triangle);
    r->polygon = drape_i_arena_get(r->ctx, scratch, 1, sizeof *r->polygon);
    if (!m->position || !m->triangle || !r->polygon) return DRAPE_ERROR_MEMORY;
    if (!m->uv_vertices) return DRAPE_OK;
    m->uv = drape_i_arena_get(r->ctx, arena, 2 * (int64_t)m->uv_vertices, sizeof *m->uv);
    m->uv_triangle = drape_i_arena_get(r->ctx, arena, m->triangles, sizeof *m->uv_triangle);
    return m->uv && m->uv_triangle ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

static drape_status read_body(reader *r, drape_i_arena *arena, drape_i_arena *scratch) {
    drape_status status = drape_i_ply_find_elements(r);
    if (!status) status = drape_i_ply_face_roles(r);
    if (!status) status = drape_i_ply_vertex_roles(r);
    if (!status) status = count(r);
    if (!status) warn_of_rest(r);
    if (!status) status = drape_i_ply_vertex_roles(r);
    if (!status) status = allocate(r, arena, scratch);
    if (!status) status = read_vertices(r);
    if (!status) status = drape_i_ply_face_roles(r);
    if (!status) status = read_faces(r);
    return status ? status : drape_i_mesh_finish(r->ctx, scratch, r->name, r->mesh);
}

static drape_status parse(reader *r, drape_i_arena *arena, drape_i_arena *scratch) {
    drape_i_c_locale locale;
    drape_status status = drape_i_ply_header_read(r->ctx, r->name, r->data, r->end - r->data, r->header);
    if (status) return status;
    r->line = r->header->lines;
    status = drape_i_c_locale_enter(r->ctx, &locale);
    if (status) return status;
    status = read_body(r, arena, scratch);
    drape_i_c_locale_leave(&locale);
    return status;
}

drape_status drape_i_ply_parse(drape_context *ctx, drape_i_arena *arena, const char *name, const char *data,
                               int64_t size, const drape_i_mesh_listener *listener, drape_i_mesh *out) {
    drape_i_arena scratch = {0};
    *out = (drape_i_mesh){0};
    if (size < 0 || (size && !data))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: no data, or %lld bytes", name, (long long)size);
    if (!size) data = "";
    reader *r = drape_i_arena_get(ctx, &scratch, 1, sizeof *r);
    drape_i_ply_header *header = drape_i_arena_get(ctx, &scratch, 1, sizeof *header);
    drape_status status = r && header ? DRAPE_OK : DRAPE_ERROR_MEMORY;
    if (!status) {
        *r = (reader){.ctx = ctx, .name = name, .listener = listener, .data = data, .end = data + size};
        r->header = header;
        r->mesh = out;
        status = parse(r, arena, &scratch);
    }
    drape_i_arena_free(ctx, &scratch);
    if (status) *out = (drape_i_mesh){0};
    return status;
}
