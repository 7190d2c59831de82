/* hashes.c: prints a line for every scene that ships, every model, integrator, preconditioner and method, each with a
 * hash of all bits of the result. The lines are kept in hashes.txt; test_hashes.sh compares.
 *
 *   golden-hashes SCRATCH THREADS SIMD [PART PARTS]
 *
 * SCRATCH: a file that may be written; SIMD: sse2, avx2, avx512 or best. With PART and PARTS only the lines PART,
 * PART + PARTS, PART + 2 PARTS... counted from 0; so a program that runs slowly can share them among several
 * settings.
 *
 * Exit codes: 0 good, 1 something failed, 77 the processor has no such instructions. Public headers only, so that it
 * links with a library of any build. */
#include "drape/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Small, but large enough for several chunks of rows and for three levels of amg. */
enum { RESOLUTION = 25, STEPS = 10, EXIT_NO_SUCH_SIMD = 77 };
/* Scenes with contact: coarser, and in longer steps, so that they have touched something by then. */
enum { CONTACT_RESOLUTION = 13, CONTACT_STEPS = 14, KNOT_RESOLUTION = 41 /* it crosses itself when it is coarser */ };
static const double CONTACT_STEP = 0.01; /* s */

static const char SYSTEM_SCENE[] = "drooping";
static const double TOLERANCE = 1e-8; /* many iterations, so that a bit that differs has time to spread */

typedef struct golden {
    drape_context *ctx;
    const char *scratch;
    int32_t line, part, parts; /* lines so far; which of them are wanted */
} golden;

static bool wants_line(golden *g) { return g->line++ % g->parts == g->part; }

/* FNV-1a, 64 bits, over the bytes of `count` doubles, on top of a hash so far. */
static uint64_t hash_doubles(uint64_t hash, const double *numbers, size_t count) {
    const uint64_t prime = 1099511628211u;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &numbers[i], sizeof bits);
        for (int byte = 0; byte < 8; byte++) hash = (hash ^ (bits >> 8 * byte & 255)) * prime;
    }
    return hash;
}

static const uint64_t NO_BYTES = 14695981039346656037u; /* FNV's hash of nothing */

static uint64_t hash_state(drape_sim *sim) {
    size_t count = 3 * (size_t)drape_cloth_vertices(drape_sim_cloth(sim));
    return hash_doubles(hash_doubles(NO_BYTES, drape_sim_positions(sim), count), drape_sim_velocities(sim), count);
}

static drape_status simulate(drape_context *ctx, const drape_scene *scene, int32_t steps, drape_sim **sim) {
    drape_status status = drape_sim_create(ctx, scene, sim);
    for (int32_t k = 0; k < steps && !status; k++) status = drape_sim_step(*sim, NULL);
    return status;
}

static bool has_contact(const drape_scene *scene) {
    return scene->collider_count > 0 || (scene->contact && scene->contact->self);
}

/* Rows of the linearised integrator keep to the paper's law of contact springs. Some scenes meet nothing but
 * themselves, and not in so few steps: without contact they stay as fine as they were when their rows were first
 * kept. */
static int32_t old_ways(const char *name, const char *integrator, const char *set[1]) {
    static const char *const alone[] = {"flag", "curtain", "hammock"};
    set[0] = integrator ? "contact.law=linear" : NULL;
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
        if (strcmp(name, alone[i]) == 0) set[0] = "contact={self: false}";
    return set[0] != NULL;
}

static drape_status load(golden *g, const char *name, const char *integrator, bool irregular,
                         drape_loaded_scene **loaded) {
    const char *set[1];
    drape_scene_options options = {.resolution = RESOLUTION,
                                   .irregular = irregular,
                                   .integrator = integrator,
                                   .set = set,
                                   .set_count = old_ways(name, integrator, set)};
    drape_status status = drape_scene_load(g->ctx, name, &options, loaded);
    if (status || !has_contact(drape_loaded_scene_data(*loaded))) return status;
    drape_loaded_scene_destroy(*loaded);
    options.resolution = strcmp(name, "knot") == 0 ? KNOT_RESOLUTION : CONTACT_RESOLUTION;
    status = drape_scene_load(g->ctx, name, &options, loaded);
    if (status) return status;
    drape_scene *scene = drape_loaded_scene_edit(*loaded);
    scene->step = CONTACT_STEP;
    scene->integration.max_stretch = 10; /* the ball of `stack` goes by half its size in such a step */
    return DRAPE_OK;
}

