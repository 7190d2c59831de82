/* strips.h: scenes of one flat strip for tests, and what is asked of them again and again.
 *
 *   test_strip *s = test_strip_create(ctx, 40, 4, 1, 0.2);      // cells and metres along x and y
 *   s->material->bend = 0;
 *   test_strip_pin(s, 0, 0, 0, 4);                              // the edge x = 0
 *   drape_sim *sim = test_strip_sim(s); */
#ifndef DRAPE_TESTS_STRIPS_H
#define DRAPE_TESTS_STRIPS_H

#include "drape/io.h"
#include "support/meshes.h"

enum { TEST_STRIP_PINS = 4 };

typedef struct test_strip {
    drape_context *ctx;
    int32_t nx, ny; /* cells */
    test_mesh mesh; /* rest may be changed: uv keeps the lengths */
    drape_piece piece;
    drape_pin pins[TEST_STRIP_PINS];
    drape_scene scene;
    drape_material *material; /* of the piece */
} test_strip;

/* On [0, length] x [0, width], warp along x; nothing held, no damping, gravity along -z, tolerance 1e-10. */
test_strip *test_strip_create(drape_context *ctx, int32_t nx, int32_t ny, double length, double width);
void test_strip_destroy(test_strip *s);

/* Number of the vertex at column i, row j. */
int32_t test_strip_vertex(const test_strip *s, int32_t i, int32_t j);

/* Holds columns i0..i1 of rows j0..j1 in all directions, without motion; the result may be changed. */
drape_pin *test_strip_pin(test_strip *s, int32_t i0, int32_t i1, int32_t j0, int32_t j1);

/* A simulation of the scene, never NULL. */
drape_sim *test_strip_sim(test_strip *s);

/* Mean of coordinate k over column i. */
double test_strip_mean(const test_strip *s, drape_sim *sim, int32_t i, int32_t k);

/* Steps until no vertex moves by more than `still` m in a step, and fails after `most` steps. Returns the steps. */
int32_t test_run_to_rest(drape_context *ctx, drape_sim *sim, double still, int32_t most);

/* The state, for a test to change: copies of 3 doubles per vertex each. test_set_state hands them over, and frees
 * them; either may be NULL. */
double *test_positions(const drape_sim *sim);
double *test_velocities(const drape_sim *sim);
void test_set_state(drape_context *ctx, drape_sim *sim, double *x, double *v);

/* So many steps, each of which must do well. */
void test_run(drape_context *ctx, drape_sim *sim, int32_t steps);

#endif
