/* contacts.h: square sheets above colliders for tests of contact, and a watch that counts what crosses.
 *
 *   test_drop d = {.cells = 14, .width = 0.5, .height = 0.01, .step = 4e-3, .method = "bdf2"};
 *   d.colliders = &ball, d.collider_count = 1;
 *   test_drop_create(ctx, &d);
 *   for (...) test_drop_step(&d);           // fails where something crosses
 *   test_drop_destroy(&d); */
#ifndef DRAPE_TESTS_CONTACTS_H
#define DRAPE_TESTS_CONTACTS_H

#include "drape/crossings.h"
#include "support/strips.h"

enum { TEST_DROP_BODIES = 4 };

typedef struct test_drop {
    /* What is asked for. */
    int32_t cells;      /* along an edge of the sheet */
    double width;       /* m, of the sheet, which lies about the origin */
    double height;      /* m: z of the sheet at the start */
    double thickness;   /* m, of the cloth; 0: 1 mm */
    double friction;    /* of the cloth */
    double step;        /* s */
    const char *method; /* integrator */
    double tolerance;   /* m, of Newton's iteration; 0: the default */
    bool self;          /* cloth meets cloth */
    double rotation[3]; /* rad: turns the sheet about the origin, after it was lifted */
    const drape_collider *colliders;
    int32_t collider_count;
    /* Bends the sheet at the start: maps a point to another one; NULL: it stays flat. */
    void (*shape)(double x[3]);

    /* What there is. */
    test_strip *strip; /* its scene and piece may be changed between test_drop_scene and test_drop_start */
    drape_contact_settings contact;
    drape_sim *sim;
    drape_certificate last;
    drape_crossings *search;
    drape_collider_surface *surface[TEST_DROP_BODIES];
    double *at[TEST_DROP_BODIES];
} test_drop;

/* Makes the scene, and starts it; or both one after the other. */
void test_drop_create(drape_context *ctx, test_drop *d);
void test_drop_scene(drape_context *ctx, test_drop *d);
void test_drop_start(test_drop *d);
void test_drop_destroy(test_drop *d);

/* A step, after which nothing crosses: no edge or face of the cloth passes through a collider or, with self-contact,
 * through the cloth. And no vertex is inside a sphere. */
void test_drop_step(test_drop *d);
/* A step of which nothing is asked but that it can be done. */
void test_drop_step_unwatched(test_drop *d);

/* m/s: the largest velocity of a vertex. */
double test_drop_speed(const test_drop *d);
/* N: sum of what S carried in the last step, as a mean over the step. */
void test_drop_force(const test_drop *d, double sum[3]);
/* m: mean of all vertices. */
void test_drop_mean(const test_drop *d, double mean[3]);

#endif
