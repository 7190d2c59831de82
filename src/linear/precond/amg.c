/* amg.c: smoothed aggregation (linear/amg/) as a preconditioner: one cycle in single precision.
 *
 * What is made for one matrix serves for the next ones of an animation. Before each solve it is decided, from counted
 * work and iterations alone, what to do with it:
 *
 * - Keep everything. The preconditioner is then that of an older matrix: still symmetric and positive definite, and
 *   some iterations worse.
 * - Keep the coarse levels, and compute the finest again: where constraints and couplings were taken away since the
 *   last solve, and nothing was added (drape_problem.released).
 * - Refresh all values, in place.
 * - Rebuild aggregates and patterns too.
 *
 * Iterations beyond those of the first solve after a refresh are debt. When it has grown to what a refresh costs, it
 * is time for one, so that the total is never more than twice the best. A refresh is due at once where the
 * constraints are others, or the diagonal blocks have changed much. In fast motion the first solve that keeps the
 * levels may already lose more than a refresh costs. Then the next 1, 3, 7 and at most 15 solves refresh without
 * trying to keep, until keeping has paid once.
 *
 * Couplings that tie vertices together are added to A, and levels of their own are made for that matrix; those for A
 * alone stay for solves without ties. All other couplings are taken in by the levels that are in use. */
#include "base/parallel.h"
#include "base/vector.h"
#include "linear/amg/hierarchy.h"
#include "linear/amg/ties.h"
#include "linear/constraints.h"
#include "linear/precond.h"

#include <math.h>
#include <string.h>

enum { GRAIN = 1024, LANCZOS = 4, CHEBYSHEV_LANCZOS = 8, MOST_DEGREE = 8, MOST_LANCZOS = 16, LOOKED_AT = 256 };
static const double REFRESH_COST = 4; /* in iterations; six modes: half as much again */
enum { MOST_UNKEPT = 15 };            /* solves that refresh without trying to keep */
static const double CHANGED = 0.1;    /* mean relative change of diagonal blocks that is too much to keep */
static const double WORSE = 1.5;      /* iterations after a refresh over those after a build that ask for a rebuild */

/* A hierarchy, and what is known about it. */
typedef struct levels {
    drape_i_hierarchy h;
    double scale;  /* of the matrix */
    bool sound;    /* all numbers were finite in it */
    uint64_t held; /* hash of the constraints that the hierarchy was made with */
    int32_t own;   /* and how many vectors of the caller's; 0: none */

    int32_t couplings;    /* beside the matrix in the last solve */
    int32_t built, fresh; /* iterations of the first solve after a build, after a refresh; -1: not yet known */
    double debt;          /* iterations */
    bool kept;            /* by a solve since the last refresh */
    int32_t unkept, left; /* solves that refresh because keeping did not pay: since then in all, and from now on */
} levels;

typedef struct state {
    int32_t rows;
    drape_i_amg_settings want;
    drape_reuse reuse;
    const drape_constraints *set;
    drape_i_prepared prepared;
    bool released; /* the levels in use were kept except for the finest */
    drape_i_ties ties;
    levels plain, tied; /* for A alone, for A with ties */
    levels *now;        /* which of them is in use */
    drape_bsr3 sum;     /* a view of the matrix with ties */
} state;

/* ---- Three modes or six ---- */

enum { THREE, SIX };

/* An iteration computes more than it reads: the bytes that are counted for it are those of about two passes. What its
 * time is worth beyond that is added to setting up, 13 passes for a usual solve of 7 iterations, so that bytes_moved,
 * by which choices are judged, goes with time. Besides its passes the coarsest level is factored. */
static const drape_i_variant variant[] = {
    [THREE] = {.setup = {14, 31, 59},
               .setup_bytes = 8e6,
               .iteration = 2,
               .share = 1 / 80.0,
               .fixed = 6,
               .most = 400,
               .modes = 3},
    [SIX] = {.setup = {14, 54, 89},
             .setup_bytes = 8e6,
             .iteration = 2.8,
             .share = 1 / 300.0,
             .fixed = 5.5,
             .most = 400,
             .modes = 6},
};

static int32_t variant_of(const drape_solve_settings *settings) { return settings->amg.modes == 6 ? SIX : THREE; }

