/* Reports: what a run was, a record of every step, and docs/report.md that names every key. */
#include "support/testing.h"

#include "drape/io.h"

#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RESOLUTION = 9, STEPS = 3, PATH_SIZE = 256, KEY_SIZE = 128, MOST_KEYS = 120 };

typedef struct fixture {
    char folder[64], path[PATH_SIZE]; /* the report's */
    drape_context *ctx;
    drape_loaded_scene *loaded;
    drape_scene *scene;
    drape_sim *sim;
    drape_report *report;
    drape_certificate certificates[STEPS];
} fixture;

/* Just below the cloth, which falls on it in the first step. */
static const drape_collider_key BELOW = {.position = {0, 0, -1e-5}};
static const drape_collider FLOOR = {.name = "floor", .shape = DRAPE_COLLIDER_PLANE, .key_count = 1, .key = &BELOW};

static int set_up(void **state) {
    static fixture f;
    f = (fixture){.folder = "/tmp/drape-test-report-XXXXXX"};
    assert_non_null(mkdtemp(f.folder));
    snprintf(f.path, sizeof f.path, "%s/r.json", f.folder);
    f.ctx = test_context(2);
    ASSERT_OK(f.ctx, drape_scene_builtin(f.ctx, "drooping", RESOLUTION, &f.loaded));
    f.scene = drape_loaded_scene_edit(f.loaded);
    f.scene->forces.wind[1] = 0.5;
    f.scene->forces.drag = 1.25;
    f.scene->colliders = &FLOOR;
    f.scene->collider_count = 1;
    ASSERT_OK(f.ctx, drape_sim_create(f.ctx, f.scene, &f.sim));
    ASSERT_OK(f.ctx, drape_report_create(f.ctx, f.scene, f.sim, &f.report));
    for (int k = 0; k < STEPS; k++) {
        ASSERT_OK(f.ctx, drape_sim_step(f.sim, &f.certificates[k]));
        ASSERT_OK(f.ctx, drape_report_step(f.report, &f.certificates[k]));
    }
    *state = &f;
    return 0;
}

static int entries(const fixture *f) {
    int count = -2; /* . and .. */
    DIR *folder = opendir(f->folder);
    assert_non_null(folder);
    while (readdir(folder)) count++;
    closedir(folder);
    return count;
}

static int tear_down(void **state) {
    fixture *f = *state;
    drape_report_destroy(f->report);
    drape_sim_destroy(f->sim);
    drape_loaded_scene_destroy(f->loaded);
    drape_context_destroy(f->ctx);
    remove(f->path);
    return rmdir(f->folder); /* fails where something is left */
}

static json_t *write_and_read(fixture *f, const char *outcome) {
    json_error_t error;
    ASSERT_OK(f->ctx, drape_report_write(f->report, f->path, outcome));
    assert_int_equal(entries(f), 1);
    json_t *root = json_load_file(f->path, JSON_REJECT_DUPLICATES, &error);
    if (!root) fail_msg("%s:%d: %s", f->path, error.line, error.text);
    return root;
}

/* ---- Content ---- */

static double number_at(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value)) fail_msg("%s is no number", key);
    return json_number_value(value);
}

static const char *text_at(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    if (!text) fail_msg("%s is no text", key);
    return text;
}

static void check_machine(const fixture *f, const json_t *machine) {
    assert_true(strlen(text_at(machine, "processor")) > 0);
    assert_true(strlen(text_at(machine, "compiler")) > 0);
    assert_string_equal(text_at(machine, "drape"), drape_version());
    assert_string_equal(text_at(machine, "simd"), drape_simd_name(drape_context_simd(f->ctx)));
    assert_true(number_at(machine, "threads") == 2);
}

