/* dress.c: drape dress: moves cloth that starts too near a body, or slightly inside, out of it, and lets it come to
 * rest.
 *
 * Bodies are the colliders that are meshes, as they are at the start of the scene. They are shrunk along their
 * normals until nothing crosses, and grow back while the cloth, without weight, is pushed outwards by contact as in
 * any run. Then it hangs under its own forces until it hardly moves. */
#include "cli.h"

#include "drape/crossings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 5, WIDTH = 480, HEIGHT = 640 };

static const double SHARES[TRIES] = {0, 0.125, 0.25, 0.5, 1}; /* of the depth */
static const double GROWTH = 0.05;                            /* m/s: of a body's surface */
static const double CALM = 2e-3;                              /* m/s: root mean square of the velocities */

typedef struct dressing {
    scene_arguments scene;
    const char *output; /* NULL: made from the name of the scene */
    double depth, hang;
    drape_context *ctx;
    drape_loaded_scene *loaded;
    drape_sim *sim;
    drape_scene tried; /* the scene with bodies that grow; its arrays are here: */
    drape_collider *collider;
    drape_pin *pin;
    double **frame; /* of each collider: shrunk, then whole; NULL: as it is */
    double time[2];
} dressing;

/* ---- Bodies ---- */

/* Unit normals of a mesh, weighted by area; 3 doubles per vertex, to be freed. */
static double *normals_of(const drape_collider *c, const double *x) {
    double *n = calloc((size_t)c->vertices * 3 + 1, sizeof *n);
    for (int32_t t = 0; n && t < c->triangles; t++) {
        const int32_t *k = c->triangle + 3 * (int64_t)t;
        double a[3], b[3];
        for (int32_t d = 0; d < 3; d++) {
            a[d] = x[3 * (int64_t)k[1] + d] - x[3 * (int64_t)k[0] + d];
            b[d] = x[3 * (int64_t)k[2] + d] - x[3 * (int64_t)k[0] + d];
        }
        for (int32_t i = 0; i < 3; i++)
            for (int32_t d = 0; d < 3; d++)
                n[3 * (int64_t)k[i] + d] += a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
    }
    for (int64_t v = 0; n && v < c->vertices; v++) {
        double *p = n + 3 * v, length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
        for (int32_t d = 0; d < 3 && length > 0; d++) p[d] /= length;
    }
    return n;
}

/* Two frames: shrunk by the depth, and whole. False without memory. */
static bool shrink_body(dressing *d, int32_t k, double depth) {
    drape_collider *c = &d->collider[k];
    const drape_collider *whole = &drape_loaded_scene_data(d->loaded)->colliders[k];
    const double *x = whole->frames > 0 ? whole->frame : whole->positions;
    int64_t numbers = 3 * (int64_t)c->vertices;
    double *normal = normals_of(c, x);
    free(d->frame[k]);
    d->frame[k] = malloc((size_t)(2 * numbers + 1) * sizeof *d->frame[k]);
    if (!normal || !d->frame[k]) {
        free(normal);
        return false;
    }
    for (int64_t i = 0; i < numbers; i++) {
        d->frame[k][i] = x[i] - depth * normal[i];
        d->frame[k][numbers + i] = x[i];
    }
    free(normal);
    c->frames = 2, c->frame = d->frame[k], c->frame_time = d->time;
    return true;
}

/* The scene as it starts: pins stay, colliders stay except for growing, nothing weighs anything. */
static bool make_scene(dressing *d, double depth) {
    const drape_scene *whole = drape_loaded_scene_data(d->loaded);
    d->tried = *whole;
    d->time[0] = 0, d->time[1] = fmax(depth / GROWTH, whole->step);
    memcpy(d->collider, whole->colliders, (size_t)whole->collider_count * sizeof *d->collider);
    for (int32_t k = 0; k < whole->collider_count; k++) {
        if (d->collider[k].key_count > 1) d->collider[k].key_count = 1;
        if (d->collider[k].shape == DRAPE_COLLIDER_MESH && !shrink_body(d, k, depth)) return false;
    }
    memcpy(d->pin, whole->pins, (size_t)whole->pin_count * sizeof *d->pin);
    for (int32_t p = 0; p < whole->pin_count; p++) d->pin[p].motion = (drape_motion){0};
    d->tried.colliders = d->collider, d->tried.pins = d->pin;
    d->tried.velocity = NULL;
    d->tried.forces = (drape_forces){0};
    d->tried.integration.ode.method = "implicit-euler";
    d->tried.steps_per_frame = (int32_t)fmin(ceil((d->time[1] + d->hang) / whole->step) + 1, 1e8);
    d->tried.frames = 1;
    return true;
}

/* ---- What cannot be cleared ---- */

