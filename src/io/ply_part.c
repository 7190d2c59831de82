/* ply_part.c: a PLY file row by row, for mesh_part.c. A block always has the current row as a whole. */
#include "io/mesh_part.h"
#include "io/ply_reader.h"

#include <math.h>
#include <string.h>

enum { LONGEST_ROW = 1 << 16 }; /* bytes; files with longer ones are not divided */

typedef struct scan {
    drape_i_mesh_scan *s;
    drape_i_ply_reader r;
    drape_i_ply_header header;
    char *head; /* its text, which its words are part of */
} scan;

/* ---- What is written ---- */

static void write_text(drape_i_mesh_scan *s, const char *text) { drape_i_scan_write(s, text, (int64_t)strlen(text)); }

static void write_word(drape_i_mesh_scan *s, drape_i_word w) {
    drape_i_scan_write(s, w.text, w.length);
    write_text(s, " ");
}

static const char *type_name(drape_i_ply_type type) {
    static const char *const names[] = {"int8 ",  "uint8 ",  "int16 ",   "uint16 ",
                                        "int32 ", "uint32 ", "float32 ", "float64 "};
    return names[type];
}

/* All counts take as many bytes, so that the length is known before they are. */
static void write_element(drape_i_mesh_scan *s, const drape_i_ply_element *e, int64_t count) {
    char text[64];
    write_text(s, "element ");
    write_word(s, e->name);
    snprintf(text, sizeof text, "%020lld\n", (long long)count);
    write_text(s, text);
    for (int32_t i = 0; i < e->properties; i++) {
        const drape_i_ply_property *p = &e->property[i];
        write_text(s, p->list ? "property list " : "property ");
        if (p->list) write_text(s, type_name(p->count_type));
        write_text(s, type_name(p->type));
        write_word(s, p->name);
        write_text(s, "\n");
    }
}

