/* html.c: one page that plays the animation in a browser, with nothing beside it.
 *
 * The page is web/player/player.html with its marks filled in: {{title}}, {{style}}, {{data}}, {{renderer}},
 * {{script}}. The data are
 *
 *   <script id="drape-info">    JSON: title, fps, counts, origin and quantum, names and ranges of the pieces
 *   <script id="drape-mesh">    packed: seven columns of 32-bit words, one per triangle (see mesh_word)
 *   <script id="drape-motion">  packed: a record per frame (see "positions as small numbers" below); their number
 *                               follows from the length
 *   <script id="drape-objects"> packed: where there are meshes beside the cloth, see "objects" below
 *   <script id="drape-energy">  packed: where frames have energies, seven float32 per frame, J (see frame_energies)
 *   <script id="drape-uv">      packed: where pieces have images, see write_uv
 *   <script id="drape-image-N"> image number N as a data URI
 *
 * "packed" is deflate and base64, see page_pack.h. Everything but the frames is written with the first frame, each
 * frame when it comes, the rest of the page at the end. */
#include "base/text.h"
#include "cloth/cloth.h"
#include "io/appearance.h"
#include "io/format_tools.h"
#include "io/page_pack.h"

#include <math.h>
#include <string.h>

/* The files of web/player, made part of the library by cmake/embed.cmake. */
extern const unsigned char drape_i_player_html[], drape_i_player_css[], drape_i_player_js[];
extern const size_t drape_i_player_html_size, drape_i_player_css_size, drape_i_player_js_size;
extern const unsigned char drape_i_renderer_js[];
extern const size_t drape_i_renderer_js_size;

/* ---- positions as small numbers that compress well ----
 *
 * Frame f holds integers q(f, i) = round((x - origin) / quantum) for each vertex i and coordinate. What is written of
 * a frame, coordinate by coordinate, is
 *
 *   s    = mean of q(f, i) - q(f-1, i)  the way of the whole, 32 bits; 0 in the first frame
 *   d(i) = q(f, i) - q(f-1, i) - s      the rest of the change in time, 16 bits; q(-1, i) = 0
 *   r(i) = d(i) - d(i-1)                the change of that along the vertices, modulo 2^16; d(-1) = 0
 *   z(i) = 2 r, or -2 r - 1 for r < 0   with r taken as signed: small numbers have a zero high byte
 *
 * as a record of 12 + 6 vertices bytes: s of x, y, z, little-endian; the low bytes of z of all x, all y, all z; the
 * high bytes. Cloth may leave the first frame's box as far and as fast as it likes. But a vertex that moves by more
 * than 32767 quanta, half the box, relative to the mean within one frame lags behind, and catches up in the next. The
 * encoder knows what the decoder knows, so nothing adds up. (Second differences in time were tried: no better.)
 *
 * The quantum is as fine as 16 bits allow for the first frame: its box's diagonal / 65534, 22 um for a sheet of 1 m x
 * 1 m. That is far less than a pixel. What shows first are quantities derived from edges, which a quantum turns and
 * stretches by quantum/length. At 100 x 100 vertices that is 0.002: an eighth of a degree of shading and 0.2 % of
 * stretch at most. */

typedef struct motion {
    const drape_cloth *cloth;
    double origin[3];     /* m, the middle of the first frame's box */
    double quantum;       /* m */
    bool first;           /* no frame yet */
    int32_t *place;       /* q of the frame before, 3 per vertex */
    int64_t size;         /* of a frame's record, bytes */
    unsigned char *bytes; /* the present frame's record */
} motion;

enum { RECORD_HEAD = 12 }; /* bytes before the vertices' */

static const double DIAGONAL = 65534;  /* quanta: half of it each way from the middle fits int16 */
static const double SMALLEST = 1e-6;   /* m: for cloth that is one point */
static const double FARTHEST = 0x1p29; /* quanta: differences stay within int32 */

