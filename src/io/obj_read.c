/* obj_read.c: reading Wavefront OBJ files.
 *
 *   v x y z [w] | x y z r g b [a]      a vertex; weight and colour are passed over
 *   vt u [v [w]]                       a material-space vertex; without v it is 0
 *   f corner corner corner ...         a polygon; a corner is v, v/vt, v//vn or v/vt/vn
 *   g name ...                         the faces that follow belong to these groups, until the next g
 *   o name                             likewise to this one, until the next o; the name goes to the end of the line
 *
 * After "Object Files", Appendix B1 of the Advanced Visualizer manual, Wavefront Technologies, 1991. Indices count
 * from 1, or back from the last one read so far where negative; one ahead of its vertex is fine, so long as the file
 * has it. A # begins a comment; a backslash at the end of a line continues it; blank space, blank lines, CRLF, a byte
 * order mark and a last line without an end are all fine. Normals, materials, smoothing groups, lines and points are
 * passed over; so are words that are not known here, with a warning. Polygons are cut as in polygon.c.
 *
 * The file is gone through three times: counting, for vertices, for faces. So memory is taken once and no number of
 * the file decides how much: each vertex, corner and name was seen before. Names on one g line are limited, since
 * each may list all faces that follow, and corners of one face, since cutting takes their square: both keep the whole
 * linear in the size of the file. The decimal point of strtod is the locale's, so the thread's locale is "C"
 * meanwhile. */
#include "base/c_locale.h"
#include "base/file.h"
#include "base/word.h"
#include "io/mesh.h"
#include "io/obj_groups.h"
#include "io/polygon.h"

#include <stdarg.h>
#include <string.h>

enum {
    MAX_NAMES = 16, /* on a g line */
    MAX_VALUES = 7, /* numbers on a v line: x y z r g b a */
};

typedef drape_i_word word;

/* What the first pass finds. */
typedef struct counts {
    int64_t vertices, uv_vertices, triangles, runs;
} counts;

/* Corners of the face at hand, from 0; no_uv: one of them has no vt. */
typedef struct face {
    int32_t vertex[DRAPE_I_POLYGON_MOST], uv[DRAPE_I_POLYGON_MOST];
    bool no_uv;
} face;

typedef struct reader {
    drape_context *ctx;
    const char *name;
    const char *data, *at, *end;
    int64_t line;  /* where the statement at hand begins */
    int64_t lines; /* ends of lines passed so far */

    counts total; /* in the file */
    counts now;   /* read so far */
    drape_i_mesh *mesh;
    face *face;
    drape_i_polygon *polygon;
    drape_i_group_run *run;

    word object, group[MAX_NAMES]; /* names that hold now; an empty object is none */
    int32_t group_count;
    bool new_names;    /* since the last face */
    int64_t open_runs; /* runs from here on have no end yet */

    int64_t unknown, unknown_line; /* statements, and the first of them */
    word unknown_word;
} reader;

DRAPE_PRINTF(2, 3)
static drape_status fail(const reader *r, const char *format, ...) {
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return drape_i_fail(r->ctx, DRAPE_ERROR_FORMAT, "%s:%lld: %s", r->name, (long long)r->line, what);
}

/* ---- Statements and words ---- */

/* Length of a backslash and the end of line behind it, 0 where there is none. */
static int64_t continuation(const reader *r) {
    int64_t left = r->end - r->at;
    if (left < 2 || r->at[0] != '\\') return 0;
    if (r->at[1] == '\n') return 2;
    return left > 2 && r->at[1] == '\r' && r->at[2] == '\n' ? 3 : 0;
}

static void skip_space(reader *r) {
    for (int64_t length; r->at < r->end;) {
        if (drape_i_is_space(*r->at)) r->at++;
        else if ((length = continuation(r))) r->at += length, r->lines++;
        else return;
    }
}

/* An empty word at the end of the statement. */
static word next_word(reader *r) {
    skip_space(r);
    const char *first = r->at;
    if (r->at < r->end && *r->at == '#') return (word){first, 0};
    while (r->at < r->end && !drape_i_is_space(*r->at) && *r->at != '\n' && !continuation(r)) r->at++;
    return (word){first, r->at - first};
}