static void check_settings(const fixture *f, const json_t *settings) {
    const json_t *wind = json_object_get(settings, "wind"), *gravity = json_object_get(settings, "gravity");
    assert_true(number_at(settings, "step") == f->scene->step);
    assert_true(number_at(settings, "steps_per_frame") == f->scene->steps_per_frame);
    assert_true(number_at(settings, "frames") == f->scene->frames);
    assert_int_equal(json_array_size(wind), 3);
    assert_int_equal(json_array_size(gravity), 3);
    for (size_t k = 0; k < 3; k++) {
        assert_true(json_number_value(json_array_get(wind, k)) == f->scene->forces.wind[k]);
        assert_true(json_number_value(json_array_get(gravity, k)) == f->scene->forces.gravity[k]);
    }
    assert_true(number_at(settings, "drag") == 1.25);
    assert_true(number_at(settings, "air_drag") == 0);
    assert_string_equal(text_at(settings, "model"), "baraff_witkin");
    assert_string_equal(text_at(settings, "jacobian"), "psd");
    assert_string_equal(text_at(settings, "damping_jacobian"), "symmetric");
    assert_string_equal(text_at(settings, "method"), f->scene->solve.method);
    assert_string_equal(text_at(settings, "precond"), "auto"); /* as the scene names none */
    assert_string_equal(text_at(settings, "stop"), "preconditioned");
    assert_true(number_at(settings, "floor") == 0);
    assert_true(number_at(settings, "omega") == 1);
    assert_true(number_at(settings, "tolerance") == f->scene->solve.tol);
    assert_true(number_at(settings, "max_iterations") == f->scene->solve.max_iterations);
}

static void check_contact(const json_t *contact, const drape_certificate_contact *c) {
    const json_t *seconds = json_object_get(contact, "seconds");
    assert_true(number_at(contact, "count") == c->count);
    assert_true(number_at(contact, "held") == c->held);
    assert_true(number_at(contact, "sliding") == c->sliding);
    assert_true(number_at(contact, "released") == c->released);
    assert_true(number_at(contact, "springs") == c->springs);
    assert_true(number_at(contact, "passes") == c->passes);
    assert_true(number_at(contact, "zones") == c->zones);
    assert_true(number_at(contact, "cuts") == c->cuts);
    assert_true(number_at(contact, "pairs") == (double)c->pairs);
    assert_true(number_at(contact, "hits") == (double)c->hits);
    assert_true(number_at(contact, "moved") == (double)c->moved);
    assert_true(number_at(contact, "truncated") == (double)c->truncated);
    assert_true(number_at(contact, "pinched") == (double)c->pinched);
    assert_true(number_at(seconds, "broad") == c->broad);
    assert_true(number_at(seconds, "narrow") == c->narrow);
    assert_true(number_at(seconds, "response") == c->response);
    assert_true(number_at(seconds, "touch") == c->touch);
    assert_true(number_at(seconds, "gate") == c->gate);
}

static void check_step(const json_t *step, const drape_certificate *c) {
    const json_t *seconds = json_object_get(step, "seconds"), *forces = json_object_get(step, "forces");
    assert_int_equal(json_array_size(forces), 2); /* the wind has no energy, and there is no load */
    assert_string_equal(text_at(json_array_get(forces, 0), "name"), "baraff_witkin");
    assert_string_equal(text_at(json_array_get(forces, 1), "name"), "gravity");
    assert_true(number_at(json_array_get(forces, 0), "energy") == c->energy.elastic);
    assert_true(number_at(json_array_get(forces, 1), "energy") == c->energy.weight);
    assert_true(number_at(step, "step") == (double)c->step);
    assert_true(number_at(step, "time") == c->time);
    assert_string_equal(text_at(step, "reason"), drape_reason_name(c->linear.reason));
    assert_true(number_at(step, "iterations") == c->linear.iterations);
    assert_true(number_at(step, "residual") == c->linear.residual);
    assert_true(number_at(step, "true_residual") == c->linear.true_residual);
    assert_true(number_at(step, "kinetic") == c->energy.kinetic);
    assert_true(number_at(step, "elastic") == c->energy.elastic);
    assert_true(number_at(step, "weight") == c->energy.weight);
    assert_true(number_at(step, "stretch") == c->stretch);
    check_contact(json_object_get(step, "contact"), &c->contact);
    assert_true(number_at(seconds, "assemble") == c->seconds.assemble);
    assert_true(number_at(seconds, "precondition") == c->seconds.precondition);
    assert_true(number_at(seconds, "solve") == c->seconds.solve);
    assert_true(number_at(seconds, "update") == c->seconds.update);
}

