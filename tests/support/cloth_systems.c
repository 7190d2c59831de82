/* cloth_systems.c: see cloth_systems.h. */
#include "support/cloth_systems.h"

#include "support/folder.h"
#include "support/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Of the last step, by way of a file. */
static cloth cloth_of(drape_context *ctx, drape_sim *sim) {
    char folder[] = "/tmp/drape-test-XXXXXX", path[64];
    cloth c;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/system", folder);
    ASSERT_OK(ctx, drape_sim_export_system(sim, path));
    ASSERT_OK(ctx, drape_system_read(ctx, path, &c.system));
    test_folder_entries(folder, true);
    rmdir(folder);
    ASSERT_OK(ctx, drape_constraints_create(ctx, c.system.A.rows, &c.set));
    ASSERT_OK(ctx, drape_constraints_set_filter(c.set, c.system.S, c.system.z));
    return c;
}

void clothes_of(drape_context *ctx, const drape_scene *scene, int32_t before, int32_t count, cloth *out) {
    drape_sim *sim;
    drape_scene linearised = *scene;
    linearised.integration.ode.method = DRAPE_LINEARISED_EULER;
    ASSERT_OK(ctx, drape_sim_create(ctx, &linearised, &sim));
    for (int32_t k = 0; k < before; k++) ASSERT_OK(ctx, drape_sim_step(sim, NULL));
    for (int32_t k = 0; k < count; k++) {
        ASSERT_OK(ctx, drape_sim_step(sim, NULL));
        out[k] = cloth_of(ctx, sim);
    }
    drape_sim_destroy(sim);
}

void cloth_clear(drape_context *ctx, cloth *c) {
    drape_constraints_destroy(c->set);
    drape_system_clear(ctx, &c->system);
}
