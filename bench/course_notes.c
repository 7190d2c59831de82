/* course_notes.c: the benchmark `notes`, after course notes on conjugate gradients for differential equations. It
 * compares gradient descent with CG, and the split form of preconditioning, E^-1 A E^-T y = E^-1 b, with the usual
 * one. It also builds and multiplies a matrix as a list of rows of (column, value) pairs, against 3x3-block rows. The
 * equation is the one that the notes are about: a step of a hanging sheet. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HISTORY = 4000, REPEAT = 20 };

/* ---- Gradient descent, CG, and CG preconditioned ---- */

static const struct entrant {
    const char *method, *precond, *name;
} entrants[] = {{"sd", "none", "gradient descent"},
                {"cg", "none", "conjugate gradients"},
                {"pcg", "diagonal", "CG, diagonal preconditioner"}};
enum { ENTRANTS = 3, CG_DIAGONAL = 2 };

static drape_solve_result solve(bench_system *s, const struct entrant *e, drape_solver **solver, double *x) {
    drape_solve_settings settings = drape_solve_defaults();
    drape_solve_result result;
    settings.method = e->method;
    settings.precond = e->precond;
    settings.stop = DRAPE_STOP_RESIDUAL;
    settings.history = HISTORY;
    settings.max_iterations = 200000;
    bench_check(s->ctx, drape_solver_create(s->ctx, &settings, solver));
    bench_check(s->ctx, drape_solver_solve(*solver, &s->problem, x, &result));
    return result;
}

static void draw_history(const drape_solve_result *r, const char *name, int color) {
    int32_t every = r->history_count > 400 ? r->history_count / 400 : 1;
    bench_curve(name, color, BENCH_LINE);
    for (int32_t i = 0; i < r->history_count; i += every) bench_point(i, r->history[i].residual);
}

static int32_t descend(bench_system *s, bool draw) {
    double *x = bench_vector(bench_system_length(s));
    int32_t found = 0;
    if (draw) {
        bench_plot("history", "Gradient descent against conjugate gradients");
        bench_plot_axis('x', "iteration", "", BENCH_LINEAR);
        bench_plot_axis('y', "relative residual", "", BENCH_LOG);
    }
    for (int32_t k = 0; k < ENTRANTS; k++) {
        drape_solver *solver;
        drape_solve_result r = solve(s, &entrants[k], &solver, x);
        if (draw) draw_history(&r, entrants[k].name, k);
        bench_number(entrants[k].name, "iterations", " %18.0f", r.reason == DRAPE_CONVERGED ? r.iterations : NAN);
        if (k == CG_DIAGONAL) found = r.iterations;
        drape_solver_destroy(solver);
    }
    free(x);
    return found;
}

/* ---- The split form: E = D^1/2 ---- */

static double *roots_of_diagonal(const drape_bsr3 *A) {
    double *root = bench_vector(3 * (int64_t)A->rows);
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
            for (int32_t c = 0; A->col[k] == i && c < 3; c++) root[3 * (int64_t)i + c] = sqrt(A->val[9 * k + 4 * c]);
    return root;
}

/* Of the prefiltered system, since E would otherwise mix held and free unknowns. Iterations of plain CG on it, with
 * the stopping test of the usual form: |E^-1 r| there is sqrt(r'D^-1 r). */
static int32_t split_iterations(bench_system *s) {
    const drape_bsr3 *A = &s->A;
    int64_t blocks = A->rowptr[A->rows], n = bench_system_length(s);
    double *val = bench_vector(9 * blocks), *rhs = bench_vector(n), *x = bench_vector(n);
    bench_check(s->ctx, drape_prefilter(s->ctx, &s->problem, val, rhs));
    drape_bsr3 scaled = {A->rows, A->rowptr, A->col, val};
    double *root = roots_of_diagonal(&scaled);
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
            for (int32_t m = 0; m < 9; m++)
                val[9 * k + m] /= root[3 * (int64_t)i + m / 3] * root[3 * (int64_t)A->col[k] + m % 3];
    for (int64_t i = 0; i < n; i++) rhs[i] /= root[i];
    drape_problem problem = {.A = &scaled, .b = rhs};
    drape_solve_settings settings = drape_solve_defaults();
    drape_solve_result result;
    settings.method = "cg";
    settings.precond = "none";
    bench_check(s->ctx, drape_solve(s->ctx, &problem, &settings, x, &result));
    free(val), free(rhs), free(x), free(root);
    return result.iterations;
}

static int32_t usual_iterations(bench_system *s) {
    drape_solve_settings settings = drape_solve_defaults();
    drape_solve_result result;
    double *x = bench_vector(bench_system_length(s));
    settings.method = "ppcg";
    settings.precond = "diagonal";
    bench_check(s->ctx, drape_solve(s->ctx, &s->problem, &settings, x, &result));
    free(x);
    return result.iterations;
}

/* ---- A list of rows ---- */

typedef struct pair {
    int64_t column;
    double value;
} pair;

typedef struct list_matrix {
    int64_t rows, *count;
    pair **row;
} list_matrix;