/* Triangles of the cloth that cross a body which is shrunk as far as it may be; false where counting failed. */
static bool mark_crossings(const dressing *d, const double *x, bool *marked) {
    const drape_cloth *cloth;
    drape_cloth *made = NULL;
    drape_crossings *search = NULL;
    drape_crossings_result result;
    drape_collider_meshes *meshes = NULL;
    drape_crossings_mesh *others = calloc((size_t)d->tried.collider_count + 1, sizeof *others);
    const double **at = calloc((size_t)d->tried.collider_count + 1, sizeof *at);
    drape_status status = drape_cloth_create(d->ctx, d->tried.pieces, d->tried.piece_count, &d->tried.cloth, &made);
    cloth = made;
    if (!status && others && at) status = drape_collider_meshes_create(d->ctx, &d->tried, &meshes);
    if (!others || !at || status) goto out;
    const drape_frame_mesh *mesh = drape_collider_meshes_at(meshes, 0);
    for (int32_t k = 0; k < d->tried.collider_count; k++) {
        others[k] = (drape_crossings_mesh){
            .vertices = mesh[k].vertices, .triangles = mesh[k].triangles, .triangle = mesh[k].triangle};
        at[k] = mesh[k].positions;
    }
    const drape_crossings_bodies bodies = {.cloth = {.vertices = drape_cloth_vertices(cloth),
                                                     .triangles = drape_cloth_triangles(cloth),
                                                     .triangle = drape_cloth_triangle(cloth)},
                                           .others = others,
                                           .other_count = d->tried.collider_count};
    status = drape_crossings_create(d->ctx, &bodies, &search);
    if (!status) status = drape_crossings_count(search, x, at, &result);
    for (int64_t i = 0; !status && i < result.count; i++)
        for (int32_t side = 0; side < 2; side++)
            if (result.crossings[i].body[side] == 0) marked[result.crossings[i].triangle[side]] = true;
out:
    drape_crossings_destroy(search);
    drape_collider_meshes_destroy(meshes);
    drape_cloth_destroy(made);
    free(others), free(at);
    return !status;
}

/* Marked triangles stand after all others, and are red. */
static bool draw_side(const dressing *d, const drape_render_cloth *cloth, const double *x, double azimuth,
                      uint8_t *rgb) {
    drape_render_settings how = drape_render_defaults();
    drape_renderer *renderer = NULL;
    how.width = WIDTH, how.height = HEIGHT;
    how.has_view = true, how.azimuth = azimuth, how.elevation = 10;
    drape_status status = drape_renderer_create(d->ctx, cloth, &how, &renderer);
    if (!status) status = drape_renderer_draw(renderer, &(drape_frame){.positions = x}, rgb);
    drape_renderer_destroy(renderer);
    return !status;
}

/* The cloth from two sides, what crosses in red. False where there is no picture. */
static bool draw_trouble(const dressing *d, const char *path) {
    static const double color[2][3] = {{0.8, 0.8, 0.78}, {0.85, 0.1, 0.1}};
    int32_t vertices = 0, triangles = 0, first = 0, count[2] = {0};
    for (int32_t p = 0; p < d->tried.piece_count; p++)
        vertices += d->tried.pieces[p].vertices, triangles += d->tried.pieces[p].triangles;
    double *x = malloc(((size_t)vertices * 3 + 1) * sizeof *x);
    int32_t *all = malloc(((size_t)triangles * 3 + 1) * sizeof *all),
            *sorted = malloc(((size_t)triangles * 3 + 1) * sizeof *sorted);
    bool *marked = calloc((size_t)triangles + 1, sizeof *marked), good = x && all && sorted && marked;
    for (int32_t p = 0, t = 0; good && p < d->tried.piece_count; first += d->tried.pieces[p].vertices, p++) {
        const drape_piece *piece = &d->tried.pieces[p];
        memcpy(x + 3 * (int64_t)first, piece->rest, 3 * (size_t)piece->vertices * sizeof *x);
        for (int64_t i = 0; i < 3 * (int64_t)piece->triangles; i++)
            all[3 * (int64_t)t + i] = first + piece->triangle[i];
        t += piece->triangles;
    }
    if (good && d->tried.start) memcpy(x, d->tried.start, 3 * (size_t)vertices * sizeof *x);
    good = good && mark_crossings(d, x, marked);
    for (int32_t red = 0, next = 0; good && red < 2; red++)
        for (int32_t t = 0; t < triangles; t++)
            if (marked[t] == (red == 1)) {
                memcpy(sorted + 3 * (int64_t)next++, all + 3 * (int64_t)t, 3 * sizeof *sorted);
                count[red]++;
            }
    drape_render_cloth cloth = {.vertices = vertices,
                                .triangles = triangles,
                                .triangle = sorted,
                                .piece_count = 2,
                                .piece_triangles = count,
                                .piece_color = color};
    size_t side = (size_t)WIDTH * HEIGHT * 3;
    uint8_t *rgb = calloc(2 * side, 1), *both = calloc(2 * side, 1);
    good = good && rgb && both && draw_side(d, &cloth, x, -58, rgb) && draw_side(d, &cloth, x, 122, rgb + side);
    for (size_t row = 0; good && row < HEIGHT; row++)
        for (size_t k = 0; k < 2; k++)
            memcpy(both + (2 * row + k) * WIDTH * 3, rgb + k * side + row * WIDTH * 3, (size_t)WIDTH * 3);
    good = good && drape_png_write(d->ctx, path, 2 * WIDTH, HEIGHT, both) == DRAPE_OK;
    free(rgb), free(both), free(x), free(all), free(sorted), free(marked);
    return good;
}

