/* ascher_boxerman_parts.c: see ascher_boxerman.h. The corrected form differs from the original in two things: what
 * the residual is compared with (b_delta), and where the iteration starts. Here each is changed by itself, on the
 * systems of a run that is solved tightly, so that all four solve the same ones:
 *
 *   b_delta original   (Sb)'P^-1 (Sb)         corrected   b^'P^-1 b^, b^ = S (b - A (I-S) z)
 *   start   original   (I-S) z                corrected   S y + (I-S) z, y the change of the step before
 *
 * The library combines the first with the first and the second with the second. The other two are the corrected form
 * without a guess, and with the bound that the original b_delta gives. */
#include "ascher_boxerman.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 100, FORMS = 4, DENSITIES = 5 };
static const double TOLERANCE = 0.01, TIGHT = 1e-10, NEVER = 1e-15;
static const char *const form_name[FORMS] = {"original", "start corrected", "b_delta corrected", "both corrected"};

/* ---- Systems ---- */

ab_system ab_system_take(drape_context *ctx, drape_sim *sim) {
    ab_system s = {0};
    char path[256];
    snprintf(path, sizeof path, "/tmp/drape-bench-%ld.sys", (long)getpid());
    bench_check(ctx, drape_sim_export_system(sim, path));
    bench_check(ctx, drape_system_read(ctx, path, &s.file));
    unlink(path);
    bench_check(ctx, drape_constraints_create(ctx, s.file.A.rows, &s.held));
    bench_check(ctx, drape_constraints_set_filter(s.held, s.file.S, s.file.z));
    return s;
}

void ab_system_clear(drape_context *ctx, ab_system *s) {
    drape_constraints_destroy(s->held);
    drape_system_clear(ctx, &s->file);
}

/* ---- The original b_delta ---- */

static double determinant(const double *m) {
    return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
           m[2] * (m[3] * m[7] - m[4] * m[6]);
}

/* v'M^-1 v by Cramer's rule. */
static double inverse_norm2(const double *m, const double v[3]) {
    double sum = 0;
    for (int32_t c = 0; c < 3; c++) {
        double with[9];
        memcpy(with, m, sizeof with);
        for (int32_t k = 0; k < 3; k++) with[3 * k + c] = v[k];
        sum += v[c] * determinant(with) / determinant(m);
    }
    return sum;
}

/* (Sb)'P^-1 (Sb) with P the block diagonal of A. */
static double original_b_delta(const ab_system *s) {
    const drape_bsr3 *A = &s->file.A;
    double sum = 0;
    for (int64_t i = 0; i < A->rows; i++) {
        const double *S = s->file.S + 9 * i, *b = s->file.b + 3 * i;
        double Sb[3];
        for (int32_t k = 0; k < 3; k++) Sb[k] = S[3 * k] * b[0] + S[3 * k + 1] * b[1] + S[3 * k + 2] * b[2];
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
            if (A->col[k] == i) sum += inverse_norm2(A->val + 9 * k, Sb);
    }
    return sum;
}

/* ---- The four forms ---- */

static int32_t iterations_of(drape_context *ctx, const ab_system *s, int32_t form, const double *guess, double *x) {
    bool start = form == 1 || form == 3, bound = form == 2 || form == 3;
    drape_problem problem = {.A = &s->file.A, .b = s->file.b, .constraints = s->held, .guess = start ? guess : NULL};
    drape_solve_settings settings = drape_solve_defaults();
    drape_solve_result result;
    settings.method = "mpcg";
    settings.precond = "block_diagonal";
    settings.tol = TOLERANCE;
    if (!bound) { /* the same bound for the norm itself */
        settings.tol = NEVER;
        settings.floor = TOLERANCE * sqrt(original_b_delta(s));
    }
    bench_check(ctx, drape_solve(ctx, &problem, &settings, x, &result));
    return result.iterations;
}

/* The change that the step before suggests: of velocities, what they changed by; of positions, h v. */
static void make_guess(const ab_variation *v, double step, int64_t length, const double *before, const double *now,
                       double *guess) {
    bool positions = v->unknowns == DRAPE_UNKNOWN_POSITION;
    for (int64_t i = 0; i < length; i++) guess[i] = positions ? step * now[i] : now[i] - before[i];
}

