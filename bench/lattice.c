/* lattice.c: see bench.h. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *copy_vector(const double *from, int64_t length) {
    double *to = bench_vector(length);
    memcpy(to, from, (size_t)length * sizeof *to);
    return to;
}

bench_lattice bench_lattice_make(const drape_piece *piece, const double *x, const double *v, int32_t n) {
    int64_t length = 3 * (int64_t)piece->vertices;
    bench_lattice l = {n, malloc((size_t)n * (size_t)n * sizeof *l.number), copy_vector(x, length),
                       copy_vector(v, length)};
    if (!l.number) abort();
    for (int64_t k = 0; k < (int64_t)n * n; k++) l.number[k] = -1;
    for (int32_t k = 0; k < piece->vertices; k++) {
        long i = lround((piece->uv[2 * (int64_t)k] + 0.5) * (n - 1));
        long j = lround((piece->uv[2 * (int64_t)k + 1] + 0.5) * (n - 1));
        l.number[i + n * j] = k;
    }
    return l;
}

void bench_lattice_free(bench_lattice *l) { free(l->number), free(l->x), free(l->v); }

static bool has_cell(const bench_lattice *l, int32_t i, int32_t j) {
    if (i < 0 || j < 0 || i > l->n - 2 || j > l->n - 2) return false;
    const int32_t *at = l->number + i + (int64_t)l->n * j;
    return at[0] >= 0 && at[1] >= 0 && at[l->n] >= 0 && at[l->n + 1] >= 0;
}

/* The cell that (s, t), in cells, lies in; on an edge of the sheet the one on its inner side. */
static void find_cell(const bench_lattice *l, double s, double t, int32_t *i, int32_t *j) {
    int32_t a = (int32_t)floor(s), b = (int32_t)floor(t);
    for (int32_t k = 0; k < 9; k++) {
        static const int32_t step[3] = {0, -1, 1};
        *i = a + step[k % 3], *j = b + step[k / 3];
        if (has_cell(l, *i, *j)) return;
    }
    abort();
}

void bench_lattice_interpolate(const bench_lattice *l, const double uv[2], double x[3], double v[3]) {
    double s = (uv[0] + 0.5) * (l->n - 1), t = (uv[1] + 0.5) * (l->n - 1);
    int32_t i, j;
    find_cell(l, s, t, &i, &j);
    s -= i, t -= j;
    const double weight[4] = {(1 - s) * (1 - t), s * (1 - t), (1 - s) * t, s * t};
    for (int32_t k = 0; k < 3; k++) x[k] = v[k] = 0;
    for (int32_t c = 0; c < 4; c++) {
        int64_t at = 3 * (int64_t)l->number[i + c % 2 + (int64_t)l->n * (j + c / 2)];
        for (int32_t k = 0; k < 3; k++) {
            x[k] += weight[c] * l->x[at + k];
            v[k] += weight[c] * l->v[at + k];
        }
    }
}
