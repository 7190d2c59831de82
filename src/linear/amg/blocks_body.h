/* blocks_body.h: kernels for blocks of R x C floats; included by blocks_simd.c once a size, without a guard.
 *
 * VR is a vector of at least R lanes, VC of at least C. Lanes beyond hold whatever follows a block in memory; they
 * are stored into the gaps of vectors (DRAPE_I_STRIDE) and never looked at. */
#define NAME_(a, r, c)  a##_##r##c
#define NAME__(a, r, c) NAME_(a, r, c)
#define NAME(a)         NAME__(a, R, C)

#if R == 3
#define VR       vf4
#define STRIDE_R 4
#else
#define VR       vf8
#define STRIDE_R 8
#endif
#if C == 3
#define VC       vf4
#define STRIDE_C 4
#else
#define VC       vf8
#define STRIDE_C 8
#endif

DRAPE_INLINE VR NAME(load_r)(const float *p) {
    VR v;
    memcpy(&v, p, sizeof v);
    return v;
}
DRAPE_INLINE VC NAME(load_c)(const float *p) {
    VC v;
    memcpy(&v, p, sizeof v);
    return v;
}

#if R == 3 && C == 3

/* Nine running sums, one for each number of a block, as in sparse/row_sum.h: eight lanes and one. */
typedef struct NAME(row_sum) {
    vf8 main;
    float last;
} NAME(row_sum);

/* sum += a x */
DRAPE_INLINE void NAME(accumulate)(NAME(row_sum) * sum, const float *a, const float *x) {
    vf8 numbers;
    vf4 v = NAME(load_r)(x);
    memcpy(&numbers, a, sizeof numbers);
    sum->main += numbers * VD_SHUFFLE(v, v, 0, 0, 0, 1, 1, 1, 2, 2);
    sum->last += a[8] * x[2];
}

DRAPE_INLINE VR NAME(total)(const NAME(row_sum) * sum) {
    vf4 x = VD_SHUFFLE(sum->main, sum->main, 0, 1, 2, 2), y = VD_SHUFFLE(sum->main, sum->main, 3, 4, 5, 5);
    vf4 z = VD_SHUFFLE(sum->main, sum->main, 6, 7, 7, 7);
    z[2] = sum->last;
    return (x + y) + z;
}

#else

typedef struct NAME(row_sum) {
    VR part[C];
} NAME(row_sum);

/* sum += a x, column by column of a */
DRAPE_INLINE void NAME(accumulate)(NAME(row_sum) * sum, const float *a, const float *x) {
    for (int c = 0; c < C; c++) sum->part[c] += NAME(load_r)(a + R * c) * x[c];
}

DRAPE_INLINE VR NAME(total)(const NAME(row_sum) * sum) {
    VR t = (sum->part[0] + sum->part[1]) + sum->part[2];
#if C == 6
    t += (sum->part[3] + sum->part[4]) + sum->part[5];
#endif
    return t;
}

#endif

DRAPE_INLINE NAME(row_sum) NAME(nothing)(void) {
    NAME(row_sum) sum;
    memset(&sum, 0, sizeof sum);
    return sum;
}

DRAPE_INLINE void NAME(store_r)(float *p, VR v) { memcpy(p, &v, sizeof v); }

#if R == C

/* sum += A_ij x_j over the blocks [first, last) */
DRAPE_INLINE void NAME(accumulate_range)(NAME(row_sum) * sum, const drape_i_level *l, int64_t first, int64_t last) {
    for (int64_t k = first; k < last; k++)
        NAME(accumulate)(sum, l->A.val + R * C * k, l->x + STRIDE_R * (int64_t)l->A.col[k]);
}

/* The same over those blocks of row i that are before it (or after it). Inside the band they stand in one piece;
 * columns outside, to its left and right, are asked for the colour of their band. */
