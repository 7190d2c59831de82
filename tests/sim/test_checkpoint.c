/* Checkpoints: a simulation that is saved and one that is restored go on with the same bits; a file that is not what
 * was written is refused, and changes nothing. */
#include "support/folder.h"
#include "support/testing.h"

#include "drape/io.h"
#include "sim/sim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RESOLUTION = 13, TINY = 3, BEFORE = 4, AFTER = 4, MOST_THREADS = 3 };

static char folder[] = "/tmp/drape-checkpoint-XXXXXX";

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    test_folder_entries(folder, true);
    return rmdir(folder);
}

/* A simulation with all that it needs. */
typedef struct subject {
    drape_context *ctx;
    drape_loaded_scene *loaded;
    drape_scene *scene;
    drape_sim *sim;
    int64_t bytes; /* of the context before all this */
} subject;

typedef void change(drape_scene *scene);

static subject begin(const char *name, int32_t resolution, int32_t threads, change *edit) {
    subject s = {.ctx = test_context(threads)};
    s.bytes = drape_context_bytes(s.ctx);
    ASSERT_OK(s.ctx, drape_scene_builtin(s.ctx, name, test_scene_resolution(name, resolution), &s.loaded));
    s.scene = drape_loaded_scene_edit(s.loaded);
    if (edit) edit(s.scene);
    ASSERT_OK(s.ctx, drape_sim_create(s.ctx, s.scene, &s.sim));
    return s;
}

static void end(subject *s) {
    drape_sim_destroy(s->sim);
    drape_loaded_scene_destroy(s->loaded);
    assert_int_equal(drape_context_bytes(s->ctx), s->bytes);
    drape_context_destroy(s->ctx);
}

static void steps(subject *s, int32_t count) {
    for (int32_t i = 0; i < count; i++) ASSERT_OK(s->ctx, drape_sim_step(s->sim, NULL));
}

static void assert_same_bits(const double *a, const double *b, int64_t count, const char *what) {
    if (memcmp(a, b, (size_t)count * sizeof *a) != 0) fail_msg("%s has other bits", what);
}

static void assert_same_state(subject *a, subject *b) {
    int64_t n = 3 * (int64_t)a->sim->vertices;
    assert_int_equal(a->sim->steps, b->sim->steps);
    assert_same_bits(a->sim->x, b->sim->x, n, "x");
    assert_same_bits(a->sim->v, b->sim->v, n, "v");
    assert_same_bits(a->sim->dv, b->sim->dv, n, "dv");
    assert_same_bits(a->sim->anchor, b->sim->anchor, 3 * (int64_t)a->sim->held_count, "the anchors");
}

/* Both do the same steps; iterations and residuals too must be the same. */
static void assert_go_on_alike(subject *a, subject *b) {
    for (int32_t i = 0; i < AFTER; i++) {
        drape_certificate left, right;
        ASSERT_OK(a->ctx, drape_sim_step(a->sim, &left));
        ASSERT_OK(b->ctx, drape_sim_step(b->sim, &right));
        assert_int_equal(left.linear.iterations, right.linear.iterations);
        assert_string_equal(left.linear.precond, right.linear.precond);
        assert_same_bits(&left.linear.true_residual, &right.linear.true_residual, 1, "the residual");
        assert_same_bits(&left.energy.elastic, &right.energy.elastic, 1, "the energy");
        assert_same_state(a, b);
    }
}

/* Saves after some steps, restores into one that has been elsewhere, with other threads. */
static void compare(const char *name, int32_t resolution, change *edit, int32_t before, int32_t threads) {
    const char *path = test_path_in(folder, "state.ckpt");
    subject a = begin(name, resolution, 1, edit), b = begin(name, resolution, threads, edit);
    steps(&a, before);
    steps(&b, 2);
    ASSERT_OK(a.ctx, drape_sim_save(a.sim, path));
    ASSERT_OK(b.ctx, drape_sim_restore(b.sim, path));
    assert_null(drape_sim_constraint_forces(b.sim));
    assert_same_state(&a, &b);
    assert_go_on_alike(&a, &b);
    end(&a);
    end(&b);
}

