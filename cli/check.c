/* check.c: drape check: reads everything that a run would read, and says what is wrong with it. */
#include "cli.h"

#include <stdio.h>

static void print_problem(void *user, const char *text) {
    ++*(int32_t *)user;
    printf("%s\n", text);
}

/* What the reader of scenes cannot see: meshes that are no cloth, settings that no step takes. */
static bool try_to_build(drape_context *ctx, const drape_scene *scene) {
    drape_sim *sim;
    drape_status status = drape_sim_create(ctx, scene, &sim);
    if (status) {
        printf("%s\n", drape_message(ctx));
        return false;
    }
    const drape_cloth *cloth = drape_sim_cloth(sim);
    printf("good: %d vertices, %d triangles in %d piece%s; %d frames of %d steps of %g s\n",
           drape_cloth_vertices(cloth), drape_cloth_triangles(cloth), drape_cloth_pieces(cloth),
           drape_cloth_pieces(cloth) == 1 ? "" : "s", scene->frames, scene->steps_per_frame, scene->step);
    drape_sim_destroy(sim);
    return true;
}

int command_check(int argc, char **argv) {
    scene_arguments a = {0};
    option options[SCENE_OPTIONS + 1] = {0};
    int32_t problems = 0;
    scene_option_table(&a, options);
    command_line line = {
        .usage = "drape check SCENE [options]",
        .about = "Reads a scene file (or a scene that ships) and its meshes, writes nothing, and reports every "
                 "problem it\nfinds with file, line and column, or vertex and triangle. Exit code 0: "
                 "good, 2: problems.",
        .options = options,
        .positional = &a.name,
        .positional_count = 1};
    parse_result parsed = parse_arguments(&line, argc, argv);
    if (parsed != PARSE_GOOD) return parsed == PARSE_HELP ? EXIT_GOOD : EXIT_BAD_INPUT;
    if (!a.name) {
        complain("which scene? (usage: %s)", line.usage);
        return EXIT_BAD_INPUT;
    }
    drape_context *ctx = make_context(a.threads);
    if (!ctx) return EXIT_BAD_INPUT;
    drape_scene_options how = scene_options(&a);
    how.problem = print_problem;
    how.problem_user = &problems;
    drape_scene *scene = NULL;
    bool good = drape_scene_load(ctx, a.name, &how, &scene) == DRAPE_OK;
    if (!good && problems == 0) complain("%s", drape_message(ctx));
    if (problems > 1) printf("%d problems\n", problems);
    if (good) {
        scene->solve.direct = direct_solver();
        good = direct_is_there("solver.method", &scene->solve) && try_to_build(ctx, scene);
    }
    drape_scene_destroy(ctx, scene);
    drape_context_destroy(ctx);
    return good ? EXIT_GOOD : EXIT_BAD_INPUT;
}
