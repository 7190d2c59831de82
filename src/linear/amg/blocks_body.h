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
#elif R == 6
#define VR       vf8
#define STRIDE_R 8
#else
#define VR       vf16
#define STRIDE_R 16
#endif
#if C == 3
#define VC       vf4
#define STRIDE_C 4
#elif C == 6
#define VC       vf8
#define STRIDE_C 8
#else
#define VC       vf16
#define STRIDE_C 16
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
DRAPE_INLINE void NAME(store_r)(float *p, VR v) { memcpy(p, &v, sizeof v); }

/* ---- Running sums of a x, a of R x C ---- */

/* Lane c of part[r] is the sum of a_rc x_c. */
typedef struct NAME(row_sum) {
    VC part[R];
} NAME(row_sum);

/* sum += a x */
DRAPE_INLINE void NAME(accumulate)(NAME(row_sum) * sum, const float *a, const float *x) {
    VC v = NAME(load_c)(x);
    for (int r = 0; r < R; r++) sum->part[r] += NAME(load_c)(a + C * r) * v;
}

#if R == 3 && C == 3

/* By turning rows into columns. */
DRAPE_INLINE VR NAME(total)(const NAME(row_sum) * sum) {
    vf4 a = sum->part[0], b = sum->part[1], c = sum->part[2];
    vf4 low = VD_SHUFFLE(a, b, 0, 4, 1, 5), high = VD_SHUFFLE(a, b, 2, 6, 3, 7);
    return (VD_SHUFFLE(low, c, 0, 1, 4, 4) + VD_SHUFFLE(low, c, 2, 3, 5, 5)) + VD_SHUFFLE(high, c, 0, 1, 6, 6);
}

#else

DRAPE_INLINE VR NAME(total)(const NAME(row_sum) * sum) {
    VR t;
    memset(&t, 0, sizeof t);
    for (int r = 0; r < R; r++) {
        VC p = sum->part[r];
#if C == 3
        t[r] = (p[0] + p[1]) + p[2];
#elif C == 6
        t[r] = ((p[0] + p[1]) + p[2]) + ((p[3] + p[4]) + p[5]);
#else
        t[r] =
            (((p[0] + p[1]) + p[2]) + ((p[3] + p[4]) + p[5])) + (((p[6] + p[7]) + p[8]) + ((p[9] + p[10]) + p[11]));
#endif
    }
    return t;
}

#endif

DRAPE_INLINE NAME(row_sum) NAME(nothing)(void) {
    NAME(row_sum) sum;
    memset(&sum, 0, sizeof sum);
    return sum;
}

/* a'x, row by row of a */
DRAPE_INLINE VC NAME(transposed_times)(const float *a, const float *x) {
    VC sum = (NAME(load_c)(a) * x[0] + NAME(load_c)(a + C) * x[1]) + NAME(load_c)(a + 2 * C) * x[2];
#if R > 3
    for (int r = 3; r < R; r += 3)
        sum += (NAME(load_c)(a + r * C) * x[r] + NAME(load_c)(a + (r + 1) * C) * x[r + 1]) +
               NAME(load_c)(a + (r + 2) * C) * x[r + 2];
#endif
    return sum;
}

/* The same with x in a register */
DRAPE_INLINE VC NAME(transposed_by)(const float *a, VR x) {
    VC sum = (NAME(load_c)(a) * x[0] + NAME(load_c)(a + C) * x[1]) + NAME(load_c)(a + 2 * C) * x[2];
#if R > 3
    for (int r = 3; r < R; r += 3)
        sum += (NAME(load_c)(a + r * C) * x[r] + NAME(load_c)(a + (r + 1) * C) * x[r + 1]) +
               NAME(load_c)(a + (r + 2) * C) * x[r + 2];
#endif
    return sum;
}

/* ---- Sweeps ---- */

#if R == C

/* y_j -= U_ij' x_i over the inner blocks of row i, x_i in `mine` */
DRAPE_INLINE void NAME(scatter)(const upper_view *A, int32_t i, VR mine, float *y) {
    const int64_t first = A->start[i], last = first + A->inner[i];
    for (int64_t k = first; k < last; k++) {
        float *to = y + STRIDE_R * (int64_t)A->col[k];
        NAME(store_r)(to, NAME(load_r)(to) - NAME(transposed_by)(A->val + R * C * k, mine));
    }
}