/* Six without being asked for need positions. Near-kernel vectors of the caller's take the blocks that hold them. */
static bool suits(int32_t which, const drape_solve_settings *settings, const drape_problem *problem) {
    if (problem->near_kernel) return which == (problem->near_kernel_count > 3 ? SIX : THREE);
    if (settings->amg.modes != 0) return which == variant_of(settings);
    return which == THREE || problem->positions;
}

static void select(int32_t which, drape_solve_settings *settings) { settings->amg.modes = variant[which].modes; }

static drape_status check(drape_context *ctx, const drape_solve_settings *settings) {
    const drape_amg_settings *s = &settings->amg;
    if (!(s->theta > 0 && s->theta < 1))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: amg.theta is %g; it must lie between 0 and 1",
                            s->theta);
    if (s->modes != 0 && s->modes != 3 && s->modes != 6)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: amg.modes is %d; it must be 3 or 6", s->modes);
    if (s->levels < 0 || s->levels > DRAPE_I_AMG_LEVELS)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: amg.levels is %d; it must lie in 1..%d", s->levels,
                            DRAPE_I_AMG_LEVELS);
    if (!drape_reuse_name(s->reuse))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: amg.reuse is %d, which is not a known value",
                            (int)s->reuse);
    if (!drape_cycle_name(s->cycle))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: amg.cycle is %d, which is not a known value",
                            (int)s->cycle);
    if (!drape_smoother_name(s->smoother))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: amg.smoother is %d, which is not a known value",
                            (int)s->smoother);
    if (s->degree < 0 || s->degree > MOST_DEGREE)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: amg.degree is %d; it must lie in 1..%d", s->degree,
                            MOST_DEGREE);
    if (s->lanczos < 0 || s->lanczos > MOST_LANCZOS)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: amg.lanczos is %d; it must lie in 1..%d", s->lanczos,
                            MOST_LANCZOS);
    if (!(s->dominance >= 0 && s->dominance < 1))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: amg.dominance is %g; it must be 0 or more and below 1",
                            s->dominance);
    if (!drape_recipe_name(s->recipe))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: amg.recipe is %d, which is not a known value",
                            (int)s->recipe);
    return DRAPE_OK;
}

static drape_status create(drape_context *ctx, const drape_bsr3 *A, const drape_solve_settings *settings,
                           void **out) {
    const drape_amg_settings *amg = &settings->amg;
    state *s;
    *out = NULL;
    if (!DRAPE_NEW(ctx, s, 1)) return DRAPE_ERROR_MEMORY;
    s->rows = A->rows;
    s->want.theta = amg->theta;
    s->want.modes = amg->modes == 6 ? 6 : 3;
    s->want.levels = amg->levels;
    s->want.degree = amg->smoother == DRAPE_SMOOTHER_CHEBYSHEV ? amg->degree : 0;
    s->want.lanczos = amg->lanczos > 0 ? amg->lanczos : s->want.degree > 0 ? CHEBYSHEV_LANCZOS : LANCZOS;
    s->want.dominance = amg->dominance;
    s->want.relax = amg->relax_kernel;
    s->want.twice = amg->cycle == DRAPE_CYCLE_W;
    s->want.unfiltered = amg->unfiltered;
    s->reuse = amg->reuse;
    s->now = &s->plain;
    *out = s;
    return DRAPE_OK;
}

static void destroy(drape_context *ctx, void *data) {
    state *s = data;
    drape_i_hierarchy kept = {0};
    if (!s) return;
    drape_i_hierarchy_free(ctx, &s->plain.h);
    drape_i_hierarchy_move_couplings(&s->tied.h, &kept);
    drape_i_hierarchy_free(ctx, &kept);
    if (s->ties.region) drape_i_hierarchy_free(&s->ties.region->ctx, &s->tied.h);
    drape_i_ties_free(ctx, &s->ties);
    DRAPE_FREE(ctx, s, 1);
}

/* ---- Keep, refresh or rebuild ---- */

static uint64_t hash_held(const drape_constraints *set) {
    uint64_t hash = set ? (uint64_t)set->count : 0;
    for (int32_t i = 0; set && i < set->count; i++) {
        uint64_t word;
        hash = (hash ^ (uint64_t)set->held[i].vertex) * UINT64_C(0x9e3779b97f4a7c15);
        for (int32_t k = 0; k < 9; k++) {
            memcpy(&word, &set->held[i].S[k], sizeof word);
            hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
            hash ^= hash >> 32;
        }
    }
    return hash;
}