/* The first word of the next statement, passing over what is left of the last one; an empty word at the end of the
 * file. */
static word next_statement(reader *r) {
    while (r->at < r->end) {
        while (next_word(r).length) {
        }
        const char *newline = r->at < r->end ? memchr(r->at, '\n', (size_t)(r->end - r->at)) : NULL;
        r->at = newline ? newline + 1 : r->end;
        r->lines += newline != NULL;
        r->line = r->lines + 1;
        word w = next_word(r);
        if (w.length) return w;
    }
    return (word){r->end, 0};
}

static void rewind_to_start(reader *r) {
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    r->at = r->data;
    r->line = 1;
    r->lines = 0;
    if (r->end - r->at >= 3 && memcmp(r->at, byte_order_mark, 3) == 0) r->at += 3;
    r->now = (counts){0};
    r->object = (word){0};
    r->group_count = 0;
    r->new_names = false;
}

static word first_statement(reader *r) {
    rewind_to_start(r);
    word w = next_word(r);
    return w.length ? w : next_statement(r);
}

static bool same(word w, const char *name) {
    return w.length == (int64_t)strlen(name) && memcmp(w.text, name, (size_t)w.length) == 0;
}

/* ---- Numbers ---- */

static drape_status read_number(const reader *r, word w, double *out) {
    const char *wrong = drape_i_word_number(w, DRAPE_I_DECIMAL, out);
    return wrong ? fail(r, "'%s' %s", drape_i_quote(w).text, wrong) : DRAPE_OK;
}

/* The numbers to the end of the statement. */
static drape_status read_numbers(reader *r, int32_t most, double *out, int32_t *count) {
    word w;
    for (*count = 0; (w = next_word(r)).length; ++*count) {
        if (*count == most) return fail(r, "'%s' is one number too many", drape_i_quote(w).text);
        drape_status status = read_number(r, w, &out[*count]);
        if (status) return status;
    }
    return DRAPE_OK;
}

static drape_status read_vertex(reader *r) {
    double value[MAX_VALUES];
    int32_t count;
    drape_status status = read_numbers(r, MAX_VALUES, value, &count);
    if (status) return status;
    if (count < 3 || count == 5)
        return fail(r, "a vertex of %d numbers: only 3, 4 with a weight, 6 or 7 with a colour can be read", count);
    memcpy(r->mesh->position + 3 * r->now.vertices++, value, 3 * sizeof *value);
    return DRAPE_OK;
}

static drape_status read_uv(reader *r) {
    double value[3] = {0};
    int32_t count;
    drape_status status = read_numbers(r, 3, value, &count);
    if (status) return status;
    if (count < 1) return fail(r, "a material-space vertex without a number");
    memcpy(r->mesh->uv + 2 * r->now.uv_vertices++, value, 2 * sizeof *value);
    return DRAPE_OK;
}

/* ---- Faces ---- */

/* A whole number up to the next / or the end of the word; what does not fit becomes INT64_MAX, which is no index.
 * False where there is none. */
static bool take_index(const char **at, const char *end, int64_t *out) {
    bool negative = *at < end && **at == '-';
    if (*at < end && (**at == '-' || **at == '+')) ++*at;
    const char *first = *at;
    *out = 0;
    for (; *at < end && drape_i_is_digit(**at); ++*at)
        *out = *out > (INT64_MAX - 9) / 10 ? INT64_MAX : 10 * *out + (**at - '0');
    if (negative) *out = -*out;
    return *at > first && (*at == end || **at == '/');
}

/* From the file's counting to ours. */
static drape_status resolve(const reader *r, const char *what, int64_t index, int64_t now, int64_t total,
                            int32_t *out) {
    int64_t from_0 = index > 0 ? index - 1 : now + index;
    if (index == 0) return fail(r, "%s 0: they count from 1", what);
    if (index > total) return fail(r, "%s %lld, but the file has %lld", what, (long long)index, (long long)total);
    if (from_0 < 0)
        return fail(r, "%s %lld, but only %lld come before this line", what, (long long)index, (long long)now);
    *out = (int32_t)from_0;
    return DRAPE_OK;
}