/* ---- The same bits ---- */

static void every_scene_goes_on_with_the_same_bits(void **state) {
    test_random random = {7};
    (void)state;
    for (int32_t i = 0; drape_scene_name(i); i++)
        for (int32_t threads = 1; threads <= MOST_THREADS; threads++)
            compare(drape_scene_name(i), RESOLUTION, NULL, test_random_below(&random, 2 * BEFORE), threads);
}

/* Kept from step to step, and refreshed when it has grown old: what a solver remembers most of. */
static void take_amg(drape_scene *scene) { scene->solve.precond = "amg"; }
static void take_amg_6(drape_scene *scene) {
    scene->solve.precond = "amg";
    scene->solve.amg.modes = 6;
}
static void take_ichol(drape_scene *scene) { scene->solve.precond = "ichol"; }
static void take_full_damping(drape_scene *scene) { scene->cloth.damping_jacobian = DRAPE_DAMPING_FULL; }

static void every_kind_of_solver_goes_on_with_the_same_bits(void **state) {
    change *const edits[] = {take_amg, take_amg_6, take_ichol, take_full_damping};
    (void)state;
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) compare("reentrant", 31, edits[i], BEFORE, 2);
    compare("drooping", 61, NULL, BEFORE, 2); /* where "auto" has something to choose */
}

/* The anchors of such a pin are not those of the start. */
static void hold_later(drape_scene *scene) {
    scene->pins[0].from = 2.5 * scene->step;
    scene->pins[0].motion = (drape_motion){.kind = DRAPE_MOTION_LINEAR, .velocity = {0.1, 0.2, 0.3}};
}

static void pins_that_took_hold_on_the_way_stay_where_they_are(void **state) {
    (void)state;
    for (int32_t before = 1; before <= 5; before++) compare("drooping", RESOLUTION, hold_later, before, 2);
}

/* ---- Integrators: their past, their control, and what they find out on the way ---- */

static const char *method;
static drape_ode_control control;

/* Steps that explicit methods take, too. */
static void take_integrator(drape_scene *scene) {
    hold_later(scene);
    scene->step = 1e-4;
    scene->pins[0].from = 2.5 * scene->step;
    scene->integration.ode.method = method;
    scene->integration.ode.control = control;
}

static void take_simplified(drape_scene *scene) {
    take_integrator(scene);
    scene->integration.ode.newton.kind = DRAPE_ODE_SIMPLIFIED;
}

static void take_consistent_mass(drape_scene *scene) {
    take_integrator(scene);
    scene->integration.mass = DRAPE_MASS_CONSISTENT;
}

static void take_limit_of_strain(drape_scene *scene) {
    take_integrator(scene);
    scene->cloth.model = "provot";
    scene->pieces[0].material.strain_limit = 1e-5;
}

static void every_integrator_goes_on_with_the_same_bits(void **state) {
    (void)state;
    for (int32_t i = 0; (method = drape_integrator_name(i)); i++)
        for (control = DRAPE_ODE_FIXED; control <= DRAPE_ODE_ERROR; control++)
            for (int32_t before = 1; before <= 5; before += 2) compare("drooping", TINY, take_integrator, before, 2);
}

static void what_integrators_keep_goes_on_with_the_same_bits(void **state) {
    static const char *const methods[] = {"bdf2", "rk4", "verlet"};
    change *const edits[] = {take_simplified, take_consistent_mass, take_limit_of_strain};
    (void)state;
    control = DRAPE_ODE_FIXED;
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
        for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
            method = methods[m];
            compare("drooping", TINY, edits[i], BEFORE, 2);
        }
}

