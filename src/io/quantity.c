/* quantity.c: a number, then a product of units with powers: "5 kN/m", "1e-5 N m", "9.81 m/s^2", "150 g/m2".
 *
 * A unit is a prefix (or none) and a symbol, and may have a power. After a slash, powers count negatively until the
 * end; a space, a dot or a star multiplies. The product must have the required dimension. */
#include "io/quantity.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M, KG, S, BASES };

static const struct unit {
    const char *symbol;
    double scale; /* in SI */
    int8_t power[BASES];
    bool prefixed; /* k, m, ... may be before it */
} units[] = {
    {"m", 1, {1, 0, 0}, true},        {"g", 1e-3, {0, 1, 0}, true},     {"s", 1, {0, 0, 1}, true},
    {"N", 1, {1, 1, -2}, true},       {"Hz", 1, {0, 0, -1}, true},      {"Pa", 1, {-1, 1, -2}, true},
    {"J", 1, {2, 1, -2}, true},       {"min", 60, {0, 0, 1}, false},    {"h", 3600, {0, 0, 1}, false},
    {"in", 0.0254, {1, 0, 0}, false}, {"ft", 0.3048, {1, 0, 0}, false}, {"t", 1e3, {0, 1, 0}, false},
};

static const struct prefix {
    char letter;
    double scale;
} prefixes[] = {{'k', 1e3}, {'M', 1e6}, {'h', 1e2}, {'d', 1e-1}, {'c', 1e-2}, {'m', 1e-3}, {'u', 1e-6}, {'n', 1e-9}};

static const struct dimension {
    const char *unit;
    int8_t power[BASES];
} dimensions[] = {
    [DRAPE_I_PLAIN] = {"", {0, 0, 0}},
    [DRAPE_I_SHARE] = {"", {0, 0, 0}},
    [DRAPE_I_LENGTH] = {"m", {1, 0, 0}},
    [DRAPE_I_TIME] = {"s", {0, 0, 1}},
    [DRAPE_I_MASS] = {"kg", {0, 1, 0}},
    [DRAPE_I_SPEED] = {"m/s", {1, 0, -1}},
    [DRAPE_I_ACCELERATION] = {"m/s^2", {1, 0, -2}},
    [DRAPE_I_FREQUENCY] = {"Hz", {0, 0, -1}},
    [DRAPE_I_FORCE] = {"N", {1, 1, -2}},
    [DRAPE_I_AREA_DENSITY] = {"kg/m^2", {-2, 1, 0}},
    [DRAPE_I_DENSITY] = {"kg/m^3", {-3, 1, 0}},
    [DRAPE_I_STIFFNESS] = {"N/m", {0, 1, -2}},
    [DRAPE_I_RIGIDITY] = {"N m", {2, 1, -2}},
    [DRAPE_I_BEAM] = {"N m^2", {3, 1, -2}},
    [DRAPE_I_AIR_DRAG] = {"N s/m^3", {-2, 1, -1}},
    [DRAPE_I_ANGLE] = {"deg", {0, 0, 0}},
};

const char *drape_i_dimension_unit(drape_i_dimension d) { return dimensions[d].unit; }

static const struct unit *find_unit(const char *symbol, size_t length, double *scale) {
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const struct unit *u = &units[i];
        size_t own = strlen(u->symbol);
        *scale = u->scale;
        if (length == own && memcmp(symbol, u->symbol, own) == 0) return u;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const struct unit *u = &units[i];
        size_t own = strlen(u->symbol);
        if (!u->prefixed || length != own + 1 || memcmp(symbol + 1, u->symbol, own) != 0) continue;
        for (size_t p = 0; p < sizeof prefixes / sizeof *prefixes; p++)
            if (symbol[0] == prefixes[p].letter) {
                *scale = u->scale * prefixes[p].scale;
                return u;
            }
    }
    return NULL;
}

enum { MOST_POWER = 9, MOST_QUOTED = 40 };

/* The power after a symbol: "^2", "2", "-1", a raised 2 or 3 in UTF-8, or none. Moves *at past it. */
static bool read_power(const char **at, int *power) {
    bool caret = **at == '^';
    *power = strncmp(*at, "\xc2\xb2", 2) == 0 ? 2 : strncmp(*at, "\xc2\xb3", 2) == 0 ? 3 : 1;
    *at += *power > 1 ? 2 : caret;
    if (*power > 1 || !isdigit((unsigned char)(*at)[**at == '-'])) return !caret;
    char *end;
    long value = strtol(*at, &end, 10);
    *at = end;
    *power = (int)value;
    return value != 0 && value >= -MOST_POWER && value <= MOST_POWER;
}

