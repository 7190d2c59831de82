/* obj_read.c: reading Wavefront OBJ files.
 *
 *   v x y z [w] | x y z r g b [a]      a vertex; weight and color are passed over
 *   vt u [v [w]]                       a material-space vertex; without v it is 0
 *   f corner corner corner ...         a polygon; a corner is v, v/vt, v//vn or v/vt/vn; also called fo
 *   g name ...                         the faces that follow belong to these groups, until the next g
 *   o name                             likewise to this one, until the next o; the name goes to the end of the line
 *
 * After "Object Files", Appendix B1 of the Advanced Visualizer manual, Wavefront Technologies, 1991. Indices count
 * from 1, or back from the last one read so far where negative; one ahead of its vertex is fine, so long as the file
 * has it. A # begins a comment, and a backslash at the end of a line continues it. Blank space, blank lines, CRLF, CR
 * alone, a byte order mark and a last line without an end are all fine. Normals, materials, smoothing groups, lines
 * and points are passed over; so are words that are not known here, with a warning. Polygons are cut as in mesh.c.
 *
 * The file is gone through three times: counting, for vertices, for faces. So memory is taken once and no number of
 * the file decides how much: each vertex, corner and name was seen before. Names on one g line are limited, since
 * each may list all faces that follow. Corners of one face are limited, since cutting takes their square. Both keep
 * the time linear in the size of the file. The decimal point of strtod is the locale's, so the thread's locale is "C"
 * meanwhile. */
#include "io/obj_reader.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef drape_i_word word;
typedef drape_i_obj_counts counts;
typedef drape_i_obj_reader reader;

enum { MAX_NAMES = DRAPE_I_OBJ_NAMES, MAX_VALUES = DRAPE_I_OBJ_VALUES };

DRAPE_PRINTF(2, 3)
static drape_status fail(const reader *r, const char *format, ...) {
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return drape_i_fail(r->ctx, DRAPE_ERROR_FORMAT, "%s:%lld: %s", r->name, (long long)r->line, what);
}

/* The listener, if any, gets the problem of a statement, and reading continues. */
static drape_status go_on(reader *r, drape_status status) {
    if (status != DRAPE_ERROR_FORMAT || !r->listener) return status;
    r->listener->problem(r->listener->user, r->line, r->code ? r->code : "bad-line",
                         drape_i_mesh_what(r->ctx, r->name, r->line));
    r->code = NULL;
    return DRAPE_OK;
}

/* ---- Statements and words ---- */

/* Length of a backslash and the end of line after it, 0 if there is none. */
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

word drape_i_obj_word(reader *r) {
    skip_space(r);
    const char *first = r->at;
    if (r->at < r->end && *r->at == '#') return (word){first, 0};
    while (r->at < r->end && !drape_i_is_space(*r->at) && *r->at != '\n' && !continuation(r)) r->at++;
    return (word){first, r->at - first};
}

