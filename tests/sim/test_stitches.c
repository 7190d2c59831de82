/* Stitches hold to rounding with every implicit integrator, at once or when they have closed. Free cloth keeps its
 * momentum. Soft stitches are springs. Bits are the same for any threads and after a resume. Bad ones are named. */
#include "sparse/counting_allocator.h"
#include "support/folder.h"
#include "support/strips.h"

#include "drape/crossings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static drape_stitch pair(int32_t a, int32_t b) {
    return (drape_stitch){.a = {.count = 1, .vertex = {a}}, .b = {.count = 1, .vertex = {b}}};
}

/* Where a point of the cloth is. */
static void point_at(const drape_cloth_point *p, const double *x, double out[3]) {
    for (int k = 0; k < 3; k++) {
        out[k] = 0;
        for (int32_t a = 0; a < p->count; a++) out[k] += (p->count > 1 ? p->w[a] : 1) * x[3 * p->vertex[a] + k];
    }
}

static double apart(const drape_stitch *s, const double *x) {
    double a[3], b[3], sum = 0;
    point_at(&s->a, x, a);
    point_at(&s->b, x, b);
    for (int k = 0; k < 3; k++) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sqrt(sum);
}

/* The strip is bent to a tube by three kinds of stitches along its ends, which close within 0.5 s. */
static int32_t sew_tube(test_strip *s, drape_stitch list[4]) {
    const int32_t n = s->nx;
    list[0] = pair(test_strip_vertex(s, 0, 0), test_strip_vertex(s, n, 0));
    list[1] = pair(test_strip_vertex(s, 0, 2), test_strip_vertex(s, n, 2));
    list[1].b = (drape_cloth_point){
        3,
        {test_strip_vertex(s, n, 2), test_strip_vertex(s, n - 1, 2), test_strip_vertex(s, n - 1, 1)},
        {0.8, 0.1, 0.1}};
    list[2].a = (drape_cloth_point){2, {test_strip_vertex(s, 0, 3), test_strip_vertex(s, 0, 4)}, {0.7, 0.3}};
    list[2].b = (drape_cloth_point){2, {test_strip_vertex(s, n, 3), test_strip_vertex(s, n, 4)}, {0.6, 0.4}};
    for (int i = 0; i < 3; i++) list[i].close = 0.5, list[i].directions = 3, list[i].stiffness = 0;
    memset(list[2].reserved, 0, sizeof list[2].reserved);
    s->scene.stitches = list;
    s->scene.stitch_count = 3;
    return 3;
}

static void holds_with(drape_context *ctx, const char *method, drape_unknowns unknowns) {
    test_strip *s = test_strip_create(ctx, 12, 4, 0.6, 0.2);
    drape_stitch list[4] = {{.directions = 0}};
    test_strip_pin(s, 6, 6, 0, 4);
    sew_tube(s, list);
    s->scene.step = 0.01;
    s->scene.integration.ode.method = method;
    s->scene.integration.unknowns = unknowns;
    drape_sim *sim = test_strip_sim(s);
    double most = 0;
    for (int step = 1; step <= 80; step++) {
        test_run(ctx, sim, 1);
        double share = fmin(step * 0.01 / 0.5, 1), rest = (1 - share) * (1 - share) * (1 + 2 * share);
        for (int i = 0; i < 3; i++) {
            double off = fabs(apart(&list[i], drape_sim_positions(sim)) - rest * apart(&list[i], s->mesh.rest));
            most = fmax(most, off);
        }
    }
    printf("%s, %s: stitches are off by at most %.2g m\n", method, drape_unknowns_name(unknowns), most);
    assert_true(most < 1e-12);
    drape_sim_destroy(sim);
    test_strip_destroy(s);
}

static bool is_implicit(const char *name) {
    return strcmp(name, DRAPE_LINEARISED_EULER) == 0 || drape_ode_method_implicit(name);
}