/* Sum of U_ij x_j over the inner blocks of row i */
DRAPE_INLINE VR NAME(gather)(const upper_view *A, int32_t i, const float *x) {
    NAME(row_sum) sum = NAME(nothing)();
    const int64_t first = A->start[i], last = first + A->inner[i];
    for (int64_t k = first; k < last; k++)
        NAME(accumulate)(&sum, A->val + R * C * k, x + STRIDE_R * (int64_t)A->col[k]);
    return NAME(total)(&sum);
}

/* The same, the nearest at last: in a descending sweep that is what the row waits for. */
DRAPE_INLINE VR NAME(gather_descending)(const upper_view *A, int32_t i, const float *x) {
    NAME(row_sum) sum = NAME(nothing)();
    const int64_t first = A->start[i], last = first + A->inner[i];
    for (int64_t k = last - 1; k >= first; k--)
        NAME(accumulate)(&sum, A->val + R * C * k, x + STRIDE_R * (int64_t)A->col[k]);
    return NAME(total)(&sum);
}

/* Asks for the blocks AHEAD bytes from those of row i, as many as a row of a sheet has: while rows are computed
 * hardware does not look that far. Blocks of 6x6 gain nothing by it. */
DRAPE_INLINE void NAME(ask_ahead)(const upper_view *A, int32_t i, bool upwards) {
#if R == 3
    enum { LINES = (SHEET_BLOCKS * 9 * 4 + 63) / 64 };
    uintptr_t row = (uintptr_t)(A->val + 9 * A->start[i]);
    row = upwards ? row + AHEAD : row - AHEAD;
    for (int k = 0; k < LINES; k++) DRAPE_PREFETCH((const void *)(row + 64 * (uintptr_t)k));
#else
    (void)A, (void)i, (void)upwards;
#endif
}

/* Sum of A_ij x_j over the blocks of border n that lie in other bands, those whose colors are in [low, high) */
DRAPE_INLINE VR NAME(across)(const drape_i_upper *A, int32_t n, const float *x, int32_t low, int32_t high) {
    const drape_i_bands *b = &A->bands;
    const int32_t i = A->border[n];
    NAME(row_sum) sum = NAME(nothing)();
    VR lower;
    memset(&lower, 0, sizeof lower);
    for (int64_t m = A->lower_start[n]; m < A->lower_start[n + 1]; m++) {
        int32_t j = A->lower_col[m], colour = b->colour[j / b->length];
        if (colour >= low && colour < high)
            lower += NAME(transposed_times)(A->val + R * C * A->lower_block[m], x + STRIDE_R * (int64_t)j);
    }
    for (int64_t k = A->start[i] + A->inner[i]; k < A->start[i + 1]; k++) {
        int32_t j = A->col[k], colour = b->colour[j / b->length];
        if (colour >= low && colour < high) NAME(accumulate)(&sum, A->val + R * C * k, x + STRIDE_R * (int64_t)j);
    }
    return lower + NAME(total)(&sum);
}

/* v_i -= what `across` gives, for the borders of a band */
DRAPE_INLINE void NAME(subtract_across)(const drape_i_upper *A, int32_t band, const float *x, float *v, int32_t low,
                                        int32_t high) {
    if (low >= high || low >= A->bands.colours) return;
    for (int32_t n = A->border_first[band]; n < A->border_first[band + 1]; n++) {
        float *to = v + STRIDE_R * (int64_t)A->border[n];
        NAME(store_r)(to, NAME(load_r)(to) - NAME(across)(A, n, x, low, high));
    }
}

DRAPE_INLINE void NAME(copy_band)(const drape_i_upper *A, int32_t band, const float *from, float *to) {
    const int64_t begin = A->bands.first[band], end = A->bands.first[band + 1];
    memcpy(to + STRIDE_R * begin, from + STRIDE_R * begin, (size_t)(STRIDE_R * (end - begin)) * sizeof *to);
}