word drape_i_obj_statement(reader *r) {
    while (r->at < r->end) {
        while (drape_i_obj_word(r).length) {
        }
        const char *newline = r->at < r->end ? memchr(r->at, '\n', (size_t)(r->end - r->at)) : NULL;
        r->at = newline ? newline + 1 : r->end;
        r->lines += newline != NULL;
        r->line = r->lines + 1;
        word w = drape_i_obj_word(r);
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

word drape_i_obj_first(reader *r) {
    word w = drape_i_obj_word(r);
    return w.length ? w : drape_i_obj_statement(r);
}

static word first_statement(reader *r) {
    rewind_to_start(r);
    return drape_i_obj_first(r);
}

static bool same(word w, const char *name) {
    return w.length == (int64_t)strlen(name) && memcmp(w.text, name, (size_t)w.length) == 0;
}

/* ---- Numbers ---- */

/* nan, inf, -infinity, 1.#IND: what programs print for numbers that went wrong. */
static bool is_not_finite(word w) {
    int64_t sign = w.length > 0 && (w.text[0] == '-' || w.text[0] == '+');
    char c = w.length - sign >= 3 ? w.text[sign] : 0;
    return c == 'n' || c == 'N' || c == 'i' || c == 'I' || (c == '1' && memchr(w.text, '#', (size_t)w.length));
}

static drape_status read_number(reader *r, word w, double *out) {
    const char *wrong = drape_i_word_number(w, DRAPE_I_DECIMAL, out);
    if (wrong && is_not_finite(w)) {
        r->code = "not-finite";
        wrong = "is not a finite number";
    }
    return wrong ? fail(r, "'%s' %s", drape_i_quote(w).text, wrong) : DRAPE_OK;
}

/* The numbers to the end of the statement. */
static drape_status read_numbers(reader *r, int32_t most, double *out, int32_t *count) {
    word w;
    for (*count = 0; (w = drape_i_obj_word(r)).length; ++*count) {
        if (*count == most) return fail(r, "there is one number too many, '%s'", drape_i_quote(w).text);
        drape_status status = read_number(r, w, &out[*count]);
        if (status) return status;
    }
    return DRAPE_OK;
}

drape_status drape_i_obj_vertex(reader *r, double out[3]) {
    double value[MAX_VALUES];
    int32_t count;
    drape_status status = read_numbers(r, MAX_VALUES, value, &count);
    if (status) return status;
    if (count < 3 || count == 5)
        return fail(r, "a vertex of %d numbers; expected 3, 4 with a weight, or 6 or 7 with a color", count);
    memcpy(out, value, 3 * sizeof *value);
    return DRAPE_OK;
}

static drape_status read_vertex(reader *r) {
    double *to = r->mesh->position + 3 * r->now.vertices++;
    for (int32_t k = 0; k < 3; k++) to[k] = NAN; /* for the case that this fails, and a listener continues */
    return drape_i_obj_vertex(r, to);
}

drape_status drape_i_obj_uv(reader *r, double out[2]) {
    double value[3] = {0};
    int32_t count;
    drape_status status = read_numbers(r, 3, value, &count);
    if (status) return status;
    if (count < 1) return fail(r, "a material-space vertex without a number");
    memcpy(out, value, 2 * sizeof *value);
    return DRAPE_OK;
}

static drape_status read_uv(reader *r) {
    double *to = r->mesh->uv + 2 * r->now.uv_vertices++;
    to[0] = to[1] = NAN;
    return drape_i_obj_uv(r, to);
}

/* ---- Faces ---- */

/* A whole number up to the next / or the end of the word; what does not fit becomes INT64_MAX, which is no index.
 * False if there is none. */
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
    if (index == 0) return fail(r, "%s 0, but numbers start at 1", what);
    if (index > total)
        return fail(r, "%s %lld does not exist: the file has %lld", what, (long long)index, (long long)total);
    if (from_0 < 0)
        return fail(r, "%s %lld does not exist: only %lld come before this line", what, (long long)index,
                    (long long)now);
    *out = (int32_t)from_0;
    return DRAPE_OK;
}

/* v, v/vt, v//vn or v/vt/vn; some programs leave the slashes where nothing follows: v/, v//, v/vt/ */
static drape_status read_corner(reader *r, word w, int32_t i) {
    const char *at = w.text, *end = w.text + w.length;
    int64_t v, vt, vn;
    bool has_uv = false;
    bool good = take_index(&at, end, &v);
    if (good && at < end) {
        at++;
        has_uv = at < end && *at != '/';
        good = !has_uv || take_index(&at, end, &vt);
    }
    if (good && at < end) {
        at++;
        good = at == end || (take_index(&at, end, &vn) && at == end);
    }
    if (!good) return fail(r, "'%s' is not a corner; expected v, v/vt, v//vn or v/vt/vn", drape_i_quote(w).text);
    drape_status status = resolve(r, "vertex", v, r->now.vertices, r->total.vertices, &r->face->vertex[i]);
    if (!has_uv && r->total.uv_vertices) r->face->no_uv = true;
    if (status || !has_uv) return status;
    return resolve(r, "material-space vertex", vt, r->now.uv_vertices, r->total.uv_vertices, &r->face->uv[i]);
}

drape_status drape_i_obj_corners(reader *r) {
    word w;
    int32_t n = 0;
    r->face->no_uv = false;
    for (; (w = drape_i_obj_word(r)).length; n++) {
        if (n == DRAPE_I_POLYGON_MOST) return fail(r, "a face of more than %d corners", DRAPE_I_POLYGON_MOST);
        drape_status status = read_corner(r, w, n);
        if (status) return status;
    }
    if (n < 3) return fail(r, "a face of %d corners", n);
    r->face->corners = n;
    return DRAPE_OK;
}

static drape_status add_face(reader *r) {
    int32_t twice = drape_i_mesh_add_face(r->mesh, r->face, &r->now.triangles);
    if (twice < 0) return DRAPE_OK;
    r->code = "repeated-vertex";
    return fail(r, "vertex %lld appears twice in a triangle of this face", (long long)twice + 1);
}

/* ---- Groups ---- */

/* From the first word to the last of the same line. */
static void read_object(reader *r) {
    word first = drape_i_obj_word(r), last = first;
    int64_t lines = r->lines;
    for (word w; (w = drape_i_obj_word(r)).length && r->lines == lines;) last = w;
    r->object = (word){first.text, last.text + last.length - first.text};
    r->new_names = true;
}

static drape_status read_groups(reader *r) {
    int32_t n = 0;
    for (word w; (w = drape_i_obj_word(r)).length; n++) {
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

/* fo is how f was called before version 3 of the format. */
bool drape_i_obj_is_face(word w) { return same(w, "f") || same(w, "fo"); }

/* ---- The three passes: counting, vertices, faces (which may name vertices that come later) ---- */

static void count_face(reader *r) {
    int64_t n = 0;
    while (n <= DRAPE_I_POLYGON_MOST && drape_i_obj_word(r).length) n++;
    if (n >= 3 && n <= DRAPE_I_POLYGON_MOST) r->total.triangles += n - 2;
    if (r->new_names) r->total.runs += (r->object.length > 0) + r->group_count;
    r->new_names = false;
}

bool drape_i_obj_is_passed_over(word w) {
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
    for (word w = first_statement(r); w.length && !status; w = drape_i_obj_statement(r)) {
        if (same(w, "v")) r->total.vertices++;
        else if (same(w, "vt")) r->total.uv_vertices++;
        else if (drape_i_obj_is_face(w)) count_face(r);
        else if (same(w, "o")) read_object(r);
        else if (same(w, "g")) status = read_groups(r);
        else if (!drape_i_obj_is_passed_over(w)) note_unknown(r, w);
    }
    return status;
}

static drape_status read_vertices(reader *r) {
    drape_status status = DRAPE_OK;
    for (word w = first_statement(r); w.length && !status; w = drape_i_obj_statement(r)) {
        if (same(w, "v")) status = go_on(r, read_vertex(r));
        else if (same(w, "vt")) status = go_on(r, read_uv(r));
    }
    return status;
}

static drape_status read_face(reader *r) {
    drape_status status = drape_i_obj_corners(r);
    if (status) return status;
    if (!drape_i_mesh_may_cut(r->face, r->end - r->data)) return fail(r, DRAPE_I_TOO_MUCH_TO_CUT);
    update_runs(r);
    return add_face(r);
}

static drape_status read_faces(reader *r) {
    drape_status status = DRAPE_OK;
    for (word w = first_statement(r); w.length && !status; w = drape_i_obj_statement(r)) {
        if (same(w, "v")) r->now.vertices++;
        else if (same(w, "vt")) r->now.uv_vertices++;
        else if (drape_i_obj_is_face(w)) status = go_on(r, read_face(r));
        else if (same(w, "o")) read_object(r);
        else if (same(w, "g")) status = read_groups(r);
    }
    close_runs(r);
    r->mesh->triangles = (int32_t)r->now.triangles; /* fewer than were counted where a listener let go */
    return status;
}

/* ---- All of it ---- */

static drape_status check_text(reader *r) {
    const char *zero = r->data < r->end ? memchr(r->data, 0, (size_t)(r->end - r->data)) : NULL;
    r->line = 1;
    if (!zero) return DRAPE_OK;
    for (const char *s = r->data; s < zero; s++) r->line += *s == '\n';
    return fail(r, "a zero byte; this is not a text file");
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
    r->run = drape_i_arena_get(r->ctx, scratch, r->total.runs, sizeof *r->run);
    if (!m->position || !m->triangle || !r->face || !r->run) return DRAPE_ERROR_MEMORY;
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

static void warn(const reader *r) {
    if (r->unknown)
        drape_i_log(r->ctx, DRAPE_LOG_WARNING, "%s:%lld: '%s' is not known; %lld such lines are ignored", r->name,
                    (long long)r->unknown_line, drape_i_quote(r->unknown_word).text, (long long)r->unknown);
}

static drape_status parse(reader *r, drape_i_arena *arena, drape_i_arena *scratch) {
    drape_status status = check_text(r);
    if (!status) status = count(r);
    if (!status) status = check_counts(r);
    if (!status) status = allocate(r, arena, scratch);
    if (!status) status = read_in_c_locale(r);
    if (!status && !r->total.triangles) status = fail(r, "the file ends without a face (f)");
    /* Fewer than were counted where a listener let faces go. */
    if (!status) status = drape_i_groups_build(r->ctx, arena, scratch, r->now.runs, r->run, r->mesh);
    if (!status) status = drape_i_mesh_finish(r->ctx, scratch, r->name, r->mesh);
    if (!status) warn(r);
    return status;
}

/* Old Macintosh files end their lines in CR alone: *data becomes a copy with newlines. */
static drape_status replace_returns(drape_context *ctx, drape_i_arena *scratch, const char **data, int64_t size) {
    if (!memchr(*data, '\r', (size_t)size) || memchr(*data, '\n', (size_t)size)) return DRAPE_OK;
    char *copy = drape_i_arena_get(ctx, scratch, size, 1);
    if (!copy) return DRAPE_ERROR_MEMORY;
    for (int64_t i = 0; i < size; i++) copy[i] = (*data)[i] == '\r' ? '\n' : (*data)[i];
    *data = copy;
    return DRAPE_OK;
}

drape_status drape_i_obj_parse(drape_context *ctx, drape_i_arena *arena, const char *name, const char *data,
                               int64_t size, const drape_i_mesh_listener *listener, drape_i_mesh *out) {
    drape_i_arena scratch = {0};
    *out = (drape_i_mesh){0};
    if (size < 0 || (size && !data))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: no data, or %lld bytes", name, (long long)size);
    if (!size) data = "";
    drape_status status = replace_returns(ctx, &scratch, &data, size);
    reader r = {.ctx = ctx, .name = name, .listener = listener, .data = data, .end = data + size, .mesh = out};
    if (!status) status = parse(&r, arena, &scratch);
    drape_i_arena_free(ctx, &scratch);
    if (status) *out = (drape_i_mesh){0};
    return status;
}
