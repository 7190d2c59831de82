/* html.c: one page that plays the animation in a browser, with nothing beside it.
 *
 * The page is web/player/player.html with its marks filled in: {{title}}, {{style}}, {{data}}, {{script}}. The data
 * are
 *
 *   <script id="drape-info">    JSON: title, fps, counts, origin and quantum, names and ranges of the pieces
 *   <script id="drape-mesh">    packed: seven columns of 32-bit words, one a triangle (see mesh_word)
 *   <script id="drape-motion">  packed: a record a frame (see html_motion.h); their number follows
 *                               from the length
 *
 * "packed" is deflate and base64, see html_pack.h. Everything but the frames is written with the first frame, each
 * frame when it comes, the rest of the page at the end. */
#include "base/text.h"
#include "cloth/cloth.h"
#include "io/format.h"
#include "io/html_motion.h"
#include "io/html_pack.h"
#include "io/html_text.h"
#include "io/player.h"

#include <math.h>
#include <string.h>

typedef struct page {
    const drape_cloth *cloth;
    double fps;
    char *title; /* owned */
    drape_i_file file;
    drape_i_motion motion;
    drape_i_pack pack;
    int64_t frames;
    drape_status status; /* of the first frame that failed */
    size_t done;         /* bytes of the template */
} page;

/* ---- the template ---- */

/* Writes the template on to its next mark and returns that: "title", "style", ...; "" at the end. The template is
 * ours, so marks are well-formed. */
static const char *next_mark(page *p, char mark[16]) {
    const char *from = (const char *)drape_i_player_html + p->done;
    size_t left = drape_i_player_html_size - p->done, text = 0, length = 0;
    while (text < left && !(text + 1 < left && from[text] == '{' && from[text + 1] == '{')) text++;
    drape_i_file_write(&p->file, from, text);
    if (text < left)
        for (text += 2; text < left && from[text] != '}'; text++)
            if (length < 15) mark[length++] = from[text];
    mark[length] = 0;
    p->done += text < left ? text + 2 : text;
    return mark;
}

/* Fills marks until the one named; "" for all that are left. */
static void fill_until(page *p, const char *stop) {
    char mark[16];
    while (strcmp(next_mark(p, mark), stop) != 0 && *mark) {
        if (strcmp(mark, "title") == 0) drape_i_html_text(&p->file, p->title);
        if (strcmp(mark, "style") == 0) drape_i_file_write(&p->file, drape_i_player_css, drape_i_player_css_size);
        if (strcmp(mark, "script") == 0) drape_i_file_write(&p->file, drape_i_player_js, drape_i_player_js_size);
    }
}

static void begin_block(page *p, const char *id, const char *type) {
    fprintf(p->file.stream, "<script id=\"%s\" type=\"%s\">\n", id, type);
}

static void end_block(page *p) { fputs("</script>\n", p->file.stream); }

/* ---- what does not move ---- */

static void write_info(page *p) {
    FILE *to = p->file.stream;
    const drape_i_motion *m = &p->motion;
    begin_block(p, "drape-info", "application/json");
    fprintf(to, "{\"format\":1,\"drape\":\"%s\",\"title\":", drape_version());
    drape_i_html_json(&p->file, p->title);
    fprintf(to, ",\"fps\":%.17g,\"vertices\":%d,\"triangles\":%d,\"origin\":[%.17g,%.17g,%.17g],\"quantum\":%.17g,",
            p->fps, drape_cloth_vertices(p->cloth), drape_cloth_triangles(p->cloth), m->origin[0], m->origin[1],
            m->origin[2], m->quantum);
    fputs("\"pieces\":[", to);
    for (int32_t i = 0; i < drape_cloth_pieces(p->cloth); i++) {
        const drape_piece_range *r = drape_cloth_piece(p->cloth, i);
        fputs(i ? ",\n{\"name\":" : "\n{\"name\":", to);
        drape_i_html_json(&p->file, r->name);
        fprintf(to, ",\"firstVertex\":%d,\"vertices\":%d,\"firstTriangle\":%d,\"triangles\":%d}", r->first_vertex,
                r->vertices, r->first_triangle, r->triangles);
    }
    fputs("]}\n", to);
    end_block(p);
}

/* Column c of triangle t: 0: first corner less that of the triangle before; 1, 2: the other corners less the first;
 * 3..6: du[1], du[2], dv[1], dv[2] as float32, where the three du, and the three dv, add up to zero. */
typedef struct mesh_column {
    const drape_cloth *cloth;
    int32_t column;
} mesh_column;

