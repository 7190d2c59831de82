/* ply_header.c: lines of words up to end_header. */
#include "io/ply_header.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST_WORDS = 5 }; /* of a line that counts: property list TYPE TYPE NAME */

static const double MOST_COUNT = 9007199254740992; /* 2^53 */

/* A line of the header, cut into words. */
typedef struct line {
    int32_t words; /* may be more than there is room for */
    drape_i_word word[MOST_WORDS];
} line;

typedef struct reader {
    drape_context *ctx;
    const char *name, *at, *end;
    drape_i_ply_header *out;
    bool has_format;
} reader;

DRAPE_PRINTF(2, 3)
static drape_status fail(const reader *r, const char *format, ...) {
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return drape_i_fail(r->ctx, DRAPE_ERROR_FORMAT, "%s:%lld: %s", r->name, (long long)r->out->lines, what);
}

bool drape_i_word_is(drape_i_word w, const char *text) {
    return w.length == (int64_t)strlen(text) && memcmp(w.text, text, (size_t)w.length) == 0;
}

int32_t drape_i_ply_type_size(drape_i_ply_type type) {
    static const int32_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 8};
    return sizes[type];
}

/* False at the end of the file: a line of the header ends in a newline. */
static bool next_line(reader *r, line *out) {
    const char *end = r->at < r->end ? memchr(r->at, '\n', (size_t)(r->end - r->at)) : NULL;
    out->words = 0;
    r->out->lines++;
    if (!end) return false;
    while (r->at < end) {
        const char *first = r->at;
        while (r->at < end && !drape_i_is_space(*r->at)) r->at++;
        if (r->at > first) {
            if (out->words < MOST_WORDS) out->word[out->words] = (drape_i_word){first, r->at - first};
            out->words++;
        }
        if (r->at < end) r->at++;
    }
    r->at = end + 1;
    return true;
}

static drape_status read_format(reader *r, const line *l) {
    static const char *const formats[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    if (l->words != 3 || !drape_i_word_is(l->word[2], "1.0"))
        return fail(r, "expected a format and 1.0, such as 'format ascii 1.0'");
    for (int32_t i = 0; i < 3; i++)
        if (drape_i_word_is(l->word[1], formats[i])) {
            r->out->format = (drape_i_ply_format)i;
            r->has_format = true;
            return DRAPE_OK;
        }
    return fail(r, "unknown format '%s'; known: ascii, binary_little_endian, binary_big_endian",
                drape_i_quote(l->word[1]).text);
}

static drape_status read_element(reader *r, const line *l) {
    double count;
    if (l->words != 3) return fail(r, "expected a name and a number, such as 'element vertex 8'");
    const char *wrong = drape_i_word_number(l->word[2], DRAPE_I_WHOLE, &count);
    if (wrong) return fail(r, "'%s' %s", drape_i_quote(l->word[2]).text, wrong);
    if (!(count >= 0 && count < MOST_COUNT))
        return fail(r, "'%s' elements are not possible", drape_i_quote(l->word[2]).text);
    if (r->out->elements == DRAPE_I_PLY_MOST) return fail(r, "more than %d elements", DRAPE_I_PLY_MOST);
    drape_i_ply_element *e = &r->out->element[r->out->elements++];
    e->name = l->word[1];
    e->count = (int64_t)count;
    return DRAPE_OK;
}

static drape_status read_type(const reader *r, drape_i_word w, drape_i_ply_type *out) {
    static const char *const names[][2] = {{"char", "int8"},     {"uchar", "uint8"},   {"short", "int16"},
                                           {"ushort", "uint16"}, {"int", "int32"},     {"uint", "uint32"},
                                           {"float", "float32"}, {"double", "float64"}};
    for (int32_t i = 0; i < 8; i++)
        if (drape_i_word_is(w, names[i][0]) || drape_i_word_is(w, names[i][1])) {
            *out = (drape_i_ply_type)i;
            return DRAPE_OK;
        }
    return fail(r, "unknown type '%s'", drape_i_quote(w).text);
}

static drape_status read_property(reader *r, const line *l) {
    bool list = l->words > 1 && drape_i_word_is(l->word[1], "list");
    if (l->words != (list ? 5 : 3))
        return fail(
            r, "expected types and a name, such as 'property float x' or 'property list uchar int vertex_indices'");
    if (!r->out->elements) return fail(r, "a property of no element");
    drape_i_ply_element *e = &r->out->element[r->out->elements - 1];
    if (e->properties == DRAPE_I_PLY_MOST) return fail(r, "more than %d properties", DRAPE_I_PLY_MOST);
    drape_i_ply_property *p = &e->property[e->properties++];
    p->list = list;
    p->name = l->word[l->words - 1];
    drape_status status = list ? read_type(r, l->word[2], &p->count_type) : DRAPE_OK;
    if (!status) status = read_type(r, l->word[l->words - 2], &p->type);
    if (!status && list && p->count_type >= DRAPE_I_PLY_FLOAT32)
        return fail(r, "a list is counted in whole numbers, not in '%s'", drape_i_quote(l->word[2]).text);
    return status;
}

static drape_status read_line(reader *r, const line *l) {
    if (!l->words || drape_i_word_is(l->word[0], "comment") || drape_i_word_is(l->word[0], "obj_info"))
        return DRAPE_OK;
    if (drape_i_word_is(l->word[0], "format")) return read_format(r, l);
    if (drape_i_word_is(l->word[0], "element")) return read_element(r, l);
    if (drape_i_word_is(l->word[0], "property")) return read_property(r, l);
    return fail(r, "'%s' does not belong in a header", drape_i_quote(l->word[0]).text);
}

drape_status drape_i_ply_header_read(drape_context *ctx, const char *name, const char *data, int64_t size,
                                     drape_i_ply_header *out) {
    reader r = {.ctx = ctx, .name = name, .at = data, .end = data + size, .out = out};
    line l;
    drape_status status = DRAPE_OK;
    *out = (drape_i_ply_header){0};
    if (!next_line(&r, &l) || l.words != 1 || !drape_i_word_is(l.word[0], "ply"))
        return fail(&r, "not a PLY file: its first line must be 'ply'");
    while (!status) {
        if (!next_line(&r, &l)) return fail(&r, "the file ends in its header");
        if (l.words == 1 && drape_i_word_is(l.word[0], "end_header")) break;
        status = read_line(&r, &l);
    }
    if (!status && !r.has_format) status = fail(&r, "a header without a format");
    out->size = r.at - data;
    return status;
}
