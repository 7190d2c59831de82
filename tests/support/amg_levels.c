/* amg_levels.c: see amg_levels.h. */
#include "support/amg_levels.h"

#include "support/dense.h"
#include "support/random_systems.h"
#include "support/sheets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

drape_i_amg_settings amg_settings(int32_t modes) {
    return (drape_i_amg_settings){.theta = 0.32, .modes = modes, .levels = DRAPE_I_AMG_LEVELS, .lanczos = 4};
}

static double scale_for(const drape_bsr3 *A) {
    double most = 0;
    for (int64_t k = 0; k < 9 * A->rowptr[A->rows]; k++) most = fmax(most, fabs(A->val[k]));
    return most > 0 ? 1 / most : 1;
}

amg_made amg_make(drape_context *ctx, const drape_bsr3 *A, const drape_constraints *set, const double *x,
                  const drape_i_amg_settings *want) {
    amg_made m = {.ctx = ctx, .in = {A, {set, x}, scale_for(A)}, .want = *want};
    ASSERT_OK(ctx, drape_i_hierarchy_build(ctx, &m.in, want, &m.h));
    return m;
}

void amg_unmake(amg_made *m) { drape_i_hierarchy_free(m->ctx, &m->h); }

void amg_restore_kernel(amg_made *m, int32_t level) {
    for (int32_t n = 0; n < level; n++) {
        drape_i_level *fine = &m->h.level[n], *coarse = fine + 1;
        drape_i_tentative_parts parts = {fine->vectors, coarse->kernel, coarse->scale};
        drape_i_tentative(m->ctx, &m->in, fine, fine->vectors, coarse->kernel, coarse->scale);
        drape_i_interpolation_values(m->ctx, fine, &parts, 4. / 3 / fine->rho);
        drape_i_galerkin_values(m->ctx, fine, coarse);
        drape_i_scale_coarse(m->ctx, fine, coarse);
    }
}

/* ---- What the parts are tried on ---- */

static void visit_random(drape_context *ctx, int32_t directions, void (*visit)(amg_made *m)) {
    random_settings wanted = {260, 1e4, directions == 0 ? 0 : 0.2, directions, false, 0.05, 3};
    random_system s = random_system_create(ctx, &wanted);
    drape_i_amg_settings want = amg_settings(3);
    amg_made m = amg_make(ctx, &s.A, s.set, NULL, &want);
    visit(&m);
    amg_unmake(&m);
    random_system_destroy(&s);
}

typedef struct sheet_case {
    sheet_settings sheet;
    double held; /* share */
    int32_t modes;
    bool unfiltered;
} sheet_case;

static void visit_sheet(drape_context *ctx, const sheet_case *c, void (*visit)(amg_made *m)) {
    sheet s = sheet_create(ctx, &c->sheet);
    drape_i_amg_settings want = amg_settings(c->modes);
    want.unfiltered = c->unfiltered;
    if (c->held > 0) sheet_hold_some(ctx, &s, c->held);
    amg_made m = amg_make(ctx, &s.A, s.set, s.x, &want);
    visit(&m);
    amg_unmake(&m);
    sheet_destroy(&s);
}

void amg_for_many(void (*visit)(amg_made *m)) {
    const sheet_settings plain = {.nx = 21, .ny = 17, .mass = 1e-4, .seed = 5};
    const sheet_settings lonely = {.nx = 25, .ny = 20, .mass = 1e-3, .two = true, .isolated = 9, .seed = 2};
    const sheet_settings bands = {.nx = 40, .ny = 40, .mass = 1e-3, .springs = 30, .seed = 3};
    const sheet_settings mixed = {.nx = 36, .ny = 36, .mass = 1e-3, .shuffled = true, .isolated = 5, .seed = 4};
    const sheet_settings hubs = {.nx = 50, .ny = 50, .mass = 1e-3, .springs = 1500, .hubs = true, .seed = 7};
    const sheet_case cases[] = {{plain, 0, 3, false},    {plain, 0.1, 3, true},    {plain, 0, 6, true},
                                {plain, 0.1, 6, false},  {lonely, 0.05, 3, false}, {lonely, 0.05, 6, false},
                                {bands, 0.05, 3, false}, {mixed, 0.05, 6, false},  {hubs, 0.02, 3, true}};
    drape_context *ctx = test_context(2);
    for (int32_t directions = RANDOM_DIRECTIONS; directions <= 3; directions++) visit_random(ctx, directions, visit);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) visit_sheet(ctx, &cases[k], visit);
    drape_context_destroy(ctx);
}

