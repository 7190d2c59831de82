/* spring_simd.c: straight springs, eight at a time.
 *
 *     phi = k/2 (l - L)^2                       Provot 1995: pulls and pushes
 *     phi = k/2 (l - L)^2 for l >= L, else 0    Choi and Ko 2002: a thread, which buckles at once
 *
 * spring_lanes.h has the forces and Jacobians. A slack thread is damped all the same. */
#include "cloth/spring_lanes.h"

DRAPE_INLINE void evaluate(const drape_i_spring_data *d, const drape_i_evaluation *at, const int32_t *e, int lane,
                           drape_jacobian jacobian, int unsymmetric, int thread, drape_i_batch *out) {
    const vd zero = vd_set1(0);
    vd l, k = lanes_field(d->records, SPRING_SIZE, SPRING_STIFFNESS, e);
    spring_shape s = spring_load(d, at, e, &l);
    vd longer = l - lanes_field(d->records, SPRING_SIZE, SPRING_LENGTH, e);
    spring_law law = {.linear = k, .damping = lanes_field(d->records, SPRING_SIZE, SPRING_DAMPING, e)};
    law.stiffness = thread ? vd_select(longer >= zero, k, zero) : k;
    law.pull = law.stiffness * longer;
    spring_store(d, at, e, &s, &law, lane, jacobian, unsymmetric, out);
}

DRAPE_INLINE void energies(const drape_i_spring_data *d, const drape_i_evaluation *at, const int32_t *elements,
                           int thread, double *energy) {
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
                                  int lane, drape_jacobian jacobian, int unsymmetric, drape_i_batch *out) {
    evaluate(d, at, e, lane, jacobian, unsymmetric, 0, out);
}

DRAPE_INLINE void evaluate_thread(const drape_i_spring_data *d, const drape_i_evaluation *at, const int32_t *e,
                                  int lane, drape_jacobian jacobian, int unsymmetric, drape_i_batch *out) {
    evaluate(d, at, e, lane, jacobian, unsymmetric, 1, out);
}

void DRAPE_NAME(drape_i_spring)(const void *data, const void *at, const int32_t *elements, drape_i_batch *out) {
    SPRING_DISPATCH(evaluate_spring, data, at, elements, out);
}

void DRAPE_NAME(drape_i_thread)(const void *data, const void *at, const int32_t *elements, drape_i_batch *out) {
    SPRING_DISPATCH(evaluate_thread, data, at, elements, out);
}

void DRAPE_NAME(drape_i_spring_energy)(const void *data, const drape_i_evaluation *at, const int32_t *elements,
                                       double *energy) {
    energies(data, at, elements, 0, energy);
}

void DRAPE_NAME(drape_i_thread_energy)(const void *data, const drape_i_evaluation *at, const int32_t *elements,
                                       double *energy) {
    energies(data, at, elements, 1, energy);
}