/* Steps by their error in metres per frame, cut where a pin takes hold. */
static void take_accuracy(drape_scene *scene) {
    drape_ode_settings *s = &scene->integration.ode;
    scene->step *= scene->steps_per_frame;
    scene->steps_per_frame = 1;
    hold_later(scene);
    s->control = DRAPE_ODE_ERROR;
    s->rtol = -1;
    s->atol = 1e-3;
    s->atol_v = INFINITY;
    s->per = scene->step;
    s->largest = true;
}

static void steps_by_accuracy_go_on_with_the_same_bits(void **state) {
    (void)state;
    for (int32_t before = 1; before <= 5; before++) compare("drooping", RESOLUTION, take_accuracy, before, 3);
}

/* Otherwise the tests above would show less than they seem to: without forgetting, the old hierarchy goes on. */
static void saving_makes_the_solver_forget(void **state) {
    (void)state;
    subject a = begin("reentrant", 31, 1, take_amg), b = begin("reentrant", 31, 1, take_amg);
    steps(&a, BEFORE);
    steps(&b, BEFORE);
    ASSERT_OK(a.ctx, drape_sim_save(a.sim, test_path_in(folder, "state.ckpt")));
    assert_same_state(&a, &b);
    steps(&a, 1);
    steps(&b, 1);
    assert_true(memcmp(a.sim->x, b.sim->x, 3 * (size_t)a.sim->vertices * sizeof(double)) != 0);
    end(&a);
    end(&b);
}

static void there_is_no_system_before_the_first_step(void **state) {
    const char *path = test_path_in(folder, "state.ckpt");
    (void)state;
    subject a = begin("drooping", TINY, 1, NULL), b = begin("drooping", TINY, 1, NULL);
    steps(&a, 2);
    ASSERT_OK(a.ctx, drape_sim_save(a.sim, path));
    ASSERT_OK(b.ctx, drape_sim_restore(b.sim, path));
    assert_int_equal(drape_sim_export_system(b.sim, test_path_in(folder, "a.sys")), DRAPE_ERROR_ARGUMENT);
    steps(&b, 1);
    ASSERT_OK(b.ctx, drape_sim_export_system(b.sim, test_path_in(folder, "a.sys")));
    end(&a);
    end(&b);
}

/* ---- What is refused ---- */

/* A small checkpoint in memory, and a simulation that it is offered to. */
typedef struct offer {
    subject from, to, kept; /* kept: what `to` must stay like */
    char *data, *spoilt;
    int64_t size;
} offer;

static offer make_offer(void) {
    offer o = {begin("drooping", TINY, 1, NULL),
               begin("drooping", TINY, 1, NULL),
               begin("drooping", TINY, 1, NULL),
               NULL,
               NULL,
               0};
    steps(&o.from, 3);
    steps(&o.to, 1);
    steps(&o.kept, 1);
    o.size = drape_i_checkpoint_size(o.from.sim);
    assert_non_null(o.data = malloc((size_t)o.size));
    assert_non_null(o.spoilt = malloc((size_t)o.size + 1));
    drape_i_checkpoint_make(o.from.sim, o.data);
    memcpy(o.spoilt, o.data, (size_t)o.size);
    o.spoilt[o.size] = 0;
    return o;
}

static void drop_offer(offer *o) {
    ASSERT_OK(o->to.ctx, drape_i_checkpoint_take(o->to.sim, "a.ckpt", o->data, o->size, o->size));
    assert_same_state(&o->from, &o->to); /* after all that was refused, the right one is taken */
    end(&o->from);
    end(&o->to);
    end(&o->kept);
    free(o->data);
    free(o->spoilt);
}

static void assert_refused(offer *o, int64_t size, const char *why) {
    assert_int_equal(drape_i_checkpoint_take(o->to.sim, "a.ckpt", o->spoilt, size, size), DRAPE_ERROR_FORMAT);
    const char *message = drape_message(o->to.ctx);
    if (strncmp(message, "a.ckpt: ", 8) != 0 || !strstr(message, why)) fail_msg("it says: %s", message);
    assert_same_state(&o->to, &o->kept);
}