/* x_i, or (I + D_i)^-1 x_i for a row with couplings */
DRAPE_INLINE VR NAME(divide)(const drape_i_terms *t, int32_t i, VR mine) {
    const int32_t v = t->index[i];
    return v < 0 ? mine : NAME(transposed_by)(t->G + R * R * (int64_t)v, mine);
}

/* From x = 0, rows in descending order: x_i = b_i - sum over j > i of U_ij x_j. What is left then, -L x, comes along
 * from the same blocks. `coupled` is known where this is compiled. */
DRAPE_INLINE void NAME(gs_first)(const drape_i_level *l, int32_t band, bool coupled) {
    const upper_view A = view_upper(&l->A);
    const int32_t begin = l->A.bands.first[band], end = l->A.bands.first[band + 1];
    const int32_t colour = l->A.bands.colour[band], border_begin = l->A.border_first[band];
    int32_t border = l->A.border_first[band + 1] - 1;
    const float *const b = l->b;
    float *const x = l->x, *const t = l->t;
    for (int32_t i = end - 1; i >= begin; i--) {
        VR mine = NAME(load_r)(b + STRIDE_R * (int64_t)i) - NAME(gather_descending)(&A, i, x);
        if (border >= border_begin && l->A.border[border] == i) mine -= NAME(across)(&l->A, border--, x, 0, colour);
        if (coupled) mine = NAME(divide)(&l->terms, i, mine);
        NAME(store_r)(x + STRIDE_R * (int64_t)i, mine);
        memset(t + STRIDE_R * (int64_t)i, 0, STRIDE_R * sizeof *t);
        NAME(ask_ahead)(&A, i, false);
        NAME(scatter)(&A, i, mine, t);
    }
}

DRAPE_INLINE void NAME(gs_border)(const drape_i_level *l, int32_t band) {
    NAME(subtract_across)(&l->A, band, l->x, l->t, l->A.bands.colour[band] + 1, DRAPE_I_BANDS);
}

/* The transpose: rows in ascending order, x_i = b_i - L x - U x with the x of the moment. L x was put into t by the
 * rows above. */
DRAPE_INLINE void NAME(gs_last)(const drape_i_level *l, int32_t band, bool coupled) {
    const upper_view A = view_upper(&l->A);
    const int32_t begin = l->A.bands.first[band], end = l->A.bands.first[band + 1];
    float *const x = l->x, *const t = l->t;
    NAME(copy_band)(&l->A, band, l->b, t);
    NAME(subtract_across)(&l->A, band, x, t, 0, DRAPE_I_BANDS);
    for (int32_t i = begin; i < end; i++) {
        VR mine = NAME(load_r)(t + STRIDE_R * (int64_t)i) - NAME(gather)(&A, i, x);
        if (coupled) mine = NAME(divide)(&l->terms, i, mine);
        NAME(store_r)(x + STRIDE_R * (int64_t)i, mine);
        NAME(ask_ahead)(&A, i, true);
        NAME(scatter)(&A, i, mine, t);
    }
}

/* -y first: subtracting is what the parts do. */
DRAPE_INLINE void NAME(fmultiply)(const drape_i_upper *whole, const float *x, float *y, int32_t band) {
    const upper_view A = view_upper(whole);
    const int32_t begin = whole->bands.first[band], end = whole->bands.first[band + 1];
    for (int64_t i = STRIDE_R * (int64_t)begin; i < STRIDE_R * (int64_t)end; i++) y[i] = -x[i];
    NAME(subtract_across)(whole, band, x, y, 0, DRAPE_I_BANDS);
    for (int32_t i = begin; i < end; i++) {
        float *to = y + STRIDE_R * (int64_t)i;
        NAME(scatter)(&A, i, NAME(load_r)(x + STRIDE_R * (int64_t)i), y);
        NAME(store_r)(to, NAME(gather)(&A, i, x) - NAME(load_r)(to));
    }
}

#endif

/* ---- Between levels ---- */