/* integrator NULL: the scene's own. The scene of the system runs in any case, where its line is not wanted. */
static drape_status print_scene(golden *g, const char *name, const char *integrator, bool irregular) {
    drape_loaded_scene *loaded = NULL;
    drape_sim *sim = NULL;
    bool system = strcmp(name, SYSTEM_SCENE) == 0 && integrator && !irregular, wanted = wants_line(g);
    if (!wanted && !system) return DRAPE_OK;
    drape_status status = load(g, name, integrator, irregular, &loaded);
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    int32_t steps = !status && has_contact(scene) ? CONTACT_STEPS : STEPS;
    if (!status) status = simulate(g->ctx, scene, steps, &sim);
    if (!status && wanted)
        printf("scene %s %s%s%s %d steps: %016llx\n", name, irregular ? "irregular" : "regular",
               integrator ? " " : "", integrator ? integrator : "", steps, (unsigned long long)hash_state(sim));
    if (!status && system) status = drape_sim_export_system(sim, g->scratch);
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
    return status;
}

/* SYSTEM_SCENE with one thing changed, "path=value"; and other steps, likewise, or NULL. */
static drape_status print_variant(golden *g, const char *set, const char *steps) {
    const char *const sets[] = {set, steps};
    const drape_scene_options options = {.resolution = RESOLUTION, .set = sets, .set_count = steps ? 2 : 1};
    drape_loaded_scene *loaded = NULL;
    drape_sim *sim = NULL;
    if (!wants_line(g)) return DRAPE_OK;
    drape_status status = drape_scene_load(g->ctx, SYSTEM_SCENE, &options, &loaded);
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    if (!status) status = simulate(g->ctx, scene, STEPS, &sim);
    if (!status)
        printf("scene %s %s %d steps: %016llx\n", SYSTEM_SCENE, set, STEPS, (unsigned long long)hash_state(sim));
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
    return status;
}

/* Every integrator with fixed steps, and under control of the error. */
static drape_status print_variants(golden *g) {
    char set[80];
    drape_status status = DRAPE_OK;
    for (int32_t i = 0; drape_model_name(i) && !status; i++) {
        if (strcmp(drape_model_name(i), drape_cloth_defaults().model) == 0) continue; /* it is the scene's own */
        snprintf(set, sizeof set, "model=%s", drape_model_name(i));
        status = print_variant(g, set, NULL);
    }
    for (int32_t i = 0; drape_ode_method_name(i) && !status; i++) {
        const char *method = drape_ode_method_name(i);
        snprintf(set, sizeof set, "integrator=%s", method);
        bool implicit = drape_ode_method_implicit(method);
        bool usual = strcmp(method, drape_integration_defaults().ode.method) == 0; /* the scene's own */
        if (!usual) status = print_variant(g, set, implicit ? NULL : "time={step: 20 us, fps: 1000}");
        snprintf(set, sizeof set, "integrator={method: %s, control: error}", method);
        if (!status) status = print_variant(g, set, implicit ? NULL : "time={step: 200 us, fps: 1000}");
    }
    const char *sewn =
        "stitches=[{a: {at: [[0.3, 0.3], [0.5, 0.2]]}, b: {at: [[0.3, 0.7], [0.6, 0.8]]}, close: 0.5 s}]";
    const char *stiffening = "cloth.0.material={stretch: 1 kN/m, stretch_stiff: [9 kN/m, 5 kN/m], "
                             "stretch_knee: 0.2 %, shear_stiff: 500 N/m, shear_knee: 0.01}";
    if (!status) status = print_variant(g, sewn, NULL);
    return status ? status : print_variant(g, stiffening, NULL);
}

static bool is_linearised(golden *g, const char *name) {
    drape_loaded_scene *loaded = NULL;
    if (drape_scene_builtin(g->ctx, name, RESOLUTION, &loaded)) return false;
    bool linearised = strcmp(drape_loaded_scene_data(loaded)->integration.ode.method, DRAPE_LINEARISED_EULER) == 0;
    drape_loaded_scene_destroy(loaded);
    return linearised;
}

static drape_status print_scenes(golden *g) {
    drape_status status = DRAPE_OK;
    for (int32_t i = 0; drape_scene_name(i) && !status; i++) {
        if (drape_scene_stand_in(i)) continue;                  /* without its files it is that one */
        bool rests = strcmp(drape_scene_name(i), "slope") == 0; /* with every integrator, bit by bit */
        status = print_scene(g, drape_scene_name(i), NULL, false);
        if (!status && !rests && !is_linearised(g, drape_scene_name(i)))
            status = print_scene(g, drape_scene_name(i), DRAPE_LINEARISED_EULER, false);
    }
    if (!status) status = print_scene(g, SYSTEM_SCENE, NULL, true);
    return status ? status : print_scene(g, SYSTEM_SCENE, DRAPE_LINEARISED_EULER, true);
}

