/* krylov.c: DRAPE_ODE_MATRIX_FREE, Newton's corrections without a matrix. A s = r is solved by restarted GMRES (Saad
 * and Schultz 1986). Its products with A = I - c J, or M - c D - c^2 K, are differences of f (Knoll and Keyes 2004):
 *
 *   A w = w   - c / e (f(t, y + e w) - f(t, y))                            first order
 *   A w = M w - c / e (f(t, x + e c w, v + e w) - f(t, x, v))              second order
 *
 * f is computed with some 16 digits, so the difference has an error of about u |y| / (e |w|), u = 2^-52, and e |w| /
 * |y| from where f bends. Both are the same where e |w| = sqrt(u) |y|: with root mean squares ||.||,
 *
 *   e = sqrt(u) S / ||w||,   S = max(||y||, ||psi||), for second order max(||v||, ||psi_v||, ||x|| / c); 1 where S =
 * 0.
 *
 * Preconditioned from the right: A P^-1 u = r, s = P^-1 u, so that the residual is that of A. `filter` is applied to
 * each product, which keeps the basis within what constraints leave free.
 *
 * Memory: restart + 1 vectors of size, one of length, two of size. A product costs one evaluation of f, and in a
 * basis of k vectors 4 k n flops. Arnoldi's process by modified Gram-Schmidt; sums are those of base, so bits do not
 * depend on threads. */
#include "ode/ode.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double USELESS = 0.9;     /* a residual that is left above this share is not a solution */
static const double BREAKDOWN = 1e-14; /* a new direction this short, relative to the product, is none */

void drape_i_ode_krylov_carve(drape_ode *ode, double *(*carve)(void *carver, int64_t count), void *carver) {
    drape_i_ode_krylov *k = &ode->krylov;
    int64_t m = ode->settings.newton.restart;
    k->restart = (int32_t)(m < ode->size ? m : ode->size);
    for (int32_t i = 0; i <= k->restart; i++) k->basis[i] = carve(carver, ode->size);
    k->moved = carve(carver, ode->length);
    k->product = carve(carver, ode->size);
    k->direction = carve(carver, ode->size);
    k->f = carve(carver, ode->size);
    k->H = carve(carver, (k->restart + 1) * (int64_t)k->restart);
}

/* ---- The product ---- */

static double norm(drape_ode *ode, const double *x) { return sqrt(drape_i_dot(ode->ctx, ode->size, x, x)); }

/* sqrt(u) S sqrt(n), over which |w| is e */
static double perturbation(drape_ode *ode, const drape_i_ode_stage *stage) {
    const drape_i_ode_newton_memory *m = &ode->newton;
    int64_t skip = ode->length - ode->size;
    double size = fmax(norm(ode, m->Y + skip), norm(ode, m->psi + skip));
    if (drape_i_ode_is_second(ode)) size = fmax(size, norm(ode, m->Y) / stage->c);
    if (!(size > 0)) size = sqrt((double)ode->size);
    return sqrt(DBL_EPSILON) * size;
}

/* moved = Y moved by e w, and c e w in x */
static void move(drape_ode *ode, const drape_i_ode_stage *stage, double e, const double *w) {
    const double *Y = ode->newton.Y;
    int64_t n = ode->size, skip = ode->length - n;
    drape_i_ode_sum x = {0}, unknown = {0};
    drape_i_ode_sum_add(&unknown, 1, Y + skip);
    drape_i_ode_sum_add(&unknown, e, w);
    drape_i_ode_sum_form(ode->ctx, &unknown, n, ode->krylov.moved + skip);
    if (!skip) return;
    drape_i_ode_sum_add(&x, 1, Y);
    drape_i_ode_sum_add(&x, stage->c * e, w);
    drape_i_ode_sum_form(ode->ctx, &x, n, ode->krylov.moved);
}

static drape_status evaluate(drape_ode *ode, double t, double *Y, double *out) {
    ode->counts.f++;
    return ode->system.f(ode->system.user, t, Y, drape_i_ode_velocity(ode, Y), out);
}