/* ---- Constraints ---- */

void amg_filter_at(const amg_made *m, int32_t i, double S[9]) {
    const drape_constraints *set = m->in.near.set;
    int32_t index = set ? set->index[drape_i_user_row(&m->h.level[0], i)] : -1;
    for (int k = 0; k < 9; k++) S[k] = index >= 0 ? set->held[index].S[k] : k % 4 == 0;
}

bool amg_is_held(const amg_made *m, int32_t level, int32_t i) {
    double S[9];
    if (level > 0) return false;
    amg_filter_at(m, i, S);
    return amg_largest(9, S) == 0;
}

/* ---- Both halves ---- */

amg_whole amg_whole_of(const drape_i_upper *A) {
    amg_whole w = {A, calloc((size_t)A->rows + 2, sizeof *w.start), calloc((size_t)(2 * A->count) + 1, sizeof *w.col),
                   calloc((size_t)(2 * A->count) + 1, sizeof *w.block)};
    int64_t *next = w.start + 1;
    assert_true(w.start && w.col && w.block);
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++)
            for (int side = 0; side < 2; side++) w.start[(side ? A->col[k] : i) + 1]++;
    for (int32_t i = 0; i < A->rows; i++) w.start[i + 1] += w.start[i];
    memmove(next, w.start, ((size_t)A->rows + 1) * sizeof *next); /* next[i]: where row i goes on */
    for (int32_t i = 0; i < A->rows; i++) /* what is below the diagonal comes first, from the rows above */
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) {
            int64_t at = next[A->col[k]]++;
            w.col[at] = i, w.block[at] = k;
        }
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) {
            int64_t at = next[i]++;
            w.col[at] = A->col[k], w.block[at] = k;
        }
    w.start[0] = 0; /* next[i] has become the end of row i, which is start[i + 1] */
    return w;
}

void amg_whole_clear(amg_whole *w) {
    free(w->start);
    free(w->col);
    free(w->block);
}

void amg_whole_block(const amg_whole *w, int32_t i, int64_t k, double *out) {
    const int32_t r = w->A->r;
    const float *a = w->A->val + r * r * w->block[k];
    for (int32_t e = 0; e < r * r; e++) out[e] = w->col[k] > i ? a[e] : a[e % r * r + e / r];
}

double *amg_dense(const drape_i_upper *A) {
    const int32_t r = A->r;
    const int64_t n = (int64_t)A->rows * r;
    double *out = dense_new(n * n);
    for (int64_t i = 0; i < n; i++) out[i * n + i] = 1;
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++)
            for (int32_t e = 0; e < r * r; e++) {
                int64_t row = (int64_t)r * i + e / r, col = (int64_t)r * A->col[k] + e % r;
                out[row * n + col] = out[col * n + row] = A->val[r * r * k + e];
            }
    return out;
}

/* ---- Vectors and numbers ---- */

void amg_spread(const drape_i_level *l, const double *from, float *to) {
    const int32_t r = l->A.r, stride = DRAPE_I_STRIDE(r);
    for (int64_t i = 0; i < (int64_t)l->A.rows * stride; i++)
        to[i] = i % stride < r ? (float)from[i / stride * r + i % stride] : NAN;
}

void amg_collect(const drape_i_level *l, const float *from, double *to) {
    const int32_t r = l->A.r, stride = DRAPE_I_STRIDE(r);
    for (int64_t i = 0; i < (int64_t)l->A.rows * r; i++) to[i] = from[i / r * stride + i % r];
}

double *amg_random(test_random *r, int64_t count) {
    double *x = dense_new(count);
    for (int64_t i = 0; i < count; i++) x[i] = (float)test_random_between(r, -1, 1);
    return x;
}

double amg_largest(int64_t count, const double *x) {
    double most = 0;
    for (int64_t i = 0; i < count; i++) most = fmax(most, isfinite(x[i]) ? fabs(x[i]) : INFINITY);
    return most;
}

double amg_norm(int32_t count, const float *a) {
    double sum = 0;
    for (int32_t k = 0; k < count; k++) sum += (double)a[k] * a[k];
    return sqrt(sum);
}

drape_context *amg_context(int32_t threads, drape_simd simd) {
    drape_context_settings settings = drape_context_defaults();
    drape_context *ctx;
    settings.threads = threads;
    settings.simd = simd;
    return drape_context_create(&settings, &ctx) == DRAPE_OK ? ctx : NULL;
}
