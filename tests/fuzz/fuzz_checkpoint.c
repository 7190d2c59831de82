/* Any bytes as a checkpoint, of the linearised step and of integrators with past states. They are tried as they are,
 * with the right checksums, scene and size, and also cut or filled up to the right length. Refused with a message and
 * nothing changed, or taken, and then the state is those bytes and can be stepped on from.
 */
#include "drape/io.h"
#include "fuzz.h"
#include "sim/sim.h"

#include <stdlib.h>
#include <string.h>

enum { SIZE_AT = 16, SCENE_AT = 24, X_AT = 72, LEAST = 64, RESOLUTION = 3 };

static const char *const INTEGRATORS[] = {"linearised-euler", "bdf2", "verlet"};
enum { SIMS = sizeof INTEGRATORS / sizeof *INTEGRATORS };

/* One of each for the process. */
static drape_sim *shared_sim(int which) {
    static drape_sim *sims[SIMS];
    const drape_scene_options how = {.resolution = RESOLUTION, .integrator = INTEGRATORS[which]};
    drape_context *ctx = shared_context();
    drape_loaded_scene *loaded;
    if (sims[which]) return sims[which];
    demand(drape_scene_load(ctx, "drooping", &how, &loaded) == DRAPE_OK);
    demand(drape_sim_create(ctx, drape_loaded_scene_data(loaded), &sims[which]) == DRAPE_OK);
    drape_loaded_scene_destroy(loaded);
    return sims[which];
}

static void try(drape_sim *sim, const char *data, int64_t size) {
    size_t bytes = 3 * (size_t)sim->vertices * sizeof(double);
    int64_t steps = sim->steps;
    double before = sim->x[0];
    drape_status status = drape_i_checkpoint_take(sim, "fuzz", data, size, size);
    demand(status == DRAPE_OK || status == DRAPE_ERROR_FORMAT);
    if (status) {
        demand(strncmp(drape_message(sim->ctx), "fuzz:", 5) == 0);
        demand(sim->steps == steps && sim->x[0] == before);
        return;
    }
    demand(memcmp(sim->x, data + X_AT, bytes) == 0);
    status = drape_sim_step(sim, NULL);
    /* finite, but so far off that a step overflows, or a pin's way back to its target does */
    demand(status == DRAPE_OK || status == DRAPE_ERROR_NUMBER || status == DRAPE_ERROR_ARGUMENT);
    memset(sim->x, 0, bytes); /* the next input shall not find what this one left */
}

/* As if written by somebody who knows the format. */
static void try_dressed(drape_sim *sim, char *data, int64_t size) {
    if (size < LEAST) return;
    memcpy(data + SIZE_AT, &size, sizeof size);
    memcpy(data + SCENE_AT, &sim->scene, sizeof sim->scene);
    drape_i_checkpoint_seal(data, size);
    try(sim, data, size);
}

static void try_all_ways(drape_sim *sim, const uint8_t *data, size_t size) {
    size_t whole = (size_t)drape_i_checkpoint_size(sim), room = size > whole ? size : whole;
    char *copy = calloc(1, room);
    demand(copy != NULL);
    if (size) memcpy(copy, data, size);
    try(sim, copy, (int64_t)size);
    try_dressed(sim, copy, (int64_t)size);
    try_dressed(sim, copy, (int64_t)whole);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (int i = 0; i < SIMS; i++) try_all_ways(shared_sim(i), data, size);
    return 0;
}