static list_matrix list_build(const drape_bsr3 *A) {
    list_matrix l = {3 * (int64_t)A->rows, calloc(3 * (size_t)A->rows, sizeof *l.count),
                     calloc(3 * (size_t)A->rows, sizeof *l.row)};
    for (int64_t i = 0; i < l.rows; i++) {
        const int64_t begin = A->rowptr[i / 3], end = A->rowptr[i / 3 + 1];
        l.row[i] = malloc(3 * (size_t)(end - begin) * sizeof **l.row);
        if (!l.row[i]) abort();
        for (int64_t k = 3 * begin; k < 3 * end; k++) {
            double value = A->val[9 * (k / 3) + 3 * (i % 3) + k % 3];
            if (value != 0) l.row[i][l.count[i]++] = (pair){3 * (int64_t)A->col[k / 3] + k % 3, value};
        }
    }
    return l;
}

static void list_multiply(const list_matrix *l, const double *x, double *y) {
    for (int64_t i = 0; i < l->rows; i++) {
        y[i] = 0;
        for (int64_t k = 0; k < l->count[i]; k++) y[i] += l->row[i][k].value * x[l->row[i][k].column];
    }
}

static void list_free(list_matrix *l) {
    for (int64_t i = 0; i < l->rows; i++) free(l->row[i]);
    free(l->row), free(l->count);
}

typedef struct storage_times {
    double list_build, block_build, list_multiply, block_multiply; /* s */
} storage_times;

/* Entry by entry, as a reader of the notes would. */
static void block_build(drape_context *ctx, const drape_bsr3 *A) {
    drape_builder *builder;
    drape_matrix *matrix;
    bench_check(ctx, drape_builder_create(ctx, 3 * (int64_t)A->rows, &builder));
    for (int64_t i = 0; i < 3 * (int64_t)A->rows; i++)
        for (int64_t k = 3 * A->rowptr[i / 3]; k < 3 * A->rowptr[i / 3 + 1]; k++)
            bench_check(ctx, drape_builder_add(builder, i, 3 * (int64_t)A->col[k / 3] + k % 3,
                                               A->val[9 * (k / 3) + 3 * (i % 3) + k % 3]));
    bench_check(ctx, drape_builder_finish(builder, &matrix));
    drape_matrix_destroy(matrix);
    drape_builder_destroy(builder);
}

static storage_times compare_storage(bench_system *s) {
    double *x = bench_vector(bench_system_length(s)), *y = bench_vector(bench_system_length(s)), a[REPEAT], b[REPEAT];
    storage_times t;
    double began = bench_seconds();
    list_matrix l = list_build(&s->A);
    t.list_build = bench_seconds() - began;
    began = bench_seconds();
    block_build(s->ctx, &s->A);
    t.block_build = bench_seconds() - began;
    for (int64_t i = 0; i < bench_system_length(s); i++) x[i] = 1.0 / (double)(i + 1);
    for (int32_t k = 0; k < REPEAT; k++) {
        began = bench_seconds();
        list_multiply(&l, x, y);
        a[k] = bench_seconds() - began;
        began = bench_seconds();
        bench_check(s->ctx, drape_multiply(s->ctx, &s->A, x, y));
        b[k] = bench_seconds() - began;
    }
    t.list_multiply = bench_median(a, REPEAT), t.block_multiply = bench_median(b, REPEAT);
    list_free(&l);
    free(x), free(y);
    return t;
}

void bench_notes(const bench_options *o) {
    static const int32_t usual[] = {11, 21, 41, 61}, quick[] = {11, 21};
    int32_t side[BENCH_MOST_SIZES], count = bench_sizes(o, o->quick ? quick : usual, o->quick ? 2 : 4, side);
    int32_t apart = 0;
    printf("\n  %8s %18s %18s %18s %8s %8s | ms: build list, blocks; multiply list, blocks\n", "vertices",
           "gradient descent", "CG", "CG, diagonal", "split", "usual");
    for (int32_t i = 0; i < count; i++) {
        bench_request request = {.scene = "drooping", .resolution = side[i], .threads = 1};
        bench_system *s = bench_system_create(&request);
        bench_table("Iterations to a residual of 1e-5, and storage");
        bench_row();
        bench_count("vertices", "  %8d", s->A.rows);
        descend(s, i == (count > 1 ? 1 : 0));
        int32_t split = split_iterations(s), one = usual_iterations(s);
        storage_times t = compare_storage(s);
        bench_count("preconditioned, split form", " %8d", split);
        bench_count("preconditioned, usual form", " %8d", one);
        bench_number("build, list of rows", "ms", " | %8.3f", 1e3 * t.list_build);
        bench_number("build, block rows", "ms", " %8.3f", 1e3 * t.block_build);
        bench_number("multiply, list of rows", "ms", " %8.4f", 1e3 * t.list_multiply);
        bench_number("multiply, block rows", "ms", " %8.4f", 1e3 * t.block_multiply);
        bench_end("\n");
        apart = abs(split - one) > apart ? abs(split - one) : apart;
        bench_system_destroy(s);
    }
    bench_claim_count("iterations: split form less usual form, at most", apart, 0, 2);
}