static void every_integrator_holds_them(void **state) {
    for (int32_t k = 0; drape_integrator_name(k); k++) {
        drape_context *ctx = *state;
        const char *name = drape_integrator_name(k);
        if (!is_implicit(name)) continue;
        holds_with(ctx, name, DRAPE_UNKNOWN_VELOCITY);
    }
    holds_with(*state, "linearised-euler", DRAPE_UNKNOWN_POSITION);
    holds_with(*state, "bdf2", DRAPE_UNKNOWN_POSITION);
}

/* ---- Momentum ---- */

static void momentum_of(const drape_sim *sim, double p[3]) {
    const double *mass = drape_cloth_mass(drape_sim_cloth(sim)), *v = drape_sim_velocities(sim);
    for (int k = 0; k < 3; k++) {
        p[k] = 0;
        for (int32_t i = 0; i < drape_cloth_vertices(drape_sim_cloth(sim)); i++) p[k] += mass[i] * v[3 * i + k];
    }
}

static void keeps_momentum_with(drape_context *ctx, const char *method) {
    test_strip *s = test_strip_create(ctx, 12, 4, 0.6, 0.2);
    drape_stitch list[4] = {{.directions = 0}};
    double before[3], after[3], most = 0;
    test_random r = {5};
    memset(s->scene.forces.gravity, 0, sizeof s->scene.forces.gravity);
    sew_tube(s, list);
    s->scene.step = 0.005;
    s->scene.integration.ode.method = method;
    s->scene.solve.tol = 1e-14;
    s->scene.integration.ode.newton.rtol = 1e-13;
    s->scene.integration.ode.newton.atol = 1e-14;
    drape_sim *sim = test_strip_sim(s);
    double *v = test_velocities(sim);
    for (int32_t i = 0; i < 3 * s->mesh.vertices; i++) v[i] = 0.3 * (i % 3) + test_random_between(&r, -0.1, 0.1);
    test_set_state(ctx, sim, NULL, v);
    momentum_of(sim, before);
    test_run(ctx, sim, 100);
    momentum_of(sim, after);
    for (int k = 0; k < 3; k++) most = fmax(most, fabs(after[k] - before[k]));
    printf("%s: momentum %.3g kg m/s, changed by %.2g\n", method, before[2], most);
    assert_true(most < 1e-12);
    drape_sim_destroy(sim);
    test_strip_destroy(s);
}

static void free_cloth_keeps_its_momentum(void **state) {
    keeps_momentum_with(*state, "linearised-euler");
    keeps_momentum_with(*state, "bdf2");
    keeps_momentum_with(*state, "implicit-midpoint");
}

/* ---- Directions, springs ---- */

/* Held along x only, the ends of a hanging strip keep their distance along x and go apart otherwise. */
static void one_direction_leaves_the_others(void **state) {
    test_strip *s = test_strip_create(*state, 6, 2, 0.3, 0.1);
    drape_stitch st = pair(test_strip_vertex(s, 3, 0), test_strip_vertex(s, 6, 0));
    st.directions = 1;
    st.direction[0][0] = 2;
    st.close = 0.1;
    test_strip_pin(s, 0, 0, 0, 2);
    s->scene.stitches = &st;
    s->scene.stitch_count = 1;
    s->scene.step = 0.01;
    drape_sim *sim = test_strip_sim(s);
    test_run(*state, sim, 40);
    const double *a = drape_sim_positions(sim) + 3 * st.a.vertex[0],
                 *b = drape_sim_positions(sim) + 3 * st.b.vertex[0];
    assert_true(fabs(a[0] - b[0]) < 1e-12);
    assert_true(fabs(a[2] - b[2]) > 1e-3);
    drape_sim_destroy(sim);
    test_strip_destroy(s);
}

