/* spring_simd.c: the kernels of springs, straight ones and arcs, eight springs at a time. spring_lanes.h has the
 * forces and Jacobians of any law of the length. */
#include "cloth/arc.h"
#include "cloth/spring_lanes.h"

/* ---- Straight springs ----
 *
 *     phi = k/2 (l - L)^2                       Provot 1995: pulls and pushes
 *     phi = k/2 (l - L)^2 for l >= L, else 0    Choi and Ko 2002: a thread, which buckles at once
 *
 * A slack thread is damped all the same. */

DRAPE_INLINE void evaluate_straight(const drape_i_spring_data *d, const drape_i_evaluation *at, const int32_t *e,
                                    int lane, drape_jacobian jacobian, drape_i_damping damped, int thread,
                                    drape_i_batch *out) {
    const vd zero = vd_set1(0);
    vd l, k = lanes_field(d->records, SPRING_SIZE, SPRING_STIFFNESS, e);
    spring_shape s = spring_load(d, at, e, &l);
    vd longer = l - lanes_field(d->records, SPRING_SIZE, SPRING_LENGTH, e);
    spring_law law = {.linear = k, .damping = lanes_field(d->records, SPRING_SIZE, SPRING_DAMPING, e)};
    law.stiffness = thread ? vd_select(longer >= zero, k, zero) : k;
    law.pull = law.stiffness * longer;
    law.energy = vd_set1(0.5) * law.pull * longer;
    spring_store(d, at, e, &s, &law, lane, jacobian, damped, out);
}

DRAPE_INLINE void straight_energies(const drape_i_spring_data *d, const drape_i_evaluation *at,
                                    const int32_t *elements, int thread, double *energy) {
    for (int lane = 0; lane < DRAPE_I_LANES; lane += DRAPE_W) {
        const int32_t *e = elements + lane;
        vd l, k = lanes_field(d->records, SPRING_SIZE, SPRING_STIFFNESS, e);
        spring_load(d, at, e, &l);
        vd longer = l - lanes_field(d->records, SPRING_SIZE, SPRING_LENGTH, e);
        if (thread) longer = vd_max(longer, vd_set1(0));
        vd_store(energy + lane, vd_set1(0.5) * k * longer * longer);
    }
}

DRAPE_INLINE void evaluate_spring(const drape_i_spring_data *d, const drape_i_evaluation *at, const int32_t *e,
                                  int lane, drape_jacobian jacobian, drape_i_damping damped, drape_i_batch *out) {
    evaluate_straight(d, at, e, lane, jacobian, damped, 0, out);
}

DRAPE_INLINE void evaluate_thread(const drape_i_spring_data *d, const drape_i_evaluation *at, const int32_t *e,
                                  int lane, drape_jacobian jacobian, drape_i_damping damped, drape_i_batch *out) {
    evaluate_straight(d, at, e, lane, jacobian, damped, 1, out);
}

void DRAPE_NAME(drape_i_spring)(const void *data, const void *at, const int32_t *elements, drape_i_batch *out) {
    SPRING_DISPATCH(evaluate_spring, data, at, elements, out);
}

void DRAPE_NAME(drape_i_thread)(const void *data, const void *at, const int32_t *elements, drape_i_batch *out) {
    SPRING_DISPATCH(evaluate_thread, data, at, elements, out);
}

void DRAPE_NAME(drape_i_spring_energy)(const void *data, const drape_i_evaluation *at, const int32_t *elements,
                                       double *energy) {
    straight_energies(data, at, elements, 0, energy);
}

void DRAPE_NAME(drape_i_thread_energy)(const void *data, const drape_i_evaluation *at, const int32_t *elements,
                                       double *energy) {
    straight_energies(data, at, elements, 1, energy);
}

void DRAPE_NAME(drape_i_spring_dissipation)(const void *data, const drape_i_evaluation *at, const int32_t *elements,
                                            double *dissipation) {
    const drape_i_spring_data *d = data;
    for (int lane = 0; lane < DRAPE_I_LANES; lane += DRAPE_W) {
        const int32_t *e = elements + lane;
        vd c = lanes_field(d->records, SPRING_SIZE, SPRING_DAMPING, e);
        vd_store(dissipation + lane, spring_dissipation(d, at, e, c));
    }
}