/* v, v/vt, v//vn or v/vt/vn */
static drape_status read_corner(reader *r, word w, int32_t i) {
    const char *at = w.text, *end = w.text + w.length;
    int64_t v, vt, vn;
    bool has_uv = false;
    bool good = take_index(&at, end, &v);
    if (good && at < end) {
        at++;
        has_uv = at == end || *at != '/';
        good = !has_uv || take_index(&at, end, &vt);
    }
    if (good && at < end) {
        at++;
        good = take_index(&at, end, &vn) && at == end;
    }
    if (!good)
        return fail(r, "'%s' is no corner: only v, v/vt, v//vn and v/vt/vn can be read", drape_i_quote(w).text);
    drape_status status = resolve(r, "vertex", v, r->now.vertices, r->total.vertices, &r->face->vertex[i]);
    if (!has_uv) r->face->no_uv = true;
    if (status || !has_uv) return status;
    return resolve(r, "material-space vertex", vt, r->now.uv_vertices, r->total.uv_vertices, &r->face->uv[i]);
}

static drape_status read_corners(reader *r) {
    word w;
    int32_t n = 0;
    r->face->no_uv = false;
    for (; (w = next_word(r)).length; n++) {
        if (n == DRAPE_I_POLYGON_MOST) return fail(r, "a face of more than %d corners", DRAPE_I_POLYGON_MOST);
        drape_status status = read_corner(r, w, n);
        if (status) return status;
    }
    if (n < 3) return fail(r, "a face of %d corners", n);
    r->polygon->corners = n;
    return DRAPE_OK;
}

static drape_status add_triangle(reader *r, const int32_t corner[3]) {
    int32_t t = (int32_t)r->now.triangles, *to = r->mesh->triangle[t];
    for (int32_t k = 0; k < 3; k++) {
        to[k] = r->face->vertex[corner[k]];
        if (r->mesh->uv_triangle) r->mesh->uv_triangle[t][k] = r->face->uv[corner[k]];
    }
    if (to[0] == to[1] || to[1] == to[2] || to[2] == to[0])
        return fail(r, "vertex %lld stands twice in a triangle of this face",
                    (long long)(to[0] == to[1] ? to[0] : to[2]) + 1);
    r->now.triangles++;
    return DRAPE_OK;
}

static drape_status add_face(reader *r) {
    drape_i_polygon *p = r->polygon;
    drape_status status = DRAPE_OK;
    for (int32_t i = 0; i < p->corners; i++)
        memcpy(p->x[i], r->mesh->position + 3 * (int64_t)r->face->vertex[i], sizeof p->x[i]);
    drape_i_polygon_cut(p);
    if (r->face->no_uv && r->total.uv_vertices) r->mesh->uv_missing += p->corners - 2;
    for (int32_t t = 0; t < p->corners - 2 && !status; t++) status = add_triangle(r, p->triangle[t]);
    return status;
}

/* ---- Groups ---- */

/* From the first word to the last of the same line. */
static void read_object(reader *r) {
    word first = next_word(r), last = first;
    int64_t lines = r->lines;
    for (word w; (w = next_word(r)).length && r->lines == lines;) last = w;
    r->object = (word){first.text, last.text + last.length - first.text};
    r->new_names = true;
}

static drape_status read_groups(reader *r) {
    int32_t n = 0;
    for (word w; (w = next_word(r)).length; n++) {
        if (n == MAX_NAMES) return fail(r, "more than %d groups at a time", MAX_NAMES);
        r->group[n] = w;
    }
    r->group_count = n;
    r->new_names = true;
    return DRAPE_OK;
}

static void close_runs(reader *r) {
    for (; r->open_runs < r->now.runs; r->open_runs++) r->run[r->open_runs].end = (int32_t)r->now.triangles;
}

static void open_run(reader *r, word name) {
    r->run[r->now.runs] = (drape_i_group_run){
        .name = name.text, .length = name.length, .order = r->now.runs, .first = (int32_t)r->now.triangles};
    r->now.runs++;
}