/* A strip hangs from another one by springs, which stretch by its weight. */
static void soft_ones_are_springs(void **state) {
    test_strip *s = test_strip_create(*state, 4, 1, 0.4, 0.1);
    const double k = 20;
    drape_stitch list[2];
    drape_certificate c;
    bool found = false;
    for (int i = 0; i < 2;
         i++) { /* vertices 0 of the piece are pinned, the rest hangs by its own cloth; and by this */
        list[i] = pair(test_strip_vertex(s, 0, i), test_strip_vertex(s, 4, i));
        list[i].stiffness = k;
    }
    test_strip_pin(s, 0, 0, 0, 1);
    s->scene.stitches = list;
    s->scene.stitch_count = 2;
    s->scene.step = 0.01;
    drape_sim *sim = test_strip_sim(s);
    ASSERT_OK(*state, drape_sim_step(sim, &c));
    for (int32_t i = 0; i < c.energy.force_count; i++)
        if (strcmp(c.energy.force[i].name, "stitches") == 0) {
            double want = 0;
            found = true;
            for (int n = 0; n < 2; n++) want += 0.5 * k * pow(apart(&list[n], drape_sim_positions(sim)), 2);
            ASSERT_NEAR(c.energy.force[i].energy, want, 1e-12 * want);
        }
    assert_true(found);
    double first = apart(&list[0], drape_sim_positions(sim));
    test_run(*state, sim, 30);
    assert_true(apart(&list[0], drape_sim_positions(sim)) < 0.5 * first);
    drape_sim_destroy(sim);
    test_strip_destroy(s);
}

/* ---- Contact ---- */

static bool joined(const drape_stitch *list, int32_t count, const int32_t *a, const int32_t *b) {
    for (int32_t i = 0; i < count; i++)
        for (int32_t p = 0; p < list[i].a.count; p++)
            for (int32_t q = 0; q < list[i].b.count; q++)
                for (int k = 0; k < 9; k++) {
                    if (a[k / 3] == list[i].a.vertex[p] && b[k % 3] == list[i].b.vertex[q]) return true;
                    if (b[k / 3] == list[i].a.vertex[p] && a[k % 3] == list[i].b.vertex[q]) return true;
                }
    return false;
}

/* Crossings of the cloth with itself, except for triangles that a stitch joins, and with the ball. */
static int64_t count_crossings(const test_strip *s, drape_crossings *search, const double *x, const double *ball) {
    drape_crossings_result found;
    int64_t count = 0;
    ASSERT_OK(s->ctx, drape_crossings_count(search, x, &ball, &found));
    for (int64_t i = 0; i < found.count; i++) {
        const drape_crossing *c = &found.crossings[i];
        if (c->kind == DRAPE_CROSSING_TOUCH) continue;
        bool self = c->body[0] == 0 && c->body[1] == 0;
        count += !self || !joined(s->scene.stitches, s->scene.stitch_count, s->mesh.triangle + 3 * c->triangle[0],
                                  s->mesh.triangle + 3 * c->triangle[1]);
    }
    return count;
}

