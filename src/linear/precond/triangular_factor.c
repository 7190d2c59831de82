/* triangular_factor.c: the preconditioners ichol and ilu: incomplete factorisation on the pattern of A, without fill,
 * A ~ (D + L) D^-1 (D + U):
 *
 *     L_ij, U_ij = A_ij - sum_k L_ik G_k U_kj   where A has a block,   D_i = A_ii - sum_k L_ik G_k U_ki,   G = D^-1,
 *
 * k before both i and j (Meijerink and van der Vorst 1977, in 3x3 blocks). Row by row: when L_ik is final,
 * W = L_ik G_k, and W U_kj is taken off every block (i, j) that is there. Which those are depends on the pattern
 * alone; they are listed once. Where A is symmetric only L and D are computed, from the blocks before the diagonal,
 * and U_ki = L_ik' is put where row k keeps it.
 *
 * An attempt ends at a pivot D_i that is not positive definite (or singular, where A is not symmetric), or smaller
 * than A_ii by more than VANISHED. It also ends with a factor that fails a trial (is_stable). The next one takes (1 +
 * sigma) A_ii in place of A_ii, with a larger sigma (Manteuffel 1980). The whole block is scaled, not its diagonal.
 * Blocks of cloth are stiff in some directions and soft in others, oblique to the axes, and a stiff number added in a
 * soft direction would spoil them. It is the shift by sigma I of A scaled to unit diagonal blocks, which is dominated
 * by them in the end, so that the attempts do end. Where they do not (numbers that are not finite) M is block
 * diagonal. */
#include "base/parallel.h"
#include "base/vector.h"
#include "linear/precond/triangular.h"
#include "linear/prefilter.h"
#include "sparse/multiply.h"

#include <math.h>
#include <string.h>

static const double VANISHED = 1e10;
static const double UNSTABLE = 3; /* |M^-1 A v - v| / |v| */
/* Not smaller: a factor that has just not broken down is a bad one. The drooping sheet of 40,401 vertices takes 126
 * iterations with 0.016, 98 with 0.03, 101 with 0.1, and breaks down with 0.004. */
static const double FIRST_SHIFT = 0.03, SHIFT_GROWTH = 4;
enum { ATTEMPTS = 25, ROW_GRAIN = 1024, DIAGONAL = -1, ABSENT = -2 };

/* W U_kj goes to block `target` of the row: DIAGONAL, or counted through those before and then those after.
 * U_kj is block `source` of those after k. */
typedef struct update {
    int32_t target, source;
} update;

struct drape_i_factor {
    drape_i_triangular t;
    bool symmetric;
    int64_t *first;  /* of the updates by each block of t.before, and their end */
    int32_t *mirror; /* symmetric: where L_ik' is among the blocks after k, or ABSENT */
    update *updates;
    int8_t *outcome; /* of each chunk */
    double *v, *w;   /* not symmetric: what the factor is tried on, 3 rows each */
};

const drape_i_triangular *drape_i_factor_triangular(const drape_i_factor *f) { return &f->t; }

static int64_t blocks_before(const drape_i_factor *f) { return f->t.before.first[f->t.order.rows]; }

/* ---- Lists of updates ---- */

/* Marks or unmarks the blocks of a place: mark[column] = target. Symmetric: those after it are not computed. */
static void mark_row(const drape_i_factor *f, int32_t p, int32_t *mark, bool set) {
    const drape_i_half *before = &f->t.before, *after = &f->t.after;
    int32_t target = 0;
    mark[f->t.order.row[p]] = set ? DIAGONAL : ABSENT;
    for (int64_t e = before->first[p]; e < before->first[p + 1]; e++) mark[before->col[e]] = set ? target++ : ABSENT;
    if (f->symmetric) return;
    for (int64_t e = after->first[p]; e < after->first[p + 1]; e++) mark[after->col[e]] = set ? target++ : ABSENT;
}

