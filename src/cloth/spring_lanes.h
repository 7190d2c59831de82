/* spring_lanes.h: a spring between two vertices, one per lane, whatever its energy phi of the length l.
 *
 * Let n be the unit vector from x0 to x1, w = v1 - v0 and c the damping along the spring. The tension is T = phi'(l)
 * + c n.w, the force on x1 is -T n and that on x0 is T n. So there is no net force, no torque, and nothing for a
 * rigid motion. (Choi and Ko damp by c w, which brakes a sheet that merely turns.) With K = -df/dx, D = -df/dv both
 * are [B -B; -B B], where
 *     K:  B = phi'' n n' + T/l (I - n n') + c n (w - (n.w) n)'/l        D:  B = c n n'
 * The last part of K is not symmetric and only there with DRAPE_DAMPING_FULL. DRAPE_JACOBIAN_PSD takes T/l only where
 * it is positive: a spring that pushes would make the system indefinite (Choi and Ko 2002; phi'' is never negative
 * here). Lagged damping takes n of the damping's force and of D from other positions, which are given. T of K is then
 * phi' alone, and K that of the energy. The damping's force is minus the gradient of the dissipation R = c (n.w)^2/2
 * by v. DRAPE_JACOBIAN_LINEAR has B = k I, k constant, and B = c I in D. It takes f as -k (x1 - x0), Hauth's eq. 50
 * with the sign that it lacks, which bounds both from above. Cost: some 120 flops per spring. */
#ifndef DRAPE_CLOTH_SPRING_LANES_H
#define DRAPE_CLOTH_SPRING_LANES_H

#include "cloth/lanes.h"
#include "cloth/springs.h"

typedef struct spring_shape {
    vd3 n;
    vd length;
} spring_shape;

/* What a kernel finds out about phi. */
typedef struct spring_law {
    vd pull;      /* phi', N */
    vd stiffness; /* phi'' >= 0, N/m */
    vd linear;    /* k of DRAPE_JACOBIAN_LINEAR, N/m */
    vd damping;   /* c, N s/m */
    vd energy;    /* phi, J; of terms that have `potential` */
} spring_law;

/* Ends that are in one point have no direction, and count as endlessly far apart where something is divided by l;
 * *actual is their distance in any case. */
DRAPE_INLINE spring_shape spring_load_at(const drape_i_spring_data *d, const double *x, const int32_t *e,
                                         vd *actual) {
    vd3 a = vd3_sub(lanes_gather(x, d->nodes, 2, 1, e), lanes_gather(x, d->nodes, 2, 0, e));
    vd l = vd_sqrt(vd3_dot(a, a));
    *actual = l;
    vd length = vd_select(l > vd_set1(1e-150), l, vd_set1(1e150));
    return (spring_shape){vd3_scale(vd_set1(1) / length, a), length};
}

DRAPE_INLINE spring_shape spring_load(const drape_i_spring_data *d, const drape_i_evaluation *at, const int32_t *e,
                                      vd *actual) {
    return spring_load_at(d, at->x, e, actual);
}

/* B becomes the element matrix; Bw is B w of each part alone, for K v. */
DRAPE_INLINE void spring_store_blocks(vd33 B, int lane, drape_i_batch *out) {
    vd33 minus;
    for (int i = 0; i < 9; i++) minus.m[i] = -B.m[i];
    lanes_store_block(out->blocks, 0, lane, B);
    lanes_store_block(out->blocks, 1, lane, minus);
    lanes_store_block(out->blocks, 2, lane, B);
}

DRAPE_INLINE void spring_store_pair(double (*to)[DRAPE_I_LANES], int lane, vd3 at_1) {
    lanes_store_vector(to, 0, lane, vd3_scale(vd_set1(-1), at_1));
    lanes_store_vector(to, 1, lane, at_1);
}

/* Adds the unsymmetric part R = c n q', q = (w - (n.w) n)/l, and gives R w. */
DRAPE_INLINE vd3 spring_add_unsymmetric(const spring_shape *s, vd c, vd3 w, vd rate, double stiffness, int lane,
                                        drape_i_batch *out) {
    vd3 q = vd3_scale(vd_set1(1) / s->length, vd3_sub(w, vd3_scale(rate, s->n)));
    vd33 R = vd33_add_outer(vd33_zero(), vd_set1(stiffness) * c, s->n, q);
    vd33 minus = vd33_add_outer(vd33_zero(), -(vd_set1(stiffness) * c), s->n, q);
    lanes_add_unsymmetric(out, 0, lane, R, R);
    lanes_add_unsymmetric(out, 1, lane, minus, minus);
    lanes_add_unsymmetric(out, 2, lane, R, R);
    return vd3_scale(c * vd3_dot(q, w), s->n);
}

