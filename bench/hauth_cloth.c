/* hauth_cloth.c: see hauth.h. The survey's remarks on cloth: implicit methods are about an order of magnitude faster
 * than explicit ones; and what preconditioners gain. */
#include "hauth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const struct entrant {
    const char *method;
    double step; /* s; 0: the largest that the method accepts, found by halving */
} entrants[] = {{"explicit-euler", 0},
                {"rk4", 0},
                {"verlet", 0},
                {"linearised-euler", 5e-3},
                {"implicit-euler", 5e-3},
                {"bdf2", 5e-3},
                {"implicit-midpoint", 5e-3}};
enum { ENTRANTS = sizeof entrants / sizeof *entrants, EXPLICIT = 3 };

static drape_sim *begin(drape_context *ctx, const struct entrant *e, int32_t side, double step) {
    drape_scene_options options = {.resolution = side};
    drape_loaded_scene *loaded;
    drape_sim *sim;
    bench_check(ctx, drape_scene_load(ctx, "drooping", &options, &loaded));
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    scene->integration.ode.method = e->method;
    scene->step = step;
    bench_check(ctx, drape_sim_create(ctx, scene, &sim));
    drape_loaded_scene_destroy(loaded);
    return sim;
}

/* Whether it stays stable for some steps. */
static bool accepts(drape_context *ctx, const struct entrant *e, int32_t side, double step) {
    drape_sim *sim = begin(ctx, e, side, step);
    bool good = true;
    for (int32_t i = 0; i < 20 && good; i++) good = drape_sim_step(sim, NULL) == DRAPE_OK;
    drape_sim_destroy(sim);
    return good;
}

/* s of computing a s of simulation. */
static double pace(drape_context *ctx, const struct entrant *e, int32_t side, double step, double time) {
    drape_sim *sim = begin(ctx, e, side, step);
    double began = bench_seconds();
    bool good = true;
    while (good && drape_sim_time(sim) < time - step / 2) good = drape_sim_step(sim, NULL) == DRAPE_OK;
    double out = good ? (bench_seconds() - began) / time : NAN;
    drape_sim_destroy(sim);
    return out;
}

static void explicit_against_implicit(const bench_options *o) {
    drape_context *ctx = bench_context(1);
    int32_t side = o->quick ? 15 : 31;
    double best_explicit = INFINITY, best_implicit = INFINITY;
    bench_table("Explicit and implicit methods on cloth");
    printf("\n  drooping cotton, %d x %d vertices, one thread\n  %-18s %12s %24s\n", side, side, "method", "step, ms",
           "s per s of simulation");
    for (int32_t k = 0; k < ENTRANTS; k++) {
        double step = entrants[k].step > 0 ? entrants[k].step : 5e-3;
        while (k < EXPLICIT && step > 1e-7 && !accepts(ctx, &entrants[k], side, step)) step /= 2;
        double seconds = pace(ctx, &entrants[k], side, step, k < EXPLICIT ? 0.02 : 0.1);
        if (k < EXPLICIT) best_explicit = fmin(best_explicit, seconds);
        else best_implicit = fmin(best_implicit, seconds);
        bench_row();
        bench_text("method", "  %-18s", entrants[k].method);
        bench_number("step", "ms", " %12.5f", 1e3 * step);
        bench_number("time per s of simulation", "s", " %24.3f", seconds);
        bench_end("\n");
    }
    bench_claim_count("the fastest explicit over the fastest implicit method", best_explicit / best_implicit, 1, 10);
    drape_context_destroy(ctx);
}

static void preconditioners(const bench_options *o) {
    static const char *const names[] = {"none", "diagonal", "block_diagonal", "ssor", "ichol", "amg"};
    bench_request request = {.scene = "drooping", .resolution = o->quick ? 21 : 61, .threads = o->threads};
    bench_system *s = bench_system_create(&request);
    double *x = bench_vector(bench_system_length(s));
    bench_table("Preconditioners on one system");
    bench_system_print(&request, s);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        drape_solve_settings settings = drape_solve_defaults();
        drape_solve_result result;
        settings.method = "ppcg";
        settings.precond = names[k];
        bench_check(s->ctx, drape_solve(s->ctx, &s->problem, &settings, x, &result));
        bench_row();
        bench_text("preconditioner", "  %-16s", names[k]);
        bench_count("iterations", " %6d", result.iterations);
        bench_number("time", "ms", " %9.3f", 1e3 * (result.setup_seconds + result.solve_seconds));
        bench_number("true residual", "", " %9.2e", result.true_residual);
        bench_end("\n");
    }
    bench_keys();
    bench_end("");
    free(x);
    bench_system_destroy(s);
}

void hauth_cloth(const bench_options *o) {
    explicit_against_implicit(o);
    preconditioners(o);
    bench_note("Kinds of Newton's iteration and the linear Jacobian on cloth are the benchmark `newton`.");
}
