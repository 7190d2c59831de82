/* ccd_read.c: queries of continuous collision detection from CSV files, of two kinds:
 *
 *   coordinates    8 lines per query: the four vertices at time 0, then at time 1. A line holds x, y and z, each as
 *                  numerator and denominator, and may end in a column that says whether the two parts touch (1 or 0).
 *   vertices       a heading "v,f0,f1,f2,truth[,...]" or "ea0,ea1,eb0,eb1,truth[,...]", then a line per query:
 * vertices of a mesh, counted from 0, 1 or 0, and when they first touch, which may be empty. The positions come from
 * two meshes.
 *
 * A coordinate is exact where it is a double. Otherwise it is the double nearest to the quotient, where numerator and
 * denominator are doubles; else both of them are rounded first. `rounded` counts those that are not exact. */
#include "drape/io.h"

#include "base/file.h"
#include "base/text.h"
#include "io/mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

enum {
    VERTICES = 4,
    LINES = 8,         /* per query of coordinates */
    COLUMNS = 8,       /* that are looked at */
    MOST_DIGITS = 300, /* of a whole number: below the largest double */
    LIMBS = 32,        /* 32 bits each: room for them */
};
#define MOST_UNPACKED (INT64_C(1) << 31) /* bytes: a compressed file may claim anything */

typedef struct reader {
    drape_context *ctx;
    const char *path;
    const char *at, *end; /* what is still to be read */
    int64_t line;         /* number of the one read last, from 1 */
    drape_i_word column[COLUMNS];
    int columns;
} reader;

typedef struct query_set {
    drape_ccd_queries queries; /* first: the caller's view */
    drape_context *ctx;
    drape_i_arena arena;
} query_set;

static drape_status wrong(const reader *r, const char *what) {
    return drape_i_fail(r->ctx, DRAPE_ERROR_FORMAT, "%s:%lld: %s", r->path, (long long)r->line, what);
}

static drape_status wrong_word(const reader *r, drape_i_word w, const char *what) {
    return drape_i_fail(r->ctx, DRAPE_ERROR_FORMAT, "%s:%lld: \"%s\" %s", r->path, (long long)r->line,
                        drape_i_quote(w).text, what);
}

/* ---- Compressed files ---- */

static bool is_packed(const char *data, int64_t size) {
    return size >= 2 && (unsigned char)data[0] == 0x1f && (unsigned char)data[1] == 0x8b;
}

/* The next bytes of the stream into the memory after the first *size; true at the end of the stream. */
static int unpack_some(z_stream *z, char *to, int64_t room) {
    z->next_out = (Bytef *)to;
    z->avail_out = (uInt)room;
    return inflate(z, Z_NO_FLUSH);
}

static drape_status unpack_all(drape_context *ctx, const char *path, z_stream *z, char **out, int64_t *size,
                               int64_t *capacity) {
    for (;;) {
        if (*size == *capacity) {
            int64_t more = *capacity ? 2 * *capacity : 1 << 20;
            char *grown;
            if (more > MOST_UNPACKED)
                return drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "%s: unpacks to more than %lld bytes", path,
                                    (long long)MOST_UNPACKED);
            if (!DRAPE_NEW_RAW(ctx, grown, more)) return DRAPE_ERROR_MEMORY;
            if (*size) memcpy(grown, *out, (size_t)*size);
            if (*out) DRAPE_FREE(ctx, *out, *capacity);
            *out = grown, *capacity = more;
        }
        int code = unpack_some(z, *out + *size, *capacity - *size);
        *size = *capacity - (int64_t)z->avail_out;
        if (code == Z_STREAM_END) return DRAPE_OK;
        if (code == Z_MEM_ERROR) return drape_i_fail(ctx, DRAPE_ERROR_MEMORY, "%s: no memory to unpack it", path);
        if (code != Z_OK)
            return drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "%s: the compressed data are damaged or cut off", path);
    }
}

/* Freed by DRAPE_FREE(ctx, *out, *capacity), also after a failure. */
static drape_status unpack(drape_context *ctx, const char *path, const char *data, int64_t size, char **out,
                           int64_t *unpacked, int64_t *capacity) {
    z_stream z = {.next_in = (z_const Bytef *)data, .avail_in = (uInt)size};
    *out = NULL, *unpacked = 0, *capacity = 0;
    if (size > MOST_UNPACKED) return drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "%s: too large", path);
    if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
        return drape_i_fail(ctx, DRAPE_ERROR_MEMORY, "%s: no memory to unpack it", path);
    drape_status status = unpack_all(ctx, path, &z, out, unpacked, capacity);
    inflateEnd(&z);
    return status;
}