DRAPE_INLINE void NAME(prolong)(const drape_i_level *fine, const float *e, int32_t begin, int32_t end) {
    const drape_i_fblocks P = fine->P;
    float *const all = fine->x;
    for (int32_t i = begin; i < end; i++) {
        float *x = all + STRIDE_R * (int64_t)i;
        NAME(row_sum) sum = NAME(nothing)();
        for (int64_t k = P.start[i]; k < P.start[i + 1]; k++)
            NAME(accumulate)(&sum, P.val + R * C * k, e + STRIDE_C * (int64_t)P.col[k]);
        NAME(store_r)(x, NAME(load_r)(x) + NAME(total)(&sum));
    }
}

/* Row by row, as P is in memory: b is small, and what is added to it comes by again soon. */
DRAPE_INLINE void NAME(restrict_to)(const drape_i_level *fine, float *b, int32_t band) {
    const drape_i_fblocks P = fine->P;
    const float *const t = fine->t;
    for (int32_t i = fine->A.bands.first[band]; i < fine->A.bands.first[band + 1]; i++)
        for (int64_t k = P.start[i]; k < P.start[i + 1]; k++) {
            float *to = b + STRIDE_C * (int64_t)P.col[k];
            VC sum = NAME(load_c)(to) + NAME(transposed_times)(P.val + R * C * k, t + STRIDE_R * (int64_t)i);
            memcpy(to, &sum, sizeof sum);
        }
}

/* ---- Products of blocks: to (rows C numbers apart, or PITCH) += a b or a' b ---- */

#if R == 3 && C == 3

/* A factor made ready: for each of three products a lane for each number of the result, eight and one. */
typedef struct NAME(factor) {
    vf8 main[3];
    float last[3];
} NAME(factor);

/* Nine numbers in registers: eight and one. */
typedef struct NAME(nine) {
    vf8 main;
    float last;
} NAME(nine);

DRAPE_INLINE NAME(nine) NAME(load_nine)(const float *p) {
    NAME(nine) v;
    memcpy(&v.main, p, sizeof v.main);
    v.last = p[8];
    return v;
}

/* Of the left factor a: number (r, c) of the k-th product takes a_rk */
DRAPE_INLINE NAME(factor) NAME(left_of)(NAME(nine) a) {
    vf8 z = a.last - (vf8){0};
    return (NAME(factor)){{VD_SHUFFLE(a.main, a.main, 0, 0, 0, 3, 3, 3, 6, 6),
                           VD_SHUFFLE(a.main, a.main, 1, 1, 1, 4, 4, 4, 7, 7),
                           VD_SHUFFLE(a.main, z, 2, 2, 2, 5, 5, 5, 8, 8)},
                          {a.main[6], a.main[7], a.last}};
}
DRAPE_INLINE NAME(factor) NAME(left)(const float *p) { return NAME(left_of)(NAME(load_nine)(p)); }

/* a_kr, for a' */
DRAPE_INLINE NAME(factor) NAME(left_transposed)(const float *p) {
    NAME(nine) a = NAME(load_nine)(p);
    vf8 z = a.last - (vf8){0};
    return (NAME(factor)){{VD_SHUFFLE(a.main, a.main, 0, 0, 0, 1, 1, 1, 2, 2),
                           VD_SHUFFLE(a.main, a.main, 3, 3, 3, 4, 4, 4, 5, 5),
                           VD_SHUFFLE(a.main, z, 6, 6, 6, 7, 7, 7, 8, 8)},
                          {p[2], p[5], a.last}};
}

/* Of the right factor b: b_kc */
DRAPE_INLINE NAME(factor) NAME(right_of)(NAME(nine) b) {
    vf8 z = b.last - (vf8){0};
    return (NAME(factor)){{VD_SHUFFLE(b.main, b.main, 0, 1, 2, 0, 1, 2, 0, 1),
                           VD_SHUFFLE(b.main, b.main, 3, 4, 5, 3, 4, 5, 3, 4),
                           VD_SHUFFLE(b.main, z, 6, 7, 8, 6, 7, 8, 6, 7)},
                          {b.main[2], b.main[5], b.last}};
}
/* The same from memory that was written long ago: the last lanes come by a load of their own. */
DRAPE_INLINE NAME(factor) NAME(right)(const float *p) {
    vf8 low, high;
    memcpy(&low, p, sizeof low);
    memcpy(&high, p + 1, sizeof high);
    return (NAME(factor)){{VD_SHUFFLE(low, low, 0, 1, 2, 0, 1, 2, 0, 1), VD_SHUFFLE(low, low, 3, 4, 5, 3, 4, 5, 3, 4),
                           VD_SHUFFLE(high, high, 5, 6, 7, 5, 6, 7, 5, 6)},
                          {p[2], p[5], p[8]}};
}