/* ---- Dressing ---- */

/* "scenes/shirt.yaml" becomes "shirt_dressed.obj". */
static char *name_file(const char *scene, const char *ending) {
    const char *slash = strrchr(scene, '/'), *begin = slash ? slash + 1 : scene, *dot = strrchr(begin, '.');
    int length = (int)(dot ? dot - begin : (long)strlen(begin));
    size_t room = (size_t)length + strlen(ending) + 1;
    char *name = malloc(room);
    if (name) snprintf(name, room, "%.*s%s", length, begin, ending);
    return name;
}

static bool load(dressing *d) {
    if (!drape_writer_knows(d->output)) {
        complain("-o %s: unknown file extension (`drape list formats`)", d->output);
        return false;
    }
    d->ctx = make_context(d->scene.threads, true);
    if (!d->ctx) return false;
    drape_scene_options how = scene_options(&d->scene);
    if (drape_scene_load(d->ctx, d->scene.name, &how, &d->loaded)) {
        complain("%s", drape_message(d->ctx));
        return false;
    }
    drape_scene *scene = drape_loaded_scene_edit(d->loaded);
    scene->solve.direct = direct_solver();
    if (!direct_is_there("solver.method", &scene->solve)) return false;
    d->collider = calloc((size_t)scene->collider_count + 1, sizeof *d->collider);
    d->frame = calloc((size_t)scene->collider_count + 1, sizeof *d->frame);
    d->pin = calloc((size_t)scene->pin_count + 1, sizeof *d->pin);
    if (!d->collider || !d->frame || !d->pin) complain("out of memory");
    return d->collider && d->frame && d->pin && can_write(d->output);
}

/* The least depth at which nothing crosses; below 0 if there is none. */
static double find_depth(dressing *d) {
    for (int32_t i = 0; i < TRIES; i++) {
        double depth = SHARES[i] * d->depth;
        if (!make_scene(d, depth)) {
            complain("out of memory");
            return -2;
        }
        drape_status status = drape_sim_create(d->ctx, &d->tried, &d->sim);
        if (!status) return depth;
        if (status != DRAPE_ERROR_ARGUMENT) {
            complain("%s", drape_message(d->ctx));
            return -2;
        }
    }
    return -1;
}

static int refuse(const dressing *d) {
    char why[1024];
    char *picture = name_file(d->scene.name, "_dress.png");
    snprintf(why, sizeof why, "%s", drape_message(d->ctx));
    bool drawn = picture && draw_trouble(d, picture);
    complain("even with bodies that are %g m thinner, the cloth cannot be cleared: %s%s%s", d->depth, why,
             drawn ? "; what crosses is red in " : "", drawn ? picture : "");
    free(picture);
    return EXIT_BAD_INPUT;
}

static double speed_of(const drape_sim *sim) {
    int64_t numbers = 3 * (int64_t)drape_cloth_vertices(drape_sim_cloth(sim));
    const double *v = drape_sim_velocities(sim);
    double sum = 0;
    for (int64_t i = 0; i < numbers; i++) sum += v[i] * v[i];
    return sqrt(3 * sum / (double)numbers);
}

/* Until the bodies are whole, then until the cloth is calm or the time is up. */
static drape_status grow_and_hang(dressing *d) {
    const drape_scene *whole = drape_loaded_scene_data(d->loaded);
    drape_status status = DRAPE_OK;
    while (!status && drape_sim_time(d->sim) < d->time[1]) status = drape_sim_step(d->sim, NULL);
    int64_t numbers = 3 * (int64_t)drape_cloth_vertices(drape_sim_cloth(d->sim));
    double *still = calloc((size_t)numbers + 1, sizeof *still), grown = drape_sim_time(d->sim);
    if (!still) return DRAPE_ERROR_MEMORY;
    if (!status) status = drape_sim_set_state(d->sim, NULL, still);
    if (!status) status = drape_sim_set_forces(d->sim, &whole->forces);
    const double least = 0.1; /* s: the weight needs time to set it in motion */
    while (!status && drape_sim_time(d->sim) < grown + d->hang &&
           (drape_sim_time(d->sim) < grown + least || speed_of(d->sim) > CALM))
        status = drape_sim_step(d->sim, NULL);
    free(still);
    return status;
}

