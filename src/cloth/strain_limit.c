/* strain_limit.c: Provot's limit of elongation (1995): after a step, springs that are too long are shortened.
 *
 * Sweep after sweep over the springs of stretch and shear, in their order: one longer than (1 + limit) L has its ends
 * moved along it, each in proportion to its inverse mass, until it is just that long. A held end has none and stays.
 * What moves an end by d changes its velocity by d/h. The momentum of free cloth and its centre stay as they were.
 * It goes on until no spring is beyond its limit by more than TOLERANCE of its length, or for SWEEPS. Springs are
 * taken one after the other by one thread: later ones see what earlier ones did, and the bits do not depend on
 * threads. */
#include "cloth/cloth.h"
#include "cloth/springs.h"

#include <math.h>

enum { SWEEPS = 100 };
static const double TOLERANCE = 1e-3;

typedef struct state {
    const double *inverse_mass; /* NULL: of the cloth's masses */
    const double *mass;
    double *x, *v, per_step; /* 1/h */
} state;

static double weight(const state *s, int32_t vertex) {
    return s->inverse_mass ? s->inverse_mass[vertex] : 1 / s->mass[vertex];
}

static void move(const state *s, int32_t vertex, double by, const double d[3]) {
    for (int32_t k = 0; k < 3; k++) {
        s->x[3 * (int64_t)vertex + k] += by * d[k];
        s->v[3 * (int64_t)vertex + k] += by * d[k] * s->per_step;
    }
}

/* How far the spring was beyond its limit, in units of it. */
static double shorten(const state *s, const int32_t node[2], double most) {
    const double *a = s->x + 3 * (int64_t)node[0], *b = s->x + 3 * (int64_t)node[1];
    double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    double w0 = weight(s, node[0]), w1 = weight(s, node[1]);
    if (!(length > most) || !(w0 + w1 > 0)) return 0;
    double excess = (length - most) / (length * (w0 + w1));
    move(s, node[0], excess * w0, d);
    move(s, node[1], -excess * w1, d);
    return length / most - 1;
}

bool drape_cloth_limits_strain(const drape_cloth *c) { return c && c->limited; }

drape_status drape_cloth_limit_strain(const drape_cloth *c, const double *inverse_mass, double h, double *x,
                                      double *v) {
    if (!c) return DRAPE_ERROR_ARGUMENT;
    if (!x || !v || !isfinite(h) || !(h > 0))
        return drape_i_fail(c->ctx, DRAPE_ERROR_ARGUMENT,
                            "limit_strain: positions, velocities and a step are wanted");
    if (!c->limited) return DRAPE_OK;
    const drape_i_springs *springs = c->model->springs(c->model_state);
    const state s = {inverse_mass, c->mass, x, v, 1 / h};
    double worst = INFINITY;
    for (int32_t sweep = 0; sweep < SWEEPS && worst > TOLERANCE; sweep++) {
        worst = 0;
        for (int32_t i = 0; i < springs->in_plane; i++)
            worst = fmax(worst, shorten(&s, springs->node[i], springs->spring[i].most));
    }
    return DRAPE_OK;
}
