/* simulate.c: a scene that ships with libdrape, stepped by a program of your own, which writes its last state. */
#include <drape/io.h>

#include <stdio.h>

enum { SIDE = 31, STEPS = 100 }; /* vertices along the sheet */

static drape_status write_mesh(drape_context *ctx, drape_sim *sim, const char *path) {
    const drape_animation what = {.cloth = drape_sim_cloth(sim), .title = "drooping"};
    drape_writer *out;
    drape_status status = drape_writer_open(ctx, path, &what, &out);
    if (status) return status;
    status = drape_writer_frame(out, &(drape_frame){.positions = drape_sim_positions(sim)});
    drape_status closed = drape_writer_close(out);
    return status ? status : closed;
}

static drape_status simulate(drape_context *ctx, drape_sim *sim) {
    const int middle = SIDE * (SIDE / 2) + SIDE / 2;
    drape_status status = DRAPE_OK;
    for (int k = 0; k < STEPS && !status; k++) status = drape_sim_step(sim, NULL);
    if (status) return status;
    printf("after %g s the middle of the sheet is at z = %.4f m\n", drape_sim_time(sim),
           drape_sim_positions(sim)[3 * middle + 2]);
    return write_mesh(ctx, sim, "sheet.obj");
}

int main(void) {
    drape_context *ctx;
    drape_loaded_scene *scene = NULL;
    drape_sim *sim = NULL;
    if (drape_context_create(NULL, &ctx)) return 1;
    drape_status status = drape_scene_builtin(ctx, "drooping", SIDE, &scene);
    if (!status) status = drape_sim_create(ctx, drape_loaded_scene_data(scene), &sim);
    if (!status) status = simulate(ctx, sim);
    if (status) fprintf(stderr, "simulate: %s\n", drape_message(ctx));
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(scene);
    drape_context_destroy(ctx);
    return status != DRAPE_OK;
}
