/* The laws of contact springs: how their stiffness follows from the gap, that Newton's method gets the derivative of
 * what acts, and that both hold cloth. */
#include "sim/contact.h"
#include "support/contacts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const drape_contact_law LAWS[] = {DRAPE_CONTACT_SECANT, DRAPE_CONTACT_LINEAR};
enum { LAW_COUNT = sizeof LAWS / sizeof *LAWS };

static const double STEP = 2e-3, THICKNESS = 1e-3;
static const double REST = 0.5e-3; /* m: springs push in the outer half of the thickness */

/* ---- A sheet above another one, which is held; nothing moves, nothing weighs ---- */

typedef struct layers {
    test_strip *lower, *upper;
    drape_piece pieces[2];
    drape_contact_settings contact;
    drape_sim *sim;
} layers;

/* distance: between them, m; closing: how fast the upper one comes down, m/s. */
static layers *make_layers_of(drape_context *ctx, double thickness, drape_contact_law law, double distance,
                              double closing) {
    layers *l = calloc(1, sizeof *l);
    assert_non_null(l);
    l->lower = test_strip_create(ctx, 9, 9, 0.3, 0.3);
    l->upper = test_strip_create(ctx, 6, 6, 0.15, 0.15);
    test_strip *both[] = {l->lower, l->upper};
    for (int32_t i = 0; i < l->upper->mesh.vertices; i++) {
        double *x = l->upper->mesh.rest + 3 * (int64_t)i;
        x[0] += 0.07, x[1] += 0.08, x[2] += distance;
    }
    for (int p = 0; p < 2; p++) {
        l->pieces[p] = both[p]->piece;
        l->pieces[p].thickness = thickness;
    }
    test_strip_pin(l->lower, 0, 9, 0, 9);
    l->contact = (drape_contact_settings){.self = true, .law = law};
    drape_scene *scene = &l->lower->scene;
    scene->pieces = l->pieces;
    scene->piece_count = 2;
    scene->step = STEP;
    scene->integration = (drape_integration){0};
    scene->contact = &l->contact;
    memset(scene->forces.gravity, 0, sizeof scene->forces.gravity);
    l->sim = test_strip_sim(l->lower);
    double *v = test_velocities(l->sim);
    for (int32_t i = 0; i < l->upper->mesh.vertices; i++) v[3 * (l->lower->mesh.vertices + i) + 2] = -closing;
    test_set_state(ctx, l->sim, NULL, v);
    ASSERT_OK(ctx, drape_i_contact_look(l->sim, 0, STEP));
    return l;
}

static layers *make_layers(drape_context *ctx, drape_contact_law law, double distance, double closing) {
    return make_layers_of(ctx, THICKNESS, law, distance, closing);
}

static void free_layers(layers *l) {
    drape_sim_destroy(l->sim);
    test_strip_destroy(l->upper);
    test_strip_destroy(l->lower);
    free(l);
}

/* N: what pushes the upper sheet up at rest. */
static double push_of(const layers *l) {
    double *force = calloc(3 * (size_t)l->sim->vertices, sizeof *force), *v = calloc(3 * (size_t)l->sim->vertices, 8);
    double sum = 0;
    assert_true(force && v);
    drape_i_contact_forces(l->sim, 0, drape_sim_positions(l->sim), v, force, NULL);
    for (int32_t i = l->lower->mesh.vertices; i < l->sim->vertices; i++) sum += force[3 * i + 2];
    free(force), free(v);
    return sum;
}

/* ---- The laws ---- */

/* Springs of the same pairs, which are the same in the same order: the sheets are parallel whatever their distance.
 */
static void test_stiffness_follows_from_the_gap(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    for (double share = 0.05; share < 1; share += 0.1) { /* of the rest, that is left of the gap */
        double distance = THICKNESS - REST + share * REST;
        layers *linear = make_layers(ctx, DRAPE_CONTACT_LINEAR, distance, 0);
        layers *half = make_layers(ctx, DRAPE_CONTACT_LINEAR, THICKNESS - 0.5 * REST, 0);
        layers *secant = make_layers(ctx, DRAPE_CONTACT_SECANT, distance, 0);
        const drape_i_contact *a = linear->sim->contact, *b = secant->sim->contact, *h = half->sim->contact;
        assert_true(a->springs > 50);
        assert_int_equal(a->springs, b->springs);
        assert_int_equal(a->springs, h->springs);
        for (int32_t i = 0; i < a->springs; i++) {
            double kappa = a->spring[i].k;
            ASSERT_NEAR(kappa, h->spring[i].k, 1e-9 * kappa); /* whatever the gap */
            ASSERT_NEAR(b->spring[i].k, 2 * kappa * (1 - share), 1e-9 * kappa);
            ASSERT_NEAR(b->spring[i].c, a->spring[i].c * sqrt(2 * (1 - share)), 1e-9 * a->spring[i].c);
        }
        free_layers(linear), free_layers(half), free_layers(secant);
    }
    drape_context_destroy(ctx);
}

