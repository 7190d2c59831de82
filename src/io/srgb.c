/* srgb.c: see srgb.h. */
#include "io/srgb.h"

/* Newton's method from above on x^5 = a, a in 0..1; it falls by a fifth at least until it is near. */
static double fifth_root(double a) {
    enum { STEPS = 60 };
    double x = 1;
    if (!(a > 0)) return 0;
    for (int k = 0; k < STEPS; k++) {
        double square = x * x;
        x = (4 * x + a / (square * square)) / 5;
    }
    return x;
}

/* ((c + 0.055) / 1.055)^2.4, which is b^2 (b^2)^(1/5) */
double drape_i_srgb_to_linear(double c) {
    if (c <= 0.04045) return c / 12.92;
    double b = (c + 0.055) / 1.055;
    return b * b * fifth_root(b * b);
}

void drape_i_srgb_bytes_fill(drape_i_srgb_bytes *out) {
    out->least[0] = 0;
    for (int k = 1; k < 256; k++) out->least[k] = drape_i_srgb_to_linear((k - 0.5) / 255);
}

uint8_t drape_i_srgb_byte(const drape_i_srgb_bytes *table, double linear) {
    int byte = 0;
    for (int half = 128; half > 0; half /= 2)
        if (linear >= table->least[byte + half]) byte += half;
    return (uint8_t)byte;
}

vec3 drape_i_linear_color(const double srgb[3]) {
    return (vec3){drape_i_srgb_to_linear(srgb[0]), drape_i_srgb_to_linear(srgb[1]), drape_i_srgb_to_linear(srgb[2])};
}