static void motion_clear(drape_context *ctx, motion *m) {
    if (!m->cloth) return;
    int64_t n = drape_cloth_vertices(m->cloth);
    if (m->place) DRAPE_FREE(ctx, m->place, 3 * n);
    if (m->bytes) DRAPE_FREE(ctx, m->bytes, m->size);
    *m = (motion){0};
}

static drape_status motion_create(drape_context *ctx, const drape_cloth *cloth, motion *out) {
    int64_t n = drape_cloth_vertices(cloth);
    *out = (motion){.cloth = cloth, .size = RECORD_HEAD + 6 * n};
    if (DRAPE_NEW(ctx, out->place, 3 * n) && DRAPE_NEW(ctx, out->bytes, out->size)) return DRAPE_OK;
    motion_clear(ctx, out);
    return DRAPE_ERROR_MEMORY;
}

/* Chooses origin and quantum; x is the first frame. */
static void motion_begin(motion *m, const double *x) {
    int64_t n = drape_cloth_vertices(m->cloth);
    double squares = 0;
    for (int k = 0; k < 3; k++) {
        double low = n ? x[k] : 0, high = low;
        for (int64_t i = 1; i < n; i++) {
            low = fmin(low, x[3 * i + k]);
            high = fmax(high, x[3 * i + k]);
        }
        m->origin[k] = low + 0.5 * (high - low);
        squares += (high - low) * (high - low);
    }
    m->quantum = fmax(sqrt(squares) / DIAGONAL, SMALLEST);
    m->first = true;
}

static int32_t nearest(const motion *m, double x, int64_t k) {
    double quanta = (x - m->origin[k]) / m->quantum;
    return (int32_t)floor(fmin(fmax(quanta, -FARTHEST), FARTHEST) + 0.5);
}

/* How far all vertices together go along coordinate k. */
static int32_t mean_way(const motion *m, const double *x, int64_t k) {
    int64_t n = drape_cloth_vertices(m->cloth), sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (int64_t)nearest(m, x[3 * i + k], k) - m->place[3 * i + k];
    return n ? (int32_t)(sum / n) : 0;
}

static int32_t clamp16(int64_t d) { return (int32_t)(d < INT16_MIN ? INT16_MIN : d > INT16_MAX ? INT16_MAX : d); }

/* r modulo 2^16, its sign folded into the lowest bit. */
static uint32_t fold(int32_t r) {
    uint32_t low = (uint32_t)r & 0xffff;
    return low < 0x8000 ? 2 * low : 2 * (0xffff - low) + 1;
}

/* Fills bytes; x must be finite. */
static void motion_frame(motion *m, const double *x) {
    int64_t n = drape_cloth_vertices(m->cloth);
    for (int64_t k = 0; k < 3; k++) {
        int32_t way = m->first ? 0 : mean_way(m, x, k), before = 0;
        unsigned char *low = m->bytes + RECORD_HEAD + k * n, *high = low + 3 * n;
        for (int byte = 0; byte < 4; byte++)
            m->bytes[4 * k + byte] = (unsigned char)((uint32_t)way >> 8 * byte & 255);
        for (int64_t i = 0; i < n; i++) {
            int32_t *place = &m->place[3 * i + k];
            int32_t d = clamp16((int64_t)nearest(m, x[3 * i + k], k) - *place - way);
            uint32_t z = fold(d - before);
            DRAPE_ASSERT(z <= UINT16_MAX); /* two bytes hold it */
            *place += way + d;
            before = d;
            low[i] = (unsigned char)(z & 255);
            high[i] = (unsigned char)(z >> 8);
        }
    }
    m->first = false;
}

/* ---- objects: meshes beside the cloth ----
 *
 * For all of them together: the triangles, three 32-bit words each, which count the vertices of their own mesh. Then
 * the positions of the first frame, three float32 each, relative to the origin. Then, frame by frame and mesh by
 * mesh, a byte and what it says. 0: seven float32; the mesh of the first frame is rotated by a quaternion (the last
 * four: x, y, z, w) and moved by the first three. 1: positions, as above. Little-endian. They wait in a file of their
 * own until the motion of the cloth is complete. */

