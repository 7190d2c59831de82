/* mesh_lay.c: where a panel starts that is sewn onto another one. See mesh_sew.h.
 *
 * A point of its pattern lies over a point of the pattern below, in a triangle there. In space the point is at the
 * same place of that triangle, moved by the height along the normal, which is interpolated between those of the
 * vertices. Beyond the pattern below the nearest triangle goes on. Triangles are found by cells of the pattern, each
 * about as large as one. */
#include "io/mesh_sew.h"

#include <math.h>
#include <string.h>

typedef struct floor_plan {
    const drape_i_mesh *m;
    const drape_i_mesh_group *below;
    double low[2], cell;
    int32_t columns, rows;
    int32_t *first, *list; /* triangles by cell */
    double *normal;        /* 3 per vertex of the mesh */
} floor_plan;

static const double *pattern(const floor_plan *f, int32_t t, int32_t k) {
    return f->m->uv + 2 * (int64_t)f->m->uv_triangle[t][k];
}

static double cross(const double *a, const double *b, const double *p) {
    return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]);
}

static int32_t cell_of(const floor_plan *f, double x, int32_t k) {
    const int32_t count = k == 0 ? f->columns : f->rows;
    return (int32_t)fmin(fmax(floor((x - f->low[k]) / f->cell), 0), count - 1);
}

static void range_of(const floor_plan *f, int32_t t, int32_t cell[2][2]) {
    for (int32_t k = 0; k < 2; k++) {
        const double a = pattern(f, t, 0)[k], b = pattern(f, t, 1)[k], c = pattern(f, t, 2)[k];
        cell[0][k] = cell_of(f, fmin(a, fmin(b, c)), k), cell[1][k] = cell_of(f, fmax(a, fmax(b, c)), k);
    }
}

static void measure(floor_plan *f) {
    double high[2] = {-INFINITY, -INFINITY};
    f->low[0] = f->low[1] = INFINITY;
    for (int32_t i = 0; i < f->below->triangles; i++)
        for (int32_t k = 0; k < 6; k++) {
            const double x = pattern(f, f->below->triangle[i], k / 2)[k % 2];
            f->low[k % 2] = fmin(f->low[k % 2], x), high[k % 2] = fmax(high[k % 2], x);
        }
    const double width = high[0] - f->low[0], height = high[1] - f->low[1];
    f->cell = sqrt(fmax(width * height, 1e-12) / f->below->triangles);
    f->columns = (int32_t)fmin(width / f->cell, f->below->triangles) + 1;
    f->rows = (int32_t)fmin(height / f->cell, f->below->triangles) + 1;
}

static drape_status file_triangles(drape_context *ctx, drape_i_arena *arena, floor_plan *f) {
    const int64_t cells = (int64_t)f->columns * f->rows;
    f->first = drape_i_arena_get(ctx, arena, cells + 1, sizeof *f->first);
    if (!f->first) return DRAPE_ERROR_MEMORY;
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t i = f->below->triangles - 1; i >= 0; i--) { /* so that they ascend in each cell */
            int32_t at[2][2];
            range_of(f, f->below->triangle[i], at);
            for (int32_t y = at[0][1]; y <= at[1][1]; y++)
                for (int32_t x = at[0][0]; x <= at[1][0]; x++) {
                    int32_t *first = &f->first[x + (int64_t)f->columns * y];
                    if (pass == 0) ++*first;
                    else f->list[--*first] = f->below->triangle[i];
                }
        }
        if (pass == 1) break;
        int64_t sum = 0;
        for (int64_t i = 0; i <= cells; i++) {
            sum += f->first[i];
            if (sum > INT32_MAX) return DRAPE_ERROR_MEMORY;
            f->first[i] = (int32_t)sum; /* where it ends; the second pass goes back to where it begins */
        }
        f->list = drape_i_arena_get(ctx, arena, sum, sizeof *f->list);
        if (!f->list) return DRAPE_ERROR_MEMORY;
    }
    return DRAPE_OK;
}