/* A strip is, or is drawn to, a tube that falls onto a ball: nothing crosses, and the seam holds. */
static void contact_does_not_fight_them(drape_context *ctx, const char *method, double radius, double bend,
                                        double close) {
    enum { N = 24, M = 6 };
    test_strip *s = test_strip_create(ctx, N, M, 0.48, 0.12);
    drape_stitch list[M + 1];
    drape_collider ball = {.name = "ball", .shape = DRAPE_COLLIDER_SPHERE, .radius = 0.05, .friction = 0.3};
    drape_collider_key key = {.position = {0.24, 0.06, -0.06}};
    const drape_contact_settings contact = {.self = true};
    ball.key = &key;
    ball.key_count = 1;
    for (int32_t j = 0; j <= M; j++) {
        list[j] = pair(test_strip_vertex(s, 0, j), test_strip_vertex(s, N, j));
        list[j].close = close;
    }
    for (int32_t i = 0; i < s->mesh.vertices; i++) { /* bent to an open tube, uv keep the lengths */
        double u = (s->mesh.rest[3 * i] - 0.24) / radius;
        s->mesh.rest[3 * i] = 0.24 + radius * sin(u);
        s->mesh.rest[3 * i + 2] = radius * (1 - cos(u));
    }
    s->piece.thickness = 1e-3;
    s->material->bend = bend;
    s->piece.friction = 0.3;
    s->scene.colliders = &ball;
    s->scene.collider_count = 1;
    s->scene.contact = &contact;
    s->scene.stitches = list;
    s->scene.stitch_count = M + 1;
    s->scene.step = 0.005;
    s->scene.integration.ode.method = method;
    drape_sim *sim = test_strip_sim(s);
    drape_collider_surface *surface;
    drape_crossings *search;
    ASSERT_OK(ctx, drape_collider_surface_create(ctx, &ball, 0, &surface));
    drape_crossings_mesh other = {drape_collider_surface_vertices(surface),
                                  drape_collider_surface_triangles(surface),
                                  drape_collider_surface_triangle(surface),
                                  {0}};
    drape_crossings_bodies bodies = {
        .cloth = {s->mesh.vertices, s->mesh.triangles, s->mesh.triangle, {0}}, .others = &other, .other_count = 1};
    ASSERT_OK(ctx, drape_crossings_create(ctx, &bodies, &search));
    double *at = calloc(3 * (size_t)other.vertices, sizeof *at), most = 0;
    ASSERT_OK(ctx, drape_collider_surface_at(surface, 0, at));
    int64_t moved = 0;
    for (int step = 1; step <= 160; step++) {
        drape_certificate c;
        ASSERT_OK(ctx, drape_sim_step(sim, &c));
        moved += c.contact.moved;
        assert_int_equal(count_crossings(s, search, drape_sim_positions(sim), at), 0);
        for (int32_t j = 0; j <= M && step * s->scene.step > close; j++)
            most = fmax(most, apart(&list[j], drape_sim_positions(sim)));
    }
    printf("%s: with contact, the seam is open by at most %.2g m; the response moved %lld vertices\n", method, most,
           (long long)moved);
    assert_true(most < 1e-9);
    free(at);
    drape_crossings_destroy(search);
    drape_collider_surface_destroy(surface);
    drape_sim_destroy(sim);
    test_strip_destroy(s);
}

static void contact_lets_them_hold(void **state) {
    const double round = 0.48 / 6.28318530717958647693;
    contact_does_not_fight_them(*state, "linearised-euler", 0.085, 1e-3, 0.4);
    contact_does_not_fight_them(*state, "bdf2", 0.085, 1e-3, 0.4);
    contact_does_not_fight_them(*state, "linearised-euler", round, 1e-6, 0); /* folds over the ball */
    contact_does_not_fight_them(*state, "bdf2", round, 1e-6, 0);
}

/* ---- Bits and memory ---- */

typedef struct run {
    drape_context *ctx;
    test_strip *s;
    drape_stitch list[4];
    drape_sim *sim;
} run;

static void begin_run(run *r, drape_context *ctx, const char *method) {
    memset(r->list, 0, sizeof r->list);
    r->ctx = ctx;
    r->s = test_strip_create(ctx, 12, 4, 0.6, 0.2);
    test_strip_pin(r->s, 6, 6, 0, 4);
    sew_tube(r->s, r->list);
    r->s->scene.integration.ode.method = method;
    r->s->scene.step = 0.01;
    r->sim = test_strip_sim(r->s);
}

static void end_run(run *r) {
    drape_sim_destroy(r->sim);
    test_strip_destroy(r->s);
}

static void threads_and_resumes_change_no_bit(void **state) {
    static const char *const methods[] = {"linearised-euler", "bdf2"};
    char folder[] = "/tmp/drape-stitches-XXXXXX";
    (void)state;
    assert_non_null(mkdtemp(folder));
    for (int m = 0; m < 2; m++) {
        run one, two, three;
        drape_context *first = test_context(1), *second = test_context(2);
        const char *path = test_path_in(folder, "state.ckpt");
        begin_run(&one, first, methods[m]);
        begin_run(&two, second, methods[m]);
        begin_run(&three, second, methods[m]);
        size_t bytes = 3 * (size_t)one.s->mesh.vertices * sizeof(double);
        test_run(first, one.sim, 15);
        ASSERT_OK(first, drape_sim_save(one.sim, path));
        test_run(first, one.sim, 25);
        test_run(second, two.sim, 15);
        ASSERT_OK(second, drape_sim_save(two.sim, test_path_in(folder, "other.ckpt")));
        test_run(second, two.sim, 25);
        ASSERT_OK(second, drape_sim_restore(three.sim, test_path_in(folder, "state.ckpt")));
        test_run(second, three.sim, 25);
        assert_memory_equal(drape_sim_positions(one.sim), drape_sim_positions(two.sim), bytes);
        assert_memory_equal(drape_sim_positions(one.sim), drape_sim_positions(three.sim), bytes);
        end_run(&one), end_run(&two), end_run(&three);
        drape_context_destroy(first);
        drape_context_destroy(second);
        test_folder_entries(folder, true);
    }
    remove(folder);
}

