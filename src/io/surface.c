/* surface.c: see surface.h. */
#include "io/surface.h"

#include <math.h>
#include <string.h>

/* Twice the area times the normal, added to the three corners. */
static void add_triangle(const int32_t *corner, const double *x, double *normal) {
    const double *a = x + 3 * (int64_t)corner[0], *b = x + 3 * (int64_t)corner[1], *c = x + 3 * (int64_t)corner[2];
    double n[3];
    for (int32_t k = 0; k < 3; k++) {
        int32_t u = (k + 1) % 3, v = (k + 2) % 3;
        n[k] = (b[u] - a[u]) * (c[v] - a[v]) - (b[v] - a[v]) * (c[u] - a[u]);
    }
    for (int32_t i = 0; i < 3; i++)
        for (int32_t k = 0; k < 3; k++) normal[3 * (int64_t)corner[i] + k] += n[k];
}

static void normalise(double n[3]) {
    double largest = fmax(fabs(n[0]), fmax(fabs(n[1]), fabs(n[2]))), square = 0;
    for (int32_t k = 0; k < 3; k++) square += (n[k] / largest) * (n[k] / largest); /* no overflow, no underflow */
    bool good = largest > 0 && isfinite(square);
    for (int32_t k = 0; k < 3; k++) n[k] = good ? n[k] / largest / sqrt(square) : k == 2;
}

void drape_i_piece_normals(const drape_cloth *cloth, const drape_piece_range *piece, const double *x,
                           double *normal) {
    const int32_t *triangle = drape_cloth_triangle(cloth) + 3 * (int64_t)piece->first_triangle;
    double *own = normal + 3 * (int64_t)piece->first_vertex;
    memset(own, 0, 3 * (size_t)piece->vertices * sizeof *own);
    for (int64_t t = 0; t < piece->triangles; t++) add_triangle(triangle + 3 * t, x, normal);
    for (int64_t i = 0; i < piece->vertices; i++) normalise(own + 3 * i);
}

void drape_i_normals(const drape_cloth *cloth, const double *x, double *normal) {
    for (int32_t i = 0; i < drape_cloth_pieces(cloth); i++)
        drape_i_piece_normals(cloth, drape_cloth_piece(cloth, i), x, normal);
}

drape_i_texture drape_i_texture_of(const drape_piece *pieces, int32_t index) {
    drape_i_texture t = {0};
    if (!pieces || !pieces[index].uv) return t;
    const drape_piece *p = &pieces[index];
    t.uv = p->uv;
    t.count = p->uv_triangle ? p->uv_vertices : p->vertices;
    t.corner = p->uv_triangle ? p->uv_triangle : p->triangle;
    t.seams =
        t.count != p->vertices || memcmp(t.corner, p->triangle, 3 * (size_t)p->triangles * sizeof(int32_t)) != 0;
    return t;
}