static void write_header(scan *p, int64_t vertices, int64_t faces) {
    static const char *const formats[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    write_text(p->s, "ply\nformat ");
    write_text(p->s, formats[p->header.format]);
    write_text(p->s, " 1.0\n");
    write_element(p->s, p->r.vertex, vertices);
    write_element(p->s, p->r.face, faces);
    write_text(p->s, "end_header\n");
}

static void write_index(scan *p, drape_i_ply_type type, uint32_t value) {
    const int32_t size = drape_i_ply_type_size(type);
    unsigned char bytes[8];
    for (int32_t k = 0; k < size; k++)
        bytes[p->header.format == DRAPE_I_PLY_BIG ? size - 1 - k : k] = (unsigned char)(value >> (8 * k));
    drape_i_scan_write(p->s, bytes, size);
}

/* The row from `row` on, with other numbers of its corners. */
static void write_face(scan *p, const char *row, drape_i_ply_type type) {
    const drape_i_ply_reader *r = &p->r;
    const bool ascii = p->header.format == DRAPE_I_PLY_ASCII;
    char text[32];
    drape_i_scan_write(p->s, row, r->corners_at - row);
    for (int32_t i = 0; i < r->corners; i++) {
        const int32_t number = drape_i_scan_rank(&p->s->kept, p->s->face->vertex[i]);
        if (ascii) drape_i_scan_write(p->s, text, snprintf(text, sizeof text, " %d", number));
        else write_index(p, type, (uint32_t)number);
    }
    drape_i_scan_write(p->s, r->corners_end, r->at - r->corners_end);
    if (ascii) write_text(p->s, "\n");
}

/* ---- Rows ---- */

/* The next row; *row: where it begins. */
static drape_status read_row(scan *p, const char **row) {
    drape_i_ply_reader *r = &p->r;
    drape_status status = DRAPE_OK;
    if (r->end - r->at < LONGEST_ROW && !p->s->last) {
        status = drape_i_scan_more(p->s, r->at);
        r->at = p->s->block;
        r->end = r->at + p->s->held;
    }
    drape_i_ply_begin_row(r);
    *row = r->at;
    return status ? status : drape_i_ply_row(r);
}

static void take_vertex(scan *p, const char *row) {
    drape_i_mesh_scan *s = p->s;
    const drape_i_ply_reader *r = &p->r;
    for (int32_t k = DRAPE_I_PLY_X; k <= (r->vertex_uv ? DRAPE_I_PLY_V : DRAPE_I_PLY_Z); k++)
        if (!isfinite(r->number[k])) s->unfit = true;
    if (s->pass != DRAPE_I_SCAN_KEEP || !drape_i_bits_has(&s->kept, r->row)) return;
    drape_i_scan_write(s, row, r->at - row);
    if (p->header.format == DRAPE_I_PLY_ASCII) write_text(s, "\n");
}

static drape_i_ply_type corner_type(const drape_i_ply_reader *r) {
    for (int32_t i = 0; i < r->face->properties; i++)
        if (r->roles[i] == DRAPE_I_PLY_CORNERS) return r->face->property[i].type;
    return DRAPE_I_PLY_FLOAT32;
}

static void take_face(scan *p, const char *row) {
    drape_i_mesh_scan *s = p->s;
    const drape_i_ply_reader *r = &p->r;
    if (r->face_uv && r->uv_numbers != 2 * r->corners) s->unfit = true;
    s->face->corners = r->corners;
    s->face->no_uv = false;
    for (int32_t i = 0; i < r->corners; i++) {
        const double v = r->corner[i];
        if (!(v >= 0 && v < (double)s->vertices) || v != floor(v)) s->unfit = true;
        else s->face->vertex[i] = (int32_t)v;
    }
    for (int32_t i = 0; i < r->uv_numbers; i++)
        if (!isfinite(r->corner_uv[i])) s->unfit = true;
    if (s->unfit || !drape_i_scan_face(s, false)) return;
    write_face(p, row, corner_type(r));
    s->kept_faces += s->text == NULL;
}

static drape_status take_element(scan *p, const drape_i_ply_element *e) {
    drape_i_ply_reader *r = &p->r;
    const bool vertices = e == r->vertex, faces = e == r->face;
    drape_status status = DRAPE_OK;
    const char *row;
    r->element = e;
    memset(r->roles, 0, sizeof r->roles);
    if (faces) status = drape_i_ply_face_roles(r);
    if (vertices) status = drape_i_ply_vertex_roles(r);
    for (r->row = 0; r->row < e->count && e->properties && !status && !p->s->unfit; r->row++) {
        status = read_row(p, &row);
        if (!status && vertices) take_vertex(p, row);
        if (!status && faces) take_face(p, row);
    }
    return status;
}

static bool is_in_order(const drape_i_ply_reader *r) {
    const drape_i_ply_type type = corner_type(r);
    return r->vertex < r->face && type < DRAPE_I_PLY_FLOAT32 && r->vertex->count <= INT32_MAX;
}

static drape_status take_all(scan *p) {
    drape_i_mesh_scan *s = p->s;
    drape_i_ply_reader *r = &p->r;
    drape_status status = drape_i_ply_find_elements(r);
    if (!status) status = drape_i_ply_face_roles(r);
    if (!status) status = drape_i_ply_vertex_roles(r);
    if (!status) status = drape_i_ply_face_roles(r);
    if (!status && !is_in_order(r)) s->unfit = true;
    if (status || s->unfit) return status;
    if (s->pass == DRAPE_I_SCAN_COUNT) {
        s->vertices = r->vertex->count;
        s->has_uv = r->vertex_uv || r->face_uv;
        return DRAPE_OK;
    }
    if (s->vertices != r->vertex->count) s->unfit = true; /* the file has changed */
    if (s->pass == DRAPE_I_SCAN_KEEP) write_header(p, s->kept_vertices, s->kept_faces);
    for (int32_t i = 0; i < r->header->elements && !status && !s->unfit; i++)
        status = take_element(p, &r->header->element[i]);
    drape_i_ply_begin_row(r);
    if (r->at < r->end || !s->last) s->unfit = true; /* more than was said takes a warning */
    return status;
}

/* ---- All of it ---- */

/* The words of the header are kept, while blocks come and go. */
static drape_status read_header(scan *p) {
    drape_i_mesh_scan *s = p->s;
    drape_status status = drape_i_ply_header_read(s->ctx, s->path, s->block, s->held, &p->header);
    if (status) return status;
    const int64_t size = p->header.size;
    if (!DRAPE_NEW(s->ctx, p->head, size)) return DRAPE_ERROR_MEMORY;
    memcpy(p->head, s->block, (size_t)size);
    status = drape_i_ply_header_read(s->ctx, s->path, p->head, size, &p->header);
    p->r.at = s->block + size;
    p->r.end = s->block + s->held;
    p->r.line = p->header.lines + 1;
    return status;
}

drape_status drape_i_ply_scan(drape_i_mesh_scan *s) {
    scan *p;
    if (!DRAPE_NEW(s->ctx, p, 1)) return DRAPE_ERROR_MEMORY;
    p->s = s;
    p->r.ctx = s->ctx;
    p->r.name = s->path;
    p->r.header = &p->header;
    drape_status status = drape_i_scan_more(s, NULL);
    if (!status) status = read_header(p);
    if (!status) status = take_all(p);
    DRAPE_FREE(s->ctx, p->head, p->header.size);
    DRAPE_FREE(s->ctx, p, 1);
    if (status != DRAPE_ERROR_FORMAT) return status;
    s->unfit = true;
    return DRAPE_OK;
}
