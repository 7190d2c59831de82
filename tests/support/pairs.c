/* pairs.c: see pairs.h. */
#include "support/pairs.h"

#include "support/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- A direct solver ---- */

typedef struct factor {
    int32_t n;
    double *L;
} factor;

static void *analyse(const drape_bsr3 *A) {
    factor *f = malloc(sizeof *f);
    if (!f) abort();
    f->n = 3 * A->rows;
    f->L = dense_new((int64_t)f->n * f->n);
    return f;
}

static int factorise(void *state, const drape_bsr3 *A) {
    factor *f = state;
    dense_from_bsr3(A, f->L);
    return dense_cholesky(f->n, f->L) ? 0 : 1;
}

static int solve(void *state, const double *b, double *x) {
    const factor *f = state;
    memcpy(x, b, (size_t)f->n * sizeof *x);
    dense_cholesky_solve(f->n, f->L, x);
    return 0;
}

static int64_t bytes(const void *state) {
    const factor *f = state;
    return (int64_t)sizeof(double) * f->n * f->n;
}

static void destroy(void *state) {
    free(((factor *)state)->L);
    free(state);
}

const drape_direct dense_direct = {.name = "dense Cholesky",
                                   .analyse = analyse,
                                   .factor = factorise,
                                   .solve = solve,
                                   .bytes = bytes,
                                   .destroy = destroy};

/* ---- Pairs ---- */

bool pair_at(int32_t index, drape_solve_settings *out) {
    *out = drape_solve_defaults();
    out->direct = &dense_direct;
    for (int32_t m = 0; (out->method = drape_method_name(m)); m++)
        for (int32_t p = 0; (out->precond = drape_precond_name(p)); p++)
            if (drape_method_takes(out->method, out->precond) && index-- == 0) return true;
    return false;
}

void for_every_pair(pair_fn visit) {
    drape_context *ctx = test_context(1);
    drape_solve_settings settings;
    for (int32_t k = 0; pair_at(k, &settings); k++) {
        visit(ctx, &settings);
        PAIR_TRUE(&settings, drape_context_bytes(ctx) == 0);
    }
    drape_context_destroy(ctx);
}

bool pair_uses(const drape_solve_settings *s, const char *method) { return strcmp(s->method, method) == 0; }
bool pair_is_direct(const drape_solve_settings *s) { return pair_uses(s, "direct"); }
bool pair_is_symmetric(const drape_solve_settings *s) { return drape_method_needs_symmetry(s->method); }

bool pair_takes_guess(const drape_solve_settings *s) {
    return !pair_uses(s, "mpcg-original") && !pair_uses(s, "mpcg-printed") && !pair_is_direct(s);
}

bool pair_improves_guess(const drape_solve_settings *s) {
    return pair_uses(s, "ppcg") && (strcmp(s->precond, "amg") == 0 || strcmp(s->precond, "ichol") == 0);
}

bool pair_is_single(const drape_solve_settings *s) { return strcmp(s->precond, "amg") == 0; }

bool pair_is_blockwise(const drape_solve_settings *s) {
    static const char *const names[] = {"none", "diagonal", "block_diagonal"};
    for (int k = 0; k < 3; k++)
        if (strcmp(s->precond, names[k]) == 0) return true;
    return false;
}

void pair_near(const drape_solve_settings *s, double got, double want, double tolerance, const char *what) {
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%s, %s: %s = %.17g, wanted %.17g within %.3g (off by %.3g)", s->method, s->precond, what, got, want,
                 tolerance, got - want);
}

void pair_reason(const drape_solve_settings *s, drape_reason got, drape_reason want) {
    if (got != want)
        fail_msg("%s, %s: %s, wanted: %s", s->method, s->precond, drape_reason_name(got), drape_reason_name(want));
}