DRAPE_INLINE void NAME(accumulate_side)(NAME(row_sum) * sum, const drape_i_gs_sweep *s, int32_t i, int after) {
    const drape_i_level *l = s->level;
    const int32_t *col = l->A.col;
    int64_t first = l->A.start[i], last = l->A.start[i + 1], middle = first + l->split[i], left = first, right = last;
    while (left < middle && col[left] < s->begin) left++;
    while (right > middle + 1 && col[right - 1] >= s->end) right--;
    for (int64_t k = first; k < left; k++)
        if ((l->bands.colour[col[k] / s->length] < s->mine) != after) NAME(accumulate_range)(sum, l, k, k + 1);
    if (after) NAME(accumulate_range)(sum, l, middle + 1, right);
    else NAME(accumulate_range)(sum, l, left, middle);
    for (int64_t k = right; k < last; k++)
        if ((l->bands.colour[col[k] / s->length] < s->mine) != after) NAME(accumulate_range)(sum, l, k, k + 1);
}

/* y += G v for a square block; v as numbers in memory. */
DRAPE_INLINE VR NAME(block_times)(const float *g, const float *v) {
    NAME(row_sum) sum = NAME(nothing)();
    NAME(accumulate)(&sum, g, v);
    return NAME(total)(&sum);
}

DRAPE_INLINE void NAME(gs_first)(const drape_i_gs_sweep *s) {
    const drape_i_level *l = s->level;
    for (int32_t i = s->begin; i < s->end; i++) {
        NAME(row_sum) sum = NAME(nothing)();
        float rest[DRAPE_I_PADDING];
        NAME(accumulate_side)(&sum, s, i, 0);
        VR v = NAME(load_r)(l->b + STRIDE_R * (int64_t)i) - NAME(total)(&sum);
        memcpy(rest, &v, sizeof v);
        NAME(store_r)(l->x + STRIDE_R * (int64_t)i, NAME(block_times)(l->inverse + (int64_t)R * C * i, rest));
    }
}

DRAPE_INLINE void NAME(gs_residual)(const drape_i_gs_sweep *s) {
    const drape_i_level *l = s->level;
    for (int32_t i = s->begin; i < s->end; i++) {
        NAME(row_sum) sum = NAME(nothing)();
        NAME(accumulate_side)(&sum, s, i, 1);
        NAME(store_r)(l->t + STRIDE_R * (int64_t)i, -NAME(total)(&sum));
    }
}

DRAPE_INLINE void NAME(gs_last)(const drape_i_gs_sweep *s) {
    const drape_i_level *l = s->level;
    for (int32_t i = s->end - 1; i >= s->begin; i--) {
        NAME(row_sum) sum = NAME(nothing)();
        float rest[DRAPE_I_PADDING];
        for (int64_t k = l->A.start[i + 1] - 1; k >= l->A.start[i]; k--) /* down, as memory is met */
            NAME(accumulate)(&sum, l->A.val + R * C * k, l->x + STRIDE_R * (int64_t)l->A.col[k]);
        VR v = NAME(load_r)(l->b + STRIDE_R * (int64_t)i) - NAME(total)(&sum);
        memcpy(rest, &v, sizeof v);
        VR now =
            NAME(load_r)(l->x + STRIDE_R * (int64_t)i) + NAME(block_times)(l->inverse + (int64_t)R * C * i, rest);
        NAME(store_r)(l->x + STRIDE_R * (int64_t)i, now);
    }
}

DRAPE_INLINE double NAME(finverse)(const drape_i_level *l, const float *w, float *q, int32_t begin, int32_t end) {
    double dot = 0;
    for (int32_t i = begin; i < end; i++) {
        VR v = NAME(block_times)(l->inverse + (int64_t)R * C * i, w + STRIDE_R * (int64_t)i);
        NAME(store_r)(q + STRIDE_R * (int64_t)i, v);
        for (int r = 0; r < R; r++) dot += (double)v[r] * w[STRIDE_R * (int64_t)i + r];
    }
    return dot;
}

DRAPE_INLINE void NAME(fmultiply)(const drape_i_fblocks *A, const float *x, float *y, int32_t begin, int32_t end) {
    for (int32_t i = begin; i < end; i++) {
        NAME(row_sum) sum = NAME(nothing)();
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++)
            NAME(accumulate)(&sum, A->val + R * C * k, x + STRIDE_R * (int64_t)A->col[k]);
        NAME(store_r)(y + STRIDE_R * (int64_t)i, NAME(total)(&sum));
    }
}

#endif

