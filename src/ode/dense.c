/* dense.c: A = I - c J, or M - c D - c^2 K, as one dense matrix, and LU with partial pivoting: for examples and small
 * systems. 2/3 n^3 flops per prepare, 2 n^2 per solve, one thread. */
#include "drape/ode.h"

#include "base/context.h"

#include <math.h>
#include <string.h>

enum { MOST_ROWS = 2048 };

struct drape_ode_dense {
    drape_context *ctx;
    drape_ode_dense_settings settings;
    double *mass, *K, *D, *A; /* n x n; mass NULL: the identity */
    int32_t *pivot;
};

static int64_t entries(const drape_ode_dense *d) { return (int64_t)d->settings.size * d->settings.size; }

drape_status drape_ode_dense_create(drape_context *ctx, const drape_ode_dense_settings *settings,
                                    drape_ode_dense **out) {
    drape_ode_dense *d;
    if (out) *out = NULL;
    if (!ctx || !out) return DRAPE_ERROR_ARGUMENT;
    if (!settings) return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "dense: settings are needed, not NULL");
    drape_status status = drape_i_check_reserved(ctx, "drape_ode_dense_settings", settings->reserved, 4);
    if (status) return status;
    if (settings->size < 1 || settings->size > MOST_ROWS || settings->order < 1 || settings->order > 2 ||
        !settings->jacobian)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "dense: size %d (1 to %d), order %d (1 or 2), %s jacobian",
                            settings->size, MOST_ROWS, settings->order, settings->jacobian ? "with a" : "no");
    if (!DRAPE_NEW(ctx, d, 1)) return DRAPE_ERROR_MEMORY;
    d->ctx = ctx;
    d->settings = *settings;
    bool good = DRAPE_NEW(ctx, d->K, entries(d)) && DRAPE_NEW(ctx, d->A, entries(d)) &&
                DRAPE_NEW(ctx, d->pivot, settings->size);
    if (good && settings->order == 2) good = DRAPE_NEW(ctx, d->D, entries(d));
    if (good && settings->mass) good = DRAPE_NEW(ctx, d->mass, entries(d));
    if (!good) {
        drape_ode_dense_destroy(d);
        return DRAPE_ERROR_MEMORY;
    }
    if (d->mass) memcpy(d->mass, settings->mass, (size_t)entries(d) * sizeof *d->mass);
    *out = d;
    return DRAPE_OK;
}

void drape_ode_dense_destroy(drape_ode_dense *d) {
    if (!d) return;
    drape_context *ctx = d->ctx;
    DRAPE_FREE(ctx, d->mass, entries(d));
    DRAPE_FREE(ctx, d->K, entries(d));
    DRAPE_FREE(ctx, d->D, entries(d));
    DRAPE_FREE(ctx, d->A, entries(d));
    DRAPE_FREE(ctx, d->pivot, d->settings.size);
    DRAPE_FREE(ctx, d, 1);
}

/* A = M - c D - c^2 K, or I - c K for first order */
static void assemble(drape_ode_dense *d, double c) {
    int64_t n = d->settings.size, count = entries(d);
    double of_K = d->settings.order == 2 ? c * c : c;
    for (int64_t i = 0; i < count; i++) {
        double mass = d->mass ? d->mass[i] : i % (n + 1) == 0;
        d->A[i] = mass - (d->D ? c * d->D[i] : 0) - of_K * d->K[i];
    }
}

static void swap_rows(double *a, double *b, int64_t n) {
    for (int64_t j = 0; j < n; j++) {
        double kept = a[j];
        a[j] = b[j];
        b[j] = kept;
    }
}

/* P A = L U in place. False: singular, or not finite. */
static bool factor(drape_ode_dense *d) {
    int32_t n = d->settings.size;
    double *A = d->A;
    for (int32_t k = 0; k < n; k++) {
        int32_t p = k;
        for (int32_t i = k + 1; i < n; i++)
            if (fabs(A[(int64_t)i * n + k]) > fabs(A[(int64_t)p * n + k])) p = i;
        double pivot = A[(int64_t)p * n + k];
        if (pivot == 0 || !isfinite(pivot)) return false;
        d->pivot[k] = p;
        if (p != k) swap_rows(A + (int64_t)k * n, A + (int64_t)p * n, n);
        for (int32_t i = k + 1; i < n; i++) {
            double *row = A + (int64_t)i * n, *top = A + (int64_t)k * n, l = row[k] /= pivot;
            for (int32_t j = k + 1; j < n; j++) row[j] -= l * top[j];
        }
    }
    return true;
}

static drape_status prepare(void *user, const drape_ode_point *at) {
    drape_ode_dense *d = user;
    const drape_ode_dense_settings *s = &d->settings;
    memset(d->K, 0, (size_t)entries(d) * sizeof *d->K);
    if (d->D) memset(d->D, 0, (size_t)entries(d) * sizeof *d->D);
    drape_status status = s->jacobian(s->user, at->t, at->x, at->v, d->K, d->D);
    if (status) return status;
    assemble(d, at->c);
    return factor(d) ? DRAPE_OK : DRAPE_ERROR_NUMBER;
}

static drape_status solve(void *user, const drape_ode_request *request, double *x, drape_ode_answer *answer) {
    const drape_ode_dense *d = user;
    int32_t n = d->settings.size;
    memcpy(x, request->r, (size_t)n * sizeof *x);
    for (int32_t i = 0; i < n; i++) { /* x = L \ P r */
        double kept = x[d->pivot[i]];
        x[d->pivot[i]] = x[i];
        x[i] = kept;
    }
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < i; j++) x[i] -= d->A[(int64_t)i * n + j] * x[j];
    for (int32_t i = n - 1; i >= 0; i--) { /* x = U \ x */
        for (int32_t j = i + 1; j < n; j++) x[i] -= d->A[(int64_t)i * n + j] * x[j];
        x[i] /= d->A[(int64_t)i * n + i];
    }
    *answer = (drape_ode_answer){0};
    return DRAPE_OK;
}

static uint64_t stamp(void *user) {
    const drape_ode_dense *d = user;
    return d->settings.stamp(d->settings.user);
}

drape_ode_linear drape_ode_dense_linear(drape_ode_dense *d) {
    if (!d) return (drape_ode_linear){0};
    return (drape_ode_linear){
        .user = d, .prepare = prepare, .solve = solve, .stamp = d->settings.stamp ? stamp : NULL};
}
