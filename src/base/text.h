/* text.h: words and numbers of text files, for readers that trust nothing, and the locale of both readers and
 * writers. */
#ifndef DRAPE_BASE_TEXT_H
#define DRAPE_BASE_TEXT_H

#include "base/context.h"

#include <locale.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- Words and numbers ---- */

/* Part of a text that does not end with a zero. */
typedef struct drape_i_word {
    const char *text;
    int64_t length;
} drape_i_word;

DRAPE_INLINE bool drape_i_is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }
DRAPE_INLINE bool drape_i_is_digit(char c) { return c >= '0' && c <= '9'; }

/* Whether a name has this ending, in small or large letters, and something before it. */
bool drape_i_ends_in(const char *name, const char *ending);

enum { DRAPE_I_QUOTED = 32 }; /* characters of a file in a message */

/* A word as it can appear in a message of one line: printf("%s", drape_i_quote(w).text) */
typedef struct drape_i_quoted {
    char text[DRAPE_I_QUOTED + 4];
} drape_i_quoted;

drape_i_quoted drape_i_quote(drape_i_word w);

typedef enum drape_i_number_kind {
    DRAPE_I_DECIMAL, /* [+-] digits [. digits] [e|E [+-] digits], at least one digit before the exponent */
    DRAPE_I_FORTRAN, /* the same, and d or D for the exponent */
    DRAPE_I_WHOLE    /* [+-] digits */
} drape_i_number_kind;

/* Reads the word as a finite number, in the present locale (see below): NULL, or what is wrong with it, to be put
 * after the word: "is no decimal number". */
const char *drape_i_word_number(drape_i_word w, drape_i_number_kind kind, double *out);

/* ---- The locale ---- */

/* printf and strtod follow the host program's decimal point; files must not. Between enter and leave the calling
 * thread reads and writes numbers as in "C". */
typedef struct drape_i_c_locale {
    locale_t own, before;
} drape_i_c_locale;

drape_status drape_i_c_locale_enter(drape_context *ctx, drape_i_c_locale *out);
void drape_i_c_locale_leave(drape_i_c_locale *locale);

#endif