DRAPE_INLINE void NAME(prolong)(const drape_i_level *fine, const float *e, int32_t begin, int32_t end) {
    const drape_i_fblocks *P = &fine->P;
    for (int32_t i = begin; i < end; i++) {
        NAME(row_sum) sum = NAME(nothing)();
        for (int64_t k = P->start[i]; k < P->start[i + 1]; k++)
            NAME(accumulate)(&sum, P->val + R * C * k, e + STRIDE_C * (int64_t)P->col[k]);
        NAME(store_r)
        (fine->x + STRIDE_R * (int64_t)i, NAME(load_r)(fine->x + STRIDE_R * (int64_t)i) + NAME(total)(&sum));
    }
}

/* Rows of a block of P as vectors of C lanes. */
DRAPE_INLINE void NAME(transposed)(const float *p, VC out[R]) {
    for (int r = 0; r < R; r++) {
        float row[DRAPE_I_PADDING] = {0};
        for (int c = 0; c < C; c++) row[c] = p[R * c + r];
        out[r] = NAME(load_c)(row);
    }
}

#if R == 3 && C == 3

/* sum += a'x, the nine sums as above, and their total. */
DRAPE_INLINE void NAME(accumulate_transposed)(NAME(row_sum) * sum, const float *a, const float *x) {
    vf8 numbers;
    vf4 v = NAME(load_r)(x);
    memcpy(&numbers, a, sizeof numbers);
    sum->main += numbers * VD_SHUFFLE(v, v, 0, 1, 2, 0, 1, 2, 0, 1);
    sum->last += a[8] * x[2];
}

DRAPE_INLINE VC NAME(total_transposed)(const NAME(row_sum) * sum) {
    vf4 x = VD_SHUFFLE(sum->main, sum->main, 0, 3, 6, 6), y = VD_SHUFFLE(sum->main, sum->main, 1, 4, 7, 7);
    vf4 z = VD_SHUFFLE(sum->main, sum->main, 2, 5, 5, 5);
    z[2] = sum->last;
    return (x + y) + z;
}

DRAPE_INLINE void NAME(restrict_to)(const drape_i_level *fine, float *b, int32_t begin, int32_t end) {
    for (int32_t J = begin; J < end; J++) {
        NAME(row_sum) sum = NAME(nothing)();
        for (int64_t k = fine->back_start[J]; k < fine->back_start[J + 1]; k++) NAME(accumulate_transposed)
        (&sum, fine->P.val + R * C * (int64_t)fine->back_block[k], fine->t + STRIDE_R * (int64_t)fine->back_row[k]);
        VC total = NAME(total_transposed)(&sum);
        memcpy(b + STRIDE_C * (int64_t)J, &total, sizeof total);
    }
}

#else

DRAPE_INLINE void NAME(restrict_to)(const drape_i_level *fine, float *b, int32_t begin, int32_t end) {
    for (int32_t J = begin; J < end; J++) {
        VC sum;
        memset(&sum, 0, sizeof sum);
        for (int64_t k = fine->back_start[J]; k < fine->back_start[J + 1]; k++) {
            const float *t = fine->t + STRIDE_R * (int64_t)fine->back_row[k];
            VC rows[R];
            NAME(transposed)(fine->P.val + R * C * (int64_t)fine->back_block[k], rows);
            for (int r = 0; r < R; r++) sum += rows[r] * t[r];
        }
        memcpy(b + STRIDE_C * (int64_t)J, &sum, sizeof sum);
    }
}

#endif

/* to (r x c, columns padded) += a q */
DRAPE_INLINE void NAME(add_product)(const float *a, const float *q, float *to) {
    VR column[R];
    for (int r = 0; r < R; r++) column[r] = NAME(load_r)(a + R * r);
    for (int c = 0; c < C; c++) {
        VR sum = NAME(load_r)(to + DRAPE_I_PADDING * c);
        for (int r = 0; r < R; r++) sum += column[r] * q[R * c + r];
        memcpy(to + DRAPE_I_PADDING * c, &sum, sizeof sum);
    }
}

DRAPE_INLINE int NAME(find)(const int32_t *col, int count, int32_t wanted) {
    int at = 0;
    while (at < count && col[at] != wanted) at++;
    return at;
}