/* One symbol with its power: "m^2", "m2", "s-1". Moves *at past it. */
static bool read_factor(const char **at, int sign, double *scale, int power[BASES], char *why, size_t why_size) {
    const char *symbol = *at;
    while (isalpha((unsigned char)**at)) (*at)++;
    size_t length = (size_t)(*at - symbol);
    double unit_scale;
    const struct unit *u = length ? find_unit(symbol, length, &unit_scale) : NULL;
    if (!*symbol) {
        snprintf(why, why_size, "a unit is missing at the end");
        return false;
    }
    if (!u) {
        snprintf(why, why_size, "unknown unit \"%.*s\"", length && length < MOST_QUOTED ? (int)length : MOST_QUOTED,
                 symbol);
        return false;
    }
    int exponent;
    if (!read_power(at, &exponent)) {
        snprintf(why, why_size, "the power after \"%.*s\" is not supported", (int)length, symbol);
        return false;
    }
    for (int i = 0; i < BASES; i++) power[i] += sign * exponent * u->power[i];
    for (int i = 0; i < abs(exponent); i++) *scale = sign * exponent > 0 ? *scale * unit_scale : *scale / unit_scale;
    return true;
}

/* All factors; where that fails, `why` says what is wrong, but not what was expected. */
static bool read_unit(const char *text, double *scale, int power[BASES], char *why, size_t why_size) {
    int sign = 1;
    bool open = false; /* after a star, a dot or a slash: a unit must follow */
    for (const char *at = text; *at || open;) {
        if (*at == ' ') {
            at++;
        } else if (!open && *at && strchr("*./", *at)) {
            if (*at++ == '/') sign = -1;
            open = true;
        } else if (read_factor(&at, sign, scale, power, why, why_size)) {
            open = false;
        } else {
            return false;
        }
    }
    return true;
}

static bool read_angle(const char *unit, double *value, char *why, size_t why_size) {
    if (strcmp(unit, "deg") == 0) return true;
    if (strcmp(unit, "rad") == 0) {
        *value *= 57.295779513082320877;
        return true;
    }
    snprintf(why, why_size, "\"%.*s\" is not a unit of angle; use deg or rad", MOST_QUOTED, unit);
    return false;
}

static bool is_hexadecimal(const char *text, const char *end) {
    return memchr(text, 'x', (size_t)(end - text)) || memchr(text, 'X', (size_t)(end - text));
}

bool drape_i_quantity_parse(const char *text, drape_i_dimension dimension, double *out, char *why, size_t why_size) {
    char *end;
    double value = strtod(text, &end);
    bool looks_plain = isdigit((unsigned char)*text) || *text == '-' || *text == '+' || *text == '.';
    if (end == text || !looks_plain || isnan(value) || is_hexadecimal(text, end)) {
        const char *unit = dimensions[dimension].unit;
        snprintf(why, why_size, "\"%.60s\" is not a number; write it as 1.5%s%s", text, *unit ? " or 1.5 " : "",
                 unit);
        return false;
    }
    if (*end == ',') {
        snprintf(why, why_size, "\"%.*s\": write decimals with a point, not a comma", MOST_QUOTED, text);
        return false;
    }
    while (*end == ' ') end++;
    if (*end && dimension == DRAPE_I_ANGLE) {
        if (!read_angle(end, &value, why, why_size)) return false;
    } else if (dimension == DRAPE_I_SHARE && strcmp(end, "%") == 0) {
        value /= 100;
    } else if (*end) {
        double scale = 1;
        int power[BASES] = {0};
        const struct dimension *d = &dimensions[dimension];
        const char *expected = *d->unit ? d->unit : "a plain number";
        if (!read_unit(end, &scale, power, why, why_size)) {
            size_t length = strlen(why);
            snprintf(why + length, why_size - length, "; expected %s", expected);
            return false;
        }
        for (int i = 0; i < BASES; i++)
            if (power[i] != d->power[i]) {
                snprintf(why, why_size, "the unit \"%.40s\" does not fit; expected %s", end, expected);
                return false;
            }
        value *= scale;
    }
    if (!isfinite(value)) {
        snprintf(why, why_size, "\"%.*s\" is too large", MOST_QUOTED, text);
        return false;
    }
    *out = value;
    return true;
}
