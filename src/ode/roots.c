/* roots.c: all zeros at once by Weierstrass' iteration (Durand and Kerner), z_i -= p(z_i) / prod_{j != i} (z_i -
 * z_j), from points that no symmetry holds. Zeros that fall together come out to half the digits only, as they must.
 */
#include "ode/roots.h"

#include <float.h>
#include <math.h>

enum { MOST_ROOTS = 6, MOST_ITERATIONS = 500 };

typedef struct number {
    double re, im;
} number;

static number times(number a, number b) { return (number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
static number minus(number a, number b) { return (number){a.re - b.re, a.im - b.im}; }
static double modulus(number a) { return sqrt(a.re * a.re + a.im * a.im); }

static number divided(number a, number b) {
    double d = b.re * b.re + b.im * b.im;
    number conjugate = {b.re, -b.im}, product = times(a, conjugate);
    return (number){product.re / d, product.im / d};
}

static number evaluate(int32_t degree, const double (*c)[2], number z) {
    number p = {1, 0};
    for (int32_t j = degree - 1; j >= 0; j--) {
        p = times(p, z);
        p.re += c[j][0];
        p.im += c[j][1];
    }
    return p;
}

/* One pass; the largest change. */
static double improve(int32_t degree, const double (*c)[2], number *z) {
    double largest = 0;
    for (int32_t i = 0; i < degree; i++) {
        number others = {1, 0};
        for (int32_t j = 0; j < degree; j++)
            if (j != i) others = times(others, minus(z[i], z[j]));
        if (others.re == 0 && others.im == 0) continue; /* already together */
        number change = divided(evaluate(degree, c, z[i]), others);
        z[i] = minus(z[i], change);
        if (modulus(change) > largest) largest = modulus(change);
    }
    return largest;
}

double drape_i_ode_largest_root(int32_t degree, const double (*c)[2]) {
    number z[MOST_ROOTS], turn = {0.4, 0.9};
    double scale = 1, largest = 0; /* all zeros lie within 1 + the largest coefficient */
    for (int32_t j = 0; j < degree; j++) {
        double size = 1 + modulus((number){c[j][0], c[j][1]});
        if (size > scale) scale = size;
    }
    z[0] = (number){0.5 * scale, 0.1 * scale};
    for (int32_t i = 1; i < degree; i++) z[i] = times(z[i - 1], turn);
    for (int32_t k = 0; k < MOST_ITERATIONS; k++)
        if (improve(degree, c, z) <= DBL_EPSILON) break;
    for (int32_t i = 0; i < degree; i++)
        if (modulus(z[i]) > largest) largest = modulus(z[i]);
    return largest;
}