typedef struct comparison {
    const state *s;
    const drape_bsr3 *A;
} comparison;

/* trace(W'A W) for 3x3 blocks: 3 where W is A's own. */
static double scaled_trace(const float *W, const double *A) {
    double trace = 0;
    for (int32_t i = 0; i < 3; i++)
        for (int32_t j = 0; j < 3; j++) {
            double inverse = 0; /* of what A was */
            for (int32_t k = 0; k < 3; k++) inverse += (double)W[3 * i + k] * W[3 * j + k];
            trace += inverse * A[3 * i + j];
        }
    return trace;
}

/* Sums |trace(W_i'A_ii W_i) / 3 - 1| over the free vertices, and counts them. */
static void compare_rows(void *data, int64_t begin, int64_t end, double *sums) {
    const comparison *c = data;
    const levels *now = c->s->now;
    const drape_i_level *finest = &now->h.level[0];
    for (int64_t i = begin; i < end; i++) {
        const int32_t row = drape_i_user_row(finest, (int32_t)i);
        const double *block = drape_i_diagonal_block(c->A, row);
        if (!block || (c->s->set && c->s->set->index[row] >= 0)) continue;
        sums[0] += fabs(scaled_trace(finest->scale + 9 * i, block) * now->scale / 3 - 1);
        sums[1] += 1;
    }
}

static bool changed_much(drape_context *ctx, const state *s, const drape_bsr3 *A) {
    double sums[2];
    drape_i_sum(ctx, A->rows, GRAIN, compare_rows, &(comparison){s, A}, 2, sums);
    return !(sums[0] <= CHANGED * sums[1]);
}

typedef enum decision { KEEP, RELEASE, REFRESH, REBUILD } decision;

/* The near-kernel: how many modes it takes, in blocks that there are kernels for. */
static int32_t modes_for(const state *s, const drape_problem *problem) {
    if (!problem->near_kernel) return problem->positions ? s->want.modes : 3;
    return problem->near_kernel_count <= 3 ? 3 : problem->near_kernel_count <= 6 ? 6 : 12;
}

/* In iterations. */
static double refresh_cost(const levels *l) { return (l->h.level[0].modes > 3 ? 1.5 : 1) * REFRESH_COST; }

/* What to do with the levels in use, for a matrix that has the pattern they were made for. */
static decision decide(drape_context *ctx, const state *s, const drape_i_amg_input *in, uint64_t held, int32_t modes,
                       bool released) {
    const levels *l = s->now;
    if (l->own != in->near.count) return REBUILD;
    if (l->h.levels == 0 || s->reuse == DRAPE_REUSE_NOTHING || l->h.level[0].modes != modes) return REBUILD;
    if (!l->sound) return REBUILD; /* nothing was learnt from that matrix */
    if (l->built >= 0 && l->fresh > WORSE * l->built + 2) return REBUILD;
    if (released && s->reuse == DRAPE_REUSE_EVERYTHING && l != &s->tied && l->h.levels > 1) return RELEASE;
    if (s->reuse == DRAPE_REUSE_PATTERNS || held != l->held || l->left > 0 || l->debt >= refresh_cost(l))
        return REFRESH;
    return changed_much(ctx, s, in->A) ? REFRESH : KEEP;
}

/* lost: iterations more than those of the solve that refreshed. */
static void learn_kept(levels *l, double lost) {
    l->debt += lost;
    if (l->kept) return;
    l->kept = true;
    l->unkept = lost <= refresh_cost(l) ? 0 : l->unkept < MOST_UNKEPT ? 2 * l->unkept + 1 : MOST_UNKEPT;
    l->left = l->unkept;
}

static void learn(void *data, int32_t iterations) {
    levels *l = ((state *)data)->now;
    if (l->built < 0) l->built = iterations;
    if (l->fresh < 0) l->fresh = iterations;
    else learn_kept(l, fmax(0, iterations - l->fresh));
}

/* Iterations with many more couplings, or many fewer, are no measure for what a refresh or a rebuild for the matrix
 * would gain. */
