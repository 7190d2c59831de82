/* recall.c: the start of a solve from the solutions of the last ones (Fischer 1998, his first method).
 *
 * Let x_a be the last solutions and the caller's guess. Of all y = sum of c_a S x_a the start is the one nearest to
 * the solution in the energy norm:
 *
 *     G c = g,   G_ab = y_a'A y_b,   g_a = y_a'b^ = y_a'b - (A y_a)'(I-S) z,   y_a = S x_a
 *
 * No combination is nearer: zero, the last solution, and extrapolations of it among them. That costs a product with A
 * for each solution. Where they depend on each other, older ones are left out. */
#include "base/vector.h"
#include "linear/solver.h"

#include <math.h>
#include <string.h>

enum { MOST = DRAPE_I_RECALL + 1 };
static const double DEPENDENT = 1e-12; /* what is left of G_aa over what it was */

typedef struct recalling {
    drape_solver *solver;
    drape_i_solve s;
    int32_t count;
    double *y[MOST];
    double G[MOST][MOST], g[MOST];
} recalling;

/* Solves G c = g by Cholesky's factors, without the rows that depend on those before; c = g afterwards. */
static void solve_small(recalling *r) {
    double(*L)[MOST] = r->G, *c = r->g;
    for (int32_t a = 0; a < r->count; a++) {
        const double own = L[a][a];
        double left = own;
        for (int32_t b = 0; b < a; b++) {
            for (int32_t k = 0; k < b; k++) L[a][b] -= L[a][k] * L[b][k];
            L[a][b] = L[b][b] > 0 ? L[a][b] / L[b][b] : 0;
            left -= L[a][b] * L[a][b];
            c[a] -= L[a][b] * c[b];
        }
        L[a][a] = left > DEPENDENT * own ? sqrt(left) : 0;
        c[a] = L[a][a] > 0 ? c[a] / L[a][a] : 0;
    }
    for (int32_t a = r->count - 1; a >= 0; a--) {
        for (int32_t b = a + 1; b < r->count; b++) c[a] -= L[b][a] * c[b];
        c[a] = L[a][a] > 0 ? c[a] / L[a][a] : 0;
    }
}

static void make_small(recalling *r) {
    drape_i_solve *s = &r->s;
    const drape_constraints *set = s->problem->constraints;
    double *Ay = s->work[0], *held = s->work[1];
    const bool moving = set && set->moving;
    if (moving) drape_i_blend(set, s->problem->A->rows, NULL, held);
    for (int32_t a = 0; a < r->count; a++) {
        drape_i_project(s, r->y[a]);
        r->G[a][a] = drape_i_times(s, r->y[a], Ay);
        r->g[a] = drape_i_inner(s, r->y[a], s->problem->b) - (moving ? drape_i_inner(s, Ay, held) : 0);
        for (int32_t b = a + 1; b < r->count; b++) r->G[b][a] = drape_i_inner(s, Ay, r->y[b]);
    }
}

/* The caller's guess is taken too, unless it is the last solution. */
static void list_vectors(recalling *r, const double *guess) {
    drape_solver *solver = r->solver;
    const size_t bytes = 3 * (size_t)solver->rows * sizeof(double);
    for (int32_t k = 0; k < solver->recalled; k++) r->y[r->count++] = solver->earlier[k];
    memset(solver->recall, 0, bytes);
    if (!guess || memcmp(guess, solver->earlier[0], bytes) == 0) return;
    memcpy(solver->recall, guess, bytes);
    r->y[r->count++] = solver->recall;
}

void drape_i_recall(drape_solver *solver, drape_problem *problem, drape_solve_result *cost) {
    if (solver->recalled == 0 || problem->released) return;
    recalling r = {.solver = solver,
                   .s = {.ctx = solver->ctx,
                         .problem = problem,
                         .couplings = &solver->couplings,
                         .work = {solver->work[0], solver->work[1]},
                         .result = cost}};
    list_vectors(&r, problem->guess);
    make_small(&r);
    solve_small(&r);
    const int64_t n = 3 * (int64_t)solver->rows;
    const bool guessed = r.count > solver->recalled;
    const double keep = guessed ? r.g[r.count - 1] : 0;
    bool finite = true;
    for (int32_t a = 0; a < r.count; a++) finite &= isfinite(r.g[a]) != 0;
    if (!finite) return; /* the solve will say why */
    if (guessed) drape_i_scale(solver->ctx, n, keep, solver->recall, solver->recall);
    for (int32_t a = 0; a < solver->recalled; a++)
        drape_i_axpy(solver->ctx, n, r.g[a], solver->earlier[a], solver->recall);
    problem->guess = solver->recall;
}

/* What was solved before with more held is the same solve: it is replaced. */
void drape_i_remember(drape_solver *solver, const double *x, bool released) {
    const int32_t most = solver->settings.recall;
    if (most == 0) return;
    if (!released || solver->recalled == 0) {
        double *oldest = solver->earlier[most - 1];
        memmove(solver->earlier + 1, solver->earlier, (size_t)(most - 1) * sizeof *solver->earlier);
        solver->earlier[0] = oldest;
        if (solver->recalled < most) solver->recalled++;
    }
    memcpy(solver->earlier[0], x, 3 * (size_t)solver->rows * sizeof *x);
}