/* out = A w */
static drape_status multiply(drape_ode *ode, const drape_i_ode_stage *stage, const double *w, double *out) {
    drape_i_ode_krylov *k = &ode->krylov;
    const drape_ode_system *system = &ode->system;
    double length = norm(ode, w), e = k->size / length, share = stage->c / e;
    if (!(length > 0)) {
        memset(out, 0, (size_t)ode->size * sizeof *out);
        return DRAPE_OK;
    }
    move(ode, stage, e, w);
    drape_status status = evaluate(ode, stage->t, k->moved, k->product);
    if (!status && system->mass_times) status = system->mass_times(system->user, w, out);
    if (status) return status;
    drape_i_ode_sum sum = {0};
    drape_i_ode_sum_add(&sum, 1, system->mass_times ? out : w);
    drape_i_ode_sum_add(&sum, -share, k->product);
    drape_i_ode_sum_add(&sum, share, k->f);
    drape_i_ode_sum_form(ode->ctx, &sum, ode->size, out);
    if (system->filter) system->filter(system->user, DRAPE_ODE_FILTER_RESIDUAL, out);
    return DRAPE_OK;
}

/* *out = P^-1 w: w itself where there is no preconditioner */
static drape_status precondition(drape_ode *ode, const drape_i_ode_stage *stage, const double *w,
                                 const double **out) {
    drape_i_ode_krylov *k = &ode->krylov;
    double *Y = ode->newton.Y;
    drape_ode_point at = {stage->t, stage->c, Y, drape_i_ode_velocity(ode, Y)};
    *out = w;
    if (!ode->system.precondition) return DRAPE_OK;
    *out = k->direction;
    drape_status status = ode->system.precondition(ode->system.user, &at, k->moved_on, w, k->direction);
    k->moved_on = false;
    return status;
}

/* ---- GMRES ---- */

/* Row i of column j of the Hessenberg matrix. */
static double *entry(const drape_i_ode_krylov *k, int32_t i, int32_t j) {
    return &k->H[(int64_t)j * (k->restart + 1) + i];
}

/* The next vector of the basis from A P^-1 basis[j]; *grew: there is one. */
static drape_status expand(drape_ode *ode, const drape_i_ode_stage *stage, int32_t j, bool *grew) {
    drape_i_ode_krylov *k = &ode->krylov;
    double *w = k->basis[j + 1];
    const double *direction;
    drape_status status = precondition(ode, stage, k->basis[j], &direction);
    if (!status) status = multiply(ode, stage, direction, w);
    if (status) return status;
    double whole = norm(ode, w);
    for (int32_t i = 0; i <= j; i++) {
        double h = drape_i_dot(ode->ctx, ode->size, k->basis[i], w);
        *entry(k, i, j) = h;
        drape_i_axpy(ode->ctx, ode->size, -h, k->basis[i], w);
    }
    double left = norm(ode, w);
    *grew = left > BREAKDOWN * whole;
    *entry(k, j + 1, j) = *grew ? left : 0;
    if (*grew) drape_i_scale(ode->ctx, ode->size, 1 / left, w, w);
    return isfinite(whole) ? DRAPE_OK : DRAPE_ERROR_NUMBER;
}

/* Rotates column j to upper triangular form, and the right-hand side with it: what is left of that is the residual.
 */
static void rotate(drape_i_ode_krylov *k, int32_t j) {
    for (int32_t i = 0; i < j; i++) {
        double a = *entry(k, i, j), b = *entry(k, i + 1, j);
        *entry(k, i, j) = k->cosine[i] * a + k->sine[i] * b;
        *entry(k, i + 1, j) = k->cosine[i] * b - k->sine[i] * a;
    }
    double a = *entry(k, j, j), b = *entry(k, j + 1, j), r = sqrt(a * a + b * b);
    k->cosine[j] = r > 0 ? a / r : 1;
    k->sine[j] = r > 0 ? b / r : 0;
    *entry(k, j, j) = r;
    k->right[j + 1] = -k->sine[j] * k->right[j];
    k->right[j] *= k->cosine[j];
}

