/* material.c: how the threads of a triangle follow from its edges, for the page's colouring by stretch and its weave.
 *
 * Let p, r be the edges from the first corner, and P, R the same edges in the material, which are 2-vectors. The
 * thread directions are (w_u, w_v) = (p, r) (P, R)^-1, so w_u = du1 p + du2 r and w_v = dv1 p + dv2 r. */
#include "live.h"

#include <math.h>
#include <stdlib.h>

/* Edges in the plane of the triangle itself, u along the first of x, y, z that is not normal to it (drape_piece.uv).
 */
static void flatten(const double p[3], const double r[3], double P[2], double R[2]) {
    double n[3] = {p[1] * r[2] - p[2] * r[1], p[2] * r[0] - p[0] * r[2], p[0] * r[1] - p[1] * r[0]};
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]), u[3], v[3], size = 0;
    if (!(length > 0)) length = 1;
    for (int k = 0; k < 3; k++) n[k] /= length;
    for (int axis = 0; axis < 3 && !(size > 1e-3); axis++) {
        size = 0;
        for (int k = 0; k < 3; k++) u[k] = (k == axis) - n[axis] * n[k];
        for (int k = 0; k < 3; k++) size += u[k] * u[k];
    }
    for (int k = 0; k < 3; k++) u[k] /= sqrt(size);
    for (int k = 0; k < 3; k++) v[k] = n[(k + 1) % 3] * u[(k + 2) % 3] - n[(k + 2) % 3] * u[(k + 1) % 3];
    P[0] = P[1] = R[0] = R[1] = 0;
    for (int k = 0; k < 3; k++) {
        P[0] += u[k] * p[k];
        P[1] += v[k] * p[k];
        R[0] += u[k] * r[k];
        R[1] += v[k] * r[k];
    }
}

static void edges_of(const drape_piece *piece, int32_t t, double P[2], double R[2]) {
    if (piece->uv) {
        const int32_t *c = (piece->uv_triangle ? piece->uv_triangle : piece->triangle) + 3 * (int64_t)t;
        for (int k = 0; k < 2; k++) {
            P[k] = piece->uv[2 * c[1] + k] - piece->uv[2 * c[0] + k];
            R[k] = piece->uv[2 * c[2] + k] - piece->uv[2 * c[0] + k];
        }
        return;
    }
    const int32_t *c = piece->triangle + 3 * (int64_t)t;
    double p[3], r[3];
    for (int k = 0; k < 3; k++) {
        p[k] = piece->rest[3 * c[1] + k] - piece->rest[3 * c[0] + k];
        r[k] = piece->rest[3 * c[2] + k] - piece->rest[3 * c[0] + k];
    }
    flatten(p, r, P, R);
}

float *live_material_of(const drape_scene *scene) {
    int64_t count = 0;
    for (int32_t i = 0; i < scene->piece_count; i++) count += scene->pieces[i].triangles;
    float *out = calloc((size_t)(4 * count + 1), sizeof *out), *at = out;
    for (int32_t i = 0; out && i < scene->piece_count; i++)
        for (int32_t t = 0; t < scene->pieces[i].triangles; t++, at += 4) {
            double P[2], R[2];
            edges_of(&scene->pieces[i], t, P, R);
            double det = P[0] * R[1] - P[1] * R[0];
            if (det == 0) continue;
            at[0] = (float)(R[1] / det);
            at[1] = (float)(-P[1] / det);
            at[2] = (float)(-R[0] / det);
            at[3] = (float)(P[0] / det);
        }
    return out;
}