DRAPE_INLINE NAME(nine) NAME(plus_product)(NAME(nine) sum, const NAME(factor) * a, const NAME(factor) * b) {
    for (int k = 0; k < 3; k++) {
        sum.main += a->main[k] * b->main[k];
        sum.last += a->last[k] * b->last[k];
    }
    return sum;
}

DRAPE_INLINE void NAME(store_nine)(float *to, NAME(nine) v) {
    memcpy(to, &v.main, sizeof v.main);
    to[8] = v.last;
}

DRAPE_INLINE void NAME(add_factors)(float *to, const NAME(factor) * a, const NAME(factor) * b) {
    NAME(store_nine)(to, NAME(plus_product)(NAME(load_nine)(to), a, b));
}

enum { NAME(PITCH) = 3, NAME(BLOCK) = 12 }; /* of a row and a block of a product row */

#else

/* Numbers of a factor are taken one at a time, rows of the other whole. */
typedef const float *NAME(factor);
enum { NAME(PITCH) = STRIDE_C, NAME(BLOCK) = STRIDE_C * R };

#if C == 6

/* to += sum, the C numbers of a row that others follow: 16 and 8 bytes, which is how they are loaded next time too.
 */
DRAPE_INLINE void NAME(add_row)(float *to, VC sum) {
    vf4 low;
    float high[2];
    memcpy(&low, to, sizeof low);
    memcpy(high, to + 4, sizeof high);
    low += VD_SHUFFLE(sum, sum, 0, 1, 2, 3);
    high[0] += sum[4];
    high[1] += sum[5];
    memcpy(to, &low, sizeof low);
    memcpy(to + 4, high, sizeof high);
}

#else

DRAPE_INLINE void NAME(add_row)(float *to, VC sum) {
    vf4 parts[4]; /* the last one is what follows in memory */
    memcpy(parts, &sum, sizeof parts);
    for (int k = 0; k < C / 4; k++) {
        vf4 part;
        memcpy(&part, to + 4 * k, sizeof part);
        part += parts[k];
        memcpy(to + 4 * k, &part, sizeof part);
    }
}

#endif

/* Row r of a b, where number (r, k) of a is at a[r * across + k * down] and b has `inner` rows `step` apart */
DRAPE_INLINE VC NAME(product_row)(int r, int inner, const float *a, int across, int down, const float *b, int step) {
    VC sum = NAME(load_c)(b) * a[r * across];
    for (int k = 1; k < inner; k++) sum += NAME(load_c)(b + step * k) * a[r * across + k * down];
    return sum;
}

/* to (`rows` of them, C apart) += a b */
DRAPE_INLINE void NAME(add_general)(float *to, int rows, int inner, const float *a, int across, int down,
                                    const float *b, int step) {
    for (int r = 0; r < rows; r++) NAME(add_row)(to + C * r, NAME(product_row)(r, inner, a, across, down, b, step));
}

#endif

/* ---- The values of P ---- */

/* to += a q, or a' q: a of R x R, q and to of R x C */
DRAPE_INLINE void NAME(add_smooth)(float *to, const float *a, const float *q, int transposed) {
#if R == 3 && C == 3
    NAME(factor) left = transposed ? NAME(left_transposed)(a) : NAME(left)(a), right = NAME(right)(q);
    NAME(add_factors)(to, &left, &right);
#else
    NAME(add_general)(to, R, R, a, transposed ? 1 : R, transposed ? R : 1, q, C);
#endif
}

/* What row j is to aggregate I: Q_j R_J R_I^-1; J: its own. `out` holds R C numbers and DRAPE_I_PADDING. Those after
 * the block are multiplied too, in lanes that nobody reads, so they are set to zero. What else the stack holds there
 * is often denormal, as the upper half of an address is, and arithmetic on denormals takes some hundred cycles. */
