/* html_text.c: escaping for HTML and for JSON inside HTML. */
#include "io/html_text.h"

#include <string.h>

static bool is_tail(unsigned char c) { return (c & 0xc0) == 0x80; }

/* Bytes of the well-formed UTF-8 letter at s, 0 where there is none (Unicode 15, table 3-7). */
static size_t letter_bytes(const unsigned char *s) {
    if (s[0] < 0x80) return 1;
    if (s[0] < 0xc2 || s[0] > 0xf4 || !is_tail(s[1])) return 0;
    if (s[0] < 0xe0) return 2;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || !is_tail(s[2])) return 0;
    if (s[0] < 0xf0) return 3;
    if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f) || !is_tail(s[3])) return 0;
    return 4;
}

static bool is_control(unsigned char c) { return c < 0x20 || c == 0x7f; }

static void put(drape_i_file *file, const char *words, bool (*special)(unsigned char c), const char *format) {
    const unsigned char *s = (const unsigned char *)words;
    for (size_t bytes; *s; s += bytes ? bytes : 1) {
        bytes = letter_bytes(s);
        if (bytes == 0) drape_i_file_write(file, "\xef\xbf\xbd", 3);
        else if (bytes == 1 && special(*s)) fprintf(file->stream, format, (unsigned)*s);
        else drape_i_file_write(file, s, bytes);
    }
}

static bool special_in_html(unsigned char c) { return strchr("<>&\"'", c) != NULL; }
static bool special_in_json(unsigned char c) { return is_control(c) || strchr("<>&\"\\", c) != NULL; }

void drape_i_html_text(drape_i_file *file, const char *words) { put(file, words, special_in_html, "&#%u;"); }

void drape_i_html_json(drape_i_file *file, const char *words) {
    drape_i_file_write(file, "\"", 1);
    put(file, words, special_in_json, "\\u%04x");
    drape_i_file_write(file, "\"", 1);
}