/* Forces of sheets that are pressed by this share of the rest: linear ones grow with it, secant ones with its square.
 * At half of it both are the same. */
static void test_force_follows_from_the_gap(void **state) {
    drape_context *ctx = test_context(1);
    double push[LAW_COUNT][3];
    (void)state;
    for (int law = 0; law < LAW_COUNT; law++)
        for (int i = 0; i < 3; i++) {
            layers *l = make_layers(ctx, LAWS[law], THICKNESS - 0.25 * (i + 1) * REST, 0);
            push[law][i] = push_of(l);
            free_layers(l);
        }
    const double *secant = push[0], *linear = push[1];
    assert_true(linear[0] > 0);
    ASSERT_NEAR(linear[1], 2 * linear[0], 1e-9 * linear[1]);
    ASSERT_NEAR(linear[2], 3 * linear[0], 1e-9 * linear[2]);
    ASSERT_NEAR(secant[1], 4 * secant[0], 1e-9 * secant[1]);
    ASSERT_NEAR(secant[2], 9 * secant[0], 1e-9 * secant[2]);
    ASSERT_NEAR(secant[1], linear[1], 1e-9 * linear[1]);
    drape_context_destroy(ctx);
}

/* Where the gap is used up, at the inner half of the thickness, forces grow faster: (1 + s) (1 + 2 s) times those at
 * s = 0, s the share of that half. A step's spring is the tangent of it. */
static void test_compressed_springs_stiffen(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    for (int law = 0; law < LAW_COUNT; law++) {
        layers *used_up = make_layers(ctx, LAWS[law], THICKNESS - REST, 0);
        double first = push_of(used_up), stiffness = 0;
        free_layers(used_up);
        for (double s = 0.1; s < 0.95; s += 0.2) {
            layers *l = make_layers(ctx, LAWS[law], THICKNESS - (1 + s) * REST, 0);
            double slope = s < 0.5 ? 2 : 0.5 / ((1 - s) * (1 - s)), f = s < 0.5 ? 1 + 2 * s : 1 + 0.5 / (1 - s);
            ASSERT_NEAR(push_of(l), (1 + s) * f * first, 1e-9 * first);
            for (int32_t i = 0; i < l->sim->contact->springs; i++) stiffness += l->sim->contact->spring[i].k;
            ASSERT_NEAR(stiffness, (f + (1 + s) * slope) * first / REST, 1e-8 * first / REST);
            stiffness = 0;
            free_layers(l);
        }
    }
    drape_context_destroy(ctx);
}

/* The contact distance is 1 mm here, and stands for the thickness where there is none. */
static void test_cloth_without_thickness_has_room_for_springs(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    for (double gap = 0.1e-3; gap < THICKNESS; gap += 0.2e-3) {
        layers *thick = make_layers(ctx, DRAPE_CONTACT_SECANT, gap, 0);
        layers *thin = make_layers_of(ctx, 0, DRAPE_CONTACT_SECANT, gap, 0);
        assert_true(thick->sim->contact->springs > 50);
        assert_int_equal(thin->sim->contact->springs, thick->sim->contact->springs);
        ASSERT_NEAR(push_of(thin), push_of(thick), 1e-9 * push_of(thick));
        free_layers(thick), free_layers(thin);
    }
    drape_context_destroy(ctx);
}