static uint32_t mesh_word(const void *user, int64_t t) {
    const mesh_column *m = user;
    const int32_t *corner = drape_cloth_triangle(m->cloth) + 3 * t;
    const drape_i_rest_triangle *rest = &m->cloth->rest_triangle[t];
    uint32_t bits;
    if (m->column == 0) return (uint32_t)corner[0] - (t > 0 ? (uint32_t)corner[-3] : 0);
    if (m->column < 3) return (uint32_t)corner[m->column] - (uint32_t)corner[0];
    float value = (float)(m->column < 5 ? rest->du[m->column - 2] : rest->dv[m->column - 4]);
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static drape_status write_mesh(drape_context *ctx, page *p) {
    drape_status status = drape_i_pack_open(ctx, &p->file, &p->pack);
    if (status) return status;
    begin_block(p, "drape-mesh", "text/plain");
    for (int32_t column = 0; column < 7; column++)
        drape_i_pack_words(&p->pack, drape_cloth_triangles(p->cloth), mesh_word, &(mesh_column){p->cloth, column});
    status = drape_i_pack_close(&p->pack);
    end_block(p);
    return status;
}

/* ---- the format ---- */

static void destroy(drape_context *ctx, page *p) {
    drape_i_pack_close(&p->pack);
    drape_i_file_abandon(ctx, &p->file);
    drape_i_motion_clear(ctx, &p->motion);
    if (p->title) DRAPE_FREE(ctx, p->title, (int64_t)strlen(p->title) + 1);
    DRAPE_FREE(ctx, p, 1);
}

static drape_status open_page(drape_context *ctx, const char *path, const drape_i_animation *what, void **state) {
    page *p;
    *state = NULL;
    if (!DRAPE_NEW(ctx, p, 1)) return DRAPE_ERROR_MEMORY;
    p->cloth = what->cloth;
    p->fps = what->fps;
    drape_status status = DRAPE_NEW(ctx, p->title, (int64_t)strlen(what->title) + 1) ? DRAPE_OK : DRAPE_ERROR_MEMORY;
    if (!status) {
        memcpy(p->title, what->title, strlen(what->title) + 1);
        status = drape_i_motion_create(ctx, what->cloth, &p->motion);
    }
    if (!status) status = drape_i_file_create(ctx, path, &p->file);
    if (status) destroy(ctx, p);
    else *state = p;
    return status;
}

static drape_status begin(drape_context *ctx, page *p, const double *positions) {
    drape_i_c_locale locale;
    drape_status status = drape_i_c_locale_enter(ctx, &locale);
    if (status) return status;
    drape_i_motion_begin(&p->motion, positions);
    fill_until(p, "data");
    write_info(p);
    drape_i_c_locale_leave(&locale);
    status = write_mesh(ctx, p);
    if (!status) status = drape_i_pack_open(ctx, &p->file, &p->pack);
    if (!status) begin_block(p, "drape-motion", "text/plain");
    return status;
}

static drape_status check(drape_context *ctx, const page *p, const double *positions) {
    for (int64_t i = 0; i < 3 * (int64_t)drape_cloth_vertices(p->cloth); i++)
        if (!isfinite(positions[i]))
            return drape_i_fail(ctx, DRAPE_ERROR_NUMBER, "%s: frame %lld: vertex %lld is not finite", p->file.path,
                                (long long)p->frames, (long long)(i / 3));
    return DRAPE_OK;
}

static drape_status add_frame(drape_context *ctx, page *p, const double *positions) {
    drape_status status = check(ctx, p, positions);
    if (!status && p->frames == 0) status = begin(ctx, p, positions);
    if (status) return status;
    drape_i_motion_frame(&p->motion, positions);
    drape_i_pack_put(&p->pack, p->motion.bytes, (size_t)p->motion.size);
    if (p->pack.status) return p->pack.status;
    if (p->file.error)
        return drape_i_fail(ctx, DRAPE_ERROR_IO, "%s: cannot write: %s", p->file.path, strerror(p->file.error));
    p->frames++;
    return DRAPE_OK;
}

static drape_status write_frame(drape_context *ctx, void *state, const drape_i_frame *frame) {
    page *p = state;
    if (!p->status) p->status = add_frame(ctx, p, frame->data.positions);
    return p->status;
}

static drape_status close_page(drape_context *ctx, void *state) {
    page *p = state;
    drape_status status = p->status;
    if (!status && p->frames > 0) {
        status = drape_i_pack_close(&p->pack);
        end_block(p);
        fill_until(p, "");
        if (!status) status = drape_i_file_commit(ctx, &p->file);
    }
    destroy(ctx, p);
    return status;
}

const drape_i_format drape_i_format_html = {".html", "one page that plays the animation in any browser", open_page,
                                            write_frame, close_page};