DRAPE_INLINE void NAME(foreign)(const drape_i_tentative_parts *t, int32_t j, int32_t J, int32_t I, float *out) {
    const float *Q = t->Q + (int64_t)R * C * j, *RJ = t->coarse + (int64_t)C * C * J,
                *inverse = t->inverse + (int64_t)C * C * I;
#if R == 3 && C == 3
    const NAME(nine) zero = {(vf8){0}, 0};
    NAME(factor) left = NAME(left)(Q), right = NAME(right)(RJ);
    left = NAME(left_of)(NAME(plus_product)(zero, &left, &right));
    right = NAME(right)(inverse);
    NAME(store_nine)(out, NAME(plus_product)(zero, &left, &right));
#else
    float K[R * C] = {0};
    memset(out, 0, (R * C + DRAPE_I_PADDING) * sizeof *out);
    NAME(add_general)(K, R, C, Q, C, 1, RJ, C);
    NAME(add_general)(out, R, C, K, C, 1, inverse, C);
#endif
}

/* Block of A, connecting row i with row j, into P_i: `slot` says where */
DRAPE_INLINE void NAME(smooth_one)(const drape_i_fblocks *P, const drape_i_tentative_parts *t,
                                   const int32_t *aggregate, int32_t i, int32_t j, const float *a, int transposed,
                                   uint8_t slot) {
    float weak[R * C + DRAPE_I_PADDING];
    const float *q = t->Q + (int64_t)R * C * j;
    if (slot == DRAPE_I_NO_SLOT) return;
    if (slot & DRAPE_I_WEAK) {
        NAME(foreign)(t, j, aggregate[j], aggregate[i], weak);
        q = weak;
    }
    NAME(add_smooth)(P->val + R * C * (P->start[i] + (slot & (DRAPE_I_WEAK - 1))), a, q, transposed);
}

/* P_i holds (U + U')_F Q so far: P_i = (own) Q_i - omega (P_i + (own) Q_i) */
DRAPE_INLINE void NAME(finish_row)(const drape_i_fblocks *P, const float *Q, int32_t i, int32_t aggregate,
                                   float omega) {
    for (int64_t k = P->start[i]; k < P->start[i + 1]; k++) {
        float *to = P->val + R * C * k;
        float own = P->col[k] == aggregate ? 1 : 0;
        for (int m = 0; m < R * C; m++) {
            float q = own * Q[(int64_t)R * C * i + m];
            to[m] = q - omega * (to[m] + q);
        }
    }
}

/* What blocks of other bands give to the borders of a band. */
DRAPE_INLINE void NAME(smooth_borders)(const drape_i_smoothing *s, int32_t band) {
    const drape_i_level *l = s->level;
    const drape_i_upper *A = &l->A;
    for (int32_t n = A->border_first[band]; n < A->border_first[band + 1]; n++)
        for (int64_t m = A->lower_start[n]; m < A->lower_start[n + 1]; m++) {
            const float *a = A->val + R * R * A->lower_block[m];
            NAME(smooth_one)
            (&l->P, &s->parts, l->aggregate, A->border[n], A->lower_col[m], a, 1, l->low_slot[m]);
        }
}

DRAPE_INLINE void NAME(smooth_band)(const drape_i_smoothing *s, int32_t band) {
    const drape_i_level *l = s->level;
    const upper_view A = view_upper(&l->A);
    const drape_i_fblocks P = l->P;
    const drape_i_tentative_parts t = s->parts;
    const float omega = s->omega;
    const uint8_t *const row_slot = l->row_slot, *const col_slot = l->col_slot;
    const int32_t begin = l->A.bands.first[band], end = l->A.bands.first[band + 1], *aggregate = l->aggregate;
    memset(P.val + R * C * P.start[begin], 0, (size_t)(R * C * (P.start[end] - P.start[begin])) * sizeof *P.val);
    NAME(smooth_borders)(s, band);
    for (int32_t i = begin; i < end; i++) {
        const int64_t first = A.start[i], inner = first + A.inner[i];
        for (int64_t k = first; k < A.start[i + 1]; k++) {
            const float *a = A.val + R * R * k;
            NAME(smooth_one)(&P, &t, aggregate, i, A.col[k], a, 0, row_slot[k]);
            if (k < inner) NAME(smooth_one)(&P, &t, aggregate, A.col[k], i, a, 1, col_slot[k]);
        }
        NAME(finish_row)(&P, t.Q, i, aggregate[i], omega);
    }
}

