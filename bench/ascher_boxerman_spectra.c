/* ascher_boxerman_spectra.c: see ascher_boxerman.h. Eigenvalues of P^-1 A on the free unknowns of a small sheet, for
 * symmetric and unsymmetric matrices (section 6). The eigenvalues of the latter are complex, which is why they need
 * BiCGStab. By the QR algorithm with Wilkinson's shift on the complex Hessenberg form. */
#include "ascher_boxerman.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef double complex number;

enum { SIDE = 7, STEPS = 20, MOST_PASSES = 10000, PRECONDS = 3 };
static const char *const precond_name[PRECONDS] = {"none", "diagonal", "block_diagonal"};

/* ---- Eigenvalues of H, n x n, row by row; H is lost ---- */

/* Gauss transformations with pivots below the diagonal leave a Hessenberg matrix with the same eigenvalues. */
static void make_hessenberg(number *H, int32_t n) {
    for (int32_t k = 1; k < n - 1; k++) {
        int32_t pivot = k;
        for (int32_t i = k; i < n; i++)
            if (cabs(H[i * n + k - 1]) > cabs(H[pivot * n + k - 1])) pivot = i;
        if (cabs(H[pivot * n + k - 1]) == 0) continue;
        for (int32_t j = 0; j < n; j++) {
            number swap = H[k * n + j];
            H[k * n + j] = H[pivot * n + j], H[pivot * n + j] = swap;
        }
        for (int32_t i = 0; i < n; i++) {
            number swap = H[i * n + k];
            H[i * n + k] = H[i * n + pivot], H[i * n + pivot] = swap;
        }
        for (int32_t i = k + 1; i < n; i++) {
            number factor = H[i * n + k - 1] / H[k * n + k - 1];
            for (int32_t j = 0; j < n; j++) H[i * n + j] -= factor * H[k * n + j];
            for (int32_t j = 0; j < n; j++) H[j * n + k] += factor * H[j * n + i];
        }
    }
}

/* The eigenvalue of the last 2 x 2 block of [0, m) that is nearer to its last number. */
static number shift_of(const number *H, int32_t n, int32_t m) {
    number a = H[(m - 2) * n + m - 2], b = H[(m - 2) * n + m - 1], c = H[(m - 1) * n + m - 2],
           d = H[(m - 1) * n + m - 1];
    number half = (a + d) / 2, root = csqrt(half * half - (a * d - b * c)), one = half + root, other = half - root;
    return cabs(one - d) < cabs(other - d) ? one : other;
}

/* H - shift = Q R by rotations, H = R Q + shift, on the rows and columns [from, m). */
static void qr_pass(number *H, int32_t n, int32_t from, int32_t m, number shift, number *c, number *s) {
    for (int32_t i = from; i < m; i++) H[i * n + i] -= shift;
    for (int32_t i = from; i < m - 1; i++) {
        number x = H[i * n + i], y = H[(i + 1) * n + i];
        double r = sqrt(creal(x * conj(x)) + creal(y * conj(y)));
        c[i] = r > 0 ? x / r : 1, s[i] = r > 0 ? y / r : 0;
        for (int32_t j = i; j < m; j++) {
            number u = H[i * n + j], v = H[(i + 1) * n + j];
            H[i * n + j] = conj(c[i]) * u + conj(s[i]) * v;
            H[(i + 1) * n + j] = c[i] * v - s[i] * u;
        }
    }
    for (int32_t i = from; i < m - 1; i++)
        for (int32_t j = from; j < (i + 2 < m ? i + 2 : m); j++) {
            number u = H[j * n + i], v = H[j * n + i + 1];
            H[j * n + i] = u * c[i] + v * s[i];
            H[j * n + i + 1] = v * conj(c[i]) - u * conj(s[i]);
        }
    for (int32_t i = from; i < m; i++) H[i * n + i] += shift;
}

/* The first row of the last part of [0, m) that does not fall apart. */
static int32_t part_before(number *H, int32_t n, int32_t m) {
    int32_t k = m - 1;
    for (; k > 0; k--) {
        double around = cabs(H[k * n + k]) + cabs(H[(k - 1) * n + k - 1]);
        if (cabs(H[k * n + k - 1]) <= 1e-14 * around) {
            H[k * n + k - 1] = 0;
            break;
        }
    }
    return k;
}

/* false: it did not end. */
static bool find_eigenvalues(number *H, int32_t n, number *out) {
    number *c = calloc((size_t)n, sizeof *c), *s = calloc((size_t)n, sizeof *s);
    int32_t passes = 0, m = n;
    if (!c || !s) abort();
    make_hessenberg(H, n);
    while (m > 0 && passes < MOST_PASSES) {
        int32_t from = part_before(H, n, m);
        if (from == m - 1) {
            m--;
            out[m] = H[m * n + m];
            continue;
        }
        number shift =
            ++passes % 11 == 10 ? H[(m - 1) * n + m - 1] + cabs(H[(m - 1) * n + m - 2]) : shift_of(H, n, m);
        qr_pass(H, n, from, m, shift, c, s);
    }
    free(c), free(s);
    return m == 0;
}

/* ---- P^-1 A of what is free ---- */

/* The numbers of free unknowns; here vertices are held altogether or not at all. */
static int32_t list_free(const ab_system *s, int32_t *unknown) {
    int32_t count = 0;
    for (int32_t i = 0; i < s->file.A.rows; i++)
        for (int32_t k = 0; k < 3; k++)
            if (s->file.S[9 * i + 4 * k] != 0) unknown[count++] = 3 * i + k;
    return count;
}

