/* obj_part.c: an OBJ file block by block, for mesh_part.c. A block ends with a line that is not continued. */
#include "io/mesh_part.h"
#include "io/obj_reader.h"

#include <string.h>

/* Where the last statement of the block ends that is there as a whole. */
static const char *find_end(const drape_i_mesh_scan *s) {
    const char *end = s->block + s->held;
    if (s->last) return end;
    for (; end > s->block; end--) {
        if (end[-1] != '\n') continue;
        const char *before = end - 1;
        if (before > s->block && before[-1] == '\r') before--;
        if (before == s->block || before[-1] != '\\') break;
    }
    return end;
}

static bool is(drape_i_word w, const char *name) {
    return w.length == (int64_t)strlen(name) && memcmp(w.text, name, (size_t)w.length) == 0;
}

/* The statement that begins with the word, as it is. */
static void copy(drape_i_mesh_scan *s, drape_i_obj_reader *r, drape_i_word first) {
    while (drape_i_obj_word(r).length) {
    }
    drape_i_scan_write(s, first.text, r->at - first.text);
    drape_i_scan_write(s, "\n", 1);
}

/* With numbers among what is kept, and without normals. */
static void write_face(drape_i_mesh_scan *s, bool uv) {
    char corner[64];
    drape_i_scan_write(s, "f", 1);
    for (int32_t i = 0; i < s->face->corners; i++) {
        int n = snprintf(corner, sizeof corner, " %d", drape_i_scan_rank(&s->kept, s->face->vertex[i]) + 1);
        drape_i_scan_write(s, corner, n);
        if (!uv) continue;
        n = snprintf(corner, sizeof corner, "/%d", drape_i_scan_rank(&s->kept_uv, s->face->uv[i]) + 1);
        drape_i_scan_write(s, corner, n);
    }
    drape_i_scan_write(s, "\n", 1);
}

static drape_status take_vertex(drape_i_mesh_scan *s, drape_i_obj_reader *r, drape_i_word w) {
    double x[3];
    const int64_t number = r->now.vertices++;
    if (s->pass == DRAPE_I_SCAN_CHECK) return drape_i_obj_vertex(r, x);
    if (s->pass == DRAPE_I_SCAN_KEEP && number < s->vertices && drape_i_bits_has(&s->kept, number)) copy(s, r, w);
    return DRAPE_OK;
}

static drape_status take_uv(drape_i_mesh_scan *s, drape_i_obj_reader *r, drape_i_word w) {
    double uv[2];
    const int64_t number = r->now.uv_vertices++;
    if (s->pass == DRAPE_I_SCAN_CHECK) return drape_i_obj_uv(r, uv);
    if (s->pass == DRAPE_I_SCAN_KEEP && number < s->uv_vertices && drape_i_bits_has(&s->kept_uv, number))
        copy(s, r, w);
    return DRAPE_OK;
}

static drape_status take_face(drape_i_mesh_scan *s, drape_i_obj_reader *r) {
    if (s->pass == DRAPE_I_SCAN_COUNT) return DRAPE_OK;
    drape_status status = drape_i_obj_corners(r);
    const bool uv = s->uv_vertices > 0;
    if (!status && drape_i_scan_face(s, uv)) write_face(s, uv);
    return status;
}

static drape_status take(drape_i_mesh_scan *s, drape_i_obj_reader *r, drape_i_word w) {
    if (is(w, "v")) return take_vertex(s, r, w);
    if (is(w, "vt")) return take_uv(s, r, w);
    if (drape_i_obj_is_face(w)) return take_face(s, r);
    if (is(w, "o") || is(w, "g")) {
        if (s->pass == DRAPE_I_SCAN_KEEP) copy(s, r, w);
    } else if (!drape_i_obj_is_passed_over(w)) {
        s->unfit = true; /* it takes a warning */
    }
    return DRAPE_OK;
}

static drape_status take_block(drape_i_mesh_scan *s, drape_i_obj_reader *r, const char *end) {
    drape_status status = DRAPE_OK;
    if (r->at < end && memchr(r->at, 0, (size_t)(end - r->at))) s->unfit = true;
    r->data = r->at;
    r->end = end;
    for (drape_i_word w = drape_i_obj_first(r); w.length && !status && !s->unfit; w = drape_i_obj_statement(r))
        status = take(s, r, w);
    return status;
}

drape_status drape_i_obj_scan(drape_i_mesh_scan *s) {
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    drape_i_obj_reader r = {.ctx = s->ctx, .name = s->path, .face = s->face};
    drape_status status = drape_i_scan_more(s, NULL);
    r.total.vertices = s->vertices;
    r.total.uv_vertices = s->uv_vertices;
    r.at = s->block;
    if (s->held >= 3 && memcmp(s->block, byte_order_mark, 3) == 0) r.at += 3;
    while (!status && !s->unfit) {
        const char *end = find_end(s);
        if (end > r.at) status = take_block(s, &r, end);
        if (s->last || status) break;
        status = drape_i_scan_more(s, end);
        r.at = s->block;
    }
    if (status == DRAPE_ERROR_FORMAT) {
        s->unfit = true;
        status = DRAPE_OK;
    }
    if (s->pass == DRAPE_I_SCAN_COUNT) {
        s->vertices = r.now.vertices;
        s->uv_vertices = r.now.uv_vertices;
        s->has_uv = s->uv_vertices > 0;
    } else if (s->vertices != r.now.vertices || s->uv_vertices != r.now.uv_vertices) {
        s->unfit = true; /* the file has changed, or it was left */
    }
    return status;
}