typedef struct objects {
    const drape_frame *shape; /* the meshes without positions; NULL: no frame yet */
    int64_t vertices;         /* of all meshes */
    double *base, *now;       /* 3 per vertex, relative to the origin: of the first and of the present frame */
    drape_i_spill motion;
    int64_t bytes; /* of it */
} objects;

enum { OBJECT_RIGID = 0, OBJECT_FREE = 1, RIGID_NUMBERS = 7, WORDS_BUFFER = 4096 };

static void objects_clear(drape_context *ctx, objects *o) {
    DRAPE_FREE(ctx, o->base, 3 * o->vertices);
    DRAPE_FREE(ctx, o->now, 3 * o->vertices);
    drape_i_spill_destroy(&o->motion);
    *o = (objects){0};
}

static void shift_meshes(const drape_frame *frame, const double origin[3], double *out) {
    for (int32_t m = 0; m < frame->mesh_count; m++)
        for (int64_t i = 0; i < 3 * (int64_t)frame->meshes[m].vertices; i++)
            *out++ = frame->meshes[m].positions[i] - origin[i % 3];
}

static drape_status objects_begin(drape_context *ctx, objects *o, const char *path, const drape_i_frame *frame,
                                  const double origin[3]) {
    o->shape = frame->shape;
    for (int32_t m = 0; m < o->shape->mesh_count; m++) o->vertices += o->shape->meshes[m].vertices;
    if (o->shape->mesh_count == 0) return DRAPE_OK;
    if (!DRAPE_NEW(ctx, o->base, 3 * o->vertices) || !DRAPE_NEW(ctx, o->now, 3 * o->vertices))
        return DRAPE_ERROR_MEMORY;
    shift_meshes(&frame->data, origin, o->base);
    return drape_i_spill_create(ctx, path, &o->motion);
}

static drape_status put_floats(drape_context *ctx, objects *o, unsigned char kind, const double *values,
                               int64_t count) {
    drape_status status = drape_i_spill_append(ctx, &o->motion, &kind, 1);
    for (int64_t i = 0; i < count && !status; i++) {
        float value = (float)values[i];
        status = drape_i_spill_append(ctx, &o->motion, &value, sizeof value);
    }
    o->bytes += 1 + count * (int64_t)sizeof(float);
    return status;
}

static drape_status objects_frame(drape_context *ctx, objects *o, const drape_frame *frame, const double origin[3]) {
    drape_status status = DRAPE_OK;
    if (frame->mesh_count == 0) return DRAPE_OK;
    shift_meshes(frame, origin, o->now);
    int64_t at = 0;
    for (int32_t m = 0; m < frame->mesh_count && !status; m++) {
        int64_t count = frame->meshes[m].vertices;
        drape_i_rigid rigid;
        bool whole = drape_i_rigid_fit(count, o->base + at, o->now + at, &rigid);
        const double numbers[RIGID_NUMBERS] = {rigid.t[0], rigid.t[1], rigid.t[2], rigid.q[0],
                                               rigid.q[1], rigid.q[2], rigid.q[3]};
        if (whole) status = put_floats(ctx, o, OBJECT_RIGID, numbers, RIGID_NUMBERS);
        else status = put_floats(ctx, o, OBJECT_FREE, o->now + at, 3 * count);
        at += 3 * count;
    }
    return status;
}

static drape_status objects_pack(drape_context *ctx, objects *o, drape_i_pack *to) {
    unsigned char buffer[WORDS_BUFFER];
    drape_status status = DRAPE_OK;
    for (int32_t m = 0; m < o->shape->mesh_count; m++)
        drape_i_pack_put(to, o->shape->meshes[m].triangle,
                         3 * (size_t)o->shape->meshes[m].triangles * sizeof *o->shape->meshes[m].triangle);
    for (int64_t i = 0; i < 3 * o->vertices; i++) {
        float value = (float)o->base[i];
        drape_i_pack_put(to, &value, sizeof value);
    }
    for (int64_t at = 0; at < o->bytes && !status; at += WORDS_BUFFER) {
        size_t bytes = o->bytes - at < WORDS_BUFFER ? (size_t)(o->bytes - at) : WORDS_BUFFER;
        status = drape_i_spill_read(ctx, &o->motion, at, buffer, bytes);
        if (!status) drape_i_pack_put(to, buffer, bytes);
    }
    return status;
}