/* The whole scene takes the cloth from where it is. */
static drape_status check_result(const dressing *d) {
    drape_scene scene = *drape_loaded_scene_data(d->loaded);
    drape_sim *sim = NULL;
    scene.start = drape_sim_positions(d->sim);
    drape_status status = drape_sim_create(d->ctx, &scene, &sim);
    drape_sim_destroy(sim);
    return status;
}

static drape_status write_cloth(const dressing *d) {
    const drape_scene *scene = drape_loaded_scene_data(d->loaded);
    drape_animation what = {
        .cloth = drape_sim_cloth(d->sim), .title = scene->name, .pieces = scene->pieces, .frames = 1};
    drape_writer *writer;
    drape_status status = drape_writer_open(d->ctx, d->output, &what, &writer);
    if (status) return status;
    status = drape_writer_frame(writer, &(drape_frame){.positions = drape_sim_positions(d->sim)});
    drape_status closed = drape_writer_close(writer);
    return status ? status : closed;
}

static int run(dressing *d) {
    double depth = find_depth(d);
    if (depth < 0) return depth == -1 ? refuse(d) : EXIT_RUN_FAILED;
    drape_status status = grow_and_hang(d);
    if (!status) status = check_result(d);
    if (!status) status = write_cloth(d);
    if (status) {
        complain("%s", drape_message(d->ctx));
        return EXIT_RUN_FAILED;
    }
    if (depth > 0) tell("clear of bodies that were %.3g m thinner and have grown back", depth);
    else tell("clear from the start");
    tell("; hung for %.3g s, and moves at %.2g m/s\n", drape_sim_time(d->sim) - d->time[1], speed_of(d->sim));
    tell("to start a scene from there, write `start: {file: %s}`\n", d->output);
    return EXIT_GOOD;
}

static void release(dressing *d) {
    int32_t count = d->loaded ? drape_loaded_scene_data(d->loaded)->collider_count : 0;
    drape_sim_destroy(d->sim);
    for (int32_t k = 0; k < count && d->frame; k++) free(d->frame[k]);
    free(d->frame), free(d->collider), free(d->pin);
    drape_loaded_scene_destroy(d->loaded);
    drape_context_destroy(d->ctx);
}

int command_dress(int argc, char **argv) {
    dressing d = {.depth = 0.02, .hang = 2};
    option options[SCENE_OPTIONS + 4] = {
        {"--output", "-o", "OUT", "where to write the cloth (`drape list formats`); default: NAME_dressed.obj",
         OPTION_TEXT, &d.output, 0, 0},
        {"--depth", NULL, "D", "how far bodies may be shrunk, in metres; default: 0.02", OPTION_REAL, &d.depth, 0, 0},
        {"--rest", NULL, "T", "longest time in which the cloth comes to rest, in seconds; default: 2", OPTION_REAL,
         &d.hang, 0, 0}};
    scene_option_table(&d.scene, options + 3);
    command_line line = {
        .usage = "drape dress SCENE.yaml|NAME [options]",
        .about =
            "Moves cloth that starts too near a body, or slightly inside, out of it, lets it come to rest, and "
            "writes it.\nColliders that are meshes are shrunk until nothing crosses, and grow back. To start a scene "
            "from there, write\n`start: {file: OUT}`. Cloth that cannot be moved out is refused, with a picture of "
            "where it crosses: NAME_dress.png.\nExit code 0: dressed, 1: the run failed, 2: bad input.",
        .options = options,
        .positional = &d.scene.name,
        .positional_count = 1,
        .names = WORDS_SCENES};
    parse_result parsed = parse_arguments(&line, argc, argv);
    if (parsed != PARSE_GOOD) return parsed == PARSE_HELP ? EXIT_GOOD : EXIT_BAD_INPUT;
    if (!d.scene.name) {
        complain("no scene given (usage: %s; `drape scenes` lists them)", line.usage);
        return EXIT_BAD_INPUT;
    }
    if (!(d.depth > 0 && d.depth <= 1 && d.hang >= 0 && d.hang <= 3600)) {
        complain("--depth is %g and --rest is %g; they must lie in 0..1 m and 0..3600 s", d.depth, d.hang);
        return EXIT_BAD_INPUT;
    }
    char *own = d.output ? NULL : name_file(d.scene.name, "_dressed.obj");
    if (own) d.output = own;
    int code = d.output && load(&d) ? run(&d) : EXIT_BAD_INPUT;
    release(&d);
    free(own);
    return code;
}