/* s += P^-1 (basis y) with H y = right, of `count` columns. */
static drape_status add_combination(drape_ode *ode, const drape_i_ode_stage *stage, int32_t count) {
    drape_i_ode_krylov *k = &ode->krylov;
    const double *step;
    for (int32_t i = count - 1; i >= 0; i--) {
        for (int32_t j = i + 1; j < count; j++) k->right[i] -= *entry(k, i, j) * k->right[j];
        if (!(*entry(k, i, i) > 0)) return DRAPE_ERROR_NUMBER;
        k->right[i] /= *entry(k, i, i);
    }
    memset(k->product, 0, (size_t)ode->size * sizeof *k->product);
    for (int32_t i = 0; i < count; i++) drape_i_axpy(ode->ctx, ode->size, k->right[i], k->basis[i], k->product);
    drape_status status = precondition(ode, stage, k->product, &step);
    if (!status) drape_i_axpy(ode->ctx, ode->size, 1, step, ode->newton.s);
    return status;
}

/* Until the residual, of which *left begins and ends, is below goal, or the basis is full. */
static drape_status cycle(drape_ode *ode, const drape_i_ode_stage *stage, double goal, double *left,
                          int32_t *products) {
    drape_i_ode_krylov *k = &ode->krylov;
    int32_t count = 0;
    bool grew = true;
    drape_i_scale(ode->ctx, ode->size, 1 / *left, k->basis[0], k->basis[0]);
    k->right[0] = *left;
    while (grew && count < k->restart && *products<ode->settings.newton.max_products && * left> goal) {
        drape_status status = expand(ode, stage, count, &grew);
        if (status) return status;
        rotate(k, count++);
        *left = fabs(k->right[count]);
        ++*products;
    }
    return add_combination(ode, stage, count);
}

/* basis[0] = r - A s, and its norm. */
static drape_status residual(drape_ode *ode, const drape_i_ode_stage *stage, double *left, int32_t *products) {
    drape_i_ode_krylov *k = &ode->krylov;
    drape_status status = multiply(ode, stage, ode->newton.s, k->basis[0]);
    if (status) return status;
    ++*products;
    drape_i_xpby(ode->ctx, ode->size, -1, ode->newton.r, k->basis[0]);
    *left = norm(ode, k->basis[0]);
    return DRAPE_OK;
}

drape_status drape_i_ode_krylov_solve(drape_ode *ode, const drape_i_ode_stage *stage, double eta,
                                      drape_ode_answer *answer) {
    drape_i_ode_krylov *k = &ode->krylov;
    const drape_i_ode_newton_memory *m = &ode->newton;
    double whole = norm(ode, m->r), goal = eta * whole, left = whole;
    int32_t *products = &answer->iterations;
    drape_status status = DRAPE_OK;
    memset(m->s, 0, (size_t)ode->size * sizeof *m->s);
    if (!(whole > 0)) return DRAPE_OK;
    k->size = perturbation(ode, stage);
    k->moved_on = true;
    /* The residual has left f in `force`, unless a potential was computed since, which takes the place. */
    if (ode->system.potential) status = evaluate(ode, stage->t, ode->newton.Y, k->f);
    else drape_i_vector_copy(ode->ctx, ode->size, m->force, k->f);
    if (!status) drape_i_vector_copy(ode->ctx, ode->size, m->r, k->basis[0]);
    while (!status && left > goal && *products < ode->settings.newton.max_products) {
        double before = left;
        status = cycle(ode, stage, goal, &left, products);
        if (status || left <= goal) break;
        status = residual(ode, stage, &left, products);
        if (!(left < before)) break; /* it stagnates: as good as differences allow */
    }
    answer->failed = !status && !(left < USELESS * whole);
    return status;
}
