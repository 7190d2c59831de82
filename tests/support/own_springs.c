/* own_springs.c: springs through the public table of forces; docs/models.md shows the same for a single one. */
#include "support/own_springs.h"

#include "cloth/cloth.h"
#include "cloth/springs.h"
#include "support/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Unit vector from the first end to the second; returns the length. */
static double direction(const double *x, const int32_t *end, double n[3]) {
    double l = 0;
    for (int k = 0; k < 3; k++) n[k] = x[3 * end[1] + k] - x[3 * end[0] + k];
    l = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int k = 0; k < 3; k++) n[k] /= l;
    return l;
}

static double spring_energy(void *user, const drape_force_point *at, int32_t i, const int32_t *end) {
    const own_springs *s = user;
    double n[3], longer = direction(at->x, end, n) - s->length[i];
    return 0.5 * s->stiffness[i] * longer * longer;
}

static void spring_force(void *user, const drape_force_point *at, int32_t i, const int32_t *end,
                         drape_element_force *out) {
    const own_springs *s = user;
    double n[3], l = direction(at->x, end, n), k = s->stiffness[i], tension = k * (l - s->length[i]);
    for (int r = 0; r < 3; r++) {
        out->force[0][r] = tension * n[r]; /* pulls the first end to the second */
        out->force[1][r] = -tension * n[r];
    }
    if (!at->jacobians) return;
    double across = tension / l; /* negative in a spring that pushes: then it makes the matrix indefinite */
    if (at->jacobian == DRAPE_JACOBIAN_PSD && across < 0) across = 0;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) { /* minus the derivative of a force by a position: [B -B; -B B] */
            double B = (k - across) * n[r] * n[c] + (r == c ? across : 0);
            out->stiffness[0][0][3 * r + c] = out->stiffness[1][1][3 * r + c] = B;
            out->stiffness[0][1][3 * r + c] = -B;
        }
}

/* Adds c n.w along the spring, w = v1 - v0, and its derivatives: n n' by v, and n (w - (n.w) n)'/l + (n.w)/l (I - n
 * n') by x. The first part of the latter is not symmetric. A direction n that is given does not depend on x. */
static void damped_spring_force(void *user, const drape_force_point *at, int32_t i, const int32_t *end,
                                drape_element_force *out) {
    const own_springs *s = user;
    double n[3], w[3], l = direction(at->lagged_x ? at->lagged_x : at->x, end, n), rate = 0, c = s->damping[i];
    spring_force(user, at, i, end, out);
    for (int k = 0; k < 3; k++) {
        w[k] = at->v[3 * end[1] + k] - at->v[3 * end[0] + k];
        rate += n[k] * w[k];
    }
    for (int k = 0; k < 3; k++) {
        out->force[0][k] += c * rate * n[k];
        out->force[1][k] -= c * rate * n[k];
    }
    if (!at->jacobians) return;
    memcpy(out->stiffness[1][0], out->stiffness[0][1], sizeof out->stiffness[1][0]); /* symmetric so far */
    for (int k = 0; k < 9; k++) {
        int r = k / 3, q = k % 3;
        double D = c * n[r] * n[q], across = (r == q ? 1 : 0) - n[r] * n[q];
        double K = at->lagged_x ? 0 : c * (n[r] * (w[q] - rate * n[q]) + rate * across) / l;
        for (int a = 0; a < 2; a++)
            for (int b = 0; b < 2; b++) {
                out->damping[a][b][k] = a == b ? D : -D;
                out->stiffness[a][b][k] += a == b ? K : -K;
            }
    }
}

drape_force own_springs_force(own_springs *s, bool damped) {
    return (drape_force){
        .name = "own springs",
        .user = s,
        .elements = {.nodes_per_element = 2, .count = s->count, .nodes = s->ends},
        .element = damped ? damped_spring_force : spring_force,
        .element_energy = spring_energy,
        .velocity_dependent = damped,
        .unsymmetric = damped,
    };
}

/* ---- where they come from ---- */

own_springs own_springs_of(const drape_cloth *provot) {
    const drape_i_spring_model *m = provot->model_state;
    own_springs s = {.count = m->springs.count};
    s.ends = calloc(2 * (size_t)s.count, sizeof *s.ends);
    memcpy(s.ends, m->springs.node[0], 2 * (size_t)s.count * sizeof *s.ends);
    s.length = dense_new(s.count), s.stiffness = dense_new(s.count), s.damping = dense_new(s.count);
    for (int32_t i = 0; i < s.count; i++) {
        const double *record = m->straight.records + (int64_t)SPRING_SIZE * i;
        s.length[i] = record[SPRING_LENGTH];
        s.stiffness[i] = record[SPRING_STIFFNESS];
        s.damping[i] = record[SPRING_DAMPING];
    }
    return s;
}

void own_springs_clear(own_springs *s) { free(s->ends), free(s->length), free(s->stiffness), free(s->damping); }