static void warm_steps_allocate_nothing(void **state) {
    static const char *const methods[] = {"linearised-euler", "bdf2"};
    (void)state;
    for (int m = 0; m < 2; m++) {
        counting_allocator memory = {.left = -1};
        drape_context *ctx = counting_context(&memory);
        run r;
        begin_run(&r, ctx, methods[m]);
        drape_sim_destroy(r.sim);
        r.s->scene.solve.precond = "block_diagonal";
        r.sim = test_strip_sim(r.s);
        test_run(ctx, r.sim, 3);
        memory.left = 0;
        test_run(ctx, r.sim, 20);
        assert_false(memory.failed);
        memory.left = -1;
        end_run(&r);
        drape_context_destroy(ctx);
        assert_int_equal(memory.live, 0);
    }
}

/* ---- What bad input gets ---- */

static void refused(test_strip *s, const drape_stitch *st, int32_t count, const char *words) {
    drape_sim *sim;
    s->scene.stitches = st;
    s->scene.stitch_count = count;
    assert_int_equal(drape_sim_create(s->ctx, &s->scene, &sim), DRAPE_ERROR_ARGUMENT);
    assert_null(sim);
    if (!strstr(drape_message(s->ctx), words)) fail_msg("\"%s\" has no \"%s\"", drape_message(s->ctx), words);
}

static void bad_ones_are_named(void **state) {
    test_strip *s = test_strip_create(*state, 40, 1, 1, 0.1);
    drape_stitch st = pair(0, 5), many[80];
    refused(s, &st, 1, "stitch 0, of vertices 0 and 5: its points are 0.125 m apart");
    st.close = -1;
    refused(s, &st, 1, "closes within -1 s");
    st = pair(0, 500), st.close = 1;
    refused(s, &st, 1, "point b names vertex 500");
    st = pair(3, 3), st.close = 1;
    refused(s, &st, 1, "both of its points are the same, at vertex 3");
    st = pair(3, 4), st.stiffness = NAN;
    refused(s, &st, 1, "its stiffness is nan");
    st = pair(3, 4), st.close = 1, st.directions = 1;
    refused(s, &st, 1, "of vertices 3 and 4: a direction has no length");
    st = pair(3, 4), st.close = 1, st.b = (drape_cloth_point){2, {7, 8}, {0.5, 0.4}};
    refused(s, &st, 1, "add up to 0.9");
    st.a = st.b = (drape_cloth_point){3, {1, 2, 3}, {0.5, 0.25, 0.25}}, st.b.vertex[0] = 9, st.b.vertex[1] = 10;
    refused(s, &st, 1, "more than 4 vertices together");
    for (int32_t i = 0; i < 80; i++) many[i] = pair(i, i + 1), many[i].close = 1;
    refused(s, many, 80, "81 vertices, from 0 to 80, are coupled");
    st = pair(0, 5), st.close = 1;
    test_strip_pin(s, 0, 0, 0, 0);
    test_strip_pin(s, 5, 5, 0, 0);
    refused(s, &st, 1, "contradicts");
    test_strip_destroy(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_integrator_holds_them),     cmocka_unit_test(free_cloth_keeps_its_momentum),
        cmocka_unit_test(one_direction_leaves_the_others), cmocka_unit_test(soft_ones_are_springs),
        cmocka_unit_test(contact_lets_them_hold),          cmocka_unit_test(threads_and_resumes_change_no_bit),
        cmocka_unit_test(warm_steps_allocate_nothing),     cmocka_unit_test(bad_ones_are_named),
    };
    return cmocka_run_group_tests(tests, test_set_up, test_tear_down);
}
