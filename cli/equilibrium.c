/* equilibrium.c: drape equilibrium: moves the cloth of a scene to where its forces are balanced, and writes it, for
 * another scene to start from. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CORRECTIONS = 1000000 };

typedef struct equilibrium {
    scene_arguments scene;
    const char *output; /* NULL: made from the name of the scene */
    double tolerance;
    int32_t corrections;
    drape_context *ctx;
    drape_loaded_scene *loaded;
    drape_sim *sim;
} equilibrium;

/* "scenes/flag.yaml" becomes "flag_equilibrium.obj". */
static char *name_output(const char *scene) {
    static const char ending[] = "_equilibrium.obj";
    const char *slash = strrchr(scene, '/'), *begin = slash ? slash + 1 : scene, *dot = strrchr(begin, '.');
    int length = (int)(dot ? dot - begin : (long)strlen(begin));
    size_t room = (size_t)length + sizeof ending;
    char *name = malloc(room);
    if (name) snprintf(name, room, "%.*s%s", length, begin, ending);
    return name;
}

static bool prepare(equilibrium *s) {
    if (!drape_writer_knows(s->output)) {
        complain("-o %s: unknown file extension (`drape list formats`)", s->output);
        return false;
    }
    s->ctx = make_context(s->scene.threads, true);
    if (!s->ctx) return false;
    drape_scene_options how = scene_options(&s->scene);
    drape_status status = drape_scene_load(s->ctx, s->scene.name, &how, &s->loaded);
    if (!status) {
        drape_scene *scene = drape_loaded_scene_edit(s->loaded);
        scene->solve.direct = direct_solver();
        if (!direct_is_there("solver.method", &scene->solve)) return false;
        status = drape_sim_create(s->ctx, scene, &s->sim);
        if (status == DRAPE_ERROR_ARGUMENT) {
            complain_of_refusal(s->ctx, &s->scene);
            return false;
        }
    }
    if (status) complain("%s", drape_message(s->ctx));
    return status == DRAPE_OK && can_write(s->output);
}

/* False after a complaint. */
static bool write_cloth(const equilibrium *s) {
    const drape_scene *scene = drape_loaded_scene_data(s->loaded);
    drape_animation what = {
        .cloth = drape_sim_cloth(s->sim), .title = scene->name, .pieces = scene->pieces, .frames = 1};
    drape_writer *writer;
    drape_status status = drape_writer_open(s->ctx, s->output, &what, &writer);
    if (!status) {
        status = drape_writer_frame(writer, &(drape_frame){.positions = drape_sim_positions(s->sim)});
        drape_status closed = drape_writer_close(writer);
        if (!status) status = closed;
    }
    if (status) complain("%s", drape_message(s->ctx));
    return status == DRAPE_OK;
}

static bool can_be_started_from(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".obj") == 0 || strcmp(dot, ".ply") == 0 || strcmp(dot, ".pc2") == 0 ||
                   strcmp(dot, ".mdd") == 0);
}

static int run(equilibrium *s) {
    drape_equilibrium_settings how = {.tolerance = s->tolerance, .max_iterations = s->corrections};
    drape_equilibrium_result result;
    double begin = seconds_now();
    drape_status status = drape_sim_find_equilibrium(s->sim, &how, &result);
    if (status) {
        complain("%s", drape_message(s->ctx));
        return status == DRAPE_ERROR_ARGUMENT ? EXIT_BAD_INPUT : EXIT_RUN_FAILED;
    }
    tell("%s after %d correction%s in %.2f s: the remaining forces are %.2g of the weight (%.3g N); moved by up to "
         "%.3g m\n",
         result.at_rest ? "at rest" : "not yet at rest", result.iterations, result.iterations == 1 ? "" : "s",
         seconds_now() - begin, result.residual, result.weight, result.moved);
    if (!result.at_rest) {
        complain("no equilibrium after %d corrections; allow more of them (--corrections), or a larger remaining "
                 "force (--tolerance)",
                 result.iterations);
        return EXIT_RUN_FAILED;
    }
    if (!write_cloth(s)) return EXIT_RUN_FAILED;
    char made[4096];
    drape_writer_makes(s->output, 0, made, sizeof made);
    char *star = strrchr(made, '*');
    if (star) tell("wrote %.*s0000%s\n", (int)(star - made), made, star + 1);
    else tell("wrote %s\n", made);
    if (can_be_started_from(s->output)) tell("to start a scene from there, write `start: {file: %s}`\n", s->output);
    return EXIT_GOOD;
}

static void release(equilibrium *s) {
    drape_sim_destroy(s->sim);
    drape_loaded_scene_destroy(s->loaded);
    drape_context_destroy(s->ctx);
}

int command_equilibrium(int argc, char **argv) {
    equilibrium s = {0};
    option options[SCENE_OPTIONS + 4] = {
        {"--output", "-o", "OUT", "where to write the cloth (`drape list formats`); default: NAME_equilibrium.obj",
         OPTION_TEXT, &s.output, 0, 0},
        {"--tolerance", NULL, "SHARE", "largest remaining force, relative to the weight; default: 1e-7", OPTION_REAL,
         &s.tolerance, 0, 0},
        {"--corrections", NULL, "N", "largest number of corrections; default: 1000", OPTION_NUMBER, &s.corrections, 1,
         MOST_CORRECTIONS}};
    scene_option_table(&s.scene, options + 3);
    command_line line = {
        .usage = "drape equilibrium SCENE.yaml|NAME [options]",
        .about =
            "Finds the static equilibrium of the cloth of a scene, where it hangs once it has stopped swinging, and "
            "writes it.\nTo start a scene from there, write `start: {file: OUT}`. Pins stay at their initial "
            "positions.\nScenes with contact are refused. Exit code 0: at rest, 1: not reached, 2: bad input.",
        .options = options,
        .positional = &s.scene.name,
        .positional_count = 1,
        .names = WORDS_SCENES};
    parse_result parsed = parse_arguments(&line, argc, argv);
    if (parsed != PARSE_GOOD) return parsed == PARSE_HELP ? EXIT_GOOD : EXIT_BAD_INPUT;
    if (!s.scene.name) {
        complain("no scene given (usage: %s; `drape scenes` lists them)", line.usage);
        return EXIT_BAD_INPUT;
    }
    char *own = s.output ? NULL : name_output(s.scene.name);
    if (own) s.output = own;
    int code = s.output && prepare(&s) ? run(&s) : EXIT_BAD_INPUT;
    release(&s);
    free(own);
    return code;
}
