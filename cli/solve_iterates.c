/* solve_iterates.c: x after every iteration. Methods keep no earlier x, and some do not even have the present one
 * until they end. So the system is solved again with one iteration, with two, and so on, each time from the start.
 * The bits are those of the one long solve. */
#include "solve.h"

#include <stdlib.h>
#include <string.h>

/* x = S start + (I-S) z, with which every method begins. */
static void put_start(const linear_system *s, const double *start, double *x) {
    int64_t n = 3 * (int64_t)s->A.rows;
    memset(x, 0, (size_t)n * sizeof *x);
    if (start) memcpy(x, start, (size_t)n * sizeof *x);
    for (int64_t i = 0; s->held && i < s->A.rows; i++) {
        const double *S = s->file.S + 9 * i, *z = s->file.z + 3 * i, free[3] = {x[3 * i], x[3 * i + 1], x[3 * i + 2]};
        for (int32_t k = 0; k < 3; k++) {
            x[3 * i + k] = z[k];
            for (int32_t c = 0; c < 3; c++) x[3 * i + k] += S[3 * k + c] * (free[c] - z[c]);
        }
    }
}

static void put_line(FILE *out, int32_t iteration, const double *x, int64_t count) {
    fprintf(out, "%d", iteration);
    for (int64_t i = 0; i < count; i++) fprintf(out, ",%.17g", x[i]);
    fputc('\n', out);
}

static drape_status solve_shortly(drape_context *ctx, const linear_system *s, const drape_solve_settings *settings,
                                  const double *start, int32_t iterations, double *x) {
    drape_solve_settings some = *settings;
    drape_problem problem = {.A = &s->A, .b = s->b, .constraints = s->held, .guess = start, .positions = s->file.cur};
    some.max_iterations = iterations;
    some.history = 0;
    return drape_solve(ctx, &problem, &some, x, NULL);
}

bool write_iterates(const char *path, drape_context *ctx, const linear_system *s,
                    const drape_solve_settings *settings, const double *start, int32_t iterations) {
    output_file file;
    drape_status status = DRAPE_OK;
    double *x = calloc(3 * (size_t)s->A.rows + 1, sizeof *x);
    if (!x) complain("out of memory");
    if (!x || !output_begin(&file, path)) {
        free(x);
        return false;
    }
    fprintf(file.stream, "iteration");
    for (int64_t i = 0; i < s->unknowns; i++) fprintf(file.stream, ",x%lld", (long long)i + 1);
    fputc('\n', file.stream);
    put_start(s, start, x);
    put_line(file.stream, 0, x, s->unknowns);
    for (int32_t k = 1; k <= iterations && !status; k++) {
        status = solve_shortly(ctx, s, settings, start, k, x);
        put_line(file.stream, k, x, s->unknowns);
    }
    free(x);
    if (!status) return output_end(&file);
    complain("%s", drape_message(ctx));
    output_drop(&file);
    return false;
}