/* Not of length one: weighted by area. */
static drape_status find_normals(drape_context *ctx, drape_i_arena *arena, floor_plan *f) {
    f->normal = drape_i_arena_get(ctx, arena, 3 * (int64_t)f->m->vertices, sizeof *f->normal);
    if (!f->normal) return DRAPE_ERROR_MEMORY;
    for (int32_t i = 0; i < f->below->triangles; i++) {
        const int32_t *v = f->m->triangle[f->below->triangle[i]];
        const double *a = f->m->position + 3 * (int64_t)v[0], *b = f->m->position + 3 * (int64_t)v[1],
                     *c = f->m->position + 3 * (int64_t)v[2];
        for (int32_t k = 0; k < 3; k++) {
            const int32_t p = (k + 1) % 3, q = (k + 2) % 3;
            const double n = (b[p] - a[p]) * (c[q] - a[q]) - (b[q] - a[q]) * (c[p] - a[p]);
            for (int32_t d = 0; d < 3; d++) f->normal[3 * (int64_t)v[d] + k] += n;
        }
    }
    return DRAPE_OK;
}

/* How far p is outside the triangle, as the least of its barycentric coordinates, which go to w. */
static double inside(const floor_plan *f, int32_t t, const double p[2], double w[3]) {
    const double *a = pattern(f, t, 0), *b = pattern(f, t, 1), *c = pattern(f, t, 2), area = cross(a, b, c);
    if (area == 0) return -INFINITY;
    w[0] = cross(b, c, p) / area, w[1] = cross(c, a, p) / area, w[2] = cross(a, b, p) / area;
    return fmin(w[0], fmin(w[1], w[2]));
}

static int32_t find(const floor_plan *f, const double p[2], double w[3]) {
    const int64_t cell = cell_of(f, p[0], 0) + (int64_t)f->columns * cell_of(f, p[1], 1);
    double best = -1e-9, other[3];
    int32_t found = -1;
    for (int32_t i = f->first[cell]; i < f->first[cell + 1]; i++) {
        const double in = inside(f, f->list[i], p, other);
        if (in > best) best = in, found = f->list[i], memcpy(w, other, sizeof other);
    }
    if (found >= 0) return found;
    best = -INFINITY;
    for (int32_t i = 0; i < f->below->triangles; i++) {
        const double in = inside(f, f->below->triangle[i], p, other);
        if (in > best) best = in, found = f->below->triangle[i], memcpy(w, other, sizeof other);
    }
    return found;
}

static void lay(const floor_plan *f, const drape_i_laying *how, const double *uv, double height, double out[3]) {
    const double d[2] = {uv[0] - how->middle[0], uv[1] - how->middle[1]};
    double p[2], w[3], n[3] = {0}, x[3] = {0};
    for (int32_t k = 0; k < 2; k++) p[k] = (how->turn[2 * k] * d[0] + how->turn[2 * k + 1] * d[1]) + how->at[k];
    int32_t t = find(f, p, w);
    if (t < 0) return;
    for (int32_t c = 0; c < 3; c++) {
        const int64_t v = f->m->triangle[t][c];
        const double *normal = f->normal + 3 * v;
        const double size = sqrt((normal[0] * normal[0] + normal[1] * normal[1]) + normal[2] * normal[2]);
        for (int32_t k = 0; k < 3; k++) {
            x[k] += w[c] * f->m->position[3 * v + k];
            n[k] += size > 0 ? fmin(fmax(w[c], 0), 1) * normal[k] / size : 0;
        }
    }
    const double size = sqrt((n[0] * n[0] + n[1] * n[1]) + n[2] * n[2]);
    for (int32_t k = 0; k < 3; k++) out[k] = x[k] + (size > 0 ? height * n[k] / size : 0);
}

drape_status drape_i_mesh_lay(drape_context *ctx, drape_i_mesh *mesh, const drape_i_mesh_group *upper,
                              const drape_i_mesh_group *lower, const drape_i_laying *how, double height) {
    drape_i_arena scratch = {0};
    floor_plan f = {.m = mesh, .below = lower};
    measure(&f);
    drape_status status = file_triangles(ctx, &scratch, &f);
    if (!status) status = find_normals(ctx, &scratch, &f);
    for (int32_t i = 0; i < upper->triangles && !status; i++)
        for (int32_t k = 0; k < 3; k++) {
            const int32_t t = upper->triangle[i];
            lay(&f, how, pattern(&f, t, k), height, mesh->position + 3 * (int64_t)mesh->triangle[t][k]);
        }
    drape_i_arena_free(ctx, &scratch);
    return status;
}