/* ---- P'A P ---- */

/* Columns and blocks of a row of the product while it is made. */
typedef struct NAME(product) {
    int32_t count;
    int32_t *col;
    float *val;
} NAME(product);

/* row = row i of (I/2 + U) P; returns where the recipe goes on */
DRAPE_INLINE const uint8_t *NAME(make_row)(const upper_view *A, const drape_i_fblocks *P, int32_t i,
                                           const uint8_t *recipe, NAME(product) * row) {
    row->count = next_place(&recipe);
    memset(row->val, 0, (size_t)row->count * NAME(BLOCK) * sizeof *row->val);
    for (int64_t q = P->start[i]; q < P->start[i + 1]; q++) {
        int32_t at = next_place(&recipe);
        row->col[at] = P->col[q];
        float *to = row->val + NAME(BLOCK) * at;
        const float *p = P->val + R * C * q;
        for (int r = 0; r < R; r++)
            for (int c = 0; c < C; c++) to[NAME(PITCH) * r + c] = 0.5f * p[C * r + c];
    }
    for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) {
        int32_t j = A->col[k];
        const float *a = A->val + R * R * k;
#if R == 3 && C == 3
        NAME(factor) left = NAME(left)(a);
#endif
        for (int64_t q = P->start[j]; q < P->start[j + 1]; q++) {
            int32_t at = next_place(&recipe);
            row->col[at] = P->col[q];
            float *to = row->val + NAME(BLOCK) * at;
            const float *p = P->val + R * C * q;
#if R == 3 && C == 3
            NAME(factor) right = NAME(right)(p);
            NAME(add_factors)(to, &left, &right);
#else
            for (int r = 0; r < R; r++) {
                float *at_row = to + NAME(PITCH) * r;
                VC sum = NAME(load_c)(at_row) + NAME(product_row)(r, R, a, R, 1, p, C);
                memcpy(at_row, &sum, sizeof sum);
            }
#endif
        }
    }
    return recipe;
}

/* Adds P_iJ' (row) for all J that row i reaches. Columns of the row left of J go to block (K, J), transposed. */
DRAPE_INLINE const uint8_t *NAME(add_row_of)(const drape_i_fblocks *P, int32_t i, const uint8_t *recipe,
                                             const NAME(product) * row, const upper_view *coarse, float *diagonal) {
    for (int64_t q = P->start[i]; q < P->start[i + 1]; q++) {
        const float *p = P->val + R * C * q, *t = row->val;
        const int32_t J = P->col[q];
        float *const mine = coarse->val + C * C * coarse->start[J];
        int32_t b = 0;
#if R == 3 && C == 3
        NAME(factor) left = NAME(left_transposed)(p), right = NAME(right)(p);
        for (; row->col[b] < J; b++, t += NAME(BLOCK)) {
            NAME(factor) other = NAME(left_transposed)(t);
            NAME(add_factors)
            (coarse->val + 9 * (coarse->start[row->col[b]] + next_place(&recipe)), &other, &right);
        }
        NAME(factor) middle = NAME(right_of)(NAME(load_nine)(t));
        NAME(add_factors)(diagonal + 9 * (int64_t)J, &left, &middle);
        for (b++, t += NAME(BLOCK); b < row->count; b++, t += NAME(BLOCK)) {
            NAME(factor) other = NAME(right_of)(NAME(load_nine)(t));
            NAME(add_factors)(mine + 9 * next_place(&recipe), &left, &other);
        }
#else
        for (; row->col[b] < J; b++, t += NAME(BLOCK)) {
            float *to = coarse->val + C * C * (coarse->start[row->col[b]] + next_place(&recipe));
            NAME(add_general)(to, C, R, t, 1, NAME(PITCH), p, C);
        }
        NAME(add_general)(diagonal + C * C * (int64_t)J, C, R, p, 1, C, t, NAME(PITCH));
        for (b++, t += NAME(BLOCK); b < row->count; b++, t += NAME(BLOCK))
            NAME(add_general)(mine + C * C * next_place(&recipe), C, R, p, 1, C, t, NAME(PITCH));
#endif
    }
    return recipe;
}