/* ---- Arcs: bending by Choi and Ko (2002, "Stable but responsive cloth") ----
 *
 * Two vertices that were L apart and are now closer, l < L, are treated as the ends of a strip that has buckled into
 * a circular arc of length L. Its curvature is kappa = 2/L sinc^-1(l/L), its rigidity k_b (N m^2). Its energy E_b and
 * its force f_b = dE_b/dl are
 *     E_b = k_b L kappa^2/2,    f_b = k_b kappa^2 / (cos(kappa L/2) - sinc(kappa L/2)),
 * or, in the q(u) of arc.h, E_b = 2 k_b q/L, f_b = -2 k_b q'/L^2, f_b' = 2 k_b q''/L^3.
 * f_b does not vanish at l = L but is -12 k_b/L^2 there, the load at which a strip buckles. So near L a straight
 * spring of stiffness c_b stands in for it, f = max(c_b (l - L), f_b): it is the straight one for u = 1 - l/L below
 * u_c. The energy is the integral, which makes it E_b + offset beyond u_c. For l >= L there is none.
 *
 * phi'' is positive, and phi' negative: the spring only pushes. DRAPE_JACOBIAN_PSD leaves n n' of it, as they do.
 * Departures: damping is along the spring (spring_lanes.h); L is the distance at rest, so that a curved rest shape is
 * at rest. Cost: some 500 flops, most of them for the inverse of sinc. */

typedef struct bend {
    vd L, k_b, c_b, u_c, offset, u;
    arc a;
} bend;

DRAPE_INLINE bend load_bend(const drape_i_spring_data *d, const int32_t *e, vd l) {
    bend b = {.L = lanes_field(d->records, ARC_SIZE, ARC_LENGTH, e),
              .k_b = lanes_field(d->records, ARC_SIZE, ARC_RIGIDITY, e),
              .c_b = lanes_field(d->records, ARC_SIZE, ARC_FIRST, e),
              .u_c = lanes_field(d->records, ARC_SIZE, ARC_SWITCH, e),
              .offset = lanes_field(d->records, ARC_SIZE, ARC_OFFSET, e)};
    b.u = vd_max((b.L - l) / b.L, vd_set1(0));
    b.a = arc_over(b.u);
    return b;
}

DRAPE_INLINE vd arc_energy(const bend *b) {
    vd shorter = b->u * b->L, straight = vd_set1(0.5) * b->c_b * shorter * shorter;
    return vd_select(b->u > b->u_c, vd_set1(2) * b->k_b * b->a.q / b->L + b->offset, straight);
}

DRAPE_INLINE void evaluate_arc(const drape_i_spring_data *d, const drape_i_evaluation *at, const int32_t *e, int lane,
                               drape_jacobian jacobian, drape_i_damping damped, drape_i_batch *out) {
    const vd zero = vd_set1(0), two = vd_set1(2);
    vd l;
    spring_shape s = spring_load(d, at, e, &l);
    bend b = load_bend(d, e, l);
    vd scale = two * b.k_b / (b.L * b.L), straight = vd_select(b.u > zero, b.c_b, zero);
    vi bent = b.u > b.u_c;
    spring_law law = {.pull = vd_select(bent, -scale * b.a.first, -straight * (b.u * b.L)),
                      .stiffness = vd_select(bent, scale * b.a.second / b.L, straight),
                      .linear = vd_set1(6) * scale / b.L,
                      .damping = lanes_field(d->records, ARC_SIZE, ARC_DAMPING, e),
                      .energy = arc_energy(&b)};
    spring_store(d, at, e, &s, &law, lane, jacobian, damped, out);
}

void DRAPE_NAME(drape_i_arc)(const void *data, const void *at, const int32_t *elements, drape_i_batch *out) {
    SPRING_DISPATCH(evaluate_arc, data, at, elements, out);
}

void DRAPE_NAME(drape_i_arc_energy)(const void *data, const drape_i_evaluation *at, const int32_t *elements,
                                    double *energy) {
    const drape_i_spring_data *d = data;
    for (int lane = 0; lane < DRAPE_I_LANES; lane += DRAPE_W) {
        vd l;
        spring_load(d, at, elements + lane, &l);
        bend b = load_bend(d, elements + lane, l);
        vd_store(energy + lane, arc_energy(&b));
    }
}

void DRAPE_NAME(drape_i_arc_dissipation)(const void *data, const drape_i_evaluation *at, const int32_t *elements,
                                         double *dissipation) {
    const drape_i_spring_data *d = data;
    for (int lane = 0; lane < DRAPE_I_LANES; lane += DRAPE_W) {
        const int32_t *e = elements + lane;
        vd_store(dissipation + lane, spring_dissipation(d, at, e, lanes_field(d->records, ARC_SIZE, ARC_DAMPING, e)));
    }
}