/* Before a face: names that are new begin their runs here. */
static void update_runs(reader *r) {
    if (!r->new_names) return;
    close_runs(r);
    if (r->object.length) open_run(r, r->object);
    for (int32_t i = 0; i < r->group_count; i++) open_run(r, r->group[i]);
    r->new_names = false;
}

/* ---- The three passes: counting, vertices, faces (which may name vertices that come later) ---- */

static void count_face(reader *r) {
    int64_t n = 0;
    while (n <= DRAPE_I_POLYGON_MOST && next_word(r).length) n++;
    if (n >= 3 && n <= DRAPE_I_POLYGON_MOST) r->total.triangles += n - 2;
    if (r->new_names) r->total.runs += (r->object.length > 0) + r->group_count;
    r->new_names = false;
}

static bool is_passed_over(word w) {
    static const char *const known[] = {"vn", "vp", "l", "p", "s", "usemtl", "mtllib", NULL};
    for (int i = 0; known[i]; i++)
        if (same(w, known[i])) return true;
    return false;
}

static void note_unknown(reader *r, word w) {
    if (!r->unknown++) {
        r->unknown_word = w;
        r->unknown_line = r->line;
    }
}

static drape_status count(reader *r) {
    drape_status status = DRAPE_OK;
    for (word w = first_statement(r); w.length && !status; w = next_statement(r)) {
        if (same(w, "v")) r->total.vertices++;
        else if (same(w, "vt")) r->total.uv_vertices++;
        else if (same(w, "f")) count_face(r);
        else if (same(w, "o")) read_object(r);
        else if (same(w, "g")) status = read_groups(r);
        else if (!is_passed_over(w)) note_unknown(r, w);
    }
    return status;
}

static drape_status read_vertices(reader *r) {
    drape_status status = DRAPE_OK;
    for (word w = first_statement(r); w.length && !status; w = next_statement(r)) {
        if (same(w, "v")) status = read_vertex(r);
        else if (same(w, "vt")) status = read_uv(r);
    }
    return status;
}

static drape_status read_face(reader *r) {
    drape_status status = read_corners(r);
    if (status) return status;
    update_runs(r);
    return add_face(r);
}

static drape_status read_faces(reader *r) {
    drape_status status = DRAPE_OK;
    for (word w = first_statement(r); w.length && !status; w = next_statement(r)) {
        if (same(w, "v")) r->now.vertices++;
        else if (same(w, "vt")) r->now.uv_vertices++;
        else if (same(w, "f")) status = read_face(r);
        else if (same(w, "o")) read_object(r);
        else if (same(w, "g")) status = read_groups(r);
    }
    close_runs(r);
    return status;
}

/* ---- All of it ---- */

static drape_status check_text(reader *r) {
    const char *zero = r->data < r->end ? memchr(r->data, 0, (size_t)(r->end - r->data)) : NULL;
    r->line = 1;
    if (!zero) return DRAPE_OK;
    for (const char *s = r->data; s < zero; s++) r->line += *s == '\n';
    return fail(r, "a zero byte: this is no text");
}

static drape_status check_counts(reader *r) {
    const counts *n = &r->total;
    if (n->vertices > INT32_MAX || n->uv_vertices > INT32_MAX || n->triangles > INT32_MAX / 3)
        return fail(r, "%lld vertices, %lld in material space and %lld triangles are more than can be numbered",
                    (long long)n->vertices, (long long)n->uv_vertices, (long long)n->triangles);
    return DRAPE_OK;
}

