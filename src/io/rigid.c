/* rigid.c: whether a mesh moves as a whole, so that seven numbers say where it is. */
#include "base/vec3.h"
#include "io/format_tools.h"

#include <math.h>

static const double SLACK = 1e-6; /* of the mesh's size: below what float32 holds of it */

typedef struct axes {
    vec3 e[3]; /* orthogonal, of length 1 */
} axes;

static vec3 unit(vec3 a) { return vec3_scale(1 / vec3_length(a), a); }

static axes axes_of(vec3 a, vec3 b, vec3 c) {
    axes f;
    f.e[0] = unit(vec3_sub(b, a));
    f.e[2] = unit(vec3_cross(f.e[0], vec3_sub(c, a)));
    f.e[1] = vec3_cross(f.e[2], f.e[0]);
    return f;
}

/* Three vertices that span a large triangle; false where all lie on a line. */
static bool pick_three(int64_t count, const double *x, int64_t pick[3], double *size) {
    double best = 0;
    pick[0] = pick[1] = pick[2] = 0;
    for (int64_t i = 1; i < count; i++) {
        double d = vec3_length(vec3_sub(vec3_at(x + 3 * i), vec3_at(x)));
        if (d > best) best = d, pick[1] = i;
    }
    *size = best;
    if (!(best > 0)) return false;
    vec3 a = vec3_at(x), e = unit(vec3_sub(vec3_at(x + 3 * pick[1]), a));
    best = 0;
    for (int64_t i = 1; i < count; i++) {
        double d = vec3_length(vec3_cross(e, vec3_sub(vec3_at(x + 3 * i), a)));
        if (d > best) best = d, pick[2] = i;
    }
    return best > 1e-3 * *size;
}

/* The quaternion of a rotation matrix, m[row][column]; its largest component is found first (Shepperd 1978). */
static void quaternion_of(double m[3][3], double q[4]) {
    double trace = m[0][0] + m[1][1] + m[2][2];
    int32_t i = m[1][1] > m[0][0] ? 1 : 0;
    if (m[2][2] > m[i][i]) i = 2;
    if (trace > m[i][i]) {
        double s = 2 * sqrt(1 + trace);
        q[3] = 0.25 * s;
        for (int32_t k = 0; k < 3; k++) q[k] = (m[(k + 2) % 3][(k + 1) % 3] - m[(k + 1) % 3][(k + 2) % 3]) / s;
    } else {
        int32_t j = (i + 1) % 3, k = (i + 2) % 3;
        double s = 2 * sqrt(fmax(1 + m[i][i] - m[j][j] - m[k][k], 1e-300));
        q[i] = 0.25 * s;
        q[j] = (m[j][i] + m[i][j]) / s;
        q[k] = (m[k][i] + m[i][k]) / s;
        q[3] = (m[k][j] - m[j][k]) / s;
    }
}

static vec3 apply(double m[3][3], vec3 p) {
    return (vec3){m[0][0] * p.x + m[0][1] * p.y + m[0][2] * p.z, m[1][0] * p.x + m[1][1] * p.y + m[1][2] * p.z,
                  m[2][0] * p.x + m[2][1] * p.y + m[2][2] * p.z};
}

bool drape_i_rigid_fit(int64_t count, const double *base, const double *x, drape_i_rigid *out) {
    double m[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, size;
    int64_t pick[3];
    *out = (drape_i_rigid){.q = {0, 0, 0, 1}};
    if (count == 0) return true;
    bool same = true;
    for (int64_t i = 0; i < 3 * count && same; i++) same = base[i] == x[i];
    if (same) return true;
    if (pick_three(count, base, pick, &size)) {
        axes from = axes_of(vec3_at(base + 3 * pick[0]), vec3_at(base + 3 * pick[1]), vec3_at(base + 3 * pick[2]));
        axes to = axes_of(vec3_at(x + 3 * pick[0]), vec3_at(x + 3 * pick[1]), vec3_at(x + 3 * pick[2]));
        for (int32_t i = 0; i < 3; i++)
            for (int32_t j = 0; j < 3; j++) {
                m[i][j] = 0;
                for (int32_t k = 0; k < 3; k++) m[i][j] += (&to.e[k].x)[i] * (&from.e[k].x)[j];
            }
    }
    quaternion_of(m, out->q);
    vec3 t = vec3_sub(vec3_at(x), apply(m, vec3_at(base)));
    out->t[0] = t.x, out->t[1] = t.y, out->t[2] = t.z;
    for (int64_t i = 0; i < count; i++) {
        vec3 off = vec3_sub(vec3_sub(vec3_at(x + 3 * i), t), apply(m, vec3_at(base + 3 * i)));
        if (!(vec3_length(off) <= SLACK * size)) return false;
    }
    return true;
}