static void test_report_says_what_was_run(void **state) {
    fixture *f = *state;
    json_t *root = write_and_read(f, "finished");
    const json_t *cloth = json_object_get(root, "cloth");
    const json_t *steps = json_object_get(root, "steps");
    assert_string_equal(text_at(root, "scene"), "drooping");
    assert_string_equal(text_at(root, "outcome"), "finished");
    check_machine(f, json_object_get(root, "machine"));
    check_settings(f, json_object_get(root, "settings"));
    assert_true(number_at(cloth, "vertices") == RESOLUTION * RESOLUTION);
    assert_true(number_at(cloth, "triangles") == 2 * (RESOLUTION - 1) * (RESOLUTION - 1));
    assert_true(number_at(cloth, "hinges") == drape_cloth_hinges(drape_sim_cloth(f->sim)));
    assert_int_equal(json_array_size(steps), STEPS);
    for (size_t k = 0; k < STEPS; k++) check_step(json_array_get(steps, k), &f->certificates[k]);
    json_decref(root);
}

/* Numbers of their own, so that no two keys can be mistaken for each other. */
static void test_every_number_of_contact_has_its_key(void **state) {
    fixture *f = *state;
    drape_certificate c = f->certificates[STEPS - 1];
    assert_true(c.contact.count > 0);
    c.contact = (drape_certificate_contact){.count = 1,
                                            .held = 2,
                                            .sliding = 3,
                                            .released = 4,
                                            .springs = 5,
                                            .passes = 6,
                                            .zones = 7,
                                            .cuts = 8,
                                            .pairs = 1LL << 40,
                                            .hits = 10,
                                            .moved = 11,
                                            .truncated = 12,
                                            .broad = 0.25,
                                            .narrow = 0.5,
                                            .response = 0.75,
                                            .touch = 0.875,
                                            .gate = 1};
    ASSERT_OK(f->ctx, drape_report_step(f->report, &c));
    json_t *root = write_and_read(f, "finished");
    check_step(json_array_get(json_object_get(root, "steps"), STEPS), &c);
    json_decref(root);
}

static void test_scene_without_contact_has_no_word_of_it(void **state) {
    fixture *f = *state;
    drape_certificate c;
    drape_report_destroy(f->report);
    drape_sim_destroy(f->sim);
    f->scene->collider_count = 0;
    ASSERT_OK(f->ctx, drape_sim_create(f->ctx, f->scene, &f->sim));
    ASSERT_OK(f->ctx, drape_report_create(f->ctx, f->scene, f->sim, &f->report));
    ASSERT_OK(f->ctx, drape_sim_step(f->sim, &c));
    ASSERT_OK(f->ctx, drape_report_step(f->report, &c));
    json_t *root = write_and_read(f, "finished");
    const json_t *step = json_array_get(json_object_get(root, "steps"), 0);
    assert_true(number_at(step, "step") == 1);
    assert_null(json_object_get(step, "contact"));
    json_decref(root);
}

static void test_report_can_be_written_again(void **state) {
    fixture *f = *state;
    json_decref(write_and_read(f, "going on"));
    json_t *root = write_and_read(f, "finished");
    assert_string_equal(text_at(root, "outcome"), "finished");
    json_decref(root);
}

static void test_report_without_steps(void **state) {
    fixture *f = *state;
    drape_report_destroy(f->report);
    ASSERT_OK(f->ctx, drape_report_create(f->ctx, f->scene, f->sim, &f->report));
    json_t *root = write_and_read(f, "finished");
    assert_true(json_is_array(json_object_get(root, "steps")));
    assert_int_equal(json_array_size(json_object_get(root, "steps")), 0);
    json_decref(root);
}

/* A solve that went wrong is a reason, not an error, and JSON has no infinity. */
static void test_numbers_that_are_not_finite_become_null(void **state) {
    fixture *f = *state;
    drape_certificate c = f->certificates[0];
    c.linear.reason = DRAPE_NOT_FINITE;
    c.linear.residual = NAN;
    c.linear.true_residual = INFINITY;
    ASSERT_OK(f->ctx, drape_report_step(f->report, &c));
    json_t *root = write_and_read(f, "finished");
    const json_t *step = json_array_get(json_object_get(root, "steps"), STEPS);
    assert_string_equal(text_at(step, "reason"), drape_reason_name(DRAPE_NOT_FINITE));
    assert_true(json_is_null(json_object_get(step, "residual")));
    assert_true(json_is_null(json_object_get(step, "true_residual")));
    assert_true(number_at(step, "kinetic") == c.energy.kinetic);
    json_decref(root);
}

/* Messages name files, and the names of files need not be UTF-8. */
static void test_outcome_of_any_bytes(void **state) {
    fixture *f = *state;
    json_t *root = write_and_read(f, "caf\xe9.obj: cannot \"create\"\n");
    assert_string_equal(text_at(root, "outcome"), "caf?.obj: cannot \"create\"\n");
    json_decref(root);
    root = write_and_read(f, "caf\xc3\xa9.obj");
    assert_string_equal(text_at(root, "outcome"), "caf\xc3\xa9.obj");
    json_decref(root);
}