static void every_wrong_byte_is_noticed(void **state) {
    static const char flips[] = {1, 64, (char)0xff};
    (void)state;
    offer o = make_offer();
    for (int64_t i = 0; i < o.size; i++)
        for (size_t k = 0; k < sizeof flips; k++) {
            o.spoilt[i] = (char)(o.data[i] ^ flips[k]);
            assert_refused(&o, o.size, "checkpoint");
            o.spoilt[i] = o.data[i];
        }
    drop_offer(&o);
}

static void every_wrong_length_is_noticed(void **state) {
    (void)state;
    offer o = make_offer();
    for (int64_t size = 0; size < o.size; size++) assert_refused(&o, size, "truncated");
    assert_refused(&o, o.size + 1, "more after its end");
    drop_offer(&o);
}

/* Its author knows about checksums. */
static void what_is_wrong_under_right_checksums_is_noticed(void **state) {
    enum { VERSION = 8, SIZE = 16, SCENE = 24, STEPS = 32, SECTIONS = 40, FIRST_NAME = 56, FIRST_BYTES = 64 };
    static const struct {
        int64_t at;
        uint64_t put;
        const char *why;
    } wrong[] = {
        {VERSION, UINT64_C(0x0102030400000007), "version 7"},
        {SIZE, UINT64_C(1) << 60, "truncated"},
        {SIZE, 100, "more after its end"},
        {SCENE, 1, "another scene"},
        {STEPS, UINT64_C(1) << 63, "out of range"},
        {STEPS, UINT64_C(1) << 60, "out of range"},
        {SECTIONS, 3, "sections"},
        {SECTIONS, UINT64_MAX, "sections"},
        {FIRST_NAME, 'y', "section"},
        {FIRST_BYTES, UINT64_C(1) << 62, "section"},
        {FIRST_BYTES + 8, UINT64_C(0x7ff8000000000000), "not finite"},
    };
    (void)state;
    offer o = make_offer();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memcpy(o.spoilt + wrong[i].at, &wrong[i].put, sizeof wrong[i].put);
        drape_i_checkpoint_seal(o.spoilt, o.size);
        assert_refused(&o, o.size, wrong[i].why);
        memcpy(o.spoilt, o.data, (size_t)o.size);
    }
    drop_offer(&o);
}

static void other_step(drape_scene *s) { s->step *= 2; }
static void other_frames(drape_scene *s) { s->steps_per_frame++; }
static void other_density(drape_scene *s) { s->pieces[0].material.density *= 2; }
static void other_gravity(drape_scene *s) { s->forces.gravity[0] = 1; }
static void other_pin(drape_scene *s) { s->pins[0].count--; }
static void other_motion(drape_scene *s) { s->pins[0].motion.phase = 0.5; }
static void other_time(drape_scene *s) { s->pins[0].until = 1; }
static void other_tolerance(drape_scene *s) { s->solve.tol /= 2; }
static void other_method(drape_scene *s) { s->solve.method = "pcg"; }
static void other_levels(drape_scene *s) { s->solve.amg.levels = 3; }
static void other_jacobian(drape_scene *s) { s->cloth.jacobian = DRAPE_JACOBIAN_FULL; }
static void other_integrator(drape_scene *s) { s->integration.ode.method = "bdf3"; }
static void other_unknowns(drape_scene *s) { s->integration.unknowns = DRAPE_UNKNOWN_POSITION; }
static void other_eta(drape_scene *s) { s->integration.ode.newton.eta = 0.5; }
static void other_per(drape_scene *s) { s->integration.ode.per = 0.5; }
static void other_norm(drape_scene *s) { s->integration.ode.largest = true; }
static void other_place(drape_scene *s) { ((double *)s->pieces[0].rest)[4] += 1e-12; }