DRAPE_INLINE void NAME(smooth_row)(const drape_i_smoothing *s, int32_t i) {
    const drape_i_level *l = s->level;
    const drape_i_fblocks *A = &l->A, *P = &l->P;
    const int32_t *col = P->col + P->start[i];
    const int count = (int)(P->start[i + 1] - P->start[i]), own = NAME(find)(col, count, l->aggregate[i]);
    enum { SIZE = DRAPE_I_PADDING * C };
    float sums[DRAPE_I_REACH * SIZE], lumped[R * R + DRAPE_I_PADDING] = {0};
    memset(sums, 0, (size_t)count * SIZE * sizeof *sums);
    for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) {
        int32_t j = A->col[k], other = l->aggregate[j];
        if (other < 0) continue; /* special nodes have nothing to give */
        int at = l->strong[k] ? NAME(find)(col, count, other) : count;
        if (at < count) NAME(add_product)(A->val + R * R * k, s->tentative + (int64_t)R * C * j, sums + SIZE * at);
        else
            for (int m = 0; m < R * R; m++) lumped[m] += A->val[R * R * k + m];
    }
    const float *Q = s->tentative + (int64_t)R * C * i;
    NAME(add_product)(lumped, Q, sums + SIZE * own);
    for (int b = 0; b < count; b++) {
        float *to = P->val + R * C * (P->start[i] + b), out[SIZE] = {0}, packed[R * C];
        for (int c = 0; c < C; c++) memcpy(packed + R * c, sums + SIZE * b + DRAPE_I_PADDING * c, R * sizeof *packed);
        NAME(add_product)(l->inverse + (int64_t)R * R * i, packed, out);
        for (int c = 0; c < C; c++)
            for (int r = 0; r < R; r++)
                to[R * c + r] = (b == own ? Q[R * c + r] : 0) - s->omega * out[DRAPE_I_PADDING * c + r];
    }
}

DRAPE_INLINE void NAME(smooth_rows)(const drape_i_smoothing *s, int32_t begin, int32_t end) {
    for (int32_t i = begin; i < end; i++)
        if (s->level->P.start[i] < s->level->P.start[i + 1]) NAME(smooth_row)(s, i);
}

#if R == 3 && C == 3

/* A block in nine lanes, eight and one. */
typedef struct NAME(nine) {
    vf8 main;
    float last;
} NAME(nine);

DRAPE_INLINE NAME(nine) NAME(nine_load)(const float *p) {
    NAME(nine) v;
    memcpy(&v.main, p, sizeof v.main);
    v.last = p[8];
    return v;
}
DRAPE_INLINE void NAME(nine_store)(float *p, NAME(nine) v) {
    memcpy(p, &v.main, sizeof v.main);
    p[8] = v.last;
}

/* Three blocks whose columns are all the k-th column of a (k = 0, 1, 2). */
DRAPE_INLINE void NAME(spread_columns)(NAME(nine) a, NAME(nine) out[3]) {
    vf8 z = a.last - (vf8){0};
    out[0] = (NAME(nine)){VD_SHUFFLE(a.main, a.main, 0, 1, 2, 0, 1, 2, 0, 1), a.main[2]};
    out[1] = (NAME(nine)){VD_SHUFFLE(a.main, a.main, 3, 4, 5, 3, 4, 5, 3, 4), a.main[5]};
    out[2] = (NAME(nine)){VD_SHUFFLE(a.main, z, 6, 7, 8, 6, 7, 8, 6, 7), a.last};
}
/* The same of a transposed: its rows. */
DRAPE_INLINE void NAME(spread_transposed)(NAME(nine) a, NAME(nine) out[3]) {
    vf8 z = a.last - (vf8){0};
    out[0] = (NAME(nine)){VD_SHUFFLE(a.main, a.main, 0, 3, 6, 0, 3, 6, 0, 3), a.main[6]};
    out[1] = (NAME(nine)){VD_SHUFFLE(a.main, a.main, 1, 4, 7, 1, 4, 7, 1, 4), a.main[7]};
    out[2] = (NAME(nine)){VD_SHUFFLE(a.main, z, 2, 5, 8, 2, 5, 8, 2, 5), a.last};
}
/* to += a b, a spread by columns */
DRAPE_INLINE void NAME(nine_product)(float *to, const NAME(nine) a[3], const float *b) {
    NAME(nine) sum = NAME(nine_load)(to);
    vf8 low, high; /* b_0 .. b_7 and b_1 .. b_8 */
    memcpy(&low, b, sizeof low);
    memcpy(&high, b + 1, sizeof high);
    sum.main += a[0].main * VD_SHUFFLE(low, low, 0, 0, 0, 3, 3, 3, 6, 6);
    sum.main += a[1].main * VD_SHUFFLE(low, low, 1, 1, 1, 4, 4, 4, 7, 7);
    sum.main += a[2].main * VD_SHUFFLE(high, high, 1, 1, 1, 4, 4, 4, 7, 7);
    sum.last += a[0].last * b[6];
    sum.last += a[1].last * b[7];
    sum.last += a[2].last * b[8];
    NAME(nine_store)(to, sum);
}