DRAPE_INLINE void NAME(product_band)(drape_i_level *fine, int32_t band, drape_i_upper *into, float *diagonal) {
    const upper_view A = view_upper(&fine->A), coarse = view_upper(into);
    const drape_i_fblocks P = fine->P;
    const int32_t begin = fine->A.bands.first[band], end = fine->A.bands.first[band + 1];
    NAME(product) row = {0, fine->recipe.row[band].col, fine->recipe.row[band].val};
    const uint8_t *make = fine->recipe.make + fine->recipe.make_first[band];
    const uint8_t *add = fine->recipe.add + fine->recipe.add_first[band];
    for (int32_t i = begin; i < end; i++) {
        if (P.start[i] == P.start[i + 1]) continue;
        make = NAME(make_row)(&A, &P, i, make, &row);
        add = NAME(add_row_of)(&P, i, add, &row, &coarse, diagonal);
    }
}

/* ---- Scaling ---- */

/* P_iJ = P_iJ W_J; W of C x C */
DRAPE_INLINE void NAME(scale_columns)(drape_i_level *fine, const float *W, int32_t begin, int32_t end) {
    drape_i_fblocks *P = &fine->P;
    for (int64_t k = P->start[begin]; k < P->start[end]; k++) {
        float *p = P->val + R * C * k, out[R * C] = {0};
        const float *w = W + C * C * (int64_t)P->col[k];
#if R == 3 && C == 3
        NAME(factor) left = NAME(left)(p), right = NAME(right)(w);
        NAME(add_factors)(out, &left, &right);
#else
        NAME(add_general)(out, R, C, p, C, 1, w, C);
#endif
        memcpy(p, out, sizeof out);
    }
}

#if R == C

#if R == 3

/* Wi' a Wj, Wi made ready */
DRAPE_INLINE NAME(nine) NAME(scale_nine)(const NAME(factor) * Wi, NAME(nine) a, const float *Wj) {
    const NAME(nine) zero = {(vf8){0}, 0};
    NAME(factor) left = NAME(left_of)(a), right = NAME(right)(Wj);
    right = NAME(right_of)(NAME(plus_product)(zero, &left, &right));
    return NAME(plus_product)(zero, Wi, &right);
}

DRAPE_INLINE void NAME(scale_row)(drape_i_level *l, int32_t i) {
    NAME(factor) Wi = NAME(left_transposed)(l->scale + 9 * (int64_t)i);
    for (int64_t k = l->A.start[i]; k < l->A.start[i + 1]; k++) {
        float *a = l->A.val + 9 * k;
        NAME(store_nine)(a, NAME(scale_nine)(&Wi, NAME(load_nine)(a), l->scale + 9 * (int64_t)l->A.col[k]));
    }
}

#else

DRAPE_INLINE void NAME(scale_row)(drape_i_level *l, int32_t i) {
    for (int64_t k = l->A.start[i]; k < l->A.start[i + 1]; k++) {
        float *a = l->A.val + R * C * k, out[R * C] = {0}, product[R * C + DRAPE_I_PADDING] = {0};
        NAME(add_general)(product, R, R, a, R, 1, l->scale + (int64_t)R * R * l->A.col[k], R);
        NAME(add_general)(out, R, R, l->scale + (int64_t)R * R * i, 1, R, product, R);
        memcpy(a, out, sizeof out);
    }
}

#endif

DRAPE_INLINE void NAME(scale_rows)(drape_i_level *l, int32_t begin, int32_t end) {
    for (int32_t i = begin; i < end; i++) NAME(scale_row)(l, i);
}

#endif

#undef STRIDE_R
#undef STRIDE_C
#undef VR
#undef VC
#undef NAME
#undef NAME_
#undef NAME__
