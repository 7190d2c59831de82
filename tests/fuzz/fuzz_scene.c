/* Any bytes as a scene, and those after a line "---set" as overrides, one per line. They are refused with a message
 * that begins with a place, or give a scene that can be simulated. No input leaves memory behind. Grids are kept
 * small, and no mesh file is read. A long thin irregular grid takes a second, under sanitizers some: run with
 * -timeout=60. */
#include "drape/io.h"
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SETS = 4, MOST_TRIANGLES = 2000 };

static const char SETS[] = "\n---set\n"; /* no scene has this line: a second document is refused */

static void count_problem(void *user, const char *text) {
    demand(text[0] != 0);
    ++*(int32_t *)user;
}

static void check_pins(const drape_scene *s, int32_t vertices) {
    for (int32_t p = 0; p < s->pin_count; p++) {
        demand(s->pins[p].count > 0 && s->pins[p].until > s->pins[p].from);
        for (int32_t i = 0; i < s->pins[p].count; i++)
            demand(s->pins[p].vertices[i] >= 0 && s->pins[p].vertices[i] < vertices);
    }
}

/* What the reader lets through, the simulation takes, except for cloth without area or in the way of a collider. */
static void check_scene(drape_context *ctx, const drape_scene *s) {
    int32_t vertices = 0, triangles = 0;
    drape_sim *sim;
    demand(s->piece_count >= 1 && s->step > 0 && s->steps_per_frame >= 1 && s->frames >= 0);
    for (int32_t i = 0; i < s->piece_count; i++) {
        demand(s->pieces[i].vertices >= 3 && s->pieces[i].triangles >= 1 && s->pieces[i].name);
        for (int64_t k = 0; k < 3 * (int64_t)s->pieces[i].vertices; k++) demand(isfinite(s->pieces[i].rest[k]));
        vertices += s->pieces[i].vertices, triangles += s->pieces[i].triangles;
    }
    check_pins(s, vertices);
    if (triangles > MOST_TRIANGLES) return;
    drape_status status = drape_sim_create(ctx, s, &sim);
    demand(status == DRAPE_OK || strstr(drape_message(ctx), "area") || strstr(drape_message(ctx), "piece") ||
           strstr(drape_message(ctx), "collider") || strstr(drape_message(ctx), "contact"));
    drape_sim_destroy(sim);
}

/* Cuts the text at its line ends; gives how many there are. */
static int32_t cut_lines(char *text, const char *lines[MOST_SETS]) {
    int32_t count = 0;
    for (char *at = strtok(text, "\n"); at && count < MOST_SETS; at = strtok(NULL, "\n")) lines[count++] = at;
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    drape_context *ctx = shared_context();
    int64_t before = drape_context_bytes(ctx);
    const char *sets[MOST_SETS];
    int32_t problems = 0;
    drape_scene_options options = {
        .resolution = 3, .no_files = true, .problem = count_problem, .problem_user = &problems};
    drape_loaded_scene *loaded;
    char *text = malloc(size + 1);
    demand(text != NULL);
    memcpy(text, data, size);
    text[size] = 0;
    char *tail = strstr(text, SETS);
    if (tail) {
        options.set = sets;
        options.set_count = cut_lines(tail + sizeof SETS - 1, sets);
        size = (size_t)(tail - text);
    }
    drape_status status = drape_scene_parse(ctx, "fuzz", text, (int64_t)size, &options, &loaded);
    const drape_scene *scene = drape_loaded_scene_data(loaded);
    demand(status == DRAPE_OK || status == DRAPE_ERROR_FORMAT);
    demand((status == DRAPE_OK) == (scene != NULL) && (status == DRAPE_OK) == (problems == 0));
    if (status) demand(strncmp(drape_message(ctx), "fuzz:", 5) == 0 || strncmp(drape_message(ctx), "--set ", 6) == 0);
    if (scene) check_scene(ctx, scene);
    drape_loaded_scene_destroy(loaded);
    demand(drape_context_bytes(ctx) == before);
    free(text);
    return 0;
}
