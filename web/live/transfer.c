/* transfer.c: takes the state of one simulation over to another, which may have another mesh. Each vertex of the new
 * mesh is looked for in the old one at rest. It gets the mean of that triangle's corners by its barycentric
 * coordinates. */
#include "live.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* Barycentric coordinates of p, projected onto the triangle; returns the least of them, less its distance from the
 * plane over the triangle's size: 0 or more means inside. */
static double locate(const double *rest, const int32_t c[3], const double p[3], double w[3]) {
    double a[3], b[3], d[3], n2, off = 0;
    for (int k = 0; k < 3; k++) {
        a[k] = rest[3 * c[1] + k] - rest[3 * c[0] + k];
        b[k] = rest[3 * c[2] + k] - rest[3 * c[0] + k];
        d[k] = p[k] - rest[3 * c[0] + k];
    }
    double aa = dot(a, a), ab = dot(a, b), bb = dot(b, b), da = dot(d, a), db = dot(d, b);
    n2 = aa * bb - ab * ab;
    if (!(n2 > 0)) return -INFINITY;
    w[1] = (bb * da - ab * db) / n2;
    w[2] = (aa * db - ab * da) / n2;
    w[0] = 1 - w[1] - w[2];
    for (int k = 0; k < 3; k++) {
        double e = d[k] - w[1] * a[k] - w[2] * b[k];
        off += e * e;
    }
    return fmin(fmin(w[0], w[1]), w[2]) - sqrt(off / aa);
}

/* The triangle of a piece that p is in, or nearest to being in; the search begins at `from`, where the last one was.
 */
static int32_t find(const drape_cloth *cloth, const drape_piece_range *piece, int32_t from, const double p[3],
                    double w[3]) {
    double most = -INFINITY;
    int32_t best = piece->first_triangle;
    for (int32_t k = 0; k < piece->triangles && most < -1e-9; k++) {
        int32_t t =
            piece->first_triangle + (from + (k % 2 ? piece->triangles - (k + 1) / 2 : k / 2)) % piece->triangles;
        double found[3],
            inside = locate(drape_cloth_rest(cloth), drape_cloth_triangle(cloth) + 3 * (int64_t)t, p, found);
        if (inside <= most) continue;
        most = inside;
        best = t;
        memcpy(w, found, sizeof found);
    }
    return best;
}

static void resample(const drape_sim *from, const drape_sim *to, double *x, double *v) {
    const drape_cloth *old = drape_sim_cloth(from), *new = drape_sim_cloth(to);
    for (int32_t i = 0; i < drape_cloth_pieces(new); i++) {
        const drape_piece_range *a = drape_cloth_piece(old, i), *b = drape_cloth_piece(new, i);
        int32_t t = a->first_triangle;
        for (int32_t j = b->first_vertex; j < b->first_vertex + b->vertices; j++) {
            double w[3] = {1, 0, 0};
            t = find(old, a, t - a->first_triangle, drape_cloth_rest(new) + 3 * (int64_t)j, w);
            for (int k = 0; k < 9; k++) {
                int64_t corner = 3 * (int64_t)drape_cloth_triangle(old)[3 * (int64_t)t + k / 3] + k % 3;
                x[3 * (int64_t)j + k % 3] += w[k / 3] * drape_sim_positions(from)[corner];
                v[3 * (int64_t)j + k % 3] += w[k / 3] * drape_sim_velocities(from)[corner];
            }
        }
    }
}

static bool same_mesh(const drape_cloth *a, const drape_cloth *b) {
    int32_t n = drape_cloth_vertices(a), t = drape_cloth_triangles(a);
    return n == drape_cloth_vertices(b) && t == drape_cloth_triangles(b) &&
           memcmp(drape_cloth_triangle(a), drape_cloth_triangle(b), 12 * (size_t)t) == 0;
}

drape_status live_transfer(drape_sim *from, drape_sim *to) {
    const drape_cloth *old = drape_sim_cloth(from), *new = drape_sim_cloth(to);
    if (same_mesh(old, new)) return drape_sim_set_state(to, drape_sim_positions(from), drape_sim_velocities(from));
    if (drape_cloth_pieces(old) != drape_cloth_pieces(new)) return DRAPE_ERROR_ARGUMENT;
    size_t n = 3 * (size_t)drape_cloth_vertices(new);
    double *x = calloc(2 * n, sizeof *x);
    if (!x) return DRAPE_ERROR_MEMORY;
    resample(from, to, x, x + n);
    drape_status status = drape_sim_set_state(to, x, x + n);
    free(x);
    return status;
}