/* The updates of row p by the row at q, which is before it: those blocks after q that p has too; how many. To
 * may be NULL. */
static int64_t list_updates(const drape_i_factor *f, int32_t q, const int32_t *mark, update *to) {
    const drape_i_half *after = &f->t.after;
    int64_t count = 0;
    for (int64_t e = after->first[q]; e < after->first[q + 1]; e++) {
        int32_t target = mark[after->col[e]];
        if (target == ABSENT) continue;
        if (to) to[count] = (update){target, (int32_t)(e - after->first[q])};
        count++;
    }
    return count;
}

static void list_all(drape_i_factor *f, int32_t *mark) {
    const drape_i_half *before = &f->t.before;
    for (int32_t p = 0; p < f->t.order.rows; p++) {
        mark_row(f, p, mark, true);
        for (int64_t e = before->first[p]; e < before->first[p + 1]; e++) {
            int32_t q = f->t.order.place[before->col[e]];
            update *to = f->updates ? f->updates + f->first[e] : NULL;
            f->first[e + 1] = f->first[e] + list_updates(f, q, mark, to);
        }
        mark_row(f, p, mark, false);
    }
}

/* Where row k has the block that mirrors L_ik: among the updates of i by k it is the one of the diagonal. */
static void find_mirrors(drape_i_factor *f) {
    for (int64_t e = 0; e < blocks_before(f); e++) {
        f->mirror[e] = ABSENT;
        for (int64_t u = f->first[e]; u < f->first[e + 1]; u++)
            if (f->updates[u].target == DIAGONAL) f->mirror[e] = f->updates[u].source;
    }
}

static drape_status make_lists(drape_context *ctx, drape_i_factor *f) {
    int32_t *mark, rows = f->t.order.rows;
    if (!DRAPE_NEW(ctx, f->first, blocks_before(f) + 1) || !DRAPE_NEW(ctx, f->mirror, blocks_before(f)) ||
        !DRAPE_NEW(ctx, f->outcome, f->t.order.chunks) || !DRAPE_NEW(ctx, mark, rows))
        return DRAPE_ERROR_MEMORY;
    for (int32_t i = 0; i < rows; i++) mark[i] = ABSENT;
    list_all(f, mark);
    bool enough = DRAPE_NEW(ctx, f->updates, f->first[blocks_before(f)]);
    if (enough) list_all(f, mark);
    DRAPE_FREE(ctx, mark, rows);
    if (!enough) return DRAPE_ERROR_MEMORY;
    find_mirrors(f);
    return DRAPE_OK;
}

/* ---- Memory ---- */

void drape_i_factor_destroy(drape_context *ctx, drape_i_factor *f) {
    if (!f) return;
    if (f->first) {
        DRAPE_FREE(ctx, f->updates, f->first[blocks_before(f)]);
        DRAPE_FREE(ctx, f->mirror, blocks_before(f));
        DRAPE_FREE(ctx, f->first, blocks_before(f) + 1);
    }
    DRAPE_FREE(ctx, f->outcome, f->t.order.chunks);
    DRAPE_FREE(ctx, f->v, 3 * (int64_t)f->t.order.rows);
    DRAPE_FREE(ctx, f->w, 3 * (int64_t)f->t.order.rows);
    drape_i_triangular_destroy(ctx, &f->t);
    DRAPE_FREE(ctx, f, 1);
}

drape_status drape_i_factor_create(drape_context *ctx, const drape_bsr3 *A, bool symmetric, int32_t least_chunk,
                                   drape_i_factor **out) {
    drape_i_factor *f;
    *out = NULL;
    if (!DRAPE_NEW(ctx, f, 1)) return DRAPE_ERROR_MEMORY;
    f->symmetric = symmetric;
    drape_status status = drape_i_triangular_create(ctx, A, least_chunk, &f->t);
    if (!status) status = make_lists(ctx, f);
    int64_t n = 3 * (int64_t)A->rows;
    if (!status && !symmetric && (!DRAPE_NEW(ctx, f->v, n) || !DRAPE_NEW(ctx, f->w, n))) status = DRAPE_ERROR_MEMORY;
    if (status) drape_i_factor_destroy(ctx, f);
    else *out = f;
    return status;
}

