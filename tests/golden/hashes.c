/* hashes.c: prints a line for every scene that ships, every model, integrator, preconditioner and method, each with a
 * hash of all bits of the result. The lines are kept in hashes.txt; test_hashes.sh compares.
 *
 *   golden-hashes SCRATCH THREADS SIMD     SCRATCH: a file that may be written; SIMD: sse2, avx2, avx512 or best
 *
 * Exit codes: 0 good, 1 something failed, 77 the processor has no such instructions. Public headers only, so that it
 * links with a library of any build. */
#include "drape/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Small, but large enough for several chunks of rows and for three levels of amg. */
enum { RESOLUTION = 25, STEPS = 10, EXIT_NO_SUCH_SIMD = 77 };

static const char SYSTEM_SCENE[] = "drooping";
static const double TOLERANCE = 1e-8; /* many iterations, so that a bit that differs has time to spread */

typedef struct golden {
    drape_context *ctx;
    const char *scratch;
} golden;

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

static drape_status simulate(drape_context *ctx, const drape_scene *scene, drape_sim **sim) {
    drape_status status = drape_sim_create(ctx, scene, sim);
    for (int k = 0; k < STEPS && !status; k++) status = drape_sim_step(*sim, NULL);
    return status;
}

/* integrator NULL: the scene's own. */
static drape_status print_scene(const golden *g, const char *name, const char *integrator, bool irregular) {
    const drape_scene_options options = {.resolution = RESOLUTION, .irregular = irregular, .integrator = integrator};
    drape_loaded_scene *loaded = NULL;
    drape_sim *sim = NULL;
    drape_status status = drape_scene_load(g->ctx, name, &options, &loaded);
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    if (!status) status = simulate(g->ctx, scene, &sim);
    if (!status)
        printf("scene %s %s%s%s %d steps: %016llx\n", name, irregular ? "irregular" : "regular",
               integrator ? " " : "", integrator ? integrator : "", STEPS, (unsigned long long)hash_state(sim));
    if (!status && strcmp(name, SYSTEM_SCENE) == 0 && integrator && !irregular)
        status = drape_sim_export_system(sim, g->scratch);
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
    return status;
}

/* SYSTEM_SCENE with one thing changed, "path=value"; and other steps, likewise, or NULL. */
static drape_status print_variant(const golden *g, const char *set, const char *steps) {
    const char *const sets[] = {set, steps};
    const drape_scene_options options = {.resolution = RESOLUTION, .set = sets, .set_count = steps ? 2 : 1};
    drape_loaded_scene *loaded = NULL;
    drape_sim *sim = NULL;
    drape_status status = drape_scene_load(g->ctx, SYSTEM_SCENE, &options, &loaded);
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    if (!status) status = simulate(g->ctx, scene, &sim);
    if (!status)
        printf("scene %s %s %d steps: %016llx\n", SYSTEM_SCENE, set, STEPS, (unsigned long long)hash_state(sim));
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
    return status;
}

/* Every integrator with fixed steps, and under control of the error. */
static drape_status print_variants(const golden *g) {
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
    return status;
}

static bool is_linearised(const golden *g, const char *name) {
    drape_loaded_scene *loaded = NULL;
    if (drape_scene_builtin(g->ctx, name, RESOLUTION, &loaded)) return false;
    bool linearised = strcmp(drape_loaded_scene_data(loaded)->integration.ode.method, DRAPE_LINEARISED_EULER) == 0;
    drape_loaded_scene_destroy(loaded);
    return linearised;
}

/* Those of scenes with contact are not kept. */
static bool has_contact(const golden *g, const char *name) {
    drape_loaded_scene *loaded = NULL;
    if (drape_scene_builtin(g->ctx, name, RESOLUTION, &loaded)) return false;
    const drape_scene *scene = drape_loaded_scene_data(loaded);
    bool contact = scene->collider_count > 0 || (scene->contact && scene->contact->self);
    drape_loaded_scene_destroy(loaded);
    return contact;
}

static drape_status print_scenes(const golden *g) {
    drape_status status = DRAPE_OK;
    for (int32_t i = 0; drape_scene_name(i) && !status; i++) {
        if (has_contact(g, drape_scene_name(i))) continue;
        status = print_scene(g, drape_scene_name(i), NULL, false);
        if (!status && !is_linearised(g, drape_scene_name(i)))
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

static drape_status print_solve(const golden *g, const drape_problem *problem, const char *method,
                                const char *precond, int32_t modes) {
    drape_solve_settings settings = drape_solve_defaults();
    drape_solve_result result;
    size_t count = 3 * (size_t)problem->A->rows;
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
static drape_status print_solves(const golden *g, const drape_problem *problem) {
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

static drape_status print_system(const golden *g) {
    drape_system system = {0};
    drape_constraints *held = NULL;
    drape_status status = drape_system_read(g->ctx, g->scratch, &system);
    if (!status) status = drape_constraints_create(g->ctx, system.A.rows, &held);
    if (!status) status = drape_constraints_set_filter(held, system.S, system.z);
    if (!status) {
        printf("system %s: %016llx\n", SYSTEM_SCENE,
               (unsigned long long)hash_doubles(NO_BYTES, system.A.val, 9 * (size_t)system.A.rowptr[system.A.rows]));
        status = print_solves(
            g, &(drape_problem){.A = &system.A, .b = system.b, .constraints = held, .positions = system.cur});
    }
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
    if (argc != 4) return EXIT_FAILURE;
    drape_context_settings settings = drape_context_defaults();
    settings.threads = (int32_t)strtol(argv[2], NULL, 10);
    settings.simd = simd_of(argv[3]);
    golden g = {.scratch = argv[1]};
    drape_status status = drape_context_create(&settings, &g.ctx);
    if (status == DRAPE_ERROR_ARGUMENT) return EXIT_NO_SUCH_SIMD;
    if (!status) status = print_scenes(&g);
    if (!status) status = print_system(&g);
    if (!status) status = print_variants(&g);
    if (status) fprintf(stderr, "%s\n", g.ctx ? drape_message(g.ctx) : drape_status_name(status));
    drape_context_destroy(g.ctx);
    return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
