/* color.c: colors by name and as hexadecimal numbers; from sRGB to light. */
#include "io/appearance.h"
#include "io/srgb.h"

#include <string.h>

typedef struct named_color {
    const char *name;
    uint8_t rgb[3];
} named_color;

/* The basic ones of CSS (W3C, "CSS Color Module Level 4", section 6.1) first; then colors of cloth, those that CSS
 * has too with its values. */
static const named_color colors[] = {
    {"black", {0, 0, 0}},        {"silver", {192, 192, 192}}, {"gray", {128, 128, 128}},
    {"white", {255, 255, 255}},  {"maroon", {128, 0, 0}},     {"red", {255, 0, 0}},
    {"purple", {128, 0, 128}},   {"fuchsia", {255, 0, 255}},  {"green", {0, 128, 0}},
    {"lime", {0, 255, 0}},       {"olive", {128, 128, 0}},    {"yellow", {255, 255, 0}},
    {"navy", {0, 0, 128}},       {"blue", {0, 0, 255}},       {"teal", {0, 128, 128}},
    {"aqua", {0, 255, 255}},     {"orange", {255, 165, 0}},   {"gold", {255, 215, 0}},
    {"pink", {255, 192, 203}},   {"coral", {255, 127, 80}},   {"salmon", {250, 128, 114}},
    {"crimson", {220, 20, 60}},  {"brown", {165, 42, 42}},    {"chocolate", {210, 105, 30}},
    {"tan", {210, 180, 140}},    {"khaki", {240, 230, 140}},  {"beige", {245, 245, 220}},
    {"ivory", {255, 255, 240}},  {"linen", {250, 240, 230}},  {"lavender", {230, 230, 250}},
    {"violet", {238, 130, 238}}, {"indigo", {75, 0, 130}},    {"turquoise", {64, 224, 208}},
    {"burgundy", {118, 26, 44}}, {"charcoal", {54, 57, 63}},  {"cream", {250, 240, 205}},
    {"denim", {49, 84, 128}},    {"mustard", {212, 160, 38}}, {"rust", {176, 72, 38}},
    {"sage", {140, 158, 122}},   {"sand", {216, 196, 156}},
};

enum { COLORS = sizeof colors / sizeof *colors };

const char *drape_color_name(int32_t i) { return i >= 0 && i < COLORS ? colors[i].name : NULL; }

/* -1: no hexadecimal digit. */
static int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The digits after the "#": six, or three, each of which is doubled. */
static bool parse_digits(const char *text, uint8_t color[3]) {
    size_t length = strlen(text), per = length / 3;
    if (length != 3 && length != 6) return false;
    for (size_t i = 0; i < length; i++)
        if (digit(text[i]) < 0) return false;
    for (size_t k = 0; k < 3; k++) color[k] = (uint8_t)(16 * digit(text[per * k]) + digit(text[per * k + per - 1]));
    return true;
}

bool drape_color_find(const char *text, uint8_t color[3]) {
    if (!text || !color) return false;
    if (text[0] == '#') return parse_digits(text + 1, color);
    for (int32_t i = 0; i < COLORS; i++)
        if (strcmp(colors[i].name, text) == 0) {
            memcpy(color, colors[i].rgb, sizeof colors[i].rgb);
            return true;
        }
    return false;
}

double drape_i_linear(uint8_t srgb) { return drape_i_srgb_to_linear((double)srgb / 255); }