/* ---- One attempt ---- */

typedef enum outcome { FINE, SMALL_PIVOT, NOT_FINITE } outcome;

typedef struct attempt {
    drape_i_factor *f;
    const drape_bsr3 *A;
    const drape_constraints *set;
    const drape_i_couplings *couplings;
    double shift;
    int32_t first; /* chunk of the color */
} attempt;

/* L and U of a place start as A's blocks. */
static void start_row(const attempt *a, int32_t p) {
    const drape_i_triangular *t = &a->f->t;
    drape_i_half_copy(a->A, t, &t->before, p, t->L);
    if (!a->f->symmetric) drape_i_half_copy(a->A, t, &t->after, p, t->U);
}

static void subtract_product(const double *W, const double *U, double *to) {
    double product[9];
    drape_i_block_product(W, U, product);
    for (int32_t k = 0; k < 9; k++) to[k] -= product[k];
}

static void transpose(const double *from, double *to) {
    for (int32_t k = 0; k < 9; k++) to[k] = from[3 * (k % 3) + k / 3];
}

/* L_ik is final. Symmetric: puts U_ki where row k keeps it; where it keeps none there is no L_ik either. */
static void mirror(const drape_i_factor *f, int64_t e, double *L_ik, double *U_k) {
    if (f->mirror[e] != ABSENT) transpose(L_ik, U_k + 9 * (int64_t)f->mirror[e]);
    else memset(L_ik, 0, 9 * sizeof *L_ik);
}

/* Takes off row p what the rows before it give; D gets what goes to the diagonal block. */
static void eliminate(const attempt *a, int32_t p, double D[9]) {
    const drape_i_factor *f = a->f;
    const drape_i_triangular *t = &f->t;
    int64_t begin = t->before.first[p], lower = t->before.first[p + 1] - begin;
    double *L = t->L + 9 * begin, *U = t->U + 9 * t->after.first[p];
    for (int64_t k = 0; k < lower; k++) {
        int32_t q = t->order.place[t->before.col[begin + k]];
        double W[9], *U_k = t->U + 9 * t->after.first[q];
        if (f->symmetric) mirror(f, begin + k, L + 9 * k, U_k);
        drape_i_block_product(L + 9 * k, t->G + 9 * (int64_t)q, W);
        for (int64_t u = f->first[begin + k]; u < f->first[begin + k + 1]; u++) {
            int64_t target = f->updates[u].target;
            double *to = target == DIAGONAL ? D : target < lower ? L + 9 * target : U + 9 * (target - lower);
            subtract_product(W, U_k + 9 * (int64_t)f->updates[u].source, to);
        }
    }
}

/* G = D^-1 where D is no smaller than B in any direction by more than VANISHED. */
static outcome invert_pivot(const attempt *a, const double B[9], double D[9], double G[9]) {
    double ratio[9];
    for (int32_t k = 0; k < 9; k++)
        if (!isfinite(D[k])) return NOT_FINITE;
    if (a->f->symmetric) drape_i_block_symmetrise(D);
    if (a->f->symmetric && !drape_i_block_positive(D)) return SMALL_PIVOT;
    if (!drape_i_block_inverse(D, G)) return SMALL_PIVOT;
    drape_i_block_product(G, B, ratio);
    for (int32_t k = 0; k < 9; k++)
        if (!(fabs(ratio[k]) < VANISHED)) return SMALL_PIVOT;
    return FINE;
}

static drape_i_pivots pivots_of(const attempt *a) {
    return a->f->symmetric ? DRAPE_I_PIVOTS_SYMMETRIC : DRAPE_I_PIVOTS_REGULAR;
}

