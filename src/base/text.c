/* text.c: endings, words and numbers of texts, and the locale in which numbers are read and written. */
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Words and numbers ---- */

enum { MOST_CHARACTERS = 511 }; /* of a number */

static char small_letter(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c; } /* in any locale */

bool drape_i_ends_in(const char *name, const char *ending) {
    size_t length = strlen(name), tail = strlen(ending);
    if (length <= tail) return false;
    for (size_t i = 0; i < tail; i++)
        if (small_letter(name[length - tail + i]) != small_letter(ending[i])) return false;
    return true;
}

drape_i_quoted drape_i_quote(drape_i_word w) {
    drape_i_quoted q = {{0}};
    int64_t n = w.length < DRAPE_I_QUOTED ? w.length : DRAPE_I_QUOTED;
    for (int64_t i = 0; i < n; i++) q.text[i] = w.text[i] >= ' ' && w.text[i] <= '~' ? w.text[i] : '?';
    if (w.length > DRAPE_I_QUOTED) memcpy(q.text + n, "...", 4);
    return q;
}

static char *skip_digits(char *s) {
    while (drape_i_is_digit(*s)) s++;
    return s;
}

/* Whether the text has the shape; a d becomes the e that strtod knows. */
static bool has_shape(char *text, drape_i_number_kind kind) {
    char *s = text + (*text == '+' || *text == '-'), *first = s;
    s = skip_digits(s);
    bool digits = s > first;
    if (kind == DRAPE_I_WHOLE) return digits && !*s;
    if (*s == '.') {
        first = s + 1;
        s = skip_digits(first);
        digits |= s > first;
    }
    if (!digits || !*s) return digits;
    if (kind == DRAPE_I_FORTRAN && (*s == 'd' || *s == 'D')) *s = 'e';
    if (*s != 'e' && *s != 'E') return false;
    s += 1 + (s[1] == '+' || s[1] == '-');
    return drape_i_is_digit(*s) && !*skip_digits(s);
}

const char *drape_i_word_number(drape_i_word w, drape_i_number_kind kind, double *out) {
    char text[MOST_CHARACTERS + 1] = {0};
    if (w.length > MOST_CHARACTERS) return "is a number of more than 511 characters";
    memcpy(text, w.text, (size_t)w.length);
    bool whole_word = (int64_t)strlen(text) == w.length; /* a zero byte in it? */
    if (!whole_word || !has_shape(text, kind))
        return kind == DRAPE_I_WHOLE ? "is not a whole number" : "is not a decimal number";
    *out = strtod(text, NULL);
    return isfinite(*out) ? NULL : "is beyond the range of a double";
}

/* ---- The locale ---- */

drape_status drape_i_c_locale_enter(drape_context *ctx, drape_i_c_locale *out) {
    out->own = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (!out->own) return drape_i_fail(ctx, DRAPE_ERROR_MEMORY, "out of memory for the C locale");
    out->before = uselocale(out->own);
    return DRAPE_OK;
}

void drape_i_c_locale_leave(drape_i_c_locale *locale) {
    uselocale(locale->before);
    freelocale(locale->own);
}
