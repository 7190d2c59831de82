/* `colliders:` and `contact:` of scene files: what they become. What is refused is in test_wrong_scenes.sh. */
#include "drape/io.h"
#include "support/testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 256 };

static const double PI = 3.14159265358979323846;

typedef struct fixture {
    drape_context *ctx;
    char folder[PATH_SIZE];
    drape_loaded_scene *loaded;
} fixture;

static const char *path_in(const fixture *f, const char *name) {
    static char path[2 * PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    return path;
}

static void write_file(const fixture *f, const char *name, const char *text) {
    FILE *file = fopen(path_in(f, name), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static drape_status try_to_read(fixture *f, const char *head, const char *rest, const drape_scene_options *options) {
    char text[2000], name[2 * PATH_SIZE];
    snprintf(text, sizeof text, "drape: 1\n%scloth: [{grid: {resolution: 3}}]\n%s", head, rest);
    snprintf(name, sizeof name, "%s", path_in(f, "test.yaml"));
    drape_loaded_scene_destroy(f->loaded);
    return drape_scene_parse(f->ctx, name, text, (int64_t)strlen(text), options, &f->loaded);
}

static const drape_scene *read_scene(fixture *f, const char *head, const char *rest) {
    ASSERT_OK(f->ctx, try_to_read(f, head, rest, NULL));
    return drape_loaded_scene_data(f->loaded);
}

static const drape_collider *read_one(fixture *f, const char *collider) {
    char rest[1000];
    snprintf(rest, sizeof rest, "colliders:\n  - %s\n", collider);
    const drape_scene *s = read_scene(f, "", rest);
    assert_int_equal(s->collider_count, 1);
    return s->colliders;
}

static void refuse(fixture *f, const char *rest, const char *why) {
    assert_int_equal(try_to_read(f, "", rest, NULL), DRAPE_ERROR_FORMAT);
    if (!strstr(drape_message(f->ctx), why)) fail_msg("\"%s\" does not say \"%s\"", drape_message(f->ctx), why);
}

static void near3(const double *got, double x, double y, double z) {
    ASSERT_NEAR(got[0], x, 1e-14);
    ASSERT_NEAR(got[1], y, 1e-14);
    ASSERT_NEAR(got[2], z, 1e-14);
}

static void shapes_and_their_defaults(void **state) {
    fixture *f = *state;
    const drape_collider *c = read_one(f, "{shape: plane}");
    assert_string_equal(c->name, "collider");
    assert_true(c->shape == DRAPE_COLLIDER_PLANE && c->thickness == 0 && c->friction == 0.3 && c->key_count == 0);
    c = read_one(f, "{name: ball, shape: sphere, radius: 30 cm, thickness: 2 mm, friction: 0.4}");
    assert_string_equal(c->name, "ball");
    assert_true(c->shape == DRAPE_COLLIDER_SPHERE && c->friction == 0.4);
    ASSERT_NEAR(c->radius, 0.3, 1e-15);
    ASSERT_NEAR(c->thickness, 0.002, 1e-15);
    c = read_one(f, "{shape: capsule, radius: 1, length: 2}");
    assert_true(c->shape == DRAPE_COLLIDER_CAPSULE && c->radius == 1 && c->length == 2);
    c = read_one(f, "{shape: cylinder, radius: 1, length: 2, sides: 7}");
    assert_true(c->shape == DRAPE_COLLIDER_CYLINDER && c->radius == 1 && c->length == 2 && c->sides == 7);
    c = read_one(f, "{shape: box, size: [1, 2, 3]}");
    assert_true(c->shape == DRAPE_COLLIDER_BOX && c->size[0] == 1 && c->size[1] == 2 && c->size[2] == 3);
    c = read_one(f, "{shape: box_with_hole, size: [3, 2, 1], hole: [2, 1]}");
    assert_true(c->shape == DRAPE_COLLIDER_BOX_WITH_HOLE && c->hole[0] == 2 && c->hole[1] == 1);
}

static void contact_and_pieces(void **state) {
    fixture *f = *state;
    const drape_scene *s = read_scene(f, "", "");
    assert_null(s->contact);
    assert_int_equal(s->collider_count, 0);
    assert_true(s->pieces[0].thickness == 1e-3 && s->pieces[0].friction == 0.3);
    s = read_scene(f, "", "contact: {self: true, allow_crossings: true, distance: 0.5 mm}\n");
    assert_true(s->contact->self && s->contact->allow_crossings);
    ASSERT_NEAR(s->contact->distance, 5e-4, 1e-18);
    assert_true(s->contact->pinch == DRAPE_PINCH_FAIL && s->contact->preset == DRAPE_CONTACT_ROBUST);
    s = read_scene(f, "", "contact: {pinch: yield, preset: paper}\n");
    assert_true(s->contact->pinch == DRAPE_PINCH_YIELD && s->contact->preset == DRAPE_CONTACT_PAPER);
    s = read_scene(f, "", "contact: {pinch: fail, preset: robust}\n");
    assert_true(s->contact->pinch == DRAPE_PINCH_FAIL && s->contact->preset == DRAPE_CONTACT_ROBUST);
    s = read_scene(f, "", "contact: paper\n");
    assert_true(s->contact->preset == DRAPE_CONTACT_PAPER && !s->contact->self);
    refuse(f, "contact: papr\n", "test.yaml:3:10: unknown contact \"papr\"; known: robust, paper");
    refuse(f, "contact: {preset: 2}\n", "test.yaml:3:19: unknown preset \"2\"; known: robust, paper");
    refuse(f, "contact: {pinch: no}\n", "test.yaml:3:18: unknown pinch \"no\"; known: fail, yield");
    refuse(f, "contact: {pinch: [yield]}\n", "test.yaml:3:18");
    static const char *const set[] = {"cloth.0.thickness=3 mm", "cloth.0.friction=0.5"};
    ASSERT_OK(f->ctx, try_to_read(f, "", "", &(drape_scene_options){.set = set, .set_count = 2}));
    s = drape_loaded_scene_data(f->loaded);
    ASSERT_NEAR(s->pieces[0].thickness, 3e-3, 1e-18);
    assert_true(s->pieces[0].friction == 0.5);
}

/* Where what is at p in the shape's own coordinates comes to be, by way of a capsule from -z to z. */
static void ends_at(fixture *f, const drape_collider *given, double time, double top[3]) {
    const double p[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0};
    const int32_t triangle[3] = {0, 1, 2};
    drape_collider c = *given;
    c.shape = DRAPE_COLLIDER_MESH, c.vertices = 3, c.positions = p, c.triangles = 1, c.triangle = triangle;
    drape_collider_surface *s;
    double x[9];
    ASSERT_OK(f->ctx, drape_collider_surface_create(f->ctx, &c, 0, &s));
    ASSERT_OK(f->ctx, drape_collider_surface_at(s, time, x));
    memcpy(top, x, 3 * sizeof *x);
    drape_collider_surface_destroy(s);
}

static void place_and_motion(void **state) {
    fixture *f = *state;
    double top[3];
    const drape_collider *c = read_one(f, "{shape: plane, place: {translate: [1, 2, 3]}}");
    assert_int_equal(c->key_count, 1);
    near3(c->key[0].position, 1, 2, 3);
    c = read_one(f, "{shape: plane, place: {rotate: [0, 20, 0]}}");
    assert_int_equal(c->key_count, 0);
    near3(c->rotation, 0, PI / 9, 0);
    c = read_one(f, "{shape: capsule, radius: 1, length: 1, place: {rotate: [90, 0, 90], translate: [0, 0, 5]}}");
    ends_at(f, c, 0, top); /* z -> -y -> x */
    near3(top, 1, 0, 5);
    c = read_one(f, "{shape: capsule, radius: 1, length: 1, place: {rotate: [10, 20, 30]}}");
    ends_at(f, c, 0, top); /* Rz Ry Rx z */
    double a = PI / 18, y1 = -sin(a), z1 = cos(a), x2 = sin(2 * a) * z1;
    near3(top, cos(3 * a) * x2 - sin(3 * a) * y1, sin(3 * a) * x2 + cos(3 * a) * y1, cos(2 * a) * z1);
    c = read_one(f, "{shape: cylinder, radius: 1, length: 1, place: {rotate: [90, 0, 0], translate: [1, 0, 0]}, "
                    "move: {keys: [{time: 1}, {time: 2, offset: [0, 0, 1], turn: [0, 0, 90]}]}}");
    assert_int_equal(c->key_count, 2);
    ends_at(f, c, 0, top); /* lies along -y */
    near3(top, 1, -1, 0);
    ends_at(f, c, 2, top); /* a quarter about z: along x */
    near3(top, 2, 0, 1);
}

/* With y up the same picture comes from a file in which y and z are exchanged. */
static void y_up(void **state) {
    fixture *f = *state;
    const char *rest =
        "colliders:\n"
        "  - {shape: box, size: [1, 2, 3], place: {rotate: [0, 90, 0], translate: [1, 2, 3]}}\n"
        "  - {shape: plane, move: {keys: [{time: 0}, {time: 1, offset: [0, 1, 0], turn: [0, 30, 0]}]}}\n";
    const drape_collider *c = read_scene(f, "up: y\n", rest)->colliders;
    near3(c->size, 1, 3, 2);
    near3(c->rotation, 0, 0, PI / 2);
    near3(c->key[0].position, 1, -3, 2);
    near3(c[1].key[1].position, 0, 0, 1);
    near3(c[1].key[1].rotation, 0, 0, PI / 6);
}

static void meshes(void **state) {
    fixture *f = *state;
    write_file(f, "a.obj", "v 0 0 0\nv 100 0 0\nv 0 0 100\nf 1 2 3\n");
    const drape_collider *c =
        read_one(f, "{mesh: a.obj, unit: cm, up: y, place: {scale: 2, rotate: [0, 0, 90], translate: [0, 0, 7]}}");
    assert_true(c->shape == DRAPE_COLLIDER_MESH && c->vertices == 3 && c->triangles == 1 && c->frames == 0);
    near3(c->positions + 3, 0, 2, 0); /* x, twice as long, turned to y */
    near3(c->positions + 6, 2, 0, 0); /* the file's z is -y, turned to x */
    near3(c->key[0].position, 0, 0, 7);
    near3(c->rotation, 0, 0, 0);
}

static void sequences(void **state) {
    fixture *f = *state;
    write_file(f, "a_0000.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    write_file(f, "a_0001.obj", "v 0 0 1\nv 1 0 1\nv 0 1 1\nf 1 2 3\n");
    const drape_collider *c =
        read_one(f, "{frames: {file: a.obj, fps: 10, start: 2 s}, unit: 2, place: {rotate: [90, 0, 0]}}");
    assert_true(c->frames == 2 && c->vertices == 3 && c->triangles == 1);
    ASSERT_NEAR(c->frame_time[0], 2, 0);
    ASSERT_NEAR(c->frame_time[1], 2.1, 1e-15);
    near3(c->frame + 9 + 3, 2, -2, 0);
    refuse(f, "colliders: [{frames: {fps: 2}}]\n", "expected a file");
    refuse(f, "colliders: [{frames: {file: a.obj}, mesh: a_0000.obj}]\n", "has its own triangles");
    refuse(f, "colliders: [{frames: {file: b.obj}}]\n", "neither this file nor");
}

/* As meshes of a frame: one each, in their order; what rests stays, what moves moves, a floor reaches beyond the
 * cloth. */
static void meshes_for_files(void **state) {
    fixture *f = *state;
    const drape_scene *s = read_scene(
        f, "",
        "colliders:\n  - {name: floor, shape: plane, place: {translate: [0, 0, -1]}}\n"
        "  - {name: box, shape: box, size: [1, 1, 1], move: {keys: [{time: 0}, {time: 2, offset: [4, 0, 0]}]}}\n");
    drape_collider_meshes *meshes;
    ASSERT_OK(f->ctx, drape_collider_meshes_create(f->ctx, s, &meshes));
    assert_int_equal(drape_collider_meshes_count(meshes), 2);
    for (int32_t t = 0; t < 2; t++) {
        const drape_frame_mesh *m = drape_collider_meshes_at(meshes, t);
        assert_string_equal(m[0].name, "floor");
        assert_string_equal(m[1].name, "box");
        assert_true(m[0].vertices == 4 && m[1].vertices == 8 && m[1].triangles == 12);
        near3(m[1].positions, -0.5 + 2 * t, -0.5, -0.5);
        for (int32_t v = 0; v < 4; v++) {
            assert_true(m[0].positions[3 * v + 2] == -1);
            assert_true(fabs(m[0].positions[3 * v]) > 1 && fabs(m[0].positions[3 * v + 1]) > 1); /* cloth: 0.5 */
        }
    }
    assert_null(drape_collider_meshes_at(meshes, NAN));
    drape_collider_meshes_destroy(meshes);

    assert_null(drape_collider_meshes_at(NULL, 0));
    assert_int_equal(drape_collider_meshes_count(NULL), 0);
    drape_collider_meshes_destroy(NULL);
    assert_int_equal(drape_collider_meshes_create(f->ctx, NULL, &meshes), DRAPE_ERROR_ARGUMENT);
    assert_null(meshes);
    assert_int_equal(drape_collider_meshes_create(f->ctx, s, NULL), DRAPE_ERROR_ARGUMENT);
    drape_scene wrong = *s;
    drape_collider bad = {.shape = DRAPE_COLLIDER_SPHERE};
    wrong.colliders = &bad, wrong.collider_count = 1;
    assert_int_equal(drape_collider_meshes_create(f->ctx, &wrong, &meshes), DRAPE_ERROR_ARGUMENT);
    assert_null(meshes);
}

/* A link in the scene's folder, in the middle of a sequence, may not lead out of it. */
static void links_of_sequences(void **state) {
    fixture *f = *state;
    char outside[] = "/tmp/drape-test-outside-XXXXXX";
    const char *triangle = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    int file = mkstemp(outside);
    assert_true(file >= 0 && write(file, triangle, strlen(triangle)) == (ssize_t)strlen(triangle));
    close(file);
    write_file(f, "a_0000.obj", triangle);
    assert_int_equal(symlink(outside, path_in(f, "a_0001.obj")), 0);
    refuse(f, "colliders: [{frames: {file: a.obj}}]\n", "is outside the scene's folder");
    drape_scene_options trust = {.trust_paths = true}, none = {.no_files = true};
    ASSERT_OK(f->ctx, try_to_read(f, "", "colliders: [{frames: {file: a.obj}}]\n", &trust));
    assert_int_equal(try_to_read(f, "", "colliders: [{frames: {file: a.obj}}]\n", &none), DRAPE_ERROR_FORMAT);
    unlink(outside);
}

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    if (!f) return -1;
    snprintf(f->folder, sizeof f->folder, "%s/drape-scene-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    if (!mkdtemp(f->folder)) return -1;
    f->ctx = test_context(1);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    static const char *const files[] = {"a.obj", "a_0000.obj", "a_0001.obj"};
    fixture *f = *state;
    drape_loaded_scene_destroy(f->loaded);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) remove(path_in(f, files[i]));
    rmdir(f->folder);
    drape_context_destroy(f->ctx);
    free(f);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(shapes_and_their_defaults),
        TEST(contact_and_pieces),
        TEST(place_and_motion),
        TEST(y_up),
        TEST(meshes),
        TEST(sequences),
        TEST(links_of_sequences),
        TEST(meshes_for_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