/* ---- Lines and numbers ---- */

static drape_i_word trimmed(const char *begin, const char *end) {
    while (begin < end && drape_i_is_space(*begin)) begin++;
    while (end > begin && drape_i_is_space(end[-1])) end--;
    return (drape_i_word){begin, end - begin};
}

/* Cuts the next line that is not empty into columns; false at the end. Columns after the last are only counted. */
static bool next_line(reader *r) {
    while (r->at < r->end) {
        const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
        const char *stop = newline ? newline : r->end, *from = r->at;
        r->at = newline ? newline + 1 : r->end;
        r->line++;
        if (trimmed(from, stop).length == 0) continue;
        r->columns = 0;
        for (const char *comma;; from = comma + 1) {
            comma = memchr(from, ',', (size_t)(stop - from));
            if (r->columns < COLUMNS) r->column[r->columns] = trimmed(from, comma ? comma : stop);
            r->columns += r->columns <= COLUMNS;
            if (!comma) return true;
        }
    }
    return false;
}

static int64_t count_lines(reader r) {
    int64_t count = 0;
    while (next_line(&r)) count++;
    return count;
}

/* Whether a whole number of at most MOST_DIGITS digits is a double: its bits from the first to the last one set are
 * at most 53. */
static bool is_double(drape_i_word w) {
    uint32_t limb[LIMBS] = {0};
    int first = -1, last = -1;
    for (int64_t i = 0; i < w.length; i++) {
        if (!drape_i_is_digit(w.text[i])) continue;
        uint64_t carry = (uint64_t)(w.text[i] - '0');
        for (int k = 0; k < LIMBS; k++) {
            carry += (uint64_t)limb[k] * 10;
            limb[k] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    for (int bit = 0; bit < 32 * LIMBS; bit++)
        if (limb[bit / 32] >> bit % 32 & 1) {
            if (first < 0) first = bit;
            last = bit;
        }
    return last - first < 53;
}

static drape_status take_whole(const reader *r, drape_i_word w, double *out, bool *exact) {
    const char *why =
        w.length > MOST_DIGITS ? "is longer than 300 digits" : drape_i_word_number(w, DRAPE_I_WHOLE, out);
    if (why) return wrong_word(r, w, why);
    *exact = fabs(*out) < 0x1p53 || is_double(w);
    return DRAPE_OK;
}

static drape_status take_rational(const reader *r, const drape_i_word w[2], double *out, int64_t *rounded) {
    double numerator, denominator;
    bool exact, exact_too;
    drape_status status = take_whole(r, w[0], &numerator, &exact);
    if (!status) status = take_whole(r, w[1], &denominator, &exact_too);
    if (status) return status;
    if (!(denominator > 0)) return wrong_word(r, w[1], "is a denominator, which must be above zero");
    *out = numerator / denominator;
    if (!exact || !exact_too || fma(*out, denominator, -numerator) != 0) ++*rounded;
    return DRAPE_OK;
}

static drape_status take_truth(const reader *r, drape_i_word w, int8_t *out) {
    if (w.length != 1 || (w.text[0] != '0' && w.text[0] != '1'))
        return wrong_word(r, w, "is neither 1 (the two parts touch) nor 0 (they do not)");
    *out = w.text[0] == '1';
    return DRAPE_OK;
}

static drape_status take_vertex(const reader *r, drape_i_word w, int32_t vertices, int32_t *out) {
    double number;
    const char *why = drape_i_word_number(w, DRAPE_I_WHOLE, &number);
    if (why) return wrong_word(r, w, why);
    if (!(number >= 0 && number < vertices)) {
        char text[96];
        snprintf(text, sizeof text, "is not a vertex: the meshes have %d, counted from 0", vertices);
        return wrong_word(r, w, text);
    }
    *out = (int32_t)number;
    return DRAPE_OK;
}

static drape_status take_time(const reader *r, drape_i_word w, double *out) {
    if (w.length == 0) return DRAPE_OK; /* unknown */
    const char *why = drape_i_word_number(w, DRAPE_I_DECIMAL, out);
    if (!why && !(*out >= 0 && *out <= 1)) why = "is not a time of contact, which is in [0, 1]";
    return why ? wrong_word(r, w, why) : DRAPE_OK;
}

/* ---- What the pairs are ---- */

/* "vf" or "ee" after the digits at the start of a name, as in 326vf_pairs.csv. */
static bool named_after_digits(const char *path, const char *letters) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    while (drape_i_is_digit(*name)) name++;
    return strncmp(name, letters, 2) == 0;
}

static bool kind_of_path(const char *path, drape_ccd_kind *out) {
    bool vertex_face = strstr(path, "vertex-face") || named_after_digits(path, "vf");
    bool edge_edge = strstr(path, "edge-edge") || named_after_digits(path, "ee");
    *out = vertex_face ? DRAPE_CCD_VERTEX_FACE : DRAPE_CCD_EDGE_EDGE;
    return vertex_face != edge_edge;
}

static drape_status choose_kind(const reader *r, const drape_ccd_read_options *options, drape_ccd_kind *out) {
    if (options->kind) {
        for (int k = 0; drape_ccd_kind_name((drape_ccd_kind)k); k++)
            if (strcmp(options->kind, drape_ccd_kind_name((drape_ccd_kind)k)) == 0) {
                *out = (drape_ccd_kind)k;
                return DRAPE_OK;
            }
        return drape_i_fail(r->ctx, DRAPE_ERROR_ARGUMENT,
                            "unknown kind of pair \"%s\"; known: vertex-face, edge-edge", options->kind);
    }
    if (kind_of_path(r->path, out)) return DRAPE_OK;
    return drape_i_fail(
        r->ctx, DRAPE_ERROR_FORMAT,
        "%s: neither the path nor a heading says whether these are vertex-face or edge-edge pairs; give the kind",
        r->path);
}

/* ---- Files of coordinates ---- */

static drape_status make_room(query_set *set, int64_t pairs, bool coordinates) {
    drape_context *ctx = set->ctx;
    drape_ccd_queries *q = &set->queries;
    double *time = drape_i_arena_get(ctx, &set->arena, pairs, sizeof *time);
    int8_t *truth = drape_i_arena_get(ctx, &set->arena, pairs, sizeof *truth);
    int32_t *vertex = drape_i_arena_get(ctx, &set->arena, VERTICES * pairs, sizeof *vertex);
    if (!time || !truth || !vertex) return DRAPE_ERROR_MEMORY;
    for (int64_t i = 0; i < pairs; i++) time[i] = NAN, truth[i] = -1;
    q->pairs.pairs = pairs, q->pairs.vertex = vertex, q->time = time, q->truth = truth;
    if (!coordinates) return DRAPE_OK;
    for (int64_t i = 0; i < VERTICES * pairs; i++) vertex[i] = (int32_t)i;
    q->pairs.vertices = (int32_t)(VERTICES * pairs);
    q->pairs.start = drape_i_arena_get(ctx, &set->arena, 3 * VERTICES * pairs, sizeof(double));
    q->pairs.end = drape_i_arena_get(ctx, &set->arena, 3 * VERTICES * pairs, sizeof(double));
    return q->pairs.start && q->pairs.end ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

/* One vertex of one query at one end of the step. */
static drape_status read_coordinates(reader *r, query_set *set, int64_t row) {
    drape_ccd_queries *q = &set->queries;
    int64_t pair = row / LINES, place = row % LINES;
    double *x =
        (double *)(place < VERTICES ? q->pairs.start : q->pairs.end) + 3 * (VERTICES * pair + place % VERTICES);
    int8_t truth = -1, *known = (int8_t *)q->truth + pair;
    drape_status status = DRAPE_OK;
    if (r->columns != 6 && r->columns != 7)
        return wrong(r, "expected 6 or 7 columns: numerator and denominator of x, y and z, and 1 or 0");
    for (int k = 0; k < 3 && !status; k++) status = take_rational(r, r->column + 2 * k, x + k, &q->rounded);
    if (!status && r->columns == 7) status = take_truth(r, r->column[6], &truth);
    if (!status && place > 0 && truth != *known)
        status = wrong(r, "the lines of this query disagree about whether it touches");
    *known = truth;
    return status;
}

static drape_status read_all_coordinates(reader *r, const drape_ccd_read_options *options, query_set *set) {
    int64_t lines = count_lines(*r);
    drape_status status = choose_kind(r, options, &set->queries.pairs.kind);
    if (status) return status;
    if (lines / LINES > INT32_MAX / VERTICES)
        return drape_i_fail(r->ctx, DRAPE_ERROR_FORMAT, "%s: too many queries", r->path);
    status = make_room(set, lines / LINES, true);
    int64_t row = 0;
    for (; !status && row < lines / LINES * LINES && next_line(r); row++) status = read_coordinates(r, set, row);
    if (!status && lines % LINES) {
        next_line(r);
        status = wrong(r, "a query has 8 lines, but fewer follow here");
    }
    return status;
}

/* ---- Files of vertices ---- */

static drape_status read_mesh(drape_context *ctx, drape_i_arena *arena, const char *path, drape_i_mesh *out) {
    char *data, *text = NULL;
    int64_t size, length = 0, capacity = 0;
    drape_status status = drape_i_file_read(ctx, path, &data, &size);
    if (status) return status;
    bool packed = is_packed(data, size);
    if (packed) status = unpack(ctx, path, data, size, &text, &length, &capacity);
    const char *content = packed ? text : data;
    if (!packed) length = size;
    if (!status)
        status = length >= 4 && memcmp(content, "ply", 3) == 0
                     ? drape_i_ply_parse(ctx, arena, path, content, length, NULL, out)
                     : drape_i_obj_parse(ctx, arena, path, content, length, NULL, out);
    if (text) DRAPE_FREE(ctx, text, capacity);
    DRAPE_FREE(ctx, data, size + 1);
    return status;
}

/* frames/N.ply or frames/N.ply.gz beside the file, for the number that its name begins with and `step` more. */
static drape_status beside(const reader *r, int step, char *out, size_t room) {
    const char *slash = strrchr(r->path, '/'), *name = slash ? slash + 1 : r->path;
    int64_t number = 0;
    int digits = 0;
    for (; drape_i_is_digit(name[digits]) && digits < 9; digits++) number = 10 * number + (name[digits] - '0');
    if (digits > 0)
        for (int packed = 0; packed < 2; packed++) {
            int length = snprintf(out, room, "%.*sframes/%lld.ply%s", (int)(name - r->path), r->path,
                                  (long long)(number + step), packed ? ".gz" : "");
            struct stat info; /* what it is, is said when it is read */
            if (length > 0 && (size_t)length < room && stat(out, &info) == 0) return DRAPE_OK;
        }
    return drape_i_fail(r->ctx, DRAPE_ERROR_FORMAT,
                        "%s: holds vertex numbers, but there are no frames beside it; name the meshes at the start "
                        "and at the end of the step",
                        r->path);
}

static drape_status read_positions(const reader *r, const drape_ccd_read_options *options, query_set *set) {
    const char *path[2] = {options->start, options->end};
    drape_i_mesh mesh[2];
    for (int e = 0; e < 2; e++) {
        char found[4096];
        drape_status status = path[e] ? DRAPE_OK : beside(r, e, found, sizeof found);
        if (!status) status = read_mesh(set->ctx, &set->arena, path[e] ? path[e] : found, &mesh[e]);
        if (status) return status;
    }
    if (mesh[0].vertices != mesh[1].vertices)
        return drape_i_fail(r->ctx, DRAPE_ERROR_FORMAT,
                            "%s: the mesh at the start has %d vertices, the one at the end %d", r->path,
                            mesh[0].vertices, mesh[1].vertices);
    set->queries.pairs.vertices = mesh[0].vertices;
    set->queries.pairs.start = mesh[0].position;
    set->queries.pairs.end = mesh[1].position;
    return DRAPE_OK;
}

static drape_status read_heading(reader *r, const drape_ccd_read_options *options, drape_ccd_kind *kind) {
    static const char *const heading[2][VERTICES] = {{"v", "f0", "f1", "f2"}, {"ea0", "ea1", "eb0", "eb1"}};
    next_line(r);
    for (int k = 0; k < 2; k++) {
        int same = 0;
        while (same < VERTICES && same < r->columns && r->column[same].length == (int64_t)strlen(heading[k][same]) &&
               memcmp(r->column[same].text, heading[k][same], strlen(heading[k][same])) == 0)
            same++;
        if (same < VERTICES) continue;
        *kind = (drape_ccd_kind)k;
        if (options->kind && strcmp(options->kind, drape_ccd_kind_name(*kind)) != 0)
            return wrong(r, "the heading names another kind of pairs than the one requested");
        return DRAPE_OK;
    }
    return wrong(r, "neither a line of numbers nor a heading \"v,f0,f1,f2,truth\" or \"ea0,ea1,eb0,eb1,truth\"");
}

static drape_status read_vertices(reader *r, query_set *set, int64_t pair) {
    drape_ccd_queries *q = &set->queries;
    int32_t *vertex = (int32_t *)q->pairs.vertex + VERTICES * pair;
    drape_status status = DRAPE_OK;
    if (r->columns != VERTICES + 1 && r->columns != VERTICES + 2)
        return wrong(r, "expected 5 or 6 columns: four vertices, 1 or 0, and the time of contact");
    for (int k = 0; k < VERTICES && !status; k++)
        status = take_vertex(r, r->column[k], q->pairs.vertices, vertex + k);
    if (!status) status = take_truth(r, r->column[VERTICES], (int8_t *)q->truth + pair);
    if (!status && r->columns > VERTICES + 1)
        status = take_time(r, r->column[VERTICES + 1], (double *)q->time + pair);
    return status;
}

static drape_status read_all_vertices(reader *r, const drape_ccd_read_options *options, query_set *set) {
    drape_status status = read_heading(r, options, &set->queries.pairs.kind);
    if (!status) status = make_room(set, count_lines(*r), false);
    if (!status) status = read_positions(r, options, set);
    for (int64_t pair = 0; !status && next_line(r); pair++) status = read_vertices(r, set, pair);
    return status;
}

/* ---- Files ---- */

static drape_status parse(reader *r, const drape_ccd_read_options *options, query_set *set) {
    drape_i_c_locale locale;
    reader look = *r;
    if (!next_line(&look)) return drape_i_fail(r->ctx, DRAPE_ERROR_FORMAT, "%s: is empty", r->path);
    char first = look.column[0].length ? look.column[0].text[0] : ',';
    drape_status status = drape_i_c_locale_enter(r->ctx, &locale);
    if (status) return status;
    bool number = drape_i_is_digit(first) || first == '-' || first == '+' || first == ',';
    status = number ? read_all_coordinates(r, options, set) : read_all_vertices(r, options, set);
    drape_i_c_locale_leave(&locale);
    return status;
}

drape_status drape_ccd_parse(drape_context *ctx, const char *path, const void *data, int64_t size,
                             const drape_ccd_read_options *options, drape_ccd_queries **out) {
    static const drape_ccd_read_options defaults = {0};
    query_set *set;
    char *text = NULL;
    int64_t capacity = 0;
    if (out) *out = NULL;
    if (!ctx) return DRAPE_ERROR_ARGUMENT;
    if (!path || (!data && size > 0) || size < 0 || !out)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "drape_ccd_parse: path, data or out is NULL, or size is negative");
    if (!options) options = &defaults;
    drape_status status = drape_i_check_reserved(ctx, "drape_ccd_read_options", options->reserved,
                                                 (int32_t)(sizeof options->reserved / sizeof *options->reserved));
    if (status) return status;
    if (!DRAPE_NEW(ctx, set, 1)) return DRAPE_ERROR_MEMORY;
    set->ctx = ctx;
    if (is_packed(data, size)) {
        status = unpack(ctx, path, data, size, &text, &size, &capacity);
        data = text;
    }
    reader r = {.ctx = ctx, .path = path, .at = data, .end = (const char *)data + size};
    if (!status) status = parse(&r, options, set);
    if (text) DRAPE_FREE(ctx, text, capacity);
    if (status) drape_ccd_queries_destroy(&set->queries);
    else *out = &set->queries;
    return status;
}

drape_status drape_ccd_read(drape_context *ctx, const char *path, const drape_ccd_read_options *options,
                            drape_ccd_queries **out) {
    char *data;
    int64_t size;
    if (out) *out = NULL;
    if (!ctx) return DRAPE_ERROR_ARGUMENT;
    if (!path || !out) return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "drape_ccd_read: path or out is NULL");
    drape_status status = drape_i_file_read(ctx, path, &data, &size);
    if (status) return status;
    status = drape_ccd_parse(ctx, path, data, size, options, out);
    DRAPE_FREE(ctx, data, size + 1);
    return status;
}

void drape_ccd_queries_destroy(drape_ccd_queries *queries) {
    if (!queries) return;
    query_set *set = (query_set *)queries;
    drape_context *ctx = set->ctx;
    drape_i_arena_free(ctx, &set->arena);
    DRAPE_FREE(ctx, set, 1);
}