/* Force, element matrix and K v from the law. jacobian and damped are constants where it is inlined. */
DRAPE_INLINE void spring_store(const drape_i_spring_data *d, const drape_i_evaluation *at, const int32_t *e,
                               const spring_shape *s, const spring_law *law, int lane, drape_jacobian jacobian,
                               drape_i_damping damped, drape_i_batch *out) {
    const vd stiffness = vd_set1(at->stiffness), damping = vd_set1(at->damping);
    vd3 w = vd3_sub(lanes_gather(at->v, d->nodes, 2, 1, e), lanes_gather(at->v, d->nodes, 2, 0, e));
    const int lagged = damped == DRAPE_I_DAMPING_LAGGED;
    vd ignored, rate = vd3_dot(s->n, w);
    vd3 n = lagged ? spring_load_at(d, at->lagged_x, e, &ignored).n : s->n; /* of the damping */
    vd along_n = vd3_dot(n, w), resistance = law->damping * along_n;
    if (at->potential) vd_store(out->scalar + lane, law->energy + vd_set1(0.5 * at->c) * (resistance * along_n));
    vd tension = lagged ? law->pull : law->pull + resistance;
    vd3 force = vd3_scale(-tension, s->n);
    if (lagged) force = vd3_sub(force, vd3_scale(resistance, n));
    spring_store_pair(out->vectors[0], lane, force);
    if (jacobian == DRAPE_JACOBIAN_LINEAR) {
        spring_store_blocks(vd33_add_identity(vd33_zero(), stiffness * law->linear + damping * law->damping), lane,
                            out);
        spring_store_pair(out->vectors[1], lane, vd3_scale(law->linear, w));
        return;
    }
    vd across = tension / s->length;
    if (jacobian == DRAPE_JACOBIAN_PSD) across = vd_clamp(across, vd_set1(at->exactness));
    vd along = law->stiffness - across;
    vd33 B = vd33_add_identity(vd33_zero(), stiffness * across);
    B = vd33_add_outer(B, lagged ? stiffness * along : stiffness * along + damping * law->damping, s->n, s->n);
    if (lagged) B = vd33_add_outer(B, damping * law->damping, n, n);
    spring_store_blocks(B, lane, out);
    vd3 Kw = vd3_add(vd3_scale(across, w), vd3_scale(along * rate, s->n));
    if (damped == DRAPE_I_DAMPING_FULL)
        Kw = vd3_add(Kw, spring_add_unsymmetric(s, law->damping, w, rate, at->stiffness, lane, out));
    spring_store_pair(out->vectors[1], lane, Kw);
}

/* R of W springs of damping c. */
DRAPE_INLINE vd spring_dissipation(const drape_i_spring_data *d, const drape_i_evaluation *at, const int32_t *e,
                                   vd c) {
    vd ignored;
    spring_shape s = spring_load_at(d, drape_i_damping_x(at), e, &ignored);
    vd3 w = vd3_sub(lanes_gather(at->v, d->nodes, 2, 1, e), lanes_gather(at->v, d->nodes, 2, 0, e));
    vd rate = vd3_dot(s.n, w);
    return vd_set1(0.5) * c * rate * rate;
}

/* Calls evaluate(data, at, elements, lane, jacobian, damped, out) for all lanes, with constants for jacobian and
 * damped, so that each combination is compiled by itself. */
#define SPRING_DISPATCH(evaluate, data, where, elements, out)                                                        \
    do {                                                                                                             \
        const drape_i_evaluation *at_ = (where);                                                                     \
        const drape_i_damping damped_ = drape_i_damping_of(at_);                                                     \
        if (damped_ == DRAPE_I_DAMPING_SYMMETRIC)                                                                    \
            SPRING_DISPATCH_JACOBIAN(evaluate, data, at_, elements, DRAPE_I_DAMPING_SYMMETRIC, out);                 \
        else if (damped_ == DRAPE_I_DAMPING_LAGGED)                                                                  \
            SPRING_DISPATCH_JACOBIAN(evaluate, data, at_, elements, DRAPE_I_DAMPING_LAGGED, out);                    \
        else SPRING_DISPATCH_JACOBIAN(evaluate, data, at_, elements, DRAPE_I_DAMPING_FULL, out);                     \
    } while (0)

#define SPRING_DISPATCH_JACOBIAN(evaluate, data, at, elements, damped, out)                                          \
    do {                                                                                                             \
        for (int lane_ = 0; lane_ < DRAPE_I_LANES; lane_ += DRAPE_W) {                                               \
            const int32_t *e_ = (elements) + lane_;                                                                  \
            if ((at)->jacobian == DRAPE_JACOBIAN_PSD)                                                                \
                evaluate(data, at, e_, lane_, DRAPE_JACOBIAN_PSD, damped, out);                                      \
            else if ((at)->jacobian == DRAPE_JACOBIAN_FULL)                                                          \
                evaluate(data, at, e_, lane_, DRAPE_JACOBIAN_FULL, damped, out);                                     \
            else evaluate(data, at, e_, lane_, DRAPE_JACOBIAN_LINEAR, damped, out);                                  \
        }                                                                                                            \
    } while (0)

#endif