static void other_scenes_are_told_apart(void **state) {
    change *const edits[] = {other_step,     other_frames, other_density,    other_gravity,   other_pin,
                             other_motion,   other_time,   other_method,     other_tolerance, other_levels,
                             other_jacobian, other_place,  other_integrator, other_unknowns,  other_eta,
                             other_per,      other_norm};
    const char *path = test_path_in(folder, "state.ckpt");
    (void)state;
    subject a = begin("drooping", TINY, 1, NULL);
    ASSERT_OK(a.ctx, drape_sim_save(a.sim, path));
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        subject b = begin("drooping", TINY, 1, edits[i]);
        if (drape_sim_restore(b.sim, path) != DRAPE_ERROR_FORMAT) fail_msg("change %zu was not noticed", i);
        assert_non_null(strstr(drape_message(b.ctx), "another scene"));
        end(&b);
    }
    subject larger = begin("drooping", RESOLUTION, 1, NULL), smaller = begin("drooping", 2, 1, NULL);
    assert_int_equal(drape_sim_restore(larger.sim, path), DRAPE_ERROR_FORMAT);
    assert_non_null(strstr(drape_message(larger.ctx), "another scene"));
    assert_int_equal(drape_sim_restore(smaller.sim, path), DRAPE_ERROR_FORMAT);
    assert_non_null(strstr(drape_message(smaller.ctx), "another scene"));
    end(&larger);
    end(&smaller);
    end(&a);
}

static void rename_it(drape_scene *s) {
    s->name = "another name";
    s->pieces[0].name = "another piece";
    s->frames += 7;
    s->output_count = 0;
    s->solve.history = 3;
}

static void names_outputs_and_frames_do_not_matter(void **state) {
    const char *path = test_path_in(folder, "state.ckpt");
    (void)state;
    subject a = begin("drooping", TINY, 1, NULL), b = begin("drooping", TINY, 1, rename_it);
    ASSERT_OK(a.ctx, drape_sim_save(a.sim, path));
    ASSERT_OK(b.ctx, drape_sim_restore(b.sim, path));
    end(&a);
    end(&b);
}

static void files_that_cannot_be_are_errors(void **state) {
    (void)state;
    subject a = begin("drooping", TINY, 1, NULL), same = begin("drooping", TINY, 1, NULL);
    steps(&a, 2);
    steps(&same, 2);
    assert_int_equal(drape_sim_restore(a.sim, test_path_in(folder, "absent")), DRAPE_ERROR_IO);
    assert_int_equal(drape_sim_restore(a.sim, folder), DRAPE_ERROR_IO);
    assert_int_equal(drape_sim_save(a.sim, test_path_in(folder, "no/such/folder")), DRAPE_ERROR_IO);
    assert_same_state(&a, &same);
    steps(&a, 1); /* and it still works */
    end(&a);
    end(&same);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_scene_goes_on_with_the_same_bits),
        cmocka_unit_test(every_kind_of_solver_goes_on_with_the_same_bits),
        cmocka_unit_test(pins_that_took_hold_on_the_way_stay_where_they_are),
        cmocka_unit_test(every_integrator_goes_on_with_the_same_bits),
        cmocka_unit_test(what_integrators_keep_goes_on_with_the_same_bits),
        cmocka_unit_test(steps_by_accuracy_go_on_with_the_same_bits),
        cmocka_unit_test(saving_makes_the_solver_forget),
        cmocka_unit_test(there_is_no_system_before_the_first_step),
        cmocka_unit_test(every_wrong_byte_is_noticed),
        cmocka_unit_test(every_wrong_length_is_noticed),
        cmocka_unit_test(what_is_wrong_under_right_checksums_is_noticed),
        cmocka_unit_test(other_scenes_are_told_apart),
        cmocka_unit_test(names_outputs_and_frames_do_not_matter),
        cmocka_unit_test(files_that_cannot_be_are_errors),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