static void compare_couplings(levels *l, int32_t count) {
    if (fabs((double)count - l->couplings) > CHANGED * l->couplings) l->built = l->fresh = -1;
    l->couplings = count;
}

/* A power of two that brings the largest diagonal number of some rows near 1. It keeps single precision far from its
 * limits, so some rows are enough. */
static double scale_for(const drape_bsr3 *A) {
    const int32_t count = A->rows < LOOKED_AT ? A->rows : LOOKED_AT;
    double most = 0;
    for (int32_t k = 0; k < count; k++) {
        const double *block = drape_i_diagonal_block(A, (int32_t)((int64_t)k * A->rows / count));
        for (int32_t m = 0; block && m < 9; m += 4)
            if (fabs(block[m]) > most) most = fabs(block[m]);
    }
    return most > 0 && isfinite(most) ? ldexp(1, -ilogb(most)) : 1;
}

/* Counts the numbers that are not finite. */
static void count_unsound(void *data, int64_t begin, int64_t end, double *sums) {
    const float *val = ((const drape_i_upper *)data)->val;
    int64_t count = 0;
    for (int64_t k = 9 * begin; k < 9 * end; k++) {
        uint32_t bits;
        memcpy(&bits, &val[k], sizeof bits);
        count += (bits & 0x7f800000u) == 0x7f800000u;
    }
    sums[0] += (double)count;
}

static bool is_sound(drape_context *ctx, drape_i_upper *A) {
    double unsound;
    drape_i_sum(ctx, A->count, GRAIN, count_unsound, A, 1, &unsound);
    return unsound == 0;
}

/* Levels and their matrix have the memory of a region, except for what other couplings have in them. */
static drape_status rebuild_tied(state *s, const drape_bsr3 *A, const drape_i_amg_settings *want,
                                 drape_i_amg_input *in) {
    levels *l = &s->tied;
    drape_i_region *region = s->ties.region;
    drape_i_hierarchy kept = {0};
    drape_i_hierarchy_move_couplings(&l->h, &kept);
    drape_i_hierarchy_free(&region->ctx, &l->h);
    drape_status status = drape_i_ties_merge(A, in->couplings, &s->ties);
    if (!status) {
        s->sum = drape_matrix_view(s->ties.matrix);
        in->A = &s->sum;
        in->scale = scale_for(in->A);
        status = drape_i_hierarchy_build(&region->ctx, in, want, &l->h);
    }
    drape_i_hierarchy_move_couplings(&kept, &l->h);
    if (!status) drape_i_region_end(region);
    return status;
}

static drape_status rebuild(drape_context *ctx, state *s, const drape_problem *problem,
                            const drape_i_amg_settings *want, drape_i_amg_input *in) {
    s->now->built = -1;
    if (s->now == &s->tied) {
        drape_status status = rebuild_tied(s, problem->A, want, in);
        if (status) memcpy(ctx->message, s->ties.region->ctx.message, sizeof ctx->message);
        return status;
    }
    in->scale = scale_for(in->A);
    drape_i_hierarchy_free(ctx, &s->plain.h);
    return drape_i_hierarchy_build(ctx, in, want, &s->plain.h);
}

/* in->A becomes the matrix that the levels are for. */
static drape_status update(drape_context *ctx, state *s, const drape_problem *problem,
                           const drape_i_amg_settings *want, drape_i_amg_input *in) {
    const uint64_t held = hash_held(in->near.set);
    const bool tied = s->now == &s->tied, fits = !tied || drape_i_ties_fit(&s->ties);
    levels *l = s->now;
    drape_status status = DRAPE_OK;
    if (tied && fits) {
        s->sum = drape_matrix_view(s->ties.matrix);
        in->A = &s->sum;
        status = drape_i_ties_refresh(ctx, problem->A, in->couplings, &s->ties);
        if (status) return status;
    }
    decision what = fits ? decide(ctx, s, in, held, want->modes, problem->released) : REBUILD;
    s->prepared = what <= RELEASE ? DRAPE_I_KEPT : what == REFRESH ? DRAPE_I_REFRESHED : DRAPE_I_BUILT;
    s->released = what == RELEASE;
    in->scale = l->scale;
    if (what == KEEP) return DRAPE_OK;
    l->held = held;
    if (what == RELEASE) {
        drape_i_hierarchy_release(ctx, in, &l->h);
        return DRAPE_OK;
    }
    l->own = in->near.count;
    if (l->debt == 0 && l->left > 0) l->left--;
    l->debt = 0;
    l->fresh = -1;
    l->kept = false;
    if (what == REBUILD) {
        status = rebuild(ctx, s, problem, want, in);
    } else {
        in->scale = scale_for(in->A);
        drape_i_hierarchy_refresh(ctx, in, &l->h);
    }
    l->scale = in->scale;
    if (!status) l->sound = is_sound(ctx, &l->h.level[0].A);
    return status;
}