/* ---- the page ---- */

typedef struct page {
    const drape_cloth *cloth;
    const drape_piece *pieces; /* or NULL */
    drape_i_images images;     /* of these */
    double fps;
    char *title; /* owned */
    drape_i_file file;
    motion motion;
    drape_i_pack pack;
    int64_t frames;
    int64_t energies;     /* frames that have them, from the first on without a gap */
    drape_i_spill energy; /* theirs, until the motion is complete */
    objects objects;      /* meshes beside the cloth */
    drape_status status;  /* of the first frame that failed */
    bool torn;            /* it failed after some of it was written */
    size_t done;          /* bytes of the template */
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
        if (strcmp(mark, "renderer") == 0)
            drape_i_file_write(&p->file, drape_i_renderer_js, drape_i_renderer_js_size);
        if (strcmp(mark, "script") == 0) drape_i_file_write(&p->file, drape_i_player_js, drape_i_player_js_size);
    }
}

static void begin_block(page *p, const char *id, const char *type) {
    fprintf(p->file.stream, "<script id=\"%s\" type=\"%s\">\n", id, type);
}

static void end_block(page *p) { fputs("</script>\n", p->file.stream); }

/* ---- what does not move ---- */

static void write_color(const uint8_t *c, FILE *to) {
    if (c) fprintf(to, ",\"color\":\"#%02x%02x%02x\"", c[0], c[1], c[2]);
}

/* Of a piece with an image its number, and how many texture coordinates there are; seams: corners have their own. */
static void write_appearance(page *p, int32_t piece) {
    const drape_appearance *look = drape_i_appearance_of(p->pieces, piece);
    if (!look) return;
    write_color(drape_i_appearance_color(look), p->file.stream);
    if (!look->image) return;
    drape_i_texture t = drape_i_texture_of(p->pieces, piece);
    fprintf(p->file.stream, ",\"image\":%d,\"repeats\":%s,\"uv\":%d,\"seams\":%s", p->images.of_piece[piece],
            drape_i_texture_inside(&t) ? "false" : "true", t.count, t.seams ? "true" : "false");
}

static void write_info(page *p) {
    FILE *to = p->file.stream;
    const motion *m = &p->motion;
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
        fprintf(to, ",\"firstVertex\":%d,\"vertices\":%d,\"firstTriangle\":%d,\"triangles\":%d", r->first_vertex,
                r->vertices, r->first_triangle, r->triangles);
        write_appearance(p, i);
        fputc('}', to);
    }
    const drape_frame *shape = p->objects.shape;
    for (int32_t i = 0; i < shape->mesh_count; i++) {
        fputs(i ? ",\n{\"name\":" : "],\n\"objects\":[{\"name\":", to);
        drape_i_html_json(&p->file, shape->meshes[i].name);
        fprintf(to, ",\"vertices\":%d,\"triangles\":%d", shape->meshes[i].vertices, shape->meshes[i].triangles);
        write_color(drape_i_mesh_color(shape, i), to);
        fputc('}', to);
    }
    fputs("]}\n", to);
    end_block(p);
}

/* Column c of triangle t. 0: the first corner minus that of the previous triangle. 1, 2: the other corners minus the
 * first. 3..6: du[1], du[2], dv[1], dv[2] as float32; the three du, and the three dv, add up to zero. */
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

/* ---- images ---- */

/* For each piece with an image, the texture coordinates, two float32 each (0..1 over the image, from its lower left
 * corner). If it has seams, also three numbers per triangle: which of the coordinates its corners have. */
static void pack_uv(page *p, int32_t piece) {
    drape_i_texture t = drape_i_texture_of(p->pieces, piece);
    if (!t.image) return;
    for (int64_t i = 0; i < t.count; i++) {
        double st[2];
        drape_i_texture_at(&t, i, st);
        const float rounded[2] = {(float)st[0], (float)st[1]};
        drape_i_pack_put(&p->pack, rounded, sizeof rounded);
    }
    if (t.seams) drape_i_pack_put(&p->pack, t.corner, 3 * (size_t)p->pieces[piece].triangles * sizeof *t.corner);
}

