/* solve.c: a linear system of an engine of your own, solved by libdrape-solve.
 *
 * A chain of particles hangs from its first, which is held; each is tied to the next by a spring. One implicit step
 * of length h solves (m I + h^2 K) dv = h f: a block of 3x3 numbers for every particle and every spring end. */
#include <drape/solve.h>

#include <stdio.h>

enum { PARTICLES = 100, BLOCKS = 3 * PARTICLES - 2 };

static const double MASS = 0.01, STIFFNESS = 500, STEP = 0.01, GRAVITY = -9.81; /* kg, N/m, s, m/s^2 */

/* The arrays are yours: drape reads them where they are. */
static int64_t rowptr[PARTICLES + 1];
static int32_t col[BLOCKS];
static double val[9 * BLOCKS], b[3 * PARTICLES], x[3 * PARTICLES];

/* Appends the block `number` times the identity to the row that is being written. */
static void append_block(int64_t *count, int32_t column, double number) {
    double *block = val + 9 * *count;
    col[(*count)++] = column;
    block[0] = block[4] = block[8] = number;
}

static void fill_system(void) {
    const double spring = STEP * STEP * STIFFNESS;
    int64_t count = 0;
    for (int32_t i = 0; i < PARTICLES; i++) {
        const int springs = (i > 0) + (i < PARTICLES - 1);
        if (i > 0) append_block(&count, i - 1, -spring);
        append_block(&count, i, MASS + springs * spring);
        if (i < PARTICLES - 1) append_block(&count, i + 1, -spring);
        rowptr[i + 1] = count;
        b[3 * i + 2] = STEP * MASS * GRAVITY;
    }
}

/* The first particle is held in all three directions and moves sideways with 0.5 m/s. */
static drape_status solve(drape_context *ctx, drape_constraints *held, drape_solve_result *result) {
    const drape_constraint first = {.vertex = 0, .directions = 3, .z = {0.5, 0, 0}};
    const drape_bsr3 A = {PARTICLES, rowptr, col, val};
    drape_solve_settings settings = drape_solve_defaults();
    settings.tol = 1e-10;
    drape_status status = drape_constraints_set(held, &first, 1);
    if (status) return status;
    return drape_solve(ctx, &(drape_problem){.A = &A, .b = b, .constraints = held}, &settings, x, result);
}

int main(void) {
    drape_context *ctx;
    drape_constraints *held = NULL;
    drape_solve_result result;
    if (drape_context_create(NULL, &ctx)) return 1;
    fill_system();
    drape_status status = drape_constraints_create(ctx, PARTICLES, &held);
    if (!status) status = solve(ctx, held, &result);
    if (status) fprintf(stderr, "solve: %s\n", drape_message(ctx));
    else
        printf("%s after %d iterations by %s with %s\nresidual %.1e\nfirst %g %g %g, last %g %g %g m/s\n",
               drape_reason_name(result.reason), result.iterations, result.method, result.precond,
               result.true_residual, x[0], x[1], x[2], x[3 * PARTICLES - 3], x[3 * PARTICLES - 2],
               x[3 * PARTICLES - 1]);
    drape_constraints_destroy(held);
    drape_context_destroy(ctx);
    return status || result.reason != DRAPE_CONVERGED;
}
