/* lanes.h: from arrays of xyz triples to a vd3 with one element per lane. */
#ifndef DRAPE_CLOTH_LANES_H
#define DRAPE_CLOTH_LANES_H

#include "base/simd.h"
#include "sparse/assembly.h"

/* Corner `corner` of the elements e[0..W-1], each of k nodes. */
DRAPE_INLINE vd3 lanes_gather(const double *x, const int32_t *nodes, int32_t k, int32_t corner, const int32_t *e) {
    const double *p[DRAPE_W];
    for (int l = 0; l < DRAPE_W; l++) p[l] = x + 3 * (int64_t)nodes[(int64_t)k * e[l] + corner];
    vd a[3];
    vd_gather3(p, a);
    return (vd3){a[0], a[1], a[2]};
}

/* Number `field` of each element's record of `stride` numbers. */
DRAPE_INLINE vd lanes_field(const double *records, int32_t stride, int32_t field, const int32_t *e) {
#define LANE_FIELD(l) records[(int64_t)stride * e[l] + field]
    return VD_LANES(LANE_FIELD);
}

/* Numbers [field, field + 4) of each element's record, and [field, field + 3). */
DRAPE_INLINE void lanes_fields4(const double *records, int32_t stride, int32_t field, const int32_t *e, vd out[4]) {
    const double *p[DRAPE_W];
    for (int l = 0; l < DRAPE_W; l++) p[l] = records + (int64_t)stride * e[l] + field;
    vd_gather4(p, out);
}
DRAPE_INLINE void lanes_fields3(const double *records, int32_t stride, int32_t field, const int32_t *e, vd out[3]) {
    const double *p[DRAPE_W];
    for (int l = 0; l < DRAPE_W; l++) p[l] = records + (int64_t)stride * e[l] + field;
    vd_gather3(p, out);
}

/* Stores a corner's vector into lanes [lane, lane + W) of the batch. */
DRAPE_INLINE void lanes_store_vector(double (*to)[DRAPE_I_LANES], int32_t corner, int32_t lane, vd3 a) {
    vd_store(&to[3 * corner + 0][lane], a.x);
    vd_store(&to[3 * corner + 1][lane], a.y);
    vd_store(&to[3 * corner + 2][lane], a.z);
}

/* A 3x3 matrix a lane, row by row. */
typedef struct vd33 {
    vd m[9];
} vd33;

DRAPE_INLINE vd33 vd33_zero(void) {
    vd33 r;
    for (int i = 0; i < 9; i++) r.m[i] = vd_set1(0);
    return r;
}
/* a b' */
DRAPE_INLINE vd33 vd33_outer(vd3 a, vd3 b) {
    return (vd33){
        {a.x * b.x, a.x * b.y, a.x * b.z, a.y * b.x, a.y * b.y, a.y * b.z, a.z * b.x, a.z * b.y, a.z * b.z}};
}
/* A + s a b' */
DRAPE_INLINE vd33 vd33_add_outer(vd33 A, vd s, vd3 a, vd3 b) {
    vd3 t = vd3_scale(s, a);
    A.m[0] += t.x * b.x, A.m[1] += t.x * b.y, A.m[2] += t.x * b.z;
    A.m[3] += t.y * b.x, A.m[4] += t.y * b.y, A.m[5] += t.y * b.z;
    A.m[6] += t.z * b.x, A.m[7] += t.z * b.y, A.m[8] += t.z * b.z;
    return A;
}
DRAPE_INLINE vd33 vd33_add_identity(vd33 A, vd s) {
    A.m[0] += s, A.m[4] += s, A.m[8] += s;
    return A;
}
DRAPE_INLINE vd33 vd33_transpose(vd33 A) {
    return (vd33){{A.m[0], A.m[3], A.m[6], A.m[1], A.m[4], A.m[7], A.m[2], A.m[5], A.m[8]}};
}
DRAPE_INLINE vd33 vd33_combine(vd s, vd33 A, vd t, vd33 B) {
    vd33 r;
    for (int i = 0; i < 9; i++) r.m[i] = s * A.m[i] + t * B.m[i];
    return r;
}
DRAPE_INLINE vd3 vd33_times(vd33 A, vd3 b) {
    return (vd3){A.m[0] * b.x + A.m[1] * b.y + A.m[2] * b.z, A.m[3] * b.x + A.m[4] * b.y + A.m[5] * b.z,
                 A.m[6] * b.x + A.m[7] * b.y + A.m[8] * b.z};
}
/* a where it is positive, share a where it is negative: an eigenvalue clamped, except for a share. */
DRAPE_INLINE vd vd_clamp(vd a, vd share) {
    const vd zero = vd_set1(0);
    return vd_max(a, zero) + share * vd_min(a, zero);
}
DRAPE_INLINE void lanes_store_block(double (*to)[DRAPE_I_LANES], int32_t pair, int32_t lane, vd33 A) {
    for (int i = 0; i < 9; i++) vd_store(&to[9 * pair + i][lane], A.m[i]);
}
DRAPE_INLINE vd33 lanes_load_block(const double (*from)[DRAPE_I_LANES], int32_t pair, int32_t lane) {
    vd33 A;
    for (int i = 0; i < 9; i++) A.m[i] = vd_load(&from[9 * pair + i][lane]);
    return A;
}

/* A symmetric element matrix, stored by its upper blocks, becomes unsymmetric: R is added to block (a, b) of `pair`,
 * and R_mirror to block (b, a). */
DRAPE_INLINE void lanes_add_unsymmetric(drape_i_batch *out, int32_t pair, int32_t lane, vd33 R, vd33 R_mirror) {
    vd33 upper = lanes_load_block(out->blocks, pair, lane), lower = vd33_transpose(upper);
    for (int i = 0; i < 9; i++) {
        upper.m[i] += R.m[i];
        lower.m[i] += R_mirror.m[i];
    }
    lanes_store_block(out->blocks, pair, lane, upper);
    lanes_store_block(out->lower, pair, lane, lower);
}

#endif