static void run_forms(drape_context *ctx, const ab_variation *v, double mean[FORMS]) {
    ab_variation tight = *v;
    tight.tol = TIGHT;
    drape_sim *sim = ab_begin(ctx, "mpcg", &tight);
    const double h = v->step > 0 ? v->step : 0.05;
    int64_t length = 0;
    double *before = NULL, *now = NULL, *guess = NULL, *x = NULL;
    memset(mean, 0, FORMS * sizeof *mean);
    for (int32_t i = 0; i < STEPS; i++) {
        if (length > 0) {
            memcpy(now, drape_sim_velocities(sim), (size_t)length * sizeof *now);
            make_guess(v, h, length, before, now, guess);
            memcpy(before, now, (size_t)length * sizeof *now);
        }
        bench_check(ctx, drape_sim_step(sim, NULL));
        ab_system s = ab_system_take(ctx, sim);
        if (length == 0) {
            length = 3 * (int64_t)s.file.A.rows;
            before = bench_vector(length), now = bench_vector(length);
            guess = bench_vector(length), x = bench_vector(length);
        }
        for (int32_t f = 0; f < FORMS; f++) mean[f] += (double)iterations_of(ctx, &s, f, guess, x) / STEPS;
        ab_system_clear(ctx, &s);
    }
    free(before), free(now), free(guess), free(x);
    drape_sim_destroy(sim);
}

static const ab_variation experiments[] = {
    {.name = "Choi and Ko, positions, backward Euler", .model = "choi_ko", .unknowns = DRAPE_UNKNOWN_POSITION},
    {.name = "the same with BDF2", .model = "choi_ko", .unknowns = DRAPE_UNKNOWN_POSITION, .integrator = "bdf2"},
    {.name = "Baraff and Witkin, velocities, backward Euler"},
};
enum { EXPERIMENTS = sizeof experiments / sizeof *experiments };

static void draw(const ab_variation *e, int32_t number, int32_t densities, const double density[DENSITIES],
                 double mean[DENSITIES][FORMS]) {
    char name[32], title[128];
    snprintf(name, sizeof name, "parts-%d", number);
    snprintf(title, sizeof title, "b_delta and start, one at a time: %s", e->name);
    bench_plot(name, title);
    bench_plot_axis('x', "density", "kg/m^2", BENCH_LOG);
    bench_plot_axis('y', "mean iterations", "", BENCH_LINEAR);
    for (int32_t f = 0; f < FORMS; f++) {
        bench_curve(form_name[f], f, BENCH_OURS);
        for (int32_t i = 0; i < densities; i++) bench_point(density[i], mean[i][f]);
    }
}

void ab_parts(drape_context *ctx, bool quick) {
    static const double density[DENSITIES] = {0.1, 1, 0.01, 10, 100};
    static const int32_t order[DENSITIES] = {2, 0, 1, 3, 4}; /* ascending */
    int32_t densities = quick ? 2 : DENSITIES;
    bench_table("b_delta and start, one at a time, tolerance 0.01");
    printf("\n%-44s %7s", "mean iterations on the same systems", "kg/m^2");
    for (int32_t f = 0; f < FORMS; f++) printf(" %18s", form_name[f]);
    putchar('\n');
    for (int32_t e = 0; e < (quick ? 1 : EXPERIMENTS); e++) {
        double mean[DENSITIES][FORMS], at[DENSITIES];
        for (int32_t k = 0; k < densities; k++) {
            ab_variation v = experiments[e];
            v.density = at[k] = quick ? density[k] : density[order[k]];
            run_forms(ctx, &v, mean[k]);
            bench_row();
            bench_text("experiment", "%-44s", v.name);
            bench_number("density", "kg/m^2", " %7.2f", v.density);
            for (int32_t f = 0; f < FORMS; f++) bench_number(form_name[f], "iterations", " %18.2f", mean[k][f]);
            bench_end("\n");
        }
        draw(&experiments[e], e + 1, densities, at, mean);
    }
}