/* A result without meaning (a breakdown) has no hash: what a NaN's bits are, nobody promises. */
static void print_solution(const drape_solve_settings *s, const drape_solve_result *result, const double *x,
                           size_t count) {
    const bool meaning = result->reason == DRAPE_CONVERGED || result->reason == DRAPE_ITERATION_LIMIT;
    printf("solve %s %s modes %d: %s after %d iterations ", s->method, s->precond, s->amg.modes,
           drape_reason_name(result->reason), result->iterations);
    if (meaning) printf("%016llx\n", (unsigned long long)hash_doubles(NO_BYTES, x, count));
    else printf("-\n");
}

static drape_status print_solve(golden *g, const drape_problem *problem, const char *method, const char *precond,
                                int32_t modes) {
    drape_solve_settings settings = drape_solve_defaults();
    drape_solve_result result;
    size_t count = 3 * (size_t)problem->A->rows;
    if (!wants_line(g)) return DRAPE_OK;
    double *x = calloc(count, sizeof *x);
    if (!x) return DRAPE_ERROR_MEMORY;
    settings.method = method;
    settings.precond = precond;
    settings.tol = TOLERANCE;
    settings.amg.modes = modes;
    drape_status status = drape_solve(g->ctx, problem, &settings, x, &result);
    if (!status) print_solution(&settings, &result, x, count);
    free(x);
    return status;
}

/* "direct" is another library's arithmetic. */
static drape_status print_solves(golden *g, const drape_problem *problem) {
    drape_status status = print_solve(g, problem, "auto", "auto", 0);
    if (!status) status = print_solve(g, problem, "ppcg", "amg", 6);
    for (int32_t i = 0; drape_precond_name(i) && !status; i++) {
        const char *precond = drape_precond_name(i);
        const char *method = drape_method_takes("ppcg", precond) ? "ppcg" : "bicgstab";
        if (drape_method_takes(method, precond)) status = print_solve(g, problem, method, precond, 3);
    }
    for (int32_t i = 0; drape_method_name(i) && !status; i++) {
        const char *method = drape_method_name(i);
        if (strcmp(method, "direct") != 0)
            status = print_solve(g, problem, method, drape_method_default_precond(method), 3);
    }
    return status;
}

static drape_status print_system(golden *g) {
    drape_system system = {0};
    drape_constraints *held = NULL;
    drape_status status = drape_system_read(g->ctx, g->scratch, &system);
    if (!status) status = drape_constraints_create(g->ctx, system.A.rows, &held);
    if (!status) status = drape_constraints_set_filter(held, system.S, system.z);
    if (!status && wants_line(g))
        printf("system %s: %016llx\n", SYSTEM_SCENE,
               (unsigned long long)hash_doubles(NO_BYTES, system.A.val, 9 * (size_t)system.A.rowptr[system.A.rows]));
    if (!status)
        status = print_solves(
            g, &(drape_problem){.A = &system.A, .b = system.b, .constraints = held, .positions = system.cur});
    drape_constraints_destroy(held);
    drape_system_clear(g->ctx, &system);
    return status;
}

static drape_simd simd_of(const char *name) {
    for (int level = DRAPE_SIMD_BASELINE; level <= DRAPE_SIMD_AVX512; level++)
        if (strcmp(name, drape_simd_name((drape_simd)level)) == 0) return (drape_simd)level;
    return DRAPE_SIMD_BEST;
}

int main(int argc, char **argv) {
    if (argc != 4 && argc != 6) return EXIT_FAILURE;
    drape_context_settings settings = drape_context_defaults();
    settings.threads = (int32_t)strtol(argv[2], NULL, 10);
    settings.simd = simd_of(argv[3]);
    golden g = {.scratch = argv[1], .parts = 1};
    if (argc == 6) {
        g.part = (int32_t)strtol(argv[4], NULL, 10);
        g.parts = (int32_t)strtol(argv[5], NULL, 10);
        if (g.parts < 1) return EXIT_FAILURE;
    }
    drape_status status = drape_context_create(&settings, &g.ctx);
    if (status == DRAPE_ERROR_ARGUMENT) return EXIT_NO_SUCH_SIMD;
    if (!status) status = print_scenes(&g);
    if (!status) status = print_system(&g);
    if (!status) status = print_variants(&g);
    if (status) fprintf(stderr, "%s\n", g.ctx ? drape_message(g.ctx) : drape_status_name(status));
    drape_context_destroy(g.ctx);
    return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