static outcome factor_row(const attempt *a, int32_t p) {
    int32_t i = a->f->t.order.row[p];
    double B[9], D[9] = {0}, *G = a->f->t.G + 9 * (int64_t)p;
    start_row(a, p);
    eliminate(a, p, D);
    drape_i_fold_filter(a->set, i, D);
    drape_i_usable_diagonal(a->A, a->set, a->couplings, i, pivots_of(a), B);
    for (int32_t k = 0; k < 9; k++) D[k] += (1 + a->shift) * B[k];
    outcome result = invert_pivot(a, B, D, G);
    if (result == FINE) drape_i_fold_filter(a->set, i, G);
    return result;
}

static void factor_chunk(void *data, int32_t index) {
    const attempt *a = data;
    int32_t chunk = a->first + index;
    const int32_t *bounds = a->f->t.order.chunk + chunk;
    outcome result = FINE;
    for (int32_t p = bounds[0]; p < bounds[1] && result == FINE; p++) result = factor_row(a, p);
    a->f->outcome[chunk] = (int8_t)result;
}

/* The worst of all chunks, up to the first color that failed: no matter who came first. */
static outcome factor(drape_context *ctx, attempt *a) {
    const drape_i_sweep_order *o = &a->f->t.order;
    outcome worst = FINE;
    for (int32_t colour = 0; colour < o->colours && worst == FINE; colour++) {
        a->first = o->colour[colour];
        drape_i_tasks(ctx, o->colour[colour + 1] - a->first, factor_chunk, a);
        for (int32_t k = a->first; k < o->colour[colour + 1]; k++)
            if ((outcome)a->f->outcome[k] > worst) worst = (outcome)a->f->outcome[k];
    }
    return worst;
}

/* ---- Is it any good? ---- */

/* Something without structure, between -1 and 1. */
static double noise(int64_t i) {
    uint32_t x = (uint32_t)i * 2654435761u + 12345u;
    x ^= x >> 15, x *= 2246822519u, x ^= x >> 13;
    return (double)x / 2147483648. - 1;
}

/* y += the diagonal blocks of the couplings times x: what M is to resemble has no more of them. */
static void add_diagonal(const drape_i_couplings *C, const double *x, double *y) {
    for (int32_t v = 0; drape_i_any_couplings(C) && v < C->vertices; v++)
        for (int32_t m = 0; m < 9; m++)
            y[3 * (int64_t)C->vertex[v] + m / 3] += C->diagonal[9 * v + m] * x[3 * (int64_t)C->vertex[v] + m % 3];
}

/* Where A is not symmetric no sign of a pivot tells a good factor from one whose sweeps grow without bound: it is
 * tried. M^-1 A v should resemble v. */
static bool is_stable(drape_context *ctx, const attempt *a) {
    double *v = a->f->v, *w = a->f->w;
    int64_t n = 3 * (int64_t)a->A->rows;
    for (int64_t i = 0; i < n; i++) v[i] = noise(i);
    drape_i_filter(a->set, v);
    double size = sqrt(drape_i_dot(ctx, n, v, v));
    drape_i_multiply(ctx, a->A, v, w);
    add_diagonal(a->couplings, v, w);
    drape_i_triangular_apply(ctx, &a->f->t, w, v);
    for (int64_t i = 0; i < n; i++) w[i] = noise(i);
    drape_i_filter(a->set, w);
    drape_i_axpy(ctx, n, -1, w, v);
    return sqrt(drape_i_dot(ctx, n, v, v)) <= UNSTABLE * size;
}

/* ---- All attempts ---- */

static void invert_diagonal(void *data, int64_t begin, int64_t end) {
    const attempt *a = data;
    for (int64_t p = begin; p < end; p++) {
        int32_t i = a->f->t.order.row[p];
        double B[9], *G = a->f->t.G + 9 * p;
        drape_i_usable_diagonal(a->A, a->set, a->couplings, i, pivots_of(a), B);
        drape_i_block_inverse(B, G);
        drape_i_fold_filter(a->set, i, G);
    }
}