static drape_status write_uv(drape_context *ctx, page *p) {
    drape_status status = drape_i_pack_open(ctx, &p->file, &p->pack);
    if (status) return status;
    begin_block(p, "drape-uv", "text/plain");
    for (int32_t i = 0; i < drape_cloth_pieces(p->cloth); i++) pack_uv(p, i);
    status = drape_i_pack_close(&p->pack);
    end_block(p);
    return status;
}

static drape_status write_images(drape_context *ctx, page *p) {
    if (p->images.count == 0) return DRAPE_OK;
    for (int32_t i = 0; i < p->images.count; i++) {
        char id[32];
        snprintf(id, sizeof id, "drape-image-%d", i);
        begin_block(p, id, "text/plain");
        fprintf(p->file.stream, "data:%s;base64,", p->images.kind[i].type);
        drape_i_write_base64(&p->file, p->images.source[i]->image, (size_t)p->images.source[i]->image_bytes);
        fputc('\n', p->file.stream);
        end_block(p);
    }
    return write_uv(ctx, p);
}

/* ---- energies ---- */

enum { ENERGIES = 7 };

/* In the order in which player.js names them. */
static void frame_energies(const drape_certificate_energy *e, float out[ENERGIES]) {
    const double all[ENERGIES] = {e->kinetic, e->elastic, e->weight, e->fabric, e->wind, e->pins, e->integrator};
    for (int32_t k = 0; k < ENERGIES; k++) out[k] = isfinite((float)all[k]) ? (float)all[k] : 0;
}

static drape_status keep_energy(drape_context *ctx, page *p, const drape_certificate_energy *energy) {
    float row[ENERGIES];
    drape_status status = DRAPE_OK;
    if (!energy || p->energies != p->frames) return DRAPE_OK;
    frame_energies(energy, row);
    if (!p->energy.stream) status = drape_i_spill_create(ctx, p->file.path, &p->energy);
    if (!status) status = drape_i_spill_append(ctx, &p->energy, row, sizeof row);
    if (!status) p->energies++;
    return status;
}

static drape_status write_energies(drape_context *ctx, page *p) {
    float row[ENERGIES];
    if (p->energies != p->frames) return DRAPE_OK;
    drape_status status = drape_i_pack_open(ctx, &p->file, &p->pack);
    if (status) return status;
    begin_block(p, "drape-energy", "text/plain");
    for (int64_t i = 0; i < p->energies && !status; i++) {
        status = drape_i_spill_read(ctx, &p->energy, i * (int64_t)sizeof row, row, sizeof row);
        if (!status) drape_i_pack_put(&p->pack, row, sizeof row);
    }
    drape_status packed = drape_i_pack_close(&p->pack);
    end_block(p);
    return status ? status : packed;
}

static drape_status write_objects(drape_context *ctx, page *p) {
    if (p->objects.shape->mesh_count == 0) return DRAPE_OK;
    drape_status status = drape_i_pack_open(ctx, &p->file, &p->pack);
    if (status) return status;
    begin_block(p, "drape-objects", "text/plain");
    status = objects_pack(ctx, &p->objects, &p->pack);
    drape_status packed = drape_i_pack_close(&p->pack);
    end_block(p);
    return status ? status : packed;
}

/* ---- the format ---- */

static void destroy(drape_context *ctx, page *p) {
    drape_i_pack_close(&p->pack);
    drape_i_images_destroy(ctx, &p->images);
    drape_i_spill_destroy(&p->energy);
    objects_clear(ctx, &p->objects);
    drape_i_file_abandon(ctx, &p->file);
    motion_clear(ctx, &p->motion);
    if (p->title) DRAPE_FREE(ctx, p->title, (int64_t)strlen(p->title) + 1);
    DRAPE_FREE(ctx, p, 1);
}