static double entry(const drape_bsr3 *A, int32_t row, int32_t column) {
    for (int64_t k = A->rowptr[row / 3]; k < A->rowptr[row / 3 + 1]; k++)
        if (A->col[k] == column / 3) return A->val[9 * k + 3 * (row % 3) + column % 3];
    return 0;
}

/* Eliminates the 3 x 3 block on the diagonal from its three rows. */
static void divide_by_block(number *H, int32_t n, int32_t at) {
    number block[9];
    for (int32_t k = 0; k < 9; k++) block[k] = H[(at + k / 3) * n + at + k % 3];
    for (int32_t k = 0; k < 3; k++)
        for (int32_t i = 0; i < 3; i++) {
            number factor = i == k ? 1 - 1 / block[3 * k + k] : block[3 * i + k] / block[3 * k + k];
            if (i == k) continue;
            for (int32_t j = 0; j < n; j++) H[(at + i) * n + j] -= factor * H[(at + k) * n + j];
            for (int32_t j = 0; j < 3; j++) block[3 * i + j] -= factor * block[3 * k + j];
        }
    for (int32_t k = 0; k < 3; k++)
        for (int32_t j = 0; j < n; j++) H[(at + k) * n + j] /= block[3 * k + k];
}

static void precondition(number *H, int32_t n, int32_t precond) {
    for (int32_t i = 0; precond == 1 && i < n; i++) {
        number d = H[i * n + i];
        for (int32_t j = 0; j < n; j++) H[i * n + j] /= d;
    }
    for (int32_t i = 0; precond == 2 && i < n; i += 3) divide_by_block(H, n, i);
}

/* Without a preconditioner in units of the mean diagonal, so that all fit one picture. */
static void scale(number *H, int32_t n) {
    number trace = 0;
    for (int32_t i = 0; i < n; i++) trace += H[i * n + i];
    for (int32_t i = 0; i < n * n; i++) H[i] *= n / trace;
}

/* max |A - A'| over max |A| of the free unknowns. */
static double asymmetry(const drape_bsr3 *A, int32_t n, const int32_t *unknown) {
    double size = 0, difference = 0;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) {
            double here = entry(A, unknown[i], unknown[j]), there = entry(A, unknown[j], unknown[i]);
            size = fmax(size, fabs(here)), difference = fmax(difference, fabs(here - there));
        }
    return difference / size;
}

static void show(const ab_system *s, const char *name, int32_t precond) {
    int32_t unknown[3 * SIDE * SIDE], n = list_free(s, unknown);
    number *H = calloc((size_t)n * (size_t)n, sizeof *H), value[3 * SIDE * SIDE];
    double least = INFINITY, most = 0, imaginary = 0;
    if (!H) abort();
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) H[i * n + j] = entry(&s->file.A, unknown[i], unknown[j]);
    precondition(H, n, precond);
    if (precond == 0) scale(H, n);
    bool found = find_eigenvalues(H, n, value);
    bench_curve(precond_name[precond], precond, BENCH_DOTS);
    for (int32_t i = 0; i < n && found; i++) {
        bench_point(creal(value[i]), cimag(value[i]));
        least = fmin(least, cabs(value[i])), most = fmax(most, cabs(value[i]));
        imaginary = fmax(imaginary, fabs(cimag(value[i])));
    }
    bench_row();
    bench_text("matrix", "%-32s", name);
    bench_number("asymmetry", "", " %9.2e", asymmetry(&s->file.A, n, unknown));
    bench_text("preconditioner", " %-16s", precond_name[precond]);
    bench_number("least modulus", "", " %12.3e", found ? least : NAN);
    bench_number("largest modulus", "", " %12.3e", found ? most : NAN);
    bench_number("largest over least", "", " %12.3g", found ? most / least : NAN);
    bench_number("largest imaginary part", "", " %12.3e", found ? imaginary : NAN);
    bench_end("\n");
    free(H);
}

static void show_matrix(drape_context *ctx, const ab_variation *v, const char *plot) {
    char title[128];
    drape_sim *sim = ab_begin(ctx, "bicgstab", v);
    for (int32_t i = 0; i < STEPS; i++) bench_check(ctx, drape_sim_step(sim, NULL));
    ab_system s = ab_system_take(ctx, sim);
    snprintf(title, sizeof title, "Eigenvalues of P^-1 A, %d x %d vertices: %s", SIDE, SIDE, v->name);
    bench_plot(plot, title);
    bench_plot_caption("Without a preconditioner in units of the mean of A's diagonal.");
    bench_plot_axis('x', "real part", "", BENCH_LINEAR);
    bench_plot_axis('y', "imaginary part", "", BENCH_LINEAR);
    for (int32_t p = 0; p < PRECONDS; p++) show(&s, v->name, p);
    ab_system_clear(ctx, &s);
    drape_sim_destroy(sim);
}

void ab_spectra(drape_context *ctx) {
    static const ab_variation symmetric = {.name = "symmetric", .resolution = SIDE},
                              not = {.name = "damping 1 s, 1 Hz, full Jacobian",
                                     .resolution = SIDE,
                                     .damping = 1,
                                     .amplitude = 0.3,
                                     .frequency = 1};
    bench_table("Spectra of P^-1 A, 7 x 7 vertices");
    printf("\n%-32s %9s %-17s %12s %12s %12s %12s\n", "matrix", "asymmetry", "preconditioner", "least", "largest",
           "ratio", "imaginary");
    show_matrix(ctx, &symmetric, "spectrum-symmetric");
    show_matrix(ctx, &not, "spectrum-unsymmetric");
}