static void fall_back_to_diagonal(drape_context *ctx, attempt *a) {
    const drape_i_triangular *t = &a->f->t;
    int32_t rows = t->order.rows;
    memset(t->L, 0, 9 * (size_t)t->before.first[rows] * sizeof *t->L);
    memset(t->U, 0, 9 * (size_t)t->after.first[rows] * sizeof *t->U);
    drape_i_loop(ctx, rows, ROW_GRAIN, invert_diagonal, a);
}

static outcome factor_and_try(drape_context *ctx, attempt *a) {
    outcome result = factor(ctx, a);
    return result == FINE && !a->f->symmetric && !is_stable(ctx, a) ? SMALL_PIVOT : result;
}

double drape_i_factor_refresh(drape_context *ctx, drape_i_factor *f, const drape_bsr3 *A,
                              const drape_constraints *set, const drape_i_couplings *couplings) {
    attempt a = {.f = f, .A = A, .set = set, .couplings = couplings};
    outcome result = factor_and_try(ctx, &a);
    for (int32_t k = 1; k < ATTEMPTS && result == SMALL_PIVOT; k++) {
        a.shift = a.shift > 0 ? SHIFT_GROWTH * a.shift : FIRST_SHIFT;
        result = factor_and_try(ctx, &a);
    }
    if (result != FINE) fall_back_to_diagonal(ctx, &a);
    return a.shift;
}

/* ---- As a preconditioner ---- */

static void precond_destroy(drape_context *ctx, void *state) { drape_i_factor_destroy(ctx, state); }

static drape_status precond_refresh(drape_context *ctx, void *state, const drape_problem *problem,
                                    const drape_constraints *set, const drape_i_couplings *couplings, double *shift) {
    *shift = drape_i_factor_refresh(ctx, state, problem->A, set, couplings);
    return DRAPE_OK;
}

static double precond_apply(drape_context *ctx, void *state, const double *r, double *h) {
    return drape_i_triangular_apply(ctx, drape_i_factor_triangular(state), r, h);
}

static int64_t precond_traffic(const void *state) {
    return drape_i_triangular_traffic(drape_i_factor_triangular(state));
}

/* Of A the blocks before the diagonal count, in the order of the sweeps. */
static drape_status ichol_create(drape_context *ctx, const drape_bsr3 *A, const drape_solve_settings *settings,
                                 void **out) {
    drape_i_factor *f;
    (void)settings;
    drape_status status = drape_i_factor_create(ctx, A, true, 0, &f);
    *out = f;
    return status;
}

const drape_i_precond drape_i_precond_ichol = {
    .name = "ichol",
    .about = "incomplete Cholesky of level 0, 3x3 blocks",
    .symmetric = true,
    .variant = &(const drape_i_variant){.setup = {18, 18, 38}, .iteration = 2.6, .share = 0.2, .fixed = 1},
    .variants = 1,
    .automatic = true,
    .create = ichol_create,
    .destroy = precond_destroy,
    .refresh = precond_refresh,
    .apply = precond_apply,
    .traffic = precond_traffic};

/* For A that is not symmetric. */
static drape_status ilu_create(drape_context *ctx, const drape_bsr3 *A, const drape_solve_settings *settings,
                               void **out) {
    drape_i_factor *f;
    (void)settings;
    drape_status status = drape_i_factor_create(ctx, A, false, 0, &f);
    *out = f;
    return status;
}

const drape_i_precond drape_i_precond_ilu = {.name = "ilu",
                                             .about =
                                                 "incomplete LU of level 0, 3x3 blocks, for A that is not symmetric",
                                             .unsymmetric = true,
                                             .variant = &(const drape_i_variant){.setup = {18, 18, 38}},
                                             .variants = 1,
                                             .create = ilu_create,
                                             .destroy = precond_destroy,
                                             .refresh = precond_refresh,
                                             .apply = precond_apply,
                                             .traffic = precond_traffic};