/* What comes near is as stiff as where it will be at the end of the step, and never stiffer than where it touches. */
static void test_secant_is_taken_at_the_predicted_gap(void **state) {
    static const double closing[] = {0.1e-3, 0.2e-3, 0.6e-3}; /* m in a step; the last: deeper than the rest */
    drape_context *ctx = test_context(1);
    (void)state;
    for (int i = 0; i < 3; i++) {
        double share = fmax(0.9 - closing[i] / REST, 0);
        layers *linear = make_layers(ctx, DRAPE_CONTACT_LINEAR, THICKNESS - 0.1 * REST, closing[i] / STEP);
        layers *secant = make_layers(ctx, DRAPE_CONTACT_SECANT, THICKNESS - 0.1 * REST, closing[i] / STEP);
        assert_true(linear->sim->contact->springs > 50);
        assert_int_equal(linear->sim->contact->springs, secant->sim->contact->springs);
        for (int32_t s = 0; s < linear->sim->contact->springs; s++) {
            double kappa = linear->sim->contact->spring[s].k;
            ASSERT_NEAR(secant->sim->contact->spring[s].k, 2 * kappa * (1 - share), 1e-9 * kappa);
        }
        free_layers(linear), free_layers(secant);
    }
    drape_context_destroy(ctx);
}

/* ---- Newton's method ---- */

/* Along a direction d: -dP/dx = f, and -df/dx = K. Both are exact except for rounding where no spring begins or
 * ceases to push, since forces are linear in x. */
static void check_derivatives(drape_context *ctx, drape_contact_law law) {
    layers *l = make_layers(ctx, law, THICKNESS - 0.4 * REST, 0.02);
    drape_sim *sim = l->sim;
    int64_t n = 3 * (int64_t)sim->vertices;
    double *room = calloc(6 * (size_t)n, sizeof *room);
    assert_non_null(room);
    double *d = room, *ahead = d + n, *zero = ahead + n, *force[2] = {zero + n, zero + 2 * n}, *Kd = zero + 3 * n;
    double potential[2], work = 0, most = 0, eps = 1e-6;
    for (int64_t i = 0; i < n; i++) d[i] = sin(1.7 * (double)i);
    for (int side = 0; side < 2; side++) {
        for (int64_t i = 0; i < n; i++) ahead[i] = drape_sim_positions(sim)[i] + (side ? eps : -eps) * d[i];
        drape_i_contact_forces(sim, 0, ahead, zero, force[side], NULL);
        potential[side] = drape_i_contact_potential(sim, 0, STEP, ahead, zero);
    }
    drape_i_contact_forces(sim, 0, drape_sim_positions(sim), d, NULL, Kd);
    for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(Kd[i]));
    assert_true(most > 0);
    for (int64_t i = 0; i < n; i++) {
        ASSERT_NEAR((force[0][i] - force[1][i]) / (2 * eps), Kd[i], 1e-8 * most);
        work += d[i] * (force[0][i] + force[1][i]) / 2;
    }
    ASSERT_NEAR((potential[0] - potential[1]) / (2 * eps), work, 1e-6 * fabs(work));
    free(room);
    free_layers(l);
}

static void test_newton_sees_the_derivative(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    for (int law = 0; law < LAW_COUNT; law++) check_derivatives(ctx, LAWS[law]);
    drape_context_destroy(ctx);
}

/* ---- Both hold ---- */

/* Three layers, 6 mm apart. */
static void fold(double x[3]) {
    const double r = 3e-3, pi = 3.14159265358979324, length = 0.1;
    double bend = length + pi * r, s = x[0] + 0.15; /* along the sheet, from its edge on */
    int turns = (int)floor(s / bend);
    double straight = fmin(s - turns * bend, length), angle = (s - turns * bend - straight) / r;
    double along = turns % 2 == 0 ? straight : length - straight, out = r * sin(angle);
    x[0] = along + (turns % 2 == 0 ? out : -out);
    x[2] = 2 * r * turns + r * (1 - cos(angle));
}

static void hold(drape_context *ctx, drape_contact_law law, const char *method) {
    static const drape_collider plane = {.shape = DRAPE_COLLIDER_PLANE, .friction = 0.3};
    test_drop d = {.cells = 12,
                   .width = 0.3,
                   .height = 2e-3,
                   .friction = 0.3,
                   .step = 4e-3,
                   .method = method,
                   .self = true,
                   .shape = fold,
                   .colliders = &plane,
                   .collider_count = 1};
    int64_t springs = 0;
    test_drop_scene(ctx, &d);
    d.contact.law = law;
    test_drop_start(&d);
    for (int step = 0; step < 100; step++) {
        test_drop_step(&d);
        springs += d.last.contact.springs;
    }
    assert_true(springs > 0);
    test_drop_destroy(&d);
}

static void test_folds_are_held_by_both_laws(void **state) {
    static const char *const methods[] = {DRAPE_LINEARISED_EULER, "bdf2"};
    drape_context *ctx = test_context(1);
    (void)state;
    for (int law = 0; law < LAW_COUNT; law++)
        for (int m = 0; m < 2; m++) hold(ctx, LAWS[law], methods[m]);
    drape_context_destroy(ctx);
}

