/* matrix_market_text.c: lines, words and numbers of Matrix Market files. */
#include "sparse/matrix_market.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char MAGIC[] = "%%MatrixMarket";

drape_status drape_i_market_open(drape_i_market *m, drape_context *ctx, const char *name, const char *data,
                                 int64_t size) {
    if (size < 0 || (size && !data))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: no data, or %lld bytes", name, (long long)size);
    if (!size) data = "";
    *m = (drape_i_market){.ctx = ctx, .name = name, .at = data, .end = data + size, .size = size};
    return DRAPE_OK;
}

drape_status drape_i_market_fail(const drape_i_market *m, const char *format, ...) {
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return drape_i_fail(m->ctx, DRAPE_ERROR_FORMAT, "%s:%lld: %s", m->name, (long long)m->line, what);
}

/* ---- Lines and words ---- */

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static bool next_line(drape_i_market *m) {
    if (m->at == m->end) return false;
    const char *newline = memchr(m->at, '\n', (size_t)(m->end - m->at));
    m->text = m->at;
    m->stop = newline ? newline : m->end;
    m->at = newline ? newline + 1 : m->end;
    m->line++;
    return true;
}

/* An empty word at the end of the line. */
static drape_i_word next_word(drape_i_market *m) {
    while (m->text < m->stop && drape_i_is_space(*m->text)) m->text++;
    const char *first = m->text;
    while (m->text < m->stop && !drape_i_is_space(*m->text)) m->text++;
    return (drape_i_word){first, m->text - first};
}

bool drape_i_market_line(drape_i_market *m) {
    while (next_line(m)) {
        while (m->text < m->stop && drape_i_is_space(*m->text)) m->text++;
        if (m->text < m->stop && *m->text != '%') return true;
    }
    return false;
}

static bool same(drape_i_word w, const char *name) {
    if (w.length != (int64_t)strlen(name)) return false;
    for (int64_t i = 0; i < w.length; i++)
        if (lower(w.text[i]) != lower(name[i])) return false;
    return true;
}

drape_status drape_i_market_end_of_line(drape_i_market *m) {
    drape_i_word w = next_word(m);
    return w.length ? drape_i_market_fail(m, "'%s' is one word too many on its line", drape_i_quote(w).text)
                    : DRAPE_OK;
}

/* ---- The banner ---- */

bool drape_i_is_market(const char *data, int64_t size) {
    int64_t length = (int64_t)strlen(MAGIC);
    return size >= length && same((drape_i_word){data, length}, MAGIC);
}

drape_status drape_i_market_choose(drape_i_market *m, const char *what, const char *const *names,
                                   const char *can_read, int *out) {
    drape_i_word w = next_word(m);
    for (*out = 0; names[*out]; ++*out)
        if (same(w, names[*out])) return DRAPE_OK;
    return drape_i_market_fail(m, "%s '%s' cannot be read, only %s", what, drape_i_quote(w).text, can_read);
}

drape_status drape_i_market_banner(drape_i_market *m) {
    static const char *const objects[] = {"matrix", NULL};
    int only;
    if (!next_line(m)) m->line = 1;
    if (!m->text || !same(next_word(m), MAGIC)) return drape_i_market_fail(m, "does not begin with %s", MAGIC);
    return drape_i_market_choose(m, "object", objects, "matrix", &only);
}

/* ---- Numbers ---- */

drape_status drape_i_market_count(drape_i_market *m, const char *what, int64_t *out) {
    drape_i_word w = next_word(m);
    if (!w.length) return drape_i_market_fail(m, "the line ends where the %s should stand", what);
    *out = 0;
    for (int64_t i = 0; i < w.length; i++) {
        if (!drape_i_is_digit(w.text[i])) return drape_i_market_fail(m, "'%s' is no %s", drape_i_quote(w).text, what);
        *out = *out > (INT64_MAX - 9) / 10 ? INT64_MAX : 10 * *out + (w.text[i] - '0');
    }
    return DRAPE_OK;
}

drape_status drape_i_market_value(drape_i_market *m, bool whole, double *out) {
    drape_i_word w = next_word(m);
    if (!w.length) return drape_i_market_fail(m, "the line ends where the value should stand");
    const char *wrong = drape_i_word_number(w, whole ? DRAPE_I_WHOLE : DRAPE_I_FORTRAN, out);
    return wrong ? drape_i_market_fail(m, "'%s' %s", drape_i_quote(w).text, wrong) : DRAPE_OK;
}