static drape_status refresh(drape_context *ctx, void *data, const drape_problem *problem,
                            const drape_constraints *set, const drape_i_couplings *couplings, double *shift) {
    state *s = data;
    drape_i_amg_settings want = s->want;
    drape_i_amg_input in = {.A = problem->A, .couplings = couplings};
    (void)shift;
    in.near = (drape_i_near_kernel){set, problem->positions, problem->near_kernel,
                                    problem->near_kernel ? problem->near_kernel_count : 0};
    want.modes = modes_for(s, problem);
    s->set = set;
    drape_status status = drape_i_ties_find(ctx, problem->A, couplings, &s->ties);
    if (status) return status;
    s->now = s->ties.count > 0 ? &s->tied : &s->plain;
    if (s->ties.count > 0) in.tied = s->ties.share;
    const int32_t before = s->now->couplings;
    compare_couplings(s->now, drape_i_any_couplings(couplings) ? couplings->count - s->ties.count : 0);
    status = update(ctx, s, problem, &want, &in);
    if (status) return status;
    if (s->released && s->now->couplings >= (1 - CHANGED) * before)
        return drape_i_hierarchy_uncouple_some(ctx, &in, &s->now->h);
    return drape_i_hierarchy_couple(ctx, &in, &want, &s->now->h);
}

/* What the solver would do for a problem without couplings; nothing is done. */
static drape_i_prepared due(drape_context *ctx, void *data, const drape_problem *problem,
                            const drape_constraints *set) {
    state *s = data;
    const drape_reuse reuse = s->reuse;
    drape_i_amg_input in = {.A = problem->A};
    in.near.count = problem->near_kernel ? problem->near_kernel_count : 0;
    s->now = &s->plain;
    s->set = set;
    s->reuse = DRAPE_REUSE_EVERYTHING;
    decision what = decide(ctx, s, &in, hash_held(set), modes_for(s, problem), false);
    s->reuse = reuse;
    return what == KEEP ? DRAPE_I_KEPT : what == REFRESH ? DRAPE_I_REFRESHED : DRAPE_I_BUILT;
}

/* ---- Applying ---- */

typedef struct conversion {
    const state *s;
    const double *r;
    double *h;
    double scale;
} conversion;

/* b = W'r */
static void to_float(void *data, int64_t begin, int64_t end) {
    const conversion *c = data;
    const drape_i_level *l = &c->s->now->h.level[0];
    for (int64_t i = begin; i < end; i++) {
        const double *r = c->r + 3 * (int64_t)drape_i_user_row(l, (int32_t)i);
        const float *W = l->scale + 9 * i;
        float x = (float)(c->scale * r[0]), y = (float)(c->scale * r[1]), z = (float)(c->scale * r[2]);
        for (int32_t k = 0; k < 3; k++) l->b[DRAPE_I_STRIDE(3) * i + k] = (W[k] * x + W[3 + k] * y) + W[6 + k] * z;
        l->b[DRAPE_I_STRIDE(3) * i + 3] = 0;
    }
}

/* h = W x */
static void to_double(void *data, int64_t begin, int64_t end) {
    const conversion *c = data;
    const drape_i_level *l = &c->s->now->h.level[0];
    for (int64_t i = begin; i < end; i++) {
        double *h = c->h + 3 * (int64_t)drape_i_user_row(l, (int32_t)i);
        const float *x = l->x + DRAPE_I_STRIDE(3) * i, *W = l->scale + 9 * i;
        for (int32_t k = 0; k < 3; k++)
            h[k] = c->scale * ((W[3 * k] * x[0] + W[3 * k + 1] * x[1]) + W[3 * k + 2] * x[2]);
    }
}