/* m: how far a sheet that fell on the other one by half a millimetre lies above it, in the mean. */
static double rest_on_a_sheet(drape_context *ctx, drape_contact_law law) {
    static const drape_forces weight = {.gravity = {0, 0, -9.81}};
    layers *l = make_layers(ctx, law, 1.5 * THICKNESS, 0);
    double mean = 0;
    ASSERT_OK(ctx, drape_sim_set_forces(l->sim, &weight));
    test_run(ctx, l->sim, 500);
    int32_t first = l->lower->mesh.vertices, count = l->upper->mesh.vertices;
    for (int32_t i = first; i < first + count; i++) {
        double z = drape_sim_positions(l->sim)[3 * i + 2], v = drape_sim_velocities(l->sim)[3 * i + 2];
        assert_true(z > THICKNESS - REST && z < THICKNESS);
        ASSERT_NEAR(v, 0, 1e-5);
        mean += z / count;
    }
    free_layers(l);
    return mean;
}

/* A light sheet presses springs of the secant law farther in, since they are softer where they begin. */
static void test_sheet_comes_to_rest_on_a_sheet(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    assert_true(rest_on_a_sheet(ctx, DRAPE_CONTACT_SECANT) < rest_on_a_sheet(ctx, DRAPE_CONTACT_LINEAR));
    drape_context_destroy(ctx);
}

/* ---- The setting ---- */

static void test_names(void **state) {
    (void)state;
    assert_string_equal(drape_contact_law_name(DRAPE_CONTACT_SECANT), "secant");
    assert_string_equal(drape_contact_law_name(DRAPE_CONTACT_LINEAR), "linear");
    assert_null(drape_contact_law_name((drape_contact_law)2));
    assert_null(drape_contact_law_name((drape_contact_law)-1));
}

static void test_scenes_of_both_laws_are_different(void **state) {
    drape_context *ctx = test_context(1);
    uint64_t hash[LAW_COUNT];
    (void)state;
    for (int law = 0; law < LAW_COUNT; law++) {
        layers *l = make_layers(ctx, LAWS[law], 2 * THICKNESS, 0);
        hash[law] = drape_i_scene_hash(&l->lower->scene);
        free_layers(l);
    }
    assert_true(hash[0] != hash[1]);
    drape_context_destroy(ctx);
}

static void test_scene_files_choose_the_law(void **state) {
    static const struct {
        const char *text;
        drape_contact_law law;
    } files[] = {{"contact: {self: true}", DRAPE_CONTACT_SECANT},
                 {"contact: {law: secant}", DRAPE_CONTACT_SECANT},
                 {"contact: {self: true, law: linear}", DRAPE_CONTACT_LINEAR},
                 {"contact: paper", DRAPE_CONTACT_SECANT}};
    drape_context *ctx = test_context(1);
    drape_loaded_scene *loaded;
    char text[200];
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        int size = snprintf(text, sizeof text, "drape: 1\ncloth: [{grid: {resolution: 3}}]\n%s\n", files[i].text);
        ASSERT_OK(ctx, drape_scene_parse(ctx, "test.yaml", text, size, NULL, &loaded));
        assert_int_equal(drape_loaded_scene_data(loaded)->contact->law, files[i].law);
        drape_loaded_scene_destroy(loaded);
    }
    int size = snprintf(text, sizeof text, "drape: 1\ncloth: [{grid: {resolution: 3}}]\ncontact: {law: cubic}\n");
    assert_int_equal(drape_scene_parse(ctx, "test.yaml", text, size, NULL, &loaded), DRAPE_ERROR_FORMAT);
    assert_non_null(strstr(drape_message(ctx), "secant, linear"));
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stiffness_follows_from_the_gap),
        cmocka_unit_test(test_force_follows_from_the_gap),
        cmocka_unit_test(test_compressed_springs_stiffen),
        cmocka_unit_test(test_cloth_without_thickness_has_room_for_springs),
        cmocka_unit_test(test_secant_is_taken_at_the_predicted_gap),
        cmocka_unit_test(test_newton_sees_the_derivative),
        cmocka_unit_test(test_folds_are_held_by_both_laws),
        cmocka_unit_test(test_sheet_comes_to_rest_on_a_sheet),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_scenes_of_both_laws_are_different),
        cmocka_unit_test(test_scene_files_choose_the_law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