static drape_status allocate(reader *r, drape_i_arena *arena, drape_i_arena *scratch) {
    drape_i_mesh *m = r->mesh;
    m->vertices = (int32_t)r->total.vertices;
    m->triangles = (int32_t)r->total.triangles;
    m->uv_vertices = (int32_t)r->total.uv_vertices;
    m->position = drape_i_arena_get(r->ctx, arena, 3 * r->total.vertices, sizeof *m->position);
    m->triangle = drape_i_arena_get(r->ctx, arena, r->total.triangles, sizeof *m->triangle);
    r->face = drape_i_arena_get(r->ctx, scratch, 1, sizeof *r->face);
    r->polygon = drape_i_arena_get(r->ctx, scratch, 1, sizeof *r->polygon);
    r->run = drape_i_arena_get(r->ctx, scratch, r->total.runs, sizeof *r->run);
    if (!m->position || !m->triangle || !r->face || !r->polygon || !r->run) return DRAPE_ERROR_MEMORY;
    if (!m->uv_vertices) return DRAPE_OK;
    m->uv = drape_i_arena_get(r->ctx, arena, 2 * r->total.uv_vertices, sizeof *m->uv);
    m->uv_triangle = drape_i_arena_get(r->ctx, arena, r->total.triangles, sizeof *m->uv_triangle);
    return m->uv && m->uv_triangle ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

static drape_status read_in_c_locale(reader *r) {
    drape_i_c_locale locale;
    drape_status status = drape_i_c_locale_enter(r->ctx, &locale);
    if (status) return status;
    status = read_vertices(r);
    drape_i_c_locale_leave(&locale);
    return status ? status : read_faces(r);
}

static drape_status find_unreferenced(reader *r, drape_i_arena *scratch) {
    drape_i_mesh *m = r->mesh;
    uint8_t *used = drape_i_arena_get(r->ctx, scratch, m->vertices, sizeof *used);
    if (!used) return DRAPE_ERROR_MEMORY;
    for (int32_t t = 0; t < m->triangles; t++)
        for (int32_t k = 0; k < 3; k++) used[m->triangle[t][k]] = 1;
    m->first_unreferenced = -1;
    for (int32_t v = m->vertices - 1; v >= 0; v--)
        if (!used[v]) {
            m->unreferenced++;
            m->first_unreferenced = v;
        }
    return DRAPE_OK;
}

static void drop_partial_uv(drape_i_mesh *m) {
    if (!m->uv_missing) return;
    m->uv = NULL;
    m->uv_triangle = NULL;
    m->uv_vertices = 0;
}

static void warn(const reader *r) {
    if (r->mesh->uv_missing)
        drape_i_log(r->ctx, DRAPE_LOG_WARNING,
                    "%s: %d of %d triangles have no material-space corners (vt): they are not used at all", r->name,
                    r->mesh->uv_missing, r->mesh->triangles);
    if (r->unknown)
        drape_i_log(r->ctx, DRAPE_LOG_WARNING, "%s:%lld: '%s' is not known; passed over, as %lld lines in all",
                    r->name, (long long)r->unknown_line, drape_i_quote(r->unknown_word).text, (long long)r->unknown);
}

static drape_status parse(reader *r, drape_i_arena *arena, drape_i_arena *scratch) {
    drape_status status = check_text(r);
    if (!status) status = count(r);
    if (!status) status = check_counts(r);
    if (!status) status = allocate(r, arena, scratch);
    if (!status) status = read_in_c_locale(r);
    if (!status && !r->mesh->triangles) status = fail(r, "the file ends without a face (f)");
    if (!status) status = drape_i_groups_build(r->ctx, arena, scratch, r->total.runs, r->run, r->mesh);
    if (!status) status = find_unreferenced(r, scratch);
    if (status) return status;
    warn(r);
    drop_partial_uv(r->mesh);
    return DRAPE_OK;
}

drape_status drape_i_obj_parse(drape_context *ctx, drape_i_arena *arena, const char *name, const char *data,
                               int64_t size, drape_i_mesh *out) {
    drape_i_arena scratch = {0};
    *out = (drape_i_mesh){0};
    if (size < 0 || (size && !data))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: no data, or %lld bytes", name, (long long)size);
    if (!size) data = "";
    reader r = {.ctx = ctx, .name = name, .data = data, .end = data + size, .mesh = out};
    drape_status status = parse(&r, arena, &scratch);
    drape_i_arena_free(ctx, &scratch);
    if (status) *out = (drape_i_mesh){0};
    return status;
}

drape_status drape_i_obj_read(drape_context *ctx, drape_i_arena *arena, const char *path, drape_i_mesh *out) {
    char *data;
    int64_t size;
    *out = (drape_i_mesh){0};
    drape_status status = drape_i_file_read(ctx, path, &data, &size);
    if (status) return status;
    status = drape_i_obj_parse(ctx, arena, path, data, size, out);
    DRAPE_FREE(ctx, data, size + 1);
    return status;
}