DRAPE_INLINE void NAME(product_make)(const drape_i_level *fine, int32_t i, drape_i_product_row *row) {
    const drape_i_fblocks *A = &fine->A, *P = &fine->P;
    row->count = 0;
    for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) {
        NAME(nine) a[3];
        int32_t j = A->col[k];
        NAME(spread_columns)(NAME(nine_load)(A->val + 9 * k), a);
        for (int64_t q = P->start[j]; q < P->start[j + 1]; q++) {
            int at = NAME(find)(row->col, row->count, P->col[q]);
            float *to = row->val + DRAPE_I_PADDING * C * at;
            if (at == row->count) {
                row->col[row->count++] = P->col[q];
                memset(to, 0, 9 * sizeof *to);
            }
            NAME(nine_product)(to, a, P->val + 9 * q);
        }
    }
}

DRAPE_INLINE void NAME(product_add)(const drape_i_level *fine, int32_t i, const drape_i_product_row *row,
                                    drape_i_fblocks *coarse) {
    const drape_i_fblocks *P = &fine->P;
    for (int64_t q = P->start[i]; q < P->start[i + 1]; q++) {
        NAME(nine) p[3];
        const int64_t first = coarse->start[P->col[q]];
        NAME(spread_transposed)(NAME(nine_load)(P->val + 9 * q), p);
        for (int32_t b = 0; b < row->count; b++) {
            int64_t at = first;
            while (coarse->col[at] != row->col[b]) at++;
            NAME(nine_product)(coarse->val + 9 * at, p, row->val + DRAPE_I_PADDING * C * b);
        }
    }
}

#else

DRAPE_INLINE void NAME(product_make)(const drape_i_level *fine, int32_t i, drape_i_product_row *row) {
    const drape_i_fblocks *A = &fine->A, *P = &fine->P;
    row->count = 0;
    for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) {
        int32_t j = A->col[k];
        for (int64_t q = P->start[j]; q < P->start[j + 1]; q++) {
            int at = NAME(find)(row->col, row->count, P->col[q]);
            float *to = row->val + DRAPE_I_PADDING * C * at;
            if (at == row->count) {
                row->col[row->count++] = P->col[q];
                memset(to, 0, DRAPE_I_PADDING * C * sizeof *to);
            }
            NAME(add_product)(A->val + R * R * k, P->val + R * C * q, to);
        }
    }
}

DRAPE_INLINE void NAME(product_add)(const drape_i_level *fine, int32_t i, const drape_i_product_row *row,
                                    drape_i_fblocks *coarse) {
    const drape_i_fblocks *P = &fine->P;
    for (int64_t q = P->start[i]; q < P->start[i + 1]; q++) {
        VC rows[R];
        int32_t J = P->col[q];
        NAME(transposed)(P->val + R * C * q, rows);
        for (int32_t b = 0; b < row->count; b++) {
            int64_t at = coarse->start[J];
            while (coarse->col[at] != row->col[b]) at++;
            float *to = coarse->val + C * C * at;
            const float *t = row->val + DRAPE_I_PADDING * C * b;
            for (int c = 0; c < C; c++) {
                VC sum;
                memset(&sum, 0, sizeof sum);
                memcpy(&sum, to + C * c, C * sizeof *to);
                for (int r = 0; r < R; r++) sum += rows[r] * t[DRAPE_I_PADDING * c + r];
                memcpy(to + C * c, &sum, C * sizeof *to);
            }
        }
    }
}

#endif

#undef STRIDE_R
#undef STRIDE_C
#undef VR
#undef VC
#undef NAME
#undef NAME_
#undef NAME__