/* Single precision leaves the range of S by its rounding, which is much for a direction of CG: filtered. Where the
 * rows are in the caller's order, h is made here, too. */
static void filter_and_sum(void *data, int64_t begin, int64_t end, double *sums) {
    const conversion *c = data;
    if (!c->s->now->h.level[0].user) to_double(data, begin, end);
    drape_i_filter_rows(c->s->set, c->h, begin, end);
    for (int64_t i = 3 * begin; i < 3 * end; i++) sums[0] += c->r[i] * c->h[i];
}

static double apply(drape_context *ctx, void *data, const double *r, double *h) {
    state *s = data;
    double size = sqrt(drape_i_dot(ctx, 3 * (int64_t)s->rows, r, r)), sum;
    double scale = size > 0 && isfinite(size) ? ldexp(1, -ilogb(size)) : 1;
    conversion c = {s, r, h, scale};
    drape_i_loop(ctx, s->rows, GRAIN, to_float, &c);
    drape_i_cycle(ctx, &s->now->h);
    c.scale = s->now->scale / scale;
    if (s->now->h.level[0].user) drape_i_loop(ctx, s->rows, GRAIN, to_double, &c);
    drape_i_sum(ctx, s->rows, GRAIN, filter_and_sum, &c, 1, &sum);
    return sum;
}

/* Two passes over a level's matrix, and one each over P and its transpose. */
static int64_t level_traffic(const drape_i_level *v) {
    int64_t matrix = 2 * v->A.count * (4 * v->A.r * v->A.r + 4), P = 2 * v->P.count * (4 * v->P.r * v->P.c + 8);
    return matrix + P + v->A.rows * (int64_t)(12 * 4 * v->A.r);
}

/* Both vectors of each entry, the products, and what a touched row reads and writes; twice. */
static int64_t terms_traffic(const drape_i_terms *t) {
    return t->count > 0 ? 2 * (56 * t->first[t->count] + 8 * (int64_t)t->count + 120 * (int64_t)t->touches) : 0;
}

/* A W-cycle comes by level l 2^l times. With couplings other levels are below the finest. */
static int64_t traffic(const void *data) {
    const state *s = data;
    const drape_i_hierarchy *h = &s->now->h, *coupled = h->coupled;
    int64_t bytes = 9 * 3 * (int64_t)sizeof(double) * s->rows + terms_traffic(&h->level[0].terms);
    for (int32_t l = 0; l < (coupled ? 1 + coupled->levels : h->levels); l++) {
        const drape_i_level *v = coupled && l > 0 ? &coupled->level[l - 1] : &h->level[l];
        bytes += level_traffic(v) << (s->want.twice ? l : 0);
    }
    return bytes;
}

static drape_i_prepared prepared(const void *data) { return ((const state *)data)->prepared; }

static int32_t describe(const void *data, int32_t index, drape_amg_level *out) {
    const drape_i_hierarchy *h = &((const state *)data)->now->h;
    if (out && index >= 0 && index < h->levels) *out = drape_i_hierarchy_level(h, index);
    return h->levels;
}

static drape_status interpolation(drape_context *ctx, const void *data, int32_t level, drape_interpolation *io) {
    const drape_i_hierarchy *h = &((const state *)data)->now->h;
    if (level < 0 || level + 1 >= h->levels)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "precond: no interpolation to level %d of %d", level,
                            h->levels);
    drape_i_level_interpolation(&h->level[level], level == 0, io);
    return DRAPE_OK;
}

static int32_t modes(const void *data) {
    const state *s = data;
    return s->now->own > 0 ? s->now->own : s->now->h.level[0].modes;
}

const drape_i_precond drape_i_precond_amg = {.name = "amg",
                                             .about = "smoothed aggregation multigrid",
                                             .symmetric = true,
                                             .single = true,
                                             .variant = variant,
                                             .variants = sizeof variant / sizeof *variant,
                                             .automatic = true,
                                             .check = check,
                                             .variant_of = variant_of,
                                             .suits = suits,
                                             .select = select,
                                             .modes = modes,
                                             .create = create,
                                             .destroy = destroy,
                                             .refresh = refresh,
                                             .apply = apply,
                                             .traffic = traffic,
                                             .prepared = prepared,
                                             .learn = learn,
                                             .describe = describe,
                                             .interpolation = interpolation,
                                             .due = due};