/* ---- Failures ---- */

static void test_missing_folder(void **state) {
    fixture *f = *state;
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/none/r.json", f->folder);
    assert_int_equal(drape_report_write(f->report, path, "finished"), DRAPE_ERROR_IO);
    assert_non_null(strstr(drape_message(f->ctx), path));
    assert_int_equal(entries(f), 0);
    json_decref(write_and_read(f, "finished")); /* the report lives on */
}

static void test_folder_in_the_place_of_the_file(void **state) {
    fixture *f = *state;
    assert_int_equal(mkdir(f->path, 0777), 0);
    assert_int_equal(drape_report_write(f->report, f->path, "finished"), DRAPE_ERROR_IO);
    assert_non_null(strstr(drape_message(f->ctx), f->path));
    assert_int_equal(entries(f), 1); /* no temporary beside it */
}

static void test_file_in_the_place_of_the_folder(void **state) {
    fixture *f = *state;
    char path[PATH_SIZE + 16];
    json_decref(write_and_read(f, "finished"));
    snprintf(path, sizeof path, "%s/r.json", f->path);
    assert_int_equal(drape_report_write(f->report, path, "finished"), DRAPE_ERROR_IO);
    assert_non_null(strstr(drape_message(f->ctx), path));
    assert_int_equal(entries(f), 1);
}

/* ---- The documentation ---- */

typedef struct keys {
    int count;
    char key[MOST_KEYS][KEY_SIZE]; /* "steps[].seconds.solve" */
} keys;

static bool has_key(const keys *k, const char *key) {
    for (int i = 0; i < k->count; i++)
        if (strcmp(k->key[i], key) == 0) return true;
    return false;
}

static void add_key(keys *k, const char *key) {
    if (has_key(k, key)) return;
    assert_true(k->count < MOST_KEYS && strlen(key) < KEY_SIZE);
    memcpy(k->key[k->count++], key, strlen(key) + 1);
}

/* Every key below value, with the way to it. */
static void collect(json_t *value, const char *way, keys *out) {
    char key[KEY_SIZE];
    const char *name;
    json_t *child;
    size_t i;
    json_object_foreach(value, name, child) {
        snprintf(key, sizeof key, "%s%s%s", way, *way ? "." : "", name);
        add_key(out, key);
        collect(child, key, out);
    }
    json_array_foreach(value, i, child) {
        snprintf(key, sizeof key, "%s[]", way);
        collect(child, key, out);
    }
}

/* What stands in backquotes at the start of a table's row: | `key` | ... */
static void collect_documented(keys *out) {
    char line[1024];
    FILE *file = fopen(DRAPE_SOURCE_DIR "/docs/report.md", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        char *end;
        if (strncmp(line, "| `", 3) != 0 || !(end = strchr(line + 3, '`'))) continue;
        *end = 0;
        add_key(out, line + 3);
    }
    fclose(file);
}

static void test_every_key_is_documented(void **state) {
    fixture *f = *state;
    static keys real, documented;
    json_t *root = write_and_read(f, "finished");
    collect(root, "", &real);
    collect_documented(&documented);
    json_decref(root);
    assert_true(real.count > 30);
    for (int i = 0; i < real.count; i++)
        if (!has_key(&documented, real.key[i])) fail_msg("docs/report.md does not name `%s`", real.key[i]);
    for (int i = 0; i < documented.count; i++)
        if (!has_key(&real, documented.key[i])) fail_msg("no report has `%s` of docs/report.md", documented.key[i]);
}

#define WITH_REPORT(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_REPORT(test_report_says_what_was_run),
        WITH_REPORT(test_every_number_of_contact_has_its_key),
        WITH_REPORT(test_scene_without_contact_has_no_word_of_it),
        WITH_REPORT(test_report_can_be_written_again),
        WITH_REPORT(test_report_without_steps),
        WITH_REPORT(test_numbers_that_are_not_finite_become_null),
        WITH_REPORT(test_outcome_of_any_bytes),
        WITH_REPORT(test_missing_folder),
        WITH_REPORT(test_folder_in_the_place_of_the_file),
        WITH_REPORT(test_file_in_the_place_of_the_folder),
        WITH_REPORT(test_every_key_is_documented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