static drape_status open_page(drape_context *ctx, const char *path, const drape_i_animation *what, void **state) {
    page *p;
    *state = NULL;
    if (!DRAPE_NEW(ctx, p, 1)) return DRAPE_ERROR_MEMORY;
    p->cloth = what->cloth;
    p->pieces = what->pieces;
    p->fps = what->fps;
    drape_status status = DRAPE_NEW(ctx, p->title, (int64_t)strlen(what->title) + 1) ? DRAPE_OK : DRAPE_ERROR_MEMORY;
    if (!status) {
        memcpy(p->title, what->title, strlen(what->title) + 1);
        status = motion_create(ctx, what->cloth, &p->motion);
    }
    if (!status) status = drape_i_images_create(ctx, what->pieces, drape_cloth_pieces(what->cloth), &p->images);
    if (!status) status = drape_i_file_create(ctx, path, &p->file);
    if (status) destroy(ctx, p);
    else *state = p;
    return status;
}

static drape_status begin(drape_context *ctx, page *p, const drape_i_frame *frame) {
    drape_i_c_locale locale;
    motion_begin(&p->motion, frame->data.positions);
    drape_status status = objects_begin(ctx, &p->objects, p->file.path, frame, p->motion.origin);
    if (!status) status = drape_i_c_locale_enter(ctx, &locale);
    if (status) return status;
    fill_until(p, "data");
    write_info(p);
    drape_i_c_locale_leave(&locale);
    status = write_mesh(ctx, p);
    if (!status) status = write_images(ctx, p);
    if (!status) status = drape_i_pack_open(ctx, &p->file, &p->pack);
    if (!status) begin_block(p, "drape-motion", "text/plain");
    return status;
}

static drape_status add_frame(drape_context *ctx, page *p, const drape_i_frame *frame) {
    const double *positions = frame->data.positions;
    drape_status status =
        drape_i_check_floats(ctx, p->file.path, p->frames, drape_cloth_vertices(p->cloth), positions);
    if (status) return status;
    p->torn = true; /* until the frame is whole */
    if (p->frames == 0) status = begin(ctx, p, frame);
    if (!status) status = keep_energy(ctx, p, frame->data.energy);
    if (!status) status = objects_frame(ctx, &p->objects, &frame->data, p->motion.origin);
    if (status) return status;
    motion_frame(&p->motion, positions);
    drape_i_pack_put(&p->pack, p->motion.bytes, (size_t)p->motion.size);
    if (p->pack.status) return p->pack.status;
    if (p->file.error)
        return drape_i_fail(ctx, DRAPE_ERROR_IO, "%s: cannot write: %s", p->file.path, strerror(p->file.error));
    p->frames++;
    p->torn = false;
    return DRAPE_OK;
}

static drape_status write_frame(drape_context *ctx, void *state, const drape_i_frame *frame) {
    page *p = state;
    if (!p->status) p->status = add_frame(ctx, p, frame);
    return p->status;
}

static drape_status finish_page(drape_context *ctx, page *p) {
    drape_status status = drape_i_pack_close(&p->pack);
    end_block(p);
    if (!status) status = write_objects(ctx, p);
    if (!status) status = write_energies(ctx, p);
    fill_until(p, "");
    return status ? status : drape_i_file_commit(ctx, &p->file);
}

/* The frames are one compressed stream, and what is lost of that takes all with it. */
static drape_status close_page(drape_context *ctx, void *state) {
    page *p = state;
    bool whole = p->frames > 0 && !p->torn;
    drape_status status = whole ? finish_page(ctx, p) : p->status;
    if (whole && status == DRAPE_ERROR_IO)
        drape_i_fail(ctx, status, "%.*s; none of its frames is kept", DRAPE_I_MESSAGE_SIZE - 40, drape_message(ctx));
    else if (!whole && p->frames > 0)
        drape_i_fail(ctx, status, "%s: a frame could not be written, and none of those before it is kept",
                     p->file.path);
    destroy(ctx, p);
    return status;
}

const drape_i_format drape_i_format_html = {".html", "one page that plays the animation in any browser", open_page,
                                            write_frame, close_page};
